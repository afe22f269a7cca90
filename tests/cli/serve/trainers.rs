//! The routes of trainers.

use serde_json::{Value, json};

use super::{Server, sample};
use crate::common::Folder;

const PROMPT: &str = "<|im_start|>user\nAnn has 12 apples. She buys 5 more. How many has she?<|im_end|>\n<|im_start|>assistant\n";

fn openrlhf(response: &str, label: &Value) -> Value {
    json!({"query": [format!("{PROMPT}{response}<|im_end|>")], "prompts": [PROMPT], "labels": [label]})
}

#[test]
fn openrlhf_has_numbers_under_the_same_keys() {
    let folder = Folder::new();
    let server = Server::start(&folder, &[]);
    let ask = |response: &str| {
        server
            .post("/get_reward", &openrlhf(response, &json!("17")))
            .ok()
    };
    let right = ask("12 + 5 = 17. The answer is 17.");
    assert_eq!(
        right,
        json!({"rewards": [1.0], "scores": [1.0], "extra_logs": {"process": 1.0, "outcome": 1.0, "judge_ok": 1.0}})
    );
    let lucky = ask("12 - 5 = 17. The answer is 17.");
    assert_eq!(lucky["rewards"], json!([0.0]));
    assert_eq!(
        lucky["extra_logs"],
        json!({"process": 0.0, "outcome": 1.0, "judge_ok": 1.0})
    );
    // The native route sees the same texts.
    let plain = json!({"question": "Ann has 12 apples. She buys 5 more. How many has she?", "reference": "17",
        "response": "12 + 5 = 17. The answer is 17."});
    let verdict =
        server.post("/v1/judge", &json!({"samples": [plain]})).ok()["verdicts"][0].clone();
    assert_eq!(
        (&verdict["reward"], &verdict["reused"]),
        (&json!(1.0), &json!(true))
    );
    // Two at once; numbers and lists as labels.
    let [one, two] = [
        "12 + 5 = 17. The answer is 17.",
        "12 + 5 = 18. The answer is 18.",
    ]
    .map(|text| format!("{PROMPT}{text}</s>"));
    let both =
        json!({"query": [one, two], "prompts": [PROMPT, PROMPT], "labels": [17, ["17", "17.0"]]});
    let both = server.post("/get_reward", &both).ok();
    assert_eq!(both["rewards"], json!([1.0, 0.0]));
    assert_eq!(both["extra_logs"]["outcome"], 0.5);
    // A response is text, whatever it looks like: it does not choose what of it is judged.
    let messages = json!([{"role": "user", "content": "x"}, {"role": "assistant", "content": "12 + 5 = 17. The answer is 17."}]);
    let before = server.metric("vllm:generation_tokens_total");
    assert_eq!(ask(&messages.to_string())["extra_logs"]["judge_ok"], 1.0);
    assert!(server.metric("vllm:generation_tokens_total") > before);
    // A single text or number is a list of one.
    for label in [json!("17"), json!(17)] {
        let single = json!({"query": one, "prompts": PROMPT, "labels": label});
        assert_eq!(
            server.post("/get_reward", &single).ok()["rewards"],
            json!([1.0])
        );
    }
    let none = server.post(
        "/get_reward",
        &json!({"query": [], "prompts": [], "labels": []}),
    );
    assert_eq!(
        none.text,
        r#"{"rewards":[],"scores":[],"extra_logs":{"process":0.0,"outcome":0.0,"judge_ok":0.0}}"#
    );

    server
        .post(
            "/get_reward",
            &json!({"query": ["a"], "prompts": ["a"], "labels": []}),
        )
        .expect(400, &["`labels` 0"]);
    server
        .post("/get_reward", &json!({"query": ["a"]}))
        .expect(400, &["`prompts`"]);
    server
        .post("/get_reward", &openrlhf("17", &json!("")))
        .expect(400, &["sample 0: `labels` (the reference answer)"]);
    // A text that is no continuation of its prompt is a response as a whole, which is said.
    assert_eq!(right.get("note"), None);
    let other = json!({"query": ["The answer is 17.", one], "prompts": [PROMPT, PROMPT], "labels": ["17", "17"]});
    let other = server.post("/get_reward", &other).ok();
    assert_eq!(other["extra_logs"]["outcome"], 1.0);
    assert_eq!(
        other["note"],
        "1 of 2 texts do not go on from their prompts, query[0] first: all of each was judged as the response"
    );
    // Trainers call a question otherwise.
    for (prompt, label, said) in [
        (json!(5), json!("4"), "`prompt` (the question) is a number"),
        (
            json!("q"),
            json!(null),
            "`label` (the reference answer) is null",
        ),
    ] {
        let row = json!({"prompt": prompt, "response": "4", "label": label});
        server.post("/reward", &row).expect(400, &[said]);
    }
}

#[test]
fn failures_are_null_or_have_the_reward_that_is_set() {
    let folder = Folder::new();
    let too_long = "word ".repeat(9000);
    let server = Server::start(&folder, &[]);
    let failed = server
        .post("/get_reward", &openrlhf(&too_long, &json!("17")))
        .ok();
    assert_eq!(failed["rewards"], json!([null]));
    assert_eq!(
        failed["extra_logs"],
        json!({"process": 0.0, "outcome": 0.0, "judge_ok": 0.0})
    );
    let slime = json!({"prompt": "1 + 1?", "response": too_long, "label": "2"});
    let failed = server.post("/reward", &slime).ok();
    assert_eq!(
        (&failed["reward"], &failed["status"]),
        (&Value::Null, &json!("too_long"))
    );
    drop(server);

    let server = Server::start(&folder, &["--failure-reward", "-0.5"]);
    let failed = server
        .post("/get_reward", &openrlhf(&too_long, &json!("17")))
        .ok();
    assert_eq!(
        (&failed["rewards"], &failed["extra_logs"]["judge_ok"]),
        (&json!([-0.5]), &json!(0.0))
    );
    // Also a row that cannot be read.
    let failed = server
        .post("/get_reward", &openrlhf("17", &json!(null)))
        .ok();
    assert_eq!(
        (&failed["rewards"], &failed["extra_logs"]["judge_ok"]),
        (&json!([-0.5]), &json!(0.0))
    );
    assert_eq!(server.post("/reward", &slime).ok()["reward"], -0.5);
}

#[test]
fn slime_sends_texts_or_messages() {
    let folder = Folder::new();
    let server = Server::start(&folder, &[]);
    let row = sample(3);
    let response = format!("{}<|im_end|>", row["response"].as_str().unwrap());
    let question = &row["question"];
    for prompt in [
        question.clone(),
        json!(format!(
            "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n",
            question.as_str().unwrap()
        )),
        json!([{"role": "user", "content": question}]),
        json!([{"role": "user", "content": [{"type": "text", "text": question}]}]),
    ] {
        let body = json!({"prompt": prompt, "response": response, "label": row["reference"]});
        let answer = server.post("/reward", &body).ok();
        assert_eq!(
            answer,
            json!({"reward": 1.0, "process": true, "outcome": true, "status": "ok", "judge_ok": 1}),
            "{prompt}"
        );
    }
    // The system text is no part of the question: the prompt is one that was judged.
    let judged = server.metric("vllm:request_success_total");
    let text = question.as_str().unwrap();
    for prompt in [
        json!([{"role": "system", "content": "Think in <think> tags."}, {"role": "user", "content": question}]),
        json!(format!(
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n"
        )),
    ] {
        let body = json!({"prompt": prompt, "response": response, "label": row["reference"]});
        server.post("/reward", &body).ok();
    }
    assert_eq!(server.metric("vllm:request_success_total"), judged);
    server
        .post("/reward", &json!({"prompt": "x"}))
        .expect(400, &["`response` is missing"]);
}

#[test]
fn the_rules_serve_without_a_model() {
    let folder = Folder::new();
    let server = Server::start(&folder, &["--rules", "only"]);
    server.wait_until_ready();
    let right = "12 + 5 = 17. The answer is 17.";
    let answer = server
        .post("/get_reward", &openrlhf(right, &json!("17")))
        .ok();
    assert_eq!(
        answer,
        json!({"rewards": [1.0], "scores": [1.0], "extra_logs": {"outcome": 1.0, "judge_ok": 1.0}})
    );
    let wrong = json!({"prompt": "12 + 5?", "response": "It is 18.", "label": "17"});
    assert_eq!(
        server.post("/reward", &wrong).ok(),
        json!({"reward": 0.0, "process": null, "outcome": false, "status": "ok", "judge_ok": 1})
    );
    // What the rules cannot tell has no reward, whoever asks.
    let open = json!({"prompt": "?", "response": "The answer is $\\frac{3$.", "label": "17"});
    let answer = server.post("/reward", &open).ok();
    assert_eq!(
        (&answer["reward"], &answer["judge_ok"]),
        (&Value::Null, &json!(0))
    );
    // The verdicts are those of a run without a model.
    folder.write("rows.jsonl", super::examples());
    let only = ["--rules", "only", "--reward", "outcome"];
    folder.run(&[&["judge", "rows.jsonl", "-o", "out.jsonl"], &only[..]].concat());
    let rows: Vec<Value> = folder.lines("rows.jsonl");
    let judged = server.post("/v1/judge", &json!({"samples": rows})).ok();
    assert_eq!(judged["verdicts"], json!(folder.lines("out.jsonl")));
    assert_eq!(judged["judge"]["model"], "rules");
    // What needs a model is refused.
    let chat = json!({"model": "rules", "messages": [{"role": "user", "content": "hi"}]});
    server
        .post("/v1/chat/completions", &chat)
        .expect(404, &["no single model", "--rules only"]);
    let raw = json!({"model": "rules", "prompt": "hi"});
    server
        .post("/v1/completions", &raw)
        .expect(404, &["no single model"]);
    server
        .get("/v1/models/rules")
        .expect(404, &["no single model"]);
    assert_eq!(server.get("/v1/models").ok()["data"], json!([]));
    // A trainer may send it to sleep as any other.
    server.post("/sleep", &json!({})).ok();
    server.post("/wake_up", &json!({})).ok();
    assert_eq!(server.post("/reward", &wrong).ok()["reward"], 0.0);
    assert!(server.metric("juror:verdicts_total") >= 24);
}

#[test]
fn a_server_takes_boxes_alone_for_answers_where_that_is_asked_for() {
    let folder = Folder::new();
    let given = r#"{"percent": "same", "cents": "distinct"}"#;
    let only = ["--rules", "only", "--boxed-only", "--rules-config", given];
    let server = Server::start(&folder, &only);
    let outcome = |reference: &str, response: &str| {
        let row = json!({"question": "?", "reference": reference, "response": response});
        let judged = server.post("/v1/judge", &json!({"samples": [row]})).ok();
        judged["verdicts"][0]["outcome"].clone()
    };
    assert_eq!(outcome("20", r"\boxed{20\%}"), true);
    assert_eq!(outcome("50", r"\boxed{50} cents"), false);
    assert_eq!(outcome("7", r"In \boxed{6} steps. The answer is 7."), false);
    assert_eq!(outcome("2, 3", r"$\boxed{2}$ and $\boxed{3}$"), true);
}

#[test]
fn parts_have_their_share_of_the_reward() {
    let folder = Folder::new();
    let server = Server::start(&folder, &["--rules", "only", "--reward", "parts"]);
    let reward = |reference: Value, response: &str| {
        let row = json!({"question": "?", "reference": reference, "response": response});
        let verdict =
            server.post("/v1/judge", &json!({"samples": [row]})).ok()["verdicts"][0].clone();
        (verdict["reward"].clone(), verdict["parts"].clone())
    };
    let three = "(a) 3, (b) 5, (c) x + 1";
    for (reference, response, share, parts) in [
        (
            json!(three),
            "The answer is (a) 3, (b) 5, (c) 1 + x.",
            json!(1.0),
            json!([true, true, true]),
        ),
        (
            json!(three),
            "The answer is (a) 3, (b) 6, (c) 1 + x.",
            json!(2.0 / 3.0),
            json!([true, false, true]),
        ),
        (
            json!(three),
            "The answer is (a) 4, (b) 6, (c) x.",
            json!(0.0),
            json!([false, false, false]),
        ),
        // What was not answered, or cannot be told, is no wrong answer.
        (
            json!(three),
            "The answer is (a) 3, (b) 6.",
            json!(null),
            json!([true, false, null]),
        ),
        (
            json!(three),
            "The answer is 3.",
            json!(null),
            json!([null, null, null]),
        ),
        // Of several references the best one.
        (
            json!(["(a) 1, (b) 2", "(a) 3, (b) 2"]),
            "The answer is (a) 3, (b) 4.",
            json!(0.5),
            json!([true, false]),
        ),
        // Without parts it is the outcome.
        (json!("17"), "The answer is 17.", json!(1.0), json!(null)),
        (json!("17"), "The answer is 18.", json!(0.0), json!(null)),
    ] {
        assert_eq!(
            reward(reference.clone(), response),
            (share, parts),
            "{reference} {response}"
        );
    }
}
