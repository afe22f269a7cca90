//! Choosing tokens on the device, and copying them to the host.

use std::collections::VecDeque;

use candle_core::{CudaDevice, DType};

use super::array::{Array, Slice};
use super::kernel::{Arg, Function, Grid, Kernels, count};
use super::pinned::Pinned;
use crate::model::ModelError;

/// Words of a request.
const REQUEST_WORDS: usize = 12;
/// The place of a mask where every token is allowed.
const NO_MASK: u32 = u32::MAX;
/// Words that come back for each row.
const RESULT_WORDS: usize = 3;
/// Threads and dynamic shared memory of the kernel's blocks.
const THREADS: usize = 512;
const SHARED_BYTES: usize = 65_536;
/// Steps whose results can be underway.
const IN_FLIGHT: usize = 3;

/// How a row's token is to be chosen. The fields are those of the engine's sampling; the draw is made on the host, since it
/// depends on the request alone.
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
    /// Their numbers, as many.
    pub numbers: &'a [f32],
    /// The tokens that are allowed, a bit for each; those beyond it are not. All are, if there is none.
    pub mask: Option<&'a [u32]>,
}

/// A row's token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampled {
    /// The token; `None` when the row's logits were not numbers.
    pub token: Option<u32>,
    /// The expected number, where the token is one of the choices.
    pub expected: Option<f32>,
}

/// Requests as the kernel reads them, and the lists that they share.
#[derive(Default)]
pub struct PackedRequests {
    /// [`REQUEST_WORDS`] for each row.
    pub requests: Vec<u32>,
    /// Choices with their numbers, and masks: each once.
    pub lists: Vec<u32>,
}

impl PackedRequests {
    /// Packs requests for rows of `vocab` logits.
    pub fn new(requests: &[SampleRequest], vocab: usize) -> Self {
        let mut packed = Self::default();
        // Rows of one judge share their lists, so the same slices come again and again.
        let mut known: Vec<(*const u32, usize, u32)> = Vec::new();
        let mut place = |lists: &mut Vec<u32>, key: &[u32], push: &dyn Fn(&mut Vec<u32>)| {
            let found = known
                .iter()
                .find(|(start, length, _)| (*start, *length) == (key.as_ptr(), key.len()));
            if let Some((.., place)) = found {
                return *place;
            }
            let place = lists.len() as u32;
            push(lists);
            known.push((key.as_ptr(), key.len(), place));
            place
        };
        for request in requests {
            let choices = place(&mut packed.lists, request.choices, &|lists| {
                lists.extend_from_slice(request.choices);
                lists.extend(request.numbers.iter().map(|number| number.to_bits()));
            });
            let mask = request.mask.map(|mask| {
                place(&mut packed.lists, mask, &|lists| {
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

/// The sampler: the kernel, its results on the device, and those underway to the host.
pub struct Sampler {
    kernel: Function,
    /// u32 `[3, rows]` of the newest step: tokens, flags, expected numbers.
    results: Array,
    landing: Vec<Pinned>,
    next: usize,
    /// Of each step underway: where its results land, and its rows.
    underway: VecDeque<(usize, usize)>,
    /// Rows of the newest step.
    newest: usize,
}

impl Sampler {
    /// For steps of up to `rows` rows.
    ///
    /// # Errors
    /// [`ModelError::OutOfMemory`]; the driver's refusal.
    pub fn new(
        device: &CudaDevice,
        kernels: &mut Kernels,
        rows: usize,
    ) -> Result<Self, ModelError> {
        let words = RESULT_WORDS * rows.max(1);
        Ok(Self {
            kernel: kernels
                .function("sampler", "sample_f32")?
                .allow_shared(SHARED_BYTES)?,
            results: Array::zeros(device, words, DType::U32, "chosen tokens")?,
            landing: (0..IN_FLIGHT)
                .map(|_| Pinned::zeros(device, words))
                .collect::<Result<_, _>>()?,
            next: 0,
            underway: VecDeque::new(),
            newest: 0,
        })
    }

    /// The tokens of the newest step, for [`super::operations::Operations::token_from_previous`].
    pub fn previous(&self) -> Slice<'_> {
        self.results.all()
    }

    /// Rows of the newest step.
    pub fn newest_rows(&self) -> usize {
        self.newest
    }

    /// Queues the choice of a token for each row of `logits` (f32 `[rows, stride]`), and the copy of the results.
    ///
    /// # Errors
    /// [`ModelError::Batch`] naming what does not fit, or when as many steps as there is room for were not collected.
    pub fn launch(
        &mut self,
        logits: Slice,
        (rows, vocab, stride): (usize, usize, usize),
        requests: Slice,
        lists: Slice,
    ) -> Result<(), ModelError> {
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
        if rows > 0 {
            let lists = if lists.elements() == 0 {
                Arg::Null
            } else {
                Arg::Array(lists.check(NAME, "lists", DType::U32, 1)?)
            };
            let args = [
                Arg::Array(self.results.all().check(NAME, "out", DType::U32, words)?),
                Arg::Array(logits.check(NAME, "logits", DType::F32, rows * stride)?),
                Arg::Array(requests.check(NAME, "requests", DType::U32, rows * REQUEST_WORDS)?),
                lists,
                count(rows),
                count(vocab),
                count(stride),
            ];
            let grid = Grid {
                blocks: (rows, 1, 1),
                threads: (THREADS, 1),
                shared: SHARED_BYTES,
            };
            self.kernel.launch(grid, &args)?;
            self.landing[self.next].download(words, self.results.all())?;
        }
        self.newest = rows;
        self.underway.push_back((self.next, rows));
        self.next = (self.next + 1) % IN_FLIGHT;
        Ok(())
    }

    /// Waits for the oldest step that was launched and not collected.
    ///
    /// # Errors
    /// [`ModelError::Batch`] when there is none; what went wrong on the device.
    pub fn collect(&mut self) -> Result<Vec<Sampled>, ModelError> {
        let Some((landing, rows)) = self.underway.pop_front() else {
            return Err(ModelError::Batch("no step was launched".into()));
        };
        if rows == 0 {
            return Ok(Vec::new());
        }
        let words = self.landing[landing].read()?;
        Ok((0..rows)
            .map(|row| {
                let flags = words[rows + row];
                Sampled {
                    token: (flags & 1 == 0).then_some(words[row]),
                    expected: (flags & 2 != 0).then(|| f32::from_bits(words[2 * rows + row])),
                }
            })
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::{PackedRequests, REQUEST_WORDS, SampleRequest};

    #[test]
    fn requests_are_packed_as_the_kernel_reads_them_and_share_their_lists() {
        let (choices, numbers, mask) = (vec![7, 8, 9], vec![1.0, 1.0, 0.0], vec![0b1011, 1]);
        let request = SampleRequest {
            draw: 0.25,
            temperature: 0.7,
            top_k: 20,
            top_p: 0.95,
            min_p: 0.0,
            choices: &choices,
            numbers: &numbers,
            mask: Some(&mask),
        };
        let none = SampleRequest {
            choices: &[],
            numbers: &[],
            mask: None,
            ..request
        };
        let packed = PackedRequests::new(&[request, none, request], 70);
        let one = 1f32.to_bits();
        assert_eq!(packed.lists, [7, 8, 9, one, one, 0, 0b1011, 1, 0]);
        assert_eq!(packed.requests.len(), 3 * REQUEST_WORDS);
        let number = |row: usize, at: usize| {
            let words = &packed.requests[row * REQUEST_WORDS + 2 * at..][..2];
            u64::from(words[0]) | u64::from(words[1]) << 32
        };
        assert_eq!(
            [0, 1, 2, 3].map(|at| number(2, at)),
            [0.25f64, 0.7, 0.95, 0.0].map(f64::to_bits)
        );
        assert_eq!(packed.requests[8..12], [20, 0, 3, 6]);
        assert_eq!(
            packed.requests[REQUEST_WORDS + 10..][..2],
            [0, super::NO_MASK]
        );
        assert_eq!(packed.requests[2 * REQUEST_WORDS + 8..], [20, 0, 3, 6]);
    }
}
