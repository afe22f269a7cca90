#!/usr/bin/env bash
# tinker-cookbook 0.6.1: in its IFEval, "answer in less than 50 words" holds for an answer of 490 words. "In capitals" holds for Title Case.
#
# IFEval's instructions can be checked by a program; its accuracy is the share of prompts all of whose instructions hold. The data set has two
# relations between a count and its bound: "at least" and "less than". One would expect both to be compared, or an unknown one to be an error.
# Seen: the verifier knows "at least", "at most" and "exactly", and a relation that it does not know holds. So every instruction with
# "less than", about words, sentences, keywords, letters or words in capitals, holds for every response. So do the instructions to repeat the
# prompt, which it does not know, and to give one of three fixed answers, whatever is answered. Entirely in capitals is a response whose words
# begin with one. In the other direction: sections are headings of Markdown, so that "SECTION 1", for which the data set asks by name, is none.
#
# Whom it hits: checkpoints compared by "ifeval" or "ifbench" of the cookbook, also during a run: a model that ignores every upper bound loses
# nothing. Its figures cannot be compared with those of other harnesses.
#
# Instructions have the data set's names and arguments; nothing else of the package is needed. Prints each with its response and what is made
# of it. Exits with 1 if one is judged otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-deps tinker-cookbook==0.6.1
cat >"$work/try.py" <<'PYTHON'
import importlib.util
import sys
from pathlib import Path

package = Path(importlib.util.find_spec("tinker_cookbook").submodule_search_locations[0])
spec = importlib.util.spec_from_file_location("ifeval_verify", package / "eval/benchmarks/_ifeval_verify.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)

WORDS = "Here is a sentence of seven words. " * 70
# Instruction, arguments, response, whether it is followed, what the package says.
CASES = [
    ("length_constraints:number_words", {"relation": "at least", "num_words": 50}, WORDS, True, True),
    ("length_constraints:number_words", {"relation": "at least", "num_words": 600}, WORDS, False, False),
    ("length_constraints:number_words", {"relation": "less than", "num_words": 50}, WORDS, False, True),
    ("length_constraints:number_sentences", {"relation": "less than", "num_sentences": 3}, WORDS, False, True),
    ("keywords:frequency", {"relation": "less than", "keyword": "words", "frequency": 2}, WORDS, False, True),
    ("keywords:letter_frequency", {"let_relation": "less than", "letter": "s", "let_frequency": 2}, WORDS, False, True),
    ("change_case:english_capital", {}, "This is a sentence.", False, False),
    ("change_case:english_capital", {}, "This Is A Sentence In Title Case.", False, True),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Write a poem."}, "Roses are red.", False, True),
    ("detectable_format:constrained_response", {}, "Who knows?", False, True),
    (
        "detectable_format:multiple_sections",
        {"section_spliter": "SECTION", "num_sections": 2},
        "SECTION 1\nRoses.\nSECTION 2\nViolets.",
        True,
        False,
    ),
]

changed = False
for instruction, arguments, response, followed, expected in CASES:
    fraction, _ = module.verify_all_instructions(response, [instruction], [arguments])
    seen = fraction == 1.0
    shown = response if len(response) < 50 else response[:20].strip() + f" … ({len(response.split())} words)"
    print(f"{instruction} {arguments}\n    {shown!r}\n    followed: {followed}, the package says {seen}{'' if seen == followed else '   <'}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
