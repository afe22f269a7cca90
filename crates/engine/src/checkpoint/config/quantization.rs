//! `quantization_config`: how a checkpoint stores its linear layers, if not number by number.

use serde_json::Value;

use super::CheckpointError;
use super::keys::{Keys, short};
use crate::checkpoint::families::{Family, Part};
use crate::checkpoint::weights::Layout;

/// How linear layers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantization {
    /// FP8 with scales for whole tensors, for outputs, or for blocks of this size, `[outputs, inputs]`.
    Fp8(Option<[usize; 2]>),
    /// Whole numbers of four or eight bits in words of 32.
    Integers {
        /// How they lie in the words.
        layout: Layout,
        /// Four or eight.
        bits: usize,
    },
}

/// Reads `quantization_config`. What is not supported is refused by name; of gpt-oss' MXFP4, which is of its experts, nothing is said here.
pub(super) fn parse(keys: &Keys, family: &Family) -> Result<Option<Quantization>, CheckpointError> {
    let Some(settings) = keys.get("quantization_config") else {
        return Ok(None);
    };
    let text = |key: &str| settings.get(key).and_then(Value::as_str);
    let integers = |layout, bits: Option<&Value>| match bits.and_then(Value::as_u64) {
        Some(bits @ (4 | 8)) if layout != Layout::Awq || bits == 4 => {
            let bits = bits as usize;
            Ok(Some(Quantization::Integers { layout, bits }))
        }
        bits => {
            let bits = bits.map_or("no".to_owned(), |bits| bits.to_string());
            refuse(keys, &format!("{bits} bits"))
        }
    };
    match text("quant_method") {
        Some("mxfp4") if family.has(Part::ExpertsGateUp) => Ok(None),
        Some("fp8") => match settings.get("weight_block_size").filter(|size| !size.is_null()) {
            None => Ok(Some(Quantization::Fp8(None))),
            Some(size) => match block(size) {
                Some(block) => Ok(Some(Quantization::Fp8(Some(block)))),
                None => refuse(keys, &format!("weight_block_size {}", short(size))),
            },
        },
        Some("gptq") => {
            let offset = match text("checkpoint_format").unwrap_or("gptq") {
                "gptq" => 1,
                "gptq_v2" => 0,
                other => return refuse(keys, &format!("checkpoint_format {other}")),
            };
            // Patterns that begin with `-:` name layers that are not quantised; others give layers settings of their own.
            let mut dynamic = settings.get("dynamic").and_then(Value::as_object).into_iter().flatten();
            if let Some((pattern, _)) = dynamic.find(|(key, _)| !key.starts_with("-:")) {
                return refuse(keys, &format!("layers with settings of their own (dynamic: {pattern})"));
            }
            integers(Layout::Gptq { offset }, settings.get("bits"))
        }
        Some("awq") => match text("version").unwrap_or("gemm").to_lowercase().as_str() {
            "gemm" => integers(Layout::Awq, settings.get("bits").or(settings.get("w_bit"))),
            other => refuse(keys, &format!("version {other}")),
        },
        Some("compressed-tensors") => compressed_tensors(keys, settings, integers),
        method => keys.fail(format!(
            "quantization_config of method {} is not supported: take the checkpoint it was made from, and --quantize",
            method.unwrap_or("(none named)")
        )),
    }
}

/// vLLM's format, which llm-compressor writes: one kind of weights for all groups of layers.
fn compressed_tensors(
    keys: &Keys,
    settings: &Value,
    integers: impl Fn(Layout, Option<&Value>) -> Result<Option<Quantization>, CheckpointError>,
) -> Result<Option<Quantization>, CheckpointError> {
    let something = |value: &&Value| match value {
        Value::Null => false,
        Value::Object(map) => !map.is_empty(),
        _ => true,
    };
    for key in ["sparsity_config", "transform_config"] {
        if let Some(value) = settings.get(key).filter(something) {
            return refuse(keys, &format!("{key} {}", short(value)));
        }
    }
    let groups = settings.get("config_groups").and_then(Value::as_object);
    let mut weights = groups
        .into_iter()
        .flatten()
        .map(|(_, group)| &group["weights"]);
    let Some(first) = weights.next() else {
        return refuse(keys, "no config_groups");
    };
    if let Some(other) = weights.find(|other| *other != first) {
        return refuse(
            keys,
            &format!(
                "weights of several kinds: {} and {}",
                short(first),
                short(other)
            ),
        );
    }
    match (
        settings["format"].as_str().unwrap_or_default(),
        first["type"].as_str(),
    ) {
        ("pack-quantized", Some("int")) => integers(Layout::Rows, first.get("num_bits")),
        ("float-quantized" | "naive-quantized", Some("float")) if first["num_bits"] == 8 => {
            Ok(Some(Quantization::Fp8(block(&first["block_structure"]))))
        }
        (format, kind) => refuse(
            keys,
            &format!("format {format} of {}", kind.unwrap_or("no type")),
        ),
    }
}

/// The size of blocks, `[outputs, inputs]`.
fn block(size: &Value) -> Option<[usize; 2]> {
    let one = |index: usize| {
        let size = size.get(index)?.as_u64()?;
        (1..1 << 21).contains(&size).then_some(size as usize)
    };
    Some([one(0)?, one(1)?])
}

fn refuse<T>(keys: &Keys, what: &str) -> Result<T, CheckpointError> {
    keys.fail(format!(
        "quantization_config: {what}: not supported; take the checkpoint it was made from, and --quantize"
    ))
}
