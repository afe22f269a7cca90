#!/usr/bin/env bash
# Tests juror on an NVIDIA GPU and measures it, in parts of a few minutes that can be run again and go on where they stopped.
#
#     scripts/test_gpu.sh check                      what this machine lacks, and what is left to do; touches no GPU
#     scripts/test_gpu.sh correctness                verdicts, kernels, goldens, invariances; 195 s on an H200, estimated
#     scripts/test_gpu.sh thorough                   what else tests/cuda compares
#     scripts/test_gpu.sh bench [ROW…]               the throughput table, the rows that matter most first
#     scripts/test_gpu.sh peer                       transformers on the first row's workload (generate with a static cache, compiled;
#                                                    continuous batching), and juror beside it; needs Python with torch and transformers
#     scripts/test_gpu.sh counters                   ncu of the two kernels of ours that take most time
#     scripts/test_gpu.sh profiles [ROW…]            where the time of a row goes
#     scripts/test_gpu.sh visit                      what one visit of a quarter of an hour is for, in order: what never ran on a GPU, its
#                                                    correctness and rows; the peer with a static cache; counters; rows that are missing
#     scripts/test_gpu.sh report [FILE.md]           the results so far as a page (docs/benchmarks/gpu.md); anywhere
#
#     -o DIR        where results are kept (gpu-results). Each is written as soon as it is known. What is there already is not done
#                   again; delete its line, or the folder, to repeat it.
#     --seconds N   start nothing that would not end within N seconds from now (540), by the script's own estimates for an H200
#     --list        the rows of the table, and how long each takes
#
# In a copy of dist/cuda (scripts/build_cuda.sh) it needs neither cargo, nor Python, nor a CUDA toolkit, nor a network.
# Environment: CUDA_VISIBLE_DEVICES, which GPU; JUROR_BIN and JUROR_TEST_BIN, programs to use instead; ROLLOUTS (408), how many
# the embedded judge judges on GPU and CPU.
#
# Exit code 0 when all of the part is done and right (rows that the GPU has no memory for are named and left out); 1 when something
# failed; 2 for wrong usage, a missing need, or results of another build or GPU in DIR; 3 when something is left because there was
# no time for it: run the same command again.
set -euo pipefail
export NO_COLOR=1 LC_ALL=C

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
say() { echo "test_gpu: $*" >&2; }
usage() {
    say "$*; see the first lines of scripts/test_gpu.sh"
    exit 2
}

part='' results=gpu-results seconds=540 list='' arguments=()
while [[ $# -gt 0 ]]; do
    case $1 in
    -o | --seconds)
        [[ $# -ge 2 ]] || usage "$1 needs a value"
        if [[ $1 == -o ]]; then results=$2; else seconds=$2; fi
        shift
        ;;
    --list) list=yes ;;
    -*) usage "no option $1" ;;
    *) if [[ -z $part ]]; then part=$1; else arguments+=("$1"); fi ;;
    esac
    shift
done
[[ $seconds =~ ^[0-9]+$ ]] || usage "--seconds needs a number"

# ---- the rows of the table: name | seconds on an H200, estimated | GB of GPU memory | flags of juror bench --------------------
# The first is a model of no size, to see that bench itself runs. Then the rows that say most, by what they are worth.
rows() {
    local judge='--template-tokens 1300 --input-tokens 1500'
    local eight="--synthetic qwen3-8b $judge"
    cat <<EOF
smoke | 5 | 4 | --synthetic $root/scripts/smoke-config.json --samples 8 --template-tokens 100 --input-tokens 60 --output-tokens 8
8b-300 | 40 | 45 | $eight --samples 512 --output-tokens 300
8b-0 | 25 | 45 | $eight --samples 512 --output-tokens 0
8b-300-fp8-kv | 40 | 45 | $eight --samples 512 --output-tokens 300 --kv-dtype fp8
8b-2500 | 110 | 70 | $eight --samples 256 --output-tokens 2500
8b-300-fp8 | 35 | 45 | $eight --samples 512 --output-tokens 300 --quantize fp8
8b-300-fp8-all | 30 | 45 | $eight --samples 512 --output-tokens 300 --quantize fp8 --kv-dtype fp8
8b-300-plain | 70 | 45 | $eight --samples 64 --output-tokens 300 --plain-operations
8b-2500-fp8-kv | 85 | 70 | $eight --samples 256 --output-tokens 2500 --kv-dtype fp8
8b-300-unshared | 45 | 45 | $eight --samples 512 --output-tokens 300 --no-shared-prefix
0.6b-300 | 30 | 40 | --synthetic qwen3-0.6b $judge --samples 1024 --output-tokens 300
8b-0-fp8 | 22 | 45 | $eight --samples 512 --output-tokens 0 --quantize fp8
30b-a3b-300 | 90 | 70 | --synthetic qwen3-30b-a3b $judge --samples 512 --output-tokens 300
8b-2500-fp8-all | 80 | 70 | $eight --samples 256 --output-tokens 2500 --quantize fp8 --kv-dtype fp8
0.6b-2500 | 60 | 45 | --synthetic qwen3-0.6b $judge --samples 512 --output-tokens 2500
8b-300-awq | 45 | 45 | --synthetic qwen3-8b-awq $judge --samples 512 --output-tokens 300 --quantize stored
8b-300-awq-448 | 60 | 130 | --synthetic qwen3-8b-awq $judge --samples 448 --max-sequences 448 --output-tokens 300 --quantize stored
8b-0-awq | 40 | 45 | --synthetic qwen3-8b-awq $judge --samples 256 --output-tokens 0 --quantize stored
8b-0-fp8-stored | 40 | 45 | --synthetic qwen3-8b-fp8 $judge --samples 256 --output-tokens 0 --quantize stored
70b-300-awq | 90 | 70 | --synthetic llama-3.3-70b-awq $judge --samples 64 --output-tokens 300 --quantize stored
30b-a3b-0 | 60 | 70 | --synthetic qwen3-30b-a3b $judge --samples 512 --output-tokens 0
gemma-4b-300 | 40 | 60 | --synthetic $root/scripts/shapes/gemma-3-4b.json $judge --samples 512 --output-tokens 300
gemma-4b-0 | 30 | 60 | --synthetic $root/scripts/shapes/gemma-3-4b.json $judge --samples 512 --output-tokens 0
gemma-4-31b-300 | 120 | 110 | --synthetic $root/scripts/shapes/gemma-4-31b.json $judge --samples 256 --output-tokens 300
qwen3.5-9b-300 | 60 | 80 | --synthetic $root/scripts/shapes/qwen3.5-9b.json $judge --samples 512 --output-tokens 300
qwen3.5-9b-0 | 40 | 80 | --synthetic $root/scripts/shapes/qwen3.5-9b.json $judge --samples 512 --output-tokens 0
qwen3.6-35b-a3b-300 | 90 | 120 | --synthetic $root/scripts/shapes/qwen3.6-35b-a3b.json $judge --samples 512 --output-tokens 300
8b-2500-unshared | 160 | 70 | $eight --samples 256 --output-tokens 2500 --no-shared-prefix
EOF
}
row_field() { rows | awk -F ' \\| ' -v name="$1" -v field="$2" '$1 == name { print $field }'; }
row_names() { rows | awk -F ' \\| ' '{ print $1 }'; }
if [[ -n $list ]]; then
    rows | awk -F ' \\| ' '{ printf "%-16s %4d s %4d GB  %s\n", $1, $2, $3, $4 }'
    exit 0
fi
case $part in
check | correctness | thorough | bench | peer | counters | profiles | visit | report) ;;
'') usage "which part? check, correctness, thorough, bench, peer, counters, profiles, visit or report" ;;
*) usage "no part $part" ;;
esac
for row in ${arguments[@]+"${arguments[@]}"}; do
    [[ $part == report || -n $(row_field "$row" 1) ]] || usage "no row $row in the table (--list)"
done

# ---- what the parts need, looked at before anything is started ----------------------------------------------------------------
missing=()
need() { missing+=("$*"); }
check_needs() {
    mkdir -p "$results/bench" "$results/profiles" 2>/dev/null && [[ -w $results ]] || need "a folder to write to: -o DIR, not $results"
    # nvidia-smi does not heed CUDA_VISIBLE_DEVICES.
    local which=()
    [[ -z ${CUDA_VISIBLE_DEVICES:-} ]] || which=(-i "${CUDA_VISIBLE_DEVICES%%,*}")
    gpu=$(nvidia-smi ${which[@]+"${which[@]}"} --query-gpu=name,memory.total,memory.free,driver_version,compute_cap \
        --format=csv,noheader,nounits 2>/dev/null | head -1 || true)
    local memory free driver
    IFS=, read -r _ memory free driver cap <<<"${gpu// /}" || true
    gpu_gb=0 cap=${cap//./}
    if [[ -z $gpu ]]; then
        need "an NVIDIA GPU and its driver: nvidia-smi finds none"
    elif [[ ! $memory$free =~ ^[0-9]+$ ]]; then
        need "a GPU that says how much memory it has (a part of one, as MIG makes them, does not): nvidia-smi says $gpu"
    else
        gpu_gb=$((free / 1024))
        [[ ${driver%%.*} -ge 580 ]] || need "driver 580 or newer (CUDA 13.0), not $driver"
        ((free * 10 > memory * 9)) || say "something else uses the GPU: $free of $memory MiB are free"
    fi
    # The programs: named, in dist/cuda, or in this copy of it.
    home=$root
    [[ -d $root/bin ]] || home=$root/dist/cuda
    juror=${JUROR_BIN:-$home/bin/juror} tests=${JUROR_TEST_BIN:-$home/bin/test-cuda}
    for program in "$juror" "$tests"; do
        if [[ ! -x $program ]]; then
            need "$program: run scripts/build_cuda.sh, here or elsewhere, and unpack dist/juror-cuda.tar.xz on this machine"
        fi
    done
    built=$(sed -n 's/^compute capability: //p' "$home/BUILD" 2>/dev/null || true)
    [[ -z $built || -z $cap || $built == "$cap" || ($built -lt 90 && $built -lt $cap) ]] \
        || need "a program for this GPU: built for compute capability $built, and it has $cap (CUDA_COMPUTE_CAP=$cap scripts/build_cuda.sh)"
    [[ -e $root/examples/rollouts.jsonl ]] || need "$root/examples/rollouts.jsonl"
    sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -1 || true)
    profiler=$(command -v nsys || true)
    counter=$(command -v ncu || ls /usr/local/cuda*/bin/ncu /opt/nvidia/nsight-compute/*/ncu 2>/dev/null | head -1 || true)
    transformers=''
    if [[ $part == peer || $part == visit ]]; then
        transformers=$(python3 -c 'import torch, transformers; print(torch.__version__, transformers.__version__)' 2>/dev/null || true)
        [[ -n $transformers || $part == visit ]] || need "python3 with torch and transformers"
    fi
    if [[ ${#missing[@]} -gt 0 ]]; then
        printf 'missing: %s\n' "${missing[@]}" >&2
        return 1
    fi
    # shellcheck source=scripts/cuda_libraries.sh
    source "$root/scripts/cuda_libraries.sh"
    # The driver compiles the kernels once for all parts, also where HOME cannot be written.
    export CUDA_CACHE_PATH=${CUDA_CACHE_PATH:-${TMPDIR:-/tmp}/juror-compiled-kernels} CUDA_CACHE_MAXSIZE=1073741824
    # The CUDA runtime comes along; the stand-ins beside it are for machines without a GPU.
    [[ ! -d $home/lib ]] || export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$home/lib"
    find_cuda_libraries "$juror" || {
        echo "missing: CUDA 13's libraries (cuBLAS, cuRAND, NVRTC); they come with PyTorch for CUDA 13 too" >&2
        return 1
    }
}

# ---- results ------------------------------------------------------------------------------------------------------------------
# correctness.tsv: step, ok or FAILED, seconds, what was found. bench/ROW.json and profiles/ROW.txt: one for each row.
started=$SECONDS
failed=0 left=0
# What a program may take: three times its estimate, and little more than there is time for. A hang then costs no more.
limit_of() {
    local limit=$((3 * $1 + 30)) rest=$((seconds - SECONDS + started + 20))
    echo $((limit < rest ? limit : rest))
}
has_time() { ((SECONDS - started + $1 <= seconds)); }
found() { grep -q "^$1"$'\tok\t' "$results/correctness.tsv" 2>/dev/null; }
note() {
    printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" >>"$results/correctness.tsv"
    echo "$2  $1 ($3 s): $4"
}
# step NAME ESTIMATE COMMAND…: the command prints what it found as its last line; its output is kept.
step() {
    local name=$1 estimate=$2 began=$SECONDS status=0
    shift 2
    if found "$name"; then return; fi
    if ! has_time "$estimate"; then
        left=$((left + 1))
        echo "left  $name: about $estimate s, and there is no time"
        return
    fi
    limit=$(limit_of "$estimate")
    # Not behind `||`: there bash would go on after a command that fails inside.
    set +e
    (
        set -e
        "$@"
    ) >"$results/$name.log" 2>&1
    status=$?
    set -e
    if [[ $status -eq 0 ]]; then
        note "$name" ok $((SECONDS - began)) "$(tail -1 "$results/$name.log")"
    else
        failed=$((failed + 1))
        local what="exit $status" took=$((SECONDS - began))
        # What has compared nothing wrong until its limit is not finished, and not wrong.
        [[ $status -ne 124 && $status -ne 137 ]] || what="not finished in $limit s, $(grep -c 'measured |' "$results/$name.log" || true) comparisons until then within their tolerances"
        # An error of a kernel is told by whatever asks next. Once more with every launch waited for, and the log names the kernel.
        if has_time "$estimate" && grep -q 'CUDA_ERROR\|DriverError' "$results/$name.log"; then
            limit=$(limit_of "$estimate")
            (
                set -e
                CUDA_LAUNCH_BLOCKING=1 "$@"
            ) >"$results/$name.blocking.log" 2>&1 || true
        fi
        [[ $what == not* ]] || what+=": $({ grep -v '^ *[0-9]*:\|^ *at ' "$results/$name.log" || true; } | tail -1)"
        note "$name" FAILED "$took" "$what"
        tail -15 "$results/$name.log" >&2
    fi
}

# ---- correctness --------------------------------------------------------------------------------------------------------------
# Id, status, process, outcome, perfect, overall and reward of each verdict.
essence() { sed -E 's/,"reason":.*//'; }
# judge FILE DEVICE FLAGS…: exit code 3 says that a sample has no verdict, which is the judge's business and not the device's.
judge() {
    local file=$1 device=$2 status=0
    shift 2
    timeout -k 10 "$limit" "$juror" judge "$file" --device "$device" "$@" --quiet >"$results/verdicts.$device" || status=$?
    [[ $status -eq 0 || $status -eq 3 ]] || return "$status"
}
# same_verdicts FILE FLAGS…: on the GPU, with these flags, and on the CPU.
same_verdicts() {
    judge "$1" cuda "${@:2}"
    judge "$1" cpu
    local total same
    total=$(wc -l <"$1")
    same=$(comm -12 <(essence <"$results/verdicts.cuda" | sort) <(essence <"$results/verdicts.cpu" | sort) | wc -l)
    diff <(essence <"$results/verdicts.cuda") <(essence <"$results/verdicts.cpu") || true
    echo "$same of $total verdicts are the CPU's"
    # bf16 on one side and f32 on the other: a verdict that hangs on a tie may differ.
    [[ $total -gt 0 && $(((total - same) * 100)) -le $total ]]
}
# The examples again and again, each time with other questions, so that they share the template and nothing else.
rollouts() {
    awk -v count="${ROLLOUTS:-408}" '{ line[NR] = $0 } END {
        for (i = 0; i < count; i++) {
            text = line[i % NR + 1]
            copy = int(i / NR) + 1
            sub(/"id": "/, "&" copy "-", text)
            sub(/"question": "/, "&Case " copy ". ", text)
            print text
        }
    }' "$root/examples/rollouts.jsonl" >"$results/rollouts.jsonl"
}
rust_tests() {
    CARGO_MANIFEST_DIR=$root timeout -k 10 "$limit" "$tests" --test-threads=1 --nocapture "$@" | tee "$results/tests.part"
    local passed
    passed=$(sed -n 's/^test result: ok\. \([1-9][0-9]*\) passed.*/\1/p' "$results/tests.part")
    rm "$results/tests.part"
    [[ -n $passed ]] || { echo "no test ran: $*" && return 1; }
    echo "$passed tests passed: $*"
}
sanitized() {
    CARGO_MANIFEST_DIR=$root timeout -k 10 "$limit" "$sanitizer" --tool "$1" --error-exitcode 9 --print-limit 20 "$tests" --test-threads=1 "$2"
    echo "compute-sanitizer $1 finds nothing in $2"
}
correctness() {
    rollouts
    # By what is worth most: whole way, single kernels, whole models, other ways through the engine.
    step examples 10 same_verdicts "$root/examples/rollouts.jsonl"
    step kernels 5 rust_tests kernels:: sinks::
    step rollouts 8 same_verdicts "$results/rollouts.jsonl"
    step families 90 rust_tests fast::logits_of
    step wide-and-recurrent 40 rust_tests fast::wide_heads_and_recurrent_layers
    step goldens 12 rust_tests golden_logits
    step lag-and-preemption 30 rust_tests fast::greedy
    step log-probabilities 15 rust_tests fast::log_probabilities
    two_gpus
    if [[ -n $sanitizer ]]; then
        step memcheck 5 sanitized memcheck sinks::
        step racecheck 5 sanitized racecheck sinks::
    else
        echo "left out  compute-sanitizer is not on this machine"
    fi
}
two_gpus() {
    if [[ $(nvidia-smi --list-gpus 2>/dev/null | wc -l) -ge 2 && ${CUDA_VISIBLE_DEVICES:-0,1} == *,* ]]; then
        find_nccl
        step two-gpus 20 same_verdicts "$root/examples/rollouts.jsonl" --tensor-parallel 2
    else
        echo "left out  one model on two GPUs: there is one"
    fi
}
thorough() {
    step attention 60 rust_tests cuda_attention
    step fp8 50 rust_tests fast::logits_in_fp8 fast::keys_and_values_beyond_e4m3
    step plain-attention 60 rust_tests plain_attention
    step engine 30 rust_tests greedy_tokens_however examples_get
}

# ---- bench and profiles ---------------------------------------------------------------------------------------------------------
number() { grep -o "\"$2\": *[-0-9.eE+]*" "$1" | head -1 | sed 's/.*: *//'; }
# measure FOLDER ENDING EXTRA_SECONDS ROW…: runs `one_row ROW FLAGS…` for each row that has no result yet.
measure() {
    local folder=$1 ending=$2 extra=$3 name estimate gigabytes flags
    shift 3
    for name in "$@"; do
        [[ ! -s $results/$folder/$name.$ending ]] || continue
        estimate=$(($(row_field "$name" 2) + extra)) gigabytes=$(row_field "$name" 3)
        if ((gigabytes > gpu_gb)); then
            echo "left out  $name: about $gigabytes GB, and the GPU has $gpu_gb free"
        elif ! has_time "$estimate"; then
            left=$((left + 1))
            echo "left  $name: about $estimate s, and there is no time"
        else
            read -ra flags <<<"$(row_field "$name" 4)"
            local began=$SECONDS status=0
            limit=$(limit_of "$estimate")
            "$folder"_row "$name" "${flags[@]}" || status=$?
            if [[ $status -ne 0 ]]; then
                failed=$((failed + 1))
                echo "FAILED  $name (exit $status): $(tail -1 "$results/$folder/$name.log")"
                rm -f "$results/$folder/$name.$ending"
            else
                echo "ok  $name ($((SECONDS - began)) s): $("$folder"_said "$name")"
            fi
        fi
    done
}
bench_row() {
    local name=$1 file=$results/bench/$1.json
    shift
    timeout -k 10 "$limit" "$juror" bench --device cuda --no-breakdown "$@" --json "$file.part" \
        >"$results/bench/$name.log" 2>&1 && mv "$file.part" "$file"
}
bench_said() { echo "$(number "$results/bench/$1.json" verdicts_per_second) verdicts/s"; }
profiles_row() {
    local name=$1 file=$results/profiles/$1
    shift
    timeout -k 10 "$limit" "$juror" bench --device cuda "$@" >"$file.log" 2>&1 || return
    if [[ -n $profiler ]]; then
        local few
        read -ra few <<<"$(sed -E 's/--samples [0-9]+/--samples 32/' <<<"$*")"
        timeout -k 10 "$limit" "$profiler" profile --stats=true --force-overwrite=true -o "$file" \
            "$juror" bench --device cuda --no-breakdown "${few[@]}" >"$file.nsys.txt" 2>&1 \
            || say "nsys failed: $(tail -1 "$file.nsys.txt")"
        rm -f "$file".nsys-rep "$file".sqlite
    fi
    mv "$file.log" "$file.txt"
}
# All with the same, smaller number of samples, one after the other.
peer() {
    local workload=(--samples 64 --template-tokens 1300 --input-tokens 1500 --output-tokens 300)
    local compare=(python3 "$root/scripts/compare_gpu.py" --shape qwen3-8b "${workload[@]}")
    if [[ ${1:-} == continuous ]]; then
        step peer 150 timeout -k 10 400 "${compare[@]}"
        return
    fi
    step peer-static 150 timeout -k 10 400 "${compare[@]}" --way static --batch 64
    step peer-juror 45 timeout -k 10 200 "$juror" bench --device cuda --no-breakdown --synthetic qwen3-8b "${workload[@]}"
    for other in vllm sglang; do
        python3 -c "import $other" 2>/dev/null || echo "left out  $other is not on this machine"
    done
}
# counted NAME KERNEL FLAGS…: how near a kernel comes to arithmetic and memory, and what its warps wait for, in its 41st to 43rd launch.
counted() {
    timeout -k 10 "$limit" "$counter" --section SpeedOfLight --section SchedulerStats --section WarpStateStats --section Occupancy \
        --kernel-name "regex:$2" --launch-skip 40 --launch-count 3 "$juror" bench --device cuda --no-breakdown "${@:3}" >"$results/counters-$1.txt" 2>&1
    grep -c 'Section: GPU Speed Of Light' "$results/counters-$1.txt" | sed 's/$/ launches counted/'
}
counters() {
    local few=(--samples 64 --template-tokens 1300 --input-tokens 1500 --output-tokens 8)
    if [[ -z $counter ]]; then
        echo "left out  ncu is not on this machine"
        return
    fi
    step counters-prefill-attention 40 counted prefill-attention attention_prefill --synthetic qwen3-8b "${few[@]}"
    step counters-four-bits 40 counted four-bits moe_gemm_int4_tile64 --synthetic qwen3-8b-awq "${few[@]}" --quantize stored
}
visit() {
    rollouts
    step examples 10 same_verdicts "$root/examples/rollouts.jsonl"
    step kernels 5 rust_tests kernels:: sinks::
    step wide-and-recurrent 40 rust_tests fast::wide_heads_and_recurrent_layers
    step stored 50 rust_tests fast::logits_of_weights_as_stored
    # The last has so many rows that weights are widened: the two ways to multiply, side by side.
    measure bench json 0 70b-300-awq 8b-300-awq 8b-300-awq-448
    step fp8 50 rust_tests fast::logits_in_fp8 fast::keys_and_values_beyond_e4m3
    step log-probabilities 15 rust_tests fast::log_probabilities
    step rollouts 8 same_verdicts "$results/rollouts.jsonl"
    two_gpus
    if [[ -n $transformers ]]; then
        peer
    else
        echo "left out  python3 with torch and transformers is not on this machine"
    fi
    counters
    measure bench json 0 8b-300 30b-a3b-300 8b-2500-fp8-all 8b-2500 8b-0-fp8
    [[ -z $transformers ]] || peer continuous
}
profiles_said() { grep -m 1 'verdicts/s' "$results/profiles/$1.txt" || true; }

# Rows `| compared | found | allowed` by what was compared, the type of numbers and what is allowed: how many, and the largest difference.
largest() {
    awk -F ' *[|] *' '{
        kind = $2; sub(/ up to [0-9.]+/, "", kind); tail = kind
        if (kind ~ /^greedy/) { sub(/^[^:]*: /, "", tail); kind = "greedy tokens, where they part: " tail } else sub(/,.*/, "", kind)
        if ($2 ~ /as stored/) kind = kind " of weights as stored"
        if ($2 ~ /MoE/) kind = kind ", mixtures of experts"
        if (match($2, /(cache|weights) in e4m3/)) type = substr($2, RSTART, RLENGTH); else { match($2, /BF16|F16|F32|bf16/); type = tolower(substr($2, RSTART, RLENGTH)) }
        match($3, /[0-9.]+e-?[0-9]+/); found = substr($3, RSTART, RLENGTH); key = kind " | " type " | " $4
        if (!(key in count)) { order[++n] = key; allowed[key] = $4; label[key] = kind " | " type; most[key] = found }
        count[key]++; if (found + 0 > most[key] + 0) most[key] = found
    } END { for (i = 1; i <= n; i++) { key = order[i]; printf "| %s | %d | %s | %s |\n", label[key], count[key], most[key], allowed[key] } }'
}

# ---- the page ---------------------------------------------------------------------------------------------------------------------
report() {
    [[ -s $results/machine || -s $results/correctness.tsv ]] || usage "no results in $results"
    local name file
    echo "# On an $(sed -n 's/^| GPU | \([^,]*\),.*/\1/p' "$results/machine")"
    echo
    echo "Written by \`scripts/test_gpu.sh report\` from results of its other parts."
    echo
    echo "| | |"
    echo "|---|---|"
    cat "$results/machine" 2>/dev/null || true
    echo
    echo "## Correctness"
    echo
    echo "| step of \`scripts/test_gpu.sh correctness\` and \`thorough\` | | seconds | found |"
    echo "|---|---|--:|---|"
    # The last word on each step counts.
    awk -F '\t' '{ last[$1] = $0; if (!seen[$1]++) order[++n] = $1 } END {
        for (i = 1; i <= n; i++) { split(last[order[i]], x, "\t"); gsub(/\|/, ";", x[4]); printf "| %s | %s | %s | %s |\n", x[1], x[2], x[3], x[4] }
    }' "$results/correctness.tsv" 2>/dev/null || true
    # Of whole models; single kernels, hundreds of lines, stay in the logs.
    if cat "$results"/{families,wide-and-recurrent,stored,goldens,lag-and-preemption,fp8,attention,plain-attention,engine}.log 2>/dev/null >"$results/compared"; then :; fi
    if grep -q 'measured |' "$results/compared"; then
        echo
        echo "The largest differences of $(grep -c 'measured |' "$results/compared") comparisons; each of them is in the logs."
        echo
        echo "| compared | type | comparisons | largest difference | allowed |"
        echo "|---|---|--:|--:|---|"
        grep -o 'measured |.*' "$results/compared" | sed 's/^measured //' | largest
    fi
    if [[ -s $results/peer-juror.log ]]; then
        printf '\n## Beside transformers\n\n```\n'
        tail -qn 1 "$results"/peer-static.log "$results"/peer.log 2>/dev/null || true
        cat "$results/peer-juror.log"
        echo '```'
    fi
    if compgen -G "$results/bench/*.json" >/dev/null; then
        echo
        echo "## Speed"
        echo
        echo "\`juror bench --device cuda --no-breakdown\` on random weights, bf16 unless said otherwise, greedy, one run a row: prompts of"
        echo "1,300 shared and 1,500 own tokens (\`--template-tokens 1300 --input-tokens 1500\`). Utilisation is against ceilings that the bench measures on the same GPU first."
        echo
        echo "| row | verdicts/s | tokens/s out | batch | host | FLOP | memory | flags |"
        echo "|---|--:|--:|--:|--:|--:|--:|---|"
        for name in $(row_names); do
            file=$results/bench/$name.json
            [[ -s $file && $name != smoke ]] || continue
            printf '| %s | %s | `%s` |\n' "$name" "$(for key in verdicts_per_second output_throughput mean_batch_occupancy host_share \
                model_flops_utilisation memory_bandwidth_utilisation; do number "$file" "$key"; done | awk '{ x[NR] = $1 } END {
                printf "%.2f | %.0f | %.0f | %.1f %% | %.0f %% | %.0f %%", x[1], x[2], x[3], 100 * x[4], 100 * x[5], 100 * x[6] }')" \
                "$(row_field "$name" 4 | sed 's/ --template-tokens 1300 --input-tokens 1500//')"
        done
        if command -v python3 >/dev/null; then
            echo
            echo "By the bytes and operations of the steps, with rates that are shares of these ceilings (\`scripts/step_model.py\`):"
            echo
            python3 "$root/scripts/step_model.py" "$results" || true
            printf '\n## What is lost where\n\n'
            echo "As predicted for an H200, beside the limit (\`scripts/step_model.py --gaps\`):"
            echo
            python3 "$root/scripts/step_model.py" --gaps || true
        fi
    fi
    for name in $(row_names); do
        [[ -s $results/profiles/$name.txt ]] || continue
        printf '\n## Where the time goes: %s\n\n```\n' "$name"
        cat "$results/profiles/$name.txt"
        echo '```'
    done
}

# ---- go -----------------------------------------------------------------------------------------------------------------------------
if [[ $part == report ]]; then
    page=${arguments[0]:-$root/docs/benchmarks/gpu.md}
    [[ -d $(dirname "$page") ]] || usage "no folder $(dirname "$page"): name the file to write"
    text=$(report)
    printf '%s\n' "$text" >"$page"
    say "written: $page"
    exit 0
fi
check_needs || exit 2
machine=$(
    awk -F ', ' '{ printf "| GPU | %s, %d GB, driver %s, compute capability %s |\n", $1, $2 / 1024, $4, $5 }' <<<"$gpu"
    echo "| CPU | $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc --all) cores |"
    sed -n 's/^commit: \(.*\)/| commit | \1 |/p; s/^built: \(.*\)/| built | \1 |/p' "$home/BUILD" 2>/dev/null || true
)
if [[ ! -s $results/machine ]]; then
    printf '%s\n| date | %s |\n' "$machine" "$(date -u +%Y-%m-%d)" >"$results/machine"
elif [[ $(grep -v '^| date' "$results/machine") != "$machine" ]]; then
    say "the results in $results are of another build or machine: name another folder with -o, or remove that one"
    exit 2
fi
case $part in
check)
    echo "nothing is missing: ${gpu%%,*}, $gpu_gb GB free, $(basename "$juror") $("$juror" --version | cut -d' ' -f2)"
    echo "compute-sanitizer: ${sanitizer:-not here, its steps are left out}; nsys: ${profiler:-not here}"
    echo "done: $(cat "$results/correctness.tsv" 2>/dev/null | grep -c $'\tok\t' || true) steps of correctness, $(find "$results/bench" -name '*.json' | wc -l) of $(row_names | wc -l) rows"
    ;;
correctness) correctness ;;
thorough) thorough ;;
bench)
    mapfile -t names < <(if [[ ${#arguments[@]} -gt 0 ]]; then printf '%s\n' "${arguments[@]}"; else row_names; fi)
    measure bench json 0 "${names[@]}"
    ;;
peer)
    peer
    peer continuous
    ;;
counters) counters ;;
visit) visit ;;
profiles)
    [[ ${#arguments[@]} -gt 0 ]] || arguments=(8b-300 8b-0 8b-2500)
    measure profiles txt 40 "${arguments[@]}"
    ;;
esac
[[ $failed -eq 0 ]] || exit 1
[[ $left -eq 0 ]] || {
    say "$left left for want of time: run the same command again"
    exit 3
}
