//! The embedded judge as its user meets it: whole runs of the real binary.
//!
//! `cargo bench --bench judge` prints, as Markdown, start-up to the first verdict, the examples, throughput alone and in
//! batches, with and without the prefix cache, peak memory, and the share of template tokens found in the cache. Every
//! row is the median of several runs, and rows that are compared are run in turn.

#![allow(
    clippy::expect_used,
    missing_docs,
    reason = "a bench that cannot run should stop"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

const RUNS: usize = 3;

/// One run of the binary.
struct Run {
    wall: Duration,
    /// Peak resident memory in bytes; 0 if the system does not tell.
    memory: u64,
    verdicts: Vec<Value>,
}

impl Run {
    fn sum(&self, field: &str) -> u64 {
        self.verdicts
            .iter()
            .filter_map(|verdict| verdict["usage"][field].as_u64())
            .sum()
    }

    fn per_second(&self, count: u64) -> f64 {
        count as f64 / self.wall.as_secs_f64()
    }
}

fn run(input: &Path, folder: &Path, arguments: &[&str]) -> Run {
    let out = folder.join("verdicts.jsonl");
    // With a journal the second run would resume the first.
    let _ = std::fs::remove_file(folder.join("verdicts.jsonl.journal"));
    let started = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_juror"))
        .args([
            "judge",
            "--quiet",
            "--device",
            "cpu",
            "--no-kept-prefix",
            "-o",
        ])
        .arg(&out)
        .arg(input)
        .args(arguments)
        .stdin(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let mut memory = 0;
    while child
        .try_wait()
        .expect("the child can be waited for")
        .is_none()
    {
        memory = peak_memory(child.id()).max(memory);
        std::thread::sleep(Duration::from_millis(2));
    }
    let wall = started.elapsed();
    let text = std::fs::read_to_string(&out).expect("the run wrote its verdicts");
    let verdicts = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a verdict line"))
        .collect();
    Run {
        wall,
        memory,
        verdicts,
    }
}

/// `VmHWM` of a process, if there is a `/proc`.
fn peak_memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap_or_default();
    line.trim()
        .trim_end_matches(" kB")
        .parse::<u64>()
        .unwrap_or(0)
        * 1024
}

/// Runs each setting in turn, several times over; returns the run of median time for each setting.
fn compare(input: &Path, folder: &Path, settings: &[&[&str]]) -> Vec<Run> {
    let mut runs: Vec<Vec<Run>> = settings.iter().map(|_| Vec::new()).collect();
    for _ in 0..RUNS {
        for (setting, runs) in settings.iter().zip(&mut runs) {
            runs.push(run(input, folder, setting));
        }
    }
    runs.into_iter()
        .map(|mut runs| {
            runs.sort_by_key(|run| run.wall);
            runs.swap_remove(RUNS / 2)
        })
        .collect()
}

fn main() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let examples = root.join("examples/rollouts.jsonl");
    let rollouts = root.join("tests/data/tiny/domain.jsonl");

    println!("| what | median of {RUNS} |\n|---|---|");
    let first = &compare(&examples, folder, &[&["--limit", "1"]])[0];
    println!(
        "| start to first verdict (whole run of one sample) | {:.2} s |",
        first.wall.as_secs_f64()
    );
    let all = &compare(&examples, folder, &[&[]])[0];
    println!(
        "| the {} examples | {:.2} s |",
        all.verdicts.len(),
        all.wall.as_secs_f64()
    );

    println!(
        "\n| 300 rollouts | verdicts/s | tokens/s generated | prompt tokens cached | peak memory | against one by one |"
    );
    println!("|---|---|---|---|---|---|");
    let settings: [(&str, &[&str]); 4] = [
        ("one by one", &["--max-sequences", "1"]),
        ("8 at once", &["--max-sequences", "8"]),
        ("64 at once", &["--max-sequences", "64"]),
        (
            "64 at once, no prefix cache",
            &["--max-sequences", "64", "--no-prefix-cache"],
        ),
    ];
    let runs = compare(&rollouts, folder, &settings.map(|(_, arguments)| arguments));
    let alone = runs[0].wall.as_secs_f64();
    for ((name, _), run) in settings.iter().zip(&runs) {
        println!(
            "| {name} | {:.1} | {:.0} | {:.1} % | {:.0} MB | {:.1} × |",
            run.per_second(run.verdicts.len() as u64),
            run.per_second(run.sum("completion_tokens")),
            100.0 * run.sum("cached_tokens") as f64 / run.sum("prompt_tokens") as f64,
            run.memory as f64 / 1e6,
            alone / run.wall.as_secs_f64()
        );
    }
}
