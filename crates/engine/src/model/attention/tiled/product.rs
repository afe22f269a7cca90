//! The matrix product of attention: rows of f32 times panels of the cache, widened in registers.
//!
//! Like [`Multiply`](crate::model::cpu::panels::Multiply) each output is one chain of multiply-adds, whatever the number of rows; but the panels may hold
//! 16-bit numbers, and one or two rows pass over many panels at once, because memory gives its data faster when several places are read side by side.

use pulp::Simd;

use crate::model::cpu::half::Format;
use crate::model::cpu::instructions::{Kernel, Vectors};
use crate::model::cpu::panels::PANEL;
use crate::model::cpu::prefetch::{LINE, prefetch};

/// Panels in a cache. Panel `p` of segment `s` begins at `starts[p / per_start + s] + p % per_start * stride`.
pub(super) struct Panels<'a, F: Format> {
    pub(super) bits: &'a [F::Bits],
    pub(super) starts: &'a [usize],
    pub(super) per_start: usize,
    pub(super) stride: usize,
}

impl<F: Format> Panels<'_, F> {
    /// The index into `starts` of a panel in the first segment, and the distance from there.
    #[inline(always)]
    fn place(&self, panel: usize) -> (usize, usize) {
        (panel / self.per_start, panel % self.per_start * self.stride)
    }
}

/// `out = a × b`, or `out += a × b`, with sums over `segments · k` numbers of each row of `a`.
pub(super) struct Product<'a, F: Format> {
    /// The left matrix, row after row.
    pub(super) a: &'a [f32],
    /// The distance between rows of `a`.
    pub(super) a_stride: usize,
    pub(super) rows: usize,
    /// The number of segments of the sums, which lie apart in `b`.
    pub(super) segments: usize,
    /// Length of the sums in each segment.
    pub(super) k: usize,
    pub(super) b: Panels<'a, F>,
    /// The memory to prefetch, which is read after this product.
    pub(super) ahead: Ahead<'a>,
    pub(super) panels: usize,
    /// The result, row after row.
    pub(super) out: &'a mut [f32],
    /// The distance between rows of the result.
    pub(super) out_stride: usize,
    /// Whether the sums start from the content of `out` instead of from zero.
    pub(super) accumulate: bool,
}

impl<F: Format> Product<'_, F> {
    /// Computes the product, inside a function that is compiled for `S`.
    #[inline(always)]
    pub(super) fn run<V: Vectors>(mut self, vectors: V) {
        match V::Simd::F32_LANES {
            16 => self.panels::<V, 1>(vectors),
            8 => self.panels::<V, 2>(vectors),
            4 => self.panels::<V, 4>(vectors),
            _ => self.scalar(vectors),
        }
    }

    /// Loops over panels outside and rows inside, so that panels stay in the first-level cache while all rows use them.
    #[inline(always)]
    fn panels<V: Vectors, const W: usize>(&mut self, vectors: V) {
        let Registers { sums, rows: most } = Registers::of::<V>();
        let most_panels = (sums / (W * self.rows.clamp(1, most))).clamp(1, 8);
        let most_panels = 1 << most_panels.ilog2();
        let mut panel = 0;
        while panel < self.panels {
            let left = self.panels - panel;
            let at_once = if left < most_panels {
                1 << left.ilog2()
            } else {
                most_panels
            };
            let mut row = 0;
            while row < self.rows {
                let left = self.rows - row;
                // Even groups: 9 rows under a maximum of 8 go as 5 + 4, not as 8 + 1.
                let take = left.div_ceil(left.div_ceil(most));
                match (at_once, take) {
                    (8, 1) => self.tile::<V, W, 1, 8>(vectors, panel, row),
                    (8, _) => self.tile::<V, W, 2, 8>(vectors, panel, row),
                    (4, 1) => self.tile::<V, W, 1, 4>(vectors, panel, row),
                    (4, 2) => self.tile::<V, W, 2, 4>(vectors, panel, row),
                    (4, 3) => self.tile::<V, W, 3, 4>(vectors, panel, row),
                    (4, _) => self.tile::<V, W, 4, 4>(vectors, panel, row),
                    (2, 1) => self.tile::<V, W, 1, 2>(vectors, panel, row),
                    (2, 2) => self.tile::<V, W, 2, 2>(vectors, panel, row),
                    (2, 3) => self.tile::<V, W, 3, 2>(vectors, panel, row),
                    (2, 4) => self.tile::<V, W, 4, 2>(vectors, panel, row),
                    (2, 5) => self.tile::<V, W, 5, 2>(vectors, panel, row),
                    (2, 6) => self.tile::<V, W, 6, 2>(vectors, panel, row),
                    (2, 7) => self.tile::<V, W, 7, 2>(vectors, panel, row),
                    (2, _) => self.tile::<V, W, 8, 2>(vectors, panel, row),
                    (_, 1) => self.tile::<V, W, 1, 1>(vectors, panel, row),
                    (_, 2) => self.tile::<V, W, 2, 1>(vectors, panel, row),
                    (_, 3) => self.tile::<V, W, 3, 1>(vectors, panel, row),
                    (_, 4) => self.tile::<V, W, 4, 1>(vectors, panel, row),
                    (_, 5) => self.tile::<V, W, 5, 1>(vectors, panel, row),
                    (_, 6) => self.tile::<V, W, 6, 1>(vectors, panel, row),
                    (_, 7) => self.tile::<V, W, 7, 1>(vectors, panel, row),
                    _ => self.tile::<V, W, 8, 1>(vectors, panel, row),
                }
                row += take;
            }
            panel += at_once;
        }
    }

    /// [`Tile`] as a function of its own: there are many uses, and each is compiled once.
    #[inline(always)]
    fn tile<V: Vectors, const W: usize, const R: usize, const P: usize>(
        &mut self,
        vectors: V,
        panel: usize,
        row: usize,
    ) {
        if const { Registers::of::<V>().hold(V::Simd::F32_LANES, W, R, P) } {
            vectors.call(Tile::<F, W, R, P> {
                product: self,
                panel,
                row,
            });
        }
    }

    /// For processors without a supported instruction set.
    #[inline(always)]
    fn scalar<V: Vectors>(&mut self, vectors: V) {
        let simd = vectors.simd();
        for panel in 0..self.panels {
            let (start, distance) = self.b.place(panel);
            for row in 0..self.rows {
                let out = &mut self.out[row * self.out_stride + panel * PANEL..][..PANEL];
                if !self.accumulate {
                    out.fill(0.0);
                }
                for s in 0..self.segments {
                    let a = &self.a[row * self.a_stride + s * self.k..][..self.k];
                    let b = &self.b.bits[self.b.starts[start + s] + distance..];
                    for (x, b) in a.iter().zip(b.as_chunks().0) {
                        let b = F::widen::<V, PANEL>(vectors, b);
                        let x = simd.splat_f32s(*x);
                        for (out, b) in V::Simd::as_mut_simd_f32s(out).0.iter_mut().zip(&b) {
                            *out = simd.mul_add_e_f32s(x, *b, *out);
                        }
                    }
                }
            }
        }
    }
}

/// `R` rows times `P` panels of `W` vectors each, with whole sums, in registers.
struct Tile<'a, 'b, F: Format, const W: usize, const R: usize, const P: usize> {
    product: &'a mut Product<'b, F>,
    panel: usize,
    row: usize,
}

impl<F: Format, const W: usize, const R: usize, const P: usize> Kernel
    for Tile<'_, '_, F, W, R, P>
{
    type Output = ();

    // Index loops over constant bounds unroll; iterators over arrays of vectors do not reliably.
    #[allow(clippy::needless_range_loop)]
    #[inline(always)]
    fn run<V: Vectors>(self, vectors: V) {
        let Self {
            product,
            panel,
            row,
        } = self;
        let (simd, k) = (vectors.simd(), product.k);
        let mut sums = [[[simd.splat_f32s(0.0); W]; P]; R];
        if product.accumulate {
            for r in 0..R {
                let from = (row + r) * product.out_stride + panel * PANEL;
                let before = V::Simd::as_simd_f32s(&product.out[from..][..P * PANEL]).0;
                for p in 0..P {
                    for w in 0..W {
                        sums[r][p][w] = before[p * W + w];
                    }
                }
            }
        }
        let mut places = [(0, 0); P];
        for p in 0..P {
            places[p] = product.b.place(panel + p);
        }
        for s in 0..product.segments {
            let empty: &[f32] = &[];
            let mut a = [empty; R];
            for r in 0..R {
                a[r] = &product.a[(row + r) * product.a_stride + s * k..][..k];
            }
            let no_rows: &[[F::Bits; PANEL]] = &[];
            let mut b = [no_rows; P];
            for p in 0..P {
                let (start, distance) = places[p];
                let bits = &product.b.bits[product.b.starts[start + s] + distance..][..k * PANEL];
                b[p] = &bits.as_chunks().0[..k];
            }
            // The first tile of rows prefetches for all.
            let ahead = if row == 0 {
                product.ahead
            } else {
                Ahead::default()
            };
            let asked = if ahead.starts.is_empty() { 0 } else { k };
            let mut next = [0; P];
            for p in 0..P {
                let (start, distance) = places[p];
                next[p] = match ahead.starts.get(start + s) {
                    Some(at) => (at + distance) / PANEL * ahead.row,
                    None => usize::MAX / 2,
                };
            }
            for i in 0..k {
                if i < asked && i * ahead.row % LINE == 0 {
                    for at in next {
                        if let Some(byte) = ahead.bytes.get(at + i * ahead.row) {
                            prefetch(byte);
                        }
                    }
                }
                let mut x = [simd.splat_f32s(0.0); R];
                for r in 0..R {
                    x[r] = simd.splat_f32s(a[r][i]);
                }
                for p in 0..P {
                    let wide = F::widen::<V, W>(vectors, &b[p][i]);
                    for r in 0..R {
                        for w in 0..W {
                            sums[r][p][w] = simd.mul_add_e_f32s(x[r], wide[w], sums[r][p][w]);
                        }
                    }
                }
            }
        }
        for r in 0..R {
            let from = (row + r) * product.out_stride + panel * PANEL;
            let after = V::Simd::as_mut_simd_f32s(&mut product.out[from..][..P * PANEL]).0;
            for p in 0..P {
                for w in 0..W {
                    after[p * W + w] = sums[r][p][w];
                }
            }
        }
    }
}

/// Memory to prefetch while a product computes, because it is read next. `starts` are those of the product's panels, in that memory.
#[derive(Clone, Copy, Default)]
pub(super) struct Ahead<'a> {
    bytes: &'a [u8],
    starts: &'a [usize],
    row: usize,
}

impl<'a> Ahead<'a> {
    pub(super) fn new<T: bytemuck::Pod>(numbers: &'a [T], starts: &'a [usize]) -> Self {
        Self {
            bytes: bytemuck::cast_slice(numbers),
            starts,
            row: PANEL * size_of::<T>(),
        }
    }
}

/// How much of a product an instruction set's registers hold.
struct Registers {
    /// Vectors of sums: as many as leave room for a panel's row and a broadcast number.
    sums: usize,
    rows: usize,
}

impl Registers {
    const fn of<V: Vectors>() -> Self {
        let (sums, rows) = match V::Simd::F32_LANES {
            16 => (16, 8),
            8 => (12, 6),
            _ => (16, 4),
        };
        Self { sums, rows }
    }

    /// Whether `rows` times `panels` of `vectors` of `lanes` are to be computed at once.
    const fn hold(&self, lanes: usize, vectors: usize, rows: usize, panels: usize) -> bool {
        let fit = panels == 1 || vectors * rows * panels <= self.sums;
        lanes * vectors == PANEL && rows <= self.rows && fit
    }
}

#[cfg(test)]
mod tests {
    use super::{Ahead, Panels, Product};
    use crate::model::cpu::half::{Bf16, F16, F32, Format};
    use crate::model::cpu::instructions::{Instructions, Kernel, Vectors};
    use crate::model::cpu::panels::PANEL;

    struct RunProduct<'a, F: Format>(Product<'a, F>);

    impl<F: Format> Kernel for RunProduct<'_, F> {
        type Output = ();

        #[inline(always)]
        fn run<V: Vectors>(self, vectors: V) {
            self.0.run(vectors);
        }
    }

    /// Products on every instruction set, for every number of rows and panels, starting from zero or not.
    fn equals_a_chain<F: Format>() {
        let number = |i: usize| ((i * 7919 % 1009) as f32 / 504.5 - 1.0) * 1.1;
        let (segments, k) = (3, 5);
        let sums = segments * k;
        for panels in 1..=19 {
            let stride = k * PANEL;
            // The segments lie in descending order, with gaps.
            let starts: Vec<usize> = (0..segments)
                .map(|s| (segments - 1 - s) * (panels * stride + 32))
                .collect();
            let size = starts[0] + panels * stride;
            let bits: Vec<F::Bits> = (0..size).map(|i| F::round(number(i))).collect();
            for rows in 1..=19 {
                let a: Vec<f32> = (0..rows * sums).map(|i| number(i * 31 + 5)).collect();
                for accumulate in [false, true] {
                    let width = panels * PANEL;
                    let before: Vec<f32> = (0..rows * width).map(number).collect();
                    let chain = |row: usize, column: usize| {
                        let start = before[row * width + column] * f32::from(accumulate);
                        (0..sums).fold(start, |sum, i| {
                            let panel = starts[i / k] + column / PANEL * stride;
                            let b = bits[panel + i % k * PANEL + column % PANEL];
                            a[row * sums + i].mul_add(F::to_f32(b), sum)
                        })
                    };
                    let expected: Vec<f32> = (0..rows * width)
                        .map(|i| chain(i / width, i % width))
                        .collect();
                    for instructions in Instructions::all() {
                        let mut out = before.clone();
                        instructions.run(RunProduct(Product {
                            a: &a,
                            a_stride: sums,
                            rows,
                            segments,
                            k,
                            b: Panels::<F> {
                                bits: &bits,
                                starts: &starts,
                                per_start: usize::MAX,
                                stride,
                            },
                            ahead: Ahead::new(&bits, &starts),
                            panels,
                            out: &mut out,
                            out_stride: width,
                            accumulate,
                        }));
                        // Without the instruction a multiply-add may round twice.
                        let plain = matches!(instructions, Instructions::Plain);
                        let tolerance = if plain { 1e-5 } else { 0.0 };
                        let far = |(a, b): (&f32, &f32)| (a - b).abs() > tolerance;
                        assert!(
                            !out.iter().zip(&expected).any(far),
                            "{instructions:?}: {rows} rows, {panels} panels, {accumulate}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn products_are_chains_of_multiply_adds() {
        equals_a_chain::<F32>();
        equals_a_chain::<Bf16>();
        equals_a_chain::<F16>();
    }
}
