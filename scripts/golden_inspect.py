"""Logs of Inspect for tests/data/rows: every kind of input and target, two epochs, choices, in both formats.

Made with inspect-ai 0.3.285 by `python scripts/golden_inspect.py tests/data/rows`. Needs no model and no network.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from inspect_ai import Epochs, Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ContentReasoning,
    ContentText,
    ModelAPI,
    ModelOutput,
    get_model,
)
from inspect_ai.scorer import choice, match
from inspect_ai.solver import generate, multiple_choice

MODEL = "mockllm/model"


async def count(self, *arguments, **more) -> int:
    """Tokens are counted with a table that the package would download."""
    return 5


ModelAPI.count_tokens = count
ModelAPI.count_text_tokens = count


def answer(text: str, thinking: str = "") -> ModelOutput:
    output = ModelOutput.from_content(MODEL, text)
    if thinking:
        output.choices[0].message.content = [ContentReasoning(reasoning=thinking), ContentText(text=text)]
        return ModelOutput(model=MODEL, choices=output.choices)
    return output


RUNS = {
    "inspect": dict(
        dataset=MemoryDataset(
            [
                Sample(id=1, input="What is 1 + 1?", target="2"),
                Sample(id="dir/a", input="What is 2 + 2?", target=["4", "four"]),
                Sample(
                    id=3,
                    input=[
                        ChatMessageSystem(content="Be brief."),
                        ChatMessageUser(content="Hello"),
                        ChatMessageAssistant(content="Hello!"),
                        ChatMessageUser(content="What is 3 + 3?"),
                    ],
                    target="6",
                ),
            ]
        ),
        outputs=[answer("2"), answer("The answer is 4", "2 + 2"), answer("5")] * 2,
        task=dict(solver=generate(), scorer=match(), epochs=Epochs(2, "mean")),
    ),
    "inspect_choices": dict(
        dataset=MemoryDataset(
            [
                Sample(id="q1", input="Which is even?", choices=["3", "4"], target="B"),
                Sample(id="q2", input="Which is odd?", choices=["2", "7"], target="B"),
            ]
        ),
        outputs=[answer("ANSWER: B"), answer("ANSWER: A")],
        task=dict(solver=multiple_choice(), scorer=choice()),
    ),
}


def main(folder: Path) -> None:
    for name, run in RUNS.items():
        formats = ["eval", "json"] if name == "inspect" else ["eval"]
        for log_format in formats:
            with tempfile.TemporaryDirectory() as logs:
                [log] = evaluate(
                    Task(dataset=run["dataset"], **run["task"]),
                    model=get_model(MODEL, custom_outputs=iter(run["outputs"])),
                    log_format=log_format,
                    log_dir=logs,
                    display="none",
                    max_samples=1,
                    log_realtime=False,
                )
                assert log.status == "success", log.error
                shutil.copy(log.location, folder / f"{name}.{log_format}")


folder = Path(sys.argv[1]).resolve()
# A log says in which repository it was made.
os.chdir(tempfile.gettempdir())
main(folder)
