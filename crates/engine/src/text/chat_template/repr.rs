//! Python's `repr` of strings and numbers.

use std::fmt::Write;

use super::work::{Fault, Text};

/// A text as Python writes it in code.
pub(super) fn write_quoted(text: &str, out: &mut Text<'_>) -> Result<(), Fault> {
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

/// Python writes what is no letter, mark, number, sign or plain space by its number.
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
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = write!(text, "{digits}e{sign}{:02}", exponent.unsigned_abs());
        text
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
