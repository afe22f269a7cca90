//! The rules on a stream of rows: JSON lines in, one line of verdict for each out, in the same order.
//!
//! A row is `{"id"?, "gold", "pred", "config"?}`, other keys ignored, or a rollout as `judge` reads it; a reference may be a list, any of
//! which is right. Rows are verified on all cores as they come:
//! what has been read is answered at once, so a program may write one row, wait for its line, and write the next. The first
//! row whose verdict depends on what a comma or a point is has files read from the beginning for what their rows show of that.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rayon::prelude::*;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use juror_base::panics;
use juror_base::threads::{self, ThreadError, lock};
use juror_data::output::OutputError;
use juror_data::{ColumnMap, DatasetError, Keep, LineLimit, Next, Pair, Source, is_repeated};
use juror_rules::{
    AnswerFormat, Config, DecimalMark, Profile, Reading, Role, Status, Verification, Verifier,
};

/// Rows that are answered together, at most; and their bytes.
const ROWS: usize = 4096;
const BYTES: usize = 4 << 20;

/// How many rows that show their decimal mark are enough.
const ENOUGH: usize = 10_000;

const MOST_READ: usize = 200_000;

fn says_decimal(settings: &Map<String, Value>) -> bool {
    settings.get("decimal").is_some_and(|mark| !mark.is_null())
}

/// How often it is checked for an interruption.
const PATIENCE: Duration = Duration::from_millis(100);

#[derive(Debug, Serialize)]
struct Line<'l> {
    id: Option<&'l RawValue>,
    index: usize,
    #[serde(flatten)]
    result: Outcome<'l>,
    profile: Profile,
    #[serde(skip_serializing_if = "Option::is_none")]
    emulates: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<&'l Map<String, Value>>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Outcome<'l> {
    Verified(&'l Verification),
    Bad { equal: Option<bool>, error: &'l str },
}

#[derive(Debug, Clone, Default)]
pub(crate) struct VerifySettings {
    pub profile: Profile,
    /// Settings of every row that has none of its own, as JSON: a row's `config` replaces them key by key.
    pub config: Map<String, Value>,
    /// Which keys of a rollout hold the reference answer and the response.
    pub columns: ColumnMap,
    pub max_line: LineLimit,
    /// Which keys of a row its line holds too.
    pub keep: Keep,
    /// Where a response has its answer.
    pub format: AnswerFormat,
}

/// Writes a pair and its verdict for a person.
pub(crate) type Explain<'e> = &'e (dyn Fn(&[String], &str, &Verification) -> String + Sync);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub rows: usize,
    pub equal: usize,
    pub different: usize,
    /// Rows that repeat others and have no line.
    pub repeated: usize,
    /// Rows that are no pair; each has a line with an `error`.
    pub bad: usize,
    /// What is wrong with the first of them.
    pub first_bad: String,
    pub by_status: HashMap<Status, usize>,
    /// What files show of decimal marks, where a verdict depends on it.
    pub decimals: Option<Decimals>,
}

/// How many rows show a comma and how many a point before decimals, in the gold answers and in the predictions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Decimals {
    counts: [[usize; 2]; 2],
    /// Rows that show something, and rows that were read.
    pub rows: usize,
    read: usize,
}

impl Decimals {
    fn add(&mut self, marks: [Option<DecimalMark>; 2]) {
        self.read += 1;
        self.rows += usize::from(marks != [None, None]);
        for (counts, mark) in self.counts.iter_mut().zip(marks) {
            if let Some(mark) = mark {
                counts[mark as usize] += 1;
            }
        }
    }

    /// What is said of them to a person, of the gold answers and of the predictions.
    pub(crate) fn words(&self) -> [&'static str; 2] {
        self.counts.map(|counts| match counts {
            [0, 0] => "nothing",
            [_, 0] => "commas",
            [0, _] => "points",
            _ => "both, left open,",
        })
    }

    /// The marks that all rows agree on, but for the one at `index`, and whether what that shows itself, `own`, is against it.
    fn marks(
        &self,
        index: usize,
        own: impl FnOnce() -> [Option<DecimalMark>; 2],
    ) -> ([Option<DecimalMark>; 2], bool) {
        let own = if index < self.read {
            own()
        } else {
            [None, None]
        };
        let marks = [0, 1].map(|side| {
            let others = |mark| {
                self.counts[side][mark as usize]
                    .saturating_sub(usize::from(own[side] == Some(mark)))
            };
            match (others(DecimalMark::Comma), others(DecimalMark::Point)) {
                (1.., 0) => Some(DecimalMark::Comma),
                (0, 1..) => Some(DecimalMark::Point),
                _ => None,
            }
        });
        let mut sides = marks.iter().zip(own);
        let against = sides.any(|(mark, own)| mark.is_some() && own.is_some() && *mark != own);
        (marks, against)
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum VerifyError {
    #[error(transparent)]
    Input(#[from] DatasetError),
    #[error("could not write the output: {0}")]
    Output(#[from] io::Error),
    #[error(transparent)]
    File(#[from] OutputError),
    #[error("{0}")]
    Settings(String),
    #[error(transparent)]
    Thread(#[from] ThreadError),
    #[error("an error of juror itself ({0}); please report it with the input")]
    Panicked(String),
    #[error("interrupted")]
    Interrupted,
}

impl VerifySettings {
    /// A verifier under these settings and those of a row, and under decimal marks of the gold answer and of the prediction where
    /// neither names one.
    pub(crate) fn verifier(
        &self,
        own: Option<&Map<String, Value>>,
        marks: [Option<DecimalMark>; 2],
    ) -> Result<Verifier, String> {
        let mut config = self.config.clone();
        if let Some(own) = own {
            config.extend(own.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        let config: Config = serde_json::from_value(Value::Object(config))
            .map_err(|error| format!("`config`: {error}"))?;
        let [gold, pred] = marks.map(|mark| Config {
            decimal: config.decimal.or(mark),
            ..config.clone()
        });
        Ok(Verifier::new(self.profile, pred).with_gold_config(gold))
    }

    /// The line of output for a verification: JSON, with its line end.
    pub(crate) fn line(
        &self,
        id: Option<&str>,
        index: usize,
        verification: &Verification,
    ) -> Vec<u8> {
        self.json(id, index, Ok(verification), None)
    }

    fn json(
        &self,
        id: Option<&str>,
        index: usize,
        result: Result<&Verification, &str>,
        kept: Option<&Map<String, Value>>,
    ) -> Vec<u8> {
        let line = Line {
            id: id.and_then(|id| serde_json::from_str(id).ok()),
            index,
            result: match result {
                Ok(verification) => Outcome::Verified(verification),
                Err(error) => Outcome::Bad { equal: None, error },
            },
            profile: self.profile,
            emulates: (self.profile == Profile::Compat).then_some(juror_rules::EMULATES),
            input: kept.filter(|_| !self.keep.is_empty()),
        };
        // Strings, numbers and what was JSON before: this cannot fail, and an empty line would show if it did.
        let mut text = serde_json::to_vec(&line).unwrap_or_default();
        text.push(b'\n');
        text
    }

    fn pair(&self, line: &RowLine) -> Result<Pair, String> {
        let row = line.row.as_ref().map_err(Clone::clone)?;
        Pair::parse(row, &self.columns, &self.keep)
    }

    fn unanswered(&self, index: usize, pair: Option<&Pair>, error: String) -> Answered {
        let id = pair.and_then(|pair| pair.id.as_deref());
        Answered {
            text: self.json(id, index, Err(&error), pair.map(|pair| &pair.kept)),
            verdict: Err(error),
            kept: Vec::new(),
            open: false,
        }
    }

    /// Verifies the line at `index`, with what is known of decimal marks.
    fn answer(
        &self,
        common: &Verifier,
        explain: Option<Explain>,
        index: usize,
        line: &RowLine,
        decimals: &Decimals,
    ) -> Answered {
        let bad = |pair: Option<&Pair>, error: &str| {
            let error = format!("{}:{}: {error}", line.source, line.number);
            self.unanswered(index, pair, error)
        };
        let pair = match self.pair(line) {
            Ok(pair) => pair,
            Err(error) => return bad(None, &error),
        };
        let (marks, against) = decimals.marks(index, || self.shown(common, &pair));
        let own = match (&pair.config, marks) {
            (None, [None, None]) => None,
            (own, marks) => match self.verifier(own.as_ref(), marks) {
                Ok(verifier) => Some(verifier),
                Err(error) => return bad(Some(&pair), &error),
            },
        };
        let verifier = own.as_ref().unwrap_or(common);
        // None is known; should there be one, it costs its own row and not the others. A verifier has no state to harm.
        let golds = || pair.references.iter().map(String::as_str);
        let verified = panics::guarded(|| {
            let letter = pair.option_letter.as_deref();
            let by = |it: &Verifier| it.verify_any(golds(), letter, &pair.response, &self.format);
            let verified = by(verifier);
            if !against || by(common).equal == verified.equal {
                return verified;
            }
            Verification {
                equal: None,
                status: Status::UnparsedPred,
                method: "none",
                reason: "the other rows have another decimal mark than this one".to_owned(),
                ..verified
            }
        });
        let verification = match verified {
            Ok(verification) => verification,
            Err(why) => {
                let why =
                    format!("an error of the verifier itself ({why}); please report this row");
                return bad(Some(&pair), &why);
            }
        };
        let id = pair.id.as_deref();
        let text = match explain {
            Some(explain) => {
                let name = id.map_or_else(|| index.to_string(), str::to_owned);
                let text = explain(&pair.references, &pair.response, &verification);
                format!("{name}\n{text}\n").into_bytes()
            }
            None => self.json(id, index, Ok(&verification), Some(&pair.kept)),
        };
        let mut kept = vec![false; self.keep.keys().len()];
        self.keep.mark(&pair.kept, &mut kept);
        Answered {
            verdict: Ok((verification.equal, verification.status)),
            text,
            kept,
            open: self.profile == Profile::Strict
                && !pair.config.is_some_and(|own| says_decimal(&own))
                && verification.depends_on_decimals(),
        }
    }

    /// The decimal marks that a pair shows.
    fn shown(&self, common: &Verifier, pair: &Pair) -> [Option<DecimalMark>; 2] {
        let read = |text: &str, role| {
            let answer = common.read(text, role).pop().map(Reading::into_text);
            // What was written in another way shows nothing.
            answer
                .filter(|it| text.contains(it.as_str()))
                .unwrap_or_default()
        };
        let marks = || {
            let response = self.format.answer(&pair.response).unwrap_or_default();
            let pred = read(response, Role::Prediction);
            let golds = pair.references.iter().map(|gold| read(gold, Role::Gold));
            golds.fold([None, None], |[gold_mark, pred_mark], gold| {
                [
                    gold_mark.or_else(|| DecimalMark::shown(&gold, &pred)),
                    pred_mark.or_else(|| DecimalMark::shown(&pred, &gold)),
                ]
            })
        };
        panics::guarded(marks).unwrap_or_default()
    }

    /// What the rows of files show of decimal marks: nothing where an input can be read only once. What cannot be read to its end ends
    /// here too, and is told by the reading that writes.
    fn decimals(
        &self,
        common: &Verifier,
        sources: &Arc<[Source]>,
        interrupted: &AtomicBool,
    ) -> Result<Decimals, VerifyError> {
        let mut decimals = Decimals::default();
        let is_file = |source: &Source| matches!(source, Source::File(path) if path.is_file());
        if !sources.iter().all(is_file) {
            return Ok(decimals);
        }
        let rows = self.rows(sources)?;
        while decimals.read < MOST_READ {
            let batch = match rows.0.take(interrupted) {
                Ok(Some(batch)) => batch,
                Err(VerifyError::Interrupted) => return Err(VerifyError::Interrupted),
                Ok(None) | Err(_) => break,
            };
            let shown = batch
                .par_iter()
                .map(|line| Some(self.shown(common, &self.pair(line).ok()?)));
            for marks in shown.collect::<Vec<_>>() {
                decimals.add(marks.unwrap_or_default());
                if decimals.rows == ENOUGH {
                    return Ok(decimals);
                }
            }
        }
        Ok(decimals)
    }

    /// The rows of `sources`, which are read as they are taken.
    fn rows(&self, sources: &Arc<[Source]>) -> Result<Abandon, VerifyError> {
        let queue = Arc::new(Queue::default());
        let (reader, sources) = (Arc::clone(&queue), Arc::clone(sources));
        let settings = self.clone();
        // The reader is not joined: it may sit in a read of standard input that never returns.
        let read = move || {
            // Whatever happens, nobody waits for rows that do not come.
            let failed = panics::guarded(|| settings.read_rows(&sources, &reader).err());
            match failed {
                Ok(error) => reader.close(error, None),
                Err(why) => reader.close(None, Some(why)),
            }
        };
        std::thread::Builder::new()
            .name("reader".into())
            .spawn(read)
            .map_err(threads::refused("reading the input"))?;
        Ok(Abandon(queue))
    }

    fn read_rows(&self, sources: &[Source], queue: &Queue) -> Result<(), DatasetError> {
        let mut keys = vec!["gold".to_owned(), "pred".to_owned()];
        keys.extend_from_slice(self.columns.named());
        keys.extend(self.keep.keys());
        let mut line = Vec::new();
        let mut is_empty = true;
        for source in sources {
            let (mut rows, mut first) = (source.open(self.max_line, None, &keys)?, None);
            let name: Arc<str> = source.name().into();
            loop {
                let row = match rows.next(&mut line)? {
                    Next::End => break,
                    Next::Row if line.trim_ascii().is_empty() => continue,
                    Next::Row if is_repeated(&line, &self.columns, &mut first) => {
                        queue.state().repeated += 1;
                        continue;
                    }
                    Next::Row => Ok(std::mem::take(&mut line)),
                    Next::Bad(why) => Err(why),
                };
                is_empty = false;
                let row = RowLine {
                    source: Arc::clone(&name),
                    number: rows.place(),
                    row,
                };
                if !queue.push(row) {
                    return Ok(());
                }
            }
        }
        if is_empty {
            let files: Vec<String> = sources.iter().map(Source::name).collect();
            return Err(DatasetError::Empty {
                failed: 0,
                files: files.join(", "),
            });
        }
        Ok(())
    }

    /// Verifies every row of `sources` and writes a line for each, in order, or with `explain` what that makes of it.
    /// Blank lines, and rows that repeat others ([`is_repeated`]), are left out.
    pub(crate) fn run(
        &self,
        sources: Vec<Source>,
        explain: Option<Explain>,
        out: &mut dyn Write,
        interrupted: &AtomicBool,
        progress: &mut dyn FnMut(&Counts),
    ) -> Result<Counts, VerifyError> {
        let common = self
            .verifier(None, [None, None])
            .map_err(VerifyError::Settings)?;
        let asks = self.profile == Profile::Strict && !says_decimal(&self.config);
        let mut counts = Counts::default();
        let mut kept = vec![false; self.keep.keys().len()];
        let sources = Arc::from(sources);
        let rows = self.rows(&sources)?;
        while let Some(batch) = rows.0.take(interrupted)? {
            let answer = |place: usize, line: &RowLine, decimals: &Decimals| {
                let index = counts.rows + place;
                panics::guarded(|| self.answer(&common, explain, index, line, decimals))
                    .unwrap_or_else(|why| {
                        let why =
                            format!("an error of juror itself ({why}); please report this row");
                        self.unanswered(index, None, why)
                    })
            };
            let numbered = batch.par_iter().enumerate();
            let mut lines: Vec<Answered> = numbered
                .map(|(place, line)| answer(place, line, &Decimals::default()))
                .collect();
            if asks && counts.decimals.is_none() && lines.iter().any(|line| line.open) {
                counts.decimals = Some(self.decimals(&common, &sources, interrupted)?);
            }
            if let Some(decimals) = counts.decimals.as_ref().filter(|it| it.rows > 0) {
                let commas = decimals.counts.iter().any(|counts| counts[0] > 0);
                let open = lines.par_iter_mut().enumerate().filter(|(_, line)| {
                    line.open && (commas || matches!(line.verdict, Ok((None, _))))
                });
                open.for_each(|(place, line)| *line = answer(place, &batch[place], decimals));
            }
            for line in lines {
                counts.add(line.verdict);
                out.write_all(&line.text)?;
                for (found, kept) in kept.iter_mut().zip(line.kept) {
                    *found |= kept;
                }
            }
            out.flush()?;
            progress(&counts);
        }
        counts.repeated = rows.0.state().repeated;
        drop(rows);
        let nowhere = self.keep.nowhere(&kept);
        if let Some(keys) = nowhere.filter(|_| counts.bad < counts.rows) {
            return Err(DatasetError::NothingKept { keys }.into());
        }
        Ok(counts)
    }
}

#[derive(Debug)]
struct RowLine {
    source: Arc<str>,
    /// Its place there, from 1.
    number: usize,
    /// The line, or why it is not read.
    row: Result<Vec<u8>, String>,
}

/// Tells the reader to stop, however the run ends.
struct Abandon(Arc<Queue>);

impl Drop for Abandon {
    fn drop(&mut self) {
        self.0.state().abandoned = true;
        self.0.changed.notify_all();
    }
}

struct Answered {
    /// Verdict and status, or why a row is no pair.
    verdict: Result<(Option<bool>, Status), String>,
    text: Vec<u8>,
    kept: Vec<bool>,
    /// Whether its verdict depends on what a comma or a point is.
    open: bool,
}

impl Counts {
    fn add(&mut self, verdict: Result<(Option<bool>, Status), String>) {
        self.rows += 1;
        match verdict {
            Ok((equal, status)) => {
                self.equal += usize::from(equal == Some(true));
                self.different += usize::from(equal == Some(false));
                *self.by_status.entry(status).or_default() += 1;
            }
            Err(why) => {
                if self.bad == 0 {
                    self.first_bad = why;
                }
                self.bad += 1;
            }
        }
    }
}

/// Rows between the reader and the verifier: the verifier takes whatever is there, the reader waits while that is much.
#[derive(Debug, Default)]
struct Queue {
    state: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    rows: Vec<RowLine>,
    bytes: usize,
    repeated: usize,
    closed: bool,
    abandoned: bool,
    error: Option<DatasetError>,
    panic: Option<String>,
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, Waiting> {
        // Nothing here panics while it holds the lock.
        lock(&self.state)
    }

    /// Adds a row once there is room; `false` when nobody wants it any more.
    fn push(&self, row: RowLine) -> bool {
        let mut state = self.state();
        while !state.abandoned && (state.rows.len() >= ROWS || state.bytes >= BYTES) {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.bytes += row.row.as_ref().map_or(0, Vec::len);
        state.rows.push(row);
        self.changed.notify_all();
        !state.abandoned
    }

    fn close(&self, error: Option<DatasetError>, panic: Option<String>) {
        let mut state = self.state();
        state.closed = true;
        state.error = error;
        state.panic = panic;
        self.changed.notify_all();
    }

    /// All rows that wait, at least one; `None` after the last.
    fn take(&self, interrupted: &AtomicBool) -> Result<Option<Vec<RowLine>>, VerifyError> {
        let mut state = self.state();
        loop {
            if interrupted.load(Ordering::Relaxed) {
                return Err(VerifyError::Interrupted);
            }
            if !state.rows.is_empty() {
                state.bytes = 0;
                self.changed.notify_all();
                return Ok(Some(std::mem::take(&mut state.rows)));
            }
            if let Some(why) = state.panic.take() {
                return Err(VerifyError::Panicked(why));
            }
            if state.closed {
                return state
                    .error
                    .take()
                    .map_or(Ok(None), |error| Err(error.into()));
            }
            state = self
                .changed
                .wait_timeout(state, PATIENCE)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}
