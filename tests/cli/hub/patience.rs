//! How long a server is waited for: as long as it asks within reason, and not for one that sends a byte now and then.

use std::time::Duration;

use super::server::{CDN, Drip, Hub, Reply, Request};
use super::{ID, TINY, WEIGHTS, check_weights, is_weights, juror, run, small};
use crate::common::{Folder, Ran, rollouts};

const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

/// A hub that refuses the first request of each kind with these headers.
fn refusing(headers: &'static [(&'static str, &'static str)]) -> Hub {
    Hub::with_fault(ID, &small(), move |_, number, reply| {
        if number > 0 {
            return reply;
        }
        let refused = Reply::new(429);
        headers
            .iter()
            .fold(refused, |reply, (name, value)| reply.with(name, value))
    })
}

#[test]
fn a_wait_that_a_server_asks_for_is_announced() {
    let cases: [&[(&str, &str)]; 2] = [
        &[("Retry-After", "1")],
        &[
            ("Retry-After", "Sun, 06 Nov 1994 08:49:38 GMT"),
            ("Date", DATE),
        ],
    ];
    for headers in cases {
        let folder = Folder::new();
        let hub = refusing(headers);
        run(&folder, &hub, &["models", "pull", ID]).expect(
            0,
            &[
                "/api/models/org/name/revision/main: the server answered 429",
                "attempt 2 of 5 in 1 s",
                "Retry-After",
            ],
        );
        check_weights(&folder);
    }
    // What is no time, or has passed, is as if it were not there.
    for value in ["-7", "soon", "1e9", "", "0", DATE] {
        let hub = Hub::with_fault(ID, &small(), move |_, number, reply| {
            if number == 0 {
                Reply::new(503).with("Retry-After", &value)
            } else {
                reply
            }
        });
        let folder = Folder::new();
        let pulled = run(&folder, &hub, &["models", "pull", ID]);
        pulled.expect(0, &[]);
        assert!(!pulled.stderr.contains("Retry-After"), "{}", pulled.stderr);
    }
}

#[test]
fn a_wait_out_of_reason_is_told_instead() {
    let cases: [(&[(&str, &str)], &str); 4] = [
        (&[("Retry-After", "301")], "6 min"),
        (&[("Retry-After", "86400")], "24 h"),
        (
            &[("Retry-After", "340282366920938463463374607431768211456")],
            "days",
        ),
        (&[("Retry-After", "Fri, 06 Nov 2893 08:49:37 GMT")], "days"),
    ];
    for (headers, wait) in cases {
        let folder = Folder::new();
        let hub = refusing(headers);
        run(&folder, &hub, &["models", "pull", ID])
            .expect(1, &["answered 429", "asks to wait", wait, "try again then"]);
        assert_eq!(hub.asked().len(), 1);
    }
    // A run takes what the cache has.
    let hub = Hub::new(ID, &TINY);
    let folder = Folder::new();
    run(&folder, &hub, &["models", "pull", ID]).expect(0, &[]);
    folder.write("in.jsonl", rollouts(1));
    let busy = refusing(&[("Retry-After", "86400")]);
    let judged = ["judge", "in.jsonl", "-o", "out.jsonl", "--model", ID];
    run(&folder, &busy, &judged).expect(0, &["asks to wait 24 h", "as the cache has it"]);
}

#[test]
fn a_server_that_drips_is_not_waited_for() {
    type Which = fn(&Request) -> bool;
    let places: [(&str, Which, &[Drip]); 4] = [
        (
            "the listing",
            |request| request.path.starts_with("/api"),
            &[Drip::Head, Drip::Body],
        ),
        (
            "what a file is",
            |request| request.method == "HEAD" && request.path.contains("config.json"),
            &[Drip::Head],
        ),
        (
            "a small file",
            |request| request.method == "GET" && request.path.contains("config.json"),
            &[Drip::Head, Drip::Body],
        ),
        (
            "a large file",
            |request| request.server == CDN,
            &[Drip::Head, Drip::Body],
        ),
    ];
    // Each waits for seconds: all of them at once.
    std::thread::scope(|scope| {
        for (place, which, drips) in places {
            for &drip in drips {
                scope.spawn(move || give_up(place, which, drip));
            }
        }
    });
}

/// Pulls from a hub some of whose answers drip.
fn give_up(place: &str, which: fn(&Request) -> bool, drip: Drip) {
    let hub = Hub::with_fault(ID, &small(), move |request, _, mut reply| {
        if which(request) {
            reply.drip = Some((drip, Duration::from_millis(300)));
            // Long enough to drip for hours.
            if drip == Drip::Head {
                reply = reply.with("X-Padding", &"x".repeat(20_000));
            }
            if request.path.starts_with("/api") {
                reply.body.extend(vec![b' '; 20_000]);
            }
        }
        reply
    });
    let folder = Folder::new();
    let pulled = juror(&folder, &hub.endpoint, &["models", "pull", ID])
        .env("HF_HUB_DOWNLOAD_TIMEOUT", "1")
        .output();
    let pulled = Ran::of(pulled.unwrap());
    assert_eq!(pulled.code, Some(1), "{place}, {drip:?}: {}", pulled.stderr);
    pulled.expect(1, &["could not reach 127.0.0.1"]);
}

#[test]
fn words_of_a_refusal_that_drip_are_not_waited_for() {
    let hub = Hub::with_fault(ID, &small(), |request, _, reply| {
        if !is_weights(request, CDN) {
            return reply;
        }
        let mut refused = Reply::new(403).body(vec![b' '; 20_000]);
        refused.drip = Some((Drip::Body, Duration::from_millis(300)));
        refused
    });
    let folder = Folder::new();
    let pulled = juror(&folder, &hub.endpoint, &["models", "pull", ID])
        .env("HF_HUB_DOWNLOAD_TIMEOUT", "1")
        .output();
    Ran::of(pulled.unwrap()).expect(1, &["answered 403"]);
}

#[test]
fn a_slow_server_that_brings_something_is_waited_for() {
    let hub = Hub::with_fault(ID, &small(), move |request, _, mut reply| {
        if is_weights(request, CDN) {
            // Breaks off again and again, each time after more than a trickle.
            if reply.body.len() > 900_000 {
                reply.cut = Some(900_000);
            }
        }
        reply
    });
    let folder = Folder::new();
    run(&folder, &hub, &["models", "pull", ID]).expect(0, &[]);
    check_weights(&folder);
    let asked = hub.asked();
    let weights = asked.iter().filter(|line| line.ends_with(WEIGHTS));
    assert!(weights.count() > 5, "{asked:?}");
}
