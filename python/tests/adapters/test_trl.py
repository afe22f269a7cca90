"""TRL's GRPO trainer with the reward of `juror_rs.trl`: real steps of a small random model."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

trl = pytest.importorskip("trl")

import small_model  # noqa: E402
from shared import HOSTILE, OUTSIDE  # noqa: E402

from juror_rs import JudgeError  # noqa: E402
from juror_rs.trl import JurorReward  # noqa: E402


def rewards(reward: JurorReward, **columns: Any) -> list[float | None]:
    """As the trainer awaits them."""
    return asyncio.run(reward(trainer_state=None, completion_ids=[], **columns))


def test_rewards_are_those_of_juror_judge(
    judge_url: str, rows: list[dict[str, Any]], offline: list[dict[str, Any]]
) -> None:
    questions = [row["question"] for row in rows]
    answers = [row["reference_answer"] for row in rows]
    responses = [row["student_answer"] for row in rows]
    expected = [verdict["reward"] for verdict in offline]
    assert rewards(JurorReward(), prompts=questions, completions=responses, answer=answers) == expected
    messages = [[{"role": "user", "content": question}] for question in questions]
    said = [[{"role": "assistant", "content": response}] for response in responses]
    assert rewards(JurorReward(), prompts=messages, completions=said, answer=answers) == expected


def test_what_has_no_verdict_is_none_and_logged(judge_url: str, rows: list[dict[str, Any]]) -> None:
    metrics: dict[str, float] = {}
    extra: dict[str, list[Any]] = {}
    row = rows[0]
    got = rewards(
        JurorReward("gold"),
        prompts=[row["question"], OUTSIDE, row["question"], [{"role": "user", "content": [{"type": "image"}]}]],
        completions=[row["student_answer"], "Liouville.", HOSTILE, "17"],
        gold=[row["reference_answer"], "true", row["reference_answer"], "17"],
        log_metric=metrics.__setitem__,
        log_extra=extra.__setitem__,
    )
    assert got == [1.0, None, 0.0, None]
    assert extra == {"juror_status": ["ok", "out_of_domain", "ok", "failed"]}
    assert metrics["juror/judge_ok"] == 0.5 and metrics["juror/process"] == 0.5


def test_a_missing_column_is_named(judge_url: str) -> None:
    with pytest.raises(KeyError, match="no column 'answer'"):
        rewards(JurorReward(), prompts=["q"], completions=["r"], solution=["s"])


def test_a_server_that_is_down_is_an_error() -> None:
    with pytest.raises(JudgeError):
        rewards(JurorReward(url="http://127.0.0.1:9", timeout=2.0), prompts=["q"], completions=["r"], answer=["a"])


def test_several_processes_need_one_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.delenv("JUROR_URL", raising=False)
    with pytest.raises(RuntimeError, match="juror serve"):
        JurorReward()
    assert JurorReward(url="http://127.0.0.1:8000")


def test_it_travels_to_other_processes(judge_url: str, rows: list[dict[str, Any]]) -> None:
    reward = JurorReward(name="math")
    rewards(reward, prompts=["1 + 1?"], completions=["2"], answer=["2"])
    assert pickle.loads(pickle.dumps(reward)).__name__ == "math"


@pytest.mark.filterwarnings("default")
def test_the_guide_trains(
    judge_url: str,
    guide: Callable[[str, str], list[str]],
    run_python: Callable[..., Any],
    tmp_path: Path,
) -> None:
    small_model.save(tmp_path / "Qwen" / "Qwen3-0.6B")
    done = run_python("\n".join(guide("trl.md", "python")), JUROR_URL=judge_url)
    assert "rewards/juror/mean" in done.stdout and "juror/judge_ok" in done.stdout


@pytest.mark.filterwarnings("default")
def test_the_readme_trains(
    judge_url: str, readme: Callable[[str], str], run_python: Callable[..., Any], tmp_path: Path
) -> None:
    small_model.save(tmp_path / "small")
    before = """
from datasets import Dataset
from trl import GRPOConfig

model = "small"
dataset = Dataset.from_dict({"prompt": ["What is 3 * 4?", "What is 9 - 2?"], "answer": ["12", "7"]})
args = GRPOConfig(
    output_dir="out", per_device_train_batch_size=2, num_generations=2, max_completion_length=8, max_steps=1, logging_steps=1,
    report_to="none", use_cpu=True,
)
"""
    done = run_python(before + readme("JurorReward(") + "trainer.train()\n", JUROR_URL=judge_url)
    assert "rewards/juror/mean" in done.stdout
