//! The CUDA path without a GPU: programs built with the feature `cuda`, on an imitation of NVIDIA's driver (`driver.h`).
//!
//! The first run builds them in `target/cuda-check`, which takes two minutes of two cores; later ones only what changed.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(clippy::unwrap_used, clippy::panic)]

mod imitation;

use std::process::Command;

use imitation::{Imitation, succeed};
use serde_json::Value;

const ROLLOUTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/rollouts.jsonl");

#[test]
fn the_driver_reports_broken_rules_and_runs_sound_programs() {
    let imitation = Imitation::get();
    for seed in 0..6 {
        let settings = format!("devices=2 seed={seed}");
        println!(
            "{}",
            succeed(&mut imitation.command(&imitation.rules, &settings))
        );
    }
}

/// What a verdict says, without the figures that rounding moves.
fn essence(line: &str) -> String {
    let verdict: Value = serde_json::from_str(line).unwrap();
    let fields = [
        "id",
        "status",
        "process",
        "outcome",
        "perfect",
        "overall",
        "reward",
        "rule_outcome",
    ];
    fields.map(|field| verdict[field].to_string()).join(" ")
}

fn verdicts(command: &mut Command, rollouts: &str, arguments: &[&str]) -> Vec<String> {
    command.args(["judge", rollouts, "--quiet"]).args(arguments);
    succeed(command).lines().map(essence).collect()
}

/// The embedded judge on the examples, as late as possible, at once, and now and then; on two devices, and on two times two that hold it together.
#[test]
fn verdicts_are_the_cpus() {
    let imitation = Imitation::get();
    let cpu = verdicts(
        &mut Command::new(env!("CARGO_BIN_EXE_juror")),
        ROLLOUTS,
        &["--device", "cpu", "--no-kept-prefix"],
    );
    let cases: [(&str, usize, &[&str]); 5] = [
        ("seed=0 memory=256", 8, &["--device", "cuda"]),
        ("seed=1 memory=256", 2, &["--device", "cuda"]),
        (
            "seed=2 memory=256",
            3,
            &[
                "--device",
                "cuda",
                "--max-sequences",
                "2",
                "--prefill-chunk",
                "100",
            ],
        ),
        ("seed=5 memory=256 devices=2", 4, &["--gpus", "0,1"]),
        (
            "seed=2 memory=256 devices=4",
            2,
            &["--gpus", "0,1,2,3", "--tensor-parallel", "2"],
        ),
    ];
    for (settings, count, arguments) in cases {
        let mut command = imitation.command(&imitation.juror, settings);
        let limit = count.to_string();
        let arguments = [arguments, &["--limit", &limit]].concat();
        let mut cuda = verdicts(&mut command, ROLLOUTS, &arguments);
        cuda.sort();
        let mut expected = cpu[..count].to_vec();
        expected.sort();
        assert_eq!(cuda, expected, "{settings} {arguments:?}");
    }
}

/// NCCL is opened for several devices alone, and what lacks is named.
#[test]
fn a_program_without_nccl() {
    let imitation = Imitation::get();
    let run = |arguments: &[&str]| {
        let mut command =
            imitation.without_nccl(&imitation.juror, "memory=256 devices=2 compute=0");
        command.args(["judge", ROLLOUTS, "--quiet", "--limit", "1"]);
        command.args(arguments).output().unwrap()
    };
    let together = run(&["--device", "cuda", "--tensor-parallel", "2"]);
    let said = String::from_utf8_lossy(&together.stderr);
    assert_eq!(together.status.code(), Some(1), "{said}");
    assert!(
        said.contains("libnccl.so.2") && said.contains("install it"),
        "{said}"
    );
    let three = run(&["--gpus", "0,1,2", "--tensor-parallel", "2"]);
    let said = String::from_utf8_lossy(&three.stderr);
    assert_eq!(three.status.code(), Some(2), "{said}");
    assert!(said.contains("3 are named"), "{said}");
    let four = run(&["--device", "cuda", "--tensor-parallel", "4"]);
    let said = String::from_utf8_lossy(&four.stderr);
    assert!(said.contains("no CUDA device 2"), "{said}");
}

/// `tests/cuda_host`, with work that runs as late as possible and now and then.
#[test]
fn the_hosts_side() {
    let imitation = Imitation::get();
    for seed in [0, 2] {
        let settings = format!("seed={seed} devices=4 memory=256");
        let mut command = imitation.command(&imitation.host_tests, &settings);
        if seed > 0 {
            // Numbers, and what is asked for, are those of the other run.
            command.args(["--skip", "parallel::every", "--skip", "parallel::four"]);
            command.args(["--skip", "parallel::weights", "--skip", "parallel::out_of"]);
        }
        println!(
            "{}",
            succeed(command.args(["--test-threads=1", "--nocapture"]))
        );
    }
}

/// The tests that a GPU runs too, each kernel by itself, and a cache in FP8: what they say there was tried here.
#[test]
fn the_tests_for_a_gpu() {
    let imitation = Imitation::get();
    let mut command = imitation.command(&imitation.cuda_tests, "memory=2048");
    println!(
        "{}",
        succeed(command.args([
            "--test-threads=1",
            "kernels::",
            "sinks::",
            "fast::keys_and_values",
        ]))
    );
}
