"""vLLM's own request classes and checks behind `juror judge --endpoint`: what is sent is taken, and what xgrammar makes of the
forms is read. Its models take no part: grammars write the answers."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json


from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("vllm")

import xgrammar  # noqa: E402
from checking_server import Checked, Refused, Token, checking_server  # noqa: E402
from remote import FORMED, SETTINGS, TAGS, WITHOUT_FORM, answered, answered_tokens, judged, tokenizer  # noqa: E402
from vllm.sampling_params import SamplingParams  # noqa: E402
from vllm.v1.structured_output.utils import choice_as_grammar  # noqa: E402

try:
    from vllm.entrypoints.openai.chat_completion import protocol as chat
    from vllm.entrypoints.openai.completion import protocol as completions
    from vllm.entrypoints.serve.engine.protocol import UsageInfo
except ImportError:
    # Before 0.15 they were in one file.
    from vllm.entrypoints.openai import protocol as chat  # type: ignore[no-redef]

    completions = chat
    UsageInfo = chat.UsageInfo

try:
    from vllm.exceptions import VLLMValidationError
except ImportError:
    VLLMValidationError = ValueError

REFUSALS = (ValueError, VLLMValidationError)
IS_OLD = not hasattr(SamplingParams, "verify")
"""Before 0.12 forms were asked for by `guided_…`."""

KEY = "guided_" if IS_OLD else "structured_outputs"
BACKENDS = ("auto", "xgrammar", "guidance", "outlines")


def sampling(route: str, body: dict[str, Any]) -> SamplingParams:
    """As vLLM's server makes them of a body."""
    kind = chat.ChatCompletionRequest if route == "/v1/chat/completions" else completions.CompletionRequest
    request = kind.model_validate(body)
    most = getattr(request, "max_completion_tokens", None) or request.max_tokens
    assert most is not None
    return request.to_sampling_params(most, None, {}) if IS_OLD else request.to_sampling_params(most, {})


def form(params: SamplingParams) -> Any:
    return params.guided_decoding if IS_OLD else params.structured_outputs


def verify(params: SamplingParams, backend: str) -> None:
    """What vLLM's engine checks before it takes a request, with its default of 20 likeliest tokens."""
    model = SimpleNamespace(
        max_logprobs=20, is_diffusion=False, skip_tokenizer_init=False, get_vocab_size=lambda: 32000, max_model_len=32768
    )
    if not IS_OLD:
        from vllm.config.structured_outputs import StructuredOutputsConfig

        return params.verify(model, None, StructuredOutputsConfig(backend=backend), TOKENIZER)
    from vllm.v1.engine.processor import Processor

    processor = SimpleNamespace(model_config=model, decoding_config=SimpleNamespace(backend=backend))
    Processor._validate_logprobs(processor, params)
    return Processor._validate_structured_output(processor, params)


def check(route: str, body: dict[str, Any], backend: str = "auto") -> Checked:
    """Everything between a body and vLLM's engine."""
    try:
        params = sampling(route, body)
        verify(params, backend)
    except REFUSALS as error:
        raise Refused(str(error)) from error
    return Checked(grammar_of(form(params)), params.logprobs or 0)


def grammar_of(asked: Any) -> Any:
    """The grammar that vLLM's own backend would compile."""
    if asked is None:
        return None
    if asked.json is not None:
        schema = asked.json if isinstance(asked.json, str) else json.dumps(asked.json)
        return xgrammar.Grammar.from_json_schema(schema)
    if asked.regex is not None:
        return xgrammar.Grammar.from_regex(asked.regex)
    # Some of its backends leave a choice as it is.
    return xgrammar.Grammar.from_ebnf(asked.grammar or choice_as_grammar(asked.choice))


def answer(route: str, tokens: list[Token], prompt: int) -> dict[str, Any]:
    """In vLLM's own classes."""
    text = "".join(token.text for token in tokens)
    usage = UsageInfo(prompt_tokens=prompt, completion_tokens=len(tokens), total_tokens=prompt + len(tokens))
    told = any(token.likely for token in tokens)
    if route == "/v1/chat/completions":

        def logprob(kind: Any, text: str, logprob: float, **more: Any) -> Any:
            return kind(token=text, logprob=logprob, bytes=list(text.encode()), **more)

        content = [
            logprob(
                chat.ChatCompletionLogProbsContent,
                token.text,
                token.likely.get(token.text, 0.0),
                top_logprobs=[logprob(chat.ChatCompletionLogProb, *one) for one in token.likely.items()],
            )
            for token in tokens
        ]
        choice = chat.ChatCompletionResponseChoice(
            index=0,
            message=chat.ChatMessage(role="assistant", content=text),
            logprobs=chat.ChatCompletionLogProbs(content=content) if told else None,
        )
        return chat.ChatCompletionResponse(model="judge", choices=[choice], usage=usage).model_dump(mode="json")
    logprobs = completions.CompletionLogProbs(
        text_offset=[0] * len(tokens),
        tokens=[token.text for token in tokens],
        token_logprobs=[token.likely.get(token.text, 0.0) for token in tokens],
        top_logprobs=[token.likely for token in tokens],
    )
    one = completions.CompletionResponseChoice(
        index=0, text=text, finish_reason="stop", logprobs=logprobs if told else None
    )
    return completions.CompletionResponse(model="judge", choices=[one], usage=usage).model_dump(mode="json")


TOKENIZER = tokenizer()


@pytest.mark.parametrize("judge", FORMED)
@pytest.mark.parametrize("backend", BACKENDS)
def test_forms_are_taken_and_answers_are_read(judge: str, backend: str, tmp_path: Path) -> None:
    server, verdicts = answered(partial(check, backend=backend), answer, tmp_path, *FORMED[judge])
    assert KEY in server.said
    bodies = server.judging()
    assert bodies and all(any(key.startswith(KEY) for key in body) for body in bodies)
    if "soft" in FORMED[judge]:
        assert all(0 < verdict["reward"] < 1 for verdict in verdicts), verdicts


@pytest.mark.parametrize("judge", WITHOUT_FORM)
def test_an_analysis_is_free(judge: str, tmp_path: Path) -> None:
    answered(check, answer, tmp_path, "--protocol", judge, free=WITHOUT_FORM[judge])


@pytest.mark.parametrize("settings", SETTINGS)
def test_settings_reach_the_sampling(settings: tuple[str, ...], tmp_path: Path) -> None:
    server, verdicts = answered(check, answer, tmp_path, *settings, free=TAGS)
    taken = [sampling("/v1/chat/completions", body) for body in server.judging()]
    if "--temperature" in settings:
        assert {(one.temperature, one.top_p, one.top_k, one.min_p) for one in taken} == {(0.7, 0.9, 20, 0.05)}
        seeds = {one.seed for one in taken}
        assert None not in seeds and len(seeds) == 2 * len({verdict["id"] for verdict in verdicts})
    if "--free" in settings:
        assert {one.max_tokens for one in taken} == {100} and all(form(one) is None for one in taken)


@pytest.mark.parametrize("options", [(), ("--temperature", "0.7", "--reward", "soft"), ("--protocol", "general-verifier")])
def test_prompts_are_taken_as_tokens(options: tuple[str, ...], tmp_path: Path) -> None:
    answered_tokens(check, answer, tmp_path, options)


@pytest.mark.parametrize("judge", ["prime", "answer-json", "compass"])
def test_no_key_for_forms_is_an_error(judge: str, tmp_path: Path) -> None:
    """Where a form is not kept to, the next key is tried: vLLM takes those of other engines and leaves them alone."""

    def forgetful(route: str, body: dict[str, Any]) -> Checked:
        checked = check(route, body)
        return Checked(probabilities=checked.probabilities)

    free = {"prime": TAGS, "answer-json": '{"verdict": "correct", "model_answer": "17"}', "compass": "A"}[judge]
    with checking_server(forgetful, answer, free) as server:
        verdicts = judged(server, tmp_path, *FORMED[judge])
    assert not server.refused() and "free text" in server.said
    keys = {key for _, body, _ in server.asked for key in body}
    assert {"structured_outputs", "response_format"} <= keys or judge != "answer-json"
    assert {"structured_outputs", "regex"} <= keys or judge == "answer-json"
    assert {verdict["status"] for verdict in verdicts} == {"ok"}, verdicts


def test_what_is_too_much_is_refused(tmp_path: Path) -> None:
    """The checks do refuse."""
    body = {"model": "judge", "messages": [{"role": "user", "content": "?"}], "max_tokens": 9}
    for wrong in ({"top_logprobs": 21, "logprobs": True}, {"temperature": -1}, {"top_p": 0}, {"seed": "x"}):
        with pytest.raises(Refused):
            check("/v1/chat/completions", {**body, **wrong})
    key = "guided_regex" if IS_OLD else "structured_outputs"
    for pattern in ("(", "[a"):
        with pytest.raises(Refused):
            check("/v1/chat/completions", {**body, key: pattern if IS_OLD else {"regex": pattern}}, "xgrammar")
