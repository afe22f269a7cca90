#!/usr/bin/env bash
# transformers 5.24.0 (torch 2.15.0, safetensors 0.8.0): the index of a sharded checkpoint does not decide which file a tensor is from.
#
# `model.safetensors.index.json` maps each tensor to one file. Where two files hold a tensor of the same name, as where a small file
# replaces some tensors of a published shard, one would expect the file that the index names. What is loaded is the tensor of the
# file whose name sorts last, whatever the index says, without a warning.
#
# It hits whoever lays a file with changed tensors over published shards and edits the index: `a-changed.safetensors` has no effect,
# `z-changed.safetensors` takes effect for tensors that the index leaves to the shard. Programs that go by the index load another model.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q transformers==5.24.0 torch==2.15.0 safetensors==0.8.0
cat >"$work/try.py" <<'PYTHON'
import json
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM

NAME = "model.layers.0.self_attn.q_proj.weight"
config = LlamaConfig(vocab_size=32, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2)
published = {name: tensor.clone().contiguous() for name, tensor in LlamaForCausalLM(config).state_dict().items()}
changed = torch.zeros_like(published[NAME])

seen = {}
for file in ("a-changed.safetensors", "z-changed.safetensors"):
    for chosen in ("changed", "published"):
        folder = Path(sys.argv[1]) / f"{file}-{chosen}"
        folder.mkdir()
        config.save_pretrained(folder)
        save_file(published, folder / "model-00001.safetensors", metadata={"format": "pt"})
        save_file({NAME: changed, "model.norm.weight": published["model.norm.weight"]}, folder / file, metadata={"format": "pt"})
        index = dict.fromkeys(published, "model-00001.safetensors")
        # The index names both files in any case.
        index["model.norm.weight"] = file
        if chosen == "changed":
            index[NAME] = file
        (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": index}))
        loaded = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32).state_dict()[NAME]
        seen[file, chosen] = "changed" if bool((loaded == 0).all()) else "published"
        print(f"{file}: the index says {chosen}, loaded is {seen[file, chosen]}")

# Wherever the changed file sorts last it wins, and else never.
sys.exit(seen != {(file, chosen): "changed" if file[0] == "z" else "published" for file, chosen in seen})
PYTHON
"$work/venv/bin/python" "$work/try.py" "$work"
