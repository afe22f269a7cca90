//! A plain number on a last line of its own, as GSM8K has it: "#### 18", "A: 18". Most rows of training and evaluation end so, and where
//! nothing else in the text can count, the search that weighs everything finds nothing else.

use std::borrow::Cow;

use super::search::{ANSWER_LETTER, BOXED};
use super::{Found, Role, boxes, words};
use crate::config::{Config, ExtractionTarget};

/// How long such a text is at most, and such a number, in bytes.
const LONGEST: usize = 16_000;
const MOST_DIGITS: usize = 15;

/// What [`super::extract`] finds in such a text; `None` where it has to be searched.
pub(super) fn found<'t>(text: &'t str, role: Role, config: &Config) -> Option<Found<'t>> {
    use ExtractionTarget::{Expr, Latex};
    let usual = config.decimal.is_none() && matches!(*config.extract, [Latex, Expr]);
    if !usual || text.len() > LONGEST {
        return None;
    }
    let before = text.trim_end_matches(|it: char| it.is_ascii_digit());
    let number = &text[before.len()..];
    let asks_boxes = (0..=50).contains(&config.boxed_match_priority);
    if number.is_empty() && role == Role::Prediction && asks_boxes {
        return boxed(text);
    }
    if !(1..=MOST_DIGITS).contains(&number.len()) {
        return None;
    }
    let (method, statement) = match role {
        Role::Gold if before.is_empty() => ("whole", number),
        Role::Prediction => {
            let (head, method, statement) = if let Some(head) = before.strip_suffix("\n#### ") {
                (head, "####", number)
            } else {
                let head = before.strip_suffix("\nA: ")?;
                let line = head[head.rfind('\n').map_or(0, |at| at + 1)..].to_ascii_lowercase();
                // "The final answer is", in whatever case, may go on below.
                if line.contains("inal") || line.contains("ebnis") {
                    return None;
                }
                (head, ANSWER_LETTER, &text[before.len() - 1..])
            };
            says_nothing_else(head).then_some((method, statement))?
        }
        Role::Gold => return None,
    };
    Some(Found {
        text: Cow::Borrowed(number),
        method,
        statement: Cow::Borrowed(statement),
        ..Found::default()
    })
}

/// The number in a box that ends a text, "So it is $\boxed{18}$.", where it is the only one and nothing before it changes it.
fn boxed(text: &str) -> Option<Found<'_>> {
    let bare = text.trim_end();
    let bare = bare.strip_suffix('.').unwrap_or(bare);
    let mark = if bare.ends_with('$') { "$" } else { "" };
    let inner = bare.strip_suffix(mark)?.strip_suffix('}')?;
    let rest = inner.trim_end_matches(|it: char| it.is_ascii_digit());
    let (number, head) = (&inner[rest.len()..], rest.strip_suffix(BOX)?);
    let outer = head.strip_suffix(mark)?;
    let line = &head[head.rfind('\n').map_or(0, |at| at + 1)..];
    let ends = outer.trim_end_matches(' ').chars().next_back();
    let plain = (1..=MOST_DIGITS).contains(&number.len())
        && (mark.is_empty() || !outer.contains('$'))
        // "3\boxed{4}", "x >= \boxed{4}"
        && !outer.ends_with(|it: char| it.is_ascii_digit() || it == '.')
        && !(ends == Some('=') && line.contains(['>', '!']))
        // A sign may belong to it, and a mark of a calculator hide what does.
        && ends.is_none_or(|it| it.is_ascii_alphanumeric() || ":=.,!?\n".contains(it))
        && !line.contains('<')
        && !line.starts_with("A:")
        && says_nothing_else(head)
        && !boxes::changed(boxes::before(text, head.len()), "");
    plain.then(|| Found {
        text: Cow::Borrowed(number),
        method: BOXED,
        statement: Cow::Borrowed(number),
        ..Found::default()
    })
}

/// How a box opens.
const BOX: &str = "\\boxed{";

/// Characters that say nothing but at the beginning of a line.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = b' ';
    while byte.is_ascii() {
        plain[byte as usize] = byte.is_ascii_alphanumeric()
            || matches!(byte, b' '..=b'"' | b'$' | b'%' | b'\''..=b';' | b'='..=b'?');
        byte += 1;
    }
    plain
};

/// Is there nothing in a text that may hide its last line, or be another question or a list of choices?
fn says_nothing_else(head: &str) -> bool {
    head.split('\n').all(|line| {
        let begins = match line.as_bytes() {
            [b'*' | b'(' | b'-' | b'>', ..] | [b'B', b':' | b')' | b'.', ..] => false,
            [b'Q' | b'P', ..] => words::QUESTION.begin(line).is_none(),
            _ => true,
        };
        // The marks of a calculator: <<3*4=12>>.
        let marks = |at: usize| line[at + 1..].starts_with('<') || line[..at].ends_with('<');
        let mut bytes = line.bytes().enumerate();
        begins && bytes.all(|(at, byte)| PLAIN[usize::from(byte)] || byte == b'<' && marks(at))
    })
}

#[cfg(test)]
mod tests;
