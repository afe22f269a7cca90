//! Numbers as operands: plain, mixed, in another base, spelled out.

use super::parser::{Lone, Parsed, Parser};
use super::token::{Bracket, Kind, Space, Structure};
use super::{number, spelled};
use crate::algebra::{Expr, Function, Rational};

/// `204_5`, `1A_{16}`: digits (and letters) with a base below.
pub(super) fn based(parser: &mut Parser<'_>) -> Parsed<Option<Expr>> {
    let start = parser.pos();
    let mut end = start + 1;
    while let Some(token) = parser.at(end)
        && token.space == Space::Tight
        && end - start < 64
        && matches!(token.kind, Kind::Number(_) | Kind::Letter('A'..='F'))
    {
        end += 1;
    }
    if parser.kind_at(end) != Some(Kind::Underscore) {
        return Ok(None);
    }
    let starts_with_digit = matches!(parser.peek(), Some(Kind::Number(_)));
    let letters = end > start + 1;
    if !letters && !starts_with_digit {
        return Ok(None);
    }
    let saved = parser.pos();
    parser.seek(end);
    let Some(base) = base(parser) else {
        parser.seek(saved);
        return if letters || !starts_with_digit {
            Ok(None)
        } else {
            Err(parser.error("a number with a subscript that is no base"))
        };
    };
    if letters && base <= 10 {
        parser.seek(saved);
        return Ok(None);
    }
    let after = parser.pos();
    let digits: String = parser
        .source(start, end)
        .chars()
        .filter_map(|c| match super::token::digit(c) {
            Some(digit) => char::from_digit(u32::from(digit), 10),
            None => (c.is_ascii_alphabetic() || c == '.').then_some(c),
        })
        .collect();
    parser.seek(saved);
    let Some(value) = number::in_base(&digits, base) else {
        return Err(parser.error("a digit that the base does not have"));
    };
    parser.seek(after);
    parser.note(Lone {
        start,
        end: after,
        places: None,
        base: Some(base),
    });
    Ok(Some(value))
}

/// The base in a subscript, which is passed.
pub(super) fn base(parser: &mut Parser<'_>) -> Option<u32> {
    if parser.peek() != Some(Kind::Underscore) {
        return None;
    }
    let mut at = parser.pos() + 1;
    let mut close = None;
    while let Some(Kind::Open(Bracket::Group | Bracket::Round)) = parser.kind_at(at) {
        close = close.or(Some(parser.mate(at)));
        at += 1;
    }
    if matches!(
        parser.at(at)?.kind,
        Kind::Word("base") | Kind::Text("base" | "base ")
    ) {
        at += 1;
    }
    let base = match parser.at(at)?.kind {
        Kind::Number(_) => u32::try_from(parser.small_at(at)?).ok()?,
        Kind::Word(word) | Kind::Text(word) | Kind::Name(word) => {
            u32::try_from(spelled::small_number(word)?).ok()?
        }
        Kind::Letter(_) => {
            let run = usize::from(parser.at(at)?.run);
            let word = parser.source(at, at + run);
            at += run.checked_sub(1)?;
            u32::try_from(spelled::small_number(word)?).ok()?
        }
        _ => return None,
    };
    at += 1;
    if let Some(close) = close {
        while at < close {
            if !matches!(parser.at(at)?.kind, Kind::Close(_)) {
                return None;
            }
            at += 1;
        }
        at = close + 1;
    }
    if !(2..=36).contains(&base) {
        return None;
    }
    parser.seek(at);
    Some(base)
}

/// Do letters begin a number in words: `two`, `a dozen`?
pub(super) fn begins_spelled_number(parser: &Parser<'_>) -> bool {
    let Some(token) = parser.at(parser.pos()) else {
        return false;
    };
    match token.run {
        1 => {
            token.kind == Kind::Letter('a')
                && matches!(parser.ahead(1), Some(Kind::Word(_)))
                && spelled_number(parser).is_some()
        }
        3 => spelled::small_number(parser.source(parser.pos(), parser.pos() + 3)).is_some(),
        _ => false,
    }
}

/// Numbers in words: `twenty-one`, `three quarters`.
pub(super) fn number_words(parser: &mut Parser<'_>) -> Parsed<Expr> {
    let Some((value, end)) = spelled_number(parser) else {
        return Err(parser.error("words where a value belongs"));
    };
    parser.seek(end);
    Ok(Expr::Number(value))
}

/// The number that the words at the current place spell, and where it ends.
pub(super) fn spelled_number(parser: &Parser<'_>) -> Option<(Rational, usize)> {
    let mut parts: Vec<&str> = Vec::new();
    let mut ends = Vec::new();
    let mut at = parser.pos();
    while let Some(token) = parser.at(at)
        && parts.len() < 24
    {
        match token.kind {
            Kind::Word(word) | Kind::Text(word) => {
                for part in word.split([' ', '-']).filter(|part| !part.is_empty()) {
                    parts.push(part);
                    ends.push(at + 1);
                }
                at += 1;
            }
            Kind::Letter(_) if token.run >= 2 => {
                let run = usize::from(token.run);
                parts.push(parser.source(at, at + run));
                at += run;
                ends.push(at);
            }
            Kind::Letter('a') if parts.is_empty() => {
                parts.push("a");
                at += 1;
                ends.push(at);
            }
            Kind::Minus if !parts.is_empty() && token.space == Space::Tight => at += 1,
            Kind::And if !parts.is_empty() => {
                parts.push("and");
                at += 1;
                ends.push(at);
            }
            _ => break,
        }
    }
    let (value, count) = spelled::number(&parts)?;
    let end = *ends.get(count.checked_sub(1)?)?;
    // A token of several words must be used up.
    if ends.get(count) == Some(&end) {
        return None;
    }
    Some((value, end))
}

/// `\frac{1}{3}` with plain numbers: both, and where it ends.
pub(super) fn fraction_of_numbers(parser: &Parser<'_>) -> Option<(Expr, Expr, usize)> {
    let mut at = parser.pos() + 1;
    let mut parts = [const { None }; 2];
    for part in &mut parts {
        let grouped = parser.at(at)?.kind == Kind::Open(Bracket::Group);
        at += usize::from(grouped);
        let numeral = parser.numeral_at(at)?;
        if numeral.point.is_some() {
            return None;
        }
        *part = Some(number::value(numeral)?.expr);
        at += 1;
        if grouped {
            if parser.at(at)?.kind != Kind::Close(Bracket::Group) {
                return None;
            }
            at += 1;
        }
    }
    let [Some(numerator), Some(denominator)] = parts else {
        return None;
    };
    Some((numerator, denominator, at))
}

/// The value of a number token, noted as the last one read.
pub(super) fn plain_number(parser: &mut Parser<'_>) -> Parsed<Expr> {
    let start = parser.pos();
    let Some(numeral) = parser.numeral_at(start).copied() else {
        return Err(parser.error("a number is missing"));
    };
    let Some(value) = number::value(&numeral) else {
        return Err(parser.error("a number out of reach"));
    };
    parser.skip(1);
    parser.note_approximate(value.approximate);
    parser.note(Lone {
        start,
        end: parser.pos(),
        places: value.places,
        base: (numeral.radix != 10).then_some(u32::from(numeral.radix)),
    });
    Ok(value.expr)
}

/// A number: plain, mixed, or in another base.
pub(super) fn number(parser: &mut Parser<'_>) -> Parsed<Expr> {
    let start = parser.pos();
    if let Some(value) = based(parser)? {
        return Ok(value);
    }
    if let Some(value) = choose_letters(parser) {
        return Ok(value);
    }
    let value = plain_number(parser)?;
    if parser.lone().is_some_and(|lone| lone.places.is_some()) {
        return Ok(value);
    }
    // Mixed numbers.
    match parser.peek() {
        Some(Kind::Vulgar(numerator, denominator)) => {
            let [above, below] = [numerator, denominator].map(|it| Expr::integer(i64::from(it)));
            if let Some(mixed) = number::mixed(&value, &above, &below) {
                parser.skip(1);
                return Ok(mixed);
            }
        }
        Some(Kind::Structure(Structure::Fraction)) => {
            if let Some((numerator, denominator, end)) = fraction_of_numbers(parser)
                && let Some(mixed) = number::mixed(&value, &numerator, &denominator)
            {
                parser.seek(end);
                parser.forget_lone();
                return Ok(mixed);
            }
        }
        Some(Kind::Number(_)) if parser.space() != Space::Tight => {
            if parser.ahead(1) == Some(Kind::Divide)
                && let Some(Kind::Number(_)) = parser.ahead(2)
            {
                let numerator = plain_number(parser)?;
                parser.skip(1);
                let denominator = plain_number(parser)?;
                parser.forget_lone();
                let Some(mixed) = number::mixed(&value, &numerator, &denominator) else {
                    parser.seek(start + 1);
                    return Err(parser.error("two numbers without a sign between them"));
                };
                return Ok(mixed);
            }
        }
        _ => {}
    }
    Ok(value)
}

/// `10C3`, `5P2`.
pub(super) fn choose_letters(parser: &mut Parser<'_>) -> Option<Expr> {
    let function = match parser.ahead(1)? {
        Kind::Letter('C') => Function::Binomial,
        Kind::Letter('P') => Function::Permutations,
        _ => return None,
    };
    let tight = [1, 2].map(|ahead| parser.is_tight_at(parser.pos() + ahead));
    if tight != [true; 2] || !matches!(parser.ahead(2), Some(Kind::Number(_))) {
        return None;
    }
    parser.attempt(|parser| {
        let above = plain_number(parser)?;
        parser.skip(1);
        let below = plain_number(parser)?;
        parser.forget_lone();
        Ok(Expr::Call(function, vec![above, below]))
    })
}
