#!/usr/bin/env bash
# transformers 5.24.0: `add_bos_token` in tokenizer_config.json changes nothing where there is a tokenizer.json.
#
# Seen: for the tokenizer classes PreTrainedTokenizerFast, LlamaTokenizer and TokenizersBackend, `true` adds no token to a tokenizer.json
# without a post-processor, and `false` takes none away from one whose post-processor writes it: the post-processor alone decides. Without
# an error or a warning.
# Expected: that the key does what it says, or a word that it is left aside. Where the two files
# disagree, the same text gets other tokens after an upgrade, and an engine that reads the key (or a converter to GGUF that copies it into
# `tokenizer.ggml.add_bos_token`) tokenises otherwise than transformers and vLLM.
# Hits: whoever edits the key to turn the first token on or off, and who compares log-probabilities across engines.
# Exits with 1 if that has changed.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet transformers==5.24.0 tokenizers==0.23.3
cat >"$folder/see.py" <<'PYTHON'
import json
import logging
import os
import sys

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import AutoTokenizer

logging.disable(logging.WARNING)
folder = sys.argv[1]
letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
vocabulary = {text: at for at, text in enumerate(["<unk>", "<s>", "</s>", *letters, "\u2581"])}
changed = False
for kind in ("PreTrainedTokenizerFast", "LlamaTokenizer", "TokenizersBackend"):
    for writes in (False, True):
        tokenizer = Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>"))
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        tokenizer.decoder = decoders.Metaspace()
        tokenizer.add_special_tokens([AddedToken(text, special=True) for text in ("<unk>", "<s>", "</s>")])
        if writes:
            tokenizer.post_processor = processors.TemplateProcessing(
                single="<s> $A", pair="<s> $A $B", special_tokens=[("<s>", vocabulary["<s>"])]
            )
        for asked in (None, True, False):
            settings = {"tokenizer_class": kind, "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
            if asked is not None:
                settings["add_bos_token"] = asked
            os.makedirs(folder, exist_ok=True)
            tokenizer.save(f"{folder}/tokenizer.json")
            for name, content in (("tokenizer_config", settings), ("config", {"model_type": "llama"})):
                with open(f"{folder}/{name}.json", "w") as file:
                    json.dump(content, file)
            ids = AutoTokenizer.from_pretrained(folder)("ab").input_ids
            begins = ids[0] == vocabulary["<s>"]
            print(f"{kind:24} post-processor writes it: {writes!s:5} add_bos_token: {asked!s:5} -> begins with <s>: {begins}")
            changed |= begins != writes
sys.exit(int(changed))
PYTHON
"$folder/env/bin/python" "$folder/see.py" "$folder/model"
