"""Greedy decoding of many prompts at once behind one shared template, with a KV cache."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

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
        late = torch.arange(width)[None] > lengths[:, None]
        mask = F.pad(late * -1e4, (self.start, 0))[:, None, None, None]
        x = model.embed_tokens(token)[:, None]
        for layer, (keys, values), (early_k, early_v) in zip(
            model.layers, caches, self.prefix, strict=True
        ):
            attention = layer.self_attn
            q, k, v = attention.project(layer.input_layernorm(x), cos, sin)
            keys[rows, :, lengths], values[rows, :, lengths] = k[:, :, 0], v[:, :, 0]
            k, v = (
                torch.cat((early.expand(len(token), -1, -1, -1), own[:, :, :width]), 2)
                for early, own in ((early_k, keys), (early_v, values))
            )
            x = x + attention.attend(q, k, v, mask)
            x = x + layer.mlp(layer.post_attention_layernorm(x))
        return model.norm(x)[:, 0]
