//! `juror verify`: the rule-based verifier on its own.

use std::fmt::Write as _;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use clap::Args;
use indicatif::HumanCount;
use serde_json::{Map, Value};

use super::columns::ColumnArguments;
use super::inputs::{Inputs, has_stdin};
use super::output::{self, EndArguments, ForceArgument, TableArguments};
use super::progress::{self, Lines};
use super::rows::one_of;
use super::{DONE, Failure, INTERRUPTED, OrFail, catch_interrupts, counted, counted_are, say};
use crate::cli::rows::INPUT;
use crate::verify::{Counts, Explain, VerifyError, VerifySettings};
use juror_base::terminal::escaped;
use juror_data::output::{CellKind, Column, Mark, OutputFile, OutputFormat, has_place_beside};
use juror_data::{Keep, LineLimit, Source, sources};
use juror_rules::{AnswerFormat, Config, Profile, Status, Verification};

/// Compare final answers by rules alone, without a model
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct VerifyArguments {
    /// Rows with `gold` and `pred`, and if you like `id` and `config`, or rollouts as `judge` reads them: JSON lines, a
    /// JSON array, CSV, TSV or Parquet; `-` for standard input
    #[arg(value_name = "INPUT", default_value = "-", conflicts_with = "gold")]
    inputs: Vec<PathBuf>,
    /// Where the verdicts go, in the order of the rows: a name in .jsonl, .csv or .parquet [default: standard output]
    #[arg(short, long, value_name = "OUT", conflicts_with = "gold")]
    output: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArgument,
    /// Verify this one pair instead of a file: the reference answer
    #[arg(
        long,
        value_name = "TEXT",
        requires = "pred",
        allow_hyphen_values = true
    )]
    gold: Option<String>,
    /// The response, or its bare answer
    #[arg(
        long,
        value_name = "TEXT",
        requires = "gold",
        allow_hyphen_values = true
    )]
    pred: Option<String>,
    /// What is mathematically true, or what Math-Verify 0.9.0 says
    #[arg(long, alias = "rules-profile", default_value = "strict", value_parser = one_of([("strict", "", Profile::Strict), ("compat", "", Profile::Compat)]))]
    profile: Profile,
    /// Settings of every row that has none of its own, by Math-Verify's names, for one `{"float_rounding": 2}`
    #[arg(long, alias = "rules-config", value_name = "JSON", value_parser = parse_settings)]
    config: Option<Map<String, Value>>,
    /// What stands before decimals where a number may be meant either way, as `7,5` or `1,234`: `auto` is what the other rows of
    /// files show, of gold answers and predictions apart; what they do not show, or show both ways, is null
    #[arg(long, value_name = "MARK", value_parser = ["auto", "comma", "point"], default_value = "auto")]
    decimal: String,
    #[command(flatten)]
    columns: ColumnArguments,
    /// Keys of each row that go into its line, under `input`; `all` for every key
    #[arg(long, value_name = "KEY", value_delimiter = ',', conflicts_with_all = ["gold", "explain"], help_heading = INPUT)]
    keep: Vec<String>,
    /// The answer of a response is the last match of this regular expression: its first group, or all of it where it has
    /// none. A response without a match has no answer
    #[arg(long, value_name = "REGEX", value_parser = AnswerFormat::pattern, conflicts_with = "boxed_only")]
    pattern: Option<AnswerFormat>,
    /// The answer of a response is what its last \boxed{} holds, or several together as a list; without one it has no answer
    #[arg(long)]
    boxed_only: bool,
    #[command(flatten)]
    table: TableArguments,
    /// Longest line that is read; a longer one is no pair
    #[arg(long, value_name = "N", default_value_t = LineLimit::DEFAULT.0, value_parser = clap::value_parser!(u32).range(1..))]
    max_line_bytes: u32,
    /// Explain each verdict: what was found in each text, how it was read, what decided, and what was left over where nothing did
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    end: EndArguments,
}

const AFTER_HELP: &str = "\
Each row gives one line {\"id\", \"index\", \"equal\": true|false|null, \"status\", \"method\", \"gold\": […],
\"pred\": […], \"reason\", \"profile\"}. `equal` is null where it cannot be told; `status` says why: decided,
numeric, unparsed_gold, unparsed_pred, no_answer, ambiguous, too_complex. A row that is no pair gets a line with
an `error` that says where it stands, and the exit code 3. A gold that is a list holds several, any of which
is right. In --columns gold and pred are other names of reference and response. A row of lm-eval that another
filter of its file has too gives no second line.

A comma may be a decimal one: the other rows of files decide what `7,5` and `1,234` are, and where they do not
`equal` is null. Rows from standard input are answered as they come: --decimal says it there.

  juror verify --explain --gold '\\frac{1}{2}' --pred 'The answer is 0.5.'
  juror verify pairs.jsonl -o answers.jsonl
  juror verify answers.csv --columns gold=key,pred=answer --keep key,answer -o verdicts.csv
  juror verify answers.csv --pattern 'RESULT: (.*)'";

/// Settings of the rules, as JSON.
pub(super) fn parse_config(text: &str) -> Result<Config, String> {
    serde_json::from_str(text).map_err(|error| match text.split_once('=') {
        Some((key, value)) if !text.trim_start().starts_with('{') => {
            let value = value.trim();
            let is_json = serde_json::from_str::<Value>(value).is_ok();
            let quote = if is_json { "" } else { "\"" };
            format!(
                "settings are JSON: write '{{\"{}\": {quote}{value}{quote}}}'",
                key.trim()
            )
        }
        _ if text.trim_start().starts_with('{') => error.to_string(),
        _ => format!("{error} (settings are the JSON itself, not a file's name)"),
    })
}

/// The same, kept as JSON since a row may replace single keys.
fn parse_settings(text: &str) -> Result<Map<String, Value>, String> {
    parse_config(text)?;
    serde_json::from_str(text).map_err(|error| error.to_string())
}

pub(super) fn run(arguments: VerifyArguments) -> Result<u8, Failure> {
    let mut config = arguments.config.unwrap_or_default();
    if arguments.decimal != "auto" {
        if config.get("decimal").is_some_and(|mark| !mark.is_null()) {
            bail_usage!("--decimal and `decimal` in --config: leave one of them out");
        }
        config.insert("decimal".to_owned(), arguments.decimal.into());
    }
    let boxed_only = arguments.boxed_only;
    config.extend(boxed_only.then(|| ("boxed_only".to_owned(), true.into())));
    let settings = VerifySettings {
        profile: arguments.profile,
        config,
        columns: arguments.columns.map().or_usage()?,
        max_line: LineLimit(arguments.max_line_bytes),
        keep: Keep::parse(&arguments.keep),
        format: arguments.pattern.unwrap_or_default(),
    };
    if let (Some(gold), Some(pred)) = (&arguments.gold, &arguments.pred) {
        let why = "says where rows have what, and --gold and --pred are no rows: leave it out";
        arguments.columns.refuse(why)?;
        return one(&settings, gold, pred, arguments.explain);
    }
    if has_stdin(&arguments.inputs) && io::stdin().is_terminal() {
        bail_usage!(
            "no input: name a JSONL file, pipe rows in, or give --gold and --pred; see `juror verify --help`"
        );
    }
    let out = arguments.output.filter(|path| path.as_os_str() != "-");
    let mut outputs = output::outputs(arguments.force);
    // Explanations are not told from other text.
    let file = output::open(&mut outputs, out.as_ref(), Mark::VERIFY)?;
    let quotes = arguments.table.quote_formulas;
    let file = file.map(|file| file.quoting_formulas(quotes));
    let format = out
        .as_deref()
        .map(OutputFormat::from_path)
        .transpose()
        .or_usage()?;
    let format = format.unwrap_or_default();
    if arguments.explain && format != OutputFormat::JsonLines {
        bail_usage!(
            "--explain writes text for a person, which fits into no table: leave it out, or end the output's name in .jsonl"
        );
    }
    let inputs = Inputs::fetch(&arguments.inputs)?;
    let inputs = sources(&inputs.paths, out.as_deref())?;
    let interrupted = catch_interrupts().or_fail()?;
    let started = Instant::now();
    let bar = progress::bar(None, arguments.end.quiet, "{spinner} {wide_msg}");
    let mut lines = Lines::new(arguments.end.quiet);
    let mut progress = |counts: &Counts| {
        let rate = counts.rows as f64 / started.elapsed().as_secs_f64().max(1e-9);
        let text = format!(
            "{} pairs · {} a second",
            HumanCount(counts.rows as u64),
            HumanCount(rate as u64)
        );
        lines.say(&text);
        bar.set_message(text);
    };
    let run = RowsRun {
        settings: &settings,
        explain: arguments.explain,
        interrupted: &interrupted,
        format,
    };
    let result = match &file {
        None => run.verify(
            inputs,
            &mut BufWriter::new(io::stdout().lock()),
            &mut progress,
        ),
        Some(file) => run.to_file(inputs, file, &mut progress),
    };
    bar.finish_and_clear();
    match result {
        Ok(counts) => {
            if !arguments.end.quiet {
                summarise(&counts, started.elapsed());
                if let Some(out) = &out {
                    say(&format!("verdicts in {}", out.display()));
                }
            }
            let what = || format!("{} of {} lines are no pairs", counts.bad, counts.rows);
            Ok(arguments.end.code(counts.bad > 0, what))
        }
        Err(VerifyError::Interrupted) => {
            say(match &out {
                Some(out) if has_place_beside(out) => "interrupted: the output is left as it was",
                _ => "interrupted",
            });
            Ok(INTERRUPTED)
        }
        Err(VerifyError::Input(error)) => Err(error.into()),
        Err(error) => Err(error).or_fail(),
    }
}

struct RowsRun<'r> {
    settings: &'r VerifySettings,
    explain: bool,
    interrupted: &'r AtomicBool,
    format: OutputFormat,
}

impl RowsRun<'_> {
    fn verify(
        &self,
        inputs: Vec<Source>,
        out: &mut dyn Write,
        progress: &mut dyn FnMut(&Counts),
    ) -> Result<Counts, VerifyError> {
        let show = |golds: &[String], pred: &str, verification: &Verification| {
            explanation(
                self.settings.profile,
                &golds.join(" | "),
                pred,
                verification,
            )
        };
        let explain: Option<Explain> = if self.explain { Some(&show) } else { None };
        self.settings
            .run(inputs, explain, out, self.interrupted, progress)
    }

    /// The file changes only once all of it is written.
    fn to_file(
        &self,
        inputs: Vec<Source>,
        file: &OutputFile,
        progress: &mut dyn FnMut(&Counts),
    ) -> Result<Counts, VerifyError> {
        let mut result = Ok(Counts::default());
        let columns = columns(&self.settings.keep.keys());
        let written = self.format.write_table(file, &columns, |out| {
            result = self.verify(inputs, out, progress);
            match &result {
                Ok(_) => Ok(()),
                // After any error the earlier output stays.
                Err(VerifyError::Output(error)) => {
                    Err(io::Error::new(error.kind(), error.to_string()))
                }
                Err(error) => Err(io::Error::other(error.to_string())),
            }
        });
        match (result, written) {
            (Ok(counts), Ok(())) => Ok(counts),
            (Ok(_) | Err(VerifyError::Output(_)), Err(error)) => Err(error.into()),
            (Err(error), _) => Err(error),
        }
    }
}

/// The columns of a table of verdicts, by the keys of their lines. A list of what was found is written as JSON.
fn columns(keep: &[String]) -> Vec<Column> {
    let own = [
        ("id", CellKind::Text),
        ("index", CellKind::Integer),
        ("equal", CellKind::Boolean),
        ("status", CellKind::Text),
        ("method", CellKind::Text),
        ("gold", CellKind::Text),
        ("pred", CellKind::Text),
        ("reason", CellKind::Text),
        ("error", CellKind::Text),
        ("profile", CellKind::Text),
    ];
    let own = own.into_iter().map(|(name, kind)| Column::new(name, kind));
    own.chain(Column::kept(keep)).collect()
}

/// One pair from the command line.
fn one(settings: &VerifySettings, gold: &str, pred: &str, explain: bool) -> Result<u8, Failure> {
    let verification = settings
        .verifier(None, [None, None])
        .map_err(|error| anyhow!(error))
        .or_usage()?
        .verify_any([gold], None, pred, &settings.format);
    let mut out = io::stdout().lock();
    if explain {
        write!(
            out,
            "{}",
            explanation(settings.profile, gold, pred, &verification)
        )
        .or_fail()?;
    } else {
        let line = settings.line(None, 0, &verification);
        out.write_all(&line).or_fail()?;
    }
    Ok(DONE)
}

/// A pair's verdict for a person: what was found in each text, how that was read, and what decided.
fn explanation(profile: Profile, gold: &str, pred: &str, verification: &Verification) -> String {
    let verdict = match verification.equal {
        Some(true) => "equal",
        Some(false) => "different",
        None => "cannot be told",
    };
    let status = serde_json::to_value(verification.status)
        .ok()
        .and_then(|name| name.as_str().map(str::to_owned))
        .unwrap_or_default();
    let side = |name: &str, text: &str, answers: &[String]| {
        let mut lines = format!("{name}     {}\n", shown(text));
        let [answer, rest @ ..] = answers else {
            return lines + "         found nothing\n";
        };
        let _ = writeln!(lines, "         found {}", shown(answer));
        match profile {
            Profile::Strict => {
                let read = match juror_rules::describe(answer) {
                    Ok(answer) => format!("read as {}", shown(&answer)),
                    Err(error) => escaped(&format!("not read: {error}")).into_owned(),
                };
                let _ = writeln!(lines, "         {read}");
            }
            Profile::Compat => {
                for string in rest {
                    let _ = writeln!(lines, "         or, as a string, {}", shown(string));
                }
            }
        }
        lines
    };
    format!(
        "{}{}verdict  {verdict} ({status}, by {})\n         {}\n",
        side("gold", gold, &verification.gold),
        side("pred", pred, &verification.pred),
        verification.method,
        escaped(&verification.reason)
    )
}

/// The end of a text in one line: answers come last.
fn shown(text: &str) -> String {
    const LONGEST: usize = 200;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let characters = line.chars().count();
    if characters <= LONGEST {
        escaped(&line).into_owned()
    } else {
        let end: String = line.chars().skip(characters - LONGEST).collect();
        format!("…{}", escaped(&end))
    }
}

fn summarise(counts: &Counts, elapsed: Duration) {
    let rate = counts.rows as f64 / elapsed.as_secs_f64().max(1e-9);
    say(&format!(
        "{}: {} equal, {} different, {} open ({} a second)",
        counted(counts.rows, "pair"),
        HumanCount(counts.equal as u64),
        HumanCount(counts.different as u64),
        HumanCount((counts.rows - counts.equal - counts.different - counts.bad) as u64),
        HumanCount(rate as u64)
    ));
    for (status, name) in [
        (Status::Numeric, "equal or not by evaluation to many digits"),
        (
            Status::UnparsedGold,
            "with a gold answer that cannot be read",
        ),
        (
            Status::UnparsedPred,
            "with a prediction that cannot be read",
        ),
        (Status::NoAnswer, "without an answer"),
        (Status::Ambiguous, "open: two things may be meant"),
        (
            Status::TooComplex,
            "open: too complex, or beyond what the rules decide",
        ),
    ] {
        if let Some(&count) = counts.by_status.get(&status) {
            say(&format!("  {} {name}", HumanCount(count as u64)));
        }
    }
    if counts.repeated > 0 {
        let rows = counted(counts.repeated, "row");
        say(&format!("  {rows} that repeat others left out"));
    }
    if let Some(decimals) = &counts.decimals {
        let [gold, pred] = decimals.words();
        say(&match decimals.rows {
            0 => {
                "  decimal commas: no row decides them; `--decimal comma` or `--decimal point` does"
                    .to_owned()
            }
            rows => format!(
                "  decimal commas: decided by {}, which show {gold} in gold answers and {pred} in predictions",
                counted(rows, "row")
            ),
        });
    }
    if counts.bad > 0 {
        say(&format!(
            "  {} no pair, with an `error` in the output; the first: {} (`--columns gold=KEY,pred=KEY` names other keys)",
            counted_are(counts.bad, "row"),
            counts.first_bad
        ));
    }
}
