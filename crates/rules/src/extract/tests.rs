//! What is found in texts: the cases of `tests/cases/extract.jsonl`, `[function, text, result]`, and properties.

use std::time::Instant;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::config::ExtractionTarget;

/// What one of the room's functions makes of `text`.
fn result(function: &str, text: &str) -> Value {
    let regions = scan::scan(text);
    let found = |role| {
        let found = extract(text, role, &Config::default());
        found.map_or(Value::Null, |found| json!(found.text))
    };
    match function {
        "find" => found(Role::Prediction),
        "reference" => found(Role::Gold),
        "announcement" => {
            let last = announcements::find(text).pop();
            json!(last.map(|it| format!("{:?}|{}", it.how, &text[it.end..])))
        }
        "boxes" => json!(boxes::last(text, &regions, text.len()).map(|it| it.text)),
        "chain" => json!(chain::result(text)),
        "option" => json!(choice::whole(text).map(|(choice, _)| choice.letters)),
        "outside thinking" => json!(clean::visible(text).ok()),
        "plain characters" => json!(clean::plain(text)),
        "formula" => json!(formulas::of_text(text)),
        "mathematics" => json!(maths::run(text, 0).map(|run| &text[..run.end])),
        "placeholder" => json!(no_answer::is_placeholder(text)),
        "nothing" => json!(says_nothing(text)),
        "refusal" => json!(no_answer::refusal(text).is_some()),
        "cut off" => json!(no_answer::is_cut_off(text)),
        "formulas" => {
            let formulas = regions.formulas.iter();
            formulas.map(|it| &text[it.content.clone()]).collect()
        }
        "closed boxes" => {
            let closed = regions.boxes.iter().filter(|it| it.closed);
            closed.map(|it| &text[it.content.clone()]).collect()
        }
        "sentence" => json!(sentences::end(text, &regions, 0, 99).map(|end| &text[..end])),
        "last sentence" => {
            json!(sentences::last_before(text, &regions, text.len()).map(|it| &text[it]))
        }
        "unit" => json!(text[tail::tail(text, true).unit]),
        "trimmed" => json!(markup::trim_markup(text)),
        "normalized" => json!(markup::without_markup(text)),
        other => panic!("no function {other}"),
    }
}

#[test]
fn cases() {
    let mut wrong = Vec::new();
    for line in include_str!("../../tests/cases/extract.jsonl").lines() {
        let (function, text, expected): (String, String, Value) =
            serde_json::from_str(line).unwrap();
        let found = result(&function, &text);
        if found != expected {
            wrong.push(format!("{line}\n    {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn pieces() -> Vec<String> {
    serde_json::from_str(include_str!("../../tests/cases/pieces.json")).unwrap()
}

/// Much of anything ends soon, and without panic: quadratic time would take minutes.
#[test]
fn much_of_anything() {
    for piece in pieces() {
        let text = piece.repeat(300_000 / piece.len());
        for role in [Role::Prediction, Role::Gold] {
            let start = Instant::now();
            let _ = extract(&text, role, &Config::default());
            let took = start.elapsed();
            assert!(took.as_secs() < 5, "{piece:?} {role:?}: {took:?}");
        }
    }
}

#[test]
fn settings_have_their_effect() {
    let targets = |names: &[&str]| format!(r#"{{"extract": {}}}"#, json!(names));
    let (latex, expr) = (targets(&["latex"]), targets(&["expr"]));
    let announced = r#"{"try_extract_without_anchor": false}"#;
    let letters = r#"{"extract": [{"string": ["A", "B", "C"]}]}"#;
    let both = r"\boxed{5}. The final answer is $6$.";
    for (config, text, expected) in [
        ("{}", both, Some("6")),
        (r#"{"boxed_match_priority": 0}"#, both, Some("5")),
        (r#"{"boxed_match_priority": -1}"#, both, Some("6")),
        (
            r#"{"boxed_match_priority": -1}"#,
            "The answer is 12.\nThe total is $\\boxed{18}$",
            Some("12"),
        ),
        (
            r#"{"boxed_match_priority": -1}"#,
            r"So $x = \boxed{5}$.",
            Some("x = 5"),
        ),
        (announced, "It is 5.", None),
        (announced, "5", None),
        (announced, "The answer is 5.", Some("5")),
        (&latex, "It is $5$.", Some("5")),
        (&latex, "It is 5.", None),
        (&expr, "The answer is 5.", Some("5")),
        (&expr, "The answer is $5$.", None),
        (letters, "The answer is B.", Some("b")),
        (letters, r"\boxed{\text{C}}", Some("c")),
        (letters, "A quick check shows that it is (C).", Some("c")),
        (letters, "The answer is 5.", None),
    ] {
        let config: Config = serde_json::from_str(config).unwrap();
        let found = extract(text, Role::Prediction, &config)
            .ok()
            .map(|it| it.text);
        assert_eq!(found.as_deref(), expected, "{text}");
    }
}

proptest! {
    /// No text panics, and what is found is an answer.
    #[test]
    fn any_mixture_is_read(
        parts in prop::collection::vec(prop_oneof![prop::sample::select(pieces()), ".{0,4}"], 0..24),
        priority in -1i32..120,
        kinds in 0usize..4,
    ) {
        let text = parts.concat();
        let mut config = Config { boxed_match_priority: priority, ..Config::default() };
        match kinds {
            0 => config.extract = vec![ExtractionTarget::Latex],
            1 => config.extract = vec![ExtractionTarget::Expr],
            2 => config.extract = vec![ExtractionTarget::String { strings: vec!["A".to_owned(), "é".to_owned()], lowercase: false }],
            _ => {}
        }
        for role in [Role::Prediction, Role::Gold] {
            let found = candidates(&text, role, &config);
            prop_assert!(found.len() <= 8);
            for one in found {
                prop_assert!(!one.text.trim().is_empty(), "{text:?}");
            }
        }
    }
}
