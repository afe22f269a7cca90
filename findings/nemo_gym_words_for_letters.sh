#!/usr/bin/env bash
# nemo-gym 0.7.0: a judge that says "NOT_ATTEMPTED" has said A, which is CORRECT, with the reward 1; so it has with "C: NOT_ATTEMPTED". "CORRECT" and
# "INCORRECT" are both C, not attempted.
#
# The servers `abstention`, `omniscience` and `simpleqa` ask a judge for "A: CORRECT, B: INCORRECT, C: NOT_ATTEMPTED" (omniscience also for PARTIAL_ANSWER),
# by letter. One would expect the words to be read too, or a reply with more than a letter to be taken by the letter at its beginning, or for unreadable.
# Seen: if the reply or its last line is not a letter alone, the first of A, B and C that is anywhere in it is the grade, in words as well: NOT_ATTEMPTED and
# PARTIAL_ANSWER have an A, CORRECT and INCORRECT a C. `simpleqa` first takes the letter that the reply begins with, in a word too: "After checking: B" is A,
# CORRECT is C. The grade for "when the output cannot be reliably parsed" is for replies without these capitals.
#
# Whom it hits: training and benchmarks that pay for saying "I don't know" less than for a right answer and more than for a wrong one, with judges that write
# the word beside the letter: not to answer pays in full, and a wrong answer half.
#
# The servers' own functions, without network, cluster and profiler. Prints for each reply the grade in each of them, and the verdict and reward of
# `abstention`. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-compile pydantic==2.14.4 orjson==3.13.0 fastapi==0.165.0 itsdangerous==2.2.0 omegaconf==2.3.1 rich==15.0.0 \
  openai==2.44.0 aiohttp==3.14.5 uvicorn==0.54.0 httptools==0.9.0 requests==2.34.2
# Says that it needs Python 3.13.14; these modules do not.
"$work/venv/bin/pip" install -q --no-compile --no-deps --ignore-requires-python nemo-gym==0.7.0
cat >"$work/try.py" <<'PYTHON'
import asyncio
import importlib.metadata
import sys
from unittest.mock import AsyncMock, MagicMock, patch

for name in ("hydra", "pandas", "pandas.core", "pandas.core.groupby", "pandas.core.groupby.generic", "pydot", "ray", "scipy", "wandb", "wandb.util", "yappi"):
    sys.modules[name] = MagicMock(__version__="0")
importlib.metadata.version = lambda name, version=importlib.metadata.version: "0" if name == "ray" else version(name)

from resources_servers.abstention.app import AbstentionConfig, AbstentionServer, AbstentionVerifyRequest
from resources_servers.abstention.app import parse_judge_grade as of_abstention
from resources_servers.omniscience.app import parse_judge_grade as of_omniscience
from resources_servers.simpleqa.app import parse_judge_grade as of_simpleqa


def response(text):
    content = [{"type": "output_text", "text": text, "annotations": []}]
    message = {"id": "1", "type": "message", "role": "assistant", "status": "completed", "content": content}
    settings = {"parallel_tool_calls": False, "tool_choice": "auto", "tools": []}
    return {"id": "1", "created_at": 0, "model": "m", "object": "response", "output": [message]} | settings


def judged(reply):
    asked = {"judge_model_server": {"type": "responses_api_models", "name": "judge"}, "judge_responses_create_params": {"input": []}}
    config = AbstentionConfig(name="", host="", port=0, entrypoint="", domain="knowledge", **asked)
    request = AbstentionVerifyRequest(
        responses_create_params={"input": [{"role": "user", "content": "Who?"}]}, response=response(r"\boxed{Ann}"), question="Who?", answer="Ben"
    )
    with patch.object(AbstentionServer, "_call_judge", AsyncMock(return_value=reply)):
        verdict = asyncio.run(AbstentionServer.model_construct(config=config).verify(request))
    return verdict.verdict, verdict.reward


# What the judge says, the grades of abstention, omniscience and simpleqa, the verdict and reward of abstention.
CASES = [
    ("A", "AAA", "correct", 1.0),
    ("B", "BBB", "incorrect", 0.0),
    ("C", "CCC", "abstain", 0.5),
    ("C: NOT_ATTEMPTED", "AAC", "correct", 1.0),
    ("NOT_ATTEMPTED", "AAA", "correct", 1.0),
    ("CORRECT", "CCC", "abstain", 0.5),
    ("INCORRECT", "CCC", "abstain", 0.5),
    ("**B**: not the same, says the Answer", "AAA", "correct", 1.0),
    ("After checking: B", "AAA", "correct", 1.0),
    ("C: PARTIAL_ANSWER", "AAC", "correct", 1.0),
    ("incorrect", "BBC", "incorrect", 0.0),
]

changed = False
for reply, expected, verdict, reward in CASES:
    grades = "".join(parse(reply) for parse in (of_abstention, of_omniscience, of_simpleqa))
    seen = judged(reply)
    print(f"{reply:36} abstention {grades[0]}, omniscience {grades[1]}, simpleqa {grades[2]}; {seen[0]}, reward {seen[1]}")
    changed |= grades != expected or seen != (verdict, reward)
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
