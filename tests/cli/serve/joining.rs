//! What is asked twice is judged once; clients take turns; nothing that was judged is lost.

use std::net::TcpStream;
use std::thread;

use serde_json::{Value, json};

use super::{Server, sample, wait_until};
use crate::common::Folder;

fn body(numbers: std::ops::Range<usize>) -> Value {
    json!({"samples": numbers.map(sample).collect::<Vec<_>>()})
}

/// Sends a request whose answer nobody reads.
fn send(server: &Server, client: &str, body: &Value) -> TcpStream {
    let text = body.to_string();
    server.send(&format!(
        "POST /v1/judge HTTP/1.1\r\nhost: localhost\r\nx-client-id: {client}\r\ncontent-length: {}\r\n\r\n{text}",
        text.len()
    ))
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
    let stream = send(&server, "gone", &body(0..60));
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
    let _large = send(&server, "large", &body(0..500));
    wait_until("the queue is long", || {
        server.metric("vllm:num_requests_waiting") > 300
    });
    server.post("/v1/judge", &body(5000..5003)).ok();
    let waiting = server.metric("vllm:num_requests_waiting");
    assert!(waiting > 100, "{waiting}");
}

#[test]
fn work_that_nobody_waits_for_goes_last() {
    let folder = Folder::new();
    let server = Server::start(&folder, &[]);
    server.wait_until_ready();
    let clients: Vec<TcpStream> = (0..400)
        .map(|at| send(&server, &at.to_string(), &body(4 * at..4 * at + 4)))
        .collect();
    wait_until("the queue is long", || {
        server.metric("vllm:num_requests_waiting") > 1500
    });
    drop(clients);
    let before = server.metric("vllm:request_success_total");
    server.post("/v1/judge", &body(5000..5001)).ok();
    // By turns each of the 400 would have had one.
    let done = server.metric("vllm:request_success_total") - before;
    assert!(done < 200, "{done}");
    // It is judged all the same, and found by whoever asks again.
    let again = server.post("/v1/judge", &body(1590..1600)).ok();
    assert_eq!(again["verdicts"].as_array().unwrap().len(), 10);
    wait_until("more is judged", || {
        server.metric("vllm:request_success_total") > before + done + 20
    });
}

/// More requests than threads that make prompts, and long ones: 20,000 prompts, of which some are made.
pub(super) fn flood(server: &Server) -> Vec<TcpStream> {
    let ask = |at: usize| {
        let samples = (1000 * at..1000 * at + 1000).map(|number| {
            let mut sample = sample(number);
            sample["response"] = json!("x ".repeat(600));
            sample
        });
        let body = json!({"samples": samples.collect::<Vec<_>>()});
        send(server, "large", &body)
    };
    let large = (0..20).map(ask).collect();
    wait_until("some are made", || {
        server.metric("vllm:num_requests_waiting") > 100
    });
    large
}

#[test]
fn prompts_are_made_in_turns() {
    let folder = Folder::new();
    let server = Server::start(&folder, &[]);
    server.wait_until_ready();
    // Known from here on: it needs a prompt, and no engine.
    server.post("/v1/judge", &body(50_000..50_001)).ok();
    let _large = flood(&server);
    let answer = server.post("/v1/judge", &body(50_000..50_001)).ok();
    assert_eq!(answer["verdicts"][0]["reused"], true);
    let made = server.metric("vllm:num_requests_waiting");
    assert!(made < 2000, "{made} of 20,000 prompts were made first");
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
