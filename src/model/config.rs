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
}

/// Names a checkpoint may give itself: `architectures[0]`, `model_type`, and what it is.
const ARCHITECTURES: [(&str, &str, Architecture); 1] =
    [("Qwen3ForCausalLM", "qwen3", Architecture::Qwen3)];

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
        let attention = self.hidden * (2 * queries + 2 * keys) + biases + 2 * self.head_dim;
        let layer = attention + 3 * self.hidden * self.intermediate + 2 * self.hidden;
        let embeddings = if self.tie_embeddings { 1 } else { 2 } * self.vocab * self.hidden;
        embeddings + self.layers * layer + self.hidden
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
        keys.refuse_unsupported()?;
        let config = Self {
            architecture,
            vocab: keys.size("vocab_size")?,
            hidden: keys.size("hidden_size")?,
            intermediate: keys.size("intermediate_size")?,
            layers: keys.size("num_hidden_layers")?,
            heads: keys.size("num_attention_heads")?,
            kv_heads: keys.size("num_key_value_heads")?,
            head_dim: keys.size("head_dim")?,
            max_positions: keys.size("max_position_embeddings")?,
            rms_norm_eps: keys.positive("rms_norm_eps", keys.get("rms_norm_eps"))?,
            rope_theta: keys.rope_theta()?,
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

    /// Fails on the first key that would change the result and that this decoder does not follow.
    fn refuse_unsupported(&self) -> Result<(), ModelError> {
        for key in ["rope_scaling", "rope_parameters"] {
            let kind = self
                .get(key)
                .map(|rope| rope.get("rope_type").or_else(|| rope.get("type")));
            if let Some(kind) = kind
                && kind.is_none_or(|kind| kind != "default")
                && !(key == "rope_parameters" && kind.is_none())
            {
                return self.fail(format!(
                    "{key} {} is not supported, only the default rotary embedding",
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
            if let Some(value) = self.get(key) {
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
                json!({"rope_theta": 1e6, "rope_type": "llama3"}),
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
