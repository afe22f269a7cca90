//! `juror batch export`

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value};

use crate::cli::columns::ColumnArguments;
use crate::cli::endpoint::parse_object;
use crate::cli::inputs::Inputs;
use crate::cli::judge::{
    ONLY_SCORE, describe_input, load_inputs, refuse_meaningless, shard_in_name,
};
use crate::cli::output::RUN;
use crate::cli::output::{self, ForceArgument};
use crate::cli::prompt_choice::PromptChoice;
use crate::cli::rows::INPUT;
use crate::cli::rows::RowsArguments;
use crate::cli::rules::RulesArguments;
use crate::cli::sampling::SamplingArguments;
use crate::cli::{DONE, Failure, OrFail, counted, counted_are, say};
use juror_data::output::{Mark, has_place_beside};
use juror_data::{Samples, rejected_path};
use juror_judge::batch::export::Export;
use juror_judge::judge::model::{known_judge_named, recommended_options};
use juror_judge::judge::{RulesMode, RunOptions};

/// Write what a judge would be asked as a batch file in OpenAI's format, for any engine. No model is needed.
#[derive(Debug, Args)]
#[command(after_help = "\
One line a trial: `custom_id`, `method`, `url` and `body`. Run it with `juror batch run`, vLLM, SGLang or a service, and
read the answers with `juror batch import`, given the same INPUT and protocol.")]
pub(in crate::cli) struct ExportBatchArguments {
    /// JSONL, JSON, CSV, TSV or Parquet files (also .gz or .zst), folders of them, or `-` for standard input
    #[arg(value_name = "INPUT", default_value = "-", hide_default_value = true)]
    inputs: Vec<PathBuf>,
    /// Where the requests go; standard output if not given
    #[arg(short, long, value_name = "BATCH.jsonl")]
    output: Option<PathBuf>,

    #[command(flatten)]
    prompt: PromptChoice,
    /// The model's name in every request, as the engine knows it; a known judge's chooses protocol and sampling
    #[arg(
        long,
        value_name = "NAME",
        default_value = "judge",
        help_heading = "Request"
    )]
    model_name: String,
    /// A system message before the prompt
    #[arg(long, value_name = "TEXT", help_heading = "Request")]
    system_prompt: Option<String>,
    /// Give the prompt's own text and each field as content parts of their own. `juror batch run` then has the prompt of `juror
    /// judge` token for token; vLLM may put line breaks between parts
    #[arg(long, help_heading = "Request")]
    parts: bool,
    /// Further keys of every request's body, as `{"chat_template_kwargs": {"enable_thinking": false}}`; null leaves a key out
    #[arg(long, value_name = "JSON", value_parser = object, help_heading = "Request")]
    body: Option<Map<String, Value>>,

    #[command(flatten)]
    columns: ColumnArguments,
    /// Set bad lines aside in BATCH.jsonl.rejected.jsonl instead of stopping before anything is written
    #[arg(long, requires = "output", help_heading = INPUT)]
    skip_bad: bool,
    #[command(flatten)]
    rows: RowsArguments,
    #[command(flatten)]
    sampling: SamplingArguments,
    #[command(flatten)]
    rules: RulesArguments,

    #[command(flatten)]
    force: ForceArgument,
    /// Print warnings and errors only
    #[arg(short, long, help_heading = RUN)]
    quiet: bool,
}

fn object(text: &str) -> Result<Map<String, Value>, String> {
    parse_object(text, "{\"user\": \"me\"}")
}

pub(in crate::cli) fn run(arguments: ExportBatchArguments) -> Result<u8, Failure> {
    let rules = arguments.rules.rules;
    if rules == RulesMode::Only {
        bail_usage!(
            "--rules only asks no model, so there is nothing to export: `juror judge --rules only` gives the verdicts"
        );
    }
    let out = arguments.output.filter(|path| path.as_os_str() != "-");
    let out = out.map(|out| shard_in_name(out, arguments.rows.shard));
    let out = out.transpose().or_usage()?;
    if arguments.skip_bad && !out.as_deref().is_some_and(has_place_beside) {
        bail_usage!(
            "--skip-bad sets bad lines aside in a file next to the output: name a file with `-o`"
        );
    }
    let mut outputs = output::outputs(arguments.force);
    let rejected = out.as_deref().filter(|_| arguments.skip_bad);
    let rejected = rejected.map(rejected_path);
    let file = output::open(&mut outputs, out.as_ref(), Mark::BATCH)?;
    let rejected = output::open(&mut outputs, rejected.as_ref(), Mark::REJECTED)?;
    let known = known_judge_named(&arguments.model_name);
    let of_known = known.map(|judge| judge.protocol.as_str());
    let (protocol, template) = arguments.prompt.resolve(of_known).or_usage()?;
    let of_chat = [
        ("--system-prompt", arguments.system_prompt.is_some()),
        ("--parts", arguments.parts),
    ];
    if let Some((option, _)) = of_chat.iter().find(|(_, given)| *given && !protocol.chat) {
        bail_usage!(
            "{option} changes nothing: protocol {} is asked with a raw prompt, which is one text without messages; leave it out",
            protocol.name
        );
    }
    let trials = arguments.sampling.trials;
    let recommended = recommended_options(known, protocol.as_ref(), trials);
    let (sampling, max_new_tokens) = arguments.sampling.resolve(&recommended).or_usage()?;
    let of_score = (rules == RulesMode::First && protocol.yields().score).then_some(ONLY_SCORE);
    refuse_meaningless(protocol.as_ref(), &[("--rules first", of_score)]).or_usage()?;
    let columns = arguments
        .prompt
        .columns(&arguments.columns, protocol.as_ref());
    let columns = columns.or_usage()?;
    let inputs = Inputs::fetch(&arguments.inputs)?;
    let options = arguments
        .rows
        .options(columns, arguments.skip_bad, out.as_deref());
    let loaded = load_inputs(&inputs.paths, &options)?;
    let export = Export {
        protocol,
        template,
        options: RunOptions {
            sampling,
            max_new_tokens,
            seed: arguments.sampling.seed,
            rules,
            audit: arguments.rules.audit.unwrap_or(0.0),
            outcome_rules: arguments.rules.outcome_rules(),
            ..recommended
        },
        model: arguments.model_name,
        system_prompt: arguments.system_prompt,
        parts: arguments.parts,
        body: arguments.body.unwrap_or_default(),
    };
    for note in export.notes() {
        say(&format!("note: {note}"));
    }
    if !arguments.quiet {
        describe_input(&loaded, rejected.as_ref());
    }
    if let Some(rejected) = &rejected {
        let written = rejected.write(|writer| loaded.rejected.write(writer));
        written.or_fail()?;
    }
    let exported = export.execute(&loaded.samples, file.as_ref())?;
    if !arguments.quiet {
        let to = out.map_or_else(String::new, |out| format!(" in {}", out.display()));
        let asked = loaded.samples.count() - exported.skipped;
        let requests = counted(exported.requests, "request");
        let mut text = format!("{requests} for {}{to}", counted(asked, "sample"));
        if exported.skipped > 0 {
            let _ = write!(
                text,
                "; {} decided by the rules, or by a response that says nothing",
                counted_are(exported.skipped, "sample")
            );
        }
        say(&text);
    }
    Ok(DONE)
}
