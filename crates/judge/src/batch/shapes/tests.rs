use serde_json::json;

use super::*;
use crate::wire::answer::untagged_harmony;

fn read(line: &Value) -> Result<Result<EngineAnswer, String>, String> {
    OutputLine::parse(&line.to_string()).map(|line| {
        assert_eq!(line.custom_id, "a");
        line.answer
    })
}

#[test]
fn every_engines_shape_is_read() {
    let message = json!({"role": "assistant", "content": "A"});
    let body = json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 3}}});
    let plain = json!({"choices": [{"text": "A", "finish_reason": "stop"}]});
    let parts = json!({"choices": [{"message": {"content": [{"type": "thinking", "thinking": "B"}, {"type": "text", "text": "A"}]}}]});
    for line in [
        json!({"id": "x", "custom_id": "a", "response": {"status_code": 200, "request_id": "r", "body": body}, "error": null}),
        json!({"custom_id": "a", "response": {"body": plain}, "error": null}),
        json!({"custom_id": "a", "response": body}),
        json!({"custom_id": "a", "choices": body["choices"]}),
        json!({"custom_id": "a", "response": parts}),
        json!({"custom_id": "a", "response": "A"}),
        json!({"custom_id": "a", "outputs": [{"text": "A", "token_ids": [1]}]}),
        json!({"custom_id": "a", "text": "A", "meta_info": {"finish_reason": {"type": "stop"}}}),
        json!({"custom_id": "a", "response": {"text": "A", "meta_info": {}}}),
        json!({"custom_id": "a", "response": {"message": message, "done_reason": "stop"}}),
    ] {
        let answer = read(&line).unwrap().unwrap();
        assert_eq!(answer.text.as_deref(), Some("A"), "{line}");
        assert!(!answer.is_cut && !answer.thinks_apart, "{line}");
    }
    let usage = read(&json!({"custom_id": "a", "response": {"body": body}}))
        .unwrap()
        .unwrap()
        .usage;
    assert_eq!(
        (
            usage.prompt_tokens,
            usage.cached_tokens,
            usage.completion_tokens
        ),
        (7, 3, 2)
    );
}

#[test]
fn answers_of_the_responses_api_are_read() {
    let part = json!({"type": "output_text", "text": "A", "annotations": []});
    let line = |items: Value, more: Value| {
        let mut body = json!({"object": "response", "status": "completed", "error": null, "incomplete_details": null, "output": items,
            "usage": {"input_tokens": 7, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 3}}});
        let changes = more.as_object().cloned().unwrap_or_default();
        body.as_object_mut().unwrap().extend(changes);
        json!({"id": "x", "custom_id": "a", "response": {"status_code": 200, "body": body}, "error": null})
    };
    let message = |parts: Value| json!({"type": "message", "role": "assistant", "content": parts});
    let thought = json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "B"}]});
    let whole = line(json!([thought, message(json!([part]))]), json!({}));
    let whole = read(&whole).unwrap().unwrap();
    assert_eq!((whole.text.as_deref(), whole.is_cut), (Some("A"), false));
    assert!(whole.thinks_apart && whole.reasoned.is_none());
    let usage = whole.usage;
    let tokens = (
        usage.prompt_tokens,
        usage.cached_tokens,
        usage.completion_tokens,
    );
    assert_eq!(tokens, (7, 3, 2));
    let ended = |why: &str| json!({"status": "incomplete", "incomplete_details": {"reason": why}});
    let cut = line(
        json!([{"type": "reasoning", "summary": []}]),
        ended("max_output_tokens"),
    );
    assert!(read(&cut).unwrap().unwrap().is_cut);
    let filtered = line(json!([]), ended("content_filter"));
    assert!(read(&filtered).unwrap().is_err());
    let refusal = line(
        json!([message(json!([{"type": "refusal", "refusal": "no"}]))]),
        json!({}),
    );
    assert!(read(&refusal).unwrap().unwrap().is_refusal);
    let call = line(json!([{"type": "function_call", "name": "f"}]), json!({}));
    assert!(read(&call).unwrap().unwrap_err().contains("called a tool"));
    let failed = line(
        json!([]),
        json!({"status": "failed", "error": {"code": "server_error", "message": "down"}}),
    );
    assert_eq!(
        read(&failed).unwrap().unwrap_err(),
        "the engine reports an error: server_error: down"
    );
}

#[test]
fn thinking_that_is_only_counted_may_be_in_the_text() {
    let apart = |content: &str| {
        let message = json!({"content": content, "reasoning_details": []});
        let line = json!({"custom_id": "a", "choices": [{"message": message, "finish_reason": "length"}],
            "usage": {"completion_tokens_details": {"reasoning_tokens": 5}}});
        read(&line).unwrap().unwrap().thinks_apart
    };
    assert!(apart(""));
    assert!(!apart("First I look at step 2"));
}

#[test]
fn an_ending_that_is_not_known_as_whole_is_no_whole_answer() {
    let ended = |choice: Value| {
        let mut choice = choice;
        choice["message"] = json!({"content": "A"});
        read(&json!({"custom_id": "a", "choices": [choice]})).unwrap()
    };
    for whole in [
        "stop",
        "STOP",
        "eos_token",
        "end_turn",
        "completed",
        "tool_calls",
        "normal",
        "null",
        "",
        "<|eot_id|>",
        "end_of_text",
        "FinishReason.STOP",
        "stop_sequence",
        "endTurn",
        "natural_stop",
        "succeeded",
        "stop_criteria_met",
        "response.completed",
        "all_done",
        "stop_str",
    ] {
        assert!(
            !ended(json!({"finish_reason": whole})).unwrap().is_cut,
            "{whole}"
        );
    }
    for cut in [
        "length",
        "model_length",
        "MAX_TOKENS",
        "max_output_tokens",
        "stopped_limit",
        "model_context_window_exceeded",
    ] {
        assert!(
            ended(json!({"finish_reason": cut})).unwrap().is_cut,
            "{cut}"
        );
    }
    for (reason, why) in [
        ("SAFETY", "withheld"),
        ("content_filter: RECITATION", "withheld"),
        ("refusal", "withheld"),
        ("insufficient_system_resource", "broke the answer off"),
        ("error", "broke the answer off"),
        ("not_finished", "broke the answer off"),
        ("ABNORMAL", "broke the answer off"),
        ("ERROR_TOXIC", "withheld"),
        ("OTHER", "does not say whether"),
        ("UNFINISHED", "broke the answer off"),
        ("unsuccessful", "broke the answer off"),
        ("stopped_early", "does not say whether"),
        ("did not stop", "does not say whether"),
        ("half_done", "does not say whether"),
        ("stream_end", "does not say whether"),
    ] {
        let error = ended(json!({"finish_reason": reason})).unwrap_err();
        assert!(error.contains(why) && error.contains(reason), "{error}");
        // What a proxy says of it is not all.
        let openrouter = json!({"finish_reason": "stop", "native_finish_reason": reason});
        let litellm = json!({"finish_reason": "stop", "provider_specific_fields": {"native_finish_reason": reason}});
        assert!(
            ended(openrouter).is_err() && ended(litellm).is_err(),
            "{reason}"
        );
    }
    let filtered = json!({"custom_id": "a", "response": {"body": {"choices": []}}});
    assert!(read(&filtered).unwrap().unwrap_err().contains("no answer"));
    let details =
        json!({"content": "", "reasoning_details": [{"type": "reasoning.text", "text": "B"}]});
    let choice = json!({"message": details, "finish_reason": "stop"});
    let thought = read(&json!({"custom_id": "a", "choices": [choice]}))
        .unwrap()
        .unwrap();
    assert_eq!(thought.reasoned.unwrap().text, "B");
}

#[test]
fn thinking_apart_and_cut_answers_are_known_as_such() {
    let thinks = |content: Value, finish: &str| {
        let message = json!({"content": content, "reasoning_content": "B"});
        let choice = json!({"message": message, "finish_reason": finish});
        read(&json!({"custom_id": "a", "choices": [choice]}))
            .unwrap()
            .unwrap()
    };
    let whole = thinks(json!("A"), "stop");
    assert!(whole.thinks_apart && !whole.is_cut && whole.text.as_deref() == Some("A"));
    let cut = thinks(Value::Null, "length");
    assert!(cut.thinks_apart && cut.is_cut && cut.text.is_none());
    // gpt-oss by a server that drops the tags of its channels.
    let whole = "analysisTrue? No.assistantfinalFalse";
    for (text, is_cut, told) in [
        (whole, false, Some(("True? No.", Some("False")))),
        (whole, true, Some(("True? No.", None))),
        ("analysisTrue", false, Some(("True", None))),
        (
            "analysisHe wrote assistantfinal.assistantfinalFalse",
            false,
            Some(("He wrote ", None)),
        ),
        ("analysis: assistantfinal", false, None),
        ("An answer", false, None),
    ] {
        assert_eq!(untagged_harmony(text, is_cut), told, "{text}");
    }
    let sglang = json!({"custom_id": "a", "text": "A", "meta_info": {"finish_reason": {"type": "length", "length": 5}}});
    assert!(read(&sglang).unwrap().unwrap().is_cut);
}

#[test]
fn a_refusal_is_an_answer() {
    for message in [
        json!({"content": null, "refusal": "True is no word of mine."}),
        json!({"content": [{"type": "refusal", "refusal": "True is no word of mine."}]}),
    ] {
        let line = json!({"custom_id": "a", "choices": [{"message": message}]});
        let answer = read(&line).unwrap().unwrap();
        assert!(answer.is_refusal, "{line}");
        let said = answer.text.as_deref();
        assert_eq!(said, Some("True is no word of mine."), "{line}");
    }
}

#[test]
fn what_is_no_answer_says_why() {
    for (line, why) in [
        (
            json!({"custom_id": "a", "error": {"code": "batch_expired", "message": "too late"}}),
            "batch_expired: too late",
        ),
        (
            json!({"custom_id": "a", "error": "out of memory", "response": null}),
            "out of memory",
        ),
        (
            json!({"custom_id": "a", "response": {"status_code": 400, "body": {"error": {"message": "too long"}}}}),
            "too long",
        ),
        (
            json!({"custom_id": "a", "response": {"status_code": 500, "body": null}}),
            "status 500",
        ),
        (
            json!({"custom_id": "a", "response": {"body": {"object": "error", "error": {"message": "no"}}}}),
            "no",
        ),
        (
            json!({"custom_id": "a", "choices": [{"message": {"content": null}}]}),
            "gave no text",
        ),
        (json!({"custom_id": "a", "choices": []}), "gave no answer"),
        (
            json!({"custom_id": "a", "choices": ["the worker is away"]}),
            "reports an error: the worker is away",
        ),
        (
            json!({"custom_id": "a", "choices": [{"message": {"content": "A"}, "error": "broken", "finish_reason": "stop"}]}),
            "reports an error: broken",
        ),
        (
            json!({"custom_id": "a", "choices": [{"message": {"content": "A"}, "finish_reason": "content_filter"}]}),
            "withheld the answer: it ended with `content_filter`",
        ),
        (
            json!({"custom_id": "a", "choices": [{"message": {"content": null, "tool_calls": [{}]}}]}),
            "called a tool",
        ),
    ] {
        let said = read(&line).unwrap().unwrap_err();
        assert!(said.contains(why), "{said}: {line}");
    }
    for (line, why) in [
        (json!([1]), "not a JSON object"),
        (json!({"response": "A"}), "no `custom_id`"),
        (json!({"custom_id": 7}), "no text"),
        (json!({"custom_id": "a"}), "no answer that can be read"),
        (json!({"custom_id": "a", "choices": [{}, {}]}), "2 answers"),
        (
            json!({"custom_id": "a", "outputs": [{"text": 5}]}),
            "neither a text",
        ),
    ] {
        let said = OutputLine::parse(&line.to_string()).unwrap_err();
        assert!(said.contains(why), "{said}: {line}");
    }
    assert!(OutputLine::parse("{").unwrap_err().contains("not JSON"));
}
