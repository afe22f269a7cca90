//! The CPU's two inner loops alone, at the sizes of Qwen3-0.6B: products with weights, candle's beside them, and attention;
//! once with each instruction set that the processor has.
//!
//! ```sh
//! RAYON_NUM_THREADS=1 cargo bench --bench kernels              # everything
//! RAYON_NUM_THREADS=1 cargo bench --bench kernels -- attention # or `products`, or the beginning of a row; others print nothing
//! RAYON_NUM_THREADS=1 cargo bench --bench kernels -- avx2      # or `avx512`, `neon`, `plain`: with this set alone
//! ```
//!
//! Prints GFLOP/s by the least time of each cell. The cells of a row take turns: so they see the same machine, and weights
//! are not in the cache from the turn before.

#![allow(
    clippy::expect_used,
    missing_docs,
    reason = "a bench that cannot run should stop"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use candle_core::quantized::{GgmlDType, QMatMul, QTensor};
use candle_core::{DType, Device, Module, Tensor};
use juror_engine::checkpoint::gguf::StorageType;
use juror_engine::model::attention::{self, AttentionKind, AttentionShape};
use juror_engine::model::cpu::instructions::InstructionSet;
use juror_engine::model::cpu::matmul::PackedMatrix;
use juror_engine::model::precision::WeightType;
use juror_engine::model::{BatchRow, StepBatch};

/// How long a cell is repeated.
const TIME: Duration = Duration::from_millis(700);

fn main() {
    // Running all targets as tests runs benches too, but without this word.
    if !std::env::args().any(|word| word == "--bench") {
        return;
    }
    for set in InstructionSet::available() {
        let asked: Vec<InstructionSet> = words().filter_map(|word| word.parse().ok()).collect();
        if !asked.is_empty() && !asked.contains(&set) {
            continue;
        }
        set.choose().expect("a set of this processor");
        println!("{set}, {} threads; GFLOP/s\n", rayon::current_num_threads());
        products();
        println!();
        attention();
        println!();
    }
}

fn words() -> impl Iterator<Item = String> {
    std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
}

/// Whether the command line asks for a row of a table.
fn wanted(table: &str, row: &str) -> bool {
    let mut words = words().filter(|word| word.parse::<InstructionSet>().is_err());
    let mut any = false;
    words.any(|word| {
        any = true;
        word == table || row.starts_with(&word)
    }) || !any
}

/// Measures the cells of a row, repeated in turn, and prints it.
fn row(name: &str, operations: f64, cells: &mut [Box<dyn FnMut() + '_>]) {
    let mut least = vec![f64::INFINITY; cells.len()];
    let started = Instant::now();
    while started.elapsed() < TIME * cells.len() as u32 {
        for (cell, least) in cells.iter_mut().zip(&mut least) {
            let started = Instant::now();
            cell();
            *least = least.min(started.elapsed().as_secs_f64());
        }
    }
    print!("| {name} |");
    for seconds in least {
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
    let blocks = [
        (GgmlDType::Q4_0, StorageType::Q4_0),
        (GgmlDType::Q4_1, StorageType::Q4_1),
        (GgmlDType::Q5_0, StorageType::Q5_0),
        (GgmlDType::Q5_1, StorageType::Q5_1),
    ];
    println!(
        "| rows × inputs × outputs | f32 | f16 | bf16 | Q8_0 | Q4_K | Q4_0 | Q4_1 | Q5_0 | Q5_1 | candle f32 | candle Q8_0 | candle Q4_K | candle Q4_0 |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (inputs, outputs) in [(1024, 6144), (3072, 1024)] {
        let weight =
            Tensor::randn(0f32, 0.02, (outputs, inputs), &Device::Cpu).expect("random numbers");
        let mut packed: Vec<PackedMatrix> = kinds
            .map(|kind| PackedMatrix::pack(&weight, kind).expect("a type of the CPU"))
            .into();
        for (dtype, kind) in blocks {
            let weight = QTensor::quantize(&weight, dtype).expect("quantised");
            let bytes = weight.data().expect("bytes of the CPU");
            let matrix = PackedMatrix::from_blocks(kind, outputs, inputs, &bytes);
            packed.push(matrix.expect("whole blocks"));
        }
        let transposed = weight.t().expect("a matrix");
        let candle = [GgmlDType::Q8_0, GgmlDType::Q4K, GgmlDType::Q4_0].map(|kind| {
            let weight = QTensor::quantize(&weight, kind).expect("quantised");
            QMatMul::from_qtensor(weight).expect("a matrix")
        });
        for rows in [1, 2, 4, 8, 32, 128, 512] {
            let name = format!("{rows} × {inputs} × {outputs}");
            if !wanted("products", &name) {
                continue;
            }
            let x = Tensor::randn(0f32, 1.0, (rows, inputs), &Device::Cpu).expect("random numbers");
            let numbers: Vec<f32> = x
                .flatten_all()
                .and_then(|x| x.to_vec1())
                .expect("numbers of the CPU");
            let mut cells: Vec<Box<dyn FnMut() + '_>> = Vec::new();
            for matrix in &packed {
                let (numbers, mut out) = (&numbers, vec![0.0; rows * outputs]);
                cells.push(Box::new(move || {
                    matrix.forward_into(black_box(numbers), black_box(&mut out));
                }));
            }
            cells.push(Box::new(|| {
                black_box(x.matmul(&transposed).expect("a product"));
            }));
            for matrix in &candle {
                let x = &x;
                cells.push(Box::new(move || {
                    black_box(matrix.forward(x).expect("a product"));
                }));
            }
            let operations = 2.0 * (rows * inputs * outputs) as f64;
            row(&name, operations, &mut cells);
        }
    }
}

/// Tokens per block of the KV cache.
const BLOCK: usize = 16;

/// A step of rows given as (context, queries), all of which begin with `shared` tokens in the same blocks; and its number of
/// blocks.
fn step(shared: usize, rows: impl IntoIterator<Item = (usize, usize)>) -> (StepBatch, usize) {
    let mut batch = StepBatch::default();
    let shared = shared / BLOCK;
    let mut blocks = shared;
    for (context, queries) in rows {
        let own = context.div_ceil(BLOCK) - shared;
        let table: Vec<u32> = (0..shared)
            .chain(blocks..blocks + own)
            .map(|block| block as u32)
            .collect();
        blocks += own;
        batch.rows.push(BatchRow {
            query_start: batch.tokens.len(),
            query_len: queries,
            context_len: context,
            blocks: table.clone(),
            long: false,
            state: None,
        });
        for position in context - queries..context {
            batch.tokens.push(0);
            batch.positions.push(position as u32);
            batch
                .slots
                .push(table[position / BLOCK] * BLOCK as u32 + (position % BLOCK) as u32);
        }
    }
    (batch, blocks)
}

/// Pairs of a query and a key that it sees.
fn pairs(batch: &StepBatch) -> usize {
    let row =
        |row: &BatchRow| (row.context_len - row.query_len + 1..=row.context_len).sum::<usize>();
    batch.rows.iter().map(row).sum()
}

/// Random queries, keys and values of `count` tokens.
fn vectors(shape: &AttentionShape, count: usize) -> [Tensor; 3] {
    [shape.heads, shape.kv_heads, shape.kv_heads].map(|heads| {
        Tensor::randn(0f32, 1.0, (count, heads, shape.head_dim), &Device::Cpu)
            .expect("random numbers")
    })
}

/// One layer's attention in the kinds of steps that judging consists of.
fn attention() {
    let shape = AttentionShape {
        layers: 4,
        heads: 16,
        kv_heads: 8,
        head_dim: 128,
        softcap: None,
    };
    let own = |i: usize| 1600 + 60 * i / 31;
    let mixed = (0..33).map(|i| if i < 31 { (own(i), 1) } else { (1540, 240) });
    let steps = [
        ("512 prompt tokens", step(0, [(512, 512)])),
        ("512 prompt tokens after 1,300", step(0, [(1812, 512)])),
        (
            "6 × 300 prompt tokens after 1,296 shared",
            step(1296, [(1596, 300); 6]),
        ),
        (
            "31 rows decode, 2 × 240 prompt tokens, 1,296 shared",
            step(1296, mixed),
        ),
        (
            "32 rows decode, 1,296 keys shared, some 330 own",
            step(1296, (0..32).map(|i| (own(i), 1))),
        ),
        (
            "8 rows decode, 128 to 2,048 keys",
            step(0, (0..8).map(|i| (128 + 1920 * i / 7, 1))),
        ),
        ("1 row decodes, 2,048 keys", step(0, [(2048, 1)])),
    ];
    println!("| attention of a step | f32 | f16 | bf16 |\n|---|---|---|---|");
    for (name, (batch, blocks)) in &steps {
        if !wanted("attention", name) {
            continue;
        }
        let caches = [DType::F32, DType::F16, DType::BF16].map(|dtype| {
            let kind = AttentionKind::Tiled;
            let mut cache = attention::build(kind, &shape, *blocks, BLOCK, &Device::Cpu, dtype)
                .expect("a cache on the CPU");
            // Every block is written first: memory that never was is one page of zeros, and too fast.
            let (fill, _) = step(0, vec![(BLOCK, BLOCK); *blocks]);
            let [q, k, v] = vectors(&shape, fill.tokens.len());
            cache.prepare(&fill).expect("a step that fits");
            for layer in 0..shape.layers {
                cache
                    .forward(layer, None, &q, &k, &v)
                    .expect("the prepared step");
            }
            cache.prepare(batch).expect("a step that fits");
            cache
        });
        let [q, k, v] = vectors(&shape, batch.tokens.len());
        let (q, k, v) = (&q, &k, &v);
        let mut cells: Vec<Box<dyn FnMut() + '_>> = Vec::new();
        for mut cache in caches {
            let mut layer = 0;
            cells.push(Box::new(move || {
                layer = (layer + 1) % shape.layers;
                let out = cache.forward(layer, None, q, k, v);
                black_box(out.expect("the prepared step"));
            }));
        }
        let operations = 4.0 * (pairs(batch) * shape.heads * shape.head_dim) as f64;
        row(name, operations, &mut cells);
    }
}
