"""instructor's modes against `juror serve`."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from typing import Any, Literal

import pytest

instructor = pytest.importorskip("instructor")

from openai import OpenAI  # noqa: E402
from pydantic import BaseModel, Field, field_validator  # noqa: E402


class Point(BaseModel):
    """A criterion, and whether it is met."""

    criterion: Literal["sum", "units"]
    met: bool


class Grade(BaseModel):
    """A grade for an answer."""

    grade: Literal["A", "B", "C"]
    points: list[Point] = Field(min_length=1, max_length=2)


ASKED = [{"role": "user", "content": "3 + 4 = 7. Which grade?"}]


def client(server: str, mode: Any) -> Any:
    return instructor.from_openai(OpenAI(base_url=f"{server}/v1", api_key="any", max_retries=0), mode=mode)


@pytest.mark.parametrize("mode", ["TOOLS", "TOOLS_STRICT", "JSON_SCHEMA"])
def test_answers_are_of_the_schema(server: str, mode: str) -> None:
    made = client(server, instructor.Mode[mode])
    grade = made.chat.completions.create(model="tiny", messages=ASKED, response_model=Grade, max_tokens=120, max_retries=0)
    assert isinstance(grade, Grade)


def test_an_answer_that_is_refused_is_asked_for_again(server: str) -> None:
    seen: list[str] = []

    class Picky(BaseModel):
        """A grade for an answer."""

        grade: Literal["A", "B", "C"]

        @field_validator("grade")
        @classmethod
        def second(cls, value: str) -> str:
            seen.append(value)
            if len(seen) < 2:
                raise ValueError("another one")
            return value

    made = client(server, instructor.Mode.TOOLS)
    grade = made.chat.completions.create(model="tiny", messages=ASKED, response_model=Picky, max_tokens=120, max_retries=2)
    assert len(seen) == 2 and grade.grade == seen[1]
