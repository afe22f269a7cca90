//! `Q8_0`: a block of 32 weights is a scale in half precision and 32 signed bytes.

use candle_core::quantized::GgmlDType;

use super::{BLOCK, Group, Quantiser, Vector, multiply};
use crate::model::cpu::half::{F16, Format};
use crate::model::cpu::panels::PANEL;

/// Two blocks of 16 outputs (two, so that scales fill a cache line: 8.5 bits a weight).
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub(crate) struct Q8Group {
    /// Scales of the blocks, in half precision.
    pub(crate) scales: [[u16; PANEL]; 2],
    /// Weights of the blocks, with 128 added to make them unsigned.
    pub(crate) weights: [[Vector; BLOCK / 4]; 2],
}

impl Quantiser for Q8Group {
    const DTYPE: GgmlDType = GgmlDType::Q8_0;
}

impl Group for Q8Group {
    const BLOCKS: usize = 2;
    const STORED: usize = 2 * (2 + BLOCK);
    fn set(&mut self, lane: usize, bytes: &[u8]) {
        for (block, bytes) in bytes.chunks_exact(2 + BLOCK).enumerate() {
            self.scales[block][lane] = u16::from_le_bytes([bytes[0], bytes[1]]);
            for (i, value) in bytes[2..].iter().enumerate() {
                self.weights[block][i / 4].0[4 * lane + i % 4] = value ^ 128;
            }
        }
    }

    fn get(&self, lane: usize, out: &mut [f32]) {
        for (block, out) in out.chunks_exact_mut(BLOCK).enumerate() {
            let scale = F16::to_f32(self.scales[block][lane]);
            for (i, out) in out.iter_mut().enumerate() {
                let value = self.weights[block][i / 4].0[4 * lane + i % 4];
                *out = (f32::from(value) - 128.0) * scale;
            }
        }
    }

    multiply!(q8, q8_group);
}
