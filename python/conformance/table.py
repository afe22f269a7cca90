"""Writes the table of docs/guide/conformance.md from clients.toml and pytest's results.

python table.py RESULTS PAGE: RESULTS is a folder with CLIENT.version for each client that was run, and CLIENT.xml (JUnit) if pytest
came to its end. Rows of clients that were not run keep what they say.
"""

from __future__ import annotations

import datetime
import re
import sys
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path

START, END = "<!-- table -->", "<!-- end of table -->"
HEAD = ["| client | version | code that runs | a failed judge | result | date |", "|---|---|---|---|---|---|"]


def result(file: Path) -> str:
    """What pytest found, in a few words."""
    counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    try:
        root = ET.parse(file).getroot()
    except (FileNotFoundError, ET.ParseError):
        return "**no results**"
    for suite in root.iter("testsuite"):
        for key in counts:
            counts[key] += int(suite.get(key, 0))
    bad = counts["failures"] + counts["errors"]
    passed = counts["tests"] - bad - counts["skipped"]
    words = [f"{passed} passed"] + [f"**{bad} failed**"] * (bad > 0) + [f"{counts['skipped']} skipped"] * (counts["skipped"] > 0)
    return ", ".join(words)


def main(results: Path, page: Path) -> None:
    """Replaces the rows of the clients that were run."""
    clients = tomllib.loads((Path(__file__).parent / "clients.toml").read_text(encoding="utf-8"))
    before, table, after = re.split(f"{START}\n|{END}", page.read_text(encoding="utf-8"))
    kept = {line.split(" | ")[0].removeprefix("| "): line for line in table.splitlines()[len(HEAD) :]}
    lines = list(HEAD)
    for name, client in clients.items():
        if (results / f"{name}.version").exists():
            version = (results / f"{name}.version").read_text(encoding="utf-8").strip()
            found = result(results / f"{name}.xml")
            today = datetime.datetime.now(datetime.timezone.utc).date()
            lines.append(f"| {client['title']} | {version} | {client['code']} | {client['failures']} | {found} | {today} |")
        elif client["title"] in kept:
            lines.append(kept[client["title"]])
    page.write_text(f"{before}{START}\n" + "\n".join(lines) + f"\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
