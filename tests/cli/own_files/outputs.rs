//! Outputs that other programs read: CSV, Parquet, kept columns, the summary and the consensus.

use std::fs::File;

use parquet::file::reader::{FileReader, SerializedFileReader};

use super::*;
use crate::common::{rollouts, words};

fn parquet_rows(folder: &Folder, name: &str) -> Vec<Value> {
    let reader = SerializedFileReader::new(File::open(folder.path(name)).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    rows.map(|row| row.unwrap().to_json_value()).collect()
}

#[test]
fn the_name_decides_the_format() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(5));
    for out in ["out.jsonl", "out.csv", "out.parquet", "bare"] {
        folder
            .run(&["judge", "--rules", "only", "in.jsonl", "-o", out])
            .expect(0, &["verdicts in "]);
    }
    let lines = folder.lines("out.jsonl");
    assert_eq!(folder.read("bare"), folder.read("out.jsonl"));
    let mut table = csv::Reader::from_path(folder.path("out.csv")).unwrap();
    let header = table.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|other| other == name).unwrap();
    let rows: Vec<csv::StringRecord> = table.records().map(Result::unwrap).collect();
    let parquet = parquet_rows(&folder, "out.parquet");
    assert_eq!((rows.len(), parquet.len()), (5, 5));
    for ((line, row), nested) in lines.iter().zip(&rows).zip(&parquet) {
        for key in ["id", "status", "outcome"] {
            let text = match &line[key] {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            assert_eq!(&row[column(key)], text.as_str(), "{key}");
            assert_eq!(nested[key], line[key], "{key}");
        }
    }
    for out in ["out.xlsx", "out.json", "out.jsonl.gz"] {
        let ran = folder.run(&["judge", "--rules", "only", "in.jsonl", "-o", out]);
        ran.expect(2, &[out, ".jsonl for JSON lines, .csv or .parquet"]);
        assert!(!folder.has(out));
    }
}

#[test]
fn keys_of_a_row_are_kept() {
    let folder = Folder::new();
    folder.write(
        "in.jsonl",
        "{\"id\": \"a\", \"question\": \"1 + 1?\", \"answer\": \"2\", \"response\": \"2\", \"step\": 3, \"extra\": {\"run\": \"x\"}}\n",
    );
    let judge = |keep: &str, out: &str| {
        let ran = folder.run(&[
            "judge", "--rules", "only", "in.jsonl", "--keep", keep, "-o", out,
        ]);
        ran.expect(0, &[]);
    };
    judge("step,extra.run", "some.jsonl");
    assert_eq!(
        folder.lines("some.jsonl")[0]["input"],
        json!({"step": 3, "extra.run": "x"})
    );
    judge("all", "all.jsonl");
    let all = &folder.lines("all.jsonl")[0]["input"];
    assert_eq!(
        (&all["answer"], &all["extra"]),
        (&json!("2"), &json!({"run": "x"}))
    );
    // One type stays that type; of several types, or nested, it is text.
    let row = |id: &str, mixed: Value| {
        json!({"id": id, "question": "1 + 1?", "answer": "2", "response": "2", "step": 17, "rate": 0.5, "flag": true, "name": "x",
            "mixed": mixed, "extra": [1], "none": null})
        .to_string()
    };
    folder.write(
        "typed.jsonl",
        [
            row("a", json!(1)),
            row("b", json!("b")),
            row("c", Value::Null),
        ]
        .join("\n"),
    );
    folder
        .run_words(
            "judge --rules only typed.jsonl --keep step,rate,flag,name,mixed,extra,none -o typed.parquet",
        )
        .expect(0, &[]);
    let typed = parquet_rows(&folder, "typed.parquet");
    let kept = |row: &Value| {
        ["step", "rate", "flag", "name", "mixed", "extra", "none"]
            .map(|key| row[format!("input.{key}").as_str()].clone())
    };
    let (one, rate, flag, name) = (json!(17), json!(0.5), json!(true), json!("x"));
    for (row, mixed) in typed.iter().zip([json!("1"), json!("b"), Value::Null]) {
        let expected = [
            one.clone(),
            rate.clone(),
            flag.clone(),
            name.clone(),
            mixed,
            json!("[1]"),
            Value::Null,
        ];
        assert_eq!(kept(row), expected);
    }
    judge("step,extra", "kept.csv");
    let text = folder.read("kept.csv");
    assert!(text.lines().next().unwrap().contains("step"), "{text}");
    folder
        .run_words("judge --rules only in.jsonl --keep stepp -o none.jsonl")
        .expect(2, &["stepp"]);
}

#[test]
fn the_summary_and_the_consensus_are_for_programs_too() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(4));
    let ran = folder.run_words(
        "judge --rules only in.jsonl -o out.jsonl --trials 3 --summary-json summary.json \
        --consensus consensus.jsonl",
    );
    ran.expect(0, &["consensus", "right ones none", "--reward outcome"]);
    let summary: Value = serde_json::from_str(&folder.read("summary.json")).unwrap();
    assert_eq!(summary["schema"], 3);
    assert_eq!(summary["verdicts"], 12);
    assert_eq!(summary["by_status"], json!({"ok": 12}));
    assert_eq!(summary["outcome"], json!({"true": 9, "known": 12}));
    // The three wrong ones alone.
    assert_eq!(summary["reward"], json!({"known": 3, "mean": null}));
    let consensus = folder.lines("consensus.jsonl");
    assert_eq!(consensus.len(), 4);
    assert_eq!(
        consensus[2]["outcome_votes"],
        json!({"true": 0, "false": 3})
    );
    assert_eq!(consensus[0]["trials"], 3);
    folder
        .run(&rules(&["in.jsonl", "--consensus", "c.jsonl", "--restart"]))
        .expect(2, &["--trials"]);
}

/// A spreadsheet runs a cell that begins so; the file has it as it is, unless it is asked not to.
#[test]
fn formulas_in_tables_are_quoted_on_request() {
    let folder = Folder::new();
    let ids = ["=1+1", "@SUM(1)", "+1", "-1", "\tx", "plain"];
    let row = |id: &&str| {
        let row = json!({"id": id, "question": "1 + 1?", "reference_answer": "2", "response": "=2", "step": -3, "note": id});
        format!("{row}\n")
    };
    folder.write("in.jsonl", ids.iter().map(row).collect::<String>());
    let judge = words("judge --rules only in.jsonl --keep step,note");
    let column = |file: &str, name: &str| -> Vec<String> {
        let mut table = csv::Reader::from_path(folder.path(file)).unwrap();
        let place = table
            .headers()
            .unwrap()
            .iter()
            .position(|other| other == name);
        let place = place.unwrap_or_else(|| panic!("{name} in {file}"));
        let cells = table.records().map(|row| row.unwrap()[place].to_owned());
        cells.collect()
    };
    let quoted = ids.map(|id| {
        if id == "plain" {
            id.to_owned()
        } else {
            format!("'{id}")
        }
    });
    folder
        .run(&[&judge[..], &["-o", "plain.csv"]].concat())
        .expect(0, &[]);
    assert_eq!(column("plain.csv", "id"), ids);
    folder
        .run(&[&judge[..], &["-o", "quoted.csv", "--quote-formulas"]].concat())
        .expect(0, &[]);
    for name in ["id", "input.note"] {
        assert_eq!(column("quoted.csv", name), quoted, "{name}");
    }
    assert_eq!(column("quoted.csv", "input.step"), ["-3"; 6]);
    let build = ["build", "sft", "in.jsonl", "--verdicts", "verdicts.jsonl"];
    let verdict = |(at, id): (usize, &&str)| {
        let line = json!({"id": id, "index": at, "trial": 0, "status": "ok", "process": true, "outcome": true, "perfect": true,
            "overall": true, "reward": 1.0, "reason": null, "usage": {"prompt_tokens": 1, "cached_tokens": 0, "completion_tokens": 1}});
        format!("{line}\n")
    };
    let verdicts: String = ids.iter().enumerate().map(verdict).collect();
    folder.write("verdicts.jsonl", verdicts);
    folder
        .run(&[&build[..], &["-o", "sft.csv", "--quote-formulas"]].concat())
        .expect(0, &[]);
    assert_eq!(column("sft.csv", "completion"), ["'=2"]);
    for out in ["out.jsonl", "out.parquet"] {
        folder
            .run(&[&judge[..], &["-o", out, "--quote-formulas"]].concat())
            .expect(2, &["--quote-formulas changes nothing without -o OUT.csv"]);
    }
}
