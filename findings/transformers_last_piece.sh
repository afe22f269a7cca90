#!/usr/bin/env bash
# transformers 5.24.0: of an answer in two pieces only the last is left. "The answer is B.", a call of a tool, "It is checked." has the content
# "It is checked.".
#
# A response template says where thinking, calls and content of a model's text begin and end; with it `parse_response`, the pipeline's chats and
# `transformers serve` make a message. One would expect content to be all that is neither thinking nor a call, as in a stream of the same server,
# or the pieces joined. Seen: each piece takes the place of the one before, content and thinking alike, unless a field says "repeats" and "join";
# the package's own templates, for Qwen2 to Qwen3.5 and Gemma 4, say neither. What an answer quotes is cut out as if it were meant: "It has <think>
# and </think>. NO" is ". NO". A line break between two calls of Gemma 4 is a piece, so that nothing is left of the content.
#
# Whom it hits: models that think between their calls, judges of texts with tags in them, and what is built on the parser, such as TRL's GRPO
# with tools: the reward is of the last piece, and the message in the next prompt is not what the model wrote.
#
# Prints for the template of each family a text, its message, and the content of the stream. Exits with 1 if one of them is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q transformers==5.24.0
cat >"$work/try.py" <<'PYTHON'
import sys

from transformers.cli.serving.utils import _RESPONSE_TEMPLATE_FALLBACKS, response_events_to_chunks
from transformers.utils.chat_parsing import ResponseParser, parse_response

CALL = '<tool_call>\n{"name": "check", "arguments": {}}\n</tool_call>'
CALL_OF_GEMMA = "<|tool_call>call:check{}<tool_call|>"
END, END_OF_GEMMA = "<|im_end|>", "<turn|>"
# Family, text, (content, thinking) of the message, content of the stream.
CASES = [
    ("qwen3", f"<think>Hm.</think>The answer is B.{END}", ("The answer is B.", "Hm."), "The answer is B."),
    ("qwen3", f"The answer is B.\n{CALL}{END}", ("The answer is B.", None), "The answer is B."),
    ("qwen3", f"The answer is B.\n{CALL}\nIt is checked.{END}", ("It is checked.", None), "The answer is B.\nIt is checked."),
    ("qwen3", f"<think>It is B.</think>B.<think>Or not?</think>Yes.{END}", ("Yes.", "Or not?"), "B.Yes."),
    ("qwen3", f"It has <think> and </think>. NO{END}", (". NO", "and"), "It has . NO"),
    ("qwen3", f"NO. It calls <tool_call>\n{{}}\n</tool_call>, which is wrong.{END}", (", which is wrong.", None), "NO. It calls, which is wrong."),
    ("gemma4", f"The answer is B.{CALL_OF_GEMMA}{CALL_OF_GEMMA}{END_OF_GEMMA}", ("The answer is B.", None), "The answer is B."),
    ("gemma4", f"The answer is B.{CALL_OF_GEMMA}\n{CALL_OF_GEMMA}{END_OF_GEMMA}", (None, None), "The answer is B.\n"),
]

changed = False
for family, text, expected, expected_stream in CASES:
    template = next(template for types, template in _RESPONSE_TEMPLATE_FALLBACKS.items() if family in types)
    message = parse_response(text, template, prefix="")
    parser = ResponseParser(template, prefix="")
    events = [event for character in text for event in parser.feed(character)] + parser.finalize()[1]
    events = [event for event in events if event["type"] == "region_chunk" and event["field"] == "content"]
    streamed = "".join(response_events_to_chunks(events))
    seen = (message.get("content"), message.get("reasoning_content"))
    print(f"{family}: {text!r}\n    content {seen[0]!r}, thinking {seen[1]!r}; content of the stream {streamed!r}")
    changed |= seen != expected or streamed != expected_stream
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
