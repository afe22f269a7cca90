"""OpenRLHF's own executor of rollouts and its own batches, against `/get_reward`.

Generation is not under test: in place of vLLM an engine hands out the tokens of known responses.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")
agent = pytest.importorskip("openrlhf.utils.agent")

import small_model  # noqa: E402
from shared import HOSTILE, OUTSIDE  # noqa: E402


@pytest.fixture(scope="module")
def generator() -> Any:
    """OpenRLHF's generator of samples, without the vLLM that it would import."""
    vllm = ModuleType("vllm")
    vllm.SamplingParams = SimpleNamespace  # type: ignore[attr-defined]
    engine = ModuleType("openrlhf.trainer.ray.vllm_engine")
    engine.batch_vllm_engine_call = None  # type: ignore[attr-defined]
    package = ModuleType("openrlhf.trainer.ray")
    package.__path__ = []
    for name, module in (("vllm", vllm), ("openrlhf.trainer.ray", package), ("openrlhf.trainer.ray.vllm_engine", engine)):
        sys.modules.setdefault(name, module)
    from openrlhf.trainer.ppo_utils.samples_generator import SamplesGenerator

    return SamplesGenerator.__new__(SamplesGenerator)


class Engine:
    """Hands out the tokens of one response, with the end token that a model writes."""

    def __init__(self, tokenizer: Any, response: str) -> None:
        self.tokens = [*tokenizer(response, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]

    async def generate(self, prompt_tokens: list[int], params: Any, **_: Any) -> Any:
        return SimpleNamespace(
            outputs=[SimpleNamespace(token_ids=self.tokens, text="", finish_reason="stop", logprobs=None)]
        )


def roll_out(url: str, question: str, label: Any, response: str) -> dict[str, Any]:
    """One rollout by `SingleTurnAgentExecutor.execute`, reward and all."""
    tokenizer = small_model.tokenizer()
    prompt = tokenizer.apply_chat_template(
        [{"role": "user", "content": question}], tokenize=False, add_generation_prompt=True
    )
    executor = agent.SingleTurnAgentExecutor(url)
    params = SimpleNamespace(max_tokens=4096, logprobs=None)
    return asyncio.run(executor.execute(prompt, label, params, 16384, tokenizer, Engine(tokenizer, response)))


def test_rewards_are_those_of_juror_judge(
    server: str, rows: list[dict[str, Any]], offline: list[dict[str, Any]], generator: Any
) -> None:
    outputs = [
        roll_out(f"{server}/get_reward", row["question"], row["reference_answer"], row["student_answer"]) for row in rows
    ]
    experiences = [generator._process_response_into_experience(output, max_len=16384) for output in outputs]
    batch = agent_batch(experiences)
    assert batch.rewards.flatten().tolist() == [verdict["reward"] for verdict in offline]
    assert batch.scores.flatten().tolist() == [verdict["reward"] for verdict in offline]
    assert batch.info["process"].flatten().tolist() == [float(verdict["process"]) for verdict in offline]
    assert batch.info["outcome"].flatten().tolist() == [float(verdict["outcome"]) for verdict in offline]
    assert batch.info["judge_ok"].flatten().tolist() == [1.0] * len(rows)
    assert {value.dtype for value in (batch.rewards, batch.scores, *batch.info.values())} <= {torch.float32, torch.bool}


def agent_batch(experiences: list[Any]) -> Any:
    """A training batch of single experiences, as OpenRLHF makes it."""
    from openrlhf.trainer.ppo_utils.experience import Experience

    return Experience.concat_experiences(experiences, 0)


def test_a_failed_judge_is_zero_and_said_to_be(lenient_server: str, rows: list[dict[str, Any]], generator: Any) -> None:
    url = f"{lenient_server}/get_reward"
    outputs = [
        roll_out(url, rows[0]["question"], rows[0]["reference_answer"], rows[0]["student_answer"]),
        roll_out(url, OUTSIDE, "true", "It is Liouville's theorem."),
    ]
    batch = agent_batch([generator._process_response_into_experience(output, max_len=16384) for output in outputs])
    assert batch.rewards.flatten().tolist() == [1.0, 0.0]
    assert batch.info["judge_ok"].flatten().tolist() == [1.0, 0.0]


def test_without_a_failure_reward_a_failed_judge_stops_openrlhf(server: str, generator: Any) -> None:
    output = roll_out(f"{server}/get_reward", OUTSIDE, "true", "It is Liouville's theorem.")
    assert output["reward"] == [None] and output["extra_logs"]["judge_ok"] == 0.0
    with pytest.raises((RuntimeError, TypeError)):
        generator._process_response_into_experience(output, max_len=16384)


def test_hostile_text_earns_nothing(server: str, rows: list[dict[str, Any]]) -> None:
    output = roll_out(f"{server}/get_reward", rows[0]["question"], rows[0]["reference_answer"], HOSTILE)
    assert output["reward"] == [0.0]


def test_many_in_one_request_and_several_servers(
    server: str, lenient_server: str, rows: list[dict[str, Any]], offline: list[dict[str, Any]]
) -> None:
    executor = agent.SingleTurnAgentExecutor([f"{server}/get_reward", f"{lenient_server}/get_reward"])
    answers = asyncio.run(
        executor._fetch_rewards_via_http(
            [row["question"] + row["student_answer"] for row in rows],
            [row["question"] for row in rows],
            [row["reference_answer"] for row in rows],
        )
    )
    rewards = [reward for answer in answers for reward in answer["rewards"]]
    assert rewards == [verdict["reward"] for verdict in offline]
    assert all(len(answer["scores"]) == len(answer["rewards"]) for answer in answers)


def test_a_server_that_is_down_leaves_no_reward(rows: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    async def at_once(_: float) -> None:
        """The pause between tries."""

    monkeypatch.setattr(agent.asyncio, "sleep", at_once)
    output = roll_out("http://127.0.0.1:9/get_reward", rows[0]["question"], "17", "17")
    assert output["reward"] is None


def test_the_rules_reward_without_a_model(
    rules_server: str, rows: list[dict[str, Any]], by_rules: list[float | None], generator: Any
) -> None:
    url = f"{rules_server}/get_reward"
    outputs = [roll_out(url, row["question"], row["reference_answer"], row["student_answer"]) for row in rows]
    batch = agent_batch([generator._process_response_into_experience(output, max_len=16384) for output in outputs])
    assert batch.rewards.flatten().tolist() == [reward or 0.0 for reward in by_rules]
    assert batch.info["judge_ok"].flatten().tolist() == [float(reward is not None) for reward in by_rules]
    assert "process" not in batch.info
