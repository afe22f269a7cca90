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
        .run_words("batch run batch.jsonl -o out.jsonl --model tiny")
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
    server
        .post("/v1/responses", &json!({"model": "tiny", "input": "hi"}))
        .expect(404, &["send chats to /v1/chat/completions"]);
}

#[test]
fn a_model_is_called_as_it_is_said() {
    let folder = Folder::new();
    let server = Server::start(&folder, &["--served-model-name", "judge", "org/other"]);
    let models = server.get("/v1/models").ok();
    let ids = |at: usize| models["data"][at]["id"].as_str();
    assert_eq!(
        [ids(0), ids(1), ids(2)],
        [Some("judge"), Some("org/other"), None]
    );
    assert_eq!(server.get("/v1/models/org/other").ok()["id"], "org/other");
    for (asked, said) in [(json!("org/other"), "org/other"), (json!(null), "judge")] {
        let answer = server.post("/v1/chat/completions", &chat(&json!({"model": asked})));
        assert_eq!(answer.ok()["model"], said);
    }
    let other = server.post("/v1/chat/completions", &chat(&json!({})));
    other.expect(404, &["no model \"tiny\"", "has \"judge\", \"org/other\""]);
    let sample = json!({"question": "3 + 4 = ?", "reference": "7", "response": "3 + 4 = 7"});
    let judged = server.post("/v1/judge", &json!({"samples": [sample]})).ok();
    assert_eq!(judged["judge"]["model"], "tiny");
    let metrics = server.get("/metrics").text;
    assert!(metrics.contains("model_name=\"judge\""), "{metrics}");
    folder
        .run_words("serve --port 0 --rules only --served-model-name judge")
        .expect(2, &["which this server does not answer"]);
    folder
        .run(&["serve", "--port", "0", "--served-model-name", ""])
        .expect(2, &["--served-model-name"]);
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
fn a_form_holds_for_what_is_said_after_thinking() {
    let folder = Folder::new();
    let server = Server::start(&folder, &["--thinking-style", "think"]);
    let schema =
        json!({"type": "object", "properties": {"x": {"enum": [1, 2]}}, "required": ["x"]});
    let function =
        |name: &str| json!({"type": "function", "function": {"name": name, "parameters": schema}});
    let named = json!({"type": "function", "function": {"name": "f"}});
    let format = json!({"type": "json_schema", "json_schema": {"name": "x", "schema": schema}});
    let (mut thought, mut cut) = (0, 0);
    for seed in 0..24 {
        for more in [
            json!({"response_format": format}),
            json!({"tools": [function("f")], "tool_choice": named}),
            json!({"tools": [function("f"), function("g")], "tool_choice": "required"}),
        ] {
            let mut body = chat(&more);
            for (key, value) in [
                ("seed", json!(seed)),
                ("temperature", json!(2)),
                ("max_tokens", json!(80)),
            ] {
                body[key] = value;
            }
            let choice = server.post("/v1/chat/completions", &body).ok()["choices"][0].clone();
            let message = &choice["message"];
            let said = match &message["tool_calls"][0]["function"]["arguments"] {
                Value::Null => &message["content"],
                arguments => arguments,
            };
            thought += usize::from(
                message["reasoning_content"]
                    .as_str()
                    .is_some_and(|text| text.starts_with("<think>")),
            );
            // An end token within the thinking ends the answer too.
            if choice["finish_reason"] == "length" || said.is_null() {
                cut += 1;
                assert!(!said.as_str().unwrap_or("").contains("think>"), "{choice}");
            } else {
                let said: Value = serde_json::from_str(said.as_str().unwrap()).unwrap();
                assert!(said["x"].is_u64(), "{choice}");
                let is_called = more["tool_choice"] == "required";
                assert_eq!(
                    choice["finish_reason"] == "tool_calls",
                    is_called,
                    "{choice}"
                );
            }
            if seed < 4 {
                body["stream"] = json!(true);
                let pieces = pieces(&server.post("/v1/chat/completions", &body).text);
                let deltas = |key: &str| -> String {
                    let deltas = pieces
                        .iter()
                        .filter_map(|piece| piece["choices"][0]["delta"][key].as_str());
                    deltas.collect()
                };
                for key in ["content", "reasoning_content"] {
                    assert_eq!(deltas(key), message[key].as_str().unwrap_or(""), "{more}");
                }
            }
        }
    }
    assert!(thought > 0 && cut < 72, "{thought} {cut}");
}

#[test]
fn what_a_request_leaves_out_is_what_the_context_has_left() {
    let folder = Folder::new();
    let server = Server::start(&folder, &[]);
    let ask = |tokens: usize| server.post("/v1/completions", &json!({"prompt": vec![5; tokens]}));
    let usage = ask(4090).ok()["usage"]["completion_tokens"].clone();
    assert!((1..=6).contains(&usage.as_u64().unwrap()), "{usage}");
    ask(4095).ok();
    ask(4096).expect(400, &["maximum context length is 4096", "room for 4095"]);
}

#[test]
fn forms_and_texts_are_bounded() {
    let folder = Folder::new();
    let server = Server::start(&folder, &["--max-text", "300000"]);
    let ask = |pattern: String| {
        server.post(
            "/v1/chat/completions",
            &chat(&json!({"regex": pattern, "max_tokens": 2})),
        )
    };
    ask("a".repeat(1000)).ok();
    ask("a".repeat(131_073)).expect(400, &["131073 bytes", "may have 131072"]);
    ask("a".repeat(300_001)).expect(400, &["`regex` has 300001 bytes", "--max-text"]);
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
    let begins = |answer: &super::ServerResponse| {
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

#[test]
fn a_prompt_is_echoed_with_its_log_probabilities() {
    let folder = Folder::new();
    let server = Server::start(&folder, &[]);
    let ask = |more: Value| {
        let mut body = json!({"model": "tiny", "temperature": 0});
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        server.post("/v1/completions", &body)
    };
    let prompt = "Ann has 12 apples and buys 5 more.";
    let written = ask(json!({"prompt": prompt, "max_tokens": 6, "logprobs": 2})).ok();
    let written = &written["choices"][0];
    let text = format!("{prompt}{}", written["text"].as_str().unwrap());
    // What was generated has the same log-probabilities as a prompt.
    let echoed = ask(json!({"prompt": text, "max_tokens": 1, "logprobs": 2, "echo": true})).ok();
    let (choice, usage) = (&echoed["choices"][0], &echoed["usage"]);
    let of = |choice: &Value, key: &str| choice["logprobs"][key].as_array().unwrap().clone();
    let (tokens, all) = (of(choice, "tokens"), of(choice, "token_logprobs"));
    assert_eq!(
        tokens.len(),
        usage["prompt_tokens"].as_u64().unwrap() as usize + 1
    );
    assert_eq!(usage["completion_tokens"], 1);
    let joined: String = tokens.iter().map(|token| token.as_str().unwrap()).collect();
    assert_eq!(choice["text"], joined);
    assert!(choice["text"].as_str().unwrap().starts_with(&text));
    assert!(all[0].is_null() && of(choice, "top_logprobs")[0].is_null());
    assert!(
        all[1..].iter().all(|one| one.as_f64().unwrap() <= 0.0),
        "{all:?}"
    );
    assert_eq!(
        of(choice, "text_offset")[1],
        tokens[0].as_str().unwrap().chars().count()
    );
    let own = of(written, "tokens");
    let from = tokens.len() - 1 - own.len();
    assert_eq!(tokens[from..tokens.len() - 1], own);
    for (one, other) in all[from..].iter().zip(of(written, "token_logprobs")) {
        let (one, other) = (one.as_f64().unwrap(), other.as_f64().unwrap());
        assert!((one - other).abs() < 1e-4, "{one} against {other}");
    }
    assert_eq!(
        of(choice, "top_logprobs")[from..tokens.len() - 1],
        of(written, "top_logprobs")
    );

    // Nothing new, several prompts, token ids, and an end of sequence within the prompt.
    let nothing = ask(json!({"prompt": prompt, "max_tokens": 0, "echo": true})).ok();
    assert_eq!(nothing["choices"][0]["text"], prompt);
    assert_eq!(nothing["usage"]["completion_tokens"], 0);
    let ids = json!([[5, 0, 6, 1, 7, 2], [9]]);
    let both =
        ask(json!({"prompt": ids, "max_tokens": 0, "echo": true, "logprobs": 0, "n": 2})).ok();
    let choices = both["choices"].as_array().unwrap();
    assert_eq!(choices.len(), 4);
    assert_eq!(of(&choices[0], "token_logprobs").len(), 6);
    assert_eq!(choices[0]["logprobs"], choices[1]["logprobs"]);
    assert_eq!(of(&choices[3], "token_logprobs"), [Value::Null]);
    assert_eq!(both["usage"]["prompt_tokens"], 7);
    // A stop text in the prompt is no end.
    let stopped =
        ask(json!({"prompt": "a b", "max_tokens": 3, "echo": true, "logprobs": 1, "stop": ["a"]}))
            .ok();
    assert!(
        stopped["choices"][0]["text"]
            .as_str()
            .unwrap()
            .starts_with("a b")
    );

    ask(json!({"prompt": "a", "echo": true, "stream": true})).expect(400, &["`echo`", "stream"]);
    ask(json!({"prompt": "a", "max_tokens": 0})).expect(400, &["`max_tokens` is 0"]);
    server
        .post("/v1/chat/completions", &chat(&json!({"echo": true})))
        .expect(400, &["`echo`"]);
}

#[test]
fn a_raw_prompt_begins_as_the_tokenizer_says() {
    let folder = Folder::new();
    folder.write_model();
    let path = "model/tokenizer.json";
    let text = std::fs::read_to_string(folder.path(path)).unwrap();
    let mut tokenizer: Value = serde_json::from_str(&text).unwrap();
    let added = tokenizer["added_tokens"].as_array().unwrap();
    let begin = added
        .iter()
        .find(|token| token["content"] == "<|im_start|>");
    let id = begin.unwrap()["id"].clone();
    let text = json!({"Sequence": {"id": "A", "type_id": 0}});
    tokenizer["post_processor"] = json!({"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<|im_start|>", "type_id": 0}}, text],
        "pair": [text, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<|im_start|>": {"id": "<|im_start|>", "ids": [id], "tokens": ["<|im_start|>"]}}});
    folder.write(path, tokenizer.to_string());
    let server = Server::start(&folder, &["--model", "model"]);
    let plain = Server::start(&folder, &[]);
    let ask = |more: &Value| {
        let mut body = json!({"model": "model", "prompt": "a b c", "max_tokens": 0, "echo": true, "logprobs": 0});
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        server.post("/v1/completions", &body)
    };
    let tokens = |answer: &Value| {
        answer["choices"][0]["logprobs"]["tokens"]
            .as_array()
            .unwrap()
            .len()
    };
    let begun = ask(&json!({})).ok();
    let (choice, bare) = (
        &begun["choices"][0],
        ask(&json!({"add_special_tokens": false})).ok(),
    );
    assert_eq!(choice["logprobs"]["tokens"][0], "<|im_start|>");
    assert_eq!(choice["text"], "a b c");
    // The first token of the text has one, after the token that begins.
    assert!(choice["logprobs"]["token_logprobs"][1].is_f64());
    assert_eq!(choice["logprobs"]["text_offset"][1], 0);
    assert_eq!(tokens(&begun), tokens(&bare) + 1);
    assert_eq!(begun["usage"]["prompt_tokens"], tokens(&begun));
    let ids = ask(&json!({"prompt": [5, 6]})).ok();
    assert_eq!(tokens(&ids), 2);
    ask(&json!({"add_special_tokens": 1})).expect(400, &["`add_special_tokens` is 1"]);
    // A chat has what its template writes.
    let chat = |server: &Server, name: &str, more: Value| {
        let mut body = json!({"model": name, "messages": [{"role": "user", "content": "a b"}], "max_tokens": 1});
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        server.post("/v1/chat/completions", &body)
    };
    let own = chat(&server, "model", json!({"add_special_tokens": false})).ok();
    assert_eq!(
        own["usage"]["prompt_tokens"],
        chat(&plain, "tiny", json!({})).ok()["usage"]["prompt_tokens"]
    );
    chat(&server, "model", json!({"add_special_tokens": true}))
        .expect(400, &["`add_special_tokens`", "template"]);
}

#[test]
fn a_function_is_called_where_the_request_says_so() {
    let folder = Folder::new();
    let server = Server::start(&folder, &[]);
    let function = |name: &str, key: &str| {
        json!({"type": "function", "function": {"name": name, "description": "Gives a grade.", "strict": true, "parameters":
            {"type": "object", "properties": {key: {"$ref": "#/$defs/Grade"}}, "required": [key], "additionalProperties": false,
             "$defs": {"Grade": {"enum": ["A", "B"]}}}}})
    };
    let (grade, mark) = (function("grade", "g"), function("mark", "m"));
    let ask = |more: Value| server.post("/v1/chat/completions", &chat(&more));
    let named = json!({"type": "function", "function": {"name": "grade"}});
    let answer = ask(json!({"tools": [grade, mark], "tool_choice": named, "max_tokens": 40, "parallel_tool_calls": false})).ok();
    let choice = &answer["choices"][0];
    let call = &choice["message"]["tool_calls"][0];
    assert_eq!(
        (&choice["finish_reason"], &choice["message"]["content"]),
        (&json!("stop"), &Value::Null)
    );
    assert_eq!(
        (&call["type"], &call["function"]["name"]),
        (&json!("function"), &json!("grade"))
    );
    let arguments = |call: &Value| {
        serde_json::from_str::<Value>(call["function"]["arguments"].as_str().unwrap()).unwrap()
    };
    assert!(
        ["A", "B"].contains(&arguments(call)["g"].as_str().unwrap()),
        "{call}"
    );
    assert!(call["id"].as_str().is_some_and(|id| !id.is_empty()));

    // One of several, each with definitions of the same name; also in a stream.
    let required = json!({"tools": [grade, mark], "tool_choice": "required", "max_tokens": 80});
    let answer = ask(required.clone()).ok();
    let choice = &answer["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls", "{answer}");
    let call = &choice["message"]["tool_calls"][0];
    let key = if call["function"]["name"] == "grade" {
        "g"
    } else {
        "m"
    };
    assert!(arguments(call)[key].is_string(), "{call}");
    let mut streamed = required;
    streamed["stream"] = json!(true);
    let events = ask(streamed).text;
    assert!(
        events.contains("\"tool_calls\":[{\"id\"")
            && events.contains("\"finish_reason\":\"tool_calls\""),
        "{events}"
    );

    // Earlier calls are text; a call that was cut is none.
    let earlier = json!([{"role": "user", "content": "Grade it."},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "grade", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "1", "name": "grade", "content": "g is missing"}]);
    ask(
        json!({"messages": earlier, "tools": [grade], "tool_choice": "required", "max_tokens": 40}),
    )
    .ok();
    let cut = ask(json!({"tools": [grade, mark], "tool_choice": "required", "max_tokens": 2})).ok();
    assert_eq!(cut["choices"][0]["finish_reason"], "length");
    assert!(cut["choices"][0]["message"].get("tool_calls").is_none());
    // Without a choice nothing is called.
    let none = ask(json!({"tools": [grade], "tool_choice": "none", "max_tokens": 2})).ok();
    assert!(none["choices"][0]["message"]["content"].is_string());

    for (more, parts) in [
        (
            json!({"tools": [grade]}),
            &["`tools`", "\"auto\"", "Mode.TOOLS", "function_calling"][..],
        ),
        (
            json!({"tools": [grade], "tool_choice": {"type": "function", "function": {"name": "x"}}}),
            &["\"x\"", "not among"],
        ),
        (
            json!({"tools": [grade], "tool_choice": "required", "response_format": {"type": "json_object"}}),
            &["both `tools`"],
        ),
    ] {
        ask(more).expect(400, parts);
    }
}
