#!/usr/bin/env bash
# nemo-gym 0.7.0: a response that ties with another, and is a little better, has a larger reward than one that beats it by a point. If the shortest response
# is a bad one, the bonus for the shortest good one goes to nobody.
#
# The server `genrm_compare` has a judge compare the responses of a group in pairs: a score from 1 to 5 for each, and a ranking from 1 (the first is much
# better) to 6. A response's reward is the mean of its scores; "when score_1 == score_2, use ranking to break the tie". One would expect that a broken tie
# counts for less than a difference in the scores themselves. Seen: 3.5 less the ranking is added to the one score and taken from the other, so 3 and 3 with
# the ranking 2 are 4.5 and 1.5, while 4 and 3 with the same ranking stay 4 and 3. With the ranking 1 a tie is 5.5 and 0.5, off the scale. `answer_bonus` is
# the "bonus for shortest answer among top performers". Seen: the shortest of all is looked up, and has the bonus if it is among them; so it is for
# `reasoning_bonus`.
#
# Whom it hits: GRPO with pairwise judges. What moves the policy most are pairs that the judge found equal, and a bonus for brevity is not paid in a group
# with one short failure, such as a refusal.
#
# The server's own functions, without the server. Prints the rewards of each group. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-compile numpy==2.4.6 pydantic==2.14.4
# Says that it needs Python 3.13.14; the module does not.
"$work/venv/bin/pip" install -q --no-compile --no-deps --ignore-requires-python nemo-gym==0.7.0
cat >"$work/try.py" <<'PYTHON'
import json
import sys

from resources_servers.genrm_compare.utils import aggregate_scores, parse_genrm_output


def rewards(replies, pairs, answers, **options):
    comparisons = [parse_genrm_output(json.dumps(dict(zip(("score_1", "score_2", "ranking"), reply))), 3.0, 3.5) for reply in replies]
    responses = [{"output": [{"type": "message", "content": [{"type": "output_text", "text": answer}]}]} for answer in answers]
    settings = {"reasoning_bonus": 0.0, "answer_bonus": 0.0, "top_percentile": 0.5, **options}
    final, *_ = aggregate_scores(
        comparisons,
        [(*pair, 0) for pair in pairs],
        responses,
        "simple_tiebreaker",
        default_score=3.0,
        group_reasoning_length_penalty_coeff=0.0,
        group_answer_length_penalty_coeff=0.0,
        **settings,
    )
    return final


changed = False
# Two scores and the ranking, the two rewards.
for reply, expected in [((4, 3, 2), [4, 3]), ((3, 3, 3), [3.5, 2.5]), ((3, 3, 2), [4.5, 1.5]), ((3, 3, 1), [5.5, 0.5]), ((5, 1, 1), [5, 1])]:
    seen = rewards([reply], [(0, 1)], ["It is 4.", "It is 5."])
    print(f"scores {reply[0]} and {reply[1]}, ranking {reply[2]}: {seen}")
    changed |= seen != expected

# Scores 5, 5, 2 and 1; the lengths of the answers; the rewards with a bonus of 1.
ROUND = [(5, 5, 3.5), (5, 2, 1), (2, 1, 3), (1, 5, 6)]
for lengths, expected in [((40, 20, 30, 30), [5, 6, 2, 1]), ((40, 20, 30, 10), [5, 5, 2, 1]), ((40, 20, 10, 30), [5, 5, 2, 1])]:
    seen = rewards(ROUND, [(0, 1), (1, 2), (2, 3), (3, 0)], ["x" * length for length in lengths], answer_bonus=1.0)
    print(f"lengths {lengths}: {seen}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
