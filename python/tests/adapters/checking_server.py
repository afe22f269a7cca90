"""A server of OpenAI's API that has no model: another project's own classes check each request, and grammars write the answers."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
import math
import random
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PROBE = "single word: ready"
"""What the questions ask by which juror finds out what a server can do."""


@dataclass
class Refused(Exception):
    """A request that the other project's classes do not take."""

    why: str


@dataclass
class Checked:
    """What the other project made of a request."""

    grammar: Any = None
    """Of xgrammar; none where the answer is free."""
    probabilities: int = 0
    """How many of the likeliest tokens are asked for; 0: none."""


@dataclass
class Token:
    """A token of an answer, and the likeliest in its place with their log-probabilities, if they are asked for."""

    text: str
    likely: dict[str, float]


OTHER = {"True": "False", "true": "false", "A": "B", "YES": "NO", "Yes": "No", "Correct": "Incorrect", "correct": "incorrect"}
OTHER |= {word: other for other, word in OTHER.items()} | {"C": "A"}


def tokens_of(text: str, probabilities: int, tokenizer: Any = None) -> list[Token]:
    """The tokens of a text, words with the space before them where there is no tokenizer; another word is a third as likely."""

    def token(word: str) -> Token:
        blank = word[: len(word) - len(word.lstrip())]
        likely = {word: math.log(0.75), blank + OTHER.get(word.strip(), "?"): math.log(0.25)}
        return Token(word, dict(list(likely.items())[:probabilities]))

    if tokenizer is not None:
        return [token(tokenizer.decode([one], clean_up_tokenization_spaces=False)) for one in tokenizer.encode(text, add_special_tokens=False)]
    return [token(word) for word in re.findall(r"\s?\w+|\s?[^\w\s]|\s", text)]


@dataclass
class Server:
    """What was asked of a server, and where it is."""

    url: str = ""
    said: str = ""
    """What juror said of it last."""
    asked: list[tuple[str, dict[str, Any], str | None]] = field(default_factory=list)
    """Route, body, and why it was refused."""

    def refused(self) -> list[str]:
        return [f"{why}: {json.dumps(body)[-600:]}" for _, body, why in self.asked if why is not None]

    def judging(self) -> list[dict[str, Any]]:
        """The bodies that ask for verdicts."""
        return [body for _, body, _ in self.asked if not is_probe(body)]


def is_probe(body: dict[str, Any]) -> bool:
    said = body["messages"][-1]["content"] if "messages" in body else body["prompt"]
    # What is asked in tokens is read by nobody: by one of one token, they are counted.
    return PROBE in said if isinstance(said, str) else body["max_tokens"] == 1


@contextmanager
def checking_server(
    check: Callable[[str, dict[str, Any]], Checked],
    answer: Callable[[str, list[Token], int], dict[str, Any]],
    free: str = "",
    tokenizer: Any = None,
) -> Iterator[Server]:
    """A server of the model `judge`.

    `check` is the other project's, given route and body. `answer` makes the whole answer in the other project's classes, given the
    route, the tokens, and how many the prompt had. Where there is no grammar, the text is `free`, and "ready" to a probe.
    `tokenizer` is the model's, as transformers has it.
    """
    server = Server()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            """Nothing."""

        def reply(self, status: int, body: Any) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            if self.path == "/v1/models":
                entry = {"id": "judge", "object": "model", "owned_by": "other", "max_model_len": 32768}
                return self.reply(200, {"object": "list", "data": [entry]})
            return self.reply(404, {"detail": "Not Found"})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            assert self.headers["Content-Type"].split(";")[0] == "application/json"
            try:
                checked = check(self.path, body)
            except Refused as refused:
                server.asked.append((self.path, body, refused.why))
                return self.reply(400, {"error": {"message": refused.why, "type": "BadRequestError", "code": 400}})
            server.asked.append((self.path, body, None))
            if checked.grammar is not None:
                text = written(checked.grammar, json.dumps(body))
            else:
                text = "ready" if is_probe(body) else free
            prompt = body.get("prompt", "")
            # Without a tokenizer the tokens of a text are not counted.
            if tokenizer is not None and isinstance(prompt, str):
                prompt = tokenizer.encode(prompt, add_special_tokens=False)
            counted = len(prompt) if isinstance(prompt, list) else 0
            return self.reply(200, answer(self.path, tokens_of(text, checked.probabilities, tokenizer), counted))

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{running.server_port}/v1"
    threading.Thread(target=running.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        running.shutdown()
        running.server_close()


WRITING = threading.Lock()


def written(grammar: Any, seed: str) -> str:
    """A text that xgrammar's matcher of a grammar takes from its beginning to its end, byte by byte, drawn by chance."""
    import torch
    import xgrammar

    with WRITING:
        end = 256
        vocabulary = [bytes([byte]) for byte in range(256)] + [b"<end>"]
        about = xgrammar.TokenizerInfo(vocabulary, vocab_size=len(vocabulary), stop_token_ids=[end])
        compiled = xgrammar.GrammarCompiler(about, max_threads=1).compile_grammar(grammar)
        matcher = xgrammar.GrammarMatcher(compiled)
        bits = xgrammar.allocate_token_bitmask(1, len(vocabulary))
        chance = random.Random(seed)
        text = bytearray()
        run = 0
        while len(text) < 8192:
            bits.fill_(-1)
            matcher.fill_next_token_bitmask(bits)
            words = bits[0].to(torch.int64).tolist()
            allowed = [token for token in range(len(vocabulary)) if words[token // 32] >> (token % 32) & 1]
            # Text of the judge's own is some letters, and then what ends it.
            letters = [token for token in allowed if chr(token).isascii() and chr(token).isalpha()]
            if len(allowed) > 40:
                run += 1
                ends = [token for token in allowed if token != end and chr(token) in '<"\n}']
                allowed = letters if run % 20 and letters else ends or letters or allowed
            token = chance.choice(allowed)
            if token == end:
                break
            # White space may go on for ever.
            if chr(token).isspace() and len(allowed) > 1 and text[-1:].isspace():
                token = chance.choice([one for one in allowed if not chr(one).isspace()] or [token])
            if token == end:
                break
            assert matcher.accept_token(token)
            text.append(token)
            if matcher.is_terminated():
                break
        return text.decode()
