//! What is asked twice is judged once; clients take turns; nothing that was judged is lost.

use std::io::Write as _;
use std::net::TcpStream;
use std::thread;

use serde_json::{Value, json};

use super::{Server, sample, wait_until};
use crate::common::Folder;

fn body(numbers: std::ops::Range<usize>) -> Value {
    json!({"samples": numbers.map(sample).collect::<Vec<_>>()})
}

/// Sends a request whose answer nobody reads.
fn send(server: &Server, body: &Value) -> TcpStream {
    let address = server.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let text = body.to_string();
    let head = format!(
        "POST /v1/judge HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n",
        text.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    stream
}

#[test]
fn requests_for_the_same_are_joined() {
    let folder = Folder::new();
    let server = Server::start(&folder, &[]);
    thread::scope(|scope| {
        let asking: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| server.post("/v1/judge", &body(0..50)).ok()))
            .collect();
        let answers: Vec<Value> = asking.into_iter().map(|one| one.join().unwrap()).collect();
        let rewards = |answer: &Value| -> Vec<Value> {
            let verdicts = answer["verdicts"].as_array().unwrap();
            verdicts
                .iter()
                .map(|verdict| verdict["reward"].clone())
                .collect()
        };
        assert!(
            answers
                .iter()
                .all(|answer| rewards(answer) == rewards(&answers[0]))
        );
    });
    assert_eq!(server.metric("juror:verdicts_total"), 200);
    assert_eq!(server.metric("vllm:request_success_total"), 50);
}

#[test]
fn work_goes_on_for_a_client_that_has_gone() {
    let folder = Folder::new();
    let server = Server::start(&folder, &[]);
    server.wait_until_ready();
    let stream = send(&server, &body(0..60));
    wait_until("it is judged", || {
        server.metric("vllm:num_requests_running") > 0
    });
    drop(stream);
    wait_until("all is judged", || {
        server.metric("vllm:request_success_total") >= 60
    });
    let answer = server.post("/v1/judge", &body(0..60)).ok();
    let verdicts = answer["verdicts"].as_array().unwrap();
    assert!(verdicts.iter().all(|verdict| verdict["reused"] == true));
    assert_eq!(server.metric("vllm:request_success_total"), 60);
}

#[test]
fn clients_take_turns() {
    let folder = Folder::new();
    let server = Server::start(&folder, &[]);
    server.wait_until_ready();
    // It need not be answered: the test ends before.
    let _large = send(&server, &body(0..500));
    wait_until("the queue is long", || {
        server.metric("vllm:num_requests_waiting") > 300
    });
    server.post("/v1/judge", &body(5000..5003)).ok();
    let waiting = server.metric("vllm:num_requests_waiting");
    assert!(waiting > 100, "{waiting}");
}

#[test]
fn what_was_judged_outlives_a_kill() {
    let folder = Folder::new();
    let mut server = Server::start(&folder, &["--cache", "cache"]);
    let answer = server.post("/v1/judge", &body(0..30)).ok();
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    let server = Server::start(&folder, &["--cache", "cache"]);
    let again = server.post("/v1/judge", &body(0..30)).ok();
    for (own, first) in again["verdicts"]
        .as_array()
        .unwrap()
        .iter()
        .zip(answer["verdicts"].as_array().unwrap())
    {
        assert_eq!(
            (&own["reused"], &own["reward"]),
            (&json!(true), &first["reward"])
        );
    }
    assert_eq!(server.metric("vllm:request_success_total"), 0);
}
