//! `juror judge --rank`: which of the responses to a question is better, by comparing every two of them in both orders.

use std::io;

use serde_json::json;

use super::{Output, check, read_own_rows, verdicts, without_file};
use crate::cli::judge::arguments::JudgeArguments;
use crate::cli::judge::{Ran, load_inputs, run_one};
use crate::cli::progress::percent;
use crate::cli::{Failure, INTERRUPTED, OrFail, counted, say};
use juror_data::output::{OutputFile, OutputFormat};
use juror_data::{Needs, Rows, Sample, Samples};
use juror_judge::judge::compare::{ComparisonReport, Pairs};

/// Compares every two responses to each question.
pub(super) fn run(arguments: &JudgeArguments) -> Result<u8, Failure> {
    let mut output = Output::new(arguments, "--rank", "comparisons").or_usage()?;
    if output.format != OutputFormat::JsonLines {
        bail_usage!("--rank writes JSON lines: name a file that ends in .jsonl");
    }
    let not_here = [
        (arguments.output.skip_bad, "--skip-bad"),
        (arguments.output.summary_json.is_some(), "--summary-json"),
        (!arguments.output.keep.is_empty(), "--keep"),
    ];
    if let Some((_, option)) = not_here.iter().find(|(given, _)| *given) {
        bail_usage!("{option} has no meaning with --rank, which writes rankings");
    }
    let out = output.beside("comparisons");
    output.check_judge("comparisons")?;
    let rows = output.rows("pairs", &out)?;
    let mut line = arguments.of_one(out.clone());
    line.output.end = arguments.output.end;
    let named = &mut line.judge.prompt.protocol;
    named.get_or_insert_with(|| "pairwise".to_owned());
    let protocol = check(&line)?;
    if !protocol.compares {
        let name = &protocol.name;
        bail_usage!(
            "--rank has no meaning under protocol {name}, which sees one response at a time"
        );
    }
    let prompt = &arguments.judge.prompt;
    let columns = prompt
        .columns(&arguments.columns, protocol.as_ref())
        .or_usage()?;
    let needs = Needs {
        reference: protocol.needs_reference,
        ..Needs::default()
    };
    let loaded = load_inputs(
        &arguments.inputs,
        &arguments
            .rows
            .options(columns.with_needs(needs), false, Some(output.file.path())),
    )?;
    let samples = &loaded.samples;
    let pairs = Pairs::new(samples).or_fail()?;
    if pairs.pairs.is_empty() {
        let why = "no question has two responses: nothing can be compared; rows of one question must have the very same question";
        bail_usage!(why);
    }
    if !arguments.output.end.quiet {
        say(&format!("columns: {}", loaded.columns));
        let questions = pairs.questions.len();
        let count = pairs.pairs.len();
        say(&format!(
            "{} with several responses: {}, each in both orders",
            counted(questions, "question"),
            counted(count, "pair")
        ));
    }
    write_pairs(&rows, samples, &pairs.pairs)?;
    read_own_rows(&mut line, rows.path());
    let Ran { code, .. } = run_one(line)?;
    if code == INTERRUPTED {
        return Ok(code);
    }
    let comparisons = pairs.compared(verdicts(&out).or_fail()?).or_fail()?;
    let rankings = pairs.rankings(samples, &comparisons).or_fail()?;
    output
        .file
        .write(|writer| {
            for ranking in &rankings {
                serde_json::to_writer(&mut *writer, ranking)?;
                writer.write_all(b"\n")?;
            }
            Ok(())
        })
        .or_fail()?;
    if !arguments.output.end.quiet {
        print(ComparisonReport::new(&comparisons));
        say(&format!("rankings in {}", output.file.path().display()));
    }
    Ok(code)
}

/// Writes the rows of all comparisons: each pair in both orders.
fn write_pairs(out: &OutputFile, samples: &Rows, pairs: &[(usize, usize)]) -> Result<(), Failure> {
    let written = out.write(|writer| {
        for &(one, other) in pairs {
            let fetched = samples.fetch(&[one, other]).map_err(io::Error::other)?;
            let Ok(pair) = <[Sample; 2]>::try_from(fetched) else {
                continue;
            };
            for sample in Pairs::samples_of(&pair) {
                let mut row = sample.row(false);
                row["other_response"] = json!(sample.other_answer);
                writeln!(writer, "{row}")?;
            }
        }
        Ok(())
    });
    written.map_err(without_file).or_fail()
}

fn print(report: ComparisonReport) {
    let ComparisonReport {
        consistent,
        first_of_two,
    } = report;
    say(&format!(
        "both orders say the same of {} of {} pairs ({})",
        consistent.count,
        consistent.known,
        percent(consistent.count, consistent.known)
    ));
    if let Some((low, high)) = first_of_two.interval() {
        say(&format!(
            "position: the response shown first is found better in {} of {} comparisons that prefer one ({}, 95 % interval {:.1} to \
             {:.1} %; without a bias half)",
            first_of_two.count,
            first_of_two.known,
            percent(first_of_two.count, first_of_two.known),
            100.0 * low,
            100.0 * high
        ));
    }
}
