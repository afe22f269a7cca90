#!/usr/bin/env bash
# outlines-core 0.2.14: a model held to `[0-9]+(\.[0-9]+)?` can write 4 but not 4.5.
#
# An `Index` has, for each state of a regular expression, the tokens that may follow. One would expect that every text which matches can be
# written, whatever tokens it is cut into. Seen: where the text so far is a match already, a token that leads on to a longer match is missing
# if it is one byte long, and so is, one step earlier, a token that ends one byte behind a match. What is not at the end of the expression is
# as it should be, so JSON objects do not show it. (The automaton tells of a match one byte late, at the byte behind it; the state reached by
# that byte looks like the end of a match, and is not one.)
#
# The tokens that follow an answer with an optional end are just those: the point of a decimal, the slash of a fraction, the comma of
# thousands, a space. Tokenizers that keep digits apart from signs, as those of Llama 3 and Qwen do, have no token ".5" which would get past
# it. Nothing fails: the answer is a shorter one, and matches.
#
# Whom it hits: judges and solvers whose answer is asked for by a regular expression through Outlines (1.3.3 has this as its back end for
# expressions unless another is named, and its own type `number` ends so) or a server's back end of that name (scores in half points, numbers,
# fractions, "yes" against "yes, but"): scores are cut down to whole numbers, in silence.
#
# Prints for each expression and each text whether it matches and whether it can be written. Exits with 1 if one can be that could not, or the
# other way round.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q outlines-core==0.2.14
cat >"$work/try.py" <<'PYTHON'
import json
import re
import sys

from outlines_core import Guide, Index, Vocabulary
from outlines_core.json_schema import build_regex_from_schema

# Each ASCII character, and some longer tokens as vocabularies have them.
TOKENS = [chr(code) for code in range(32, 127)] + ["yes", "no", " but", "10", ".5", "score"]
IDS = {token: number for number, token in enumerate(TOKENS, start=1)}
VOCABULARY = Vocabulary(0, {token: [number] for token, number in IDS.items()})


def can_be_written(expression, tokens):
    guide = Guide(Index(expression, VOCABULARY))
    for token in tokens:
        if IDS[token] not in guide.get_tokens():
            return False
        guide.advance(IDS[token])
    return guide.is_finished()


NUMBER = build_regex_from_schema(json.dumps({"type": "number"}))
SCORE = {"type": "object", "properties": {"score": {"type": "number"}}, "required": ["score"]}
# Expression, tokens, whether they can be written.
CASES = [
    (r"[0-9]+\.[0-9]+", ["4", ".", "5"], True),
    (r"[0-9]+(\.[0-9]+)?", ["4"], True),
    (r"[0-9]+(\.[0-9]+)?", ["4", "2"], True),
    (r"[0-9]+(\.[0-9]+)?", ["4", ".", "5"], False),
    (r"[0-9]+(\.[0-9]+)?", ["4", ".5"], True),
    (r"-?[0-9]+(/[0-9]+)?", ["3", "/", "4"], False),
    (r"[0-9]{1,3}(,[0-9]{3})*", ["1", ",", "0", "0", "0"], False),
    (r"10|[0-9](\.5)?", ["1", "0"], True),
    (r"10|[0-9](\.5)?", ["9", ".", "5"], False),
    (r"(yes|no)(, but .*)?", ["yes", ",", " but", " ", "x"], False),
    (r"(ab)+", ["a", "b", "a", "b"], False),
    (NUMBER, ["4", ".", "5"], False),
    (build_regex_from_schema(json.dumps(SCORE)), [*'{"', "score", *'":4.5}'], True),
]

changed = False
for expression, tokens, expected in CASES:
    seen = can_be_written(expression, tokens)
    matches = re.fullmatch(expression, "".join(tokens)) is not None
    print(f"{expression:60} {' '.join(tokens):20} matches {matches!s:6} can be written {seen}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
