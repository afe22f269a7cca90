#!/usr/bin/env bash
# Builds the wheel juror-rs: the program `juror`, the bindings of the rules, and the Python package, for glibc 2.28 and later.
#
#     scripts/build_wheel.sh [FOLDER]     the wheel goes to FOLDER (dist)
#
# Needs Rust and Python 3.10 or later; zig and maturin come from python/requirements-build.txt, into the target folder. zig
# links against old versions of glibc's symbols, so no old system is needed. Ten minutes on two cores.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
out=$(mkdir -p "${1:-dist}" && cd "${1:-dist}" && pwd)
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target}"
glibc=2.28

tools="$CARGO_TARGET_DIR/wheel-tools"
[[ -x $tools/bin/python ]] || "${PYTHON:-python3}" -m venv "$tools"
"$tools/bin/python" -m pip install --quiet --disable-pip-version-check -r python/requirements-build.txt
export PATH="$tools/bin:$PATH"

host=$(rustc -vV | sed -n 's/^host: //p')
cargo zigbuild --release --locked --bin juror --target "$host.$glibc"

# What maturin finds in `MODULE.data/scripts` is installed beside Python as a program.
data=python/juror_rs._rules.data
rm -rf "$data"
trap 'rm -rf "$data"' EXIT
install -D -m 755 "$CARGO_TARGET_DIR/$host/release/juror" "$data/scripts/juror"

maturin build --release --locked --zig --compatibility "manylinux_${glibc/./_}" --manifest-path python/Cargo.toml --out "$out"
