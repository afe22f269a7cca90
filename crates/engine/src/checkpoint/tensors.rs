//! A checkpoint's tensors: names by family, which must exist, and their shapes.

use super::ModelConfig;
use super::config::{Experts, RecurrentShape};
use super::families::{Family, Part};
use crate::checkpoint::{CheckpointError, Result};

/// The names of the tensors outside of layers.
pub(crate) struct Names {
    /// `[vocab, hidden]`
    pub(crate) embedding: String,
    /// `[hidden]`
    pub(crate) norm: String,
    /// `[vocab, hidden]`, where it is not the embedding.
    pub(crate) head: String,
    /// Of what each layer gets of a token: the table, `[rows, layers · width]`, the norm, `[width]`, and the projection, without `.weight`.
    pub(crate) inputs: [String; 3],
}

/// The names of a layer's tensors; those of linear layers without `.weight` and `.bias`. Where there are several, their outputs are concatenated.
pub(crate) struct LayerNames {
    /// The norm before attention, unless there is one behind it alone.
    pub(crate) attention_norm: Option<String>,
    pub(crate) qkv: Vec<String>,
    /// Norms of queries and of keys; the latter is not there in a layer without keys.
    pub(crate) head_norms: Option<[String; 2]>,
    pub(crate) sinks: Option<String>,
    pub(crate) output: String,
    /// What a recurrent layer has in place of the four before.
    pub(crate) delta: Option<DeltaNames>,
    pub(crate) attention_result_norm: Option<String>,
    /// The norm before the feed-forward layer, unless there is one behind it alone.
    pub(crate) feed_forward_norm: Option<String>,
    pub(crate) feed_forward: FeedForwardNames,
    pub(crate) feed_forward_result_norm: Option<String>,
    /// What the layer's result is multiplied with, `[1]`.
    pub(crate) scale: Option<String>,
    /// How the layer takes its input in, if layers have any: the gate, the way back, and the norm of the result with its `.weight`.
    pub(crate) inputs: Option<[String; 3]>,
}

/// The names of a recurrent layer's tensors. Where two projections have one name they are interleaved in one tensor, key head by key head:
/// queries, keys, values and gate; and the correction's share before the step of decay.
pub(crate) struct DeltaNames {
    pub(crate) qkv: String,
    pub(crate) gate: String,
    pub(crate) step: String,
    pub(crate) beta: String,
    /// Whole names from here on.
    pub(crate) step_bias: String,
    pub(crate) rate: String,
    pub(crate) convolution: String,
    pub(crate) norm: String,
    pub(crate) output: String,
}

/// The names of the expert that works on every token, and of the row that says with which weight if that is not 1.
pub(crate) struct SharedNames {
    pub(crate) expert: GatedNames,
    pub(crate) weight: Option<String>,
}

/// The names of what a layer has where experts work beside a dense layer.
pub(crate) struct BesideNames {
    pub(crate) dense: GatedNames,
    pub(crate) dense_result_norm: String,
    /// The norm before the experts.
    pub(crate) norm: String,
    pub(crate) result_norm: String,
    /// Whole names from here on.
    pub(crate) router_scale: String,
    pub(crate) expert_scales: String,
}

pub(crate) enum FeedForwardNames {
    Dense(GatedNames),
    Mixture(Box<MixtureNames>),
}

pub(crate) struct MixtureNames {
    pub(crate) router: String,
    /// The whole name of what is added to scores when experts are chosen.
    pub(crate) correction: Option<String>,
    pub(crate) experts: ExpertNames,
    pub(crate) shared: Option<SharedNames>,
    pub(crate) beside: Option<BesideNames>,
    pub(crate) sizes: Experts,
}

pub(crate) struct GatedNames {
    pub(crate) gate_up: Vec<String>,
    pub(crate) down: String,
}

pub(crate) enum ExpertNames {
    Apart(Vec<GatedNames>),
    /// One tensor for all experts, gate and up alternating: `[experts, hidden, 2 · width]` and `[experts, width, hidden]`,
    /// with biases; or their blocks and scales in MXFP4.
    Together {
        gate_up: String,
        down: String,
    },
}

impl DeltaNames {
    pub(crate) fn are_joined(&self) -> bool {
        self.qkv == self.gate
    }

    /// The rows of interleaved projections that are of queries, keys and values, of the gate, of the correction's share and of the step.
    pub(crate) fn joined_rows(shape: &RecurrentShape) -> [Vec<usize>; 4] {
        let RecurrentShape {
            key_heads, key_dim, ..
        } = *shape;
        let (values, heads) = (shape.values() / key_heads, shape.value_heads / key_heads);
        // Of each key head so many rows, from this one on.
        let rows = |group: usize, first: usize, count: usize| -> Vec<usize> {
            let of_head = |head| head * group + first..head * group + first + count;
            (0..key_heads).flat_map(of_head).collect()
        };
        let wide = 2 * (key_dim + values);
        let qkv = [(0, key_dim), (key_dim, key_dim), (2 * key_dim, values)];
        let qkv = qkv.map(|(first, count)| rows(wide, first, count)).concat();
        let gate = rows(wide, 2 * key_dim + values, values);
        [
            qkv,
            gate,
            rows(2 * heads, 0, heads),
            rows(2 * heads, heads, heads),
        ]
    }
}

impl Names {
    pub(crate) fn new(family: &Family) -> Self {
        let weight = |part| format!("{}.weight", family.outside(part));
        Self {
            embedding: weight(Part::Embedding),
            norm: weight(Part::Norm),
            head: weight(Part::Head),
            inputs: [
                weight(Part::InputTable),
                weight(Part::InputNorm),
                family.outside(Part::InputProjection).to_owned(),
            ],
        }
    }
}

impl LayerNames {
    pub(crate) fn new(config: &ModelConfig, layer: usize) -> Self {
        let config = &*config.at(layer);
        let family = config.family;
        let attention: &[Part] = match config.kv_heads {
            0 => &[Part::Query],
            _ if config.keys_are_values => &[Part::Query, Part::Key],
            _ => &[Part::Query, Part::Key, Part::Value],
        };
        let optional = |part| family.in_layer(layer, part);
        let at = |part| optional(part).unwrap_or_default();
        let weight = |name: String| format!("{name}.weight");
        let norm = |part| optional(part).map(weight);
        // One matrix if the family stores it so, else several.
        let joined = |whole, parts: &[Part]| match optional(whole) {
            Some(whole) => vec![whole],
            None => parts.iter().map(|part| at(*part)).collect(),
        };
        let dense = || GatedNames {
            gate_up: joined(Part::GateUp, &[Part::Gate, Part::Up]),
            down: at(Part::Down),
        };
        let feed_forward = match config.experts.filter(|experts| layer >= experts.first) {
            None => FeedForwardNames::Dense(dense()),
            Some(sizes) => FeedForwardNames::Mixture(Box::new(MixtureNames {
                router: at(Part::Router),
                correction: optional(Part::RouterCorrection),
                experts: if sizes.together {
                    ExpertNames::Together {
                        gate_up: at(Part::ExpertsGateUp),
                        down: at(Part::ExpertsDown),
                    }
                } else {
                    let experts = (0..sizes.count).map(|expert| {
                        let at = |part| at(part).replace("{}", &expert.to_string());
                        GatedNames {
                            gate_up: vec![at(Part::ExpertGate), at(Part::ExpertUp)],
                            down: at(Part::ExpertDown),
                        }
                    });
                    ExpertNames::Apart(experts.collect())
                },
                shared: sizes.shared.map(|_| SharedNames {
                    expert: GatedNames {
                        gate_up: vec![at(Part::SharedGate), at(Part::SharedUp)],
                        down: at(Part::SharedDown),
                    },
                    weight: optional(Part::SharedWeight),
                }),
                beside: sizes.beside_dense.then(|| BesideNames {
                    dense: dense(),
                    dense_result_norm: weight(at(Part::DenseResultNorm)),
                    norm: weight(at(Part::ExpertsNorm)),
                    result_norm: weight(at(Part::ExpertsResultNorm)),
                    router_scale: at(Part::RouterScale),
                    expert_scales: at(Part::ExpertScales),
                }),
                sizes,
            })),
        };
        Self {
            attention_norm: norm(Part::AttentionNorm),
            qkv: joined(Part::QueryKeyValue, attention),
            head_norms: norm(Part::QueryNorm)
                .zip(norm(Part::KeyNorm))
                .filter(|_| config.head_norms)
                .map(<[String; 2]>::from),
            sinks: optional(Part::Sinks),
            output: at(Part::AttentionOutput),
            delta: config.is_recurrent(layer).then(|| DeltaNames {
                qkv: at(Part::DeltaQueryKeyValue),
                gate: at(Part::DeltaGate),
                step: at(Part::DeltaStep),
                beta: at(Part::DeltaBeta),
                step_bias: at(Part::DeltaStepBias),
                rate: at(Part::DeltaRate),
                convolution: weight(at(Part::DeltaConvolution)),
                norm: weight(at(Part::DeltaNorm)),
                output: at(Part::DeltaOutput),
            }),
            attention_result_norm: norm(Part::AttentionResultNorm),
            feed_forward_norm: norm(Part::FeedForwardNorm),
            feed_forward,
            feed_forward_result_norm: norm(Part::FeedForwardResultNorm),
            scale: optional(Part::LayerScale),
            inputs: config.layer_inputs.map(|_| {
                [
                    at(Part::InputGate),
                    at(Part::InputOutput),
                    weight(at(Part::InputResultNorm)),
                ]
            }),
        }
    }
}

/// Whether a checkpoint may hold a tensor that the model does not use.
pub(crate) fn unused(config: &ModelConfig, name: &str) -> bool {
    // A checkpoint with tied embeddings may store the table a second time as its head, and old ones store the rotary frequencies.
    let head = Names::new(config.family).head;
    (config.tie_embeddings && name == head)
        // What guesses several tokens ahead.
        || (config.recurrent.is_some() && name.starts_with("mtp."))
        || is_ahead(config, name)
        || is_of_shared_keys(config, name)
        || name.ends_with("rotary_emb.inv_freq")
        || name.ends_with("rotary_pos_emb.inv_freq")
}

/// Whether a tensor is of a layer behind the others that guesses several tokens ahead.
fn is_ahead(config: &ModelConfig, name: &str) -> bool {
    let rest = name.strip_prefix(config.family.layers);
    let layer = rest.and_then(|rest| rest.strip_prefix('.')?.split('.').next()?.parse().ok());
    layer.is_some_and(|layer: usize| {
        (config.layers..config.layers + config.layers_ahead).contains(&layer)
    })
}

/// Whether a tensor makes keys or values of a layer that attends to another's: published files hold them all the same, and
/// transformers passes over whatever is under these modules.
pub(crate) fn is_of_shared_keys(config: &ModelConfig, name: &str) -> bool {
    const MODULES: [&str; 4] = ["k_proj", "v_proj", "k_norm", "v_norm"];
    let mut layers = config.first_sharing()..config.layers;
    layers.any(|layer| {
        let keys = config.family.in_layer(layer, Part::Key);
        let attention = keys
            .as_deref()
            .and_then(|keys| keys.strip_suffix(MODULES[0]));
        let rest = attention.and_then(|attention| name.strip_prefix(attention)?.split('.').next());
        rest.is_some_and(|module| MODULES.contains(&module))
    })
}

/// Every tensor of a checkpoint with its shape.
pub(crate) fn expected_tensors(config: &ModelConfig) -> Vec<(String, Vec<usize>)> {
    let mut tensors = Vec::new();
    let mut list = List {
        config,
        tensors: &mut tensors,
    };
    let (hidden, vocab) = (config.hidden, config.vocab);
    let names = Names::new(config.family);
    list.add(&names.embedding, &[vocab, hidden]);
    list.add(&names.norm, &[hidden]);
    if !config.tie_embeddings {
        list.add(&names.head, &[vocab, hidden]);
    }
    if let Some(inputs) = config.layer_inputs {
        let [table, norm, projection] = &names.inputs;
        let all = config.layers * inputs.width;
        list.add(table, &[inputs.rows, all]);
        list.add(norm, &[inputs.width]);
        list.linear(projection, all, hidden, false);
    }
    for layer in 0..config.layers {
        let names = LayerNames::new(config, layer);
        let own = config.at(layer);
        let mut list = List {
            config: &own,
            tensors: &mut tensors,
        };
        if let Some(scale) = &names.scale {
            list.add(scale, &[1]);
        }
        if let (Some([gate, output, norm]), Some(inputs)) = (&names.inputs, config.layer_inputs) {
            list.linear(gate, inputs.width, hidden, false);
            list.linear(output, hidden, inputs.width, false);
            list.add(norm, &[hidden]);
        }
        match (&names.delta, &config.recurrent) {
            (Some(names), Some(recurrent)) => list.delta(names, &recurrent.shape),
            _ => list.attention(&names),
        }
        let norms = [
            &names.attention_norm,
            &names.feed_forward_norm,
            &names.attention_result_norm,
            &names.feed_forward_result_norm,
        ];
        for norm in norms.into_iter().flatten() {
            list.add(norm, &[hidden]);
        }
        match &names.feed_forward {
            FeedForwardNames::Mixture(names) => {
                let sizes = &names.sizes;
                if let Some(names) = &names.beside {
                    list.gated(&names.dense, own.intermediate);
                    for norm in [&names.dense_result_norm, &names.norm, &names.result_norm] {
                        list.add(norm, &[hidden]);
                    }
                    list.add(&names.router_scale, &[hidden]);
                    list.add(&names.expert_scales, &[sizes.count]);
                }
                if let Some(correction) = &names.correction {
                    list.add(correction, &[sizes.count]);
                }
                if let (Some(shared), Some(width)) = (&names.shared, sizes.shared) {
                    list.gated(&shared.expert, width);
                    if let Some(weight) = &shared.weight {
                        list.linear(weight, 1, hidden, false);
                    }
                }
                list.linear(
                    &names.router,
                    sizes.count,
                    hidden,
                    config.biases.feed_forward,
                );
                match &names.experts {
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
            FeedForwardNames::Dense(names) => list.gated(names, own.intermediate),
        }
    }
    tensors
}

struct List<'a> {
    config: &'a ModelConfig,
    tensors: &'a mut Vec<(String, Vec<usize>)>,
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

    fn attention(&mut self, names: &LayerNames) {
        let config = self.config;
        let (q, kv) = (
            config.heads * config.head_dim,
            config.kv_heads * config.head_dim,
        );
        let queries = if config.family.gates_heads { 2 * q } else { q };
        self.parts(
            &names.qkv,
            &[queries, kv, kv],
            config.hidden,
            config.biases.qkv,
        );
        let widths = config.head_norm_widths();
        let norms = names.head_norms.iter().flatten().zip(widths);
        for (norm, width) in norms.filter(|(_, width)| *width > 0) {
            self.add(norm, &[width]);
        }
        if let Some(sinks) = &names.sinks {
            self.add(sinks, &[config.heads]);
        }
        self.linear(&names.output, config.hidden, q, config.biases.output);
    }

    fn delta(&mut self, names: &DeltaNames, shape: &RecurrentShape) {
        let (hidden, heads) = (self.config.hidden, shape.value_heads);
        if names.are_joined() {
            self.linear(&names.qkv, shape.channels() + shape.values(), hidden, false);
            self.linear(&names.beta, 2 * heads, hidden, false);
        } else {
            for (name, outputs) in [
                (&names.qkv, shape.channels()),
                (&names.gate, shape.values()),
                (&names.step, heads),
                (&names.beta, heads),
            ] {
                self.linear(name, outputs, hidden, false);
            }
        }
        self.add(&names.step_bias, &[heads]);
        self.add(&names.rate, &[heads]);
        self.add(&names.convolution, &[shape.channels(), 1, shape.taps]);
        self.add(&names.norm, &[shape.value_dim]);
        self.linear(&names.output, hidden, shape.values(), false);
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
pub(crate) fn check_sizes(config: &ModelConfig) -> Result<()> {
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
