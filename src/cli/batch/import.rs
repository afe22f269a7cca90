//! `juror batch import`

use std::path::{Path, PathBuf};

use clap::Args;

use crate::cli::chat::{CHAT, ThinkingArguments};
use crate::cli::columns::ColumnArguments;
use crate::cli::inputs::Inputs;
use crate::cli::judge::{
    ONLY_SCORE, carry_out, describe, identity, load_inputs, refuse_meaningless,
};
use crate::cli::output::OutputArguments;
use crate::cli::prompt_choice::PromptChoice;
use crate::cli::rows::{RowsArguments, whole};
use crate::cli::rules::RulesArguments;
use crate::cli::rules::VERDICT;
use crate::cli::sampling::{MOST_TRIALS, SAMPLING};
use crate::cli::{Failure, OrFail, download, say};
use juror_data::journal::{earlier_input, journal_path};
use juror_data::{BadLines, Keep, LineLimit, LoadOptions, sources};
use juror_hub::Want;
use juror_judge::batch::import::Import;
use juror_judge::judge::answers::AnswerReader;
use juror_judge::judge::session::VerdictSource;
use juror_judge::judge::{
    ChatSettings, JudgeText, RulesMode, RunOptions, Session, default_protocol,
};
use juror_judge::protocol::PlainPrompt;
use juror_judge::reward::RewardPolicy;

/// Read an engine's answers to a batch file of `juror batch export` into verdicts.
#[derive(Debug, Args)]
#[command(after_help = after_help())]
pub(in crate::cli) struct ImportBatchArguments {
    /// The rows that were exported: files, folders of them, or `-` for standard input
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<PathBuf>,
    /// The engine's answers, JSON lines (also .gz or .zst); given several times, or files one after the other
    #[arg(long, value_name = "OUTPUTS.jsonl", required = true, num_args = 1..)]
    outputs: Vec<PathBuf>,
    #[command(flatten)]
    output: OutputArguments,

    /// The judge that answered, to read its answers as `juror judge` does: its protocol, its thinking tags, its domain. Its
    /// weights are not needed
    #[arg(short, long, value_name = "MODEL", help_heading = crate::cli::engine::JUDGE)]
    model: Option<String>,
    #[command(flatten)]
    prompt: PromptChoice,
    #[command(flatten)]
    thinking: ThinkingArguments,
    /// The chat template opens the thinking: an answer begins inside it, unless the engine gives the thinking apart
    #[arg(long, conflicts_with = "model", help_heading = CHAT)]
    starts_in_thinking: bool,
    /// Read the judge's reason too
    #[arg(long, help_heading = crate::cli::engine::JUDGE)]
    reason: bool,

    #[command(flatten)]
    columns: ColumnArguments,
    #[command(flatten)]
    rows: RowsArguments,
    /// Requests for each sample, as exported
    #[arg(long, value_name = "K", default_value_t = 1, allow_negative_numbers = true, value_parser = whole(1, MOST_TRIALS), help_heading = SAMPLING)]
    trials: u32,
    /// The seed of the export: chooses what --audit judges
    #[arg(long, value_name = "S", default_value_t = 0, allow_negative_numbers = true, value_parser = whole(0, u64::MAX), help_heading = SAMPLING)]
    seed: u64,

    #[command(flatten)]
    rules: RulesArguments,
    /// What a verdict is worth: process-outcome (1 only if both hold), outcome (the final answer alone), perfect-bonus (0.9, and 1
    /// only for perfect work), score (of a protocol that gives one), parts (the share of a reference "(a) …, (b) …" that the rules find right), or weights, as `process=0.3,outcome=0.7` [default:
    /// process-outcome, outcome or score, by what the protocol judges]
    #[arg(long, value_name = "POLICY", help_heading = VERDICT)]
    reward: Option<RewardPolicy>,
    /// No reward above 0 where the process is not known to be right, whatever --reward says
    #[arg(long, help_heading = VERDICT)]
    require_process: bool,
    /// Add the prompt's and the answer's text to each line
    #[arg(long, help_heading = VERDICT)]
    raw: bool,
}

fn after_help() -> String {
    format!(
        "\
Give INPUT, --columns, --limit, --shard, --protocol, --prompt, --few-shots, --rubric and --trials as for the export, and after
--rules first also --audit, --seed and the options of the rules: each answer's custom_id is checked against them. A request without an answer, or with an error, is `failed`. With --skip-bad lines of answers that cannot be
used are left out.

{}",
        crate::cli::EXIT_CODES
    )
}

pub(in crate::cli) fn run(arguments: ImportBatchArguments) -> Result<u8, Failure> {
    let end = arguments.output.end;
    let (session, left_out) = resolve(arguments)?;
    describe(&session, end.quiet);
    if !end.quiet {
        for line in left_out.listed() {
            say(&format!("left out: {line}"));
        }
    }
    carry_out(&session, end)
}

/// Raw arguments into a session whose verdicts are read from the answers; also gives where its summary goes, and the lines of answers
/// that are left out.
fn resolve(arguments: ImportBatchArguments) -> Result<(Session, BadLines), Failure> {
    let rules = arguments.rules.rules;
    if rules == RulesMode::Only {
        bail_usage!("--rules only reads no answer: `juror judge --rules only` gives the verdicts");
    }
    if arguments.reward == Some(RewardPolicy::Soft) {
        bail_usage!(
            "--reward soft needs the judge's probabilities, which a text does not have: take process-outcome or outcome"
        );
    }
    let (trials, shard) = (arguments.trials, arguments.rows.shard);
    let inputs = Inputs::fetch(&arguments.inputs)?;
    let files = [inputs.paths.as_slice(), &arguments.outputs].concat();
    let outputs = arguments.output.resolve(shard, trials)?;
    let out = outputs.path().map(Path::to_owned);
    // Standard input is one of them at most.
    sources(&files, None).or_usage()?;
    let style = arguments.thinking.style();
    if style.is_some() && arguments.model.is_none() {
        bail_usage!(
            "--thinking-style and --thinking-tags need --model: how a judge writes its thinking depends on its tokenizer too"
        );
    }
    let model = arguments.model.as_ref();
    let source = model.map(|name| download::resolve(name, Want::Description));
    let source = source.transpose()?;
    let own = source.as_ref().map(default_protocol);
    let (protocol, template) = arguments.prompt.resolve(own).or_usage()?;
    let settings = ChatSettings {
        style,
        ..ChatSettings::default()
    };
    let judge = source.map(|source| JudgeText::load_with(&source, &protocol, &template, &settings));
    let judge = judge.transpose().or_usage()?;
    let reward = arguments
        .reward
        .unwrap_or(RewardPolicy::default_for(protocol.yields()));
    let yields = protocol.yields();
    let why_not = [
        (
            "--require-process",
            (arguments.require_process && !yields.process)
                .then_some("it does not judge the process"),
        ),
        (
            "--rules first",
            (rules == RulesMode::First && yields.score).then_some(ONLY_SCORE),
        ),
        (
            "--audit",
            (arguments.rules.audit.is_some() && !yields.outcome)
                .then_some("it does not judge the outcome"),
        ),
        (
            &*format!("--reward {reward}"),
            reward.refused_by(protocol.as_ref(), rules),
        ),
    ];
    refuse_meaningless(protocol.as_ref(), &why_not).or_usage()?;
    let columns = arguments
        .prompt
        .columns(&arguments.columns, protocol.as_ref());
    let columns = columns.or_usage()?;
    let max_line = LineLimit(arguments.rows.max_line_bytes);
    let begun = out.as_deref().filter(|_| !arguments.output.restart);
    let earlier_samples = begun
        .and_then(|out| earlier_input(&journal_path(out)))
        .map(|input| input.samples);
    let skip_bad = arguments.output.skip_bad;
    let loaded = load_inputs(
        &inputs.paths,
        &LoadOptions {
            keep: Keep::parse(&arguments.output.keep),
            earlier: earlier_samples,
            ..arguments.rows.options(columns, skip_bad, out.as_deref())
        },
    )?;
    let reader = AnswerReader {
        prompt: PlainPrompt::new(&template),
        protocol: protocol.clone(),
        judge,
        starts_in_thinking: arguments.starts_in_thinking,
        answer_in_reasoning: arguments.columns.answer_in_reasoning,
    };
    let import = Import {
        samples: &loaded.samples,
        trials,
        outputs: &arguments.outputs,
        protocol: protocol.as_ref(),
        template: &template,
        skip_bad,
        max_line,
        out: out.as_deref(),
    };
    let (answers, left_out) = import.read(reader)?;
    let session = Session {
        loaded,
        data_origins: inputs.origins,
        earlier_samples,
        shard,
        options: RunOptions {
            trials,
            seed: arguments.seed,
            // Nobody has constrained what another engine wrote.
            constrained: false,
            wants_reason: arguments.reason,
            raw: arguments.raw,
            rules,
            audit: arguments.rules.audit.unwrap_or(0.0),
            outcome_rules: arguments.rules.outcome_rules(),
            reward,
            require_process: arguments.require_process,
            ..RunOptions::default()
        },
        source: VerdictSource::Answers(Box::new(answers)),
        protocol: identity(protocol.as_ref(), &template),
        price: None,
        model_name: arguments.model.unwrap_or_else(|| "answers".to_owned()),
        outputs,
    };
    Ok((session, left_out))
}
