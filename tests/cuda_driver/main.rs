//! The CUDA path without a GPU: programs built with the feature `cuda`, on an imitation of NVIDIA's driver (`driver.h`).

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(clippy::unwrap_used, clippy::panic)]

mod imitation;

use std::time::Instant;

use imitation::{Imitation, succeed};

#[test]
fn it_starts() {
    let imitation = Imitation::get();
    for n in ["1", "8"] {
        let start = Instant::now();
        println!(
            "{} {:?}",
            succeed(imitation.command(&imitation.juror, "memory=256").args([
                "judge",
                "examples/rollouts.jsonl",
                "--device",
                "cuda",
                "--limit",
                n
            ])),
            start.elapsed()
        );
    }
}
