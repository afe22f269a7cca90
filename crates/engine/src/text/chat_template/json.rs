//! `tojson` as transformers defines it: Python's `json.dumps`, nothing escaped for HTML.

use std::fmt::Write;

use minijinja::value::{Kwargs, Value, ValueKind};
use minijinja::{Error, State};

use super::environment::{fault, float};

/// The widest indentation, and the longest separator.
const MAX_INDENT: usize = 64;

/// How deep lists and objects may lie in one another: a value may hold itself.
const MAX_DEPTH: usize = 128;

/// The filter: `tojson(ensure_ascii=False, indent=None, separators=None, sort_keys=False)`.
#[expect(clippy::needless_pass_by_value, reason = "minijinja hands them over")]
pub(super) fn tojson(state: &State, value: &Value, options: Kwargs) -> Result<Value, Error> {
    let indent = match options.get::<Option<Value>>("indent")? {
        Some(width) if width.is_none() => None,
        Some(text) if text.as_str().is_some_and(is_short) => Some(text.to_string()),
        Some(width) => match width.as_usize() {
            Some(width @ 0..=MAX_INDENT) => Some(" ".repeat(width)),
            _ => {
                return Err(fault(format!(
                    "tojson: an indent of {width} is not supported"
                )));
            }
        },
        None => None,
    };
    let separators = options.get::<Option<Vec<String>>>("separators")?;
    let [item, key] = match separators.as_deref() {
        Some([item, key]) if is_short(item) && is_short(key) => [item.clone(), key.clone()],
        Some(_) => {
            return Err(fault(
                "tojson: separators must be a pair of short texts".into(),
            ));
        }
        None => [if indent.is_some() { "," } else { ", " }, ": "].map(str::to_owned),
    };
    let mut writer = Writer {
        out: String::new(),
        paid: 0,
        state,
        ensure_ascii: options
            .get::<Option<bool>>("ensure_ascii")?
            .unwrap_or(false),
        sort_keys: options.get::<Option<bool>>("sort_keys")?.unwrap_or(false),
        indent,
        item,
        key,
    };
    options.assert_all_used()?;
    writer.value(value, 0)?;
    Ok(Value::from(writer.out))
}

/// Whether a text may be written before each entry.
fn is_short(text: &str) -> bool {
    text.len() <= MAX_INDENT
}

struct Writer<'s> {
    out: String,
    /// How much of it was paid for.
    paid: usize,
    state: &'s State<'s, 's>,
    ensure_ascii: bool,
    sort_keys: bool,
    indent: Option<String>,
    item: String,
    key: String,
}

impl Writer<'_> {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        // Fuel is for 64 bytes; a value costs some even if it is short.
        self.state
            .consume_fuel(1 + ((self.out.len() - self.paid) / 64) as u64)?;
        self.paid = self.out.len();
        if depth > MAX_DEPTH {
            return Err(fault(format!(
                "tojson: values lie more than {MAX_DEPTH} deep in one another"
            )));
        }
        match value.kind() {
            ValueKind::String => self.string(value.as_str().unwrap_or_default()),
            ValueKind::Seq => {
                self.out.push('[');
                let mut count = 0;
                for entry in value.try_iter()? {
                    self.begin(count, depth + 1);
                    count += 1;
                    self.value(&entry, depth + 1)?;
                }
                self.end(count, depth, ']');
            }
            ValueKind::Map => {
                self.out.push('{');
                let mut keys: Vec<Value> = value.try_iter()?.collect();
                if self.sort_keys {
                    keys.sort();
                }
                for (count, key) in keys.iter().enumerate() {
                    self.begin(count, depth + 1);
                    match plain(key) {
                        Some(text) => self.string(&text),
                        None => self.string(key.as_str().unwrap_or_default()),
                    }
                    self.out.push_str(&self.key);
                    self.value(&value.get_item(key)?, depth + 1)?;
                }
                self.end(keys.len(), depth, '}');
            }
            other => match plain(value) {
                Some(text) => self.out.push_str(&text),
                None => {
                    return Err(fault(format!(
                        "tojson: Object of type {other} is not JSON serializable"
                    )));
                }
            },
        }
        Ok(())
    }

    /// Begins an entry: writes the separator and the indent before it.
    fn begin(&mut self, count: usize, depth: usize) {
        if count > 0 {
            self.out.push_str(&self.item);
        }
        self.line(depth);
    }

    /// Ends a list or an object: writes the indent before its closing bracket.
    fn end(&mut self, count: usize, depth: usize, bracket: char) {
        if count > 0 {
            self.line(depth);
        }
        self.out.push(bracket);
    }

    fn line(&mut self, depth: usize) {
        if let Some(indent) = &self.indent {
            self.out.push('\n');
            self.out.push_str(&indent.repeat(depth));
        }
    }

    fn string(&mut self, text: &str) {
        self.out.push('"');
        for character in text.chars() {
            match character {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                '\u{8}' => self.out.push_str("\\b"),
                '\u{c}' => self.out.push_str("\\f"),
                _ if character < ' ' || self.ensure_ascii && character > '~' => {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        // Writing into a string cannot fail.
                        let _ = write!(self.out, "\\u{unit:04x}");
                    }
                }
                _ => self.out.push(character),
            }
        }
        self.out.push('"');
    }
}

/// A value that is no text, list or object.
fn plain(value: &Value) -> Option<String> {
    Some(match value.kind() {
        ValueKind::None => "null".into(),
        ValueKind::Bool => if value.is_true() { "true" } else { "false" }.into(),
        ValueKind::Number => match float(value) {
            Some(number) if number.is_nan() => "NaN".into(),
            Some(number) if number.is_infinite() => if number > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            }
            .into(),
            Some(number) => python_float(number),
            None => value.to_string(),
        },
        _ => return None,
    })
}

/// A float as Python writes it: the shortest digits that read back the same, with an exponent below 1e-4 and from 1e16.
pub(super) fn python_float(number: f64) -> String {
    if number.is_nan() {
        return "nan".into();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.into();
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) || number == 0.0 {
        let plain = number.to_string();
        return if plain.contains('.') {
            plain
        } else {
            format!("{plain}.0")
        };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::python_float;

    #[test]
    fn floats_as_python_writes_them() {
        for (number, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (0.1, "0.1"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.5e300, "1.5e+300"),
            (0.0001, "0.0001"),
            (0.000_012_5, "1.25e-05"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(python_float(number), text);
        }
    }
}
