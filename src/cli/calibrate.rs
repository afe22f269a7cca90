//! `juror calibrate`

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use super::columns::ColumnArguments;
use super::eval::Labels;
use super::output::{self, ForceArgument};
use super::{DONE, Failure, OrFail, counted, say};
use juror_data::LoadOptions;
use juror_data::output::Mark;
use juror_eval::eval::{
    Task, at_bound, calibration_error, fit_isotonic, fit_temperature, negative_log_likelihood,
    probabilities,
};
use juror_judge::reward::calibration::{Calibration, Curve};

/// Labels below which a curve says little.
const FEW: usize = 100;

/// Parts in which the labels are cut, to measure a curve on labels that it was not fitted to.
const PARTS: usize = 5;

/// Fit a judge's probabilities to labels.
#[derive(Debug, Args)]
pub(super) struct CalibrateArguments {
    /// Verdicts of `juror judge`: JSON lines, CSV or Parquet
    verdicts: PathBuf,
    /// Rows with the labels, found by the samples' ids [default: the verdicts' own kept keys, `juror judge --keep`]
    #[arg(long, value_name = "DATA", num_args = 1..)]
    labels: Vec<PathBuf>,
    /// Which key of a row holds what, as in `juror eval`: `outcome=KEY`, `process=KEY`; nothing after `=` fits no curve for it
    #[arg(long, value_name = "FIELD=KEY", value_delimiter = ',')]
    label_columns: Vec<String>,
    #[command(flatten)]
    columns: ColumnArguments,
    /// Fit an ascending curve of many points (isotonic regression) instead of one temperature: for a thousand labels or more
    #[arg(long)]
    isotonic: bool,
    /// Where the calibration goes, for `juror judge --calibration`; standard output if not given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArgument,
}

pub(super) fn run(arguments: &CalibrateArguments) -> Result<u8, Failure> {
    let mut outputs = output::outputs(arguments.force);
    let out = output::open_json(&mut outputs, arguments.output.as_ref(), Mark::CALIBRATION)?;
    let fit = if arguments.isotonic {
        fit_isotonic
    } else {
        fit_temperature
    };
    let (inputs, named) = (&arguments.labels, &arguments.label_columns);
    let options = LoadOptions::default();
    let mut labels = Labels::read(inputs, &arguments.columns, named, options)?;
    let verdicts = labels.verdicts(&arguments.verdicts)?;
    let mut calibration = Calibration::default();
    let mut fitted = Vec::new();
    for task in [Task::Process, Task::Outcome] {
        let field = task.name();
        let found: Seen = probabilities(task, &verdicts.scored, &labels.samples).collect();
        // The parts that are left out in turn are of samples that have a label, whichever rows these are.
        let numbered = found.chunk_by(|a, b| a.0 == b.0).enumerate();
        let numbered =
            numbered.flat_map(|(number, trials)| trials.iter().map(move |(_, one)| (number, *one)));
        let seen: Seen = numbered.collect();
        let Some(count) = seen.last().map(|(number, _)| number + 1) else {
            continue;
        };
        fitted.push(field);
        let curve = match task {
            Task::Process => &mut calibration.process,
            _ => &mut calibration.outcome,
        };
        let all: Vec<(f64, bool)> = seen.iter().map(|(_, one)| *one).collect();
        *curve = fit(&all);
        let at_bound = at_bound(curve).map(|why| format!("{field}: {why}"));
        let labels = counted(count, "label");
        say(&format!("{field}: {labels}; {}", measured(&seen, fit)));
        if let Some(note) = at_bound {
            say(&format!("note: {note}"));
            calibration.notes.push(note);
        }
        if count < FEW {
            let why = "the curve may be far off";
            say(&format!("note: {labels} of {field} are few: {why}"));
        }
    }
    if fitted.is_empty() {
        bail_usage!(
            "no verdict has both a label and a probability: some protocols record no probabilities"
        );
    }
    let mut value = serde_json::to_value(&calibration).or_fail()?;
    if let Some(fields) = value.as_object_mut() {
        // Of what had no labels nothing is known.
        fields.retain(|key, _| key == "notes" || fitted.contains(&key.as_str()));
    }
    value["fitted_by"] = "juror calibrate".into();
    match &out {
        Some(out) => output::write_json(out, &value)?,
        None => writeln!(std::io::stdout(), "{value:#}").or_fail()?,
    }
    Ok(DONE)
}

/// How good a curve is on samples that it was not fitted to, each part's by the other parts'.
fn measured(seen: &Seen, fit: impl Fn(&[(f64, bool)]) -> Curve) -> String {
    let plain = Curve::default();
    let of = |seen: &[(f64, bool)]| {
        let loss = negative_log_likelihood(&plain, seen);
        (loss, calibration_error(seen))
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
        "negative log-likelihood {loss:.3} before and {new_loss:.3} after, calibration error {error:.3} and \
         {new_error:.3}, on samples that the curve was not fitted to"
    )
}

/// Probabilities and labels, each with its sample's number.
type Seen = Vec<(usize, (f64, bool))>;
