//! From a completion to a verdict: the answer is read by the protocol, the rules add theirs, the reward follows.

use std::borrow::Cow;
use std::ops::Range;

use super::domain::{Domain, Temperature};
use super::request::Asked;
use super::{JudgeText, RulesMode, RunOptions, guarded};
use crate::dataset::Sample;
use crate::engine::{Completion, FinishReason};
use crate::protocol::unknown_tags::without_unknown_tags;
use crate::protocol::view::paragraphs;
use crate::protocol::{ParsedVerdict, Protocol, Unreadable, ValueSpans, Yields};
use crate::reward::reward;
use crate::rules::RuleVerdict;
use crate::text::reasoning::{Answer, ThinkingStyle};
use crate::verdict::{Confidence, OutcomeSource, Raw, Status, Usage, Verdict};

/// Makes verdicts of completions, and of samples that never reach the model.
pub(super) struct VerdictBuilder<'a> {
    options: &'a RunOptions,
    yields: Yields,
}

/// How the answers of a judge are read.
pub(super) struct Reader<'a> {
    pub(super) protocol: &'a dyn Protocol,
    /// How the judge writes its thinking.
    pub(super) thinking: &'a ThinkingStyle,
    pub(super) domain: Option<&'a Domain>,
    pub(super) temperature: Temperature,
}

/// An answer that a judge wrote.
pub(super) struct Written<'a> {
    pub(super) answer: &'a Answer,
    /// The prompt ended inside a thinking block.
    pub(super) starts_in_thinking: bool,
    /// The length limit, if that cut the answer; 0 where it is not known.
    pub(super) limit: Option<usize>,
    pub(super) usage: Usage,
    /// How sure the judge was of the values that stand at these places.
    pub(super) confidence: &'a dyn Fn(&ValueSpans) -> Confidence,
}

/// What is asked of a verdict where no judge is asked.
const OF_RULES: Yields = Yields {
    process: true,
    outcome: true,
    perfect: false,
};

impl<'a> VerdictBuilder<'a> {
    /// Makes verdicts under the run's options, of the judge `text` or of the rules alone.
    pub(super) fn new(options: &'a RunOptions, text: Option<&JudgeText>) -> Self {
        Self::of_yields(
            options,
            text.map_or(OF_RULES, |text| text.protocol.yields()),
        )
    }

    /// The same of a protocol whose verdicts hold `yields`.
    pub(super) fn of_yields(options: &'a RunOptions, yields: Yields) -> Self {
        Self { options, yields }
    }

    /// A verdict with the rules' outcome, if the rules are used, and everything else unknown.
    fn blank(&self, sample: &Sample, trial: u32, status: Status) -> Verdict {
        let rule_outcome = match self.options.rules {
            RulesMode::Off => None,
            _ => self.verify(sample).outcome,
        };
        Self::unknown(sample, trial, status, rule_outcome)
    }

    /// A verdict with `rule_outcome`, and everything else unknown.
    fn unknown(sample: &Sample, trial: u32, status: Status, rule_outcome: Option<bool>) -> Verdict {
        Verdict {
            id: sample.id.clone(),
            index: sample.index,
            group: sample.group.clone(),
            trial,
            status,
            process: None,
            outcome: None,
            perfect: None,
            label: None,
            answer: None,
            first_error: None,
            overall: None,
            reward: None,
            reason: None,
            outcome_source: None,
            rule_outcome,
            confidence: Confidence::default(),
            usage: Usage::default(),
            parse_rule: None,
            inconsistent: false,
            skipped: false,
            audited: false,
            error: None,
            raw: None,
            input: sample.kept.clone(),
        }
    }

    /// The rules' verdict: of several references the first that decides for the response, else one that cannot tell, else
    /// one that decides against it.
    fn verify(&self, sample: &Sample) -> RuleVerdict {
        let rules = &self.options.outcome_rules;
        let mut verdict: Option<RuleVerdict> = None;
        for reference in sample.references() {
            let next = rules.verify(reference, &sample.student_answer);
            let is_right = next.outcome == Some(true);
            if verdict.as_ref().is_none_or(|_| next.outcome != Some(false)) {
                verdict = Some(next);
            }
            if is_right {
                break;
            }
        }
        // A sample has a reference.
        verdict.unwrap_or_else(|| rules.verify(&sample.reference_answer, &sample.student_answer))
    }

    /// Fills in what follows from status, process and outcome.
    pub(super) fn settle(&self, mut verdict: Verdict) -> Verdict {
        if verdict.status == Status::Ok {
            verdict.overall = match (verdict.process, verdict.outcome) {
                (Some(process), Some(outcome)) => Some(process && outcome),
                (Some(false), None) | (None, Some(false)) => Some(false),
                (None, outcome) if !self.yields.process => outcome,
                _ => None,
            };
        }
        verdict.reward = reward(self.options.reward, self.yields, &verdict);
        verdict
    }

    /// Takes the rules' outcome, if there is one, for a verdict without the judge's.
    fn outcome_by_rules(verdict: &mut Verdict) {
        if let Some(outcome) = verdict.rule_outcome {
            verdict.outcome = Some(outcome);
            verdict.outcome_source = Some(OutcomeSource::Rules);
        }
    }

    /// The verdict of the rules alone.
    pub(super) fn by_rules(&self, sample: &Sample, trial: u32) -> Verdict {
        let found = self.verify(sample);
        let mut verdict = Self::unknown(sample, trial, Status::Ok, found.outcome);
        Self::outcome_by_rules(&mut verdict);
        if verdict.outcome.is_none() {
            verdict.status = Status::Unparsed;
            verdict.error = Some(format!("the rules cannot tell: {}", found.reason));
        }
        self.settle(verdict)
    }

    /// Do the rules go first, find the final answer wrong, and is the sample not one of those that are audited?
    pub(super) fn is_skipped_by_rules(&self, sample: &Sample) -> bool {
        self.options.rules == RulesMode::First
            && !self.is_audited(sample)
            && self.verify(sample).outcome == Some(false)
    }

    /// Whether the sample is judged though the rules find it wrong: decided by seed and id, so that a run that goes on, or
    /// another shard, decides alike.
    fn is_audited(&self, sample: &Sample) -> bool {
        if self.options.audit <= 0.0 {
            return false;
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"audit");
        hasher.update(&self.options.seed.to_le_bytes());
        hasher.update(sample.id.as_bytes());
        let mut first = [0; 4];
        first.copy_from_slice(&hasher.finalize().as_bytes()[..4]);
        f64::from(u32::from_le_bytes(first)) < self.options.audit * 4_294_967_296.0
    }

    /// The verdict on a sample whose final answer the rules already find wrong.
    pub(super) fn skipped_by_rules(&self, sample: &Sample, trial: u32) -> Verdict {
        let mut verdict = Self::unknown(sample, trial, Status::Ok, Some(false));
        verdict.skipped = true;
        Self::outcome_by_rules(&mut verdict);
        self.settle(verdict)
    }

    /// The verdict on a sample that an error of our own keeps from being judged: not even the rules are asked, for it
    /// may be theirs.
    pub(super) fn broken(&self, sample: &Sample, trial: u32, error: String) -> Verdict {
        let mut verdict = Self::unknown(sample, trial, Status::Failed, None);
        verdict.error = Some(error);
        self.settle(verdict)
    }

    /// The verdict on a sample that the model could not be asked about.
    pub(super) fn without_completion(
        &self,
        sample: &Sample,
        trial: u32,
        status: Status,
        error: String,
    ) -> Verdict {
        let mut verdict = self.blank(sample, trial, status);
        verdict.error = Some(error);
        Self::outcome_by_rules(&mut verdict);
        self.settle(verdict)
    }

    /// The verdict of a request's completion, generated by the judge `text`.
    pub(super) fn of_request(
        &self,
        text: &JudgeText,
        asked: &Asked,
        completion: Completion,
    ) -> Verdict {
        let (sample, trial) = (asked.sample.as_ref(), asked.trial);
        let verdict = match asked.failure.get() {
            Some(why) => Err(why.clone()),
            None => guarded(|| self.of_completion(text, sample, trial, completion)),
        };
        verdict.unwrap_or_else(|why| self.broken(sample, trial, why))
    }

    /// The verdict read from a completion.
    fn of_completion(
        &self,
        text: &JudgeText,
        sample: &Sample,
        trial: u32,
        completion: Completion,
    ) -> Verdict {
        if let FinishReason::Rejected(why) = completion.finish {
            return self.without_completion(sample, trial, Status::Failed, why);
        }
        let answer = read_answer(text, &completion);
        let written = Written {
            answer: &answer,
            starts_in_thinking: text.prompts.thinking().starts_in_thinking(),
            limit: (completion.finish == FinishReason::Length)
                .then_some(self.options.max_new_tokens),
            usage: Usage {
                prompt_tokens: completion.prompt.len(),
                cached_tokens: completion.cached_tokens,
                completion_tokens: completion.tokens.len(),
            },
            confidence: &|spans| {
                confidence(&completion, spans, |tokens| {
                    text.prompts.tokenizer().decode(tokens).len()
                })
            },
        };
        let mut verdict = self.of_answer(&text.reader(), sample, trial, &written);
        verdict.raw = self.raw(verdict.status, text, sample, answer.written, completion);
        self.settle(verdict)
    }

    /// The verdict read from an answer, with neither its text nor what follows from its values ([`Self::settle`]).
    pub(super) fn of_answer(
        &self,
        reader: &Reader,
        sample: &Sample,
        trial: u32,
        written: &Written,
    ) -> Verdict {
        let answer = written.answer;
        let is_cut = written.limit.is_some() && !reader.protocol.reads_cut();
        let parsed = if is_cut {
            Err(Unreadable::Cut)
        } else {
            parse(reader, answer, written.starts_in_thinking)
                .and_then(|parsed| check_step(parsed, sample))
        };
        let mut verdict = self.blank(sample, trial, Status::Ok);
        verdict.audited =
            self.options.rules == RulesMode::First && verdict.rule_outcome == Some(false);
        verdict.usage = written.usage;
        let says_outside = reader
            .domain
            .is_some_and(|domain| domain.is_outside(&answer.written, answer.visible.as_deref()));
        match parsed {
            _ if says_outside => {
                let why = "the judge says that it does not know such samples";
                Self::abstain(&mut verdict, Status::OutOfDomain, why.to_owned());
            }
            Ok(parsed) => {
                self.fill(&mut verdict, parsed, written);
                self.check_certainty(&mut verdict, reader);
            }
            Err(why) => {
                verdict.status = Status::Unparsed;
                verdict.error = Some(unreadable(&why, written.limit));
                Self::outcome_by_rules(&mut verdict);
            }
        }
        verdict
    }

    /// Takes over what the judge's answer says.
    fn fill(&self, verdict: &mut Verdict, parsed: ParsedVerdict, written: &Written) {
        let fields = parsed.fields;
        verdict.process = fields.process;
        verdict.outcome = fields.outcome;
        verdict.perfect = fields.perfect;
        verdict.label = fields.label;
        verdict.answer = fields.answer;
        verdict.first_error = fields.first_error;
        verdict.reason = fields.reason.filter(|_| self.options.wants_reason);
        if self.yields.outcome {
            verdict.outcome_source = Some(OutcomeSource::Judge);
        } else {
            Self::outcome_by_rules(verdict);
        }
        verdict.parse_rule = Some(parsed.rule);
        verdict.inconsistent = parsed.inconsistent;
        verdict.confidence = (written.confidence)(&parsed.spans);
    }

    /// Gives up a verdict that the rules contradict, where they must agree, or that the judge is not sure enough of.
    fn check_certainty(&self, verdict: &mut Verdict, reader: &Reader) {
        let must_agree = reader.domain.is_some_and(|domain| domain.rules_must_agree);
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
            return;
        }
        let Some(least) = self.options.min_confidence else {
            return;
        };
        let certainty = reader
            .temperature
            .certainty(&verdict.confidence, self.yields);
        if certainty.is_none_or(|certainty| certainty < least) {
            let why = match certainty {
                Some(certainty) => {
                    // Rounded down, so that it is never shown as what it is below.
                    let shown = (certainty * 1e6).floor() / 1e6;
                    format!("the calibrated confidence {shown} is below --min-confidence {least}")
                }
                None => {
                    "how sure the judge is was not recorded, and --min-confidence is set".to_owned()
                }
            };
            Self::abstain(verdict, Status::Unsure, why);
        }
    }

    /// Takes back what the judge says; the outcome is left to the rules.
    fn abstain(verdict: &mut Verdict, status: Status, why: String) {
        verdict.status = status;
        verdict.error = Some(why);
        verdict.process = None;
        verdict.outcome = None;
        verdict.perfect = None;
        verdict.label = None;
        verdict.answer = None;
        verdict.first_error = None;
        verdict.reason = None;
        verdict.outcome_source = None;
        verdict.inconsistent = false;
        Self::outcome_by_rules(verdict);
    }

    /// Prompt and completion for the verdict line: with `--raw` both, else the completion of an unparsed verdict.
    fn raw(
        &self,
        status: Status,
        text: &JudgeText,
        sample: &Sample,
        written: String,
        completion: Completion,
    ) -> Option<Raw> {
        if self.options.raw {
            Some(Raw {
                prompt: Some(text.prompts.text(sample)),
                prompt_tokens: Some(completion.prompt),
                completion: written,
                completion_tokens: Some(completion.tokens),
            })
        } else {
            (status == Status::Unparsed).then(|| Raw {
                completion: written,
                ..Raw::default()
            })
        }
    }
}

/// The text of a completion, and the same without thinking.
fn read_answer(text: &JudgeText, completion: &Completion) -> Answer {
    let tokens = match completion.finish {
        FinishReason::EndOfSequence => &completion.tokens[..completion.tokens.len() - 1],
        _ => &completion.tokens[..],
    };
    let prompts = &text.prompts;
    prompts.thinking().read(prompts.tokenizer(), tokens)
}

/// Why an answer has no verdict, and whether it was cut at its length limit.
fn unreadable(why: &Unreadable, limit: Option<usize>) -> String {
    match limit {
        Some(0) => format!("{why} (stopped at its length limit)"),
        Some(limit) => format!("{why} (stopped at the limit of {limit} new tokens)"),
        None => why.to_string(),
    }
}

/// Reads the verdict in an answer.
fn parse(
    reader: &Reader,
    answer: &Answer,
    starts_in_thinking: bool,
) -> Result<ParsedVerdict, Unreadable> {
    let visible = answer.visible.as_deref();
    let visible = visible.ok_or(Unreadable::ThinkingNotFinished)?;
    let visible = match reader.thinking {
        // A judge that does not think may write any tags.
        ThinkingStyle::None => Cow::Owned(without_unknown_tags(visible)),
        _ => Cow::Borrowed(visible),
    };
    reader.protocol.parse(&visible, starts_in_thinking)
}

/// Refuses the index of a step that the response does not have.
fn check_step(parsed: ParsedVerdict, sample: &Sample) -> Result<ParsedVerdict, Unreadable> {
    if let Some(index) = parsed.fields.first_error {
        let steps = paragraphs(&sample.student_answer).count();
        if index >= steps {
            return Err(Unreadable::NoSuchStep { index, steps });
        }
    }
    Ok(parsed)
}

/// The odds recorded at the tokens with which the words of the values begin. `length` gives the bytes that tokens decode to.
fn confidence(
    completion: &Completion,
    spans: &ValueSpans,
    length: impl Fn(&[u32]) -> usize,
) -> Confidence {
    let odds = |span: &Range<usize>| {
        if span.is_empty() {
            return None;
        }
        // The last of the tokens with odds that begins before the word ends; the word must begin in it.
        let recorded = &completion.odds;
        let count =
            recorded.partition_point(|&(token, _)| length(&completion.tokens[..token]) < span.end);
        recorded[..count]
            .iter()
            .rev()
            .take(LOOKED_AT)
            .find(|&&(token, _)| {
                let begins = length(&completion.tokens[..token]);
                let ends = length(&completion.tokens[..=token]);
                begins <= span.start && span.start < ends
            })
            .map(|&(_, odds)| odds)
    };
    Confidence {
        process: odds(&spans.process),
        outcome: odds(&spans.outcome),
        perfect: odds(&spans.perfect),
    }
}

/// Tokens with odds that are looked at for a word: more than a word has.
const LOOKED_AT: usize = 8;
