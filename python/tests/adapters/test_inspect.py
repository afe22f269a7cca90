"""Inspect's own `eval` with the scorer of `juror_rs.inspect`, and with a model that juror serves."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

inspect_ai = pytest.importorskip("inspect_ai")

from shared import HOSTILE, OUTSIDE, binary, serve, stop  # noqa: E402
from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser  # noqa: E402
from inspect_ai.scorer import Score, match  # noqa: E402
from inspect_ai.model import ModelOutput, get_model  # noqa: E402
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver  # noqa: E402

from juror_rs import JudgeError, client  # noqa: E402
from juror_rs.inspect import juror  # noqa: E402


@solver
def says(responses: list[str]) -> Solver:
    """Answers the samples, which are numbered from 1."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.output = ModelOutput.from_content("known", responses[int(state.sample_id) - 1])
        return state

    return solve


def evaluated(tmp_path: Path, samples: list[Sample], responses: list[str], **settings: Any) -> Any:
    """The log of an evaluation in which the answers are `responses`."""
    task = inspect_ai.Task(samples, solver=says(responses), scorer=juror(**settings))
    (log,) = inspect_ai.eval(task, model=None, display="none", log_dir=str(tmp_path), fail_on_error=False)
    return log


def scores(log: Any) -> list[Any]:
    return [sample.scores["juror"] for sample in sorted(log.samples, key=lambda sample: sample.id)]


def test_scores_are_those_of_juror_judge(
    server: str, rows: list[dict[str, Any]], offline: list[dict[str, Any]], tmp_path: Path
) -> None:
    samples = [Sample(input=row["question"], target=row["reference_answer"]) for row in rows]
    log = evaluated(tmp_path, samples, [row["student_answer"] for row in rows], url=server)
    assert log.status == "success"
    assert [score.value for score in scores(log)] == [verdict["reward"] for verdict in offline]
    assert [score.metadata["process"] for score in scores(log)] == [verdict["process"] for verdict in offline]
    mean = sum(verdict["reward"] for verdict in offline) / len(offline)
    assert log.results.scores[0].metrics["mean"].value == pytest.approx(mean)


def test_what_has_no_verdict_is_unscored(server: str, rows: list[dict[str, Any]], tmp_path: Path) -> None:
    row = rows[0]
    samples = [
        Sample(input=row["question"], target=row["reference_answer"]),
        Sample(input=OUTSIDE, target="true"),
        Sample(input=row["question"], target=row["reference_answer"]),
    ]
    log = evaluated(tmp_path, samples, [row["student_answer"], "Liouville.", HOSTILE], url=server)
    right, unscored, hostile = scores(log)
    assert right.value == 1.0 and hostile.value == 0.0
    # Inspect before 0.3.261 keeps no reason.
    assert getattr(unscored, "reason", "grader_failed") == "grader_failed" and "out_of_domain" in unscored.explanation
    assert log.results.scores[0].metrics["mean"].value == 0.5


def test_a_server_that_is_down_fails_before_the_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "REACHED_WITHIN", 0.0)
    with pytest.raises(JudgeError, match="Is the server running"):
        juror(url="http://127.0.0.1:9")


def test_a_server_that_has_gone_is_an_error_of_the_sample(tmp_path: Path) -> None:
    process, url = serve()
    task = inspect_ai.Task([Sample(input="1 + 1?", target="2")], solver=says(["2"]), scorer=juror(url=url, timeout=2.0))
    stop(process)
    (log,) = inspect_ai.eval(task, model=None, display="none", log_dir=str(tmp_path), fail_on_error=False)
    assert log.samples[0].error is not None and not log.samples[0].scores


@pytest.mark.parametrize("settings", [{"api_key": "secret"}, {"url": "http://trainer:secret@127.0.0.1:9"}])
def test_a_key_is_kept_out_of_the_logs(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="JUROR_API_KEY") as caught:
        juror(**settings)
    assert "secret" not in str(caught.value)


@pytest.fixture
def served(server: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The judge's engine as a model of Inspect."""
    monkeypatch.setenv("JUROR_BASE_URL", f"{server}/v1")
    monkeypatch.setenv("JUROR_API_KEY", "any")
    return get_model("openai-api/juror/tiny", memoize=False)


def test_a_model_that_juror_serves_is_evaluated(served: Any, server: str, tmp_path: Path) -> None:
    task = inspect_ai.Task([Sample(input="1 + 1?", target="2")], solver=generate(max_tokens=8), scorer=juror(url=server))
    (log,) = inspect_ai.eval(task, model=served, display="none", log_dir=str(tmp_path))
    assert log.status == "success"
    (usage,) = log.stats.model_usage.values()
    assert usage.output_tokens <= 8 and usage.total_tokens > 8


@pytest.mark.parametrize("stream", [False, True])
def test_its_settings_reach_the_engine(server: str, monkeypatch: pytest.MonkeyPatch, stream: bool) -> None:
    import asyncio

    import openai
    from inspect_ai.model import GenerateConfig, ResponseSchema
    from inspect_ai.util import json_schema

    monkeypatch.setenv("JUROR_BASE_URL", f"{server}/v1")
    monkeypatch.setenv("JUROR_API_KEY", "any")
    schema = ResponseSchema(name="grade", json_schema=json_schema(dict[str, bool]))
    configs = [
        GenerateConfig(max_tokens=8, temperature=0.7, top_p=0.9, seed=3, stop_seqs=["\n\n"], num_choices=2),
        GenerateConfig(max_tokens=8, logprobs=True, top_logprobs=2),
        GenerateConfig(max_tokens=32, response_schema=schema),
    ]
    model = get_model("openai-api/juror/tiny", memoize=False, stream=stream)
    generate_all = (asyncio.run(model.generate("1 + 1?", config=config)) for config in configs)
    if stream and not hasattr(Score(value=0), "reason"):
        # Before 0.3.261 a streamed answer that ends at its length, as those of `tiny` do here, is an error.
        with pytest.raises(openai.LengthFinishReasonError):
            next(generate_all)
        return
    first, second, third = generate_all
    assert len(first.choices) == 2
    assert second.choices[0].logprobs is not None
    if third.stop_reason == "stop":
        assert isinstance(json.loads(third.completion), dict)


def test_a_prompt_that_is_too_long_is_known_as_such(served: Any) -> None:
    import asyncio

    output = asyncio.run(served.generate("1 " * 50_000))
    assert output.stop_reason == "model_length"


def test_the_task_of_the_guide_runs(
    server: str, guide: Callable[[str, str], list[str]], tmp_path: Path, rows: list[dict[str, Any]], monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUROR_URL", server)
    lines = [json.dumps({"input": row["question"], "target": row["reference_answer"]}) for row in rows[:2]]
    Path("samples.jsonl").write_text("\n".join(lines), encoding="utf-8")
    Path("arithmetic.py").write_text("\n".join(guide("inspect.md", "python")), encoding="utf-8")
    monkeypatch.setenv("JUROR_BASE_URL", f"{server}/v1")
    monkeypatch.setenv("JUROR_API_KEY", "any")
    (log,) = inspect_ai.eval(
        "arithmetic.py", model="openai-api/juror/tiny", max_tokens=16, display="none", log_dir=str(tmp_path / "logs")
    )
    assert log.status == "success" and log.results.scores[0].name == "juror"


def test_one_scorer_has_a_dict_of_values(
    server: str, rows: list[dict[str, Any]], offline: list[dict[str, Any]], tmp_path: Path
) -> None:
    samples = [Sample(input=row["question"], target=row["reference_answer"]) for row in rows]
    samples.append(Sample(input=OUTSIDE, target="true"))
    said = [row["student_answer"] for row in rows] + ["Liouville."]
    fields = ["reward", "process", "outcome"]
    log = evaluated(tmp_path, samples, said, url=server, value=fields)
    assert log.status == "success"
    *known, unscored = scores(log)
    for field in fields:
        assert [score.value[field] for score in known] == [float(verdict[field]) for verdict in offline]
    assert "out_of_domain" in unscored.explanation
    means = {score.name: score.metrics["mean"].value for score in log.results.scores}
    assert means == {
        field: pytest.approx(sum(float(verdict[field]) for verdict in offline) / len(offline)) for field in fields
    }


def test_two_judges_have_names_of_their_own(server: str, rows: list[dict[str, Any]], tmp_path: Path) -> None:
    row = rows[0]
    scorers = [juror(url=server, name="strict"), juror(url=server, value="outcome", name="kind")]
    task = inspect_ai.Task(
        [Sample(input=row["question"], target=row["reference_answer"])], solver=says([row["student_answer"]]), scorer=scorers
    )
    (log,) = inspect_ai.eval(task, model=None, display="none", log_dir=str(tmp_path))
    assert log.status == "success" and [score.name for score in log.results.scores] == ["strict", "kind"]
    assert set(log.samples[0].scores) == {"strict", "kind"}


def test_a_field_that_no_verdict_has_is_named() -> None:
    with pytest.raises(ValueError, match="'beauty'"):
        juror(url="http://127.0.0.1:9", value=["reward", "beauty"])


def test_inspect_finds_the_scorer_by_its_name() -> None:
    from inspect_ai._util.registry import registry_lookup

    assert registry_lookup("scorer", "juror") or registry_lookup("scorer", "juror_rs/juror")


@pytest.mark.parametrize("log_format", ["eval", "json"])
def test_its_logs_are_rows_and_labels(log_format: Any, tmp_path: Path) -> None:
    """Inputs as text and as messages, several targets, two epochs, an id with a slash, and a sample that fails."""
    dialogue = [
        ChatMessageSystem(content="Be brief."),
        ChatMessageUser(content="Hello"),
        ChatMessageAssistant(content="Hello!"),
        ChatMessageUser(content="What is 3 + 3?"),
    ]
    samples = [
        Sample(id=1, input="What is 1 + 1?", target="2"),
        Sample(id="dir/2", input="What is 2 + 2?", target=["four", "4"]),
        Sample(id=3, input=dialogue, target="6"),
        Sample(id=4, input="What is 4 + 4?", target="8"),
    ]
    responses = {"1": "2", "dir/2": "It is 4", "3": "5"}

    @solver
    def known() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            state.output = ModelOutput.from_content("known", responses[str(state.sample_id)])
            return state

        return solve

    task = inspect_ai.Task(samples, solver=known(), scorer=match(), epochs=2)
    logs = tmp_path / "logs"
    (log,) = inspect_ai.eval(
        task, model=None, display="none", log_dir=str(logs), log_format=log_format, fail_on_error=False
    )
    assert {sample.id for sample in log.samples if sample.error} == {4}
    (written,) = [path for path in logs.iterdir() if path.suffix == f".{log_format}"]
    out = tmp_path / "verdicts.jsonl"
    judge = [binary(), "judge", str(written), "--rules", "only", "-o", str(out)]
    said = subprocess.run(judge, check=True, capture_output=True, text=True).stderr
    assert "columns: inspect rows: " in said and "2 rows with an error left out" in said
    verdicts = {verdict["id"]: verdict for verdict in map(json.loads, out.read_text().splitlines())}
    scored = {f"{sample.id}:{sample.epoch}": sample for sample in log.samples if not sample.error}
    assert verdicts.keys() == scored.keys() and len(verdicts) == 6
    assert all(verdicts[id]["group"] == str(sample.id) for id, sample in scored.items())
    labels = {id: sample.scores["match"].value == "C" for id, sample in scored.items()}
    assert {id: verdict["outcome"] for id, verdict in verdicts.items()} == labels
    rows = tmp_path / "rows.jsonl"
    evaluated = [binary(), "eval", str(out), "--labels", str(written), "--rows-out", str(rows)]
    subprocess.run(evaluated, check=True, capture_output=True)
    found = map(json.loads, rows.read_text().splitlines())
    assert {row["id"]: row["label"]["outcome"] for row in found} == labels
