#!/usr/bin/env bash
# Runs the real code of each client against juror, and writes docs/guide/conformance.md.
#
#   scripts/conformance.sh [CLIENT…]      (all of python/conformance/clients.toml, if none is named)
#
# Needs uv, which is fetched from PyPI where it is missing, and the Pythons of clients.toml (uv fetches what it does not find).
# Each client has an environment in $CONFORMANCE_DIR (target/conformance if not set), made from pinned requirements.
# JUROR_WHEEL: the wheel to test (dist/juror_rs-*.whl if not set; scripts/build_wheel.sh builds it). JUROR_WHEEL=checkout: the
# package in python/, with the program of JUROR_BINARY and the bindings as python/juror_rs/_rules.abi3.so. SLIME_SOURCE: a folder with
# slime's source. UV_EXCLUDE: a file of packages that are left out, as CUDA's libraries; PyPI's torch is made importable without them.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
environments=${CONFORMANCE_DIR:-$root/target/conformance}
results=$environments/results
mkdir -p "$results"
rm -f "$results"/*

setting() { # CLIENT KEY: of clients.toml
    sed -n "/^\[$1\]/,/^\[/s/^$2 = \"\(.*\)\"/\1/p" python/conformance/clients.toml
}

wheel=${JUROR_WHEEL:-$(ls -t dist/juror_rs-*.whl 2>/dev/null | head -n 1 || true)}
if [ -z "$wheel" ]; then
    echo "no wheel in dist/: run scripts/build_wheel.sh, set JUROR_WHEEL to a wheel, or JUROR_WHEEL=checkout" >&2
    exit 1
fi
if [ "$#" -eq 0 ]; then
    mapfile -t clients < <(sed -n 's/^\[\(.*\)\]$/\1/p' python/conformance/clients.toml)
else
    clients=("$@")
fi

if ! command -v uv >/dev/null; then
    tools=$environments/tools
    if ! { [ -x "$tools/bin/uv" ] || { python3 -m venv "$tools" && "$tools/bin/pip" install --quiet uv==0.13.9; }; }; then
        echo "uv is missing, and cannot be installed from PyPI: https://docs.astral.sh/uv says how else" >&2
        exit 1
    fi
    export PATH=$PATH:$tools/bin
fi

failed=()
for client in "${clients[@]}"; do
    tests=$(setting "$client" tests)
    if [ -z "$tests" ]; then
        echo "there is no client $client in python/conformance/clients.toml" >&2
        exit 2
    fi
    if [ "$client" = slime ] && [ -z "${SLIME_SOURCE:-}" ]; then
        echo "== slime: skipped; it is not on PyPI: set SLIME_SOURCE to a folder with its source"
        continue
    fi
    echo "== $client"
    # Without results the table says that there are none.
    echo '–' >"$results/$client.version"
    environment=$environments/$client
    python=$environment/bin/python
    if [ ! -x "$python" ]; then
        uv venv --quiet --seed --python "$(setting "$client" python)" "$environment"
    fi
    if ! uv pip install --quiet --python "$python" -r "python/conformance/$client.txt"; then
        failed+=("$client")
        continue
    fi
    if [ -e "python/conformance/$client.no-deps.txt" ] && ! "$python" -m pip install --quiet --no-deps --ignore-requires-python \
        -r "python/conformance/$client.no-deps.txt"; then
        failed+=("$client")
        continue
    fi
    # Without CUDA's libraries, which no test needs, PyPI's torch is made importable.
    if [ -n "$(find "$environment"/lib/python*/site-packages -maxdepth 1 -name torch)" ] && ! "$python" scripts/tiny_judge/torch_cpu.py >/dev/null; then
        failed+=("$client")
        continue
    fi
    path=${SLIME_SOURCE:-}
    if [ "$wheel" = checkout ]; then
        path=$root/python${path:+:$path}
    else
        uv pip install --quiet --python "$python" --reinstall "$wheel"
    fi
    package=$(setting "$client" package)
    if [ -n "$package" ]; then
        "$python" -c "import importlib.metadata as m; print(m.version('$package'))" >"$results/$client.version"
    else
        git -C "$SLIME_SOURCE" log -1 --format=%h >"$results/$client.version" 2>/dev/null || echo "${SLIME_VERSION:-source}" >"$results/$client.version"
    fi
    # In the client's own environment nothing may be skipped: a missing package is a failure.
    PYTHONPATH=$path "$python" -m pytest -q -rs -c python/conformance/pytest.ini --rootdir python -p no:cacheprovider \
        --junitxml "$results/$client.xml" "python/tests/adapters/$tests" || failed+=("$client")
    if [ ! -e "$results/$client.xml" ]; then
        echo "$client: pytest has written no results" >&2
        failed+=("$client")
    elif ! grep -q 'skipped="0"' "$results/$client.xml"; then
        echo "$client: tests were skipped" >&2
        failed+=("$client")
    fi
done

uv run --quiet --no-project --python '>=3.11' python python/conformance/table.py "$results" docs/guide/conformance.md
sed -n '/<!-- table -->/,/<!-- end of table -->/p' docs/guide/conformance.md | grep '^|'
if [ "${#failed[@]}" -gt 0 ]; then
    echo "failed: ${failed[*]}" >&2
    exit 1
fi
