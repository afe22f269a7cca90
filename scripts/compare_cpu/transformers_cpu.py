#!/usr/bin/env python3
"""Hugging Face transformers on the CPU: the judge workload, prefill and decode, as one JSON object.

Started by compare.py, in a process of its own, with whatever Python has torch and transformers.  Everything is
`generate` with greedy choice, in batches of eight, padded on the left; the template's keys and values are computed once,
before the clock starts, and copied into every batch.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
import time

import torch
import transformers


def generate(model, rows: list[list[int]], output: int, cache=None) -> float:
    """Seconds to extend every row by `output` tokens; `cache` holds the beginning that all rows share."""
    longest = max(map(len, rows))
    padding = [longest - len(row) for row in rows]
    if cache is not None:
        if any(padding):
            sys.exit("rows behind a shared beginning must be of one length")
        cache = copy.deepcopy(cache)
        cache.batch_repeat_interleave(len(rows))
    started = time.monotonic()
    made = model.generate(
        torch.tensor([[0] * pad + row for pad, row in zip(padding, rows)]),
        attention_mask=torch.tensor([[0] * pad + [1] * len(row) for pad, row in zip(padding, rows)]),
        past_key_values=cache,
        min_new_tokens=output,
        max_new_tokens=output,
        do_sample=False,
    )
    seconds = time.monotonic() - started
    if made.shape[1] != longest + output:
        sys.exit(f"generate made {made.shape[1] - longest} tokens instead of {output}")
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--workload", type=json.loads, required=True, help="see workload.py")
    parser.add_argument("--samples", type=int, required=True)
    parser.add_argument("--batch", type=int, default=8)
    arguments = parser.parse_args()
    work = arguments.workload
    torch.manual_seed(0)
    torch.set_num_threads(arguments.threads)
    dtype = getattr(torch, arguments.dtype)
    model = transformers.AutoModelForCausalLM.from_pretrained(arguments.folder, dtype=dtype).eval()
    model.generation_config.eos_token_id = None
    model.generation_config.pad_token_id = 0

    def draw(count: int, length: int) -> list[list[int]]:
        return torch.randint(300, work["vocabulary"], (count, length)).tolist()

    figures = {}
    with torch.inference_mode():
        generate(model, draw(1, 16), 2)
        template, cache = draw(1, work["template"])[0] if work["template"] else [], None
        if template:
            cache = model(torch.tensor([template]), past_key_values=transformers.DynamicCache(), logits_to_keep=1)
            cache = cache.past_key_values
        seconds = 0.0
        rows = [template + own for own in draw(arguments.samples, work["own"])]
        for start in range(0, len(rows), arguments.batch):
            seconds += generate(model, rows[start : start + arguments.batch], work["output"], cache)
        figures["verdicts_per_second"] = arguments.samples / seconds
        figures["samples"] = arguments.samples
        prompt = torch.tensor(draw(1, work["prefill"]))
        started = time.monotonic()
        model(prompt, logits_to_keep=1)
        figures["prefill_tokens_per_second"] = work["prefill"] / (time.monotonic() - started)
        for batch in work["decode_batches"]:
            rows = draw(batch, work["decode_prompt"])
            whole = generate(model, rows, work["decode_output"] + 1) - generate(model, rows, 1)
            figures[f"decode_tokens_per_second_{batch}"] = batch * work["decode_output"] / whole
    versions = f"{transformers.__version__} on torch {torch.__version__}"
    json.dump({"figures": figures, "version": versions}, sys.stdout)


if __name__ == "__main__":
    main()
