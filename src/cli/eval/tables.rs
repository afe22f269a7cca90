//! The tables of `juror eval`.

use std::collections::BTreeSet;
use std::io::{BufWriter, Write};

use super::super::{Failure, OrFail, counted, counted_are, table};
use super::ScoredJudge;
use juror_data::verdict::Status;
use juror_eval::eval::{
    Choices, CostUnit, Evaluation, Measures, Preference, PrimeRow, Samples, Scores, Task, Threshold,
};
use juror_eval::report::bars;
use juror_eval::report::numbers::{
    DASH, area, estimate, no_better, or_dash, p_value, percent_or_dash, points, share, threshold,
};

const SHOWN_FLIPS: usize = 5;

const HEADER: &str = "|labels|accuracy|of answered|F1|precision|recall|kappa";

fn row(name: &str, scores: &Scores) -> [String; 8] {
    [
        name.to_owned(),
        scores.labels.to_string(),
        share(Some(scores.accuracy)),
        percent_or_dash(scores.selective_accuracy.map(|share| share.share)),
        estimate(scores.f1),
        percent_or_dash(scores.precision.map(|share| share.share)),
        percent_or_dash(scores.recall.map(|share| share.share)),
        or_dash(scores.kappa, |kappa| format!("{:.2}", kappa.value)),
    ]
}

/// A row with a dash in each column of which nothing is known.
fn short_row(name: &str, accuracy: &str, f1: &str) -> [String; 8] {
    [name, DASH, accuracy, DASH, f1, DASH, DASH, DASH].map(str::to_owned)
}

/// How often each answer meets each label.
fn confusions(out: &mut impl Write, measures: &Measures) -> Result<(), Failure> {
    let of_label = |task: Task, scores: &Scores, label: usize| {
        let counts = scores.confusion.counts[label].map(|count| count.to_string());
        let [said_false, said_true, nothing] = counts;
        let name = format!("  {}, label {}", task.name(), label == 1);
        [name, said_true, said_false, nothing]
    };
    let tasks = measures.tasks.iter();
    let rows = tasks.flat_map(|(&task, scores)| [1, 0].map(|label| of_label(task, scores, label)));
    let rows: Vec<[String; 4]> = rows.collect();
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out).or_fail()?;
    table::write(out, ["verdicts", "true", "false", "none"], &rows)
}

/// A table of parts of the samples, where there are at least two of them.
fn parts(out: &mut impl Write, title: &str, parts: &[(String, &Measures)]) -> Result<(), Failure> {
    let has = |task: &Task| parts.iter().any(|(_, of)| of.tasks.contains_key(task));
    let Some(primary) = Task::ALL.into_iter().find(has).filter(|_| parts.len() > 1) else {
        return Ok(());
    };
    let rows: Vec<[String; 8]> = parts
        .iter()
        .map(|(name, of)| {
            let scores = of.tasks.get(&primary);
            let of_scores = |get: fn(&Scores) -> String| or_dash(scores, get);
            let outcome = of.tasks.get(&Task::Outcome);
            let outcome = outcome.filter(|_| primary != Task::Outcome);
            [
                format!("  {name}"),
                of_scores(|scores| scores.labels.to_string()),
                of_scores(|scores| share(Some(scores.accuracy))),
                of_scores(|scores| estimate(scores.f1)),
                of_scores(|scores| percent_or_dash(scores.precision.map(|share| share.share))),
                of_scores(|scores| percent_or_dash(scores.recall.map(|share| share.share))),
                share(outcome.map(|scores| scores.accuracy)),
                or_dash(of.lucky_guesses, |share| {
                    format!("{:.1} of {}", 100.0 * share.share, share.all)
                }),
            ]
        })
        .collect();
    writeln!(out).or_fail()?;
    let names = format!(
        "{title}|labels|{} accuracy|F1|precision|recall|outcome accuracy|lucky guesses refused",
        primary.name()
    );
    // Where the outcome is the task, the last two columns would say nothing.
    let shown = if primary == Task::Outcome { 6 } else { 8 };
    let rows: Vec<&[String]> = rows.iter().map(|row| &row[..shown]).collect();
    table::write(out, names.split('|').take(shown), &rows)
}

pub(super) fn print(
    judged: &[ScoredJudge],
    samples: &Samples,
    choices: Option<&Choices>,
    reference: &[PrimeRow],
) -> Result<(), Failure> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let tasks = judged
        .iter()
        .flat_map(|one| one.evaluation.all.tasks.keys());
    let tasks: BTreeSet<Task> = tasks.copied().collect();
    for one in judged {
        let evaluation = &one.evaluation;
        let all = &evaluation.all;
        if one.verdicts.scored.is_empty() {
            // Rankings say nothing of a response alone.
            table::write_heading(&mut out, &one.path.display().to_string())?;
            print_preferences(&mut out, evaluation)?;
            continue;
        }
        let heading = format!(
            "{}: {} on {}",
            one.path.display(),
            counted(all.verdicts, "verdict"),
            counted(all.samples, "labelled sample")
        );
        table::write_heading(&mut out, &heading)?;
        let rows = scores(evaluation, &tasks);
        if !rows.is_empty() {
            table::write(&mut out, HEADER.split('|'), &rows)?;
        }
        for sentence in no_better(evaluation) {
            table::write_text(&mut out, &sentence)?;
        }
        table::write_text(&mut out, &facts(all))?;
        confusions(&mut out, all)?;
        for (title, by) in [
            ("by subject", &evaluation.by_subject),
            ("by answer type", &evaluation.by_answer_type),
        ] {
            let named = by.iter().map(|(name, of)| (name.clone(), of));
            parts(&mut out, title, &named.collect::<Vec<_>>())?;
        }
        let lengths = evaluation.by_response_length.iter();
        let lengths = lengths
            .map(|of| (format!("{} to {} characters", of.from, of.to), &of.measures))
            .collect::<Vec<_>>();
        parts(&mut out, "by response length", &lengths)?;
        print_reliability(&mut out, evaluation)?;
        if let Some(columns) = table::columns() {
            let lines = bars::tokens(&one.verdicts, columns);
            draw(&mut out, "tokens generated for a verdict", &lines)?;
        }
        if evaluation.preferences.is_some() {
            writeln!(out).or_fail()?;
            print_preferences(&mut out, evaluation)?;
        }
        if let Some(cost) = evaluation.cost {
            let what = "billions of active parameters × tokens generated for a verdict";
            table::write_text(&mut out, &format!("cost: {cost:.1} ({what})"))?;
        }
        writeln!(out).or_fail()?;
    }
    print_comparisons(&mut out, judged, samples)?;
    if let Some(choices) = choices {
        print_choices(&mut out, choices)?;
    }
    print_reference(&mut out, reference)?;
    out.flush().or_fail()
}

/// The rows of the table of scores: each task with what it is compared with.
fn scores(evaluation: &Evaluation, tasks: &BTreeSet<Task>) -> Vec<[String; 8]> {
    let all = &evaluation.all;
    let mut rows = Vec::new();
    for task in tasks {
        let Some(scores) = all.tasks.get(task) else {
            // Another judge was asked.
            rows.push(short_row(task.name(), DASH, DASH));
            continue;
        };
        rows.push(row(task.name(), scores));
        if let Some(means) = evaluation.over_subjects.get(task) {
            let (accuracy, f1) = (estimate(Some(means.accuracy)), estimate(means.f1));
            rows.push(short_row("  mean of subjects", &accuracy, &f1));
        }
        let rules = all.rules.get(task);
        rows.extend(rules.map(|scores| row("  rules alone", scores)));
        for (name, baseline) in [
            ("  always true", &evaluation.always_true),
            ("  always false", &evaluation.always_false),
        ] {
            rows.extend(baseline.get(task).map(|baseline| {
                let accuracy = percent_or_dash(Some(baseline.accuracy));
                short_row(name, &accuracy, &percent_or_dash(baseline.f1))
            }));
        }
    }
    rows
}

/// What the judge's probabilities are worth.
fn print_reliability(out: &mut impl Write, evaluation: &Evaluation) -> Result<(), Failure> {
    for (task, reliability) in &evaluation.reliability {
        let at = |best: Threshold| {
            let (at, share) = (threshold(best.threshold), 100.0 * best.value);
            format!("{at} ({share:.1} %)")
        };
        let auc = reliability.auc.map_or(String::new(), |auc| {
            format!(", AUC {}", area(auc, reliability.auc_interval))
        });
        let f1 = reliability
            .best_f1
            .map_or(String::new(), |best| format!(", F1 at {}", at(best)));
        let text = format!(
            "{} probabilities: calibration error {:.3}, Brier score {:.3}{auc}; accuracy is highest at threshold {}{f1}",
            task.name(),
            reliability.calibration_error,
            reliability.brier,
            at(reliability.best_accuracy),
        );
        table::write_text(out, &text)?;
        if let Some(columns) = table::columns() {
            let lines = bars::reliability(reliability, columns);
            draw(out, "", &lines)?;
        }
    }
    Ok(())
}

/// Published figures beside the judges'.
fn print_reference(out: &mut impl Write, reference: &[PrimeRow]) -> Result<(), Failure> {
    if reference.is_empty() {
        return Ok(());
    }
    let figure = |value: f64| format!("{value:.2}");
    let rows: Vec<[String; 5]> = reference
        .iter()
        .map(|row| {
            [
                row.judge.clone(),
                figure(row.outcome),
                figure(row.overall),
                figure(row.f1),
                or_dash(row.lucky_guess, figure),
            ]
        })
        .collect();
    writeln!(out, "published (arXiv 2602.11570), in percent\n").or_fail()?;
    let header = ["judge", "outcome", "overall", "F1", "lucky guesses found"];
    table::write(out, header, &rows)
}

/// Lines of a plot under its title, if there are any.
fn draw(out: &mut impl Write, title: &str, lines: &[String]) -> Result<(), Failure> {
    if !lines.is_empty() {
        if !title.is_empty() {
            table::write_text(out, title)?;
        }
        writeln!(out).or_fail()?;
    }
    for line in lines {
        writeln!(out, "{line}").or_fail()?;
    }
    Ok(())
}

/// How often the better response is rated highest, over all and by subject.
fn print_preferences(out: &mut impl Write, evaluation: &Evaluation) -> Result<(), Failure> {
    let Some(preferences) = &evaluation.preferences else {
        return Ok(());
    };
    let row = |name: String, of: &Preference| {
        [
            name,
            of.right.all.to_string(),
            share(Some(of.right)),
            percent_or_dash(Some(of.shared)),
            of.tied.to_string(),
            of.unreadable.to_string(),
        ]
    };
    let all = preferences.all.iter();
    let all = all.map(|of| row("better response rated highest".into(), of));
    let subjects = preferences.by_subject.iter();
    let subjects = subjects.map(|(name, of)| row(format!("  {name}"), of));
    let rows: Vec<[String; 6]> = all.chain(subjects).collect();
    if !rows.is_empty() {
        let header = "|questions|accuracy|ties shared|tied|not read";
        table::write(out, header.split('|'), &rows)?;
    }
    if preferences.left_out > 0 {
        let text = format!(
            "{} left out, because a response has no verdict",
            counted_are(preferences.left_out, "question")
        );
        table::write_text(out, &text)?;
    }
    if preferences.ties_left_out > 0 {
        let count = counted_are(preferences.ties_left_out, "question");
        let text = format!(
            "{count} left out of Ties: their ids are not `ref:N` and `tied:N` of the same prompts"
        );
        table::write_text(out, &text)?;
    }
    if let Some(ties) = &preferences.ties {
        let text = format!(
            "Ties of RewardBench-2: score {:.1} over {} prompts; right with one correct answer {:.1} %, with several {:.1} %",
            100.0 * ties.score,
            ties.prompts,
            100.0 * ties.reference_accuracy,
            100.0 * ties.tied_accuracy
        );
        table::write_text(out, &text)?;
    }
    if let Some(mean) = preferences.mean_of_subjects {
        let text = format!("mean of subjects, ties shared: {:.1} %", 100.0 * mean);
        table::write_text(out, &text)?;
    }
    Ok(())
}

/// Lucky guesses, first wrong steps, verdicts that could not be read, tokens.
fn facts(measures: &Measures) -> String {
    let lucky = measures.lucky_guesses.map(|lucky| {
        let verdicts = counted(lucky.all, "verdict");
        format!(
            "lucky guesses refused {} % of {verdicts}",
            share(Some(lucky))
        )
    });
    let steps = measures.first_errors.map(|of| {
        format!(
            "first wrong step, as ProcessBench counts: F1 {}, named in {:.1} % of erroneous responses, none in {:.1} % of correct ones",
            estimate(Some(of.f1)),
            100.0 * of.erroneous,
            100.0 * of.correct
        )
    });
    let statuses = measures.by_status.iter();
    let statuses = statuses.filter(|(status, _)| **status != Status::Ok);
    let statuses = statuses.map(|(status, count)| {
        let share = 100.0 * measures.share_of(*status);
        format!("{} {share:.2} % ({count})", status.words())
    });
    let tokens = measures.tokens.map(|tokens| {
        format!(
            "tokens generated for a verdict: mean {:.1}, median {}, one in 20 more than {:.0}",
            tokens.mean, tokens.median, tokens.p95
        )
    });
    let facts = lucky.into_iter().chain(steps).chain(statuses);
    facts.chain(tokens).collect::<Vec<String>>().join("; ")
}

fn print_comparisons(
    out: &mut impl Write,
    judged: &[ScoredJudge],
    samples: &Samples,
) -> Result<(), Failure> {
    let Some((first, others)) = judged.split_first() else {
        return Ok(());
    };
    for other in others {
        let heading = format!("{} against {}", other.path.display(), first.path.display());
        table::write_heading(out, &heading)?;
        let rows: Vec<[String; 6]> = other
            .comparisons
            .iter()
            .map(|(task, comparison, _)| {
                [
                    task.name().to_owned(),
                    points(comparison.accuracy),
                    or_dash(comparison.f1, points),
                    comparison.mcnemar.only_second.to_string(),
                    comparison.mcnemar.only_first.to_string(),
                    p_value(comparison.mcnemar.p_exact),
                ]
            })
            .collect();
        let header = ["", "accuracy", "F1", "mended", "broken", "McNemar's p"];
        table::write(out, header, &rows)?;
        for (task, _, flips) in &other.comparisons {
            for (name, is_mended) in [("mended", true), ("broken", false)] {
                let of_kind = flips
                    .iter()
                    .filter(|flip| (flip.predictions[1] == Some(flip.label)) == is_mended);
                let ids: Vec<&str> = of_kind.map(|flip| samples.id(flip.sample)).collect();
                if !ids.is_empty() {
                    let shown = ids[..ids.len().min(SHOWN_FLIPS)].join(", ");
                    let more = match ids.len().saturating_sub(SHOWN_FLIPS) {
                        0 => String::new(),
                        more => format!(", and {more} more"),
                    };
                    table::write_text(out, &format!("{} {name}: {shown}{more}", task.name()))?;
                }
            }
        }
        writeln!(out).or_fail()?;
    }
    Ok(())
}

/// What each judge costs, and what it loses against the best.
fn print_choices(out: &mut impl Write, choices: &Choices) -> Result<(), Failure> {
    let header = match choices.unit {
        CostUnit::ParametersTimesTokens => "|cost|accuracy|against the best|McNemar's p|worth it",
        CostUnit::Tokens => "|tokens|accuracy|against the best|McNemar's p|worth it",
    };
    let rows: Vec<[String; 6]> = choices
        .judges
        .iter()
        .map(|choice| {
            let against = choice.against_best.as_ref();
            [
                choice.verdicts.clone(),
                format!("{:.1}", choice.cost),
                share(Some(choice.accuracy)),
                or_dash(against, |comparison| points(comparison.accuracy)),
                or_dash(against, |comparison| p_value(comparison.mcnemar.p_exact)),
                choices.worth(choice, str::to_owned),
            ]
        })
        .collect();
    writeln!(
        out,
        "which judge to use, by {} accuracy and cost\n",
        choices.task.name()
    )
    .or_fail()?;
    table::write(out, header.split('|'), &rows)?;
    if choices.unit == CostUnit::Tokens {
        let text = "tokens: generated for a verdict; with --active-parameters of every judge the cost of a verdict is told instead";
        table::write_text(out, text)?;
    }
    writeln!(out).or_fail()
}
