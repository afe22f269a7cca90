"""A reward function for TRL's GRPO, RLOO and OnlineDPO trainers.

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

A completion without a verdict has the reward `None`. Where this is the only reward of GRPO, TRL leaves it out of the mean of its group,
and it moves nothing. Where TRL adds several rewards, and in OnlineDPO, it counts `None` as 0: `fallback="rules"` has the rules
decide what the judge could not.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Literal

from juror_rs import Judge, _messages, tables
from juror_rs.rules import verify_batch

__all__ = ["JurorReward"]


class JurorReward:
    """Rewards of completions, one for each; `None` if the judge gave no readable verdict.

    Args:
        reference: The dataset's column with the reference answers (texts, or lists of right answers).
        question: The column with the questions; the last turn of the user in `prompt`, with the turns before it, if not given.
        fallback: With `"rules"`, a completion without a verdict has the reward 1.0 if the rule-based verifier finds its answer
            equal to the reference, and 0.0 if not; where that cannot tell, or the question could not be read, still `None`.
        name: What the reward is called in TRL's logs, `rewards/NAME/mean`.
        settings: For `juror_rs.Judge`: `url` of a running server, or `model`, `device`, `protocol`, `cache` of one to start.

    TRL logs `NAME/judge_ok`, the share of completions with a verdict, `NAME/process` and `NAME/outcome`, and beside each
    completion its `NAME_status`; versions before 1.0 log the reward alone.

    It is no coroutine: trainers that do not await rewards call it too, as OnlineDPO's.

    Raises:
        JudgeError: If no server answers at `url`, or none can be started.
        TypeError, ValueError: If settings are none of `juror_rs.Judge`.
        RuntimeError: In a run of several processes without `url` or `JUROR_URL`: each would load a judge of its own.
    """

    def __init__(
        self,
        reference: str = "answer",
        *,
        question: str | None = None,
        fallback: Literal["rules"] | None = None,
        name: str = "juror",
        **settings: Any,
    ) -> None:
        if fallback not in (None, "rules"):
            raise ValueError(f"fallback is {fallback!r}: it may be 'rules' or None")
        processes = int(os.environ.get("WORLD_SIZE", "1"))
        if processes > 1 and not (settings.get("url") or os.environ.get("JUROR_URL")):
            raise RuntimeError(
                f"this run has {processes} processes, and each would load a judge of its own: start one with "
                "`juror serve` and give its address as url= or in JUROR_URL"
            )
        self.__name__ = name
        self._reference = reference
        self._question = question
        self._fallback = fallback
        self._settings = settings
        # What is wrong with it is said now, and not after the first completions.
        self._judge: Judge | None = Judge(**settings)

    def __call__(
        self,
        *,
        prompts: Sequence[object],
        completions: Sequence[object],
        log_metric: Callable[[str, float], None] | None = None,
        log_extra: Callable[[str, list[Any]], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        for what, column in (("reference", self._reference), ("question", self._question)):
            if column is not None and column not in columns:
                raise KeyError(f"the dataset has no column {column!r}: name the column with {what}=")
        asked = prompts if self._question is None else columns[self._question]
        samples = [
            {"question": _messages.question(prompt), "reference": reference, "response": _messages.response(completion)}
            for prompt, reference, completion in zip(asked, columns[self._reference], completions, strict=True)
        ]
        if self._judge is None:
            self._judge = Judge(**self._settings)
        verdicts = self._judge.judge(samples, progress=False, skip_bad=True)
        rewards = [verdict.reward for verdict in verdicts]
        if self._fallback == "rules":
            _decide_by_rules(rewards, samples)
        name = self.__name__
        if log_extra is not None:
            log_extra(f"{name}_status", [verdict.status for verdict in verdicts])
        if log_metric is not None:
            log_metric(f"{name}/judge_ok", _mean([verdict.status == "ok" for verdict in verdicts]) or 0.0)
            for key in ("process", "outcome"):
                mean = _mean([getattr(verdict, key) for verdict in verdicts if verdict.status == "ok"])
                if mean is not None:
                    log_metric(f"{name}/{key}", mean)
        return rewards

    def __getstate__(self) -> dict[str, Any]:
        """Without the connection: another process opens its own."""
        return {**self.__dict__, "_judge": None}


def _decide_by_rules(rewards: list[float | None], samples: Sequence[dict[str, Any]]) -> None:
    """Fills in the rewards that the rules can tell for completions without one."""
    left = [
        place for place, reward in enumerate(rewards) if reward is None and samples[place]["question"] is not None
    ]
    pairs: list[tuple[str, str]] = []
    of: list[int] = []
    for place in left:
        reference = samples[place]["reference"]
        for one in reference if isinstance(reference, (list, tuple)) else [reference]:
            # Without a reference nothing is right or wrong.
            if not tables.is_missing(one) and str(one).strip():
                pairs.append((str(one), samples[place]["response"]))
                of.append(place)
    said: dict[int, list[bool | None]] = {}
    for place, verification in zip(of, verify_batch(pairs), strict=True):
        said.setdefault(place, []).append(verification.equal)
    for place, equal in said.items():
        # Any of several references may be meant.
        if any(equal):
            rewards[place] = 1.0
        elif None not in equal:
            rewards[place] = 0.0


def _mean(values: Sequence[bool | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
