#!/usr/bin/env python3
"""Mutates model files and holds the real binary to its promise: an exit code of its own, a message, bounded time and memory.

    cargo build --bin juror
    python3 scripts/hostile_models.py [--binary target/debug/juror] [--count 2000] [--seed 1]

Files: model.safetensors, tokenizer.json, config.json, tokenizer_config.json and generation_config.json of the embedded judge's
folder, and a GGUF file (--gguf, for one written by the tests; else headers that are made here). Mutations: bytes flipped,
cut, repeated, replaced by extreme numbers; in JSON, values replaced by others of any type, keys doubled or renamed. Each is
given to `models show` and to `judge`, with limits on processor time, address space and time. Reported: panics, signals, exits
by other codes than 0 to 3, and what hit a limit.
"""

import argparse
import collections
import copy
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
VALUES = [None, True, False, 0, 1, -1, 2**31, 2**53, 2**63, 1e308, -0.5, "", "a" * 5000, "\x1b]0;x\x07", [], {}, [[]] * 50, "\U0001F600"]
WORDS = ["Replace", "Prepend", "Precompiled", "NFKC", "Sequence", "Unigram", "WordPiece", "BPE", "Metaspace", "Split", "Digits"]


def places(value, path=()):
    """Every place in a JSON value, long lists sampled."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for count, (key, inner) in enumerate(items):
        if count > 40:
            break
        yield from places(inner, (*path, key))


def mutate_json(text, rng):
    document = json.loads(text)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        path = rng.choice([path for path in places(document) if path])
        inner = document
        try:
            for key in path[:-1]:
                inner = inner[key]
            old, key = inner[path[-1]], path[-1]
        except (KeyError, IndexError, TypeError):
            continue
        kind = rng.randrange(6)
        if kind == 0 and isinstance(inner, dict):
            inner[str(key) + rng.choice(["", "_", "\x00"])] = inner.pop(key)
        elif kind == 1:
            inner[key] = [copy.deepcopy(old) for _ in range(rng.choice([0, 2, 1000]))]
        elif kind == 2 and isinstance(old, (int, float)) and not isinstance(old, bool):
            inner[key] = rng.choice([old + 1, -old, old * 1000, old * 10**9, old / 2])
        elif kind == 3 and isinstance(old, str):
            inner[key] = rng.choice([old * 100, old[: len(old) // 2], rng.choice(WORDS), "\x1b[2J" + old, "(" + old, old + "*+"])
        elif kind == 4 and isinstance(inner, dict):
            del inner[key]
        else:
            inner[key] = copy.deepcopy(rng.choice(VALUES))
    return json.dumps(document)


def mutate_bytes(data, rng, header):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        at = rng.randrange(min(len(data), header))
        kind = rng.randrange(6)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at] = rng.randrange(256)
        elif kind == 2:
            del data[at : at + rng.choice([1, 8, 1000, len(data)])]
        elif kind == 3:
            data[at:at] = bytes(data[at : at + rng.choice([1, 8, 64])])
        elif kind == 4:
            number = rng.choice([0, 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1])
            data[at : at + 8] = number.to_bytes(8, "little")
        else:
            data[at : at + 4] = rng.choice([b"\xff\xff\xff\xff", b"\x00\x00\x00\x80", b"\x1b]0;"])
        if not data:
            data = bytearray(b"\x00")
    return bytes(data)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--binary", type=Path, default=REPOSITORY / "target/debug/juror")
    arguments.add_argument("--count", type=int, default=2000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--gguf", type=Path)
    arguments.add_argument("--seconds", type=int, default=20, help="of processor time, each")
    arguments.add_argument("--gigabytes", type=int, default=2, help="of address space, each")
    arguments.add_argument("--keep", type=Path, help="a folder for what fails")
    arguments = arguments.parse_args()
    binary = arguments.binary.absolute()

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (arguments.seconds, arguments.seconds))
        resource.setrlimit(resource.RLIMIT_AS, (arguments.gigabytes << 30, arguments.gigabytes << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    rng = random.Random(arguments.seed)
    tiny = REPOSITORY / "models/tiny"
    kinds = ["model.safetensors", "tokenizer.json", "tokenizer.json", "config.json", "tokenizer_config.json", "generation_config.json"]
    if arguments.gguf:
        kinds += ["gguf", "gguf", "gguf"]
    tally, failures = collections.Counter(), []
    environment = {**os.environ, "JUROR_PANICS": "1", "RAYON_NUM_THREADS": "1"}
    environment.pop("RUST_BACKTRACE", None)
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        (work / "in.jsonl").write_text(json.dumps({"id": "1", "question": "1 + 1 = aaaa?", "reference_answer": "2", "response": "It is 2."}) + "\n")
        for number in range(arguments.count):
            kind = rng.choice(kinds)
            folder = work / "model"
            shutil.rmtree(folder, ignore_errors=True)
            if kind == "gguf":
                folder.mkdir()
                model = folder / "model.gguf"
                data = arguments.gguf.read_bytes()
                model.write_bytes(mutate_bytes(data, rng, rng.choice([200, 2000, len(data)])))
            else:
                shutil.copytree(tiny, folder)
                model, file = folder, folder / kind
                if kind.endswith(".json"):
                    file.write_text(mutate_json(file.read_text(), rng))
                elif rng.random() < 0.5:
                    data = file.read_bytes()
                    size = int.from_bytes(data[:8], "little")
                    header = mutate_json(data[8 : 8 + size].decode(), rng).encode()
                    file.write_bytes(len(header).to_bytes(8, "little") + header + data[8 + size :])
                else:
                    file.write_bytes(mutate_bytes(file.read_bytes(), rng, 4000))
            for command in (["models", "show", model], ["judge", work / "in.jsonl", "--max-new-tokens", "20", "--model", model]):
                try:
                    ran = subprocess.run([binary, *command], capture_output=True, timeout=120, preexec_fn=limit, env=environment)
                    code, said = ran.returncode, ran.stderr.decode(errors="replace")
                except subprocess.TimeoutExpired:
                    code, said = "timeout", ""
                tally[(kind, command[0], code)] += 1
                quiet = code in (0, 1, 2, 3) and "of juror itself" not in said and "\x1b" not in said
                named = code == 0 or code == 3 or "error:" in said
                if "panicked" in said:
                    tally[(kind, command[0], "panic in a library, told as an error")] += 1
                if not (quiet and named):
                    failures.append((number, kind, command[0], code, said[-300:]))
                    if arguments.keep:
                        shutil.copytree(folder, arguments.keep / f"{number}-{kind}", dirs_exist_ok=True)
    for (kind, command, code), count in sorted(tally.items(), key=str):
        print(f"{kind:24} {command:7} {code!s:40} {count}")
    for failure in failures[:40]:
        print("FAILED", *failure)
    print(f"{arguments.count} files, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
