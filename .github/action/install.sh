#!/usr/bin/env bash
# Provides the binary: a released one when a version is asked for, else one built from this action's own checkout.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
temp=${RUNNER_TEMP:-$(mktemp -d)}
repository=ownerlint/ownerlint

# Standard output is the path of the binary.
fail() {
  say error "$1" >&2
  exit 2
}

build() {
  command -v cargo >/dev/null || fail "building ownerlint needs cargo: install a Rust toolchain in a step before, or set 'version'"
  # From its own folder: a .cargo/config.toml or rust-toolchain.toml of the repository that is checked has no say. Linking the
  # whole program at once would double the time and serve nobody here.
  (cd "$root" && CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
    cargo build --release --locked --target-dir "$temp/ownerlint-target" >&2) || fail "ownerlint could not be built"
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
  gh release download "v$version" --repo "$repository" --pattern "$archive" --dir "$temp/ownerlint-bin" --clobber >&2 || return 1
  # What was downloaded must be what the project's own workflow built.
  gh attestation verify "$temp/ownerlint-bin/$archive" --repo "$repository" >&2 || fail "$archive of v$version is not attested"
  tar -xzf "$temp/ownerlint-bin/$archive" -C "$temp/ownerlint-bin" ownerlint || fail "$archive of v$version cannot be unpacked"
  printf '%s\n' "$temp/ownerlint-bin/ownerlint"
}

# A binary that the caller put there: tests of this action, and self-hosted runners without a network.
if [[ -n "${OWNERLINT_BINARY:-}" ]]; then
  binary=$OWNERLINT_BINARY
elif [[ -z "${VERSION:-}" ]]; then
  binary=$(build)
elif [[ ! "$VERSION" =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]]; then
  fail "'version' must look like 1.2.3"
else
  status=0
  binary=$(download "$VERSION") || status=$?
  if [[ "$status" == 2 ]]; then exit 2; fi
  if [[ "$status" != 0 ]]; then
    say warning "there is no release v$VERSION for this runner: this action's own version is built from source instead"
    binary=$(build)
  fi
fi

"$binary" --version >&2
output binary "$binary"
