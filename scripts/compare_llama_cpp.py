#!/usr/bin/env python3
"""Compares juror with what llama.cpp's repository publishes for its own tests: vocabularies with texts and the tokens that
Hugging Face's tokenizers make of them, and chat templates of models.

They come in the source package llama-cpp-python (PyPI), which is fetched into a cache folder; nothing of it is copied into
this repository.

    cargo build --bin juror --example tokens
    python3 scripts/compare_llama_cpp.py [--binary target/debug] [--cache FOLDER] [--version 0.3.36]

Vocabularies have no weights, which juror refuses; so each is given tiny ones of the architecture `llama` in a temporary
file. Templates are rendered by juror (`prompts render`) and by Jinja2 in the environment of transformers' apply_chat_template
for the same conversation, and compared byte by byte; that needs the Python package jinja2.
"""

import argparse
import datetime
import json
import os
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGE = "llama-cpp-python"
# Vocabularies of other kinds than juror reads, by tokenizer.ggml.model; they must be refused with an error.
KINDS = {"gpt2", "llama"}
ALIGNMENT = 32
WIDTH = 32


def fetch(cache, version):
    """The folder `models` of llama.cpp in the package."""
    cache.mkdir(parents=True, exist_ok=True)
    archives = sorted(cache.glob(f"llama_cpp_python-{version}.tar.gz"))
    if not archives:
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--no-binary", PACKAGE, "--no-deps", f"{PACKAGE}=={version}", "-d", cache],
            check=True,
        )
        archives = sorted(cache.glob(f"llama_cpp_python-{version}.tar.gz"))
    models = cache / f"models-{version}"
    if not models.is_dir():
        partial = Path(tempfile.mkdtemp(dir=cache))
        with tarfile.open(archives[-1]) as archive:
            for member in archive:
                _, found, name = member.name.partition("/vendor/llama.cpp/models/")
                if found and member.isfile() and ".." not in name:
                    place = partial / name
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.write_bytes(archive.extractfile(member).read())
        partial.rename(models)
    return models


class Reader:
    """A GGUF header."""

    SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize(form)))[0]

    def text(self):
        return self.take(self.number("Q"))

    def skip(self, kind):
        """Past a value; its length where it is a list."""
        if kind == 8:
            self.text()
        elif kind == 9:
            of, count = self.number("I"), self.number("Q")
            if of in self.SIZES:
                self.take(count * self.SIZES[of])
            else:
                for _ in range(count):
                    self.skip(of)
            return count
        else:
            self.take(self.SIZES[kind])
        return None

    def metadata(self):
        """(key, type and value as they stand in the file, length of a list)."""
        assert self.take(4) == b"GGUF"
        self.number("I"), self.number("Q")
        entries = []
        for _ in range(self.number("Q")):
            key = self.text().decode()
            begin = self.at
            count = self.skip(self.number("I"))
            entries.append((key, self.data[begin : self.at], count))
        return entries


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def with_weights(vocabulary, path):
    """Writes a model of the vocabulary, of the architecture `llama`, whose weights are nothing; says how it is split."""
    entries = Reader(vocabulary.read_bytes()).metadata()
    kept = [(key, value) for key, value, _ in entries if key.startswith("tokenizer.")]
    tokens = next(count for key, _, count in entries if key == "tokenizer.ggml.tokens")
    names = {}
    for key, value, _ in entries:
        if key in ("tokenizer.ggml.model", "tokenizer.ggml.pre"):
            names[key.rsplit(".", 1)[1]] = value[12:].decode()
    size = lambda number: struct.pack("<II", 4, number)
    kept += [("general.architecture", struct.pack("<I", 8) + text("llama"))]
    kept += [
        (f"llama.{key}", size(value))
        for key, value in {
            "embedding_length": WIDTH, "block_count": 1, "attention.head_count": 2, "attention.head_count_kv": 2,
            "feed_forward_length": WIDTH, "context_length": 512,
        }.items()
    ]
    kept += [("llama.attention.layer_norm_rms_epsilon", struct.pack("<If", 6, 1e-5))]
    shapes = {"token_embd.weight": (tokens, WIDTH), "output_norm.weight": (WIDTH,)}
    for name, shape in {
        "attn_norm": (WIDTH,), "ffn_norm": (WIDTH,), "attn_q": (WIDTH, WIDTH), "attn_k": (WIDTH, WIDTH),
        "attn_v": (WIDTH, WIDTH), "attn_output": (WIDTH, WIDTH), "ffn_gate": (WIDTH, WIDTH), "ffn_up": (WIDTH, WIDTH),
        "ffn_down": (WIDTH, WIDTH),
    }.items():
        shapes[f"blk.0.{name}.weight"] = shape
    header = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), len(kept))
    header += b"".join(text(key) + value for key, value in kept)
    offset, lengths = 0, []
    for name, shape in shapes.items():
        count = WIDTH * (shape[0] if len(shape) == 2 else 1)
        # Q8_0 for the table, F32 for the others.
        kind, length = (8, count // 32 * 34) if name == "token_embd.weight" else (0, 4 * count)
        header += text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", n) for n in reversed(shape))
        header += struct.pack("<IQ", kind, offset)
        lengths.append(length)
        offset += -(-length // ALIGNMENT) * ALIGNMENT
    header += bytes(-len(header) % ALIGNMENT)
    path.write_bytes(header + bytes(offset))
    return names


def vocabularies(models, binary, work):
    """Token vectors: (texts that agree, texts in all, lines for the report)."""
    agreed, total, wrong = 0, 0, []
    for vocabulary in sorted(models.glob("ggml-vocab-*.gguf")):
        name = vocabulary.stem.removeprefix("ggml-vocab-")
        alone = subprocess.run([binary / "juror", "models", "show", vocabulary], capture_output=True, text=True)
        says = "vocabulary without weights" in alone.stderr
        if alone.returncode != 2 or not says:
            wrong.append(f"{name}: the vocabulary alone exits {alone.returncode}: {alone.stderr.strip()[:160]}")
        model = work / f"{name}.gguf"
        names = with_weights(vocabulary, model)
        given = vocabulary.with_suffix(".gguf.inp")
        texts = given.read_bytes().decode().split("\n__ggml_vocab_test__\n") if given.is_file() else [""]
        lines = "".join(json.dumps(one) + "\n" for one in texts)
        ran = subprocess.run([binary / "examples/tokens", model], input=lines, capture_output=True, text=True)
        model.unlink()
        described = f"{name} ({names.get('model')}, {names.get('pre', 'no pre-tokeniser')})"
        if ran.returncode != 0:
            print(f"  {described}: refused: {ran.stderr.strip()[-150:]}")
            if names.get("model") in KINDS and ran.returncode != 1:
                wrong.append(f"{described}: exit {ran.returncode}")
            continue
        if not given.is_file():
            print(f"  {described}: read; no tokens to compare with")
            continue
        expected = vocabulary.with_suffix(".gguf.out").read_text().split("\n")
        ours = [json.loads(line) for line in ran.stdout.splitlines()]
        pairs = list(zip(texts, ours, [[int(id) for id in line.split()] for line in expected]))
        same = [mine == theirs for _, mine, theirs in pairs]
        agreed, total = agreed + sum(same), total + len(same)
        print(f"  {described}: {sum(same)} of {len(same)} texts")
        for (one, mine, theirs), equal in zip(pairs, same):
            if not equal:
                wrong.append(f"{described}: {one[:60]!r}: {mine[:12]} instead of {theirs[:12]}")
    return agreed, total, wrong


def environment():
    """Jinja2 as transformers sets it up for chat templates."""
    import jinja2
    from jinja2.ext import loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Generation(jinja2.ext.Extension):
        tags = {"generation"}

        def parse(self, parser):
            next(parser.stream)
            return parser.parse_statements(["name:endgeneration"], drop_needle=True)

    def refuse(message):
        raise jinja2.exceptions.TemplateError(message)

    def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    jinja = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, Generation])
    jinja.filters["tojson"] = to_json
    jinja.globals["raise_exception"] = refuse
    # Both take the clock's day: near midnight they may differ.
    jinja.globals["strftime_now"] = lambda form: datetime.datetime.now().strftime(form)
    return jinja


def templates(models, binary, work):
    """Chat templates: (those that agree, those rendered by both, those that both refuse, lines for the report)."""
    jinja = environment()
    agreed, both, refused, wrong = 0, 0, 0, []
    folder = work / "model"
    shutil.copytree(REPOSITORY / "models/tiny", folder)
    config = json.loads((folder / "tokenizer_config.json").read_text())
    (work / "prompt.txt").write_text("Q: {{question}}\nA: {{student_answer}}\nR: {{reference_answer}}")
    sample = {"id": "1", "question": "What is 1 + 1?", "student_answer": "It is 2.", "reference_answer": "2"}
    (work / "sample.jsonl").write_text(json.dumps(sample) + "\n")
    asked = "Q: What is 1 + 1?\nA: It is 2.\nR: 2"
    for path in sorted((models / "templates").glob("*.jinja")):
        source = path.read_text()
        variables = {key: config[key] for key in ("bos_token", "eos_token") if config.get(key)}
        try:
            theirs = jinja.from_string(source).render(
                messages=[{"role": "user", "content": asked}], add_generation_prompt=True, **variables
            )
        except Exception as error:  # Whatever a template raises.
            theirs, why = None, str(error)
        command = [binary / "juror", "prompts", "render", work / "sample.jsonl", "--model", folder, "--raw"]
        command += ["--prompt", work / "prompt.txt", "--chat-template", path]
        ran = subprocess.run(command, capture_output=True, text=True)
        if ran.returncode not in (0, 1, 2):
            wrong.append(f"{path.name}: exit {ran.returncode}: {ran.stderr.strip()[:160]}")
        elif theirs is None and ran.returncode != 0:
            refused += 1
            print(f"  {path.stem}: refused by both ({why[:80]})")
        elif "lacks its tokens" in ran.stderr:
            # As it must: this model's tokenizer is not the template's.
            refused += 1
            print(f"  {path.stem}: needs tokens that the embedded judge's tokenizer lacks")
        elif ran.returncode != 0:
            wrong.append(f"{path.name}: only juror refuses it: {ran.stderr.strip()[:200]}")
        elif theirs is None:
            wrong.append(f"{path.name}: only Jinja2 refuses it: {why[:200]}")
        else:
            both += 1
            ours = json.loads(ran.stdout)["prompt"]
            if ours == theirs:
                agreed += 1
            else:
                at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
                wrong.append(f"{path.name}: at {at}: {ours[at : at + 60]!r} instead of {theirs[at : at + 60]!r}")
    return agreed, both, refused, wrong


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--binary", type=Path, default=REPOSITORY / "target/debug")
    arguments.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "juror-llama-cpp")
    arguments.add_argument("--version", default="0.3.36")
    arguments = arguments.parse_args()
    models = fetch(arguments.cache.absolute(), arguments.version)
    os.environ.pop("RUST_BACKTRACE", None)
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        agreed, total, wrong = vocabularies(models, arguments.binary.absolute(), work)
        print(f"vocabularies: {agreed} of {total} texts have the published tokens")
        same, both, refused, more = templates(models, arguments.binary.absolute(), work)
        print(f"templates: {same} of {both} give the same text; {refused} are refused")
    for line in wrong + more:
        print(f"DIFFERS {line}")
    sys.exit(1 if wrong or more else 0)


if __name__ == "__main__":
    main()
