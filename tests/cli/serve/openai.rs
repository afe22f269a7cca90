//! OpenAI's routes.

use serde_json::{Value, json};

use super::Server;
use crate::common::Folder;

fn chat(more: &Value) -> Value {
    let mut body = json!({"model": "tiny", "max_tokens": 24, "messages": [{"role": "user", "content": "3 + 4 = ?"}]});
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    body
}

/// The pieces of a stream.
fn pieces(text: &str) -> Vec<Value> {
    let events: Vec<&str> = text
        .split("\n\n")
        .filter(|event| !event.is_empty())
        .collect();
    let (last, events) = events.split_last().unwrap();
    assert_eq!(*last, "data: [DONE]");
    events
        .iter()
        .map(|event| serde_json::from_str(event.strip_prefix("data: ").unwrap()).unwrap())
        .collect()
}

#[test]
fn answers_are_those_of_batch_files() {
    let folder = Folder::new();
    let server = Server::start(&folder, &[]);
    let chat = chat(&json!({}));
    let completion = json!({"model": "tiny", "prompt": ["3 + 4 =", "5 - 1 ="], "n": 2, "seed": 5, "temperature": 1, "max_tokens": 9});
    let lines = [
        ("/v1/chat/completions", &chat),
        ("/v1/completions", &completion),
    ];
    let batch: Vec<String> = lines
        .iter()
        .map(|(url, body)| json!({"custom_id": url, "url": url, "body": body}).to_string() + "\n")
        .collect();
    folder.write("batch.jsonl", batch.concat());
    folder
        .run(&[
            "batch",
            "run",
            "batch.jsonl",
            "-o",
            "out.jsonl",
            "--model",
            "tiny",
        ])
        .expect(0, &[]);
    for ((url, body), line) in lines.into_iter().zip(folder.lines("out.jsonl")) {
        let own = server.post(url, body).ok();
        let expected = &line["response"]["body"];
        assert_eq!(own["choices"], expected["choices"]);
        assert_eq!(
            own["usage"]["total_tokens"],
            expected["usage"]["total_tokens"]
        );
        assert_eq!(own["object"], expected["object"]);
    }
    let models = server.get("/v1/models").ok();
    assert_eq!(models["data"][0]["id"], "tiny");
    assert_eq!(server.get("/v1/models/tiny").ok()["id"], "tiny");
    server
        .get("/v1/models/other")
        .expect(404, &["there is no model \"other\""]);
}

#[test]
fn a_stream_says_what_the_whole_answer_says() {
    let folder = Folder::new();
    let server = Server::start(&folder, &[]);
    let whole = server.post("/v1/chat/completions", &chat(&json!({}))).ok();
    let content = whole["choices"][0]["message"]["content"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(content.len() > 4, "{content}");
    // A stop text in the middle of what is written.
    let middle = content.floor_char_boundary(content.len() / 2);
    let stop: String = content[middle..].chars().take(2).collect();
    for more in [
        json!({}),
        json!({"stop": stop}),
        json!({"n": 2, "temperature": 1, "seed": 7}),
        json!({"max_tokens": 3}),
        json!({"logprobs": true, "top_logprobs": 2}),
        json!({"response_format": {"type": "json_schema", "json_schema": {"name": "x", "strict": null, "schema":
            {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"], "additionalProperties": false}}}}),
    ] {
        let body = chat(&more);
        let whole = server.post("/v1/chat/completions", &body).ok();
        let mut streamed = body.clone();
        streamed["stream"] = json!(true);
        streamed["stream_options"] = json!({"include_usage": true});
        let answer = server.post("/v1/chat/completions", &streamed);
        let mut pieces = pieces(&answer.text);
        let usage = pieces.pop().unwrap();
        assert_eq!(
            usage["usage"]["completion_tokens"],
            whole["usage"]["completion_tokens"]
        );
        assert_eq!(usage["choices"], json!([]));
        let choices = whole["choices"].as_array().unwrap();
        for (index, choice) in choices.iter().enumerate() {
            let own = pieces
                .iter()
                .map(|piece| &piece["choices"][0])
                .filter(|piece| piece["index"] == index);
            let own: Vec<&Value> = own.collect();
            let text: String = own
                .iter()
                .filter_map(|piece| piece["delta"]["content"].as_str())
                .collect();
            assert_eq!(
                text,
                choice["message"]["content"].as_str().unwrap(),
                "{more}"
            );
            assert_eq!(own[0]["delta"]["role"], "assistant");
            for key in ["finish_reason", "logprobs"] {
                assert_eq!(own.last().unwrap()[key], choice[key]);
            }
        }
    }
    let text = json!({"prompt": "3 + 4 =", "max_tokens": 8, "stream": true});
    let pieces = pieces(&server.post("/v1/completions", &text).text);
    assert!(
        pieces.len() > 2
            && pieces
                .iter()
                .all(|piece| piece["object"] == "text_completion")
    );
}

#[test]
fn a_schema_is_kept_to() {
    let folder = Folder::new();
    let server = Server::start(&folder, &[]);
    let schema = json!({"type": "object", "properties": {"grade": {"enum": ["A", "B"]}, "n": {"type": "integer", "minimum": 0, "maximum": 9}},
        "required": ["grade", "n"], "additionalProperties": false});
    let format = json!({"type": "json_schema", "json_schema": {"name": "grade", "description": null, "schema": schema}});
    let more = json!({"response_format": format, "max_tokens": 60});
    let answer = server.post("/v1/chat/completions", &chat(&more)).ok();
    let text = &answer["choices"][0]["message"]["content"];
    let content: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
    assert!(["A", "B"].contains(&content["grade"].as_str().unwrap()) && content["n"].is_u64());
}

#[test]
fn what_is_not_applied_is_named() {
    let folder = Folder::new();
    let server = Server::start(&folder, &[]);
    for (more, parts) in [
        (json!({"frobnicate": 1}), &["`frobnicate`"][..]),
        (
            json!({"frobnicate": 1, "min_tokens": 3, "user": "me"}),
            &["`frobnicate`, `min_tokens` are not applied"],
        ),
        (json!({"tools": [{"type": "function"}]}), &["`tools`"]),
        (json!({"n": 0}), &["`n` is 0"]),
        (json!({"stream": 1}), &["`stream` is 1"]),
        (
            json!({"stream": true, "stream_options": {"x": 1}}),
            &["`stream_options.x`"],
        ),
        (json!({"temperature": -1}), &["temperature"]),
        (json!({"messages": []}), &["`messages` is empty"]),
    ] {
        server
            .post("/v1/chat/completions", &chat(&more))
            .expect(400, parts);
    }
    server
        .post("/v1/chat/completions", &chat(&json!({"model": "gpt"})))
        .expect(404, &["no model \"gpt\"", "\"tiny\""]);
    let refused = server.post("/v1/chat/completions", &chat(&json!({"frobnicate": 1})));
    assert_eq!(refused.json()["error"]["param"], "frobnicate");
    let long = chat(&json!({"messages": [{"role": "user", "content": "word ".repeat(9000)}]}));
    let answer = server.post("/v1/chat/completions", &long);
    answer.expect(400, &["the prompt has"]);
    let begins = |answer: &super::Answer| {
        // LiteLLM falls back to another model by these words.
        let message = answer.json()["error"]["message"]
            .as_str()
            .unwrap()
            .to_lowercase();
        message.starts_with("this model's maximum context length is")
    };
    assert!(begins(&answer), "{}", answer.text);
    let no_room = server.post(
        "/v1/chat/completions",
        &chat(&json!({"max_tokens": 1_000_000})),
    );
    no_room.expect(400, &["leave no room for a prompt"]);
    assert!(begins(&no_room), "{}", no_room.text);
    assert_eq!(no_room.json()["error"]["code"], "context_length_exceeded");
    assert_eq!(answer.json()["error"]["code"], "context_length_exceeded");
    let endless = json!({"type": "array", "items": {"type": "null"}, "minItems": 1_000_000_000});
    let format = json!({"type": "json_schema", "json_schema": {"name": "x", "schema": endless}});
    server
        .post(
            "/v1/chat/completions",
            &chat(&json!({"response_format": format})),
        )
        .expect(400, &["could not be followed"]);
    let quiet = chat(
        &json!({"n": 1, "logit_bias": {}, "user": "me", "tools": [], "tool_choice": "auto", "stop": [], "seed": null, "frequency_penalty": 0.0}),
    );
    server.post("/v1/chat/completions", &quiet).ok();
}
