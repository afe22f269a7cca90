#!/usr/bin/env bash
# litellm 1.110.2 (beside it openai 3.57.0): `stream_chunk_builder` loses log-probabilities. Each chunk has them, the answer built of all has none.
#
# The function makes one response of a stream's chunks, "the complete response" as it would be without `stream=True`. One would expect what was asked
# for with `logprobs=True` to be in it, as in the response of OpenAI's own client to the same stream, or an error. Seen: texts, tool calls, thinking
# and usage are put together, for each of n choices; `choices[0].logprobs` is None, which is also what a model has that gives none.
#
# Whom it hits: judges that are streamed, so that a long explanation does not run into a time-out, and whose verdict is weighed by its probability, as
# in G-Eval: those that fall back to the text where there are no probabilities give other scores with a stream than without one, and do not say so.
#
# A server on this machine answers in the form of chat completions. Prints for the whole response, the chunks, the built response and OpenAI's client
# how many tokens have log-probabilities. Exits with 1 if one of the numbers is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q litellm==1.110.2 openai==3.57.0
cat >"$work/try.py" <<'PYTHON'
import json
import math
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import litellm
import openai

TOKENS = [("The", 0.9), (" verdict", 0.8), (" is", 0.9), (" A", 0.55)]
COMMON = {"id": "1", "created": 0, "model": "judge"}


def logprobs(tokens):
    of = ({"token": text, "logprob": math.log(p), "bytes": None, "top_logprobs": []} for text, p in tokens)
    return {"content": list(of)}


class Server(BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def reply(self, kind, data):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if not asked.get("stream"):
            message = {"role": "assistant", "content": "".join(text for text, _ in TOKENS)}
            choice = {"index": 0, "finish_reason": "stop", "message": message, "logprobs": logprobs(TOKENS)}
            self.reply("application/json", json.dumps(COMMON | {"object": "chat.completion", "choices": [choice]}).encode())
            return
        choices = [{"index": 0, "delta": {"role": "assistant", "content": text}, "logprobs": logprobs([(text, p)])} for text, p in TOKENS]
        choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
        chunks = (COMMON | {"object": "chat.completion.chunk", "choices": [choice]} for choice in choices)
        lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
        self.reply("text/event-stream", "".join([*lines, "data: [DONE]\n\n"]).encode())


def count(choice):
    found = getattr(choice, "logprobs", None)
    return len(found.content) if found else 0


server = HTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_port}/v1"
messages = [{"role": "user", "content": "Judge it."}]
ask = {"model": "openai/judge", "messages": messages, "api_base": address, "api_key": "none", "logprobs": True, "top_logprobs": 1}

whole = litellm.completion(**ask).choices[0]
chunks = list(litellm.completion(**ask, stream=True))
built = litellm.stream_chunk_builder(chunks, messages=messages).choices[0]
client = openai.OpenAI(base_url=address, api_key="none")
with client.chat.completions.stream(model="judge", messages=messages, logprobs=True, top_logprobs=1) as stream:
    theirs = stream.get_final_completion().choices[0]
seen = [count(whole), sum(count(chunk.choices[0]) for chunk in chunks), count(built), count(theirs)]
print("log-probabilities: whole {}, chunks {}, built of the chunks {}, OpenAI's client {}".format(*seen))
print(f"text: {whole.message.content!r}, {built.message.content!r}, {theirs.message.content!r}")
sys.exit(seen != [4, 4, 0, 4] or built.message.content != whole.message.content)
PYTHON
LITELLM_LOCAL_MODEL_COST_MAP=True "$work/venv/bin/python" -W ignore "$work/try.py"
