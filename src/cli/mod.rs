//! The command line: raw arguments become resolved options, results become text. One file per subcommand.
//!
//! Data goes to files or standard output; messages go to standard error.

/// Ends a command with wrong usage, or input that cannot be read.
macro_rules! bail_usage {
    ($($message:tt)*) => {
        return Err($crate::cli::Failure::new(anyhow::anyhow!($($message)*), true))
    };
}

mod attack;
mod batch;
mod bench;
mod build;
mod cache;
mod calibrate;
mod chat;
mod columns;
mod correlate;
mod download;
mod endpoint;
mod engine;
mod eval;
mod gsm8k;
mod inputs;
mod join;
mod judge;
mod label;
mod manual;
mod merge;
mod model_name;
mod models;
mod output;
mod progress;
mod prompt_choice;
mod prompts;
mod rows;
mod rules;
mod sampling;
#[cfg(feature = "serve")]
mod serve;
mod several;
mod short_help;
mod table;
mod verify;
#[cfg(feature = "serve")]
mod view;
mod without_effect;
mod work;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, anyhow};
use clap::builder::styling::{AnsiColor, Styles};
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use clap_complete::Shell;

use juror_base::panics;
use juror_base::terminal::{escaped, escaped_lines};
use juror_base::threads::{self, PoolError};
use juror_data::journal::JournalError;
use juror_data::{BadLines, DatasetError, MergeError};
use juror_engine::checkpoint::CheckpointError;
use juror_engine::engine::EngineError;
use juror_engine::model::ModelError;
use juror_eval::EvalError;
use juror_hub::HubError;
use juror_judge::judge::{LoadError, RunError};

/// The run did what was asked.
const DONE: u8 = 0;
/// Something failed on the way.
const FAILED: u8 = 1;
/// Wrong usage, or input that cannot be read.
const USAGE: u8 = 2;
/// Done, but some samples have no verdict.
const INCOMPLETE: u8 = 3;
/// Interrupted; the same command goes on.
const INTERRUPTED: u8 = 130;

/// Runs open verifier models as judges on your own machine: rollouts in, process-aware verdicts and rewards out.
#[derive(Debug, Parser)]
#[command(name = "juror", version, propagate_version = true, max_term_width = 100, styles = STYLES)]
#[command(after_help = EXIT_CODES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    failed
  2    wrong usage, or input that cannot be read
  3    done, but some samples have no `ok` verdict
  130  interrupted; with an output file the same command goes on where it stopped";

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

// A command's options, of which there are hundreds in all, are made once the command line names it.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Command {
    /// Judge rollouts: one verdict and reward for each
    Judge(Box<judge::JudgeArguments>),
    /// Join the outputs of all shards of one input
    Merge(merge::MergeArguments),
    /// Judge with an engine elsewhere, by batch files: export, run, import
    Batch {
        #[command(subcommand)]
        action: batch::BatchAction,
    },
    /// Judge over HTTP: for trainers, evaluation harnesses and any client of OpenAI's API
    #[cfg(feature = "serve")]
    Serve(Box<serve::ServeArguments>),
    /// Compare final answers by rules alone, without a model
    Verify(Box<verify::VerifyArguments>),
    /// Measure how fast a judge is, on any model or on random weights
    Bench(Box<bench::BenchArguments>),
    /// Measure how often a judge finds responses right that deserve no reward
    Attack(Box<attack::AttackArguments>),
    /// Show what a judge is asked: the exact text and its tokens
    Prompts {
        #[command(subcommand)]
        action: prompts::PromptsAction,
    },
    /// Fit a judge's probabilities to labels
    Calibrate(calibrate::CalibrateArguments),
    /// Score verdicts against labels, and judges against each other
    Eval(Box<eval::EvalArguments>),
    /// Look through verdicts in the browser: search, filters, live while a run goes on
    #[cfg(feature = "serve")]
    View(view::ViewArguments),
    /// Label responses by hand: those that judges disagree on, or any others
    Label(Box<label::LabelArguments>),
    /// Make training data: hard sets, preference pairs, the best responses, accepted ones
    Build {
        #[command(subcommand)]
        action: build::BuildAction,
    },
    /// Score responses to GSM8K by named extraction methods, or have a local model solve it
    Gsm8k(Box<gsm8k::Gsm8kArguments>),
    /// Fit trained models' scores to their verifiers' accuracies: a line, R², a plot
    Correlate(correlate::CorrelateArguments),
    /// Look after a cache of answers (`juror judge --cache`)
    Cache {
        #[command(subcommand)]
        action: cache::CacheAction,
    },
    /// Show, fetch and describe the models that can judge
    Models {
        #[command(subcommand)]
        action: models::ModelsAction,
    },
    /// Print a script that completes juror's commands and options in a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write a manual page for each command into a folder
    Man {
        /// The folder, made where it is not there; for `man` to find them, a folder `man1` of its path
        #[arg(value_name = "DIR")]
        pages: PathBuf,
        #[command(flatten)]
        force: output::ForceArgument,
    },
}

/// An error with the exit code it means.
#[derive(Debug)]
struct Failure {
    code: u8,
    error: anyhow::Error,
}

impl Failure {
    /// The code for wrong usage or unreadable input where `usage` is true, else the one for everything else.
    fn new(error: impl Into<anyhow::Error>, usage: bool) -> Self {
        Self {
            code: if usage { USAGE } else { FAILED },
            error: error.into(),
        }
    }
}

/// Errors that tell whether the user's input is at fault: a full disk, say, is not the user's mistake.
macro_rules! tell_fault {
    ($($error:ty),+ $(,)?) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                let usage = error.is_usage();
                Self::new(error, usage)
            }
        }
    )+};
}

tell_fault!(
    CheckpointError,
    DatasetError,
    EngineError,
    HubError,
    LoadError,
    ModelError,
    RunError,
);

// An input's error is reported as itself, since it may have several lines ([`has_lines`]).

impl From<EvalError> for Failure {
    fn from(error: EvalError) -> Self {
        match error {
            EvalError::Input(error) => error.into(),
            error => {
                let usage = error.is_usage();
                Self::new(error, usage)
            }
        }
    }
}

/// Sorts errors: the user's input, or everything else.
trait OrFail<T> {
    /// Wrong usage or unreadable input.
    fn or_usage(self) -> Result<T, Failure>;
    fn or_fail(self) -> Result<T, Failure>;
}

impl<T, E: Into<anyhow::Error>> OrFail<T> for Result<T, E> {
    fn or_usage(self) -> Result<T, Failure> {
        self.map_err(|error| Failure::new(error, true))
    }

    fn or_fail(self) -> Result<T, Failure> {
        self.map_err(|error| Failure::new(error, false))
    }
}

/// The words of the command line; `juror export-batch` is the earlier name of `juror batch export`.
fn words() -> Vec<OsString> {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    let first = words.get(1).and_then(|word| word.to_str());
    let action = first.and_then(|word| word.strip_suffix("-batch"));
    if let Some(action @ ("export" | "run" | "import")) = action {
        let action = action.into();
        words.splice(1..2, ["batch".into(), action]);
    }
    words
}

/// Reads the arguments, runs the command, and prints its error.
pub(crate) fn main() -> ExitCode {
    panics::silence();
    let words = words();
    let mut command = short_help::command(Arguments::command());
    let parsed = command
        .try_get_matches_from_mut(&words)
        .and_then(|matches| Ok((Arguments::from_arg_matches(&matches)?, matches)));
    if let Some(why) = short_help::one_dash(&command, &words) {
        say_labelled(&console::style("error:").for_stderr().red().bold(), &why);
        return ExitCode::from(USAGE);
    }
    let (arguments, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return refuse(&error, &words),
    };
    let checked_run = || {
        without_effect::refuse(&command, &matches).or_usage()?;
        run(arguments.command)
    };
    let result = panics::guarded(checked_run).unwrap_or_else(|why| {
        let advice = "please report it with the command; what a run has finished is in its journal";
        Err(anyhow!("an error of juror itself ({why}); {advice}")).or_fail()
    });

    match result {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            // A reader that closes the pipe early (`juror … | head`) needs no message.
            if !is_broken_pipe(&failure.error) {
                let label = console::style("error:").for_stderr().red().bold();
                let message = with_causes(&failure.error);
                if has_lines(&failure.error) {
                    write_line(&format!("{label} {}", escaped_lines(&message)));
                } else {
                    say_labelled(&label, &message);
                }
            }
            ExitCode::from(failure.code)
        }
    }
}

/// Prints the error in the arguments, or the help that was asked for.
fn refuse(error: &clap::Error, words: &[OsString]) -> ExitCode {
    // File names in the arguments may hold control characters: then the same message is written with them escaped.
    let arguments: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let shown: Vec<Cow<str>> = arguments.iter().map(|argument| escaped(argument)).collect();
    if shown
        .iter()
        .all(|argument| matches!(argument, Cow::Borrowed(_)))
    {
        let _ = error.print();
    } else if let Err(error) = Arguments::try_parse_from(shown.iter().map(|argument| &**argument)) {
        let _ = error.print();
    } else {
        write_line(escaped_lines(&error.render().to_string()).trim_end());
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(USAGE))
}

fn run(command: Command) -> Result<u8, Failure> {
    end_at_interrupts().or_fail()?;
    match threads::start_pool() {
        Ok(None) => {}
        Ok(Some(note)) => say(&format!("note: {note}")),
        Err(error @ PoolError::Variable { .. }) => return Err(error).or_usage(),
        Err(error) => return Err(error).or_fail(),
    }
    match command {
        Command::Judge(arguments) => judge::run(*arguments),
        Command::Merge(arguments) => merge::run(&arguments),
        Command::Batch { action } => batch::run(action),
        #[cfg(feature = "serve")]
        Command::Serve(arguments) => serve::run(*arguments),
        Command::Verify(arguments) => verify::run(*arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Attack(arguments) => attack::run(&arguments),
        Command::Prompts { action } => prompts::run(action),
        Command::Calibrate(arguments) => calibrate::run(&arguments),
        Command::Eval(arguments) => eval::run(&arguments),
        #[cfg(feature = "serve")]
        Command::View(arguments) => view::run(&arguments),
        Command::Label(arguments) => label::run(&arguments),
        Command::Build { action } => build::run(action),
        Command::Gsm8k(arguments) => gsm8k::run(*arguments),
        Command::Correlate(arguments) => correlate::run(&arguments),
        Command::Cache { action } => cache::run(action),
        Command::Models { action } => models::run(action),
        Command::Completions { shell } => manual::completions(shell).map(|()| DONE),
        Command::Man { pages, force } => manual::pages(&pages, force).map(|()| DONE),
    }
}

/// What Ctrl-C and SIGTERM do.
struct Interrupts {
    /// Set by each of them.
    is_asked: Arc<AtomicBool>,
    /// Whether the next ends the process at once, with [`INTERRUPTED`].
    ends: Arc<AtomicBool>,
}

/// Those of this process, which end it until something catches them.
fn interrupts() -> anyhow::Result<&'static Interrupts> {
    static INTERRUPTS: OnceLock<Interrupts> = OnceLock::new();
    if let Some(known) = INTERRUPTS.get() {
        return Ok(known);
    }
    let (is_asked, ends) = (Arc::default(), Arc::new(AtomicBool::new(true)));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let code = i32::from(INTERRUPTED);
        signal_hook::flag::register_conditional_shutdown(signal, code, Arc::clone(&ends))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&is_asked)))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&ends)))
            .context("could not listen for Ctrl-C")?;
    }
    Ok(INTERRUPTS.get_or_init(|| Interrupts { is_asked, ends }))
}

/// From here on the first Ctrl-C (or SIGTERM) asks the run to stop, and the second one stops it at once.
fn catch_interrupts() -> anyhow::Result<Arc<AtomicBool>> {
    let Interrupts { is_asked, ends } = interrupts()?;
    if !is_asked.load(Ordering::SeqCst) {
        ends.store(false, Ordering::SeqCst);
    }
    Ok(Arc::clone(is_asked))
}

/// From here on the first one ends the process: nothing is under way that would stop by itself.
fn end_at_interrupts() -> anyhow::Result<()> {
    interrupts()?.ends.store(true, Ordering::SeqCst);
    Ok(())
}

/// Writes a line to standard error, with control characters and newlines escaped: one line stays one line.
fn say(line: &str) {
    write_line(&wrapped_for_terminal(&escaped(line), 0));
}

/// As [`say`], after a label of ours.
fn say_labelled(label: &console::StyledObject<&str>, line: &str) {
    let indent = console::measure_text_width(&label.to_string()) + 1;
    write_line(&format!(
        "{label} {}",
        wrapped_for_terminal(&escaped(line), indent)
    ));
}

/// A line broken between words where the terminal ends, if messages go to one; what follows is indented.
fn wrapped_for_terminal(line: &str, indent: usize) -> String {
    let terminal = console::Term::stderr();
    if !terminal.is_term() {
        return line.to_owned();
    }
    let columns = usize::from(terminal.size().1).saturating_sub(indent);
    table::wrapped(line, columns).join(&format!("\n{}", " ".repeat(indent)))
}

/// As [`counted`], with what is said of them: `1 verdict is`, `24 verdicts are`.
fn counted_are(count: usize, what: &str) -> String {
    let verb = if count == 1 { "is" } else { "are" };
    format!("{} {verb}", counted(count, what))
}

/// A number with what is counted: `1 verdict`, `24 verdicts`.
fn counted(count: usize, what: &str) -> String {
    let many = if count == 1 { "" } else { "s" };
    format!("{} {what}{many}", indicatif::HumanCount(count as u64))
}

/// `eprintln!` would panic where standard error is closed (`juror … 2>&1 | head`); a message that cannot be written must not stop a run.
fn write_line(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Text in lines of its own for standard output: as it is to files and programs, escaped on a terminal.
fn for_output(text: &str) -> Cow<'_, str> {
    if std::io::stdout().is_terminal() {
        escaped_lines(text)
    } else {
        text.into()
    }
}

/// Whether an error's message has several lines, whose parts were escaped where they were put in.
fn has_lines(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let of_run = match cause.downcast_ref() {
            Some(RunError::Journal(error)) => matches!(error, JournalError::Different { .. }),
            Some(RunError::Input(error)) => matches!(error, DatasetError::BadLines(_)),
            error => matches!(error, Some(RunError::BadOutputs(_))),
        };
        of_run
            || cause.is::<BadLines>()
            || matches!(cause.downcast_ref(), Some(DatasetError::BadLines(_)))
            || matches!(cause.downcast_ref(), Some(JournalError::Different { .. }))
            || matches!(cause.downcast_ref(), Some(MergeError::Different { .. }))
    })
}

/// The error and its causes in one line, without causes that the text already contains.
fn with_causes(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}
