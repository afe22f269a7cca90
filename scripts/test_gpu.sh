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
# SAMPLES (512)               samples of each row of the bench table; 0 leaves the table out
# SANITIZE (yes)              `no` leaves compute-sanitizer out
# CUDA_VISIBLE_DEVICES        which GPU
#
# In this order: tests, compute-sanitizer on the kernels (where it is installed), the examples on GPU and CPU, and the bench
# table on random weights, beside transformers' continuous batching where python3 has torch and transformers.
# About half an hour on an H200; most of it the bench table.
#
# Exit code 0 when all tests pass, the sanitizer finds nothing, and the examples get the same verdicts on GPU and CPU; 1
# otherwise. The file is written in both cases.
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
copies=${COPIES:-40} runs=${RUNS:-3} samples=${SAMPLES:-512} sanitize=${SANITIZE:-yes}

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

# The kernels under compute-sanitizer: accesses out of bounds or of memory never written to, and races in shared memory.
sanitizer=''
if [[ $sanitize == yes ]]; then
    sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -1 || true)
fi
: >"$scratch/sanitizer"
if [[ -n $sanitizer ]]; then
    for check in \
        "memcheck kernels:: sinks:: cuda_attention logits_in_fp8" \
        "racecheck kernels:: sinks:: cuda_attention_equals_the_reference_bf16" \
        "initcheck kernels::"; do
        read -r tool filters <<<"$check"
        echo "compute-sanitizer --tool $tool: $filters"
        found=clean
        # shellcheck disable=SC2086
        if ! CARGO_MANIFEST_DIR=$root timeout 1800 "$sanitizer" --tool "$tool" --error-exitcode 9 --print-limit 20 \
            "$tests" --test-threads=1 $filters >"$scratch/sanitizer.$tool" 2>&1; then
            found='**see below**'
            # What is read before it is written is a hint: padding rows of products are read and thrown away.
            if [[ $tool == initcheck ]]; then
                found='hints, see below'
            else
                failures+=("compute-sanitizer $tool")
            fi
            { echo "compute-sanitizer --tool $tool"; grep '=========' "$scratch/sanitizer.$tool" | head -40; } >>"$scratch/errors.sanitizer"
        fi
        echo "| compute-sanitizer $tool: \`$filters\` | $found | clean |" >>"$scratch/sanitizer"
    done
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

# The bench table. NAME | FLAGS of juror bench; the template is in the prefix cache before the clock starts.
# number FILE KEY: a number of a JSON file.
number() {
    grep -o "\"$2\": *[-0-9.eE+]*" "$1" | head -1 | sed 's/.*: *//'
}
: >"$scratch/bench"
bench() {
    local name=$1 count=$2 file=$scratch/bench.json
    shift 2
    local command=(bench --device cuda --samples "$count" --template-tokens 1300 --input-tokens 1500 "$@")
    echo "juror ${command[*]}"
    rm -f "$file"
    if ! timeout 1500 "$juror" "${command[@]}" --json "$file" >"$scratch/bench.log" 2>&1 || [[ ! -s $file ]]; then
        tail -3 "$scratch/bench.log"
        { echo "juror ${command[*]}"; tail -5 "$scratch/bench.log"; } >>"$scratch/errors.bench"
        echo "| $name | – | | | | | | \`juror ${command[*]}\` |" >>"$scratch/bench"
        return
    fi
    local row
    row=$(for key in verdicts_per_second output_throughput mean_batch_occupancy host_share model_flops_utilisation memory_bandwidth_utilisation; do
        number "$file" "$key"
    done | awk '{ x[NR] = $1 } END { printf "%.2f | %.0f | %.0f | %.1f %% | %.0f %% | %.0f %%", x[1], x[2], x[3], 100 * x[4], 100 * x[5], 100 * x[6] }')
    echo "| $name | $row | \`juror ${command[*]}\` |" | tee -a "$scratch/bench"
}
peer=''
if [[ $samples -gt 0 ]]; then
    few=$((samples / 8 > 32 ? samples / 8 : 32))
    for shape in qwen3-8b qwen3-0.6b qwen3-30b-a3b; do
        for output in 300 2500 0; do
            bench "$shape, $output out" "$samples" --synthetic "$shape" --output-tokens "$output"
        done
    done
    for output in 300 2500; do
        bench "qwen3-8b, $output out, fp8 cache" "$samples" --synthetic qwen3-8b --output-tokens "$output" --kv-dtype fp8
        bench "qwen3-8b, $output out, prefix not shared" "$samples" --synthetic qwen3-8b --output-tokens "$output" --no-shared-prefix
    done
    bench "qwen3-8b, 300 out, fp8 weights" "$samples" --synthetic qwen3-8b --output-tokens 300 --quantize fp8
    bench "qwen3-8b, 0 out, fp8 weights" "$samples" --synthetic qwen3-8b --output-tokens 0 --quantize fp8
    bench "qwen3-8b, 2500 out, fp8 weights and cache" "$samples" --synthetic qwen3-8b --output-tokens 2500 --quantize fp8 --kv-dtype fp8
    for output in 300 0; do
        bench "qwen3-8b, $output out, plain operations" "$few" --synthetic qwen3-8b --output-tokens "$output" --plain-operations
    done
    # Where the time goes, as the program says it: of the first row.
    "$juror" bench --device cuda --samples "$few" --template-tokens 1300 --input-tokens 1500 --output-tokens 300 \
        --synthetic qwen3-8b >"$scratch/breakdown" 2>&1 || true
    if python3 -c 'import torch, transformers' 2>/dev/null; then
        command=(--shape qwen3-8b --samples "$few" --template-tokens 1300 --input-tokens 1500 --output-tokens 300)
        echo "scripts/compare_gpu.py ${command[*]}"
        if timeout 1500 python3 "$root/scripts/compare_gpu.py" "${command[@]}" >"$scratch/peer" 2>"$scratch/peer.log"; then
            tail -1 "$scratch/peer" >"$scratch/peer.json"
            peer=$(number "$scratch/peer.json" verdicts_per_second)
            bench "qwen3-8b, 300 out, as many samples as the peer" "$few" --synthetic qwen3-8b --output-tokens 300
            ours=$(number "$scratch/bench.json" verdicts_per_second)
            echo "transformers: $peer verdicts/s, juror: $ours"
        else
            tail -3 "$scratch/peer.log"
            { echo "compare_gpu.py"; tail -8 "$scratch/peer.log"; } >>"$scratch/errors.bench"
        fi
    fi
fi
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
    cat "$scratch/sanitizer"
    echo "| verdicts of the examples through the command, GPU and CPU | $(cat "$scratch/examples.same") the same | all |"
    echo "| verdicts of the larger file, GPU and CPU | $(cat "$scratch/larger.same") the same | for information |"
    if [[ ${#failures[@]} -ne 0 ]]; then
        echo
        echo '```'
        grep -v 'measured |' "$scratch/tests" | tail -60 || true
        cat "$scratch/errors"
        echo '```'
    fi
    if [[ -s $scratch/errors.sanitizer ]]; then
        echo
        echo '```'
        cat "$scratch/errors.sanitizer"
        echo '```'
    fi
    if [[ -s $scratch/bench ]]; then
        echo
        echo "## Judging with large models"
        echo
        echo "\`juror bench\` on random weights, bf16 unless said otherwise: 1,300 shared and 1,500 own prompt tokens, greedy, one run each."
        echo "Utilisation is against ceilings that the bench measures on the same GPU first."
        echo
        echo "| what | verdicts/s | tokens/s out | batch | host | FLOP | memory | command |"
        echo "|---|--:|--:|--:|--:|--:|--:|---|"
        cat "$scratch/bench"
        if [[ -n $peer ]]; then
            echo
            echo "transformers' continuous batching on the same workload in the same run: **$peer verdicts/s**, juror **$ours** ("$(awk -v a="$ours" -v b="$peer" 'BEGIN { printf "%.1f", a / b }')" ×). \`scripts/compare_gpu.py ${command[*]}\`:"
            echo
            echo '```json'
            cat "$scratch/peer.json"
            echo '```'
        fi
        if [[ -s $scratch/breakdown ]]; then
            echo
            echo '```'
            cat "$scratch/breakdown"
            echo '```'
        fi
        if [[ -s $scratch/errors.bench ]]; then
            echo
            echo "What did not run:"
            echo
            echo '```'
            cat "$scratch/errors.bench"
            echo '```'
        fi
    fi
    echo
    echo "## The embedded judge"
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
