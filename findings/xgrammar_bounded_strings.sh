#!/usr/bin/env bash
# xgrammar 0.2.9 (torch 2.15.0; beside it llguidance 1.9.1): a string with a length or a pattern has no escapes. In a `reason` of at most 400
# characters a judge can write no quotation mark, no new line and no LaTeX; a tab it can only write so that the JSON is broken.
#
# `"minLength": 1` (pydantic's `Field(min_length=1)`) and `"maxLength"` are what one adds so that a judge says something, and comes to an end.
# One would expect that they count characters and change nothing else, as in a validator of JSON Schema, and that what comes out
# is JSON. Seen: with either of them the backslash is no longer allowed inside of the string, so that the first `"` ends it and `\frac` cannot
# begin; without them, and with `"minLength": 0`, it is. Raw control characters other than line ends, which JSON forbids, are allowed.
# There is no error and no warning. llguidance counts `\n` or `\"` as one character, as the standard does. A pattern likewise is one of
# the JSON's text, not of the string that it stands for: `^\\boxed\{\d+\}$` allows only `"\boxed{5}"`, which is a backspace and "oxed{5}".
#
# Whom it hits: judges of mathematics and code behind vLLM and SGLang, whose usual grammar engine this is. The model is not told: it is made
# to go on without the backslash or to end in the middle of a sentence, and then gives its verdict.
#
# Prints for each schema and each text whether the schema allows it and whether the two engines do. Exits with 1 if xgrammar allows
# a text that it did not or refuses one that it allowed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q xgrammar==0.2.9 llguidance==1.9.1 torch==2.15.0 jsonschema==4.26.0
cat >"$work/try.py" <<'PYTHON'
import json
import sys

import jsonschema
import llguidance
import xgrammar

# Each byte is a token, so that no engine is refused anything by the vocabulary.
END = 256
BYTES = [bytes([byte]) for byte in range(END)]


class Vocabulary:
    tokens = [*BYTES, b"<end>"]
    eos_token_id = END
    bos_token_id = None
    special_token_ids = [END]

    def __call__(self, text):
        return list(text if isinstance(text, bytes) else text.encode())


tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Vocabulary()))
info = xgrammar.TokenizerInfo([*BYTES, b"<end>"], vocab_type=xgrammar.VocabType.RAW, stop_token_ids=[END])
compiler = xgrammar.GrammarCompiler(info)


def by_xgrammar(schema, text):
    matcher = xgrammar.GrammarMatcher(compiler.compile_json_schema(json.dumps(schema)))
    return all(matcher.accept_token(token) for token in [*text.encode(), END])


def by_llguidance(schema, text):
    matcher = llguidance.LLMatcher(tokenizer, llguidance.LLMatcher.grammar_from_json_schema(json.dumps(schema)))
    tokens = list(text.encode())
    return matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()


def by_standard(schema, text):
    try:
        return jsonschema.Draft202012Validator(schema).is_valid(json.loads(text))
    except json.JSONDecodeError:
        return "no JSON"


def judge(**bounds):
    properties = {"reason": {"type": "string", **bounds}, "ok": {"type": "boolean"}}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


TEXTS = {
    "plain": json.dumps({"reason": "Step 2 is wrong.", "ok": False}),
    "quotation": json.dumps({"reason": 'It says "x=2".', "ok": False}),
    "LaTeX": json.dumps({"reason": r"It is \frac{1}{2}.", "ok": False}),
    "two lines": json.dumps({"reason": "Step 1.\nStep 2.", "ok": False}),
    "tab": json.dumps({"reason": "a\tb", "ok": False}),
    "raw tab": '{"reason": "a\tb", "ok": false}',
    "boxed": json.dumps({"reason": r"\boxed{5}", "ok": False}),
    "raw boxed": r'{"reason": "\boxed{5}", "ok": false}',
}
# The raw `\boxed{5}` is JSON: "\b" is a backspace.
EVERYTHING = set(TEXTS) - {"raw tab"}
SCHEMAS = [
    ({}, EVERYTHING),
    ({"minLength": 0}, EVERYTHING),
    ({"minLength": 1}, {"plain", "raw tab"}),
    ({"maxLength": 400}, {"plain", "raw tab"}),
    ({"pattern": r"^\\boxed\{\d+\}$"}, {"raw boxed"}),
]

changed = False
for bounds, expected in SCHEMAS:
    print(f"reason: string {bounds or ''}")
    schema, allowed = judge(**bounds), set()
    for name, text in TEXTS.items():
        seen = by_xgrammar(schema, text)
        allowed |= {name} if seen else set()
        print(f"  {name:10} valid {by_standard(schema, text)!s:8} xgrammar {seen!s:6} llguidance {by_llguidance(schema, text)!s:6} {text!r}")
    changed |= allowed != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
