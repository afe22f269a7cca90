//! Answers that another engine wrote, into verdicts: read by the protocol as a judge's completion is, with the rules, the
//! reward and the states of every run.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;

use super::completion::{VerdictBuilder, Written, check_step, read};
use super::domain::Domain;
use super::groups::Groups;
use super::jobs::cut_positions;
use super::session::{check_memory, consensus};
use super::{JudgeError, JudgeText, RunOptions, SessionError, Summary, guarded};
use crate::dataset::journal::{Finished, Journal};
use crate::dataset::output::OutputFormat;
use crate::dataset::{Rows, Sample, Samples};
use crate::protocol::view::paragraphs;
use crate::protocol::{Fields, PlainPrompt, Protocol};
use crate::text::reasoning::{ThinkingStyle, WrittenThinking};
use crate::verdict::{Confidence, Raw, Status, Usage, Verdict};

/// Samples that are read at a time.
const AT_ONCE: usize = 1024;

/// How the answers of a judge that runs elsewhere are read.
pub struct AnswerReader {
    protocol: Arc<dyn Protocol>,
    thinking: WrittenThinking,
    domain: Option<Domain>,
}

impl AnswerReader {
    /// By the protocol, with the thinking as the user says it is written; `starts_in_thinking` where the prompt opens it.
    pub fn new(
        protocol: Arc<dyn Protocol>,
        style: ThinkingStyle,
        starts_in_thinking: bool,
    ) -> Self {
        Self {
            protocol,
            thinking: WrittenThinking::of_style(style, starts_in_thinking),
            domain: None,
        }
    }

    /// As the answers of this judge: by its protocol, its thinking tags and its domain.
    pub fn of(text: &JudgeText) -> Self {
        let prompts = &text.prompts;
        Self {
            protocol: Arc::clone(&text.protocol),
            thinking: WrittenThinking::of_model(prompts.thinking(), prompts.tokenizer()),
            domain: text.domain.clone(),
        }
    }
}

/// What an engine wrote for one request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EngineAnswer {
    /// The answer's text; none where only thinking was written.
    pub text: Option<String>,
    /// The engine took the thinking out of the text.
    pub thinks_apart: bool,
    /// The length limit cut it.
    pub is_cut: bool,
    /// Tokens spent.
    pub usage: Usage,
}

/// Do the rules decide about the sample, so that no model need be asked?
pub fn is_decided_by_rules(options: &RunOptions, sample: &Sample) -> bool {
    VerdictBuilder::new(options, None).is_skipped_by_rules(sample)
}

/// The verdicts of a run whose answers come from elsewhere: taken in any order, written in the order of the input.
pub struct AnsweredRun<'a> {
    samples: &'a Rows,
    options: &'a RunOptions,
    reader: &'a AnswerReader,
    /// Writes the prompts, where the verdicts are to hold them.
    prompt: Option<PlainPrompt>,
    journal: Journal,
    finished: Finished,
    summary: Summary,
    groups: Groups,
    started: Instant,
}

impl<'a> AnsweredRun<'a> {
    /// A run without verdicts. `prompt` writes the prompts as they were asked, for [`RunOptions::raw`].
    ///
    /// # Errors
    /// When there are more trials than memory to track them, or no place for temporary files.
    pub fn new(
        samples: &'a Rows,
        options: &'a RunOptions,
        reader: &'a AnswerReader,
        prompt: PlainPrompt,
    ) -> Result<Self, SessionError> {
        check_memory(samples.count(), options.trials)?;
        Ok(Self {
            samples,
            options,
            reader,
            prompt: options.raw.then_some(prompt),
            journal: Journal::temporary()?,
            finished: Finished::new(samples.count(), options.trials),
            summary: Summary::default(),
            groups: Groups::default(),
            started: Instant::now(),
        })
    }

    /// Reads answers to trials of the samples at these positions; each trial is given once.
    ///
    /// # Errors
    /// When a sample cannot be read again, or a verdict not be kept.
    pub fn take(&mut self, answers: &[(usize, u32, EngineAnswer)]) -> Result<(), SessionError> {
        let positions: Vec<usize> = answers.iter().map(|(position, ..)| *position).collect();
        let samples = self.samples.fetch(&positions)?;
        let verdicts: Vec<Verdict> = answers
            .par_iter()
            .zip(&samples)
            .map(|((_, trial, answer), sample)| self.verdict(sample, *trial, answer))
            .collect();
        for (position, verdict) in positions.into_iter().zip(verdicts) {
            self.keep(position, &verdict)?;
        }
        Ok(())
    }

    /// Gives every trial without an answer its verdict: what the rules decide where they go first, else `failed` with what
    /// `why` says of the position and trial.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub fn take_missing(
        &mut self,
        why: impl Fn(usize, &Sample, u32) -> String + Sync,
    ) -> Result<(), SessionError> {
        let trials = self.options.trials;
        let missing: Vec<usize> = (0..self.samples.count())
            .filter(|&position| (0..trials).any(|trial| !self.finished.contains(position, trial)))
            .collect();
        let mut rest = missing.as_slice();
        while !rest.is_empty() {
            let now = cut_positions(&mut rest, self.samples, AT_ONCE);
            let samples = self.samples.fetch(now)?;
            for (&position, sample) in now.iter().zip(&samples) {
                for trial in 0..trials {
                    if self.finished.contains(position, trial) {
                        continue;
                    }
                    let verdicts = self.verdicts();
                    let verdict = guarded(|| {
                        if verdicts.is_skipped_by_rules(sample) {
                            verdicts.skipped_by_rules(sample, trial)
                        } else {
                            let why = why(position, sample, trial);
                            verdicts.without_completion(sample, trial, Status::Failed, why)
                        }
                    })
                    .unwrap_or_else(|why| verdicts.broken(sample, trial, why));
                    self.keep(position, &verdict)?;
                }
            }
        }
        Ok(())
    }

    /// Writes all verdicts to `out`, or to standard output, and with several trials their consensus to `consensus_out`.
    ///
    /// # Errors
    /// When a file cannot be written; what was there before is then unchanged.
    pub fn write(
        mut self,
        out: Option<&Path>,
        consensus_out: Option<&Path>,
        keep: &[String],
    ) -> Result<Summary, SessionError> {
        let (journal, finished) = (&mut self.journal, &self.finished);
        if self.options.trials > 1 {
            self.summary.consensus = Some(consensus(journal, finished, consensus_out)?);
        }
        if let Some(out) = out {
            OutputFormat::of(out)?
                .write(out, keep, |writer| journal.copy(finished.lines(), writer))?;
        } else {
            let mut stdout = std::io::stdout().lock();
            journal
                .copy(finished.lines(), &mut stdout)
                .and_then(|()| stdout.flush())
                .map_err(JudgeError::Stdout)?;
        }
        self.summary.groups = self.groups.summary();
        self.summary.elapsed = self.started.elapsed();
        Ok(self.summary)
    }

    fn verdicts(&self) -> VerdictBuilder<'a> {
        VerdictBuilder::of_yields(self.options, self.reader.protocol.yields())
    }

    fn verdict(&self, sample: &Sample, trial: u32, answer: &EngineAnswer) -> Verdict {
        let verdicts = self.verdicts();
        guarded(|| {
            if verdicts.is_skipped_by_rules(sample) {
                verdicts.skipped_by_rules(sample, trial)
            } else {
                self.read(&verdicts, sample, trial, answer)
            }
        })
        .unwrap_or_else(|why| verdicts.broken(sample, trial, why))
    }

    fn read(
        &self,
        verdicts: &VerdictBuilder,
        sample: &Sample,
        trial: u32,
        answer: &EngineAnswer,
    ) -> Verdict {
        let reader = self.reader;
        let text = answer.text.as_deref().unwrap_or_default();
        let mut answer_read = reader.thinking.read(text, answer.thinks_apart);
        if answer.text.is_none() && answer.thinks_apart {
            answer_read.visible = None;
        }
        let starts_inside = reader.thinking.starts_in_thinking() && !answer.thinks_apart;
        let parsed = read(
            reader.protocol.as_ref(),
            reader.thinking.style(),
            &answer_read,
            starts_inside,
            answer.is_cut,
        )
        .and_then(|parsed| check_step(parsed, paragraphs(&sample.student_answer).count()));
        let written = Written {
            answer: &answer_read,
            parsed: match parsed {
                // How likely which token was is not in a text.
                Ok(parsed) => Ok((parsed, Confidence::default())),
                Err(why) if answer.is_cut => Err(format!("{why} (stopped at its length limit)")),
                Err(why) => Err(why.to_string()),
            },
            usage: answer.usage,
        };
        let mut verdict = verdicts.of_answer(reader.domain.as_ref(), sample, trial, written);
        if self.prompt.is_some() || verdict.status == Status::Unparsed {
            let prompt = self.prompt.as_ref().map(|prompt| {
                prompt.text(&Fields {
                    question: &sample.question,
                    student_answer: &sample.student_answer,
                    reference_answer: &sample.reference_answer,
                })
            });
            verdict.raw = Some(Raw {
                prompt,
                completion: answer_read.written,
                ..Raw::default()
            });
        }
        verdicts.settle(verdict)
    }

    fn keep(&mut self, position: usize, verdict: &Verdict) -> Result<(), SessionError> {
        let line = self.journal.append(verdict)?;
        self.finished.insert(position, verdict.trial, line);
        let question = self.samples.outline(position).question;
        self.groups.add(question, position, verdict.reward);
        self.summary.add(verdict);
        Ok(())
    }
}
