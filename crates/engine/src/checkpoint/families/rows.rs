//! The table of families.

use super::{
    Bias, ExpertKeys, Factor, Family, FullLayerKeys, Gate as GateKind, HeadNorms, Part, Scores,
    Setting, SharedWidth, TensorName, Unrotated, Windows,
};

use Part::{
    AttentionNorm, AttentionOutput, AttentionResultNorm, DeltaBeta, DeltaConvolution, DeltaGate,
    DeltaNorm, DeltaOutput, DeltaQueryKeyValue, DeltaRate, DeltaStep, DeltaStepBias,
    DenseResultNorm, Down, Embedding, ExpertDown, ExpertGate, ExpertGateUp, ExpertScales, ExpertUp,
    ExpertsDown, ExpertsGateUp, ExpertsNorm, ExpertsResultNorm, FeedForwardNorm,
    FeedForwardResultNorm, Gate, GateUp, Head, InputGate, InputNorm, InputOutput, InputProjection,
    InputResultNorm, InputTable, Key, KeyNorm, LayerScale, Norm, Query, QueryKeyValue, QueryNorm,
    Router, RouterCorrection, RouterScale, SharedDown, SharedGate, SharedUp, SharedWeight, Sinks,
    Up, Value,
};
use Setting::{Flag, Number, Size, Text};

/// The tensors of a plain decoder.
const LAYER: &[TensorName] = &[
    (Embedding, "model.embed_tokens", "token_embd"),
    (Norm, "model.norm", "output_norm"),
    (Head, "lm_head", "output"),
    (AttentionNorm, "input_layernorm", "attn_norm"),
    (Query, "self_attn.q_proj", "attn_q"),
    (Key, "self_attn.k_proj", "attn_k"),
    (Value, "self_attn.v_proj", "attn_v"),
    (AttentionOutput, "self_attn.o_proj", "attn_output"),
    (FeedForwardNorm, "post_attention_layernorm", "ffn_norm"),
    (Gate, "mlp.gate_proj", "ffn_gate"),
    (Up, "mlp.up_proj", "ffn_up"),
    (Down, "mlp.down_proj", "ffn_down"),
];
const HEAD_NORMS: &[TensorName] = &[
    (QueryNorm, "self_attn.q_norm", "attn_q_norm"),
    (KeyNorm, "self_attn.k_norm", "attn_k_norm"),
];
const FUSED_QKV: &[TensorName] = &[(QueryKeyValue, "self_attn.qkv_proj", "attn_qkv")];
const FUSED_GATE_UP: &[TensorName] = &[
    (GateUp, "mlp.gate_up_proj", "ffn_up"),
    (Up, "mlp.up_proj", ""),
];
const EXPERTS: &[TensorName] = &[
    (Router, "mlp.gate", "ffn_gate_inp"),
    (ExpertGate, "mlp.experts.{}.gate_proj", "ffn_gate_exps"),
    (ExpertUp, "mlp.experts.{}.up_proj", "ffn_up_exps"),
    (ExpertDown, "mlp.experts.{}.down_proj", "ffn_down_exps"),
];

const SHARED_EXPERT: &[TensorName] = &[
    (SharedGate, "mlp.shared_expert.gate_proj", "ffn_gate_shexp"),
    (SharedUp, "mlp.shared_expert.up_proj", "ffn_up_shexp"),
    (SharedDown, "mlp.shared_expert.down_proj", "ffn_down_shexp"),
    (SharedWeight, "mlp.shared_expert_gate", "ffn_gate_inp_shexp"),
];
/// Experts under the names that Mixtral has for them.
const SPARSE_EXPERTS: &[TensorName] = &[
    (Router, "block_sparse_moe.gate", "ffn_gate_inp"),
    (
        ExpertGate,
        "block_sparse_moe.experts.{}.w1",
        "ffn_gate_exps",
    ),
    (ExpertUp, "block_sparse_moe.experts.{}.w3", "ffn_up_exps"),
    (
        ExpertDown,
        "block_sparse_moe.experts.{}.w2",
        "ffn_down_exps",
    ),
];
/// Norms of the results of attention and of the feed-forward layer alone, none before them.
const NORMS_AFTER: &[TensorName] = &[
    (AttentionNorm, "", ""),
    (FeedForwardNorm, "", ""),
    (
        AttentionResultNorm,
        "post_attention_layernorm",
        "post_attention_norm",
    ),
    (
        FeedForwardResultNorm,
        "post_feedforward_layernorm",
        "post_ffw_norm",
    ),
];
/// The norm before the feed-forward layer, under the name that some GGUF files have for it.
const POST_ATTENTION_NORM: &[TensorName] = &[(
    FeedForwardNorm,
    "post_attention_layernorm",
    "post_attention_norm",
)];
/// Gated `DeltaNet`, and the norm before the feed-forward layer under the name that GGUF has for it there.
const DELTA: &[TensorName] = &[
    POST_ATTENTION_NORM[0],
    (DeltaQueryKeyValue, "linear_attn.in_proj_qkv", "attn_qkv"),
    (DeltaGate, "linear_attn.in_proj_z", "attn_gate"),
    (DeltaStep, "linear_attn.in_proj_a", "ssm_alpha"),
    (DeltaStepBias, "linear_attn.dt_bias", "ssm_dt.bias"),
    (DeltaRate, "linear_attn.A_log", "ssm_a"),
    (DeltaBeta, "linear_attn.in_proj_b", "ssm_beta"),
    (DeltaConvolution, "linear_attn.conv1d", "ssm_conv1d"),
    (DeltaNorm, "linear_attn.norm", "ssm_norm"),
    (DeltaOutput, "linear_attn.out_proj", "ssm_out"),
];
/// Queries, keys, values and their gate in one projection, decay and correction in another.
const JOINED_DELTA: &[TensorName] = &[
    (DeltaQueryKeyValue, "linear_attn.in_proj_qkvz", ""),
    (DeltaGate, "linear_attn.in_proj_qkvz", ""),
    (DeltaBeta, "linear_attn.in_proj_ba", ""),
    (DeltaStep, "linear_attn.in_proj_ba", ""),
];

/// A decoder without anything of its own.
const PLAIN: Family = Family {
    name: "",
    classes: &[],
    model_types: &[],
    gguf: &[],
    tensors: &[LAYER],
    layers: "model.layers",
    renamed: &[],
    defaults: &[],
    fixed: &[],
    without_effect: "",
    divides_width: false,
    own_keys: false,
    theta: None,
    theta_ratio: false,
    rotates_neighbours: false,
    rotary_width: None,
    must_stretch: false,
    layers_ahead: None,
    stretches_base: false,
    scales_by_position: false,
    unrotated: Unrotated::Never,
    head_norms: HeadNorms::ByHead,
    head_norms_key: None,
    qkv_bias: Bias::Never,
    output_bias: Bias::Never,
    feed_forward_bias: Bias::Never,
    windows: Windows::Never,
    full_layers: None,
    shares_keys: false,
    ends_full: false,
    experts: None,
    gate: GateKind::Silu,
    zero_centred: false,
    embedding_scale: Factor::Plain,
    result_scale: Factor::Plain,
    logit_scale: Factor::Plain,
    score_scale: Factor::Plain,
    score_softcap: None,
    logit_softcap: None,
    window_theta: None,
    stretches_full_layers: false,
    proportional: None,
    norms_values: false,
    gates_heads: false,
    gguf_lacks: &[],
    gguf_rope: &[],
    gguf_pairs: false,
    gguf_numbers: &[],
    gguf_wide_scores: None,
    gguf_gating: 1,
    gguf_yarn_factor: false,
    gguf_true: &[],
};

/// One whose attention may have biases.
const BIASED: Family = Family {
    qkv_bias: Bias::Key("attention_bias"),
    output_bias: Bias::Key("attention_bias"),
    ..PLAIN
};

/// Experts as Qwen has them, under the one name that transformers 5 has for their number in all families.
const MIXTURE: ExpertKeys = ExpertKeys {
    count: &["num_local_experts", "num_experts"],
    width: "moe_intermediate_size",
    normalise: None,
    shared: None,
    scores: Scores::Softmax,
    scale: None,
    dense: None,
    beside_dense: None,
    stacked: false,
};

/// transformers' default where Qwen's files leave out from which layer on there are windows.
const QWEN_WINDOWS: &[(&str, Setting)] = &[("max_window_layers", Size(28))];

/// Every family. Of several with the same name in GGUF a file's tensors and window decide.
pub(crate) const FAMILIES: &[Family] = &[
    // Qwen2 and Qwen2.5 (<https://arxiv.org/abs/2407.10671>). transformers has these biases whatever the key says.
    Family {
        name: "Qwen2",
        classes: &["Qwen2ForCausalLM"],
        model_types: &["qwen2", "qwen2_vl_text", "qwen2_5_vl_text"],
        gguf: &["qwen2"],
        divides_width: true,
        defaults: QWEN_WINDOWS,
        without_effect: "attention_bias",
        qkv_bias: Bias::Always,
        windows: Windows::Switched,
        ..PLAIN
    },
    // <https://arxiv.org/abs/2505.09388>
    Family {
        name: "Qwen3",
        classes: &["Qwen3ForCausalLM"],
        model_types: &["qwen3", "qwen3_vl_text"],
        gguf: &["qwen3"],
        tensors: &[LAYER, HEAD_NORMS],
        defaults: QWEN_WINDOWS,
        windows: Windows::Switched,
        ..BIASED
    },
    Family {
        name: "Qwen3Moe",
        classes: &["Qwen3MoeForCausalLM"],
        model_types: &["qwen3_moe"],
        gguf: &["qwen3moe"],
        tensors: &[LAYER, HEAD_NORMS, EXPERTS],
        defaults: QWEN_WINDOWS,
        fixed: &[
            ("use_qk_norm", Flag(true)),
            ("shared_expert_intermediate_size", Size(0)),
        ],
        windows: Windows::Switched,
        experts: Some(ExpertKeys {
            normalise: Some("norm_topk_prob"),
            ..MIXTURE
        }),
        ..BIASED
    },
    // Qwen3.5, 3.6 and 3.8: recurrent layers (<https://arxiv.org/abs/2412.06464>), and some with gated attention.
    Family {
        name: "Qwen3_5",
        classes: &["Qwen3_5ForCausalLM"],
        model_types: &["qwen3_5_text"],
        gguf: &["qwen35"],
        tensors: &[LAYER, HEAD_NORMS, DELTA],
        ..QWEN3_5
    },
    Family {
        name: "Qwen3_5Moe",
        classes: &["Qwen3_5MoeForCausalLM"],
        model_types: &["qwen3_5_moe_text"],
        gguf: &["qwen35moe"],
        tensors: &[LAYER, HEAD_NORMS, DELTA, EXPERTS, SHARED_EXPERT],
        // There are experts alone.
        defaults: &[
            ("partial_rotary_factor", Number(0.25)),
            ("intermediate_size", Size(1)),
        ],
        experts: Some(ExpertKeys {
            shared: Some(SharedWidth::Width("shared_expert_intermediate_size")),
            stacked: true,
            ..MIXTURE
        }),
        ..QWEN3_5
    },
    // Qwen3-Next: projections of recurrent layers are joined, key head by key head.
    Family {
        name: "Qwen3Next",
        classes: &["Qwen3NextForCausalLM"],
        model_types: &["qwen3_next"],
        tensors: &[
            LAYER,
            HEAD_NORMS,
            DELTA,
            JOINED_DELTA,
            EXPERTS,
            SHARED_EXPERT,
        ],
        defaults: &[
            ("partial_rotary_factor", Number(0.25)),
            ("full_attention_interval", Size(4)),
            ("head_dim", Size(256)),
            ("intermediate_size", Size(5632)),
            ("norm_topk_prob", Flag(true)),
        ],
        theta: Some(10_000.0),
        experts: Some(ExpertKeys {
            normalise: Some("norm_topk_prob"),
            shared: Some(SharedWidth::Width("shared_expert_intermediate_size")),
            ..MIXTURE
        }),
        ..QWEN3_5
    },
    // Qwen3-VL's text part with experts.
    Family {
        name: "Qwen3VlMoe",
        model_types: &["qwen3_vl_moe_text"],
        tensors: &[LAYER, HEAD_NORMS, EXPERTS],
        divides_width: true,
        defaults: &[("intermediate_size", Size(5632))],
        // Its router always divides.
        without_effect: "norm_topk_prob",
        theta: Some(500_000.0),
        experts: Some(ExpertKeys {
            stacked: true,
            ..MIXTURE
        }),
        ..BIASED
    },
    // Llama 3 and its like (<https://arxiv.org/abs/2407.21783>).
    Family {
        name: "Llama",
        classes: &["LlamaForCausalLM"],
        model_types: &["llama"],
        // Mistral Small 3 has its own name in new files, and nothing else of Ministral 3.
        gguf: &["llama", "mistral3"],
        divides_width: true,
        own_keys: true,
        theta: Some(10_000.0),
        feed_forward_bias: Bias::Key("mlp_bias"),
        gguf_pairs: true,
        ..BIASED
    },
    // <https://arxiv.org/abs/2310.06825>
    Family {
        name: "Mistral",
        classes: &["MistralForCausalLM"],
        model_types: &["mistral"],
        gguf: &["llama"],
        divides_width: true,
        defaults: &[("sliding_window", Size(4096))],
        windows: Windows::All,
        gguf_pairs: true,
        ..PLAIN
    },
    // <https://arxiv.org/abs/2401.04088>
    Family {
        name: "Mixtral",
        classes: &["MixtralForCausalLM"],
        model_types: &["mixtral"],
        gguf: &["llama"],
        tensors: &[LAYER, SPARSE_EXPERTS],
        divides_width: true,
        defaults: &[
            ("num_key_value_heads", Size(8)),
            ("rms_norm_eps", Number(1e-5)),
            ("num_experts_per_tok", Size(2)),
            ("num_local_experts", Size(8)),
        ],
        theta: Some(1_000_000.0),
        windows: Windows::All,
        experts: Some(ExpertKeys {
            count: &["num_local_experts"],
            width: "intermediate_size",
            ..MIXTURE
        }),
        gguf_pairs: true,
        ..PLAIN
    },
    // Ministral 3: queries grow with the position behind the original context.
    Family {
        name: "Ministral3",
        classes: &["Ministral3ForCausalLM"],
        model_types: &["ministral3"],
        gguf: &["mistral3"],
        divides_width: true,
        defaults: &[
            ("head_dim", Size(128)),
            ("num_key_value_heads", Size(8)),
            ("rms_norm_eps", Number(1e-5)),
        ],
        must_stretch: true,
        scales_by_position: true,
        windows: Windows::All,
        gguf_pairs: true,
        ..PLAIN
    },
    // Phi-3 and Phi-4 (<https://arxiv.org/abs/2404.14219>, <https://arxiv.org/abs/2412.08905>). Phi-4-mini names two ways of
    // mixing layers and positions but uses neither.
    Family {
        name: "Phi3",
        classes: &["Phi3ForCausalLM"],
        model_types: &["phi3"],
        gguf: &["phi3"],
        tensors: &[LAYER, FUSED_QKV, FUSED_GATE_UP],
        divides_width: true,
        theta: Some(10_000.0),
        fixed: &[
            ("full_attn_mod", Size(1)),
            ("interpolate_factor", Size(1)),
            ("lm_head_bias", Flag(false)),
        ],
        windows: Windows::All,
        ..PLAIN
    },
    // GLM-4 9B as transformers names it (<https://arxiv.org/abs/2406.12793>).
    Family {
        name: "Glm",
        classes: &["GlmForCausalLM"],
        model_types: &["glm"],
        gguf: &["chatglm"],
        tensors: &[LAYER, FUSED_GATE_UP],
        ..GLM
    },
    // GLM-4 0414.
    Family {
        name: "Glm4",
        classes: &["Glm4ForCausalLM"],
        model_types: &["glm4"],
        gguf: &["glm4"],
        tensors: GLM4,
        ..GLM
    },
    // GLM-4.1V's text part.
    Family {
        name: "Glm4v",
        model_types: &["glm4v_text"],
        tensors: GLM4,
        divides_width: true,
        defaults: &[],
        without_effect: "attention_bias",
        qkv_bias: Bias::Always,
        ..GLM
    },
    // GLM-4 9B as it was first published, under the names of its own code.
    Family {
        name: "ChatGlm",
        classes: &["ChatGLMModel", "ChatGLMForConditionalGeneration"],
        model_types: &["chatglm"],
        gguf: &["chatglm"],
        layers: "transformer.encoder.layers",
        tensors: &[&[
            (
                Embedding,
                "transformer.embedding.word_embeddings",
                "token_embd",
            ),
            (Norm, "transformer.encoder.final_layernorm", "output_norm"),
            (Head, "transformer.output_layer", "output"),
            (AttentionNorm, "input_layernorm", "attn_norm"),
            (QueryKeyValue, "self_attention.query_key_value", "attn_qkv"),
            (AttentionOutput, "self_attention.dense", "attn_output"),
            (FeedForwardNorm, "post_attention_layernorm", "ffn_norm"),
            (GateUp, "mlp.dense_h_to_4h", "ffn_up"),
            (Down, "mlp.dense_4h_to_h", "ffn_down"),
        ]],
        renamed: &[
            ("num_layers", "num_hidden_layers"),
            ("padded_vocab_size", "vocab_size"),
            ("ffn_hidden_size", "intermediate_size"),
            ("kv_channels", "head_dim"),
            ("multi_query_group_num", "num_key_value_heads"),
            ("layernorm_epsilon", "rms_norm_eps"),
            ("seq_length", "max_position_embeddings"),
            ("add_qkv_bias", "attention_bias"),
        ],
        // Without multi_query_attention queries, keys and values are interleaved by head in their matrix.
        defaults: &[
            ("partial_rotary_factor", Number(0.5)),
            ("multi_query_attention", Flag(false)),
        ],
        fixed: &[
            ("multi_query_attention", Flag(true)),
            ("rmsnorm", Flag(true)),
            ("post_layer_norm", Flag(true)),
            ("add_bias_linear", Flag(false)),
            ("apply_residual_connection_post_layernorm", Flag(false)),
            ("original_rope", Flag(true)),
            ("quantization_bit", Size(0)),
            ("pre_seq_len", Size(0)),
        ],
        // About how a product is computed, not about its result.
        without_effect: "apply_query_key_layer_scaling attention_softmax_in_fp32 fp32_residual_connection prefix_projection",
        theta_ratio: true,
        gguf_lacks: &[("multi_query_attention", Flag(true))],
        ..GLM
    },
    // GLM-4.5, 4.6 and 4.7 (<https://arxiv.org/abs/2508.06471>): a router of sigmoids, and dense layers first.
    Family {
        name: "Glm4Moe",
        classes: &["Glm4MoeForCausalLM"],
        model_types: &["glm4_moe"],
        gguf: &["glm4moe"],
        tensors: &[
            LAYER,
            HEAD_NORMS,
            EXPERTS,
            POST_ATTENTION_NORM,
            &[
                (
                    RouterCorrection,
                    "mlp.gate.e_score_correction_bias",
                    "exp_probs_b.bias",
                ),
                (SharedGate, "mlp.shared_experts.gate_proj", "ffn_gate_shexp"),
                (SharedUp, "mlp.shared_experts.up_proj", "ffn_up_shexp"),
                (SharedDown, "mlp.shared_experts.down_proj", "ffn_down_shexp"),
            ],
        ],
        divides_width: true,
        defaults: &[
            ("partial_rotary_factor", Number(0.5)),
            ("first_k_dense_replace", Size(1)),
            ("n_shared_experts", Size(1)),
            ("norm_topk_prob", Flag(true)),
            ("num_nextn_predict_layers", Size(1)),
        ],
        layers_ahead: Some("num_nextn_predict_layers"),
        // Experts in groups, of which some are chosen first.
        fixed: &[("n_group", Size(1)), ("topk_group", Size(1))],
        theta: Some(10_000.0),
        head_norms_key: Some("use_qk_norm"),
        qkv_bias: Bias::Key("attention_bias"),
        experts: Some(ExpertKeys {
            count: &["num_local_experts", "n_routed_experts"],
            normalise: Some("norm_topk_prob"),
            shared: Some(SharedWidth::Experts("n_shared_experts")),
            scores: Scores::Sigmoid,
            scale: Some("routed_scaling_factor"),
            dense: Some("first_k_dense_replace"),
            ..MIXTURE
        }),
        gguf_gating: 2,
        ..PLAIN
    },
    // MiniMax M2 (<https://arxiv.org/abs/2506.13585> is of the generation before).
    Family {
        name: "MiniMaxM2",
        classes: &["MiniMaxM2ForCausalLM"],
        model_types: &["minimax_m2"],
        gguf: &["minimax-m2"],
        tensors: &[
            LAYER,
            HEAD_NORMS,
            SPARSE_EXPERTS,
            &[(
                RouterCorrection,
                "block_sparse_moe.e_score_correction_bias",
                "exp_probs_b.bias",
            )],
        ],
        defaults: &[
            ("head_dim", Size(128)),
            ("num_key_value_heads", Size(8)),
            ("rms_norm_eps", Number(1e-6)),
        ],
        fixed: &[
            ("scoring_func", Text("sigmoid")),
            ("use_routing_bias", Flag(true)),
            ("use_qk_norm", Flag(true)),
            ("qk_norm_type", Text("per_layer")),
            ("shared_intermediate_size", Size(0)),
        ],
        // Of layers that guess several tokens ahead, and of attention of the generation before.
        without_effect: "use_mtp num_mtp_modules mtp_transformer_layers attn_type_list",
        theta: Some(5_000_000.0),
        rotary_width: Some("rotary_dim"),
        head_norms: HeadNorms::Together,
        experts: Some(ExpertKeys {
            count: &["num_experts", "num_local_experts"],
            width: "intermediate_size",
            scores: Scores::Sigmoid,
            ..MIXTURE
        }),
        gguf_gating: 2,
        ..PLAIN
    },
    // Seed-OSS 36B: biases of queries, keys and values, and another key for that of the output.
    Family {
        name: "SeedOss",
        classes: &["SeedOssForCausalLM"],
        model_types: &["seed_oss"],
        gguf: &["seed_oss"],
        tensors: &[LAYER, POST_ATTENTION_NORM],
        divides_width: true,
        defaults: &[
            ("rms_norm_eps", Number(1e-6)),
            ("head_dim", Size(128)),
            ("num_key_value_heads", Size(8)),
            ("attention_bias", Flag(true)),
        ],
        without_effect: "residual_dropout",
        theta: Some(10_000.0),
        qkv_bias: Bias::Key("attention_bias"),
        output_bias: Bias::Key("attention_out_bias"),
        feed_forward_bias: Bias::Key("mlp_bias"),
        ..PLAIN
    },
    // SmolLM3: every fourth layer sees tokens without their positions.
    Family {
        name: "SmolLM3",
        classes: &["SmolLM3ForCausalLM"],
        model_types: &["smollm3"],
        gguf: &["smollm3"],
        divides_width: true,
        defaults: &[
            ("num_key_value_heads", Size(4)),
            ("rms_norm_eps", Number(1e-6)),
            ("tie_word_embeddings", Flag(true)),
        ],
        // A window that is not used.
        without_effect: "sliding_window max_window_layers",
        fixed: &[("use_sliding_window", Flag(false))],
        theta: Some(2_000_000.0),
        unrotated: Unrotated::Listed,
        feed_forward_bias: Bias::Key("mlp_bias"),
        gguf_pairs: true,
        ..BIASED
    },
    // Granite 3 and 4.1 without experts: four factors.
    Family {
        name: "Granite",
        classes: &["GraniteForCausalLM"],
        model_types: &["granite"],
        gguf: &["granite"],
        divides_width: true,
        own_keys: true,
        defaults: &[
            ("embedding_multiplier", Number(1.0)),
            ("attention_multiplier", Number(1.0)),
            ("residual_multiplier", Number(1.0)),
            ("logits_scaling", Number(1.0)),
            ("rms_norm_eps", Number(1e-6)),
        ],
        theta: Some(10_000.0),
        feed_forward_bias: Bias::Key("mlp_bias"),
        embedding_scale: Factor::Of("embedding_multiplier"),
        result_scale: Factor::Of("residual_multiplier"),
        logit_scale: Factor::InverseOf("logits_scaling"),
        score_scale: Factor::Of("attention_multiplier"),
        gguf_pairs: true,
        gguf_numbers: &[
            ("embedding_multiplier", "embedding_scale"),
            ("attention_multiplier", "attention.scale"),
            ("residual_multiplier", "residual_scale"),
            ("logits_scaling", "logit_scale"),
        ],
        // Without it llama.cpp does not rotate.
        gguf_true: &["rope.scaling.finetuned"],
        ..BIASED
    },
    // ERNIE 4.5 without experts.
    Family {
        name: "Ernie4_5",
        classes: &["Ernie4_5ForCausalLM", "Ernie4_5_ForCausalLM"],
        model_types: &["ernie4_5"],
        gguf: &["ernie4_5"],
        divides_width: true,
        defaults: &[
            ("head_dim", Size(128)),
            ("rms_norm_eps", Number(1e-5)),
            ("num_key_value_heads", Size(2)),
            ("tie_word_embeddings", Flag(true)),
        ],
        theta: Some(500_000.0),
        rotates_neighbours: true,
        qkv_bias: Bias::Key("use_bias"),
        output_bias: Bias::Key("use_bias"),
        feed_forward_bias: Bias::Key("use_bias"),
        ..PLAIN
    },
    // <https://arxiv.org/abs/2501.00656>. In GGUF files the third generation has this one's name, and windows.
    Family {
        name: "Olmo2",
        classes: &["Olmo2ForCausalLM"],
        model_types: &["olmo2"],
        ..OLMO
    },
    Family {
        name: "Olmo3",
        classes: &["Olmo3ForCausalLM"],
        model_types: &["olmo3"],
        defaults: &[
            ("rms_norm_eps", Number(1e-5)),
            ("sliding_window", Size(4096)),
        ],
        theta: Some(500_000.0),
        stretches_full_layers: true,
        windows: Windows::AllButEvery(4),
        ..OLMO
    },
    // EXAONE 4 (<https://arxiv.org/abs/2507.11407>): layers that see everything do not know positions where others have windows.
    Family {
        name: "Exaone4",
        classes: &["Exaone4ForCausalLM"],
        model_types: &["exaone4"],
        gguf: &["exaone4"],
        tensors: &[LAYER, HEAD_NORMS, NORMS_AFTER],
        divides_width: true,
        defaults: &[
            ("num_key_value_heads", Size(32)),
            ("rms_norm_eps", Number(1e-5)),
            ("sliding_window", Size(4096)),
        ],
        theta: Some(10_000.0),
        unrotated: Unrotated::BesideWindows,
        windows: Windows::AllButEvery(4),
        ..PLAIN
    },
    // Hunyuan without experts.
    Family {
        name: "HunYuanDense",
        classes: &["HunYuanDenseV1ForCausalLM"],
        model_types: &["hunyuan_v1_dense"],
        gguf: &["hunyuan-dense"],
        tensors: &[
            LAYER,
            &[
                (QueryNorm, "self_attn.query_layernorm", "attn_q_norm"),
                (KeyNorm, "self_attn.key_layernorm", "attn_k_norm"),
            ],
        ],
        divides_width: true,
        own_keys: true,
        renamed: &[("attention_head_dim", "head_dim")],
        fixed: &[
            ("use_qk_norm", Flag(true)),
            ("use_cla", Flag(false)),
            ("norm_type", Text("rms")),
            ("use_rotary_pos_emb", Flag(true)),
            ("mlp_bias", Flag(false)),
        ],
        without_effect: HUNYUAN_WITHOUT_EFFECT,
        theta: Some(10_000.0),
        stretches_base: true,
        head_norms: HeadNorms::AfterRotation,
        ..BIASED
    },
    // <https://arxiv.org/abs/2508.10925>. Experts are stored together in Safetensors and apart in GGUF.
    Family {
        name: "GptOss",
        classes: &["GptOssForCausalLM"],
        model_types: &["gpt_oss"],
        gguf: &["gpt-oss"],
        tensors: &[
            LAYER,
            EXPERTS,
            &[
                (
                    FeedForwardNorm,
                    "post_attention_layernorm",
                    "post_attention_norm",
                ),
                (Sinks, "self_attn.sinks", "attn_sinks.weight"),
                (Router, "mlp.router", "ffn_gate_inp"),
                (ExpertsGateUp, "mlp.experts.gate_up_proj", ""),
                (ExpertsDown, "mlp.experts.down_proj", ""),
            ],
        ],
        defaults: &[
            ("attention_bias", Flag(true)),
            ("sliding_window", Size(128)),
            ("swiglu_alpha", Number(1.702)),
            ("swiglu_limit", Number(7.0)),
        ],
        // Other names for sizes given already, in the makers' own files.
        without_effect: "experts_per_token initial_context_length max_window_layers",
        must_stretch: true,
        feed_forward_bias: Bias::Always,
        windows: Windows::AllButEvery(2),
        experts: Some(ExpertKeys {
            count: &["num_local_experts"],
            width: "intermediate_size",
            ..MIXTURE
        }),
        gate: GateKind::Clamped,
        gguf_lacks: &[("sliding_window", Size(128))],
        gguf_rope: &[("truncate", Flag(false))],
        gguf_gating: 3,
        ..BIASED
    },
    // <https://arxiv.org/abs/2408.00118>
    Family {
        name: "Gemma2",
        classes: &["Gemma2ForCausalLM"],
        model_types: &["gemma2"],
        gguf: &["gemma2"],
        tensors: &[LAYER, GEMMA_NORMS],
        defaults: &[
            ("num_attention_heads", Size(8)),
            ("num_key_value_heads", Size(4)),
            ("head_dim", Size(256)),
            ("vocab_size", Size(256_000)),
            ("max_position_embeddings", Size(8192)),
            ("rms_norm_eps", Number(1e-6)),
            ("query_pre_attn_scalar", Size(256)),
            ("sliding_window", Size(4096)),
            ("attn_logit_softcapping", Number(50.0)),
            ("final_logit_softcapping", Number(30.0)),
            ("tie_word_embeddings", Flag(true)),
        ],
        theta: Some(10_000.0),
        windows: Windows::AllButEvery(2),
        score_softcap: Some("attn_logit_softcapping"),
        gguf_numbers: &[
            ("attn_logit_softcapping", "attn_logit_softcapping"),
            ("final_logit_softcapping", "final_logit_softcapping"),
        ],
        gguf_lacks: &[("sliding_window", Size(4096))],
        gguf_wide_scores: Some(46),
        ..GEMMA
    },
    // <https://arxiv.org/abs/2503.19786>. transformers reads a bound on scores and does not set it.
    Family {
        name: "Gemma3",
        classes: &["Gemma3ForCausalLM"],
        model_types: &["gemma3_text"],
        gguf: &["gemma3"],
        tensors: &[LAYER, HEAD_NORMS, GEMMA_NORMS],
        // The makers' files of 4B leave out heads and widths.
        defaults: &[
            ("num_attention_heads", Size(8)),
            ("num_key_value_heads", Size(4)),
            ("head_dim", Size(256)),
            ("vocab_size", Size(262_208)),
            ("max_position_embeddings", Size(131_072)),
            ("rms_norm_eps", Number(1e-6)),
            ("query_pre_attn_scalar", Size(256)),
            ("sliding_window", Size(4096)),
            ("tie_word_embeddings", Flag(true)),
        ],
        without_effect: "attn_logit_softcapping _sliding_window_pattern",
        theta: Some(1_000_000.0),
        window_theta: Some(("rope_local_base_freq", 10_000.0)),
        windows: Windows::AllButEvery(6),
        gguf_numbers: &[
            ("final_logit_softcapping", "final_logit_softcapping"),
            ("rope_local_base_freq", "rope.freq_base_swa"),
        ],
        gguf_wide_scores: Some(62),
        ..GEMMA
    },
    Family {
        name: "Gemma4",
        classes: &["Gemma4ForCausalLM"],
        model_types: &["gemma4_text"],
        gguf: &["gemma4"],
        tensors: &[
            LAYER,
            HEAD_NORMS,
            GEMMA_NORMS,
            GEMMA_EXPERTS,
            LAYER_SCALE,
            GEMMA_INPUTS,
        ],
        defaults: &[
            ("num_attention_heads", Size(8)),
            ("num_key_value_heads", Size(4)),
            ("head_dim", Size(256)),
            ("vocab_size", Size(262_144)),
            ("max_position_embeddings", Size(131_072)),
            ("rms_norm_eps", Number(1e-6)),
            ("sliding_window", Size(512)),
            ("hidden_size_per_layer_input", Size(256)),
            ("vocab_size_per_layer_input", Size(262_144)),
            ("tie_word_embeddings", Flag(true)),
        ],
        ..GEMMA4
    },
    // Gemma 4 12B, whose text part has a class of its own.
    Family {
        name: "Gemma4Unified",
        classes: &["Gemma4UnifiedForCausalLM"],
        model_types: &["gemma4_unified_text"],
        fixed: &[
            GEMMA4_FIXED[0],
            GEMMA4_FIXED[1],
            ("hidden_size_per_layer_input", Size(0)),
        ],
        ..GEMMA4
    },
];

/// What `OLMo` 2 and 3 have in common.
const OLMO: Family = Family {
    gguf: &["olmo2"],
    gguf_yarn_factor: true,
    tensors: &[LAYER, HEAD_NORMS, NORMS_AFTER],
    divides_width: true,
    own_keys: true,
    defaults: &[("rms_norm_eps", Number(1e-5))],
    theta: Some(10_000.0),
    head_norms: HeadNorms::Together,
    ..BIASED
};

/// Keys of Hunyuan's files that are of tokens, images and classification, or of parts that the other keys switch off.
const HUNYUAN_WITHOUT_EFFECT: &str = "add_classification_head anyres_pooling_size anyres_vit_max_image_size anyres_vit_two_views cla_share_factor class_num dense_list \
    eod_token_id im_end_id im_newline_id im_start_id mask_init_id org_vocab_size pad_id pool_type text_end_id text_start_id \
    video_end_id video_start_id";

/// What Qwen3.5 has with and without experts.
const QWEN3_5: Family = Family {
    defaults: &[("partial_rotary_factor", Number(0.25))],
    fixed: &[("attn_output_gate", Flag(true))],
    // Of the part that guesses several tokens ahead, which is not loaded; and the type of states, which are f32 here.
    without_effect: "mtp_num_hidden_layers mtp_use_dedicated_embeddings mamba_ssm_dtype norm_topk_prob",
    zero_centred: true,
    gates_heads: true,
    ..BIASED
};

/// What the three forms of GLM-4 have in common.
const GLM: Family = Family {
    defaults: &[("partial_rotary_factor", Number(0.5))],
    theta: Some(10_000.0),
    rotates_neighbours: true,
    qkv_bias: Bias::Key("attention_bias"),
    ..PLAIN
};

/// What Gemma 2 and 3 have in common.
const GEMMA: Family = Family {
    gate: GateKind::Gelu,
    zero_centred: true,
    embedding_scale: Factor::RootOfWidth,
    score_scale: Factor::InverseRootOf("query_pre_attn_scalar"),
    logit_softcap: Some("final_logit_softcapping"),
    ..BIASED
};

const GEMMA4_FIXED: &[(&str, Setting)] = &[
    ("sliding_window_pattern", Size(6)),
    // Among the tokens of an image.
    ("use_bidirectional_attention", Text("vision")),
];

/// What Gemma 4 has in all sizes.
const GEMMA4: Family = Family {
    tensors: &[LAYER, HEAD_NORMS, GEMMA_NORMS, GEMMA_EXPERTS, LAYER_SCALE],
    renamed: &[("top_k_experts", "num_experts_per_tok")],
    defaults: &[
        ("num_attention_heads", Size(8)),
        ("num_key_value_heads", Size(4)),
        ("head_dim", Size(256)),
        ("vocab_size", Size(262_144)),
        ("max_position_embeddings", Size(262_144)),
        ("rms_norm_eps", Number(1e-6)),
        ("sliding_window", Size(1024)),
        ("tie_word_embeddings", Flag(true)),
    ],
    fixed: GEMMA4_FIXED,
    // Sizes of parts that a model has not.
    without_effect: "vocab_size_per_layer_input num_experts num_experts_per_tok moe_intermediate_size",
    theta: Some(1_000_000.0),
    window_theta: Some(("rope_local_base_freq", 10_000.0)),
    proportional: Some(0.25),
    windows: Windows::AllButEvery(6),
    full_layers: Some(FullLayerKeys {
        head_dim: ("global_head_dim", 512),
        keys_are_values: "attention_k_eq_v",
        kv_heads: "num_global_key_value_heads",
    }),
    shares_keys: true,
    ends_full: true,
    experts: Some(ExpertKeys {
        count: &["num_experts"],
        beside_dense: Some("enable_moe_block"),
        stacked: true,
        ..MIXTURE
    }),
    zero_centred: false,
    score_scale: Factor::One,
    norms_values: true,
    gguf_numbers: &[("final_logit_softcapping", "final_logit_softcapping")],
    ..GEMMA
};

/// `post_attention_layernorm` is the norm of attention's result here, not the one before the feed-forward layer.
const GEMMA_NORMS: &[TensorName] = &[
    (
        AttentionResultNorm,
        "post_attention_layernorm",
        "post_attention_norm",
    ),
    (FeedForwardNorm, "pre_feedforward_layernorm", "ffn_norm"),
    (
        FeedForwardResultNorm,
        "post_feedforward_layernorm",
        "post_ffw_norm",
    ),
];

const LAYER_SCALE: &[TensorName] = &[(LayerScale, "layer_scalar", "layer_output_scale.weight")];

/// What each layer of Gemma 4 E2B and E4B gets of a token beside the residual stream.
const GEMMA_INPUTS: &[TensorName] = &[
    (
        InputTable,
        "model.embed_tokens_per_layer",
        "per_layer_token_embd",
    ),
    (
        InputProjection,
        "model.per_layer_model_projection",
        "per_layer_model_proj",
    ),
    (
        InputNorm,
        "model.per_layer_projection_norm",
        "per_layer_proj_norm",
    ),
    (InputGate, "per_layer_input_gate", "inp_gate"),
    (InputOutput, "per_layer_projection", "proj"),
    (InputResultNorm, "post_per_layer_input_norm", "post_norm"),
];

/// Experts beside a dense layer.
const GEMMA_EXPERTS: &[TensorName] = &[
    (
        DenseResultNorm,
        "post_feedforward_layernorm_1",
        "post_ffw_norm_1",
    ),
    (ExpertsNorm, "pre_feedforward_layernorm_2", "pre_ffw_norm_2"),
    (
        ExpertsResultNorm,
        "post_feedforward_layernorm_2",
        "post_ffw_norm_2",
    ),
    // Names of whole tensors come first.
    (RouterScale, "router.scale", "ffn_gate_inp.scale"),
    (Router, "router.proj", "ffn_gate_inp"),
    (
        ExpertScales,
        "router.per_expert_scale",
        "ffn_down_exps.scale",
    ),
    (ExpertGate, "experts.{}.gate_proj", "ffn_gate_exps"),
    (ExpertUp, "experts.{}.up_proj", "ffn_up_exps"),
    (ExpertDown, "experts.{}.down_proj", "ffn_down_exps"),
    (ExpertGateUp, "experts.{}.gate_up_proj", "ffn_gate_up_exps"),
];

const GLM4: &[&[TensorName]] = &[
    LAYER,
    FUSED_GATE_UP,
    &[
        (
            AttentionResultNorm,
            "post_self_attn_layernorm",
            "post_attention_norm",
        ),
        (FeedForwardResultNorm, "post_mlp_layernorm", "post_ffw_norm"),
    ],
];
