#!/usr/bin/env bash
# word2number 1.1: "minus two" is 2, "two thirds" is 2, "one and a half" is 1 and "two or three" is 5.
#
# `w2n.word_to_num` makes a number of a number in words, and raises an error where there is none. One would expect an error too for words beside it that
# change it and that are not known. Seen: whatever is no number word is passed over: minus, negative, half, third, dozen, or, to. Of an ordinal the part
# that is known is left, of "twenty-first" 20. What is left is added up: "two to one" is 3, "nineteen eighty four" is 1524. What stands before a bare
# "million" is lost, of "-5 million" and of "half a million": 1000000.
#
# Whom it hits: graders that make numbers of answers in words before they compare them, as the evaluation of Qwen2.5-Math does, and those made from it.
# It is done to the gold answer too, so that "one half" is right for "one third", "two or three" for 5, and "no one" for 1. An error, which these
# graders catch, would have left the texts as they are.
#
# Prints answers with their numbers. Exits with 1 if one of them is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q word2number==1.1
cat >"$work/try.py" <<'PYTHON'
import sys

from word2number.w2n import word_to_num

# Answers, and their numbers (`None`: an error).
CASES = [
    ("two", 2),
    ("two point five", 2.5),
    ("one hundred and five", 105),
    ("minus two", 2),
    ("negative two", 2),
    ("one half", 1),
    ("one third", 1),
    ("two thirds", 2),
    ("one and a half", 1),
    ("twenty-first", 20),
    ("two or three", 5),
    ("two to one", 3),
    ("no one", 1),
    ("nineteen eighty four", 1524),
    ("-5 million", 1000000),
    ("half a million", 1000000),
    ("a dozen", None),
    ("apples", None),
]

changed = False
for answer, expected in CASES:
    try:
        seen = word_to_num(answer)
    except ValueError:
        seen = None
    print(f"{answer:22} {'an error' if seen is None else seen}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
