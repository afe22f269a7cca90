//! What our CUDA kernels know of a model. All else is beyond them: candle's operations run it, or nothing does on a GPU.
//!
//! Everything that can make two decoders differ is named here, so that something new is not taken for something that the kernels ignore: a
//! new field does not compile until it is put on one side, a new part of a layer is beyond them until it is listed.

use super::{Biases, Experts, ModelConfig, Recurrent, RecurrentShape, Rope, Scores, SecondRope};
use crate::checkpoint::families::{Family, HeadNorms, Part};

impl ModelConfig {
    /// What our CUDA kernels do not compute.
    pub(crate) fn beyond_kernels(&self) -> Option<&'static str> {
        let Self {
            family,
            second_rope,
            rope,
            recurrent,
            experts,
            biases,
            position_scale,
            head_norms,
            result_scale,
            logit_scale,
            keys_are_values,
            full_layers,
            // Sizes, and numbers that kernels take as they are.
            text_part: _,
            vocab: _,
            hidden: _,
            intermediate: _,
            layers: _,
            heads: _,
            kv_heads: _,
            head_dim: _,
            max_positions: _,
            rms_norm_eps: _,
            embedding_scale: _,
            score_scale: _,
            score_softcap: _,
            logit_softcap: _,
            windows: _,
            quantization: _,
            layers_ahead: _,
            // A kernel each.
            activation: _,
            tie_embeddings: _,
            eos_token_ids: _,
        } = self;
        // Angles come from a table; pairs are put half a head apart when weights are loaded.
        let all = |rope: &Rope| {
            let Rope {
                theta: _,
                dims: _,
                interleaved: _,
                scaling: _,
            } = rope;
        };
        all(rope);
        if let Some(SecondRope { rope, layers: _ }) = second_rope {
            all(rope);
            if rope.dims == 0 {
                return Some("layers without rotation");
            }
        }
        let Biases {
            qkv: _,
            output: _,
            feed_forward: _,
        } = biases;
        if let Some(Recurrent { shape, layers: _ }) = recurrent {
            let RecurrentShape {
                layers: _,
                key_heads: _,
                value_heads: _,
                key_dim: _,
                value_dim: _,
                taps: _,
                converted: _,
            } = shape;
        }
        let one = |scale: f64| (scale - 1.0).abs() < 1e-12;
        if position_scale.is_some() {
            return Some("queries scaled by their position");
        }
        if *head_norms && family.head_norms != HeadNorms::ByHead {
            return Some("norms of heads after rotation, or of all together");
        }
        if *keys_are_values || full_layers.is_some() {
            return Some("layers with heads of another width, or whose values are their keys");
        }
        if !one(*result_scale) || !one(*logit_scale) {
            return Some("a scale of results or logits");
        }
        if let Some(experts) = experts {
            let Experts {
                count: _,
                per_token: _,
                intermediate: _,
                normalise: _,
                scores,
                scale,
                shared,
                first,
                beside_dense,
                mxfp4: _,
                together: _,
            } = experts;
            if *scores != Scores::Softmax || !one(*scale) {
                return Some("a router of sigmoids, or with a scale");
            }
            if shared.is_some() && !family.has(Part::SharedWeight) {
                return Some("experts that work on every token with the same weight");
            }
            if *beside_dense {
                return Some("experts beside a dense layer");
            }
            if *first > 0 {
                return Some("layers without experts before those with them");
            }
        }
        family.beyond_kernels()
    }
}

impl Family {
    fn beyond_kernels(&self) -> Option<&'static str> {
        let Self {
            name: _,
            tensors,
            norms_values,
            gates_heads: _,
            head_norms: _,
            // How files are read.
            classes: _,
            model_types: _,
            gguf: _,
            layers: _,
            renamed: _,
            defaults: _,
            fixed: _,
            without_effect: _,
            divides_width: _,
            own_keys: _,
            theta: _,
            theta_ratio: _,
            rotates_neighbours: _,
            must_stretch: _,
            rotary_width: _,
            stretches_base: _,
            stretches_full_layers: _,
            head_norms_key: _,
            gguf_lacks: _,
            gguf_rope: _,
            gguf_pairs: _,
            gguf_numbers: _,
            gguf_wide_scores: _,
            gguf_gating: _,
            gguf_true: _,
            layers_ahead: _,
            // Part of the configuration.
            qkv_bias: _,
            output_bias: _,
            feed_forward_bias: _,
            windows: _,
            experts: _,
            gate: _,
            embedding_scale: _,
            score_scale: _,
            score_softcap: _,
            logit_softcap: _,
            window_theta: _,
            scales_by_position: _,
            unrotated: _,
            full_layers: _,
            ends_full: _,
            proportional: _,
            result_scale: _,
            logit_scale: _,
            // Folded into the weights when they are loaded.
            zero_centred: _,
        } = self;
        if *norms_values {
            return Some("norms of values");
        }
        if !self.has(Part::AttentionNorm) || !self.has(Part::FeedForwardNorm) {
            return Some("layers without norms before their parts");
        }
        let projection = self.in_layer(0, Part::DeltaQueryKeyValue);
        if projection.is_some() && projection == self.in_layer(0, Part::DeltaGate) {
            return Some("projections of recurrent layers in one matrix");
        }
        let mut parts = tensors.iter().copied().flatten();
        let beyond = parts.any(|(part, ..)| !known(*part));
        beyond.then_some("a part of its layers")
    }
}

/// Whether the kernels compute a part of a layer.
fn known(part: Part) -> bool {
    matches!(
        part,
        Part::Embedding
            | Part::Norm
            | Part::Head
            | Part::AttentionNorm
            | Part::Query
            | Part::Key
            | Part::Value
            | Part::QueryKeyValue
            | Part::QueryNorm
            | Part::KeyNorm
            | Part::Sinks
            | Part::AttentionOutput
            | Part::AttentionResultNorm
            | Part::FeedForwardNorm
            | Part::Gate
            | Part::Up
            | Part::GateUp
            | Part::Down
            | Part::FeedForwardResultNorm
            | Part::Router
            | Part::ExpertGate
            | Part::ExpertUp
            | Part::ExpertDown
            | Part::ExpertsGateUp
            | Part::ExpertsDown
            | Part::SharedGate
            | Part::SharedUp
            | Part::SharedDown
            | Part::SharedWeight
            | Part::DeltaQueryKeyValue
            | Part::DeltaGate
            | Part::DeltaStep
            | Part::DeltaStepBias
            | Part::DeltaRate
            | Part::DeltaBeta
            | Part::DeltaConvolution
            | Part::DeltaNorm
            | Part::DeltaOutput
    )
}
