//! A value with what stands beside it: units, percent, currencies, bases, labels.

use super::parser::{Parsed, Parser, signed};
use super::suffix::Suffix;
use super::token::{Bracket, Kind};
use super::{number, pratt, suffix, units};
use crate::algebra::{self, Constant, Expr, Rational};
use crate::answer::Quantity;
use crate::lexicon::units::currency;
use crate::lexicon::{numbers, words};

/// A value with what stands before and after it.
pub(super) fn quantity(parser: &mut Parser<'_>) -> Parsed<Quantity> {
    let (mut quantity, approximate) = parser.noting_approximate(measured)?;
    quantity.approximate |= approximate;
    Ok(quantity)
}

fn measured(parser: &mut Parser<'_>) -> Parsed<Quantity> {
    let about = take_about(parser);
    let start = parser.pos();
    let mut currency = None;
    let mut negative = false;
    // −$5 and $−5.
    if parser.peek() == Some(Kind::Minus) && matches!(parser.ahead(1), Some(Kind::Currency(_))) {
        negative = true;
        parser.skip(1);
    }
    if let Some(Kind::Currency(code)) = parser.peek() {
        currency = Some(code);
        parser.skip(1);
    }
    let first = parser.pos() + usize::from(matches!(parser.peek(), Some(Kind::Minus | Kind::Plus)));
    parser.forget_lone();
    let mut quantity = if let Some(quantity) = scientific(parser) {
        quantity
    } else {
        let value = pratt::expression(parser)?;
        let mut quantity = Quantity::bare(value);
        let (mut from, mut to) = (first, parser.pos());
        // Brackets around the number do not matter.
        while matches!(
            parser.any_kind_at(from),
            Some(Kind::Open(Bracket::Group | Bracket::Round))
        ) && parser.mate(from) + 1 == to
        {
            from += 1;
            to -= 1;
        }
        if let Some(lone) = parser.lone()
            && lone.start == from
            && lone.end == to
        {
            quantity.places = lone.places;
            quantity.base = lone.base;
        }
        quantity
    };
    quantity.value = signed(quantity.value, negative);
    quantity.currency = currency.map(Into::into);
    scale(parser, &mut quantity, first);
    suffix(parser, &mut quantity)?;
    quantity.approximate = about;
    if start == parser.pos() {
        return Err(parser.error("a value is missing"));
    }
    Ok(quantity)
}

/// Takes "about" or ≈ before a value.
fn take_about(parser: &mut Parser<'_>) -> bool {
    let mut found = false;
    loop {
        match parser.peek() {
            Some(Kind::Word(word) | Kind::Text(word))
                if words::APPROXIMATELY.contains(word.trim_end_matches('.')) =>
            {
                parser.skip(1);
                parser.take(Kind::Stop);
                found = true;
            }
            Some(Kind::Relation(
                crate::answer::Operator::Approximately | crate::answer::Operator::Similar,
            )) => {
                parser.skip(1);
                found = true;
            }
            _ => return found,
        }
    }
}

/// `6.02 × 10^{23}` as one number, if nothing multiplies it further.
fn scientific(parser: &mut Parser<'_>) -> Option<Quantity> {
    let saved = parser.pos();
    let negative = parser.take(Kind::Minus);
    let quantity = scientific_number(parser, negative);
    let ends = quantity.is_some()
        && (suffix::ends_quantity(parser, parser.pos())
            || suffix::read_suffix(parser, parser.pos(), false).is_some());
    if !ends {
        parser.seek(saved);
        return None;
    }
    quantity
}

fn scientific_number(parser: &mut Parser<'_>, negative: bool) -> Option<Quantity> {
    let mut numeral = *parser.numeral_at(parser.pos())?;
    let mut at = parser.pos() + 1;
    let ten = parser.kind_at(at) == Some(Kind::Times) && parser.small_at(at + 1) == Some(10);
    if !ten || parser.at(at + 2)?.kind != Kind::Caret {
        return None;
    }
    at += 3;
    let grouped = matches!(
        parser.at(at)?.kind,
        Kind::Open(Bracket::Group | Bracket::Round)
    );
    at += usize::from(grouped);
    let below = parser.at(at)?.kind == Kind::Minus;
    at += usize::from(below || parser.at(at)?.kind == Kind::Plus);
    let exponent = i64::try_from(parser.small_at(at)?).ok()?;
    at += 1;
    if grouped {
        if !matches!(parser.at(at)?.kind, Kind::Close(_)) {
            return None;
        }
        at += 1;
    }
    if !numeral.repeat.is_empty() || numeral.dots || numeral.radix != 10 {
        return None;
    }
    let exponent = if below { -exponent } else { exponent };
    numeral.exponent = numeral.exponent.checked_add(exponent)?;
    let value = number::value(&numeral)?;
    parser.seek(at);
    Some(Quantity {
        places: value.places,
        ..Quantity::bare(signed(value.expr, negative))
    })
}

/// `5 million`, `2.5 thousand`, `3 dozen`; `$120k`.
fn scale(parser: &mut Parser<'_>, quantity: &mut Quantity, start: usize) {
    let letters = suffix::scale_letters(parser, start);
    let word = match parser.peek() {
        Some(Kind::Word(word) | Kind::Text(word)) => word,
        _ => "",
    };
    let named = || {
        let lower = word.to_ascii_lowercase();
        let whole = lower.trim_end_matches('.');
        numbers::scale(whole).or_else(|| numbers::scale(whole.trim_end_matches('s')))
    };
    let Some((scale, tokens)) = letters.or_else(|| Some((named()?, 1))) else {
        return;
    };
    let Expr::Number(value) = &quantity.value else {
        return;
    };
    quantity.value = Expr::Number(value * Rational::from(scale));
    if let (Some(places), Some(digits)) = (quantity.places, scale.checked_ilog10()) {
        quantity.places = Some(places - i64::from(digits));
    }
    parser.skip(tokens);
}

/// Takes what stands after the value into the quantity.
fn suffix(parser: &mut Parser<'_>, quantity: &mut Quantity) -> Parsed<()> {
    take_degree(parser, quantity);
    if quantity.unit.is_some() {
        return compound(parser, quantity);
    }
    let rate = parser.peek() == Some(Kind::Divide);
    let Some((suffix, end)) = suffix::read_suffix(parser, parser.pos() + usize::from(rate), false)
    else {
        return Ok(());
    };
    if rate {
        let Suffix::Unit(mut unit) = suffix else {
            return Ok(());
        };
        if quantity.currency.is_none() {
            return Ok(());
        }
        unit.name = format!("per {}", unit.name).into();
        unit.dimension = None;
        quantity.unit = Some(unit);
        parser.seek(end);
        return Ok(());
    }
    parser.seek(end);
    match suffix {
        Suffix::Percent => quantity.percent = true,
        Suffix::Currency(code, parts) => {
            if parts != 1 {
                let part = Rational::from_parts(1.into(), parts.into());
                quantity.value = scaled(quantity.value.clone(), part);
                quantity.places = quantity.places.map(|places| places + 2);
            }
            if quantity
                .currency
                .as_deref()
                .is_some_and(|written| written != code)
            {
                return Err(parser.error("two currencies"));
            }
            quantity.currency = Some(code.into());
        }
        Suffix::Base(base) => {
            let Expr::Number(value) = &quantity.value else {
                return Err(parser.error("a base after something that is no number"));
            };
            let digits = value.to_string();
            let Some(value) = number::in_base(&digits, base) else {
                return Err(parser.error("a digit that the base does not have"));
            };
            quantity.value = value;
            quantity.base = Some(base);
        }
        Suffix::Unit(mut unit) => {
            // "15 dollars per hour".
            if unit.dimension.is_none()
                && quantity.currency.is_none()
                && let Some((money, rest)) = unit.name.split_once(' ')
                && rest.starts_with("per ")
                && let Some((code, 1)) = currency(money)
            {
                quantity.currency = Some(code.into());
                unit.name = rest.into();
            }
            let radians = matches!(&*unit.name, "rad" | "radian" | "radians");
            let is_pi = &mut |it: &Expr| *it == Expr::Constant(Constant::Pi);
            if !(radians && algebra::any(&quantity.value, is_pi)) {
                quantity.unit = Some(unit);
            }
            return compound(parser, quantity);
        }
    }
    Ok(())
}

/// A degree sign that the expression ends with becomes a unit.
fn take_degree(parser: &mut Parser<'_>, quantity: &mut Quantity) {
    if let Expr::Multiply(factors) = &mut quantity.value
        && factors.len() >= 2
        && factors.last() == Some(&Expr::Constant(Constant::Degree))
    {
        factors.pop();
        let rest = std::mem::take(factors);
        quantity.value = Expr::product(rest);
        quantity.unit = units::unit("°");
        let number_end = parser.pos();
        if let Some(lone) = parser.lone()
            && lone.end < number_end
            && matches!(quantity.value, Expr::Number(_))
        {
            quantity.places = lone.places;
        }
    }
}

/// `5 ft 3 in`: further parts in smaller units of the same kind are added.
fn compound(parser: &mut Parser<'_>, quantity: &mut Quantity) -> Parsed<()> {
    for _ in 0..4 {
        let Some(unit) = quantity.unit.clone() else {
            return Ok(());
        };
        let Some(dimension) = unit.dimension else {
            return Ok(());
        };
        let Some(Kind::Number(_)) = parser.peek() else {
            return Ok(());
        };
        let smaller = if unit.name.as_ref() == "°" {
            minutes(parser)
        } else {
            None
        };
        let (value, size) = if let Some((value, parts, end)) = smaller {
            parser.seek(end);
            (value, Rational::from_parts(1.into(), parts.into()))
        } else {
            let part = pratt::expression(parser)?;
            let Some((Suffix::Unit(part_unit), end)) =
                suffix::read_suffix(parser, parser.pos(), false)
            else {
                return Err(parser.error("a second value without its unit"));
            };
            if part_unit.dimension != Some(dimension) || part_unit.size >= unit.size {
                return Err(parser.error("a second value in a unit that does not fit"));
            }
            parser.seek(end);
            (part, part_unit.size)
        };
        let part = scaled(value, size / &unit.size);
        quantity.value = match (
            std::mem::replace(&mut quantity.value, Expr::integer(0)),
            part,
        ) {
            (Expr::Number(a), Expr::Number(b)) => Expr::Number(a + b),
            (a, b) => Expr::Add(vec![a, b]),
        };
        quantity.places = None;
    }
    Ok(())
}

/// `15'` and `20''` after degrees: the value, how many make a degree, and where they end.
fn minutes(parser: &Parser<'_>) -> Option<(Expr, u32, usize)> {
    let value = number::value(parser.numeral_at(parser.pos())?)?.expr;
    let mut at = parser.pos() + 1;
    at += usize::from(parser.at(at)?.kind == Kind::Caret);
    let grouped = matches!(parser.at(at)?.kind, Kind::Open(Bracket::Group));
    let close = parser.mate(at);
    at += usize::from(grouped);
    let Kind::Prime(count) = parser.at(at)?.kind else {
        return None;
    };
    let end = if grouped { close + 1 } else { at + 1 };
    Some((value, if count == 1 { 60 } else { 3600 }, end))
}

fn scaled(value: Expr, factor: Rational) -> Expr {
    match value {
        Expr::Number(value) => Expr::Number(value * factor),
        other => Expr::product(vec![Expr::Number(factor), other]),
    }
}
