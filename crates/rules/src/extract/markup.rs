//! Takes the markup off an answer: emphasis, quotes, delimiters, the full stop.

use super::scan::{Kinds, passing};
use super::tail::CLOCK;
use std::borrow::Cow;

/// How many layers of markup come off; what wears more is no answer.
const MAX_LAYERS: usize = 12;

/// The bare answer within `text`; always a part of it.
pub(crate) fn trim_markup(text: &str) -> &str {
    let mut text = text;
    for _ in 0..MAX_LAYERS {
        if is_bare(text) {
            break;
        }
        let before = text.len();
        text = trim_ends(text);
        if !is_bare(text) {
            text = unwrap(text);
        }
        if text.len() == before {
            break;
        }
    }
    text
}

/// What is no markup at the beginning of a text, and at its end.
const STAYS_FIRST: Kinds = passing(b"!#%()+-./>?@[\\]^{|}~", b"");
const STAYS_LAST: Kinds = passing(b"!#%&()+-/<=@[]^{|}~", b"");

/// Does a text begin and end with what is no markup and no space of LaTeX? Then nothing comes off.
fn is_bare(text: &str) -> bool {
    let bytes = text.as_bytes();
    let begins = match bytes {
        [b'\\', next, ..] => {
            let mut comes_off = COMMANDS.into_iter().chain(ARROWS);
            // Both spaces of LaTeX with a q come off; few commands begin as those that do.
            let letter = next.is_ascii_alphabetic() && *next != b'q';
            letter && !(b"bdeimt".contains(next) && comes_off.any(|it| text.starts_with(it)))
        }
        [first, ..] => STAYS_FIRST[usize::from(*first)] == 0,
        [] => true,
    };
    let ends = match bytes.last() {
        Some(b'd') => !bytes.ends_with(b"quad"),
        Some(b'!') => !bytes.ends_with(b"\\!"),
        Some(last) => STAYS_LAST[usize::from(*last)] == 0,
        None => true,
    };
    begins && ends
}

fn is_markup(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_whitespace() || character == '\u{b}';
    }
    character.is_whitespace()
        || matches!(
            character,
            '✅' | '✔' | '✓' | '☑' | '●' | '•' | '►' | '▶' | '→'
        )
        || ('\u{1f300}'..='\u{1faff}').contains(&character)
        || ('\u{2600}'..='\u{26ff}').contains(&character)
}

/// What the spaces of LaTeX and HTML end with.
const SPACE_ENDS: [char; 7] = [',', ';', ':', '!', 'd', '\\', ' '];

/// Takes such spaces off both ends.
fn without_spaces(text: &str) -> &str {
    let mut text = text;
    for space in [
        "\\,", "\\;", "\\:", "\\!", "\\quad", "\\qquad", "\\\\", "\\ ", "&nbsp;",
    ] {
        if let Some(rest) = text.strip_suffix(space)
            && !(space.len() == 2 && rest.ends_with('\\'))
        {
            text = rest;
        }
        // Doubled by someone's escaping, it begins a command.
        let doubled = |rest: &str| space == "\\\\" && rest.starts_with(char::is_alphabetic);
        if let Some(rest) = text.strip_prefix(space).filter(|it| !doubled(it)) {
            text = rest;
        }
    }
    text
}

/// What a result may begin with.
#[rustfmt::skip]
const ARROWS: [&str; 7] = ["=> ", "==> ", "⇒", "∴", "\\therefore", "\\quad", "\\implies"];

/// Takes off blanks and punctuation at both ends.
fn trim_ends(text: &str) -> &str {
    let mut text = text.trim_matches(is_markup);
    for _ in 0..MAX_LAYERS {
        let before = text.len();
        let command = matches!(text.as_bytes(), [b'\\', b'a'..=b'p' | b'r'..=b'z', ..]);
        if !command && text.starts_with(['\\', '&']) || text.ends_with(SPACE_ENDS) {
            text = without_spaces(text).trim_matches(is_markup);
        }
        text = text.trim_start_matches([':', ';', ',']);
        if text.starts_with(['=', '⇒', '∴', '\\']) {
            for arrow in ARROWS {
                text = text.strip_prefix(arrow).unwrap_or(text);
            }
        }
        if !text.starts_with("=>") && !text.starts_with("==") {
            text = text.strip_prefix('=').unwrap_or(text);
        }
        if let Some(rest) = text.strip_suffix('.')
            && !(rest.ends_with("..") || rest.ends_with("\\ldots"))
            && !(rest.ends_with(['m', 'M']) && CLOCK.iter().any(|clock| text.ends_with(clock)))
        {
            text = rest;
        }
        text = text.trim_end_matches([',', ';', ':', '?', '。']);
        if text.ends_with('\\') && !text.ends_with("\\\\") {
            text = &text[..text.len() - 1];
        }
        text = text.trim_matches(is_markup);
        if text.len() == before || is_bare(text) {
            break;
        }
    }
    text
}

/// What two marks enclose, if they enclose all of it.
fn unwrap(text: &str) -> &str {
    #[rustfmt::skip]
    const PAIRS: [(&str, &str); 17] = [
        ("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"), ("***", "***"), ("**", "**"), ("*", "*"),
        ("__", "__"), ("```", "```"), ("`", "`"), ("\"", "\""), ("“", "”"), ("'", "'"), ("‘", "’"), ("«", "»"),
        ("<b>", "</b>"), ("<strong>", "</strong>"),
    ];
    let opens = |it: char| !it.is_alphanumeric() && !matches!(it, '-' | '(' | '{');
    if text.starts_with(opens) {
        let first = text.as_bytes()[0];
        for (open, close) in PAIRS.into_iter().filter(|it| it.0.as_bytes()[0] == first) {
            if let Some(rest) = text.strip_prefix(open)
                && let Some(inner) = rest.strip_suffix(close)
                && !inner.is_empty()
                && !inner.contains(open)
                && !inner.contains(close)
            {
                return inner;
            }
        }
    }
    // An emphasis that was opened or closed outside.
    for mark in ["**", "__"] {
        let stripped = text.strip_prefix(mark).or_else(|| text.strip_suffix(mark));
        if let Some(rest) = stripped
            && text.matches(mark).count() == 1
        {
            return rest;
        }
    }
    for mark in ['"', '”'] {
        if let Some(rest) = text.strip_suffix(mark)
            && rest.ends_with(char::is_alphabetic)
            && !rest.contains(['"', '“'])
        {
            return rest;
        }
    }
    unwrap_command(text)
}

/// Commands that come off.
#[rustfmt::skip]
const COMMANDS: [&str; 8] = ["\\textbf", "\\mathbf", "\\boldsymbol", "\\bm", "\\displaystyle", "\\textit", "\\emph", "\\bf"];

/// What such a command holds where it holds all of a text.
fn unwrap_command(text: &str) -> &str {
    if !text.starts_with('\\') {
        return text;
    }
    for command in COMMANDS {
        if let Some(rest) = text.strip_prefix(command) {
            if command == "\\displaystyle" && !rest.starts_with(|it: char| it.is_alphabetic()) {
                return rest;
            }
            let group = super::symbols::group(rest);
            if group > 0 && group == rest.len() {
                return &rest[1..rest.len() - 1];
            }
        }
    }
    text
}

/// What follows the backslash of delimiters and labels.
const MARKS: [&str; 7] = ["(", ")", "[", "]", "label", "tag", "nonumber"];

/// The answer without emphasis and delimiters within it, without labels of equations.
pub(super) fn without_markup(text: &str) -> Cow<'_, str> {
    let begins = |rest: &str| MARKS.iter().any(|it| rest.starts_with(it));
    let rough = text.bytes().enumerate().any(|(at, byte)| match byte {
        b'$' | b'\n' => true,
        b'*' => text[at + 1..].starts_with('*'),
        b'\\' => begins(&text[at + 1..]),
        _ => false,
    });
    if !rough {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let mut dollars = 0;
    let bytes = text.as_bytes();
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("\\$") {
            out.push_str("\\$");
            at += 2;
            continue;
        }
        if let Some(following) = rest.strip_prefix('$') {
            let money = bytes
                .get(at + 1)
                .is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'))
                && !following.contains('$')
                && dollars % 2 == 0;
            dollars += 1;
            if money {
                out.push('$');
            } else if !out.ends_with(' ') && !out.is_empty() {
                out.push(' ');
            }
            at += 1;
            continue;
        }
        let delimiter = matches!(rest.as_bytes(), [b'\\', b'(' | b')' | b'[' | b']', ..]);
        if delimiter && !text[..at].ends_with('\\') {
            out.push(' ');
            at += 2;
            continue;
        }
        if let Some(following) = rest.strip_prefix("**") {
            let before = out.chars().next_back();
            let after = following.chars().next();
            let operand = |it: Option<char>| {
                it.is_some_and(|it| it.is_alphanumeric() || matches!(it, '(' | ')' | '-'))
            };
            if operand(before) && operand(after) {
                out.push_str("**");
            }
            at += 2;
            continue;
        }
        if let Some(length) = label(rest) {
            at += length;
            continue;
        }
        let Some(next) = rest.chars().next() else {
            break;
        };
        out.push(if next == '\n' { ' ' } else { next });
        at += next.len_utf8();
    }
    let trimmed = trim_markup(&out);
    if trimmed.len() == out.len() {
        Cow::Owned(out)
    } else {
        Cow::Owned(trimmed.to_owned())
    }
}

/// The length of a `\label{…}` or `\tag{…}` at the beginning.
fn label(text: &str) -> Option<usize> {
    let commands = ["\\label", "\\tag*", "\\tag", "\\nonumber", "\\notag"];
    commands.into_iter().find_map(|command| {
        let group = super::symbols::group(text.strip_prefix(command)?);
        (group > 0 || command.starts_with("\\no")).then_some(command.len() + group)
    })
}
