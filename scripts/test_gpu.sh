#!/usr/bin/env bash
# On a machine with an NVIDIA GPU: tests, compares with the CPU, measures, and writes it all down as Markdown.
#
#     scripts/test_gpu.sh [-o FILE.md]        default: docs/benchmarks/gpu.md
#
# Needs no Rust there: it runs from the folder that scripts/build_cuda.sh makes (dist/cuda), wherever that is copied.
# In a checkout it uses dist/cuda, building it first if cargo is there.
#
# JUROR_BIN, JUROR_TEST_BIN   a program and its tests/cuda executable to use instead
# COPIES (40), RUNS (3)       the larger file's size, in copies of the examples; runs of each measurement
# CUDA_VISIBLE_DEVICES        which GPU
#
# Exit code 0 when all tests pass and the examples get the same verdicts on GPU and CPU; 1 otherwise. The file is written in
# both cases.
set -euo pipefail
export NO_COLOR=1 LC_ALL=C

fail() {
    echo "test_gpu: $*" >&2
    exit 1
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=$root/docs/benchmarks/gpu.md
while [[ $# -gt 0 ]]; do
    case $1 in
    -o)
        [[ $# -ge 2 ]] || fail "-o needs a file"
        out=$2
        shift 2
        ;;
    *) fail "usage: scripts/test_gpu.sh [-o FILE.md]" ;;
    esac
done
copies=${COPIES:-40} runs=${RUNS:-3}

command -v nvidia-smi >/dev/null || fail "no nvidia-smi: this is for a machine with an NVIDIA GPU"
gpus=$(nvidia-smi --query-gpu=name,memory.total,driver_version,compute_cap --format=csv,noheader) || fail "nvidia-smi finds no GPU"
cuda=$(nvidia-smi | sed -n 's/.*CUDA[^:]*Version: *\([0-9.]*\).*/\1/p' | head -1)
echo "$gpus"

# The program and its tests.
home=$root
if [[ -n ${JUROR_BIN:-} || -n ${JUROR_TEST_BIN:-} ]]; then
    juror=${JUROR_BIN:?set JUROR_BIN too} tests=${JUROR_TEST_BIN:?set JUROR_TEST_BIN too}
else
    if [[ ! -x $root/bin/test-cuda ]]; then
        if command -v cargo >/dev/null; then
            cap=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d '. ')
            CUDA_COMPUTE_CAP=${CUDA_COMPUTE_CAP:-$cap} "$root/scripts/build_cuda.sh"
        fi
        home=$root/dist/cuda
    fi
    juror=$home/bin/juror tests=$home/bin/test-cuda
fi
[[ -x $juror && -x $tests ]] || fail "neither cargo nor a built program here: run scripts/build_cuda.sh elsewhere and copy dist/cuda to this machine"
# shellcheck source=scripts/cuda_libraries.sh
source "$root/scripts/cuda_libraries.sh"
find_cuda_libraries "$juror" "$home"
rollouts=$root/examples/rollouts.jsonl
commit=$(sed -n 's/^commit: //p' "$home/BUILD" 2>/dev/null || git -C "$root" rev-parse --short HEAD 2>/dev/null || echo unknown)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
: >"$scratch/errors"
failures=()

# Tests. Where the driver compiles a kernel for the first time it takes seconds; no test is timed.
echo "tests/cuda.rs:"
if ! CARGO_MANIFEST_DIR=$root "$tests" --test-threads=1 --nocapture 2>&1 | tee "$scratch/tests"; then
    failures+=("tests/cuda.rs")
fi

# Data: the examples, and a larger made-up file. Each copy is another question ("Case 7. …"), so that copies share no more
# of their prompt than different samples do: the template.
awk -v copies="$copies" '{
    for (copy = 1; copy <= copies; copy++) {
        line = $0
        sub(/"id": "/, "&" copy "-", line)
        sub(/"question": "/, "&Case " copy ". ", line)
        print line
    }
}' "$rollouts" >"$scratch/larger.jsonl"
cp "$rollouts" "$scratch/examples.jsonl"
[[ $(cut -d, -f1 "$scratch/larger.jsonl" | sort -u | wc -l) -eq $(($(wc -l <"$rollouts") * copies)) ]] \
    || fail "could not make copies of $rollouts: its lines are not written as expected"

# judge NAME DEVICE: judges a file, leaves verdicts and messages in $scratch, prints seconds, or nothing if it failed.
judge() {
    local started=$EPOCHREALTIME status=0
    "$juror" judge "$scratch/$1.jsonl" --device "$2" >"$scratch/$1.$2" 2>"$scratch/$1.$2.log" || status=$?
    local ended=$EPOCHREALTIME
    # 3: some sample has no verdict, which is the judge's business and not the device's.
    if [[ $status -ne 0 && $status -ne 3 ]]; then
        cat "$scratch/$1.$2.log" >&2
        { echo "juror judge $1 --device $2: exit $status"; tail -20 "$scratch/$1.$2.log"; } >>"$scratch/errors"
        return
    fi
    awk -v a="$started" -v b="$ended" 'BEGIN { printf "%.2f\n", b - a }'
}
# Id, status, process, outcome, perfect, overall, reward of each verdict.
essence() {
    sed -E 's/,"reason":.*//' "$scratch/$1.$2"
}
# Lowest, median, highest of the numbers on standard input.
spread() {
    sort -n | awk '{ x[NR] = $1 } END { if (NR == 0) print "–"; else printf "%s (%s to %s)", x[int((NR + 1) / 2)], x[1], x[NR] }'
}

warm_up=$(judge examples cuda)
for name in examples larger; do
    for device in cuda cpu; do
        : >"$scratch/$name.$device.times"
        : >"$scratch/$name.$device.rates"
        for ((i = 0; i < runs; i++)); do
            judge "$name" "$device" >>"$scratch/$name.$device.times"
            sed -n 's/.*speed *\([0-9.]*\) verdicts\/s.*/\1/p' "$scratch/$name.$device.log" >>"$scratch/$name.$device.rates"
        done
        echo "$name on $device: $(spread <"$scratch/$name.$device.times") s"
    done
    essence "$name" cuda >"$scratch/a"
    essence "$name" cpu >"$scratch/b"
    total=$(wc -l <"$scratch/b")
    other=$(awk 'FILENAME == ARGV[1] { gpu[FNR] = $0; next } gpu[FNR] != $0 { n++ } END { print n + 0 }' "$scratch/a" "$scratch/b")
    echo "$name: $((total - other)) of $total verdicts with the same fields on both"
    echo "$((total - other)) of $total" >"$scratch/$name.same"
    if [[ $name == examples && $other -ne 0 ]]; then
        failures+=("the examples' verdicts")
        diff "$scratch/a" "$scratch/b" || true
    fi
done

[[ ! -s $scratch/errors ]] || failures+=("the command")
result="all passed"
[[ ${#failures[@]} -eq 0 ]] || result="**failed: $(printf '%s; ' "${failures[@]}")see below**"
mkdir -p "$(dirname "$out")"
{
    echo "# On a GPU"
    echo
    echo "Written by \`scripts/test_gpu.sh\` (\`just test-gpu\`) on $(date -u '+%Y-%m-%d %H:%M UTC'); COPIES=$copies RUNS=$runs."
    echo
    echo "| | |"
    echo "|---|---|"
    echo "| result | $result |"
    echo "| commit | $commit |"
    while IFS=, read -r name memory driver cap; do
        echo "| GPU | $name,$memory, compute capability${cap}, driver${driver} (CUDA ${cuda:-?}) |"
    done <<<"$gpus"
    echo "| CPU | $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) cores |"
    [[ ! -e $home/BUILD ]] || sed -n 's/^built: \(.*\)/| built | \1 |/p; s/^compute capability: \(.*\)/| built for | compute capability \1 |/p' "$home/BUILD"
    echo
    echo "## Right?"
    echo
    echo "\`tests/cuda.rs\`: $(grep -o '^test result:.*' "$scratch/tests" | sed 's/^test result: //' || echo "did not finish")"
    echo
    echo "| compared | found | allowed |"
    echo "|---|---|---|"
    grep -o 'measured |.*' "$scratch/tests" | sed 's/^measured //; s/$/ |/' || true
    echo "| verdicts of the examples through the command, GPU and CPU | $(cat "$scratch/examples.same") the same | all |"
    echo "| verdicts of the larger file, GPU and CPU | $(cat "$scratch/larger.same") the same | for information |"
    if [[ ${#failures[@]} -ne 0 ]]; then
        echo
        echo '```'
        grep -v 'measured |' "$scratch/tests" | tail -60 || true
        cat "$scratch/errors"
        echo '```'
    fi
    echo
    echo "## How fast?"
    echo
    echo "\`juror judge FILE --device DEVICE\` with the embedded judge \`tiny\`, greedy, default sizes: median of $runs runs (lowest to"
    echo "highest), after a first run on the GPU that took $warm_up s. Seconds are of the whole command, start and loading"
    echo "included; verdicts a second are the program's own count, from the first request to the last verdict. The larger file"
    echo "is $copies copies of the examples, each with another question."
    echo
    echo "| file | samples | device | seconds | verdicts a second |"
    echo "|---|--:|---|--:|--:|"
    for name in examples larger; do
        for device in cuda cpu; do
            echo "| $name | $(wc -l <"$scratch/$name.jsonl") | $device | $(spread <"$scratch/$name.$device.times") | $(spread <"$scratch/$name.$device.rates") |"
        done
    done
    echo
    echo "The embedded judge is far too small to keep a GPU busy: the figures say that the device works and what a step costs,"
    echo "not what a large judge gains."
} >"$out"
echo "written: $out"
[[ ${#failures[@]} -eq 0 ]] || fail "failed: ${failures[*]}"
