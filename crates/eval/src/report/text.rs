//! Untrusted text as HTML: everything escaped, invisible characters made visible, formulas as `MathML`.
//!
//! The text's lines stay lines (`white-space: pre-wrap` in the stylesheet); its Markdown stays as it was written.

use std::fmt::Write as _;

use super::math::{self, MAX_SOURCE};
use juror_base::terminal::is_hidden;

/// The text as HTML. Formulas between `$…$`, `$$…$$`, `\(…\)` and `\[…\]` become `MathML` where they are understood. The result is
/// safe as the content of an element, whatever the text is; its size and the work are linear in the text's.
pub(crate) fn html(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + text.len() / 4);
    let mut rest = text;
    // The length of the text that was searched without finding an opening delimiter.
    let mut plain = 0;
    while let Some(at) = rest[plain..].find(['$', '\\']) {
        let at = plain + at;
        let Some(formula) = formula(rest, at) else {
            // A command's second character opens nothing: `\$`, `\\[2pt]`.
            let is_command = rest.as_bytes()[at] == b'\\';
            let skipped = if is_command {
                rest[at + 1..].chars().next().map_or(0, char::len_utf8)
            } else {
                rest[at + 1..].starts_with('$').into()
            };
            plain = at + 1 + skipped;
            continue;
        };
        match math::mathml(formula.source, formula.display) {
            Some(mathml) if formula.display => {
                // A displayed formula is a block: the line breaks before and after it would be empty lines.
                let before = rest[..at].trim_end_matches([' ', '\t']);
                escape_into(&mut html, before.strip_suffix('\n').unwrap_or(before), true);
                let _ = write!(html, "<span class=\"display\">{mathml}</span>");
                let after = rest[formula.end..].trim_start_matches([' ', '\t']);
                rest = after.strip_prefix('\n').unwrap_or(after);
                plain = 0;
            }
            Some(mathml) => {
                escape_into(&mut html, &rest[..at], true);
                html.push_str(&mathml);
                rest = &rest[formula.end..];
                plain = 0;
            }
            None => plain = formula.end,
        }
    }
    escape_into(&mut html, rest, true);
    html
}

/// The text as HTML without formulas and without any element, for the content of elements and for quoted attributes.
pub(crate) fn plain(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + 16);
    escape_into(&mut html, text, false);
    html
}

/// Writes text escaped; with `marked`, escaped invisible characters are in an element of their own.
pub(super) fn escape_into(html: &mut String, text: &str, marked: bool) {
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            '\n' | '\t' => html.push(character),
            // The line end of Windows.
            '\r' if characters.peek() == Some(&'\n') => {}
            character if is_hidden(character) => {
                // Writing to a string does not fail.
                let shown = character.escape_default();
                let _ = if marked {
                    write!(html, "<i class=\"hidden\">{shown}</i>")
                } else {
                    write!(html, "{shown}")
                };
            }
            character => html.push(character),
        }
    }
}

struct Formula<'t> {
    source: &'t str,
    display: bool,
    /// Where the text continues after it.
    end: usize,
}

/// The formula whose delimiter opens at `at`, the place of a `$` or `\`.
///
/// The search for its end stops at the next delimiter of the same kind, so that all searches together are linear.
fn formula(text: &str, at: usize) -> Option<Formula<'_>> {
    let opened = &text[at..];
    if let Some(inside) = opened.strip_prefix("$$") {
        let length = inside_length(inside, |rest| rest.starts_with('$'))?;
        return inside[length..].starts_with("$$").then(|| Formula {
            source: &inside[..length],
            display: true,
            end: at + 2 + length + 2,
        });
    }
    if let Some(inside) = opened.strip_prefix('$') {
        let length = inside_length(inside, |rest| rest.starts_with('$'))?;
        let source = &inside[..length];
        return (!is_money(source, &inside[length + 1..])).then_some(Formula {
            source,
            display: false,
            end: at + 1 + length + 1,
        });
    }
    let (display, opening, closing) = match opened.as_bytes().get(1)? {
        b'(' => (false, "\\(", "\\)"),
        b'[' => (true, "\\[", "\\]"),
        _ => return None,
    };
    let inside = &opened[2..];
    let length = inside_length(inside, |rest| {
        rest.starts_with(closing) || rest.starts_with(opening)
    })?;
    inside[length..].starts_with(closing).then(|| Formula {
        source: &inside[..length],
        display,
        end: at + 2 + length + 2,
    })
}

/// Whether two `$` are signs of currency, with `between` between them and `after` after the second: `$5 and $10`, GSM8K's
/// `$<<80+50=130>>130 … $2`. A formula neither begins nor ends with a space, no digit follows it, it has no calculator marks, and of one
/// that begins with a number the rest is no prose: it has a command, or no word of two letters or more.
fn is_money(between: &str, after: &str) -> bool {
    if between.starts_with(char::is_whitespace)
        || between.ends_with(char::is_whitespace)
        || between.contains("<<")
        || after.starts_with(|next: char| next.is_ascii_digit() || next == '<')
    {
        return true;
    }
    let begins_with_number =
        between.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    let mut words = between.split(|character: char| !character.is_alphabetic());
    begins_with_number && !between.contains('\\') && words.any(|word| word.chars().count() > 1)
}

/// How far it is to what `is_end` says, with commands as units, within a paragraph and the longest formula.
fn inside_length(inside: &str, is_end: impl Fn(&str) -> bool) -> Option<usize> {
    let mut length = 0;
    while length <= MAX_SOURCE {
        let rest = &inside[length..];
        let character = rest.chars().next()?;
        if is_end(rest) {
            return Some(length);
        }
        if rest.starts_with("\n\n") {
            return None;
        }
        length += character.len_utf8();
        if character == '\\' {
            length += inside[length..].chars().next()?.len_utf8();
        }
    }
    None
}
