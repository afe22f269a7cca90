#!/usr/bin/env bash
# peft 0.21.2 (transformers 5.24.0, torch 2.15.0): a LoRA of gate_proj, up_proj and down_proj leaves out the dense layers and the shared
# experts of a mixture of experts. Matrices for them in an adapter's file are dropped without a word.
#
# transformers 5 has the routed experts of a layer in two stacked tensors, so peft turns these three targets into `target_parameters` for such
# models. One would expect that the layers that still are linear layers of these names stay targets, as they were before. Seen: the names are
# taken from `target_modules`, and only the stacked tensors are adapted; the dense first layers (GLM-4 MoE, DeepSeek-V3, Qwen3 MoE with
# `mlp_only_layers`) and the shared experts are not. "all-linear" does the same. In Qwen2 MoE it is the other way round: the shared expert is
# adapted, the routed ones are not. What is warned of are patterns of ranks that nobody wrote.
#
# Whom it hits: who trains such a model and believes that all of it is adapted, and who loads an adapter from before the experts were stacked:
# shared experts see each token, so the loaded model is another than the one that was trained, and a reader that merges by name has other
# logits.
#
# Prints the linear layers that are left out of each model, and of an adapter with all matrices which weights of the merged model it changed.
# Exits with 1 if others are left out.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q peft==0.21.2 transformers==5.24.0 torch==2.15.0
cat >"$work/try.py" <<'PYTHON'
import sys
import warnings
from pathlib import Path

import torch
import transformers
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import save_file

TARGETS = ["gate_proj", "up_proj", "down_proj"]
SIZE = {
    "vocab_size": 50, "hidden_size": 16, "intermediate_size": 32, "moe_intermediate_size": 8, "num_hidden_layers": 2,
    "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 8, "num_experts_per_tok": 2,
}  # fmt: skip
KINDS = {
    "Qwen3Moe": {"num_experts": 4, "mlp_only_layers": [0]},
    "Qwen2Moe": {"num_experts": 4, "shared_expert_intermediate_size": 8},
    "Glm4Moe": {"n_routed_experts": 4, "n_shared_experts": 1, "first_k_dense_replace": 1, "n_group": 1, "topk_group": 1},
}


def model(kind):
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(**SIZE, **KINDS[kind])
    return getattr(transformers, f"{kind}ForCausalLM")(config).eval()


def linear(base):
    names = [name for name, module in base.named_modules() if isinstance(module, torch.nn.Linear)]
    return [name for name in names if name.rpartition(".")[2] in TARGETS]


seen = {}
for targets in (TARGETS, "all-linear"):
    for kind in KINDS:
        base = model(kind)
        layers = linear(base)
        adapted = get_peft_model(base, LoraConfig(r=2, target_modules=targets))
        names = {name.split(".lora_")[0].removeprefix("base_model.model.") for name, _ in adapted.named_parameters() if "lora_A" in name}
        left_out = [name.removeprefix("model.layers.") for name in layers if name not in names]
        routed = any(name.endswith(("mlp.experts", "mlp.experts.base_layer")) for name in names)
        print(f"{kind}, {targets}: routed experts adapted {routed}, linear layers left out: {', '.join(left_out) or 'none'}")
        seen[kind, str(targets)] = (routed, len(left_out))

# An adapter as it was saved before: two matrices for each linear layer, the experts' included.
base = model("Glm4Moe")
matrices = {}
layers = linear(base) + [f"model.layers.1.mlp.experts.{expert}.{target}" for expert in range(4) for target in TARGETS]
for layer in layers:
    inner = 32 if "layers.0" in layer else 8
    inputs, outputs = (inner, 16) if layer.endswith("down_proj") else (16, inner)
    matrices[f"base_model.model.{layer}.lora_A.weight"] = torch.randn(2, inputs)
    matrices[f"base_model.model.{layer}.lora_B.weight"] = torch.randn(outputs, 2)
folder = Path(sys.argv[1]) / "adapter"
folder.mkdir()
save_file(matrices, folder / "adapter_model.safetensors")
LoraConfig(r=2, target_modules=TARGETS, task_type="CAUSAL_LM").save_pretrained(folder)
before = model("Glm4Moe").state_dict()
with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    after = PeftModel.from_pretrained(base, folder).merge_and_unload().state_dict()
changed = {name.removeprefix("model.layers.") for name, weight in after.items() if not torch.equal(weight, before[name])}
named = [str(warning.message) for warning in warned if "shared_experts" in str(warning.message) or "layers.0" in str(warning.message)]
print(f"an adapter with matrices for {len(layers)} layers changes {', '.join(sorted(changed))}")
print(f"warnings that name a layer which is left out: {len(named)}")

expected = {"Qwen3Moe": (True, 3), "Qwen2Moe": (False, 0), "Glm4Moe": (True, 6)}
same = all(found == expected[kind] for (kind, _), found in seen.items())
sys.exit(not (same and changed == {"1.mlp.experts.gate_up_proj", "1.mlp.experts.down_proj"} and not named))
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py" "$work"
