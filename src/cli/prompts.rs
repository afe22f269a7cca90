//! `juror prompts`

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Subcommand;
use serde_json::{Value, json};

use super::columns::ColumnArguments;
use super::download;
use super::inputs::{Inputs, read};
use super::judge::JudgeChoice;
use super::prompt_choice::PromptChoice;
use super::{DONE, Failure, INCOMPLETE, OrFail, for_output, say};
use juror_data::{LineLimit, LoadOptions, Sample, each};
use juror_hub::Want;
use juror_judge::judge::JudgeText;
use juror_judge::judge::prompt::PromptTokens;
use juror_judge::protocol::{self, PromptTemplate, VerdictFields, Yields};

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
        #[arg(short, long, default_value = "tiny", value_parser = crate::cli::model_name::parse)]
        model: String,
        /// Your own prompt text in place of the protocol's
        #[arg(long, value_name = "FILE")]
        prompt: Option<PathBuf>,
        /// Text for the prompt's `{{few_shots}}`
        #[arg(long, value_name = "FILE")]
        few_shots: Option<PathBuf>,
    },
    /// Check a protocol of your own: its file, its prompt text, and how it reads what a judge wrote
    Check {
        /// A file that ends in .toml, or a built-in protocol's name
        protocol: String,
        /// What a judge wrote: JSON lines with `output`, and if you like `case` (a name) and `expect` (the fields that must be
        /// read, null for none)
        #[arg(long, value_name = "FILE")]
        outputs: Option<PathBuf>,
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

pub(super) fn run(action: PromptsAction) -> Result<u8, Failure> {
    let mut out = std::io::stdout().lock();
    match action {
        PromptsAction::List => {
            for protocol in protocol::known() {
                writeln!(out, "{:<16}  {}", protocol.name, protocol.description).or_fail()?;
            }
        }
        PromptsAction::Show {
            name,
            model,
            prompt,
            few_shots,
        } => {
            let choice = PromptChoice {
                protocol: Some(name),
                prompt,
                few_shots,
                ..PromptChoice::default()
            };
            let (protocol, template) = choice.resolve(None).or_usage()?;
            let source = download::resolve(&model, Want::Description)?;
            let text = JudgeText::load(&source, &protocol, &template).or_usage()?;
            say_notes(&text);
            writeln!(out, "{}", for_output(template.text())).or_fail()?;
            say(&format!(
                "{} tokens before the first field with the tokenizer of {}, chat markup included; computed once a run",
                text.prompts.shared_prefix().len(),
                model
            ));
        }
        PromptsAction::Check { protocol, outputs } => {
            return check(&mut out, &protocol, outputs.as_deref());
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
            if input.as_os_str() == "-" && std::io::stdin().is_terminal() {
                bail_usage!("no input: name a JSONL file, or pipe rows in");
            }
            let named = judge.named_protocol().or_usage()?;
            // Columns that cannot be are found before a model is fetched.
            columns.map().or_usage()?;
            let source = download::resolve(&judge.model, Want::Description)?;
            let model = source.clone().into();
            let (protocol, template) = judge.prompt_for(named, Some(&model)).or_usage()?;
            let columns = judge.prompt.columns(&columns, protocol.as_ref());
            let options = LoadOptions {
                columns: columns.or_usage()?,
                limit: id.is_none().then_some(1),
                max_line: LineLimit(max_line_bytes),
                ..LoadOptions::default()
            };
            let inputs = Inputs::fetch(&[input])?.paths;
            let sample = pick(&inputs, &options, id.as_deref())?;
            let chat = judge.chat.settings(None).or_usage()?;
            let text = JudgeText::load_with(&source, &protocol, &template, &chat).or_usage()?;
            judge.chat.check(&text).or_usage()?;
            say_notes(&text);
            let shown = text.shown(&sample, &text.run_options(1));
            let sample = shown.unwrap_or(sample);
            let context = text.context;
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
            let counts = text.prompts.token_counts(&sample).or_fail()?.into_iter();
            let counts = counts.map(|(field, count)| match field {
                Some(field) => format!("{field} {count}"),
                None => format!("template {count}"),
            });
            let parts: Vec<String> = counts.collect();
            say(&format!("{} tokens: {}", ids.len(), parts.join(" + ")));
        }
    }
    Ok(DONE)
}

/// Checks a protocol, and how it reads the outputs of a file.
fn check(out: &mut impl Write, name: &str, outputs: Option<&Path>) -> Result<u8, Failure> {
    let protocol = protocol::resolve(name).or_usage()?;
    let mut notes = Vec::new();
    match protocol.template.as_deref() {
        Some(text) => {
            let template = PromptTemplate::parse(text)
                .map_err(|error| anyhow!("{}: {error}", protocol.name))
                .or_usage()?;
            let unprotected = template.delimiters().unprotected;
            notes.extend(unprotected.iter().map(ToString::to_string));
        }
        None => notes.push("it has no prompt text: it needs --prompt FILE".to_owned()),
    }
    let Yields {
        process,
        outcome,
        perfect,
        score,
        first_error,
    } = protocol.yields();
    let yields: Vec<&str> = [
        (process, "process"),
        (outcome, "outcome"),
        (perfect, "perfect"),
        (score, "a score"),
        (first_error, "the first wrong step"),
    ]
    .iter()
    .filter_map(|(yields, name)| yields.then_some(*name))
    .collect();
    say(&format!(
        "{}: judges {}; the judge sees {} of the response, {} its chat template; at most {} new tokens",
        protocol.name,
        yields.join(", "),
        protocol.view,
        if protocol.chat { "in" } else { "without" },
        protocol
            .max_new_tokens
            .map_or("the model's".to_owned(), |most| most.to_string())
    ));
    for note in notes {
        say(&format!("note: {note}"));
    }
    let Some(path) = outputs else {
        return Ok(DONE);
    };
    let text = read(path).or_usage()?;
    let (mut count, mut wrong) = (0, 0);
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let at = |why: String| anyhow!("{}:{}: {why}", path.display(), number + 1);
        let row: Value = serde_json::from_str(line)
            .map_err(|error| at(error.to_string()))
            .or_usage()?;
        let known = ["case", "output", "expect"];
        let mut keys = row.as_object().into_iter().flat_map(|row| row.keys());
        if let Some(key) = keys.find(|key| !known.contains(&key.as_str())) {
            let why = format!("unknown key `{key}`; a row has {}", known.join(", "));
            return Err(at(why)).or_usage();
        }
        let output = row["output"]
            .as_str()
            .ok_or_else(|| at("`output` is missing, or no text".to_owned()))
            .or_usage()?;
        let read = protocol.parse(output, false);
        let as_expected = match (&read, row.get("expect")) {
            (_, None) => None,
            (read, Some(Value::Object(expected))) => {
                if let Some(key) = VerdictFields::unknown_key(expected) {
                    return Err(at(format!("`expect` has no field `{key}`"))).or_usage();
                }
                let fields = read.as_ref().map(|parsed| &parsed.fields);
                Some(fields.is_ok_and(|fields| fields.match_expected(expected)))
            }
            (read, Some(Value::Null)) => Some(read.is_err()),
            (_, Some(_)) => {
                let why = "`expect` must be an object of fields, or null".to_owned();
                return Err(at(why)).or_usage();
            }
        };
        let mut shown = json!({"line": number + 1});
        if let Some(case) = row.get("case") {
            shown["case"] = case.clone();
        }
        match read {
            Ok(parsed) => {
                shown["read"] = json!(parsed.fields);
                shown["rule"] = json!(parsed.rule);
            }
            Err(why) => {
                shown["read"] = Value::Null;
                shown["error"] = json!(why.to_string());
            }
        }
        if let Some(as_expected) = as_expected {
            shown["as_expected"] = json!(as_expected);
            wrong += usize::from(!as_expected);
        }
        count += 1;
        writeln!(out, "{shown}").or_fail()?;
    }
    say(&format!("{count} outputs read, {wrong} not as expected"));
    Ok(if wrong == 0 { DONE } else { INCOMPLETE })
}

fn say_notes(text: &JudgeText) {
    for note in text.prompts.notes() {
        say(&format!("note: {note}"));
    }
}

fn pick(input: &[PathBuf], options: &LoadOptions, id: Option<&str>) -> Result<Sample, Failure> {
    let (mut first, mut found) = (None, None);
    each(input, options, &mut |sample, _| {
        first.get_or_insert_with(|| sample.id.clone());
        if found.is_none() && id.is_none_or(|id| sample.id == id) {
            found = Some(sample.clone());
        }
    })?;
    match (found, id) {
        (Some(sample), _) => Ok(sample),
        (None, None) => bail_usage!("the input holds no sample"),
        (None, Some(id)) => {
            let first = first.unwrap_or_default();
            bail_usage!("no sample has the id `{id}`; the first one's is `{first}`");
        }
    }
}
