#!/usr/bin/env bash
# bfcl-eval 2026.3.23: in Berkeley's function calling leaderboard, derivative("x/2") is a right call where derivative("x**2") is asked for.
#
# A call is right if each argument is one of the answers given for it. So that "April 1, 2024" may be written in several ways, texts are compared
# without spaces and some punctuation. One would expect that of dates and titles, with a space in the place of what goes. Seen: of each text
# argument, in lists and objects too, the signs , . / - _ * ^ are struck out without a trace: x**3, x*3, x/3, x-3, x^3 and x3 are the same
# function (x+3 is not), the place 34.0522, -118.2437 is 3405.22, 118.2437, and "shutdown /s /t 0" is "shutdown -st *0". Numbers that are passed as
# numbers are compared exactly.
#
# Whom it hits: the "AST" categories, of which the leaderboard's and the model cards' figures are made, and who takes the checker for a reward of
# tool calls: sign, decimal point and operator of whatever is passed as a text are not taught.
#
# Tasks and answers are the package's own; its checker is loaded without the clients of models. Prints the task's answers and the argument
# of a call, and whether it is right. Exits with 1 if one is judged otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-deps bfcl-eval==2026.3.23
cat >"$work/try.py" <<'PYTHON'
import importlib
import importlib.util
import json
import sys
from pathlib import Path
from unittest.mock import MagicMock

package = Path(importlib.util.find_spec("bfcl_eval").submodule_search_locations[0])
sys.modules["bfcl_eval.constants.model_config"] = MagicMock(MODEL_CONFIG_MAPPING={"model": MagicMock(underscore_to_dot=False)})
for language in ("java", "js"):
    sys.modules[f"bfcl_eval.eval_checker.ast_eval.type_convertor.{language}_type_converter"] = MagicMock()
checker = importlib.import_module("bfcl_eval.eval_checker.ast_eval.ast_checker")
LANGUAGE = importlib.import_module("bfcl_eval.constants.enums").Language.PYTHON


def row(path, name):
    return next(row for row in map(json.loads, (package / "data" / path).read_text().splitlines()) if row["id"] == name)


# Task, parameter, its value in the call, whether the call is right.
CASES = [
    ("simple_python_15", "function", "x**3", True),
    ("simple_python_15", "function", "x+3", False),
    ("simple_python_15", "function", "x/3", True),
    ("simple_python_15", "function", "x-3", True),
    ("simple_python_14", "function", "3*x - 2 + 2/x - 1", True),
    ("live_simple_113-69-0", "geolocation", "34.0522, -118.2437", True),
    ("live_simple_113-69-0", "geolocation", "3405.22, 118.2437", True),
    ("live_simple_150-95-7", "command", "shutdown -st *0", True),
    ("simple_python_15", "start_x", -2, True),
    ("simple_python_15", "start_x", 2, False),
]

changed = False
for name, parameter, value, expected in CASES:
    file = f"BFCL_v4_{name.rsplit('_', 1)[0]}.json"
    functions, answers = row(file, name)["function"], row(f"possible_answer/{file}", name)["ground_truth"]
    (function, allowed), *_ = answers[0].items()
    arguments = {key: values[0] for key, values in allowed.items() if values[0] != ""} | {parameter: value}
    result = checker.ast_checker(functions, [{function: arguments}], answers, LANGUAGE, "simple", "model")
    print(f"right {result['valid']!s:6} {function}({parameter}={value!r}), answers {allowed[parameter]}")
    changed |= result["valid"] != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
