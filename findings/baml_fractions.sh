#!/usr/bin/env bash
# baml-py 0.226.3: a judge that says 4/5 has given the score 1, one that says 2/5 the score 0, and one that says 8/10 a 1. Of the scores [4, N/A, 2] the
# second is 2. "I don't know" is a no, "not CORRECT" is CORRECT.
#
# A BAML function is declared with the type of its result, and replies are read by "schema-aligned parsing", which takes prose, missing quotes and fences.
# One would expect that it mends the form and keeps the value, and that a reply of another value is refused, as "4 of 5" and "4 or 5" are. Seen: a
# fraction is divided out and rounded to the declared `int`, which is right for 4/1. An item of a list that cannot be read is dropped, and those behind
# it move up. An enum or a union of texts is looked for inside of the reply, also within words, and what stands in front of it is not read. A
# comma is struck out whatever it is: 0,9 is 9. There is no error and no warning.
#
# Whom it hits: judges declared as `-> int`, `-> int[]` (a score for each response), or `-> "yes" | "no"`. A judge that writes the scale behind its
# score, as people do, is at the scale's lowest end whatever it thinks, and means over a hundred such judgements look like a strict judge.
#
# Prints the type, the reply and what is read. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q pydantic==2.14.4 baml-py==0.226.3
cat >"$work/try.py" <<'PYTHON'
import sys
from enum import Enum
from types import ModuleType

from baml_py import BamlRuntime
from baml_py.errors import BamlError

# What replies are read as, and the declaration of it.
TYPES = {"Score": "int", "Scores": "int[]", "Share": "float", "YesNo": '"yes" | "no"', "Graded": "Verdict"}
SOURCE = "client<llm> Judge {\n provider openai\n options {\n model m\n api_key k\n }\n}\nenum Verdict {\n CORRECT\n INCORRECT\n}\n"
SOURCE += "".join(f'function {name}(x: string) -> {type_} {{\n client Judge\n prompt #"{{{{ x }}}}"#\n}}\n' for name, type_ in TYPES.items())
runtime = BamlRuntime.from_files("baml_src", {"judge.baml": SOURCE}, {})
module = ModuleType("types_of_replies")
module.Verdict = Enum("Verdict", {"CORRECT": "CORRECT", "INCORRECT": "INCORRECT"})

CASES = [
    ("Score", "4", 4),
    ("Score", "4 of 5", None),
    ("Score", "4 or 5", None),
    ("Score", "4/5", 1),
    ("Score", "2/5", 0),
    ("Score", "8/10", 1),
    ("Score", "4.5", 5),
    ("Scores", "[4, 3, 2]", [4, 3, 2]),
    ("Scores", "[4, N/A, 2]", [4, 2]),
    ("Scores", '["4/5", "3/5", "2/5"]', [1, 1, 0]),
    ("Share", "0.9", 0.9),
    ("Share", "0,9", 9.0),
    ("YesNo", "No.", "no"),
    ("YesNo", "I don't know.", "no"),
    ("YesNo", "No, yes would be wrong.", "yes"),
    ("Graded", "The answer is INCORRECT.", "INCORRECT"),
    ("Graded", "The answer is not CORRECT.", "CORRECT"),
]

changed = False
for name, reply, expected in CASES:
    try:
        context = runtime.create_context_manager()
        seen = runtime.parse_llm_response(name, reply, module, module, module, False, context, None, None, {})
    except BamlError:
        seen = None
    seen = seen.value if isinstance(seen, Enum) else seen
    print(f"{TYPES[name]:14} {reply:26} {'an error' if seen is None else seen}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
