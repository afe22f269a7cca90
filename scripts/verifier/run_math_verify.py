#!/usr/bin/env python3
"""Verdicts of math-verify on pairs of answers; to be run by an interpreter that has it installed.

    python run_math_verify.py PAIRS.jsonl --out VERDICTS.jsonl

Rows hold ``gold``, ``pred`` and perhaps ``id`` and ``config`` (``extract``, ``boxed_match_priority``,
``try_extract_without_anchor``, ``float_rounding``, ``numeric_precision``, ``strict``, ``allow_set_relation_comp``,
``extraction_mode``, ``fallback_mode``). Each gives ``{"id", "equal", "seconds", "end", "gold", "pred"}`` in order:
``equal`` is null where math-verify raised, hung or died, and ``end`` says what happened; ``seconds`` is CPU time of both
parses and the comparison.
A summary with versions and times goes to standard output as JSON.

The pairs are verified in a child process, which is replaced when it hangs or eats its memory.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import platform
import resource
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from multiprocessing.connection import Connection

#: Seconds until a child that does not answer is killed; math-verify's own limits add up to 15.
_PATIENCE = 30
#: math-verify silently says "different" after five seconds; what took this long is marked.
_LIMIT = 4.5
#: Bytes of address space of a child.
_MEMORY = 4 << 30


def _extraction(config: dict) -> list:
    """The extraction targets that a row's settings describe."""
    from math_verify import ExprExtractionConfig, LatexExtractionConfig, StringExtractionConfig

    anchorless = config.get("try_extract_without_anchor", True)
    targets = []
    for target in config.get("extract", ["latex", "expr"]):
        name, inner = (target, None) if isinstance(target, str) else next(iter(target.items()))
        if name == "latex":
            priority = config.get("boxed_match_priority", 50)
            targets.append(LatexExtractionConfig(try_extract_without_anchor=anchorless, boxed_match_priority=priority))
        elif name == "expr":
            targets.append(ExprExtractionConfig(try_extract_without_anchor=anchorless))
        else:
            inner = inner if isinstance(inner, dict) else {"strings": inner} if inner else {}
            settings = {key: inner.get(key, config.get(key)) for key in ("strings", "lowercase")}
            settings = {key: value for key, value in settings.items() if value is not None}
            if "strings" in settings:
                settings["strings"] = tuple(settings["strings"])
            targets.append(StringExtractionConfig(try_extract_without_anchor=anchorless, **settings))
    return targets


def _verify(row: dict) -> dict:
    """One verdict, with what was read on both sides."""
    from math_verify import parse, verify

    config = row.get("config") or {}
    modes = {key: config[key] for key in ("extraction_mode", "fallback_mode") if key in config}
    names = ("float_rounding", "numeric_precision", "strict", "allow_set_relation_comp")
    options = {key: config[key] for key in names if key in config}
    targets = _extraction(config)
    start, clock = time.process_time(), time.monotonic()
    gold = parse(row["gold"], targets, **modes)
    pred = parse(row["pred"], targets, **modes)
    equal = verify(gold, pred, **options)
    seconds, wall = time.process_time() - start, time.monotonic() - clock
    ended = "timed_out" if wall > _LIMIT else "ended"
    return {"equal": bool(equal), "seconds": seconds, "end": ended, "gold": _shown(gold), "pred": _shown(pred)}


def _shown(values: list) -> list[str]:
    """What was read, for a person; printing may itself fail or take long, so numbers that are huge stay unprinted."""
    shown = []
    for value in values:
        try:
            shown.append(str(value)[:200])
        except BaseException as error:  # noqa: BLE001
            shown.append(f"<{type(error).__name__}>")
    return shown


def _serve(pipe: Connection) -> None:
    """Verifies what comes through the pipe until nothing comes."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    import logging

    logging.disable(logging.CRITICAL)
    _verify({"gold": "$1$", "pred": "$1$"})  # imports and first compilations are not timed
    pipe.send("ready")
    while (row := pipe.recv()) is not None:
        start = time.process_time()
        try:
            result = _verify(row)
        except BaseException as error:  # noqa: BLE001 -- its time-outs are no ordinary exceptions
            result = {"equal": None, "end": f"{type(error).__name__}: {error}"[:200]}
            result["seconds"] = time.process_time() - start
        pipe.send(result)


class Child:
    """A process that verifies, replaced when it fails."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self.pipe, other = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=_serve, args=(other,), daemon=True)
        self.process.start()
        other.close()
        if self.pipe.recv() != "ready":
            raise RuntimeError("the child did not start")

    def verify(self, row: dict) -> dict:
        """A verdict, or none and why."""
        error = "killed: it did not end"
        try:
            self.pipe.send(row)
            if self.pipe.poll(_PATIENCE):
                return self.pipe.recv()
        except (EOFError, OSError):
            error = "died"
        self.process.kill()
        self.process.join()
        self._start()
        return {"equal": None, "seconds": float(_PATIENCE), "end": error}

    def close(self) -> None:
        self.pipe.send(None)
        self.process.join()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _summary(seconds: list[float], wall: float) -> dict:
    ordered = sorted(seconds) or [0.0]
    packages = ("math-verify", "latex2sympy2_extended", "sympy", "antlr4-python3-runtime")
    return {
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in packages}},
        "cases": len(seconds),
        "cpu_seconds": round(sum(seconds), 3),
        "wall_seconds": round(wall, 3),
        "median_ms": round(1000 * ordered[len(ordered) // 2], 3),
        "p99_ms": round(1000 * ordered[int(0.99 * (len(ordered) - 1))], 3),
        "max_ms": round(1000 * ordered[-1], 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pairs", help="JSONL rows with gold and pred")
    parser.add_argument("--out", required=True, help="JSONL verdicts, in the order of the rows")
    options = parser.parse_args()
    child, seconds, start = Child(), [], time.monotonic()
    with open(options.pairs, encoding="utf-8") as rows, open(options.out, "w", encoding="utf-8") as out:
        for index, line in enumerate(line for line in rows if line.strip()):
            row = json.loads(line)
            result = child.verify(row)
            seconds.append(result["seconds"])
            out.write(json.dumps({"id": row.get("id", index), **result}) + "\n")
            if sys.stderr.isatty() and index % 100 == 0:
                print(f"\r{index} pairs", end="", file=sys.stderr)
    child.close()
    print(json.dumps(_summary(seconds, time.monotonic() - start)))


if __name__ == "__main__":
    main()
