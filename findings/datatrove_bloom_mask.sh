#!/usr/bin/env bash
# datatrove 0.10.1: deduplication by a Bloom filter of 2**20 bytes keeps one of fifty documents that have no words in common. Of 2**20 - 1 bytes it keeps all.
#
# `SingleBloomFilter` drops a document whose n-grams have nearly all been seen, and logs the probability that one seems seen by chance, which is 0 here. One
# would expect a little more room to change nothing. Seen: a hash is made a position in the filter by the bitwise "and" with the number of bytes, in the
# place of a remainder by the number of bits. Of 2**20 there are two positions, 0 and 2**20: the first document sets both, and the rest are
# duplicates. Of 1,000,000, whose binary form has seven ones, there are 128. Of 2**20 - 1 there are 2**20, an eighth of the filter. And a number of hash
# functions that is left to it (`expected_elements`) is eight times the best one, of whose effect it then warns.
#
# Whom it hits: those who clean training or evaluation data: a size is a round number, and a report says that 98 % were duplicates, which is believed of texts
# from the web or of a model's answers to similar questions.
#
# Words are split at spaces here, so that no tokenizer has to be installed. Prints the bytes and how many are kept. Exits with 1 if one changes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q numpy==2.4.6 datatrove==0.10.1 xxhash==3.8.2 regex==2026.11.19 tokenizers==0.23.3
cat >"$work/try.py" <<'PYTHON'
import sys
from pathlib import Path
from types import SimpleNamespace

from datatrove.data import Document
from datatrove.pipeline.dedup import bloom_filter
from loguru import logger

logger.remove()
bloom_filter.load_word_tokenizer = lambda language: SimpleNamespace(word_tokenize=str.split)
LETTERS = "abcdefghij"


def word(number):
    return "".join(LETTERS[int(digit)] for digit in f"{number:05}")


DIFFERENT = [Document(text=" ".join(word(40 * row + column) for column in range(40)), id=str(row)) for row in range(50)]

# The bytes of the filter; how many are kept of fifty different documents, and of those and the same fifty again.
CASES = [
    (2**20 - 1, 50, 50),
    (2**20, 1, 1),
    (2**20 + 1, 1, 1),
    (1_000_000, 2, 2),
    (2**22, 1, 1),
    (2**22 - 1, 50, 50),
]

changed = False
for size, once, twice in CASES:
    seen = []
    for documents in (DIFFERENT, DIFFERENT * 2):
        config = bloom_filter.BloomFilterConfig(m_bytes=size, k=5)
        step = bloom_filter.SingleBloomFilter(str(Path(__file__).parent / "filter"), config)
        seen.append(len(list(step.run(iter(documents)))))
    print(f"{size:9,} bytes: kept {seen[0]:3} of 50 different documents, {seen[1]:3} of those and the same again")
    changed |= seen != [once, twice]
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
