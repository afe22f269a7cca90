#!/usr/bin/env bash
# llguidance 1.9.1 (beside it jsonschema 4.26.0): with `"maximum": 9.99` a model cannot write 9.9, and with 0.95 not 0.9. It can write 9.90.
#
# A schema's bounds of a number become an expression of the texts that are allowed. One would expect every number in the range, as a validator of
# JSON Schema has it. Seen: where the number so far is the beginning of a bound that has more decimals (9.9 of 9.99; below zero 0.1 of 0.125), it
# cannot end there, only go on: a digit or more has to follow. The bound itself is allowed, but with no zero behind it (1.50 for 1.5). Bounds
# without decimals are right, and so is xgrammar with all of these.
#
# Whom it hits: scores, probabilities and confidences with pydantic's `Field(le=0.99)` or `Field(lt=0.95)` behind vLLM, SGLang or llama.cpp with this
# engine: a judge whose token for "0.9" is likeliest is held to 0.8 or to another digit, with no error. The largest scores are the ones affected.
#
# Each byte is a token. Prints the schemas with the numbers that they allow and that can be written. Exits with 1 if that is otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q llguidance==1.9.1 jsonschema==4.26.0
cat >"$work/try.py" <<'PYTHON'
import json
import sys

import jsonschema
from llguidance import LLMatcher, LLTokenizer

tokenizer = LLTokenizer("byte")


def allows(schema, text):
    matcher = LLMatcher(tokenizer, LLMatcher.grammar_from_json_schema(schema))
    assert not matcher.get_error()
    tokens = tokenizer.tokenize_str(text)
    return matcher.validate_tokens(tokens) == len(tokens) and matcher.consume_tokens(tokens) and matcher.is_accepting()


# Bounds, numbers, those that a validator allows and that cannot be written.
CASES = [
    ({"maximum": 9.99}, ["9", "9.8", "9.9", "9.90", "9.99", "9.995"], ["9.9"]),
    ({"minimum": 0, "maximum": 0.95}, ["0", "0.8", "0.9", "0.90", "0.95", "0.96"], ["0.9"]),
    ({"exclusiveMaximum": 0.05}, ["0", "0.0", "0.00", "0.04", "0.05"], ["0.0"]),
    ({"minimum": -0.125}, ["-0.2", "-0.1", "-0.12", "-0.120", "-0.125", "0"], ["-0.1", "-0.12"]),
    ({"maximum": 1.5}, ["1", "1.4", "1.5", "1.50", "1.6"], ["1.50"]),
    ({"minimum": 0, "maximum": 10}, ["0", "9.9", "10", "10.0", "10.5"], []),
    ({"minimum": 0.25}, ["0.2", "0.25", "0.250", "0.3"], []),
]

changed = False
for bounds, texts, expected in CASES:
    schema = {"type": "number", **bounds}
    valid = [text for text in texts if jsonschema.Draft202012Validator(schema).is_valid(json.loads(text))]
    seen = [text for text in texts if allows(schema, text)]
    print(f"{json.dumps(bounds):32} valid: {', '.join(valid):36} can be written: {', '.join(seen)}")
    changed |= seen != [text for text in valid if text not in expected]
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
