//! How good a judge is, as one page that needs nothing else (`juror eval --html`).
//!
//! ```text
//! Evaluation, comparisons ─▶ tables, plots ────────────────────────────┐
//!                                                                      ├─▶ report.html
//! Verdicts ─▶ Disagreements ─▶ chosen ─▶ texts of these, read again ─▶ records ┘
//! ```
//!
//! The page shows at most so many records as fit its size; all figures are of all verdicts. The same files give the same page.

mod disagreements;
mod facets;
mod plots;
mod tables;
mod texts;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use minijinja::value::Serde;
use minijinja::{Value as Html, context};
use rayon::prelude::*;

use super::numbers::grouped;
use super::page::{STYLE, policy, render};
use super::record::{Answers, Article, Judgement, Tag};
use super::run;
use crate::eval::{
    Choices, Comparison, Evaluation, Flip, PrimeRow, Samples, Scored, Task, Verdicts,
};
use crate::{EvalError, Result};
use disagreements::{Disagreement, DisagreementKind, Disagreements};
use facets::{Facet, Facets};
use juror_data::ColumnMap;
use texts::{SampleTexts, VerdictTexts};

/// The most bytes of all records together.
const MAX_BYTES: usize = 15_000_000;

const MAX_RECORDS: usize = 4000;

const SCRIPT: &str = include_str!("../report.js");

impl From<minijinja::Error> for EvalError {
    /// The page's template does not fit its values: a fault of this program.
    fn from(error: minijinja::Error) -> Self {
        Self::Failed(format!("the report's template: {error:#}"))
    }
}

#[derive(Debug, Clone, Copy)]
pub struct JudgeResults<'r> {
    pub path: &'r Path,
    pub verdicts: &'r Verdicts,
    pub evaluation: &'r Evaluation,
    /// How it differs from the first judge, by task.
    pub comparisons: &'r [(Task, Comparison, Vec<Flip>)],
    /// Billions of parameters that work on a token, if they are known.
    pub active_parameters: Option<f64>,
    /// Verdicts per second of its run, if that is known.
    pub verdicts_per_second: Option<f64>,
}

impl JudgeResults<'_> {
    fn verdict(&self, sample: u32, trial: u32) -> Option<&Scored> {
        let scored = &self.verdicts.scored;
        let place = scored.binary_search_by_key(&(sample, trial), |one| (one.sample, one.trial));
        scored.get(place.ok()?)
    }
}

pub const BEGINNING: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
                             <meta name=\"generator\" content=\"juror ";

/// What a report is made of.
#[derive(Debug, Clone, Copy)]
pub struct Contents<'r> {
    /// The judges; the report is about the first one.
    pub judges: &'r [JudgeResults<'r>],
    pub samples: &'r Samples,
    /// The rows with the samples' texts; empty if these are in kept keys of the first judge's verdicts.
    pub inputs: &'r [PathBuf],
    /// Which keys of these rows hold what.
    pub columns: &'r ColumnMap,
    /// With several judges: what each costs, and loses against the best.
    pub choices: Option<&'r Choices>,
    /// Published figures beside the judges'.
    pub published: &'r [PrimeRow],
}

impl Contents<'_> {
    /// The name of the judge whose verdicts are in the file of this path.
    fn name<'n>(&self, names: &'n [String], path: &'n str) -> &'n str {
        let mut judges = self.judges.iter().zip(names);
        let known = judges.find(|(judge, _)| judge.evaluation.verdicts == path);
        known.map_or(path, |(_, name)| name)
    }
}

pub fn html(contents: &Contents<'_>) -> Result<String> {
    let Some(first) = contents.judges.first() else {
        return Ok(String::new());
    };
    let names = names(contents.judges);
    let found = Disagreements::new(contents.judges, contents.samples);
    let mut facets = Facets::new(contents, &names);
    let shown = Shown::new(contents, &names, &found, &mut facets)?;
    let kinds = DisagreementKind::ALL
        .into_iter()
        .filter(|kind| contents.judges.len() > 1 || *kind != DisagreementKind::JudgeAgainstJudge)
        .map(|kind| {
            let count = found.counts.get(&kind).copied().unwrap_or_default();
            context! {
                name => kind.name(), title => kind.title(), meaning => kind.meaning(),
                count => grouped(count), shown => facets.shown(kind.name()),
            }
        })
        .collect::<Html>();
    let mut facets = facets.all;
    facets.retain(|facet| facet.records > 0);
    let style = format!("{STYLE}{}", rules(&facets));
    // What is known of each judge's run.
    let runs = names.iter().zip(contents.judges);
    let runs = runs.map(|(name, judge)| {
        let file = Some(file_name(judge.path)).filter(|file| !name.contains(file));
        let words = file.into_iter().chain([run::words(judge.path)]);
        let words: Vec<String> = words.collect();
        Html::from_iter([name.clone(), words.join(" · ")])
    });
    debug_assert!(first.verdicts.scored.len() >= shown.count);
    let left_out = found.all.len() - shown.count;
    let page = context! {
        policy => policy(&[&style], &[SCRIPT]),
        version => env!("CARGO_PKG_VERSION"),
        plots => Html::from_iter(plots::draw(contents, &names)),
        names => names.iter().collect::<Html>(),
        runs => runs.collect::<Html>(),
        kinds,
        facets => Html::from(Serde(&facets)),
        disagreements => grouped(found.all.len()),
        left_out => if left_out > 0 { grouped(left_out) } else { String::new() },
        shown => grouped(shown.count),
        // The stylesheet and the script are parts of this program, and a rule is made from a name of our own.
        style => Html::from_safe_string(style),
        script => Html::from_safe_string(SCRIPT.to_owned()),
        records => Html::from_safe_string(shown.html),
        ..tables::draw(contents, &names, &facets)
    };
    Ok(render("report.html", page)?)
}

/// The CSS rules that show only records of one facet, if the page's address names it.
fn rules(facets: &[Facet]) -> String {
    let mut rules = String::new();
    for facet in facets {
        let name = &facet.name;
        // Writing to a string does not fail.
        let _ = writeln!(
            rules,
            "#only-{name}:target~.records>:not([data-in~=\"{name}\"]){{display:none}}"
        );
    }
    rules
}

/// The judges' names, each of one judge: as its journal has it, where that is not beside the verdicts the name of their file; where two are the
/// same, with the file, or with its path.
fn names(judges: &[JudgeResults<'_>]) -> Vec<String> {
    let with_file = |one: &JudgeResults<'_>, file: &str| {
        run::judge(one.path).map_or_else(|| file.to_owned(), |name| format!("{name} ({file})"))
    };
    let tries: [&dyn Fn(&JudgeResults<'_>) -> String; 2] = [
        &|one| run::judge(one.path).unwrap_or_else(|| file_name(one.path)),
        &|one| with_file(one, &file_name(one.path)),
    ];
    for name in tries {
        let all: Vec<String> = judges.iter().map(name).collect();
        if all.iter().collect::<BTreeSet<_>>().len() == all.len() {
            return all;
        }
    }
    let path = |one: &JudgeResults<'_>| with_file(one, &one.path.display().to_string());
    judges.iter().map(path).collect()
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// The records of a page.
pub struct Shown {
    html: String,
    count: usize,
}

impl Shown {
    fn new(
        contents: &Contents<'_>,
        names: &[String],
        found: &Disagreements,
        facets: &mut Facets,
    ) -> Result<Self> {
        let judges = contents.judges;
        let first = &judges[0];
        let chosen = found.chosen(first, contents.samples, MAX_RECORDS);
        let scored = |at: usize| &first.verdicts.scored[found.all[at].verdict];
        let wanted: Vec<&Scored> = chosen.iter().map(|at| scored(*at)).collect();
        let own = contents.inputs.is_empty();
        let verdict_texts = judges
            .iter()
            .enumerate()
            .map(|(at, judge)| {
                let of_judge = |one: &&Scored| judge.verdict(one.sample, one.trial);
                let of_judge: Vec<&Scored> = wanted.iter().filter_map(of_judge).collect();
                let columns = (own && at == 0).then_some(contents.columns);
                texts::of_verdicts(judge.path, &of_judge, columns)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let sample_texts = if own {
            HashMap::new()
        } else {
            let numbers: HashSet<u32> = wanted.iter().map(|one| one.sample).collect();
            texts::of_samples(
                contents.inputs,
                contents.columns,
                contents.samples,
                &numbers,
            )?
        };
        let source = Source {
            contents,
            names,
            verdict_texts: &verdict_texts,
            sample_texts: &sample_texts,
            trials: judges.iter().any(|judge| judge.verdicts.trials > 1),
        };
        // As many in that order as fit, then shown in the order of the verdicts.
        let mut taken: Vec<(usize, String)> = Vec::new();
        let mut bytes = 0;
        'all: for some in chosen.chunks(256) {
            let made: Vec<Result<(usize, String), minijinja::Error>> = some
                .par_iter()
                .map(|at| {
                    let record = source.record(&found.all[*at]);
                    Ok((*at, record.html()?))
                })
                .collect();
            for made in made {
                let (at, html) = made?;
                bytes += html.len();
                if bytes > MAX_BYTES {
                    break 'all;
                }
                taken.push((at, html));
            }
        }
        taken.sort_unstable_by_key(|(at, _)| *at);
        for (at, _) in &taken {
            facets.count(contents, &found.all[*at]);
        }
        Ok(Self {
            count: taken.len(),
            html: taken.into_iter().map(|(_, html)| html).collect(),
        })
    }
}

/// What records are made from.
struct Source<'s> {
    contents: &'s Contents<'s>,
    names: &'s [String],
    verdict_texts: &'s [HashMap<(u32, u32), VerdictTexts>],
    sample_texts: &'s HashMap<u32, SampleTexts>,
    trials: bool,
}

impl Source<'_> {
    fn record(&self, disagreement: &Disagreement) -> Article {
        let samples = self.contents.samples;
        let scored = &self.contents.judges[0].verdicts.scored[disagreement.verdict];
        let labelled = samples.labelled.get(scored.sample as usize);
        let key = (scored.sample, scored.trial);
        let own_texts = self.verdict_texts[0].get(&key);
        let own_texts = own_texts.and_then(|texts| texts.sample.as_ref());
        let texts = self.sample_texts.get(&scored.sample).or(own_texts);
        let texts = texts.cloned().unwrap_or_default();
        let judges = self.contents.judges.iter().zip(self.names);
        let judges = judges.zip(self.verdict_texts);
        let judgements = judges.filter_map(|((judge, name), texts)| {
            let one = judge.verdict(scored.sample, scored.trial)?;
            Some(judgement(name, one, texts.get(&key)))
        });
        let name = |names: &crate::eval::Names, number: Option<u32>| {
            number.map(|number| names.name(number).to_owned())
        };
        Article {
            anchor: format!("r{}", disagreement.verdict),
            id: samples.id(scored.sample).to_owned(),
            trial: self.trials.then_some(scored.trial),
            subject: name(&samples.subjects, labelled.and_then(|one| one.subject)),
            answer_type: name(
                &samples.answer_types,
                labelled.and_then(|one| one.answer_type),
            ),
            tags: disagreement
                .kinds
                .iter()
                .map(|kind| Tag {
                    name: kind.name(),
                    text: kind.title(),
                })
                .collect(),
            facets: Facets::of_record(self.contents, disagreement),
            question: texts.question,
            reference: texts.reference,
            response: texts.response,
            label: labelled.map(Answers::from),
            judgements: judgements.collect(),
            rules: scored.rules,
            brief: true,
            without_texts: "make the report with `--rows`, the rows that were judged, or judge with `--keep`",
            ..Article::default()
        }
    }
}

fn judgement(name: &str, scored: &Scored, texts: Option<&VerdictTexts>) -> Judgement {
    let texts = texts.cloned().unwrap_or_default();
    Judgement {
        place: texts.place,
        status: scored.status.words(),
        reward: texts.reward,
        reason: texts.reason,
        raw: texts.raw,
        error: texts.error,
        ..Judgement::new(name, scored)
    }
}
