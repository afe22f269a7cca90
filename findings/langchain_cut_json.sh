#!/usr/bin/env bash
# langchain-core 1.8.3: a judge whose reply is cut off within {"reason": "...", "score": 100} has given the score 1, or 10, and `PydanticOutputParser`
# finds it valid. Of "0.95" what is left may be 0.
#
# `JsonOutputParser` and `PydanticOutputParser` read JSON from a model's whole reply; objects of which a part is there yet are for streams
# (`partial=True`), and an `OutputParserException` is documented for what "is not valid JSON". One would expect it for a reply that reached its limit of
# tokens. Seen: what is missing at the end is mended in whole replies too: strings, lists and objects are closed, and characters are struck off at
# the end until there is JSON. A number that was cut is a number, a key without a value is left out, a list of verdicts is a shorter list. What stands
# behind the JSON goes in the same way: of two objects the first is the answer, and of two fences. Only an object that lacks a field is refused,
# by the class. That the reply reached its limit stands in its metadata, which the parsers do not read.
#
# Whom it hits: judges that reason inside of their JSON, with the score as the last field, as one is told to have it: it is the score that is cut.
#
# Prints each reply with what is read by both parsers. Exits with 1 if one of them is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q langchain-core==1.8.3 pydantic==2.14.4
cat >"$work/try.py" <<'PYTHON'
import sys

from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import JsonOutputParser, PydanticOutputParser
from pydantic import BaseModel


class Verdict(BaseModel):
    reason: str
    score: float


def read(parser, text):
    try:
        seen = parser.invoke(AIMessage(text, response_metadata={"finish_reason": "length"}))
    except OutputParserException:
        return "refused"
    return seen.model_dump() if isinstance(seen, BaseModel) else seen


def verdict(score, reason="fine"):
    return {"reason": reason, "score": score}


# Reply, what the JSON parser reads, what the one with a class reads if that is another.
CASES = [
    ('{"reason": "fine", "score": 100}', verdict(100), None),
    ('{"reason": "fine", "score": 10', verdict(10), None),
    ('{"reason": "fine", "score": 1', verdict(1), None),
    ('{"reason": "fine", "score": 0.', verdict(0), None),
    ('{"reason": "fine", "score": -', {"reason": "fine"}, "refused"),
    ('{"reason": "fi', {"reason": "fi"}, "refused"),
    ('{"reason": "fine", "score": 2}\n{"reason": "on second thoughts", "score": 9}', verdict(2), None),
    ('```json\n{"reason": "a draft", "score": 2}\n```\nFinal:\n```json\n{"reason": "fine", "score": 9}\n```', verdict(2, "a draft"), None),
    ('Thus {"reason": "fine", "score": 9}', "refused", None),
]

changed = False
for text, *expected in CASES:
    seen = [read(JsonOutputParser(), text), read(PydanticOutputParser(pydantic_object=Verdict), text)]
    print(f"{text!r}\n    JSON {seen[0]}   class {seen[1]}")
    changed |= seen != [expected[0], expected[1] or expected[0]]
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
