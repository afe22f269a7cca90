//! Verdicts with their labels.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::labels::{FILTER, Label, LabelColumns, LettersSeen, and, is_missing};
use crate::{EvalError, Result};
use juror_data::verdict::Status;
use juror_data::{
    Keep, LoadOptions, Needs, OfRows, Places, Sample, TrialsSeen, VerdictLine, each, each_batch,
    id_hash,
};

#[derive(Debug, Clone, Default)]
pub struct Names {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Names {
    fn number(&mut self, name: String) -> u32 {
        if let Some(number) = self.numbers.get(&name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.clone());
        self.numbers.insert(name, number);
        number
    }

    pub fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", String::as_str)
    }

    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// All names, in the order of their numbers.
    pub fn all(&self) -> &[String] {
        &self.names
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Labelled {
    /// Whether the final answer is right.
    pub outcome: Option<bool>,
    /// Whether derivation and final answer are right.
    pub overall: Option<bool>,
    /// Whether the derivation is right.
    pub process: Option<bool>,
    pub subject: Option<u32>,
    pub(crate) answer_type: Option<u32>,
    /// The length of the response in characters; 0 if it was not read.
    pub(crate) response_length: u32,
    /// Whether it is one of the better responses of its group; only for rows that say so.
    pub(crate) preferred: Option<bool>,
    /// The number of its group, if `preferred` is known.
    pub(crate) group: Option<u32>,
    /// The first wrong step, from 0, and -1 for none.
    pub(crate) first_error: Option<i64>,
}

impl Labelled {
    /// Whether it has a label that a verdict can be compared with.
    pub(crate) fn has_any(&self) -> bool {
        self.outcome.is_some() || self.overall.is_some() || self.process.is_some()
    }
}

/// Labelled samples, found by their ids.
#[derive(Debug, Default)]
pub struct Samples {
    pub(crate) places: Places,
    ids: Vec<Box<str>>,
    /// The samples, in the order of the data.
    pub labelled: Vec<Labelled>,
    pub subjects: Names,
    pub answer_types: Names,
    /// Groups of better and worse responses by number: the ids of their rows.
    pub(crate) groups: Names,
    /// The letters that labels are, by field, and which fields of which labels are `C`.
    letters: [LettersSeen; 3],
    open: HashMap<u32, [bool; 3]>,
    /// The filter whose rows have the labels, where other rows of lm-eval repeat them with others.
    pub filter: Option<String>,
}

impl Samples {
    pub(crate) fn add_sample(&mut self, sample: &Sample, mut label: Label) {
        // Being a better response also labels it as right, unless the row has a label of its own.
        if label.is_empty() {
            label.overall = sample.preferred;
        }
        let place = self.labelled.len() as u32;
        self.add_of_group(&sample.id, sample.group.as_deref(), &sample.student_answer);
        self.set_label(place, label);
        if let (Some(preferred), Some(group)) = (sample.preferred, &sample.group) {
            let group = self.groups.number(group.clone());
            if let Some(labelled) = self.labelled.get_mut(place as usize) {
                labelled.preferred = Some(preferred);
                labelled.group = Some(group);
            }
        }
    }

    /// Adds a sample; returns its index.
    pub(crate) fn add(&mut self, id: &str, label: Label) -> u32 {
        let place = self.labelled.len() as u32;
        self.add_of_group(id, None, "");
        self.set_label(place, label);
        place
    }

    fn add_of_group(&mut self, id: &str, group: Option<&str>, response: &str) {
        self.places.add(id, group, self.labelled.len() as u32);
        self.ids.push(id.into());
        self.labelled.push(Labelled {
            response_length: response.chars().count() as u32,
            ..Labelled::default()
        });
    }

    pub(crate) fn place(&self, id: &str) -> Option<u32> {
        self.places.get(id)
    }

    pub(crate) fn set_label(&mut self, place: u32, label: Label) {
        for (all, seen) in self.letters.iter_mut().zip(label.seen) {
            all.add(seen);
        }
        if label.is_open() {
            self.open.insert(place, label.seen.map(|seen| seen.open));
        } else {
            self.open.remove(&place);
        }
        let subject = label.subject.map(|name| self.subjects.number(name));
        let answer_type = label.answer_type;
        let answer_type = answer_type.map(|name| self.answer_types.number(name));
        if let Some(labelled) = self.labelled.get_mut(place as usize) {
            labelled.outcome = label.outcome;
            labelled.overall = label.overall;
            labelled.process = label.process;
            labelled.first_error = label.first_error;
            labelled.subject = subject.or(labelled.subject);
            labelled.answer_type = answer_type.or(labelled.answer_type);
        }
    }

    /// Reads the labels whose letters are those of two sets, by the letters of all others.
    /// Errors: where that does not tell which of the two they are.
    pub(crate) fn settle(&mut self, columns: &LabelColumns) -> Result<()> {
        let meaning = columns.meaning(&self.letters);
        let [outcome, overall, process] = meaning.map_err(EvalError::Unusable)?;
        for (place, open) in self.open.drain() {
            let Some(labelled) = self.labelled.get_mut(place as usize) else {
                continue;
            };
            let fields = [
                (&mut labelled.outcome, outcome),
                (&mut labelled.overall, overall),
                (&mut labelled.process, process),
            ];
            for ((field, meaning), open) in fields.into_iter().zip(open) {
                if open {
                    *field = meaning;
                }
            }
            if labelled.overall.is_none() {
                labelled.overall = and(labelled.process, labelled.outcome);
            }
        }
        Ok(())
    }

    /// Leaves out the labels that cannot be settled, so that they say nothing of those that follow.
    pub(crate) fn forget_letters(&mut self) {
        self.letters = <[LettersSeen; 3]>::default();
        self.open.clear();
    }

    pub fn id(&self, place: u32) -> &str {
        self.ids.get(place as usize).map_or("", |id| id)
    }

    /// Reads labels from data.
    /// Errors: when a row or its label cannot be read, or no row has a label.
    pub fn of_data(
        inputs: &[PathBuf],
        options: LoadOptions,
        columns: &LabelColumns,
    ) -> Result<Self> {
        let mut samples = Self::default();
        let mut wrong = None;
        let mut missing: Vec<&String> = columns.named().collect();
        let options = LoadOptions {
            keep: columns.keep(),
            columns: options.columns.with_needs(Needs::nothing()),
            ..options
        };
        let mut filter = None;
        let read = each(inputs, &options, &mut |sample, place| {
            let first = || sample.kept.get(FILTER)?.as_str().map(str::to_owned);
            filter = filter.take().or_else(first);
            missing.retain(|key| !sample.kept.contains_key(*key));
            match columns.read_of(&sample.kept, place) {
                Ok(label) => samples.add_sample(sample, label),
                Err(why) => {
                    wrong.get_or_insert_with(|| format!("sample {:?}: {why}", sample.id));
                }
            }
        })?;
        if let Some(why) = wrong {
            return Err(EvalError::Unusable(no_label(&why)));
        }
        if let (Some(key), 1..) = (missing.first(), samples.count()) {
            let why = format!("no row has `{key}`, which --label-columns names");
            return Err(EvalError::Unusable(why));
        }
        samples.filter = filter.filter(|_| read.columns.repeated > 0);
        samples.settle(columns)?;
        Ok(samples)
    }

    /// The keys of the first row of data, for a message that no row has a label.
    pub fn keys_of(inputs: &[PathBuf], options: LoadOptions) -> Result<Vec<String>> {
        let options = LoadOptions {
            keep: Keep::parse(["all"]),
            columns: options.columns.with_needs(Needs::nothing()),
            limit: Some(1),
            ..options
        };
        let mut keys = Vec::new();
        each(inputs, &options, &mut |sample, _| {
            keys = shown_keys(&sample.kept);
        })?;
        Ok(keys)
    }

    pub fn first_ids(&self) -> impl Iterator<Item = &str> {
        self.ids.iter().map(|id| &**id)
    }

    pub fn labelled_ids(&self) -> impl Iterator<Item = &str> {
        let all = self.first_ids().zip(&self.labelled);
        all.filter_map(|(id, one)| one.has_any().then_some(id))
    }

    /// Whether a row says which of several responses are better.
    pub fn has_preferences(&self) -> bool {
        self.labelled.iter().any(|one| one.preferred.is_some())
    }

    /// The number of samples with a label that a verdict can be compared with.
    pub fn count(&self) -> usize {
        self.labelled.iter().filter(|one| one.has_any()).count()
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Scored {
    /// The sample's index in [`Samples::labelled`].
    pub sample: u32,
    pub trial: u32,
    /// The verdict's line, from 1.
    pub line: u32,
    /// The state the trial ended in.
    pub status: Status,
    /// Whether the derivation is right. `None` unless the status is `ok`, as for the next two.
    pub process: Option<bool>,
    /// Whether the final answer is right.
    pub outcome: Option<bool>,
    pub overall: Option<bool>,
    /// The rules' result for the final answer.
    pub rules: Option<bool>,
    /// Whether `outcome` is the rules', because the judge gave none or was not asked.
    pub(crate) outcome_by_rules: bool,
    /// The judge's probability of a right derivation.
    pub(crate) process_probability: Option<f64>,
    /// The judge's probability of a right final answer.
    pub(crate) outcome_probability: Option<f64>,
    pub generated: u32,
    /// The first step found wrong, -1 for none; `None` without a verdict, or if it does not name one.
    pub(crate) named_step: Option<i64>,
}

#[derive(Debug, Default)]
pub struct Verdicts {
    /// The verdicts whose samples have labels, in the file's order.
    pub scored: Vec<Scored>,
    /// Verdicts whose samples are not among the labelled ones.
    pub without_label: usize,
    /// The ids of the first of these.
    pub strangers: Vec<String>,
    /// A sample whose row has a label by the row's id, and several samples: it is unknown whose label that is.
    pub of_several: Option<String>,
    /// The keys that the first verdict keeps of its row, where labels were looked for in the verdicts.
    pub kept_keys: Vec<String>,
    /// Labelled samples without a verdict.
    pub(crate) without_verdict: usize,
    /// Where these follow all that have one, how many have one.
    pub(crate) first_judged: Option<usize>,
    pub(crate) trials: u32,
    /// If responses are labelled as better or worse than others: the sample and reward of each trial (without a reward 1 or
    /// 0, by the overall verdict), and for rankings each response's score; `None` if there is no readable one.
    pub scores: Vec<(u32, Option<f64>)>,
}

impl Verdicts {
    /// Reads the verdicts of `path`, and the labels in them (`juror judge --keep`) if `samples` is empty and `in_verdicts` is true.
    /// Errors: when the file cannot be read, holds something else, has a verdict twice, or none of its samples has a label.
    pub fn read(
        path: &Path,
        samples: &mut Samples,
        in_verdicts: bool,
        columns: &LabelColumns,
    ) -> Result<Self> {
        let mut verdicts = Self::default();
        let has_groups = !samples.groups.all().is_empty();
        let mut seen = TrialsSeen::new(samples.labelled.len());
        let mut of_rows = OfRows::default();
        let (mut lists, mut has_advantages) = (HashMap::<String, KeptRow>::new(), false);
        let name = path.display().to_string();
        let wrong = |place: usize, why: &str| EvalError::row(&name, place, why);
        each_batch(path, wrong, |rows| {
            let columns = in_verdicts.then_some(columns);
            let read = rows.par_iter().map(|(_, row)| read_line(row, columns));
            let read: Vec<Result<Read, String>> = read.collect();
            if let (true, Some((_, row))) =
                (in_verdicts && verdicts.kept_keys.is_empty(), rows.first())
            {
                verdicts.kept_keys = kept_keys(row);
            }
            for ((place, _), read) in rows.iter().zip(read) {
                let (line, label) = match read.map_err(|why| wrong(*place, &why))? {
                    Read::Verdict(line, label) => (*line, label),
                    Read::Ranking(ranking) => {
                        verdicts
                            .add_ranking(ranking, samples, &mut seen)
                            .map_err(|why| wrong(*place, &why))?;
                        continue;
                    }
                };
                let overall = line.overall().map(|right| f64::from(u8::from(right)));
                let reward = line.reward.filter(|_| line.status == Status::Ok);
                let score = reward.or(overall);
                let scored = |sample| (scored(&line, sample, *place as u32), score);
                let sample = match (samples.place(&line.id), label) {
                    (Some(sample), _) => sample,
                    (None, Some(label)) => {
                        seen.push();
                        let sample = samples.add(&line.id, label);
                        has_advantages |= line.has_advantage;
                        if let Some(group) = &line.group {
                            let kept = line.input.map_or("", RawValue::get);
                            let list = lists.entry(group.to_string()).or_default();
                            list.kept.insert(id_hash(kept));
                            list.samples.push(sample);
                        }
                        sample
                    }
                    (None, None) => {
                        if !of_rows.keep(&line, &samples.places, scored) {
                            verdicts.add_strangers(&line.id, 1);
                        }
                        continue;
                    }
                };
                let added = verdicts.add(scored(sample), has_groups, &mut seen);
                added.map_err(|why| {
                    wrong(*place, &format!("{why} of {:?} is there twice", line.id))
                })?;
            }
            Ok(())
        })?;
        for (group, KeptRow { kept, samples: all }) in lists {
            // Responses are numbered from 0, the epochs of a sample from 1; with --advantages rows of one question are a group, too: in a table that is
            // not seen where they are null, but rows with a list and without ids have hashes for ids.
            let is_hash = |one: &u32| {
                let id = samples.id(*one).as_bytes().get(..16);
                id.is_some_and(|id| id.iter().all(u8::is_ascii_hexdigit))
            };
            let is_numbered = |number: &str| {
                let begins = format!("{group}:{number}");
                all.iter().any(|one| samples.id(*one).starts_with(&begins))
            };
            let is_list =
                is_numbered("0") || !is_numbered("") && !has_advantages && all.iter().all(is_hash);
            // The one label is not known to be of this or that response.
            if is_list && all.len() > 1 && kept.len() == 1 {
                for one in all {
                    samples.set_label(one, Label::default());
                }
            }
        }
        let (only, others) = of_rows.settled();
        for scored in only {
            let (place, id) = (scored.0.line as usize, samples.id(scored.0.sample));
            let added = verdicts.add(scored, has_groups, &mut seen);
            added.map_err(|why| wrong(place, &format!("{why} of {id:?} is there twice")))?;
        }
        verdicts.of_several = others.first().map(|(id, _)| id.clone());
        for (id, count) in others {
            verdicts.add_strangers(&id, count);
        }
        samples.settle(columns)?;
        // The trials of a sample must be adjacent, in whatever order the file has them.
        let scored = &mut verdicts.scored;
        scored.sort_by_key(|one| (one.sample, one.trial));
        let places = 0..samples.labelled.len();
        let (judged, unjudged): (Vec<usize>, Vec<usize>) = places
            .filter(|&place| samples.labelled[place].has_any())
            .partition(|&place| seen.has_any(place));
        verdicts.without_verdict = unjudged.len();
        verdicts.first_judged = (judged.last() < unjudged.first()).then_some(judged.len());
        let is_empty = verdicts.scored.is_empty() && verdicts.scores.is_empty();
        if is_empty && verdicts.without_label == 0 {
            return Err(EvalError::Unusable(format!("{name} holds no verdicts")));
        }
        Ok(verdicts)
    }

    /// Leaves out verdicts on rows that have no label of their own, beside others that have one.
    pub fn keep_labelled(&mut self, samples: &Samples) {
        for one in std::mem::take(&mut self.scored) {
            if samples.labelled[one.sample as usize].has_any() {
                self.scored.push(one);
            } else {
                self.add_strangers(samples.id(one.sample), 1);
            }
        }
    }

    /// Adds the scores of a line of `juror judge --rank`.
    fn add_ranking(
        &mut self,
        ranking: Ranking,
        samples: &Samples,
        seen: &mut TrialsSeen,
    ) -> Result<(), String> {
        for response in ranking.responses {
            match samples.place(&response.id) {
                Some(sample) if seen.add(sample, 0) => {
                    self.trials = self.trials.max(1);
                    self.scores.push((sample, response.score));
                }
                Some(_) => return Err(format!("{:?} is there twice", response.id)),
                None => self.add_strangers(&response.id, 1),
            }
        }
        Ok(())
    }

    /// Adds a verdict, and where responses are compared its score; the trial's name if it was there before.
    fn add(
        &mut self,
        (scored, score): (Scored, Option<f64>),
        has_groups: bool,
        seen: &mut TrialsSeen,
    ) -> Result<(), String> {
        if !seen.add(scored.sample, scored.trial) {
            return Err(format!("trial {}", scored.trial));
        }
        self.trials = self.trials.max(scored.trial.saturating_add(1));
        if has_groups {
            self.scores.push((scored.sample, score));
        }
        self.scored.push(scored);
        Ok(())
    }

    /// Counts verdicts on a sample without a label.
    fn add_strangers(&mut self, id: &str, count: usize) {
        self.without_label += count;
        if self.strangers.len() < IDS_TOLD {
            self.strangers.push(id.to_owned());
        }
    }
}

/// Samples that may be responses in one row's list, and hashes of what their verdicts keep of it.
#[derive(Default)]
struct KeptRow {
    kept: HashSet<u64>,
    samples: Vec<u32>,
}

/// How many ids of verdicts and of rows a message names when none match.
pub(crate) const IDS_TOLD: usize = 2;

/// Some ids of verdicts and of rows, for a message that none match.
pub fn both_sides<'i>(
    verdicts: impl IntoIterator<Item = &'i str>,
    rows: impl IntoIterator<Item = &'i str>,
) -> String {
    let (verdicts, rows) = (first(verdicts), first(rows));
    format!("ids of verdicts: {verdicts}; of rows: {rows}")
}

fn first<'i>(ids: impl IntoIterator<Item = &'i str>) -> String {
    let shown = |id: &str| {
        let start: String = id.chars().take(40).collect();
        let more = if start.len() < id.len() { "…" } else { "" };
        format!("`{start}{more}`")
    };
    let ids: Vec<String> = ids.into_iter().take(IDS_TOLD).map(shown).collect();
    if ids.is_empty() {
        "none".to_owned()
    } else {
        ids.join(", ")
    }
}

/// A line of `juror judge --rank`.
#[derive(Debug, Deserialize)]
struct Ranking {
    responses: Vec<RankedResponse>,
}

#[derive(Debug, Deserialize)]
struct RankedResponse {
    id: String,
    score: Option<f64>,
}

enum Read<'l> {
    /// A verdict, and the label in its kept keys if it is to have one.
    Verdict(Box<VerdictLine<'l>>, Option<Label>),
    /// The responses to one question, compared with each other.
    Ranking(Ranking),
}

fn read_line<'l>(row: &'l [u8], labels: Option<&LabelColumns>) -> Result<Read<'l>, String> {
    match labelled_line(row, labels) {
        Ok((line, label)) => Ok(Read::Verdict(Box::new(line), label)),
        Err(why) => serde_json::from_slice(row)
            .map(Read::Ranking)
            .map_err(|_| why),
    }
}

/// Why a label cannot be read, and what helps.
pub(crate) fn no_label(why: &str) -> String {
    format!(
        "{why}; name the key of each field with `--label-columns FIELD=KEY`, or none (`--label-columns FIELD=`)"
    )
}

/// Parses a verdict's line, and the label in its kept keys if it is to have one.
pub(crate) fn labelled_line<'l>(
    row: &'l [u8],
    labels: Option<&LabelColumns>,
) -> Result<(VerdictLine<'l>, Option<Label>), String> {
    let line = VerdictLine::parse(row)?;
    let Some(columns) = labels else {
        return Ok((line, None));
    };
    let label = columns.read(&kept(&line)?);
    let label = label.map_err(|why| no_label(&why))?;
    Ok((line, Some(label)))
}

fn kept(line: &VerdictLine) -> Result<Map<String, Value>, String> {
    line.input.map_or_else(
        || Ok(Map::new()),
        |input| serde_json::from_str(input.get()).map_err(|error| format!("`input`: {error}")),
    )
}

fn kept_keys(row: &[u8]) -> Vec<String> {
    let kept = VerdictLine::parse(row).and_then(|line| kept(&line));
    kept.map_or(Vec::new(), |kept| shown_keys(&kept))
}

/// The keys of a row for a message, with those that say nothing marked.
fn shown_keys(row: &Map<String, Value>) -> Vec<String> {
    let marked = |(key, value)| format!("{key}{}", if is_missing(value) { " (empty)" } else { "" });
    row.iter().map(marked).collect()
}

/// The scored parts of a line, for the labelled sample at an index.
pub(crate) fn scored(line: &VerdictLine, sample: u32, place: u32) -> Scored {
    let confidence = line.confidence();
    Scored {
        sample,
        trial: line.trial,
        line: place,
        status: line.status,
        process: line.process(),
        outcome: line.outcome(),
        overall: line.overall(),
        rules: line.rule_outcome,
        outcome_by_rules: line.outcome_source.as_deref() == Some("rules"),
        process_probability: confidence.process,
        outcome_probability: confidence.outcome,
        generated: line.generated(),
        named_step: line.named_step(),
    }
}
