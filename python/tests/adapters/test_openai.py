"""The client of OpenAI against `juror serve`, unchanged."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
from typing import Any

import pytest

openai = pytest.importorskip("openai")


@pytest.fixture
def client(server: str) -> Any:
    with openai.OpenAI(base_url=f"{server}/v1", api_key="any", max_retries=0) as client:
        yield client


ASKED = [{"role": "user", "content": "How many legs have 3 cats?"}]


def test_models_lists_the_served_name(client: Any) -> None:
    assert [model.id for model in client.models.list()] == ["tiny"]


def test_a_chat_completion_has_a_message_a_reason_and_usage(client: Any) -> None:
    done = client.chat.completions.create(model="tiny", messages=ASKED, max_tokens=8)
    choice = done.choices[0]
    assert done.object == "chat.completion" and done.model == "tiny" and choice.message.role == "assistant"
    assert choice.finish_reason in ("stop", "length")
    assert done.usage.total_tokens == done.usage.prompt_tokens + done.usage.completion_tokens
    assert done.usage.completion_tokens <= 8


def test_greedy_answers_are_the_same_again_and_streamed(client: Any) -> None:
    options: Any = {"model": "tiny", "messages": ASKED, "max_tokens": 24, "temperature": 0}
    whole = client.chat.completions.create(**options).choices[0]
    chunks = list(client.chat.completions.create(**options, stream=True, stream_options={"include_usage": True}))
    streamed = [choice for chunk in chunks for choice in chunk.choices]
    assert "".join(choice.delta.content or "" for choice in streamed) == whole.message.content
    assert [choice.finish_reason for choice in streamed if choice.finish_reason] == [whole.finish_reason]
    assert streamed[0].delta.role == "assistant"
    assert chunks[-1].choices == [] and chunks[-1].usage.completion_tokens > 0
    assert len({chunk.id for chunk in chunks}) == 1


def test_several_answers_of_one_seed_are_repeatable(client: Any) -> None:
    def draw(seed: int) -> list[str]:
        done = client.chat.completions.create(
            model="tiny", messages=ASKED, n=3, seed=seed, temperature=1.0, max_tokens=8
        )
        assert [choice.index for choice in done.choices] == [0, 1, 2]
        return [choice.message.content for choice in done.choices]

    assert draw(7) == draw(7)


def test_logprobs_are_of_the_tokens_of_the_answer(client: Any) -> None:
    done = client.chat.completions.create(
        model="tiny", messages=ASKED, max_tokens=4, temperature=0, logprobs=True, top_logprobs=3
    )
    tokens = done.choices[0].logprobs.content
    assert len(tokens) == done.usage.completion_tokens
    assert all(token.logprob <= 0 and 1 <= len(token.top_logprobs) <= 3 for token in tokens)
    assert "".join(token.token for token in tokens).startswith(done.choices[0].message.content[:1])


def test_a_json_schema_is_kept(client: Any) -> None:
    schema = {
        "type": "object",
        "properties": {"equal": {"type": "boolean"}, "grade": {"enum": ["A", "B"]}},
        "required": ["equal", "grade"],
        "additionalProperties": False,
    }
    done = client.chat.completions.create(
        model="tiny",
        messages=ASKED,
        max_tokens=64,
        response_format={"type": "json_schema", "json_schema": {"name": "verdict", "schema": schema, "strict": True}},
    )
    verdict = json.loads(done.choices[0].message.content)
    assert isinstance(verdict["equal"], bool) and verdict["grade"] in ("A", "B")


def test_a_pydantic_model_is_parsed(client: Any) -> None:
    pydantic = pytest.importorskip("pydantic")
    grade = pydantic.create_model("Grade", correct=(bool, ...))
    done = client.chat.completions.parse(model="tiny", messages=ASKED, max_tokens=64, response_format=grade)
    assert isinstance(done.choices[0].message.parsed.correct, bool)


def test_completions_take_texts_and_token_ids(client: Any) -> None:
    done = client.completions.create(model="tiny", prompt=["2 + 2 =", "3 + 3 ="], max_tokens=4, temperature=0)
    assert [choice.index for choice in done.choices] == [0, 1] and done.object == "text_completion"
    stopped = client.completions.create(model="tiny", prompt=[1, 2, 3], max_tokens=2, temperature=0)
    assert stopped.usage.prompt_tokens == 3


def test_completions_stream(client: Any) -> None:
    options: Any = {"model": "tiny", "prompt": "2 + 2 =", "max_tokens": 8, "temperature": 0}
    whole = client.completions.create(**options).choices[0].text
    assert "".join(chunk.choices[0].text for chunk in client.completions.create(**options, stream=True)) == whole


@pytest.mark.parametrize(
    "options",
    [
        {"n": 1, "presence_penalty": 0, "frequency_penalty": 0, "logit_bias": {}, "logprobs": False},
        {"stop": [], "user": "someone", "parallel_tool_calls": True, "tools": [], "tool_choice": "none"},
        {"seed": None, "stop": None, "response_format": {"type": "text"}, "store": False, "metadata": {}},
    ],
)
def test_parameters_that_ask_for_nothing_are_taken(client: Any, options: dict[str, Any]) -> None:
    assert client.chat.completions.create(model="tiny", messages=ASKED, max_tokens=1, **options).choices


def test_an_unknown_parameter_is_refused_by_name(client: Any) -> None:
    with pytest.raises(openai.BadRequestError) as error:
        client.chat.completions.create(model="tiny", messages=ASKED, extra_body={"best_guess": 1})
    assert "best_guess" in error.value.message and error.value.param == "best_guess"


def test_an_unknown_model_is_not_found(client: Any) -> None:
    with pytest.raises(openai.NotFoundError) as error:
        client.chat.completions.create(model="gpt-6", messages=ASKED)
    assert "gpt-6" in error.value.message and "tiny" in error.value.message


def test_a_prompt_that_is_too_long_has_the_code_that_clients_know(client: Any) -> None:
    with pytest.raises(openai.BadRequestError) as error:
        client.chat.completions.create(model="tiny", messages=[{"role": "user", "content": "1 " * 50_000}])
    assert error.value.code == "context_length_exceeded"


def test_a_key_is_checked(tmp_path: Any) -> None:
    from shared import serve, stop

    (tmp_path / "key").write_text("s3cret\n")
    process, url = serve("--api-key-file", str(tmp_path / "key"))
    try:
        with openai.OpenAI(base_url=f"{url}/v1", api_key="wrong", max_retries=0) as client:
            with pytest.raises(openai.AuthenticationError):
                client.models.list()
        with openai.OpenAI(base_url=f"{url}/v1", api_key="s3cret", max_retries=0) as client:
            assert [model.id for model in client.models.list()] == ["tiny"]
    finally:
        stop(process)
