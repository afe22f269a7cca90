//! What a verdict costs beside the model: prompt, parser, rules, block pool.

#![allow(
    clippy::expect_used,
    missing_docs,
    reason = "a bench that cannot run should stop"
)]

use std::hint::black_box;

use candle_core::quantized::{GgmlDType, QMatMul, QTensor};
use candle_core::{DType, Device, Module, Tensor};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use juror::dataset::{LoadOptions, Sample, load};
use juror::engine::{BlockHash, BlockPool};
use juror::judge::JudgeText;
use juror::model::attention::{self, AttentionKind, AttentionShape};
use juror::model::cpu::{matmul::PackedMatrix, with_f32};
use juror::model::precision::WeightType;
use juror::model::{BatchRow, ModelSource, StepBatch};
use juror::protocol::{self, PromptTemplate};
use juror::rules::extract::{self, Extraction, Role};
use juror::rules::{Config, compare, expr};
use juror::verify::Row;

fn samples() -> Vec<Sample> {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/tiny/domain.jsonl");
    load(&[data.into()], &LoadOptions::default())
        .expect("the bench's data are in the repository")
        .samples
}

fn prompt(criterion: &mut Criterion) {
    let source = ModelSource::resolve("tiny").expect("the embedded model");
    let protocol = protocol::known()[0];
    let template = PromptTemplate::parse(protocol.template_text()).expect("the built-in prompt");
    let text =
        JudgeText::load(&source, protocol, &template).expect("the embedded model's text side");
    let samples = samples();
    let mut group = criterion.benchmark_group("prompt");
    group.throughput(Throughput::Elements(samples.len() as u64));
    group.bench_function("tokens of 300 samples", |bencher| {
        bencher.iter(|| {
            for sample in &samples {
                black_box(text.prompts.tokens(sample).expect("a tokenisable sample"));
            }
        });
    });
    group.finish();
}

fn parse(criterion: &mut Criterion) {
    let protocol = protocol::known()[0];
    let thinking = "12+5=17 17 yes ; 17-4=13 14 no\n".repeat(4);
    let short = format!(
        "<think>{thinking}</think>\n<process> False </process>\n<outcome> True </outcome>\n<perfect> False </perfect>"
    );
    let long = format!(
        "<think>{}</think>{short}",
        "Let me look at the next step again. ".repeat(400)
    );
    let mut group = criterion.benchmark_group("parse");
    for (name, completion) in [("short thinking", &short), ("14 kB of thinking", &long)] {
        group.throughput(Throughput::Bytes(completion.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| protocol.parse(black_box(completion), false));
        });
    }
    group.finish();
}

fn rules(criterion: &mut Criterion) {
    let samples = samples();
    let mut group = criterion.benchmark_group("rules");
    group.throughput(Throughput::Elements(samples.len() as u64));
    group.bench_function("numeric comparison of 300 samples", |bencher| {
        bencher.iter(|| {
            for sample in &samples {
                black_box(juror::rules::numeric::verify(
                    &sample.reference_answer,
                    &sample.student_answer,
                ));
            }
        });
    });
    group.finish();
    let pairs: Vec<Row> = include_str!("../tests/data/verify/pairs.jsonl")
        .lines()
        .map(|line| Row::parse(line.as_bytes()).expect("a pair"))
        .collect();
    let config = Config::default();
    let options = compare::Options::from(&config);
    let found = |text, role| match extract::extract(text, role, &config) {
        Extraction::Found(found) => Some(found.text.into_owned()),
        Extraction::NoAnswer { .. } => None,
    };
    let texts: Vec<(String, String)> = pairs
        .iter()
        .filter_map(|pair| {
            let gold = found(&pair.gold, Role::Gold)?;
            Some((gold, found(&pair.pred, Role::Prediction)?))
        })
        .collect();
    let answers: Vec<_> = texts
        .iter()
        .filter_map(|(gold, pred)| Some((expr::parse(gold).ok()?, expr::parse(pred).ok()?)))
        .collect();
    let mut group = criterion.benchmark_group("verifier");
    group.throughput(Throughput::Elements(pairs.len() as u64));
    group.bench_function("extraction from 960 responses", |bencher| {
        bencher.iter(|| {
            for pair in &pairs {
                black_box(found(&pair.pred, Role::Prediction));
            }
        });
    });
    group.bench_function("parsing of their 960 answers", |bencher| {
        bencher.iter(|| {
            for (_, pred) in &texts {
                let _ = black_box(expr::parse(pred));
            }
        });
    });
    group.bench_function("comparison of 960 pairs", |bencher| {
        bencher.iter(|| {
            for (gold, pred) in &answers {
                black_box(compare::compare(gold, pred, &options));
            }
        });
    });
    group.finish();
}

fn block_pool(criterion: &mut Criterion) {
    let tokens: Vec<u32> = (0..1600).collect();
    let hashes = BlockHash::chain_all(None, &tokens, 16);
    let mut group = criterion.benchmark_group("block pool");
    group.throughput(Throughput::Elements(hashes.len() as u64));
    group.bench_function("name 100 blocks", |bencher| {
        bencher.iter(|| BlockHash::chain_all(None, black_box(&tokens), 16));
    });
    group.bench_function("allocate, publish, find, release 100 blocks", |bencher| {
        bencher.iter_batched_ref(
            || BlockPool::new(200, 16, true),
            |pool| {
                let blocks: Vec<_> = hashes.iter().filter_map(|_| pool.allocate()).collect();
                for (&block, &hash) in blocks.iter().zip(&hashes) {
                    pool.publish(block, hash);
                }
                for &hash in &hashes {
                    black_box(pool.find(hash));
                }
                for block in blocks {
                    pool.release(block);
                }
            },
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

/// Elements are floating-point operations: a multiplication and an addition for each weight and row.
fn matmul(criterion: &mut Criterion) {
    let device = Device::Cpu;
    for (inputs, outputs) in [(1024, 3072), (3072, 1024)] {
        let weight = Tensor::randn(0f32, 0.02, (outputs, inputs), &device).expect("a weight");
        let packed = [
            WeightType::F32,
            WeightType::F16,
            WeightType::BF16,
            WeightType::Q8_0,
            WeightType::Q4K,
        ]
        .map(|kind| (kind, PackedMatrix::pack(&weight, kind).expect("packed")));
        let candle = [GgmlDType::Q8_0, GgmlDType::Q4K].map(|kind| {
            let weight = QTensor::quantize(&weight, kind).expect("quantised");
            (kind, QMatMul::from_qtensor(weight).expect("a matrix"))
        });
        let transposed = weight.t().expect("a matrix");
        for rows in [1, 8, 32, 512] {
            let x = Tensor::randn(0f32, 1.0, (rows, inputs), &device).expect("activations");
            let name = format!("[{rows}, {inputs}] x [{inputs}, {outputs}]");
            let mut group = criterion.benchmark_group(name);
            group.throughput(Throughput::Elements((2 * rows * inputs * outputs) as u64));
            for (kind, matrix) in &packed {
                group.bench_function(kind.as_str(), |bencher| {
                    bencher.iter(|| with_f32(&x, |x| Ok(matrix.forward(x, rows))));
                });
            }
            group.bench_function("candle f32", |bencher| {
                bencher.iter(|| x.matmul(&transposed));
            });
            for (kind, matrix) in &candle {
                group.bench_function(format!("candle {kind:?}"), |bencher| {
                    bencher.iter(|| matrix.forward(&x));
                });
            }
            group.finish();
        }
    }
}

/// Tokens per block of the KV cache.
const BLOCK: usize = 16;

/// A step of rows given as (context, queries), all of which begin with `shared` tokens in the same blocks; and the number
/// of its blocks.
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

/// Random queries, keys and values of `count` tokens.
fn vectors(shape: &AttentionShape, count: usize) -> [Tensor; 3] {
    [shape.heads, shape.kv_heads, shape.kv_heads].map(|heads| {
        Tensor::randn(0f32, 1.0, (count, heads, shape.head_dim), &Device::Cpu)
            .expect("random numbers")
    })
}

/// One layer of Qwen3-0.6B's attention on the CPU in the steps that judging is made of.
fn attention(criterion: &mut Criterion) {
    let shape = AttentionShape {
        layers: 4,
        heads: 16,
        kv_heads: 8,
        head_dim: 128,
    };
    let own = |i: usize| 1600 + 60 * i / 31;
    let steps = [
        (
            "decode 32 rows, 1300 shared + 330",
            step(1300, (0..32).map(|i| (own(i), 1))),
        ),
        (
            "decode 8 rows of 128 to 2048",
            step(0, (0..8).map(|i| (128 + 1920 * i / 7, 1))),
        ),
        ("decode 1 row of 128", step(0, [(128, 1)])),
        ("decode 1 row of 2048", step(0, [(2048, 1)])),
        ("prefill 512", step(0, [(512, 512)])),
        ("prefill 512 after 1300", step(0, [(1812, 512)])),
        (
            "decode 31 rows and prefill 300 after 1300 shared",
            step(
                1300,
                (0..32).map(|i| if i < 31 { (own(i), 1) } else { (1600, 300) }),
            ),
        ),
    ];
    let mut group = criterion.benchmark_group("attention");
    for (name, (batch, blocks)) in &steps {
        for dtype in [DType::F32, DType::F16, DType::BF16] {
            let mut cache = attention::build(
                AttentionKind::Tiled,
                &shape,
                *blocks,
                BLOCK,
                &Device::Cpu,
                dtype,
            )
            .expect("a cache on the CPU");
            // Every block is written: memory that never was is one page of zeros, and too fast.
            let fill = step(0, vec![(BLOCK, BLOCK); *blocks]).0;
            let [q, k, v] = vectors(&shape, fill.tokens.len());
            cache.prepare(&fill).expect("a step that fits");
            for layer in 0..shape.layers {
                cache
                    .forward(layer, None, &q, &k, &v)
                    .expect("the prepared step");
            }
            let [q, k, v] = vectors(&shape, batch.tokens.len());
            cache.prepare(batch).expect("a step that fits");
            let mut layer = 0;
            group.bench_function(format!("{name}, {}", dtype.as_str()), |bencher| {
                bencher.iter(|| {
                    layer = (layer + 1) % shape.layers;
                    cache
                        .forward(layer, None, &q, &k, &v)
                        .expect("the prepared step")
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, prompt, parse, rules, block_pool, matmul, attention);
criterion_main!(benches);
