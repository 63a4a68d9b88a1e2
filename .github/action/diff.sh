#!/usr/bin/env bash
# Says what merging the change deletes. Its status is kept for the gate.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

json="$FOLDER/$NAME.diff.json"
markdown="$FOLDER/$NAME.diff.md"
annotations="$FOLDER/$NAME.diff.annotations"
sarif="$FOLDER/$NAME.diff.sarif"

# Whether git has something under a path, in one of the two commits.
is_known() {
  local commit
  for commit in "$BASE" HEAD; do
    if [[ -n "$(git ls-tree -r --name-only "$commit" -- "$1" 2>/dev/null)" ]]; then return; fi
  done
  return 1
}

# Inputs reach the command as array elements, never as shell text, and with `=` where they could be taken for options.
arguments=(diff --output concise --output "json:$json" --output "markdown:$markdown")
if [[ -n "${FAIL_ON:-}" ]]; then arguments+=("--fail-on=$FAIL_ON"); fi
if is_true "${REQUIRE_KNOWN:-false}"; then arguments+=(--fail-on=unknown); fi
if is_true "${ANNOTATIONS:-true}"; then arguments+=(--output "github:$annotations"); fi
if [[ -n "${SARIF:-}" ]]; then arguments+=(--output "sarif:$sarif"); fi
if [[ -n "${CONFIG:-}" ]]; then arguments+=("--config=$CONFIG"); fi
# Together with the findings of the check it must fit into a comment of 65,536 characters, or into a job summary of 1 MiB.
room=500000
if is_true "${COMMENT:-false}"; then room=30000; fi
arguments+=(--markdown-bytes "$room")

paths=()
while IFS= read -r line; do
  if [[ -n "$line" ]]; then paths+=("$line"); fi
done <<<"${PATHS:-}"
if [[ -n "${BASE_PATH:-}" ]]; then
  arguments+=("--base=$BASE_PATH" "--head=${paths[0]:-.}")
  # What is checked out is the change's own: its configuration decides nothing about it.
  if [[ -n "${BASE:-}" ]]; then arguments+=("--config-ref=$BASE"); fi
  paths=()
else
  arguments+=("--base-ref=$BASE" --head-ref=HEAD)
  known=()
  passed_over=()
  glob='[*?[{]'
  for path in ${paths[@]+"${paths[@]}"}; do
    # A glob is the program's to expand.
    if [[ "$path" =~ $glob ]] || is_known "$path"; then known+=("$path"); else passed_over+=("$path"); fi
  done
  output passed-over "${passed_over[*]-}"
  if [[ ${#paths[@]} -gt 0 && ${#known[@]} -eq 0 ]]; then
    say notice "none of the paths is in git, so nothing is compared: render the base too, and name its output in 'base-path'"
    exit 0
  fi
  paths=(${known[@]+"${known[@]}"})
fi
if [[ -n "${ACCEPTED:-}" ]]; then arguments+=("--accept-file=$ACCEPTED" "--accepted-by=$ACCEPTED_BY"); fi
if [[ "${RENDER:-false}" == true ]]; then arguments+=(--render); fi
while IFS= read -r line; do
  if [[ -n "$line" ]]; then arguments+=("$line"); fi
done <<<"${DIFF_ARGS:-}"
arguments+=(-- ${paths[@]+"${paths[@]}"})

status=0
run "${OWNERLINT:-${OWNERLINT_BINARY:-}}" "${arguments[@]}" || status=$?
if [[ -f "$annotations" ]]; then cat "$annotations"; fi
if [[ "$status" != 2 && ! -s "$json" ]]; then
  say error "ownerlint diff exited with status $status and wrote no report"
  status=2
fi
output exit-code "$status"
output findings "$(count "$json" '.findings | length')"
output deleted "$(count "$json" '[.effects[] | select(.effect == "deleted" or .effect == "cascaded" or .effect == "generated-deleted")] | length')"
output stuck "$(count "$json" .summary.stuck)"
output json-file "$(if [[ -s "$json" ]]; then printf '%s' "$json"; fi)"
output markdown-file "$(if [[ -s "$markdown" ]]; then printf '%s' "$markdown"; fi)"
output sarif-file "$(if [[ -s "$sarif" ]]; then printf '%s' "$sarif"; fi)"
