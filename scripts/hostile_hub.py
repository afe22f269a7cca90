#!/usr/bin/env python3
"""Pulls a small model from hubs that answer wrongly at random, and checks what is left.

    python scripts/hostile_hub.py target/debug/juror [RUNS] [SEED]

Each run has a hub of its own that changes a twentieth to a third of its answers, by the run's seed: status, lengths, ETags, redirects, Retry-After,
contents that are flipped, cut, longer, empty or another page, connections that break off, fall silent or send a byte now and
then. In every fourth run the cache was damaged before. Whatever the hub does, `juror models pull` must end in time, without a panic, with exit code 0,
1 or 2; write nothing outside its cache; leave whole files alone where it says 0, each with the content that the honest hub has; and never
give a content a name that is not its hash.
"""

import collections
import hashlib
import http.server
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHECKPOINT = ROOT / "tests" / "data" / "checkpoints" / "qwen3-tied"
FILES = {name: (CHECKPOINT / name).read_bytes() for name in ["config.json", "model.safetensors"]}
COMMIT = "0123456789abcdef0123456789abcdef01234567"
SECONDS = 120
"""A run that takes longer hangs: with a timeout of 1 s every kind of patience ends far below."""


def git(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


TAGS = {name: (sha256 if name.endswith(".safetensors") else git)(content) for name, content in FILES.items()}


class Hub(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except ConnectionError:
            # A client that hangs up is no fault of the hub.
            pass

    def do_HEAD(self):
        self.answer(head=True)

    def do_GET(self):
        self.answer(head=False)

    def answer(self, head: bool):
        path, dice = self.path.split("?")[0], self.server.dice
        name = path.rsplit("/", 1)[-1]
        status, headers, body = 200, {}, b""
        start = self.headers.get("Range", "").removeprefix("bytes=").partition("-")[0]
        if path.startswith("/api/"):
            body = json.dumps({"sha": COMMIT, "siblings": [{"rfilename": name} for name in FILES]}).encode()
        elif name in FILES:
            body = FILES[name]
            headers = {"ETag": f'"{TAGS[name]}"', "X-Repo-Commit": COMMIT}
            if start and int(start) < len(body):
                status, headers["Content-Range"] = 206, f"bytes {start}-{len(body) - 1}/{len(body)}"
                body = body[int(start) :]
        else:
            status = 404
        headers["Content-Length"] = str(len(body))
        manner = "whole"
        if dice.random() < self.server.share:
            status, headers, body, manner = self.spoil(dice, status, headers, body)
        try:
            self.send(head, status, headers, body, manner)
        except OSError:
            self.close_connection = True

    def spoil(self, dice, status, headers, body):
        def at(length):
            return dice.randrange(length) if length else 0

        page = b"<html><body>Forbidden</body></html>"
        flipped = bytearray(body)
        if flipped:
            flipped[at(len(flipped))] ^= 1 << dice.randrange(8)
        length = {"Content-Length": str(len(page))}
        kind, change = dice.choice(
            [
                ("status", lambda: (dice.choice([400, 401, 403, 404, 408, 416, 418, 429, 500, 502, 503, 206, 204, 304]), {**headers, **length}, page, "whole")),
                ("page", lambda: (200, {**headers, **length}, page, "whole")),
                ("flipped", lambda: (status, headers, bytes(flipped), "whole")),
                ("cut", lambda: (status, {**headers, "Content-Length": str(at(len(body)))}, body, "length")),
                ("longer", lambda: (status, {**headers, "Content-Length": str(len(body) + 9)}, body + b"more bytes", "length")),
                ("broken", lambda: (status, headers, body[: at(len(body))], "break")),
                ("silent", lambda: (status, headers, body[: at(len(body))], "silent")),
                ("drip", lambda: (status, headers, body, "drip")),
                ("drip head", lambda: (status, headers, body, "drip head")),
                ("wait", lambda: (429, {**headers, **length, "Retry-After": dice.choice(
                    ["0", "1", "2", "-1", "soon", "1e9", "86400", "9" * 40, "Sun, 06 Nov 1994 08:49:37 GMT", "Fri, 06 Nov 2893 08:49:37 GMT"])}, page, "whole")),
                ("tag", lambda: (status, {**headers, "ETag": dice.choice(
                    ['"../../../evil"', '"/evil"', '""', '"x"', f'"{"0" * 40}"', f'"{"0" * 64}"', 'W/"abc"', f'"{"a" * 200}"', '"a.incomplete"'])}, body, "whole")),
                ("linked", lambda: (status, {**headers, "X-Linked-Etag": f'"{"0" * 64}"', "X-Linked-Size": str(dice.choice([0, 1, 1 << 40, 1 << 62, -1]))}, body, "whole")),
                ("commit", lambda: (status, {**headers, "X-Repo-Commit": "f" * 40}, body, "whole")),
                ("redirect", lambda: (302, {**headers, "Location": dice.choice(
                    ["file:///etc/passwd", "//", "http://[", self.path, "../x", "http://127.0.0.1:1/x", "\u00e9", "gopher://x/"]), **length}, page, "whole")),
                ("range", lambda: (206, {**headers, "Content-Range": dice.choice(["bytes 0-0/1", "bytes 9-1/3", "none", "bytes */5"])}, body, "whole")),
                ("json", lambda: (200, headers, dice.choice(
                    [b"[" * 100_000, b"{}", b"null", json.dumps({"sha": "../x", "siblings": []}).encode(), json.dumps(
                        {"sha": COMMIT, "siblings": [{"rfilename": "../../evil"}, {"rfilename": "config.json"}]}).encode()]), "own length")),
            ]
        )  # fmt: skip
        self.server.kinds[kind] += 1
        return change()

    def send(self, head, status, headers, body, manner):
        if manner == "own length":
            headers = {**headers, "Content-Length": str(len(body))}
        elif manner == "length":
            body = body[: int(headers["Content-Length"])]
        text = f"HTTP/1.1 {status} Some\r\n" + "".join(f"{key}: {value}\r\n" for key, value in headers.items()) + "\r\n"
        text = text.encode("utf-8")
        if manner == "drip head":
            self.drip(text)
        else:
            self.wfile.write(text)
        if head:
            return
        if manner == "drip":
            self.drip(body)
        else:
            self.wfile.write(body)
        if manner in ("break", "length", "silent"):
            self.wfile.flush()
            time.sleep(3 if manner == "silent" else 0)
            self.close_connection = True

    def drip(self, text):
        for byte in text:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            time.sleep(0.3)


def check(home: pathlib.Path, code: int, said: str) -> list[str]:
    """What is wrong with the cache and with what was said."""
    wrong = []
    if code not in (0, 1, 2) or "panicked" in said:
        wrong.append(f"exit code {code}: {said[-300:]}")
    if sorted(os.listdir(home)) not in (["hf"], []):
        wrong.append(f"outside the cache: {os.listdir(home)}")
    repository = home / "hf" / "hub" / "models--org--name"
    for blob in (repository / "blobs").glob("*"):
        content = blob.read_bytes()
        named = len(blob.name) in (40, 64) and set(blob.name) <= set("0123456789abcdef")
        if named and blob.name not in (git(content), sha256(content), hashlib.sha1(content).hexdigest()):
            wrong.append(f"{blob.name} is not the hash of its content")
    if code == 0:
        for name, content in FILES.items():
            there = repository / "snapshots" / COMMIT / name
            if not there.is_file():
                wrong.append(f"{name} is missing")
            # A tag that is no hash leaves nothing to compare with; then it was said.
            elif there.read_bytes() != content and "tells no hash" not in said:
                wrong.append(f"{name} has another content")
    return wrong


def main():
    binary = pathlib.Path(sys.argv[1]).resolve()
    runs, seed = int((sys.argv[2:] or [200])[0]), int((sys.argv[3:] or [1])[0])
    codes, kinds, failures, longest = collections.Counter(), collections.Counter(), 0, 0.0
    for run in range(runs):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
        server.daemon_threads = True
        server.dice, server.kinds, server.share = random.Random(f"{seed} {run}"), kinds, [0.05, 0.15, 0.35][run % 3]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with tempfile.TemporaryDirectory() as folder:
            home = pathlib.Path(folder)
            if run % 4 == 0:
                blobs = home / "hf" / "hub" / "models--org--name" / "blobs"
                blobs.mkdir(parents=True)
                for name, content in FILES.items():
                    damaged = bytearray(content)
                    damaged[server.dice.randrange(len(damaged))] ^= 1
                    (blobs / TAGS[name]).write_bytes(damaged[: server.dice.choice([len(damaged), 10, 0])])
            environment = {key: value for key, value in os.environ.items() if not key.upper().startswith(("HF_", "HTTP", "ALL_P", "NO_P"))}
            environment |= {"HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}", "HF_HOME": str(home / "hf"), "HF_HUB_DOWNLOAD_TIMEOUT": "1"}
            begun = time.monotonic()
            try:
                ran = subprocess.run([binary, "models", "pull", "org/name"], env=environment, cwd=home, capture_output=True, text=True, timeout=SECONDS)
                code, said = ran.returncode, ran.stderr
            except subprocess.TimeoutExpired:
                code, said = -1, "hangs"
            longest = max(longest, time.monotonic() - begun)
            wrong = [] if code == -1 else check(home, code, said)
            if code == -1:
                wrong = [f"not done after {SECONDS} s"]
            # A damaged blob that was never replaced is the hub's refusal, not a false name given here.
            if run % 4 == 0 and code != 0:
                wrong = [line for line in wrong if "is not the hash" not in line]
            if wrong:
                failures += 1
                print(f"run {run}: {wrong}", flush=True)
        codes[code] += 1
        server.shutdown()
        server.server_close()
    print(f"{runs} runs, {sum(kinds.values())} answers spoiled: {dict(sorted(kinds.items()))}")
    print(f"exit codes {dict(codes)}, the longest took {longest:.1f} s, {failures} failures")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
