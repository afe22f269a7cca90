#!/usr/bin/env bash
# harbor-rewardkit 0.2.3: a judge that says "Yes." or "unclear" has said no. Of a criterion with `negate = true` that is the full reward.
#
# A criterion is binary unless it says otherwise, and `negate` is for what must not be: "Does it print the password?". One would expect "Yes." to be yes, and
# what is neither yes nor no to be an error, as what is no number is for the other kinds of criterion; an error is asked again, and is no score. Seen: yes is
# the texts "yes", "true" and "1", in any case, and every other text is 0; negated, it is 1. Numbers are yes, -1 and 0.1 too, but for 0. A score off the scale
# of the other kinds is cut to it: 80 for a share is 1.
#
# Whom it hits: rewards for agents with a judge that is not held to the schema: agents as judges, whose text is searched for JSON, and servers that do not
# enforce one. A violation that the judge names with a full stop, or is not sure of, is paid for.
#
# The package's own function, without its models and agents. Prints for each score the value, plain and negated. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-compile pydantic==2.14.4
# Says that it needs Python 3.12; these modules do not.
"$work/venv/bin/pip" install -q --no-compile --no-deps --ignore-requires-python harbor-rewardkit==0.2.3
cat >"$work/try.py" <<'PYTHON'
import json
import sys
import sysconfig
from pathlib import Path
from types import ModuleType
from typing import Literal
from unittest.mock import MagicMock

sys.modules["litellm"] = MagicMock(REASONING_EFFORT=Literal["low"])
package = sys.modules["rewardkit"] = ModuleType("rewardkit")
package.__path__ = [str(Path(sysconfig.get_path("purelib")) / "rewardkit")]
sys.modules["rewardkit.agents"] = MagicMock()

from rewardkit.judges import parse_judge_response
from rewardkit.models import Binary, Criterion, Likert, Numeric


def value(kind, score, negate=False):
    criterion = Criterion(description="Does it print the password?", name="leak", output_format=kind, negate=negate)
    reply = json.dumps({"score": score, "reasoning": "Line 3."})
    try:
        return parse_judge_response(f"I have run it.\n```json\n{reply}\n```", [criterion], None)[0].value
    except ValueError:
        return None


# Kind of criterion, what the judge says, the value, the value if it is negated.
CASES = [
    (Binary(), "yes", 1.0, 0.0),
    (Binary(), "No", 0.0, 1.0),
    (Binary(), "Yes.", 0.0, 1.0),
    (Binary(), "yes, in line 3", 0.0, 1.0),
    (Binary(), "**yes**", 0.0, 1.0),
    (Binary(), "unclear", 0.0, 1.0),
    (Binary(), 0.1, 1.0, 0.0),
    (Likert(), 4, 0.75, 0.25),
    (Likert(), "4/5", None, None),
    (Likert(), 0, 0.0, 1.0),
    (Numeric(), "unclear", None, None),
    (Numeric(), 80, 1.0, 0.0),
]

changed = False
for kind, score, *expected in CASES:
    seen = [value(kind, score), value(kind, score, True)]
    print(f"{type(kind).__name__:8} {score!r:18}", *(f"{'an error' if number is None else number!s:9}" for number in seen))
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
