//! Rotary position embedding (<https://arxiv.org/abs/2104.09864>): the table of cosines and sines.
//!
//! Every family's embedding is brought to one form: number `i` of a head turns with number `i + head_dim / 2`. Heads that pair
//! neighbours, or rotate a part of their numbers only, have their numbers put in another order when the weights are loaded
//! (`head_order`), which changes no product of a query and a key; what is not rotated turns by an angle of zero.

use std::f64::consts::TAU;

use candle_core::{DType, Device, Tensor};

use super::{ModelError, Result, StepBatch, cpu};
use crate::checkpoint::ModelConfig;
use crate::checkpoint::config::{MAX_POSITIONS, PositionScale, Rope, RopeScaling};

/// Cosines and sines of every position's angles, `[positions, head_dim / 2]` each. If sequences longer than the original
/// context have other angles, a second set follows, `[2 · positions, head_dim / 2]`.
pub(crate) struct RotaryTable {
    cos: Tensor,
    sin: Tensor,
    positions: usize,
    two: bool,
}

impl RotaryTable {
    /// The tables of a model's rotary embeddings: of the one, and of the other, if some layers have another ([`Self::new`]).
    pub(crate) fn all(config: &ModelConfig, device: &Device, dtype: DType) -> Result<Vec<Self>> {
        let second = config.second_rope.as_ref();
        let second = second.map(|second| (&second.rope, true));
        std::iter::once((&config.rope, false))
            .chain(second)
            .map(|(rope, second)| {
                let has = |layer: &usize| config.has_second_rope(*layer) == second;
                let layer = (0..config.layers).find(has).unwrap_or(0);
                Self::new(&config.at(layer), rope, device, dtype)
            })
            .collect()
    }

    /// The table of a rotary embedding of a model on a device, in its dtype. Angles are computed in f32, as in every reference implementation, so
    /// that long positions have the same rounding.
    fn new(config: &ModelConfig, rope: &Rope, device: &Device, dtype: DType) -> Result<Self> {
        let positions = config.max_positions.min(MAX_POSITIONS);
        let half = config.head_dim / 2;
        let (factor, sets) = frequencies(rope);
        let table = |f: fn(f32) -> f32, still: f32| -> Result<Tensor> {
            let mut values = Vec::with_capacity(sets.len() * positions * half);
            for frequencies in &sets {
                for position in 0..positions {
                    let turned = frequencies
                        .iter()
                        .map(|frequency| f(position as f32 * frequency) * factor);
                    values.extend(turned);
                    values.extend(std::iter::repeat_n(still, half - frequencies.len()));
                }
            }
            let shape = (sets.len() * positions, half);
            Ok(Tensor::from_vec(values, shape, device)?.to_dtype(dtype)?)
        };
        Ok(Self {
            cos: table(f32::cos, 1.0)?,
            sin: table(f32::sin, 0.0)?,
            positions,
            two: sets.len() > 1,
        })
    }

    /// Cosines and sines, `[positions, head_dim / 2]` each, or `[2 · positions, head_dim / 2]`.
    #[cfg(feature = "cuda")]
    pub(crate) fn tables(&self) -> (&Tensor, &Tensor) {
        (&self.cos, &self.sin)
    }

    /// The rows of the tables that hold each token's angles, `[N]`: its position, in the second set for a long sequence.
    pub(crate) fn rows(&self, batch: &StepBatch) -> Result<Vec<u32>> {
        let positions = &batch.positions;
        if let Some(position) = positions
            .iter()
            .find(|&&position| position as usize >= self.positions)
        {
            return Err(ModelError::Batch(format!(
                "position {position}, but the model's context ends at {}",
                self.positions
            )));
        }
        let mut rows = positions.clone();
        if self.two {
            for row in batch.rows.iter().filter(|row| row.long) {
                for index in &mut rows[row.query_start..][..row.query_len] {
                    *index += self.positions as u32;
                }
            }
        }
        Ok(rows)
    }

    /// The angles of a step: cosines and sines, `[N, head_dim / 2]` each.
    pub(crate) fn gather(&self, batch: &StepBatch) -> Result<(Tensor, Tensor)> {
        let rows = self.rows(batch)?;
        let pick = |table: &Tensor| -> Result<Tensor> {
            if !cpu::applies(table) {
                let index = Tensor::new(rows.as_slice(), table.device())?;
                return Ok(table.index_select(&index, 0)?);
            }
            let half = table.dim(1)?;
            let picked = cpu::with_f32([table], |[data]| {
                let mut picked = Vec::with_capacity(rows.len() * half);
                for &row in &rows {
                    picked.extend_from_slice(&data[row as usize * half..][..half]);
                }
                Ok(picked)
            })?;
            let shape = (rows.len(), half);
            Ok(Tensor::from_vec(picked, shape, table.device())?)
        };
        Ok((pick(&self.cos)?, pick(&self.sin)?))
    }
}

/// What queries are multiplied with by their position, `[N]`; `None` while no token is behind the original context.
pub(crate) fn query_scales(scale: &PositionScale, positions: &[u32]) -> Option<Vec<f32>> {
    let times = |position: &u32| (*position as f32 / scale.original_positions as f32).floor();
    if positions.iter().all(|position| times(position) < 1.0) {
        return None;
    }
    let scale_of = |position| 1.0 + scale.beta as f32 * (1.0 + times(position)).ln();
    Some(positions.iter().map(scale_of).collect())
}

/// The factor of cosines and sines, and the frequencies of all pairs: one set, or one for short sequences and one for long
/// ones.
fn frequencies(rope: &Rope) -> (f32, Vec<Vec<f32>>) {
    let pairs = rope.dims / 2;
    let plain: Vec<f64> = (0..pairs)
        .map(|i| {
            let exponent = 2.0 * i as f64 / rope.dims as f64;
            // Reference implementations compute the inverse in f32.
            f64::from(1.0 / rope.theta.powf(exponent) as f32)
        })
        .collect();
    let each = |f: &dyn Fn(usize, f64) -> f64| -> Vec<f32> {
        let frequencies = plain.iter().enumerate();
        frequencies.map(|(i, &x)| f(i, x) as f32).collect()
    };
    match &rope.scaling {
        RopeScaling::None => (1.0, vec![each(&|_, x| x)]),
        RopeScaling::Linear { factor } => (1.0, vec![each(&|_, x| x / factor)]),
        RopeScaling::Proportional { turned, factor } => {
            let mut turning = each(&|_, x| x / factor);
            turning.truncate(*turned);
            (1.0, vec![turning])
        }
        RopeScaling::Llama3 {
            factor,
            low_turns,
            high_turns,
            original_positions,
        } => {
            // Slow frequencies are divided by the factor, fast ones stay, and those between are blended by the number of
            // turns they make over the original context.
            let stretch = |_, x: f64| {
                let turns = original_positions * x / TAU;
                let keep = ((turns - low_turns) / (high_turns - low_turns)).clamp(0.0, 1.0);
                (1.0 - keep) * x / factor + keep * x
            };
            (1.0, vec![each(&stretch)])
        }
        RopeScaling::Yarn {
            factor,
            fast_turns,
            slow_turns,
            truncate,
            original_positions,
            attention_factor,
        } => {
            // The index of the pair that makes so many turns over the original context.
            let pair = |turns: f64| {
                let context = (original_positions / (turns * TAU)).ln();
                rope.dims as f64 * context / (2.0 * rope.theta.ln())
            };
            let (mut first, mut last) = (pair(*fast_turns), pair(*slow_turns));
            if *truncate {
                (first, last) = (first.floor(), last.ceil());
            }
            let first = first.max(0.0);
            let mut last = last.min(rope.dims as f64 - 1.0);
            if (last - first).abs() < f64::EPSILON {
                last += 0.001;
            }
            let stretch = |i, x: f64| {
                let stretched = ((i as f64 - first) / (last - first)).clamp(0.0, 1.0);
                stretched * x / factor + (1.0 - stretched) * x
            };
            (*attention_factor as f32, vec![each(&stretch)])
        }
        RopeScaling::LongRope {
            short,
            long,
            attention_factor,
            ..
        } => {
            let by = |divisors: &[f64]| each(&|i, x| x / divisors[i]);
            (*attention_factor as f32, vec![by(short), by(long)])
        }
    }
}

/// The order of a head's numbers in which the two of a pair are half a head apart: element `j` is the number that goes to
/// place `j`. `None` if they are in that order already.
pub(super) fn head_order(rope: &Rope, head_dim: usize) -> Option<Vec<usize>> {
    let (pairs, half) = (rope.dims / 2, head_dim / 2);
    if rope.dims == head_dim && !rope.interleaved {
        return None;
    }
    let pair = |i: usize| {
        if rope.interleaved {
            (2 * i, 2 * i + 1)
        } else {
            (i, i + pairs)
        }
    };
    let still = |i: usize| rope.dims + i;
    let spare = half - pairs;
    let first = (0..half).map(|i| {
        if i < pairs {
            pair(i).0
        } else {
            still(i - pairs)
        }
    });
    let second = (0..half).map(|i| {
        if i < pairs {
            pair(i).1
        } else {
            still(spare + i - pairs)
        }
    });
    Some(first.chain(second).collect())
}

#[cfg(test)]
mod tests {
    use super::{Rope, RopeScaling, head_order};

    #[test]
    fn every_number_has_one_place_and_pairs_are_half_a_head_apart() {
        for (dims, head_dim, interleaved) in
            [(8, 8, true), (4, 8, true), (6, 8, false), (4, 16, false)]
        {
            let rope = Rope {
                theta: 1e4,
                dims,
                interleaved,
                scaling: RopeScaling::None,
            };
            let order = head_order(&rope, head_dim).unwrap();
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..head_dim).collect::<Vec<_>>());
            for i in 0..dims / 2 {
                let pair = (order[i], order[i + head_dim / 2]);
                let expected = if interleaved {
                    (2 * i, 2 * i + 1)
                } else {
                    (i, i + dims / 2)
                };
                assert_eq!(pair, expected);
            }
        }
    }
}
