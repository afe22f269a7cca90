"""What the tests of the clients share: a real server, real rows, and a small real model for trainers."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from shared import ROOT, binary, serve, stop  # noqa: E402

GUIDE = ROOT / "docs" / "guide"


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a server with the judge `tiny`."""
    process, url = serve()
    yield url
    stop(process)


@pytest.fixture(scope="session")
def lenient_server() -> Iterator[str]:
    """One that gives 0.0 for a failed judge, for trainers that cannot leave a sample out."""
    process, url = serve("--failure-reward", "0")
    yield url
    stop(process)


@pytest.fixture(scope="session")
def rules_server() -> Iterator[str]:
    """One without a model: the rules alone."""
    process, url = serve("--rules", "only", "--failure-reward", "0")
    yield url
    stop(process)


@pytest.fixture
def judge_url(server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A server's address, also where the adapters look for it."""
    monkeypatch.setenv("JUROR_URL", server)
    return server


@pytest.fixture(scope="session")
def rows() -> list[dict[str, Any]]:
    """Rollouts with known verdicts: `question`, `reference_answer`, `student_answer`, `label`."""
    text = (ROOT / "examples" / "rollouts.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="session")
def offline(rows: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The verdicts of `juror judge` on `rows`: what every way to the judge must give."""
    out = tmp_path_factory.mktemp("offline") / "verdicts.jsonl"
    subprocess.run([binary(), "judge", str(ROOT / "examples" / "rollouts.jsonl"), "-o", str(out)], check=True)
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="session")
def by_rules(tmp_path_factory: pytest.TempPathFactory) -> list[float | None]:
    """The rewards of `juror judge --rules only --reward outcome` on `rows`."""
    out = tmp_path_factory.mktemp("rules") / "verdicts.jsonl"
    only = ["--rules", "only", "--reward", "outcome"]
    subprocess.run([binary(), "judge", str(ROOT / "examples" / "rollouts.jsonl"), "-o", str(out), *only], check=False)
    return [json.loads(line)["reward"] for line in out.read_text(encoding="utf-8").splitlines()]


def run_in_threads_and_processes(work: Callable[[int], Any], count: int = 16) -> list[Any]:
    """What `work` gives in threads of this process, and in processes that were forked while others ran."""
    from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
    from multiprocessing import get_context

    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(work, range(count)))
    for start, workers in (("fork", 2), ("spawn", 1)):
        with ProcessPoolExecutor(workers, mp_context=get_context(start)) as processes:
            results += processes.map(work, range(count))
    return results


@pytest.fixture
def everywhere() -> Callable[..., list[Any]]:
    """See `run_in_threads_and_processes`: for what must need no main thread, no signals and no event loop."""
    return run_in_threads_and_processes


@pytest.fixture
def guide() -> Callable[[str, str], list[str]]:
    """The code blocks of a page of the guide in one language."""

    def blocks(page: str, language: str) -> list[str]:
        text = (GUIDE / page).read_text(encoding="utf-8")
        found = re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        assert found, f"{page} has no block of {language}"
        return found

    return blocks


@pytest.fixture
def readme() -> Callable[[str], str]:
    """The code block of the README that holds a word."""

    def block(word: str) -> str:
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        found = re.findall(r"^```\w*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        (one,) = [block for block in found if word in block]
        return str(one)

    return block


@pytest.fixture
def run_python(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a program in a process and folder of its own."""

    def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "program.py").write_text(program, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "program.py"],
            cwd=tmp_path,
            env={**os.environ, "HF_HUB_OFFLINE": "1", **environment},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-8000:]
        return done

    return run
