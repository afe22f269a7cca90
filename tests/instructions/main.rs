//! Every instruction set that this processor has, on every kind of product and attention: the results that the best one
//! gives, and no more time than plain loops take.
//!
//! Loops of which one part is not inlined into the function that has the instructions are right, and up to a hundred times too
//! slow. So times are compared, of the same work in the same run, the least of many rounds that take turns, with a bound that
//! no busy machine reaches.

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../paged/mod.rs"]
mod paged;

use std::time::Instant;

use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{DType, Device, Tensor};
use juror_engine::checkpoint::gguf::StorageType;
use juror_engine::model::attention::{self, AttentionKind, AttentionShape};
use juror_engine::model::cpu::instructions::InstructionSet;
use juror_engine::model::cpu::matmul::PackedMatrix;
use juror_engine::model::ops;
use juror_engine::model::precision::WeightType;
use paged::{Blocks, step};

/// Rounds of which the least time counts.
const ROUNDS: usize = 20;

/// Work that is done by each set in turn.
struct Work {
    name: String,
    /// Whether its time is compared with that of the work in 32 bits before it.
    sixteen_bits: bool,
    /// Whether all sets give the same bits.
    quantised: bool,
    run: Box<dyn FnMut() -> Vec<f32>>,
}

/// Numbers near a normal distribution, the same every time.
fn normal(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32 - 0.5
    };
    (0..count)
        .map(|_| (0..12).map(|_| next()).sum::<f32>())
        .collect()
}

/// A row, which decoding has, and several.
fn products(works: &mut Vec<Work>) {
    let (outputs, inputs) = (512, 512);
    let weight = normal(outputs * inputs, 1);
    let weight = Tensor::from_vec(weight, (outputs, inputs), &Device::Cpu).unwrap();
    let floats = [WeightType::F32, WeightType::F16, WeightType::BF16];
    let blocks = [
        (GgmlDType::Q8_0, StorageType::Q8_0),
        (GgmlDType::Q4_1, StorageType::Q4_1),
        (GgmlDType::Q5_1, StorageType::Q5_1),
        (GgmlDType::Q4K, StorageType::Q4_K),
        (GgmlDType::Q5K, StorageType::Q5_K),
        (GgmlDType::Q6K, StorageType::Q6_K),
    ];
    for rows in [1, 16] {
        let mut add = |name: &str, sixteen_bits, quantised, matrix: PackedMatrix| {
            let x = normal(rows * inputs, 2);
            works.push(Work {
                name: format!("{name}, {rows} rows"),
                sixteen_bits,
                quantised,
                run: Box::new(move || matrix.forward(&x, rows)),
            });
        };
        for kind in floats {
            let matrix = PackedMatrix::pack(&weight, kind).unwrap();
            add(&kind.to_string(), kind != WeightType::F32, false, matrix);
        }
        for (dtype, kind) in blocks {
            let quantised = QTensor::quantize(&weight, dtype).unwrap();
            let bytes = quantised.data().unwrap();
            let matrix = PackedMatrix::from_blocks(kind, outputs, inputs, &bytes).unwrap();
            add(&format!("{kind:?}"), false, true, matrix);
        }
        // Any bytes are numbers in MXFP4; exponents are near that of one.
        let blocks = outputs * inputs / 32;
        let bytes: Vec<u8> = (0..blocks)
            .flat_map(|block| {
                let exponent = 120 + (block % 12) as u8;
                let numbers = (0..16).map(move |i| (block * 31 + i * 77) as u8);
                std::iter::once(exponent).chain(numbers)
            })
            .collect();
        let matrix = PackedMatrix::from_blocks(StorageType::MXFP4, outputs, inputs, &bytes);
        add("MXFP4", false, true, matrix.unwrap());
    }
}

/// What is between products.
fn elementwise(works: &mut Vec<Work>) {
    let tensor = |rows: usize, width: usize, seed| {
        Tensor::from_vec(normal(rows * width, seed), (rows, width), &Device::Cpu).unwrap()
    };
    let (x, y, wide) = (
        tensor(64, 1024, 7),
        tensor(64, 1024, 8),
        tensor(64, 2048, 9),
    );
    let weight = tensor(1, 1024, 10).flatten_all().unwrap();
    let mut add = |name: &str, run: Box<dyn Fn() -> Tensor>| {
        works.push(Work {
            name: name.to_owned(),
            sixteen_bits: false,
            quantised: false,
            run: Box::new(move || run().flatten_all().unwrap().to_vec1().unwrap()),
        });
    };
    let (of, by) = (x.clone(), weight.clone());
    add(
        "norm",
        Box::new(move || ops::rms_norm(&of, &by, 1e-6).unwrap()),
    );
    let sum = move || ops::add_rms_norm(&x, &y, &weight, 1e-6).unwrap().1;
    add("sum and norm", Box::new(sum));
    add("gate", Box::new(move || ops::silu_mul(&wide).unwrap()));
}

/// A prompt, whose tiles are widened to memory, and a row that decodes, which widens in registers.
fn attention(works: &mut Vec<Work>) {
    let shape = AttentionShape {
        layers: 1,
        heads: 4,
        kv_heads: 2,
        head_dim: 64,
        softcap: None,
    };
    let context = 256;
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        for queries in [1, 128] {
            let kind = AttentionKind::Tiled;
            let cache = attention::build(kind, &shape, 16, 16, &Device::Cpu, dtype);
            let mut cache = cache.unwrap();
            let mut sequence = Blocks::new(16, 16).sequence(&vec![0; context]);
            let before = step(&mut [(&mut sequence, context - queries)], 16);
            cache.prepare(&before).unwrap();
            let [q, k, v] = vectors(&shape, context - queries);
            cache.forward(0, None, &q, &k, &v).unwrap();
            let last = step(&mut [(&mut sequence, queries)], 16);
            cache.prepare(&last).unwrap();
            let [q, k, v] = vectors(&shape, queries);
            works.push(Work {
                name: format!("attention of {queries} over {}", dtype.as_str()),
                sixteen_bits: dtype != DType::F32,
                quantised: false,
                run: Box::new(move || {
                    let out = cache.forward(0, None, &q, &k, &v).unwrap().output;
                    out.flatten_all().unwrap().to_vec1().unwrap()
                }),
            });
        }
    }
    // The numbers in 16 bits behind those in 32 of the same queries.
    let from = works.len() - 6;
    works[from..].sort_by_key(|work| !work.name.contains(" 1 "));
}

/// Random queries, keys and values of some tokens.
fn vectors(shape: &AttentionShape, tokens: usize) -> [Tensor; 3] {
    [shape.heads, shape.kv_heads, shape.kv_heads].map(|heads| {
        let numbers = normal(tokens * heads * shape.head_dim, 3 + tokens as u32);
        Tensor::from_vec(numbers, (tokens, heads, shape.head_dim), &Device::Cpu).unwrap()
    })
}

#[test]
fn every_instruction_set_gives_the_same_and_is_worth_it() {
    let sets = InstructionSet::available();
    let best = sets[0];
    let mut works = Vec::new();
    products(&mut works);
    attention(&mut works);
    elementwise(&mut works);
    // What the last work in 32 bits took.
    let mut in_32_bits = vec![f64::INFINITY; sets.len()];
    // All of it is measured before anything is complained of.
    let mut wrong: Vec<String> = Vec::new();
    for work in &mut works {
        let mut expected = Vec::new();
        let mut least = vec![f64::INFINITY; sets.len()];
        for round in 0..ROUNDS {
            for (set, least) in sets.iter().zip(&mut least) {
                set.choose().unwrap();
                let started = Instant::now();
                let out = (work.run)();
                *least = least.min(started.elapsed().as_secs_f64());
                if round > 0 {
                    continue;
                }
                if *set == best {
                    expected = out;
                    continue;
                }
                // Plain loops round twice in a multiply-add of numbers.
                let exact = work.quantised || *set != InstructionSet::Plain;
                let far = |(a, b): (&f32, &f32)| {
                    if exact {
                        a.to_bits() != b.to_bits()
                    } else {
                        (a - b).abs() > 1e-3
                    }
                };
                if out.len() != expected.len() || out.iter().zip(&expected).any(far) {
                    wrong.push(format!("{}: {set} is not what {best} is", work.name));
                }
            }
        }
        if !work.sixteen_bits {
            in_32_bits.clone_from(&least);
        }
        let plain = *least.last().unwrap();
        print!("{}:", work.name);
        for ((set, least), in_32_bits) in sets.iter().zip(&least).zip(&in_32_bits) {
            print!(" {set} {:.0} µs", least * 1e6);
            let times = least / plain;
            if times > 1.5 {
                wrong.push(format!(
                    "{}: {set} takes {times:.1} times as long as plain loops",
                    work.name
                ));
            }
            let times = least / in_32_bits;
            if work.sixteen_bits && *set != InstructionSet::Plain && times > 5.0 {
                wrong.push(format!(
                    "{}: {set} takes {times:.1} times as long as with 32 bits",
                    work.name
                ));
            }
        }
        println!();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
