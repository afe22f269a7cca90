#!/usr/bin/env bash
# ragas 0.4.3: `strictness=5` asks the judge once. There is no majority vote.
#
# Of `AspectCritic` the documentation says that strictness is "the number of times self consistency checks is made" and that the final judgement
# is a majority vote; an even number is even raised by one "to avoid tie". One would expect five verdicts and the one that most of them have.
# Seen: whatever the number, the judge is asked for one generation, and the vote is over that one. `SimpleCriteriaScore` is the same.
#
# Whom it hits: those who raise strictness because a small judge wavers, and who compare scores before and after: they pay for one call, report
# five, and the variance is that of a single verdict.
#
# A judge that would say no once and yes from then on: prints strictness, how often it was asked, and the score. Exits with 1 if it is asked
# more than once.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q ragas==0.4.3 langchain-community==0.4.1
cat >"$work/try.py" <<'PYTHON'
import asyncio
import json
import sys

from langchain_core.outputs import Generation, LLMResult
from ragas.dataset_schema import SingleTurnSample
from ragas.llms.base import BaseRagasLLM
from ragas.metrics import AspectCritic, SimpleCriteriaScore


class Judge(BaseRagasLLM):
    """Says `first`, then `others`; counts generations."""

    def __init__(self, key, first, others):
        super().__init__()
        self.key, self.first, self.others, self.generations = key, first, others, 0

    def generate_text(self, prompt, n=1, **settings):
        texts = []
        for _ in range(n):
            value = self.first if self.generations == 0 else self.others
            texts.append(Generation(text=json.dumps({"reason": "", self.key: value})))
            self.generations += 1
        return LLMResult(generations=[texts])

    async def agenerate_text(self, prompt, n=1, **settings):
        return self.generate_text(prompt, n)

    def is_finished(self, response):
        return True


async def main():
    changed = False
    for kind, key, others in ((AspectCritic, "verdict", 1), (SimpleCriteriaScore, "score", 5)):
        for strictness in (1, 4, 5, 9):
            judge = Judge(key, 0, others)
            metric = kind(name="right", definition="Is the answer right?", strictness=strictness, llm=judge)
            score = await metric.single_turn_ascore(SingleTurnSample(user_input="What is 2 + 2?", response="4"))
            print(f"{kind.__name__:20} strictness {strictness}, taken as {metric.strictness}: asked {judge.generations}, score {score}")
            changed |= judge.generations != 1 or score != 0
    return changed


sys.exit(asyncio.run(main()))
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
