#!/usr/bin/env bash
# llama-index-core 0.14.25: a judge that says "NO. Yesterday's figure is not in the context." passes the response, with score 1.
#
# `FaithfulnessEvaluator` and `RelevancyEvaluator` ask a judge for YES or NO. One would expect the word, at the beginning or on its own, or an
# error where there is neither. Seen: the response passes if the letters "yes" stand anywhere in the reply, in any case: in "yesterday", "eyes",
# "Bayesian", "Hayes", or in a sentence that says when the answer would be YES. Whatever has none of these is a NO: "Correct.", "Ja",
# "The response is supported by the context". Thinking in front of the verdict counts as well.
#
# Whom it hits: the two checks most used with LlamaIndex, and local judges, which explain their verdict although they are not asked to. Errors
# depend on the subject: texts about statistics, ophthalmology or the day before are faithful throughout. `raise_error=True` does not see them.
#
# A judge with given replies. Prints the reply with the verdicts of the two. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q llama-index-core==0.14.25
cat >"$work/try.py" <<'PYTHON'
import sys

from llama_index.core.evaluation import FaithfulnessEvaluator, RelevancyEvaluator
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata


class Judge(CustomLLM):
    reply: str

    @property
    def metadata(self):
        return LLMMetadata()

    def complete(self, prompt, formatted=False, **others):
        return CompletionResponse(text=self.reply)

    def stream_complete(self, prompt, formatted=False, **others):
        raise NotImplementedError


# Reply, whether both evaluators let the response pass.
CASES = [
    ("YES", True),
    ("NO", False),
    ("NO. The context does not give the figure.", False),
    ("NO. Yesterday's figure is not in the context.", True),
    ("No: the context speaks of the colour of the eyes, not of the hair.", True),
    ("NO. The context is about Bayesian statistics.", True),
    ("If the context named the year, it would be YES. It does not: NO", True),
    ("The response is supported by the context.", False),
]

changed = False
for reply, expected in CASES:
    results = [
        evaluator(llm=Judge(reply=reply), raise_error=expected).evaluate(query="Since when?", response="Since 1998.", contexts=["In 2001 ..."])
        for evaluator in (FaithfulnessEvaluator, RelevancyEvaluator)
    ]
    print(f"faithful {results[0].passing!s:6} relevant {results[1].passing!s:6} {reply}")
    changed |= [result.passing for result in results] != [expected] * 2
sys.exit(changed)
PYTHON
cd "$work"
"$work/venv/bin/python" -W ignore "$work/try.py"
