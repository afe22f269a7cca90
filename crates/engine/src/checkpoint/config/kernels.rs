//! What our CUDA kernels know of a model. All else is beyond them: candle's operations run it, or nothing does on a GPU.
//!
//! Everything that can make two decoders differ is named here, so that something new is not taken for something that the kernels ignore: a
//! new field does not compile until it is put on one side, a new part of a layer is beyond them until it is listed.

use super::{
    Biases, Experts, FullLayers, ModelConfig, PositionScale, Recurrent, RecurrentShape, Rope,
    RopeScaling, Scores, SecondRope,
};
use crate::checkpoint::families::{Family, HeadNorms, Part, Unrotated};

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
            full_layers,
            sharing,
            layer_inputs,
            position_scale,
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
            result_scale: _,
            logit_scale: _,
            score_scale: _,
            score_softcap: _,
            logit_softcap: _,
            windows: _,
            quantization: _,
            layers_ahead: _,
            // A kernel each, or a form of one.
            activation: _,
            head_norms: _,
            keys_are_values: _,
            tie_embeddings: _,
            eos_token_ids: _,
        } = self;
        // Angles come from a table; pairs are put half a head apart when weights are loaded, and what is not rotated turns by zero.
        let all = |rope: &Rope| {
            let Rope {
                theta: _,
                dims: _,
                interleaved: _,
                scaling:
                    RopeScaling::None
                    | RopeScaling::Linear { .. }
                    | RopeScaling::Proportional { .. }
                    | RopeScaling::Llama3 { .. }
                    | RopeScaling::Yarn { .. }
                    | RopeScaling::LongRope { .. },
            } = rope;
        };
        all(rope);
        if let Some(SecondRope { rope, layers: _ }) = second_rope {
            all(rope);
        }
        if sharing.is_some() || layer_inputs.is_some() {
            return Some("inputs of each layer, or layers with another's keys");
        }
        if let Some(PositionScale {
            beta: _,
            original_positions: _,
        }) = position_scale
        {}
        if let Some(FullLayers {
            layers: _,
            kv_heads: _,
            head_dim: _,
            keys_are_values: _,
        }) = full_layers
        {}
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
        if let Some(experts) = experts {
            let Experts {
                count: _,
                per_token: _,
                intermediate: _,
                normalise: _,
                scores,
                scale: _,
                shared: _,
                first: _,
                beside_dense: _,
                mxfp4: _,
                together: _,
            } = experts;
            if *scores == Scores::Softmax && family.has(Part::RouterCorrection) {
                return Some("a softmax whose experts are chosen by other numbers");
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
            gguf_yarn_factor: _,
            gguf_true: _,
            layers_ahead: _,
            // Part of the configuration.
            qkv_bias: _,
            output_bias: _,
            feed_forward_bias: _,
            windows: _,
            full_layers: _,
            shares_keys: _,
            ends_full: _,
            experts: _,
            gate: _,
            embedding_scale: _,
            result_scale: _,
            logit_scale: _,
            score_scale: _,
            score_softcap: _,
            logit_softcap: _,
            window_theta: _,
            proportional: _,
            scales_by_position: _,
            unrotated: Unrotated::Never | Unrotated::Listed | Unrotated::BesideWindows,
            // Forms of kernels.
            head_norms: HeadNorms::ByHead | HeadNorms::AfterRotation | HeadNorms::Together,
            norms_values: _,
            gates_heads: _,
            // Folded into the weights when they are loaded.
            zero_centred: _,
        } = self;
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
            | Part::LayerScale
            | Part::DenseResultNorm
            | Part::ExpertsNorm
            | Part::ExpertsResultNorm
            | Part::RouterScale
            | Part::ExpertScales
            | Part::RouterCorrection
            | Part::ExpertGateUp
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
            // Those of models that have them are refused by the configuration.
            | Part::InputTable
            | Part::InputProjection
            | Part::InputNorm
            | Part::InputGate
            | Part::InputOutput
            | Part::InputResultNorm
    )
}
