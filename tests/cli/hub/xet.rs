//! Contents in the hub's chunks, by its own client, against a hub that gives them: whole, broken, wrong, or not at all.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::server::{CDN, HUB, Hub, Reply, Request};
use super::{
    ID, Ran, TINY, WEIGHTS, check_weights, is_weights, juror, leave_incomplete, names, run, small,
};
use crate::common::Folder;

/// Bytes of a chunk, chunks of a block, bytes before each chunk.
const CHUNK: usize = 1 << 16;
const CHUNKS: usize = 16;
const HEAD: usize = 8;
const BLOCK: usize = CHUNK * CHUNKS;

const WHOLE: &[u8] = TINY[4].1;
const ACCESS: &str = "/api/models/org/name/xet-read-token/";
const PLAIN: &str = "over plain HTTP";

/// First and last byte asked for.
fn range(request: &Request) -> Option<(usize, usize)> {
    let (from, to) = request
        .header("range")?
        .strip_prefix("bytes=")?
        .split_once('-')?;
    Some((from.parse().ok()?, to.parse().ok()?))
}

/// A block of chunks as it is kept: each with a version, its length, how it is packed (not at all), and its length unpacked.
fn block(number: usize) -> Vec<u8> {
    let content = &WHOLE[number * BLOCK..WHOLE.len().min((number + 1) * BLOCK)];
    let mut packed = Vec::new();
    for chunk in content.chunks(CHUNK) {
        let length = &(chunk.len() as u32).to_le_bytes()[..3];
        packed.extend([&[0], length, &[0], length, chunk].concat());
    }
    packed
}

/// Of what the content from one byte to another is made.
fn reconstruction(request: &Request) -> Reply {
    let (from, to) = range(request).unwrap();
    if from >= WHOLE.len() {
        return Reply::new(416);
    }
    let (first, last) = (from / BLOCK, to.min(WHOLE.len() - 1) / BLOCK);
    let (mut terms, mut blocks) = (Vec::new(), serde_json::Map::new());
    for number in first..=last {
        let packed = block(number);
        let chunks = packed.len().div_ceil(CHUNK + HEAD);
        let skipped = if number == first {
            from % BLOCK / CHUNK
        } else {
            0
        };
        let hash = format!("{number:064x}");
        let range = json!({"start": skipped, "end": chunks});
        let unpacked = packed.len() - chunks * HEAD - skipped * CHUNK;
        terms.push(json!({"hash": hash, "unpacked_length": unpacked, "range": range}));
        let bytes = json!({"start": skipped * (CHUNK + HEAD), "end": packed.len() - 1});
        let host = request.header("host").unwrap();
        let url = format!("http://{host}/blocks/{number}?Signature=secret");
        let fetch = json!([{"url": url, "ranges": [{"chunks": range, "bytes": bytes}]}]);
        blocks.insert(hash, fetch);
    }
    let answer = json!({
        "offset_into_first_range": from % CHUNK, "terms": terms, "xorbs": blocks,
    });
    Reply::new(200).body(answer.to_string())
}

/// So much later than the blocks before it that these have come: an error ends a stream at once, with what is under way.
fn late(reply: Reply) -> Reply {
    thread::sleep(Duration::from_secs(2));
    reply
}

/// What a hub with chunks answers.
fn with_chunks(request: &Request, reply: Reply) -> Reply {
    let path = request.path.split('?').next().unwrap();
    if request.server == HUB && request.method == "HEAD" && path.ends_with(WEIGHTS) {
        return reply.with("X-Xet-Hash", &"ab".repeat(32));
    }
    if path.starts_with(ACCESS) {
        let url = format!("http://{}", request.header("host").unwrap());
        let access = json!({"casUrl": url, "accessToken": "short-lived", "exp": 4_000_000_000_u64});
        return Reply::new(200).body(access.to_string());
    }
    if path.starts_with("/v2/reconstructions/") {
        return reconstruction(request);
    }
    if let Some(number) = path.strip_prefix("/blocks/") {
        let (from, to) = range(request).unwrap();
        return Reply::new(206).body(&block(number.parse().unwrap())[from..=to]);
    }
    reply
}

fn hub(fault: impl Fn(&Request, usize, Reply) -> Reply + Send + Sync + 'static) -> Hub {
    Hub::with_fault(ID, &small(), move |request, number, reply| {
        fault(request, number, with_chunks(request, reply))
    })
}

/// Requests to paths that begin so.
fn requests(hub: &Hub, path: &str) -> Vec<Request> {
    let mut log = hub.log();
    log.retain(|request| request.path.starts_with(path));
    log
}

/// Where the plain way went on, if it was gone.
fn plain_from(hub: &Hub) -> Vec<Option<String>> {
    let log = hub.log();
    let plain = log.iter().filter(|request| is_weights(request, CDN));
    plain
        .map(|request| request.header("range").map(str::to_owned))
        .collect()
}

#[test]
fn large_files_come_in_chunks_and_tokens_stay_where_they_belong() {
    let hub = hub(|_, _, reply| reply);
    let folder = Folder::new();
    let mut command = juror(&folder, &hub.endpoint, &["models", "pull", ID]);
    let before = names(&folder.path("."));
    let pulled = Ran::of(command.env("HF_TOKEN", "hf_x").output().unwrap());
    pulled.expect(0, &["2 files", "fetched now"]);
    assert!(!pulled.stderr.contains(PLAIN), "{}", pulled.stderr);
    check_weights(&folder);
    assert_eq!(plain_from(&hub), []);
    assert_eq!(
        requests(&hub, "/blocks/").len(),
        WHOLE.len().div_ceil(BLOCK)
    );
    for request in hub.log() {
        let path = &request.path;
        let expected = match path {
            path if path.starts_with("/blocks/") => None,
            path if path.starts_with("/v2/") => Some("Bearer short-lived"),
            _ => Some("Bearer hf_x"),
        };
        assert_eq!(request.header("authorization"), expected, "{path}");
        let agent = request.header("user-agent").unwrap();
        assert!(agent.starts_with("juror/"), "{path}: {agent}");
        // Nobody is told what was fetched.
        assert!(matches!(request.method.as_str(), "GET" | "HEAD"), "{path}");
    }
    // The client keeps nothing.
    let mut after = names(&folder.path("."));
    after.retain(|name| !before.contains(name));
    assert_eq!(after, ["hf"]);
    assert_eq!(names(&folder.path("hf")), ["hub"]);
    // The next run finds it.
    hub.forget();
    run(&folder, &hub, &["models", "pull", ID]).expect(0, &[]);
    assert!(requests(&hub, ACCESS).is_empty());
}

#[test]
fn chunks_go_on_where_an_earlier_run_stopped() {
    let hub = hub(|_, _, reply| reply);
    let folder = Folder::new();
    leave_incomplete(&folder, &WHOLE[..1_000_000]);
    run(&folder, &hub, &["models", "pull", ID]).expect(0, &["8.6 MB fetched now"]);
    check_weights(&folder);
    assert_eq!(plain_from(&hub), []);
    assert_eq!(range(&requests(&hub, "/v2/")[0]).unwrap().0, 1_000_000);
    // What was left may be something else.
    let folder = Folder::new();
    leave_incomplete(&folder, &[7; 1_000_000]);
    run(&folder, &hub, &["models", "pull", ID]).expect(0, &[]);
    check_weights(&folder);
    assert_eq!(plain_from(&hub), []);
}

#[test]
fn plain_http_can_be_asked_for() {
    let hub = hub(|_, _, reply| reply);
    let folder = Folder::new();
    let mut command = juror(&folder, &hub.endpoint, &["models", "pull", ID]);
    command.env("HF_HUB_DISABLE_XET", "1");
    Ran::of(command.output().unwrap()).expect(0, &[]);
    check_weights(&folder);
    assert_eq!(plain_from(&hub), [None]);
    assert!(requests(&hub, ACCESS).is_empty());
}

#[test]
fn a_stream_that_got_on_is_continued_with_a_new_token() {
    // The addresses of the first answer expire half-way.
    let hub = hub(
        |request, _, reply| match request.path.strip_prefix("/blocks/") {
            Some(rest)
                if rest.starts_with(['5', '6', '7', '8', '9']) && !rest.contains("again") =>
            {
                late(Reply::new(404))
            }
            _ if request.path.starts_with("/v2/") && range(request).unwrap().0 > 0 => {
                let text = String::from_utf8(reply.body.clone()).unwrap();
                reply.body(text.replace("?Signature", "?again&Signature"))
            }
            _ => reply,
        },
    );
    let folder = Folder::new();
    let pulled = run(&folder, &hub, &["models", "pull", ID]);
    pulled.expect(0, &[]);
    assert!(!pulled.stderr.contains(PLAIN), "{}", pulled.stderr);
    check_weights(&folder);
    assert_eq!(plain_from(&hub), []);
    assert_eq!(requests(&hub, ACCESS).len(), 2);
}

/// What goes wrong, how, what is said of it, and where plain HTTP goes on.
type Case = (
    &'static str,
    fn(&Request, usize, Reply) -> Reply,
    &'static str,
    Option<usize>,
);

#[test]
fn what_fails_in_chunks_comes_over_plain_http() {
    fn access(request: &Request, reply: Reply, url: &str) -> Reply {
        if !request.path.starts_with(ACCESS) {
            return reply;
        }
        let mut access: Value = serde_json::from_slice(&reply.body).unwrap();
        access["casUrl"] = json!(url);
        reply.body(access.to_string())
    }
    fn spoil(request: &Request, path: &str, reply: Reply, spoilt: Reply) -> Reply {
        if request.path.starts_with(path) {
            spoilt
        } else {
            reply
        }
    }
    fn third(request: &Request, reply: Reply, spoilt: fn(Reply) -> Reply) -> Reply {
        if request.path.starts_with("/blocks/3") {
            late(spoilt(reply))
        } else {
            reply
        }
    }
    let cases: [Case; 13] = [
        (
            "no leave",
            |r, _, reply| spoil(r, ACCESS, reply, Reply::new(403)),
            "gated",
            None,
        ),
        (
            "no such route",
            |r, _, reply| spoil(r, ACCESS, reply, Reply::new(404)),
            "no model",
            None,
        ),
        (
            "an outage",
            |r, _, reply| spoil(r, ACCESS, reply, Reply::new(500)),
            "answered 500",
            None,
        ),
        (
            "no JSON",
            |r, _, reply| spoil(r, ACCESS, reply, Reply::new(200).body("<html>")),
            "gives no access",
            None,
        ),
        (
            "a folder of this machine",
            |r, _, reply| access(r, reply, "local:///etc"),
            "no access",
            None,
        ),
        (
            "memory",
            |r, _, reply| access(r, reply, "memory://"),
            "no access",
            None,
        ),
        (
            "nobody there",
            |r, _, reply| access(r, reply, "http://127.0.0.1:9"),
            "127.0.0.1:9",
            None,
        ),
        (
            "unknown",
            |r, _, reply| spoil(r, "/v", reply, Reply::new(404)),
            "404",
            None,
        ),
        (
            "no description",
            |r, _, reply| spoil(r, "/v", reply, Reply::new(200).body("{}")),
            "broke off after 0 of",
            None,
        ),
        (
            "a block is missing",
            |r, _, reply| third(r, reply, |_| Reply::new(404)),
            "broke off after 3145728 of",
            Some(3 * BLOCK),
        ),
        (
            "a block is always cut",
            |r, _, reply| {
                third(r, reply, |reply| Reply {
                    cut: Some(100_000),
                    ..reply
                })
            },
            "broke off after 3145728 of",
            Some(3 * BLOCK),
        ),
        (
            "a chunk of another form",
            |r, _, reply| {
                third(r, reply, |mut reply| {
                    reply.body[0] = 9;
                    reply
                })
            },
            "broke off after 3145728 of",
            Some(3 * BLOCK),
        ),
        (
            "other bytes",
            |r, _, reply| {
                third(r, reply, |mut reply| {
                    reply.body[1000] ^= 1;
                    reply
                })
            },
            "not what the hub names",
            None,
        ),
    ];
    for (what, fault, said, from) in cases {
        let hub = hub(fault);
        let folder = Folder::new();
        let pulled = run(&folder, &hub, &["models", "pull", ID]);
        pulled.expect(0, &[said, PLAIN]);
        assert_eq!(
            pulled.stderr.matches(PLAIN).count(),
            1,
            "{what}: {}",
            pulled.stderr
        );
        assert!(
            !pulled.stderr.contains("Signature"),
            "{what}: {}",
            pulled.stderr
        );
        check_weights(&folder);
        let from = from.map(|from| format!("bytes={from}-"));
        assert_eq!(plain_from(&hub), [from], "{what}");
    }
}

#[test]
fn chunks_that_do_not_come_are_not_waited_for() {
    // Silent from the start, or after half of a block; and one that sends a byte now and then.
    for at in [0, 100_000] {
        let hub = hub(move |request, _, mut reply| {
            if request.path.starts_with("/blocks/3") {
                reply.stall = Some((at, Duration::from_secs(60)));
            }
            reply
        });
        let folder = Folder::new();
        let begun = Instant::now();
        let mut command = juror(&folder, &hub.endpoint, &["models", "pull", ID]);
        let pulled = command.env("HF_HUB_DOWNLOAD_TIMEOUT", "1").output();
        Ran::of(pulled.unwrap()).expect(0, &["broke off after 3145728 of", PLAIN]);
        check_weights(&folder);
        assert_eq!(plain_from(&hub), [Some(format!("bytes={}-", 3 * BLOCK))]);
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "{:?}",
            begun.elapsed()
        );
    }
    let hub = hub(|request, _, mut reply| {
        if request.path.starts_with("/blocks/3") {
            reply.drip = Some((super::server::Drip::Body, Duration::from_millis(300)));
        }
        reply
    });
    let folder = Folder::new();
    let mut command = juror(&folder, &hub.endpoint, &["models", "pull", ID]);
    let pulled = command.env("HF_HUB_DOWNLOAD_TIMEOUT", "1").output();
    Ran::of(pulled.unwrap()).expect(0, &["nothing came for 4 s", PLAIN]);
    check_weights(&folder);
}

#[test]
fn a_content_that_cannot_be_checked_does_not_come_in_chunks() {
    let hub = hub(|request, _, reply| {
        if request.method == "HEAD" && request.path.ends_with(WEIGHTS) {
            return reply.with("X-Linked-Etag", &"\"of-a-mirror\"");
        }
        reply
    });
    let folder = Folder::new();
    run(&folder, &hub, &["models", "pull", ID]).expect(0, &["could not be checked"]);
    assert!(requests(&hub, ACCESS).is_empty());
    assert!(fs::exists(super::snapshot(&folder).join(WEIGHTS)).unwrap());
}
