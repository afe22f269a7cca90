#!/usr/bin/env bash
# google-adk 2.13.0: in `hallucinations_v1` a sentence that the judge finds contradicted is not counted if the sentence before it has no line
# "contradicting_excerpt". One of three sentences is supported, the score is 1, and the test passes.
#
# The judge is asked for a block of lines for each sentence: sentence, label, rationale, supporting_excerpt, contradicting_excerpt; the last two are
# "only required" for some labels, says the prompt, and its example writes null for them. One would expect a block without them to count by its label,
# or a reply that does not fit to be refused. Seen: a block is whatever reaches from a line "sentence:" to the next line "contradicting_excerpt:", so a
# block without that line takes in the blocks that follow it, up to the first that has one or to the end of the last that has. Their labels are part of
# an excerpt. The mean is over the blocks that are left, and the number of sentences, which is known, is not compared with theirs. No warning.
#
# Whom it hits: who tests agents for hallucinations with a judge that does what the prompt says: an excerpt is not required where a sentence
# is supported, so it is supported sentences that hide the ones behind them. Scores are too high as a rule.
#
# Prints for each form of the same verdicts the score, and whether the test passes. Exits with 1 if one of them is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q google-adk==2.13.0 google-genai==2.34.0 pydantic==2.14.4
cat >"$work/try.py" <<'PYTHON'
import asyncio
import inspect
import sys
from typing import ClassVar

from google.adk.evaluation.eval_case import Invocation
from google.adk.evaluation.eval_metrics import EvalMetric, HallucinationsCriterion, JudgeModelOptions
from google.adk.evaluation.hallucinations_v1 import HallucinationsV1Evaluator
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.models.registry import LLMRegistry
from google.genai import types

# Sentence, label, what supports it, what contradicts it.
VERDICTS = [
    ("Apples are red.", "supported", "Apples are red fruits.", None),
    ("Bananas are green.", "contradictory", None, "Bananas are yellow fruits."),
    ("Pears are cheap.", "unsupported", None, None),
]
SENTENCES = [sentence for sentence, *_ in VERDICTS]


def content(role, text):
    return types.Content(role=role, parts=[types.Part(text=text)])


class Judge(BaseLlm):
    """Splits the response into its sentences, then gives the reply that is set."""

    reply: ClassVar[str] = ""

    @classmethod
    def supported_models(cls):
        return ["judge"]

    async def generate_content_async(self, llm_request, stream=False):
        prompt = llm_request.contents[0].parts[0].text
        marked = "\n".join(f"<sentence>{sentence}</sentence>" for sentence in SENTENCES)
        yield LlmResponse(content=content("model", Judge.reply if "supporting_excerpt" in prompt else marked))


def reply(verdicts, absent):
    blocks = []
    for sentence, label, supports, contradicts in verdicts:
        lines = [f"sentence: {sentence}", f"label: {label}", "rationale: By the context."]
        for name, excerpt in (("supporting_excerpt", supports), ("contradicting_excerpt", contradicts)):
            if excerpt or absent is not None:
                lines.append(f"{name}: {excerpt or absent}")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def evaluate(text):
    Judge.reply = text
    criterion = HallucinationsCriterion(threshold=0.8, judge_model_options=JudgeModelOptions(judge_model="judge"))
    evaluator = HallucinationsV1Evaluator(EvalMetric(metric_name="hallucinations_v1", threshold=0.8, criterion=criterion))
    turn = Invocation(user_content=content("user", "What of fruit?"), final_response=content("model", " ".join(SENTENCES)))
    result = evaluator.evaluate_invocations([turn], [turn])
    result = asyncio.run(result) if inspect.iscoroutine(result) else result
    return result.overall_score, result.overall_eval_status.name


LLMRegistry.register(Judge)
# Form of the reply, the verdicts in their order, what stands for an excerpt that is not required, the score, passed or failed.
CASES = [
    ("null, as in the example", VERDICTS, "null", 1 / 3, "FAILED"),
    ("left empty", VERDICTS, "", 1 / 3, "FAILED"),
    ("not written", VERDICTS, None, 1.0, "PASSED"),
    ("not written, other order", VERDICTS[:1] + VERDICTS[2:] + VERDICTS[1:2], None, 1.0, "PASSED"),
    ("the end is cut off", VERDICTS, "null", 0.5, "FAILED"),
]

changed = False
for form, verdicts, absent, *expected in CASES:
    text = reply(verdicts, absent)
    if "cut off" in form:
        text = text.rsplit("\n", 2)[0]
    score, status = evaluate(text)
    print(f"{form:26} score {score:.2f} {status}")
    changed |= abs(score - expected[0]) > 0.001 or status != expected[1]
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py" 2>"$work/errors" || { status=$?; cat "$work/errors" >&2; exit "$status"; }
