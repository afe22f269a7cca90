#!/usr/bin/env bash
# opencompass 0.5.4: "The answer is (B), not A." is an A, and "The correct answer is B. It is vitamin C." a C.
#
# `first_option_postprocess` reads the choice in generative MMLU, ARC, HellaSwag, WinoGrande, RACE, AGIEval and others (some forty data sets). One
# would expect what is announced ("the answer is", "Answer:") to count before a letter that is not. Seen: some fifty expressions are tried one
# after the other over the whole response, and those of Chinese come first. Among them is one for a response that ends with a colon and a letter,
# in which a space does as well as the colon: so a capital A to D that is the last word of the response is its answer, whatever it announces
# before. "as in plan D", "blood group A", "vitamin C", "25 C" are such words; with a word behind them ("vitamin C, which is ...") they are none.
#
# Whom it hits: accuracies of chat models that say why, after the answer. Of the letters it depends on the subject: physics and chemistry have C
# (carbon, degrees), medicine A to D (vitamins, hepatitis, blood groups).
#
# The module is loaded by itself; only the package's registry is stood in for. Prints each response with what is read. Exits with 1 if one is read
# otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-deps opencompass==0.5.4
cat >"$work/try.py" <<'PYTHON'
import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

package = Path(importlib.util.find_spec("opencompass").submodule_search_locations[0])
sys.modules["opencompass"] = ModuleType("opencompass")
registry = SimpleNamespace(register_module=lambda *names: lambda function: function)
sys.modules["opencompass.registry"] = SimpleNamespace(TEXT_POSTPROCESSORS=registry)
spec = importlib.util.spec_from_file_location("text_postprocessors", package / "utils/text_postprocessors.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)

# Response, its answer, what the package reads.
CASES = [
    ("The answer is (B).", "B", "B"),
    ("The answer is (B). Vitamin C is an antioxidant.", "B", "B"),
    ("The answer is (B), not A.", "B", "A"),
    ("The correct answer is B. It is vitamin C.", "B", "C"),
    ("Answer: B\n\nThe liver is inflamed in hepatitis A", "B", "A"),
    ("ANSWER: A\n\nAt this pressure water boils at 25 C.", "A", "C"),
    ("The answer to the question is C. People of blood group AB have no antibodies against A or B.", "C", "B"),
    ("So the answer is B, as in plan D", "B", "D"),
]

changed = False
for response, answer, expected in CASES:
    seen = module.first_option_postprocess(response, "ABCD")
    print(f"{answer} is read as {seen}{'  ' if seen == answer else ' <'}  {response!r}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
