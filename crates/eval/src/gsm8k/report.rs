//! Everything that a report of a GSM8K score must state.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::against::Against;
use super::method::Method;
use super::responses::{Disagreements, LabelSets, Responses, SET_NAMES};
use super::statistics::Scores;
use super::test_set::{Audit, Disputed, SetIdentity};

/// How responses were made. A solver's run writes it into its rows; of other responses the user states it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Made {
    pub(crate) model: Option<String>,
    /// The standard configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) config: Option<String>,
    /// Worked examples before each question.
    pub(crate) shots: Option<u64>,
    /// Where they are from.
    pub(crate) shots_source: Option<String>,
    /// How a question is asked.
    pub(crate) prompt_format: Option<String>,
    /// How tokens are chosen.
    pub(crate) decoding: Option<String>,
}

impl Made {
    pub(crate) const KEYS: &str = "model, shots, shots-source, prompt-format, decoding";

    /// Sets the value that `KEY=TEXT` states.
    pub fn state(&mut self, text: &str) -> Result<(), String> {
        let (key, value) = text
            .split_once('=')
            .ok_or_else(|| format!("{text:?} is no KEY=TEXT; KEY is one of {}", Self::KEYS))?;
        let value = value.trim();
        let field = match key.trim() {
            "shots" => {
                let shots = value.parse().map_err(|_| {
                    format!("shots={value}: it is the number of worked examples in the prompt")
                })?;
                self.shots = Some(shots);
                return Ok(());
            }
            "model" => &mut self.model,
            "shots-source" => &mut self.shots_source,
            "prompt-format" => &mut self.prompt_format,
            "decoding" => &mut self.decoding,
            other => return Err(format!("{other:?} is none of {}", Self::KEYS)),
        };
        *field = Some(value.to_owned());
        Ok(())
    }

    /// What is stated, and of the rest what rows tell.
    fn or(&self, rows: &Self) -> Self {
        let or = |stated: &Option<String>, told: &Option<String>| {
            stated.clone().or_else(|| told.clone())
        };
        Self {
            model: or(&self.model, &rows.model),
            config: or(&self.config, &rows.config),
            shots: self.shots.or(rows.shots),
            shots_source: or(&self.shots_source, &rows.shots_source),
            prompt_format: or(&self.prompt_format, &rows.prompt_format),
            decoding: or(&self.decoding, &rows.decoding),
        }
    }

    /// What is known, with names for a reader.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "not stated".to_owned());
        let shots = match (self.shots, &self.shots_source) {
            (Some(0), _) => "none".to_owned(),
            (Some(shots), source) => {
                let source = source.as_deref().unwrap_or("source not stated");
                format!("{shots}: {source}")
            }
            (None, _) => "not stated".to_owned(),
        };
        let mut lines = vec![("model", text(&self.model))];
        lines.extend(self.config.clone().map(|config| ("configuration", config)));
        lines.push(("shots", shots));
        lines.push(("prompt", text(&self.prompt_format)));
        lines.push(("decoding", text(&self.decoding)));
        lines
    }
}

/// Which set of labels, and how much of it has responses.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SetReport {
    /// The file; none where the responses bring their own references.
    #[serde(flatten)]
    pub identity: Option<SetIdentity>,
    /// Questions of it that responses are scored on.
    pub questions: usize,
    /// Its questions without a response: they are left out.
    pub without_response: usize,
    /// What it changed of the original set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit: Option<Audit>,
}

/// What `juror gsm8k --json` writes. All shares are of 1, all intervals of 95 %.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(title = "juror gsm8k")]
pub struct Report {
    /// The version of this form.
    pub(crate) version: u32,
    /// Files of responses.
    pub files: Vec<String>,
    /// Rows of them.
    pub rows: usize,
    /// Responses that are scored.
    pub responses: usize,
    /// Responses to questions that the original labels do not have: left out.
    pub unknown_questions: usize,
    /// Questions whose responses bring different references: left out.
    pub disputed: Disputed,
    /// Blank responses among those that are scored.
    pub blank_responses: usize,
    /// Responses cut off at the longest length; null where the rows do not tell.
    pub cut_off_responses: Option<usize>,
    /// Rows whose question could not be asked; their responses are blank.
    pub unasked_rows: usize,
    /// The fewest and the most responses that a question has: the k of maj@k and pass@k.
    pub responses_per_question: [usize; 2],
    /// How the responses were made, each with its number of rows.
    pub made: Vec<MadeRows>,
    /// Test sets by name.
    pub test_sets: BTreeMap<&'static str, SetReport>,
    /// Scores by method and test set.
    pub methods: BTreeMap<Method, BTreeMap<&'static str, Scores>>,
    /// What the methods make of the same responses, by test set.
    pub disagreements: BTreeMap<&'static str, Disagreements>,
    /// A judge's verdicts against the methods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<Against>,
}

/// Rows that were made alike.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MadeRows {
    /// How.
    #[serde(flatten)]
    pub made: Made,
    /// How many rows; null where they tell nothing, and it is stated of all.
    pub(crate) rows: Option<usize>,
}

impl Report {
    /// The version of the JSON form, increased when a key is removed or changes its meaning.
    pub(crate) const VERSION: u32 = 1;

    /// The report on responses, scored against these labels; `stated` is what the user states about how they were made.
    pub fn new(
        files: Vec<String>,
        responses: &Responses,
        labels: &LabelSets,
        stated: &Made,
    ) -> Self {
        let mut made: Vec<MadeRows> = Vec::new();
        for (of_rows, rows) in &responses.made {
            let of_rows = stated.or(of_rows);
            match made.iter_mut().find(|one| one.made == of_rows) {
                Some(same) => same.rows = same.rows.map(|before| before + rows),
                None => made.push(MadeRows {
                    made: of_rows,
                    rows: Some(*rows),
                }),
            }
        }
        if made.is_empty() && *stated != Made::default() {
            made.push(MadeRows {
                made: stated.clone(),
                rows: None,
            });
        }
        let mut test_sets = BTreeMap::new();
        let mut methods: BTreeMap<Method, BTreeMap<&'static str, Scores>> = BTreeMap::new();
        let mut disagreements = BTreeMap::new();
        for (set, name) in SET_NAMES.into_iter().enumerate() {
            let file = [&labels.original, &labels.audited][set].as_ref();
            if set > 0 && file.is_none() {
                continue;
            }
            let known = |question: &&super::responses::Question| question.references[set].is_some();
            let questions = responses.questions.iter().filter(known).count();
            let audit = labels.original.as_ref().zip(labels.audited.as_ref());
            test_sets.insert(
                name,
                SetReport {
                    identity: file.map(|set| set.identity.clone()),
                    questions,
                    without_response: file
                        .map_or(0, |set| set.samples.len().saturating_sub(questions)),
                    audit: audit
                        .filter(|_| set > 0)
                        .map(|(original, audited)| original.audit(audited)),
                },
            );
            for method in Method::ALL {
                let scores = Scores::new(&responses.votes(method, set));
                methods
                    .entry(method)
                    .or_default()
                    .extend(scores.map(|scores| (name, scores)));
            }
            disagreements.insert(name, Disagreements::new(responses, set));
        }
        let (fewest, most) = responses.per_question();
        Self {
            version: Self::VERSION,
            files,
            rows: responses.rows,
            responses: responses.count - responses.unknown - responses.left_out,
            unknown_questions: responses.unknown,
            disputed: responses.disputed.clone(),
            blank_responses: responses.blank,
            cut_off_responses: responses.cut_off,
            unasked_rows: responses.errors,
            responses_per_question: [fewest, most],
            made,
            test_sets,
            methods,
            disagreements,
            judge: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stated_is_read_and_what_is_not_is_told() {
        let mut made = Made::default();
        for text in [
            "shots=5",
            "shots-source = GSM8K train, first rows",
            "decoding=greedy",
        ] {
            made.state(text).unwrap();
        }
        assert_eq!(
            made.lines(),
            [
                ("model", "not stated".to_owned()),
                ("shots", "5: GSM8K train, first rows".to_owned()),
                ("prompt", "not stated".to_owned()),
                ("decoding", "greedy".to_owned()),
            ]
        );
        for (text, why) in [
            ("shots", "is no KEY=TEXT"),
            ("shots=few", "number of worked examples"),
            ("seed=1", "is none of model"),
        ] {
            let error = made.state(text).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
