//! Matches by priority, in the order in which they are tried.

use super::*;
use crate::options::ExtractionTarget::{Expr, Latex};
use crate::tests::{floods, table};

/// All matches: priority, whole text, payload.
fn matches(text: &str, options: &Options) -> Vec<(i32, String, String)> {
    let source = Source::new(text);
    let finder = Finder::new(&source, options);
    let slice = |start: u32, end: u32| text[start as usize..end as usize].to_owned();
    let mut all = Vec::new();
    for pattern in patterns(options) {
        for found in finder.matches(pattern) {
            let payload = match found.payload {
                Payload::Row { .. } | Payload::BoxedRow { .. } => finder
                    .row(found.payload)
                    .iter()
                    .map(|(text, percent)| format!("{text}{}", if *percent { "%" } else { "" }))
                    .collect::<Vec<_>>()
                    .join("|"),
                Payload::RawBox => "raw".to_owned(),
                Payload::Arithmetic { start, end } | Payload::Choice { start, end } => {
                    slice(start, end)
                }
                Payload::Number(number) => format!(
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

#[test]
fn matches_are_those_of_the_patterns() {
    type Row = (String, String, Vec<(i32, String, String)>);
    for (target, text, expected) in table::<Row>(include_str!("../../tests/cases/matches.jsonl")) {
        let options = Options {
            extract: vec![match &*target {
                "latex" => Latex,
                "expr" => Expr,
                _ => ExtractionTarget::letters(),
            }],
            ..Options::default()
        };
        assert_eq!(matches(&text, &options), expected, "{text}");
    }
}

#[test]
fn fifty_characters_may_stand_between() {
    let text = |gap: usize| format!("answer{}$5$", "é".repeat(gap));
    let found = |gap: usize| matches(&text(gap), &Options::default()).len();
    assert_eq!((found(50), found(51)), (2, 1));
}

#[test]
fn settings_choose_the_patterns() {
    let text = r"A \boxed{5} 7";
    let with = |options: Options| {
        matches(text, &options)
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
        let options = Options {
            boxed_match_priority: priority,
            ..Options::default()
        };
        assert_eq!(with(options), expected);
    }
    let anchored = Options {
        try_extract_without_anchor: false,
        extract: vec![ExtractionTarget::letters(), Expr, Latex],
        ..Options::default()
    };
    assert_eq!(with(anchored), [raw(50)]);
}

/// Texts that make backtracking matchers slow.
#[test]
fn hostile_texts_take_linear_time() {
    let options = Options {
        extract: vec![Latex, Expr, ExtractionTarget::letters()],
        ..Options::default()
    };
    for unit in floods("text") {
        let long = unit.repeat(200_000 / unit.len());
        for end in ["", "x", "}", " I hope", "= 1$", r"\] \)"] {
            let _ = matches_count(&format!("{long}{end}"), &options);
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
        let options = Options {
            extract: vec![Latex, Expr, ExtractionTarget::letters()],
            ..Options::default()
        };
        let source = Source::new(&text);
        let finder = Finder::new(&source, &options);
        for pattern in patterns(&options) {
            let mut end = 0;
            for found in finder.matches(pattern) {
                assert!(end <= found.start && found.start < found.end, "{text:?} {pattern:?}");
                assert!(text.get(found.start as usize..found.end as usize).is_some(), "{text:?}");
                end = found.end;
            }
        }
    }
}

fn matches_count(text: &str, options: &Options) -> usize {
    let source = Source::new(text);
    let finder = Finder::new(&source, options);
    patterns(options)
        .into_iter()
        .map(|pattern| finder.matches(pattern).len())
        .sum()
}
