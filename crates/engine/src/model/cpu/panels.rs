//! The matrix kernel of linear layers: rows times packed panels of [`PANEL`] columns.
//!
//! A panel holds 16 columns of a `[k, 16]` matrix, row after row, which is what a register tile reads in order: at each
//! step of `k` one vector of 16 columns, and one number of each row to multiply it with. Weights are packed into panels once
//! at load, in any [`Format`]; what has 16 bits is widened to f32 in registers, which is exact.
//!
//! Every output is `fma(a[k], b[k], …fma(a[1], b[1], fma(a[0], b[0], start)))`, whatever the number of rows and the format.

use std::ops::Range;

use pulp::Simd;

use super::half::{F32, Format};
use super::instructions::{Kernel, Vectors};
use super::prefetch::Ahead;

pub(crate) const PANEL: usize = 16;

/// On processors with short vectors, up to this many rows are multiplied with whole panels, 16-bit numbers widened in registers;
/// more rows with pieces of panels, widened to memory once.
const FEW: usize = 8;

/// `out = a × b` (or `out += a × b`), with `a` `[rows, k]` in rows `a_stride` apart and `b` `[k, n]` in panels.
pub(crate) struct Multiply<'a, 'o, F: Format> {
    /// Left rows; those past the rows of `out` are not read.
    pub(crate) a: &'a [f32],
    /// The distance between rows of `a`.
    pub(crate) a_stride: usize,
    /// The length of the sums.
    pub(crate) k: usize,
    /// The panels, `[k, PANEL]` each.
    pub(crate) panels: &'a [F::Bits],
    pub(crate) stride: usize,
    /// Rows of the result, split off their buffer one by one, so that threads can share a buffer by columns. The last panel
    /// may be wider than the rows.
    pub(crate) out: &'a mut [&'o mut [f32]],
    /// Whether the sums start from the content of `out` instead of from zero.
    pub(crate) accumulate: bool,
    /// Whether the panels are in the first-level cache already, so that nothing is prefetched.
    pub(crate) cached: bool,
}

impl<F: Format> Kernel for Multiply<'_, '_, F> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(mut self, vectors: V) {
        let few = self.out.len() <= FEW;
        // Registers: rows × panels × vectors per panel accumulators, plus one vector per panel and one broadcast.
        match V::Simd::F32_LANES {
            16 => self.columns::<V, 1, 8, 2>(vectors),
            8 if few => self.columns::<V, 2, 6, 1>(vectors),
            4 if few => self.columns::<V, 4, 4, 1>(vectors),
            8 => self.pieces::<V, 2, 6>(vectors),
            4 => self.pieces::<V, 4, 4>(vectors),
            _ => self.scalar(),
        }
    }
}

impl<F: Format> Multiply<'_, '_, F> {
    fn columns_wanted(&self) -> usize {
        self.out.first().map_or(0, |row| row.len())
    }

    /// Loops over panels outside and rows inside, so that a panel stays in the first-level cache while all rows use it.
    #[inline(always)]
    fn columns<V: Vectors, const W: usize, const MAX_ROWS: usize, const WIDE: usize>(
        &mut self,
        vectors: V,
    ) {
        let panels = self.columns_wanted().div_ceil(PANEL);
        let mut panel = 0;
        while panel < panels {
            let left = panels - panel;
            // Few rows leave registers free: more panels at once hide the latency of the multiply-add.
            let at_once = match self.out.len() {
                1 if left >= 4 => 4,
                2 if left >= 4 && W == 1 => 4,
                1..=2 if left >= 2 => 2,
                _ if left >= WIDE => WIDE,
                _ => 1,
            };
            match (at_once, self.out.len()) {
                (4, 1) => self.tile::<V, W, 1, 4>(vectors, panel, 0, (0, 1)),
                (4, _) => self.tile::<V, W, 2, 4>(vectors, panel, 0, (0, 1)),
                (2, _) => self.rows::<V, W, MAX_ROWS, 2>(vectors, panel),
                _ => self.rows::<V, W, MAX_ROWS, 1>(vectors, panel),
            }
            panel += at_once;
        }
    }

    #[inline(always)]
    fn rows<V: Vectors, const W: usize, const MAX_ROWS: usize, const P: usize>(
        &mut self,
        vectors: V,
        panel: usize,
    ) {
        let mut row = 0;
        let passes = self.out.len().div_ceil(MAX_ROWS);
        for pass in 0..passes {
            let left = self.out.len() - row;
            // Even groups: 8 rows under a maximum of 6 go as 4 + 4, not as 6 + 2.
            let take = left.div_ceil(passes - pass);
            let pass = (pass, passes);
            match take {
                1 => self.tile::<V, W, 1, P>(vectors, panel, row, pass),
                2 => self.tile::<V, W, 2, P>(vectors, panel, row, pass),
                3 => self.tile::<V, W, 3, P>(vectors, panel, row, pass),
                4 => self.tile::<V, W, 4, P>(vectors, panel, row, pass),
                5 => self.tile::<V, W, 5, P>(vectors, panel, row, pass),
                6 => self.tile::<V, W, 6, P>(vectors, panel, row, pass),
                7 => self.tile::<V, W, 7, P>(vectors, panel, row, pass),
                _ => self.tile::<V, W, 8, P>(vectors, panel, row, pass),
            }
            row += take;
        }
    }

    /// `R` rows times `P` panels of `W` vectors each, all of `k`, in registers; `pass` of `passes` over these panels.
    // Index loops over constant bounds unroll; iterators over arrays of vectors do not reliably.
    #[allow(clippy::needless_range_loop)]
    #[inline(always)]
    fn tile<V: Vectors, const W: usize, const R: usize, const P: usize>(
        &mut self,
        vectors: V,
        panel: usize,
        row: usize,
        passes: (usize, usize),
    ) {
        let (simd, k) = (vectors.simd(), self.k);
        let mut acc = [[[simd.splat_f32s(0.0); W]; P]; R];
        if self.accumulate {
            for r in 0..R {
                let out = &*self.out[row + r];
                for p in 0..P {
                    let from = (panel + p) * PANEL;
                    let columns = &out[from..out.len().min(from + PANEL)];
                    if let Some(whole) = V::Simd::as_simd_f32s(columns).0.first_chunk() {
                        acc[r][p] = *whole;
                    } else {
                        for w in 0..W {
                            let lanes = lanes::<V>(columns, w);
                            acc[r][p][w] = simd.partial_load_f32s(&columns[lanes]);
                        }
                    }
                }
            }
        }
        let empty: &[f32] = &[];
        let mut a = [empty; R];
        for r in 0..R {
            a[r] = &self.a[(row + r) * self.a_stride..][..k];
        }
        let no_rows: &[[F::Bits; PANEL]] = &[];
        let mut b = [no_rows; P];
        for p in 0..P {
            let panel = &self.panels[(panel + p) * self.stride..][..k * PANEL];
            b[p] = &panel.as_chunks().0[..k];
        }
        let mut ahead = if self.cached {
            Ahead::none()
        } else {
            Ahead::new(b, self.stride / PANEL, passes)
        };
        for i in 0..k {
            ahead.until((i + 1) * size_of::<[F::Bits; PANEL]>());
            let mut wide = [[simd.splat_f32s(0.0); W]; P];
            for p in 0..P {
                wide[p] = F::widen::<V, W>(vectors, &b[p][i]);
            }
            for r in 0..R {
                let x = simd.splat_f32s(a[r][i]);
                for p in 0..P {
                    for w in 0..W {
                        acc[r][p][w] = simd.mul_add_e_f32s(x, wide[p][w], acc[r][p][w]);
                    }
                }
            }
        }
        for r in 0..R {
            let out = &mut *self.out[row + r];
            for p in 0..P {
                let from = (panel + p) * PANEL;
                let to = out.len().min(from + PANEL);
                let columns = &mut out[from..to];
                if let Some(whole) = V::Simd::as_mut_simd_f32s(columns).0.first_chunk_mut() {
                    *whole = acc[r][p];
                } else {
                    for w in 0..W {
                        let lanes = lanes::<V>(columns, w);
                        simd.partial_store_f32s(&mut columns[lanes], acc[r][p][w]);
                    }
                }
            }
        }
    }

    /// Multiplies pieces of panels that stay in the first-level cache, widened if they are not f32, and continues the sums from
    /// piece to piece. A few rows at a time are multiplied with all panels of a piece.
    #[inline(always)]
    fn pieces<V: Vectors, const W: usize, const MAX_ROWS: usize>(&mut self, vectors: V) {
        /// The length of a piece's sums, and its number of panels.
        const LENGTH: usize = 256;
        const WIDE: usize = 2;
        let n = self.columns_wanted();
        let plain = F::plain(self.panels);
        let mut widened = vec![0.0; plain.map_or(WIDE * LENGTH * PANEL, |_| 0)];
        for from in (0..n).step_by(WIDE * PANEL) {
            let to = n.min(from + WIDE * PANEL);
            let rows = self.out.iter_mut();
            let mut columns: Vec<&mut [f32]> = rows.map(|row| &mut row[from..to]).collect();
            for first in (0..self.k).step_by(LENGTH) {
                let k = LENGTH.min(self.k - first);
                let at = |panel: usize| panel * self.stride + first * PANEL;
                let panels = from / PANEL..to.div_ceil(PANEL);
                for (panel, to) in panels.zip(widened.chunks_exact_mut(LENGTH * PANEL)) {
                    F::widen_all(vectors, &self.panels[at(panel)..][..k * PANEL], to);
                }
                let (panels, stride) = match plain {
                    Some(plain) => (&plain[at(from / PANEL)..], self.stride),
                    None => (&*widened, LENGTH * PANEL),
                };
                for (pass, rows) in columns.chunks_mut(MAX_ROWS).enumerate() {
                    Multiply::<F32> {
                        a: &self.a[pass * MAX_ROWS * self.a_stride + first..],
                        a_stride: self.a_stride,
                        k,
                        panels,
                        stride,
                        out: rows,
                        accumulate: self.accumulate || first > 0,
                        cached: true,
                    }
                    .columns::<V, W, MAX_ROWS, 1>(vectors);
                }
            }
        }
    }

    /// For processors without a supported instruction set.
    #[inline(always)]
    fn scalar(&mut self) {
        for panel in 0..self.columns_wanted().div_ceil(PANEL) {
            for (row, out) in self.out.iter_mut().enumerate() {
                let to = out.len().min((panel + 1) * PANEL);
                let columns = &mut out[panel * PANEL..to];
                let mut acc = [0.0f32; PANEL];
                if self.accumulate {
                    acc[..columns.len()].copy_from_slice(columns);
                }
                let a = &self.a[row * self.a_stride..][..self.k];
                let b = self.panels[panel * self.stride..].as_chunks::<PANEL>().0;
                for (x, b) in a.iter().zip(b) {
                    for (acc, b) in acc.iter_mut().zip(b) {
                        *acc += x * F::to_f32(*b);
                    }
                }
                columns.copy_from_slice(&acc[..columns.len()]);
            }
        }
    }
}

/// The part of a panel's columns that vector `w` covers; shorter, or empty, at the edge of the matrix.
#[inline(always)]
fn lanes<V: Vectors>(columns: &[f32], w: usize) -> Range<usize> {
    let from = (w * V::Simd::F32_LANES).min(columns.len());
    from..columns.len().min(from + V::Simd::F32_LANES)
}

#[cfg(test)]
mod tests {
    use super::{Multiply, PANEL};
    use crate::model::cpu::half::{Bf16, F16, F32, Format};
    use crate::model::cpu::instructions::Instructions;

    /// Products on every instruction set, for any number of rows and columns, starting from zero or not.
    fn equals_a_chain<F: Format>() {
        let number = |i: usize| ((i * 7919 % 1009) as f32 / 504.5 - 1.0) * 1.1;
        for (columns, k) in [(5usize, 3usize), (16, 1), (70, 300), (90, 129)] {
            let stride = k * PANEL + 32;
            let bits: Vec<F::Bits> = (0..columns.div_ceil(PANEL) * stride)
                .map(|i| F::round(number(i)))
                .collect();
            for rows in [1, 2, 3, 5, 6, 8, 9, 13, 17] {
                let a: Vec<f32> = (0..rows * k).map(|i| number(i * 31 + 5)).collect();
                for accumulate in [false, true] {
                    let before: Vec<f32> = (0..rows * columns).map(number).collect();
                    let chain = |row: usize, column: usize| {
                        let start = before[row * columns + column] * f32::from(accumulate);
                        (0..k).fold(start, |sum, i| {
                            let at = column / PANEL * stride + i * PANEL + column % PANEL;
                            a[row * k + i].mul_add(F::to_f32(bits[at]), sum)
                        })
                    };
                    for instructions in Instructions::all() {
                        let mut out = before.clone();
                        let mut split: Vec<&mut [f32]> = out.chunks_mut(columns).collect();
                        instructions.run(Multiply::<F> {
                            a: &a,
                            a_stride: k,
                            k,
                            panels: &bits,
                            stride,
                            out: &mut split,
                            accumulate,
                            cached: rows % 2 == 0,
                        });
                        // Without the instruction a multiply-add rounds twice.
                        let plain = matches!(instructions, Instructions::Plain);
                        let tolerance = if plain { 1e-3 } else { 0.0 };
                        for (i, out) in out.iter().enumerate() {
                            let expected = chain(i / columns, i % columns);
                            assert!(
                                (out - expected).abs() <= tolerance,
                                "{instructions:?}: {rows} rows, {columns} columns, {accumulate}: {out}, not {expected}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn products_are_chains_of_multiply_adds() {
        equals_a_chain::<F32>();
        equals_a_chain::<F16>();
        equals_a_chain::<Bf16>();
    }
}
