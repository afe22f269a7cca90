#!/usr/bin/env bash
# What a verdict costs, and what memory a run takes, from 100 to 100,000 samples: judged by the embedded judge, and by
# the rules alone. Prints a table in Markdown: docs/benchmarks/README.md says how to read it.
#
#   scripts/scale.sh [--rules] [SIZE…]        sizes in samples; default: 100 1000 10000 100000
#
# Inputs are the 300 rollouts of tests/data/tiny/domain.jsonl over and over, each time with another id and another
# question. Inputs, outputs and results are kept under target/scale (or $OUT). Stop it whenever you like and start it
# again: sizes that were done are not run again, and one that was under way goes on from its journal; its time is then
# that of the verdicts still missing. Remove the folder to begin anew.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
juror=${JUROR:-$root/target/release/juror}
work=${OUT:-$root/target/scale}
data=$root/tests/data/tiny/domain.jsonl

kind=judge
arguments=(--device cpu)
if [ "${1:-}" = --rules ]; then
  kind=rules
  arguments=(--rules only)
  shift
fi
sizes=("$@")
[ ${#sizes[@]} -gt 0 ] || sizes=(100 1000 10000 100000)
[ -x "$juror" ] || { echo "no $juror: cargo build --release first, or set JUROR" >&2; exit 2; }
mkdir -p "$work"

# The first $1 rollouts of an endless repetition, each with an id and a question of its own.
rollouts() {
  awk -v count="$1" '
    { line[NR] = $0 }
    END {
      for (at = 0; at < count; at++) {
        text = line[at % NR + 1]
        turn = int(at / NR)
        if (!sub(/"id": "/, "&" turn "-", text) || !sub(/"question": "/, "&(" turn ") ", text)) exit 1
        print text
      }
    }' "$data"
}

# The most memory process $1 has taken until it ends, in kB; 0 where the system does not tell.
peak_memory() {
  local peak=0 now
  while kill -0 "$1" 2> /dev/null; do
    now=$(awk '/^VmHWM:/ { print $2 }' "/proc/$1/status" 2> /dev/null || true)
    peak=${now:-$peak}
    sleep 0.02
  done
  echo "$peak"
}

lines() { if [ -f "$1" ]; then wc -l < "$1"; else echo 0; fi; }

for size in "${sizes[@]}"; do
  name=$work/$kind-$size
  [ ! -f "$name.result" ] || continue
  input=$work/in-$size.jsonl
  [ -f "$input" ] || { rollouts "$size" > "$input.part" && mv "$input.part" "$input"; }
  before=$(($(lines "$name.jsonl.journal") - 1))
  [ "$before" -ge 0 ] || before=0
  echo "$kind: $size samples, $before of them done before" >&2
  started=$(date +%s.%N)
  "$juror" judge "$input" -o "$name.jsonl" --quiet "${arguments[@]}" &
  process=$!
  trap 'kill "$process" 2> /dev/null; wait "$process"; exit 130' INT TERM
  peak=$(peak_memory "$process")
  code=0
  wait "$process" || code=$?
  trap - INT TERM
  ended=$(date +%s.%N)
  # 3: done, and some verdicts could not be read, which is as good a verdict as any here.
  [ "$code" -eq 0 ] || [ "$code" -eq 3 ] || exit "$code"
  [ "$(lines "$name.jsonl")" -eq "$size" ] || { echo "$name.jsonl has not $size lines" >&2; exit 1; }
  cached=$(awk -F'"cached_tokens":|"prompt_tokens":' '
    { split($2, prompt, ","); split($3, cached, ","); all += prompt[1]; hit += cached[1] }
    END { if (all) printf "%.1f %%", 100 * hit / all; else printf "–" }' "$name.jsonl")
  awk -v size="$size" -v before="$before" -v from="$started" -v to="$ended" -v peak="$peak" -v cached="$cached" \
    'BEGIN { printf "%d %d %.3f %d %s\n", size, size - before, to - from, peak, cached }' > "$name.result"
done

echo "| samples | verdicts in this run | time | a verdict | prompt tokens cached | peak memory |"
echo "|---:|---:|---:|---:|---:|---:|"
for size in "${sizes[@]}"; do cat "$work/$kind-$size.result"; done | awk '
  {
    each = $2 ? $3 / $2 * 1e3 : 0
    cached = $5 ($6 == "" ? "" : " " $6)
    printf "| %d | %d | %.1f s | %.3f ms | %s | %.1f MB |\n", $1, $2, $3, each, cached, $4 / 1024
    n++; x += $2; y += $3; xx += $2 * $2; xy += $2 * $3
    if (n == 1) { first = $3 / ($2 ? $2 : 1); few = $4 }
    last = $3 / ($2 ? $2 : 1); many = $4
  }
  END {
    if (n < 2 || n * xx == x * x) exit
    slope = (n * xy - x * y) / (n * xx - x * x)
    printf "\nleast squares: time = %.2f s + %.3f ms a verdict; a verdict of the largest run costs %.2f times one of the smallest; ", \
      (y - slope * x) / n, slope * 1e3, last / first
    printf "peak memory %+.1f MB\n", (many - few) / 1024
  }'
