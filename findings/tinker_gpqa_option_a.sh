#!/usr/bin/env bash
# tinker-cookbook 0.6.1: in its GPQA the right answer is always (A). "The answer is A." to every question has 100 %.
#
# The data set Idavidrein/gpqa has no list of options and no letter: it has a column for the right answer and three for wrong ones, and a
# harness puts them in an order of its own (lm-eval, Inspect and HELM draw one). One would expect that here too, all the more since the prompt
# asks for a letter. Seen: the options are the right answer and then the wrong ones, in each question; nothing draws an order.
#
# Whom it hits: checkpoints compared by "gpqa" of the cookbook, whose README has its figures beside published ones. A model's preference for
# (A) is measured along with what it knows, and a policy that is trained on questions of this environment need learn nothing else.
#
# The data set is behind a licence: rows with its columns stand in for it, and plain classes for what carries messages to a model. Prints the
# prompts that the package makes, and the accuracy of a model that answers A. Exits with 1 if it is not 100 %.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-deps tinker-cookbook==0.6.1
cat >"$work/try.py" <<'PYTHON'
import asyncio
import importlib
import importlib.util
import sys
from types import ModuleType, SimpleNamespace
from unittest.mock import MagicMock

package = importlib.util.find_spec("tinker_cookbook").submodule_search_locations[0]


class MessageEnv:
    pass


# Packages without their __init__, which imports the service's client, all models and all benchmarks.
for name in ("tinker_cookbook", "tinker_cookbook.eval", "tinker_cookbook.eval.benchmarks"):
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__path__ = [package + name.removeprefix("tinker_cookbook").replace(".", "/")]
sys.modules["tinker_cookbook.eval.benchmarks"].register = lambda benchmark: None
for name in ("tinker", "datasets", "tinker_cookbook.renderers.base", "tinker_cookbook.rl", "tinker_cookbook.rl.types"):
    sys.modules[name] = MagicMock()
sys.modules["tinker_cookbook.renderers"] = SimpleNamespace(get_text_content=lambda message: message["content"])
sys.modules["tinker_cookbook.rl.message_env"] = SimpleNamespace(
    EnvFromMessageEnv=lambda message_env, **others: message_env,
    MessageEnv=MessageEnv,
    MessageStepResult=SimpleNamespace,
)
gpqa = importlib.import_module("tinker_cookbook.eval.benchmarks.gpqa")

QUESTIONS = [
    ("Which of these is a noble gas?", "argon", "oxygen", "nitrogen", "chlorine"),
    ("Which of these is a prime?", "91 + 6", "91", "87", "57"),
    ("Which of these is a metal?", "tin", "sulfur", "iodine", "carbon"),
    ("Which of these is a fermion?", "an electron", "a photon", "a gluon", "a Higgs boson"),
    ("Which of these is an acid?", "HBr", "KOH", "NaCl", "CH4"),
]
COLUMNS = ("Question", "Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")
gpqa.load_benchmark_dataset = lambda *arguments, **others: [dict(zip(COLUMNS, question)) for question in QUESTIONS]

config = SimpleNamespace(max_examples=None, system_prompt=None)
rewards = []
for environment in gpqa.GPQABenchmarkBuilder().make_envs(None, config):
    [message] = asyncio.run(environment.initial_observation())
    result = asyncio.run(environment.step({"role": "assistant", "content": "The answer is A."}))
    rewards.append(result.reward)
    print(message["content"].rsplit("\n\n", 1)[0].replace("\n\n", " ").replace("\n", " "), f"  expected: {environment.expected}")
print(f"a model that answers A to all: {sum(rewards) / len(QUESTIONS):.0%}")
sys.exit(sum(rewards) != len(QUESTIONS))
PYTHON
"$work/venv/bin/python" "$work/try.py"
