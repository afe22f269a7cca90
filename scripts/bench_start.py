#!/usr/bin/env python3
"""How long two builds of juror take from their start to a verdict, how much memory, and how large they are.

    python bench_start.py [--quick] BEFORE AFTER [MODEL.gguf…]

Builds take turns.  Of each figure the median is printed; processor time is hardly changed by other programs, the time by the clock is.
Files lie in memory where the system has a place for that, so that no disk is waited for.  Memory is never less than this script's own, 16 MB.
What a start keeps for the next (the built-in judge's keys and values of its template) lies in a cache folder of this script, empty at
first: a first start is one with an empty folder, every other has one before it.  --quick runs everything once, to try this script out.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
ROWS = (REPOSITORY / "tests/data/tiny/domain.jsonl").read_text(encoding="utf-8").splitlines()
FIRST = "`judge`, one row, `tiny`, the first start"
PAIRS = REPOSITORY / "crates/rules/tests/cases/pairs.jsonl"


def run(command, caches):
    """(seconds by the clock, seconds of processor time, MB) of one run with this cache folder."""
    surroundings = {**os.environ, "XDG_CACHE_HOME": str(caches)}
    started = time.perf_counter()
    program = subprocess.Popen(
        list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=surroundings
    )
    words = program.stderr.read()
    _, status, used = os.wait4(program.pid, 0)
    program.returncode = os.waitstatus_to_exitcode(status)
    if program.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {program.returncode}:\n{words}")
    return time.perf_counter() - started, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6


def main():
    words = [word for word in sys.argv[1:] if word != "--quick"]
    quick = len(words) < len(sys.argv) - 1
    builds, files = [Path(path).resolve() for path in words[:2]], words[2:]
    if len(builds) < 2:
        sys.exit(__doc__)
    print("| | before | now | now : before |\n|---|--:|--:|--:|")
    sizes = [build.stat().st_size / 1e6 for build in builds]
    print(f"| the program, MB | {sizes[0]:.1f} | {sizes[1]:.1f} | {sizes[1] / sizes[0]:.2f} |")
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        rows, pair, compared, out = (Path(folder) / f"{name}.jsonl" for name in ("rows", "pair", "compared", "out"))
        pair.write_text(PAIRS.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
        judge = ["judge", rows, "-o", out, "--restart", "--device", "cpu"]
        cases = [
            ("`verify`, one pair", ["verify", pair, "-o", compared, "--force"], 1, 15),
            (FIRST, judge, 1, 15),
            ("`judge`, one row, `tiny`", judge, 1, 15),
        ]
        for file in files:
            model = [*judge, "--model", file]
            cases.append((f"`judge`, one row, {Path(file).stem}", model, 1, 5))
            cases.append((f"`judge`, 24 rows, {Path(file).stem}", model, 24, 1))
        for name, arguments, count, repeats in cases:
            rows.write_text("\n".join(ROWS[:count]) + "\n", encoding="utf-8")
            found = [[], []]
            for turn in range(1 if quick else repeats):
                for index, (build, runs) in enumerate(zip(builds, found)):
                    caches = Path(folder) / (f"first-{turn}-{index}" if name == FIRST else "caches")
                    if name != FIRST and turn == 0:
                        run([build, *arguments], caches)
                    runs.append(run([build, *arguments], caches))
                    if name == FIRST:
                        shutil.rmtree(caches, ignore_errors=True)
            for index, what in enumerate(["s by the clock", "s of processor time", "MB of memory at most"]):
                one, two = (statistics.median(run[index] for run in runs) for runs in found)
                digits = 0 if index == 2 else 3
                print(f"| {name}, {what} | {one:.{digits}f} | {two:.{digits}f} | {two / one:.2f} |", flush=True)


if __name__ == "__main__":
    main()
