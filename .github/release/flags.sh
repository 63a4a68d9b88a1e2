#!/usr/bin/env bash
# Prints the RUSTFLAGS of a release: no path of the machine that builds it gets into the binary, so whoever builds the same commit
# with the same compiler elsewhere gets the same bytes.
set -euo pipefail
# The compiler of Windows knows nothing of the paths of its bash.
native() { if command -v cygpath >/dev/null; then cygpath -w "$1"; else printf '%s' "$1"; fi; }
checkout=$(native "$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)")
cargo=$(native "${CARGO_HOME:-$HOME/.cargo}")
printf '%s' "--remap-path-prefix=$cargo=/cargo --remap-path-prefix=$checkout=/ownerlint"
