//! Every kernel of the fast path against the plainest computation of the same on the CPU, from the same rounded numbers.
//! Those of attention and of experts are in the tests around this one.

mod products;
mod sampling;

use candle_core::{DType, Device, Tensor};
use juror_engine::checkpoint::config::Activation;
use juror_engine::model::cuda::array::Array;
use juror_engine::model::cuda::operations::{
    Added, HeadsForm, HeadsLayer, Operations, Quantised, Target, Tokens,
};
use juror_engine::model::ops::{self, Heads};

use super::{Difference, floats, gpu, random};

/// The types that kernels compute in, and by how much a result around 1 may differ.
const TYPES: [(DType, f32); 2] = [(DType::BF16, 0.02), (DType::F16, 0.003)];

/// A result may differ by this in e4m3: half a step of its largest numbers, relative to a row's largest.
const FP8: f32 = 0.04;

struct Gpu {
    device: Device,
    operations: Operations,
    dtype: DType,
}

impl Gpu {
    fn new(dtype: DType) -> Self {
        let device = gpu();
        let operations = Operations::on(device.as_cuda_device().unwrap(), dtype).unwrap();
        Self {
            device,
            operations,
            dtype,
        }
    }

    /// Random numbers around 0 with deviation 1, here in f32 as they are rounded there.
    fn random(&self, seed: u64, rows: usize, width: usize) -> (Tensor, Tensor) {
        let rounded = random(seed, (1, rows, width), self.dtype)
            .reshape((rows, width))
            .unwrap();
        let there = rounded.to_device(&self.device).unwrap();
        (rounded.to_dtype(DType::F32).unwrap(), there)
    }

    fn zeros(&self, rows: usize, width: usize, dtype: DType) -> Tensor {
        Tensor::zeros((rows, width), dtype, &self.device).unwrap()
    }

    fn words(&self, words: &[u32]) -> Tensor {
        Tensor::new(words, &self.device).unwrap()
    }
}

fn array(tensor: &Tensor) -> Array {
    Array::from_tensor(tensor).unwrap()
}

fn check(name: &str, ours: &[f32], expected: &[f32], allowed: f32) {
    let mut difference = Difference::default();
    difference.add(ours, expected);
    println!(
        "measured | {name} | worst {:.1e}, mean {:.1e} | {allowed:.0e}",
        difference.worst,
        difference.mean()
    );
    assert!(
        difference.worst <= allowed,
        "{name}: worst {:e}",
        difference.worst
    );
}

/// Rows in e4m3 and their scales, multiplied out; and the largest number of each row, by which errors are measured.
fn dequantised(values: &Tensor, scales: &Tensor) -> Vec<f32> {
    let (_, width) = values.dims2().unwrap();
    let scales = floats(scales);
    floats(values)
        .chunks(width)
        .zip(scales)
        .flat_map(|(row, scale)| row.iter().map(move |x| x * scale).collect::<Vec<_>>())
        .collect()
}

#[test]
fn norms() {
    for (dtype, allowed) in TYPES {
        let gpu = Gpu::new(dtype);
        for (rows, width) in [(1, 64), (9, 256), (300, 1024), (33, 4096), (3, 16_384)] {
            let (x, x_there) = gpu.random(1, rows, width);
            let (y, y_there) = gpu.random(2, rows, width);
            let weight = gpu.random(3, 1, width).0.flatten_all().unwrap();
            let weight_there = weight.to_device(&gpu.device).unwrap();
            let shape = (rows, width);
            let out = gpu.zeros(rows, width, dtype);
            let expected = ops::rms_norm(&x, &weight, 1e-6).unwrap();
            gpu.operations
                .rms_norm(
                    Target::Plain(array(&out).all()),
                    array(&x_there).all(),
                    Some(array(&weight_there).all()),
                    shape,
                    1e-6,
                )
                .unwrap();
            // Values are products of two numbers up to 3.5.
            let name = format!("rms_norm {rows} × {width}, {dtype:?}");
            check(&name, &floats(&out), &floats(&expected), 4.0 * allowed);
            // What is added goes through a norm of its own first.
            let (y_array, weight_array) = (array(&y_there), array(&weight_there));
            let residual = x_there.copy().unwrap();
            let normed = Added {
                values: y_array.all(),
                norm: Some(weight_array.all()),
                scale: 1.0,
                sum_scale: 1.0,
            };
            gpu.operations
                .add_rms_norm(
                    Target::Plain(array(&out).all()),
                    array(&residual).all(),
                    normed,
                    Some(weight_array.all()),
                    shape,
                    1e-6,
                )
                .unwrap();
            let y_normed = ops::rms_norm(&y, &weight, 1e-6).unwrap();
            let (sum, expected) = ops::add_rms_norm(&x, &y_normed, &weight, 1e-6).unwrap();
            let name = format!("norm_add_rms_norm {rows} × {width}, {dtype:?}");
            check(&name, &floats(&residual), &floats(&sum), 6.0 * allowed);
            check(&name, &floats(&out), &floats(&expected), 6.0 * allowed);
            let added = Added {
                norm: None,
                ..normed
            };
            // In place: the sum is left behind.
            let (sum, expected) = ops::add_rms_norm(&x, &y, &weight, 1e-6).unwrap();
            let residual = x_there.copy().unwrap();
            gpu.operations
                .add_rms_norm(
                    Target::Plain(array(&out).all()),
                    array(&residual).all(),
                    added,
                    Some(array(&weight_there).all()),
                    shape,
                    1e-6,
                )
                .unwrap();
            let name = format!("add_rms_norm {rows} × {width}, {dtype:?}");
            check(&name, &floats(&residual), &floats(&sum), 2.0 * allowed);
            check(&name, &floats(&out), &floats(&expected), 4.0 * allowed);
            let (values, scales) = (
                gpu.zeros(rows, width, DType::F8E4M3),
                gpu.zeros(1, rows, DType::F32),
            );
            let residual = x_there.copy().unwrap();
            let (values_there, scales_there) = (array(&values), array(&scales));
            gpu.operations
                .add_rms_norm(
                    Target::Fp8(Quantised {
                        values: values_there.all(),
                        scales: scales_there.all(),
                    }),
                    array(&residual).all(),
                    added,
                    Some(array(&weight_there).all()),
                    shape,
                    1e-6,
                )
                .unwrap();
            let name = format!("add_rms_norm to e4m3 {rows} × {width}, {dtype:?}");
            let expected = floats(&expected);
            let largest = expected.iter().fold(0f32, |most, x| most.max(x.abs()));
            check(
                &name,
                &dequantised(&values, &scales),
                &expected,
                FP8 * largest,
            );
        }
    }
}

#[test]
fn heads_are_split_normed_rotated_and_stored() {
    for (dtype, allowed) in TYPES {
        let gpu = Gpu::new(dtype);
        for (n, heads, kv_heads, head_dim) in [
            (1, 4, 2, 64),
            (37, 32, 8, 128),
            (130, 6, 6, 64),
            (5, 8, 1, 256),
        ] {
            for normed in [true, false] {
                let width = (heads + 2 * kv_heads) * head_dim;
                let (qkv, qkv_there) = gpu.random(4, n, width);
                let norm = |seed| gpu.random(seed, 1, head_dim).0.flatten_all().unwrap();
                let (q_norm, k_norm) = (norm(5), norm(6));
                let positions: Vec<u32> = (0..n as u32).map(|i| i * 7 % 90).collect();
                let slots: Vec<u32> = (0..n as u32).map(|i| (i * 11 + 3) % 160).collect();
                let angles: Vec<f32> = (0..90 * head_dim / 2).map(|i| i as f32 * 0.37).collect();
                let table = |f: fn(f32) -> f32| {
                    let values: Vec<f32> = angles.iter().copied().map(f).collect();
                    Tensor::from_vec(values, (90, head_dim / 2), &Device::Cpu).unwrap()
                };
                let (cos, sin) = (table(f32::cos), table(f32::sin));
                let index = Tensor::new(positions.as_slice(), &Device::Cpu).unwrap();
                let (q, k, v) = ops::split_heads(
                    &qkv,
                    &Heads {
                        heads,
                        kv_heads,
                        head_dim,
                        norms: normed.then_some((&q_norm, &k_norm)),
                        eps: 1e-6,
                        cos: &cos.index_select(&index, 0).unwrap(),
                        sin: &sin.index_select(&index, 0).unwrap(),
                    },
                )
                .unwrap();
                let there = |x: &Tensor| x.to_device(&gpu.device).unwrap();
                let (cos, sin) = (array(&there(&cos)), array(&there(&sin)));
                let (positions, places) = (gpu.words(&positions), gpu.words(&slots));
                let (positions, places) = (array(&positions), array(&places));
                let norms = (array(&there(&q_norm)), array(&there(&k_norm)));
                let halves = Tensor::full(0.5f32, kv_heads, &gpu.device).unwrap();
                let halves = array(&halves);
                for kv in [dtype, DType::F8E4M3] {
                    let out = gpu.zeros(n, heads * head_dim, dtype);
                    let keys = gpu.zeros(160, kv_heads * head_dim, kv);
                    let values = gpu.zeros(160, kv_heads * head_dim, kv);
                    gpu.operations
                        .split_heads(
                            array(&out).all(),
                            array(&qkv_there).all(),
                            &Tokens {
                                count: n,
                                ids: positions.all(),
                                angles: positions.all(),
                                slots: places.all(),
                            },
                            &HeadsLayer {
                                heads,
                                kv_heads,
                                head_dim,
                                norms: normed.then_some((norms.0.all(), norms.1.all())),
                                form: HeadsForm::default(),
                                query_scales: None,
                                eps: 1e-6,
                                cos: cos.all(),
                                sin: sin.all(),
                                keys: array(&keys).all(),
                                values: array(&values).all(),
                                kv_scales: (kv == DType::F8E4M3)
                                    .then_some((halves.all(), halves.all())),
                            },
                        )
                        .unwrap();
                    let name = format!(
                        "split_heads {n} × {heads} on {kv_heads} of {head_dim}, {dtype:?} to {kv:?}"
                    );
                    check(&name, &floats(&out), &floats(&q), 8.0 * allowed);
                    let width = kv_heads * head_dim;
                    for (cache, new) in [(&keys, &k), (&values, &v)] {
                        let (cache, new) = (floats(cache), floats(new));
                        let scale = if kv == dtype { 1.0 } else { 0.5 };
                        let stored: Vec<f32> = slots
                            .iter()
                            .flat_map(|&slot| &cache[slot as usize * width..][..width])
                            .map(|x| x * scale)
                            .collect();
                        let largest = new.iter().fold(0f32, |most, x| most.max(x.abs()));
                        let allowed = if kv == dtype {
                            8.0 * allowed
                        } else {
                            2.0 * FP8 * largest
                        };
                        check(&name, &stored, &new, allowed);
                    }
                }
            }
        }
    }
}

#[test]
fn activations() {
    for (dtype, allowed) in TYPES {
        let gpu = Gpu::new(dtype);
        for (rows, width) in [(1, 64), (70, 768), (33, 3072), (3, 12_288)] {
            let (x, x_there) = gpu.random(7, rows, 2 * width);
            let out = gpu.zeros(rows, width, dtype);
            let shape = (rows, width);
            let target = array(&out);
            let (alpha, limit) = (1.702, 1.5);
            gpu.operations
                .activate(
                    Target::Plain(target.all()),
                    array(&x_there).all(),
                    shape,
                    Activation::Clamped { alpha, limit },
                )
                .unwrap();
            let expected = floats(&ops::clamped_swiglu(&x, alpha, limit).unwrap());
            let name = format!("clamped_swiglu {rows} × {width}, {dtype:?}");
            check(&name, &floats(&out), &expected, 4.0 * allowed);
            let expected = floats(&ops::silu_mul(&x).unwrap());
            gpu.operations
                .activate(
                    Target::Plain(target.all()),
                    array(&x_there).all(),
                    shape,
                    Activation::Silu,
                )
                .unwrap();
            let name = format!("silu_mul {rows} × {width}, {dtype:?}");
            check(&name, &floats(&out), &expected, 4.0 * allowed);
            let (values, scales) = (
                gpu.zeros(rows, width, DType::F8E4M3),
                gpu.zeros(1, rows, DType::F32),
            );
            let (values_there, scales_there) = (array(&values), array(&scales));
            let quantised = Quantised {
                values: values_there.all(),
                scales: scales_there.all(),
            };
            gpu.operations
                .activate(
                    Target::Fp8(quantised),
                    array(&x_there).all(),
                    shape,
                    Activation::Silu,
                )
                .unwrap();
            let largest = expected.iter().fold(0f32, |most, x| most.max(x.abs()));
            let name = format!("silu_mul to e4m3 {rows} × {width}, {dtype:?}");
            check(
                &name,
                &dequantised(&values, &scales),
                &expected,
                FP8 * largest,
            );
            gpu.operations
                .quantize_rows(quantised, array(&out).all(), shape)
                .unwrap();
            let name = format!("quantize_rows {rows} × {width}, {dtype:?}");
            check(
                &name,
                &dequantised(&values, &scales),
                &expected,
                FP8 * largest,
            );
        }
    }
}

#[test]
fn rows_are_gathered_and_tokens_put_in() {
    for (dtype, _) in TYPES {
        let gpu = Gpu::new(dtype);
        let (table, table_there) = gpu.random(8, 50, 264);
        let ids = [3u32, 49, 0, 3, 17];
        let out = gpu.zeros(5, 264, dtype);
        let (places, rows) = (array(&gpu.words(&ids)), array(&out));
        gpu.operations
            .gather_rows(
                rows.all(),
                array(&table_there).all(),
                places.all(),
                (5, 264),
                1.0,
            )
            .unwrap();
        let index = Tensor::new(&ids, &Device::Cpu).unwrap();
        let expected = table.index_select(&index, 0).unwrap();
        check("gather_rows", &floats(&out), &floats(&expected), 0.0);
        gpu.operations
            .gather_rows(
                rows.all(),
                array(&table_there).all(),
                places.all(),
                (5, 264),
                2.0,
            )
            .unwrap();
        let twice = (expected * 2.0).unwrap();
        check("gather_rows times 2", &floats(&out), &floats(&twice), 0.0);
        // A row beyond the table is no number.
        let beyond = array(&gpu.words(&[50]));
        gpu.operations
            .gather_rows(
                rows.all(),
                array(&table_there).all(),
                beyond.all(),
                (1, 264),
                1.0,
            )
            .unwrap();
        assert!(floats(&out)[0].is_nan());
        let tokens = gpu.words(&[9, 8, 7, 6]);
        let sources = array(&gpu.words(&[u32::MAX, 2, u32::MAX, 0]));
        let previous = array(&gpu.words(&[100, 101, 102]));
        gpu.operations
            .token_from_previous(array(&tokens).all(), sources.all(), previous.all(), 4)
            .unwrap();
        assert_eq!(tokens.to_vec1::<u32>().unwrap(), [9, 102, 7, 100]);
    }
}
