#!/usr/bin/env bash
# peft 0.21.2 (transformers 5.24.0, torch 2.15.0): with `ensure_weight_tying=True`, merging a LoRA of the embedding table adds it twice.
#
# Where a model's output head is its embedding table (most models below 4B), peft warns that an adapter of the table "can lead to
# complications, for example when merging", and names `ensure_weight_tying`. With it the head has the same two matrices as the table,
# transposed, and the adapted model is one that a tied model can express: the table plus the adapter, once. One would expect
# `merge_and_unload` to give that. Seen: table and head are merged one after the other into the one tensor that both are, so that it has the
# adapter twice. The merged model, and what is saved of it, have other logits than the model that was trained. The warning at merging speaks
# of cloned weights, not of this.
#
# Whom it hits: fine-tunes with new tokens or of small judges, merged for a server or a conversion to GGUF: another model than the one that
# was measured.
#
# Prints how many times the adapter is in the merged table, and the largest difference of logits, for an adapter of q_proj alone and with the
# table. Exits with 1 if the table has it once.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q peft==0.21.2 transformers==5.24.0 torch==2.15.0
cat >"$work/try.py" <<'PYTHON'
import sys

import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

TOKENS = torch.tensor([[1, 2, 3, 4]])


def base():
    torch.manual_seed(0)
    size = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 2}
    return LlamaForCausalLM(LlamaConfig(vocab_size=50, tie_word_embeddings=True, **size)).eval()


changed = True
for target in ("q_proj", "embed_tokens"):
    torch.manual_seed(1)
    # Matrices as after training: neither is zero.
    settings = LoraConfig(r=4, target_modules=[target], init_lora_weights=False, ensure_weight_tying=target == "embed_tokens")
    adapted = get_peft_model(base(), settings).eval()
    with torch.no_grad():
        trained = adapted(TOKENS).logits
        path = "model.layers.0.self_attn.q_proj" if target == "q_proj" else "model.embed_tokens"
        layer = adapted.base_model.model.get_submodule(path)
        before, update = layer.weight.clone(), layer.get_delta_weight("default")
        # What was trained: the weight with the update once.
        once = base()
        once.get_submodule(path).weight.add_(update)
        model = adapted.merge_and_unload().eval()
        times = ((model.get_submodule(path).weight - before) * update).sum() / (update * update).sum()
        print(f"{target}: the update is in the merged weight {times:.3f} times")
        print(f"  largest difference from the logits of the adapted model: merged {(model(TOKENS).logits - trained).abs().max():.6f}, "
              f"base model with the update once {(once(TOKENS).logits - trained).abs().max():.6f}")
        changed = bool(times < 1.9)
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
