//! The known text of an answer and the choices in it: what a constrained generation consists of.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{ParsedVerdict, ValueSpans, VerdictFields, Yields};
use juror_data::rubric::Rubric;
use juror_data::verdict::ParseRule;
use juror_engine::grammar::GrammarSource;

/// An answer as a row of parts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scaffold {
    pub(crate) parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Text of the judge's own, up to where it ends its answer. Where that can be read, nothing follows; only as the first.
    Analysis,
    Text(String),
    Choice {
        field: ChoiceField,
        /// The words; none of them is empty.
        words: Vec<String>,
        /// The numbers that the words stand for, where the expected one is to be recorded; else the odds of right and wrong are.
        numbers: Option<Vec<f32>>,
    },
    /// The reason: text of the judge's own, up to this one.
    Reason(String),
    /// Text of a grammar; only as the last. It is read as a free answer is.
    Grammar(Arc<GrammarSource>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ChoiceField {
    /// Is the derivation free of errors?
    Process,
    /// Is the final answer right?
    Outcome,
    /// Is the work free of even small flaws?
    Perfect,
    Label,
    /// The index of the first wrong step.
    Step,
    /// The grade of a criterion, by its place in the rubric.
    Criterion(usize),
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScaffoldWants {
    /// The reason, where the protocol has one after the verdict.
    pub reason: bool,
    /// How many steps the response has.
    pub steps: usize,
    /// The criteria that it is judged by, where the protocol has such.
    pub rubric: Option<Arc<Rubric>>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Filled {
    /// The fields and the words, in order.
    pub(crate) choices: Vec<(ChoiceField, String)>,
    pub(crate) reason: Option<String>,
}

/// The words of True and False in tags, with the space before them.
const TRUE_OR_FALSE: [&str; 2] = [" True", " False"];

impl Scaffold {
    pub(super) fn of_grammar(source: &Arc<GrammarSource>) -> Self {
        Self {
            parts: vec![Part::Grammar(Arc::clone(source))],
        }
    }

    /// The grammar of its answers, where it has one.
    pub(crate) fn grammar(&self) -> Option<&Arc<GrammarSource>> {
        self.parts.iter().find_map(|part| match part {
            Part::Grammar(source) => Some(source),
            _ => None,
        })
    }

    /// Known text around one choice, after text of the judge's own if there is an analysis.
    fn around_choice(
        analysis: bool,
        before: &str,
        field: ChoiceField,
        words: Vec<String>,
        after: &str,
    ) -> Self {
        let choice = Part::Choice {
            field,
            words,
            numbers: None,
        };
        let parts = [
            analysis.then_some(Part::Analysis),
            Some(Part::Text(before.to_owned())),
            Some(choice),
            Some(Part::Text(after.to_owned())),
        ];
        Self {
            parts: parts.into_iter().flatten().collect(),
        }
    }

    /// An analysis, and after it the index of the first wrong of so many steps, or -1.
    pub(super) fn of_step(steps: usize) -> Self {
        let none = std::iter::once("-1".to_owned());
        let words = none.chain((0..steps).map(|step| step.to_string()));
        let words = words.collect();
        Self::around_choice(true, "\n\n\\boxed{", ChoiceField::Step, words, "}")
    }

    /// Tags with True or False, in the form that the prompts ask for.
    pub(super) fn of_tags(wanted: Yields, reason: bool) -> Self {
        let mut parts = Vec::new();
        let mut text = String::new();
        for (field, name) in [
            wanted.process.then_some((ChoiceField::Process, "process")),
            wanted.outcome.then_some((ChoiceField::Outcome, "outcome")),
            wanted.perfect.then_some((ChoiceField::Perfect, "perfect")),
        ]
        .into_iter()
        .flatten()
        {
            parts.push(Part::Text(format!("{text}<{name}>")));
            parts.push(Part::Choice {
                field,
                words: TRUE_OR_FALSE.map(str::to_owned).into(),
                numbers: None,
            });
            text = format!(" </{name}>\n");
        }
        text.truncate(text.trim_end().len());
        if reason {
            parts.push(Part::Text(text + "\n<reason>"));
            parts.push(Part::Reason("</reason>".to_owned()));
        } else {
            parts.push(Part::Text(text));
        }
        Self { parts }
    }
}

/// What a constrained judge writes around its label.
#[derive(Debug, Clone)]
pub(super) struct LabelScaffold {
    /// It writes something of its own first.
    analysis: bool,
    before: String,
    after: String,
}

impl LabelScaffold {
    /// Reads text around `{{ label }}`, after `{{ text }}` if the judge writes something first.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        const ANALYSIS: &str = "{{ text }}";
        const LABEL: &str = "{{ label }}";
        let (analysis, rest) = match text.strip_prefix(ANALYSIS) {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (before, after) = rest
            .split_once(LABEL)
            .ok_or_else(|| format!("must hold `{LABEL}`, where the judge chooses"))?;
        for part in [before, after] {
            if let Some(at) = part.find("{{ ") {
                let known = format!("`{ANALYSIS}` at its beginning and `{LABEL}` once");
                return Err(format!("`{}`: there is {known}", &part[at..]));
            }
        }
        if analysis && before.trim().is_empty() {
            return Err(format!(
                "between `{ANALYSIS}` and `{LABEL}` must be text that announces the choice"
            ));
        }
        Ok(Self {
            analysis,
            before: before.to_owned(),
            after: after.to_owned(),
        })
    }

    /// The scaffold in which one of these labels is chosen.
    pub(super) fn around(&self, labels: Vec<String>) -> Scaffold {
        let (before, after) = (&self.before, &self.after);
        Scaffold::around_choice(self.analysis, before, ChoiceField::Label, labels, after)
    }
}

impl Filled {
    /// The truth value that was chosen for a field.
    pub(crate) fn value(&self, field: ChoiceField) -> Option<bool> {
        self.word(field).map(|word| word == TRUE_OR_FALSE[0].trim())
    }

    pub(super) fn word(&self, field: ChoiceField) -> Option<&str> {
        let mut choices = self.choices.iter();
        choices.find_map(|(of, word)| (*of == field).then_some(word.trim()))
    }

    pub(super) fn in_tags(self) -> ParsedVerdict {
        let value = |field| self.value(field);
        let fields = VerdictFields {
            process: value(ChoiceField::Process),
            outcome: value(ChoiceField::Outcome),
            perfect: value(ChoiceField::Perfect),
            reason: self.reason,
            ..VerdictFields::default()
        };
        ParsedVerdict {
            inconsistent: fields.is_inconsistent(),
            fields,
            rule: ParseRule::Constrained,
            spans: ValueSpans::default(),
        }
    }
}
