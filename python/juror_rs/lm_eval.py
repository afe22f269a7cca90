"""For lm-evaluation-harness: the rules as a filter and a metric, and the judge over its samples.

Import this module before the tasks are loaded (`import juror_rs.lm_eval`), then name in a task's YAML

```yaml
filter_list:
  - name: juror
    filter:
      - function: juror_answer      # the final answer in each response, as the rules find it
      - function: take_first
metric_list:
  - metric: juror_equal             # is it the target, mathematically?
    aggregation: juror_mean
    higher_is_better: true
  - metric: juror_decided           # the share of samples that the rules could decide
    aggregation: mean
    higher_is_better: true
```

`juror_equal` is None where the rules cannot tell, and `juror_mean` leaves these out: read it beside `juror_decided`. (Of a task
with several targets a sample lm-eval itself makes 0 of a None.)

The judge, over the samples that `simple_evaluate(…, log_samples=True)` returns or `--log_samples` writes:

```python
results = lm_eval.simple_evaluate(model="local-chat-completions", …, log_samples=True)
verdicts = juror_rs.lm_eval.judge_samples(results["samples"]["my_task"], question="question")
```

Files of samples can also go to `juror judge samples_my_task_….jsonl -o verdicts.jsonl` as they are.

The judge as a metric, in lm-eval's own table:

```yaml
filter_list:
  - name: judge
    filter:
      - function: juror_judge         # judges all responses of the task at once; they stay as they are
        question: question            # keys of the document
        reference: answer
      - function: take_first
metric_list:
  - metric: juror_reward              # what the judge pays; also juror_process and juror_outcome
    aggregation: juror_mean
    higher_is_better: true
  - metric: juror_judged              # the share of samples with a verdict
    aggregation: mean
    higher_is_better: true
```
"""

# mypy: disable-error-code="import-untyped,import-not-found,misc,untyped-decorator"
# pyright: basic, reportMissingImports=false
# The framework has no types, or is not installed where these are checked.

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import lm_eval.api.metrics  # lm-eval loads its own metrics only while no other is registered
from lm_eval.api.filter import Filter
from lm_eval.api.registry import register_aggregation, register_filter, register_metric

from juror_rs import Judge, Verdict, _messages
from juror_rs.rules import Profile, verify

__all__ = [
    "Judged",
    "JurorAnswer",
    "JurorJudge",
    "judge_samples",
    "juror_decided",
    "juror_equal",
    "juror_judged",
    "juror_mean",
    "juror_outcome",
    "juror_process",
    "juror_reward",
]


@register_filter("juror_answer")
class JurorAnswer(Filter):
    """The final answer in each response, as the rules find it; the whole response if they find none.

    Args:
        profile: Of the rules: `strict`, `compat`, `gsm8k`, …
    """

    def __init__(self, profile: Profile = "strict", **_: Any) -> None:
        self._profile: Profile = profile

    def apply(self, resps: Iterable[Sequence[str]], docs: Sequence[dict[str, Any]]) -> list[list[str]]:
        return [[self._answer(text) for text in of_doc] for of_doc in resps]

    def _answer(self, text: str) -> str:
        found = verify("0", text, profile=self._profile).pred if isinstance(text, str) else []
        return found[0] if found else text


@register_aggregation("juror_mean")
def juror_mean(values: Iterable[float | None]) -> float:
    """The mean of what the rules could decide; NaN if they could decide nothing."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else float("nan")


class Judged(str):
    """A response with its verdict: other metrics see the text."""

    __slots__ = ("verdict",)
    verdict: Verdict | None

    def __new__(cls, text: object, verdict: Verdict | None = None) -> Judged:
        """lm-eval makes targets of the responses' type, which have no verdict."""
        judged = super().__new__(cls, text)
        judged.verdict = verdict
        return judged


@register_filter("juror_judge")
class JurorJudge(Filter):
    """Has a judge see all responses of a task; each stays as it is, and has a verdict for `juror_reward` and the other metrics.

    Args:
        question: The key of the document with the question.
        reference: The key of the document with the reference answer, or a list of right ones.
        settings: Of `juror_rs.Judge`: `url` of a server, if it is not in `JUROR_URL`, or `model`, `protocol`, … of one to start.
    """

    def __init__(self, question: str = "question", reference: str = "answer", **settings: Any) -> None:
        self._question = question
        self._reference = reference
        self._settings = settings

    def apply(self, resps: Iterable[Sequence[str]], docs: Sequence[dict[str, Any]]) -> list[list[Judged]]:
        said = [[str(text) for text in of_doc] for of_doc in resps]
        for key in (self._question, self._reference):
            if docs and key not in docs[0]:
                raise KeyError(f"the documents have no {key!r}: name the keys with `question:` and `reference:` of the filter juror_judge")
        rows = [
            {"question": doc[self._question], "reference": doc[self._reference], "response": text}
            for doc, texts in zip(docs, said, strict=True)
            for text in texts
        ]
        with Judge(**self._settings) as judge:
            verdicts = iter(judge.judge(rows, skip_bad=True))
        return [[Judged(text, next(verdicts)) for text in texts] for texts in said]


def _verdict(predictions: Sequence[str]) -> Verdict:
    verdict = getattr(predictions[0], "verdict", None)
    if not isinstance(verdict, Verdict):
        raise TypeError("a metric of the judge needs the filter juror_judge before it, in each filter of the task")
    return verdict


def _as_number(value: bool | None) -> float | None:
    return None if value is None else float(value)


@register_metric(metric="juror_reward", higher_is_better=True, output_type="generate_until", aggregation="juror_mean")
def juror_reward(references: Sequence[str], predictions: Sequence[str]) -> float | None:
    """What the judge pays for the response; None without a verdict."""
    return _verdict(predictions).reward


@register_metric(metric="juror_process", higher_is_better=True, output_type="generate_until", aggregation="juror_mean")
def juror_process(references: Sequence[str], predictions: Sequence[str]) -> float | None:
    """1.0 if the judge finds the derivation sound, 0.0 if not, None if it does not say."""
    return _as_number(_verdict(predictions).process)


@register_metric(metric="juror_outcome", higher_is_better=True, output_type="generate_until", aggregation="juror_mean")
def juror_outcome(references: Sequence[str], predictions: Sequence[str]) -> float | None:
    """1.0 if the final answer is right, 0.0 if not, None if that is not known."""
    return _as_number(_verdict(predictions).outcome)


@register_metric(metric="juror_judged", higher_is_better=True, output_type="generate_until", aggregation="mean")
def juror_judged(references: Sequence[str], predictions: Sequence[str]) -> float:
    """1.0 if the judge gave a verdict, else 0.0."""
    return float(_verdict(predictions).status == "ok")


@register_metric(
    metric="juror_equal", higher_is_better=True, output_type="generate_until", aggregation="juror_mean"
)
def juror_equal(references: Sequence[str], predictions: Sequence[str], profile: Profile = "strict") -> float | None:
    """1.0 if the prediction's answer equals the reference's, 0.0 if not, None if the rules cannot tell."""
    equal = verify(references[0], predictions[0], profile=profile).equal
    return None if equal is None else float(equal)


@register_metric(metric="juror_decided", higher_is_better=True, output_type="generate_until", aggregation="mean")
def juror_decided(references: Sequence[str], predictions: Sequence[str], profile: Profile = "strict") -> float:
    """1.0 if the rules can tell whether the answers are equal, else 0.0."""
    return float(verify(references[0], predictions[0], profile=profile).equal is not None)


def judge_samples(
    samples: Iterable[Mapping[str, Any]], judge: Judge | None = None, *, question: str | None = None
) -> list[Verdict]:
    """Judges the samples of a task: a verdict for each response, in order.

    Args:
        samples: As lm-eval logs them, with `doc`, `target`, `arguments` and `resps`.
        judge: The judge; `Judge()` if not given.
        question: The field of `doc` with the question; what the model was asked, with its few-shots, if not given.
    """
    rows: list[dict[str, object]] = [
        {
            "id": str(sample["doc_id"]),
            "question": sample["doc"][question] if question is not None else _asked(sample["arguments"]),
            "reference": sample["target"] if isinstance(sample["target"], list) else str(sample["target"]),
            "response": response,
        }
        for sample in samples
        for responses in sample["resps"]
        for response in ([responses] if isinstance(responses, str) else responses)
    ]
    if judge is not None:
        return judge.judge(rows, skip_bad=True)
    with Judge() as judge:
        return judge.judge(rows, skip_bad=True)


def _asked(arguments: Any) -> str | None:
    """The first argument of the request: a text, or messages as JSON."""
    if isinstance(arguments, Mapping):
        asked: object = cast("Mapping[str, Any]", arguments)["gen_args_0"]["arg_0"]
    else:
        asked = arguments[0][0]
    if isinstance(asked, (list, tuple)):
        asked = cast("Sequence[object]", asked)[0]
    text = str(asked)
    return _messages.question(json.loads(text)) if text.startswith('[{"role"') else text
