#!/usr/bin/env bash
# verdict 0.2.7: a judge on the scale yes/no whose answer begins with "**No" is a yes. On the scale 1 to 5, "**4**" is the score 0, or 1.
#
# `.extract(ArgmaxScoreExtractor())` and `.extract(WeightedSummedScoreExtractor())` take the score from the log-probabilities of a judge's answer.
# One would expect the token that is a value of the scale to be looked for, or a failure where there is none. Seen: the alternatives of the first
# token alone are compared with the values, as texts. Where none is one of them (a space or a line break before the value, bold type, quotation,
# "Score: 4") each value has the probability 0, and that is taken for a distribution: the largest is the first in the list, which is the lowest
# score, but for yes and no it is yes; the weighted sum is 0, below the lowest score. A scale of decimals, such as 0.0 to 1.0 in tenths, has no
# value of one token, so its weighted sum is always 0. And such a scale can lack its end: (0.0, 0.6, 0.2) is 0.0, 0.2 and 0.4.
#
# Whom it hits: judges behind servers whose tokens carry the space (SentencePiece's), and those fond of bold type: failures of reading are verdicts,
# with no line in the log above "debug". It cannot be told from a lowest score, nor from a yes.
#
# A client with given answers stands in for a server, and empty modules for what asks one. Prints each answer with the two scores. Exits with 1 if
# one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q loguru==0.7.3 pydantic==2.14.4 rich==15.0.0 dill==0.4.1 numpy==2.4.1
"$work/venv/bin/pip" install -q --no-deps verdict==0.2.7
cat >"$work/try.py" <<'PYTHON'
import math
import sys
from contextlib import nullcontext
from types import SimpleNamespace
from unittest.mock import MagicMock

for name in ("litellm", "instructor", "datasets", "pandas", "networkx", "PIL", "graphviz", "sklearn", "sklearn.metrics", "scipy"):
    sys.modules[name] = MagicMock()
sys.modules["litellm"].get_llm_provider = lambda name: (name, "openai", None, None)

from pydantic import BaseModel
from verdict.common.judge import JudgeUnit
from verdict.extractor import ArgmaxScoreExtractor, WeightedSummedScoreExtractor
from verdict.scale import BooleanScale, DiscreteScale


class LogProbabilities(BaseModel):
    content: list


class Client:
    """Answers with these tokens, the first of which has the probability 0.9."""

    def __init__(self, tokens):
        self.tokens = tokens

    def defaults(self, **others):
        return nullcontext()

    def __call__(self, **others):
        content = [{"token": token, "top_logprobs": [{"token": token, "logprob": math.log(0.9)}]} for token in self.tokens]
        choice = SimpleNamespace(message=SimpleNamespace(content="".join(self.tokens)), logprobs=LogProbabilities(content=content))
        return SimpleNamespace(choices=[choice], usage=SimpleNamespace(prompt_tokens=1, completion_tokens=1))


def score(extractor, scale, tokens):
    extractor = extractor()
    extractor.inject(JudgeUnit(scale=scale))
    client = SimpleNamespace(model=SimpleNamespace(use_nonce=False), raw_client=Client(tokens))
    prompt = SimpleNamespace(to_messages=lambda nonce: [{"role": "user", "content": "Grade this."}])
    return extractor.extract(client, prompt, MagicMock())[0].score


# Scale, the tokens of an answer, the likeliest value, the weighted sum.
CASES = [
    (BooleanScale(), ["Yes"], True, 1),
    (BooleanScale(), ["No"], False, 0),
    (BooleanScale(), [" No"], True, 0),
    (BooleanScale(), ["**", "No", "**"], True, 0),
    (DiscreteScale((1, 5)), ["4"], 4, 4),
    (DiscreteScale((1, 5)), [" 4"], 1, 0),
    (DiscreteScale((1, 5)), ["**", "4", "**"], 1, 0),
    (DiscreteScale((1, 5)), ["Score", ":", " ", "4"], 1, 0),
    (DiscreteScale((0.0, 1.0, 0.1)), ["0", ".", "9"], 0.0, 0),
]

changed = False
for scale, tokens, likeliest, weighted in CASES:
    seen = score(ArgmaxScoreExtractor, scale, tokens), score(WeightedSummedScoreExtractor, scale, tokens)
    print(f"{str(scale)[:36]:38}{''.join(tokens)!r:12} likeliest {seen[0]}, weighted {seen[1]}")
    changed |= seen != (likeliest, weighted)
ends = DiscreteScale((0.0, 0.6, 0.2)).values
print(f"values of the scale (0.0, 0.6, 0.2): {ends}")
sys.exit(changed or ends != [0.0, 0.2, 0.4])
PYTHON
"$work/venv/bin/python" "$work/try.py"
