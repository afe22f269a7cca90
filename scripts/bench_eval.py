"""How long `juror eval` takes, and how much memory: made-up verdicts, labels in JSON lines, and rows in Parquet.

    python scripts/bench_eval.py [--juror target/release/juror] [--verdicts 1000000] [--pairs 100000] [--runs 3]

Needs pyarrow for the Parquet part, which is left out without it.
"""

import argparse
import importlib.util
import json
import os
import random
import statistics
import subprocess
import tempfile
import time
from pathlib import Path


def run(command: list[str]) -> tuple[float, float]:
    """Seconds, and the peak of memory in MB (of the program alone: this script must be smaller, see `in_child`)."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - start
    if os.waitstatus_to_exitcode(status) not in (0, 3):
        raise SystemExit(f"{command}: {process.stderr.read().decode()}")
    return seconds, usage.ru_maxrss / 1024


def in_child(function, *arguments) -> None:
    """Calls a function in a process of its own: what a program's peak of memory is counted from is its parent's size."""
    if (child := os.fork()) == 0:
        function(*arguments)
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        raise SystemExit(f"{function.__name__} failed")


def told(what: str, command: list[str], runs: int, bytes_read: int | None = None) -> None:
    results = [run(command) for _ in range(runs)]
    seconds = statistics.median(result[0] for result in results)
    memory = max(result[1] for result in results)
    rate = f", {bytes_read / seconds / 1e6:.0f} MB/s" if bytes_read else ""
    print(f"{what}: median {seconds:.2f} s of {runs} ({', '.join(f'{s:.2f}' for s, _ in results)}), {memory:.0f} MB{rate}", flush=True)


def write(folder: Path, count: int, seed: int) -> None:
    random.seed(seed)
    with open(folder / "labels.jsonl", "w") as labels, open(folder / "a.jsonl", "w") as a, open(folder / "b.jsonl", "w") as b:
        for number in range(count):
            process, outcome = random.random() < 0.6, random.random() < 0.6
            labels.write(json.dumps({
                "id": f"s{number}", "question": f"Question {number}?", "reference": "1", "response": "x" * 100, "outcome_label": outcome,
                "process_label": process, "overall_label": process and outcome, "subject": f"subject {number % 4}",
            }) + "\n")
            for file, skill in ((a, 0.85), (b, 0.87)):
                said = [truth if random.random() < skill else not truth for truth in (process, outcome)]
                overall = all(said)
                file.write(json.dumps({
                    "id": f"s{number}", "index": number, "trial": 0, "status": "ok", "process": said[0], "outcome": said[1],
                    "perfect": False, "overall": overall, "reward": float(overall), "reason": None, "outcome_source": "judge",
                    "rule_outcome": outcome, "confidence": {"process": random.random(), "outcome": random.random(), "perfect": None},
                    "usage": {"prompt_tokens": 700, "cached_tokens": 600, "completion_tokens": random.randrange(1, 300)},
                }) + "\n")


def write_parquet(folder: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    random.seed(3)
    words = [format(random.getrandbits(64), "x") for _ in range(50_000)]
    text = lambda count: " ".join(random.choices(words, k=count))  # noqa: E731
    count = 150_000
    rows = [
        {"id": f"r{n}", "question": text(20), "reference": "1", "response": text(120), "overall_label": n % 2 == 0} for n in range(count)
    ]
    table = pyarrow.Table.from_pylist(rows)
    parquet.write_table(table, folder / "rows.parquet", compression="snappy", row_group_size=20_000)
    with open(folder / "rows.verdicts.jsonl", "w") as file:
        for n in range(0, count, 1000):
            file.write(json.dumps({"id": f"r{n}", "index": n, "trial": 0, "status": "ok", "overall": True}) + "\n")
    (folder / "bytes").write_text(str(table.nbytes))
    size = (folder / "rows.parquet").stat().st_size
    print(f"Parquet: {table.nbytes / 1e6:.0f} MB of values in a file of {size / 1e6:.0f} MB", flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--juror", default="target/release/juror")
    arguments.add_argument("--verdicts", type=int, default=1_000_000)
    arguments.add_argument("--pairs", type=int, default=100_000)
    arguments.add_argument("--runs", type=int, default=3)
    arguments = arguments.parse_args()
    juror = arguments.juror
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        in_child(write, folder, arguments.verdicts, 1)
        of = lambda *names: [str(folder / file) for file in names]  # noqa: E731
        told(f"{arguments.verdicts} verdict lines", [juror, "eval", *of("a.jsonl"), "--labels", *of("labels.jsonl")], arguments.runs)
        in_child(write, folder, arguments.pairs, 2)
        compare = [juror, "eval", *of("a.jsonl"), "--labels", *of("labels.jsonl"), "--compare", *of("b.jsonl")]
        told(f"two judges on {arguments.pairs} samples, all intervals of 10,000 resamples", compare, arguments.runs)
        if importlib.util.find_spec("pyarrow") is None:
            print("no pyarrow: Parquet is left out")
            return
        in_child(write_parquet, folder)
        command = [juror, "eval", *of("rows.verdicts.jsonl"), "--labels", *of("rows.parquet")]
        told("labels read from it", command, arguments.runs, int((folder / "bytes").read_text()))


if __name__ == "__main__":
    main()
