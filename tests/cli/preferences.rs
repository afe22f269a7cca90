//! Rows of better and worse responses: `JudgeBench`, `RewardBench-2`, preference pairs.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::common::Folder;

/// A verdict's line with a reward; none for one that could not be read.
fn verdict(id: &str, reward: Option<f64>) -> String {
    let status = if reward.is_some() { "ok" } else { "unparsed" };
    let overall = reward.map(|reward| reward > 0.5);
    let line = json!({"id": id, "trial": 0, "status": status, "process": null, "outcome": overall, "overall": overall, "reward": reward});
    format!("{line}\n")
}

fn eval(folder: &Folder, verdicts: &str, labels: &str) -> (String, Value) {
    let ran = folder.run(&["eval", verdicts, "--labels", labels, "--json", "out.json"]);
    ran.expect(0, &[]);
    (
        ran.stdout.clone(),
        serde_json::from_str(&folder.read("out.json")).unwrap(),
    )
}

fn judge_bench() -> String {
    let rows = [
        ("p1", "A>B"),
        ("p2", "B>A"),
        ("p3", "A>B"),
        ("p4", "B>A"),
        ("p5", "A=B"),
    ];
    let row = |(id, label): (&str, &str)| {
        let row = json!({"pair_id": id, "original_id": "o", "source": "livebench-math", "question": format!("Question of {id}?"),
            "response_model": "m", "response_A": "It is 1. #### 1", "response_B": "It is 2. #### 2", "label": label, "answer": "1"});
        format!("{row}\n")
    };
    rows.map(row).concat()
}

#[test]
fn pairs_are_scored_by_the_higher_reward() {
    let folder = Folder::new();
    folder.write("pairs.jsonl", judge_bench());
    // Each response is a sample.
    let judged =
        folder.run_words("judge pairs.jsonl -o judged.jsonl --rules only --reward outcome");
    judged.expect(
        0,
        &[
            "judge-bench rows",
            "response_A and response_B",
            "id ← pair_id",
        ],
    );
    let lines = folder.lines("judged.jsonl");
    assert_eq!(lines.len(), 10);
    assert_eq!(
        (&lines[1]["id"], &lines[1]["group"]),
        (&json!("p1:1"), &json!("p1"))
    );
    let (text, value) = eval(&folder, "judged.jsonl", "pairs.jsonl");
    // The rules find response A right each time.
    let preferences = &value["judges"][0]["preferences"];
    assert_eq!(
        (
            &preferences["all"]["right"]["count"],
            &preferences["all"]["right"]["all"]
        ),
        (&json!(2), &json!(4))
    );
    assert!(text.contains("better response rated highest  4"), "{text}");
    // Better and worse are labels of each response, too: that of a tie is not known.
    assert_eq!(
        value["judges"][0]["all"]["tasks"]["overall"]["confusion"],
        json!([[2, 0, 2], [2, 0, 2]])
    );

    // One right, one tie, one that could not be read; of the fourth one response was not judged.
    let verdicts = verdict("p1:0", Some(0.8))
        + &verdict("p1:1", Some(0.3))
        + &verdict("p2:0", Some(1.0))
        + &verdict("p2:1", Some(1.0))
        + &verdict("p3:0", None)
        + &verdict("p3:1", Some(0.0))
        + &verdict("p4:0", Some(0.0));
    folder.write("verdicts.jsonl", verdicts);
    let (text, value) = eval(&folder, "verdicts.jsonl", "pairs.jsonl");
    assert_eq!(value["judges"][0]["preferences"]["left_out"], 1);
    assert!(text.contains("1 question is left out"), "{text}");
    let all = &value["judges"][0]["preferences"]["all"];
    assert_eq!(
        (
            &all["right"]["count"],
            &all["right"]["all"],
            &all["tied"],
            &all["unreadable"]
        ),
        (&json!(1), &json!(3), &json!(1), &json!(1))
    );
    assert!((all["shared"].as_f64().unwrap() - 0.5).abs() < 1e-12);

    // What `juror judge --rank` writes.
    let ranking = |id: &str, first: f64, second: f64| {
        let line = json!({"question": "q", "group": id, "responses": [{"id": format!("{id}:0"), "score": first, "rank": 1},
            {"id": format!("{id}:1"), "score": second, "rank": 2}], "pairs": []});
        format!("{line}\n")
    };
    folder.write(
        "ranking.jsonl",
        ranking("p1", 0.75, 0.25)
            + &ranking("p2", 0.9, 0.1)
            + &ranking("p3", 0.5, 0.5)
            + &ranking("p4", 0.0, 1.0),
    );
    let (text, value) = eval(&folder, "ranking.jsonl", "pairs.jsonl");
    let all = &value["judges"][0]["preferences"]["all"];
    assert_eq!(
        (&all["right"]["count"], &all["tied"]),
        (&json!(2), &json!(1))
    );
    assert!(!text.contains("always true"), "{text}");
    let evil = "r\u{1b}[31mx.jsonl";
    folder.write(evil, folder.read("ranking.jsonl"));
    let (text, _) = eval(&folder, evil, "pairs.jsonl");
    assert!(
        text.starts_with("r\\u{1b}[31mx.jsonl\n") && !text.contains('\u{1b}'),
        "{text:?}"
    );
    folder.write(
        "twice.jsonl",
        ranking("p1", 1.0, 0.0) + &ranking("p1", 1.0, 0.0),
    );
    folder
        .run(&["eval", "twice.jsonl", "--labels", "pairs.jsonl"])
        .expect(2, &["twice.jsonl:2", "is there twice"]);
}

#[test]
fn the_best_of_four_is_scored_by_subset() {
    let folder = Folder::new();
    let mut rows = String::new();
    let mut row = |id: &str, subset: &str, chosen: &[&str], rejected: &[&str]| {
        let row = json!({"id": id, "prompt": format!("Prompt {id}"), "chosen": chosen, "rejected": rejected, "num_correct": chosen.len(),
            "num_incorrect": rejected.len(), "total_completions": chosen.len() + rejected.len(), "models": ["m"], "subset": subset});
        writeln!(rows, "{row}").unwrap();
    };
    row("0", "Math", &["a"], &["b", "c", "d"]);
    row("1", "Math", &["a"], &["b", "c", "d"]);
    row("2", "Safety", &["a"], &["b", "c", "d"]);
    row("ref:0", "Ties", &["a"], &["b", "c"]);
    row("tied:0", "Ties", &["a", "b"], &["c", "d"]);
    folder.write("rows.jsonl", rows);
    let mut verdicts = String::new();
    for (id, scores) in [
        ("0", &[0.9, 0.1, 0.2, 0.3][..]),
        ("1", &[0.9, 0.9, 0.2, 0.3]),
        ("2", &[0.1, 0.2, 0.1, 0.1]),
        ("ref:0", &[0.9, 0.6, 0.1]),
        ("tied:0", &[0.9, 0.8, 0.3, 0.1]),
    ] {
        for (at, score) in scores.iter().enumerate() {
            verdicts += &verdict(&format!("{id}:{at}"), Some(*score));
        }
    }
    folder.write("verdicts.jsonl", verdicts);
    let (text, value) = eval(&folder, "verdicts.jsonl", "rows.jsonl");
    let preferences = &value["judges"][0]["preferences"];
    assert_eq!(preferences["by_subject"]["Math"]["shared"], 0.75);
    assert_eq!(preferences["by_subject"]["Safety"]["shared"], 0.0);
    assert_eq!(preferences["all"]["right"]["all"], 3);
    let ties = preferences["ties"]["score"].as_f64().unwrap();
    let expected = 0.3 * 2.0 + 0.2 * 2.0 + 0.01 * (0.3_f64 / 0.1 - 1.0).tanh();
    assert!((ties - expected).abs() < 1e-9, "{ties}");
    let mean = preferences["mean_of_subjects"].as_f64().unwrap();
    assert!((mean - (0.75 + 0.0 + ties) / 3.0).abs() < 1e-12);
    assert!(
        text.contains("Ties of RewardBench-2") && text.contains("  Safety"),
        "{text}"
    );
    assert_eq!(preferences["ties_left_out"], 0);
    // Under other ids their rule cannot be followed, which is told.
    for (is, was) in [("60", "ref:0"), ("61", "tied:0")] {
        for name in ["rows.jsonl", "verdicts.jsonl"] {
            folder.write(
                name,
                folder
                    .read(name)
                    .replace(&format!("\"{was}"), &format!("\"{is}")),
            );
        }
    }
    let (text, value) = eval(&folder, "verdicts.jsonl", "rows.jsonl");
    let preferences = &value["judges"][0]["preferences"];
    assert_eq!(
        (&preferences["ties_left_out"], &preferences["ties"]),
        (&json!(2), &Value::Null)
    );
    assert!(
        text.contains("2 questions are left out of Ties: their ids"),
        "{text}"
    );
}

#[test]
fn preference_rows_are_read_or_refused() {
    let folder = Folder::new();
    let row = |row: Value| format!("{row}\n");
    // What `juror build pairs` writes, as text and as messages.
    folder.write("pairs.jsonl", row(json!({"prompt": "2 + 2?", "chosen": "#### 4", "rejected": "#### 5", "answer": "4"}))
        + &row(json!({"prompt": [{"role": "user", "content": "2 + 3?"}], "chosen": [{"role": "assistant", "content": "#### 5"}],
            "rejected": [{"role": "assistant", "content": "#### 4"}], "answer": "5"})));
    folder
        .run_words("judge pairs.jsonl -o out.jsonl --rules only --reward outcome")
        .expect(0, &["preference rows"]);
    let outcomes: Vec<Value> = folder
        .lines("out.jsonl")
        .iter()
        .map(|line| line["outcome"].clone())
        .collect();
    assert_eq!(outcomes, [true, false, true, false]);
    let (_, value) = eval(&folder, "out.jsonl", "pairs.jsonl");
    assert_eq!(
        value["judges"][0]["preferences"]["all"]["right"]["count"],
        2
    );
    for (name, content, part) in [
        (
            "a.jsonl",
            json!({"question": "q", "response_A": "a", "response_B": null, "response": "r", "answer": "1"}),
            None,
        ),
        (
            "b.jsonl",
            json!({"prompt": "q", "chosen": ["a", "b"], "rejected": "c", "answer": "1"}),
            Some("one response each"),
        ),
        (
            "c.jsonl",
            json!({"prompt": "q", "chosen": [], "rejected": ["c"], "num_correct": 0, "answer": "1"}),
            Some("`chosen[*]` has no response"),
        ),
    ] {
        folder.write(name, row(content));
        let ran = folder.run(&["judge", name, "--rules", "only"]);
        match part {
            Some(part) => ran.expect(2, &[part]),
            None => ran.expect(0, &[]),
        };
    }
}
