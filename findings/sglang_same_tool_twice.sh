#!/usr/bin/env bash
# sglang 0.5.23: in a stream of Gemma 4 two calls of the tool "weather" are one call of "weatherweather", with the arguments
# {"city": "Paris"}{"city": "Rome"}.
#
# Each piece of a call in a stream has an index, by which a client puts the pieces together: those of the first call have 0, of the second 1. One
# would expect the calls that the same text has as a whole. Seen: the parser "gemma4" counts tools, not calls: the index is the place of the tool
# in the request. So a call of the second tool alone has the index 1, two calls in the other order change places, and two of the same tool are
# strung together, name and arguments. The parsers of other families (here Hermes, for Qwen) count calls.
#
# Whom it hits: agents that stream and ask for two things at once, as models do where calls are parallel. The same request without a stream is right,
# and so is one call of the first tool, which is what tests have.
#
# The parsers are loaded without the package's others, which need torch. Prints the calls of the whole text, and the stream's by their index. Exits
# with 1 if one of them is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q orjson==3.13.0 partial-json-parser==0.2.1.1.post7 pydantic==2.14.4
"$work/venv/bin/pip" install -q --no-deps sglang==0.5.23
cat >"$work/try.py" <<'PYTHON'
import importlib.util
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
from sglang.srt.function_call.gemma4_detector import Gemma4Detector
from sglang.srt.function_call.hermes_detector import HermesDetector

parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOLS = [SimpleNamespace(type="function", function=SimpleNamespace(name=name, parameters=parameters)) for name in ("weather", "time")]


def gemma(name, city):
    return f'<|tool_call>call:{name}{{city:<|"|>{city}<|"|>}}<tool_call|>'


def hermes(name, city):
    return f'<tool_call>\n{{"name": "{name}", "arguments": {{"city": "{city}"}}}}\n</tool_call>\n'


PARIS, ROME = '{"city": "Paris"}', '{"city": "Rome"}'
SAME, OTHER = [("weather", "Paris"), ("weather", "Rome")], [("time", "Paris"), ("weather", "Rome")]
RIGHT = {0: ("weather", PARIS), 1: ("weather", ROME)}, {0: ("time", PARIS), 1: ("weather", ROME)}
# Parser, how it writes a call, calls, {index: (tool, arguments)} of the stream.
CASES = [
    (HermesDetector, hermes, SAME, RIGHT[0]),
    (HermesDetector, hermes, OTHER, RIGHT[1]),
    (Gemma4Detector, gemma, SAME, {0: ("weatherweather", PARIS + ROME)}),
    (Gemma4Detector, gemma, OTHER, {1: ("time", PARIS), 0: ("weather", ROME)}),
]

changed = False
for parser, write, calls, expected in CASES:
    text = "".join(write(*call) for call in calls)
    whole = [(call.name, call.parameters) for call in parser().detect_and_parse(text, TOOLS).calls]
    stream, streamed = parser(), {}
    # Special tokens are one token each, so that a stream has them in one piece.
    for part in re.findall(r"</?\w+>|<\|?\w+\|?>|<\|\"\|>|\w+|.", text, re.DOTALL):
        for call in stream.parse_streaming_increment(part, TOOLS).calls:
            name, arguments = streamed.get(call.tool_index, ("", ""))
            streamed[call.tool_index] = (name + (call.name or ""), arguments + (call.parameters or ""))
    print(f"{parser.__name__}, whole: {whole}\n    stream: {streamed}")
    changed |= streamed != expected or whole != [(name, f'{{"city": "{city}"}}') for name, city in calls]
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
