"""Accuracy and time of the rule-based verifier on responses by other people's models.

    python scripts/verifier/real.py FOLDER --build now=target/release/examples [--build before=…] [--times] [--changes]

FOLDER holds the sets, JSON lines (`.jsonl` or `.jsonl.gz`) under the names in `SETS`; those that are missing are left out. A build is a folder
with the examples `verify_pairs` and `time_pairs` of juror-rules. With two builds `--changes` lists each verdict in which the second differs from
the first. `--times` runs the builds in turn, three times each, and takes the least.
"""

import argparse
import collections
import gzip
import json
import pathlib
import random
import subprocess
import sys

Pair = collections.namedtuple("Pair", "gold pred want")


def answer(text: str) -> str:
    """What a solution of GSM8K ends in."""
    return text.rsplit("####", 1)[-1].strip()


def tora(row):
    yield Pair(row["gold"], row["pred"], row["want"])


def models(row):
    yield Pair(row["answer"], row["response"], row["outcome_label"])


def solutions(row):
    yield Pair(answer(row["answer"]), row.get("response") or row["answer"], True)


def labelled(row):
    """Pairs that are written down as pairs: `want` is the verdict that is right, null where it may be open or equal."""
    yield Pair(row["gold"], row["pred"], row.get("want", row.get("expected")))


def mistakes(row):
    """Steps that end in "So the answer is"."""
    yield Pair(row["target"], "\n".join(row["steps"]), row["answer"] == row["target"])


SETS = {
    "tora_dev": tora,
    "gsm8k_dev_models": models,
    "gsm8k_dev_people": solutions,
    "gsm8k_train": solutions,
    "bigbench_mistake_arithmetic": mistakes,
    "minerva": labelled,
    "abel": labelled,
    "mr_ben": labelled,
    "crux": labelled,
    "by_hand": labelled,
}


def rows(path: pathlib.Path):
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")
    with opened as lines:
        for line in lines:
            row = json.loads(line)
            # Cases of the crate are lists.
            yield dict(zip(("gold", "pred", "want"), row)) if isinstance(row, list) else row


def sets(folder: pathlib.Path) -> dict[str, list[Pair]]:
    found = {}
    for name, pairs in SETS.items():
        for path in (folder / f"{name}.jsonl.gz", folder / f"{name}.jsonl"):
            if path.exists():
                found[name] = [pair for row in rows(path) for pair in pairs(row)]
                break
    return found


def spoilt(pairs: list[Pair], seed: int) -> list[Pair]:
    """The right pairs with whole numbers, each with another reference near it."""
    chance = random.Random(seed)
    near = [lambda it: it + 1, lambda it: it - 1, lambda it: it * 10, lambda it: -it if it else 7, lambda it: it + 100]
    found = []
    for pair in pairs:
        if pair.want and pair.gold.lstrip("-").isdigit():
            found.append(Pair(str(chance.choice(near)(int(pair.gold))), pair.pred, False))
    return found


def ask(example: pathlib.Path, pairs: list[Pair]) -> str:
    lines = "".join(json.dumps({"gold": it.gold, "pred": it.pred}) + "\n" for it in pairs)
    return subprocess.run([example], input=lines, capture_output=True, text=True, check=True, encoding="utf-8").stdout


def verdicts(build: pathlib.Path, pairs: list[Pair]) -> list[dict]:
    return [json.loads(line) for line in ask(build / "verify_pairs", pairs).splitlines()]


def accuracy(pairs: list[Pair], told: list[dict]) -> str:
    count = collections.Counter((it.want, verdict["equal"]) for it, verdict in zip(pairs, told, strict=True))
    right = count[True, True] + count[False, False] + count[None, True] + count[None, None]
    different = sum(count[False, it] for it in (True, False, None))
    return (
        f"{len(pairs):,} | {100 * right / max(1, len(pairs)):.2f} | {count[False, True]} of {different:,} | "
        f"{count[True, False]} | {count[True, None]} | {count[False, None]}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, nargs="+")
    parser.add_argument("--build", action="append", required=True, metavar="NAME=FOLDER")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--changes", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    builds = {name: pathlib.Path(path) for name, path in (it.split("=", 1) for it in options.build)}
    found = {}
    for folder in options.folder:
        found |= sets(folder)
    if not found:
        sys.exit(f"no set in {options.folder}: {', '.join(SETS)}")
    found |= {f"{name}, spoilt": spoilt(pairs, options.seed) for name, pairs in found.items() if name != "by_hand"}
    print("| set | build | pairs | right % | wrong equal | equal called different | equal left open | different left open |")
    print("|---|---|--:|--:|--:|--:|--:|--:|")
    changed = []
    for name, pairs in found.items():
        told = {build: verdicts(path, pairs) for build, path in builds.items()}
        for build, own in told.items():
            print(f"| {name} | {build} | {accuracy(pairs, own)} |", flush=True)
        first, *others = told.values()
        for other in others:
            changed += [(name, *it) for it in zip(pairs, first, other) if it[1]["equal"] != it[2]["equal"]]
    if options.changes:
        for name, pair, before, after in changed:
            row = {"set": name, **pair._asdict(), "before": before["equal"], "after": after["equal"]}
            print(json.dumps(row | {"reason before": before["reason"], "reason": after["reason"]}, ensure_ascii=False))
    if options.times:
        print("\n| set | build | strict, µs | p90 | compat, µs | strict ÷ compat |\n|---|---|--:|--:|--:|--:|")
        for name, pairs in found.items():
            if name.endswith("spoilt") or name == "gsm8k_train":
                continue
            least = {}
            for _ in range(3):
                for build, path in builds.items():
                    own = json.loads(ask(path / "time_pairs", pairs[:2000]))
                    if build not in least or own["strict"]["median"] < least[build]["strict"]["median"]:
                        least[build] = own
            for build, own in least.items():
                strict, compat = own["strict"], own["compat"]
                print(
                    f"| {name} | {build} | {strict['median']:.1f} | {strict['p90']:.1f} | {compat['median']:.1f} | "
                    f"{strict['median'] / compat['median']:.2f} |"
                )


if __name__ == "__main__":
    main()
