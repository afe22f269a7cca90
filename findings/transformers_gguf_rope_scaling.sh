#!/usr/bin/env bash
# transformers 5.24.0 (gguf 0.19.0, torch 2.15.0; beside it llama.cpp in the wheel xllamacpp 2026.10.11549): a GGUF file's scaling of rotary
# positions is left out, so that each Llama 3.1 or 3.2 in GGUF is another model than llama.cpp has.
#
# `from_pretrained(folder, gguf_file=...)` turns a GGUF file back into a model of transformers. One would expect the model that was converted,
# up to the quantisation, or an error where the file says what cannot be taken over. Seen: `rope.freq_base` is read and nothing else. The
# factors of Llama 3's frequencies, which converters write as the tensor `rope_freqs.weight`, are dropped, and so are `rope.scaling.type` and
# `rope.scaling.factor`, with no word of it; by its source only gpt-oss has its scaling read. The configuration says `rope_type: default`, and
# log-probabilities differ from the first few tokens on.
#
# Whom it hits: those who fine-tune, convert back or evaluate a model of which only the GGUF file is at hand, and compare it with a server's.
#
# Converts a random Llama in f32, whole, with both kinds of scaling, and prints the largest difference of log-probabilities from the original:
# of the file in transformers, and in llama.cpp. Exits with 1 if transformers has the original's, or llama.cpp has not.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q transformers==5.24.0 torch==2.15.0 gguf==0.19.0 xllamacpp==2026.10.11549 accelerate==1.15.0
cat >try.py <<'PYTHON'
import math
import os

import gguf
import numpy as np
import torch
import xllamacpp
from transformers import LlamaConfig, LlamaForCausalLM

VOCAB, HEADS, KEY_HEADS, WIDTH, THETA = 61, 4, 2, 32, 10000.0
SCALINGS = {
    "none": {"rope_type": "default"},
    "llama3": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 64},
    "linear": {"rope_type": "linear", "factor": 4.0},
}


def original(scaling):
    torch.manual_seed(0)
    size = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": HEADS, "num_key_value_heads": KEY_HEADS}
    rope = {"rope_theta": THETA, **SCALINGS[scaling]}
    config = LlamaConfig(vocab_size=VOCAB, head_dim=WIDTH, max_position_embeddings=512, rms_norm_eps=1e-6, rope_parameters=rope, **size)
    config.initializer_range = 0.3
    return LlamaForCausalLM(config).eval()


def llama3_factors(factor, low_freq_factor, high_freq_factor, original_max_position_embeddings, rope_type):
    """By how much each pair turns slower, as llama.cpp's converter computes it."""
    for pair in range(WIDTH // 2):
        turn = 2 * math.pi * THETA ** (2 * pair / WIDTH)
        smooth = (original_max_position_embeddings / turn - low_freq_factor) / (high_freq_factor - low_freq_factor)
        smooth = min(max(smooth, 0.0), 1.0)
        yield 1 / ((1 - smooth) / factor + smooth)


def neighbours(weight, heads):
    """Rotary pairs beside each other, as GGUF has them for Llama."""
    return weight.reshape(heads, 2, weight.shape[0] // heads // 2, weight.shape[1]).swapaxes(1, 2).reshape(weight.shape)


def convert(model, scaling):
    os.makedirs(scaling)
    writer = gguf.GGUFWriter(f"{scaling}/model.gguf", "llama")
    config = model.config
    writer.add_context_length(512)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_key_length(WIDTH)
    writer.add_value_length(WIDTH)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(THETA)
    writer.add_rope_dimension_count(WIDTH)
    writer.add_vocab_size(VOCAB)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([f"t{index}" for index in range(VOCAB)])
    writer.add_token_types([gguf.TokenType.NORMAL] * VOCAB)
    writer.add_token_merges(["t 1"])
    writer.add_eos_token_id(2)
    if scaling == "linear":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(SCALINGS[scaling]["factor"])
    if scaling == "llama3":
        writer.add_tensor("rope_freqs.weight", np.array(list(llama3_factors(**SCALINGS[scaling])), dtype=np.float32))
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    for name, tensor in model.state_dict().items():
        numbers = tensor.numpy()
        if ".q_proj." in name or ".k_proj." in name:
            numbers = neighbours(numbers, HEADS if ".q_proj." in name else KEY_HEADS)
        writer.add_tensor(names.get_name(name, try_suffixes=(".weight",)), np.ascontiguousarray(numbers))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def by_llama_cpp(scaling, prompt):
    params = xllamacpp.CommonParams()
    params.model.path = f"{scaling}/model.gguf"
    params.n_ctx, params.n_parallel, params.warmup = 512, 1, False
    params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    answer = server.handle_completions({"prompt": prompt, "n_predict": 1, "temperature": 0.0, "logprobs": VOCAB, "cache_prompt": False})
    top = answer["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
    return torch.tensor([entry["logprob"] for entry in sorted(top, key=lambda entry: entry["id"])])


@torch.no_grad()
def last(model, prompt):
    return model(torch.tensor([prompt])).logits[0, -1].log_softmax(-1)


changed = False
for scaling in SCALINGS:
    model = original(scaling)
    convert(model, scaling)
    loaded = LlamaForCausalLM.from_pretrained(scaling, gguf_file="model.gguf", dtype=torch.float32).eval()
    print(f"scaling {scaling}: read back as {loaded.config.rope_parameters}", flush=True)
    for length in (8, 60, 200):
        prompt = np.random.default_rng(length).integers(3, VOCAB, length).tolist()
        expected = last(model, prompt)
        here, there = ((found - expected).abs().max().item() for found in (last(loaded, prompt), by_llama_cpp(scaling, prompt)))
        print(f"  {length:3} tokens: largest difference in transformers {here:.6f}, in llama.cpp {there:.6f}", flush=True)
        changed |= there > 1e-3 or (here > 1e-3) != (scaling != "none")
# The servers' threads would hold up an ordinary exit.
os._exit(int(changed))
PYTHON
venv/bin/python -W ignore try.py 2>log || { tail -n 20 log; exit 1; }
