"""An environment of skyrl-gym, made by its own registry."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from typing import Any

import pytest

skyrl_gym = pytest.importorskip("skyrl_gym")

from shared import HOSTILE, OUTSIDE  # noqa: E402

from juror_rs import JudgeError  # noqa: E402


def play(question: str, reference: Any, response: str, **settings: Any) -> tuple[Any, dict[str, Any]]:
    """One episode: the step's output and the metrics."""
    if "juror" not in skyrl_gym.registry:
        skyrl_gym.register(id="juror", entry_point="juror_rs.skyrl_gym:JurorEnv")
    env = skyrl_gym.make("juror", env_config=settings, extras={"reward_spec": {"ground_truth": reference}})
    prompt, _ = env.init([{"role": "user", "content": question}])
    assert prompt[0]["content"] == question
    output = env.step(response)
    env.close()
    return output, env.get_metrics()


def test_rewards_are_those_of_juror_judge(
    judge_url: str, rows: list[dict[str, Any]], offline: list[dict[str, Any]]
) -> None:
    outputs = [play(row["question"], row["reference_answer"], row["student_answer"])[0] for row in rows]
    assert [output["reward"] for output in outputs] == [verdict["reward"] for verdict in offline]
    assert all(output["done"] and output["observations"] == [] for output in outputs)


def test_failures_are_zero_and_said_to_be(judge_url: str, rows: list[dict[str, Any]]) -> None:
    output, metrics = play(OUTSIDE, "true", "Liouville.")
    assert output["reward"] == 0.0 and metrics["judge_ok"] == 0.0
    assert output["metadata"]["judge_status"] == "out_of_domain"
    output, metrics = play(rows[0]["question"], rows[0]["reference_answer"], HOSTILE)
    assert output["reward"] == 0.0 and metrics["judge_ok"] == 1.0


def test_metrics_are_averaged_by_skyrl(judge_url: str, rows: list[dict[str, Any]]) -> None:
    from juror_rs.skyrl_gym import JurorEnv

    episodes = [play(rows[0]["question"], rows[0]["reference_answer"], rows[0]["student_answer"])[1]]
    episodes.append(play(OUTSIDE, "true", "Liouville.")[1])
    assert JurorEnv.aggregate_metrics(episodes)["judge_ok"] == 0.5


def test_several_references_are_all_right(judge_url: str, rows: list[dict[str, Any]]) -> None:
    output, _ = play(rows[0]["question"], [rows[0]["reference_answer"], "17.0"], rows[0]["student_answer"])
    assert output["metadata"]["judge_outcome"] == 1.0


def test_settings_may_be_lists_of_omegaconf(judge_url: str, rows: list[dict[str, Any]]) -> None:
    settings: Any = pytest.importorskip("omegaconf").OmegaConf.create({"arguments": []})
    output, _ = play(rows[0]["question"], rows[0]["reference_answer"], rows[0]["student_answer"], **settings)
    assert output["reward"] == 1.0


def test_a_server_that_is_down_is_an_error() -> None:
    with pytest.raises(JudgeError):
        play("1 + 1?", "2", "2", url="http://127.0.0.1:9", timeout=2.0)
