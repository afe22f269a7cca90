//! `juror judge --dry-run`: what would be judged, without a model's weights.

use std::io::Write;

use rayon::prelude::*;

use crate::bench::estimate::gigabytes;
use crate::bench::{Ceiling, Estimate, Seconds, Tokens};
use crate::cli::{counted, counted_are, for_output};
use juror_base::terminal::escaped;
use juror_data::Samples;
use juror_engine::checkpoint::{ModelConfig, ModelSource, Weights};
use juror_engine::model::memory::{MemoryFootprint, free_memory};
use juror_engine::model::precision::StoredAs;
use juror_judge::judge::build::{WorkloadLengths, engine_config, packed_numbers};
use juror_judge::judge::jobs::{self, batches};
use juror_judge::judge::prompt::TokenCount;
use juror_judge::judge::session::ModelRun;
use juror_judge::judge::{JudgeText, Session};

/// Samples that a dry run reads at a time.
const DRY_RUN_AT_ONCE: usize = 256;

/// Tokens that a judge who explains itself writes, as a rule.
const TYPICAL: usize = 300;

/// Counts, token statistics, an estimate, and the first prompt.
pub(super) fn print(session: &Session) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let samples = &session.loaded.samples;
    let trials = session.options.trials as usize;
    writeln!(
        out,
        "{} × {} = {}",
        counted(samples.count(), "sample"),
        counted(trials, "trial"),
        counted(samples.count().saturating_mul(trials), "verdict")
    )?;
    let Some(model) = session.model() else {
        writeln!(out, "rules alone: no model is asked")?;
        return Ok(());
    };
    let text = &model.text;
    if samples.count() == 0 {
        return Ok(());
    }
    let context = text.context;
    let most = session.options.max_new_tokens;
    let mut sorted: Vec<usize> = Vec::with_capacity(samples.count());
    let (mut too_long, mut uncounted, mut longest) = (0, 0, 0);
    let positions: Vec<usize> = (0..samples.count()).collect();
    for now in batches(&positions, |at| at, samples, DRY_RUN_AT_ONCE) {
        let prompts: Result<Vec<_>, _> = samples
            .fetch(now)?
            .par_iter()
            .filter_map(|sample| text.shown(sample, &session.options))
            .map(|sample| {
                let prompt = text.prompt(&sample, most);
                let longest =
                    |tokens: &[u32]| text.longest_completion(&sample, tokens, &session.options);
                prompt.map(|prompt| prompt.map(|tokens| (tokens.len(), longest(&tokens))))
            })
            .collect();
        for prompt in prompts? {
            too_long += usize::from(prompt.is_err());
            match prompt {
                Ok((length, written)) => {
                    sorted.push(length);
                    longest = longest.max(written);
                }
                Err(TokenCount::Exactly(length)) => sorted.push(length),
                Err(TokenCount::AtLeast(_)) => uncounted += 1,
            }
        }
    }
    sorted.sort_unstable();
    if uncounted > 0 {
        writeln!(
            out,
            "far too long: the tokens of {uncounted} samples are not counted"
        )?;
    }
    let not_asked = samples.count() - sorted.len() - uncounted;
    if not_asked > 0 {
        writeln!(
            out,
            "not asked: {} with several references, of which the rules do not tell the one to show",
            counted(not_asked, "sample")
        )?;
    }
    if sorted.is_empty() {
        return Ok(());
    }
    let total: usize = sorted.iter().sum();
    let shared = text.prompts.shared_prefix().len();
    let own: usize = total - shared * sorted.len();
    let last = sorted.len() - 1;
    // The tokens of a server may not be known here.
    let are_known = !text.is_elsewhere() || text.config.is_some();
    let unit = if are_known { "tokens" } else { "bytes" };
    writeln!(
        out,
        "prompt {unit}: {total} in all; {} least, {} median, {} most; the first {shared} are the same in all",
        sorted[0],
        sorted[last / 2],
        sorted[last]
    )?;
    if too_long > 0 {
        writeln!(
            out,
            "too long: {} outside the context of {context} with {most} new tokens",
            counted_are(too_long, "sample")
        )?;
    }
    let Some((source, config)) = model.model.files().zip(text.config.as_ref()) else {
        return first_prompt(&mut out, session, text, most);
    };
    let judged = (sorted.len() + uncounted).saturating_sub(too_long);
    let generations = judged.saturating_mul(trials);
    let generated = longest.saturating_mul(generations);
    writeln!(
        out,
        "estimate: {} prompt tokens to compute (the shared ones once), up to {generated} to generate, {longest} a verdict; at {:.1} M \
         parameters up to {:.3} TFLOP without attention",
        shared + own,
        config.parameters() as f64 / 1e6,
        2.0 * config.parameters() as f64 * ((shared + own) as f64 + generated as f64) / 1e12,
    )?;
    let tokens = |outputs: usize| Tokens {
        generations,
        prompts: shared + own,
        prompt_length: sorted[last / 2],
        outputs: outputs.saturating_mul(generations),
    };
    let tokens = [TYPICAL.min(longest), longest].map(|each| (each, tokens(each)));
    for line in estimate(session, model, (source, config), tokens) {
        writeln!(out, "{}", escaped(&line))?;
    }
    first_prompt(&mut out, session, text, most)
}

/// The first prompt that is sent: the judge is not asked about all samples, nor with prompts that are too long.
fn first_prompt(
    out: &mut impl Write,
    session: &Session,
    text: &JudgeText,
    most: usize,
) -> anyhow::Result<()> {
    let samples = &session.loaded.samples;
    for at in 0..samples.count() {
        let sample = &samples.fetch(&[at])?[0];
        let Some(first) = text.shown(sample, &session.options) else {
            continue;
        };
        if text.prompt(&first, most)?.is_ok() {
            let (id, prompt) = (escaped(&first.id), text.prompts.text(&first));
            let prompt = for_output(&prompt);
            writeln!(out, "\nthe first prompt ({id}):\n\n{prompt}")?;
            break;
        }
    }
    Ok(())
}

/// What time and memory the run will take, in lines: from what the device does in a short measurement.
fn estimate(
    session: &Session,
    model: &ModelRun,
    (source, config): (&ModelSource, &ModelConfig),
    [(typical, typically), (longest, tokens)]: [(usize, Tokens); 2],
) -> Vec<String> {
    let text = model.text.as_ref();
    let estimated = || -> anyhow::Result<Vec<String>> {
        let choice = model.devices.first().copied().unwrap_or_default();
        let device = choice.open()?;
        // Of several devices that hold a model each has a part.
        let (whole, config) = (config, &model.engine.part(config)?);
        let parts = model.engine.tensor_parallel.unwrap_or(1).max(1);
        let weights = Weights::open(source);
        // A model on the hub may have come without its weights: then they are mostly bf16.
        let stored = weights
            .as_ref()
            .map_or_else(|_| StoredAs::expected(whole), StoredAs::from);
        let precision = model.engine.precision.resolve(&device, stored)?;
        let packed = weights.as_ref().map_or(0, |weights| {
            let plain = model.engine.plain_operations;
            packed_numbers(config, weights, &device, precision, plain) / parts
        });
        let jobs = jobs::by_question(&session.loaded.samples, session.options.trials, |_, _| {
            false
        });
        let lengths = WorkloadLengths::new(&session.loaded.samples, &jobs, text, &session.options)?;
        let engine = engine_config(
            config,
            precision,
            &device,
            &lengths,
            &model.engine,
            Vec::new(),
        );
        let ceiling = Ceiling::measure(&device, precision)?;
        let footprint = MemoryFootprint::new(config, precision, &device);
        let estimate = |tokens: &Tokens| {
            Estimate::new(
                tokens,
                (config, parts),
                precision,
                packed,
                &engine,
                ceiling,
                &footprint,
            )
        };
        // Known text bounds what a constrained judge writes; a free one rarely writes as much as it may.
        let typically = match Seconds(estimate(&typically).output_seconds) {
            seconds if typical < longest => format!(
                "{seconds} for the completions if they have {typical} tokens, as is typical, "
            ),
            _ => String::new(),
        };
        let estimate = estimate(&tokens);
        Ok(vec![
            format!(
                "time, estimated: {} for the prompts, {typically}and up to {} for the completions, if all have {longest} tokens; from {:.0} \
                 GFLOP/s and {:.0} GB/s, measured now on {choice}{}",
                Seconds(estimate.prompt_seconds),
                Seconds(estimate.output_seconds),
                ceiling.flops / 1e9,
                ceiling.bandwidth / 1e9,
                match (parts, model.devices.len()) {
                    (2.., _) => ", for its part of the model, without sums over the devices",
                    (_, 2..) => ", as if it were the only device",
                    _ => "",
                }
            ),
            format!(
                "memory, estimated: {}; {} are free",
                estimate.memory(),
                gigabytes(free_memory(&device))
            ),
        ])
    };
    estimated().unwrap_or_else(|why| vec![format!("time and memory are not estimated: {why}")])
}
