//! Curves from a judge's probabilities to how often it is right with them, fitted to labels.

use juror_judge::reward::calibration::Curve;

/// A probability is kept this far from 0 and 1, where a likelihood has no logarithm.
const ROUNDED: f64 = 1e-7;

/// The temperatures among which one is fitted.
const LOWEST: f64 = 0.02;
const HIGHEST: f64 = 50.0;

/// The temperature with the least negative log-likelihood of the labels.
pub fn fit_temperature(seen: &[(f64, bool)]) -> Curve {
    let loss = |log: f64| negative_log_likelihood(&Curve::Temperature(log.exp()), seen);
    // The loss has one minimum in the logarithm of the temperature: the golden section closes in on it.
    let (mut low, mut high) = (LOWEST.ln(), HIGHEST.ln());
    let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
    for _ in 0..60 {
        let (a, b) = (high - golden * (high - low), low + golden * (high - low));
        if loss(a) < loss(b) {
            high = b;
        } else {
            low = a;
        }
    }
    Curve::Temperature(f64::midpoint(low, high).exp())
}

/// What it means that a fitted curve is at the bound of what can be fitted; `None` if it is not.
pub fn at_bound(curve: &Curve) -> Option<&'static str> {
    const NOTHING: &str = "the probabilities carry nothing about the labels: the fit ended at its bound, where every verdict has \
                           nearly the same one";
    match curve {
        Curve::Temperature(temperature) if *temperature > 0.99 * HIGHEST => Some(NOTHING),
        Curve::Temperature(temperature) if *temperature < 1.01 * LOWEST => Some(
            "every label is on the side of its probability: the fit ended at its bound, and how sure the judge may be cannot be \
             told from these labels",
        ),
        Curve::Isotonic(points) => {
            let is_flat = points.windows(2).all(|pair| pair[0][1] >= pair[1][1]);
            is_flat.then_some(NOTHING)
        }
        Curve::Temperature(_) => None,
    }
}

/// The ascending curve with the least squared error of the labels (pool adjacent violators).
pub fn fit_isotonic(seen: &[(f64, bool)]) -> Curve {
    let mut sorted: Vec<(f64, bool)> = seen.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Each block: how many, the sum of their probabilities, and how many are true.
    let mut blocks: Vec<(f64, f64, f64)> = Vec::new();
    let share = |block: &(f64, f64, f64)| block.2 / block.0;
    // Labels of one probability are one block, whatever their order.
    for same in sorted.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        let count = same.len() as f64;
        let yes = same.iter().filter(|(_, label)| *label).count();
        blocks.push((count, count * same[0].0, yes as f64));
        while let [.., before, last] = blocks.as_slice()
            && share(before) >= share(last)
        {
            let joined = (before.0 + last.0, before.1 + last.1, before.2 + last.2);
            blocks.truncate(blocks.len() - 2);
            blocks.push(joined);
        }
    }
    let points = blocks.iter().map(|block| {
        // One more of each kind: a block without a wrong label is no certainty.
        [block.1 / block.0, (block.2 + 1.0) / (block.0 + 2.0)]
    });
    let mut points: Vec<[f64; 2]> = points.collect();
    let mut least = 0.0_f64;
    for point in &mut points {
        least = least.max(point[1]);
        point[1] = least;
    }
    Curve::Isotonic(points)
}

/// The mean negative log-likelihood of labels under calibrated probabilities.
pub fn negative_log_likelihood(curve: &Curve, seen: &[(f64, bool)]) -> f64 {
    let loss = |&(probability, label): &(f64, bool)| {
        let p = curve.apply(probability).clamp(ROUNDED, 1.0 - ROUNDED);
        if label { -p.ln() } else { -(1.0 - p).ln() }
    };
    seen.iter().map(loss).sum::<f64>() / seen.len().max(1) as f64
}

#[cfg(test)]
mod tests;
