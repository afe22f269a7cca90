#!/usr/bin/env python3
"""Makes tests/data/adapters: LoRA adapters of the checkpoints in tests/data/checkpoints, as peft saves them, and the logits that
transformers gives once peft has merged them.

    pip install torch transformers peft safetensors
    python scripts/golden_adapters.py [NAME…]

Each folder holds an adapter and golden.safetensors, as scripts/golden_models.py writes it: logits of the model that
`merge_and_unload` returns, in f32. Two are merged here, since peft cannot: one of GLM-4 under its first names, and one of experts
that are stored apart, as peft saved them with transformers 4. tests/model/adapters.rs compares with them.
"""

import json
import shutil
import sys
from pathlib import Path

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoModelForImageTextToText

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "tests" / "data" / "adapters"
CHECKPOINTS = Path("tests") / "data" / "checkpoints"

# name -> (base, what its configuration says)
ADAPTERS = {
    "qwen3": ("qwen3-untied", dict(r=4, lora_alpha=6, target_modules="all-linear", modules_to_save=["lm_head"],
              rank_pattern={"q_proj": 3, "model.layers.1.mlp.down_proj": 5},
              alpha_pattern={r"layers\.[01]\.self_attn\.v_proj": 11, "up_proj": 2})),
    "qwen3-table": ("qwen3-tied", dict(r=2, lora_alpha=4, target_modules=["q_proj", "o_proj"], modules_to_save=["embed_tokens"])),
    "qwen2-head": ("qwen2", dict(r=4, lora_alpha=3, target_modules=["q_proj", "v_proj"], modules_to_save=["lm_head"], bias="all",
                   use_rslora=True)),
    "embeddings": ("qwen3-yarn", dict(r=4, lora_alpha=4, target_modules=["embed_tokens", "lm_head", "q_proj"])),
    "norms": ("mistral", dict(r=4, lora_alpha=4, target_modules=["k_proj"], modules_to_save=["input_layernorm"])),
    "llama": ("llama", dict(r=4, lora_alpha=8, target_modules="all-linear")),
    "phi3": ("phi3", dict(r=4, lora_alpha=8, target_modules="all-linear", fan_in_fan_out=True)),
    "glm4": ("glm4", dict(r=4, lora_alpha=8, target_modules="all-linear")),
    # Norms store what is added to 1.
    "gemma3": ("gemma3", dict(r=4, lora_alpha=4, target_modules=["q_proj", "down_proj"], modules_to_save=["input_layernorm"])),
    # Of a model with a tower: names and patterns are those of the whole.
    "qwen3-vl": ("qwen3-vl", dict(r=4, lora_alpha=6, target_modules=r".*language_model.*\.(q_proj|v_proj|down_proj)",
                 rank_pattern={"model.language_model.layers.0.mlp.down_proj": 3},
                 alpha_pattern={"model.language_model.layers.1.self_attn.v_proj": 11})),
    # Of attention and of recurrent layers, whose queries have a gate beside them.
    "qwen3_5": ("qwen3_5", dict(r=4, lora_alpha=6, modules_to_save=["input_layernorm"],
                 target_modules=["q_proj", "o_proj", "in_proj_qkv", "in_proj_z", "in_proj_a", "in_proj_b", "out_proj", "down_proj"])),
    "gpt-oss": ("gpt-oss", dict(r=4, lora_alpha=8, target_modules=["q_proj", "k_proj", "v_proj", "o_proj"])),
}  # fmt: skip


def randomise(tensors: dict[str, torch.Tensor]) -> None:
    """Products as wide as a third of the weights, so that a wrong one shows in the logits."""
    for name, tensor in tensors.items():
        if "lora" in name:
            tensor.normal_(0.0, 0.35 * tensor.shape[-1] ** -0.5 if "_A" in name else 0.6)
        elif "base_layer" not in name:
            tensor.add_(torch.randn_like(tensor) * 0.1)


def describe(folder: Path, base: str) -> None:
    """Writes the description again: with a path of this repository, and in one order."""
    path = folder / "adapter_config.json"
    config = json.loads(path.read_text())
    config["base_model_name_or_path"] = str(CHECKPOINTS / base)
    if isinstance(config["target_modules"], list):
        config["target_modules"].sort()
    path.write_text(json.dumps(config, indent=2) + "\n")
    (folder / "README.md").unlink(missing_ok=True)


def golden(folder: Path, model: torch.nn.Module) -> None:
    tensors = {}
    for i, length in enumerate([3, 40]):
        tokens = torch.randint(0, model.config.get_text_config().vocab_size, (1, length))
        with torch.no_grad():
            tensors[f"logits.{i}"] = model(tokens).logits[0].float().contiguous()
        tensors[f"tokens.{i}"] = tokens[0].to(torch.int64)
    save_file(tensors, folder / "golden.safetensors")
    print(f"{folder.name}: {sum(f.stat().st_size for f in folder.iterdir()):,} bytes")


def load(base: str) -> torch.nn.Module:
    path = ROOT / CHECKPOINTS / base
    kind = AutoModelForImageTextToText if base == "qwen3-vl" else AutoModelForCausalLM
    return kind.from_pretrained(path, dtype=torch.float32, attn_implementation="eager").eval()


def make(name: str) -> None:
    base, settings = ADAPTERS[name]
    folder = OUT / name
    get_peft_model(load(base), LoraConfig(task_type="CAUSAL_LM", **settings)).save_pretrained(folder)
    tensors = load_file(folder / "adapter_model.safetensors")
    randomise(tensors)
    save_file(tensors, folder / "adapter_model.safetensors", metadata={"format": "pt"})
    merged = PeftModel.from_pretrained(load(base), folder).merge_and_unload()
    describe(folder, base)
    if settings.get("fan_in_fan_out"):
        # peft finds out that it has no meaning for these layers, and saves that; older versions saved what they were told.
        path = folder / "adapter_config.json"
        path.write_text(path.read_text().replace('"fan_in_fan_out": false', '"fan_in_fan_out": true'))
    golden(folder, merged.eval())


def by_hand(name: str, base: str, shapes: dict[str, tuple[int, int]], settings: dict) -> dict[str, torch.Tensor]:
    """Writes an adapter with matrices for these layers; returns what each adds."""
    folder = OUT / name
    folder.mkdir(parents=True)
    rank, tensors = settings["r"], {}
    for layer, (outputs, inputs) in shapes.items():
        tensors[f"base_model.model.{layer}.lora_A.weight"] = torch.empty(rank, inputs)
        tensors[f"base_model.model.{layer}.lora_B.weight"] = torch.empty(outputs, rank)
    randomise(tensors)
    save_file(tensors, folder / "adapter_model.safetensors", metadata={"format": "pt"})
    config = LoraConfig(task_type="CAUSAL_LM", target_modules=sorted({layer.split(".")[-1] for layer in shapes}), **settings)
    config.save_pretrained(folder)
    describe(folder, base)
    scale = settings["lora_alpha"] / rank
    weight = lambda layer, part: tensors[f"base_model.model.{layer}.lora_{part}.weight"]
    return {layer: scale * weight(layer, "B") @ weight(layer, "A") for layer in shapes}


def make_chatglm() -> None:
    model = load("glm")
    config = model.config
    hidden, width = config.hidden_size, config.intermediate_size
    kv = config.num_key_value_heads * config.head_dim
    queries = config.num_attention_heads * config.head_dim
    shapes = {}
    for i in range(config.num_hidden_layers):
        at = f"transformer.encoder.layers.{i}"
        shapes[f"{at}.self_attention.query_key_value"] = (queries + 2 * kv, hidden)
        shapes[f"{at}.mlp.dense_h_to_4h"] = (2 * width, hidden)
    added = by_hand("chatglm", "chatglm", shapes, dict(r=4, lora_alpha=8))
    with torch.no_grad():
        for i, layer in enumerate(model.model.layers):
            at = f"transformer.encoder.layers.{i}"
            parts = added[f"{at}.self_attention.query_key_value"].split([queries, kv, kv])
            for part, delta in zip("qkv", parts):
                getattr(layer.self_attn, f"{part}_proj").weight += delta
            layer.mlp.gate_up_proj.weight += added[f"{at}.mlp.dense_h_to_4h"]
    golden(OUT / "chatglm", model)


def make_experts() -> None:
    model = load("qwen3-moe")
    config = model.config
    hidden, width = config.hidden_size, config.moe_intermediate_size
    shapes = {}
    for i in range(config.num_hidden_layers):
        shapes[f"model.layers.{i}.mlp.gate"] = (config.num_experts, hidden)
        for expert in range(config.num_experts):
            at = f"model.layers.{i}.mlp.experts.{expert}"
            shapes |= {f"{at}.gate_proj": (width, hidden), f"{at}.up_proj": (width, hidden), f"{at}.down_proj": (hidden, width)}
    added = by_hand("experts", "qwen3-moe", shapes, dict(r=2, lora_alpha=3))
    with torch.no_grad():
        for i, layer in enumerate(model.model.layers):
            layer.mlp.gate.weight += added[f"model.layers.{i}.mlp.gate"]
            for expert in range(config.num_experts):
                at = f"model.layers.{i}.mlp.experts.{expert}"
                layer.mlp.experts.gate_up_proj[expert] += torch.cat([added[f"{at}.gate_proj"], added[f"{at}.up_proj"]])
                layer.mlp.experts.down_proj[expert] += added[f"{at}.down_proj"]
    golden(OUT / "experts", model)


def main() -> None:
    others = {"chatglm": make_chatglm, "experts": make_experts}
    wanted = sys.argv[1:] or [*ADAPTERS, *others]
    for seed, name in enumerate([*ADAPTERS, *others]):
        if name in wanted:
            torch.manual_seed(seed)
            shutil.rmtree(OUT / name, ignore_errors=True)
            others[name]() if name in others else make(name)


if __name__ == "__main__":
    main()
