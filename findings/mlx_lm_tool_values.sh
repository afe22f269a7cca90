#!/usr/bin/env bash
# mlx-lm 0.32.2: a tool that is called with the id 1234567890123456789 by Qwen3-Coder gets 1234567890123456768. GLM's calls lose the indentation at the
# beginning of a text, and a text "null" is no value.
#
# Qwen3-Coder, GLM and MiniMax write a call's arguments as text between tags, and the server makes values of them by the tool's schema. One would
# expect an integer to be that integer, and a parameter of type string to be the text. Seen: so that 140.0 is read as an integer too, Qwen3-Coder's go
# through a float, and those above 2^53 are rounded; likewise whole numbers of type "number", with MiniMax too. GLM's and
# MiniMax's texts are stripped on both sides, Qwen3-Coder's of one line break. And "null", in any case, is `None` with Qwen3-Coder and MiniMax, also
# for a parameter that can only be a string. The same argument comes through with one parser and not with another; there is no error.
#
# Whom it hits: agents whose tools take ids of 17 digits and more (posts, messages, orders): they read or change another one, or none. Tools that
# edit files by the text to be replaced: "    return x" is sought without its indentation. Rewards for tool calls, which compare arguments.
#
# The parsers are loaded without the package's others, which need a Mac or CUDA. Prints parser, parameter, what is written and what the tool
# gets. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q regex==2026.11.19
"$work/venv/bin/pip" install -q --no-deps mlx-lm==0.32.2
cat >"$work/try.py" <<'PYTHON'
import importlib.util
import sys
from pathlib import Path

package = Path(importlib.util.find_spec("mlx_lm").submodule_search_locations[0])


def load(name):
    spec = importlib.util.spec_from_file_location(name, package / "tool_parsers" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.parse_tool_call


# How each model's chat template writes a call of `use` with one argument.
FORMS = {
    "qwen3_coder": "<function=use>\n<parameter={name}>\n{text}\n</parameter>\n</function>",
    "glm47": "use<arg_key>{name}</arg_key><arg_value>{text}</arg_value>",
    "minimax_m2": '<invoke name="use">\n<parameter name="{name}">{text}</parameter>\n</invoke>',
}
# The parameter's type, what is written, what the tool gets of each parser.
CASES = [
    ("integer", "1234567890123456789", 1234567890123456768, 1234567890123456789, 1234567890123456789),
    ("integer", "9007199254740993", 9007199254740992, 9007199254740993, 9007199254740993),
    ("number", "9007199254740993", 9007199254740992, 9007199254740993, 9007199254740992),
    ("string", "1234567890123456789", *["1234567890123456789"] * 3),
    ("string", "    return x", "    return x", "return x", "return x"),
    ("string", "null", None, "null", None),
    ("string", "Null", None, "Null", None),
]

changed = False
for kind, text, *expected in CASES:
    tools = [{"type": "function", "function": {"name": "use", "parameters": {"type": "object", "properties": {"value": {"type": kind}}}}}]
    for (parser, form), value in zip(FORMS.items(), expected):
        seen = load(parser)(form.format(name="value", text=text), tools)["arguments"]["value"]
        print(f"{parser:11} {kind:7} {text!r:21} -> {seen!r}")
        changed |= seen != value or type(seen) is not type(value)
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
