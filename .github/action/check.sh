#!/usr/bin/env bash
# Runs ownerlint once and keeps its status for the gate.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

binary=${OWNERLINT:-${OWNERLINT_BINARY:-}}
"$binary" --version || fail "the program cannot be run"

temp=${RUNNER_TEMP:-$(mktemp -d)}
json="$temp/$NAME.json"
markdown="$temp/$NAME.md"
annotations="$temp/$NAME.annotations"
SARIF=${SARIF//'{name}'/$NAME}
rm -f "$json" "$markdown" "$annotations"
event=${GITHUB_EVENT_NAME:-}

# The commit that a pull request, or a group of a merge queue, starts from. A shallow checkout fetches what it lacks.
base_of_change() {
  local base
  git rev-parse --quiet --verify HEAD >/dev/null || return 1
  # The merge commit that GitHub makes of a pull request: its first parent is what it would be merged into.
  if [[ "$(git rev-parse HEAD)" == "${GITHUB_SHA:-}" && "$event" == pull_request ]]; then
    is_merge || deepen
    if is_merge; then
      git rev-parse HEAD^1
      return
    fi
  fi
  base=$(jq -r '.pull_request.base.sha // .merge_group.base_sha // empty' "$GITHUB_EVENT_PATH")
  [[ "$base" =~ ^[0-9a-f]{40}$ ]] || return 1
  # The base of a merge queue's group is the parent of its commit, unless the queue rebases.
  if ! reaches "$base" && [[ "$event" == merge_group ]]; then deepen; fi
  if ! reaches "$base"; then
    if [[ "$(git rev-parse --is-shallow-repository)" == true ]]; then
      git fetch --quiet --unshallow origin "$(git rev-parse HEAD)" "$base" || true
    else
      git fetch --quiet origin "$base" || true
    fi
    reaches "$base" || return 1
  fi
  printf '%s\n' "$base"
}

is_merge() { git rev-parse --quiet --verify 'HEAD^2' >/dev/null; }
deepen() { git fetch --quiet --depth=2 origin "$(git rev-parse HEAD)" || true; }
reaches() { git merge-base HEAD "$1" >/dev/null; }

# Inputs reach the command as array elements, never as shell text, and with `=` where they could be taken for options.
arguments=(check --output concise --output "json:$json" --output "markdown:$markdown")
if [[ -n "${FAIL_ON:-}" ]]; then arguments+=("--fail-on=$FAIL_ON"); fi
if is_true "${ANNOTATIONS:-true}"; then arguments+=(--output "github:$annotations"); fi
if [[ -n "${SARIF:-}" ]]; then arguments+=(--output "sarif:$SARIF"); fi
if [[ -n "${CONFIG:-}" ]]; then arguments+=("--config=$CONFIG"); fi
# A comment has room for 65,536 characters.
if is_true "${COMMENT:-false}"; then arguments+=(--markdown-bytes 60000); fi
if head=$(git rev-parse --quiet --verify HEAD 2>/dev/null); then
  arguments+=("--source-url=${GITHUB_SERVER_URL:-https://github.com}/$GITHUB_REPOSITORY/blob/$head")
fi

scope=
if is_true "${CHANGED_ONLY:-true}" && [[ "$event" == pull_request* || "$event" == merge_group ]]; then
  change="pull request"
  if [[ "$event" == merge_group ]]; then change="merge group"; fi
  if base=$(base_of_change 2>/dev/null); then
    arguments+=("--only-changed-from=$base")
    scope="This report contains only findings that the $change adds."
  else
    say warning "the base of this $change is not in the checkout, so all findings are reported; \
set fetch-depth: 2 for actions/checkout"
  fi
fi

while IFS= read -r line; do
  if [[ -n "$line" ]]; then arguments+=("$line"); fi
done <<<"${ARGS:-}"
arguments+=(--)
while IFS= read -r line; do
  if [[ -n "$line" ]]; then arguments+=("$line"); fi
done <<<"${PATHS:-}"

# The output contains names from the manifests. No line of it may be a command to the runner.
token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
status=0
printf '::stop-commands::%s\n' "$token"
"$binary" "${arguments[@]}" </dev/null 2>&1 || status=$?
printf '\n::%s::\n' "$token"
if [[ -f "$annotations" ]]; then cat "$annotations"; fi

# Nothing was checked if there is no report, whatever the status says: with `--help` among the arguments, for example.
if [[ "$status" != 2 && ! -s "$json" ]]; then
  say error "ownerlint exited with status $status and wrote no report"
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

if [[ -s "$markdown" ]]; then
  report=$(<"$markdown")
  {
    printf '%s%s\n' "$(title)" "${report#"## ownerlint"}"
    if [[ "$status" == 3 ]]; then printf '\n%s\n' "$NOTHING_CHECKED"; fi
    if [[ -n "$scope" ]]; then printf '\n%s\n' "$scope"; fi
  } >"$markdown"
fi
if is_true "${SUMMARY:-true}" && [[ -s "$markdown" && -n "${GITHUB_STEP_SUMMARY:-}" ]]; then
  cat "$markdown" >>"$GITHUB_STEP_SUMMARY"
fi
