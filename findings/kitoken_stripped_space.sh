#!/usr/bin/env bash
# kitoken 0.11.1 (beside it tokenizers 0.23.3): what a tokenizer.json says of the space around its added tokens is left out, so that each turn of a
# Phi-3 chat has another token than its model knows.
#
# An added token can take the space behind it (`rstrip`) or before it (`lstrip`), and can be a token as a whole word alone (`single_word`). kitoken
# loads tokenizer.json. One would expect the tokens that tokenizers makes of the same file, or an error for what is not supported. Seen: the three
# keys are read over. Phi-3's control tokens have `rstrip`: its chat template writes a line break behind <|user|> that is no token, and with
# kitoken is one, in front of each message. A word that is added as a token with `single_word` is one inside of other words too.
#
# Whom it hits: prompts for Phi-3, Phi-3.5 and others with such tokens, counts of tokens, and masks of tokens by position; also [MASK], which takes
# the space before it. Texts come back as they were, which is what one would test.
#
# Prints each text with the tokens of both. Exits with 1 if they are others.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q kitoken==0.11.1
"$work/venv/bin/pip" install -q --no-deps tokenizers==0.23.3
cat >"$work/try.py" <<'PYTHON'
import sys

from kitoken import Kitoken
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

letters = {letter: index for index, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
tokenizer = Tokenizer(models.BPE(vocab=letters, merges=[]))
tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
# As in Phi-3's file.
tokenizer.add_special_tokens([AddedToken(text, rstrip=True, normalized=False) for text in ("<|user|>", "<|end|>", "<|assistant|>")])
tokenizer.add_special_tokens([AddedToken("<|plain|>", normalized=False), AddedToken("[MASK]", lstrip=True, normalized=False)])
tokenizer.add_tokens([AddedToken("YES", single_word=True, normalized=False)])
tokenizer.save(sys.argv[1])
other = Kitoken.from_file(sys.argv[1])

# Text, tokens of tokenizers, tokens of kitoken.
LINE, SPACE = "\u010a", "\u0120"
CASES = [
    ("<|plain|>\nHi", ["<|plain|>", LINE, "H", "i"], None),
    (
        "<|user|>\nHi<|end|>\n<|assistant|>\n",
        ["<|user|>", "H", "i", "<|end|>", "<|assistant|>"],
        ["<|user|>", LINE, "H", "i", "<|end|>", LINE, "<|assistant|>", LINE],
    ),
    ("a [MASK] b", ["a", "[MASK]", SPACE, "b"], ["a", SPACE, "[MASK]", SPACE, "b"]),
    ("YES", ["YES"], None),
    ("EYES", ["E", "Y", "E", "S"], ["E", "YES"]),
]

changed = False
for text, expected, seen in CASES:
    ids = tokenizer.encode(text).ids, list(other.encode(text, True))
    theirs, own = ([tokenizer.id_to_token(number) for number in numbers] for numbers in ids)
    print(f"{text!r:42} tokenizers: {theirs}\n{'':45}kitoken: {own}")
    changed |= theirs != expected or own != (seen or expected)
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py" "$work/tokenizer.json"
