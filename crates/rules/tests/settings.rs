//! Settings of the strict profile that are none of Math-Verify's, and what cannot be read.

#![allow(clippy::unwrap_used)]

use juror_rules::{AnswerFormat, Config, Profile, Role, Status, Verification, Verifier};

fn verification(config: &str, gold: &str, pred: &str) -> Verification {
    let config: Config = serde_json::from_str(config).unwrap();
    Verifier::new(Profile::Strict, config).verify(gold, pred)
}

fn verify(config: &str, gold: &str, pred: &str) -> Option<bool> {
    verification(config, gold, pred).equal
}

#[test]
fn a_bare_number_is_what_the_settings_say_against_percent_and_cents() {
    let pairs = [
        ("percent", "20", r"\boxed{20\%}"),
        ("percent", "20%", "The answer is 20."),
        ("percent", "12.5", "12.5 percent"),
        ("percent", r"20\%", "#### 20"),
        ("cents", "50", r"\boxed{50} cents"),
        ("cents", "50 cents", "The answer is 50."),
        ("cents", "$0.50", "50"),
        ("cents", "75", "75¢"),
    ];
    for (setting, gold, pred) in pairs {
        for (value, equal) in [
            ("open", None),
            ("same", Some(true)),
            ("distinct", Some(false)),
        ] {
            let config = format!(r#"{{"{setting}": "{value}"}}"#);
            assert_eq!(verify(&config, gold, pred), equal, "{config} {gold} {pred}");
        }
        let found = verification("{}", gold, pred);
        assert_eq!(
            (found.equal, found.status),
            (None, Status::Ambiguous),
            "{found:?}"
        );
    }
    // What is the same amount is equal, and another number different, whatever the settings say.
    for value in ["open", "same", "distinct"] {
        let config = format!(r#"{{"percent": "{value}", "cents": "{value}"}}"#);
        assert_eq!(verify(&config, "0.2", r"\boxed{20\%}"), Some(true));
        assert_eq!(verify(&config, "0.50 dollars", "50 cents"), Some(true));
        assert_eq!(verify(&config, "20", r"\boxed{21\%}"), Some(false));
        assert_eq!(
            verify(&config, "50", "The answer is 51 cents."),
            Some(false)
        );
    }
    let unknown = serde_json::from_str::<Config>(r#"{"percent": "maybe"}"#);
    assert!(unknown.unwrap_err().to_string().contains("`percent`"));
}

#[test]
fn only_boxes_answer_where_that_is_asked_for() {
    let only = r#"{"boxed_only": true}"#;
    assert_eq!(verify(only, "5", r"\boxed{5}"), Some(true));
    assert_eq!(
        verify(only, "5", r"Of \boxed{7} the answer is 5."),
        Some(false)
    );
    assert_eq!(verify(only, "5", "The answer is 5."), Some(false));
    assert_eq!(
        verify(only, "2, 3", r"$\boxed{2}$ and $\boxed{3}$"),
        Some(true)
    );
    assert_ne!(
        verify(only, "3", r"$\boxed{2}$ and $\boxed{3}$"),
        Some(true)
    );
    assert_eq!(
        verify(only, "(a) 5 (b) 6", r"(a) $\boxed{5}$ and (b) $\boxed{6}$"),
        Some(true)
    );
    assert_eq!(
        verify(only, "0.5", r"\boxed{1} so \boxed{\frac{1}{2}}."),
        Some(true)
    );
    // The unit of a box stands after it.
    assert_eq!(verify(only, "5 km", r"It is \boxed{5} km."), Some(true));
    assert_eq!(verify(only, "5 km", r"$\boxed{5}$ m."), Some(false));
    assert_eq!(verify(only, "5 km", r"\boxed{5}\text{ km}"), Some(true));
    assert_eq!(verify(only, "5 m^2", r"\boxed{5} m$^2$"), Some(true));
    assert_eq!(verify(only, "5 €", r"€\boxed{5}"), Some(true));
    // What stands beside a box changes it here, too.
    for (gold, pred) in [
        ("2 hours", r"\boxed{2} hours and 30 minutes"),
        ("5 m", r"\boxed{5} m$^2$"),
        ("$5", r"€\boxed{5}"),
        ("12", r"\boxed{12}\pi"),
        ("12", r"\boxed{12} or 13"),
        ("12", r"It is not \boxed{12}."),
        ("12", r"\boxed{12}. Wait, that is wrong."),
    ] {
        assert_ne!(verify(only, gold, pred), Some(true), "{gold} {pred}");
    }
    let config: Config = serde_json::from_str(only).unwrap();
    let strict = Verifier::new(Profile::Strict, config.clone());
    for none in [
        "5",
        r"<think>\boxed{5}</think> It is 5.",
        r"\boxed{4} or \boxed{5",
    ] {
        assert_eq!(strict.verify("5", none).status, Status::NoAnswer, "{none}");
    }
    let parts = strict.parts("(a) 5, (b) 6", "The answer is (a) 5, (b) 6.");
    assert_eq!(parts, [None, None]);
    assert_eq!(strict.read("It is 5.", Role::Prediction), []);
    for profile in [Profile::Strict, Profile::Compat] {
        let verifier = Verifier::new(profile, config.clone());
        let verification = verifier.verify("5", "The answer is 5.");
        assert_eq!(verification.status, Status::NoAnswer, "{profile:?}");
        assert_eq!(
            verifier.verify("5", r"\boxed{5}").equal,
            Some(true),
            "{profile:?}"
        );
    }
}

#[test]
fn what_cannot_be_read_is_compared_as_text_unless_that_is_switched_off() {
    let pred = r"The answer is $\widget  {3}{4}$.";
    assert_eq!(verify("{}", r"\widget{3}{4}", pred), Some(true));
    assert_eq!(verify("{}", r"\widget{3}{5}", pred), None);
    assert_eq!(
        verify("{}", r"\widget{34}", r"The answer is $\widget{3 4}$."),
        None
    );
    let without = r#"{"fallback_mode": "no_fallback"}"#;
    assert_eq!(verify(without, r"\widget{3}{4}", pred), None);
}

#[test]
fn a_pattern_reads_no_answer_in_what_a_tool_gave_back() {
    let response = "Answer: 83\n<tool_response>\nAnswer: 84\n</tool_response>";
    let format = AnswerFormat::pattern(r"Answer: (\d+)").unwrap();
    let verifier = Verifier::new(Profile::Strict, Config::default());
    let equal = |gold| verifier.verify_any([gold], None, response, &format).equal;
    assert_eq!([equal("83"), equal("84")], [Some(true), Some(false)]);
}

#[test]
fn what_stands_in_passing_before_a_tools_result_is_open_in_any_format() {
    let response = "So far 7 * 12 = 84\n<tool_response>\n89\n</tool_response>";
    let verifier = Verifier::new(Profile::Strict, Config::default());
    let format = AnswerFormat::default();
    let equal = |gold| verifier.verify_any([gold], None, response, &format).equal;
    assert_eq!(equal("84"), None);
}
