#!/usr/bin/env bash
# sglang 0.5.23: a judge that says "NO. The response ends within <think> and gives no answer." has said nothing: all of it is reasoning. In a stream
# " and gives no answer." is.
#
# With `--reasoning-parser` the server divides a reply into `reasoning_content` and `content`. The parsers of hybrid models (Qwen3, GLM-4.5 and later,
# Nemotron 3, Kimi K2) are for replies with and without thinking. One would expect a reply to be thinking if it begins with the tag, and the same
# division for the same reply, streamed or not. Seen: of a whole reply, the opening tag is looked for anywhere. Where it is only mentioned, all up
# to a closing tag is reasoning, also what stands before it, and without one there is no content. In a stream the text before it is content, the
# tag is lost and the rest is reasoning. And thinking that mentions <tool_call> ends there in a stream: the rest of the thinking, the closing
# tag and the verdict are content (Qwen3, GLM, Nemotron), while the whole reply is divided rightly.
#
# Whom it hits: judges of reasoning models' outputs and formats, which quote these tags, and are run without thinking: the verdict is lost, or is the
# half that was streamed; and graders of agents, whose thinking names the tag of tool calls, are read for a verdict in their thinking.
#
# The parser is loaded without the package's others, which need torch. Prints the reply, and reasoning and content of both. Exits with 1 if one is
# another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-deps sglang==0.5.23
cat >"$work/try.py" <<'PYTHON'
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

package = Path(importlib.util.find_spec("sglang").submodule_search_locations[0])
for name in ("sglang", "sglang.srt", "sglang.srt.parser", "sglang.srt.function_call"):
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__path__ = [str(package.joinpath(*name.split(".")[1:]))]
for name, parts in {
    "transformers": ["PreTrainedTokenizerBase"],
    "sglang.srt.entrypoints.openai.protocol": ["ChatCompletionRequest", "ResponsesRequest"],
    "sglang.srt.function_call.hunyuan_detector": ["resolve_hunyuan_tokens"],
    "sglang.srt.parser.beam": ["BeamReasoningDetector"],
    "sglang.srt.parser.response_template": ["ResponseTemplateReasoningDetector", "grammar_holds_calls"],
}.items():
    sys.modules[name] = ModuleType(name)
    for part in parts:
        setattr(sys.modules[name], part, type(part, (), {}))
from sglang.srt.parser.reasoning_parser import ReasoningParser

QUOTED = "NO. The response ends within <think> and gives no answer."
PAIR = "The response has <think> and </think>. YES"
CALL = "<think>Is a <tool_call> due? No.</think>YES"
# Parser, reply, (reasoning, content) of the whole reply and of the stream.
CASES = [
    ("qwen3", "<think>It is 18.</think>YES", ("It is 18.", "YES"), ("It is 18.", "YES")),
    ("qwen3", "<think>It is 18.</think>No <think> is left: YES", ("It is 18.", "No <think> is left: YES"), ("It is 18.", "No <think> is left: YES")),
    ("qwen3", "YES. It is 18.", ("", "YES. It is 18."), ("", "YES. It is 18.")),
    *[(name, QUOTED, (QUOTED, ""), (" and gives no answer.", "NO. The response ends within ")) for name in ("qwen3", "glm45", "nemotron_3", "kimi_k2")],
    ("qwen3", PAIR, ("The response has <think> and ", ". YES"), (" and ", "The response has . YES")),
    *[(name, CALL, ("Is a <tool_call> due? No.", "YES"), ("Is a ", "<tool_call> due? No.</think>YES")) for name in ("qwen3", "glm45", "nemotron_3")],
]

changed = False
for name, reply, *expected in CASES:
    stream = ReasoningParser(name)
    # In these tokenizers each tag is one token, so it comes whole.
    parts = [stream.parse_stream_chunk(token) for token in re.findall(r"</?\w+>|[^<\s]+|\s+", reply)] + [stream.parse_stream_end()]
    seen = [ReasoningParser(name).parse_non_stream(reply), tuple("".join(part or "" for part in half) for half in zip(*parts))]
    print(f"{name}: {reply!r}")
    for kind, (reasoning, content) in zip(("whole", "stream"), seen):
        print(f"  {kind:6} reasoning {reasoning!r}, content {content!r}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
