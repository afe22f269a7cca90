#!/usr/bin/env bash
# openbench 0.5.3 (inspect-ai 0.3.125): in HMMT and BRUMO, where 1/8 is right, 1/8 is wrong. So are 3375 for 3375 and
# -984 for -984. Where 7 is right, 7/2, 7^{10} and 7.9 are.
#
# The tasks of these contests (`hmmt_feb_2023`, `hmmt_feb_2024`, `hmmt_feb_2025`, `brumo_2025`) are built with the
# scorer of AIME, whose answers are whole numbers from 0 to 999. Theirs are often fractions, roots and greater
# numbers, and the prompt asks for any answer in a box. One would expect a comparison of such answers. Seen: an answer
# outside 0 to 999 is wrong before it is compared. The right answer is made a whole number, and where it is none, the
# sample is wrong without an error. A box is read up to its first closing brace, so that \frac{1}{8} is `\frac{1`, and
# of what is read the digits it begins with are the answer.
#
# Whom it hits: who compares models by these contests. The best score that can be had is the share of the problems
# with a small whole answer, on which a half right answer counts as well; nothing in the log but the explanation of a
# sample says so.
#
# Runs the packaged tasks with small problems in place of the contests' and a mock model: prints right answer, the
# model's, and C for correct or I for incorrect. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q openbench==0.5.3 inspect-ai==0.3.125 mcp==1.30.0
cat >"$work/try.py" <<'PYTHON'
import sys

from inspect_ai import eval as run
from inspect_ai.dataset import MemoryDataset
from inspect_ai.model import ModelOutput, get_model
from openbench.evals.matharena import matharena
from openbench.evals.matharena.aime_2025.aime_2025 import aime_2025
from openbench.evals.matharena.brumo_2025.brumo_2025 import brumo_2025
from openbench.evals.matharena.hmmt_feb_2025.hmmt_feb_2025 import hmmt_feb_2025

folder = sys.argv[1]
# Problem, right answer, what the model puts in its box, and whether it is correct.
CASES = [
    ("What is 10^2 + 3?", "103", "103", "C"),
    ("What is 15^3?", "3375", "3375", "I"),
    ("What is 16 - 1000?", "-984", "-984", "I"),
    ("What is 1 - 7/8?", "\\frac{1}{8}", "\\frac{1}{8}", "I"),
    ("What is 1 - 7/8?", "1/8", "1/8", "I"),
    ("What is the square root of 12?", "2\\sqrt{3}", "2\\sqrt{3}", "I"),
    ("What is the square root of 4?", "2", "2\\sqrt{3}", "C"),
    ("What is 14 / 2?", "7", "7/2", "C"),
    ("What is 14 / 2?", "7", "7^{10}", "C"),
    ("What is 14 / 2?", "7", "7.9", "C"),
    ("What is 14 / 2?", "7", "\\textbf{7}", "I"),
]


def dataset(sample_fields, **_):
    """Our problems in place of the download."""
    rows = [{"problem_idx": i, "problem": problem, "answer": gold} for i, (problem, gold, _, _) in enumerate(CASES)]
    return MemoryDataset([sample_fields(row) for row in rows])


matharena.hf_dataset = dataset
changed = False
for task in (aime_2025, brumo_2025, hmmt_feb_2025):
    answers = [ModelOutput.from_content("mockllm/model", f"So it is \\boxed{{{box}}}.") for _, _, box, _ in CASES]
    model = get_model("mockllm/model", custom_outputs=answers)
    log = run(task(), model=model, epochs=1, max_connections=1, max_samples=1, log_dir=folder, display="none")[0]
    seen = [sample.scores["aime_scorer"].value for sample in log.samples]
    print(f"{task.__name__}:")
    for (_, gold, box, expected), value in zip(CASES, seen):
        print(f"  right is {gold:12} answer {box:12} {value}")
        changed |= value != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py" "$work"
