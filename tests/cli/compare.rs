//! Comparisons of responses.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::common::{Folder, rollouts, words};

/// Options with which the built-in judge compares, of which it knows nothing: what it says means nothing, and is a verdict.
const FORCED: [&str; 4] = ["--force-domain", "--max-new-tokens", "200", "--quiet"];

fn rows() -> String {
    let row = |question: &str, responses: &[&str]| {
        json!({"id": question, "question": question, "responses": responses}).to_string()
    };
    [
        row("What is 2 + 2?", &["4", "It is 5.", "2 + 2 = 4, so 4."]),
        row("What is 3 + 3?", &["6"]),
        row("What is 4 + 4?", &["8", "9"]),
    ]
    .join("\n")
}

#[test]
fn every_two_responses_are_compared_in_both_orders() {
    let folder = Folder::new();
    folder.write("in.jsonl", rows());
    let judge = ["judge", "in.jsonl", "--rank", "-o", "out.jsonl"];
    let ran = folder.run(&[&judge[..], &FORCED].concat());
    assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
    let pairs = folder.lines("out.pairs.jsonl");
    assert_eq!(pairs.len(), 8, "three pairs and one, twice each");
    for two in pairs.chunks(2) {
        assert_eq!(two[0]["response"], two[1]["other_response"]);
        assert_eq!(two[0]["other_response"], two[1]["response"]);
    }
    // By the option's earlier name it is the same run, which is done already.
    let journal = folder.read("out.comparisons.jsonl.journal");
    let earlier = ["judge", "in.jsonl", "--compare", "-o", "out.jsonl"];
    let again = folder.run(&[&earlier[..], &FORCED].concat());
    assert_eq!(again.code, ran.code, "{}", again.stderr);
    assert_eq!(folder.read("out.comparisons.jsonl.journal"), journal);
    // The ranking is what the verdicts say.
    let verdicts = folder.lines("out.comparisons.jsonl");
    let mut preference: HashMap<(String, String), f64> = HashMap::new();
    for (row, verdict) in pairs.iter().zip(&verdicts) {
        if let Some(score) = verdict["score"].as_f64() {
            let id = row["id"].as_str().unwrap();
            let (first, second) = id.split_once(" > ").unwrap();
            preference.insert((first.to_owned(), second.to_owned()), score);
        }
    }
    let rankings = folder.lines("out.jsonl");
    assert_eq!(rankings.len(), 2);
    for line in &rankings {
        for pair in line["pairs"].as_array().unwrap() {
            let id = |key: &str| pair[key].as_str().unwrap().to_owned();
            let (one, other) = (id("first"), id("second"));
            let there = preference.get(&(one.clone(), other.clone()));
            let back = preference.get(&(other, one)).map(|score| 1.0 - score);
            let expected = match (there, back) {
                (Some(there), Some(back)) => json!(f64::midpoint(*there, back)),
                (one, other) => json!(one.copied().or(other)),
            };
            assert_eq!(pair["preference"], expected, "{line}");
        }
        let responses = line["responses"].as_array().unwrap();
        let score = |response: &Value| response["score"].as_f64();
        for response in responses {
            let better = responses
                .iter()
                .filter(|other| score(other) > score(response))
                .count();
            let rank = score(response).map(|_| better + 1);
            assert_eq!(response["rank"], json!(rank), "{line}");
        }
    }
    // It goes on, and the output is ours.
    let again = folder.run(&judge[..].iter().copied().chain(FORCED).collect::<Vec<_>>());
    assert_eq!(again.code, ran.code, "{}", again.stderr);
    assert_eq!(folder.lines("out.jsonl"), rankings);
    let loud = [&judge[..], &FORCED[..3]].concat();
    let said = folder.run(&loud).stderr;
    assert!(
        said.contains("2 questions with several responses: 4 pairs"),
        "{said}"
    );
    assert!(said.contains("both orders say the same of"), "{said}");
}

#[test]
fn pairs_may_be_rows() {
    let folder = Folder::new();
    let row = json!({"question": "What is 2 + 2?", "response": "4", "other_response": "5"});
    folder.write("in.jsonl", row.to_string());
    let judge = words("judge in.jsonl --protocol pairwise -o out.jsonl --raw");
    let ran = folder.run(&[&judge[..], &FORCED].concat());
    assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
    let verdict = &folder.lines("out.jsonl")[0];
    let prompt = verdict["raw"]["prompt"].as_str().unwrap();
    assert!(
        prompt.contains("<other_answer>\n5\n</other_answer>"),
        "{prompt}"
    );
    folder.write("one.jsonl", rollouts(1));
    folder
        .run(&["judge", "one.jsonl", "--protocol", "pairwise"])
        .expect(2, &["no second response (looked for other_response)"]);
}

#[test]
fn what_cannot_be_compared_is_said() {
    let folder = Folder::new();
    folder.write("in.jsonl", rows());
    folder.write("one.jsonl", rollouts(2));
    let judge = |options: &[&str]| folder.run(&[&["judge"], options].concat());
    judge(&words("one.jsonl --rank -o out.jsonl --protocol pairwise"))
        .expect(2, &["no question has two responses"]);
    judge(&["in.jsonl", "--rank"]).expect(2, &["name a file with `-o`"]);
    judge(&["in.jsonl", "--rank", "-o", "out.csv"]).expect(2, &["ends in .jsonl"]);
    judge(&words("in.jsonl --rank -o out.jsonl --protocol prime"))
        .expect(2, &["sees one response at a time"]);
    for option in [
        &["--skip-bad"][..],
        &["--keep", "id"],
        &["--summary-json", "s.json"],
    ] {
        judge(&[&["in.jsonl", "--rank", "-o", "out.jsonl"], option].concat())
            .expect(2, &[option[0], "no meaning with --rank"]);
    }
    // Neither an input nor another file is replaced by the pairs.
    folder.write("data.pairs.jsonl", rows());
    judge(&["data.pairs.jsonl", "--rank", "-o", "data.jsonl"]).expect(2, &["data.pairs.jsonl"]);
    assert_eq!(folder.read("data.pairs.jsonl"), rows());
    folder.write("mine.pairs.jsonl", "{}\n");
    judge(&["in.jsonl", "--rank", "-o", "mine.jsonl"]).expect(2, &["--force"]);
    assert_eq!(folder.read("mine.pairs.jsonl"), "{}\n");
    // One question with two references is two questions.
    let row = |answer: &str| {
        json!({"question": "Solve the system.", "answer": answer, "response": "x"}).to_string()
    };
    folder.write("two.jsonl", [row("1"), row("2")].join("\n"));
    judge(&["two.jsonl", "--rank", "-o", "two-out.jsonl"])
        .expect(2, &["no question has two responses"]);
    judge(&["in.jsonl", "--rank", "-o", "out.jsonl", "--rules", "only"])
        .expect(2, &["changes nothing"]);
}
