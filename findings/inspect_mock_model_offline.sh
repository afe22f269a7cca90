#!/usr/bin/env bash
# inspect-ai 0.3.285 (tiktoken 0.14.0): an evaluation with Inspect's mock model, `mockllm/model`, needs a download.
#
# The mock model is there so that tests run without a model and without a network. When an output states no usage (those that
# `ModelOutput.from_content` makes, and the default one, state none), its tokens are counted with tiktoken's `o200k_base`, whose table is
# fetched from openaipublic.blob.core.windows.net at the first use. Where that host cannot be reached (a CI job without a network, a closed
# cluster), the sample ends with an error and the log's status is `error`. One would expect that a mock model needs nothing, or that the
# count falls back to an estimate, as it does for the models whose tokenizer is not known.
#
# Whom it hits: everyone whose tests of tasks and scorers use the mock model in a sandbox. A way round: give each output a `ModelUsage`, or
# fill TIKTOKEN_CACHE_DIR beforehand.
#
# Prints the status with and without a stated usage. Exits with 1 if the first is no longer `error` or the second no longer `success`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet inspect-ai==0.3.285 tiktoken==0.14.0
cat >run.py <<'PYTHON'
import sys

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import generate


def status(states_usage: bool) -> str:
    output = ModelOutput.from_content("mockllm/model", "2")
    if states_usage:
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    task = Task([Sample(input="What is 1 + 1?", target="2")], solver=generate(), scorer=match())
    model = get_model("mockllm/model", custom_outputs=[output], memoize=False)
    (log,) = eval(task, model=model, display="none", log_dir="logs")
    message = (log.error.message if log.error else "").split("(Caused")[0][:160]
    print(f"usage stated: {states_usage}; status: {log.status} {message}")
    return log.status


found = [status(False), status(True)]
sys.exit(0 if found == ["error", "success"] else 1)
PYTHON
# No network from here on: every request goes to a port at which nothing listens.
TIKTOKEN_CACHE_DIR=$folder/empty HTTPS_PROXY=http://127.0.0.1:9 HTTP_PROXY=http://127.0.0.1:9 timeout 300 venv/bin/python run.py
