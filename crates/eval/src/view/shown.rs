//! A verdict as the record that pages show; counts in words.

use serde::Serialize;
use serde_json::Value;

use super::query::status_name;
use crate::browse::{Kind, Record, Summary};
use crate::eval::Miss;
use crate::report::numbers::{self, grouped};
use crate::report::record::{Judgement, Record as Article, Said, Tag, Text};
use juror_data::verdict::Status;

/// The most bytes of a text on a page of its own.
const MOST_WHOLE: usize = 1 << 20;

/// The record of a verdict; with `whole`, long texts are shown in full, and the record is open.
pub(super) fn record(record: &Record, judge: &str, whole: bool) -> Article {
    let text = |text: &str| {
        let shown = if whole && text.len() <= MOST_WHOLE {
            Text {
                head: text.to_owned(),
                ..Text::default()
            }
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
    let label = Said {
        process: labelled.process,
        outcome: labelled.outcome,
        overall: labelled.overall,
    };
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
        label: Some(label).filter(|label| *label != Said::default()),
        judgements: vec![Judgement {
            judge: judge.to_owned(),
            place: scored.line.to_string(),
            status: status_name(scored.status),
            said: Said {
                process: scored.process,
                outcome: scored.outcome,
                overall: scored.overall,
            },
            process_probability: scored.process_probability,
            outcome_probability: scored.outcome_probability,
            reward: verdict("reward").and_then(Value::as_f64),
            generated: Some(scored.generated),
            reason: text(&record.texts.reason),
            raw: text(raw),
            error: Some(string("error").to_owned()).filter(|error| !error.is_empty()),
        }],
        rules: scored.rules,
        open: whole,
        brief: true,
        without_texts: "give the rows that were judged (juror view VERDICTS --rows ROWS), or judge with --keep",
        ..Article::default()
    }
}

/// A kind of disagreement, in words.
pub(super) fn kind_words(kind: Kind) -> String {
    match kind {
        Kind::Any => "any".to_owned(),
        Kind::Miss(Miss::RulesAgainstJudge) => "rules against judge".to_owned(),
        Kind::Miss(miss) => miss.name().replace('_', " "),
        Kind::Trials => "trials disagree".to_owned(),
    }
}

/// Counts and figures as the words and numbers that the template takes.
#[derive(Debug, Serialize)]
pub(super) struct Words {
    verdicts: String,
    samples: String,
    statuses: Vec<(String, String)>,
    mean_reward: Option<String>,
    state: String,
    unreadable: Option<String>,
    trouble: Option<String>,
    scores: Vec<[String; 6]>,
}

impl Words {
    pub(super) fn of(summary: &Summary, trouble: Option<String>) -> Self {
        let state = match (summary.has_caught_up, summary.is_journal) {
            (false, _) => "still being read",
            (true, true) => "from the run's journal: new verdicts appear as they are written",
            (true, false) => "",
        };
        let statuses = summary.by_status.iter().map(|(status, count)| {
            let name = if *status == Status::Ok {
                "ok".to_owned()
            } else {
                status_name(*status).replace('_', " ")
            };
            (name, grouped(*count))
        });
        let scores = summary.scores.iter().map(|(task, scores)| {
            [
                task.name().to_owned(),
                grouped(scores.confusion.all()),
                numbers::share(Some(scores.accuracy)),
                numbers::estimate(scores.f1),
                numbers::percent_or_dash(scores.precision.map(|share| share.share)),
                numbers::percent_or_dash(scores.recall.map(|share| share.share)),
            ]
        });
        Self {
            verdicts: grouped(summary.verdicts),
            samples: grouped(summary.samples),
            statuses: statuses.collect(),
            mean_reward: summary.mean_reward.map(|mean| format!("{mean:.3}")),
            state: state.to_owned(),
            unreadable: summary.first_unreadable.as_ref().map(|(line, why)| {
                match summary.unreadable {
                    1 => format!("1 line is no verdict, and is left out: line {line}: {why}"),
                    count => format!(
                        "{} lines are no verdicts, and are left out; the first, line {line}: {why}",
                        grouped(count)
                    ),
                }
            }),
            trouble,
            scores: scores.collect(),
        }
    }
}
