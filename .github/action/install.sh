#!/usr/bin/env bash
# Provides the binary: a released one when a version is asked for, else one built from this action's own checkout.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
temp=${RUNNER_TEMP:-$(mktemp -d)}

output() { printf '%s=%s\n' "$1" "$2" >>"${GITHUB_OUTPUT:-/dev/stdout}"; }
fail() { printf '::error title=ownerlint::%s\n' "$1"; exit 2; }

build() {
  command -v cargo >/dev/null || fail "building ownerlint needs cargo: install a Rust toolchain in a step before, or set 'version'"
  cargo build --release --locked --manifest-path "$root/Cargo.toml" --target-dir "$temp/ownerlint-target" >&2
  printf '%s\n' "$temp/ownerlint-target/release/ownerlint"
}

download() {
  local version=$1 target archive
  case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) target=x86_64-unknown-linux-musl ;;
    Linux-aarch64) target=aarch64-unknown-linux-musl ;;
    Darwin-arm64) target=aarch64-apple-darwin ;;
    Darwin-x86_64) target=x86_64-apple-darwin ;;
    *) return 1 ;;
  esac
  archive="ownerlint-$target.tar.gz"
  mkdir -p "$temp/ownerlint-bin"
  gh release download "v$version" --repo ownerlint/ownerlint --pattern "$archive" --dir "$temp/ownerlint-bin" --clobber >&2 || return 1
  # What was downloaded must be what the project's own workflow built.
  gh attestation verify "$temp/ownerlint-bin/$archive" --repo ownerlint/ownerlint >&2 || fail "$archive of v$version is not attested"
  tar -xzf "$temp/ownerlint-bin/$archive" -C "$temp/ownerlint-bin"
  printf '%s\n' "$temp/ownerlint-bin/ownerlint"
}

# A binary that the caller put there: tests of this action, and self-hosted runners without a network.
if [[ -n "${OWNERLINT_BINARY:-}" ]]; then
  binary=$OWNERLINT_BINARY
elif [[ -z "${VERSION:-}" ]]; then
  binary=$(build)
elif [[ ! "$VERSION" =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]]; then
  fail "'version' must look like 1.2.3"
elif ! binary=$(download "$VERSION"); then
  printf '::warning title=ownerlint::there is no release v%s for this runner, building from source\n' "$VERSION"
  binary=$(build)
fi

"$binary" --version >&2
output binary "$binary"
