//! `juror judge --dry-run`: what would be judged, without a model's weights.

use std::io::Write;

use rayon::prelude::*;

use crate::cli::for_output;
use crate::dataset::Samples;
use crate::judge::Session;
use crate::judge::jobs::cut_positions;
use crate::judge::prompt::{TokenCount, TooLong};
use crate::terminal::escaped;

/// Samples that a dry run reads at a time.
const DRY_RUN_AT_ONCE: usize = 256;

/// Counts, token statistics, an estimate, and the first prompt.
pub(super) fn print(session: &Session) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let samples = &session.loaded.samples;
    let trials = session.options.trials as usize;
    writeln!(
        out,
        "{} samples × {trials} trials = {} verdicts",
        samples.count(),
        samples.count().saturating_mul(trials)
    )?;
    let Some((_, text)) = &session.judge else {
        writeln!(out, "rules alone: no model is asked")?;
        return Ok(());
    };
    if samples.count() == 0 {
        return Ok(());
    }
    let context = text.config.max_positions;
    let most = session.options.max_new_tokens;
    let mut sorted: Vec<usize> = Vec::with_capacity(samples.count());
    let (mut too_long, mut uncounted) = (0, 0);
    let positions: Vec<usize> = (0..samples.count()).collect();
    let mut rest = positions.as_slice();
    while !rest.is_empty() {
        let now = cut_positions(&mut rest, samples, DRY_RUN_AT_ONCE);
        let prompts: Result<Vec<_>, _> = samples
            .fetch(now)?
            .par_iter()
            .map(|sample| {
                let prompt = text.prompt(sample, most);
                prompt.map(|prompt| prompt.map(|tokens| tokens.len()))
            })
            .collect();
        for prompt in prompts? {
            too_long += usize::from(prompt.is_err());
            match prompt.map_err(|TooLong { tokens }| tokens) {
                Ok(length) | Err(TokenCount::Exactly(length)) => sorted.push(length),
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
    if sorted.is_empty() {
        return Ok(());
    }
    let total: usize = sorted.iter().sum();
    let shared = text.prompts.shared_prefix().len();
    let own: usize = total - shared * sorted.len();
    let last = sorted.len() - 1;
    let generated = most.saturating_mul(sorted.len()).saturating_mul(trials);
    writeln!(
        out,
        "prompt tokens: {total} in all; {} least, {} median, {} most; the first {shared} are the same in all",
        sorted[0],
        sorted[last / 2],
        sorted[last]
    )?;
    if too_long > 0 {
        writeln!(
            out,
            "too long: {too_long} samples do not fit the context of {context} with {most} new tokens"
        )?;
    }
    writeln!(
        out,
        "estimate: {} prompt tokens to compute (the shared ones once), up to {} to generate; at {:.1} M parameters up \
         to {:.3} TFLOP beside attention",
        shared + own,
        generated,
        text.config.parameters() as f64 / 1e6,
        2.0 * text.config.parameters() as f64 * ((shared + own) as f64 + generated as f64) / 1e12,
    )?;
    let first = &samples.fetch(&[0])?[0];
    writeln!(
        out,
        "\nthe first prompt ({}):\n\n{}",
        escaped(&first.id),
        for_output(&text.prompts.text(first))
    )?;
    Ok(())
}
