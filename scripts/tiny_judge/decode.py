"""Greedy decoding of many prompts at once behind one shared template, with a KV cache."""

from __future__ import annotations

import torch
from torch import Tensor

from model import Judge


class Decoder:
    """Decodes rows of unequal length together; each row keeps its own positions."""

    def __init__(self, model: Judge, template: list[int], stop: set[int], limit: int = 480):
        self.model, self.stop, self.limit = model.eval(), stop, limit
        self.start = len(template)
        with torch.no_grad():
            self.prefix = model(torch.tensor([template]))[1]

    @torch.no_grad()
    def greedy(self, prompts: list[list[int]]) -> list[list[int]]:
        """What the model writes after each prompt, the stop token included."""
        rows, longest = len(prompts), max(map(len, prompts))
        ids = torch.zeros(rows, longest, dtype=torch.long)
        for row, prompt in enumerate(prompts):
            ids[row, : len(prompt)] = torch.tensor(prompt)
        hidden, past = self.model(ids, self.prefix, self.start)
        lengths = torch.tensor([len(prompt) for prompt in prompts])
        last = hidden[torch.arange(rows), lengths - 1]
        caches = [
            tuple(
                torch.cat((t, t.new_zeros(rows, t.shape[1], self.limit, t.shape[3])), 2) for t in kv
            )
            for kv in past
        ]
        written: list[list[int]] = [[] for _ in prompts]
        active = list(range(rows))
        for _ in range(self.limit):
            token = self.model.logits(last).argmax(-1)
            going = []
            for place, (row, value) in enumerate(zip(active, token.tolist(), strict=True)):
                written[row].append(value)
                if value not in self.stop:
                    going.append(place)
            if not going:
                break
            if len(going) < 0.7 * len(active):  # else finished rows idle along and are cut below
                keep = torch.tensor(going)
                active = [active[place] for place in going]
                token, lengths = token[keep], lengths[keep]
                caches = [(k[keep], v[keep]) for k, v in caches]
            last = self._step(token, lengths, caches)
            lengths = lengths + 1
        return [self._cut(tokens) for tokens in written]

    def _cut(self, tokens: list[int]) -> list[int]:
        for index, token in enumerate(tokens):
            if token in self.stop:
                return tokens[: index + 1]
        return tokens

    def _step(self, token: Tensor, lengths: Tensor, caches) -> Tensor:
        """Hidden states after one more token per row; its keys and values go to the caches."""
        model, rows = self.model, torch.arange(len(token))
        width = int(lengths.max()) + 1
        cos = model.cos[self.start + lengths][:, None, None]
        sin = model.sin[self.start + lengths][:, None, None]
        late = (torch.arange(width)[None] > lengths[:, None])[:, None, None] * -1e4
        x = model.embed_tokens(token)[:, None]
        for layer, (keys, values), early in zip(model.layers, caches, self.prefix, strict=True):
            attention = layer.self_attn
            q, k, v = attention.project(layer.input_layernorm(x), cos, sin)
            keys[rows, :, lengths], values[rows, :, lengths] = k[:, :, 0], v[:, :, 0]
            x = x + self._attend(attention, q, (keys[:, :, :width], values[:, :, :width]), early, late)
            x = x + layer.mlp(layer.post_attention_layernorm(x))
        return model.norm(x)[:, 0]

    @staticmethod
    def _attend(attention, q: Tensor, own, early, late: Tensor) -> Tensor:
        """One query a row over the shared prefix, all rows in one product, and over the row's own past."""
        rows, kv, dim = len(q), attention.kv_heads, attention.dim
        q = q.view(rows, kv, -1, dim)
        group, start = q.shape[2], early[0].shape[2]
        together = q.transpose(0, 1).reshape(kv, rows * group, dim)
        shared = (together @ early[0][0].transpose(1, 2)).view(kv, rows, group, start).transpose(0, 1)
        weights = torch.cat((shared, q @ own[0].transpose(2, 3) + late), -1).softmax(-1)
        shared = weights[..., :start].transpose(0, 1).reshape(kv, rows * group, start) @ early[1][0]
        out = shared.view(kv, rows, group, dim).transpose(0, 1) + weights[..., start:] @ own[1]
        return attention.o_proj(out.reshape(rows, 1, -1))
