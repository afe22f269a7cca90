"""A resources server for NeMo Gym.

`resources_servers/juror/app.py` of your checkout:

```python
from juror_rs.nemo_gym import JurorResourcesServer

if __name__ == "__main__":
    JurorResourcesServer.run_webserver()
```

A rollout without a verdict has `mask_sample`, so it counts nowhere, and a `failure_kind`: `judge_unparseable` where the judge's
text cannot be read, `judge_failed` for everything else. Where the judge cannot be reached, the row goes to NeMo Gym's file of
failures and can be run again.

`LibraryJudgeResourcesServer` has the rows, the answers and the metrics of NeMo Gym's own `math_with_judge`: the rules in the place of its
library, without processes that are killed, and a judge where they cannot tell.
"""

# mypy: disable-error-code="import-untyped,import-not-found,misc,no-any-return,override,unused-ignore"
# pyright: basic, reportMissingImports=false
# The framework has no types, or is not installed where these are checked.

from __future__ import annotations

import asyncio
from typing import Any

from nemo_gym.base_resources_server import (
    BaseResourcesServerConfig,
    BaseVerifyRequest,
    BaseVerifyResponse,
    SimpleResourcesServer,
)
from nemo_gym.judge import JudgeError as NemoJudgeError
from nemo_gym.reward_profile import compute_pass_majority_metrics, highest_k_metrics
from pydantic import ConfigDict, Field, PrivateAttr

from juror_rs import Judge, JudgeError, Verdict, _messages
from juror_rs._references import decide
from juror_rs.rules import Profile

__all__ = [
    "JurorResourcesServer",
    "JurorResourcesServerConfig",
    "JurorVerifyRequest",
    "JurorVerifyResponse",
    "LibraryJudgeResourcesServer",
    "LibraryJudgeResourcesServerConfig",
    "LibraryJudgeVerifyResponse",
]


class JurorResourcesServerConfig(BaseResourcesServerConfig):
    """The settings that the server's YAML may have in addition to the usual ones."""

    juror: dict[str, Any] = Field(default_factory=dict)
    """Settings of `juror_rs.Judge`: `url` of a running server, or `model`, `device`, `protocol`, `cache` of one to start."""


class JurorVerifyRequest(BaseVerifyRequest):
    """A rollout and its reference answer."""

    model_config = ConfigDict(extra="allow")

    expected_answer: str | list[str]
    """The reference answer, or several that are all right."""
    question: str | None = None
    """What was asked; without it, the last turn of the user in `responses_create_params.input`, with the turns before it."""


class JurorVerifyResponse(BaseVerifyResponse):
    """The rollout, its reward and its verdict."""

    model_config = ConfigDict(extra="allow")

    judge_status: str
    process: bool | None
    outcome: bool | None
    perfect: bool | None


class JurorResourcesServer(SimpleResourcesServer):
    """Rewards of rollouts by a judge."""

    config: JurorResourcesServerConfig
    _judge: Judge | None = PrivateAttr(default=None)
    _starting: asyncio.Lock = PrivateAttr(default_factory=asyncio.Lock)

    async def verify(self, body: JurorVerifyRequest) -> JurorVerifyResponse:
        """Judges one rollout."""
        verdict = await self._judged(body)
        masked = verdict.reward is None
        kind = "judge_unparseable" if verdict.status == "unparsed" else "judge_failed"
        return JurorVerifyResponse.model_validate(
            body.model_dump()
            | {
                "reward": 0.0 if verdict.reward is None else verdict.reward,
                "mask_sample": masked,
                "failure_kind": kind if masked else None,
                "failure_reason": (verdict.error or verdict.status) if masked else None,
                "judge_status": verdict.status,
                "process": verdict.process,
                "outcome": verdict.outcome,
                "perfect": verdict.perfect,
            }
        )

    async def _judged(self, body: JurorVerifyRequest) -> Verdict:
        sample = {
            "question": body.question or _messages.question(body.responses_create_params.input),
            "reference": body.expected_answer,
            "response": _response(body),
        }
        try:
            judge = await self._connected()
            (verdict,) = await judge.ajudge([sample], progress=False, skip_bad=True)
        except JudgeError as error:
            raise NemoJudgeError(str(error)) from error
        return verdict

    async def _connected(self) -> Judge:
        """The judge. It is made once, in a thread: a server takes minutes to start, and other requests are answered meanwhile."""
        async with self._starting:
            if self._judge is None:
                self._judge = await asyncio.to_thread(Judge, **self.config.juror)
            return self._judge


class LibraryJudgeResourcesServerConfig(JurorResourcesServerConfig):
    """The settings of a server in the shape of `math_with_judge`."""

    should_use_judge: bool = False
    """Ask the judge of `juror` where the rules cannot tell."""
    profile: Profile = "strict"
    """How the rules find and compare answers: `strict`, `compat` (as Math-Verify), …"""


class LibraryJudgeVerifyResponse(BaseVerifyResponse):
    """The rollout and its reward, with the keys of `math_with_judge`."""

    model_config = ConfigDict(extra="allow")

    expected_answer: str | list[str]
    extracted_answer: str | None
    """The final answer, as the rules found it."""
    library_reward: float
    """1.0 if the rules find it right."""
    judge_evaluations: list[dict[str, Any]] | None
    """The judge's verdict, where it was asked."""


class LibraryJudgeResourcesServer(JurorResourcesServer):
    """Rewards by the rules, and where these cannot tell by a judge. A rollout that nobody can tell is masked."""

    config: LibraryJudgeResourcesServerConfig

    async def verify(self, body: JurorVerifyRequest) -> LibraryJudgeVerifyResponse:
        """Verifies one rollout; rules that take long keep no other waiting."""
        pairs = [(body.expected_answer, _response(body))]
        (decision,) = await asyncio.to_thread(decide, pairs, profile=self.config.profile)
        outcome, evaluations, kind = decision.equal, None, "juror:undecided"
        found = decision.verification
        reason = "there is no reference answer" if found is None else found.reason
        if outcome is None and self.config.should_use_judge:
            verdict = await self._judged(body)
            outcome, evaluations = verdict.outcome if verdict.status == "ok" else None, [dict(verdict.line)]
            kind = "judge_unparseable" if verdict.status == "unparsed" else "judge_failed"
            reason = verdict.error or verdict.status
        masked = outcome is None
        extracted = next(iter(found.pred), None) if found is not None else None
        return LibraryJudgeVerifyResponse.model_validate(
            body.model_dump()
            | {
                "reward": float(outcome or False),
                "mask_sample": masked,
                "failure_kind": kind if masked else None,
                "failure_reason": reason if masked else None,
                "extracted_answer": extracted,
                "library_reward": float(decision.equal or False),
                "judge_evaluations": evaluations,
            }
        )

    def compute_metrics(self, tasks: list[list[dict[str, Any]]]) -> dict[str, Any]:
        """pass@k and majority@k under the names of `math_with_judge`."""
        metrics: dict[str, Any] = compute_pass_majority_metrics(tasks, score_fn=_scores, answer_key="extracted_answer")[0]
        return metrics

    def get_key_metrics(self, agent_metrics: dict[str, Any]) -> dict[str, Any]:
        """Those that are shown first."""
        # The accuracies are of those that the library or the judge was asked for: only the reward is of all.
        means = ("mean/reward", "mean/input_tokens", "mean/output_tokens")
        key = {name: agent_metrics[name] for name in means if name in agent_metrics}
        key.update(highest_k_metrics(agent_metrics, "pass@1[avg-of-{k}]"))
        for name in ("pass@{k}", "majority@{k}"):
            key.update(highest_k_metrics(agent_metrics, name, exclude_names=["no_answer"]))
        return key


def _scores(rollout: dict[str, Any]) -> dict[str, float]:
    scores = {"symbolic_accuracy": rollout["library_reward"]} if "library_reward" in rollout else {}
    if rollout.get("judge_evaluations") is not None:
        scores["judge_accuracy"] = rollout["reward"]
    return scores


def _response(body: BaseVerifyRequest) -> str:
    """The text of the last message in the model's output; without reasoning and tool calls."""
    said = [item for item in body.response.output if item.type == "message"]
    return "".join(part.text for part in said[-1].content if part.type == "output_text") if said else ""
