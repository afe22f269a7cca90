"""The training pass on a CPU with AMX, or with AVX-512 for bf16: `fused.cpp` in place of torch's many small operations.

The mathematics is that of model.py. Sums stay in f32, so that gradients lie about three times
closer to those of f32 than with torch's bf16 operations, and a step takes a third of the time.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from ctypes import c_float, c_int, c_void_p
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

import model

SOURCE = Path(__file__).with_name("fused.cpp")
FLAGS = "-O3 -march=native -ffast-math -fno-finite-math-only -shared -fPIC -std=c++17".split()
HALF = torch.bfloat16
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4
"""Options of glibc's `mallopt`."""
kernels: ctypes.CDLL


def build() -> Path | None:
    """The compiled kernels; None where the CPU has no AVX-512 for bf16 or there is no compiler."""
    info, compiler = Path("/proc/cpuinfo"), shutil.which("g++")
    if not compiler or not info.exists() or "avx512_bf16" not in info.read_text():
        return None
    library = Path("runs/fused.so").absolute()
    if not library.exists() or library.stat().st_mtime < SOURCE.stat().st_mtime:
        library.parent.mkdir(exist_ok=True)
        fresh = library.with_suffix(f".{os.getpid()}.so")
        subprocess.run([compiler, *FLAGS, SOURCE, "-o", fresh], check=True)
        fresh.rename(library)
    return library


def at(*tensors: Tensor) -> list[c_void_p]:
    """Where the numbers of contiguous tensors lie."""
    assert all(t.is_contiguous() for t in tensors)
    return [c_void_p(t.data_ptr()) for t in tensors]


class Prefix:
    """One layer's keys and values of the shared prefix, packed for the kernels."""

    def __init__(self, kv: model.KV):
        k, v = (t[0].contiguous() for t in kv)
        self.handle = c_void_p(kernels.prefix_new(*at(k, v), c_int(k.shape[1])))

    def __del__(self):
        kernels.prefix_free(self.handle)


class Attend(torch.autograd.Function):
    """Norm and rotation of queries and keys [rows, length, 256], then attention: [rows, length, 128]."""

    @staticmethod
    def forward(ctx, qkv, q_norm, k_norm, cos, sin, eps, prefix):
        rows, length, _ = qkv.shape
        size = c_int(rows), c_int(length)
        q = torch.empty(rows, 4, length, 32, dtype=HALF)
        k = torch.empty(rows, 2, length, 32, dtype=HALF)
        scales, sums = torch.empty(rows, length, 6), torch.empty(rows, 4, length)
        kernels.prepare(*at(qkv, q_norm, k_norm, cos, sin), c_float(eps), *size, *at(q, k, scales))
        out = torch.empty(rows, length, 128, dtype=HALF)
        kernels.forward(*at(q, k, qkv), prefix.handle, *size, *at(out, sums))
        ctx.save_for_backward(out, q, k, qkv, scales, sums, q_norm, k_norm, cos, sin)
        ctx.prefix = prefix
        return out

    @staticmethod
    def backward(ctx, gradient):
        *kept, q_norm, k_norm, cos, sin = ctx.saved_tensors
        qkv = kept[3]
        size = c_int(qkv.shape[0]), c_int(qkv.shape[1])
        result, of_q, of_k = torch.empty_like(qkv), torch.zeros_like(q_norm), torch.zeros_like(k_norm)
        prefix = ctx.prefix.handle
        gradient = gradient.contiguous()
        norms = at(q_norm, k_norm, cos, sin)
        kernels.backward(*at(gradient, *kept), prefix, *norms, *size, *at(result, of_q, of_k))
        return result, of_q, of_k, None, None, None, None


class Norm(torch.autograd.Function):
    """Root-mean-square norm."""

    @staticmethod
    def forward(ctx, x, weight, eps):
        x = x.contiguous()
        y, scales = torch.empty_like(x), torch.empty(x.shape[:-1])
        size = c_int(scales.numel()), c_int(x.shape[-1])
        kernels.norm_forward(*at(x, weight), c_float(eps), *size, *at(y, scales))
        ctx.save_for_backward(x, weight, scales)
        return y

    @staticmethod
    def backward(ctx, gradient):
        x, weight, scales = ctx.saved_tensors
        gradient = gradient.contiguous()
        of_x, of_weight = torch.empty_like(x), torch.zeros_like(weight)
        size = c_int(scales.numel()), c_int(x.shape[-1])
        kernels.norm_backward(*at(gradient, x, weight, scales), *size, *at(of_x, of_weight))
        return of_x, of_weight, None


class SwiGLU(torch.autograd.Function):
    """`silu(gate) * up` of [..., gate and up]."""

    @staticmethod
    def forward(ctx, both):
        y = both.new_empty(*both.shape[:-1], both.shape[-1] // 2)
        ctx.size = c_int(y.numel() // y.shape[-1]), c_int(y.shape[-1])
        kernels.swiglu_forward(*at(both), *ctx.size, *at(y))
        ctx.save_for_backward(both)
        return y

    @staticmethod
    def backward(ctx, gradient):
        (both,) = ctx.saved_tensors
        gradient, result = gradient.contiguous(), torch.empty_like(both)
        kernels.swiglu_backward(*at(gradient, both), *ctx.size, *at(result))
        return result


def joined(x: Tensor, *maps: model.Linear) -> Tensor:
    """Several linear maps of `x`, side by side."""
    return F.linear(x, torch.cat([m.weight for m in maps]).to(HALF))


def install() -> bool:
    """Train with the kernels from now on, where they can run; batches whose length is no multiple of 32 take the plain way."""
    global kernels
    library = build()
    if library is None:
        return False
    kernels = ctypes.CDLL(str(library))
    # Every batch has buffers of other sizes, some above the 32 MiB that glibc maps anew each time: clearing their pages took
    # 30 % of the time. All come from the heap, and its free pages go back to the system only now and then.
    libc = ctypes.CDLL(None)
    libc.mallopt(M_MMAP_MAX, 0)
    libc.mallopt(M_TRIM_THRESHOLD, 2_000_000_000)
    libc.mallopt(M_TOP_PAD, 256_000_000)
    kernels.prefix_new.restype = c_void_p
    plain = model.Judge.forward
    packed: tuple = (None, [])
    packings = 0

    def forward(self, ids: Tensor, past: list[model.KV] | None = None, start: int = 0):
        nonlocal packed, packings
        length, c = ids.shape[1], self.config
        shape = c.head_dim, c.num_attention_heads, c.num_key_value_heads
        if not past or self.precision != HALF or shape != (32, 4, 2) or length % 32 or len(past[0][0]) > 1:
            return plain(self, ids, past, start)
        if packed[0] is not past:
            packed = past, [Prefix(kv) for kv in past]
            packings += 1
            if packings % 50 == 0:
                libc.malloc_trim(0)
        x = self.embed_tokens(ids).to(HALF)
        cos, sin = self.cos[start : start + length], self.sin[start : start + length]
        for layer, prefix in zip(self.layers, packed[1], strict=True):
            attention, mlp, before, after = layer.self_attn, layer.mlp, layer.input_layernorm, layer.post_attention_layernorm
            qkv = joined(Norm.apply(x, before.weight, before.eps), attention.q_proj, attention.k_proj, attention.v_proj)
            norms = attention.q_norm.weight, attention.k_norm.weight
            x = x + attention.o_proj(Attend.apply(qkv, *norms, cos, sin, attention.q_norm.eps, prefix))
            both = joined(Norm.apply(x, after.weight, after.eps), mlp.gate_proj, mlp.up_proj)
            x = x + mlp.down_proj(SwiGLU.apply(both))
        return Norm.apply(x, self.norm.weight, self.norm.eps), []  # nothing attends to the rows of a batch

    model.Judge.forward = forward
    return True


def check() -> None:
    """Compare the gradients of a random model and batch with those of f32; the kernels must be closer than torch's bf16."""
    torch.manual_seed(1)
    judge = model.Judge(model.Config(vocab_size=300, num_hidden_layers=3))
    for parameter in judge.parameters():
        torch.nn.init.normal_(parameter, std=0.1 if parameter.ndim > 1 else 0.3)
    prefix, ids = torch.randint(300, (1, 75)), torch.randint(300, (3, 96))

    def gradients(precision: torch.dtype) -> list[Tensor]:
        judge.precision = precision
        judge.zero_grad()
        with torch.no_grad():
            past = judge(prefix)[1]
        scores = judge.logits(judge(ids, past, prefix.shape[1])[0])
        F.cross_entropy(scores[:, :-1].flatten(0, 1), ids[:, 1:].flatten()).backward()
        return [parameter.grad.clone() for parameter in judge.parameters()]

    def distances(found: list[Tensor]) -> list[float]:
        return [((a - b).norm() / b.norm()).item() for a, b in zip(found, exact, strict=True)]

    exact = gradients(torch.float32)
    plain = distances(gradients(HALF))
    assert install(), "no AVX-512 for bf16 or no g++"
    fused = distances(gradients(HALF))
    for (name, _), a, b in zip(judge.named_parameters(), plain, fused, strict=True):
        print(f"{name:45} torch {a:.4f} fused {b:.4f}")
    assert max(fused) < 0.1 and sum(fused) < sum(plain), "the kernels are wrong"


if __name__ == "__main__":
    check()
