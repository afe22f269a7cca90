//! `tojson` as transformers defines it: Python's `json.dumps`, nothing escaped for HTML.

use std::fmt::Write;

use minijinja::value::{Kwargs, Value, ValueKind};
use minijinja::{Error, ErrorKind};

/// How deep values may be nested.
const MAX_DEPTH: usize = 200;

/// The filter: `tojson(ensure_ascii=False, indent=None, separators=None, sort_keys=False)`.
#[expect(
    clippy::needless_pass_by_value,
    reason = "minijinja hands named arguments over"
)]
pub(super) fn tojson(
    value: &Value,
    ensure_ascii: Option<Value>,
    indent: Option<Value>,
    separators: Option<Value>,
    kwargs: Kwargs,
) -> Result<Value, Error> {
    let option = |positional: Option<Value>, name: &str| -> Result<Option<Value>, Error> {
        let named: Option<Value> = kwargs.get(name)?;
        Ok(positional.or(named).filter(|value| !value.is_none()))
    };
    let is_true = |value: Option<Value>| value.is_some_and(|value| value.is_true());
    let ensure_ascii = is_true(option(ensure_ascii, "ensure_ascii")?);
    let indent = option(indent, "indent")?.map(|value| {
        let width = || usize::try_from(value.as_i64().unwrap_or(0)).unwrap_or(0);
        match value.as_str() {
            Some(text) => text.to_owned(),
            None => " ".repeat(width().min(64)),
        }
    });
    let separators = option(separators, "separators")?;
    let sort_keys = is_true(option(None, "sort_keys")?);
    kwargs.assert_all_used()?;
    let (item, key) = match separators {
        None if indent.is_some() => (",".to_owned(), ": ".to_owned()),
        None => (", ".to_owned(), ": ".to_owned()),
        Some(pair) => {
            let pair: Vec<Value> = pair.try_iter()?.collect();
            match pair.as_slice() {
                [item, key] => (item.to_string(), key.to_string()),
                _ => return Err(invalid("tojson: separators must be a pair")),
            }
        }
    };
    let mut writer = Writer {
        out: String::new(),
        ensure_ascii,
        indent,
        item,
        key,
        sort_keys,
    };
    writer.value(value, 0)?;
    Ok(Value::from(writer.out))
}

fn invalid(message: &str) -> Error {
    Error::new(ErrorKind::InvalidOperation, message.to_owned())
}

struct Writer {
    out: String,
    ensure_ascii: bool,
    indent: Option<String>,
    item: String,
    key: String,
    sort_keys: bool,
}

impl Writer {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        if depth > MAX_DEPTH {
            return Err(invalid("tojson: the value is nested too deeply"));
        }
        match value.kind() {
            ValueKind::None => self.out.push_str("null"),
            ValueKind::Bool => self
                .out
                .push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::Number => self.out.push_str(&number(value)),
            ValueKind::String => self.string(value.as_str().unwrap_or_default()),
            ValueKind::Seq | ValueKind::Iterable => self.list(value, depth)?,
            ValueKind::Map => self.object(value, depth)?,
            kind => {
                return Err(invalid(&format!("tojson: {kind} is not JSON serializable")));
            }
        }
        Ok(())
    }

    fn list(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        self.out.push('[');
        let mut empty = true;
        for entry in value.try_iter()? {
            self.begin(empty, depth + 1);
            empty = false;
            self.value(&entry, depth + 1)?;
        }
        self.end(empty, depth);
        self.out.push(']');
        Ok(())
    }

    fn object(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        let mut pairs: Vec<(String, Value)> = Vec::new();
        for name in value.try_iter()? {
            let text = match name.kind() {
                ValueKind::String => name.as_str().unwrap_or_default().to_owned(),
                ValueKind::None => "null".into(),
                ValueKind::Bool => if name.is_true() { "true" } else { "false" }.into(),
                ValueKind::Number => number(&name),
                kind => return Err(invalid(&format!("tojson: {kind} cannot be a key"))),
            };
            pairs.push((text, value.get_item(&name)?));
        }
        if self.sort_keys {
            pairs.sort_by(|a, b| a.0.cmp(&b.0));
        }
        self.out.push('{');
        let empty = pairs.is_empty();
        for (at, (name, entry)) in pairs.iter().enumerate() {
            self.begin(at == 0, depth + 1);
            self.string(name);
            let key = std::mem::take(&mut self.key);
            self.out.push_str(&key);
            self.key = key;
            self.value(entry, depth + 1)?;
        }
        self.end(empty, depth);
        self.out.push('}');
        Ok(())
    }

    /// Goes on to the next entry.
    fn begin(&mut self, first: bool, depth: usize) {
        if !first {
            self.out.push_str(&self.item);
        }
        self.line(depth);
    }

    /// Goes back to where the bracket closes.
    fn end(&mut self, empty: bool, depth: usize) {
        if !empty {
            self.line(depth);
        }
    }

    fn line(&mut self, depth: usize) {
        if let Some(indent) = &self.indent {
            self.out.push('\n');
            for _ in 0..depth {
                self.out.push_str(indent);
            }
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
                '\u{C}' => self.out.push_str("\\f"),
                '\0'..'\u{20}' => self.escape(character),
                '\u{7F}'.. if self.ensure_ascii => self.escape(character),
                _ => self.out.push(character),
            }
        }
        self.out.push('"');
    }

    fn escape(&mut self, character: char) {
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing to a string does not fail.
            let _ = write!(self.out, "\\u{unit:04x}");
        }
    }
}

fn number(value: &Value) -> String {
    if value.is_integer() {
        return value.to_string();
    }
    let Ok(number) = f64::try_from(value.clone()) else {
        return value.to_string();
    };
    if number.is_nan() {
        "NaN".into()
    } else if number.is_infinite() {
        if number > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }
        .into()
    } else {
        python_float(number)
    }
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
        if plain.contains('.') {
            plain
        } else {
            format!("{plain}.0")
        }
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
    }
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
