//! Rotary position embedding (<https://arxiv.org/abs/2104.09864>): the table of cosines and sines.

use candle_core::{DType, Device, Tensor};

use super::config::RopeScaling;
use super::{ModelConfig, ModelError, cpu};

/// Positions that get a table at most. Longer contexts than this are refused rather than paid for in memory.
const MAX_POSITIONS: usize = 1 << 17;

/// Cosines and sines of every position's angles, `[positions, head_dim / 2]` each.
pub struct RotaryTable {
    cos: Tensor,
    sin: Tensor,
    positions: usize,
}

impl RotaryTable {
    /// The table for a model, on a device, in its dtype. Angles are taken in f32, as every reference implementation does,
    /// so that long positions see the same rounding.
    ///
    /// # Errors
    /// When the device refuses the memory.
    pub fn new(config: &ModelConfig, device: &Device, dtype: DType) -> Result<Self, ModelError> {
        let positions = config.max_positions.min(MAX_POSITIONS);
        let half = config.head_dim / 2;
        let frequencies: Vec<f32> = (0..half)
            .map(|i| {
                let exponent = 2.0 * i as f64 / config.head_dim as f64;
                let frequency = 1.0 / config.rope_theta.powf(exponent) as f32;
                config
                    .rope_scaling
                    .as_ref()
                    .map_or(frequency, |scaling| stretch(frequency, scaling))
            })
            .collect();
        let table = |f: fn(f32) -> f32| -> Result<Tensor, ModelError> {
            let values: Vec<f32> = (0..positions)
                .flat_map(|p| {
                    frequencies
                        .iter()
                        .map(move |frequency| f(p as f32 * frequency))
                })
                .collect();
            Ok(Tensor::from_vec(values, (positions, half), device)?.to_dtype(dtype)?)
        };
        Ok(Self {
            cos: table(f32::cos)?,
            sin: table(f32::sin)?,
            positions,
        })
    }

    /// Positions in the table: `0..positions()`.
    pub fn positions(&self) -> usize {
        self.positions
    }

    /// Cosines and sines of all positions, `[positions, head_dim / 2]` each.
    pub fn tables(&self) -> (&Tensor, &Tensor) {
        (&self.cos, &self.sin)
    }

    /// The angles of a step: cosines and sines, `[N, head_dim / 2]` each.
    ///
    /// # Errors
    /// [`ModelError::Batch`] for a position beyond the table.
    pub fn gather(&self, positions: &[u32]) -> Result<(Tensor, Tensor), ModelError> {
        if let Some(position) = positions
            .iter()
            .find(|&&position| position as usize >= self.positions)
        {
            return Err(ModelError::Batch(format!(
                "position {position}, but the model's context ends at {}",
                self.positions
            )));
        }
        let pick = |table: &Tensor| -> Result<Tensor, ModelError> {
            if !cpu::applies(table) {
                let index = Tensor::new(positions, table.device())?;
                return Ok(table.index_select(&index, 0)?);
            }
            let half = table.dim(1)?;
            let rows = cpu::with_f32(table, |data| {
                let mut rows = Vec::with_capacity(positions.len() * half);
                for &position in positions {
                    rows.extend_from_slice(&data[position as usize * half..][..half]);
                }
                Ok(rows)
            })?;
            Ok(Tensor::from_vec(
                rows,
                (positions.len(), half),
                table.device(),
            )?)
        };
        Ok((pick(&self.cos)?, pick(&self.sin)?))
    }
}

/// Llama 3.1's stretched frequency: slow ones are divided by the factor, fast ones stay, those between are blended by the
/// number of turns they make over the original context.
fn stretch(frequency: f32, scaling: &RopeScaling) -> f32 {
    let turns = scaling.original_positions * f64::from(frequency) / std::f64::consts::TAU;
    let keep = (turns - scaling.low_turns) / (scaling.high_turns - scaling.low_turns);
    let keep = keep.clamp(0.0, 1.0);
    let frequency = f64::from(frequency);
    ((1.0 - keep) * frequency / scaling.factor + keep * frequency) as f32
}
