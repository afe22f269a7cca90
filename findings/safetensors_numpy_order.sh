#!/usr/bin/env bash
# safetensors 0.8.0 (beside it 0.7.0; numpy 2.4.6): `safetensors.numpy.save_file` writes a transposed matrix as the one it was made from, under the
# new shape. What is read back has other values, without an error.
#
# 0.7.0 wrote the values as numpy shows them. One would expect that still, or an error as `safetensors.torch` gives for tensors that are not
# contiguous. Seen: since 0.8.0 the memory is written as it lies, and the array's order in memory is not looked at. `weight.T`, a column, every
# other column, and arrays in Fortran's order (which numpy's own functions keep: `2 * weight.T`) are other numbers in the file; rows, and
# what was copied, are right. The documentation does say "contiguous and dense"; numpy calls Fortran's order contiguous.
#
# Whom it hits: converters made with numpy, which turn the matrices of GPT-2's kind over or cut joined ones apart. The file loads everywhere, with
# the right names and shapes, and the model writes nonsense, or is only a little worse. Upstream has an open issue (825) since August 2026.
#
# Prints for each array whether what is read back is equal, in both versions. Exits with 1 if that is otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q numpy==2.4.6
for version in 0.7.0 0.8.0; do
  "$work/venv/bin/pip" install -q --no-deps --target "$work/$version" safetensors=="$version"
done
cat >"$work/try.py" <<'PYTHON'
import sys
from pathlib import Path

import numpy as np
import safetensors
from safetensors.numpy import load_file, save_file

old = safetensors.__version__ == "0.7.0"
weight = np.arange(12, dtype=np.float32).reshape(3, 4)
# Array, whether 0.8.0 keeps its values.
CASES = {
    "the matrix": (weight, True),
    "its transpose": (weight.T, False),
    "a copy of the transpose": (np.ascontiguousarray(weight.T), True),
    "twice the transpose": (2 * weight.T, False),
    "Fortran's order": (np.asfortranarray(weight), False),
    "its second row": (weight[1:2], True),
    "its second column": (weight[:, 1:2], False),
    "every other column": (weight[:, ::2], False),
}

changed = False
file = Path(sys.argv[1]) / "model.safetensors"
for name, (array, kept) in CASES.items():
    save_file({"weight": array}, file)
    read = load_file(file)["weight"]
    seen = np.array_equal(read, array)
    print(f"safetensors {safetensors.__version__}: {name:24} equal {seen!s:6} first row {array[0].round(3).tolist()}, read {read[0].round(3).tolist()}")
    changed |= seen != (kept or old)
sys.exit(changed)
PYTHON
for version in 0.7.0 0.8.0; do
  PYTHONPATH="$work/$version" "$work/venv/bin/python" "$work/try.py" "$work"
done
