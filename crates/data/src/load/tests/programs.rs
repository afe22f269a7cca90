//! Files of other programs in their own containers: logs of Inspect, results of promptfoo, predictions of `OpenCompass`; and single rows.

use super::*;

/// Each sample as `id|question|reference|response`, and what is said of the columns.
fn read(name: &str, content: &[u8]) -> Result<(Vec<String>, String), DatasetError> {
    let files = Files::new(&[(name, content)]);
    let loaded = files.load(&[name], &LoadOptions::default())?;
    let text = |sample: &Sample| {
        [
            &sample.id,
            &sample.question,
            &sample.reference_answer,
            &sample.student_answer,
        ]
        .map(String::as_str)
        .join("|")
    };
    let texts = loaded.samples.iter().map(text).collect();
    Ok((texts, loaded.columns.to_string()))
}

const INSPECT_EVAL: &[u8] = include_bytes!("../../../../../tests/data/rows/inspect.eval");
const INSPECT_JSON: &[u8] = include_bytes!("../../../../../tests/data/rows/inspect.json");
const CHOICES: &[u8] = include_bytes!("../../../../../tests/data/rows/inspect_choices.eval");

/// The samples of `scripts/golden_inspect.py`.
fn of_inspect() -> Vec<String> {
    let (four, dialogue) = (
        "Any one of these answers is correct:\n- 4\n- four",
        "User: Hello\n\nAssistant: Hello!\n\nUser: What is 3 + 3?",
    );
    let mut samples = Vec::new();
    for epoch in [1, 2] {
        samples.push(format!("1:{epoch}|What is 1 + 1?|2|2"));
        samples.push(format!("3:{epoch}|{dialogue}|6|5"));
        samples.push(format!(
            "dir/a:{epoch}|What is 2 + 2?|{four}|The answer is 4"
        ));
    }
    samples.sort();
    samples
}

#[test]
fn logs_of_inspect_are_read_in_both_formats_and_as_lines() {
    let log: serde_json::Value = serde_json::from_slice(INSPECT_JSON).unwrap();
    let lines: Vec<String> = log["samples"]
        .as_array()
        .unwrap()
        .iter()
        .map(serde_json::Value::to_string)
        .collect();
    // One line, as `jq -c` prints it.
    let compact = log.to_string();
    for (name, content) in [
        ("log.eval", INSPECT_EVAL),
        ("renamed", INSPECT_EVAL),
        ("log.json", INSPECT_JSON),
        ("line.json", compact.as_bytes()),
        ("lines.jsonl", lines.join("\n").as_bytes()),
    ] {
        let (mut samples, columns) = read(name, content).unwrap();
        samples.sort();
        assert_eq!(samples, of_inspect(), "{name}");
        assert!(
            columns.starts_with("inspect rows: question ← input"),
            "{columns}"
        );
        assert!(
            columns.ends_with("reference ← target · response ← output.completion · id ← id"),
            "{columns}"
        );
    }
    let files = Files::new(&[("logs/a.eval", INSPECT_EVAL)]);
    let loaded = files.load(&["logs"], &LoadOptions::default()).unwrap();
    let groups = loaded.samples.iter().map(|sample| sample.group.clone());
    let groups: std::collections::BTreeSet<_> = groups.flatten().collect();
    assert_eq!(groups.into_iter().collect::<Vec<_>>(), ["1", "3", "dir/a"]);
    let (samples, columns) = read("choices.eval", CHOICES).unwrap();
    assert!(
        samples[0].contains("Which is even?\n\nA) 3\nB) 4|B|ANSWER: B"),
        "{samples:?}"
    );
    assert!(
        columns.starts_with("inspect-choices rows: question ← messages"),
        "{columns}"
    );
}

#[test]
fn samples_of_inspect_that_failed_are_left_out_and_those_at_a_limit_are_not() {
    let sample = |id: usize, more: &str| {
        format!(
            r#"{{"id": {id}, "epoch": 1, "input": "q", "target": "2", "messages": [], "output": {{"model": "m", "choices": [], "completion": ""}}, {more}}}"#
        )
    };
    let rows = [
        sample(1, r#""error": {"message": "down"}"#),
        sample(2, r#""error": null, "limit": {"type": "token"}"#),
    ];
    let (samples, columns) = read("lines.jsonl", rows.join("\n").as_bytes()).unwrap();
    assert_eq!(samples, ["2:1|q|2|"]);
    assert!(
        columns.ends_with(" · 1 row with an error left out · 1 blank response"),
        "{columns}"
    );
}

#[test]
fn damaged_logs_say_what_is_wrong() {
    let cut = &INSPECT_EVAL[..INSPECT_EVAL.len() / 2];
    let error = read("log.eval", cut).unwrap_err().to_string();
    assert!(
        error.contains("could not read") && error.contains("log.eval"),
        "{error}"
    );
    let cut = &INSPECT_JSON[..INSPECT_JSON.len() / 2];
    let error = read("log.json", cut).unwrap_err().to_string();
    assert!(error.contains("array ends within an element"), "{error}");
    let header =
        br#"{"version": 2, "status": "success", "eval": {"samples": [{}]}, "samples": null}"#;
    let error = read("log.json", header).unwrap_err().to_string();
    assert!(
        error.contains("in the list `samples`, and there is none"),
        "{error}"
    );
    // Another archive, empty here, is none.
    let mut bytes = std::io::Cursor::new(Vec::new());
    let mut zip = zip::ZipWriter::new(&mut bytes);
    let options = zip::write::SimpleFileOptions::default();
    zip.start_file("samples/a_epoch_1.txt", options).unwrap();
    zip.finish().unwrap();
    let error = read("other.zip", bytes.get_ref()).unwrap_err().to_string();
    assert!(
        error.contains("a zip archive, which is not read: unpack it"),
        "{error}"
    );
}

#[test]
fn a_log_may_not_unpack_out_of_proportion() {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let mut zip = zip::ZipWriter::new(&mut bytes);
    let options =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Zstd);
    zip.start_file("samples/a_epoch_1.json", options).unwrap();
    zip.write_all(&vec![b' '; 5 << 20]).unwrap();
    zip.start_file("samples/b_epoch_1.json", options).unwrap();
    zip.write_all(br#"{"id": 1, "epoch": 1, "input": "q", "target": "t", "output": {"model": "m", "completion": "r"}}"#)
        .unwrap();
    zip.finish().unwrap();
    let files = Files::new(&[("log.eval", bytes.get_ref())]);
    let options = LoadOptions {
        max_line: LineLimit(1 << 20),
        ..LoadOptions::default()
    };
    let error = files.load(&["log.eval"], &options).unwrap_err().to_string();
    assert!(
        error.contains("log.eval:1: longer than 1048576 bytes"),
        "{error}"
    );
    let options = LoadOptions {
        skip_bad: true,
        ..options
    };
    let loaded = files.load(&["log.eval"], &options).unwrap();
    assert_eq!(loaded.samples[0].id, "1:1");
}

/// One row of each program, and what is read of it.
#[test]
fn rows_of_other_programs_are_recognised() {
    let cases = [
        (
            "",
            r#"{"id": 1, "problem": "q", "expected_answer": "a", "generation": "r", "predicted_answer": "x"}"#,
            "1|q|a|r",
        ),
        (
            "",
            r#"{"id": 1, "instruction": "Add.", "input": "1 and 2", "output": "r", "answer": 3}"#,
            "1|Add.\n\n1 and 2|3|r",
        ),
        (
            "",
            r#"{"id": 1, "instruction": "Add 1 and 2.", "input": "", "generation": "r", "answer": "a"}"#,
            "1|Add 1 and 2.|a|r",
        ),
        (
            "",
            r#"{"id": 1, "user_input": "q", "reference": "a", "response": "r", "retrieved_contexts": ["c"]}"#,
            "1|q|a|r",
        ),
        (
            "deepeval",
            r#"{"id": "t", "name": "", "input": "q", "actual_output": "r", "expected_output": "a", "context": null}"#,
            "t|q|a|r",
        ),
        (
            "skyrl",
            r#"{"uid": "u", "data_source": "d", "prompt": [{"role": "user", "content": "q"}], "env_class": "e", "reward_spec": {"method": "rule", "ground_truth": "a"}, "response": "r"}"#,
            "u|q|a|r",
        ),
        (
            "llama-factory",
            r#"{"id": 1, "prompt": "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n", "predict": "r", "label": "a"}"#,
            "1|q|a|r",
        ),
        (
            "ms-swift",
            r#"{"id": 1, "response": "r", "labels": "a", "logprobs": null, "messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "r"}]}"#,
            "1|q|a|r",
        ),
        (
            "qwen-math",
            r#"{"id": "1", "question": "q", "gt_cot": "x", "gt": "a", "answer": "a", "solution": "x", "code": ["r"], "pred": ["5"], "report": [null]}"#,
            "1:0|q|a|r",
        ),
        (
            "nemo-gym",
            r#"{"id": 1, "responses_create_params": {"input": [{"role": "user", "content": "q"}]}, "response": {"output": [{"type": "reasoning"}, {"type": "message", "content": [{"type": "output_text", "text": "r"}]}]}, "expected_answer": "a"}"#,
            "1|q|a|r",
        ),
        (
            "nemo-gym",
            r#"{"id": 1, "responses_create_params": {"input": [{"role": "user", "content": "p"}, {"type": "function_call", "name": "f"}, {"type": "function_call_output", "output": "4"}, {"role": "assistant", "content": "x"}, {"role": "user", "content": "q"}]}, "response": {"output": [{"type": "message", "content": [{"type": "output_text", "text": "r"}]}]}, "expected_answer": "a"}"#,
            "1|User: p\n\nAssistant: x\n\nUser: q|a|r",
        ),
        (
            "gemini-batch",
            r#"{"key": "k", "request": {"contents": [{"role": "user", "parts": [{"text": "q"}]}]}, "response": {"candidates": [{"content": {"parts": [{"text": "no", "thought": true}, {"text": "r"}, {"text": "s"}], "role": "model"}}]}, "answer": "a"}"#,
            "k|q|a|rs",
        ),
        (
            "anthropic-batch",
            r#"{"custom_id": "c", "result": {"type": "succeeded", "message": {"content": [{"type": "thinking", "thinking": "t"}, {"type": "text", "text": "r"}]}}, "question": "q", "answer": "a"}"#,
            "c|q|a|r",
        ),
        (
            "opencompass",
            r#"{"id": 1, "origin_prompt": [{"role": "SYSTEM", "prompt": "Be brief."}, {"role": "HUMAN", "prompt": "p"}, {"role": "BOT", "prompt": "x"}, {"role": "HUMAN", "prompt": "q"}], "prediction": "r", "gold": "a"}"#,
            "1|User: p\n\nAssistant: x\n\nUser: q|a|r",
        ),
        (
            "opencompass-details",
            r#"{"id": 1, "prompt": [{"role": "HUMAN", "prompt": "q"}], "origin_prediction": "r", "predictions": "5", "references": "a"}"#,
            "1|q|a|r",
        ),
        (
            "lighteval",
            r#"{"doc": {"query": "q", "choices": ["x", "a"], "gold_index": 1, "id": "7"}, "metric": {}, "model_response": {"text": ["r"]}}"#,
            "7:0|q|a|r",
        ),
        (
            "lighteval",
            r#"{"doc": {"query": "q", "choices": ["a", "x", "b"], "gold_index": [0, 2], "id": "7"}, "model_response": {"text": ["r"]}}"#,
            "7:0|q|Any one of these answers is correct:\n- a\n- b|r",
        ),
        (
            "responses-api",
            r#"{"id": "s", "input": [{"role": "user", "content": [{"type": "input_text", "text": "q"}]}, {"type": "reasoning", "summary": []}, {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}, {"type": "function_call_output", "call_id": "1", "output": "4"}], "answer": "a", "output": [{"type": "reasoning", "summary": []}, {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "r"}, {"type": "output_text", "text": "s"}]}]}"#,
            "s|q|a|rs",
        ),
        (
            "responses-batch",
            r#"{"id": "b", "custom_id": "c", "question": "q", "answer": "a", "response": {"status_code": 200, "body": {"output": [{"type": "message", "content": [{"type": "output_text", "text": "r"}]}]}}}"#,
            "c|q|a|r",
        ),
        (
            "evalscope",
            r#"{"index": 0, "target": ["a"], "messages": [{"id": "x", "content": "q", "role": "user"}, {"id": "y", "content": "r", "role": "assistant"}], "sample_score": {"score": {"value": {"acc": 1}, "prediction": "r"}}}"#,
            "0|q|a|r",
        ),
        (
            "promptfoo",
            r#"{"id": "f", "promptId": "x", "prompt": {"raw": "q"}, "testCase": {"assert": [{"type": "factuality", "value": "a"}]}, "response": {"output": "r"}}"#,
            "f|q|a|r",
        ),
        (
            "promptfoo",
            r#"{"id": "p", "promptId": "x", "prompt": {"raw": "q", "label": "l"}, "testCase": {"assert": [{"type": "contains", "value": "no"}, {"type": "equals", "value": "a"}]}, "vars": {}, "response": {"output": "r"}}"#,
            "p|q|a|r",
        ),
        (
            "completion",
            r#"{"id": "c", "object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": "r"}}], "question": "q", "answer": "a"}"#,
            "c:0|q|a|r",
        ),
        (
            "logged-completion",
            r#"{"id": "l", "messages": [{"role": "user", "content": "q"}], "response": {"choices": [{"message": {"role": "assistant", "content": "r"}}]}, "answer": "a"}"#,
            "l:0|q|a|r",
        ),
        (
            "logged-completion",
            r#"{"id": "l", "request": {"messages": [{"role": "user", "content": "q"}]}, "response": {"choices": [{"message": {"content": "r"}}]}, "answer": "a"}"#,
            "l:0|q|a|r",
        ),
        (
            "openai-batch",
            r#"{"custom_id": "c", "body": {"messages": [{"role": "user", "content": "q"}]}, "response": {"status_code": 200, "body": {"choices": [{"message": {"content": "r"}}]}}, "answer": "a"}"#,
            "c:0|q|a|r",
        ),
        (
            "ollama",
            r#"{"id": 1, "model": "m", "message": {"role": "assistant", "content": "r"}, "done": true, "question": "q", "answer": "a"}"#,
            "1|q|a|r",
        ),
        (
            "llama-cpp",
            r#"{"id": 1, "content": "r", "id_slot": 0, "stop": true, "prompt": "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n", "answer": "a"}"#,
            "1|q|a|r",
        ),
        (
            "sglang",
            r#"{"id": 1, "prompt": "q", "text": "r", "meta_info": {"finish_reason": {"type": "stop"}}, "answer": "a"}"#,
            "1|q|a|r",
        ),
        (
            "bedrock-batch",
            r#"{"recordId": "b", "modelInput": {"messages": [{"role": "user", "content": [{"type": "text", "text": "q"}]}]}, "modelOutput": {"content": [{"type": "text", "text": "r"}]}, "answer": "a"}"#,
            "b|q|a|r",
        ),
        (
            "bedrock-batch",
            r#"{"recordId": "b", "modelInput": {"messages": [{"role": "user", "content": [{"text": "q"}]}]}, "modelOutput": {"output": {"message": {"role": "assistant", "content": [{"reasoningContent": {"reasoningText": {"text": "t"}}}, {"text": "r"}, {"text": "s"}]}}}, "answer": "a"}"#,
            "b|q|a|rs",
        ),
        (
            "ollama",
            r#"{"id": 1, "model": "m", "messages": [{"role": "user", "content": "q"}], "message": {"role": "assistant", "content": "r"}, "done": true, "answer": "a"}"#,
            "1|q|a|r",
        ),
        (
            "vllm",
            r#"{"request_id": 1, "messages": [{"role": "user", "content": "q"}], "prompt": "q", "outputs": [{"text": "r"}], "answer": "a"}"#,
            "1:0|q|a|r",
        ),
        (
            "sglang",
            r#"{"id": 1, "messages": [{"role": "user", "content": "q"}], "prompt": "q", "text": "r", "meta_info": {}, "answer": "a"}"#,
            "1|q|a|r",
        ),
        (
            "sglang",
            r#"{"id": 1, "messages": [{"role": "user", "content": "q"}], "text": "r", "meta_info": {}, "answer": "a"}"#,
            "1|q|a|r",
        ),
        (
            "gemini-batch",
            r#"{"key": "k", "messages": [{"role": "user", "content": "q"}], "response": {"candidates": [{"content": {"parts": [{"text": "r"}, {"text": "s"}]}}]}, "answer": "a"}"#,
            "k|q|a|rs",
        ),
        (
            "anthropic-batch",
            r#"{"custom_id": "c", "messages": [{"role": "user", "content": "q"}], "result": {"type": "succeeded", "message": {"content": [{"type": "text", "text": "r"}]}}, "answer": "a"}"#,
            "c|q|a|r",
        ),
        (
            "openai-batch",
            r#"{"custom_id": "c", "messages": [{"role": "user", "content": "q"}], "response": {"body": {"choices": [{"message": {"content": "r"}}]}}, "answer": "a"}"#,
            "c:0|q|a|r",
        ),
        (
            "llama-cpp",
            r#"{"id": 1, "content": "r", "id_slot": 0, "prompt": "q", "messages": [{"role": "user", "content": "p"}], "answer": "a"}"#,
            "1|q|a|r",
        ),
        // Two messages are paragraphs of one answer, the parts of one are one text.
        (
            "responses-api",
            r#"{"id": 1, "messages": [{"role": "user", "content": "q"}], "output": [{"type": "message", "content": [{"type": "output_text", "text": "I think."}, {"type": "output_text", "text": " So"}]}, {"type": "web_search_call"}, {"type": "message", "content": [{"type": "output_text", "text": "r"}]}], "answer": "a"}"#,
            "1|q|a|I think. So\n\nr",
        ),
        (
            "trl",
            r#"{"id": 1, "messages": [{"role": "user", "content": "q"}], "prompt": "q", "completion": "r", "solution": "a"}"#,
            "1|q|a|r",
        ),
        (
            "braintrust",
            r#"{"id": "b", "input": {"question": "q"}, "output": {"answer": "r"}, "expected": {"answer": "a"}, "scores": {}}"#,
            "b|q|a|r",
        ),
        (
            "braintrust",
            r#"{"id": "b", "instruction": "q", "input": "p", "output": "r", "expected": "a"}"#,
            "b|q\n\np|a|r",
        ),
        (
            "openai-evals",
            r#"{"id": 1, "input": [{"role": "system", "content": "s"}, {"role": "user", "content": "q"}], "ideal": ["a"], "output": "r"}"#,
            "1|q|a|r",
        ),
        (
            "nemo-rl",
            r#"{"id": 1, "message_log": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "r"}], "extra_env_info": {"ground_truth": "a"}}"#,
            "1|q|a|r",
        ),
        (
            "",
            r#"{"id": 1, "question": "q", "response": {"role": "assistant", "content": "r", "refusal": null, "tool_calls": null}, "answer": "a"}"#,
            "1|q|a|r",
        ),
        (
            "",
            r#"{"id": 1, "inputs": "q", "generated_text": "r", "answer": "a"}"#,
            "1|q|a|r",
        ),
        (
            "",
            r#"{"id": 1, "question": "q", "prediction": "4", "generations": ["r"], "answer": "a"}"#,
            "1:0|q|a|r",
        ),
        (
            "langfuse",
            r#"{"id": "l", "input": {"messages": [{"role": "user", "content": "q"}]}, "output": {"role": "assistant", "content": "r"}, "expectedOutput": "a", "metadata": null}"#,
            "l|q|a|r",
        ),
        (
            "langsmith",
            r#"{"inputs.question": "q", "outputs.answer": "r", "error": null, "reference.answer": "a", "feedback.exact": true, "execution_time": 0.1, "example_id": "e", "id": "x"}"#,
            "x|q|a|r",
        ),
        (
            "mlflow",
            r#"{"id": 1, "inputs": {"question": "q"}, "outputs": {"response": "r"}, "expectations": {"expected_response": "a"}}"#,
            "1|q|a|r",
        ),
        (
            "mlflow",
            r#"{"id": 1, "inputs": {"messages": [{"role": "user", "content": "q"}]}, "outputs": "r", "expectations": "a"}"#,
            "1|q|a|r",
        ),
        (
            "opik",
            r#"{"id": "i", "dataset_item_id": "d", "trace_id": "t", "dataset_item_data": {"input": {"question": "q"}, "expected_output": "a"}, "evaluation_task_output": {"output": "r"}, "feedback_scores": []}"#,
            "i|q|a|r",
        ),
        (
            "opik-dataset",
            r#"{"input": "q", "expected_output": "a", "metadata": {"level": 1}, "output": "r", "id": "i"}"#,
            "i|q|a|r",
        ),
        (
            "opik-dataset",
            r#"{"input": {"question": "q"}, "expected_output": {"answer": "a"}, "output": {"answer": "r"}, "id": "i"}"#,
            "i|q|a|r",
        ),
        (
            "responses-api",
            r#"{"id": "i", "input": "q", "expected_output": "a", "output": [{"type": "message", "content": [{"type": "output_text", "text": "r"}]}]}"#,
            "i|q|a|r",
        ),
        (
            "langsmith",
            r#"{"inputs.query": "q", "outputs.response": "r", "error": null, "reference.answer": "a", "execution_time": 0.1, "example_id": "e", "id": "x"}"#,
            "x|q|a|r",
        ),
        (
            "phoenix",
            r#"{"id": "i", "example_id": "e", "repetition_number": 1, "input": {"question": "q"}, "reference_output": {"answer": "a"}, "output": "r", "error": null}"#,
            "i|q|a|r",
        ),
        (
            "argilla",
            r#"{"id": "i", "status": "pending", "_server_id": null, "fields": {"instruction": "q", "response": "r"}, "metadata": {"answer": "a"}, "suggestions": {}, "responses": {}, "vectors": {}}"#,
            "i|q|a|r",
        ),
        (
            "ragas-turns",
            r#"{"id": 1, "user_input": [{"content": "q", "type": "human", "metadata": null}, {"content": "r", "type": "ai", "tool_calls": null}], "reference": "a"}"#,
            "1|q|a|r",
        ),
        (
            "evalscope-predictions",
            r#"{"index": 0, "model": "m", "messages": [{"role": "user", "content": "q"}], "model_output": {"choices": [{"message": {"role": "assistant", "content": "r"}}]}, "target": "a"}"#,
            "0:0|q|a|r",
        ),
        (
            "verl",
            r#"{"uid": "u", "data_source": "nq", "prompt": [{"role": "user", "content": "q"}], "reward_model": {"ground_truth": {"target": ["a", "b"]}, "style": "rule"}, "responses": "r"}"#,
            "u|q|Any one of these answers is correct:\n- a\n- b|r",
        ),
        (
            "verl-rollouts",
            r#"{"uid": "u", "input": "q", "output": "r", "gts": {"target": ["a"]}, "score": 1.0, "step": 5}"#,
            "u|q|a|r",
        ),
        // lm-eval writes a list of targets as Python shows it, which the document tells; DROP's has lists within.
        (
            "lm-eval",
            r#"{"doc_id": 1, "doc": {"question": "q", "answer": ["1912", "it's 1912"]}, "target": "['1912', \"it's 1912\"]", "resps": [["r"]]}"#,
            "1:0|q|Any one of these answers is correct:\n- 1912\n- it's 1912|r",
        ),
        (
            "lm-eval",
            r#"{"doc_id": 1, "doc": {"question": "q", "answer": {"value": "a", "aliases": ["a", "b"]}}, "target": "['a', 'b']", "resps": [["r"]]}"#,
            "1:0|q|Any one of these answers is correct:\n- a\n- b|r",
        ),
        (
            "lm-eval",
            r#"{"doc_id": 1, "doc": {"question": "q", "answer": "['a', 'b']", "answers": ["a"]}, "target": "['a', 'b']", "resps": [["r"]]}"#,
            "1:0|q|['a', 'b']|r",
        ),
        (
            "lm-eval",
            r#"{"doc_id": 1, "doc": {"question": "q"}, "target": "[['3'], ['three']]", "resps": [["r"]]}"#,
            "1:0|q|[['3'], ['three']]|r",
        ),
        (
            "",
            r#"{"id": 1, "question": "q", "answer": "['a', 'b']", "response": "r"}"#,
            "1|q|['a', 'b']|r",
        ),
        // The passage of LongBench and of BABILong.
        (
            "lm-eval",
            r#"{"doc_id": 1, "doc": {"input": "q", "context": "c", "answers": ["a"]}, "target": "['a']", "resps": [["r"]]}"#,
            "1:0|c\n\nq|a|r",
        ),
        (
            "lm-eval",
            r#"{"doc_id": 1, "doc": {"input": "c", "question": "q"}, "target": "a", "resps": [["r"]]}"#,
            "1:0|c\n\nq|a|r",
        ),
        // All targets are the answer, where several may be chosen.
        (
            "inspect-choices",
            r#"{"id": 1, "epoch": 1, "input": "q", "choices": ["3", "4", "6"], "target": ["B", "C"], "messages": [{"role": "user", "content": "q"}], "output": {"model": "m", "completion": "r"}}"#,
            "1:1|q|B, C|r",
        ),
        (
            "skyrl-eval",
            r#"{"id": 1, "input_prompt": "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n", "output_response": "r<|im_end|>\n", "env_extras": {"reward_spec": {"ground_truth": "a"}}}"#,
            "1|q|a|r",
        ),
        (
            "",
            r#"{"id": 1, "question": "q", "answer": "a", "response": "r<|im_end|>"}"#,
            "1|q|a|r<|im_end|>",
        ),
        // An end marker may be the answer where the prompt has no chat template, and where there is nothing else.
        (
            "llama-factory",
            r#"{"id": 1, "prompt": "Which token ends a turn?", "predict": "It is <|im_end|>", "label": "a"}"#,
            "1|Which token ends a turn?|a|It is <|im_end|>",
        ),
        (
            "llama-factory",
            r#"{"id": 1, "prompt": "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n", "predict": "<|im_end|>", "label": "a"}"#,
            "1|q|a|<|im_end|>",
        ),
        // Without instructions no sample of IFEval; and what a plain row has in an object is no part of its question.
        (
            "lm-eval",
            r#"{"doc_id": 1, "doc": {"question": "q", "instruction_id_list": []}, "target": "a", "resps": [["r"]]}"#,
            "1:0|q|a|r",
        ),
        (
            "",
            r#"{"id": 1, "question": "q", "doc": {"input": "text"}, "answer": "a", "response": "r"}"#,
            "1|q|a|r",
        ),
        (
            "",
            r#"{"id": 1, "question": "q", "answer": true, "response": "r"}"#,
            "1|q|true|r",
        ),
        // A number may be the whole response.
        (
            "",
            r#"{"id": 1, "question": "q", "answer": "a", "generation": 9}"#,
            "1|q|a|9",
        ),
        // A response beside a pair is the one that is judged; counts and scores beside it are none.
        (
            "",
            r#"{"id": 1, "question": "q", "answer": "a", "response": "r", "chosen": true, "rejected": false}"#,
            "1|q|a|r",
        ),
        (
            "chat",
            r#"{"id": 1, "messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "r"}], "answer": "a", "samples": 8, "predictions": {"score": 1}, "rollouts": [0.5]}"#,
            "1|q|a|r",
        ),
        // Names of parts that programs extracted come before those that may be of something else.
        (
            "",
            r#"{"id": 1, "question": "q", "answer": "a", "pred": "r", "samples": [{"text": "s"}, {}], "model_response": "t"}"#,
            "1|q|a|r",
        ),
        (
            "ragas-old",
            r#"{"id": 1, "question": "q", "answer": "s", "contexts": ["c"], "ground_truth": "a", "pred": "r"}"#,
            "1|q|a|r",
        ),
        (
            "prm800k",
            r#"{"id": 1, "generation": 9, "question": {"problem": "q", "ground_truth_answer": "a", "pre_generated_steps": ["One.", "Two."]}, "label": {"steps": [{"completions": []}]}}"#,
            "1|q|a|One.\n\nTwo.",
        ),
        (
            "ragas-old",
            r#"{"id": 1, "question": "q", "answer": "r", "contexts": ["c"], "ground_truth": "a"}"#,
            "1|q|a|r",
        ),
        (
            "ragas-older",
            r#"{"id": 1, "question": "q", "answer": "s", "response": "r", "contexts": ["c"], "ground_truths": ["a"]}"#,
            "1|q|a|r",
        ),
    ];
    for (preset, row, expected) in cases {
        let (samples, columns) = read("rows.jsonl", row.as_bytes()).unwrap();
        assert_eq!(samples, [expected], "{columns}");
        match preset {
            "" => assert!(columns.starts_with("question ← "), "{columns}"),
            preset => assert!(
                columns.starts_with(&format!("{preset} rows: ")),
                "{columns}"
            ),
        }
    }
    let slime = r#"{"prompt": "q", "label": "a", "response": "r", "response_length": 3, "status": "completed"}"#;
    let (samples, _) = read("rows.jsonl", slime.as_bytes()).unwrap();
    assert!(samples[0].ends_with("|q|a|r"), "{samples:?}");
    // A label of something else is no reference.
    let other = r#"{"prompt": "q", "label": true, "response": "r"}"#;
    let error = read("rows.jsonl", other.as_bytes())
        .unwrap_err()
        .to_string();
    assert!(error.contains("no reference answer"), "{error}");
    let (samples, columns) = read("rows.jsonl", cases[1].1.as_bytes()).unwrap();
    assert!(
        samples.len() == 1 && columns.contains("question ← instruction (and input)"),
        "{columns}"
    );
}

/// `output.completion` is not in logs of Inspect before 0.3.96.
#[test]
fn old_logs_of_inspect_have_their_answers_in_choices() {
    let log = r#"{"version": 2, "status": "success", "eval": {}, "samples": [{"id": 1, "epoch": 1, "input": "q", "target": "a", "messages": [], "output": {"model": "m", "choices": [{"message": {"content": CONTENT, "role": "assistant"}, "stop_reason": "stop"}]}}]}"#;
    for content in [
        r#""r""#,
        r#"[{"type": "reasoning", "reasoning": "t"}, {"type": "text", "text": "r"}]"#,
    ] {
        let (samples, columns) =
            read("log.json", log.replace("CONTENT", content).as_bytes()).unwrap();
        assert_eq!(samples, ["1:1|q|a|r"], "{columns}");
    }
}

#[test]
fn rows_without_a_response_say_why() {
    for (row, expected) in [
        // Multiple choice by log-likelihoods, as lm-eval writes it and as it is in memory.
        (
            r#"{"doc_id": 0, "doc": {"question": "q", "choices": ["x", "y"]}, "target": "1", "arguments": {"gen_args_0": {"arg_0": "q", "arg_1": " x"}}, "resps": [[["-25.6", "False"]], [["-23.5", "True"]]], "filtered_resps": [["-25.6", "False"]], "filter": "none"}"#,
            "`resps` holds log-likelihoods",
        ),
        (
            r#"{"doc_id": 0, "doc": {"question": "q"}, "target": 1, "resps": [[[-25.6, false]], [[-23.5, true]]]}"#,
            "run the generative form of the task",
        ),
        (
            r#"{"custom_id": "1", "response": {"status_code": 429, "body": {"error": {"message": "slow down"}}}, "error": null, "question": "q", "answer": "a"}"#,
            "the request failed, and `response.body.error` says why",
        ),
        (
            r#"{"custom_id": "1", "response": null, "error": {"code": "batch_expired"}, "question": "q", "answer": "a"}"#,
            "the request failed, and `error` says why",
        ),
        (
            r#"{"custom_id": "1", "response": {"status_code": 500, "body": {}}, "error": {"code": "x"}, "question": "q", "answer": "a"}"#,
            "the request failed, and `error` says why",
        ),
        (
            r#"{"input": "q", "output": "r", "gts": null, "score": 0.0, "step": 1}"#,
            "their `gts`, the reference answer, is null",
        ),
        (
            r#"{"eval/gsm8k/avg_score": 0.5, "eval/all/avg_score": 0.5}"#,
            "averages of SkyRL's evaluation: give the files beside this one",
        ),
        (
            r#"{"version": 1, "id": "t", "task": {"type": "X", "data": {"prompt": "q", "answer": "a"}}, "nodes": [{"parent": null, "message": {"role": "user", "content": "q"}}]}"#,
            "a trace of verifiers has its messages in a graph",
        ),
        (
            r#"{"doc_id": 0, "doc": {"prompt": "q", "instruction_id_list": ["no_comma"]}, "target": "0", "resps": [["r"]]}"#,
            "IFEval checks instructions by programs and has no reference answers",
        ),
        (
            r#"{"id": 1, "generation": 9, "question": {"problem": "q", "ground_truth_answer": "a"}, "label": {"steps": [{"completions": []}]}}"#,
            "PRM800K's first phase has no response of its own, and its `generation` is a number",
        ),
        // A text of two speakers is no question.
        (
            r#"{"chosen": "\n\nHuman: hi\n\nAssistant: hello", "rejected": "\n\nHuman: hi\n\nAssistant: no"}"#,
            "no question",
        ),
        // Where a key of a field is, deeper in the row.
        (
            r#"{"id": 1, "data": {"question": "q", "answer": "a"}, "annotations": []}"#,
            "if it is that in `data.question`, say so with `--columns question=data.question`",
        ),
        (
            r#"{"given.query": "q", "given.response": "r", "given.ground_truth": "a"}"#,
            "say so with `--columns question=given.query`",
        ),
        (
            r#"{"gsm-1": {"question": "q", "answer": "a", "response": "r"}, "gsm-2": {"question": "p", "answer": "b", "response": "s"}}"#,
            "as with `jq -c 'to_entries[] | {id: .key} + .value'`",
        ),
    ] {
        let error = read("rows.jsonl", row.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    // A row whose response the user names is judged.
    let row = r#"{"doc_id": 0, "doc": {"question": "q"}, "target": "a", "resps": [[["-1", "True"]]], "said": "r"}"#;
    let files = Files::one(row);
    let loaded = files.rows(&columns(&["response=said"])).unwrap();
    assert_eq!(loaded.samples[0].student_answer, "r");
}

#[test]
fn rows_in_a_document_are_found() {
    let opencompass = r#"{
    "0": {
        "origin_prompt": "q \" , }",
        "prediction": "r",
        "gold": "a"
    },
    "1": {"origin_prompt": "p", "prediction": "s", "gold": "b"}
}"#;
    let (samples, columns) = read("dataset.json", opencompass.as_bytes()).unwrap();
    let texts: Vec<&str> = samples.iter().map(|sample| &sample[17..]).collect();
    assert_eq!(texts, ["q \" , }|a|r", "p|b|s"]);
    assert!(columns.starts_with("opencompass rows: "), "{columns}");
    let row = |id: usize, response: &str| {
        format!(
            r#"{{"id": "{id}", "promptId": "x", "prompt": {{"raw": "q"}}, "testCase": {{"assert": [{{"type": "equals", "value": "a"}}]}}, "response": {{"output": "{response}"}}}}"#
        )
    };
    let promptfoo = format!(
        r#"{{"evalId": "e", "results": {{"version": 3, "prompts": [{{"results": [1]}}], "results": [{}, {}], "stats": {{}}}}, "config": {{"results": [2]}}}}"#,
        row(1, "r"),
        row(2, "s")
    );
    let (samples, _) = read("results.json", promptfoo.as_bytes()).unwrap();
    assert_eq!(samples, ["1|q|a|r", "2|q|a|s"]);
    // Of several documents one after the other the first alone would be read.
    let two = format!("{promptfoo}\n{promptfoo}");
    let error = read("results.json", two.as_bytes())
        .unwrap_err()
        .to_string();
    assert!(error.contains("is followed by more text"), "{error}");
    let state = r#"{"instance": {"input": {"text": "q"}, "references": [{"output": {"text": "x"}, "tags": []}, {"output": {"text": "a"}, "tags": ["correct"]}], "split": "test", "id": "7"}, "request": {"prompt": "Q: q\nA:"}, "result": {"completions": [{"text": "r"}]}}"#;
    let helm = |state: &str| {
        format!(r#"{{"adapter_spec": {{"method": "generation"}}, "request_states": [{state}]}}"#)
    };
    let (samples, columns) = read("scenario_state.json", helm(state).as_bytes()).unwrap();
    assert_eq!(samples, ["7:0|q|a|r"], "{columns}");
    let letters = state.replace(
        r#""request":"#,
        r#""output_mapping": {"A": "x", "B": "a"}, "request":"#,
    );
    let error = read("scenario_state.json", helm(&letters).as_bytes())
        .unwrap_err()
        .to_string();
    assert!(error.contains("HELM asked for a letter"), "{error}");
    let run = r#"{"testFile": null, "testCases": [{"id": "t", "input": "q", "actualOutput": "r", "expectedOutput": "a", "success": true}], "metricsScores": []}"#;
    let (samples, columns) = read("run.json", run.as_bytes()).unwrap();
    assert_eq!(samples, ["t|q|a|r"]);
    assert!(columns.starts_with("deepeval-run rows: "), "{columns}");
    let results = r#"{"test_results": [{"name": "t", "success": true, "metrics_data": [{"name": "m", "score": 1.0}], "input": "q", "actual_output": "r", "expected_output": "a", "context": null}], "confident_link": null}"#;
    let (samples, columns) = read("result.json", results.as_bytes()).unwrap();
    assert_eq!(samples.len(), 1);
    assert!(samples[0].ends_with("|q|a|r"), "{samples:?}");
    assert!(columns.starts_with("deepeval rows: "), "{columns}");
    // A golden without a run has no response, but a question.
    let golden = r#"{"input": "q", "actual_output": null, "expected_output": "a", "context": null, "source_file": null}"#;
    let why = read("goldens.jsonl", golden.as_bytes()).unwrap_err();
    let why = why.to_string();
    assert!(why.contains("`actual_output` (the response)"), "{why}");
    assert!(!why.contains("no question"), "{why}");
    // A table has an empty cell in place of the null.
    let golden = "input,actual_output,expected_output,context\nq,,a,\np,r,a,\n";
    let (samples, columns) = read("goldens.csv", golden.as_bytes()).unwrap();
    assert!(samples[0].ends_with("|q|a|"), "{samples:?}");
    assert!(columns.ends_with(" · 1 blank response"), "{columns}");
    let olympiad = r#"{"id": 7, "question": "q", "solution": ["s"], "final_answer": ["a"], "is_multiple_answer": false, "answer_type": "Numerical", "response": "r"}"#;
    let (samples, columns) = read("olympiad.jsonl", olympiad.as_bytes()).unwrap();
    assert_eq!(samples, ["7|q|a|r"], "{columns}");
    let azure = r#"{"rows": [{"inputs.query": "q", "inputs.ground_truth": "a", "inputs.response": "r", "outputs.f1.f1_score": 1.0, "inputs.id": "t"}], "metrics": {}}"#;
    let (samples, columns) = read("out.json", azure.as_bytes()).unwrap();
    assert_eq!(samples, ["t|q|a|r"], "{columns}");
    // The answers of a target that the SDK asked are outputs.
    let target = azure.replace("inputs.response", "outputs.response");
    let (samples, columns) = read("out.json", target.as_bytes()).unwrap();
    assert_eq!(samples, ["t|q|a|r"], "{columns}");
    // With both, the data's own answer is judged.
    let both = azure.replace(r#""outputs.f1"#, r#""outputs.response": "s", "outputs.f1"#);
    let (samples, columns) = read("out.json", both.as_bytes()).unwrap();
    assert_eq!(samples, ["t|q|a|r"], "{columns}");
    let opik = r#"{"experiment": {"id": "x", "dataset_name": "d"}, "items": [{"id": "i", "dataset_item_id": "d", "trace_id": "t", "dataset_item_data": {"question": "q", "expected_output": "a"}, "evaluation_task_output": {"output": "r"}, "feedback_scores": []}], "downloaded_at": "2026-11-30"}"#;
    let (samples, columns) = read("experiment.json", opik.as_bytes()).unwrap();
    assert_eq!(samples, ["i|q|a|r"], "{columns}");
    // A whole conversation in place of both; nothing of it is added to.
    let turns = r#"{"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "r"}]}"#;
    let whole = azure.replace(r#""inputs.response": "r""#, r#""x": 1"#);
    let whole = whole.replace(
        r#""inputs.query": "q""#,
        &format!(r#""inputs.conversation": {turns}"#),
    );
    let (samples, columns) = read("out.json", whole.as_bytes()).unwrap();
    assert_eq!(samples, ["t|q|a|r"], "{columns}");
    let pydantic = r#"{"name": "x", "cases": [{"name": "c", "inputs": {"question": "q"}, "metadata": null, "expected_output": {"answer": "a"}, "output": {"answer": "r"}, "metrics": {}, "assertions": {}, "task_duration": 1.0}, {"name": "d", "inputs": "q", "metadata": null, "expected_output": "a", "output": "s", "assertions": {}, "task_duration": 1.0}], "failures": []}"#;
    let (samples, columns) = read("report.json", pydantic.as_bytes()).unwrap();
    let texts = |it: &String| it.split_once('|').unwrap().1.to_owned();
    let texts: Vec<String> = samples.iter().map(texts).collect();
    assert_eq!(texts, ["q|a|r", "q|a|s"], "{columns}");
    assert!(columns.ends_with("the content's hash"), "{columns}");
    // Lines with test cases under that key are lines.
    let line = r#"{"id": "1", "question": "q", "answer": "a", "response": "r", "cases": [{"input": "1", "expected_output": "2"}]}"#;
    let (samples, _) = read("lines.jsonl", line.as_bytes()).unwrap();
    assert_eq!(samples, ["1|q|a|r"]);
    let traced = r#"{"id": "t", "run_type": "chain", "inputs": {"messages": [{"role": "user", "content": "q"}]}, "outputs": {"answer": "r"}, "error": null, "answer": "a"}"#;
    let (samples, columns) = read("runs.jsonl", traced.as_bytes()).unwrap();
    assert_eq!(samples, ["t|q|a|r"], "{columns}");
    let nested = traced.replace("[{", "[[{").replace("}]}", "}]]}");
    assert_eq!(read("runs.jsonl", nested.as_bytes()).unwrap().0, samples);
    // Keys of those programs beside the usual ones change nothing: not what is read, and no id.
    for keys in [
        r#""inputs": {"question": "p"}, "output": {"answer": "s"}, "task_duration": 1, "name": "c", "expected_output": "b""#,
        r#""inputs": {"question": "p"}, "outputs": {"answer": "s"}, "run_type": "chain", "run_id": "7", "error": "e""#,
        r#""inputs": {"conversation": [{"role": "user", "content": "p"}, {"role": "assistant", "content": "s"}]}"#,
        r#""eval_set_id": "s", "eval_cases": [{"eval_id": "c"}]"#,
        r#""eval_set_id": "s", "eval_case_results": [{"eval_id": "c"}]"#,
    ] {
        for usual in [
            r#""question": "q", "answer": "a", "response": "r""#,
            r#""problem": "q", "target": "a", "completion": "r""#,
            r#""prompt": "q", "ground_truth": "a", "llm_output": "r""#,
        ] {
            let read = |row: &str| read("rows.jsonl", row.as_bytes()).unwrap().0;
            assert_eq!(
                read(&format!("{{{keys}, {usual}}}")),
                read(&format!("{{{usual}}}"))
            );
        }
    }
    // Texts under those keys are read under the same id as ever.
    let plain = r#"{"inputs": "q", "output": "r", "expected_output": "a"}"#;
    let (plain, _) = read("rows.jsonl", plain.as_bytes()).unwrap();
    for more in [
        r#""output": "r", "expected_output": "a", "task_duration": 1, "name": "c""#,
        r#""outputs": "r", "answer": "a", "run_type": "llm", "run_id": "7", "error": "e""#,
    ] {
        let row = format!(r#"{{"inputs": "q", {more}}}"#);
        assert_eq!(read("rows.jsonl", row.as_bytes()).unwrap().0, plain);
    }
    for (adk, said) in [
        (
            r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": []}]}"#,
            "no responses: run `adk eval`",
        ),
        (
            r#"{"eval_set_id": "s", "eval_case_results": [{"eval_id": "c"}]}"#,
            "`jq -c 'def said",
        ),
    ] {
        let why = read("adk.json", adk.as_bytes()).unwrap_err().to_string();
        assert!(why.contains(said), "{why}");
    }
    // Without a file of tests, whose key is then left out; and lines that have such a key of their own.
    let run = run.replace(r#""testFile": null, "#, "");
    assert_eq!(read("run.json", run.as_bytes()).unwrap().0, ["t|q|a|r"]);
    let line = |id| {
        format!(
            r#"{{"id": "{id}", "question": "q", "answer": "a", "response": "r", "testCases": [{{"input": "1", "output": "2"}}]}}"#
        )
    };
    let lines = format!("{}\n{}\n", line("1"), line("2"));
    let (samples, _) = read("lines.jsonl", lines.as_bytes()).unwrap();
    assert_eq!(samples, ["1|q|a|r", "2|q|a|r"]);
    // The keys of one line only say what the file is.
    let lines = [
        r#"{"id": "1", "question": "q", "answer": "a", "response": "r", "evalId": "e"}"#,
        r#"{"id": "2", "question": "q", "answer": "a", "response": "s", "results": []}"#,
    ];
    let (samples, _) = read("lines.jsonl", lines.join("\n").as_bytes()).unwrap();
    assert_eq!(samples, ["1|q|a|r", "2|q|a|s"]);
    let none = r#"{"evalId": "e", "results": {"version": 3}, "config": {"results": [2]}}"#;
    let error = read("results.json", none.as_bytes())
        .unwrap_err()
        .to_string();
    assert!(error.contains("in the list `results.results`"), "{error}");
}

#[test]
fn numbered_rows_in_a_document_are_found() {
    let row = |response: &str| {
        format!(
            r#"{{"prompt": [{{"role": "HUMAN", "prompt": "q"}}], "origin_prediction": "{response}", "predictions": "5", "references": "a", "correct": true}}"#
        )
    };
    // OpenCompass says among its details what they are.
    let details = format!(
        r#"{{"accuracy": 50.0, "details": {{"0": {}, "type": "GEN", "1": {}, "more": 1}}, "n": 2}}"#,
        row("r"),
        row("s")
    );
    for details in [
        details.clone(),
        details.replace("{\"accuracy", "{\n\"accuracy"),
    ] {
        let (samples, columns) = read("out.json", details.as_bytes()).unwrap();
        let texts: Vec<&str> = samples.iter().map(|sample| &sample[17..]).collect();
        assert_eq!(texts, ["q|a|r", "q|a|s"], "{columns}");
        assert!(
            columns.starts_with("opencompass-details rows: "),
            "{columns}"
        );
    }
    // A row that is no object is told.
    for bad in ["null", "[]", "\"s\""] {
        let document = details.replace(r#""more": 1"#, &format!(r#""2": {bad}"#));
        let error = read("out.json", document.as_bytes()).unwrap_err();
        assert!(error.to_string().contains("1 of 3 lines"), "{error}");
    }
    // A path to one of numbered rows would judge that one alone.
    let other = r#"{"n": 2, "items": {"0": {"question": "q"}, "1": {"question": "p"}}}"#;
    let error = read("out.json", other.as_bytes()).unwrap_err().to_string();
    assert!(!error.contains("items.0"), "{error}");
}

#[test]
fn failed_rows_of_promptfoo_are_left_out() {
    let row = |id: usize, response: &str| {
        format!(
            r#"{{"id": "{id}", "promptId": "x", "prompt": {{"raw": "q"}}, "testCase": {{"assert": [{{"type": "equals", "value": "a"}}]}}, "response": {response}}}"#
        )
    };
    let rows = [
        row(1, r#"{"output": "r"}"#),
        row(2, r#"{"error": "down"}"#),
        row(3, r#"{"output": "s", "error": ""}"#),
    ];
    let (samples, columns) = read("rows.jsonl", rows.join("\n").as_bytes()).unwrap();
    assert_eq!(samples, ["1|q|a|r", "3|q|a|s"]);
    assert!(
        columns.ends_with("1 row with an error left out"),
        "{columns}"
    );
}

#[test]
fn pairs_of_better_and_worse_responses_are_recognised() {
    let turns = |answer: &str| {
        format!(
            r#"[{{"role": "user", "content": "q"}}, {{"role": "assistant", "content": "{answer}"}}]"#
        )
    };
    let (better, worse) = (turns("r"), turns("s"));
    for (preset, row) in [
        ("preference-question", r#"{"id": 1, "question": "q", "chosen": "r", "rejected": "s", "answer": "a"}"#.to_owned()),
        ("preference", r#"{"id": 1, "prompt": "q", "chosen": "r", "rejected": "s", "messages": [{"role": "user", "content": "q"}], "answer": "a"}"#.to_owned()),
        ("preference-conversations", format!(r#"{{"id": 1, "chosen": {better}, "rejected": {worse}, "answer": "a"}}"#)),
        ("preference", format!(r#"{{"id": 1, "prompt": "q", "chosen": {better}, "rejected": {worse}, "messages": {better}, "answer": "a"}}"#)),
    ] {
        let (samples, columns) = read("rows.jsonl", row.as_bytes()).unwrap();
        assert_eq!(samples, ["1:0|q|a|r", "1:1|q|a|s"], "{columns}");
        assert!(columns.starts_with(&format!("{preset} rows: ")), "{columns}");
    }
    // Where there is a response, what was chosen may be anything.
    let row =
        br#"{"id": 1, "question": "q", "answer": "a", "pred": "r", "chosen": 1, "rejected": 0}"#;
    assert_eq!(read("rows.jsonl", row).unwrap().0, ["1|q|a|r"]);
}

/// A row read for a protocol that does without a reference, and what else it needs.
fn without_reference(row: &str, other: impl Fn(&mut crate::Needs)) -> Loaded {
    let mut needs = crate::Needs {
        reference: false,
        ..crate::Needs::default()
    };
    other(&mut needs);
    let options = LoadOptions {
        columns: crate::ColumnMap::default().with_needs(needs),
        ..LoadOptions::default()
    };
    Files::one(row).rows(&options).unwrap()
}

#[test]
fn the_steps_of_trl_are_those_of_one_response() {
    let row = r#"{"prompt": "q", "completions": ["One.", "Two."], "labels": [true, false]}"#;
    let loaded = without_reference(row, |needs| needs.steps = true);
    let sample = &loaded.samples[0];
    assert_eq!(sample.student_answer, "One.\n\nTwo.");
    assert_eq!(sample.steps, ["One.", "Two."]);
    assert!(
        loaded.columns.to_string().starts_with("trl-stepwise rows"),
        "{}",
        loaded.columns
    );
    // With a reference these are several responses, as in any row.
    let row =
        br#"{"id": 1, "prompt": "q", "completions": ["5", "6"], "labels": [1, 0], "answer": "a"}"#;
    assert_eq!(
        read("rows.jsonl", row).unwrap().0,
        ["1:0|q|a|5", "1:1|q|a|6"]
    );
}

#[test]
fn annotations_of_alpaca_eval_are_pairs() {
    let row = r#"{"instruction": "q", "output_1": "s", "generator_1": "gpt4_turbo", "output_2": "r", "generator_2": "m", "annotator": "w", "preference": 1.9}"#;
    let loaded = without_reference(row, |needs| needs.other = true);
    let sample = &loaded.samples[0];
    let read = [
        &sample.question,
        &sample.student_answer,
        &sample.other_answer,
    ];
    assert_eq!(read.map(|text| &**text), ["q", "r", "s"]);
}
