#!/usr/bin/env bash
# Builds juror for NVIDIA GPUs, on a machine that need not have one, and puts all that a GPU machine needs into dist/cuda, and
# that into dist/juror-cuda.tar.xz (25 MB: the program and its tests have most of their bytes in common).
#
#     scripts/build_cuda.sh
#
# CUDA_COMPUTE_CAP   the GPU to build for: 90 (default; H100, H200), 80 A100, 86, 89, 100, 120
# CUDA_HOME          a CUDA toolkit; without one scripts/cuda_toolkit.sh gets one into target/cuda-toolkit
#
# From scratch 18 minutes of one core's work, most of it candle's kernels; about one when only juror has changed.
set -euo pipefail

fail() {
    echo "build_cuda: $*" >&2
    exit 1
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
command -v xz >/dev/null || fail "xz is missing (Debian's package xz-utils)"
# shellcheck source=scripts/cuda_libraries.sh
source scripts/cuda_libraries.sh

if [[ -x ${CUDA_HOME:-}/bin/nvcc ]]; then
    export PATH="$CUDA_HOME/bin:$PATH" CUDA_COMPUTE_CAP="${CUDA_COMPUTE_CAP:-90}"
else
    toolkit=${CARGO_TARGET_DIR:-target}/cuda-toolkit
    scripts/cuda_toolkit.sh "$toolkit" >/dev/null
    # shellcheck disable=SC1091
    source "$toolkit/env.sh"
fi
echo "building for compute capability $CUDA_COMPUTE_CAP with $CUDA_HOME" >&2

# One command for the program and its test, so that both share one set of features and no kernel is compiled twice.
messages=$(cargo build --release --features cuda --bin juror --test cuda --message-format=json-render-diagnostics)
built() {
    python3 -c '
import json, sys
name = sys.argv[1]
for line in sys.stdin:
    message = json.loads(line)
    if message.get("executable") and message["target"]["name"] == name:
        print(message["executable"])' "$1" <<<"$messages" | tail -1
}
program=$(built juror)
tests=$(built cuda)
[[ -x $program && -x $tests ]] || fail "cargo did not say where it put the program and its tests"

# What goes to a GPU machine.
dist=$root/dist/cuda
rm -rf "$dist"
mkdir -p "$dist/bin" "$dist/lib" "$dist/stubs" "$dist/scripts" "$dist/tests/data" "$dist/examples"
cp "$program" "$dist/bin/juror"
cp "$tests" "$dist/bin/test-cuda"
cp -r tests/data/checkpoints "$dist/tests/data/"
cp examples/*.jsonl "$dist/examples/"
cp scripts/test_gpu.sh scripts/cuda_libraries.sh scripts/compare_gpu.py scripts/step_model.py scripts/smoke-config.json "$dist/scripts/"
cp -r scripts/shapes "$dist/scripts/"
cp -L "$CUDA_HOME/lib64/libcudart.so.13" "$dist/lib/"
for stub in "$CUDA_HOME"/lib/stubs/*.so.*; do
    # NVIDIA's own toolkit has no such names; then the folder stays empty and only GPU machines can start the program.
    [[ -e $stub ]] || continue
    mkdir "$dist/stubs/${stub##*/}"
    cp "$stub" "$dist/stubs/${stub##*/}/"
done
cat >"$dist/juror" <<'EOF'
#!/usr/bin/env bash
# Starts juror with the CUDA libraries of this machine, wherever they are; without a GPU it judges on the CPU.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
# shellcheck disable=SC1091
source "$here/scripts/cuda_libraries.sh"
find_cuda_libraries "$here/bin/juror" "$here"
# It is opened for --tensor-parallel alone, which a panel's file may ask for too.
find_nccl
exec "$here/bin/juror" "$@"
EOF
chmod +x "$dist/juror"
glibc=$(objdump -T "$dist/bin/juror" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -1)
commit=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
if [[ $commit != unknown && -n $(git status --porcelain --untracked-files=no) ]]; then
    commit+=' with local changes'
fi
cat >"$dist/BUILD" <<EOF
commit: $commit
built: $(date -u +%Y-%m-%dT%H:%MZ), $(rustc --version), $(nvcc --version | sed -n 's/^Cuda compilation tools, //p')
compute capability: $CUDA_COMPUTE_CAP
needs: Linux on x86-64, glibc ${glibc#GLIBC_} or newer, an NVIDIA driver for CUDA 13.0 or newer (580 and up)
EOF

# Is it what it should be?
if ! grep -qa '\.target sm_' "$dist/bin/juror" || ! grep -qa 'split_heads_write_kv_bf16' "$dist/bin/juror"; then
    fail "the program holds no kernels: was nvcc a stand-in? Delete the folders candle-kernels-* and juror-* under $(dirname "$program")/build and build again"
fi
for binary in "$dist/bin/juror" "$dist/bin/test-cuda"; do
    # Not `grep -q`: it stops reading, and then a longer list counts as a failure of ldd.
    ldd "$binary" | grep libcuda.so.1 >/dev/null || fail "$binary is not linked to the NVIDIA driver"
done
(
    find_cuda_libraries "$dist/bin/juror" "$dist" 2>/dev/null
    unresolved=$(ldd -r "$dist/bin/juror" 2>&1 | grep -E 'undefined symbol|not found' || true)
    [[ -z $unresolved ]] || fail "libraries lack what the program needs:"$'\n'"$unresolved"
)
echo "linked: $(ldd "$dist/bin/juror" | awk '/lib(cu|nvrtc)/ { print $1 }' | sort | paste -sd' ')" >&2
"$dist/juror" --version >&2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# The lines are counted and not the exit code, which may say that a verdict could not be read: that is the judge's business.
"$dist/juror" judge examples/rollouts.jsonl --limit 2 --device cpu --quiet >"$scratch/verdicts" || true
[[ $(wc -l <"$scratch/verdicts") -eq 2 ]] || fail "the program does not judge on the CPU"
if nvidia-smi -L >/dev/null 2>&1; then
    echo "a GPU is here: scripts/test_gpu.sh tests and measures on it" >&2
else
    if "$dist/juror" judge examples/rollouts.jsonl --limit 2 --device cuda --quiet >/dev/null 2>"$scratch/message"; then
        fail "\`--device cuda\` works on a machine without a GPU, which cannot be"
    fi
    sed 's/^/  /' "$scratch/message" >&2
    grep -q -e '--device cpu' "$scratch/message" || fail "the message above should name \`--device cpu\`"
    echo "no GPU here, and the program says so" >&2
fi
# A dictionary as large as both programs together.
tar -C "$root/dist" -cf - cuda | xz -T0 --lzma2=preset=3,dict=256MiB >"$root/dist/juror-cuda.tar.xz"
cat >&2 <<EOF
dist/juror-cuda.tar.xz is ready ($(du -sh "$root/dist/juror-cuda.tar.xz" | cut -f1)). On a GPU machine, without Rust or CUDA toolkit:
    tar -xJf juror-cuda.tar.xz
    cuda/juror judge rollouts.jsonl -o verdicts.jsonl --device cuda
    cuda/scripts/test_gpu.sh check        what is missing there; its parts test and measure
EOF
