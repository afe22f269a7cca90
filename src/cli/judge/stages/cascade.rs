//! `juror judge --cascade`

use std::io::{self, Write};

use super::{Output, check, has_begun, say_summary, verdicts};
use crate::cli::columns::ColumnArguments;
use crate::cli::endpoint::EndpointArguments;
use crate::cli::judge::arguments::JudgeArguments;
use crate::cli::judge::{Ran, run_one};
use crate::cli::progress::percent;
use crate::cli::several::{CascadeChoice, SeveralArguments};
use crate::cli::{Failure, INTERRUPTED, OrFail};
use juror_data::Samples;
use juror_engine::checkpoint::ModelConfig;
use juror_judge::judge::Summary;
use juror_judge::judge::cascade::CascadeReport;

/// Runs the first judge, and the second where the first is unsure.
pub(super) fn run(arguments: &JudgeArguments, choice: &CascadeChoice) -> Result<u8, Failure> {
    let (models, unsure) = (&choice.models, choice.unsure);
    let [small_name, large_name] = &choice.names;
    let mut output = Output::of(arguments, "--cascade", small_name).or_usage()?;
    let line = |model: &str, name: &str| {
        let mut line = arguments.of_one(output.beside(name));
        model.clone_into(&mut line.judge.model);
        line.endpoint.of_several();
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
    let asked = escalation.unsure.iter().chain(&escalation.audited);
    let mut positions: Vec<usize> = asked.filter_map(|&index| samples.position(index)).collect();
    positions.sort_unstable();
    let asks = !positions.is_empty();
    let mut of_large = None;
    if asks {
        of_small.write_rows(&escalated_rows, &positions).or_fail()?;
        second.inputs = vec![escalated_rows.path().to_owned()];
        second.columns = ColumnArguments::of_own_rows();
        second.rows.limit = None;
        second.output.skip_bad = false;
        second.output.keep = Vec::new();
        let ran = run_one(second)?;
        if ran.code == INTERRUPTED {
            return Ok(ran.code);
        }
        of_large = Some(ran);
    }
    let mut summary = Summary::default();
    let mut report = CascadeReport::default();
    let names = [small_name.as_str(), large_name.as_str()];
    let fill = |writer: &mut dyn Write| {
        let mut larger = match &of_large {
            Some(_) => Some(verdicts(&large_out)?),
            None => None,
        };
        for verdict in verdicts(&output.beside(small_name))? {
            let verdict = verdict?;
            let why = escalation.why(verdict.index);
            let other = match larger.as_mut().filter(|_| why.is_some()) {
                Some(larger) => larger.next().transpose()?,
                None => None,
            };
            if let Some(other) = &other
                && (&other.id, other.trial) != (&verdict.id, verdict.trial)
            {
                return Err(io::Error::other(format!(
                    "{} has no verdict on trial {} of {:?}",
                    large_out.display(),
                    verdict.trial,
                    verdict.id
                )));
            }
            let verdict = report.add(names, verdict, why.zip(other));
            summary.add(&verdict);
            serde_json::to_writer(&mut *writer, &verdict)?;
            writer.write_all(b"\n")?;
        }
        Ok(())
    };
    output
        .format
        .write(&output.file, &of_small.loaded.keep, fill)
        .or_fail()?;
    let CascadeReport {
        changed,
        checked,
        tokens,
        ..
    } = report;
    let (asked, all) = (positions.len(), samples.count());
    let mut rows = vec![format!(
        "{large_name} was asked about {asked} of {all} samples ({}): {small_name} was unsure of {}",
        percent(asked, all),
        escalation.unsure.len()
    )];
    rows.push(format!(
        "where {small_name} was unsure, {large_name} gave another overall verdict on {} of {} samples ({})",
        changed.count,
        changed.known,
        percent(changed.count, changed.known)
    ));
    if let Some((low, high)) = checked.interval() {
        rows.push(format!(
            "where {small_name} was sure, on {} of {} ({}, 95 % interval {:.1} to {:.1} %)",
            checked.count,
            checked.known,
            percent(checked.count, checked.known),
            100.0 * low,
            100.0 * high
        ));
    } else if arguments.verdict.rules.audit.is_some() {
        rows.push("--audit drew no sample of those that it was sure of".to_owned());
    } else {
        rows.push("samples that it was sure of were not checked: --audit 5% does".to_owned());
    }
    if let Some(Ran { session, .. }) = &of_large
        && let Some(large_text) = session.text()
    {
        let sizes = text.config.as_ref().zip(large_text.config.as_ref());
        let cost = |config: Option<&ModelConfig>, tokens: usize| {
            // What a server does for a token is not known: each counts as one.
            config.map_or(1.0, |config| config.active_layer_parameters() as f64) * tokens as f64
        };
        let (small_size, large_size) = sizes.unzip();
        let (of_small, of_large) = (cost(small_size, tokens[0]), cost(large_size, tokens[1]));
        // Had it been asked about all samples, each as long as those it was asked about.
        let alone = of_large * all as f64 / asked.max(1) as f64;
        rows.push(format!(
            "cost, in {}: {:.0} % of {large_name} alone ({small_name} {:.0} %)",
            if sizes.is_some() {
                "active parameters times tokens"
            } else {
                "tokens, of whatever size the models are"
            },
            100.0 * (of_small + of_large) / alone,
            100.0 * of_small / alone
        ));
    }
    rows.push(format!("verdicts in {}", output.file.path().display()));
    say_summary(arguments, &output, &summary, &rows)?;
    Ok(arguments.output.end.code_of(&summary))
}
