//! What a judge would be asked, as the requests of a batch file.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;

use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::custom_id::CustomIds;
use crate::judge::answers::is_decided_by_rules;
use crate::judge::text::prompt::shown_field;
use crate::judge::{JudgeError, RunError, RunOptions, jobs};
use crate::protocol::{PlainPrompt, PromptTemplate, Protocol};
use crate::wire::{Route, SEEDS, extend, set_sampling};
use juror_data::output::OutputFile;
use juror_data::{Rows, Sample, Samples};

/// Samples that are read at a time.
const AT_ONCE: usize = 256;

pub struct Export {
    pub protocol: Arc<Protocol>,
    /// Its prompt text, or the user's own.
    pub template: PromptTemplate,
    /// Sampling, length, trials, seed, and which samples the rules decide beforehand.
    pub options: RunOptions,
    pub model: String,
    /// A system message before the prompt.
    pub system_prompt: Option<String>,
    /// Give the prompt's own text and each field as a part of its own.
    pub parts: bool,
    /// Further keys of every request's body; null leaves a key out.
    pub body: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exported {
    pub requests: usize,
    /// Samples that the rules have decided.
    pub skipped: usize,
}

impl Export {
    /// What the user should know of the prompt.
    pub fn notes(&self) -> Vec<String> {
        self.prompt().notes().to_vec()
    }

    fn prompt(&self) -> PlainPrompt {
        PlainPrompt::new(&self.template)
    }

    /// Writes a request for every trial of every sample to `out`, or to standard output, in the order of the input.
    /// Errors: when a sample cannot be read again, or the output not be written: what was there before is then unchanged.
    pub fn execute(&self, samples: &Rows, out: Option<&OutputFile>) -> Result<Exported, RunError> {
        let mut exported = Exported::default();
        let mut write = |writer: &mut dyn Write| self.write(samples, writer, &mut exported);
        match out {
            Some(out) => out.write(write)?,
            None => write(&mut io::stdout().lock()).map_err(JudgeError::Stdout)?,
        }
        Ok(exported)
    }

    fn write(
        &self,
        samples: &Rows,
        writer: &mut dyn Write,
        exported: &mut Exported,
    ) -> io::Result<()> {
        let ids = CustomIds::new(self.protocol.as_ref(), &self.template);
        let prompt = self.prompt();
        let positions: Vec<usize> = (0..samples.count()).collect();
        for now in jobs::batches(&positions, |at| at, samples, AT_ONCE) {
            let lines: Vec<Option<String>> = samples
                .fetch(now)
                .map_err(io::Error::other)?
                .par_iter()
                .map(|sample| self.lines(&ids, &prompt, sample))
                .collect();
            for lines in lines {
                match lines {
                    Some(lines) => {
                        writer.write_all(lines.as_bytes())?;
                        exported.requests += self.options.trials as usize;
                    }
                    None => exported.skipped += 1,
                }
            }
        }
        writer.flush()
    }

    /// The requests of a sample's trials; none if the rules decide about it.
    fn lines(&self, ids: &CustomIds, prompt: &PlainPrompt, sample: &Sample) -> Option<String> {
        if is_decided_by_rules(&self.options, self.protocol.yields(), sample) {
            return None;
        }
        let view = self.protocol.view;
        let parts = prompt.parts(|name| shown_field(sample, view, name));
        let (chat, plain) = (Route::Chat, Route::Completions);
        let url = if self.protocol.chat { chat } else { plain }.path();
        let mut lines = String::new();
        for trial in 0..self.options.trials {
            let line = json!({
                "custom_id": ids.of_trial(sample, trial),
                "method": "POST",
                "url": url,
                "body": self.body(&parts, sample, trial),
            });
            // Writing to a text does not fail.
            let _ = writeln!(lines, "{line}");
        }
        Some(lines)
    }

    fn body(&self, parts: &[String], sample: &Sample, trial: u32) -> Map<String, Value> {
        let mut body = Map::new();
        let mut set = |key: &str, value: Value| {
            body.insert(key.to_owned(), value);
        };
        set("model", json!(self.model));
        if self.protocol.chat {
            let mut messages = Vec::new();
            if let Some(text) = &self.system_prompt {
                messages.push(json!({"role": "system", "content": text}));
            }
            let content = if self.parts {
                let parts = parts.iter().filter(|part| !part.is_empty());
                parts
                    .map(|part| json!({"type": "text", "text": part}))
                    .collect()
            } else {
                json!(parts.concat())
            };
            messages.push(json!({"role": "user", "content": content}));
            set("messages", Value::Array(messages));
        } else {
            set("prompt", json!(parts.concat()));
            // The protocol's text is all that the model sees; vLLM and `juror batch run` would put a token before it.
            set("add_special_tokens", json!(false));
        }
        let sampling = self.options.sampling;
        set("temperature", json!(sampling.temperature));
        set("top_p", json!(sampling.top_p));
        let (chat, plain) = ("max_completion_tokens", "max_tokens");
        let length = if self.protocol.chat { chat } else { plain };
        set(length, json!(self.options.max_new_tokens));
        set("seed", json!(seed_of(self.options.seed, sample, trial)));
        let stop = &self.protocol.stop_texts;
        if !stop.is_empty() {
            set("stop", json!(stop));
        }
        set_sampling(sampling, &mut body);
        extend(&mut body, &self.body);
        body
    }
}

/// A request's own seed: trials of a sample must differ.
fn seed_of(seed: u64, sample: &Sample, trial: u32) -> u32 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"request");
    hasher.update(&seed.to_le_bytes());
    hasher.update(&trial.to_le_bytes());
    hasher.update(sample.id.as_bytes());
    let mut first = [0; 4];
    first.copy_from_slice(&hasher.finalize().as_bytes()[..4]);
    u32::from_le_bytes(first) % SEEDS
}
