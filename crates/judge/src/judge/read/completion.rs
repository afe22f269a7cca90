//! From a completion to a verdict: the answer is read by the protocol, the rules add theirs, the reward follows.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::reading::{confidence, expected_of_choices, read, read_answer, read_of_grammar};
use crate::judge::text::domain::Domain;
use crate::judge::text::wants_of;
use crate::judge::{JudgeText, RulesMode, RunOptions, guarded};
use crate::protocol::{ChoiceField, ParsedVerdict, Unreadable, Yields};
use crate::reward::calibration::Calibration;
use crate::reward::{RewardPolicy, reward};
use crate::runtime::{Answered, Doubt, Ending, Guided, ModelAnswer, Unanswered};
use juror_data::Sample;
use juror_data::rubric::{expected_score, weighted_score};
use juror_data::verdict::{Confidence, OutcomeSource, ParseRule, Raw, Status, Usage, Verdict};
use juror_engine::engine::{Completion, FinishReason};
use juror_engine::text::reasoning::VisibleAnswer;
use juror_rules::{RuleVerdict, says_nothing};

/// What is said of a sample that a judge took for none of its domain because it was not sure.
pub(crate) const NOT_SURE: &str = "the judge is not sure that it knows such samples";

/// A sample with what the rules say of it, which they are asked once.
pub(crate) struct Subject {
    pub(crate) sample: Sample,
    by_rules: OnceLock<RuleVerdict>,
}

impl Subject {
    pub(crate) fn new(sample: Sample) -> Self {
        Self {
            sample,
            by_rules: OnceLock::new(),
        }
    }
}

/// Makes verdicts of completions, and of samples that never reach the model.
pub(crate) struct VerdictBuilder<'a> {
    options: &'a RunOptions,
    yields: Yields,
    calibration: Option<&'a Calibration>,
}

/// An answer that a judge wrote, as it was read.
pub(crate) struct Written<'a> {
    pub(crate) answer: &'a VisibleAnswer,
    /// What it says, or why it cannot be read.
    pub(crate) parsed: Result<ParsedVerdict, String>,
    /// How sure the judge was of it.
    pub(crate) confidence: Confidence,
    /// The grade that was expected of each criterion, where that was recorded.
    pub(crate) expected: Vec<Option<f64>>,
    pub(crate) usage: Usage,
    /// The judge was not sure enough that it knows such samples.
    pub(crate) doubts_domain: bool,
}

/// What verdicts of the rules alone hold.
const OF_RULES: Yields = Yields {
    process: true,
    outcome: true,
    perfect: false,
    score: false,
    first_error: false,
};

impl<'a> VerdictBuilder<'a> {
    /// Makes verdicts under the run's options, of the judge `text` or of the rules alone.
    pub(crate) fn new(options: &'a RunOptions, text: Option<&'a JudgeText>) -> Self {
        Self {
            calibration: text.map(|text| &text.judge.calibration),
            ..Self::of_yields(
                options,
                text.map_or(OF_RULES, |text| text.protocol.yields()),
            )
        }
    }

    /// The same of a protocol whose verdicts hold `yields`, without probabilities.
    pub(crate) fn of_yields(options: &'a RunOptions, yields: Yields) -> Self {
        Self {
            options,
            yields,
            calibration: None,
        }
    }

    /// A verdict with the rules' outcome, if the rules are used, and everything else unknown.
    fn blank(&self, subject: &Subject, trial: u32, status: Status) -> Verdict {
        let rule_outcome = match self.options.rules {
            RulesMode::Off => None,
            _ if self.yields.score => None,
            _ => self.verify(subject).outcome,
        };
        self.ruled(subject, trial, status, rule_outcome)
    }

    /// A verdict with what the rules say, and everything else unknown.
    fn ruled(
        &self,
        subject: &Subject,
        trial: u32,
        status: Status,
        rule_outcome: Option<bool>,
    ) -> Verdict {
        let sample = &subject.sample;
        let mut verdict = Self::unknown(sample, trial, status, rule_outcome);
        if self.options.reward == RewardPolicy::Parts {
            let rules = &self.options.outcome_rules;
            let references = sample.references();
            let parts = references.map(|one| rules.parts(one, &sample.student_answer));
            let best = |parts: &Vec<Option<bool>>| {
                let right = parts.iter().filter(|part| **part == Some(true));
                (right.count(), !parts.contains(&None))
            };
            verdict.parts = parts.max_by_key(best).unwrap_or_default();
        }
        verdict
    }

    /// A verdict with `rule_outcome`, and everything else unknown.
    fn unknown(sample: &Sample, trial: u32, status: Status, rule_outcome: Option<bool>) -> Verdict {
        Verdict {
            id: sample.id.clone(),
            index: sample.index,
            group: sample.group.clone(),
            trial,
            status,
            rule_outcome,
            input: sample.kept.clone(),
            ..Verdict::default()
        }
    }

    /// The rules' verdict on a sample with all its references.
    fn verify<'s>(&self, subject: &'s Subject) -> &'s RuleVerdict {
        let verify = || {
            let (sample, rules) = (&subject.sample, &self.options.outcome_rules);
            let (letter, response) = (sample.option_letter.as_deref(), &sample.student_answer);
            let verdict = rules.verify_any(sample.references(), letter, response);
            // A sample has a reference.
            verdict.unwrap_or_else(|| rules.verify(&sample.reference_answer, response))
        };
        subject.by_rules.get_or_init(verify)
    }

    /// A sample as a judge with this domain sees it: where it knows samples with one reference, with the one that decides by the rules. `None` where they
    /// do not tell.
    pub(crate) fn shown<'s>(
        &self,
        domain: Option<&Domain>,
        subject: &'s Subject,
    ) -> Option<Cow<'s, Sample>> {
        let (sample, rules) = (&subject.sample, &self.options.outcome_rules);
        if !domain.is_some_and(|it| it.one_reference) || sample.alternatives.is_empty() {
            return Some(self.options.shown(sample));
        }
        let is_met = |it: &&String| rules.verify(it, &sample.student_answer).outcome == Some(true);
        let met = sample.alternatives.iter().find(is_met);
        let is_none = self.verify(subject).outcome == Some(false);
        let shown = met.or(sample.alternatives.first().filter(|_| is_none))?;
        let mut sample = sample.clone();
        sample.reference_answer.clone_from(shown);
        Some(Cow::Owned(self.options.shown(&sample).into_owned()))
    }

    /// Fills in what follows from status, process and outcome.
    pub(crate) fn settle(&self, mut verdict: Verdict) -> Verdict {
        let options = self.options;
        verdict.reward = reward(
            options.reward,
            options.require_process,
            self.yields,
            &verdict,
            self.calibration,
        );
        let is_known =
            verdict.reward.is_some() || verdict.process.is_none() && options.require_process;
        if options.reward == RewardPolicy::Soft && verdict.status == Status::Ok && !is_known {
            let why = "how likely the words of the verdict were is not known, and --reward soft is made of that";
            Self::abstain(&mut verdict, Status::Unsure, why.to_owned());
        }
        if verdict.status == Status::Ok {
            verdict.overall = self.yields.overall(verdict.process, verdict.outcome);
        }
        verdict
    }

    /// Takes the rules' outcome, if there is one, for a verdict without the judge's.
    fn outcome_by_rules(verdict: &mut Verdict) {
        if let Some(outcome) = verdict.rule_outcome {
            verdict.outcome = Some(outcome);
            verdict.outcome_source = Some(OutcomeSource::Rules);
        }
    }

    pub(crate) fn by_rules(&self, subject: &Subject, trial: u32) -> Verdict {
        let found = self.verify(subject);
        let mut verdict = self.ruled(subject, trial, Status::Ok, found.outcome);
        Self::outcome_by_rules(&mut verdict);
        if verdict.outcome.is_none() {
            verdict.status = Status::Unparsed;
            verdict.error = Some(format!("the rules cannot tell: {}", found.reason));
        }
        self.settle(verdict)
    }

    /// Is the sample not audited, and does the response say nothing, or do the rules go first and find the final answer wrong?
    pub(crate) fn is_skipped_by_rules(&self, subject: &Subject) -> bool {
        let goes_first = self.options.rules == RulesMode::First;
        let is_wrong = || goes_first && self.verify(subject).outcome == Some(false);
        // By seed and id, so that a run that goes on, or another shard, decides alike.
        let is_audited = is_drawn(self.options.audit, self.options.seed, &subject.sample.id);
        !is_audited && (self.has_no_answer(&subject.sample) || is_wrong())
    }

    /// Whether the response says nothing, a fact of which no judge is asked unless the rules are off. A score may be given for it.
    fn has_no_answer(&self, sample: &Sample) -> bool {
        let is_asked = self.options.rules == RulesMode::Off || self.yields.score;
        !is_asked && !self.yields.first_error && says_nothing(&sample.student_answer)
    }

    /// The verdict on a sample whose final answer is known to be wrong; where there is none, nothing led to it.
    pub(crate) fn skipped_by_rules(&self, subject: &Subject, trial: u32) -> Verdict {
        let mut verdict = self.ruled(subject, trial, Status::Ok, Some(false));
        verdict.skipped = true;
        if self.has_no_answer(&subject.sample) {
            verdict.process = self.yields.process.then_some(false);
            verdict.perfect = self.yields.perfect.then_some(false);
        }
        Self::outcome_by_rules(&mut verdict);
        self.settle(verdict)
    }

    /// The verdict on a sample that an error of our own keeps from being judged: not even the rules are asked, for it may be theirs.
    pub(crate) fn broken(&self, sample: &Sample, trial: u32, error: String) -> Verdict {
        let mut verdict = Self::unknown(sample, trial, Status::Failed, None);
        verdict.error = Some(error);
        self.settle(verdict)
    }

    /// The verdict on a sample that the model could not be asked about.
    pub(crate) fn without_completion(
        &self,
        subject: &Subject,
        trial: u32,
        status: Status,
        error: String,
    ) -> Verdict {
        let mut verdict = self.blank(subject, trial, status);
        verdict.error = Some(error);
        Self::outcome_by_rules(&mut verdict);
        self.settle(verdict)
    }

    /// The verdict on a sample that the model was asked about, whatever came of it.
    pub(crate) fn of_reply(
        &self,
        text: &JudgeText,
        subject: &Subject,
        trial: u32,
        reply: &Result<Answered, Unanswered>,
    ) -> Verdict {
        let verdict = match reply {
            Ok(Answered { answer, is_reused }) => {
                guarded(|| self.of_answer(text, subject, trial, answer, *is_reused))
            }
            Err(Unanswered::Guide(why)) => Err(why.clone()),
            Err(Unanswered::Server(why) | Unanswered::Backend(why)) => {
                let why = why.clone();
                let mut verdict = self.without_completion(subject, trial, Status::Failed, why);
                verdict.open = matches!(reply, Err(Unanswered::Server(_)));
                Ok(verdict)
            }
        };
        verdict.unwrap_or_else(|why| self.broken(&subject.sample, trial, why))
    }

    /// The verdict read from what the model has written, for this sample or for another with the same prompt.
    pub(crate) fn of_answer(
        &self,
        text: &JudgeText,
        subject: &Subject,
        trial: u32,
        answer: &ModelAnswer,
        is_reused: bool,
    ) -> Verdict {
        let mut verdict = self.of_completion(text, subject, trial, answer);
        if is_reused {
            verdict.reused = true;
            verdict.usage.cached_tokens = verdict.usage.prompt_tokens;
        }
        verdict
    }

    fn of_completion(
        &self,
        text: &JudgeText,
        subject: &Subject,
        trial: u32,
        answer: &ModelAnswer,
    ) -> Verdict {
        let ModelAnswer {
            completion,
            guided,
            doubts,
            no_verdict,
        } = answer;
        let sample = &subject.sample;
        if let FinishReason::Rejected(why) | FinishReason::TooLong(why) = &completion.finish {
            let status = no_verdict.as_ref();
            let status = status.map_or(Status::Failed, |_| Status::Unparsed);
            let mut verdict = self.without_completion(subject, trial, status, why.clone());
            verdict.open = matches!(completion.finish, FinishReason::TooLong(_));
            if let Some(written) = no_verdict {
                if completion.counted.is_some() {
                    verdict.usage = usage_of(completion, guided);
                }
                verdict.raw = self.raw(status, text, subject, written.clone(), completion);
            }
            return verdict;
        }
        if let Some(why) = &guided.error {
            return self.without_completion(subject, trial, Status::Failed, why.clone());
        }
        let answer = read_answer(text, completion);
        let thinking = text.prompts.thinking();
        let is_cut = completion.finish == FinishReason::Length;
        let protocol = text.protocol.as_ref();
        let parsed = match guided.ending {
            Ending::Chosen => protocol.form.read_filled(guided.filled.clone()),
            Ending::Grammar(at) if !is_cut => read_of_grammar(text, completion, at),
            Ending::Cut | Ending::NoRoom | Ending::ByItself | Ending::Grammar(_) => read(
                protocol,
                thinking.style(),
                &answer,
                thinking.starts_in_thinking(),
                is_cut,
                &wants_of(sample),
            ),
        };
        let written = Written {
            answer: &answer,
            confidence: match &parsed {
                Ok(parsed) => {
                    let confidence = self.confidence_of(text, guided, completion, parsed);
                    match doubts.as_ref().filter(|_| text.judge.weighs_thinking) {
                        Some(doubts) => {
                            let thinking = text.tokens_of_thinking(completion, &answer);
                            drawn_to_doubt(confidence, doubts, thinking)
                        }
                        None => confidence,
                    }
                }
                Err(_) => Confidence::default(),
            },
            expected: expected_of_choices(guided, completion)
                .filter(|(field, _)| matches!(field, ChoiceField::Criterion(_)))
                .map(|(_, expected)| expected.map(f64::from))
                .collect(),
            parsed: parsed.map_err(|why| {
                let is_cut = is_cut || guided.ending == Ending::NoRoom;
                self.unreadable(&why, is_cut, completion.counted)
            }),
            usage: usage_of(completion, guided),
            doubts_domain: text.doubts_domain(completion, doubts.as_deref()),
        };
        let mut verdict = self.of_written(text.judge.domain.as_ref(), subject, trial, written);
        if verdict.status == Status::Ok {
            self.check_certainty(&mut verdict, text);
        }
        verdict.raw = self.raw(verdict.status, text, subject, answer.written, completion);
        self.settle(verdict)
    }

    /// The verdict of an answer, with neither its text nor what follows from its values ([`Self::settle`]).
    pub(crate) fn of_written(
        &self,
        domain: Option<&Domain>,
        subject: &Subject,
        trial: u32,
        written: Written,
    ) -> Verdict {
        let answer = written.answer;
        let mut verdict = self.blank(subject, trial, Status::Ok);
        verdict.audited =
            self.options.rules == RulesMode::First && verdict.rule_outcome == Some(false);
        verdict.usage = written.usage;
        let says_outside = domain
            .is_some_and(|domain| domain.is_outside(&answer.written, answer.visible.as_deref()));
        match written.parsed {
            _ if says_outside || written.doubts_domain => {
                let outside = "the judge says that it does not know such samples";
                let why = if says_outside { outside } else { NOT_SURE };
                Self::abstain(&mut verdict, Status::OutOfDomain, why.to_owned());
            }
            Ok(parsed) => {
                verdict.confidence = written.confidence;
                self.fill(&mut verdict, parsed, &subject.sample, &written.expected);
                Self::check_agreement(&mut verdict, domain);
            }
            Err(why) => {
                verdict.status = Status::Unparsed;
                verdict.error = Some(why);
                Self::outcome_by_rules(&mut verdict);
            }
        }
        verdict
    }

    /// Takes over what the judge's answer says.
    fn fill(
        &self,
        verdict: &mut Verdict,
        parsed: ParsedVerdict,
        sample: &Sample,
        expected: &[Option<f64>],
    ) {
        let fields = parsed.fields;
        verdict.process = fields.process;
        verdict.outcome = fields.outcome;
        verdict.perfect = fields.perfect;
        verdict.label = fields.label;
        verdict.answer = fields.answer;
        verdict.first_error = fields.first_error;
        if self.yields.first_error {
            let steps = wants_of(sample).steps;
            let right = fields.first_error.unwrap_or(steps);
            verdict.step_rewards = (0..steps)
                .map(|step| f64::from(u8::from(step < right)))
                .collect();
        }
        verdict.score = fields.score;
        verdict.reason = fields.reason.filter(|_| self.options.wants_reason);
        if self.yields.outcome {
            // Not asked for where the reward was known before.
            verdict.outcome_source = verdict.outcome.map(|_| OutcomeSource::Judge);
        } else if !self.yields.score {
            Self::outcome_by_rules(verdict);
        }
        verdict.parse_rule = Some(parsed.rule);
        verdict.inconsistent = parsed.inconsistent;
        if let Some(rubric) = sample
            .rubric
            .as_deref()
            .filter(|_| !fields.grades.is_empty())
        {
            // They were checked when they were read.
            verdict.criteria = rubric
                .verdicts(&fields.grades, expected)
                .unwrap_or_default();
            verdict.score = Some(weighted_score(&verdict.criteria));
            verdict.confidence.score = expected_score(&verdict.criteria).map(|score| score as f32);
        }
    }

    fn confidence_of(
        &self,
        text: &JudgeText,
        guided: &Guided,
        completion: &Completion,
        parsed: &ParsedVerdict,
    ) -> Confidence {
        if parsed.rule == ParseRule::Constrained {
            self.confidence_of_choices(guided, completion)
        } else {
            confidence(completion, &parsed.spans, |tokens| {
                text.prompts.tokenizer().decode(tokens).len()
            })
        }
    }

    /// The odds recorded where the words of a constrained answer were chosen.
    fn confidence_of_choices(&self, guided: &Guided, completion: &Completion) -> Confidence {
        let mut confidence = Confidence::default();
        for (field, odds) in expected_of_choices(guided, completion) {
            match field {
                ChoiceField::Outcome => confidence.outcome = odds,
                ChoiceField::Perfect => confidence.perfect = odds,
                ChoiceField::Label if self.yields.outcome => confidence.outcome = odds,
                ChoiceField::Label if self.yields.score => confidence.score = odds,
                ChoiceField::Process | ChoiceField::Label => confidence.process = odds,
                ChoiceField::Step | ChoiceField::Criterion(_) => {}
            }
        }
        confidence
    }

    /// Gives up a verdict that the rules contradict, where they must agree.
    fn check_agreement(verdict: &mut Verdict, domain: Option<&Domain>) {
        let must_agree = domain.is_some_and(|domain| domain.rules_must_agree);
        if let (true, Some(by_rules), Some(by_judge)) =
            (must_agree, verdict.rule_outcome, verdict.outcome)
            && by_rules != by_judge
        {
            let word = |outcome| if outcome { "right" } else { "wrong" };
            let why = format!(
                "the judge finds the final answer {}, the rules find it {}: a sign that it does not know such samples",
                word(by_judge),
                word(by_rules)
            );
            Self::abstain(verdict, Status::OutOfDomain, why);
        }
    }

    /// Gives up a verdict that the judge is not sure enough of.
    fn check_certainty(&self, verdict: &mut Verdict, text: &JudgeText) {
        let refuses_right = verdict.outcome == Some(true) && verdict.process == Some(false);
        let own = text.judge.unsure_refusals_below.filter(|_| refuses_right);
        let (least, of) = match (self.options.min_confidence, own) {
            (Some(least), _) => (least, "--min-confidence"),
            (None, Some(least)) => (
                least,
                "what this judge asks of itself to refuse a right result (--min-confidence 0.5 takes it):",
            ),
            (None, None) => return,
        };
        // What was not asked for, because the reward was known without it, need not be sure.
        let decided = self.options.decide_only;
        let asked = Yields {
            process: self.yields.process && !(decided && verdict.process.is_none()),
            // What a judge asks of itself is of its refusal, which is the process's.
            outcome: self.options.min_confidence.is_some()
                && self.yields.outcome
                && !(decided && verdict.outcome.is_none()),
            ..self.yields
        };
        let certainty = text.judge.calibration.certainty(&verdict.confidence, asked);
        if certainty.is_none_or(|certainty| certainty < least) {
            let why = match certainty {
                Some(certainty) => {
                    // Rounded down, so that it is never shown as what it is below.
                    let shown = (certainty * 1e3).floor() / 1e3;
                    format!("the calibrated confidence {shown} is below {of} {least}")
                }
                // Nothing is known of an answer from elsewhere: the verdict stands, unless a bound was asked for.
                None if self.options.min_confidence.is_none() => return,
                None => {
                    "how sure the judge is was not recorded, and --min-confidence is set".to_owned()
                }
            };
            Self::abstain(verdict, Status::Unsure, why);
        }
    }

    /// Takes back what the judge says; the outcome is left to the rules.
    pub(crate) fn abstain(verdict: &mut Verdict, status: Status, why: String) {
        verdict.status = status;
        verdict.error = Some(why);
        verdict.process = None;
        verdict.outcome = None;
        verdict.perfect = None;
        verdict.label = None;
        verdict.answer = None;
        verdict.first_error = None;
        verdict.step_rewards = Vec::new();
        verdict.score = None;
        verdict.criteria = Vec::new();
        verdict.reason = None;
        verdict.outcome_source = None;
        verdict.inconsistent = false;
        Self::outcome_by_rules(verdict);
    }

    /// `counted`: the tokens of prompt and answer, as a server counts them, which may have a limit of its own.
    fn unreadable(
        &self,
        why: &Unreadable,
        is_cut: bool,
        counted: Option<(usize, usize)>,
    ) -> String {
        let limit = self.options.max_new_tokens;
        match counted.filter(|(_, answer)| *answer < limit) {
            _ if !is_cut => why.to_string(),
            None => format!("{why} (stopped at the limit of {limit} new tokens)"),
            Some((_, n)) => format!("{why} (the server ended it after {n} of {limit} new tokens)"),
        }
    }

    /// Prompt and completion for the verdict line: with `--raw` both, else the completion of an unparsed verdict.
    fn raw(
        &self,
        status: Status,
        text: &JudgeText,
        subject: &Subject,
        written: String,
        completion: &Completion,
    ) -> Option<Raw> {
        if self.options.raw {
            // The tokens of a server that is asked in text are not known.
            let are_known = text.endpoint.as_ref().is_none_or(|one| !one.takes_text);
            let shown = self.shown(text.judge.domain.as_ref(), subject);
            Some(Raw {
                prompt: shown.map(|shown| text.prompts.text(&shown)),
                prompt_tokens: are_known.then(|| completion.prompt.clone()),
                completion: written,
                completion_tokens: are_known.then(|| completion.tokens.clone()),
            })
        } else {
            (status == Status::Unparsed).then(|| Raw {
                completion: written,
                ..Raw::default()
            })
        }
    }
}

/// The tokens of a completion, as its server counts them if it does.
fn usage_of(completion: &Completion, guided: &Guided) -> Usage {
    let own = (completion.prompt.len(), completion.tokens.len());
    let (prompt_tokens, completion_tokens) = completion.counted.unwrap_or(own);
    Usage {
        prompt_tokens,
        cached_tokens: completion.cached_tokens,
        completion_tokens,
        known_tokens: guided.appended,
        left_out_tokens: guided.left_out,
    }
}

/// Whether a sample is in a share that is drawn by seed and id.
pub fn is_drawn(share: f64, seed: u64, id: &str) -> bool {
    if share <= 0.0 {
        return false;
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"audit");
    hasher.update(&seed.to_le_bytes());
    hasher.update(id.as_bytes());
    let mut first = [0; 4];
    first.copy_from_slice(&hasher.finalize().as_bytes()[..4]);
    f64::from(u32::from_le_bytes(first)) < share * 4_294_967_296.0
}

/// The probability of the process, drawn towards one half as far as the least likely of the first `thinking` tokens is doubtful.
fn drawn_to_doubt(confidence: Confidence, doubts: &[Doubt], thinking: usize) -> Confidence {
    let doubts = doubts.iter().filter(|(at, _)| *at < thinking);
    let weakest = doubts.fold(1.0, |least, (_, p)| p.min(least));
    let drawn = |probability: f32| 0.5 + (probability - 0.5) * weakest;
    Confidence {
        process: confidence.process.map(drawn),
        perfect: confidence.perfect.map(drawn),
        ..confidence
    }
}

#[cfg(test)]
mod tests;
