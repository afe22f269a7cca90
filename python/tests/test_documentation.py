"""The examples of the README and of the guide's page, as they are written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

BLOCKS = [
    pytest.param(block, id=f"{page.name}-{number}")
    for page in (ROOT / "python" / "README.md", ROOT / "docs" / "guide" / "python.md")
    for number, block in enumerate(re.findall(r"```python\n(.*?)```(?:\n\n(?=```text))?", page.read_text(), re.DOTALL))
    if "judge-host" not in block
]

SHOWN = re.compile(r"^(.*\S)\s+# (\S.*)$", re.MULTILINE)
"""An expression, and what it gives."""


@pytest.mark.parametrize("block", BLOCKS)
def test_an_example_does_what_it_says(block: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = [(code, value) for code, value in SHOWN.findall(block) if not code.startswith("judge = ")]
    names: dict[str, object] = {}
    exec(block, names)  # The project's own documentation.
    printed = capsys.readouterr().out.splitlines()
    for code, value in shown:
        if code.startswith("print("):
            assert value in printed
        else:
            assert repr(eval(code, names)) == value.partition(":")[0]


def test_the_first_example_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "python" / "README.md").read_text()
    example = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", text, re.DOTALL)
    assert example is not None
    exec(example[1], {})
    assert capsys.readouterr().out == example[2]
