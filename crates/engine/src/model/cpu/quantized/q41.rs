//! `Q4_1` and `Q5_1`: a block of 32 weights is a scale and a minimum in half precision, and 32 numbers of four or five bits:
//! `weight = scale·number + minimum`.

use super::{BLOCK, Group, Nibbles, Vector, multiply, nibble_of, set_nibbles, with_fifths};
use crate::checkpoint::gguf::StorageType;
use crate::checkpoint::gguf::blocks::small;
use crate::model::cpu::half::{F16, Format};
use crate::model::cpu::panels::PANEL;

/// Bytes of a scale and a minimum.
const HEADER: usize = 4;

/// A block of 16 outputs of `Q4_1` (5 bits a weight).
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub(crate) struct Q41Group {
    pub(crate) scale: [u16; PANEL],
    /// The minima negated, in half precision, since those of the other formats are subtracted.
    pub(crate) min: [u16; PANEL],
    /// The numbers: vector `i` holds inputs `4i` to `4i + 3` in its low nibbles, and those 16 further on in its high ones.
    pub(crate) weights: [Vector; BLOCK / 8],
}

impl Q41Group {
    /// Sets a block of one output from the scale and the minimum, and the low four bits of the numbers.
    fn set_parts(&mut self, lane: usize, header: &[u8], numbers: &[u8; BLOCK]) {
        self.scale[lane] = u16::from_le_bytes([header[0], header[1]]);
        self.min[lane] = u16::from_le_bytes([header[2], header[3]]) ^ 0x8000;
        set_nibbles(&mut self.weights, lane, |i| numbers[i]);
    }

    /// Reads the weights of one output; `more` of an input is added to its nibble.
    fn get_with(&self, lane: usize, out: &mut [f32], more: impl Fn(usize) -> u8) {
        let (scale, min) = (F16::to_f32(self.scale[lane]), F16::to_f32(self.min[lane]));
        for (i, out) in out.iter_mut().enumerate() {
            let nibble = nibble_of(&self.weights, lane, i);
            *out = scale * f32::from(nibble + more(i)) - min;
        }
    }
}

impl Group for Q41Group {
    const BLOCKS: usize = 1;
    const STORED: usize = HEADER + BLOCK / 2;
    fn set(&mut self, lane: usize, bytes: &[u8]) {
        let (header, numbers) = bytes.split_at(HEADER);
        self.set_parts(lane, header, &small(StorageType::Q4_1, numbers));
    }

    fn get(&self, lane: usize, out: &mut [f32]) {
        self.get_with(lane, out, |_| 0);
    }

    multiply!(q41, nibbles);
}

impl Nibbles for Q41Group {
    const MINS: bool = true;

    #[inline(always)]
    fn nibbles(&self, _: usize) -> &[Vector; BLOCK / 8] {
        &self.weights
    }

    #[inline(always)]
    fn scale(&self, _: usize) -> &[u16; PANEL] {
        &self.scale
    }

    #[inline(always)]
    fn min(&self) -> Option<&[u16; PANEL]> {
        Some(&self.min)
    }
}

/// A block of 16 outputs of `Q5_1` (6 bits a weight).
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub(crate) struct Q51Group {
    /// The lower four bits, scales and minima.
    pub(crate) low: Q41Group,
    /// The fifth bits: bit `i` of byte `4 · output + j` belongs to input `4i + j`.
    pub(crate) high: [Vector; 1],
}

impl Group for Q51Group {
    const BLOCKS: usize = 1;
    const STORED: usize = HEADER + 4 + BLOCK / 2;
    fn set(&mut self, lane: usize, bytes: &[u8]) {
        let (header, numbers) = bytes.split_at(HEADER);
        let numbers = small(StorageType::Q5_1, numbers);
        self.low.set_parts(lane, header, &numbers);
        self.high[0].set_fifths(lane, |i| numbers[i] >> 4);
    }

    fn get(&self, lane: usize, out: &mut [f32]) {
        self.low
            .get_with(lane, out, |i| self.high[0].fifth(lane, i));
    }

    multiply!(q51, nibbles);
}

with_fifths!(Q51Group, Q41Group, 0);
