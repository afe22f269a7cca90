"""Export a checkpoint to models/tiny, in the form transformers' Qwen3ForCausalLM loads.

    python scripts/tiny_judge/export.py runs/full.pt            # add --check to compare logits
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

import tokenizer as vocabulary
from model import Config, Judge


def config_json(config: Config, end: int, pad: int) -> dict:
    """The contents of config.json."""
    return {
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        **config.to_dict(),
        "attention_bias": False,
        "attention_dropout": 0.0,
        "hidden_act": "silu",
        "initializer_range": 0.02,
        "tie_word_embeddings": True,
        "use_cache": True,
        "use_sliding_window": False,
        "sliding_window": None,
        "max_window_layers": config.num_hidden_layers,
        "rope_scaling": None,
        "torch_dtype": "bfloat16",
        "bos_token_id": None,
        "eos_token_id": end,
        "pad_token_id": pad,
    }


def load(folder: Path = vocabulary.FOLDER) -> Judge:
    """The exported judge, its bf16 weights widened to f32."""
    content = json.loads((folder / "config.json").read_text())
    config = Config(**{name: content[name] for name in Config.__dataclass_fields__})
    model = Judge(config)
    weights = load_file(folder / "model.safetensors")
    model.load_state_dict({name.removeprefix("model."): w.float() for name, w in weights.items()})
    return model.eval()


def check(folder: Path) -> float:
    """Largest difference of logits from transformers' own Qwen3 on random tokens."""
    from transformers import AutoTokenizer, Qwen3ForCausalLM

    theirs = Qwen3ForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    ours = load(folder)
    chat = AutoTokenizer.from_pretrained(folder).apply_chat_template(
        [{"role": "user", "content": "<question>\n1 + 2\n</question>"}],
        add_generation_prompt=True, return_dict=True, return_tensors="pt",
    )["input_ids"]  # fmt: skip
    noise = torch.randint(0, ours.config.vocab_size, (1, 200))
    ids = torch.cat((chat, noise), 1)
    with torch.no_grad():
        difference = theirs(ids).logits - ours.logits(ours(ids)[0])
    return difference.abs().max().item()


def main() -> None:
    """Export, and check where asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--out", type=Path, default=vocabulary.FOLDER)
    parser.add_argument("--tokenizer", type=Path, help="folder of the tokenizer files, where it is not --out")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    state = torch.load(options.checkpoint, weights_only=True)
    weights = {f"model.{k}": v.to(torch.bfloat16).contiguous() for k, v in state["model"].items()}
    options.out.mkdir(parents=True, exist_ok=True)
    scratch = options.out / "model.safetensors.tmp"
    save_file(weights, scratch, metadata={"format": "pt"})
    scratch.chmod(0o644)
    scratch.rename(options.out / "model.safetensors")
    if options.tokenizer:
        vocabulary.save(vocabulary.load(options.tokenizer), options.out)
    words = vocabulary.load(options.out)
    end, pad = words.token_to_id("<|im_end|>"), words.token_to_id("<|endoftext|>")
    config = config_json(Config(**state["config"]), end, pad)
    (options.out / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    limits = {"eos_token_id": end, "pad_token_id": pad, "max_new_tokens": 640}
    generation = {"do_sample": False, **limits}
    (options.out / "generation_config.json").write_text(json.dumps(generation, indent=2) + "\n")
    size = (options.out / "model.safetensors").stat().st_size
    print(f"step {state['step']}: {size / 1e6:.2f} MB in {options.out}")
    if options.check:
        print(f"largest difference of logits from transformers: {check(options.out):.2e}")


if __name__ == "__main__":
    main()
