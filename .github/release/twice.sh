#!/usr/bin/env bash
# Builds the commit of this checkout twice, as a release is built: in two folders, with two homes of cargo. Fails unless both binaries
# have the same hash, which it prints. Usage: twice.sh FOLDER [TARGET]; FOLDER is made.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
folder=$1
target=${2:-$(rustc -vV | sed -n 's/^host: //p')}
mkdir -p "$folder/one" "$folder/another/and/deeper" "$folder/home"
folder=$(cd "$folder" && pwd -P)
export RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup} CARGO_INCREMENTAL=0
unset CARGO_TARGET_DIR

build() {
  git clone --quiet "$repository" "$1"
  git -C "$1" checkout --quiet "$(git -C "$repository" rev-parse HEAD)"
  (cd "$1" && RUSTFLAGS=$(.github/release/flags.sh) cargo build --quiet --profile dist --locked --target "$target" --bin ownerlint)
  sha256sum <"$1/target/$target/dist/ownerlint"
}

one=$(build "$folder/one/ownerlint")
two=$(CARGO_HOME=$folder/home build "$folder/another/and/deeper/ownerlint")
printf '%s\n%s\n' "$one" "$two"
[[ "$one" == "$two" ]]
