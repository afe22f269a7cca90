#!/usr/bin/env bash
# OpenRLHF 0.11.2 (torch 2.15.0): eight samples that all have the reward 0.1 get advantages of -0.83, each of them. With 0.3 it is +0.91.
#
# `group_norm`, the estimator of GRPO, divides a reward's distance from its group's mean by the group's standard deviation. A group of equal
# rewards teaches nothing, so one would expect zeros; the package's own test of "constant rewards" asks for them, of zeros. Seen: in f32 the
# mean of eight times 0.1 is not 0.1. The distance is one unit in the last place, the same for all, and so is the standard deviation that is
# computed from it; what keeps them from being divided into each other is 1e-9, which is smaller than either. Rewards that are sums of powers
# of two (0, 0.5, 1, -1) have the right zeros, which is why 0 and 1 do not show it.
#
# Whom it hits: GRPO with a reward for the format (0.1 to all that are wrong), with a judge's scores, or with penalties in tenths. The groups
# that ought to be silent, often most of them, push all their samples down, or up, as hard as a group with right and wrong ones does. The
# reported rewards are right.
#
# The module that computes advantages is the package's own; Ray, DeepSpeed and the launcher of workers, which carry tensors between GPUs, are
# stood in for. Prints rewards and advantages. Exits with 1 if the equal ones have small advantages, or those of powers of two have not.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q torch==2.15.0 transformers==5.15.0 pylatexenc==2.10
"$work/venv/bin/pip" install -q --no-deps openrlhf==0.11.2
cat >"$work/try.py" <<'PYTHON'
import importlib.util
import sys
from types import ModuleType, SimpleNamespace
from unittest.mock import MagicMock

import torch

package = importlib.util.find_spec("openrlhf").submodule_search_locations[0]
for name in ("ray", "deepspeed", "openrlhf.trainer.ray", "openrlhf.trainer.ray.launcher"):
    sys.modules[name] = MagicMock()
# Without its __init__, which imports all models.
sys.modules["openrlhf.models"] = ModuleType("openrlhf.models")
sys.modules["openrlhf.models"].__path__ = [f"{package}/models"]

from openrlhf.trainer.ppo_utils.experience import Experience
from openrlhf.trainer.ppo_utils.experience_maker import RemoteExperienceMaker


def advantages(rewards):
    algorithm = SimpleNamespace(advantage=SimpleNamespace(estimator="group_norm", gamma=1.0))
    rollout = SimpleNamespace(n_samples_per_prompt=len(rewards))
    reward = SimpleNamespace(clip_range=(-10, 10), overlong_buffer_len=None, stop_properly_penalty_coef=None)
    strategy = SimpleNamespace(args=SimpleNamespace(rollout=rollout, reward=reward, algo=algorithm))
    maker = RemoteExperienceMaker(None, None, None, None, SimpleNamespace(value=0.0), strategy, None)
    count = len(rewards)
    experience = Experience(
        index=list(range(count)),
        rewards=torch.tensor(rewards),
        action_mask=torch.ones(count, 1),
        kl=torch.zeros(count, 1),
        info={},
    )
    return maker.compute_advantages_and_returns([experience])[0].advantages[:, 0].tolist()


changed = False
for count in (4, 8, 16):
    for reward in (0.0, 0.5, 1.0, 0.1, 0.3, 0.7):
        seen = advantages([reward] * count)
        print(f"{count:2} samples, each with the reward {reward}: advantages {min(seen):+.3f} to {max(seen):+.3f}")
        if count != 4:
            changed |= (max(map(abs, seen)) > 0.5) != (reward in (0.1, 0.3, 0.7))
one = advantages([0.0] * 4 + [1.0] * 4)
print(f" 8 samples, half of them with the reward 1, half with 0: advantages {min(one):+.3f} to {max(one):+.3f}")
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
