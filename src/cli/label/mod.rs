//! `juror label`

mod agreement;
mod terminal;

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;

use super::columns::ColumnArguments;
use super::inputs::{Inputs, VerdictsAndRows, shown};
use super::join::JoinArguments;
use super::output::{self, ForceArgument};
use super::rows::{number, whole};
use super::{DONE, Failure, INTERRUPTED, OrFail, catch_interrupts, counted, say};
use juror_data::output::Mark;
use juror_eval::label::{
    LabelFile, LabelLine, LabelPair, Queue, QueueChoice, Session, read_labels,
};

/// Label responses by hand: those that judges disagree on, or any others
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct LabelArguments {
    #[command(flatten)]
    judged: VerdictsAndRows,
    #[command(flatten)]
    join: JoinArguments,
    #[command(flatten)]
    columns: ColumnArguments,
    /// Where the labels go, for `juror eval --labels`; the same command again goes on with them
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Who labels
    #[arg(long, value_name = "NAME")]
    annotator: Option<String>,
    /// Ask for all rows, in their order
    #[arg(long, conflicts_with = "sample")]
    all: bool,
    /// Ask for so many rows, drawn at random
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1, usize::MAX))]
    sample: Option<usize>,
    /// Which rows are drawn
    #[arg(long, value_name = "SEED", default_value_t = 0, requires = "sample")]
    seed: u64,
    /// Ask also for samples of which a judge is less sure than this, from 0.5 to 1
    #[arg(long, value_name = "PROBABILITY", value_parser = number(0.5..=1.0, "must be a number from 0.5 to 1"), conflicts_with_all = ["all", "sample"])]
    below: Option<f64>,
    /// Show what the judges say before the label is given; it sways people
    #[arg(long)]
    show_verdict: bool,
    /// Label on a page in the browser, served to this machine alone
    #[cfg(feature = "serve")]
    #[arg(long, conflicts_with_all = ["agreement", "merge"])]
    page: bool,
    /// Port of the page; 0 for any that is free
    #[cfg(feature = "serve")]
    #[arg(long, value_name = "PORT", default_value_t = 0, requires = "page")]
    port: u16,
    /// Print how far the labels of two people agree
    #[arg(long, value_names = ["A", "B"], num_args = 2, conflicts_with_all = QUEUE, conflicts_with_all = ["files", "rows", "join", "output", "annotator", "adjudicate", "merge"])]
    agreement: Vec<PathBuf>,
    /// Write the labels that two people agree on
    #[arg(long, value_names = ["A", "B"], num_args = 2, conflicts_with_all = QUEUE, conflicts_with_all = ["files", "rows", "join", "annotator", "adjudicate"])]
    merge: Vec<PathBuf>,
    /// Take over the labels that two people agree on, and ask for the rest
    #[arg(long, value_names = ["A", "B"], num_args = 2, conflicts_with_all = ["all", "sample", "below"])]
    adjudicate: Vec<PathBuf>,
}

const QUEUE: [&str; 5] = ["verdicts", "all", "sample", "below", "show_verdict"];

const AFTER_HELP: &str = "\
Keys:
  t  right: final answer and derivation
  f  wrong final answer
  p  right final answer, flawed derivation (a lucky guess)
  d  wrong final answer, sound derivation (a slip at the end)
  n  write a note for the label that follows
  s  skip for now    u  undo    q  quit

Each label is on disk before the next sample is shown. What judges say is shown once the label is
given. Without a terminal a line of standard input is a key, with the note after it, as in
`p divides by zero`.";

pub(super) fn run(arguments: &LabelArguments) -> Result<u8, Failure> {
    if !(arguments.agreement.is_empty() && arguments.merge.is_empty()) {
        (arguments.columns).refuse("is of rows, and --agreement and --merge read none")?;
    }
    if let [first, second] = arguments.agreement.as_slice() {
        return agreement::print(&pair(first, second)?);
    }
    if let [first, second] = arguments.merge.as_slice() {
        return merge(&pair(first, second)?, arguments);
    }
    let only_rows = arguments.all || arguments.sample.is_some() || !arguments.adjudicate.is_empty();
    let (verdicts, rows) = arguments.judged.sides(only_rows);
    let annotator = arguments.annotator.as_deref().map(str::trim);
    let annotator = annotator.filter(|name| !name.is_empty());
    let (Some(annotator), Some(output)) = (annotator, &arguments.output) else {
        return Err(missing(arguments, verdicts, rows, annotator)).or_usage();
    };
    if rows.is_empty() || (verdicts.is_empty() && !only_rows) {
        return Err(missing(arguments, verdicts, rows, Some(annotator))).or_usage();
    }
    if verdicts.is_empty() && (arguments.below.is_some() || arguments.show_verdict) {
        bail_usage!("--below and --show-verdict are of verdicts, and none are given");
    }
    check_output(output)?;
    let (choice, given) = choice(arguments)?;
    let columns = arguments.columns.map().or_usage()?;
    let interrupted = catch_interrupts().or_fail()?;
    let mut rows = Inputs::fetch(rows)?.paths;
    // What was joined is read again as long as the labels are taken.
    let _folder = arguments.join.join(&mut rows, false)?;
    let read = Queue::read(&rows, &columns, verdicts, &choice, &interrupted);
    let Some(queue) = read? else {
        return Ok(INTERRUPTED);
    };
    if queue.count() == 0 {
        return nothing_to_do(&choice, output, annotator, &given);
    }
    let file = LabelFile::open(output, annotator, &given)?;
    let session = Session::new(queue, file, annotator);
    #[cfg(feature = "serve")]
    if arguments.page {
        return page(session, arguments, &interrupted);
    }
    let code = terminal::run(session, arguments.show_verdict, &interrupted)?;
    say(&format!("labels in {}", output.display()));
    Ok(code)
}

/// What is missing of all that labelling needs, with a command that has it.
fn missing(
    arguments: &LabelArguments,
    verdicts: &[PathBuf],
    rows: &[PathBuf],
    annotator: Option<&str>,
) -> anyhow::Error {
    let adjudicates = !arguments.adjudicate.is_empty();
    let which = match (arguments.sample, verdicts) {
        (Some(count), _) => format!("--sample {count} "),
        _ if arguments.all => "--all ".to_owned(),
        _ if adjudicates => format!("--adjudicate {} ", shown(&arguments.adjudicate)),
        _ => String::new(),
    };
    let missing = [
        (
            verdicts.is_empty() && which.is_empty(),
            "verdicts, whose disagreements are asked for (or --all, or --sample N)",
        ),
        (
            rows.is_empty(),
            "the rows that were judged (--rows; without verdicts also --all, or --sample N)",
        ),
        (arguments.output.is_none(), "where the labels go"),
        (annotator.is_none(), "who labels"),
    ];
    let missing = missing.iter().filter(|(is_missing, _)| *is_missing);
    let missing: Vec<&str> = missing.map(|(_, what)| *what).collect();
    let or = |given: &[PathBuf], example: &str| match given {
        [] => example.to_owned(),
        given => shown(given),
    };
    let verdicts = if which.is_empty() {
        format!("{} ", or(verdicts, "verdicts.jsonl"))
    } else {
        String::new()
    };
    anyhow!(
        "missing: {}. As in `juror label {verdicts}--rows {} {which}-o {} --annotator {}`",
        missing.join("; "),
        or(rows, "rows.jsonl"),
        or(arguments.output.as_slice(), "labels.jsonl"),
        annotator.unwrap_or("NAME")
    )
}

/// Refuses an output that no labels can go to. Labels are added to what is there, and what holds something else is refused when it is read.
fn check_output(output: &Path) -> Result<(), Failure> {
    let mut outputs = output::outputs(ForceArgument::default());
    outputs.open(output, Mark::Checked).or_usage()?;
    Ok(())
}

/// Which samples are asked for, and the labels that there are already.
fn choice(arguments: &LabelArguments) -> Result<(QueueChoice, Vec<LabelLine>), Failure> {
    if let [first, second] = arguments.adjudicate.as_slice() {
        let pair = pair(first, second)?;
        return Ok((QueueChoice::Of(pair.open()), pair.agreed));
    }
    let choice = match arguments.sample {
        Some(count) => QueueChoice::Drawn(count, arguments.seed),
        None if arguments.all => QueueChoice::All,
        None => QueueChoice::Doubtful(arguments.below.unwrap_or(0.0)),
    };
    Ok((choice, Vec::new()))
}

fn nothing_to_do(
    choice: &QueueChoice,
    output: &Path,
    annotator: &str,
    given: &[LabelLine],
) -> Result<u8, Failure> {
    match choice {
        QueueChoice::Of(_) => {
            LabelFile::open(output, annotator, given)?;
            say(&format!(
                "nothing is left to be asked: {} labels that both agree on are in {}",
                given.len(),
                output.display()
            ));
        }
        QueueChoice::Doubtful(_) => say(
            "the verdicts disagree on no row: ask for unsure ones with --below 0.9, for some with --sample N, or for all with --all",
        ),
        QueueChoice::All | QueueChoice::Drawn(..) => say("there are no rows to be labelled"),
    }
    Ok(DONE)
}

fn pair(first: &Path, second: &Path) -> Result<LabelPair, Failure> {
    let read = |path: &Path| {
        let labels = read_labels(path)?;
        if labels.is_empty() {
            let path = path.display();
            bail_usage!("{path} has no labels: give a file that `juror label -o` wrote");
        }
        Ok(labels)
    };
    Ok(LabelPair::new(&read(first)?, &read(second)?))
}

/// Writes what two people agree on.
fn merge(pair: &LabelPair, arguments: &LabelArguments) -> Result<u8, Failure> {
    let Some(output) = &arguments.output else {
        bail_usage!("say where the labels go: -o labels.jsonl");
    };
    check_output(output)?;
    let both = pair.annotators.join("+");
    LabelFile::open(output, &both, &pair.agreed)?;
    say(&format!(
        "{} that both agree on in {}; {} they disagree on and {} that one of them labelled are left out: a third person \
         decides with --adjudicate",
        counted(pair.agreed.len(), "label"),
        output.display(),
        pair.differing.len(),
        pair.of_one.len()
    ));
    Ok(DONE)
}

#[cfg(feature = "serve")]
fn page(
    session: Session,
    arguments: &LabelArguments,
    interrupted: &std::sync::atomic::AtomicBool,
) -> Result<u8, Failure> {
    let mut tell = |address| {
        say("Ctrl-C ends it; each label is on disk at once");
        super::view::print_address(address);
    };
    let (show_verdict, port) = (arguments.show_verdict, arguments.port);
    let progress =
        juror_eval::label::page::serve(session, show_verdict, port, interrupted, &mut tell);
    let (done, all) = progress.or_fail()?;
    say(&format!("{done} of {all} are labelled"));
    Ok(DONE)
}
