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
