#!/usr/bin/env bash
# lm-eval 0.4.13 (sympy 1.14.0, antlr4 4.11.0; beside it math-verify 0.9.0): in MATH (`minerva_math`), where 1\frac{1}{2} is right, 1/2 is right and 3/2 wrong.
# "5 or 6" is right for "3 or 10", and 0.72 for 0.\overline{72}.
#
# The task's `exact_match` makes texts of both answers alike, strikes words, and then compares by SymPy. One would expect what SymPy is given to have
# the meaning that the answer had, or to be compared as a text. Seen: a whole number before a fraction is a factor. Of `3\text{ or }10` the
# text `3or10` is left, which is the product 3*o*r*10, so that all pairs of the same product are equal; of a pair with variables, "x = 3 or x = 5",
# the text behind the last "=" is left. `\overline` is struck, so a repeating decimal is its digits and 8/11 is wrong. Where SymPy reads nothing
# (tuples, sets, intervals) the texts decide: "3, 2" is wrong for "2, 3". The metric `math_verify`, which the task reports beside it, has most of
# these right.
#
# Whom it hits: figures of MATH and MATH-500 by this harness, whose golds have all of these forms, and rewards and graders made of the same two
# functions, which many copy: a solution of two is right if the last one is, or if the product is.
#
# The module of the task is loaded without the package's others. Prints gold, answer and both metrics. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q math-verify==0.9.0 latex2sympy2_extended==1.11.0 antlr4-python3-runtime==4.11.0 sympy==1.14.0
"$work/venv/bin/pip" install -q --no-deps lm-eval==0.4.13
cat >"$work/try.py" <<'PYTHON'
import importlib.util
import logging
import sys
from pathlib import Path

logging.disable(logging.CRITICAL)
package = Path(importlib.util.find_spec("lm_eval").submodule_search_locations[0])
spec = importlib.util.spec_from_file_location("minerva", package / "tasks" / "minerva_math" / "utils.py")
minerva = importlib.util.module_from_spec(spec)
spec.loader.exec_module(minerva)

# Gold answer, answer, exact_match, math_verify.
CASES = [
    (r"\frac{3}{2}", r"\frac{3}{2}", 1, 1),
    (r"1\frac{1}{2}", r"\frac{3}{2}", 0, 1),
    (r"1\frac{1}{2}", r"\frac{1}{2}", 1, 0),
    (r"3\text{ or }10", r"10\text{ or }3", 1, 1),
    (r"3\text{ or }10", r"5\text{ or }6", 1, 0),
    (r"x=3\text{ or }x=5", r"x=7\text{ or }x=5", 1, 0),
    (r"x=3,x=5", "5", 1, 0),
    (r"0.\overline{72}", r"\frac{8}{11}", 0, 0),
    (r"0.\overline{72}", "0.72", 1, 0),
    ("2,3", "3,2", 0, 1),
]

changed = False
print("gold                 answer               exact_match math_verify")
for gold, answer, *expected in CASES:
    # As the task makes documents of the data set's rows.
    solution = rf"So it is $\boxed{{{gold}}}$."
    short = minerva.normalize_final_answer(minerva.remove_boxed(minerva.last_boxed_only_string(solution)))
    response = f"We compute.\nFinal Answer: The final answer is ${answer}$. I hope it is correct."
    seen = minerva.process_results({"solution": solution, "answer": short}, [response])
    print(f"{gold:20} {answer:20} {seen['exact_match']:11} {seen['math_verify']:11}")
    changed |= list(seen.values()) != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
