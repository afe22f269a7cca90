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
from pydantic import ConfigDict, Field, PrivateAttr

from juror_rs import Judge, JudgeError, _messages

__all__ = ["JurorResourcesServer", "JurorResourcesServerConfig", "JurorVerifyRequest", "JurorVerifyResponse"]


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

    async def _connected(self) -> Judge:
        """The judge. It is made once, in a thread: a server takes minutes to start, and other requests are answered meanwhile."""
        async with self._starting:
            if self._judge is None:
                self._judge = await asyncio.to_thread(Judge, **self.config.juror)
            return self._judge


def _response(body: BaseVerifyRequest) -> str:
    """The text of the last message in the model's output; without reasoning and tool calls."""
    said = [item for item in body.response.output if item.type == "message"]
    return "".join(part.text for part in said[-1].content if part.type == "output_text") if said else ""
