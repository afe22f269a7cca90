//! Who may ask, and what every answer carries.

use std::io::Read as _;

use serde_json::json;

use super::{Server, sample};
use crate::common::Folder;

/// The status and the id of the answer to a request with these headers, and all of it.
fn ask(server: &Server, line: &str, headers: &str) -> (u16, String, String) {
    let mut stream = server.send(&format!(
        "{line} HTTP/1.1\r\nconnection: close\r\n{headers}\r\n"
    ));
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let id = text
        .lines()
        .find_map(|line| line.strip_prefix("x-request-id: "));
    let status = text[9..12].parse().unwrap();
    (status, id.unwrap_or_default().to_owned(), text)
}

#[test]
fn without_a_key_only_names_of_this_machine_are_answered() {
    let folder = Folder::new();
    let server = Server::start(&folder, &[]);
    for host in [
        "localhost",
        "LOCALHOST:80",
        "127.0.0.1:9",
        "127.0.0.2",
        "[::1]:8000",
    ] {
        let (status, _, text) = ask(&server, "GET /v1/models", &format!("host: {host}\r\n"));
        assert_eq!(status, 200, "{text}");
    }
    for host in [
        "attacker.example",
        "localhost.attacker.example:8000",
        "10.1.2.3",
        "x",
        "",
    ] {
        for line in ["GET /v1/models", "POST /sleep", "GET /metrics"] {
            let (status, _, text) = ask(&server, line, &format!("host: {host}\r\n"));
            assert_eq!(status, 403, "{host}: {text}");
            for part in [host, "--api-key-file", "--insecure"] {
                assert!(text.contains(part), "{text}");
            }
        }
    }
    // A probe may come under any name.
    assert_eq!(ask(&server, "GET /health", "host: pod\r\n").0, 200);
    drop(server);
    let server = Server::start(&folder, &["--insecure"]);
    assert_eq!(
        ask(&server, "GET /v1/models", "host: judge:8000\r\n").0,
        200
    );
    drop(server);
    let server = Server::start(&folder, &["--api-key", "secret"]);
    let with_key = "host: judge:8000\r\nauthorization: Bearer secret\r\n";
    assert_eq!(ask(&server, "GET /v1/models", with_key).0, 200);
}

#[test]
fn every_answer_has_the_id_of_its_request() {
    let folder = Folder::new();
    let server = Server::start(&folder, &[]);
    let mut made = Vec::new();
    for (line, status) in [
        ("GET /v1/models", 200),
        ("GET /health", 200),
        ("GET /nowhere", 404),
        ("DELETE /v1/judge", 405),
        ("POST /v1/judge", 400),
    ] {
        let own = "host: localhost\r\nx-request-id: own-1.a:b\r\n";
        let (own_status, id, text) = ask(&server, line, own);
        assert_eq!((own_status, &*id), (status, "own-1.a:b"), "{text}");
        for given in [
            "",
            "x-request-id: a b\r\n",
            &format!("x-request-id: {}\r\n", "x".repeat(129)),
        ] {
            let (_, id, text) = ask(&server, line, &format!("host: localhost\r\n{given}"));
            assert!(id.len() == 16 && !made.contains(&id), "{text}");
            made.push(id);
        }
    }
    let other = "host: attacker.example\r\nx-request-id: own\r\n";
    assert_eq!(ask(&server, "GET /v1/models", other).1, "own");
}

#[test]
fn a_role_that_is_not_known_is_named() {
    let folder = Folder::new();
    let server = Server::start(&folder, &[]);
    let messages = |role: &str| json!([{"role": role, "content": "Be brief."}, {"role": "user", "content": "1 + 1 = ?"}]);
    for (role, status) in [("banana", 400), ("system", 200)] {
        let mut row = sample(1);
        row["question"] = messages(role);
        let chat = json!({"messages": messages(role), "max_tokens": 2});
        let slime = json!({"prompt": messages(role), "response": "2", "label": "2"});
        for (path, body) in [
            ("/v1/chat/completions", chat),
            ("/v1/judge", json!({"samples": [row]})),
            ("/reward", slime),
        ] {
            let answer = server.post(path, &body);
            assert_eq!(answer.status, status, "{path}: {}", answer.text);
            if status == 400 {
                answer.expect(400, &["the role `banana`", "system"]);
            }
        }
    }
    // As texts, the messages are the question's text.
    let mut row = sample(1);
    row["question"] = json!(messages("banana").to_string());
    server.post("/v1/judge", &json!({"samples": [row]})).ok();
}
