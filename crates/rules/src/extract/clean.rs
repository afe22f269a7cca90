//! What of a response counts, and in which characters.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex, Replacer};
use unicode_normalization::UnicodeNormalization;

use super::scan::{Kinds, next_of, passing};
use super::{hypertext, words};
use crate::parse::period;
use crate::pattern;

/// What a structural mark of a chat template or of thinking does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Structure {
    ThinkOpen,
    ThinkClose,
    /// What follows is the answer's channel.
    Final,
    Channel,
    /// A turn or the text ends here.
    End,
    /// Leaves the text around it as it is.
    Neutral,
}

/// The structural marks and what each does, by their second byte in lower case.
static STRUCTURES: LazyLock<Vec<Vec<(&str, Structure)>>> = LazyLock::new(|| {
    #[rustfmt::skip]
    let lists = [
        (&words::THINKING_BEGINS, Structure::ThinkOpen), (&words::THINKING_ENDS, Structure::ThinkClose), (&words::ANSWER_CHANNEL, Structure::Final),
        (&words::OTHER_CHANNEL, Structure::Channel), (&words::TURN_ENDS, Structure::End), (&words::TEXT_BEGINS, Structure::Neutral),
    ];
    let mut marks = vec![Vec::new(); 256];
    for (list, structure) in lists {
        for mark in list.iter() {
            let second = mark.as_bytes()[1].to_ascii_lowercase();
            marks[usize::from(second)].push((mark, structure));
        }
    }
    marks
});

/// The first byte of `◁`.
const MARK: u8 = 0xe2;

/// The structural mark that begins at `at`: its end, and what it does.
fn structure(bytes: &[u8], at: usize) -> Option<(usize, Structure)> {
    let second = bytes.get(at + 1)?.to_ascii_lowercase();
    let marks = &STRUCTURES[usize::from(second)];
    marks.iter().find_map(|(mark, structure)| {
        let part = bytes.get(at..at + mark.len())?;
        part.eq_ignore_ascii_case(mark.as_bytes())
            .then_some((at + mark.len(), *structure))
    })
}

/// The part of a response that may hold its answer, with its characters made plain; or why there is none.
pub(super) fn visible(text: &str) -> Result<Cow<'_, str>, &'static str> {
    let text = if text.len() > super::LONGEST {
        let outside = outside_thinking(text)?;
        let from = outside.ceil_char_boundary(outside.len().saturating_sub(super::LONGEST));
        let line = outside[from..].find('\n').ok_or("the text is too long")?;
        &outside[from + line..]
    } else {
        text
    };
    let text = without_end_marks(text);
    let mut found = signs(text);
    let mut part = Cow::Borrowed(text);
    if found & STRUCTURE != 0 {
        let outside = outside_thinking(text)?;
        found = signs(outside);
        part = Cow::Borrowed(outside);
    }
    if found & CALCULATOR != 0
        && let Some(without) = without_calculator_marks(&part)
    {
        // Without them there is no more to be looked for than with them.
        found &= !CALCULATOR;
        part = Cow::Owned(without);
    }
    if found & RARE != 0
        && let Cow::Owned(plain) = plain(&part)
    {
        found = signs(&plain);
        part = Cow::Owned(plain);
    }
    Ok(with_other_notations(part, found))
}

/// A text without what tools gave back, between a pair of their tags: the model has not written it.
/// A line's end stands for it, so that what stood around it does not grow together.
pub(crate) fn without_tool_results(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    if text.contains('<') {
        for opens in words::TOOL_RESULT.iter() {
            let closes = opens.replace('<', "</");
            let own = |part: &'_ str| {
                Some(part.strip_suffix(&closes)?.rsplit_once(opens)?.0.to_owned() + "\n")
            };
            if text.contains(opens) {
                let parts = text.split_inclusive(&closes);
                let parts = parts.map(|it| own(it).unwrap_or_else(|| it.to_owned()));
                text = Cow::Owned(parts.collect());
            }
        }
    }
    text
}

/// Does a text end in what a tool gave back?
pub(crate) fn ends_in_tool_result(text: &str) -> bool {
    let end = text.trim_end().strip_suffix('>');
    let tag = end.and_then(|it| it.rsplit_once("</"));
    tag.is_some_and(|it| words::TOOL_RESULT.contains(&format!("<{}>", it.1)))
}

/// A text without the marks of its end that a model wrote out: `8[EOS]`, `8<|end_of_text|>`.
pub(crate) fn without_end_marks(text: &str) -> &str {
    let before = |bare: &str, mark: &str| {
        let at = bare.len().checked_sub(mark.len())?;
        bare.get(at..)?.eq_ignore_ascii_case(mark).then_some(at)
    };
    let mut rest = text;
    while let bare = rest.trim_end()
        && bare.ends_with(['>', ']'])
        && let Some(at) = words::END_MARKS.iter().find_map(|it| before(bare, it))
    {
        rest = &bare[..at];
    }
    rest
}

/// What of a text is to be looked at more closely, as a sum of bits: most texts hold nothing of it.
type Signs = u8;

/// What may be a mark of a chat template or of thinking.
const STRUCTURE: Signs = 1;
/// A character that is not plain, or an x between spaces.
const RARE: Signs = 2;
const CALCULATOR: Signs = 4;
const SPELLING: Signs = 8;
const HYPERTEXT: Signs = 16;
const STRUCK: Signs = 32;
const MEASURE: Signs = 64;

/// The bytes that [`signs`] asks about.
const ASKED: Kinds = passing(b" \n\t!\"#$%()*+:;=>?@\\]^_`|}", b"px");

/// Finds them in one walk.
pub(super) fn signs(text: &str) -> Signs {
    let bytes = text.as_bytes();
    let mut signs = 0;
    let mut next = 0;
    while let Some((at, byte)) = next_of(bytes, next, &ASKED) {
        next = at + 1;
        let (before, after) = (&bytes[..at], &bytes[at + 1..]);
        let spaced = || before.ends_with(b" ") && after.starts_with(b" ");
        let next = after.first().copied().unwrap_or(0);
        signs |= match byte {
            MARK => RARE | STRUCTURE,
            0..=0x1f | 0x7f.. => RARE,
            b'x' if spaced() => RARE,
            b'p' if after.starts_with(b"er cent") => SPELLING,
            b'p' if after.starts_with(b"er minute") => MEASURE,
            b'\'' if before.last().is_some_and(u8::is_ascii_digit) => MEASURE,
            // A box without its backslash.
            b'{' if before.ends_with(b"boxed") && !before.ends_with(b"\\boxed") => SPELLING,
            b'/' if next == b'-' => SPELLING,
            b'-' if after.starts_with(b"year-old") => MEASURE,
            b'<' if next == b'<' => CALCULATOR,
            b'<' if next == b'/' || after.starts_with(b"br") => HYPERTEXT | STRUCTURE,
            b'<' if !next.is_ascii_digit() => STRUCTURE,
            b'[' if matches!(next, b'/' | b't' | b'T') => STRUCTURE,
            b'&' if next == b'#' || next.is_ascii_alphabetic() => HYPERTEXT,
            b'~' if next == b'~' => STRUCK,
            b'.' | b',' if next.is_ascii_digit() && repeats(&text[at + 1..]) => SPELLING,
            b'.' if after.starts_with(b"..") && before.last().is_some_and(u8::is_ascii_digit) => {
                SPELLING
            }
            _ => 0,
        };
    }
    signs
}

/// A text in other words; `None` where nothing changes.
type Rewriting = fn(&str) -> Option<String>;

fn with_other_notations(text: Cow<'_, str>, signs: Signs) -> Cow<'_, str> {
    let mut text = text;
    for (is_there, rewritten) in [
        (signs & SPELLING != 0, with_spellings as Rewriting),
        (signs & SPELLING != 0, with_bars),
        (signs & HYPERTEXT != 0, hypertext::without_tags),
        (signs & STRUCK != 0, without_struck),
        (signs & MEASURE != 0, with_measures),
    ] {
        if is_there && let Some(rewritten) = rewritten(&text) {
            text = Cow::Owned(rewritten);
        }
    }
    text
}

/// What a pattern is replaced by; `None` where it is not found.
pub(crate) fn replaced(pattern: &Regex, text: &str, by: impl Replacer) -> Option<String> {
    match pattern.replace_all(text, by) {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => Some(text),
    }
}

/// The text with "per cent" in one word, without the `/-` after a sum of rupees, with the backslash of a box; `None` where none is in it.
fn with_spellings(text: &str) -> Option<String> {
    static SPELLING: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(per) (cent(?-u:\b))|([0-9])/-\B|(^|[^a-zA-Z\\])(boxed\{)"));
    replaced(&SPELLING, text, |found: &Captures<'_>| match found.get(5) {
        Some(opened) => format!(r"{}\{}", &found[4], opened.as_str()),
        None => (1..=3)
            .filter_map(|it| found.get(it))
            .map(|it| it.as_str())
            .collect(),
    })
}

/// Does one of the next words say that digits go on for ever?
fn repeats(digits: &str) -> bool {
    let near = &digits[..digits.floor_char_boundary(40)];
    let near = near.split('\n').next().unwrap_or(near);
    // How all of those words begin.
    let small = |it: u8| it.to_ascii_lowercase();
    let begins = |it: &[u8]| {
        !it[0].is_ascii() || matches!([small(it[0]), small(it[1])], [b'r' | b'p', b'e'])
    };
    if !near.as_bytes().windows(2).any(begins) {
        return false;
    }
    let mut said = words::words_of(near);
    said.any(|it| words::REPEATS.contains(it))
}

/// "0.1666 repeating", and a last `0.1666...`, as `0.166\overline{6}`; where it is not clear what repeats, `\overline{?}`, which is no number.
fn with_bars(text: &str) -> Option<String> {
    static DECIMAL: LazyLock<Regex> = LazyLock::new(|| {
        let said: Vec<_> = words::REPEATS.iter().collect();
        let said = said.join("|");
        pattern(format!(
            r"(?i)([0-9]*[.,])([0-9]+)(\.\.\.|…)?(?:([ *_$}}~]*)(?:\\[a-z]+\{{ ?\(?(?:{said})\)?\}}|\((?:{said})\)|\b(?:{said})\b))?"
        ).leak())
    });
    replaced(&DECIMAL, text, |found: &Captures<'_>| {
        let part = |group| found.get(group).map_or("", |it| it.as_str());
        let (whole, digits) = (part(1), part(2));
        let rest = found.get(0).map_or("", |it| &text[it.end()..]);
        let rest = rest.trim_start_matches([' ', '*', '$', '.']);
        let said = found.get(4).is_some();
        let thousands = whole.ends_with(',') && digits.len() == 3 && whole != "0,";
        let last = found.get(3).is_some() && (rest.is_empty() || rest.starts_with('\n'));
        let same = said && digits.bytes().all(|it| digits.starts_with(char::from(it)));
        // "4.99 recurring fees"
        let clear = !rest.starts_with(char::is_alphabetic);
        let period = period(digits.as_bytes())
            .or(same.then_some(1))
            .filter(|_| clear);
        if thousands || !(said || last && period.is_some()) {
            return found[0].to_owned();
        }
        let (head, bar) = digits.split_at(digits.len() - period.unwrap_or(0));
        let bar = if bar.is_empty() { "?" } else { bar };
        // What repeats is a decimal.
        let whole = whole.replace(',', ".");
        format!(r"{whole}{head}\overline{{{bar}}}{}", part(4).trim_end())
    })
}

/// `5'6"` as 5 feet 6 inches, beats per minute as bpm, "a 12-year-old boy." as 12 years; "the 12-year-old" is only mentioned.
fn with_measures(text: &str) -> Option<String> {
    static FEET: LazyLock<Regex> = LazyLock::new(|| pattern(r#"(^|[^°.\d])(\d+)' ?(\d|1[01])""#));
    static RATE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b([bw])(?:eats|ords) per minute"));
    static AGE: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?im)(^|\ban? |\bis )(\d+)-year-old((?: \w+)?[.!]?$)"));
    let feet = FEET.replace_all(text, "$1$2 feet $3 inches");
    let ages = AGE.replace_all(&feet, "$1$2 years old$3");
    let rates = RATE.replace_all(&ages, "${1}pm");
    (rates != text).then(|| rates.into_owned())
}

/// The text without GSM8K's calculator marks, `<<9*2=18>>`, which say how the number after them was computed and are no
/// part of the solution; `None` where there are none.
fn without_calculator_marks(text: &str) -> Option<String> {
    // "a << b = c >> d" compares; a mark has no space at its ends.
    static MARK: LazyLock<Regex> = LazyLock::new(|| pattern(r"<<[^\s<>](?:[^<>\n]*[^\s<>])?>>"));
    replaced(&MARK, text, |found: &Captures<'_>| {
        let mark = &found[0];
        if mark.contains('=') { "" } else { mark }.to_owned()
    })
}

/// How long what is struck out is at most, in bytes.
const LONGEST_STRUCK: usize = 2_000;

/// The text without what Markdown strikes out, `~~12~~`; `None` where nothing is. In a formula tildes are spaces.
fn without_struck(text: &str) -> Option<String> {
    static STRUCK: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(^|[^\pL\pN})])~~([\pL\pN*$\\-][^\n]*?)~~"));
    replaced(&STRUCK, text, |found: &Captures<'_>| {
        let short = found[2].len() <= LONGEST_STRUCK;
        found[usize::from(short)].to_owned()
    })
}

/// What follows the thinking, up to the end of the turn.
fn outside_thinking(text: &str) -> Result<&str, &'static str> {
    let bytes = text.as_bytes();
    let mut from = 0;
    let mut to = None;
    let mut thinking = None;
    let mut channel = false;
    let mut stated = None;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        at += 1;
        if !matches!(byte, b'<' | b'[' | MARK) {
            continue;
        }
        let Some((end, structure)) = structure(bytes, start) else {
            continue;
        };
        at = end;
        let begins = || {
            let before = text.get(from..start).unwrap_or_default();
            before.trim_end().is_empty()
        };
        match structure {
            Structure::ThinkClose | Structure::Final => {
                stated = thinking.map(|open| from..open).or(stated);
                from = end;
                (to, thinking, channel) = (None, None, false);
            }
            Structure::ThinkOpen => thinking = thinking.or(Some(start)),
            Structure::Channel => channel = true,
            Structure::End if to.is_some() => {}
            Structure::End if begins() => from = after_role(text, end),
            Structure::End => to = Some(start),
            Structure::Neutral if begins() => from = end,
            Structure::Neutral => {}
        }
    }
    let end = [to, thinking].into_iter().flatten().min();
    let end = end.unwrap_or(text.len());
    let mut part = text.get(from..end).unwrap_or_default();
    // "\boxed{5}", and the thinking after it.
    if part.trim().is_empty()
        && let Some(stated) = stated
    {
        part = text.get(stated).unwrap_or_default();
    }
    if channel {
        return Err("the response has no final part");
    }
    if part.trim().is_empty() && thinking.is_some() {
        return Err("the response was cut off while thinking");
    }
    Ok(part.strip_suffix("</s>").unwrap_or(part))
}

/// After the role name that follows the opening of a turn.
fn after_role(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let mut roles = ["assistant", "user", "system"].into_iter();
    let role = roles.find(|it| rest.starts_with(it));
    at + role.map_or(0, str::len)
}

/// What a character is replaced by; `None` where it is dropped.
fn plain_character(it: char) -> Option<char> {
    let shifted = |from: char, to: char| char::from_u32(it as u32 - from as u32 + to as u32);
    Some(match it {
        '\n' | '\t' | ' '..='~' => it,
        '\u{0}'..='\u{1f}'
        | '\u{7f}'..='\u{9f}'
        | '\u{ad}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{fffc}'..='\u{fffd}' => return None,
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => {
            ' '
        }
        '\u{2028}' | '\u{2029}' => '\n',
        '\u{2212}' | '\u{fe63}' | '\u{2010}' | '\u{2011}' => '-',
        '\u{3002}' | '\u{ff61}' | '\u{66b}' => '.',
        '\u{3001}' | '\u{66c}' | '\u{60c}' => ',',
        '\u{66a}' => '%',
        '\u{ff01}'..='\u{ff5e}' => shifted('\u{ff01}', '!')?,
        '\u{660}'..='\u{669}' => shifted('\u{660}', '0')?,
        '\u{6f0}'..='\u{6f9}' => shifted('\u{6f0}', '0')?,
        '\u{966}'..='\u{96f}' => shifted('\u{966}', '0')?,
        '\u{9e6}'..='\u{9ef}' => shifted('\u{9e6}', '0')?,
        '\u{e50}'..='\u{e59}' => shifted('\u{e50}', '0')?,
        // The blackboard letters of number sets in the block of letterlike symbols stay: they say which set is meant.
        '\u{1d400}'..='\u{1d7ff}' => std::iter::once(it).nfkc().next()?,
        _ => it,
    })
}

/// The text in plain characters; borrowed where nothing changes.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    let may_change = |it: char| matches!(it, 'x' | '\u{2013}') || plain_character(it) != Some(it);
    let Some(first) = text.find(may_change) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..first]);
    let mut rest = text[first..].chars();
    loop {
        // What stays as it is, at once.
        let stays = rest.as_str();
        let length = next_of(stays.as_bytes(), 0, &ASKED).map_or(stays.len(), |it| it.0);
        let (stays, after) = stays.split_at(length);
        out.push_str(stays);
        rest = after.chars();
        let Some(character) = rest.next() else {
            break;
        };
        match character {
            '\r' => {
                if !rest.as_str().starts_with('\n') {
                    out.push('\n');
                }
            }
            '\u{1b}' => skip_escape(&mut rest),
            // `\f` and `\b` of a string that was not meant to have escapes.
            '\u{c}' | '\u{8}' if begins_command(character, rest.as_str()) => {
                if !out.ends_with('\\') {
                    out.push('\\');
                }
                out.push(if character == '\u{c}' { 'f' } else { 'b' });
            }
            '\u{b}' | '\u{c}' => out.push(' '),
            // A minus sign as word processors write it; between numbers it is a range.
            '\u{2013}' if is_sign(&out, rest.as_str()) => out.push('-'),
            // "6.02 x 10^23"
            'x' if multiplies(&out, rest.as_str()) => out.push('×'),
            _ => {
                // A no-break or thin space between the digits of one number.
                let digits = rest.as_str().bytes().take(4).take_while(u8::is_ascii_digit);
                let groups =
                    character != ' ' && out.ends_with(words::is_digit) && digits.count() == 3;
                out.extend(plain_character(character).filter(|it| *it != ' ' || !groups));
            }
        }
    }
    Cow::Owned(out)
}

/// Is the dash between `before` and `after` the sign of a number?
fn is_sign(before: &str, after: &str) -> bool {
    after.starts_with(words::is_digit)
        && (before.trim_end_matches(' ').is_empty()
            || before.ends_with(['(', '[', '{', '=', '$', ','])
            || before.ends_with(' ')
                && before
                    .trim_end()
                    .ends_with(|last: char| !last.is_alphanumeric() || last.is_alphabetic()))
}

/// Is the letter x between `before` and `after` a sign of multiplication?
fn multiplies(before: &str, after: &str) -> bool {
    let factor = before.strip_suffix(' ').unwrap_or_default();
    factor.ends_with(words::is_digit)
        && after
            .strip_prefix(' ')
            .is_some_and(|it| it.starts_with(words::is_digit))
}

fn begins_command(control: char, rest: &str) -> bool {
    let commands: &[&str] = if control == '\u{c}' {
        &["rac", "box", "loor", "orall"]
    } else {
        &["oxed", "inom", "ar{", "egin{", "eta", "ig", "mod"]
    };
    commands.iter().any(|command| rest.starts_with(command))
}

/// Over a terminal's control sequence, whose first character is gone already.
fn skip_escape(rest: &mut std::str::Chars<'_>) {
    if rest.as_str().starts_with('[') {
        rest.next();
        // A sequence is short; what does not end is none.
        let mut sequence = rest.by_ref().take(32);
        sequence.find(|it| ('@'..='~').contains(it));
    }
}
