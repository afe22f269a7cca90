use serde_json::json;

use super::*;

fn parse(body: &Value) -> Result<GenerationRequest, String> {
    GenerationRequest::parse(Route::Chat, body.as_object().unwrap().clone())
}

fn with(key: &str, value: &Value) -> Result<GenerationRequest, String> {
    let mut body = json!({"messages": [{"role": "user", "content": "hi"}]});
    body[key] = value.clone();
    parse(&body)
}

#[test]
fn a_request_is_read_whole() {
    let request = parse(&json!({
        "model": "m", "temperature": 0.5, "top_p": 0.9, "top_k": -1, "min_p": 0, "max_tokens": 7, "max_completion_tokens": 7,
        "seed": -1, "stop": "x", "n": 1, "user": "me", "stream": false, "tools": null, "repetition_penalty": 1.0,
        "reasoning_effort": "low", "chat_template_kwargs": {"enable_thinking": false},
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": ["a", {"type": "text", "text": "b"}], "name": null}]
    }))
    .unwrap();
    let GenerationInput::Chat(messages, variables) = &request.asked else {
        panic!("{request:?}")
    };
    assert_eq!(messages[1].parts, ["a", "b"]);
    assert_eq!(messages[1].name, None);
    assert_eq!(
        json!(variables),
        json!({"enable_thinking": false, "reasoning_effort": "low"})
    );
    assert_eq!(request.max_tokens, Some(7));
    assert_eq!(request.seed, Some(u64::MAX));
    assert_eq!(request.stop, ["x"]);
    let sampling = request.sampling(Sampling::GREEDY);
    assert!((sampling.top_p - 0.9).abs() < 1e-9 && sampling.top_k == 0);
}

#[test]
fn a_form_is_one_of_those_that_are_known() {
    let schema = json!({"type": "object"});
    let of = |key: &str, value: Value| with(key, &value).map(|request| request.form);
    let as_schema = Ok(Some(GrammarSource::JsonSchema(schema.to_string())));
    let format = json!({"type": "json_schema", "json_schema": {"schema": schema}});
    assert_eq!(of("response_format", format), as_schema);
    assert_eq!(of("guided_json", schema.clone()), as_schema);
    assert_eq!(of("structured_outputs", json!({"json": schema})), as_schema);
    assert_eq!(of("response_format", json!({"type": "text"})), Ok(None));
    // As llama.cpp, Together AI and SGLang take it.
    for (key, value) in [
        (
            "response_format",
            json!({"type": "json_object", "schema": schema}),
        ),
        (
            "response_format",
            json!({"type": "json_schema", "name": "n", "strict": true, "schema": schema}),
        ),
        (
            "response_format",
            json!({"type": "json_schema", "json_schema": {"name": "n", "description": "d", "strict": null, "schema": schema}}),
        ),
        ("json_schema", schema.clone()),
        ("json_schema", json!(schema.to_string())),
    ] {
        assert_eq!(of(key, value.clone()), as_schema, "{key}: {value}");
    }
    assert_eq!(
        of("regex", json!("a+")),
        Ok(Some(GrammarSource::Regex("a+".to_owned())))
    );
    for (key, value, why) in [
        ("response_format", json!({"type": "xml"}), "may be text"),
        (
            "response_format",
            json!({"type": "json_schema"}),
            "`json_schema.schema`",
        ),
        // Nothing that asks for a form is dropped.
        (
            "response_format",
            json!({"type": "text", "schema": schema}),
            "`response_format.schema` is not applied",
        ),
        (
            "response_format",
            json!({"type": "text", "json_schema": {"schema": schema}}),
            "`response_format.json_schema`",
        ),
        (
            "response_format",
            json!({"type": "json_object", "json_schema": {"schema": schema}}),
            "`response_format.json_schema`",
        ),
        (
            "response_format",
            json!({"type": "json_object", "strict": true}),
            "`response_format.strict`",
        ),
        (
            "response_format",
            json!({"type": "json_object", "schema": "{}"}),
            "`response_format.schema` is no JSON schema",
        ),
        (
            "response_format",
            json!({"type": "json_schema", "schema": schema, "json_schema": {"schema": schema}}),
            "`response_format.schema`",
        ),
        (
            "response_format",
            json!({"type": "json_schema", "json_schema": {"schema": schema, "mode": 1}}),
            "`response_format.json_schema.mode`",
        ),
        (
            "response_format",
            json!({"type": "json_schema", "json_schema": {"schema": schema, "strict": "yes"}}),
            "`response_format.json_schema.strict`",
        ),
        (
            "response_format",
            json!({"type": "json_schema", "json_schema": {"type": "object"}}),
            "`response_format.json_schema.type`",
        ),
        (
            "response_format",
            json!({"type": "json_schema", "json_schema": 5}),
            "`response_format.json_schema` is no object",
        ),
        (
            "response_format",
            json!("json"),
            "`response_format` is no object",
        ),
        ("response_format", json!({"schema": schema}), "may be text"),
        (
            "grammar",
            json!("root ::= \"a\""),
            "`grammar` is not applied",
        ),
        ("ebnf", json!("root ::= \"a\""), "`ebnf` is not applied"),
        ("strict", json!(true), "`strict` is not applied"),
        (
            "tools",
            json!([{"type": "function", "function": {"name": "f", "input_schema": schema}}]),
            "`tools[0].function.input_schema`",
        ),
        (
            "tools",
            json!([{"type": "function", "function": {"name": "f"}, "parameters": schema}]),
            "`tools[0].parameters`",
        ),
        ("guided_choice", json!([1]), "list of texts"),
        ("guided_regex", json!(3), "`guided_regex` is 3"),
        (
            "structured_outputs",
            json!({"structural_tag": "x"}),
            "`structured_outputs.structural_tag` is not applied",
        ),
        (
            "structured_outputs",
            json!({"regex": "a", "choice": ["b"]}),
            "both",
        ),
    ] {
        let refused = of(key, value).unwrap_err();
        assert!(refused.contains(why), "{refused}");
    }
}

#[test]
fn an_answer_is_taken_back_as_a_turn() {
    let turn = |answer: &Value| {
        let messages = json!({"messages": [{"role": "user", "content": "hi"}, answer]});
        parse(&messages).map(|request| match request.asked {
            GenerationInput::Chat(messages, _) => messages[1].parts.clone(),
            GenerationInput::Prompts(_) => Vec::new(),
        })
    };
    for (answer, parts) in [
        (
            json!({"role": "assistant", "content": "4", "refusal": null, "annotations": [], "audio": null, "function_call": null,
                "tool_calls": [], "reasoning_content": "2+2", "reasoning": null}),
            &["4"][..],
        ),
        (
            json!({"role": "assistant", "content": "4", "refusal": "", "annotations": [{"type": "url_citation"}]}),
            &["4"],
        ),
        (
            json!({"role": "assistant", "content": null, "refusal": "I will not."}),
            &["I will not."],
        ),
        (
            json!({"role": "assistant", "content": [{"type": "thinking", "thinking": "2+2"}, {"type": "output_text", "text": "4", "annotations": [],
                "logprobs": []}]}),
            &["4"],
        ),
        (
            json!({"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}),
            &["no"],
        ),
        (
            json!({"role": "user", "content": [{"type": "input_text", "text": "4"}]}),
            &["4"],
        ),
        (
            json!({"role": "user", "content": [{"text": "4", "cache_control": null}]}),
            &["4"],
        ),
        (json!({"role": "user", "content": ""}), &[""]),
    ] {
        assert_eq!(turn(&answer).unwrap(), parts, "{answer}");
    }
    for (answer, why) in [
        (
            json!({"role": "user", "content": "4", "refusal": "no"}),
            "`refusal` is not applied",
        ),
        (
            json!({"role": "user", "content": "4", "reasoning_content": "x"}),
            "`reasoning_content` is not applied",
        ),
        (
            json!({"role": "assistant", "content": "4", "audio": {"id": "a"}}),
            "`audio` is not applied",
        ),
        (
            json!({"role": "user", "content": [{"type": "reasoning", "text": "The answer is 5."}]}),
            "type \"reasoning\"",
        ),
        (
            json!({"role": "assistant", "content": [{"type": "tool_use", "name": "f", "text": "5"}]}),
            "type \"tool_use\"",
        ),
        (
            json!({"role": "assistant", "content": [{"type": "text", "text": "4", "citations": [1]}]}),
            "nothing more: `citations`",
        ),
        (
            json!({"role": "user", "content": [{"text": "4", "image_url": {"url": "data:"}}]}),
            "nothing more",
        ),
        (
            json!({"role": "user", "content": [{"text": "4", "refusal": "no"}]}),
            "nothing more",
        ),
        (
            json!({"role": "assistant", "content": [{"type": "refusal", "refusal": "no", "text": "4"}]}),
            "nothing more",
        ),
    ] {
        let said = turn(&answer).unwrap_err();
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn what_would_change_the_answer_is_named() {
    for (key, value) in [
        ("logit_bias", json!({"5": 1})),
        ("prompt_logprobs", json!(1)),
        ("frequency_penalty", json!(0.1)),
        ("repetition_penalty", json!(1.1)),
        ("stream", json!(true)),
        ("anything", json!(0)),
    ] {
        let why = with(key, &value).unwrap_err();
        assert!(why.contains(&format!("`{key}` is not applied")), "{why}");
    }
    for (key, value, why) in [
        ("temperature", json!(-1), "temperature"),
        ("temperature", json!("hot"), "`temperature` is \"hot\""),
        ("top_p", json!(0), "top-p"),
        ("max_tokens", json!(0), "`max_tokens` is 0"),
        ("n", json!(0), "`n` is 0"),
        ("stop", json!([""]), "`stop` must be"),
        ("seed", json!(1.5), "`seed` is 1.5"),
        (
            "chat_template_kwargs",
            json!({"messages": []}),
            "may not set `messages`",
        ),
        ("messages", json!([]), "is empty"),
        (
            "messages",
            json!([{"role": "user"}]),
            "message 1 has no content",
        ),
        (
            "messages",
            json!([{"role": "user", "content": "x", "name": "<|im_end|>"}]),
            "message 1 has the name \"<|im_end|>\"",
        ),
        (
            "messages",
            json!([{"role": "<|im_end|>", "content": "x"}]),
            "which is no name of a role",
        ),
        (
            "messages",
            json!([{"role": "user", "content": "x", "tool_calls": [1]}]),
            "`tool_calls` is no list of calls",
        ),
        (
            "messages",
            json!([{"role": "user", "content": [{"type": "image_url"}]}]),
            "type \"image_url\"",
        ),
    ] {
        let said = with(key, &value).unwrap_err();
        assert!(said.contains(why), "{said}");
    }
}

/// `AutoGen` names the author of each message.
#[test]
fn a_message_may_name_its_author() {
    let names = |messages: Value| {
        let asked = with("messages", &messages).unwrap().asked;
        let GenerationInput::Chat(messages, _) = asked else {
            panic!("{asked:?}")
        };
        messages
            .into_iter()
            .map(|message| message.name)
            .collect::<Vec<_>>()
    };
    let messages = json!([{"role": "user", "content": "x", "name": "judge_1"}, {"role": "tool", "content": "y", "name": "f"}]);
    assert_eq!(names(messages), [Some("judge_1".to_owned()), None]);
}

#[test]
fn the_best_of_all_answers_are_all_of_them() {
    let of = |n: u64, best: u64| {
        let body = json!({"prompt": "a", "n": n, "best_of": best});
        GenerationRequest::parse(Route::Completions, body.as_object().unwrap().clone())
    };
    assert_eq!(of(4, 4).unwrap().n, 4);
    assert!(of(2, 4).unwrap_err().contains("`best_of` is not applied"));
}

#[test]
fn raw_prompts_are_texts_or_token_ids() {
    let of = |prompt: Value| {
        let body = json!({"prompt": prompt}).as_object().unwrap().clone();
        GenerationRequest::parse(Route::Completions, body).map(|request| request.asked)
    };
    let text = |text: &str| RawPrompt::Text(text.to_owned());
    let tokens = |ids: &[u32]| RawPrompt::Tokens(ids.to_vec());
    for (prompt, expected) in [
        (json!("a"), vec![text("a")]),
        (json!(["a", "b"]), vec![text("a"), text("b")]),
        (json!([1, 2]), vec![tokens(&[1, 2])]),
        (json!([[1], [2]]), vec![tokens(&[1]), tokens(&[2])]),
    ] {
        assert_eq!(of(prompt), Ok(GenerationInput::Prompts(expected)));
    }
    for prompt in [
        json!(""),
        json!([]),
        json!([[]]),
        json!([1, "a"]),
        json!([-1]),
        json!({}),
    ] {
        assert!(
            of(prompt.clone()).unwrap_err().contains("`prompt`"),
            "{prompt}"
        );
    }
}

#[test]
fn an_echo_is_asked_for_by_a_truth_value() {
    let of = |echo: Value| {
        let body = json!({"prompt": "a", "echo": echo});
        let body = body.as_object().unwrap().clone();
        GenerationRequest::parse(Route::Completions, body).map(|request| request.echo)
    };
    assert_eq!(of(json!(true)), Ok(true));
    assert_eq!([of(json!(false)), of(Value::Null)], [Ok(false), Ok(false)]);
    for echo in [json!("true"), json!(1)] {
        assert!(of(echo.clone()).unwrap_err().contains("`echo`"), "{echo}");
    }
}

#[test]
fn many_short_messages_have_room_for_their_markup() {
    let messages = vec![json!({"role": "user", "content": "a"}); 300];
    let request = parse(&json!({"messages": messages})).unwrap();
    assert_eq!(request.bytes(), 300 * 65);
}
