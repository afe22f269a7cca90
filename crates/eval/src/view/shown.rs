//! A verdict as the record that pages show; counts in words.

use serde_json::{Value, json};

use crate::browse::{Kind, Record, Summary};
use crate::report::numbers::{self, grouped};
use crate::report::record::{Answers, Article, Judgement, Tag, Text};

/// The most bytes of a text on a page of its own.
const MOST_WHOLE: usize = 1 << 20;

/// The record of a verdict; with `whole`, long texts are shown in full, and the record is open.
pub(super) fn record(record: &Record, judge: &str, whole: bool) -> Article {
    let text = |text: &str| {
        let shown = if whole && text.len() <= MOST_WHOLE {
            Text::whole(text)
        } else {
            Text::cut(text)
        };
        Some(shown).filter(|_| !text.is_empty())
    };
    let verdict = |key: &str| record.verdict.get(key);
    let string = |key: &str| verdict(key).and_then(Value::as_str).unwrap_or_default();
    let raw = verdict("raw")
        .and_then(|raw| raw.get("completion")?.as_str())
        .unwrap_or_default();
    let scored = &record.scored;
    let labelled = &record.labelled;
    let label = Answers::from(labelled);
    let tags = record.misses.iter().map(|miss| Tag {
        name: miss.name(),
        text: kind_words(Kind::Miss(*miss)),
    });
    let trials = record.trials_disagree.then(|| Tag {
        name: Kind::Trials.name(),
        text: kind_words(Kind::Trials),
    });
    Article {
        anchor: format!("line-{}", scored.line),
        id: record.texts.id.clone(),
        trial: Some(scored.trial).filter(|trial| *trial > 0 || record.trials_disagree),
        subject: record.subject.clone(),
        tags: tags.chain(trials).collect(),
        question: text(&record.texts.question),
        reference: text(&record.texts.reference),
        response: text(&record.texts.response),
        label: Some(label).filter(|label| *label != Answers::default()),
        judgements: vec![Judgement {
            reward: verdict("reward").and_then(Value::as_f64),
            reason: text(&record.texts.reason),
            raw: text(raw),
            error: Some(string("error").to_owned()).filter(|error| !error.is_empty()),
            ..Judgement::new(judge, scored)
        }],
        rules: scored.rules,
        open: whole,
        brief: true,
        without_texts: "give the rows that were judged (juror view VERDICTS --rows ROWS), or judge with --keep",
        ..Article::default()
    }
}

pub(super) fn kind_words(kind: Kind) -> String {
    kind.name().replace('_', " ")
}

/// Counts and figures as the words and numbers that the template takes.
pub(super) fn summary_words(summary: &Summary, trouble: Option<&str>) -> Value {
    let state = match (summary.has_caught_up, summary.is_journal) {
        (false, _) => "still being read",
        (true, true) => "from the run's journal: new verdicts appear as they are written",
        (true, false) => "",
    };
    let statuses = summary.by_status.iter();
    let statuses = statuses.map(|(status, count)| (status.words(), grouped(*count)));
    let scores = summary.scores.iter().map(|(task, scores)| {
        [
            task.name().to_owned(),
            grouped(scores.labels),
            numbers::share(Some(scores.accuracy)),
            numbers::estimate(scores.f1),
            numbers::percent_or_dash(scores.precision.map(|share| share.share)),
            numbers::percent_or_dash(scores.recall.map(|share| share.share)),
        ]
    });
    let unreadable = summary.first_unreadable.as_ref().map(|(line, why)| {
        let left_out = match summary.unreadable {
            1 => "1 line is no verdict, and is left out:".to_owned(),
            count => format!(
                "{} lines are no verdicts, and are left out; the first,",
                grouped(count)
            ),
        };
        format!("{left_out} line {line}: {why}")
    });
    json!({
        "verdicts": grouped(summary.verdicts),
        "samples": grouped(summary.samples),
        "statuses": statuses.collect::<Vec<_>>(),
        "mean_reward": summary.mean_reward.map(|mean| format!("{mean:.3}")),
        "state": state,
        "unreadable": unreadable,
        "trouble": trouble,
        "scores": scores.collect::<Vec<_>>(),
    })
}
