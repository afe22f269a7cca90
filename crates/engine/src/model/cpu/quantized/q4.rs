//! `Q4_K`: a super-block of 256 weights is eight blocks of 32 nibbles with a scale and a minimum of 6 bits each, and for
//! all of them a scale of scales and a scale of minima in half precision: `weight = d·scale·nibble − dmin·min`.

use candle_core::quantized::GgmlDType;

use super::{BLOCK, Group, Nibbles, Quantiser, Vector, multiply, nibble_of, set_nibbles};
use crate::checkpoint::gguf::blocks::{BLOCKS, nibble, scale_and_min};
use crate::model::cpu::half::{F16, Format};
use crate::model::cpu::panels::PANEL;

/// A super-block of 16 outputs (4.625 bits a weight).
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub(crate) struct Q4Group {
    /// The factor of the scales, in half precision.
    pub(crate) scale: [u16; PANEL],
    /// The factor of the minima, in half precision.
    pub(crate) min: [u16; PANEL],
    pub(crate) scales: [[u8; PANEL]; BLOCKS],
    pub(crate) mins: [[u8; PANEL]; BLOCKS],
    /// Weights of the blocks: vector `i` holds inputs `4i` to `4i + 3` in its low nibbles, and those 16 further on in its
    /// high ones.
    pub(crate) weights: [[Vector; BLOCK / 8]; BLOCKS],
}

impl Quantiser for Q4Group {
    const DTYPE: GgmlDType = GgmlDType::Q4K;
}

impl Group for Q4Group {
    const BLOCKS: usize = BLOCKS;
    const STORED: usize = 16 + BLOCKS * BLOCK / 2;
    fn set(&mut self, lane: usize, bytes: &[u8]) {
        let (header, nibbles) = bytes.split_at(16);
        self.set_parts(lane, header, nibbles);
    }

    fn get(&self, lane: usize, out: &mut [f32]) {
        self.get_with(lane, out, |_, _| 0);
    }

    multiply!(q4, nibbles);
}

impl Q4Group {
    /// Sets the weights of one output from its scales and minima and its nibbles.
    pub(super) fn set_parts(&mut self, lane: usize, header: &[u8], nibbles: &[u8]) {
        self.scale[lane] = u16::from_le_bytes([header[0], header[1]]);
        self.min[lane] = u16::from_le_bytes([header[2], header[3]]);
        for block in 0..BLOCKS {
            let (scale, min) = scale_and_min(&header[4..], block);
            self.scales[block][lane] = scale;
            self.mins[block][lane] = min;
            set_nibbles(&mut self.weights[block], lane, |i| {
                nibble(nibbles, block, i)
            });
        }
    }

    /// Reads the weights of one output; `more` of a block and an input is added to its nibble.
    pub(super) fn get_with(&self, lane: usize, out: &mut [f32], more: impl Fn(usize, usize) -> u8) {
        let (scale, min) = (F16::to_f32(self.scale[lane]), F16::to_f32(self.min[lane]));
        for (block, out) in out.chunks_exact_mut(BLOCK).enumerate() {
            let scale = scale * f32::from(self.scales[block][lane]);
            let min = min * f32::from(self.mins[block][lane]);
            for (i, out) in out.iter_mut().enumerate() {
                let nibble = nibble_of(&self.weights[block], lane, i);
                *out = scale * f32::from(nibble + more(block, i)) - min;
            }
        }
    }
}

impl Nibbles for Q4Group {
    const MINS: bool = true;

    #[inline(always)]
    fn nibbles(&self, block: usize) -> &[Vector; BLOCK / 8] {
        &self.weights[block]
    }

    #[inline(always)]
    fn scale(&self, _: usize) -> &[u16; PANEL] {
        &self.scale
    }

    #[inline(always)]
    fn min(&self) -> Option<&[u16; PANEL]> {
        Some(&self.min)
    }

    #[inline(always)]
    fn factors(&self, block: usize) -> Option<(&[u8; PANEL], &[u8; PANEL])> {
        Some((&self.scales[block], &self.mins[block]))
    }
}
