#!/usr/bin/env bash
# azure-ai-evaluation 1.18.10: an evaluator finds two of ten answers right and all of them polite, and its share of
# answers that pass is 1. With politeness named first it is 0.2. Where one of 250 answers fails, it is 1 too.
#
# `evaluate` takes evaluators that give scores and a verdict, pass or fail, for each of their criteria in a key that
# ends in `_result`. Over all rows it gives `binary_aggregate` for each evaluator, the share that pass. One would
# expect the rows that pass in all, or one share for each criterion. Seen: there is one name for the evaluator, each
# criterion overwrites the one before, and the last one in the order of the keys is left. A row to which an evaluator
# does not apply (`not_applicable`, as the packaged ones say it) is in the divisor, so that it counts as failed, while
# the mean of the scores leaves it out. The share is rounded to hundredths; the means are not.
#
# Whom it hits: gates in continuous integration and comparisons of versions that read this number: failures of all
# criteria but one are not in it, nor are rare ones, such as unsafe answers.
#
# Prints the metrics of a local evaluation without any model. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q azure-ai-evaluation==1.18.10
cat >"$work/try.py" <<'PYTHON'
import contextlib
import io
import json
import logging
import sys
from pathlib import Path

logging.disable()
from azure.ai.evaluation import evaluate

folder = Path(sys.argv[1])


def checks(*order):
    """An evaluator of two criteria that lists them in this order: two of ten answers are right, all are polite."""

    def both(*, n):
        scores = {"right": int(n >= 8), "polite": 1}
        result = {}
        for name in order:
            result |= {name: scores[name], f"{name}_result": "pass" if scores[name] else "fail"}
        return result

    return both


def every_second(*, n):
    """Applies to half of the answers, all of which pass."""
    return {"tool": 1 if n % 2 else None, "tool_result": "pass" if n % 2 else "not_applicable"}


def safe(*, n):
    return {"safe": int(n > 0), "safe_result": "pass" if n else "fail"}


# Answers, evaluators, and the metrics that are expected.
CASES = [
    (10, {"a": checks("right", "polite")}, {"a.right": 0.2, "a.polite": 1.0, "a.binary_aggregate": 1.0}),
    (10, {"b": checks("polite", "right")}, {"b.right": 0.2, "b.polite": 1.0, "b.binary_aggregate": 0.2}),
    (10, {"c": every_second}, {"c.tool": 1.0, "c.binary_aggregate": 0.5}),
    (100, {"d": safe}, {"d.safe": 0.99, "d.binary_aggregate": 0.99}),
    (250, {"d": safe}, {"d.safe": 0.996, "d.binary_aggregate": 1.0}),
]

changed = False
for count, evaluators, expected in CASES:
    path = folder / "answers.jsonl"
    path.write_text("".join(json.dumps({"n": n}) + "\n" for n in range(count)))
    with contextlib.redirect_stdout(io.StringIO()):
        seen = evaluate(data=str(path), evaluators=evaluators)["metrics"]
    print(f"{count:3} answers: {', '.join(f'{name} {value:g}' for name, value in seen.items())}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py" "$work"
