//! `juror judge --own-answer`: the judge solves each question before it sees a response to it.

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use super::{beside, check, has_begun, read_own_rows, verdicts, without_file};
use crate::cli::inputs::has_stdin;
use crate::cli::judge::arguments::JudgeArguments;
use crate::cli::judge::{load_inputs, run_one, shard_in_name};
use crate::cli::prompt_choice::PromptChoice;
use crate::cli::{Failure, INTERRUPTED, OrFail, counted, output, say};
use juror_data::Samples;
use juror_data::output::{Mark, has_place_beside};
use juror_judge::judge::RulesMode;
use juror_judge::judge::jobs::batches;
use juror_judge::judge::own::OwnSolutions;
use juror_judge::protocol::OWN_SOLUTION;

/// Samples that are read at a time.
const AT_ONCE: usize = 256;

/// Has each question solved once, in an output beside OUT, and then judges with the solutions.
pub(super) fn run(arguments: &JudgeArguments) -> Result<u8, Failure> {
    let out = arguments.output.output.clone();
    let Some(out) = out.filter(|out| has_place_beside(out)) else {
        bail_usage!(
            "--own-answer keeps the judge's solutions next to the verdicts: name a file with `-o`"
        );
    };
    if has_stdin(&arguments.inputs) {
        bail_usage!("--own-answer reads the input twice: name a file, not standard input");
    }
    let out = shard_in_name(out, arguments.rows.shard).or_usage()?;
    let protocol = check(arguments)?;
    if protocol.compares {
        bail_usage!(
            "--own-answer is for responses that are judged one by one: give it with another --protocol"
        );
    }
    let solved = beside(&out, "solutions");
    let mut files = output::outputs(arguments.output.force);
    files.open(&out, Mark::Journal(out.clone())).or_usage()?;
    if arguments.judge.model == "tiny" && arguments.endpoint.endpoint.is_none() {
        bail_usage!(
            "--own-answer asks the judge for solutions, and the built-in `tiny` writes verdicts alone: name another judge with --model"
        );
    }
    let mark = || Mark::Journal(solved.clone());
    files.open(&solved, mark()).or_usage()?;
    let rows = files.open(&beside(&out, "questions"), mark()).or_usage()?;
    let prompt = &arguments.judge.prompt;
    let columns = prompt
        .columns(&arguments.columns, protocol.as_ref())
        .or_usage()?;
    let loaded = load_inputs(
        &arguments.inputs,
        &arguments
            .rows
            .options(columns, arguments.output.skip_bad, Some(&out)),
    )?;
    let samples = &loaded.samples;
    let mut seen = HashSet::new();
    let first: Vec<usize> = (0..samples.count())
        .filter(|at| seen.insert(samples.outline(*at).question))
        .collect();
    let written = rows.write(|writer| {
        for now in batches(&first, |at| at, samples, AT_ONCE) {
            for sample in samples.fetch(now).map_err(io::Error::other)? {
                // The response is not shown; a row has one.
                let row = json!({"id": format!("{:016x}", sample.question_hash()), "question": sample.question,
                    "reference_answer": "", "response": "-"});
                writeln!(writer, "{row}")?;
            }
        }
        Ok(())
    });
    written.map_err(without_file).or_fail()?;
    if !arguments.output.end.quiet {
        let count = first.len();
        say(&format!("solving {} first", counted(count, "question")));
    }
    if run_one(solving(arguments, rows.path(), &solved, &out))?.code == INTERRUPTED {
        return Ok(INTERRUPTED);
    }
    let solutions = solutions(&solved)?;
    if !arguments.output.end.quiet {
        let (own, all) = (solutions.count(), first.len());
        say(&format!(
            "own solutions of {own} of {all} questions, in {}",
            solved.display()
        ));
    }
    let mut second = arguments.clone();
    second.own_answer = false;
    second.own_solutions = Some(Arc::new(solutions));
    Ok(run_one(second)?.code)
}

/// The run that solves the questions of `rows` before that into `out`.
fn solving(arguments: &JudgeArguments, rows: &Path, solved: &Path, out: &Path) -> JudgeArguments {
    let mut line = arguments.of_one(solved.to_owned());
    line.own_answer = false;
    read_own_rows(&mut line, rows);
    line.data_origins = Vec::new();
    line.rows.shard = None;
    line.output.skip_bad = false;
    line.output.keep = Vec::new();
    line.output.consensus = None;
    line.output.hard = None;
    line.output.advantages = false;
    line.judge.prompt = PromptChoice {
        protocol: Some(OWN_SOLUTION.to_owned()),
        ..Default::default()
    };
    line.sampling.trials = 1;
    // Other solutions would be another run: once there are verdicts with these, they stay what they are.
    line.no_retry_failed |= has_begun(out);
    let verdict = &mut line.verdict;
    (verdict.reason, verdict.free, verdict.raw) = (false, true, false);
    (verdict.decide_only, verdict.require_process) = (false, false);
    (verdict.thinking_budget, verdict.reward) = (None, None);
    (verdict.calibration, verdict.min_confidence) = (None, None);
    verdict.rules.rules = RulesMode::Off;
    verdict.rules.audit = None;
    // Its own summary would be of verdicts that are none.
    line.output.end.quiet = true;
    line.output.end.allow_open = true;
    line
}

/// The solutions of a run, by the questions' hashes.
fn solutions(solved: &Path) -> Result<OwnSolutions, Failure> {
    let mut solutions = Vec::new();
    for verdict in verdicts(solved).or_fail()? {
        let verdict = verdict.or_fail()?;
        let question = u64::from_str_radix(&verdict.id, 16);
        if let (Ok(question), Some(solution)) = (question, verdict.answer) {
            solutions.push((question, solution));
        }
    }
    Ok(OwnSolutions::new(solutions))
}
