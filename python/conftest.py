"""What all tests share: the program `juror`, rows, and a judge."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from juror_rs import Judge

ROOT = Path(__file__).parents[1]

ADAPTERS = {
    "inspect": "inspect_ai",
    "lighteval": "lighteval",
    "lm_eval": "lm_eval",
    "nemo_gym": "nemo_gym",
    "ray": "ray",
    "skyrl_gym": "skyrl_gym",
    "trl": "trl",
    "verifiers": "verifiers",
    "verl": "verl",
}
"""Modules that can be imported only beside their framework."""

collect_ignore = [
    f"juror_rs/{module}.py" for module, framework in ADAPTERS.items() if importlib.util.find_spec(framework) is None
]


def newest_build() -> str | None:
    """The program that was built last."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = [path for profile in ("release", "debug") if (path := target / profile / "juror").exists()]
    return str(max(built, key=lambda path: path.stat().st_mtime)) if built else None


if "JUROR_BINARY" not in os.environ and (build := newest_build()) is not None:
    os.environ["JUROR_BINARY"] = build
os.environ.pop("JUROR_URL", None)

if "JUROR_BINARY" not in os.environ:
    collect_ignore += ["juror_rs/judge.py", "tests/test_documentation.py", "tests/test_judge.py", "tests/test_lifetime.py"]


@pytest.fixture(scope="session")
def rows() -> list[dict[str, Any]]:
    """The rollouts of the README's first command."""
    return [json.loads(line) for line in (ROOT / "examples" / "rollouts.jsonl").read_text().splitlines()]


@pytest.fixture(scope="session")
def judge() -> Iterator[Judge]:
    """The embedded judge, whose server many tests share."""
    with Judge("tiny") as judge:
        yield judge
