#!/usr/bin/env bash
# Type-checks for systems that this one is not: macOS on Apple's processors, with its GPU, and Windows. Needs rustup; C
# code of dependencies is not compiled. Exit code 3: a target cannot be had, and nothing was checked for it.
#
#     scripts/check_platforms.sh [TARGET…]
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
targets=("$@")
[[ $# -gt 0 ]] || targets=(aarch64-apple-darwin x86_64-pc-windows-msvc)

for target in "${targets[@]}"; do
    rustup target add "$target" 2>/dev/null || {
        echo "rustup cannot add $target: not checked" >&2
        exit 3
    }
    name=${target//-/_}
    export "CC_$name=$root/scripts/stand_in_cc.sh" "CXX_$name=$root/scripts/stand_in_cc.sh" "AR_$name=$root/scripts/stand_in_cc.sh"
    # Apple's with its GPU, which adds code and takes none away; the other without features, so without a server.
    features=(--no-default-features)
    [[ $target != *-apple-* ]] || features=(--features metal)
    echo "== $target ${features[*]}" >&2
    RUSTFLAGS="-D warnings" cargo check --target "$target" --bins --lib "${features[@]}"
done
