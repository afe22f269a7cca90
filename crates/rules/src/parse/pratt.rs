//! Sums, products and powers, by how tightly signs bind.

use super::parser::{BARS, INTEGRAL, Parsed, Parser, inverse, signed};
use super::token::{Bracket, Kind, Named, Side, Space, Structure, inside};
use super::{function, operand, suffix};
use crate::algebra::{Constant, Expr, Function, Rational};

/// How many signs of a kind may follow each other.
const MOST_SIGNS: usize = 64;

/// A sum, with `\over`, `\choose` and `mod`, which bind less than +.
pub(super) fn expression(parser: &mut Parser<'_>) -> Parsed<Expr> {
    let mut left = sum(parser)?;
    let mut rounds = 0;
    loop {
        rounds += 1;
        if rounds > MOST_SIGNS {
            return Err(parser.error("too many operators in a row"));
        }
        match parser.peek() {
            Some(Kind::Structure(Structure::Over)) => {
                parser.skip(1);
                let below = sum(parser)?;
                left = left.divided_by(below);
            }
            Some(Kind::Structure(Structure::Choose)) => {
                parser.skip(1);
                let below = sum(parser)?;
                left = Expr::Call(Function::Binomial, vec![left, below]);
            }
            Some(Kind::Modulo) => {
                parser.skip(1);
                let modulus = sum(parser)?;
                left = Expr::Call(Function::Modulo, vec![left, modulus]);
            }
            _ => return Ok(left),
        }
    }
}

/// Signs before a term: is it negative?
fn signs(parser: &mut Parser<'_>) -> Parsed<Option<bool>> {
    let mut negative = None;
    for _ in 0..MOST_SIGNS {
        let flips = match parser.peek() {
            Some(Kind::Plus) => false,
            Some(Kind::Minus) => true,
            Some(Kind::PlusMinus) => parser.note_both_signs(),
            Some(Kind::MinusPlus) => !parser.note_both_signs(),
            _ => return Ok(negative),
        };
        parser.skip(1);
        negative = Some(negative.unwrap_or(false) != flips);
    }
    Err(parser.error("too many signs"))
}

/// Terms with + and − between them.
pub(super) fn sum(parser: &mut Parser<'_>) -> Parsed<Expr> {
    let negative = signs(parser)?.unwrap_or(false);
    let first = term(parser)?;
    let mut terms = vec![signed(first, negative)];
    while matches!(
        parser.peek(),
        Some(Kind::Plus | Kind::Minus | Kind::PlusMinus | Kind::MinusPlus)
    ) {
        // `ℝ − {0}` takes away from a set; that is not for here.
        if parser.peek() == Some(Kind::Minus) && parser.ahead(1) == Some(Kind::Open(Bracket::Set)) {
            break;
        }
        let negative = signs(parser)?.unwrap_or(false);
        let term = term(parser)?;
        terms.push(signed(term, negative));
    }
    match terms.len() {
        1 => Ok(terms.swap_remove(0)),
        _ => Ok(Expr::Add(terms)),
    }
}

/// Factors with signs of multiplication and division, or nothing, between them.
pub(super) fn term(parser: &mut Parser<'_>) -> Parsed<Expr> {
    let start = parser.pos();
    let mut factors = vec![factor(parser)?];
    loop {
        let next = match parser.peek() {
            Some(Kind::Times) => {
                // `· m` begins a unit.
                if matches!(parser.ahead(1), Some(Kind::Text(_)))
                    && suffix::suffix_follows(parser, parser.pos() + 1, false)
                {
                    break;
                }
                parser.skip(1);
                signed_factor(parser)?
            }
            // `$15/hour`.
            Some(Kind::Divide)
                if (matches!(parser.ahead(1), Some(Kind::Word(_) | Kind::Text(_)))
                    || start > 0
                        && matches!(parser.any_kind_at(start - 1), Some(Kind::Currency(_)))
                        && matches!(parser.ahead(1), Some(Kind::Letter(_))))
                    && suffix::suffix_follows(parser, parser.pos() + 1, false) =>
            {
                break;
            }
            Some(Kind::Divide) => {
                parser.skip(1);
                inverse(signed_factor(parser)?)
            }
            Some(kind) if continues(parser, kind, start) => factor(parser)?,
            _ => break,
        };
        factors.push(next);
    }
    Ok(Expr::product(factors))
}

/// A factor after an explicit sign, which may have a sign of its own.
fn signed_factor(parser: &mut Parser<'_>) -> Parsed<Expr> {
    let negative = signs(parser)?.unwrap_or(false);
    let factor = factor(parser)?;
    Ok(signed(factor, negative))
}

/// May this token go on a product without a sign?
fn continues(parser: &Parser<'_>, kind: Kind<'_>, start: usize) -> bool {
    if parser.space() == Space::Wide {
        return false;
    }
    match kind {
        Kind::Letter(_) => {
            if parser.is_in(INTEGRAL) && function::is_differential(parser) {
                return false;
            }
            !suffix::is_unit_letter(parser, start)
                && !is_connective(parser)
                && !is_spaced_word(parser)
        }
        Kind::Greek(_) => !suffix::suffix_follows(parser, parser.pos(), true),
        Kind::Structure(Structure::Fraction) if suffix::is_unit_fraction(parser, start) => false,
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
            ) && suffix::suffix_follows(parser, parser.pos(), false))
        }
        Kind::Name(_) => {
            if parser.is_in(INTEGRAL) && function::is_differential(parser) {
                return false;
            }
            !suffix::suffix_follows(parser, parser.pos(), false)
        }
        Kind::Text(text) => {
            text.chars().count() == 1 && !suffix::suffix_follows(parser, parser.pos(), false)
        }
        Kind::Number(_) => {
            let bracket = matches!(
                parser.kind_before(1),
                Some(
                    Kind::Close(Bracket::Round | Bracket::Square | Bracket::Group) | Kind::Bang(_)
                )
            );
            let [last, before] = [1, 2].map(|back| parser.kind_before(back));
            // `30° 15'`, `2^x3^y`
            let degree = [last, before].contains(&Some(Kind::Circle));
            let letter = matches!(last, Some(Kind::Letter(_) | Kind::Greek(_)));
            bracket && !degree || letter && before == Some(Kind::Caret)
        }
        Kind::Open(Bracket::Round | Bracket::Square | Bracket::Group) => {
            !parser.has_entries(parser.pos())
                && !parser.holds(
                    parser.pos(),
                    inside::RELATION | inside::SUCH_THAT | inside::WORDS,
                )
                && parser.mate(parser.pos()) > parser.pos() + 1
                && parser.ahead(1) != Some(Kind::Modulo)
        }
        Kind::Open(Bracket::Floor | Bracket::Ceiling) | Kind::Norm => {
            kind != Kind::Norm || !parser.is_in(BARS)
        }
        Kind::Bar(Side::Unknown) => !parser.is_in(BARS) && bar_follows(parser),
        _ => false,
    }
}

/// Is this a word of three letters with a space before it, which no product is?
fn is_spaced_word(parser: &Parser<'_>) -> bool {
    let at = parser.pos();
    let run = parser.at(at).map_or(0, |it| usize::from(it.run));
    run >= 3 && !parser.is_tight_at(at) && super::letters::is_wordlike(parser.source(at, at + run))
}

/// Is this the "to" of `3 to 4` or the "in" of `x in [0, 1]`?
fn is_connective(parser: &Parser<'_>) -> bool {
    let at = parser.pos();
    let apart = |at| !parser.is_tight_at(at);
    let opens = |it| matches!(it, Some(Kind::Open(_) | Kind::Domain(_) | Kind::EmptySet));
    parser.at(at).is_some_and(|it| it.run == 2)
        && apart(at)
        && match parser.source(at, at + 2) {
            "to" => apart(at + 2),
            "in" => apart(at + 2) || opens(parser.ahead(2)),
            _ => false,
        }
}

/// Is there another bar soon, so that this one opens?
fn bar_follows(parser: &Parser<'_>) -> bool {
    let closes = |at| {
        matches!(
            parser.kind_at(at),
            Some(Kind::Bar(Side::Unknown | Side::Right))
        )
    };
    (parser.pos() + 1..parser.pos() + 200).any(closes)
}

/// A primary with its powers, factorials and degree signs.
pub(super) fn factor(parser: &mut Parser<'_>) -> Parsed<Expr> {
    let mut value = operand::primary(parser)?;
    for _ in 0..MOST_SIGNS {
        match parser.peek() {
            Some(Kind::Caret) => {
                if is_raised_circle(parser) {
                    if suffix::is_temperature(parser) {
                        return Ok(value);
                    }
                    pass_raised(parser);
                    value = degrees(value);
                    continue;
                }
                if is_raised_ordinal(parser) {
                    pass_raised(parser);
                    continue;
                }
                if is_raised_prime(parser) {
                    return Err(parser.error("a prime after a value"));
                }
                parser.skip(1);
                let exponent = exponent(parser)?;
                value = Expr::power(value, exponent);
            }
            Some(Kind::Circle) => {
                if suffix::is_temperature(parser) {
                    return Ok(value);
                }
                parser.skip(1);
                value = degrees(value);
            }
            Some(Kind::Bang(count)) => {
                parser.skip(1);
                value = factorial(parser, value, count)?;
            }
            Some(Kind::Percent) if !suffix::ends_quantity(parser, parser.pos() + 1) => {
                parser.skip(1);
                let hundredth = Rational::from_parts(1.into(), 100_u8.into());
                value = Expr::product(vec![value, Expr::Number(hundredth)]);
            }
            _ => return Ok(value),
        }
    }
    Err(parser.error("too many signs after a value"))
}

/// Is `^\circ` next?
pub(super) fn is_raised_circle(parser: &Parser<'_>) -> bool {
    match parser.ahead(1) {
        Some(Kind::Circle) => true,
        Some(Kind::Open(Bracket::Group)) => {
            parser.ahead(2) == Some(Kind::Circle)
                && matches!(parser.ahead(3), Some(Kind::Close(Bracket::Group)))
        }
        _ => false,
    }
}

/// Is `^{\text{th}}` next?
fn is_raised_ordinal(parser: &Parser<'_>) -> bool {
    parser.ahead(1) == Some(Kind::Open(Bracket::Group))
        && matches!(
            parser.ahead(2),
            Some(Kind::Text("th" | "st" | "nd" | "rd") | Kind::Name("th" | "st" | "nd" | "rd"))
        )
        && matches!(parser.ahead(3), Some(Kind::Close(Bracket::Group)))
}

/// Is `^\prime` next?
pub(super) fn is_raised_prime(parser: &Parser<'_>) -> bool {
    match parser.ahead(1) {
        Some(Kind::Prime(_)) => true,
        Some(Kind::Open(Bracket::Group)) => matches!(parser.ahead(2), Some(Kind::Prime(_))),
        _ => false,
    }
}

/// Passes `^\circ` or `°`.
pub(super) fn pass_raised(parser: &mut Parser<'_>) {
    if parser.take(Kind::Caret) && parser.opens(Bracket::Group) {
        parser.seek(parser.mate(parser.pos()) + 1);
    } else {
        parser.skip(1);
    }
}

/// What stands after `^`.
pub(super) fn exponent(parser: &mut Parser<'_>) -> Parsed<Expr> {
    let negative = signs(parser)?.unwrap_or(false);
    let value = if parser.opens(Bracket::Group) {
        parser.within(expression)?
    } else {
        operand::primary(parser)?
    };
    let value = match parser.peek() {
        Some(Kind::Caret) if !is_raised_circle(parser) => {
            parser.skip(1);
            let above = parser.deeper(exponent)?;
            Expr::power(value, above)
        }
        Some(Kind::Bang(count)) => {
            parser.skip(1);
            factorial(parser, value, count)?
        }
        _ => value,
    };
    Ok(signed(value, negative))
}
fn factorial(parser: &Parser<'_>, value: Expr, count: u8) -> Parsed<Expr> {
    match count {
        1 => Ok(Expr::call(Function::Factorial, value)),
        2 => Ok(Expr::call(Function::DoubleFactorial, value)),
        _ => Err(parser.error("more than two factorial signs")),
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
