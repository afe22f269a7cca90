//! GGUF files, written from checkpoints of the hub the way llama.cpp's converter does it.

use std::collections::HashMap;
use std::path::Path;

use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{DType, Device, Tensor};
use serde_json::Value as Json;

/// A value of the metadata.
#[derive(Clone)]
pub(crate) enum Value {
    U32(u32),
    F32(f32),
    Bool(bool),
    Text(String),
    Texts(Vec<String>),
    I32s(Vec<i32>),
    F32s(Vec<f32>),
}

pub(crate) struct Stored {
    pub(crate) name: String,
    /// Outermost first.
    pub(crate) shape: Vec<usize>,
    /// GGML's number.
    pub(crate) kind: u32,
    pub(crate) bytes: Vec<u8>,
}

#[derive(Default)]
pub(crate) struct File {
    pub(crate) metadata: Vec<(String, Value)>,
    pub(crate) tensors: Vec<Stored>,
}

fn number(kind: GgmlDType) -> u32 {
    match kind {
        GgmlDType::F32 => 0,
        GgmlDType::F16 => 1,
        GgmlDType::Q4_0 => 2,
        GgmlDType::Q4_1 => 3,
        GgmlDType::Q5_0 => 6,
        GgmlDType::Q5_1 => 7,
        GgmlDType::Q8_0 => 8,
        GgmlDType::Q4K => 12,
        GgmlDType::Q5K => 13,
        GgmlDType::Q6K => 14,
        GgmlDType::BF16 => 30,
        other => panic!("{other:?}"),
    }
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u64).to_le_bytes());
    out.extend(text.as_bytes());
}

fn list<T>(out: &mut Vec<u8>, kind: u32, values: &[T], mut one: impl FnMut(&mut Vec<u8>, &T)) {
    out.extend(9u32.to_le_bytes());
    out.extend(kind.to_le_bytes());
    out.extend((values.len() as u64).to_le_bytes());
    for value in values {
        one(out, value);
    }
}

impl File {
    pub(crate) fn set(&mut self, key: &str, value: Value) {
        self.metadata.retain(|(other, _)| other != key);
        self.metadata.push((key.to_owned(), value));
    }

    pub(crate) fn remove(&mut self, key: &str) {
        self.metadata.retain(|(other, _)| other != key);
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = b"GGUF".to_vec();
        out.extend(3u32.to_le_bytes());
        out.extend((self.tensors.len() as u64).to_le_bytes());
        out.extend((self.metadata.len() as u64).to_le_bytes());
        for (key, value) in &self.metadata {
            text(&mut out, key);
            let mut plain = |kind: u32, bytes: &[u8]| {
                out.extend(kind.to_le_bytes());
                out.extend(bytes);
            };
            match value {
                Value::U32(number) => plain(4, &number.to_le_bytes()),
                Value::F32(number) => plain(6, &number.to_le_bytes()),
                Value::Bool(flag) => plain(7, &[u8::from(*flag)]),
                Value::Text(value) => {
                    plain(8, &[]);
                    text(&mut out, value);
                }
                Value::Texts(values) => list(&mut out, 8, values, |out, value| text(out, value)),
                Value::I32s(values) => {
                    list(&mut out, 5, values, |out, value| {
                        out.extend(value.to_le_bytes());
                    });
                }
                Value::F32s(values) => {
                    list(&mut out, 6, values, |out, value| {
                        out.extend(value.to_le_bytes());
                    });
                }
            }
        }
        let mut offset = 0;
        for tensor in &self.tensors {
            text(&mut out, &tensor.name);
            out.extend((tensor.shape.len() as u32).to_le_bytes());
            for size in tensor.shape.iter().rev() {
                out.extend((*size as u64).to_le_bytes());
            }
            out.extend(tensor.kind.to_le_bytes());
            out.extend((offset as u64).to_le_bytes());
            offset += tensor.bytes.len().next_multiple_of(32);
        }
        for tensor in &self.tensors {
            out.resize(out.len().next_multiple_of(32), 0);
            out.extend(&tensor.bytes);
        }
        out
    }

    pub(crate) fn write(&self, path: &Path) {
        std::fs::write(path, self.bytes()).unwrap();
    }

    pub(crate) fn add(&mut self, name: &str, tensor: &Tensor, kind: GgmlDType) {
        let tensor = tensor.to_dtype(DType::F32).unwrap().contiguous().unwrap();
        let bytes = QTensor::quantize(&tensor, kind)
            .unwrap()
            .data()
            .unwrap()
            .into_owned();
        self.tensors.push(Stored {
            name: name.to_owned(),
            shape: tensor.dims().to_vec(),
            kind: number(kind),
            bytes,
        });
    }
}

/// The tensors of a checkpoint's folder.
pub(crate) fn tensors(folder: &Path) -> HashMap<String, Tensor> {
    let mut tensors = HashMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap();
        if file.starts_with("model") && file.ends_with(".safetensors") {
            tensors.extend(candle_core::safetensors::load(&path, &Device::Cpu).unwrap());
        }
    }
    tensors
}

/// The rows of each head with the two of a rotary pair side by side, as the converter leaves them for Llama.
fn pair_up(tensor: &Tensor, head_dim: usize) -> Tensor {
    let shape = tensor.dims().to_vec();
    let width = shape.get(1).copied().unwrap_or(1);
    tensor
        .reshape((shape[0] / head_dim, 2, head_dim / 2, width))
        .unwrap()
        .transpose(1, 2)
        .unwrap()
        .contiguous()
        .unwrap()
        .reshape(shape)
        .unwrap()
}

/// Which keys a family has its sizes under: those of the hub, and of GLM's own code.
fn of<'a>(config: &'a Json, keys: &[&str]) -> &'a Json {
    keys.iter()
        .map(|key| &config[*key])
        .find(|value| !value.is_null())
        .unwrap_or(&Json::Null)
}

/// The model of a folder, with matrices stored as `kind` says by the tensor's name in the file.
pub(crate) fn convert(folder: &Path, kind: impl Fn(&str) -> GgmlDType) -> File {
    let text = std::fs::read_to_string(folder.join("config.json")).unwrap();
    let config: Json = serde_json::from_str(&text).unwrap();
    let arch = match config["architectures"][0].as_str().unwrap() {
        "Qwen2ForCausalLM" => "qwen2",
        "Qwen3ForCausalLM" => "qwen3",
        "Qwen3MoeForCausalLM" => "qwen3moe",
        "LlamaForCausalLM" | "MistralForCausalLM" => "llama",
        "Phi3ForCausalLM" => "phi3",
        "GlmForCausalLM" | "ChatGLMModel" => "chatglm",
        "Glm4ForCausalLM" => "glm4",
        "GptOssForCausalLM" => "gpt-oss",
        "Gemma2ForCausalLM" => "gemma2",
        "Gemma3ForCausalLM" => "gemma3",
        other => panic!("{other}"),
    };
    let size = |keys: &[&str]| of(&config, keys).as_u64().map(|size| size as u32);
    let (hidden, heads) = (size(&["hidden_size"]), size(&["num_attention_heads"]));
    let head_dim = size(&["head_dim", "kv_channels"]);
    let head_dim = head_dim.unwrap_or_else(|| hidden.unwrap() / heads.unwrap());
    let mut file = File::default();
    file.set("general.architecture", Value::Text(arch.into()));
    let positions = size(&["max_position_embeddings", "seq_length"]);
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            file.set(&format!("{arch}.{key}"), value);
        }
    };
    for (key, value) in [
        ("context_length", positions),
        ("embedding_length", hidden),
        (
            "feed_forward_length",
            size(&["intermediate_size", "ffn_hidden_size"]),
        ),
        ("block_count", size(&["num_hidden_layers", "num_layers"])),
        ("attention.head_count", heads),
        (
            "attention.head_count_kv",
            size(&["num_key_value_heads", "multi_query_group_num"]),
        ),
        ("attention.key_length", Some(head_dim)),
        ("attention.value_length", Some(head_dim)),
        ("attention.sliding_window", size(&["sliding_window"])),
        ("expert_count", size(&["num_experts", "num_local_experts"])),
        ("expert_used_count", size(&["num_experts_per_tok"])),
        (
            "expert_feed_forward_length",
            match arch {
                "gpt-oss" => size(&["intermediate_size"]),
                _ => size(&["moe_intermediate_size"]),
            },
        ),
    ] {
        set(key, value.map(Value::U32));
    }
    let rope = of(&config, &["rope_parameters", "rope_scaling"]);
    // Of Gemma 3's two kinds of layers, those that see everything; the other base is a key of newer files.
    let by_kind = rope;
    let rope = of(by_kind, &["full_attention"]);
    let rope = if rope.is_null() { by_kind } else { rope };
    if let Some(theta) = by_kind["sliding_attention"]["rope_theta"].as_f64() {
        set("rope.freq_base_swa", Some(Value::F32(theta as f32)));
        // Every other layer of the small checkpoints; real ones have 6, and no key.
        set("attention.sliding_window_pattern", Some(Value::U32(2)));
    }
    for key in ["attn_logit_softcapping", "final_logit_softcapping"] {
        let bound = config[key].as_f64().filter(|_| arch == "gemma2");
        set(key, bound.map(|bound| Value::F32(bound as f32)));
    }
    let number = |key: &str| of(&config, &[key]).as_f64().or(rope[key].as_f64());
    let theta = number("rope_theta").unwrap_or(10_000.0);
    set("rope.freq_base", Some(Value::F32(theta as f32)));
    let share = if config["model_type"] == "chatglm" {
        0.5
    } else {
        1.0
    };
    let share = number("partial_rotary_factor").unwrap_or(share);
    let turned = f64::from(head_dim) * share;
    set("rope.dimension_count", Some(Value::U32(turned as u32)));
    let eps = of(&config, &["rms_norm_eps", "layernorm_epsilon"]).as_f64();
    set(
        "attention.layer_norm_rms_epsilon",
        Some(Value::F32(eps.unwrap() as f32)),
    );
    let original = number("original_max_position_embeddings");
    if let Some(kind @ ("linear" | "yarn")) = rope["rope_type"].as_str() {
        set("rope.scaling.type", Some(Value::Text(kind.into())));
        let factor = number("factor").unwrap();
        set("rope.scaling.factor", Some(Value::F32(factor as f32)));
        let original = original.map(|original| Value::U32(original as u32));
        set("rope.scaling.original_context_length", original);
    } else if rope["rope_type"] == "longrope" {
        let original = original.unwrap();
        set(
            "rope.scaling.original_context_length",
            Some(Value::U32(original as u32)),
        );
        let factor = f64::from(positions.unwrap()) / original;
        let attention = (1.0 + factor.ln() / original.ln()).sqrt();
        set(
            "rope.scaling.attn_factor",
            Some(Value::F32(attention as f32)),
        );
        for length in ["long", "short"] {
            let factors = rope[format!("{length}_factor")].as_array().unwrap();
            let factors: Vec<f32> = factors.iter().map(|x| x.as_f64().unwrap() as f32).collect();
            let factors = Tensor::new(factors, &Device::Cpu).unwrap();
            file.add(
                &format!("rope_factors_{length}.weight"),
                &factors,
                GgmlDType::F32,
            );
        }
    } else if rope["rope_type"] == "llama3" {
        let factors = llama3(rope, theta, head_dim as usize, original.unwrap());
        let factors = Tensor::new(factors, &Device::Cpu).unwrap();
        file.add("rope_freqs.weight", &factors, GgmlDType::F32);
    }

    let tensors = tensors(folder);
    let mut names: Vec<&String> = tensors.keys().collect();
    names.sort();
    for name in names {
        if name.contains(".experts.") || name.ends_with("inv_freq") {
            continue;
        }
        let mut new = rename(name);
        if arch == "gpt-oss" {
            new = new.replace("ffn_norm", "post_attention_norm");
        }
        let tensor = &tensors[name];
        let gemma = arch.starts_with("gemma");
        if gemma {
            for (was, is) in [
                ("ffn_norm", "post_attention_norm"),
                ("pre_ffn_norm", "ffn_norm"),
            ] {
                if new.contains(&format!(".{was}.")) {
                    new = new.replace(was, is);
                    break;
                }
            }
        }
        let paired = arch == "llama" && (new.contains("attn_q.") || new.contains("attn_k."));
        let tensor = if paired {
            pair_up(tensor, head_dim as usize)
        } else {
            tensor.clone()
        };
        // The converter adds what the code of these adds to a norm.
        let tensor = if gemma && tensor.rank() == 1 {
            (tensor.to_dtype(DType::F32).unwrap() + 1.0).unwrap()
        } else {
            tensor
        };
        let kind = if tensor.rank() == 1 || new.contains("ffn_gate_inp") {
            GgmlDType::F32
        } else {
            kind(&new)
        };
        file.add(&new, &tensor, kind);
    }
    if arch == "gpt-oss" {
        for layer in 0..size(&["num_hidden_layers"]).unwrap() {
            gpt_oss(&mut file, &tensors, layer, &kind);
        }
        return file;
    }
    if let Some(experts) = size(&["num_experts", "num_local_experts"]) {
        for layer in 0..size(&["num_hidden_layers"]).unwrap() {
            for (theirs, ours) in [
                ("gate_proj", "gate"),
                ("up_proj", "up"),
                ("down_proj", "down"),
            ] {
                let prefix = format!("model.layers.{layer}.mlp.experts");
                let all: Vec<&Tensor> = (0..experts)
                    .map(|e| &tensors[&format!("{prefix}.{e}.{theirs}.weight")])
                    .collect();
                let new = format!("blk.{layer}.ffn_{ours}_exps.weight");
                let kind = kind(&new);
                file.add(&new, &Tensor::stack(&all, 0).unwrap(), kind);
            }
        }
    }
    file
}

/// A layer's experts: gate and up apart, and each expert's matrices with outputs outside.
fn gpt_oss(
    file: &mut File,
    tensors: &HashMap<String, Tensor>,
    layer: u32,
    kind: &impl Fn(&str) -> GgmlDType,
) {
    let at = format!("model.layers.{layer}.mlp.experts");
    for (theirs, ours, first, step) in [
        ("gate_up_proj", "gate", 0, 2),
        ("gate_up_proj", "up", 1, 2),
        ("down_proj", "down", 0, 1),
    ] {
        let bias = &tensors[&format!("{at}.{theirs}_bias")];
        let outputs = bias.dim(1).unwrap() as u32;
        let rows: Vec<u32> = (first..outputs).step_by(step).collect();
        let rows = Tensor::new(rows, &Device::Cpu).unwrap();
        let new = format!("blk.{layer}.ffn_{ours}_exps");
        let bias = bias.index_select(&rows, 1).unwrap();
        file.add(&format!("{new}.bias"), &bias, GgmlDType::F32);
        let new = format!("{new}.weight");
        if let Some(weight) = tensors.get(&format!("{at}.{theirs}")) {
            let weight = weight.transpose(1, 2).unwrap();
            let weight = weight.contiguous().unwrap().index_select(&rows, 1).unwrap();
            file.add(&new, &weight, kind(&new));
            continue;
        }
        let read = |what: &str| {
            let all = tensors[&format!("{at}.{theirs}_{what}")]
                .index_select(&rows, 1)
                .unwrap();
            let shape = all.dims().to_vec();
            (all.flatten_all().unwrap().to_vec1::<u8>().unwrap(), shape)
        };
        let ((blocks, shape), (scales, _)) = (read("blocks"), read("scales"));
        let mut bytes = Vec::new();
        for (block, scale) in blocks.chunks(16).zip(scales) {
            // Neighbours share a byte there; here a number and the one 16 further on do.
            let code = |i: usize| block[i / 2] >> (4 * (i % 2)) & 15;
            bytes.push(scale);
            bytes.extend((0..16).map(|i| code(i) | code(i + 16) << 4));
        }
        file.tensors.push(Stored {
            name: new,
            shape: vec![shape[0], shape[1], shape[2] * 32],
            kind: 39,
            bytes,
        });
    }
}

/// Llama 3's stretching as divisors of frequencies.
fn llama3(rope: &Json, theta: f64, head_dim: usize, original: f64) -> Vec<f32> {
    let number = |key: &str| rope[key].as_f64().unwrap();
    let (factor, low, high) = (
        number("factor"),
        number("low_freq_factor"),
        number("high_freq_factor"),
    );
    (0..head_dim / 2)
        .map(|i| {
            let frequency = theta.powf(-2.0 * i as f64 / head_dim as f64);
            let turns = original * frequency / std::f64::consts::TAU;
            let stays = ((turns - low) / (high - low)).clamp(0.0, 1.0);
            (1.0 / ((1.0 - stays) / factor + stays)) as f32
        })
        .collect()
}

/// From the hub's names, and those of GLM's own code.
fn rename(name: &str) -> String {
    let outside = match name {
        "model.embed_tokens.weight" | "transformer.embedding.word_embeddings.weight" => {
            Some("token_embd.weight")
        }
        "model.norm.weight" | "transformer.encoder.final_layernorm.weight" => {
            Some("output_norm.weight")
        }
        "lm_head.weight" | "transformer.output_layer.weight" => Some("output.weight"),
        _ => None,
    };
    if let Some(new) = outside {
        return new.to_owned();
    }
    if let Some(layer) = name.strip_suffix(".self_attn.sinks") {
        let layer = layer.strip_prefix("model.layers.").unwrap();
        return format!("blk.{layer}.attn_sinks.weight");
    }
    let rest = name
        .strip_prefix("model.layers.")
        .or(name.strip_prefix("transformer.encoder.layers."))
        .unwrap();
    let (layer, rest) = rest.split_once('.').unwrap();
    let (part, what) = rest.rsplit_once('.').unwrap();
    let part = match part {
        "input_layernorm" => "attn_norm",
        "self_attn.q_proj" => "attn_q",
        "self_attn.k_proj" => "attn_k",
        "self_attn.v_proj" => "attn_v",
        "self_attn.qkv_proj" | "self_attention.query_key_value" => "attn_qkv",
        "self_attn.o_proj" | "self_attention.dense" => "attn_output",
        "self_attn.q_norm" => "attn_q_norm",
        "self_attn.k_norm" => "attn_k_norm",
        "post_self_attn_layernorm" => "post_attention_norm",
        "post_attention_layernorm" => "ffn_norm",
        "pre_feedforward_layernorm" => "pre_ffn_norm",
        "post_mlp_layernorm" | "post_feedforward_layernorm" => "post_ffw_norm",
        "mlp.gate_proj" => "ffn_gate",
        "mlp.up_proj" | "mlp.gate_up_proj" | "mlp.dense_h_to_4h" => "ffn_up",
        "mlp.down_proj" | "mlp.dense_4h_to_h" => "ffn_down",
        "mlp.gate" | "mlp.router" => "ffn_gate_inp",
        other => panic!("{other}"),
    };
    format!("blk.{layer}.{part}.{what}")
}

/// Adds the vocabulary of a `tokenizer.json` of byte pairs, split the way that `pre` names.
pub(crate) fn vocabulary(file: &mut File, tokenizer: &Json, pre: &str) {
    let mut tokens: Vec<(u64, String, i32)> = tokenizer["model"]["vocab"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(text, id)| (id.as_u64().unwrap(), text.clone(), 1))
        .collect();
    for added in tokenizer["added_tokens"].as_array().unwrap() {
        let kind = if added["special"] == true { 3 } else { 4 };
        let id = added["id"].as_u64().unwrap();
        tokens.retain(|(other, ..)| *other != id);
        tokens.push((id, added["content"].as_str().unwrap().to_owned(), kind));
    }
    tokens.sort();
    let mut texts = Vec::new();
    let mut kinds = Vec::new();
    for (id, text, kind) in tokens {
        // The converter fills gaps up.
        while (texts.len() as u64) < id {
            texts.push(format!("[PAD{}]", texts.len()));
            kinds.push(5);
        }
        texts.push(text);
        kinds.push(kind);
    }
    let merges = tokenizer["model"]["merges"].as_array().unwrap();
    let merges = merges.iter().map(|merge| match merge {
        Json::String(pair) => pair.clone(),
        pair => format!(
            "{} {}",
            pair[0].as_str().unwrap(),
            pair[1].as_str().unwrap()
        ),
    });
    file.set("tokenizer.ggml.model", Value::Text("gpt2".into()));
    file.set("tokenizer.ggml.pre", Value::Text(pre.into()));
    file.set("tokenizer.ggml.tokens", Value::Texts(texts));
    file.set("tokenizer.ggml.token_type", Value::I32s(kinds));
    file.set("tokenizer.ggml.merges", Value::Texts(merges.collect()));
}
