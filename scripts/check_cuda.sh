#!/usr/bin/env bash
# Type-checks and lints the CUDA build without a CUDA toolkit, for CI: about a minute the first time.
#
#     scripts/check_cuda.sh               clippy, warnings are errors
#     scripts/check_cuda.sh check         only the type-check; further arguments go to cargo
#
# Build scripts find a stand-in for nvcc that writes empty files where kernels would be, so all this happens in a target
# folder of its own. `tests/cuda_driver` builds a program there in the same way and runs it on an imitated driver.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target}/cuda-check"

# In the target folder: the path is part of what build scripts depend on.
mkdir -p "$CARGO_TARGET_DIR/stand-in/bin" "$CARGO_TARGET_DIR/stand-in/lib64"
cp scripts/stand_in_nvcc.sh "$CARGO_TARGET_DIR/stand-in/bin/nvcc"

# Nothing of a real toolkit on this machine may get in.
unset NVCC CUDA_PATH CUDA_ROOT CUDA_TOOLKIT_ROOT_DIR CUDNN_LIB
export CUDA_HOME="$CARGO_TARGET_DIR/stand-in" PATH="$CARGO_TARGET_DIR/stand-in/bin:$PATH" CUDA_COMPUTE_CAP=90

options=(--features cuda-imitation --all-targets --test cuda_driver --test kernels --config scripts/cuda_check.toml)
if [[ ${1:-} == check ]]; then
    shift
    exec cargo check "${options[@]}" "$@"
fi
exec cargo clippy "${options[@]}" "$@" -- -D warnings
