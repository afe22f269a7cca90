//! Downloads that break off, begin again, or meet another of the same.

use std::process::Stdio;
use std::time::Duration;

use super::server::{CDN, Hub, Reply, Request};
use super::{ID, TINY, check_weights, is_weights, juror, leave_incomplete, run, small};
use crate::common::{Folder, Ran};

#[test]
fn a_connection_that_breaks_off_goes_on_where_it_was() {
    let half = TINY[4].1.len() / 2;
    let hub = Hub::with_fault(ID, &small(), move |request, number, mut reply| {
        if is_weights(request, CDN) && number == 0 {
            reply.cut = Some(half);
        }
        reply
    });
    let folder = Folder::new();
    run(&folder, &hub, &["models", "pull", ID]).expect(0, &[]);
    check_weights(&folder);
    let log = hub.log();
    let ranges: Vec<_> = log
        .iter()
        .filter(|request| is_weights(request, CDN))
        .map(|request| request.header("range").map(str::to_owned))
        .collect();
    assert_eq!(ranges, [None, Some(format!("bytes={half}-"))]);
}

#[test]
fn a_later_run_goes_on_where_an_earlier_one_stopped() {
    let hub = Hub::new(ID, &small());
    let folder = Folder::new();
    leave_incomplete(&folder, &TINY[4].1[..1_000_000]);
    run(&folder, &hub, &["models", "pull", ID]).expect(0, &["8.6 MB fetched now"]);
    check_weights(&folder);
    let log = hub.log();
    let weights = log.iter().find(|request| is_weights(request, CDN)).unwrap();
    assert_eq!(weights.header("range"), Some("bytes=1000000-"));
}

#[test]
fn what_was_left_may_be_wrong_or_too_long() {
    for left in [
        vec![7; 1_000_000],
        vec![7; TINY[4].1.len() + 1],
        vec![7; TINY[4].1.len()],
    ] {
        let hub = Hub::new(ID, &small());
        let folder = Folder::new();
        leave_incomplete(&folder, &left);
        run(&folder, &hub, &["models", "pull", ID]).expect(0, &[]);
        check_weights(&folder);
    }
}

#[test]
fn servers_that_cannot_go_on_begin_again() {
    // One ignores what part is wanted, one refuses it, one sends another part than was asked for.
    let whole = |_: &Request, _: Reply| Reply::new(200).body(TINY[4].1);
    let refused = |_: &Request, _: Reply| Reply::new(416).with("Content-Range", &"bytes */5");
    let other = |_: &Request, reply: Reply| reply.with("Content-Range", &"bytes 0-99/100");
    let answers: [fn(&Request, Reply) -> Reply; 3] = [whole, refused, other];
    for answer in answers {
        let hub = Hub::with_fault(ID, &small(), move |request, _, reply| {
            if is_weights(request, CDN) && request.header("range").is_some() {
                answer(request, reply)
            } else {
                reply
            }
        });
        let folder = Folder::new();
        leave_incomplete(&folder, &TINY[4].1[..70_000]);
        run(&folder, &hub, &["models", "pull", ID]).expect(0, &[]);
        check_weights(&folder);
    }
}

#[test]
fn a_server_that_falls_silent_is_asked_again() {
    let hub = Hub::with_fault(ID, &small(), |request, number, mut reply| {
        if is_weights(request, CDN) && number == 0 {
            reply.stall = Some((80_000, Duration::from_secs(20)));
        }
        reply
    });
    let folder = Folder::new();
    let pulled = juror(&folder, &hub.endpoint, &["models", "pull", ID])
        .env("HF_HUB_DOWNLOAD_TIMEOUT", "1")
        .output();
    Ran::of(pulled.unwrap()).expect(0, &[]);
    check_weights(&folder);
}

#[test]
fn passing_faults_pass() {
    let hub = Hub::with_fault(ID, &small(), |request, number, reply| {
        if number > 0 {
            return reply;
        }
        match (request.server, request.method.as_str()) {
            // The address of a content was made too long ago.
            (CDN, _) => Reply::new(403),
            (_, "HEAD") => Reply::new(503),
            (_, _) if request.path.starts_with("/api") => Reply::new(429).with("Retry-After", &"0"),
            _ => Reply::new(500),
        }
    });
    let folder = Folder::new();
    run(&folder, &hub, &["models", "pull", ID]).expect(0, &[]);
    check_weights(&folder);
}

#[test]
fn two_at_once_fetch_everything_once() {
    let hub = Hub::with_fault(ID, &small(), |request, _, mut reply| {
        if is_weights(request, CDN) {
            // Long enough for the other one to come.
            reply.stall = Some((1000, Duration::from_millis(500)));
        }
        reply
    });
    let folder = Folder::new();
    let start = || {
        let mut command = juror(&folder, &hub.endpoint, &["models", "pull", ID]);
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    for child in [start(), start()] {
        Ran::of(child.wait_with_output().unwrap()).expect(0, &[]);
    }
    check_weights(&folder);
    let log = hub.log();
    assert_eq!(
        log.iter()
            .filter(|request| is_weights(request, CDN))
            .count(),
        1
    );
}
