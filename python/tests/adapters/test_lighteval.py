"""lighteval's own pipeline with the metrics of `juror_rs.lighteval`, on answers that are known."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lighteval")

from lighteval.logging.evaluation_tracker import EvaluationTracker  # noqa: E402
from lighteval.models.abstract_model import LightevalModel  # noqa: E402
from lighteval.models.dummy.dummy_model import DummyModel, DummyModelConfig  # noqa: E402
from lighteval.models.model_output import ModelResponse  # noqa: E402
from lighteval.pipeline import ParallelismManager, Pipeline, PipelineParameters  # noqa: E402
from lighteval.tasks.registry import Registry  # noqa: E402
from lighteval.tasks.requests import Doc  # noqa: E402

from juror_rs.lighteval import RulesMetric, juror_equal, mean_of_decided  # noqa: E402


class Says(DummyModel):
    """A model that has an answer to each question."""

    def __init__(self, answers: dict[str, str]) -> None:
        super().__init__(DummyModelConfig())
        self.answers = answers

    def greedy_until(self, docs: list[Doc]) -> list[ModelResponse]:
        return [ModelResponse(text=[self.answers[doc.query]]) for doc in docs]


def evaluated(
    tmp_path: Path, rows: list[dict[str, Any]], guide: Callable[[str, str], list[str]], monkeypatch: pytest.MonkeyPatch
) -> dict[str, float]:
    """The results of the guide's task on these rows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    # Some of its built-in tasks ask the network as they are imported.
    for kind in ("_load_from_files", "_load_from_subdirs"):
        monkeypatch.setattr(Registry, kind, staticmethod(lambda *_: {}))
    (tmp_path / "questions").mkdir()
    lines = [json.dumps({"question": row["question"], "answer": row["reference_answer"]}) for row in rows]
    (tmp_path / "questions" / "test.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "tasks.py").write_text(guide("lighteval.md", "python")[0], encoding="utf-8")
    pipeline = Pipeline(
        tasks="arithmetic|0",
        pipeline_parameters=PipelineParameters(
            launcher_type=ParallelismManager.NONE, custom_tasks_directory=str(tmp_path / "tasks.py")
        ),
        evaluation_tracker=EvaluationTracker(output_dir=str(tmp_path / "results")),
        model=Says({row["question"]: row["student_answer"] for row in rows}),
    )
    assert isinstance(pipeline.model, LightevalModel)
    pipeline.evaluate()
    (results,) = (value for key, value in pipeline.get_results()["results"].items() if key.startswith("arithmetic"))
    return results


def test_the_metrics_are_the_rules(
    tmp_path: Path,
    rows: list[dict[str, Any]],
    by_rules: list[float | None],
    guide: Callable[[str, str], list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    results = evaluated(tmp_path, rows, guide, monkeypatch)
    decided = [reward for reward in by_rules if reward is not None]
    assert results["juror_equal"] == pytest.approx(sum(decided) / len(decided))
    assert results["juror_decided"] == pytest.approx(len(decided) / len(by_rules))


def compute(metric: RulesMetric, response: str, *golds: str) -> float:
    doc = Doc(query="?", choices=list(golds), gold_index=list(range(len(golds))))
    return metric.compute(doc=doc, model_response=ModelResponse(text=[response]))


def test_what_the_rules_cannot_tell_is_left_out() -> None:
    values = [compute(RulesMetric(), response, "7", "8") for response in ("It is 8.", "It is 9.", r"$\frac{7$")]
    assert values[:2] == [1.0, 0.0] and math.isnan(values[2])
    assert mean_of_decided(values) == 0.5 and math.isnan(mean_of_decided([math.nan]))
    assert compute(RulesMetric("compat"), "28", r"$28\%$") == 1.0
    assert juror_equal.get_corpus_aggregations()["juror_equal"](values) == 0.5


def compute_again(place: int) -> float:
    return compute(RulesMetric(), f"The answer is {place}.", "8")


def test_they_run_in_threads_and_processes(everywhere: Callable[..., list[Any]]) -> None:
    assert everywhere(compute_again) == [float(place == 8) for place in range(16)] * 3
