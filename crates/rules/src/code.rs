//! Values as programs write them: a reference in quotes or in brackets is compared as the program would.

use crate::gsm8k::decimal::Decimal;
use crate::lexicon::words::ANNOUNCES_OUTPUT;
use crate::{extract, lexicon};
const MOST_DEEP: usize = 32;
/// How long a value is at most, in bytes.
const LONGEST: usize = 64_000;
/// How many bytes before the end of a response are searched for a value, and how many places in them.
const WINDOW: usize = 4_000;
const MOST_PLACES: usize = 64;

/// What texts and collections open with.
const OPENS: [char; 5] = ['\'', '"', '[', '(', '{'];

/// A value as Python or JSON writes it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Value {
    /// With the letter before its quotes: `b` for bytes.
    Text(bool, String),
    Number(Decimal),
    /// `True`, `False`, `None`.
    Name(&'static str),
    /// A list (`true`) or a tuple.
    Sequence(bool, Vec<Value>),
    /// Sorted, as pairs are: neither has an order.
    Set(Vec<Value>),
    Pairs(Vec<(Value, Value)>),
}

impl Value {
    /// Is this no mathematics: does it hold texts, names, or pairs?
    fn is_code(&self) -> bool {
        match self {
            Self::Text(..) | Self::Pairs(_) => true,
            Self::Number(..) | Self::Name(_) => false,
            Self::Sequence(_, parts) | Self::Set(parts) => parts
                .iter()
                .any(|part| part.is_code() || matches!(part, Self::Name(_))),
        }
    }
}

/// How a response compares with a reference that is a value of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Equal,
    Different,
    /// No value of this kind is stated.
    Open,
}

/// Compares `pred` with `gold` if that is a text in quotes, or a collection that holds one, or pairs; `None` for
/// mathematics. `statement`: what `pred` announces.
pub(crate) fn verdict(gold: &str, statement: &str, announced: bool, pred: &str) -> Option<Verdict> {
    let gold = Some(gold).filter(|it| it.contains(OPENS));
    let gold = whole(gold?).filter(Value::is_code)?;
    let last = last(pred);
    // What is announced decides, whatever else stands in quotes.
    if announced
        && let Value::Text(false, text) = &gold
        && stated(statement).is_none()
        && !text.trim().is_empty()
        && let said = extract::bare(statement)
        // The blanks of "'  x'" were taken off with its quotes.
        && (said == text || said != text.trim())
    {
        let within = said.contains(&**text) || text.contains(said);
        return Some(
            if said == text && !matches!(whole(text), Some(Value::Number(..))) {
                Verdict::Equal
            } else if within {
                Verdict::Open
            } else {
                Verdict::Different
            },
        );
    }
    let stated = match (stated(statement), last) {
        // The quotes were taken off with the markup.
        (_, Some((before, Value::Text(bytes, text)))) if text == extract::bare(statement) => {
            Some((before, Value::Text(bytes, text)))
        }
        (Some(stated), _) => Some(stated),
        (None, last) => last,
    };
    let stated = match stated {
        Some((before, value)) if !extract::qualifies(before) => value,
        _ => return Some(Verdict::Open),
    };
    Some(if gold == stated {
        Verdict::Equal
    } else if matches!(stated, Value::Number(..)) && holds(&gold, &stated) {
        // `['70']` may be the number 70, written out as text, `['1912', '15 April 1912']` a list of answers that are right.
        Verdict::Open
    } else {
        Verdict::Different
    })
}

/// Is a number what a text, or one of a list, holds and nothing else?
fn holds(value: &Value, number: &Value) -> bool {
    match value {
        Value::Text(false, text) => whole(text).as_ref() == Some(number),
        Value::Sequence(_, parts) => parts.iter().any(|it| holds(it, number)),
        _ => false,
    }
}

/// Does `pred` end in the value of `gold`, where neither is read as mathematics, as an empty collection? Or in a fence that holds nothing
/// but `gold`, after a line that says no more than that it is printed? A number is read as mathematics: in "see equation (24)" it is none.
pub(crate) fn restates(gold: &str, pred: &str) -> bool {
    let stated = last(pred).filter(|(before, _)| !extract::qualifies(before));
    match whole(gold) {
        Some(Value::Number(..)) => false,
        Some(gold) if stated.is_some_and(|(_, value)| gold == value) => true,
        _ => fenced(gold, pred) == Some(true) && extract::refusal(pred).is_none(),
    }
}

/// Does `pred` end in a fence that holds nothing but `gold`, after a line with a colon? Is that line such as "The program prints:"?
pub(crate) fn fenced(gold: &str, pred: &str) -> Option<bool> {
    let (before, block) = pred.trim_end().strip_suffix("```")?.rsplit_once("```")?;
    let line = before.trim_end().rsplit('\n').next()?.strip_suffix(':')?;
    let (language, held) = block.split_once('\n')?;
    let alone = language.bytes().all(|it| it.is_ascii_alphanumeric()) && held.trim() == gold.trim();
    alone.then(|| ANNOUNCES_OUTPUT.contains(extract::bare(line)))
}

/// May two collections of numbers be equal? Not with more elements in one list than in the other, nor a list and its one element.
pub(crate) fn may_be_equal(gold: &str, pred: &str) -> bool {
    fn alike(gold: &Value, pred: &Value) -> bool {
        match (gold, pred) {
            (Value::Sequence(list, a), Value::Sequence(other, b)) if list == other => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b))
            }
            (Value::Sequence(..), Value::Number(..)) => false,
            _ => true,
        }
    }
    let several = gold.contains(',') || gold.contains(OPENS);
    !several
        || whole(gold)
            .zip(whole(pred))
            .is_none_or(|(gold, pred)| alike(&gold, &pred))
}

/// The text as one value, in whatever markup.
fn whole(text: &str) -> Option<Value> {
    if text.len() > LONGEST {
        return None;
    }
    let text = dressed(text);
    let (value, rest) = read(text)?;
    rest.trim().is_empty().then_some(value)
}

/// What a statement begins with or ends in, and what stands before it.
fn stated(statement: &str) -> Option<(&str, Value)> {
    whole(statement)
        .map(|value| ("", value))
        .or_else(|| ending(statement))
}

/// The value that ends the last line of a response that holds one.
fn last(text: &str) -> Option<(&str, Value)> {
    let text = lexicon::ending(text, WINDOW);
    if let Some(block) = text.trim_end().strip_suffix("```")
        && let Some(at) = block.rfind("```")
        && let Some(value) = whole(&text[at..])
    {
        return Some(("", value));
    }
    text.rsplit('\n')
        .filter(|line| line.contains(|it: char| it.is_alphanumeric() || "'\"[({".contains(it)))
        .find_map(ending)
}

fn ending(line: &str) -> Option<(&str, Value)> {
    let line = line.trim_end();
    if line.len() > WINDOW {
        return None;
    }
    let begins = |at: usize| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|it| it.is_whitespace() || "`:=*{>]".contains(it))
    };
    let places = line
        .char_indices()
        .filter(|&(at, it)| "'\"[({bBTFN-".contains(it) && begins(at));
    places.take(MOST_PLACES).find_map(|(at, _)| {
        let (value, rest) = read(&line[at..])?;
        let closes = rest.trim_matches(|it: char| it.is_whitespace() || "`*.!$}".contains(it));
        let ends = closes.is_empty() || closes.starts_with("</") || closes.starts_with("[/");
        ends.then_some((&line[..at], value))
    })
}

/// What may stand around a value and is no part of it.
#[rustfmt::skip]
const DRESS: [(&str, &str); 6] = [("**", "**"), ("`", "`"), ("$", "$"), ("\\boxed{", "}"), ("\\text{", "}"), ("\\texttt{", "}")];

/// The text without emphasis, code marks, boxes and a full stop around it; its quotes stay.
fn dressed(text: &str) -> &str {
    let mut text = text.trim();
    for _ in 0..6 {
        let before = text.len();
        if let Some(block) = text.strip_prefix("```") {
            let line = block.find('\n').unwrap_or(0);
            let named = block[..line]
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric());
            text = if named { &block[line..] } else { block };
            text = text.trim_end().strip_suffix("```").unwrap_or(text);
        }
        for (open, close) in DRESS {
            if let Some(inner) = text
                .strip_prefix(open)
                .and_then(|rest| rest.strip_suffix(close))
            {
                text = inner;
            }
        }
        text = text.trim();
        text = text.strip_suffix('.').unwrap_or(text).trim_end();
        if text.len() == before {
            break;
        }
    }
    text
}

/// The value that a text begins with, and what follows it.
fn read(text: &str) -> Option<(Value, &str)> {
    value(text, MOST_DEEP)
}

fn value(text: &str, deep: usize) -> Option<(Value, &str)> {
    let deep = deep.checked_sub(1)?;
    let text = text.trim_start();
    let first = text.chars().next()?;
    match first {
        '\'' | '"' => quoted(text, false),
        'b' | 'B' => quoted(&text[1..], true),
        '[' | '(' | '{' => collection(text, first, deep),
        'T' | 'F' | 'N' | 't' | 'f' | 'n' => name(text),
        _ => number(text),
    }
}

fn quoted(text: &str, bytes: bool) -> Option<(Value, &str)> {
    let quote = text.chars().next().filter(|it| matches!(it, '\'' | '"'))?;
    let mut out = String::new();
    let mut characters = text[1..].char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => match characters.next()?.1 {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                other @ ('\\' | '\'' | '"') => out.push(other),
                other => out.extend(['\\', other]),
            },
            it if it == quote => {
                let rest = &text[at + 2..];
                // "'s", "'ll": an apostrophe.
                let closes = !rest.starts_with(|it: char| it.is_alphanumeric() || it == quote);
                return closes.then_some((Value::Text(bytes, out), rest));
            }
            it => out.push(it),
        }
    }
    None
}

fn name(text: &str) -> Option<(Value, &str)> {
    let names = ["True", "False", "None", "true", "false", "null"];
    let at = names.iter().position(|it| text.starts_with(it))?;
    let (spelling, name) = (names[at], names[at % 3]);
    let rest = &text[spelling.len()..];
    let ends = !rest.starts_with(|it: char| it.is_alphanumeric() || it == '_');
    ends.then_some((Value::Name(name), rest))
}
fn number(text: &str) -> Option<(Value, &str)> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let count = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut end = count(unsigned);
    if unsigned[end..].starts_with('.') {
        end += 1 + count(&unsigned[end + 1..]);
    }
    let (digits, mut rest) = unsigned.split_at(end);
    let mut power = 0;
    if let Some(following) = rest.strip_prefix(['e', 'E']) {
        let sign = usize::from(following.starts_with(['-', '+']));
        let length = sign + count(&following[sign..]);
        power = following[..length].parse().ok()?;
        rest = &following[length..];
    }
    if rest.starts_with(|it: char| it.is_alphanumeric() || it == '_') {
        return None;
    }
    let value = Decimal::new(unsigned.len() < text.len(), digits, power)?;
    Some((Value::Number(value), rest))
}

/// What brackets hold.
fn collection(text: &str, open: char, deep: usize) -> Option<(Value, &str)> {
    let close = match open {
        '[' => ']',
        '(' => ')',
        _ => '}',
    };
    let mut rest = text[1..].trim_start();
    let (mut parts, mut keys) = (Vec::new(), Vec::new());
    let mut comma = false;
    loop {
        if let Some(following) = rest.strip_prefix(close) {
            rest = following;
            break;
        }
        if !parts.is_empty() && !comma {
            return None;
        }
        let (part, following) = value(rest, deep)?;
        rest = following.trim_start();
        if open == '{'
            && let Some(following) = rest.strip_prefix(':')
        {
            let (of, following) = value(following, deep)?;
            keys.push(part);
            parts.push(of);
            rest = following.trim_start();
        } else {
            parts.push(part);
        }
        let following = rest.strip_prefix(',');
        comma = following.is_some();
        rest = following.unwrap_or(rest).trim_start();
    }
    let value = match open {
        '[' => Value::Sequence(true, parts),
        '(' if parts.len() == 1 && !comma => parts.pop()?,
        '(' => Value::Sequence(false, parts),
        _ if keys.is_empty() => {
            parts.sort_unstable();
            parts.dedup();
            Value::Set(parts)
        }
        _ if keys.len() == parts.len() => {
            let mut pairs: Vec<_> = keys.into_iter().zip(parts).collect();
            pairs.sort_unstable();
            Value::Pairs(pairs)
        }
        _ => return None,
    };
    Some((value, rest))
}
