#!/usr/bin/env python3
"""Makes tests/data/quantised: tiny random checkpoints whose linear layers are stored in few bits, in every form that is read, and
the logits of the numbers that they stand for.

    pip install torch transformers safetensors
    python scripts/golden_quantised.py [NAME…]

Numbers are packed and unpacked by code of this script, after the formats' descriptions; transformers computes the logits from the
unpacked ones in f32, as in scripts/golden_models.py. tests/model/quantised.rs compares with them.
"""

import json
import shutil
import sys
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file

OUT = Path(__file__).resolve().parent.parent / "tests" / "data" / "quantised"

SIZES = dict(
    vocab_size=53, hidden_size=64, intermediate_size=96, num_hidden_layers=1, num_attention_heads=4, num_key_value_heads=2,
    max_position_embeddings=256, bos_token_id=1, eos_token_id=2, tie_word_embeddings=False, use_sliding_window=False,
    rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
)  # fmt: skip
RECURRENT = dict(
    {key: value for key, value in SIZES.items() if key != "use_sliding_window"}, num_hidden_layers=2, head_dim=32,
    linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=32, linear_value_head_dim=32,
    full_attention_interval=2, rope_parameters={**SIZES["rope_parameters"], "partial_rotary_factor": 0.5},
)  # fmt: skip
EXPERTS = dict(RECURRENT, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=32, shared_expert_intermediate_size=32)
FAMILIES = {"qwen2": ("Qwen2Config", "Qwen2", SIZES), "qwen3.5": ("Qwen3_5TextConfig", "Qwen3_5", RECURRENT),
            "qwen3.5-moe": ("Qwen3_5MoeTextConfig", "Qwen3_5Moe", EXPERTS)}  # fmt: skip
GROUP = 32
AWQ_ORDER = [0, 2, 4, 6, 1, 3, 5, 7]
"""The output that each nibble of a word holds, the lowest nibble first."""


def words(numbers: torch.Tensor, bits: int) -> torch.Tensor:
    """Whole numbers [rows, n · count], n to a word of 32 bits along the rows, the first one lowest: [rows, count] int32."""
    each = 32 // bits
    parts = numbers.to(torch.int64).unflatten(1, (-1, each))
    joined = (parts << (bits * torch.arange(each))).sum(-1)
    return torch.where(joined >= 1 << 31, joined - (1 << 32), joined).to(torch.int32)


def quantise(weight: torch.Tensor, bits: int, symmetric: bool, groups: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """A weight [outputs, inputs] as whole numbers of 0 to 2^bits - 1, with zeros and scales [outputs, groups]; the group of each
    input is in `groups`."""
    count, top = int(groups.max()) + 1, (1 << bits) - 1
    low = torch.stack([weight[:, groups == group].amin(1) for group in range(count)], 1)
    high = torch.stack([weight[:, groups == group].amax(1) for group in range(count)], 1)
    if symmetric:
        scales = (torch.maximum(low.abs(), high.abs()) * 2 / top).half()
        zeros = torch.full_like(low, 1 << (bits - 1)).to(torch.int64)
    else:
        scales = ((high.clamp_min(0) - low.clamp_max(0)) / top).half()
        zeros = (-low.clamp_max(0) / scales.float()).round().clamp(1, top).to(torch.int64)
    whole = (weight / scales.float()[:, groups] + zeros[:, groups]).round().clamp(0, top).to(torch.int64)
    return whole, zeros, scales


def gptq(name: str, weight: torch.Tensor, bits: int, symmetric: bool, ordered: bool, version: int) -> tuple:
    inputs = weight.shape[1]
    groups = torch.arange(inputs) // GROUP
    if ordered:
        groups = groups[torch.randperm(inputs)]
    whole, zeros, scales = quantise(weight, bits, symmetric, groups)
    stored = zeros - 1 if version == 1 else zeros
    tensors = {
        "qweight": words(whole, bits).t(), "qzeros": words(stored.t(), bits), "scales": scales.t(),
        "g_idx": groups.to(torch.int32),
    }  # fmt: skip
    if name.endswith(("o_proj", "down_proj")):
        # As tools write them that give every layer a bias.
        tensors["bias"] = torch.zeros(weight.shape[0], dtype=torch.float16)
    return tensors, (whole - zeros[:, groups]) * scales.float()[:, groups]


def awq(name: str, weight: torch.Tensor) -> tuple:
    groups = torch.arange(weight.shape[1]) // GROUP
    whole, zeros, scales = quantise(weight, 4, False, groups)
    order = lambda numbers: numbers.t().unflatten(1, (-1, 8))[..., AWQ_ORDER].flatten(1)
    tensors = {"qweight": words(order(whole), 4), "qzeros": words(order(zeros), 4), "scales": scales.t()}
    return tensors, (whole - zeros[:, groups]) * scales.float()[:, groups]


def packed(name: str, weight: torch.Tensor, bits: int, symmetric: bool) -> tuple:
    """compressed-tensors: signed numbers, to which half of the range is added."""
    groups = torch.arange(weight.shape[1]) // GROUP
    whole, zeros, scales = quantise(weight, bits, symmetric, groups)
    scales = scales.to(torch.bfloat16)
    tensors = {
        "weight_packed": words(whole, bits), "weight_scale": scales, "weight_shape": torch.tensor(weight.shape),
    }  # fmt: skip
    if not symmetric:
        tensors["weight_zero_point"] = words(zeros.t(), bits).t()
    return tensors, (whole - zeros[:, groups]) * scales.float()[:, groups]


def fp8(name: str, weight: torch.Tensor, scales: str, block: tuple[int, int] | None, **others: torch.Tensor) -> tuple:
    """E4M3, with a scale for each block, or each output (block 1 × all), or the whole."""
    rows, columns = block or weight.shape
    across = [torch.arange(weight.shape[0]) // rows, torch.arange(weight.shape[1]) // columns]
    largest = torch.zeros(int(across[0].max()) + 1, int(across[1].max()) + 1)
    for row in range(largest.shape[0]):
        for column in range(largest.shape[1]):
            largest[row, column] = weight[across[0] == row][:, across[1] == column].abs().max()
    factor = (largest / 448).to(torch.bfloat16 if "inv" not in scales else torch.float32).float()
    spread = factor[across[0]][:, across[1]]
    small = (weight / spread).clamp(-448, 448).to(torch.float8_e4m3fn)
    stored = factor.reshape(()) if block is None else factor
    stored = stored if "inv" in scales else stored.to(torch.bfloat16)
    return {"weight": small, scales: stored, **others}, small.float() * spread


def compressed(fmt: str, **weights: object) -> dict:
    group = {"targets": ["Linear"], "weights": weights, "input_activations": None, "output_activations": None}
    return {"quant_method": "compressed-tensors", "format": fmt, "quantization_status": "compressed", "ignore": ["lm_head"],
            "config_groups": {"group_0": group}, "kv_cache_scheme": None, "global_compression_ratio": None}  # fmt: skip


LINEAR = ("_proj.weight", "in_proj_qkv.weight", "in_proj_z.weight")
"""What the names of linear layers end with."""

# name -> (quantization_config, how a layer is stored, family)
FORMS = {
    "gptq": (dict(quant_method="gptq", bits=4, group_size=GROUP, sym=True, desc_act=False),
             lambda *layer: gptq(*layer, 4, True, False, 1)),
    "gptq-ordered": (dict(quant_method="gptq", bits=4, group_size=GROUP, sym=False, desc_act=True, checkpoint_format="gptq"),
                     lambda *layer: gptq(*layer, 4, False, True, 1)),
    "gptq-v2": (dict(quant_method="gptq", bits=8, group_size=GROUP, sym=False, desc_act=False, checkpoint_format="gptq_v2",
                dynamic={"-:.*lm_head": {}}), lambda *layer: gptq(*layer, 8, False, False, 2)),
    "awq": (dict(quant_method="awq", bits=4, group_size=GROUP, version="gemm", zero_point=True, modules_to_not_convert=None), awq),
    "packed": (compressed("pack-quantized", num_bits=4, type="int", symmetric=True, strategy="group", group_size=GROUP),
               lambda *layer: packed(*layer, 4, True)),
    "packed-zeros": (compressed("pack-quantized", num_bits=4, type="int", symmetric=False, strategy="group", group_size=GROUP),
                     lambda *layer: packed(*layer, 4, False)),
    "fp8-blocks": (dict(quant_method="fp8", activation_scheme="dynamic", fmt="e4m3", weight_block_size=[48, 40]),
                   lambda *layer: fp8(*layer, "weight_scale_inv", (48, 40))),
    "fp8-whole": (dict(quant_method="fp8", activation_scheme="static"),
                  lambda *layer: fp8(*layer, "weight_scale", None, input_scale=torch.tensor(0.5))),
    "fp8-outputs": (compressed("float-quantized", num_bits=8, type="float", symmetric=True, strategy="channel"),
                    lambda name, weight: fp8(name, weight, "weight_scale", (1, weight.shape[1]))),
    # Layers of few outputs stay as they are, as makers leave them.
    "gptq-recurrent": (dict(quant_method="gptq", bits=4, group_size=GROUP, sym=True, desc_act=False, dynamic={"-:.*in_proj_[ab]$": {}}),
                       lambda *layer: gptq(*layer, 4, True, False, 1), "qwen3.5"),
    # Every expert under a name of its own, where the plain files stack them.
    "fp8-experts": (dict(quant_method="fp8", activation_scheme="dynamic", weight_block_size=[32, 32],
                    modules_to_not_convert=["lm_head", "model.layers.0.linear_attn.in_proj_a", "model.layers.0.linear_attn.in_proj_b"]),
                    lambda *layer: fp8(*layer, "weight_scale_inv", (32, 32)), "qwen3.5-moe"),
}  # fmt: skip


def apart(tensors: dict) -> dict:
    """Stacked experts as one tensor each."""
    found = {}
    for key, tensor in tensors.items():
        before, stacked, part = key.partition(".experts.")
        if not stacked or tensor.ndim != 3:
            found[key] = tensor
            continue
        names = ["gate_proj", "up_proj"] if part == "gate_up_proj" else ["down_proj"]
        for expert, one in enumerate(tensor):
            for own, weight in zip(names, one.chunk(len(names))):
                found[f"{before}.experts.{expert}.{own}.weight"] = weight.contiguous()
    return found


def stacked(tensors: dict, like: dict) -> dict:
    """What `apart` took apart, together again."""
    for key, tensor in like.items():
        before, found, part = key.partition(".experts.")
        if found and tensor.ndim == 3:
            names = ["gate_proj", "up_proj"] if part == "gate_up_proj" else ["down_proj"]
            each = [[tensors.pop(f"{before}.experts.{expert}.{own}.weight") for own in names] for expert in range(len(tensor))]
            tensors[key] = torch.stack([torch.cat(one) for one in each])
    return tensors


def make(name: str, seed: int) -> None:
    settings, store, *family = FORMS[name]
    config_class, family, sizes = FAMILIES[family[0] if family else "qwen2"]
    build = lambda **more: getattr(transformers, f"{family}ForCausalLM")(getattr(transformers, config_class)(**sizes, **more))
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    torch.manual_seed(seed)
    model = build()
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            if "norm" in key:
                # Qwen3.5 stores all norms but the one of recurrent layers less one.
                parameter.normal_(1.0 if family == "Qwen2" or "linear_attn" in key else 0.0, 0.2)
            elif "A_log" in key:
                parameter.normal_(-1.0, 0.5)
            elif "bias" in key:
                parameter.normal_(0.0, 0.5)
            else:
                parameter.normal_(0.0, parameter.shape[-1] ** -0.5 * 1.2)
    model.half().save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    tensors = apart(load_file(folder / "model.safetensors"))
    unpacked = {}
    for key in [key for key in tensors if key.endswith(LINEAR)]:
        layer, weight = key.removesuffix(".weight"), tensors.pop(key).float()
        parts, unpacked[key] = store(layer, weight)
        assert (unpacked[key] - weight).abs().max() < weight.abs().max() / 5, "the numbers are not those of the weight"
        tensors |= {f"{layer}.{part}": tensor.contiguous() for part, tensor in parts.items()}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    config["quantization_config"] = settings
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    plain = build(attn_implementation="eager")
    whole = {key: tensor.float() for key, tensor in model.state_dict().items()}
    plain.load_state_dict(stacked({**apart(whole), **unpacked}, whole))
    golden = {}
    for i, length in enumerate([3, 40]):
        tokens = torch.randint(0, sizes["vocab_size"], (1, length))
        with torch.no_grad():
            golden[f"logits.{i}"] = plain.eval()(tokens).logits[0].contiguous()
        golden[f"tokens.{i}"] = tokens[0].to(torch.int64)
    save_file(golden, folder / "golden.safetensors")
    print(f"{name}: {sum(f.stat().st_size for f in folder.iterdir()):,} bytes")


def main() -> None:
    wanted = sys.argv[1:] or list(FORMS)
    for seed, name in enumerate(FORMS):
        if name in wanted:
            make(name, seed)


if __name__ == "__main__":
    main()
