//! `POST /v1/judge`.

use serde_json::{Value, json};

use super::{Server, examples, sample};
use crate::common::{Folder, json_lines, words};

/// A verdict without what depends on what was judged before.
fn essence(verdict: &Value) -> Value {
    let mut verdict = verdict.clone();
    let fields = verdict.as_object_mut().unwrap();
    fields.remove("usage");
    fields.remove("reused");
    verdict
}

#[test]
fn verdicts_are_those_of_files() {
    let folder = Folder::new();
    folder.write("rows.jsonl", examples());
    folder
        .run(&["judge", "rows.jsonl", "-o", "out.jsonl"])
        .expect(0, &[]);
    let of_file = folder.lines("out.jsonl");
    let server = Server::start(&folder, &[]);
    let body = json!({"samples": json_lines(&examples())});
    let answer = server.post("/v1/judge", &body).ok();
    let verdicts = answer["verdicts"].as_array().unwrap();
    assert_eq!(verdicts.len(), of_file.len());
    for (own, expected) in verdicts.iter().zip(&of_file) {
        assert_eq!(essence(own), essence(expected));
    }
    let judge = &answer["judge"];
    assert_eq!(
        (&judge["model"], &judge["protocol"]),
        (&json!("tiny"), &json!("prime"))
    );
    assert!(judge["commit"].is_string() && judge["prompt_hash"].is_string());

    let lines = [("accept", "application/x-ndjson")];
    let answer = server.request("POST", "/v1/judge", &lines, &body.to_string());
    let mut lines: Vec<Value> = answer
        .text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let last = lines.pop().unwrap();
    assert_eq!(last["verdicts"], of_file.len());
    lines.sort_by_key(|line| line["index"].as_u64());
    for (own, expected) in lines.iter().zip(&of_file) {
        assert_eq!(essence(own), essence(expected));
    }
}

#[test]
fn what_is_wrong_with_a_request_is_said_in_json() {
    let folder = Folder::new();
    let limits = words("--max-body 4KB --max-samples 3 --max-text 1KB");
    let server = Server::start(&folder, &limits);
    let judge = |body: &Value| server.post("/v1/judge", body);
    server
        .request("POST", "/v1/judge", &[], "{")
        .expect(400, &["not valid JSON"]);
    server.request("POST", "/v1/judge", &[], "[]").expect(
        400,
        &["is a list", "must be a JSON object", "{\"samples\": ["],
    );
    for (path, shape) in [
        ("/get_reward", "\"query\""),
        ("/reward", "\"response\""),
        ("/v1/chat/completions", "\"messages\""),
        ("/v1/completions", "\"prompt\""),
    ] {
        let list = server.request("POST", path, &[], "[{}]");
        list.expect(400, &["is a list", shape]);
    }
    // It is named as its clients name it.
    let slime = server.post("/reward", &json!({"response": "2", "label": "2"}));
    slime.expect(400, &["`prompt` is missing: send {\"prompt\""]);
    judge(&json!({})).expect(400, &["`samples` is missing"]);
    judge(&json!({"samples": [], "trials": 3})).expect(400, &["`trials` is no parameter"]);
    let without = json!({"question": "1 + 1?", "reference": "2"});
    judge(&json!({"samples": [sample(1), without]}))
        .expect(400, &["samples[1]", "response", "Nothing was judged"]);
    judge(&json!({"samples": [5]})).expect(400, &["samples[0]", "object"]);
    // A client has no command line on which to name keys.
    let two = json!([{"role": "user", "content": "1 + 1?"}, {"role": "assistant", "content": "2"}]);
    for (row, advice) in [
        (
            json!({"question": "1 + 1?", "reference": "2"}),
            "give it as `response`",
        ),
        (
            json!({"question": "1 + 1?", "solution": "2"}),
            "give it as `reference`",
        ),
        (
            json!({"question": "1 + 1?", "reference": {"answer": 2}, "response": "2"}),
            "is an object",
        ),
        (
            json!({"messages": two, "reference": "2", "response": "3"}),
            "leave one of them out",
        ),
    ] {
        let answer = judge(&json!({"samples": [row]}));
        answer.expect(400, &[advice]);
        assert!(!answer.text.contains("--columns"), "{}", answer.text);
    }
    let packed = [("content-encoding", "gzip")];
    server
        .request("POST", "/v1/judge", &packed, "{}")
        .expect(415, &["gzip", "uncompressed"]);
    judge(&json!({"samples": [1, 2, 3, 4]})).expect(413, &["4 samples", "--max-samples"]);
    let mut long = sample(1);
    long["response"] = json!("x".repeat(2000));
    judge(&json!({"samples": [long]})).expect(400, &["`response` has 2000 bytes", "--max-text"]);
    long["response"] = json!("x".repeat(20_000));
    judge(&json!({"samples": [long]})).expect(413, &["4000 bytes", "--max-body"]);
    server.get("/v1/judge").expect(405, &["GET"]);
    server.get("/nowhere").expect(404, &["/nowhere"]);
    let page = [("origin", "https://example.org")];
    server
        .request("POST", "/sleep", &page, "")
        .expect(403, &["web page", "--api-key-file"]);

    let answer = judge(&json!({"samples": [sample(1), without], "skip_bad": true})).ok();
    let verdicts = answer["verdicts"].as_array().unwrap();
    assert_eq!(verdicts[0]["status"], "ok");
    assert_eq!(
        (&verdicts[1]["status"], &verdicts[1]["reward"]),
        (&json!("failed"), &Value::Null)
    );
    assert!(verdicts[1]["error"].as_str().unwrap().contains("response"));
    let none = judge(&json!({"samples": []})).ok();
    assert_eq!(none["verdicts"], json!([]));
}

#[test]
fn a_key_is_asked_for_where_others_can_reach_it() {
    let folder = Folder::new();
    folder
        .run(&["serve", "--host", "0.0.0.0", "--port", "0"])
        .expect(
            2,
            &["others can reach 0.0.0.0", "--api-key-file", "--insecure"],
        );
    folder.write("key", "secret\n");
    let mut server = Server::start(&folder, &["--host", "0.0.0.0", "--api-key-file", "key"]);
    server.client.url = server.url.replace("0.0.0.0", "127.0.0.1");
    server.get("/health").ok();
    for headers in [
        &[][..],
        &[("authorization", "Bearer wrong")],
        &[("authorization", "secret")],
        // user:wrong
        &[("authorization", "Basic dXNlcjp3cm9uZw==")],
    ] {
        server
            .request("GET", "/v1/models", headers, "")
            .expect(401, &["API key"]);
        server
            .request("GET", "/metrics", headers, "")
            .expect(401, &["API key"]);
    }
    for headers in [
        [("authorization", "Bearer  secret ")],
        [("authorization", "Bearer secret")],
        // user:secret, as a URL with a user makes it
        [("authorization", "Basic dXNlcjpzZWNyZXQ=")],
    ] {
        server.request("GET", "/v1/models", &headers, "").ok();
    }
}
