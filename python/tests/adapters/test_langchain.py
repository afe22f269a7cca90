"""LangChain's client of OpenAI's API against `juror serve`: structured answers, by tools and by schemas."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from typing import Any, Literal

import pytest

langchain = pytest.importorskip("langchain_openai")

from pydantic import BaseModel, Field  # noqa: E402


class Grade(BaseModel):
    """A grade for an answer."""

    grade: Literal["A", "B", "C"]
    points: int = Field(ge=0, le=10)


class Note(BaseModel):
    """A note to the author."""

    text: Literal["fine", "poor"]


@pytest.fixture
def chat(server: str) -> Any:
    return langchain.ChatOpenAI(model="tiny", base_url=f"{server}/v1", api_key="any", max_retries=0, max_tokens=80, temperature=0)


@pytest.mark.parametrize("method", ["function_calling", "json_schema"])
def test_answers_are_of_the_schema(chat: Any, method: str) -> None:
    grade = chat.with_structured_output(Grade, method=method).invoke("3 + 4 = 7. Which grade?")
    assert isinstance(grade, Grade)


def test_one_of_several_tools_is_called(chat: Any) -> None:
    message = chat.bind_tools([Grade, Note], tool_choice="any").invoke("3 + 4 = 7. Grade it.")
    (call,) = message.tool_calls
    assert {"Grade": Grade, "Note": Note}[call["name"]].model_validate(call["args"])
    # The call goes back with its result.
    answered = [("user", "Grade it."), message, {"role": "tool", "tool_call_id": call["id"], "content": "done"}]
    assert chat.bind_tools([Grade], tool_choice="Grade").invoke(answered).tool_calls


def test_a_call_is_streamed(chat: Any) -> None:
    chunks = list(chat.bind_tools([Grade], tool_choice="Grade").stream("Grade it."))
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    assert Grade.model_validate(whole.tool_calls[0]["args"])


def test_what_is_left_to_the_model_is_refused_with_a_way_out(chat: Any) -> None:
    with pytest.raises(Exception, match="function_calling"):
        chat.bind_tools([Grade]).invoke("Grade it.")
