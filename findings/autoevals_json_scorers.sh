#!/usr/bin/env bash
# autoevals 0.4.1: `ValidJSON(schema=schema)` does not look at its schema, and takes the expected output for one. `ExactMatch` finds
# {"a": 1, "b": 2} and {"b": 2, "a": 1} different.
#
# The schema is an argument of the class in the documentation's examples. One would expect that it is checked. Seen: the class keeps it, and checks
# against the second argument of the call, which is the expected output everywhere else, and which an evaluation with references gives to each
# scorer. So every object is valid whatever the schema says; with an expected object it is checked against that as if it were a schema, in which
# most keys mean nothing, "type" or "required" are errors, and an expected text is one too. `eval(output, schema=schema)` is an error. (Within an
# evaluation, `ValidJSON.partial(schema=schema)` works.) `ExactMatch` is documented to compare objects as such; it compares their JSON as text, in
# the order of the keys, and 1.0 with 1 as texts. `NumericDiff`, with which `JSONDiff` compares numbers, is documented to give 0.95 for 105 in place
# of 100: it gives 0.976, and for twice the right number 0.667.
#
# Whom it hits: evaluations of structured outputs and tool calls with Braintrust's scorers: outputs that break the schema have 1, right ones have
# 0 if the model writes its keys in another order.
#
# Prints each call with its score. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q autoevals==0.4.1
cat >"$work/try.py" <<'PYTHON'
import sys

from autoevals import ExactMatch, NumericDiff, ValidJSON

SCHEMA = {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}
# Call, its score or error.
CASES = [
    ("""ValidJSON(schema=SCHEMA).eval('{"b": 1}')""", 1),
    ("""ValidJSON(schema=SCHEMA).eval('{"a": "one"}')""", 1),
    ("""ValidJSON(schema=SCHEMA).eval('{"a": 1', expected={"a": 1})""", 0),
    ("""ValidJSON(schema=SCHEMA).eval('{"b": 1}', expected={"a": 1})""", 1),
    ("""ValidJSON(schema=SCHEMA).eval('{"a": 1}', expected={"type": "refund"})""", "SchemaError"),
    ("""ValidJSON(schema=SCHEMA).eval('{"a": 1}', expected='{"a": 1}')""", "SchemaError"),
    ("""ValidJSON().eval('{"b": 1}', schema=SCHEMA)""", "TypeError"),
    ("""ValidJSON.partial(schema=SCHEMA)().eval('{"b": 1}')""", 0),
    ("""ExactMatch().eval({"a": 1, "b": 2}, {"a": 1, "b": 2})""", 1),
    ("""ExactMatch().eval({"b": 2, "a": 1}, {"a": 1, "b": 2})""", 0),
    ("""ExactMatch().eval({"a": 1.0}, {"a": 1})""", 0),
    ("""NumericDiff().eval(105, 100)""", 0.976),
    ("""NumericDiff().eval(200, 100)""", 0.667),
]

changed = False
for call, expected in CASES:
    try:
        seen = round(eval(call).score, 3)
    except Exception as error:
        seen = type(error).__name__
    print(f"{call:72} {seen}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
