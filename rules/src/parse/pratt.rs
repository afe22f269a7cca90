//! Sums, products and powers, by how tightly signs bind.

use super::parser::{Parsed, Parser, inverse, negate, product};
use super::token::{Bracket, Kind, Named, Side, Space, Structure, inside};
use crate::algebra::{Constant, Expr, Function, Rational};

/// How many signs of a kind may follow each other.
const MOST_SIGNS: usize = 64;

impl Parser<'_> {
    /// A sum, with `\over`, `\choose` and `mod`, which bind less than +.
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        let mut left = self.sum()?;
        let mut rounds = 0;
        loop {
            rounds += 1;
            if rounds > MOST_SIGNS {
                return Err(self.error("too many operators in a row"));
            }
            match self.peek() {
                Some(Kind::Structure(Structure::Over)) => {
                    self.skip(1);
                    let below = self.sum()?;
                    left = left.divided_by(below);
                }
                Some(Kind::Structure(Structure::Choose)) => {
                    self.skip(1);
                    let below = self.sum()?;
                    left = Expr::Call(Function::Binomial, vec![left, below]);
                }
                Some(Kind::Modulo) => {
                    self.skip(1);
                    let modulus = self.sum()?;
                    left = Expr::Call(Function::Modulo, vec![left, modulus]);
                }
                _ => return Ok(left),
            }
        }
    }

    /// Signs before a term: is it negative?
    fn signs(&mut self) -> Parsed<Option<bool>> {
        let mut negative = None;
        for _ in 0..MOST_SIGNS {
            let flips = match self.peek() {
                Some(Kind::Plus) => false,
                Some(Kind::Minus) => true,
                Some(Kind::PlusMinus) => self.note_both_signs(),
                Some(Kind::MinusPlus) => !self.note_both_signs(),
                _ => return Ok(negative),
            };
            self.skip(1);
            negative = Some(negative.unwrap_or(false) != flips);
        }
        Err(self.error("too many signs"))
    }

    /// Terms with + and − between them.
    pub(super) fn sum(&mut self) -> Parsed<Expr> {
        let negative = self.signs()?.unwrap_or(false);
        let first = self.product()?;
        let first = if negative { negate(first) } else { first };
        let mut terms = Vec::new();
        while matches!(
            self.peek(),
            Some(Kind::Plus | Kind::Minus | Kind::PlusMinus | Kind::MinusPlus)
        ) {
            // `ℝ − {0}` takes away from a set; that is not for here.
            if self.peek() == Some(Kind::Minus) && self.ahead(1) == Some(Kind::Open(Bracket::Set)) {
                break;
            }
            let negative = self.signs()?.unwrap_or(false);
            let term = self.product()?;
            terms.push(if negative { negate(term) } else { term });
        }
        if terms.is_empty() {
            return Ok(first);
        }
        terms.insert(0, first);
        Ok(Expr::Add(terms))
    }

    /// Factors with signs of multiplication and division, or nothing, between them.
    pub(super) fn product(&mut self) -> Parsed<Expr> {
        let start = self.pos();
        let first = self.factor()?;
        let mut factors = Vec::new();
        loop {
            let next = match self.peek() {
                Some(Kind::Times) => {
                    if self.before_unit_times() {
                        break;
                    }
                    self.skip(1);
                    self.signed_factor()?
                }
                // `$15/hour`.
                Some(Kind::Divide)
                    if matches!(self.ahead(1), Some(Kind::Word(_) | Kind::Text(_)))
                        && self.suffix_follows(self.pos() + 1, false) =>
                {
                    break;
                }
                Some(Kind::Divide) => {
                    self.skip(1);
                    inverse(self.signed_factor()?)
                }
                Some(kind) if self.continues(kind, start) => self.factor()?,
                _ => break,
            };
            factors.push(next);
        }
        if factors.is_empty() {
            return Ok(first);
        }
        // A number before the first factor stays in front; a bracketed product keeps its own place.
        factors.insert(0, first);
        Ok(product(factors))
    }

    /// A factor behind an explicit sign, which may have a sign of its own.
    fn signed_factor(&mut self) -> Parsed<Expr> {
        let negative = self.signs()?.unwrap_or(false);
        let factor = self.factor()?;
        Ok(if negative { negate(factor) } else { factor })
    }

    /// Is `· m` the beginning of a unit?
    fn before_unit_times(&self) -> bool {
        matches!(self.ahead(1), Some(Kind::Text(_))) && self.suffix_follows(self.pos() + 1, false)
    }

    /// May this token go on a product without a sign?
    fn continues(&self, kind: Kind<'_>, start: usize) -> bool {
        if self.space() == Space::Wide {
            return false;
        }
        match kind {
            Kind::Letter(_) => {
                if self.is_in_integral() && self.is_differential() {
                    return false;
                }
                !self.is_unit_letter(start) && !self.is_connective() && !self.is_spaced_word()
            }
            Kind::Greek(_) => !self.suffix_follows(self.pos(), true),
            Kind::Structure(Structure::Fraction) if self.is_unit_fraction() => false,
            Kind::Constant(_)
            | Kind::Structure(
                Structure::Fraction
                | Structure::Root
                | Structure::CubeRoot
                | Structure::FourthRoot
                | Structure::Binomial,
            )
            | Kind::Big(_)
            | Kind::Accent(_)
            | Kind::Object(_)
            | Kind::Vulgar(..)
            | Kind::Bar(Side::Left) => true,
            Kind::Function(named) => {
                !(matches!(
                    named,
                    Named::One(Function::Sec) | Named::Many(Function::Min)
                ) && self.suffix_follows(self.pos(), false))
            }
            Kind::Name(_) => {
                if self.is_in_integral() && self.is_differential() {
                    return false;
                }
                !self.suffix_follows(self.pos(), false)
            }
            Kind::Text(text) => {
                text.chars().count() == 1 && !self.suffix_follows(self.pos(), false)
            }
            Kind::Number(_) => {
                let bracket = matches!(
                    self.kind_before(1),
                    Some(
                        Kind::Close(Bracket::Round | Bracket::Square | Bracket::Group)
                            | Kind::Bang(_)
                    )
                );
                (bracket && !self.is_degree_before()) || self.is_behind_exponent()
            }
            Kind::Open(Bracket::Round | Bracket::Square | Bracket::Group) => {
                !self.has_entries(self.pos())
                    && !self.holds(
                        self.pos(),
                        inside::RELATION | inside::SUCH_THAT | inside::WORDS,
                    )
                    && self.mate(self.pos()) > self.pos() + 1
                    && self.ahead(1) != Some(Kind::Modulo)
            }
            Kind::Open(Bracket::Floor | Bracket::Ceiling) | Kind::Norm => {
                kind != Kind::Norm || !self.is_in_bars()
            }
            Kind::Bar(Side::Unknown) => !self.is_in_bars() && self.bar_follows(),
            _ => false,
        }
    }

    /// Is this a word of three letters with a space before it, which no product is?
    fn is_spaced_word(&self) -> bool {
        self.at(self.pos()).is_some_and(|token| {
            token.run >= 3
                && token.space != Space::Tight
                && super::letters::is_wordlike(
                    self.source(self.pos(), self.pos() + usize::from(token.run)),
                )
        })
    }

    /// Is this the "to" of `3 to 4` or the "in" of `x in [0, 1]`?
    fn is_connective(&self) -> bool {
        let Some(token) = self.at(self.pos()) else {
            return false;
        };
        let apart = |index: usize| {
            self.at(index)
                .is_none_or(|token| token.space != Space::Tight)
        };
        token.run == 2
            && match self.source(self.pos(), self.pos() + 2) {
                "to" => apart(self.pos()) && apart(self.pos() + 2),
                "in" => {
                    apart(self.pos())
                        && (apart(self.pos() + 2)
                            || matches!(
                                self.ahead(2),
                                Some(Kind::Open(_) | Kind::Domain(_) | Kind::EmptySet)
                            ))
                }
                _ => false,
            }
    }

    /// Is `\frac{\text{m}}{\text{s}}` next?
    fn is_unit_fraction(&self) -> bool {
        matches!(self.ahead(2), Some(Kind::Text(_) | Kind::Name(_)))
            && self.suffix_follows(self.pos(), true)
    }

    /// Does a letter as exponent end right before, as in `2^x3^y`?
    fn is_behind_exponent(&self) -> bool {
        let before = |back: usize| self.kind_before(back);
        matches!(before(1), Some(Kind::Letter(_) | Kind::Greek(_)))
            && before(2) == Some(Kind::Caret)
    }

    /// Does a degree sign end the token before, as in `30° 15'`?
    fn is_degree_before(&self) -> bool {
        let before = |back: usize| self.kind_before(back);
        before(1) == Some(Kind::Circle) || before(2) == Some(Kind::Circle)
    }

    /// Is there another bar soon, so that this one opens?
    fn bar_follows(&self) -> bool {
        (self.pos() + 1..self.pos() + 200).any(|index| {
            matches!(
                self.kind_at(index),
                Some(Kind::Bar(Side::Unknown | Side::Right))
            )
        })
    }

    /// A primary with its powers, factorials and degree signs.
    pub(super) fn factor(&mut self) -> Parsed<Expr> {
        let mut value = self.primary()?;
        for _ in 0..MOST_SIGNS {
            match self.peek() {
                Some(Kind::Caret) => {
                    if self.is_raised_circle() {
                        if self.is_temperature() {
                            return Ok(value);
                        }
                        self.pass_raised();
                        value = degrees(value);
                        continue;
                    }
                    if self.is_raised_ordinal() {
                        self.pass_raised();
                        continue;
                    }
                    if self.is_raised_prime() {
                        return Err(self.error("a prime behind a value"));
                    }
                    self.skip(1);
                    let exponent = self.exponent()?;
                    value = Expr::power(value, exponent);
                }
                Some(Kind::Circle) => {
                    if self.is_temperature() {
                        return Ok(value);
                    }
                    self.skip(1);
                    value = degrees(value);
                }
                Some(Kind::Bang(count)) => {
                    self.skip(1);
                    value = self.factorial(value, count)?;
                }
                Some(Kind::Percent) if !self.ends_quantity(self.pos() + 1) => {
                    self.skip(1);
                    let hundredth = Rational::from_parts(1.into(), 100_u8.into());
                    value = product(vec![value, Expr::Number(hundredth)]);
                }
                _ => return Ok(value),
            }
        }
        Err(self.error("too many signs behind a value"))
    }

    /// Is `^\circ` next?
    pub(super) fn is_raised_circle(&self) -> bool {
        match self.ahead(1) {
            Some(Kind::Circle) => true,
            Some(Kind::Open(Bracket::Group)) => {
                self.ahead(2) == Some(Kind::Circle)
                    && matches!(self.ahead(3), Some(Kind::Close(Bracket::Group)))
            }
            _ => false,
        }
    }

    /// Is `^{\text{th}}` next?
    fn is_raised_ordinal(&self) -> bool {
        self.ahead(1) == Some(Kind::Open(Bracket::Group))
            && matches!(
                self.ahead(2),
                Some(Kind::Text("th" | "st" | "nd" | "rd") | Kind::Name("th" | "st" | "nd" | "rd"))
            )
            && matches!(self.ahead(3), Some(Kind::Close(Bracket::Group)))
    }

    /// Is `^\prime` next?
    pub(super) fn is_raised_prime(&self) -> bool {
        match self.ahead(1) {
            Some(Kind::Prime(_)) => true,
            Some(Kind::Open(Bracket::Group)) => matches!(self.ahead(2), Some(Kind::Prime(_))),
            _ => false,
        }
    }

    /// Passes `^\circ` or `°`.
    pub(super) fn pass_raised(&mut self) {
        if self.take(Kind::Caret) && self.opens(Bracket::Group) {
            self.seek(self.mate(self.pos()) + 1);
        } else {
            self.skip(1);
        }
    }

    /// What stands behind `^`.
    pub(super) fn exponent(&mut self) -> Parsed<Expr> {
        let negative = self.signs()?.unwrap_or(false);
        let value = if self.opens(Bracket::Group) {
            self.within(Self::expression)?
        } else {
            self.primary()?
        };
        let value = match self.peek() {
            Some(Kind::Caret) if !self.is_raised_circle() => {
                self.skip(1);
                let above = self.deeper(Self::exponent)?;
                Expr::power(value, above)
            }
            Some(Kind::Bang(count)) => {
                self.skip(1);
                self.factorial(value, count)?
            }
            _ => value,
        };
        Ok(if negative { negate(value) } else { value })
    }

    /// n! and n!!.
    fn factorial(&self, value: Expr, count: u8) -> Parsed<Expr> {
        match count {
            1 => Ok(super::parser::call(Function::Factorial, value)),
            2 => Ok(super::parser::call(Function::DoubleFactorial, value)),
            _ => Err(self.error("more than two factorial signs")),
        }
    }
}

/// An angle in degrees; a second sign says no more than the first.
fn degrees(value: Expr) -> Expr {
    let degree = Expr::Constant(Constant::Degree);
    match value {
        Expr::Multiply(factors) if factors.last() == Some(&degree) => Expr::Multiply(factors),
        value => Expr::Multiply(vec![value, degree]),
    }
}
