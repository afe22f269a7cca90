#!/usr/bin/env bash
# nemo-evaluator 0.3.0: where 100 is asked for, "100." is wrong, and 1 and 1000 are right. Where 0 is asked for, a response without a number is right.
#
# `numeric_match`, by which MGSM is scored too, takes the last number of a response and compares it with the target, so that 18.00 is 18. One would
# expect zeros to be struck out behind a decimal point alone, as in other harnesses, which ask for one. Seen: they are struck out at the end of
# every number, and of the target likewise: 100, 10 and 1 are "1", 1500 is "15". A full stop behind a number is part of it, and keeps the zeros: "100."
# is 100, which is not "1". 0 is nothing, which is what a response without a number has. Thousands' commas are taken out of responses and not out
# of targets, so that no response is right for 1,500.
#
# Whom it hits: evaluations on MGSM, whose targets are cut in the same way when they are loaded, and on one's own questions with numbers. A model that ends
# in a full stop loses all answers that end in a zero; one that does not is paid for slips by a factor of ten, as in money and units.
#
# The module is loaded without the package's others. Prints the target, the response and whether it is right. Exits with 1 if one changes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
# The package asks for Python 3.12; this module of it does not need it.
"$work/venv/bin/pip" install -q --no-deps --ignore-requires-python nemo-evaluator==0.3.0
cat >"$work/try.py" <<'PYTHON'
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

folder = Path(sysconfig.get_path("purelib")) / "nemo_evaluator"
for name, path in (("nemo_evaluator", folder), ("nemo_evaluator.scoring", folder / "scoring")):
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__path__ = [str(path)]

from nemo_evaluator.scoring.pattern import numeric_match
from nemo_evaluator.scoring.types import ScorerInput

# The target, the response, whether it is right.
CASES = [
    ("18", "She makes 18", True),
    ("18", "She makes 18.", True),
    ("18", "She makes 18.00 dollars.", True),
    ("18", "She makes 1.8 dollars.", False),
    ("100", "She makes 100", True),
    ("100", "She makes 100.", False),
    ("100", "She makes 1 dollar.", True),
    ("100", "She makes 1000 dollars.", True),
    ("2", "She makes 20 dollars.", True),
    ("-30", "It is -3 degrees.", True),
    ("0", "There are 0 left.", True),
    ("0", "I cannot answer that.", True),
    ("0", "There are 7 left.", False),
    ("1,500", "She makes 1,500 dollars.", False),
]

changed = False
for target, response, expected in CASES:
    seen = numeric_match(ScorerInput(response=response, target=target, metadata={}))["correct"]
    print(f"{target:6} {response:26} {'right' if seen else 'wrong'}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
