#!/usr/bin/env bash
# polars 2.1.0: in a table made of a list of verdicts, a score of 0.5 in row 101 is 0 if the hundred before it are whole numbers. Of the lists of scores
# [1, 0] and [0.5, 1] the second is [0, 1], in a table of two rows.
#
# The type of a column is inferred from the first hundred rows (`infer_schema_length`), and `strict`, which is the default, is documented to "throw an
# error if any data value does not exactly match the given or inferred data type". One would expect that error, which the same values as a column, and
# the same rows as JSON Lines (`read_ndjson`), do give. Seen: of rows, a later 0.5 or 1.9 is cut to a whole number, the text "0.5" is 0, and in a column
# of booleans 0.5 and 2 are False. A bare text below lists of texts is null. A key that the first hundred rows do not have is left out, of JSON Lines too.
# A column of lists, given as a column, has the type of its first list, whatever the number of rows. No error and no warning; a text that is no number is
# an error.
#
# Whom it hits: rewards and judges' scores collected as a list of dicts, partial credit that is rare, an error or a label that only some rows have, and
# several judges' or samples' scores in one cell: means are too low, and each value looks like one.
#
# Prints values, how they are given, and the last one in the table. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q polars==2.1.0
cat >"$work/try.py" <<'PYTHON'
import io
import json
import sys

import polars


def by_row(values):
    return polars.DataFrame([{"score": value} for value in values])


def by_column(values):
    return polars.DataFrame({"score": values})


def by_line(values):
    return polars.read_ndjson(io.BytesIO("\n".join(json.dumps({"score": value}) for value in values).encode()))


def last(make, values):
    try:
        value = make(values)["score"][-1]
        return value.to_list() if isinstance(value, polars.Series) else value
    except (TypeError, polars.exceptions.PolarsError):
        return "an error"


# How often the first value, the last value, and what is seen of the last in rows, in a column, in JSON Lines.
CASES = [
    (99, 1, 0.5, 0.5, "an error", 0.5),
    (100, 1, 0.5, 0, "an error", "an error"),
    (100, 1, 1.9, 1, "an error", "an error"),
    (100, 1, "0.5", 0, "an error", "an error"),
    (100, 1, "wrong", "an error", "an error", "an error"),
    (100, True, 0.5, False, "an error", "an error"),
    (100, True, 2, False, "an error", "an error"),
    (100, ["18"], "18", None, "an error", "an error"),
    (1, [1, 0], [0.5, 1], [0.5, 1], [0, 1], [0.5, 1]),
    (100, [1, 0], [0.5, 1], [0, 1], [0, 1], "an error"),
]

changed = False
for often, first, value, *expected in CASES:
    seen = [last(make, [first] * often + [value]) for make in (by_row, by_column, by_line)]
    print(f"{often:3} times {first!r:7} then {value!r:9} rows: {seen[0]!r:10} column: {seen[1]!r:10} JSON Lines: {seen[2]!r}")
    changed |= [(type(item), item) for item in seen] != [(type(item), item) for item in expected]

rewards = [1] * 100 + [0.5] * 100
mean = by_row(rewards)["score"].mean()
print(f"mean of a hundred times 1 and a hundred times 0.5: {mean}, it is {sum(rewards) / 200}")
rows = [{"id": number} for number in range(100)] + [{"id": 100, "label": "wrong"}]
columns = [polars.DataFrame(rows).columns, polars.read_ndjson(io.BytesIO("\n".join(map(json.dumps, rows)).encode())).columns]
print(f"a label from row 101 on: {columns[0]}, JSON Lines {columns[1]}")
sys.exit(changed or mean != 0.5 or columns != [["id"], ["id"]])
PYTHON
"$work/venv/bin/python" "$work/try.py"
