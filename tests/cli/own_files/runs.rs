//! Runs over inputs that grow, in shards, and beside files of other programs.

use super::*;
use crate::common::rollouts;

fn lines(text: &str, count: usize) -> String {
    text.split_inclusive('\n').take(count).collect()
}

#[test]
fn a_run_goes_on_when_rows_were_added() {
    let all = rollouts(6);
    let whole = Folder::new();
    whole.write("in.jsonl", &all);
    whole.run(&rules(&["in.jsonl"])).expect(0, &[]);

    let folder = Folder::new();
    folder.write("in.jsonl", lines(&all, 2));
    folder.run(&rules(&["in.jsonl"])).expect(0, &[]);
    folder.write("in.jsonl", lines(&all, 4));
    let ran = folder.run(&rules(&["in.jsonl"]));
    ran.expect(0, &["2 were done before", "verdicts  4"]);
    folder.write("in.jsonl", &all);
    let ran = folder.run(&rules(&["in.jsonl"]));
    ran.expect(0, &["4 were done before", "verdicts  6"]);
    assert_eq!(folder.read("out.jsonl"), whole.read("out.jsonl"));
    // Another row at the front is another input.
    folder.write("in.jsonl", all.lines().rev().collect::<Vec<_>>().join("\n"));
    folder
        .run(&rules(&["in.jsonl"]))
        .expect(2, &["begun by a different run", "--restart"]);
}

#[test]
fn a_run_goes_on_under_a_larger_limit() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(5));
    folder
        .run(&rules(&["in.jsonl", "--limit", "2"]))
        .expect(0, &[]);
    assert_eq!(folder.lines("out.jsonl").len(), 2);
    folder
        .run(&rules(&["in.jsonl"]))
        .expect(0, &["2 were done before"]);
    assert_eq!(folder.lines("out.jsonl").len(), 5);
}

#[test]
fn what_no_run_wrote_is_not_replaced() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(2));
    folder.write("out.jsonl", "my notes\n");
    folder
        .run(&rules(&["in.jsonl"]))
        .expect(2, &["out.jsonl is there", "--force"]);
    assert_eq!(folder.read("out.jsonl"), "my notes\n");
    folder.run(&rules(&["in.jsonl", "--force"])).expect(0, &[]);
    assert_eq!(folder.lines("out.jsonl").len(), 2);
    // Its own output it does replace.
    folder.run(&rules(&["in.jsonl"])).expect(0, &[]);
}

#[test]
fn shards_are_merged_and_checked() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(20));
    folder.run(&rules(&["in.jsonl"])).expect(0, &[]);
    let judge = |index: usize| {
        folder
            .juror(&[
                "judge",
                "--rules",
                "only",
                "in.jsonl",
                "--shard",
                "auto",
                "-o",
                "part-{shard}.jsonl",
            ])
            .env("SLURM_ARRAY_TASK_ID", index.to_string())
            .env("SLURM_ARRAY_TASK_COUNT", "3")
            .env("SLURM_ARRAY_TASK_MIN", "0")
            .output()
            .unwrap()
    };
    for index in 0..3 {
        assert!(judge(index).status.success());
    }
    let parts = [
        "part-0-of-3.jsonl",
        "part-1-of-3.jsonl",
        "part-2-of-3.jsonl",
    ];
    let merge = |parts: &[&'static str], out: &'static str| {
        folder.run(&[&["merge"], parts, &["-o", out]].concat())
    };
    merge(&[parts[2], parts[0], parts[1]], "merged.jsonl").expect(0, &["verdicts  20 (20 ok)"]);
    assert_eq!(folder.read("merged.jsonl"), folder.read("out.jsonl"));
    merge(&parts, "merged.parquet").expect(0, &[]);
    // A pattern for the parts matches what they set aside too.
    folder.write("part-0-of-3.jsonl.rejected.jsonl", "{}\n");
    let with_rejected = [&parts[..], &["part-0-of-3.jsonl.rejected.jsonl"]].concat();
    merge(&with_rejected, "again.jsonl").expect(0, &[]);
    merge(&["none.jsonl"], "two.jsonl").expect(2, &["could not read none.jsonl"]);
    merge(&["part-0-of-3.jsonl.rejected.jsonl"], "two.jsonl")
        .expect(2, &["rejected.jsonl has no journal beside it"]);
    merge(&parts, "merged.jsonl").expect(2, &["merged.jsonl is there", "--force"]);
    merge(&parts[..2], "two.jsonl").expect(2, &["shard 2/3 is missing"]);
    merge(&[parts[0], parts[0], parts[1]], "two.jsonl").expect(2, &["needed once"]);
    merge(&["out.jsonl"], "two.jsonl").expect(2, &["is no shard"]);
    let compat = ["--rules-profile", "compat", "-o", "compat.jsonl"];
    let part = ["judge", "--rules", "only", "in.jsonl", "--shard", "1/3"];
    folder.run(&[&part[..], &compat].concat()).expect(0, &[]);
    merge(&[parts[0], "compat.jsonl", parts[2]], "two.jsonl").expect(
        2,
        &[
            "part-0-of-3.jsonl and compat.jsonl are of different runs",
            "in compat.jsonl, ",
        ],
    );
    let text = folder.read(parts[1]);
    // What the journal does not have is not merged: an edited reward, a verdict of another run, an edited journal.
    let line = text.lines().next().unwrap();
    let end = line.strip_suffix('}').unwrap();
    for edited in [
        line.replacen("\"outcome\":true", "\"outcome\":false", 1),
        line.replacen("\"reward\":null", "\"reward\":1.0", 1),
        format!("{end},\"advantage\":9.0}}"),
    ] {
        assert_ne!(edited, line);
        folder.write(parts[1], text.replacen(line, &edited, 1));
        merge(&parts, "two.jsonl").expect(2, &["part-1-of-3.jsonl:1: ", "it was edited"]);
    }
    let moved = line.replacen("\"index\":", "\"index\":99", 1);
    folder.write(parts[1], text.replacen(line, &moved, 1));
    merge(&parts, "two.jsonl").expect(2, &["its journal has no such verdict"]);
    folder.write(parts[1], &text);
    let journal = folder.read("part-1-of-3.jsonl.journal");
    folder.write(
        "part-1-of-3.jsonl.journal",
        journal.replacen("\"outcome\":true", "\"outcome\":false", 1),
    );
    merge(&parts, "two.jsonl").expect(2, &["part-1-of-3.jsonl.journal: ", "was changed"]);
    folder.write("part-1-of-3.jsonl.journal", journal);
    assert!(!folder.has("two.jsonl"));
    folder.write(parts[1], lines(&text, 1));
    merge(&parts, "two.jsonl").expect(2, &["is not finished"]);
    assert!(!folder.has("two.jsonl"));
    folder
        .run(&["judge", "--rules", "only", "in.jsonl", "--shard", "auto"])
        .expect(2, &["SLURM"]);
}
