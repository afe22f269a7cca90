#!/usr/bin/env bash
# ragas 0.4.3: with a cache the second judge is never asked. What another model said about the same answer is its score, also in a run of the next day.
#
# `llm_factory(model, client=..., cache=DiskCacheBackend())` keeps what a judge says, in the folder ".cache" unless another is named. One would expect the
# key to hold the model, or at least the folder to be the model's. Seen: the key is the method's name and its arguments, which are the prompt and the
# shape of the reply. The model, the client's server, the temperature and the system prompt belong to the object that the method is bound to, and are
# no part of it. So all judges of a folder are the first of them. A rating that a metric finds invalid and asks for again comes from the cache too.
#
# Whom it hits: comparisons of judges, a change of model, of temperature or of the system prompt in a project that has a cache: both have the same
# scores to the last digit, which looks like agreement, and is quick. The log has the hits at the level "debug".
#
# A server on this machine, whose model "strict" rates everything 0 and "lenient" 4, the best. Prints each judge's score and the number of requests
# without and with a cache, and with one in which another judge's replies lie. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q ragas==0.4.3 langchain-community==0.4.1 openai==2.54.0 instructor==1.17.0
cat >"$work/try.py" <<'PYTHON'
import asyncio
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from openai import AsyncOpenAI
from ragas.cache import DiskCacheBackend
from ragas.llms import llm_factory
from ragas.metrics.collections import AnswerAccuracy

RATINGS = {"strict": 0, "lenient": 4}
requests = []


class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        requests.append(asked["model"])
        content = json.dumps({"rating": RATINGS[asked["model"]]})
        message = {"role": "assistant", "content": content}
        if "tools" in asked:
            function = {"name": asked["tools"][0]["function"]["name"], "arguments": content}
            message = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": function}]}
        choices = [{"index": 0, "finish_reason": "stop", "message": message}]
        body = json.dumps({"id": "1", "object": "chat.completion", "created": 0, "model": asked["model"], "choices": choices}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


# Model, settings, score and requests without a cache, and with one. (The metric asks twice, in two ways.)
CASES = [
    ("strict", {"temperature": 0.0}, (0, 2), (0, 2)),
    ("lenient", {"temperature": 0.0}, (1, 2), (0, 0)),
    ("lenient", {"temperature": 1.0}, (1, 2), (0, 0)),
    ("lenient", {"system_prompt": "Compare meanings."}, (1, 2), (0, 0)),
]


async def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    changed = False
    for cached in (False, True):
        for model, settings, *expected in CASES:
            client = AsyncOpenAI(api_key="none", base_url=f"http://127.0.0.1:{server.server_port}/v1")
            cache = DiskCacheBackend() if cached else None
            before = len(requests)
            metric = AnswerAccuracy(llm=llm_factory(model, client=client, cache=cache, **settings))
            score = await metric.ascore(user_input="What is 2 + 2?", response="four", reference="4")
            seen = (score.value, len(requests) - before)
            print(f"{'cache' if cached else 'no cache':8} {model:8} {settings!s:41} score {seen[0]}  requests {seen[1]}")
            changed |= seen != expected[cached]
    return changed


sys.exit(asyncio.run(main()))
PYTHON
cd "$work"
RAGAS_DO_NOT_TRACK=true venv/bin/python -W ignore try.py
