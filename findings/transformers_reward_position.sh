#!/usr/bin/env bash
# transformers 5.24.0 (torch 2.15.0): a reward model whose padding token is its end token is read one token early, also where nothing is
# padded.
#
# `...ForSequenceClassification` reads the score at the last token that is no padding. One would expect that the attention mask says which
# that is, as it does for everything else, and that for a single text without padding it is the last one. Seen: the mask is not looked at. It
# is the last token whose id is not `pad_token_id`. Where that id is the end token's, as it is set by habit for tokenizers without one, the
# end token of each text is taken for padding and the score is that of the token before it. And tokens that are masked but have another id
# (left by a collator that pads with 0, or cut off by the mask) are read as the end of the text.
#
# Whom it hits: reward models that are trained or evaluated here and served elsewhere: an engine that takes the last token reads a position
# whose score nobody trained, and the two disagree with no error; and those who set the padding token after training to make a batch.
#
# Prints the score at each position and the one that is returned, for Llama and Qwen3. Exits with 1 if it is read elsewhere.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q transformers==5.24.0 torch==2.15.0
cat >"$work/try.py" <<'PYTHON'
import sys

import torch
from transformers import LlamaConfig, LlamaForSequenceClassification, Qwen3Config, Qwen3ForSequenceClassification

END, OTHER = 2, 0
TEXT = [5, 6, 7, 8, END]
SIZE = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 8}


@torch.no_grad()
def read_at(model, tokens, mask):
    """The position whose score is the one that the model returns."""
    tokens, mask = torch.tensor([tokens]), torch.tensor([mask])
    scores = model.score(model.model(tokens, attention_mask=mask).last_hidden_state)[0, :, 0]
    returned = model(tokens, attention_mask=mask).logits[0, 0]
    (position,) = (scores == returned).nonzero().flatten().tolist()
    print(f"    tokens {tokens[0].tolist()} mask {mask[0].tolist()}: scores {[round(score, 3) for score in scores.tolist()]}")
    print(f"      returned {returned:.3f}, of position {position}; the last that is not masked is {mask[0].nonzero().max()}")
    return position


changed = False
for config, kind in ((LlamaConfig, LlamaForSequenceClassification), (Qwen3Config, Qwen3ForSequenceClassification)):
    torch.manual_seed(0)
    model = kind(config(vocab_size=50, num_labels=1, eos_token_id=END, pad_token_id=OTHER, **SIZE)).eval()
    for padding, name in ((OTHER, "a token of its own"), (END, "the end token")):
        # The weights stay: only what the configuration says of padding changes.
        model.config.pad_token_id = padding
        print(f"{kind.__name__}, padding is {name}")
        last = len(TEXT) - 1
        at = last if padding == OTHER else last - 1
        changed |= read_at(model, TEXT, [1] * 5) != at
        changed |= read_at(model, [*TEXT, padding, padding], [1] * 5 + [0] * 2) != at
    print("  and two tokens that are masked, of another id")
    changed |= read_at(model, [*TEXT, 9, 9], [1] * 5 + [0] * 2) != len(TEXT) + 1
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
