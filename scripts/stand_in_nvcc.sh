#!/usr/bin/env bash
# Stands in for nvcc where no CUDA toolkit is: says a version and makes empty outputs, which is what the build scripts of
# candle and juror need to go on. The program has no kernels then; tests/cuda_driver gives it others.
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
