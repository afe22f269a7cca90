//! What cannot or must not be fetched: each is told with what to do, and nothing is left where it does not belong.

use std::fs;

use serde_json::json;

use super::server::{CDN, COMMIT, Hub, Reply, Request, tag};
use super::{
    CONFIG, ID, Ran, TINY, WEIGHTS, is_weights, juror, leave_incomplete, names, repository, run,
    small, snapshot,
};
use crate::common::Folder;

#[test]
fn faults_that_stay_are_told() {
    let failing = |status: u16, message: &'static str| {
        Hub::with_fault(ID, &small(), move |request, _, reply| {
            if request.path.starts_with("/api") {
                Reply::new(status).body(json!({"error": message}).to_string())
            } else {
                reply
            }
        })
    };
    let folder = Folder::new();
    // What it says is shown, and moves no cursor.
    let hub = failing(500, "Internal Error\u{1b}[2J");
    run(&folder, &hub, &["models", "pull", ID])
        .expect(1, &["answered 500", "Internal Error", "try again later"]);
    assert_eq!(hub.asked().len(), 5);
    // Not the hub's fault, so the model is not what is wrong.
    let hub = failing(418, "I am a teapot");
    run(&folder, &hub, &["models", "pull", ID]).expect(1, &["answered 418", "teapot"]);
    assert_eq!(hub.asked().len(), 1);
}

#[test]
fn a_content_of_another_hash_is_deleted() {
    let mut wrong = TINY[4].1.to_vec();
    wrong[1000] ^= 1;
    let hub = Hub::with_fault(ID, &small(), move |request, _, reply| {
        if is_weights(request, CDN) {
            Reply::new(200).body(wrong.clone())
        } else {
            reply
        }
    });
    let folder = Folder::new();
    let expected = tag(WEIGHTS, TINY[4].1);
    run(&folder, &hub, &["models", "pull", ID])
        .expect(1, &["model.safetensors: the SHA-256", &expected, "deleted"]);
    assert_eq!(names(&repository(&folder).join("blobs")).len(), 1);
    assert_eq!(names(&snapshot(&folder)), ["config.json"]);
}

/// Where the answer is given, with which token, what it is, how the program ends and what it says.
type Case<'c> = (&'c str, Option<&'c str>, Reply, i32, &'c [&'c str]);

#[test]
fn refusals_say_what_to_do() {
    let gated = "Access to model org/name is restricted";
    let cases: [Case; 9] = [
        // The hub hides from strangers what there is.
        (
            "api",
            None,
            Reply::new(401).with("X-Error-Message", &"Invalid username or password."),
            2,
            &["no model `org/name`", "HF_TOKEN", "no folder"],
        ),
        (
            "api",
            Some("hf_x"),
            Reply::error(404, "RepoNotFound", "Repository not found"),
            2,
            &["no model `org/name`"],
        ),
        (
            "api",
            None,
            Reply::error(404, "RevisionNotFound", "Invalid rev id: main"),
            2,
            &["no branch, tag or commit `main`"],
        ),
        (
            "resolve",
            None,
            Reply::error(401, "GatedRepo", gated),
            2,
            &[
                "gated",
                "accept its licence at http://127.0.0.1",
                "/org/name",
                "set HF_TOKEN",
                "restricted",
            ],
        ),
        (
            "resolve",
            Some("hf_x"),
            Reply::error(403, "GatedRepo", gated),
            2,
            &["gated", "the one that was sent"],
        ),
        ("resolve", Some("hf_x"), Reply::new(403), 2, &["gated"]),
        (
            "api",
            Some("hf_x"),
            Reply::new(401)
                .body(json!({"error": "Invalid credentials in Authorization header"}).to_string()),
            2,
            &["token is refused", "Invalid credentials", "settings/tokens"],
        ),
        (
            "resolve",
            None,
            Reply::error(404, "EntryNotFound", "Entry not found"),
            1,
            &["no file config.json"],
        ),
        (
            "api",
            None,
            Reply::error(403, "", "Access to this resource is disabled."),
            1,
            &["answered 403", "disabled"],
        ),
    ];
    for (place, token, answer, code, parts) in cases {
        let shown = format!("{answer:?}");
        let hub = Hub::with_fault(ID, &small(), move |request, _, reply| {
            if request.path.contains(place) {
                answer.clone()
            } else {
                reply
            }
        });
        let folder = Folder::new();
        let mut command = juror(&folder, &hub.endpoint, &["models", "pull", ID]);
        if let Some(token) = token {
            command.env("HF_TOKEN", token);
        }
        let ran = Ran::of(command.output().unwrap());
        ran.expect(code, parts);
        assert!(!ran.stderr.contains("hf_x"), "{shown}: {}", ran.stderr);
        assert!(!snapshot(&folder).join(WEIGHTS).exists());
        check_nothing_begun(&folder, &shown);
    }
    let hub = Hub::new(ID, &small());
    let folder = Folder::new();
    run(&folder, &hub, &["models", "pull", "org/name@nothing"])
        .expect(2, &["no branch, tag or commit `nothing`"]);
    run(&folder, &hub, &["models", "pull", "org/other"]).expect(2, &["no model `org/other`"]);
    run(
        &folder,
        &hub,
        &["judge", "--model", "org/other", "in.jsonl"],
    )
    .expect(2, &["no model `org/other`", "no folder"]);
    run(&folder, &hub, &["models", "pull", "org/name@a..b"])
        .expect(2, &["not a hub id", "revision"]);
    run(&folder, &hub, &["models", "pull", "gpt"])
        .expect(2, &["no model `gpt`", "org/name", "--known"]);
    run(&folder, &hub, &["models", "pull", "tiny"]).expect(0, &["built in"]);
}

#[test]
fn what_is_no_checkpoint_is_refused_before_it_is_fetched() {
    let folder = Folder::new();
    for (files, parts) in [
        (
            &["config.json", "pytorch_model.bin"][..],
            &[
                "pickled weights only (pytorch_model.bin)",
                "save_pretrained",
            ][..],
        ),
        (
            &["config.json", "model.Q4_K_M.gguf"],
            &["GGUF", "model.Q4_K_M.gguf"],
        ),
        (&["model.safetensors"], &["no config.json"]),
        (&["README.md"], &["no weights"]),
        (
            &["adapter_config.json", "adapter_model.safetensors"],
            &["an adapter only", "hf download org/name", "--adapter"],
        ),
        (
            &["config.json", "model.safetensors", "modules.json"],
            &["an embedding model", "take a chat model"],
        ),
    ] {
        let files: Vec<(&str, &[u8])> = files.iter().map(|&name| (name, &b"{}"[..])).collect();
        let hub = Hub::new(ID, &files);
        run(&folder, &hub, &["models", "pull", ID]).expect(2, parts);
        assert_eq!(hub.asked(), ["GET /api/models/org/name/revision/main"]);
    }
    // An adapter beside a whole model is told; it does not belong to the model.
    let hub = Hub::new(
        ID,
        &[small(), vec![("adapter_config.json", b"{}")]].concat(),
    );
    let note = "org/name holds an adapter beside the whole model";
    run(&Folder::new(), &hub, &["models", "pull", ID]).expect(0, &[note, "not applied"]);
    // The same in a folder. Nothing that is not there can be opened.
    fs::create_dir(folder.path("pickled")).unwrap();
    folder.write("pickled/config.json", TINY[0].1);
    folder.write("pickled/pytorch_model.bin", "\u{80}");
    let hub = Hub::new(ID, &[]);
    run(&folder, &hub, &["judge", "--model", "pickled", "in.jsonl"]).expect(
        2,
        &[
            "pickled: only pickled weights (pytorch_model.bin)",
            "save_pretrained",
        ],
    );
}

/// What the hub does, how it does it, and what is said of it.
type Evil<'e> = (&'e str, fn(&Request, Reply) -> Reply, &'e str);

#[test]
fn a_hostile_hub_writes_nothing_outside_the_cache() {
    let evil: [Evil; 11] = [
        (
            "a commit that is a path",
            |request, reply| {
                if request.path.starts_with("/api") {
                    Reply::new(200).body(
                        json!({"sha": "../../../evil", "siblings": [{"rfilename": "config.json"}]})
                            .to_string(),
                    )
                } else {
                    reply
                }
            },
            "not the hash of a commit",
        ),
        (
            "no description",
            |request, reply| {
                if request.path.starts_with("/api") {
                    Reply::new(200).body("<html>")
                } else {
                    reply
                }
            },
            "does not describe a model",
        ),
        (
            "a tag that is a path",
            |request, reply| {
                if request.path.contains("config.json") {
                    reply.with("ETag", &"\"../../../evil\"")
                } else {
                    reply
                }
            },
            "no ETag of a hub",
        ),
        (
            "a linked tag that is a path",
            |request, reply| {
                if request.path.contains(".safetensors") {
                    reply.with("X-Linked-Etag", &"\"/evil\"")
                } else {
                    reply
                }
            },
            "no ETag of a hub",
        ),
        (
            "no tag",
            |_, mut reply| {
                reply
                    .headers
                    .retain(|(name, _)| !name.to_lowercase().contains("etag"));
                reply
            },
            "no ETag",
        ),
        (
            "another commit",
            |request, reply| {
                if request.method == "HEAD" {
                    reply.with("X-Repo-Commit", &"f".repeat(40))
                } else {
                    reply
                }
            },
            "the answer is of ffff",
        ),
        (
            "a redirect to a file",
            |request, reply| {
                if request.method == "GET" && request.path.contains("resolve") {
                    Reply::new(302).with("Location", &"file:///etc/passwd")
                } else {
                    reply
                }
            },
            "sends on to `file:///etc/passwd`",
        ),
        (
            "a redirect without end",
            |request, reply| {
                if request.method == "GET" && request.path.contains("resolve") {
                    Reply::new(302).with("Location", &request.path.as_str())
                } else {
                    reply
                }
            },
            "sends on more than 10 times",
        ),
        (
            "more than it said",
            |request, reply| {
                if request.server == CDN {
                    Reply::new(200).body([TINY[4].1, b"more"].concat())
                } else {
                    reply
                }
            },
            "longer than the",
        ),
        (
            "without a length, and without end",
            |request, mut reply| {
                if request.method == "GET" && request.path.contains("cached=1") {
                    reply.body = vec![b' '; (256 << 20) + 1];
                }
                // The head of an answer in chunks has no length.
                if request.method == "HEAD" {
                    return reply.with("Transfer-Encoding", &"chunked");
                }
                reply
            },
            "longer than the 268435456 bytes",
        ),
        (
            "more than there is room for",
            |request, reply| {
                if request.path.contains(".safetensors") {
                    reply.with("X-Linked-Size", &(1_u64 << 60))
                } else {
                    reply
                }
            },
            "no room",
        ),
    ];
    for (what, fault, part) in evil {
        let hub = Hub::with_fault(ID, &small(), move |request, _, reply| fault(request, reply));
        let folder = Folder::new();
        let ran = run(&folder, &hub, &["models", "pull", ID]);
        ran.expect(1, &[part]);
        assert!(!ran.stderr.contains("Signature"), "{what}: {}", ran.stderr);
        check_confined(&folder, what);
        check_nothing_begun(&folder, what);
    }
    for shard in [
        "../../evil.safetensors",
        "/evil.safetensors",
        "a/b.safetensors",
        "config.bin",
        "config.json",
        "gone.safetensors",
        "..",
        "C:evil.safetensors",
    ] {
        let index = json!({"weight_map": {"x": shard}}).to_string();
        let files: [(&str, &[u8]); 4] = [
            ("config.json", CONFIG),
            ("model.safetensors.index.json", index.as_bytes()),
            ("config.bin", b"pickle"),
            ("../../evil.safetensors", b"evil"),
        ];
        let hub = Hub::new(ID, &files);
        let folder = Folder::new();
        run(&folder, &hub, &["models", "pull", ID])
            .expect(2, &["model.safetensors.index.json", shard]);
        check_confined(&folder, shard);
        assert!(
            !hub.asked()
                .iter()
                .any(|line| line.contains("evil") || line.contains(".bin")),
            "{:?}",
            hub.asked()
        );
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_told_and_what_came_is_kept() {
    let hub = Hub::new(ID, &small());
    let folder = Folder::new();
    // Every write to this device finds no room.
    let incomplete = leave_incomplete(&folder, b"");
    fs::remove_file(&incomplete).unwrap();
    std::os::unix::fs::symlink("/dev/full", &incomplete).unwrap();
    run(&folder, &hub, &["models", "pull", ID])
        .expect(1, &["no room in", "the disk is full", "HF_HUB_CACHE"]);
    assert_eq!(names(&snapshot(&folder)), ["config.json"]);
}

/// Nothing lies beside the cache, and in it nothing but what belongs there.
#[track_caller]
fn check_confined(folder: &Folder, what: &str) {
    for (place, allowed) in [
        (folder.path(""), &["hf"][..]),
        (folder.path("hf"), &["hub"]),
        (folder.path("hf/hub"), &[".locks", "models--org--name"]),
        (
            repository(folder),
            &[".no_exist", "blobs", "refs", "snapshots"],
        ),
        (repository(folder).join("snapshots"), &[COMMIT]),
    ] {
        for name in names(&place) {
            assert!(
                allowed.contains(&name.as_str()),
                "{what}: {name} in {}",
                place.display()
            );
        }
    }
}

/// What was refused has left no beginning of a file.
#[track_caller]
fn check_nothing_begun(folder: &Folder, what: &str) {
    let blobs = names(&repository(folder).join("blobs"));
    let begun = blobs.iter().any(|name| name.ends_with(".incomplete"));
    assert!(!begun, "{what}: {blobs:?}");
}
