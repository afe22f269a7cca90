use candle_core::{DType, Device, Tensor};

use super::PackedMatrix;
use crate::model::precision::WeightType;

fn matrix(rows: usize, columns: usize, scale: f32) -> Tensor {
    let data: Vec<f32> = (0..rows * columns)
        .map(|i| ((i * 7919 % 10_007) as f32 / 10_007.0 - 0.5) * scale)
        .collect();
    Tensor::from_vec(data, (rows, columns), &Device::Cpu).unwrap()
}

fn numbers(tensor: &Tensor) -> Vec<f32> {
    let wide = tensor.to_dtype(DType::F32).unwrap();
    wide.flatten_all().unwrap().to_vec1().unwrap()
}

fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn halves_multiply_bit_for_bit_as_f32() {
    for (kind, dtype) in [
        (WeightType::F16, DType::F16),
        (WeightType::BF16, DType::BF16),
    ] {
        for (outputs, inputs) in [(7, 5), (40, 300), (520, 1024)] {
            let weight = matrix(outputs, inputs, 0.1).to_dtype(dtype).unwrap();
            let x = numbers(&matrix(70, inputs, 4.0));
            let half = PackedMatrix::pack(&weight, kind).unwrap();
            let full = PackedMatrix::pack(&weight, WeightType::F32).unwrap();
            for rows in [1, 2, 3, 9, 70] {
                let x = &x[..rows * inputs];
                assert_eq!(
                    bits(&half.forward(x, rows)),
                    bits(&full.forward(x, rows)),
                    "{kind}, {rows} rows, {outputs} × {inputs}"
                );
            }
            assert_eq!(2 * half.bytes(), full.bytes());
            let mut row = vec![0.0; inputs];
            half.row(outputs - 1, &mut row);
            assert_eq!(
                bits(&row),
                bits(&numbers(&weight)[(outputs - 1) * inputs..])
            );
        }
    }
}

#[test]
fn a_row_does_not_depend_on_the_others() {
    for kind in [WeightType::F32, WeightType::Q8_0, WeightType::Q4K] {
        let weight = PackedMatrix::pack(&matrix(1200, 1024, 0.1), kind).unwrap();
        let x = numbers(&matrix(100, 1024, 4.0));
        let together = weight.forward(&x, 100);
        for row in [0, 57, 99] {
            let alone = weight.forward(&x[row * 1024..][..1024], 1);
            assert_eq!(
                bits(&alone),
                bits(&together[row * 1200..][..1200]),
                "{kind}"
            );
        }
    }
}

#[test]
fn inputs_that_fill_no_super_block_are_stored_in_bytes() {
    let weight = matrix(20, 320, 0.1);
    let [q4, q8] =
        [WeightType::Q4K, WeightType::Q8_0].map(|kind| PackedMatrix::pack(&weight, kind).unwrap());
    let x = numbers(&matrix(3, 320, 4.0));
    assert_eq!(bits(&q4.forward(&x, 3)), bits(&q8.forward(&x, 3)));
    assert_eq!((q4.bytes(), q8.bytes()), (2 * 5 * 1088, 2 * 5 * 1088));
    let whole = PackedMatrix::pack(&matrix(20, 512, 0.1), WeightType::Q4K).unwrap();
    assert_eq!(whole.bytes(), 2 * 2 * 2368);
}

#[test]
fn types_without_products_are_refused() {
    let weight = matrix(4, 4, 1.0);
    assert!(PackedMatrix::pack(&weight, WeightType::F8E4M3).is_err());
    let integers = weight.to_dtype(DType::U32).unwrap();
    assert!(PackedMatrix::pack(&integers, WeightType::F32).is_err());
}
