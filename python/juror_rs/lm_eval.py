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

__all__ = ["JurorAnswer", "judge_samples", "juror_decided", "juror_equal", "juror_mean"]


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
