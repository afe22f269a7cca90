//! Protocols other than `prime`, and a user's own.

use std::fs;
use std::path::Path;

use crate::common::{Folder, check_verdict, rollouts, row, words};
use serde_json::{Value, json};

/// A protocol for the embedded judge, which writes `<outcome> True|False </outcome>` under any prompt: its labels are the
/// values of that tag.
const OWN: &str = r#"
description = "the outcome that tiny writes"
template = "own.txt"
max_new_tokens = 512
sampling = { temperature = 0.0 }

[answer]
form = "labels"
rules = [{ name = "tag", pattern = '<outcome>\s*(true|false|True|False)\s*</outcome>', take = "last" }]

[answer.labels]
True = { outcome = true }
False = { outcome = false }
"#;

pub(crate) fn own(folder: &Folder) {
    folder.write("own.toml", OWN);
    let prime = Path::new(env!("CARGO_MANIFEST_DIR")).join("prompts/prime.txt");
    folder.write("own.txt", fs::read_to_string(prime).unwrap());
}

#[test]
fn a_protocol_of_ones_own_judges_the_outcome_alone() {
    let folder = Folder::new();
    own(&folder);
    folder.write("in.jsonl", rollouts(6));
    let judge = |protocol: &str, out: &str| {
        folder
            .run(&["judge", "in.jsonl", "--protocol", protocol, "-o", out])
            .expect(0, &[]);
        folder.lines(out)
    };
    let (prime, own) = (
        judge("prime", "prime.jsonl"),
        judge("own.toml", "own.jsonl"),
    );
    for (prime, own) in prime.iter().zip(&own) {
        check_verdict(own);
        // The same model and the same prompt: the same outcome, read in another way.
        assert_eq!(own["outcome"], prime["outcome"], "{own}");
        assert_eq!(own["overall"], prime["outcome"], "{own}");
        let reward = if prime["outcome"] == true { 1.0 } else { 0.0 };
        assert_eq!(own["reward"], reward, "{own}");
        assert_eq!(
            (&own["process"], &own["perfect"]),
            (&Value::Null, &Value::Null)
        );
        assert_eq!(own["parse_rule"], "tag");
        let label = if prime["outcome"] == true {
            "True"
        } else {
            "False"
        };
        assert_eq!(own["label"], label);
        assert!(own["confidence"]["outcome"].is_number(), "{own}");
        assert!(prime.get("label").is_none());
    }
    // Another protocol is another run.
    folder
        .run_words("judge in.jsonl --protocol own.toml -o prime.jsonl")
        .expect(2, &["protocol.name: "]);
    let changed = OWN.replace("take = \"last\"", "take = \"first\"");
    folder.write("own.toml", changed);
    folder
        .run_words("judge in.jsonl --protocol own.toml -o own.jsonl")
        .expect(2, &["protocol.hash: "]);
}

#[test]
fn rewards_that_a_protocol_cannot_give_are_refused() {
    let folder = Folder::new();
    own(&folder);
    folder.write("in.jsonl", rollouts(1));
    for (protocol, reward, expected) in [
        (
            "own.toml",
            "process-outcome",
            &["--reward process-outcome", "does not judge the process"][..],
        ),
        ("compass", "process-outcome", &["protocol compass"]),
    ] {
        folder
            .run_words(&format!(
                "judge in.jsonl --protocol {protocol} --reward {reward}"
            ))
            .expect(2, expected);
    }
    folder
        .run(&["judge", "in.jsonl", "--protocol", "xverify"])
        .expect(2, &["xverify", "--prompt FILE"]);
}

/// What is done stays as it was said: the prompt's text, and answers as the protocol has them.
#[test]
fn a_prompt_that_asks_for_another_form_is_told_of_before_the_run() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(1));
    let fields = "{{ question }}\n{{ student_answer }}\n{{ reference_answer }}\n";
    folder.write("rate.txt", format!("End with \"Rating: [[5]]\".\n{fields}"));
    folder.write("json.txt", format!("Answer with a JSON object.\n{fields}"));
    folder.write(
        "both.txt",
        format!("No JSON. Write <outcome> True </outcome>.\n{fields}"),
    );
    folder.write(
        "chat.json",
        format!(
            r#"[{{"role": "user", "content": "{}"}}]"#,
            fields.replace('\n', " ")
        ),
    );
    let judge =
        |arguments: &str| folder.run_words(&format!("judge in.jsonl --dry-run {arguments}"));
    let warning = "WARNING: rate.txt asks for `Rating: [[5]]`, and answers are written and read as protocol prime has them";
    judge("--prompt rate.txt").expect(
        0,
        &[
            warning,
            "--protocol: a file of your own (docs/protocols/own.md)",
        ],
    );
    let readers = "--protocol: answer-json, rubric, a file of your own (docs/protocols/own.md)";
    let json = judge("--prompt json.txt");
    json.expect(
        0,
        &["WARNING: json.txt asks for `Answer with a JSON`", readers],
    );
    assert_eq!(
        json.stderr.matches("WARNING: ").count(),
        1,
        "{}",
        json.stderr
    );
    for quiet in ["--prompt rate.txt --protocol prime", "--prompt both.txt"] {
        let ran = judge(quiet);
        ran.expect(0, &[]);
        assert!(!ran.stderr.contains("WARNING: "), "{}", ran.stderr);
    }
    judge("--prompt chat.json").expect(
        2,
        &[
            "chat.json: the prompt is a list of chat messages",
            "--system-prompt",
        ],
    );
}

/// The mean would leave the marks out whose first token is the same.
#[test]
fn marks_that_begin_alike_have_no_soft_reward() {
    let folder = Folder::new();
    own(&folder);
    folder.write("in.jsonl", rollouts(1));
    let marks = "1 = { score = 0.0 }\n5 = { score = 0.5 }\n10 = { score = 1.0 }\n";
    let (before, _) = OWN.split_once("True = ").unwrap();
    folder.write("marks.toml", format!("{before}{marks}"));
    let judge = words("judge in.jsonl --protocol marks.toml --reward soft");
    folder
        .run(&judge)
        .expect(2, &["--reward soft", "begin with the same tokens"]);
    folder.write("few.toml", format!("{before}{}", marks.replace("10", "9")));
    let judge = words("judge in.jsonl --protocol few.toml --reward soft --dry-run");
    folder.run(&judge).expect(0, &[]);
}

#[test]
fn faults_of_a_protocol_are_named_with_their_place() {
    let folder = Folder::new();
    own(&folder);
    folder.write("in.jsonl", rollouts(1));
    for (from, to, expected) in [
        ("form = \"labels\"", "form = \"letters\"", "letters"),
        ("take = \"last\"", "take = \"middle\"", "middle"),
        (
            "(true|false|True|False)",
            "true",
            "put the label in parentheses",
        ),
        ("(true|false|True|False)", "(true", "unclosed group"),
        (
            "False = { outcome = false }",
            "False = {}",
            "`False` says nothing",
        ),
        (
            "False = { outcome = false }",
            "False = { outcome = false, words = [\"true\"] }",
            "is a word of both",
        ),
        ("max_new_tokens = 512", "max_new_tokens = 0", "at least 1"),
        ("max_new_tokens = 512", "max_tokens = 512", "max_tokens"),
        (
            "max_new_tokens = 512",
            "view = \"half\"\nmax_new_tokens = 512",
            "tail-chars:N",
        ),
        (
            "template = \"own.txt\"",
            "template = \"gone.txt\"",
            "gone.txt",
        ),
        ("temperature = 0.0", "temperature = -1.0", "sampling"),
    ] {
        assert!(OWN.contains(from), "{from}");
        folder.write("own.toml", OWN.replace(from, to));
        folder
            .run(&["judge", "in.jsonl", "--protocol", "own.toml"])
            .expect(
                2,
                &["own.toml", expected].map(|part| {
                    if part == "own.toml" && expected == "gone.txt" {
                        "could not read"
                    } else {
                        part
                    }
                }),
            );
    }
}

#[test]
fn check_reads_what_a_judge_wrote() {
    let folder = Folder::new();
    own(&folder);
    let outputs = [
        json!({"case": "right", "output": "<outcome> True </outcome>", "expect": {"outcome": true, "label": "True"}}),
        json!({"case": "none", "output": "fine", "expect": null}),
        json!({"output": "<think><outcome>True</outcome></think><outcome>False</outcome>"}),
    ];
    let lines: Vec<String> = outputs.iter().map(ToString::to_string).collect();
    let text = lines.join("\n");
    folder.write("outputs.jsonl", &text);
    let check = ["prompts", "check", "own.toml", "--outputs", "outputs.jsonl"];
    let ran = folder.run(&check);
    ran.expect(0, &["judges outcome", "3 outputs read, 0 not as expected"]);
    let lines: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["as_expected"], true);
    assert_eq!(lines[0]["rule"], "tag");
    assert_eq!(
        (&lines[1]["read"], &lines[1]["case"]),
        (&Value::Null, &json!("none"))
    );
    assert_eq!(lines[2]["read"]["outcome"], false);
    folder.write(
        "outputs.jsonl",
        text.replace("\"outcome\":true", "\"outcome\":false"),
    );
    folder.run(&check).expect(3, &["1 not as expected"]);
    folder.write("outputs.jsonl", "{}\n");
    folder
        .run(&check)
        .expect(2, &["outputs.jsonl:1", "`output`"]);
    folder
        .run(&["prompts", "check", "xverify"])
        .expect(0, &["needs --prompt FILE"]);
}

#[test]
fn a_judge_sees_what_its_protocol_shows() {
    let folder = Folder::new();
    let response = "First 2 + 2 = 4.\n\nThen 4 + 1 = 5.\nThe answer is 5.";
    folder.write("in.jsonl", row("a", "2 + 2 + 1?", "5", response));
    let shown = |protocol: &str| {
        let ran = folder.run(&["prompts", "render", "in.jsonl", "--protocol", protocol]);
        ran.expect(0, &[]);
        ran.stdout
    };
    assert!(shown("compass").contains(response));
    let last_line = shown("tencent-rlvr");
    assert!(last_line.contains("<student_answer>\nThe answer is 5.\n</student_answer>"));
    let extracted = shown("general-verifier");
    assert!(
        extracted.contains("<student_answer>\n5\n</student_answer>"),
        "{extracted}"
    );
    assert!(extracted.starts_with("User: ") && extracted.trim_end().ends_with("Assistant:"));
    let steps = shown("first-error");
    assert!(
        steps.contains("[0] First 2 + 2 = 4.\n\n[1] Then 4 + 1 = 5."),
        "{steps}"
    );
}

#[test]
fn a_protocol_leaves_room_for_the_prompt() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(1));
    // It would have 16,384 new tokens, and the model has a context of 4,096.
    let judge = words("judge in.jsonl --protocol first-error -o out.jsonl");
    let ran = folder.run(&judge);
    // What it writes under a prompt that it does not know may be read or not.
    assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("knows no other prompt"),
        "{}",
        ran.stderr
    );
    let verdict = &folder.lines("out.jsonl")[0];
    assert_ne!(verdict["status"], "too_long");
    assert_ne!(verdict["usage"]["completion_tokens"], 0);
}
