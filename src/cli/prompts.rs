//! `juror prompts`

use std::cell::RefCell;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Subcommand;
use serde_json::json;

use super::columns::ColumnArguments;
use super::download;
use super::inputs::{self, refuse_data_sets};
use super::judge::JudgeChoice;
use super::{Failure, OrFail, for_output, say};
use crate::checkpoint::hub::Want;
use crate::dataset::{LineLimit, LoadOptions, Sample, find};
use crate::judge::JudgeText;
use crate::judge::prompt::PromptTokens;
use crate::protocol;

#[derive(Debug, Subcommand)]
pub(super) enum PromptsAction {
    /// Name the protocols
    List,
    /// Print a protocol's prompt text with its slots, and how many tokens a model makes of it
    Show {
        /// The protocol's name
        #[arg(default_value = "prime")]
        name: String,
        /// The model whose tokenizer counts
        #[arg(short, long, default_value = "tiny")]
        model: String,
        /// Your own prompt text in place of the protocol's
        #[arg(long, value_name = "FILE")]
        prompt: Option<PathBuf>,
        /// Text for the prompt's `{{few_shots}}`
        #[arg(long, value_name = "FILE")]
        few_shots: Option<PathBuf>,
    },
    /// Print the exact prompt of one sample as a model would see it, and its tokens
    Render {
        /// A JSONL, JSON, CSV or Parquet file, a folder of them, or `-`
        #[arg(default_value = "-", hide_default_value = true)]
        input: PathBuf,
        /// The sample's id [default: the first sample]
        #[arg(long)]
        id: Option<String>,
        #[command(flatten)]
        columns: ColumnArguments,
        /// Longest line that is read
        #[arg(long, value_name = "N", default_value_t = LineLimit::DEFAULT.0, value_parser = clap::value_parser!(u32).range(1..))]
        max_line_bytes: u32,
        /// Print the token ids too
        #[arg(long)]
        tokens: bool,
        /// Print one line of JSON instead: `id`, `prompt` and `prompt_tokens`, as `juror judge --raw` has them
        #[arg(long, conflicts_with = "tokens")]
        raw: bool,
        #[command(flatten)]
        judge: Box<JudgeChoice>,
    },
}

pub(super) fn run(action: PromptsAction) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match action {
        PromptsAction::List => {
            for protocol in protocol::known() {
                writeln!(out, "{:<16}  {}", protocol.name(), protocol.description()).or_fail()?;
            }
        }
        PromptsAction::Show {
            name,
            model,
            prompt,
            few_shots,
        } => {
            let choice = JudgeChoice {
                model,
                protocol: Some(name),
                prompt,
                few_shots,
                ..JudgeChoice::default()
            };
            let (protocol, template) = choice.prompt().or_usage()?;
            let source = download::resolve(&choice.model, Want::Description)?;
            let text = JudgeText::load(&source, protocol, &template).or_usage()?;
            say_notes(&text);
            writeln!(out, "{}", for_output(template.text())).or_fail()?;
            say(&format!(
                "{} tokens before the first field with the tokenizer of {}, chat markup included; computed once a run",
                text.prompts.shared_prefix().len(),
                choice.model
            ));
        }
        PromptsAction::Render {
            input,
            id,
            columns,
            max_line_bytes,
            tokens,
            raw,
            judge,
        } => {
            let (protocol, template) = judge.prompt().or_usage()?;
            let columns = columns.map().or_usage()?;
            let limit = if id.is_none() { Some(1) } else { None };
            let options = LoadOptions {
                columns,
                limit,
                max_line: LineLimit(max_line_bytes),
                ..LoadOptions::default()
            };
            refuse_data_sets(std::slice::from_ref(&input))?;
            let sample = pick(&input, &options, id.as_deref())?;
            let source = download::resolve(&judge.model, Want::Description)?;
            let chat = judge.chat.settings(None).or_usage()?;
            let text = JudgeText::load_with(&source, protocol, &template, &chat).or_usage()?;
            judge.chat.check(&text).or_usage()?;
            say_notes(&text);
            let context = text.config.max_positions;
            let ids = match text.prompts.tokens_within(&sample, context).or_fail()? {
                PromptTokens::Whole(ids) => ids,
                PromptTokens::AtLeast(count) => {
                    return Err(anyhow!(
                        "the prompt of {:?} has at least {count} tokens and the model a context of {context}: the sample is \
                         too long to be judged, and its tokens are not made",
                        sample.id
                    ))
                    .or_fail();
                }
            };
            let prompt = text.prompts.text(&sample);
            if raw {
                let line = json!({"id": sample.id, "prompt": prompt, "prompt_tokens": ids});
                writeln!(out, "{line}").or_fail()?;
            } else {
                writeln!(out, "{}", for_output(&prompt)).or_fail()?;
            }
            if tokens {
                writeln!(out, "{}", serde_json::to_string(&ids).or_fail()?).or_fail()?;
            }
            let parts: Vec<String> = text
                .prompts
                .token_counts(&sample)
                .or_fail()?
                .into_iter()
                .map(|(field, count)| match field {
                    Some(field) => format!("{field} {count}"),
                    None => format!("template {count}"),
                })
                .collect();
            say(&format!("{} tokens: {}", ids.len(), parts.join(" + ")));
        }
    }
    Ok(())
}

/// Notes about the prompt.
fn say_notes(text: &JudgeText) {
    for note in text.prompts.notes() {
        say(&format!("note: {note}"));
    }
}

fn pick(input: &Path, options: &LoadOptions, id: Option<&str>) -> Result<Sample, Failure> {
    let first = RefCell::new(None);
    let wanted = |sample: &Sample| {
        first.borrow_mut().get_or_insert_with(|| sample.id.clone());
        id.is_none_or(|id| sample.id == id)
    };
    let found = find(&[input.to_owned()], options, &wanted)
        .map_err(inputs::failure)?
        .samples;
    match (found, id) {
        (Some(sample), _) => Ok(sample),
        (None, None) => Err(anyhow!("the input holds no sample")).or_usage(),
        (None, Some(id)) => Err(anyhow!(
            "no sample has the id `{id}`; the first one's is `{}`",
            first.into_inner().unwrap_or_default()
        ))
        .or_usage(),
    }
}
