//! How values are written: Python's `str` and `repr`.

use std::sync::Arc;

use super::value::{Kind, List, Value};
use super::work::{Fault, STEP, Text, Work};

impl Value {
    /// Writes it as `str` does.
    pub(super) fn write(&self, out: &mut Text<'_>) -> Result<(), Fault> {
        match self {
            Self::Undefined(_) => Ok(()),
            Self::Str(text) | Self::Safe(text) => out.push(text),
            other => other.write_repr(out),
        }
    }

    /// Writes it as `repr` does.
    pub(super) fn write_repr(&self, out: &mut Text<'_>) -> Result<(), Fault> {
        out.work.spend(STEP)?;
        match self {
            Self::Undefined(_) => out.push("Undefined"),
            Self::None => out.push("None"),
            Self::Bool(true) => out.push("True"),
            Self::Bool(false) => out.push("False"),
            Self::Int(number) => out.push(&number.to_string()),
            Self::Float(number) => out.push(&python_float(*number)),
            Self::Str(text) => write_quoted(text, out),
            Self::Safe(text) => {
                out.push("Markup(")?;
                write_quoted(text, out)?;
                out.push(")")
            }
            Self::List(list) => list.write(out),
            Self::Dict(dict) => {
                out.push("{")?;
                for (at, (key, value)) in dict.pairs.iter().enumerate() {
                    if at > 0 {
                        out.push(", ")?;
                    }
                    key.write_repr(out)?;
                    out.push(": ")?;
                    value.write_repr(out)?;
                }
                out.push("}")
            }
            Self::Object(_) => {
                out.push("<")?;
                out.push(self.kind())?;
                out.push(">")
            }
        }
    }

    /// Its text as `str` gives it.
    pub(super) fn to_text(&self, work: &mut Work) -> Result<Arc<str>, Fault> {
        match self {
            Self::Str(text) | Self::Safe(text) => Ok(Arc::clone(text)),
            other => {
                let mut out = Text::new(work);
                other.write(&mut out)?;
                Ok(out.finish().into())
            }
        }
    }
}

impl List {
    fn write(&self, out: &mut Text<'_>) -> Result<(), Fault> {
        let (open, close) = match self.kind {
            Kind::List => ("[", "]"),
            Kind::Tuple | Kind::Group => ("(", ")"),
            Kind::View(name) => {
                out.push(name)?;
                ("([", "])")
            }
            Kind::Range => {
                let first = self.entries.first().and_then(Value::as_int).unwrap_or(0);
                let last = self.entries.last().and_then(Value::as_int);
                let end = last.map_or(first, |last| last + 1);
                return out.push(&format!("range({first}, {end})"));
            }
            Kind::Iterator => return out.push("<generator>"),
        };
        out.push(open)?;
        for (at, entry) in self.entries.iter().enumerate() {
            if at > 0 {
                out.push(", ")?;
            }
            entry.write_repr(out)?;
        }
        if self.kind == Kind::Tuple && self.entries.len() == 1 {
            out.push(",")?;
        }
        out.push(close)
    }
}

/// A text as Python writes it in code.
fn write_quoted(text: &str, out: &mut Text<'_>) -> Result<(), Fault> {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    out.push_char(quote)?;
    for character in text.chars() {
        match character {
            '\n' => out.push("\\n")?,
            '\r' => out.push("\\r")?,
            '\t' => out.push("\\t")?,
            '\\' => out.push("\\\\")?,
            _ if character == quote => {
                out.push("\\")?;
                out.push_char(character)?;
            }
            _ if is_shown(character) => out.push_char(character)?,
            '\0'..='\u{FF}' => out.push(&format!("\\x{:02x}", character as u32))?,
            '\u{100}'..='\u{FFFF}' => out.push(&format!("\\u{:04x}", character as u32))?,
            _ => out.push(&format!("\\U{:08x}", character as u32))?,
        }
    }
    out.push_char(quote)
}

/// Whether `repr` shows a character as it is: Python escapes what is no letter, mark, number, sign or plain space.
fn is_shown(character: char) -> bool {
    character == ' '
        || !(character.is_control()
            || character.is_whitespace()
            || matches!(
                character,
                '\u{AD}' | '\u{600}'..='\u{605}' | '\u{61C}' | '\u{6DD}' | '\u{70F}' | '\u{180E}'
            )
            || matches!(character, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}')
            || matches!(character, '\u{E000}'..='\u{F8FF}' | '\u{FEFF}' | '\u{FFF0}'..='\u{FFFB}' | '\u{E0000}'..))
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
    let (digits, exponent) = exponent_of(&scientific);
    if (-4..16).contains(&exponent) || number == 0.0 {
        let plain = number.to_string();
        if plain.contains('.') {
            plain
        } else {
            format!("{plain}.0")
        }
    } else {
        with_exponent(digits, exponent)
    }
}

/// The digits and the exponent of a number in Rust's scientific notation.
pub(super) fn exponent_of(scientific: &str) -> (&str, i32) {
    match scientific.split_once('e') {
        Some((digits, exponent)) => (digits, exponent.parse().unwrap_or(0)),
        None => (scientific, 0),
    }
}

/// Digits with an exponent, which has a sign and at least two digits.
pub(super) fn with_exponent(digits: &str, exponent: i32) -> String {
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
