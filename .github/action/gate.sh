#!/usr/bin/env bash
# The last step: the status of ownerlint decides the job.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

case "${EXIT_CODE:-}" in
  0) ;;
  1)
    echo "ownerlint: findings at or above 'fail-on'"
    exit 1
    ;;
  3) say warning "$NOTHING_CHECKED" ;;
  *) fail "ownerlint did not finish (status ${EXIT_CODE:-unknown})" ;;
esac
