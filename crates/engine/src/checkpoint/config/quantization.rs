//! `quantization_config`: how a checkpoint stores its linear layers, if not number by number.

use serde_json::{Map, Value};

use super::keys::{Keys, short};
use crate::checkpoint::Result;
use crate::checkpoint::families::{Family, Part};
use crate::checkpoint::weights::Layout;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantization {
    Fp8(Fp8Scales),
    /// Whole numbers in words of 32 bits.
    Integers(IntegerForm),
}

impl Quantization {
    /// FP8 with a scale for each block of 128 outputs and inputs, as `DeepSeek` and Qwen publish it.
    pub const FP8_BLOCKS: Self = Self::Fp8(Fp8Scales::Blocks([128, 128]));
    /// AWQ in groups of 128 inputs.
    pub const AWQ: Self = Self::Integers(IntegerForm {
        layout: Layout::Awq,
        bits: 4,
        group: Some(128),
        zeros: Zeros::Stored,
        ordered: false,
    });
}

/// What the scales of FP8 weights are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fp8Scales {
    /// Blocks of this size, `[outputs, inputs]`.
    Blocks([usize; 2]),
    Outputs,
    Whole,
    /// Each output or the whole tensor: the configuration does not say which.
    OutputsOrWhole,
}

/// Which tensors a weight of whole numbers has, and what they hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntegerForm {
    /// How numbers lie in words.
    pub(crate) layout: Layout,
    /// Four or eight.
    pub(crate) bits: usize,
    /// The inputs of a group; `None` if all are one.
    pub(crate) group: Option<usize>,
    pub(crate) zeros: Zeros,
    /// Whether a tensor says which group each input belongs to; otherwise groups are neighbours.
    pub(crate) ordered: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Zeros {
    Stored,
    /// Stored in a tensor, and all the middle of the range: GPTQ's symmetric weights.
    StoredMiddle,
    /// Not stored: the middle of the range.
    Middle,
}

/// Reads `quantization_config`. What is not supported is refused by name; of gpt-oss' MXFP4, which is of its experts, nothing is said here.
pub(super) fn parse(keys: &Keys, family: &Family) -> Result<Option<Quantization>> {
    // transformers takes an empty object for none.
    let is_empty = |settings: &Value| settings.as_object().is_some_and(Map::is_empty);
    let Some(settings) = keys
        .get("quantization_config")
        .filter(|settings| !is_empty(settings))
    else {
        return Ok(None);
    };
    let settings = Settings {
        keys,
        values: settings,
    };
    match settings.text("quant_method") {
        Some("mxfp4") if family.has(Part::ExpertsGateUp) => Ok(None),
        Some("fp8") => Ok(Some(Quantization::Fp8(match settings.get("weight_block_size") {
            None => Fp8Scales::OutputsOrWhole,
            Some(size) => settings.blocks("weight_block_size", size)?,
        }))),
        Some("gptq") => gptq(&settings),
        Some("awq") => awq(&settings),
        Some("compressed-tensors") => compressed_tensors(&settings),
        method => keys.fail(format!(
            "quantization_config of method {} is not supported: take the checkpoint it was made from, and --quantize",
            method.unwrap_or("(none named)")
        )),
    }
}

/// `quantization_config`, or a part of it.
struct Settings<'a> {
    keys: &'a Keys<'a>,
    values: &'a Value,
}

impl<'a> Settings<'a> {
    fn get(&self, key: &str) -> Option<&'a Value> {
        self.values.get(key).filter(|value| !value.is_null())
    }

    fn text(&self, key: &str) -> Option<&'a str> {
        self.get(key).and_then(Value::as_str)
    }

    fn flag(&self, key: &str, default: bool) -> Result<bool> {
        match self.get(key) {
            None => Ok(default),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(value) => self.refuse(&format!("{key} {}", short(value))),
        }
    }

    /// The bits of a number, and the inputs of a group under the first of these keys; -1 means all inputs, and tools take
    /// 128 where there is none.
    fn sizes(
        &self,
        layout: Layout,
        bits: Option<&Value>,
        group_keys: &[&str],
    ) -> Result<(usize, Option<usize>)> {
        let bits = match bits.and_then(Value::as_u64) {
            Some(bits @ (4 | 8)) if layout != Layout::Awq || bits == 4 => bits as usize,
            bits => {
                let bits = bits.map_or("no".to_owned(), |bits| bits.to_string());
                return self.refuse(&format!("{bits} bits"));
            }
        };
        let group = group_keys.iter().find_map(|key| self.get(key));
        match group.map(Value::as_i64) {
            None => Ok((bits, Some(128))),
            Some(Some(-1)) => Ok((bits, None)),
            Some(Some(size @ 1..=0x20_0000)) => Ok((bits, Some(size as usize))),
            Some(_) => self.refuse(&format!(
                "{} {}",
                group_keys[0],
                short(group.unwrap_or(&Value::Null))
            )),
        }
    }

    fn blocks(&self, key: &str, size: &Value) -> Result<Fp8Scales> {
        match block(size) {
            Some(block) => Ok(Fp8Scales::Blocks(block)),
            None => self.refuse(&format!("{key} {}", short(size))),
        }
    }

    fn refuse<T>(&self, what: &str) -> Result<T> {
        self.keys.fail(format!(
            "quantization_config: {what}: not supported; take the checkpoint it was made from, and --quantize"
        ))
    }
}

fn gptq(settings: &Settings) -> Result<Option<Quantization>> {
    let offset = match settings.text("checkpoint_format").unwrap_or("gptq") {
        "gptq" => 1,
        "gptq_v2" => 0,
        other => return settings.refuse(&format!("checkpoint_format {other}")),
    };
    // Patterns that begin with `-:` name layers that are not quantised; others give layers settings of their own.
    let dynamic = settings.get("dynamic").and_then(Value::as_object);
    let own = dynamic
        .into_iter()
        .flatten()
        .find(|(key, _)| !key.starts_with("-:"));
    if let Some((pattern, _)) = own {
        return settings.refuse(&format!(
            "layers with settings of their own (dynamic: {pattern})"
        ));
    }
    let layout = Layout::Gptq { offset };
    let (bits, group) = settings.sizes(layout, settings.get("bits"), &["group_size"])?;
    Ok(Some(Quantization::Integers(IntegerForm {
        layout,
        bits,
        group,
        zeros: if settings.flag("sym", false)? {
            Zeros::StoredMiddle
        } else {
            Zeros::Stored
        },
        // One group has no order.
        ordered: settings.flag("desc_act", false)? && group.is_some(),
    })))
}

fn awq(settings: &Settings) -> Result<Option<Quantization>> {
    match settings
        .text("version")
        .unwrap_or("gemm")
        .to_lowercase()
        .as_str()
    {
        "gemm" => {}
        other => return settings.refuse(&format!("version {other}")),
    }
    if !settings.flag("zero_point", true)? {
        return settings.refuse("zero_point false");
    }
    let bits = settings.get("bits").or_else(|| settings.get("w_bit"));
    let (bits, group) = settings.sizes(Layout::Awq, bits, &["group_size", "q_group_size"])?;
    Ok(Some(Quantization::Integers(IntegerForm {
        layout: Layout::Awq,
        bits,
        group,
        zeros: Zeros::Stored,
        ordered: false,
    })))
}

/// vLLM's format, which llm-compressor writes: one kind of weights for all groups of layers.
fn compressed_tensors(settings: &Settings) -> Result<Option<Quantization>> {
    let something = |value: &&Value| !value.as_object().is_some_and(Map::is_empty);
    for key in ["sparsity_config", "transform_config"] {
        if let Some(value) = settings.get(key).filter(something) {
            return settings.refuse(&format!("{key} {}", short(value)));
        }
    }
    let groups = settings.get("config_groups").and_then(Value::as_object);
    let mut all = groups
        .into_iter()
        .flatten()
        .map(|(_, group)| &group["weights"]);
    let Some(first) = all.next() else {
        return settings.refuse("no config_groups");
    };
    if let Some(other) = all.find(|other| *other != first) {
        return settings.refuse(&format!(
            "weights of several kinds: {} and {}",
            short(first),
            short(other)
        ));
    }
    let weights = Settings {
        keys: settings.keys,
        values: first,
    };
    // As compressed-tensors derives it where it is not said.
    let strategy = weights.text("strategy").unwrap_or_else(|| {
        match (
            weights.get("block_structure"),
            weights.get("group_size").map(Value::as_i64),
        ) {
            (Some(_), _) => "block",
            (None, Some(Some(-1))) => "channel",
            (None, Some(_)) => "group",
            (None, None) => "tensor",
        }
    });
    let format = settings.text("format").unwrap_or_default();
    let kind = weights.text("type");
    match (format, kind, strategy) {
        ("pack-quantized", Some("int"), "group" | "channel") => {
            let layout = Layout::Rows;
            let bits = weights.get("num_bits");
            let (bits, group) = weights.sizes(layout, bits, &["group_size"])?;
            Ok(Some(Quantization::Integers(IntegerForm {
                layout,
                bits,
                group: group.filter(|_| strategy == "group"),
                zeros: if weights.flag("symmetric", true)? {
                    Zeros::Middle
                } else {
                    Zeros::Stored
                },
                ordered: match weights.get("actorder") {
                    None | Some(Value::Bool(false)) => false,
                    Some(Value::Bool(true)) => true,
                    Some(order) => match order.as_str() {
                        // The order of the calibration alone.
                        Some("weight" | "static") => false,
                        Some("group" | "dynamic") => true,
                        _ => return weights.refuse(&format!("actorder {}", short(order))),
                    },
                },
            })))
        }
        ("float-quantized" | "naive-quantized", Some("float"), strategy)
            if first["num_bits"] == 8 =>
        {
            Ok(Some(Quantization::Fp8(match strategy {
                "tensor" => Fp8Scales::Whole,
                "channel" => Fp8Scales::Outputs,
                "block" => weights.blocks("block_structure", &first["block_structure"])?,
                other => return weights.refuse(&format!("strategy {other}")),
            })))
        }
        ("pack-quantized", Some("int"), other) => weights.refuse(&format!("strategy {other}")),
        (format, kind, _) => {
            settings.refuse(&format!("format {format} of {}", kind.unwrap_or("no type")))
        }
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
