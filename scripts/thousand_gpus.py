"""How long 10^9 rollouts take on 1,000 GPUs, by arithmetic alone: the tables of docs/decisions/thousand-gpus.md.

    python scripts/thousand_gpus.py

Change the constants to see another case. Nothing here is measured; what is assumed stands in the page.
"""

from dataclasses import dataclass

ROLLOUTS, GPUS = 1e9, 1000
FLOPS, BANDWIDTH, MEMORY = 989e12, 3.35e12, 80e9  # H100 SXM: dense bf16 a second, bytes a second, bytes
COMPUTE_SHARE, BANDWIDTH_SHARE = 0.45, 0.7  # of these, what an engine gets
RESERVED = 6e9  # bytes for activations and the runtime
PRICE = 2.5  # dollars a GPU-hour
TEMPLATE, QUESTION, INSERTED = 620, 200, 25  # tokens: of every prompt; of question and reference; of the verdict's known text
GROUP = 8  # responses to one question
SEQUENCES = 256  # at once, at most
BATCH = 2048  # rollouts that a process loses if it is killed, at most
LOADING, STARTING = 1e9, 60  # bytes of weights that one process reads a second; seconds until a new one begins to read them
LOSS_HOURS = 10  # a node at spot prices is taken away once in so many hours


@dataclass
class Model:
    name: str
    parameters: float
    layers: int
    attention_width: int
    """Heads x head size, which need not be the hidden size."""
    key_value_bytes: int
    """Of keys and values in bf16, a token: 2 x 2 x layers x heads x head size."""


SMALL = Model("Qwen3-0.6B", 0.6e9, 28, 16 * 128, 2 * 2 * 28 * 8 * 128)
MIDDLE = Model("Qwen3-8B", 8.2e9, 36, 32 * 128, 2 * 2 * 36 * 8 * 128)
LARGE = Model("Qwen3-14B", 14.8e9, 40, 40 * 128, 2 * 2 * 40 * 8 * 128)


@dataclass
class Times:
    """Of a rollout on one GPU."""

    prompt: float
    """Seconds to compute its prompt."""
    verdict: float
    """Seconds to generate its verdict."""
    sequences: float
    """Verdicts that are generated at once."""
    key_value_share: float
    """Of what a decoding step reads, the sequences' own keys and values; the rest is weights and the template."""

    @property
    def rate(self) -> float:
        """Rollouts a second."""
        return 1 / (self.prompt + self.verdict)


def times(model: Model, response: int, generated: int) -> Times:
    own = response + QUESTION / GROUP
    context = TEMPLATE + QUESTION + response
    linear = 2 * model.parameters * (own + INSERTED)
    attention = 4 * model.layers * model.attention_width * own * (context - own / 2)
    prefill = (linear + attention) / (COMPUTE_SHARE * FLOPS)
    weights = 2 * model.parameters
    held = (QUESTION + response + generated / 2) * model.key_value_bytes  # the template's are shared
    sequences = min(SEQUENCES, (MEMORY - weights - RESERVED) // held)
    read = weights + sequences * held + TEMPLATE * model.key_value_bytes
    step = read / (BANDWIDTH_SHARE * BANDWIDTH)
    return Times(prefill, generated * step / sequences, sequences, sequences * held / read)


CASES = [
    (SMALL, 1000, 10),
    (MIDDLE, 1000, 10),
    (MIDDLE, 1000, 1000),
    (MIDDLE, 8000, 10),
    (LARGE, 1000, 10),
    (LARGE, 1000, 1000),
]


def main() -> None:
    print("| judge | response | generated | prompt | verdict | at once | rollouts/s a GPU | hours | GPU-hours | dollars |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for model, response, generated in CASES:
        of = times(model, response, generated)
        hours = ROLLOUTS / of.rate / GPUS / 3600
        print(
            f"| {model.name} | {response:,} | {generated:,} | {1e3 * of.prompt:.1f} ms | {1e3 * of.verdict:.1f} ms | {of.sequences:.0f} "
            f"| {of.rate:.1f} | {hours:.1f} | {hours * GPUS:,.0f} | {hours * GPUS * PRICE:,.0f} |"
        )
    print()
    print("| judge | response | generated | prompts, of the time | keys and values, of a step | a loss: batch | a loss: start | losses |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for model, response, generated in CASES:
        of = times(model, response, generated)
        batch, start = BATCH / of.rate, STARTING + 2 * model.parameters / LOADING
        print(
            f"| {model.name} | {response:,} | {generated:,} | {of.prompt * of.rate:.0%} | {of.key_value_share:.0%} "
            f"| {batch:.0f} s | {start:.0f} s | {(batch + start) / (3600 * LOSS_HOURS):.1%} |".replace("%", " %")
        )


if __name__ == "__main__":
    main()
