//! Searches for the most costly pairs: hill-climbing on processor time or on memory over the grammar of `grammar.txt`.
//!
//! Runs on stable Rust, without cargo-fuzz; libFuzzer maximises coverage and knows no other objective.
//!
//! ```sh
//! cargo run --release --bin cost -- --seconds 3600 --seed 1 --keep worst.jsonl
//! cargo run --release --bin cost -- --replay worst.jsonl
//! ```
//!
//! A climb begins with a random pair of derivations, or with one kept by an earlier climb, and accepts each mutation that
//! does not lower the objective. It ends with status 1 where a pair took more than `--milliseconds` of the thread's
//! processor time (50) or more than `--megabytes` above what was allocated before it (64). The same seed tries the same
//! pairs as long as the measured times agree.

mod climb;
mod derivation;
mod measure;

use std::io::Write;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use juror_rules::RulesProfile;

use climb::search;
use measure::{Cost, SINCE, UNDER_WAY, line, measure, measure_again};

const PROFILES: [RulesProfile; 3] = [
    RulesProfile::Strict,
    RulesProfile::Compat,
    RulesProfile::Gsm8k,
];

struct Options {
    seconds: u64,
    seed: u64,
    keep: Option<String>,
    replay: Option<String>,
    limit: Cost,
}

fn options() -> Options {
    let mut options = Options {
        seconds: 60,
        seed: 1,
        keep: None,
        replay: None,
        limit: Cost {
            milliseconds: 50.0,
            megabytes: 64.0,
        },
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments
            .next()
            .unwrap_or_else(|| panic!("{name} needs a value"));
        let number = || {
            value
                .parse::<u64>()
                .unwrap_or_else(|_| panic!("{name} {value}: no number"))
        };
        match name.as_str() {
            "--seconds" => options.seconds = number(),
            "--seed" => options.seed = number(),
            "--milliseconds" => options.limit.milliseconds = number() as f64,
            "--megabytes" => options.limit.megabytes = number() as f64,
            "--keep" => options.keep = Some(value),
            "--replay" => options.replay = Some(value),
            _ => panic!("no option {name}"),
        }
    }
    options
}

fn main() {
    let started = Instant::now();
    // Worker threads have small stacks: a search on one finds overflows too.
    let builder = std::thread::Builder::new().stack_size(2 << 20);
    let search = builder
        .spawn(move || run(&options(), started))
        .expect("a thread");
    while !search.is_finished() {
        std::thread::sleep(Duration::from_millis(50));
        let since = SINCE.load(Ordering::Relaxed);
        if since > 0 && started.elapsed().as_millis() as u64 > since + 20_000 {
            std::process::exit(end("takes more than 20 seconds"));
        }
    }
    std::process::exit(search.join().unwrap_or_else(|_| end("panicked")));
}

/// Leaves the pair under way where it can be replayed.
fn end(why: &str) -> i32 {
    let path = "cost-failed.jsonl";
    std::fs::write(path, UNDER_WAY.lock().unwrap().as_str()).expect("a file to write");
    println!("a pair {why}: see {path}");
    1
}

fn run(options: &Options, started: Instant) -> i32 {
    // What is compiled once, at first use.
    for profile in PROFILES {
        measure(
            profile,
            r"The answer is $\frac{1}{2}$ cm",
            r"So \boxed{x = 1, y \in (1,2]} 0.5 kg",
            started,
        );
    }
    let worst = match &options.replay {
        Some(path) => return replay(path, options, started),
        None => search(options.seconds, options.seed, started),
    };
    let mut file = options
        .keep
        .as_ref()
        .map(|path| std::fs::File::create(path).expect("a file to write"));
    let mut most = Cost::default();
    for kept in &worst {
        let [gold, pred] = &kept.texts;
        let cost = measure_again(kept.profile, gold, pred, started);
        most.milliseconds = most.milliseconds.max(cost.milliseconds);
        most.megabytes = most.megabytes.max(cost.megabytes);
        if let Some(file) = &mut file {
            writeln!(file, "{}", line(kept.profile, cost, gold, pred)).expect("room to write");
        }
    }
    report(most, options)
}

fn report(most: Cost, options: &Options) -> i32 {
    println!(
        "worst: {:.1} ms, {:.1} MB",
        most.milliseconds, most.megabytes
    );
    i32::from(
        most.milliseconds > options.limit.milliseconds || most.megabytes > options.limit.megabytes,
    )
}

/// Measures the pairs of a file again.
fn replay(path: &str, options: &Options, started: Instant) -> i32 {
    let text = std::fs::read_to_string(path).expect("a file of pairs");
    let mut most = Cost::default();
    for row in text.lines() {
        let row: serde_json::Value = serde_json::from_str(row).expect("a pair");
        let field = |name: &str| row[name].as_str().unwrap_or_default();
        for profile in PROFILES
            .into_iter()
            .filter(|profile| ["", profile.as_str()].contains(&field("profile")))
        {
            let cost = measure_again(profile, field("gold"), field("pred"), started);
            most.milliseconds = most.milliseconds.max(cost.milliseconds);
            most.megabytes = most.megabytes.max(cost.megabytes);
            let begin = |name: &str| field(name).chars().take(60).collect::<String>();
            println!(
                "{:7.1} ms {:6.1} MB {profile:6} {} | {}",
                cost.milliseconds,
                cost.megabytes,
                begin("gold"),
                begin("pred")
            );
        }
    }
    report(most, options)
}
