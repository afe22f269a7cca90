//! Checkpoints that store linear layers in few bits (GPTQ, AWQ, compressed-tensors, FP8), made by `scripts/golden_quantised.py`:
//! logits of the numbers that they stand for, the types that these are held in, and what is refused.

use std::fs;
use std::path::PathBuf;

use candle_core::{DType, Device, Tensor};
use juror_engine::checkpoint::weights::CodeKind;
use juror_engine::checkpoint::{ModelConfig, ModelSource, Weights};
use juror_engine::model::PrecisionChoice;
use juror_engine::model::attention::AttentionKind;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::golden_logits::Checkpoint;

const NAMES: [&str; 9] = [
    "awq",
    "fp8-blocks",
    "fp8-outputs",
    "fp8-whole",
    "gptq",
    "gptq-ordered",
    "gptq-v2",
    "packed",
    "packed-zeros",
];

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/quantised")
        .join(name)
}

#[test]
fn every_form_is_compared() {
    let entries = fs::read_dir(folder("")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    assert_eq!(names, NAMES);
}

#[test]
fn logits_are_those_of_the_numbers_that_are_stored() {
    for name in NAMES {
        let checkpoint = Checkpoint::of(&format!("tests/data/quantised/{name}"));
        for chunk in [usize::MAX, 7] {
            checkpoint.compare(AttentionKind::Tiled, chunk);
        }
        // What is not quantised says in what the rest is held.
        let weights = Weights::open(&ModelSource::Folder(folder(name))).unwrap();
        let precision = PrecisionChoice::default()
            .resolve(&Device::Cpu, &weights)
            .unwrap();
        assert_eq!(precision.weights.as_str(), "f16", "{name}");
    }
}

/// Codes and factors, for kernels that multiply with them, stand for the very numbers that the weight is read as.
#[test]
fn codes_are_of_the_same_numbers() {
    // Blocks of 40 inputs, groups of inputs that are no neighbours, and eight bits cannot be held so.
    let without = ["fp8-blocks", "gptq-ordered", "gptq-v2"];
    for name in NAMES {
        let weights = Weights::open(&ModelSource::Folder(folder(name))).unwrap();
        let layers = weights.shapes().map(|(tensor, _)| tensor.to_owned());
        let layers: Vec<String> = layers.filter(|t| t.ends_with("_proj.weight")).collect();
        assert!(!layers.is_empty());
        for layer in layers {
            let codes = weights.codes(&layer).unwrap();
            assert_eq!(codes.is_none(), without.contains(&name), "{name}, {layer}");
            let Some(codes) = codes else { continue };
            let expected = weights.get(&layer, &Device::Cpu, DType::F32).unwrap();
            assert_eq!(expected.dims(), codes.shape);
            let expected = expected.flatten_all().unwrap().to_vec1::<f32>().unwrap();
            let (inputs, per) = (codes.shape[1], codes.kind.inputs_of_factor());
            let e4m3 = Tensor::from_raw_buffer(
                &codes.codes,
                DType::F8E4M3,
                &[codes.codes.len()],
                &Device::Cpu,
            );
            let e4m3 = e4m3
                .unwrap()
                .to_dtype(DType::F32)
                .unwrap()
                .to_vec1::<f32>()
                .unwrap();
            for (at, expected) in expected.iter().enumerate() {
                let factor = codes.factors[at / inputs * inputs.div_ceil(per) + at % inputs / per];
                let number = match codes.kind {
                    CodeKind::E4m3 => e4m3[at] * factor,
                    CodeKind::Int4 => {
                        let bits = factor.to_bits();
                        (f32::from(codes.codes[at]) - (bits & 15) as f32)
                            * f32::from_bits(bits & !15)
                    }
                };
                assert_eq!(
                    number.to_bits(),
                    expected.to_bits(),
                    "{name}, {layer}, number {at}"
                );
            }
            let by_output = codes.by_output();
            assert_eq!(
                by_output.is_some(),
                name.starts_with("fp8"),
                "{name}, {layer}"
            );
            let reversed: Vec<usize> = (0..codes.shape[0]).rev().collect();
            let twice = codes.in_order(&reversed).in_order(&reversed);
            assert_eq!(twice, codes);
        }
    }
}

/// What is said of a checkpoint whose configuration or header was changed.
#[track_caller]
fn refused(
    name: &str,
    change: impl FnOnce(&mut Value),
    header: Option<(&str, &str)>,
    parts: &[&str],
) {
    let changed = TempDir::new().unwrap();
    let text = fs::read_to_string(folder(name).join("config.json")).unwrap();
    let mut config: Value = serde_json::from_str(&text).unwrap();
    change(&mut config["quantization_config"]);
    fs::write(changed.path().join("config.json"), config.to_string()).unwrap();
    let mut bytes = fs::read(folder(name).join("model.safetensors")).unwrap();
    if let Some((from, to)) = header {
        assert_eq!(from.len(), to.len());
        let at = bytes
            .windows(from.len())
            .position(|window| window == from.as_bytes());
        let at = at.expect("header text");
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    }
    fs::write(changed.path().join("model.safetensors"), bytes).unwrap();
    let source = juror_judge::catalog::resolve(changed.path().to_str().unwrap()).unwrap();
    let read =
        ModelConfig::load(&source).and_then(|config| Weights::open(&source)?.check_model(&config));
    let message = read.expect_err("it is refused").to_string();
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
}

#[test]
fn other_forms_are_named() {
    for (name, path, value, parts) in [
        ("gptq", "/bits", json!(3), &["3 bits"][..]),
        (
            "gptq",
            "/checkpoint_format",
            json!("marlin"),
            &["checkpoint_format marlin"],
        ),
        (
            "gptq",
            "/dynamic",
            json!({"+:.*q_proj": {"bits": 8}}),
            &["dynamic: +:.*q_proj"],
        ),
        (
            "gptq",
            "/quant_method",
            json!("bitsandbytes"),
            &["bitsandbytes", "--quantize"],
        ),
        ("gptq", "/bits", json!(8), &["layers.0", "do not fit"]),
        ("awq", "/version", json!("gemv"), &["version gemv"]),
        ("awq", "/bits", json!(8), &["8 bits"]),
        (
            "packed",
            "/sparsity_config",
            json!({"format": "sparse-24-bitmask"}),
            &["sparsity_config"],
        ),
        (
            "packed",
            "/transform_config",
            json!({"config_groups": {"u": {}}}),
            &["transform_config"],
        ),
        (
            "packed",
            "/format",
            json!("marlin-24"),
            &["format marlin-24"],
        ),
        (
            "packed",
            "/config_groups/group_1",
            json!({"weights": {"num_bits": 8}}),
            &["several kinds"],
        ),
        (
            "packed",
            "/config_groups/group_0/weights/num_bits",
            json!(2),
            &["2 bits"],
        ),
        (
            "fp8-blocks",
            "/weight_block_size",
            json!([128]),
            &["weight_block_size [128]"],
        ),
        (
            "fp8-blocks",
            "/weight_block_size",
            json!([64, 40]),
            &["layers.0", "do not fit"],
        ),
    ] {
        let change = |settings: &mut Value| {
            let (parent, key) = path.rsplit_once('/').unwrap();
            settings.pointer_mut(parent).unwrap()[key] = value;
        };
        refused(name, change, None, parts);
    }
}

#[test]
fn parts_that_do_not_fit_are_named() {
    let same = |_: &mut Value| {};
    for (name, from, to) in [
        ("gptq", "q_proj.qzeros", "q_proj.qother"),
        ("gptq", "k_proj.scales", "k_proj.scalez"),
        ("awq", "v_proj.qweight", "v_proj.qw_ight"),
        ("fp8-outputs", "o_proj.weight_scale", "o_proj.weight_scal3"),
    ] {
        refused(name, same, Some((from, to)), &["layers.0"]);
    }
}
