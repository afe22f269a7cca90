//! A batch file answered with a model here: requests into prompts, through the engine, into lines of answers.
//!
//! ```text
//! requests ─▶ prompt tokens ─▶ engine ─▶ completions ─▶ answers: the journal ─▶ OUTPUTS.jsonl, in the order of the requests
//! └─ feed: one thread ───────────────┘   └─ the caller's thread ────────────────────────────────────────────────────────┘
//! ```

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use super::BatchError;
use super::answered::{Answered, Place, Settings};
use super::conversation::{ChatModel, Prompt};
use super::feed::{Event, InFlight, Pending, feed};
use super::request::BatchRequest;
use super::response::{Responder, failed};
use super::spooled::{Batch, Entry};
use super::stop::StopTexts;
use crate::checkpoint::ModelSource;
use crate::checkpoint::weights::LoadProgress;
use crate::dataset::journal::journal_path;
use crate::dataset::output::{remove_left_over, write_atomically};
use crate::dataset::{LineLimit, id_hash};
use crate::engine::{
    Completion, Engine, EngineError, EngineThread, RandomKey, Request, Sampling, Stats,
};
use crate::judge::build::{describe, engine_of};
use crate::judge::{EngineOptions, RunEnd, WorkloadLengths};
use crate::model::DeviceChoice;
use crate::panics;
use crate::threads;

/// Requests that wait in the engine.
const AHEAD: usize = 128;

/// How often a waiting thread checks whether the run is over.
const PATIENCE: Duration = Duration::from_millis(50);

/// How often the journal is synced to disk.
const SYNC_EVERY: Duration = Duration::from_secs(10);

/// Bytes of text that a token stands for, cautiously.
const BYTES_PER_TOKEN: usize = 3;

/// Tokens of chat markup, at most.
const MARKUP: usize = 512;

/// A batch to be answered, resolved.
pub struct BatchRun {
    /// The batch file.
    pub input: PathBuf,
    /// Where the answers go.
    pub out: PathBuf,
    /// The model's files.
    pub source: ModelSource,
    /// The model's name, as the user gave it.
    pub model_name: String,
    /// Its text side.
    pub model: ChatModel,
    /// Where it runs.
    pub device: DeviceChoice,
    /// What the user asked of the engine.
    pub engine: EngineOptions,
    /// What decides the answers beside the requests.
    pub settings: Settings,
    /// Throw away an earlier run's journal.
    pub restart: bool,
    /// How long a line may be.
    pub max_line: LineLimit,
}

/// How far a run is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BatchProgress {
    /// Lines of the batch.
    pub lines: usize,
    /// Lines that are answered, those with an error too.
    pub done: usize,
    /// Of these, lines with an error.
    pub errors: usize,
    /// Of these, lines that an earlier run had answered.
    pub resumed: usize,
    /// The engine's sizes in words, once it is built.
    pub sizes: Option<String>,
    /// What the engine did.
    pub stats: Stats,
    /// Time since the engine was built.
    pub elapsed: Duration,
}

impl BatchRun {
    /// Answers the requests that no earlier run has answered, then writes the output.
    ///
    /// # Errors
    /// Any error that stops the run. Finished answers are in the journal, and the same run goes on from there.
    pub fn execute(
        &self,
        interrupted: &AtomicBool,
        observer: &mut dyn FnMut(&BatchProgress),
    ) -> Result<(RunEnd, BatchProgress), BatchError> {
        let device = self.device.open().map_err(BatchError::Model)?;
        let batch = Batch::read(&self.input, &self.out, self.max_line)?;
        if batch.entries.is_empty() {
            return Err(BatchError::NoRequests {
                file: self.input.display().to_string(),
            });
        }
        let mut answers = HashMap::new();
        let (journal, begun) = Answered::open(
            &journal_path(&self.out),
            &self.settings,
            self.restart,
            &mut |hash, place| {
                answers.insert(hash, place);
            },
        )?;
        remove_left_over(&self.out);
        if let Ok(moment) = begun.begun.parse() {
            self.model.set_moment(moment);
        }
        let mut run = Run {
            batch: &batch,
            journal,
            places: Vec::with_capacity(batch.entries.len()),
            progress: BatchProgress {
                lines: batch.entries.len(),
                ..BatchProgress::default()
            },
            responder: Responder {
                model: self.model_name.clone(),
                created: begun.created,
                raw: self.settings.raw,
            },
        };
        let mut todo = Vec::new();
        for (at, entry) in batch.entries.iter().enumerate() {
            let place = match entry {
                Entry::Request(spooled) => answers.get(&spooled.hash).copied(),
                Entry::Bad(_) => {
                    run.progress.errors += 1;
                    run.progress.done += 1;
                    None
                }
            };
            if place.is_some() {
                run.progress.resumed += 1;
                run.progress.done += 1;
            } else if matches!(entry, Entry::Request(_)) {
                todo.push(at);
            }
            run.places.push(place);
        }
        let end = if todo.is_empty() {
            RunEnd::Complete
        } else {
            let lengths = self.lengths(&batch, &todo);
            let progress = Arc::new(LoadProgress::default());
            let engine = engine_of(
                &self.source,
                &self.model.config,
                &[],
                &device,
                &self.engine,
                &lengths,
                progress,
            )?;
            run.progress.sizes = Some(describe(&engine));
            observer(&run.progress);
            run.answer(self, engine, &todo, interrupted, observer)?
        };
        run.journal.sync()?;
        if end == RunEnd::Complete {
            run.write(self)?;
        }
        Ok((end, run.progress))
    }

    /// How long prompts and completions will be.
    fn lengths(&self, batch: &Batch, todo: &[usize]) -> WorkloadLengths {
        let context = self.model.config.max_positions;
        let of_todo = || {
            todo.iter().filter_map(|&at| match &batch.entries[at] {
                Entry::Request(spooled) => Some(spooled.as_ref()),
                Entry::Bad(_) => None,
            })
        };
        let total: usize = of_todo().map(|spooled| spooled.bytes).sum();
        let longest = of_todo().map(|spooled| spooled.bytes).max().unwrap_or(0);
        let max_new = of_todo().map(|spooled| self.max_new(spooled.max_tokens));
        WorkloadLengths {
            shared: 0,
            typical: total / todo.len().max(1) / BYTES_PER_TOKEN + MARKUP / 4,
            // No token is shorter than a byte.
            longest: longest.saturating_add(MARKUP).min(context),
            max_new: max_new.max().unwrap_or(1).min(context),
            context,
        }
    }

    /// The longest completion of a request; half of the context is left to the prompt where the request does not say.
    fn max_new(&self, asked: Option<usize>) -> usize {
        let context = self.model.config.max_positions;
        asked.unwrap_or_else(|| self.settings.max_new_tokens.min(context / 2).max(1))
    }

    /// A request as its prompt, or why it cannot be answered.
    pub(super) fn prompt(&self, request: &BatchRequest) -> Result<Prompt, String> {
        let context = self.model.config.max_positions;
        let max_new = self.max_new(request.max_tokens);
        if max_new >= context {
            return Err(format!(
                "{max_new} new tokens leave no room for a prompt in the model's context of {context}: ask for fewer"
            ));
        }
        let prompt = || self.model.prompt(request, context - max_new);
        panics::guarded(prompt).unwrap_or_else(|why| {
            Err(format!(
                "an error of juror itself ({why}); please report this request"
            ))
        })
    }

    /// What the engine is asked for one choice of a request.
    pub(super) fn engine_request(
        &self,
        id: u64,
        request: &BatchRequest,
        prompt: &Prompt,
        choice: u32,
    ) -> Request {
        // Equal requests with equal seeds have equal answers; without a seed, draws follow the request's name.
        let (seed, sample) = match request.seed {
            Some(seed) => (seed, 0),
            None => (self.settings.seed, id_hash(&request.custom_id)),
        };
        Request {
            id,
            prompt: prompt.tokens.clone(),
            max_new_tokens: self.max_new(request.max_tokens),
            sampling: request.sampling(self.sampling()),
            random_key: RandomKey {
                seed,
                sample,
                trial: choice,
            },
            eos: Arc::clone(&self.model.eos),
            guide: StopTexts::for_texts(self.model.tokenizer(), &request.stop),
            choices: None,
        }
    }

    /// How tokens are chosen where a request does not say.
    fn sampling(&self) -> Sampling {
        self.model.generation.sampling_for(1)
    }
}

/// A run under way.
struct Run<'b> {
    batch: &'b Batch,
    journal: Answered,
    /// Of each line of the batch where its answer is.
    places: Vec<Option<Place>>,
    progress: BatchProgress,
    responder: Responder,
}

impl Run<'_> {
    /// Answers these lines of the batch.
    fn answer(
        &mut self,
        run: &BatchRun,
        engine: Engine,
        todo: &[usize],
        interrupted: &AtomicBool,
        observer: &mut dyn FnMut(&BatchProgress),
    ) -> Result<RunEnd, BatchError> {
        let started = Instant::now();
        let mut synced = Instant::now();
        let in_flight = &InFlight::default();
        let stop = &AtomicBool::new(false);
        let mut engine = EngineThread::spawn(engine, AHEAD)?;
        let queue = engine.requests();
        engine.close();
        let batch = self.batch;
        std::thread::scope(|scope| {
            // However this ends, the feeding thread ends too: its flag is set, and the engine's queue closed.
            let engine = engine;
            let _stop = StopOnDrop(stop);
            let (events_in, events) = channel();
            let feed = move || {
                let Some(queue) = queue else { return };
                let fed =
                    panics::guarded(|| feed(run, batch, todo, in_flight, stop, &queue, &events_in));
                let failure = match fed {
                    Ok(Ok(())) => return,
                    Ok(Err(error)) => error,
                    Err(why) => BatchError::Engine(EngineError::Panicked(why)),
                };
                let _ = events_in.send(Event::Failed(failure));
            };
            std::thread::Builder::new()
                .name("feed".into())
                .spawn_scoped(scope, feed)
                .map_err(threads::refused("prompts"))?;
            let mut left = todo.len();
            while left > 0 {
                if interrupted.load(Ordering::Relaxed) {
                    return Ok(RunEnd::Interrupted);
                }
                let received = engine.recv(PATIENCE);
                for event in events.try_iter() {
                    match event {
                        Event::Refused(at, custom_id, why) => {
                            self.keep_error(at, &custom_id, &why)?;
                            left -= 1;
                        }
                        Event::Failed(error) => return Err(error),
                    }
                }
                match received {
                    Ok(None) => {}
                    Ok(Some(completion)) => {
                        if let Some(pending) = in_flight.take(completion) {
                            self.keep(run, pending)?;
                            left -= 1;
                        }
                    }
                    // All is done, and no more will come.
                    Err(EngineError::Stopped) if left == 0 => break,
                    Err(error) => return Err(error.into()),
                }
                if synced.elapsed() > SYNC_EVERY {
                    self.journal.sync()?;
                    synced = Instant::now();
                }
                self.progress.stats = engine.stats();
                self.progress.elapsed = started.elapsed();
                observer(&self.progress);
            }
            Ok(RunEnd::Complete)
        })
    }

    /// Keeps a finished answer.
    fn keep(&mut self, run: &BatchRun, pending: Pending) -> Result<(), BatchError> {
        let completions: Vec<Completion> = pending.completions.into_iter().flatten().collect();
        let request = &pending.request;
        let answer = panics::guarded(|| {
            let thinking = pending.thinking.as_deref();
            self.responder
                .answer(&run.model, request, thinking, &completions)
        });
        match answer {
            Ok(Ok(line)) => self.append(pending.at, &line),
            Ok(Err(why)) => self.keep_error(pending.at, &request.custom_id, &why),
            Err(why) => {
                let why = format!("an error of juror itself ({why}); please report this request");
                self.keep_error(pending.at, &request.custom_id, &why)
            }
        }
    }

    fn keep_error(&mut self, at: usize, custom_id: &str, why: &str) -> Result<(), BatchError> {
        self.progress.errors += 1;
        self.append(at, &failed(Some(custom_id), "not_answered", why))
    }

    fn append(&mut self, at: usize, line: &serde_json::Value) -> Result<(), BatchError> {
        if let Entry::Request(spooled) = &self.batch.entries[at] {
            self.places[at] = Some(self.journal.append(&spooled.hash, line)?);
        }
        self.progress.done += 1;
        Ok(())
    }

    /// Writes all answers, in the order of the requests.
    fn write(&mut self, run: &BatchRun) -> Result<(), BatchError> {
        let (batch, places, journal) = (self.batch, &self.places, &mut self.journal);
        write_atomically(&run.out, |writer| {
            for (entry, place) in batch.entries.iter().zip(places) {
                match (entry, place) {
                    (Entry::Bad(line), _) => {
                        serde_json::to_writer(&mut *writer, line)?;
                        writer.write_all(b"\n")?;
                    }
                    (Entry::Request(_), Some(place)) => journal.copy(*place, writer)?,
                    // The run is complete: every request has an answer.
                    (Entry::Request(_), None) => {}
                }
            }
            Ok(())
        })?;
        Ok(())
    }
}

/// Sets a flag when it is dropped.
struct StopOnDrop<'s>(&'s AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
