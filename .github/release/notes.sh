#!/usr/bin/env bash
# Prints what CHANGELOG.md says of a version: notes.sh VERSION. Fails if it says nothing, or still calls it unreleased.
set -euo pipefail
version=${1:?usage: notes.sh VERSION}
changelog=$(dirname "${BASH_SOURCE[0]}")/../../CHANGELOG.md

heading=$(grep -m1 -F "## $version" "$changelog") || { echo "notes.sh: CHANGELOG.md has no section '## $version'" >&2; exit 1; }
if [[ "$heading" == *unreleased* ]]; then
  echo "notes.sh: CHANGELOG.md calls $version unreleased: write the day of the release there" >&2
  exit 1
fi
notes=$(awk -v heading="$heading" '$0 == heading { told = 1; next } /^## / { told = 0 } told' "$changelog")
[[ -n "${notes//[[:space:]]/}" ]] || { echo "notes.sh: the section '$heading' is empty" >&2; exit 1; }
printf '%s\n' "$notes"
