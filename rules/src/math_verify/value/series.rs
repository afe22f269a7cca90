//! Sums, products and integrals at sample points.

use std::cell::Cell;

use super::sample::{Point, Sample, evaluated};
use super::term::{Binder, Term};
use crate::algebra::BinderKind;

/// Sums and products are followed over at most this many steps.
const MAX_STEPS: i64 = 2_000;

/// Sums, products and integrals.
pub(super) fn series(binder: &Binder, point: &Point, work: &Cell<u32>) -> Option<Sample> {
    let mut inside: Vec<(Term, Sample)> = point
        .iter()
        .filter(|(symbol, _)| *symbol != binder.variable)
        .cloned()
        .collect();
    inside.push((binder.variable.clone(), Sample::exactly(0.0)));
    let mut body = |value: Sample| -> Option<Sample> {
        if let Some(last) = inside.last_mut() {
            last.1 = value;
        }
        evaluated(&binder.body, &inside, work).filter(|value| value.is_finite())
    };
    let lower = binder.lower.as_ref()?;
    let upper = binder.upper.as_ref()?;
    match binder.kind {
        BinderKind::Sum if *upper == Term::Infinity => {
            let from = whole(evaluated(lower, point, work)?)?;
            infinite_sum(from, &mut body)
        }
        BinderKind::Sum | BinderKind::Product => {
            let from = whole(evaluated(lower, point, work)?)?;
            let to = whole(evaluated(upper, point, work)?)?;
            if to.checked_sub(from)? > MAX_STEPS {
                return None;
            }
            let sum = binder.kind == BinderKind::Sum;
            let mut total = Sample::exactly(if sum { 0.0 } else { 1.0 });
            for step in from..=to {
                let value = body(Sample::exactly(step as f64))?;
                total = if sum {
                    total.plus(value)
                } else {
                    total.times(value)
                };
            }
            Some(total)
        }
        BinderKind::Integral => {
            let from = evaluated(lower, point, work)?;
            let to = evaluated(upper, point, work)?;
            if from.im != 0.0 || to.im != 0.0 {
                return None;
            }
            integral(from.re, to.re, &mut body)
        }
        BinderKind::Derivative | BinderKind::Limit => None,
    }
}

fn whole(value: Sample) -> Option<i64> {
    (value.im == 0.0 && value.re.fract() == 0.0 && value.re.abs() < 1e9).then_some(value.re as i64)
}

/// A sum without end that converges fast, or like a power of 1/k: then by extrapolation from partial sums.
fn infinite_sum(from: i64, body: &mut impl FnMut(Sample) -> Option<Sample>) -> Option<Sample> {
    const LEVELS: usize = 9;
    let mut total = Sample::exactly(0.0);
    let mut partial = Vec::with_capacity(LEVELS);
    let mut step = 0_i64;
    let mut target = 4;
    while partial.len() < LEVELS {
        while step < target {
            let term = body(Sample::exactly((from + step) as f64))?;
            total = total.plus(term);
            step += 1;
            if step > 8 && term.size() < 1e-18 * (1e-300 + total.size()) {
                return Some(total);
            }
        }
        partial.push(total.re);
        target *= 2;
    }
    // The remainders of smooth terms are series in 1/n.
    let mut table = partial;
    let mut last = *table.last()?;
    let mut gap = f64::INFINITY;
    let mut weight = 1.0;
    for _ in 1..LEVELS {
        weight *= 2.0;
        table = table
            .windows(2)
            .map(|pair| (weight * pair[1] - pair[0]) / (weight - 1.0))
            .collect();
        let now = *table.last()?;
        gap = (now - last).abs();
        last = now;
        if gap < 1e-13 * last.abs() {
            break;
        }
    }
    (gap < 1e-8 * last.abs()).then(|| Sample::new(last, 0.0, gap.max(last.abs() * 1e-13) * 10.0))
}

/// A definite integral by Gauss' rule on ever more pieces.
fn integral(from: f64, to: f64, body: &mut impl FnMut(Sample) -> Option<Sample>) -> Option<Sample> {
    const NODES: [(f64, f64); 4] = [
        (0.183_434_642_495_649_8, 0.362_683_783_378_362),
        (0.525_532_409_916_329, 0.313_706_645_877_887_3),
        (0.796_666_477_413_626_7, 0.222_381_034_453_374_5),
        (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
    ];
    let mut last: Option<Sample> = None;
    for pieces in [4_i32, 12] {
        let width = (to - from) / f64::from(pieces);
        let mut total = Sample::exactly(0.0);
        for piece in 0..pieces {
            let middle = from + width * (f64::from(piece) + 0.5);
            for (node, weight) in NODES {
                for side in [-1.0, 1.0] {
                    let value = body(Sample::exactly(middle + side * node * width / 2.0))?;
                    total = total.plus(value.times(Sample::exactly(weight * width / 2.0)));
                }
            }
        }
        if let Some(before) = last {
            let gap = total.minus(before).size();
            if gap > 1e-6 * total.size().max(1e-6) {
                return None;
            }
            total.error = (total.error + gap).max(total.size() * 1e-14);
        }
        last = Some(total);
    }
    last
}
