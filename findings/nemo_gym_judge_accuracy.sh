#!/usr/bin/env bash
# nemo-gym 0.7.0 (math-verify 0.9.0): a model that answers all of ten questions right has the headline `majority@2/judge_accuracy` of 10. One that answers
# nine right has a `judge_accuracy` of 0, one that answers eight right has 60.
#
# The server `math_with_judge` asks a judge where Math-Verify finds no match, so that the judge can only add to what is right. One would expect
# `judge_accuracy`, beside `symbolic_accuracy`, to be the share of right answers at last, as it is in the package's `ugphysics_judge`. Seen: it is over the
# answers alone that were left for the judge, which the pages of two servers built on this one say. In `majority@k` a question of which none was left counts
# as 0, so that each question that is solved at once lowers it. `pass@k` is over the questions of which k answers or more were left: it can be less than
# `pass@1`. The share of right answers is none of the headline metrics.
#
# Whom it hits: comparisons of models with `should_use_judge`, which training on mathematics and the package's benchmarks arXivMath, IMO-AnswerBench and
# PHYSICS set: the better one has the lower figures, and a checkpoint that writes its answers in better form has a worse judge's opinion.
#
# The server's own metrics, without its network, cluster and profiler, over answers with given verdicts. Prints the share of right answers, and the headline
# metrics. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-compile pydantic==2.14.4 orjson==3.13.0 fastapi==0.165.0 itsdangerous==2.2.0 omegaconf==2.3.1 rich==15.0.0 \
  openai==2.44.0 aiohttp==3.14.5 uvicorn==0.54.0 httptools==0.9.0 requests==2.34.2
"$work/venv/bin/pip" install -q --no-compile --no-deps math-verify==0.9.0 latex2sympy2_extended==1.11.0 sympy==1.14.0 mpmath==1.3.0
# Says that it needs Python 3.13.14; these modules do not.
"$work/venv/bin/pip" install -q --no-compile --no-deps --ignore-requires-python nemo-gym==0.7.0
cat >"$work/try.py" <<'PYTHON'
import importlib.metadata
import sys
from unittest.mock import MagicMock

for name in ("hydra", "pandas", "pandas.core", "pandas.core.groupby", "pandas.core.groupby.generic", "pydot", "ray", "scipy", "wandb", "wandb.util", "yappi"):
    sys.modules[name] = MagicMock(__version__="0")
importlib.metadata.version = lambda name, version=importlib.metadata.version: "0" if name == "ray" else version(name)

from resources_servers.math_with_judge.app import LibraryJudgeMathResourcesServer

server = LibraryJudgeMathResourcesServer.model_construct(config=MagicMock(library_verifier_max_concurrency=1))
# As `verify` writes them: right at once, right for the judge, wrong for both.
MATCH = {"reward": 1.0, "library_reward": 1.0, "extracted_answer": "1/2", "judge_evaluations": None}
JUDGED = {"reward": 1.0, "library_reward": 0.0, "extracted_answer": "a half", "judge_evaluations": ["[[A=B]]"]}
WRONG = {"reward": 0.0, "library_reward": 0.0, "extracted_answer": "2", "judge_evaluations": ["[[A!=B]]"]}
# Two answers to each of ten questions; the share that is right; symbolic, judge's, majority of symbolic and judge's, pass@2 of judge's.
CASES = [
    ("8 of 10 right, 3 for the judge", [[MATCH] * 2] * 5 + [[JUDGED] * 2] * 3 + [[WRONG] * 2] * 2, 0.8, [50, 60, 50, 30, 60]),
    ("9 of 10 right, none for the judge", [[MATCH] * 2] * 9 + [[WRONG] * 2], 0.9, [90, 0, 90, 0, 0]),
    ("all right, 1 for the judge", [[MATCH] * 2] * 9 + [[JUDGED] * 2], 1.0, [90, 100, 90, 10, 100]),
    ("all right, none for the judge", [[MATCH] * 2] * 10, 1.0, [100, None, 100, None, None]),
    ("5 of 10 right, half for the judge", [[MATCH, JUDGED]] * 5 + [[WRONG] * 2] * 5, 0.5, [25, 50, 25, 50, 0]),
]
NAMES = [f"{kind}/{name}_accuracy" for kind in ("pass@1[avg-of-2]", "majority@2") for name in ("symbolic", "judge")] + ["pass@2/judge_accuracy"]

changed = False
for case, questions, right, expected in CASES:
    headline = server.get_key_metrics(server.compute_metrics(questions))
    share = sum(answer["reward"] for question in questions for answer in question) / 20
    print(f"{case}: {', '.join(f'{name} {headline.get(name)}' for name in NAMES)}")
    changed |= share != right or [headline.get(name) for name in NAMES] != expected
    changed |= any("reward" in name for name in headline)
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
