//! Contents are what their names say: when they come, and when they are taken from the cache again.

use std::fs;
use std::path::PathBuf;

use super::server::{COMMIT, Hub, Reply, tag};
use super::{
    CONFIG, ID, Ran, TINY, WEIGHTS, check_weights, juror, names, repository, rollouts, run,
    sharded, small, snapshot,
};
use crate::common::Folder;

/// Ways in which a content goes bad without its length, or with it.
fn damages(content: &[u8]) -> [Vec<u8>; 4] {
    let mut flipped = content.to_vec();
    flipped[content.len() / 2] ^= 1;
    [
        flipped,
        content[..content.len() / 2].to_vec(),
        Vec::new(),
        [content, b" "].concat(),
    ]
}

fn blob(folder: &Folder, name: &str, content: &[u8]) -> PathBuf {
    repository(folder).join("blobs").join(tag(name, content))
}

#[test]
fn small_files_are_checked_when_they_come() {
    for (number, wrong) in damages(CONFIG).into_iter().enumerate() {
        let told = wrong.clone();
        let hub = Hub::with_fault(ID, &small(), move |request, _, mut reply| {
            if request.path.contains("config.json") && !reply.body.is_empty() {
                reply.body.clone_from(&told);
            }
            // A proxy that changes files tells their new length.
            reply
        });
        let folder = Folder::new();
        let expected = tag("config.json", CONFIG);
        run(&folder, &hub, &["models", "pull", ID]).expect(
            1,
            &["config.json: the git hash (SHA-1)", &expected, "deleted"],
        );
        let blobs = names(&repository(&folder).join("blobs"));
        assert!(
            !blobs.iter().any(|name| name.starts_with(&expected)),
            "{number}: {blobs:?}"
        );
        assert!(!snapshot(&folder).join("config.json").exists(), "{number}");
    }
}

#[test]
fn what_was_damaged_in_the_cache_is_fetched_again() {
    let hub = Hub::new(ID, &TINY);
    let folder = Folder::new();
    run(&folder, &hub, &["models", "pull", ID]).expect(0, &[]);
    let pinned = format!("{ID}@{COMMIT}");
    for (name, content) in &TINY[..4] {
        for wrong in damages(content) {
            for model in [ID, &pinned] {
                fs::write(blob(&folder, name, content), &wrong).unwrap();
                hub.forget();
                run(&folder, &hub, &["models", "show", model])
                    .expect(0, &[&format!("{name} in the cache"), "fetched again"]);
                assert!(fs::read(snapshot(&folder).join(name)).unwrap() == *content);
                let weights = hub.asked().iter().any(|line| line.contains(WEIGHTS));
                assert!(!weights, "{:?}", hub.asked());
            }
        }
    }
    // Whole again, it is not asked for again.
    hub.forget();
    run(&folder, &hub, &["models", "show", &pinned]).expect(0, &[]);
    assert_eq!(hub.asked(), Vec::<String>::new());
}

#[test]
fn what_was_damaged_is_not_run_where_it_cannot_be_fetched_again() {
    let hub = Hub::new(ID, &TINY);
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(1));
    run(&folder, &hub, &["models", "pull", ID]).expect(0, &[]);
    let (name, content) = TINY[0];
    let damaged = fs::read_to_string(blob(&folder, name, content)).unwrap();
    // Still JSON, and another model.
    let damaged = damaged.replacen("1e-06", "1e-01", 1);
    assert_ne!(damaged.as_bytes(), content);
    fs::write(blob(&folder, name, content), damaged).unwrap();
    let nobody = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let pinned = format!("{ID}@{COMMIT}");
    for model in [ID, &pinned] {
        let judged = ["judge", "in.jsonl", "-o", "out.jsonl", "--model", model];
        let mut offline = juror(&folder, &hub.endpoint, &judged);
        Ran::of(offline.env("HF_HUB_OFFLINE", "1").output().unwrap()).expect(
            2,
            &[
                "config.json is damaged",
                &tag(name, content),
                "HF_HUB_OFFLINE",
                "juror models pull",
            ],
        );
        Ran::of(juror(&folder, &nobody, &judged).output().unwrap())
            .expect(2, &["config.json is damaged", "could not reach 127.0.0.1"]);
        assert!(!folder.has("out.jsonl"));
    }
}

#[test]
fn a_pull_checks_the_weights_that_are_there() {
    let hub = Hub::new(ID, &small());
    let pinned = format!("{ID}@{COMMIT}");
    let folder = Folder::new();
    run(&folder, &hub, &["models", "pull", ID]).expect(0, &[]);
    let (_, content) = TINY[4];
    for model in [ID, &pinned] {
        for wrong in damages(content) {
            fs::write(blob(&folder, WEIGHTS, content), wrong).unwrap();
            run(&folder, &hub, &["models", "pull", model]).expect(
                0,
                &[
                    "model.safetensors in the cache",
                    "fetched again",
                    "fetched now",
                ],
            );
            check_weights(&folder);
        }
    }
    // A damaged index brings no other weights.
    let hub = Hub::new(ID, &sharded());
    let folder = Folder::new();
    run(&folder, &hub, &["models", "pull", ID]).expect(0, &[]);
    let (name, content) = sharded()[1];
    let damaged = String::from_utf8(content.to_vec()).unwrap();
    let damaged = damaged.replace("00002-of", "00001-of");
    fs::write(blob(&folder, name, content), damaged).unwrap();
    run(&folder, &hub, &["models", "pull", ID]).expect(0, &[name, "fetched again"]);
    assert!(fs::read(snapshot(&folder).join(name)).unwrap() == content);
}

#[test]
#[cfg(unix)]
fn a_blob_joins_a_snapshot_only_if_it_is_whole() {
    for wrong in damages(TINY[4].1) {
        let hub = Hub::new(ID, &small());
        let folder = Folder::new();
        fs::create_dir_all(repository(&folder).join("blobs")).unwrap();
        fs::write(blob(&folder, WEIGHTS, TINY[4].1), wrong).unwrap();
        run(&folder, &hub, &["models", "pull", ID])
            .expect(0, &["model.safetensors in the cache", "fetched again"]);
        check_weights(&folder);
    }
}

#[test]
fn a_content_without_a_hash_is_told_to_be_unchecked() {
    let hub = Hub::with_fault(ID, &small(), |request, _, reply| {
        if request.path.contains("config.json") && reply.status != 404 {
            return reply.with("ETag", &"\"5d41402abc4b2a76b9719d911017c592\"");
        }
        reply
    });
    let folder = Folder::new();
    run(&folder, &hub, &["models", "pull", ID])
        .expect(0, &["config.json: the hub tells no hash", "5d41402abc"]);
    check_weights(&folder);
    // The SHA-1 of a content without git's head names it as well.
    let hub = Hub::with_fault(ID, &[("config.json", b"hello\n"), (WEIGHTS, TINY[4].1)], {
        |request, _, reply: Reply| {
            if request.path.contains("config.json") && reply.status != 404 {
                return reply.with("ETag", &"\"f572d396fae9206628714fb2ce00f72e94f2258f\"");
            }
            reply
        }
    });
    let folder = Folder::new();
    let pulled = run(&folder, &hub, &["models", "pull", ID]);
    pulled.expect(0, &[]);
    assert!(!pulled.stderr.contains("no hash"), "{}", pulled.stderr);
}
