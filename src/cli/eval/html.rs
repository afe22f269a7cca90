//! `juror eval --html`

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use serde_json::Value;

use super::super::inputs::Inputs;
use super::super::inputs::has_stdin;
use super::super::{Failure, OrFail, say};
use super::{EvalArguments, ScoredJudge};
use juror_data::output::OutputFile;
use juror_eval::eval::{Choices, PrimeRow, Samples};
use juror_eval::report::evaluation::{Contents, JudgeResults, html};

/// Refuses what a report cannot be made of, and reads the verdicts a second of each run from their summaries.
pub(super) fn check(arguments: &EvalArguments, judges: usize) -> Result<Vec<Option<f64>>, Failure> {
    let texts = texts(arguments);
    if arguments.html.is_some() && has_stdin(texts) {
        bail_usage!(
            "--html reads the rows with the texts a second time, which standard input cannot give: name a file"
        );
    }
    let summaries = &arguments.summaries;
    if summaries.len() > judges {
        bail_usage!("--summaries has more files than there are files of verdicts");
    }
    let rate = |path: &PathBuf| {
        let text = fs::read(path).with_context(|| path.display().to_string())?;
        let summary: Value = serde_json::from_slice(&text)
            .with_context(|| format!("{} is no JSON", path.display()))?;
        let rate = summary.get("verdicts_per_second").with_context(|| {
            format!(
                "{} is no summary of `juror judge --summary-json`: it has no `verdicts_per_second`",
                path.display()
            )
        })?;
        anyhow::Ok(rate.as_f64())
    };
    summaries
        .iter()
        .map(rate)
        .collect::<anyhow::Result<_>>()
        .or_usage()
}

fn texts(arguments: &EvalArguments) -> &[PathBuf] {
    if arguments.rows.is_empty() {
        &arguments.labels
    } else {
        &arguments.rows
    }
}

pub(super) fn write(
    file: &OutputFile,
    arguments: &EvalArguments,
    judged: &[ScoredJudge],
    samples: &Samples,
    choices: Option<&Choices>,
    published: &[PrimeRow],
    rates: &[Option<f64>],
) -> Result<(), Failure> {
    let columns = arguments.columns.map().or_usage()?;
    let texts = Inputs::fetch(texts(arguments))?.paths;
    let judges: Vec<JudgeResults<'_>> = judged
        .iter()
        .enumerate()
        .map(|(at, one)| JudgeResults {
            path: &one.path,
            verdicts: &one.verdicts,
            evaluation: &one.evaluation,
            comparisons: &one.comparisons,
            active_parameters: arguments.active_parameters.get(at).copied(),
            verdicts_per_second: rates.get(at).copied().flatten(),
        })
        .collect();
    let contents = Contents {
        judges: &judges,
        samples,
        inputs: &texts,
        columns: &columns,
        choices,
        published,
    };
    let page = html(&contents)?;
    file.write(|writer| writer.write_all(page.as_bytes()))
        .or_fail()?;
    say(&format!(
        "report in {}: open it in a browser",
        file.path().display()
    ));
    Ok(())
}
