//! What servers should not do, and what then becomes of a run, its keys and its rows.

use std::time::Duration;

use serde_json::json;

use super::server::{Asked, Server, completion, error, reply, said};
use super::{RIGHT, folder, judge, verdicts};
use crate::common::words;
use crate::hub::server::{Drip, Reply};

#[test]
fn keys_go_nowhere_else_and_nowhere_to_be_read() {
    let server = Server::new(|asked, _| match asked.request.header("authorization") {
        Some("Bearer sk-very-secret") => said(RIGHT),
        _ => error(401, "no key"),
    });
    let folder = folder(2);
    folder.write("key", "sk-very-secret\n");
    let more = words("--endpoint-key-file key --raw --summary-json summary.json");
    let ran = folder.run(&judge(&server.url, &more));
    ran.expect(0, &[]);
    for name in folder.names().iter().filter(|name| *name != "key") {
        assert!(!folder.read(name).contains("sk-very"), "{name}");
    }
    assert!(!ran.stderr.contains("sk-very"), "{}", ran.stderr);

    let mut command = folder.juror(&judge(&server.url, &["--restart"]));
    command.env("JUROR_ENDPOINT_KEY", "sk-very-secret");
    crate::common::Ran::of(command.output().unwrap()).expect(0, &[]);

    // Without the key, or with another, the run ends with what to do.
    let none = folder.run(&judge(&server.url, &["--restart"]));
    none.expect(1, &["asks for a key", "JUROR_ENDPOINT_KEY"]);

    // A redirect is told and not followed.
    let other = Server::new(|_, _| said(RIGHT));
    let target = format!("{}/chat/completions?signed=1", other.url);
    let moved = Server::new(move |_, _| Reply::new(307).with("Location", &target));
    let ran = folder.run(&judge(
        &moved.url,
        &["--restart", "--endpoint-key-file", "key"],
    ));
    ran.expect(1, &["sends requests on to", "give that address"]);
    assert!(!ran.stderr.contains("signed"), "{}", ran.stderr);
    assert!(other.all().is_empty());
    for url in ["http://user:word@127.0.0.1:9/v1", "ftp://127.0.0.1/v1"] {
        let ran = folder.run(&judge(url, &["--restart"]));
        ran.expect(2, &[]);
        assert!(!ran.stderr.contains("word@"), "{}", ran.stderr);
    }
}

#[test]
fn what_passes_is_asked_again_and_what_does_not_is_failed() {
    let server = Server::new(|asked, before| {
        let prompt = asked.prompt();
        let has = |apples: u32| prompt.contains(&format!("has {apples} apples"));
        match before {
            0 if has(2) => error(500, "out of memory"),
            0 if has(3) => error(429, "slow down").with("Retry-After", &1),
            0 if has(4) => Reply::new(200).body("{\"choices\": [{\"mess"),
            0 if has(5) => Reply {
                cut: Some(40),
                ..said(RIGHT)
            },
            0 if has(6) => reply(&json!({"choices": []})),
            _ if has(7) => error(400, "this prompt is not liked"),
            _ if has(8) => error(500, "always"),
            _ if has(9) => reply(&json!({"choices": [{"text": "A"}, {"text": "B"}]})),
            _ => said(RIGHT),
        }
    });
    let folder = folder(10);
    folder.run(&judge(&server.url, &[])).expect(3, &["7"]);
    let lines = verdicts(&folder);
    for (at, line) in lines.iter().enumerate() {
        let expected = match at {
            5 => Some("not liked"),
            6 => Some("asked 5 times and more: status 500: always"),
            7 => Some("holds 2 answers"),
            _ => None,
        };
        match expected {
            None => assert_eq!(line["status"], "ok", "{line}"),
            Some(why) => {
                assert_eq!(line["status"], "failed", "{line}");
                assert!(line["error"].as_str().unwrap().contains(why), "{line}");
            }
        }
    }
    let asked = |apples: u32| {
        let is_it = |asked: &&Asked| asked.prompt().contains(&format!("has {apples} apples"));
        let all = server.judged();
        let names: Vec<String> = all
            .iter()
            .filter(is_it)
            .map(|one| one.request.header("idempotency-key").unwrap().to_owned())
            .collect();
        // Asked again is the same request. One that was answered may be asked anew, to know whether the server answers still.
        let own = names.iter().filter(|name| **name == names[0]).count();
        assert!(own == names.len() || own == 1 || apples < 7, "{names:?}");
        own
    };
    for (apples, times) in [
        (2, 2),
        (3, 2),
        (4, 2),
        (5, 2),
        (6, 2),
        (7, 1),
        (8, 5),
        (9, 5),
        (10, 1),
    ] {
        // A failure before anything was answered counts as an outage.
        let more = if times == 5 { 3 } else { 0 };
        let count = asked(apples);
        assert!((times..=times + more).contains(&count), "{apples}: {count}");
    }
}

#[test]
fn a_server_that_goes_away_ends_the_run_and_it_goes_on_later() {
    let server = Server::new(|_, _| said(RIGHT));
    server.leaves_at("has 9 apples");
    let folder = folder(12);
    let more = ["--endpoint-timeout", "2", "--max-concurrency", "1"];
    folder.run(&judge(&server.url, &more)).expect(
        1,
        &[
            "every request has failed for",
            "run the same command again to go on",
        ],
    );
    let before = server.judged().len();
    assert!((1..12).contains(&before), "{before}");
    server.comes_back();
    folder.run(&judge(&server.url, &more)).expect(0, &[]);
    assert_eq!(verdicts(&folder).len(), 12);
    // None that was answered was asked again.
    assert_eq!(server.judged().len(), 12);

    // One that no longer knows the key, or has no money left, ends the run at once, also where it says so in an answer.
    for is_said in [false, true] {
        let refusing = Server::new(move |asked, _| {
            if !asked.prompt().contains("has 9 apples") {
                said(RIGHT)
            } else if is_said {
                reply(&json!({"error": {"message": "revoked", "code": 402}}))
            } else {
                error(401, "revoked")
            }
        });
        let ran = folder.run(&judge(
            &refusing.url,
            &["--restart", "--max-concurrency", "1"],
        ));
        ran.expect(1, &["revoked", "run the same command again to go on"]);
        assert!(folder.has("out.jsonl.journal"));
    }
}

#[test]
fn endless_and_slow_answers_have_a_limit() {
    let server = Server::new(|asked, _| {
        let body = "x".repeat(4096);
        if asked.prompt().contains("has 2 apples") {
            Reply {
                drip: Some((Drip::Body, Duration::from_millis(20))),
                ..said(&body)
            }
        } else {
            said(RIGHT)
        }
    });
    let folder = folder(3);
    let begun = std::time::Instant::now();
    let ran = folder.run(&judge(&server.url, &["--endpoint-timeout", "1"]));
    ran.expect(3, &[]);
    assert!(begun.elapsed() < Duration::from_mins(1));
    let lines = verdicts(&folder);
    assert!(
        lines[0]["error"]
            .as_str()
            .unwrap()
            .contains("no answer within 1 s"),
        "{}",
        lines[0]
    );
}

#[test]
fn another_model_is_another_run() {
    let server = Server::new(|asked, _| {
        let mut body = completion(RIGHT);
        if asked.prompt().contains("has 4 apples") {
            body["model"] = json!("another");
        }
        reply(&body)
    });
    let folder = folder(4);
    folder
        .run(&judge(&server.url, &["--max-concurrency", "1"]))
        .expect(1, &["answers as the model another", "did as judge"]);

    let one = Server::new(|_, _| said(RIGHT));
    let other = Server::with_probes(
        |_, _| said(RIGHT),
        |_| {
            let mut body = completion("ready");
            body["model"] = json!("judge-2");
            reply(&body)
        },
    );
    folder.run(&judge(&one.url, &["--restart"])).expect(0, &[]);
    folder.run(&judge(&other.url, &[])).expect(2, &["model"]);
}

/// What does not fit is not made again without the form, which is no part of the prompt; and what can be done is said.
#[test]
fn a_prompt_that_is_too_long_is_asked_once() {
    let vllm = |message: &str| {
        let error =
            json!({"message": message, "type": "BadRequestError", "param": null, "code": 400});
        (400, json!({"error": error}))
    };
    let shapes = [
        // OpenAI
        (
            400,
            json!({"error": {"message": "Input tokens exceed the configured limit of 272000 tokens. Please reduce the length.",
                "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}}),
        ),
        // vLLM, of several versions
        vllm(
            "This model's maximum context length is 2048 tokens. However, you requested 2100 tokens (2000 in the messages, \
            100 in the completion). Please reduce the length of the messages or completion.",
        ),
        vllm(
            "You passed 4097 input tokens and requested 100 output tokens. However, the model's context length is only 4096 \
            tokens, resulting in a maximum input length of 3996 tokens. Please reduce the length of the input prompt.",
        ),
        vllm(
            "The decoder prompt (length 4097) is longer than the maximum model length of 4096. Make sure that `max_model_len` is \
            no smaller than the number of text tokens.",
        ),
        vllm(
            "This model's maximum context length is 4096 tokens. However, your prompt contains at least 4097 input tokens, which \
            exceeds this limit even without any output tokens. Please reduce the length of the input prompt.",
        ),
        // SGLang
        (
            400,
            json!({"object": "error", "message": "Input length (4097 tokens) exceeds the maximum allowed length (4090 tokens). Use a \
                shorter input or enable --allow-auto-truncate.", "type": "BadRequestError", "param": null, "code": 400}),
        ),
        (
            400,
            json!({"object": "error", "message": "The input (4097 tokens) is longer than the model's context length (4096 tokens).",
                "type": "BadRequestError", "param": null, "code": 400}),
        ),
        (
            400,
            json!({"object": "error", "message": "Requested token count exceeds the model's maximum context length of 4096 tokens.",
                "type": "BadRequestError", "param": null, "code": 400}),
        ),
        // llama.cpp
        (
            400,
            json!({"error": {"code": 400, "message": "request (4097 tokens) exceeds the available context size (4096 tokens), try \
                increasing it", "type": "exceed_context_size_error", "n_prompt_tokens": 4097, "n_ctx": 4096}}),
        ),
        // Text Generation Inference
        (
            422,
            json!({"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens \
                and 100 `max_new_tokens`", "error_type": "validation"}),
        ),
        // Gateways
        (
            413,
            json!({"error": {"message": "prompt is too long: 210000 tokens > 200000 maximum"}}),
        ),
        // What is not about length is asked again, also where the request is repeated in it.
        (
            400,
            json!({"error": {"message": "the grammar is too large"}}),
        ),
        (
            422,
            json!({"detail": [{"loc": ["body", "structured_outputs"], "msg": "Extra inputs are not permitted",
                "input": "a prompt that exceeds the maximum context length"}]}),
        ),
    ];
    let count = shapes.len();
    let answers = shapes.clone();
    let server = Server::with_probes(
        move |asked, before| {
            let prompt = asked.prompt();
            let is_it = |at: &usize| prompt.contains(&format!("has {} apples", at + 2));
            let (status, body) = &answers[(0..count).find(is_it).unwrap()];
            match before {
                0 => Reply::new(*status).body(body.to_string()),
                _ => said(RIGHT),
            }
        },
        |asked| {
            let outputs = &asked.body["structured_outputs"];
            let own = outputs.get("regex").map(|_| RIGHT);
            said(outputs["choice"][0].as_str().or(own).unwrap_or("ready"))
        },
    );
    let folder = folder(count);
    folder.run(&judge(&server.url, &[])).expect(
        3,
        &[
            "kept to their form",
            "2 without the form, which the server refused",
        ],
    );
    let mut lines = verdicts(&folder);
    for _ in 0..2 {
        assert_eq!(lines.pop().unwrap()["status"], "ok");
    }
    for (line, (_, shape)) in lines.iter().zip(&shapes) {
        let error = line["error"].as_str().unwrap_or_default();
        for part in [
            "shorten the row",
            "--max-new-tokens",
            "--max-model-len",
            "--ctx-size",
        ] {
            assert!(error.contains(part), "{shape}: {line}");
        }
    }
    assert_eq!(server.judged().len(), count + 2);
}

/// Killed at any moment, nothing that was answered and kept is asked again.
#[cfg(unix)]
#[test]
fn a_killed_run_goes_on() {
    let server = Server::new(|_, _| {
        std::thread::sleep(Duration::from_millis(15));
        said(RIGHT)
    });
    let folder = folder(60);
    for round in 0..4_u64 {
        let mut child = folder.juror(&judge(&server.url, &[])).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(250 + 60 * round));
        let _ = child.kill();
        let _ = child.wait();
    }
    folder.run(&judge(&server.url, &[])).expect(0, &[]);
    assert_eq!(verdicts(&folder).len(), 60);
    // Each kill costs at most what was under way.
    let asked = server.judged().len();
    assert!((60..=60 + 4 * 64).contains(&asked), "{asked}");
}

/// A server that is away for a while costs no verdict.
#[test]
fn an_outage_fails_nothing() {
    let begun = std::time::Instant::now();
    let server = Server::new(move |_, _| match begun.elapsed().as_millis() {
        300..3000 => error(502, "bad gateway"),
        3000..5000 => error(500, "the engine is dead"),
        _ => said(RIGHT),
    });
    let folder = folder(200);
    folder.run(&judge(&server.url, &[])).expect(0, &[]);
    assert!(verdicts(&folder).iter().all(|line| line["status"] == "ok"));
}

/// A request that brings the server down is its own fault, as soon as the server answers others.
#[test]
fn one_row_alone_cannot_stop_a_run() {
    let server = Server::new(|asked, _| {
        if asked.prompt().contains("has 3 apples") {
            Reply {
                cut: Some(0),
                ..said(RIGHT)
            }
        } else {
            said(RIGHT)
        }
    });
    let folder = folder(2);
    folder
        .run(&judge(
            &server.url,
            &["--endpoint-timeout", "2", "--max-concurrency", "1"],
        ))
        .expect(3, &[]);
    let lines = verdicts(&folder);
    assert_eq!(
        (&lines[0]["status"], &lines[1]["status"]),
        (&json!("ok"), &json!("failed"))
    );
}

/// A server that says what the key is, or that moderates, or that hands on an error, is told as what it is.
#[test]
fn what_servers_say_is_told_without_the_key() {
    let server = Server::new(|asked, _| {
        let prompt = asked.prompt();
        if prompt.contains("has 3 apples") {
            error(400, "bad request with key sk-very-secret")
        } else if prompt.contains("has 4 apples") {
            std::thread::sleep(Duration::from_millis(300));
            error(403, "flagged by moderation")
        } else if prompt.contains("has 5 apples") {
            reply(&json!({"error": {"message": "the provider has no such model", "code": 404}}))
        } else if prompt.contains("has 6 apples") {
            reply(&json!({"choices": ["the worker ran out of memory"]}))
        } else {
            said(RIGHT)
        }
    });
    let folder = folder(5);
    folder.write("key", "sk-very-secret\n");
    folder
        .run(&judge(&server.url, &["--endpoint-key-file", "key"]))
        .expect(3, &[]);
    let lines = verdicts(&folder);
    let errors: Vec<&str> = lines
        .iter()
        .map(|line| line["error"].as_str().unwrap_or_default())
        .collect();
    assert!(errors[1].contains("with key (the key)"), "{errors:?}");
    assert!(errors[2].contains("flagged by moderation"), "{errors:?}");
    assert!(errors[3].contains("no such model"), "{errors:?}");
    assert!(
        errors[4].contains("the worker ran out of memory"),
        "{errors:?}"
    );
    assert_eq!(server.judged().len(), 5, "none of them is asked twice");
}
