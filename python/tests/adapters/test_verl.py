"""verl's loading of reward managers and its batches, with `juror_rs.verl`."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
import json
import math
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("verl.experimental.reward_loop.reward_manager")

import numpy as np  # noqa: E402
import small_model  # noqa: E402
import torch  # noqa: E402
from shared import HOSTILE, OUTSIDE, binary  # noqa: E402
from omegaconf import OmegaConf  # noqa: E402
from tensordict import TensorDict  # noqa: E402
from verl import DataProto  # noqa: E402
from verl.trainer.ppo.reward import load_reward_manager  # noqa: E402


def configuration(*overrides: str) -> Any:
    """verl's own configuration with the overrides of the command line."""
    from importlib.resources import files

    from hydra import compose, initialize_config_dir

    with initialize_config_dir(str(files("verl.trainer") / "config"), version_base=None):
        return compose("ppo_trainer", overrides=list(overrides))


OVERRIDES = (
    "reward.reward_manager.source=importlib",
    "reward.reward_manager.module.path=pkg://juror_rs.verl",
    "reward.reward_manager.name=JurorRewardManager",
)


def rollouts(tokenizer: Any, rows: list[dict[str, Any]]) -> Any:
    """A batch as verl's rollout leaves it: padded on both sides, questions as messages."""
    prompts = [
        tokenizer.apply_chat_template(
            [{"role": "user", "content": row["question"]}], add_generation_prompt=True, return_dict=False
        )
        for row in rows
    ]
    responses = [[*tokenizer(row["student_answer"])["input_ids"], tokenizer.eos_token_id] for row in rows]
    longest_prompt, longest = max(map(len, prompts)), max(map(len, responses))
    pad = tokenizer.pad_token_id
    batch = {
        "prompts": torch.tensor([[pad] * (longest_prompt - len(tokens)) + tokens for tokens in prompts]),
        "responses": torch.tensor([tokens + [pad] * (longest - len(tokens)) for tokens in responses]),
        "attention_mask": torch.tensor(
            [
                [0] * (longest_prompt - len(prompt)) + [1] * (len(prompt) + len(tokens)) + [0] * (longest - len(tokens))
                for prompt, tokens in zip(prompts, responses, strict=True)
            ]
        ),
    }
    return DataProto(
        batch=TensorDict(batch, batch_size=len(rows)),
        non_tensor_batch={
            "raw_prompt": objects([[{"role": "user", "content": row["question"]}] for row in rows]),
            "reward_model": objects([{"ground_truth": row["reference_answer"], "style": "model"} for row in rows]),
            "data_source": objects(["arithmetic"] * len(rows)),
        },
    )


def objects(values: list[Any]) -> Any:
    """An array of objects, also where they are lists."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def judged(url: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What verl's reward loop does with a batch."""
    tokenizer = small_model.tokenizer()
    manager = load_reward_manager(configuration(*OVERRIDES, f"+reward.reward_kwargs.juror.url={url}"), tokenizer)
    data = rollouts(tokenizer, rows)

    async def run() -> list[dict[str, Any]]:
        return list(await asyncio.gather(*(manager.run_single(data[place : place + 1]) for place in range(len(data)))))

    return manager.loop.run_until_complete(run())


def test_rewards_are_those_of_juror_judge(
    server: str, rows: list[dict[str, Any]], offline: list[dict[str, Any]]
) -> None:
    outputs = judged(server, rows)
    assert [output["reward_score"] for output in outputs] == [verdict["reward"] for verdict in offline]
    infos = [output["reward_extra_info"] for output in outputs]
    assert [info["judge_process"] for info in infos] == [float(verdict["process"]) for verdict in offline]
    assert [info["judge_outcome"] for info in infos] == [float(verdict["outcome"]) for verdict in offline]


def test_failures_keep_the_keys_and_are_zero_and_said_to_be(server: str, rows: list[dict[str, Any]]) -> None:
    failing = {"question": OUTSIDE, "reference_answer": "true", "student_answer": "Liouville."}
    hostile = {**rows[0], "student_answer": HOSTILE.replace("<|im_end|>", "").replace("<|im_start|>", "")}
    outputs = judged(server, [rows[0], failing, hostile])
    assert [output["reward_score"] for output in outputs] == [1.0, 0.0, 0.0]
    infos = [output["reward_extra_info"] for output in outputs]
    assert [info["judge_ok"] for info in infos] == [1.0, 0.0, 1.0]
    arrays = {key: np.array([info[key] for info in infos]) for key in infos[0]}
    assert {array.dtype for array in arrays.values()} == {np.dtype("float64")}
    assert len({tuple(info) for info in infos}) == 1


def test_validation_takes_the_keys(server: str, rows: list[dict[str, Any]]) -> None:
    from verl.trainer.ppo.metric_utils import process_validation_metrics

    outputs = judged(server, rows[:4])
    infos = {key: [output["reward_extra_info"][key] for output in outputs] for key in outputs[0]["reward_extra_info"]}
    metrics = process_validation_metrics(["arithmetic"] * 4, [str(place) for place in range(4)], infos)
    assert metrics["arithmetic"]["judge_ok"]["mean@1"] == 1.0


def test_scores_go_to_the_last_token(server: str, rows: list[dict[str, Any]]) -> None:
    tokenizer = small_model.tokenizer()
    manager = load_reward_manager(configuration(*OVERRIDES, f"+reward.reward_kwargs.juror.url={server}"), tokenizer)
    scores = type(manager).assemble_rm_scores(rollouts(tokenizer, rows[:2]), [1.0, 0.5])
    assert scores.sum(dim=1).tolist() == [1.0, 0.5]


def test_without_an_address_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JUROR_URL", raising=False)
    with pytest.raises(RuntimeError, match="juror serve"):
        load_reward_manager(configuration(*OVERRIDES), small_model.tokenizer())


def test_the_overrides_are_those_of_the_guide(
    guide: Callable[[str, str], list[str]], readme: Callable[[str], str]
) -> None:
    block = "\n".join(guide("verl.md", "sh"))
    assert all(override in block for override in OVERRIDES)
    assert all(override in readme("verl.trainer") for override in OVERRIDES)
    configuration(*OVERRIDES, "+reward.reward_kwargs.juror.url=http://127.0.0.1:8000")
    assert "+reward.reward_kwargs.juror.url=http://127.0.0.1:8000" in block
    assert OmegaConf.is_config(configuration(*OVERRIDES))


SCORE = (
    "reward.custom_reward_function.path=pkg://juror_rs.verl",
    "reward.custom_reward_function.name=compute_score",
)


def scored(rows: list[dict[str, Any]], *overrides: str, sources: list[str] | None = None) -> list[dict[str, Any]]:
    """What verl's own reward manager makes of a batch with a custom reward function."""
    tokenizer = small_model.tokenizer()
    manager = load_reward_manager(configuration(*SCORE, *overrides), tokenizer)
    data = rollouts(tokenizer, rows)
    data.non_tensor_batch["extra_info"] = objects([{"question": row["question"], "index": 0} for row in rows])
    if sources is not None:
        data.non_tensor_batch["data_source"] = objects(sources)

    async def run() -> list[dict[str, Any]]:
        return list(await asyncio.gather(*(manager.run_single(data[place : place + 1]) for place in range(len(data)))))

    return manager.loop.run_until_complete(run())


@pytest.mark.parametrize("name", ["compute_score", "compute_rules_score"])
def test_the_rules_score_in_verls_own_manager(
    rows: list[dict[str, Any]], by_rules: list[float | None], name: str
) -> None:
    outputs = scored(rows, f"reward.custom_reward_function.name={name}")
    assert [output["reward_score"] for output in outputs] == [reward or 0.0 for reward in by_rules]
    infos = [output["reward_extra_info"] for output in outputs]
    assert [info["decided"] for info in infos] == [float(reward is not None) for reward in by_rules]
    assert len({tuple(info) for info in infos}) == 1
    assert all(isinstance(value, float) for info in infos for value in info.values())


def test_the_data_source_says_who_scores(
    server: str, rows: list[dict[str, Any]], offline: list[dict[str, Any]], by_rules: list[float | None]
) -> None:
    sources = ["numina_olympiads" if place % 2 else "openai/gsm8k" for place in range(len(rows))]
    outputs = scored(
        rows,
        "+reward.custom_reward_function.reward_kwargs.judge=['numina_*']",
        f"+reward.custom_reward_function.reward_kwargs.settings.url={server}",
        "+reward.custom_reward_function.reward_kwargs.profiles={openai/*:strict}",
        sources=sources,
    )
    expected = [
        offline[place]["reward"] if place % 2 else by_rules[place] or 0.0 for place in range(len(rows))
    ]
    assert [output["reward_score"] for output in outputs] == expected
    assert [output["reward_extra_info"]["judged"] for output in outputs] == [float(place % 2) for place in range(len(rows))]


def test_parts_and_profiles_of_the_score(rows: list[dict[str, Any]]) -> None:
    row = {**rows[0], "reference_answer": "(a) 3, (b) 5", "student_answer": "The answer is (a) 3, (b) 6."}
    (output,) = scored([row], "+reward.custom_reward_function.reward_kwargs.parts=true")
    assert output["reward_score"] == 0.5 and output["reward_extra_info"]["acc"] == 0.0
    row = {**rows[0], "reference_answer": r"$28\%$", "student_answer": "28"}
    (output,) = scored([row], "+reward.custom_reward_function.reward_kwargs.profiles={arithmetic:compat}")
    assert output["reward_score"] == 1.0
    (output,) = scored([row])
    assert output["reward_score"] == 0.0 and output["reward_extra_info"]["decided"] == 0.0


def test_a_judge_needs_the_question_and_an_address(rows: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JUROR_URL", raising=False)
    judge = "+reward.custom_reward_function.reward_kwargs.judge=[arithmetic]"
    with pytest.raises(KeyError, match="question=KEY"):
        scored(rows[:1], judge, "+reward.custom_reward_function.reward_kwargs.question=problem")
    with pytest.raises(RuntimeError, match="juror serve"):
        scored(rows[:1], judge)


def score_again(place: int) -> dict[str, float]:
    from juror_rs.verl import compute_rules_score

    return compute_rules_score("math", f"The answer is {place}.", ["8", "9"], {"index": place})


def test_the_rules_run_in_threads_and_processes(everywhere: Callable[..., list[Any]]) -> None:
    assert [score["score"] for score in everywhere(score_again)] == [float(place in (8, 9)) for place in range(16)] * 3


def test_the_function_is_that_of_the_guide(guide: Callable[[str, str], list[str]]) -> None:
    block = "\n".join(guide("verl.md", "sh"))
    assert all(override in block for override in SCORE)


def test_its_dump_of_rollouts_is_read(tmp_path: Path) -> None:
    """The file that `trainer.rollout_data_dir` asks for, by verl's own code: a scorer's `pred` and NaN beside what is judged."""
    from verl.trainer.ppo.ray_trainer import RayPPOTrainer

    outputs, gts = ["Answer: 2", "Answer: 3"], ["2", "2"]
    extra = {"acc": [True, False], "pred": ["2", "3"], "entropy": [math.nan, 0.5]}
    written = (["user\n1 + 1?\nassistant\n"] * 2, outputs, gts, [1.0, math.nan], extra, str(tmp_path))
    if hasattr(RayPPOTrainer, "_write_generations"):
        RayPPOTrainer._write_generations(*written, 3)
    else:
        RayPPOTrainer._dump_generations(SimpleNamespace(global_steps=3), *written)
    ran = subprocess.run([binary(), "verify", str(tmp_path / "3.jsonl")], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert [json.loads(line)["equal"] for line in ran.stdout.splitlines()] == [True, False]
    judge = [binary(), "judge", str(tmp_path / "3.jsonl"), "--rules", "only", "--keep", "step,score"]
    ran = subprocess.run(judge, capture_output=True, text=True)
    verdicts = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [verdict["outcome"] for verdict in verdicts] == [True, False], ran.stderr
    assert [verdict["input"] for verdict in verdicts] == [{"step": 3, "score": 1.0}, {"step": 3, "score": None}]
