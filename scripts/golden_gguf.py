#!/usr/bin/env python3
"""Makes tests/data/gguf: tiny random models as GGUF files, of families with recurrent layers and of Gemma 4 in f32 and in Q8_0, of others
from tests/data/checkpoints in f32, and what llama.cpp says of them.

    pip install torch transformers gguf xllamacpp
    python scripts/golden_gguf.py [NAME…]

Tensors of recurrent families are those of transformers' classes, rearranged as llama.cpp's converter (conversion/qwen.py) does: value heads tiled
over key heads, rates of decay as -exp(A_log), one added to norms that are stored less one; Gemma 4's are as they are. Others are rearranged where its
converter is Llama's: the two rows of a rotary pair side by side. Beside NAME.gguf lies NAME.json:
for each prompt of token ids the ids that llama.cpp (the wheel xllamacpp) takes greedily, and their log-probabilities.
tests/model/llama_cpp.rs follows them.
"""

import json
import sys
from pathlib import Path

import gguf
import numpy as np
import torch
import transformers
import xllamacpp
from safetensors.torch import load_file

from golden_models import DEFAULT_ROPE, GEMMA4, SIZES, fill
from golden_models import OUT as CHECKPOINTS

OUT = Path(__file__).resolve().parent.parent / "tests" / "data" / "gguf"
HEADS = dict(linear_num_key_heads=2, linear_num_value_heads=6, linear_key_head_dim=32, linear_value_head_dim=32,
             linear_conv_kernel_dim=4)  # fmt: skip
TEXT = dict(**{**SIZES, "num_hidden_layers": 4, "hidden_size": 32, "intermediate_size": 64, "vocab_size": 53}, **HEADS, head_dim=32, full_attention_interval=2,
            rope_parameters={**DEFAULT_ROPE, "partial_rotary_factor": 0.25})  # fmt: skip
GEMMA = {**SIZES, **GEMMA4, "num_hidden_layers": 4, "intermediate_size": 64, "head_dim": 32, "global_head_dim": 64,
         "layer_types": ["sliding_attention", "full_attention"] * 2, "final_logit_softcapping": 3.0}  # fmt: skip
# file -> (class, configuration)
MODELS = {
    "gemma4": ("Gemma4", GEMMA),
    "gemma4-moe": ("Gemma4", dict(**GEMMA, enable_moe_block=True, num_experts=6, top_k_experts=2, moe_intermediate_size=32)),
    "gemma4-e2b": ("Gemma4", dict(**{**GEMMA, "attention_k_eq_v": False, "num_global_key_value_heads": None, "num_hidden_layers": 6,
                   "layer_types": ["sliding_attention", "full_attention"] * 3, "hidden_size_per_layer_input": 32},
                   vocab_size_per_layer_input=SIZES["vocab_size"], num_kv_shared_layers=2, use_double_wide_mlp=True)),
    "qwen35": ("Qwen3_5", TEXT),
    "qwen35moe": ("Qwen3_5Moe", dict(**TEXT, num_experts=6, num_experts_per_tok=2, moe_intermediate_size=32,
                  shared_expert_intermediate_size=32)),
}  # fmt: skip

MODULES = {
    "input_layernorm.weight": "attn_norm.weight", "post_attention_layernorm.weight": "post_attention_norm.weight",
    "self_attn.q_proj.weight": "attn_q.weight", "self_attn.k_proj.weight": "attn_k.weight", "self_attn.v_proj.weight": "attn_v.weight",
    "self_attn.o_proj.weight": "attn_output.weight", "self_attn.q_norm.weight": "attn_q_norm.weight",
    "self_attn.k_norm.weight": "attn_k_norm.weight", "linear_attn.in_proj_qkv.weight": "attn_qkv.weight",
    "linear_attn.in_proj_z.weight": "attn_gate.weight", "linear_attn.in_proj_a.weight": "ssm_alpha.weight",
    "linear_attn.in_proj_b.weight": "ssm_beta.weight", "linear_attn.conv1d.weight": "ssm_conv1d.weight",
    "linear_attn.dt_bias": "ssm_dt.bias", "linear_attn.A_log": "ssm_a", "linear_attn.norm.weight": "ssm_norm.weight",
    "linear_attn.out_proj.weight": "ssm_out.weight", "mlp.gate_proj.weight": "ffn_gate.weight", "mlp.up_proj.weight": "ffn_up.weight",
    "mlp.down_proj.weight": "ffn_down.weight", "mlp.gate.weight": "ffn_gate_inp.weight",
    "mlp.experts.down_proj": "ffn_down_exps.weight", "mlp.shared_expert.gate_proj.weight": "ffn_gate_shexp.weight",
    "mlp.shared_expert.up_proj.weight": "ffn_up_shexp.weight", "mlp.shared_expert.down_proj.weight": "ffn_down_shexp.weight",
    "mlp.shared_expert_gate.weight": "ffn_gate_inp_shexp.weight",
}  # fmt: skip
GEMMA_MODULES = {
    **MODULES, "pre_feedforward_layernorm.weight": "ffn_norm.weight", "post_feedforward_layernorm.weight": "post_ffw_norm.weight",
    "layer_scalar": "layer_output_scale.weight", "post_feedforward_layernorm_1.weight": "post_ffw_norm_1.weight",
    "pre_feedforward_layernorm_2.weight": "pre_ffw_norm_2.weight", "post_feedforward_layernorm_2.weight": "post_ffw_norm_2.weight",
    "router.proj.weight": "ffn_gate_inp.weight", "router.scale": "ffn_gate_inp.scale",
    "router.per_expert_scale": "ffn_down_exps.scale", "experts.gate_up_proj": "ffn_gate_up_exps.weight",
    "experts.down_proj": "ffn_down_exps.weight", "per_layer_input_gate.weight": "inp_gate.weight",
    "per_layer_projection.weight": "proj.weight", "post_per_layer_input_norm.weight": "post_norm.weight",
}  # fmt: skip


def tiled(x: torch.Tensor, dimension: int, width: int) -> torch.Tensor:
    """Value heads of this width along a dimension: first of every key head the first one, then of every one the second."""
    keys = HEADS["linear_num_key_heads"]
    parts = x.unflatten(dimension, (keys, -1, width))
    return parts.transpose(dimension, dimension + 1).flatten(dimension, dimension + 2)


def rearranged(name: str, x: torch.Tensor) -> torch.Tensor:
    keys = 2 * HEADS["linear_num_key_heads"] * HEADS["linear_key_head_dim"]
    width = HEADS["linear_value_head_dim"]
    if "in_proj_qkv" in name or "conv1d" in name:
        x = torch.cat([x[:keys], tiled(x[keys:], 0, width)])
        return x.squeeze(1) if "conv1d" in name else x
    if "in_proj_z" in name:
        return tiled(x, 0, width)
    if name.endswith(("in_proj_a.weight", "in_proj_b.weight", "dt_bias")):
        return tiled(x, 0, 1)
    if name.endswith("A_log"):
        return -torch.exp(tiled(x, 0, 1))
    if "out_proj" in name:
        return tiled(x, 1, width)
    if name.endswith("shared_expert_gate.weight"):
        return x.squeeze(0)
    if "norm" in name and "linear_attn" not in name:
        return x + 1
    return x


def describe_gemma(config: transformers.PretrainedConfig, writer: gguf.GGUFWriter) -> None:
    """The keys that conversion/gemma.py writes for Gemma 4 alone; sizes without `swa` are those of layers without windows."""
    windowed = [kind == "sliding_attention" for kind in config.layer_types]
    swa, full, rope = config.per_layer_config[0], config.per_layer_config[1], config.rope_parameters
    writer.add_head_count_kv([(swa if has else full).num_key_value_heads for has in windowed])
    writer.add_key_length(full.head_dim)
    writer.add_value_length(full.head_dim)
    writer.add_key_length_swa(swa.head_dim)
    writer.add_value_length_swa(swa.head_dim)
    writer.add_sliding_window(config.sliding_window)
    writer.add_sliding_window_pattern(windowed)
    writer.add_shared_kv_layers(config.num_kv_shared_layers)
    writer.add_embedding_length_per_layer_input(config.hidden_size_per_layer_input)
    writer.add_final_logit_softcapping(config.final_logit_softcapping)
    writer.add_rope_freq_base(rope["full_attention"]["rope_theta"])
    writer.add_rope_freq_base_swa(rope["sliding_attention"]["rope_theta"])
    writer.add_rope_dimension_count(full.head_dim)
    writer.add_rope_dimension_count_swa(swa.head_dim)
    own = config.num_hidden_layers - config.num_kv_shared_layers
    wide = 2 if config.use_double_wide_mlp else 1
    widths = [config.intermediate_size * (1 if layer < own else wide) for layer in range(config.num_hidden_layers)]
    writer.add_feed_forward_length(widths if wide > 1 else config.intermediate_size)
    if config.enable_moe_block:
        writer.add_expert_count(config.num_experts)
        writer.add_expert_used_count(config.top_k_experts)
        writer.add_expert_feed_forward_length(config.moe_intermediate_size)
    pairs = full.head_dim // 2
    turned = int(pairs * rope["full_attention"]["partial_rotary_factor"])
    writer.add_tensor("rope_freqs.weight", np.array([1.0] * turned + [1e30] * (pairs - turned), dtype=np.float32))


def describe_qwen(config: transformers.PretrainedConfig, writer: gguf.GGUFWriter) -> None:
    arch = writer.arch
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_rope_dimension_count(int(config.head_dim * config.rope_parameters["partial_rotary_factor"]))
    writer.add_rope_dimension_sections([2, 1, 1, 0])
    writer.add_ssm_conv_kernel(config.linear_conv_kernel_dim)
    writer.add_ssm_state_size(config.linear_key_head_dim)
    writer.add_ssm_group_count(config.linear_num_key_heads)
    writer.add_ssm_time_step_rank(config.linear_num_value_heads)
    writer.add_ssm_inner_size(config.linear_num_value_heads * config.linear_value_head_dim)
    writer.add_uint32(f"{arch}.full_attention_interval", 2)
    if arch == "qwen35moe":
        writer.add_expert_count(config.num_experts)
        writer.add_expert_used_count(config.num_experts_per_tok)
        writer.add_expert_feed_forward_length(config.moe_intermediate_size)
        writer.add_expert_shared_feed_forward_length(config.shared_expert_intermediate_size)
    else:
        writer.add_feed_forward_length(config.intermediate_size)


def write(arch: str, model: torch.nn.Module, path: Path, packed: bool) -> None:
    config, writer = model.config, gguf.GGUFWriter(path, arch)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_head_count(config.num_attention_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    gemma = arch == "gemma4"
    (describe_gemma if gemma else describe_qwen)(config, writer)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen35")
    writer.add_token_list([f"t{index}" for index in range(config.vocab_size)])
    writer.add_token_types([gguf.TokenType.NORMAL] * config.vocab_size)
    writer.add_token_merges(["t 1"])
    writer.add_eos_token_id(2)
    outside = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight", "lm_head.weight": "output.weight",
               "model.embed_tokens_per_layer.weight": "per_layer_token_embd.weight",
               "model.per_layer_model_projection.weight": "per_layer_model_proj.weight",
               "model.per_layer_projection_norm.weight": "per_layer_proj_norm.weight"}  # fmt: skip
    for name, x in model.state_dict().items():
        if gemma and name == "lm_head.weight":
            continue
        x = x.float() if gemma else rearranged(name, x.float())
        if name in outside:
            named = [(outside[name], x)]
        else:
            _, _, layer, module = name.split(".", 3)
            if module == "mlp.experts.gate_up_proj":
                gate, up = x.chunk(2, dim=1)
                named = [(f"blk.{layer}.ffn_gate_exps.weight", gate), (f"blk.{layer}.ffn_up_exps.weight", up)]
            else:
                named = [(f"blk.{layer}.{(GEMMA_MODULES if gemma else MODULES)[module]}", x)]
        for new, tensor in named:
            numbers = np.ascontiguousarray(tensor.detach().numpy(), dtype=np.float32)
            if packed and tensor.ndim > 1 and not any(kept in new for kept in ("ssm_conv1d", "ffn_gate_inp")):
                kind = gguf.GGMLQuantizationType.Q8_0
                writer.add_tensor(new, gguf.quants.quantize(numbers, kind), raw_dtype=kind)
            else:
                writer.add_tensor(new, numbers)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def ask(path: Path, prompts: list[list[int]], packed: bool = False) -> list[dict]:
    """What llama.cpp continues each prompt with; files in eight bits, whose activations are rounded anyway, as it comes."""
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx, params.n_parallel, params.warmup = 256, 1, False
    params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
    # Its flash attention rounds to sixteen bits on the way, whatever the cache holds.
    if not packed:
        params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    found = []
    for prompt in prompts:
        answer = server.handle_completions({
            "prompt": prompt, "n_predict": 16, "temperature": 0.0, "logprobs": 2, "cache_prompt": False,
        })  # fmt: skip
        steps = answer["choices"][0]["logprobs"]["content"]
        found.append({
            "prompt": prompt, "ids": [step["id"] for step in steps],
            "logprobs": [round(step["logprob"], 5) for step in steps],
            "margins": [round(step["top_logprobs"][0]["logprob"] - step["top_logprobs"][1]["logprob"], 5) for step in steps],
        })  # fmt: skip
    return found


# From checkpoints: name -> (name of the checkpoint, architecture, whether pairs are side by side, keys of the architecture, tensors
# under other names).
LLAMA_LIKE = {
    "mixtral": ("mixtral", "llama", True, lambda c: {"expert_count": c.num_local_experts, "expert_used_count": c.num_experts_per_tok}, {}),
    "mistral3": ("ministral3", "mistral3", True, lambda c: {
        "attention.temperature_scale": c.rope_parameters["llama_4_scaling_beta"],
        "rope.scaling.yarn_log_multiplier": c.rope_parameters["mscale_all_dim"]}, {}),
    "seed_oss": ("seed_oss", "seed_oss", False, lambda c: {}, {"ffn_norm": "post_attention_norm"}),
    "smollm3": ("smollm3", "smollm3", True, lambda c: {}, {}),
    "granite": ("granite", "granite", True, lambda c: {
        "embedding_scale": c.embedding_multiplier, "attention.scale": c.attention_multiplier,
        "residual_scale": c.residual_multiplier, "logit_scale": c.logits_scaling}, {}),
    "ernie4_5": ("ernie4_5", "ernie4_5", False, lambda c: {}, {}),
    "olmo2": ("olmo2", "olmo2", False, lambda c: {}, {"ffn_norm": "post_attention_norm"}),
    "olmo3": ("olmo3", "olmo2", False, lambda c: {}, {"ffn_norm": "post_attention_norm"}),
    "exaone4": ("exaone4", "exaone4", False, lambda c: {}, {"ffn_norm": "post_attention_norm"}),
    "hunyuan-dense": ("hunyuan", "hunyuan-dense", False, lambda c: {}, {}),
    "glm4moe": ("glm4_moe", "glm4moe", False, lambda c: {
        "expert_count": c.n_routed_experts, "expert_used_count": c.num_experts_per_tok, "expert_shared_count": c.n_shared_experts,
        "expert_feed_forward_length": c.moe_intermediate_size, "leading_dense_block_count": c.first_k_dense_replace,
        "expert_gating_func": 2, "expert_weights_scale": c.routed_scaling_factor, "expert_weights_norm": True},
        {"ffn_norm": "post_attention_norm"}),
    "minimax-m2": ("minimax_m2", "minimax-m2", False, lambda c: {
        "expert_count": c.num_local_experts, "expert_used_count": c.num_experts_per_tok,
        "expert_feed_forward_length": c.intermediate_size, "expert_gating_func": 2}, {}),
}  # fmt: skip

PARTS = {
    "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
    "self_attn.query_layernorm": "attn_q_norm", "self_attn.key_layernorm": "attn_k_norm", "post_attention_layernorm": "ffn_norm",
    "post_feedforward_layernorm": "post_ffw_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
    "mlp.gate": "ffn_gate_inp", "block_sparse_moe.gate": "ffn_gate_inp", "mlp.shared_experts.gate_proj": "ffn_gate_shexp",
    "mlp.shared_experts.up_proj": "ffn_up_shexp", "mlp.shared_experts.down_proj": "ffn_down_shexp",
}  # fmt: skip
EXPERTS = {"w1": "gate", "w2": "down", "w3": "up", "gate_proj": "gate", "down_proj": "down", "up_proj": "up"}


def named(name: str, others: dict) -> tuple[str, int | None]:
    """The name in GGUF files, and the number of the expert if it is one's."""
    outside = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight", "lm_head.weight": "output.weight"}
    if name in outside:
        return outside[name], None
    _, _, layer, rest = name.split(".", 3)
    if rest.endswith("e_score_correction_bias"):
        return f"blk.{layer}.exp_probs_b.bias", None
    if ".experts." in rest:
        expert, part = rest.split(".experts.")[1].split(".")[:2]
        return f"blk.{layer}.ffn_{EXPERTS[part]}_exps.weight", int(expert)
    module, kind = rest.rsplit(".", 1)
    part = PARTS[module]
    return f"blk.{layer}.{others.get(part, part)}.{kind}", None


def as_llama_cpp_runs_it(arch: str, config) -> None:
    """llama.cpp rotates all but every fourth layer of SmolLM3, and knows windows of EXAONE 4 by its 64 layers and none of Mixtral."""
    if arch == "smollm3":
        config.no_rope_layers = [int((layer + 1) % 4 != 0) for layer in range(config.num_hidden_layers)]
    if arch in ("exaone4", "llama"):
        config.sliding_window = None
    if arch == "exaone4":
        config.layer_types = ["full_attention"] * config.num_hidden_layers


def convert(name: str) -> tuple[Path, object, torch.nn.Module]:
    """Writes a checkpoint as a GGUF file; what transformers makes of the same checkpoint comes with it."""
    checkpoint, arch, pairs, keys, others = LLAMA_LIKE[name]
    folder = CHECKPOINTS / checkpoint
    whole = transformers.AutoConfig.from_pretrained(folder)
    config = whole.get_text_config()
    kind = getattr(transformers, whole.architectures[0])
    as_llama_cpp_runs_it(arch, config)
    model = kind.from_pretrained(folder, config=whole, dtype=torch.float32, attn_implementation="eager").eval()
    if arch == "ernie4_5":
        # llama.cpp knows no biases of feed-forward layers here, and no published model has biases.
        for parameter, x in model.named_parameters():
            if parameter.endswith(".bias"):
                x.data.zero_()
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    path = OUT / f"{name}.gguf"
    writer = gguf.GGUFWriter(path, arch)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(head_dim)
    writer.add_value_length(head_dim)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    rope = config.rope_parameters
    rope = rope.get("full_attention", rope)
    theta = rope["rope_theta"]
    if rope["rope_type"] == "dynamic":
        theta *= rope["alpha"] ** (head_dim / (head_dim - 2))
    writer.add_rope_freq_base(theta)
    writer.add_rope_dimension_count(int(head_dim * rope.get("partial_rotary_factor", 1.0)))
    if rope["rope_type"] == "yarn":
        writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        writer.add_rope_scaling_factor(rope["factor"])
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
        writer.add_rope_scaling_yarn_beta_fast(rope["beta_fast"])
        writer.add_rope_scaling_yarn_beta_slow(rope["beta_slow"])
    if getattr(config, "sliding_window", None):
        writer.add_sliding_window(config.sliding_window)
        if getattr(config, "layer_types", None):
            writer.add_sliding_window_pattern([kind == "sliding_attention" for kind in config.layer_types])
    for key, value in keys(config).items():
        add = {bool: writer.add_bool, int: writer.add_uint32, float: writer.add_float32}[type(value)]
        add(f"{arch}.{key}", value)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list([f"t{index}" for index in range(config.vocab_size)])
    writer.add_token_types([gguf.TokenType.NORMAL] * config.vocab_size)
    writer.add_token_merges(["t 1"])
    writer.add_eos_token_id(2)
    experts = {}
    for tensor, x in load_file(folder / "model.safetensors").items():
        tensor = tensor.replace("language_model.model.", "model.").replace("language_model.lm_head", "lm_head")
        tensor = tensor.replace("model.language_model.", "model.")
        if not tensor.startswith(("model.embed_tokens", "model.norm", "model.layers", "lm_head")):
            continue
        if arch == "ernie4_5" and tensor.endswith(".bias"):
            continue
        new, expert = named(tensor, others)
        if pairs and (".attn_q." in new or ".attn_k." in new):
            x = x.unflatten(0, (-1, 2, head_dim // 2)).transpose(1, 2).flatten(0, 2)
        numbers = np.ascontiguousarray(x.float().numpy())
        if expert is None:
            writer.add_tensor(new, numbers)
        else:
            experts.setdefault(new, {})[expert] = numbers
    for new, parts in experts.items():
        writer.add_tensor(new, np.stack([parts[index] for index in range(len(parts))]))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path, config, model


def compare(label: str, model: torch.nn.Module, found: list[dict]) -> None:
    for one in found:
        tokens = torch.tensor([one["prompt"] + one["ids"]])
        with torch.no_grad():
            logprobs = model(tokens).logits[0].log_softmax(-1)
        theirs = [logprobs[len(one["prompt"]) + at - 1, token].item() for at, token in enumerate(one["ids"])]
        worst = max(abs(a - b) for a, b in zip(theirs, one["logprobs"]))
        print(f"{label}, {len(one['prompt'])} tokens: transformers and llama.cpp differ by {worst:.5f} at most")


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    wanted = sys.argv[1:] or [*MODELS, *LLAMA_LIKE]
    for seed, name in enumerate(LLAMA_LIKE, 110):
        if name not in wanted:
            continue
        path, config, model = convert(name)
        torch.manual_seed(seed)
        found = ask(path, [torch.randint(3, config.vocab_size, (length,)).tolist() for length in [3, 60]])
        compare(name, model, found)
        path.with_suffix(".json").write_text(json.dumps(found) + "\n")
    # Qwen's came first.
    seeds = {name: seed for seed, name in enumerate(sorted(MODELS, key=lambda name: not name.startswith("qwen")))}
    for file, (family, changes) in MODELS.items():
        if file not in wanted:
            continue
        arch = file.partition("-")[0]
        torch.manual_seed(seeds[file])
        config = getattr(transformers, f"{family}TextConfig")(**changes)
        model = getattr(transformers, f"{family}ForCausalLM")(config).eval()
        fill(model, 1.0 if arch == "gemma4" else 0.0)
        prompts = [torch.randint(3, config.vocab_size, (length,)).tolist() for length in [3, 40, 150]]
        packed = OUT / f"{file}-q8_0.gguf"
        write(arch, model, packed, packed=True)
        packed.with_suffix(".json").write_text(json.dumps(ask(packed, prompts, packed=True)) + "\n")
        path = OUT / f"{file}.gguf"
        write(arch, model, path, packed=False)
        found = ask(path, prompts)
        compare(file, model, found)
        path.with_suffix(".json").write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
