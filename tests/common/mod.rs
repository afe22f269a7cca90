//! Drives the real binary in a folder of its own.

#![allow(dead_code, reason = "every test takes what it needs")]

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use serde_json::{Value, json};
use tempfile::TempDir;

/// What a run of the binary left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The exit code; none if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Whatever happens, the program does not panic, and writes no escape codes to what is no terminal.
    pub(crate) fn of(output: Output) -> Self {
        let ran = Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        };
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        assert!(!ran.stderr.contains('\x1b'), "{}", ran.stderr);
        assert_ne!(ran.code, Some(101), "{}", ran.stderr);
        ran
    }

    /// Ends with `code`, and says every one of `parts` on standard error.
    #[track_caller]
    pub(crate) fn expect(&self, code: i32, parts: &[&str]) -> &Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.stdout, self.stderr);
        for part in parts {
            assert!(
                self.stderr.contains(part),
                "`{part}` is not in:\n{}",
                self.stderr
            );
        }
        self
    }

    /// Says every one of `parts` on standard output.
    #[track_caller]
    pub(crate) fn prints(&self, parts: &[&str]) -> &Self {
        for part in parts {
            let stdout = &self.stdout;
            assert!(stdout.contains(part), "`{part}` is not in:\n{stdout}");
        }
        self
    }

    /// Standard output as JSON lines, and nothing but that.
    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Value> {
        json_lines(&self.stdout)
    }
}

/// A folder in which the binary runs.
pub(crate) struct Folder {
    folder: TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    pub(crate) fn lines(&self, name: &str) -> Vec<Value> {
        json_lines(&self.read(name))
    }

    /// The embedded judge as the folder `model`.
    pub(crate) fn write_model(&self) {
        let _ = fs::create_dir(self.path("model"));
        let tiny = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tiny");
        for entry in fs::read_dir(tiny).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap();
            fs::copy(&path, self.path("model").join(name)).unwrap();
        }
    }

    /// Names of everything in the folder, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// `juror` in this folder, with nothing on standard input.
    pub(crate) fn juror(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command
            .args(arguments)
            .current_dir(self.folder.path())
            // One for all tests, as a user has one.
            .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.juror(arguments).output().unwrap())
    }

    /// As [`Self::run`], with the words of a line.
    pub(crate) fn run_words(&self, line: &str) -> Ran {
        self.run(&words(line))
    }

    /// With `input` on standard input.
    pub(crate) fn pipe(&self, input: &[u8], arguments: &[&str]) -> Ran {
        let mut child = self.juror(arguments).stdin(Stdio::piped()).spawn().unwrap();
        // A program that refuses its arguments ends before it reads any.
        match child.stdin.take().unwrap().write_all(input) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            written => written.unwrap(),
        }
        Ran::of(child.wait_with_output().unwrap())
    }
}

/// The arguments of a command line without quotes.
pub(crate) fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// The program that cargo built with the tests, or the one of the release that `.ci/run` builds anyway and names.
pub(crate) fn binary() -> &'static Path {
    static BINARY: LazyLock<PathBuf> = LazyLock::new(|| {
        std::env::var_os("JUROR_TESTED_PROGRAM")
            .map_or_else(|| env!("CARGO_BIN_EXE_juror").into(), PathBuf::from)
    });
    &BINARY
}

#[track_caller]
pub(crate) fn json_lines(text: &str) -> Vec<Value> {
    assert!(text.is_empty() || text.ends_with('\n'), "{text}");
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

pub(crate) fn row(id: &str, question: &str, reference: &str, response: &str) -> String {
    let row = json!({"id": id, "question": question, "reference_answer": reference, "response": response});
    format!("{row}\n")
}

/// Rollouts of different lengths; every third has a wrong final answer.
pub(crate) fn rollouts(count: usize) -> String {
    (0..count)
        .map(|at| {
            let (have, more) = (at + 2, at % 7 + 1);
            let said = have + more + usize::from(at % 3 == 2);
            row(
                &format!("r{at}"),
                &format!("Tom has {have} apples and buys {more} more. How many apples has he now?"),
                &(have + more).to_string(),
                &format!(
                    "{}He has {have} + {more} = {said}.\n#### {said}",
                    "Let me see. ".repeat(at % 4)
                ),
            )
        })
        .collect()
}

/// What every verdict line owes its reader.
#[track_caller]
pub(crate) fn check_verdict(line: &Value) {
    let status = line["status"].as_str().unwrap();
    assert!(
        [
            "ok",
            "unparsed",
            "too_long",
            "out_of_domain",
            "unsure",
            "failed"
        ]
        .contains(&status),
        "{line}"
    );
    for field in ["process", "outcome", "perfect", "overall", "rule_outcome"] {
        assert!(line[field].is_boolean() || line[field].is_null(), "{line}");
        assert!(line.get(field).is_some(), "{field} is missing: {line}");
    }
    assert_eq!(
        line["outcome_source"].is_null(),
        line["outcome"].is_null(),
        "{line}"
    );
    if status == "ok" {
        assert!(line.get("error").is_none(), "{line}");
        assert!(line["outcome"].is_boolean(), "{line}");
    } else {
        for field in ["process", "perfect", "overall", "reward", "reason"] {
            assert!(line[field].is_null(), "{line}");
        }
        assert_ne!(line["outcome_source"], "judge", "{line}");
        assert!(!line["error"].as_str().unwrap().is_empty(), "{line}");
    }
    if line["outcome_source"] == "rules" {
        assert_eq!(line["outcome"], line["rule_outcome"], "{line}");
    }
    assert!(
        line["reward"].is_null() || line["reward"] == 0.0 || line["reward"] == 1.0,
        "{line}"
    );
}
