//! The tables of a report, in the form that its template takes.

use std::collections::BTreeMap;

use minijinja::Value as Html;
use serde::Serialize;

use super::facets::{Facet, cell_name, flip_name, lengths};
use super::{Contents, JudgeResults};
use crate::eval::{Baseline, CostUnit, Estimate, Interval, Measures, Samples, Scores, Share, Task};
use crate::report::numbers::{
    DASH, area, grouped, no_better, p_value, percent, percent_or_dash, points, range, threshold,
};
use crate::report::plot::bar;
use juror_data::verdict::Status;

/// A figure with its interval.
#[derive(Debug, Clone, Default, Serialize)]
struct Cell {
    value: String,
    range: String,
}

impl Cell {
    fn new(value: Option<f64>, interval: Option<Interval>) -> Self {
        Self {
            value: percent_or_dash(value),
            range: value.and(interval).map_or_else(String::new, range),
        }
    }

    fn share(share: Option<Share>) -> Self {
        Self::new(
            share.map(|share| share.share),
            share.map(|share| share.interval),
        )
    }

    fn estimate(estimate: Option<Estimate>) -> Self {
        Self::new(
            estimate.map(|estimate| estimate.value),
            estimate.and_then(|estimate| estimate.interval),
        )
    }
}

/// One of the main figures.
#[derive(Debug, Clone, Serialize)]
struct Figure {
    name: String,
    value: String,
    unit: &'static str,
    detail: String,
}

/// A row of the table of scores.
#[derive(Debug, Clone, Serialize)]
struct ScoreRow {
    name: String,
    class: &'static str,
    labels: String,
    bar: Html,
    /// What the bar shows: a share with its interval.
    #[serde(skip)]
    drawn: (f64, Option<Interval>),
    accuracy: Cell,
    answered: String,
    f1: Cell,
    precision: String,
    recall: String,
    kappa: String,
}

impl ScoreRow {
    fn of(name: String, class: &'static str, scores: &Scores) -> Self {
        Self {
            name,
            class,
            labels: grouped(scores.confusion.all()),
            bar: Html::default(),
            drawn: (scores.accuracy.share, Some(scores.accuracy.interval)),
            accuracy: Cell::share(Some(scores.accuracy)),
            answered: percent_or_dash(scores.selective_accuracy.map(|share| share.share)),
            f1: Cell::estimate(scores.f1),
            precision: percent_or_dash(scores.precision.map(|share| share.share)),
            recall: percent_or_dash(scores.recall.map(|share| share.share)),
            kappa: scores
                .kappa
                .map_or_else(|| DASH.to_owned(), |kappa| format!("{:.2}", kappa.value)),
        }
    }

    /// A row with only accuracy and F1.
    fn short(name: &str, value: f64, interval: Option<Interval>, f1: Cell) -> Self {
        Self {
            name: name.to_owned(),
            class: "aside",
            labels: String::new(),
            bar: Html::default(),
            drawn: (value, interval),
            accuracy: Cell::new(Some(value), interval),
            answered: String::new(),
            f1,
            precision: String::new(),
            recall: String::new(),
            kappa: String::new(),
        }
    }
}

/// Draws the bars of a table from the lowest to the highest end of an interval, in whole steps of 5 %; gives these two in words.
fn draw<'r>(rows: impl Iterator<Item = &'r mut ScoreRow>) -> String {
    let rows: Vec<&mut ScoreRow> = rows.collect();
    let ends = rows.iter().flat_map(|row| {
        let (value, interval) = row.drawn;
        interval.unwrap_or([value, value])
    });
    let (low, high) = ends.fold((1.0_f64, 0.0_f64), |(low, high), end| {
        (low.min(end), high.max(end))
    });
    let from = ((low * 20.0).floor() / 20.0).clamp(0.0, 0.95);
    let to = ((high * 20.0).ceil() / 20.0).clamp(from + 0.05, 1.0);
    for row in rows {
        let (value, interval) = row.drawn;
        row.bar = Html::from_safe_string(bar(value, interval, [from, to]));
    }
    format!("{:.0}–{:.0} %", 100.0 * from, 100.0 * to)
}

/// A part of the samples.
#[derive(Debug, Clone, Serialize)]
struct PartRow {
    name: String,
    /// The facet of its records, or empty.
    facet: String,
    #[serde(flatten)]
    scores: ScoreRow,
    outcome: Cell,
    lucky_guesses: String,
}

#[derive(Debug, Clone, Serialize)]
struct Parts {
    id: &'static str,
    title: &'static str,
    /// The task of accuracy and F1.
    task: &'static str,
    rows: Vec<PartRow>,
    /// What the bars' ends stand for.
    drawn: String,
    outcome: bool,
    lucky_guesses: bool,
}

#[derive(Debug, Clone, Serialize)]
struct Matrix {
    task: &'static str,
    rows: Vec<MatrixRow>,
}

#[derive(Debug, Clone, Serialize)]
struct MatrixRow {
    label: bool,
    cells: Vec<MatrixCell>,
}

#[derive(Debug, Clone, Serialize)]
struct MatrixCell {
    count: String,
    share: String,
    class: &'static str,
    facet: String,
}

/// Compares a judge with the first.
#[derive(Debug, Clone, Serialize)]
struct ComparisonTable {
    name: String,
    rows: Vec<ComparisonRow>,
}

#[derive(Debug, Clone, Serialize)]
struct ComparisonRow {
    task: &'static str,
    accuracy: String,
    f1: String,
    mended: String,
    mended_facet: String,
    broken: String,
    broken_facet: String,
    agree: String,
    p: String,
}

/// A judge that may be chosen.
#[derive(Debug, Clone, Serialize)]
struct ChoiceRow {
    name: String,
    cost: String,
    accuracy: Cell,
    against: String,
    p: String,
    worth: String,
}

#[derive(Debug, Clone, Serialize)]
struct PublishedRow {
    judge: String,
    active: String,
    outcome: String,
    overall: String,
    f1: String,
    lucky_guess: String,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Figures {
    title: String,
    lead: String,
    main: Vec<Figure>,
    scores: Vec<ScoreRow>,
    /// What the ends of these rows' bars stand for.
    scores_drawn: String,
    statuses: Vec<(String, String, String)>,
    parts: Vec<Parts>,
    matrices: Vec<Matrix>,
    reliability: Vec<(String, Vec<String>)>,
    comparisons: Vec<ComparisonTable>,
    choices: Vec<ChoiceRow>,
    cost_unit: &'static str,
    published: Vec<PublishedRow>,
    notes: Vec<String>,
}

impl Figures {
    pub(super) fn of(contents: &Contents<'_>, names: &[String], facets: &[Facet]) -> Self {
        let first = &contents.judges[0];
        let evaluation = first.evaluation;
        let all = &evaluation.all;
        let of = |number: usize, one: &str| {
            format!(
                "{} {one}{}",
                grouped(number),
                if number == 1 { "" } else { "s" }
            )
        };
        let mut lead = format!(
            "{} on {}",
            of(all.verdicts, "verdict"),
            of(all.samples, "labelled sample")
        );
        if evaluation.trials > 1 {
            lead = format!("{lead}, up to {} trials each", evaluation.trials);
        }
        let mut scores = scores(first);
        Self {
            title: names.first().cloned().unwrap_or_default(),
            lead,
            main: main(first),
            scores_drawn: draw(scores.iter_mut()),
            scores,
            statuses: all
                .by_status
                .iter()
                .map(|(status, count)| {
                    (
                        status_name(*status),
                        grouped(*count),
                        format!("{:.2} %", 100.0 * all.share_of(*status)),
                    )
                })
                .collect(),
            parts: parts(contents, facets),
            matrices: matrices(all, facets),
            reliability: reliability(first),
            comparisons: comparisons(contents, names, facets),
            choices: choices(contents, names),
            cost_unit: match contents.choices.map(|choices| choices.unit) {
                Some(CostUnit::ParametersTimesTokens) => {
                    "billions of active parameters × tokens generated for a verdict"
                }
                _ => "tokens generated for a verdict",
            },
            published: published(contents),
            notes: notes(contents, names),
        }
    }
}

/// Notes on the figures: which of them say little, and what they leave out.
fn notes(contents: &Contents<'_>, names: &[String]) -> Vec<String> {
    let mut notes = Vec::new();
    for (judge, name) in contents.judges.iter().zip(names) {
        let sentences = no_better(judge.evaluation);
        notes.extend(sentences.iter().map(|one| format!("{name}: {one}.")));
        let left_out = judge.evaluation.left_out();
        notes.extend(left_out.map(|sentence| format!("{name}: {sentence}.")));
    }
    let contradictory = contents
        .judges
        .first()
        .map_or(0, |first| first.evaluation.contradictory_labels);
    if contradictory > 0 {
        notes.push(format!(
            "{} labels say right overall and wrong in the outcome.",
            grouped(contradictory)
        ));
    }
    notes
}

fn status_name(status: Status) -> String {
    let name = serde_json::to_value(status).unwrap_or_default();
    name.as_str().unwrap_or_default().replace('_', " ")
}

fn main(first: &JudgeResults<'_>) -> Vec<Figure> {
    let all = &first.evaluation.all;
    let mut figures = Vec::new();
    let mut add = |name: String, value: String, unit: &'static str, detail: String| {
        figures.push(Figure {
            name,
            value,
            unit,
            detail,
        });
    };
    let interval = |interval: Option<Interval>| {
        interval.map_or_else(String::new, |interval| format!("95 %: {}", range(interval)))
    };
    let primary = all.tasks.iter().next();
    if let Some((task, scores)) = primary {
        add(
            format!("{} accuracy", task.name()),
            percent(scores.accuracy.share),
            "%",
            interval(Some(scores.accuracy.interval)),
        );
        if let Some(f1) = scores.f1 {
            add(
                format!("{} F1", task.name()),
                percent(f1.value),
                "%",
                interval(f1.interval),
            );
        }
    }
    if let Some(scores) = all
        .tasks
        .get(&Task::Outcome)
        .filter(|_| primary.is_some_and(|(task, _)| *task != Task::Outcome))
    {
        add(
            "outcome accuracy".to_owned(),
            percent(scores.accuracy.share),
            "%",
            interval(Some(scores.accuracy.interval)),
        );
    }
    if let Some(lucky) = all.lucky_guesses {
        add(
            "lucky guesses refused".to_owned(),
            percent(lucky.share),
            "%",
            format!(
                "{} of {}, {}",
                lucky.count,
                lucky.all,
                range(lucky.interval)
            ),
        );
    }
    let preferences = first.evaluation.preferences.as_ref();
    if let Some(preference) = preferences.and_then(|preferences| preferences.all.as_ref()) {
        let right = preference.right;
        add(
            "better response rated highest".to_owned(),
            percent(right.share),
            "%",
            format!(
                "{} of {} questions, {}",
                right.count,
                right.all,
                range(right.interval)
            ),
        );
    }
    let without = all.verdicts - all.by_status.get(&Status::Ok).copied().unwrap_or_default();
    add(
        "no verdict".to_owned(),
        percent(without as f64 / all.verdicts.max(1) as f64),
        "%",
        format!("{} of {}", grouped(without), grouped(all.verdicts)),
    );
    add(
        "tokens for a verdict".to_owned(),
        format!("{:.0}", all.tokens.mean),
        "",
        format!("median {}", all.tokens.median),
    );
    if let Some(rate) = first.verdicts_per_second {
        add(
            "verdicts a second".to_owned(),
            if rate < 100.0 {
                format!("{rate:.1}")
            } else {
                format!("{rate:.0}")
            },
            "",
            "of its run".to_owned(),
        );
    }
    figures
}

fn scores(first: &JudgeResults<'_>) -> Vec<ScoreRow> {
    let evaluation = first.evaluation;
    let mut rows = Vec::new();
    for (task, scores) in &evaluation.all.tasks {
        rows.push(ScoreRow::of(task.name().to_owned(), "group", scores));
        if let Some(means) = evaluation.over_subjects.get(task) {
            let accuracy = means.accuracy;
            rows.push(ScoreRow::short(
                "mean of subjects",
                accuracy.value,
                accuracy.interval,
                Cell::estimate(means.f1),
            ));
        }
        if let Some(rules) = evaluation.all.rules.get(task) {
            rows.push(ScoreRow::of("rules alone".to_owned(), "aside", rules));
        }
        for (name, baseline) in [
            ("always true", &evaluation.always_true),
            ("always false", &evaluation.always_false),
        ] {
            if let Some(Baseline { accuracy, f1 }) = baseline.get(task) {
                rows.push(ScoreRow::short(name, *accuracy, None, Cell::new(*f1, None)));
            }
        }
    }
    rows
}

/// The facet of this name, or empty if no record of the page has it.
fn known(facets: &[Facet], name: String) -> String {
    if facets.iter().any(|facet| facet.name == name) {
        name
    } else {
        String::new()
    }
}

fn parts(contents: &Contents<'_>, facets: &[Facet]) -> Vec<Parts> {
    let evaluation = contents.judges[0].evaluation;
    let Samples {
        subjects,
        answer_types,
        ..
    } = contents.samples;
    let named = |prefix: &str, names: &[String], by: &BTreeMap<String, Measures>| {
        let part = |(name, of): (&String, &Measures)| {
            let number = names
                .iter()
                .position(|one| one == name)
                .unwrap_or(usize::MAX);
            (
                name.clone(),
                known(facets, format!("{prefix}-{number}")),
                of.clone(),
            )
        };
        by.iter().map(part).collect::<Vec<_>>()
    };
    let by_length = evaluation.by_response_length.iter().enumerate();
    let by_length = by_length.zip(lengths(contents)).map(|((at, part), name)| {
        (
            name,
            known(facets, format!("length-{at}")),
            part.measures.clone(),
        )
    });
    [
        (
            "subjects",
            "By subject",
            named("subject", subjects.all(), &evaluation.by_subject),
        ),
        (
            "types",
            "By answer type",
            named("type", answer_types.all(), &evaluation.by_answer_type),
        ),
        ("lengths", "By response length", by_length.collect()),
    ]
    .into_iter()
    .filter_map(|(id, title, parts)| {
        let has = |task: &Task| parts.iter().any(|(_, _, of)| of.tasks.contains_key(task));
        let primary = Task::ALL
            .into_iter()
            .find(has)
            .filter(|_| parts.len() > 1)?;
        let rows = parts.iter().filter_map(|(name, facet, of)| {
            let outcome = of.tasks.get(&Task::Outcome);
            Some(PartRow {
                name: name.clone(),
                facet: facet.clone(),
                scores: ScoreRow::of(name.clone(), "", of.tasks.get(&primary)?),
                outcome: Cell::share(outcome.map(|scores| scores.accuracy)),
                lucky_guesses: of.lucky_guesses.map_or_else(
                    || DASH.to_owned(),
                    |share| format!("{} of {}", percent(share.share), share.all),
                ),
            })
        });
        let mut rows: Vec<PartRow> = rows.collect();
        Some(Parts {
            id,
            title,
            task: primary.name(),
            drawn: draw(rows.iter_mut().map(|row| &mut row.scores)),
            rows,
            outcome: primary != Task::Outcome
                && parts
                    .iter()
                    .any(|(_, _, of)| of.tasks.contains_key(&Task::Outcome)),
            lucky_guesses: parts.iter().any(|(_, _, of)| of.lucky_guesses.is_some()),
        })
    })
    .collect()
}

fn matrices(all: &Measures, facets: &[Facet]) -> Vec<Matrix> {
    let matrix = |(task, scores): (&Task, &Scores)| {
        let row = |label: bool| {
            let counts = scores.confusion.counts[usize::from(label)];
            let sum: usize = counts.iter().sum();
            let cell = |said: Option<bool>| {
                let count = counts[said.map_or(2, usize::from)];
                MatrixCell {
                    count: grouped(count),
                    share: percent_or_dash((sum > 0).then(|| count as f64 / sum as f64)),
                    class: if said == Some(label) {
                        "right"
                    } else {
                        "wrong"
                    },
                    facet: known(facets, cell_name(*task, label, said)),
                }
            };
            MatrixRow {
                label,
                cells: [Some(true), Some(false), None].map(cell).into(),
            }
        };
        Matrix {
            task: task.name(),
            rows: vec![row(true), row(false)],
        }
    };
    all.tasks.iter().map(matrix).collect()
}

fn reliability(first: &JudgeResults<'_>) -> Vec<(String, Vec<String>)> {
    let of = first.evaluation.reliability.iter();
    let row = |(task, of): (&Task, &crate::eval::Reliability)| {
        let at = |best: Option<crate::eval::Threshold>| {
            best.map_or_else(
                || DASH.to_owned(),
                |best| format!("{} % at {}", percent(best.value), threshold(best.threshold)),
            )
        };
        (
            task.name().to_owned(),
            vec![
                grouped(of.count),
                format!("{:.3}", of.calibration_error),
                format!("{:.3}", of.brier),
                of.auc
                    .map_or_else(|| DASH.to_owned(), |auc| area(auc, of.auc_interval)),
                at(Some(of.best_accuracy)),
                at(of.best_f1),
            ],
        )
    };
    of.map(row).collect()
}

fn comparisons(
    contents: &Contents<'_>,
    names: &[String],
    facets: &[Facet],
) -> Vec<ComparisonTable> {
    let others = contents.judges.iter().zip(names).enumerate().skip(1);
    let table = |(at, (judge, name)): (usize, (&JudgeResults<'_>, &String))| ComparisonTable {
        name: name.clone(),
        rows: judge
            .comparisons
            .iter()
            .map(|(task, comparison, _)| ComparisonRow {
                task: task.name(),
                accuracy: points(comparison.accuracy),
                f1: comparison.f1.map_or_else(|| DASH.to_owned(), points),
                mended: grouped(comparison.mcnemar.only_second),
                mended_facet: known(facets, flip_name(at, *task, true)),
                broken: grouped(comparison.mcnemar.only_first),
                broken_facet: known(facets, flip_name(at, *task, false)),
                agree: format!(
                    "{} of {}",
                    grouped(comparison.agree),
                    grouped(comparison.verdicts)
                ),
                p: p_value(comparison.mcnemar.p_exact),
            })
            .collect(),
    };
    others.map(table).collect()
}

fn choices(contents: &Contents<'_>, names: &[String]) -> Vec<ChoiceRow> {
    let name = |path: &str| {
        let known = contents
            .judges
            .iter()
            .position(|judge| judge.evaluation.verdicts == path);
        known
            .and_then(|at| names.get(at).cloned())
            .unwrap_or_else(|| path.to_owned())
    };
    let all = contents
        .choices
        .into_iter()
        .flat_map(|choices| &choices.judges);
    all.map(|choice| {
        let against = choice.against_best.as_ref();
        ChoiceRow {
            name: name(&choice.verdicts),
            cost: format!("{:.1}", choice.cost),
            accuracy: Cell::share(Some(choice.accuracy)),
            against: against.map_or_else(|| DASH.to_owned(), |one| points(one.accuracy)),
            p: against.map_or_else(|| DASH.to_owned(), |one| p_value(one.mcnemar.p_exact)),
            worth: match &choice.dominated_by {
                Some(better) => format!("no: {} costs no more and is right as often", name(better)),
                None if against.is_none() => "the best".to_owned(),
                None => "cheaper".to_owned(),
            },
        }
    })
    .collect()
}

fn published(contents: &Contents<'_>) -> Vec<PublishedRow> {
    let rows = contents.published.iter().rev();
    let of =
        |value: Option<f64>| value.map_or_else(|| DASH.to_owned(), |value| format!("{value:.2}"));
    rows.map(|row| PublishedRow {
        judge: row.judge.clone(),
        active: row
            .active_parameters
            .map_or_else(|| DASH.to_owned(), |billions| format!("{billions}")),
        outcome: of(Some(row.outcome)),
        overall: of(Some(row.overall)),
        f1: of(Some(row.f1)),
        lucky_guess: of(row.lucky_guess),
    })
    .collect()
}
