//! Texts without markup.

use crate::lexicon::words;

/// A text without markup: commands for words, braces, emphasis, doubled spaces, and the full stop at the end.
pub(super) fn plain_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut space = false;
    let push = |out: &mut String, space: &mut bool, c: char| {
        if std::mem::take(space) && !out.is_empty() {
            out.push(' ');
        }
        out.push(c);
    };
    while let Some(next) = rest.chars().next() {
        if next == '\\' {
            let length = crate::lexicon::letters(&rest[1..], usize::MAX);
            let name = &rest[1..=length];
            if length == 0 {
                let sign = rest[1..].chars().next();
                let width = sign.map_or(0, char::len_utf8);
                match sign {
                    Some('!') | None => {}
                    Some('%' | '$' | '&' | '#' | '_' | '{' | '}') => {
                        push(&mut out, &mut space, sign.unwrap_or(' '));
                    }
                    Some(_) => space = true,
                }
                rest = rest.get(1 + width..).unwrap_or("");
                continue;
            }
            rest = &rest[1 + length..];
            match name {
                _ if words::SETS_TYPE.contains_exactly(name) => {}
                "quad" | "qquad" => space = true,
                "dfrac" | "tfrac" | "cfrac" => out.push_str("\\frac"),
                "leq" | "leqslant" => out.push_str("\\le"),
                "geq" | "geqslant" => out.push_str("\\ge"),
                "neq" => out.push_str("\\ne"),
                _ => {
                    if std::mem::take(&mut space) && !out.is_empty() {
                        out.push(' ');
                    }
                    out.push('\\');
                    out.push_str(name);
                    if rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
                        out.push(' ');
                    }
                }
            }
            continue;
        }
        rest = &rest[next.len_utf8()..];
        match next {
            // Emphasis; one star alone multiplies.
            '*' if rest.starts_with('*') => rest = &rest[1..],
            '{' | '}' | '$' | '`' | '"' | '“' | '”' => {}
            '~' => space = true,
            '’' | '‘' => push(&mut out, &mut space, '\''),
            _ if next.is_whitespace() => space = true,
            _ if next.is_control()
                || matches!(next, '\u{200b}'..='\u{200f}' | '\u{feff}' | '\u{202a}'..='\u{202e}') =>
                {}
            other => push(&mut out, &mut space, other),
        }
    }
    while out.ends_with(['.', ',', ';', ' ']) {
        out.pop();
    }
    out
}
