#!/usr/bin/env bash
# transformers 5.24.0 (templates as trl 1.16.0 ships them): of a prefilled "Verdict: " the space is gone with the templates of Llama 3 and
# Gemma, not with those of Qwen.
#
# `apply_chat_template(..., continue_final_message=True)` is how a judge's answer is begun for it: its last message is left open, and the
# first token of the verdict comes next. One would expect the prompt to end with that message. Seen: templates that trim each message trim
# this one too, and what is returned ends where the trimmed text does, without a word. The next token is then " True" and no longer "True", so
# that the probabilities of "True" and "False" that are read there are those of rare tokens. A prefill of white space alone takes the line
# ends of the assistant's header with it. (And with Qwen3's template a prefilled `<think>` stands behind a closed, empty thought.)
#
# Whom it hits: judges by log-probability of a verdict's words, multiple choice by letter, comparisons of models with one prompt.
#
# Prints how each template's prompt ends. Exits with 1 if a template keeps what it lost, or loses what it kept.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q transformers==5.24.0 jinja2==3.1.6
"$work/venv/bin/pip" install -q --no-deps trl==1.16.0
cat >"$work/try.py" <<'PYTHON'
import importlib.metadata
import sys

from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

files = {file.name: file.locate() for file in importlib.metadata.files("trl") if "chat_templates" in str(file)}
words = Tokenizer(models.WordLevel({"<s>": 0}, unk_token="<s>"))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, bos_token="<s>", eos_token="<s>")

# Template, whether white space at the end of a prefill is lost.
TEMPLATES = {"llama3_1": True, "gemma": True, "gemma3": True, "qwen2_5": False, "qwen3": False, "phi3": False}

changed = False
for name, expected in TEMPLATES.items():
    template = files[f"{name}.jinja"].read_text()
    for prefill in ("Verdict:", "Verdict: ", "<think>\n"):
        messages = [{"role": "user", "content": "Is 2 a prime?"}, {"role": "assistant", "content": prefill}]
        prompt = tokenizer.apply_chat_template(messages, chat_template=template, tokenize=False, continue_final_message=True)
        lost = not prompt.endswith(prefill)
        print(f"{name:16} prefill {prefill!r:14} the prompt ends {prompt[-28:]!r:44} {'lost' if lost else 'kept'}")
        changed |= lost != (expected and prefill != prefill.rstrip())
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py" 2>/dev/null
