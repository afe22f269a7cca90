"""Ray Data over many rows with actors, servers and the driver killed at random, and its rate beside one process's.

    python scripts/ray_scale.py FOLDER --rows 100000 --kills 8
    python scripts/ray_scale.py FOLDER --rows 5000 --kills 0 --compare 3

Needs Python 3.10 or later with ray[data], pyarrow and juror-rs, Linux, and the program `juror` (or JUROR_BINARY). FOLDER gets the rows
(Parquet, 16 files), the cache, what was judged, and the driver's messages (driver.log). Kills are drawn from --seed: an actor's process, a
`juror serve`, or the driver with all of its cluster, which is then started again. In the end every row must have its verdict, once. A killed
actor or server may have one batch under way, a killed driver one for each actor, and no more may be judged twice.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from load_server import sample

MARK = "JUROR_RAY_SCALE"
FILES = 16
PATIENCE = 120.0  # seconds in which servers that start must answer


def binary() -> str:
    return os.environ.get("JUROR_BINARY") or shutil.which("juror") or sys.exit("no program `juror`: set JUROR_BINARY")


def write_rows(folder: Path, count: int) -> None:
    folder.mkdir(parents=True)
    columns = {"place": int, "question": str, "reference": str, "response": str}
    for part in range(FILES):
        rows = [sample(number)[0] | {"place": number} for number in range(part, count, FILES)]
        pq.write_table(pa.table({name: [row[name] for row in rows] for name in columns}), folder / f"{part:02}.parquet")


def drive(arguments: argparse.Namespace) -> None:
    """The pipeline, as a user would write it."""
    import ray

    import juror_rs.ray

    here = str(Path(juror_rs.ray.__file__).parents[1])
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": here}})
    ray.data.DataContext.get_current().enable_progress_bars = False
    started = time.monotonic()
    rollouts = ray.data.read_parquet(str(arguments.folder / "rows"))
    judged = juror_rs.ray.judge(
        rollouts, concurrency=arguments.actors, batch_size=arguments.batch, cache=str(arguments.folder / "cache")
    )
    judged.write_parquet(str(arguments.folder / "judged"), mode=ray.data.SaveMode.OVERWRITE)
    print(f"DRIVEN {time.monotonic() - started:.2f}", flush=True)


class Cluster:
    """A driver and all processes that came of it: they have its mark in their environment."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.mark = f"{MARK}={time.time_ns()}"
        name, value = self.mark.split("=")
        command = [sys.executable, __file__, str(arguments.folder), "--drive"]
        command += ["--actors", str(arguments.actors), "--batch", str(arguments.batch)]
        environment = os.environ | {name: value, "JUROR_BINARY": binary(), "RAY_ADDRESS": "local", "RAY_DEDUP_LOGS": "0"}
        # A file, because nobody reads while the driver runs, and it waits where a pipe is full.
        self.log = arguments.folder / "driver.log"
        with self.log.open("w") as log:
            self.driver = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)

    def end(self) -> str:
        """Waits for the driver, ends what it has left, and gives what it wrote."""
        code = self.driver.wait()
        self.kill()
        if code != 0:
            sys.exit(f"the driver has failed (exit code {code}):\n{self.log.read_text(errors='replace')}")
        return self.log.read_text(errors="replace")

    def processes(self, pattern: str = "") -> list[int]:
        """The processes whose command lines have `pattern`."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if self.mark in (entry / "environ").read_text(errors="replace").split("\0"):
                    command = (entry / "cmdline").read_text(errors="replace").replace("\0", " ")
                    if command and re.search(pattern, command):
                        found.append(int(entry.name))
            except OSError:
                continue
        return found

    def servers(self) -> list[int]:
        return self.processes(r"juror serve ")

    def actors(self) -> list[int]:
        return self.processes(r"^ray::.*(MapBatches|MapWorker|Judge)")

    def under_way(self) -> dict[int, int]:
        """The verdicts that each actor's server has not yet given. A server that starts is waited for."""
        ends = time.monotonic() + PATIENCE
        while True:
            # A server whose actor was killed ends by itself, and was counted then.
            actors = self.actors()
            counts = {server: under_way(server) for server in self.servers() if parent(server) in actors}
            known = {server: count for server, count in counts.items() if count is not None}
            if known and known.keys() == counts.keys():
                return known
            if time.monotonic() > ends or self.driver.poll() is not None:
                self.kill()
                sys.exit(f"servers did not say what was under way: {counts}\n{self.log.read_text(errors='replace')}")
            time.sleep(0.1)

    def kill(self) -> None:
        while left := self.processes():
            for process in left:
                with_signal(process)
            self.driver.poll()
            time.sleep(0.1)
        self.driver.wait()


def with_signal(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


def parent(process: int) -> int | None:
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return None
    return int(stat.rpartition(")")[2].split()[1])


def under_way(server: int) -> int | None:
    """Verdicts that a server has not yet given, by its own count; None if it does not answer."""
    try:
        sockets = {os.readlink(entry) for entry in Path(f"/proc/{server}/fd").iterdir()}
        lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        port = next(int(line[1].split(":")[1], 16) for line in lines if line[3] == "0A" and f"socket:[{line[9]}]" in sockets)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            text = answer.read().decode()
    except (OSError, StopIteration):
        return None
    counts = re.findall(r"^vllm:num_requests_(?:waiting|running)\{[^}]*\} (\S+)", text, re.MULTILINE)
    return int(sum(map(float, counts)))


def cached(folder: Path) -> dict[str, int]:
    if not folder.exists():
        return {"answers": 0, "repeated": 0}
    stat = subprocess.run([binary(), "cache", "stat", str(folder)], capture_output=True, text=True, check=True).stdout
    return {name: int(count.replace(",", "")) for name, count in re.findall(r"^(answers|repeated) +([0-9,]+)$", stat, re.MULTILINE)}


def check(arguments: argparse.Namespace) -> None:
    """Every row has its verdict, once."""
    table = pq.read_table(arguments.folder / "judged").sort_by("place")
    if table["place"].to_pylist() != list(range(arguments.rows)):
        sys.exit(f"{table.num_rows} rows came out of {arguments.rows}")
    rewards, statuses = table["judge_reward"].to_pylist(), table["judge_status"].to_pylist()
    by_status = {status: statuses.count(status) for status in sorted(set(statuses))}
    against = sum(
        status == "ok" and (reward == 1.0) != sample(place)[1]
        for place, (reward, status) in enumerate(zip(rewards, statuses, strict=True))
    )
    print(f"{table.num_rows} rows, each once: {by_status}; {against} against the label")


def chaos(arguments: argparse.Namespace) -> None:
    random.seed(arguments.seed)
    shutil.rmtree(arguments.folder / "cache", ignore_errors=True)
    shutil.rmtree(arguments.folder / "judged", ignore_errors=True)
    started = time.monotonic()
    # Every kind is drawn, in a random order.
    kinds = [("actor", "server", "driver")[kill % 3] for kill in range(arguments.kills)]
    random.shuffle(kinds)
    cluster = Cluster(arguments)
    lost = bound = 0
    for kind in kinds:
        pause = time.monotonic() + random.uniform(*arguments.every)
        while time.monotonic() < pause or not (cluster.servers() and cluster.actors()):
            if cluster.driver.poll() is not None:
                sys.exit(f"the driver ended before the {kind} was killed:\n{cluster.end()}")
            time.sleep(0.5)
        counts = cluster.under_way()
        if kind == "driver":
            cluster.kill()
            at_risk, most = sum(counts.values()), arguments.batch * arguments.actors
        else:
            server = random.choice(sorted(counts))
            at_risk, most = counts[server], arguments.batch
            victim = server if kind == "server" else parent(server)
            if victim not in (server, *cluster.actors()):
                cluster.kill()
                sys.exit(f"process {server} has ended by itself, or its actor has")
            with_signal(victim)
        lost, bound = lost + at_risk, bound + most
        done = cached(arguments.folder / "cache")["answers"]
        print(f"{time.monotonic() - started:6.0f} s: {kind} killed; {done} answers kept, {at_risk} under way (at most {most})", flush=True)
        if at_risk > most:
            cluster.kill()
            sys.exit(f"{at_risk} rows were under way, and {most} may be")
        if kind == "driver":
            cluster = Cluster(arguments)
    cluster.end()
    print(f"{arguments.rows} rows in {time.monotonic() - started:.0f} s, with {len(kinds)} kills")
    stat = cached(arguments.folder / "cache")
    print(f"judged again: {stat['repeated']} answers are there twice, {lost} were under way at the kills; at most {bound} may be")
    check(arguments)
    if stat["repeated"] > bound:
        sys.exit("more was judged twice than was under way at the kills")


def compare(arguments: argparse.Namespace) -> None:
    """Turn by turn: one process of `juror judge`, then Ray's actors, on the same rows."""
    ratios = []
    for _ in range(arguments.compare):
        out = arguments.folder / "verdicts.jsonl"
        started = time.monotonic()
        command = [binary(), "judge", str(arguments.folder / "rows"), "-o", str(out), "--restart", "--quiet"]
        subprocess.run(command, check=True)
        alone = arguments.rows / (time.monotonic() - started)
        shutil.rmtree(arguments.folder / "cache", ignore_errors=True)
        cluster = Cluster(arguments)
        (driven,) = re.findall(r"^DRIVEN (\S+)$", cluster.end(), re.MULTILINE)
        rate = arguments.rows / float(driven)
        ratios.append(rate / alone)
        print(f"one process {alone:.1f} rows/s, Ray {rate:.1f} rows/s: {ratios[-1]:.2f}", flush=True)
    check(arguments)
    print(json.dumps({"median_ratio": round(statistics.median(ratios), 3)}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--actors", type=int, default=2)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--kills", type=int, default=8)
    parser.add_argument("--every", type=float, nargs=2, default=(60.0, 180.0), help="seconds between two kills")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--compare", type=int, default=0, metavar="TIMES", help="measure the rate instead, so many times")
    parser.add_argument("--drive", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.folder = arguments.folder.resolve()
    if arguments.drive:
        return drive(arguments)
    rows = arguments.folder / "rows"
    if not rows.exists() or sum(pq.read_metadata(file).num_rows for file in rows.iterdir()) != arguments.rows:
        shutil.rmtree(rows, ignore_errors=True)
        write_rows(rows, arguments.rows)
    (compare if arguments.compare else chaos)(arguments)


if __name__ == "__main__":
    main()
