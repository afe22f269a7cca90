"""Train the tiny judge on one or two CPU cores.

    python train.py --stage short --workers 2 --steps 3500 --rate 1.0 0.75 --seed 1 \\
        --out runs/short.pt
    python train.py --stage full --workers 2 --steps 2000 --rate 0.75 0.0 --seed 2 \\
        --init runs/short.pt --out runs/full.pt
    python train.py --stage full --device cuda --feeders 14 --tokens 32768 --minutes 5 --rate 1.0 0.0 \\
        --init runs/short.pt --out runs/full.pt

Stage `short` leaves the instruction part of the prompt out, which halves the cost of an
example; stage `full` ends the training behind the whole template, whose keys and values
are computed once per batch, without gradient, and shared by the rows.  With `--workers 2`
two processes of one thread each draw their own batches and average their gradients.  A run
is determined by its options and its seed.  Checkpoints are written every minute, at the end and
on SIGTERM.  With `--feeders` other processes draw the batches; they are forked before the GPU is
touched, so that they start at once, and `--minutes` counts from the first step (`--within` from the start of the program).
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import queue
import random
import signal
import time
from collections import defaultdict
from pathlib import Path

import torch
from torch import multiprocessing
from torch.nn import functional as F

import fused
import tokenizer as vocabulary
from data import ROLES, Batch, Encoder, Mix, Row, batches, collate
from layout import target
from model import ATTENTIONS, Config, Judge, RMSNorm
from muon import Muon
from problems import generate, outside
from problems.marks import Lost, solutions
from problems.retell import tell

STARTED = time.time()
WATCHED = (
    "domain_in", "domain_out", "numbers", "read", "source", "nowhere", "part", "sum", "redo", "redo_wrong", "quotient",
    "same", "differs", "reaches", "matches", "flaw", "flags", "process", "outcome", "perfect", "drill",
)  # fmt: skip

WEIGHTS = {"domain_in": 5.0, "domain_out": 5.0, "flaw": 2.0, "flags": 2.0, "numbers": 2.0, "read": 2.0, "nowhere": 0.6}
"""How much a token counts in the loss, where not 1: a row decides its domain in a single token, and that a number is from nowhere is seldom sure."""


def parse() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stage", choices=("short", "full"), default="short")
    length = parser.add_mutually_exclusive_group(required=True)
    length.add_argument("--steps", type=int)
    length.add_argument("--minutes", type=float, help="instead of steps; not reproducible")
    length.add_argument("--within", type=float, metavar="SECONDS", help="the same, counted from the start of the program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--init", type=Path, help="a checkpoint to go on from")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, default=vocabulary.FOLDER, help="folder of tokenizer.json")
    parser.add_argument("--tokens", type=int, default=2816, help="tokens in a batch")
    parser.add_argument(
        "--rate",
        type=float,
        nargs=2,
        default=(1.0, 1.0),
        metavar=("FROM", "TO"),
        help="factor on the learning rates at the start and at the end",
    )
    parser.add_argument("--hold", type=float, default=0.0, help="share of steps before the decay")
    parser.add_argument("--muon", type=float, default=4e-3, help="learning rate of the matrices")
    parser.add_argument("--adam", type=float, default=2e-3, help="learning rate of all else")
    parser.add_argument("--shape", type=json.loads, default={}, help="JSON over model.Config")
    parser.add_argument("--mix", type=json.loads, default={}, help="JSON over data.Mix")
    parser.add_argument("--real", type=Path, help="GSM8K's training set with calculator marks; a third of its questions is kept out")
    parser.add_argument("--workers", type=int, default=1, help="processes of one thread")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--feeders", type=int, default=0, help="processes that draw the batches (for a GPU)")
    parser.add_argument("--attention", choices=("fastest", *ATTENTIONS), default="fastest", help="on a GPU; `fastest` tries all")
    parser.add_argument("--slim", action="store_true", help="checkpoints without the optimizers' state")
    parser.add_argument("--every", type=int, default=500, help="steps between evaluations")
    return parser.parse_args()  # fmt: skip


def feed(encoder: Encoder, mix: Mix, tokens: int, seed: int, channel) -> None:
    """A feeder: draws batches for ever."""
    torch.set_num_threads(1)
    os.nice(5)
    while True:
        try:
            for batch in batches(encoder, random.Random(seed), mix, tokens):
                ids, where, labels, roles = (part.numpy() for part in (batch.ids, batch.where, batch.labels, batch.roles))
                channel.put((ids.astype("uint16"), where.astype("int32"), labels.astype("uint16"), roles.astype("uint8")))
        except (BrokenPipeError, KeyboardInterrupt):
            return
        except Exception as problem:  # noqa: BLE001 - a row that cannot be drawn must not cost the run a feeder
            print(f"a feeder begins anew after {problem!r}", flush=True)
            seed += 10_007


class Feeders:
    """An endless stream of batches from several processes, in the order in which they come."""

    def __init__(self, options: argparse.Namespace, encoder: Encoder, seed: int):
        os.environ["TOKENIZERS_PARALLELISM"] = "false"
        gc.collect()
        gc.freeze()  # what is loaded stays shared
        context = multiprocessing.get_context("fork")
        self.channel = context.Queue(4 * options.feeders)
        self.processes = [
            context.Process(target=feed, args=(encoder, Mix(**options.mix), options.tokens, seed + 101 * index, self.channel), daemon=True)
            for index in range(options.feeders)
        ]
        for process in self.processes:
            process.start()

    def __iter__(self):
        return self

    def __next__(self) -> Batch:
        while True:
            try:
                return Batch(*(torch.from_numpy(part.astype("int64")) for part in self.channel.get(timeout=10)))
            except queue.Empty:
                if not any(process.is_alive() for process in self.processes):
                    raise RuntimeError("every feeder has ended") from None

    def stop(self) -> None:
        """End the processes."""
        for process in self.processes:
            process.terminate()


class Together:
    """Averages gradients between the workers of a run, through shared memory."""

    def __init__(self, workers: int, parameters: int):
        self.workers = workers
        self.memory = torch.zeros(workers, parameters).share_memory_()
        self.progress = torch.zeros(1).share_memory_()
        self.barrier = multiprocessing.get_context("spawn").Barrier(workers)

    def average(self, rank: int, parameters: list[torch.nn.Parameter], progress: float) -> float:
        """Give every worker the mean gradient and the first worker's progress."""
        if rank == 0:
            self.progress[0] = progress
        torch.cat([p.grad.flatten() for p in parameters], out=self.memory[rank])
        self.barrier.wait()
        mean, progress = self.memory.mean(0), self.progress.item()
        self.barrier.wait()
        for part, p in zip(mean.split([p.numel() for p in parameters]), parameters, strict=True):
            p.grad.copy_(part.view_as(p))
        return progress


def encoder_of(options: argparse.Namespace) -> Encoder:
    """The encoder with the real solutions."""
    encoder = Encoder(options.tokenizer)
    encoder.real = solutions(options.real) if options.real else []
    return encoder


class Trainer:
    """Model, optimizers and prefix of one run."""

    def __init__(
        self, options: argparse.Namespace, rank: int = 0, together: Together | None = None, encoder: Encoder | None = None
    ):
        torch.manual_seed(options.seed)
        self.options, self.rank, self.together = options, rank, together
        self.encoder = encoder or encoder_of(options)
        state = torch.load(options.init, weights_only=True, map_location="cpu") if options.init else None
        shape = state["config"] if state else options.shape
        shape = {"vocab_size": self.encoder.trusted.get_vocab_size(), **shape}
        self.model = Judge(Config(**shape))
        if state:
            self.model.load_state_dict(state["model"])
        self.model.to(options.device)
        matrices, others = [], []
        for name, parameter in self.model.named_parameters():
            is_matrix = parameter.ndim == 2 and "embed" not in name
            (matrices if is_matrix else others).append(parameter)
        self.optimizers = [
            Muon(matrices, lr=options.muon),
            torch.optim.AdamW(
                others, lr=options.adam, betas=(0.9, 0.98), weight_decay=0.0, fused=True
            ),
        ]
        self.base = [options.muon, options.adam]
        self.warming = 20 if state and "optimizers" in state else 100
        if state and "optimizers" in state:
            for optimizer, saved in zip(self.optimizers, state["optimizers"], strict=True):
                optimizer.load_state_dict(saved)
        prefix = self.encoder.template if options.stage == "full" else self.encoder.prefix
        self.prefix = torch.tensor([prefix], device=options.device)
        self.past, self.age = None, 0
        self.weights = torch.ones(len(ROLES), device=options.device)
        for role, weight in WEIGHTS.items():
            self.weights[ROLES.index(role)] = weight
        self.model.precision = torch.bfloat16

    def predict(self, batch: Batch):
        """Scores at the positions of a batch that predict."""
        if self.past is None or self.age % 4 == 0:  # the weights change little in four steps
            with torch.no_grad():
                self.past = self.model(self.prefix)[1]
        self.age += 1
        hidden, _ = self.model(batch.ids, self.past, self.prefix.shape[1])
        return self.model.logits(hidden.flatten(0, 1).index_select(0, batch.where))

    def choose_attention(self, rows: int = 64, length: int = 320) -> None:
        """Take the fastest way to attend that gives what the plain one does, forward and backward."""
        device, layer = self.options.device, self.model.layers[0].self_attn
        generator = torch.Generator("cpu").manual_seed(1)
        prefix = self.prefix.shape[1]

        def normal(*shape):
            return torch.randn(*shape, generator=generator).to(device, torch.bfloat16)

        q, k, v = (normal(rows, heads, at, layer.dim) * by for heads, at, by in
                   ((layer.heads, length, layer.dim**-0.5), (layer.kv_heads, prefix + length, 1), (layer.kv_heads, prefix + length, 1)))
        mask = torch.full((length, length), -1e4, dtype=q.dtype, device=device).triu(1)
        found, wanted, times = [], None, {}
        for way in ATTENTIONS:
            layer.way = way
            try:
                inputs = [part.clone().requires_grad_() for part in (q, k, v)]
                out = layer.attend(*inputs, mask)
                out.float().square().mean().backward()
                got = [out.detach().float(), *(part.grad.float() for part in inputs)]
                wanted = wanted or got
                error = max(((g - w).norm() / w.norm()).item() for g, w in zip(got, wanted, strict=True))
                torch.cuda.synchronize()
                begun = time.time()
                for _ in range(10):
                    layer.attend(*inputs, mask).float().square().mean().backward()
                torch.cuda.synchronize()
                times[way] = (time.time() - begun) / 10
                print(f"attention {way}: {1000 * times[way]:.2f} ms, differs by {error:.1e}", flush=True)
                if error < 0.02:
                    found.append(way)
            except (RuntimeError, TypeError, ValueError) as problem:
                print(f"attention {way}: {problem}", flush=True)
        self.model.zero_grad()
        best = min(found, key=times.get, default="plain")
        self.model.attend_by(best)
        print(f"attention: {best}", flush=True)

    def choose_norms(self, tokens: int = 32_768) -> None:
        """Take torch's own norm for the norms of each size, where it gives the same and is faster, forward and backward."""
        layer, device = self.model.layers[0], self.options.device
        for norm, shape in ((layer.input_layernorm, (tokens,)), (layer.self_attn.q_norm, (tokens, layer.self_attn.heads))):
            size, found = norm.weight.numel(), {}
            x = torch.randn(*shape, size, generator=torch.Generator("cpu").manual_seed(1)).to(device, torch.bfloat16)
            try:
                for fused in (False, True):
                    norm.fused = fused
                    for turn in range(12):
                        if turn == 2:
                            torch.cuda.synchronize()
                            begun = time.time()
                        inputs = x.clone().requires_grad_()
                        out = norm(inputs)
                        norm.weight.grad = None
                        out.backward(x.flip(0))
                    torch.cuda.synchronize()
                    found[fused] = time.time() - begun, [part.float() for part in (out.detach(), inputs.grad, norm.weight.grad)]
                errors = [((g - w).norm() / w.norm()).item() for g, w in zip(found[True][1], found[False][1], strict=True)]
                print(f"norms of {size}: {100 * found[False][0]:.2f} ms, torch's {100 * found[True][0]:.2f} ms, differ by {max(errors):.1e}", flush=True)
                better = found[True][0] < found[False][0] and max(errors) < 0.02
            except RuntimeError as problem:
                print(f"norms of {size}: {problem}", flush=True)
                better = False
            for module in self.model.modules():
                if isinstance(module, RMSNorm) and module.weight.numel() == size:
                    module.fused = better
        self.model.zero_grad()

    def here(self, batch: Batch) -> Batch:
        """The batch on the device of the model."""
        ids, where, labels = (part.to(self.options.device, non_blocking=True) for part in (batch.ids, batch.where, batch.labels))
        return Batch(ids, where, labels, batch.roles)

    def step(self, batch: Batch, step: int, progress: float) -> tuple[float, float]:
        """One update; returns the loss and the progress all workers agree on."""
        batch = self.here(batch)
        weights = self.weights[batch.roles.to(self.weights.device)]
        losses = F.cross_entropy(self.predict(batch), batch.labels, reduction="none")
        loss = (losses * weights).sum() / weights.sum()
        loss.backward()
        if self.together:
            progress = self.together.average(self.rank, list(self.model.parameters()), progress)
        start, end = self.options.rate
        through = max(0.0, (progress - self.options.hold) / (1 - self.options.hold))
        factor = (start + (end - start) * min(1.0, through)) * min(1.0, step / self.warming)
        others = self.optimizers[1].param_groups[0]["params"]
        torch.nn.utils.clip_grad_norm_(others, 1.0)
        for optimizer, rate in zip(self.optimizers, self.base, strict=True):
            for group in optimizer.param_groups:
                group["lr"] = rate * factor
            optimizer.step()
            optimizer.zero_grad()
        return loss.detach(), progress

    @torch.no_grad()
    def gate(self, rows: list[Row]) -> tuple[dict[str, float], float]:
        """Share of right tokens per role, and of rows that are right throughout."""
        self.past = None
        hits, totals, whole = defaultdict(int), defaultdict(int), 0
        for start in range(0, len(rows), 16):
            batch = self.here(collate(rows[start : start + 16], self.encoder.end))
            right = self.predict(batch).argmax(-1) == batch.labels
            for role, hit in zip(batch.roles.tolist(), right.tolist(), strict=True):
                hits[ROLES[role]] += hit
                totals[ROLES[role]] += 1
            lines = batch.where // batch.ids.shape[1]
            whole += len(rows[start : start + 16]) - len(set(lines[~right].tolist()))
        return {role: hits[role] / totals[role] for role in totals}, whole / len(rows)

    def save(self, path: Path, step: int) -> None:
        """Write a checkpoint, atomically."""
        path.parent.mkdir(parents=True, exist_ok=True)
        state = {
            "config": self.model.config.to_dict(),
            "model": {name: value.cpu() for name, value in self.model.state_dict().items()},
            "step": step,
        }
        if not self.options.slim:
            state["optimizers"] = [optimizer.state_dict() for optimizer in self.optimizers]
        torch.save(state, path.with_suffix(".tmp"))
        path.with_suffix(".tmp").rename(path)


def gate_rows(encoder: Encoder, split: str, count: int, seed: int) -> list[Row]:
    """Fixed problems on which a run is watched; half of them with noisy students."""
    rng = random.Random(seed)
    rows = []
    for index in range(count):
        example = outside(rng, split) if index % 6 == 5 else generate(rng, split=split, noisy=index % 3 == 1)
        rows.append(encoder.row(encoder.prompt(example), target(example, with_reason=False)))
    return sorted(rows, key=lambda row: len(row.ids))


def real_rows(encoder: Encoder, path: Path, count: int, seed: int) -> list[Row]:
    """Fixed tellings of questions that are kept out of training."""
    rng, rows, held = random.Random(seed), [], solutions(path, held=True)
    while len(rows) < count:
        try:
            example = tell(rng.choice(held), rng)
        except Lost:
            continue
        rows.append(encoder.row(encoder.prompt(example), target(example, with_reason=False)))
    return sorted(rows, key=lambda row: len(row.ids))


def run(rank: int, options: argparse.Namespace, together: Together | None) -> None:
    """One worker; the first also evaluates, prints and saves."""
    torch.set_num_threads(1)
    if options.device == "cpu" and not fused.install() and rank == 0:
        print("no AVX-512 for bf16 or no g++: training with torch's own operations, about three times slower", flush=True)
    started = time.time()
    encoder = encoder_of(options)
    feeders = Feeders(options, encoder, 1000 * options.seed + 17 * rank) if options.feeders else None
    stream = feeders or batches(encoder, random.Random(1000 * options.seed + rank), Mix(**options.mix), options.tokens)
    trainer = Trainer(options, rank, together, encoder)
    first = rank == 0
    watched = {}
    if first:
        splits = ("domain", "heldout")
        watched = {split: gate_rows(encoder, split, 72, 77) for split in splits}
        if options.real:
            watched["real"] = real_rows(encoder, options.real, 96, 77)
        parameters = sum(p.numel() for p in trainer.model.parameters())
        print(f"{parameters / 1e6:.2f} M parameters, prefix {trainer.prefix.shape[1]}", flush=True)
    if options.device != "cpu" and options.attention == "fastest":
        trainer.choose_attention()
        trainer.choose_norms()
    elif options.attention != "fastest":
        trainer.model.attend_by(options.attention)
    stopped: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stopped.append(number))  # ends with a checkpoint
    batch = next(stream)
    begun = saved = time.time()
    if first:
        print(f"first batch after {begun - started:.1f} s", flush=True)
    if options.within:
        options.minutes = max(1.0, options.within - (begun - STARTED)) / 60
    losses, rows, waited, step, progress = [], 0, 0.0, 0, 0.0
    while progress < 1:
        step += 1
        now = time.time()
        if step > 1 and not stopped:  # the feeders may have been stopped too
            batch = next(stream)
            waited += time.time() - now
        elapsed = (time.time() - begun) / 60
        progress = step / options.steps if options.steps else elapsed / options.minutes
        progress = 1.0 if stopped else progress
        rows += len(batch.ids) * options.workers
        loss, progress = trainer.step(batch, step, progress)
        losses.append(loss)
        if not first:
            continue
        if step % 50 == 0:
            speed = rows / (time.time() - begun)
            print(
                f"{step} rows {rows} loss {torch.stack(losses).mean().item():.4f} {speed:.1f}/s"
                f" progress {progress:.3f} waited {100 * waited / (time.time() - begun):.0f} %",
                flush=True,
            )
            losses = []
        if time.time() - saved > 60 or progress >= 1:
            trainer.save(options.out, step)
            saved = time.time()
        if step % options.every == 0 or progress >= 1 and not stopped:
            for split, fixed in watched.items():
                shares, whole = trainer.gate(fixed)
                line = " ".join(f"{r} {100 * shares[r]:.1f}" for r in WATCHED if r in shares)
                print(f"  {split}: whole {100 * whole:.1f} | {line}", flush=True)
    if feeders:
        feeders.stop()


def main() -> None:
    """Run one stage."""
    options = parse()
    if options.workers == 1:
        return run(0, options, None)
    shape = Trainer(options).model.parameters()
    together = Together(options.workers, sum(p.numel() for p in shape))
    multiprocessing.spawn(run, (options, together), nprocs=options.workers)


if __name__ == "__main__":
    main()
