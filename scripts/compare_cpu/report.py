"""The figures as a Markdown table."""

from __future__ import annotations

import os
import platform
import statistics
from pathlib import Path

PEERS = ["llama.cpp", "transformers", "before", "juror", "wider"]
WEIGHT_NAMES = {"f32": "f32", "f16": "f16", "bf16": "bf16", "q8_0": "Q8_0", "q4k": "Q4_K", "file": "of the file"}


def machine() -> str:
    """Processor, cores, vector instructions, memory, system."""
    words, flags = platform.processor() or platform.machine(), set()
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                words = value.strip()
            elif name.strip() in ("flags", "Features"):
                flags = set(value.split())
    except OSError:
        pass
    vector = [flag for flag in ["avx2", "avx512f", "avx512_vnni", "amx_int8", "asimd", "i8mm"] if flag in flags]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    system = f"{platform.system()} {platform.release()}"
    return f"{words}, {cores} cores, {', '.join(vector) or 'no vector flags known'}, {memory:.0f} GiB, {system}"


def median(runs: list[dict], figure: str) -> float | None:
    """The median of a figure over the runs that have it."""
    values = [run[figure] for run in runs if run.get(figure)]
    return statistics.median(values) if values else None


def spread(runs: list[dict], figure: str) -> str:
    """Least and greatest of several runs."""
    values = [run[figure] for run in runs if run.get(figure)]
    return f" ({shown(min(values))}–{shown(max(values))})" if len(values) > 1 else ""


def shown(value: float) -> str:
    """Three significant digits, without an exponent."""
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:.{digits}f}"


def rows_of(workload: dict) -> list[tuple[str, str]]:
    """(figure, what it is called)."""
    raw = [("prefill_tokens_per_second", f"prefill {workload['prefill']}, tokens/s")]
    for batch in workload["decode_batches"]:
        raw.append((f"decode_tokens_per_second_{batch}", f"decode at batch {batch}, tokens/s"))
    judged = [("verdicts_per_second", "judging, verdicts/s"), ("cold_verdicts_per_second", "the same from an empty cache")]
    raw.append(("first_verdict_seconds", "one verdict, counted from the program's start, s (less is better)"))
    return [*judged, *raw, ("peak_megabytes", "most memory while judging, MB")]


def table(result: dict) -> str:
    """Medians of every peer and their ratios, one row for each weight type and figure."""
    peers = [peer for peer in PEERS if peer in result["versions"]]
    others = [peer for peer in peers if peer != "juror"] if "juror" in peers else []
    head = ["weights", "what", *peers, *[f"juror : {peer}" for peer in others]]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for kind in result["weights"]:
        figures = result["figures"][kind]
        for figure, name in rows_of(result["workload"]):
            found = {peer: median(figures.get(peer, []), figure) for peer in peers}
            cells = [
                "–" if found[peer] is None else shown(found[peer]) + spread(figures[peer], figure) for peer in peers
            ]
            for peer in others:
                known = found["juror"] and found[peer]
                cells.append(f"**{found['juror'] / found[peer]:.2f} ×**" if known else "–")
            lines.append("| " + " | ".join([WEIGHT_NAMES[kind], name, *cells]) + " |")
    return "\n".join(lines)


def tried_table(result: dict) -> str:
    """What was tried of the server's settings."""
    lines = ["| weights | llama-server | verdicts/s | prompt tokens cached |", "|---|---|---|---|"]
    for kind, tried in result["tried"].items():
        for one in tried:
            cached = one["prompt_tokens_cached"] / (one["prompt_tokens_cached"] + one["prompt_tokens_computed"])
            cells = [WEIGHT_NAMES[kind], one["setting"], shown(one["verdicts_per_second"]), f"{cached:.0%}"]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def weights(result: dict) -> str:
    """What was measured, before its name."""
    return "Weights as they are in" if result["weights"] == ["file"] else "Random weights of the shape"


def markdown(result: dict) -> str:
    """The whole page."""
    work, runs = result["workload"], result["runs"]
    judged = {
        "before": "before: an earlier build of juror, as juror",
        "wider": "wider: juror once more, with another instruction set",
        "juror": f"juror {work['samples']} samples at once, template in the cache before the clock starts",
        "llama.cpp": f"llama-server {result['server_samples']} samples at once, template in every slot before the clock starts",
        "transformers": f"transformers {result['transformers_samples']} samples, keys and values of the template computed "
        "before, in bf16 where the others take f16",
    }
    parts = [
        f"## Judging on a CPU, {result['date']}",
        f"{result['machine']}; {result['threads']} threads for every peer; load average before the first run "
        f"{result['load_before']:.2f}. {weights(result)} `{result['shape']}`. "
        + ", ".join(f"{peer}: {version}" for peer, version in result["versions"].items())
        + ".",
        f"Judging: {work['template']:,} shared + {work['own']} own prompt tokens, {work['output']} generated; "
        + "; ".join(words for peer, words in judged.items() if peer in result["versions"])
        + f". Decode: prompts of {work['decode_prompt']} tokens, {work['decode_output']} generated. "
        + (f"Medians of {runs} runs (least–greatest), peers in turn." if runs > 1 else "One run, peers in turn."),
        table(result),
    ]
    if any(result["tried"].values()):
        parts += ["Settings of llama-server, tried first; the best was measured:", tried_table(result)]
    if result["failures"]:
        lines = [failure.splitlines() for failure in result["failures"]]
        parts += ["What failed:", "\n".join(f"- {words[0]} {words[-1] if words[1:] else ''}".rstrip() for words in lines)]
    parts += ["Commands:", "```sh\n" + "\n".join(result["commands"]) + "\n```"]
    return "\n\n".join(parts) + "\n"
