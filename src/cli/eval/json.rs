//! `juror eval` as JSON: everything in one value with a schema, or a line for each verdict.

use std::collections::BTreeMap;
use std::io::Write;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::ScoredJudge;
use juror_eval::eval::{
    Choices, Comparison, Evaluation, Miss, PrimeRow, RESAMPLES, Samples, Task, Verdicts,
};

/// The version of what `juror eval --json` writes: a key that goes or means something else makes it higher.
const VERSION: u32 = 1;

/// What `juror eval --json` writes: judges scored against labels. All shares are of 1, all intervals of 95 %.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "juror eval")]
pub(super) struct Report {
    /// 1.
    version: u32,
    /// The judges: VERDICTS first, then those of `--compare`.
    judges: Vec<JudgeReport>,
    /// Resamples of each bootstrap.
    resamples: usize,
    /// Of several judges: what each costs and loses against the best.
    #[serde(skip_serializing_if = "Option::is_none")]
    choices: Option<Choices>,
    /// With `--reference prime`: what was published, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    prime: Option<Vec<PrimeRow>>,
}

/// One judge.
#[derive(Debug, Serialize, JsonSchema)]
struct JudgeReport {
    #[serde(flatten)]
    evaluation: Evaluation,
    /// How it differs from the first judge, by task.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    against_first: BTreeMap<Task, AgainstFirst>,
}

/// A judge against the first.
#[derive(Debug, Serialize, JsonSchema)]
struct AgainstFirst {
    #[serde(flatten)]
    comparison: Comparison,
    /// Samples on which exactly one of the two is right.
    flips: Vec<FlipReport>,
}

/// A sample on which exactly one of two judges is right; of several trials what most say counts, nothing where they are tied.
#[derive(Debug, Serialize, JsonSchema)]
struct FlipReport {
    id: String,
    label: bool,
    /// What the first judge says; null for no verdict.
    first: Option<bool>,
    /// What the second says.
    second: Option<bool>,
}

impl Report {
    pub(super) fn new(
        judged: &[ScoredJudge],
        samples: &Samples,
        choices: Option<Choices>,
        prime: Vec<PrimeRow>,
    ) -> Self {
        let judge = |one: &ScoredJudge| {
            let comparisons = one.comparisons.iter().map(|(task, comparison, flips)| {
                let flips = flips.iter().map(|flip| FlipReport {
                    id: samples.id(flip.sample).to_owned(),
                    label: flip.label,
                    first: flip.predictions[0],
                    second: flip.predictions[1],
                });
                let report = AgainstFirst {
                    comparison: comparison.clone(),
                    flips: flips.collect(),
                };
                (*task, report)
            });
            JudgeReport {
                evaluation: one.evaluation.clone(),
                against_first: comparisons.collect(),
            }
        };
        Self {
            version: VERSION,
            judges: judged.iter().map(judge).collect(),
            resamples: RESAMPLES,
            choices,
            prime: Some(prime).filter(|rows| !rows.is_empty()),
        }
    }
}

/// A line for each verdict: its label, what it says, and how it missed the label.
pub(super) fn rows(
    writer: &mut dyn Write,
    verdicts: &Verdicts,
    samples: &Samples,
) -> std::io::Result<()> {
    for scored in &verdicts.scored {
        let Some(labelled) = samples.labelled.get(scored.sample as usize) else {
            continue;
        };
        let row = json!({
            "id": samples.id(scored.sample), "trial": scored.trial, "line": scored.line, "status": scored.status,
            "subject": labelled.subject.map(|number| samples.subjects.name(number)),
            "label": {"process": labelled.process, "outcome": labelled.outcome, "overall": labelled.overall},
            "verdict": {"process": scored.process, "outcome": scored.outcome, "overall": scored.overall},
            "misses": Miss::all_of(scored, labelled),
        });
        writeln!(writer, "{row}")?;
    }
    Ok(())
}
