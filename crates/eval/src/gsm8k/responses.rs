//! Responses grouped by question, read by every method.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde_json::Value;

use super::method::{Method, Reading};
use super::report::Made;
use super::statistics::{Votes, groups};
use super::test_set::{Disputed, TestSet, question_key, same_answers};
use crate::{EvalError, Result};
use juror_data::{ColumnsUsed, Keep, LoadOptions, Needs, Sample, each, tally};

/// Sets of labels: the original one, and an audited one.
pub(crate) const SETS: usize = 2;

pub const SET_NAMES: [&str; SETS] = ["original", "platinum"];

/// How many responses are read at a time.
const AT_ONCE: usize = 4096;

/// Keys that a solver's run writes into its rows.
const SOLVER: &str = "solver";
const FINISH_REASONS: &str = "finish_reasons";
const ERROR: &str = "error";

#[derive(Debug, Default)]
pub struct LabelSets {
    /// The original ones; `None` if the responses bring their own references.
    pub original: Option<TestSet>,
    /// The audited ones, if they are asked for.
    pub audited: Option<TestSet>,
}

/// A response, read by every method.
#[derive(Debug)]
pub struct Response {
    pub id: String,
    /// What each method found, in the order of [`Method::ALL`].
    pub readings: [Reading<SETS>; Method::ALL.len()],
}

#[derive(Debug)]
pub struct Question {
    pub question: String,
    /// The right answers, by each set of labels.
    pub references: [Option<Vec<String>>; SETS],
    /// The responses, in the order of the files.
    pub responses: Vec<Response>,
}

#[derive(Debug, Default)]
pub struct Responses {
    /// The questions that have responses, in the order in which they occur.
    pub questions: Vec<Question>,
    pub(crate) count: usize,
    pub(crate) rows: usize,
    /// Responses to questions that the original labels do not have, which are left out.
    pub(crate) unknown: usize,
    /// Questions whose responses bring different references, and which are left out.
    pub(crate) disputed: Disputed,
    /// Responses to questions with different answers, here or in the test set.
    pub(crate) left_out: usize,
    pub(crate) blank: usize,
    /// Responses that were cut off at the longest length, if the rows tell.
    pub(crate) cut_off: Option<usize>,
    /// Rows whose question the solver could not be asked.
    pub(crate) errors: usize,
    /// How the responses were made, as far as their rows tell, with the number of rows of each.
    pub(crate) made: Vec<(Made, usize)>,
    /// Which keys the rows were read from.
    pub columns: ColumnsUsed,
}

impl Responses {
    /// Reads and scores the responses of `inputs`.
    /// Errors: where the files cannot be read, a response has no reference, or no response is to a known question.
    pub fn read(inputs: &[PathBuf], options: LoadOptions, labels: &LabelSets) -> Result<Self> {
        let options = LoadOptions {
            columns: options.columns.with_needs(Needs {
                reference: false,
                ..Needs::default()
            }),
            keep: Keep::parse([SOLVER, FINISH_REASONS, ERROR]).where_there(),
            ..options
        };
        let mut reader = Reader {
            labels,
            responses: Self::default(),
            places: HashMap::new(),
            last_row: None,
            waiting: Vec::new(),
            blank: Vec::new(),
            disputed: BTreeSet::new(),
            failure: None,
        };
        let loaded = each(inputs, &options, &mut |sample, _| reader.take(sample))?;
        reader.read_waiting();
        if let Some(failure) = reader.failure {
            return Err(failure);
        }
        let mut responses = reader.responses;
        let scored = |place: &&usize| !reader.disputed.contains(*place);
        responses.blank = reader.blank.iter().filter(scored).count();
        if !reader.disputed.is_empty() {
            let questions = reader.disputed.iter();
            let questions: Vec<&Question> = questions
                .map(|place| &responses.questions[*place])
                .collect();
            let texts: Vec<&str> = questions.iter().map(|one| one.question.as_str()).collect();
            responses.disputed = Disputed::new(&texts);
            let left_out = questions.iter().map(|one| one.responses.len());
            responses.left_out += left_out.sum::<usize>();
            let mut place = 0..;
            responses.questions.retain(|_| {
                place
                    .next()
                    .is_some_and(|place| !reader.disputed.contains(&place))
            });
        }
        responses.columns = loaded.columns;
        responses.rows = loaded.lines_read - responses.columns.repeated;
        if let ([], [question, ..]) = (&*responses.questions, &*responses.disputed.examples) {
            return Err(EvalError::Unusable(format!(
                "the rows of each question name different reference answers, as do those of {question:?}: give the questions with their \
                 answers, `--data test.jsonl`"
            )));
        }
        if responses.questions.is_empty() {
            let files = inputs.iter().map(|file| file.display().to_string());
            let files: Vec<String> = files.collect();
            let set = labels.original.as_ref();
            return Err(EvalError::Unusable(format!(
                "none of the {} responses in {} is to a question of {}: they meet by the question's text, so the rows need the question \
                 alone, without a prompt around it; name its key with `--columns question=KEY`",
                responses.count,
                files.join(", "),
                set.map_or("", |set| &set.identity.file)
            )));
        }
        Ok(responses)
    }

    /// The questions of a set of labels, each with what a method found in its responses.
    pub(crate) fn votes(&self, method: Method, set: usize) -> Vec<Votes> {
        let known = |question: &&Question| question.references[set].is_some();
        let questions: Vec<&Question> = self.questions.iter().filter(known).collect();
        let of = |question: &&Question| {
            let responses = question.responses.iter();
            let readings = || {
                let responses = responses.clone();
                responses.map(|response| &response.readings[method.place()])
            };
            let answers: Vec<Option<&str>> = readings()
                .map(|reading| reading.extracted.as_deref())
                .collect();
            Votes {
                right: readings()
                    .map(|reading| reading.right[set] == Some(true))
                    .collect(),
                groups: groups(method, &answers),
            }
        };
        questions.par_iter().map(of).collect()
    }

    /// The fewest and the most responses that a question has.
    pub(crate) fn per_question(&self) -> (usize, usize) {
        let questions = self.questions.iter();
        let counts = questions.map(|question| question.responses.len());
        let fewest = counts.clone().min().unwrap_or(0);
        (fewest, counts.max().unwrap_or(0))
    }
}

struct Reader<'l> {
    labels: &'l LabelSets,
    responses: Responses,
    /// The indices of questions by their text.
    places: HashMap<String, usize>,
    /// The current row, by its responses' group, and how many of them were read.
    last_row: Option<(String, usize)>,
    /// Responses that the methods have not read yet: their question, id and text.
    waiting: Vec<(usize, String, String)>,
    /// For each blank response its question.
    blank: Vec<usize>,
    /// The indices of questions whose responses bring different references.
    disputed: BTreeSet<usize>,
    failure: Option<EvalError>,
}

impl Reader<'_> {
    fn take(&mut self, sample: &Sample) {
        if self.failure.is_some() {
            return;
        }
        self.responses.count += 1;
        self.note_row(sample);
        let place = match self.place(sample) {
            Ok(Some(place)) => place,
            Ok(None) => {
                let set = self.labels.original.as_ref();
                let is_disputed = set.is_some_and(|set| set.is_disputed(&sample.question));
                if is_disputed {
                    self.responses.left_out += 1;
                } else {
                    self.responses.unknown += 1;
                }
                return;
            }
            Err(failure) => {
                self.failure = Some(failure);
                return;
            }
        };
        if sample.student_answer.trim().is_empty() {
            self.blank.push(place);
        }
        let waiting = (place, sample.id.clone(), sample.student_answer.clone());
        self.waiting.push(waiting);
        if self.waiting.len() >= AT_ONCE {
            self.read_waiting();
        }
    }

    /// Records what the row tells about how it was made.
    fn note_row(&mut self, sample: &Sample) {
        let part = match (&mut self.last_row, &sample.group) {
            (Some((row, parts)), Some(group)) if row == group => {
                *parts += 1;
                *parts
            }
            (last, group) => {
                *last = group.clone().map(|group| (group, 0));
                0
            }
        };
        if let Some(reasons) = sample.kept.get(FINISH_REASONS).and_then(Value::as_array) {
            let is_cut = reasons.get(part).and_then(Value::as_str) == Some("length");
            *self.responses.cut_off.get_or_insert(0) += usize::from(is_cut);
        }
        if part > 0 {
            return;
        }
        let made = sample.kept.get(SOLVER).cloned();
        // Rows of others may have a key of that name.
        let error = made.as_ref().and_then(|_| sample.kept.get(ERROR)?.as_str());
        let has_error = error.is_some_and(|error| !error.trim().is_empty());
        self.responses.errors += usize::from(has_error);
        if let Some(made) = made.and_then(|made| serde_json::from_value::<Made>(made).ok()) {
            tally(&mut self.responses.made, made);
        }
    }

    /// The index of a response's question; `None` if the labels do not have it.
    fn place(&mut self, sample: &Sample) -> Result<Option<usize>> {
        let key = question_key(&sample.question);
        let set = self.labels.original.as_ref();
        if let Some(place) = self.places.get(key) {
            let references = self.responses.questions[*place].references[0].iter();
            let references = references.flatten().map(String::as_str);
            if set.is_none() && !same_answers(references, sample.references()) {
                self.disputed.insert(*place);
            }
            return Ok(Some(*place));
        }
        let references: Vec<String> = match set {
            Some(set) => match set.find(key) {
                Some(row) => row.references().map(str::to_owned).collect(),
                None => return Ok(None),
            },
            None => sample.references().map(str::to_owned).collect(),
        };
        if references
            .iter()
            .all(|reference| reference.trim().is_empty())
        {
            return Err(EvalError::Unusable(format!(
                "response {:?} has no reference answer: give the questions with their answers, `--data test.jsonl`, or name the key with \
                 `--columns reference=KEY`",
                sample.id
            )));
        }
        let audited = self.labels.audited.as_ref();
        let audited = audited.and_then(|set| set.find(key));
        let audited = audited.map(|row| row.references().map(str::to_owned).collect());
        let place = self.responses.questions.len();
        self.responses.questions.push(Question {
            question: key.to_owned(),
            references: [Some(references), audited],
            responses: Vec::new(),
        });
        self.places.insert(key.to_owned(), place);
        Ok(Some(place))
    }

    /// Lets every method read the waiting responses.
    fn read_waiting(&mut self) {
        let questions = &self.responses.questions;
        let read = |(place, _, text): &(usize, String, String)| {
            let sets = questions[*place].references.each_ref();
            Method::ALL.map(|method| method.read(text, sets.map(|set| set.as_deref())))
        };
        let readings: Vec<_> = self.waiting.par_iter().map(read).collect();
        for ((place, id, _), readings) in self.waiting.drain(..).zip(readings) {
            let response = Response { id, readings };
            self.responses.questions[place].responses.push(response);
        }
    }
}

/// On how many responses the methods agree, by one set of labels.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, JsonSchema)]
pub struct Disagreements {
    /// Responses that every method finds right.
    pub all_right: usize,
    /// Responses that no method finds right.
    pub all_wrong: usize,
    /// Responses that some find right and some do not.
    pub mixed: usize,
    /// Of two methods, the responses that one alone finds right: `only[a][b]` those of `a`.
    pub only: BTreeMap<&'static str, BTreeMap<&'static str, usize>>,
}

impl Disagreements {
    /// The disagreements on the responses to questions that a set of labels has.
    pub(crate) fn new(responses: &Responses, set: usize) -> Self {
        let mut found = Self::default();
        let known = |question: &&Question| question.references[set].is_some();
        let questions = responses.questions.iter().filter(known);
        for response in questions.flat_map(|question| &question.responses) {
            let readings = response.readings.each_ref();
            let right = readings.map(|reading| reading.right[set] == Some(true));
            let count = match right.iter().filter(|right| **right).count() {
                0 => &mut found.all_wrong,
                all if all == right.len() => &mut found.all_right,
                _ => &mut found.mixed,
            };
            *count += 1;
            for (a, a_right) in Method::ALL.into_iter().zip(right) {
                for (b, b_right) in Method::ALL.into_iter().zip(right) {
                    if a != b {
                        let row = found.only.entry(a.name()).or_default();
                        *row.entry(b.name()).or_default() += usize::from(a_right && !b_right);
                    }
                }
            }
        }
        found
    }
}
