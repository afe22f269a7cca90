#!/usr/bin/env bash
# openevals 0.2.2: two right objects of three score 0.67 if the wrong one stands last, and 0 if it stands first, although the order is not to matter.
#
# `create_json_match_evaluator` compares lists of objects. With "same_elements", which it does unless told otherwise, and "subset" it matches elements
# in any order. One would expect that a right element finds its equal. Seen: the elements take a reference one after the other, each the one with
# which it has the most equal keys among those that are left, the first of several. So a wrong element that has any key in common with the reference of
# a right one behind it (the name of a tool, a unit, a type) takes that away; the right one gets what is left, and its neighbour in turn. With
# "superset" the references choose, so the order of the outputs decides nothing. Keys with a criterion for a judge are not compared before: elements
# that have no others are matched in their order.
#
# Whom it hits: tests of extraction and of tool calls, whose elements are alike: how much a mistake costs depends on where it stands, up to all of the
# score. A model that sorts its output differently is better or worse by that alone.
#
# The module is loaded with stand-ins for what asks a model or LangSmith. Prints the mode, the cities of outputs and references, and the score. Exits
# with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-deps openevals==0.2.2
cat >"$work/try.py" <<'PYTHON'
import importlib.util
import sys
from pathlib import Path
from unittest.mock import MagicMock

package = Path(importlib.util.find_spec("openevals").submodule_search_locations[0])
for name in ("openevals", "openevals.types", "openevals.llm", "openevals.utils", "langchain_core", "langchain_core.language_models", "langsmith"):
    sys.modules[name] = MagicMock()
sys.modules["langchain_core.language_models.chat_models"] = MagicMock()
sys.modules["openevals.utils"]._run_evaluator = lambda scorer, **others: scorer()
spec = importlib.util.spec_from_file_location("match", package / "json/match.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)


def calls(cities):
    return [{"tool": "weather", "city": city} for city in cities.split()]


# Mode, cities of the outputs, of the references, the score: the mean over elements, each of which is right or wrong.
CASES = [
    ("same_elements", "Oslo Rome Bern", "Rome Oslo Bern", 1.0),
    ("same_elements", "Rome Oslo Paris", "Rome Oslo Bern", 0.667),
    ("same_elements", "Rome Paris Oslo", "Rome Oslo Bern", 0.333),
    ("same_elements", "Paris Rome Oslo", "Rome Oslo Bern", 0.0),
    ("same_elements", "Paris Rome", "Rome", 0.0),
    ("same_elements", "Rome Paris", "Rome", 0.5),
    ("subset", "Paris Rome", "Rome Oslo Bern", 0.0),
    ("subset", "Rome Paris", "Rome Oslo Bern", 0.5),
    ("superset", "Paris Rome Oslo", "Rome Oslo Bern", 0.667),
]

changed = False
for mode, outputs, references, expected in CASES:
    evaluator = module.create_json_match_evaluator(aggregator="all", list_aggregator="average", list_match_mode=mode)
    seen = evaluator(outputs=calls(outputs), reference_outputs=calls(references))["json_match:all"]
    print(f"{mode:14} {outputs:16} for {references:15} score {seen:.3f}")
    changed |= abs(seen - expected) > 0.0005
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
