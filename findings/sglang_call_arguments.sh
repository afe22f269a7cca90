#!/usr/bin/env bash
# sglang 0.5.23: Llama 4's call weather(latitude=-33.87, longitude=151.21) is neither a call nor text: with a negative number there is nothing left.
# GLM-4.5's version="3.10" is 3.1, and "true" is "True", but not in a stream.
#
# The tool-call parsers "pythonic" and "glm45" turn what the model writes into calls with JSON arguments. One would expect a minus sign to be part of
# a number, and an argument that the tool declares as a text to be that text, the same in a stream. Seen: for Python -33.87 is a sign and a
# number, no literal, so the call is left out (also as an element of a list), and since it was found it is not in the text either; the parser
# "lfm2", for the same notation, reads it. A closing bracket in a text ends the list of calls in a stream, and it is text. For GLM-4.5 each text is
# first read as JSON, and if it is JSON, written again in Python's way: 1e5 is 100000.0, null is None, quotation marks are gone.
#
# Whom it hits: agents with coordinates, temperatures and differences, whose model seems to have answered nothing; versions, prices and identifiers
# with GLM; and evaluations of calls (as in Berkeley's leaderboard), which are wrong by the server, for some inputs. There is a line in the log.
#
# The parsers are loaded without the package's others, which need torch. Prints what the model writes and the calls, whole and in a stream. Exits
# with 1 if one of them is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q orjson==3.13.0 partial-json-parser==0.2.1.1.post7 pydantic==2.14.4
"$work/venv/bin/pip" install -q --no-deps sglang==0.5.23
cat >"$work/try.py" <<'PYTHON'
import importlib.util
import json
import logging
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest.mock import MagicMock

logging.disable()
package = Path(importlib.util.find_spec("sglang").submodule_search_locations[0])
for name in ("sglang", "sglang.srt", "sglang.srt.function_call"):
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__path__ = [str(package.joinpath(*name.split(".")[1:]))]
sys.modules["sglang.srt.entrypoints.openai.protocol"] = MagicMock()
unset = SimpleNamespace(get=lambda: False)
sys.modules["sglang.srt.environ"] = SimpleNamespace(envs=SimpleNamespace(SGLANG_FORWARD_UNKNOWN_TOOLS=unset))
from sglang.srt.function_call.glm4_moe_detector import Glm4MoeDetector
from sglang.srt.function_call.lfm2_detector import Lfm2Detector
from sglang.srt.function_call.pythonic_detector import PythonicDetector

TYPES = {"latitude": "number", "longitude": "number", "near": "array", "query": "string", "version": "string"}
properties = {name: {"type": kind} for name, kind in TYPES.items()}
parameters = {"type": "object", "properties": properties}
TOOLS = [SimpleNamespace(type="function", function=SimpleNamespace(name=name, parameters=parameters)) for name in ("weather", "search")]


def seen(parts, result_of):
    text, calls = "", {}
    for part in parts:
        result = result_of(part)
        text += result.normal_text or ""
        for call in result.calls:
            calls[call.tool_index] = calls.get(call.tool_index, "") + (call.parameters or "")
    return text, [json.loads(arguments) for arguments in calls.values()]


def glm(value):
    return f"<tool_call>search\n<arg_key>version</arg_key>\n<arg_value>{value}</arg_value>\n</tool_call>"


PARIS, SYDNEY = "weather(latitude=48.85, longitude=2.35)", "weather(latitude=-33.87, longitude=151.21)"
OF_PARIS, OF_SYDNEY = {"latitude": 48.85, "longitude": 2.35}, {"latitude": -33.87, "longitude": 151.21}
BRACKET = "[search(query='[1] or 2]')]"
# Parser, text of the model, (text, arguments) of the whole and of the stream.
CASES = [
    (PythonicDetector, f"[{PARIS}]", ("", [OF_PARIS]), ("", [OF_PARIS])),
    (PythonicDetector, f"[{SYDNEY}]", ("", []), ("", [])),
    (PythonicDetector, f"[{PARIS}, {SYDNEY}]", ("", [OF_PARIS]), ("", [OF_PARIS])),
    (PythonicDetector, "[search(near=[48.85, -2.35])]", ("", []), ("", [])),
    (PythonicDetector, BRACKET, ("", [{"query": "[1] or 2]"}]), (BRACKET, [])),
    (Lfm2Detector, f"<|tool_call_start|>[{SYDNEY}]<|tool_call_end|>", ("", [OF_SYDNEY]), ("", [OF_SYDNEY])),
    *[
        (Glm4MoeDetector, glm(value), ("", [{"version": whole}]), ("", [{"version": value}]))
        for value, whole in [
            ("3.11.0", "3.11.0"),
            ("3.10", "3.1"),
            ("1e5", "100000.0"),
            ("true", "True"),
            ("null", "None"),
            ('"3.11"', "3.11"),
        ]
    ],
]

changed = False
for parser, text, *expected in CASES:
    whole = seen([text], lambda part: parser().detect_and_parse(part, TOOLS))
    # Special tokens are one token each, so that a stream has them in one piece.
    stream = parser()
    parts = re.findall(r"</?\w+>|<\|\w+\|>|\w+|.", text, re.DOTALL)
    streamed = seen(parts, lambda part: stream.parse_streaming_increment(part, TOOLS))
    print(f"{parser.__name__}: {text!r}")
    for name, (content, calls) in (("whole", whole), ("stream", streamed)):
        print(f"    {name}: text {content!r}, calls {json.dumps(calls)}")
    changed |= [whole, streamed] != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
