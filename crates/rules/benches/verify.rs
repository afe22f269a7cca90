//! The rule-based verifier on labelled pairs: time for each case, throughput on one core and on all.
//!
//! `cargo bench -p juror-rules` prints Markdown. A case is two extractions, two parses and one comparison. Every case is
//! timed alone, the least of several runs in turn, so that the quantiles show the cases and not the machine's other work.

#![allow(
    clippy::expect_used,
    missing_docs,
    reason = "a bench that cannot run should stop"
)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::hint::black_box;
use std::time::{Duration, Instant};

use common::hostile;
use juror_rules::{Config, Profile, Verifier};
use rayon::prelude::*;
use serde::Deserialize;

const RUNS: usize = 5;

#[derive(Debug, Deserialize)]
struct Row {
    gold: String,
    pred: String,
}

fn main() {
    let path = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'))
        .unwrap_or_else(|| {
            concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/pairs.jsonl").to_owned()
        });
    let text = std::fs::read_to_string(&path).expect("a file of pairs");
    let rows: Vec<Row> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a pair"))
        .collect();
    println!("{} pairs, least of {RUNS} runs\n", rows.len());
    println!(
        "| profile | median | p90 | p99 | slowest | cases/s on one core | on all {} cores |",
        rayon::current_num_threads()
    );
    println!("|---|---|---|---|---|---|---|");
    for (name, profile) in [("strict", Profile::Strict), ("compat", Profile::Compat)] {
        let verifier = Verifier::new(profile, Config::default());
        let verify = |row: &Row| {
            let started = Instant::now();
            black_box(verifier.verify(&row.gold, &row.pred));
            started.elapsed()
        };
        let mut times = vec![Duration::MAX; rows.len()];
        let mut alone = Duration::MAX;
        let mut together = Duration::MAX;
        for _ in 0..RUNS {
            let started = Instant::now();
            for (time, row) in times.iter_mut().zip(&rows) {
                *time = verify(row).min(*time);
            }
            alone = started.elapsed().min(alone);
            let started = Instant::now();
            rows.par_iter().for_each(|row| {
                verify(row);
            });
            together = started.elapsed().min(together);
        }
        let slowest = (0..rows.len()).max_by_key(|&row| times[row]).unwrap_or(0);
        let mut sorted = times.clone();
        sorted.sort();
        let at = |share: f64| micros(sorted[(share * (sorted.len() - 1) as f64) as usize]);
        let rate = |time: Duration| (rows.len() as f64 / time.as_secs_f64()) as u64;
        println!(
            "| {name} | {} | {} | {} | {} | {} | {} |",
            at(0.5),
            at(0.9),
            at(0.99),
            at(1.0),
            rate(alone),
            rate(together)
        );
        eprintln!("slowest under {name}: {:?}", rows[slowest]);
    }
    survive();
}

/// The slowest hostile inputs, each against itself and against a number.
fn survive() {
    println!("\n| hostile input | profile | time |\n|---|---|---|");
    let mut times = Vec::new();
    for (name, text) in hostile::inputs() {
        for (profile_name, profile) in [("strict", Profile::Strict), ("compat", Profile::Compat)] {
            let verifier = Verifier::new(profile, Config::default());
            for (gold, pred) in [
                (text.as_str(), "17/23"),
                ("17/23", text.as_str()),
                (&text, &text),
            ] {
                let mut least = Duration::MAX;
                for _ in 0..3 {
                    let started = Instant::now();
                    black_box(verifier.verify(gold, pred));
                    least = started.elapsed().min(least);
                    if least < Duration::from_millis(5) {
                        break;
                    }
                }
                times.push((least, name.clone(), profile_name));
            }
        }
    }
    times.sort();
    for (time, name, profile) in times.iter().rev().take(15) {
        println!(
            "| {name} | {profile} | {:.1} ms |",
            time.as_secs_f64() * 1e3
        );
    }
    println!("\n{} verifications in all", times.len());
}

fn micros(time: Duration) -> String {
    format!("{:.1} µs", time.as_secs_f64() * 1e6)
}
