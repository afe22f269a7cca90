//! The benchmark of process-outcome verification (PRIME, arXiv 2602.11570): its figures beside a judge's, and whether data is that benchmark.

use schemars::JsonSchema;
use serde::Serialize;

use super::measures::Task;
use super::scored::Samples;
use juror_judge::catalog::known_judges;

/// What the paper measured of a judge, in percent.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PrimeRow {
    /// The judge.
    pub judge: String,
    /// Billions of parameters that work on a token, where they are known; how many tokens it generated was not published.
    pub(crate) active_parameters: Option<f64>,
    /// Accuracy of the outcome, averaged over samples.
    pub outcome: f64,
    /// Accuracy overall.
    pub overall: f64,
    /// F1 overall.
    pub f1: f64,
    /// The share of lucky guesses that it recognises.
    pub lucky_guess: Option<f64>,
}

/// The paper's rows that are not known judges of juror: the rules, and the best closed model.
const OTHERS: [(&str, f64, f64, f64); 2] = [
    ("Math-Verify (rules)", 67.71, 65.93, 57.88),
    ("Gemini-2.5-Pro (thinking)", 91.52, 88.56, 86.19),
];

/// The paper's rows, the best overall judge last.
pub fn prime_rows() -> Vec<PrimeRow> {
    let known = known_judges::judges().iter().filter_map(|judge| {
        let figures = judge.prime.as_ref()?;
        Some(PrimeRow {
            judge: judge.id.clone(),
            active_parameters: judge.active,
            outcome: figures.outcome,
            overall: figures.overall,
            f1: figures.f1,
            lucky_guess: figures.lucky_guess,
        })
    });
    let others = OTHERS.map(|(judge, outcome, overall, f1)| PrimeRow {
        judge: judge.to_owned(),
        active_parameters: None,
        outcome,
        overall,
        f1,
        lucky_guess: None,
    });
    let mut rows: Vec<PrimeRow> = known.chain(others).collect();
    rows.sort_by(|a, b| a.overall.total_cmp(&b.overall));
    rows
}

const SUBJECTS: [(&str, usize); 4] = [
    ("Math", 900),
    ("Physics", 448),
    ("Chemistry", 782),
    ("Biology", 397),
];

/// Rows with a right outcome and a wrong derivation.
const LUCKY_GUESSES: usize = 429;

/// How labelled samples differ from the benchmark; empty if they do not.
pub fn check_prime(samples: &Samples) -> Vec<String> {
    let mut found = Vec::new();
    let mut check = |what: &str, is: usize, should: usize| {
        if is != should {
            found.push(format!("{what}: {is} rows, and {should} in PRIME"));
        }
    };
    let labelled = &samples.labelled;
    check(
        "all",
        labelled.len(),
        SUBJECTS.iter().map(|(_, count)| count).sum(),
    );
    for (subject, count) in SUBJECTS {
        let is_of = |name: &str| {
            let (name, subject) = (name.to_lowercase(), subject.to_lowercase());
            name == subject || name == format!("{subject}s") || name == format!("{subject}ematics")
        };
        let of_subject = labelled.iter().filter(|one| {
            one.subject
                .is_some_and(|number| is_of(samples.subjects.name(number)))
        });
        check(subject, of_subject.count(), count);
    }
    let count = |outcome, overall| {
        let is = |one: &&super::Labelled| {
            (Task::Outcome.label(one), Task::Overall.label(one)) == (Some(outcome), Some(overall))
        };
        labelled.iter().filter(is).count()
    };
    check("lucky guesses", count(true, false), LUCKY_GUESSES);
    check("outcome wrong and overall right", count(false, true), 0);
    found
}
