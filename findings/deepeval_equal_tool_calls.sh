#!/usr/bin/env bash
# deepeval 4.3.1: an agent that calls a tool three times, as it is expected to, has 0.33 for the right tools, and fails.
#
# `ToolCorrectnessMetric` gives the share of expected calls that were made. One would expect 1 for exactly those. Seen: a call that has been
# matched is remembered by its value, and calls of the same name, arguments and output are the same value. So each further one of them
# counts as used up: two equal calls have 0.5, three 0.33, below the threshold of 0.5. Calls that are written down by their names alone, as examples
# do, are equal as soon as a name comes twice. With different arguments or outputs the score is 1, and so it is with
# `should_consider_ordering` or `should_exact_match`, which are documented to be stricter.
#
# Whom it hits: tests of agents that poll a state, retry, roll dice or search twice: a perfect run fails, one that makes each call once has
# the same score as before, and an agent is improved by making the calls differ.
#
# Prints the calls, which are the expected ones too, with the score and whether the test passes. Exits with 1 if one is otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q deepeval==4.3.1
cat >"$work/try.py" <<'PYTHON'
import sys

from deepeval.metrics import ToolCorrectnessMetric
from deepeval.test_case import LLMTestCase, ToolCall, ToolCallParams

SEARCH, STATE = ToolCall(name="search"), ToolCall(name="state", input_parameters={"job": 7})
ORDERED, EXACT = {"should_consider_ordering": True}, {"should_exact_match": True}
ARGUMENTS = {"evaluation_params": [ToolCallParams.INPUT_PARAMETERS]}
# Calls, options, score, whether the test passes.
CASES = [
    ([SEARCH, STATE], {}, 1.0, True),
    ([SEARCH, SEARCH], {}, 0.5, True),
    ([STATE, STATE, STATE], {}, 1 / 3, False),
    ([STATE, STATE, STATE], ARGUMENTS, 1 / 3, False),
    ([STATE, STATE, STATE], ORDERED, 1.0, True),
    ([STATE, STATE, STATE], EXACT, 1.0, True),
    ([SEARCH, STATE, SEARCH, STATE], {}, 0.5, True),
    ([ToolCall(name="state", output="busy"), ToolCall(name="state", output="done")], {}, 1.0, True),
]

changed = False
for calls, options, score, passed in CASES:
    metric = ToolCorrectnessMetric(async_mode=False, include_reason=False, **options)
    case = LLMTestCase(input="Is it done?", actual_output="Yes.", tools_called=calls, expected_tools=list(calls))
    metric.measure(case, _show_indicator=False)
    print(f"score {metric.score:.2f}, passed {metric.success!s:6} {', '.join(call.name for call in calls)} {options or ''}")
    changed |= abs(metric.score - score) > 1e-6 or metric.success != passed
sys.exit(changed)
PYTHON
cd "$work"
# The metric makes a client for a judge, which it does not ask.
OPENAI_API_KEY=none DEEPEVAL_TELEMETRY_OPT_OUT=YES "$work/venv/bin/python" -W ignore "$work/try.py"
