//! Times pairs of answers: JSON lines with `gold` and `pred` on standard input, one line of JSON with the times on standard output.
//!
//! Each pair is verified in turn under both profiles, so that other work of the machine meets both alike; the least of the runs counts.
//!
//! ```sh
//! cargo run --release -p juror-rules --example time_pairs < pairs.jsonl
//! ```

use std::error::Error;
use std::hint::black_box;
use std::io::stdin;
use std::time::{Duration, Instant};

use juror_rules::{Config, Profile, Verifier};
use serde::Deserialize;

/// How often each pair is verified.
const RUNS: usize = 7;

#[derive(Deserialize)]
struct Pair {
    gold: String,
    pred: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut pairs = Vec::new();
    for line in stdin().lines() {
        pairs.push(serde_json::from_str::<Pair>(&line?)?);
    }
    let profiles = [("strict", Profile::Strict), ("compat", Profile::Compat)];
    let mut times = vec![[Duration::MAX; 2]; pairs.len()];
    for _ in 0..RUNS {
        for (pair, times) in pairs.iter().zip(&mut times) {
            for (time, (_, profile)) in times.iter_mut().zip(profiles) {
                let verifier = Verifier::new(profile, Config::default());
                let started = Instant::now();
                black_box(verifier.verify(&pair.gold, &pair.pred));
                *time = started.elapsed().min(*time);
            }
        }
    }
    let mut told = serde_json::json!({"pairs": pairs.len()});
    for (at, (name, _)) in profiles.into_iter().enumerate() {
        let mut own: Vec<Duration> = times.iter().map(|it| it[at]).collect();
        own.sort_unstable();
        let micros = |share: usize| {
            let time = own.get(own.len() * share / 100);
            time.map(|it| it.as_nanos() as f64 / 1e3)
        };
        let mean = own.iter().sum::<Duration>().as_nanos() as f64 / 1e3 / own.len().max(1) as f64;
        told[name] = serde_json::json!({"median": micros(50), "p90": micros(90), "p99": micros(99), "mean": mean});
    }
    println!("{told}");
    Ok(())
}
