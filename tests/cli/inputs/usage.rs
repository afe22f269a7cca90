//! Wrong usage, messages, and what is written to standard output and to a terminal.

use std::fs;

use super::{gzip, ids};
use crate::common::{Folder, check_verdict, rollouts};

#[test]
fn wrong_usage_is_refused_with_a_word_on_what_is_right() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(2));
    folder.write("empty.jsonl", "\n\n");
    folder.write("prompt.txt", "Grade {{ question }} and {{ answer }}.");
    folder.write("no_slots.txt", "Grade it.");
    folder.write("cut.jsonl.gz", &gzip(&rollouts(20))[..80]);
    folder.write("in.parquet", "PAR1");
    fs::create_dir(folder.path("void")).unwrap();
    fs::create_dir(folder.path("model")).unwrap();
    let cases: [(&[&str], &[&str]); 35] = [
        (
            &["nope.jsonl"],
            &["could not read nope.jsonl: No such file"],
        ),
        (&["empty.jsonl"], &["no rows in empty.jsonl"]),
        (&["void"], &["void holds no file to read", ".jsonl"]),
        (&["in.jsonl", "in.jsonl"], &["judged twice"]),
        (&["cut.jsonl.gz"], &["cut.jsonl.gz is cut short or damaged"]),
        (&["in.parquet"], &["in.parquet cannot be read as Parquet"]),
        (
            &["in.jsonl", "--model", "gpt"],
            &["no model `gpt`", "`tiny`", "config.json"],
        ),
        (&["in.jsonl", "--model", "model"], &["config.json"]),
        (
            &["in.jsonl", "--protocol", "vibes"],
            &["no protocol `vibes`", "prime"],
        ),
        (
            &["in.jsonl", "--device", "tpu"],
            &["no device `tpu`", "cuda:N"],
        ),
        (
            &["in.jsonl", "--gpus", "0,1,0"],
            &["--gpus names GPU 0 twice", "name it once"],
        ),
        (&["in.jsonl", "--gpus", "0,one"], &["--gpus"]),
        (
            &["in.jsonl", "--device", "cpu", "--tensor-parallel", "2"],
            &["--tensor-parallel 2 is for NVIDIA GPUs, not for cpu"],
        ),
        (
            &["in.jsonl", "--gpus", "0,1,2", "--tensor-parallel", "2"],
            &["--tensor-parallel 2", "3 are named"],
        ),
        (
            &["in.jsonl", "--gpus", "1", "--tensor-parallel", "2"],
            &["--tensor-parallel 2", "--gpus names one"],
        ),
        (&["in.jsonl", "--gpus", ""], &["--gpus"]),
        (
            &["in.jsonl", "--gpus", "0,1", "--device", "cpu"],
            &["--gpus", "--device"],
        ),
        (
            &["in.jsonl", "--shard", "3/3"],
            &["`3/3` is not a shard", "i from 0 to n - 1"],
        ),
        (&["in.jsonl", "--shard", "half"], &["write `i/n`"]),
        (
            &["in.jsonl", "--prompt", "nope.txt"],
            &["could not read nope.txt"],
        ),
        (
            &["in.jsonl", "--prompt", "prompt.txt"],
            &[
                "prompt.txt: line 1: unknown slot `{{ answer }}`",
                "student_answer",
            ],
        ),
        (
            &["in.jsonl", "--prompt", "no_slots.txt"],
            &["without `{{ question }}`"],
        ),
        (
            &["in.jsonl", "--few-shots", "nope.txt"],
            &["could not read nope.txt"],
        ),
        (
            &["in.jsonl", "--temperature", "-1"],
            &["the temperature must be 0 (greedy) or a positive number"],
        ),
        (&["in.jsonl", "--temperature", "hot"], &["--temperature"]),
        (&["in.jsonl", "--temperature", "nan"], &["the temperature"]),
        (&["in.jsonl", "--top-p", "3"], &["top-p must be"]),
        (&["in.jsonl", "--trials", "0"], &["--trials"]),
        (
            &["in.jsonl", "--limit", "0"],
            &["--limit", "nothing would be judged", "--dry-run"],
        ),
        (
            &["in.jsonl", "--max-new-tokens", "0"],
            &["--max-new-tokens"],
        ),
        (
            &["in.jsonl", "--max-sequences", "0"],
            &["--max-sequences", "must be at least 1"],
        ),
        (
            &["in.jsonl", "--rules", "always"],
            &["fallback, first, only, off"],
        ),
        (
            &["in.jsonl", "--rules-profile", "magic"],
            &["flexible-extract"],
        ),
        (
            &["in.jsonl", "--rules-config", "{\"rounding\": 2}"],
            &["no setting `rounding`", "float_rounding"],
        ),
        (
            &["in.jsonl", "--reward", "much"],
            &["process-outcome, outcome, perfect-bonus"],
        ),
    ];
    let before = folder.names();
    for (arguments, said) in cases {
        let arguments = [&["judge", "-o", "out.jsonl"], arguments].concat();
        let ran = folder.run(&arguments);
        ran.expect(2, &["error:"]).expect(2, said);
        assert_eq!(ran.stdout, "");
    }
    let own = folder.run_words("judge in.jsonl --own-answer -o -");
    own.expect(2, &["error: `-` is no file"]);
    let own = folder.run_words("judge in.jsonl --own-answer -o out.jsonl");
    own.expect(2, &["the built-in `tiny` writes verdicts alone"]);
    assert_eq!(folder.names(), before);
    folder.run(&["judge"]).expect(2, &["no rows in stdin"]);
    folder.run(&["jugde", "in.jsonl"]).expect(2, &["judge"]);
    folder.run(&[]).expect(2, &["Usage: juror <COMMAND>"]);
}

#[cfg(not(feature = "cuda"))]
#[test]
fn a_device_this_build_does_not_know_names_the_way_out() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(1));
    folder
        .run(&["judge", "in.jsonl", "--device", "cuda"])
        .expect(1, &["no CUDA support", "--device cpu"]);
    folder
        .run(&["judge", "in.jsonl", "-o", "out.jsonl", "--gpus", "0,1"])
        .expect(1, &["no CUDA support", "--device cpu"]);
    assert_eq!(folder.names(), ["in.jsonl"]);
}

#[test]
fn a_reason_is_told_once() {
    let folder = Folder::new();
    let ran = folder.run(&["judge", "nope.jsonl"]);
    assert_eq!(
        ran.stderr.matches("No such file").count(),
        1,
        "{}",
        ran.stderr
    );
}

#[test]
fn standard_output_is_verdicts_and_nothing_else() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(3));
    let arguments = ["judge", "in.jsonl", "--max-new-tokens", "4"];
    let ran = Folder::run(&folder, &arguments);
    let lines = ran.expect(3, &["verdicts  3", "tokens"]).lines();
    assert_eq!(ids(&lines), ["r0", "r1", "r2"]);
    lines.iter().for_each(check_verdict);

    let quiet = folder.run(&[&arguments[..], &["--quiet"]].concat());
    quiet.expect(3, &["exit code 3"]);
    assert_eq!(quiet.stderr.lines().count(), 1, "{}", quiet.stderr);
    assert_eq!(quiet.lines().len(), 3);
}

/// Runs the command in a pseudo-terminal of so many columns; none where there is no `script` to make one.
#[cfg(target_os = "linux")]
fn in_terminal(
    folder: &Folder,
    arguments: &str,
    columns: u32,
    no_color: Option<&str>,
) -> Option<String> {
    let mut command = std::process::Command::new("script");
    let juror = crate::common::binary().display();
    let line = format!("stty cols {columns} rows 24; '{juror}' {arguments}");
    command
        .args(["-qec", &line, "/dev/null"])
        .current_dir(folder.path("."))
        .env("TERM", "xterm-256color")
        .env_remove("NO_COLOR")
        .stdin(std::process::Stdio::null());
    if let Some(value) = no_color {
        command.env("NO_COLOR", value);
    }
    let output = command.output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(target_os = "linux")]
#[test]
fn no_color_is_respected_in_a_terminal() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(3));
    // Colours are sequences that end in `m`; moving the cursor, as the progress bar does, is none.
    let coloured = |text: &str| {
        text.split("\x1b[").skip(1).any(|code| {
            let digits = |character: char| character.is_ascii_digit() || character == ';';
            code.trim_start_matches(digits).starts_with('m')
        })
    };
    for arguments in [
        "judge in.jsonl --rules only -o out.jsonl",
        "judge nope.jsonl",
        "judge --shard 3/3",
        "--help",
    ] {
        let Some(plain) = in_terminal(&folder, arguments, 80, Some("1")) else {
            return;
        };
        assert!(!plain.is_empty());
        assert!(!coloured(&plain), "{plain:?}");
        let usual = in_terminal(&folder, arguments, 80, None).unwrap();
        assert!(coloured(&usual), "{usual:?}");
    }
}

/// What a terminal shows, in its lines and in the ones that were drawn over: without colours and moves of the cursor.
#[cfg(target_os = "linux")]
fn drawn(text: &str) -> Vec<String> {
    let plain = console::strip_ansi_codes(text).into_owned();
    plain.split(['\n', '\r']).map(str::to_owned).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn the_time_left_is_shown_however_narrow_the_terminal_is() {
    let folder = Folder::new();
    // So many that the run is not over before the bar is drawn with what is left.
    folder.write("in.jsonl", rollouts(1200));
    for columns in [60, 80] {
        let judge = "judge in.jsonl --max-new-tokens 2 -o out.jsonl --restart";
        let Some(text) = in_terminal(&folder, judge, columns, Some("1")) else {
            return;
        };
        let lines = drawn(&text);
        let of_bar: Vec<&String> = lines
            .iter()
            .filter(|line| line.contains("/1200 "))
            .collect();
        assert!(
            of_bar.iter().any(|line| line.contains(" left")),
            "{columns}: {text:?}"
        );
        for line in of_bar {
            let width = console::measure_text_width(line);
            assert!(width <= columns as usize, "{columns}: {width}: {line:?}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn tables_and_help_fit_sixty_columns() {
    let folder = Folder::new();
    for arguments in [
        "--help",
        "judge --help",
        "bench --help",
        "verify --help",
        "attack --help",
        "prompts show --help",
        "prompts render --help",
        "models pull --help",
        "models show --help",
        "completions --help",
        "man --help",
        "models list --known",
        "models list",
    ] {
        let Some(text) = in_terminal(&folder, arguments, 60, Some("1")) else {
            return;
        };
        assert!(!text.is_empty());
        for line in drawn(&text) {
            let width = console::measure_text_width(&line);
            assert!(width <= 60, "{arguments}: {width}: {line:?}");
        }
    }
    let known = in_terminal(&folder, "models list --known", 60, Some("1")).unwrap();
    assert!(
        known.contains("qwen3-8b\r\n  on the hub Qwen/Qwen3-8B · "),
        "{known}"
    );
    // What is no terminal gets the table.
    let table = folder.run(&["models", "list", "--known"]).stdout;
    assert!(table.starts_with("alias "), "{table}");
}
