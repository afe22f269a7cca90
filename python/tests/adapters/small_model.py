"""A model of a few thousand random weights with a tokenizer of bytes, for trainers: nothing is downloaded."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from pathlib import Path
from typing import Any

TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def tokenizer() -> Any:
    """A tokenizer of bytes with ChatML."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    bytes_only = Tokenizer(models.BPE(vocab={byte: place for place, byte in enumerate(alphabet)}, merges=[]))
    bytes_only.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bytes_only.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=bytes_only,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=["<|im_start|>"],
        # Old trainers pass on whatever a tokenizer gives, and the model knows no types of tokens.
        model_input_names=["input_ids", "attention_mask"],
    )
    fast.chat_template = TEMPLATE
    return fast


def save(folder: Path) -> None:
    """Writes model and tokenizer as a checkpoint."""
    from transformers import Qwen3Config, Qwen3ForCausalLM

    tokens = tokenizer()
    config = Qwen3Config(
        vocab_size=len(tokens),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=16,
        max_position_embeddings=512,
        eos_token_id=tokens.eos_token_id,
        pad_token_id=tokens.pad_token_id,
        bos_token_id=None,
    )
    Qwen3ForCausalLM(config).save_pretrained(folder)
    tokens.save_pretrained(folder)
