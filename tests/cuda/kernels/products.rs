//! Matrix products, in 16 bits and in FP8.

use candle_core::{DType, Device, Tensor};
use juror_engine::model::cuda::gemm::{Gemm, Weight};
use juror_engine::model::cuda::linear::{Products, check_fp8};
use juror_engine::model::cuda::operations::{Quantised, Target};

use super::super::floats;
use super::{Gpu, TYPES, array, check};

/// `x · weightᵀ`, on the CPU.
fn product(x: &Tensor, weight: &Tensor) -> Vec<f32> {
    floats(&x.matmul(&weight.t().unwrap()).unwrap())
}

#[test]
fn matrix_products() {
    for (dtype, allowed) in TYPES {
        let gpu = Gpu::new(dtype);
        let cuda = gpu.device.as_cuda_device().unwrap();
        let mut products = Products::new(cuda).unwrap();
        for (rows, inputs, outputs) in [(1, 256, 512), (17, 1024, 3072), (300, 4096, 264)] {
            let room = Gemm::padded(rows);
            let (x, _) = gpu.random(9, rows, inputs);
            // Sums of so many products are as large as one.
            let x = (x / (inputs as f64).sqrt()).unwrap();
            let x = x.to_dtype(dtype).unwrap();
            let wide = x.to_dtype(DType::F32).unwrap();
            let padding = Tensor::zeros((room - rows, inputs), dtype, &Device::Cpu).unwrap();
            let there = Tensor::cat(&[&x, &padding], 0)
                .unwrap()
                .to_device(&gpu.device)
                .unwrap();
            let (weight, weight_there) = gpu.random(10, outputs, inputs);
            let (bias, bias_there) = gpu.random(11, 1, outputs);
            for (bias, bias_there) in [(None, None), (Some(&bias), Some(&bias_there))] {
                let mut expected = product(&wide, &weight);
                if let Some(bias) = bias {
                    let bias = floats(bias);
                    for row in expected.chunks_mut(outputs) {
                        row.iter_mut().zip(&bias).for_each(|(x, bias)| *x += bias);
                    }
                }
                let weight = Weight::plain(&weight_there, bias_there).unwrap();
                let out = gpu.zeros(room, outputs, dtype);
                let input = array(&there);
                products
                    .multiply(
                        &gpu.operations,
                        Target::Plain(input.all()),
                        &weight,
                        array(&out).all(),
                        rows,
                    )
                    .unwrap();
                let name = format!(
                    "product {rows} × {inputs} × {outputs}{}, {dtype:?}",
                    if bias.is_some() { " + bias" } else { "" }
                );
                check(
                    &name,
                    &floats(&out)[..rows * outputs],
                    &expected,
                    4.0 * allowed,
                );
            }
        }
    }
}

#[test]
fn matrix_products_in_fp8() {
    for (dtype, _) in TYPES {
        let gpu = Gpu::new(dtype);
        let cuda = gpu.device.as_cuda_device().unwrap();
        if let Err(error) = check_fp8(cuda) {
            println!("measured | products in FP8 | {error} | not on this GPU");
            return;
        }
        let mut products = Products::new(cuda).unwrap();
        for (rows, inputs, outputs) in [(1, 256, 512), (17, 1024, 3072), (300, 4096, 272)] {
            let room = Gemm::padded(rows);
            let (x, x_there) = gpu.random(12, rows, inputs);
            let (weight, weight_there) = gpu.random(13, outputs, inputs);
            let (bias, bias_there) = gpu.random(14, 1, outputs);
            let bias_there = bias_there.flatten_all().unwrap();
            let mut weight_fp8 =
                Weight::fp8(cuda, &gpu.operations, &weight_there, Some(&bias_there)).unwrap();
            products
                .prepare(cuda, &mut weight_fp8, dtype, 1..=rows)
                .unwrap();
            let values = array(&gpu.zeros(room, inputs, DType::F8E4M3));
            let scales = array(&gpu.zeros(1, room, DType::F32));
            let x_fp8 = Quantised {
                values: values.all(),
                scales: scales.all(),
            };
            gpu.operations
                .quantize_rows(x_fp8, array(&x_there).all(), (rows, inputs))
                .unwrap();
            let out = gpu.zeros(room, outputs, dtype);
            products
                .multiply(
                    &gpu.operations,
                    Target::Fp8(x_fp8),
                    &weight_fp8,
                    array(&out).all(),
                    rows,
                )
                .unwrap();
            // Sums deviate by √inputs; each factor is off by up to 1/16, a quarter of that on average, and errors cancel.
            let deviation = (inputs as f32).sqrt();
            let expected = product(&x, &weight);
            let added = expected.iter().zip(floats(&bias).into_iter().cycle());
            check(
                &format!("product in FP8 {rows} × {inputs} × {outputs}, {dtype:?}"),
                &floats(&out)[..rows * outputs],
                &added.map(|(x, bias)| x + bias).collect::<Vec<_>>(),
                0.25 * deviation,
            );
        }
    }
}
