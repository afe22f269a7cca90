#!/usr/bin/env bash
# Runs a step of `.ci/run`, unless the files it depends on are those with which it passed last: `verified.tsv` holds their hash, with the commit and the date.
#
#     scripts/verified.sh STEP PATH… -- COMMAND…
#
# A step that passes writes its row; nothing else does. `JUROR_CI=full` runs every step. Exit code 3 of a command (it could not run here) leaves the row
# as it was.
set -euo pipefail
cd "$(dirname "$0")/.."

step=$1 table=scripts/verified.tsv paths=(scripts/verified.sh Cargo.toml Cargo.lock)
shift
while [[ $1 != -- ]]; do paths+=("$1"); shift; done
shift

# The hash names the committed files, the compiler and the command. With changes that git has not recorded there is none, and the step runs.
hash=
if state=$(git status --porcelain --untracked-files=all -- "${paths[@]}" 2> /dev/null) && [[ -z $state ]]; then
    hash=$({ rustc --version; echo "$*"; git ls-files -s -- "${paths[@]}"; } | sha256sum | cut -c1-16)
fi

read -r commit day < <(awk -v step="$step" -v hash="$hash" '$1 == step && $2 == hash { print $3, $4 }' "$table") || true
if [[ ${JUROR_CI:-} != full && -n $hash && -n $commit ]]; then
    echo "not run again: it passed with these files at $commit on $day"
    exit 0
fi
"$@"
[[ -n $hash ]] || exit 0
{
    awk -v step="$step" '$1 != step' "$table"
    printf '%s\t%s\t%s\t%s\n' "$step" "$hash" "$(git rev-parse --short HEAD)" "$(date -I)"
} > "$table.new"
mv "$table.new" "$table"
