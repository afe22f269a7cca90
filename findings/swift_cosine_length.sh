#!/usr/bin/env bash
# ms-swift 4.6.0: the `cosine` reward goes up again behind the greatest length. A right answer of twice that length is paid like an empty one,
# a wrong one of twice that length like the worst. `soft_overlong` has no lowest value: -6 instead of -1.
#
# The cosine reward makes longer right answers worth less, down to `cosine_max_len_value_correct` at `cosine_max_len`. One would expect it to
# stay there (TRL's function of the same paper clamps, and says why). Seen: the length goes into the cosine as it is, and a cosine is periodic:
# 1.0 at no length, 0.5 at the greatest, 1.0 at twice that. Likewise DAPO's penalty, which is -1 from the greatest length on, goes on falling.
#
# That lengths are greater is not a mistake of the user: `cosine_max_len` and `soft_max_length` are `max_completion_length` unless they are
# set, which in a conversation of several turns limits each turn (`completion_length_limit_scope` is `per_round`), and both rewards count all
# turns together.
#
# Whom it hits: GRPO over several turns, with tools or with a scheduler: from two full turns on, longer is better again; and a penalty of
# tens outweighs the answer.
#
# Prints the rewards by length, in one turn and in turns. Exits with 1 if one of them is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
# The module of these rewards needs nothing else of ms-swift but the name of a type.
"$work/venv/bin/pip" install -q --no-deps ms-swift==4.6.0
"$work/venv/bin/pip" install -q math-verify==0.9.0
cat >"$work/try.py" <<'PYTHON'
import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

package = Path(importlib.util.find_spec("swift").submodule_search_locations[0])
for name in ("swift", "swift.infer_engine"):
    sys.modules[name] = ModuleType(name)
sys.modules["swift.infer_engine"].InferRequest = object
spec = importlib.util.spec_from_file_location("orm", package / "rewards/orm.py")
orm = importlib.util.module_from_spec(spec)
spec.loader.exec_module(orm)

LIMIT = 1000
settings = SimpleNamespace(
    cosine_min_len_value_wrong=-0.5,
    cosine_max_len_value_wrong=0.0,
    cosine_min_len_value_correct=1.0,
    cosine_max_len_value_correct=0.5,
    cosine_max_len=LIMIT,
    soft_max_length=LIMIT,
    soft_cache_length=200,
)
cosine, overlong = orm.CosineReward(settings), orm.SoftOverlong(settings)
# Tokens of each turn; the cosine reward of a right and of a wrong answer, the overlong penalty.
CASES = [
    ([0], 1.0, -0.5, 0),
    ([500], 0.75, -0.25, 0),
    ([1000], 0.5, 0.0, -1.0),
    ([750, 750], 0.75, -0.25, -3.5),
    ([1000, 1000], 1.0, -0.5, -6.0),
    ([1000, 1000, 1000], 0.5, 0.0, -11.0),
]

changed = False
for turns, *expected in CASES:
    ids = [[0] * length for length in turns]
    right, wrong = cosine([r"\boxed{4}", r"\boxed{5}"], [r"\boxed{4}"] * 2, response_token_ids=[ids, ids])
    penalty = overlong(["", ""], response_token_ids=[ids, ids])[0]
    print(f"turns of {turns} tokens: cosine {right:.2f} if right, {wrong:.2f} if wrong; soft_overlong {penalty}")
    changed |= any(abs(seen - value) > 1e-6 for seen, value in zip((right, wrong, penalty), expected))
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py" 2>"$work/errors" || { status=$?; cat "$work/errors" >&2; exit "$status"; }
