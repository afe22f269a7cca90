#!/usr/bin/env bash
# xgrammar 0.2.9 (torch 2.15.0): as a `pattern` of a JSON schema, `^[1-5](\.[0-9]+)?$` allows 57, and `^(yes|no)(, because .+)?$` "not sure".
#
# An optional group whose end is a repetition can be left out at its beginning alone: the repetition may go on without what stands before it,
# as if the expression were `[1-5](\.[0-9]+|[0-9]*)`. One would expect what the same expression allows when it is given as an expression
# (`compile_regex`, a server's `regex`), and what a validator of JSON Schema says; those two agree. Written as `{0,1}` or `(...|)` instead of
# `?`, it is right also in a schema. No error, no warning.
#
# Whom it hits: judges whose schema bounds a score or an answer by a pattern (pydantic's `Field(pattern=...)`) behind vLLM or SGLang, whose
# usual grammar engine this is. A bound on the number of digits is none: `^[0-9]{1,3}(\.[0-9]+)?$` allows any number of them.
#
# Prints each expression and text with what Python's `re` says, xgrammar with the expression, and xgrammar with the pattern. Exits with 1 if
# one of xgrammar's answers is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q xgrammar==0.2.9 torch==2.15.0
cat >"$work/try.py" <<'PYTHON'
import json
import re
import sys

import xgrammar

# Each byte is a token, so that nothing is refused by the vocabulary.
END = 256
info = xgrammar.TokenizerInfo([*(bytes([byte]) for byte in range(END)), b"<end>"], vocab_type=xgrammar.VocabType.RAW, stop_token_ids=[END])
compiler = xgrammar.GrammarCompiler(info)


def allows(grammar, text):
    matcher = xgrammar.GrammarMatcher(grammar)
    return all(matcher.accept_token(token) for token in [*text.encode(), END])


# Expression, text, whether the pattern allows it. The expression itself always agrees with Python.
CASES = [
    (r"[1-5](\.[0-9]+)?", "4", True),
    (r"[1-5](\.[0-9]+)?", "4.5", True),
    (r"[1-5](\.[0-9]+)?", "57", True),
    (r"[1-5](\.[0-9]+)?", "x", False),
    (r"[1-5](\.[0-9]+){0,1}", "57", False),
    (r"[1-5](\.[0-9]+|)", "57", False),
    (r"[0-9]{1,3}(\.[0-9]+)?", "9" * 30, True),
    (r"[0-9]{1,2}(/[0-9]{1,2})?", "123", True),
    (r"[0-9]{1,2}(/[0-9]{1,2}){0,1}", "123", False),
    (r"(yes|no)(, because .+)?", "no, because x<0", True),
    (r"(yes|no)(, because .+)?", "not sure", True),
    (r"(yes|no)(, because .+){0,1}", "not sure", False),
    (r"(not |[a-z]+)?correct", "incorrect", True),
    (r"[A-E](, [A-E])?", "AB", False),
]

changed = False
print(f"{'expression':34}{'text':32}{'re':8}{'expression':12}pattern")
for expression, text, expected in CASES:
    says = re.fullmatch(expression, text) is not None
    alone = allows(compiler.compile_regex(expression), text)
    schema = {"type": "string", "pattern": f"^({expression})$"}
    pattern = allows(compiler.compile_json_schema(json.dumps(schema)), json.dumps(text))
    print(f"{expression:34}{text:32}{says!s:8}{alone!s:12}{pattern}{'' if pattern == says else '   <'}")
    changed |= alone != says or pattern != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
