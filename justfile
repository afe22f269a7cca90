# What a developer does, by name. `just` alone lists them.

default:
    @just --list

# Format everything.
fmt:
    cargo fmt --all

# Everything that must hold before a commit.
lint:
    cargo fmt --all -- --check
    cargo clippy --all-targets --test cuda_driver --test kernels -- -D warnings
    cargo clippy --no-default-features --lib --bin juror -- -D warnings
    cargo clippy -p juror-candle-transformers --all-targets -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --document-private-items

# All tests: no GPU, no network, no Python.
test *ARGS:
    cargo test {{ ARGS }}

# CUDA's kernels in an emulation, and the host's side on an imitated driver: the program is built a second time, with the feature `cuda`.
test-driver *ARGS:
    cargo test --test kernels --test cuda_driver {{ ARGS }}

# Families against candle-transformers; the goldens of `cargo test` hold them against transformers.
candle-transformers *ARGS:
    cargo test -p juror-candle-transformers {{ ARGS }}

# The Python package: types, examples, tests (needs Python 3.10 or later and Node.js, and downloads packages).
python *ARGS:
    scripts/check_python.sh {{ ARGS }}

# The wheel of the Python package, in dist.
wheel *ARGS:
    scripts/build_wheel.sh {{ ARGS }}

# All benches: the steps around the model, the rules, the CPU's kernels, and the throughput of the embedded judge.
bench *ARGS:
    cargo bench {{ ARGS }}

# Make the goldens anew: logits, chat templates, tokenizers (needs Python with torch, transformers and peft).
golden:
    python scripts/golden_models.py
    python scripts/golden_adapters.py
    python scripts/golden_quantised.py
    python scripts/golden_chat.py

# Reports, `label --page` and `view` in Chromium (needs Node.js with playwright-core and axe-core, and a release build).
pages *ARGS:
    node scripts/check_pages.mjs {{ ARGS }}

# The guide's pictures of the pages, made anew (needs what `pages` needs).
pictures *ARGS:
    node scripts/guide_pictures.mjs {{ ARGS }}

# Type-check the CUDA feature without a CUDA toolkit.
check-cuda:
    scripts/check_cuda.sh

# On a machine with a GPU, a part at a time: check, correctness, thorough, bench, peer, profiles, report.
test-gpu *ARGS:
    scripts/test_gpu.sh {{ ARGS }}

# The real code of each client (trainers, harnesses, OpenAI's client, Ray Data) against juror; writes docs/guide/conformance.md. Before a release.
conformance *CLIENTS:
    scripts/conformance.sh {{ CLIENTS }}

# The documentation as a book in target/book, links checked (needs mdbook, mdbook-linkcheck2 and Python).
book:
    mdbook build
    python3 scripts/check_book.py

# Type-check for macOS and Windows, as far as it goes without their C compilers.
platforms *TARGETS:
    scripts/check_platforms.sh {{ TARGETS }}

# The image's root file system from Debian's packages, and the program in it (needs Debian, and root for chroot).
image *ARGS:
    scripts/check_image.sh {{ ARGS }}
