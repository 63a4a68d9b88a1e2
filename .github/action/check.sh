#!/usr/bin/env bash
# Runs ownerlint once and keeps its status for the gate.
set -euo pipefail

temp=${RUNNER_TEMP:-$(mktemp -d)}
json="$temp/ownerlint.json"
markdown="$temp/ownerlint.md"
rm -f "$json" "$markdown"

output() { printf '%s=%s\n' "$1" "$2" >>"${GITHUB_OUTPUT:-/dev/stdout}"; }
is_true() { [[ "${1:-}" == true ]]; }

# Inputs reach the command as array elements, never as shell text.
arguments=(check --fail-on "${FAIL_ON:-error}" --output "json:$json" --output "markdown:$markdown")
is_true "${ANNOTATIONS:-true}" && arguments+=(--output github)
[[ -n "${SARIF:-}" ]] && arguments+=(--output "sarif:$SARIF")
[[ -n "${CONFIG:-}" ]] && arguments+=(--config "$CONFIG")

# What a pull request touches is told by its base; a shallow checkout may not have it yet.
if is_true "${CHANGED_ONLY:-true}" && [[ "${GITHUB_EVENT_NAME:-}" == pull_request* ]]; then
  base=$(jq -r '.pull_request.base.sha // empty' "$GITHUB_EVENT_PATH")
  if [[ "$base" =~ ^[0-9a-f]{40}$ ]]; then
    git cat-file -e "$base^{commit}" 2>/dev/null || git fetch --quiet --depth=1 origin "$base" || true
    if git cat-file -e "$base^{commit}" 2>/dev/null; then
      arguments+=(--only-changed-from "$base")
    else
      printf '::warning title=ownerlint::the base commit is not in this checkout, all findings are reported (actions/checkout with fetch-depth 0 helps)\n'
    fi
  fi
fi

while IFS= read -r line; do
  [[ -n "$line" ]] && arguments+=("$line")
done <<<"${ARGS:-}"
paths=()
while IFS= read -r line; do
  [[ -n "$line" ]] && paths+=("$line")
done <<<"${PATHS:-}"

status=0
"$OWNERLINT" "${arguments[@]}" -- "${paths[@]}" || status=$?

output exit-code "$status"
output json-file "$json"
output sarif-file "${SARIF:-}"
output markdown-file "$markdown"
count() { if [[ -s "$json" ]]; then jq "$1" "$json"; else echo 0; fi; }
output errors "$(count .summary.error)"
output warnings "$(count .summary.warning)"
output findings "$(count '.findings | length')"

if is_true "${SUMMARY:-true}" && [[ -s "$markdown" && -n "${GITHUB_STEP_SUMMARY:-}" ]]; then
  cat "$markdown" >>"$GITHUB_STEP_SUMMARY"
fi
