//! `--free`, `--decide-only` and `--thinking-budget`.

use serde_json::{Value, json};

use crate::common::{Folder, rollouts, words};
use crate::protocols::own;

#[test]
fn a_constrained_judge_says_what_it_would_write() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(3));
    let judge = |options: &[&str], out: &str| {
        let ran = folder.run(&[&["judge", "in.jsonl", "-o", out, "--raw"], options].concat());
        ran.expect(0, &[]);
        folder.lines(out)
    };
    let (free, constrained) = (
        judge(&["--free"], "free.jsonl"),
        judge(&[], "constrained.jsonl"),
    );
    for (free, constrained) in free.iter().zip(&constrained) {
        for key in ["process", "outcome", "perfect", "reward"] {
            assert_eq!(free[key], constrained[key], "{key}");
        }
        assert_eq!(
            free["raw"]["completion_tokens"],
            constrained["raw"]["completion_tokens"]
        );
        assert_eq!(
            (&free["parse_rule"], &constrained["parse_rule"]),
            (&"exact".into(), &"constrained".into())
        );
    }
    for (whole, decided) in constrained
        .iter()
        .zip(judge(&["--decide-only"], "decided.jsonl"))
    {
        assert_eq!(whole["reward"], decided["reward"]);
        assert!(decided["perfect"].is_null());
        let tokens = |line: &serde_json::Value| line["usage"]["completion_tokens"].as_u64();
        assert!(tokens(&decided) < tokens(whole));
    }
    // What was not asked for need not be sure.
    let sure = judge(&["--decide-only", "--min-confidence", "0.6"], "sure.jsonl");
    assert!(sure.iter().any(|line| line["outcome"].is_null()));
    let hurried = ["--thinking-budget", "12", "--min-confidence", "0.5"];
    let hurried = judge(&hurried, "hurried.jsonl");
    for line in &hurried {
        let written = line["raw"]["completion"].as_str().unwrap();
        assert!(written.contains("\n</think>\n\n<process>"), "{written}");
        assert!(
            line["usage"]["completion_tokens"].as_u64() < Some(45),
            "{line}"
        );
    }
}

#[test]
fn what_the_judge_itself_takes_back_is_not_decided_early() {
    let folder = Folder::new();
    let labelled = include_str!("../../examples/labelled.jsonl");
    let row = labelled.lines().find(|line| line.contains("\"00092\""));
    folder.write("in.jsonl", row.unwrap());
    let judge = |code, options: &[&str]| {
        let arguments = ["judge", "in.jsonl", "-o", "out.jsonl", "--restart"];
        let ran = folder.run(&[&arguments[..], options].concat());
        ran.expect(code, &[]);
        folder.lines("out.jsonl").remove(0)
    };
    for line in [judge(3, &[]), judge(3, &["--decide-only"])] {
        assert_eq!(
            (&line["status"], &line["reward"]),
            (&"unsure".into(), &Value::Null)
        );
    }
    let line = judge(0, &["--decide-only", "--min-confidence", "0.5"]);
    assert_eq!(
        (&line["reward"], &line["outcome"]),
        (&0.0.into(), &Value::Null)
    );
}

/// `prime` with the form of its answers as a grammar.
const GRAMMAR: &str = r#"
start: "<process> " TRUTH " </process>\n<outcome> " TRUTH " </outcome>\n<perfect> " TRUTH " </perfect>"
TRUTH: "True" | "False"
"#;

/// The verdicts on `in.jsonl` under a protocol, with what the judge wrote.
fn judged(folder: &Folder, protocol: &str, more: &[&str]) -> Vec<Value> {
    let command = format!("judge in.jsonl -o out.jsonl --restart --raw --protocol {protocol}");
    let command = words(&command);
    folder.run(&[&command[..], more].concat()).expect(0, &[]);
    folder.lines("out.jsonl")
}

#[test]
fn a_grammar_says_what_the_scaffold_says() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(24));
    own(&folder);
    let declared = |more: &str| {
        format!(
            "description = \"as prime\"\ntemplate = \"own.txt\"\nmax_new_tokens = 512\nsampling = {{ temperature = 0.0 }}\n{more}\n\
            [answer]\nform = \"tags\"\nfields = [\"process\", \"outcome\", \"perfect\"]\n"
        )
    };
    folder.write("scaffold.toml", declared(""));
    folder.write("grammar.toml", declared("grammar = \"form.lark\""));
    folder.write("form.lark", GRAMMAR);
    let (by_hand, by_grammar) = (
        judged(&folder, "scaffold.toml", &[]),
        judged(&folder, "grammar.toml", &[]),
    );
    for (one, other) in by_hand.iter().zip(&by_grammar) {
        for key in ["id", "status", "process", "outcome", "perfect", "reward"] {
            assert_eq!(one[key], other[key], "{key}");
        }
        assert_eq!(one["raw"]["completion"], other["raw"]["completion"]);
        let odds = |line: &Value, field: &str| line["confidence"][field].as_f64().unwrap();
        for field in ["process", "outcome", "perfect"] {
            let difference = odds(one, field) - odds(other, field);
            assert!(difference.abs() < 1e-3, "{one} {other}");
        }
    }
}

#[test]
fn answers_of_a_schema_are_verdicts() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(12));
    let judge = |more: &[&str]| {
        judged(
            &folder,
            "answer-json",
            &[&["--force-domain"], more].concat(),
        )
    };
    // The built-in judge knows no JSON: left alone it would write its tags.
    for line in judge(&[]) {
        let written = line["raw"]["completion"].as_str().unwrap();
        assert!(written.contains("{\"verdict\": \""), "{line}");
        assert!(
            line["outcome"].is_boolean() && line["confidence"]["outcome"].is_f64(),
            "{line}"
        );
        assert!(line["reason"].is_null());
    }
    for line in judge(&["--reason", "--max-new-tokens", "300"]) {
        assert!(line["outcome"].is_boolean(), "{line}");
    }
}

#[test]
fn an_integer_of_a_schema_is_a_label() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(4));
    let labels = (1..=5).map(|points| {
        let score = f64::from(points - 1) / 4.0;
        format!("{points} = {{ score = {score} }}\n")
    });
    let labels = labels.collect::<Vec<_>>().concat();
    folder.write(
        "points.toml",
        format!(
            "description = \"own\"\ntemplate = \"points.txt\"\nschema = \"points.json\"\n[answer]\nform = \"json\"\nverdict = \"score\"\n[answer.labels]\n{labels}"
        ),
    );
    folder.write(
        "points.txt",
        "Points?\n{{ few_shots }}\n{{ question }}\n{{ student_answer }}\n{{ reference_answer }}\n",
    );
    for (kind, least) in [("integer", 1.0), ("number", 4.0)] {
        let schema = json!({"type": "object", "properties": {"score": {"type": kind, "minimum": least, "maximum": if kind == "number" { 4.0 } else { 5.0 }}},
            "required": ["score"]});
        folder.write("points.json", schema.to_string());
        let ran = folder.run_words(
            "judge in.jsonl -o out.jsonl --protocol points.toml --force-domain --restart",
        );
        assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
        let lines = folder.lines("out.jsonl");
        // A prompt that `tiny` does not know may have it think up to its limit.
        let (read, unread): (Vec<_>, Vec<_>) =
            lines.iter().partition(|line| line["status"] == "ok");
        assert!(!read.is_empty(), "{lines:?}");
        for line in unread {
            assert!(
                !line["error"]
                    .as_str()
                    .unwrap()
                    .contains("none of the labels"),
                "{line}"
            );
        }
        for line in read {
            let points: f64 = line["label"].as_str().unwrap().parse().unwrap();
            assert_eq!(line["score"], (points - 1.0) / 4.0, "{line}");
            assert_eq!(line["reward"], line["score"], "{line}");
        }
    }
}

#[test]
fn a_form_that_is_none_is_an_error_at_once() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(1));
    let declared =
        |head: &str, answer: &str| format!("description = \"own\"\n{head}\n[answer]\n{answer}\n");
    let tags = "form = \"tags\"\nfields = [\"outcome\"]";
    folder.write("bad.json", "{\"type\": \"nothing\"}");
    folder.write("bad.lark", "begin: \"a\"");
    for (head, answer, why) in [
        ("schema = \"bad.json\"", tags, "bad.json: "),
        ("grammar = \"bad.lark\"", tags, "bad.lark: "),
        ("schema = \"none.json\"", tags, "could not read"),
        (
            "schema = \"bad.json\"\ngrammar = \"bad.lark\"",
            tags,
            "there is a `schema` already",
        ),
        (
            "schema = \"bad.json\"",
            "form = \"rubric\"",
            "depends on the sample",
        ),
    ] {
        folder.write("bad.toml", declared(head, answer));
        let run = folder.run(&["judge", "in.jsonl", "--protocol", "bad.toml"]);
        run.expect(2, &[why]);
        folder
            .run(&["prompts", "check", "bad.toml"])
            .expect(2, &[why]);
    }
}

#[test]
fn a_run_is_gone_on_with_in_the_same_way_alone() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(1));
    let judge = ["judge", "in.jsonl", "-o", "out.jsonl"];
    folder.run(&judge).expect(0, &[]);
    let free = [&judge[..], &["--free"]].concat();
    folder.run(&free).expect(2, &["constrained", "--restart"]);
}

#[test]
fn options_for_constrained_answers_need_them() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(1));
    own(&folder);
    let judge = |options: &[&str]| folder.run(&[&["judge", "in.jsonl"], options].concat());
    for option in [&["--decide-only"][..], &["--thinking-budget", "9"]] {
        judge(&[option, &["--free"]].concat()).expect(2, &["cannot be used with"]);
        judge(&[option, &["--rules", "only"]].concat()).expect(2, &[option[0], "changes nothing"]);
        judge(&[option, &["--protocol", "own.toml"]].concat())
            .expect(2, &[option[0], "own: its answers are not constrained"]);
        let json = judge(&[option, &["--protocol", "answer-json", "--dry-run"]].concat());
        if option[0] == "--decide-only" {
            json.expect(2, &["answer-json: what it writes follows a grammar"]);
        } else {
            json.expect(0, &[]);
        }
    }
    judge(&["--decide-only", "--reason"]).expect(2, &["cannot be used with"]);
    judge(&["--reason", "--protocol", "compass"])
        .expect(2, &["--reason", "no reason that is read"]);
    judge(&["--thinking-budget", "0"]).expect(2, &[]);
}
