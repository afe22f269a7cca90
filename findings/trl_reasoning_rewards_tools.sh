#!/usr/bin/env bash
# trl 1.16.0 (transformers 5.24.0, torch 2.15.0, math-verify 0.9.0): with a tool, `think_format_reward` and `reasoning_accuracy_reward` give 0 to
# every well-formed completion, also where the tool is not called. Who forgets the opening tag and is right has 1.
#
# Both rewards look for the tags of thinking in a completion's content. One would expect the same rewards for the same completions, with tools
# or without. Seen: as soon as GRPOTrainer has tools it parses what the model writes, so that calls can be found, and the thinking goes from
# `content` to `reasoning_content`. The rewards read `content` alone: no tags, so the format is wrong; no end of thinking, so the reasoning was
# "incomplete" and the right answer gets 0 rather than None. Where the opening tag is missing, the parser leaves the text as it is, and the
# reward finds its closing tag. A tokenizer that comes with a response template has the same without tools.
#
# Whom it hits: training reasoning models with tools, the combination that both are made for (Qwen3, GLM). The group of a question has equal
# rewards and teaches nothing, until one sample breaks the format: that one has a positive advantage.
#
# Trains a random model on four given completions, with Qwen3's template, without and with a tool; prints both rewards. Exits with 1 if one of
# them is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q trl==1.16.0 transformers==5.24.0 torch==2.15.0 tokenizers==0.23.3 math-verify==0.9.0
cat >"$work/try.py" <<'PYTHON'
import sys
from pathlib import Path

import torch
import trl
from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, PrinterCallback
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import add_response_schema
from trl.rewards import reasoning_accuracy_reward, think_format_reward

# What the model writes; the rewards without tools, and with a tool that it does not call or a response template.
COMPLETIONS = [
    ("<think>\nTwo and two.\n</think>\n\nIt is \\boxed{4}.", (1.0, 1.0), (0.0, 0.0)),
    ("<think>\nTwo and three.\n</think>\n\nIt is \\boxed{5}.", (1.0, 0.0), (0.0, 0.0)),
    ("Two and two.\n</think>\n\nIt is \\boxed{4}.", (0.0, 1.0), (0.0, 1.0)),
    ("It is \\boxed{4}.", (0.0, 0.0), (0.0, 0.0)),
]


def calculate(expression: str) -> str:
    """
    Calculates.

    Args:
        expression: What to calculate.

    Returns:
        The result.
    """
    return "4"


def bytes_tokenizer():
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    words = Tokenizer(models.BPE(vocab={letter: number for number, letter in enumerate(sorted(alphabet))}, merges=[]))
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, eos_token="<|im_end|>", pad_token="<|endoftext|>", additional_special_tokens=["<|im_start|>"]
    )
    # Qwen3's, as TRL has it.
    tokenizer.chat_template = (Path(trl.__file__).parent / "chat_templates/qwen3.jinja").read_text()
    return tokenizer


def rollout(prompts, trainer):
    tokenizer = trainer.processing_class
    prompt_ids = [
        tokenizer.apply_chat_template(prompt, add_generation_prompt=True, tools=trainer.tools or None, return_dict=False)
        for prompt in prompts
    ]
    completion_ids = [tokenizer(text + "<|im_end|>")["input_ids"] for text, _, _ in COMPLETIONS]
    return {"prompt_ids": prompt_ids, "completion_ids": completion_ids, "logprobs": [[0.0] * len(ids) for ids in completion_ids]}


def rewards(tools, tokenizer):
    torch.manual_seed(0)
    size = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 2}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.eos_token_id, **size))
    settings = GRPOConfig(
        output_dir=sys.argv[1],
        num_generations=len(COMPLETIONS),
        per_device_train_batch_size=len(COMPLETIONS),
        max_completion_length=100,
        max_steps=1,
        report_to="none",
        use_cpu=True,
        bf16=False,
        disable_tqdm=True,
        save_strategy="no",
    )
    data = Dataset.from_list([{"prompt": [{"role": "user", "content": "What is 2 + 2?"}], "solution": r"$4$"}])
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=[think_format_reward, reasoning_accuracy_reward],
        args=settings,
        train_dataset=data,
        processing_class=tokenizer,
        tools=tools,
        rollout_func=rollout,
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    logged = trainer._logs["rewards"]
    return list(zip(logged["think_format_reward"], logged["reasoning_accuracy_reward"]))


changed = False
without, beside = rewards(None, bytes_tokenizer()), rewards([calculate], bytes_tokenizer())
parsed = rewards(None, add_response_schema(bytes_tokenizer()))
print("think_format_reward, reasoning_accuracy_reward")
for (text, expected, expected_beside), seen, seen_beside, seen_parsed in zip(COMPLETIONS, without, beside, parsed):
    print(f"  without tools {seen}, with a tool {seen_beside}, with a response template {seen_parsed}: {text!r}")
    changed |= (seen, seen_beside, seen_parsed) != (expected, expected_beside, expected_beside)
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py" "$work" 2>"$work/errors" || { status=$?; cat "$work/errors" >&2; exit "$status"; }
