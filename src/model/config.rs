//! `config.json`: what a checkpoint is, as far as this decoder can run it.
//!
//! A key that would change the result and is not supported is an error that names the key; nothing is ignored in silence
//! that matters. Keys are those of Hugging Face transformers, versions 4 and 5.

use serde_json::Value;

use super::{ModelError, ModelSource};

/// The configuration file's name in a model folder.
pub const CONFIG_FILE: &str = "config.json";

/// Model families this decoder runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Architecture {
    /// Qwen3, dense: RMS norm on queries and keys by head (<https://arxiv.org/abs/2505.09388>).
    Qwen3,
    /// Qwen3 with a mixture of experts in every layer.
    Qwen3Moe,
    /// Llama 3 and its like (<https://arxiv.org/abs/2407.21783>).
    Llama,
}

impl Architecture {
    /// Whether queries and keys have an RMS norm by head.
    pub fn norms_heads(self) -> bool {
        matches!(self, Self::Qwen3 | Self::Qwen3Moe)
    }
}

/// Names a checkpoint may give itself: `architectures[0]`, `model_type`, and what it is.
const ARCHITECTURES: [(&str, &str, Architecture); 3] = [
    ("Qwen3ForCausalLM", "qwen3", Architecture::Qwen3),
    ("Qwen3MoeForCausalLM", "qwen3_moe", Architecture::Qwen3Moe),
    ("LlamaForCausalLM", "llama", Architecture::Llama),
];

/// The experts of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Experts {
    /// Experts in a layer, `num_experts`.
    pub count: usize,
    /// Experts that work on a token, `num_experts_per_tok`.
    pub per_token: usize,
    /// Width of an expert, `moe_intermediate_size`.
    pub intermediate: usize,
    /// Whether the weights of a token's experts are scaled to sum to 1, `norm_topk_prob`.
    pub normalise: bool,
}

/// How rotary angles are stretched for contexts longer than the original ones: Llama 3.1's way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RopeScaling {
    /// Low frequencies are divided by this, `factor`.
    pub factor: f64,
    /// Frequencies with fewer turns over the original context than this are low, `low_freq_factor`.
    pub low_turns: f64,
    /// Frequencies with more turns than this stay, `high_freq_factor`; those between are blended.
    pub high_turns: f64,
    /// The original context, `original_max_position_embeddings`.
    pub original_positions: f64,
}

/// The sizes and constants of a decoder.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelConfig {
    /// The family.
    pub architecture: Architecture,
    /// Token ids, `vocab_size`.
    pub vocab: usize,
    /// Width of the residual stream, `hidden_size`.
    pub hidden: usize,
    /// Width of the feed-forward layer, `intermediate_size`.
    pub intermediate: usize,
    /// Layers, `num_hidden_layers`.
    pub layers: usize,
    /// Query heads, `num_attention_heads`.
    pub heads: usize,
    /// Key and value heads, `num_key_value_heads`.
    pub kv_heads: usize,
    /// Width of a head; not always `hidden / heads`.
    pub head_dim: usize,
    /// Positions the model was made for, `max_position_embeddings`.
    pub max_positions: usize,
    /// Epsilon of the norms, `rms_norm_eps`.
    pub rms_norm_eps: f64,
    /// Base of the rotary embedding.
    pub rope_theta: f64,
    /// Its stretching, where there is one.
    pub rope_scaling: Option<RopeScaling>,
    /// The experts of every layer, in place of a feed-forward layer of width [`Self::intermediate`].
    pub experts: Option<Experts>,
    /// Whether the output head is the embedding table.
    pub tie_embeddings: bool,
    /// Whether the attention projections have biases.
    pub attention_bias: bool,
    /// Tokens that end a generation: `generation_config.json`'s where there is one, else `config.json`'s.
    pub eos_token_ids: Vec<u32>,
}

impl ModelConfig {
    /// Numbers in the model, each tied one counted once.
    pub fn parameters(&self) -> usize {
        let queries = self.heads * self.head_dim;
        let keys = self.kv_heads * self.head_dim;
        let biases = if self.attention_bias {
            queries + 2 * keys + self.hidden
        } else {
            0
        };
        let norms = if self.architecture.norms_heads() {
            2 * self.head_dim
        } else {
            0
        };
        let attention = self.hidden * (2 * queries + 2 * keys) + biases + norms;
        let feed_forward = match &self.experts {
            None => 3 * self.hidden * self.intermediate,
            Some(experts) => experts.count * self.hidden * (3 * experts.intermediate + 1),
        };
        let layer = attention + feed_forward + 2 * self.hidden;
        let embeddings = if self.tie_embeddings { 1 } else { 2 } * self.vocab * self.hidden;
        embeddings + self.layers * layer + self.hidden
    }

    /// Weights that a token is multiplied with in the layers: without embeddings, head and the experts it does not see.
    /// A token costs two floating-point operations for each, attention aside.
    pub fn active_layer_parameters(&self) -> usize {
        let (queries, keys) = (self.heads * self.head_dim, self.kv_heads * self.head_dim);
        let attention = self.hidden * (2 * queries + 2 * keys);
        let feed_forward = match &self.experts {
            None => 3 * self.hidden * self.intermediate,
            Some(experts) => {
                self.hidden * (3 * experts.intermediate * experts.per_token + experts.count)
            }
        };
        self.layers * (attention + feed_forward)
    }

    /// Reads `config.json`, and the end tokens of `generation_config.json`, of a model.
    ///
    /// # Errors
    /// [`ModelError::Config`] naming the key, or the file's own error.
    pub fn load(source: &ModelSource) -> Result<Self, ModelError> {
        let path = source.describe(CONFIG_FILE);
        let mut config = Self::parse(&source.read_text(CONFIG_FILE)?, &path)?;
        let generation = "generation_config.json";
        if source.has(generation) {
            let path = source.describe(generation);
            let value: Value =
                serde_json::from_str(&source.read_text(generation)?).map_err(|error| {
                    ModelError::Config {
                        path: path.clone(),
                        message: format!("not JSON: {error}"),
                    }
                })?;
            let ids = Keys {
                value: &value,
                path: &path,
            }
            .token_ids("eos_token_id")?;
            if !ids.is_empty() {
                config.eos_token_ids = ids;
            }
        }
        Ok(config)
    }

    /// Reads the text of a `config.json`; `path` is what messages call it.
    ///
    /// # Errors
    /// [`ModelError::Config`] naming the key.
    pub fn parse(text: &str, path: &str) -> Result<Self, ModelError> {
        let value: Value = serde_json::from_str(text).map_err(|error| ModelError::Config {
            path: path.into(),
            message: format!("not JSON: {error}"),
        })?;
        let keys = Keys {
            value: &value,
            path,
        };
        let architecture = keys.architecture()?;
        keys.refuse_unsupported(architecture)?;
        let (hidden, heads) = (keys.size("hidden_size")?, keys.size("num_attention_heads")?);
        let head_dim = match keys.get("head_dim") {
            None if architecture == Architecture::Llama && hidden.is_multiple_of(heads) => {
                hidden / heads
            }
            _ => keys.size("head_dim")?,
        };
        let config = Self {
            architecture,
            vocab: keys.size("vocab_size")?,
            hidden,
            intermediate: keys.size("intermediate_size")?,
            layers: keys.size("num_hidden_layers")?,
            heads,
            kv_heads: keys.size("num_key_value_heads")?,
            head_dim,
            max_positions: keys.size("max_position_embeddings")?,
            rms_norm_eps: keys.positive("rms_norm_eps", keys.get("rms_norm_eps"))?,
            rope_theta: keys.rope_theta()?,
            rope_scaling: keys.rope_scaling()?,
            experts: keys.experts(architecture)?,
            tie_embeddings: keys.flag("tie_word_embeddings", false)?,
            attention_bias: keys.flag("attention_bias", false)?,
            eos_token_ids: keys.token_ids("eos_token_id")?,
        };
        if !config.heads.is_multiple_of(config.kv_heads) {
            return keys.fail(format!(
                "num_attention_heads ({}) is not a multiple of num_key_value_heads ({})",
                config.heads, config.kv_heads
            ));
        }
        if !config.head_dim.is_multiple_of(2) {
            return keys.fail(format!(
                "head_dim is {}, but the rotary embedding needs an even one",
                config.head_dim
            ));
        }
        Ok(config)
    }
}

/// A JSON object with the path that its error messages name.
struct Keys<'a> {
    value: &'a Value,
    path: &'a str,
}

impl Keys<'_> {
    fn fail<T>(&self, message: impl Into<String>) -> Result<T, ModelError> {
        Err(ModelError::Config {
            path: self.path.into(),
            message: message.into(),
        })
    }

    /// A key's value; absent and null are the same.
    fn get(&self, key: &str) -> Option<&Value> {
        self.value.get(key).filter(|value| !value.is_null())
    }

    fn size(&self, key: &str) -> Result<usize, ModelError> {
        match self.get(key).map(Value::as_u64) {
            // Products of any three sizes then fit in 64 bits.
            Some(Some(size)) if (1..1 << 21).contains(&size) => Ok(size as usize),
            Some(_) => self.fail(format!("{key} is {}, not a size", self.value[key])),
            None => self.fail(format!("no {key}")),
        }
    }

    fn positive(&self, key: &str, value: Option<&Value>) -> Result<f64, ModelError> {
        match value.map(Value::as_f64) {
            Some(Some(number)) if number > 0.0 && number.is_finite() => Ok(number),
            Some(_) => self.fail(format!("{key} is not a positive number")),
            None => self.fail(format!("no {key}")),
        }
    }

    fn flag(&self, key: &str, default: bool) -> Result<bool, ModelError> {
        match self.get(key) {
            None => Ok(default),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(value) => self.fail(format!("{key} is {value}, not true or false")),
        }
    }

    fn token_ids(&self, key: &str) -> Result<Vec<u32>, ModelError> {
        let one = |value: &Value| value.as_u64().and_then(|id| u32::try_from(id).ok());
        let ids = match self.get(key) {
            None => Some(Vec::new()),
            Some(Value::Array(ids)) => ids.iter().map(one).collect(),
            Some(id) => one(id).map(|id| vec![id]),
        };
        ids.map_or_else(
            || {
                self.fail(format!(
                    "{key} is {}, not a token id or a list of them",
                    self.value[key]
                ))
            },
            Ok,
        )
    }

    fn architecture(&self) -> Result<Architecture, ModelError> {
        let class = self
            .get("architectures")
            .and_then(|list| list.get(0))
            .and_then(Value::as_str);
        let kind = self.get("model_type").and_then(Value::as_str);
        let known = ARCHITECTURES
            .iter()
            .find(|(name, model_type, _)| match class {
                Some(class) => class == *name,
                None => kind == Some(*model_type),
            });
        if let Some((_, _, architecture)) = known {
            return Ok(*architecture);
        }
        let supported: Vec<&str> = ARCHITECTURES.iter().map(|(name, ..)| *name).collect();
        self.fail(format!(
            "architecture {} is not supported; supported: {}",
            class
                .or(kind)
                .unwrap_or("(neither `architectures` nor `model_type` is given)"),
            supported.join(", ")
        ))
    }

    /// transformers 4 writes `rope_theta`, transformers 5 `rope_parameters`.
    fn rope_theta(&self) -> Result<f64, ModelError> {
        let nested = self
            .get("rope_parameters")
            .and_then(|parameters| parameters.get("rope_theta"));
        self.positive("rope_theta", self.get("rope_theta").or(nested))
    }

    /// Llama 3.1's stretching of rotary angles, under either generation's key.
    fn rope_scaling(&self) -> Result<Option<RopeScaling>, ModelError> {
        for key in ["rope_scaling", "rope_parameters"] {
            let Some(rope) = self.get(key) else { continue };
            let kind = rope.get("rope_type").or_else(|| rope.get("type"));
            if kind.is_some_and(|kind| kind == "llama3") {
                let number = |name: &str| self.positive(&format!("{key}.{name}"), rope.get(name));
                let scaling = RopeScaling {
                    factor: number("factor")?,
                    low_turns: number("low_freq_factor")?,
                    high_turns: number("high_freq_factor")?,
                    original_positions: number("original_max_position_embeddings")?,
                };
                if scaling.high_turns <= scaling.low_turns {
                    return self.fail(format!(
                        "{key}.high_freq_factor must be above low_freq_factor"
                    ));
                }
                return Ok(Some(scaling));
            }
        }
        Ok(None)
    }

    /// The experts of a family that has them; those of another are refused elsewhere.
    fn experts(&self, architecture: Architecture) -> Result<Option<Experts>, ModelError> {
        if architecture != Architecture::Qwen3Moe {
            return Ok(None);
        }
        let experts = Experts {
            count: self.size("num_experts")?,
            per_token: self.size("num_experts_per_tok")?,
            intermediate: self.size("moe_intermediate_size")?,
            normalise: self.flag("norm_topk_prob", false)?,
        };
        if experts.per_token > experts.count {
            return self.fail(format!(
                "num_experts_per_tok ({}) is more than num_experts ({})",
                experts.per_token, experts.count
            ));
        }
        let dense = self
            .get("mlp_only_layers")
            .is_some_and(|layers| layers.as_array().is_none_or(|layers| !layers.is_empty()));
        if dense {
            return self.fail("mlp_only_layers: layers without experts are not supported");
        }
        if self
            .get("decoder_sparse_step")
            .is_some_and(|step| *step != 1)
        {
            return self
                .fail("decoder_sparse_step must be 1: layers without experts are not supported");
        }
        Ok(Some(experts))
    }

    /// Fails on the first key that would change the result and that this decoder does not follow.
    fn refuse_unsupported(&self, architecture: Architecture) -> Result<(), ModelError> {
        for key in ["rope_scaling", "rope_parameters"] {
            let kind = self
                .get(key)
                .map(|rope| rope.get("rope_type").or_else(|| rope.get("type")));
            if let Some(kind) = kind
                && kind.is_none_or(|kind| kind != "default" && kind != "llama3")
                && !(key == "rope_parameters" && kind.is_none())
            {
                return self.fail(format!(
                    "{key} {} is not supported, only the default rotary embedding and llama3's",
                    self.value[key]
                ));
            }
            if let Some(factor) = self
                .get(key)
                .and_then(|rope| rope.get("partial_rotary_factor"))
                && factor.as_f64() != Some(1.0)
            {
                return self.fail(format!(
                    "{key}.partial_rotary_factor {factor} is not supported"
                ));
            }
        }
        let activation = self.get("hidden_act");
        if activation.is_some_and(|activation| activation != "silu") {
            return self.fail(format!(
                "hidden_act {} is not supported, only \"silu\"",
                self.value["hidden_act"]
            ));
        }
        if let Some(Value::Array(kinds)) = self.get("layer_types")
            && let Some(kind) = kinds.iter().find(|kind| *kind != "full_attention")
        {
            return self.fail(format!(
                "layer_types holds {kind}, only \"full_attention\" is supported"
            ));
        }
        for key in [
            "use_sliding_window",
            "mlp_bias",
            "is_encoder_decoder",
            "add_cross_attention",
        ] {
            if self.flag(key, false)? {
                return self.fail(format!("{key} is not supported"));
            }
        }
        // Present and not null: another computation, or another file format.
        for key in [
            "quantization_config",
            "attn_logit_softcapping",
            "final_logit_softcapping",
            "logits_scaling",
            "embedding_multiplier",
            "residual_multiplier",
            "attention_multiplier",
            "num_experts",
            "num_local_experts",
        ] {
            let expected = key == "num_experts" && architecture == Architecture::Qwen3Moe;
            if let Some(value) = self.get(key).filter(|_| !expected) {
                return self.fail(format!("{key} ({value}) is not supported"));
            }
        }
        if let Some(factor) = self.get("partial_rotary_factor")
            && factor.as_f64() != Some(1.0)
        {
            return self.fail(format!("partial_rotary_factor {factor} is not supported"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Architecture, ModelConfig};

    fn config() -> Value {
        json!({
            "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "vocab_size": 100, "hidden_size": 32,
            "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
            "head_dim": 16, "max_position_embeddings": 512, "rms_norm_eps": 1e-6, "rope_theta": 1e6, "eos_token_id": [1, 2],
            "hidden_act": "silu", "rope_scaling": null, "use_sliding_window": false, "tie_word_embeddings": true,
        })
    }

    fn parse(value: &Value) -> Result<ModelConfig, String> {
        ModelConfig::parse(&value.to_string(), "config.json").map_err(|error| error.to_string())
    }

    #[test]
    fn both_generations_of_transformers() {
        let four = parse(&config()).unwrap();
        assert_eq!(
            (four.architecture, four.rope_theta),
            (Architecture::Qwen3, 1e6)
        );
        assert_eq!(four.eos_token_ids, [1, 2]);
        let mut five = config();
        five.as_object_mut().unwrap().remove("rope_theta");
        five["rope_parameters"] = json!({"rope_theta": 1e6, "rope_type": "default"});
        five["layer_types"] = json!(["full_attention", "full_attention"]);
        assert_eq!(parse(&five).unwrap(), four);
    }

    #[test]
    fn what_would_change_the_result_is_named() {
        for (key, value) in [
            ("rope_scaling", json!({"rope_type": "yarn", "factor": 4.0})),
            (
                "rope_parameters",
                json!({"rope_theta": 1e6, "rope_type": "longrope"}),
            ),
            ("use_sliding_window", json!(true)),
            ("hidden_act", json!("gelu")),
            ("quantization_config", json!({"bits": 4})),
            ("layer_types", json!(["sliding_attention"])),
            ("partial_rotary_factor", json!(0.5)),
            ("head_dim", json!(15)),
            ("num_key_value_heads", json!(3)),
            ("hidden_size", json!(1e18)),
            ("vocab_size", json!(-1)),
            ("rms_norm_eps", json!("small")),
            ("eos_token_id", json!("<|end|>")),
        ] {
            let mut changed = config();
            changed[key] = value;
            let message = parse(&changed).unwrap_err();
            assert!(message.contains(key), "{key}: {message}");
        }
        for key in ["vocab_size", "head_dim", "rope_theta", "rms_norm_eps"] {
            let mut lacking = config();
            lacking.as_object_mut().unwrap().remove(key);
            assert!(parse(&lacking).unwrap_err().contains(key));
        }
    }

    #[test]
    fn llama_without_a_head_width_and_with_stretched_angles() {
        let mut llama = config();
        llama["architectures"] = json!(["LlamaForCausalLM"]);
        llama.as_object_mut().unwrap().remove("head_dim");
        llama["rope_scaling"] = json!({"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
            "high_freq_factor": 4.0, "original_max_position_embeddings": 8192});
        let parsed = parse(&llama).unwrap();
        assert_eq!(
            (parsed.architecture, parsed.head_dim),
            (Architecture::Llama, 8)
        );
        let original = parsed.rope_scaling.unwrap().original_positions;
        assert!((original - 8192.0).abs() < 1e-9);
        llama["rope_scaling"]["factor"] = json!(-1);
        assert!(parse(&llama).unwrap_err().contains("rope_scaling.factor"));
    }

    #[test]
    fn experts_are_read_and_layers_without_them_refused() {
        let mut mixture = config();
        mixture["architectures"] = json!(["Qwen3MoeForCausalLM"]);
        assert!(parse(&mixture).unwrap_err().contains("num_experts"));
        mixture["num_experts"] = json!(8);
        mixture["num_experts_per_tok"] = json!(2);
        mixture["moe_intermediate_size"] = json!(16);
        mixture["norm_topk_prob"] = json!(true);
        let experts = parse(&mixture).unwrap().experts.unwrap();
        assert_eq!(
            (experts.count, experts.per_token, experts.normalise),
            (8, 2, true)
        );
        for (key, value) in [
            ("mlp_only_layers", json!([0])),
            ("decoder_sparse_step", json!(2)),
            ("num_experts_per_tok", json!(9)),
        ] {
            let mut changed = mixture.clone();
            changed[key] = value;
            assert!(parse(&changed).unwrap_err().contains(key));
        }
        let mut dense = config();
        dense["num_experts"] = json!(8);
        assert!(parse(&dense).unwrap_err().contains("num_experts"));
    }

    #[test]
    fn an_unknown_architecture_lists_the_known() {
        let mut other = config();
        other["architectures"] = json!(["MambaForCausalLM"]);
        let message = parse(&other).unwrap_err();
        assert!(
            message.contains("MambaForCausalLM") && message.contains("Qwen3ForCausalLM"),
            "{message}"
        );
    }
}
