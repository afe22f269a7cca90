//! When Math-Verify holds two terms for equal.

use dashu_ratio::RBig;

use super::expr::Term;
use super::judge::Judgement;
use super::matrices::{combined, entries};
use super::principal::{self, constant, exact};
use crate::options::Options;
use juror_algebra::work;
use juror_algebra::{self as algebra, Budget, Expr, Function, Identity};

/// Below this `SymPy`'s evaluation to so many digits takes a difference for zero: 2^−54 for 15 digits.
fn negligible(options: &Options) -> f64 {
    let digits = f64::from(options.numeric_precision.min(300));
    let bits = ((digits + 1.0) * std::f64::consts::LOG2_10)
        .round()
        .max(1.0);
    2_f64.powi(-(bits as i32) - 1)
}

/// Values of variables at which terms are compared; both signs, no special ones.
pub(super) const POINTS: [[f64; 4]; 6] = [
    [1.372_91, 0.618_27, 2.417_53, 1.829_31],
    [-0.731_57, 1.913_71, -1.273_13, 0.457_19],
    [2.713_43, -1.372_17, 0.839_11, -2.219_77],
    [-1.911_39, -0.527_93, 1.617_77, 0.913_37],
    [0.393_71, 3.171_93, -0.613_97, -1.531_91],
    [3.619_31, 2.231_77, 1.137_19, 2.911_73],
];

/// How much further apart than their errors two values that differ are.
const SURE: f64 = 100.0;

/// Terms with more variables are not sampled.
const MAX_SAMPLED: usize = 40;

/// Whole numbers, for terms that have no value between them.
const INTEGER_POINTS: [[f64; 4]; 3] = [
    [5.0, 3.0, 2.0, 4.0],
    [7.0, 4.0, 3.0, 2.0],
    [11.0, 5.0, 6.0, 3.0],
];

/// Step 8 and 9: numbers by their kind, everything else by its difference.
pub(super) fn equal(gold: &Expr, pred: &Expr, options: &Options) -> Judgement {
    if gold.is_matrix() || pred.is_matrix() {
        return match (combined(gold), combined(pred)) {
            (Some(a), Some(b)) => matrices(&a, &b, options),
            _ => Judgement::decided(false, "matrix"),
        };
    }
    if work::is_spent() {
        return Judgement::too_complex();
    }
    if let Some(verdict) = equal_numbers(gold, pred, options) {
        return verdict;
    }
    difference_within(gold, pred, negligible(options))
}

fn matrices(a: &Expr, b: &Expr, options: &Options) -> Judgement {
    let shape = |matrix| entries(matrix).map(<[Expr]>::len).collect::<Vec<_>>();
    if shape(a) != shape(b) {
        return Judgement::decided(false, "matrix");
    }
    Judgement::all(
        "matrix",
        entries(a)
            .flatten()
            .zip(entries(b).flatten())
            .map(|(left, right)| equal(left, right, options)),
    )
}

/// What a number is to Math-Verify.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Integer,
    Fraction,
    Float,
    Other,
}

fn class(term: &Expr) -> Option<Class> {
    let number = term.percentage().unwrap_or(term);
    match number {
        Expr::Number(value) if value.is_int() => Some(Class::Integer),
        Expr::Number(_) => Some(Class::Fraction),
        Expr::Call(Function::Decimal, _) => Some(Class::Float),
        other if other.is_number_atom() => Some(Class::Other),
        _ => None,
    }
}

/// Where at least one side is a number on its own or a percentage of one; `None` where the difference has to decide.
fn equal_numbers(gold: &Expr, pred: &Expr, options: &Options) -> Option<Judgement> {
    let (a, b) = (class(gold), class(pred));
    if a.is_none() && b.is_none() {
        return None;
    }
    if a == Some(Class::Float) || b == Some(Class::Float) {
        return rounded(gold, pred, options).filter(|verdict| verdict.equal == Some(true));
    }
    if let (Some(Class::Integer), Some(Class::Integer)) = (a, b) {
        let left = gold.percentage().unwrap_or(gold);
        let right = pred.percentage().unwrap_or(pred);
        if left == right {
            return Some(Judgement::decided(true, "integer"));
        }
    }
    if a == Some(Class::Other) || b == Some(Class::Other) {
        let expressions = principal::expression(gold).zip(principal::expression(pred));
        let Some((left, right)) = expressions else {
            return Some(Judgement::decided(false, "infinity"));
        };
        let (identity, _) = algebra::identical(&left, &right, &mut Budget::default());
        return Some(match identity {
            Identity::Equal => Judgement::decided(true, "infinity"),
            Identity::TooComplex => Judgement::too_complex(),
            _ => Judgement::decided(false, "infinity"),
        });
    }
    None
}

/// Both sides rounded to some places. An integer and a decimal are never the same to `SymPy`, whatever their values.
fn rounded(gold: &Expr, pred: &Expr, options: &Options) -> Option<Judgement> {
    let left = rounding(gold, options)?;
    let right = rounding(pred, options)?;
    Some(Judgement::decided(left == right, "rounding"))
}

/// A value rounded half to even, and whether it is an integer in kind.
fn rounding(term: &Expr, options: &Options) -> Option<(RBig, bool)> {
    let places = options.float_rounding.min(40);
    if let Some((value, float)) = exact(term) {
        let integer = value.is_int() && !float;
        return Some((round_exact(&value, places), integer));
    }
    let near = constant(term)?;
    if near.im != 0.0 && near.im.abs() > near.error {
        return None;
    }
    // sin 0 or √2·√2 comes out as an integer in kind, too.
    let integer = (near.re - near.re.round()).abs() <= near.error;
    let near = RBig::try_from(if integer { near.re.round() } else { near.re }).ok()?;
    Some((round_exact(&near, places), integer))
}

fn round_exact(value: &RBig, places: u32) -> RBig {
    let scale = RBig::from(dashu_int::IBig::from(10).pow(places as usize));
    let scaled = value * &scale;
    let floor = scaled.floor();
    let rest = &scaled - RBig::from(floor.clone());
    let half = RBig::from(1) / RBig::from(2);
    let odd = floor.clone() % dashu_int::IBig::from(2) != dashu_int::IBig::ZERO;
    let up = rest > half || rest == half && odd;
    let whole = if up {
        floor + dashu_int::IBig::from(1)
    } else {
        floor
    };
    RBig::from(whole) / scale
}

pub(super) fn difference(gold: &Expr, pred: &Expr) -> Judgement {
    difference_within(gold, pred, 0.0)
}

/// Is the difference zero, or below what counts?
fn difference_within(gold: &Expr, pred: &Expr, negligible: f64) -> Judgement {
    if gold == pred {
        return Judgement::decided(true, "structure");
    }
    if let (Some(left), Some(right)) = (exact(gold), exact(pred)) {
        let gap = (&left.0 - &right.0).to_f64().value().abs();
        return Judgement::decided(
            algebra::same_value(&left, &right) || gap < negligible && !either_number(gold, pred),
            "rational",
        );
    }
    let symbols = algebra::variables_of([gold, pred]);
    let mut agreed = false;
    match sampled(gold, pred, &symbols, negligible) {
        Some(Sampled::Different) => return Judgement::decided(false, "sampling"),
        Some(Sampled::Negligible) if !either_number(gold, pred) => {
            return Judgement::unproved(true, "chop");
        }
        Some(Sampled::Equal | Sampled::Negligible) => agreed = true,
        None => {}
    }
    let (Some(left), Some(right)) = (principal::expression(gold), principal::expression(pred))
    else {
        return Judgement::decided(false, "no expression");
    };
    match algebra::identical(&left, &right, &mut Budget::default()) {
        (Identity::Equal, method) => Judgement::decided(true, method),
        (Identity::NumericallyEqual, method) => Judgement::unproved(true, method),
        (Identity::Undefined | Identity::TooComplex, _) if agreed => {
            Judgement::unproved(true, "sampling")
        }
        (Identity::Different | Identity::Undefined, method) => Judgement::decided(false, method),
        (Identity::TooComplex, method) => Judgement::open(method),
    }
}

/// Is one of them a number on its own, so that `SymPy` compares exactly?
fn either_number(gold: &Expr, pred: &Expr) -> bool {
    class(gold).is_some() || class(pred).is_some()
}

/// What sample points say.
enum Sampled {
    Different,
    /// Constants that differ by nothing that counts in 15 digits.
    Negligible,
    Equal,
}

/// Compares two terms at sample points; `None` where they have no values there.
fn sampled(gold: &Expr, pred: &Expr, symbols: &[Box<str>], negligible: f64) -> Option<Sampled> {
    if symbols.len() > MAX_SAMPLED {
        return None;
    }
    let mut agreed = 0;
    let mut tiny = false;
    let rows = POINTS.iter().chain(&INTEGER_POINTS);
    for (index, row) in rows.enumerate() {
        let integral = index >= POINTS.len();
        let step = if integral { 1.0 } else { 0.37 };
        let point = principal::point(symbols, row, step, !integral);
        let values = principal::at(gold, &point).zip(principal::at(pred, &point));
        let Some((left, right)) = values else {
            if symbols.is_empty() {
                return None;
            }
            continue;
        };
        let distance = (left.re - right.re).hypot(left.im - right.im);
        if distance > SURE * (left.error + right.error) && distance > 1e-300 {
            if symbols.is_empty() && distance < negligible {
                tiny = true;
            } else {
                return Some(Sampled::Different);
            }
        }
        agreed += 1;
        if symbols.is_empty() {
            let vanish = distance < negligible / 4.0 && left.re.hypot(left.im) < negligible / 4.0;
            return Some(if tiny || vanish {
                Sampled::Negligible
            } else {
                Sampled::Equal
            });
        }
        if agreed >= 4 && index < POINTS.len() {
            break;
        }
    }
    (agreed >= 2).then_some(Sampled::Equal)
}
