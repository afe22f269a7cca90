#!/usr/bin/env bash
# lm-format-enforcer 0.11.3: a score of type integer from 1 to 5 can be 57, -3 or -0.5.
#
# `JsonSchemaParser` holds a model to a JSON schema; lengths, patterns, enumerations and the number of elements of a list are enforced. One
# would expect `minimum` and `maximum` (pydantic's `Field(ge=1, le=5)`) as well, or an error that they are not supported, as other engines
# give for what they leave out. Seen: both are dropped without a word, and so are the exclusive bounds, and the types of a tuple's elements
# (`prefixItems`). An integer may also have decimals as long as it begins with "-0", and a negative exponent. The list of known limitations
# has none of it.
#
# Whom it hits: judges whose score is bounded by the schema alone. A reply "8" on a scale of five, from a judge that is used to ten, is not made
# impossible but valid JSON; it fails at validation, or is averaged where nobody validates because the form was enforced.
#
# Prints for each schema and text whether it is valid and whether it is allowed. Exits with 1 if another text is allowed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q lm-format-enforcer==0.11.3 jsonschema==4.26.0
cat >"$work/try.py" <<'PYTHON'
import json
import sys

import jsonschema
from lmformatenforcer import JsonSchemaParser


def is_allowed(schema, text):
    parser = JsonSchemaParser(schema)
    for character in text:
        if character not in parser.get_allowed_characters():
            return False
        parser = parser.add_character(character)
    return parser.can_end()


def judgment(**score):
    return {"type": "object", "properties": {"score": score}, "required": ["score"]}


# Schema, text, whether it is allowed.
CASES = [
    (judgment(type="integer", minimum=1, maximum=5), '{"score": 4}', True),
    (judgment(type="integer", minimum=1, maximum=5), '{"score": 57}', True),
    (judgment(type="integer", minimum=1, maximum=5), '{"score": -3}', True),
    (judgment(type="integer", minimum=1, maximum=5), '{"score": -0.5}', True),
    (judgment(type="integer", minimum=1, maximum=5), '{"score": 1e-3}', True),
    (judgment(type="integer", minimum=1, maximum=5), '{"score": 4.5}', False),
    (judgment(type="number", exclusiveMinimum=0, exclusiveMaximum=1), '{"score": 8.5}', True),
    (judgment(enum=[1, 2, 3, 4, 5]), '{"score": 8}', False),
    (judgment(type="string", pattern="^[1-5]$"), '{"score": "8"}', False),
    (judgment(type="array", items={"type": "integer"}, minItems=2, maxItems=2), '{"score": [1]}', False),
    (judgment(type="array", prefixItems=[{"type": "string"}, {"type": "integer"}]), '{"score": ["A", "B"]}', True),
]

changed = False
for schema, text, expected in CASES:
    seen = is_allowed(schema, text)
    valid = jsonschema.Draft202012Validator(schema).is_valid(json.loads(text))
    print(f"valid {valid!s:5} allowed {seen!s:5} {text:22} {json.dumps(schema['properties']['score'])}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
