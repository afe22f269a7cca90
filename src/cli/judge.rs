//! `juror judge`

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use clap::{Args, ValueEnum};
use rayon::prelude::*;

use super::chat::ChatArguments;
use super::download;
use super::progress::{Progress, print_summary};
use super::{DONE, EXIT_CODES, Failure, INCOMPLETE, INTERRUPTED, OrFail, catch_interrupts, say};
use crate::dataset::journal::Identity;
use crate::dataset::{ColumnMap, LoadOptions, Loaded, Rows, Sample, Samples, Shard, index};
use crate::engine::Sampling;
use crate::judge::session::TextSizes;
use crate::judge::{EngineSizes, JudgeText, RulesMode, RunEnd, RunOptions, Session};
use crate::model::hub::Want;
use crate::model::precision::{DtypeOrAuto, KvType, Quantization};
use crate::model::{DeviceChoice, PrecisionChoice};
use crate::protocol::{self, PromptTemplate, Protocol};
use crate::reward::RewardPolicy;
use crate::rules::{Config, OutcomeRules, RulesProfile};

/// Judge rollouts: one verdict and reward for each.
#[derive(Debug, Args)]
#[command(after_help = after_help())]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
pub(super) struct JudgeArguments {
    /// JSONL files (also .gz or .zst), folders of them, or `-` for standard input
    #[arg(value_name = "INPUT", default_value = "-", hide_default_value = true)]
    inputs: Vec<PathBuf>,
    /// Where the verdicts go; standard output, without a journal, if not given
    #[arg(short, long, value_name = "OUT.jsonl")]
    output: Option<PathBuf>,

    #[command(flatten)]
    judge: JudgeChoice,
    /// Where the model runs: auto, cpu, cuda, cuda:N or metal
    #[arg(
        long,
        value_name = "DEVICE",
        default_value = "auto",
        help_heading = "Judge"
    )]
    device: DeviceChoice,
    /// Several NVIDIA GPUs by their numbers, as `0,1`: one engine for each, all fed from one queue
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        conflicts_with = "device",
        help_heading = "Judge"
    )]
    gpus: Vec<usize>,
    /// What weights, and with them keys and values, are stored in: f32, f16, bf16, or auto: weights as in the checkpoint,
    /// keys and values in f32 on the CPU; bf16 on a GPU
    #[arg(long, value_name = "TYPE", default_value = "auto", value_parser = PrecisionChoice::parse_dtype, help_heading = "Judge")]
    dtype: DtypeOrAuto,
    /// Store weights smaller: `q8_0` or `q4k` on the CPU, fp8 on an NVIDIA GPU
    #[arg(long, value_name = "TYPE", help_heading = "Judge")]
    quantize: Option<Quantization>,
    /// What keys and values are stored in: f32, f16, bf16, or fp8 on an NVIDIA GPU
    #[arg(long, value_name = "TYPE", help_heading = "Judge")]
    kv_dtype: Option<KvType>,
    /// Ask for the judge's reason too; without it a generation ends once the verdict is known
    #[arg(long, help_heading = "Judge")]
    reason: bool,

    /// Which key holds what: question=…, reference=…, response=…, id=…
    #[arg(
        long,
        value_name = "FIELD=KEY",
        value_delimiter = ',',
        help_heading = "Input"
    )]
    columns: Vec<String>,
    /// Set bad lines aside in OUT.rejected.jsonl instead of stopping before anything is judged
    #[arg(long, requires = "output", help_heading = "Input")]
    skip_bad: bool,
    /// Judge the first N samples only
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Input"
    )]
    limit: Option<usize>,
    /// Judge one of n parts of the input, by the hash of the id; i counts from 0
    #[arg(long, value_name = "i/n", help_heading = "Input")]
    shard: Option<Shard>,

    /// Generations for each sample
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Sampling")]
    trials: u32,
    /// Seed of every random choice
    #[arg(
        long,
        value_name = "S",
        default_value_t = 0,
        allow_negative_numbers = true,
        help_heading = "Sampling"
    )]
    seed: u64,
    /// 0 takes the likeliest token [default: the model's recommendation, else 0; with several trials 0.7]
    #[arg(
        long,
        value_name = "T",
        allow_negative_numbers = true,
        help_heading = "Sampling"
    )]
    temperature: Option<f64>,
    /// Choose among the K likeliest tokens; 0 for all
    #[arg(long, value_name = "K", help_heading = "Sampling")]
    top_k: Option<usize>,
    /// Choose among the likeliest tokens that make up this share
    #[arg(
        long,
        value_name = "P",
        allow_negative_numbers = true,
        help_heading = "Sampling"
    )]
    top_p: Option<f64>,
    /// Choose among tokens at least this likely, compared with the likeliest
    #[arg(
        long,
        value_name = "P",
        allow_negative_numbers = true,
        help_heading = "Sampling"
    )]
    min_p: Option<f64>,
    /// Longest completion, thinking included [default: the model's recommendation, else the protocol's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Sampling")]
    max_new_tokens: Option<u64>,

    /// What the rule-based verifier does: give the outcome where the judge is unreadable, go first and spare the model
    /// what is plainly wrong, judge alone without a model, or nothing
    #[arg(long, value_enum, default_value_t, help_heading = "Verdict")]
    rules: RulesArgument,
    /// How the rules find and compare final answers: strict (what is mathematically true), compat (as Math-Verify
    /// 0.9.0), gsm8k (plain numbers only), or GSM8K's official, strict-match, flexible-extract or multi
    #[arg(
        long,
        alias = "rule-method",
        value_name = "PROFILE",
        default_value_t,
        help_heading = "Verdict"
    )]
    rules_profile: RulesProfile,
    /// Settings of the rules under strict and compat, by Math-Verify's names, for one `{"float_rounding": 2}`
    #[arg(long, value_name = "JSON", value_parser = super::verify::parse_config, help_heading = "Verdict")]
    rules_config: Option<Config>,
    /// What a verdict is worth: process-outcome (1 only if both hold) or outcome (the final answer alone)
    #[arg(long, value_name = "POLICY", default_value_t, help_heading = "Verdict")]
    reward: RewardPolicy,
    /// Add the prompt's and the completion's text and token ids to each line
    #[arg(long, help_heading = "Verdict")]
    raw: bool,

    /// Say what would be judged, show the first prompt, and stop
    #[arg(long, help_heading = "Run")]
    dry_run: bool,
    /// Throw away what an earlier run with other settings left in the journal
    #[arg(long, help_heading = "Run")]
    restart: bool,
    /// Print errors only
    #[arg(short, long, help_heading = "Run")]
    quiet: bool,

    /// Most samples at once [default: as memory allows, at most 64 on the CPU, 256 on a GPU]
    #[arg(
        long,
        value_name = "N",
        help_heading = "Engine (changes speed and memory, never a verdict)"
    )]
    max_sequences: Option<usize>,
    /// Most tokens a step [default: as cache or memory allow, at most 512 on the CPU, 8192 on a GPU]
    #[arg(
        long,
        value_name = "N",
        help_heading = "Engine (changes speed and memory, never a verdict)"
    )]
    token_budget: Option<usize>,
    /// Most tokens of one prompt a step [default: the token budget]
    #[arg(
        long,
        value_name = "N",
        help_heading = "Engine (changes speed and memory, never a verdict)"
    )]
    prefill_chunk: Option<usize>,
    /// Blocks of 16 tokens in the KV cache
    #[arg(
        long,
        value_name = "N",
        help_heading = "Engine (changes speed and memory, never a verdict)"
    )]
    kv_blocks: Option<usize>,
    /// Compute every prompt from its beginning
    #[arg(
        long,
        help_heading = "Engine (changes speed and memory, never a verdict)"
    )]
    no_prefix_cache: bool,
    /// Compute with candle's operations alone on an NVIDIA GPU: the baseline
    #[arg(long, hide = true)]
    plain_operations: bool,
    /// Have every sequence attend to a shared prefix by itself on an NVIDIA GPU
    #[arg(long, hide = true)]
    no_shared_prefix: bool,
}

fn after_help() -> String {
    format!(
        "\
Each row holds a question, a reference answer and a response. While the run goes on, every finished
verdict is in OUT.journal; stop it anywhere, run the same command again, and it goes on. At the end
OUT holds all verdicts in the order of the input.

{EXIT_CODES}"
    )
}

/// Which judge: a model under a protocol.
#[derive(Debug, Default, Args)]
pub(super) struct JudgeChoice {
    /// `tiny` (built in, no download), a folder with config.json, tokenizer.json and *.safetensors, a GGUF file, an id on the Hugging
    /// Face hub (`org/name`, `org/name/FILE.gguf`, with `@revision` or without), or an alias that `juror models list --known` shows
    #[arg(
        short,
        long,
        value_name = "MODEL",
        default_value = "tiny",
        help_heading = "Judge"
    )]
    pub(super) model: String,
    /// What the judge is asked, and how its answer is read; `juror prompts list` names them
    #[arg(
        long,
        value_name = "NAME",
        default_value = "prime",
        help_heading = "Judge"
    )]
    pub(super) protocol: String,
    /// Your own prompt text, with `{{question}}`, `{{student_answer}}`, `{{reference_answer}}` and, if you like,
    /// `{{few_shots}}`
    #[arg(long, value_name = "FILE", help_heading = "Judge")]
    pub(super) prompt: Option<PathBuf>,
    /// Text for the prompt's `{{few_shots}}`
    #[arg(long, value_name = "FILE", help_heading = "Judge")]
    pub(super) few_shots: Option<PathBuf>,
    #[command(flatten)]
    pub(super) chat: ChatArguments,
}

impl JudgeChoice {
    /// The protocol and the prompt text.
    pub(super) fn prompt(&self) -> anyhow::Result<(&'static dyn Protocol, PromptTemplate)> {
        let protocol = protocol::find(&self.protocol).ok_or_else(|| {
            let names: Vec<&str> = protocol::known()
                .iter()
                .map(|protocol| protocol.name())
                .collect();
            anyhow!(
                "no protocol `{}`; there is {}",
                self.protocol,
                names.join(", ")
            )
        })?;
        let mut template = match &self.prompt {
            Some(path) => {
                PromptTemplate::parse(&read(path)?).with_context(|| path.display().to_string())?
            }
            None => PromptTemplate::parse(protocol.template_text())?,
        };
        if let Some(path) = &self.few_shots {
            template = template
                .with_few_shots(&read(path)?)
                .with_context(|| path.display().to_string())?;
        }
        Ok((protocol, template))
    }
}

fn read(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("could not read {}", path.display()))
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum RulesArgument {
    #[default]
    Fallback,
    First,
    Only,
    Off,
}

impl From<RulesArgument> for RulesMode {
    fn from(argument: RulesArgument) -> Self {
        match argument {
            RulesArgument::Fallback => Self::Fallback,
            RulesArgument::First => Self::First,
            RulesArgument::Only => Self::Only,
            RulesArgument::Off => Self::Off,
        }
    }
}

pub(super) fn run(arguments: JudgeArguments) -> Result<u8, Failure> {
    let quiet = arguments.quiet;
    let dry_run = arguments.dry_run;
    let session = resolve(arguments)?;
    if !quiet {
        describe(&session);
    }
    if dry_run {
        print_dry_run(&session).or_fail()?;
        return Ok(DONE);
    }
    let interrupted = catch_interrupts().or_fail()?;
    let all = session.loaded.samples.count() * session.options.trials as usize;
    let progress = Progress::new(all, quiet);
    let mut announced = quiet;
    let result = session.execute(&interrupted, &mut |summary| {
        if let (false, Some(sizes)) = (announced, &summary.sizes) {
            progress.say(&format!("engine: {sizes}"));
            announced = true;
        }
        progress.update(summary);
    });
    progress.finish();
    let (end, summary) = result.map_err(|error| {
        let code = if error.is_usage() {
            super::USAGE
        } else {
            super::FAILED
        };
        Failure {
            code,
            error: error.into(),
        }
    })?;
    if end == RunEnd::Interrupted {
        if !quiet {
            let done = summary.verdicts();
            say(&format!(
                "interrupted: {done} of {all} verdicts are done{}",
                match &session.out {
                    Some(_) => " and kept; run the same command again to go on",
                    None => "; without `-o` they are lost",
                }
            ));
        }
        return Ok(INTERRUPTED);
    }
    if !quiet {
        print_summary(&summary);
        if let Some(out) = &session.out {
            say(&format!("verdicts in {}", out.display()));
        }
    }
    Ok(if summary.all_ok() { DONE } else { INCOMPLETE })
}

/// Raw arguments into a session; reads the input and the model's text side, not its weights.
fn resolve(arguments: JudgeArguments) -> Result<Session, Failure> {
    let rules = RulesMode::from(arguments.rules);
    let out = arguments.output.filter(|path| path.as_os_str() != "-");
    if arguments.skip_bad && out.is_none() {
        return Err(anyhow!(
            "--skip-bad sets bad lines aside beside the output: name a file with `-o`"
        ))
        .or_usage();
    }
    let devices = devices(arguments.device, &arguments.gpus).or_usage()?;
    let (protocol, template) = arguments.judge.prompt().or_usage()?;
    let judge = if rules == RulesMode::Only {
        None
    } else {
        // A dry run reads no weights.
        let want = if arguments.dry_run {
            Want::Description
        } else {
            Want::Everything
        };
        let source = download::resolve(&arguments.judge.model, want)?;
        let begun = out.as_deref().filter(|_| !arguments.restart);
        let chat = arguments.judge.chat.settings(begun).or_usage()?;
        let text = JudgeText::load_with(&source, protocol, &template, &chat).or_usage()?;
        Some((source, text))
    };

    let generation = judge
        .as_ref()
        .map(|(_, text)| text.generation)
        .unwrap_or_default();
    let recommended = generation.sampling.unwrap_or(if arguments.trials > 1 {
        // Greedy trials would all be the same.
        Sampling {
            temperature: 0.7,
            ..Sampling::GREEDY
        }
    } else {
        Sampling::GREEDY
    });
    let sampling = Sampling {
        temperature: arguments.temperature.unwrap_or(recommended.temperature),
        top_k: arguments.top_k.unwrap_or(recommended.top_k),
        top_p: arguments.top_p.unwrap_or(recommended.top_p),
        min_p: arguments.min_p.unwrap_or(recommended.min_p),
    };
    sampling.validate().or_usage()?;
    let max_new_tokens = arguments
        .max_new_tokens
        .map(|tokens| tokens as usize)
        .or(generation.max_new_tokens)
        .unwrap_or(protocol.max_new_tokens());
    let sizes = EngineSizes {
        max_sequences: arguments.max_sequences,
        token_budget: arguments.token_budget,
        prefill_chunk: arguments.prefill_chunk,
        kv_blocks: arguments.kv_blocks,
        no_prefix_cache: arguments.no_prefix_cache,
        plain_operations: arguments.plain_operations,
        no_shared_prefix: arguments.no_shared_prefix,
        precision: PrecisionChoice {
            dtype: arguments.dtype,
            quantize: arguments.quantize,
            kv: arguments.kv_dtype,
        },
        ..EngineSizes::default()
    };
    sizes.validate().or_usage()?;

    let mut text_sizes = TextSizes::default();
    let loaded = load_inputs(
        &arguments.inputs,
        &LoadOptions {
            columns: ColumnMap::parse(&arguments.columns).or_usage()?,
            limit: arguments.limit,
            shard: arguments.shard,
            skip_bad: arguments.skip_bad,
            output: out.clone(),
        },
        // Rules alone make no prompts.
        &mut |sample| {
            if judge.is_some() {
                text_sizes.add(sample);
            }
        },
    )
    .or_usage()?;
    Ok(Session {
        loaded,
        text_sizes,
        shard: arguments.shard,
        skip_bad: arguments.skip_bad,
        options: RunOptions {
            sampling,
            max_new_tokens,
            trials: arguments.trials,
            seed: arguments.seed,
            wants_reason: arguments.reason,
            raw: arguments.raw,
            rules,
            outcome_rules: OutcomeRules::new(
                arguments.rules_profile,
                arguments.rules_config.unwrap_or_default(),
            ),
            reward: arguments.reward,
        },
        judge,
        protocol: Identity {
            name: protocol.name().into(),
            hash: template.hash(),
        },
        model_name: arguments.judge.model,
        devices,
        sizes,
        out,
        restart: arguments.restart,
    })
}

/// The devices asked for, one engine each.
fn devices(device: DeviceChoice, gpus: &[usize]) -> anyhow::Result<Vec<DeviceChoice>> {
    for (at, gpu) in gpus.iter().enumerate() {
        if gpus[..at].contains(gpu) {
            bail!(
                "--gpus names GPU {gpu} twice: each runs one engine, which uses all of it; name it once"
            );
        }
    }
    Ok(if gpus.is_empty() {
        vec![device]
    } else {
        gpus.iter().map(|&gpu| DeviceChoice::Cuda(gpu)).collect()
    })
}

fn load_inputs(
    inputs: &[PathBuf],
    options: &LoadOptions,
    seen: &mut dyn FnMut(&Sample),
) -> anyhow::Result<Loaded<Rows>> {
    if inputs == [PathBuf::from("-")] && std::io::stdin().is_terminal() {
        bail!(
            "no input: name a JSONL file, a folder of them, or pipe rows in; see `juror judge --help`"
        );
    }
    Ok(index(inputs, options, seen)?)
}

/// What is about to be judged, and how it was understood.
fn describe(session: &Session) {
    let loaded = &session.loaded;
    for note in session.judge.iter().flat_map(|(_, text)| &text.notes) {
        say(&format!("note: {note}"));
    }
    say(&format!("columns: {}", loaded.columns));
    if !loaded.rejected.is_empty() {
        say(&format!(
            "{} of {} lines set aside as bad",
            loaded.rejected.len(),
            loaded.lines_read
        ));
    }
    if let Some(shard) = session.shard {
        say(&format!(
            "shard {shard}: {} of {} samples",
            loaded.samples.count(),
            loaded.accepted
        ));
    }
}

/// Samples that a dry run reads at a time.
const DRY_RUN_AT_ONCE: usize = 256;

/// Counts, token statistics, an estimate, and the first prompt.
fn print_dry_run(session: &Session) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let samples = &session.loaded.samples;
    let trials = session.options.trials as usize;
    writeln!(
        out,
        "{} samples × {trials} trials = {} verdicts",
        samples.count(),
        samples.count() * trials
    )?;
    let Some((_, text)) = &session.judge else {
        writeln!(out, "rules alone: no model is asked")?;
        return Ok(());
    };
    if samples.count() == 0 {
        return Ok(());
    }
    let mut sorted: Vec<usize> = Vec::with_capacity(samples.count());
    let positions: Vec<usize> = (0..samples.count()).collect();
    for some in positions.chunks(DRY_RUN_AT_ONCE) {
        let lengths: Result<Vec<usize>, _> = samples
            .fetch(some)?
            .par_iter()
            .map(|sample| text.prompts.tokens(sample).map(|tokens| tokens.len()))
            .collect();
        sorted.extend(lengths?);
    }
    sorted.sort_unstable();
    let total: usize = sorted.iter().sum();
    let shared = text.prompts.shared_prefix().len();
    let own: usize = total - shared * sorted.len();
    let context = text.config.max_positions;
    let most = session.options.max_new_tokens;
    let too_long = sorted
        .iter()
        .filter(|&&length| length.saturating_add(most) > context)
        .count();
    let last = sorted.len() - 1;
    let generated = most.saturating_mul(sorted.len()).saturating_mul(trials);
    writeln!(
        out,
        "prompt tokens: {total} in all; {} least, {} median, {} most; the first {shared} are the same in all",
        sorted[0],
        sorted[last / 2],
        sorted[last]
    )?;
    if too_long > 0 {
        writeln!(
            out,
            "too long: {too_long} samples do not fit the context of {context} with {most} new tokens"
        )?;
    }
    writeln!(
        out,
        "estimate: {} prompt tokens to compute (the shared ones once), up to {} to generate; at {:.1} M parameters up \
         to {:.3} TFLOP beside attention",
        shared + own,
        generated,
        text.config.parameters() as f64 / 1e6,
        2.0 * text.config.parameters() as f64 * ((shared + own) as f64 + generated as f64) / 1e12,
    )?;
    let first = &samples.fetch(&[0])?[0];
    writeln!(
        out,
        "\nthe first prompt ({}):\n\n{}",
        first.id,
        text.prompts.text(first)
    )?;
    Ok(())
}
