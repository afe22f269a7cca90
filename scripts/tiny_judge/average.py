"""The weighted mean of exported judges of one shape (Wortsman et al. 2022, "Model soups").

    python average.py 0.12:../../models/tiny 0.44:runs/one 0.44:runs/two --out runs/mean

Trainings that began from the same weights can be averaged: the mean keeps most of what each has learnt.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file


def main() -> None:
    """Write the folder of the mean, with the other files of the first judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("judges", nargs="+", metavar="WEIGHT:FOLDER")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    parts = [(float(weight), Path(folder)) for weight, _, folder in (judge.partition(":") for judge in options.judges)]
    total = sum(weight for weight, _ in parts)
    mean: dict[str, torch.Tensor] = {}
    for weight, folder in parts:
        for name, value in load_file(folder / "model.safetensors").items():
            mean[name] = mean.get(name, 0) + weight / total * value.double()
    kinds = {name: value.dtype for name, value in load_file(parts[0][1] / "model.safetensors").items()}
    shutil.copytree(parts[0][1], options.out, dirs_exist_ok=True)
    weights = {name: value.to(kinds[name]) for name, value in mean.items()}
    save_file(weights, options.out / "model.safetensors", metadata={"format": "pt"})


if __name__ == "__main__":
    main()
