#!/usr/bin/env bash
# prometheus-eval 0.1.20: feedback with the headings [Response A] and [Response B] is a verdict for A, whatever [RESULT] says behind it.
#
# In relative grading the judge writes feedback and then "[RESULT] A" or "[RESULT] B". One would expect the last of these to count, or only
# what is at the end, as in absolute grading. Seen: of several forms of a result, of which "[Response A]" is one, the first that ends a line
# counts. A heading is such a line, and so is a sentence that ends with "[Response A]". What stands behind [RESULT] is not looked at. Without
# brackets, or with a word behind the letter, nothing is taken amiss. (A full stop behind the letter, or bold, is no result: the judge is asked
# again, up to ten times.)
#
# Whom it hits: pairwise judges that go through the two responses one by one. As A is discussed first, each such verdict is for A: a bias for
# the first position that is the parser's, and that is measured as the model's.
#
# Prints feedback and verdict. Exits with 1 if one of the verdicts is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
# The module that reads judgments needs nothing else.
"$work/venv/bin/pip" install -q --no-deps prometheus-eval==0.1.20
cat >"$work/try.py" <<'PYTHON'
import importlib.util
import sys
from pathlib import Path

package = Path(importlib.util.find_spec("prometheus_eval").submodule_search_locations[0])
spec = importlib.util.spec_from_file_location("parser", package / "parser.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)

# Feedback, verdict.
CASES = [
    ("Feedback: Response A has a sign error, Response B is right. [RESULT] B", "B"),
    ("Feedback:\nResponse A\nIt has a sign error.\nResponse B\nIt is right.\n[RESULT] B", "B"),
    ("Feedback:\n[Response A]\nIt has a sign error.\n[Response B]\nIt is right.\n[RESULT] B", "A"),
    ("Feedback:\n[Response A]: It has a sign error.\n[Response B]: It is right.\n[RESULT] B", "B"),
    ("Feedback: There is a sign error in [Response A]\n[RESULT] B", "A"),
    ("Feedback: There is a sign error in [Response B]\n[RESULT] A", "B"),
    ("Feedback: Response A has a sign error, Response B is right. [RESULT] B.", None),
]

changed = False
for feedback, expected in CASES:
    seen = module.parse_output(feedback, mode="relative")[1]
    print(f"{seen!s:4} {feedback!r}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
