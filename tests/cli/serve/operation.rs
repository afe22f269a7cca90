//! Sleep, shutdown, metrics.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Server, sample, wait_until};
use crate::common::{Folder, Ran};

#[test]
fn it_sleeps_and_wakes_and_requests_wait_meanwhile() {
    let folder = Folder::new();
    let server = Server::start(&folder, &[]);
    server.wait_until_ready();
    let judge = |number: usize| {
        server
            .post("/v1/judge", &json!({"samples": [sample(number)]}))
            .ok()
    };
    judge(1);
    assert_eq!(server.post("/sleep", &json!({})).ok()["status"], "asleep");
    assert_eq!(server.get("/is_sleeping").ok()["is_sleeping"], true);
    server.get("/ready").expect(503, &["asleep"]);
    server.get("/health").ok();
    // What is known needs no engine.
    assert_eq!(judge(1)["verdicts"][0]["reused"], true);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| judge(2));
        wait_until("a request waits", || {
            server.metric("vllm:num_requests_waiting") >= 1
        });
        assert!(!waiting.is_finished());
        assert_eq!(server.post("/wake_up", &json!({})).ok()["status"], "ready");
        assert_eq!(waiting.join().unwrap()["verdicts"][0]["status"], "ok");
    });
    server.get("/ready").ok();
}

#[test]
fn metrics_count_what_was_done() {
    let folder = Folder::new();
    let server = Server::start(&folder, &[]);
    let body = json!({"samples": (0..10).map(sample).collect::<Vec<_>>()});
    server.post("/v1/judge", &body).ok();
    server.post("/v1/judge", &body).ok();
    assert_eq!(server.metric("juror:verdicts_total"), 20);
    assert_eq!(server.metric("vllm:request_success_total"), 10);
    assert_eq!(server.metric("vllm:e2e_request_latency_seconds_count"), 10);
    assert!(server.metric("vllm:prompt_tokens_total") > 1000);
    assert!(server.metric("vllm:prefix_cache_hits_total") > 100);
    assert!(server.metric("vllm:generation_tokens_total") > 10);
    let text = server.get("/metrics").text;
    assert!(text.contains("status=\"ok\",reused=\"true\"} 10"), "{text}");
    // vLLM's dashboards choose by it.
    let values = text.lines().filter(|line| !line.starts_with('#'));
    let without: Vec<&str> = values
        .filter(|line| !line.contains("{model_name=\"tiny\""))
        .collect();
    assert!(without.is_empty(), "{without:?}");
    assert!(
        text.contains("\n# TYPE juror:verdicts_total counter\n"),
        "{text}"
    );
    let open = [(
        "Accept",
        "application/openmetrics-text; version=1.0.0, text/plain;q=0.5",
    )];
    let text = server.request("GET", "/metrics", &open, "").text;
    assert!(text.contains("\n# TYPE juror:verdicts counter\n"), "{text}");
    assert!(text.ends_with("# EOF\n"));
}

#[cfg(unix)]
#[test]
fn it_answers_what_runs_before_it_ends() {
    let folder = Folder::new();
    let server = Server::start(&folder, &["--cache", "cache"]);
    server.wait_until_ready();
    let asking = server.client.clone();
    let waiting = thread::spawn(move || {
        asking.post(
            "/v1/judge",
            &json!({"samples": (0..1000).map(sample).collect::<Vec<_>>()}),
        )
    });
    wait_until("it judges", || server.metric("juror:verdicts_total") >= 20);
    let started = Instant::now();
    server.terminate();
    let (code, said) = server.ended();
    assert_eq!(code, Some(0), "{said}");
    assert!(started.elapsed() < Duration::from_mins(1));
    waiting.join().unwrap().expect(503, &["shutting down"]);
    // What was judged is kept.
    let server = Server::start(&folder, &["--cache", "cache"]);
    let verdicts = server
        .post("/v1/judge", &json!({"samples": [sample(0), sample(1)]}))
        .ok();
    assert_eq!(verdicts["verdicts"][0]["reused"], true);
    assert_eq!(server.metric("vllm:generation_tokens_total"), 0);
}

#[cfg(unix)]
#[test]
fn clients_whose_samples_run_are_answered_before_it_ends() {
    let folder = Folder::new();
    let server = Server::start(&folder, &[]);
    server.wait_until_ready();
    let clients: Vec<_> = (0..200)
        .map(|number| {
            let client = server.client.clone();
            let body = json!({"samples": [sample(number)]});
            thread::spawn(move || client.post("/v1/judge", &body).status)
        })
        .collect();
    wait_until("many run", || {
        server.metric("vllm:num_requests_running") >= 60
    });
    let running = server.metric("vllm:num_requests_running") as usize;
    server.terminate();
    assert_eq!(server.ended().0, Some(0));
    let statuses: Vec<u16> = clients
        .into_iter()
        .map(|client| client.join().unwrap())
        .collect();
    assert!(
        statuses.iter().all(|status| [200, 503].contains(status)),
        "{statuses:?}"
    );
    let answered = statuses.iter().filter(|status| **status == 200).count();
    assert!(answered >= running, "{answered} of {running}");
}

#[test]
fn sleeping_and_waking_at_once_ends_for_both() {
    let folder = Folder::new();
    let server = Server::start(&folder, &[]);
    server.wait_until_ready();
    thread::scope(|scope| {
        let ask = |path: &'static str| scope.spawn(|| server.post(path, &json!({})).status);
        for _ in 0..3 {
            for one in [
                ask("/sleep"),
                ask("/wake_up"),
                ask("/sleep"),
                ask("/wake_up"),
            ] {
                assert_eq!(one.join().unwrap(), 200);
            }
        }
    });
    server.post("/wake_up", &json!({})).ok();
    server
        .post("/v1/judge", &json!({"samples": [sample(1)]}))
        .ok();
}

#[test]
fn it_ends_with_its_standard_input() {
    let folder = Folder::new();
    let mut server = Server::start(&folder, &["--exit-with-stdin"]);
    server.get("/health").ok();
    drop(server.child.stdin.take());
    let (code, said) = server.ended();
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn what_cannot_be_served_is_said_at_once() {
    let folder = Folder::new();
    for (option, value) in [
        ("--model", "tiny"),
        ("--protocol", "prime"),
        ("--cache", "c"),
    ] {
        folder
            .run(&["serve", "--rules", "only", option, value])
            .expect(2, &[option, "asks no model"]);
    }
    folder
        .run(&["serve", "--rules", "only", "--reward", "process-outcome"])
        .expect(2, &["says nothing of the process"]);
    folder
        .run(&["serve", "--trials", "3", "--temperature", "1"])
        .expect(2, &["--trials is for files"]);
    folder
        .run(&["serve", "--host", "no.such.host.invalid"])
        .expect(2, &["no address of this machine"]);
    folder
        .run(&["serve", "--api-key", " "])
        .expect(2, &["the API key is empty"]);
    // No header could hold the white space.
    let server = Server::start(&folder, &["--api-key", "secret\r\n"]);
    let key = [("authorization", "Bearer secret")];
    server.request("GET", "/v1/models", &key, "").ok();
    drop(server);
    folder.write("key", "secret\n");
    let mut with_both = folder.juror(&["serve", "--port", "no", "--api-key-file", "key"]);
    let ran = Ran::of(with_both.env("JUROR_API_KEY", "other").output().unwrap());
    ran.expect(2, &["--port"]);
    let server = Server::start(&folder, &[]);
    server.get("/v1/models/%ff").expect(400, &["UTF-8"]);
    let port = server.url.rsplit(':').next().unwrap();
    folder
        .run(&["serve", "--port", port])
        .expect(1, &["cannot listen at", "--port"]);
}

#[cfg(unix)]
#[test]
fn it_ends_while_thousands_of_prompts_wait_to_be_made() {
    let folder = Folder::new();
    let server = Server::start(&folder, &[]);
    server.wait_until_ready();
    let _clients = super::joining::flood(&server);
    let started = Instant::now();
    server.terminate();
    assert_eq!(server.ended().0, Some(0));
    assert!(
        started.elapsed() < Duration::from_secs(40),
        "{:?}",
        started.elapsed()
    );
}

#[cfg(unix)]
#[test]
fn a_server_says_what_to_try_and_who_asks() {
    let folder = Folder::new();
    folder.write("key", "secret-of-mine\n");
    let options = ["--log-requests", "--api-key-file", "key"];
    let server = Server::start(&folder, &options);
    server.get("/ready");
    let key = [("authorization", "Bearer secret-of-mine")];
    let body = json!({"samples": [sample(1)]}).to_string();
    let judged = server.request("POST", "/v1/judge?secret-query", &key, &body);
    assert_eq!(judged.status, 200, "{}", judged.text);
    server
        .request("POST", "/v1/judge", &[], &body)
        .expect(401, &["API key"]);
    let long = format!("/{}{}", "a".repeat(199), "b".repeat(2000));
    assert_eq!(server.request("GET", &long, &key, "").status, 404);
    // Lines are written twenty times a second.
    std::thread::sleep(std::time::Duration::from_millis(200));
    let port = server.url.rsplit(':').next().unwrap().to_owned();
    server.terminate();
    let (code, said) = server.ended();
    assert_eq!(code, Some(0), "{said}");
    let told = |part: &str| said.lines().any(|line| line.contains(part));
    assert!(
        told(&format!("listening at http://127.0.0.1:{port}")),
        "{said}"
    );
    assert!(
        told("POST /v1/judge: 200 in ") && told("POST /v1/judge: 401 in "),
        "{said}"
    );
    assert!(told(&format!("GET {}: 404 in ", &long[..200])), "{said}");
    assert!(!said.contains("secret"), "{said}");
    // The line that was shown is what a shell runs.
    let curl = said
        .lines()
        .find(|line| line.trim_start().starts_with("curl "))
        .unwrap();
    assert!(curl.contains("$(cat 'key')"), "{curl}");
    let again = ["serve", "--port", &port, "--api-key-file", "key", "-q"];
    let shown = Server::spawn(&folder, &again, |line| Some(line.to_owned()));
    let ran = std::process::Command::new("sh")
        .args(["-c", curl])
        .current_dir(folder.path(""))
        .output();
    let Ok(ran) = ran else { return };
    if ran.status.code() == Some(127) {
        return; // There is no curl here.
    }
    let answer: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(answer["verdicts"][0]["status"], "ok", "{answer}");
    assert_eq!(answer["verdicts"][0]["overall"], false, "a lucky guess");
    drop(shown);
}
