#!/usr/bin/env bash
# llama.cpp (wheel xllamacpp 2026.10.11549), on a CPU: with weights and caches in f32, flash attention still rounds to sixteen bits, and it is
# on unless it is switched off.
#
# `--cache-type-k f32 --cache-type-v f32` for a model in f32 reads like full precision, and is what one sets to compare another implementation
# with llama.cpp. One would expect log-probabilities that differ from a computation in f64 by some 1e-5, with flash attention or without it:
# the algorithm is exact up to the order of its sums. Without it they do. With it, which `auto` chooses, they are hundreds of times further
# off, also where a prompt of a few tokens is all there is: a tolerance that has to allow for that no longer sees a wrong epsilon or a missing
# scale.
#
# Whom it hits: golden tests against llama.cpp, perplexities of quantised models beside one in f32, anyone who reads log-probabilities of
# two engines side by side.
#
# Makes a random Llama of four layers, computes it in f64 with numpy, and prints the largest difference of the log-probabilities that
# llama.cpp gives for its own greedy tokens: with flash attention as it comes, and without. Exits with 1 if the former is below 2e-4 or the
# latter above 5e-5.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet gguf==0.19.0 numpy xllamacpp==2026.10.11549
cat >run.py <<'PYTHON'
import os
import sys

import gguf
import numpy as np
import xllamacpp

LAYERS, HIDDEN, HEADS, KEY_HEADS, WIDTH, INNER, VOCAB, EPS, THETA = 4, 64, 4, 2, 32, 96, 61, 1e-6, 10000.0
random = np.random.default_rng(0)
weights = {"token_embd.weight": (VOCAB, HIDDEN), "output.weight": (VOCAB, HIDDEN)}
for layer in range(LAYERS):
    weights |= {
        f"blk.{layer}.attn_q.weight": (HEADS * WIDTH, HIDDEN), f"blk.{layer}.attn_k.weight": (KEY_HEADS * WIDTH, HIDDEN),
        f"blk.{layer}.attn_v.weight": (KEY_HEADS * WIDTH, HIDDEN), f"blk.{layer}.attn_output.weight": (HIDDEN, HEADS * WIDTH),
        f"blk.{layer}.ffn_gate.weight": (INNER, HIDDEN), f"blk.{layer}.ffn_up.weight": (INNER, HIDDEN),
        f"blk.{layer}.ffn_down.weight": (HIDDEN, INNER),
    }  # fmt: skip
weights = {name: (random.normal(size=shape) * 1.5 / shape[1] ** 0.5).astype(np.float32) for name, shape in weights.items()}
ones = np.ones(HIDDEN, dtype=np.float32)
norms = ["output_norm.weight", *(f"blk.{layer}.{part}_norm.weight" for layer in range(LAYERS) for part in ("attn", "ffn"))]

writer = gguf.GGUFWriter("model.gguf", "llama")
writer.add_context_length(256)
writer.add_embedding_length(HIDDEN)
writer.add_block_count(LAYERS)
writer.add_feed_forward_length(INNER)
writer.add_head_count(HEADS)
writer.add_head_count_kv(KEY_HEADS)
writer.add_key_length(WIDTH)
writer.add_value_length(WIDTH)
writer.add_layer_norm_rms_eps(EPS)
writer.add_rope_freq_base(THETA)
writer.add_rope_dimension_count(WIDTH)
writer.add_tokenizer_model("gpt2")
writer.add_tokenizer_pre("default")
writer.add_token_list([f"t{index}" for index in range(VOCAB)])
writer.add_token_types([gguf.TokenType.NORMAL] * VOCAB)
writer.add_token_merges(["t 1"])
writer.add_eos_token_id(2)
for name, numbers in weights.items():
    writer.add_tensor(name, numbers)
for name in norms:
    writer.add_tensor(name, ones)
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()


def normed(x):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + EPS)


def rotated(x):
    """Neighbours turn together: [tokens, heads, width]."""
    angles = np.arange(len(x))[:, None] * THETA ** (-np.arange(0, WIDTH, 2) / WIDTH)
    cos, sin = np.cos(angles)[:, None], np.sin(angles)[:, None]
    even, odd = x[..., 0::2], x[..., 1::2]
    return np.stack([even * cos - odd * sin, even * sin + odd * cos], -1).reshape(x.shape)


def logprobs(tokens):
    of = {name: numbers.astype(np.float64) for name, numbers in weights.items()}
    x = of["token_embd.weight"][tokens]
    n = len(tokens)
    for layer in range(LAYERS):
        part = lambda name: of[f"blk.{layer}.{name}.weight"].T
        h = normed(x)
        q, k = rotated((h @ part("attn_q")).reshape(n, HEADS, WIDTH)), rotated((h @ part("attn_k")).reshape(n, KEY_HEADS, WIDTH))
        v = (h @ part("attn_v")).reshape(n, KEY_HEADS, WIDTH)
        k, v = (y.repeat(HEADS // KEY_HEADS, axis=1) for y in (k, v))
        scores = np.einsum("qhd,khd->hqk", q, k) / WIDTH**0.5 + np.triu(np.full((n, n), -np.inf), 1)
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        x = x + np.einsum("hqk,khd->qhd", shares, v).reshape(n, -1) @ part("attn_output")
        h = normed(x)
        gate = h @ part("ffn_gate")
        x = x + (gate / (1 + np.exp(-gate)) * (h @ part("ffn_up"))) @ part("ffn_down")
    logits = normed(x) @ of["output.weight"].T
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


def worst(flash) -> float:
    params = xllamacpp.CommonParams()
    params.model.path = "model.gguf"
    params.n_ctx, params.n_parallel, params.warmup = 256, 1, False
    params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    if flash is not None:
        params.flash_attn_type = flash
    server = xllamacpp.Server(params)
    found = 0.0
    for length in (3, 20, 100):
        prompt = np.random.default_rng(length).integers(3, VOCAB, length).tolist()
        answer = server.handle_completions(
            {"prompt": prompt, "n_predict": 16, "temperature": 0.0, "logprobs": 1, "cache_prompt": False}
        )
        steps = answer["choices"][0]["logprobs"]["content"]
        expected = logprobs(prompt + [step["id"] for step in steps])
        rows = range(length - 1, length - 1 + len(steps))
        found = max([found, *(abs(expected[row, step["id"]] - step["logprob"]) for row, step in zip(rows, steps))])
    return found


with_it = worst(None)
without = worst(xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED)
print(f"largest difference from f64, flash attention as it comes: {with_it:.6f}; without it: {without:.6f}", flush=True)
# The server's threads would hold up an ordinary exit.
os._exit(0 if with_it > 2e-4 and without < 5e-5 else 1)
PYTHON
venv/bin/python run.py 2>log || { cat log; exit 1; }
