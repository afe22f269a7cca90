#!/usr/bin/env bash
# mistral-common 1.13.1: a tool that returns the text 3.10 has returned 3.1, for models of the tokenizer versions 2 and 3 (Mistral Nemo, Ministral,
# Mixtral, Mistral Small until 2024). An empty result is {}.
#
# What a tool returns is a text, and goes into the prompt as one: into a JSON object there, as its "content". One would expect a JSON string, or
# the text as it is, as from version 7 on. Seen: a text that can be read as JSON is read, and written again in Python's way. So versions, prices and
# measurements lose their zeros, 0.00001 is 1e-05, a number of twenty digits has seventeen, 1e400 is Infinity, of a key that is there twice the
# first is gone, and no text at all is an empty object. With a word beside it, "Result: 3.10", nothing is changed. Arguments of the
# model's earlier calls are rewritten in the same way, in version 7 too: they are not the tokens which the model wrote.
#
# Whom it hits: whoever serves these models with Mistral's own tokenizer (vLLM's `--tokenizer-mode mistral`), or compares that with the chat
# template on the hub: agents that are told Python 3.1, graders that compare 18.50 with 18.5; a kept prefix ends at the first call.
#
# The tokenizers are in the package. Prints what a tool returned, and what stands in the prompt for the two versions. Exits with 1 if it is
# something else.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q "mistral-common[sentencepiece]==1.13.1"
cat >"$work/try.py" <<'PYTHON'
import re
import sys

from mistral_common.protocol.instruct.messages import AssistantMessage, ToolMessage, UserMessage
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.tool_calls import FunctionCall, ToolCall
from mistral_common.tokens.tokenizers.mistral import MistralTokenizer

VERSIONS = MistralTokenizer.v3(is_tekken=True), MistralTokenizer.v7()


def prompt(tokenizer, returned, arguments="{}"):
    call = ToolCall(id="123456789", function=FunctionCall(name="ask", arguments=arguments))
    messages = [UserMessage(content="?"), AssistantMessage(content=None, tool_calls=[call])]
    messages.append(ToolMessage(tool_call_id=call.id, name="ask", content=returned))
    text = tokenizer.encode_chat_completion(ChatCompletionRequest(messages=messages)).text
    return text.replace("\u2581", " ").replace("<SPECIAL_20>", "[TOOL_CONTENT]")


# What the tool returned, and stands behind "content" in version 3.
CASES = [
    ("Result: 3.10", '"Result: 3.10"'),
    ("3.10", "3.1"),
    ("18.50", "18.5"),
    ("0.00001", "1e-05"),
    ("12345678901234567890.5", "1.2345678901234567e+19"),
    ("1e400", "Infinity"),
    ('{"total": 18.50, "version": "3.10"}', '{"total": 18.5, "version": "3.10"}'),
    ('{"score": 1, "score": 2}', '{"score": 2}'),
    ("null", "null"),
    ("", "{}"),
]

changed = False
for returned, expected in CASES:
    old, new = (prompt(tokenizer, returned) for tokenizer in VERSIONS)
    seen = re.search(r'\[TOOL_RESULTS\] ?\{"content": (.*), "call_id"', old).group(1)
    kept = f"[TOOL_CONTENT] {returned}[/TOOL_RESULTS]" in new or f"[TOOL_CONTENT]{returned}[/TOOL_RESULTS]" in new
    print(f"returned {returned!r:38} version 3: {seen:36} version 7 keeps it: {kept}")
    changed |= seen != expected or not kept
for tokenizer in VERSIONS:
    seen = '"arguments": {"limit": 0.5}' in prompt(tokenizer, "-", arguments='{"limit": 5e-1}')
    print(f'arguments {{"limit": 5e-1}} are {{"limit": 0.5}}: {seen}')
    changed |= not seen
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
