//! What a fault of a server, or the end of the process, leaves to the same command.

use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::server::{Server, error, said};
use super::{RIGHT, folder, judge, verdicts};
use crate::common::{Folder, Ran, row};

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// A switch that a server looks at.
fn switch(on: bool) -> (Arc<AtomicBool>, Arc<AtomicBool>) {
    let switch = Arc::new(AtomicBool::new(on));
    (Arc::clone(&switch), switch)
}

/// Rows fail from the first on, and what is asked to know whether the server lives is answered: an outage all the same.
#[test]
fn rows_that_fail_for_a_while_are_waited_for() {
    let begun = Instant::now();
    let server = Server::new(move |_, _| match begun.elapsed().as_secs() {
        0..12 => error(500, "the worker is starting"),
        _ => said(RIGHT),
    });
    let folder = folder(100);
    folder.run(&judge(&server.url, &[])).expect(0, &["100 ok"]);
    assert!(verdicts(&folder).iter().all(|line| line["status"] == "ok"));
}

/// What failed by the server's fault is asked again by the same command, alone and once; what failed by its own is not.
#[test]
fn open_rows_are_asked_again_and_counted_once() {
    let (fails, failing) = switch(true);
    let server = Server::new(move |asked, _| {
        let prompt = asked.prompt();
        if prompt.contains("has 5 apples") {
            error(400, "not liked")
        } else if prompt.contains("has 4 apples") && failing.load(Ordering::SeqCst) {
            error(500, "out of memory")
        } else {
            said(RIGHT)
        }
    });
    let folder = folder(8);
    let more = ["--shard", "0/1", "--summary-json", "summary.json"];
    let run = |further: &[&str]| folder.run(&[&judge(&server.url, &more)[..], further].concat());
    let summary =
        || -> serde_json::Value { serde_json::from_str(&folder.read("summary.json")).unwrap() };
    let merge = |code| {
        let merge = ["merge", "out.jsonl", "-o", "merged.jsonl", "--force"];
        folder.run(&merge).expect(code, &[]);
        assert_eq!(folder.lines("merged.jsonl"), folder.lines("out.jsonl"));
    };
    run(&[]).expect(3, &["2 failed", "the same command asks them again"]);
    let lines = verdicts(&folder);
    let of = |key: &str| {
        lines
            .iter()
            .map(|line| line[key].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(of("open").iter().filter(|open| **open == true).count(), 1);
    assert_eq!(
        (&lines[2]["open"], &lines[2]["status"]),
        (&true.into(), &"failed".into())
    );
    assert_eq!(lines[3]["status"], "failed");
    assert_eq!(
        (summary()["verdicts"].as_u64(), summary()["open"].as_u64()),
        (Some(8), Some(1))
    );
    merge(3);

    let asked = server.judged().len();
    run(&["--no-retry-failed"]).expect(3, &["2 failed"]);
    assert_eq!(server.judged().len(), asked);
    assert_eq!(verdicts(&folder), lines);
    assert_eq!(
        (summary()["verdicts"].as_u64(), summary()["open"].as_u64()),
        (Some(8), Some(1))
    );

    fails.store(false, Ordering::SeqCst);
    run(&[]).expect(3, &["1 failed", "7 were done before"]);
    let again = server.judged().split_off(asked);
    assert_eq!(again.len(), 1);
    assert!(again[0].prompt().contains("has 4 apples"));
    let now = verdicts(&folder);
    assert_eq!(
        (&now[2]["status"], now[2].get("open")),
        (&"ok".into(), None)
    );
    assert_eq!(now.len(), 8);
    assert_eq!(
        (summary()["verdicts"].as_u64(), summary()["open"].as_u64()),
        (Some(8), Some(0))
    );
    // The journal keeps both lines; the later one counts, here and where shards are merged.
    assert_eq!(folder.read("out.jsonl.journal").lines().count(), 10);
    merge(3);
    run(&[]).expect(3, &["8 were done before"]);
    assert_eq!(server.judged().len(), asked + 1);
    assert_eq!(verdicts(&folder), now);
}

/// The rows of a stage are known as the run's own before they are written: whatever ends it before that stage has a journal, the same
/// command goes on; and an end by a signal has its exit code.
#[cfg(unix)]
#[test]
fn a_stage_that_is_stopped_before_it_begins_goes_on() {
    let rows: Vec<String> = ["It is 4.", "It is 5."]
        .iter()
        .enumerate()
        .map(|(at, response)| row(&format!("r{at}"), "Two and two?", "4", response))
        .collect();
    for (signal, code) in [("-KILL", None), ("-INT", Some(130)), ("-TERM", Some(130))] {
        for (stage, side) in [
            ("--own-answer", "out.questions.jsonl"),
            ("--rank", "out.pairs.jsonl"),
            ("--cascade", "out.escalated.0-1.jsonl"),
        ] {
            let (holds, held) = switch(true);
            let server = Server::with_probes(
                |asked, _| {
                    let solves = asked.prompt().contains("Solve the following problem");
                    said(if solves { "Answer: 4" } else { RIGHT })
                },
                move |_| {
                    while held.load(Ordering::SeqCst) {
                        sleep(Duration::from_millis(5));
                    }
                    said("ready")
                },
            );
            let folder = Folder::new();
            folder.write("rows.jsonl", rows.concat());
            let both = format!("tiny,{}#judge", server.url);
            let arguments = if stage == "--cascade" {
                let two = ["--cascade", &both, "--escalate", "0..1"];
                [&["judge", "rows.jsonl", "-o", "out.jsonl"][..], &two].concat()
            } else {
                judge(&server.url, &[stage])
            };
            let child = folder.juror(&arguments).spawn().unwrap();
            let since = Instant::now();
            while !folder.has(side) {
                assert!(since.elapsed() < PATIENCE, "{stage}");
                sleep(Duration::from_millis(5));
            }
            let sent = Command::new("kill")
                .args([signal, &child.id().to_string()])
                .status();
            assert!(sent.unwrap().success());
            let ran = Ran::of(child.wait_with_output().unwrap());
            assert_eq!(ran.code, code, "{stage} {signal}: {}", ran.stderr);
            holds.store(false, Ordering::SeqCst);
            let again = folder.run(&arguments);
            assert!(
                matches!(again.code, Some(0 | 3)),
                "{stage} {signal}: {}",
                again.stderr
            );
            assert!(fs::metadata(folder.path("out.jsonl")).unwrap().len() > 0);
        }
    }
}

/// A list of models that does not come is given up in time, and one that has no end is not read.
#[test]
fn what_a_server_says_of_itself_is_bounded() {
    use crate::hub::server::{Drip, Reply};
    let slow = Server::with_list(|| Reply {
        drip: Some((Drip::Body, Duration::from_millis(50))),
        ..Reply::new(200).body("x".repeat(10_000))
    });
    let folder = folder(1);
    let begun = Instant::now();
    let ran = folder.run(&judge(&slow.url, &["--endpoint-timeout", "1"]));
    ran.expect(1, &["no answer within 1 s"]);
    assert!(begun.elapsed() < Duration::from_secs(20));
    let long = Server::with_list(|| Reply::new(200).body(format!("[{}0]", "0,".repeat(4 << 20))));
    let ran = folder.run(&judge(&long.url, &["--endpoint-timeout", "5"]));
    ran.expect(1, &["more than 4194304 bytes"]);
}
