#!/usr/bin/env bash
# The last step: the status of ownerlint decides the job.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Asked to know, it does not pass what was not compared.
if is_true "${REQUIRE_KNOWN:-false}"; then
  case "${EXIT_CODE:-} ${GITHUB_EVENT_NAME:-}${BASE_PATH:+ with a rendering}" in
    "3 "*) fail "'require-known' is set, and no object was found" ;;
    "0 pull_request"* | "0 merge_group"* | "0 "*" with a rendering")
      if is_true "${DIFF:-true}" && [[ "${DIFF_EXIT_CODE:-3}" == 3 ]]; then fail "'require-known' is set, and nothing was compared"; fi
      if [[ -n "${PASSED_OVER:-}" ]]; then fail "'require-known' is set, and these paths are in no commit: $PASSED_OVER"; fi
      ;;
  esac
fi

case "${EXIT_CODE:-}" in
  0) ;;
  1)
    echo "ownerlint: findings at or above 'fail-on'"
    exit 1
    ;;
  3) say warning "$NOTHING_CHECKED" ;;
  *) fail "ownerlint did not finish (status ${EXIT_CODE:-unknown})" ;;
esac
