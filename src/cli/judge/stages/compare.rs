//! `juror judge --compare`: which of the responses to a question is better, by comparing every two of them in both orders.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use anyhow::anyhow;
use serde_json::{Value, json};

use super::{Output, check, of_judge, verdicts};
use crate::cli::columns::ColumnArguments;
use crate::cli::judge::arguments::JudgeArguments;
use crate::cli::judge::{Ran, load_inputs, run_one};
use crate::cli::progress::percent;
use crate::cli::{Failure, INTERRUPTED, OrFail, say};
use crate::dataset::output::{OutputFormat, write_atomically};
use crate::dataset::{LineLimit, LoadOptions, Needs, Rows, Samples};
use crate::judge::Share;
use crate::verdict::Status;

/// The responses to one question: the positions of their samples.
type Group = Vec<usize>;

/// Compares every two responses to each question.
pub(super) fn run(arguments: &JudgeArguments) -> Result<u8, Failure> {
    let output = Output::of(arguments, "--compare", "comparisons").or_usage()?;
    if output.format != OutputFormat::JsonLines {
        return Err(anyhow!(
            "--compare writes JSON lines: name a file that ends in .jsonl"
        ))
        .or_usage();
    }
    let out = output.beside("comparisons");
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
    let needs = Needs {
        reference: protocol.needs_reference(),
        ..Needs::default()
    };
    let loaded = load_inputs(
        &arguments.inputs,
        &LoadOptions {
            columns: arguments.columns.map().or_usage()?.with_needs(needs),
            limit: arguments.rows.limit,
            max_line: LineLimit(arguments.rows.max_line_bytes),
            skip_bad: arguments.output.skip_bad,
            output: Some(output.path.clone()),
            ..LoadOptions::default()
        },
    )?;
    let samples = &loaded.samples;
    let groups = groups(samples);
    let pairs: Vec<(usize, usize)> = groups.iter().flat_map(pairs).collect();
    if pairs.is_empty() {
        let why = "no question has two responses: nothing can be compared; rows of one question must have the very same question";
        return Err(anyhow!(why)).or_usage();
    }
    if !arguments.output.quiet {
        say(&format!("columns: {}", loaded.columns));
        let questions = groups.iter().filter(|group| group.len() > 1).count();
        let count = pairs.len();
        say(&format!(
            "{questions} questions with several responses: {count} pairs, each in both orders"
        ));
    }
    let rows = output.beside("pairs");
    write_pairs(&rows, samples, &pairs)?;
    line.inputs = vec![rows];
    line.columns = ColumnArguments::of_own_rows();
    line.rows.limit = None;
    line.output.skip_bad = false;
    line.output.keep = Vec::new();
    let Ran { code, .. } = run_one(line)?;
    if code == INTERRUPTED {
        return Ok(code);
    }
    let mut comparisons = vec![Comparison::default(); pairs.len()];
    let mut first_of_two = Share::default();
    for verdict in verdicts(&out).or_fail()? {
        let verdict = verdict.or_fail()?;
        let score = verdict.score.filter(|_| verdict.status == Status::Ok);
        let (Some(score), Some(comparison)) = (score, comparisons.get_mut(verdict.index / 2))
        else {
            continue;
        };
        if (score - 0.5).abs() > 1e-9 {
            first_of_two.add(Some(score > 0.5));
        }
        comparison.add(verdict.index % 2 == 1, score);
    }
    write(&output.path, samples, &groups, &pairs, &comparisons)?;
    if !arguments.output.quiet {
        print(&comparisons, first_of_two);
        say(&format!("rankings in {}", output.path.display()));
    }
    Ok(code)
}

/// The responses to each question, in the order of the input.
fn groups(samples: &Rows) -> Vec<Group> {
    let mut places: HashMap<u64, usize> = HashMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for position in 0..samples.count() {
        let place = *places
            .entry(samples.outline(position).question)
            .or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
        groups[place].push(position);
    }
    groups
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
fn write_pairs(out: &Path, samples: &Rows, pairs: &[(usize, usize)]) -> Result<(), Failure> {
    let mut failed = None;
    let written = write_atomically(out, |writer| {
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
    out: &Path,
    samples: &Rows,
    groups: &[Group],
    pairs: &[(usize, usize)],
    comparisons: &[Comparison],
) -> Result<(), Failure> {
    let mut compared = pairs.iter().zip(comparisons);
    let mut lines: Vec<Value> = Vec::new();
    for group in groups.iter().filter(|group| group.len() > 1) {
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
    write_atomically(out, |writer| {
        for line in &lines {
            serde_json::to_writer(&mut *writer, line)?;
            writer.write_all(b"\n")?;
        }
        Ok(())
    })
    .or_fail()
}

fn print(comparisons: &[Comparison], first_of_two: Share) {
    let mut consistent = Share::default();
    for comparison in comparisons {
        consistent.add(comparison.is_consistent());
    }
    say(&format!(
        "both orders say the same of {} of {} pairs ({})",
        consistent.count,
        consistent.known,
        percent(consistent.count, consistent.known)
    ));
    if let Some((low, high)) = first_of_two.interval() {
        say(&format!(
            "position: the response shown first is found better in {} of {} verdicts that prefer one ({}, 95 % interval {:.1} to \
             {:.1} %; without a bias half)",
            first_of_two.count,
            first_of_two.known,
            percent(first_of_two.count, first_of_two.known),
            100.0 * low,
            100.0 * high
        ));
    }
}
