"""What is asked of engines elsewhere: every form of answers, every way to ask, by `juror judge --endpoint`."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from checking_server import Server, checking_server
from shared import ROOT, binary

TINY = ROOT / "models" / "tiny"

TAGS = "<process> True </process>\n<outcome> True </outcome>\n<perfect> True </perfect>\n<reason> It adds up. </reason>"

FORMED = {
    "prime": ("--reward", "soft"),
    "prime-reason": ("--protocol", "prime", "--reason"),
    "prime-outcome": ("--protocol", "prime-outcome"),
    "answer-json": ("--protocol", "answer-json"),
    "answer-json-reason": ("--protocol", "answer-json", "--reason"),
    "compass": ("--protocol", "compass", "--reward", "soft"),
    "tencent-rlvr": ("--protocol", "tencent-rlvr", "--reward", "soft"),
    "xverify": ("--protocol", "xverify", "--prompt", "prompt.txt"),
    "rubric": ("--protocol", "rubric", "--reason"),
    "own-json": ("--protocol", "own.toml"),
}
"""Options of judges whose answers have a form as a whole."""

WITHOUT_FORM = {
    "compass-cot": "It is right.\n\n\\boxed{A}",
    "sci-verifier": "It is right.\n\n\\boxed{A}",
    "general-verifier": "It is right.\n\nFinal Decision: Yes",
    "verifybench": "It is right.\n\nFinal Judgment: Yes",
    "first-error": "No step is wrong.\n\n\\boxed{-1}",
}
"""Judges that write an analysis first, and what one writes."""

SETTINGS = (
    ("--temperature", "0.7", "--top-p", "0.9", "--top-k", "20", "--min-p", "0.05", "--trials", "2", "--seed", "7"),
    ("--thinking", "off", "--system-prompt", "You grade.", "--template-variable", "style=brief"),
    ("--reasoning-effort", "low", "--endpoint-body", '{"repetition_penalty": 1.05}'),
    ("--free", "--max-new-tokens", "100"),
)

OWN = """
description = "a word in JSON of a schema"
template = "prompt.txt"
schema = "schema.json"

[answer]
form = "json"
verdict = "grade"

[answer.labels]
good = { outcome = true }
bad = { outcome = false }
"""

SCHEMA = {
    "type": "object",
    "properties": {
        "steps": {"type": "array", "items": {"type": "string", "maxLength": 40}, "maxItems": 2},
        "confidence": {"type": "integer", "minimum": 1, "maximum": 5},
        "grade": {"enum": ["good", "bad"]},
    },
    "required": ["steps", "confidence", "grade"],
    "additionalProperties": False,
}

PROMPT = "Question: {{question}}\nReference: {{reference_answer}}\nAnswer: {{student_answer}}\nIs it right?"


def judged(server: Server, folder: Path, *options: str, rows: list[dict[str, Any]] | None = None) -> list[dict[str, Any]]:
    """The verdicts of `juror judge` with a judge at this server, on rows with and without what texts and rubrics can hold."""
    (folder / "prompt.txt").write_text(PROMPT, encoding="utf-8")
    (folder / "own.toml").write_text(OWN, encoding="utf-8")
    (folder / "schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    lines = [json.dumps(row) for row in rows or samples()]
    (folder / "rows.jsonl").write_text("\n".join(lines), encoding="utf-8")
    command = [binary(), "judge", "rows.jsonl", "-o", "out.jsonl", "--restart", "--endpoint", server.url, *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode in (0, 3), done.stderr
    server.said = done.stderr
    return [json.loads(line) for line in (folder / "out.jsonl").read_text(encoding="utf-8").splitlines()]


def answered(check: Any, answer: Any, folder: Path, *options: str, free: str = "", tokenizer: Any = None) -> tuple[Server, list[dict[str, Any]]]:
    """The server and the verdicts of `judged` at one that checks with an engine's classes: it took all, and all are read."""
    with checking_server(check, answer, free, tokenizer) as server:
        verdicts = judged(server, folder, *options)
    assert not server.refused()
    assert {verdict["status"] for verdict in verdicts} == {"ok"}, verdicts
    return server, verdicts


def tokenizer() -> Any:
    """That of the embedded judge, as engines have it."""
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(tokenizer_file=str(TINY / "tokenizer.json"), eos_token="<|im_end|>")


def answered_tokens(check: Any, answer: Any, folder: Path, options: tuple[str, ...]) -> None:
    """Prompts are taken as token ids."""
    free = WITHOUT_FORM.get(options[-1] if options else "", TAGS)
    # Its chat template opens the thinking.
    free = f"Well.\n</think>\n\n{free}"
    options = ("--tokenizer", str(TINY), "--force-domain", *options)
    server, _ = answered(check, answer, folder, *options, free=free, tokenizer=tokenizer())
    prompts = [body["prompt"] for body in server.judging()]
    assert prompts and all(isinstance(token, int) for prompt in prompts for token in prompt)


def samples() -> list[dict[str, Any]]:
    """Some rollouts, each with a rubric: small ones, and one as large as they may be."""
    text = (ROOT / "examples" / "rollouts.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()[:4]]
    rubrics = [
        ["It names the number."],
        [{"criterion": "Clear.", "points": 2, "scale": [1, 5]}, {"criterion": "Rude.", "points": -1}],
        [{"criterion": f"Of {place} kinds.", "points": 1, "scale": [0, 100]} for place in range(8)],
        [f"It says {place}." for place in range(200)],
    ]
    return [{**row, "rubric": rubric} for row, rubric in zip(rows, rubrics, strict=True)]
