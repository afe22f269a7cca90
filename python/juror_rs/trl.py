"""Reward functions for TRL's GRPO, RLOO and OnlineDPO trainers: of a judge, of the rules, of comparisons within a group.

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
and it moves nothing. Where TRL adds several rewards, one of weight 0 included, and in OnlineDPO, it counts `None` as 0: `fallback="rules"` has the rules
decide what the judge could not.

`RulesReward` needs no model: it compares final answers. `CompareReward` has a judge say which completions of a prompt are better.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Literal

from juror_rs import Judge, Verdict, _messages
from juror_rs._references import decide, partial_credit, references
from juror_rs.rules import Config, Profile

__all__ = ["CompareReward", "JurorReward", "RulesReward"]


class JurorReward:
    """Rewards of completions, one for each; `None` if the judge gave no readable verdict.

    Args:
        reference: The dataset's column with the reference answers (texts, or lists of right answers).
        question: The column with the questions; the last turn of the user in `prompt`, with the turns before it, if not given.
        fallback: With `"rules"`, a completion without a verdict has the reward 1.0 if the rule-based verifier finds its answer
            equal to the reference, and 0.0 if not; where that cannot tell, or the question could not be read, still `None`.
        name: What the reward is called in TRL's logs, `rewards/NAME/mean`.
        settings: For `juror_rs.Judge`: `url` of a running server, or `model`, `device`, `protocol`, `cache` of one to start.

    TRL logs `NAME/judge_ok`, the share of completions to which the judge gave a reward, `NAME/process` and `NAME/outcome`, of the
    verdicts that say it the share that say true, and beside each completion its `NAME_status`; versions before 1.0 log the reward alone.

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
        _need_one_server(settings)
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
        _need_columns(columns, reference=self._reference, question=self._question)
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
            log_metric(f"{name}/judge_ok", _mean([verdict.reward is not None for verdict in verdicts]) or 0.0)
            for key in ("process", "outcome"):
                mean = _mean([getattr(verdict, key) for verdict in verdicts if verdict.status == "ok"])
                if mean is not None:
                    log_metric(f"{name}/{key}", mean)
        return rewards

    def __getstate__(self) -> dict[str, Any]:
        """Without the connection: another process opens its own."""
        return {**self.__dict__, "_judge": None}


class RulesReward:
    """Rewards by the rules alone, without a model and without signals: 1.0 if the final answer of a completion is the reference's, 0.0 if
    not, and `None` where that cannot be told. Any thread and any process may call it.

    Args:
        reference: The dataset's column with the reference answers (texts, or lists of right answers).
        profile: How answers are found and compared: `strict`, `compat` (as Math-Verify), `gsm8k`, …
        config: Settings of `strict` and `compat`, such as `{"float_rounding": 2}`.
        parts: Partial credit: a reference of several labelled parts, `(a) …, (b) …`, gives the share of those that are right.
        undecided: The reward where the rules cannot tell. TRL counts `None` as 0 where it adds several rewards.
        name: What the reward is called in TRL's logs, `rewards/NAME/mean`.

    TRL logs `NAME/decided`, the share of completions that the rules could tell; versions before 1.0 log the reward alone.

    Raises:
        ValueError: If there is no such profile or setting, or parts are wanted under another profile than `strict`.
    """

    def __init__(
        self,
        reference: str = "answer",
        *,
        profile: Profile = "strict",
        config: Config | None = None,
        parts: bool = False,
        undecided: float | None = None,
        name: str = "rules",
    ) -> None:
        if parts and profile != "strict":
            raise ValueError(f"the profile {profile!r} knows no parts of a reference: only 'strict' does")
        self.__name__ = name
        self._reference = reference
        self._profile: Profile = profile
        self._config = config
        self._parts = parts
        self._undecided = undecided
        # What is wrong with the settings is said now.
        decide([("1", "1")], profile=profile, config=config)

    def __call__(
        self,
        *,
        completions: Sequence[object],
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        _need_columns(columns, reference=self._reference)
        given = columns[self._reference]
        responses = [_messages.response(completion) for completion in completions]
        pairs = list(zip(given, responses, strict=True))
        decisions = decide(pairs, profile=self._profile, config=self._config)
        rewards = [None if decision.equal is None else float(decision.equal) for decision in decisions]
        if self._parts:
            rewards = [
                partial_credit(reference, response, decision.equal, self._config)
                for (reference, response), decision in zip(pairs, decisions, strict=True)
            ]
        if log_metric is not None and rewards:
            log_metric(f"{self.__name__}/decided", sum(reward is not None for reward in rewards) / len(rewards))
        return [self._undecided if reward is None else reward for reward in rewards]


class CompareReward:
    """Rewards by comparison: a judge sees every two completions of a prompt in both orders, and the reward is how often one is preferred,
    from 0 to 1: the scores of `juror judge --compare`. `None` for a completion without another, or without a readable comparison.

    The completions of a prompt must come in one call: make `per_device_train_batch_size` a multiple of `num_generations`. A group of
    *n* asks the judge *n* (*n* − 1) questions.

    Args:
        reference: The column with reference answers, which the judge sees too; without it there are none.
        question: The column with the questions; the last turn of the user in `prompt`, with the turns before it, if not given.
        name: What the reward is called in TRL's logs.
        settings: For `juror_rs.Judge`: `url` of a server that was started with `--protocol pairwise`, or `model`, `device`, … of one to
            start.

    TRL logs `NAME/compared`, the share of completions with a reward, and `NAME/consistent`, the share of pairs of which both orders say
    the same.

    Raises:
        JudgeError: If no server answers at `url`, or none can be started.
        RuntimeError: In a run of several processes without `url` or `JUROR_URL`; when called, if the server does not compare.
    """

    def __init__(
        self, reference: str | None = None, *, question: str | None = None, name: str = "compare", **settings: Any
    ) -> None:
        _need_one_server(settings)
        if not (settings.get("url") or os.environ.get("JUROR_URL")):
            settings.setdefault("protocol", "pairwise")
        self.__name__ = name
        self._reference = reference
        self._question = question
        self._settings = settings
        self._judge: Judge | None = Judge(**settings)

    def __call__(
        self,
        *,
        prompts: Sequence[object],
        completions: Sequence[object],
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        _need_columns(columns, reference=self._reference, question=self._question)
        asked = prompts if self._question is None else columns[self._question]
        given = columns[self._reference] if self._reference is not None else [None] * len(completions)
        groups: dict[tuple[str | None, str], list[int]] = {}
        questions = [_messages.question(prompt) for prompt in asked]
        responses = [_messages.response(completion) for completion in completions]
        for place, (question, reference) in enumerate(zip(questions, given, strict=True)):
            groups.setdefault((question, repr(references(reference))), []).append(place)
        pairs = [(one, other) for group in groups.values() for one in group for other in group if one < other]
        rows = [
            {
                "question": questions[first],
                "reference": given[first],
                "response": responses[first],
                "other_response": responses[second],
            }
            for one, other in pairs
            for first, second in ((one, other), (other, one))
        ]
        if self._judge is None:
            self._judge = Judge(**self._settings)
        verdicts = self._judge.judge(rows, progress=False, skip_bad=True) if rows else []
        won: list[list[float]] = [[] for _ in completions]
        consistent: list[bool] = []
        for at, (one, other) in enumerate(pairs):
            there, back = (_preference(verdict) for verdict in verdicts[2 * at : 2 * at + 2])
            both = [] if there is None else [there]
            both += [] if back is None else [1.0 - back]
            if both:
                preference = sum(both) / len(both)
                won[one].append(preference)
                won[other].append(1.0 - preference)
            if len(both) == 2:
                sides = [(score > 0.5) - (score < 0.5) for score in both]
                consistent.append(sides[0] == sides[1])
        rewards = [sum(scores) / len(scores) if scores else None for scores in won]
        if log_metric is not None and rewards:
            log_metric(f"{self.__name__}/compared", sum(reward is not None for reward in rewards) / len(rewards))
            if consistent:
                log_metric(f"{self.__name__}/consistent", sum(consistent) / len(consistent))
        return rewards

    def __getstate__(self) -> dict[str, Any]:
        """Without the connection: another process opens its own."""
        return {**self.__dict__, "_judge": None}


def _preference(verdict: Verdict) -> float | None:
    """How far the first response of a row is preferred, if that could be read."""
    if verdict.status != "ok":
        return None
    score: float | None = verdict.line.get("score")
    if score is None:
        raise RuntimeError("the judge does not compare: start it with `juror serve --protocol pairwise`")
    return score


def _need_one_server(settings: dict[str, Any]) -> None:
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    if processes > 1 and not (settings.get("url") or os.environ.get("JUROR_URL")):
        raise RuntimeError(
            f"this run has {processes} processes, and each would load a judge of its own: start one with "
            "`juror serve` and give its address as url= or in JUROR_URL"
        )


def _need_columns(columns: dict[str, Any], **wanted: str | None) -> None:
    for what, column in wanted.items():
        if column is not None and column not in columns:
            raise KeyError(f"the dataset has no column {column!r}: name the column with {what}=")


def _decide_by_rules(rewards: list[float | None], samples: Sequence[dict[str, Any]]) -> None:
    """Fills in the rewards that the rules can tell for completions without one."""
    left = [
        place for place, reward in enumerate(rewards) if reward is None and samples[place]["question"] is not None
    ]
    pairs = [(samples[place]["reference"], samples[place]["response"]) for place in left]
    for place, decision in zip(left, decide(pairs), strict=True):
        rewards[place] = None if decision.equal is None else float(decision.equal)


def _mean(values: Sequence[bool | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
