//! Linear layers on the CPU: weights packed once, products that do not depend on the batch.

use rayon::prelude::*;

use super::panels::{Multiply, PANEL, Split, Uniform};

/// Products below this many multiply-adds run on the calling thread: waking another costs about as much.
const SERIAL: usize = 1 << 20;
/// Rows per task: their inputs stay in the second-level cache while the weights stream past.
const ROWS: usize = 96;

/// A weight `[outputs, inputs]` in panels of 16 outputs.
pub struct PackedMatrix {
    /// `[ceil(outputs / 16), inputs, 16]`, zero beyond the last output.
    panels: Vec<f32>,
    outputs: usize,
    inputs: usize,
}

impl PackedMatrix {
    /// Packs a row-major weight `[outputs, inputs]`. The slice must hold `outputs * inputs` numbers.
    pub fn pack(weight: &[f32], outputs: usize, inputs: usize) -> Self {
        let stride = inputs * PANEL;
        let mut panels = vec![0.0; outputs.div_ceil(PANEL) * stride];
        if stride > 0 {
            panels
                .par_chunks_exact_mut(stride)
                .enumerate()
                .for_each(|(p, panel)| {
                    for lane in 0..PANEL.min(outputs - p * PANEL) {
                        let row = &weight[(p * PANEL + lane) * inputs..][..inputs];
                        for (to, from) in panel.iter_mut().skip(lane).step_by(PANEL).zip(row) {
                            *to = *from;
                        }
                    }
                });
        }
        Self {
            panels,
            outputs,
            inputs,
        }
    }

    /// Outputs of the layer.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Inputs of the layer.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Row `index` of the weight, `[inputs]`: an embedding, when the matrix is also the output head.
    pub fn row(&self, index: usize, out: &mut [f32]) {
        let panel = &self.panels[index / PANEL * self.inputs * PANEL..][..self.inputs * PANEL];
        for (to, from) in out
            .iter_mut()
            .zip(panel.iter().skip(index % PANEL).step_by(PANEL))
        {
            *to = *from;
        }
    }

    /// `x × weightᵀ`: from `[rows, inputs]` to `[rows, outputs]`.
    pub fn forward(&self, x: &[f32], rows: usize) -> Vec<f32> {
        let mut out = vec![0.0; rows * self.outputs];
        self.forward_into(x, &mut out);
        out
    }

    /// `x × weightᵀ`, into `[rows, outputs]` numbers whatever they hold.
    pub fn forward_into(&self, x: &[f32], out: &mut [f32]) {
        let (n, k) = (self.outputs, self.inputs);
        if out.is_empty() {
            return;
        }
        let rows = out.len() / n;
        let threads = rayon::current_num_threads();
        if threads == 1 || rows * n * k < SERIAL {
            let mut split: Vec<&mut [f32]> = out.chunks_exact_mut(n).collect();
            self.part(x, 0, &mut split);
            return;
        }
        // Several tasks a thread, so that a thread that starts late or is interrupted does not hold up the rest;
        // columns are shared out in whole groups of panels.
        let row_blocks = rows.div_ceil(ROWS);
        let column_blocks = (4 * threads)
            .div_ceil(row_blocks)
            .min(rows * n * k / (SERIAL / 2))
            .max(1);
        let panels = n
            .div_ceil(PANEL)
            .div_ceil(column_blocks)
            .next_multiple_of(4);
        let columns = panels * PANEL;
        let mut tasks = Vec::with_capacity(row_blocks * column_blocks);
        for (out, x) in out.chunks_mut(ROWS * n).zip(x.chunks(ROWS * k)) {
            let first = tasks.len();
            for from in (0..n).step_by(columns) {
                tasks.push((x, from, Vec::with_capacity(ROWS)));
            }
            for row in out.chunks_exact_mut(n) {
                for (task, part) in tasks[first..].iter_mut().zip(row.chunks_mut(columns)) {
                    task.2.push(part);
                }
            }
        }
        tasks
            .into_par_iter()
            .with_max_len(1)
            .for_each(|(x, from, mut out)| self.part(x, from, &mut out));
    }

    /// The columns from `from` on, as many as the rows of `out` are wide.
    fn part(&self, x: &[f32], from: usize, out: &mut [&mut [f32]]) {
        let (rows, n) = (out.len(), out.first().map_or(0, |row| row.len()));
        let stride = self.inputs * PANEL;
        pulp::Arch::new().dispatch(Multiply {
            a: x,
            a_stride: self.inputs,
            rows,
            k: self.inputs,
            b: Uniform {
                data: &self.panels[from / PANEL * stride..],
                stride,
            },
            n,
            out: Split(out),
            accumulate: false,
        });
    }
}
