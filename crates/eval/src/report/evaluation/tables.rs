//! The tables of a report, as the values that its template takes.

use minijinja::{Value as Html, context};

use super::facets::{Facet, cell_name, flip_name, lengths};
use super::{Contents, JudgeResults};
use crate::eval::{Baseline, CostUnit, Estimate, Interval, Measures, Names, Scores, Share, Task};
use crate::report::numbers::{
    area, grouped, no_better, or_dash, p_value, percent, percent_or_dash, points, range, threshold,
};
use crate::report::plot::bar;
use juror_data::verdict::Status;

fn cell(value: Option<f64>, interval: Option<Interval>) -> Html {
    context! {
        value => percent_or_dash(value),
        range => value.and(interval).map_or_else(String::new, range),
    }
}

fn share_cell(share: Option<Share>) -> Html {
    cell(
        share.map(|share| share.share),
        share.map(|share| share.interval),
    )
}

struct ScoreRow {
    values: Html,
    /// What its bar shows: a share with its interval.
    bar: (f64, Option<Interval>),
}

impl ScoreRow {
    fn new(name: &str, class: &str, scores: &Scores) -> Self {
        let accuracy = scores.accuracy;
        let share = |share: Option<Share>| percent_or_dash(share.map(|share| share.share));
        Self {
            values: context! {
                name, class,
                labels => grouped(scores.labels),
                accuracy => share_cell(Some(accuracy)),
                answered => share(scores.selective_accuracy),
                f1 => estimate_cell(scores.f1),
                precision => share(scores.precision),
                recall => share(scores.recall),
                kappa => or_dash(scores.kappa, |kappa| format!("{:.2}", kappa.value)),
            },
            bar: (accuracy.share, Some(accuracy.interval)),
        }
    }

    fn short(name: &str, accuracy: f64, interval: Option<Interval>, f1: Html) -> Self {
        let empty = "";
        Self {
            values: context! {
                name, class => "aside", accuracy => cell(Some(accuracy), interval), f1,
                labels => empty, answered => empty, precision => empty, recall => empty, kappa => empty,
            },
            bar: (accuracy, interval),
        }
    }
}

fn estimate_cell(estimate: Option<Estimate>) -> Html {
    cell(
        estimate.map(|estimate| estimate.value),
        estimate.and_then(|estimate| estimate.interval),
    )
}

/// The rows with their bars, drawn from the lowest to the highest end of an interval, in whole steps of 5 %; these two in words.
fn drawn(rows: Vec<ScoreRow>) -> (Html, String) {
    let ends = rows.iter().flat_map(|row| {
        let (value, interval) = row.bar;
        interval.unwrap_or([value, value])
    });
    let (low, high) = ends.fold((1.0_f64, 0.0_f64), |(low, high), end| {
        (low.min(end), high.max(end))
    });
    let from = ((low * 20.0).floor() / 20.0).clamp(0.0, 0.95);
    let to = ((high * 20.0).ceil() / 20.0).clamp(from + 0.05, 1.0);
    let row = |ScoreRow { values, bar: shown }| {
        let bar = Html::from_safe_string(bar(shown.0, shown.1, [from, to]));
        context! { bar, ..values }
    };
    let words = format!("{:.0}–{:.0} %", 100.0 * from, 100.0 * to);
    (rows.into_iter().map(row).collect(), words)
}

pub(super) fn draw(contents: &Contents<'_>, names: &[String], facets: &[Facet]) -> Html {
    let first = &contents.judges[0];
    let all = &first.evaluation.all;
    let of = |number: usize, one: &str| {
        let plural = if number == 1 { "" } else { "s" };
        format!("{} {one}{plural}", grouped(number))
    };
    let [verdicts, on] = [
        of(all.verdicts, "verdict"),
        of(all.samples, "labelled sample"),
    ];
    let mut lead = format!("{verdicts} on {on}");
    if first.evaluation.trials > 1 {
        lead = format!("{lead}, up to {} trials each", first.evaluation.trials);
    }
    let (scores, scores_drawn) = drawn(scores(first));
    let status = |(status, count): (&Status, &usize)| {
        let share = format!("{:.2} %", 100.0 * all.share_of(*status));
        Html::from_iter([status.words(), grouped(*count), share])
    };
    context! {
        title => names.first(), lead, scores, scores_drawn,
        main => Html::from_iter(main(first)),
        statuses => all.by_status.iter().map(status).collect::<Html>(),
        parts => Html::from_iter(parts(contents, facets)),
        matrices => matrices(all, facets),
        reliability => reliability(first),
        comparisons => comparisons(contents, names, facets),
        choices => choices(contents, names),
        cost_unit => match contents.choices.map(|choices| choices.unit) {
            Some(CostUnit::ParametersTimesTokens) => {
                "billions of active parameters × tokens generated for a verdict"
            }
            _ => "tokens generated for a verdict",
        },
        published => published(contents),
        notes => Html::from_iter(notes(contents, names)),
    }
}

/// Notes on the figures: which of them say little, and what they leave out.
fn notes(contents: &Contents<'_>, names: &[String]) -> Vec<String> {
    let mut notes = Vec::new();
    for (judge, name) in contents.judges.iter().zip(names) {
        let sentences = no_better(judge.evaluation).into_iter();
        let sentences = sentences.chain(judge.evaluation.left_out());
        notes.extend(sentences.map(|sentence| format!("{name}: {sentence}.")));
    }
    let contradictory = contents.judges[0].evaluation.contradictory_labels;
    if contradictory > 0 {
        notes.push(format!(
            "{} labels say right overall and wrong in the outcome.",
            grouped(contradictory)
        ));
    }
    notes
}

/// The main figures, each with a sentence on what it means.
fn main(first: &JudgeResults<'_>) -> Vec<Html> {
    let all = &first.evaluation.all;
    let mut figures = Vec::new();
    let mut add = |name: &str, value: String, unit: &str, detail: String, meaning: &str| {
        figures.push(context! { name, value, unit, detail, meaning });
    };
    let interval = |interval: Option<Interval>| {
        interval.map_or_else(String::new, |interval| format!("95 %: {}", range(interval)))
    };
    for (at, (task, scores)) in all.tasks.iter().enumerate() {
        if at > 0 && *task != Task::Outcome {
            continue;
        }
        let task = task.name();
        let accuracy = scores.accuracy;
        add(
            &format!("{task} accuracy"),
            percent(accuracy.share),
            "%",
            interval(Some(accuracy.interval)),
            "How many verdicts say what the label says; a missing one is wrong.",
        );
        if let Some(f1) = scores.f1.filter(|_| at == 0) {
            add(
                &format!("{task} F1"),
                percent(f1.value),
                "%",
                interval(f1.interval),
                "Precision and recall of “true” in one figure: 0 for a judge that never says true.",
            );
        }
    }
    if let Some(lucky) = all.lucky_guesses {
        let (count, all, range) = (lucky.count, lucky.all, range(lucky.interval));
        add(
            "lucky guesses refused",
            percent(lucky.share),
            "%",
            format!("{count} of {all}, {range}"),
            "Right answers by a flawed derivation whose overall verdict is false; a missing one refuses nothing.",
        );
    }
    let preferences = first.evaluation.preferences.as_ref();
    if let Some(preference) = preferences.and_then(|preferences| preferences.all.as_ref()) {
        let right = preference.right;
        let (count, all, range) = (right.count, right.all, range(right.interval));
        add(
            "better response rated highest",
            percent(right.share),
            "%",
            format!("{count} of {all} questions, {range}"),
            "How often the response that people prefer has the best verdict.",
        );
    }
    let without = all.verdicts - all.by_status.get(&Status::Ok).copied().unwrap_or_default();
    add(
        "no verdict",
        percent(without as f64 / all.verdicts.max(1) as f64),
        "%",
        format!("{} of {}", grouped(without), grouped(all.verdicts)),
        "Unreadable, unsure, too long, outside the judge's domain, or failed: no reward.",
    );
    if let Some(tokens) = all.tokens {
        add(
            "tokens for a verdict",
            format!("{:.0}", tokens.mean),
            "",
            format!("median {}", tokens.median),
            "The mean of what the judge generated: most of a verdict's cost.",
        );
    }
    if let Some(rate) = first.verdicts_per_second {
        let digits = usize::from(rate < 100.0);
        add(
            "verdicts a second",
            format!("{rate:.digits$}"),
            "",
            "of its run".to_owned(),
            "Over the whole run, loading left out.",
        );
    }
    figures
}

fn scores(first: &JudgeResults<'_>) -> Vec<ScoreRow> {
    let evaluation = first.evaluation;
    let mut rows = Vec::new();
    for (task, scores) in &evaluation.all.tasks {
        rows.push(ScoreRow::new(task.name(), "group", scores));
        if let Some(means) = evaluation.over_subjects.get(task) {
            let Estimate { value, interval } = means.accuracy;
            let f1 = estimate_cell(means.f1);
            rows.push(ScoreRow::short("mean of subjects", value, interval, f1));
        }
        let rules = evaluation.all.rules.get(task);
        rows.extend(rules.map(|rules| ScoreRow::new("rules alone", "aside", rules)));
        for (name, baseline) in [
            ("always true", &evaluation.always_true),
            ("always false", &evaluation.always_false),
        ] {
            if let Some(Baseline { accuracy, f1 }) = baseline.get(task) {
                rows.push(ScoreRow::short(name, *accuracy, None, cell(*f1, None)));
            }
        }
    }
    rows
}

/// The facet of this name, or empty if no record of the page has it.
fn known(facets: &[Facet], name: String) -> String {
    let is_known = facets.iter().any(|facet| facet.name == name);
    if is_known { name } else { String::new() }
}

fn parts(contents: &Contents<'_>, facets: &[Facet]) -> Vec<Html> {
    let evaluation = contents.judges[0].evaluation;
    let samples = contents.samples;
    let named = |prefix: &str, names: &Names, (name, of): (&String, _)| {
        let number = names.find(name).unwrap_or(u32::MAX);
        (name.clone(), format!("{prefix}-{number}"), of)
    };
    let subjects = evaluation.by_subject.iter();
    let subjects = subjects.map(|one| named("subject", &samples.subjects, one));
    let types = evaluation.by_answer_type.iter();
    let types = types.map(|one| named("type", &samples.answer_types, one));
    let by_length = evaluation.by_response_length.iter().zip(lengths(contents));
    let by_length = by_length
        .enumerate()
        .map(|(at, (part, name))| (name, format!("length-{at}"), &part.measures));
    let tables = [
        part("subjects", "By subject", subjects.collect(), facets),
        part("types", "By answer type", types.collect(), facets),
        part("lengths", "By response length", by_length.collect(), facets),
    ];
    tables.into_iter().flatten().collect()
}

/// The table of parts, each with its name and its facet; `None` if there is only one.
fn part(
    id: &str,
    title: &str,
    parts: Vec<(String, String, &Measures)>,
    facets: &[Facet],
) -> Option<Html> {
    let has = |task: &Task| parts.iter().any(|(_, _, of)| of.tasks.contains_key(task));
    let primary = Task::ALL
        .into_iter()
        .find(has)
        .filter(|_| parts.len() > 1)?;
    let outcome = primary != Task::Outcome && has(&Task::Outcome);
    let lucky_guesses = parts.iter().any(|(_, _, of)| of.lucky_guesses.is_some());
    let rows = parts.into_iter().filter_map(|(name, facet, of)| {
        let ScoreRow { values, bar } = ScoreRow::new(&name, "", of.tasks.get(&primary)?);
        let outcome = of.tasks.get(&Task::Outcome);
        let lucky_guesses = or_dash(of.lucky_guesses, |share| {
            format!("{} of {}", percent(share.share), share.all)
        });
        let values = context! {
            facet => known(facets, facet),
            outcome => share_cell(outcome.map(|scores| scores.accuracy)),
            lucky_guesses, ..values
        };
        Some(ScoreRow { values, bar })
    });
    let (rows, drawn) = drawn(rows.collect());
    Some(context! { id, title, task => primary.name(), rows, drawn, outcome, lucky_guesses })
}

fn matrices(all: &Measures, facets: &[Facet]) -> Html {
    let matrix = |(task, scores): (&Task, &Scores)| {
        let row = |label: bool| {
            let counts = scores.confusion.counts[usize::from(label)];
            let sum: usize = counts.iter().sum();
            let cell = |said: Option<bool>| {
                let count = counts[said.map_or(2, usize::from)];
                let is_right = said == Some(label);
                context! {
                    count => grouped(count),
                    share => percent_or_dash((sum > 0).then(|| count as f64 / sum as f64)),
                    class => if is_right { "right" } else { "wrong" },
                    facet => known(facets, cell_name(*task, label, said)),
                }
            };
            let cells = [Some(true), Some(false), None].map(cell);
            context! { label, cells => Html::from_iter(cells) }
        };
        let rows = [true, false].map(row);
        context! { task => task.name(), rows => Html::from_iter(rows) }
    };
    all.tasks.iter().map(matrix).collect()
}

fn reliability(first: &JudgeResults<'_>) -> Html {
    let at = |best: crate::eval::Threshold| {
        format!("{} % at {}", percent(best.value), threshold(best.threshold))
    };
    let row = |(task, of): (&Task, &crate::eval::Reliability)| {
        let cells = [
            grouped(of.count),
            format!("{:.3}", of.calibration_error),
            format!("{:.3}", of.brier),
            or_dash(of.auc, |auc| area(auc, of.auc_interval)),
            at(of.best_accuracy),
            or_dash(of.best_f1, at),
        ];
        Html::from_iter([Html::from(task.name()), Html::from_iter(cells)])
    };
    first.evaluation.reliability.iter().map(row).collect()
}

/// How each other judge differs from the first.
fn comparisons(contents: &Contents<'_>, names: &[String], facets: &[Facet]) -> Html {
    let others = contents.judges.iter().zip(names).enumerate().skip(1);
    let table = |(at, (judge, name)): (usize, (&JudgeResults<'_>, &String))| {
        let rows = judge.comparisons.iter().map(|(task, comparison, _)| {
            let flips = |is_mended| known(facets, flip_name(at, *task, is_mended));
            context! {
                task => task.name(),
                accuracy => points(comparison.accuracy),
                f1 => or_dash(comparison.f1, points),
                mended => grouped(comparison.mcnemar.only_second),
                mended_facet => flips(true),
                broken => grouped(comparison.mcnemar.only_first),
                broken_facet => flips(false),
                agree => format!("{} of {}", grouped(comparison.agree), grouped(comparison.verdicts)),
                p => p_value(comparison.mcnemar.p_exact),
            }
        });
        context! { name, rows => rows.collect::<Html>() }
    };
    others.map(table).collect()
}

/// The judges that may be chosen.
fn choices(contents: &Contents<'_>, names: &[String]) -> Html {
    let name = |path: &str| contents.name(names, path).to_owned();
    let Some(choices) = contents.choices else {
        return Html::from_iter([(); 0]);
    };
    let row = |choice: &crate::eval::Choice| {
        let against = choice.against_best.as_ref();
        context! {
            name => name(&choice.verdicts),
            cost => format!("{:.1}", choice.cost),
            accuracy => share_cell(Some(choice.accuracy)),
            against => or_dash(against, |one| points(one.accuracy)),
            p => or_dash(against, |one| p_value(one.mcnemar.p_exact)),
            worth => choices.worth(choice, name),
        }
    };
    choices.judges.iter().map(row).collect()
}

fn published(contents: &Contents<'_>) -> Html {
    let of = |value: f64| format!("{value:.2}");
    let row = |row: &crate::eval::PrimeRow| {
        context! {
            judge => &row.judge,
            active => or_dash(row.active_parameters, |billions| format!("{billions}")),
            outcome => of(row.outcome), overall => of(row.overall), f1 => of(row.f1),
            lucky_guess => or_dash(row.lucky_guess, of),
        }
    };
    contents.published.iter().rev().map(row).collect()
}
