//! Means and percentiles of times.

use serde::Serialize;

/// A distribution of times, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub mean: f64,
    pub std: f64,
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
}

impl Spread {
    /// The distribution of times in seconds, in any order; `None` if there are none.
    pub(crate) fn of_seconds(mut times: Vec<f64>) -> Option<Self> {
        if times.is_empty() {
            return None;
        }
        for time in &mut times {
            *time *= 1e3;
        }
        times.sort_unstable_by(f64::total_cmp);
        let count = times.len() as f64;
        let mean = times.iter().sum::<f64>() / count;
        let variance = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / count;
        Some(Self {
            mean,
            std: variance.sqrt(),
            p50: percentile(&times, 0.50),
            p95: percentile(&times, 0.95),
            p99: percentile(&times, 0.99),
        })
    }
}

/// A percentile, interpolated between the two closest ranks as by numpy's default. `sorted` must not be empty.
fn percentile(sorted: &[f64], share: f64) -> f64 {
    let rank = share * (sorted.len() - 1) as f64;
    let below = rank.floor() as usize;
    sorted[below] + (sorted[(below + 1).min(sorted.len() - 1)] - sorted[below]) * rank.fract()
}

#[cfg(test)]
mod tests {
    use super::Spread;

    #[test]
    fn percentiles_lie_between_ranks() {
        let spread = Spread::of_seconds((1..=5).rev().map(f64::from).collect()).unwrap();
        assert!((spread.mean - 3000.0).abs() < 1e-9 && (spread.p50 - 3000.0).abs() < 1e-9);
        assert!((spread.p95 - 4800.0).abs() < 1e-9 && (spread.p99 - 4960.0).abs() < 1e-9);
        assert!((spread.std - 1e3 * 2.0f64.sqrt()).abs() < 1e-6);
        assert_eq!(Spread::of_seconds(Vec::new()), None);
    }
}
