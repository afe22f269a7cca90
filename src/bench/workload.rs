//! The requests of a benchmark: a template that all prompts share, their own input, and a length of output.

use std::fmt;
use std::str::FromStr;

use juror_engine::engine::random::uniform;

/// How lengths are distributed, in tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum LengthDistribution {
    Fixed(usize),
    /// Uniform from the first to the second, both included.
    Range(usize, usize),
    /// Log-normal, like lengths of real responses: median, and standard deviation of the logarithm. Cut at eight times the median.
    LogNormal(f64, f64),
}

impl LengthDistribution {
    pub(crate) fn longest(&self) -> usize {
        match *self {
            Self::Fixed(length) | Self::Range(_, length) => length,
            Self::LogNormal(median, _) => (8.0 * median) as usize,
        }
    }

    /// The length of the `index`th draw of a `seed`.
    pub(crate) fn draw(&self, seed: u64, index: u64, what: u32) -> usize {
        let uniform = |position| uniform(seed, index, what, position);
        match *self {
            Self::Fixed(length) => length,
            Self::Range(from, to) => from + (uniform(0) * (to - from + 1) as f64) as usize,
            Self::LogNormal(median, deviation) => {
                // A normal number from two uniform ones (Box and Muller).
                let radius = (-2.0 * (1.0 - uniform(0)).ln()).sqrt();
                let normal = radius * (std::f64::consts::TAU * uniform(1)).cos();
                let length = median * (deviation * normal).exp();
                (length.round() as usize).clamp(1, self.longest())
            }
        }
    }
}

impl FromStr for LengthDistribution {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fail = || {
            format!(
                "`{text}` is no length: write 300, a range 200-4000, or lognormal:MEDIAN,DEVIATION as lognormal:800,0.6"
            )
        };
        if let Some(parameters) = text.strip_prefix("lognormal:") {
            let (median, deviation) = parameters.split_once(',').ok_or_else(fail)?;
            let median: f64 = median.trim().parse().map_err(|_| fail())?;
            let deviation: f64 = deviation.trim().parse().map_err(|_| fail())?;
            let sound = (1.0..1e6).contains(&median) && (0.0..=3.0).contains(&deviation);
            let found = sound.then_some(Self::LogNormal(median, deviation));
            return found.ok_or_else(fail);
        }
        if let Some((from, to)) = text.split_once('-') {
            let from = from.trim().parse().map_err(|_| fail())?;
            let to = to.trim().parse().map_err(|_| fail())?;
            let sound = from <= to && to < 1 << 20;
            return sound.then_some(Self::Range(from, to)).ok_or_else(fail);
        }
        match text.trim().parse() {
            Ok(length) if length < 1 << 20 => Ok(Self::Fixed(length)),
            _ => Err(fail()),
        }
    }
}

impl fmt::Display for LengthDistribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(length) => write!(f, "{length}"),
            Self::Range(from, to) => write!(f, "{from}-{to}"),
            Self::LogNormal(median, deviation) => write!(f, "lognormal:{median},{deviation}"),
        }
    }
}

/// One generation: its prompt's tokens, and how many to generate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Job {
    pub prompt: Vec<u32>,
    /// The number of tokens to generate, at least one.
    pub output: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Workload {
    pub samples: usize,
    /// Tokens that all prompts begin with.
    pub template: usize,
    /// The length of a sample's own tokens.
    pub input: LengthDistribution,
    /// The number of tokens to generate. It cannot be zero: a verdict of "zero tokens" is the first token's probabilities, so 0 means 1.
    pub output: LengthDistribution,
    /// Generations for each sample, with the same prompt.
    pub trials: usize,
    /// The number of samples of one question: they share the first half of the shortest one's own tokens.
    pub group: usize,
    pub seed: u64,
}

/// The most tokens of all prompts together: 2 GB of them.
const MOST_TOKENS: u64 = 1 << 29;

/// Checks how many tokens all prompts of a workload have together.
pub(crate) fn check_tokens(tokens: u64) -> Result<(), String> {
    if tokens <= MOST_TOKENS {
        return Ok(());
    }
    Err(format!(
        "the workload has {tokens} tokens or more: no more than {MOST_TOKENS} are measured at a time; take fewer --samples or \
         --trials, or shorter prompts"
    ))
}

/// Kinds of draws, which are kept apart.
const INPUT: u32 = 0;
const OUTPUT: u32 = 1;
const TEMPLATE_TOKENS: u32 = 2;
const QUESTION_TOKENS: u32 = 3;
const OWN_TOKENS: u32 = 4;

impl Workload {
    pub(crate) fn template_tokens(&self, vocab: usize) -> Vec<u32> {
        (0..self.template)
            .map(|at| self.token(0, TEMPLATE_TOKENS, at, vocab))
            .collect()
    }

    /// The most tokens that a sequence may have, prompt and output.
    pub(crate) fn longest(&self) -> usize {
        self.template + self.input.longest().max(1) + self.output.longest().max(1)
    }

    /// Checks that all prompts fit into memory together.
    pub(crate) fn check(&self) -> Result<(), String> {
        let generations = (self.samples as u64).saturating_mul(self.trials as u64);
        check_tokens(generations.saturating_mul(self.longest() as u64))
    }

    /// All generations, those of a group together.
    pub(crate) fn jobs(&self, vocab: usize) -> Vec<Job> {
        let template = self.template_tokens(vocab);
        let mut jobs = Vec::with_capacity(self.samples * self.trials);
        for group in 0..self.samples.div_ceil(self.group) {
            let members = group * self.group..((group + 1) * self.group).min(self.samples);
            let lengths: Vec<usize> = members
                .clone()
                .map(|sample| self.input.draw(self.seed, sample as u64, INPUT))
                .collect();
            let shared = if self.group > 1 {
                lengths.iter().min().map_or(0, |shortest| shortest / 2)
            } else {
                0
            };
            for (sample, length) in members.zip(lengths) {
                let mut prompt = template.clone();
                prompt.extend((0..shared).map(|at| self.token(group, QUESTION_TOKENS, at, vocab)));
                prompt.extend((shared..length).map(|at| self.token(sample, OWN_TOKENS, at, vocab)));
                if prompt.is_empty() {
                    prompt.push(self.token(sample, OWN_TOKENS, 0, vocab));
                }
                for trial in 0..self.trials {
                    let index = (sample * self.trials + trial) as u64;
                    jobs.push(Job {
                        prompt: prompt.clone(),
                        output: self.output.draw(self.seed, index, OUTPUT).max(1),
                    });
                }
            }
        }
        jobs
    }

    fn token(&self, of: usize, what: u32, at: usize, vocab: usize) -> u32 {
        (uniform(self.seed, of as u64, what, at as u32) * vocab as f64) as u32
    }
}

#[cfg(test)]
mod tests;
