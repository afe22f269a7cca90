#!/usr/bin/env bash
# llguidance 1.9.1 (beside it jsonschema 4.26.0): a text held to `^[^"]+$`, no quotation marks, can have quotation marks. `^[^\\]+$`, no LaTeX, allows
# \frac.
#
# A `pattern` of a JSON schema is about the text, not about how JSON writes it; with `"` and `\` among what it allows, llguidance has that right
# (`^"$` is one quotation mark, `^.$` any one character). One would expect the same of what it forbids. Seen: in a class with `[^...]` these two
# characters count for nothing, alone or with others, also as \x22; each other character is excluded, line ends and control characters too.
# The same class without the `^`, `[ !#-~]`, is right. No error, no warning.
#
# Whom it hits: judges and agents behind vLLM, SGLang or llama.cpp with this engine whose reasons, names and quotations are to stay free of quotation
# marks, for a table or the next prompt, or of backslashes: that is the usual way to write it. The model is not held to it, and JSON is still JSON.
#
# Each byte is a token. Prints the patterns with the texts that they allow and that can be written. Exits with 1 if that is otherwise.
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
    tokens = tokenizer.tokenize_str(json.dumps(text))
    return matcher.validate_tokens(tokens) == len(tokens) and matcher.consume_tokens(tokens) and matcher.is_accepting()


# Pattern, texts, those that are not valid and can be written.
CASES = [
    ('^[^"]+$', ["It is 18.", 'It says "18".', "\\frac{1}{2}"], ['It says "18".']),
    (r'^[^\x22]+$', ["It is 18.", 'It says "18".'], ['It says "18".']),
    ('^[^0-9"]+$', ["It is.", "It is 18.", 'It is "it".'], ['It is "it".']),
    (r'^\[[^\]"]*\]$', ["[18]", '["18"]', "[1]8]"], ['["18"]']),
    (r"^[^\\]+$", ["It is 1/2.", "\\frac{1}{2}", 'It says "18".'], ["\\frac{1}{2}"]),
    (r'^[^\\"\n]+$', ["It is 1/2.", "\\frac{1}{2}", 'It says "18".', "It\nis"], ["\\frac{1}{2}", 'It says "18".']),
    ("^[^\n]+$", ["It is 18.", "It\nis"], []),
    ("^[^']+$", ["It is 18.", "It's 18."], []),
    ("^[ !#-~]+$", ["It is 18.", 'It says "18".'], []),
    ('^"$', ['"', "x"], []),
    ("^.$", ['"', "\\", "xx"], []),
]

changed = False
for pattern, texts, expected in CASES:
    schema = {"type": "string", "pattern": pattern}
    valid = [text for text in texts if jsonschema.Draft202012Validator(schema).is_valid(text)]
    seen = [text for text in texts if allows(schema, text)]
    print(f"{json.dumps(pattern):20} valid: {', '.join(map(repr, valid)):28} can be written: {', '.join(map(repr, seen))}")
    changed |= seen != [text for text in texts if text in valid or text in expected]
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
