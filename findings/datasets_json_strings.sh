#!/usr/bin/env bash
# datasets 5.2.0: an answer "18.50" in a JSON Lines file is loaded as the number 18.5, and "null" as nothing, if another row's answer is a
# number.
#
# JSON says which of its values are texts. One would expect a column with texts and numbers to be refused, or each value to be kept as it is:
# version 5 has the type `Json` for such columns, which is chosen by itself. Seen: when rows are read, a text in such a column is parsed as if
# it were JSON. "007" is 7, "18.50" is 18.5, "true" is True, "[1, 2]" is a list, "1e400" is infinite, and what is no JSON stays a text: "1/2",
# "1,000". One row with a number, or with a list of answers beside single ones, changes all others. And in a column of texts alone, if all are
# dates ("2008-05-12"), they are loaded as datetimes.
#
# Whom it hits: golds and answers of mathematics and tables that are compared as texts, multiple choice with "None" beside "null", prompts as
# text in one row and as messages in another; and whatever is written from such a data set, which then differs from the file it was made of.
#
# Prints what is in the file and what is loaded. Exits with 1 if something else is loaded.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q datasets==5.2.0
cat >"$work/try.py" <<'PYTHON'
import datetime
import json
import math
import sys
from pathlib import Path

from datasets import load_dataset

folder = Path(sys.argv[1])
number = 0


def loaded(answers):
    global number
    number += 1
    file = folder / f"{number}.jsonl"
    file.write_text("".join(json.dumps({"answer": answer}) + "\n" for answer in answers))
    rows = load_dataset("json", data_files=str(file), split="train", cache_dir=str(folder / f"cache{number}"))
    print(f"in the file {answers}")
    print(f"  loaded    {rows['answer'][:]}   ({rows.features['answer']})")
    return list(rows["answer"])


TEXTS = ["18.50", "007", "null", "true", "[1, 2]", "1e400", "1/2", "1,000", "None"]
PARSED = [18.5, 7, None, True, [1, 2], math.inf, "1/2", "1,000", "None"]
changed = loaded(TEXTS) != TEXTS
changed |= loaded([*TEXTS, 5]) != [*PARSED, 5]
changed |= loaded(["18.50", ["18.50", "18.5"]]) != [18.5, ["18.50", "18.5"]]
changed |= loaded(["2008-05-12", "n/a"]) != ["2008-05-12", "n/a"]
changed |= loaded(["2008-05-12", "2009-01-01"]) != [datetime.datetime(2008, 5, 12), datetime.datetime(2009, 1, 1)]
sys.exit(changed)
PYTHON
HF_HUB_OFFLINE=1 "$work/venv/bin/python" "$work/try.py" "$work" 2>/dev/null
