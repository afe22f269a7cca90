//! A batch file answered with a model here: requests into prompts, through the engine, into lines of answers.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use candle_core::Device;
use chrono::Local;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::lines::{
    BadRequest, BatchRequest, NO_ROOM, NOT_ANSWERED, answered, failed, refused, short_hash,
};
use crate::judge::build::{engine_of, open_devices};
use crate::judge::loaded::{build_engines, sizes};
use crate::judge::{EngineOptions, JudgeError, RunEnd, RunError};
use crate::openai::conversation::ChatModel;
use crate::openai::generation::{Defaults, Generation, lengths};
use crate::openai::guarded;
use crate::openai::response::Responder;
use crate::runtime::{Answered, ClientName, DeviceEngine, Runtime, Stop, Submission, Unanswered};
use juror_data::journal::{Journal, LinePlace, Manifest, journal_path};
use juror_data::output::{JsonLineSink, OutputFile, remove_left_over};
use juror_data::{LineLimit, Next, id_hash, sources};
use juror_engine::checkpoint::ModelSource;
use juror_engine::engine::{Completion, EngineError, FinishReason};
use juror_engine::model::DeviceChoice;

/// Requests that are tokenised at a time.
const AT_ONCE: usize = 32;

/// How often an interrupt is looked for.
const PATIENCE: Duration = Duration::from_millis(50);

/// How often the journal is synced to disk.
const SYNC_EVERY: Duration = Duration::from_secs(10);

pub enum Requests {
    File(PathBuf),
    /// They were made here: a line of a batch file each.
    Made(Vec<String>),
}

/// What is written for a line of the batch, by its place (from 0) and its line of the output.
pub(crate) type OutputShape = Box<dyn Fn(usize, Value) -> Value + Sync>;

/// A batch to be answered, resolved.
pub struct BatchRun {
    pub requests: Requests,
    /// What is written for each line, where it is not the batch API's output.
    pub shape: Option<OutputShape>,
    pub out: OutputFile,
    pub source: ModelSource,
    pub model: Arc<ChatModel>,
    /// Where it runs: one engine for each.
    pub devices: Vec<DeviceChoice>,
    /// What the user asked of the engine.
    pub engine: EngineOptions,
    /// What decides the answers beside the requests: the journal's first line. Its seed and longest completion are those of requests that do not say.
    pub manifest: Manifest,
    /// Throw away an earlier run's journal.
    pub restart: bool,
    /// How long a line may be.
    pub max_line: LineLimit,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct BatchProgress {
    pub lines: usize,
    /// Lines that are answered, those with an error too.
    pub done: usize,
    /// Of these, lines with an error, and what the first of those says.
    pub errors: usize,
    pub first_error: Option<String>,
    /// Of these, lines that an earlier run had answered.
    pub resumed: usize,
    /// The engine's sizes in words, once it is built.
    pub sizes: Option<String>,
}

impl BatchProgress {
    fn add_error(&mut self, error: &Value) {
        self.errors += usize::from(!error.is_null());
        let message = error["message"].as_str().map(str::to_owned);
        self.first_error = self.first_error.take().or(message);
    }
}

/// A line of a batch file: a request with a hash of its line, or the line of the output that says why it is none.
enum Line {
    Request(Box<BatchRequest>, String),
    Bad(Value),
}

/// Lines of a batch as they are read.
#[derive(Default)]
struct Lines {
    lines: Vec<Line>,
    names: HashMap<String, usize>,
}

impl Lines {
    /// Adds what line `number` is, `row` being its text.
    fn add(&mut self, request: Result<BatchRequest, BadRequest>, row: &[u8], number: usize) {
        let request = request.and_then(|request| match self.names.get(&request.custom_id) {
            Some(first) => Err(BadRequest {
                why: format!("line {first} has this custom_id already"),
                custom_id: Some(request.custom_id),
            }),
            None => Ok(request),
        });
        self.lines.push(match request {
            Ok(request) => {
                self.names.insert(request.custom_id.clone(), number);
                let hash = blake3::hash(row).to_hex().to_string();
                Line::Request(Box::new(request), hash)
            }
            Err(bad) => Line::Bad(refused(&bad, number)),
        });
    }
}

#[derive(Serialize, Deserialize)]
struct AnsweredLine {
    /// The hash of the request's line: a request that was changed since is answered again.
    request: String,
    output: Value,
}

impl BatchRun {
    /// Answers the requests that no earlier run has answered, then writes the output.
    /// Errors: any error that stops the run. Finished answers are in the journal, and the same run goes on from there.
    pub fn execute(
        &self,
        interrupted: &AtomicBool,
        observer: &mut dyn FnMut(&BatchProgress),
    ) -> Result<(RunEnd, BatchProgress), RunError> {
        let devices = open_devices(&self.devices, &self.engine)?;
        let lines = self.lines()?;
        let mut known = HashMap::new();
        let (journal, _) = Journal::open(
            &journal_path(self.out.path()),
            &self.manifest,
            None,
            self.restart,
            &mut |AnsweredLine { request, output }, place| {
                if output["error"]["code"] != NO_ROOM {
                    known.insert(request, (place, output["error"].clone()));
                }
                Ok(())
            },
        )?;
        remove_left_over(self.out.path());
        let mut answers = Answers {
            journal,
            places: vec![None; lines.len()],
            progress: BatchProgress {
                lines: lines.len(),
                ..BatchProgress::default()
            },
        };
        let mut todo = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let progress = &mut answers.progress;
            match line {
                Line::Bad(output) => progress.add_error(&output["error"]),
                Line::Request(request, hash) => match known.get(hash) {
                    Some((place, error)) => {
                        answers.places[at] = Some(*place);
                        progress.resumed += 1;
                        progress.add_error(error);
                    }
                    None => todo.push((at, request.as_ref(), hash)),
                },
            }
        }
        answers.progress.done = lines.len() - todo.len();
        let mut end = RunEnd::Complete;
        if !todo.is_empty() {
            let requests = todo.iter().map(|(_, line, _)| &line.request);
            let lengths = lengths(&self.model, requests, self.defaults());
            let (config, options) = (&self.model.config, &self.engine);
            let build = |devices: &[Device], progress| {
                engine_of(
                    &self.source,
                    config,
                    &[],
                    devices,
                    options,
                    &lengths,
                    progress,
                )
            };
            let engines = build_engines(devices, &build, &mut |_| {})?;
            answers.progress.sizes = Some(sizes(&engines));
            observer(&answers.progress);
            end = self.answer(engines, &todo, &mut answers, interrupted, observer)?;
        }
        answers.journal.sync()?;
        if end == RunEnd::Complete {
            answers.write(&lines, self)?;
        }
        Ok((end, answers.progress))
    }

    /// The lines of the batch file. One that is no request, or whose name another has, becomes a line of the output.
    fn lines(&self) -> Result<Vec<Line>, RunError> {
        let nameless = |why| BadRequest {
            custom_id: None,
            why,
        };
        let mut lines = Lines::default();
        let input = match &self.requests {
            Requests::File(input) => input,
            Requests::Made(made) => {
                for (at, line) in made.iter().enumerate() {
                    lines.add(BatchRequest::parse(line), line.as_bytes(), at + 1);
                }
                return Ok(lines.lines);
            }
        };
        for source in sources(std::slice::from_ref(input), Some(self.out.path()))? {
            let mut rows = source.open(self.max_line, Some(self.out.path()), &[])?;
            let mut row = Vec::new();
            loop {
                let next = rows.next(&mut row)?;
                let number = rows.place();
                let request = match next {
                    Next::End => break,
                    Next::Row if row.trim_ascii().is_empty() => continue,
                    Next::Row => std::str::from_utf8(&row)
                        .map_err(|_| nameless("not UTF-8".to_owned()))
                        .and_then(BatchRequest::parse),
                    Next::Bad(why) => Err(nameless(why)),
                };
                lines.add(request, &row, number);
            }
        }
        if lines.lines.is_empty() {
            let file = input.display();
            let why = format!("no requests in {file}: a batch file holds one JSON object a line");
            return Err(RunError::Usage(why));
        }
        Ok(lines.lines)
    }

    fn defaults(&self) -> Defaults {
        Defaults {
            max_new_tokens: self.manifest.sampling.max_new_tokens,
            seed: self.manifest.seed,
        }
    }

    /// Answers these lines of the batch.
    fn answer(
        &self,
        engines: Vec<DeviceEngine>,
        todo: &[(usize, &BatchRequest, &String)],
        answers: &mut Answers,
        interrupted: &AtomicBool,
        observer: &mut dyn FnMut(&BatchProgress),
    ) -> Result<RunEnd, RunError> {
        let responder = Responder {
            model: &self.model,
            created: Local::now().timestamp(),
            raw: self.manifest.raw,
        };
        let defaults = self.defaults();
        let mut synced = Instant::now();
        let several = engines.len() > 1;
        // Two lines of a batch may ask the same: each is answered for itself, as its own id says how it is drawn.
        let (runtime, most) = Runtime::of_engines(engines, 0, None).map_err(JudgeError::from)?;
        // An answer comes with the place of its line among those to do, and its own among the line's.
        let (client, (replies_in, replies)) = (ClientName::from("batch"), channel());
        let mut unfinished: HashMap<usize, Unfinished> = HashMap::new();
        let (mut next, mut in_flight) = (0, 0);
        while next < todo.len() || in_flight > 0 {
            if interrupted.load(Ordering::Relaxed) {
                runtime.stop(Stop::Now);
                return Ok(RunEnd::Interrupted);
            }
            if next < todo.len() && in_flight < most {
                let now = &todo[next..todo.len().min(next + AT_ONCE)];
                let made: Vec<_> = now
                    .par_iter()
                    .map(|(_, line, _)| Generation::new(&self.model, &line.request))
                    .collect();
                for (generation, (at, line, hash)) in made.into_iter().zip(now) {
                    match generation {
                        Ok(generation) => {
                            let name = id_hash(&line.custom_id);
                            let asked =
                                generation.answers(&self.model, &line.request, defaults, name);
                            let mut count = 0;
                            for ask in asked {
                                let (place, replies) = ((next, count), replies_in.clone());
                                let take = move |answer: Result<Answered, Unanswered>| {
                                    let _ = replies.send((place, answer));
                                };
                                runtime.submit(Submission {
                                    client: Arc::clone(&client),
                                    question: 0,
                                    ask,
                                    key: None,
                                    reply: Box::new(take),
                                });
                                count += 1;
                            }
                            in_flight += count;
                            let waiting = Unfinished {
                                completions: vec![None; count],
                                failure: None,
                                left: count,
                                generation,
                            };
                            unfinished.insert(next, waiting);
                        }
                        Err(why) => {
                            let output = failed(&line.custom_id, NOT_ANSWERED, &why);
                            answers.keep(*at, hash, output)?;
                        }
                    }
                    next += 1;
                }
            } else if let Ok(((place, answer), reply)) = replies.recv_timeout(PATIENCE)
                && let Some(waiting) = unfinished.get_mut(&place)
            {
                in_flight -= 1;
                if !waiting.take(answer, reply) {
                    let failure = runtime.join();
                    let stopped = || EngineError::Stopped.into();
                    let error = failure.map(|failure| failure.into_error(several));
                    return Err(RunError::Judge(error.unwrap_or_else(stopped)));
                }
                if waiting.left == 0
                    && let Some(done) = unfinished.remove(&place)
                    && let Some((at, line, hash)) = todo.get(place)
                {
                    let mut completions = done.completions.iter().flatten();
                    let is_long =
                        completions.any(|it| matches!(it.finish, FinishReason::TooLong(_)));
                    let code = if is_long { NO_ROOM } else { NOT_ANSWERED };
                    let output = match done.body(&responder, line) {
                        Ok(body) => answered(&line.custom_id, &body),
                        Err(why) => failed(&line.custom_id, code, &why),
                    };
                    answers.keep(*at, hash, output)?;
                }
            }
            if synced.elapsed() > SYNC_EVERY {
                answers.journal.sync()?;
                synced = Instant::now();
            }
            observer(&answers.progress);
        }
        Ok(RunEnd::Complete)
    }
}

/// A request of whose answers some are known.
struct Unfinished {
    generation: Generation,
    /// Why one of its answers could not be kept to the form that was asked for.
    failure: Option<String>,
    completions: Vec<Option<Completion>>,
    /// Answers that have not come.
    left: usize,
}

impl Unfinished {
    /// Takes one of its answers; false where the engine has failed.
    fn take(&mut self, answer: usize, reply: Result<Answered, Unanswered>) -> bool {
        match reply {
            Ok(answered) => self.completions[answer] = Some(answered.into_completion()),
            Err(Unanswered::Guide(why) | Unanswered::Server(why)) => self.failure = Some(why),
            Err(Unanswered::Backend(_)) => return false,
        }
        self.left -= 1;
        true
    }

    /// The answer's body, or why there is none.
    fn body(self, responder: &Responder, line: &BatchRequest) -> Result<Value, String> {
        if let Some(why) = self.failure {
            return Err(why);
        }
        let completions: Vec<Completion> = self.completions.into_iter().flatten().collect();
        let name = short_hash(&line.custom_id);
        let prompts = &self.generation.prompts;
        guarded(|| responder.body(&line.request, prompts, &completions, &name))
    }
}

struct Answers {
    journal: Journal,
    /// Of each line of the batch where its answer is.
    places: Vec<Option<LinePlace>>,
    progress: BatchProgress,
}

impl Answers {
    /// Keeps the line of the output that answers a line of the batch.
    fn keep(&mut self, at: usize, hash: &str, output: Value) -> Result<(), RunError> {
        self.progress.add_error(&output["error"]);
        let request = hash.to_owned();
        self.places[at] = Some(self.journal.append(&AnsweredLine { request, output })?);
        self.progress.done += 1;
        Ok(())
    }

    /// Writes all answers, in the order of the requests.
    fn write(&mut self, lines: &[Line], run: &BatchRun) -> Result<(), RunError> {
        run.out.write(|writer| {
            let shaped = |at: usize, output: Value| match &run.shape {
                Some(shape) => shape(at, output),
                None => output,
            };
            for (at, (line, place)) in lines.iter().zip(&self.places).enumerate() {
                if let Line::Bad(output) = line {
                    writeln!(writer, "{}", shaped(at, output.clone()))?;
                }
                let output = |line: AnsweredLine| writeln!(writer, "{}", shaped(at, line.output));
                self.journal.copy(*place, &mut JsonLineSink::new(output))?;
            }
            Ok(())
        })?;
        Ok(())
    }
}
