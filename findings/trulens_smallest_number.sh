#!/usr/bin/env bash
# trulens-feedback 2.16.0: a judge that says "3. Both of the 2 claims are supported." has rated 2 of 3, and one that says "9. It names 1,000 ships." has
# rated 0 of 10.
#
# A judge whose reply is not JSON is read for a number on the scale: 0 to 3 for relevance, groundedness and the other feedback functions, 0 to 10 for the
# agreement with a ground truth. One would expect the number that the reply begins or ends with, or the one behind "score" or "rating", or a
# refusal where there are several. Seen: all numbers of the reply are taken, those off the scale are dropped, and the smallest of the rest is the
# rating, so that "1 out of 3" is 1. A reason with a number in it lowers the rating and never raises it; thinking is read as well, a fence around
# JSON makes its other values ratings, and the zeros behind a thousands comma are each a 0. On the scale to 3 a 2.9 is 2. There is a line in the log
# that several numbers were found; the inner function's documentation has the rule, that of the feedback functions has not.
#
# Whom it hits: judges behind servers without structured outputs, which add a reason whatever they are told: the longer it is, the worse the
# application looks, and comparisons of judges measure how many numbers they write.
#
# The module is loaded without the package's others. Prints the scale, the reply and the rating. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-deps trulens-feedback==2.16.0
cat >"$work/try.py" <<'PYTHON'
import importlib.util
import logging
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

logging.disable(logging.CRITICAL)
for name in ("trulens", "trulens.core", "trulens.core.utils"):
    sys.modules[name] = ModuleType(name)
sys.modules["trulens.core.utils"].text = ModuleType("text")
folder = Path(sysconfig.get_path("purelib")) / "trulens" / "feedback"
spec = importlib.util.spec_from_file_location("generated", folder / "generated.py")
generated = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generated)

# The scale's end, the reply, the rating.
CASES = [
    (3, "3", 3),
    (3, "Rating: 3 out of 3.", 3),
    (3, "On a scale from 0 to 3 this is a 3.", 3),
    (3, "3. Both of the 2 claims are supported.", 2),
    (3, "3, since there are 0 errors.", 0),
    (3, "<think>1 error would be a 2, but there is none.</think>3", 1),
    (3, '```json\n{"score": 3, "errors": 0}\n```', 0),
    (3, "2.9", 2),
    (10, "10", 10),
    (10, "10. It names all of the 3 causes.", 3),
    (10, "9. It names 1,000 ships.", 0),
]

changed = False
for end, reply, expected in CASES:
    # As the feedback functions call it, and as the agreement with a ground truth does.
    seen = generated.re_configured_rating(reply, 0, 3) if end == 3 else generated.re_0_10_rating(reply)
    print(f"0 to {end:2}: {seen:4}   {reply!r}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
