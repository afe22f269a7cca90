#!/usr/bin/env python3
"""Makes tests/data/qwen3-random: two tiny random Qwen3 checkpoints and the logits that transformers gives for them.

    pip install torch transformers safetensors
    python scripts/golden_qwen3.py

`tied`: bf16 weights in one file, output head shared with the embedding, 4 query heads on 2 key heads.
`untied`: f32 weights in shards, an output head of its own, 6 query heads on 1 key head, sizes that are no multiple of 16.

golden.safetensors holds, for each sequence, `tokens.I` [length] and `logits.I` [length, vocab]: all positions, computed
in f32 from the weights as stored, eager attention, each sequence alone. tests/golden_logits.rs compares with them.
"""

import shutil
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import Qwen3Config, Qwen3ForCausalLM

OUT = Path(__file__).resolve().parent.parent / "tests" / "data" / "qwen3-random"
LENGTHS = [1, 5, 33, 90]

CHECKPOINTS = {
    "tied": (
        Qwen3Config(
            vocab_size=67, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, head_dim=16, max_position_embeddings=256, tie_word_embeddings=True,
            rope_parameters={"rope_type": "default", "rope_theta": 10000.0}, bos_token_id=1, eos_token_id=2,
        ),
        torch.bfloat16,
        "1GB",
    ),
    "untied": (
        Qwen3Config(
            vocab_size=50, hidden_size=20, intermediate_size=36, num_hidden_layers=3, num_attention_heads=6,
            num_key_value_heads=1, head_dim=8, max_position_embeddings=128, tie_word_embeddings=False,
            rope_parameters={"rope_type": "default", "rope_theta": 1000000.0}, bos_token_id=1, eos_token_id=2,
        ),
        torch.float32,
        "24KB",
    ),
}


def main() -> None:
    shutil.rmtree(OUT, ignore_errors=True)
    for seed, (name, (config, dtype, shard)) in enumerate(CHECKPOINTS.items()):
        torch.manual_seed(seed)
        model = Qwen3ForCausalLM(config)
        with torch.no_grad():
            for parameter_name, parameter in model.named_parameters():
                # Wide enough that logits differ by several units, as a trained model's do; norms around 1.
                if "norm" in parameter_name:
                    parameter.normal_(1.0, 0.2)
                else:
                    parameter.normal_(0.0, parameter.shape[-1] ** -0.5 * 1.2)
        folder = OUT / name
        model.to(dtype).save_pretrained(folder, max_shard_size=shard)
        (folder / "generation_config.json").unlink(missing_ok=True)

        # Loaded again, not converted back: `to` rounds the rotary frequencies too.
        model = Qwen3ForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
        golden = {}
        for i, length in enumerate(LENGTHS):
            tokens = torch.randint(0, config.vocab_size, (1, length))
            with torch.no_grad():
                logits = model(tokens).logits[0].float()
            golden[f"tokens.{i}"] = tokens[0].to(torch.int64)
            golden[f"logits.{i}"] = logits.contiguous()
        save_file(golden, folder / "golden.safetensors")
        print(folder, f"{sum(f.stat().st_size for f in folder.iterdir()):,} bytes",
              f"logits from {logits.min():.2f} to {logits.max():.2f}")


if __name__ == "__main__":
    main()
