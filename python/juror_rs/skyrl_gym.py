"""An environment for SkyRL.

```python
import skyrl_gym

skyrl_gym.register(id="juror", entry_point="juror_rs.skyrl_gym:JurorEnv")
```

before training, then `environment.env_class=juror` and rows with `"reward_spec": {"ground_truth": "…"}`, as for its GSM8K
environment. The server's address is in `JUROR_URL`, or in `environment.skyrl_gym.juror.url`.

SkyRL cannot leave a rollout out: one without a verdict has the reward 0.0 **and** the metric `judge_ok` 0.
"""

# mypy: disable-error-code="import-untyped,import-not-found,misc"
# pyright: basic, reportMissingImports=false
# The framework has no types, or is not installed where these are checked.

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput, ConversationType

from juror_rs import _judges, _messages

__all__ = ["JurorEnv"]


class JurorEnv(BaseTextEnv):
    """One turn, judged. `get_metrics` has `judge_ok`, `judge_process` and `judge_outcome`.

    Args:
        env_config: Settings of `juror_rs.Judge`.
        extras: The row, with `reward_spec.ground_truth`: the reference answer, or several that are all right.
    """

    def __init__(self, env_config: Mapping[str, Any] | None = None, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        spec = (extras or {}).get("reward_spec") or {}
        if "ground_truth" not in spec:
            raise ValueError("the row has no reward_spec.ground_truth, the reference answer")
        self._reference = spec["ground_truth"]
        self._settings = dict(env_config or {})
        self._question: str | None = None
        self._metrics: dict[str, float] = {}

    def init(self, prompt: ConversationType) -> tuple[ConversationType, dict[str, Any]]:
        """Keeps the question."""
        self._question = _messages.question(prompt)
        return prompt, {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Judges the response."""
        sample = {"question": self._question, "reference": self._reference, "response": action}
        (verdict,) = _judges.judge_with(self._settings).judge([sample], progress=False, skip_bad=True)
        self._metrics = {
            "judge_ok": float(verdict.reward is not None),
            "judge_process": float(verdict.process or False),
            "judge_outcome": float(verdict.outcome or False),
        }
        return BaseTextEnvStepOutput(
            observations=[],
            reward=verdict.reward if verdict.reward is not None else 0.0,
            done=True,
            metadata={**self._metrics, "judge_status": verdict.status},
        )

    def get_metrics(self) -> dict[str, Any]:
        """The verdict in numbers, which SkyRL averages."""
        return dict(self._metrics)
