"""Tables of verdicts against true labels: per kind of answer, per topic, and for problems outside the domain."""

from __future__ import annotations

from collections import defaultdict

from problems import Example

FIELDS = ("process", "outcome", "perfect")
COLUMNS = ("outcome", "process", "overall", "perfect", "unparsed", "called outside")


class Table:
    """Counts of right verdicts by group; a verdict that cannot be read, or none, is wrong everywhere."""

    def __init__(self) -> None:
        self.counts: dict[tuple[str, str], dict[str, int]] = defaultdict(lambda: defaultdict(int))

    def add(self, example: Example, found: dict[str, bool] | None, outside: bool) -> bool:
        """Count one verdict; whether it is right overall."""
        if not example.inside:
            for group in (("outside", example.topic), ("outside", "all outside")):
                self.counts[group]["problems"] += 1
                self.counts[group]["recognised"] += outside
            return outside
        groups = [("answer", example.kind), ("topic", example.topic), ("all", "all inside")]
        sound, lucky = example.process and example.outcome, example.outcome and not example.process
        if sound or lucky:
            groups.append(("all", "sound answers" if sound else "lucky guesses"))
        right = {field: found is not None and not outside and found[field] == getattr(example, field) for field in FIELDS}
        overall = found is not None and not outside and (found["process"] and found["outcome"]) == sound
        for group in groups:
            row = self.counts[group]
            row["problems"] += 1
            row["unparsed"] += found is None and not outside
            row["called outside"] += outside
            row["overall"] += overall
            for field in FIELDS:
                row[field] += right[field]
        return overall

    def text(self) -> str:
        """The tables in Markdown, in percent."""
        parts = []
        for sort in ("answer", "topic", "all"):
            parts += [f"| {sort} | problems | {' | '.join(COLUMNS)} |", "|---|---:|" + "---:|" * len(COLUMNS)]
            for (_, name), row in sorted(item for item in self.counts.items() if item[0][0] == sort):
                cells = " | ".join(f"{100 * row[column] / row['problems']:.1f}" for column in COLUMNS)
                parts.append(f"| {name.replace('_', ' ')} | {row['problems']} | {cells} |")
            parts.append("")
        outside = sorted(item for item in self.counts.items() if item[0][0] == "outside")
        if outside:
            parts += ["| outside | problems | recognised |", "|---|---:|---:|"]
            parts += [f"| {name} | {row['problems']} | {100 * row['recognised'] / row['problems']:.1f} |" for (_, name), row in outside]
        return "\n".join(parts)
