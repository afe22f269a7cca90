"""A reward manager for verl, in its reward loop.

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
"""

# mypy: disable-error-code="import-untyped,import-not-found,misc,no-any-return"
# pyright: basic, reportMissingImports=false
# The framework has no types, or is not installed where these are checked.

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from verl.experimental.reward_loop.reward_manager.base import RewardManagerBase

from juror_rs import Judge, _messages

if TYPE_CHECKING:
    from verl import DataProto

__all__ = ["JurorRewardManager"]


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


def _plain(value: Any) -> Any:
    """Lists for the arrays that Parquet's lists come as."""
    return value.tolist() if hasattr(value, "tolist") else value
