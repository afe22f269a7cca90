"""Programs that do not become a server."""

from __future__ import annotations

import importlib
import os
import stat
import sys
import types
from functools import partial
from pathlib import Path
from typing import Any

import faulty
import pytest

from juror_rs import Judge, JudgeError
from juror_rs.binary import find_binary


@pytest.fixture(autouse=True)
def no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JUROR_URL", raising=False)


def _always(value: str, *_: object) -> str:
    return value


def program(folder: Path, text: str) -> str:
    path = folder / "juror"
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_a_program_that_ends_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUROR_BINARY", program(tmp_path, "echo first >&2; echo 'no such model: x' >&2; exit 2\n"))
    with pytest.raises(JudgeError, match=r"(?s)juror serve --model x .*\(exit code 2\):\nfirst\nno such model: x"):
        Judge("x")


def test_who_judges_is_named_or_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUROR_BINARY", program(tmp_path, 'echo "$@" >&2; exit 2\n'))
    with pytest.warns(UserWarning, match="the built-in `tiny` judges"), pytest.raises(JudgeError, match="serve --model tiny "):
        Judge()
    # These say who judges, and a model beside them would be refused.
    for arguments in (["--rules", "only"], ["--rules=only"], ["--model", "x"], ["-m", "x"], ["--panel", "p.toml"]):
        with pytest.raises(JudgeError) as raised:
            Judge(arguments=arguments)
        assert "--model tiny" not in str(raised.value)
    assert "--model tiny" in str(pytest.raises(JudgeError, Judge, "tiny", arguments=["--seed", "1"]).value)


def test_a_program_that_is_killed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUROR_BINARY", program(tmp_path, "kill -9 $$\n"))
    with pytest.raises(JudgeError, match=r"killed by signal 9\):\n\(it wrote no message\)"):
        Judge("tiny")


def test_a_program_that_dies_while_loading_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # It accepts no connection, so the client waits, until the process is seen to be dead.
    text = 'echo \'{"url": "http://127.0.0.1:9", "model": "x"}\'; sleep 0.2; echo "out of memory" >&2; exit 1\n'
    monkeypatch.setenv("JUROR_BINARY", program(tmp_path, text))
    with pytest.raises(JudgeError, match=r"exit code 1\):\nout of memory"):
        Judge("tiny")


def test_another_program_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUROR_BINARY", program(tmp_path, "echo listening; cat > /dev/null\n"))
    with pytest.raises(JudgeError, match="began with b'listening"):
        Judge("tiny")


def test_a_program_that_cannot_be_run_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "juror"
    path.write_bytes(b"\x7fELF no program")
    path.chmod(0o755)
    monkeypatch.setenv("JUROR_BINARY", str(path))
    with pytest.raises(JudgeError, match="cannot be run"):
        Judge("tiny")


def test_a_missing_program_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUROR_BINARY", str(tmp_path / "nothing"))
    with pytest.raises(JudgeError, match="JUROR_BINARY is .*nothing, and that is no program"):
        Judge("tiny")
    monkeypatch.delenv("JUROR_BINARY")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sysconfig.get_path", partial(_always, str(tmp_path)))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    with pytest.raises(JudgeError, match="install the wheel of juror-rs, or set JUROR_BINARY"):
        Judge("tiny")
    assert find_binary.__doc__


def test_it_is_found_beside_python_and_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = program(tmp_path, "")
    monkeypatch.delenv("JUROR_BINARY", raising=False)
    monkeypatch.setattr("sysconfig.get_path", partial(_always, str(tmp_path / "none")))
    monkeypatch.setattr("sys.executable", str(tmp_path / "none" / "python"))
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "none"), str(tmp_path)]))
    assert find_binary() == path
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", "")
    assert find_binary() == path


def test_settings_of_a_server_do_not_go_with_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    for settings in ({"model": "other"}, {"protocol": "compass"}, {"arguments": ["--seed", "1"]}):
        with pytest.raises(ValueError, match="are for a server to be started"):
            Judge(url="http://127.0.0.1:9", **settings)  # pyright: ignore[reportArgumentType]
    with faulty.serving() as server:
        monkeypatch.setenv("JUROR_URL", server.url)
        assert Judge().url == server.url
    # Who is named is started, and does not stand beside an address.
    for model in ("tiny", "other"):
        with pytest.raises(ValueError, match="JUROR_URL"):
            Judge(model)


def test_an_inspect_that_is_too_old_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    package = types.ModuleType("inspect_ai")
    scorers: Any = types.ModuleType("inspect_ai.scorer")
    for name in ("Score", "Scorer", "Target", "mean", "scorer", "stderr"):
        setattr(scorers, name, type(name, (), {}))
    solvers: Any = types.ModuleType("inspect_ai.solver")
    solvers.TaskState = object
    for module in (package, scorers, solvers):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.delitem(sys.modules, "juror_rs.inspect", raising=False)
    with pytest.raises(ImportError, match=r"needs Inspect 0\.3\.214 or later"):
        importlib.import_module("juror_rs.inspect")
