"""How long the pages of `juror view` take, and how much memory: made-up verdicts, without and with rows and labels.

    python scripts/bench_view.py [--juror target/release/juror] [--verdicts 1000000] [--runs 5]
"""

import argparse
import json
import random
import statistics
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

PAGES = {
    "first page": "/",
    "page in the middle": "/?page=25000",
    "a filter": "/?overall=true&outcome=false",
    "rules against judge, least sure first": "/?kind=rules_against_judge&sort=least_sure",
    "all, most tokens first": "/?sort=most_tokens",
    "a text that many have, 20 found": "/?q=gradually",
    "a text that one has, all looked through": "/?q=needle",
    "an id, all looked through": "/?q=s777777&in=id",
    "counts": "/summary",
}


def write(folder: Path, count: int) -> None:
    random.seed(1)
    words = ["so", "gradually", "we", "add", "the", "apples", "twice", "and", "then", "divide", "by", "three", "which", "gives"]
    with open(folder / "rows.jsonl", "w") as rows, open(folder / "verdicts.jsonl", "w") as verdicts:
        for number in range(count):
            process, outcome = random.random() < 0.6, random.random() < 0.6
            text = " ".join(random.choices(words, k=90))
            if number == count * 9 // 10:
                text += " needle"
            rows.write(json.dumps({
                "id": f"s{number}", "question": f"How many are {number} and {number % 97}?", "reference": "1", "response": text,
                "outcome_label": outcome, "process_label": process, "subject": f"subject {number % 4}",
            }) + "\n")
            said = [truth if random.random() < 0.85 else not truth for truth in (process, outcome)]
            verdicts.write(json.dumps({
                "id": f"s{number}", "index": number, "trial": 0, "status": "ok", "process": said[0], "outcome": said[1],
                "perfect": False, "overall": all(said), "reward": float(all(said)), "reason": " ".join(random.choices(words, k=12)),
                "outcome_source": "judge", "rule_outcome": outcome,
                "confidence": {"process": random.random(), "outcome": random.random(), "perfect": None},
                "usage": {"prompt_tokens": 700, "cached_tokens": 600, "completion_tokens": random.randrange(1, 300)},
            }) + "\n")


def get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=600) as answer:
        return answer.read()


def memory(process: subprocess.Popen) -> float:
    """MB in memory now."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def measure(command: list[str], count: int, runs: int) -> None:
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        url = process.stdout.readline().strip().rstrip("/")
        listening = time.monotonic() - start
        while json.loads(get(url + "/summary"))["verdicts"] < count:
            time.sleep(0.05)
        whole = time.monotonic() - start
        print(f"{' '.join(command[1:])}: pages after {listening:.2f} s, all read after {whole:.2f} s, {memory(process):.0f} MB", flush=True)
        for name, path in PAGES.items():
            times = []
            for _ in range(runs):
                start = time.monotonic()
                get(url + path)
                times.append(time.monotonic() - start)
            print(f"  {name}: median {1000 * statistics.median(times):.0f} ms of {runs} ({1000 * min(times):.0f}–{1000 * max(times):.0f})", flush=True)
        print(f"  memory afterwards: {memory(process):.0f} MB", flush=True)
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--juror", default="target/release/juror")
    arguments.add_argument("--verdicts", type=int, default=1_000_000)
    arguments.add_argument("--runs", type=int, default=5)
    arguments = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, arguments.verdicts)
        verdicts, rows = str(folder / "verdicts.jsonl"), str(folder / "rows.jsonl")
        for file in (verdicts, rows):
            print(f"{file}: {Path(file).stat().st_size / 1e6:.0f} MB", flush=True)
        measure([arguments.juror, "view", verdicts], arguments.verdicts, arguments.runs)
        measure([arguments.juror, "view", verdicts, "--labels", rows], arguments.verdicts, arguments.runs)


if __name__ == "__main__":
    main()
