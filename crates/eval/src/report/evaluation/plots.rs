//! The plots of a report.

use minijinja::{Value as Html, context};

use super::Contents;
use crate::eval::{Choice, CostUnit, Reliability, Share, Task, wilson};
use crate::report::bars::Histogram;
use crate::report::numbers::{grouped, percent, range};
use crate::report::plot::{Axis, Mark, Plot, SIZE, SMALL};

/// About how many columns a histogram has.
const COLUMNS: f64 = 24.0;

/// A plot with its caption, and the same data as a table, in a section of the page.
fn figure(
    section: &str,
    plot: &Plot,
    caption: impl Into<String>,
    header: &str,
    rows: Vec<Vec<String>>,
) -> Html {
    let is_small = section == "reliability";
    let svg = plot.svg(if is_small { SMALL } else { SIZE });
    context! {
        section,
        title => &plot.title,
        svg => Html::from_safe_string(svg),
        caption => caption.into(),
        header => header.split('|').collect::<Html>(),
        rows => rows.into_iter().map(Html::from_iter).collect::<Html>(),
    }
}

pub(super) fn draw(contents: &Contents<'_>, names: &[String]) -> Vec<Html> {
    let first = &contents.judges[0];
    let of_tasks = first.evaluation.reliability.iter();
    let of_tasks = of_tasks.map(|(task, of)| reliability(*task, of));
    let mut plots: Vec<Html> = of_tasks.collect();
    plots.extend(cost(contents, names));
    plots.extend(parameters(contents, names));
    plots.extend(tokens(contents, names));
    plots
}

/// Plots observed shares against probabilities.
fn reliability(task: Task, of: &Reliability) -> Html {
    let most = of.bins.iter().map(|bin| bin.count).max();
    let most = most.unwrap_or(1).max(1);
    let mut marks = vec![Mark::Line {
        ends: [[0.0, 0.0], [1.0, 1.0]],
        class: "ideal",
    }];
    let mut rows = Vec::new();
    for bin in &of.bins {
        let (Some(probability), Some(observed)) = (bin.probability, bin.observed) else {
            continue;
        };
        let right = (observed * bin.count as f64).round() as usize;
        let interval = wilson(right, bin.count);
        let shown = interval.map_or_else(String::new, range);
        marks.push(Mark::Point {
            at: [probability, observed],
            interval,
            radius: 3.0 + 6.0 * (bin.count as f64 / most as f64).sqrt(),
            class: "",
            name: String::new(),
            title: format!(
                "{} verdicts: mean probability {probability:.3}, true {} % ({shown})",
                grouped(bin.count),
                percent(observed)
            ),
        });
        rows.push(vec![
            format!("{:.1}–{:.1}", bin.from, bin.to),
            grouped(bin.count),
            format!("{probability:.3}"),
            percent(observed),
            shown,
        ]);
    }
    let plot = Plot {
        id: format!("reliability-{}", task.name()),
        title: format!("Reliability of the {} probabilities", task.name()),
        description: format!(
            "Points on the dashed diagonal are well calibrated; the calibration error is {:.3}.",
            of.calibration_error
        ),
        x: Axis::shares("the judge's probability", 0.0, 1.0),
        y: Axis::shares("labelled true", 0.0, 1.0),
        marks,
    };
    figure(
        "reliability",
        &plot,
        format!(
            "{} verdicts in ten bins; a point's area grows with its verdicts, lines are 95 % intervals. On the dashed line a probability \
             is what it says.",
            grouped(of.count)
        ),
        "probability|verdicts|mean|labelled true, %|95 %",
        rows,
    )
}

/// The range of an axis for some shares, with room around them.
fn shares_axis(label: String, shares: impl Iterator<Item = f64>) -> Axis {
    let (low, high) = shares.fold((1.0_f64, 0.0_f64), |(low, high), share| {
        (low.min(share), high.max(share))
    });
    let step = |share: f64| (share * 20.0).round() / 20.0;
    Axis::shares(label, step(low - 0.05).max(0.0), step(high + 0.05).min(1.0))
}

/// Plots accuracy against the cost of a verdict, for several judges or for one whose cost is known.
fn cost<'p>(contents: &'p Contents<'_>, names: &'p [String]) -> Option<Html> {
    let points: Vec<(f64, Share, &str)>;
    let (task, known);
    if let Some(of) = contents.choices {
        let point = |one: &'p Choice| (one.cost, one.accuracy, contents.name(names, &one.verdicts));
        points = of.judges.iter().map(point).collect();
        (task, known) = (of.task, of.unit == CostUnit::ParametersTimesTokens);
    } else {
        let [only] = contents.judges else {
            return None;
        };
        let mut tasks = only.evaluation.all.tasks.iter();
        let (first, scores) = tasks.find(|(task, _)| **task != Task::Process)?;
        points = vec![(only.evaluation.cost?, scores.accuracy, &names[0])];
        (task, known) = (*first, true);
    }
    // The first judge keeps its colour, whichever judges are left out.
    let is_first = |name: &str| names.first().is_some_and(|first| first == name);
    let sized = "billions of active parameters × tokens generated";
    let bare = "tokens generated for a verdict";
    let unit = if known { sized } else { bare };
    let shares = points
        .iter()
        .flat_map(|(_, share, _)| [share.interval[0], share.interval[1]]);
    let plot = Plot {
        id: "cost".to_owned(),
        title: "Accuracy against cost".to_owned(),
        description: format!(
            "{} accuracy of each judge, with {unit} from left to right.",
            task.name()
        ),
        x: Axis::powers(unit, points.iter().map(|(cost, _, _)| *cost)),
        y: shares_axis(format!("{} accuracy", task.name()), shares),
        marks: points
            .iter()
            .map(|(cost, share, name)| judge_point(is_first(name), *cost, *share, name))
            .collect(),
    };
    let rows = points.iter().map(|(cost, share, name)| {
        vec![
            (*name).to_owned(),
            format!("{cost:.1}"),
            percent(share.share),
            range(share.interval),
        ]
    });
    Some(figure(
        "cost",
        &plot,
        if known {
            "What a verdict costs: the parameters that work on a token times the tokens generated, as a proxy; what costs nothing stands on \
             the left axis."
        } else {
            "What a verdict costs is told in tokens: with --active-parameters of every judge it would be these times its parameters. What \
             costs nothing stands on the left axis."
        },
        &format!("judge|{unit}|accuracy, %|95 %"),
        rows.collect(),
    ))
}

fn judge_point(is_first: bool, across: f64, share: Share, name: &str) -> Mark {
    Mark::Point {
        at: [across, share.share],
        interval: Some(share.interval),
        radius: 5.0,
        class: if is_first { "" } else { "other" },
        name: name.to_owned(),
        title: format!(
            "{name}: {} % ({})",
            percent(share.share),
            range(share.interval)
        ),
    }
}

/// Plots accuracy against parameters only, with published judges, whose tokens are not known.
fn parameters(contents: &Contents<'_>, names: &[String]) -> Option<Html> {
    let published: Vec<(f64, f64, &String)> = contents
        .published
        .iter()
        .filter_map(|row| Some((row.active_parameters?, row.overall / 100.0, &row.judge)))
        .collect();
    if published.is_empty() {
        return None;
    }
    // The first judge keeps its colour, whichever judges are left out.
    let is_first = |name: &String| names.first() == Some(name);
    let own: Vec<(f64, Share, &String)> = contents
        .judges
        .iter()
        .zip(names)
        .filter_map(|(judge, name)| {
            Some((
                judge.active_parameters?,
                judge.evaluation.all.tasks.get(&Task::Overall)?.accuracy,
                name,
            ))
        })
        .filter(|(parameters, _, _)| *parameters > 0.0)
        .collect();
    let all = published.iter().map(|(across, _, _)| *across);
    let all = all.chain(own.iter().map(|(across, _, _)| *across));
    let shares = published.iter().map(|(_, share, _)| *share);
    let shares = shares.chain(own.iter().flat_map(|(_, share, _)| share.interval));
    let mut marks: Vec<Mark> = published
        .iter()
        .map(|(across, share, judge)| Mark::Point {
            at: [*across, *share],
            interval: None,
            radius: 4.0,
            class: "published",
            name: String::new(),
            title: format!("{judge}: {} %", percent(*share)),
        })
        .collect();
    marks.extend(
        own.iter()
            .map(|(across, share, name)| judge_point(is_first(name), *across, *share, name)),
    );
    let plot = Plot {
        id: "parameters".to_owned(),
        title: "Accuracy against active parameters, with published judges".to_owned(),
        description:
            "Overall accuracy, with the parameters that work on a token from left to right."
                .to_owned(),
        x: Axis::powers("billions of active parameters", all),
        y: shares_axis("overall accuracy".to_owned(), shares),
        marks,
    };
    let rows = own
        .iter()
        .map(|(across, share, name)| (*across, share.share, (*name).clone(), "here"))
        .chain(
            published
                .iter()
                .map(|(across, share, name)| (*across, *share, (*name).clone(), "published")),
        );
    let mut rows: Vec<_> = rows.collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    Some(figure(
        "cost",
        &plot,
        "Hollow points are published figures on PRIME (arXiv 2602.11570). How many tokens those judges generated was not published, so \
         the axis is parameters alone; figures on other data are not comparable with them.",
        "judge|billions of parameters|overall accuracy, %|",
        rows.into_iter()
            .map(|(across, share, name, whose)| {
                vec![name, format!("{across}"), percent(share), whose.to_owned()]
            })
            .collect(),
    ))
}

/// Plots how many tokens were generated for a verdict.
fn tokens(contents: &Contents<'_>, names: &[String]) -> Option<Html> {
    let first = &contents.judges[0];
    let found = Histogram::new(first.verdicts, COLUMNS)?;
    let rows = found.rows();
    let columns = rows
        .iter()
        .zip(&found.counts)
        .zip((0..).step_by(found.step as usize));
    let columns = columns.map(|(((name, _), count), from)| Mark::Column {
        width: [f64::from(from), f64::from(from + found.step)],
        height: *count as f64,
        class: "",
        title: format!("{name} tokens: {} verdicts", grouped(*count)),
    });
    let most = found.counts.iter().copied().max().unwrap_or(1);
    let end = found.counts.len() as f64 * f64::from(found.step);
    let tokens = first.evaluation.all.tokens?;
    let plot = Plot {
        id: "tokens".to_owned(),
        title: "Tokens generated for a verdict".to_owned(),
        description: format!("Mean {:.1}, median {}.", tokens.mean, tokens.median),
        x: Axis::linear("tokens generated", 0.0, end),
        y: Axis::linear("verdicts", 0.0, most as f64 * 1.05),
        marks: columns.collect(),
    };
    let name = names.first().map_or("", String::as_str);
    let beyond = if found.beyond > 0 {
        format!(
            " {} with more are not drawn, up to {}.",
            grouped(found.beyond),
            grouped(found.longest as usize)
        )
    } else {
        String::new()
    };
    Some(figure(
        "tokens",
        &plot,
        format!(
            "{name}: {} tokens in {} verdicts, mean {:.1}, median {}.{beyond}",
            grouped(tokens.total as usize),
            grouped(first.verdicts.scored.len()),
            tokens.mean,
            tokens.median
        ),
        "tokens|verdicts",
        (rows.into_iter())
            .map(|(name, count)| vec![name, grouped(count)])
            .collect(),
    ))
}
