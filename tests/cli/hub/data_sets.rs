//! Data sets of the hub as inputs.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::data_type::{BoolType, ByteArray, ByteArrayType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use serde_json::{Map, Value, json};

use super::server::{CDN, COMMIT, CONVERTED, HUB, Hub, Reply, tag};
use super::{juror, names, run};
use crate::common::{Folder, Ran, rollouts, words};

const ID: &str = "org/name";
/// Rows of verl, with responses.
const PARQUET: &[u8] = include_bytes!("../../data/rows/verl.parquet");
const TEST: &str = "main/test/0000.parquet";
const ADVICE: &str =
    "fetch its files with `hf download org/name --repo-type dataset`, and give them by path";

fn repository(folder: &Folder) -> PathBuf {
    folder.path("hf/hub/datasets--org--name")
}

fn snapshot(folder: &Folder, commit: &str) -> PathBuf {
    repository(folder).join("snapshots").join(commit)
}

/// Judges by rules alone: what is read is what matters.
fn judge<'a>(input: &'a str, out: &'a str) -> [&'a str; 6] {
    ["judge", input, "-o", out, "--rules", "only"]
}

fn offline(folder: &Folder, hub: &Hub, arguments: &[&str]) -> Ran {
    let mut command = juror(folder, &hub.endpoint, arguments);
    Ran::of(command.env("HF_HUB_OFFLINE", "1").output().unwrap())
}

/// Where nobody answers.
fn cut_off(folder: &Folder, arguments: &[&str]) -> Ran {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    Ran::of(juror(folder, &nobody, arguments).output().unwrap())
}

/// Rows of texts and truth values, as JSON lines, in a Parquet file.
fn parquet(lines: &str) -> Vec<u8> {
    let rows: Vec<Map<String, Value>> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kind = |value: &Value| match value {
        Value::Bool(_) => "BOOLEAN",
        _ => "BYTE_ARRAY",
    };
    let columns: Vec<String> = rows[0]
        .iter()
        .map(|(name, value)| match kind(value) {
            "BOOLEAN" => format!("REQUIRED BOOLEAN {name};"),
            other => format!("REQUIRED {other} {name} (UTF8);"),
        })
        .collect();
    let schema = parse_message_type(&format!("message rows {{ {} }}", columns.join(" "))).unwrap();
    let mut file = Vec::new();
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(&mut file, Arc::new(schema), properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for (name, first) in &rows[0] {
        let mut column = group.next_column().unwrap().unwrap();
        let values = rows.iter().map(|row| &row[name]);
        if first.is_boolean() {
            let values: Vec<bool> = values.map(|value| value.as_bool().unwrap()).collect();
            let typed = column.typed::<BoolType>();
            typed.write_batch(&values, None, None).unwrap();
        } else {
            let values: Vec<ByteArray> =
                values.map(|value| value.as_str().unwrap().into()).collect();
            let typed = column.typed::<ByteArrayType>();
            typed.write_batch(&values, None, None).unwrap();
        }
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    file
}

#[test]
fn a_split_is_judged_as_its_files_are() {
    let rows = rollouts(5);
    let other = parquet(&rows);
    let original = [("README.md", &b"# Text"[..]), ("train.arrow", b"x")];
    let files = [
        (".gitattributes", &b"*"[..]),
        (TEST, PARQUET),
        ("main/train/0000.parquet", b"PAR1"),
        ("other/test/0000.parquet", &other),
    ];
    let hub = Hub::data_set(ID, &original, &files);
    let folder = Folder::new();
    fs::create_dir_all(folder.path("hf")).unwrap();
    folder.write("hf/token", "hf_of_file\n");
    folder.write("local.parquet", PARQUET);
    folder.write("local.jsonl", &rows);
    for (local, name, config, file) in [
        ("local.parquet", "org/name:main:test", "main", TEST),
        ("local.jsonl", "org/name@main:other", "other", files[3].0),
    ] {
        folder.run(&judge(local, "local.out.jsonl")).expect(0, &[]);
        let ran = run(&folder, &hub, &judge(name, "hub.jsonl"));
        let origin = format!("org/name@{CONVERTED}:{config}:test");
        let told = format!("data set: {origin}, as the hub converted it to Parquet\n");
        ran.expect(0, &[&told, "fetching org/name"]);
        assert_eq!(folder.read("hub.jsonl"), folder.read("local.out.jsonl"));
        let place = snapshot(&folder, CONVERTED).join(file);
        assert!(place.is_file());
        #[cfg(unix)]
        {
            let content = files.iter().find(|(name, _)| *name == file).unwrap().1;
            assert_eq!(
                fs::read_link(place).unwrap(),
                Path::new("../../../../blobs").join(tag(file, content))
            );
        }
        // With a journal beside the output the commit is in it, for a run that goes on.
        for out in ["hub.jsonl", "local.out.jsonl"] {
            for name in [out.to_owned(), format!("{out}.journal")] {
                let _ = fs::remove_file(folder.path(&name));
            }
        }
    }
    for request in hub.log() {
        let expected = (request.server == HUB).then_some("Bearer hf_of_file");
        assert_eq!(request.header("authorization"), expected, "{request:?}");
        assert!(!request.path.contains("train"), "{request:?}");
    }
    assert!(hub.log().iter().any(|request| request.server == CDN));
    // Nothing is fetched twice, and a whole commit that is there is not asked for.
    hub.forget();
    run(&folder, &hub, &judge("org/name:main:test", "again.jsonl")).expect(0, &[]);
    assert_eq!(
        hub.asked(),
        ["GET /api/datasets/org/name/revision/refs%2Fconvert%2Fparquet"]
    );
    hub.forget();
    let pinned = format!("org/name@{CONVERTED}:main:test");
    run(&folder, &hub, &judge(&pinned, "pinned.jsonl")).expect(0, &[]);
    assert_eq!(hub.asked(), Vec::<String>::new());
    assert_eq!(folder.read("pinned.jsonl"), folder.read("again.jsonl"));
    // The commit that is told fetches the same elsewhere.
    run(&Folder::new(), &hub, &judge(&pinned, "pinned.jsonl")).expect(0, &[&pinned]);
    // It may stand beside files.
    let both = |first: &'static str, out: &'static str| {
        let mut arguments = judge(first, out).to_vec();
        arguments.insert(2, "local.jsonl");
        run(&folder, &hub, &arguments).expect(0, &[]);
        folder.read(out)
    };
    assert_eq!(
        both("org/name:main:test", "mixed.jsonl"),
        both("local.parquet", "both.jsonl")
    );
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
    let file = parquet(&labelled);
    let hub = Hub::data_set(ID, &[], &[("default/test/0000.parquet", &file)]);
    let folder = Folder::new();
    folder.write("rows.jsonl", &labelled);
    folder.run(&judge("rows.jsonl", "out.jsonl")).expect(0, &[]);
    let scored = |labels: &str| run(&folder, &hub, &["eval", "out.jsonl", "--labels", labels]);
    let of_hub = scored("hf://datasets/org/name:test");
    of_hub.expect(0, &["data set: org/name@"]);
    assert_eq!(of_hub.stdout, scored("rows.jsonl").stdout);
    for (arguments, part) in [
        (
            &["verify", "org/name", "-o", "answers.jsonl"][..],
            "data set: ",
        ),
        (&["prompts", "render", "org/name"], "tokens: template"),
        (
            &words("batch export org/name:default:test -o batch.jsonl"),
            "6 requests",
        ),
    ] {
        run(&folder, &hub, arguments).expect(0, &[part]);
    }
}

#[test]
fn a_split_that_the_hub_cut_short_is_told_each_time() {
    let first = parquet(&rollouts(3));
    let file = "en/partial-train/0000.parquet";
    let hub = Hub::data_set(
        ID,
        &[],
        &[(file, &first), ("en/test/0000.parquet", PARQUET)],
    );
    let folder = Folder::new();
    let origin = format!("org/name@{CONVERTED}:en:partial-train");
    let told =
        format!("{origin} is cut short: of a large split the hub converts the beginning alone");
    for (name, out) in [
        ("org/name:en:train", "out.jsonl"),
        ("org/name:en:partial-train", "again.jsonl"),
    ] {
        let ran = run(&folder, &hub, &judge(name, out));
        ran.expect(0, &[&told, ADVICE, &format!("data set: {origin}")]);
        assert_eq!(folder.read(out).lines().count(), 3);
    }
    offline(&folder, &hub, &judge(&origin, "offline.jsonl")).expect(0, &[&told]);
    run(&folder, &hub, &judge("org/name:en", "none.jsonl")).expect(2, &["partial-train, test"]);
    let whole = run(&folder, &hub, &judge("org/name:en:test", "test.jsonl"));
    assert!(!whole.expect(0, &[]).stderr.contains("cut short"));
}

#[test]
fn what_the_hub_did_not_convert_is_had_by_path() {
    let original = [("README.md", &b"# Text"[..]), ("train.jsonl", b"{}")];
    let hub = Hub::data_set(ID, &original, &[]);
    let folder = Folder::new();
    let main = judge("org/name:default:train", "out.jsonl");
    run(&folder, &hub, &main).expect(
        2,
        &[
            "converted none of it to Parquet (refs/convert/parquet)",
            ADVICE,
        ],
    );
    for revision in ["v1", COMMIT] {
        run(
            &folder,
            &hub,
            &judge(&format!("org/name@{revision}"), "out.jsonl"),
        )
        .expect(
            2,
            &[
                "the default branch alone",
                &format!("leave `@{revision}` out"),
                &format!("--repo-type dataset --revision {revision}`"),
            ],
        );
    }
    assert!(!repository(&folder).exists());
    // What that command leaves in the cache: its folder is told, where no names tell the splits.
    let place = snapshot(&folder, COMMIT);
    fs::create_dir_all(place.join("data")).unwrap();
    fs::create_dir_all(repository(&folder).join("refs")).unwrap();
    fs::write(repository(&folder).join("refs/main"), COMMIT).unwrap();
    fs::write(place.join("train.jsonl"), "{}").unwrap();
    let told = format!("give them by path, from {}", place.display());
    run(&folder, &hub, &main).expect(2, &[&told]);
    offline(&folder, &hub, &main).expect(2, &[&told]);
    cut_off(&folder, &main).expect(1, &["could not reach"]);
    // Files that Python's `datasets` pushed have names that do.
    fs::write(place.join("data/train-00000-of-00002.parquet"), PARQUET).unwrap();
    offline(&folder, &hub, &main).expect(2, &["has no train-00001-of-00002"]);
    run(&folder, &hub, &main).expect(
        2,
        &["converted none", "the cache has no train-00001-of-00002"],
    );
    fs::rename(
        place.join("data/train-00000-of-00002.parquet"),
        place.join("data/train-00000-of-00001.parquet"),
    )
    .unwrap();
    let origin = format!("data set: org/name@{COMMIT}:default:train\n");
    let taken = ["Taking the cache's files", &origin];
    run(&folder, &hub, &main).expect(0, &[&["converted none of it"][..], &taken].concat());
    fs::remove_file(folder.path("out.jsonl")).unwrap();
    cut_off(&folder, &main).expect(0, &[&["could not reach"][..], &taken].concat());
    fs::remove_file(folder.path("out.jsonl")).unwrap();
    hub.forget();
    offline(&folder, &hub, &main).expect(0, &[&origin]);
    let pinned = format!("org/name@{COMMIT}:default:train");
    run(&folder, &hub, &judge(&pinned, "pinned.jsonl")).expect(0, &[&origin]);
    assert_eq!(hub.asked(), Vec::<String>::new());
    // Once the hub has converted it, that counts.
    let hub = Hub::data_set(ID, &original, &[("default/train/0000.parquet", PARQUET)]);
    run(&folder, &hub, &judge("org/name", "new.jsonl")).expect(0, &[CONVERTED]);
}

#[test]
fn what_is_missing_is_told_with_what_there_is() {
    let files = [
        (TEST, PARQUET),
        ("main/train/0000.parquet", PARQUET),
        ("other/test/0000.parquet", b"PAR1"),
        ("other/train/0001.parquet", b"PAR1"),
    ];
    let hub = Hub::data_set(ID, &[("README.md", b"# Text")], &files);
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
            vec!["name one of the splits", "test, train"],
        ),
        ("org/name:main:dev", vec!["no split `dev`", "test, train"]),
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
        (
            "org/name:other:train",
            vec!["no train/0000.parquet", "try again later"],
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
        if request.path.contains("/test/") {
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
    let files = [(TEST, PARQUET), ("main/test/0001.parquet", &b"PAR1"[..])];
    let hub = Hub::data_set(ID, &[], &files);
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
    run(&folder, &hub, &test).expect(2, &["main/test/0001.parquet"]);
    hub.forget();
    offline(&folder, &hub, &test).expect(2, &["main/test/0001.parquet"]);
    assert_eq!(hub.asked(), Vec::<String>::new());
    // What another program fetched has no note of what belongs to it, but the numbers of its files tell.
    fs::remove_file(snapshot(&folder, CONVERTED).join(TEST)).unwrap();
    offline(&folder, &hub, &test).expect(2, &["has no main/test/0000.parquet of org/name"]);
    fs::remove_dir_all(repository(&folder).join(".files")).unwrap();
    offline(&folder, &hub, &test).expect(2, &["has no test/0000.parquet of org/name"]);
    // A file that was changed is noticed, and fetched again where that can be.
    let small = Hub::data_set(ID, &[], &files[..1]);
    let folder = Folder::new();
    run(&folder, &small, &test).expect(0, &[]);
    let place = fs::canonicalize(snapshot(&folder, CONVERTED).join(TEST)).unwrap();
    let mut changed = PARQUET.to_vec();
    changed[100] ^= 1;
    fs::write(&place, &changed).unwrap();
    let other = judge("org/name:main:test", "other.jsonl");
    offline(&folder, &small, &other).expect(2, &["damaged", "SHA-256", "HF_HUB_OFFLINE"]);
    run(&folder, &small, &other).expect(0, &["fetched again"]);
    assert!(fs::read(&place).unwrap() == PARQUET);
    // Cut off, the cache serves.
    cut_off(&folder, &judge("org/name:main:test", "cut.jsonl")).expect(
        0,
        &["could not reach", "Taking the cache's files", CONVERTED],
    );
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
        names(&repository(&folder).join("blobs")),
        Vec::<String>::new()
    );
}

/// A run that was stopped says which commit it judged.
#[test]
fn a_journal_names_the_commit() {
    let long = parquet(&rollouts(1).replace("Tom", &"Tom ".repeat(4000)));
    let hub = Hub::data_set(ID, &[], &[("default/test/0000.parquet", &long)]);
    let folder = Folder::new();
    run(&folder, &hub, &["judge", "org/name", "-o", "out.jsonl"]).expect(3, &[]);
    let journal = folder.read("out.jsonl.journal");
    let origin = format!("\"data_origin\":\"org/name@{CONVERTED}:default:test\"");
    assert!(journal.contains(&origin), "{journal}");
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
    let set = parquet(&set);
    let hub = Hub::data_set(ID, &[], &[(TEST, &set)]);
    let folder = Folder::new();
    folder.write("responses.jsonl", responses);
    folder.write("set.parquet", &set);
    let score = |data: &str| {
        let json = ["--data", data, "--json", "out.json"];
        let arguments = [&["gsm8k", "responses.jsonl"][..], &json].concat();
        run(&folder, &hub, &arguments).expect(0, &[]);
        let report: Value = serde_json::from_str(&folder.read("out.json")).unwrap();
        report
    };
    let origin = format!("org/name@{CONVERTED}:main:test");
    let of_hub = score("org/name:main:test").to_string();
    assert!(of_hub.contains(&origin), "{of_hub}");
    assert_eq!(
        of_hub.replace(&origin, "set.parquet"),
        score("set.parquet").to_string()
    );
}
