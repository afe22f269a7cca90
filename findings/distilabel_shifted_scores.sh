#!/usr/bin/env bash
# distilabel 1.5.3: a judge that writes "Here are the scores:" before them shifts each score to the next response, and the last is lost.
#
# `QualityScorer` and `ComplexityScorer` ask for lines "[1] Score: 1", and `UltraFeedback` for blocks under "#### Output for Text 1". One would
# expect the number in the brackets or in the heading to say whose score it is, or a reply that does not fit to be refused. Seen: the number is
# not looked at. The n-th line of the reply is the score of the n-th response, and so is the n-th part between blank lines for UltraFeedback; a line
# or part without a score is the score None. So a first sentence, a blank line between the scores, another order, or a rationale of two paragraphs
# gives responses the scores of others; UltraFeedback returns more ratings than there are texts. Thinking that is left in the reply counts too.
#
# Whom it hits: preference data and filters made with local judges: the worst response is kept or chosen, with a score that looks like any other.
# None among the scores is the only trace, and a reply in another order leaves none.
#
# Judges with given replies about three responses, of which the second is the best. Prints each reply with the scores that are read. Exits with
# 1 if they are others. (`requests` is installed because the package needs it and does not say so.)
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q distilabel==1.5.3 datasets==5.2.0 pydantic==2.14.4 scipy==1.17.0 requests==2.34.2
cat >"$work/try.py" <<'PYTHON'
import logging
import sys

from distilabel.models.llms import LLM
from distilabel.steps.tasks import ComplexityScorer, QualityScorer, UltraFeedback

logging.disable(logging.WARNING)


class Judge(LLM):
    reply: str

    @property
    def model_name(self):
        return "judge"

    def generate(self, inputs, num_generations=1, **others):
        return [{"generations": [self.reply], "statistics": {}} for _ in inputs]


RESPONSES = ["14", "15", "a cat"]
TASKS = {
    QualityScorer: ("scores", {"instruction": "What is 3 * 5?", "responses": RESPONSES}),
    ComplexityScorer: ("scores", {"instructions": ["What is 3 * 5?", "Prove that 3 * 5 = 15.", "Hello."]}),
    UltraFeedback: ("ratings", {"instruction": "What is 3 * 5?", "generations": RESPONSES}),
}
LINES = "[1] Score: 2\n[2] Score: 3\n[3] Score: 1"
BLOCKS = "\n\n".join(
    f"#### Output for Text {number}\nRating: {rating}\nRationale: {rationale}"
    for number, rating, rationale in [(1, 2, "It is wrong."), (2, 5, "It is right."), (3, 1, "It is no number.")]
)
# Task, reply, scores. Those of the replies say 2, 3, 1, and 2, 5, 1.
CASES = [
    (QualityScorer, LINES, [2, 3, 1]),
    (QualityScorer, "Here are the scores:\n" + LINES, [None, 2, 3]),
    (QualityScorer, LINES.replace("\n", "\n\n"), [2, None, 3]),
    (QualityScorer, "From best to worst:\n[2] Score: 3\n[1] Score: 2\n[3] Score: 1", [None, 3, 2]),
    (QualityScorer, "[2] Score: 3\n[1] Score: 2\n[3] Score: 1", [3, 2, 1]),
    (ComplexityScorer, "Here are the scores:\n" + LINES, [None, 2, 3]),
    (UltraFeedback, BLOCKS, [2, 5, 1]),
    (UltraFeedback, "Here are the ratings.\n\n" + BLOCKS, [None, 2, 5, 1]),
    (UltraFeedback, BLOCKS.replace("wrong.", "wrong.\n\nThe product is odd."), [2, None, 5, 1]),
]

changed = False
for kind, reply, expected in CASES:
    key, row = TASKS[kind]
    task = kind(llm=Judge(reply=reply))
    task.load()
    seen = next(task.process([dict(row)]))[0][key]
    print(f"{kind.__name__:16} {seen}  {reply if len(reply) < 90 else reply[:87] + '...'!r}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
