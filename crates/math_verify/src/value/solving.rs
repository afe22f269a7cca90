//! When two equations have the solutions that `SymPy` would list for both.
//!
//! Math-Verify compares the lists that `SymPy` returns for all variables at once. For one variable that comparison
//! always fails, unless there is nothing to compare; for several it is the comparison of the zero sets.

use super::equal_terms::{POINTS, difference};
use super::expr::Term;
use super::judge::Judgement;
use super::principal::{at, exact, plain, point, replaced};
use juror_algebra::{self as algebra, Budget, Expr, PointValue};

/// Equations with more variables or more parts are compared as they stand.
const MAX_VARIABLES: usize = 12;
const MAX_SIZE: u64 = 400;

/// Values of the variables for trials.
const TRIALS: [[f64; 5]; 3] = [
    [3.0, 7.0, -5.0, 11.0, 13.0],
    [-4.0, 9.0, 17.0, 6.0, -8.0],
    [0.0; 5],
];

/// Do two equations, written as differences that are zero, have the same solutions?
pub(super) fn same_solutions(a: &Expr, b: &Expr) -> Judgement {
    let (left, right) = (algebra::variables(a), algebra::variables(b));
    if left.len() < 2 || left != right {
        return Judgement::decided(false, "variables");
    }
    if left.len() > MAX_VARIABLES || algebra::size(a).max(algebra::size(b)) >= MAX_SIZE {
        return Judgement::decided(false, "size");
    }
    if is_multiple(a, b, &left) {
        return Judgement::decided(true, "proportional");
    }
    let zero_sets = numerator(a).zip(numerator(b)).is_some_and(|(a, b)| {
        let trials = TRIALS.map(|row| point(&left, &row, 0.0, false));
        left.iter()
            .all(|symbol| trials.iter().all(|trial| same_roots(&a, &b, symbol, trial)))
    });
    Judgement::decided(zero_sets, "zero sets")
}

fn is_multiple(a: &Expr, b: &Expr, symbols: &[Box<str>]) -> bool {
    let quotient = a.clone().divided_by(b.clone());
    let mut ratios = POINTS
        .iter()
        .filter_map(|row| at(&quotient, &point(symbols, row, 1.0, false)));
    let Some(first) = ratios.next() else {
        return false;
    };
    let mut agreed = false;
    for ratio in ratios {
        let size = ratio.re.hypot(ratio.im);
        let gap = (ratio.re - first.re).hypot(ratio.im - first.im);
        if size < 1e-12 || gap > 1_000.0 * (ratio.error + first.error) + 1e-12 * size {
            return false;
        }
        agreed = true;
    }
    if !agreed {
        return false;
    }
    let trial = point(symbols, &TRIALS[0], 0.0, false);
    match (exact(&filled(a, &trial)), exact(&filled(b, &trial))) {
        (Some((left, _)), Some((right, _))) if !left.is_zero() && !right.is_zero() => difference(
            &Expr::Number(right).times(a.clone()),
            &Expr::Number(left).times(b.clone()),
        )
        .is_true(),
        _ => true,
    }
}

/// The numerator over a common denominator.
fn numerator(term: &Expr) -> Option<Expr> {
    Some(algebra::fraction(&plain(term)?).0)
}

fn filled<'s>(term: &Expr, point: impl IntoIterator<Item = &'s (&'s str, PointValue)>) -> Expr {
    point.into_iter().fold(term.clone(), |term, (name, value)| {
        let value = Expr::Number(value.real.clone());
        replaced(&term, &Expr::symbol(name), &value)
    })
}

/// Do two equations have the same real solutions for one variable where the others have given values?
fn same_roots(a: &Expr, b: &Expr, variable: &str, trial: &[(&str, PointValue)]) -> bool {
    let budget = &mut Budget::default();
    let mut polynomial = |term: &Expr| {
        let others = trial.iter().filter(|(name, _)| *name != variable);
        algebra::polynomial(&filled(term, others), variable, budget)
    };
    let Some((a, b)) = polynomial(a).zip(polynomial(b)) else {
        return false;
    };
    if a.is_empty() || b.is_empty() {
        return a.is_empty() && b.is_empty();
    }
    let Some(common) = algebra::common_divisor(&a, &b, budget) else {
        return false;
    };
    let shared = algebra::real_roots(&common, budget);
    shared.is_some()
        && [a, b]
            .iter()
            .all(|polynomial| algebra::real_roots(polynomial, budget) == shared)
}
