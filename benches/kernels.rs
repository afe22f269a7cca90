//! The CPU's two inner loops alone, at the sizes of Qwen3-0.6B: products with weights, and attention.
//!
//! ```sh
//! RAYON_NUM_THREADS=1 cargo bench --bench kernels              # everything
//! RAYON_NUM_THREADS=1 cargo bench --bench kernels -- attention # or `products`, or the beginning of a row of the table
//! ```
//!
//! Prints GFLOP/s, the best of some second of repetitions; types take turns, so that a row of the table sees the same
//! machine.

#![allow(
    clippy::expect_used,
    missing_docs,
    reason = "a bench that cannot run should stop"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use candle_core::{DType, Device, Tensor};
use juror::model::attention::{self, Attention, AttentionKind, AttentionShape};
use juror::model::cpu::matmul::PackedMatrix;
use juror::model::precision::WeightType;
use juror::model::{BatchRow, StepBatch};

/// How long the cells of a row are repeated, each.
const TIME: Duration = Duration::from_millis(700);
const BLOCK: usize = 16;

fn main() {
    println!("{} threads; GFLOP/s\n", rayon::current_num_threads());
    products();
    attention();
}

/// Whether the command line asks for a row of a table.
fn wanted(table: &str, row: &str) -> bool {
    let mut words = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'));
    let mut any = false;
    words.any(|word| {
        any = true;
        word == table || row.starts_with(&word)
    }) || !any
}

/// Numbers from -0.5 to 0.5 that repeat late.
fn numbers(count: usize) -> Vec<f32> {
    (0..count)
        .map(|i| (i * 7919 % 10_007) as f32 / 10_007.0 - 0.5)
        .collect()
}

/// The least seconds of each cell, all repeated in turn.
fn least(cells: &mut [Box<dyn FnMut() + '_>]) -> Vec<f64> {
    let mut least = vec![f64::INFINITY; cells.len()];
    let started = Instant::now();
    while started.elapsed() < TIME * cells.len() as u32 {
        for (cell, least) in cells.iter_mut().zip(&mut least) {
            let started = Instant::now();
            cell();
            *least = least.min(started.elapsed().as_secs_f64());
        }
    }
    least
}

fn print_row(name: &str, operations: f64, seconds: &[f64]) {
    print!("| {name} |");
    for seconds in seconds {
        print!(" {:.0} |", operations / seconds / 1e9);
    }
    println!();
}

fn products() {
    let kinds = [
        WeightType::F32,
        WeightType::F16,
        WeightType::BF16,
        WeightType::Q8_0,
        WeightType::Q4K,
    ];
    println!(
        "| rows × inputs × outputs | f32 | f16 | bf16 | Q8_0 | Q4_K |\n|---|---|---|---|---|---|"
    );
    for (inputs, outputs) in [(1024, 6144), (3072, 1024)] {
        let weight = numbers(outputs * inputs);
        let weight = Tensor::from_vec(weight, (outputs, inputs), &Device::Cpu).expect("a matrix");
        let packed =
            kinds.map(|kind| PackedMatrix::pack(&weight, kind).expect("a type of the CPU"));
        for rows in [1, 2, 4, 8, 32, 128, 512] {
            let name = format!("{rows} × {inputs} × {outputs}");
            if !wanted("products", &name) {
                continue;
            }
            let x = numbers(rows * inputs);
            let mut cells: Vec<Box<dyn FnMut() + '_>> = packed
                .iter()
                .map(|packed| {
                    let (x, mut out) = (&x, vec![0.0; rows * outputs]);
                    Box::new(move || packed.forward_into(black_box(x), black_box(&mut out))) as _
                })
                .collect();
            let operations = 2.0 * (rows * inputs * outputs) as f64;
            print_row(&name, operations, &least(&mut cells));
        }
    }
    println!();
}

/// Rows that share their first keys: of each row how many tokens are computed, and how many keys it sees.
struct Step {
    name: &'static str,
    shared: usize,
    rows: Vec<(usize, usize)>,
}

impl Step {
    /// The step with every row's own blocks after the shared ones; and how many blocks there are.
    fn batch(&self) -> (StepBatch, usize) {
        let mut batch = StepBatch::default();
        let shared = self.shared / BLOCK;
        let mut blocks = shared as u32;
        for &(query_len, context_len) in &self.rows {
            let mut table: Vec<u32> = (0..shared as u32).collect();
            while table.len() * BLOCK < context_len {
                table.push(blocks);
                blocks += 1;
            }
            let query_start = batch.tokens.len();
            for position in context_len - query_len..context_len {
                batch.tokens.push(0);
                batch.positions.push(position as u32);
                let block = table[position / BLOCK] as usize;
                batch.slots.push((block * BLOCK + position % BLOCK) as u32);
            }
            batch.rows.push(BatchRow {
                query_start,
                query_len,
                context_len,
                blocks: table,
                long: false,
            });
        }
        (batch, blocks as usize)
    }

    /// Pairs of a query and a key that it sees.
    fn pairs(&self) -> usize {
        let row = |&(query_len, context_len): &(usize, usize)| {
            (context_len - query_len + 1..=context_len).sum::<usize>()
        };
        self.rows.iter().map(row).sum()
    }
}

fn attention() {
    let shape = AttentionShape {
        layers: 1,
        heads: 16,
        kv_heads: 8,
        head_dim: 128,
    };
    let prompts = [(240, 1540), (240, 1540)];
    let decode = |count: usize| (0..count).map(|row| (1, 1597 + row));
    let steps = [
        Step {
            name: "512 prompt tokens after 1,300",
            shared: 0,
            rows: vec![(512, 1812)],
        },
        Step {
            name: "6 × 300 prompt tokens after 1,296 shared",
            shared: 1296,
            rows: vec![(300, 1596); 6],
        },
        Step {
            name: "31 rows decode, 2 × 240 prompt tokens, 1,296 shared",
            shared: 1296,
            rows: decode(31).chain(prompts).collect(),
        },
        Step {
            name: "32 rows decode, 1,296 keys shared, some 330 own",
            shared: 1296,
            rows: decode(32).collect(),
        },
        Step {
            name: "8 rows decode, 128 to 2,048 keys",
            shared: 0,
            rows: (1..=8).map(|row| (1, row * 256)).collect(),
        },
        Step {
            name: "1 row decodes, 2,048 keys",
            shared: 0,
            rows: vec![(1, 2048)],
        },
    ];
    println!("| attention of a step | f32 | f16 | bf16 |\n|---|---|---|---|");
    for step in steps {
        if !wanted("attention", step.name) {
            continue;
        }
        let (batch, blocks) = step.batch();
        let n = batch.tokens.len();
        let tensor = |heads: usize| {
            let numbers = numbers(n * heads * shape.head_dim);
            Tensor::from_vec(numbers, (n, heads, shape.head_dim), &Device::Cpu).expect("a tensor")
        };
        let (q, k, v) = (
            tensor(shape.heads),
            tensor(shape.kv_heads),
            tensor(shape.kv_heads),
        );
        let mut caches: Vec<Box<dyn Attention>> = [DType::F32, DType::F16, DType::BF16]
            .map(|dtype| {
                let kind = AttentionKind::Tiled;
                let mut cache = attention::build(kind, &shape, blocks, BLOCK, &Device::Cpu, dtype)
                    .expect("a cache on the CPU");
                cache.prepare(&batch).expect("a step that fits");
                cache
            })
            .into();
        let mut cells: Vec<Box<dyn FnMut() + '_>> = caches
            .iter_mut()
            .map(|cache| {
                let (q, k, v) = (&q, &k, &v);
                Box::new(move || {
                    let out = cache.forward(0, None, q, k, v).expect("attention");
                    black_box(out);
                }) as _
            })
            .collect();
        let operations = 4.0 * (step.pairs() * shape.heads * shape.head_dim) as f64;
        print_row(step.name, operations, &least(&mut cells));
    }
}
