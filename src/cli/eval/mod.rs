//! `juror eval`

mod html;
mod json;
mod tables;

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::{Args, ValueEnum};

use super::columns::{ColumnArguments, parse_label_columns};
use super::inputs::Inputs;
use super::output::{self, ForceArgument};
use super::rows::number;
use super::{DONE, Failure, OrFail, counted_are, say};
use juror_data::LoadOptions;
use juror_data::output::Mark;
use juror_eval::eval::{
    Choices, Comparison, Evaluation, Flip, LabelColumns, LabelField, MOST_PARTS, Samples, Task,
    Verdicts, both_sides, check_prime, prime_rows, shared_samples,
};

use json::Report;
use juror_eval::report::evaluation::BEGINNING;

/// Labels below which figures say little.
const FEW: usize = 100;

/// Score verdicts against labels, and judges against each other
#[derive(Debug, Args)]
pub(super) struct EvalArguments {
    /// Verdicts of `juror judge`: JSON lines, CSV or Parquet
    #[arg(required_unless_present = "json_schema")]
    verdicts: Option<PathBuf>,
    /// Rows with the labels, found by the samples' ids; as a rule the judge's input [default: the verdicts' own kept keys]
    #[arg(long, value_name = "DATA", num_args = 1..)]
    labels: Vec<PathBuf>,
    /// Which key of a row holds what: `outcome`, `overall`, `process`, `subject`, `answer_type`; nothing after `=` reads none.
    /// `letters=inspect` or `letters=verifierbench`: whose letters labels are
    #[arg(long, value_name = "FIELD=KEY", value_delimiter = ',')]
    label_columns: Vec<String>,
    #[command(flatten)]
    columns: ColumnArguments,
    /// More verdicts on the same samples, each compared with the first
    #[arg(long, value_name = "VERDICTS", num_args = 1..)]
    compare: Vec<PathBuf>,
    /// Print published figures next to the judge's
    #[arg(long, value_name = "BENCHMARK")]
    reference: Option<Benchmark>,
    /// Parameters of the judge that work on a token, in billions, for each file of verdicts in turn: the cost of a verdict is these
    /// times the tokens generated
    #[arg(long, value_name = "BILLIONS", value_delimiter = ',', value_parser = number(0.0..=1e6, "must be a number from 0 to 1000000"))]
    active_parameters: Vec<f64>,
    /// Everything as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Print the JSON schema of what `--json` writes, and nothing else
    #[arg(long, exclusive = true)]
    json_schema: bool,
    /// Each verdict with its label, and how it missed it, as JSON lines
    #[arg(long, value_name = "FILE")]
    rows_out: Option<PathBuf>,
    /// Everything as one HTML page that needs nothing else, with the verdicts that somebody disagrees with
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArgument,
    /// Rows with the samples' texts for the page, where the labels have none [default: the labels' rows, or the verdicts' own kept keys]
    #[arg(long, value_name = "DATA", num_args = 1.., requires = "html")]
    rows: Vec<PathBuf>,
    /// Summaries of the runs (`juror judge --summary-json`), for each file of verdicts in turn: how fast they were
    #[arg(long, value_name = "SUMMARY", num_args = 1.., requires = "html")]
    summaries: Vec<PathBuf>,
}

/// Published figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Benchmark {
    /// The benchmark of process-outcome verification (arXiv 2602.11570)
    Prime,
}

struct ScoredJudge {
    path: PathBuf,
    verdicts: Verdicts,
    evaluation: Evaluation,
    /// What sets it apart from the first, by task.
    comparisons: Vec<(Task, Comparison, Vec<Flip>)>,
}

pub(super) fn run(arguments: &EvalArguments) -> Result<u8, Failure> {
    if arguments.json_schema {
        return output::print_schema::<Report>();
    }
    let files = arguments.verdicts.iter().chain(&arguments.compare);
    let files: Vec<&PathBuf> = files.collect();
    let mut outputs = output::outputs(arguments.force);
    let json = output::open(&mut outputs, arguments.json.as_ref(), Mark::EVAL)?;
    let rows_out = arguments.rows_out.as_ref();
    let rows_out = output::open(&mut outputs, rows_out, Mark::EVAL_ROWS)?;
    let (html, mark) = (arguments.html.as_ref(), Mark::Beginning(BEGINNING.into()));
    let html = output::open(&mut outputs, html, mark)?;
    if arguments.active_parameters.len() > files.len() {
        bail_usage!("--active-parameters has more numbers than there are files of verdicts");
    }
    let rates = html::check(arguments, files.len())?;
    // Beside labels that are kept keys of verdicts, columns are those of the rows with the texts.
    let none = ColumnArguments::default();
    let columns = if arguments.labels.is_empty() && !arguments.rows.is_empty() {
        &none
    } else {
        &arguments.columns
    };
    let (inputs, label_columns) = (&arguments.labels, &arguments.label_columns);
    let mut labels = Labels::read(inputs, columns, label_columns, LoadOptions::default())?;
    let mut judged: Vec<ScoredJudge> = Vec::new();
    for (at, path) in files.into_iter().enumerate() {
        let verdicts = labels.verdicts(path)?;
        let samples = &labels.samples;
        let activated = arguments.active_parameters.get(at).copied();
        let evaluation = Evaluation::new(path, &verdicts, samples, activated);
        let comparisons = judged.first().map_or(Vec::new(), |first| {
            let of = |task| {
                let (comparison, flips) =
                    Comparison::new(task, &first.verdicts.scored, &verdicts.scored, samples)?;
                Some((task, comparison, flips))
            };
            Task::ALL.into_iter().filter_map(of).collect()
        });
        judged.push(ScoredJudge {
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
    let of_each = judged.iter().map(|one| (&one.evaluation, &one.verdicts));
    let of_each: Vec<(&Evaluation, &Verdicts)> = of_each.collect();
    if of_each.len() > 1 && shared_samples(&of_each).is_empty() {
        say("note: no sample has a verdict of each judge, so none is told to be better");
    }
    let choices = Choices::new(&of_each, samples);
    tables::print(&judged, samples, choices.as_ref(), &reference)?;
    if let Some(file) = &json {
        let report = Report::new(&judged, samples, choices.clone(), reference.clone());
        output::write_json(file, &report)?;
    }
    if let Some(file) = &rows_out {
        file.write(|writer| json::rows(writer, &judged[0].verdicts, samples))
            .or_fail()?;
    }
    if let Some(file) = &html {
        html::write(
            file,
            arguments,
            &judged,
            samples,
            choices.as_ref(),
            &reference,
            &rates,
        )?;
    }
    Ok(DONE)
}

/// The labels that verdicts are scored against.
pub(super) struct Labels {
    pub(super) samples: Samples,
    columns: LabelColumns,
    /// The keys that rows or verdicts have, where none of them has a label.
    keys: Vec<String>,
    /// Whether the verdicts' own kept keys hold the labels.
    own: bool,
}

impl Labels {
    /// Reads them from `inputs` with these options; without inputs the first file of verdicts has them.
    pub(super) fn read(
        inputs: &[PathBuf],
        columns: &ColumnArguments,
        label_columns: &[String],
        options: LoadOptions,
    ) -> Result<Self, Failure> {
        let own = inputs.is_empty();
        if own {
            columns.refuse("is of the rows of --labels, which is not given")?;
        }
        let mut labels = Self {
            samples: Samples::default(),
            keys: Vec::new(),
            columns: parse_label_columns(label_columns)?,
            own,
        };
        if !own {
            let inputs = Inputs::fetch(inputs)?;
            let options = LoadOptions {
                columns: columns.map().or_usage()?,
                ..options
            };
            labels.samples = Samples::of_data(&inputs.paths, options.clone(), &labels.columns)?;
            if labels.samples.count() == 0 {
                labels.keys = Samples::keys_of(&inputs.paths, options)?;
            }
            labels.check()?;
        }
        Ok(labels)
    }

    pub(super) fn verdicts(&mut self, path: &Path) -> Result<Verdicts, Failure> {
        // Labels in verdicts are those of the first file.
        let own = self.own && self.samples.labelled.is_empty();
        let mut verdicts = Verdicts::read(path, &mut self.samples, own, &self.columns)?;
        verdicts.keep_labelled(&self.samples);
        self.keys.clone_from(&verdicts.kept_keys);
        self.check()?;
        let is_ranking = verdicts.scored.is_empty() && !verdicts.scores.is_empty();
        if is_ranking && !self.samples.has_preferences() {
            bail_usage!(
                "{} ranks responses: give rows that say which are better, such as pairs of `chosen` and `rejected`; these label single ones",
                path.display()
            );
        }
        if verdicts.scored.is_empty() && verdicts.scores.is_empty() {
            bail_usage!(
                "none of the {} verdicts in {} is on a labelled sample: verdicts and labels meet by id, so give the rows that were \
                 judged, with the same `--columns` ({}){}",
                verdicts.without_label,
                path.display(),
                both_sides(
                    verdicts.strangers.iter().map(String::as_str),
                    self.samples.labelled_ids()
                ),
                several(&verdicts)
            );
        }
        Ok(verdicts)
    }

    /// Scores one file of verdicts, and prints it.
    pub(super) fn score(&mut self, path: &Path) -> Result<(), Failure> {
        let verdicts = self.verdicts(path)?;
        let judged = [ScoredJudge {
            path: path.to_owned(),
            evaluation: Evaluation::new(path, &verdicts, &self.samples, None),
            verdicts,
            comparisons: Vec::new(),
        }];
        notes(&judged, &self.samples);
        tables::print(&judged, &self.samples, None, &[])
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
        let keys = match self.keys.as_slice() {
            [] => "none".to_owned(),
            keys => keys.join(", "),
        };
        Err(if self.own {
            anyhow!(
                "no verdict has a label among its kept keys, which are: {keys} (looked for {looked_for}; of several responses in a row each \
                 needs its own): give the rows with the labels, `--labels DATA`, or judge with `--keep KEY`"
            )
        } else {
            anyhow!(
                "no row has a label: name its key with `--label-columns FIELD=KEY`, as in `--label-columns outcome=KEY` (of several responses \
                 in a row each needs its own). The keys of the first row: {keys}. Looked for {looked_for}"
            )
        })
        .or_usage()
    }
}

/// What keeps labels by rows' ids from their verdicts.
fn several(verdicts: &Verdicts) -> String {
    let of = |id: &String| {
        format!(
            "; labels have the ids of rows with several responses: each needs the id of one response, such as {id:?}"
        )
    };
    verdicts.of_several.as_ref().map_or(String::new(), of)
}

/// Says what the figures leave out.
fn notes(judged: &[ScoredJudge], samples: &Samples) {
    for one in judged {
        let evaluation = &one.evaluation;
        for sentence in evaluation.left_out() {
            say(&format!("note: {}: {sentence}", one.path.display()));
        }
        if evaluation.all.samples < FEW && !one.verdicts.scored.is_empty() {
            say(&format!(
                "note: {} few: look at the intervals",
                counted_are(evaluation.all.samples, "sample")
            ));
        }
    }
    if let Some(filter) = &samples.filter {
        say(&format!(
            "note: labels are those of the filter {filter:?}, the first of several; for another one's give its rows alone, as of \
             `jq -c 'select(.filter == \"NAME\")'`"
        ));
    }
    let types = &samples.answer_types;
    for (names, what, field) in [
        (&samples.subjects, "subjects", LabelField::Subject),
        (types, "types of answers", LabelField::AnswerType),
    ] {
        let count = names.all().len();
        if count > MOST_PARTS {
            say(&format!(
                "note: {count} {what} are too many to tell figures apart by (at most {MOST_PARTS}): name another key with \
                 `--label-columns {}=KEY`",
                field.name()
            ));
        }
    }
    let first = judged.first();
    let contradictory = first.map_or(0, |one| one.evaluation.contradictory_labels);
    if contradictory > 0 {
        say(&format!(
            "note: {contradictory} of {} labels say right overall and wrong in the outcome",
            samples.count()
        ));
    }
}
