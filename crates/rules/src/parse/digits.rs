//! Written numbers: how far one reaches, and which of its signs group digits.

use super::lexer::{Lexer, syntax};
use super::markup;
use super::parser::Parsed;
use super::token::{Kind, Numeral, digit};
use crate::lexicon::{is_digit, leading};

/// What stands between groups of digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Separator {
    /// `,`: may also separate numbers.
    Comma,
    /// `{,}`, `,\!`: groups for certain.
    Firm,
    /// `'`.
    Apostrophe,
    /// White space of any kind.
    Space,
}

/// A number from the current place on.
pub(super) fn number(lexer: &mut Lexer<'_>) -> Parsed<()> {
    let start = lexer.pos();
    if lexer.in_arguments() {
        // `\frac12`: each digit is an argument.
        let length = digits_at(lexer, start, 1);
        if length > 0 {
            lexer.pass_argument();
            return digits(lexer, start, start + length);
        }
    }
    if lexer.bytes()[start] == b'0' && prefixed(lexer)? {
        return Ok(());
    }
    let mut end = start + digits_at(lexer, start, usize::MAX);
    let mut point = None;
    if end - start <= 12 && end > start {
        end = grouped(lexer, start, end);
        point = european(lexer, start, end).map(|(at, following)| {
            end = following;
            at
        });
    }
    if point.is_none() {
        let (at, following) = fraction(lexer, end);
        if at.is_some() || following > end {
            point = at;
            end = following;
        }
    }
    lexer.seek(end);
    let exponent = exponent(lexer);
    let offset = point.map(|at| (at - start) as u32);
    let repeat = if exponent.is_none() && point.is_some() {
        repeated_digits(lexer)
    } else {
        None
    };
    if repeat.is_none() && point.is_some() && is_barred(lexer.rest()) {
        return Err(syntax(lexer.pos(), "digits under a bar that are no period"));
    }
    let dots = exponent.is_none() && repeat.is_none() && point.is_some() && dots(lexer);
    let numeral = Numeral {
        point: offset,
        exponent: exponent.unwrap_or(0),
        repeat: repeat.unwrap_or(""),
        dots,
        ..Numeral::digits(lexer.text().get(start..end).unwrap_or(""))
    };
    lexer.push_number(numeral, start)
}

/// Adds a number of nothing but digits, in the bytes from `start` to `end`.
pub(super) fn digits(lexer: &mut Lexer<'_>, start: usize, end: usize) -> Parsed<()> {
    lexer.seek(end);
    lexer.push_number(
        Numeral::digits(lexer.text().get(start..end).unwrap_or("")),
        start,
    )
}

/// How many bytes of digits (at most `most` of them) stand at `at`.
fn digits_at(lexer: &Lexer<'_>, at: usize, most: usize) -> usize {
    let mut end = at;
    let mut count = 0;
    while count < most {
        match lexer.bytes().get(end) {
            Some(b'0'..=b'9') => end += 1,
            Some(128..) => {
                // Raised and lowered digits are no part of a number in line.
                let next = lexer.text().get(end..).and_then(|rest| rest.chars().next());
                match next {
                    Some(c)
                        if digit(c).is_some()
                            && !matches!(c, '⁰'..='⁹' | '₀'..='₉' | '¹' | '²' | '³') =>
                    {
                        end += c.len_utf8();
                    }
                    _ => break,
                }
            }
            _ => break,
        }
        count += 1;
    }
    end - at
}

/// What separates groups of digits at `at`, and its length.
fn separator(lexer: &Lexer<'_>, at: usize) -> Option<(Separator, usize)> {
    let rest = lexer.bytes().get(at..)?;
    Some(match rest {
        [b',', b'\\', b'!', ..] => {
            let spaces = rest[3..].iter().take(4).take_while(|b| **b == b' ').count();
            (Separator::Firm, 3 + spaces)
        }
        [b'{', b',', b'}', ..] => (Separator::Firm, 3),
        [b',', ..] => (Separator::Comma, 1),
        [b'\'', ..] => (Separator::Apostrophe, 1),
        [b'\\', b',' | b' ' | b';' | b':', ..] | [0xc2, 0xa0, ..] => (Separator::Space, 2),
        [b'~' | b' ', ..] => (Separator::Space, 1),
        [0xe2, 0x80, 0x80..=0x8a | 0xaf, ..] => (Separator::Space, 3),
        [0xe2, 0x80, 0x99, ..] => (Separator::Apostrophe, 3),
        [0xef, 0xbc, 0x8c, ..] => (Separator::Comma, 3),
        _ => return None,
    })
}

/// The end of digits in groups of three, of which the first ends at `end`; `end` where they are not.
fn grouped(lexer: &mut Lexer<'_>, start: usize, end: usize) -> usize {
    let digits = lexer.text().get(start..end);
    let first = digits.map_or(0, |it| it.chars().count());
    if first > 3 {
        return end;
    }
    if let Some(end) = in_lakhs(lexer, start, end) {
        return end;
    }
    let mut reached = end;
    let mut kind = None;
    while let Some((separator, length)) = separator(lexer, reached) {
        if kind.is_some_and(|kind| kind != separator) {
            break;
        }
        let weak = separator == Separator::Comma;
        if weak
            && (start < lexer.next.ungrouped
                || (lexer.in_list() && !is_spaced_list(lexer, reached)))
        {
            break;
        }
        if separator != Separator::Firm && lexer.bytes()[start] == b'0' {
            break;
        }
        let from = reached + length;
        let digits = digits_at(lexer, from, 4);
        let group = lexer.text().get(from..from + digits);
        let count = group.map_or(0, |it| it.chars().count());
        if count == 0 {
            break;
        }
        if count != 3 {
            if weak || separator == Separator::Space {
                // One group that is none: no comma here groups anything.
                if weak {
                    let rest = lexer.text().get(from + digits..).unwrap_or("");
                    let run = leading(rest, |it| it.is_ascii_digit() || it == ',');
                    lexer.next.ungrouped = from + digits + run;
                }
                let sure = kind.is_some() && !weak;
                return if sure { reached } else { end };
            }
            break;
        }
        kind = Some(separator);
        reached = from + digits;
    }
    reached
}

/// The end of `1,23,456`, as rupees are grouped; a group that begins with a zero, as in `1,05,000`, is no entry of a list.
fn in_lakhs(lexer: &Lexer<'_>, start: usize, end: usize) -> Option<usize> {
    let bytes = lexer.bytes();
    let mut at = end;
    let mut zero = false;
    while bytes.get(at) == Some(&b',') && digits_at(lexer, at + 1, 4) == 2 {
        zero |= bytes.get(at + 1) == Some(&b'0');
        at += 3;
    }
    let ends = bytes.get(at) == Some(&b',')
        && digits_at(lexer, at + 1, 4) == 3
        && bytes.get(at + 4) != Some(&b',');
    let money = lexer.last() == Some(Kind::Currency("INR"));
    let grouped = at > end && ends && end - start <= 2 && bytes.get(start) != Some(&b'0');
    (grouped && (money || zero && !lexer.in_list())).then_some(at + 4)
}

/// Do entries around this place have spaces after their commas, so that a tight comma groups digits?
fn is_spaced_list(lexer: &Lexer<'_>, end: usize) -> bool {
    let mut at = end;
    while lexer.bytes().get(at) == Some(&b',') && digits_at(lexer, at + 1, 4) == 3 {
        at += 4;
    }
    let comma = lexer.bytes().get(at) == Some(&b',') && lexer.bytes().get(at + 1) == Some(&b' ');
    let closes = matches!(
        lexer.bytes().get(at),
        Some(b')' | b']' | b'}' | b'\\' | b',')
    );
    let before = lexer.last() == Some(Kind::Comma) && !lexer.is_tight();
    at > end && (comma || (before && closes))
}

/// `1.234,56` and `1.234.567`: where the decimal comma is (if there is one) and where the number ends.
fn european(lexer: &Lexer<'_>, start: usize, end: usize) -> Option<(usize, usize)> {
    let first = end - start;
    if !(1..=3).contains(&first)
        || lexer.bytes().get(end) != Some(&b'.')
        || lexer.bytes()[start] == b'0'
    {
        return None;
    }
    let mut reached = end;
    let mut groups = 0;
    while lexer.bytes().get(reached) == Some(&b'.') && digits_at(lexer, reached + 1, 4) == 3 {
        reached += 4;
        groups += 1;
    }
    if groups == 0 {
        return None;
    }
    let comma = lexer.bytes().get(reached) == Some(&b',') && !lexer.in_list();
    let digits = if comma {
        digits_at(lexer, reached + 1, 9)
    } else {
        0
    };
    let end = reached + 1 + digits;
    if (digits == 1 || digits == 2 || (digits > 3 && groups > 1))
        && lexer.bytes().get(end) != Some(&b',')
    {
        return Some((reached, end));
    }
    // Two points can only group; the "decimal separator" is then after everything.
    (groups >= 2 && !comma && lexer.bytes().get(reached) != Some(&b'.'))
        .then_some((reached, reached))
}

/// The decimal separator after `end`, and where the digits after it end.
fn fraction(lexer: &Lexer<'_>, end: usize) -> (Option<usize>, usize) {
    let rest = lexer.bytes().get(end..).unwrap_or(&[]);
    let mark = match rest {
        [b'.', ..] => 1,
        [b'{', b',' | b'.', b'}', ..] | [0xef, 0xbc, 0x8e, ..] => 3,
        [0xd9, 0xab, ..] => 2,
        _ => return (None, end),
    };
    let from = end + mark;
    let mut reached = from + digits_at(lexer, from, usize::MAX);
    if reached == from {
        // `5.` is five at the end of a sentence, unless dots or a period in brackets follow.
        let following = lexer.text().get(from..).unwrap_or("");
        let goes_on = ["(", "\\overline", "\\bar", "\\dot{"]
            .iter()
            .any(|s| following.starts_with(s));
        return if mark == 1 && goes_on {
            (Some(end), from)
        } else {
            (None, end)
        };
    }
    // Decimals in groups: `3.141\,592`.
    while reached - from >= 3 {
        let Some((Separator::Space, length)) = separator(lexer, reached) else {
            break;
        };
        let wide = lexer.bytes().get(reached) == Some(&b' ');
        if wide
            || digits_at(lexer, reached + length, 4) == 0
            || digits_at(lexer, reached + length, 4) > 3
        {
            break;
        }
        reached += length + digits_at(lexer, reached + length, 3);
    }
    (Some(end), reached)
}

/// `e-5`: the exponent after a number.
fn exponent(lexer: &mut Lexer<'_>) -> Option<i64> {
    if !matches!(lexer.byte(0), Some(b'e' | b'E')) {
        return None;
    }
    let (negative, sign) = match lexer.byte(1) {
        Some(b'+') => (false, 1),
        Some(b'-') => (true, 1),
        Some(0xe2)
            if lexer
                .rest()
                .get(1..)
                .is_some_and(|rest| rest.starts_with('−')) =>
        {
            (true, 3)
        }
        _ => (false, 0),
    };
    let from = lexer.pos() + 1 + sign;
    let length = leading(lexer.text().get(from..).unwrap_or(""), is_digit);
    let end = from + length;
    if length == 0 || lexer.bytes().get(end).is_some_and(u8::is_ascii_alphabetic) {
        return None;
    }
    // `\frac{2e-1}{e}`: where e stands by itself too it is the constant.
    if sign > 0 && length == 1 && has_lone_e(lexer.text()) {
        return None;
    }
    let text = lexer.text().get(from..end)?;
    let exponent = text.parse::<i64>().unwrap_or(i64::MAX);
    lexer.seek(end);
    Some(if negative { -exponent } else { exponent })
}

/// Does the letter e stand by itself: no part of a word, no exponent of a number?
fn has_lone_e(text: &str) -> bool {
    let near = &text.as_bytes()[..text.len().min(400)];
    let apart = |at: Option<usize>| {
        at.and_then(|at| near.get(at))
            .is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'\\')
    };
    (0..near.len()).any(|at| near[at] == b'e' && apart(at.checked_sub(1)) && apart(Some(at + 1)))
}

/// Does a text begin with digits under a bar? A factor would be a letter.
fn is_barred(text: &str) -> bool {
    let under = ["\\overline", "\\bar"]
        .iter()
        .find_map(|name| text.strip_prefix(name));
    let first = under.and_then(|it| it.trim_start_matches([' ', '{']).chars().next());
    first.is_some_and(|it| it.is_ascii_digit())
}

/// `\overline{3}`, `(3)`, `\dot{3}` after a decimal: the text that holds the digits of the period.
fn repeated_digits<'t>(lexer: &mut Lexer<'t>) -> Option<&'t str> {
    let rest = lexer.rest();
    let are_digits = |it: &str| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(inner) = rest.strip_prefix('(') {
        let near = &inner[..inner.floor_char_boundary(302)];
        let digits = near.split_once(')')?.0;
        let following = inner[digits.len() + 1..].trim_start();
        let goes_on = following
            .starts_with(|c: char| c.is_alphanumeric() || matches!(c, '(' | '^' | '_' | '!'));
        if !are_digits(digits) || goes_on {
            return None;
        }
        lexer.skip(digits.len() + 2);
        return Some(digits);
    }
    let over = ["\\overline", "\\bar"];
    if let Some(name) = over.iter().find(|name| rest.starts_with(**name)) {
        let start = lexer.pos();
        lexer.skip(name.len());
        let after = lexer.rest().trim_start();
        let one = after.starts_with(|c: char| c.is_ascii_digit());
        let found = match markup::group(lexer) {
            Some((inner, end)) => Some((inner.trim(), end)),
            None => one.then(|| (&after[..1], start + rest.len() - after.len() + 1)),
        };
        let found = found.filter(|(digits, _)| are_digits(digits));
        lexer.seek(found.map_or(start, |(_, end)| end));
        repeat_dots(lexer);
        return found.map(|(digits, _)| digits);
    }
    if rest.starts_with("\\dot") {
        // From the first dotted digit to the last.
        let from = lexer.pos();
        let mut at = lexer.pos();
        let mut end = None;
        for _ in 0..2 {
            let here = lexer.text().get(at..)?;
            let Some(after) = here.strip_prefix("\\dot") else {
                break;
            };
            let taken = match after.as_bytes() {
                [b'{', b'0'..=b'9', b'}', ..] => 3,
                [b' ', b'0'..=b'9', ..] => 2,
                [b'0'..=b'9', ..] => 1,
                _ => break,
            };
            at += 4 + taken;
            end = Some(at);
            at += digits_at(lexer, at, 40);
        }
        lexer.seek(end?);
        return lexer.text().get(from..end?);
    }
    None
}

/// Passes over dots that only repeat what a bar says.
fn repeat_dots(lexer: &mut Lexer<'_>) {
    for dots in ["\\ldots", "\\dots", "\\cdots", "...", "…"] {
        if lexer.rest().starts_with(dots) {
            lexer.skip(dots.len());
            return;
        }
    }
}

/// Passes over dots right after a decimal.
fn dots(lexer: &mut Lexer<'_>) -> bool {
    let before = lexer.pos();
    let skipped = lexer.rest().len() - lexer.rest().trim_start().len();
    let rest = lexer.rest().trim_start();
    if skipped == 0 || rest.starts_with('\\') {
        lexer.skip(skipped);
        repeat_dots(lexer);
        if lexer.pos() > before + skipped {
            return true;
        }
    }
    lexer.seek(before);
    false
}

/// `0x1F`, `0b101`, `0o17`.
fn prefixed(lexer: &mut Lexer<'_>) -> Parsed<bool> {
    let start = lexer.pos();
    let radix = match lexer.byte(1) {
        Some(b'x' | b'X') => 16,
        Some(b'b') => 2,
        Some(b'o') => 8,
        _ => return Ok(false),
    };
    let digits = lexer.text().get(start + 2..).unwrap_or("");
    let length = leading(digits, |it| it.is_digit(radix));
    if length == 0 || digits[length..].starts_with(|it: char| it.is_ascii_alphanumeric()) {
        return Ok(false);
    }
    lexer.seek(start + 2 + length);
    let numeral = Numeral {
        radix: radix as u8,
        ..Numeral::digits(lexer.text().get(start + 2..lexer.pos()).unwrap_or(""))
    };
    lexer.push_number(numeral, start)?;
    Ok(true)
}
