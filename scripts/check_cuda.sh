#!/usr/bin/env bash
# Type-checks and lints the CUDA build without a CUDA toolkit, for CI: about a minute the first time.
#
#     scripts/check_cuda.sh               clippy, warnings are errors
#     scripts/check_cuda.sh check         only the type-check; further arguments go to cargo
#
# Build scripts find a stand-in for nvcc that writes empty files where kernels would be. That is enough for the type-check
# and no more, so it happens in a target folder of its own, whose contents must never be linked.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target}/cuda-check"
mkdir -p "$CARGO_TARGET_DIR/stand-in/bin"

# In the target folder and not in a temporary one: the path is part of what build scripts depend on.
cat >"$CARGO_TARGET_DIR/stand-in/bin/nvcc" <<'EOF'
#!/usr/bin/env bash
# Stands in for nvcc: says a version and makes empty outputs.
set -euo pipefail
mode=object out='' folder=. inputs=()
while [[ $# -gt 0 ]]; do
    case $1 in
    --version)
        # The line that is looked for is the fourth.
        printf '%s\n' 'stand-in for nvcc' '-' '-' 'Cuda compilation tools, release 13.0, V13.0.88'
        exit 0
        ;;
    --list-gpu-code) echo sm_90; exit 0 ;;
    --ptx) mode=ptx ;;
    --lib) mode=library ;;
    -o) out=$2; shift ;;
    --output-directory) folder=$2; shift ;;
    -Xcompiler | -ccbin | --default-stream) shift ;;
    -*) ;;
    *) inputs+=("$1") ;;
    esac
    shift
done
case $mode in
ptx) for input in "${inputs[@]}"; do
        name=$(basename "$input")
        : >"$folder/${name%.*}.ptx"
    done ;;
object) : >"$out" ;;
library) rm -f "$out" && ar rcs "$out" ;;
esac
EOF
chmod +x "$CARGO_TARGET_DIR/stand-in/bin/nvcc"

# Nothing of a real toolkit on this machine may get in.
unset NVCC CUDA_PATH CUDA_ROOT CUDA_TOOLKIT_ROOT_DIR CUDNN_LIB
export CUDA_HOME="$CARGO_TARGET_DIR/stand-in" PATH="$CARGO_TARGET_DIR/stand-in/bin:$PATH" CUDA_COMPUTE_CAP=90

# Only build scripts and macros run here: not worth optimising.
options=(--features cuda --all-targets --config 'profile.dev.package."*".opt-level=0')
if [[ ${1:-} == check ]]; then
    shift
    exec cargo check "${options[@]}" "$@"
fi
exec cargo clippy "${options[@]}" "$@" -- -D warnings
