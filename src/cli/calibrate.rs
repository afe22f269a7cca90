//! `juror calibrate`

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;

use anyhow::{Context as _, anyhow};
use clap::Args;
use serde_json::Value;

use super::{DONE, Failure, OrFail, say};
use crate::dataset::output::{check_place, write_atomically};
use crate::judge::calibration::{Calibration, Curve, calibration_error, negative_log_likelihood};
use crate::verdict::{Status, Verdict};

/// Labels below which a curve says little.
const FEW: usize = 100;

/// Parts in which the labels are cut, to measure a curve on labels that it was not fitted to.
const PARTS: usize = 5;

/// Fit a judge's probabilities to labels, from verdicts with the labels in them.
#[derive(Debug, Args)]
pub(super) struct CalibrateArguments {
    /// Verdicts in JSON lines, with a row's labels in them (`juror judge --keep`)
    verdicts: PathBuf,
    /// The kept key with the true process: true or false, or 1 or 0
    #[arg(long, value_name = "KEY")]
    process: Option<String>,
    /// The kept key with the true outcome
    #[arg(long, value_name = "KEY", required_unless_present = "process")]
    outcome: Option<String>,
    /// Fit an ascending curve of many points (isotonic regression) instead of one temperature: for a thousand labels or more
    #[arg(long)]
    isotonic: bool,
    /// Where the calibration goes, for `juror judge --calibration`; standard output if not given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(arguments: &CalibrateArguments) -> Result<u8, Failure> {
    if let Some(out) = &arguments.output {
        check_place(out).or_usage()?;
    }
    let fit = |seen: &[(f64, bool)]| {
        if arguments.isotonic {
            Curve::fit_isotonic(seen)
        } else {
            Curve::fit_temperature(seen)
        }
    };
    let [process, outcome] = read(arguments).or_usage()?;
    let mut calibration = Calibration::default();
    for (key, field, seen, curve) in [
        (
            &arguments.process,
            "process",
            &process,
            &mut calibration.process,
        ),
        (
            &arguments.outcome,
            "outcome",
            &outcome,
            &mut calibration.outcome,
        ),
    ] {
        let Some(key) = key else { continue };
        if seen.is_empty() {
            return Err(anyhow!(
                "no verdict has a probability of {field} and a label under `{key}`: judge with `--keep {key}`, and not under a \
                 protocol whose probabilities are not recorded"
            ))
            .or_usage();
        }
        let all: Vec<(f64, bool)> = seen.iter().map(|(_, one)| *one).collect();
        *curve = fit(&all);
        say(&format!("{field}: {}", measured(seen, fit)));
        if seen.len() < FEW {
            say(&format!(
                "note: {} labels of {field} are few: the curve may be far off",
                seen.len()
            ));
        }
    }
    let text = format!("{:#}\n", serde_json::to_value(&calibration).or_fail()?);
    match &arguments.output {
        Some(out) => write_atomically(out, |writer| writer.write_all(text.as_bytes())).or_fail()?,
        None => std::io::stdout().write_all(text.as_bytes()).or_fail()?,
    }
    Ok(DONE)
}

/// How good a curve is on samples that it was not fitted to, each part's by the other parts'.
fn measured(seen: &Seen, fit: impl Fn(&[(f64, bool)]) -> Curve) -> String {
    let plain = Curve::default();
    let of = |seen: &[(f64, bool)]| {
        (
            negative_log_likelihood(&plain, seen),
            calibration_error(&plain, seen),
        )
    };
    let all: Vec<(f64, bool)> = seen.iter().map(|(_, one)| *one).collect();
    let (loss, error) = of(&all);
    let mut calibrated = Vec::with_capacity(seen.len());
    for part in 0..PARTS {
        // All trials of a sample are in one part.
        let (own, others): (Seen, Seen) = seen.iter().partition(|(index, _)| index % PARTS == part);
        let rest: Vec<(f64, bool)> = others.iter().map(|(_, one)| *one).collect();
        let curve = if rest.is_empty() {
            Curve::default()
        } else {
            fit(&rest)
        };
        calibrated.extend(own.iter().map(|(_, (p, label))| (curve.apply(*p), *label)));
    }
    let (new_loss, new_error) = of(&calibrated);
    format!(
        "{} labels; negative log-likelihood {loss:.3} before and {new_loss:.3} after, calibration error {error:.3} and \
         {new_error:.3}, on samples that the curve was not fitted to",
        seen.len()
    )
}

/// Probabilities and labels, each with its sample's place in the input.
type Seen = Vec<(usize, (f64, bool))>;

/// The probabilities and labels of process and outcome.
fn read(arguments: &CalibrateArguments) -> anyhow::Result<[Seen; 2]> {
    let path = &arguments.verdicts;
    let file = File::open(path).with_context(|| format!("could not read {}", path.display()))?;
    let mut seen = [Vec::new(), Vec::new()];
    for (number, line) in BufReader::new(file).lines().enumerate() {
        let at = || format!("{}:{}", path.display(), number + 1);
        let line = line.with_context(at)?;
        let verdict: Verdict = serde_json::from_str(&line)
            .with_context(|| format!("{}: no verdict line of `juror judge`", at()))?;
        if !matches!(verdict.status, Status::Ok | Status::Unsure) {
            continue;
        }
        let confidence = verdict.confidence;
        for ((key, probability), seen) in [
            (&arguments.process, confidence.process),
            (&arguments.outcome, confidence.outcome),
        ]
        .into_iter()
        .zip(&mut seen)
        {
            let (Some(key), Some(probability)) = (key, probability) else {
                continue;
            };
            let label = match verdict.input.get(key) {
                None | Some(Value::Null) => continue,
                Some(Value::Bool(label)) => *label,
                Some(value) => match value.as_f64() {
                    Some(number) if number.abs() < f64::EPSILON => false,
                    Some(number) if (number - 1.0).abs() < f64::EPSILON => true,
                    _ => {
                        return Err(anyhow!(
                            "`{key}` is {value}: a label is true or false, or 1 or 0"
                        ))
                        .with_context(at);
                    }
                },
            };
            seen.push((verdict.index, (f64::from(probability), label)));
        }
    }
    Ok(seen)
}
