//! Figures as text: shares in percent, intervals, differences.

use crate::eval::{Estimate, Evaluation, Interval, NoBetter, Share};

/// Stands for a missing figure.
pub const DASH: &str = "–";

pub(crate) fn percent(value: f64) -> String {
    format!("{:.1}", 100.0 * value)
}

/// A figure as text, or a dash where it is missing.
pub fn or_dash<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| DASH.to_owned(), text)
}

/// As [`percent`], or a dash.
pub fn percent_or_dash(value: Option<f64>) -> String {
    or_dash(value, percent)
}

pub(crate) fn range([low, high]: Interval) -> String {
    format!("{:.1}–{:.1}", 100.0 * low, 100.0 * high)
}

/// A share in percent with its interval, or a dash.
pub fn share(share: Option<Share>) -> String {
    or_dash(share, |share| {
        with_interval(share.share, Some(share.interval))
    })
}

/// As [`share`], for an estimate.
pub fn estimate(estimate: Option<Estimate>) -> String {
    or_dash(estimate, |estimate| {
        with_interval(estimate.value, estimate.interval)
    })
}

/// A share of 1 in percent, with its interval if it has one.
pub(crate) fn with_interval(value: f64, interval: Option<Interval>) -> String {
    with_ends(value, interval, "–", percent)
}

/// A figure with the ends of its interval, if it has one.
pub fn with_ends(
    value: f64,
    interval: Option<Interval>,
    to: &str,
    text: impl Fn(f64) -> String,
) -> String {
    let ends = interval.map_or_else(String::new, |[low, high]| {
        format!(" ({}{to}{})", text(low), text(high))
    });
    format!("{}{ends}", text(value))
}

/// A sentence for each task in which a judge is not shown to be better than a constant answer: by which measure, and how many verdicts
/// are missing, which count as wrong.
pub fn no_better(evaluation: &Evaluation) -> Vec<String> {
    let sentence = |(task, no_better): (&_, &NoBetter)| {
        let scores = evaluation.all.tasks.get(task)?;
        let (worse, alike) = ("worse than", "no better than");
        let how = if no_better.worse { worse } else { alike };
        let open: usize = scores.confusion.counts.iter().map(|row| row[2]).sum();
        let [some, all] = [open, scores.confusion.all()].map(grouped);
        let open = match open {
            0 => String::new(),
            _ => format!("; {some} of {all} have no verdict, and count as wrong"),
        };
        Some(format!(
            "{}: by accuracy {how} always {}: {} % against {} %{open}",
            task.name(),
            no_better.than_always,
            share(Some(scores.accuracy)),
            percent(no_better.accuracy)
        ))
    };
    let one_label = evaluation.one_label().map(|(task, label, all)| {
        format!(
            "{}: all {all} labels are {label}, so always {label} is right on each, and no figure here shows whether the judge can tell \
             right from wrong",
            task.name()
        )
    });
    let no_better = evaluation.no_better.iter().filter_map(sentence);
    no_better.chain(one_label).collect()
}

/// An area under the ROC curve with its interval.
pub fn area(auc: f64, interval: Option<Interval>) -> String {
    with_ends(auc, interval, "–", |auc| format!("{auc:.3}"))
}

/// A difference in percentage points, with its interval.
pub fn points(estimate: Estimate) -> String {
    let text = |value| format!("{:+.1}", 100.0 * value);
    with_ends(estimate.value, estimate.interval, " to ", text)
}

/// A number of any size.
pub fn figure(value: f64) -> String {
    if value == 0.0 || value.abs() >= 0.001 {
        format!("{value:.3}")
    } else {
        format!("{value:.2e}")
    }
}

/// A probability that may be very small.
pub fn threshold(probability: f64) -> String {
    match probability {
        p if p > 0.0 && p < 0.001 => "< 0.001".to_owned(),
        p if p > 0.999 && p < 1.0 => "> 0.999".to_owned(),
        p => format!("{p:.3}"),
    }
}

pub fn p_value(p: f64) -> String {
    if p < 0.001 {
        "< 0.001".to_owned()
    } else {
        format!("{p:.3}")
    }
}

pub(crate) fn grouped(number: usize) -> String {
    if number < 1000 {
        return number.to_string();
    }
    format!("{},{:03}", grouped(number / 1000), number % 1000)
}
