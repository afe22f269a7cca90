//! When two equations have the solutions that `SymPy` would list for both.
//!
//! Math-Verify compares the lists that `SymPy` returns for all variables at once. For one variable that comparison
//! always fails, unless there is nothing to compare; for several it is the comparison of the zero sets.

use dashu_base::BitTest;
use dashu_ratio::RBig;

use super::Judgement;
use super::relations::vanishes;
use super::sample::{self, Sample};
use super::term::Term;
use super::walk;

/// Polynomials of higher degree are not looked at.
const MAX_DEGREE: usize = 12;
/// Coefficients longer than this are not followed.
const MAX_BITS: usize = 500;
/// Equations with more variables or more parts are compared as they stand.
const MAX_VARIABLES: usize = 12;
const MAX_SIZE: usize = 400;

/// Do two equations, written as differences that are zero, have the same solutions?
pub(super) fn same_solutions(a: &Term, b: &Term) -> Judgement {
    let mut left = Vec::new();
    let mut right = Vec::new();
    walk::symbols(a, &mut left);
    walk::symbols(b, &mut right);
    if left.len() < 2 || right.len() < 2 {
        let nothing = is_without_solution(a, &left) && is_without_solution(b, &right);
        return Judgement::numeric(nothing, "no solutions");
    }
    let same = left.len() == right.len() && left.iter().all(|symbol| right.contains(symbol));
    if !same {
        return Judgement::decided(false, "variables");
    }
    let large = |term: &Term| walk::size(term, MAX_SIZE) >= MAX_SIZE;
    if left.len() > MAX_VARIABLES || large(a) || large(b) {
        return Judgement::decided(false, "size");
    }
    if is_multiple(a, b, &left) {
        return Judgement::decided(true, "proportional");
    }
    let (upper_a, upper_b) = (numerator(a), numerator(b));
    let zero_sets = left.iter().all(|symbol| {
        (0..TRIALS.len()).all(|trial| same_roots(&upper_a, &upper_b, symbol, &left, trial))
    });
    Judgement::decided(zero_sets, "zero sets")
}

/// Does the equation have no real solution that `SymPy` lists: it is about no variable, always true, or never?
fn is_without_solution(term: &Term, symbols: &[Term]) -> bool {
    if symbols.is_empty() {
        return true;
    }
    if walk::size(term, MAX_SIZE) >= MAX_SIZE || symbols.len() > MAX_VARIABLES {
        return false;
    }
    if let [symbol] = symbols
        && let Some(polynomial) = polynomial(&numerator(term), symbol)
    {
        return polynomial.len() <= 1 || real_roots(&polynomial) == 0;
    }
    !has_call(term) && !walk::is_heavy(term) && never_vanishes(term, symbols)
}

/// Does a function without a meaning occur? `SymPy` solves nothing then.
fn has_call(term: &Term) -> bool {
    match term {
        Term::Apply(..) => true,
        Term::Add(items) | Term::Multiply(items) | Term::Call(_, items) => {
            items.iter().any(has_call)
        }
        Term::Power(power) => has_call(&power.0) || has_call(&power.1),
        _ => false,
    }
}

/// Does a term keep its sign, or an imaginary part, wherever it is tried? Variables beyond the first have fixed values.
fn never_vanishes(term: &Term, symbols: &[Term]) -> bool {
    const DENSE: i32 = 120;
    let mut point: Vec<(Term, Sample)> = integers(symbols, 0)
        .into_iter()
        .filter_map(|(symbol, value)| Some((symbol, sample::at(&value, &[])?)))
        .collect();
    let near = (-DENSE..=DENSE).map(|step| f64::from(step) * 0.217 + 0.0101);
    let far = (1..=9).flat_map(|power| {
        let size = 31.7 * 10_f64.powi(power);
        [size, -size, 1.0 / size, -1.0 / size]
    });
    let mut tried = 0;
    let mut sign = 0.0;
    for x in near.chain(far) {
        if let Some(first) = point.first_mut() {
            first.1 = Sample::real(x);
            first.1.error = 0.0;
        }
        let Some(value) = sample::at(term, &point) else {
            continue;
        };
        tried += 1;
        if value.im.abs() > value.error {
            continue;
        }
        if value.re.abs() <= value.error || sign * value.re < 0.0 {
            return false;
        }
        sign = value.re;
    }
    tried > 20 && (symbols.len() == 1 || sign == 0.0)
}

/// Values of the variables for trials.
const TRIALS: [[i64; 5]; 3] = [[3, 7, -5, 11, 13], [-4, 9, 17, 6, -8], [0; 5]];

/// Whole-numbered values of the variables for a trial.
fn integers(symbols: &[Term], trial: usize) -> Vec<(Term, Term)> {
    let row = TRIALS[trial % TRIALS.len()];
    symbols
        .iter()
        .enumerate()
        .map(|(at, symbol)| (symbol.clone(), Term::integer(row[at % row.len()])))
        .collect()
}

/// Is the one a constant multiple of the other?
fn is_multiple(a: &Term, b: &Term, symbols: &[Term]) -> bool {
    const POINTS: [[f64; 4]; 4] = [
        [1.372_91, 0.618_27, 2.417_53, 1.829_31],
        [0.731_57, 1.913_71, 1.273_13, 0.457_19],
        [2.713_43, 1.372_17, 0.839_11, 2.219_77],
        [-1.911_39, 0.527_93, -1.617_77, 0.913_37],
    ];
    let mut first: Option<Sample> = None;
    let mut agreed = 0;
    for row in POINTS {
        let point: Vec<(Term, Sample)> = symbols
            .iter()
            .enumerate()
            .map(|(at, symbol)| {
                let mut value = Sample::real(row[at % row.len()] + (at / row.len()) as f64);
                value.error = 0.0;
                (symbol.clone(), value)
            })
            .collect();
        let (Some(left), Some(right)) = (sample::at(a, &point), sample::at(b, &point)) else {
            continue;
        };
        let ratio = left.over(right);
        if !ratio.is_finite() {
            continue;
        }
        if ratio.size() < 1e-12 {
            return false;
        }
        match first {
            None => first = Some(ratio),
            Some(first) => {
                let gap = ratio.minus(first);
                if gap.size() > 1_000.0 * gap.error + 1e-12 * ratio.size() {
                    return false;
                }
                agreed += 1;
            }
        }
    }
    if agreed == 0 {
        return false;
    }
    let mut left = a.clone();
    let mut right = b.clone();
    for (symbol, value) in integers(symbols, 0) {
        left = walk::replaced(&left, &symbol, &value);
        right = walk::replaced(&right, &symbol, &value);
    }
    match (walk::exact(&left), walk::exact(&right)) {
        (Some((left, _)), Some((right, _))) if !left.is_zero() && !right.is_zero() => vanishes(
            &Term::Number(right).times(a.clone()),
            &Term::Number(left).times(b.clone()),
        ),
        _ => true,
    }
}

/// The numerator over a common denominator.
fn numerator(term: &Term) -> Term {
    over_common(term, 0).0
}

/// Numerator and denominator.
fn over_common(term: &Term, depth: u32) -> (Term, Term) {
    let one = || Term::integer(1);
    if depth > 30 {
        return (term.clone(), one());
    }
    match term {
        Term::Add(items) => {
            let mut upper: Option<Term> = None;
            let mut lower = one();
            for item in items {
                let (item_upper, item_lower) = over_common(item, depth + 1);
                upper = Some(match upper {
                    None => item_upper,
                    Some(total) if item_lower == lower => Term::Add(vec![total, item_upper]),
                    Some(total) => {
                        let sum = Term::Add(vec![
                            Term::Multiply(vec![total, item_lower.clone()]),
                            Term::Multiply(vec![item_upper, lower.clone()]),
                        ]);
                        lower = Term::Multiply(vec![lower, item_lower]);
                        upper = Some(sum);
                        continue;
                    }
                });
                if upper.is_some() && lower == one() {
                    lower = item_lower;
                }
            }
            (upper.unwrap_or_else(|| Term::integer(0)), lower)
        }
        Term::Multiply(items) => {
            let (uppers, lowers): (Vec<Term>, Vec<Term>) = items
                .iter()
                .map(|item| over_common(item, depth + 1))
                .unzip();
            let lowers: Vec<Term> = lowers.into_iter().filter(|lower| *lower != one()).collect();
            let lower = if lowers.is_empty() {
                one()
            } else {
                Term::Multiply(lowers)
            };
            (Term::Multiply(uppers), lower)
        }
        Term::Power(power) => match power.1.as_rational() {
            Some(exponent) if *exponent < RBig::ZERO => {
                let flipped = Term::Number(-exponent.clone());
                let (upper, lower) = over_common(&power.0, depth + 1);
                (
                    Term::power(lower, flipped.clone()),
                    Term::power(upper, flipped),
                )
            }
            Some(exponent) if exponent.is_int() => {
                let (upper, lower) = over_common(&power.0, depth + 1);
                if lower == one() {
                    (term.clone(), lower)
                } else {
                    (
                        Term::power(upper, power.1.clone()),
                        Term::power(lower, power.1.clone()),
                    )
                }
            }
            _ => (term.clone(), one()),
        },
        other => (other.clone(), one()),
    }
}

/// The coefficients in one variable, from the constant up; `None` where it is no polynomial with rational ones.
pub(super) fn polynomial(term: &Term, variable: &Term) -> Option<Vec<RBig>> {
    if term == variable {
        return Some(vec![RBig::ZERO, RBig::from(1)]);
    }
    if let Some((value, _)) = walk::exact(term) {
        return Some(trimmed(vec![value]));
    }
    match term {
        Term::Unevaluated(inner) => polynomial(inner, variable),
        Term::Add(items) => {
            let mut total: Vec<RBig> = Vec::new();
            for item in items {
                let part = polynomial(item, variable)?;
                if part.len() > total.len() {
                    total.resize(part.len(), RBig::ZERO);
                }
                for (sum, coefficient) in total.iter_mut().zip(part) {
                    *sum += coefficient;
                }
            }
            Some(trimmed(total))
        }
        Term::Multiply(items) => {
            let mut total = vec![RBig::from(1)];
            for item in items {
                total = product(&total, &polynomial(item, variable)?)?;
            }
            Some(total)
        }
        Term::Power(power) => {
            let count = usize::try_from(power.1.as_integer()?).ok()?;
            if count > MAX_DEGREE {
                return None;
            }
            let base = polynomial(&power.0, variable)?;
            let mut total = vec![RBig::from(1)];
            for _ in 0..count {
                total = product(&total, &base)?;
            }
            Some(total)
        }
        _ => None,
    }
}

fn trimmed(mut coefficients: Vec<RBig>) -> Vec<RBig> {
    while coefficients.last().is_some_and(RBig::is_zero) {
        coefficients.pop();
    }
    coefficients
}

fn product(a: &[RBig], b: &[RBig]) -> Option<Vec<RBig>> {
    if a.is_empty() || b.is_empty() {
        return Some(Vec::new());
    }
    if a.len() + b.len() > MAX_DEGREE + 2 {
        return None;
    }
    let mut total = vec![RBig::ZERO; a.len() + b.len() - 1];
    for (i, left) in a.iter().enumerate() {
        for (j, right) in b.iter().enumerate() {
            total[i + j] += left * right;
        }
    }
    let short = total.iter().all(|coefficient| {
        coefficient.numerator().bit_len() + coefficient.denominator().bit_len() < MAX_BITS
    });
    short.then(|| trimmed(total))
}

/// What remains of a division.
fn remainder(a: &[RBig], b: &[RBig]) -> Vec<RBig> {
    let mut rest = a.to_vec();
    while rest.len() >= b.len() && !b.is_empty() {
        let (Some(lead), Some(divisor)) = (rest.last().cloned(), b.last()) else {
            break;
        };
        let factor = lead / divisor;
        let shift = rest.len() - b.len();
        for (at, coefficient) in b.iter().enumerate() {
            rest[shift + at] -= &factor * coefficient;
        }
        rest.pop();
        rest = trimmed(rest);
    }
    rest
}

fn monic(mut coefficients: Vec<RBig>) -> Vec<RBig> {
    if let Some(lead) = coefficients.last().cloned() {
        for coefficient in &mut coefficients {
            *coefficient /= &lead;
        }
    }
    coefficients
}

fn common_divisor(a: &[RBig], b: &[RBig]) -> Vec<RBig> {
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    while !b.is_empty() {
        let rest = monic(remainder(&a, &b));
        a = b;
        b = rest;
    }
    monic(a)
}

fn derivative(coefficients: &[RBig]) -> Vec<RBig> {
    coefficients
        .iter()
        .enumerate()
        .skip(1)
        .map(|(at, coefficient)| coefficient * RBig::from(at as u64))
        .collect()
}

/// Do two polynomials have the same real roots, however often each counts?
fn same_real_roots(a: &[RBig], b: &[RBig]) -> bool {
    if a.is_empty() || b.is_empty() {
        return a.is_empty() && b.is_empty();
    }
    // What is left of a polynomial when the roots of the other are taken out must have no real ones.
    let covered = |part: &[RBig], whole: &[RBig]| {
        let mut rest = part.to_vec();
        for _ in 0..part.len() {
            let shared = common_divisor(&rest, whole);
            if shared.len() <= 1 {
                break;
            }
            rest = quotient(&rest, &shared);
        }
        rest.len() <= 1 || real_roots(&rest) == 0
    };
    covered(a, b) && covered(b, a)
}

fn quotient(a: &[RBig], b: &[RBig]) -> Vec<RBig> {
    let mut rest = a.to_vec();
    let mut result = vec![RBig::ZERO; (a.len() + 1).saturating_sub(b.len())];
    while rest.len() >= b.len() && !rest.is_empty() {
        let (Some(lead), Some(divisor)) = (rest.last().cloned(), b.last()) else {
            break;
        };
        let factor = lead / divisor;
        let shift = rest.len() - b.len();
        for (at, coefficient) in b.iter().enumerate() {
            rest[shift + at] -= &factor * coefficient;
        }
        result[shift] = factor;
        rest.pop();
        rest = trimmed(rest);
    }
    trimmed(result)
}

/// How many real roots there are, by Sturm's theorem.
fn real_roots(coefficients: &[RBig]) -> usize {
    let mut chain = vec![coefficients.to_vec(), derivative(coefficients)];
    while let [.., before, last] = chain.as_slice() {
        if last.len() <= 1 {
            break;
        }
        let mut rest = remainder(before, last);
        for coefficient in &mut rest {
            *coefficient = -coefficient.clone();
        }
        if rest.is_empty() {
            break;
        }
        chain.push(rest);
    }
    let changes = |at_minus_infinity: bool| {
        let mut count = 0;
        let mut before = 0;
        for polynomial in &chain {
            let Some(lead) = polynomial.last() else {
                continue;
            };
            let odd = (polynomial.len() - 1) % 2 == 1;
            let mut sign = if *lead > RBig::ZERO { 1 } else { -1 };
            if at_minus_infinity && odd {
                sign = -sign;
            }
            if before != 0 && sign != before {
                count += 1;
            }
            before = sign;
        }
        count
    };
    changes(true) - changes(false)
}

/// Do two equations have the same solutions for one variable where the others have given values?
fn same_roots(a: &Term, b: &Term, variable: &Term, symbols: &[Term], trial: usize) -> bool {
    let mut left = a.clone();
    let mut right = b.clone();
    for (symbol, value) in integers(symbols, trial) {
        if symbol != *variable {
            left = walk::replaced(&left, &symbol, &value);
            right = walk::replaced(&right, &symbol, &value);
        }
    }
    match (polynomial(&left, variable), polynomial(&right, variable)) {
        (Some(left), Some(right)) => same_real_roots(&left, &right),
        _ => false,
    }
}
