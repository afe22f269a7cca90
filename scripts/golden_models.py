#!/usr/bin/env python3
"""Makes tests/data/checkpoints: a tiny random checkpoint of every family, and the logits that transformers gives for it.

    pip install torch transformers safetensors
    python scripts/golden_models.py [NAME…]

Each folder holds a checkpoint as transformers saves it and golden.safetensors: for each sequence `tokens.I` [length] and
`logits.I` [length, vocab], all positions, computed in f32 from the weights as stored, eager attention, each sequence alone.
tests/model/golden_logits.rs compares with them.
"""

import json
import shutil
import sys
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file

OUT = Path(__file__).resolve().parent.parent / "tests" / "data" / "checkpoints"

SIZES = dict(
    vocab_size=53, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
    max_position_embeddings=256, bos_token_id=1, eos_token_id=2, pad_token_id=None, tie_word_embeddings=False,
)  # fmt: skip
DEFAULT_ROPE = {"rope_type": "default", "rope_theta": 10000.0}
YARN = {"rope_type": "yarn", "rope_theta": 150000.0, "factor": 4.0, "original_max_position_embeddings": 64,
        "beta_fast": 32.0, "beta_slow": 1.0}  # fmt: skip
LONGROPE = {
    "rope_type": "longrope", "rope_theta": 10000.0, "original_max_position_embeddings": 48, "partial_rotary_factor": 0.75,
    "short_factor": [1.0, 1.1, 1.2], "long_factor": [1.5, 3.0, 6.0],
}  # fmt: skip

DELTA = dict(num_hidden_layers=3, linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=16,
             linear_value_head_dim=12, linear_conv_kernel_dim=4)  # fmt: skip

GEMMA4 = dict(head_dim=8, global_head_dim=16, num_global_key_value_heads=1, attention_k_eq_v=True, sliding_window=9,
              hidden_size_per_layer_input=0, tie_word_embeddings=True)  # fmt: skip
SMALL_GEMMA4 = dict(attention_k_eq_v=False, num_global_key_value_heads=None, hidden_size_per_layer_input=12,
                    vocab_size_per_layer_input=53)  # fmt: skip

# name -> (class, what its configuration adds or changes, dtype, options)
CHECKPOINTS = {
    "qwen3-tied": ("Qwen3", dict(vocab_size=67, head_dim=16, tie_word_embeddings=True, rope_parameters=DEFAULT_ROPE),
                   torch.bfloat16, dict(lengths=[1, 5, 33, 90])),
    "qwen3-untied": ("Qwen3", dict(vocab_size=50, hidden_size=20, intermediate_size=36, num_hidden_layers=3,
                     num_attention_heads=6, num_key_value_heads=1, head_dim=8, max_position_embeddings=128,
                     rope_parameters={"rope_type": "default", "rope_theta": 1e6}),
                     torch.float32, dict(shard="24KB", lengths=[1, 5, 33, 90])),
    "qwen3-yarn": ("Qwen3", dict(head_dim=16, rope_parameters={**YARN, "rope_theta": 1e6}), torch.bfloat16, {}),
    "qwen3-moe": ("Qwen3Moe", dict(head_dim=8, num_experts=6, num_experts_per_tok=2, moe_intermediate_size=24,
                  norm_topk_prob=True, decoder_sparse_step=1, mlp_only_layers=[], rope_parameters=DEFAULT_ROPE),
                  torch.bfloat16, {}),
    "qwen2": ("Qwen2", dict(tie_word_embeddings=True, use_sliding_window=False, rope_parameters=DEFAULT_ROPE),
              torch.bfloat16, {}),
    "qwen2-window": ("Qwen2", dict(use_sliding_window=True, sliding_window=9, max_window_layers=1,
                     rope_parameters=DEFAULT_ROPE), torch.float16, {}),
    "llama": ("Llama", dict(attention_bias=True, mlp_bias=True, rope_parameters={
              "rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
              "original_max_position_embeddings": 64}), torch.bfloat16, {}),
    "llama-linear": ("Llama", dict(tie_word_embeddings=True, rope_parameters={
                     "rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0}), torch.bfloat16, {}),
    "mistral": ("Mistral", dict(head_dim=16, sliding_window=7, rope_parameters=DEFAULT_ROPE), torch.bfloat16, {}),
    "phi3": ("Phi3", dict(sliding_window=None, rope_parameters={**DEFAULT_ROPE, "partial_rotary_factor": 1.0}),
             torch.bfloat16, {}),
    "phi3-longrope": ("Phi3", dict(sliding_window=40, original_max_position_embeddings=48, tie_word_embeddings=True,
                      rope_parameters=LONGROPE), torch.bfloat16, dict(lengths=[3, 40, 80])),
    "glm": ("Glm", dict(head_dim=16, attention_bias=True, rope_parameters={**DEFAULT_ROPE, "partial_rotary_factor": 0.5}),
            torch.bfloat16, {}),
    "glm4": ("Glm4", dict(head_dim=8, attention_bias=True, rope_parameters={**DEFAULT_ROPE, "partial_rotary_factor": 0.5}),
             torch.bfloat16, {}),
    # Windows and bounds small enough to matter, and another scale of scores than that of the heads.
    "gemma2": ("Gemma2", dict(head_dim=16, query_pre_attn_scalar=20, sliding_window=9, attn_logit_softcapping=2.0,
               final_logit_softcapping=3.0, num_hidden_layers=3, tie_word_embeddings=True, rope_parameters=DEFAULT_ROPE,
               hidden_activation="gelu_pytorch_tanh"), torch.bfloat16, dict(zero_centred=True)),
    # transformers reads a bound on scores from Gemma 3's configuration and does not apply it.
    "gemma3": ("Gemma3", dict(head_dim=16, query_pre_attn_scalar=20, sliding_window=9, num_hidden_layers=4,
               attn_logit_softcapping=2.0, tie_word_embeddings=True, rope_parameters={
               "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
               "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}},
               layer_types=["sliding_attention", "full_attention"] * 2), torch.bfloat16, dict(zero_centred=True, text=True)),
    # Two shapes of heads; in the wide ones two of eight pairs turn.
    "gemma4": ("Gemma4", dict(**GEMMA4, final_logit_softcapping=3.0, num_hidden_layers=4,
               layer_types=["sliding_attention", "full_attention"] * 2), torch.bfloat16, dict(text=True, seed=100)),
    # Values are keys nowhere, there is no bound on logits, and the last layer is of the other kind than the file says.
    "gemma4-unified": ("Gemma4Unified", dict(**{**GEMMA4, "attention_k_eq_v": False}, num_hidden_layers=3,
                       layer_types=["sliding_attention", "full_attention", "sliding_attention"]), torch.bfloat16,
                       dict(text=True, seed=101, lists_last=True)),
    # Experts beside a dense layer.
    "gemma4-moe": ("Gemma4", dict(**GEMMA4, final_logit_softcapping=3.0, num_hidden_layers=3, enable_moe_block=True,
                   num_experts=6, top_k_experts=2, moe_intermediate_size=24,
                   layer_types=["sliding_attention", "sliding_attention", "full_attention"]), torch.bfloat16,
                   dict(text=True, seed=102)),
    # Inputs of each layer, and last layers that attend to the keys of the last one of their kind, their feed-forward layers twice as wide.
    "gemma4-e2b": ("Gemma4", dict(**{**GEMMA4, **SMALL_GEMMA4}, final_logit_softcapping=3.0, num_hidden_layers=7, num_kv_shared_layers=3,
                   use_double_wide_mlp=True, layer_types=["sliding_attention", "full_attention", "full_attention", "sliding_attention",
                   "sliding_attention", "full_attention", "full_attention"]), torch.bfloat16, dict(text=True, seed=103)),
    "gpt-oss": ("GptOss", dict(head_dim=16, num_local_experts=4, num_experts_per_tok=2, sliding_window=8, attention_bias=True,
                rope_parameters={**YARN, "truncate": False}), torch.bfloat16, {}),
    "gpt-oss-mxfp4": ("GptOss", dict(head_dim=16, num_local_experts=3, num_experts_per_tok=2, sliding_window=8, hidden_size=64,
                      intermediate_size=32, attention_bias=True, rope_parameters={**YARN, "truncate": False}),
                      torch.bfloat16, dict(mxfp4=True)),
    # The last layer is recurrent, heads of values fill no vector, and a part of a head rotates.
    "qwen3_5": ("Qwen3_5", dict(**DELTA, head_dim=16, layer_types=["linear_attention", "full_attention", "linear_attention"],
                rope_parameters={**DEFAULT_ROPE, "partial_rotary_factor": 0.25}), torch.bfloat16,
                dict(zero_centred=True, text=True, lengths=[3, 90])),
    "qwen3_5-moe": ("Qwen3_5Moe", dict(**DELTA, head_dim=8, num_experts=6, num_experts_per_tok=2, moe_intermediate_size=24,
                    shared_expert_intermediate_size=20, layer_types=["linear_attention", "linear_attention", "full_attention"],
                    rope_parameters={**DEFAULT_ROPE, "partial_rotary_factor": 0.5}), torch.bfloat16,
                    dict(zero_centred=True, text=True, lengths=[3, 90])),
}  # fmt: skip

# Families that came later, with seeds of their own.
LATER = {
    "mixtral": ("Mixtral", dict(head_dim=16, num_local_experts=4, num_experts_per_tok=2, sliding_window=9, intermediate_size=24,
                rope_parameters=DEFAULT_ROPE), torch.bfloat16, {}),
    # A dense layer before those with experts, two experts for every token, and a correction that changes who is chosen.
    "glm4_moe": ("Glm4Moe", dict(head_dim=16, attention_bias=True, use_qk_norm=True, num_hidden_layers=2, n_routed_experts=6,
                 num_experts_per_tok=2, moe_intermediate_size=20, n_shared_experts=2, first_k_dense_replace=1,
                 routed_scaling_factor=2.5, rope_parameters={**DEFAULT_ROPE, "partial_rotary_factor": 0.5}),
                 torch.bfloat16, {}),
    "minimax_m2": ("MiniMaxM2", dict(head_dim=16, num_local_experts=6, num_experts_per_tok=2, intermediate_size=20,
                   rope_parameters={**DEFAULT_ROPE, "partial_rotary_factor": 0.5}), torch.bfloat16, {}),
    "seed_oss": ("SeedOss", dict(head_dim=16, attention_bias=True, attention_out_bias=False, rope_parameters=DEFAULT_ROPE),
                 torch.bfloat16, {}),
    # A 1 says that a layer has rotation.
    "smollm3": ("SmolLM3", dict(num_hidden_layers=4, no_rope_layers=[1, 0, 1, 1], tie_word_embeddings=True,
                rope_parameters=DEFAULT_ROPE), torch.bfloat16, {}),
    "granite": ("Granite", dict(attention_multiplier=0.2, embedding_multiplier=3.0, residual_multiplier=0.6, logits_scaling=1.6,
                tie_word_embeddings=True, rope_parameters=DEFAULT_ROPE), torch.bfloat16, {}),
    "granite-hybrid": ("GraniteMoeHybrid", dict(attention_multiplier=0.2, embedding_multiplier=3.0, residual_multiplier=0.6,
                       logits_scaling=1.6, num_local_experts=0, num_experts_per_tok=0, shared_intermediate_size=48, mamba_n_heads=8,
                       layer_types=["full_attention"] * 2, position_embedding_type="rope", rope_parameters=DEFAULT_ROPE),
                       torch.bfloat16, dict(seed=3000)),
    "ernie4_5": ("Ernie4_5", dict(head_dim=16, use_bias=True, rope_parameters=DEFAULT_ROPE), torch.bfloat16, {}),
    "olmo2": ("Olmo2", dict(rope_parameters=DEFAULT_ROPE), torch.bfloat16, {}),
    "olmo3": ("Olmo3", dict(sliding_window=9, num_hidden_layers=3, layer_types=["sliding_attention", "full_attention",
              "sliding_attention"], rope_parameters={"full_attention": YARN, "sliding_attention": {**DEFAULT_ROPE,
              "rope_theta": YARN["rope_theta"]}}), torch.bfloat16, {}),
    "exaone4": ("Exaone4", dict(sliding_window=9, num_hidden_layers=3, rope_parameters=DEFAULT_ROPE,
                layer_types=["sliding_attention", "full_attention", "sliding_attention"]), torch.bfloat16, {}),
    "hunyuan": ("HunYuanDenseV1", dict(head_dim=16, rope_parameters={**DEFAULT_ROPE, "rope_type": "dynamic", "factor": 1.0,
                "alpha": 50.0}), torch.bfloat16, {}),
    # Projections of recurrent layers interleaved by key head.
    "qwen3_next": ("Qwen3Next", dict(**DELTA, head_dim=8, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=16,
                   shared_expert_intermediate_size=20, layer_types=["linear_attention", "full_attention", "linear_attention"],
                   rope_parameters={**DEFAULT_ROPE, "partial_rotary_factor": 0.5}), torch.bfloat16,
                   dict(zero_centred=True)),
}  # fmt: skip

VISION_QWEN = dict(depth=1, hidden_size=16, intermediate_size=16, num_heads=2, out_hidden_size=32, patch_size=4)
MROPE = {**DEFAULT_ROPE, "mrope_section": [2, 1, 1]}

# Models with a tower for images, of which the text part is compared.
# name -> (class, configuration of the tower, of the text part, of both, options)
WITH_TOWERS = {
    # transformers writes the names that such files have on the hub: `language_model.model.` and `language_model.lm_head.`.
    "mistral3": ("Mistral3", dict(model_type="pixtral", hidden_size=16, intermediate_size=16, num_hidden_layers=1,
                 num_attention_heads=2, head_dim=8, image_size=16, patch_size=4),
                 dict(model_type="mistral", head_dim=16, sliding_window=7, rope_parameters=DEFAULT_ROPE), {}, {}),
    # Sizes of the text part beside those of the tower, as on the hub, and names without `language_model.`.
    "qwen2.5-vl": ("Qwen2_5_VL", dict(**VISION_QWEN, fullatt_block_indexes=[0]),
                   dict(rope_parameters=MROPE, use_sliding_window=False), {}, dict(flat=True)),
    "qwen3-vl": ("Qwen3VL", dict(**VISION_QWEN, num_position_embeddings=16, deepstack_visual_indexes=[0]),
                 dict(head_dim=8, rope_parameters={**MROPE, "mrope_interleaved": True}), dict(tie_word_embeddings=True), {}),
    # As on the hub: without what the family takes anyway, and with the keys of transformers 4.
    "gemma3-vision": ("Gemma3", dict(model_type="siglip_vision_model", hidden_size=16, intermediate_size=16, num_hidden_layers=1,
                      num_attention_heads=2, image_size=16, patch_size=4),
                      dict(hidden_size=8, head_dim=256, num_attention_heads=8, num_key_value_heads=4, sliding_window=9,
                      num_hidden_layers=2, sliding_window_pattern=2), dict(tie_word_embeddings=True, mm_tokens_per_image=4),
                      dict(zero_centred=True, without=True)),
    # As on the hub: the keys that transformers 5 writes as sizes by layer.
    "gemma4-towers": ("Gemma4", dict(model_type="gemma4_vision", hidden_size=16, intermediate_size=16, num_hidden_layers=1,
                      num_attention_heads=2, num_key_value_heads=2, head_dim=8, patch_size=4, position_embedding_size=16),
                      dict(**GEMMA4, pad_token_id=0, num_hidden_layers=3, final_logit_softcapping=3.0,
                           layer_types=["sliding_attention", "sliding_attention", "full_attention"]),
                      dict(tie_word_embeddings=True, audio_config=None), dict(by_kind=True, seed=1100)),
    # As E4B is: with towers for images and sound, its feed-forward layers of one width.
    "gemma4-e4b-towers": ("Gemma4", dict(model_type="gemma4_vision", hidden_size=16, intermediate_size=16, num_hidden_layers=1,
                          num_attention_heads=2, num_key_value_heads=2, head_dim=8, patch_size=4, position_embedding_size=16),
                          dict(**{**GEMMA4, **SMALL_GEMMA4}, pad_token_id=0, num_hidden_layers=4, num_kv_shared_layers=2,
                               final_logit_softcapping=3.0, layer_types=["sliding_attention", "full_attention"] * 2),
                          dict(tie_word_embeddings=True, audio_config=dict(hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                               subsampling_conv_channels=[4, 4], output_proj_dims=16)), dict(by_kind=True, seed=1102)),
    # As 12B is, with a key of the published files: one key head in layers that see everything, whose values are its keys.
    "gemma4-unified-towers": ("Gemma4Unified", dict(patch_size=4, mm_embed_dim=16, mm_posemb_size=16, output_proj_dims=16),
                              dict(**{**GEMMA4, "num_global_key_value_heads": 1}, pad_token_id=0, num_hidden_layers=3,
                                   final_logit_softcapping=3.0,
                                   layer_types=["sliding_attention", "sliding_attention", "full_attention"]),
                              dict(tie_word_embeddings=True, vision_soft_tokens_per_image=280, audio_config=dict(audio_embed_dim=16)),
                              dict(by_kind=True, seed=1101)),
    "glm4v": ("Glm4v", dict(**VISION_QWEN, image_size=16),
              dict(rope_parameters={**MROPE, "partial_rotary_factor": 0.5, "mrope_section": [1, 1]}), {}, {}),
    # Heads of 256, as in all that are published.
    "qwen3_5-towers": ("Qwen3_5", dict(**VISION_QWEN, num_position_embeddings=16),
                       dict(**DELTA, head_dim=256, num_attention_heads=2, num_key_value_heads=1,
                            layer_types=["linear_attention", "linear_attention", "full_attention"],
                            rope_parameters={**DEFAULT_ROPE, "partial_rotary_factor": 0.25, "mrope_section": [11, 11, 10],
                                             "mrope_interleaved": True}), {}, dict(zero_centred=True)),
    # Queries scaled by their position, which grows past the original context several times.
    "ministral3": ("Mistral3", dict(model_type="pixtral", hidden_size=16, intermediate_size=16, num_hidden_layers=1,
                   num_attention_heads=2, head_dim=8, image_size=16, patch_size=4),
                   dict(model_type="ministral3", head_dim=16, rope_parameters={**YARN, "original_max_position_embeddings": 16,
                        "mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.5}), {}, {}),
    # All experts of a layer in one tensor, `[experts, hidden, 2 · width]`, as on the hub.
    "qwen3-vl-moe": ("Qwen3VLMoe", dict(**VISION_QWEN, num_position_embeddings=16, deepstack_visual_indexes=[0]),
                     dict(head_dim=8, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=24, rope_parameters={**MROPE,
                          "mrope_interleaved": True}), {}, {}),
}  # fmt: skip

E2M1 = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0])
"""The sixteen numbers of MXFP4 (https://www.opencompute.org/documents/ocp-microscaling-formats-mx-v1-0-spec-final-pdf)."""


def fill(model: torch.nn.Module, norm: float = 1.0) -> None:
    """Weights wide enough that logits differ by several units, as a trained model's do; norms around 1, or what stands for it."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" in name:
                # Norms of recurrent layers are stored whole in any family.
                parameter.normal_(1.0 if "linear_attn" in name else norm, 0.2)
            elif name.endswith(("router.scale", "per_expert_scale")):
                parameter.uniform_(0.5, 1.5)
            elif "bias" in name or "sinks" in name:
                parameter.normal_(0.0, 0.5)
            else:
                inputs = parameter.shape[-2] if name.endswith(("gate_up_proj", "down_proj")) else parameter.shape[-1]
                parameter.normal_(0.0, inputs**-0.5 * 1.2)
        for name, buffer in model.named_buffers():
            if name.endswith("e_score_correction_bias"):
                buffer.normal_(0.0, 0.5)
            if name.endswith("layer_scalar"):
                buffer.uniform_(0.5, 1.5)


def to_mxfp4(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """[experts, outputs, inputs] to blocks [experts, outputs, inputs / 32, 16] of two nibbles a byte, the first one low, and
    scales [experts, outputs, inputs / 32], exponents with 127 added."""
    groups = weight.float().unflatten(-1, (-1, 32))
    exponent = torch.floor(torch.log2(groups.abs().amax(-1).clamp_min(1e-30))) - 2
    scaled = groups / torch.exp2(exponent)[..., None]
    nibbles = (scaled[..., None] - E2M1).abs().argmin(-1).to(torch.uint8)
    return nibbles[..., 0::2] | nibbles[..., 1::2] << 4, (exponent + 127).to(torch.uint8)


def from_mxfp4(blocks: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """The numbers, [experts, outputs, inputs]."""
    nibbles = torch.stack([blocks & 15, blocks >> 4], -1).flatten(-2).long()
    return (E2M1[nibbles] * torch.exp2(scales.float() - 127)[..., None]).flatten(-2)


def quantise(folder: Path, model: torch.nn.Module) -> None:
    """Stores the experts as gpt-oss' makers do, and puts the numbers that these stand for into the model."""
    tensors = load_file(folder / "model.safetensors")
    for name in [name for name in tensors if name.endswith(("experts.gate_up_proj", "experts.down_proj"))]:
        blocks, scales = to_mxfp4(tensors.pop(name).transpose(1, 2))
        tensors[f"{name}_blocks"], tensors[f"{name}_scales"] = blocks.contiguous(), scales.contiguous()
        parameter = dict(model.named_parameters())[name]
        parameter.data = from_mxfp4(blocks, scales).transpose(1, 2).contiguous()
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    config["quantization_config"] = {
        "quant_method": "mxfp4",
        "modules_to_not_convert": ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"],
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")


def as_chatglm(glm: Path, folder: Path) -> None:
    """GLM-4 9B as it was first published, under the names of its own code: the same weights, the same logits."""
    folder.mkdir()
    given = json.loads((glm / "config.json").read_text())
    heads, head_dim = given["num_attention_heads"], given["head_dim"]
    tensors, renamed = load_file(glm / "model.safetensors"), {}
    renamed["transformer.embedding.word_embeddings.weight"] = tensors["model.embed_tokens.weight"]
    renamed["transformer.encoder.final_layernorm.weight"] = tensors["model.norm.weight"]
    renamed["transformer.output_layer.weight"] = tensors["lm_head.weight"]
    renamed["transformer.rotary_pos_emb.inv_freq"] = torch.ones(head_dim // 4, dtype=torch.bfloat16)
    for layer in range(given["num_hidden_layers"]):
        old, new = f"model.layers.{layer}", f"transformer.encoder.layers.{layer}"
        for what in ["weight", "bias"]:
            parts = [tensors[f"{old}.self_attn.{part}_proj.{what}"] for part in "qkv"]
            renamed[f"{new}.self_attention.query_key_value.{what}"] = torch.cat(parts)
        for was, name in [
            ("self_attn.o_proj", "self_attention.dense"), ("mlp.gate_up_proj", "mlp.dense_h_to_4h"),
            ("mlp.down_proj", "mlp.dense_4h_to_h"), ("input_layernorm", "input_layernorm"),
            ("post_attention_layernorm", "post_attention_layernorm"),
        ]:  # fmt: skip
            renamed[f"{new}.{name}.weight"] = tensors[f"{old}.{was}.weight"]
    save_file({name: tensor.clone() for name, tensor in renamed.items()}, folder / "model.safetensors", metadata={"format": "pt"})
    config = {
        "model_type": "chatglm", "architectures": ["ChatGLMModel"], "add_bias_linear": False, "add_qkv_bias": True,
        "apply_query_key_layer_scaling": True, "apply_residual_connection_post_layernorm": False,
        "attention_softmax_in_fp32": True, "ffn_hidden_size": given["intermediate_size"], "fp32_residual_connection": False,
        "hidden_size": given["hidden_size"], "kv_channels": head_dim, "layernorm_epsilon": given["rms_norm_eps"],
        "multi_query_attention": True, "multi_query_group_num": given["num_key_value_heads"], "num_attention_heads": heads,
        "num_layers": given["num_hidden_layers"], "original_rope": True, "padded_vocab_size": given["vocab_size"],
        "post_layer_norm": True, "rmsnorm": True, "rope_ratio": 1, "seq_length": given["max_position_embeddings"],
        "tie_word_embeddings": False, "eos_token_id": [2], "torch_dtype": "bfloat16", "vocab_size": given["vocab_size"],
        "attention_dropout": 0.0, "hidden_dropout": 0.0, "use_cache": True, "bias_dropout_fusion": True,
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    shutil.copy(glm / "golden.safetensors", folder)


def make(name: str, seed: int) -> None:
    family, changes, dtype, options = {**CHECKPOINTS, **LATER}[name]
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    text = "Text" if options.get("text") else ""
    config = getattr(transformers, f"{family}{text}Config")(**{**SIZES, **changes})
    kind = getattr(transformers, f"{family}ForCausalLM")
    torch.manual_seed(seed)
    model = kind(config)
    fill(model, 0.0 if options.get("zero_centred") else 1.0)
    model.to(dtype).save_pretrained(folder, max_shard_size=options.get("shard", "1GB"))
    (folder / "generation_config.json").unlink(missing_ok=True)
    if options.get("lists_last"):
        given = json.loads((folder / "config.json").read_text())
        given["layer_types"][-1] = "sliding_attention"
        (folder / "config.json").write_text(json.dumps(given, indent=2) + "\n")

    # Loaded again, not converted back: `to` rounds the rotary frequencies too.
    model = kind.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    if options.get("mxfp4"):
        quantise(folder, model)
    golden = {}
    for i, length in enumerate(options.get("lengths", [3, 60])):
        tokens = torch.randint(0, config.vocab_size, (1, length))
        with torch.no_grad():
            logits = model(tokens).logits[0].float()
        golden[f"tokens.{i}"] = tokens[0].to(torch.int64)
        golden[f"logits.{i}"] = logits.contiguous()
    save_file(golden, folder / "golden.safetensors")
    size = sum(f.stat().st_size for f in folder.iterdir())
    print(f"{name}: {size:,} bytes, logits from {logits.min():.2f} to {logits.max():.2f}")


def as_published(folder: Path, tensors: dict, options: dict) -> None:
    """Gives a checkpoint that transformers 5 has saved the form that such models have on the hub."""
    config = json.loads((folder / "config.json").read_text())
    if options.get("without"):
        text = config["text_config"]
        for key in ("head_dim", "num_attention_heads", "num_key_value_heads", "layer_types", "rope_parameters", "rms_norm_eps"):
            text.pop(key)
        text |= {"sliding_window_pattern": 2, "rope_theta": 1e6, "rope_local_base_freq": 1e4}
    if options.get("by_kind"):
        text = config["text_config"]
        own = text.pop("per_layer_config").popitem()[1]
        text |= {"global_head_dim": own["head_dim"], "num_global_key_value_heads": own.get("num_key_value_heads")}
    if options.get("flat"):
        text = config.pop("text_config")
        rope = text.pop("rope_parameters")
        config = {**text, **config, "rope_theta": rope["rope_theta"]}
        config["rope_scaling"] = {"type": "mrope", "mrope_section": rope["mrope_section"]}
        for name in list(tensors):
            tensors[name.replace("model.language_model.", "model.").replace("model.visual.", "visual.")] = tensors.pop(name)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def make_with_towers(name: str, seed: int) -> None:
    """The whole model is saved; the logits are those that its text part gives for text alone."""
    family, vision, text, both, options = WITH_TOWERS[name]
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    sizes = {key: value for key, value in SIZES.items() if key != "tie_word_embeddings"}
    config = getattr(transformers, f"{family}Config")(
        vision_config=vision, text_config={**sizes, **text}, **{"tie_word_embeddings": False, **both}
    )
    kind = getattr(transformers, f"{family}ForConditionalGeneration")
    torch.manual_seed(seed)
    model = kind(config)
    fill(model, 0.0 if options.get("zero_centred") else 1.0)
    model.to(torch.bfloat16).save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    model = kind.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    as_published(folder, load_file(folder / "model.safetensors"), options)
    # What transformers reads from that form is the same.
    again = kind.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    golden = {}
    for i, length in enumerate([3, 60]):
        tokens = torch.randint(0, config.get_text_config().vocab_size, (1, length))
        with torch.no_grad():
            logits, same = model(tokens).logits[0].float(), again(tokens).logits[0].float()
        assert torch.equal(logits, same), name
        golden[f"tokens.{i}"] = tokens[0].to(torch.int64)
        golden[f"logits.{i}"] = logits.contiguous()
    save_file(golden, folder / "golden.safetensors")
    size = sum(f.stat().st_size for f in folder.iterdir())
    print(f"{name}: {size:,} bytes, logits from {logits.min():.2f} to {logits.max():.2f}")


def main() -> None:
    wanted = sys.argv[1:] or [*CHECKPOINTS, *LATER, *WITH_TOWERS]
    for table, first, one in [(CHECKPOINTS, 0, make), (LATER, 2000, make), (WITH_TOWERS, 1000, make_with_towers)]:
        # Those that say their seed move no other's.
        counted = [name for name in table if "seed" not in table[name][-1]]
        for name in table:
            if name in wanted:
                one(name, table[name][-1].get("seed") or first + counted.index(name))
    if "glm" in wanted:
        shutil.rmtree(OUT / "chatglm", ignore_errors=True)
        as_chatglm(OUT / "glm", OUT / "chatglm")


if __name__ == "__main__":
    main()
