#!/usr/bin/env bash
# inspect-scout 0.6.1 (inspect-ai 0.3.285): of the labels "ANSWER: A, C." the C is lost, and so it is of "**ANSWER: A, C**" and of "A, B and C", with the B. A
# number that cannot be read is False, "unclear" is a no, and 3/4 is 3.
#
# `llm_scanner` asks a model about a transcript; with `AnswerMultiLabel` for a comma-separated list of letters, "numeric" for a number. One would expect what
# cannot be read to be missing, as it is for a single label and for text, or each letter that stands there to be read. Seen: a list is cut at commas, and
# what is not a letter alone is dropped; if anything is left that is the answer. So a full stop, bold type around the line, an "and" or a remark takes
# away the last label, with nothing to show for it; around all of the letters bold type makes it no answer. For yes or no and for numbers bold type is taken
# off, but what is not read is False, which no error marks, and which a mean counts as 0. Of a number's line the digits at its beginning are read.
#
# Whom it hits: counts of behaviours in transcripts by scanners with several labels, for which the last one of a list is the rarest to be seen; rates and
# means from models that answer "N/A" or "unclear" or in fractions.
#
# The package's modules are loaded without its database and viewer. Prints for each kind of answer what is read. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-compile inspect-ai==0.3.285 jinja2==3.1.6
"$work/venv/bin/pip" install -q --no-deps inspect-scout==0.6.1
cat >"$work/try.py" <<'PYTHON'
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

folder = Path(sysconfig.get_path("purelib"))
for name in ("inspect_scout", "inspect_scout._llm_scanner", "inspect_scout._scanner"):
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__path__ = [str(folder.joinpath(*name.split(".")))]

from inspect_ai.model import ModelOutput
from inspect_scout._llm_scanner.answer import answer_from_argument
from inspect_scout._llm_scanner.types import AnswerMultiLabel

LABELS = ["refusal", "deception", "misuse", "sandbagging"]
SEVERAL = AnswerMultiLabel(labels=LABELS, allow_none=True)
# Kind of answer, the model's last line, what is read of it.
CASES = [
    (SEVERAL, "ANSWER: A, C", ["refusal", "misuse"]),
    (SEVERAL, "ANSWER: A, C.", ["refusal"]),
    (SEVERAL, "**ANSWER: A, C**", ["refusal"]),
    (SEVERAL, "ANSWER: A, C (see [M2])", ["refusal"]),
    (SEVERAL, "ANSWER: A, B and C", ["refusal"]),
    (SEVERAL, "ANSWER: A, B, and C", ["refusal", "deception"]),
    (SEVERAL, "ANSWER: **A, C**", None),
    (SEVERAL, "ANSWER: A and C", None),
    (LABELS, "ANSWER: A.", "A"),
    (LABELS, "ANSWER: **A**", None),
    ("string", "ANSWER: ", None),
    ("boolean", "ANSWER: **No**", False),
    ("boolean", "ANSWER: Unclear", False),
    ("boolean", "It cannot be told.", False),
    ("numeric", "ANSWER: **0.75**", 0.75),
    ("numeric", "ANSWER: 3/4", 3.0),
    ("numeric", "ANSWER: about 7", False),
    ("numeric", "ANSWER: N/A", False),
]

changed = False
for kind, line, expected in CASES:
    seen = answer_from_argument(kind).result_for_answer(ModelOutput.from_content("model", f"It is clear.\n\n{line}"), lambda text: []).value
    name = "labels" if kind is SEVERAL else "label" if kind is LABELS else kind
    print(f"{name:8} {line:26} {seen}")
    changed |= seen != expected or type(seen) is not type(expected)
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
