//! The CUDA kernels, run thread by thread on the CPU and compared with plain references.
//!
//! No GPU and no CUDA are needed: the kernels' source is compiled by the system's C++ compiler against an emulation that
//! also finds races, missing barriers, and accesses outside a buffer (`tests/cuda_emulation/cuda_emulation.h`).

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic)]

mod cuda_emulation;

#[test]
fn the_emulation_computes_and_sees_faults() {
    cuda_emulation::run("machine");
}

#[test]
fn norms_activation_quantisation_and_gathers_equal_their_references() {
    cuda_emulation::run("elementwise");
}

#[test]
fn heads_go_to_their_places() {
    cuda_emulation::run("heads");
}

#[test]
fn the_sampler_chooses_as_the_host_does() {
    cuda_emulation::run("sampler");
}

#[test]
fn mixture_of_experts_equals_its_references() {
    cuda_emulation::run("moe");
}
