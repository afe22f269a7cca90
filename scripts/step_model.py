#!/usr/bin/env python3
"""What a GPU should do by the bytes and operations of a step, beside what `scripts/test_gpu.sh bench` measured.

    python3 scripts/step_model.py gpu-results     the rows of a run whose shape is known here
    python3 scripts/step_model.py                 what to expect of today's judges on an H200
    python3 scripts/step_model.py --gaps          what is lost where, by the rows of scripts/test_gpu.sh on an H200

Prints a Markdown table. Beside a prediction stands the limit: for each kind of step, prompts and generated tokens, the operations at the
ceiling or the bytes at the ceiling, whichever takes longer, with as many sequences at once as there is memory for beside the weights.

Rates are shares of the ceilings that the bench measured on the same GPU: of products and memory as on an H200,
of prefill attention as on an H100 (docs/decisions/cuda.md); those of experts and of recurrent layers are assumed, nothing of them was
measured. A row that is much slower than predicted has lost its time somewhere that the model does not know; one that is faster shows that
a rate is too low.
"""

from __future__ import annotations

import argparse
import json
import math
import re
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
    "qwen3-30b-a3b": Shape(48, 2048, 0, 32, 4, 128, 151_936, experts=128, per_token=8, width=768),
    "llama-3.3-70b": Shape(80, 8192, 28_672, 64, 8, 128, 128_256),
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


H200 = {"flops": 785e12, "bandwidth": 4.3e12, "memory": 150e9}
"""The ceilings that the bench found there (docs/decisions/cuda.md)."""


def sums(shape: Shape, rows: float, rates: Rates, gpus: int) -> float:
    """Seconds of a step's two sums a layer over GPUs that hold a model together."""
    if gpus == 1:
        return 0.0
    own = 2 * shape.hidden * rows * 2 * (gpus - 1) / gpus
    return 2 * shape.layers * max(rates.sum, own / rates.link)


MULTIPROCESSORS = 132
"""Of an H100 and an H200."""

TILES = {32: (4, 4, 377), 64: (4, 4, 441), 128: (8, 2, 425)}
"""Rows of a tile of `moe_gemm_int4`: its thread block's warps, how many blocks a multiprocessor holds, and the instructions of a warp for 64
inputs (nvdisasm, sm_90a). Which tile a product takes is `rows_of_tile`'s (crates/engine/src/model/cuda/tiles.rs)."""

FIRST_TILES = {32: (4, 3, 485), 128: (8, 2, 549)}
"""Those that were measured on an H100; of 128 rows from 64 rows on."""

LATENCY, INSTRUCTION = 0.27e-6, 0.774e-9
"""Seconds of 64 inputs for a warp that is alone, and of an instruction where four schedulers share them: from two measurements, 281
TFLOP/s with all multiprocessors full, and 20 ms for the products of a step of 237 rows of an 8B model."""


def tile_of(rows: int, outputs: int, tiles: dict) -> int:
    if tiles is FIRST_TILES:
        return 128 if rows >= 64 else 32

    def busiest(tile: int) -> int:
        warps, _, instructions = tiles[tile]
        blocks = math.ceil(rows / tile) * math.ceil(outputs / 128)
        return math.ceil(blocks / MULTIPROCESSORS) * warps * instructions

    return min(tiles, key=busiest)


def product_as_stored(rows: int, outputs: int, inputs: int, tiles: dict) -> float:
    """Seconds of a product of our own kernel, whose thread blocks run as many at a time as there is room for."""
    tile = tile_of(rows, outputs, tiles)
    warps, resident, instructions = tiles[tile]
    blocks, seconds = math.ceil(rows / tile) * math.ceil(outputs / 128), 0.0
    while blocks > 0:
        now = min(blocks, resident * MULTIPROCESSORS)
        each = math.ceil(now / MULTIPROCESSORS) * warps / 4
        seconds += math.ceil(inputs / 64) * (LATENCY + each * instructions * INSTRUCTION)
        blocks -= now
    return seconds


@dataclass(frozen=True)
class Stored:
    """How weights are kept: bits of each, and for few bits the tiles of our own kernel, and from how many rows on they are widened."""

    bits: float
    tiles: dict | None = None
    widen_from: int = 0

    def products(self, shape: Shape, rows: float, rates: Rates) -> float:
        """Seconds of the products of a step of generated tokens, in all layers."""
        if rows >= self.widen_from:
            return self.widening(shape, rates) + max(2 * shape.weights / rates.bandwidth, rows * 2 * shape.weights / rates.products)
        heads, kv_heads = shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim
        sizes = (
            (heads + 2 * kv_heads, shape.hidden), (shape.hidden, heads),
            (2 * shape.intermediate, shape.hidden), (shape.hidden, shape.intermediate),
        )
        rows = max(1, round(rows))
        return shape.layers * sum(product_as_stored(rows, *size, self.tiles) for size in sizes)

    def widening(self, shape: Shape, rates: Rates) -> float:
        """Seconds in which all weights are written in 16 bits."""
        return (self.bits / 8 + 2) * shape.dense_weights / rates.bandwidth


PLAIN, FP8 = Stored(16), Stored(8)
FOUR, FOUR_FIRST = Stored(5, TILES, 448), Stored(5, FIRST_TILES, 448)


@dataclass(frozen=True)
class Part:
    """A part of a run's time: as predicted, and what its operations and its bytes take at the ceilings."""

    name: str
    seconds: float
    operations: float = 0.0
    bytes: float = 0.0


def parts(
    shape: Shape, work: dict, ceiling: dict, stored: Stored, fp8_cache: bool, batch: int, budget: int, gpus: int = 1
) -> dict[str, list[Part]]:
    """By kind of step the parts of a run: every prompt's own tokens once, then decode steps of `batch` rows; on `gpus` that have a part of
    each layer."""
    fp8 = stored is FP8
    rates = Rates.of(ceiling, fp8)
    peak, bandwidth = ceiling["flops"], ceiling["bandwidth"]
    plain_peak = peak / (2 if fp8 else 1)
    whole, shape = shape, shape.part(gpus)
    own, template, out = int(work["input_tokens"]), work["template_tokens"], int(work["output_tokens"])
    samples = work["generations"]
    weight_bytes = stored.bits / 8
    kv_bytes = 1 if fp8_cache else 2
    active = 2 * (shape.dense_weights + shape.per_token * shape.expert_weights)

    def multiplied(rows: float) -> float:
        """Seconds of products with `rows` rows, without reading weights."""
        experts = shape.per_token * shape.expert_weights / rates.experts
        return rows * 2 * (shape.dense_weights + experts) / rates.products

    def moved(name: str, count: float) -> Part:
        return Part(name, count / rates.bandwidth, 0.0, count / bandwidth)

    tokens, chunks = samples * own, samples * own / budget
    attended = tokens * shape.attention_operations(template + own / 2)
    prefill = [
        Part(
            "products of prompts", multiplied(tokens), tokens * active / peak,
            chunks * shape.read(budget) * weight_bytes / bandwidth,
        ),
        Part("attention of prompts", attended / rates.prefill_attention, attended / plain_peak),
        Part("recurrence of prompts", tokens * shape.state_operations / rates.states),
        moved("between the products of prompts", tokens * shape.elementwise_bytes),
        Part("weights widened", chunks * stored.widening(shape, rates) if stored.tiles else 0.0),
        Part("launches and sums of prompts", chunks * (rates.launch + sums(whole, budget, rates, gpus))),
    ]
    steps = math.ceil(samples / batch) * out
    rows = samples * out / max(steps, 1)
    # A template that all share is read once.
    after = template + own + out / 2
    alone = shape.kv_numbers(after) - (shape.kv_numbers(template) if after <= shape.window or not shape.windowed else 0)
    if shape.windowed and after > shape.window:
        alone = shape.kv_numbers(after) - 2 * shape.seeing_all * math.prod(shape.full_heads) * template
    # With as many at once as there is memory for, weights are read less often.
    memory, head_bytes = ceiling.get("memory"), 2 * shape.vocab * shape.hidden
    most = batch
    if memory and out:
        left = memory - shape.read(1e9) * weight_bytes - 2 * head_bytes - shape.kv_numbers(template) * kv_bytes
        kept = (shape.kv_numbers(after + out / 2) - shape.kv_numbers(template)) * kv_bytes + shape.state_bytes
        most = max(batch, int(left / kept))
    fewest = samples * out / min(samples, most)
    read = shape.read(rows) * weight_bytes
    products = stored.products(shape, rows, rates) if stored.tiles else multiplied(rows)
    generated = samples * out
    decode = [
        Part(
            "products of generated tokens", steps * max(read / rates.bandwidth, products), generated * active / peak,
            fewest * read / bandwidth,
        ),
        Part(
            "the head", steps * max(head_bytes / rates.bandwidth, rows * head_bytes / rates.plain_products),
            generated * head_bytes / plain_peak, fewest * head_bytes / bandwidth,
        ),
        Part(
            "attention of generated tokens",
            (steps * shape.kv_numbers(template) + generated * alone) * kv_bytes / rates.bandwidth,
            generated * shape.attention_operations(after) / plain_peak,
            (fewest * shape.kv_numbers(template) + generated * alone) * kv_bytes / bandwidth,
        ),
        moved("recurrence of generated tokens", generated * 2 * shape.state_bytes),
        moved("between the products of generated tokens", generated * (shape.elementwise_bytes + 3 * 4 * shape.vocab)),
        Part("launches and sums of generated tokens", steps * (rates.launch + sums(whole, rows, rates, gpus))),
    ]
    return {"prompts": prefill, "generated tokens": decode}


def predicted(*arguments) -> float:
    """Verdicts a second, of the arguments of `parts`."""
    return arguments[1]["generations"] / sum(part.seconds for kind in parts(*arguments).values() for part in kind)


def limited(kinds: dict[str, list[Part]]) -> tuple[float, list[tuple[str, float]]]:
    """Seconds at the limit, and by part what is lost, most first: all of a part that another resource than the limiting one takes."""
    least, lost = 0.0, []
    for kind in kinds.values():
        operations, moved = sum(part.operations for part in kind), sum(part.bytes for part in kind)
        least += max(operations, moved)
        lost += [(part.name, part.seconds - (part.operations if operations > moved else part.bytes)) for part in kind]
    return least, sorted(lost, key=lambda part: -part[1])


def batch_of(shape: Shape, work: dict, stored: Stored = PLAIN, kv_bytes: int = 2, memory: float = 130e9, most: int = 256) -> int:
    """Sequences at once beside the weights: their keys and values (of layers with windows the last ones), and states."""
    weights = stored.bits / 8 * shape.read(1e9) + 2 * shape.vocab * shape.hidden
    own = kv_bytes * shape.kv_numbers(work["input_tokens"] + work["output_tokens"]) + 1.125 * shape.state_bytes
    return max(1, min(most, work["generations"], int((memory - weights) / own)))


def today() -> None:
    """What to expect of today's judges."""
    outputs = (300, 2500, 0)
    print("| shape | " + " | ".join(f"{out} tokens out, verdicts/s (at once)" for out in outputs) + " | state, MB | sizes |")
    print("|---|" + "--:|" * (len(outputs) + 1) + "---|")
    for name, source in TODAY.items():
        shape, found = SHAPES[name], []
        for out in outputs:
            work = {"input_tokens": 1500, "template_tokens": 1300, "output_tokens": out, "generations": 1024}
            batch = batch_of(shape, work)
            found.append(f"{predicted(shape, work, H200, PLAIN, False, batch, 8192):.1f} ({batch})")
        print(f"| {name} | {' | '.join(found)} | {shape.state_bytes / 1e6:.0f} | {source} |")


ROWS = {
    "8b-300": ("qwen3-8b", 512, 300, PLAIN, 2),
    "8b-0": ("qwen3-8b", 512, 0, PLAIN, 2),
    "8b-2500": ("qwen3-8b", 256, 2500, PLAIN, 2),
    "8b-300-fp8-kv": ("qwen3-8b", 512, 300, PLAIN, 1),
    "8b-300-fp8": ("qwen3-8b", 512, 300, FP8, 2),
    "8b-0-fp8": ("qwen3-8b", 512, 0, FP8, 2),
    "8b-2500-fp8-all": ("qwen3-8b", 256, 2500, FP8, 1),
    "30b-a3b-300": ("qwen3-30b-a3b", 512, 300, PLAIN, 2),
    "30b-a3b-0": ("qwen3-30b-a3b", 512, 0, PLAIN, 2),
    "8b-300-awq": ("qwen3-8b", 512, 300, FOUR, 2),
    "8b-300-awq, as first measured": ("qwen3-8b", 512, 300, FOUR_FIRST, 2),
    "70b-300-awq": ("llama-3.3-70b", 64, 300, FOUR, 2),
    "70b-300-awq, as first measured": ("llama-3.3-70b", 64, 300, FOUR_FIRST, 2),
}
"""Of scripts/test_gpu.sh: shape, samples, tokens out, weights, bytes of a key's or value's number."""


def gaps() -> None:
    """What is lost where on an H200, most first."""
    found = []
    for name, (model, samples, out, stored, kv_bytes) in ROWS.items():
        shape = SHAPES[model]
        work = {"input_tokens": 1500, "template_tokens": 1300, "output_tokens": out, "generations": samples}
        ceiling = {**H200, "flops": H200["flops"] * (2 if stored is FP8 else 1)}
        batch = batch_of(shape, work, stored, kv_bytes)
        kinds = parts(shape, work, ceiling, stored, kv_bytes == 1, batch, 8192)
        seconds = sum(part.seconds for kind in kinds.values() for part in kind)
        least, lost = limited(kinds)
        most = ", ".join(f"{part} {100 * here / seconds:.0f} %" for part, here in lost[:3])
        found.append((least / seconds, f"| {name} | {batch} | {samples / seconds:.2f} | {samples / least:.2f} | {least / seconds:.2f} | {most} |"))
    print("| row | at once | predicted, verdicts/s | limit | predicted / limit | of the time is lost in |")
    print("|---|--:|--:|--:|--:|---|")
    print("\n".join(line for _, line in sorted(found)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, nargs="?", help="the folder of scripts/test_gpu.sh")
    parser.add_argument("--gaps", action="store_true", help="what is lost where on an H200")
    arguments = parser.parse_args()
    results = arguments.results
    if results is None or arguments.gaps:
        gaps() if arguments.gaps else today()
        return
    machine = results / "machine"
    gigabytes = re.search(r"^\| GPU \| .*?, (\d+) GB", machine.read_text(), re.MULTILINE) if machine.exists() else None
    memory = {"memory": int(gigabytes[1]) * 2**30} if gigabytes else {}
    print("| row | predicted, verdicts/s | measured | measured / predicted | limit | of the time as predicted is lost in |")
    print("|---|--:|--:|--:|--:|---|")
    for path in sorted((results / "bench").glob("*.json")):
        row = json.loads(path.read_text())
        name = row["model_id"].removeprefix("random ").rsplit("/", 1)[-1].removesuffix(".json")
        shape = SHAPES.get(name.removesuffix("-awq"))
        plain = {"--plain-operations", "--no-shared-prefix"} & set(row["command"])
        if shape is None or plain:
            continue
        weights, _, cache = row["precision"].partition(",")
        found, samples = row["verdicts_per_second"], row["workload"]["generations"]
        stored = FOUR if name.endswith("-awq") else FP8 if "fp8" in weights else PLAIN
        command = row["command"]
        gpus = int(command[command.index("--tensor-parallel") + 1]) if "--tensor-parallel" in command else 1
        batch = min(row["max_sequences"], samples)
        ceiling = {**row["ceiling"], **memory}
        kinds = parts(shape, row["workload"], ceiling, stored, "fp8" in cache, batch, row["token_budget"], gpus)
        seconds = sum(part.seconds for kind in kinds.values() for part in kind)
        expected, (least, lost) = samples / seconds, limited(kinds)
        most = ", ".join(f"{part} {100 * here / seconds:.0f} %" for part, here in lost[:2])
        print(f"| {path.stem} | {expected:.2f} | {found:.2f} | {found / expected:.2f} | {samples / least:.2f} | {most} |")


if __name__ == "__main__":
    main()
