//! `juror judge --cascade`

use super::{Output, check, has_begun, read_own_rows, say_summary, verdicts};
use crate::cli::endpoint::EndpointArguments;
use crate::cli::judge::arguments::JudgeArguments;
use crate::cli::judge::run_one;
use crate::cli::progress::percent;
use crate::cli::several::{CascadeChoice, SeveralArguments};
use crate::cli::{Failure, INTERRUPTED, OrFail};
use juror_data::Samples;
use juror_data::verdict::Verdict;
use juror_judge::judge::cascade::{Cascade, Escalated};
use juror_judge::judge::together::Together;
use juror_judge::judge::{JudgeText, Share};

/// Runs the first judge, and the second where the first is unsure.
pub(super) fn run(arguments: &JudgeArguments, choice: &CascadeChoice) -> Result<u8, Failure> {
    let (models, unsure) = (&choice.models, choice.unsure);
    let [small_name, large_name] = &choice.names;
    let mut output = Output::new(arguments, "--cascade", small_name).or_usage()?;
    let line = |model: &str, name: &str| {
        let mut line = arguments.of_one(output.beside(name));
        model.clone_into(&mut line.judge.model);
        // It draws from what the first judge is sure of.
        line.verdict.rules.audit = None;
        line
    };
    let first = line(&models[0], small_name);
    // Other bounds are other samples: a run of its own for the second judge, and the first one's stays.
    let mut part = format!("{}-{}", unsure.0, unsure.1);
    if let Some(share) = arguments.verdict.rules.audit {
        let seed = arguments.sampling.seed;
        part = format!("{part}.audit-{share}-{seed}");
    }
    let large_part = format!("{large_name}.{part}");
    let large_out = output.beside(&large_part);
    let mut second = line(&models[1], &large_part);
    // Of the first alone probabilities are needed.
    second.several = SeveralArguments::default();
    let judges = [&first, &second].map(|line| (&line.endpoint, line.judge.model.as_str()));
    EndpointArguments::check_keys(judges).or_usage()?;
    for line in [&first, &second] {
        let protocol = check(line)?;
        CascadeChoice::check(protocol.as_ref()).or_usage()?;
    }
    output.check_judge(small_name)?;
    output.check_judge(&large_part)?;
    let escalated_rows = output.rows(&format!("escalated.{part}"), &large_out)?;
    let mut first = first;
    // What the first did not judge, the second was asked: once it has begun, its rows stay what they are.
    first.no_retry_failed |= has_begun(&large_out);
    let ran = run_one(first)?;
    if ran.code == INTERRUPTED {
        return Ok(ran.code);
    }
    let of_small = ran.session;
    let Some(text) = of_small.text() else {
        bail_usage!("--cascade asks two models, and --rules only asks none");
    };
    let seed = arguments.sampling.seed;
    let cascade = choice.cascade(text, of_small.options.reward, &arguments.verdict, seed);
    let escalation = cascade
        .escalate(verdicts(&output.beside(small_name)).or_fail()?)
        .or_fail()?;
    let samples = &of_small.loaded.samples;
    let asked = escalation.keys();
    let mut positions: Vec<usize> = asked.filter_map(|&index| samples.position(index)).collect();
    positions.sort_unstable();
    let mut outputs = vec![output.beside(small_name)];
    let mut of_large = None;
    if !positions.is_empty() {
        of_small.write_rows(&escalated_rows, &positions).or_fail()?;
        read_own_rows(&mut second, escalated_rows.path());
        second.output.skip_bad = false;
        second.output.keep = Vec::new();
        let ran = run_one(second)?;
        if ran.code == INTERRUPTED {
            return Ok(ran.code);
        }
        of_large = ran.session.text().cloned();
        outputs.push(large_out.clone());
    }
    let mut together = Together::Cascade(cascade);
    let differs = |verdict: &Verdict| {
        let (id, trial, file) = (&verdict.id, verdict.trial, large_out.display());
        format!("{file}: no verdict on trial {trial} of {id:?}, or one that was not asked for")
    };
    let keep = &of_small.loaded.keep;
    let summary =
        output.write_together(&mut together, Some(&escalation), &outputs, keep, differs)?;
    let mut rows = Vec::new();
    if let Together::Cascade(cascade) = &together {
        let (asked, all) = (positions.len(), samples.count());
        rows.push(format!(
            "{large_name} was asked about {asked} of {all} samples ({}): {small_name} was unsure of {}",
            percent(asked, all),
            escalation.values().filter(|why| **why == Escalated::Unsure).count()
        ));
        rows.extend(changes(cascade, arguments.verdict.rules.audit.is_some()));
        if let Some(large) = &of_large {
            rows.push(cost(cascade, [text, large], asked as f64 / all as f64));
        }
    }
    say_summary(arguments, &output, &summary, &rows)
}

/// Where the second judge said something else.
fn changes(cascade: &Cascade, audits: bool) -> [String; 2] {
    let ([small, large], report) = (&cascade.names, &cascade.report);
    let share = |share: Share| {
        let Share { count, known } = share;
        (count, known, percent(count, known))
    };
    let (count, known, percent) = share(report.changed);
    let unsure = format!(
        "where {small} was unsure, {large} gave another overall verdict on {count} of {known} samples ({percent})"
    );
    let (count, known, percent) = share(report.checked);
    let sure = match report.checked.interval() {
        Some((low, high)) => format!(
            "where {small} was sure, on {count} of {known} ({percent}, 95 % interval {:.1} to {:.1} %)",
            100.0 * low,
            100.0 * high
        ),
        None if audits => "--audit drew no sample of those that it was sure of".to_owned(),
        None => "samples that it was sure of were not checked: --audit 5% does".to_owned(),
    };
    [unsure, sure]
}

/// What both judges have cost, against the second one alone, had it been asked about all samples, each as long as those it was asked about:
/// `asked` is their share.
fn cost(cascade: &Cascade, texts: [&JudgeText; 2], asked: f64) -> String {
    let [small, large] = &cascade.names;
    let configs = texts.map(|text| text.config.as_ref());
    let are_known = configs.iter().all(Option::is_some);
    let cost = |at: usize| {
        let usage = cascade.report.usage[at];
        // What a server does for a token is not known: each counts as one.
        let size = configs[at].filter(|_| are_known);
        let size = size.map_or(1.0, |config| config.active_layer_parameters() as f64);
        size * (usage.prompt_tokens + usage.completion_tokens) as f64
    };
    let alone = cost(1) / asked;
    format!(
        "cost, in {}: {:.0} % of {large} alone ({small} {:.0} %)",
        if are_known {
            "active parameters times tokens"
        } else {
            "tokens, of whatever size the models are"
        },
        100.0 * (cost(0) + cost(1)) / alone,
        100.0 * cost(0) / alone
    )
}
