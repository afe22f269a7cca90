//! `Q5_K`: a super-block of [`super::q4`] with a fifth bit for every weight.

use candle_core::quantized::GgmlDType;

use super::{BLOCK, Group, Instructions, Nibbles, Product, Q4Group, Quantiser, Vector, portable};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::checkpoint::gguf::blocks::{BLOCKS, fifth_bit};

/// A super-block of 16 outputs (5.625 bits a weight).
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Q5Group {
    /// The lower four bits, scales and minima.
    pub low: Q4Group,
    /// The fifth bits of the blocks: bit `i` of byte `4 · output + j` belongs to input `4i + j`.
    pub high: [Vector; BLOCKS],
}

impl Quantiser for Q5Group {
    const DTYPE: GgmlDType = GgmlDType::Q5K;
}

impl Group for Q5Group {
    const BLOCKS: usize = BLOCKS;
    const STORED: usize = 16 + BLOCK + BLOCKS * BLOCK / 2;
    const ZERO: Self = Self {
        low: Q4Group::ZERO,
        high: [Vector([0; 64]); BLOCKS],
    };

    fn set(&mut self, lane: usize, bytes: &[u8]) {
        let (header, rest) = bytes.split_at(16);
        let (high, nibbles) = rest.split_at(BLOCK);
        self.low.set_parts(lane, header, nibbles);
        for (block, vector) in self.high.iter_mut().enumerate() {
            let own = &mut vector.0[4 * lane..][..4];
            own.fill(0);
            for i in 0..BLOCK {
                own[i % 4] |= fifth_bit(high, block, i) << (i / 4);
            }
        }
    }

    fn get(&self, lane: usize, out: &mut [f32]) {
        self.low.get_with(lane, out, |block, i| {
            (self.high[block].0[4 * lane + i % 4] >> (i / 4) & 1) << 4
        });
    }

    fn multiply(instructions: Instructions, product: &mut Product<'_, '_, Self>) {
        match instructions {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512(token) => avx512::q5(token, product),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2(token) => avx2::q5(token, product),
            Instructions::Portable => portable::q5(product),
        }
    }
}

impl Nibbles for Q5Group {
    #[inline(always)]
    fn nibbles(&self) -> &Q4Group {
        &self.low
    }

    #[inline(always)]
    fn fifth(&self, block: usize) -> Option<&Vector> {
        Some(&self.high[block])
    }
}
