use juror_judge::reward::calibration::Calibration;

use super::*;
use crate::eval::calibration_error;

/// The labels with the probabilities that a curve makes of theirs.
fn calibrated(curve: &Curve, seen: &[(f64, bool)]) -> Vec<(f64, bool)> {
    seen.iter()
        .map(|(p, label)| (curve.apply(*p), *label))
        .collect()
}

/// Labels that are true with the square of the probability.
fn overconfident() -> Vec<(f64, bool)> {
    let row = |at: usize| {
        let p = (at % 100) as f64 / 100.0;
        (p, ((at / 100) as f64) < p * p * 50.0)
    };
    (0..5000).map(row).collect()
}

#[test]
fn fitted_curves_are_better_and_ascend() {
    let seen = overconfident();
    let plain = Curve::default();
    let (by_temperature, isotonic) = (fit_temperature(&seen), fit_isotonic(&seen));
    let loss = |curve: &Curve| negative_log_likelihood(curve, &seen);
    assert!(loss(&by_temperature) <= loss(&plain));
    assert!(loss(&isotonic) < loss(&by_temperature));
    assert!(
        calibration_error(&calibrated(&isotonic, &seen)) < 0.01,
        "{isotonic:?}"
    );
    assert!(calibration_error(&seen) > 0.1);
    let mut written = Calibration::default();
    written.outcome = isotonic.clone();
    let written = serde_json::to_string(&written).unwrap();
    assert_eq!(Calibration::parse(&written).unwrap().outcome, isotonic);
    for (p, expected) in [(0.3, 0.09), (0.5, 0.25), (0.9, 0.81)] {
        assert!(
            (isotonic.apply(p) - expected).abs() < 0.02,
            "{p}: {}",
            isotonic.apply(p)
        );
    }
    // What was divided by 3 is found again.
    let hot: Vec<(f64, bool)> = (0..20_000)
        .map(|at| {
            let q = (at % 200) as f64 / 200.0 + 0.0025;
            let label = ((at / 200) as f64) < q * 100.0;
            (Curve::Temperature(1.0 / 3.0).apply(q), label)
        })
        .collect();
    let Curve::Temperature(found) = fit_temperature(&hot) else {
        panic!()
    };
    assert!((found - 3.0).abs() < 0.1, "{found}");
}

#[test]
fn a_curve_at_its_bound_is_told() {
    let fits = |label: fn(usize) -> bool| {
        let seen: Vec<(f64, bool)> = (0..1000)
            .map(|at| ((at % 97) as f64 / 97.0, label(at)))
            .collect();
        [fit_temperature(&seen), fit_isotonic(&seen)]
            .map(|curve| at_bound(&curve).map(|why| why.contains("carry nothing")))
    };
    // The higher the probability, the rarer is a true label; as it says; without a mistake.
    assert_eq!(
        fits(|at| at % 97 < 20 || (at % 97 < 80 && at % 3 == 0)),
        [Some(true), Some(true)]
    );
    assert_eq!(fits(|at| at / 97 * 10 < at % 97), [None, None]);
    assert_eq!(fits(|at| at % 97 > 48), [Some(false), None]);
}
