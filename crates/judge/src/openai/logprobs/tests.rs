use super::*;
use juror_engine::engine::FinishReason;
use juror_engine::engine::stats::Timing;

#[test]
fn each_route_asks_in_its_own_way() {
    let of = |route, body: Value| asked(route, &mut body.as_object().unwrap().clone());
    for (route, body, expected) in [
        (Route::Chat, json!({}), None),
        (
            Route::Chat,
            json!({"logprobs": false, "top_logprobs": 0}),
            None,
        ),
        (Route::Chat, json!({"logprobs": true}), Some(0)),
        (
            Route::Chat,
            json!({"logprobs": true, "top_logprobs": 20}),
            Some(20),
        ),
        (Route::Completions, json!({"logprobs": false}), None),
        (Route::Completions, json!({"logprobs": 0}), Some(0)),
        (Route::Completions, json!({"logprobs": 5}), Some(5)),
    ] {
        assert_eq!(of(route, body), Ok(expected));
    }
    for (route, body, why) in [
        (Route::Chat, json!({"logprobs": 5}), "`logprobs` is 5"),
        (
            Route::Chat,
            json!({"top_logprobs": 2}),
            "set `logprobs` to true",
        ),
        (
            Route::Chat,
            json!({"logprobs": true, "top_logprobs": 21}),
            "`top_logprobs` is 21",
        ),
        (
            Route::Completions,
            json!({"logprobs": true}),
            "`logprobs` is true",
        ),
        (
            Route::Completions,
            json!({"logprobs": -1}),
            "`logprobs` is -1",
        ),
    ] {
        let said = of(route, body).unwrap_err();
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn tokens_are_written_with_their_bytes_and_places() {
    let source = crate::catalog::resolve("tiny").unwrap();
    let model = ChatModel::load(vec!["tiny".into()], &source, None).unwrap();
    let text = "a é💩!";
    let mut tokens = model.tokenizer().encode_trusted(text).unwrap();
    tokens.push(model.eos[0]);
    let known = |index: usize| TokenLogprobs {
        logprob: -0.5,
        top: vec![(tokens[index], -0.5), (tokens[0], f32::NEG_INFINITY)],
    };
    let now = std::time::Instant::now();
    let completion = Completion {
        id: 0,
        prompt: vec![1],
        expected: Vec::new(),
        // The second one was forced.
        logprobs: (0..tokens.len())
            .map(|index| (index != 1).then(|| known(index)))
            .collect(),
        tokens: tokens.clone(),
        finish: FinishReason::EndOfSequence,
        cached_tokens: 0,
        counted: None,
        timing: Timing {
            queued: now,
            admitted: None,
            first_token: None,
            finished: now,
        },
    };
    let of = |route: Route, body: Value| {
        let body = body.as_object().unwrap().clone();
        let request = GenerationRequest::parse(route, body).unwrap();
        written(&model, &request, &completion)
    };
    let messages = json!({"messages": [{"role": "user", "content": "x"}]});
    let chat = of(Route::Chat, messages);
    let content = chat["content"].as_array().unwrap();
    assert_eq!(content.len(), tokens.len());
    let (end, rest) = content.split_last().unwrap();
    let bytes = rest
        .iter()
        .flat_map(|entry| entry["bytes"].as_array().unwrap());
    let bytes: Vec<u8> = bytes.map(|byte| byte.as_u64().unwrap() as u8).collect();
    assert_eq!(String::from_utf8(bytes).unwrap(), text);
    assert_eq!(end["token"], model.tokenizer().piece(model.eos[0]));
    assert!(end["bytes"].is_null(), "{end}");
    assert_eq!(end["top_logprobs"][1]["logprob"], json!(LOWEST));
    assert!(content[1]["logprob"].is_null() && content[1]["top_logprobs"] == json!([]));
    let parts = content.iter().filter(|entry| {
        let token = entry["token"].as_str().unwrap();
        token.starts_with("bytes:\\x")
    });
    assert!(parts.count() > 0, "no character is in parts: {chat}");

    let raw = of(Route::Completions, json!({"prompt": "x"}));
    let texts = raw["tokens"].as_array().unwrap();
    assert!(raw["token_logprobs"][1].is_null() && raw["top_logprobs"][1].is_null());
    assert_eq!(
        raw["top_logprobs"][0][texts[0].as_str().unwrap()],
        json!(-0.5)
    );
    for (text_of_token, offset) in texts.iter().zip(raw["text_offset"].as_array().unwrap()) {
        let rest: String = text
            .chars()
            .skip(offset.as_u64().unwrap() as usize)
            .collect();
        let own = text_of_token.as_str().unwrap();
        assert!(
            rest.starts_with(own) || own.starts_with("bytes:") || rest.is_empty(),
            "{own:?} at {offset}"
        );
    }
    assert_eq!(raw["text_offset"][tokens.len() - 1], text.chars().count());
}
