#!/usr/bin/env bash
# Stands in for a C compiler and archiver of another system, for a type-check of Rust: makes empty outputs.
set -euo pipefail
case " $* " in
*' -E '*) exec cc "$@" ;; # a build script asks whose compiler this is
esac
while [[ $# -gt 0 ]]; do
    case $1 in
    -o | cq | cqD) # a compiler's output, an archiver's archive
        : >"$2"
        shift
        ;;
    -[Ff]o* | /[Ff]o*) : >"${1:3}" ;;
    -out:* | /out:*) : >"${1:5}" ;;
    esac
    shift
done
