#!/usr/bin/env bash
# nemo-gym 0.7.0: of the options 1, 5, 10 and 50 the answer \boxed{25} is the option 5, and \boxed{10} is none: it has the reward 0 where 10 is right.
#
# The server `mcqa` reads a letter in a box, and with `grading_mode: lenient_boxed` "tries to match the option text (normalized,
# case/whitespace-insensitive)". One would expect that what is in the box must be an option. Seen: an option matches if it is a part of what is in the box,
# and it counts if no other one does. So an option that has another one in it can never be chosen by its text: 10, 2x, Semicircle beside Circle, "No increase"
# beside "Increase". A wrong number or a denial is the option that is a part of it: 25, 0.5 and -5 are 5, "not a circle" is Circle.
#
# Whom it hits: training on questions with numbers or formulas as options, in the mode that is to forgive: the reward depends on what the other options are.
#
# The server's `verify`, without its network, cluster and profiler. Prints the options, the answer, the right letter, the one that is read, and the reward.
# Exits with 1 if one is another.
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
from unittest.mock import MagicMock

for name in ("hydra", "pandas", "pandas.core", "pandas.core.groupby", "pandas.core.groupby.generic", "pydot", "ray", "scipy", "wandb", "wandb.util", "yappi"):
    sys.modules[name] = MagicMock(__version__="0")
importlib.metadata.version = lambda name, version=importlib.metadata.version: "0" if name == "ray" else version(name)

from resources_servers.mcqa.app import MCQAResourcesServer, MCQAResourcesServerConfig, MCQAVerifyRequest


def judged(options, right, answer):
    config = MCQAResourcesServerConfig(name="mcqa", host="", port=0, entrypoint="", domain="knowledge", grading_mode="lenient_boxed")
    content = [{"type": "output_text", "text": f"The answer is {answer}.", "annotations": []}]
    message = {"id": "1", "type": "message", "role": "assistant", "status": "completed", "content": content}
    response = {"id": "1", "created_at": 0, "model": "m", "object": "response", "output": [message]}
    request = MCQAVerifyRequest(
        responses_create_params={"input": [{"role": "user", "content": "Which?"}]},
        response=response | {"parallel_tool_calls": False, "tool_choice": "auto", "tools": []},
        options=[{letter: option} for letter, option in zip("ABCD", options)],
        expected_answer=right,
    )
    verdict = asyncio.run(MCQAResourcesServer.model_construct(config=config).verify(request))
    return verdict.extracted_answer, verdict.reward


NUMBERS, WORDS, FORMULAS = ["1", "5", "10", "50"], ["Circle", "Square", "Semicircle"], ["x", "2x", r"\frac{1}{2}"]
# Options, the right letter, the answer, the letter that is read.
CASES = [
    (NUMBERS, "C", r"\boxed{C}", "C"),
    (NUMBERS, "C", r"\boxed{\text{C}}", "C"),
    (NUMBERS, "B", r"\boxed{5}", "B"),
    (NUMBERS, "C", r"\boxed{10}", None),
    (NUMBERS, "D", r"\boxed{50}", None),
    (NUMBERS, "B", r"\boxed{25}", "B"),
    (NUMBERS, "B", r"\boxed{0.5}", "B"),
    (NUMBERS, "B", r"\boxed{-5}", "B"),
    (WORDS, "B", r"\boxed{Square}", "B"),
    (WORDS, "C", r"\boxed{Semicircle}", None),
    (WORDS, "A", r"\boxed{not a circle}", "A"),
    (FORMULAS, "B", r"\boxed{2x}", None),
    (FORMULAS, "C", r"\boxed{\frac{1}{2}}", "C"),
]

changed = False
for options, right, answer, expected in CASES:
    letter, reward = judged(options, right, answer)
    print(f"{', '.join(options):28} {answer:22} right {right}, read {letter!s:4} reward {reward}")
    changed |= letter != expected or reward != float(expected == right)
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
