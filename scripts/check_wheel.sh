#!/usr/bin/env bash
# Checks a wheel of scripts/build_wheel.sh as a user would have it.
#
#     scripts/check_wheel.sh WHEEL [PYTHON…]     in a clean environment of each PYTHON (python3)
#
# Its metadata, its size, the glibc that it needs; then it is installed, `juror` runs, and a sample is judged.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
wheel=$(realpath "$1")
shift
[[ $# -gt 0 ]] || set -- python3
tools="${CARGO_TARGET_DIR:-$root/target}/wheel-tools"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

"$tools/bin/python" -m twine check --strict "$wheel"
echo "size: $(stat -c %s "$wheel") bytes"
"$tools/bin/python" -m zipfile -e "$wheel" unpacked
find unpacked -name juror -type f -o -name '*.so' | while read -r file; do
    newest=$(grep -aoE 'GLIBC_2\.[0-9]+' "$file" | sort -Vu | tail -1)
    echo "$(basename "$file"): needs $newest"
    [[ $(printf '%s\nGLIBC_2.28\n' "$newest" | sort -V | tail -1) == GLIBC_2.28 ]]
done

for python in "$@"; do
    rm -rf clean
    "$python" -m venv clean
    clean/bin/python -m pip install --quiet --disable-pip-version-check --no-index "$wheel"
    clean/bin/python --version
    clean/bin/juror --version
    env -u JUROR_BINARY -u JUROR_URL clean/bin/python -W error - <<'PYTHON'
from juror_rs import Judge, verify, verify_batch
from juror_rs.math_verify import parse
from juror_rs.math_verify import verify as like_math_verify

assert verify(r"\frac{1}{2}", "The answer is 0.5.").equal
assert [verification.equal for verification in verify_batch([("1", "1"), ("1", "2")] * 1000)] == [True, False] * 1000
assert like_math_verify(parse("$x+1$"), parse("$1+x$"))
with Judge("tiny") as judge:
    samples = [
        {"question": "Tom has 3 apples and buys 4 more. How many has he?", "reference": "7", "response": f"3 + 4 = {n}. The answer is {n}."}
        for n in (7, 8)
    ]
    verdicts = judge.judge(samples)
print([(verdict.status, verdict.process, verdict.outcome, verdict.reward) for verdict in verdicts])
assert [verdict.reward for verdict in verdicts] == [1.0, 0.0]
PYTHON
done
