//! People's own files: the formats and shapes that other programs write, and outputs that others read.

mod every_output;
mod models;
mod of_others;
mod outputs;
mod runs;

use crate::common::Folder;
use serde_json::{Value, json};

/// Judges without a model: reading the input is what is tried here.
const RULES: [&str; 5] = ["judge", "--rules", "only", "-o", "out.jsonl"];

fn rules<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [&RULES, arguments].concat()
}

/// Files of other programs: name, content, the shape that is said, and id and outcome of every verdict.
fn shapes() -> Vec<(&'static str, String, &'static str, Value)> {
    let chat =
        json!([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "1 + 1?"}]);
    let answer = json!([{"role": "assistant", "content": "It is 2."}]);
    let body =
        json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": "It is 2."}}]});
    let line = |value: Value| format!("{value}\n");
    vec![
        (
            "rows.csv",
            "id,question,answer,response\na,1 + 1?,2,It is 2.\nb,\"1,\n1\",2,3\n".into(),
            "question ← question · reference ← answer",
            json!([["a", true], ["b", false]]),
        ),
        (
            "table.tsv",
            "id\tproblem\tanswer\tcompletion\na\t1 + 1?\t2\tIt is 2.\n".into(),
            "question ← problem · reference ← answer · response ← completion",
            json!([["a", true]]),
        ),
        (
            "rows.json",
            json!([{"id": "a", "question": "1 + 1?", "answer": "2", "response": "2"},
                   {"id": "b", "question": "1 + 1?", "answer": 2, "response": "3"}])
            .to_string(),
            "question ← question",
            json!([["a", true], ["b", false]]),
        ),
        (
            "misnamed.jsonl",
            "id,question,answer,response\na,1 + 1?,2,It is 2.\n".into(),
            "question ← question",
            json!([["a", true]]),
        ),
        (
            "verl.jsonl",
            line(
                json!({"data_source": "openai/gsm8k", "prompt": chat, "ability": "math",
                "reward_model": {"style": "rule", "ground_truth": "2"}, "extra_info": {"index": 7, "split": "train"},
                "responses": ["It is 2.", "It is 3."], "uid": "u"}),
            ),
            "verl rows: question ← prompt",
            json!([["u:0", true], ["u:1", false]]),
        ),
        (
            "trl.jsonl",
            line(json!({"prompt": chat, "completion": answer, "solution": "2"})),
            "trl rows: question ← prompt",
            json!([[null, true]]),
        ),
        (
            "batch.jsonl",
            line(
                json!({"id": "batch_req_1", "custom_id": "c", "response": {"status_code": 200, "body": body},
                "question": "1 + 1?", "reference_answer": "2"}),
            ),
            "openai-batch rows:",
            json!([["c:0", true]]),
        ),
        (
            "harness.jsonl",
            line(
                json!({"doc_id": 4, "doc": {"question": "1 + 1?", "answer": "#### 2"}, "target": "1 + 1 = 2\n#### 2",
                "resps": [["It is 2."]], "filtered_resps": ["2"]}),
            ),
            "lm-eval rows:",
            json!([["4:0", true]]),
        ),
        (
            "vllm.jsonl",
            line(json!({"request_id": "9", "prompt": "1 + 1?", "answer": "2",
                "outputs": [{"index": 0, "text": "2"}, {"index": 1, "text": "5"}]})),
            "vllm rows:",
            json!([["9:0", true], ["9:1", false]]),
        ),
        (
            "gsm8k.jsonl",
            line(
                json!({"id": "g", "question": "1 + 1?", "answer": "1 + 1 = <<1+1=2>>2\n#### 2", "response": "2"}),
            ),
            "reference ← answer (",
            json!([["g", true]]),
        ),
        (
            "references.jsonl",
            line(
                json!({"id": "r", "question": "1/2?", "answer": ["1/2", "50 percent of 1"], "response": "0.5"}),
            ),
            "reference ← answer",
            json!([["r", true]]),
        ),
    ]
}

#[test]
fn files_of_other_programs_are_recognised_and_it_is_said_how() {
    for (name, content, said, expected) in shapes() {
        let folder = Folder::new();
        folder.write(name, content);
        let ran = folder.run(&rules(&[name]));
        ran.expect(0, &["columns: ", said]);
        let found = folder.lines("out.jsonl");
        let expected = expected.as_array().unwrap();
        assert_eq!(found.len(), expected.len(), "{name}: {}", ran.stderr);
        for (verdict, expected) in found.iter().zip(expected) {
            assert_eq!(verdict["outcome"], expected[1], "{name}: {verdict}");
            if !expected[0].is_null() {
                assert_eq!(verdict["id"], expected[0], "{name}");
            }
            // Several responses of a row have its id in common.
            let id = verdict["id"].as_str().unwrap();
            if let Some((group, _)) = id.split_once(':') {
                assert_eq!(verdict["group"], group, "{name}");
            }
        }
    }
}

#[test]
fn parquet_is_read_by_content() {
    let folder = Folder::new();
    folder.write("rows", include_bytes!("../../data/rows/verl.parquet"));
    folder.run(&rules(&["rows"])).expect(0, &["verl rows: "]);
    assert!(!folder.lines("out.jsonl").is_empty());
    let whole = include_bytes!("../../data/rows/verl.parquet");
    folder.write("cut.parquet", &whole[..whole.len() / 2]);
    let ran = folder.run(&["judge", "--rules", "only", "cut.parquet"]);
    ran.expect(2, &["cut.parquet"]);
}

#[test]
fn an_ambiguous_row_is_refused_with_its_keys() {
    let folder = Folder::new();
    // In some data sets the solution is the response, in others the reference.
    let row = json!({"question": "1 + 1?", "solution": "2", "answer": "2"});
    folder.write("in.jsonl", format!("{row}\n"));
    let ran = folder.run(&rules(&["in.jsonl"]));
    ran.expect(
        2,
        &[
            "no response",
            "question, solution, answer",
            "--columns response=solution",
        ],
    );
    folder
        .run(&rules(&["in.jsonl", "--columns", "response=solution"]))
        .expect(0, &["response ← solution"]);

    let both = json!({"prompt": "1 + 1?", "messages": [{"role": "user", "content": "1 + 1?"}], "answer": "2",
        "choices": [{"message": {"content": "2"}}], "outputs": [{"text": "3"}]});
    let folder = Folder::new();
    folder.write("in.jsonl", format!("{both}\n"));
    folder
        .run(&rules(&["in.jsonl"]))
        .expect(2, &["chat-completion or of vllm", "--preset"]);
    folder
        .run(&rules(&["in.jsonl", "--preset", "vllm"]))
        .expect(0, &["vllm rows: "]);
    assert_eq!(folder.lines("out.jsonl")[0]["outcome"], false);
    folder
        .run(&rules(&["in.jsonl", "--preset", "vlm"]))
        .expect(2, &["vllm"]);
}

#[test]
fn the_shape_is_the_same_for_prompts() {
    let folder = Folder::new();
    let (name, content, ..) = shapes().swap_remove(4);
    folder.write(name, content);
    let ran = folder.run(&["prompts", "render", name, "--preset", "verl"]);
    ran.expect(0, &[]);
    // The system text is no part of the question.
    assert!(!ran.stdout.contains("Be brief."), "{}", ran.stdout);
}
