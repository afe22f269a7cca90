//! The table of families.

use super::{
    Bias, ExpertKeys, Factor, Family, FullLayerKeys, Gate, HeadNorms, Scores, SharedWidth,
    Unrotated, Windows,
};

/// A decoder without anything of its own.
const PLAIN: Family = Family {
    name: "",
    classes: &[],
    model_types: &[],
    gguf: &[],
    tensors: "layer",
    layers: "model.layers",
    renamed: "",
    defaults: "",
    fixed: "",
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
    is_hybrids: false,
    head_norms_key: None,
    qkv_bias: Bias::Never,
    output_bias: Bias::Never,
    feed_forward_bias: Bias::Never,
    windows: Windows::Never,
    full_layers: None,
    shares_keys: false,
    ends_full: false,
    experts: None,
    gate: Gate::Silu,
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
    gguf_lacks: "",
    gguf_rope: "",
    gguf_pairs: false,
    gguf_numbers: "",
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
const QWEN_WINDOWS: &str = "max_window_layers=28";

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
        tensors: "layer head_norms",
        defaults: QWEN_WINDOWS,
        windows: Windows::Switched,
        ..BIASED
    },
    Family {
        name: "Qwen3Moe",
        classes: &["Qwen3MoeForCausalLM"],
        model_types: &["qwen3_moe"],
        gguf: &["qwen3moe"],
        tensors: "layer head_norms experts",
        defaults: QWEN_WINDOWS,
        fixed: "use_qk_norm=true shared_expert_intermediate_size=0",
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
        tensors: "layer head_norms post_attention_norm delta",
        ..QWEN3_5
    },
    Family {
        name: "Qwen3_5Moe",
        classes: &["Qwen3_5MoeForCausalLM"],
        model_types: &["qwen3_5_moe_text"],
        gguf: &["qwen35moe"],
        tensors: "layer head_norms post_attention_norm delta experts shared_expert",
        // There are experts alone.
        defaults: "partial_rotary_factor=0.25 intermediate_size=1",
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
        tensors: "layer head_norms post_attention_norm delta joined_delta experts shared_expert",
        defaults: "partial_rotary_factor=0.25 full_attention_interval=4 head_dim=256 intermediate_size=5632 \
            norm_topk_prob=true",
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
        tensors: "layer head_norms experts",
        divides_width: true,
        defaults: "intermediate_size=5632",
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
        defaults: "sliding_window=4096",
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
        tensors: "layer sparse_experts",
        divides_width: true,
        defaults: "num_key_value_heads=8 rms_norm_eps=1e-5 num_experts_per_tok=2 num_local_experts=8",
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
        defaults: "head_dim=128 num_key_value_heads=8 rms_norm_eps=1e-5",
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
        tensors: "layer fused_qkv fused_gate_up",
        divides_width: true,
        theta: Some(10_000.0),
        fixed: "full_attn_mod=1 interpolate_factor=1 lm_head_bias=false",
        windows: Windows::All,
        ..PLAIN
    },
    // GLM-4 9B as transformers names it (<https://arxiv.org/abs/2406.12793>).
    Family {
        name: "Glm",
        classes: &["GlmForCausalLM"],
        model_types: &["glm"],
        gguf: &["chatglm"],
        tensors: "layer fused_gate_up",
        ..GLM
    },
    // GLM-4 0414.
    Family {
        name: "Glm4",
        classes: &["Glm4ForCausalLM"],
        model_types: &["glm4"],
        gguf: &["glm4"],
        tensors: "layer fused_gate_up glm4",
        ..GLM
    },
    // GLM-4.1V's text part.
    Family {
        name: "Glm4v",
        model_types: &["glm4v_text"],
        tensors: "layer fused_gate_up glm4",
        divides_width: true,
        defaults: "",
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
        tensors: "chatglm",
        renamed: "num_layers=num_hidden_layers padded_vocab_size=vocab_size ffn_hidden_size=intermediate_size \
            kv_channels=head_dim multi_query_group_num=num_key_value_heads layernorm_epsilon=rms_norm_eps \
            seq_length=max_position_embeddings add_qkv_bias=attention_bias",
        // Without multi_query_attention queries, keys and values are interleaved by head in their matrix.
        defaults: "partial_rotary_factor=0.5 multi_query_attention=false",
        fixed: "multi_query_attention=true rmsnorm=true post_layer_norm=true add_bias_linear=false \
            apply_residual_connection_post_layernorm=false original_rope=true quantization_bit=0 pre_seq_len=0",
        // About how a product is computed, not about its result.
        without_effect: "apply_query_key_layer_scaling attention_softmax_in_fp32 fp32_residual_connection prefix_projection",
        theta_ratio: true,
        gguf_lacks: "multi_query_attention=true",
        ..GLM
    },
    // GLM-4.5, 4.6 and 4.7 (<https://arxiv.org/abs/2508.06471>): a router of sigmoids, and dense layers first.
    Family {
        name: "Glm4Moe",
        classes: &["Glm4MoeForCausalLM"],
        model_types: &["glm4_moe"],
        gguf: &["glm4moe"],
        tensors: "layer head_norms experts post_attention_norm glm4_moe",
        divides_width: true,
        defaults: "partial_rotary_factor=0.5 first_k_dense_replace=1 n_shared_experts=1 norm_topk_prob=true \
            num_nextn_predict_layers=1",
        layers_ahead: Some("num_nextn_predict_layers"),
        // Experts in groups, of which some are chosen first.
        fixed: "n_group=1 topk_group=1",
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
        tensors: "layer head_norms sparse_experts minimax",
        defaults: "head_dim=128 num_key_value_heads=8 rms_norm_eps=1e-6",
        fixed: "scoring_func=sigmoid use_routing_bias=true use_qk_norm=true qk_norm_type=per_layer \
            shared_intermediate_size=0",
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
        tensors: "layer post_attention_norm",
        divides_width: true,
        defaults: "rms_norm_eps=1e-6 head_dim=128 num_key_value_heads=8 attention_bias=true",
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
        defaults: "num_key_value_heads=4 rms_norm_eps=1e-6 tie_word_embeddings=true",
        // A window that is not used.
        without_effect: "sliding_window max_window_layers",
        fixed: "use_sliding_window=false",
        theta: Some(2_000_000.0),
        unrotated: Unrotated::Listed,
        feed_forward_bias: Bias::Key("mlp_bias"),
        gguf_pairs: true,
        ..BIASED
    },
    // Granite 3 and 4.1 without experts.
    Family {
        name: "Granite",
        classes: &["GraniteForCausalLM"],
        model_types: &["granite"],
        gguf: &["granite"],
        feed_forward_bias: Bias::Key("mlp_bias"),
        ..GRANITE
    },
    // Granite 4.0 of attention and dense layers alone (micro, 1b, 350m); its GGUF files are those of Granite.
    Family {
        name: "GraniteHybrid",
        classes: &["GraniteMoeHybridForCausalLM"],
        model_types: &["granitemoehybrid"],
        tensors: "layer granite_hybrid",
        renamed: "shared_intermediate_size=intermediate_size",
        fixed: "normalization_function=rmsnorm",
        without_effect: "num_local_experts num_experts_per_tok position_embedding_type init_method time_step_limit mamba_chunk_size mamba_conv_bias \
            mamba_d_conv mamba_d_head mamba_d_state mamba_expand mamba_n_groups mamba_n_heads mamba_proj_bias",
        is_hybrids: true,
        ..GRANITE
    },
    // ERNIE 4.5 without experts.
    Family {
        name: "Ernie4_5",
        classes: &["Ernie4_5ForCausalLM", "Ernie4_5_ForCausalLM"],
        model_types: &["ernie4_5"],
        gguf: &["ernie4_5"],
        divides_width: true,
        defaults: "head_dim=128 rms_norm_eps=1e-5 num_key_value_heads=2 tie_word_embeddings=true",
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
        defaults: "rms_norm_eps=1e-5 sliding_window=4096",
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
        tensors: "layer head_norms norms_after",
        divides_width: true,
        defaults: "num_key_value_heads=32 rms_norm_eps=1e-5 sliding_window=4096",
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
        tensors: "layer hunyuan",
        divides_width: true,
        own_keys: true,
        renamed: "attention_head_dim=head_dim",
        fixed: "use_qk_norm=true use_cla=false norm_type=rms use_rotary_pos_emb=true mlp_bias=false",
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
        tensors: "layer experts gpt_oss",
        defaults: "attention_bias=true sliding_window=128 swiglu_alpha=1.702 swiglu_limit=7.0",
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
        gate: Gate::Clamped,
        gguf_lacks: "sliding_window=128",
        gguf_rope: "truncate=false",
        gguf_gating: 3,
        ..BIASED
    },
    // <https://arxiv.org/abs/2408.00118>
    Family {
        name: "Gemma2",
        classes: &["Gemma2ForCausalLM"],
        model_types: &["gemma2"],
        gguf: &["gemma2"],
        tensors: "layer gemma_norms",
        defaults: "num_attention_heads=8 num_key_value_heads=4 head_dim=256 vocab_size=256000 \
            max_position_embeddings=8192 rms_norm_eps=1e-6 query_pre_attn_scalar=256 sliding_window=4096 \
            attn_logit_softcapping=50.0 final_logit_softcapping=30.0 tie_word_embeddings=true",
        theta: Some(10_000.0),
        windows: Windows::AllButEvery(2),
        score_softcap: Some("attn_logit_softcapping"),
        gguf_numbers: "attn_logit_softcapping=attn_logit_softcapping \
            final_logit_softcapping=final_logit_softcapping",
        gguf_lacks: "sliding_window=4096",
        gguf_wide_scores: Some(46),
        ..GEMMA
    },
    // <https://arxiv.org/abs/2503.19786>. transformers reads a bound on scores and does not set it.
    Family {
        name: "Gemma3",
        classes: &["Gemma3ForCausalLM"],
        model_types: &["gemma3_text"],
        gguf: &["gemma3"],
        tensors: "layer head_norms gemma_norms",
        // The makers' files of 4B leave out heads and widths.
        defaults: "num_attention_heads=8 num_key_value_heads=4 head_dim=256 vocab_size=262208 \
            max_position_embeddings=131072 rms_norm_eps=1e-6 query_pre_attn_scalar=256 sliding_window=4096 \
            tie_word_embeddings=true",
        without_effect: "attn_logit_softcapping _sliding_window_pattern",
        theta: Some(1_000_000.0),
        window_theta: Some(("rope_local_base_freq", 10_000.0)),
        windows: Windows::AllButEvery(6),
        gguf_numbers: "final_logit_softcapping=final_logit_softcapping rope_local_base_freq=rope.freq_base_swa",
        gguf_wide_scores: Some(62),
        ..GEMMA
    },
    Family {
        name: "Gemma4",
        classes: &["Gemma4ForCausalLM"],
        model_types: &["gemma4_text"],
        gguf: &["gemma4"],
        tensors: "layer head_norms gemma_norms gemma_experts layer_scale gemma_inputs",
        defaults: "num_attention_heads=8 num_key_value_heads=4 head_dim=256 vocab_size=262144 \
            max_position_embeddings=131072 rms_norm_eps=1e-6 sliding_window=512 hidden_size_per_layer_input=256 \
            vocab_size_per_layer_input=262144 tie_word_embeddings=true",
        ..GEMMA4
    },
    // Gemma 4 12B, whose text part has a class of its own.
    Family {
        name: "Gemma4Unified",
        classes: &["Gemma4UnifiedForCausalLM"],
        model_types: &["gemma4_unified_text"],
        fixed: "sliding_window_pattern=6 use_bidirectional_attention=vision hidden_size_per_layer_input=0",
        ..GEMMA4
    },
];

/// What `OLMo` 2 and 3 have in common.
const OLMO: Family = Family {
    gguf: &["olmo2"],
    gguf_yarn_factor: true,
    tensors: "layer head_norms norms_after",
    divides_width: true,
    own_keys: true,
    defaults: "rms_norm_eps=1e-5",
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
    defaults: "partial_rotary_factor=0.25",
    fixed: "attn_output_gate=true",
    // Of the part that guesses several tokens ahead, which is not loaded; and the type of states, which are f32 here.
    without_effect: "mtp_num_hidden_layers mtp_use_dedicated_embeddings mamba_ssm_dtype norm_topk_prob",
    zero_centred: true,
    gates_heads: true,
    ..BIASED
};

/// What the three forms of GLM-4 have in common.
const GLM: Family = Family {
    defaults: "partial_rotary_factor=0.5",
    theta: Some(10_000.0),
    rotates_neighbours: true,
    qkv_bias: Bias::Key("attention_bias"),
    ..PLAIN
};

/// What Granite has in all generations: four factors.
const GRANITE: Family = Family {
    divides_width: true,
    own_keys: true,
    defaults: "embedding_multiplier=1.0 attention_multiplier=1.0 residual_multiplier=1.0 logits_scaling=1.0 \
        rms_norm_eps=1e-6",
    theta: Some(10_000.0),
    embedding_scale: Factor::Of("embedding_multiplier"),
    result_scale: Factor::Of("residual_multiplier"),
    logit_scale: Factor::InverseOf("logits_scaling"),
    score_scale: Factor::Of("attention_multiplier"),
    gguf_pairs: true,
    gguf_numbers: "embedding_multiplier=embedding_scale attention_multiplier=attention.scale \
        residual_multiplier=residual_scale logits_scaling=logit_scale",
    // Without it llama.cpp does not rotate.
    gguf_true: &["rope.scaling.finetuned"],
    ..BIASED
};

/// What Gemma 2 and 3 have in common.
const GEMMA: Family = Family {
    gate: Gate::Gelu,
    zero_centred: true,
    embedding_scale: Factor::RootOfWidth,
    score_scale: Factor::InverseRootOf("query_pre_attn_scalar"),
    logit_softcap: Some("final_logit_softcapping"),
    ..BIASED
};

/// What Gemma 4 has in all sizes.
const GEMMA4: Family = Family {
    tensors: "layer head_norms gemma_norms gemma_experts layer_scale",
    renamed: "top_k_experts=num_experts_per_tok",
    defaults: "num_attention_heads=8 num_key_value_heads=4 head_dim=256 vocab_size=262144 \
        max_position_embeddings=262144 rms_norm_eps=1e-6 sliding_window=1024 tie_word_embeddings=true",
    // Both directions: among the tokens of an image.
    fixed: "sliding_window_pattern=6 use_bidirectional_attention=vision",
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
    gguf_numbers: "final_logit_softcapping=final_logit_softcapping",
    ..GEMMA
};
