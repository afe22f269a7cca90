use super::*;

#[test]
fn names_lead_back_to_their_profiles() {
    for profile in RulesProfile::ALL {
        assert_eq!(profile.to_string().parse(), Ok(profile));
    }
    assert_eq!(format!("{:>8}", RulesProfile::Strict), "  strict");
    assert_eq!(
        "loose"
            .parse::<RulesProfile>()
            .map_err(|error| error.to_string()),
        Err(
            "no rules profile `loose`; there is strict, compat, gsm8k, official, strict-match, flexible-extract, multi"
                .to_owned()
        )
    );
}

#[test]
fn a_description_names_what_decides_verdicts() {
    let described = |profile, config| OutcomeRules::new(profile, config).describe();
    assert_eq!(described(RulesProfile::Strict, Config::default()), "strict");
    let config = Config {
        float_rounding: 2,
        ..Config::default()
    };
    let text = described(RulesProfile::Compat, config);
    assert!(text.starts_with("compat, math-verify 0.9.0, {"), "{text}");
    assert!(text.contains("\"float_rounding\":2"), "{text}");
}
