use super::*;
use crate::{BareNumber, DecimalMark, ExtractionMode, FallbackMode, Normalization};

fn parsed(json: &str) -> Result<Config, String> {
    serde_json::from_str(json).map_err(|error| error.to_string())
}

#[test]
fn absent_keys_keep_their_defaults() {
    assert_eq!(parsed("{}"), Ok(Config::default()));
    assert_eq!(
        parsed(r#"{"extract": null, "strict": null}"#),
        Ok(Config::default())
    );
    let config = parsed(
        r#"{"extract": "expr", "boxed_match_priority": -1, "try_extract_without_anchor": false, "float_rounding": 2,
            "numeric_precision": 30, "strict": false, "allow_set_relation_comp": true,
            "extraction_mode": "first_match", "fallback_mode": "no_fallback", "decimal": "comma", "percent": "same", "cents": "distinct",
            "boxed_only": true, "normalization": {"units": false}}"#,
    );
    let expected = Config {
        extract: vec![ExtractionTarget::Expr],
        boxed_match_priority: -1,
        try_extract_without_anchor: false,
        float_rounding: 2,
        numeric_precision: 30,
        strict: false,
        allow_set_relation_comp: true,
        extraction_mode: ExtractionMode::FirstMatch,
        fallback_mode: FallbackMode::NoFallback,
        decimal: Some(DecimalMark::Comma),
        percent: BareNumber::Same,
        cents: BareNumber::Distinct,
        boxed_only: true,
        normalization: Normalization {
            units: false,
            ..Normalization::default()
        },
    };
    assert_eq!(config, Ok(expected));
}

#[test]
fn strings_are_named_in_many_ways() {
    let strings = |names: &[&str], lowercase| ExtractionTarget::String {
        strings: names.iter().map(ToString::to_string).collect(),
        lowercase,
    };
    for (json, target) in [
        (r#"["string"]"#, ExtractionTarget::letters()),
        (r#"[{"string": ["A", "AB"]}]"#, strings(&["A", "AB"], true)),
        (
            r#"[{"string": {"strings": ["yes"], "lowercase": false}}]"#,
            strings(&["yes"], false),
        ),
        (
            r#"[{"type": "string", "strings": ["x"], "lowercase": false}]"#,
            strings(&["x"], false),
        ),
        (r#"["string"], "strings": ["E"]"#, strings(&["E"], true)),
        (
            r#"["string"], "strings": ["E"], "lowercase": false"#,
            strings(&["E"], false),
        ),
    ] {
        let config = parsed(&format!(r#"{{"extract": {json}}}"#));
        assert_eq!(
            config.map(|config| config.extract),
            Ok(vec![target]),
            "{json}"
        );
    }
    let config =
        parsed(r#"{"extract": [{"type": "latex", "boxed_match_priority": 0}, {"expr": null}]}"#);
    let config = config.unwrap();
    assert_eq!(config.boxed_match_priority, 0);
    assert_eq!(
        config.extract,
        [ExtractionTarget::Latex, ExtractionTarget::Expr]
    );
}

#[test]
fn a_mistake_is_named() {
    for (json, part) in [
        (
            r#"{"float_roundin": 2}"#,
            "there is no setting `float_roundin`; there is extract, ",
        ),
        (
            r#"{"float_rounding": "two"}"#,
            "`float_rounding`: invalid type",
        ),
        (
            r#"{"float_rounding": -1}"#,
            "`float_rounding`: invalid value",
        ),
        (r#"{"extract": []}"#, "at least one"),
        (r#"{"extract": ["latx"]}"#, "no target `latx`"),
        (r#"{"extract": [{"strings": []}]}"#, "no target `strings`"),
        (r#"{"extract": [{"string": []}]}"#, "not empty"),
        (r#"{"extract": [7]}"#, "not 7"),
        (
            r#"{"normalization": {"unit": true}}"#,
            "unknown field `unit`",
        ),
        (
            r#"{"extraction_mode": "last"}"#,
            "`extraction_mode`: unknown variant",
        ),
        (r#"{"decimal": ","}"#, "`decimal`: unknown variant"),
        ("[]", "invalid type"),
    ] {
        let error = parsed(json).unwrap_err();
        assert!(error.contains(part), "{json}: {error}");
    }
}

#[test]
fn what_is_written_is_read_again() {
    for config in [
        Config::default(),
        Config {
            extract: vec![ExtractionTarget::letters(), ExtractionTarget::Expr],
            strict: false,
            decimal: Some(DecimalMark::Point),
            normalization: Normalization {
                nits: false,
                ..Normalization::default()
            },
            ..Config::default()
        },
    ] {
        let json = serde_json::to_string(&config).unwrap();
        assert_eq!(parsed(&json), Ok(config));
    }
}
