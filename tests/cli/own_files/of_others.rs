//! What other programs write: bare NaN, class labels, files of kinds that are not read.

use serde_json::{Value, json};

use crate::common::{Folder, words};

/// A verdict's line with an outcome.
fn verdict(id: &str, outcome: bool) -> String {
    json!({"id": id, "status": "ok", "outcome": outcome, "overall": outcome, "usage": {"prompt_tokens": 1, "cached_tokens": 0,
        "completion_tokens": 1}})
    .to_string()
}

#[test]
fn a_bare_nan_is_null_where_it_is_not_needed_and_named_where_it_is() {
    let folder = Folder::new();
    // As Python's json.dumps and DuckDB's COPY write them.
    let rows = [
        r#"{"id": "a", "question": "NaN or 2?", "reference": "2", "response": "It is 2.", "score": NaN, "outcome_label": true}"#,
        r#"{"id":"b","question":"1 + 1?","reference":"2","response":"3","all":[NaN,-Infinity],"outcome_label":false}"#,
        r#"{"id":"c","question":"1 + 1?","reference":"2","response":"2","all":Infinity,"outcome_label":NaN}"#,
    ]
    .join("\n");
    folder.write("rows.jsonl", &rows);
    folder.write("rows.json", format!("[{}]", rows.replace('\n', ",\n")));
    for name in ["rows.jsonl", "rows.json"] {
        let run = format!("judge {name} --rules only --keep score -o v.jsonl --restart");
        let run = words(&run);
        folder.run(&run).expect(0, &[]);
        let verdicts = folder.lines("v.jsonl");
        let outcomes: Vec<&Value> = verdicts.iter().map(|line| &line["outcome"]).collect();
        assert_eq!(outcomes, [true, false, true]);
        assert_eq!(verdicts[0]["input"], json!({"score": null}));
        folder
            .run(&["verify", name])
            .expect(0, &["3 pairs: 2 equal, 1 different"]);
        let eval = folder.run(&[
            "eval", "v.jsonl", "--labels", name, "--json", "e.json", "--force",
        ]);
        eval.expect(0, &[]);
    }
    // A verdict's own line, too.
    let lines = [verdict("a", true), verdict("b", false)].join("\n");
    folder.write(
        "own.jsonl",
        lines.replace("\"status\"", "\"reward\": NaN, \"status\""),
    );
    folder
        .run(&["eval", "own.jsonl", "--labels", "rows.jsonl"])
        .expect(0, &[]);
    for (key, value) in [
        ("reference", "NaN"),
        ("response", "-Infinity"),
        ("question", "Infinity"),
    ] {
        let mut one = json!({"id": "a", "question": "q", "reference": "2", "response": "2"});
        one[key] = Value::Null;
        folder.write("bad.jsonl", one.to_string().replace("null", value));
        let judge = folder.run(&["judge", "bad.jsonl", "--rules", "only"]);
        judge.expect(
            2,
            &[&format!("`{key}`"), &format!("is {value}: it must be")],
        );
        if key != "question" {
            folder
                .run(&["verify", "bad.jsonl"])
                .expect(3, &[&format!("is {value}")]);
        }
    }
    folder.write("bad.jsonl", r#"{"gold": NaN, "pred": "1"}"#);
    folder.run(&["verify", "bad.jsonl"]).expect(3, &["is NaN"]);
    // Columns are those of the file.
    folder.write("bad.jsonl", r#"{"a": NaN, "b": NaN, "c": nope}"#);
    folder
        .run(&["judge", "bad.jsonl", "--rules", "only"])
        .expect(2, &["not valid JSON: expected ident at column 28"]);
}

#[test]
fn class_labels_are_read_by_their_names() {
    let folder = Folder::new();
    folder.write(
        "rows.parquet",
        include_bytes!("../../data/rows/class_labels.parquet"),
    );
    let judge = ["judge", "rows.parquet", "--rules", "only", "-o"];
    folder
        .run(&[&judge[..], &["v.jsonl", "--keep", "outcome_label,step"]].concat())
        .expect(0, &[]);
    let verdicts = folder.lines("v.jsonl");
    let outcomes: Vec<&Value> = verdicts.iter().map(|line| &line["outcome"]).collect();
    assert_eq!(outcomes, [true, false, true]);
    assert_eq!(
        [
            &verdicts[0]["input"],
            &verdicts[1]["input"],
            &verdicts[2]["input"]
        ],
        [
            &json!({"outcome_label": "correct", "step": 7}),
            &json!({"outcome_label": "incorrect", "step": 7}),
            &json!({"outcome_label": null, "step": 7})
        ]
    );
    // The rules agree with every label there is.
    for labels in [&["--labels", "rows.parquet"][..], &[]] {
        let eval = [&["eval", "v.jsonl", "--json", "e.json", "--force"], labels].concat();
        folder.run(&eval).expect(0, &[]);
        let scores: Value = serde_json::from_str(&folder.read("e.json")).unwrap();
        let accuracy = &scores["judges"][0]["all"]["tasks"]["outcome"]["accuracy"]["share"];
        assert_eq!(accuracy, 1.0, "{scores}");
    }
    let columns = words("judge rows.parquet --rules only --columns reference=outcome_label");
    folder.run(&columns).expect(
        2,
        &["rows.parquet:3: `outcome_label` (the reference answer) is a class label without a name"],
    );
}

#[test]
fn a_row_that_is_a_whole_rollout_is_verified_as_one() {
    let folder = Folder::new();
    let rows = [
        // verl's dump of a DAPO run: `pred` is what its own scorer took from the output.
        json!({"input": "user\n1 + 1?\nassistant\n", "output": "Answer: 2", "gts": "2", "score": 1.0, "step": 3, "acc": true, "pred": "2"}),
        json!({"question": "1 + 1?", "answer": "2", "response": "So it is 2.", "pred": null}),
        json!({"gold": "2", "response": "It is 2."}),
        json!({"gold": "0.333", "completion": "1/3", "config": {"float_rounding": 3}}),
        json!({"reference": "2", "pred": "3"}),
        json!({"gold": "2", "pred": "2", "response": "It is 3."}),
    ];
    let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
    let ran = folder.pipe(lines.join("\n").as_bytes(), &["verify"]);
    ran.expect(0, &[]);
    let equal: Vec<Value> = ran
        .lines()
        .iter()
        .map(|line| line["equal"].clone())
        .collect();
    assert_eq!(equal, [true, true, true, true, false, true]);
}

#[test]
fn an_empty_label_is_none_in_every_format() {
    let folder = Folder::new();
    folder.write(
        "v.jsonl",
        [verdict("a", true), verdict("b", true)].join("\n"),
    );
    let labels = [
        json!({"id": "a", "outcome_label": "true"}),
        json!({"id": "b", "outcome_label": ""}),
    ];
    folder.write("l.jsonl", format!("{}\n{}", labels[0], labels[1]));
    folder.write(
        "n.jsonl",
        format!(
            "{}\n{}",
            labels[0],
            labels[1].to_string().replace("\"\"", "null")
        ),
    );
    folder.write("l.csv", "id,outcome_label\na,true\nb,\n");
    folder.write("s.tsv", "id\toutcome_label\na\ttrue\nb\t \n");
    let mut seen = Vec::new();
    for name in ["l.jsonl", "n.jsonl", "l.csv", "s.tsv"] {
        folder
            .run(&[
                "eval", "v.jsonl", "--labels", name, "--json", "e.json", "--force",
            ])
            .expect(0, &[]);
        let mut scores: Value = serde_json::from_str(&folder.read("e.json")).unwrap();
        seen.push(scores["judges"][0]["all"]["tasks"]["outcome"].take());
    }
    assert!(
        seen[0].is_object() && seen.iter().all(|one| *one == seen[0]),
        "{seen:?}"
    );
}

#[test]
fn a_file_of_another_kind_is_named_by_every_command() {
    let folder = Folder::new();
    let labelled = json!({"id": "a", "question": "1 + 1?", "reference": "2", "response": "2", "outcome_label": true});
    folder.write("rows.jsonl", labelled.to_string());
    folder.write("v.jsonl", verdict("a", true));
    let utf16 =
        |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let office = |name: &str| {
        [
            b"PK\x03\x04\x14\0\0\0\x08\0".as_slice(),
            &[0; 20],
            name.as_bytes(),
        ]
        .concat()
    };
    let line = "{\"question\": \"1 + 1?\", \"reference\": \"2\", \"response\": \"2\"}\n";
    let kinds: [(&str, Vec<u8>, &str); 12] = [
        ("a.pdf", b"%PDF-1.7\n".to_vec(), "is a PDF"),
        (
            "a.xlsx",
            office("[Content_Types].xml"),
            "is an Excel workbook",
        ),
        ("b.xlsx", office("docProps/app.xml"), "is an Excel workbook"),
        ("a.arrow", b"ARROW1\0\0".to_vec(), "is an Arrow file"),
        ("a.feather", b"FEA1\0\0\0\0".to_vec(), "is a Feather file"),
        (
            "data.arrow",
            b"\xff\xff\xff\xff\xd0\0\0\0".to_vec(),
            "is a stream of Arrow, as `datasets` saves it",
        ),
        ("u.jsonl", utf16(&format!("\u{feff}{line}")), "is UTF-16"),
        ("u.csv", utf16("\u{feff}id,question\n"), "is UTF-16"),
        ("w.jsonl", utf16(line), "is UTF-16"),
        (
            "p.jsonl",
            line.replace('"', "'").into_bytes(),
            "as Python shows objects (single quotes)",
        ),
        (
            "p.json",
            format!("[{}]", line.trim().replace('"', "'")).into_bytes(),
            "as Python shows objects",
        ),
        (
            "page.json",
            b"<!DOCTYPE html><html>".to_vec(),
            "is a web page",
        ),
    ];
    for (name, content, said) in kinds {
        folder.write(name, content);
        for command in [
            &["judge", name, "--rules", "only"][..],
            &["verify", name],
            &["eval", name, "--labels", "rows.jsonl"],
            &["eval", "v.jsonl", "--labels", name],
            &["view", name, "--port", "0"],
        ] {
            folder.run(command).expect(2, &[name, said, "not read: "]);
        }
    }
    // A folder that `save_to_disk` wrote.
    std::fs::create_dir(folder.path("saved")).unwrap();
    folder.write("saved/state.json", "{}");
    folder.write("saved/data-00000-of-00001.arrow", "");
    folder.run(&["judge", "saved", "--rules", "only"]).expect(
        2,
        &[
            "data-00000-of-00001.arrow is a stream of Arrow",
            "load_from_disk",
        ],
    );
}
