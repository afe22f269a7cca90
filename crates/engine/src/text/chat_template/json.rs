//! `tojson` as transformers defines it: Python's `json.dumps`, nothing escaped for HTML.

use super::interpreter::Given;
use super::methods::{argument, indentation};
use super::repr::python_float;
use super::value::{Kind, Value};
use super::work::{Fault, STEP, Text, Work};

/// The filter: `tojson(ensure_ascii=False, indent=None, separators=None, sort_keys=False)`.
pub(super) fn tojson(value: &Value, given: &Given, work: &mut Work) -> Result<Value, Fault> {
    let option = |at: usize, name: &str| argument(given, at, name).filter(|value| !value.is_none());
    let ensure_ascii = option(0, "ensure_ascii").is_some_and(Value::is_true);
    let indent = indentation(given, 1, "indent", work)?;
    let separators = option(2, "separators");
    let sort_keys = option(3, "sort_keys").is_some_and(Value::is_true);
    let (item, key) = match separators {
        None if indent.is_some() => (",".to_owned(), ": ".to_owned()),
        None => (", ".to_owned(), ": ".to_owned()),
        Some(pair) => match pair.entries(work)?.as_slice() {
            [item, key] => (
                item.to_text(work)?.to_string(),
                key.to_text(work)?.to_string(),
            ),
            _ => return Err("tojson: separators must be a pair".into()),
        },
    };
    let mut writer = Writer {
        out: Text::new(work),
        ensure_ascii,
        indent,
        item,
        key,
        sort_keys,
    };
    writer.value(value, 0)?;
    Ok(Value::from(writer.out.finish()))
}

struct Writer<'w> {
    out: Text<'w>,
    ensure_ascii: bool,
    indent: Option<String>,
    item: String,
    key: String,
    sort_keys: bool,
}

impl Writer<'_> {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Fault> {
        self.out.work.spend(STEP)?;
        match value {
            Value::Str(text) | Value::Safe(text) => self.string(text),
            Value::Dict(dict) => self.object(&dict.pairs, depth),
            Value::List(list) if matches!(list.kind, Kind::List | Kind::Tuple) => {
                self.out.push("[")?;
                for (at, entry) in list.entries.iter().enumerate() {
                    self.begin(at == 0, depth + 1)?;
                    self.value(entry, depth + 1)?;
                }
                self.end(list.entries.is_empty(), depth)?;
                self.out.push("]")
            }
            other => match plain(other) {
                Some(text) => self.out.push(&text),
                None => Err(format!(
                    "tojson: Object of type {} is not JSON serializable",
                    other.kind()
                )),
            },
        }
    }

    fn object(&mut self, pairs: &[(Value, Value)], depth: usize) -> Result<(), Fault> {
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        if self.sort_keys {
            let keys: Vec<Value> = pairs.iter().map(|(key, _)| key.clone()).collect();
            order = super::list_filters::sorted(&keys, false, self.out.work)?;
        }
        self.out.push("{")?;
        for (at, pair) in order.into_iter().enumerate() {
            let (name, entry) = &pairs[pair];
            self.begin(at == 0, depth + 1)?;
            match name {
                Value::Str(text) | Value::Safe(text) => self.string(text)?,
                other => match plain(other) {
                    Some(text) => self.string(&text)?,
                    None => return Err(format!("tojson: {} cannot be a key", other.kind())),
                },
            }
            self.out.push(&self.key)?;
            self.value(entry, depth + 1)?;
        }
        self.end(pairs.is_empty(), depth)?;
        self.out.push("}")
    }

    /// Begins an entry: writes the separator and the indent before it.
    fn begin(&mut self, first: bool, depth: usize) -> Result<(), Fault> {
        if !first {
            self.out.push(&self.item)?;
        }
        self.line(depth)
    }

    /// Ends a list or an object: writes the indent before its closing bracket.
    fn end(&mut self, empty: bool, depth: usize) -> Result<(), Fault> {
        if empty { Ok(()) } else { self.line(depth) }
    }

    fn line(&mut self, depth: usize) -> Result<(), Fault> {
        if let Some(indent) = &self.indent {
            self.out.push("\n")?;
            self.out.repeat(indent, depth)?;
        }
        Ok(())
    }

    fn string(&mut self, text: &str) -> Result<(), Fault> {
        self.out.push("\"")?;
        for character in text.chars() {
            match character {
                '"' => self.out.push("\\\"")?,
                '\\' => self.out.push("\\\\")?,
                '\n' => self.out.push("\\n")?,
                '\r' => self.out.push("\\r")?,
                '\t' => self.out.push("\\t")?,
                '\u{8}' => self.out.push("\\b")?,
                '\u{C}' => self.out.push("\\f")?,
                '\0'..'\u{20}' => self.escape(character)?,
                '\u{7F}'.. if self.ensure_ascii => self.escape(character)?,
                _ => self.out.push_char(character)?,
            }
        }
        self.out.push("\"")
    }

    fn escape(&mut self, character: char) -> Result<(), Fault> {
        for unit in character.encode_utf16(&mut [0; 2]) {
            self.out.push(&format!("\\u{unit:04x}"))?;
        }
        Ok(())
    }
}

/// The JSON of a value that is neither text nor a collection; `None` for others.
fn plain(value: &Value) -> Option<String> {
    Some(match value {
        Value::None => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) if number.is_nan() => "NaN".into(),
        Value::Float(number) if number.is_infinite() => if *number > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }
        .into(),
        Value::Float(number) => python_float(*number),
        _ => return None,
    })
}
