"""Start from the weights of an earlier judge: another vocabulary, more layers.

    python scripts/tiny_judge/grow.py models/tiny --tokenizer runs/state --layers 8 --out runs/start.pt

A token that both vocabularies have keeps its embedding; a new one starts as the mean of the
earlier tokens it consists of. A new layer adds nothing at first (its output maps are zero).
Without new layers and with the same vocabulary this only turns an export back into a checkpoint.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import torch

import tokenizer as vocabulary
from export import load
from model import Judge


def embeddings(old, new, weights: torch.Tensor) -> torch.Tensor:
    """Embeddings for the new vocabulary."""
    known = old.get_vocab()
    result = torch.empty(new.get_vocab_size(), weights.shape[1]).normal_(std=0.02)
    for token, index in new.get_vocab().items():
        if token in known:
            result[index] = weights[known[token]]
        else:
            parts = old.encode(new.decode([index]), add_special_tokens=False).ids
            if parts:
                result[index] = weights[parts].mean(0)
    return result


def main() -> None:
    """Write the checkpoint."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="an exported judge")
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--layers", type=int, help="default: as many as before")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    before = load(options.model)
    old, new = vocabulary.load(options.model), vocabulary.load(options.tokenizer)
    depth = before.config.num_hidden_layers
    layers = options.layers or depth
    config = replace(before.config, vocab_size=new.get_vocab_size(), num_hidden_layers=layers)
    model = Judge(config)
    # New layers are spread evenly between the earlier ones.
    places = [round((i + 0.5) * layers / depth - 0.5) for i in range(depth)]
    with torch.no_grad():
        if old.get_vocab() == new.get_vocab():
            model.embed_tokens.weight.copy_(before.embed_tokens.weight)
        else:
            model.embed_tokens.weight.copy_(embeddings(old, new, before.embed_tokens.weight))
    for index, place in enumerate(places):
        model.layers[place].load_state_dict(before.layers[index].state_dict())
    model.norm.load_state_dict(before.norm.state_dict())
    options.out.parent.mkdir(parents=True, exist_ok=True)
    torch.save({"config": config.to_dict(), "model": model.state_dict(), "step": 0}, options.out)
    count = sum(p.numel() for p in model.parameters())
    print(f"{count / 1e6:.2f} M parameters; earlier layers at {places}")


if __name__ == "__main__":
    main()
