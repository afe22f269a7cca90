#!/usr/bin/env bash
# Gets what it takes to build with `--features cuda` on a machine that has no CUDA toolkit and no GPU:
# NVIDIA's compiler and runtime from their Python packages (270 MB, pinned), and stand-ins for the libraries that
# only a GPU machine has.
#
#     scripts/cuda_toolkit.sh DEST        then: source DEST/env.sh
#
# Running it again repairs what is missing and repeats nothing else. DEST can be deleted at any time.
set -euo pipefail

# One release of CUDA throughout. 13.0 on purpose: a driver compiles the PTX of its own release and older ones, so a
# newer compiler would ask users for a newer driver.
readonly PACKAGES=(
    nvidia-cuda-nvcc==13.0.88
    nvidia-cuda-crt==13.0.88
    nvidia-nvvm==13.0.88
    nvidia-cuda-runtime==13.0.96
    nvidia-cuda-cccl==13.0.85
)

fail() {
    echo "cuda_toolkit: $*" >&2
    exit 1
}

if [[ $# -ne 1 || $1 == -* ]]; then
    echo "usage: scripts/cuda_toolkit.sh DEST    (a folder outside version control, such as target/cuda-toolkit)" >&2
    exit 2
fi
[[ $(uname -sm) == "Linux x86_64" ]] || fail "the packages are for Linux on x86-64; here, install NVIDIA's CUDA toolkit 13.0 and set CUDA_HOME"
for tool in python3 cargo "${CC:-cc}"; do
    command -v "$tool" >/dev/null || fail "\`$tool\` is not installed, and is needed"
done

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "$1"
dest=$(cd "$1" && pwd)
home=$dest/py/nvidia/cu13

# The compiler. A stamp tells a finished download from an interrupted one.
if [[ ! -x $home/bin/nvcc || $(cat "$dest/packages" 2>/dev/null) != "${PACKAGES[*]}" ]]; then
    python=python3
    if ! python3 -m pip --version >/dev/null 2>&1; then
        # Debian's Python comes without pip, but may make a virtual environment that has it.
        python3 -m venv "$dest/venv" >/dev/null 2>&1 \
            || fail "python3 has neither pip nor venv; install one of them (on Debian: apt install python3-venv)"
        python=$dest/venv/bin/python
    fi
    echo "getting ${PACKAGES[*]}" >&2
    rm -rf "$dest/py" "$dest/packages"
    PIP_ROOT_USER_ACTION=ignore "$python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
        --target "$dest/py" "${PACKAGES[@]}" >&2 \
        || fail "pip could not install the packages; see its message above"
    [[ -x $home/bin/nvcc ]] || fail "the packages hold no $home/bin/nvcc"
    echo "${PACKAGES[*]}" >"$dest/packages"
fi
# What build scripts look for, under the names they look for.
ln -sfn lib "$home/lib64"
ln -sfn libcudart.so.13 "$home/lib/libcudart.so"

# The stand-ins, from the declarations of the very cudarc that will be compiled.
cudarc=$(cd "$root" && cargo metadata --quiet --format-version 1 --features cuda --filter-platform x86_64-unknown-linux-gnu \
    | python3 -c '
import json, os, sys
packages = [p for p in json.load(sys.stdin)["packages"] if p["name"] == "cudarc"]
if len(packages) != 1:
    sys.exit("cuda_toolkit: expected one cudarc among the dependencies, found %d" % len(packages))
print(os.path.dirname(packages[0]["manifest_path"]))') || fail "could not find out which cudarc is used"
if [[ ! -e $home/lib/stubs/libnvrtc.so || $(cat "$dest/stubs" 2>/dev/null) != "$(basename "$cudarc")" ]]; then
    rm -f "$dest/stubs"
    python3 "$root/scripts/cuda_stubs.py" "$cudarc" "$home/lib/stubs" "${CC:-cc}" >&2
    basename "$cudarc" >"$dest/stubs"
fi

cat >"$dest/env.sh" <<EOF
# Made by scripts/cuda_toolkit.sh; to be sourced.
export CUDA_HOME='$home'
export PATH="\$CUDA_HOME/bin:\$PATH"
# 90 is Hopper (H100, H200). Others: 80 A100, 86 RTX 30, 89 RTX 40 and L4, 100 B200, 120 RTX 50.
export CUDA_COMPUTE_CAP="\${CUDA_COMPUTE_CAP:-90}"
# Kernels compiled at a time.
export CUDAFORGE_THREADS="\${CUDAFORGE_THREADS:-\$(nproc)}"
EOF
"$home/bin/nvcc" --version >/dev/null || fail "$home/bin/nvcc does not run on this machine"
echo "the toolkit is ready: source $dest/env.sh" >&2
cat "$dest/env.sh"
