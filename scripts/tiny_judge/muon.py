"""Muon: momentum whose update is orthogonalised, for weight matrices (Jordan et al., 2024)."""

from __future__ import annotations

from collections import defaultdict

import torch
from torch import Tensor

COEFFICIENTS = (3.4445, -4.7750, 2.0315)
"""The quintic that drives all singular values towards one."""


def orthogonalise(stack: Tensor, rounds: int = 5) -> Tensor:
    """The nearest semi-orthogonal matrices to a stack [n, rows, columns], roughly."""
    a, b, c = COEFFICIENTS
    x = stack.bfloat16()
    if wide := x.shape[1] > x.shape[2]:
        x = x.transpose(1, 2)
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(rounds):
        gram = x @ x.transpose(1, 2)
        x = a * x + (b * gram + c * gram @ gram) @ x
    return (x.transpose(1, 2) if wide else x).to(stack.dtype)


class Muon(torch.optim.Optimizer):
    """Nesterov momentum with orthogonalised updates; matrices of one shape go together."""

    def __init__(self, parameters, lr: float = 4e-3, momentum: float = 0.95, decay: float = 0.01):
        super().__init__(parameters, dict(lr=lr, momentum=momentum, decay=decay))

    @torch.no_grad()
    def step(self) -> None:
        for group in self.param_groups:
            by_shape = defaultdict(list)
            for parameter in group["params"]:
                if parameter.grad is not None:
                    by_shape[parameter.shape].append(parameter)
            for shape, members in by_shape.items():
                grads = [p.grad for p in members]
                buffers = [
                    self.state[p].setdefault("momentum", torch.zeros_like(p)) for p in members
                ]
                torch._foreach_lerp_(buffers, grads, 1 - group["momentum"])
                ahead = torch._foreach_lerp(grads, buffers, group["momentum"])
                updates = orthogonalise(torch.stack(ahead))
                scale = group["lr"] * max(1.0, shape[0] / shape[1]) ** 0.5
                torch._foreach_mul_(members, 1 - group["lr"] * group["decay"])
                torch._foreach_add_(members, list(updates.unbind()), alpha=-scale)
