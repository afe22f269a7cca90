//! The facets by which a report's records can be filtered: kinds, cells of matrices, parts, flips.

use serde::Serialize;

use super::Contents;
use super::disagreements::{Disagreement, DisagreementKind, flips};
use crate::eval::Task;
use crate::report::numbers::grouped;

/// The most subjects and types of answers that records can be filtered by.
const MAX_FACETS: usize = 100;

/// Records with something in common, by which the page can be filtered.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Facet {
    /// Its name in the page's markup, made of our own words and numbers.
    pub(super) name: String,
    /// What the records have in common.
    pub(super) title: String,
    pub(super) group: &'static str,
    /// How many records of the page have it.
    pub(super) records: usize,
}

#[derive(Debug, Default)]
pub(super) struct Facets {
    pub(super) all: Vec<Facet>,
}

impl Facets {
    pub(super) fn new(contents: &Contents<'_>, names: &[String]) -> Self {
        let mut facets = Self::default();
        let judge = &names[0];
        for kind in DisagreementKind::ALL {
            facets.add(kind.name().to_owned(), kind.title(), "disagreement");
        }
        for task in Task::ALL {
            for (label, said) in WRONG {
                let title = format!(
                    "{} labelled {label}, {} from {judge}",
                    task.name(),
                    said.map_or("nothing", |said| if said { "true" } else { "false" })
                );
                facets.add(cell_name(task, label, said), title, "label against verdict");
            }
        }
        for (at, name) in names.iter().enumerate().skip(1) {
            for task in Task::ALL {
                for (is_mended, what) in [(true, "mended"), (false, "broken")] {
                    let title = format!("{} {what} by {name}", task.name());
                    facets.add(flip_name(at, task, is_mended), title, "flips");
                }
            }
        }
        let samples = contents.samples;
        for (prefix, group, all) in [
            ("subject", "subject", samples.subjects.all()),
            ("type", "answer type", samples.answer_types.all()),
        ] {
            for (number, name) in all.iter().enumerate().take(MAX_FACETS) {
                facets.add(format!("{prefix}-{number}"), name.clone(), group);
            }
        }
        for (at, part) in lengths(contents).enumerate() {
            facets.add(format!("length-{at}"), part, "response length");
        }
        facets
    }

    fn add(&mut self, name: String, title: String, group: &'static str) {
        self.all.push(Facet {
            name,
            title,
            group,
            records: 0,
        });
    }

    pub(super) fn of_record(contents: &Contents<'_>, disagreement: &Disagreement) -> Vec<String> {
        let first = &contents.judges[0];
        let scored = &first.verdicts.scored[disagreement.verdict];
        let kinds = disagreement.kinds.iter();
        let mut names: Vec<String> = kinds.map(|kind| kind.name().to_owned()).collect();
        let Some(labelled) = contents.samples.labelled.get(scored.sample as usize) else {
            return names;
        };
        for task in Task::ALL {
            let said = task.prediction(scored);
            if let Some(label) = task.label(labelled).filter(|label| said != Some(*label)) {
                names.push(cell_name(task, label, said));
            }
        }
        for (at, other) in contents.judges.iter().enumerate().skip(1) {
            let other = other.verdict(scored.sample, scored.trial).into_iter();
            let flips = other.flat_map(|other| flips(scored, other, labelled));
            names.extend(flips.map(|(task, is_mended)| flip_name(at, task, is_mended)));
        }
        names.extend(labelled.subject.map(|number| format!("subject-{number}")));
        names.extend(labelled.answer_type.map(|number| format!("type-{number}")));
        let length = labelled.response_length;
        let mut parts = first.evaluation.by_response_length.iter();
        let of_length = parts.position(|part| (part.from..=part.to).contains(&length));
        names.extend(of_length.map(|at| format!("length-{at}")));
        names
    }

    /// Adds a record of the page to its facets.
    pub(super) fn count(&mut self, contents: &Contents<'_>, disagreement: &Disagreement) {
        for name in Self::of_record(contents, disagreement) {
            if let Some(facet) = self.all.iter_mut().find(|facet| facet.name == name) {
                facet.records += 1;
            }
        }
    }

    /// How many records of the page have a facet.
    pub(super) fn shown(&self, name: &str) -> usize {
        let facet = self.all.iter().find(|facet| facet.name == name);
        facet.map_or(0, |facet| facet.records)
    }
}

/// Pairs of label and prediction that differ.
const WRONG: [(bool, Option<bool>); 4] = [
    (false, Some(true)),
    (false, None),
    (true, Some(false)),
    (true, None),
];

pub(super) fn cell_name(task: Task, label: bool, said: Option<bool>) -> String {
    let said = said.map_or("none", |said| if said { "true" } else { "false" });
    format!("{}-{label}-{said}", task.name())
}

pub(super) fn flip_name(judge: usize, task: Task, is_mended: bool) -> String {
    let what = if is_mended { "mended" } else { "broken" };
    format!("{what}-{}-{judge}", task.name())
}

pub(super) fn lengths(contents: &Contents<'_>) -> impl Iterator<Item = String> {
    let parts = contents.judges[0].evaluation.by_response_length.iter();
    parts.map(|part| {
        let ends = [part.from, part.to].map(|end| grouped(end as usize));
        format!("{} characters", ends.join("–"))
    })
}
