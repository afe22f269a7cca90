"""`juror gsm8k`'s extraction methods against lm-evaluation-harness' own filters and metric, on made-up responses.

    pip install --no-deps lm-eval==0.4.13 && pip install numpy sacrebleu pyyaml regex
    python scripts/check_gsm8k.py [--juror target/release/juror] [--responses 20000] [--seed 1]

`strict-match` and `flexible-extract` are the filters of the package's `gsm8k` task, built from its YAML, and its `exact_match` with
the task's settings. `official` is the data set's rule: the first `#### n` without commas, compared as text. `multi` is written here
a second time: five patterns, the last match of the first that matches, but that a match without a digit or letter (a lone comma or
dash) is passed over, and its normalisation. References are GSM8K's solutions and, for one row in four, bare answers in other forms.
What is extracted and whether it is right must agree for every response. Exit code 1 if any does not.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import lm_eval
import regex
import yaml
from lm_eval.api.instance import Instance
from lm_eval.api.metrics import exact_match_hf_evaluate
from lm_eval.filters import build_filter_ensemble

INVALID = "[invalid]"
METHODS = ("official", "strict-match", "flexible-extract", "multi")
UNITS = ["", " apples", "%", " km/h", " dollars", "kg", "°", " m²", "th", " each.", "!", "€", " USD", "\\%", "\\text{ cm}"]
WORDS = [
    "So she has",
    "That makes",
    "\n",
    "\n\n",
    "The answer is",
    "the final answer is:",
    "Answer:",
    "Therefore,",
    "####",
    "###",
    "# Step 2",
    "####\n",
    "#### ",
    "##### ",
    "each of the 3 boxes",
    "**",
    "$",
    "-",
    "–",
    "−",
    ",",
    ".",
    "...",
    "1.",
    "2)",
    "=",
    "48/2 = <<48/2=24>>24",
    "½",
    "²",
    "x_1",
    "１２",
    "٣",
    "\u00a0",
    "\u2028",
    "\t",
    "\x00",
    "\\boxed{",
    "}",
    "\\(",
    "\\)",
    "nan",
    "Question:",
    "</s>",
    "<|im_end|>",
    "🦀",
    "é",
    "$.",
    "$,",
    ",,,",
    ".5",
    "5.",
    "-.5",
    "1e3",
    "3/4",
    "10:30",
    "2.000.000",
    "1 000",
]


def number(draw: random.Random, value: int) -> str:
    """A value as responses write it, right or nearly right."""
    plain = str(value)
    forms = [
        plain,
        f"{value:,}",
        f"{value}.0",
        f"{value}.00",
        f"{value:,}.00",
        f"{value}.",
        f"${value}",
        f"${value:,}",
        f"\\${value}",
        f"-{plain}",
        f"+{plain}",
        f"0{plain}",
        f"{value}.5",
        f"{value - 1}.9999999999",
        f"{value + 1}",
        f"{plain[:1]},{plain[1:]}",
        f"{value}%",
        f"{value},",
        f" {value} ",
        f"**{value}**",
        f"{value}{draw.choice(UNITS)}",
        "",
    ]
    return draw.choice(forms) if draw.random() < 0.8 else plain


def response(draw: random.Random, value: int) -> str:
    """What a model may write, from clean to junk."""
    n = lambda: number(draw, value if draw.random() < 0.7 else draw.randrange(-50, 20_000))
    unit = draw.choice(UNITS)
    reasoning = " ".join(f"{draw.choice(WORDS)} {n()}" for _ in range(draw.randrange(4)))
    kind = draw.randrange(14)
    if kind == 0:
        return draw.choice(["", " ", "\n", "I do not know.", "####", "#### ", "#### none", "$", "-", ".", ",.", "$$"])
    if kind == 1:
        return "".join(chr(draw.choice([draw.randrange(32, 127), draw.randrange(160, 0x3000)])) for _ in range(draw.randrange(60)))
    if kind == 2:
        return " ".join(draw.choice([*WORDS, n()]) for _ in range(draw.randrange(1, 25)))
    if kind == 3:
        return "".join(draw.choice("#$-,.0123456789 \n") for _ in range(draw.randrange(40)))
    if kind == 4:
        return f"{reasoning}\n#### {n()}\nLet me check: {n()}.\n#### {n()}{unit}"
    if kind == 5:
        return f"{reasoning} So \\boxed{{{n()}}}{unit}"
    if kind == 6:
        return f"{reasoning} The answer is {n()}{unit}."
    if kind == 7:
        return f"{reasoning}\n####{draw.choice(['', '  ', chr(9), chr(10), chr(160)])}{n()}{unit}"
    if kind == 8:
        return f"{reasoning}\n#### {n()} {n()}"
    if kind == 9:
        return f"{reasoning}\n\n#### {n()}{unit}\n\nQuestion: What is {n()}?\nAnswer: {n()}\n#### {n()}"
    return f"{reasoning}\n#### {n()}{unit}"


def reference(draw: random.Random, value: int) -> str:
    if draw.random() < 0.25:
        forms = ["{}", "{:,}", "{}.0", "{}.5", "-{}", "${}", "${:,}", "{} apples", "{}%", "#### {}", "#### {:,}.00", "#### 1\n#### {}", "So {}", "{}."]
        return draw.choice(forms).format(value)
    shown = f"{value:,}" if draw.random() < 0.5 else str(value)
    return f"He has {value} // 1 = <<{value}//1={value}>>{value}.\n#### {shown}"


def ensembles() -> tuple[dict[str, object], dict]:
    """The task's filters by name, and the settings of its metric."""
    path = Path(lm_eval.__file__).parent / "tasks/gsm8k/gsm8k.yaml"
    task = yaml.safe_load(path.read_text())
    assert task["doc_to_target"] == "{{answer}}", task["doc_to_target"]
    filters = {}
    for one in task["filter_list"]:
        steps = [[step["function"], {k: v for k, v in step.items() if k != "function"}] for step in one["filter"]]
        filters[one["name"]] = build_filter_ensemble(one["name"], steps)
    (metric,) = task["metric_list"]
    assert metric["metric"] == "exact_match", metric
    settings = {k: v for k, v in metric.items() if k not in ("metric", "aggregation", "higher_is_better")}
    return filters, settings


def theirs(rows: list[dict]) -> list[dict[str, tuple[str | None, bool]]]:
    """What lm-evaluation-harness extracts of each response, normalised by its metric, and whether that is right."""
    filters, settings = ensembles()
    found: list[dict[str, tuple[str | None, bool]]] = [{} for _ in rows]
    for name, ensemble in filters.items():
        instances = [
            Instance(request_type="generate_until", doc=row, arguments=("", {}), idx=0, resps=[row["response"]]) for row in rows
        ]
        ensemble.apply(instances)
        for at, (instance, row) in enumerate(zip(instances, rows)):
            filtered = instance.filtered_resps[name]
            score = exact_match_hf_evaluate(references=[row["answer"]], predictions=[filtered], **settings)["exact_match"]
            normal = filtered
            for pattern in settings["regexes_to_ignore"]:
                normal = re.sub(pattern, "", normal)
            found[at][name] = (None if filtered == INVALID else normal.lower(), bool(score))
    return found


def official(text: str) -> str:
    match = re.compile(r"#### (\-?[0-9\.\,]+)").search(text)
    return match.group(1).strip().replace(",", "") if match else INVALID


def ground_truth(answer: str) -> str:
    """What follows the last mark, or all of it."""
    return answer.rsplit("####", 1)[-1].strip().replace(",", "")


MULTI = [
    regex.compile(pattern)
    for pattern in (
        r"####\s*([\d,.\-]+)",
        r"\\boxed\{([^}]+)\}",
        r"[Tt]he\s+(?:final\s+)?answer\s+is[:\s]*\$?([\d,.\-]+)",
        r"(?i)answer\s*:\s*\$?([\d,.\-]+)",
        r"(-?[\d,]+\.?\d*)",
    )
]
SOMETHING = regex.compile(r"[\p{Alphabetic}\p{N}]")
UNIT = regex.compile(r"\s*\\?[%°\p{L}](?:[^\d+*/=^]|\^\d|\^\{\d\})*")
NUMBER = regex.compile(r"-?(?:\d+\.?\d*|\.\d+)")
VALUE = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def multi_normal(answer: str) -> str:
    """Without commas, `$`, a trailing period, units and `.0`."""
    bare = answer.replace(",", "").replace("$", "").strip().removesuffix(".")
    number = NUMBER.match(bare)
    if number and UNIT.fullmatch(bare, number.end()):
        bare = number.group()
    whole, point, zeros = bare.partition(".")
    return whole if point and not zeros.strip("0") else bare


def multi(text: str) -> str | None:
    for pattern in MULTI:
        stated = [found for found in pattern.findall(text) if SOMETHING.search(found)]
        if stated:
            return multi_normal(stated[-1])
    return None


def multi_equal(a: str | None, b: str) -> bool:
    if a is None or a == b:
        return a == b
    return bool(VALUE.fullmatch(a) and VALUE.fullmatch(b)) and abs(float(a) - float(b)) < 1e-6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--juror", default="target/release/juror")
    parser.add_argument("--responses", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    rows = []
    for at in range(arguments.responses):
        value = draw.choice([draw.randrange(1, 10), draw.randrange(1, 1000), draw.randrange(1000, 2_000_000)])
        rows.append({"id": str(at), "question": f"Question {at}", "answer": reference(draw, value), "response": response(draw, value)})
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, "responses.jsonl"), Path(folder, "rows.jsonl")
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        command = [arguments.juror, "gsm8k", str(path), "--rows-out", str(out)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        ours = [json.loads(line) for line in out.read_text(encoding="utf-8").split("\n") if line]
    assert [row["id"] for row in ours] == [row["id"] for row in rows]
    wrong, right, invalid = [], dict.fromkeys(METHODS, 0), dict.fromkeys(METHODS, 0)
    for row, mine, other in zip(rows, ours, theirs(rows)):
        found, gold = official(row["response"]), ground_truth(row["answer"])
        other["official"] = (None if found == INVALID else found, found == gold)
        found = multi(row["response"])
        other["multi"] = (found, multi_equal(found, multi_normal(gold)))
        for method in METHODS:
            read = mine["methods"][method]
            if (read["extracted"], read["original"]) != other[method]:
                wrong.append(f"{method}: {read} and {other[method]} of {row['response']!r}, {row['answer'][-12:]!r}")
            right[method] += other[method][1]
            invalid[method] += other[method][0] is None
    count = len(rows) * len(METHODS)
    print(f"lm-eval {lm_eval.__version__}: {len(rows)} responses, {count} readings, {len(wrong)} differ")
    for method in METHODS:
        print(f"  {method}: {right[method]} right, {invalid[method]} without an answer")
    for line in wrong[:20]:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
