//! The CUDA kernels, run thread by thread on the CPU and compared with plain references.
//!
//! No GPU and no CUDA are needed: the kernels' source is compiled by the system's C++ compiler against an emulation that
//! also finds races, missing barriers, and accesses outside a buffer (`tests/cuda_emulation/cuda_emulation.h`).

use candle_core::DType;
use half::{bf16, f16};
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

/// Packed by the loader, multiplied by the kernels: to the bit what the same weights give as plain numbers.
#[test]
fn experts_in_mxfp4_equal_plain_numbers() {
    let folder = tempfile::tempdir().unwrap();
    // Tiles and steps that are full, cut off, and with an odd number of blocks.
    let shapes = [(3, 136, 96), (2, 8, 32), (1, 256, 128), (2, 48, 320)];
    let files: Vec<_> = shapes
        .into_iter()
        .flat_map(|shape| [(DType::BF16, shape), (DType::F16, shape)])
        .enumerate()
        .map(|(index, (dtype, shape))| {
            let file = folder.path().join(index.to_string());
            std::fs::write(&file, mxfp4_case(dtype, shape)).unwrap();
            file
        })
        .collect();
    crate::cuda_emulation::run_with("mxfp4", &files);
}

/// A file for `mxfp4.cpp`: random codes, all exponents that sums stay finite with.
fn mxfp4_case(dtype: DType, (experts, outputs, inputs): (usize, usize, usize)) -> Vec<u8> {
    const VALUES: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
    let rows = experts * outputs;
    let mut state = (rows * inputs) as u64;
    let mut random = || {
        // Knuth's constants for 64 bits.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as u8
    };
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
    let mut case: Vec<u8> = [usize::from(dtype == DType::F16), experts, outputs, inputs]
        .into_iter()
        .flat_map(|number| (number as u32).to_le_bytes())
        .collect();
    case.extend(packed);
    case.extend(packed_exponents);
    for index in 0..rows * inputs {
        let code = usize::from(blocks[index / 2] >> (4 * (index % 2)) & 15);
        let scale = 2f64.powi(i32::from(exponents[index / 32]) - 127);
        let sign = if code < 8 { 1.0 } else { -1.0 };
        let exact = sign * scale * f64::from(VALUES[code & 7]);
        let bits = if dtype == DType::F16 {
            assert!(f16::from_f64(exact).to_f64().to_bits() == exact.to_bits());
            f16::from_f64(exact).to_bits()
        } else {
            assert!(bf16::from_f64(exact).to_f64().to_bits() == exact.to_bits());
            bf16::from_f64(exact).to_bits()
        };
        case.extend(bits.to_le_bytes());
    }
    case
}
