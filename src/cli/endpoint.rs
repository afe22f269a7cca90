//! Arguments for a judge behind a server of OpenAI's API.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::bail;
use clap::Args;
use serde_json::{Map, Value};

use super::engine::{AdapterArgument, JUDGE};
use super::inputs::read;
use super::rows::whole;
use super::{Failure, OrFail, download};
use juror_hub::Want;
use juror_judge::endpoint::{EndpointSettings, LIMIT_AT_ONCE, MOST_AT_ONCE, PATIENCE, is_address};
use juror_judge::judge::JudgeModel;

const KEY: &str = "JUROR_ENDPOINT_KEY";

/// A judge that runs elsewhere.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct EndpointArguments {
    /// Ask a server of OpenAI's API (vLLM, SGLang, llama.cpp, a closed one) instead of running a model here: `http://HOST:8000/v1`;
    /// --model names the model there. Its key is read from the environment variable `JUROR_ENDPOINT_KEY`
    #[arg(long, value_name = "URL", help_heading = JUDGE)]
    pub(super) endpoint: Option<String>,
    /// File with the server's key
    #[arg(long, value_name = "FILE", help_heading = ENDPOINT)]
    endpoint_key_file: Option<PathBuf>,
    /// The model whose tokenizer and chat template the server has: prompts are then rendered here and sent as tokens, so that no
    /// text under judgement can spell a control token
    #[arg(long, value_name = "MODEL", value_parser = crate::cli::model_name::parse, help_heading = ENDPOINT)]
    tokenizer: Option<String>,
    /// Most requests at once; how many there are adapts to how fast the server answers [default: 64]
    #[arg(long, value_name = "N", value_parser = whole(1_u32, LIMIT_AT_ONCE), help_heading = ENDPOINT)]
    max_concurrency: Option<u32>,
    /// Most requests a minute
    #[arg(long, value_name = "N", value_parser = whole(1_u32, u32::MAX), help_heading = ENDPOINT)]
    max_requests_per_minute: Option<u32>,
    /// Tokens, of prompts and answers together, after which nothing more is asked: the run ends, and can go on later
    #[arg(long, value_name = "N", value_parser = whole(1_u64, u64::MAX), help_heading = ENDPOINT)]
    max_total_tokens: Option<u64>,
    /// How long an answer may take, and how long the server may answer nothing at all before the run ends [default: 600]
    #[arg(long, value_name = "SECONDS", value_parser = whole(1_u64, 86_400), help_heading = ENDPOINT)]
    endpoint_timeout: Option<u64>,
    /// Further keys of each request's body, as JSON; null leaves one out
    #[arg(long, value_name = "JSON", value_parser = object, help_heading = ENDPOINT)]
    endpoint_body: Option<Map<String, Value>>,
    /// What a million tokens of prompts and of answers cost, as `0.5,1.5`: the summary says what was spent
    #[arg(long, value_name = "IN,OUT", value_parser = price, help_heading = ENDPOINT)]
    pub(super) price: Option<(f64, f64)>,
    #[arg(skip)]
    pub(super) answer_in_reasoning: bool,
    /// Keys of each request, where --endpoint-body says nothing else.
    #[arg(skip)]
    pub(super) default_body: Map<String, Value>,
}

pub(super) const ENDPOINT: &str = "Endpoint (a judge behind a server)";

impl EndpointArguments {
    fn name(&self, model: &str) -> String {
        match &self.endpoint {
            Some(url) if model.is_empty() => url.trim().to_owned(),
            Some(url) if !is_address(model) => format!("{}#{model}", url.trim()),
            _ => model.to_owned(),
        }
    }

    /// Refuses judges of which several servers would be given one key.
    pub(super) fn check_keys<'a>(
        judges: impl IntoIterator<Item = (&'a Self, &'a str)>,
    ) -> anyhow::Result<()> {
        let in_environment = std::env::var_os(KEY).is_some_and(|key| !key.is_empty());
        let mut known: Vec<(Option<&PathBuf>, String)> = Vec::new();
        for (arguments, model) in judges {
            let name = arguments.name(model);
            let file = arguments.endpoint_key_file.as_ref();
            if !is_address(&name) || (file.is_none() && !in_environment) {
                continue;
            }
            let origin = juror_hub::http::origin(&name).to_owned();
            if let Some((_, other)) = known.iter().find(|(of, at)| *of == file && *at != origin) {
                bail!(
                    "{other} and {origin} would be given the same key: give each judge its own, in a panel, as `options = \
                     [\"--endpoint-key-file\", \"FILE\"]`"
                );
            }
            known.push((file, origin));
        }
        Ok(())
    }

    fn settings(&self) -> anyhow::Result<EndpointSettings> {
        let key = match &self.endpoint_key_file {
            None => std::env::var(KEY).ok().filter(|key| !key.trim().is_empty()),
            Some(path) => Some(read_key(path)?),
        };
        let mut body = self.default_body.clone();
        body.extend(self.endpoint_body.clone().unwrap_or_default());
        Ok(EndpointSettings {
            key,
            most_at_once: self.max_concurrency.map_or(MOST_AT_ONCE, |n| n as usize),
            requests_per_minute: self.max_requests_per_minute,
            most_tokens: self.max_total_tokens,
            patience: self.endpoint_timeout.map_or(PATIENCE, Duration::from_secs),
            tokenizer: None,
            body,
            answer_in_reasoning: self.answer_in_reasoning,
        })
    }

    /// Finds a model, fetching what is wanted of it, or asking the server that has it.
    pub(super) fn find(
        &self,
        model: &str,
        adapter: &AdapterArgument,
        want: Want,
    ) -> Result<JudgeModel, Failure> {
        let name = self.name(model);
        if !is_address(&name) {
            if let Some(url) = &self.endpoint {
                bail_usage!("--endpoint {url}: an address begins with http:// or https://");
            }
            return Ok(JudgeModel::Here(download::resolve_adapted(
                &name, adapter, want,
            )?));
        }
        if let Some(adapter) = &adapter.adapter {
            bail_usage!(
                "--adapter {} is merged into a model that runs here: have the server load it, and name it with --model",
                adapter.display()
            );
        }
        let mut settings = self.settings().or_usage()?;
        if let Some(tokenizer) = &self.tokenizer {
            settings.tokenizer = Some(download::resolve(tokenizer, Want::Description)?);
        }
        Ok(juror_judge::by_name::find(&name, want, &settings, &|_| {})?)
    }
}

pub(super) fn read_key(path: &Path) -> anyhow::Result<String> {
    Ok(read(path)?.trim().to_owned())
}

/// Parses the keys of a request's body; `example` is shown where they are none.
pub(super) fn parse_object(text: &str, example: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(keys)) => Ok(keys),
        Ok(_) => Err(format!("must be a JSON object, as `{example}`")),
        Err(error) => Err(format!("not JSON: {error}")),
    }
}

fn object(text: &str) -> Result<Map<String, Value>, String> {
    parse_object(text, "{\"top_k\": 20}")
}

fn price(text: &str) -> Result<(f64, f64), String> {
    let both = text.split_once(',');
    let both = both.and_then(|(prompt, answer)| {
        Some((prompt.trim().parse().ok()?, answer.trim().parse().ok()?))
    });
    match both {
        Some((prompt, answer))
            if [prompt, answer]
                .iter()
                .all(|price: &f64| *price >= 0.0 && price.is_finite()) =>
        {
            Ok((prompt, answer))
        }
        _ => Err("must be two prices, as `0.5,1.5`".to_owned()),
    }
}
