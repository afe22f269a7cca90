//! Tests of the strict numeric comparison.

use proptest::prelude::*;

use super::*;

/// The number found in a response, `none`, `several` or `expression`, and where.
fn found(response: &str) -> (String, &'static str) {
    let (method, reading) = find_answer(&undress(&without_thinking(response)));
    let text = match reading {
        Reading::Number(number) => number.text,
        Reading::Nothing => "none".to_owned(),
        Reading::Several => "several".to_owned(),
        Reading::Expression => "expression".to_owned(),
    };
    (text, method)
}

#[test]
fn the_most_trusted_kind_wins_and_its_last_occurrence() {
    for (response, text, method) in [
        ("The answer is 1. \\boxed{2}\n#### 3\nSee 4.", "3", "####"),
        ("#### 3\n#### 5", "5", "####"),
        ("####5", "5", "####"),
        ("#### $1,234.", "1234", "####"),
        ("#### **72** apples.", "72", "####"),
        ("####\n72", "72", "####"),
        ("#### -5", "-5", "####"),
        ("#### −5", "-5", "####"),
        ("#### 3 * 4 = 12", "12", "####"),
        ("#### 72\n#### Step 2: check", "72", "####"),
        ("#### 1. First step\nIt is 8. \\boxed{7}", "7", "boxed"),
        ("#### 3/4", "expression", "####"),
        (
            "The answer is 1. \\boxed{2} \\boxed{ 3 } then 4",
            "3",
            "boxed",
        ),
        ("\\boxed{20.0 \\text{ square cm}}", "20.0", "boxed"),
        ("\\boxed{x = 5}", "5", "boxed"),
        ("\\boxed{\\$1{,}234.50}", "1234.50", "boxed"),
        ("\\boxed{1\\,234}", "1234", "boxed"),
        ("\\boxed{- 5}", "-5", "boxed"),
        ("\\boxed{45^\\circ}", "45", "boxed"),
        ("\\boxed{50\\%}", "50", "boxed"),
        ("\\boxed{6.02 \\times 10^{23}}", "6.02e23", "boxed"),
        ("\\boxed{\\boxed{5}}", "5", "boxed"),
        ("\\boxed{\\frac{3}{4}}", "expression", "boxed"),
        ("\\boxed{2\\pi}", "expression", "boxed"),
        ("\\boxed{2x}", "expression", "boxed"),
        ("\\boxed{5!}", "expression", "boxed"),
        ("\\boxed{3:45}", "expression", "boxed"),
        ("\\boxed{(1,234)}", "expression", "boxed"),
        ("\\boxed{5, 6}", "several", "boxed"),
        ("\\boxed{5 \\text{ or } 6}", "several", "boxed"),
        ("\\boxed{five}", "expression", "boxed"),
        ("\\boxed{A}", "none", "boxed"),
        ("\\boxed{}", "none", "boxed"),
        ("The answer is 72. It took 3 steps.", "72", "phrase"),
        ("The final answer is: **$72**, in 3 steps", "72", "phrase"),
        ("The answer is 5. Wait, the answer is 6.", "6", "phrase"),
        (
            "**Final Answer:** 72 apples (checked 2 times)",
            "72",
            "phrase",
        ),
        ("Answer: 1,234,567.5", "1234567.5", "phrase"),
        ("the answer is approximately 72.15", "72.15", "phrase"),
        ("The answer is 3 * 4 = 12.", "12", "phrase"),
        ("The answer is x = -5 because 2 is even", "-5", "phrase"),
        (
            "The answer is 72 apples, because 8 * 9 = 72. Page 4.",
            "72",
            "phrase",
        ),
        (
            "The answer is that Tom has 5 apples. He is 12.",
            "5",
            "phrase",
        ),
        ("The answer is either 5 or 6.", "several", "phrase"),
        ("The answer is 5 or 6.", "several", "phrase"),
        ("The answer is between 5 and 6.", "several", "phrase"),
        ("The answer is 5 to 6.", "several", "phrase"),
        (
            "The answer is either 5 cats or 6 dogs.",
            "several",
            "phrase",
        ),
        (
            "The answer is 90 minutes or 1.5 hours.",
            "expression",
            "phrase",
        ),
        (
            "It is 90 minutes, or 1.5 hours.",
            "expression",
            "last-number",
        ),
        ("The answer is 5, 6.", "expression", "phrase"),
        ("The answer is 5, not 6.", "5", "phrase"),
        ("#### x1 = 5", "5", "####"),
        ("The answer is 1/2.", "expression", "phrase"),
        ("The answer is 5 million.", "expression", "phrase"),
        ("Therefore, 72. Tom is 9.", "72", "phrase"),
        ("Therefore 72 apples! Tom is 9.", "72", "phrase"),
        ("Therefore, 3 boxes hold 4 * 3 = 12", "12", "last-number"),
        (
            "The answer is unclear. There are 5 left.",
            "5",
            "last-number",
        ),
        ("48 / 2 = 24, 48 + 24 = 72", "72", "last-number"),
        ("It costs $12.50.", "12.50", "last-number"),
        ("So 72!", "72", "last-number"),
        ("a temperature of -5 °C", "-5", "last-number"),
        ("x = - 5", "-5", "last-number"),
        ("- 5 apples", "5", "last-number"),
        ("1.5e3 in all", "1.5e3", "last-number"),
        ("2 x 10^3 in all", "2e3", "last-number"),
        ("2 × 10⁻³ in all", "2e-3", "last-number"),
        (".5 litres", ".5", "last-number"),
        ("5 litres of H2O", "5", "last-number"),
        ("60 km/hour", "60", "last-number"),
        ("take 10 - 5", "expression", "last-number"),
        ("take 10-5", "expression", "last-number"),
        ("he ate 3/4", "expression", "last-number"),
        ("so it is 2π", "expression", "last-number"),
        ("so it is 5k", "expression", "last-number"),
        ("at 12:30", "expression", "last-number"),
        ("not 5", "expression", "last-number"),
        ("x > 5", "expression", "last-number"),
        ("\\sqrt{5}", "expression", "last-number"),
        ("1,00,000 in all", "expression", "last-number"),
        ("it is 5 or 6", "several", "last-number"),
        ("the point (3, 4)", "several", "last-number"),
        ("#### 12 500", "12500", "####"),
        ("#### -12 500.25.", "-12500.25", "####"),
        ("#### 1\u{a0}234\u{a0}567 apples", "1234567", "####"),
        ("#### 12 500 apples", "expression", "####"),
        ("\\boxed{12 500}", "12500", "boxed"),
        ("\\boxed{12\\ 500}", "12500", "boxed"),
        ("\\boxed{$1 000 000$}", "1000000", "boxed"),
        ("\\boxed{12 500 \\text{ km}}", "expression", "boxed"),
        ("\\boxed{12'500 \\text{ km}}", "12500", "boxed"),
        ("\\boxed{0 500}", "expression", "boxed"),
        ("\\boxed{(4 200)}", "expression", "boxed"),
        ("\\boxed{(4\u{202f}200)}", "expression", "boxed"),
        ("The answer is 12 500.", "12500", "phrase"),
        ("The answer is about $12 500.", "12500", "phrase"),
        ("The answer is 5 * 200 = 1 000.", "1000", "phrase"),
        (
            "The answer is 12 500, since 3 is odd",
            "expression",
            "phrase",
        ),
        (
            "The answer is 12\u{202f}500, since 3 is odd",
            "12500",
            "phrase",
        ),
        ("The answer is 3.141 592.", "expression", "phrase"),
        ("The answer is 12\\text{ }500.", "expression", "phrase"),
        ("Therefore, 1’000 apples.", "1000", "phrase"),
        ("1 000", "1000", "last-number"),
        ("-1 000\n", "-1000", "last-number"),
        ("rows 4 200", "expression", "last-number"),
        ("5 * 200 = 1 000", "expression", "last-number"),
        ("it is 12 500.75", "expression", "last-number"),
        ("it is 12 500,750", "expression", "last-number"),
        ("In 2024 500 came", "500", "last-number"),
        ("5 200 ml cups are 1000 ml", "1000", "last-number"),
        ("it is 1'000.5", "1000.5", "last-number"),
        ("it is 1\u{2009}000e2", "1000e2", "last-number"),
        ("it is -1\u{2007}000 now", "-1000", "last-number"),
        ("it is 1'000’000", "expression", "last-number"),
        ("it is 1,000'000", "expression", "last-number"),
        ("it is 1\u{a0}000 000", "expression", "last-number"),
        ("it is 1 000\u{a0}000", "expression", "last-number"),
        ("it is 1\u{a0}000,50", "expression", "last-number"),
        ("it is 1\u{a0}00\u{a0}000", "expression", "last-number"),
        ("it is 0'500", "expression", "last-number"),
        ("he is 5'10\" tall", "expression", "last-number"),
        ("it is '5'", "5", "last-number"),
        ("I cannot tell.", "none", "none"),
        ("", "none", "none"),
        ("She has five left.", "expression", "none"),
        ("½", "expression", "none"),
        ("<think>The answer is 5</think> It is 6", "6", "last-number"),
        (
            "7 or 8? The answer is 5</think> It is 6",
            "6",
            "last-number",
        ),
        ("<think>The answer is 5", "none", "none"),
        ("It is 6 <think>The answer is 5", "6", "last-number"),
    ] {
        assert_eq!(found(response), (text.to_owned(), method), "{response}");
    }
}

#[test]
fn only_equal_numbers_are_equal() {
    for (reference, response, outcome) in [
        ("72", "72.0", Some(true)),
        ("72.00", "72", Some(true)),
        ("72", "72.1", Some(false)),
        ("0.75", "0.750", Some(true)),
        ("0.75", "0.751", Some(false)),
        ("-5", "-5.0", Some(true)),
        ("-5", "5", Some(false)),
        ("20", "20.0 square cm", Some(true)),
        ("72", "approximately 72.15", Some(false)),
        ("42", "41.99999999999999", Some(true)),
        ("42", "41.9999", Some(false)),
        ("12345678901234567891", "12345678901234567890", Some(false)),
        ("1000", "1e3", Some(true)),
        ("5", "1e99999999999999999999", None),
        (
            &"7".repeat(300),
            &format!("#### {}", "7".repeat(300)),
            Some(true),
        ),
        (
            &"7".repeat(300),
            &format!("#### {}", "7".repeat(299)),
            Some(false),
        ),
        ("72", "", Some(false)),
        ("72", "I'm sorry, I can't help with that.", Some(false)),
        ("5", "It is either 5 or 6", Some(false)),
        ("0.5", "1/2", None),
        ("9 - 4 = 5, so\n#### 5", "5", Some(true)),
        ("#### 1,234", "1234", Some(true)),
        ("\\boxed{13}", "13", Some(true)),
        ("13 apples", "13", Some(true)),
        ("1000", "1 000", Some(true)),
        ("1 000", "#### 1000", Some(true)),
        ("12 500", "The answer is 12 500.", Some(true)),
        ("12 500", "\\boxed{12 501}", Some(false)),
        ("$12 500", "12,500", Some(true)),
        ("#### 1\u{a0}000", "1'000", Some(true)),
        ("1’000 km", "It is 1\u{202f}000 km.", Some(true)),
        ("1000", "It has rows 1 000", None),
        ("4 200 rows", "4200", None),
        ("4 20", "420", None),
        ("$13", "13", Some(true)),
        ("$13$", "13", Some(true)),
        ("$-13$.", "-13", Some(true)),
        ("x = 13", "13", Some(true)),
        ("13%", "13", Some(true)),
        ("13 cm^2", "13", Some(true)),
        ("13 miles per hour", "13", Some(true)),
        ("3/4", "0.75", None),
        ("2π", "6.28", None),
        ("2x", "2", None),
        ("x = 3 and y = 4", "4", None),
        ("(3, 4)", "4", None),
        ("(1,234)", "1234", None),
        ("3 1/2", "3.5", None),
        ("5 million", "5", None),
        ("5 or 6", "5", None),
        ("5 ± 1", "5", None),
        ("5^2", "25", None),
        ("5!", "120", None),
        ("about 5", "5", None),
        ("five", "5", None),
        ("A", "5", None),
        ("", "5", None),
    ] {
        let verdict = verify(reference, response);
        assert_eq!(
            verdict.outcome, outcome,
            "{reference} | {response}: {verdict:?}"
        );
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
}
