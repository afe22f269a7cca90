//! `juror import-batch`

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;

use super::columns::ColumnArguments;
use super::judge::{check_side_files, load_inputs, shard_in_name};
use super::progress::print_summary;
use super::prompt_choice::PromptChoice;
use super::rows::RowsArguments;
use super::rules::RulesArguments;
use super::{DONE, Failure, INCOMPLETE, INTERRUPTED, OrFail, catch_interrupts, download, say};
use crate::batch::import::{Import, Imported};
use crate::checkpoint::hub::Want;
use crate::dataset::output::{
    OutputError, OutputFormat, check_place, has_place_beside, write_atomically,
};
use crate::dataset::{Keep, LineLimit, LoadOptions, rejected_path, sources, write_rejected};
use crate::judge::answers::AnswerReader;
use crate::judge::{ChatSettings, JudgeText, RulesMode, RunOptions, default_protocol};
use crate::reward::RewardPolicy;
use crate::terminal::escaped;
use crate::text::reasoning::{ThinkingStyle, ThinkingTags};

/// Read an engine's answers to a batch file of `juror export-batch` into verdicts.
#[derive(Debug, Args)]
#[command(after_help = after_help())]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
pub(super) struct ImportBatchArguments {
    /// The rows that were exported: files, folders of them, or `-` for standard input
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<PathBuf>,
    /// The engine's answers, JSON lines (also .gz or .zst); given several times, or files one after the other
    #[arg(long, value_name = "OUTPUTS.jsonl", required = true, num_args = 1..)]
    outputs: Vec<PathBuf>,
    /// Where the verdicts go: .jsonl, .csv or .parquet; standard output if not given
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    /// The judge that answered, to read its answers as `juror judge` does: its protocol, its thinking tags, its domain. Its
    /// weights are not needed
    #[arg(short, long, value_name = "MODEL", help_heading = super::engine::JUDGE)]
    model: Option<String>,
    #[command(flatten)]
    prompt: PromptChoice,
    /// How the model writes its thinking: think (`<think>…</think>`), none, or harmony (gpt-oss' channels) [default: think,
    /// or as the files of --model show]
    #[arg(long, value_name = "STYLE", conflicts_with = "thinking_tags", help_heading = super::chat::CHAT)]
    thinking_style: Option<ThinkingStyle>,
    /// The two tags around the model's thinking, as `<a>,</a>`
    #[arg(long, value_name = "OPEN,CLOSE", allow_hyphen_values = true, help_heading = super::chat::CHAT)]
    thinking_tags: Option<ThinkingTags>,
    /// The chat template opens the thinking: an answer begins inside it, unless the engine gives the thinking apart
    #[arg(long, conflicts_with = "model", help_heading = super::chat::CHAT)]
    starts_in_thinking: bool,
    /// Read the judge's reason too
    #[arg(long, help_heading = super::engine::JUDGE)]
    reason: bool,

    #[command(flatten)]
    columns: ColumnArguments,
    /// Keys of each row that go into its verdict lines, under `input`; `all` for every key
    #[arg(
        long,
        value_name = "KEY",
        value_delimiter = ',',
        help_heading = "Input"
    )]
    keep: Vec<String>,
    /// Set bad rows aside in OUT.rejected.jsonl, and leave bad lines of answers out, instead of stopping before anything is
    /// written
    #[arg(long, requires = "output", help_heading = "Input")]
    skip_bad: bool,
    #[command(flatten)]
    rows: RowsArguments,
    /// Requests for each sample, as exported
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = super::sampling::SAMPLING)]
    trials: u32,
    /// The seed of the export: chooses what --audit judges
    #[arg(
        long,
        value_name = "S",
        default_value_t = 0,
        allow_negative_numbers = true,
        help_heading = super::sampling::SAMPLING
    )]
    seed: u64,

    #[command(flatten)]
    rules: RulesArguments,
    /// What a verdict is worth: process-outcome (1 only if both hold) or outcome (the final answer alone) [default:
    /// process-outcome, or outcome where the protocol does not judge the process]
    #[arg(long, value_name = "POLICY", help_heading = "Verdict")]
    reward: Option<RewardPolicy>,
    /// Add the prompt's and the answer's text to each line
    #[arg(long, help_heading = "Verdict")]
    raw: bool,

    /// Replace OUT if it is there
    #[arg(long, requires = "output", help_heading = "Run")]
    force: bool,
    /// Write the summary as JSON too
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    summary_json: Option<PathBuf>,
    /// Write what the trials of each sample say together, one JSON line a sample
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    consensus: Option<PathBuf>,
    /// Print errors only
    #[arg(short, long, help_heading = "Run")]
    quiet: bool,
}

fn after_help() -> String {
    format!(
        "\
Give INPUT, --columns, --protocol, --prompt, --few-shots and --trials as for the export: each answer's custom_id is checked
against them. A request without an answer, or with an error, is `failed`.

{}",
        super::EXIT_CODES
    )
}

pub(super) fn run(arguments: ImportBatchArguments) -> Result<u8, Failure> {
    let quiet = arguments.quiet;
    let summary_json = arguments.summary_json.clone();
    let import = resolve(arguments)?;
    if !quiet {
        say(&format!("columns: {}", import.loaded.columns));
        if !import.loaded.rejected.is_empty() {
            say(&format!(
                "{} of {} lines set aside as bad",
                import.loaded.rejected.len(),
                import.loaded.lines_read
            ));
        }
    }
    let interrupted = catch_interrupts().or_fail()?;
    let result = import.execute(&interrupted).map_err(|error| {
        let usage = error.is_usage();
        Failure::new(error, usage)
    })?;
    let Some(Imported {
        summary,
        missing,
        left_out,
    }) = result
    else {
        if !quiet {
            say("interrupted: nothing was written; run the same command again");
        }
        return Ok(INTERRUPTED);
    };
    if let Some(path) = &summary_json {
        let text = format!("{:#}\n", summary.to_json());
        write_atomically(path, |writer| writer.write_all(text.as_bytes())).or_fail()?;
    }
    if !quiet {
        for line in &left_out.first {
            say(&format!("left out: {}", escaped(&line.to_string())));
        }
        if left_out.total > left_out.first.len() {
            say(&format!(
                "left out: {} more lines of answers",
                left_out.total - left_out.first.len()
            ));
        }
        print_summary(&summary);
        if missing > 0 {
            say(&format!(
                "{missing} requests have no line in the outputs: their verdicts are `failed`"
            ));
        }
        if let Some(out) = &import.out {
            say(&format!("verdicts in {}", out.display()));
        }
    }
    Ok(if summary.all_ok() { DONE } else { INCOMPLETE })
}

/// Raw arguments into what is to be read; reads the input, not the answers.
fn resolve(arguments: ImportBatchArguments) -> Result<Import, Failure> {
    let rules = RulesMode::from(arguments.rules.rules);
    if rules == RulesMode::Only {
        return Err(anyhow!(
            "--rules only reads no answer: `juror judge --rules only` gives the verdicts"
        ))
        .or_usage();
    }
    if arguments.reward == Some(RewardPolicy::Soft) {
        return Err(anyhow!(
            "--reward soft needs the judge's probabilities, which a text does not have: take process-outcome or outcome"
        ))
        .or_usage();
    }
    let out = arguments.output.filter(|path| path.as_os_str() != "-");
    let out = out
        .map(|out| shard_in_name(out, arguments.rows.shard))
        .transpose()
        .or_usage()?;
    if let Some(out) = &out {
        OutputFormat::of(out).or_usage()?;
        check_place(out).or_usage()?;
        let is_there = out
            .metadata()
            .is_ok_and(|found| found.is_file() && found.len() > 0);
        if is_there && has_place_beside(out) && !arguments.force {
            let path = out.clone();
            return Err(OutputError::Exists { path }).or_usage();
        }
    }
    if arguments.consensus.is_some() && arguments.trials < 2 {
        return Err(anyhow!(
            "--consensus needs several trials of each sample: give --trials"
        ))
        .or_usage();
    }
    // Standard input is one of them at most.
    let files = [arguments.inputs.as_slice(), &arguments.outputs].concat();
    sources(&files, out.as_deref()).or_usage()?;
    check_side_files(
        &files,
        out.as_deref(),
        &[
            arguments.summary_json.as_deref(),
            arguments.consensus.as_deref(),
        ],
    )
    .or_usage()?;
    let style = arguments
        .thinking_tags
        .map(ThinkingStyle::Tags)
        .or(arguments.thinking_style);
    let (protocol, template, reader) = if let Some(name) = &arguments.model {
        let source = download::resolve(name, Want::Description)?;
        let own = default_protocol(&source).or_usage()?;
        let (protocol, template) = arguments.prompt.resolve(Some(own)).or_usage()?;
        let settings = ChatSettings {
            style,
            ..ChatSettings::default()
        };
        let text = JudgeText::load_with(&source, &protocol, &template, &settings).or_usage()?;
        (protocol, template, AnswerReader::of(&text))
    } else {
        let (protocol, template) = arguments.prompt.resolve(None).or_usage()?;
        let reader = AnswerReader::new(
            protocol.clone(),
            style.unwrap_or_default(),
            arguments.starts_in_thinking,
        );
        (protocol, template, reader)
    };
    let reward = arguments
        .reward
        .unwrap_or(RewardPolicy::default_for(protocol.yields()));
    let of_outcome = arguments
        .rules
        .audit
        .filter(|_| !protocol.yields().outcome)
        .map(|_| ("--audit".to_owned(), "it does not judge the outcome"));
    let of_reward = reward
        .refused_by(protocol.as_ref(), rules != RulesMode::Off)
        .map(|why| (format!("--reward {reward}"), why));
    if let Some((option, why)) = of_reward.or(of_outcome) {
        return Err(anyhow!(
            "{option} has no meaning under protocol {}: {why}",
            protocol.name()
        ))
        .or_usage();
    }
    let max_line = LineLimit(arguments.rows.max_line_bytes);
    let loaded = load_inputs(
        &arguments.inputs,
        &LoadOptions {
            columns: arguments.columns.map().or_usage()?,
            keep: Keep::parse(&arguments.keep),
            limit: arguments.rows.limit,
            shard: arguments.rows.shard,
            max_line,
            skip_bad: arguments.skip_bad,
            earlier: None,
            output: out.clone(),
        },
    )?;
    if let (true, Some(out)) = (arguments.skip_bad, &out) {
        write_rejected(&rejected_path(Path::new(out)), &loaded.rejected).or_fail()?;
    }
    Ok(Import {
        loaded,
        outputs: arguments.outputs,
        protocol,
        template,
        reader,
        options: RunOptions {
            trials: arguments.trials,
            seed: arguments.seed,
            // Nobody has constrained what another engine wrote.
            constrained: false,
            wants_reason: arguments.reason,
            raw: arguments.raw,
            rules,
            audit: arguments.rules.audit.unwrap_or(0.0),
            outcome_rules: arguments.rules.outcome_rules(),
            reward,
            ..RunOptions::default()
        },
        out,
        consensus_out: arguments.consensus,
        skip_bad: arguments.skip_bad,
        max_line,
    })
}
