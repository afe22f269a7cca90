#!/usr/bin/env bash
# transformers 5.24.0 (tokenizers 0.23.3): with the class LlamaTokenizer, "    return x" is encoded with one space too few, and decodes as
# "   return x".
#
# In the tokenizer.json of Llama 2, TinyLlama and their fine-tunes a normalizer puts a space before every text and turns spaces into "▁", as
# SentencePiece does. One would expect that file to be what is run, as `tokenizers` and engines that read it do, or at least a text that comes
# back as it was. Seen: where tokenizer_config.json names LlamaTokenizer or LlamaTokenizerFast, vocabulary and merges are taken from the file,
# and normalizer, pre-tokenizer and decoder are replaced by the class's own: it puts no space before a text that begins with one, and still
# strips one when it decodes. `legacy` and `add_prefix_space=True` do not change it. With PreTrainedTokenizerFast as the class, all is as in
# the file.
#
# Whom it hits: code and indented answers with models of this family; log-probabilities and prompts beside an engine that reads tokenizer.json,
# or SentencePiece; models trained with version 4, which get other tokens.
#
# Makes such a tokenizer.json and loads it under several classes. Prints the tokens and what they decode to. Exits with 1 if the spaces come
# back.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q transformers==5.24.0 tokenizers==0.23.3
cat >"$work/try.py" <<'PYTHON'
import json
import sys
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, trainers
from transformers import AutoTokenizer

folder = Path(sys.argv[1]) / "model"
folder.mkdir()
file = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
file.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
file.decoder = decoders.Sequence(
    [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
)
special = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
corpus = ["def add(x, y):", "    return x + y", "        return x", "It is right."] * 10
file.train_from_iterator(corpus, trainers.BpeTrainer(vocab_size=400, special_tokens=special, show_progress=False))
file.save(str(folder / "tokenizer.json"))
(folder / "config.json").write_text(json.dumps({"model_type": "llama"}))


def loaded(name, **keys):
    settings = {"tokenizer_class": name, "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", **keys}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return AutoTokenizer.from_pretrained(folder)


# Class, its keys, whether a text with spaces before it comes back.
CLASSES = [
    ("PreTrainedTokenizerFast", {}, True),
    ("LlamaTokenizer", {}, False),
    ("LlamaTokenizerFast", {}, False),
    ("LlamaTokenizer", {"legacy": True}, False),
    ("LlamaTokenizer", {"add_prefix_space": True}, False),
]
changed = False
for text in ("return x", "    return x"):
    encoding = file.encode(text, add_special_tokens=False)
    print(f"{text!r}\n  tokenizer.json: {encoding.tokens}, decoded {file.decode(encoding.ids)!r}")
    for name, keys, returns in CLASSES:
        tokenizer = loaded(name, **keys)
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        decoded = tokenizer.decode(ids)
        print(f"  {name} {keys or ''}: {tokenizer.convert_ids_to_tokens(ids)}, decoded {decoded!r}")
        changed |= (decoded == text) != (returns or not text.startswith(" "))
        changed |= (ids == encoding.ids) != (returns or not text.startswith(" "))
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py" "$work" 2>"$work/errors" || { status=$?; cat "$work/errors" >&2; exit "$status"; }
