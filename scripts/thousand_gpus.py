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


@dataclass
class Model:
    name: str
    parameters: float
    layers: int
    hidden: int
    key_value_bytes: int
    """Of keys and values in bf16, a token: 2 x 2 x layers x heads x head size."""


SMALL = Model("Qwen3-0.6B", 0.6e9, 28, 1024, 2 * 2 * 28 * 8 * 128)
MIDDLE = Model("Qwen3-8B", 8.2e9, 36, 4096, 2 * 2 * 36 * 8 * 128)
LARGE = Model("Qwen3-14B", 14.8e9, 40, 5120, 2 * 2 * 40 * 8 * 128)


def seconds(model: Model, response: int, generated: int) -> tuple[float, float, float]:
    """Of a rollout on one GPU: computing its prompt, generating its verdict; and how many are generated at once."""
    own = response + QUESTION / GROUP
    context = TEMPLATE + QUESTION + response
    linear = 2 * model.parameters * (own + INSERTED)
    attention = 4 * model.layers * model.hidden * own * (context - own / 2)
    prefill = (linear + attention) / (COMPUTE_SHARE * FLOPS)
    weights = 2 * model.parameters
    held = (QUESTION + response + generated / 2) * model.key_value_bytes  # the template's are shared
    sequences = min(SEQUENCES, (MEMORY - weights - RESERVED) // held)
    step = (weights + sequences * held + TEMPLATE * model.key_value_bytes) / (BANDWIDTH_SHARE * BANDWIDTH)
    return prefill, generated * step / sequences, sequences


def main() -> None:
    print("| judge | response | generated | prompt | verdict | at once | rollouts/s a GPU | hours | GPU-hours | dollars |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for model, response, generated in [
        (SMALL, 1000, 10),
        (MIDDLE, 1000, 10),
        (MIDDLE, 1000, 1000),
        (MIDDLE, 8000, 10),
        (LARGE, 1000, 10),
        (LARGE, 1000, 1000),
    ]:
        prefill, decode, sequences = seconds(model, response, generated)
        rate = 1 / (prefill + decode)
        hours = ROLLOUTS / rate / GPUS / 3600
        print(
            f"| {model.name} | {response:,} | {generated:,} | {1e3 * prefill:.1f} ms | {1e3 * decode:.1f} ms | {sequences:.0f} "
            f"| {rate:.1f} | {hours:.1f} | {hours * GPUS:,.0f} | {hours * GPUS * PRICE:,.0f} |"
        )


if __name__ == "__main__":
    main()
