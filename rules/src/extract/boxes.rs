//! Boxes: which of them hold the answer, and what they hold.

use std::borrow::Cow;

use super::placeholder;
use super::scan::{Boxed, Marks};
use super::tail::tail;
use super::tidy::{smooth, tidy};
use super::words;

/// How far apart boxes that belong together may stand, in bytes.
const MAX_GAP: usize = 90;
/// How many boxes are joined at most.
const MAX_JOINED: usize = 16;

/// The answer in boxes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InBoxes<'t> {
    /// What they hold.
    pub text: Cow<'t, str>,
    /// Where the first one begins.
    pub start: usize,
    /// Behind the last one.
    pub end: usize,
}

/// The last answer in boxes that ends before `limit`.
pub(super) fn last<'t>(text: &'t str, marks: &Marks, limit: usize) -> Option<InBoxes<'t>> {
    let count = marks.boxes.partition_point(|boxed| boxed.end <= limit);
    let boxes = &marks.boxes[..count];
    let mut index = boxes
        .iter()
        .rposition(|boxed| boxed.closed && !is_placeholder(&text[boxed.content.clone()]))?;
    let end = boxes[index].end;
    let mut parts = vec![part(text, &boxes[index])];
    let mut start = boxes[index].start;
    while index > 0 && parts.len() < MAX_JOINED {
        let before = &boxes[index - 1];
        if !before.closed || is_placeholder(&text[before.content.clone()]) {
            break;
        }
        let gap = &text[before.end..boxes[index].start];
        if text[before.content.clone()].trim() == text[boxes[index].content.clone()].trim() {
            if gap.len() > MAX_GAP {
                break;
            }
        } else if belong_together(gap) {
            parts.push(part(text, before));
        } else {
            break;
        }
        start = before.start;
        index -= 1;
    }
    parts.reverse();
    let text = if parts.len() == 1 {
        parts.pop()?
    } else {
        Cow::Owned(parts.join(", "))
    };
    (!text.is_empty()).then_some(InBoxes { text, start, end })
}

/// What an unclosed box holds: all of the rest.
pub(super) fn unclosed<'t>(text: &'t str, boxed: &Boxed) -> Cow<'t, str> {
    clean(&text[boxed.content.clone()])
}

/// A box that only says where an answer would go.
fn is_placeholder(content: &str) -> bool {
    // The empty set.
    if content.contains("\\{") {
        return false;
    }
    if placeholder::is_open(content) {
        return true;
    }
    let bare = content.trim_matches(|it: char| {
        it.is_whitespace()
            || matches!(
                it,
                '.' | '?' | '_' | '$' | '…' | '{' | '}' | '\\' | '<' | '>'
            )
    });
    let bare = bare
        .strip_prefix("text{")
        .unwrap_or(bare)
        .trim_end_matches('}');
    let stars = bare.trim_matches('*');
    stars.is_empty()
        || words::among(
            stars,
            &[
                "answer",
                "your answer",
                "final answer",
                "ans",
                "your final answer",
                "the answer",
                "text",
                "quad",
                "ldots",
                "dots",
                "cdots",
                "phantom",
                "result",
                "your answer here",
            ],
        )
}

/// What a box holds, with the sign before it and the unit behind it.
fn part<'t>(text: &'t str, boxed: &Boxed) -> Cow<'t, str> {
    let inner = clean(&text[boxed.content.clone()]);
    let negative = is_negated(&text[..boxed.start]);
    let after = behind(text, boxed.end);
    let unit = if inner.ends_with(|it: char| it.is_ascii_digit() || matches!(it, '}' | ')')) {
        let tail = tail(after, false);
        if tail.measured {
            after[tail.unit].trim()
        } else {
            ""
        }
    } else {
        ""
    };
    if unit.is_empty() && !negative {
        return inner;
    }
    let sign = if negative { "-" } else { "" };
    let gap = if unit.is_empty() || unit.starts_with(['%', '\\', '^', '°']) {
        ""
    } else {
        " "
    };
    Cow::Owned(format!("{sign}{inner}{gap}{unit}"))
}

/// Does a minus sign belong to the box behind it?
fn is_negated(before: &str) -> bool {
    let Some(rest) = before.trim_end().strip_suffix('-') else {
        return false;
    };
    let rest = rest.trim_end();
    rest.ends_with(['=', '$', ':', '(']) || rest.ends_with("\\(") || rest.ends_with("\\[")
}

/// The text behind a box and behind the delimiters that close with it.
fn behind(text: &str, end: usize) -> &str {
    let rest = &text[end..];
    for close in ["$$", "$", "\\)", "\\]", "**"] {
        let trimmed = rest.trim_start_matches([' ', '\n']);
        // A display stands on lines of its own.
        if let Some(after) = trimmed.strip_prefix(close) {
            return after.strip_prefix("**").unwrap_or(after);
        }
    }
    rest
}

/// The content of a box without inner boxes and dress.
fn clean(content: &str) -> Cow<'_, str> {
    let content = tidy(content);
    if content.contains("boxed") || content.contains("\\fbox") {
        let inner = unbox(content);
        return Cow::Owned(smooth(tidy(&inner)).into_owned());
    }
    smooth(content)
}

/// Replaces each inner box by its content.
pub(super) fn unbox(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    // For each open brace: is it a box's?
    let mut braces = Vec::new();
    let mut at = 0;
    let mut copied = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => {
                let rest = &text[at + 1..];
                let name = ["boxed", "fbox"]
                    .into_iter()
                    .find(|name| rest.starts_with(name));
                if let Some(name) = name
                    && let gap = rest[name.len()..].len() - rest[name.len()..].trim_start().len()
                    && rest[name.len() + gap..].starts_with('{')
                {
                    out.push_str(&text[copied..at]);
                    at += 1 + name.len() + gap + 1;
                    copied = at;
                    braces.push(true);
                    continue;
                }
                at += 1 + usize::from(matches!(bytes.get(at + 1), Some(b'{' | b'}' | b'\\')));
                continue;
            }
            b'{' => braces.push(false),
            b'}' if braces.pop() == Some(true) => {
                out.push_str(&text[copied..at]);
                copied = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    out.push_str(&text[copied..]);
    out
}

/// Do two boxes with this text between them state one answer together?
fn belong_together(gap: &str) -> bool {
    if gap.len() > MAX_GAP {
        return false;
    }
    let bare = gap.trim();
    // What one box is computed from is no answer.
    let computed = gap.contains(['=', '+', '×', '*', '≈', '→', '⇒']) && !is_labelled(gap)
        || gap.contains("\\approx")
        || gap.contains("\\cdot")
        || gap.contains("\\times")
        || gap.contains("\\frac")
        || gap.contains("\\implies")
        || gap.contains("\\Rightarrow");
    if computed {
        return false;
    }
    if bare.contains(". ") || bare.contains(".\n") && !enumerated(gap) {
        return false;
    }
    let mut listed = gap.contains([',', ';', '&']);
    let mut count = 0;
    for word in gap.split(|it: char| !it.is_alphabetic()) {
        if word.len() < 2 {
            continue;
        }
        if words::among(word, &["and", "or", "und", "et"]) {
            listed = true;
            continue;
        }
        if words::among(
            word,
            &[
                "quad", "qquad", "text", "left", "right", "mathrm", "textbf", "item",
            ],
        ) {
            continue;
        }
        if words::is_concluding(word)
            || words::is_subordinating(word)
            || words::among(
                word,
                &[
                    "get",
                    "obtain",
                    "have",
                    "is",
                    "we",
                    "adding",
                    "equivalently",
                    "ie",
                    "wait",
                    "actually",
                    "which",
                    "simplifies",
                    "equals",
                    "approximately",
                    "about",
                    "not",
                    "instead",
                    "rather",
                    "correct",
                    "answer",
                    "final",
                    "i",
                ],
            ) && !(listed && word == "is")
        {
            return false;
        }
        count += 1;
    }
    if count == 0 {
        return !gap.contains(|it: char| it.is_ascii_digit()) || enumerated(gap);
    }
    listed && count <= 8 && !gap.contains(|it: char| it.is_ascii_digit())
        || (enumerated(gap) && count <= 8)
}

/// Is the `=` in this gap that of "…, y = "?
fn is_labelled(gap: &str) -> bool {
    let Some((before, after)) = gap.split_once('=') else {
        return false;
    };
    let after = after.trim_matches([' ', '$', '\n', '\\', '(', '[']);
    let label = before.trim_end();
    let name_at = label
        .rfind(|it: char| !(it.is_alphanumeric() || matches!(it, '_' | '{' | '}' | '\'')))
        .map_or(0, |at| at + 1);
    let name = label.get(name_at..).unwrap_or_default();
    let rest = label.get(..name_at).unwrap_or_default();
    after.is_empty()
        && name.starts_with(|it: char| it.is_alphabetic())
        && !rest.contains(['+', '=', '*'])
        && (rest.contains([',', ';', '\n', '&'])
            || rest.contains("and")
            || rest.contains("or")
            || rest.contains("quad"))
}

/// Does the gap go over to the next part, "(b)", "2."?
fn enumerated(gap: &str) -> bool {
    let Some((_, line)) = gap.rsplit_once('\n') else {
        return gap.contains("(b)")
            || gap.contains("(c)")
            || gap.contains("(ii)")
            || gap.contains("(2)");
    };
    let line = line.trim_start_matches([' ', '*', '-', '(', '#']);
    let name = line
        .bytes()
        .take_while(u8::is_ascii_alphanumeric)
        .take(5)
        .count();
    (name > 0 && name <= 3 && line[name..].starts_with([')', '.']))
        || words::among(words::first_word(line), &["part", "case"])
}

#[cfg(test)]
mod tests {
    use super::super::scan::scan;
    use super::*;

    #[test]
    fn boxes_are_joined_or_not() {
        for (text, expected) in [
            (r"\boxed{5}", "5"),
            (r"\boxed{1} papers and \boxed{2} bins", "1, 2"),
            (r"\boxed{a}\boxed{b}", "a, b"),
            (r"\boxed{5} and \boxed{5}", "5"),
            (
                r"The intermediate sum is \boxed{20}; adding 1 we get \boxed{21}.",
                "21",
            ),
            (r"\boxed{1} no no no no no \boxed{2}", "2"),
            (r"$$\boxed{2}, \boxed{3}, \boxed{5}$$", "2, 3, 5"),
            (r"\boxed{x} \quad \text{and} \quad \boxed{y}", "x, y"),
            (r"\boxed{20}. Wait, it is \boxed{21}.", "21"),
            (r"$x = \boxed{2}$, $y = \boxed{3}$", "2, 3"),
            (r"$\boxed{20} + 1 = \boxed{21}$", "21"),
            ("(a) \\boxed{3}\n(b) \\boxed{5}", "3, 5"),
            (r"\boxed{\boxed{3}}", "3"),
            (r"\boxed{5}%", "5%"),
            (r"\boxed{5}\%", r"5\%"),
            (r"$\boxed{5}$%", "5%"),
            (r"$\boxed{5}$ cm", "5 cm"),
            (r"\boxed{28} percent", "28 percent"),
            (
                r"\(\boxed{189}\) square centimeters.",
                "189 square centimeters",
            ),
            (r"$x = -\boxed{5}$", "-5"),
            (r"\boxed{5} then put it in \boxed{}", "5"),
            (r"\boxed{$5$}", "5"),
            (r"\boxed{\textbf{5}}", "5"),
            (r"\boxed{5.}", "5"),
            (r"\boxed{90}^\circ", r"90^\circ"),
            (r"\boxed{5} ways to do it in", "5"),
        ] {
            let marks = scan(text);
            let found = last(text, &marks, text.len()).map(|it| it.text.into_owned());
            assert_eq!(found.as_deref(), Some(expected), "{text}");
        }
    }
}
