//! The CUDA kernels, run thread by thread on the CPU and compared with plain references.
//!
//! No GPU and no CUDA are needed: the kernels' source is compiled by the system's C++ compiler against an emulation that
//! also finds races, missing barriers, and accesses outside a buffer (`tests/cuda_emulation/cuda_emulation.h`).

use candle_core::DType;
use half::{bf16, f16};
use juror_engine::checkpoint::weights::{CodeKind, Codes};
use juror_engine::model::cuda::fragments::{self, Fragments};
use juror_engine::model::cuda::mxfp4::{self, Stored};

#[test]
fn the_emulation_computes_and_sees_faults() {
    crate::cuda_emulation::run("machine");
}

#[test]
fn norms_activation_quantisation_and_gathers_equal_their_references() {
    crate::cuda_emulation::run("elementwise");
}

#[test]
fn heads_go_to_their_places() {
    crate::cuda_emulation::run("heads");
}

#[test]
fn the_sampler_chooses_as_the_host_does() {
    crate::cuda_emulation::run("sampler");
}

#[test]
fn mixture_of_experts_equals_its_references() {
    crate::cuda_emulation::run("moe");
}

#[test]
fn recurrent_layers_equal_their_references() {
    crate::cuda_emulation::run("delta");
}

/// Packed by the loader, multiplied by the kernels: to the bit what the same weights give as plain numbers.
#[test]
fn weights_of_few_bits_equal_plain_numbers() {
    let folder = tempfile::tempdir().unwrap();
    // Tiles and steps that are full, cut off, and with an odd number of blocks.
    let shapes = [(3, 136, 96), (2, 8, 32), (1, 256, 128), (2, 48, 320)];
    let kinds = [None, Some(CodeKind::E4m3), Some(CodeKind::Int4)];
    let cases = shapes.into_iter().flat_map(|shape| {
        kinds.into_iter().flat_map(move |kind| {
            [DType::BF16, DType::F16].map(|dtype| match kind {
                None => mxfp4_case(dtype, shape),
                Some(kind) => codes_case(kind, dtype, shape),
            })
        })
    });
    let files: Vec<_> = cases
        .enumerate()
        .map(|(index, case)| {
            let file = folder.path().join(index.to_string());
            std::fs::write(&file, case).unwrap();
            file
        })
        .collect();
    crate::cuda_emulation::run_with("packed", &files);
}

/// Random bytes by Knuth's constants for 64 bits.
fn random_bytes(seed: usize) -> impl FnMut() -> u8 {
    let mut state = seed as u64;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as u8
    }
}

/// The head of a file for `packed.cpp`.
fn head(dtype: DType, format: usize, (experts, outputs, inputs): (usize, usize, usize)) -> Vec<u8> {
    let is_f16 = usize::from(dtype == DType::F16);
    [is_f16, format, experts, outputs, inputs]
        .into_iter()
        .flat_map(|number| (number as u32).to_le_bytes())
        .collect()
}

/// A number's bits as `dtype`, rounded once.
fn bits(dtype: DType, number: f32) -> [u8; 2] {
    match dtype {
        DType::F16 => f16::from_f32(number).to_bits().to_le_bytes(),
        _ => bf16::from_f32(number).to_bits().to_le_bytes(),
    }
}

/// A file for `packed.cpp`: all codes but e4m3's two that are no numbers, factors as checkpoints have them.
fn codes_case(kind: CodeKind, dtype: DType, shape: (usize, usize, usize)) -> Vec<u8> {
    let (experts, outputs, inputs) = shape;
    let mut random = random_bytes(outputs * inputs + 7);
    let across = inputs.div_ceil(kind.inputs_of_factor());
    let (mut packed, mut factors, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..experts {
        let codes = Codes {
            kind,
            shape: [outputs, inputs],
            codes: (0..outputs * inputs)
                .map(|_| match (kind, random()) {
                    (CodeKind::E4m3, 0x7f | 0xff) => 0x80,
                    (CodeKind::E4m3, code) => code,
                    (CodeKind::Int4, code) => code & 15,
                })
                .collect(),
            factors: (0..outputs * across)
                .map(|_| {
                    // From 2^-9 to 2^-6, with 15 further bits: as many as there may be. Some negative, zero, subnormal.
                    let (some, low, high) = (random(), random(), random());
                    let fraction = u32::from(low) << 15 | u32::from(high & 127) << 8;
                    let (exponent, fraction) = match some % 16 {
                        0 => (0, 0),
                        1 => (0, fraction),
                        2 => (256 + 120, fraction),
                        _ => (118 + u32::from(some % 4), fraction),
                    };
                    let zero = match kind {
                        CodeKind::E4m3 => 0,
                        CodeKind::Int4 => u32::from(random() & 15),
                    };
                    f32::from_bits(exponent << 23 | fraction | zero)
                })
                .collect(),
        };
        for (index, code) in codes.codes.iter().enumerate() {
            let (output, input) = (index / inputs, index % inputs);
            let factor = codes.factors[output * across + input / kind.inputs_of_factor()];
            let number = match kind {
                CodeKind::E4m3 => e4m3(*code) * factor,
                CodeKind::Int4 => {
                    let both = factor.to_bits();
                    // Plus zero: the kernels give no negative one.
                    (f32::from(*code) - (both & 15) as f32) * f32::from_bits(both & !15) + 0.0
                }
            };
            numbers.extend(bits(dtype, number));
        }
        let fragments = Fragments::from_codes(&codes).unwrap();
        assert_eq!(
            fragments::sizes(kind, codes.shape),
            [fragments.codes.len(), fragments.factors.len()]
        );
        packed.extend(fragments.codes);
        factors.extend(
            fragments
                .factors
                .iter()
                .flat_map(|factor| factor.to_le_bytes()),
        );
    }
    let format = 1 + usize::from(kind == CodeKind::Int4);
    [head(dtype, format, shape), packed, factors, numbers].concat()
}

/// A number in e4m3 (OCP 8-bit Floating Point, 1.0).
fn e4m3(code: u8) -> f32 {
    let sign = if code < 128 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(code >> 3 & 15), f32::from(code & 7) / 8.0);
    sign * match exponent {
        0 => fraction * 2f32.powi(-6),
        _ => (1.0 + fraction) * 2f32.powi(exponent - 7),
    }
}

/// A file for `packed.cpp`: random codes, all exponents that sums stay finite with.
fn mxfp4_case(dtype: DType, (experts, outputs, inputs): (usize, usize, usize)) -> Vec<u8> {
    const VALUES: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
    let rows = experts * outputs;
    let mut random = random_bytes(rows * inputs);
    let blocks: Vec<u8> = (0..rows * inputs / 2).map(|_| random()).collect();
    let allowed = mxfp4::exponents(dtype);
    let span = u16::from(allowed.end() - allowed.start()) + 1;
    let exponents: Vec<u8> = (0..rows * inputs / 32)
        .map(|_| allowed.start() + (u16::from(random()) % span) as u8)
        .collect();
    let shape = (outputs, inputs);
    let (mut packed, mut packed_exponents) = (Vec::new(), Vec::new());
    for expert in 0..experts {
        let stored = Stored {
            blocks: &blocks[expert * outputs * inputs / 2..][..outputs * inputs / 2],
            exponents: &exponents[expert * outputs * inputs / 32..][..outputs * inputs / 32],
            shape,
        };
        let [size, exponent_size] = mxfp4::packed_bytes(shape);
        let (mut some, mut some_exponents) = (vec![0; size], vec![0; exponent_size]);
        assert!(stored.pack(|row| row, &allowed, &mut some, &mut some_exponents));
        packed.extend(some);
        packed_exponents.extend(some_exponents);
    }
    let mut case = head(dtype, 0, (experts, outputs, inputs));
    case.extend(packed);
    case.extend(packed_exponents);
    for index in 0..rows * inputs {
        let code = usize::from(blocks[index / 2] >> (4 * (index % 2)) & 15);
        let scale = 2f64.powi(i32::from(exponents[index / 32]) - 127);
        let sign = if code < 8 { 1.0 } else { -1.0 };
        let exact = sign * scale * f64::from(VALUES[code & 7]);
        let held = match dtype {
            DType::F16 => f16::from_f64(exact).to_f64(),
            _ => bf16::from_f64(exact).to_f64(),
        };
        assert_eq!(held.to_bits(), exact.to_bits());
        case.extend(bits(dtype, exact as f32));
    }
    case
}
