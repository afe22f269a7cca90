//! `juror build`

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::builder::TypedValueParser;
use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::{Value, json};

use super::columns::ColumnArguments;
use super::inputs::{Inputs, VerdictsAndRows};
use super::output::{self, ForceArgument, TableArguments};
use super::rows::{finite, number, one_of};
use super::{DONE, Failure, OrFail, counted, counted_are, say, table};
use crate::cli::rows::INPUT;
use juror_data::output::{Mark, OutputFile};
use juror_data::verdict::Status;
use juror_data::{Keep, LineLimit, LoadOptions, Needs};
use juror_eval::build::best::Best;
use juror_eval::build::hard::Hard;
use juror_eval::build::pairs::{By, Pairs, WantedPairs};
use juror_eval::build::sft::{Accepted, WantedResponses};
use juror_eval::build::{Coverage, Form, Judged, Output, Written};

#[derive(Debug, Subcommand)]
pub(super) enum BuildAction {
    /// Keep the samples on which the trials of a judge disagree (0 < C < 1), as rows that can be judged again
    Hard(BuildArguments),
    /// Make preference pairs of the responses to each question: `prompt`, `chosen`, `rejected`
    Pairs(PairsArguments),
    /// Take the best response to each question, and print what the best of n is worth
    BestOfN(BestArguments),
    /// Take the responses that the judge accepts, to fine-tune on: `prompt` and `completion`, or `messages`
    Sft(SftArguments),
}

/// Rows, the verdicts on them, and where the result goes.
#[derive(Debug, Args)]
pub(super) struct BuildArguments {
    #[command(flatten)]
    judged: VerdictsAndRows,
    /// Where the rows go: .jsonl, .csv or .parquet; standard output with `-`
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    #[command(flatten)]
    columns: ColumnArguments,
    /// Keys of each row that go along; `all` for every key
    #[arg(long, value_name = "KEY", value_delimiter = ',', help_heading = INPUT)]
    keep: Vec<String>,
    /// Longest line that is read
    #[arg(long, value_name = "N", default_value_t = LineLimit::DEFAULT.0, value_parser = clap::value_parser!(u32).range(1..), help_heading = INPUT)]
    max_line_bytes: u32,
    #[command(flatten)]
    force: ForceArgument,
    #[command(flatten)]
    table: TableArguments,
    /// Write the counts as JSON too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Print warnings and errors only
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Debug, Args)]
pub(super) struct PairsArguments {
    #[command(flatten)]
    common: BuildArguments,
    /// What decides which response is better
    #[arg(long, value_name = "WHAT", default_value = "overall", value_parser = by())]
    by: By,
    /// Pairs of one question, at most
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    per_question: u32,
    /// How far the mean rewards must be apart, at least
    #[arg(long, value_name = "X", value_parser = finite)]
    min_margin: Option<f64>,
    /// Take rejected responses that are lucky guesses by the verdicts (right final answer, flawed derivation) before others: where the
    /// judge errs, these are its errors
    #[arg(long)]
    lucky_first: bool,
    /// Write `prompt`, `chosen` and `rejected` as chat messages
    #[arg(long)]
    messages: bool,
    /// Decides among responses that are equally good
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

fn by() -> impl TypedValueParser<Value = By> {
    one_of([
        (
            "overall",
            "The one is held for right and the other for wrong, by most trials",
            By::Overall,
        ),
        ("reward", "The one has a higher mean reward", By::Reward),
    ])
}

#[derive(Debug, Args)]
pub(super) struct BestArguments {
    #[command(flatten)]
    common: BuildArguments,
    /// Leave out questions whose best response has a lower mean reward
    #[arg(long, value_name = "X", value_parser = finite)]
    min_reward: Option<f64>,
    /// Write question and response as `messages`
    #[arg(long)]
    messages: bool,
}

#[derive(Debug, Args)]
pub(super) struct SftArguments {
    #[command(flatten)]
    common: BuildArguments,
    /// Responses to one question, at most: the best ones by reward, then the judge's probability [default: all that are accepted]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    per_question: Option<u32>,
    /// The share of the trials that must hold a response for right, from 0 to 1 [default: more than half]
    #[arg(long, value_name = "C", value_parser = number(0.0..=1.0, "must be a number from 0 to 1"))]
    min_c: Option<f64>,
    /// The mean reward that a response must have
    #[arg(long, value_name = "X", value_parser = finite)]
    min_reward: Option<f64>,
    /// Write question and response as `messages`
    #[arg(long)]
    messages: bool,
    /// Decides among responses that are equally good
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

pub(super) fn run(action: BuildAction) -> Result<u8, Failure> {
    match action {
        BuildAction::Hard(arguments) => hard(&arguments),
        BuildAction::Pairs(arguments) => pairs(&arguments),
        BuildAction::BestOfN(arguments) => best(&arguments),
        BuildAction::Sft(arguments) => sft(&arguments),
    }
}

fn form(messages: bool) -> Form {
    if messages { Form::Messages } else { Form::Text }
}

struct Files {
    out: Option<OutputFile>,
    json: Option<OutputFile>,
}

impl BuildArguments {
    /// The output, if it is a file.
    fn out(&self) -> Option<&PathBuf> {
        Some(&self.output).filter(|path| path.as_os_str() != "-")
    }

    /// Checks what can be checked before anything is read, and reads rows and verdicts. `mark` tells rows of an earlier run.
    fn read(&self, action: &str, mark: Mark) -> Result<(Judged, Files), Failure> {
        let mut outputs = output::outputs(self.force);
        let files = Files {
            out: output::open(&mut outputs, self.out(), mark)?
                .map(|file| file.quoting_formulas(self.table.quote_formulas)),
            json: output::open(&mut outputs, self.json.as_ref(), Mark::BUILD)?,
        };
        let (verdicts, rows) = self.judged.sides(false);
        if verdicts.is_empty() || rows.is_empty() {
            bail_usage!(
                "give the verdicts, of one judge, and the rows that were judged: `juror build {} verdicts.jsonl --rows rows.jsonl -o {}`",
                action,
                self.output.display()
            );
        }
        let inputs = Inputs::fetch(rows)?.paths;
        Output::check(self.out(), &self.keep).or_usage()?;
        let options = LoadOptions {
            columns: self.columns.map().or_usage()?.with_needs(Needs {
                reference: false,
                steps: true,
                messages: true,
                ..Needs::default()
            }),
            keep: Keep::parse(&self.keep),
            max_line: LineLimit(self.max_line_bytes),
            output: self.out().cloned(),
            ..LoadOptions::default()
        };
        let judged = Judged::read(&inputs, &options, verdicts)?;
        if !self.quiet {
            say(&format!("columns: {}", judged.columns));
        }
        notes(&judged.coverage);
        Ok((judged, files))
    }

    fn output<'j>(&self, judged: &'j Judged, files: &Files, form: Form) -> Output<'j> {
        Output {
            judged,
            file: files.out.clone(),
            keep: Keep::parse(&self.keep).keys(),
            form,
        }
    }

    /// Says what came of it, and writes it as JSON where that is asked for.
    fn report(
        &self,
        (judged, files): (&Judged, &Files),
        selected: &impl Serialize,
        written: Written,
        facts: &[String],
    ) -> Result<u8, Failure> {
        if !self.quiet {
            for fact in facts {
                say(fact);
            }
            let rows = counted(written.rows, "row");
            say(&match self.out() {
                Some(out) => format!("{rows} in {}", out.display()),
                None => rows,
            });
        }
        if let Some(file) = &files.json {
            let mut value = json!({"version": 1, "coverage": judged.coverage, "written": written});
            let selected = serde_json::to_value(selected).or_fail()?;
            if let (Value::Object(value), Value::Object(selected)) = (&mut value, selected) {
                value.extend(selected);
            }
            output::write_json(file, &value)?;
        }
        Ok(DONE)
    }

    /// Prints a table, where standard output has no rows on it.
    fn table(&self, header: [&str; 3], rows: &[[String; 3]]) -> Result<(), Failure> {
        if self.quiet || self.out().is_none_or(|out| out == Path::new("/dev/stdout")) {
            return Ok(());
        }
        let mut out = BufWriter::new(std::io::stdout().lock());
        table::write(&mut out, header, rows)?;
        out.flush().or_fail()
    }
}

/// Says which samples and verdicts are left out.
fn notes(coverage: &Coverage) {
    for (what, count) in [
        ("samples without a verdict", coverage.without_verdict),
        ("samples without a readable verdict", coverage.unreadable),
        ("verdicts on other samples", coverage.without_sample),
        (
            "samples without a reward, where rewards are compared",
            coverage.without_reward,
        ),
    ] {
        if count > 0 {
            say(&format!("note: left out: {what}: {count}"));
        }
    }
    let statuses = coverage.by_status.iter();
    let statuses = statuses.filter(|(status, _)| **status != Status::Ok);
    let names: Vec<String> = statuses
        .map(|(status, count)| format!("{count} {}", status.words()))
        .collect();
    if !names.is_empty() {
        let names = names.join(", ");
        say(&format!(
            "note: of {} {names}: these count for nothing",
            counted(coverage.verdicts, "verdict")
        ));
    }
}

fn hard(arguments: &BuildArguments) -> Result<u8, Failure> {
    let (judged, files) = arguments.read("hard", Mark::HARD)?;
    let hard = Hard::new(&judged);
    let voted: usize = hard.by_c.iter().map(|of_c| of_c.samples).sum();
    if voted == 0 {
        bail_usage!(
            "no verdict says whether a response is right, so nothing is known of how hard the samples are"
        );
    }
    let written = arguments.output(&judged, &files, Form::Text).hard(&hard)?;
    let rows: Vec<[String; 3]> = hard
        .by_c
        .iter()
        .map(|of_c| {
            let kept = if of_c.hard { "kept" } else { "–" }.to_owned();
            [format!("{:.3}", of_c.c), of_c.samples.to_string(), kept]
        })
        .collect();
    arguments.table(["C", "samples", ""], &rows)?;
    let mut facts = vec![format!(
        "{} of {voted} samples are hard to judge (0 < C < 1)",
        hard.hard
    )];
    if hard.one_trial == voted {
        facts.push("note: every sample has one readable trial alone, so none can be hard: judge with --trials 8".into());
    }
    if hard.without_c > 0 {
        facts.push(format!(
            "note: {} samples have verdicts that say nothing of the whole",
            hard.without_c
        ));
    }
    arguments.report((&judged, &files), &hard, written, &facts)
}

fn pairs(arguments: &PairsArguments) -> Result<u8, Failure> {
    let common = &arguments.common;
    let (judged, files) = common.read("pairs", Mark::Nothing)?;
    let wanted = WantedPairs {
        by: arguments.by,
        per_question: arguments.per_question as usize,
        min_margin: arguments.min_margin.unwrap_or(f64::NEG_INFINITY),
        lucky_first: arguments.lucky_first,
        seed: arguments.seed,
    };
    let pairs = Pairs::new(&judged, wanted)?;
    let written = common
        .output(&judged, &files, form(arguments.messages))
        .pairs(&pairs)?;
    let mut facts = vec![format!(
        "{}: {} with one response, {} whose responses make no pair; {}, of which in {} the rejected response is a lucky guess",
        counted(pairs.questions, "question"),
        pairs.one_response,
        pairs.without_pair,
        counted(pairs.places.len(), "pair"),
        pairs.lucky_guesses
    )];
    if arguments.lucky_first && pairs.lucky_guesses > 0 {
        let why = "note: a right result whose derivation a judge refuses is a lucky guess or the judge's error: before training on these \
                   pairs label some of them, which `juror label VERDICTS --rows ROWS` asks for first";
        facts.push(why.to_owned());
    }
    if pairs.on_both_sides > 0 {
        facts.push(format!(
            "{} left out, because the very same text is held for right once and for wrong once",
            counted_are(pairs.on_both_sides, "response")
        ));
    }
    common.report((&judged, &files), &pairs, written, &facts)
}

fn best(arguments: &BestArguments) -> Result<u8, Failure> {
    let common = &arguments.common;
    let (judged, files) = common.read("best-of-n", Mark::Nothing)?;
    let best = Best::new(&judged, arguments.min_reward);
    if best.questions == 0 {
        bail_usage!("no verdict has a reward, so no response is known to be better than another");
    }
    let written = common
        .output(&judged, &files, form(arguments.messages))
        .best(&best)?;
    let rows: Vec<[String; 3]> = best
        .curve
        .iter()
        .map(|of_n| {
            [
                of_n.n.to_string(),
                format!("{:.3}", of_n.reward),
                of_n.questions.to_string(),
            ]
        })
        .collect();
    common.table(["best of", "expected reward", "questions"], &rows)?;
    let mut facts = Vec::new();
    if best.below > 0 {
        facts.push(format!(
            "{} of {} questions have no response worth as much",
            best.below, best.questions
        ));
    }
    common.report((&judged, &files), &best, written, &facts)
}

fn sft(arguments: &SftArguments) -> Result<u8, Failure> {
    let common = &arguments.common;
    let (judged, files) = common.read("sft", Mark::Nothing)?;
    let per_question = arguments.per_question.map(|most| most as usize);
    let wanted = WantedResponses {
        per_question,
        min_c: arguments.min_c,
        min_reward: arguments.min_reward,
        seed: arguments.seed,
    };
    let accepted = Accepted::new(&judged, wanted)?;
    let written = common
        .output(&judged, &files, form(arguments.messages))
        .sft(&accepted, per_question)?;
    let mut facts = vec![format!(
        "{} accepted, {} refused; none is accepted for {} of {}",
        counted(accepted.accepted, "response"),
        accepted.refused,
        accepted.without_accepted,
        counted(accepted.questions, "question")
    )];
    if written.same_text > 0 {
        facts.push(format!(
            "{} of them are there already with the very same text, and are left out",
            written.same_text
        ));
    }
    common.report((&judged, &files), &accepted, written, &facts)
}
