"""juror as a peer of the others: `juror bench`, on the same weights."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from workload import Log, PeerError, Workload

TYPES = {
    "f32": ["--dtype", "f32"],
    "f16": ["--dtype", "f16"],
    "bf16": ["--dtype", "bf16"],
    "q8_0": ["--quantize", "q8_0"],
    "q4k": ["--quantize", "q4k"],
    "file": [],
}


class Juror:
    """The binary with one folder of weights."""

    def __init__(
        self, program: Path, folder: Path, threads: int, log: Log, seconds: float, extra: list[str], file: Path | None,
        name: str = "juror",
    ):  # fmt: skip
        self.name = name
        self.program, self.threads, self.model = program, threads, file or folder / "hf"
        self.log, self.seconds, self.extra = log, seconds, extra

    def version(self) -> str:
        """`juror --version`, and the commit of the sources beside this script."""
        try:
            done = subprocess.run([self.program, "--version"], capture_output=True, text=True, timeout=60)
        except OSError as error:
            raise PeerError(f"no juror at {self.program} ({error}): cargo build --release") from error
        git = ["git", "-C", Path(__file__).parent, "describe", "--always", "--dirty", "--exclude", "*"]
        try:
            commit = subprocess.run(git, capture_output=True, text=True).stdout.strip()
        except OSError:
            commit = ""
        return f"{done.stdout.strip().removeprefix('juror ')}{f' ({commit})' if commit else ''}"

    def bench(self, kind: str, samples: int, template: int, own: int, output: int, *more: str) -> dict:
        """What `juror bench --json` measures for one workload.  The template is cached before its clock starts."""
        report = self.log.folder / f"{self.name}-{kind}-{samples}-{template}-{own}-{output}.json"
        report.unlink(missing_ok=True)
        command = [self.program, "bench", "--model", self.model, "--device", "cpu", *TYPES[kind]]
        command += ["--samples", str(samples), "--template-tokens", str(template)]
        command += ["--input-tokens", str(own), "--output-tokens", str(output), *more, *self.extra, "--json", report]
        self.log.run(command, report.stem, self.seconds, RAYON_NUM_THREADS=str(self.threads))
        peak = self.log.peak / 1e6
        try:
            found = json.loads(report.read_text(encoding="utf-8")) | {"peak_megabytes": peak}
            # Paths of this machine; the command is noted by its names.
            return {name: value for name, value in found.items() if name not in ("command", "model_id")}
        except (OSError, ValueError) as error:
            raise PeerError(f"juror bench left no figures in {report}: {error}") from error

    def judge(self, kind: str, workload: Workload) -> dict:
        """Verdicts a second, with the template in the cache and from an empty cache."""
        found = self.bench(kind, workload.samples, workload.template, workload.own, workload.output)
        return {
            "verdicts_per_second": found["verdicts_per_second"],
            "cold_verdicts_per_second": workload.samples / (found["duration"] + found["template_seconds"]),
            "peak_megabytes": found["peak_megabytes"],
            "report": found,
        }

    def first(self, kind: str, workload: Workload) -> dict:
        """Seconds from the program's start to its end for one sample: loading, template, answer."""
        self.bench(kind, 1, workload.template, workload.own, workload.output, "--no-breakdown")
        return {"first_verdict_seconds": self.log.took}

    def raw(self, kind: str, workload: Workload) -> dict:
        """Prefill and decode in tokens a second, on prompts without anything in common."""
        budget = str(max(512, workload.prefill))
        # As often as llama-bench; in one step, as llama.cpp's 512 are.
        found = self.bench(kind, 1, 0, workload.prefill, 1, "--token-budget", budget, "--runs", "3")
        figures = {"prefill_tokens_per_second": found["prefill_tokens_per_second"]}
        for batch in workload.decode_batches:
            # All prompts in one step, so that all rows decode together from the first token to the last.
            budget = str(max(512, batch * workload.decode_prompt))
            found = self.bench(
                kind, batch, 0, workload.decode_prompt, workload.decode_output, "--token-budget", budget
            )
            figures[f"decode_tokens_per_second_{batch}"] = found["decode_tokens_per_second"]
        return figures
