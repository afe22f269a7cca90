#!/usr/bin/env bash
# transformers 5.24.0 (tokenizers 0.23.3): a tokenizer whose last call was with `truncation=True, max_length=512` is saved as one that always cuts texts
# to 512 tokens. One that has padded pads each text to that length.
#
# Arguments of a call are for that call: the next one without them is whole again, and so it is after `AutoTokenizer.from_pretrained`. One would expect
# `save_pretrained` to write the tokenizer as it was loaded. Seen: the settings of the last call stay in the tokenizer that the class has inside, and go
# into the file tokenizer.json as "truncation" and "padding". The class sets them anew in each call and so never shows it; whatever else reads the file,
# of which the library tokenizers is the first, does as it says. Of a chat it is the end that is cut.
#
# Whom it hits: judges and reward models that were trained or quantised by a script which tokenized examples with a limit, and then saved model
# and tokenizer, and are served by an engine in Rust, by JavaScript, or by anything on the library tokenizers: of a long prompt it sees the first
# 512 tokens, without the question and the turn of the assistant, and answers that. A padded short prompt ends in padding.
#
# A tokenizer of words. Prints how many tokens a text of 40 words and one of 2 have, by the library tokenizers and by transformers, for what was called
# before it was saved. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q transformers==5.24.0 tokenizers==0.23.3 jinja2==3.1.6
cat >"$work/try.py" <<'PYTHON'
import sys
import tempfile

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

LONG, SHORT = "is it right " * 13 + "?", "is it"
TEMPLATE = "{% for message in messages %}user {{ message.content }} {% endfor %}assistant"
MESSAGES = [{"role": "user", "content": LONG}]


def saved_after(call):
    vocabulary = {word: number for number, word in enumerate(["[UNK]", "[PAD]", "is", "it", "right", "?", "user", "assistant"])}
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="[UNK]", pad_token="[PAD]", chat_template=TEMPLATE)
    call(tokenizer)
    folder = tempfile.mkdtemp()
    tokenizer.save_pretrained(folder)
    return folder


# What is called before saving; tokens of the long and the short text by tokenizers, and by transformers.
CASES = [
    ("nothing", lambda tokenizer: None, (40, 2), (40, 2)),
    ("truncation to 16", lambda tokenizer: tokenizer(LONG, truncation=True, max_length=16), (16, 2), (40, 2)),
    ("padding to 16", lambda tokenizer: tokenizer(SHORT, padding="max_length", max_length=16), (40, 16), (40, 2)),
    (
        "chat template, truncation to 16",
        lambda tokenizer: tokenizer.apply_chat_template(MESSAGES, truncation=True, max_length=16),
        (16, 2),
        (40, 2),
    ),
    (
        "truncation to 16, then none",
        lambda tokenizer: (tokenizer(LONG, truncation=True, max_length=16), tokenizer(LONG)),
        (40, 2),
        (40, 2),
    ),
]

changed = False
for name, call, *expected in CASES:
    folder = saved_after(call)
    inner, outer = Tokenizer.from_file(f"{folder}/tokenizer.json"), AutoTokenizer.from_pretrained(folder)
    seen = [tuple(len(inner.encode(text).ids) for text in (LONG, SHORT)), tuple(len(outer(text).input_ids) for text in (LONG, SHORT))]
    print(f"{name:32} tokenizers {seen[0]}  transformers {seen[1]}")
    changed |= seen != expected
prompt = AutoTokenizer.from_pretrained(folder).apply_chat_template(MESSAGES, tokenize=False)
ends = [Tokenizer.from_file(f"{saved_after(call)}/tokenizer.json").encode(prompt).tokens[-1] for _, call, *_ in CASES[:2]]
print(f"the prompt ends with {ends[0]!r}; with truncation saved with {ends[1]!r}")
sys.exit(changed or ends != ["assistant", "right"])
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py" 2>"$work/errors" || { code=$?; cat "$work/errors"; exit $code; }
