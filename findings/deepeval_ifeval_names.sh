#!/usr/bin/env bash
# deepeval 4.3.1 (beside it lm-eval 0.4.13): in IFEval, fifteen of the data set's twenty-five instructions are followed by any response, also an empty one, and
# "answer in French" by none.
#
# IFEval's rows name instructions ("keywords:existence", "startend:end_checker") that a program checks. One would expect each of the names to be known, or
# an error for one that is not. Seen: most names that deepeval looks for are not the data set's: "keywords:must_include" for "keywords:existence",
# "detectable_format:json" for "detectable_format:json_format", "startend:end_with" for "startend:end_checker". A name whose part before the colon is
# known, and whose other part is not, counts as followed ("PASSED"). One whose first part is not known, "language:", counts as not followed, whatever is
# said. Nothing is logged. Only the checks for nine instructions look at the response.
#
# Whom it hits: scores of instruction following by `deepeval.benchmarks.IFEval`, and its breakdown by instruction, where 1.0 for JSON, for forbidden words and
# for capitals looks like a strong model. Models differ by commas, lengths, titles and how many rows ask for a language.
#
# A row for each instruction, in the form of google/IFEval, with a response that does not follow it; lm-eval's program for the same names stands beside
# it (with a simple count of words and sentences in the place of nltk's). Prints both verdicts. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q pandas==3.1.1 pydantic==2.14.4 tqdm==4.70.1 langdetect==1.0.9
"$work/venv/bin/pip" install -q --no-deps deepeval==4.3.1 lm-eval==0.4.13
cat >"$work/try.py" <<'PYTHON'
import contextlib
import io
import re
import sys
import sysconfig
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest.mock import MagicMock

# The benchmark and lm-eval's checks, without the packages' other modules.
PACKAGE = "lm_eval.tasks.ifeval"
for name in ("deepeval", "deepeval.benchmarks", "lm_eval", "lm_eval.tasks", PACKAGE):
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__path__ = [str(Path(sysconfig.get_path("purelib"), *name.split(".")))]
OTHERS = "datasets deepeval.dataset deepeval.metrics.utils deepeval.models deepeval.models.base_model deepeval.telemetry deepeval.utils"
for name in OTHERS.split():
    sys.modules[name] = MagicMock()
sys.modules["deepeval.dataset"].Golden = SimpleNamespace
sys.modules["deepeval.models"].DeepEvalBaseLLM = object
sys.modules["deepeval.utils"].make_model_config = lambda **settings: settings
sys.modules[f"{PACKAGE}.instructions_util"] = SimpleNamespace(
    LANGUAGE_CODES={"fr": "French"},
    count_words=lambda text: len(re.findall(r"\w+", text)),
    count_sentences=lambda text: len(re.findall(r"[.!?]+", text)),
    nltk=SimpleNamespace(word_tokenize=str.split),
)
sys.modules[PACKAGE].instructions_util = sys.modules[f"{PACKAGE}.instructions_util"]
from deepeval.benchmarks.ifeval.ifeval import IFEval
from lm_eval.tasks.ifeval.instructions_registry import INSTRUCTION_DICT

PLAIN = "Sure, here is an answer. It is short."
# The data set's instructions: arguments, a response that does not follow, whether deepeval finds that it does.
CASES = {
    "keywords:existence": ({"keywords": ["river"]}, PLAIN, True),
    "keywords:frequency": ({"keyword": "river", "frequency": 3, "relation": "at least"}, PLAIN, True),
    "keywords:forbidden_words": ({"forbidden_words": ["short"]}, PLAIN, True),
    "keywords:letter_frequency": ({"letter": "q", "let_frequency": 5, "let_relation": "at least"}, PLAIN, True),
    "language:response_language": ({"language": "fr"}, PLAIN, False),
    "length_constraints:number_sentences": ({"num_sentences": 9, "relation": "at least"}, PLAIN, False),
    "length_constraints:number_paragraphs": ({"num_paragraphs": 4}, PLAIN, True),
    "length_constraints:number_words": ({"num_words": 200, "relation": "at least"}, PLAIN, False),
    "length_constraints:nth_paragraph_first_word": ({"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "then"}, PLAIN, True),
    "detectable_content:number_placeholders": ({"num_placeholders": 3}, PLAIN, False),
    "detectable_content:postscript": ({"postscript_marker": "P.S."}, PLAIN, False),
    "detectable_format:number_bullet_lists": ({"num_bullets": 3}, PLAIN, True),
    "detectable_format:constrained_response": ({}, PLAIN, True),
    "detectable_format:number_highlighted_sections": ({"num_highlights": 2}, PLAIN, False),
    "detectable_format:multiple_sections": ({"section_spliter": "SECTION", "num_sections": 3}, PLAIN, True),
    "detectable_format:json_format": ({}, PLAIN, True),
    "detectable_format:title": ({}, PLAIN, False),
    "combination:two_responses": ({}, PLAIN, True),
    "combination:repeat_prompt": ({"prompt_to_repeat": "What is a river?"}, PLAIN, False),
    "startend:end_checker": ({"end_phrase": "Any other questions?"}, PLAIN, True),
    "change_case:capital_word_frequency": ({"capital_frequency": 5, "capital_relation": "at least"}, PLAIN, True),
    "change_case:english_capital": ({}, PLAIN, True),
    "change_case:english_lowercase": ({}, PLAIN, False),
    "punctuation:no_comma": ({}, PLAIN, False),
    "startend:quotation": ({}, PLAIN, True),
}
FRENCH = "Une rivière est un cours d'eau qui coule vers une autre rivière et qui ne se jette pas dans la mer."


class Model:
    def __init__(self, response):
        self.response = response

    def generate(self, prompt):
        return self.response


def deepeval(name, arguments, response):
    benchmark = IFEval()
    benchmark.dataset = {"train": [{"prompt": "What is a river?", "instruction_id_list": [name], "kwargs": [arguments]}]}
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return benchmark.evaluate(Model(response)).overall_accuracy == 1


def lm_eval(name, arguments, response):
    check = INSTRUCTION_DICT[name](name)
    check.build_description(**arguments)
    return bool(check.check_following(response))


def row(name, arguments, response, expected):
    seen = (deepeval(name, arguments, response), lm_eval(name, arguments, response))
    words = ["followed" if verdict else "not followed" for verdict in seen]
    print(f"{name:46} deepeval {words[0]:12}  lm-eval {words[1]}")
    return seen != expected


print("Responses that do not follow:")
changed = set(INSTRUCTION_DICT) != set(CASES)
for name, (arguments, response, expected) in CASES.items():
    changed |= row(name, arguments, response, (expected, False))
print(f"{sum(expected for _, _, expected in CASES.values())} of {len(CASES)} followed for deepeval\nOne that follows:")
changed |= row("language:response_language", {"language": "fr"}, FRENCH, (False, True))
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
