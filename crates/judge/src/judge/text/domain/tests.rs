use super::{Domain, RefusalRates};

#[test]
fn doubts_of_the_domain_are_those_before_it_is_said() {
    let domain = Domain {
        description: String::new(),
        outside: "domain out".into(),
        inside: "domain in".into(),
        least: 0.9,
        rules_must_agree: false,
        one_reference: false,
    };
    // Two tokens say that it is inside.
    assert!(domain.is_doubtful(&[(1, 0.8)], 2));
    assert!(!domain.is_doubtful(&[(1, 0.95), (2, 0.1)], 2));
    assert!(!domain.is_doubtful(&[], 2));
}

#[test]
fn lucky_guesses_are_what_errors_do_not_explain() {
    let rates = RefusalRates {
        sound: 0.1,
        lucky: 0.9,
    };
    // Of 100 right results 20 are lucky: 18 of them are refused, and 8 of the others.
    assert!((rates.lucky_guesses(26, 100) - 18.0).abs() < 1e-9);
    // Errors alone explain them; or nothing else could have been refused.
    assert!(rates.lucky_guesses(9, 100).abs() < f64::EPSILON);
    assert!((rates.lucky_guesses(3, 3) - 3.0).abs() < f64::EPSILON);
    assert!(rates.check().is_ok());
    for (sound, lucky) in [(0.9, 0.1), (0.1, 1.1), (f64::NAN, 0.9), (0.5, 0.5)] {
        assert!(RefusalRates { sound, lucky }.check().is_err());
    }
}
