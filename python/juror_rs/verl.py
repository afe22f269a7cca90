"""A reward manager for verl, in its reward loop, and functions for its `custom_reward_function`.

```sh
juror serve --model Qwen/Qwen3-8B --device cuda --port 8000
python -m verl.trainer.main_ppo … \
    reward.reward_manager.source=importlib \
    reward.reward_manager.module.path=pkg://juror_rs.verl \
    reward.reward_manager.name=JurorRewardManager \
    +reward.reward_kwargs.juror.url=http://127.0.0.1:8000
```

The question is in `raw_prompt`, the messages that verl keeps for each rollout, and the reference answer in
`reward_model.ground_truth`. verl cannot leave a sample out, so one without a verdict has the score 0.0 **and** `judge_ok` 0.
Every sample has the same keys, all of them numbers: `judge_ok`, `judge_process`, `judge_outcome`.

`compute_score` is for verl's own reward managers: the rules, and for the data sources that are named a judge.

```sh
python -m verl.trainer.main_ppo … \
    reward.custom_reward_function.path=pkg://juror_rs.verl \
    reward.custom_reward_function.name=compute_score
```
"""

# mypy: disable-error-code="import-untyped,import-not-found,misc,no-any-return"
# pyright: basic, reportMissingImports=false
# The framework has no types, or is not installed where these are checked.

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from verl.experimental.reward_loop.reward_manager.base import RewardManagerBase

from juror_rs import Judge, _messages
from juror_rs._judges import judge_with
from juror_rs._references import decide, partial_credit

if TYPE_CHECKING:
    from verl import DataProto

__all__ = ["JurorRewardManager", "compute_rules_score", "compute_score"]


class JurorRewardManager(RewardManagerBase):
    """Judges each rollout by a running server.

    Settings of `juror_rs.Judge` are read from `reward.reward_kwargs.juror`; the server's address may also be in `JUROR_URL`.

    Raises:
        RuntimeError: Without an address: verl runs `reward.num_workers` of these, and each would load a judge of its own.
    """

    def __init__(
        self,
        config: Any,
        tokenizer: Any,
        compute_score: Any = None,
        reward_router_address: str | None = None,
        reward_model_tokenizer: Any = None,
    ) -> None:
        super().__init__(config, tokenizer, compute_score)
        settings = dict((config.reward.get("reward_kwargs") or {}).get("juror") or {})
        if not (settings.get("url") or os.environ.get("JUROR_URL")):
            raise RuntimeError(
                "no address of a judge: start one with `juror serve` and set +reward.reward_kwargs.juror.url=http://HOST:PORT"
            )
        self._judge = Judge(**settings)

    async def run_single(self, data: DataProto) -> dict[str, Any]:
        """Judges one rollout; of several sequences the last, as verl's own managers do."""
        item: Any = data[-1:][0]
        fields = item.non_tensor_batch
        if "raw_prompt" not in fields:
            raise KeyError("the rollouts have no raw_prompt, which holds the question: set data.return_raw_chat=True")
        answered = await self.loop.run_in_executor(None, self._response, item)
        sample = {
            "question": _messages.question(fields["raw_prompt"]),
            "reference": _plain(fields["reward_model"]["ground_truth"]),
            "response": answered,
        }
        (verdict,) = await self._judge.ajudge([sample], progress=False, skip_bad=True)
        return {
            "reward_score": verdict.reward if verdict.reward is not None else 0.0,
            "reward_extra_info": {
                "judge_ok": float(verdict.reward is not None),
                "judge_process": float(verdict.process or False),
                "judge_outcome": float(verdict.outcome or False),
            },
        }

    def _response(self, item: Any) -> str:
        """The response's tokens as text, without padding and control tokens."""
        tokens = item.batch["responses"]
        length = int(item.batch["attention_mask"][-tokens.shape[-1] :].sum())
        tokenizer: Any = self.tokenizer
        text: str = tokenizer.decode(tokens[:length], skip_special_tokens=True)
        return text


async def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    judge: Sequence[str] = (),
    question: str = "question",
    profiles: Mapping[str, str] | None = None,
    parts: bool = False,
    settings: Mapping[str, Any] | None = None,
    **_: Any,
) -> dict[str, float]:
    """The score of a response: by the rules, or for some data sources by a judge.

    Args:
        data_source: verl's name of the data set.
        solution_str: The response.
        ground_truth: The reference answer, or a list of right ones.
        extra_info: verl's further columns; a judge needs the question in one of them.
        judge: Data sources that are judged, as names or patterns (`numina_*`); the rules score all others.
        question: The key of `extra_info` that holds the question, a text or messages.
        profiles: How the rules find and compare answers, by data source or pattern, as `{"openai/gsm8k": "gsm8k"}`; `strict` for others.
        parts: Partial credit: a reference of several labelled parts, `(a) …, (b) …`, gives the share of those that are right.
        settings: For `juror_rs.Judge`: `url` of a server, if it is not in `JUROR_URL`, `api_key`, `timeout`.

    verl passes all but the first four on from `reward.custom_reward_function.reward_kwargs`. It cannot leave a sample out: what cannot be
    told has the `score` 0.0 **and** `decided` 0. The keys are always the same: `score`, `acc`, `decided`, `judged`, `process`.

    Raises:
        KeyError: If a sample is to be judged and `extra_info` holds no question.
        RuntimeError: If there is no address of a judge.
    """
    if not _matches(data_source, judge):
        return await asyncio.to_thread(
            compute_rules_score, data_source, solution_str, ground_truth, extra_info, profiles=profiles, parts=parts
        )
    asked = (extra_info or {}).get(question)
    if asked is None:
        raise KeyError(
            f"extra_info of {data_source!r} has no {question!r}, and a judge needs the question: name its key with "
            "+reward.custom_reward_function.reward_kwargs.question=KEY"
        )
    given = dict(settings or {})
    if not (given.get("url") or os.environ.get("JUROR_URL")):
        raise RuntimeError(
            "no address of a judge: start one with `juror serve` and set JUROR_URL, or "
            "+reward.custom_reward_function.reward_kwargs.settings.url=http://HOST:PORT"
        )
    connected = await asyncio.to_thread(judge_with, given)
    sample = {"question": _messages.question(_plain(asked)), "reference": _plain(ground_truth), "response": solution_str}
    (verdict,) = await connected.ajudge([sample], progress=False, skip_bad=True)
    return _scored(verdict.reward, verdict.outcome, judged=True, process=verdict.process)


def compute_rules_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    profiles: Mapping[str, str] | None = None,
    parts: bool = False,
    **_: Any,
) -> dict[str, float]:
    """What `compute_score` gives for data sources that are not judged, as a plain function: for verl's manager `remote`, which calls it in
    processes of its own."""
    own = [profile for pattern, profile in (profiles or {}).items() if fnmatchcase(data_source, pattern)]
    profile: Any = own[0] if own else "strict"
    (decision,) = decide([(ground_truth, solution_str)], profile=profile)
    reward = None if decision.equal is None else float(decision.equal)
    if parts and profile == "strict":
        reward = partial_credit(ground_truth, solution_str, decision.equal)
    return _scored(reward, decision.equal, judged=False, process=None)


def _scored(reward: float | None, outcome: bool | None, *, judged: bool, process: bool | None) -> dict[str, float]:
    return {
        "score": reward if reward is not None else 0.0,
        "acc": float(outcome or False),
        "decided": float(reward is not None),
        "judged": float(judged),
        "process": float(process or False),
    }


def _matches(data_source: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(data_source, pattern) for pattern in ([patterns] if isinstance(patterns, str) else patterns))


def _plain(value: Any) -> Any:
    """Lists for the arrays that Parquet's lists come as."""
    return value.tolist() if hasattr(value, "tolist") else value
