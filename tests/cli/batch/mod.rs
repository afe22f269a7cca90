//! Batch files: what a judge is asked goes out, any engine's answers come in, and the two ways give the same verdicts.

mod export;
mod import;
mod run;

use std::path::Path;

use serde_json::{Value, json};

use crate::common::{Folder, json_lines, row, words};

/// A readable answer under `prime`.
const RIGHT: &str =
    "<process> True </process>\n<outcome> True </outcome>\n<perfect> True </perfect>";

/// An answer line in OpenAI's shape.
fn answered(custom_id: &Value, content: &str) -> Value {
    let choice = json!({"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"});
    in_body(custom_id, &json!({"choices": [choice]}))
}

fn in_body(custom_id: &Value, body: &Value) -> Value {
    json!({"id": "x", "custom_id": custom_id, "response": {"status_code": 200, "request_id": "r", "body": body}, "error": null})
}

fn lines_of(values: &[Value]) -> String {
    let lines: Vec<String> = values.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

/// Exports rows under ids, and gives the custom ids.
fn exported(folder: &Folder, ids: &[&str], more: &[&str]) -> Vec<Value> {
    let rows: String = ids
        .iter()
        .map(|id| row(id, &format!("What is 3 + 4? ({id})"), "7", "3 + 4 = 7."))
        .collect();
    folder.write("in.jsonl", rows);
    let arguments = [
        &words("batch export in.jsonl -o batch.jsonl --force")[..],
        more,
    ]
    .concat();
    folder.run(&arguments).expect(0, &["in batch.jsonl"]);
    let batch = folder.lines("batch.jsonl");
    batch
        .into_iter()
        .map(|line| line["custom_id"].clone())
        .collect()
}

/// Verdicts without what depends on the way they were made.
fn verdicts(lines: Vec<Value>) -> Vec<Value> {
    const KEYS: [&str; 12] = [
        "id",
        "index",
        "trial",
        "status",
        "process",
        "outcome",
        "perfect",
        "overall",
        "reward",
        "outcome_source",
        "rule_outcome",
        "parse_rule",
    ];
    let keep = |line: Value| {
        KEYS.iter()
            .map(|key| ((*key).to_owned(), line[*key].clone()))
            .collect::<Value>()
    };
    lines.into_iter().map(keep).collect()
}

/// Judges a file with free answers, and runs it as a batch; compares verdicts and prompt tokens.
#[track_caller]
fn both_ways(input: &str, limit: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(input);
    let path = path.to_str().unwrap();
    let folder = Folder::new();
    let judged = folder.run_words(&format!(
        "judge {path} --limit {limit} -o judged.jsonl --free --raw"
    ));
    let code = judged.code.unwrap();
    folder
        .run_words(&format!(
            "batch export {path} --limit {limit} -o batch.jsonl --parts"
        ))
        .expect(0, &["requests for"]);
    folder
        .run_words("batch run batch.jsonl -o outputs.jsonl --model tiny --raw")
        .expect(0, &["lines answered"]);
    let arguments =
        format!("batch import {path} --limit {limit} --outputs outputs.jsonl -o verdicts.jsonl");
    let arguments = words(&arguments);
    folder
        .run(&[&arguments[..], &["--model", "tiny"]].concat())
        .expect(code, &["verdicts in verdicts.jsonl"]);
    let judged = folder.lines("judged.jsonl");
    let outputs = folder.lines("outputs.jsonl");
    for (line, output) in judged.iter().zip(&outputs) {
        let body = &output["response"]["body"];
        assert_eq!(
            line["raw"]["prompt_tokens"], body["prompt_token_ids"],
            "{line}"
        );
    }
    let imported = folder.lines("verdicts.jsonl");
    assert_eq!(imported.len(), judged.len());
    for line in &imported {
        crate::common::check_verdict(line);
        assert!(
            line["usage"]["completion_tokens"].as_u64().unwrap() > 0,
            "{line}"
        );
    }
    // What its own probabilities make the judge leave open is not in a text.
    let doubted = |line: &Value| {
        let why = line["error"].as_str().unwrap_or_default();
        line["status"] == "unsure" || why.contains("is not sure that it knows")
    };
    let pairs = imported.into_iter().zip(judged);
    let (imported, judged): (Vec<_>, Vec<_>) = pairs.filter(|(_, line)| !doubted(line)).unzip();
    assert!(
        judged.len() * 10 > outputs.len() * 9,
        "{} left",
        judged.len()
    );
    assert_eq!(verdicts(imported), verdicts(judged));
}

#[test]
fn both_ways_give_the_same_verdicts() {
    both_ways("examples/rollouts.jsonl", "24");
    both_ways("tests/data/tiny/domain.jsonl", "12");
    both_ways("tests/data/tiny/heldout.jsonl", "12");
}

#[test]
fn a_prompt_in_one_text_gives_the_same_verdicts_on_the_examples() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/rollouts.jsonl");
    let path = path.to_str().unwrap();
    let folder = Folder::new();
    let judged = folder.run(&["judge", path, "--free", "-q"]).lines();
    folder
        .run(&["batch", "export", path, "-o", "batch.jsonl", "-q"])
        .expect(0, &[]);
    let run = words("batch run batch.jsonl -o outputs.jsonl --model tiny -q");
    folder.run(&run).expect(0, &[]);
    // Without the judge's files: by the protocol alone.
    let imported = folder.run(&["batch", "import", path, "--outputs", "outputs.jsonl", "-q"]);
    assert_eq!(verdicts(imported.expect(0, &[]).lines()), verdicts(judged));
}

#[test]
fn raw_prompts_go_both_ways_too() {
    let folder = Folder::new();
    folder.write(
        "in.jsonl",
        row("a", "What is 3 + 4?", "7", "The answer is 7."),
    );
    let protocol = ["--protocol", "general-verifier"];
    let export = ["batch", "export", "in.jsonl", "-o", "batch.jsonl"];
    folder
        .run(&[&export[..], &protocol].concat())
        .expect(0, &["1 request"]);
    let request = &folder.lines("batch.jsonl")[0];
    assert_eq!(request["url"], "/v1/completions");
    assert_eq!(request["body"]["stop"], json!(["\nUser:"]));
    assert_eq!(request["body"]["max_tokens"], 2048);
    let shown = folder.run(&[&["prompts", "render", "in.jsonl"], &protocol[..]].concat());
    let prompt = request["body"]["prompt"].as_str().unwrap();
    assert_eq!(prompt, shown.stdout.strip_suffix('\n').unwrap());
    // The model was not made for it, and says something all the same.
    let run = words("batch run batch.jsonl -o outputs.jsonl --model tiny");
    folder.write(
        "short.jsonl",
        folder
            .read("batch.jsonl")
            .replace("\"max_tokens\":2048", "\"max_tokens\":8"),
    );
    folder
        .run(&[&run[..2], &["short.jsonl"], &run[3..]].concat())
        .expect(0, &[]);
    let output = &folder.lines("outputs.jsonl")[0];
    let choice = &output["response"]["body"]["choices"][0];
    assert!(
        choice["text"].is_string() && choice["finish_reason"] == "length",
        "{output}"
    );
    let import = words("batch import in.jsonl --outputs outputs.jsonl -q");
    let read = folder.run(&[&import[..], &protocol].concat());
    assert_eq!(read.expect(3, &[]).lines()[0]["status"], "unparsed");
    let custom_id = &request["custom_id"];
    let text = json!({"choices": [{"text": " ... Final Decision: Yes", "finish_reason": "stop"}]});
    folder.write("outputs.jsonl", lines_of(&[in_body(custom_id, &text)]));
    let read = folder.run(&[&import[..], &protocol].concat());
    let verdict = &json_lines(&read.stdout)[0];
    assert_eq!(
        (&verdict["status"], &verdict["outcome"]),
        (&json!("ok"), &json!(true))
    );
}

#[test]
fn a_rubric_goes_both_ways_and_another_one_is_noticed() {
    let folder = Folder::new();
    folder.write("in.jsonl", row("a", "What is 3 + 4?", "7", "It is 7."));
    let rubric = |text: &str| format!("[[criteria]]\ntext = \"{text}\"\n");
    let both = rubric("The answer is 7.") + &rubric("The answer is polite.");
    folder.write("rubric.toml", both);
    folder.write("other.toml", rubric("The answer is 8."));
    let export = words("batch export in.jsonl -q --rubric rubric.toml");
    let request = &folder.run(&export).expect(0, &[]).lines()[0];
    let content = request["body"]["messages"][0]["content"].as_str().unwrap();
    assert!(content.contains("The answer is polite."), "{content}");
    let answer = answered(&request["custom_id"], "{\"1\": true, \"2\": false}");
    folder.write("outputs.jsonl", lines_of(&[answer]));
    let import = ["batch", "import", "in.jsonl", "--outputs", "outputs.jsonl"];
    let read = |rubric| folder.run(&[&import[..], &["--rubric", rubric]].concat());
    let verdict = &read("rubric.toml").expect(0, &["(1 ok)"]).lines()[0];
    assert_eq!(
        (&verdict["score"], &verdict["reward"]),
        (&json!(0.5), &json!(0.5))
    );
    assert!(verdict["outcome"].is_null(), "{verdict}");
    read("other.toml").expect(2, &["its texts are not what they were"]);
}
