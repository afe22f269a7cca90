//! `juror judge --compare`: which of the responses to a question is better, by comparing every two of them in both orders.

use std::collections::HashMap;
use std::io;

use anyhow::anyhow;
use serde_json::{Value, json};

use super::{Output, check, of_judge, verdicts};
use crate::cli::columns::ColumnArguments;
use crate::cli::judge::arguments::JudgeArguments;
use crate::cli::judge::{Ran, load_inputs, run_one};
use crate::cli::progress::percent;
use crate::cli::{Failure, INTERRUPTED, OrFail, say};
use juror_data::output::{OutputFile, OutputFormat};
use juror_data::verdict::Status;
use juror_data::{DatasetError, LineLimit, LoadOptions, Needs, Rows, Samples};
use juror_judge::judge::Share;

/// The responses to one question: the positions of their samples.
type Group = Vec<usize>;

/// Compares every two responses to each question.
pub(super) fn run(arguments: &JudgeArguments) -> Result<u8, Failure> {
    let mut output = Output::of(arguments, "--compare", "comparisons").or_usage()?;
    if output.format != OutputFormat::JsonLines {
        return Err(anyhow!(
            "--compare writes JSON lines: name a file that ends in .jsonl"
        ))
        .or_usage();
    }
    let not_here = [
        (arguments.output.skip_bad, "--skip-bad"),
        (arguments.output.summary_json.is_some(), "--summary-json"),
        (!arguments.output.keep.is_empty(), "--keep"),
    ];
    if let Some((_, option)) = not_here.iter().find(|(given, _)| *given) {
        return Err(anyhow!(
            "{option} has no meaning with --compare, which writes rankings"
        ))
        .or_usage();
    }
    let out = output.beside("comparisons");
    output.check_judge("comparisons")?;
    let rows = output.rows("pairs", &out)?;
    let mut further = vec!["--output".into(), out.clone().into()];
    if arguments.judge.prompt.protocol.is_none() {
        further.extend(["--protocol".into(), "pairwise".into()]);
    }
    let mut line = of_judge(further).or_usage()?;
    let protocol = check(&line)?;
    if !protocol.compares() {
        let name = protocol.name();
        return Err(anyhow!(
            "--compare has no meaning under protocol {name}, which sees one response at a time"
        ))
        .or_usage();
    }
    let prompt = &arguments.judge.prompt;
    let columns = prompt
        .columns(&arguments.columns, protocol.as_ref())
        .or_usage()?;
    let needs = Needs {
        reference: protocol.needs_reference(),
        ..Needs::default()
    };
    let loaded = load_inputs(
        &arguments.inputs,
        &LoadOptions {
            columns: columns.with_needs(needs),
            limit: arguments.rows.limit,
            max_line: LineLimit(arguments.rows.max_line_bytes),
            output: Some(output.file.path().to_owned()),
            ..LoadOptions::default()
        },
    )?;
    let samples = &loaded.samples;
    let groups = groups(samples).or_fail()?;
    let pairs: Vec<(usize, usize)> = groups.iter().flat_map(pairs).collect();
    if pairs.is_empty() {
        let why = "no question has two responses: nothing can be compared; rows of one question must have the very same question";
        return Err(anyhow!(why)).or_usage();
    }
    if !arguments.output.quiet {
        say(&format!("columns: {}", loaded.columns));
        let questions = groups.len();
        let count = pairs.len();
        say(&format!(
            "{questions} questions with several responses: {count} pairs, each in both orders"
        ));
    }
    write_pairs(&rows, samples, &pairs)?;
    line.inputs = vec![rows.path().to_owned()];
    line.columns = ColumnArguments::of_own_rows();
    line.rows.limit = None;
    let Ran { code, .. } = run_one(line)?;
    if code == INTERRUPTED {
        return Ok(code);
    }
    let mut comparisons = vec![Comparison::default(); pairs.len()];
    for verdict in verdicts(&out).or_fail()? {
        let verdict = verdict.or_fail()?;
        let score = verdict.score.filter(|_| verdict.status == Status::Ok);
        let (Some(score), Some(comparison)) = (score, comparisons.get_mut(verdict.index / 2))
        else {
            continue;
        };
        comparison.add(verdict.index % 2 == 1, score);
    }
    write(&output.file, samples, &groups, &pairs, &comparisons)?;
    if !arguments.output.quiet {
        print(&comparisons);
        say(&format!("rankings in {}", output.file.path().display()));
    }
    Ok(code)
}

/// The responses to each question with one and the same reference answer, in the order of the input.
fn groups(samples: &Rows) -> Result<Vec<Group>, DatasetError> {
    let mut places: HashMap<u64, usize> = HashMap::new();
    let mut of_questions: Vec<Group> = Vec::new();
    for position in 0..samples.count() {
        let place = *places
            .entry(samples.outline(position).question)
            .or_insert_with(|| {
                of_questions.push(Vec::new());
                of_questions.len() - 1
            });
        of_questions[place].push(position);
    }
    let mut groups: Vec<Group> = Vec::new();
    for positions in of_questions.into_iter().filter(|group| group.len() > 1) {
        let mut by_reference: Vec<(String, Group)> = Vec::new();
        for (sample, position) in samples.fetch(&positions)?.into_iter().zip(positions) {
            let reference = sample.reference_answer;
            match by_reference
                .iter_mut()
                .find(|(other, _)| *other == reference)
            {
                Some((_, group)) => group.push(position),
                None => by_reference.push((reference, vec![position])),
            }
        }
        groups.extend(by_reference.into_iter().map(|(_, group)| group));
    }
    groups.retain(|group| group.len() > 1);
    Ok(groups)
}

/// Every two of a group.
fn pairs(group: &Group) -> impl Iterator<Item = (usize, usize)> + '_ {
    let of = move |at: usize| {
        let others = group[at + 1..].iter();
        others.map(move |&other| (group[at], other))
    };
    (0..group.len()).flat_map(of)
}

/// What both orders of one pair say: how much better the first response of the pair is, from 0 to 1.
#[derive(Debug, Clone, Copy, Default)]
struct Comparison {
    /// Sum and count of the verdicts in the order of the pair, and in the other one.
    orders: [(f64, usize); 2],
}

impl Comparison {
    fn add(&mut self, is_turned: bool, score: f64) {
        let order = &mut self.orders[usize::from(is_turned)];
        order.0 += if is_turned { 1.0 - score } else { score };
        order.1 += 1;
    }

    /// The mean of each order.
    fn means(&self) -> [Option<f64>; 2] {
        self.orders
            .map(|(sum, count)| (count > 0).then(|| sum / count as f64))
    }

    /// The mean of both orders, each counting the same; of one where the other cannot be read.
    fn preference(&self) -> Option<f64> {
        match self.means() {
            [Some(one), Some(other)] => Some(f64::midpoint(one, other)),
            [one, other] => one.or(other),
        }
    }

    /// Do both orders say the same: the one, the other, or a tie?
    fn is_consistent(&self) -> Option<bool> {
        let side = |mean: f64| (mean > 0.5, mean < 0.5);
        match self.means() {
            [Some(one), Some(other)] => Some(side(one) == side(other)),
            _ => None,
        }
    }
}

/// Writes the rows of all comparisons: each pair in both orders.
fn write_pairs(out: &OutputFile, samples: &Rows, pairs: &[(usize, usize)]) -> Result<(), Failure> {
    let mut failed = None;
    let written = out.write(|writer| {
        for &(one, other) in pairs {
            let fetched = samples.fetch(&[one, other]).map_err(|error| {
                let told = io::Error::other(error.to_string());
                failed = Some(error);
                told
            })?;
            for (first, second) in [(0, 1), (1, 0)] {
                let (first, second) = (&fetched[first], &fetched[second]);
                let mut row = first.row(false);
                row["id"] = json!(format!("{} > {}", first.id, second.id));
                row["other_response"] = json!(second.student_answer);
                serde_json::to_writer(&mut *writer, &row)?;
                writer.write_all(b"\n")?;
            }
        }
        Ok(())
    });
    if let Some(error) = failed {
        return Err(error).or_fail();
    }
    written.or_fail()
}

/// Writes a line for each question: its responses with their scores and ranks, and its pairs.
fn write(
    out: &OutputFile,
    samples: &Rows,
    groups: &[Group],
    pairs: &[(usize, usize)],
    comparisons: &[Comparison],
) -> Result<(), Failure> {
    let mut compared = pairs.iter().zip(comparisons);
    let mut lines: Vec<Value> = Vec::new();
    for group in groups {
        let fetched = samples.fetch(group).or_fail()?;
        let ids: HashMap<usize, &str> = group
            .iter()
            .zip(&fetched)
            .map(|(position, sample)| (*position, sample.id.as_str()))
            .collect();
        // The preferences for each response.
        let mut scores: HashMap<usize, (f64, usize)> = HashMap::new();
        let mut shown = Vec::new();
        for (&(one, other), comparison) in
            compared.by_ref().take(group.len() * (group.len() - 1) / 2)
        {
            let preference = comparison.preference();
            if let Some(preference) = preference {
                for (position, won) in [(one, preference), (other, 1.0 - preference)] {
                    let score = scores.entry(position).or_default();
                    score.0 += won;
                    score.1 += 1;
                }
            }
            shown.push(json!({
                "first": ids[&one],
                "second": ids[&other],
                "preference": preference,
                "consistent": comparison.is_consistent(),
            }));
        }
        let score = |position: &usize| scores.get(position).map(|(sum, count)| sum / *count as f64);
        let responses: Vec<Value> = group
            .iter()
            .map(|position| {
                let own = score(position);
                let better = |other: &&usize| score(other) > own;
                let rank = own.map(|_| 1 + group.iter().filter(better).count());
                json!({"id": ids[position], "score": own, "rank": rank})
            })
            .collect();
        lines.push(json!({
            "question": fetched[0].question,
            "group": fetched[0].group,
            "responses": responses,
            "pairs": shown,
        }));
    }
    out.write(|writer| {
        for line in &lines {
            serde_json::to_writer(&mut *writer, line)?;
            writer.write_all(b"\n")?;
        }
        Ok(())
    })
    .or_fail()
}

fn print(comparisons: &[Comparison]) {
    let (mut consistent, mut first_of_two) = (Share::default(), Share::default());
    for comparison in comparisons {
        consistent.add(comparison.is_consistent());
        // The trials of one order are one opinion. In the other order the first one shown is the second of the pair.
        for (mean, is_turned) in comparison.means().into_iter().zip([false, true]) {
            let prefers_first = mean.filter(|mean| (mean - 0.5).abs() > 1e-9);
            first_of_two.add(prefers_first.map(|mean| (mean > 0.5) != is_turned));
        }
    }
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
