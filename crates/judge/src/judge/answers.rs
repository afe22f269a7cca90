//! Answers that another engine wrote, into verdicts: read by the protocol as a judge's free completion is, with the rules, the
//! reward and the states of every run.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::jobs::Job;
use super::read::completion::{Subject, VerdictBuilder, Written};
use super::read::reading::read;
use super::run::run_without_model;
use super::text::prompt::shown_field;
use super::text::wants_of;
use super::{JudgeError, JudgeText, RunEnd, RunOptions, Sink, guarded};
use crate::protocol::{PlainPrompt, Protocol, Yields};
use crate::wire::answer::{EngineAnswer, refused, untagged_harmony};
use juror_data::verdict::{Confidence, Raw, Status, Verdict};
use juror_data::{Sample, Samples};
use juror_engine::text::reasoning::{ThinkingStyle, VisibleAnswer};

/// What begins a channel of the harmony format.
const CHANNEL: &str = "<|channel|>";

/// How the answers of a judge that runs elsewhere are read.
pub struct AnswerReader {
    pub protocol: Arc<Protocol>,
    pub prompt: PlainPrompt,
    /// The judge, where its files are at hand: its thinking and its domain.
    pub judge: Option<JudgeText>,
    /// The chat template opens the thinking, as the user says.
    pub starts_in_thinking: bool,
    /// Where the engine took all of an answer for thinking, it is read there.
    pub answer_in_reasoning: bool,
}

/// Do the rules decide about the sample, so that no model need be asked?
pub(crate) fn is_decided_by_rules(options: &RunOptions, yields: Yields, sample: &Sample) -> bool {
    let verdicts = VerdictBuilder::of_yields(options, yields);
    verdicts.is_skipped_by_rules(&Subject::new(sample.clone()))
}

/// The answers of an engine to the trials of a run.
pub struct Answers {
    reader: AnswerReader,
    /// By the sample's position and the trial; an error is why the engine gave none.
    by_trial: HashMap<(usize, u32), Result<EngineAnswer, String>>,
    pub(super) hash: String,
}

impl Answers {
    /// Answers by the sample's position and the trial, and the hash of the files that they are from.
    pub(crate) fn new(
        reader: AnswerReader,
        by_trial: HashMap<(usize, u32), Result<EngineAnswer, String>>,
        hash: String,
    ) -> Self {
        Self {
            reader,
            by_trial,
            hash,
        }
    }

    /// Makes verdicts of the answers to these trials.
    pub(super) fn run<S: Samples + ?Sized>(
        &self,
        samples: &S,
        jobs: &[Job],
        options: &RunOptions,
        interrupted: &AtomicBool,
        sink: &mut dyn Sink,
    ) -> Result<RunEnd, JudgeError> {
        let verdicts = &VerdictBuilder::of_yields(options, self.reader.protocol.yields());
        let verdict = |subject: &Subject, job: Job| {
            let verdict = || self.verdict(verdicts, options, subject, job);
            guarded(verdict).unwrap_or_else(|why| verdicts.broken(&subject.sample, job.trial, why))
        };
        run_without_model(samples, jobs, &verdict, interrupted, sink)
    }

    fn verdict(
        &self,
        verdicts: &VerdictBuilder,
        options: &RunOptions,
        subject: &Subject,
        job: Job,
    ) -> Verdict {
        let (sample, trial) = (&subject.sample, job.trial);
        if verdicts.is_skipped_by_rules(subject) {
            return verdicts.skipped_by_rules(subject, trial);
        }
        let failed = |why| verdicts.without_completion(subject, trial, Status::Failed, why);
        let answer = match self.by_trial.get(&(job.position(), trial)) {
            None => return failed("the outputs have no line for this request".to_owned()),
            Some(Err(why)) => return failed(why.clone()),
            Some(Ok(answer)) => answer,
        };
        let reader = &self.reader;
        let (style, starts_inside, told) = match reader.tell_apart(answer) {
            Ok(told) => told,
            Err(why) => return failed(why),
        };
        let parsed = read(
            reader.protocol.as_ref(),
            style,
            &told,
            starts_inside,
            answer.is_cut,
            &wants_of(sample),
        );
        let parsed = parsed.map_err(|why| {
            let cut = " (stopped at its length limit)";
            let limit = if answer.is_cut { cut } else { "" };
            let reasoned = answer.reasoned.as_ref();
            let where_it_is = reasoned
                .filter(|_| !reader.answer_in_reasoning)
                .map_or(String::new(), |reasoned| format!("; {}", reasoned.told()));
            format!("{why}{limit}{where_it_is}")
        });
        // The words of a refusal are no verdict, whatever they are.
        let refusal = answer.is_refusal.then(|| refused(&told.written));
        let written = Written {
            answer: &told,
            parsed: refusal.map_or(parsed, Err),
            // A text has no probabilities.
            confidence: Confidence::default(),
            expected: Vec::new(),
            usage: answer.usage,
            doubts_domain: false,
        };
        let domain = reader.judge.as_ref().filter(|_| !answer.is_refusal);
        let domain = domain.and_then(|text| text.judge.domain.as_ref());
        let mut verdict = verdicts.of_written(domain, subject, trial, written);
        if options.raw || verdict.status == Status::Unparsed {
            let view = reader.protocol.view;
            let parts = || reader.prompt.parts(|name| shown_field(sample, view, name));
            verdict.raw = Some(Raw {
                prompt: options.raw.then(|| parts().concat()),
                completion: told.written,
                ..Raw::default()
            });
        }
        verdicts.settle(verdict)
    }
}

impl AnswerReader {
    /// How thinking is told from answers, in words; verdicts depend on it.
    pub(crate) fn describe(&self) -> String {
        let mut told = match &self.judge {
            Some(judge) => judge.prompts.thinking().describe(),
            None => format!("starts in thinking: {}", self.starts_in_thinking),
        };
        if self.answer_in_reasoning {
            told.push_str("; answers in reasoning");
        }
        told
    }

    /// Separates an answer from thinking; also gives its style, and whether the text begins inside it.
    fn tell_apart(
        &self,
        answer: &EngineAnswer,
    ) -> Result<(&ThinkingStyle, bool, VisibleAnswer), String> {
        if let Some(reasoned) = answer
            .reasoned
            .as_ref()
            .filter(|_| self.answer_in_reasoning)
        {
            let told = VisibleAnswer {
                written: reasoned.text.clone(),
                visible: Some(reasoned.answer().to_owned()),
            };
            let judge = self.judge.as_ref();
            let style = judge.map(|judge| judge.prompts.thinking().style());
            return Ok((style.unwrap_or(&ThinkingStyle::Think), false, told));
        }
        let text = answer.text.as_deref().unwrap_or_default();
        let visible = (answer.text.is_some() || !answer.thinks_apart).then(|| text.to_owned());
        let mut told = VisibleAnswer {
            written: text.to_owned(),
            visible,
        };
        let Some(judge) = &self.judge else {
            let starts_inside = self.starts_in_thinking && !answer.thinks_apart;
            return Ok((&ThinkingStyle::Think, starts_inside, told));
        };
        let thinking = judge.prompts.thinking();
        let style = thinking.style();
        let is_apart = answer.thinks_apart
            // An engine that knows the format has taken the final channel out of it.
            || *style == ThinkingStyle::Harmony && !text.contains(CHANNEL);
        let untagged = untagged_harmony(text, answer.is_cut);
        if let Some((_, said)) = untagged.filter(|_| *style == ThinkingStyle::Harmony) {
            told.visible = said.map(str::to_owned);
        } else if !is_apart {
            let tokenizer = judge.prompts.tokenizer();
            let tokens = tokenizer.encode_trusted(text);
            let tokens = tokens.map_err(|error| error.to_string())?;
            told.visible = thinking.read(tokenizer, &tokens).visible;
        }
        Ok((style, thinking.starts_in_thinking() && !is_apart, told))
    }
}
