//! Checkpoints that store linear layers in few bits (GPTQ, AWQ, compressed-tensors, FP8), made by `scripts/golden_quantised.py`:
//! logits of the numbers that they stand for, the types that these are held in, and what is refused.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use candle_core::{DType, Device, Tensor};
use juror_engine::checkpoint::weights::CodeKind;
use juror_engine::checkpoint::{ModelConfig, ModelSource, Weights};
use juror_engine::model::PrecisionChoice;
use juror_engine::model::attention::AttentionKind;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::golden_logits::Checkpoint;

const NAMES: [&str; 11] = [
    "awq",
    "fp8-blocks",
    "fp8-experts",
    "fp8-outputs",
    "fp8-whole",
    "gptq",
    "gptq-ordered",
    "gptq-recurrent",
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
    // Blocks of 32 or 40 inputs, groups of inputs that are no neighbours, and eight bits cannot be held so.
    let without = ["fp8-blocks", "fp8-experts", "gptq-ordered", "gptq-v2"];
    for name in NAMES {
        let weights = Weights::open(&ModelSource::Folder(folder(name))).unwrap();
        let layers = weights.shapes().map(|(tensor, _)| tensor.to_owned());
        let layers: Vec<String> = layers.filter(|t| t.ends_with("_proj.weight")).collect();
        assert!(!layers.is_empty());
        for layer in layers {
            let codes = weights.codes(&layer).unwrap();
            // What experts give has as many inputs as a block.
            if !layer.contains("expert") {
                assert_eq!(codes.is_none(), without.contains(&name), "{name}, {layer}");
            }
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

/// A tensor: its type as the header says it, its shape, and its bytes.
type Stored = (String, Vec<usize>, Vec<u8>);

/// The tensors of a checkpoint, whatever their types are.
fn stored(path: &Path) -> BTreeMap<String, Stored> {
    let bytes = fs::read(path).unwrap();
    let (length, rest) = bytes.split_at(8);
    let (header, data) = rest.split_at(u64::from_le_bytes(length.try_into().unwrap()) as usize);
    let header: BTreeMap<String, Value> = serde_json::from_slice(header).unwrap();
    let tensors = header
        .into_iter()
        .filter(|(name, _)| name != "__metadata__");
    tensors
        .map(|(name, info)| {
            let range: [usize; 2] = serde_json::from_value(info["data_offsets"].clone()).unwrap();
            let shape = serde_json::from_value(info["shape"].clone()).unwrap();
            let dtype = info["dtype"].as_str().unwrap().to_owned();
            (name, (dtype, shape, data[range[0]..range[1]].to_vec()))
        })
        .collect()
}

fn write(path: &Path, tensors: &BTreeMap<String, Stored>) {
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, (dtype, shape, bytes)) in tensors {
        let range = [data.len(), data.len() + bytes.len()];
        header.insert(
            name.clone(),
            json!({"dtype": dtype, "shape": shape, "data_offsets": range}),
        );
        data.extend_from_slice(bytes);
    }
    let header = Value::Object(header).to_string();
    let length = (header.len() as u64).to_le_bytes();
    fs::write(path, [&length[..], header.as_bytes(), &data].concat()).unwrap();
}

/// What reading says of a checkpoint whose configuration or tensors were changed, if it is refused.
fn read(
    name: &str,
    change: impl FnOnce(&mut Value),
    tensors: impl FnOnce(&mut BTreeMap<String, Stored>),
) -> Option<String> {
    let changed = TempDir::new().unwrap();
    let text = fs::read_to_string(folder(name).join("config.json")).unwrap();
    let mut config: Value = serde_json::from_str(&text).unwrap();
    change(&mut config["quantization_config"]);
    fs::write(changed.path().join("config.json"), config.to_string()).unwrap();
    let mut all = stored(&folder(name).join("model.safetensors"));
    tensors(&mut all);
    write(&changed.path().join("model.safetensors"), &all);
    let source = juror_judge::catalog::resolve(changed.path().to_str().unwrap()).unwrap();
    let read = ModelConfig::load(&source).and_then(|config| {
        let weights = Weights::open(&source)?;
        weights.check_model(&config)?;
        for (name, _) in weights.shapes() {
            weights.get(name, &Device::Cpu, DType::F32)?;
        }
        Ok(())
    });
    read.err().map(|error| error.to_string())
}

#[track_caller]
fn refused(
    name: &str,
    change: impl FnOnce(&mut Value),
    tensors: impl FnOnce(&mut BTreeMap<String, Stored>),
    parts: &[&str],
) {
    let message = read(name, change, tensors).expect("it is refused");
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
}

/// Sets a key of `quantization_config`.
fn set(path: &str, value: Value) -> impl FnOnce(&mut Value) {
    move |settings| {
        let (parent, key) = path.rsplit_once('/').unwrap();
        settings.pointer_mut(parent).unwrap()[key] = value;
    }
}

fn same<T>(_: &mut T) {}

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
        ("gptq", "/bits", json!(8), &["layers.0", "scales"]),
        ("gptq", "/group_size", json!(0), &["group_size 0"]),
        ("awq", "/zero_point", json!(false), &["zero_point false"]),
        (
            "packed",
            "/config_groups/group_0/weights/actorder",
            json!("by luck"),
            &["actorder"],
        ),
        (
            "packed",
            "/config_groups/group_0/weights/strategy",
            json!("tensor"),
            &["strategy tensor"],
        ),
        (
            "fp8-outputs",
            "/config_groups/group_0/weights/strategy",
            json!("token"),
            &["strategy token"],
        ),
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
            &["layers.0", "weight_scale_inv"],
        ),
    ] {
        refused(name, set(path, value), same, parts);
    }
}

const LAYER: &str = "model.layers.0.self_attn.q_proj";

/// Every tensor that a format implies is there; without it other numbers would be read, or none.
#[test]
fn parts_that_are_missing_are_named() {
    let order = "/config_groups/group_0/weights/actorder";
    let symmetric = "/config_groups/group_0/weights/symmetric";
    for (name, part, setting) in [
        ("awq", "qweight", None),
        ("awq", "scales", None),
        ("awq", "qzeros", None),
        ("gptq", "qzeros", None),
        ("gptq", "scales", None),
        ("gptq-ordered", "g_idx", None),
        ("packed", "weight_scale", None),
        ("packed", "weight_shape", None),
        (
            "packed",
            "weight_zero_point",
            Some((symmetric, json!(false))),
        ),
        ("packed-zeros", "weight_zero_point", None),
        ("packed", "weight_g_idx", Some((order, json!("group")))),
        ("packed", "weight_g_idx", Some((order, json!(true)))),
        ("fp8-blocks", "weight_scale_inv", None),
        ("fp8-whole", "weight_scale", None),
        ("fp8-outputs", "weight_scale", None),
    ] {
        let tensor = format!("{LAYER}.{part}");
        let drop = |tensors: &mut BTreeMap<String, Stored>| {
            assert_eq!(
                tensors.remove(&tensor).is_none(),
                setting.is_some(),
                "{tensor}"
            );
        };
        let change = |settings: &mut Value| {
            if let Some((path, value)) = setting.clone() {
                set(path, value)(settings);
            }
        };
        // Where a setting makes a part needed, every layer lacks it.
        let named = match (part, &setting) {
            ("qweight", _) => LAYER,
            (_, None) => &tensor,
            (_, Some(_)) => part,
        };
        refused(name, change, drop, &["missing", named]);
    }
    // Without an order GPTQ's groups are neighbours, and tools leave the tensor out, or empty.
    for empty in [false, true] {
        let drop = |tensors: &mut BTreeMap<String, Stored>| {
            let part = tensors.remove(&format!("{LAYER}.g_idx")).unwrap();
            if empty {
                tensors.insert(format!("{LAYER}.g_idx"), (part.0, vec![0], Vec::new()));
            }
        };
        assert_eq!(read("gptq", same, drop), None);
    }
}

#[test]
fn parts_that_contradict_the_configuration_are_named() {
    let part = |name: &str| format!("{LAYER}.{name}");
    // Another shape of as many numbers, or another type.
    for (name, tensor, shape) in [
        ("gptq", "scales", vec![64, 2]),
        ("gptq", "qzeros", vec![1, 16]),
        ("gptq-ordered", "g_idx", vec![1, 64]),
        ("awq", "qzeros", vec![8, 2]),
        ("awq", "qweight", vec![512]),
        ("packed", "weight_scale", vec![2, 64]),
        ("packed-zeros", "weight_zero_point", vec![2, 8]),
        ("packed", "weight_shape", vec![1, 2]),
        ("fp8-outputs", "weight_scale", vec![1, 64]),
        ("fp8-blocks", "weight_scale_inv", vec![4, 1]),
    ] {
        let reshape = |tensors: &mut BTreeMap<String, Stored>| {
            tensors.get_mut(&part(tensor)).unwrap().1 = shape;
        };
        refused(name, same, reshape, &[&part(tensor)]);
    }
    for (name, tensor, other) in [
        ("gptq", "qweight", "F32"),
        ("gptq", "qzeros", "F32"),
        ("awq", "qzeros", "F32"),
        ("gptq-ordered", "g_idx", "F32"),
        ("fp8-blocks", "weight_scale_inv", "I32"),
    ] {
        let retype = |tensors: &mut BTreeMap<String, Stored>| {
            tensors.get_mut(&part(tensor)).unwrap().0 = other.into();
        };
        refused(name, same, retype, &[&part(tensor), "I32"]);
    }
    // Scales of another granularity than the configuration names would be taken for those of whole outputs, or of all.
    let one = |tensors: &mut BTreeMap<String, Stored>| {
        let scale = tensors.get_mut(&part("weight_scale_inv")).unwrap();
        *scale = ("F32".into(), vec![1], scale.2[..4].to_vec());
    };
    refused("fp8-blocks", same, one, &[&part("weight_scale_inv"), "[1]"]);
    let whole = set("/config_groups/group_0/weights/strategy", json!("tensor"));
    refused("fp8-outputs", whole, same, &["weight_scale", "[64, 1]"]);
    // Groups of other sizes than the scales are for.
    for (name, path) in [
        ("gptq", "/group_size"),
        ("awq", "/group_size"),
        ("packed", "/config_groups/group_0/weights/group_size"),
    ] {
        refused(name, set(path, json!(16)), same, &["scale", "layers.0"]);
        refused(name, set(path, json!(-1)), same, &["scale", "layers.0"]);
    }
    // An order where there is to be none; symmetric weights with zero points of their own.
    refused(
        "gptq-ordered",
        set("/desc_act", json!(false)),
        same,
        &[".g_idx", "desc_act"],
    );
    refused(
        "gptq-ordered",
        set("/sym", json!(true)),
        same,
        &[".qzeros", "symmetric"],
    );
    let symmetric = set("/config_groups/group_0/weights/symmetric", json!(true));
    refused(
        "packed-zeros",
        symmetric,
        same,
        &["weight_zero_point", "not expected"],
    );
    let foreign = |name: &'static str, of: Stored| {
        move |tensors: &mut BTreeMap<String, Stored>| {
            tensors.insert(format!("{LAYER}.{name}"), of);
        }
    };
    let order = || ("I32".to_owned(), vec![64], vec![0; 256]);
    refused(
        "awq",
        same,
        foreign("g_idx", order()),
        &["g_idx", "not expected"],
    );
    refused(
        "packed",
        same,
        foreign("weight_g_idx", order()),
        &["weight_g_idx", "not expected"],
    );
    // The weight itself beside its parts.
    let plain = || ("F16".to_owned(), vec![64, 64], vec![0; 8192]);
    for name in ["gptq", "awq", "packed"] {
        refused(name, same, foreign("weight", plain()), &[LAYER, "twice"]);
    }
    // A group that there is not, and a shape of another weight.
    let beyond = |tensors: &mut BTreeMap<String, Stored>| {
        tensors.get_mut(&part("g_idx")).unwrap().2[0] = 7;
    };
    refused("gptq-ordered", same, beyond, &["g_idx", "group 7"]);
    let other = |tensors: &mut BTreeMap<String, Stored>| {
        tensors.get_mut(&part("weight_shape")).unwrap().2[0] = 63;
    };
    refused("packed", same, other, &["weight_shape", "[63, 64]"]);
}
