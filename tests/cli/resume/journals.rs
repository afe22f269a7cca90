//! Journals that were changed, and those of another format.

use std::fs;

use serde_json::Value;

use super::{JOURNAL, Random};
use crate::common::{Folder, Ran, rollouts, words};

const JUDGE: &str = "judge in.jsonl --rules only -o out.jsonl -q";

fn judged(samples: usize) -> (Folder, String) {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(samples));
    folder.run_words(JUDGE).expect(0, &[]);
    let journal = folder.read(JOURNAL);
    (folder, journal)
}

/// Runs again with this journal: the output is what it was, or there is none and an error.
#[track_caller]
fn noticed(folder: &Folder, journal: &[u8], expected: &str) -> Ran {
    folder.write(JOURNAL, journal);
    let _ = fs::remove_file(folder.path("out.jsonl"));
    let ran = folder.run_words(JUDGE);
    if ran.code == Some(0) {
        assert_eq!(folder.read("out.jsonl"), expected);
    } else {
        assert!(!folder.has("out.jsonl"));
        assert_eq!(
            fs::read(folder.path(JOURNAL)).unwrap(),
            journal,
            "it is left as it was"
        );
        assert!(ran.stderr.contains(JOURNAL), "{}", ran.stderr);
    }
    ran
}

/// The unit tests flip every bit; here the whole program meets some.
#[test]
fn flipped_bits_never_reach_the_output() {
    let (folder, journal) = judged(3);
    let expected = folder.read("out.jsonl");
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..60 {
        let mut damaged = journal.clone().into_bytes();
        let bit = random.below(8 * damaged.len() as u64);
        damaged[(bit / 8) as usize] ^= 1 << (bit % 8);
        noticed(&folder, &damaged, &expected);
    }
}

#[test]
fn edited_lines_are_named() {
    let (folder, journal) = judged(4);
    let expected = folder.read("out.jsonl");
    let lines: Vec<&str> = journal.lines().collect();
    let other_run = {
        let (other, _) = judged(4);
        let seed = [&words(JUDGE)[..], &["--restart", "--seed", "7"]].concat();
        other.run(&seed).expect(0, &[]);
        other.read(JOURNAL).lines().nth(2).unwrap().to_owned()
    };
    let check = |line: &str| line.rfind(",\"check\"").unwrap();
    let edits = [
        lines[2].replace("\"index\":1", "\"index\":2"),
        lines[2].replace("\"trial\":0", "\"trial\":1"),
        lines[2].replace("\"id\":\"r1\"", "\"id\":\"r2\""),
        lines[2].replace("\"outcome\":true", "\"outcome\":false"),
        lines[2].replace("\"process\":null,", ""),
        lines[2].replace("\"status\"", "\"note\":1,\"status\""),
        format!("{}}}", &lines[2][..check(lines[2])]),
        format!(
            "{}{}",
            &lines[2][..check(lines[2])],
            &lines[3][check(lines[3])..]
        ),
        other_run,
    ];
    for edit in edits {
        assert_ne!(edit, lines[2]);
        let damaged = journal.replace(lines[2], &edit);
        let ran = noticed(&folder, damaged.as_bytes(), &expected);
        ran.expect(
            1,
            &[
                "out.jsonl.journal:3: not a verdict",
                "remove that line",
                "--restart",
            ],
        );
        // Both ways out work.
        let mended = journal.replace(&format!("{}\n", lines[2]), "");
        noticed(&folder, mended.as_bytes(), &expected).expect(0, &[]);
        folder.write(JOURNAL, &damaged);
        folder
            .run(&[&words(JUDGE)[..], &["--restart"]].concat())
            .expect(0, &[]);
        assert_eq!(folder.read("out.jsonl"), expected);
    }
    // The manifest decides what all the others mean.
    let damaged = journal.replacen(
        "\"shard\":null",
        "\"shard\":null,\"model_origin\":\"other/model@0\"",
        1,
    );
    noticed(&folder, damaged.as_bytes(), &expected).expect(
        1,
        &["out.jsonl.journal:1: the manifest was changed", "--restart"],
    );
    // Without checksums, but said to have them, or the other way round.
    let without: Vec<String> = lines
        .iter()
        .map(|line| format!("{}}}\n", &line[..check(line)]))
        .collect();
    let without = without.concat();
    noticed(&folder, without.as_bytes(), &expected).expect(1, &["no checksum"]);
    let older = journal.replacen("\"format\":2", "\"format\":1", 1);
    noticed(&folder, older.as_bytes(), &expected).expect(1, &[JOURNAL]);
    // As a version before any release wrote it.
    let older = without.replacen("\"format\":2", "\"format\":1", 1);
    noticed(&folder, older.as_bytes(), &expected)
        .expect(2, &["format: 1 in the journal, 2 now", "--restart"]);
}

#[test]
fn a_manifest_of_anything_else_is_told_in_few_words() {
    let (folder, _) = judged(1);
    let long = "x\u{1b}[2J".repeat(100_000);
    let keys: serde_json::Map<String, Value> = (0..5_000)
        .map(|at| (format!("{at}{long}").chars().take(900).collect(), at.into()))
        .collect();
    for manifest in [
        serde_json::json!({"model": long}),
        serde_json::json!({"format": 2, "model": long}),
        Value::Object(keys),
        serde_json::json!([long]),
        serde_json::json!(long),
    ] {
        folder.write(
            JOURNAL,
            format!("{}\n", serde_json::json!({"manifest": manifest})),
        );
        let ran = folder.run_words(JUDGE);
        assert!(matches!(ran.code, Some(1 | 2)), "{}", ran.stderr);
        assert!(ran.stderr.len() < 30_000, "{}", ran.stderr.len());
        assert!(ran.stderr.contains("--restart"));
    }
}
