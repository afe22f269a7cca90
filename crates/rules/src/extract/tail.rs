//! What stands after a number and belongs to it: percent signs, units, money, what is counted.

use std::ops::Range;

use super::{qualifiers, words};
use crate::lexicon::units::{currency, long_currency};
use crate::lexicon::words::{CUBE_AFTER, JOINS_UNITS, SQUARE_AFTER};

/// What belongs to a number.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Tail {
    /// The unit or label, in bytes after the number; empty if there is none.
    pub unit: Range<usize>,
    /// How far the words about it reach.
    pub end: usize,
    /// Is the unit one that is measured with?
    pub measured: bool,
    /// The base that is named, "in base 7".
    pub base: Option<Range<usize>>,
}

impl Tail {
    fn new(unit: Range<usize>, end: usize, measured: bool) -> Self {
        Self {
            unit,
            end,
            measured,
            base: None,
        }
    }
}

/// Reads what follows a number: `text` begins right after it. `labels`: may it be something that is counted?
pub(super) fn tail(text: &str, labels: bool) -> Tail {
    // "12-year-old"
    if let Some(rest) = text.strip_prefix("-year") {
        let word = words::leading(rest, |it| it.is_alphabetic() || it == '-');
        let end = text.len() - rest.len() + word;
        return Tail::new(0..0, end, false);
    }
    let unit = |end| Tail::new(0..end, end, true);
    let gap = gap(text);
    let mark = mark(text, gap);
    if mark > 0 {
        return unit(mark);
    }
    if let Some((base, end)) = base(text) {
        return Tail {
            end,
            base: Some(base),
            ..Tail::default()
        };
    }
    let end = measured(text, gap);
    if end > gap {
        return unit(end);
    }
    if labels && gap > 0 {
        return label(text, gap);
    }
    Tail::default()
}

/// The base that " in base 7" or " (base 7)" names, and where it ends.
fn base(text: &str) -> Option<(Range<usize>, usize)> {
    const OPENS: &str = " in base | (in base | (base | base | in base $| in base-";
    if !matches!(text.as_bytes(), [b' ', b'i' | b'(' | b'b', ..]) {
        return None;
    }
    OPENS.split('|').find_map(|open| {
        let rest = text.strip_prefix(open)?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let base = open.len()..open.len() + digits;
        let close = rest[digits..].starts_with([')', '$']) && open.contains(['(', '$']);
        let end = base.end + usize::from(close);
        (1..=2).contains(&digits).then_some((base, end))
    })
}

/// The length of the blanks and ties that `text` begins with, on one line.
fn gap(text: &str) -> usize {
    const MOST: usize = 12;
    let mut at = 0;
    while at <= MOST {
        at += match &text.as_bytes()[at..] {
            [b' ' | b'~', ..] => 1,
            [b'\\', b',' | b';' | b' ' | b':' | b'!', ..] | [b'*', b'*', ..] => 2,
            [b'\\', rest @ ..] if rest.starts_with(b"quad") => 5,
            _ => break,
        };
    }
    at
}

/// The length of a percent or degree sign, or that of a currency, with the gap before it; 0 if there is none.
fn mark(text: &str, gap: usize) -> usize {
    let rest = &text[gap..];
    if !rest.starts_with(|it: char| !it.is_ascii() || matches!(it, '\\' | '%' | '^')) {
        return 0;
    }
    let mut signs = r"\%|%|‰|^\circ|^{\circ}|^{\circ }|\degree|°|€|£|¥|₹|₽|¢".split('|');
    let Some(sign) = signs.find(|it| rest.starts_with(*it)) else {
        return 0;
    };
    let end = gap + sign.len();
    let scale = text[end..].trim_start_matches([' ', '{', '}', '\\', ',']);
    let at = text.len() - scale.len();
    let close = sign.contains(['c', '°', 'd']) && !text[end..at].contains(['{', '}', '\\']);
    let single = scale.starts_with(['C', 'F', 'K'])
        && !scale[1..].starts_with(|it: char| it.is_alphanumeric());
    if close && single { at + 1 } else { end }
}

/// Halves of the day with their dots; the last one may have been taken for a full stop.
pub(super) const CLOCK: [&str; 8] = ["a.m.", "p.m.", "A.M.", "P.M.", "a.m", "p.m", "A.M", "P.M"];

/// Where the measured unit that begins at `from` ends; `from` if there is none.
fn measured(text: &str, from: usize) -> usize {
    let mut at = from;
    let mut end = from;
    // "$15.75/hour"
    if let Some(rate) = text[from..].strip_prefix('/') {
        let word = unit_word(rate);
        if word.len() > 1 && words::is_unit(word) {
            return from + 1 + word.len();
        }
    }
    // Magnitudes, then money or a unit: "5 million dollars".
    for _ in 0..8 {
        let rest = &text[at..];
        // "J g⁻¹ °C⁻¹"
        if end > from
            && let Some(degrees) = ["°C", "°F"].iter().find(|it| rest.starts_with(**it))
        {
            end = at + degrees.len();
            end += exponent(&text[end..]);
            at = end;
            continue;
        }
        if let Some(clock) = CLOCK.iter().find(|it| rest.starts_with(**it)) {
            return at + clock.len();
        }
        if let Some(money) = long_currency(rest) {
            return at + money;
        }
        if let Some(group) = unit_group(rest) {
            end = at + group;
            at = end;
        } else {
            let word = unit_word(rest);
            let glued = at == from && from == 0;
            if word.is_empty() {
                break;
            }
            let lone_article = matches!(word, "A" | "C" | "F" | "T" | "in")
                && !glued
                && goes_on(&rest[word.len()..])
                && !measures_length(&rest[word.len()..]);
            if words::MAGNITUDE.contains(word) {
                end = at + word.len();
            } else if words::is_unit(word) && !lone_article {
                end = at + word.len();
                end += exponent(&text[end..]);
                let scale = words::first_word(text[end..].trim_start_matches(' '));
                if words::TEMPERATURE_SCALE.contains(scale) {
                    end = words::offset(text, scale) + scale.len();
                }
                let power = words::first_word(text[end..].trim_start_matches(' '));
                if SQUARE_AFTER.contains(power) || CUBE_AFTER.contains(power) {
                    end = words::offset(text, power) + power.len();
                }
            } else if words::UNIT_PREFIX.contains(word) {
                at += word.len();
                at += text[at..].len() - text[at..].trim_start_matches(' ').len();
                continue;
            } else {
                break;
            }
            at = end;
        }
        // "per", "/", "·" and on.
        let rest = &text[at..];
        let trimmed = rest.trim_start_matches(' ');
        let blanks = rest.len() - trimmed.len();
        let rate = JOINS_UNITS.begin(trimmed);
        let mut signs = ["/", "·", "⋅", "\\cdot "].iter();
        let joined = rate
            .and_then(|(_, rest)| rest.strip_prefix(' '))
            .or_else(|| signs.find_map(|it| trimmed.strip_prefix(*it)))
            .or(trimmed
                .strip_prefix("an ")
                .filter(|it| it.starts_with("hour")));
        if let Some(after) = joined {
            at += rest.len() - after.len();
            at += after.len() - after.trim_start_matches(' ').len();
        } else if blanks > 0 {
            at += blanks;
        } else {
            break;
        }
    }
    end
}

/// Does a text begin with what a length is said of, and nothing that it may belong to: "10 in tall", but not "2 in high school"?
fn measures_length(text: &str) -> bool {
    let word = words::first_word(text.trim_start());
    let rest = &text[words::offset(text, word) + word.len()..];
    words::DIMENSION.contains(word) && !rest.trim_start().starts_with(char::is_alphabetic)
}

/// Does a phrase go on after this word?
fn goes_on(rest: &str) -> bool {
    rest.trim_start_matches(' ')
        .starts_with(|it: char| it.is_alphanumeric() || it == '$' || it == '\\')
}

fn unit_word(text: &str) -> &str {
    let word = words::first_word(text);
    if word.ends_with('\'') {
        return "";
    }
    let after = &text[word.len()..];
    // A name such as "m1" or a hyphenated word is no unit.
    let glued = after.starts_with(words::is_digit) && word.len() > 2
        || after.starts_with('-') && after[1..].starts_with(|it: char| it.is_alphabetic());
    // "basis points", "inches of mercury": names of up to four words.
    let begins = words::UNIT_PREFIX.contains(word) || words::is_unit(word);
    let said = words::words_of(text).take(4 * usize::from(begins)).skip(1);
    let names = said.map(|it| &text[..words::offset(text, it) + it.len()]);
    let named = names.filter(|it| words::is_unit(it)).last();
    if glued { "" } else { named.unwrap_or(word) }
}

/// `^2`, `^{-1}`, `²`, a digit.
fn exponent(text: &str) -> usize {
    let bytes = text.as_bytes();
    // "m$^2$"
    if let Some(inner) = text.strip_prefix("$^") {
        let end = 1 + exponent(&text[1..]);
        let closes = end > 2 && inner[end - 2..].starts_with('$');
        return usize::from(closes) * (end + 1);
    }
    if let Some(rest) = text.strip_prefix('^') {
        let group = super::symbols::group(rest);
        if group > 0 {
            return 1 + group;
        }
        let sign = usize::from(rest.starts_with('-'));
        let digits = rest[sign..].bytes().take(2).take_while(u8::is_ascii_digit);
        return 1 + sign + digits.count();
    }
    let raised = text.chars().take_while(|it| "²³⁻¹".contains(*it));
    let raised = raised.map(char::len_utf8).sum();
    if raised > 0 {
        return raised;
    }
    usize::from(
        matches!(bytes.first(), Some(b'2' | b'3'))
            && !bytes.get(1).is_some_and(u8::is_ascii_alphanumeric),
    )
}

/// `\text{ cm}^2`, `\mathrm{m/s}`, perhaps as a formula of its own.
fn unit_group(text: &str) -> Option<usize> {
    if !text.starts_with(['$', '\\']) {
        return None;
    }
    if let Some(inner) = text.strip_prefix('$') {
        let length = unit_group(inner)?;
        let name = inner[..length].split('{').nth(1).unwrap_or("");
        let measured = words::is_unit(words::first_word(name.trim_start()));
        return (measured && inner[length..].starts_with('$')).then_some(length + 2);
    }
    let mut commands = r"\text \mathrm \mbox \textrm \textnormal \operatorname".split(' ');
    commands.find_map(|command| {
        let group = super::symbols::group(text.strip_prefix(command)?);
        let end = command.len() + group;
        (group > 0).then(|| end + exponent(&text[end..]))
    })
}

/// What is counted: "ways" of "different ways to …".
fn label(text: &str, from: usize) -> Tail {
    if qualifiers::takes_back_in_words(&text[from..]) {
        return Tail::default();
    }
    let mut at = from;
    let (mut first, mut named) = (None, false);
    for position in 0..4 {
        let word = words::first_word(&text[at..]);
        if word.is_empty()
            || words::NOT_COUNTED.contains(word)
            || words::CHANGES_AFTER.contains(word)
            || words::FOREIGN_SCALE.contains(word)
            || words::OPENS_CORRECTION.contains(word)
            || words::CHANGES_SPACELESS.contains(word)
            || words::is_part(word)
            || words::is_number_word(word)
            || word.contains('\'')
        {
            break;
        }
        let range = at..at + word.len();
        let rest = &text[range.end..];
        // "40 Egyptian pounds" are no pounds.
        let other = named && currency(word).is_some();
        let unit = if other { from } else { at }..range.end;
        if words::is_counted(word) {
            return Tail::new(unit, range.end, false);
        }
        let ends = !rest
            .strip_prefix(' ')
            .is_some_and(|it| it.starts_with(|it: char| it.is_alphanumeric()));
        if ends {
            // One word, and the phrase is over: "1 apple", "3 sheep".
            let counted = !words::ADJECTIVE.contains(word) && (position == 0 || first.is_some());
            return Tail::new(if counted { unit } else { 0..0 }, range.end, false);
        }
        named |= !words::ADJECTIVE.contains(word);
        first = Some(range.clone());
        at = range.end + 1;
    }
    Tail::default()
}
