#!/usr/bin/env bash
# transformers 5.24.0 (sentencepiece 0.2.3): an unknown character is the end token if a model's class is T5Tokenizer and its SentencePiece file
# has the default order of control tokens.
#
# SentencePiece's defaults are `<unk>` 0, `<s>` 1, `</s>` 2; T5's own file has padding, end and unknown as 0, 1 and 2. T5Tokenizer is used for
# other models with a Unigram file too. One would expect the unknown token to be the one that the file and `unk_token` name, and
# `unk_token_id` says that it is. Seen: the Unigram model is built with the unknown id 2, whatever the file says. An emoji, a rare ideograph or
# a letter of another alphabet becomes `</s>` in the middle of a prompt; `tokenize` shows the character, and the saved tokenizer.json has the
# wrong id for all that read it.
#
# Whom it hits: language models with such a file, and judges of texts in more than one language: whatever stands behind the character is
# behind an end token.
#
# Trains a small SentencePiece file with its defaults and loads it. Prints the ids of both. Exits with 1 if the unknown one is not the end token.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q transformers==5.24.0 tokenizers==0.23.3 sentencepiece==0.2.3 protobuf==7.36.2
cat >"$work/try.py" <<'PYTHON'
import json
import sys
from pathlib import Path

import sentencepiece
from transformers import AutoTokenizer

folder = Path(sys.argv[1]) / "model"
folder.mkdir()
(folder / "corpus.txt").write_text("It is right.\nThe answer is wrong, and this is why.\nIt is a sign error in the last step.\n" * 20)
sentencepiece.SentencePieceTrainer.train(
    input=str(folder / "corpus.txt"), model_prefix=str(folder / "spiece"), vocab_size=60, hard_vocab_limit=False, minloglevel=2
)
(folder / "config.json").write_text(json.dumps({"model_type": "gpt2"}))
names = {"tokenizer_class": "T5Tokenizer", "unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}
(folder / "tokenizer_config.json").write_text(json.dumps(names))

file = sentencepiece.SentencePieceProcessor(model_file=str(folder / "spiece.model"))
tokenizer = AutoTokenizer.from_pretrained(folder)
print(f"the file: unknown {file.unk_id()}, end {file.eos_id()}")
print(f"{type(tokenizer).__name__}: unknown {tokenizer.unk_token_id}, end {tokenizer.eos_token_id}")
changed = False
for text in ("It is right", "It is ✓ right", "It is 正 right"):
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    print(f"{text!r}\n  SentencePiece {file.encode(text)}\n  {type(tokenizer).__name__}   {ids}, decoded {tokenizer.decode(ids)!r}")
    changed |= (tokenizer.eos_token_id in ids) != (file.unk_id() in file.encode(text))
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py" "$work" 2>"$work/errors" || { status=$?; cat "$work/errors" >&2; exit "$status"; }
