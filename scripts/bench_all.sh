#!/usr/bin/env bash
# Speed, memory and start-up on this machine's CPU, beside llama.cpp and beside the build that docs/benchmarks/README.md names:
# run before an issue that touches kernels, rules or the engine is called resolved. Prints tables in Markdown for that page.
#
#   cargo build --release
#   scripts/bench_all.sh [MODEL.gguf…]
#
# Some ten minutes with two small files, the builds aside. llama.cpp comes from a wheel that is compiled for AVX2 (scripts/compare_cpu),
# so juror is held to AVX2 too, or to what INSTRUCTIONS says. The earlier build is made once, in target/bench_all; BEFORE names
# another program. Without files, random weights of Qwen3-0.6B's shape are measured in Q8_0.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
juror=${JUROR:-$root/target/release/juror}
work=$root/target/bench_all
files=()
for file in "$@"; do files+=("$(realpath "$file")"); done
[ -x "$juror" ] || { echo "no $juror: cargo build --release first, or set JUROR" >&2; exit 2; }
mkdir -p "$work"

commit=$(sed -n 's/.*compared with the build of commit `\([0-9a-f]*\)`.*/\1/p' "$root/docs/benchmarks/README.md" | head -1)
[ -n "$commit" ] || { echo "docs/benchmarks/README.md names no commit to compare with" >&2; exit 2; }
before=${BEFORE:-$work/$commit/juror}
if [ ! -x "$before" ]; then
  git -C "$root" worktree add --force --detach "$work/source" "$commit" >&2
  (cd "$work/source" && CARGO_TARGET_DIR=$work/build cargo build --release --bin juror) >&2
  install -D "$work/build/release/juror" "$before"
  git -C "$root" worktree remove --force "$work/source" >&2
fi

python3 "$root/scripts/bench_start.py" "$before" "$juror" "${files[@]}"

# llama.cpp, the earlier build and this one in turn, on each file.
llama=$work/wheel
[ -x "$llama/bin/llama-server" ] || python3 "$root/scripts/compare_cpu/llama_wheel.py" "$llama" >&2
models=(--weights q8_0)
[ ${#files[@]} -eq 0 ] || models=("${files[@]}")
for model in "${models[@]}"; do
  case $model in
    --weights) continue ;;
    q8_0) what=(--weights q8_0) ;;
    *) what=(--file "$model") ;;
  esac
  name=$(basename "$model" .gguf)
  rm -f "$work/$name.md"
  "$llama/venv/bin/python" "$root/scripts/compare_cpu/compare.py" "${what[@]}" --runs 1 --skip transformers --llama "$llama/bin" \
    --juror "$juror" --before "$before" --slots 4 --flash-attention off --samples 8 --server-samples 8 --template-tokens 660 \
    --decode-batches 1 8 --juror-arguments "--instructions ${INSTRUCTIONS:-avx2}" --out "$work/$name" > /dev/null || echo "$name: the comparison ended with status $?" >&2
  [ ! -e "$work/$name.md" ] || sed -n '/^|/p; /^$/p' "$work/$name.md" | cat -s
done
