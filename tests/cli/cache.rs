//! Equal prompts and the cache: what was answered once is not asked again.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::common::{Folder, rollouts, words};

/// Rows of which each content is there `times` times, under ids of its own.
fn repeated(count: usize, times: usize) -> String {
    let rows = rollouts(count);
    let row = |(at, line): (usize, &str)| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        row["id"] = json!(format!("row-{at}"));
        row.to_string()
    };
    let lines: Vec<String> = rows.lines().map(str::to_owned).collect();
    let all = (0..times).flat_map(|_| lines.iter());
    let rows: Vec<String> = all.enumerate().map(|(at, line)| row((at, line))).collect();
    rows.join("\n")
}

/// A verdict line without its id and place, and without what a prompt that is not computed again spends.
fn content(mut verdict: Value) -> Value {
    let lines = verdict.as_object_mut().unwrap();
    for key in ["id", "index"] {
        lines.remove(key);
    }
    lines["usage"]["cached_tokens"] = json!(0);
    verdict
}

fn segments(folder: &Folder) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.path("cache")).unwrap();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

/// Makes all segments an hour old: what was just written is left alone, for a process may be writing it.
fn age(folder: &Folder) {
    let old = std::time::SystemTime::now() - std::time::Duration::from_hours(1);
    for path in segments(folder) {
        let file = fs::File::options().append(true).open(path).unwrap();
        file.set_modified(old).unwrap();
    }
}

#[test]
fn equal_prompts_are_answered_once() {
    let folder = Folder::new();
    folder.write("in.jsonl", repeated(4, 3));
    for sampling in [&[][..], &["--trials", "2", "--temperature", "1.5"]] {
        let judge = [
            "judge",
            "in.jsonl",
            "-o",
            "out.jsonl",
            "--restart",
            "--summary-json",
            "s.json",
            // However unsure.
            "--min-confidence",
            "0.5",
        ];
        folder
            .run(&[&judge[..], sampling].concat())
            .expect(0, &["reused"]);
        let verdicts = folder.lines("out.jsonl");
        let trials = verdicts.len() / 12;
        let summary: Value = serde_json::from_str(&folder.read("s.json")).unwrap();
        assert_eq!(summary["reused"], 8 * trials);
        let prompts = verdicts
            .iter()
            .map(|one| one["usage"]["prompt_tokens"].as_u64());
        let prompts: u64 = prompts.map(Option::unwrap).sum();
        assert_eq!(summary["usage"]["prompt_tokens"], prompts);
        // The same command once more, and the parts of the input merged, count the same.
        let again: Vec<&str> = judge
            .iter()
            .copied()
            .filter(|one| *one != "--restart")
            .collect();
        folder.run(&[&again[..], sampling].concat()).expect(0, &[]);
        let usage = |name: &str| {
            let summary: Value = serde_json::from_str(&folder.read(name)).unwrap();
            [
                &summary["usage"]["prompt_tokens"],
                &summary["usage"]["completion_tokens"],
            ]
            .map(Value::clone)
        };
        let first = [
            &summary["usage"]["prompt_tokens"],
            &summary["usage"]["completion_tokens"],
        ]
        .map(Value::clone);
        assert_eq!(usage("s.json"), first);
        for part in ["0/2", "1/2"] {
            let shard = ["--shard", part, "-o", "part-{shard}.jsonl"];
            let judge: Vec<&str> = judge
                .iter()
                .copied()
                .filter(|one| !["-o", "out.jsonl"].contains(one))
                .collect();
            folder
                .run(&[&judge[..], &shard, sampling].concat())
                .expect(0, &[]);
        }
        folder
            .run_words("merge part-0-of-2.jsonl part-1-of-2.jsonl -o merged.jsonl --summary-json m.json --force")
            .expect(0, &[]);
        assert_eq!(usage("m.json"), first);
        for (at, verdict) in verdicts.iter().enumerate() {
            let first = &verdicts[at % (4 * trials)];
            assert_eq!(content(verdict.clone()), content(first.clone()));
        }
    }
}

#[test]
fn a_cache_answers_for_other_runs_as_the_model_would() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(6));
    let judge = |out: &str, options: &[&str]| {
        let arguments = format!("judge in.jsonl -o {out} --cache cache --summary-json s.json");
        let arguments = words(&arguments);
        folder
            .run(&[&arguments[..], options].concat())
            .expect(0, &[]);
        let summary: Value = serde_json::from_str(&folder.read("s.json")).unwrap();
        let lines: Vec<Value> = folder.lines(out).into_iter().map(content).collect();
        (lines, summary["reused"].as_u64().unwrap())
    };
    let (first, none) = judge("first.jsonl", &["--raw"]);
    let count = first.len() as u64;
    assert_eq!(none, 0);
    let (second, all) = judge("second.jsonl", &["--raw"]);
    assert_eq!((&first, count), (&second, all));
    // What answers do not depend on changes nothing; what they depend on does.
    assert_eq!(
        judge("rules.jsonl", &["--rules", "off", "--reward", "outcome"]).1,
        count
    );
    assert_eq!(judge("seed.jsonl", &["--seed", "7"]).1, count, "greedy");
    for (at, other) in [
        &["--reason"][..],
        &["--free"],
        &["--max-new-tokens", "300"],
        &["--decide-only"],
        &["--thinking-budget", "9"],
        &["--dtype", "f32"],
        &["--protocol", "prime-outcome", "--force-domain"],
        &["--temperature", "1", "--seed", "1"],
        &["--temperature", "1", "--seed", "2"],
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(judge(&format!("other{at}.jsonl"), other).1, 0, "{other:?}");
    }
    let (_, known) = judge("again.jsonl", &["--temperature", "1", "--seed", "2"]);
    assert_eq!(known, count);
    // A run that asks nothing writes no segment.
    let before = segments(&folder).len();
    judge("last.jsonl", &[]);
    assert_eq!(segments(&folder).len(), before);
}

#[test]
fn what_is_damaged_is_asked_again() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(6));
    let judge = |out: &str| {
        let options = format!("judge in.jsonl -o {out} --cache cache --summary-json s.json");
        let options = words(&options);
        folder.run(&options).expect(0, &[]);
        let summary: Value = serde_json::from_str(&folder.read("s.json")).unwrap();
        let lines: Vec<Value> = folder.lines(out).into_iter().map(content).collect();
        (lines, summary["reused"].as_u64().unwrap())
    };
    let (first, _) = judge("first.jsonl");
    let count = first.len() as u64;
    let path = segments(&folder).remove(0);
    let text = fs::read_to_string(&path).unwrap();
    // One answer says something else, and the last is cut short.
    let changed = text.replacen("\"tokens\":[", "\"tokens\":[1,", 1);
    fs::write(&path, &changed[..changed.len() - 9]).unwrap();
    let verify = folder.run(&["cache", "verify", "cache"]);
    verify.expect(3, &["lines that are no answers, and passed over: 2"]);
    assert!(
        verify.stdout.contains(":1: its checksum"),
        "{}",
        verify.stdout
    );
    assert_eq!(judge("second.jsonl"), (first.clone(), count - 2));
    // They are there again, in another file.
    assert_eq!(judge("third.jsonl"), (first.clone(), count));
    // Nothing that may be in use is touched.
    let left = "left alone, as changed in the last ten minutes: 2 files";
    folder.run(&["cache", "prune", "cache"]).expect(0, &[left]);
    assert_eq!(segments(&folder).len(), 2);
    age(&folder);
    folder
        .run(&["cache", "prune", "cache"])
        .expect(0, &["bytes before", "ten minutes: 0 files"]);
    assert_eq!(segments(&folder).len(), 1);
    let verify = folder.run(&["cache", "verify", "cache"]);
    verify.expect(0, &[]);
    assert!(
        verify.stdout.contains(&format!("answers   {count}\n")),
        "{}",
        verify.stdout
    );
    assert_eq!(judge("fourth.jsonl"), (first, count));
    age(&folder);
    folder
        .run(&["cache", "prune", "cache", "--cache-size", "1KB"])
        .expect(0, &[]);
    assert!(segments(&folder).is_empty());
    folder.run(&["cache", "stat", "cache"]).expect(0, &[]);
}

#[test]
fn a_full_cache_loses_what_was_not_used() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(6));
    let judge = |seed: &str, size: &str| {
        let out = format!("{seed}-{size}.jsonl");
        let options = format!(
            "judge in.jsonl -o {out} --cache cache --cache-size {size} --temperature 1 --seed {seed}"
        );
        let options = words(&options);
        folder.run(&options).expect(0, &[]);
    };
    judge("1", "1GB");
    judge("2", "1GB");
    let two = segments(&folder);
    assert_eq!(two.len(), 2);
    let bytes: u64 = two
        .iter()
        .map(|path| fs::metadata(path).unwrap().len())
        .sum();
    // The first is used, so the second goes.
    age(&folder);
    judge("1", &format!("{}B", bytes - 10));
    let one = segments(&folder);
    assert_eq!(one.len(), 1);
    assert!(two.contains(&one[0]));
    judge("1", "10GB");
    assert_eq!(segments(&folder), one, "all was known");
}

#[test]
fn a_folder_of_something_else_is_no_cache() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(1));
    fs::create_dir(folder.path("other")).unwrap();
    folder.write("other/notes.txt", "mine");
    folder
        .run(&["judge", "in.jsonl", "--cache", "other"])
        .expect(2, &["other is no cache: it holds notes.txt"]);
    for action in ["stat", "prune", "verify"] {
        folder
            .run(&["cache", action, "other"])
            .expect(2, &["is no cache"]);
        folder
            .run(&["cache", action, "none"])
            .expect(2, &["there is no cache none"]);
    }
    let judge = |options: &[&str]| folder.run(&[&["judge", "in.jsonl"], options].concat());
    judge(&["--cache-size", "1GB"]).expect(2, &["--cache"]);
    judge(&["--cache", "c", "--cache-size", "much"]).expect(2, &["must be a size"]);
    judge(&["--cache", "c", "--rules", "only"]).expect(2, &["--cache changes nothing"]);
    // What cannot be written costs no verdict.
    folder.write("file", "");
    judge(&["--cache", "file"]).expect(1, &["the cache file"]);
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_no_segment() {
    use std::os::unix::fs::symlink;

    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(1));
    fs::create_dir(folder.path("cache")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(folder.path("cache/a.answers.jsonl"))
        .status();
    let judge = ["judge", "in.jsonl", "--cache", "cache", "-o", "out.jsonl"];
    let refused = |arguments: &[&str]| {
        folder
            .run(arguments)
            .expect(2, &["is no cache", "no regular file"]);
    };
    if made.is_ok_and(|status| status.success()) {
        refused(&judge);
        refused(&["cache", "stat", "cache"]);
        fs::remove_file(folder.path("cache/a.answers.jsonl")).unwrap();
    }
    symlink("/dev/zero", folder.path("cache/b.answers.jsonl")).unwrap();
    refused(&judge);
    for action in ["stat", "verify", "prune"] {
        refused(&["cache", action, "cache"]);
    }
    fs::remove_file(folder.path("cache/b.answers.jsonl")).unwrap();
    // One that has gone is as if it had not been there.
    symlink("nothing", folder.path("cache/c.answers.jsonl")).unwrap();
    folder.run(&["cache", "stat", "cache"]).expect(0, &[]);
}
