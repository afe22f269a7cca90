"""slime's own `remote_rm` against `/reward`. It is not on PyPI: `SLIME_SOURCE` names a folder with its source."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
import os
import sys
from types import SimpleNamespace
from typing import Any

import pytest

if "SLIME_SOURCE" not in os.environ:
    pytest.skip("SLIME_SOURCE names no folder with slime's source", allow_module_level=True)
sys.path.insert(0, os.environ["SLIME_SOURCE"])
rm_hub = pytest.importorskip("slime.rollout.rm_hub")

from shared import HOSTILE, OUTSIDE  # noqa: E402
from slime.utils.types import Sample  # noqa: E402


def arguments(url: str) -> Any:
    return SimpleNamespace(
        rm_type="remote_rm", rm_url=f"{url}/reward", reward_key="reward", custom_rm_path=None, group_rm=False
    )


def rewarded(url: str, samples: list[Any]) -> list[Any]:
    """What slime's rollout does: all samples at once, each answer into its sample."""

    async def run() -> None:
        try:
            for sample, reward in zip(samples, await rm_hub.batched_async_rm(arguments(url), samples), strict=True):
                sample.reward = reward
        finally:
            # It is of this loop alone, also where the server is down.
            await rm_hub._get_shared_session().close()

    asyncio.run(run())
    return [sample.get_reward_value(arguments(url)) for sample in samples]


def test_rewards_are_those_of_juror_judge(
    server: str, rows: list[dict[str, Any]], offline: list[dict[str, Any]]
) -> None:
    samples = [
        Sample(prompt=row["question"], response=row["student_answer"], label=row["reference_answer"]) for row in rows
    ]
    assert rewarded(server, samples) == [verdict["reward"] for verdict in offline]
    assert [sample.reward["process"] for sample in samples] == [float(verdict["process"]) for verdict in offline]
    assert {sample.reward["status"] for sample in samples} == {"ok"}


@pytest.mark.parametrize("form", ["messages", "template"])
def test_prompts_may_be_messages_or_a_chat_template(
    server: str, rows: list[dict[str, Any]], offline: list[dict[str, Any]], form: str
) -> None:
    def prompt(question: str) -> Any:
        if form == "messages":
            return [{"role": "user", "content": question}]
        return f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"

    samples = [
        Sample(prompt=prompt(row["question"]), response=row["student_answer"] + "<|im_end|>", label=row["reference_answer"])
        for row in rows
    ]
    assert rewarded(server, samples) == [verdict["reward"] for verdict in offline]


def test_a_failed_judge_is_zero_and_its_status_says_why(lenient_server: str) -> None:
    sample = Sample(prompt=OUTSIDE, response="It is Liouville's theorem.", label="true")
    assert rewarded(lenient_server, [sample]) == [0.0]
    assert sample.reward["status"] == "out_of_domain"


def test_without_a_failure_reward_a_failed_judge_has_none(server: str) -> None:
    assert rewarded(server, [Sample(prompt=OUTSIDE, response="It is Liouville's theorem.", label="true")]) == [None]


def test_hostile_text_earns_nothing(server: str, rows: list[dict[str, Any]]) -> None:
    row = rows[0]
    assert rewarded(server, [Sample(prompt=row["question"], response=HOSTILE, label=row["reference_answer"])]) == [0.0]


def test_a_server_that_is_down_stops_the_rollout(monkeypatch: pytest.MonkeyPatch) -> None:
    async def at_once(_: float) -> None:
        """The pause between tries."""

    monkeypatch.setattr(rm_hub.asyncio, "sleep", at_once)
    with pytest.raises(Exception, match="Cannot connect"):
        rewarded("http://127.0.0.1:9", [Sample(prompt="1 + 1?", response="2", label="2")])


def test_the_rules_reward_without_a_model(
    rules_server: str, rows: list[dict[str, Any]], by_rules: list[float | None]
) -> None:
    samples = [
        Sample(prompt=row["question"], response=row["student_answer"], label=row["reference_answer"]) for row in rows
    ]
    assert rewarded(rules_server, samples) == [reward or 0.0 for reward in by_rules]
    assert [sample.reward["judge_ok"] for sample in samples] == [int(reward is not None) for reward in by_rules]
