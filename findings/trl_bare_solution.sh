#!/usr/bin/env bash
# trl 1.16.0 (math-verify 0.9.0, latex2sympy2_extended 1.11.0): `accuracy_reward` takes the solution `2\sqrt{3}` for 2. A model that answers
# \boxed{2\sqrt{3}} has reward 0, one that answers \boxed{2} has 1.
#
# The function asks for the "raw-text solutions", its examples give `\frac{1}{3}` as it stands, and it returns `None` where a solution cannot
# be read. One would expect that a solution in plain LaTeX is read whole or not at all. Seen: LaTeX without dollar signs is read only where it
# is one \frac of numbers or \boxed; of all other text what is taken is a number in it, mostly the one at its beginning. `\sqrt{3}`, without a
# number that stands alone, has `None`, so its whole group teaches nothing; `2^{10}` is 2, `1+\sqrt{5}` is 1, `10^{-3}` is 10, and the pair
# `1,2` is 1.2. With dollar signs around the solution each is read.
#
# Whom it hits: everyone who trains on a set whose column of answers is plain LaTeX, as that of MATH-500 is. The policy is paid for leaving
# out the rest of the answer, and the mean reward looks like that of a hard set.
#
# Prints for each solution what it is read as, the reward of the right answer and that of the wrong one, bare and with dollar signs. Exits
# with 1 if one of the bare rewards is another, or the right answer fails with dollar signs.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q math-verify==0.9.0 latex2sympy2_extended==1.11.0 sympy==1.14.0 antlr4-python3-runtime==4.13.2 packaging==26.4
# The module of the rewards needs nothing else of what TRL needs.
"$work/venv/bin/pip" install -q --no-deps trl==1.16.0
cat >"$work/try.py" <<'PYTHON'
import sys

from trl.rewards import accuracy_reward


def reward(solution, answer):
    read = {}
    completion = [{"role": "assistant", "content": rf"The final answer is \boxed{{{answer}}}."}]
    rewards = accuracy_reward([completion], [solution], log_extra=read.__setitem__)
    return rewards[0], read["gold_parsed"][0]


# Solution, which is the right answer as well; a wrong answer; their rewards.
CASES = [
    (r"\frac{1}{3}", "3", 1.0, 0.0),
    ("1,234", "1", 1.0, 0.0),
    (r"2\sqrt{3}", "2", 0.0, 1.0),
    (r"1+\sqrt{5}", "1", 0.0, 1.0),
    (r"5\pi", "5", 0.0, 1.0),
    ("2^{10}", "2", 0.0, 1.0),
    ("10^{-3}", "10", 0.0, 1.0),
    ("4!", "4", 0.0, 1.0),
    ("3+4i", "3", 0.0, 1.0),
    ("12n^2-3n", "12", 0.0, 1.0),
    (r"\pm 2", "2", 0.0, 1.0),
    ("1,2", "1.2", 0.0, 1.0),
    (r"\sqrt{3}", "3", None, None),
    ("x^2+1", "1", None, None),
]

changed = False
print(f"{'solution':14}{'read as':26}{'right':8}{'wrong answer':16}wrong    right answer with dollar signs")
for solution, wrong, *expected in CASES:
    (right_reward, read), (wrong_reward, _) = reward(solution, solution), reward(solution, wrong)
    delimited, _ = reward(f"${solution}$", solution)
    print(f"{solution:14}{read:26}{right_reward!s:8}{wrong:16}{wrong_reward!s:9}{delimited}")
    changed |= [right_reward, wrong_reward] != expected or delimited != 1.0
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
