//! An announced answer is read whole: it equals itself in every dress, and words that change it never leave it equal.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use juror_rules::{Config, Profile, Verifier};
use serde_json::Value;

/// The reference answers of the labelled pairs, and those of `statements.jsonl`; no whole solutions.
fn golds() -> Vec<String> {
    let pairs = include_str!("cases/pairs.jsonl").lines().map(|line| {
        let row: Value = serde_json::from_str(line).unwrap();
        row["gold"].as_str().unwrap().to_owned()
    });
    let statements = include_str!("cases/statements.jsonl").lines().map(|line| {
        let (gold, _, _): (String, String, bool) = serde_json::from_str(line).unwrap();
        gold
    });
    let answers = include_str!("cases/compare/answers.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(|line| line.split('\t').take(2))
        .map(str::to_owned);
    let all = pairs.chain(statements).chain(answers).chain(generated());
    let all = all.chain(given());
    // A sign by itself is no answer, a full stop at its end belongs to no answer.
    let is_answer = |it: &String| {
        it.contains(char::is_alphanumeric) && !it.contains("####") && !it.trim().ends_with('.')
    };
    all.filter(is_answer)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

/// Those of the files that `JUROR_RULES_GOLDS` names, JSON lines with `gold`, between colons.
fn given() -> Vec<String> {
    let files = std::env::var("JUROR_RULES_GOLDS").unwrap_or_default();
    let texts = files.split(':').filter(|file| !file.is_empty());
    let texts = texts.map(|file| std::fs::read_to_string(file).unwrap());
    let gold = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        row["gold"].as_str().unwrap().to_owned()
    };
    texts
        .flat_map(|text| text.lines().map(gold).collect::<Vec<_>>())
        .collect()
}

/// Every value with every unit, in every kind of list.
fn generated() -> Vec<String> {
    let values = [
        "7",
        "-7",
        "3.25",
        "1/2",
        r"\frac{3}{4}",
        r"2\sqrt{3}",
        "5!",
        "2^{10}",
        "6 x 10^4",
        "1,250",
        "2 x y",
        "m v^2",
        "x^2 - 1",
        "RNA",
        "Graph A",
        "'ab'",
    ];
    let frames = ["{}", "({}, 11)", "{}, 11", "[{}, 11]", "x = {}"];
    let units = [
        "{} cm",
        "{} m/s",
        "${}",
        "{}%",
        "{} apples",
        "{} hours 20 minutes",
    ];
    let fill = |frames: &[&str], values: &[&str]| -> Vec<String> {
        let one = |frame: &&str| values.iter().map(|it| frame.replace("{}", it)).collect();
        frames
            .iter()
            .flat_map(|frame| -> Vec<String> { one(frame) })
            .collect()
    };
    [fill(&frames, &values), fill(&units, &values[..4])].concat()
}

fn equal(gold: &str, pred: &str) -> Option<bool> {
    Verifier::new(Profile::Strict, Config::default())
        .verify(gold, pred)
        .equal
}

/// In each frame, `{}` is the answer.
fn violations(frames: &[&str], allowed: impl Fn(Option<bool>) -> bool) -> Vec<String> {
    let mut wrong = Vec::new();
    for gold in golds() {
        // A cell of a table is one line.
        let fits = |it: &&&str| !(it.starts_with('|') && gold.contains('\n'));
        for frame in frames.iter().filter(fits) {
            let pred = frame.replace("{}", &gold);
            let verdict = equal(&gold, &pred);
            if !allowed(verdict) {
                wrong.push(format!("{gold:?} {pred:?}: {verdict:?}"));
            }
        }
    }
    wrong
}

#[test]
fn an_answer_is_itself_in_every_dress() {
    let frames = [
        "{}",
        "**{}**",
        "{}.",
        "Answer: {}",
        "The answer is {}",
        "The answer is {}.",
        "The final answer is: {}",
        "We add them up.\n#### {}",
        "We add them up.\nAnswer: **{}**",
        "| answer | {} |",
        "\\boxed{{}}",
        "Final Answer\n{}",
    ];
    let wrong = violations(&frames, |verdict| verdict == Some(true));
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn words_that_change_an_answer_do_not_leave_it_equal() {
    let frames = [
        "The answer is not {}.",
        "The answer cannot be {}.",
        "The answer is at least {}.",
        "The answer is more than {}.",
        "The answer is minus {}.",
        "The answer is half of {}.",
        "The answer is {} or more.",
        "The answer is {} or perhaps 6041.",
        "The answer is {} times 6041.",
        "The answer is neither {} nor 6041.",
        "Answer: {} (or possibly 6041)",
        "The answer is 20% less than {}.",
        "I doubt that the answer is {}.",
        "I don't think the answer is {}.",
        "The answer is twice {}.",
        "The answer is the square root of {}.",
        "The answer is {} out of 6041.",
        "Answer: up to {}",
    ];
    let mut wrong = violations(&frames, |verdict| verdict != Some(true));
    // What is its own negative, and nothing of many; labelled parts may be the text of a choice.
    let own_negative =
        |it: &str| it.contains("is minus") && (it.contains("\\pm") || it.contains('0'));
    let none = |it: &str| it.starts_with("\"0\"") && it.contains("out of");
    let parts = |it: &str| it.starts_with("\"(a)");
    // 0 and 1 are their own roots.
    let own_root = |it: &str| {
        it.contains("square root") && (it.starts_with("\"0\"") || it.starts_with("\"1\""))
    };
    wrong.retain(|it| !own_negative(it) && !none(it) && !parts(it) && !own_root(it));
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// In ten languages, in a box, after its mark, announced and alone.
#[test]
fn words_of_other_languages_that_change_an_answer_or_take_it_back_do_not_leave_it_equal() {
    let boxed = |gold: &str| format!("\\boxed{{{gold}}}");
    let mut wrong = Vec::new();
    let rows = include_str!("cases/changed.tsv").lines();
    for row in rows.filter(|row| !row.starts_with('#')) {
        let [kind, announced, words] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("no row: {row}");
        };
        for gold in ["8", "120", "3.5"] {
            let (said, closed) = (announced.replace("{}", gold), boxed(gold));
            let said_in_box = announced.replace("{}", &format!("${closed}$"));
            let texts = if kind == "back" {
                let before = [said, said_in_box, closed, format!("We add.\n#### {gold}")];
                before.map(|it| [format!("{it} {words}"), format!("{it}\n\n{words}")])
            } else {
                let [plain, held] = [gold, &closed].map(|it| words.replace("{}", it));
                let both = [plain.clone(), held.clone(), announced.replace("{}", &held)];
                let both = both.map(|it| [it.clone(), format!("**{it}**")]);
                let last = [announced.replace("{}", &plain), format!("So it is {plain}")];
                let [a, b, c] = both;
                [a, b, c, last]
            };
            let texts = texts.as_flattened().iter();
            let equal = texts.filter(|it| equal(gold, it) == Some(true));
            wrong.extend(equal.map(|it| format!("{gold:?} {it:?}")));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_part_of_an_answer_is_another_answer() {
    let mut wrong = Vec::new();
    for gold in golds() {
        for (at, _) in gold.match_indices(' ') {
            let (before, after) = (&gold[..at], &gold[at + 1..]);
            for (part, rest) in [(before, after), (after, before)] {
                // A name, and a factor that is one, add nothing; half a formula is none.
                let name = rest.contains(['=', '\u{2208}']) || rest.contains("\\in");
                let balanced = ["()", "[]", "{}", "\u{27e8}\u{27e9}"].iter().all(|pair| {
                    let mut signs = pair.chars().map(|sign| part.matches(sign).count());
                    signs.next() == signs.next()
                }) && part.matches('$').count() % 2 == 0;
                // The exponents of units are no further number.
                let exponents = ["^2", "^3", "^{-1}", "^{-2}"];
                let plain = exponents
                    .iter()
                    .fold(rest.to_owned(), |it, sign| it.replace(sign, ""));
                // 5 : 1 is 5.
                let more =
                    rest != "1" && rest != ": 1" && plain.contains(|it: char| it.is_ascii_digit());
                if name || part.ends_with('=') || !balanced || !more || gold.contains("\\tan") {
                    continue;
                }
                for (one, other) in [(part, gold.as_str()), (gold.as_str(), part)] {
                    if equal(one, other) == Some(true) {
                        wrong.push(format!("{one:?} {other:?}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn parts_that_compute_are_told_one_by_one() {
    let told = Verifier::new(Profile::Strict, Config::default())
        .parts("(1) 7; (2) 11", "(1) 3 + 4 = 7; (2) 3 + 9 = 12");
    assert_eq!(told, [Some(true), Some(false)]);
}

#[test]
fn what_stands_beside_a_number_is_part_of_the_answer() {
    let table = concat!(
        include_str!("cases/statements.jsonl"),
        include_str!("cases/choices.jsonl"),
        include_str!("cases/parts.jsonl"),
        include_str!("cases/beside.jsonl"),
        include_str!("cases/languages.jsonl"),
        include_str!("cases/near.jsonl"),
        include_str!("cases/taken_back.jsonl"),
        include_str!("cases/by_hand.jsonl"),
        include_str!("cases/announced.jsonl"),
    );
    let mut wrong = Vec::new();
    for line in table.lines() {
        let (gold, pred, expected): (String, String, Option<bool>) =
            serde_json::from_str(line).unwrap();
        let verdict = equal(&gold, &pred);
        // `null` is equal, said in a way that may stay open, and is never called different.
        let right = match expected {
            Some(expected) => (verdict == Some(true)) == expected,
            None => verdict != Some(false),
        };
        if !right {
            wrong.push(format!("{gold:?} {pred:?}: {verdict:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
