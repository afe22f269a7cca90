//! The one matrix kernel: rows times packed panels of [`PANEL`] columns.
//!
//! A panel holds 16 columns of a `[k, 16]` matrix, row after row, which is what a register tile reads in order: at each
//! step of `k` one vector of 16 columns, and one number of each row to multiply it with. Linear layers pack their weights
//! into panels once at load; the KV cache keeps its keys and values as panels.
//!
//! Every output is `fma(a[k], b[k], …fma(a[1], b[1], fma(a[0], b[0], start)))`, whatever the number of rows.

use pulp::{Simd, WithSimd};

/// Columns of a panel.
pub const PANEL: usize = 16;

/// Where a product's rows go: row `i` as a slice of the columns asked for.
pub trait OutRows {
    /// The columns of row `i`.
    fn row(&mut self, i: usize) -> &mut [f32];
}

/// Rows of one buffer, `stride` apart.
pub struct Strided<'a> {
    /// The buffer; row `i` begins at `i * stride`.
    pub data: &'a mut [f32],
    /// Distance of rows.
    pub stride: usize,
    /// Columns.
    pub width: usize,
}

impl OutRows for Strided<'_> {
    #[inline(always)]
    fn row(&mut self, i: usize) -> &mut [f32] {
        &mut self.data[i * self.stride..][..self.width]
    }
}

/// Rows that were split off their buffer one by one, so that threads can share a buffer by columns.
pub struct Split<'a, 'b>(pub &'a mut [&'b mut [f32]]);

impl OutRows for Split<'_, '_> {
    #[inline(always)]
    fn row(&mut self, i: usize) -> &mut [f32] {
        self.0[i]
    }
}

/// Where a product's panels are. The sums may be cut into segments that lie apart in memory (the blocks of a KV cache);
/// they are still one chain.
pub trait Panels {
    /// Segments, in the order of the sum.
    fn segments(&self) -> usize;

    /// Segment `s` of panel `p`: `[k of the segment, PANEL]`.
    fn panel(&self, p: usize, s: usize) -> &[f32];
}

/// Panels `stride` apart, in one segment.
pub struct Uniform<'a> {
    /// The panels.
    pub data: &'a [f32],
    /// Their distance.
    pub stride: usize,
}

impl Panels for Uniform<'_> {
    #[inline(always)]
    fn segments(&self) -> usize {
        1
    }

    #[inline(always)]
    fn panel(&self, p: usize, _: usize) -> &[f32] {
        &self.data[p * self.stride..][..self.stride]
    }
}

/// `out = a × b` (or `out += a × b`), with `a` `[rows, k]` in rows `a_stride` apart and `b` `[k, n]` in panels.
pub struct Multiply<'a, B, O> {
    /// Left rows.
    pub a: &'a [f32],
    /// Distance of left rows.
    pub a_stride: usize,
    /// Number of rows.
    pub rows: usize,
    /// Length of the sums in each segment.
    pub k: usize,
    /// The right side.
    pub b: B,
    /// Number of columns; the last panel may be wider.
    pub n: usize,
    /// Results.
    pub out: O,
    /// Whether the sums start from what `out` holds, and not from zero.
    pub accumulate: bool,
}

impl<B: Panels, O: OutRows> WithSimd for Multiply<'_, B, O> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        self.run(simd);
    }
}

impl<B: Panels, O: OutRows> Multiply<'_, B, O> {
    /// The product, inside a function that is already compiled for `S`.
    #[inline(always)]
    pub fn run<S: Simd>(&mut self, simd: S) {
        // Registers: rows × panels × vectors per panel accumulators, plus one vector per panel and one broadcast.
        match S::F32_LANES {
            16 => self.columns::<S, 1, 8, 2>(simd),
            8 => self.columns::<S, 2, 6, 1>(simd),
            4 => self.columns::<S, 4, 4, 1>(simd),
            _ => self.columns_scalar(),
        }
    }

    /// Panels outside, rows inside, so that a panel stays in the first-level cache while all rows pass over it.
    #[inline(always)]
    fn columns<S: Simd, const W: usize, const MAX_ROWS: usize, const WIDE: usize>(
        &mut self,
        simd: S,
    ) {
        let panels = self.n.div_ceil(PANEL);
        let mut panel = 0;
        while panel < panels {
            let left = panels - panel;
            // Few rows leave registers free: more panels at once hide the latency of the multiply-add.
            let at_once = match self.rows {
                1 if left >= 4 => 4,
                1..=2 if left >= 2 => 2,
                _ if left >= WIDE => WIDE,
                _ => 1,
            };
            match at_once {
                4 => self.tile::<S, W, 1, 4>(simd, panel, 0),
                2 => self.rows::<S, W, MAX_ROWS, 2>(simd, panel),
                _ => self.rows::<S, W, MAX_ROWS, 1>(simd, panel),
            }
            panel += at_once;
        }
    }

    #[inline(always)]
    fn rows<S: Simd, const W: usize, const MAX_ROWS: usize, const P: usize>(
        &mut self,
        simd: S,
        panel: usize,
    ) {
        let mut row = 0;
        while row < self.rows {
            let left = self.rows - row;
            // Even groups: 8 rows under a maximum of 6 go as 4 + 4, not as 6 + 2.
            let take = left.div_ceil(left.div_ceil(MAX_ROWS));
            match take {
                1 => self.tile::<S, W, 1, P>(simd, panel, row),
                2 => self.tile::<S, W, 2, P>(simd, panel, row),
                3 => self.tile::<S, W, 3, P>(simd, panel, row),
                4 => self.tile::<S, W, 4, P>(simd, panel, row),
                5 => self.tile::<S, W, 5, P>(simd, panel, row),
                6 => self.tile::<S, W, 6, P>(simd, panel, row),
                7 => self.tile::<S, W, 7, P>(simd, panel, row),
                _ => self.tile::<S, W, 8, P>(simd, panel, row),
            }
            row += take;
        }
    }

    /// `R` rows times `P` panels of `W` vectors each, all of `k`, in registers.
    // Index loops over constant bounds unroll; iterators over arrays of vectors do not reliably.
    #[allow(clippy::needless_range_loop)]
    #[inline(always)]
    fn tile<S: Simd, const W: usize, const R: usize, const P: usize>(
        &mut self,
        simd: S,
        panel: usize,
        row: usize,
    ) {
        let k = self.k;
        let mut acc = [[[simd.splat_f32s(0.0); W]; P]; R];
        if self.accumulate {
            for r in 0..R {
                let out = &*self.out.row(row + r);
                for p in 0..P {
                    let from = (panel + p) * PANEL;
                    let columns = &out[from..out.len().min(from + PANEL)];
                    if columns.len() == PANEL {
                        for (to, from) in acc[r][p].iter_mut().zip(S::as_simd_f32s(columns).0) {
                            *to = *from;
                        }
                    } else {
                        for w in 0..W {
                            let from = (w * S::F32_LANES).min(columns.len());
                            let to = columns.len().min(from + S::F32_LANES);
                            acc[r][p][w] = simd.partial_load_f32s(&columns[from..to]);
                        }
                    }
                }
            }
        }
        for s in 0..self.b.segments() {
            let empty: &[f32] = &[];
            let mut a = [empty; R];
            for r in 0..R {
                a[r] = &self.a[(row + r) * self.a_stride + s * k..][..k];
            }
            let no_vectors: &[[S::f32s; W]] = &[];
            let mut b = [no_vectors; P];
            for p in 0..P {
                let panel = self.b.panel(panel + p, s);
                b[p] = &pulp::as_arrays::<W, _>(S::as_simd_f32s(panel).0).0[..k];
            }
            for i in 0..k {
                let mut vectors = [[simd.splat_f32s(0.0); W]; P];
                for p in 0..P {
                    vectors[p] = b[p][i];
                }
                for r in 0..R {
                    let x = simd.splat_f32s(a[r][i]);
                    for p in 0..P {
                        for w in 0..W {
                            acc[r][p][w] = simd.mul_add_e_f32s(x, vectors[p][w], acc[r][p][w]);
                        }
                    }
                }
            }
        }
        for r in 0..R {
            let out = self.out.row(row + r);
            for p in 0..P {
                let from = (panel + p) * PANEL;
                let to = out.len().min(from + PANEL);
                let columns = &mut out[from..to];
                if columns.len() == PANEL {
                    for (to, from) in S::as_mut_simd_f32s(columns).0.iter_mut().zip(acc[r][p]) {
                        *to = from;
                    }
                } else {
                    for w in 0..W {
                        simd.partial_store_f32s(lanes_mut::<S>(columns, w), acc[r][p][w]);
                    }
                }
            }
        }
    }

    /// For processors without vectors this crate knows.
    #[inline(always)]
    fn columns_scalar(&mut self) {
        for panel in 0..self.n.div_ceil(PANEL) {
            for row in 0..self.rows {
                let mut acc = [0.0f32; PANEL];
                if self.accumulate {
                    let columns = &self.out.row(row)[panel * PANEL..];
                    let count = columns.len().min(PANEL);
                    acc[..count].copy_from_slice(&columns[..count]);
                }
                for s in 0..self.b.segments() {
                    let a = &self.a[row * self.a_stride + s * self.k..][..self.k];
                    for (x, b) in a.iter().zip(self.b.panel(panel, s).chunks_exact(PANEL)) {
                        for (acc, b) in acc.iter_mut().zip(b) {
                            *acc += x * b;
                        }
                    }
                }
                let out = self.out.row(row);
                let to = out.len().min((panel + 1) * PANEL);
                let columns = &mut out[panel * PANEL..to];
                columns.copy_from_slice(&acc[..columns.len()]);
            }
        }
    }
}

/// The part of a panel's columns that vector `w` covers; shorter, or empty, at the edge of the matrix.
#[inline(always)]
fn lanes_mut<S: Simd>(columns: &mut [f32], w: usize) -> &mut [f32] {
    let from = (w * S::F32_LANES).min(columns.len());
    let to = columns.len().min(from + S::F32_LANES);
    &mut columns[from..to]
}
