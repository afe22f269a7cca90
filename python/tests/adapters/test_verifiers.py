"""verifiers' own scoring of a rollout, with the reward of `juror_rs.verifiers`."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
from typing import Any

import pytest

vf = pytest.importorskip("verifiers.v1")

from shared import OUTSIDE  # noqa: E402

from juror_rs.verifiers import judge  # noqa: E402


class Data(vf.TaskData):
    """A row."""

    answer: str


class Decorated(vf.Task[Data, vf.State]):
    """A task with the reward in code."""

    @vf.reward
    async def juror(self, trace: Any) -> float:
        """The judge's reward."""
        return await judge(self.data, trace, reference=self.data.answer)


class Plain(vf.Task[Data, vf.State]):
    """A task without a reward."""


def scored(task: Any, response: str) -> Any:
    """The trace of a rollout that ended with `response`, scored as `Rollout` and `replay` do."""
    trace = vf.Trace(task=vf.TraceTask(type=type(task).__name__, data=task.data), agent=vf.AgentInfo(config=vf.AgentConfig()))
    trace.root_reply = response
    try:
        asyncio.run(task.score(trace))
    except Exception as error:
        trace.record_error(error)
    return trace


def test_rewards_are_those_of_juror_judge(
    judge_url: str, rows: list[dict[str, Any]], offline: list[dict[str, Any]]
) -> None:
    for row, verdict in zip(rows, offline, strict=True):
        trace = scored(Decorated(Data(prompt=row["question"], answer=row["reference_answer"])), row["student_answer"])
        assert trace.reward == verdict["reward"]
        assert trace.metrics["judge_process"] == float(verdict["process"])


def test_the_reward_is_plugged_by_configuration(judge_url: str, rows: list[dict[str, Any]]) -> None:
    config = vf.TaskConfig.model_validate({"rewards": {"juror": {"fn": "juror_rs.verifiers:reward", "weight": 0.5}}})
    row = rows[0]
    trace = scored(Plain(Data(prompt=row["question"], answer=row["reference_answer"]), config), row["student_answer"])
    assert trace.reward == 0.5 and trace.rewards["juror"].score == 1.0


def test_what_has_no_verdict_is_an_error_and_not_a_zero(judge_url: str) -> None:
    trace = scored(Decorated(Data(prompt=OUTSIDE, answer="true")), "Liouville.")
    assert trace.rewards["juror"] is None and "out_of_domain" in trace.last_error.message


def test_a_task_without_an_answer_is_told(judge_url: str) -> None:
    config = vf.TaskConfig.model_validate({"rewards": {"juror": {"fn": "juror_rs.verifiers:reward"}}})
    trace = scored(vf.Task(vf.TaskData(prompt="1 + 1?"), config), "2")
    assert "no field `answer`" in trace.last_error.message


def test_settings_may_be_lists(judge_url: str, rows: list[dict[str, Any]]) -> None:
    class Listed(vf.Task[Data, vf.State]):
        @vf.reward
        async def juror(self, trace: Any) -> float:
            return await judge(self.data, trace, reference=[self.data.answer], arguments=[])

    row = rows[0]
    assert scored(Listed(Data(prompt=row["question"], answer=row["reference_answer"])), row["student_answer"]).reward == 1.0
