use super::*;

#[test]
fn temperature_moves_a_confidence_towards_one_half() {
    let confidence = Confidence {
        process: Some(0.9),
        outcome: Some(0.01),
        ..Confidence::default()
    };
    let certainty = |process, outcome| {
        let calibration = Calibration {
            process: Curve::Temperature(process),
            outcome: Curve::Temperature(outcome),
            ..Calibration::default()
        };
        calibration.certainty(&confidence, Yields::ALL).unwrap()
    };
    assert!((certainty(1.0, 1.0) - 0.9).abs() < 1e-6);
    // Odds of 9 become 3.
    assert!((certainty(2.0, 1.0) - 0.75).abs() < 1e-6);
    // Odds of 99 become about 2.15.
    let odds = 99f64.powf(1.0 / 6.0);
    assert!((certainty(1.0, 6.0) - odds / (1.0 + odds)).abs() < 1e-6);
    let certain = Confidence {
        process: Some(1.0),
        outcome: Some(0.0),
        ..confidence
    };
    let humble = Calibration {
        process: Curve::Temperature(1e6),
        outcome: Curve::Temperature(1e6),
        ..Calibration::default()
    };
    assert!((humble.certainty(&certain, Yields::ALL).unwrap() - 0.5).abs() < 1e-4);
    let none = Calibration::default();
    assert_eq!(none.certainty(&certain, Yields::ALL), Some(1.0));
    assert_eq!(none.certainty(&Confidence::default(), Yields::ALL), None);
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
    let (by_temperature, isotonic) = (Curve::fit_temperature(&seen), Curve::fit_isotonic(&seen));
    let loss = |curve: &Curve| negative_log_likelihood(curve, &seen);
    assert!(loss(&by_temperature) <= loss(&plain));
    assert!(loss(&isotonic) < loss(&by_temperature));
    assert!(calibration_error(&isotonic, &seen) < 0.01, "{isotonic:?}");
    assert!(calibration_error(&plain, &seen) > 0.1);
    assert_eq!(isotonic.check(), Ok(()));
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
    let Curve::Temperature(found) = Curve::fit_temperature(&hot) else {
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
        [Curve::fit_temperature(&seen), Curve::fit_isotonic(&seen)]
            .map(|curve| curve.at_bound().map(|why| why.contains("carry nothing")))
    };
    // The higher the probability, the rarer is a true label; as it says; without a mistake.
    assert_eq!(
        fits(|at| at % 97 < 20 || (at % 97 < 80 && at % 3 == 0)),
        [Some(true), Some(true)]
    );
    assert_eq!(fits(|at| at / 97 * 10 < at % 97), [None, None]);
    assert_eq!(fits(|at| at % 97 > 48), [Some(false), None]);
}

#[test]
fn what_is_no_calibration_is_refused() {
    for (text, why) in [
        (
            "{\"process\": {\"temperature\": 0}}",
            "process: temperature 0 must be above 0",
        ),
        ("{\"outcome\": {\"isotonic\": []}}", "ascending"),
        (
            "{\"outcome\": {\"isotonic\": [[0.5, 0.6], [0.4, 0.7]]}}",
            "ascending",
        ),
        ("{\"outcome\": {\"isotonic\": [[0.5, 1.6]]}}", "ascending"),
        ("{\"whole\": {}}", "unknown field"),
    ] {
        let error = Calibration::parse(text).unwrap_err();
        assert!(error.contains(why), "{text}: {error}");
    }
}
