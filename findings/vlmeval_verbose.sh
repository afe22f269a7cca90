#!/usr/bin/env bash
# ms-vlmeval 0.0.20: with VERBOSE in the environment, "The answer is A." is no answer, and "The answer is A, not the dog." is the option with the dog.
# "The answer is B." is read as before. VERBOSE=0 does the same as VERBOSE=1.
#
# VLMEvalKit looks for the letter of an option in a response to a question with options, then for an option's text, and asks a judge where it finds
# neither (with `exact_matching`, the response is wrong). One would expect a variable of that name to change what is logged. Seen: a response of four
# words or more with the word A is logged as "A might be a quantifier" and has no letter, but only if that variable is set, as the check is in
# one condition with that for the log. Without it A is a letter like the others. Any text but the empty one sets it.
#
# Whom it hits: whoever has VERBOSE set, for make or for a job's own script: a model that answers in sentences loses all questions whose right
# answer is A, a quarter of what it knows. The same check reads the judge's replies, so "The answer is A" is asked for three times, and then an option
# is drawn by chance. It looks like a model that avoids the first option, and like a judge that is at odds with itself.
#
# The module is loaded without the package's others. Prints the variable, the response and the option. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-deps ms-vlmeval==0.0.20
cat >"$work/try.py" <<'PYTHON'
import importlib.util
import logging
import os
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

for name in ("vlmeval", "vlmeval.smp", "vlmeval.smp.log"):
    sys.modules[name] = ModuleType(name)
sys.modules["vlmeval.smp.log"].get_logger = logging.getLogger
path = Path(sysconfig.get_path("purelib")) / "vlmeval" / "utils" / "matching_util.py"
spec = importlib.util.spec_from_file_location("matching_util", path)
matching = importlib.util.module_from_spec(spec)
spec.loader.exec_module(matching)
OPTIONS = {"A": "a cat", "B": "a dog", "C": "a horse", "D": "a goose"}


def option(verbose, response):
    os.environ.pop("VERBOSE", None)
    if verbose is not None:
        os.environ["VERBOSE"] = verbose
    return matching.can_infer(response, dict(OPTIONS)) or "none"


# The response, and its option without the variable and with it.
CASES = [
    ("A", "A", "A"),
    ("Answer: A", "A", "A"),
    ("The answer is A.", "A", "none"),
    ("The answer is B.", "B", "B"),
    ("The answer is (A)", "A", "none"),
    ("The answer is A, not a dog.", "A", "B"),
    ("The answer is B, not a cat.", "B", "B"),
]

changed = False
for response, plain, verbose in CASES:
    seen = {value: option(value, response) for value in (None, "", "0", "1")}
    print(f"{response:28} " + "  ".join(f"{'unset' if value is None else repr(value)}: {seen[value]:4}" for value in seen))
    changed |= list(seen.values()) != [plain, plain, verbose, verbose]
for value in (None, "1"):
    share = sum(option(value, f"The answer is {letter}.") == letter for letter in OPTIONS) / len(OPTIONS)
    print(f"accuracy of one that is always right, VERBOSE {'unset' if value is None else value}: {share}")
    changed |= share != (1 if value is None else 0.75)
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
