"""TRL's GRPO and OnlineDPO trainers with the reward of `juror_rs.trl`: real steps of a small random model."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
import pickle
import subprocess
from collections.abc import Callable
from pathlib import Path
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

trl = pytest.importorskip("trl")

import small_model  # noqa: E402
from shared import HOSTILE, OUTSIDE, binary, serve, stop  # noqa: E402

from juror_rs import JudgeError, client  # noqa: E402
from juror_rs.trl import CompareReward, JurorReward, RulesReward  # noqa: E402


def rewards(reward: JurorReward, **columns: Any) -> list[float | None]:
    """As the trainer calls it."""
    return reward(trainer_state=None, completion_ids=[], **columns)


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


def test_what_is_wrong_is_said_when_the_reward_is_made(judge_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "REACHED_WITHIN", 0.0)
    with pytest.raises(JudgeError, match="Is the server running"):
        JurorReward(url="http://127.0.0.1:9")
    with pytest.raises(TypeError, match="modell"):
        JurorReward(modell="tiny")
    with pytest.raises(ValueError, match="model, protocol"):
        JurorReward(url=judge_url, model="other")
    with pytest.raises(ValueError, match="fallback is 'zero'"):
        JurorReward(fallback="zero")  # type: ignore[arg-type]


def test_a_server_that_has_gone_is_an_error() -> None:
    process, url = serve()
    reward = JurorReward(url=url, timeout=2.0)
    stop(process)
    with pytest.raises(JudgeError):
        rewards(reward, prompts=["q"], completions=["r"], answer=["a"])


def test_the_rules_may_decide_what_the_judge_could_not(judge_url: str) -> None:
    columns = {
        "prompts": [OUTSIDE, OUTSIDE, OUTSIDE, OUTSIDE, [{"role": "user", "content": [{"type": "image"}]}]],
        "completions": ["The answer is 7.", "The answer is 8.", "The answer is 8.", "The answer is at least 7.", "7"],
        "answer": ["7", "7", ["7", "8"], "7", "7"],
    }
    assert rewards(JurorReward(), **columns) == [None] * 5
    assert rewards(JurorReward(fallback="rules"), **columns) == [1.0, 0.0, 1.0, None, None]
    # Without a reference nothing is right or wrong.
    columns["answer"] = [None, float("nan"), [], " ", "7"]
    assert rewards(JurorReward(fallback="rules"), **columns) == [None] * 5


def test_the_question_is_the_turns_of_the_conversation(judge_url: str, rows: list[dict[str, Any]]) -> None:
    row = rows[0]
    asked = [{"role": "system", "content": "Think in <think> tags."}, {"role": "user", "content": row["question"]}]
    reward = JurorReward()
    seen: list[Any] = []
    judge = reward._judge
    assert judge is not None
    reward._judge = SimpleNamespace(judge=lambda samples, **more: seen.extend(samples) or judge.judge(samples, **more))  # type: ignore[assignment]
    earlier = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hello!"}, *asked]
    got = rewards(
        reward, prompts=[asked, earlier], completions=[row["student_answer"]] * 2, answer=[row["reference_answer"]] * 2
    )
    assert [sample["question"] for sample in seen] == [
        row["question"],
        f"User: Hello\n\nAssistant: Hello!\n\nUser: {row['question']}",
    ]
    assert got[0] == 1.0


def test_several_processes_need_one_server(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.delenv("JUROR_URL", raising=False)
    with pytest.raises(RuntimeError, match="juror serve"):
        JurorReward()
    assert JurorReward(url=server)


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
    assert "rewards/juror/mean" in done.stdout
    # Before 1.0 TRL logs nothing but rewards.
    assert ("juror/judge_ok" in done.stdout) == (int(trl.__version__.split(".")[0]) >= 1)


@pytest.mark.filterwarnings("default")
def test_the_readme_trains(
    monkeypatch: pytest.MonkeyPatch, readme: Callable[[str], str], run_python: Callable[..., Any], tmp_path: Path
) -> None:
    # It starts a judge of its own.
    monkeypatch.delenv("JUROR_URL", raising=False)
    small_model.save(tmp_path / "small")
    before = """
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

model = "small"
dataset = Dataset.from_dict({"prompt": ["What is 3 * 4?", "What is 9 - 2?"], "answer": ["12", "7"]})
args = GRPOConfig(
    output_dir="out", per_device_train_batch_size=2, num_generations=2, max_completion_length=8, max_steps=1, logging_steps=1,
    report_to="none", use_cpu=True,
)
"""
    done = run_python(before + readme("JurorReward(") + "trainer.train()\n")
    assert "rewards/juror/mean" in done.stdout


@pytest.mark.filterwarnings("default")
def test_online_dpo_trains(judge_url: str, run_python: Callable[..., Any], tmp_path: Path) -> None:
    small_model.save(tmp_path / "small")
    program = """
from datasets import Dataset
from juror_rs.trl import JurorReward
from transformers import AutoModelForCausalLM, AutoTokenizer
try:
    from trl.experimental.online_dpo import OnlineDPOConfig, OnlineDPOTrainer
except ImportError:
    from trl import OnlineDPOConfig, OnlineDPOTrainer

asked = []

class Counted(JurorReward):
    def __call__(self, **columns):
        rewards = super().__call__(**columns)
        asked.append(len(rewards))
        return rewards

prompts = [[{"role": "user", "content": "What is 3 * 4?"}], [{"role": "user", "content": "What is 9 - 2?"}]]
trainer = OnlineDPOTrainer(
    model=AutoModelForCausalLM.from_pretrained("small"),
    ref_model=AutoModelForCausalLM.from_pretrained("small"),
    processing_class=AutoTokenizer.from_pretrained("small", padding_side="left"),
    reward_funcs=Counted(),
    args=OnlineDPOConfig(
        output_dir="out", per_device_train_batch_size=2, max_new_tokens=8, max_steps=2, report_to="none", use_cpu=True,
        bf16=False, gradient_checkpointing=False,
    ),
    train_dataset=Dataset.from_dict({"prompt": prompts, "answer": ["12", "7"]}),
)
trainer.train()
print("steps", trainer.state.global_step, asked)
"""
    done = run_python(program, JUROR_URL=judge_url)
    assert "steps 2 [4, 4]" in done.stdout


def columns_of(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {
        "prompts": [row["question"] for row in rows],
        "completions": [[{"role": "assistant", "content": row["student_answer"]}] for row in rows],
        "answer": [row["reference_answer"] for row in rows],
    }


def test_the_rules_reward_without_a_model(rows: list[dict[str, Any]], by_rules: list[float | None]) -> None:
    assert rewards(RulesReward(), **columns_of(rows)) == by_rules
    assert 0.0 in by_rules and 1.0 in by_rules


def test_what_the_rules_cannot_tell_is_none_and_counted() -> None:
    metrics: dict[str, float] = {}
    asked = {"completions": ["7", "8", "8", "at least 7", "7"], "gold": ["7", "7", ["7", "8"], "7", None]}
    got = rewards(RulesReward("gold", name="math"), **asked, log_metric=metrics.__setitem__)
    assert got == [1.0, 0.0, 1.0, None, None] and metrics == {"math/decided": 0.6}
    assert rewards(RulesReward("gold", undecided=-0.5), **asked) == [1.0, 0.0, 1.0, -0.5, -0.5]
    parts = {"completions": ["(a) 3, (b) 6", "(a) 3, (b) 5", "3", "8"], "gold": ["(a) 3, (b) 5"] * 3 + ["7"]}
    assert rewards(RulesReward("gold", parts=True), **parts) == [0.5, 1.0, None, 0.0]
    # Percent signs are nothing to Math-Verify.
    percent = {"completions": ["28"], "gold": [r"$28\%$"]}
    assert rewards(RulesReward("gold", profile="compat"), **percent) == [1.0]
    assert rewards(RulesReward("gold"), **percent) == [None]


def test_what_is_wrong_with_the_rules_is_said_when_they_are_made() -> None:
    with pytest.raises(ValueError, match="no rules profile"):
        RulesReward(profile="lenient")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="rounding"):
        RulesReward(config={"rounding": 2})
    with pytest.raises(ValueError, match="only 'strict'"):
        RulesReward(profile="compat", parts=True)
    with pytest.raises(KeyError, match="no column 'answer'"):
        rewards(RulesReward(), completions=["r"], solution=["s"])


def reward_again(reward: RulesReward, columns: dict[str, list[Any]], _: int) -> list[float | None]:
    return rewards(reward, **columns)


def test_the_rules_run_in_threads_and_processes(
    rows: list[dict[str, Any]], by_rules: list[float | None], everywhere: Callable[..., list[Any]]
) -> None:
    # Several processes may each have one: nothing is loaded.
    work = partial(reward_again, RulesReward(), columns_of(rows))
    assert all(got == by_rules for got in everywhere(work))


@pytest.mark.filterwarnings("default")
def test_the_rules_train(run_python: Callable[..., Any], guide: Callable[[str, str], list[str]], tmp_path: Path) -> None:
    small_model.save(tmp_path / "Qwen" / "Qwen3-0.6B")
    program = guide("trl.md", "python")[0].replace("JurorReward", "RulesReward")
    done = run_python(program)
    assert "rewards/rules/mean" in done.stdout


COMPARING = ("--force-domain", "--max-new-tokens", "200")
"""`tiny` knows nothing of comparisons: what it says means nothing, and is a verdict."""


@pytest.fixture(scope="module")
def comparing() -> Any:
    """A server whose judge compares."""
    process, url = serve("--protocol", "pairwise", *COMPARING)
    yield url
    stop(process)


def test_comparisons_are_those_of_juror_judge(comparing: str, tmp_path: Path) -> None:
    question, said = "What is 2 + 2?", ["4", "It is 5.", "2 + 2 = 4, so 4."]
    (tmp_path / "rows.jsonl").write_text(json.dumps({"question": question, "responses": said}), encoding="utf-8")
    out = tmp_path / "ranking.jsonl"
    subprocess.run(
        [binary(), "judge", str(tmp_path / "rows.jsonl"), "--compare", *COMPARING, "-o", str(out)], check=False
    )
    ranking = json.loads(out.read_text(encoding="utf-8"))
    expected = [response["score"] for response in ranking["responses"]]
    assert all(score is not None for score in expected)
    metrics: dict[str, float] = {}
    got = rewards(
        CompareReward(url=comparing),
        # Groups may lie apart; one alone cannot be compared.
        prompts=[question, "What is 3 + 3?", question, question],
        completions=[said[0], "6", said[1], said[2]],
        log_metric=metrics.__setitem__,
    )
    assert got[1] is None and [got[0], got[2], got[3]] == pytest.approx(expected)
    assert metrics["compare/compared"] == 0.75
    consistent = [pair["consistent"] for pair in ranking["pairs"] if pair["consistent"] is not None]
    assert metrics["compare/consistent"] == pytest.approx(sum(consistent) / len(consistent))


def test_a_judge_that_does_not_compare_is_an_error(judge_url: str, rows: list[dict[str, Any]]) -> None:
    question, said = rows[0]["question"], rows[0]["student_answer"]
    with pytest.raises(RuntimeError, match="--protocol pairwise"):
        rewards(CompareReward("answer"), prompts=[question] * 2, completions=[said, said + " So."], answer=["17", "17"])


@pytest.mark.filterwarnings("default")
def test_comparisons_train(
    comparing: str, run_python: Callable[..., Any], guide: Callable[[str, str], list[str]], tmp_path: Path
) -> None:
    small_model.save(tmp_path / "Qwen" / "Qwen3-0.6B")
    program = guide("trl.md", "python")[0].replace("JurorReward", "CompareReward")
    assert "rewards/compare/mean" in run_python(program, JUROR_URL=comparing).stdout
