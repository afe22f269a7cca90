#!/usr/bin/env python3
"""What a GPU should do by the bytes and operations of a step, beside what `scripts/test_gpu.sh bench` measured.

    python3 scripts/step_model.py gpu-results     the rows of a run whose shape is known here
    python3 scripts/step_model.py                 what to expect of today's judges on an H200

Prints a Markdown table. Rates are shares of the ceilings that the bench measured on the same GPU: of products and memory as on an H200,
of prefill attention as on an H100 (docs/decisions/cuda.md); those of experts and of recurrent layers are assumed, nothing of them was
measured. A row that is much slower than predicted has lost its time somewhere that the model does not know; one that is faster shows that
a rate is too low.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True)
class Shape:
    """A decoder. Of `layers` some have a window (of which each query sees the last `window` keys), some are recurrent; all others see
    everything, with heads of their own where `full` says so: (key heads, width of a head)."""

    layers: int
    hidden: int
    intermediate: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    windowed: int = 0
    window: int = 0
    full: tuple[int, int] | None = None
    one_for_keys_and_values: bool = False
    """Whether layers that see everything project keys and values at once."""
    gated: bool = False
    """Whether a gate as wide as the queries is projected too."""
    recurrent: int = 0
    key_heads: int = 0
    value_heads: int = 0
    experts: int = 0
    per_token: int = 0
    width: int = 0
    """Of an expert; `intermediate` is then that of what works on every token beside them, or 0."""

    def part(self, gpus: int) -> Shape:
        """Of each of so many GPUs; sizes that do not divide, and recurrent layers, are refused as `--tensor-parallel` does."""
        if gpus == 1:
            return self
        kv_heads, head_dim = self.full_heads
        sizes = (self.heads, self.kv_heads, kv_heads, self.intermediate, self.width)
        if self.recurrent or any(size % gpus for size in sizes):
            raise SystemExit(f"a model with {sizes} heads and widths, {self.recurrent} layers recurrent, is not divided among {gpus} GPUs")
        heads, own, full, intermediate, width = (size // gpus for size in sizes)
        return replace(self, heads=heads, kv_heads=own, full=(full, head_dim), intermediate=intermediate, width=width)

    @property
    def seeing_all(self) -> int:
        return self.layers - self.windowed - self.recurrent

    @property
    def full_heads(self) -> tuple[int, int]:
        return self.full or (self.kv_heads, self.head_dim)

    @property
    def dense_weights(self) -> int:
        """Of the layers, without experts, embeddings and head."""
        queries = (3 if self.gated else 2) * self.heads
        windowed = self.hidden * self.head_dim * (queries + 2 * self.kv_heads)
        kv_heads, head_dim = self.full_heads
        full = self.hidden * head_dim * (queries + (1 if self.one_for_keys_and_values else 2) * kv_heads)
        recurrent = self.hidden * 128 * (2 * self.key_heads + 3 * self.value_heads)
        mixers = self.windowed * windowed + self.seeing_all * full + self.recurrent * recurrent
        return mixers + self.layers * self.hidden * (3 * self.intermediate + self.experts)

    @property
    def expert_weights(self) -> int:
        """Of one expert in every layer."""
        return self.layers * 3 * self.hidden * self.width

    @property
    def weights(self) -> int:
        """What a token is multiplied with."""
        return self.dense_weights + self.per_token * self.expert_weights

    def read(self, rows: float) -> float:
        """Of the layers' weights those that a step of so many rows reads: experts that nobody chose are not."""
        chosen = self.experts * (1 - (1 - self.per_token / self.experts) ** rows) if self.experts else 0
        return self.dense_weights + chosen * self.expert_weights

    def kv_numbers(self, tokens: float) -> float:
        """Numbers of keys and values that a query after so many tokens reads."""
        kv_heads, head_dim = self.full_heads
        windowed = self.windowed * self.kv_heads * self.head_dim * min(tokens, self.window)
        return 2 * (windowed + self.seeing_all * kv_heads * head_dim * tokens)

    def attention_operations(self, keys: float) -> float:
        """Of a query that sees so many keys, in all layers: scores and values."""
        windowed = self.windowed * self.head_dim * min(keys, self.window)
        return 4 * self.heads * (windowed + self.seeing_all * self.full_heads[1] * keys)

    @property
    def state_bytes(self) -> int:
        """Of a sequence's state in f32, in all recurrent layers."""
        convolution = 3 * 128 * (2 * self.key_heads + self.value_heads)
        return self.recurrent * 4 * (self.value_heads * 128 * 128 + convolution)

    @property
    def state_operations(self) -> int:
        """Of a token in all recurrent layers: decay, what the key returns, the correction, what the query returns."""
        return self.recurrent * self.value_heads * 128 * 128 * 7

    @property
    def elementwise_bytes(self) -> int:
        """Of a token between the products, in all layers: norms, heads, activation, as the kernels read and write them in bf16; what is
        convolved is f32."""
        heads = self.head_dim * (self.heads + 2 * self.kv_heads)
        mixed = 128 * (2 * self.key_heads + self.value_heads)
        inner = self.intermediate + self.per_token * (self.width + self.hidden)
        attention = (self.layers - self.recurrent) * 2 * 2 * heads
        return attention + self.recurrent * 12 * mixed + self.layers * 2 * (8 * self.hidden + 3 * inner)


SHAPES = {
    "qwen3-0.6b": Shape(28, 1024, 3072, 16, 8, 128, 151_936),
    "qwen3-8b": Shape(36, 4096, 12_288, 32, 8, 128, 151_936),
    "gemma-3-4b": Shape(34, 2560, 10_240, 8, 4, 256, 262_208, windowed=29, window=1024),
    "qwen3.5-9b": Shape(32, 4096, 12_288, 16, 4, 256, 248_320, gated=True, recurrent=24, key_heads=16, value_heads=32),
    "qwen3.6-35b-a3b": Shape(
        40, 2048, 512, 16, 2, 256, 248_320, gated=True, recurrent=30, key_heads=16, value_heads=32,
        experts=256, per_token=8, width=512,
    ),
    "qwen3.8-27b": Shape(64, 5120, 17_408, 24, 4, 256, 248_320, gated=True, recurrent=48, key_heads=16, value_heads=48),
    "gemma-4-31b": Shape(
        60, 5376, 21_504, 32, 16, 256, 262_144, windowed=50, window=1024, full=(4, 512), one_for_keys_and_values=True
    ),
    "gemma-4-26b-a4b": Shape(
        30, 2816, 2112, 16, 8, 256, 262_144, windowed=25, window=1024, full=(2, 512), one_for_keys_and_values=True,
        experts=128, per_token=8, width=704,
    ),
}

TODAY = {
    "qwen3.5-9b": "what transformers 5.24 takes its configuration class to be (Qwen3_5TextConfig)",
    "qwen3.6-35b-a3b": "the same (Qwen3_5MoeTextConfig)",
    "qwen3.8-27b": "assumed to be Qwen3.5-27B's: 64 layers, 48 of them recurrent with 48 value heads; width, 24 query heads and 17,408 assumed; so it has 26.9 B parameters",
    "gemma-4-31b": "its published configuration, by which its 30.7 B parameters are counted (crates/engine/src/checkpoint/config/tests.rs)",
    "gemma-4-26b-a4b": "30 layers, 25 with a window, 16 and 8 heads, 128 experts of 704, 2,112: apxml.com/models/gemma-4-26b-a4b; width 2,816 and two key heads where all is seen assumed; so it has 25.2 B parameters, of which 3.8 work on a token",
}
"""Today's judges, and where their sizes are from."""


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
    experts: float = 0.5
    """What products of experts reach of those of others."""
    states: float = 20e12
    """Operations of the recurrence, in f32 and not by tensor cores."""

    @classmethod
    def of(cls, ceiling: dict, fp8: bool) -> Rates:
        """From the ceilings of a row, whose products are in FP8 if its weights are."""
        plain = ceiling["flops"] / (2 if fp8 else 1)
        return cls((0.85 if fp8 else 0.92) * ceiling["flops"], 0.92 * plain, 0.41 * plain, 0.92 * ceiling["bandwidth"])


H200 = {"flops": 785e12, "bandwidth": 4.3e12}
"""The ceilings that the bench found there (docs/decisions/cuda.md)."""


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
    whole, shape = shape, shape.part(gpus)
    own, template, out = int(work["input_tokens"]), work["template_tokens"], int(work["output_tokens"])
    samples = work["generations"]
    bytes_each = 1 if fp8 else 2
    kv_bytes = 1 if fp8_cache else 2

    def multiplied(rows: float) -> float:
        """Seconds of products with `rows` rows, without reading weights."""
        experts = shape.per_token * shape.expert_weights / rates.experts
        return rows * 2 * (shape.dense_weights + experts) / rates.products

    prefill = multiplied(own)
    prefill += own * shape.attention_operations(template + own / 2) / rates.prefill_attention
    prefill += own * shape.state_operations / rates.states
    prefill += own * shape.elementwise_bytes / rates.bandwidth
    prefill += own / budget * (rates.launch + sums(whole, budget, rates, gpus))
    steps = math.ceil(samples / batch) * out
    rows = samples * out / max(steps, 1)
    head_bytes = 2 * shape.vocab * shape.hidden
    step = max(shape.read(rows) * bytes_each / rates.bandwidth, multiplied(rows))
    step += max(head_bytes / rates.bandwidth, rows * head_bytes / rates.plain_products)
    # A template that all share is read once.
    after = template + own + out / 2
    alone = shape.kv_numbers(after) - (shape.kv_numbers(template) if after <= shape.window or not shape.windowed else 0)
    if shape.windowed and after > shape.window:
        alone = shape.kv_numbers(after) - 2 * shape.seeing_all * math.prod(shape.full_heads) * template
    step += (shape.kv_numbers(template) + rows * alone) * kv_bytes / rates.bandwidth
    step += rows * 2 * shape.state_bytes / rates.bandwidth
    step += rows * (shape.elementwise_bytes + 3 * 4 * shape.vocab) / rates.bandwidth + rates.launch
    step += sums(whole, rows, rates, gpus)
    return samples / (samples * prefill + steps * step)


def batch_of(shape: Shape, work: dict, memory: float = 130e9, most: int = 256) -> int:
    """Sequences at once beside weights in bf16: their keys and values (of layers with windows the last ones), and states."""
    weights = 2 * (shape.read(1e9) + shape.vocab * shape.hidden)
    own = 2 * shape.kv_numbers(work["input_tokens"] + work["output_tokens"]) + 1.125 * shape.state_bytes
    return max(1, min(most, int((memory - weights) / own)))


def today() -> None:
    """What to expect of today's judges."""
    rates = Rates.of(H200, fp8=False)
    outputs = (300, 2500, 0)
    print("| shape | " + " | ".join(f"{out} tokens out, verdicts/s (at once)" for out in outputs) + " | state, MB | sizes |")
    print("|---|" + "--:|" * (len(outputs) + 1) + "---|")
    for name, source in TODAY.items():
        shape, found = SHAPES[name], []
        for out in outputs:
            work = {"input_tokens": 1500, "template_tokens": 1300, "output_tokens": out, "generations": 1024}
            batch = batch_of(shape, work)
            found.append(f"{predicted(shape, work, rates, False, False, batch, 8192):.1f} ({batch})")
        print(f"| {name} | {' | '.join(found)} | {shape.state_bytes / 1e6:.0f} | {source} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, nargs="?", help="the folder of scripts/test_gpu.sh")
    results = parser.parse_args().results
    if results is None:
        today()
        return
    print("| row | predicted, verdicts/s | measured | measured / predicted |")
    print("|---|--:|--:|--:|")
    for path in sorted((results / "bench").glob("*.json")):
        row = json.loads(path.read_text())
        name = row["model_id"].removeprefix("random ").rsplit("/", 1)[-1].removesuffix(".json")
        shape = SHAPES.get(name)
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
