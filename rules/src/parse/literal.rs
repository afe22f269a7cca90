//! Numbers as operands: plain, mixed, in another base, spelled out.

use super::number;
use super::parser::{Lone, Parsed, Parser};
use super::spelled;
use super::token::{Bracket, Kind, Space, Structure};
use crate::algebra::{Expr, Function, Rational};

impl Parser<'_> {
    /// `204_5`, `1A_{16}`: digits (and letters) with a base below.
    pub(super) fn based(&mut self) -> Parsed<Option<Expr>> {
        let start = self.pos();
        let mut end = start + 1;
        while let Some(token) = self.at(end)
            && token.space == Space::Tight
            && end - start < 64
            && matches!(token.kind, Kind::Number(_) | Kind::Letter('A'..='F'))
        {
            end += 1;
        }
        if self.kind_at(end) != Some(Kind::Underscore) {
            return Ok(None);
        }
        let starts_with_digit = matches!(self.peek(), Some(Kind::Number(_)));
        let letters = end > start + 1;
        if !letters && !starts_with_digit {
            return Ok(None);
        }
        let saved = self.pos();
        self.seek(end);
        let Some(base) = self.base() else {
            self.seek(saved);
            return if letters || !starts_with_digit {
                Ok(None)
            } else {
                Err(self.error("a number with a subscript that is no base"))
            };
        };
        if letters && base <= 10 {
            self.seek(saved);
            return Ok(None);
        }
        let behind = self.pos();
        let digits: String = self
            .source(start, end)
            .chars()
            .filter_map(|c| match super::token::digit(c) {
                Some(digit) => char::from_digit(u32::from(digit), 10),
                None => (c.is_ascii_alphabetic() || c == '.').then_some(c),
            })
            .collect();
        self.seek(saved);
        let Some(value) = number::in_base(&digits, base) else {
            return Err(self.error("a digit that the base does not have"));
        };
        self.seek(behind);
        self.note(Lone {
            start,
            end: behind,
            places: None,
            base: Some(base),
        });
        Ok(Some(value))
    }

    /// The base in a subscript, which is passed.
    pub(super) fn base(&mut self) -> Option<u32> {
        if self.peek() != Some(Kind::Underscore) {
            return None;
        }
        let mut at = self.pos() + 1;
        let mut close = None;
        while let Some(Kind::Open(Bracket::Group | Bracket::Round)) = self.kind_at(at) {
            close = close.or(Some(self.mate(at)));
            at += 1;
        }
        let base = match self.at(at)?.kind {
            Kind::Number(_) => u32::try_from(self.small_at(at)?).ok()?,
            Kind::Word(word) | Kind::Text(word) | Kind::Name(word) => {
                u32::try_from(spelled::small_number(word)?).ok()?
            }
            Kind::Letter(_) => {
                let run = usize::from(self.at(at)?.run);
                let word = self.source(at, at + run);
                at += run.checked_sub(1)?;
                u32::try_from(spelled::small_number(word)?).ok()?
            }
            _ => return None,
        };
        at += 1;
        if let Some(close) = close {
            while at < close {
                if !matches!(self.at(at)?.kind, Kind::Close(_)) {
                    return None;
                }
                at += 1;
            }
            at = close + 1;
        }
        if !(2..=36).contains(&base) {
            return None;
        }
        self.seek(at);
        Some(base)
    }

    /// Do letters begin a number in words: `two`, `a dozen`?
    pub(super) fn begins_spelled_number(&self) -> bool {
        let Some(token) = self.at(self.pos()) else {
            return false;
        };
        match token.run {
            1 => {
                token.kind == Kind::Letter('a')
                    && matches!(self.ahead(1), Some(Kind::Word(_)))
                    && self.spelled_number().is_some()
            }
            3 => spelled::small_number(self.source(self.pos(), self.pos() + 3)).is_some(),
            _ => false,
        }
    }

    /// Numbers in words: `twenty-one`, `three quarters`.
    pub(super) fn number_words(&mut self) -> Parsed<Expr> {
        let Some((value, end)) = self.spelled_number() else {
            return Err(self.error("words where a value belongs"));
        };
        self.seek(end);
        Ok(Expr::Number(value))
    }

    /// The number that the words at the current place spell, and where it ends.
    pub(super) fn spelled_number(&self) -> Option<(Rational, usize)> {
        let mut parts: Vec<&str> = Vec::new();
        let mut ends = Vec::new();
        let mut at = self.pos();
        while let Some(token) = self.at(at)
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
                    parts.push(self.source(at, at + run));
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
    pub(super) fn fraction_of_numbers(&self) -> Option<(Expr, Expr, usize)> {
        let mut at = self.pos() + 1;
        let mut parts = [const { None }; 2];
        for part in &mut parts {
            let grouped = self.at(at)?.kind == Kind::Open(Bracket::Group);
            at += usize::from(grouped);
            let numeral = self.numeral_at(at)?;
            if numeral.point.is_some() {
                return None;
            }
            *part = Some(number::value(numeral)?.expr);
            at += 1;
            if grouped {
                if self.at(at)?.kind != Kind::Close(Bracket::Group) {
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
    pub(super) fn plain_number(&mut self) -> Parsed<Expr> {
        let start = self.pos();
        let Some(numeral) = self.numeral_at(start).copied() else {
            return Err(self.error("a number is missing"));
        };
        let Some(value) = number::value(&numeral) else {
            return Err(self.error("a number out of reach"));
        };
        self.skip(1);
        self.note_approximate(value.approximate);
        self.note(Lone {
            start,
            end: self.pos(),
            places: value.places,
            base: (numeral.radix != 10).then_some(u32::from(numeral.radix)),
        });
        Ok(value.expr)
    }

    /// A number: plain, mixed, or in another base.
    pub(super) fn number(&mut self) -> Parsed<Expr> {
        let start = self.pos();
        if let Some(value) = self.based()? {
            return Ok(value);
        }
        if let Some(value) = self.choose_letters() {
            return Ok(value);
        }
        let value = self.plain_number()?;
        if self.lone().is_some_and(|lone| lone.places.is_some()) {
            return Ok(value);
        }
        // Mixed numbers.
        match self.peek() {
            Some(Kind::Vulgar(numerator, denominator)) => {
                if let Some(mixed) = number::mixed(
                    &value,
                    &Expr::integer(i64::from(numerator)),
                    &Expr::integer(i64::from(denominator)),
                ) {
                    self.skip(1);
                    return Ok(mixed);
                }
            }
            Some(Kind::Structure(Structure::Fraction)) => {
                if let Some((numerator, denominator, end)) = self.fraction_of_numbers()
                    && let Some(mixed) = number::mixed(&value, &numerator, &denominator)
                {
                    self.seek(end);
                    self.forget_lone();
                    return Ok(mixed);
                }
            }
            Some(Kind::Number(_)) if self.space() != Space::Tight => {
                if self.ahead(1) == Some(Kind::Divide)
                    && let Some(Kind::Number(_)) = self.ahead(2)
                {
                    let numerator = self.plain_number()?;
                    self.skip(1);
                    let denominator = self.plain_number()?;
                    self.forget_lone();
                    let Some(mixed) = number::mixed(&value, &numerator, &denominator) else {
                        self.seek(start + 1);
                        return Err(self.error("two numbers without a sign between them"));
                    };
                    return Ok(mixed);
                }
            }
            _ => {}
        }
        Ok(value)
    }

    /// `10C3`, `5P2`.
    pub(super) fn choose_letters(&mut self) -> Option<Expr> {
        let function = match self.ahead(1)? {
            Kind::Letter('C') => Function::Binomial,
            Kind::Letter('P') => Function::Permutations,
            _ => return None,
        };
        let tight = |index: usize| {
            self.at(index)
                .is_some_and(|token| token.space == Space::Tight)
        };
        let Some(Kind::Number(_)) = self.ahead(2) else {
            return None;
        };
        if !(tight(self.pos() + 1) && tight(self.pos() + 2)) {
            return None;
        }
        self.attempt(|parser| {
            let above = parser.plain_number()?;
            parser.skip(1);
            let below = parser.plain_number()?;
            parser.forget_lone();
            Ok(Expr::Call(function, vec![above, below]))
        })
    }
}
