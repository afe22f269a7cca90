"""lm-evaluation-harness's own `simple_evaluate`, with a model that juror serves and the rules of `juror_rs.lm_eval`."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

lm_eval = pytest.importorskip("lm_eval")

from shared import OUTSIDE, ROOT, binary  # noqa: E402
from lm_eval.api.instance import Instance  # noqa: E402
from lm_eval.api.model import LM  # noqa: E402
from lm_eval.loggers import EvaluationTracker  # noqa: E402
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


def test_its_files_of_samples_meet_labels_by_doc_id(
    task: TaskManager, rows: list[dict[str, Any]], offline: list[dict[str, Any]], tmp_path: Path
) -> None:
    model = Says({row["question"]: row["student_answer"] for row in rows})
    results = lm_eval.simple_evaluate(model=model, tasks=["arithmetic"], task_manager=task, log_samples=True)
    tracker = EvaluationTracker(output_path=str(tmp_path / "logged"))
    samples = results["samples"]["arithmetic"]
    tracker.save_results_aggregated(results=results, samples=results["samples"])
    tracker.save_results_samples(task_name="arithmetic", samples=samples)
    (written,) = (tmp_path / "logged").rglob("samples_*.jsonl")
    out = tmp_path / "verdicts.jsonl"
    judge = [binary(), "judge", str(written), "--rules", "only", "-o", str(out)]
    done = subprocess.run(judge, check=False, capture_output=True, text=True)
    assert done.returncode in (0, 3) and "columns: lm-eval rows: " in done.stderr, done.stderr
    labels = tmp_path / "labels.csv"
    right = {str(at): verdict["outcome"] is True for at, verdict in enumerate(offline)}
    lines = [f"{at},{str(label).lower()}" for at, label in right.items()]
    labels.write_text("\n".join(["doc_id,is_correct", *lines]), encoding="utf-8")
    joined = tmp_path / "joined.jsonl"
    by_doc = ["--labels", str(labels), "--columns", "id=doc_id", "--rows-out", str(joined)]
    subprocess.run([binary(), "eval", str(out), *by_doc], check=True, capture_output=True)
    found = {row["id"]: row["label"]["outcome"] for row in map(json.loads, joined.read_text().splitlines())}
    assert found == right


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


def judged_task(tmp_path: Path, guide: Callable[[str, str], list[str]]) -> TaskManager:
    """The second task of the guide."""
    (tmp_path / "tasks" / "judged.yaml").write_text(guide("lm-eval.md", "yaml")[1], encoding="utf-8")
    return TaskManager(include_path=str(tmp_path / "tasks"))


def test_the_judge_is_a_metric_of_the_table(
    judge_url: str,
    task: TaskManager,
    rows: list[dict[str, Any]],
    offline: list[dict[str, Any]],
    tmp_path: Path,
    guide: Callable[[str, str], list[str]],
) -> None:
    model = Says({row["question"]: row["student_answer"] for row in rows})
    manager = judged_task(tmp_path, guide)
    results = lm_eval.simple_evaluate(model=model, tasks=["judged"], task_manager=manager, log_samples=True)
    measured = results["results"]["judged"]
    for metric, key in (("juror_reward", "reward"), ("juror_process", "process"), ("juror_outcome", "outcome")):
        known = [float(verdict[key]) for verdict in offline if verdict[key] is not None]
        assert measured[f"{metric},judge"] == pytest.approx(sum(known) / len(known))
    assert measured["juror_judged,judge"] == sum(verdict["status"] == "ok" for verdict in offline) / len(offline)
    # Responses stay as they are, for other metrics and for the logs.
    assert measured["juror_decided,judge"] > 0
    samples = results["samples"]["judged"]
    assert [sample["filtered_resps"][0] for sample in samples] == [row["student_answer"] for row in rows]
    assert [sample["juror_reward"] for sample in samples] == [verdict["reward"] for verdict in offline]
    json.dumps(samples)
    assert "juror_reward" in lm_eval.utils.make_table(results)


def test_what_has_no_verdict_is_left_out_of_the_table(judge_url: str, rows: list[dict[str, Any]]) -> None:
    docs = [{"q": OUTSIDE, "a": "true"}, {"q": rows[0]["question"], "a": rows[0]["reference_answer"]}]
    said = [["Liouville."], [rows[0]["student_answer"]]]
    judged = juror_rs.lm_eval.JurorJudge("q", "a").apply(said, docs)
    values = [juror_rs.lm_eval.juror_reward(["x"], texts) for texts in judged]
    assert values == [None, 1.0] and juror_rs.lm_eval.juror_mean(values) == 1.0
    assert [juror_rs.lm_eval.juror_judged(["x"], texts) for texts in judged] == [0.0, 1.0]
    with pytest.raises(KeyError, match="reference:"):
        juror_rs.lm_eval.JurorJudge("q").apply(said, docs)
    with pytest.raises(TypeError, match="juror_judge"):
        juror_rs.lm_eval.juror_reward(["x"], ["y"])


@pytest.fixture
def tokenizer(tmp_path: Path) -> str:
    """The tokenizer of `tiny`, as transformers reads one."""
    from transformers import PreTrainedTokenizerFast

    fast = PreTrainedTokenizerFast(tokenizer_file=str(ROOT / "models" / "tiny" / "tokenizer.json"), eos_token="<|im_end|>")
    fast.save_pretrained(tmp_path / "tokenizer")
    return str(tmp_path / "tokenizer")


CHOICES = """
task: choices
dataset_path: json
dataset_kwargs:
  data_files:
    test: choices.jsonl
test_split: test
output_type: multiple_choice
doc_to_text: "{{question}}"
doc_to_choice: "{{choices}}"
doc_to_target: "{{label}}"
metric_list:
  - metric: acc
  - metric: acc_norm
"""
ROLLING = """
task: rolling
dataset_path: json
dataset_kwargs:
  data_files:
    test: choices.jsonl
test_split: test
output_type: loglikelihood_rolling
doc_to_text: ""
doc_to_target: "{{question}}"
metric_list:
  - metric: word_perplexity
  - metric: bits_per_byte
"""


@pytest.mark.parametrize(("batch", "tokenized"), [(1, True), (3, True), (1, False)])
def test_log_likelihood_tasks_run(
    server: str, tokenizer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int, tokenized: bool
) -> None:
    """The choice that lm-eval takes is the likeliest one by single requests, whose sums are those of the API."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    choices = ["4 apples", "5 apples", "50 pears"]
    docs = [{"question": f"Ann has {n} apples and buys 2. Now she has", "choices": choices, "label": n - 2} for n in (2, 3)]
    (tmp_path / "choices.jsonl").write_text("\n".join(map(json.dumps, docs)), encoding="utf-8")
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "choices.yaml").write_text(CHOICES, encoding="utf-8")
    (tmp_path / "tasks" / "rolling.yaml").write_text(ROLLING, encoding="utf-8")
    settings = {
        "model": "tiny",
        "base_url": f"{server}/v1/completions",
        "tokenizer_backend": "huggingface",
        "tokenizer": tokenizer,
        "batch_size": batch,
        "tokenized_requests": tokenized,
        "max_length": 512,
    }
    results = lm_eval.simple_evaluate(
        model="local-completions",
        model_args=settings,
        tasks=["choices", "rolling"],
        task_manager=TaskManager(include_path=str(tmp_path / "tasks")),
        log_samples=True,
    )
    for sample in results["samples"]["choices"]:
        sums = [float(said[0][0]) for said in sample["resps"]]
        assert all(-1e4 < one < 0 for one in sums)
        expected = [logprob_of(server, sample["doc"]["question"], f" {choice}") for choice in choices]
        assert sums == pytest.approx(expected, abs=1e-3)
    assert 0 <= results["results"]["choices"]["acc,none"] <= 1
    assert results["results"]["rolling"]["bits_per_byte,none"] > 0


def logprob_of(server: str, context: str, continuation: str) -> float:
    """The log-probability of a continuation, by the characters where its tokens begin."""
    from urllib.request import Request, urlopen

    body = {"model": "tiny", "prompt": context + continuation, "echo": True, "logprobs": 0, "max_tokens": 0}
    request = Request(f"{server}/v1/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urlopen(request) as answer:
        logprobs = json.load(answer)["choices"][0]["logprobs"]
    places = zip(logprobs["text_offset"], logprobs["token_logprobs"], strict=True)
    return sum(value for place, value in places if place >= len(context))
