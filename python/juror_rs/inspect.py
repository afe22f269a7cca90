"""A scorer for Inspect.

```python
from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.solver import generate
from juror_rs.inspect import juror

@task
def arithmetic():
    return Task(json_dataset("samples.jsonl"), solver=generate(), scorer=juror(url="http://127.0.0.1:8000"))
```

A sample without a verdict is unscored, with the reason `grader_failed` (from Inspect 0.3.261 on): Inspect keeps it and leaves it out
of the metrics. Where no server answers when the scorer is made, that fails; where it cannot be reached later, the sample ends with an error, and Inspect's `fail_on_error` and `retry_on_error` apply.

A model that juror serves needs nothing of this module: `inspect eval … --model openai-api/juror/tiny` with
`JUROR_BASE_URL=http://127.0.0.1:8000/v1` and any `JUROR_API_KEY`.
"""

# mypy: disable-error-code="import-not-found,misc,untyped-decorator"
# pyright: reportMissingImports=false
# The framework has no types, or is not installed where these are checked.

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from juror_rs import Judge, _messages

__all__ = ["juror"]

if not hasattr(Score, "unscored"):
    raise ImportError(
        "juror_rs.inspect needs Inspect 0.3.214 or later, whose scores may be missing: pip install --upgrade inspect-ai"
    )

_FIELDS = ("reward", "process", "outcome", "perfect", "overall")

# Inspect before 0.3.261 keeps no reason.
_REASON = {"reason": "grader_failed"} if "reason" in inspect.signature(Score.unscored).parameters else {}


def juror(
    model: str | None = None,
    url: str | None = None,
    value: str | Sequence[str] = "reward",
    name: str = "juror",
    **settings: Any,
) -> Scorer:
    """Scores a sample by a judge; the target is the reference answer, or several that are all right.

    Args:
        model: The judge to start, if `url` is not given, nor several judges in `settings`; `tiny` if nothing else is said.
        url: The address of a running server.
        value: What the score is: `reward`, `process`, `outcome`, `perfect` or `overall`, or several of them: then the score is a dict, with
            metrics for each. All are in its metadata.
        name: What the scorer is called in logs and tables: give each of several judges its own.
        settings: More of `juror_rs.Judge`: `protocol`, `cascade`, `panel`, `device`, `cache`, …

    Raises:
        ValueError: With the server's key among the arguments, which Inspect writes to its logs: set `JUROR_API_KEY`; or if `value` names
            what no verdict has.
    """
    several = not isinstance(value, str)
    values: Any = list(value) if several else value
    return _registered(name, several)(model=model, url=url, value=values, **settings)


@lru_cache(maxsize=None)
def _registered(name: str, several: bool) -> Callable[..., Scorer]:
    """The scorer under this name, as Inspect knows it."""
    metrics: Any = [mean(), stderr()]
    return scorer(metrics={"*": metrics} if several else metrics, name=name)(_scorer)


def _scorer(model: str | None = None, url: str | None = None, value: str | list[str] = "reward", **settings: Any) -> Scorer:
    if "api_key" in settings or (url is not None and urlsplit(url).password is not None):
        raise ValueError("Inspect writes a scorer's arguments to its logs: set JUROR_API_KEY, and leave the key out of them")
    wanted = [value] if isinstance(value, str) else value
    if unknown := [field for field in wanted if field not in _FIELDS]:
        raise ValueError(f"value names {', '.join(map(repr, unknown))}: it may be {', '.join(_FIELDS)}")
    judge = Judge(url=url, **settings) if url is not None else Judge(model, **settings)

    async def score(state: TaskState, target: Target) -> Score:
        references = list(target)
        sample = {
            # Not `input_text`, which is the last turn alone.
            "question": _messages.question(state.input),
            "reference": references[0] if len(references) == 1 else references,
            "response": state.output.completion,
        }
        (verdict,) = await judge.ajudge([sample], progress=False, skip_bad=True)
        metadata = {key: getattr(verdict, key) for key in ("status", *_FIELDS)}
        known = {field: metadata[field] for field in wanted if verdict.status == "ok" and metadata[field] is not None}
        if not known:
            return Score.unscored(
                answer=state.output.completion,
                explanation=f"no verdict: {verdict.status}" + (f": {verdict.error}" if verdict.error else ""),
                metadata=metadata,
                **_REASON,
            )
        # What is not known of a verdict is unscored by itself.
        numbers = {field: float(known.get(field, math.nan)) for field in wanted}
        return Score(
            value=numbers[value] if isinstance(value, str) else numbers,
            answer=state.output.completion,
            explanation=verdict.reason,
            metadata=metadata,
        )

    return score


# Inspect finds it by its name without a call.
_registered("juror", False)
