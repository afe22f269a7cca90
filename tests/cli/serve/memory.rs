//! What a request takes of the server's memory, and what it keeps from others.

use std::io::{ErrorKind, Read as _, Write as _};
use std::thread;
use std::time::Duration;

use serde_json::json;

use super::{Server, sample, wait_until};
use crate::common::Folder;

fn head(length: &str) -> String {
    format!("POST /v1/judge HTTP/1.1\r\nhost: localhost\r\n{length}\r\n\r\n")
}

/// The most memory that the server has had, in bytes.
#[cfg(target_os = "linux")]
fn peak(server: &Server) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let kilobytes = line.unwrap().split_whitespace().nth(1).unwrap();
    kilobytes.parse::<usize>().unwrap() * 1024
}

#[cfg(target_os = "linux")]
#[test]
fn a_body_is_counted_before_it_is_read() {
    let folder = Folder::new();
    let server = Server::start(&folder, &[]);
    server.wait_until_ready();
    for (path, key) in [
        ("/v1/judge", "samples"),
        ("/v1/chat/completions", "messages"),
        ("/get_reward", "query"),
        ("/reward", "prompt"),
    ] {
        let values = vec![r#"{"":0}"#; 2_300_000].join(",");
        let body = format!("{{\"{key}\":[{values}]}}");
        let before = peak(&server);
        let answer = server.request("POST", path, &[], &body);
        answer.expect(413, &["JSON values", "send fewer"]);
        let grown = peak(&server) - before;
        assert!(grown < 8 * body.len(), "{path}: {grown} for {}", body.len());
    }
    // Many values in few bytes are read where they are not too many.
    let steps: Vec<&str> = vec!["1 + 1 = 2."; 20_000];
    let mut row = sample(1);
    row["more"] = json!(steps);
    server.post("/v1/judge", &json!({"samples": [row]})).ok();
}

#[test]
fn bodies_that_have_not_come_keep_no_room() {
    let folder = Folder::new();
    let server = Server::start(&folder, &[]);
    server.wait_until_ready();
    let (announced, chunked) = ("content-length: 255000000", "transfer-encoding: chunked");
    let mut slow: Vec<_> = [announced, chunked]
        .repeat(6)
        .iter()
        .map(|length| server.send(&head(length)))
        .collect();
    let mut body = json!({"samples": [sample(1)]});
    body["samples"][0]["more"] = json!("x".repeat(200_000));
    let ends = thread::scope(|scope| {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let slow = &mut slow;
        // Not so slow that they would be cut off.
        let sending = scope.spawn(move || {
            let wait = Duration::from_millis(100);
            while stopped
                .recv_timeout(wait)
                .is_err_and(|error| error == std::sync::mpsc::RecvTimeoutError::Timeout)
            {
                for (at, stream) in slow.iter_mut().enumerate() {
                    let text = " ".repeat(0x10000);
                    let sent = match at % 2 {
                        0 => stream.write_all(text.as_bytes()),
                        _ => stream.write_all(format!("10000\r\n{text}\r\n").as_bytes()),
                    };
                    sent.unwrap();
                }
            }
        });
        thread::sleep(Duration::from_secs(1));
        let answer = server.post("/v1/judge", &body);
        drop(stop);
        sending.join().unwrap();
        answer
    });
    ends.ok();
}

#[test]
fn a_body_that_trickles_is_given_up() {
    let folder = Folder::new();
    let server = Server::start(&folder, &[]);
    let mut stream = server.send(&head("content-length: 1000000"));
    let pause = Duration::from_millis(200);
    stream.set_read_timeout(Some(pause)).unwrap();
    let mut answer = [0; 12];
    let mut sent = 0;
    loop {
        match stream.read(&mut answer) {
            Ok(_) => break,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) => panic!("{error} after {sent}"),
        }
        stream.write_all(b" ").unwrap();
        sent += 1;
        // 40 seconds.
        assert!(sent < 200, "it is read on");
    }
    assert_eq!(&answer, b"HTTP/1.1 408");
}

#[cfg(target_os = "linux")]
#[test]
fn samples_that_wait_take_what_is_counted_for_them() {
    let folder = Folder::new();
    let server = Server::start(&folder, &[]);
    server.wait_until_ready();
    server.post("/sleep", &json!({})).ok();
    let samples: Vec<_> = (0..8000).map(sample).collect();
    let body = json!({ "samples": samples }).to_string();
    let before = peak(&server);
    let length = format!("content-length: {}", body.len());
    let _waits = server.send(&format!("{}{body}", head(&length)));
    wait_until("all wait", || {
        server.metric("vllm:num_requests_waiting") >= 8000
    });
    let grown = peak(&server) - before;
    // As much for each as the server counts (`WAITING`), beside the body.
    let counted = 8000 * (8 << 10) + 4 * body.len();
    assert!(grown < counted + (16 << 20), "{grown} of {counted}");
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_response_is_copies_no_question() {
    let folder = Folder::new();
    let server = Server::start(&folder, &[]);
    server.wait_until_ready();
    let mut row = sample(1);
    row["question"] = json!("How many apples? ".repeat(12_000));
    // Many texts, and a text that would be many messages.
    let messages = json!(vec![json!({"role": "user", "content": "a"}); 30_000]);
    for (response, status) in [
        (json!(vec!["a"; 30_000]), 400),
        (messages.to_string().into(), 200),
    ] {
        row["response"] = response;
        let body = json!({"samples": [row]}).to_string();
        let before = peak(&server);
        let answer = server.request("POST", "/v1/judge", &[], &body);
        assert_eq!(answer.status, status, "{}", answer.text);
        let grown = peak(&server) - before;
        assert!(grown < 64 << 20, "{grown} for {}", body.len());
    }
}
