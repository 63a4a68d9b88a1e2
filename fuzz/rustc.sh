#!/bin/sh
# Runs rustc for a build of the targets in which only edges of ownerlint and of the targets are counted, not those of other
# crates: see README.md. Cargo calls it with the path of rustc first.
rustc=$1
shift
previous=
for argument in "$@"; do
    [ "$previous" = --crate-name ] && name=$argument
    previous=$argument
done
flags="-Ccodegen-units=1 -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4"
flags="$flags -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
if [ "$name" = ownerlint ] || [ -e "fuzz_targets/$name.rs" ]; then
    # shellcheck disable=SC2086
    exec "$rustc" "$@" $flags
fi
exec "$rustc" "$@"
