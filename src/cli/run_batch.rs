//! `juror run-batch`

use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use anyhow::anyhow;
use chrono::Local;
use clap::Args;

use super::engine::{EngineArguments, JUDGE, ModelArguments};
use super::progress::Lines;
use super::sampling::SAMPLING;
use super::{DONE, Failure, INCOMPLETE, INTERRUPTED, OrFail, catch_interrupts, download, say};
use crate::batch::answered::Settings;
use crate::batch::conversation::ChatModel;
use crate::batch::run::{BatchProgress, BatchRun};
use crate::checkpoint::hub::Want;
use crate::dataset::output::{check_place, check_replaceable, has_place_beside};
use crate::dataset::{LineLimit, sources};
use crate::judge::RunEnd;
use crate::judge::model::MAX_NEW_TOKENS;
use crate::text::reasoning::{ThinkingStyle, ThinkingTags};

/// Answer a batch file in OpenAI's format with a model here.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
pub(super) struct RunBatchArguments {
    /// The requests, JSON lines (also .gz or .zst), or `-` for standard input
    #[arg(value_name = "BATCH.jsonl")]
    input: PathBuf,
    /// Where the answers go, in the order of the requests
    #[arg(short, long, value_name = "OUTPUTS.jsonl")]
    output: PathBuf,

    /// The model, as for `juror judge`; the requests' own `model` is written back and chooses nothing
    #[arg(short, long, value_name = "MODEL", help_heading = JUDGE)]
    model: String,
    #[command(flatten)]
    place: ModelArguments,
    /// How the model writes its thinking: think (`<think>…</think>`), none, or harmony (gpt-oss' channels) [default: as its
    /// tokenizer and chat template show]
    #[arg(long, value_name = "STYLE", conflicts_with = "thinking_tags", help_heading = super::chat::CHAT)]
    thinking_style: Option<ThinkingStyle>,
    /// The two tags around the model's thinking, as `<a>,</a>`
    #[arg(long, value_name = "OPEN,CLOSE", allow_hyphen_values = true, help_heading = super::chat::CHAT)]
    thinking_tags: Option<ThinkingTags>,

    /// Longest completion of requests that do not say
    #[arg(long, value_name = "N", default_value_t = MAX_NEW_TOKENS as u64, value_parser = clap::value_parser!(u64).range(1..=1 << 20), help_heading = SAMPLING)]
    max_new_tokens: u64,
    /// Seed of requests without one
    #[arg(
        long,
        value_name = "S",
        default_value_t = 0,
        allow_negative_numbers = true,
        help_heading = SAMPLING
    )]
    seed: u64,
    /// Add the prompt's and the completions' token ids to each answer (`prompt_token_ids`, `token_ids`)
    #[arg(long, help_heading = "Run")]
    raw: bool,
    /// Longest line that is read; a longer one is a bad line
    #[arg(long, value_name = "N", default_value_t = LineLimit::DEFAULT.0, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Run")]
    max_line_bytes: u32,
    /// Throw away what an earlier run with other settings left in the journal
    #[arg(long, help_heading = "Run")]
    restart: bool,
    /// Replace OUTPUTS.jsonl though it is not the output of an earlier run
    #[arg(long, help_heading = "Run")]
    force: bool,
    /// Print errors only
    #[arg(short, long, help_heading = "Run")]
    quiet: bool,

    #[command(flatten)]
    engine: EngineArguments,
}

const AFTER_HELP: &str = "\
Answers requests to /v1/chat/completions and /v1/completions. A line that is no request, or asks for what is not applied
here (tools, response_format, logprobs, …), becomes a line with an `error`. Sampling that a request leaves out is the
model's recommendation, else greedy. Finished answers are in OUTPUTS.jsonl.journal; stop it anywhere, run the same command
again, and it goes on.

Exit codes:
  0    done
  1    failed
  2    wrong usage, or input that cannot be read
  3    done, but some lines have an `error`
  130  interrupted; the same command goes on where it stopped";

/// How often the terminal's line is written anew.
const SHOWN_EVERY: Duration = Duration::from_millis(200);

pub(super) fn run(arguments: RunBatchArguments) -> Result<u8, Failure> {
    let quiet = arguments.quiet;
    let run = resolve(arguments)?;
    if !quiet {
        for note in &run.model.notes {
            say(&format!("note: {note}"));
        }
    }
    let interrupted = catch_interrupts().or_fail()?;
    let mut shown = Shown::new(quiet);
    let result = run.execute(&interrupted, &mut |progress| shown.update(progress));
    shown.finish();
    let (end, progress) = result.map_err(|error| {
        let usage = error.is_usage();
        Failure::new(error, usage)
    })?;
    let BatchProgress {
        lines,
        done,
        errors,
        resumed,
        ..
    } = progress;
    if end == RunEnd::Interrupted {
        if !quiet {
            say(&format!(
                "interrupted: {done} of {lines} lines are answered and kept; run the same command again to go on"
            ));
        }
        return Ok(INTERRUPTED);
    }
    if !quiet {
        let mut parts = vec![format!("{lines} lines answered")];
        if resumed > 0 {
            parts.push(format!("{resumed} of them by an earlier run"));
        }
        if errors > 0 {
            parts.push(format!("{errors} with an error"));
        }
        if progress.stats.generated_tokens > 0 {
            let seconds = progress.elapsed.as_secs_f64().max(1e-9);
            let rate = progress.stats.generated_tokens as f64 / seconds;
            parts.push(format!("{rate:.0} tokens/s generated"));
        }
        say(&parts.join(", "));
        say(&format!("answers in {}", run.out.display()));
    }
    Ok(if errors == 0 { DONE } else { INCOMPLETE })
}

/// Raw arguments into a run; reads the model's text side, not its weights.
fn resolve(arguments: RunBatchArguments) -> Result<BatchRun, Failure> {
    let out = arguments.output;
    if !has_place_beside(&out) || out.as_os_str() == "-" {
        return Err(anyhow!(
            "{}: the answers need a file, beside which the journal lies: name one with -o",
            out.display()
        ))
        .or_usage();
    }
    check_place(&out).or_usage()?;
    sources(std::slice::from_ref(&arguments.input), Some(&out)).or_usage()?;
    if !arguments.force {
        check_replaceable(&out).or_usage()?;
    }
    let source = download::resolve(&arguments.model, Want::Everything)?;
    let style = arguments
        .thinking_tags
        .map(ThinkingStyle::Tags)
        .or(arguments.thinking_style);
    let mut model = ChatModel::load(&source, style.clone()).or_usage()?;
    model.settle_head(&source).map_err(download::failure)?;
    let engine = arguments.engine.options(&arguments.place);
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let settings = Settings {
        juror: env!("CARGO_PKG_VERSION").into(),
        model: source.hash().map_err(download::failure)?,
        precision: engine.precision.describe(),
        thinking: style.map(|style| style.to_string()),
        seed: arguments.seed,
        max_new_tokens: arguments.max_new_tokens as usize,
        raw: arguments.raw,
        created: since_1970.map_or(0, |since| since.as_secs()),
        begun: Local::now().format("%Y-%m-%dT%H:%M:%S").to_string(),
    };
    Ok(BatchRun {
        input: arguments.input,
        out,
        source,
        model_name: arguments.model,
        model,
        device: arguments.place.device,
        engine,
        settings,
        restart: arguments.restart,
        max_line: LineLimit(arguments.max_line_bytes),
    })
}

/// How far the run is: a spinner on a terminal, else a line a minute.
struct Shown {
    bar: indicatif::ProgressBar,
    lines: Option<Lines>,
    last: Option<Instant>,
    announced: bool,
}

impl Shown {
    fn new(quiet: bool) -> Self {
        let bar = if quiet {
            indicatif::ProgressBar::hidden()
        } else {
            indicatif::ProgressBar::new_spinner()
        };
        bar.set_message("loading the model");
        bar.tick();
        Self {
            bar,
            lines: Lines::new(quiet),
            last: None,
            announced: quiet,
        }
    }

    fn update(&mut self, progress: &BatchProgress) {
        if let (false, Some(sizes)) = (self.announced, &progress.sizes) {
            self.bar.suspend(|| say(&format!("engine: {sizes}")));
            self.announced = true;
        }
        let now = Instant::now();
        let line = || format!("{} of {} lines answered", progress.done, progress.lines);
        if self.lines.as_mut().is_some_and(|lines| lines.due(now)) {
            say(&line());
        }
        if self
            .last
            .is_none_or(|last| now.duration_since(last) >= SHOWN_EVERY)
        {
            self.bar.set_message(line());
            self.bar.tick();
            self.last = Some(now);
        }
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
