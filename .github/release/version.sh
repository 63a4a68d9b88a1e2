#!/usr/bin/env bash
# Prints the version of Cargo.toml. With a tag as its argument: fails unless the tag is that version's.
set -euo pipefail
manifest=$(dirname "${BASH_SOURCE[0]}")/../../Cargo.toml
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$manifest" | head -n 1)
[[ -n "$version" ]] || { echo "version.sh: Cargo.toml has no version" >&2; exit 1; }
if [[ $# -gt 0 && "$1" != "v$version" ]]; then
  echo "version.sh: the tag is $1, and Cargo.toml says $version" >&2
  exit 1
fi
printf '%s\n' "$version"
