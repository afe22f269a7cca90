//! What a judge would be asked, as the requests of a batch file.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::custom_id::{AskedUnder, CustomId};
use super::{BatchError, CHAT_URL, COMPLETIONS_URL};
use crate::dataset::output::write_atomically;
use crate::dataset::{DatasetError, Rows, Sample, Samples};
use crate::judge::answers::is_decided_by_rules;
use crate::judge::{RunOptions, jobs};
use crate::protocol::{Fields, PlainPrompt, PromptTemplate, Protocol};

/// Samples that are read at a time.
const AT_ONCE: usize = 256;

/// Seeds of requests are below this: a number that every engine takes.
const SEEDS: u32 = 1 << 31;

/// A batch to be written.
pub struct Export {
    /// The protocol: what is asked.
    pub protocol: Arc<dyn Protocol>,
    /// Its prompt text, or the user's own.
    pub template: PromptTemplate,
    /// Sampling, length, trials, seed, and which samples the rules decide beforehand.
    pub options: RunOptions,
    /// The model's name in the requests.
    pub model: String,
    /// A system message before the prompt.
    pub system_prompt: Option<String>,
    /// Give the prompt's own text and each field as a part of its own.
    pub parts: bool,
    /// The key that holds the longest completion.
    pub length_key: &'static str,
    /// Further keys of every request's body; null leaves a key out.
    pub body: Map<String, Value>,
}

/// What was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exported {
    /// Requests.
    pub requests: usize,
    /// Samples that the rules have decided.
    pub skipped: usize,
}

/// One line of a batch file.
#[derive(Serialize)]
struct Line {
    custom_id: String,
    method: &'static str,
    url: &'static str,
    body: Map<String, Value>,
}

impl Export {
    /// What the user should know of the prompt.
    pub fn notes(&self) -> Vec<String> {
        self.prompt().notes().to_vec()
    }

    fn prompt(&self) -> PlainPrompt {
        PlainPrompt::new(&self.template, self.protocol.view())
    }

    /// Writes a request for every trial of every sample to `out`, or to standard output, in the order of the input; none
    /// once it is interrupted.
    ///
    /// # Errors
    /// When a sample cannot be read again, or the output not be written: what was there before is then unchanged.
    pub fn execute(
        &self,
        samples: &Rows,
        out: Option<&Path>,
        interrupted: &AtomicBool,
    ) -> Result<Option<Exported>, BatchError> {
        let Some(out) = out else {
            let mut stdout = io::BufWriter::new(io::stdout().lock());
            let exported = self.write(samples, &mut stdout, interrupted)?;
            stdout.flush().map_err(BatchError::Stdout)?;
            return Ok(exported);
        };
        let mut exported = None;
        let written = write_atomically(out, |writer| {
            let result = self.write(samples, writer, interrupted);
            // What is not whole replaces nothing.
            let whole = match &result {
                Ok(Some(_)) => Ok(()),
                Ok(None) => Err(io::Error::other("interrupted")),
                Err(WriteError::Write(error)) => {
                    Err(io::Error::new(error.kind(), error.to_string()))
                }
                Err(WriteError::Input(error)) => Err(io::Error::other(error.to_string())),
            };
            exported = Some(result);
            whole
        });
        match (exported, written) {
            (Some(Ok(None)), _) | (None, Ok(())) => Ok(None),
            (Some(Err(WriteError::Input(error))), _) => Err(error.into()),
            (_, Err(error)) => Err(error.into()),
            (Some(Ok(exported)), Ok(())) => Ok(exported),
            // The writer's error is the output's.
            (Some(Err(error)), Ok(())) => Err(error.into()),
        }
    }

    fn write(
        &self,
        samples: &Rows,
        writer: &mut dyn Write,
        interrupted: &AtomicBool,
    ) -> Result<Option<Exported>, WriteError> {
        let under = AskedUnder::new(self.protocol.as_ref(), &self.template);
        let prompt = self.prompt();
        let mut exported = Exported::default();
        let positions: Vec<usize> = (0..samples.count()).collect();
        let mut rest = positions.as_slice();
        while !rest.is_empty() {
            if interrupted.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let now = jobs::cut_positions(&mut rest, samples, AT_ONCE);
            let lines: Vec<Option<Vec<u8>>> = samples
                .fetch(now)?
                .par_iter()
                .map(|sample| self.lines(&under, &prompt, sample))
                .collect::<Result<_, _>>()
                .map_err(io::Error::from)?;
            for lines in lines {
                match lines {
                    Some(lines) => {
                        writer.write_all(&lines)?;
                        exported.requests += self.options.trials as usize;
                    }
                    None => exported.skipped += 1,
                }
            }
        }
        Ok(Some(exported))
    }

    /// The requests of a sample's trials; none if the rules decide about it.
    fn lines(
        &self,
        under: &AskedUnder,
        prompt: &PlainPrompt,
        sample: &Sample,
    ) -> Result<Option<Vec<u8>>, serde_json::Error> {
        if is_decided_by_rules(&self.options, sample) {
            return Ok(None);
        }
        let parts = prompt.parts(&Fields {
            question: &sample.question,
            student_answer: &sample.student_answer,
            reference_answer: &sample.reference_answer,
        });
        let mut lines = Vec::new();
        for trial in 0..self.options.trials {
            let line = Line {
                custom_id: CustomId::new(under, sample, trial).to_string(),
                method: "POST",
                url: if self.protocol.chat() {
                    CHAT_URL
                } else {
                    COMPLETIONS_URL
                },
                body: self.body(&parts, sample, trial),
            };
            serde_json::to_writer(&mut lines, &line)?;
            lines.push(b'\n');
        }
        Ok(Some(lines))
    }

    fn body(&self, parts: &[String], sample: &Sample, trial: u32) -> Map<String, Value> {
        let mut body = Map::new();
        let mut set = |key: &str, value: Value| {
            body.insert(key.to_owned(), value);
        };
        set("model", json!(self.model));
        if self.protocol.chat() {
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
        }
        let sampling = self.options.sampling;
        set("temperature", json!(sampling.temperature));
        set("top_p", json!(sampling.top_p));
        // Not OpenAI's: only where they are asked for.
        if sampling.top_k > 0 {
            set("top_k", json!(sampling.top_k));
        }
        if sampling.min_p > 0.0 {
            set("min_p", json!(sampling.min_p));
        }
        set(self.length_key, json!(self.options.max_new_tokens));
        set("seed", json!(seed_of(self.options.seed, sample, trial)));
        let stop = self.protocol.stop_texts();
        if !stop.is_empty() {
            set("stop", json!(stop));
        }
        for (key, value) in &self.body {
            if value.is_null() {
                body.remove(key);
            } else {
                body.insert(key.clone(), value.clone());
            }
        }
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

/// Why requests were not written.
#[derive(Debug, thiserror::Error)]
enum WriteError {
    /// A sample cannot be read again.
    #[error(transparent)]
    Input(#[from] DatasetError),
    /// The writer failed.
    #[error(transparent)]
    Write(#[from] io::Error),
}

impl From<WriteError> for BatchError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Input(error) => Self::Input(error),
            WriteError::Write(error) => Self::Stdout(error),
        }
    }
}
