#!/usr/bin/env bash
# Runs ownerlint once and keeps its status for the gate.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

temp=${RUNNER_TEMP:-$(mktemp -d)}
json="$temp/ownerlint.json"
markdown="$temp/ownerlint.md"
annotations="$temp/ownerlint.annotations"
rm -f "$json" "$markdown" "$annotations"

# The commit that the pull request starts from. A shallow checkout gets what it lacks.
base_of_change() {
  local base
  git rev-parse --quiet --verify HEAD >/dev/null || return 1
  # The merge commit that GitHub makes of a pull request: its first parent is what it would be merged into.
  if [[ "$(git rev-parse HEAD)" == "${GITHUB_SHA:-}" && "$GITHUB_EVENT_NAME" == pull_request ]]; then
    is_merge || git fetch --quiet --depth=2 origin "$GITHUB_SHA" || true
    if is_merge; then
      git rev-parse HEAD^1
      return
    fi
  fi
  base=$(jq -r '.pull_request.base.sha // empty' "$GITHUB_EVENT_PATH")
  [[ "$base" =~ ^[0-9a-f]{40}$ ]] || return 1
  if ! git merge-base HEAD "$base" >/dev/null; then
    if [[ "$(git rev-parse --is-shallow-repository)" == true ]]; then
      git fetch --quiet --unshallow origin "$(git rev-parse HEAD)" "$base" || true
    else
      git fetch --quiet origin "$base" || true
    fi
    git merge-base HEAD "$base" >/dev/null || return 1
  fi
  printf '%s\n' "$base"
}

is_merge() { git rev-parse --quiet --verify 'HEAD^2' >/dev/null; }

# Inputs reach the command as array elements, never as shell text, and with `=` where they could be taken for options.
arguments=(check --output concise --output "json:$json" --output "markdown:$markdown")
if [[ -n "${FAIL_ON:-}" ]]; then arguments+=("--fail-on=$FAIL_ON"); fi
if is_true "${ANNOTATIONS:-true}"; then arguments+=(--output "github:$annotations"); fi
if [[ -n "${SARIF:-}" ]]; then arguments+=(--output "sarif:$SARIF"); fi
if [[ -n "${CONFIG:-}" ]]; then arguments+=("--config=$CONFIG"); fi
# A comment takes 65,536 characters.
if is_true "${COMMENT:-false}"; then arguments+=(--markdown-bytes 60000); fi
if head=$(git rev-parse --quiet --verify HEAD 2>/dev/null); then
  arguments+=("--source-url=${GITHUB_SERVER_URL:-https://github.com}/$GITHUB_REPOSITORY/blob/$head")
fi

scope=
if is_true "${CHANGED_ONLY:-true}" && [[ "${GITHUB_EVENT_NAME:-}" == pull_request* ]]; then
  if base=$(base_of_change 2>/dev/null); then
    arguments+=("--only-changed-from=$base")
    scope="Only what this pull request touches is reported."
  else
    say warning "the base of this pull request is not in the checkout, so all findings are reported; \
actions/checkout with fetch-depth: 2 helps"
  fi
fi

while IFS= read -r line; do
  if [[ -n "$line" ]]; then arguments+=("$line"); fi
done <<<"${ARGS:-}"
arguments+=(--)
while IFS= read -r line; do
  if [[ -n "$line" ]]; then arguments+=("$line"); fi
done <<<"${PATHS:-}"

# What is printed meanwhile holds names from the manifests. No line of it is a command to the runner.
token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
status=0
printf '::stop-commands::%s\n' "$token"
"$OWNERLINT" "${arguments[@]}" </dev/null 2>&1 || status=$?
printf '\n::%s::\n' "$token"
if [[ -f "$annotations" ]]; then cat "$annotations"; fi

# Nothing was checked if there is no report, whatever the status says: `--help` among the arguments, say.
if [[ "$status" != 2 && ! -s "$json" ]]; then
  say error "ownerlint ended with status $status and wrote no report"
  status=2
fi
count() { if [[ -s "$json" ]]; then jq "$1" "$json"; else echo 0; fi; }
output exit-code "$status"
output errors "$(count .summary.error)"
output warnings "$(count .summary.warning)"
output findings "$(count '.findings | length')"
output json-file "$(if [[ -s "$json" ]]; then printf '%s' "$json"; fi)"
output sarif-file "$(if [[ -n "${SARIF:-}" && -s "$SARIF" ]]; then printf '%s' "$SARIF"; fi)"
output markdown-file "$markdown"

if [[ -s "$markdown" && -n "$scope" ]]; then printf '\n%s\n' "$scope" >>"$markdown"; fi
if is_true "${SUMMARY:-true}" && [[ -s "$markdown" && -n "${GITHUB_STEP_SUMMARY:-}" ]]; then
  cat "$markdown" >>"$GITHUB_STEP_SUMMARY"
fi
