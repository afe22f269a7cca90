//! One sample with all verdicts and labels on it, as an `<article>`.

use serde::Serialize;

use super::page;
use crate::eval::{Labelled, Scored};

/// How many characters are shown of the beginning and of the end of a text that is longer than both.
const SHOWN: (usize, usize) = (6000, 3000);

/// The length in characters of the question's beginning beside a closed record.
const GIST: usize = 160;

/// A text, perhaps without its middle.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Text {
    /// Its beginning, or all of it.
    pub(crate) head: String,
    /// The number of characters left out.
    pub(crate) left_out: usize,
    /// Its end, if something is left out.
    pub(crate) tail: String,
}

impl Text {
    pub(crate) fn whole(text: &str) -> Self {
        Self {
            head: text.to_owned(),
            ..Self::default()
        }
    }

    /// The text, without its middle if it is very long.
    pub(crate) fn cut(text: &str) -> Self {
        let (first, last) = SHOWN;
        // A character has at least one byte.
        let characters = if text.len() <= first + last {
            0
        } else {
            text.chars().count()
        };
        if characters <= first + last {
            return Self::whole(text);
        }
        let place = |characters: usize| {
            text.char_indices()
                .nth(characters)
                .map_or(text.len(), |(place, _)| place)
        };
        Self {
            head: text[..place(first)].to_owned(),
            left_out: characters - first - last,
            tail: text[place(characters - last)..].to_owned(),
        }
    }
}

/// The answers of a label, a judge or the rules.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Answers {
    /// Whether the derivation is right.
    pub(crate) process: Option<bool>,
    pub(crate) outcome: Option<bool>,
    pub(crate) overall: Option<bool>,
}

impl From<&Labelled> for Answers {
    fn from(of: &Labelled) -> Self {
        Self {
            process: of.process,
            outcome: of.outcome,
            overall: of.overall,
        }
    }
}

/// A judge's verdict on a sample.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Judgement {
    /// The judge's name, usually its file of verdicts.
    pub(crate) judge: String,
    /// The place of the verdict: file and line.
    pub(crate) place: String,
    pub(crate) status: String,
    pub(crate) said: Answers,
    /// The probability that the derivation is right.
    pub(crate) process_probability: Option<f64>,
    /// The probability that the final answer is right.
    pub(crate) outcome_probability: Option<f64>,
    pub(crate) reward: Option<f64>,
    pub(crate) reason: Option<Text>,
    /// What it wrote, if that could not be read or was kept.
    pub(crate) raw: Option<Text>,
    /// Why there is no verdict.
    pub(crate) error: Option<String>,
}

impl Judgement {
    /// What is known of a verdict by its scored parts.
    pub(crate) fn new(judge: &str, scored: &Scored) -> Self {
        Self {
            judge: judge.to_owned(),
            place: scored.line.to_string(),
            status: scored.status.name().to_owned(),
            said: Answers {
                process: scored.process,
                outcome: scored.outcome,
                overall: scored.overall,
            },
            process_probability: scored.process_probability,
            outcome_probability: scored.outcome_probability,
            ..Self::default()
        }
    }
}

/// A label for something remarkable about a sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Tag {
    /// Its name in lower-case letters and `_`, also a CSS class.
    pub(crate) name: &'static str,
    pub(crate) text: String,
}

/// A sample with everything said of it. Nothing in it is HTML.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Article {
    /// The element's id in the page.
    pub(crate) anchor: String,
    pub(crate) id: String,
    /// The trial, if samples have several.
    pub(crate) trial: Option<u32>,
    /// What the question is about.
    pub(crate) subject: Option<String>,
    pub(crate) answer_type: Option<String>,
    /// Remarkable things about it.
    pub(crate) tags: Vec<Tag>,
    /// Names of facets, for filters: words of our own, without spaces.
    pub(crate) facets: Vec<String>,
    pub(crate) question: Option<Text>,
    pub(crate) reference: Option<Text>,
    pub(crate) response: Option<Text>,
    pub(crate) label: Option<Answers>,
    pub(crate) judgements: Vec<Judgement>,
    /// The rules' result for the final answer.
    pub(crate) rules: Option<bool>,
    pub(crate) open: bool,
    /// Whether the first verdict stands in its first line.
    pub(crate) brief: bool,
    /// Whether a long question is folded.
    pub(crate) folds: bool,
    /// How to give the texts, where it has none.
    pub(crate) without_texts: &'static str,
}

/// A verdict in a few words.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
struct Brief {
    /// Its status, unless it is `ok`.
    status: String,
    /// What it says of process and outcome.
    marks: Vec<(&'static str, bool)>,
    /// Reward and sureness.
    rest: String,
}

impl Brief {
    fn new(one: &Judgement) -> Self {
        let mark = |name, said: Option<bool>| said.map(|said| (name, said));
        let marks = [
            mark("process", one.said.process),
            mark("outcome", one.said.outcome),
        ];
        let sure = [one.process_probability, one.outcome_probability];
        let sure = sure.into_iter().flatten().map(|p| p.max(1.0 - p));
        let rest = [
            one.reward.map(|reward| {
                let reward = format!("{reward:.3}");
                let reward = reward.trim_end_matches('0').trim_end_matches('.');
                format!("reward {reward}")
            }),
            sure.reduce(f64::min).map(|sure| format!("sure {sure:.2}")),
        ];
        Self {
            status: Some(one.status.clone())
                .filter(|status| status != "ok")
                .unwrap_or_default(),
            marks: marks.into_iter().flatten().collect(),
            rest: rest
                .into_iter()
                .flatten()
                .collect::<Vec<String>>()
                .join(" · "),
        }
    }
}

/// The length in characters from which a question is folded where responses are to be read.
const LONG: usize = 700;

impl Article {
    pub(crate) fn html(&self) -> Result<String, minijinja::Error> {
        #[derive(Serialize)]
        struct Values<'r> {
            record: &'r Article,
            gist: String,
            brief: Option<Brief>,
            /// The length of a question that is folded.
            folded: Option<usize>,
        }
        let has_texts = [&self.question, &self.reference, &self.response]
            .iter()
            .any(|text| text.is_some());
        let length =
            |text: &Text| text.head.chars().count() + text.left_out + text.tail.chars().count();
        let long = self.question.as_ref().map(length);
        page::render(
            "record.html",
            Values {
                record: self,
                gist: if has_texts {
                    self.gist()
                } else {
                    "without texts".to_owned()
                },
                brief: self
                    .judgements
                    .first()
                    .filter(|_| self.brief)
                    .map(Brief::new),
                folded: long.filter(|length| self.folds && *length > LONG),
            },
        )
    }

    /// The beginning of the question.
    fn gist(&self) -> String {
        let question = self.question.as_ref().map_or("", |text| &text.head);
        let begun = question.chars().take(4 * GIST).collect::<String>();
        let words = begun.split_whitespace().collect::<Vec<&str>>().join(" ");
        let mut gist: String = words.chars().take(GIST).collect();
        if gist.len() < words.len() || begun.len() < question.len() {
            gist.push('…');
        }
        gist
    }
}
