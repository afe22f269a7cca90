"""Ray Data's own `map_batches` with `juror_rs.ray`, on four logical CPUs."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ray = pytest.importorskip("ray")
pa = pytest.importorskip("pyarrow")
pytest.importorskip("ray.data")

import pyarrow.parquet as pq  # noqa: E402
from shared import HOSTILE, OUTSIDE, binary  # noqa: E402

import juror_rs.ray  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    """A cluster of one node with four CPUs, whose workers import what this process does."""
    os.environ["JUROR_BINARY"] = binary()
    here = str(Path(juror_rs.ray.__file__).parents[1])
    ray.init(
        num_cpus=4,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env={"env_vars": {"JUROR_BINARY": binary(), "PYTHONPATH": here}},
    )
    yield
    ray.shutdown()


@pytest.fixture
def data(tmp_path: Path, rows: list[dict[str, Any]]) -> Path:
    """Real rows in Parquet, in four files."""
    folder = tmp_path / "rollouts"
    folder.mkdir()
    for part in range(4):
        table = pa.table(
            {
                "place": list(range(part, len(rows), 4)),
                "question": [row["question"] for row in rows[part::4]],
                "reference": [row["reference_answer"] for row in rows[part::4]],
                "response": [row["student_answer"] for row in rows[part::4]],
            }
        )
        pq.write_table(table, folder / f"{part}.parquet")
    return folder


def test_verdicts_are_those_of_juror_judge(data: Path, tmp_path: Path, offline: list[dict[str, Any]]) -> None:
    judged = juror_rs.ray.judge(ray.data.read_parquet(str(data)), concurrency=2, batch_size=4)
    judged.write_parquet(str(tmp_path / "judged"))
    table = pq.read_table(tmp_path / "judged").sort_by("place")
    assert table["judge_reward"].to_pylist() == [verdict["reward"] for verdict in offline]
    assert table["judge_process"].to_pylist() == [verdict["process"] for verdict in offline]
    assert set(table.column_names) == {"place", "question", "reference", "response", *juror_rs.ray.SCHEMA.names}


def test_bad_rows_are_a_status_and_the_types_stay(server: str, rows: list[dict[str, Any]]) -> None:
    row = rows[0]
    items = [
        {"question": row["question"], "reference": row["reference_answer"], "response": row["student_answer"]},
        {"question": None, "reference": "1", "response": "1"},
        {"question": OUTSIDE, "reference": "true", "response": "Liouville."},
        {"question": row["question"], "reference": row["reference_answer"], "response": HOSTILE},
        {"question": row["question"], "reference": row["reference_answer"], "response": "1 " * 100_000},
        {"question": row["question"], "reference": None, "response": "17"},
    ]
    judged = ray.data.from_items(items, override_num_blocks=1).map_batches(
        juror_rs.ray.Judge,
        fn_constructor_kwargs={"url": server},
        batch_format="pyarrow",
        batch_size=1,
        compute=ray.data.ActorPoolStrategy(size=1),
    )
    got = judged.take_all()
    assert [row["judge_reward"] for row in got] == [1.0, None, None, 0.0, None, None]
    assert [row["judge_status"] for row in got] == ["ok", "failed", "out_of_domain", "ok", "too_long", "failed"]
    assert judged.schema().base_schema.field("judge_reward").type == pa.float64()


def test_columns_are_named_and_checked(server: str) -> None:
    stage = juror_rs.ray.Judge(url=server, question="problem")
    with pytest.raises(KeyError, match="no column 'problem'"):
        stage(pa.table({"question": ["1 + 1?"], "reference": ["2"], "response": ["2"]}))
    with pytest.raises(ValueError, match="judge_status"):
        stage(pa.table({"problem": ["1 + 1?"], "reference": ["2"], "response": ["2"], "judge_status": ["ok"]}))


def test_too_few_cpus_are_an_error_and_not_a_wait(data: Path) -> None:
    rollouts = ray.data.read_parquet(str(data))
    with pytest.raises(RuntimeError, match="wait for ever"):
        juror_rs.ray.check_resources(4)
    with pytest.raises(RuntimeError, match="lower concurrency"):
        juror_rs.ray.judge(rollouts, concurrency=4)
    with pytest.raises(RuntimeError, match="GPUs"):
        juror_rs.ray.judge(rollouts, num_gpus=1)
    juror_rs.ray.check_resources(6, num_cpus=0.5)  # and this is fine


def test_a_judge_that_dies_is_started_again(rows: list[dict[str, Any]]) -> None:
    stage = juror_rs.ray.Judge(arguments=("--seed", "7"))
    batch = pa.table(
        {
            "question": [rows[0]["question"]],
            "reference": [rows[0]["reference_answer"]],
            "response": [rows[0]["student_answer"]],
        }
    )
    assert stage(batch)["judge_reward"].to_pylist() == [1.0]
    children = subprocess.run(["ps", "-o", "pid=", "-o", "args=", "--ppid", str(os.getpid())], capture_output=True, text=True)
    (child,) = [line for line in children.stdout.splitlines() if "serve" in line and "--seed" in line]
    os.kill(int(child.split()[0]), signal.SIGKILL)
    assert stage(batch)["judge_reward"].to_pylist() == [1.0]
    stage.close()


def test_a_cache_is_used_again(data: Path, tmp_path: Path) -> None:
    rollouts = ray.data.read_parquet(str(data))
    first = juror_rs.ray.judge(rollouts, batch_size=8, cache=str(tmp_path / "cache")).take_all()
    again = juror_rs.ray.judge(rollouts, batch_size=8, cache=str(tmp_path / "cache")).take_all()
    assert sorted(first, key=lambda row: row["place"]) == sorted(again, key=lambda row: row["place"])
    stat = subprocess.run([binary(), "cache", "stat", str(tmp_path / "cache")], capture_output=True, text=True, check=True)
    assert "24" in stat.stdout


def test_a_relative_cache_is_below_the_drivers_folder(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert juror_rs.ray.judge(ray.data.read_parquet(str(data)), cache="cache").count() == 24
    assert list((tmp_path / "cache").iterdir())


def test_rows_of_one_file_go_to_all_actors(data: Path, tmp_path: Path) -> None:
    table = pq.read_table(data)
    (tmp_path / "one").mkdir()
    pq.write_table(table, tmp_path / "one" / "all.parquet")
    rollouts = ray.data.read_parquet(str(tmp_path / "one"))
    judged = juror_rs.ray.judge(rollouts, concurrency=2, batch_size=2, cache=str(tmp_path / "cache"))
    assert judged.count() == table.num_rows
    # Each server writes a file of its own.
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_the_guide_runs(
    data: Path, guide: Callable[[str, str], list[str]], run_python: Callable[..., Any], tmp_path: Path
) -> None:
    here = str(Path(juror_rs.ray.__file__).parents[1])
    done = run_python("\n".join(guide("ray.md", "python")), JUROR_BINARY=binary(), PYTHONPATH=here, RAY_ADDRESS="local")
    assert pq.read_table(tmp_path / "judged").num_rows == 24
    assert 0.0 < float(done.stdout.split()[-1]) < 1.0
