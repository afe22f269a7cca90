"""The package as a folder of sources, without its compiled part: `PYTHONPATH=python` in a clone."""

import json
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import juror_rs

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import juror_rs, juror_rs.math_verify
assert juror_rs.__file__.startswith(sys.argv[1]), juror_rs.__file__
with juror_rs.Judge(url=sys.argv[2]) as judge:
    verdict, = judge.judge([{"question": "1+1?", "reference": "2", "response": "2"}])
    print(verdict.outcome)
try:
    juror_rs.verify("2", "2")
except ImportError as error:
    print(error)
"""


class Server(BaseHTTPRequestHandler):
    """A server that finds everything right."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "22")
        self.end_headers()
        self.wfile.write(b'{"is_sleeping": false}')

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        verdict = {"id": "0", "index": 0, "trial": 0, "status": "ok", "process": True, "outcome": True, "perfect": True,
                   "overall": True, "reward": 1.0, "reason": None, "outcome_source": "judge", "rule_outcome": True,
                   "confidence": {"process": None, "outcome": None, "perfect": None},
                   "usage": {"prompt_tokens": 1, "cached_tokens": 0, "completion_tokens": 1, "known_tokens": 0}}
        judge = {"model": "m", "commit": "c", "protocol": "p", "prompt_hash": "h"}
        if "ndjson" in self.headers.get("Accept", ""):
            lines = [verdict, {"judge": judge, "verdicts": 1}]
            body = "".join(json.dumps(line) + "\n" for line in lines).encode()
        else:
            body = json.dumps({"verdicts": [verdict], "judge": judge}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


def test_servers_verdicts_need_no_compiled_part(tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns("_rules.*.so", "_rules*.pyd", "__pycache__")
    shutil.copytree(Path(juror_rs.__file__).parent, tmp_path / "juror_rs", ignore=ignored)
    server = HTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    try:
        command = [sys.executable, "-c", PROGRAM, str(tmp_path), url]
        ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    finally:
        server.shutdown()
        server.server_close()
    right, error = ran.stdout.splitlines()
    assert right == "True"
    assert "scripts/build_wheel.sh" in error and "Judge(url=" in error
