//! What files and models say reaches the terminal escaped: no cursor moves, no title is set, no line is forged.

use std::fs;

use serde_json::{Value, json};

use crate::common::{Folder, Ran, rollouts, row};

/// Titles, colours, a carriage return, a line of its own, C1's introducer, a turned direction, no width.
const EVIL: &str =
    "x\u{1b}]0;title\u{7}\u{1b}[2J\r\nerror: forged\u{9b}31m\u{202e}txt\u{200b}\u{2028}y";

/// Checks that nothing hidden came through, and that what was hidden is shown.
fn check(ran: &Ran, name: &str) {
    for (stream, text) in [("stderr", &ran.stderr), ("stdout", &ran.stdout)] {
        let hidden =
            |c: &char| (c.is_control() && *c != '\n') || "\u{202e}\u{200b}\u{2028}".contains(*c);
        let found = text.chars().find(hidden);
        assert_eq!(found, None, "{name}: {stream}: {text:?}");
        let forged = text.lines().any(|line| line.starts_with("error: forged"));
        assert!(!forged, "{name}: {stream}: {text}");
    }
    let both = format!("{}{}", ran.stderr, ran.stdout);
    assert!(
        both.contains(r"\u{1b}") || both.contains(r"\u001b"),
        "{name}: {both}"
    );
}

fn change(folder: &Folder, file: &str, change: impl FnOnce(&mut Value)) {
    let mut json: Value = serde_json::from_str(&folder.read(file)).unwrap();
    change(&mut json);
    folder.write(file, json.to_string());
}

#[test]
fn names_in_model_files_are_escaped() {
    type Change = fn(&Folder);
    let changes: [(&str, Change); 6] = [
        ("a key of config.json", |folder| {
            change(folder, "model/config.json", |json| json[EVIL] = 1.into());
        }),
        ("an architecture", |folder| {
            change(folder, "model/config.json", |json| {
                json["architectures"] = json!([EVIL]);
            });
        }),
        ("an end of turns", |folder| {
            change(folder, "model/generation_config.json", |json| {
                json["eos_token_id"] = EVIL.into();
            });
        }),
        ("a template's own error", |folder| {
            let template = format!("{{{{ raise_exception({}) }}}}", json!(EVIL));
            folder.write("model/chat_template.jinja", template);
        }),
        ("a tensor", |folder| {
            let path = folder.path("model/model.safetensors");
            let bytes = fs::read(&path).unwrap();
            let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
            let mut header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
            let tensors = header.as_object_mut().unwrap();
            let moved = tensors.remove("model.norm.weight").unwrap();
            tensors.insert(EVIL.into(), moved);
            let header = header.to_string();
            let length_bytes = (header.len() as u64).to_le_bytes();
            fs::write(
                &path,
                [&length_bytes, header.as_bytes(), &bytes[8 + length..]].concat(),
            )
            .unwrap();
        }),
        ("a shard", |folder| {
            fs::remove_file(folder.path("model/model.safetensors")).unwrap();
            let index = json!({"weight_map": {"model.norm.weight": EVIL}});
            folder.write("model/model.safetensors.index.json", index.to_string());
        }),
    ];
    for (name, change) in changes {
        let folder = Folder::new();
        folder.write("in.jsonl", rollouts(1));
        folder.write_model();
        change(&folder);
        for arguments in [
            &["judge", "in.jsonl", "--model", "model"][..],
            &["models", "show", "model"],
        ] {
            let ran = folder.run(arguments);
            assert!(matches!(ran.code, Some(1 | 2)), "{name}: {}", ran.stderr);
            check(&ran, name);
        }
    }
}

#[test]
fn names_of_files_columns_and_samples_are_escaped() {
    let folder = Folder::new();
    let file = EVIL.replace(['/', '\0'], "");
    let out = format!("{file}.out.jsonl");
    folder.write(&file, rollouts(1));
    check(
        &folder.run(&["judge", &file, "--rules", "only", "-o", &out]),
        "an output",
    );
    folder.write(&file, "no row\n");
    check(
        &folder.run(&["judge", &file, "--rules", "only"]),
        "an input",
    );
    let missing = format!("{file}.missing");
    check(&folder.run(&["verify", &missing]), "an argument");
    check(
        &folder.run(&["judge", "in.jsonl", "--model", EVIL]),
        "a model",
    );
    folder.write(
        "twice.jsonl",
        row(EVIL, "1", "1", "1") + "\n" + &row(EVIL, "1", "1", "1") + "\n",
    );
    check(
        &folder.run(&["judge", "twice.jsonl", "--rules", "only"]),
        "an id",
    );
    folder.write("columns.jsonl", json!({EVIL: 1}).to_string() + "\n");
    check(
        &folder.run(&["judge", "columns.jsonl", "--rules", "only"]),
        "a column",
    );
    let pair = ["verify", "--explain", "--gold", EVIL, "--pred", EVIL];
    check(&folder.run(&pair), "an explanation");
}

/// Headings and tables hold names of files, of columns and of people.
#[test]
fn names_in_reports_are_escaped() {
    let folder = Folder::new();
    let evil = |name: &str| format!("{name}{}", EVIL.replace(['/', '\0'], ""));
    let verdict = |id: &str, right: bool| {
        let line = json!({"id": id, "index": 0, "trial": 0, "status": "ok", "process": right, "outcome": right, "perfect": null,
            "overall": right, "reward": f64::from(u8::from(right)), "reason": null, "confidence": {"process": 0.9, "outcome": 0.9},
            "usage": {"prompt_tokens": 1, "cached_tokens": 0, "completion_tokens": 1}});
        format!("{line}\n")
    };
    let (first, second) = (evil("first"), evil("second"));
    folder.write(&first, verdict("a", true) + &verdict("b", true));
    folder.write(&second, verdict("a", false) + &verdict("b", true));
    folder.write("labels.csv", "id,process,outcome\na,1,1\nb,0,0\n");
    let eval = ["eval", &first, "--labels", "labels.csv"];
    check(&folder.run(&eval), "verdicts");
    let compared = folder.run(&[&eval[..], &["--compare", &second]].concat());
    check(compared.expect(0, &[]), "--compare");
    let heading = compared
        .stdout
        .lines()
        .find(|line| line.contains(" against first"));
    assert!(
        heading.is_some_and(|line| line.contains("\\u{1b}")),
        "{}",
        compared.stdout
    );
    let table = format!("judge,accuracy,{0}\n{0},1,2\nb,2,3\n", "x\u{1b}[31my");
    folder.write("scores.csv", table);
    check(&folder.run(&["correlate", "scores.csv"]), "columns");
    for (file, who) in [("one.jsonl", evil("A")), ("two.jsonl", evil("B"))] {
        let label = json!({"id": EVIL, "annotator": who, "outcome": who.starts_with('A'), "process": true, "overall": true,
            "time": "2026-01-01T00:00:00Z"});
        folder.write(file, format!("{label}\n"));
    }
    check(
        &folder.run(&["label", "--agreement", "one.jsonl", "two.jsonl"]),
        "annotators",
    );
    let text = format!("The answer is {EVIL}");
    check(
        &folder.run(&["verify", "--explain", "--gold", &text, "--pred", &text]),
        "--explain",
    );
}
