//! What stands behind words such as "the answer is".

use std::borrow::Cow;

use super::choice;
use super::items::{self, Kind, Page, Reading};
use super::maths;
use super::ratio;
use super::sentences;
use super::stated;
use super::tidy::{smooth, tidy};
use super::words;

/// How long an answer in words is at most, in bytes.
const MAX_WORDS: usize = 120;

/// Words that say nothing about the answer they stand before.
const FILLERS: [&str; 30] = [
    "that",
    "therefore",
    "thus",
    "hence",
    "simply",
    "just",
    "exactly",
    "equal",
    "to",
    "given",
    "by",
    "clearly",
    "still",
    "also",
    "indeed",
    "then",
    "actually",
    "now",
    "as",
    "follows",
    "following",
    "precisely",
    "only",
    "always",
    "be",
    "is",
    "calculated",
    "found",
    "indeed",
    "correctly",
];

/// What is read behind an announcement that ends at `from`, if it ends within `reach` bytes. `named`: is it a choice?
pub(super) fn read<'t>(
    page: Page<'t, '_>,
    from: usize,
    reach: usize,
    named: bool,
) -> Option<Reading<'t>> {
    let mut start = next_content(page.text, from)?;
    for _ in 0..4 {
        start = skip_fillers(page, start);
        let end = sentences::end(page.text, page.marks, start, start.saturating_add(reach))?;
        if end <= start {
            return None;
        }
        let end = end + usize::from(is_factorial(page.text, start, end));
        if page.marks.has_box(&(start..end)) && !page.open_boxes {
            return None;
        }
        let rest = &page.text[start..end];
        let word = words::first_word(rest);
        if words::among(word, &["either", "between", "both", "neither"])
            && rest[word.len()..].starts_with(' ')
        {
            start = skip_blanks(page.text, start + word.len());
            continue;
        }
        if word.eq_ignore_ascii_case("not") {
            // "not 7 but 9".
            let Some(but) = rest.find(" but ") else {
                return words_only(page, start, end);
            };
            start = skip_blanks(page.text, start + but + 5);
            continue;
        }
        return answer(page, start, end, named);
    }
    None
}

/// Does the exclamation mark at `end` belong to something that is computed, as in "4*5!"?
fn is_factorial(text: &str, start: usize, end: usize) -> bool {
    let clause = &text[start..end];
    text[end..].starts_with('!')
        && clause.ends_with(|it: char| it.is_ascii_alphanumeric() || it == ')')
        && clause.contains(['*', '/', '^', '·', '×', '\\'])
        && !clause.contains('=')
        && (clause.contains('\\') || !clause.contains(' '))
}

/// Reads the answer that a clause begins with or is about.
fn answer<'t>(page: Page<'t, '_>, start: usize, end: usize, named: bool) -> Option<Reading<'t>> {
    let rest = &page.text[start..end];
    let (bare, is_named) = match choice::strip_name(rest) {
        Some(after) => (after, true),
        None => (rest, named),
    };
    let at = end - bare.len();
    // The full stop of "A." may be the end of the clause.
    let reach = (end + 1).min(page.text.len());
    let reach = if page.text.is_char_boundary(reach) {
        reach
    } else {
        end
    };
    if page
        .marks
        .formula_from(at)
        .is_none_or(|(_, formula)| formula.content.len() <= 24)
        && let Some(found) = choice::leading(&page.text[at..reach], is_named)
        && (found.dressed || is_named || ends_soon(&page.text[at + found.end..reach]))
    {
        return Some(Reading {
            range: at..at + found.end,
            text: Cow::Owned(found.letters),
            kind: Kind::Choice,
        });
    }
    let dress = leading_dress(rest);
    if let Some((text, length)) = ratio::leading(&rest[dress..]) {
        return Some(Reading {
            text: Cow::Owned(text),
            kind: Kind::Plain,
            range: start..start + dress + length,
        });
    }
    let all = items::items(page, start..end);
    if let Some(first) = all.first()
        && first.value.start <= start + dress
    {
        let mut joined = stated::joined_forward(page, &all, 0);
        // "$48 + 24$ = 72": the value is behind the sign.
        // (A formula may end behind the clause that it begins in.)
        let after = page.text.get(all[joined - 1].end..end).unwrap_or_default();
        let after = after.trim_start();
        if (after.starts_with('=')
            || after.starts_with("which is")
            || after.starts_with("which equals"))
            && all.len() > joined
        {
            let from = joined;
            joined = stated::joined_forward(page, &all, from);
            return stated::render(page, &all[from..joined]);
        }
        return stated::render(page, &all[..joined]);
    }
    // A single letter: a variable, or a choice without dress.
    if let Some(run) = maths::run(&page.text[..end], start)
        && ends_soon(&page.text[run.end..end])
    {
        return Some(Reading {
            text: smooth(tidy(&page.text[start..run.end])),
            kind: Kind::Plain,
            range: start..run.end,
        });
    }
    let article = words::among(words::first_word(rest), &["a", "an", "the"]);
    if is_short_text(rest) && (!article || all.is_empty()) {
        return words_only(page, start, end);
    }
    if !all.is_empty() {
        return stated::sentence(page, start..end);
    }
    words_only(page, start, end)
}

/// Does the clause begin with a name or a few words that are set off, as in "Evelyn, who ran 5 miles"?
fn is_short_text(clause: &str) -> bool {
    let bare = clause.trim_start_matches(['*', '_', '"', '“', ' ']);
    let length = bare.find([',', '(', '*', '"', '”']).unwrap_or(bare.len());
    let head = bare[..length].trim();
    let count = head.split_whitespace().count();
    let digits = head.contains(|it: char| it.is_ascii_digit()) || head.contains(['$', '\\']);
    let number = head.split_whitespace().any(words::is_number_word);
    count > 0
        && count <= 3
        && !digits
        && !number
        && !words::is_subordinating(words::first_word(head))
}

/// Words that are the answer.
pub(super) fn words_only<'t>(page: Page<'t, '_>, start: usize, end: usize) -> Option<Reading<'t>> {
    let clause = &page.text[start..end];
    let mut length = clause.find([',', ';', '\n', '(']).unwrap_or(clause.len());
    for stop in [
        " because ",
        " since ",
        " as ",
        " which ",
        " where ",
        " so ",
        " - ",
        " – ",
        " — ",
    ] {
        if let Some(at) = clause[..length].find(stop)
            && at > 0
        {
            length = at;
        }
    }
    let text = tidy(&clause[..length]);
    let text = text
        .strip_prefix("that ")
        .or_else(|| text.strip_prefix("the "))
        .unwrap_or(text);
    let first = words::first_word(text);
    let empty = text.is_empty()
        || text.len() > MAX_WORDS
        || !text.contains(char::is_alphanumeric)
        || words::among(
            text,
            &[
                "correct",
                "right",
                "wrong",
                "incorrect",
                "reasonable",
                "below",
                "above",
                "unknown",
                "as follows",
                "found",
                "shown",
                "obtained",
                "given",
                "clear",
                "the",
                "a",
                "an",
                "in",
                "not",
                "it",
                "this",
                "that",
                "of",
                "to",
                "here",
                "unclear",
                "obvious",
                "simple",
                "straightforward",
                "easy",
                "consistent",
                "valid",
                "verified",
                "confirmed",
                "plausible",
            ],
        )
        || words::among(
            first,
            &[
                "correct",
                "reasonable",
                "obtained",
                "found",
                "likely",
                "probably",
                "consistent",
                "we",
                "i",
                "you",
                "let",
                "because",
                "supposed",
                "expected",
                "going",
                "always",
                "in",
                "there",
                "what",
                "not",
            ],
        );
    // "not enough information" says something, "not 7" does not.
    let told = text.to_ascii_lowercase().starts_with("not ")
        && text.len() > 8
        && !text.contains(|it: char| it.is_ascii_digit());
    if empty && !told {
        return None;
    }
    Some(Reading {
        text: smooth(text),
        kind: Kind::Words,
        range: start..start + length,
    })
}

/// Is what follows no more than punctuation, or a new clause?
fn ends_soon(rest: &str) -> bool {
    let bare = rest.trim_start_matches(['*', '_', '"', ')', '`', '$']);
    let next = bare.trim_start();
    next.is_empty()
        || next.starts_with(['.', ',', ';', '!', '\n', ':'])
        || words::is_subordinating(words::first_word(next))
        || bare.starts_with('\n')
}

fn leading_dress(text: &str) -> usize {
    text.len()
        - text
            .trim_start_matches(['*', '_', ' ', '`', '"', '~', '≈'])
            .len()
}

fn skip_blanks(text: &str, at: usize) -> usize {
    at + text[at..].len() - text[at..].trim_start_matches([' ', '\t']).len()
}

/// Where something other than blanks, colons and emphasis stands, on this line or the ones below.
fn next_content(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let rest = &text[at..];
        let first = rest.chars().next()?;
        let dress = first.is_whitespace()
            || matches!(
                first,
                ':' | '*' | '_' | '`' | '"' | '>' | '#' | '~' | '“' | '✅' | '→' | '➡'
            )
            || (first == '-' && rest[1..].starts_with([' ', '-']))
            || (first == '|' && (rest[1..].starts_with(' ') || rest[1..].starts_with("--")));
        if !dress {
            return Some(at);
        }
        if rest.starts_with("```") {
            // A fence may name a language.
            let line = rest.find('\n').unwrap_or(rest.len());
            let name = rest[3..line].trim();
            if name.bytes().all(|byte| byte.is_ascii_lowercase()) && line < rest.len() {
                at += line;
                continue;
            }
        }
        at += first.len_utf8();
    }
}

/// Behind the words that say nothing.
fn skip_fillers(page: Page<'_, '_>, from: usize) -> usize {
    let text = page.text;
    let mut at = from;
    for _ in 0..12 {
        let rest = &text[at..];
        let word = words::first_word(rest);
        if words::among(word, &FILLERS) && rest[word.len()..].starts_with([' ', ':', ',', '\n']) {
            let after = &rest[word.len()..];
            let next = after.trim_start_matches([' ', ':', ',', '\n', '\t', '*']);
            if next.is_empty() {
                return at;
            }
            at += rest.len() - next.len();
        } else if word.is_empty() && rest.starts_with(['=', ':', '→']) {
            let first = rest.chars().next().map_or(1, char::len_utf8);
            at = skip_blanks(text, at + first);
        } else {
            return at;
        }
    }
    at
}
