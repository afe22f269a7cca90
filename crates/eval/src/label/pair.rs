//! The labels of two people: how far they agree, and one set of both.

use std::collections::{BTreeMap, HashMap};

use super::LabelLine;
use crate::eval::{Confusion, RESAMPLES, Scores, Task};

/// A sample that two people label differently, or that only one labelled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub id: String,
    /// The label of each; `None` if there is none.
    pub said: [Option<LabelLine>; 2],
}

/// The labels of two people on the same samples.
#[derive(Debug)]
pub struct LabelPair {
    pub annotators: [String; 2],
    /// The labels on which both agree, in the order of the first person's, as lines by both.
    pub agreed: Vec<LabelLine>,
    /// Samples that both labelled, but differently.
    pub differing: Vec<Difference>,
    /// Samples that only one labelled.
    pub of_one: Vec<Difference>,
    /// Agreement on the samples that both labelled: the first person's labels against the second's. The accuracy is the share of equal labels.
    pub tasks: BTreeMap<Task, Scores>,
}

impl LabelPair {
    /// Compares the labels of two files.
    pub fn new(first: &[LabelLine], second: &[LabelLine]) -> Self {
        let name = |labels: &[LabelLine]| {
            labels
                .first()
                .map_or(String::new(), |label| label.annotator.clone())
        };
        let annotators = [name(first), name(second)];
        let by_id = second.iter().map(|label| (label.id.as_str(), label));
        let by_id: HashMap<&str, &LabelLine> = by_id.collect();
        let ids: std::collections::HashSet<&str> =
            first.iter().map(|label| label.id.as_str()).collect();
        let both = annotators.join("+");
        let (mut agreed, mut differing, mut of_one) = (Vec::new(), Vec::new(), Vec::new());
        let mut confusions: BTreeMap<Task, Confusion> = BTreeMap::new();
        for label in first {
            let other = by_id.get(label.id.as_str()).copied();
            let difference = || Difference {
                id: label.id.clone(),
                said: [Some(label.clone()), other.cloned()],
            };
            let Some(other) = other else {
                of_one.push(difference());
                continue;
            };
            for (task, of) in FIELDS {
                if let (Some(first), second @ Some(_)) = (of(label), of(other)) {
                    confusions.entry(task).or_default().add(first, second);
                }
            }
            if label.says() != other.says() {
                differing.push(difference());
                continue;
            }
            let notes = [&label.note, &other.note].into_iter().flatten();
            let notes: Vec<&str> = notes.map(String::as_str).collect();
            agreed.push(LabelLine {
                annotator: both.clone(),
                time: label.time.clone().max(other.time.clone()),
                note: (!notes.is_empty()).then(|| notes.join(" / ")),
                ..label.clone()
            });
        }
        let only_second = second
            .iter()
            .filter(|label| !ids.contains(label.id.as_str()));
        of_one.extend(only_second.map(|label| Difference {
            id: label.id.clone(),
            said: [None, Some(label.clone())],
        }));
        let scores = |all: Confusion| {
            let cells = [(false, false), (false, true), (true, false), (true, true)];
            let units = cells.map(|(first, second)| {
                let mut confusion = Confusion::default();
                confusion.add(first, Some(second));
                (
                    confusion,
                    all.counts[usize::from(first)][usize::from(second)],
                )
            });
            let units: Vec<_> = units.into_iter().filter(|(_, count)| *count > 0).collect();
            Scores::new(&units, RESAMPLES)
        };
        Self {
            annotators,
            agreed,
            differing,
            of_one,
            tasks: confusions
                .into_iter()
                .filter_map(|(task, all)| Some((task, scores(all)?)))
                .collect(),
        }
    }

    pub fn both(&self) -> usize {
        self.agreed.len() + self.differing.len()
    }

    /// The ids of the samples that a third person is to label.
    pub fn open(&self) -> Vec<String> {
        let open = self.differing.iter().chain(&self.of_one);
        open.map(|difference| difference.id.clone()).collect()
    }
}

type OfLabel = fn(&LabelLine) -> Option<bool>;

const FIELDS: [(Task, OfLabel); 3] = [
    (Task::Overall, |label| label.overall),
    (Task::Outcome, |label| label.outcome),
    (Task::Process, |label| label.process),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::Said;

    fn label(id: usize, annotator: &str, key: char) -> LabelLine {
        LabelLine::new(
            &format!("r{id}"),
            annotator,
            Said::of_key(key).unwrap(),
            None,
        )
    }

    /// By hand: overall 20 times both true, 5 times only the first, 10 only the second, 15 neither: agreement 35/50, by chance
    /// (25·30 + 25·20)/2500 = 0.5, kappa (0.7 − 0.5)/0.5 = 0.4.
    #[test]
    fn kappa_is_that_of_the_textbook() {
        let cells = [
            ('t', 't', 20),
            ('t', 'f', 5),
            ('f', 't', 10),
            ('f', 'f', 15),
        ];
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for (one, other, count) in cells {
            for _ in 0..count {
                let id = first.len();
                first.push(label(id, "ada", one));
                second.push(label(id, "ben", other));
            }
        }
        second.reverse();
        let pair = LabelPair::new(&first, &second);
        let overall = &pair.tasks[&Task::Overall];
        assert_eq!((overall.accuracy.count, overall.accuracy.all), (35, 50));
        let kappa = overall.kappa.unwrap();
        assert!((kappa.value - 0.4).abs() < 1e-12, "{kappa:?}");
        let [low, high] = kappa.interval.unwrap();
        // The standard error by the usual formula is 0.13.
        assert!(
            (low - 0.145).abs() < 0.04 && (high - 0.655).abs() < 0.04,
            "{low} {high}"
        );
        assert_eq!(
            (pair.agreed.len(), pair.differing.len(), pair.both()),
            (35, 15, 50)
        );
        assert_eq!(pair.agreed[0].annotator, "ada+ben");
    }

    #[test]
    fn what_one_alone_labelled_is_left_to_a_third() {
        let first = [
            label(1, "ada", 't'),
            label(2, "ada", 'p'),
            label(3, "ada", 'f'),
        ];
        let second = [
            label(4, "ben", 't'),
            label(2, "ben", 't'),
            label(1, "ben", 't'),
        ];
        let pair = LabelPair::new(&first, &second);
        assert_eq!(pair.open(), ["r2", "r3", "r4"]);
        assert_eq!(
            pair.agreed
                .iter()
                .map(|label| label.id.as_str())
                .collect::<Vec<_>>(),
            ["r1"]
        );
        // For r2 both say that the answer is right.
        assert_eq!(pair.tasks[&Task::Outcome].accuracy.count, 2);
        assert_eq!(pair.tasks[&Task::Overall].accuracy.count, 1);
    }
}
