#!/usr/bin/env bash
# tinker-cookbook 0.6.1: "The correct answer is clearly (B)" is a C, "definitely B" a D, "actually B" an A; among ten options "hence B" is an H.
#
# GPQA, MMLU-Pro, MMLU-Redux, C-Eval and SuperGPQA read a letter from a response: in a box, else behind "answer is" or "answer:", else the last in
# the text. One would expect a letter that stands alone. Seen: behind "answer is" the case of letters does not count and no word has to end, so
# that the first letter of the next word is the choice if it is one of the options: of "actually", "both", "clearly", "definitely", also, in
# MMLU-Pro, of "either", "given in", "found by", "hence". The letter behind it is not looked at; behind other words ("option B") it is. Of several
# "answer is" the first counts: "If the answer is A, then ... So the answer is B" is an A.
#
# Whom it hits: comparisons of checkpoints by these benchmarks: accuracy depends on the adverb a model is fond of, and on its thinking aloud.
#
# What the module imports for data sets is stood in for. Prints each response with its letter and what is read. Exits with 1 if one is read
# otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-deps tinker-cookbook==0.6.1
cat >"$work/try.py" <<'PYTHON'
import importlib.util
import sys
from pathlib import Path
from unittest.mock import MagicMock

package = Path(importlib.util.find_spec("tinker_cookbook").submodule_search_locations[0])
for name in ("datasets", "tinker_cookbook", "tinker_cookbook.renderers", "tinker_cookbook.renderers.base"):
    sys.modules[name] = MagicMock()
spec = importlib.util.spec_from_file_location("common", package / "eval/benchmarks/_common.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)

# Response, options, its letter, what the package reads.
CASES = [
    ("The correct answer is (B).", "ABCD", "B", "B"),
    ("The correct answer is option B.", "ABCD", "B", "B"),
    ("The correct answer is clearly (B).", "ABCD", "B", "C"),
    ("The answer is definitely B.", "ABCD", "B", "D"),
    ("The answer is actually B.", "ABCD", "B", "A"),
    ("The answer is confirmed by the table: (B).", "ABCD", "B", "C"),
    ("Answer: Among the four, B is right.", "ABCD", "B", "A"),
    ("So the answer is given in (B).", "ABCD", "B", "B"),
    ("So the answer is given in (B).", "ABCDEFGHIJ", "B", "G"),
    ("The answer is hence (B).", "ABCDEFGHIJ", "B", "H"),
    ("I had thought that the answer is either B or D; it is B.", "ABCDEFGHIJ", "B", "E"),
    ("If the answer is A, x is negative, which is impossible. So the answer is B.", "ABCD", "B", "A"),
]

changed = False
for response, options, letter, expected in CASES:
    seen = module.extract_mcq_answer(response, options)
    print(f"{options[0]} to {options[-1]}, {letter} is read as {seen}{'  ' if seen == letter else ' <'}  {response}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
