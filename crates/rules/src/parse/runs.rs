//! Runs of letters in line, raised and lowered.

use super::ParseError;
use super::letters::{self, Run};
use super::lexer::{Lexer, MOST_TOKENS};
use super::parser::Parsed;
use super::token::{Bracket, Kind, digit};
use super::{command, digits};
use crate::lexicon::units::currency;
use crate::lexicon::{is_digit, leading, numbers, words};

/// How long a word with letters beyond ASCII or an exponent in raised digits is at most, in bytes.
const LONGEST_RUN: usize = 4_000;
const TOO_LONG: ParseError = ParseError::TooLong { limit: MOST_TOKENS };

pub(super) fn letters(lexer: &mut Lexer<'_>) -> Parsed<()> {
    let start = lexer.pos();
    let mut end = start;
    while let Some(&byte) = lexer.bytes().get(end) {
        let next = lexer.bytes().get(end + 1);
        let inner = byte == b'\'' && end >= start + 2 && next.is_some_and(u8::is_ascii_lowercase);
        if !byte.is_ascii_alphabetic() && !inner {
            break;
        }
        end += 1;
        if end - start > MOST_TOKENS {
            return Err(TOO_LONG);
        }
    }
    // Letters beyond ASCII make it a word, whole.
    if let Some(next) = lexer.text().get(end..).and_then(|rest| rest.chars().next())
        && !next.is_ascii()
        && is_word_letter(next)
    {
        return foreign_word(lexer);
    }
    let run = lexer.text().get(start..end).unwrap_or("");
    let counted = matches!(lexer.last(), Some(Kind::Number(_)));
    let tight = lexer.is_tight() && counted;
    if counted && (run == "x" || tight && run == "X") {
        let following = lexer.text().get(end..).unwrap_or("").trim_start();
        if following.starts_with(|c: char| c.is_ascii_digit()) {
            lexer.seek(end);
            return lexer.push(Kind::Times, start);
        }
    }
    if let Some(code) = currency_prefix(lexer, run, end) {
        return lexer.push(Kind::Currency(code), start);
    }
    let rest = lexer.text().get(end..).unwrap_or("");
    let next = rest.chars().find(|c| *c != ' ');
    // Small words between spaces are no products.
    let apart = (!lexer.is_tight() || lexer.last().is_none())
        && (rest.is_empty() || rest.starts_with([' ', ',']));
    if apart && run.len() == 2 && words::SHORT_WORD.contains_exactly(run) {
        lexer.seek(end);
        return lexer.push(Kind::Word(run), start);
    }
    if lexer.in_arguments() {
        // `\frac ab`: each letter is an argument.
        lexer.seek(start + 1);
        return lexer.push_atom(Kind::Letter(lexer.bytes()[start] as char), start);
    }
    if run == "th" && matches!(lexer.last(), Some(Kind::Minus | Kind::Caret)) {
        lexer.seek(end);
        return lexer.push(Kind::Word(run), start);
    }
    match letters::read(run, tight, next) {
        Run::One(kind) => {
            lexer.seek(end);
            lexer.push(kind, start)?;
            lexer.next.grouping = matches!(kind, Kind::Structure(_) | Kind::Function(_));
            Ok(())
        }
        Run::Letters => {
            for (at, byte) in run.bytes().enumerate() {
                lexer.seek(start + at + 1);
                lexer.push(Kind::Letter(byte as char), start + at)?;
                if at == 0 {
                    lexer.note_run(run.len());
                }
            }
            Ok(())
        }
        Run::Parts(parts) => {
            let mut at = start;
            for (length, kind) in parts {
                lexer.seek(at + length);
                lexer.push(kind, at)?;
                at = lexer.pos();
            }
            Ok(())
        }
    }
}

/// `US$`, `Rs.`: letters that announce money.
pub(super) fn currency_prefix(lexer: &mut Lexer<'_>, run: &str, to: usize) -> Option<&'static str> {
    let rest = lexer.text().get(to..)?;
    let (code, length) = match run {
        "US" | "USD" if rest.starts_with('$') => ("USD", 1),
        "US" | "USD" if rest.starts_with("\\$") => ("USD", 2),
        "A" | "AU" if rest.starts_with("\\$") => ("AUD", 2),
        "Rs" => ("INR", usize::from(rest.starts_with('.'))),
        "USD" | "EUR" | "GBP" | "INR" | "RMB" | "CNY" | "JPY"
            if rest.trim_start().starts_with(is_digit) =>
        {
            (currency(run)?.0, 0)
        }
        _ => return None,
    };
    if length == 1 && rest.starts_with('$') {
        lexer.pass_dollar();
    }
    lexer.seek(to + length);
    Some(code)
}

/// A word in another script, or with accents.
pub(super) fn foreign_word(lexer: &mut Lexer<'_>) -> Parsed<()> {
    let start = lexer.pos();
    let near = &lexer.rest()[..lexer.rest().floor_char_boundary(LONGEST_RUN)];
    let length = near.find(|c: char| !is_word_letter(c) && c != '\'' && c != '’');
    let length = match length {
        None if near.len() < lexer.rest().len() => return Err(TOO_LONG),
        length => length.unwrap_or(near.len()),
    };
    lexer.skip(length.max(1));
    while !lexer.text().is_char_boundary(lexer.pos()) {
        lexer.skip(1);
    }
    let mut word = lexer.text().get(start..lexer.pos()).unwrap_or("");
    // What scales a number stands apart from what is counted: 万 of "5万元".
    if lexer.is_tight()
        && matches!(lexer.last(), Some(Kind::Number(_)))
        && let Some(scale) = numbers::leading_scale(word)
    {
        lexer.seek(start + scale.len());
        word = scale;
    }
    let kind = match word {
        "或" | "或者" => Kind::Or,
        "和" | "与" | "及" | "且" => Kind::And,
        _ => Kind::Word(word),
    };
    lexer.push(kind, start)
}

/// Raised or lowered characters: the sign of an exponent or a subscript, then a number or a group of what they are.
pub(super) fn shifted(
    lexer: &mut Lexer<'_>,
    sign: Kind<'static>,
    plain: fn(char) -> Option<Kind<'static>>,
) -> Parsed<()> {
    let start = lexer.pos();
    lexer.push(sign, start)?;
    let of = |rest: &str, wanted: fn(Kind<'static>) -> bool| -> usize {
        leading(rest, |c| plain(c).is_some_and(wanted))
    };
    let is_digit = |kind| matches!(kind, Kind::Number(_));
    let near = &lexer.rest()[..lexer.rest().floor_char_boundary(LONGEST_RUN)];
    let end = start + of(near, |_| true);
    if near.len() < lexer.rest().len() && end == start + near.len() {
        return Err(TOO_LONG);
    }
    let digits = of(near, is_digit);
    if start + digits == end {
        return digits::digits(lexer, start, end);
    }
    lexer.next.grouping = true;
    lexer.open(Kind::Open(Bracket::Group), Bracket::Group, start)?;
    while lexer.pos() < end {
        let at = lexer.pos();
        let digits = of(lexer.rest(), is_digit);
        if digits > 0 {
            digits::digits(lexer, at, at + digits)?;
            continue;
        }
        let next = lexer.rest().chars().next();
        let Some((character, kind)) = next.and_then(|c| Some((c, plain(c)?))) else {
            break;
        };
        lexer.skip(character.len_utf8());
        match kind {
            Kind::Open(bracket) => lexer.open(kind, bracket, at)?,
            Kind::Close(bracket) => lexer.close(bracket, at)?,
            kind => lexer.push(kind, at)?,
        }
    }
    lexer.close(Bracket::Group, end)
}

/// What one of `signs`, pairs of a character and what it is in line, stands for; one of `digits` is a number.
fn in_line(character: char, digits: &str, signs: &str) -> Option<Kind<'static>> {
    // Of most scripts no character is raised.
    if matches!(character, '\u{370}'..='\u{1d00}' | '\u{2e80}'..) {
        return None;
    }
    let mut pairs = signs.split(' ').filter_map(|it| it.strip_prefix(character));
    let sign = pairs.next().and_then(|it| it.chars().next());
    Some(match sign {
        Some('+') => Kind::Plus,
        Some('-') => Kind::Minus,
        Some('(') => Kind::Open(Bracket::Round),
        Some(')') => Kind::Close(Bracket::Round),
        Some(letter) => Kind::Letter(letter),
        None => return digits.contains(character).then_some(Kind::Number(0)),
    })
}

/// What a raised character is in line; digits as a number.
pub(super) fn raised(character: char) -> Option<Kind<'static>> {
    in_line(character, "⁰¹²³⁴⁵⁶⁷⁸⁹", "⁺+ ⁻- ⁽( ⁾) ⁿn ˣx ⁱi ᵏk ᵐm")
}

/// What a lowered character is in line; digits as a number.
pub(super) fn lowered(character: char) -> Option<Kind<'static>> {
    in_line(character, "₀₁₂₃₄₅₆₇₈₉", "₊+ ₋- ₙn ₖk ᵢi ⱼj ₘm ₓx")
}

/// A letter that makes words: neither Greek nor a sign of mathematics.
pub(crate) fn is_word_letter(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphabetic();
    }
    character.is_alphabetic()
        && command::character(character).is_none()
        && digit(character).is_none()
        && raised(character).is_none()
        && lowered(character).is_none()
        && !matches!(character, '\u{1d400}'..='\u{1d7ff}' | '\u{ff01}'..='\u{ff5e}' | 'ℎ' | 'ℯ' | 'ℓ')
}
