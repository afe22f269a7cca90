#!/usr/bin/env bash
# synthetic-data-kit 0.0.5: if an answer of a batch has `\times` in it, `\text`, `\neq` or `\rho`, its `curate` keeps the first pair of the batch and loses
# the others. Answers of several lines are kept as one line.
#
# `curate` has a judge copy question and answer pairs into JSON with a rating for each, and keeps those above a threshold. One would expect JSON to be
# read as such, and a reply that is none to be asked for again. Seen: `\n`, `\r` and `\t` are turned into line ends and tabs before the reply is
# parsed, also where they belong to an escaped backslash: `\\times` of JSON is then broken. What reads the reply in its place finds the first
# object and returns that alone, as if it were all; pairs without a rating are neither kept nor counted, nor asked for again, so the average is
# that of the first. And each line end is turned into a space, with the indentation behind it. It is the judge's copy that is kept, so that a
# function of two lines is no Python any more. A reply within ```json is spared the loss of pairs, and not that of line ends.
#
# Whom it hits: data sets of mathematics and code curated with it: batches are of 32 pairs, so that 31 are lost to one answer, good ones included.
# The figures at the end say "Rated 1", without a warning.
#
# A class with given ratings (9, 2, 8, 9, threshold 7) stands in for the client, whose reply is correct JSON. Prints the third answer, the rating of the
# pairs that are kept, and the kept copy of that answer. Exits with 1 if something else is kept.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-deps synthetic-data-kit==0.0.5 pyyaml==6.0.3
cat >"$work/try.py" <<'PYTHON'
import contextlib
import io
import json
import sys
from types import SimpleNamespace

sys.modules["synthetic_data_kit.models.llm_client"] = SimpleNamespace(LLMClient=None)
sys.modules["synthetic_data_kit.generators.qa_generator"] = SimpleNamespace(QAGenerator=lambda client, config: None)
from synthetic_data_kit.core import curate

RATINGS = [9, 2, 8, 9]


class Client:
    """Copies what it is given, with the ratings, as the prompt asks."""

    def __init__(self, **settings):
        self.config = {"curate": {"threshold": 7.0}, "prompts": {"qa_rating": "{pairs}"}}

    def batch_completion(self, batches, **settings):
        pairs = (json.loads(messages[0]["content"]) for messages in batches)
        return [json.dumps([pair | {"rating": rating} for pair, rating in zip(batch, RATINGS)], indent=2) for batch in pairs]


curate.LLMClient = Client


def kept(answer):
    answers = ["first", "second", answer, "fourth"]
    with open("pairs.json", "w") as file:
        json.dump({"qa_pairs": [{"question": f"Question {number}", "answer": text} for number, text in enumerate(answers, 1)]}, file)
    with contextlib.redirect_stdout(io.StringIO()):
        curate.curate_qa_pairs("pairs.json", "out/kept.json")
    with open("out/kept.json") as file:
        return json.load(file)


# The third answer, the ratings of the pairs that are kept, the kept copy of the answer.
CASES = [
    ("twelve", [9, 8, 9], "twelve"),
    (r"\frac{1}{2}", [9, 8, 9], r"\frac{1}{2}"),
    (r"3 \times 4", [9], None),
    (r"\text{twelve}", [9], None),
    (r"x \neq 0", [9], None),
    (r"\rho", [9], None),
    ("def f(x):\n    return x", [9, 8, 9], "def f(x): return x"),
    ("- one\n- two", [9, 8, 9], "- one - two"),
]

changed = False
for answer, ratings, expected in CASES:
    out = kept(answer)
    seen = [pair["rating"] for pair in out["qa_pairs"]]
    copy = next((pair["answer"] for pair in out["qa_pairs"] if pair["question"] == "Question 3"), None)
    print(f"{answer!r:28} ratings kept {seen!s:10} average {out['metrics']['avg_score']}, copy {copy!r}")
    changed |= seen != ratings or copy != expected
sys.exit(changed)
PYTHON
cd "$work"
"$work/venv/bin/python" -W ignore try.py
