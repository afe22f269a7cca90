#!/usr/bin/env bash
# atroposlib 0.4.0: a tool call with an apostrophe in an argument, {"query": "today's news"}, is an error. A call that the model only thinks of is the
# call.
#
# `parse_tool_call` reads what is between <tool_call> and </tool_call> as JSON, and returns the tool, its arguments and whether there was an error. One
# would expect that correct JSON is read. Seen: every single quote is first turned into a double one, so that objects as Python prints them are read
# too. In correct JSON that is the end of the text that the apostrophe is in. And of several calls in a text the first counts, thinking included, also
# where it names a tool that does not exist.
#
# Whom it hits: environments of agents whose calls have English in them, code with single quotes or names (O'Brien): the policy is told that its
# call was wrong, and is taught to leave the apostrophe out. There is a line in the log that says that JSON was broken, which it was not.
#
# The module is loaded by itself. Prints what stands in the text and what is read. Exits with 1 if something else is.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-deps atroposlib==0.4.0
cat >"$work/try.py" <<'PYTHON'
import importlib.util
import json
import logging
import sys
from pathlib import Path

logging.disable(logging.CRITICAL)
package = Path(importlib.util.find_spec("atroposlib").submodule_search_locations[0])
spec = importlib.util.spec_from_file_location("tool_call_parser", package / "utils/tool_call_parser.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)

TOOLS = [{"type": "function", "function": {"name": "search"}}, {"type": "function", "function": {"name": "run"}}]


def call(name, **arguments):
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


# A text, the tool that is read.
CASES = [
    (call("search", query="news of today"), "search"),
    (call("search", query="today's news"), "-ERROR-"),
    (call("search", query="O'Brien"), "-ERROR-"),
    (call("run", code="print('hello')"), "-ERROR-"),
    (call("run", code='print("hello")'), "run"),
    ("<tool_call>{'name': 'search', 'arguments': {'query': 'news'}}</tool_call>", "search"),
    (f"<think>\nPerhaps {call('find', query='news')}, but there is no such tool.\n</think>\n{call('search', query='news')}", "-ERROR-"),
    (f"<think>\nPerhaps {call('run', code='1')}? No.\n</think>\n{call('search', query='news')}", "run"),
]

changed = False
for text, expected in CASES:
    tool, arguments, is_error = module.parse_tool_call(text, TOOLS)
    print(f"{tool:8} error {is_error!s:5} {arguments}   {text!r}")
    changed |= tool != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
