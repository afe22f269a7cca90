#!/usr/bin/env python3
"""What a GPU should do by the bytes and operations of a step, beside what `scripts/test_gpu.sh bench` measured.

    python3 scripts/step_model.py gpu-results

Prints a Markdown table of the rows with a dense model. Rates are shares of the ceilings that the bench measured on the same GPU: of
products and memory as on an H200, of prefill attention as on an H100 (docs/decisions/cuda.md). A row that is much slower than
predicted has lost its time somewhere that the model does not know; one that is faster shows that a rate is too low.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True)
class Shape:
    """A dense Qwen3."""

    layers: int
    hidden: int
    intermediate: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int

    @property
    def weights(self) -> int:
        """Of the layers, without embeddings and head."""
        attention = self.hidden * self.head_dim * (2 * self.heads + 2 * self.kv_heads)
        return self.layers * (attention + 3 * self.hidden * self.intermediate)

    @property
    def kv_numbers(self) -> int:
        """Numbers that the cache holds for a token."""
        return 2 * self.layers * self.kv_heads * self.head_dim

    @property
    def attention_operations(self) -> int:
        """Of a query and a key, in all layers: scores and values."""
        return 4 * self.layers * self.heads * self.head_dim

    @property
    def elementwise_bytes(self) -> int:
        """Of a token between the products, in all layers: norms, heads, activation, as the kernels read and write them in bf16."""
        heads = self.head_dim * (self.heads + 2 * self.kv_heads)
        return self.layers * 2 * (8 * self.hidden + 2 * heads + 3 * self.intermediate)


SHAPES = {
    "qwen3-0.6b": Shape(28, 1024, 3072, 16, 8, 128, 151_936),
    "qwen3-8b": Shape(36, 4096, 12_288, 32, 8, 128, 151_936),
}


@dataclass(frozen=True)
class Rates:
    """Of a GPU, a second."""

    products: float
    plain_products: float
    """Those of 16 bits."""
    prefill_attention: float
    bandwidth: float
    launch: float = 0.35e-3
    """Seconds of a step that nothing else accounts for."""
    link: float = 400e9
    """Bytes that a GPU sends to others, and receives, beside its own work. Assumed, as what follows."""
    sum: float = 20e-6
    """Seconds of the smallest sum over GPUs."""

    @classmethod
    def of(cls, ceiling: dict, fp8: bool) -> Rates:
        """From the ceilings of a row, whose products are in FP8 if its weights are."""
        plain = ceiling["flops"] / (2 if fp8 else 1)
        return cls((0.85 if fp8 else 0.92) * ceiling["flops"], 0.92 * plain, 0.41 * plain, 0.92 * ceiling["bandwidth"])


def sums(shape: Shape, rows: float, rates: Rates, gpus: int) -> float:
    """Seconds of a step's two sums a layer over GPUs that hold a model together."""
    if gpus == 1:
        return 0.0
    own = 2 * shape.hidden * rows * 2 * (gpus - 1) / gpus
    return 2 * shape.layers * max(rates.sum, own / rates.link)


def predicted(
    shape: Shape, work: dict, rates: Rates, fp8: bool, fp8_cache: bool, batch: int, budget: int, gpus: int = 1
) -> float:
    """Verdicts a second: every prompt's own tokens once, then decode steps of `batch` rows; on `gpus` that have a part of each layer."""
    part = replace(
        shape, intermediate=shape.intermediate // gpus, heads=shape.heads // gpus, kv_heads=shape.kv_heads // gpus
    )
    whole, shape = shape, part
    own, template, out = int(work["input_tokens"]), work["template_tokens"], int(work["output_tokens"])
    samples = work["generations"]
    weight_bytes = shape.weights * (1 if fp8 else 2)
    products = rates.products
    prefill = own * 2 * shape.weights / products
    prefill += own * (template + own / 2) * shape.attention_operations / rates.prefill_attention
    prefill += own * shape.elementwise_bytes / rates.bandwidth
    prefill += own / budget * (rates.launch + sums(whole, budget, rates, gpus))
    steps = math.ceil(samples / batch) * out
    rows = samples * out / max(steps, 1)
    kv_bytes = shape.kv_numbers * (1 if fp8_cache else 2)
    head_bytes = 2 * shape.vocab * shape.hidden
    step = max(weight_bytes / rates.bandwidth, rows * 2 * shape.weights / products)
    step += max(head_bytes / rates.bandwidth, rows * head_bytes / rates.plain_products)
    step += (template + rows * (own + out / 2)) * kv_bytes / rates.bandwidth
    step += rows * (shape.elementwise_bytes + 3 * 4 * shape.vocab) / rates.bandwidth + rates.launch
    step += sums(whole, rows, rates, gpus)
    return samples / (samples * prefill + steps * step)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, help="the folder of scripts/test_gpu.sh")
    folder = parser.parse_args().results / "bench"
    print("| row | predicted, verdicts/s | measured | measured / predicted |")
    print("|---|--:|--:|--:|")
    for path in sorted(folder.glob("*.json")):
        row = json.loads(path.read_text())
        shape = SHAPES.get(row["model_id"].removeprefix("random "))
        plain = {"--plain-operations", "--no-shared-prefix"} & set(row["command"])
        if shape is None or plain:
            continue
        weights, _, cache = row["precision"].partition(",")
        found = row["verdicts_per_second"]
        fp8 = "fp8" in weights
        rates = Rates.of(row["ceiling"], fp8)
        command = row["command"]
        gpus = int(command[command.index("--tensor-parallel") + 1]) if "--tensor-parallel" in command else 1
        sizes = (row["max_sequences"], row["token_budget"])
        expected = predicted(shape, row["workload"], rates, fp8, "fp8" in cache, *sizes, gpus)
        print(f"| {path.stem} | {expected:.1f} | {found:.1f} | {found / expected:.2f} |")


if __name__ == "__main__":
    main()
