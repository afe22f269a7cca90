#!/usr/bin/env bash
# Prints the lines of Rust and CUDA of each crate's sources, tests apart, in files of their own or not, and fails where they are more than the limit beside this script
# (crate_lines.tsv): a limit goes down or stays.
set -euo pipefail
cd "$(dirname "$0")/.."
# Lines but those of modules of tests.
count() {
    awk 'FNR == 1 { attribute = tests = 0 }
        tests { if ($0 == "}") tests = 0; next }
        attribute { attribute = 0; if (/^mod [a-z_]+ \{$/) { tests = 1; next } lines++ }
        /^#\[cfg\(test\)\]$/ { attribute = 1; next }
        { lines++ }
        END { print lines + 0 }' "$@"
}
failed=0 total=0
printf '%-16s %8s %8s\n' crate lines limit
while IFS=$'\t' read -r crate folder limit; do
    mapfile -d '' files < <(git ls-files -z -- "$folder/*.rs" "$folder/*.cu" "$folder/*.cuh" | grep -zvE '/tests(/|\.rs$)')
    lines=$(count "${files[@]}")
    printf '%-16s %8d %8d\n' "$crate" "$lines" "$limit"
    total=$((total + lines))
    if [ "$lines" -gt "$limit" ]; then
        echo "$crate has more lines than scripts/crate_lines.tsv allows: make it smaller" >&2
        failed=1
    fi
done <scripts/crate_lines.tsv
printf '%-16s %8d\n' all "$total"
# A crate without a limit would grow unseen.
for manifest in crates/*/Cargo.toml; do
    name=$(sed -n 's/^name = "\(.*\)"/\1/p' "$manifest" | head -n 1)
    if ! cut -f1 scripts/crate_lines.tsv | grep -qx "$name"; then
        echo "$name is not in scripts/crate_lines.tsv" >&2
        failed=1
    fi
done
exit "$failed"
