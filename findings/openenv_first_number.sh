#!/usr/bin/env bash
# openenv-core 0.3.0: a judge that says "7/10", "-1" or ".2" has given the reward 1. One that repeats the prompt's "Score (0-1):" has given 0.
#
# `LLMJudge` asks a model for a score and reads its reply; the documentation's prompt ends in "Score (0-1):". One would expect the number at the reply's end,
# or behind "score", its sign and its fraction included, and that what is not between 0 and 1 is unreadable and has the default score. Seen: the first digits
# of the reply, with what follows them behind a point, are the score ("the first decimal number" says the documentation), and `normalize`, which is on, cuts
# it to 0 and 1. So the sign goes, ".2" is 2, and every number from 1 up that stands in front of the score, of a step or a count, is full marks. With a 0 in
# front, as in "0-1", it is no marks. The default is for replies without a digit.
#
# Whom it hits: training with such rubrics: a judge that explains itself, or keeps to another scale, pays everything, and nothing shows it, as 1 is a score
# like any other. A `score_pattern` of one's own is needed.
#
# The module is loaded without the package's client and server. Prints for each reply the score. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-deps openenv-core==0.3.0
cat >"$work/try.py" <<'PYTHON'
import asyncio
import sys
import sysconfig
from pathlib import Path
from types import ModuleType
from unittest.mock import AsyncMock, MagicMock

folder = Path(sysconfig.get_path("purelib"))
for name in ("openenv", "openenv.core", "openenv.core.rubrics"):
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__path__ = [str(folder.joinpath(*name.split(".")))]
sys.modules["openenv.core.llm_client"] = MagicMock()

from openenv.core.rubrics.llm_judge import LLMJudge

PROMPT = "Rate this code solution:\n{action}\n\nScore (0-1):"
# What the judge says, the score.
CASES = [
    ("0.7", 0.7),
    ("Score: 0.7", 0.7),
    (".2", 1.0),
    ("-1", 1.0),
    ("-0.5", 0.5),
    ("7/10", 1.0),
    ("3/4", 1.0),
    ("1e-3", 1.0),
    ("Of 2 tests none passes: 0.1", 1.0),
    ("1. It does not compile.\nScore: 0.0", 1.0),
    ("Score (0-1): 0.9", 0.0),
    ("It cannot be told.", 0.0),
]

changed = False
for reply, expected in CASES:
    judge = LLMJudge(PROMPT, MagicMock(complete=AsyncMock(return_value=reply)))
    score = asyncio.run(judge("print(1)", None))
    print(f"{reply!r:42} {score}")
    changed |= score != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
