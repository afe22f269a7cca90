"""lm-evaluation-harness's own `simple_evaluate`, with a model that juror serves and the rules of `juror_rs.lm_eval`."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

lm_eval = pytest.importorskip("lm_eval")

from shared import OUTSIDE  # noqa: E402
from lm_eval.api.instance import Instance  # noqa: E402
from lm_eval.api.model import LM  # noqa: E402
from lm_eval.tasks import TaskManager  # noqa: E402

import juror_rs.lm_eval  # noqa: E402
from juror_rs import Judge  # noqa: E402


class Says(LM):
    """A model that has an answer to each question."""

    def __init__(self, answers: dict[str, str]) -> None:
        super().__init__()
        self.answers = answers

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        return [self.answers[request.args[0]] for request in requests]

    def loglikelihood(self, requests: Any) -> Any:
        raise NotImplementedError

    def loglikelihood_rolling(self, requests: Any) -> Any:
        raise NotImplementedError


@pytest.fixture
def task(tmp_path: Path, rows: list[dict[str, Any]], guide: Callable[[str, str], list[str]], monkeypatch: Any) -> TaskManager:
    """The task of the guide, on real rows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    lines = [json.dumps({"question": row["question"], "answer": row["reference_answer"]}) for row in rows]
    (tmp_path / "questions.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "arithmetic.yaml").write_text(guide("lm-eval.md", "yaml")[0], encoding="utf-8")
    return TaskManager(include_path=str(tmp_path / "tasks"))


def test_rules_as_filter_and_metric(task: TaskManager, rows: list[dict[str, Any]], offline: list[dict[str, Any]]) -> None:
    model = Says({row["question"]: row["student_answer"] for row in rows})
    results = lm_eval.simple_evaluate(model=model, tasks=["arithmetic"], task_manager=task, log_samples=True)
    found = [verdict["rule_outcome"] for verdict in offline]
    decided = [outcome for outcome in found if outcome is not None]
    measured = results["results"]["arithmetic"]
    assert measured["juror_equal,juror"] == pytest.approx(sum(decided) / len(decided))
    assert measured["juror_decided,juror"] == pytest.approx(len(decided) / len(found))


def test_what_the_rules_cannot_tell_is_left_out() -> None:
    assert juror_rs.lm_eval.juror_equal(["3"], [r"$\frac{3$"]) is None
    assert juror_rs.lm_eval.juror_mean([1.0, None, 0.0]) == 0.5
    assert math.isnan(juror_rs.lm_eval.juror_mean([None]))


def test_the_judge_over_samples(
    server: str, task: TaskManager, rows: list[dict[str, Any]], offline: list[dict[str, Any]]
) -> None:
    model = Says({row["question"]: row["student_answer"] for row in rows})
    results = lm_eval.simple_evaluate(model=model, tasks=["arithmetic"], task_manager=task, log_samples=True)
    with Judge(url=server) as judge:
        for question in ("question", None):
            verdicts = juror_rs.lm_eval.judge_samples(results["samples"]["arithmetic"], judge, question=question)
            assert [verdict.reward for verdict in verdicts] == [verdict["reward"] for verdict in offline]


def test_samples_outside_the_judge_have_no_reward(server: str) -> None:
    sample = {"doc_id": 0, "doc": {}, "target": "true", "arguments": [(OUTSIDE, {})], "resps": [["Liouville."]]}
    with Judge(url=server) as judge:
        (verdict,) = juror_rs.lm_eval.judge_samples([sample], judge)
    assert verdict.status == "out_of_domain" and verdict.reward is None


@pytest.mark.parametrize("concurrent", [1, 8])
def test_a_model_that_juror_serves_answers_chats(server: str, task: TaskManager, concurrent: int) -> None:
    results = lm_eval.simple_evaluate(
        model="local-chat-completions",
        model_args={"model": "tiny", "base_url": f"{server}/v1/chat/completions", "num_concurrent": concurrent},
        tasks=["arithmetic"],
        task_manager=task,
        apply_chat_template=True,
        gen_kwargs={"max_gen_toks": 8},
        limit=4,
        log_samples=True,
    )
    samples = results["samples"]["arithmetic"]
    assert len(samples) == 4 and all(isinstance(sample["resps"][0][0], str) for sample in samples)
    with Judge(url=server) as judge:
        assert len(juror_rs.lm_eval.judge_samples(samples, judge)) == 4


def test_a_model_that_juror_serves_completes(server: str, task: TaskManager) -> None:
    results = lm_eval.simple_evaluate(
        model="local-completions",
        model_args={"model": "tiny", "base_url": f"{server}/v1/completions", "tokenizer_backend": None, "batch_size": 2},
        tasks=["arithmetic"],
        task_manager=task,
        gen_kwargs={"max_gen_toks": 8},
        limit=4,
    )
    assert results["n-samples"]["arithmetic"]["effective"] == 4
