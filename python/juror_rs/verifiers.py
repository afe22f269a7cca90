"""A reward for verifiers (0.4: `verifiers.v1`).

In a task of your own:

```python
import verifiers.v1 as vf
from juror_rs.verifiers import judge

class MyTask(vf.Task[MyData, vf.State]):
    @vf.reward
    async def juror(self, trace: vf.Trace) -> float:
        return await judge(self.data, trace, reference=self.data.answer)
```

or plugged into any taskset whose tasks have an `answer`, without code: `--env.taskset.task.rewards.juror.fn juror_rs.verifiers:reward`
and the server's address in `JUROR_URL`.

A rollout without a verdict raises `JudgeError`: verifiers records it as the trace's error, its reward stays unset, and it is tried
again as `retries` says. `judge_process` and `judge_outcome` are recorded as metrics.
"""

# mypy: disable-error-code="import-untyped,import-not-found,misc,no-any-return"
# pyright: basic, reportMissingImports=false
# The framework has no types, or is not installed where these are checked.

from __future__ import annotations

import asyncio
from typing import Any

import verifiers.v1 as vf

from juror_rs import JudgeError, _judges, _messages

__all__ = ["judge", "reward"]


async def judge(
    task: vf.TaskData,
    trace: vf.Trace[Any, Any],
    *,
    reference: str | list[str],
    question: str | None = None,
    **settings: Any,
) -> float:
    """The reward of a rollout's last reply.

    Args:
        task: The task's data; its prompt is the question, if `question` is not given.
        trace: The rollout.
        reference: The reference answer, or several that are all right.
        question: What was asked.
        settings: Of `juror_rs.Judge`.

    Raises:
        JudgeError: If there is no verdict.
    """
    asked = question if question is not None else _messages.question(task.prompt)
    sample = {"question": asked, "reference": reference, "response": trace.last_reply}
    judging = await asyncio.to_thread(_judges.judge_with, settings)  # A server takes minutes to start.
    (verdict,) = await judging.ajudge([sample], progress=False, skip_bad=True)
    if verdict.reward is None:
        raise JudgeError(f"no verdict: {verdict.status}" + (f": {verdict.error}" if verdict.error else ""))
    for key, value in (("judge_process", verdict.process), ("judge_outcome", verdict.outcome)):
        if value is not None:
            trace.record_metric(key, float(value))
    return verdict.reward


async def reward(task: vf.TaskData, trace: vf.Trace[Any, Any]) -> float:
    """`judge` with the reference in the task's field `answer`, for a taskset's configuration."""
    reference: str | list[str] | None = getattr(task, "answer", None)
    if reference is None:
        raise ValueError("the task has no field `answer`: call juror_rs.verifiers.judge with reference= in a reward of its own")
    return await judge(task, trace, reference=reference)
