#!/usr/bin/env bash
# Fails unless the commit that is checked out is on the main branch of the origin.
set -euo pipefail
if ! git merge-base --is-ancestor HEAD refs/remotes/origin/main; then
  echo "on-main.sh: $(git rev-parse HEAD) is not on origin/main" >&2
  exit 1
fi
