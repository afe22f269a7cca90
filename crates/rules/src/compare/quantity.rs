//! Numbers and expressions with what stands beside them: units, currencies, percent signs.

use super::comparison::Comparison;
use super::context::{Context, in_order_of_sides};
use super::expressions;
use super::naming;
use super::numbers::{self, Value};
use crate::algebra::{Constant, Expr, Rational};
use crate::answer::{Answer, Quantity, Unit};
use crate::config::BareNumber;
use crate::lexicon::units::{Dimension, MOLE, NO_DIMENSION, PARTS, TURNS, kin};
use crate::lexicon::words::{POUNDS, TACIT_PREFIX};
use crate::parse;
use crate::verification::Status;

pub(super) fn compare(gold: &Quantity, pred: &Quantity, context: &mut Context<'_>) -> Comparison {
    if let (Some(a), Some(b)) = (&gold.currency, &pred.currency)
        && a != b
    {
        const DOLLARS: [&str; 3] = ["USD", "CAD", "AUD"];
        if DOLLARS.contains(&&**a) && DOLLARS.contains(&&**b) {
            return ambiguous("dollars of two countries");
        }
        return context.different("currency", || {
            format!("{a} and {b} are different currencies")
        });
    }
    if gold.percent != pred.percent {
        return shares(gold, pred, context);
    }
    match (&gold.unit, &pred.unit) {
        (None, None) if gold.currency.is_some() != pred.currency.is_some() => {
            money(gold, pred, context)
        }
        (None, None) => plain(gold, pred, context),
        (Some(a), Some(b)) => both_units(gold, a, pred, b, context),
        (Some(unit), None) => one_unit(gold, unit, pred, context, false),
        (None, Some(unit)) => one_unit(pred, unit, gold, context, true),
    }
}

fn plain(gold: &Quantity, pred: &Quantity, context: &mut Context<'_>) -> Comparison {
    numbers::compare(written(gold), written(pred), context)
}

/// An amount of money against a number, which may count its cents.
fn money(gold: &Quantity, pred: &Quantity, context: &mut Context<'_>) -> Comparison {
    let verdict = plain(gold, pred, context);
    if verdict.equal != Some(false) {
        return verdict;
    }
    let hundred = Rational::from(100_u64);
    let in_cents = |quantity: &Quantity| match quantity.currency {
        Some(_) => scaled(&quantity.value, &hundred),
        None => quantity.value.clone(),
    };
    let (a, b) = (in_cents(gold), in_cents(pred));
    if numbers::compare(exact(&a), exact(&b), context).equal == Some(true) {
        let reason = "an amount against the number of its cents";
        return bare_number(context.config.cents, "currency", reason);
    }
    verdict
}

/// Open, since two things may be meant.
fn ambiguous(reason: &str) -> Comparison {
    Comparison {
        status: Status::Ambiguous,
        ..Comparison::open(reason)
    }
}

/// What a number without its sign is by the settings.
fn bare_number(it: BareNumber, method: &'static str, reason: &str) -> Comparison {
    match it {
        BareNumber::Open => ambiguous(reason),
        BareNumber::Same => Comparison::equal(method),
        BareNumber::Distinct => Comparison::different(method, reason),
    }
}

pub(super) fn written(quantity: &Quantity) -> Value<'_> {
    Value {
        expr: &quantity.value,
        places: quantity.places,
    }
}

/// The power of ten that is the part of one which is counted: 2 of a percent sign, 6 of ppm.
fn share(quantity: &Quantity) -> Option<usize> {
    let parts = quantity.unit.as_ref().filter(|it| is_one(it, PARTS));
    let power = parts.map(|it| it.size.denominator().ilog(&10_u8.into()));
    quantity.percent.then_some(2).or(power)
}

/// One counts parts: 50 basis points are 0.5 %, and that is 0.005.
fn shares(gold: &Quantity, pred: &Quantity, context: &mut Context<'_>) -> Comparison {
    let sides = [gold, pred];
    let amount = |it: &Quantity| it.unit.as_ref().is_some_and(|it| it.dimension.is_some());
    let amount = |it: &&Quantity| share(it).is_none() && (amount(it) || it.currency.is_some());
    if sides.iter().any(amount) {
        return Comparison::different("units", "a percentage is no amount");
    }
    let number = |it: &Quantity| {
        let power = share(it).unwrap_or(0).cast_signed();
        Quantity {
            places: it.places.map(|it| it.saturating_add(power as i64)),
            ..Quantity::bare(scaled(&it.value, &Rational::from(10).pow(-power)))
        }
    };
    let (a, b) = (number(gold), number(pred));
    let verdict = plain(&a, &b, context);
    match verdict.equal {
        Some(true) if verdict.method == "rational" => verdict.by("percent"),
        // A question may ask for percent: "50" is then 50 %.
        Some(false)
            if sides.iter().any(|it| share(it).is_none())
                && plain(gold, pred, context).equal == Some(true) =>
        {
            let reason = "a percentage against the same number without its sign";
            bare_number(context.config.percent, "percent", reason)
        }
        Some(false) => numbers::differ("percent", &a.value, &b.value, context),
        _ => verdict,
    }
}

/// `factor` · expr.
fn scaled(expr: &Expr, factor: &Rational) -> Expr {
    expressions::product(Expr::Number(factor.clone()), expr.clone())
}

fn both_units(
    gold: &Quantity,
    a: &Unit,
    pred: &Quantity,
    b: &Unit,
    context: &mut Context<'_>,
) -> Comparison {
    let (Some(dimension_a), Some(dimension_b)) = (&a.dimension, &b.dimension) else {
        // A label beside a label, or beside a real unit: the value decides.
        return plain(gold, pred, context);
    };
    let angles = (is_degree(a) && radian(b).is_some()) || (radian(a).is_some() && is_degree(b));
    if angles {
        let radians = |value: &Expr, unit: &Unit| match radian(unit) {
            Some(size) => scaled(value, size),
            None => in_radians(value, unit),
        };
        let (a, b) = (radians(&gold.value, a), radians(&pred.value, b));
        return numbers::compare(exact(&a), exact(&b), context);
    }
    let angle = |it: &Unit| it.name.contains("rad") || is_degree(it);
    if (angle(a) || angle(b)) && dimension_a[TURNS] != dimension_b[TURNS] {
        return ambiguous("turns against an angle");
    }
    if dimension_a[..TURNS] != dimension_b[..TURNS] {
        // "90°" may be said of a temperature.
        let mixed = |a, b: &Unit| is_degree(a) && !b.offset.is_zero();
        // "2 Gy" and "2 Sv", "-286 kJ/mol" and "-286 kJ", "5 ppm" and "5 mg/L"
        let same = |at: usize| at == MOLE || dimension_a[at] == dimension_b[at];
        let moles = a.size == b.size && (0..TURNS).all(same);
        let parts = dimension_a[PARTS] != dimension_b[PARTS];
        let kin = kin(*dimension_a) == kin(*dimension_b);
        // Ounces of a liquid are fluid ones, minutes of an angle those of arc.
        let of = |a: &Unit, b: &Unit| {
            let prefix = a.name.strip_suffix(&*b.name).map(str::trim_end);
            prefix.is_some_and(|it| TACIT_PREFIX.contains(it))
        };
        let vague = mixed(a, b) || mixed(b, a) || kin || moles || parts || of(a, b) || of(b, a);
        if vague && plain(gold, pred, context).equal != Some(false) {
            return ambiguous("two units that may be said of one thing");
        }
        return context.different("units", || {
            format!("{} and {} measure different things", a.name, b.name)
        });
    }
    if a.size == b.size && a.offset == b.offset {
        return plain(gold, pred, context);
    }
    // In the unit of the side that is a decimal, whose digits then still mean what they did.
    let verdict = if pred.places.is_some() || gold.places.is_none() {
        let converted = convert(&gold.value, a, b);
        numbers::compare(exact(&converted), written(pred), context)
    } else {
        let converted = convert(&pred.value, b, a);
        numbers::compare(written(gold), exact(&converted), context)
    };
    match (verdict.equal, verdict.method) {
        (Some(true), "rational") | (Some(false), _) => verdict.by("units"),
        _ => verdict,
    }
}

/// A value in another unit of the same dimension.
fn convert(value: &Expr, from: &Unit, to: &Unit) -> Expr {
    let factor = &from.size / &to.size;
    let shift = (&from.offset - &to.offset) / &to.size;
    let value = scaled(value, &factor);
    match value {
        value if shift.is_zero() => value,
        Expr::Number(value) => Expr::Number(value + shift),
        value => Expr::Add(vec![value, Expr::Number(shift)]),
    }
}

/// One unit is missing: the values as written.
fn one_unit(
    with: &Quantity,
    unit: &Unit,
    without: &Quantity,
    context: &mut Context<'_>,
    swapped: bool,
) -> Comparison {
    if let Some(currency) = &without.currency {
        let pounds = **currency == *"GBP" && POUNDS.contains(&unit.name);
        if unit.dimension.is_some() && !pounds {
            return context.different("currency", || {
                format!("{currency} and {} measure different things", unit.name)
            });
        }
    }
    // "3000 mA" against "3 A", whose letter was read as a variable.
    if let Some((value, own)) = lettered(&without.value)
        && own.dimension == unit.dimension
    {
        let without = Quantity {
            value,
            ..without.clone()
        };
        let ((a, unit_a), (b, unit_b)) = in_order_of_sides((with, unit), (&without, &own), swapped);
        return both_units(a, unit_a, b, unit_b, context);
    }
    let (a, b) = in_order_of_sides(with, without, swapped);
    let verdict = plain(a, b, context);
    // `½nm` may be half of n times m, and `\frac{5m}{s}` has letters for its unit.
    if verdict.equal == Some(false)
        && !naming::is_constant(&without.value)
        && let Ok(Answer::Quantity(letters)) = parse::parse(&unit.name)
        && letters.unit.is_none()
    {
        let value = expressions::product(with.value.clone(), letters.value);
        let as_letters = ordered(&value, without, context, swapped);
        if as_letters.equal == Some(true) {
            return as_letters;
        }
    }
    // 180° against π: an angle without a unit is in radians if it says so by a π.
    if verdict.equal == Some(false)
        && is_degree(unit)
        && expressions::has_pi(&without.value)
        && !expressions::has_pi(&with.value)
    {
        let radians = in_radians(&with.value, unit);
        return ordered(&radians, without, context, swapped);
    }
    if verdict.equal == Some(false) && is_one(unit, TURNS) && expressions::has_pi(&without.value) {
        return ambiguous("turns against an angle");
    }
    // Basis points may be base pairs, or bits per second.
    if verdict.equal == Some(false) && is_one(unit, PARTS) && without.unit.is_none() {
        let verdict = shares(a, b, context);
        let vague = verdict.equal == Some(true) && share(with) == Some(4);
        return Some(verdict)
            .filter(|_| !vague)
            .unwrap_or_else(|| ambiguous("basis points against a number"));
    }
    verdict
}

/// A number before one letter that names a unit, or before that and µ, as a value and that unit.
fn lettered(expr: &Expr) -> Option<(Expr, Unit)> {
    use Expr::{Number, Symbol};
    let Expr::Multiply(factors) = expr else {
        return None;
    };
    let (value, name) = match factors.as_slice() {
        [Number(value), Symbol(letter)] => (value, letter.to_string()),
        [Number(value), Symbol(micro), Symbol(letter)] if **micro == *"mu" => {
            (value, format!("µ{letter}"))
        }
        _ => return None,
    };
    let unit = parse::unit(&name).filter(|unit| unit.dimension.is_some())?;
    Some((Number(value.clone()), unit))
}

/// A converted value against a quantity, in the order of the sides.
fn ordered(value: &Expr, other: &Quantity, context: &mut Context<'_>, swapped: bool) -> Comparison {
    let (a, b) = in_order_of_sides(exact(value), written(other), swapped);
    numbers::compare(a, b, context)
}

/// A value that nobody rounded.
pub(super) fn exact(expr: &Expr) -> Value<'_> {
    Value { expr, places: None }
}

/// Does a unit measure only what stands at a place of dimensions?
fn is_one(unit: &Unit, at: usize) -> bool {
    let alone = |it: Dimension| it[at] == 1 && it.iter().filter(|power| **power != 0).count() == 1;
    unit.dimension.is_some_and(alone)
}

/// Is a unit the degree of an angle, or a part of one?
fn is_degree(unit: &Unit) -> bool {
    is_one(unit, 7)
}

/// The size of a unit in radians, which are plain numbers.
fn radian(unit: &Unit) -> Option<&Rational> {
    (unit.dimension == Some(NO_DIMENSION) && unit.name.contains("rad")).then_some(&unit.size)
}

/// An angle in (parts of) degrees, in radians.
fn in_radians(value: &Expr, unit: &Unit) -> Expr {
    expressions::product(scaled(value, &unit.size), Expr::Constant(Constant::Degree))
}
