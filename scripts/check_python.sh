#!/usr/bin/env bash
# Checks the Python package: types (mypy, pyright), the examples in its documentation, and its tests.
#
#     scripts/check_python.sh [ARGUMENTS OF PYTEST]
#
# Makes an environment from python/requirements-dev.txt in the target folder (PYTHON names the interpreter), and builds the
# bindings into it. What needs a judge uses the program of JUROR_BINARY, else that of target/release or target/debug, and is
# left out where there is none. The adapters' tests need their frameworks, and are left out too.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root/python"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target}"

environment="$CARGO_TARGET_DIR/python"
[[ -x $environment/bin/python ]] || "${PYTHON:-python3}" -m venv "$environment"
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
export VIRTUAL_ENV="$environment" PATH="$environment/bin:$PATH"

maturin develop --quiet
mypy
mypy tests/*.py
pyright
python -m pytest --ignore tests/adapters "$@"
