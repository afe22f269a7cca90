//! The work of a run, as far as it is known before it begins, and how much of it is done.

use std::time::Duration;

use rayon::prelude::*;

use juror_base::panics;
use juror_data::Samples;
use juror_judge::judge::{Session, Summary};

/// Most samples whose prompts are counted; of more, runs of them at even distances stand for all.
const COUNTED: usize = 512;

/// Samples that are read at a time.
const AT_ONCE: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Work {
    /// Tokens of all prompts. What a prompt has in common with the one before it counts once.
    prompts: usize,
    /// The most tokens of a completion, where its form bounds them.
    most: Option<usize>,
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Progressed {
    pub(super) share: f64,
    /// The time that the rest takes at this pace, once the pace is known.
    pub(super) left: Option<Duration>,
    /// Before the first verdict: the tokens of prompts that are read, of so many.
    pub(super) reading: Option<(usize, usize)>,
}

impl Work {
    /// The work of a session with a model here; `None` without one, or where a sample cannot be read, which the run will say.
    pub(super) fn from_session(session: &Session) -> Option<Self> {
        let model = session.model()?;
        model.model.files()?;
        let (text, options) = (&model.text, &session.options);
        let samples = &session.loaded.samples;
        let mut positions: Vec<usize> = (0..samples.count()).collect();
        positions.sort_by_key(|&at| samples.outline(at).question);
        let every = positions.len().div_ceil(COUNTED).max(1);
        let (mut own, mut longest, mut count) = (0, 0, 0);
        let shared = text.prompts.shared_prefix();
        let mut before = shared.to_vec();
        for now in positions.chunks(AT_ONCE).step_by(every) {
            count += now.len();
            let fetched = samples.fetch(now).ok()?;
            let prompts = fetched.par_iter().map(|sample| {
                // What is wrong with a sample is for its verdict to say.
                let sample = panics::guarded(|| text.shown(sample, options)).ok()??;
                let prompt = panics::guarded(|| text.prompt(&sample, options.max_new_tokens));
                let prompt = prompt.ok()?.ok()?.ok()?;
                let longest = text.longest_completion(&sample, &prompt, options);
                Some((prompt, longest))
            });
            for (prompt, most) in prompts.collect::<Vec<_>>().into_iter().flatten() {
                let common = prompt.iter().zip(&before).take_while(|(a, b)| a == b);
                own += prompt.len() - common.count();
                longest = longest.max(most);
                before = prompt;
            }
        }
        Some(Self {
            prompts: shared.len() + own * positions.len() / count.max(1),
            most: (longest < options.max_new_tokens).then_some(longest),
        })
    }

    pub(super) fn progressed(work: Option<&Self>, all: usize, summary: &Summary) -> Progressed {
        let judged = summary.verdicts() - summary.resumed;
        let jobs = all.saturating_sub(summary.resumed);
        let engine = &summary.engine;
        // What is under way is half done.
        let completed = judged as f64 + engine.running as f64 / 2.0;
        let mut share = judged.min(1) as f64 * completed / jobs.max(1) as f64;
        let mut reading = None;
        let mut is_known = true;
        if let Some(work) = work {
            // Of a run that goes on, the prompts that are left.
            let prompts = (work.prompts as f64 * jobs as f64 / all.max(1) as f64).round();
            let read = (engine.prefill_tokens as f64).min(prompts);
            let written = engine.generated_tokens as f64;
            let writing = match work.most {
                _ if judged > 0 => Some(written * (jobs as f64 / completed).max(1.0)),
                most => most.map(|most| (most * jobs) as f64),
            };
            reading = (judged == 0).then_some((read as usize, prompts as usize));
            // Generated tokens take longer than those of prompts; before the first, it is not known how much longer.
            let weight = engine.decode_weight();
            is_known = judged > 0 || weight.is_some();
            let weight = weight.unwrap_or(1.0);
            let work = |read: f64, written: f64| read + weight * written;
            let of_work =
                writing.map(|writing| work(read, written) / work(prompts, writing).max(1.0));
            // Answers to equal prompts need no work.
            let of_verdicts = judged as f64 / jobs.max(1) as f64;
            share = of_work.unwrap_or(0.0).max(of_verdicts);
        }
        let share = share.min(1.0);
        let left = summary.elapsed.as_secs_f64() * (1.0 - share) / share;
        let before = summary.resumed as f64 / all.max(1) as f64;
        Progressed {
            share: before + (1.0 - before) * share,
            left: Duration::try_from_secs_f64(left).ok().filter(|_| is_known),
            reading,
        }
    }
}

#[cfg(test)]
mod tests;
