#!/usr/bin/env python3
"""How long a model of real size takes to load, and how much memory: random weights, no download.

    cargo build --release
    python scripts/load_time.py [--shapes qwen3-0.6b qwen3-4b] [--runs 3] [--folder target/load_time]

Needs numpy; weights are written once (1.2 and 8 GB) and used again.  For every shape and type of weights `juror bench`
loads the model and generates one token after a prompt of 16: cold, with the weight file thrown out of the system's cache, and
warm.  Prints a table in Markdown: medians; memory is the most that the process ever had resident.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts" / "compare_cpu"))

from make_checkpoint import SHAPES, make  # noqa: E402

TYPES = {
    "bf16 (as stored)": [],
    "f32": ["--dtype", "f32"],
    "q8_0": ["--quantize", "q8_0"],
    "q4k": ["--quantize", "q4k"],
}
BITS = {"bf16 (as stored)": 16, "f32": 32, "q8_0": 8.5, "q4k": 4.625}
HEAD_BITS = {**BITS, "q4k": 8.5}
"""The output head, which is the embedding table too, stays at eight bits at least."""


def result_bytes(shape: dict, kind: str) -> float:
    """What the loaded weights take."""
    hidden, inner, head = shape["hidden_size"], shape["intermediate_size"], shape["head_dim"]
    heads, groups = shape["num_attention_heads"], shape["num_key_value_heads"]
    layer = hidden * head * (2 * heads + 2 * groups) + 3 * hidden * inner
    table = shape["vocab_size"] * hidden
    return (shape["num_hidden_layers"] * layer * BITS[kind] + table * HEAD_BITS[kind]) / 8


def forget(file: Path) -> None:
    """Throw a file out of the system's cache."""
    with file.open("rb") as opened:
        os.fsync(opened.fileno())
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def run(program: Path, folder: Path, arguments: list[str]) -> dict:
    """Seconds to load, from the start to the first token, and the most memory in bytes."""
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.json"
        command = [program, "bench", "--model", folder, "--device", "cpu", *arguments, "--samples", "1", "--template-tokens", "0"]
        command += ["--input-tokens", "16", "--output-tokens", "1", "--max-sequences", "1", "--json", report]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        peak = 0
        while process.poll() is None:
            try:
                status = Path(f"/proc/{process.pid}/status").read_text()
                peak = max(peak, *(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmHWM")), 0)
            except (OSError, ValueError):
                pass
            time.sleep(0.02)
        if process.returncode:
            sys.exit(process.stderr.read().decode())
        found = json.loads(report.read_text())
    first_token = found["load_seconds"] + found["median_ttft_ms"] / 1000
    return {"load": found["load_seconds"], "first_token": first_token, "peak": peak}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", nargs="+", choices=list(SHAPES), default=["qwen3-0.6b", "qwen3-4b"])
    parser.add_argument("--types", nargs="+", choices=list(TYPES), default=list(TYPES))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=ROOT / "target" / "load_time")
    parser.add_argument("--juror", type=Path, default=ROOT / "target" / "release" / "juror")
    arguments = parser.parse_args()
    print("| shape | weights | load, cold | load, warm | to the first token, warm | peak memory | of the file | of the result |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for name in arguments.shapes:
        folder = arguments.folder / name
        make(folder, name, [])
        weights = folder / "hf" / "model.safetensors"
        size = weights.stat().st_size
        for kind in arguments.types:
            found: dict[bool, list[dict]] = {True: [], False: []}
            for _ in range(arguments.runs):
                for cold in [True, False]:
                    if cold:
                        forget(weights)
                    found[cold].append(run(arguments.juror.resolve(), folder / "hf", TYPES[kind]))
            median = lambda cold, figure: statistics.median(one[figure] for one in found[cold])  # noqa: E731
            peak = max(one["peak"] for runs in found.values() for one in runs)
            cells = [name, kind, f"{median(True, 'load'):.2f} s", f"{median(False, 'load'):.2f} s"]
            cells += [f"{median(False, 'first_token'):.2f} s", f"{peak / 1e6:,.0f} MB", f"{peak / size:.2f} ×"]
            cells.append(f"{peak / result_bytes(SHAPES[name], kind):.2f} ×")
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
