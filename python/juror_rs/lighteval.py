"""Metrics for lighteval: the rules, sample by sample.

A task's module:

```python
from juror_rs.lighteval import juror_decided, juror_equal
from lighteval.tasks.lighteval_task import LightevalTaskConfig

task = LightevalTaskConfig(…, metrics=[juror_equal, juror_decided])
```

`juror_equal` is the share of responses whose final answer is one of the document's right answers. What the rules cannot tell is left out of
it, and counted by `juror_decided`, the share that they could: read them together. There are no signals and no time-outs, so any thread
and any process may compute them.
"""

# mypy: disable-error-code="import-untyped,import-not-found,misc"
# pyright: basic, reportMissingImports=false
# The framework has no types, or is not installed where these are checked.

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from lighteval.metrics.metrics_sample import SampleLevelComputation
from lighteval.metrics.utils.metric_utils import SampleLevelMetric
from lighteval.tasks.requests import SamplingMethod

from juror_rs._references import decide
from juror_rs.rules import Config, Profile

__all__ = ["RulesMetric", "juror_decided", "juror_equal", "mean_of_decided"]


class RulesMetric(SampleLevelComputation):
    """Whether the first response's final answer is one of the document's right answers: 1.0, 0.0, or NaN where that cannot be told.

    Args:
        profile: How answers are found and compared: `strict`, `compat` (as Math-Verify), `gsm8k`, …
        config: Settings of `strict` and `compat`.
        decided: Say instead whether the rules could tell.
    """

    def __init__(self, profile: Profile = "strict", config: Config | None = None, *, decided: bool = False) -> None:
        self.profile: Profile = profile
        self.config = config
        self.decided = decided

    def compute(self, doc: Any, model_response: Any, **_: Any) -> float:
        """The value for one document."""
        (decision,) = decide([(doc.get_golds(), model_response.final_text[0])], profile=self.profile, config=self.config)
        if self.decided:
            return float(decision.equal is not None)
        return math.nan if decision.equal is None else float(decision.equal)


def mean_of_decided(values: Sequence[float]) -> float:
    """The mean of what the rules could tell; NaN if they could tell nothing."""
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


juror_equal = SampleLevelMetric(
    metric_name="juror_equal",
    sample_level_fn=RulesMetric(),
    category=SamplingMethod.GENERATIVE,
    corpus_level_fn=mean_of_decided,
    higher_is_better=True,
)
"""The share of right answers among those that the rules could tell."""

juror_decided = SampleLevelMetric(
    metric_name="juror_decided",
    sample_level_fn=RulesMetric(decided=True),
    category=SamplingMethod.GENERATIVE,
    corpus_level_fn=_mean,
    higher_is_better=True,
)
"""The share of responses that the rules could tell."""
