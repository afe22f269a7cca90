//! Choosing tokens on the device, and copying them to the host.

use std::collections::VecDeque;

use candle_core::{CudaDevice, DType};

use super::array::{Array, Slice};
use super::kernel::{Arg, Function, Grid, Kernels, array_or_null, count};
use super::pinned::Pinned;
use crate::model::{ModelError, Result};

const REQUEST_WORDS: usize = 12;
/// The mask offset of a row for which every token is allowed.
const NO_MASK: u32 = u32::MAX;
/// Words of the result for each row.
const RESULT_WORDS: usize = 3;
/// The most tokens whose log-probabilities a row can ask for beside its own.
const MOST_LOGPROBS: usize = 20;
/// Words of a row's log-probabilities: that of its token, and pairs of token and log-probability.
const LOGPROB_WORDS: usize = 1 + 2 * MOST_LOGPROBS;
/// Stands for a token where there are no more.
const NO_TOKEN: u32 = u32::MAX;
/// Threads and dynamic shared memory of the kernel's blocks.
const THREADS: usize = 512;
const SHARED_BYTES: usize = 65_536;
/// How many steps may have uncollected results.
const IN_FLIGHT: usize = 3;

/// How a row's token is to be chosen. The fields are those of the engine's sampling; the random number is drawn on the host,
/// since it depends on the request alone.
#[derive(Debug, Clone, Copy)]
pub struct SampleRequest<'a> {
    /// The random number, in `[0, 1)`.
    pub draw: f64,
    /// 0 takes the likeliest token.
    pub temperature: f64,
    /// 0 keeps all.
    pub top_k: usize,
    /// 1 keeps all.
    pub top_p: f64,
    /// 0 keeps all.
    pub min_p: f64,
    /// Tokens that stand for numbers; empty where no expected number is wanted.
    pub choices: &'a [u32],
    /// The numbers of these tokens, as many.
    pub numbers: &'a [f32],
    /// The allowed tokens, a bit for each; tokens past its end are not allowed. All are if it is `None`.
    pub mask: Option<&'a [u32]>,
    /// How many of the likeliest tokens to report with log-probabilities, at most 20, beside that of the chosen one.
    pub logprobs: Option<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    /// The token; `None` if the row's logits were NaN.
    pub token: Option<u32>,
    /// The expected number, if the token is one of the choices.
    pub expected: Option<f32>,
    /// The log-probabilities of the token and of the likeliest ones, if they were asked for.
    pub logprobs: Option<(f32, Vec<(u32, f32)>)>,
}

/// Requests as the kernel reads them, and the lists that they share.
#[derive(Default)]
pub struct PackedRequests {
    /// [`REQUEST_WORDS`] for each row.
    pub requests: Vec<u32>,
    /// Choices with their numbers, and masks, each stored once.
    pub lists: Vec<u32>,
    /// The rows that want log-probabilities, each with how many.
    pub with_logprobs: Vec<u32>,
}

impl PackedRequests {
    /// Packs requests for rows of `vocab` logits.
    pub fn new(requests: &[SampleRequest], vocab: usize) -> Self {
        let mut packed = Self::default();
        // The rows of one judge share their lists, so the same slices occur again and again.
        // A mask is not a list of choices, though both may be empty.
        let mut known: Vec<((bool, *const u32, usize), u32)> = Vec::new();
        let mut place =
            |lists: &mut Vec<u32>, mask: bool, list: &[u32], push: &dyn Fn(&mut Vec<u32>)| {
                let key = (mask, list.as_ptr(), list.len());
                if let Some((_, place)) = known.iter().find(|(known, _)| *known == key) {
                    return *place;
                }
                let place = lists.len() as u32;
                push(lists);
                known.push((key, place));
                place
            };
        for (row, request) in requests.iter().enumerate() {
            if let Some(count) = request.logprobs {
                let count = count.min(MOST_LOGPROBS);
                packed.with_logprobs.extend([row as u32, count as u32]);
            }
            let choices = place(&mut packed.lists, false, request.choices, &|lists| {
                lists.extend_from_slice(request.choices);
                lists.extend(request.numbers.iter().map(|number| number.to_bits()));
            });
            let mask = request.mask.map(|mask| {
                place(&mut packed.lists, true, mask, &|lists| {
                    let end = lists.len() + vocab.div_ceil(32);
                    lists.extend_from_slice(mask);
                    lists.resize(end, 0);
                })
            });
            for number in [
                request.draw,
                request.temperature,
                request.top_p,
                request.min_p,
            ] {
                let bits = number.to_bits();
                packed.requests.extend([bits as u32, (bits >> 32) as u32]);
            }
            packed.requests.extend([
                u32::try_from(request.top_k).unwrap_or(u32::MAX),
                choices,
                request.choices.len() as u32,
                mask.unwrap_or(NO_MASK),
            ]);
        }
        packed
    }
}

/// The host buffers for a step's results.
struct Landing {
    results: Pinned,
    logprobs: Pinned,
}

struct Underway {
    landing: usize,
    rows: usize,
    /// The rows that asked for log-probabilities, each with how many.
    with_logprobs: Vec<u32>,
}

/// The sampler: its kernel, the results on the device, and those being copied to the host.
pub struct Sampler {
    kernel: Function,
    logprobs_of: Function,
    /// u32 `[3, rows]` of the newest step: tokens, flags, expected numbers.
    results: Array,
    /// [`LOGPROB_WORDS`] for each row that asked.
    logprobs: Array,
    landing: Vec<Landing>,
    next: usize,
    underway: VecDeque<Underway>,
    /// Rows of the newest step.
    newest: usize,
}

impl Sampler {
    /// A sampler for steps of up to `rows` rows.
    pub fn new(device: &CudaDevice, kernels: &mut Kernels, rows: usize) -> Result<Self> {
        let words = RESULT_WORDS * rows.max(1);
        let logprob_words = LOGPROB_WORDS * rows.max(1);
        Ok(Self {
            kernel: kernels
                .function("sampler", "sample")?
                .allow_shared(SHARED_BYTES)?,
            logprobs_of: kernels.function("sampler", "logprobs_of")?,
            results: Array::zeros(device, words, DType::U32, "chosen tokens")?,
            logprobs: Array::zeros(device, logprob_words, DType::U32, "log-probabilities")?,
            landing: (0..IN_FLIGHT)
                .map(|_| {
                    Ok(Landing {
                        results: Pinned::zeros(device, words)?,
                        logprobs: Pinned::zeros(device, logprob_words)?,
                    })
                })
                .collect::<Result<_>>()?,
            next: 0,
            underway: VecDeque::new(),
            newest: 0,
        })
    }

    /// The tokens of the newest step, for [`super::operations::Operations::token_from_previous`].
    pub(crate) fn previous(&self) -> Slice<'_> {
        self.results.all()
    }

    /// Rows of the newest step.
    pub(crate) fn newest_rows(&self) -> usize {
        self.newest
    }

    /// Queues the choice of a token for each row of `logits` (f32 `[rows, stride]`) and the copy of the results. `requests`, `lists`
    /// and `wanted` are the parts of [`PackedRequests`] on the device.
    /// Errors: [`ModelError::Batch`] naming what does not fit, or when too many steps were not collected.
    pub fn launch(
        &mut self,
        logits: Slice,
        (rows, vocab, stride): (usize, usize, usize),
        (requests, lists, wanted): (Slice, Slice, Slice),
        with_logprobs: Vec<u32>,
    ) -> Result<()> {
        const NAME: &str = "sample";
        if self.underway.len() == IN_FLIGHT {
            return Err(ModelError::Batch(format!(
                "{IN_FLIGHT} steps were launched and none was collected"
            )));
        }
        if stride < vocab || !stride.is_multiple_of(4) {
            return Err(ModelError::Batch(format!(
                "{NAME}: rows of {vocab} logits, {stride} apart"
            )));
        }
        let words = RESULT_WORDS * rows;
        let landing = &mut self.landing[self.next];
        if rows > 0 {
            let lists = Some(lists).filter(|lists| lists.elements() > 0);
            let lists = array_or_null(lists, NAME, "lists", DType::U32, 1)?;
            let args = [
                Arg::Array(self.results.all().check(NAME, "out", DType::U32, words)?),
                Arg::Array(logits.check(NAME, "logits", DType::F32, rows * stride)?),
                Arg::Array(requests.check(NAME, "requests", DType::U32, rows * REQUEST_WORDS)?),
                lists,
                count(rows),
                count(vocab),
                count(stride),
            ];
            let grid = Grid::row(rows, THREADS).with_shared(SHARED_BYTES);
            self.kernel.launch(grid, &args)?;
            landing.results.download(&[self.results.part(0..words)?])?;
            let asked = with_logprobs.len() / 2;
            if asked > 0 {
                let words = asked * LOGPROB_WORDS;
                let args = [
                    Arg::Array(self.logprobs.all().check(NAME, "out", DType::U32, words)?),
                    Arg::Array(logits.check(NAME, "logits", DType::F32, rows * stride)?),
                    Arg::Array(self.results.all().check(NAME, "chosen", DType::U32, rows)?),
                    Arg::Array(wanted.check(NAME, "wanted", DType::U32, 2 * asked)?),
                    count(vocab),
                    count(stride),
                ];
                self.logprobs_of.launch(Grid::row(asked, THREADS), &args)?;
                landing
                    .logprobs
                    .download(&[self.logprobs.part(0..words)?])?;
            }
        }
        self.newest = rows;
        self.underway.push_back(Underway {
            landing: self.next,
            rows,
            with_logprobs,
        });
        self.next = (self.next + 1) % IN_FLIGHT;
        Ok(())
    }

    /// Waits for the oldest step that was launched and not collected.
    /// Errors: [`ModelError::Batch`] when there is none; what went wrong on the device.
    pub fn collect(&mut self) -> Result<Vec<Sampled>> {
        let Some(step) = self.underway.pop_front() else {
            return Err(ModelError::Batch("no step was launched".into()));
        };
        let rows = step.rows;
        if rows == 0 {
            return Ok(Vec::new());
        }
        let landing = &self.landing[step.landing];
        let words = landing.results.read()?;
        let mut sampled: Vec<Sampled> = (0..rows)
            .map(|row| {
                let flags = words[rows + row];
                Sampled {
                    token: (flags & 1 == 0).then_some(words[row]),
                    expected: (flags & 2 != 0).then(|| f32::from_bits(words[2 * rows + row])),
                    logprobs: None,
                }
            })
            .collect();
        if !step.with_logprobs.is_empty() {
            let all = landing.logprobs.read()?.chunks_exact(LOGPROB_WORDS);
            for (asked, words) in step.with_logprobs.chunks_exact(2).zip(all) {
                let (own, top) = (words[0], &words[1..]);
                let top = top.chunks_exact(2).take_while(|pair| pair[0] != NO_TOKEN);
                let top = top.map(|pair| (pair[0], f32::from_bits(pair[1])));
                sampled[asked[0] as usize].logprobs = Some((f32::from_bits(own), top.collect()));
            }
        }
        Ok(sampled)
    }
}

#[cfg(test)]
mod tests;
