#!/usr/bin/env python3
"""Measures transformers on a GPU, on the workload of `juror bench --synthetic`: continuous batching (`generate_batch`), or `generate` with a
static cache and the step of generated tokens compiled by torch.compile.

    python3 scripts/compare_gpu.py --shape qwen3-8b --samples 512 --template-tokens 1300 --input-tokens 1500 --output-tokens 300
    python3 scripts/compare_gpu.py --way static --batch 64 …
    python3 scripts/compare_gpu.py --way static --shape tiny --device cpu …    that the program runs, without a GPU

Random weights of the shape, in bf16, made on the device; prompts of random tokens that share their beginning; generations run
to their full length. One run to warm up, with a few samples, then the one that counts. The last line of standard output is JSON:
{"verdicts_per_second", "output_tokens_per_second", "seconds", "samples", "way", "compiled", "torch", "transformers", "attention", "gpu"}.

Needs torch and transformers 4.55 or newer; nothing is downloaded. With a static cache the warm-up is a whole batch, since what is compiled
is for its sizes.
"""

import argparse
import inspect
import json
import random
import sys
import time

# Sizes as in the published configurations.
SHAPES = {
    "tiny": dict(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                 head_dim=16, vocab_size=151936, tie_word_embeddings=True),
    "qwen3-0.6b": dict(hidden_size=1024, intermediate_size=3072, num_hidden_layers=28, num_attention_heads=16,
                       num_key_value_heads=8, head_dim=128, vocab_size=151936, tie_word_embeddings=True),
    "qwen3-4b": dict(hidden_size=2560, intermediate_size=9728, num_hidden_layers=36, num_attention_heads=32,
                     num_key_value_heads=8, head_dim=128, vocab_size=151936, tie_word_embeddings=True),
    "qwen3-8b": dict(hidden_size=4096, intermediate_size=12288, num_hidden_layers=36, num_attention_heads=32,
                     num_key_value_heads=8, head_dim=128, vocab_size=151936, tie_word_embeddings=False),
    "qwen3-30b-a3b": dict(hidden_size=2048, intermediate_size=6144, num_hidden_layers=48, num_attention_heads=32,
                          num_key_value_heads=4, head_dim=128, vocab_size=151936, tie_word_embeddings=False,
                          num_experts=128, num_experts_per_tok=8, moe_intermediate_size=768, norm_topk_prob=True),
}


def build(shape, attention, device):
    """A model with random weights on the device."""
    import torch
    from transformers import AutoModelForCausalLM, Qwen3Config, Qwen3MoeConfig

    sizes = SHAPES[shape]
    kind = Qwen3MoeConfig if "num_experts" in sizes else Qwen3Config
    config = kind(max_position_embeddings=40960, rms_norm_eps=1e-6, rope_theta=1e6, **sizes)
    previous = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.device(device):
            model = AutoModelForCausalLM.from_config(config, attn_implementation=attention)
    finally:
        torch.set_default_dtype(previous)
    return model.eval()


def prompts(arguments, seed):
    draw = random.Random(seed)
    tokens = lambda count: [draw.randrange(10, 150000) for _ in range(count)]
    template = random.Random(0).choices(range(10, 150000), k=arguments.template_tokens)
    return lambda count: [template + tokens(arguments.input_tokens) for _ in range(count)]


def generation(arguments):
    """The generation configuration, with what this version of transformers knows of it."""
    from transformers import GenerationConfig

    options = dict(max_new_tokens=max(arguments.output_tokens, 1), do_sample=False, eos_token_id=-1, pad_token_id=0)
    config = GenerationConfig(**options)
    if arguments.max_batch_tokens:
        config.max_batch_tokens = arguments.max_batch_tokens
    return config


def wait(device):
    import torch

    if device == "cuda":
        torch.cuda.synchronize()


def run(model, inputs, config, _):
    """Seconds and generated tokens."""
    import torch

    options = {}
    if "progress_bar" in inspect.signature(model.generate_batch).parameters:
        options["progress_bar"] = False
    wait(model.device.type)
    started = time.perf_counter()
    with torch.inference_mode():
        outputs = model.generate_batch(inputs=inputs, generation_config=config, **options)
    wait(model.device.type)
    seconds = time.perf_counter() - started
    generated = sum(len(output.generated_tokens) for output in outputs.values())
    if len(outputs) != len(inputs):
        sys.exit(f"compare_gpu: {len(outputs)} of {len(inputs)} samples came back")
    return seconds, generated


def run_static(model, inputs, config, batch):
    """The same with a static cache, `batch` samples at a time, all as long."""
    import torch

    config.cache_implementation = "static"
    generated = 0
    wait(model.device.type)
    started = time.perf_counter()
    for first in range(0, len(inputs), batch):
        prompts = torch.tensor(inputs[first:first + batch], device=model.device)
        output = model.generate(prompts, attention_mask=torch.ones_like(prompts), generation_config=config)
        generated += output.shape[0] * (output.shape[1] - prompts.shape[1])
    wait(model.device.type)
    return time.perf_counter() - started, generated


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=sorted(SHAPES), default="qwen3-8b")
    parser.add_argument("--samples", type=int, default=512)
    parser.add_argument("--template-tokens", type=int, default=1300)
    parser.add_argument("--input-tokens", type=int, default=1500)
    parser.add_argument("--output-tokens", type=int, default=300)
    parser.add_argument("--max-batch-tokens", type=int, default=0, help="0: transformers decides")
    parser.add_argument("--way", choices=["continuous", "static"], default="continuous")
    parser.add_argument("--batch", type=int, default=64, help="samples at a time with a static cache; --samples is a multiple")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--attention", nargs="*", help="implementations to try, the first that runs is measured")
    arguments = parser.parse_args()

    try:
        import torch
        import transformers
    except ImportError as error:
        sys.exit(f"compare_gpu: {error}; needs torch and transformers")
    static = arguments.way == "static"
    if static and arguments.samples % arguments.batch != 0:
        sys.exit("compare_gpu: --samples is to be a multiple of --batch")
    if arguments.device == "cuda" and not torch.cuda.is_available():
        sys.exit("compare_gpu: torch finds no GPU")

    make = prompts(arguments, 1)
    config = generation(arguments)
    ways = {"continuous": ["paged|flash_attention_2", "flash_attention_2", "paged|sdpa", "sdpa"], "static": ["sdpa", "eager"]}
    measure, warm = (run_static, arguments.batch) if static else (run, 8)
    reasons = []
    for attention in arguments.attention or ways[arguments.way]:
        model = None
        try:
            model = build(arguments.shape, attention, arguments.device)
            measure(model, make(warm), config, arguments.batch)
        except Exception as error:  # noqa: BLE001: whatever this version of transformers does not do
            reasons.append(f"{attention}: {type(error).__name__}: {error}")
            del model
            torch.cuda.empty_cache()
            continue
        seconds, generated = measure(model, make(arguments.samples), config, arguments.batch)
        print(json.dumps({
            "verdicts_per_second": arguments.samples / seconds,
            "output_tokens_per_second": generated / seconds,
            "seconds": seconds,
            "samples": arguments.samples,
            "way": arguments.way,
            "compiled": getattr(model, "_compiled_call", None) is not None,
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "attention": attention,
            "gpu": torch.cuda.get_device_name(0) if arguments.device == "cuda" else "none",
        }))
        return
    sys.exit("compare_gpu: no implementation of attention runs:\n  " + "\n  ".join(reasons))


if __name__ == "__main__":
    main()
