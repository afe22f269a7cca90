"""A reward function for TRL's GRPO and RLOO trainers.

```python
from juror_rs.trl import JurorReward
from trl import GRPOConfig, GRPOTrainer

trainer = GRPOTrainer(
    model="Qwen/Qwen3-0.6B",
    reward_funcs=JurorReward(url="http://127.0.0.1:8000", reference="answer"),
    args=GRPOConfig(),
    train_dataset=dataset,  # with the columns `prompt` and `answer`
)
trainer.train()
```

A completion without a verdict has the reward `None`: TRL leaves it out of the mean of its group, and it moves nothing.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from typing import Any

from juror_rs import Judge, _messages

__all__ = ["JurorReward"]


class JurorReward:
    """Rewards of completions, one for each; `None` where the judge gave no verdict that can be read.

    Args:
        reference: The dataset's column with the reference answers (texts, or lists of right answers).
        question: The column with the questions; the last turn of the user in `prompt` if not given.
        name: What the reward is called in TRL's logs, `rewards/NAME/mean`.
        settings: For `juror_rs.Judge`: `url` of a running server, or `model`, `device`, `protocol`, `cache` of one to start.

    TRL logs `NAME/judge_ok`, the share of completions with a verdict, `NAME/process` and `NAME/outcome`, and beside each
    completion its `NAME_status`.

    Raises:
        RuntimeError: In a run of several processes without `url` or `JUROR_URL`: each would load a judge of its own.
    """

    def __init__(
        self, reference: str = "answer", *, question: str | None = None, name: str = "juror", **settings: Any
    ) -> None:
        processes = int(os.environ.get("WORLD_SIZE", "1"))
        if processes > 1 and not (settings.get("url") or os.environ.get("JUROR_URL")):
            raise RuntimeError(
                f"this run has {processes} processes, and each would load a judge of its own: start one with "
                "`juror serve` and give its address as url= or in JUROR_URL"
            )
        self.__name__ = name
        self._reference = reference
        self._question = question
        self._settings = settings
        self._judge: Judge | None = None

    async def __call__(
        self,
        *,
        prompts: Sequence[object],
        completions: Sequence[object],
        log_metric: Callable[[str, float], None] | None = None,
        log_extra: Callable[[str, list[Any]], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        if self._reference not in columns:
            raise KeyError(
                f"the dataset has no column {self._reference!r} of reference answers: name it with reference="
            )
        asked = prompts if self._question is None else columns[self._question]
        samples = [
            {"question": _messages.question(prompt), "reference": reference, "response": _messages.response(completion)}
            for prompt, reference, completion in zip(asked, columns[self._reference], completions, strict=True)
        ]
        if self._judge is None:
            # A server may take minutes to load its judge.
            self._judge = await asyncio.to_thread(lambda: Judge(**self._settings))
        verdicts = await self._judge.ajudge(samples, progress=False, skip_bad=True)
        name = self.__name__
        if log_extra is not None:
            log_extra(f"{name}_status", [verdict.status for verdict in verdicts])
        if log_metric is not None:
            log_metric(f"{name}/judge_ok", _mean([verdict.status == "ok" for verdict in verdicts]) or 0.0)
            for key in ("process", "outcome"):
                mean = _mean([getattr(verdict, key) for verdict in verdicts if verdict.status == "ok"])
                if mean is not None:
                    log_metric(f"{name}/{key}", mean)
        return [verdict.reward for verdict in verdicts]

    def __getstate__(self) -> dict[str, Any]:
        """Without the connection: another process opens its own."""
        return {**self.__dict__, "_judge": None}


def _mean(values: Sequence[bool | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
