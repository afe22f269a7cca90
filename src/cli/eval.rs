//! `juror eval`

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::columns::ColumnArguments;
use super::inputs::{self, Inputs};
use super::{DONE, Failure, OrFail, say, table};
use crate::dataset::output::{check_place, write_atomically};
use crate::dataset::{LineLimit, LoadOptions};
use crate::eval::{
    Comparison, Estimate, EvalError, Evaluation, Flip, LabelColumns, LabelField, Measures,
    PrimeRow, RESAMPLES, Samples, Scores, Share, Task, Verdicts, check_prime, prime_rows,
};
use crate::verdict::Status;

/// Labels below which figures say little.
const FEW: usize = 100;

/// Flips that are shown of each kind.
const SHOWN_FLIPS: usize = 5;

/// Score verdicts against labels: accuracy, F1, lucky guesses, calibration, and judges against each other.
#[derive(Debug, Args)]
pub(super) struct EvalArguments {
    /// Verdicts of `juror judge`: JSON lines, CSV or Parquet
    verdicts: PathBuf,
    /// Rows with the labels, found by the samples' ids; as a rule the judge's input [default: the verdicts' own kept keys]
    #[arg(long, value_name = "DATA", num_args = 1..)]
    labels: Vec<PathBuf>,
    /// Which key of a row holds what: `outcome`, `overall`, `process`, `subject`, `answer_type`; nothing behind `=` reads none
    #[arg(long, value_name = "FIELD=KEY", value_delimiter = ',')]
    label_columns: Vec<String>,
    #[command(flatten)]
    columns: ColumnArguments,
    /// More verdicts on the same samples, each compared with the first
    #[arg(long, value_name = "VERDICTS", num_args = 1..)]
    compare: Vec<PathBuf>,
    /// Print published figures beside the judge's
    #[arg(long, value_name = "BENCHMARK")]
    reference: Option<Benchmark>,
    /// Parameters of the judge that work on a token, in billions, for each file of verdicts in turn: the cost of a verdict is these
    /// times the tokens generated
    #[arg(long, value_name = "BILLIONS", value_delimiter = ',')]
    active_parameters: Vec<f64>,
    /// Everything as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Each verdict with its label, and how it missed it, as JSON lines
    #[arg(long, value_name = "FILE")]
    rows: Option<PathBuf>,
}

/// Published figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Benchmark {
    /// The benchmark of process-outcome verification (arXiv 2602.11570)
    Prime,
}

/// A judge's verdicts, scored.
struct Judged {
    path: PathBuf,
    verdicts: Verdicts,
    evaluation: Evaluation,
    /// What sets it apart from the first, by task.
    comparisons: Vec<(Task, Comparison, Vec<Flip>)>,
}

pub(super) fn run(arguments: &EvalArguments) -> Result<u8, Failure> {
    for file in [&arguments.json, &arguments.rows].into_iter().flatten() {
        check_place(file).or_usage()?;
    }
    let files: Vec<&PathBuf> = std::iter::once(&arguments.verdicts)
        .chain(&arguments.compare)
        .collect();
    if arguments.active_parameters.len() > files.len() {
        return Err(anyhow!(
            "--active-parameters has more numbers than there are files of verdicts"
        ))
        .or_usage();
    }
    let mut labels = Labels::read(
        &arguments.labels,
        &arguments.columns,
        &arguments.label_columns,
    )?;
    let mut judged: Vec<Judged> = Vec::new();
    for (at, path) in files.into_iter().enumerate() {
        let verdicts = labels.verdicts(path)?;
        let samples = &labels.samples;
        let activated = arguments
            .active_parameters
            .get(at)
            .map(|billions| billions * 1e9);
        let evaluation = Evaluation::of(path, &verdicts, samples, activated);
        let comparisons = judged.first().map_or(Vec::new(), |first| {
            let of = |task| {
                let (comparison, flips) =
                    Comparison::of(task, &first.verdicts.scored, &verdicts.scored, samples)?;
                Some((task, comparison, flips))
            };
            Task::ALL.into_iter().filter_map(of).collect()
        });
        judged.push(Judged {
            path: path.clone(),
            verdicts,
            evaluation,
            comparisons,
        });
    }
    let samples = &labels.samples;
    notes(&judged, samples);
    let reference = match arguments.reference {
        Some(Benchmark::Prime) => {
            for difference in check_prime(samples) {
                say(&format!("note: the labels are not PRIME's: {difference}"));
            }
            prime_rows()
        }
        None => Vec::new(),
    };
    print(&judged, samples, &reference)?;
    if let Some(path) = &arguments.json {
        let text = format!("{:#}\n", as_json(&judged, samples, &reference).or_fail()?);
        write_atomically(path, |writer| writer.write_all(text.as_bytes())).or_fail()?;
    }
    if let Some(path) = &arguments.rows {
        write_atomically(path, |writer| {
            write_rows(writer, &judged[0].verdicts, samples)
        })
        .or_fail()?;
    }
    Ok(DONE)
}

fn failure(error: EvalError) -> Failure {
    match error {
        EvalError::Input(error) => inputs::failure(error),
        error => Failure::new(error, true),
    }
}

/// The labels that verdicts are scored against.
pub(super) struct Labels {
    pub(super) samples: Samples,
    columns: LabelColumns,
    /// Are they kept keys of the verdicts themselves?
    own: bool,
}

impl Labels {
    /// Reads them from `inputs`; without inputs the first file of verdicts has them.
    pub(super) fn read(
        inputs: &[PathBuf],
        columns: &ColumnArguments,
        label_columns: &[String],
    ) -> Result<Self, Failure> {
        let own = inputs.is_empty();
        if own && !columns.is_empty() {
            return Err(anyhow!(
                "--columns and --preset are of the rows of --labels, which is not given"
            ))
            .or_usage();
        }
        let mut labels = Self {
            samples: Samples::default(),
            columns: LabelColumns::parse(label_columns)
                .map_err(|why| anyhow!("--label-columns: {why}"))
                .or_usage()?,
            own,
        };
        if !own {
            let inputs = Inputs::of(inputs)?;
            let options = LoadOptions {
                columns: columns.map().or_usage()?,
                max_line: LineLimit::DEFAULT,
                ..LoadOptions::default()
            };
            labels.samples =
                Samples::of_data(&inputs.paths, options, &labels.columns).map_err(failure)?;
            labels.check()?;
        }
        Ok(labels)
    }

    /// Reads a file of verdicts.
    pub(super) fn verdicts(&mut self, path: &Path) -> Result<Verdicts, Failure> {
        // Labels in verdicts are those of the first file.
        let own = self.own && self.samples.labelled.is_empty();
        let verdicts =
            Verdicts::read(path, &mut self.samples, own, &self.columns).map_err(failure)?;
        self.check()?;
        if verdicts.scored.is_empty() {
            return Err(anyhow!(
                "none of the {} verdicts in {} is on a labelled sample: verdicts and labels meet by id, so give the rows that were \
                 judged, with the same `--columns`",
                verdicts.without_label,
                path.display()
            ))
            .or_usage();
        }
        Ok(verdicts)
    }

    /// Scores one file of verdicts, and prints it.
    pub(super) fn score(&mut self, path: &Path) -> Result<(), Failure> {
        let verdicts = self.verdicts(path)?;
        let judged = [Judged {
            path: path.to_owned(),
            evaluation: Evaluation::of(path, &verdicts, &self.samples, None),
            verdicts,
            comparisons: Vec::new(),
        }];
        notes(&judged, &self.samples);
        print(&judged, &self.samples, &[])
    }

    /// Refuses rows none of which has a label, with what was looked for.
    fn check(&self) -> Result<(), Failure> {
        if self.samples.count() > 0 {
            return Ok(());
        }
        let fields = [
            LabelField::Overall,
            LabelField::Outcome,
            LabelField::Process,
        ];
        let looked_for = fields.map(|field| (field.name(), self.columns.keys(field).join(", ")));
        let looked_for = looked_for.iter().filter(|(_, keys)| !keys.is_empty());
        let looked_for: Vec<String> = looked_for
            .map(|(name, keys)| format!("{name}: {keys}"))
            .collect();
        let looked_for = looked_for.join("; ");
        Err(if self.own {
            anyhow!(
                "no verdict has a label among its kept keys (looked for {looked_for}): judge with `--keep KEY`, or give the rows with \
                 the labels: `--labels DATA`"
            )
        } else {
            anyhow!(
                "no row has a label (looked for {looked_for}): name their keys with `--label-columns FIELD=KEY`"
            )
        })
        .or_usage()
    }
}

/// Says what the figures leave out.
fn notes(judged: &[Judged], samples: &Samples) {
    for one in judged {
        let evaluation = &one.evaluation;
        for (count, what) in [
            (
                evaluation.without_label,
                "verdicts are on samples without a label, and are left out",
            ),
            (
                evaluation.without_verdict,
                "labelled samples have no verdict, and are left out",
            ),
        ] {
            if count > 0 {
                say(&format!("note: {}: {count} {what}", one.path.display()));
            }
        }
        if evaluation.all.samples < FEW {
            say(&format!(
                "note: {} samples are few: look at the intervals",
                evaluation.all.samples
            ));
        }
    }
    let contradictory = judged
        .first()
        .map_or(0, |one| one.evaluation.contradictory_labels);
    if contradictory > 0 {
        say(&format!(
            "note: {contradictory} of {} labels say right overall and wrong in the outcome",
            samples.count()
        ));
    }
}

/// A share in percent, with its interval.
fn percent(share: Option<Share>) -> String {
    share.map_or_else(
        dash,
        |Share {
             share, interval, ..
         }| with_interval(share, Some(interval)),
    )
}

fn estimate(estimate: Option<Estimate>) -> String {
    estimate.map_or_else(dash, |Estimate { value, interval }| {
        with_interval(value, interval)
    })
}

fn with_interval(value: f64, interval: Option<[f64; 2]>) -> String {
    match interval {
        Some([low, high]) => format!(
            "{:.1} ({:.1}–{:.1})",
            100.0 * value,
            100.0 * low,
            100.0 * high
        ),
        None => format!("{:.1}", 100.0 * value),
    }
}

fn plain(value: Option<f64>) -> String {
    value.map_or_else(dash, |value| format!("{:.1}", 100.0 * value))
}

fn dash() -> String {
    "–".to_owned()
}

/// Columns of the table of scores.
const HEADER: [&str; 8] = [
    "",
    "labels",
    "accuracy",
    "of answered",
    "F1",
    "precision",
    "recall",
    "kappa",
];

fn row(name: &str, scores: &Scores) -> [String; 8] {
    [
        name.to_owned(),
        scores.confusion.all().to_string(),
        percent(Some(scores.accuracy)),
        plain(scores.selective_accuracy.map(|share| share.share)),
        estimate(scores.f1),
        plain(scores.precision.map(|share| share.share)),
        plain(scores.recall.map(|share| share.share)),
        scores
            .kappa
            .map_or_else(dash, |kappa| format!("{:.2}", kappa.value)),
    ]
}

/// The tables.
fn print(judged: &[Judged], samples: &Samples, reference: &[PrimeRow]) -> Result<(), Failure> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    for one in judged {
        let evaluation = &one.evaluation;
        let all = &evaluation.all;
        let heading = format!(
            "{}: {} verdicts on {} labelled samples",
            one.path.display(),
            all.verdicts,
            all.samples
        );
        writeln!(out, "{heading}\n").or_fail()?;
        let mut rows = Vec::new();
        for (task, scores) in &all.tasks {
            rows.push(row(task.name(), scores));
            for (subject, measures) in &evaluation.by_subject {
                rows.extend(
                    measures
                        .tasks
                        .get(task)
                        .map(|scores| row(&format!("  {subject}"), scores)),
                );
            }
            if let Some(means) = evaluation.over_subjects.get(task) {
                let mut means_row: [String; 8] = std::array::from_fn(|_| dash());
                "  mean of subjects".clone_into(&mut means_row[0]);
                means_row[2] = estimate(Some(means.accuracy));
                means_row[4] = estimate(means.f1);
                rows.push(means_row);
            }
            rows.extend(
                all.rules
                    .get(task)
                    .map(|scores| row("  rules alone", scores)),
            );
            for (name, baseline) in [
                ("  always true", &evaluation.always_true),
                ("  always false", &evaluation.always_false),
            ] {
                let Some(baseline) = baseline.get(task) else {
                    continue;
                };
                let mut constant: [String; 8] = std::array::from_fn(|_| dash());
                name.clone_into(&mut constant[0]);
                constant[2] = plain(Some(baseline.accuracy));
                constant[4] = plain(baseline.f1);
                rows.push(constant);
            }
        }
        table::write(&mut out, HEADER, &rows)?;
        table::write_text(&mut out, &facts(all))?;
        for (task, reliability) in &evaluation.reliability {
            let f1 = reliability.best_f1.map_or(String::new(), |best| {
                format!(
                    ", F1 at {:.3} ({:.1} %)",
                    best.threshold,
                    100.0 * best.value
                )
            });
            let text = format!(
                "{} probabilities: calibration error {:.3}, Brier score {:.3}{}; accuracy is highest at threshold {:.3} ({:.1} %){f1}",
                task.name(),
                reliability.calibration_error,
                reliability.brier,
                reliability
                    .auc
                    .map_or(String::new(), |auc| format!(", AUC {auc:.3}")),
                reliability.best_accuracy.threshold,
                100.0 * reliability.best_accuracy.value,
            );
            table::write_text(&mut out, &text)?;
        }
        if let Some(cost) = evaluation.cost {
            table::write_text(
                &mut out,
                &format!(
                    "cost: {cost:.1} (billions of active parameters × tokens generated for a verdict)"
                ),
            )?;
        }
        writeln!(out).or_fail()?;
    }
    print_comparisons(&mut out, judged, samples)?;
    if !reference.is_empty() {
        let rows: Vec<[String; 5]> = reference
            .iter()
            .map(|row| {
                let lucky = row
                    .lucky_guess
                    .map_or_else(dash, |value| format!("{value:.2}"));
                [
                    row.judge.clone(),
                    format!("{:.2}", row.outcome),
                    format!("{:.2}", row.overall),
                    format!("{:.2}", row.f1),
                    lucky,
                ]
            })
            .collect();
        writeln!(out, "published (arXiv 2602.11570), in percent\n").or_fail()?;
        table::write(
            &mut out,
            ["judge", "outcome", "overall", "F1", "lucky guesses found"],
            &rows,
        )?;
    }
    out.flush().or_fail()
}

/// Lucky guesses, verdicts that could not be read, tokens.
fn facts(measures: &Measures) -> String {
    let lucky = measures.lucky_guesses.map(|share| {
        format!(
            "lucky guesses refused {} % of {}",
            percent(Some(share)),
            share.all
        )
    });
    let statuses = measures
        .by_status
        .iter()
        .filter(|(status, _)| **status != Status::Ok);
    let statuses = statuses.map(|(status, count)| {
        let name = json!(status).as_str().unwrap_or_default().replace('_', " ");
        format!(
            "{name} {:.2} % ({count})",
            100.0 * measures.share_of(*status)
        )
    });
    let tokens = measures.tokens;
    let tokens = format!(
        "tokens generated for a verdict: mean {:.1}, median {}, one in 20 more than {}",
        tokens.mean, tokens.median, tokens.p95
    );
    lucky
        .into_iter()
        .chain(statuses)
        .chain([tokens])
        .collect::<Vec<String>>()
        .join("; ")
}

/// How the other judges differ from the first.
fn print_comparisons(
    out: &mut impl Write,
    judged: &[Judged],
    samples: &Samples,
) -> Result<(), Failure> {
    let Some((first, others)) = judged.split_first() else {
        return Ok(());
    };
    for other in others {
        writeln!(
            out,
            "{} against {}\n",
            other.path.display(),
            first.path.display()
        )
        .or_fail()?;
        let rows: Vec<[String; 6]> = other
            .comparisons
            .iter()
            .map(|(task, comparison, _)| {
                let points = |estimate: Estimate| match estimate.interval {
                    Some([low, high]) => {
                        format!(
                            "{:+.1} ({:+.1} to {:+.1})",
                            100.0 * estimate.value,
                            100.0 * low,
                            100.0 * high
                        )
                    }
                    None => format!("{:+.1}", 100.0 * estimate.value),
                };
                [
                    task.name().to_owned(),
                    points(comparison.accuracy),
                    comparison.f1.map_or_else(dash, points),
                    comparison.mcnemar.only_second.to_string(),
                    comparison.mcnemar.only_first.to_string(),
                    format!("{:.3}", comparison.mcnemar.p_exact),
                ]
            })
            .collect();
        table::write(
            out,
            ["", "accuracy", "F1", "mended", "broken", "McNemar's p"],
            &rows,
        )?;
        for (task, _, flips) in &other.comparisons {
            for (name, is_mended) in [("mended", true), ("broken", false)] {
                let of_kind = flips
                    .iter()
                    .filter(|flip| (flip.predictions[1] == Some(flip.label)) == is_mended);
                let ids: Vec<&str> = of_kind.map(|flip| samples.id(flip.sample)).collect();
                if !ids.is_empty() {
                    let more = ids.len().saturating_sub(SHOWN_FLIPS);
                    let shown = ids[..ids.len().min(SHOWN_FLIPS)].join(", ");
                    let more = if more > 0 {
                        format!(", and {more} more")
                    } else {
                        String::new()
                    };
                    table::write_text(out, &format!("{} {name}: {shown}{more}", task.name()))?;
                }
            }
        }
        writeln!(out).or_fail()?;
    }
    Ok(())
}

/// Everything as JSON.
fn as_json(judged: &[Judged], samples: &Samples, reference: &[PrimeRow]) -> anyhow::Result<Value> {
    let judges = judged.iter().map(|one| {
        let mut value = serde_json::to_value(&one.evaluation)?;
        let comparisons = one.comparisons.iter().map(|(task, comparison, flips)| {
            let mut value = serde_json::to_value(comparison)?;
            let flips = flips.iter().map(|flip| {
                json!({
                    "id": samples.id(flip.sample), "trial": flip.trial, "label": flip.label,
                    "first": flip.predictions[0], "second": flip.predictions[1],
                })
            });
            value["flips"] = flips.collect();
            Ok((task.name().to_owned(), value))
        });
        let comparisons = comparisons.collect::<anyhow::Result<serde_json::Map<_, _>>>()?;
        if !comparisons.is_empty() {
            value["against_first"] = comparisons.into();
        }
        Ok(value)
    });
    let mut value = json!({"version": 1, "judges": judges.collect::<anyhow::Result<Vec<Value>>>()?, "resamples": RESAMPLES});
    if !reference.is_empty() {
        value["prime"] = serde_json::to_value(reference)?;
    }
    Ok(value)
}

/// A line for each verdict: its label, what it says, and how it missed the label.
fn write_rows(
    writer: &mut dyn Write,
    verdicts: &Verdicts,
    samples: &Samples,
) -> std::io::Result<()> {
    for scored in &verdicts.scored {
        let Some(labelled) = samples.labelled.get(scored.sample as usize) else {
            continue;
        };
        let misses = [
            ("no_verdict", scored.status != Status::Ok),
            (
                "missed_lucky_guess",
                scored.overall == Some(true)
                    && (labelled.outcome, labelled.overall) == (Some(true), Some(false)),
            ),
            (
                "false_alarm",
                scored.overall == Some(false) && labelled.overall == Some(true),
            ),
            (
                "false_pass",
                scored.overall == Some(true) && labelled.overall == Some(false),
            ),
            (
                "outcome_miss",
                scored
                    .outcome
                    .zip(labelled.outcome)
                    .is_some_and(|(said, label)| said != label),
            ),
            (
                "rules_against_judge",
                scored
                    .outcome
                    .zip(scored.rules)
                    .is_some_and(|(said, rules)| said != rules),
            ),
        ];
        let misses: Vec<&str> = misses
            .into_iter()
            .filter(|(_, is)| *is)
            .map(|(name, _)| name)
            .collect();
        let row = json!({
            "id": samples.id(scored.sample), "trial": scored.trial, "line": scored.line, "status": scored.status,
            "subject": labelled.subject.map(|number| samples.subjects.name(number)),
            "label": {"process": labelled.process, "outcome": labelled.outcome, "overall": labelled.overall},
            "verdict": {"process": scored.process, "outcome": scored.outcome, "overall": scored.overall},
            "misses": misses,
        });
        serde_json::to_writer(&mut *writer, &row)?;
        writer.write_all(b"\n")?;
    }
    Ok(())
}
