#!/usr/bin/env bash
# anthropic 2.14.0, mistralai 3.7.0 and langchain-openai 1.7.4 (pydantic 2.14.4, openai 3.57.0, jsonschema 4.26.0): asked for `scores: dict[str, int]`, a
# judge may answer {} only. With anthropic a field whose type is a class or an enumeration has no description.
#
# `messages.parse(output_format=Verdict)`, `chat.parse(response_format=Verdict)` and `with_structured_output(Verdict, strict=True)` make a schema of the
# class. Structured outputs want `additionalProperties: false` in each object, which a dictionary cannot have. One would expect an error, or the
# dictionary as it is, as openai's client sends it. Seen: `false` takes the place of the type of the values, so that the only object allowed is the
# empty one, and that is read back as a valid verdict. With tools (LangChain without `strict`) the same class is sent as it is.
#
# anthropic moves bounds and lengths into the description, where the model can read them; but beside a `$ref` it drops what there is, and that is how
# pydantic writes a field of an enumeration or of another class: "bad if one score is below 3" is in none of the request.
#
# Whom it hits: judges with a rubric that is known only when they run, a grade for each name of a criterion: no grades, no error, and a mean of none.
# And graders whose instructions are in the descriptions of fields.
#
# A server on this machine takes the requests. Prints for each client whether its schema allows grades, and none, and the description of the
# enumeration. Exits with 1 if one of them is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q anthropic==2.14.0 mistralai==3.7.0 langchain-openai==1.7.4 openai==3.57.0 pydantic==2.14.4 jsonschema==4.26.0
cat >"$work/try.py" <<'PYTHON'
import json
import sys
import threading
from enum import Enum
from http.server import BaseHTTPRequestHandler, HTTPServer

import anthropic
import jsonschema
import openai
from langchain_openai import ChatOpenAI
from mistralai.client import Mistral
from pydantic import BaseModel, Field


class Grade(str, Enum):
    good = "good"
    bad = "bad"


class Verdict(BaseModel):
    scores: dict[str, int] = Field(description="From 1 to 5 for each criterion.")
    grade: Grade = Field(description="bad if one score is below 3.")


NONE, TWO = ({"scores": scores, "grade": "good"} for scores in ({}, {"accuracy": 4, "style": 2}))
asked = []


class Server(BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_POST(self):
        asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        text = json.dumps(NONE)
        call = {"id": "1", "type": "function", "function": {"name": "Verdict", "arguments": text}}
        message = {"role": "assistant", "content": text} | ({"tool_calls": [call]} if "tools" in asked[-1] else {})
        reply = {"id": "1", "object": "chat.completion", "created": 0, "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
        usage = {"input_tokens": 1, "output_tokens": 1, "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        if self.path.endswith("messages"):
            reply = {"id": "1", "type": "message", "role": "assistant", "content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}
        data = json.dumps(reply | {"model": "judge", "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


server = HTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_port}"
ask = {"model": "judge", "messages": [{"role": "user", "content": "Judge it."}]}
chat = ChatOpenAI(base_url=address, api_key="none", model="judge")
# Client, call, schema in its request, (grades allowed, none allowed, the description is sent).
CASES = [
    (
        "openai",
        lambda: openai.OpenAI(base_url=address, api_key="none").chat.completions.parse(**ask, response_format=Verdict).choices[0].message.parsed,
        lambda request: request["response_format"]["json_schema"]["schema"],
        (True, True, True),
    ),
    (
        "anthropic",
        lambda: anthropic.Anthropic(base_url=address, api_key="none").messages.parse(**ask, max_tokens=99, output_format=Verdict).parsed_output,
        lambda request: request["output_config"]["format"]["schema"],
        (False, True, False),
    ),
    (
        "mistralai",
        lambda: Mistral(server_url=address, api_key="none").chat.parse(**ask, response_format=Verdict).choices[0].message.parsed,
        lambda request: request["response_format"]["json_schema"]["schema"],
        (False, True, True),
    ),
    *[
        (
            f"langchain-openai, strict={strict}",
            lambda strict=strict: chat.with_structured_output(Verdict, method="function_calling", strict=strict).invoke("Judge it."),
            lambda request: request["tools"][0]["function"]["parameters"],
            (not strict, True, True),
        )
        for strict in (None, True)
    ],
]

changed = False
for name, call, schema_of, expected in CASES:
    verdict = call()
    schema = schema_of(asked[-1])
    allows = [jsonschema.Draft202012Validator(schema).is_valid(answer) for answer in (TWO, NONE)]
    seen = (*allows, "is below 3" in json.dumps(asked[-1]))
    print(f"{name:30} allows two grades: {seen[0]!s:5}, none: {seen[1]}, description sent: {seen[2]!s:5}, verdict: {verdict!r}")
    changed |= seen != expected or verdict != Verdict(**NONE)
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
