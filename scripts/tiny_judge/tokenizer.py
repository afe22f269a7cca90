"""The tiny judge's tokenizer: byte-level BPE behind Qwen2's pre-tokeniser.

    python scripts/tiny_judge/tokenizer.py --seed 1      # writes models/tiny/tokenizer*.json

Digits stand alone, so that arithmetic sees place values.  The special tokens and the tags
of the protocol are *added* tokens with ids above the BPE vocabulary: a tokenizer without
them (`plain`) cannot produce one, whatever the text under judgement contains.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

FOLDER = Path(__file__).resolve().parents[2] / "models" / "tiny"
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
TAGS = tuple(
    f"<{slash}{name}>"
    for name in (
        "think", "process", "outcome", "perfect", "reason",
        "question", "student_answer", "reference_answer",
    )
    for slash in ("", "/")
)  # fmt: skip
WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


def blank() -> Tokenizer:
    """A byte-level tokenizer without vocabulary."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(WORDS), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def train(texts, vocabulary: int) -> Tokenizer:
    """Learn `vocabulary` BPE tokens from `texts`; the added tokens come on top."""
    tokenizer = blank()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.add_tokens([AddedToken(tag, special=False, normalized=False) for tag in TAGS])
    return tokenizer


def load(folder: Path = FOLDER) -> Tokenizer:
    """The tokenizer for trusted text: added tokens are recognised."""
    return Tokenizer.from_file(str(folder / "tokenizer.json"))


def plain(folder: Path = FOLDER) -> Tokenizer:
    """The tokenizer for text under judgement: the same without any added token."""
    content = json.loads((folder / "tokenizer.json").read_text())
    content["added_tokens"] = []
    return Tokenizer.from_str(json.dumps(content))


def save(tokenizer: Tokenizer, folder: Path = FOLDER) -> None:
    """Write tokenizer.json and tokenizer_config.json."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": None,
        "eos_token": "<|im_end|>",
        "pad_token": "<|endoftext|>",
        "unk_token": None,
        "add_prefix_space": False,
        "clean_up_tokenization_spaces": False,
        "model_max_length": 4096,
        "chat_template": CHAT_TEMPLATE,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n")


def corpus(seed: int, problems: int):
    """What the vocabulary is learnt from: training problems, their verdicts, the template."""
    import layout
    from problems import generate, outside

    rng = random.Random(seed)
    for _ in range(problems):
        example = outside(rng, "train") if rng.random() < 0.15 else generate(rng, split="train")
        yield layout.neutralise(example.question)
        yield layout.neutralise(example.student_answer)
        # The words of the thinking stand alone, so that each becomes one token.
        yield "".join(piece.text for piece in layout.target(example, with_reason=True))
    for _ in range(problems // 40):
        yield layout.PROMPT


def main() -> None:
    """Train and save."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--problems", type=int, default=20_000)
    parser.add_argument("--vocabulary", type=int, default=2_000)
    parser.add_argument("--out", type=Path, default=FOLDER)
    options = parser.parse_args()
    tokenizer = train(corpus(options.seed, options.problems), options.vocabulary)
    save(tokenizer, options.out)
    import layout

    template = len(tokenizer.encode(layout.segments()[0], add_special_tokens=False).ids)
    print(f"{tokenizer.get_vocab_size()} tokens; the template takes {template}")


if __name__ == "__main__":
    main()
