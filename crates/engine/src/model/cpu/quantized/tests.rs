use candle_core::quantized::{GgmlDType, QMatMul, QTensor};
use candle_core::{Device, Module, Tensor};
use rayon::prelude::*;

use super::rows::quantize;
use super::{
    BLOCK, BlockMatrix, Blocks, Group, Instructions, Mx4Group, Q4Group, Q5Group, Q6Group, Q8Group,
    Q40Group, Q41Group, Q50Group, Q51Group, Quantiser,
};
use crate::checkpoint::gguf::StorageType;
use crate::checkpoint::gguf::blocks::dequantize;
use crate::model::cpu::matmul::PackedMatrix;

impl Quantiser for Q5Group {
    const DTYPE: GgmlDType = GgmlDType::Q5K;
}

impl Quantiser for Q6Group {
    const DTYPE: GgmlDType = GgmlDType::Q6K;
}

/// Roughly normally distributed numbers, the same for the same seed.
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

fn pack<G: Quantiser>(weight: &[f32], outputs: usize, inputs: usize) -> BlockMatrix<G> {
    let read = |first: usize, out: &mut [f32]| {
        out.copy_from_slice(&weight[first * inputs..][..out.len()]);
    };
    BlockMatrix::pack(outputs, inputs, read).unwrap()
}

fn product<G: Group>(
    matrix: &BlockMatrix<G>,
    outputs: usize,
    instructions: Instructions,
    x: &[f32],
) -> Vec<f32> {
    let x = quantize(x, matrix.inputs, matrix.blocks());
    let mut out = vec![f32::NAN; x.len() / matrix.blocks() * outputs];
    let mut rows: Vec<&mut [f32]> = out.chunks_exact_mut(outputs).collect();
    matrix.part_by(instructions, (&x, matrix.blocks()), 0, &mut rows);
    out
}

fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| x.to_bits()).collect()
}

/// Shapes at the edges: fewer outputs than a panel, an odd panel after pairs, for `Q8_0` inputs that fill neither group nor block.
fn shapes<G: Group>() -> Vec<(usize, usize)> {
    let group = G::BLOCKS * BLOCK;
    let mut shapes = vec![
        (5, group),
        (16, 2 * group),
        (70, 3 * group),
        (160, 4 * group),
    ];
    if group == 64 {
        shapes.extend([(33, 96), (20, 75)]);
    }
    shapes
}

fn a_row_is_the_same_alone_and_by_all_instructions<G: Quantiser>() {
    for (outputs, inputs) in shapes::<G>() {
        let matrix = pack::<G>(&normal(outputs * inputs, 1), outputs, inputs);
        rows_are_the_same(&matrix, outputs, inputs);
    }
}

fn rows_are_the_same<G: Group>(matrix: &BlockMatrix<G>, outputs: usize, inputs: usize) {
    {
        let x = normal(200 * inputs, 2);
        let alone: Vec<u32> = x
            .par_chunks(inputs)
            .flat_map_iter(|x| bits(&product(matrix, outputs, Instructions::Plain, x)))
            .collect();
        for instructions in Instructions::all().iter().copied() {
            for rows in [1, 2, 3, 4, 5, 6, 7, 8, 13, 33, 200] {
                let out = product(matrix, outputs, instructions, &x[..rows * inputs]);
                assert!(
                    bits(&out) == alone[..rows * outputs],
                    "{rows} rows, {outputs} × {inputs}, {instructions:?}"
                );
            }
        }
    }
}

#[test]
fn q8_rows_do_not_depend_on_others_nor_on_instructions() {
    a_row_is_the_same_alone_and_by_all_instructions::<Q8Group>();
}

#[test]
fn q4_rows_do_not_depend_on_others_nor_on_instructions() {
    a_row_is_the_same_alone_and_by_all_instructions::<Q4Group>();
}

#[test]
fn q5_rows_do_not_depend_on_others_nor_on_instructions() {
    a_row_is_the_same_alone_and_by_all_instructions::<Q5Group>();
}

#[test]
fn q6_rows_do_not_depend_on_others_nor_on_instructions() {
    a_row_is_the_same_alone_and_by_all_instructions::<Q6Group>();
}

fn values_are_candles<G: Quantiser>() {
    let (outputs, inputs) = (37, 512);
    let weight = normal(outputs * inputs, 3);
    let matrix = pack::<G>(&weight, outputs, inputs);
    let dense = Tensor::from_vec(weight, (outputs, inputs), &Device::Cpu).unwrap();
    let quantised = QTensor::quantize(&dense, G::DTYPE).unwrap();
    let expected = quantised.dequantize(&Device::Cpu).unwrap();
    for (index, expected) in expected.to_vec2::<f32>().unwrap().iter().enumerate() {
        let mut row = vec![0.0; inputs];
        matrix.row(index, &mut row);
        assert_eq!(bits(&row), bits(expected), "row {index}");
    }
}

#[test]
fn q8_weights_have_the_values_of_the_format() {
    values_are_candles::<Q8Group>();
}

#[test]
fn q4_weights_have_the_values_of_the_format() {
    values_are_candles::<Q4Group>();
}

#[test]
fn q5_weights_have_the_values_of_the_format() {
    values_are_candles::<Q5Group>();
}

#[test]
fn q6_weights_have_the_values_of_the_format() {
    values_are_candles::<Q6Group>();
}

/// Blocks as a file has them give the same values as candle, and rows and products of the packed matrix.
#[test]
fn stored_blocks_have_the_values_of_their_formats() {
    let (outputs, inputs) = (21, 512);
    let weight = normal(outputs * inputs, 8);
    let dense = Tensor::from_vec(weight, (outputs, inputs), &Device::Cpu).unwrap();
    for (dtype, kind) in [
        (GgmlDType::Q4_0, StorageType::Q4_0),
        (GgmlDType::Q4_1, StorageType::Q4_1),
        (GgmlDType::Q5_0, StorageType::Q5_0),
        (GgmlDType::Q5_1, StorageType::Q5_1),
        (GgmlDType::Q8_0, StorageType::Q8_0),
        (GgmlDType::Q4K, StorageType::Q4_K),
        (GgmlDType::Q5K, StorageType::Q5_K),
        (GgmlDType::Q6K, StorageType::Q6_K),
    ] {
        let quantised = QTensor::quantize(&dense, dtype).unwrap();
        let expected = quantised.dequantize(&Device::Cpu).unwrap();
        let expected: Vec<f32> = expected.flatten_all().unwrap().to_vec1().unwrap();
        let bytes = quantised.data().unwrap();
        let mut numbers = vec![0.0; outputs * inputs];
        dequantize(kind, &bytes, &mut numbers);
        // Candle fuses multiplication and addition in some formats, and not in others.
        let near = |a: &[f32], b: &[f32], tolerance: f32| {
            a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance)
        };
        assert!(near(&numbers, &expected, 1e-6), "{kind:?}");
        let matrix = PackedMatrix::from_blocks(kind, outputs, inputs, &bytes).unwrap();
        let mut row = vec![0.0; inputs];
        for (index, expected) in numbers.chunks_exact(inputs).enumerate() {
            matrix.row(index, &mut row);
            assert_eq!(bits(&row), bits(expected), "{kind:?}, row {index}");
        }
        assert!(PackedMatrix::from_blocks(kind, outputs, inputs, &bytes[1..]).is_err());
    }
}

/// Rows of a type of small blocks as a file has them.
fn as_stored(dtype: GgmlDType, outputs: usize, inputs: usize) -> Vec<u8> {
    let weight = Tensor::from_vec(normal(outputs * inputs, 3), (outputs, inputs), &Device::Cpu);
    let quantised = QTensor::quantize(&weight.unwrap(), dtype).unwrap();
    quantised.data().unwrap().into_owned()
}

#[test]
fn rows_of_small_blocks_do_not_depend_on_others_nor_on_instructions() {
    fn check<G: Group>(dtype: GgmlDType, outputs: usize, inputs: usize) {
        let bytes = as_stored(dtype, outputs, inputs);
        let row = inputs / BLOCK * G::STORED / G::BLOCKS;
        let matrix = BlockMatrix::<G>::pack_blocks(inputs, row, &bytes).unwrap();
        rows_are_the_same(&matrix, outputs, inputs);
    }
    for (outputs, inputs) in [(5, 32), (16, 96), (70, 288), (160, 576)] {
        check::<Q40Group>(GgmlDType::Q4_0, outputs, inputs);
        check::<Q41Group>(GgmlDType::Q4_1, outputs, inputs);
        check::<Q50Group>(GgmlDType::Q5_0, outputs, inputs);
        check::<Q51Group>(GgmlDType::Q5_1, outputs, inputs);
    }
}

/// Compared with the product of the quantised weights and activations, only f32 rounding is left.
#[test]
fn products_of_small_blocks_are_those_of_their_weights() {
    let (rows, outputs, inputs) = (9, 70, 1024);
    let x = normal(rows * inputs, 5);
    for (dtype, kind) in [
        (GgmlDType::Q4_0, StorageType::Q4_0),
        (GgmlDType::Q4_1, StorageType::Q4_1),
        (GgmlDType::Q5_0, StorageType::Q5_0),
        (GgmlDType::Q5_1, StorageType::Q5_1),
    ] {
        let bytes = as_stored(dtype, outputs, inputs);
        let mut weights = vec![0.0; outputs * inputs];
        dequantize(kind, &bytes, &mut weights);
        let weights: Vec<f64> = weights.into_iter().map(f64::from).collect();
        let out = PackedMatrix::from_blocks(kind, outputs, inputs, &bytes)
            .unwrap()
            .forward(&x, rows);
        let (highest, _) = difference(&out, &multiply(&quantised(&x, inputs), &weights, inputs));
        assert!(highest < 1e-5, "{kind:?}: {highest:e}");
    }
}

fn of<G: Group>(
    inputs: usize,
    row: usize,
    bytes: &[u8],
    instructions: Instructions,
    x: &[f32],
) -> Vec<f32> {
    let matrix = BlockMatrix::<G>::pack_blocks(inputs, row, bytes).unwrap();
    product(&matrix, bytes.len() / row, instructions, x)
}

/// Weights and activations with the largest possible sums: none may be cut off at 16 bits.
#[test]
fn the_largest_sums_are_exact_by_all_instructions() {
    // As many rows as one tile has, more, and so many that weights are unpacked once.
    for rows in [4, 7, 60] {
        largest_sums_are_exact(rows);
    }
}

fn largest_sums_are_exact(rows: usize) {
    let (outputs, inputs) = (16, 256);
    let x: Vec<f32> = (0..rows * inputs)
        .map(|i| [1.0, -1.0][i / inputs % 2])
        .collect();
    let all = |kind: StorageType, block: &[u8]| {
        let bytes = block.repeat(outputs * inputs / kind.block().0);
        let mut weights = vec![0.0; outputs * inputs];
        dequantize(kind, &bytes, &mut weights);
        let weights: Vec<f64> = weights.into_iter().map(f64::from).collect();
        let expected = multiply(&quantised(&x, inputs), &weights, inputs);
        let row = bytes.len() / outputs;
        for instructions in Instructions::all().iter().copied() {
            let out = match kind {
                StorageType::Q8_0 => of::<Q8Group>(inputs, row, &bytes, instructions, &x),
                StorageType::Q4_0 => of::<Q40Group>(inputs, row, &bytes, instructions, &x),
                StorageType::Q4_1 => of::<Q41Group>(inputs, row, &bytes, instructions, &x),
                StorageType::Q5_0 => of::<Q50Group>(inputs, row, &bytes, instructions, &x),
                StorageType::Q5_1 => of::<Q51Group>(inputs, row, &bytes, instructions, &x),
                StorageType::Q6_K => of::<Q6Group>(inputs, row, &bytes, instructions, &x),
                _ => of::<Mx4Group>(inputs, row, &bytes, instructions, &x),
            };
            let (highest, _) = difference(&out, &expected);
            assert!(highest < 1e-5, "{kind:?}, {instructions:?}: {highest:e}");
        }
    };
    let one = 0x3c00u16.to_le_bytes();
    for byte in [127u8, 128, 0xff] {
        all(StorageType::Q8_0, &[&one[..], &[byte; 32]].concat());
    }
    for byte in [0, 0xff] {
        all(StorageType::Q4_0, &[&one[..], &[byte; 16]].concat());
        all(StorageType::Q5_0, &[&one[..], &[byte; 20]].concat());
    }
    all(StorageType::Q4_1, &[&one[..], &one, &[0xff; 16]].concat());
    all(StorageType::Q5_1, &[&one[..], &one, &[0xff; 20]].concat());
    for byte in [0, 0xff] {
        all(
            StorageType::Q6_K,
            &[&[byte; 192][..], &[1; 16], &one].concat(),
        );
    }
    for byte in [0x77, 0xff] {
        all(StorageType::MXFP4, &[&[127u8][..], &[byte; 16]].concat());
    }
}

/// All codes of MXFP4, with the powers of two of trained models and beyond.
#[test]
fn blocks_of_mxfp4_as_ggml_has_them() {
    let numbers = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
    for exponent in [0u8, 104, 120, 127, 143, 255] {
        let mut block = vec![exponent];
        block.extend((0..16u8).map(|i| i | (15 - i) << 4));
        let mut out = [0.0; BLOCK];
        dequantize(StorageType::MXFP4, &block, &mut out);
        let power = 2f64.powi(i32::from(exponent) - 127);
        for (i, out) in out.iter().enumerate() {
            let code = if i < 16 { i } else { 31 - i };
            let sign = if code < 8 { 1.0 } else { -1.0 };
            let expected = (sign * numbers[code % 8] * power) as f32;
            assert!(
                (*out - expected).abs() <= 0.0 || exponent == 255 && out.is_nan(),
                "{exponent}, {i}"
            );
        }
        if (1..=254).contains(&exponent) {
            let matrix = PackedMatrix::from_blocks(StorageType::MXFP4, 1, BLOCK, &block).unwrap();
            let mut row = [0.0; BLOCK];
            matrix.row(0, &mut row);
            assert_eq!(bits(&row), bits(&out));
        }
    }
}

/// Different types side by side give what each gives alone, whatever the number of rows.
#[test]
fn joined_weights_are_their_parts_side_by_side() {
    let inputs = 256;
    let part = |outputs: usize, dtype, kind, seed| {
        let weight = normal(outputs * inputs, seed);
        let dense = Tensor::from_vec(weight, (outputs, inputs), &Device::Cpu).unwrap();
        let bytes = QTensor::quantize(&dense, dtype)
            .unwrap()
            .data()
            .unwrap()
            .into_owned();
        PackedMatrix::from_blocks(kind, outputs, inputs, &bytes).unwrap()
    };
    let parts = || {
        vec![
            part(19, GgmlDType::Q4K, StorageType::Q4_K, 1),
            part(40, GgmlDType::Q6K, StorageType::Q6_K, 2),
            part(5, GgmlDType::Q8_0, StorageType::Q8_0, 3),
        ]
    };
    let joined = PackedMatrix::join(parts()).unwrap();
    assert_eq!((joined.outputs(), joined.inputs()), (64, inputs));
    let x = normal(7 * inputs, 9);
    let alone = parts()
        .iter()
        .map(|part| part.forward(&x, 7))
        .collect::<Vec<_>>();
    let together = joined.forward(&x, 7);
    let (mut ours, mut theirs) = (vec![0.0; inputs], vec![0.0; inputs]);
    for row in 0..7 {
        let expected: Vec<f32> = alone
            .iter()
            .flat_map(|out| out[row * out.len() / 7..][..out.len() / 7].to_vec())
            .collect();
        assert_eq!(bits(&together[row * 64..][..64]), bits(&expected));
        assert_eq!(
            bits(&joined.forward(&x[row * inputs..][..inputs], 1)),
            bits(&expected)
        );
    }
    for (index, (part, own)) in [(0, (0, 0)), (18, (0, 18)), (19, (1, 0)), (63, (2, 4))] {
        joined.row(index, &mut ours);
        parts()[part].row(own, &mut theirs);
        assert_eq!(bits(&ours), bits(&theirs), "row {index}");
    }
}

/// The largest and the root mean square difference, relative to the root mean square of `expected`.
fn difference(out: &[f32], expected: &[f64]) -> (f64, f64) {
    let n = expected.len() as f64;
    let size = (expected.iter().map(|x| x * x).sum::<f64>() / n).sqrt();
    let errors = out.iter().zip(expected).map(|(x, y)| f64::from(*x) - y);
    let (highest, squares) = errors.fold((0.0f64, 0.0), |(highest, squares), error| {
        (highest.max(error.abs()), squares + error * error)
    });
    (highest / size, (squares / n).sqrt() / size)
}

fn multiply(x: &[f64], weight: &[f64], inputs: usize) -> Vec<f64> {
    x.chunks_exact(inputs)
        .flat_map(|x| {
            weight
                .chunks_exact(inputs)
                .map(move |w| w.iter().zip(x).map(|(w, x)| w * x).sum())
        })
        .collect()
}

/// The values that activations are quantised to.
fn quantised(x: &[f32], inputs: usize) -> Vec<f64> {
    quantize(x, inputs, inputs / BLOCK)
        .iter()
        .flat_map(|block| {
            let scale = f64::from(block.scale);
            let values = block.values.as_flattened().iter();
            values.map(move |v| f64::from(*v) * scale)
        })
        .collect()
}

/// Compared with the product of the quantised weights and activations only f32 rounding is left: 1e-6. Compared with the
/// product of the originals there is the error of quantising, `expected` by the number of bits.
fn close<G: Quantiser>(expected: f64) {
    let (rows, outputs, inputs) = (9, 70, 1024);
    let (weight, x) = (normal(outputs * inputs, 4), normal(rows * inputs, 5));
    let matrix = pack::<G>(&weight, outputs, inputs);
    let wide = |x: &[f32]| x.iter().copied().map(f64::from).collect::<Vec<_>>();
    let out = product(&matrix, outputs, Instructions::chosen(), &x);

    let mut quantised_weight = vec![0.0; outputs * inputs];
    for (index, row) in quantised_weight.chunks_exact_mut(inputs).enumerate() {
        matrix.row(index, row);
    }
    let reference = multiply(&quantised(&x, inputs), &wide(&quantised_weight), inputs);
    let (highest, _) = difference(&out, &reference);
    assert!(highest < 1e-5, "{highest:e} from the dequantised product");

    let exact = multiply(&wide(&x), &wide(&weight), inputs);
    let (_, error) = difference(&out, &exact);
    assert!(error < expected, "{error:.4} from the exact product");

    // Candle's own product quantises activations in other blocks, so it differs as much from the exact one.
    let dense = Tensor::from_vec(weight, (outputs, inputs), &Device::Cpu).unwrap();
    let other = QMatMul::from_qtensor(QTensor::quantize(&dense, G::DTYPE).unwrap()).unwrap();
    let x = Tensor::from_vec(x, (rows, inputs), &Device::Cpu).unwrap();
    let other = other.forward(&x).unwrap().flatten_all().unwrap();
    let (_, others) = difference(&other.to_vec1().unwrap(), &exact);
    assert!(
        error < others * 1.1,
        "{error:.4}, but candle's is {others:.4}"
    );
}

/// A block's largest of 32 normal numbers is about 2.1 standard deviations, a step 2.1 / 127 of them, and the error of
/// rounding a step over √12: 0.5 % for weights and as much for activations, together 0.7 %.
#[test]
fn q8_products_are_within_a_hundredth() {
    close::<Q8Group>(0.01);
}

/// A block spans about 4.1 standard deviations in 15 steps: an error of 8 % of the weights.
#[test]
fn q4_products_are_within_a_tenth() {
    close::<Q4Group>(0.1);
}

/// Five bits have half the error of four.
#[test]
fn q5_products_are_within_a_twentieth() {
    close::<Q5Group>(0.05);
}

/// Six bits have half the error of five.
#[test]
fn q6_products_are_within_a_fortieth() {
    close::<Q6Group>(0.025);
}

#[test]
fn what_is_no_number_stays_none() {
    let matrix = pack::<Q8Group>(&normal(16 * 64, 6), 16, 64);
    let mut x = normal(64, 7);
    x[40] = f32::NAN;
    for instructions in Instructions::all().iter().copied() {
        let out = product(&matrix, 16, instructions, &x);
        assert!(out.iter().all(|x| x.is_nan()));
    }
}

/// Rows of MXFP4: exponents near that of one, any nibbles.
fn mxfp4(outputs: usize, inputs: usize) -> Vec<u8> {
    let mut state = 7u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 20) as u8
    };
    let block = |_| {
        let exponent = 120 + next() % 12;
        std::iter::once(exponent).chain((0..16).map(|_| next()).collect::<Vec<_>>())
    };
    (0..outputs * inputs / BLOCK).flat_map(block).collect()
}

#[test]
fn mxfp4_rows_do_not_depend_on_others_nor_on_instructions() {
    // Also inputs that do not fill a group.
    for (outputs, inputs) in [(5, 128), (16, 256), (87, 96), (33, 288)] {
        let row = inputs / BLOCK * 17;
        let matrix =
            BlockMatrix::<Mx4Group>::pack_blocks(inputs, row, &mxfp4(outputs, inputs)).unwrap();
        rows_are_the_same(&matrix, outputs, inputs);
    }
}

#[test]
fn mxfp4_weights_have_the_values_of_the_format_and_products_theirs() {
    let numbers = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0f32];
    let (outputs, inputs) = (37, 160);
    let bytes = mxfp4(outputs, inputs);
    let matrix = BlockMatrix::<Mx4Group>::pack_blocks(inputs, inputs / BLOCK * 17, &bytes).unwrap();
    let x = normal(3 * inputs, 9);
    let out = product(&matrix, outputs, Instructions::chosen(), &x);
    for (index, stored) in bytes.chunks(inputs / BLOCK * 17).enumerate() {
        let expected: Vec<f32> = stored
            .chunks(17)
            .flat_map(|block| {
                let scale = 2f32.powi(i32::from(block[0]) - 127);
                let nibbles = block[1..].iter().flat_map(|byte| [byte & 15, byte >> 4]);
                nibbles.map(move |nibble| {
                    let number = numbers[usize::from(nibble & 7)] * scale;
                    if nibble > 7 { -number } else { number }
                })
            })
            .collect();
        let mut row = vec![f32::NAN; inputs];
        matrix.row(index, &mut row);
        // Zeros have no sign here.
        let same = |(a, b): (&f32, &f32)| a.to_bits() == (b + 0.0).to_bits();
        assert!(row.iter().zip(&expected).all(same), "row {index}");
        for (token, x) in x.chunks(inputs).enumerate() {
            let dot: f32 = x.iter().zip(&expected).map(|(x, w)| x * w).sum();
            let size: f32 = x.iter().zip(&expected).map(|(x, w)| (x * w).abs()).sum();
            let found = out[token * outputs + index];
            assert!((found - dot).abs() < 0.01 * size, "{found}, not {dot}");
        }
    }
}
