//! One sample with everything said of it, as an `<article>`.

use serde::Serialize;

use super::page;

/// Characters that are shown of a text's beginning, and of its end, where it is longer than both.
const SHOWN: (usize, usize) = (6000, 3000);

/// Characters of the question that stand beside a closed record.
const GIST: usize = 160;

/// A text, perhaps without its middle.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Text {
    /// Its beginning, or all of it.
    pub(crate) head: String,
    /// Characters that are left out.
    pub(crate) left_out: usize,
    /// Its end, where something is left out.
    pub(crate) tail: String,
}

impl Text {
    /// The text, without its middle where it is very long.
    pub(crate) fn cut(text: &str) -> Self {
        let (first, last) = SHOWN;
        // A character has one byte at least.
        let characters = if text.len() <= first + last {
            0
        } else {
            text.chars().count()
        };
        if characters <= first + last {
            return Self {
                head: text.to_owned(),
                ..Self::default()
            };
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

/// What a label, a judge or the rules say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Said {
    /// Is the derivation right?
    pub(crate) process: Option<bool>,
    /// Is the final answer right?
    pub(crate) outcome: Option<bool>,
    /// Are both right?
    pub(crate) overall: Option<bool>,
}

/// What a judge says of a sample.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Judgement {
    /// The judge's name, as a rule its file of verdicts.
    pub(crate) judge: String,
    /// Where the verdict stands: file and line.
    pub(crate) place: String,
    /// Its status.
    pub(crate) status: String,
    /// What it says.
    pub(crate) said: Said,
    /// The probability that the derivation is right.
    pub(crate) process_probability: Option<f32>,
    /// The probability that the final answer is right.
    pub(crate) outcome_probability: Option<f32>,
    /// The reward.
    pub(crate) reward: Option<f64>,
    /// Tokens generated for it.
    pub(crate) generated: Option<u32>,
    /// The judge's few sentences.
    pub(crate) reason: Option<Text>,
    /// What it wrote, where that could not be read or was kept.
    pub(crate) raw: Option<Text>,
    /// Why there is no verdict.
    pub(crate) error: Option<String>,
}

/// A short name for what is remarkable of a sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Tag {
    /// Its name: lower-case letters and `_`, also a CSS class.
    pub(crate) name: &'static str,
    /// What is shown.
    pub(crate) text: String,
}

/// A sample with everything said of it. Nothing in it is HTML.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Record {
    /// The element's id in the page.
    pub(crate) anchor: String,
    /// The sample's id.
    pub(crate) id: String,
    /// The trial, where samples have several.
    pub(crate) trial: Option<u32>,
    /// What the question is about.
    pub(crate) subject: Option<String>,
    /// What kind of answer it has.
    pub(crate) answer_type: Option<String>,
    /// What is remarkable.
    pub(crate) tags: Vec<Tag>,
    /// Names of what it has in common with others, for filters: words of our own, without spaces.
    pub(crate) facets: Vec<String>,
    /// The question.
    pub(crate) question: Option<Text>,
    /// The reference answer.
    pub(crate) reference: Option<Text>,
    /// The response.
    pub(crate) response: Option<Text>,
    /// The label.
    pub(crate) label: Option<Said>,
    /// What each judge says.
    pub(crate) judgements: Vec<Judgement>,
    /// What the rules say of the final answer.
    pub(crate) rules: Option<bool>,
    /// Is it shown open?
    pub(crate) open: bool,
}

impl Record {
    /// The record as HTML.
    ///
    /// # Errors
    /// Where the template does not fit the record.
    pub(crate) fn html(&self) -> Result<String, minijinja::Error> {
        #[derive(Serialize)]
        struct Values<'r> {
            record: &'r Record,
            gist: String,
        }
        page::render(
            "record.html",
            Values {
                record: self,
                gist: self.gist(),
            },
        )
    }

    /// The question's first words.
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
