//! Data sets of the hub as inputs.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::server::{CDN, COMMIT, CONVERTED, HUB, Hub, Reply, tag};
use super::{juror, names, run};
use crate::common::{Folder, Ran, rollouts};

const ID: &str = "org/name";
/// Rows of verl, with responses.
const PARQUET: &[u8] = include_bytes!("../../data/rows/verl.parquet");
const TEST: &str = "main/test-00000-of-00001.parquet";
const README: &[u8] = b"---\nconfigs:\n- config_name: main\n  data_files:\n  - split: train\n    path: main/train-*\n  - split: test\n    \
    path: main/test-*\n- config_name: other\n  data_files:\n  - split: test\n    path: rows.jsonl\n---\n# A data set\n";

fn snapshot(folder: &Folder, commit: &str) -> PathBuf {
    folder
        .path("hf/hub/datasets--org--name/snapshots")
        .join(commit)
}

/// Judges by rules alone: what is read is what matters.
fn judge<'a>(input: &'a str, out: &'a str) -> [&'a str; 6] {
    ["judge", input, "-o", out, "--rules", "only"]
}

fn offline(folder: &Folder, hub: &Hub, arguments: &[&str]) -> Ran {
    let mut command = juror(folder, &hub.endpoint, arguments);
    Ran::of(command.env("HF_HUB_OFFLINE", "1").output().unwrap())
}

#[test]
fn a_split_is_judged_as_its_files_are() {
    let rows = rollouts(5);
    let files = [
        ("README.md", README),
        (TEST, PARQUET),
        ("main/train-00000-of-00001.parquet", PARQUET),
        ("rows.jsonl", rows.as_bytes()),
    ];
    let hub = Hub::data_set(ID, &files, &[]);
    let folder = Folder::new();
    fs::create_dir_all(folder.path("hf")).unwrap();
    folder.write("hf/token", "hf_of_file\n");
    folder.write("local.parquet", PARQUET);
    folder.write("local.jsonl", &rows);
    for (local, name, config, file) in [
        ("local.parquet", "org/name:main:test", "main", TEST),
        ("local.jsonl", "org/name@v1:other", "other", "rows.jsonl"),
    ] {
        folder.run(&judge(local, "local.out.jsonl")).expect(0, &[]);
        let ran = run(&folder, &hub, &judge(name, "hub.jsonl"));
        let origin = format!("org/name@{COMMIT}:{config}:test");
        ran.expect(0, &[&format!("data set: {origin}"), "fetching org/name"]);
        assert_eq!(folder.read("hub.jsonl"), folder.read("local.out.jsonl"));
        let place = snapshot(&folder, COMMIT).join(file);
        assert!(place.is_file());
        #[cfg(unix)]
        {
            let up = "../".repeat(2 + file.matches('/').count());
            let content = files.iter().find(|(name, _)| *name == file).unwrap().1;
            assert_eq!(
                fs::read_link(place).unwrap(),
                PathBuf::from(format!("{up}blobs/{}", tag(file, content)))
            );
        }
        // With a journal beside the output the commit is in it, for a run that goes on.
        for out in ["hub.jsonl", "local.out.jsonl"] {
            for name in [out.to_owned(), format!("{out}.journal")] {
                let _ = fs::remove_file(folder.path(&name));
            }
        }
    }
    assert!(
        !snapshot(&folder, COMMIT)
            .join("main/train-00000-of-00001.parquet")
            .exists()
    );
    for request in hub.log() {
        let expected = (request.server == HUB).then_some("Bearer hf_of_file");
        assert_eq!(request.header("authorization"), expected, "{request:?}");
        assert!(!request.path.contains("train"), "{request:?}");
    }
    assert!(hub.log().iter().any(|request| request.server == CDN));
    // Nothing is fetched twice, and a whole commit that is there is not asked for.
    hub.forget();
    run(&folder, &hub, &judge("org/name:main:test", "again.jsonl")).expect(0, &[]);
    assert_eq!(hub.asked(), ["GET /api/datasets/org/name/revision/main"]);
    hub.forget();
    let pinned = format!("org/name@{COMMIT}:main:test");
    run(&folder, &hub, &judge(&pinned, "pinned.jsonl")).expect(0, &[]);
    assert_eq!(hub.asked(), Vec::<String>::new());
    assert_eq!(folder.read("pinned.jsonl"), folder.read("again.jsonl"));
    // It may stand beside files.
    folder
        .run(&[
            "judge",
            "local.parquet",
            "local.jsonl",
            "-o",
            "both.jsonl",
            "--rules",
            "only",
        ])
        .expect(0, &[]);
    run(
        &folder,
        &hub,
        &[
            "judge",
            "org/name:main:test",
            "local.jsonl",
            "-o",
            "mixed.jsonl",
            "--rules",
            "only",
        ],
    )
    .expect(0, &[]);
    assert_eq!(folder.read("mixed.jsonl"), folder.read("both.jsonl"));
}

#[test]
fn other_commands_read_data_sets_too() {
    let labelled: Vec<String> = rollouts(6)
        .lines()
        .map(|line| {
            let mut row: Value = serde_json::from_str(line).unwrap();
            row["outcome_label"] = json!(true);
            row.to_string()
        })
        .collect();
    let labelled = labelled.join("\n");
    let hub = Hub::data_set(ID, &[("test.jsonl", labelled.as_bytes())], &[]);
    let folder = Folder::new();
    folder.write("rows.jsonl", &labelled);
    folder.run(&judge("rows.jsonl", "out.jsonl")).expect(0, &[]);
    let scored = run(
        &folder,
        &hub,
        &[
            "eval",
            "out.jsonl",
            "--labels",
            "hf://datasets/org/name:test",
        ],
    );
    scored.expect(0, &["data set: org/name@"]);
    assert_eq!(
        scored.stdout,
        folder
            .run(&["eval", "out.jsonl", "--labels", "rows.jsonl"])
            .stdout
    );
    run(
        &folder,
        &hub,
        &["verify", "org/name", "-o", "answers.jsonl"],
    )
    .expect(0, &[]);
    run(&folder, &hub, &["prompts", "render", "org/name"]).expect(0, &["tokens: template"]);
    run(
        &folder,
        &hub,
        &["export-batch", "org/name:default:test", "-o", "batch.jsonl"],
    )
    .expect(0, &["6 requests"]);
}

#[test]
fn what_the_hub_converted_stands_in_for_other_formats() {
    let hub = Hub::data_set(
        ID,
        &[("README.md", b"# Text"), ("train.arrow", b"x")],
        &[("main/train/0000.parquet", PARQUET)],
    );
    let folder = Folder::new();
    let ran = run(&folder, &hub, &judge("org/name", "out.jsonl"));
    ran.expect(
        0,
        &[&format!(
            "data set: org/name@{CONVERTED}:main:train, as the hub converted it to Parquet"
        )],
    );
    assert!(
        snapshot(&folder, CONVERTED)
            .join("main/train/0000.parquet")
            .is_file()
    );
    offline(&folder, &hub, &judge("org/name:main:train", "again.jsonl")).expect(0, &[CONVERTED]);
    // Of another revision it is no copy.
    run(&folder, &hub, &judge("org/name@v1", "v1.jsonl")).expect(2, &["v1 has no files of rows"]);
    let nothing = Hub::data_set(ID, &[("train.arrow", b"x")], &[]);
    run(&Folder::new(), &nothing, &judge("org/name", "out.jsonl"))
        .expect(2, &["no files of rows", "refs/convert/parquet"]);
}

#[test]
fn what_is_missing_is_told_with_what_there_is() {
    let files = [
        ("README.md", README),
        (TEST, PARQUET),
        ("main/train-00000-of-00001.parquet", PARQUET),
        ("rows.jsonl", b"{}"),
    ];
    let hub = Hub::data_set(ID, &files, &[]);
    let folder = Folder::new();
    for (name, parts) in [
        (
            "org/name",
            vec![
                "data set org/name",
                "name one of its configurations",
                "main, other",
            ],
        ),
        (
            "org/name:main",
            vec!["name one of the splits", "train, test"],
        ),
        ("org/name:main:dev", vec!["no split `dev`", "train, test"]),
        (
            "org/name:mian:test",
            vec!["no configuration `mian`", "main, other"],
        ),
        (
            "org/name@v9:main:test",
            vec![
                "no branch, tag or commit `v9`",
                "/datasets/org/name/tree/main",
            ],
        ),
        (
            "org/nobody",
            vec![
                "has no data set `org/nobody`",
                "no file or folder",
                "/datasets/org/nobody",
            ],
        ),
        ("org/name:a:b:c", vec!["org/name:config:split"]),
        ("org/name@..", vec!["not a hub id"]),
    ] {
        run(&folder, &hub, &judge(name, "out.jsonl")).expect(2, &parts);
    }
    assert!(!folder.has("out.jsonl"));
    // A file that is not there stays that.
    fs::create_dir(folder.path("data")).unwrap();
    hub.forget();
    for missing in ["data/rollouts", "other/rollouts.jsonl", "rollouts"] {
        run(&folder, &hub, &["judge", missing]).expect(2, &["could not read", "No such file"]);
    }
    assert_eq!(hub.asked(), Vec::<String>::new());
    let gated = Hub::data_set_with_fault(ID, &files, |request, _, reply| {
        if request.path.contains("test-0") {
            Reply::error(
                401,
                "GatedRepo",
                "Access to data set org/name is restricted",
            )
        } else {
            reply
        }
    });
    run(&folder, &gated, &judge("org/name:main:test", "out.jsonl")).expect(
        2,
        &[
            "gated",
            "accept its licence at http://127.0.0.1",
            "/datasets/org/name",
            "set HF_TOKEN",
        ],
    );
}

#[test]
fn without_a_network_the_cache_has_what_was_fetched() {
    let files = [
        ("README.md", README),
        ("main/test-00000-of-00002.parquet", PARQUET),
        ("main/test-00001-of-00002.parquet", b"PAR1"),
    ];
    let hub = Hub::data_set(ID, &files, &[]);
    let folder = Folder::new();
    let test = judge("org/name:main:test", "out.jsonl");
    offline(&folder, &hub, &test).expect(
        2,
        &[
            "HF_HUB_OFFLINE",
            "has no org/name:main:test",
            "the same command",
        ],
    );
    // The second file is none, but it comes.
    run(&folder, &hub, &test).expect(2, &["main/test-00001-of-00002.parquet"]);
    hub.forget();
    offline(&folder, &hub, &test).expect(2, &["main/test-00001-of-00002.parquet"]);
    assert_eq!(hub.asked(), Vec::<String>::new());
    // What another program fetched has no note of what belongs to it, but the names of parts tell.
    fs::remove_dir_all(folder.path("hf/hub/datasets--org--name/.files")).unwrap();
    fs::remove_file(snapshot(&folder, COMMIT).join(files[2].0)).unwrap();
    offline(&folder, &hub, &test).expect(2, &["has no test-00001-of-00002"]);
    // A file that was changed is noticed, and fetched again where that can be.
    let place = fs::canonicalize(snapshot(&folder, COMMIT).join(files[1].0)).unwrap();
    let mut changed = PARQUET.to_vec();
    changed[100] ^= 1;
    let small = Hub::data_set(ID, &[("README.md", README), (TEST, PARQUET)], &[]);
    fs::write(&place, &changed).unwrap();
    let folder = Folder::new();
    run(&folder, &small, &test).expect(0, &[]);
    let place = fs::canonicalize(snapshot(&folder, COMMIT).join(TEST)).unwrap();
    fs::write(&place, &changed).unwrap();
    offline(&folder, &small, &judge("org/name:main:test", "other.jsonl"))
        .expect(2, &["damaged", "SHA-256", "HF_HUB_OFFLINE"]);
    run(&folder, &small, &judge("org/name:main:test", "other.jsonl")).expect(0, &["fetched again"]);
    assert!(fs::read(&place).unwrap() == PARQUET);
    // Cut off, the cache serves.
    let nobody = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let ran = Ran::of(
        juror(&folder, &nobody, &judge("org/name:main:test", "cut.jsonl"))
            .output()
            .unwrap(),
    );
    ran.expect(0, &["could not reach", "Taking the cache's files", COMMIT]);
}

#[test]
fn a_content_of_another_hash_is_no_input() {
    let hub = Hub::data_set_with_fault(ID, &[(TEST, PARQUET)], |request, _, reply| {
        if request.server == CDN {
            let mut wrong = PARQUET.to_vec();
            wrong[100] ^= 1;
            Reply::new(200).body(wrong)
        } else {
            reply
        }
    });
    let folder = Folder::new();
    run(&folder, &hub, &judge("org/name", "out.jsonl"))
        .expect(1, &["the SHA-256 of what came is", "deleted"]);
    assert_eq!(
        names(&folder.path("hf/hub/datasets--org--name/blobs")),
        Vec::<String>::new()
    );
}

/// A run that was stopped says which commit it judged.
#[test]
fn a_journal_names_the_commit() {
    let long = rollouts(1).replace("Tom", &"Tom ".repeat(4000));
    let hub = Hub::data_set(ID, &[("test.jsonl", long.as_bytes())], &[]);
    let folder = Folder::new();
    run(&folder, &hub, &["judge", "org/name", "-o", "out.jsonl"]).expect(3, &[]);
    let journal = folder.read("out.jsonl.journal");
    assert!(
        journal.contains(&format!(
            "\"data_origin\":\"org/name@{COMMIT}:default:test\""
        )),
        "{journal}"
    );
}

/// The questions and answers of GSM8K, as they are on the hub.
#[test]
fn a_test_set_may_be_a_data_set() {
    let rows = |row: fn(u32) -> Value| {
        let rows: Vec<String> = (2..5).map(|number| row(number).to_string()).collect();
        rows.join("\n")
    };
    let set = rows(
        |number| json!({"question": format!("1 + {number}?"), "answer": format!("It is so.\n#### {}", number + 1)}),
    );
    let responses =
        rows(|number| json!({"question": format!("1 + {number}?"), "response": "The sum. #### 4"}));
    let hub = Hub::data_set(
        ID,
        &[
            ("README.md", README),
            ("main/test-00000.jsonl", set.as_bytes()),
        ],
        &[],
    );
    let folder = Folder::new();
    folder.write("responses.jsonl", responses);
    folder.write("set.jsonl", set);
    let score = |data: &str| {
        let ran = run(
            &folder,
            &hub,
            &[
                "gsm8k",
                "responses.jsonl",
                "--data",
                data,
                "--json",
                "out.json",
            ],
        );
        ran.expect(0, &[]);
        let report: Value = serde_json::from_str(&folder.read("out.json")).unwrap();
        report
    };
    let origin = format!("org/name@{COMMIT}:main:test");
    let of_hub = score("org/name:main:test").to_string();
    assert!(of_hub.contains(&origin), "{of_hub}");
    assert_eq!(
        of_hub.replace(&origin, "set.jsonl"),
        score("set.jsonl").to_string()
    );
}
