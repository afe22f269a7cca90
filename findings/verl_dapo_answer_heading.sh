#!/usr/bin/env bash
# verl 0.9.1: a right \boxed{18} under the heading "Final Answer:" has reward -1, without the colon 1.
#
# The reward for the data sources "math_dapo", "math" and "aime..." reads a line "Answer: ..." and "falls back to \boxed{} when it fails". One
# would expect that a box which is the gold counts wherever there is no such line with an answer. Seen: whatever stands behind the last
# "answer:" is the answer, also on the next line, also in the middle of a sentence, and nothing else is looked at: after "Final Answer:" it is
# the `\[` or `**` that opens the box's formula. The full stop and bold around a bare number stay too, so that `Answer: 18.` and `**Answer:**
# 18` are wrong, while `Answer: $18$.` is right.
#
# Whom it hits: GRPO and DAPO runs from instruction-tuned models, which end so (those of Qwen in particular). The policy is first taught to
# drop a heading; evaluations on AIME with the same function count right answers as wrong.
#
# Prints the end of each response with what is read and the reward. Exits with 1 if one of the rewards is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
# The module of this reward needs nothing else, of verl or of others.
"$work/venv/bin/pip" install -q --no-deps verl==0.9.1
cat >"$work/try.py" <<'PYTHON'
import importlib.metadata
import runpy
import sys

files = importlib.metadata.files("verl")
(module,) = [file.locate() for file in files if str(file) == "verl/utils/reward_score/math_dapo.py"]
compute_score = runpy.run_path(str(module))["compute_score"]

# The gold is 18 in each.
ENDS = [
    ("The final answer is \\boxed{18}.", 1.0),
    ("### Final Answer\n\n\\[\n\\boxed{18}\n\\]", 1.0),
    ("### Final Answer:\n\n\\[\n\\boxed{18}\n\\]", -1.0),
    ("**Final Answer:**\n\n\\boxed{18}", -1.0),
    ("**Answer:** \\boxed{18}", -1.0),
    ("\\boxed{18}\n\nI checked this answer: it fits.", -1.0),
    ("Answer: The final answer is \\boxed{18}", -1.0),
    ("Answer: \\boxed{18}", 1.0),
    ("Answer: 18", 1.0),
    ("Answer: $18$.", 1.0),
    ("Answer: 18.", -1.0),
    ("**Answer:** 18", -1.0),
    ("Answer: \\(18\\)", -1.0),
]

changed = False
for end, expected in ENDS:
    result = compute_score(f"38 + 25 - 45 = 18.\n\n{end}", "18")
    print(f"{end!r:56} read {result['pred']!r:22} reward {result['score']:4}")
    changed |= result["score"] != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
