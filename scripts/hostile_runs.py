"""Kills runs at random moments and damages their journals, and looks at what comes out.

    python scripts/hostile_runs.py target/release/juror kills 300 [SEED]
    python scripts/hostile_runs.py target/release/juror journals 2000 [SEED]

`kills`: rollouts are judged by the embedded judge and killed (SIGKILL) again and again until a run ends. Checked each time: the
journal only grows, no trial is lost or written twice, the output is that of a run in peace, no temporary file stays.
`journals`: single bits, bytes, lines, indices and ends of a finished journal are changed, and the command is given again.
Checked: an error, or the output of the run in peace.

Needs nothing but Python's standard library. Exit status 1 if anything is not as it should be.
"""

import collections
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def rollouts(count):
    for number in range(count):
        have, more = number + 2, number % 7 + 1
        said = have + more + (number % 3 == 2)
        yield {
            "id": f"r{number}",
            "question": f"Tom has {have} apples and buys {more} more. How many apples has he now?",
            "reference_answer": str(have + more),
            "response": "Let me see. " * (number % 4) + f"He has {have} + {more} = {said}.\n#### {said}",
        }


def write_rollouts(folder, count):
    lines = (json.dumps(row) + "\n" for row in rollouts(count))
    (folder / "in.jsonl").write_text("".join(lines))


def without_cache_counts(output):
    """Verdicts without what may differ between a run in peace and one that goes on: how much was in the prefix cache."""
    verdicts = [json.loads(line) for line in output.read_text().splitlines()]
    for verdict in verdicts:
        verdict["usage"].pop("cached_tokens")
    return verdicts


def kills(binary, wanted, folder):
    command = [binary, "judge", "in.jsonl", "-o", "out.jsonl", "-q"]
    command += ["--max-new-tokens", "6", "--max-sequences", "4", "--token-budget", "64"]
    samples = 30

    def fresh(name):
        run = folder / name
        run.mkdir()
        write_rollouts(run, samples)
        return run

    peace = fresh("peace")
    began = time.monotonic()
    # Exit status 3: six tokens are no verdict, which is as good here.
    subprocess.run(command, cwd=peace, check=False)
    span = time.monotonic() - began
    expected = without_cache_counts(peace / "out.jsonl")
    tally = collections.Counter()
    while tally["kills"] < wanted:
        run = fresh(f"run{tally['runs']}")
        tally["runs"] += 1
        journal, before = run / "out.jsonl.journal", b""
        while True:
            child = subprocess.Popen(command, cwd=run)
            try:
                child.wait(random.uniform(0, span * 0.8))
                break
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            tally["kills"] += 1
            now = journal.read_bytes() if journal.exists() else b""
            whole = now[: now.rfind(b"\n") + 1]
            tally["journals that shrank"] += not whole.startswith(before)
            before = whole
        lines = [json.loads(line) for line in journal.read_text().splitlines()[1:]]
        trials = {(line["index"], line["trial"]) for line in lines}
        tally["doubled"] += len(lines) - len(trials)
        tally["lost"] += samples - len(trials)
        tally["other outputs"] += without_cache_counts(run / "out.jsonl") != expected
        tally["temporary files"] += len(list(run.glob("*.tmp*")))
    return tally, ("journals that shrank", "doubled", "lost", "other outputs", "temporary files")


def damaged(journal):
    """One damage of each kind: what it is, and the bytes."""
    flipped = bytearray(journal)
    bit = random.randrange(8 * len(journal))
    flipped[bit // 8] ^= 1 << bit % 8
    yield "one bit", bytes(flipped)
    if random.random() > 0.1:
        return
    changed = bytearray(journal)
    for _ in range(random.randrange(2, 20)):
        changed[random.randrange(len(changed))] = random.randrange(256)
    yield "bytes", bytes(changed)
    start = random.randrange(len(journal))
    yield "a piece cut out", journal[:start] + journal[start + random.randrange(1, 200) :]
    manifest, *lines = journal.splitlines(keepends=True)
    kept = random.sample(lines, random.randrange(len(lines) + 1))
    yield "lines shuffled and left out", manifest + b"".join(kept)
    at, field = random.randrange(len(lines)), random.choice([b'"index":', b'"trial":'])
    digit = lines[at].index(field) + len(field)
    lines[at] = lines[at][:digit] + str(random.randrange(10)).encode() + lines[at][digit + 1 :]
    yield "index or trial edited", manifest + b"".join(lines)
    yield "end cut off", journal[: random.randrange(len(journal))]


def journals(binary, wanted, folder):
    command = [binary, "judge", "in.jsonl", "-o", "out.jsonl", "-q", "--rules", "only", "--trials", "2"]
    write_rollouts(folder, 4)
    subprocess.run(command, cwd=folder, check=True)
    output, path = folder / "out.jsonl", folder / "out.jsonl.journal"
    expected, journal = output.read_bytes(), path.read_bytes()
    tally = collections.Counter()
    for _ in range(wanted):
        for kind, data in damaged(journal):
            path.write_bytes(data)
            output.unlink(missing_ok=True)
            done = subprocess.run(command, cwd=folder, capture_output=True)
            if b"panicked" in done.stderr:
                tally["PANIC"] += 1
            elif done.returncode != 0:
                tally[f"{kind}: error {done.returncode}"] += 1
            elif output.read_bytes() == expected:
                tally[f"{kind}: the same output"] += 1
            else:
                tally["ANOTHER OUTPUT"] += 1
    return tally, ("PANIC", "ANOTHER OUTPUT")


def main():
    if len(sys.argv) not in (4, 5) or sys.argv[2] not in ("kills", "journals"):
        sys.exit(__doc__)
    random.seed(int(sys.argv[4]) if len(sys.argv) == 5 else 1)
    attack = {"kills": kills, "journals": journals}[sys.argv[2]]
    with tempfile.TemporaryDirectory() as folder:
        tally, wrong = attack(str(Path(sys.argv[1]).resolve()), int(sys.argv[3]), Path(folder))
    for name, count in sorted(tally.items()):
        print(f"{count:6}  {name}")
    sys.exit(any(tally[name] for name in wrong))


if __name__ == "__main__":
    main()
