"""When servers start and end."""

from __future__ import annotations

import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from juror_rs import Judge, JudgeError
from juror_rs.binary import find_binary
from juror_rs.client import Client
from juror_rs.tables import encode

ROW = {"question": "What is 2 + 3?", "reference": "5", "response": "2 + 3 = 5. The answer is 5."}


def listens(url: str) -> bool:
    parts = urlsplit(url)
    with socket.socket() as connection:
        return connection.connect_ex((parts.hostname or "", parts.port or 80)) == 0


def ends(url: str) -> bool:
    """Does the server at `url` end within ten seconds?"""
    for _ in range(100):
        if not listens(url):
            return True
        time.sleep(0.1)
    return False


def pid(judge: Judge) -> int:
    process: Any = judge._process  # pyright: ignore[reportPrivateUsage]
    return int(process._process.pid)


def test_judges_with_equal_settings_share_a_server() -> None:
    one, two = Judge("tiny", arguments=["--seed", "2"]), Judge("tiny", arguments=["--seed", "2"])
    other = Judge("tiny", arguments=["--seed", "3"])
    url = one.url
    assert two.url == url != other.url
    one.close()
    one.close()
    assert two.judge([ROW])[0].reward == 1.0
    with pytest.raises(JudgeError, match="was closed"):
        one.judge([ROW])
    two.close()
    assert ends(url)
    assert listens(other.url)
    other.close()


def test_a_forked_process_uses_the_server_and_does_not_end_it() -> None:
    with Judge(arguments=["--seed", "4"]) as judge:
        child = os.fork()
        if child == 0:
            right = judge.judge([ROW])[0].reward == 1.0 and Judge(arguments=["--seed", "4"]).url == judge.url
            judge.close()
            os._exit(0 if right else 1)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        assert judge.judge([ROW])[0].reward == 1.0


def test_a_forked_process_does_not_keep_the_server_alive() -> None:
    judge = Judge(arguments=["--seed", "5"])
    url = judge.url
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(write)
        os.read(read, 1)
        os._exit(0)
    try:
        judge.close()
        assert ends(url)
    finally:
        os.close(write)
        os.close(read)
        os.waitpid(child, 0)


def test_another_process_starts_its_own(tmp_path: Path) -> None:
    pickled = tmp_path / "judge"
    program = f"import pickle; judge = pickle.load(open({str(pickled)!r}, 'rb')); print(judge.url, judge.rewards([{ROW}]))"
    with Judge(arguments=["--seed", "6"]) as judge:
        assert pickle.loads(pickle.dumps(judge)).url == judge.url
        pickled.write_bytes(pickle.dumps(judge))
        url, rewards = subprocess.check_output([sys.executable, "-c", program], text=True, timeout=60).split()
        assert url != judge.url
        assert rewards == "[1.0]"
        assert ends(url)


@pytest.mark.parametrize(
    "end", ["", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "raise SystemExit(3)", "import os; os._exit(0)"]
)
def test_a_server_ends_with_its_process(end: str) -> None:
    program = f"from juror_rs import Judge\njudge = Judge('tiny')\nprint(judge.url, judge.rewards([{ROW}]), flush=True)\n{end}\n"
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], stdout=subprocess.PIPE, timeout=60)
    url, rewards = done.stdout.decode().split()
    assert rewards == "[1.0]"
    assert ends(url)


def test_an_interrupt_is_for_python(tmp_path: Path) -> None:
    program = tmp_path / "waits.py"
    program.write_text(
        textwrap.dedent(
            """
            import time
            from juror_rs import Judge
            judge = Judge("tiny")
            try:
                print(judge.url, flush=True)
                time.sleep(60)
            except KeyboardInterrupt:
                row = {"question": "What is 2 + 3?", "reference": "5", "response": "2 + 3 = 5. The answer is 5."}
                print(judge.rewards([row]), flush=True)
            """
        )
    )
    with subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().decode().strip()
        os.killpg(process.pid, signal.SIGINT)
        assert process.stdout.readline() == b"[1.0]\n"
    assert ends(url)


def test_a_server_that_was_killed_is_started_again() -> None:
    with Judge(arguments=["--seed", "7"]) as judge:
        url = judge.url
        os.kill(pid(judge), signal.SIGKILL)
        assert ends(url)
        assert judge.judge([ROW])[0].reward == 1.0
        assert judge.url != url


def test_a_server_that_is_killed_meanwhile_is_named(rows: list[dict[str, Any]]) -> None:
    with Judge(arguments=["--seed", "8"]) as judge:

        def killing() -> Any:
            yield from rows
            os.kill(pid(judge), signal.SIGKILL)
            yield rows[0]

        with pytest.raises(JudgeError, match=r"serve --model tiny .*\(killed by signal 9\)"):
            judge.judge(killing())


def test_a_server_that_comes_back_at_its_address_goes_on(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    servers: list[subprocess.Popen[bytes]] = []

    def start(port: str) -> str:
        command = [find_binary(), "serve", "--port", port, "--cache", str(tmp_path), "--exit-with-stdin"]
        servers.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        assert servers[-1].stdout is not None
        return str(json.loads(servers[-1].stdout.readline())["url"])

    url = start("0")
    seen: list[None] = []

    def kill_at_the_third() -> None:
        seen.append(None)
        if len(seen) == 3:
            servers[0].kill()
            servers[0].communicate()
            start(url.rpartition(":")[2])

    try:
        lines = Client(url).judge([encode(row, place) for place, row in enumerate(rows)], on_verdict=kill_at_the_third)
    finally:
        servers[-1].communicate()
    assert len(servers) == 2
    assert [line["id"] for line in lines] == [row["id"] for row in rows]
    assert {line["status"] for line in lines} == {"ok"}


def test_a_server_that_cannot_start_says_why() -> None:
    with pytest.raises(JudgeError, match=r"(?s)exit code 2\):.*no-such-folder"):
        Judge("./no-such-folder")


def test_a_key_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JUROR_API_KEY", raising=False)
    key = tmp_path / "key"
    key.write_text("secret\n")
    with Judge(arguments=["--api-key-file", str(key)]) as judge:
        with pytest.raises(JudgeError, match="JUROR_API_KEY") as caught:
            judge.judge([ROW])
        assert caught.value.status == 401
        # As it is read from the file, and beside a name that no header can hold as it is.
        named = judge.url.replace("//", "//審判:secret@")
        for with_key in (Judge(url=judge.url, api_key=key.read_text()), Judge(url=named)):
            assert with_key.judge([ROW])[0].reward == 1.0
        for unusable in ("sec\nret", "sécret"):
            with pytest.raises(ValueError, match="no header can hold") as refused:
                Judge(url=judge.url, api_key=unusable)
            assert "ret" not in str(refused.value)
        monkeypatch.setenv("JUROR_API_KEY", "secret")
        monkeypatch.setenv("JUROR_URL", judge.url)
        assert Judge().rewards([ROW]) == [1.0]


def test_a_long_request_is_refused_with_a_reason(tmp_path: Path) -> None:
    with Judge(api_key="right", arguments=["--max-body", "1MB"]) as judge:
        row = {**ROW, "response": "x" * (30 << 20)}
        with pytest.raises(JudgeError) as caught:
            Judge(url=judge.url, api_key="wrong").judge([row])
        assert caught.value.status == 401
        with pytest.raises(JudgeError) as caught:
            judge.judge([row])
        assert caught.value.status == 413


def slow_program(folder: Path, seconds: float) -> Path:
    """`juror`, but it takes its time before it does anything."""
    path = folder / "slow-juror"
    path.write_text(f"#!/bin/sh\necho $$ > {folder}/pid\nsleep {seconds}\nexec {find_binary()} \"$@\"\n")
    path.chmod(0o755)
    return path


def test_a_process_forked_while_a_server_starts_is_not_hindered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = find_binary()
    monkeypatch.setenv("JUROR_BINARY", str(slow_program(tmp_path, 2.0)))
    judges: list[Judge] = []
    starting = threading.Thread(target=lambda: judges.append(Judge()))
    starting.start()
    while not (tmp_path / "pid").exists():
        time.sleep(0.01)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(write)
        monkeypatch.setenv("JUROR_BINARY", real)
        with Judge() as judge:
            right = judge.judge([ROW])[0].reward == 1.0
        os.read(read, 1)
        os._exit(0 if right else 1)
    os.close(read)
    starting.join()
    (judge,) = judges
    url = judge.url
    assert judge.judge([ROW])[0].reward == 1.0
    judge.close()
    # The child lives, and keeps nothing of it alive.
    assert ends(url)
    os.close(write)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_a_program_may_end_while_a_server_starts(tmp_path: Path) -> None:
    script = """
        import threading, time, pathlib, sys
        from juror_rs import Judge
        threading.Thread(target=Judge, daemon=True).start()
        while not pathlib.Path(sys.argv[1], "pid").exists():
            time.sleep(0.01)
        time.sleep(0.2)
    """
    started = time.monotonic()
    environment = {**os.environ, "JUROR_BINARY": str(slow_program(tmp_path, 60.0))}
    command = [sys.executable, "-c", textwrap.dedent(script), str(tmp_path)]
    subprocess.run(command, check=True, env=environment, timeout=30.0)
    assert time.monotonic() - started < 15.0
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
