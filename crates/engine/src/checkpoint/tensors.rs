//! A checkpoint's tensors: names by family, which must exist, and their shapes.

use super::ModelConfig;
use super::config::{Architecture, Experts};
use crate::checkpoint::CheckpointError;

/// The names of the tensors outside of layers.
pub(crate) struct Names {
    /// `[vocab, hidden]`
    pub(crate) embedding: &'static str,
    /// `[hidden]`
    pub(crate) norm: &'static str,
    /// `[vocab, hidden]`, where it is not the embedding.
    pub(crate) head: &'static str,
}

/// The names of a layer's tensors; those of linear layers without `.weight` and `.bias`. Where there are several, their outputs are concatenated.
pub(crate) struct LayerNames {
    pub(crate) attention_norm: String,
    pub(crate) qkv: Vec<String>,
    /// Norms of queries and of keys by head.
    pub(crate) head_norms: Option<[String; 2]>,
    pub(crate) sinks: Option<String>,
    pub(crate) output: String,
    /// The norm of attention's output.
    pub(crate) attention_result_norm: Option<String>,
    pub(crate) feed_forward_norm: String,
    pub(crate) feed_forward: FeedForwardNames,
    /// The norm of the feed-forward layer's output.
    pub(crate) feed_forward_result_norm: Option<String>,
}

pub(crate) enum FeedForwardNames {
    Dense(GatedNames),
    Mixture {
        router: String,
        experts: ExpertNames,
        sizes: Experts,
    },
}

/// The names of a gated layer's tensors.
pub(crate) struct GatedNames {
    /// Gate and up.
    pub(crate) gate_up: Vec<String>,
    pub(crate) down: String,
}

pub(crate) enum ExpertNames {
    /// Tensors for each expert.
    Apart(Vec<GatedNames>),
    /// One tensor for all experts, gate and up alternating: `[experts, hidden, 2 · width]` and `[experts, width, hidden]`,
    /// with biases; or their blocks and scales in MXFP4.
    Together { gate_up: String, down: String },
}

impl Names {
    pub(crate) fn new(architecture: Architecture) -> Self {
        match architecture {
            Architecture::ChatGlm => Self {
                embedding: "transformer.embedding.word_embeddings.weight",
                norm: "transformer.encoder.final_layernorm.weight",
                head: "transformer.output_layer",
            },
            _ => Self {
                embedding: "model.embed_tokens.weight",
                norm: "model.norm.weight",
                head: "lm_head",
            },
        }
    }
}

impl LayerNames {
    pub(crate) fn new(config: &ModelConfig, layer: usize) -> Self {
        let family = config.architecture;
        if family == Architecture::ChatGlm {
            return Self::chat_glm(layer);
        }
        let at = |name: &str| format!("model.layers.{layer}.{name}");
        let norm = |name: &str| at(&format!("{name}.weight"));
        let gated = |prefix: &str| {
            let at = |name: &str| at(&format!("{prefix}.{name}"));
            GatedNames {
                gate_up: if family.fuses_gate_up() {
                    vec![at("gate_up_proj")]
                } else {
                    vec![at("gate_proj"), at("up_proj")]
                },
                down: at("down_proj"),
            }
        };
        let qkv: &[&str] = if family.fuses_qkv() {
            &["qkv_proj"]
        } else {
            &["q_proj", "k_proj", "v_proj"]
        };
        let feed_forward = match (&config.experts, family) {
            (None, _) => FeedForwardNames::Dense(gated("mlp")),
            (Some(experts), _) if experts.together => FeedForwardNames::Mixture {
                router: at("mlp.router"),
                experts: ExpertNames::Together {
                    gate_up: at("mlp.experts.gate_up_proj"),
                    down: at("mlp.experts.down_proj"),
                },
                sizes: *experts,
            },
            (Some(experts), _) => FeedForwardNames::Mixture {
                router: at(if family == Architecture::GptOss {
                    "mlp.router"
                } else {
                    "mlp.gate"
                }),
                experts: ExpertNames::Apart(
                    (0..experts.count)
                        .map(|expert| gated(&format!("mlp.experts.{expert}")))
                        .collect(),
                ),
                sizes: *experts,
            },
        };
        let results = family.norms_results();
        Self {
            attention_norm: norm("input_layernorm"),
            qkv: qkv
                .iter()
                .map(|name| at(&format!("self_attn.{name}")))
                .collect(),
            head_norms: family
                .norms_heads()
                .then(|| ["q_norm", "k_norm"].map(|name| norm(&format!("self_attn.{name}")))),
            sinks: family.has_sinks().then(|| at("self_attn.sinks")),
            output: at("self_attn.o_proj"),
            attention_result_norm: results.then(|| norm("post_self_attn_layernorm")),
            feed_forward_norm: norm("post_attention_layernorm"),
            feed_forward,
            feed_forward_result_norm: results.then(|| norm("post_mlp_layernorm")),
        }
    }

    fn chat_glm(layer: usize) -> Self {
        let at = |name: &str| format!("transformer.encoder.layers.{layer}.{name}");
        Self {
            attention_norm: at("input_layernorm.weight"),
            qkv: vec![at("self_attention.query_key_value")],
            head_norms: None,
            sinks: None,
            output: at("self_attention.dense"),
            attention_result_norm: None,
            feed_forward_norm: at("post_attention_layernorm.weight"),
            feed_forward: FeedForwardNames::Dense(GatedNames {
                gate_up: vec![at("mlp.dense_h_to_4h")],
                down: at("mlp.dense_4h_to_h"),
            }),
            feed_forward_result_norm: None,
        }
    }
}

/// Whether a checkpoint may hold a tensor that the model does not use.
pub(crate) fn unused(config: &ModelConfig, name: &str) -> bool {
    // A checkpoint with tied embeddings may store the table a second time as its head, and old ones store the rotary frequencies.
    let head = Names::new(config.architecture).head;
    (config.tie_embeddings && name.strip_suffix(".weight") == Some(head))
        || name.ends_with("rotary_emb.inv_freq")
        || name.ends_with("rotary_pos_emb.inv_freq")
}

/// Every tensor of a checkpoint with its shape.
pub(crate) fn expected_tensors(config: &ModelConfig) -> Vec<(String, Vec<usize>)> {
    let mut list = List {
        config,
        tensors: Vec::new(),
    };
    let (hidden, vocab) = (config.hidden, config.vocab);
    let (q, kv) = (
        config.heads * config.head_dim,
        config.kv_heads * config.head_dim,
    );
    let names = Names::new(config.architecture);
    list.add(names.embedding, &[vocab, hidden]);
    list.add(names.norm, &[hidden]);
    if !config.tie_embeddings {
        list.add(&format!("{}.weight", names.head), &[vocab, hidden]);
    }
    for layer in 0..config.layers {
        let names = LayerNames::new(config, layer);
        list.add(&names.attention_norm, &[hidden]);
        list.parts(&names.qkv, &[q, kv, kv], hidden, config.biases.qkv);
        for norm in names.head_norms.iter().flatten() {
            list.add(norm, &[config.head_dim]);
        }
        if let Some(sinks) = &names.sinks {
            list.add(sinks, &[config.heads]);
        }
        list.linear(&names.output, hidden, q, config.biases.output);
        let norms = [
            &names.attention_result_norm,
            &names.feed_forward_result_norm,
        ];
        for norm in norms.into_iter().flatten() {
            list.add(norm, &[hidden]);
        }
        list.add(&names.feed_forward_norm, &[hidden]);
        match &names.feed_forward {
            FeedForwardNames::Mixture {
                router,
                experts,
                sizes,
            } => {
                list.add(&format!("{router}.weight"), &[sizes.count, hidden]);
                if config.biases.feed_forward {
                    list.add(&format!("{router}.bias"), &[sizes.count]);
                }
                match experts {
                    ExpertNames::Apart(experts) => {
                        for expert in experts {
                            list.gated(expert, sizes.intermediate);
                        }
                    }
                    ExpertNames::Together { gate_up, down } => {
                        list.together(gate_up, sizes, hidden, 2 * sizes.intermediate);
                        list.together(down, sizes, sizes.intermediate, hidden);
                    }
                }
            }
            FeedForwardNames::Dense(names) => list.gated(names, config.intermediate),
        }
    }
    list.tensors
}

struct List<'a> {
    config: &'a ModelConfig,
    tensors: Vec<(String, Vec<usize>)>,
}

impl List<'_> {
    fn add(&mut self, name: &str, shape: &[usize]) {
        self.tensors.push((name.to_owned(), shape.to_vec()));
    }

    fn linear(&mut self, name: &str, outputs: usize, inputs: usize, bias: bool) {
        self.add(&format!("{name}.weight"), &[outputs, inputs]);
        if bias {
            self.add(&format!("{name}.bias"), &[outputs]);
        }
    }

    /// Linear layers side by side, in a tensor each or all in one.
    fn parts(&mut self, names: &[String], outputs: &[usize], inputs: usize, bias: bool) {
        if let [one] = names {
            self.linear(one, outputs.iter().sum(), inputs, bias);
            return;
        }
        for (name, outputs) in names.iter().zip(outputs) {
            self.linear(name, *outputs, inputs, bias);
        }
    }

    fn gated(&mut self, names: &GatedNames, width: usize) {
        let (hidden, bias) = (self.config.hidden, self.config.biases.feed_forward);
        self.parts(&names.gate_up, &[width, width], hidden, bias);
        self.linear(&names.down, hidden, width, bias);
    }

    fn together(&mut self, name: &str, experts: &Experts, inputs: usize, outputs: usize) {
        if experts.mxfp4 {
            let blocks = inputs / MXFP4_BLOCK;
            self.add(
                &format!("{name}_blocks"),
                &[experts.count, outputs, blocks, MXFP4_BLOCK / 2],
            );
            self.add(&format!("{name}_scales"), &[experts.count, outputs, blocks]);
        } else {
            self.add(name, &[experts.count, inputs, outputs]);
        }
        self.add(&format!("{name}_bias"), &[experts.count, outputs]);
    }
}

/// The most tensors of a checkpoint, experts counted one by one. The largest models have some 70 thousand.
pub(crate) const MAX_TENSORS: usize = 1 << 17;

/// How many numbers share a scale in MXFP4.
pub(crate) const MXFP4_BLOCK: usize = 32;

/// Checks sizes that names and shapes alone do not.
///
/// # Errors
/// [`CheckpointError::Unsupported`] for sizes that the storage format does not allow.
pub(crate) fn check_sizes(config: &ModelConfig) -> Result<(), CheckpointError> {
    let Some(experts) = config.experts.filter(|experts| experts.mxfp4) else {
        return Ok(());
    };
    for (name, size) in [
        ("hidden_size", config.hidden),
        ("intermediate_size", experts.intermediate),
    ] {
        if !size.is_multiple_of(MXFP4_BLOCK) {
            return Err(CheckpointError::Unsupported(format!(
                "MXFP4 has blocks of {MXFP4_BLOCK}, but {name} is {size}"
            )));
        }
    }
    Ok(())
}
