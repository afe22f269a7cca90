//! Labels meet their verdicts: whose letters they are, and labels by the ids of rows.

use serde_json::{Value, json};

use crate::common::{Folder, words};
use crate::eval::verdict;

/// What `juror eval` takes for the outcome's label of each sample.
fn outcomes(folder: &Folder, arguments: &[&str]) -> Vec<(String, Value)> {
    let eval = words("eval verdicts.jsonl --rows-out out.jsonl --force");
    folder
        .run(&[&eval, arguments].concat())
        .expect(0, &["are few"]);
    let row = |row: Value| {
        (
            row["id"].as_str().unwrap().to_owned(),
            row["label"]["outcome"].clone(),
        )
    };
    folder.lines("out.jsonl").into_iter().map(row).collect()
}

fn verdicts(folder: &Folder, ids: &[&str]) {
    let lines = ids.iter().map(|id| verdict(id, Some((true, true))));
    folder.write("verdicts.jsonl", lines.collect::<Vec<_>>().join("\n"));
}

/// A file of labels under `key`, of samples `0`, `1`, ….
fn letters(folder: &Folder, key: &str, letters: &[&str]) {
    let row = |(at, letter): (usize, &&str)| json!({"id": at, key: letter}).to_string();
    let rows: Vec<String> = letters.iter().enumerate().map(row).collect();
    folder.write("labels.jsonl", rows.join("\n"));
    let ids: Vec<String> = (0..letters.len()).map(|at| at.to_string()).collect();
    verdicts(folder, &ids.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn the_other_letters_say_whose_c_is() {
    let folder = Folder::new();
    let labels = ["--labels", "labels.jsonl"];
    let read = |key: &str, given: &[&str], more: &[&str]| {
        letters(&folder, key, given);
        let found = outcomes(&folder, &[&labels, more].concat());
        found
            .into_iter()
            .map(|(_, label)| label)
            .collect::<Vec<_>>()
    };
    let (t, f) = (json!(true), json!(false));
    assert_eq!(
        read("is_correct", &["C", "I", "C"], &[]),
        [&t, &f, &t].map(Value::clone)
    );
    // A letter that says neither is no label.
    assert_eq!(
        read("outcome", &["c", "N", "P", "C"], &[]),
        [&t, &f, &t].map(Value::clone)
    );
    assert_eq!(
        read("is_correct", &["C", "A", "B"], &[]),
        [&f, &t, &f].map(Value::clone)
    );
    assert_eq!(
        read("gold_judgment", &["C", "C"], &[]),
        [&f, &f].map(Value::clone)
    );
    assert_eq!(
        read("is_correct", &["I", "I"], &[]),
        [&f, &f].map(Value::clone)
    );
    for (option, c) in [("letters=inspect", &t), ("letters=verifierbench", &f)] {
        let more = ["--label-columns", option];
        assert_eq!(
            read("is_correct", &["C", "C"], &more),
            [c, c].map(Value::clone)
        );
    }
    // The derivation's label is known, so the whole is once the letter is.
    let rows = [
        json!({"id": "0", "outcome": "C", "process": true}).to_string(),
        json!({"id": "1", "outcome": "I", "process": true}).to_string(),
    ];
    folder.write("labels.jsonl", rows.join("\n"));
    outcomes(&folder, &labels);
    let overall: Vec<Value> = folder.lines("out.jsonl");
    let overall = overall.iter().map(|row| row["label"]["overall"].clone());
    assert_eq!(overall.collect::<Vec<_>>(), [t, f]);
}

#[test]
fn letters_that_may_be_either_are_refused() {
    let folder = Folder::new();
    let both = [
        "Inspect",
        "VerifierBench",
        "--label-columns letters=inspect",
        "--label-columns letters=verifierbench",
    ];
    for given in [
        &["C", "C"][..],
        &["C", "A", "I"],
        &["A", "I"],
        &["correct", "C"],
    ] {
        letters(&folder, "is_correct", given);
        for command in ["eval", "calibrate"] {
            let run = [command, "verdicts.jsonl", "--labels", "labels.jsonl"];
            folder.run(&run).expect(2, &both);
        }
    }
    // Where it is known whose the letters are, those of the others are none.
    for (key, option, letter, advice) in [
        (
            "is_correct",
            "letters=inspect",
            "A",
            "letters=verifierbench",
        ),
        (
            "is_correct",
            "letters=verifierbench",
            "I",
            "letters=inspect",
        ),
        (
            "is_correct",
            "letters=verifierbench",
            "P",
            "letters=inspect",
        ),
        ("gold_judgment", "subject=", "N", "name another key"),
        ("scores", "outcome=scores.*.value", "B", "name another key"),
    ] {
        letters(&folder, key, &["C", letter]);
        if key == "scores" {
            let scores = json!({"id": "0", key: {"match": {"value": letter}}});
            folder.write("labels.jsonl", scores.to_string());
        }
        let eval = ["eval", "verdicts.jsonl", "--labels", "labels.jsonl"];
        let ran = folder.run(&[&eval[..], &["--label-columns", option]].concat());
        let letter = format!("{letter:?}");
        ran.expect(
            2,
            &[
                key,
                &letter,
                "Inspect's (C, I, P, N)",
                "VerifierBench's (A, B, C)",
                advice,
            ],
        );
    }
    // The same among the keys that a verdict keeps of its row.
    let mut kept: Value = serde_json::from_str(&verdict("a", Some((true, true)))).unwrap();
    kept["input"] = json!({"is_correct": "C"});
    folder.write("kept.jsonl", kept.to_string());
    folder.run(&["eval", "kept.jsonl"]).expect(2, &both);
    let wrong = ["eval", "kept.jsonl", "--label-columns", "letters=mine"];
    folder
        .run(&wrong)
        .expect(2, &["letters=mine: they are inspect or verifierbench"]);
}

/// Rows of lm-evaluation-harness, judged by the rules, and labels by its `doc_id`.
#[test]
fn a_label_by_the_id_of_a_row_is_that_of_its_only_response() {
    let folder = Folder::new();
    let row = |id: usize, response: Value| {
        json!({"doc_id": id, "doc": {"question": "What is 6 x 7?"}, "target": "42",
            "resps": [response], "filter": "none"})
        .to_string()
    };
    let rows = [row(7, json!(["42"])), row(8, json!(["41"]))];
    folder.write("samples.jsonl", rows.join("\n"));
    folder.write("labels.csv", "doc_id,is_correct\n7,true\n8,false\n9,true\n");
    let judge = words("judge samples.jsonl --rules only -o verdicts.jsonl");
    folder.run(&judge).expect(0, &[]);
    let labels = ["--labels", "labels.csv", "--columns", "id=doc_id"];
    let two = [("7", json!(true)), ("8", json!(false))];
    let two = two.map(|(id, label)| (id.to_owned(), label));
    assert_eq!(outcomes(&folder, &labels), two);
    // The other way round: labels in such rows, verdicts by the row's id.
    let rows = [
        json!({"id": "7", "responses": ["42"], "is_correct": true}).to_string(),
        json!({"id": "8", "responses": ["41"], "is_correct": false}).to_string(),
    ];
    folder.write("lists.jsonl", rows.join("\n"));
    verdicts(&folder, &["7", "8"]);
    let found = outcomes(&folder, &["--labels", "lists.jsonl"]);
    let ids = found
        .into_iter()
        .map(|(id, label)| (id.replace(":0", ""), label));
    assert_eq!(ids.collect::<Vec<_>>(), two);
    // Training data are built from both, whichever side has the row's id.
    let whole = |id: &str, key: &str, response: Value| {
        json!({"id": id, "question": "q", "answer": "42", key: response}).to_string()
    };
    let lists = [
        whole("7", "responses", json!(["42"])),
        whole("8", "responses", json!(["41"])),
    ];
    folder.write("rows.jsonl", lists.join("\n"));
    let build = words("build sft verdicts.jsonl --rows rows.jsonl -o");
    folder
        .run(&[&build[..], &["sft.jsonl"]].concat())
        .expect(0, &[]);
    assert_eq!(folder.lines("sft.jsonl").len(), 2);
}

#[test]
fn a_label_by_the_id_of_a_row_of_several_is_nobodys() {
    let folder = Folder::new();
    let rows = json!({"id": "7", "question": "q", "answer": "42", "responses": ["42", "41"]});
    folder.write("rows.jsonl", rows.to_string());
    folder.write(
        "labels.jsonl",
        json!({"id": "7", "is_correct": true}).to_string(),
    );
    let judge = words("judge rows.jsonl --rules only -o verdicts.jsonl");
    folder.run(&judge).expect(0, &[]);
    let eval = ["eval", "verdicts.jsonl", "--labels", "labels.jsonl"];
    folder.run(&eval).expect(
        2,
        &[
            "none of the 2 verdicts",
            "rows with several responses",
            "\"7:0\"",
        ],
    );
}

/// Of several responses in one row's list it is not known whose the one label is that all keep.
#[test]
fn a_label_that_is_kept_of_a_row_of_several_is_nobodys() {
    let folder = Folder::new();
    let rows = [
        json!({"id": "7", "question": "q", "answer": "42", "responses": ["42", "41"], "is_correct": true}),
        json!({"id": "8", "question": "q", "answer": "42", "responses": ["41"], "is_correct": false}),
        json!({"question": "p", "answer": "42", "responses": ["42", "41"], "is_correct": true}),
        json!({"id": "9", "question": "q", "answer": "42", "response": "42", "is_correct": true}),
    ];
    folder.write(
        "rows.jsonl",
        rows.each_ref().map(|row| format!("{row}\n")).concat(),
    );
    let judge = words("judge rows.jsonl --rules only --keep is_correct -o verdicts.jsonl");
    folder.run(&judge).expect(0, &[]);
    let left_out = "left out: verdicts on samples without a label (4)";
    folder
        .run(&words("eval verdicts.jsonl"))
        .expect(0, &[left_out]);
    let own = |id: &str, label: bool| (id.to_owned(), json!(label));
    assert_eq!(outcomes(&folder, &[]), [own("8:0", false), own("9", true)]);
    folder.write(
        "rows.jsonl",
        rows[..1].iter().map(Value::to_string).collect::<String>(),
    );
    folder
        .run(&[&judge[..], &["--restart"]].concat())
        .expect(0, &[]);
    let own_one = "of several responses in a row each needs its own";
    folder
        .run(&words("eval verdicts.jsonl"))
        .expect(2, &[own_one]);
    // Epochs of a sample are rows, and so are the rollouts of a question that --advantages compares.
    for (ids, group, advantages) in [
        (["1:1", "1:2"], "1", [None, None]),
        (["a", "b"], "0123456789abcdef", [Some(-1.0), Some(1.0)]),
    ] {
        let lines = ids.into_iter().zip(advantages).map(|(id, advantage)| {
            let mut line: Value = serde_json::from_str(&verdict(id, Some((true, true)))).unwrap();
            (line["group"], line["input"]) = (json!(group), json!({"is_correct": true}));
            if let Some(advantage) = advantage {
                line["advantage"] = json!(advantage);
            }
            format!("{line}\n")
        });
        folder.write("verdicts.jsonl", lines.collect::<String>());
        assert_eq!(outcomes(&folder, &[]), ids.map(|id| own(id, true)));
    }
}

/// A log of Inspect is its own labels, and the rules compare it sample by sample.
#[test]
fn a_log_of_inspect_has_its_labels() {
    let folder = Folder::new();
    let log = include_bytes!("../data/rows/inspect.eval");
    folder.write("log.eval", log);
    let judge = words("judge log.eval --rules only -o verdicts.jsonl");
    folder.run(&judge).expect(0, &["inspect rows: "]);
    let mut found = outcomes(&folder, &["--labels", "log.eval"]);
    found.sort_by(|one, other| one.0.cmp(&other.0));
    let ids = ["1:1", "1:2", "3:1", "3:2", "dir/a:1", "dir/a:2"];
    let expected = ids.map(|id| (id.to_owned(), json!(!id.starts_with('3'))));
    assert_eq!(found, expected);
    let mut pairs: Vec<(Value, Value)> = folder
        .run(&["verify", "log.eval"])
        .lines()
        .into_iter()
        .map(|pair| (pair["id"].clone(), pair["equal"].clone()))
        .collect();
    pairs.sort_by_key(|(id, _)| id.to_string());
    let expected = expected.map(|(id, label)| (json!(id), label));
    assert_eq!(pairs, expected);
    // By the sample's id alone it is unknown which epoch is meant.
    folder.write(
        "labels.jsonl",
        json!({"id": "1", "is_correct": true}).to_string(),
    );
    let eval = ["eval", "verdicts.jsonl", "--labels", "labels.jsonl"];
    folder
        .run(&eval)
        .expect(2, &["rows with several responses"]);
}
