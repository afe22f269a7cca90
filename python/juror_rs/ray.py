"""The judge as a stage of a Ray Data pipeline.

```python
import ray
import juror_rs.ray

rollouts = ray.data.read_parquet("s3://bucket/rollouts/")
judged = juror_rs.ray.judge(
    rollouts, model="Qwen/Qwen3-8B", concurrency=8, num_gpus=1, batch_size=2048, cache="/shared/verdicts"
)
judged.write_parquet("s3://bucket/judged/")
```

or, without the check of resources, as any other class:

```python
judged = rollouts.repartition(target_num_rows_per_block=2048).map_batches(
    juror_rs.ray.Judge,
    fn_constructor_kwargs={"model": "Qwen/Qwen3-8B", "cache": "/shared/verdicts"},
    batch_format="pyarrow",
    concurrency=8,
    num_gpus=1,
    batch_size=2048,
)
```

Each actor has one server, which lives as long as the actor. Rows keep their columns and get those of `SCHEMA`: a row that cannot
be judged has its `judge_status` and `judge_error`, and no reward. What an actor has judged is in `cache`, a folder that all
nodes see: the same command again judges only what was under way.
"""

# mypy: disable-error-code="import-untyped,import-not-found,no-untyped-call"
# pyright: basic, reportMissingImports=false
# The framework has no types, or is not installed where these are checked.

from __future__ import annotations

import logging
import math
import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import ray

from juror_rs import Judge as _Judge
from juror_rs import JudgeError, Verdict

if TYPE_CHECKING:
    from ray.data import Dataset

__all__ = ["SCHEMA", "Judge", "check_resources", "judge"]

SCHEMA = pa.schema(
    [
        ("judge_status", pa.string()),
        ("judge_reward", pa.float64()),
        ("judge_process", pa.bool_()),
        ("judge_outcome", pa.bool_()),
        ("judge_perfect", pa.bool_()),
        ("judge_overall", pa.bool_()),
        ("judge_rule_outcome", pa.bool_()),
        ("judge_reason", pa.string()),
        ("judge_error", pa.string()),
    ]
)
"""The columns that a verdict adds; their types are the same in every block, whatever its verdicts are."""

_QUIET_SECONDS = 60.0
_PAUSES = (1.0, 5.0)


class Judge:
    """Judges batches of rows; a class for `Dataset.map_batches` with `batch_format="pyarrow"`.

    Args:
        question, reference, response: The names of the columns.
        settings: Of `juror_rs.Judge`: `model`, `device`, `protocol`, `cache`, `arguments`, or the `url` of a running server.
    """

    def __init__(
        self, *, question: str = "question", reference: str = "reference", response: str = "response", **settings: Any
    ) -> None:
        self._columns = {"question": question, "reference": reference, "response": response}
        _limit_threads()
        self._judge = _with_retries(lambda: _Judge(**settings))
        self._quiet = threading.Timer(_QUIET_SECONDS, _warn_of_starvation)
        self._quiet.daemon = True
        self._quiet.start()

    def __call__(self, batch: pa.Table) -> pa.Table:
        """The rows, each with its verdict."""
        self._quiet.cancel()
        missing = [name for name in self._columns.values() if name not in batch.column_names]
        if missing:
            raise KeyError(f"no column {missing[0]!r} in the data (it has {batch.column_names}): name it for juror_rs.ray.Judge")
        taken = [name for name in SCHEMA.names if name in batch.column_names]
        if taken:
            raise ValueError(f"the data have a column {taken[0]!r} already, as if judged before: drop or rename it")
        rows = batch.select(list(self._columns.values())).to_pylist()
        samples: list[dict[str, object]] = [{key: row[column] for key, column in self._columns.items()} for row in rows]
        # Where the server has died, the next call starts another.
        verdicts: list[Verdict] = _with_retries(lambda: self._judge.judge(samples, progress=False, skip_bad=True))
        for field in SCHEMA:
            values = [getattr(verdict, field.name.removeprefix("judge_"), None) for verdict in verdicts]
            batch = batch.append_column(field, pa.array(values, field.type))
        return batch

    def close(self) -> None:
        """Ends the server, if this stage started it."""
        self._quiet.cancel()
        self._judge.close()


def judge(
    dataset: Dataset,
    *,
    concurrency: int = 1,
    num_cpus: float = 1.0,
    num_gpus: float = 0.0,
    batch_size: int = 1024,
    **settings: Any,
) -> Dataset:
    """Judges a dataset by `concurrency` actors, after `check_resources`.

    Args:
        dataset: Rows with a question, a reference and a response each.
        concurrency: How many judges.
        num_cpus, num_gpus: What each of them holds.
        batch_size: Rows a batch. A killed actor has this many to judge again at most, without `cache`.
        settings: Of `juror_rs.ray.Judge`. A relative `cache` or `panel` is below this process's working folder, and all nodes must see it.
    """
    for name in ("cache", "panel"):
        path = settings.get(name)
        if path is not None and "://" not in os.fspath(path):
            settings[name] = os.path.abspath(path)  # Actors run in folders of their own.
    check_resources(concurrency, num_cpus=num_cpus, num_gpus=num_gpus)
    held: dict[str, Any] = {"num_cpus": num_cpus} if num_gpus == 0.0 else {"num_cpus": num_cpus, "num_gpus": num_gpus}
    # Blocks go to actors whole, and those of a reader hold thousands of rows: one actor could get them all.
    return dataset.repartition(target_num_rows_per_block=batch_size).map_batches(
        Judge,
        fn_constructor_kwargs=settings,
        batch_format="pyarrow",
        batch_size=batch_size,
        compute=ray.data.ActorPoolStrategy(size=concurrency),
        udf_modifying_row_count=False,
        **held,
    )


def check_resources(concurrency: int, *, num_cpus: float = 1.0, num_gpus: float = 0.0) -> None:
    """Checks that the judges leave a CPU for the tasks that read their rows.

    Ray gives actors their CPUs for good. Where they hold all of them, the tasks that read wait for a CPU for ever, and so do
    the actors for rows (ray-project/ray#44687).

    Only nodes that are up count. Where a cluster adds nodes as they are needed, use `Dataset.map_batches` with
    `juror_rs.ray.Judge`, which does not check.

    Raises:
        RuntimeError: If they do not, or if there are not as many CPUs or GPUs.
    """
    if not ray.is_initialized():
        ray.init()
    cluster = ray.cluster_resources()
    cpus, gpus = cluster.get("CPU", 0.0), cluster.get("GPU", 0.0)
    if concurrency * num_gpus > gpus:
        raise RuntimeError(f"{concurrency} judges of {num_gpus:g} GPUs each do not fit on {gpus:g} GPUs: lower concurrency")
    if concurrency * num_cpus > cpus - 1:
        raise RuntimeError(
            f"{concurrency} judges of {num_cpus:g} CPUs each on {cpus:g} CPUs leave none for the tasks that read rows, and the run "
            "would wait for ever: lower concurrency, give each judge less (num_cpus=0.5), or add CPUs (ray.init(num_cpus=…))"
        )


def _with_retries(call: Callable[[], Any]) -> Any:
    """The result of `call`, which is tried again if it fails: the server may have been killed, even while it was starting."""
    for pause in _PAUSES:
        try:
            return call()
        except JudgeError:
            logging.getLogger(__name__).exception("a judge has failed: once more in %g s", pause)
            time.sleep(pause)
    return call()


def _limit_threads() -> None:
    """Limits a judge on CPUs to as many threads as its actor holds CPUs, as Ray does for OpenMP."""
    context = ray.get_runtime_context() if ray.is_initialized() else None
    if context is None or context.get_actor_id() is None:
        return
    held = context.get_assigned_resources()
    if held.get("CPU") and not held.get("GPU"):
        os.environ.setdefault("RAYON_NUM_THREADS", str(math.ceil(held["CPU"])))


def _warn_of_starvation() -> None:
    if ray.available_resources().get("CPU", 0.0) < 1.0:
        logging.getLogger(__name__).warning(
            "no rows for %.0f s, and no CPU of the cluster is free: if the judges hold all of them, the tasks that read rows wait "
            "for ever (ray-project/ray#44687). Lower concurrency or num_cpus, or use juror_rs.ray.judge, which checks this before",
            _QUIET_SECONDS,
        )
