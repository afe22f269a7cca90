//! Models and data sets from a hub: the real binary against a server on this machine that speaks the hub's protocol.

mod contents;
mod data_sets;
mod gguf_file;
#[path = "../../common/gguf_writer.rs"]
#[allow(dead_code, reason = "one file is enough here")]
mod gguf_writer;
mod patience;
mod refusals;
mod resumption;
pub(crate) mod server;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Folder, Ran, rollouts, words};
use server::{CDN, COMMIT, HUB, Hub, Reply, Request, tag};

const ID: &str = "org/name";
const CONFIG: &[u8] = include_bytes!("../../data/checkpoints/qwen3-untied/config.json");
const INDEX: &[u8] =
    include_bytes!("../../data/checkpoints/qwen3-untied/model.safetensors.index.json");
const SHARDS: [(&str, &[u8]); 3] = [
    (
        "model-00001-of-00003.safetensors",
        include_bytes!("../../data/checkpoints/qwen3-untied/model-00001-of-00003.safetensors"),
    ),
    (
        "model-00002-of-00003.safetensors",
        include_bytes!("../../data/checkpoints/qwen3-untied/model-00002-of-00003.safetensors"),
    ),
    (
        "model-00003-of-00003.safetensors",
        include_bytes!("../../data/checkpoints/qwen3-untied/model-00003-of-00003.safetensors"),
    ),
];
/// The files of the embedded judge.
const TINY: [(&str, &[u8]); 6] = [
    (
        "config.json",
        include_bytes!("../../../models/tiny/config.json"),
    ),
    (
        "generation_config.json",
        include_bytes!("../../../models/tiny/generation_config.json"),
    ),
    (
        "tokenizer.json",
        include_bytes!("../../../models/tiny/tokenizer.json"),
    ),
    (
        "tokenizer_config.json",
        include_bytes!("../../../models/tiny/tokenizer_config.json"),
    ),
    (
        "model.safetensors",
        include_bytes!("../../../models/tiny/model.safetensors"),
    ),
    (
        "judge.json",
        include_bytes!("../../../models/tiny/judge.json"),
    ),
];
const WEIGHTS: &str = "model.safetensors";

/// One small checkpoint whose weights are of no use, large enough to be cut in pieces.
fn small() -> Vec<(&'static str, &'static [u8])> {
    vec![("config.json", CONFIG), (WEIGHTS, TINY[4].1)]
}

fn sharded() -> Vec<(&'static str, &'static [u8])> {
    let mut files = vec![
        ("config.json", CONFIG),
        ("model.safetensors.index.json", INDEX),
    ];
    files.extend(SHARDS);
    files
}

/// `juror` in a folder with a cache of its own, and with nothing of the caller's hub.
fn juror(folder: &Folder, hub: &str, arguments: &[&str]) -> Command {
    let mut command = folder.juror(arguments);
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().to_uppercase();
        if name.starts_with("HF_")
            || name.contains("PROXY")
            || name.contains("HUGGING")
            || name.contains("OFFLINE")
        {
            command.env_remove(name);
        }
    }
    command
        .env_remove("http_proxy")
        .env_remove("all_proxy")
        .env("HF_ENDPOINT", hub)
        .env("HF_HOME", folder.path("hf"));
    command
}

fn run(folder: &Folder, hub: &Hub, arguments: &[&str]) -> Ran {
    Ran::of(juror(folder, &hub.endpoint, arguments).output().unwrap())
}

fn repository(folder: &Folder) -> PathBuf {
    folder.path("hf/hub/models--org--name")
}

fn snapshot(folder: &Folder) -> PathBuf {
    repository(folder).join("snapshots").join(COMMIT)
}

fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Writes what an interrupted download would have left.
fn leave_incomplete(folder: &Folder, content: &[u8]) -> PathBuf {
    let blobs = repository(folder).join("blobs");
    fs::create_dir_all(&blobs).unwrap();
    let path = blobs.join(format!("{}.incomplete", tag(WEIGHTS, TINY[4].1)));
    fs::write(&path, content).unwrap();
    path
}

/// The weights have come whole, and nothing is left of the way there.
#[track_caller]
fn check_weights(folder: &Folder) {
    assert!(fs::read(snapshot(folder).join(WEIGHTS)).unwrap() == TINY[4].1);
    let left = names(&repository(folder).join("blobs"));
    assert!(
        !left.iter().any(|name| name.contains("incomplete")),
        "{left:?}"
    );
}

fn is_weights(request: &Request, server: &str) -> bool {
    request.server == server && request.method == "GET" && request.path.contains(WEIGHTS)
}

#[test]
fn a_pull_fetches_what_a_judge_needs_and_lays_it_out_as_others_do() {
    let mut files = TINY.to_vec();
    files.extend([
        ("README.md", &b"# Hello"[..]),
        ("pytorch_model.bin", &b"pickle"[..]),
        ("original/model.safetensors", &b"again"[..]),
        (".gitattributes", &b"*"[..]),
    ]);
    let hub = Hub::new(ID, &files);
    let folder = Folder::new();
    let pulled = run(&folder, &hub, &["models", "pull", ID]);
    pulled.expect(
        0,
        &[
            "org/name at commit 0123456789abcdef",
            "6 files",
            "fetched now",
        ],
    );
    assert_eq!(Path::new(pulled.stdout.trim_end()), snapshot(&folder));
    let needed: Vec<&str> = TINY.iter().map(|(name, _)| *name).collect();
    let mut sorted = needed.clone();
    sorted.sort_unstable();
    assert_eq!(names(&snapshot(&folder)), sorted);
    for (name, content) in TINY {
        let link = snapshot(&folder).join(name);
        assert!(fs::read(&link).unwrap() == content, "{name}");
        #[cfg(unix)]
        assert_eq!(
            fs::read_link(&link).unwrap(),
            Path::new("../../blobs").join(tag(name, content))
        );
    }
    assert_eq!(
        fs::read_to_string(repository(&folder).join("refs/main")).unwrap(),
        COMMIT
    );
    assert_eq!(
        names(&repository(&folder).join(".no_exist").join(COMMIT)),
        [
            "chat_template.jinja",
            "chat_template.json",
            "special_tokens_map.json"
        ]
    );
    for unwanted in [
        "README.md",
        "pytorch_model.bin",
        "original",
        ".gitattributes",
        "chat_template",
    ] {
        assert!(
            !hub.asked().iter().any(|line| line.contains(unwanted)),
            "{unwanted}: {:?}",
            hub.asked()
        );
    }
    // Nothing is fetched twice, and a whole commit that is there is not even asked for.
    hub.forget();
    run(&folder, &hub, &["models", "pull", ID]).expect(0, &["all of it there already"]);
    assert_eq!(hub.asked(), ["GET /api/models/org/name/revision/main"]);
    hub.forget();
    let commit = format!("{ID}@{COMMIT}");
    run(&folder, &hub, &["models", "pull", &commit]).expect(0, &["all of it there already"]);
    assert_eq!(hub.asked(), Vec::<String>::new());
    // Nor where an earlier version has fetched it, which did not ask for all of today's files.
    let absent = repository(&folder).join(".no_exist").join(COMMIT);
    fs::remove_file(absent.join("chat_template.json")).unwrap();
    run(&folder, &hub, &["models", "pull", &commit]).expect(0, &["all of it there already"]);
    assert_eq!(hub.asked(), Vec::<String>::new());
    // A blob that was deleted comes again.
    let weights = repository(&folder)
        .join("blobs")
        .join(tag(WEIGHTS, TINY[4].1));
    fs::remove_file(&weights).unwrap();
    run(&folder, &hub, &["models", "pull", &commit]).expect(0, &["fetched now"]);
    check_weights(&folder);
}

#[test]
fn a_model_of_the_hub_judges_as_the_same_files_elsewhere_do() {
    let hub = Hub::new(ID, &TINY);
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(3));
    let judge = |model: &str, out: &str| {
        let arguments = format!("judge in.jsonl -o {out} --model {model} --max-new-tokens 400");
        let mut arguments = words(&arguments);
        if model == "tiny" {
            arguments.push("--no-kept-prefix");
        }
        run(&folder, &hub, &arguments).expect(0, &[]);
        folder.read(out)
    };
    let embedded = judge("tiny", "tiny.jsonl");
    assert_eq!(judge("org/name@refs/pr/1", "hub.jsonl"), embedded);
    assert_eq!(
        fs::read_to_string(repository(&folder).join("refs/refs/pr/1")).unwrap(),
        COMMIT
    );
    let listed = run(&folder, &hub, &["models", "list"]).stdout;
    let line = listed.lines().find(|line| line.starts_with(ID)).unwrap();
    for part in ["refs/pr/1", "0123456789ab", "9.8 MB", "Qwen3, "] {
        assert!(line.contains(part), "{part}: {line}");
    }

    // The journal of a run that goes on says which commit it was. Here it was stopped by the size of its samples.
    let long = rollouts(1).replace("Tom", &"Tom ".repeat(4000));
    folder.write("long.jsonl", &long);
    let journalled = words("judge long.jsonl -o long-out.jsonl --model org/name@v1");
    run(&folder, &hub, &journalled).expect(3, &[]);
    let journal = folder.read("long-out.jsonl.journal");
    assert!(
        journal.contains(&format!("\"model_origin\":\"org/name@{COMMIT}\"")),
        "{journal}"
    );

    let shown = run(&folder, &hub, &["models", "show", ID]);
    shown.expect(0, &[]);
    let of_tiny = run(&folder, &hub, &["models", "show"]).stdout;
    assert_eq!(
        shown.stdout,
        format!(" from the hub  org/name@{COMMIT}\n{of_tiny}")
    );
}

#[test]
fn showing_a_model_needs_no_weights() {
    let hub = Hub::new(ID, &TINY);
    let folder = Folder::new();
    let shown = run(&folder, &hub, &["models", "show", ID]);
    shown.expect(0, &[]);
    for part in [
        "family  Qwen3",
        "KV cache",
        "chat template  there",
        "not fetched",
        "protocol  prime",
    ] {
        assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
    }
    folder.write("in.jsonl", rollouts(1));
    run(
        &folder,
        &hub,
        &["prompts", "render", "in.jsonl", "--model", ID],
    )
    .expect(0, &["tokens: template"]);
    run(
        &folder,
        &hub,
        &["judge", "in.jsonl", "--dry-run", "--model", ID],
    )
    .expect(0, &[]);
    assert!(
        !hub.asked().iter().any(|line| line.contains(WEIGHTS)),
        "{:?}",
        hub.asked()
    );
    // What came without weights is not taken for whole.
    let listed = run(&folder, &hub, &["models", "list"]).stdout;
    assert!(
        listed.contains("incomplete, without model.safetensors"),
        "{listed}"
    );
    run(
        &folder,
        &hub,
        &["models", "pull", &format!("{ID}@{COMMIT}")],
    )
    .expect(0, &["fetched now"]);
    check_weights(&folder);
}

#[test]
fn shards_come_side_by_side_by_the_index() {
    let hub = Hub::new(ID, &sharded());
    let folder = Folder::new();
    run(&folder, &hub, &["models", "pull", "org/name@v1"])
        .expect(0, &["org/name@v1 at commit", "5 files"]);
    for (name, content) in SHARDS {
        assert!(
            fs::read(snapshot(&folder).join(name)).unwrap() == content,
            "{name}"
        );
    }
    run(&folder, &hub, &["models", "list"]).expect(0, &[]);
    let listed = run(&folder, &hub, &["models", "list"]).stdout;
    assert!(listed.contains("v1"), "{listed}");
}

#[test]
fn an_alias_is_an_id() {
    let hub = Hub::new("opencompass/CompassVerifier-7B", &TINY);
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(1));
    let judged = words("judge in.jsonl -o out.jsonl --model compass-7b --force-domain");
    // Asked under its own protocol, for which the weights behind the alias here were not made.
    run(&folder, &hub, &judged).expect(0, &["knows no other prompt"]);
    assert!(
        folder
            .path("hf/hub/models--opencompass--CompassVerifier-7B")
            .is_dir()
    );
    let shown = run(&folder, &hub, &["models", "show", "compass-7b"]).stdout;
    for part in [
        "known as  compass-7b",
        "protocol  compass",
        "recommended  greedy",
        "licence  ",
        "family  Qwen3",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let known = run(&folder, &hub, &["models", "list", "--known"]).stdout;
    for part in [
        "compass-7b ",
        "IAAR-Shanghai/xVerify-8B-I",
        "45.92",
        "first-error",
        "gpt-oss-20b",
    ] {
        assert!(known.contains(part), "{part}: {known}");
    }
    // What is known is told also where the model cannot be had.
    let unknown = run(&folder, &hub, &["models", "show", "gpt-oss-20b"]);
    unknown.expect(2, &["no model `openai/gpt-oss-20b`"]);
    assert!(unknown.stdout.contains("36.83"), "{}", unknown.stdout);
}

#[test]
fn the_token_goes_to_the_hub_alone() {
    let hub = Hub::new(ID, &small());
    let folder = Folder::new();
    fs::create_dir_all(folder.path("hf")).unwrap();
    folder.write("hf/token", "hf_of_file\n");
    run(&folder, &hub, &["models", "pull", ID]).expect(0, &[]);
    let mut servers = Vec::new();
    for request in hub.log() {
        let expected = (request.server == HUB).then_some("Bearer hf_of_file");
        assert_eq!(request.header("authorization"), expected, "{request:?}");
        servers.push(request.server);
    }
    assert!(servers.contains(&HUB) && servers.contains(&CDN));
}

#[test]
fn a_mirror_that_sends_on_for_good_is_followed_without_the_token() {
    for status in [308, 301] {
        let hub = Hub::new(ID, &small());
        let elsewhere = hub.endpoint.clone();
        let mirror = Hub::with_fault(ID, &small(), move |request, _, _| {
            Reply::new(status).with("Location", &format!("{elsewhere}{}", request.path))
        });
        let folder = Folder::new();
        fs::create_dir_all(folder.path("hf")).unwrap();
        folder.write("hf/token", "hf_of_file\n");
        run(&folder, &mirror, &["models", "pull", ID]).expect(0, &["fetched now"]);
        check_weights(&folder);
        assert!(!hub.log().is_empty() && !mirror.log().is_empty());
        for request in hub.log() {
            assert_eq!(request.header("authorization"), None, "{request:?}");
        }
        for request in mirror.log() {
            let expected = (request.server == HUB).then_some("Bearer hf_of_file");
            assert_eq!(request.header("authorization"), expected, "{request:?}");
        }
    }
}

#[test]
fn a_cache_serves_where_there_is_no_network() {
    let hub = Hub::new(ID, &TINY);
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(1));
    let offline = |arguments: &[&str]| {
        let mut command = juror(&folder, &hub.endpoint, arguments);
        Ran::of(command.env("HF_HUB_OFFLINE", "1").output().unwrap())
    };
    let judged = ["judge", "in.jsonl", "-o", "out.jsonl", "--model", ID];
    offline(&judged).expect(
        2,
        &[
            "HF_HUB_OFFLINE",
            "has no org/name",
            "juror models pull org/name",
        ],
    );
    run(&folder, &hub, &["models", "show", ID]).expect(0, &[]);
    offline(&judged).expect(2, &["HF_HUB_OFFLINE", "no model.safetensors of org/name"]);
    run(&folder, &hub, &["models", "pull", ID]).expect(0, &[]);
    hub.forget();
    offline(&judged).expect(0, &[]);
    offline(&["models", "pull", ID]).expect(0, &["already"]);
    offline(&["models", "pull", "org/name@0123456"]).expect(0, &["already"]);
    offline(&["models", "pull", "org/name@v1"]).expect(2, &["has no org/name@v1"]);
    assert_eq!(hub.asked(), Vec::<String>::new());

    // A port that nobody listens to.
    let nobody = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let cut_off =
        |arguments: &[&str]| Ran::of(juror(&folder, &nobody, arguments).output().unwrap());
    fs::remove_file(folder.path("out.jsonl")).unwrap();
    cut_off(&judged).expect(
        0,
        &[
            "could not reach 127.0.0.1",
            "Taking org/name as the cache has it",
            COMMIT,
        ],
    );
    cut_off(&["models", "pull", ID]).expect(1, &["could not reach 127.0.0.1", "check the network"]);
    cut_off(&["models", "pull", "org/other"]).expect(1, &["could not reach 127.0.0.1"]);
}

#[test]
#[cfg(unix)]
fn what_python_fetched_is_there() {
    let folder = Folder::new();
    let blobs = repository(&folder).join("blobs");
    fs::create_dir_all(&blobs).unwrap();
    fs::create_dir_all(snapshot(&folder)).unwrap();
    fs::create_dir_all(repository(&folder).join("refs")).unwrap();
    fs::write(repository(&folder).join("refs/main"), COMMIT).unwrap();
    for (name, content) in TINY {
        let tag = tag(name, content);
        fs::write(blobs.join(&tag), content).unwrap();
        std::os::unix::fs::symlink(format!("../../blobs/{tag}"), snapshot(&folder).join(name))
            .unwrap();
    }
    let hub = Hub::new(ID, &TINY);
    run(&folder, &hub, &["models", "pull", ID]).expect(0, &["all of it there already"]);
    assert_eq!(hub.asked(), ["GET /api/models/org/name/revision/main"]);
    // A blob without its link is not fetched either.
    fs::remove_file(snapshot(&folder).join(WEIGHTS)).unwrap();
    hub.forget();
    run(&folder, &hub, &["models", "pull", ID]).expect(0, &["all of it there already"]);
    assert!(
        !hub.asked().iter().any(|line| line.starts_with("GET /lfs")),
        "{:?}",
        hub.asked()
    );
    check_weights(&folder);
}
