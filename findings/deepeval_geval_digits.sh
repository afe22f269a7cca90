#!/usr/bin/env bash
# deepeval 4.3.1: G-Eval's weighted score counts a 10 as a 1 if the judge's tokenizer writes numbers digit by digit. A judge that wavers
# between 9 and 10 scores 0.58.
#
# `GEval` asks for a score from 0 to 10 and, where log-probabilities are to be had, weighs the scores by the probability of their tokens. One
# would expect the mean of what the judge holds likely, whatever its tokenizer, or no weights. Seen: the alternatives are taken from the one
# token that is the score. Where 10 is a token that is right. Where it is `1` and `0`, as with Qwen and Gemma, the `1` among the alternatives
# of a 9 is the beginning of a 10 and is counted as the score 1: 0.6 x 9 + 0.4 x 1. If 10 is the likelier by a hair there is no token of that
# name, and the score is a full 1.0 without weights. Likewise if the token has the space before it. No warning in any case.
#
# Whom it hits: local judges behind LiteLLM or a model class of one's own. Answers between good and perfect score like bad ones, so that
# thresholds, and comparisons with a judge of another tokenizer, turn on the tokenizer.
#
# A judge with the same beliefs in three tokenisations: prints the metric's score and the mean of the beliefs. Exits with 1 if one of the
# scores is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q deepeval==4.3.1
cat >"$work/try.py" <<'PYTHON'
import math
import sys

from deepeval.metrics import GEval
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase, SingleTurnParams
from openai.types.chat import ChatCompletion


def token(text, likely=None):
    """A token, and what the model held likely in its place."""
    likely = likely or {text: 1.0}
    top = [{"token": other, "logprob": math.log(p), "bytes": None} for other, p in likely.items()]
    return {"token": text, "logprob": math.log(likely[text]), "bytes": None, "top_logprobs": top}


class Judge(DeepEvalBaseLLM):
    """A model with the interface of those that return log-probabilities. Its reply is given."""

    def __init__(self, tokens):
        self.tokens = tokens
        super().__init__("judge")

    def load_model(self, *args, **kwargs):
        return self

    def get_model_name(self):
        return "judge"

    def generate(self, *args, **kwargs):
        raise NotImplementedError

    a_generate = generate

    def generate_raw_response(self, prompt, top_logprobs=5, **kwargs):
        message = {"role": "assistant", "content": "".join(entry["token"] for entry in self.tokens)}
        choice = {"index": 0, "finish_reason": "stop", "message": message, "logprobs": {"content": self.tokens, "refusal": None}}
        return ChatCompletion.model_validate({"id": "1", "object": "chat.completion", "created": 0, "model": "judge", "choices": [choice]}), 0.0


def score(*number):
    reply = [token('{"reason": "fine", "score":'), *number, token("}")]
    asked = [SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT]
    metric = GEval(name="quality", evaluation_steps=["Judge it."], evaluation_params=asked, model=Judge(reply), async_mode=False)
    metric.measure(LLMTestCase(input="question", actual_output="answer"), _show_indicator=False)
    return metric.score


SPACE = token(" ")
# What the judge holds likely, how its tokenizer writes it, the score.
CASES = [
    ("9: 0.6, 10: 0.4", "10 is a token", 0.94, (SPACE, token("9", likely={"9": 0.6, "10": 0.4})), 0.94),
    ("9: 0.6, 10: 0.4", "digit by digit", 0.94, (SPACE, token("9", likely={"9": 0.6, "1": 0.4})), 0.58),
    ("9: 0.6, 10: 0.4", "space and number", 0.94, (token(" 9", likely={" 9": 0.6, " 10": 0.4}),), 0.9),
    ("9: 0.49, 10: 0.51", "10 is a token", 0.951, (SPACE, token("10", likely={"10": 0.51, "9": 0.49})), 0.951),
    ("9: 0.49, 10: 0.51", "digit by digit", 0.951, (SPACE, token("1", likely={"1": 0.51, "9": 0.49}), token("0")), 1.0),
    ("9: 0.51, 10: 0.49", "digit by digit", 0.949, (SPACE, token("9", likely={"9": 0.51, "1": 0.49})), 0.508),
]

changed = False
for beliefs, tokens, mean, number, expected in CASES:
    seen = score(*number)
    print(f"{beliefs:20}{tokens:18}score {seen:.3f}   mean of the beliefs {mean}")
    changed |= abs(seen - expected) > 1e-6
sys.exit(changed)
PYTHON
cd "$work"
DEEPEVAL_TELEMETRY_OPT_OUT=YES "$work/venv/bin/python" "$work/try.py"
