"""The tiny judge's network: Qwen3 in plain torch, written for training on one CPU core.

The parameters carry the names of transformers' `Qwen3ForCausalLM` without the leading
`model.`, so that an export is a rename.  Two things differ from the reference code, not
the mathematics: the rows of a batch may share one prefix (the prompt template) whose keys
and values are computed once, and the attention keeps grouped heads together, so that keys
are never repeated.  On a GPU torch's fused attention takes its place (`ATTENTIONS`).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.attention.bias import causal_lower_right

ATTENTIONS = ("plain", "corner", "masked", "grouped")
"""Ways to attend behind a prefix: scores in full; fused kernels with a causal mask in the lower right corner, with a mask in full, or with the
corner and keys that are not repeated for the queries that share them."""

KV = tuple[Tensor, Tensor]
"""Keys and values of one layer, each [rows, kv heads, positions, head_dim]."""


@dataclass(frozen=True)
class Config:
    """The shape of a judge, in the words of Qwen3's config.json."""

    vocab_size: int
    hidden_size: int = 192
    intermediate_size: int = 512
    num_hidden_layers: int = 6
    num_attention_heads: int = 4
    num_key_value_heads: int = 2
    head_dim: int = 32
    rope_theta: float = 10_000.0
    rms_norm_eps: float = 1e-6
    max_position_embeddings: int = 4096

    def to_dict(self) -> dict:
        """As a plain dictionary."""
        return asdict(self)


class Linear(nn.Linear):
    """A linear map without bias, in the precision of its input."""

    def __init__(self, inputs: int, outputs: int):
        super().__init__(inputs, outputs, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight.to(x.dtype))


class RMSNorm(nn.Module):
    """Root-mean-square norm with a learnt scale."""

    fused = False
    """Whether torch's own operation does it; `Trainer.choose_norms` finds out whether that is worth it."""

    def __init__(self, size: int, eps: float):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        if self.fused:
            return F.rms_norm(x, x.shape[-1:], self.weight.to(x.dtype), self.eps)
        length = torch.linalg.vector_norm(x, dim=-1, keepdim=True, dtype=torch.float32)
        scale = torch.rsqrt(length.square() / x.shape[-1] + self.eps)
        return x * scale.to(x.dtype) * self.weight.to(x.dtype)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary embedding of x [..., positions, head_dim], in the half-split convention."""
    first, second = x.chunk(2, -1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)


class Attention(nn.Module):
    """Grouped-query attention with normed queries and keys, causal after a shared prefix."""

    def __init__(self, c: Config):
        super().__init__()
        self.heads, self.kv_heads, self.dim = (
            c.num_attention_heads,
            c.num_key_value_heads,
            c.head_dim,
        )
        self.q_proj = Linear(c.hidden_size, self.heads * self.dim)
        self.k_proj = Linear(c.hidden_size, self.kv_heads * self.dim)
        self.v_proj = Linear(c.hidden_size, self.kv_heads * self.dim)
        self.o_proj = Linear(self.heads * self.dim, c.hidden_size)
        self.q_norm = RMSNorm(self.dim, c.rms_norm_eps)
        self.k_norm = RMSNorm(self.dim, c.rms_norm_eps)
        self.way = "plain"

    def project(self, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries (scaled), keys and values, each [rows, heads, length, dim]."""
        shape = (*x.shape[:2], -1, self.dim)
        q = self.q_norm(self.q_proj(x).view(shape)).transpose(1, 2)
        k = self.k_norm(self.k_proj(x).view(shape)).transpose(1, 2)
        v = self.v_proj(x).view(shape).transpose(1, 2)
        scale = self.dim**-0.5
        return rotate(q, cos * scale, sin * scale), rotate(k, cos, sin), v

    def attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
        """The output for all queries; `mask` covers the last keys and broadcasts over [rows, kv, group, length, keys]."""
        rows, heads, length, dim = q.shape
        if self.way != "plain":
            shared = self.way == "grouped"
            if not shared:
                group = heads // self.kv_heads
                k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
            bias = F.pad(mask, (k.shape[2] - length, 0)) if self.way == "masked" else causal_lower_right(length, k.shape[2])
            out = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=1.0, enable_gqa=shared)
            return self.o_proj(out.transpose(1, 2).reshape(rows, length, heads * dim))
        # All queries that look at one key head go together, so that keys are not repeated.
        grouped = q.reshape(rows, self.kv_heads, -1, dim)
        scores = grouped @ k.transpose(-1, -2)
        scores = scores.view(rows, self.kv_heads, -1, length, k.shape[2])
        scores[..., -mask.shape[-1] :] += mask  # what comes before is open to all queries
        out = scores.softmax(-1).view(rows, self.kv_heads, -1, k.shape[2]) @ v
        out = out.view(rows, heads, length, dim).transpose(1, 2)
        return self.o_proj(out.reshape(rows, length, heads * dim))

    def forward(
        self, x: Tensor, cos: Tensor, sin: Tensor, mask: Tensor, past: KV | None
    ) -> tuple[Tensor, KV]:
        q, k, v = self.project(x, cos, sin)
        new = (k, v)
        if past is not None:
            k, v = (
                torch.cat((old.expand(len(x), -1, -1, -1), own), 2)
                for old, own in zip(past, new, strict=True)
            )
        return self.attend(q, k, v, mask), new


class MLP(nn.Module):
    """The gated feed-forward part (SwiGLU)."""

    def __init__(self, c: Config):
        super().__init__()
        self.gate_proj = Linear(c.hidden_size, c.intermediate_size)
        self.up_proj = Linear(c.hidden_size, c.intermediate_size)
        self.down_proj = Linear(c.intermediate_size, c.hidden_size)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    """One decoder layer: attention and MLP, each behind a norm and beside a residual."""

    def __init__(self, c: Config):
        super().__init__()
        self.input_layernorm = RMSNorm(c.hidden_size, c.rms_norm_eps)
        self.self_attn = Attention(c)
        self.post_attention_layernorm = RMSNorm(c.hidden_size, c.rms_norm_eps)
        self.mlp = MLP(c)

    def forward(self, x, cos, sin, mask, past):
        attended, new = self.self_attn(self.input_layernorm(x), cos, sin, mask, past)
        x = x + attended
        return x + self.mlp(self.post_attention_layernorm(x)), new


class Judge(nn.Module):
    """The decoder; its output head is the transposed embedding (tied)."""

    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.norm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        inverse = config.rope_theta ** (-torch.arange(0, config.head_dim, 2) / config.head_dim)
        angles = torch.arange(config.max_position_embeddings)[:, None] * inverse
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)
        self.precision = torch.float32
        self.apply(self._initialise)

    def attend_by(self, way: str) -> None:
        """Choose one of `ATTENTIONS`."""
        for layer in self.layers:
            layer.self_attn.way = way

    def _initialise(self, module: nn.Module) -> None:
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=module.in_features**-0.5)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)
        for name in ("o_proj", "down_proj"):
            if hasattr(module, name):
                nn.init.zeros_(getattr(module, name).weight)

    def forward(
        self, ids: Tensor, past: list[KV] | None = None, start: int = 0
    ) -> tuple[Tensor, list[KV]]:
        """Hidden states of `ids` [rows, length] and their keys and values.

        `past` is a prefix shared by all rows (one row, broadcast) or their own past;
        `start` is the position of the first of `ids`.
        """
        length = ids.shape[1]
        x = self.embed_tokens(ids).to(self.precision)
        cos = self.cos[start : start + length].to(x.dtype)
        sin = self.sin[start : start + length].to(x.dtype)
        mask = torch.full((length, length), -1e4, dtype=x.dtype, device=x.device).triu(1)
        kept = []
        for index, layer in enumerate(self.layers):
            x, new = layer(x, cos, sin, mask, None if past is None else past[index])
            kept.append(new)
        return self.norm(x), kept

    def logits(self, hidden: Tensor) -> Tensor:
        """Scores over the vocabulary."""
        return F.linear(hidden, self.embed_tokens.weight.to(hidden.dtype)).float()
