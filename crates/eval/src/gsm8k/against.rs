//! A judge's outcomes against the extraction methods, and both against labels.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::method::Method;
use super::responses::{Response, Responses, SET_NAMES};
use crate::eval::{Confusion, LabelColumns, Labelled, McNemar, Samples, Share, Verdicts};
use crate::{EvalError, Result};
use juror_judge::judge::consensus::Votes;

/// A judge and the methods.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Against {
    /// The file of verdicts.
    pub verdicts: String,
    /// Responses that are scored and have verdicts: each counts once, with the outcome of most of its trials.
    pub compared: usize,
    /// Verdicts on them.
    pub trials: usize,
    /// Among the responses, those without an outcome: no trial has one, or as many trials say right as wrong.
    pub without_outcome: usize,
    /// Verdicts on other responses: they are left out.
    pub elsewhere: usize,
    /// Compared responses that have a label of their outcome.
    pub labelled: usize,
    /// The judge's share of right outcomes among those with a label; no outcome is wrong.
    pub judge_accuracy: Option<Share>,
    /// By method and test set.
    pub methods: BTreeMap<Method, BTreeMap<&'static str, AgainstMethod>>,
}

/// A judge and one method.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AgainstMethod {
    /// Responses that are compared by this set of labels.
    pub responses: usize,
    /// Responses of which both say the same; where the judge has no outcome it says nothing, and so differs.
    pub agreement: Share,
    /// Cohen's kappa of the two, among responses with an outcome.
    pub kappa: Option<f64>,
    /// Responses that the method finds wrong (first row) and right, and the judge wrong, right, or neither (columns).
    pub(crate) confusion: Confusion,
    /// Both against labels, where there are any.
    pub labels: Option<BothAgainstLabels>,
}

/// A judge and a method against labels. The four counts, and so the test, are without responses whose trials are tied.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct BothAgainstLabels {
    /// The method's share of right outcomes.
    pub method_accuracy: Share,
    /// Responses on which both meet the label.
    pub both: usize,
    /// On which the judge alone does.
    pub judge_only: usize,
    /// On which the method alone does.
    pub method_only: usize,
    /// On which neither does.
    pub neither: usize,
    /// Whether one of them is right more often than by chance: the judge first.
    pub mcnemar: McNemar,
}

/// A judge's outcome of a response, and its label.
pub struct Judged<'r> {
    response: &'r Response,
    set: [bool; SET_NAMES.len()],
    outcome: Option<bool>,
    is_tied: bool,
    label: Option<bool>,
}

impl Against {
    /// Compares the verdicts of `path`. `samples` are the rows of the responses, with their labels if they have some;
    /// `labels` are other rows with labels to use instead.
    /// Errors: when the verdicts cannot be read, or none is on a response that is scored.
    pub fn new(
        path: &Path,
        responses: &Responses,
        samples: &mut Samples,
        labels: Option<&Samples>,
        columns: &LabelColumns,
    ) -> Result<Self> {
        let verdicts = Verdicts::read(path, samples, false, columns)?;
        let mut places: HashMap<&str, (&Response, [bool; SET_NAMES.len()])> = HashMap::new();
        for question in &responses.questions {
            let set = question.references.each_ref().map(Option::is_some);
            for response in &question.responses {
                places.insert(&response.id, (response, set));
            }
        }
        let given: HashMap<u32, &Labelled> = labels.map_or(HashMap::new(), |labels| {
            let of = |(id, labelled)| Some((samples.place(id)?, labelled));
            let rows = labels.first_ids().zip(&labels.labelled);
            rows.filter_map(of).collect()
        });
        let mut compared_trials = 0;
        let mut judged: Vec<Judged> = Vec::new();
        // The trials of a response must be adjacent.
        let of_response = verdicts.scored.chunk_by(|a, b| a.sample == b.sample);
        judged.extend(of_response.filter_map(|trials| {
            let sample = trials.first()?.sample;
            let (response, set) = *places.get(samples.id(sample))?;
            let labelled = match labels {
                Some(_) => given.get(&sample).copied(),
                None => samples.labelled.get(sample as usize),
            };
            compared_trials += trials.len();
            let mut votes = Votes::default();
            for trial in trials {
                votes.add(trial.outcome);
            }
            Some(Judged {
                response,
                set,
                outcome: votes.majority(),
                is_tied: votes.is_tied(),
                label: labelled.and_then(|labelled| labelled.outcome),
            })
        }));
        let all = verdicts.scored.len() + verdicts.without_label;
        if judged.is_empty() {
            return Err(EvalError::Unusable(format!(
                "none of the {all} verdicts in {} is on a response that is scored here: they meet by id, so give the file that was \
                 judged, with the same `--columns`",
                path.display()
            )));
        }
        let labelled = judged
            .iter()
            .filter_map(|one| one.label.map(|label| (one, label)));
        let right = labelled
            .clone()
            .filter(|(one, label)| one.outcome == Some(*label));
        let mut methods: BTreeMap<Method, BTreeMap<&'static str, AgainstMethod>> = BTreeMap::new();
        for (at, method) in Method::ALL.into_iter().enumerate() {
            for (set, name) in SET_NAMES.into_iter().enumerate() {
                let compared = AgainstMethod::new(&judged, at, set);
                let sets = methods.entry(method).or_default();
                sets.extend(compared.map(|compared| (name, compared)));
            }
        }
        Ok(Self {
            verdicts: path.display().to_string(),
            compared: judged.len(),
            trials: compared_trials,
            without_outcome: judged.iter().filter(|one| one.outcome.is_none()).count(),
            elsewhere: all - compared_trials,
            labelled: labelled.clone().count(),
            judge_accuracy: Share::new(right.count(), labelled.count()),
            methods,
        })
    }
}

impl AgainstMethod {
    /// The comparison for the method at `method` in [`Method::ALL`] by a set of labels; `None` if that has none of the questions.
    fn new(judged: &[Judged], method: usize, set: usize) -> Option<Self> {
        let mut confusion = Confusion::default();
        // Indexed by whether judge (2 where its trials are tied) and method agree with the label.
        let mut counts = [[0_usize; 2]; 3];
        for one in judged.iter().filter(|one| one.set[set]) {
            let said = one.response.readings[method].right[set] == Some(true);
            confusion.add(said, one.outcome);
            if let Some(label) = one.label {
                let judge = [usize::from(one.outcome == Some(label)), 2][usize::from(one.is_tied)];
                counts[judge][usize::from(said == label)] += 1;
            }
        }
        let [[neither, method_only], [judge_only, both], tied] = counts;
        let accuracy = Share::new(both + method_only + tied[1], counts.iter().flatten().sum());
        Some(Self {
            responses: confusion.all(),
            agreement: Share::new(confusion.right(), confusion.all())?,
            kappa: confusion.kappa(),
            confusion,
            labels: accuracy.map(|method_accuracy| BothAgainstLabels {
                method_accuracy,
                both,
                judge_only,
                method_only,
                neither,
                mcnemar: McNemar::new(judge_only, method_only),
            }),
        })
    }
}
