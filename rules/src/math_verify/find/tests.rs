//! Matches by priority, in the order in which they are tried.

use super::*;
use crate::config::ExtractionTarget::{Expr, Latex};

/// All matches: priority, whole text, payload.
fn matches(text: &str, config: &Config) -> Vec<(i32, String, String)> {
    let source = Source::new(text);
    let finder = Finder::new(&source, config);
    let slice = |start: u32, end: u32| text[start as usize..end as usize].to_owned();
    let mut all = Vec::new();
    for pattern in patterns(config) {
        for found in finder.matches(pattern) {
            let payload = match found.what {
                What::Row { .. } | What::BoxedRow { .. } => finder
                    .row(found.what)
                    .iter()
                    .map(|(text, percent)| format!("{text}{}", if *percent { "%" } else { "" }))
                    .collect::<Vec<_>>()
                    .join("|"),
                What::RawBox => "raw".to_owned(),
                What::Arithmetic { start, end } | What::Choice { start, end } => slice(start, end),
                What::Number(number) => format!(
                    "{}_{}{}",
                    slice(number.integer.0, number.integer.1),
                    slice(number.decimal.0, number.decimal.1),
                    if number.percent { "%" } else { "" }
                ),
            };
            all.push((pattern.priority, slice(found.start, found.end), payload));
        }
    }
    all
}

/// A text with its matches: priority, whole text, payload.
type Row<'a> = (&'a str, &'a [(i32, &'a str, &'a str)]);

fn check(extract: &[ExtractionTarget], rows: &[Row<'_>]) {
    let config = Config {
        extract: extract.to_vec(),
        ..Config::default()
    };
    for (text, expected) in rows {
        let found = matches(text, &config);
        let found: Vec<(i32, &str, &str)> = found
            .iter()
            .map(|(priority, whole, payload)| (*priority, whole.as_str(), payload.as_str()))
            .collect();
        assert_eq!(found, *expected, "{text}");
    }
}

#[test]
fn formulas() {
    check(
        &[Latex],
        &[
            ("$5$", &[(300, "$5$", "5")]),
            ("$5$ %.", &[(300, "$5$ %", "5%")]),
            ("$5$ percentage", &[(300, "$5$ percent", "5%")]),
            ("a $\n9\n$", &[]),
            ("$$\n9\n$$", &[(300, "$$\n9\n$$", "\n9\n")]),
            (
                r"\(x\) \[y\]",
                &[(300, r"\(x\) ", "x"), (300, r"\[y\]", "y")],
            ),
            (r"\\(x\\) \\[y\\]", &[]),
            (" [1, 2] ", &[(300, " [1, 2] ", "1, 2")]),
            ("f[1, 2] ", &[]),
            (
                r"-\frac{1.5}{-2}",
                &[(300, r"-\frac{1.5}{-2}", r"-\frac{1.5}{-2}")],
            ),
            (r"\frac{x}{2} \fbox{5}", &[]),
            (
                r"costs \$5 or $6\$ more$",
                &[(300, r"$6\$ more$", r"6\$ more")],
            ),
            ("5$ and $7", &[]),
            ("$$$", &[]),
            ("$$$$", &[]),
            ("$$a$b$$", &[(300, "$$a$b$$", "a$b")]),
            (
                "$1$, $2$ and $3$, or 4",
                &[(300, "$1$, $2$ and $3$", "1|2|3")],
            ),
            ("$1$ ,and $2$or[3] ", &[(300, "$1$ ,and $2$", "1|2")]),
            ("$1$ and  [2] ", &[(300, "$1$ and  [2] ", "1|2")]),
            (
                "$1$,$2$,$3$,$4$,$5$,$6$,$7$",
                &[
                    (300, "$1$,$2$,$3$,$4$,$5$,$6$", "1|2|3|4|5|6"),
                    (300, "$7$", "7"),
                ],
            ),
        ],
    );
}

#[test]
fn boxes() {
    check(
        &[Latex],
        &[
            (r"\boxed{5} and {6", &[(50, r"\boxed{5}", "raw")]),
            (r"\boxed{} }", &[(50, r"\boxed{} }", "raw")]),
            (r"\boxed{}", &[]),
            (r"\boxed 5", &[]),
            (
                r"$\boxed{5}$ % , $6$",
                &[
                    (50, r"$\boxed{5}$ % ", r"\boxed{5}%"),
                    (50, r"\boxed{5}", "raw"),
                    (300, r"$\boxed{5}$ % , $6$", r"\boxed{5}%|6"),
                ],
            ),
            (
                r"$\boxed{5}$ and $\boxed{}$",
                &[
                    (50, r"$\boxed{5}$ ", r"\boxed{5}"),
                    (50, r"\boxed{5}$ and $\boxed{}", "raw"),
                    (300, r"$\boxed{5}$ and $\boxed{}$", r"\boxed{5}|\boxed{}"),
                ],
            ),
        ],
    );
}

#[test]
fn announced_formulas() {
    check(
        &[Latex],
        &[
            (
                "The final answer is: $5$ percentage. I hope so",
                &[
                    (0, "final answer is: $5$ percentage. I hope", "5%"),
                    (50, "final answer is: $5$ percent", "5%"),
                    (200, "answer is: $5$ percent", "5%"),
                    (300, "$5$ percent", "5%"),
                ],
            ),
            (
                "FINAL ANSWER\nto this  is\n$5$, $6$",
                &[
                    (50, "FINAL ANSWER\nto this  is\n$5$, $6$", "5|6"),
                    (200, "ANSWER\nto this  is\n$5$, $6$", "5|6"),
                    (300, "$5$, $6$", "5|6"),
                ],
            ),
            (
                "answer: $5$ then answer $6$",
                &[
                    (100, "answer: $5$ ", "5"),
                    (200, "answer: $5$ ", "5"),
                    (200, "answer $6$", "6"),
                    (300, "$5$ ", "5"),
                    (300, "$6$", "6"),
                ],
            ),
        ],
    );
    let far =
        |gap: usize| matches(&format!("answer{}$5$", "é".repeat(gap)), &Config::default()).len();
    assert_eq!((far(50), far(51)), (2, 1));
}

#[test]
fn numbers() {
    check(
        &[Expr],
        &[
            ("5", &[(300, "5", "5_")]),
            ("-1,234.5 %", &[(300, "-1,234.5 %", "-1,234_.5%")]),
            ("12,3456", &[(300, "12,345", "12,345_")]),
            ("1,22", &[(300, "1,22", "1_,22")]),
            ("0,500", &[(300, "0,500", "0_,500")]),
            (".5", &[(300, ".5", "_.5")]),
            ("$5", &[(300, "$5", "5_")]),
            ("-$5", &[]),
            ("-.5 (5)x *5* \"5\" x5 −5", &[]),
            ("**5**", &[(300, "**5**", "5**"), (300, "**5", "5_")]),
            ("1e-5", &[(300, "1", "1_")]),
            ("x=5%", &[(300, "=5%", "5_%")]),
            ("1/2", &[(300, "1/2", "1/2"), (300, "1", "1_")]),
            ("1+2x", &[(300, "1", "1_")]),
            (
                "1 + 2 x",
                &[
                    (300, "1 + 2 ", "1 + 2"),
                    (300, "1", "1_"),
                    (300, " 2", "2_"),
                ],
            ),
            ("(1+2)*3**.", &[(300, "(1+2)*3**.", "(1+2)*3**.")]),
            ("٣", &[(300, "٣", "٣_")]),
        ],
    );
}

#[test]
fn announced_numbers() {
    check(
        &[Expr],
        &[
            (
                "answer: x = 5 = 7",
                &[
                    (100, "answer: x = 5 = 7", "7_"),
                    (200, "answer: x = 5 = 7", "7_"),
                    (300, " 5", "5_"),
                    (300, " 7", "7_"),
                ],
            ),
            (
                "answer 12 = x",
                &[(200, "answer 1", "1_"), (300, " 12", "12_")],
            ),
            ("answer 1 = x", &[(300, " 1", "1_")]),
            (
                "Final answer is  1,234. I hope",
                &[
                    (0, "Final answer is  1,234. I hope", "1,234_"),
                    (200, "answer is  1,234", "1,234_"),
                    (300, " 1,234", "1,234_"),
                ],
            ),
            (
                "final answer to it is: 1+1, fine",
                &[
                    (50, "final answer to it is: 1+1,", "1+1"),
                    (200, "answer to it is: 1+1,", "1+1"),
                    (300, " 1+1,", "1+1"),
                    (300, " 1", "1_"),
                ],
            ),
            ("answer\n5", &[(200, "answer\n5", "5_"), (300, "\n5", "5_")]),
            ("answer x\ny 5", &[(300, " 5", "5_")]),
        ],
    );
}

#[test]
fn strings() {
    check(
        &[ExtractionTarget::letters()],
        &[
            ("A", &[(250, "A", "A"), (300, "A", "A")]),
            ("**A**.", &[(250, "**A**.", "A"), (300, "**A**.", "A")]),
            ("(A) A) a AB", &[]),
            ("so A, B\n", &[(300, " A,", "A"), (300, " B\n", "B")]),
            ("the final answer is ABC", &[(50, "final answer is A", "A")]),
            (
                "Final answer is: B. I hope",
                &[
                    (0, "Final answer is: B. I hope", "B"),
                    (50, "Final answer is: B", "B"),
                    (200, "answer is: B.", "B"),
                    (300, " B.", "B"),
                ],
            ),
            (
                "answer: **C**",
                &[
                    (100, "answer: **C**", "C"),
                    (200, "answer: **C**", "C"),
                    (300, " **C**", "C"),
                ],
            ),
        ],
    );
}

#[test]
fn settings_choose_the_patterns() {
    let text = r"A \boxed{5} 7";
    let with = |config: Config| {
        matches(text, &config)
            .into_iter()
            .map(|(priority, _, payload)| (priority, payload))
            .collect::<Vec<_>>()
    };
    let number = || (300, "7_".to_owned());
    let raw = |priority| (priority, "raw".to_owned());
    for (priority, expected) in [
        (50, vec![raw(50), number()]),
        (0, vec![raw(0), number()]),
        (-1, vec![number()]),
        (300, vec![raw(300), number()]),
    ] {
        let config = Config {
            boxed_match_priority: priority,
            ..Config::default()
        };
        assert_eq!(with(config), expected);
    }
    let anchored = Config {
        try_extract_without_anchor: false,
        extract: vec![ExtractionTarget::letters(), Expr, Latex],
        ..Config::default()
    };
    assert_eq!(with(anchored), [raw(50)]);
}

/// Texts that make backtracking matchers slow.
#[test]
fn hostile_texts_take_linear_time() {
    let config = Config {
        extract: vec![Latex, Expr, ExtractionTarget::letters()],
        ..Config::default()
    };
    for unit in [
        "$",
        "$$",
        "\\$",
        r"\boxed{",
        r"\boxed{}",
        "answer",
        "answer:",
        "final answer is",
        "final answer is: ",
        " 1",
        "1+",
        "1+1+",
        "(",
        ",and",
        "$1$,and",
        " [",
        r"\[",
        r"\(",
        r"\[ $\boxed{",
        " ",
        "\n",
        "= ",
        "answer = ",
        "**A",
        " is",
        "final answer 1 =",
        "1,234 ",
        "1 .",
        "{",
        "}",
        "-\\frac{1}{2}",
    ] {
        let long = unit.repeat(200_000 / unit.len());
        for end in ["", "x", "}", " I hope", "= 1$", r"\] \)"] {
            let _ = matches_count(&format!("{long}{end}"), &config);
        }
    }
}

proptest::proptest! {
    /// The matches of a pattern stand in order, overlap nowhere, and split no character.
    #[test]
    fn matches_are_in_order(pieces in proptest::collection::vec(
        proptest::sample::select(vec![
            "$", "$$", "\\(", "\\)", "\\[", "\\]", "\\", "\\boxed{", "}", "{", "5", "1,234", "-", ".", ",", " ", "\n", "=",
            "(", ")", "+", "**", "%", "A", "B", "and", "answer", "final answer", ":", "is", "I hope", "\u{a0}", "é",
            "٣", "€", "[", "]", "\\frac{1}{2}",
        ]),
        0..40,
    )) {
        let text = pieces.concat();
        let config = Config {
            extract: vec![Latex, Expr, ExtractionTarget::letters()],
            ..Config::default()
        };
        let source = Source::new(&text);
        let finder = Finder::new(&source, &config);
        for pattern in patterns(&config) {
            let mut end = 0;
            for found in finder.matches(pattern) {
                assert!(end <= found.start && found.start < found.end, "{text:?} {pattern:?}");
                assert!(text.get(found.start as usize..found.end as usize).is_some(), "{text:?}");
                end = found.end;
            }
        }
    }
}

fn matches_count(text: &str, config: &Config) -> usize {
    let source = Source::new(text);
    let finder = Finder::new(&source, config);
    patterns(config)
        .into_iter()
        .map(|pattern| finder.matches(pattern).len())
        .sum()
}
