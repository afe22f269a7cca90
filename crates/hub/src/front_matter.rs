//! The YAML at the beginning of a data set's README, as JSON.

use saphyr_parser::{Event, Parser};
use serde_json::{Map, Value};

/// Lists and mappings within each other, at most.
const MAX_DEPTH: usize = 64;

/// The YAML between the first two lines of `---`; `None` where a text does not begin so.
fn front_matter(readme: &str) -> Option<&str> {
    let readme = readme.strip_prefix('\u{feff}').unwrap_or(readme);
    let rest = readme.strip_prefix("---")?;
    let rest = rest.strip_prefix('\r').unwrap_or(rest);
    let rest = rest.strip_prefix('\n')?;
    let end = rest
        .match_indices("\n---")
        .find(|(at, _)| matches!(rest.as_bytes().get(at + 4), None | Some(b'\r' | b'\n')));
    end.map(|(at, _)| &rest[..=at])
}

/// The value of a key at the top of a README's YAML; of scalars the text alone.
///
/// # Errors
/// What is wrong with the YAML, for the user. Anchors are refused: a few of them can stand for any amount of data.
pub(super) fn value(readme: &str, key: &str) -> Result<Option<Value>, String> {
    let Some(yaml) = front_matter(readme) else {
        return Ok(None);
    };
    match parse(yaml)? {
        Value::Object(mut top) => Ok(top.remove(key)),
        _ => Ok(None),
    }
}

/// A list or mapping that is not at its end.
enum Open {
    List(Vec<Value>),
    /// With the key whose value comes next.
    Mapping(Map<String, Value>, Option<String>),
}

fn parse(yaml: &str) -> Result<Value, String> {
    let mut open: Vec<Open> = Vec::new();
    for event in Parser::new_from_str(yaml) {
        let (event, _) = event.map_err(|error| format!("not valid YAML: {error}"))?;
        let begins = matches!(event, Event::SequenceStart(..) | Event::MappingStart(..));
        if begins && matches!(open.last(), Some(Open::Mapping(_, None))) {
            return Err("a list or a mapping is the key of a mapping".to_owned());
        }
        let value = match event {
            Event::Scalar(text, ..) => Value::String(text.into_owned()),
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                Value::Null
            }
            Event::MappingStart(..) => {
                open.push(Open::Mapping(Map::new(), None));
                Value::Null
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(list)) => Value::Array(list),
                Some(Open::Mapping(mapping, _)) => Value::Object(mapping),
                None => Value::Null,
            },
            Event::Alias(_) => return Err("it has anchors, which are not read".to_owned()),
            _ => continue,
        };
        if value.is_null() {
            if open.len() > MAX_DEPTH {
                return Err(format!("more than {MAX_DEPTH} lists within each other"));
            }
            continue;
        }
        match open.last_mut() {
            None => return Ok(value),
            Some(Open::List(list)) => list.push(value),
            Some(Open::Mapping(mapping, key)) => match key.take() {
                Some(key) => {
                    mapping.insert(key, value);
                }
                // Only scalars come here: what begins in the place of a key was refused.
                None => *key = value.as_str().map(str::to_owned),
            },
        }
    }
    Ok(Value::Null)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_of_a_readme_are_found() {
        let readme = "---\nlicense: mit\nconfigs:\n- config_name: main\n  data_files:\n  - split: test\n    path: \"main/test-*\"\n  \
                      default: true\n---\n# Title\n---\n";
        let configs = json!([{"config_name": "main", "data_files": [{"split": "test", "path": "main/test-*"}], "default": "true"}]);
        assert_eq!(value(readme, "configs"), Ok(Some(configs)));
        assert_eq!(
            value(&readme.replace('\n', "\r\n"), "license"),
            Ok(Some(json!("mit")))
        );
        assert_eq!(value(readme, "tags"), Ok(None));
        for text in [
            "",
            "# Title",
            "---\nlicense: mit\n",
            "----\n",
            "---\n- a\n---\n",
            "---\n---\n",
        ] {
            assert_eq!(value(text, "license"), Ok(None), "{text:?}");
        }
        for text in [
            "---\na: &x [1]\nb: [*x, *x]\n---\n".to_owned(),
            format!("---\na: {}\n---\n", "[".repeat(200)),
            "---\na: [\n---\n".to_owned(),
            "---\n[a]: b\n---\n".to_owned(),
            format!("---\n{}x{}\n---\n", "{".repeat(60), ": y}".repeat(60)),
            format!("---\n{}x: y\n---\n", "? ".repeat(60)),
        ] {
            assert!(value(&text, "a").is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_much(text in "(---\n)?[-a: \n\\[\\]{}&*!|>'\"?,]{0,60}(\n---\n)?") {
            let _ = value(&text, "a");
        }
    }
}
