#!/usr/bin/env python3
"""Switches off one part of the rules after another and counts the verdicts that change.

    python scripts/verifier/ablate.py corpus.jsonl pairs.jsonl [--profile strict] [--only NAME] [--together NAME NAME …] [--show 5]

The script copies the crates `algebra`, `math_verify` and `rules` to a temporary folder, writes an early return into every function that the table
`PARTS` names, builds the example `verify_pairs` once and runs it once for each part. A pair is a JSON line with `gold`,
`pred` and perhaps `config`; where it has a label (`expected` or `label`) the table also says how many verdicts went from
right to wrong (−) and back (+). A verdict of null counts as "not equal", as for a reward. ~ counts pairs whose verdict
stays and whose status changes, mostly from proved to equal in hundreds of digits. Prints Markdown.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from parts import PARTS

_REPOSITORY = Path(__file__).resolve().parents[2]
_VARIABLE = "JUROR_ABLATED"
_GUARD = f"""
/// Is this part switched off?
pub(crate) fn is_ablated(name: &str) -> bool {{
    static NAME: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    let names = NAME.get_or_init(|| std::env::var("{_VARIABLE}").ok()).as_deref();
    names.is_some_and(|names| names.split(" + ").any(|it| it == name))
}}
"""


_CRATES = ["algebra", "math_verify", "rules"]


def place(crates: Path, where: str) -> Path:
    """The file that a row of `PARTS` names: below the crate that it begins with, else below the rules."""
    crate, _, rest = where.partition("/")
    return crates / crate / "src" / rest if crate in _CRATES else crates / "rules" / "src" / where


def insert(source: str, where: str, signature: str, name: str, result: str) -> str:
    """The source with an early return in the function whose signature begins with this line."""
    lines = source.split("\n")
    found = [number for number, line in enumerate(lines) if line.strip().startswith(signature)]
    if len(found) != 1:
        sys.exit(f"{where}: `{signature}` was found {len(found)} times, expected once")
    indent = len(lines[found[0]]) - len(lines[found[0]].lstrip())
    for number in range(found[0], len(lines)):
        line = lines[number]
        if line.endswith(" {") and len(line) - len(line.lstrip()) == indent:
            lines.insert(number + 1, f'if crate::is_ablated("{name}") {{ return {result}; }}')
            return "\n".join(lines)
    sys.exit(f"{where}: `{signature}` has no body")


def build(folder: Path, target: Path) -> None:
    """Builds the example with all switches from a copy of the crate."""
    ignored = shutil.ignore_patterns("target", "fuzz")
    for crate in _CRATES:
        shutil.copytree(_REPOSITORY / "crates" / crate, folder / crate, ignore=ignored)
    shutil.copy(_REPOSITORY / "Cargo.lock", folder)
    package = tomllib.loads((_REPOSITORY / "Cargo.toml").read_text())["workspace"]["package"]
    (folder / "Cargo.toml").write_text(
        f'[workspace]\nmembers = {json.dumps(_CRATES)}\nresolver = "3"\n[workspace.lints]\n[workspace.package]\n'
        + "".join(f"{key} = {json.dumps(value)}\n" for key, value in package.items())
        + "[profile.release]\ncodegen-units = 4\n"
    )
    for name, places in PARTS.items():
        for where, signature, result in places:
            path = place(folder, where)
            if not path.exists():
                sys.exit(f"{name}: there is no {where}")
            path.write_text(insert(path.read_text(), where, signature, name, result))
    for crate in _CRATES:
        library = folder / crate / "src" / "lib.rs"
        library.write_text(library.read_text() + _GUARD)
    command = ["cargo", "build", "--release", "-p", "juror-rules", "--example", "verify_pairs"]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target), "RUSTFLAGS": "--cap-lints=allow"}
    if subprocess.run(command, cwd=folder, env=environment).returncode != 0:
        sys.exit("the copy with switches does not build: see above")


def run(binary: Path, profile: str, corpus: Path, part: str | None) -> tuple[list, float]:
    """The verdicts and statuses on a corpus, and the seconds of processor time."""
    environment = {key: value for key, value in os.environ.items() if key != _VARIABLE}
    if part is not None:
        environment[_VARIABLE] = part
    before = os.times()
    with corpus.open() as rows:
        done = subprocess.run([binary, profile], stdin=rows, capture_output=True, text=True, env=environment)
    after = os.times()
    if done.returncode != 0:
        return [], 0.0
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    verdicts = [(row["equal"], row["status"]) for row in rows]
    return verdicts, after.children_user - before.children_user


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpora", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--profile", choices=["strict", "compat"], default="strict")
    parser.add_argument("--only", action="append", choices=sorted(PARTS), metavar="NAME", help="may be repeated")
    parser.add_argument("--together", action="append", nargs="+", choices=sorted(PARTS), metavar="NAME", help="at once")
    parser.add_argument("--show", type=int, default=0, metavar="K", help="so many changed pairs of each part")
    parser.add_argument("--target", type=Path, default=_REPOSITORY / "target" / "ablation", help="cargo's folder")
    parser.add_argument("--built", action="store_true", help="use the example that an earlier run built")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="ablation-") as folder:
        target = options.target.resolve()
        binary = target / "release" / "examples" / "verify_pairs"
        if not options.built:
            build(Path(folder), target)
        base, labels, pairs = {}, {}, {}
        for corpus in options.corpora:
            base[corpus] = run(binary, options.profile, corpus, None)
            pairs[corpus] = [json.loads(line) for line in corpus.open()]
            labels[corpus] = [row.get("expected", row.get("label")) for row in pairs[corpus]]
        heads = [f"{corpus.stem} ({len(base[corpus][0])})" for corpus in options.corpora]
        print("| switched off | " + " | ".join(heads) + " | time |")
        print("|---|" + "---:|" * (len(heads) + 1))
        whole = sum(seconds for _, seconds in base.values())
        print("| nothing | " + " | ".join("" for _ in heads) + f" | {whole:.2f} s |")
        together = [" + ".join(names) for names in options.together or []]
        for part in (options.only or []) + together or PARTS:
            cells, total = [], 0.0
            shown = []
            for corpus in options.corpora:
                verdicts, seconds = run(binary, options.profile, corpus, part)
                total += seconds
                if len(verdicts) != len(base[corpus][0]):
                    cells.append("crashed")
                    continue
                both = list(zip(base[corpus][0], verdicts))
                changed = [i for i, (a, b) in enumerate(both) if a[0] != b[0]]
                unproved = sum(a[0] == b[0] and a[1] != b[1] for a, b in both)
                worse = better = 0
                for i in changed:
                    expected = labels[corpus][i]
                    if isinstance(expected, bool):
                        was = (base[corpus][0][i][0] is True) == expected
                        now = (verdicts[i][0] is True) == expected
                        worse += was and not now
                        better += now and not was
                    shown.append((corpus.stem, pairs[corpus][i], base[corpus][0][i][0], verdicts[i][0]))
                cell = f"{len(changed)} (−{worse} +{better})" if changed else "0"
                cells.append(f"{cell} ~{unproved}" if unproved else cell)
            print(f"| {part} | " + " | ".join(cells) + f" | {100 * (total / whole - 1):+.0f} % |", flush=True)
            for stem, row, was, now in shown[: options.show]:
                print(f"    {stem}: {row['gold'][-100:]!r} {row['pred'][-100:]!r}: {was} -> {now}")


if __name__ == "__main__":
    main()
