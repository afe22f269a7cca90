//! Answers of a batch into verdicts.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::BatchError;
use super::custom_id::{AskedUnder, CustomId, NameKey, texts_of};
use super::shapes::OutputLine;
use crate::dataset::{
    BadLines, DatasetError, LineLimit, Loaded, Next, RejectedLine, Rows, Samples, sources,
};
use crate::judge::answers::{AnswerReader, AnsweredRun, EngineAnswer};
use crate::judge::{RunOptions, Summary, jobs};
use crate::protocol::{PlainPrompt, PromptTemplate, Protocol};

/// Samples whose names are made at a time, and answers that are read at a time.
const AT_ONCE: usize = 512;

/// Bytes of a bad line that are kept for its message.
const SHOWN: usize = 200;

/// Answers to be read, resolved.
pub struct Import {
    /// The samples that were asked about.
    pub loaded: Loaded<Rows>,
    /// The files of answers.
    pub outputs: Vec<PathBuf>,
    /// The protocol they were asked under.
    pub protocol: Arc<dyn Protocol>,
    /// Its prompt text, or the user's own.
    pub template: PromptTemplate,
    /// How answers are read.
    pub reader: AnswerReader,
    /// Trials, rules and reward.
    pub options: RunOptions,
    /// Where the verdicts go; none for standard output.
    pub out: Option<PathBuf>,
    /// Where the consensus of each sample's trials goes.
    pub consensus_out: Option<PathBuf>,
    /// Leave out lines that cannot be used.
    pub skip_bad: bool,
    /// How long a line may be.
    pub max_line: LineLimit,
}

/// What was read.
#[derive(Debug, Clone, Default)]
pub struct Imported {
    /// The verdicts in numbers.
    pub summary: Summary,
    /// Requests without an answer or an error.
    pub missing: usize,
    /// The lines that were left out.
    pub left_out: BadLines,
}

impl Import {
    /// Reads all answers and writes the verdicts; none once it is interrupted.
    ///
    /// # Errors
    /// When a file cannot be read or written, or (without [`Self::skip_bad`]) a line cannot be used: then nothing is written.
    pub fn execute(&self, interrupted: &AtomicBool) -> Result<Option<Imported>, BatchError> {
        let samples = &self.loaded.samples;
        let prompt = PlainPrompt::new(&self.template, self.protocol.view());
        let mut run = AnsweredRun::new(samples, &self.options, &self.reader, prompt)?;
        let mut join = Join::new(self)?;
        for source in sources(&self.outputs, self.out.as_deref())? {
            let mut rows = source.open(self.max_line, self.out.as_deref(), &[])?;
            let file = source.name();
            let mut row = Vec::new();
            loop {
                if interrupted.load(Ordering::Relaxed) {
                    return Ok(None);
                }
                let next = rows.next(&mut row)?;
                let line = rows.place();
                let read = match next {
                    Next::End => break,
                    Next::Row if row.trim_ascii().is_empty() => continue,
                    Next::Row => join.take(&row, &file, line)?,
                    Next::Bad(why) => Err(why),
                };
                join.lines_read += 1;
                if let Err(reason) = read {
                    join.leave_out(&file, line, reason, &row);
                }
                if join.ready.len() >= AT_ONCE {
                    run.take(&join.ready)?;
                    join.ready.clear();
                }
            }
        }
        run.take(&join.ready)?;
        join.finish(self, run).map(Some)
    }
}

/// Joins answers with samples.
struct Join<'a> {
    import: &'a Import,
    under: AskedUnder,
    /// The positions of samples by their ids.
    positions: HashMap<NameKey, u32>,
    /// A hash of each sample's texts, by position.
    texts: Vec<u32>,
    /// Of each trial of each sample the line that answers it, from 1, over all files; 0 where there is none.
    answered: Vec<u32>,
    /// Why a trial has no answer, where an engine says so.
    errors: HashMap<(usize, u32), String>,
    ready: Vec<(usize, u32, EngineAnswer)>,
    lines_read: usize,
    left_out: BadLines,
}

impl<'a> Join<'a> {
    fn new(import: &'a Import) -> Result<Self, DatasetError> {
        let samples = &import.loaded.samples;
        let count = samples.count();
        let mut positions = HashMap::with_capacity(count);
        let mut texts = Vec::with_capacity(count);
        let all: Vec<usize> = (0..count).collect();
        let mut rest = all.as_slice();
        while !rest.is_empty() {
            let now = jobs::cut_positions(&mut rest, samples, AT_ONCE);
            for (&position, sample) in now.iter().zip(samples.fetch(now)?) {
                positions.insert(NameKey::of_id(&sample.id), position as u32);
                texts.push(texts_of(&sample));
            }
        }
        let trials = import.options.trials as usize;
        Ok(Self {
            import,
            under: AskedUnder::new(import.protocol.as_ref(), &import.template),
            positions,
            texts,
            answered: vec![0; count.saturating_mul(trials)],
            errors: HashMap::new(),
            ready: Vec::new(),
            lines_read: 0,
            left_out: BadLines::default(),
        })
    }

    /// Takes a line; the inner error is why it cannot be used.
    fn take(
        &mut self,
        row: &[u8],
        file: &str,
        line: usize,
    ) -> Result<Result<(), String>, BatchError> {
        let Ok(text) = std::str::from_utf8(row) else {
            return Ok(Err("not UTF-8".to_owned()));
        };
        let OutputLine { custom_id, answer } = match OutputLine::parse(text) {
            Ok(parsed) => parsed,
            Err(why) => return Ok(Err(why)),
        };
        let (position, trial) = match self.place(&custom_id, file, line)? {
            Ok(place) => place,
            Err(why) => return Ok(Err(why)),
        };
        let number = u32::try_from(self.lines_read + 1).unwrap_or(u32::MAX);
        let trials = self.import.options.trials as usize;
        let answered = &mut self.answered[position * trials + trial as usize];
        match answer {
            // A request that failed may have been tried again: its answer counts, before or behind.
            Err(why) => {
                self.errors.entry((position, trial)).or_insert(why);
            }
            Ok(_) if *answered > 0 => {
                return Ok(Err(format!(
                    "a second answer with the custom_id `{custom_id}` (the first is line {answered} of all); keep one of them"
                )));
            }
            Ok(answer) => {
                *answered = number;
                self.ready.push((position, trial, answer));
            }
        }
        Ok(Ok(()))
    }

    /// The sample and trial that a request was about.
    fn place(
        &self,
        custom_id: &str,
        file: &str,
        line: usize,
    ) -> Result<Result<(usize, u32), String>, BatchError> {
        let shown = || custom_id.chars().take(80).collect::<String>();
        let Some(id) = CustomId::parse(custom_id) else {
            return Ok(Err(format!(
                "the custom_id `{}` is not one that `juror export-batch` wrote",
                shown()
            )));
        };
        if let Some(reason) = id.asked_otherwise(&self.under, self.import.protocol.name()) {
            if self.import.skip_bad {
                return Ok(Err(reason));
            }
            return Err(BatchError::OtherProtocol {
                file: file.to_owned(),
                line,
                reason,
            });
        }
        let Some(&position) = self.positions.get(&id.key()) else {
            return Ok(Err(format!(
                "the custom_id `{}` is of no sample of this input",
                shown()
            )));
        };
        let position = position as usize;
        if !id.is_of(self.texts[position]) {
            return Ok(Err(format!(
                "the sample of the custom_id `{}` is not what it was when it was exported: its texts are others",
                shown()
            )));
        }
        if id.trial >= self.import.options.trials {
            return Ok(Err(format!(
                "the custom_id `{}` is of trial {}, and there are {}: give --trials as for the export",
                shown(),
                id.trial,
                self.import.options.trials
            )));
        }
        Ok(Ok((position, id.trial)))
    }

    fn leave_out(&mut self, file: &str, line: usize, reason: String, row: &[u8]) {
        self.left_out.total += 1;
        if self.left_out.first.len() < BadLines::LISTED {
            let text = String::from_utf8_lossy(&row[..row.len().min(SHOWN)]).into_owned();
            self.left_out.first.push(RejectedLine {
                file: file.to_owned(),
                line,
                reason,
                text,
            });
        }
    }

    /// Gives what has no answer its verdict, and writes all.
    fn finish(mut self, import: &Import, mut run: AnsweredRun) -> Result<Imported, BatchError> {
        self.left_out.lines_read = self.lines_read;
        if self.left_out.total > 0 && !import.skip_bad {
            return Err(BatchError::BadOutputs(self.left_out));
        }
        let answers = self.answered.iter().filter(|&&line| line > 0).count();
        if answers == 0 && self.errors.is_empty() {
            let files: Vec<String> = import
                .outputs
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            return Err(BatchError::NoAnswers {
                files: files.join(", "),
            });
        }
        let unsuccessful = self
            .errors
            .keys()
            .filter(|(position, trial)| {
                let trials = import.options.trials as usize;
                self.answered[position * trials + *trial as usize] == 0
            })
            .count();
        run.take_missing(|position, sample, trial| {
            self.errors
                .get(&(position, trial))
                .cloned()
                .unwrap_or_else(|| {
                    let id = CustomId::new(&self.under, sample, trial);
                    format!("the outputs have no line with its custom_id `{id}`")
                })
        })?;
        let (out, consensus) = (import.out.as_deref(), import.consensus_out.as_deref());
        let summary = run.write(out, consensus, &import.loaded.keep)?;
        let expected = self.answered.len() - summary.skipped.min(self.answered.len());
        Ok(Imported {
            missing: expected.saturating_sub(answers + unsuccessful),
            summary,
            left_out: self.left_out,
        })
    }
}
