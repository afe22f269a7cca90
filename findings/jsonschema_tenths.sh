#!/usr/bin/env bash
# jsonschema 4.26.0 (beside it pydantic 2.14.4 and llguidance 1.9.1): with `"multipleOf": 0.1` the scores 0.3, 0.6 and 0.7 are invalid. In hundredths it is
# one in ten.
#
# A score in tenths is `Field(multiple_of=0.1)` in pydantic, and in its schema `"multipleOf": 0.1`. One would expect a validator to find what pydantic
# finds, or what JSON says: the numbers in a schema and in a reply are decimal fractions, which is how llguidance counts, so that a model can write them.
# Seen: both are made binary fractions, divided, and the quotient has to be whole: 0.3 / 0.1 is 2.9999999999999996. There is no tolerance, which pydantic
# has. 0.1, 0.2, 0.4, 0.5, 0.8 and 0.9 are valid.
#
# Whom it hits: judges whose scores are bounded so, by an engine that holds to the schema and a harness that checks the reply against the same schema
# afterwards: three of ten scores are failures, or are asked for again until another one comes, and the distribution of the rest has holes at 0.3,
# 0.6 and 0.7.
#
# Prints for each step the scores up to 1 that pydantic, jsonschema and llguidance refuse. Exits with 1 if they are others.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q jsonschema==4.26.0 pydantic==2.14.4 llguidance==1.9.1
cat >"$work/try.py" <<'PYTHON'
import json
import sys
from decimal import Decimal

import jsonschema
from llguidance import LLMatcher, LLTokenizer
from pydantic import BaseModel, Field, ValidationError, create_model

tokenizer = LLTokenizer("byte")


def model_allows(model, text):
    try:
        model.model_validate_json(text)
        return True
    except ValidationError:
        return False


def can_write(schema, text):
    matcher = LLMatcher(tokenizer, LLMatcher.grammar_from_json_schema(schema))
    assert not matcher.get_error()
    tokens = tokenizer.tokenize_str(text)
    return matcher.validate_tokens(tokens) == len(tokens) and matcher.consume_tokens(tokens) and matcher.is_accepting()


# Step, and the scores that jsonschema refuses, or how many.
CASES = [
    ("0.5", []),
    ("0.25", []),
    ("0.2", ["0.6"]),
    ("0.1", ["0.3", "0.6", "0.7"]),
    ("0.05", ["0.15", "0.30", "0.35", "0.60", "0.70", "0.95"]),
    ("0.01", 10),
]

changed = False
for step, expected in CASES:
    model = create_model("Verdict", __base__=BaseModel, score=(float, Field(multiple_of=float(step))))
    schema = model.model_json_schema()
    scores = [str(Decimal(step) * number) for number in range(int(1 / Decimal(step)) + 1)]
    texts = [f'{{"score": {score}}}' for score in scores]
    refused = [[score for score, text in zip(scores, texts, strict=True) if not allowed(text)] for allowed in (
        lambda text: model_allows(model, text),
        lambda text: jsonschema.Draft202012Validator(schema).is_valid(json.loads(text)),
        lambda text: can_write(schema, text),
    )]
    print(f"multipleOf {step:4} of {len(scores):3} scores: pydantic refuses {refused[0]}, jsonschema {refused[1]}, llguidance {refused[2]}")
    changed |= bool(refused[0] or refused[2]) or (refused[1] if isinstance(expected, list) else len(refused[1])) != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
