#!/usr/bin/env bash
# evalplus 0.3.1: a right function that is followed by a longer block of examples is thrown away, and the examples are graded in its place.
# A right function that is shorter than the draft before it loses to the draft.
#
# `sanitize` takes the code from a model's reply to a problem of HumanEval+ or MBPP+; it is told the name of the function that is asked for. One
# would expect the last block that defines it. Seen: of all runs of lines that are valid Python, the one with the most lines counts, whether
# it defines the function or not, and only within that one is the name looked for. Fences play no part, so that blocks are apart only because
# the prose between them is not Python.
#
# Whom it hits: pass@1 of instruction-tuned and reasoning models, which write a draft and correct it, or add a usage example per case of the
# problem: the shorter the right function, the more often it is counted as wrong. In reports it is a NameError of the model.
#
# Prints for each reply how many lines are taken, and whether they pass a test of the function. Exits with 1 if one of the results is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
# What its reading of code needs; the rest is for asking models.
"$work/venv/bin/pip" install -q tree-sitter==0.26.1 tree-sitter-python==0.25.0 datasets==5.2.0 appdirs==1.4.4 tempdir==0.7.1 termcolor==3.3.0 wget==3.2
"$work/venv/bin/pip" install -q --no-deps evalplus==0.3.1
cat >"$work/try.py" <<'PYTHON'
import sys

from evalplus.sanitize import sanitize

DRAFT = """```python
def has_close(numbers, threshold):
    previous = None
    for number in numbers:
        if previous is not None and abs(number - previous) < threshold:
            return True
        previous = number
    return False
```"""
RIGHT = """```python
def has_close(numbers, threshold):
    ordered = sorted(numbers)
    return any(b - a < threshold for a, b in zip(ordered, ordered[1:]))
```"""
EXAMPLES = """```python
print(has_close([1.0, 2.0, 3.0], 0.5))
print(has_close([1.0, 2.8, 3.0, 4.0], 0.3))
print(has_close([1.0, 5.9, 4.0], 0.95))
print(has_close([], 1.0))
```"""
REPLIES = {
    "the function": (RIGHT, True),
    "and two examples": (f"{RIGHT}\n\nExamples:\n\n" + "\n".join([*EXAMPLES.split("\n")[:3], "```"]), True),
    "and four examples": (f"{RIGHT}\n\nExamples:\n\n{EXAMPLES}", False),
    "a draft, the function": (f"A first attempt:\n\n{DRAFT}\n\nIt compares neighbours only. Sorted first:\n\n{RIGHT}", False),
}


def passes(code):
    names = {}
    try:
        exec(code, names)
        return names["has_close"]([1.0, 2.8, 1.1], 0.3) is True and names["has_close"]([1.0, 2.0], 0.5) is False
    except (KeyError, NameError):
        return False


changed = False
for name, (reply, expected) in REPLIES.items():
    code = sanitize(reply, "has_close")
    seen = passes(code)
    print(f"{name}: {len(code.splitlines())} lines, from {code.splitlines()[0]!r}, pass {seen}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
