#!/usr/bin/env bash
# transformers 5.24.0: a Gemma 4 configuration that is loaded and saved again has lost the keys it was published with.
#
# On the hub gemma-4's config.json says `global_head_dim` and `num_global_key_value_heads`: the sizes of layers without windows. transformers
# turns them into sizes by layer when it reads them, and writes `per_layer_config` (layer number to sizes) in their place. Its own reader
# takes both forms; one would expect that a model which was fine-tuned and saved has the keys of the one that it was made from, since every
# other reader knows those. A reader that takes the documented default for an absent key (512) is right by luck for the width of heads, and
# wrong for their number.
#
# And `num_global_key_value_heads` counts only beside `attention_k_eq_v: true`: without it the number is dropped in silence, and the layers
# without windows have as many key heads as the others.
#
# The layer numbers in `per_layer_config` are padded with zeros to as many digits as the last layer has ("05" of twelve layers, "5" of six),
# so a lookup by the plain number finds nothing in any checkpoint of published size, and works in every small test.
#
# Whom it hits: converters, servers and merging tools that read config.json themselves, for checkpoints that were saved by transformers 5.
#
# Prints the keys before and after, the key heads of a layer without windows, and the layer numbers of a deeper model. Exits with 1 if the
# keys survive, the number counts, or the numbers are plain.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet transformers==5.24.0
cat >run.py <<'PYTHON'
import json
import sys

from transformers import Gemma4TextConfig

KEYS = ["global_head_dim", "num_global_key_value_heads", "per_layer_config"]
PUBLISHED = {
    "model_type": "gemma4_text", "num_hidden_layers": 6, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256,
    "global_head_dim": 512, "num_global_key_value_heads": 2, "attention_k_eq_v": True,
}


def saved(config: dict, folder: str) -> dict:
    Gemma4TextConfig(**config).save_pretrained(folder)
    with open(f"{folder}/config.json") as file:
        return json.load(file)


after = saved(PUBLISHED, "again")
print("before:", {key: PUBLISHED.get(key) for key in KEYS})
print("after: ", {key: after.get(key) for key in KEYS})
heads = [
    Gemma4TextConfig(**{**PUBLISHED, "attention_k_eq_v": shared}).per_layer_config[5].num_key_value_heads
    for shared in (True, False)
]
print("key heads of the last layer with attention_k_eq_v true and false:", heads)
deeper = list(saved({**PUBLISHED, "num_hidden_layers": 12}, "deeper")["per_layer_config"])
print("layers named of twelve:", deeper)
lost = not any(key in after for key in KEYS[:2]) and "5" in after.get("per_layer_config", {})
sys.exit(0 if lost and heads == [2, 4] and deeper == ["05", "11"] else 1)
PYTHON
venv/bin/python run.py
