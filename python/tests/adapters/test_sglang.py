"""SGLang's own request classes and checks behind `juror judge --endpoint`, as `test_vllm.py`."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sglang")

import xgrammar  # noqa: E402
from checking_server import Checked, Refused, Token  # noqa: E402
from remote import FORMED, SETTINGS, TAGS, WITHOUT_FORM, answered, answered_tokens  # noqa: E402
from sglang.srt.entrypoints.openai import protocol  # noqa: E402
from sglang.srt.sampling.sampling_params import SamplingParams  # noqa: E402

VOCABULARY = 32000


def sampling(route: str, body: dict[str, Any]) -> tuple[SamplingParams, int]:
    """As SGLang's server makes them of a body, and how many of the likeliest tokens are asked for."""
    if route == "/v1/chat/completions":
        request = protocol.ChatCompletionRequest.model_validate(body)
        params = request.to_sampling_params(stop=request.stop or [], model_generation_config={})
        return SamplingParams(**params), (request.top_logprobs or 0) * bool(request.logprobs)
    asked = protocol.CompletionRequest.model_validate(body)
    # What its server's own class takes of a request, which imports all that runs a model.
    same = ("temperature", "stop", "top_p", "top_k", "min_p", "regex", "json_schema", "ebnf", "n")
    params = {key: getattr(asked, key) for key in same}
    return SamplingParams(**params, max_new_tokens=asked.max_tokens, sampling_seed=asked.seed), asked.logprobs or 0


def check(route: str, body: dict[str, Any]) -> Checked:
    """Everything between a body and SGLang's engine."""
    try:
        params, probabilities = sampling(route, body)
        params.verify(VOCABULARY)
        return Checked(grammar_of(params), probabilities)
    except (ValueError, RuntimeError) as error:
        raise Refused(str(error)) from error


def grammar_of(params: SamplingParams) -> Any:
    """The grammar that its backend compiles."""
    if params.json_schema is not None:
        return xgrammar.Grammar.from_json_schema(params.json_schema)
    if params.regex is not None:
        return xgrammar.Grammar.from_regex(params.regex)
    return None if params.ebnf is None else xgrammar.Grammar.from_ebnf(params.ebnf)


def answer(route: str, tokens: list[Token], prompt: int) -> dict[str, Any]:
    """In SGLang's own classes."""
    text = "".join(token.text for token in tokens)
    usage = protocol.UsageInfo(prompt_tokens=prompt, completion_tokens=len(tokens), total_tokens=prompt + len(tokens))
    told = any(token.likely for token in tokens)
    if route == "/v1/chat/completions":

        def logprob(kind: Any, text: str, logprob: float, **more: Any) -> Any:
            return kind(token=text, logprob=logprob, bytes=list(text.encode()), **more)

        content = [
            logprob(
                protocol.ChatCompletionTokenLogprob,
                token.text,
                token.likely.get(token.text, 0.0),
                top_logprobs=[logprob(protocol.TopLogprob, *one) for one in token.likely.items()],
            )
            for token in tokens
        ]
        choice = protocol.ChatCompletionResponseChoice(
            index=0,
            message=protocol.ChatMessage(role="assistant", content=text),
            logprobs=protocol.ChoiceLogprobs(content=content) if told else None,
            finish_reason="stop",
        )
        whole = protocol.ChatCompletionResponse(id="1", model="judge", choices=[choice], usage=usage)
        return whole.model_dump(mode="json")
    logprobs = protocol.LogProbs(
        text_offset=[0] * len(tokens),
        tokens=[token.text for token in tokens],
        token_logprobs=[token.likely.get(token.text, 0.0) for token in tokens],
        top_logprobs=[token.likely for token in tokens],
    )
    one = protocol.CompletionResponseChoice(
        index=0, text=text, finish_reason="stop", logprobs=logprobs if told else None
    )
    return protocol.CompletionResponse(id="1", model="judge", choices=[one], usage=usage).model_dump(mode="json")


@pytest.mark.parametrize("judge", FORMED)
def test_forms_are_taken_and_answers_are_read(judge: str, tmp_path: Path) -> None:
    server, verdicts = answered(check, answer, tmp_path, *FORMED[judge])
    assert "kept to their form by `regex`" in server.said
    bodies = server.judging()
    key = "response_format" if "json" in judge else "regex"
    assert bodies and all(key in body for body in bodies)
    if "soft" in FORMED[judge]:
        assert all(0 < verdict["reward"] < 1 for verdict in verdicts)


@pytest.mark.parametrize("judge", WITHOUT_FORM)
def test_an_analysis_is_free(judge: str, tmp_path: Path) -> None:
    answered(check, answer, tmp_path, "--protocol", judge, free=WITHOUT_FORM[judge])


@pytest.mark.parametrize("settings", SETTINGS)
def test_settings_reach_the_sampling(settings: tuple[str, ...], tmp_path: Path) -> None:
    server, verdicts = answered(check, answer, tmp_path, *settings, free=TAGS)
    taken = [sampling("/v1/chat/completions", body)[0] for body in server.judging()]
    if "--temperature" in settings:
        assert {(one.temperature, one.top_p, one.top_k, one.min_p) for one in taken} == {(0.7, 0.9, 20, 0.05)}
        seeds = {one.sampling_seed for one in taken}
        assert None not in seeds and len(seeds) == 2 * len({verdict["id"] for verdict in verdicts})
    if "--free" in settings:
        assert {one.max_new_tokens for one in taken} == {100} and all(one.regex is None for one in taken)


@pytest.mark.parametrize("options", [(), ("--temperature", "0.7", "--reward", "soft"), ("--protocol", "general-verifier")])
def test_prompts_are_taken_as_tokens(options: tuple[str, ...], tmp_path: Path) -> None:
    answered_tokens(check, answer, tmp_path, options)


def test_what_is_too_much_is_refused() -> None:
    """The checks do refuse."""
    body = {"model": "judge", "messages": [{"role": "user", "content": "?"}], "max_tokens": 9}
    for wrong in ({"temperature": -1}, {"top_p": 0}, {"seed": "x"}, {"regex": "("}):
        with pytest.raises(Refused):
            check("/v1/chat/completions", {**body, **wrong})
