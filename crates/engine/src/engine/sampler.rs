//! Chooses tokens from logits, in one call for the batch. On CUDA `model/cuda/kernels/sampler.cu` does the same.

use std::cmp::Ordering;
use std::fmt;

use candle_core::{DType, Device, Tensor};
use rayon::prelude::*;
use serde::Deserialize;

use super::EngineError;
use super::guide::Allowed;
use super::logprobs::TokenLogprobs;
use super::random::uniform;
use super::sequence::RandomKey;
use crate::model::ModelError;

/// How tokens are chosen. Temperature is applied first, then top-k, then top-p over what is left, then min-p.
///
/// As TOML or JSON it must give the temperature; the other parameters default to keeping all tokens.
#[warn(missing_docs)]
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sampling {
    /// 0 takes the likeliest token; otherwise logits are divided by this.
    pub temperature: f64,
    /// Keep the k likeliest tokens; 0 keeps all.
    #[serde(default)]
    pub top_k: usize,
    /// Keep the likeliest tokens whose probabilities sum to at least this; 1 keeps all.
    #[serde(default = "whole")]
    pub top_p: f64,
    /// Drop tokens less likely than this share of the likeliest one's probability; 0 keeps all.
    #[serde(default)]
    pub min_p: f64,
}

fn whole() -> f64 {
    1.0
}

#[warn(missing_docs)]
impl Sampling {
    /// The likeliest token, always.
    pub const GREEDY: Self = Self {
        temperature: 0.0,
        top_k: 0,
        top_p: 1.0,
        min_p: 0.0,
    };

    /// Checks the ranges.
    ///
    /// # Errors
    /// A message that names the first parameter out of range and what it may be.
    pub fn validate(&self) -> Result<(), EngineError> {
        let problem = if !(self.temperature.is_finite() && self.temperature >= 0.0) {
            format!(
                "the temperature must be 0 (greedy) or a positive number, not {}",
                self.temperature
            )
        } else if !(self.top_p > 0.0 && self.top_p <= 1.0) {
            format!("top-p must be above 0 and at most 1, not {}", self.top_p)
        } else if !(0.0..=1.0).contains(&self.min_p) {
            format!("min-p must be from 0 to 1, not {}", self.min_p)
        } else {
            return Ok(());
        };
        Err(EngineError::Config(problem))
    }
}

impl fmt::Display for Sampling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.temperature == 0.0 {
            return f.write_str("greedy");
        }
        write!(f, "temperature {}", self.temperature)?;
        if self.top_p < 1.0 {
            write!(f, ", top-p {}", self.top_p)?;
        }
        if self.top_k > 0 {
            write!(f, ", top-k {}", self.top_k)?;
        }
        if self.min_p > 0.0 {
            write!(f, ", min-p {}", self.min_p)?;
        }
        Ok(())
    }
}

/// Tokens that stand for numbers. Where one of them is chosen, the expected number is recorded: the mean of the numbers, each
/// weighed by its token's probability under the model's untempered and unmasked distribution.
///
/// Where yes is 1 and no is 0 that is the odds of yes, `p(yes) / (p(yes) + p(no))`; where grades stand for themselves it is the expected grade.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Choices {
    /// The tokens, each once.
    pub tokens: Vec<u32>,
    pub numbers: Vec<f32>,
}

impl Choices {
    /// Choices between tokens for yes and tokens for no: the recorded number is the odds of yes.
    pub fn yes_or_no(yes: &[u32], no: &[u32]) -> Self {
        Self {
            tokens: yes.iter().chain(no).copied().collect(),
            numbers: yes
                .iter()
                .map(|_| 1.0)
                .chain(no.iter().map(|_| 0.0))
                .collect(),
        }
    }

    /// The expected number, if `token` is one of the choices; `logits` is the row's.
    fn expected(&self, logits: &[f32], token: u32) -> Option<f32> {
        if !self.tokens.contains(&token) {
            return None;
        }
        let known = self.tokens.iter().zip(&self.numbers);
        let known = known.filter_map(|(&token, &number)| {
            Some((f64::from(*logits.get(token as usize)?), f64::from(number)))
        });
        let highest = known
            .clone()
            .map(|(logit, _)| logit)
            .fold(f64::NEG_INFINITY, f64::max);
        let (mut sum, mut all) = (0.0, 0.0);
        for (logit, number) in known {
            let mass = (logit - highest).exp();
            sum += mass * number;
            all += mass;
        }
        // NaN where every logit is minus infinity.
        (all > 0.0).then(|| (sum / all) as f32)
    }
}

/// What is asked of one row of logits.
#[derive(Debug, Clone, Copy)]
pub struct RowRequest<'a> {
    pub sampling: Sampling,
    pub key: RandomKey,
    /// The index of the token to be chosen, counted from the first generated one.
    pub position: usize,
    /// The tokens that may be chosen; all if `None`.
    pub allowed: Option<&'a Allowed>,
    /// Tokens for which an expected number is recorded when one of them is chosen.
    pub choices: Option<&'a Choices>,
    /// How many of the likeliest tokens to report, with log-probabilities of these and of the chosen one; `None` reports nothing.
    pub logprobs: Option<usize>,
}

impl RowRequest<'_> {
    /// Any token, of a row that nobody wants.
    pub(crate) const ANY: Self = Self {
        sampling: Sampling::GREEDY,
        key: RandomKey {
            seed: 0,
            sample: 0,
            trial: 0,
        },
        position: 0,
        allowed: None,
        choices: None,
        logprobs: None,
    };

    /// The random number in `[0, 1)` that decides this row: it depends on the key and the position alone.
    pub(crate) fn draw(&self) -> f64 {
        let RandomKey {
            seed,
            sample,
            trial,
        } = self.key;
        uniform(seed, sample, trial, self.position as u32)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    pub token: u32,
    /// The expected number of [`Choices`], if the token is one of them.
    pub expected: Option<f32>,
    /// The token's log-probabilities, if the row asks for them.
    pub logprobs: Option<TokenLogprobs>,
}

/// With more logits than this in all, rows are divided among threads.
const PARALLEL_LOGITS: usize = 1 << 16;

/// Chooses one token for each row of `logits` (`[rows, vocab]`, f32). A row that holds NaN, or nothing above minus infinity, gives `None`.
pub fn choose(logits: &Tensor, rows: &[RowRequest]) -> Result<Vec<Option<Chosen>>, ModelError> {
    let (height, vocab) = logits.dims2()?;
    if height != rows.len() {
        return Err(ModelError::Batch(format!(
            "{height} rows of logits where {} are wanted",
            rows.len()
        )));
    }
    let logits = logits
        .to_device(&Device::Cpu)?
        .to_dtype(DType::F32)?
        .contiguous()?;
    let (storage, layout) = logits.storage_and_layout();
    let candle_core::Storage::Cpu(storage) = &*storage else {
        return Err(ModelError::Device("logits did not reach the host".into()));
    };
    let values = storage.as_slice::<f32>()?;
    let values = &values[layout.start_offset()..layout.start_offset() + rows.len() * vocab];
    let choose = |(row, request): (&[f32], &RowRequest)| choose_row(row, request);
    // One row, or few logits, wait for no other thread.
    Ok(if rows.len() > 1 && values.len() > PARALLEL_LOGITS {
        let rows = values.par_chunks_exact(vocab).zip(rows);
        rows.map(choose).collect()
    } else {
        values.chunks_exact(vocab).zip(rows).map(choose).collect()
    })
}

fn choose_row(logits: &[f32], request: &RowRequest) -> Option<Chosen> {
    // Without a way out of the loop, so that the compiler vectorises it.
    if logits.iter().fold(false, |nan, logit| nan | logit.is_nan()) {
        return None;
    }
    let all = || 0..logits.len() as u32;
    let token = match request.allowed {
        None => choose_token(logits, all(), highest(logits)?, request),
        Some(allowed) => {
            let known = allowed.tokens().iter();
            let known = known.take_while(|token| all().contains(token));
            let likeliest = argmax(logits, known.clone())?;
            choose_token(logits, known, likeliest, request)
        }
    };
    let expected = request
        .choices
        .and_then(|choices| choices.expected(logits, token));
    let logprobs = request
        .logprobs
        .map(|count| TokenLogprobs::from_logits(logits, token, count));
    Some(Chosen {
        token,
        expected,
        logprobs,
    })
}

/// Chooses among `tokens`, which ascend, given the likeliest and its logit.
fn choose_token(
    logits: &[f32],
    tokens: impl Iterator<Item = u32>,
    (likeliest, highest): (u32, f32),
    request: &RowRequest,
) -> u32 {
    if request.sampling.temperature == 0.0 {
        likeliest
    } else {
        sample(logits, tokens, highest, &request.sampling, request.draw())
    }
}

/// As [`argmax`] of all tokens, by many lanes at a time.
fn highest(logits: &[f32]) -> Option<(u32, f32)> {
    let mut lanes = [f32::NEG_INFINITY; 32];
    let (chunks, rest) = logits.as_chunks::<32>();
    for chunk in chunks {
        for (lane, logit) in lanes.iter_mut().zip(chunk) {
            *lane = if logit > lane { *logit } else { *lane };
        }
    }
    let highest = lanes.iter().chain(rest).copied();
    let highest = highest.fold(f32::NEG_INFINITY, f32::max);
    let token = logits.iter().position(|logit| *logit >= highest)?;
    highest.is_finite().then_some((token as u32, highest))
}

/// The highest logit and the lowest token that has it; `None` if none is finite.
fn argmax(logits: &[f32], tokens: impl Iterator<Item = u32>) -> Option<(u32, f32)> {
    let mut best = (0, f32::NEG_INFINITY);
    for token in tokens {
        let logit = logits[token as usize];
        if logit > best.1 {
            best = (token, logit);
        }
    }
    best.1.is_finite().then_some(best)
}

/// Draws from the tempered, truncated distribution by inverting its cumulative sum, likeliest tokens first (ties by
/// token id), so that one `draw` in `[0, 1)` always means one token.
fn sample(
    logits: &[f32],
    tokens: impl Iterator<Item = u32>,
    highest: f32,
    sampling: &Sampling,
    draw: f64,
) -> u32 {
    let weight = |logit: f32| (f64::from(logit - highest) / sampling.temperature).exp();
    let mut candidates: Vec<(u32, f64)> = tokens
        .map(|token| (token, weight(logits[token as usize])))
        .filter(|&(_, weight)| weight > 0.0)
        .collect();
    let mut ordered = 0;
    if sampling.top_k > 0 && sampling.top_k < candidates.len() {
        candidates.select_nth_unstable_by(sampling.top_k - 1, by_weight);
        candidates.truncate(sampling.top_k);
        candidates.sort_unstable_by(by_weight);
        ordered = candidates.len();
    }
    let mass = |candidates: &[(u32, f64)]| candidates.iter().map(|one| one.1).sum::<f64>();
    let share = sampling.top_p * mass(&candidates);
    // Weights are relative to the likeliest token's, which is 1, so every truncation keeps it.
    candidates.retain(|candidate| candidate.1 >= sampling.min_p);
    ordered = ordered.min(candidates.len());
    let mut likeliest = Likeliest {
        candidates,
        ordered,
    };
    let mut kept = likeliest.candidates.len();
    let mut sum = 0.0;
    if sampling.top_p < 1.0 {
        kept = likeliest.reaching(kept, |weight| {
            sum += weight;
            sum >= share
        });
    } else {
        sum = mass(&likeliest.candidates);
    }
    let target = draw * sum;
    let mut sum = 0.0;
    // Rounding may leave the sum a hair below the target: then it is the last candidate.
    let place = likeliest.reaching(kept, |weight| {
        sum += weight;
        target < sum
    });
    likeliest.candidates[place - 1].0
}

/// Heavier candidates come first, and of equal ones those with the lower token.
fn by_weight(a: &(u32, f64), b: &(u32, f64)) -> Ordering {
    b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))
}

/// Tokens and weights, put in order as far as it is asked for: seldom are more than the first of a large vocabulary wanted.
struct Likeliest {
    candidates: Vec<(u32, f64)>,
    /// How many are in order, heaviest first.
    ordered: usize,
}

impl Likeliest {
    /// How many candidates it takes, at most `most`, until the weights that `enough` was given one by one are enough.
    fn reaching(&mut self, most: usize, mut enough: impl FnMut(f64) -> bool) -> usize {
        for index in 0..most {
            if index == self.ordered {
                let rest = &mut self.candidates[index..];
                let more = (8 * index).max(64).min(rest.len());
                if more < rest.len() {
                    rest.select_nth_unstable_by(more, by_weight);
                }
                rest[..more].sort_unstable_by(by_weight);
                self.ordered += more;
            }
            if enough(self.candidates[index].1) {
                return index + 1;
            }
        }
        most
    }
}

/// The engine's request for a row, as the sampling kernel takes it.
#[cfg(feature = "cuda")]
impl<'a> From<&RowRequest<'a>> for crate::model::cuda::SampleRequest<'a> {
    fn from(row: &RowRequest<'a>) -> Self {
        Self {
            draw: row.draw(),
            temperature: row.sampling.temperature,
            top_k: row.sampling.top_k,
            top_p: row.sampling.top_p,
            min_p: row.sampling.min_p,
            choices: row.choices.map_or(&[], |choices| &choices.tokens),
            numbers: row.choices.map_or(&[], |choices| &choices.numbers),
            mask: row.allowed.map(|allowed| allowed.tokens().words()),
            logprobs: row.logprobs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::TokenSet;
    use proptest::prelude::*;

    const KEY: RandomKey = RandomKey {
        seed: 1,
        sample: 2,
        trial: 0,
    };

    fn frequencies(logits: &[f32], sampling: Sampling, draws: usize) -> Vec<f64> {
        let mut counts = vec![0usize; logits.len()];
        for position in 0..draws {
            let request = RowRequest {
                sampling,
                key: KEY,
                position,
                ..RowRequest::ANY
            };
            counts[choose_row(logits, &request).unwrap().token as usize] += 1;
        }
        counts
            .into_iter()
            .map(|count| count as f64 / draws as f64)
            .collect()
    }

    #[test]
    fn greedy_takes_the_first_of_equals_and_refuses_nan() {
        let request = RowRequest {
            key: KEY,
            ..RowRequest::ANY
        };
        assert_eq!(choose_row(&[1.0, 3.0, 3.0], &request).unwrap().token, 1);
        assert!(choose_row(&[1.0, f32::NAN], &request).is_none());
        assert!(choose_row(&[f32::NEG_INFINITY; 2], &request).is_none());
    }

    #[test]
    fn draws_follow_the_tempered_distribution() {
        // Probabilities 0.1, 0.2, 0.7 at temperature 1; proportional to their squares at temperature 0.5.
        let logits = [0.1f32.ln(), 0.2f32.ln(), 0.7f32.ln()];
        let plain = frequencies(
            &logits,
            Sampling {
                temperature: 1.0,
                ..Sampling::GREEDY
            },
            20_000,
        );
        let cold = frequencies(
            &logits,
            Sampling {
                temperature: 0.5,
                ..Sampling::GREEDY
            },
            20_000,
        );
        for (frequency, expected) in plain.iter().zip([0.1, 0.2, 0.7]).chain(cold.iter().zip([
            0.01 / 0.54,
            0.04 / 0.54,
            0.49 / 0.54,
        ])) {
            // Four standard errors of a frequency over 20,000 draws are at most 0.014.
            assert!(
                (frequency - expected).abs() < 0.014,
                "{frequency} instead of {expected}"
            );
        }
    }

    #[test]
    fn truncations_keep_exactly_their_share() {
        let logits = [0.4f32.ln(), 0.3f32.ln(), 0.2f32.ln(), 0.1f32.ln()];
        let seen = |sampling| {
            frequencies(&logits, sampling, 4_000)
                .iter()
                .map(|&share| share > 0.0)
                .collect::<Vec<_>>()
        };
        let hot = Sampling {
            temperature: 1.0,
            ..Sampling::GREEDY
        };
        assert_eq!(
            seen(Sampling { top_k: 2, ..hot }),
            [true, true, false, false]
        );
        assert_eq!(
            seen(Sampling { top_p: 0.75, ..hot }),
            [true, true, true, false]
        );
        assert_eq!(
            seen(Sampling { min_p: 0.6, ..hot }),
            [true, true, false, false]
        );
        assert_eq!(
            seen(Sampling { top_k: 1, ..hot }),
            [true, false, false, false]
        );
        assert_eq!(seen(hot), [true; 4]);
    }

    #[test]
    fn the_expected_number_is_that_of_the_choices_alone_and_only_for_a_choice() {
        let logits = [0.5f32.ln(), 0.3f32.ln(), 0.15f32.ln(), 0.05f32.ln()];
        let odds = Choices::yes_or_no(&[1, 3], &[2]);
        let grades = Choices {
            tokens: vec![0, 2, 9],
            numbers: vec![1.0, 5.0, 7.0],
        };
        let only_two = Allowed::from(TokenSet::from_iter([2, 3]));
        let mut request = RowRequest {
            key: KEY,
            choices: Some(&odds),
            ..RowRequest::ANY
        };
        assert_eq!(choose_row(&logits, &request).unwrap().expected, None);
        // Only allowed tokens are chosen, but the expected number is taken over all choices.
        request.allowed = Some(&only_two);
        let chosen = choose_row(&logits, &request).unwrap();
        assert_eq!(chosen.token, 2);
        assert!((chosen.expected.unwrap() - 0.7).abs() < 1e-6, "{chosen:?}");
        request.choices = Some(&grades);
        let expected = choose_row(&logits, &request).unwrap().expected.unwrap();
        assert!(
            (expected - (0.5 + 5.0 * 0.15) / 0.65).abs() < 1e-6,
            "{expected}"
        );
    }

    #[test]
    fn what_is_not_allowed_is_as_if_it_were_impossible() {
        let logits = [3.0, 2.0, 1.0, 0.0];
        let allowed = Allowed::from(TokenSet::from_iter([1, 3, 900]));
        let nothing = Allowed::from(TokenSet::from_iter([900]));
        for temperature in [0.0, 1.0] {
            let sampling = Sampling {
                temperature,
                ..Sampling::GREEDY
            };
            for position in 0..200 {
                let request = |allowed| RowRequest {
                    sampling,
                    key: KEY,
                    position,
                    allowed: Some(allowed),
                    ..RowRequest::ANY
                };
                let masked = [f32::NEG_INFINITY, 2.0, f32::NEG_INFINITY, 0.0];
                let free = RowRequest {
                    allowed: None,
                    ..request(&allowed)
                };
                assert_eq!(
                    choose_row(&logits, &request(&allowed)),
                    choose_row(&masked, &free)
                );
                assert_eq!(choose_row(&logits, &request(&nothing)), None);
            }
        }
    }

    /// The definition: all candidates in order, then each truncation.
    fn by_sorting(logits: &[f32], sampling: &Sampling, draw: f64) -> u32 {
        let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let weight = |logit: f32| (f64::from(logit - highest) / sampling.temperature).exp();
        let all = logits.iter().enumerate();
        let mut all: Vec<(u32, f64)> = all.map(|(i, x)| (i as u32, weight(*x))).collect();
        all.retain(|one| one.1 > 0.0);
        all.sort_by(by_weight);
        if sampling.top_k > 0 {
            all.truncate(sampling.top_k);
        }
        let total: f64 = all.iter().map(|one| one.1).sum();
        let mut sum = 0.0;
        let kept = all.iter().position(|one| {
            sum += one.1;
            sum >= sampling.top_p * total
        });
        if sampling.top_p < 1.0 {
            all.truncate(kept.map_or(all.len(), |last| last + 1));
        }
        all.retain(|one| one.1 >= sampling.min_p);
        let target = draw * all.iter().map(|one| one.1).sum::<f64>();
        let mut sum = 0.0;
        let found = all.iter().find(|one| {
            sum += one.1;
            target < sum
        });
        found.or(all.last()).unwrap().0
    }

    #[test]
    fn a_draw_from_a_large_vocabulary_is_that_of_the_definition() {
        let vocabulary = 3_000;
        for (seed, spread) in [(1, 0.2f32), (2, 3.0), (3, 30.0)] {
            let logit = |token: u32| (uniform(seed, 9, 0, token) as f32 - 0.5) * spread;
            let logits: Vec<f32> = (0..vocabulary).map(logit).collect();
            for (top_k, top_p, min_p) in [
                (0, 1.0, 0.0),
                (0, 0.9, 0.0),
                (40, 1.0, 0.0),
                (700, 0.5, 0.1),
                (0, 0.95, 0.3),
                (0, 1.0, 0.05),
                (0, 0.999, 0.0),
            ] {
                for position in 0..100 {
                    let sampling = Sampling {
                        temperature: 0.7,
                        top_k,
                        top_p,
                        min_p,
                    };
                    let request = RowRequest {
                        sampling,
                        key: KEY,
                        position,
                        ..RowRequest::ANY
                    };
                    let expected = by_sorting(&logits, &sampling, request.draw());
                    let chosen = choose_row(&logits, &request).unwrap().token;
                    assert_eq!(chosen, expected, "{sampling:?}, {spread}, {position}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_finite_row_gives_a_token_of_the_vocabulary(
            logits in prop::collection::vec(-1e30f32..1e30, 1..40),
            temperature in 0.0..3.0f64, top_k in 0..50usize, top_p in 0.01..=1.0f64, min_p in 0.0..=1.0f64, position in 0..1000usize,
        ) {
            let sampling = Sampling { temperature, top_k, top_p, min_p };
            let request = RowRequest { sampling, key: KEY, position, allowed: None, choices: None, logprobs: None };
            let chosen = choose_row(&logits, &request);
            prop_assert!((chosen.unwrap().token as usize) < logits.len());
        }
    }
}
