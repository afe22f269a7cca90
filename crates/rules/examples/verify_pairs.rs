//! Verifies pairs of answers: JSON lines with `gold`, `pred` and perhaps `config` on standard input, verdicts on standard output.
//!
//! ```sh
//! echo '{"gold": "\\frac{1}{2}", "pred": "So it is 0.5."}' | cargo run -p juror-rules --example verify_pairs
//! ```
//!
//! An argument `compat` asks for the verdicts of Math-Verify.

use std::error::Error;
use std::io::{BufWriter, Write, stdin, stdout};

use juror_rules::{Config, Profile, Verifier};
use serde::Deserialize;

#[derive(Deserialize)]
struct Pair {
    gold: String,
    pred: String,
    config: Option<Config>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let profile = match std::env::args().nth(1).as_deref() {
        None | Some("strict") => Profile::Strict,
        Some("compat") => Profile::Compat,
        Some(other) => return Err(format!("no profile `{other}`: strict or compat").into()),
    };
    let mut out = BufWriter::new(stdout().lock());
    for line in stdin().lines() {
        let pair: Pair = serde_json::from_str(&line?)?;
        let verifier = Verifier::new(profile, pair.config.unwrap_or_default());
        let verification = verifier.verify(&pair.gold, &pair.pred);
        serde_json::to_writer(&mut out, &verification)?;
        writeln!(out)?;
    }
    Ok(out.flush()?)
}
