#!/usr/bin/env bash
# trl 1.16.0 (transformers 5.24.0, torch 2.15.0): a reward function of weight 0, there to be logged, turns "no verdict" into "wrong".
#
# A reward function of GRPO may return `None` for a completion that it cannot judge. Where it is the only one, that completion is left out of
# its group's mean and its advantage is 0. One would expect the same beside a second function with `reward_weights=[1.0, 0.0]`, since nothing
# of the latter is in the reward. Seen: a completion is left out only where all functions returned `None`, whatever their weights; otherwise
# the `None` is summed as 0, the reward of a wrong answer. The completion's advantage is negative, and the advantages of its group move with
# it. With `multi_objective_aggregation="normalize_then_sum"` it is the group's mean instead, and only the others move. The logged mean of the
# judge is over what it judged in each case.
#
# Whom it hits: judges and verifiers that leave answers open (time-outs, unreadable verdicts, unparsable golds), as soon as a length, a format
# or a metric is logged beside them.
#
# Trains one step of a random model on four completions with the verdicts right, wrong, none, none; prints their advantages. Exits with 1 if
# the second function changes nothing, or the first alone gives another advantage than 0 to those without a verdict.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q trl==1.16.0 transformers==5.24.0 torch==2.15.0 tokenizers==0.23.3
cat >"$work/try.py" <<'PYTHON'
import sys

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, PrinterCallback
from trl import GRPOConfig, GRPOTrainer

words = Tokenizer(models.WordLevel({word: number for number, word in enumerate(["<pad>", "<end>", *"abcdefgh"])}, unk_token="<pad>"))
words.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<end>")
VERDICTS = [1.0, 0.0, None, None]


def judge(completions, **columns):
    return VERDICTS


def length(completions, completion_ids, **columns):
    return [float(len(ids)) for ids in completion_ids]


def advantages(functions, weights, aggregation):
    torch.manual_seed(0)
    size = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 2}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), pad_token_id=0, eos_token_id=1, **size))
    settings = GRPOConfig(
        output_dir=sys.argv[1],
        reward_weights=weights,
        multi_objective_aggregation=aggregation,
        num_generations=len(VERDICTS),
        per_device_train_batch_size=len(VERDICTS),
        max_completion_length=4,
        max_steps=1,
        report_to="none",
        use_cpu=True,
        bf16=False,
        disable_tqdm=True,
        save_strategy="no",
    )
    data = Dataset.from_dict({"prompt": ["a b c"]})
    trainer = GRPOTrainer(model=model, reward_funcs=functions, args=settings, train_dataset=data, processing_class=tokenizer)
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    logged = trainer.state.log_history[0]
    return [round(value, 3) for value in trainer._logs["advantages"]], logged["rewards/judge/mean"]


changed = False
for aggregation in ("sum_then_normalize", "normalize_then_sum"):
    alone, mean = advantages([judge], [1.0], aggregation)
    beside, mean_beside = advantages([judge, length], [1.0, 0.0], aggregation)
    print(f"{aggregation}: verdicts {VERDICTS}")
    print(f"  the judge alone            {alone}, its mean {mean}")
    print(f"  and a length of weight 0   {beside}, its mean {mean_beside}")
    changed |= alone[2:] != [0.0, 0.0]
    if aggregation == "sum_then_normalize":
        changed |= not (beside[2] < -0.1 and beside[1] > alone[1] + 0.1)
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py" "$work"
