#!/usr/bin/env python3
"""Random weights of a Qwen3 or Qwen3.5, once as a Hugging Face folder and once as GGUF.

    python make_checkpoint.py FOLDER [--shape qwen3-0.6b|qwen3-4b|qwen3.5-0.8b|tiny] [--gguf f16 bf16 f32]

writes FOLDER/hf (config.json, model.safetensors in bf16, a byte-level tokenizer with a trivial chat template) and
FOLDER/f16.gguf, FOLDER/bf16.gguf, FOLDER/f32.gguf with the same numbers.  Needs numpy, and for GGUF the package gguf.  What exists
already is kept.
"""

from __future__ import annotations

import argparse
import json
import struct
import sys
from pathlib import Path

import numpy as np

SHAPES = {
    "qwen3-0.6b": {
        "hidden_size": 1024,
        "intermediate_size": 3072,
        "num_hidden_layers": 28,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "vocab_size": 151936,
        "max_position_embeddings": 40960,
    },
    "qwen3-4b": {
        "hidden_size": 2560,
        "intermediate_size": 9728,
        "num_hidden_layers": 36,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "vocab_size": 151936,
        "max_position_embeddings": 40960,
    },
    # Three of four layers are recurrent. As many value heads as key heads: those that GGUF has in another order have one here.
    "qwen3.5-0.8b": {
        "hidden_size": 1024,
        "intermediate_size": 3584,
        "num_hidden_layers": 24,
        "num_attention_heads": 8,
        "num_key_value_heads": 2,
        "head_dim": 256,
        "linear_num_key_heads": 16,
        "linear_num_value_heads": 16,
        "linear_key_head_dim": 128,
        "linear_value_head_dim": 128,
        "linear_conv_kernel_dim": 4,
        "full_attention_interval": 4,
        "vocab_size": 248320,
        "max_position_embeddings": 40960,
    },
    # To try the scripts; rows are multiples of 256, as Q4_K wants.
    "tiny": {
        "hidden_size": 256,
        "intermediate_size": 512,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 64,
        "vocab_size": 1024,
        "max_position_embeddings": 4096,
    },
}
ROPE_THETA = 1_000_000.0
EPSILON = 1e-6
ROTATED = 0.25
"""The part of a head that Qwen3.5 rotates."""
DEVIATION = 0.02
"""Standard deviation of the weights: Qwen3's `initializer_range`."""

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
"""Ids 256, 257, 258, behind the 256 bytes."""
END_OF_TEXT, END_OF_TURN = 256, 258
CHAT_TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


def recurrent(shape: dict, layer: int) -> bool:
    """Whether a layer keeps a state in place of keys and values."""
    interval = shape.get("full_attention_interval", 1)
    return (layer + 1) % interval != 0


def tensors(shape: dict) -> list[tuple[str, str, tuple[int, ...]]]:
    """(Hugging Face name, GGUF name, shape) of every tensor; head and embedding are one."""
    hidden, inner, head = shape["hidden_size"], shape["intermediate_size"], shape["head_dim"]
    hybrid = "full_attention_interval" in shape
    # Queries have a gate beside them.
    queries, keys = shape["num_attention_heads"] * head, shape["num_key_value_heads"] * head
    attention = [
        ("self_attn.q_proj.weight", "attn_q.weight", (queries * (2 if hybrid else 1), hidden)),
        ("self_attn.k_proj.weight", "attn_k.weight", (keys, hidden)),
        ("self_attn.v_proj.weight", "attn_v.weight", (keys, hidden)),
        ("self_attn.o_proj.weight", "attn_output.weight", (hidden, queries)),
        ("self_attn.q_norm.weight", "attn_q_norm.weight", (head,)),
        ("self_attn.k_norm.weight", "attn_k_norm.weight", (head,)),
    ]
    if hybrid:
        heads, width = shape["linear_num_value_heads"], shape["linear_value_head_dim"]
        mixed = 2 * shape["linear_num_key_heads"] * shape["linear_key_head_dim"] + heads * width
        kernel = shape["linear_conv_kernel_dim"]
        delta = [
            ("linear_attn.in_proj_qkv.weight", "attn_qkv.weight", (mixed, hidden)),
            ("linear_attn.in_proj_z.weight", "attn_gate.weight", (heads * width, hidden)),
            ("linear_attn.in_proj_a.weight", "ssm_alpha.weight", (heads, hidden)),
            ("linear_attn.in_proj_b.weight", "ssm_beta.weight", (heads, hidden)),
            ("linear_attn.conv1d.weight", "ssm_conv1d.weight", (mixed, 1, kernel)),
            ("linear_attn.dt_bias", "ssm_dt.bias", (heads,)),
            ("linear_attn.A_log", "ssm_a", (heads,)),
            ("linear_attn.norm.weight", "ssm_norm.weight", (width,)),
            ("linear_attn.out_proj.weight", "ssm_out.weight", (hidden, heads * width)),
        ]
    after = "post_attention_norm" if hybrid else "ffn_norm"
    listed = [("model.embed_tokens.weight", "token_embd.weight", (shape["vocab_size"], hidden))]
    for layer in range(shape["num_hidden_layers"]):
        for name, gguf_name, size in [
            ("input_layernorm.weight", "attn_norm.weight", (hidden,)),
            *(delta if recurrent(shape, layer) else attention),
            ("post_attention_layernorm.weight", f"{after}.weight", (hidden,)),
            ("mlp.gate_proj.weight", "ffn_gate.weight", (inner, hidden)),
            ("mlp.up_proj.weight", "ffn_up.weight", (inner, hidden)),
            ("mlp.down_proj.weight", "ffn_down.weight", (hidden, inner)),
        ]:
            listed.append((f"model.layers.{layer}.{name}", f"blk.{layer}.{gguf_name}", size))
    listed.append(("model.norm.weight", "output_norm.weight", (hidden,)))
    return listed


def constant(name: str, hybrid: bool) -> tuple[float, float] | None:
    """What stands in a vector, in Hugging Face's files and in GGUF: norms that do nothing, and one rate of decay."""
    if name.endswith(("dt_bias", "ssm_dt.bias")):
        return 0.0, 0.0
    if name.endswith(("A_log", "ssm_a")):
        return 0.0, -1.0
    if "norm" in name:
        return (0.0 if hybrid and "linear_attn" not in name else 1.0), 1.0
    return None


def to_bf16(values: np.ndarray) -> np.ndarray:
    """The upper halves of f32 values, rounded to nearest, ties to even."""
    bits = values.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


def from_bf16(halves: np.ndarray) -> np.ndarray:
    """f32 values of bf16 ones."""
    return (halves.astype(np.uint32) << 16).view(np.float32)


def write_safetensors(path: Path, shape: dict, seed: int) -> None:
    """Random weights; vectors are constants.  Tensor by tensor, so that memory holds one only."""
    header, start = {"__metadata__": {"format": "pt"}}, 0
    for name, _, size in tensors(shape):
        end = start + 2 * int(np.prod(size))
        header[name] = {"dtype": "BF16", "shape": list(size), "data_offsets": [start, end]}
        start = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    random = np.random.default_rng(seed)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name, _, size in tensors(shape):
            fixed = constant(name, "full_attention_interval" in shape)
            if fixed:
                values = np.full(size, fixed[0], np.float32)
            else:
                values = random.standard_normal(size, np.float32) * np.float32(DEVIATION)
            file.write(to_bf16(values).tobytes())


def byte_alphabet() -> list[str]:
    """The character that stands for each byte in a byte-level tokenizer (GPT-2's table)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    shifted = iter(range(0x100, 0x200))
    return [chr(byte) if byte in printable else chr(next(shifted)) for byte in range(256)]


def write_hugging_face(folder: Path, shape: dict, seed: int) -> None:
    """config.json, tokenizer and weights; the weights last, under another name until they are whole."""
    folder.mkdir(parents=True, exist_ok=True)
    hybrid = "full_attention_interval" in shape
    config = {
        "architectures": ["Qwen3_5ForCausalLM" if hybrid else "Qwen3ForCausalLM"],
        "model_type": "qwen3_5_text" if hybrid else "qwen3",
        **shape,
        "rope_theta": ROPE_THETA,
        **({"partial_rotary_factor": ROTATED} if hybrid else {}),
        "rms_norm_eps": EPSILON,
        "attention_bias": False,
        "attention_dropout": 0.0,
        "hidden_act": "silu",
        "initializer_range": DEVIATION,
        "tie_word_embeddings": True,
        "use_cache": True,
        "use_sliding_window": False,
        "sliding_window": None,
        "rope_scaling": None,
        "torch_dtype": "bfloat16",
        "bos_token_id": None,
        "eos_token_id": END_OF_TURN,
        "pad_token_id": END_OF_TEXT,
    }
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": 256 + index,
                "content": content,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for index, content in enumerate(SPECIAL)
        ],
        "normalizer": None,
        "pre_tokenizer": byte_level,
        "post_processor": None,
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "vocab": {character: byte for byte, character in enumerate(byte_alphabet())},
            "merges": [],
        },
    }
    tokenizer_config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": None,
        "eos_token": "<|im_end|>",
        "pad_token": "<|endoftext|>",
        "unk_token": None,
        "add_prefix_space": False,
        "clean_up_tokenization_spaces": False,
        "model_max_length": shape["max_position_embeddings"],
        "chat_template": CHAT_TEMPLATE,
    }
    for name, content in [
        ("config.json", config),
        ("tokenizer.json", tokenizer),
        ("tokenizer_config.json", tokenizer_config),
    ]:
        (folder / name).write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    unfinished = folder / "model.safetensors.part"
    write_safetensors(unfinished, shape, seed)
    unfinished.rename(folder / "model.safetensors")


def write_gguf(path: Path, folder: Path, shape: dict, kind: str) -> None:
    """The weights of the Hugging Face folder, matrices as `kind` (f16, bf16 or f32), norms in f32."""
    import gguf

    unfinished = path.with_suffix(".part")
    hybrid = "full_attention_interval" in shape
    family = "qwen35" if hybrid else "qwen3"
    writer = gguf.GGUFWriter(unfinished, family)
    writer.add_name(f"random weights, {shape['num_hidden_layers']} layers")
    file_types = {"f16": gguf.LlamaFileType.MOSTLY_F16, "bf16": gguf.LlamaFileType.MOSTLY_BF16, "f32": gguf.LlamaFileType.ALL_F32}
    writer.add_file_type(file_types[kind])
    writer.add_context_length(shape["max_position_embeddings"])
    writer.add_embedding_length(shape["hidden_size"])
    writer.add_block_count(shape["num_hidden_layers"])
    writer.add_feed_forward_length(shape["intermediate_size"])
    writer.add_head_count(shape["num_attention_heads"])
    writer.add_head_count_kv(shape["num_key_value_heads"])
    writer.add_key_length(shape["head_dim"])
    writer.add_value_length(shape["head_dim"])
    writer.add_rope_freq_base(ROPE_THETA)
    writer.add_layer_norm_rms_eps(EPSILON)
    writer.add_vocab_size(shape["vocab_size"])
    if hybrid:
        rotated = int(shape["head_dim"] * ROTATED)
        writer.add_rope_dimension_count(rotated)
        # Of images' positions; those of text are all equal.
        writer.add_rope_dimension_sections([rotated // 2, 0, 0, 0])
        writer.add_ssm_conv_kernel(shape["linear_conv_kernel_dim"])
        writer.add_ssm_state_size(shape["linear_key_head_dim"])
        writer.add_ssm_group_count(shape["linear_num_key_heads"])
        writer.add_ssm_time_step_rank(shape["linear_num_value_heads"])
        writer.add_ssm_inner_size(shape["linear_num_value_heads"] * shape["linear_value_head_dim"])
        writer.add_uint32(f"{family}.full_attention_interval", shape["full_attention_interval"])
    # Bytes, control tokens, and a name for every further id: prompts are given as ids, so no merge is needed, but
    # an empty list cannot be written.
    words = byte_alphabet() + SPECIAL
    words += [f"<{identity}>" for identity in range(len(words), shape["vocab_size"])]
    kinds = [gguf.TokenType.NORMAL] * len(words)
    for index in range(len(SPECIAL)):
        kinds[256 + index] = gguf.TokenType.CONTROL
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen35" if hybrid else "qwen2")
    writer.add_token_list(words)
    writer.add_token_types(kinds)
    writer.add_token_merges(["Ġ Ġ"])
    writer.add_eos_token_id(END_OF_TURN)
    writer.add_pad_token_id(END_OF_TEXT)
    writer.add_add_bos_token(False)
    writer.add_chat_template(CHAT_TEMPLATE)
    # numpy has no bf16: its bits are written as they are read.
    stored = {"f16": np.float16, "bf16": np.uint16, "f32": np.float32}[kind]
    types = [np.float32 if len(size) != 2 else stored for _, _, size in tensors(shape)]
    for (_, name, size), dtype in zip(tensors(shape), types):
        # The convolution has one channel each, which GGUF leaves out.
        size = tuple(one for one in size if one != 1)
        raw = gguf.GGMLQuantizationType.BF16 if dtype == np.uint16 else None
        writer.add_tensor_info(name, size, np.dtype(dtype), int(np.prod(size)) * np.dtype(dtype).itemsize, raw)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    with (folder / "model.safetensors").open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
    weights = np.memmap(folder / "model.safetensors", "<u2", mode="r", offset=8 + length)
    start = 0
    for (_, name, size), dtype in zip(tensors(shape), types):
        count = int(np.prod(size))
        fixed = constant(name, hybrid)
        bits = weights[start : start + count]
        values = np.full(count, fixed[1]) if fixed else bits if dtype == np.uint16 else from_bf16(bits)
        size = tuple(one for one in size if one != 1)
        writer.write_tensor_data(values.astype(dtype).reshape(size))
        start += count
    writer.close()
    unfinished.rename(path)


def make(folder: Path, shape_name: str, kinds: list[str], seed: int = 0) -> None:
    """Write what is missing in `folder`.  A folder holds one shape and one seed."""
    shape = SHAPES[shape_name]
    hugging_face, note = folder / "hf", folder / "made_from.json"
    origin = {"shape": shape_name, "seed": seed}
    if note.exists() and json.loads(note.read_text()) != origin:
        sys.exit(f"{folder} holds {note.read_text().strip()}, not {origin}: name another folder or remove this one")
    folder.mkdir(parents=True, exist_ok=True)
    note.write_text(json.dumps(origin) + "\n")
    if not (hugging_face / "model.safetensors").exists():
        print(f"writing {hugging_face}", file=sys.stderr, flush=True)
        write_hugging_face(hugging_face, shape, seed)
    for kind in kinds:
        path = folder / f"{kind}.gguf"
        if not path.exists():
            print(f"writing {path}", file=sys.stderr, flush=True)
            write_gguf(path, hugging_face, shape, kind)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--shape", choices=SHAPES, default="qwen3-0.6b")
    parser.add_argument("--gguf", nargs="*", choices=["f16", "bf16", "f32"], default=["f16"])
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    make(arguments.folder, arguments.shape, arguments.gguf, arguments.seed)


if __name__ == "__main__":
    main()
