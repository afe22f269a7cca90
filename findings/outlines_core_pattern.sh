#!/usr/bin/env bash
# outlines-core 0.2.14: a `pattern` in a JSON schema is set between the quotation marks as it is, so that what is generated need not be JSON.
#
# `build_regex_from_schema` turns a schema into the regular expression that Outlines and servers with its back end hold a model to; that it is
# JSON is what one uses it for. Seen:
#  - `^True|False$` becomes `("True|False")`: either a quotation mark and True, or False and a quotation mark. A verdict that is JSON is
#    refused; each of those that are allowed is none.
#  - `.`, `\S` and negated classes take quotation marks and backslashes for themselves: `^.+$` allows `"a"b"`, `^[^x]+$` line ends as well.
#  - `^\\boxed\{\d+\}$` allows `"\boxed{5}"` only, which JSON reads as a backspace and "oxed{5}". One would expect that the pattern is grouped
#    and turned into one of JSON's own strings. There is neither an error nor a warning.
#
# Whom it hits: judges whose verdict or answer is a string with a pattern (pydantic's `Field(pattern=...)`) instead of an enumeration.
#
# Prints the expression and, for each text, whether it is valid and whether it is allowed. Exits with 1 if one is allowed that was not or
# refused that was allowed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q outlines-core==0.2.14 jsonschema==4.26.0
cat >"$work/try.py" <<'PYTHON'
import json
import sys

import jsonschema
from outlines_core import Guide, Index, Vocabulary
from outlines_core.json_schema import build_regex_from_schema

END = 0
BYTES = {bytes([byte]): [byte + 1] for byte in range(256)}


def allowed(expression, text):
    """Token by token, a byte each, as a server does it."""
    guide = Guide(Index(expression, Vocabulary(END, BYTES)))
    for byte in text.encode():
        if byte + 1 not in guide.get_tokens():
            return False
        guide.advance(byte + 1)
    return guide.is_finished()


def valid(schema, text):
    try:
        return jsonschema.Draft202012Validator(schema).is_valid(json.loads(text))
    except json.JSONDecodeError:
        return "no JSON"


# Pattern, then values as they are written with whether they are allowed.
PATTERNS = [
    (r"^(True|False)$", [('"True"', True), ('"False"', True)]),
    (r"^True|False$", [('"True"', False), ('"False"', False), ('"True', True), ('False"', True)]),
    (r"^.+$", [('"a b"', True), ('"a"b"', True), ('"a\\"', True)]),
    (r"^\S+$", [('"ab"', True), ('"a"b"', True), ('"a\\"', True)]),
    (r"^[^x]+$", [('"a b"', True), ('"a"b"', True), ('"a\nb"', True)]),
    (r"^\\boxed\{\d+\}$", [(json.dumps(r"\boxed{5}"), False), (r'"\boxed{5}"', True)]),
]

changed = False
for pattern, texts in PATTERNS:
    schema = {"type": "object", "properties": {"answer": {"type": "string", "pattern": pattern}}, "required": ["answer"]}
    expression = build_regex_from_schema(json.dumps(schema))
    print(f"{pattern}   becomes   {expression}")
    for value, expected in texts:
        text = f'{{"answer":{value}}}'
        seen = allowed(expression, text)
        print(f"  {text!r:30} valid {valid(schema, text)!s:8} allowed {seen}")
        changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
