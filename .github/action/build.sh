#!/usr/bin/env bash
# Builds the program from this action's own checkout.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
target=${RUNNER_TEMP:-$(mktemp -d)}/ownerlint-target

if [[ -x "$target/release/ownerlint" ]]; then
  output binary "$target/release/ownerlint"
  exit 0
fi
command -v cargo >/dev/null || fail "building ownerlint needs cargo: install a Rust toolchain in an earlier step, or set 'version'"
# The workflow may have given every step a token. Build scripts of dependencies have no use for one.
unset GH_TOKEN GITHUB_TOKEN ACTIONS_ID_TOKEN_REQUEST_TOKEN ACTIONS_ID_TOKEN_REQUEST_URL ACTIONS_RUNTIME_TOKEN
# From its own folder: a .cargo/config.toml or rust-toolchain.toml in the checked repository has no effect.
(cd "$root" && cargo build --release --locked --target-dir "$target" >&2) || fail "ownerlint could not be built"
output binary "$target/release/ownerlint"
