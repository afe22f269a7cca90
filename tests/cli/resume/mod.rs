//! Nothing is lost: whatever ends a run, the same command goes on where it stopped.

mod journals;
#[cfg(unix)]
mod outputs;

use std::collections::HashSet;
use std::fs;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::Duration;

use crate::common::{Folder, Ran, binary, json_lines, rollouts, words};
use serde_json::Value;

/// A judge run whose verdicts come a few at a time: so small a token budget lets samples start, and end, one by one.
const JUDGE: &str =
    "judge in.jsonl -o out.jsonl --max-new-tokens 24 --max-sequences 4 --token-budget 48";

/// A judge run that a signal always finds at work.
const LONG: &str = "judge in.jsonl -o out.jsonl --max-new-tokens 400 --max-sequences 2";

const JOURNAL: &str = "out.jsonl.journal";

fn with(arguments: &[&'static str], more: &[&'static str]) -> Vec<&'static str> {
    [arguments, more].concat()
}

fn prepared(samples: usize) -> Folder {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(samples));
    folder
}

/// The whole lines of the journal, the manifest left out.
fn journalled(folder: &Folder) -> Vec<String> {
    let bytes = fs::read(folder.path(JOURNAL)).unwrap_or_default();
    let whole = bytes
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |last| last + 1);
    String::from_utf8(bytes[..whole].to_vec())
        .unwrap()
        .lines()
        .skip(1)
        .map(str::to_owned)
        .collect()
}

fn trials(lines: &[Value]) -> Vec<(u64, u64)> {
    lines
        .iter()
        .map(|line| {
            (
                line["index"].as_u64().unwrap(),
                line["trial"].as_u64().unwrap(),
            )
        })
        .collect()
}

/// The output without what depends on which samples happened to run before: how much of a prompt was in the cache.
fn without_cached(output: &str) -> String {
    const KEY: &str = "\"cached_tokens\":";
    let mut parts = output.split(KEY);
    let mut text = parts.next().unwrap().to_owned();
    for part in parts {
        text.push_str(KEY);
        text.push_str(part.trim_start_matches(|character: char| character.is_ascii_digit()));
    }
    text
}

/// Waits until the journal holds `count` verdicts; false if the run ended before.
fn wait_for_verdicts(folder: &Folder, child: &mut Child, count: usize) -> bool {
    while journalled(folder).len() < count {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        sleep(Duration::from_millis(1));
    }
    true
}

/// A small generator of random numbers, so that a failure can be repeated as far as the clock allows.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// Kills the run with signal 9 at `kills` random moments, then lets it finish, and compares with a run in peace.
fn kill_and_resume(samples: usize, trials_each: u64, kills: usize, arguments: &[&str]) {
    let peaceful = prepared(samples);
    let expected = peaceful.run(arguments);
    let expected_output = peaceful.read("out.jsonl");

    let folder = prepared(samples);
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let all = samples * trials_each as usize;
    for _ in 0..kills {
        let before = journalled(&folder);
        let step = random.below(1 + 2 * (all / (kills + 2)) as u64) as usize;
        let pause = Duration::from_micros(random.below(30_000));
        let mut child = folder.juror(arguments).spawn().unwrap();
        wait_for_verdicts(&folder, &mut child, (before.len() + step).min(all));
        sleep(pause);
        child.kill().unwrap();
        child.wait().unwrap();
        let after = journalled(&folder);
        assert!(after.starts_with(&before), "a finished verdict was lost");
    }
    let last = folder.run(arguments);
    last.expect(expected.code.unwrap(), &[]);

    let journal: Vec<Value> = journalled(&folder)
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let once: HashSet<_> = trials(&journal).into_iter().collect();
    assert_eq!(journal.len(), all, "a trial was judged twice or never");
    assert_eq!(once.len(), all);

    let output = folder.read("out.jsonl");
    let in_order: Vec<(u64, u64)> = (0..samples as u64)
        .flat_map(|index| (0..trials_each).map(move |trial| (index, trial)))
        .collect();
    assert_eq!(trials(&json_lines(&output)), in_order);
    assert_eq!(without_cached(&output), without_cached(&expected_output));
}

#[test]
fn ten_kills_lose_and_repeat_nothing() {
    kill_and_resume(60, 1, 10, &words(JUDGE));
}

#[test]
fn every_trial_survives_kills_too() {
    kill_and_resume(
        12,
        3,
        3,
        &with(&words(JUDGE), &["--trials", "3", "--seed", "7"]),
    );
}

#[test]
fn a_torn_last_line_is_judged_again() {
    let folder = prepared(6);
    let code = folder.run_words(JUDGE).code.unwrap();
    let expected = folder.read("out.jsonl");
    let journal = fs::read(folder.path(JOURNAL)).unwrap();
    for cut in [1, 40] {
        folder.write(JOURNAL, &journal[..journal.len() - cut]);
        fs::remove_file(folder.path("out.jsonl")).unwrap();
        folder
            .run_words(JUDGE)
            .expect(code, &["5 were done before", "verdicts  6"]);
        assert_eq!(
            without_cached(&folder.read("out.jsonl")),
            without_cached(&expected)
        );
        assert_eq!(journalled(&folder).len(), 6);
    }
    // Not even the manifest is whole: nothing was judged yet.
    folder.write(JOURNAL, &journal[..100]);
    folder.run_words(JUDGE).expect(code, &["verdicts  6"]);
    assert_eq!(journalled(&folder).len(), 6);
}

#[test]
fn a_broken_line_in_the_middle_is_named_and_nothing_is_overwritten() {
    let folder = prepared(3);
    folder.run_words(JUDGE);
    let mut lines: Vec<String> = folder
        .read(JOURNAL)
        .lines()
        .map(|line| format!("{line}\n"))
        .collect();
    lines[2].replace_range(5..20, "");
    let damaged = lines.concat();
    folder.write(JOURNAL, &damaged);
    folder
        .run_words(JUDGE)
        .expect(1, &["out.jsonl.journal:3: not a verdict", "--restart"]);
    assert_eq!(folder.read(JOURNAL), damaged);
    let anew = folder.run(&with(&words(JUDGE), &["--restart"]));
    assert!(!anew.stderr.contains("done before"), "{}", anew.stderr);
    assert_eq!(journalled(&folder).len(), 3);
}

#[test]
fn a_finished_run_judges_nothing_again() {
    let folder = prepared(8);
    let code = folder.run_words(JUDGE).code.unwrap();
    let (output, journal) = (folder.read("out.jsonl"), folder.read(JOURNAL));
    for lost in [false, true] {
        if lost {
            fs::remove_file(folder.path("out.jsonl")).unwrap();
        }
        let again = folder.run_words(JUDGE);
        again.expect(code, &["8 were done before"]);
        assert!(!again.stderr.contains("speed"), "{}", again.stderr);
        assert_eq!(folder.read("out.jsonl"), output);
        assert_eq!(folder.read(JOURNAL), journal);
    }
    // Of a run whose input has grown, which may be, another setting alone is what is wrong.
    folder.write("in.jsonl", rollouts(9));
    let grown = folder.run_words(JUDGE);
    assert!(
        grown.stderr.contains("8 were done before"),
        "{}",
        grown.stderr
    );
    let other = folder.run(&with(&words(JUDGE), &["--reward", "outcome"]));
    other.expect(2, &["reward: \"process-outcome\" in the journal"]);
    assert!(!other.stderr.contains("input."), "{}", other.stderr);
}

#[test]
fn a_journal_of_other_settings_is_refused_until_restarted() {
    let folder = prepared(3);
    let code = folder.run_words(JUDGE).code.unwrap();
    let (output, journal) = (folder.read("out.jsonl"), folder.read(JOURNAL));

    let text = folder.run(&["prompts", "show"]).stdout;
    folder.write("prompt.txt", text.replace("meticulous", "careful"));
    fs::create_dir(folder.path("other")).unwrap();
    let tiny = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tiny");
    for file in fs::read_dir(tiny).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), folder.path("other").join(file.file_name())).unwrap();
    }
    folder.write("other/generation_config.json", "{\"do_sample\": false}");

    let refused: [(&[&'static str], &[&str]); 8] = [
        (&["--seed", "1"], &["seed: 0 in the journal, 1 now"]),
        (
            &["--trials", "2", "--reward", "outcome"],
            &[
                "trials: 1 in the journal, 2 now",
                "reward: \"process-outcome\" in the journal, \"outcome\" now",
            ],
        ),
        (
            &["--temperature", "0.5"],
            &["sampling.temperature: 0.0 in the journal, 0.5 now"],
        ),
        (&["--raw"], &["raw: false in the journal, true now"]),
        (
            &["--rules", "off"],
            &["rules: \"fallback (strict)\" in the journal, \"off\" now"],
        ),
        (&["--prompt", "prompt.txt"], &["protocol.hash: \""]),
        (
            &["--model", "other"],
            &[
                "model.name: \"tiny\" in the journal, \"other\" now",
                "model.hash: \"",
            ],
        ),
        (
            &["--limit", "2"],
            &[
                "input.samples: 3 in the journal, 2 now",
                "input.fingerprint: \"",
            ],
        ),
    ];
    for (settings, parts) in refused {
        let ran = folder.run(&with(&words(JUDGE), settings));
        ran.expect(2, &["begun by a different run", "--restart"])
            .expect(2, parts);
        assert_eq!(folder.read("out.jsonl"), output);
        assert_eq!(folder.read(JOURNAL), journal);
    }
    // Speed is free to change.
    folder
        .run(&with(
            &words(JUDGE),
            &words("--no-prefix-cache --prefill-chunk 64 --drafts 3"),
        ))
        .expect(code, &["3 were done before"]);

    let anew = folder.run(&with(&words(JUDGE), &["--trials", "2", "--restart"]));
    anew.expect(anew.code.unwrap(), &["verdicts  6"]);
    assert!(!anew.stderr.contains("done before"), "{}", anew.stderr);
    assert_eq!(
        trials(&folder.lines("out.jsonl")),
        [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
    );
    folder
        .run_words(JUDGE)
        .expect(2, &["trials: 2 in the journal, 1 now"]);
}

#[cfg(unix)]
#[test]
fn signals_stop_a_run_that_can_go_on() {
    let folder = prepared(60);
    let mut done = 0;
    for signal in ["-INT", "-TERM"] {
        let before = journalled(&folder);
        let mut child = folder.juror(&words(LONG)).spawn().unwrap();
        assert!(wait_for_verdicts(&folder, &mut child, done + 1));
        let sent = Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
        let ran = Ran::of(child.wait_with_output().unwrap());
        let after = journalled(&folder);
        assert!(after.starts_with(&before));
        assert!(after.len() > done);
        done = after.len();
        let said = format!("interrupted: {done} of 60 verdicts are done and kept");
        ran.expect(130, &[&said, "run the same command again"]);
        assert!(!folder.has("out.jsonl"), "the output is not yet whole");
    }
}

#[test]
fn two_runs_never_share_a_journal() {
    let folder = prepared(60);
    let mut first = folder.juror(&words(LONG)).spawn().unwrap();
    assert!(wait_for_verdicts(&folder, &mut first, 1));
    let second = folder.run_words(LONG);
    let third = folder.run(&with(&words(LONG), &["--restart"]));
    let running = first.try_wait().unwrap().is_none();
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(running, "the first run was to be at work all the while");
    for refused in [second, third] {
        refused.expect(1, &["another run is writing out.jsonl.journal"]);
    }
    assert!(!folder.has("out.jsonl"));
    assert!(!journalled(&folder).is_empty());
}

#[test]
fn an_output_that_cannot_be_is_refused_before_anything_is_judged() {
    let folder = prepared(2);
    let before = folder.names();
    folder
        .run(&["judge", "in.jsonl", "-o", "missing/out.jsonl"])
        .expect(
            2,
            &["missing/out.jsonl", "no folder missing", "make it first"],
        );
    folder
        .run(&["judge", "in.jsonl", "-o", "."])
        .expect(2, &[". is a folder", "./verdicts.jsonl"]);
    folder
        .run(&["judge", "in.jsonl", "-o", "in.jsonl"])
        .expect(2, &["in.jsonl is an input, and would be replaced"]);
    assert_eq!(folder.names(), before);

    folder.write(JOURNAL, "my diary\n");
    for more in [&[][..], &["--restart"]] {
        folder
            .run(&with(&words(JUDGE), more))
            .expect(2, &["does not begin like a journal"]);
    }
    assert_eq!(folder.read(JOURNAL), "my diary\n");
    fs::remove_file(folder.path(JOURNAL)).unwrap();
    fs::create_dir(folder.path(JOURNAL)).unwrap();
    folder
        .run_words(JUDGE)
        .expect(1, &["is not a regular file"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_and_the_run_goes_on_once_there_is_room() {
    let peaceful = prepared(40);
    let code = peaceful.run_words(JUDGE).code.unwrap();

    // A limit on the size of files stands for the full disk: writing fails with an error in the same way.
    let folder = prepared(40);
    let limited = Command::new("sh")
        .arg("-c")
        .arg("trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\"")
        .arg(binary())
        .args(words(JUDGE))
        .current_dir(folder.path("."))
        .output()
        .unwrap();
    Ran::of(limited).expect(
        1,
        &[
            "could not write to the journal out.jsonl.journal",
            "make room, then run the same command again",
        ],
    );
    let kept = journalled(&folder).len();
    assert!((1..40).contains(&kept), "{kept}");
    assert!(!folder.has("out.jsonl"));
    let said = format!("{kept} were done before");
    folder.run_words(JUDGE).expect(code, &[&said]);
    assert_eq!(
        without_cached(&folder.read("out.jsonl")),
        without_cached(&peaceful.read("out.jsonl"))
    );

    // The journal finds room and the output does not.
    let folder = prepared(3);
    std::os::unix::fs::symlink("/dev/full", folder.path("out.jsonl")).unwrap();
    folder
        .run_words(JUDGE)
        .expect(1, &["could not write out.jsonl", "No space left"]);
    fs::remove_file(folder.path("out.jsonl")).unwrap();
    folder
        .run_words(JUDGE)
        .expect(code, &["3 were done before"]);
    assert_eq!(folder.lines("out.jsonl").len(), 3);
}
