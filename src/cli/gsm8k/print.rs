//! The report of `juror gsm8k` on the terminal.

use std::collections::BTreeSet;
use std::io::{BufWriter, Write};

use super::super::{Failure, OrFail, counted, counted_are, say, table};
use juror_base::terminal::escaped;
use juror_eval::gsm8k::against::Against;
use juror_eval::gsm8k::method::Method;
use juror_eval::gsm8k::report::{Report, SetReport};
use juror_eval::gsm8k::responses::SET_NAMES;
use juror_eval::gsm8k::statistics::Scores;
use juror_eval::report::numbers::{estimate, or_dash, p_value, share};

/// Questions below which figures say little.
const FEW: usize = 100;

/// Digits of a hash that are shown; the JSON has all.
const SHOWN_HASH: usize = 16;

/// Says what the figures leave out or should not be read without.
pub(super) fn notes(report: &Report) {
    let mut notes = Vec::new();
    if report.unknown_questions > 0 {
        let count = report.unknown_questions;
        notes.push(format!(
            "{} to questions that --data does not have, and left out",
            counted_are(count, "response")
        ));
    }
    let sets = report.test_sets.values();
    let sets = sets.filter_map(|set| set.identity.as_ref());
    let sets = sets.map(|identity| (identity.file.as_str(), &identity.disputed));
    for (file, disputed) in std::iter::once(("these responses", &report.disputed)).chain(sets) {
        if let [first, ..] = &*disputed.examples {
            let count = disputed.questions;
            notes.push(format!(
                "questions left out because rows of {file} give them different answers: {count}, as {first:?}"
            ));
        }
    }
    for (name, set) in &report.test_sets {
        if let (Some(identity), missing @ 1..) = (&set.identity, set.without_response) {
            let file = &identity.file;
            notes.push(format!(
                "{} left out, without a response, of {file} ({name})",
                counted_are(missing, "question")
            ));
        }
        if set.questions < FEW {
            notes.push(format!(
                "{} ({name}) are few: look at the intervals",
                counted(set.questions, "question")
            ));
        }
    }
    if report.made.len() > 1 {
        notes.push("the rows were made in several ways: their score is of a mixture".to_owned());
    }
    let [fewest, most] = report.responses_per_question;
    if fewest != most {
        notes.push(format!(
            "questions have from {fewest} to {most} responses: pass@k and maj@k are told up to k = {fewest}"
        ));
    }
    for note in notes {
        say(&format!("note: {note}"));
    }
}

pub(super) fn report(report: &Report) -> Result<(), Failure> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    for (name, text) in facts(report) {
        writeln!(out, "{:<15}{}", format!("{name}:"), escaped(&text)).or_fail()?;
    }
    writeln!(out).or_fail()?;
    accuracies(&mut out, report)?;
    by_k(&mut out, report)?;
    disagreements(&mut out, report)?;
    if let Some(judge) = &report.judge {
        against(&mut out, judge)?;
    }
    out.flush().or_fail()
}

/// What a report has to state beside its figures.
fn facts(report: &Report) -> Vec<(&'static str, String)> {
    let [fewest, most] = report.responses_per_question;
    let each = if fewest == most {
        format!("{most} each")
    } else {
        format!("{fewest} to {most} each")
    };
    let mut responses = vec![format!(
        "{} in {} rows of {}, {each}",
        report.responses,
        report.rows,
        report.files.join(", ")
    )];
    let counts = [
        (report.blank_responses, "blank"),
        (
            report.cut_off_responses.unwrap_or(0),
            "cut off at the longest length",
        ),
        (report.unasked_rows, "questions could not be asked"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    responses.extend(counts.map(|(count, what)| format!("{count} {what}")));
    let mut facts = vec![("responses", responses.join("; "))];
    if report.made.is_empty() {
        let text = "not stated: which model, shots, prompt and decoding (--state KEY=TEXT)";
        facts.push(("made by", text.to_owned()));
    }
    for one in &report.made {
        facts.extend(one.made.lines());
    }
    facts.push(("extraction", "each method below".to_owned()));
    if most > 1 {
        let text = "pass@k: unbiased, of all responses; maj@k: vote of the first k, ties to the answer given first";
        facts.push(("k", text.to_owned()));
    }
    for (name, set) in &report.test_sets {
        facts.push((name, test_set(set)));
    }
    facts
}

fn test_set(set: &SetReport) -> String {
    let Some(identity) = &set.identity else {
        return format!(
            "{}, labels from the responses' own rows",
            counted(set.questions, "question")
        );
    };
    let size = identity
        .as_many_rows_as
        .map_or(String::new(), |name| format!(" (as many as {name} has)"));
    let hash = identity.blake3.get(..SHOWN_HASH).unwrap_or_default();
    let mut parts = vec![
        format!(
            "{}, {}{size}, BLAKE3 {hash}…",
            identity.file,
            counted(identity.rows, "row")
        ),
        format!("{} scored", counted(set.questions, "question")),
    ];
    parts.extend(set.audit.map(|audit| {
        let (removed, relabelled) = (audit.removed, audit.relabelled);
        let added = match audit.added {
            0 => String::new(),
            added => format!(", {added} added"),
        };
        format!("of the original's questions {removed} removed, {relabelled} relabelled{added}")
    }));
    if !identity.cleaning_status.is_empty() {
        let statuses = identity.cleaning_status.iter();
        let statuses: Vec<String> = statuses
            .map(|(status, rows)| format!("{status} {rows}"))
            .collect();
        parts.push(format!("cleaning_status: {}", statuses.join(", ")));
    }
    parts.join("; ")
}

/// A method's scores by the original labels and by the audited ones.
fn both(report: &Report, method: Method) -> [Option<&Scores>; SET_NAMES.len()] {
    SET_NAMES.map(|set| report.methods.get(&method)?.get(set))
}

fn accuracies(out: &mut impl Write, report: &Report) -> Result<(), Failure> {
    let of = |scores: Option<&Scores>| {
        let accuracy = scores.map(|scores| scores.accuracy);
        [
            share(accuracy),
            or_dash(accuracy, |share| {
                format!("{} of {}", share.count, share.all)
            }),
            or_dash(scores, |scores| scores.without_answer.to_string()),
        ]
    };
    let sets = report.test_sets.len();
    let rows = Method::ALL.map(|method| {
        let cells = both(report, method).into_iter().take(sets).flat_map(of);
        std::iter::once(method.to_string())
            .chain(cells)
            .collect::<Vec<String>>()
    });
    if sets > 1 {
        let of_set = |name| [name, "right", "no answer"];
        let [[a, b, c], [d, e, f]] = SET_NAMES.map(of_set);
        return table::write(out, ["accuracy, %", a, b, c, d, e, f], &rows);
    }
    table::write(out, ["method", "accuracy, %", "right", "no answer"], &rows)
}

/// pass@k and maj@k, where questions have several responses.
fn by_k(out: &mut impl Write, report: &Report) -> Result<(), Failure> {
    let of = |scores: Option<&Scores>, k: usize| {
        let pass = scores.and_then(|scores| scores.pass_at.get(&k));
        let maj = scores.and_then(|scores| scores.maj_at.get(&k));
        [estimate(pass.copied()), share(maj.copied())]
    };
    let mut rows = Vec::new();
    let sets_shown = report.test_sets.len();
    for method in Method::ALL {
        let sets = both(report, method);
        // The audited set may have fewer questions, and so more responses to each.
        let ks = sets
            .into_iter()
            .flatten()
            .flat_map(|scores| scores.pass_at.keys());
        let ks: BTreeSet<usize> = ks.copied().collect();
        for k in ks {
            let cells = sets.into_iter().take(sets_shown);
            let cells = cells.flat_map(|scores| of(scores, k));
            let names = [method.to_string(), k.to_string()];
            rows.push(names.into_iter().chain(cells).collect::<Vec<String>>());
        }
    }
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out).or_fail()?;
    if sets_shown > 1 {
        let header =
            "|k|pass@k, % (original)|maj@k, % (original)|pass@k, % (platinum)|maj@k, % (platinum)";
        return table::write(out, header.split('|'), &rows);
    }
    table::write(out, ["", "k", "pass@k, %", "maj@k, %"], &rows)
}

fn disagreements(out: &mut impl Write, report: &Report) -> Result<(), Failure> {
    for (name, found) in &report.disagreements {
        let text = format!(
            "{name}: every method finds {} responses right, none {}; they differ on {}",
            found.all_right, found.all_wrong, found.mixed
        );
        table::write_text(out, &text)?;
        if found.mixed == 0 {
            continue;
        }
        writeln!(out).or_fail()?;
        let rows = Method::ALL.map(|a| {
            let cell = |b: Method| {
                let count = found.only.get(a.name()).and_then(|row| row.get(b.name()));
                or_dash(count, usize::to_string)
            };
            let cells = Method::ALL.into_iter().map(cell);
            std::iter::once(a.to_string())
                .chain(cells)
                .collect::<Vec<String>>()
        });
        let mut header = vec!["right by … alone, not by"];
        header.extend(Method::ALL.map(Method::name));
        table::write(out, header, &rows)?;
    }
    Ok(())
}

fn against(out: &mut impl Write, judge: &Against) -> Result<(), Failure> {
    let counts = format!(
        "{}: {} responses with {} verdicts compared, {} without an outcome, {} verdicts on other responses left out",
        escaped(&judge.verdicts),
        judge.compared,
        judge.trials,
        judge.without_outcome,
        judge.elsewhere
    );
    let accuracy = judge.judge_accuracy.map(|accuracy| {
        let (labels, right) = (judge.labelled, share(Some(accuracy)));
        format!("against {labels} labels the judge is right in {right} %")
    });
    let text: Vec<String> = std::iter::once(counts).chain(accuracy).collect();
    let text = text.join("; ");
    table::write_text(out, &text)?;
    writeln!(out).or_fail()?;
    let rows = judge.methods.iter().flat_map(|(method, sets)| {
        let known = SET_NAMES
            .into_iter()
            .filter_map(|set| Some((set, sets.get(set)?)));
        known.map(|(set, found)| {
            let labels = found.labels.as_ref();
            let count = |of: fn(&juror_eval::gsm8k::against::BothAgainstLabels) -> usize| {
                or_dash(labels, |labels| of(labels).to_string())
            };
            [
                method.to_string(),
                set.to_owned(),
                found.responses.to_string(),
                share(Some(found.agreement)),
                or_dash(found.kappa, |kappa| format!("{kappa:.2}")),
                share(labels.map(|labels| labels.method_accuracy)),
                count(|labels| labels.both),
                count(|labels| labels.judge_only),
                count(|labels| labels.method_only),
                count(|labels| labels.neither),
                or_dash(labels, |labels| p_value(labels.mcnemar.p_exact)),
            ]
        })
    });
    let rows: Vec<[String; 11]> = rows.collect();
    let header = "method|labels|n (responses)|agrees, %|kappa|right, %|both right|judge only|method only|neither|McNemar's p";
    table::write(out, header.split('|'), &rows)
}
