//! How a judge's tokens are chosen, as the user says it.

use anyhow::bail;
use clap::Args;
use serde_json::{Map, Value};

use super::rows::{number, whole};
use juror_engine::engine::Sampling;
use juror_judge::judge::RunOptions;

/// How tokens are chosen, how many, and how often.
#[derive(Debug, Clone, Args)]
pub(super) struct SamplingArguments {
    /// Generations for each sample
    #[arg(long, value_name = "K", default_value_t = 1, allow_negative_numbers = true, value_parser = whole(1, MOST_TRIALS), help_heading = SAMPLING)]
    pub(super) trials: u32,
    /// Seed of every random choice
    #[arg(long, value_name = "S", default_value_t = 0, allow_negative_numbers = true, value_parser = whole(0, u64::MAX), help_heading = SAMPLING)]
    pub(super) seed: u64,
    /// 0 takes the likeliest token [default: the model's recommendation, else 0; with several trials 0.7]
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = number(0.0..=f64::MAX, "the temperature must be 0 (greedy) or a positive number"), help_heading = SAMPLING)]
    pub(super) temperature: Option<f64>,
    /// Choose among the K likeliest tokens; 0 for all
    #[arg(long, value_name = "K", help_heading = SAMPLING)]
    pub(super) top_k: Option<usize>,
    /// Choose among the likeliest tokens that make up this share
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = number(f64::MIN_POSITIVE..=1.0, "top-p must be above 0 and at most 1"), help_heading = SAMPLING)]
    pub(super) top_p: Option<f64>,
    /// Choose among tokens at least this likely, compared with the likeliest
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = number(0.0..=1.0, "min-p must be from 0 to 1"), help_heading = SAMPLING)]
    pub(super) min_p: Option<f64>,
    /// Longest completion, thinking included [default: the model's recommendation, else the protocol's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1_u64, 1 << 20), help_heading = SAMPLING)]
    pub(super) max_new_tokens: Option<u64>,
}

impl SamplingArguments {
    /// Refuses more new tokens than the model's context has room for beside a prompt, where the user says how many.
    pub(super) fn check_context(&self, context: usize) -> anyhow::Result<()> {
        self.max_new_tokens
            .map_or(Ok(()), |tokens| check_new_tokens(tokens as usize, context))
    }

    /// Values that choose nothing, as keys of a request: where they are not sent, a server takes values of its own.
    pub(super) fn without_choice(&self) -> Map<String, Value> {
        let given = [
            ("top_p", self.top_p.filter(|p| *p >= 1.0).map(|_| 1)),
            ("top_k", self.top_k.filter(|k| *k == 0).map(|_| -1)),
            ("min_p", self.min_p.filter(|p| *p == 0.0).map(|_| 0)),
        ];
        let given = given.into_iter();
        let given = given.filter_map(|(key, value)| Some((key.to_owned(), value?.into())));
        given.collect()
    }

    /// How tokens are chosen, and how many at most: as the user says, else as recommended.
    pub(super) fn resolve(&self, recommended: &RunOptions) -> anyhow::Result<(Sampling, usize)> {
        let sampling = Sampling {
            temperature: self.temperature.unwrap_or(recommended.sampling.temperature),
            top_k: self.top_k.unwrap_or(recommended.sampling.top_k),
            top_p: self.top_p.unwrap_or(recommended.sampling.top_p),
            min_p: self.min_p.unwrap_or(recommended.sampling.min_p),
        };
        sampling.validate()?;
        if sampling.temperature == 0.0 {
            let for_chance = [
                ("--top-k", self.top_k.is_some_and(|k| k > 0)),
                ("--top-p", self.top_p.is_some_and(|p| p < 1.0)),
                ("--min-p", self.min_p.is_some_and(|p| p > 0.0)),
            ];
            refuse_chance(("--trials", self.trials), &for_chance)?;
        }
        let max_new_tokens = self
            .max_new_tokens
            .map_or(recommended.max_new_tokens, |tokens| tokens as usize);
        Ok((sampling, max_new_tokens))
    }
}

/// Refuses more new tokens than the model's context has room for beside a prompt.
pub(super) fn check_new_tokens(tokens: usize, context: usize) -> anyhow::Result<()> {
    if tokens >= context {
        bail!(
            "--max-new-tokens {tokens} leaves no room for a prompt: the model's context has {context} tokens, for the prompt and the \
             new ones together; give fewer"
        );
    }
    Ok(())
}

/// Refuses what is for chance at temperature 0: several generations, by this option, and the options that are given of `for_chance`.
pub(super) fn refuse_chance(
    (option, count): (&str, u32),
    for_chance: &[(&str, bool)],
) -> anyhow::Result<()> {
    if count > 1 {
        bail!(
            "{option} {count} at temperature 0: greedy generations are all the same, so more than one changes nothing; leave \
             --temperature out, or give one above 0"
        );
    }
    if let Some((name, _)) = for_chance.iter().find(|(_, given)| *given) {
        bail!(
            "{name} changes nothing at temperature 0, which takes the likeliest token: leave it out, or give a --temperature \
             above 0"
        );
    }
    Ok(())
}

pub(super) const MOST_TRIALS: u32 = 1_000_000;

pub(super) const SAMPLING: &str = "Sampling";
