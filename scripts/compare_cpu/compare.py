#!/usr/bin/env python3
"""juror, llama.cpp and transformers on the same random weights and the judge workload, in one run on this CPU.

    python compare.py [--weights q8_0 q4k] [--runs 3] [--out FILE]

writes FILE.md and FILE.json.  The README beside this file says what is measured, and how.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import json
import os
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

import report
from build_llama import build
from juror import Juror
from llama_cpp import Llama, Setting
from make_checkpoint import SHAPES, make
from workload import Log, PeerError, Workload

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
FLOAT_TYPES = {"f32": "float32", "f16": "bfloat16"}
"""Weight type -> what transformers computes in.  f16 on a CPU is slow there; bf16 has the same size."""


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    add = parser.add_argument
    add("--weights", nargs="+", choices=list(report.WEIGHT_NAMES), default=["f32", "f16", "q8_0", "q4k"], metavar="TYPE",
        help="f32 f16 bf16 q8_0 q4k (default: all but bf16)")  # fmt: skip
    add("--runs", type=int, default=3, help="runs of everything; medians are reported (default: %(default)s)")
    add("--out", type=Path, default=Path("compare_cpu"), help="results, without .md and .json (default: %(default)s)")
    add("--skip", nargs="+", choices=report.PEERS, default=[], help="peers to leave out")
    add("--folder", type=Path, default=REPOSITORY / "target" / "compare_cpu", help="weights and logs, some 10 GB")
    add("--llama", type=Path, help="folder of llama.cpp's programs; without it they are built in --folder")
    add("--juror", type=Path, default=REPOSITORY / "target" / "release" / "juror")
    add("--before", type=Path, help="an earlier build of juror, measured beside it")
    add("--python", default=sys.executable, help="a Python with torch and transformers")
    add("--threads", type=int, default=cores, help="of every peer (default: cores of this process, %(default)s)")
    add("--samples", type=int, default=32, help="juror's samples (default: %(default)s)")
    add("--server-samples", type=int, default=16, help="llama-server's samples, all at once (default: %(default)s)")
    add("--transformers-samples", type=int, default=8)
    add("--slots", type=int, nargs="+", default=[1, 4, 8], help="slots of llama-server to try (default: 1 4 8)")
    add("--flash-attention", nargs="+", choices=["auto", "on", "off"], default=["auto", "off"],
        help="of llama.cpp, to try with the best number of slots (default: auto off)")  # fmt: skip
    add("--tune-samples", type=int, default=8, help="samples for each setting tried (default: %(default)s)")
    add("--template-tokens", type=int, default=1300)
    add("--input-tokens", type=int, default=300)
    add("--output-tokens", type=int, default=60)
    add("--prefill-tokens", type=int, default=512, help="raw prefill")
    add("--decode-prompt-tokens", type=int, default=128, help="raw decode")
    add("--decode-tokens", type=int, default=32, help="raw decode")
    add("--decode-batches", type=int, nargs="+", default=[1, 8, 32])
    add("--juror-arguments", default="", help="more arguments of `juror bench`, split at spaces")
    add("--wider", metavar="ARGUMENTS", help="juror once more, with these arguments in place of --juror-arguments")
    add("--server-arguments", default="", help="more arguments of llama-server, split at spaces")
    add("--shape", choices=SHAPES, default="qwen3-0.6b")
    add("--file", type=Path, help="a GGUF file to measure as it is, instead of random weights of a shape")
    add("--timeout", type=float, default=1800, help="seconds for one program (default: %(default)s)")
    arguments = parser.parse_args()
    if arguments.file:
        arguments.file, arguments.weights = arguments.file.resolve(), ["file"]
    elif "file" in arguments.weights:
        parser.error("the weights `file` are those of --file")
    return arguments


def vocabulary(arguments: argparse.Namespace) -> int:
    """How many tokens there are."""
    if not arguments.file:
        return SHAPES[arguments.shape]["vocab_size"]
    from gguf import GGUFReader

    return len(GGUFReader(arguments.file).get_field("tokenizer.ggml.tokens").data)


class Comparison:
    """The peers, and what they were found to do."""

    def __init__(self, arguments: argparse.Namespace):
        self.arguments = arguments
        shape = arguments.file.stem if arguments.file else arguments.shape
        folder = arguments.folder.resolve() / shape
        logs = folder / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        self.log = Log(logs)
        self.folder = folder
        self.workload = Workload(
            template=arguments.template_tokens,
            own=arguments.input_tokens,
            output=arguments.output_tokens,
            samples=arguments.samples,
            vocabulary=vocabulary(arguments),
            prefill=arguments.prefill_tokens,
            decode_prompt=arguments.decode_prompt_tokens,
            decode_output=arguments.decode_tokens,
            decode_batches=arguments.decode_batches,
        )
        self.settings: dict[str, Setting] = {}
        self.result = {
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="minutes"),
            "machine": report.machine(),
            "load_before": os.getloadavg()[0],
            "threads": arguments.threads,
            "shape": shape,
            "workload": dataclasses.asdict(self.workload),
            "server_samples": arguments.server_samples,
            "transformers_samples": arguments.transformers_samples,
            "runs": arguments.runs,
            "weights": arguments.weights,
            "versions": {},
            "tried": {},
            "figures": {kind: {} for kind in arguments.weights},
            "failures": [],
            "commands": self.log.commands,
        }

    def prepare(self) -> None:
        """Weights, programs, versions."""
        arguments, folder = self.arguments, self.folder
        versions = self.result["versions"]
        common = (folder, arguments.threads, self.log, arguments.timeout)
        kinds = []
        if "llama.cpp" not in arguments.skip:
            quantised = {"f16"} if {"q8_0", "q4k", "f16"} & set(arguments.weights) else set()
            kinds = sorted(quantised | {"bf16", "f32"} & set(arguments.weights))
        if not arguments.file:
            make(folder, arguments.shape, kinds)
        if "llama.cpp" not in arguments.skip:
            programs = arguments.llama or build(arguments.folder.resolve() / "llama", arguments.threads)
            self.llama = Llama(programs.resolve(), *common, arguments.server_arguments.split(), arguments.file)
            versions["llama.cpp"] = self.llama.version()
            for kind in arguments.weights:
                self.llama.weights(kind)
        if "juror" not in arguments.skip:
            self.juror = Juror(arguments.juror.resolve(), *common, arguments.juror_arguments.split(), arguments.file)
            versions["juror"] = self.juror.version()
        if arguments.before:
            extra = arguments.juror_arguments.split()
            self.before = Juror(arguments.before.resolve(), *common, extra, arguments.file, "before")
            versions["before"] = "an earlier build"
        if arguments.wider and "juror" in versions:
            self.wider = Juror(arguments.juror.resolve(), *common, arguments.wider.split(), arguments.file, "wider")
            versions["wider"] = f"juror with {arguments.wider}"
        if "transformers" not in arguments.skip and set(FLOAT_TYPES) & set(arguments.weights):
            versions["transformers"] = "not measured"

    def attempt(self, peer: str, kind: str, measure) -> dict:
        """A peer's figures, or none and a note of why."""
        try:
            return measure()
        except PeerError as error:
            self.result["failures"].append(f"{peer}, {kind}: {error}")
            print(f"FAILED {peer}, {kind}: {error}", file=sys.stderr, flush=True)
            return {}

    def tune(self, kind: str) -> Setting:
        """The best setting of llama-server for a weight type, found in the first run."""
        if kind not in self.settings:
            arguments, tried = self.arguments, []

            def best(settings: list[Setting]) -> Setting:
                for setting in settings:
                    found = self.llama.judge(kind, setting, self.workload, arguments.tune_samples, seed="trial")
                    tried.append((found["verdicts_per_second"], setting, found))
                return max(tried, key=lambda one: one[0])[1]

            first, *others = arguments.flash_attention
            chosen = Setting(arguments.slots[0], first)
            if len(arguments.slots) > 1 or others:
                chosen = best([Setting(slots, first) for slots in arguments.slots])
                chosen = best([Setting(chosen.slots, other) for other in others])
            self.settings[kind] = chosen
            self.result["tried"][kind] = [found for _, _, found in tried]
        return self.settings[kind]

    def attention(self, kind: str) -> str:
        """Whether flash attention is on: as it was best for the server, if that was found out."""
        setting = self.settings.get(kind)
        return setting.flash_attention if setting else self.arguments.flash_attention[0]

    def llama_judge(self, kind: str, run: int) -> dict:
        setting, samples, seed = self.tune(kind), self.arguments.server_samples, f"run {run}"
        found = self.llama.judge(kind, setting, self.workload, samples, seed)
        cold = self.llama.judge(kind, setting, self.workload, samples, seed, warm=False)
        return {**found, "cold_verdicts_per_second": cold["verdicts_per_second"], "cold": cold}

    def transformers(self, kind: str) -> dict:
        """The peer in a process of its own."""
        arguments = self.arguments
        command = [Path(arguments.python), HERE / "transformers_cpu.py", self.folder / "hf"]
        command += ["--dtype", FLOAT_TYPES[kind], "--threads", str(arguments.threads), "--samples", str(arguments.transformers_samples)]
        command += ["--workload", json.dumps(self.result["workload"])]
        threads = str(arguments.threads)
        found = json.loads(self.log.run(command, f"transformers-{kind}", arguments.timeout, OMP_NUM_THREADS=threads))
        self.result["versions"]["transformers"] = found["version"]
        return found["figures"]

    def measure(self) -> None:
        """All runs; in each, for each weight type, the peers in turn."""
        present, workload = self.result["versions"], self.workload
        for run in range(self.arguments.runs):
            for kind in self.arguments.weights:
                steps = []
                if "llama.cpp" in present:
                    steps.append(("llama.cpp", lambda kind=kind: self.llama_judge(kind, run)))
                builds = [(name, getattr(self, name)) for name in ("juror", "before", "wider") if name in present]
                steps += [(name, lambda kind=kind, one=one: one.judge(kind, workload)) for name, one in builds]
                if "llama.cpp" in present:
                    steps.append(("llama.cpp", lambda kind=kind: self.llama.first(kind, self.attention(kind), workload)))
                steps += [(name, lambda kind=kind, one=one: one.first(kind, workload)) for name, one in builds]
                if "llama.cpp" in present:
                    steps.append(("llama.cpp", lambda kind=kind: self.llama.raw(kind, self.attention(kind), workload)))
                steps += [(name, lambda kind=kind, one=one: one.raw(kind, workload)) for name, one in reversed(builds)]
                if "transformers" in present and kind in FLOAT_TYPES:
                    steps.append(("transformers", lambda kind=kind: self.transformers(kind)))
                found: dict[str, dict] = {}
                for peer, step in steps:
                    found.setdefault(peer, {}).update(self.attempt(peer, kind, step))
                for peer, figures in found.items():
                    self.result["figures"][kind].setdefault(peer, []).append(figures)
                self.write(run + 1)

    def write(self, runs: int) -> None:
        """The results so far, so that an interrupted comparison is not lost."""
        self.result["runs"] = runs
        out = self.arguments.out
        out.parent.mkdir(parents=True, exist_ok=True)
        Path(f"{out}.json").write_text(json.dumps(self.result, indent=2) + "\n", encoding="utf-8")
        Path(f"{out}.md").write_text(report.markdown(self.result), encoding="utf-8")


def main() -> None:
    arguments = parse()
    # An end by the terminal or a time limit must not leave a server behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"load average {load:.1f}: other programs run here, and the figures will be noisy", file=sys.stderr)
    comparison = Comparison(arguments)
    try:
        comparison.prepare()
        comparison.measure()
    except KeyboardInterrupt:
        sys.exit("stopped")
    except (PeerError, OSError, subprocess.CalledProcessError, tarfile.TarError) as error:
        sys.exit(str(error))
    print(report.markdown(comparison.result))
    sys.exit(1 if comparison.result["failures"] else 0)


if __name__ == "__main__":
    main()
