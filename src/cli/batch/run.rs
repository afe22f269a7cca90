//! `juror batch run`

use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::Local;
use clap::Args;

use crate::cli::chat::ThinkingArguments;
use crate::cli::engine::{AdapterArgument, EngineArguments, GpusArgument, JUDGE, ModelArguments};
use crate::cli::output::RUN;
use crate::cli::output::{self, EndArguments, ForceArgument};
use crate::cli::progress::Lines;
use crate::cli::rows::whole;
use crate::cli::sampling::{SAMPLING, check_new_tokens};
use crate::cli::{Failure, INTERRUPTED, OrFail, catch_interrupts, counted, download, say};
use juror_base::terminal::escaped;
use juror_data::journal::{ChatIdentity, Identity, Manifest, chat_date, journal_path};
use juror_data::output::{Mark, OutputFile, Outputs, has_place_beside};
use juror_data::{LineLimit, sources};
use juror_hub::Want;
use juror_judge::batch::run::{BatchProgress, BatchRun, Requests};
use juror_judge::judge::RunEnd;
use juror_judge::judge::model::MAX_NEW_TOKENS;
use juror_judge::judge::session::sampling_settings;
use juror_judge::openai::conversation::ChatModel;

/// Answer a batch file in OpenAI's format with a model here.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(in crate::cli) struct RunBatchArguments {
    /// The requests, JSON lines (also .gz or .zst), or `-` for standard input
    #[arg(value_name = "BATCH.jsonl")]
    input: PathBuf,
    /// Where the answers go, in the order of the requests
    #[arg(short, long, value_name = "OUTPUTS.jsonl")]
    output: PathBuf,

    /// The model, as for `juror judge`; the requests' own `model` is written back and chooses nothing
    #[arg(short, long, value_name = "MODEL", value_parser = crate::cli::model_name::parse, help_heading = JUDGE)]
    model: String,
    #[command(flatten)]
    adapter: AdapterArgument,
    #[command(flatten)]
    place: ModelArguments,
    #[command(flatten)]
    gpus: GpusArgument,
    #[command(flatten)]
    thinking: ThinkingArguments,

    /// Longest completion of requests that do not say
    #[arg(long, value_name = "N", default_value_t = MAX_NEW_TOKENS as u64, value_parser = clap::value_parser!(u64).range(1..=1 << 20), help_heading = SAMPLING)]
    max_new_tokens: u64,
    /// Seed of requests without one
    #[arg(long, value_name = "S", default_value_t = 0, allow_negative_numbers = true, value_parser = whole(0, u64::MAX), help_heading = SAMPLING)]
    seed: u64,
    /// Add the prompt's and the completions' token ids to each answer (`prompt_token_ids`, `token_ids`)
    #[arg(long, help_heading = RUN)]
    raw: bool,
    /// Longest line that is read; a longer one is a bad line
    #[arg(long, value_name = "N", default_value_t = LineLimit::DEFAULT.0, value_parser = clap::value_parser!(u32).range(1..), help_heading = RUN)]
    max_line_bytes: u32,
    /// Throw away what an earlier run with other settings left in the journal
    #[arg(long, help_heading = RUN)]
    restart: bool,
    #[command(flatten)]
    force: ForceArgument,
    #[command(flatten)]
    end: EndArguments,

    #[command(flatten)]
    engine: EngineArguments,
}

const AFTER_HELP: &str = "\
Answers requests to /v1/chat/completions and /v1/completions. A line that is no request, or asks for what is not applied
here (tools, logit_bias, …), becomes a line with an `error`. Sampling that a request leaves out is the
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

pub(in crate::cli) fn run(arguments: RunBatchArguments) -> Result<u8, Failure> {
    let settings = AnswerSettings {
        out: answers_file(&mut output::outputs(arguments.force), &arguments.output)?,
        model: arguments.model,
        adapter: &arguments.adapter,
        place: &arguments.place,
        gpus: &arguments.gpus,
        thinking: &arguments.thinking,
        engine: arguments.engine,
        protocol: Identity {
            name: "run-batch".into(),
            hash: String::new(),
        },
        max_new_tokens: arguments.max_new_tokens as usize,
        seed: arguments.seed,
        raw: arguments.raw,
        max_line: LineLimit(arguments.max_line_bytes),
        restart: arguments.restart,
    };
    // A missing input is found before a model is fetched.
    let input = std::slice::from_ref(&arguments.input);
    sources(input, Some(settings.out.path())).or_usage()?;
    let run = settings.resolve(Requests::File(arguments.input))?;
    execute(&run, "lines", arguments.end)
}

/// Answers a batch, and says how far it is; `what` its lines are called.
pub(in crate::cli) fn execute(
    run: &BatchRun,
    what: &'static str,
    end: EndArguments,
) -> Result<u8, Failure> {
    let quiet = end.quiet;
    for note in &run.model.notes {
        say(&format!("note: {note}"));
    }
    let interrupted = catch_interrupts().or_fail()?;
    let mut shown = Shown::new(what, quiet);
    let result = run.execute(&interrupted, &mut |progress| shown.update(progress));
    shown.bar.finish_and_clear();
    let (ended, progress) = result?;
    let BatchProgress {
        lines,
        done,
        errors,
        resumed,
        first_error,
        ..
    } = progress;
    if ended == RunEnd::Interrupted {
        say(&format!(
            "interrupted: {done} of {lines} {what} are answered and kept; run the same command again to go on"
        ));
        return Ok(INTERRUPTED);
    }
    if !quiet {
        // Its lines are called by a plural.
        let one = what.trim_end_matches('s');
        let mut parts = vec![format!("{} answered", counted(lines, one))];
        if resumed > 0 {
            parts.push(format!("{resumed} of them by an earlier run"));
        }
        if errors > 0 {
            let first = first_error.map_or(String::new(), |first| format!("; the first: {first}"));
            parts.push(format!("{errors} with an error{}", escaped(&first)));
        }
        say(&parts.join(", "));
        say(&format!("answers in {}", run.out.path().display()));
    }
    Ok(end.code(errors > 0, || {
        format!("{errors} of {lines} {what} have an error")
    }))
}

/// What a batch is answered with, and where its answers go.
pub(in crate::cli) struct AnswerSettings<'a> {
    pub(in crate::cli) out: OutputFile,
    pub(in crate::cli) model: String,
    pub(in crate::cli) adapter: &'a AdapterArgument,
    pub(in crate::cli) place: &'a ModelArguments,
    pub(in crate::cli) gpus: &'a GpusArgument,
    pub(in crate::cli) thinking: &'a ThinkingArguments,
    pub(in crate::cli) engine: EngineArguments,
    /// What asks: an output of another is not gone on with.
    pub(in crate::cli) protocol: Identity,
    pub(in crate::cli) max_new_tokens: usize,
    pub(in crate::cli) seed: u64,
    pub(in crate::cli) raw: bool,
    pub(in crate::cli) max_line: LineLimit,
    pub(in crate::cli) restart: bool,
}

/// The file that answers go to; it has a journal beside it.
pub(in crate::cli) fn answers_file(
    outputs: &mut Outputs,
    out: &Path,
) -> Result<OutputFile, Failure> {
    if !has_place_beside(out) || out.as_os_str() == "-" {
        bail_usage!(
            "{}: the answers need a file, next to which the journal lies: name one with -o",
            out.display()
        );
    }
    outputs.open(out, Mark::Journal(out.to_owned())).or_usage()
}

impl AnswerSettings<'_> {
    /// A run that answers these requests; reads the model's text side, not its weights.
    pub(in crate::cli) fn resolve(self, requests: Requests) -> Result<BatchRun, Failure> {
        let out = self.out;
        let devices = self.gpus.devices(self.place, &self.engine).or_usage()?;
        let source = download::resolve_adapted(&self.model, self.adapter, Want::Everything)?;
        let style = self.thinking.style();
        let mut model =
            ChatModel::load(vec![self.model.clone()], &source, style.clone()).or_usage()?;
        // As many as are meant for any model are fewer where the context is short.
        if self.max_new_tokens != MAX_NEW_TOKENS {
            check_new_tokens(self.max_new_tokens, model.config.max_positions).or_usage()?;
        }
        model.settle_head(&source)?;
        let engine = self.engine.options(self.place);
        // A run that is gone on with keeps the date that it began with: chat templates are told it.
        let begun = (!self.restart).then(|| chat_date(&journal_path(out.path())));
        let now = || Local::now().format("%Y-%m-%dT%H:%M:%S").to_string();
        let date = begun.flatten().unwrap_or_else(now);
        if let (Some(chat), Ok(moment)) = (&model.chat, date.parse()) {
            chat.clock().set(moment);
        }
        let sampling = model.generation.sampling_for(1);
        let manifest = Manifest {
            format: Manifest::FORMAT,
            juror: env!("CARGO_PKG_VERSION").into(),
            model: Some(Identity {
                name: self.model,
                hash: source.hash()?,
            }),
            adapter: source.adapter_hash()?,
            model_origin: source.origin(),
            protocol: self.protocol,
            chat: Some(ChatIdentity {
                thinking_style: style.map(|style| style.to_string()),
                date: Some(date),
                ..ChatIdentity::default()
            }),
            sampling: sampling_settings(sampling, self.max_new_tokens),
            seed: self.seed,
            precision: engine.precision.describe(),
            raw: self.raw,
            // No input: each answer has the hash of its request, so that requests may be added and changed.
            ..Manifest::default()
        };
        Ok(BatchRun {
            requests,
            shape: None,
            out,
            source,
            model: model.into(),
            devices,
            engine,
            manifest,
            restart: self.restart,
            max_line: self.max_line,
        })
    }
}

/// How far the run is: a spinner on a terminal, else a line a minute.
struct Shown {
    what: &'static str,
    bar: indicatif::ProgressBar,
    lines: Lines,
    announced: bool,
}

impl Shown {
    fn new(what: &'static str, quiet: bool) -> Self {
        let bar = if quiet {
            indicatif::ProgressBar::hidden()
        } else {
            indicatif::ProgressBar::new_spinner()
        };
        bar.set_message("loading the model");
        bar.enable_steady_tick(SHOWN_EVERY);
        Self {
            what,
            bar,
            lines: Lines::new(quiet),
            announced: quiet,
        }
    }

    fn update(&mut self, progress: &BatchProgress) {
        if let (false, Some(sizes)) = (self.announced, &progress.sizes) {
            self.bar.suspend(|| say(&format!("engine: {sizes}")));
            self.announced = true;
        }
        let BatchProgress { done, lines, .. } = progress;
        let line = format!("{done} of {lines} {} answered", self.what);
        self.lines.say(&line);
        self.bar.set_message(line);
    }
}
