//! Tests of the comparison of plain numbers and of the extraction methods: the cases of `tests/cases/gsm8k.jsonl`, and
//! properties.

use proptest::prelude::*;

use serde_json::{Value, json};

use super::*;
use decimal::Decimal;
use methods::Gsm8kMethod;

/// One case: what is asked, its texts, and the result.
fn check(case: &[Value]) -> Option<Value> {
    let text = |at: usize| case[at].as_str().unwrap();
    Some(match text(0) {
        // The number found in a response, or what else is found, and where.
        "find" => {
            let (method, reading) = find_answer(&undress(&without_thinking(text(1))));
            let found = match reading {
                Reading::Number(number) => number.text,
                other => format!("{other:?}").to_lowercase(),
            };
            let found = if found == "nothing" { "none" } else { &found };
            return (case[2..] != [json!(found), json!(method)]).then(|| json!([found, method]));
        }
        "verify" => json!(verify(text(1), text(2)).outcome),
        "equal" => json!(decimal(text(1)).equals(&decimal(text(2)))),
        method => {
            let method = Gsm8kMethod::ALL
                .into_iter()
                .find(|it| it.as_str() == method);
            json!(method.unwrap().extract(text(1)))
        }
    })
    .filter(|found| Some(found) != case.last())
}

fn decimal(text: &str) -> Decimal {
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let negative = digits.starts_with('-');
    Decimal::new(
        negative,
        digits.trim_start_matches('-'),
        exponent.parse().unwrap(),
    )
    .unwrap()
}

#[test]
fn cases() {
    let mut wrong = Vec::new();
    for line in include_str!("../../tests/cases/gsm8k.jsonl").lines() {
        let case: Vec<Value> = serde_json::from_str(line).unwrap();
        if let Some(found) = check(&case) {
            wrong.push(format!("{line}\n    {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_no_decimal() {
    for text in ["", ".", "1.2.3", "1,2", "-1", "1e5", "１"] {
        assert_eq!(Decimal::new(false, text, 0), None);
    }
    for exponent in [1_000_000_001, i64::MAX, i64::MIN] {
        assert_eq!(Decimal::new(false, "1", exponent), None);
    }
}

#[test]
fn a_verdict_says_what_it_compared() {
    let verdict = verify("#### 1,234", "so \\boxed{\\$1,235}");
    assert_eq!(verdict.extracted.as_deref(), Some("1235"));
    assert_eq!(verdict.reference.as_deref(), Some("1234"));
    assert_eq!(
        (verdict.method, verdict.reason.as_str()),
        ("boxed", "1235 ≠ 1234")
    );
}

#[test]
fn a_long_clause_is_never_cut_within_a_number() {
    for number in ["12 500", "12\u{a0}500", "12'500", "12,500"] {
        for dress in 170..210 {
            let response = format!("The answer is {} {number}", "\"".repeat(dress));
            assert_ne!(verify("12", &response).outcome, Some(true), "{response}");
            assert_ne!(
                verify("12500", &response).outcome,
                Some(false),
                "{response}"
            );
        }
    }
}

#[test]
fn a_megabyte_of_anything_is_linear() {
    for piece in [
        "####",
        "#### ",
        "\\boxed{",
        "}",
        "the answer is ",
        "therefore ",
        "answer: 5 or ",
        "1",
        "1,",
        "-",
        "5 or ",
        " ",
        "<think>",
        "between 5 and ",
        "\\text{",
        "= ",
        "x = ",
        "\n",
        "e",
        "1e",
        "* ",
        "{\\circ",
        "1 000",
        " 000",
        "1'000",
        "\u{a0}000",
    ] {
        let text = piece.repeat(1_000_000 / piece.len());
        verify(&text, &text);
        verify("5", &format!("{text} 5"));
        verify("5", &format!("5 {text}"));
    }
}

#[test]
fn each_method_has_its_own_equality() {
    let answer = "She has 48/2 = <<48/2=24>>24 left.\n#### 1,072";
    assert_eq!(methods::ground_truth(answer), "1072");
    for (method, response, correct) in [
        (Gsm8kMethod::Official, "#### 1,072", true),
        (Gsm8kMethod::Official, "#### 1072.0", false),
        (Gsm8kMethod::Official, "1072", false),
        (Gsm8kMethod::StrictMatch, "#### 1072.", true),
        (Gsm8kMethod::StrictMatch, "#### 1072.0", false),
        (Gsm8kMethod::FlexibleExtract, "That makes $1,072.", true),
        (Gsm8kMethod::FlexibleExtract, "1072 in 2 years", false),
        (Gsm8kMethod::Multi, "#### 1072.0", true),
        (Gsm8kMethod::Multi, "The answer is 1071.9999999", true),
        (Gsm8kMethod::Multi, "The answer is 1071.999", false),
        (Gsm8kMethod::Multi, "", false),
    ] {
        let found = method.extract(response);
        let is_right = found.is_some_and(|found| method.equal(&found, &method.expected(answer)));
        assert_eq!(is_right, correct, "{method} {response}");
    }
}

proptest! {
    #[test]
    fn never_panics_and_reads_only_what_is_there(
        reference in any::<String>(),
        response in r"(#### |\\boxed\{|\}|\\frac|the answer is |therefore |or |and |-|−|\$|\\,|[0-9]{1,3}|\.|,|e|=|/|é|½| |\u{a0}|'| [0-9]{3}|\n|<think>|</think>|.)*",
    ) {
        let verdict = verify(&reference, &response);
        prop_assert!(verdict.reference.is_some() || verdict.outcome.is_none());
        let verdict = verify("7", &response);
        if verdict.outcome == Some(true) {
            prop_assert!(response.contains('7') || response.contains("6.9"));
        }
    }

    #[test]
    fn a_spaced_number_is_never_taken_for_another(thousands in 1u32..1_000, ones in 0u32..1_000, place in 0usize..10) {
        let number = format!("{thousands} {ones:03}");
        let response = match place {
            0 => number.clone(),
            1 => format!("#### {number}"),
            2 => format!("#### {number} apples"),
            3 => format!("\\boxed{{{number}}}"),
            4 => format!("\\boxed{{{number} \\text{{ km}}}}"),
            5 => format!("The answer is {number}, as 2 + 2 is 4"),
            6 => format!("Therefore, {number} apples are left"),
            7 => format!("2 * 3 = {number}"),
            8 => format!("**Answer:** x = {number} km"),
            _ => format!("so {number}.50 dollars in all"),
        };
        let cents = if place == 9 { ".50" } else { "" };
        let value = format!("{}{cents}", 1_000 * thousands + ones);
        prop_assert_ne!(verify(&value, &response).outcome, Some(false), "{}", response);
        for part in [thousands.to_string(), format!("{ones}{cents}")] {
            prop_assert_ne!(verify(&part, &response).outcome, Some(true), "{}", response);
        }
        prop_assert_eq!(verify(&number, &number).outcome, Some(true));
    }

    #[test]
    fn a_number_is_found_in_every_dress(value in -1_000_000i64..1_000_000, cents in 0u8..100, dress in 0usize..8, mark in 0usize..7) {
        let minus = if value < 0 { "-" } else { "" };
        let whole = value.unsigned_abs().to_string();
        let mut grouped = String::new();
        for (place, digit) in whole.chars().enumerate() {
            if place > 0 && (whole.len() - place) % 3 == 0 { grouped.push_str([",", "'", "’", "\u{a0}", "\u{2009}", "\u{202f}", "\\,"][mark]); }
            grouped.push(digit);
        }
        let response = match dress {
            0 => format!("#### {minus}{grouped}.{cents:02}"),
            1 => format!("\\boxed{{{minus}\\${grouped}.{cents:02}}} and 3"),
            2 => format!("The answer is {minus}${grouped}.{cents:02}."),
            3 => format!("The answer is **{minus}{whole}.{cents:02}** dollars, or so"),
            4 => format!("5 + 3 = {minus}{whole}.{cents:02}0"),
            5 => format!("Therefore, {minus}{grouped}.{cents:02} apples."),
            6 => format!("<think>4</think>\\({minus}{grouped}.{cents:02}\\)"),
            _ => format!("Final answer: {minus}{whole}.{cents:02}e0"),
        };
        let reference = format!("{minus}{whole}.{cents:02}");
        prop_assert_eq!(verify(&reference, &response).outcome, Some(true), "{}", response);
        let other = format!("{minus}{whole}.{cents:02}1");
        prop_assert_eq!(verify(&other, &response).outcome, Some(false), "{}", response);
    }

    #[test]
    fn agrees_with_exact_integers(a: i64, near in -300i64..300, scale in 0usize..14) {
        let b = a.saturating_add(near);
        let text = |value: i64| {
            let digits = format!("{:0>20}", value.unsigned_abs());
            let (whole, fraction) = digits.split_at(20 - scale);
            Decimal::new(value < 0, &format!("{whole}.{fraction}"), 0).unwrap()
        };
        let difference = i128::from(a).abs_diff(i128::from(b)) * 10u128.pow(14 - scale as u32);
        prop_assert_eq!(text(a).equals(&text(b)), difference < 10_000);
    }

    #[test]
    fn methods_never_panic_and_read_only_what_is_there(text in r"(#### |####|[0-9]{1,3}|,|\.|-|\$|\\boxed\{|\}|the answer is |answer: |.)*") {
        for method in Gsm8kMethod::ALL {
            if let Some(found) = method.extract(&text) {
                prop_assert!(method.equal(&found, &found));
                prop_assert!(text.to_lowercase().replace([',', '$'], "").contains(&found.to_lowercase()));
            }
            method.expected(&text);
        }
    }
}
