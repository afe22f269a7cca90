//! The command line: raw arguments become resolved options, results become text. One file per subcommand.
//!
//! Data goes to files or standard output; everything said about it goes to standard error.

mod bench;
mod chat;
mod download;
mod engine;
mod judge;
mod models;
mod progress;
mod prompts;
mod verify;

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context as _;
use clap::builder::styling::{AnsiColor, Styles};
use clap::{Parser, Subcommand};

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
  130  interrupted; the same command goes on where it stopped";

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

#[derive(Debug, Subcommand)]
enum Command {
    /// Judge rollouts: one verdict and reward for each
    Judge(Box<judge::JudgeArguments>),
    /// Compare final answers by rules alone, without a model
    Verify(Box<verify::VerifyArguments>),
    /// Measure how fast a judge is, on any model or on random weights
    Bench(Box<bench::BenchArguments>),
    /// Show what a judge is asked: the exact text and its tokens
    Prompts {
        #[command(subcommand)]
        action: prompts::PromptsAction,
    },
    /// Show, fetch and describe the models that can judge
    Models {
        #[command(subcommand)]
        action: models::ModelsAction,
    },
}

/// An error with the exit code it means.
#[derive(Debug)]
struct Failure {
    code: u8,
    error: anyhow::Error,
}

/// Sorts errors: the user's input, or everything else.
trait OrFail<T> {
    /// Wrong usage or unreadable input.
    fn or_usage(self) -> Result<T, Failure>;
    /// Anything else.
    fn or_fail(self) -> Result<T, Failure>;
}

impl<T, E: Into<anyhow::Error>> OrFail<T> for Result<T, E> {
    fn or_usage(self) -> Result<T, Failure> {
        self.map_err(|error| Failure {
            code: USAGE,
            error: error.into(),
        })
    }

    fn or_fail(self) -> Result<T, Failure> {
        self.map_err(|error| Failure {
            code: FAILED,
            error: error.into(),
        })
    }
}

/// Reads the arguments, runs the command, and says what went wrong.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.command {
        Command::Judge(arguments) => judge::run(*arguments),
        Command::Verify(arguments) => verify::run(*arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Prompts { action } => prompts::run(action).map(|()| DONE),
        Command::Models { action } => models::run(action).map(|()| DONE),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            // A reader that has seen enough (`juror … | head`) is no failure worth a message.
            if !is_broken_pipe(&failure.error) {
                say(&format!(
                    "{} {}",
                    console::style("error:").for_stderr().red().bold(),
                    with_causes(&failure.error)
                ));
            }
            ExitCode::from(failure.code)
        }
    }
}

/// The first Ctrl-C (or SIGTERM) asks the run to stop; the second one stops it at once.
fn catch_interrupts() -> anyhow::Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(
            signal,
            i32::from(INTERRUPTED),
            Arc::clone(&interrupted),
        )
        .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&interrupted)))
        .context("could not listen for Ctrl-C")?;
    }
    Ok(interrupted)
}

/// Writes a line to standard error. `eprintln!` would panic where nobody listens any more (`juror … 2>&1 | head`), and
/// what cannot be said is no reason to stop a run.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The error and its causes in one line; a cause that was told already is not told again.
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
