"""Training rows and batches: problems, their augmentation, drills, lengths packed evenly."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from pathlib import Path

import torch
from torch import Tensor

import drills
import layout
import tokenizer as vocabulary
from problems import Example, generate, outside
from problems.made import made, stated
from problems.marks import Lost, Solution, leaves
from problems.numbers import exact
from problems.reading import listed
from problems.retell import equations_of, renumbered, tell
from problems.unfollowed import unfollowed, unread

ROLES = (
    "", "form", "domain_in", "domain_out", "numbers", "read", "source", "nowhere", "part", "sum", "redo", "redo_wrong",
    "quotient", "same", "differs", "final", "reaches", "matches", "flaw", "flags", "process", "outcome", "perfect",
    "reason", "drill",
)  # fmt: skip
"""What a target token can be for; '' carries no loss."""
ROLE = {name: index for index, name in enumerate(ROLES)}
SPARSE = ("skipped_step", "skipped_step", "no_final", "cut_off", "bare_correct", "bare_wrong", "content_free")
"""Kinds of answers with fewer steps than the plan: they teach to read rather than to expect."""
PAIRS = ("two_answers", "two_answers", "chosen_answer")
"""Kinds of answers that state two results."""
LENGTHS = (96, 128, 160, 192, 224, 256, 288, 320, 352, 416, 512, 608, 704, 832, 1024, 1280, 1536)
"""The lengths rows are padded to: few, so that rows of like length soon fill a batch."""
PROTECTED = frozenset(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety"
    " hundred plus minus times twice double triple thrice half third thirds quarter quarters fifth fifths fourth eighth"
    " tenth percent per cent dozen week weeks day days hour hours minute minutes second seconds month months year years"
    " average cents dollar dollars euro euros divided over of off am pm km cm kg boxed text frac cdot div".split()
)
"""Words whose replacement would change what a text says in numbers."""


@dataclass
class Row:
    """Token ids of one training row, with the role of each (0: no loss)."""

    ids: list[int]
    roles: list[int]


@dataclass
class Batch:
    """Padded ids [rows, length]; flat positions that predict; their labels and roles."""

    ids: Tensor
    where: Tensor
    labels: Tensor
    roles: Tensor


@dataclass(frozen=True)
class Mix:
    """How training rows are drawn."""

    drill: float = 0.15
    noisy: float = 0.3
    scramble: float = 0.4
    sparse: float = 0.06
    outside: float = 0.16
    merged: float = 0.15
    bare: float = 0.0
    pairs: float = 0.0
    real: float = 0.0
    """Share of rows that tell a real solution (`Encoder.real`)."""
    unfollowed: float = 0.06
    """Share among those of responses that cannot be followed."""
    renumbered: float = 0.0
    """Share among those that are tried with other numbers."""
    made: float = 0.0
    """Share of rows on signs, points, long sums, percentages and fractions (`problems/made.py`)."""
    stated: float = 0.0
    """Share of rows of unrelated equations, mostly wrong, that teach to read what stands there."""
    reason: float = 0.15


def weight(s: Solution) -> float:
    """How often a real solution is told: oftener with what is refused most, long sums, fractions, percentages, decimals, and numbers without a source."""
    if s.lost:
        return 1.0
    equations, known = equations_of(s), set(listed(s.question))
    known |= {exact(Fraction(n) / 100) for n in known}
    hard = unnamed = False
    for e in equations:
        found = leaves(e.tree)
        hard |= len(found) > 2 or any(leaf.percent or not isinstance(leaf.value, int) for leaf in found)
        unnamed |= any(leaf.value not in known for leaf in found)
        known.add(e.claimed)
    return 1.0 + 0.7 * hard + 1.0 * unnamed


def pseudo_word(rng: random.Random) -> str:
    """A pronounceable word that means nothing."""
    parts = rng.randint(1, 3)
    word = "".join(
        rng.choice("bcdfghjklmnprstvwyz") + rng.choice(("a", "e", "i", "o", "u", "ai", "oo", "ea"))
        for _ in range(parts)
    )
    return word + rng.choice(("", "", "n", "s", "r", "l", "m", "rk", "nd", "ts"))


def scramble(example: Example, rng: random.Random) -> Example:
    """The same problem with some of its words replaced, consistently, by meaningless ones.

    No wording can then be relied upon alone: the judge learns to draw on the numbers, the
    student's own steps and the reference where a phrase is new to it.
    """
    rate = rng.choice((0.08, 0.15, 0.3, 0.5))
    chosen: dict[str, str | None] = {}

    def swap(share: float):
        def one(found: re.Match) -> str:
            word = found[0]
            key = word.lower()
            if key in PROTECTED or len(key) < 2:
                return word
            if key not in chosen:
                chosen[key] = pseudo_word(rng) if rng.random() < share else None
            new = chosen[key]
            return word if new is None else new.capitalize() if word[0].isupper() else new

        return one

    words = re.compile(r"(?<!\\)\b[A-Za-z]+\b")
    return replace(
        example,
        question=words.sub(swap(rate), example.question),
        student_answer=words.sub(swap(rate / 2), example.student_answer),
        reference_answer=words.sub(swap(0.0), example.reference_answer),
    )


class Encoder:
    """Turns examples into rows, as the `juror` binary tokenises them."""

    def __init__(self, folder: Path = vocabulary.FOLDER):
        self.trusted = vocabulary.load(folder)
        self.plain = vocabulary.plain(folder)
        full, short = layout.segments(), layout.segments(short=True)
        self.template = self._ids(full[0])
        self.prefix = self._ids(short[0])
        self.between = [self._ids(part) for part in full[1:]]
        self.end = self.trusted.token_to_id("<|im_end|>")
        self.stop = self.trusted.token_to_id("</perfect>")
        self.real: list[Solution] = []
        self.chances: list[float] = []
        self.known: dict[str, list[int]] = {}
        """Tokens of pieces that were met before."""

    def _ids(self, text: str) -> list[int]:
        return self.trusted.encode(text, add_special_tokens=False).ids

    def prompt(self, example: Example) -> list[int]:
        """The prompt after the template's first segment."""
        ids = []
        for field, after in zip(layout.FIELDS, self.between, strict=True):
            text = layout.neutralise(getattr(example, field))
            ids += self.plain.encode(text, add_special_tokens=False).ids
            ids += after
        return ids

    def row(self, prompt: list[int], pieces: list[layout.Piece]) -> Row:
        """A prompt without loss and the pieces with their roles."""
        ids, roles, known = list(prompt), [0] * len(prompt), self.known
        for text, role in pieces:
            own = known.get(text)
            if own is None:
                own = self._ids(text)
                if len(known) < 200_000 and len(text) < 24:
                    known[text] = own
            ids += own
            roles += [ROLE[role]] * len(own)
        return Row(ids, roles)

    def training_row(self, rng: random.Random, mix: Mix) -> Row:
        """A random row for training."""
        u = rng.random()
        if u < mix.real:
            return self.real_row(rng, mix)
        if u < mix.real + mix.made:
            return self.told_row(made(rng), rng, mix)
        if u < mix.real + mix.made + mix.stated:
            return self.stated_row(rng)
        if rng.random() < mix.drill:
            return self.row([], drills.row(rng))
        u = rng.random()
        if u < mix.outside:
            example = outside(rng, "train")
        elif u < mix.outside + mix.sparse:
            example = generate(rng, split="train", kind=rng.choice(SPARSE))
        elif u < mix.outside + mix.sparse + mix.bare:
            example = generate(rng, split="train", topic="bare")
        elif u < mix.outside + mix.sparse + mix.bare + mix.pairs:
            example = generate(rng, split="train", kind=rng.choice(PAIRS))
        else:
            merged, noisy = rng.random() < mix.merged, rng.random() < mix.noisy
            example = generate(rng, split="train", noisy=noisy)
            while merged and all(step.shown for step in example.student_steps):  # several steps in one expression
                example = generate(rng, split="train", noisy=noisy)
        if example.kind not in PAIRS and rng.random() < (mix.scramble if example.inside else mix.scramble / 4):
            example = scramble(example, rng)
        with_reason = rng.random() < mix.reason
        return self.row(self.prompt(example), layout.target(example, with_reason))

    def real_row(self, rng: random.Random, mix: Mix) -> Row:
        """A real solution told in some way."""
        while True:
            if not self.chances:
                self.chances = list(accumulate(weight(s) for s in self.real))
            s = rng.choices(self.real, cum_weights=self.chances)[0]
            try:
                if s.lost or rng.random() < mix.unfollowed:
                    example = rng.choice((unfollowed, unread))(s, rng)
                else:
                    example = tell(renumbered(s, rng) if rng.random() < mix.renumbered else s, rng)
            except Lost:
                continue
            return self.told_row(example, rng, mix)

    def told_row(self, example: Example, rng: random.Random, mix: Mix) -> Row:
        """The row of a telling."""
        if rng.random() < mix.scramble / 3:
            example = scramble(example, rng)
        return self.row(self.prompt(example), layout.target(example, rng.random() < mix.reason))

    def stated_row(self, rng: random.Random) -> Row:
        """A row that teaches to read; whether its derivation makes sense is not asked."""
        example = stated(rng)
        pieces = layout.target(example, False)
        if example.process:
            pieces = [piece._replace(role="") if piece.role in ("flaw", "flags", "process", "perfect") else piece for piece in pieces]
        return self.row(self.prompt(example), pieces)


def collate(rows: list[Row], pad: int, length: int | None = None) -> Batch:
    """Rows padded on the right to a common length."""
    length = length or max(len(row.ids) for row in rows)
    ids = torch.full((len(rows), length), pad)
    where, labels, roles = [], [], []
    for index, row in enumerate(rows):
        ids[index, : len(row.ids)] = torch.tensor(row.ids)
        for position in range(1, len(row.ids)):
            if row.roles[position]:
                where.append(index * length + position - 1)
                labels.append(row.ids[position])
                roles.append(row.roles[position])
    return Batch(ids, torch.tensor(where), torch.tensor(labels), torch.tensor(roles))


def batches(encoder: Encoder, rng: random.Random, mix: Mix, tokens: int):
    """An endless stream of batches of about `tokens` tokens, each of one of few shapes."""
    waiting: dict[int, list[Row]] = {length: [] for length in LENGTHS}
    while True:
        row = encoder.training_row(rng, mix)
        length = next((n for n in LENGTHS if n >= len(row.ids)), None)
        if length is None:
            continue
        group = waiting[length]
        group.append(row)
        if len(group) == tokens // length:
            waiting[length] = []
            yield collate(group, encoder.end, length)
