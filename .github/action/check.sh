#!/usr/bin/env bash
# Runs ownerlint once and keeps its status for the gate.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

binary=${OWNERLINT:-${OWNERLINT_BINARY:-}}
"$binary" --version || fail "the program cannot be run"

json="$FOLDER/$NAME.json"
markdown="$FOLDER/$NAME.md"
annotations="$FOLDER/$NAME.annotations"
sarif=
if [[ -n "${SARIF:-}" ]]; then
  mkdir "$FOLDER/sarif"
  sarif="$FOLDER/sarif/$(file_name "${SARIF//'{name}'/$NAME}")"
fi
# Inputs reach the command as array elements, never as shell text, and with `=` where they could be taken for options.
arguments=(check --output concise --output "json:$json" --output "markdown:$markdown")
if [[ -n "${FAIL_ON:-}" ]]; then arguments+=("--fail-on=$FAIL_ON"); fi
if is_true "${ANNOTATIONS:-true}"; then arguments+=(--output "github:$annotations"); fi
if [[ -n "$sarif" ]]; then arguments+=(--output "sarif:$sarif"); fi
if [[ -n "${CONFIG:-}" ]]; then arguments+=("--config=$CONFIG"); fi
# A comment has room for 65,536 characters, and a job summary for 1 MiB; what merging deletes comes first.
room=1000000
if is_true "${COMMENT:-false}"; then room=60000; fi
if [[ -s "${DIFF_MARKDOWN:-}" ]]; then room=$((room - $(wc -c <"$DIFF_MARKDOWN"))); fi
arguments+=(--markdown-bytes "$room")
if head=$(git rev-parse --quiet --verify HEAD 2>/dev/null); then
  arguments+=("--source-url=${GITHUB_SERVER_URL:-https://github.com}/$GITHUB_REPOSITORY/blob/$head")
fi

scope=
if [[ -n "${BASE:-}" ]] && is_true "${CHANGED_ONLY:-true}"; then
  arguments+=("--only-changed-from=$BASE")
  change="pull request"
  if [[ "${GITHUB_EVENT_NAME:-}" == merge_group ]]; then change="merge group"; fi
  scope="This report contains only findings that the $change adds."
fi

while IFS= read -r line; do
  if [[ -n "$line" ]]; then arguments+=("$line"); fi
done <<<"${ARGS:-}"
arguments+=(--)
while IFS= read -r line; do
  if [[ -n "$line" ]]; then arguments+=("$line"); fi
done <<<"${PATHS:-}"

status=0
run "$binary" "${arguments[@]}" || status=$?
if [[ -f "$annotations" ]]; then cat "$annotations"; fi

# One run of one tool, or GitHub rejects the file: what merging does comes first, and the rules of both are told apart by their places.
if [[ -s "$sarif" && -s "${DIFF_SARIF:-}" ]]; then
  both="$FOLDER/$NAME.both.sarif"
  jq --slurpfile diff "$DIFF_SARIF" '
    $diff[0].runs[0] as $diff
    | .runs[0] |= ((.tool.driver.rules | length) as $rules
      | .tool.driver.rules += $diff.tool.driver.rules
      | .results = ([$diff.results[] | .ruleIndex += $rules] + .results)[:5000]
      | .invocations += $diff.invocations)' "$sarif" >"$both"
  mv "$both" "$sarif"
fi

# Nothing was checked if there is no report, whatever the status says: with `--help` among the arguments, for example.
if [[ "$status" != 2 && ! -s "$json" ]]; then
  say error "ownerlint exited with status $status and wrote no report"
  status=2
fi
# The worse of both: a failure, then findings.
case "$status-${DIFF_EXIT_CODE:-0}" in
  2-* | *-2) output exit-code 2 ;;
  1-* | *-1) output exit-code 1 ;;
  *) output exit-code "$status" ;;
esac
output errors "$(count "$json" .summary.error)"
output warnings "$(count "$json" .summary.warning)"
output findings "$(count "$json" '.findings | length')"
output json-file "$(if [[ -s "$json" ]]; then printf '%s' "$json"; fi)"
output sarif-file "$(if [[ -s "$sarif" ]]; then printf '%s' "$sarif"; fi)"
output markdown-file "$markdown"

# What merging does comes first if it is worth a comment, else as a line at the end.
is_news=false
if [[ "${DIFF_DELETED:-0}" != 0 || "${DIFF_STUCK:-0}" != 0 || "${DIFF_FINDINGS:-0}" != 0 ]]; then is_news=true; fi
# A heading without a deletion says that ownerlint cannot tell.
if [[ -s "${DIFF_MARKDOWN:-}" && "$(head -c 3 "$DIFF_MARKDOWN")" == "## " ]]; then is_news=true; fi
if [[ -s "$markdown" ]]; then
  report=$(<"$markdown")
  {
    if is_true "$is_news" && [[ -s "${DIFF_MARKDOWN:-}" ]]; then printf '%s\n\n' "$(<"$DIFF_MARKDOWN")"; fi
    printf '%s%s\n' "$(title)" "${report#"## ownerlint"}"
    if [[ "$status" == 3 ]]; then printf '\n%s\n' "$NOTHING_CHECKED"; fi
    if [[ -n "$scope" ]]; then printf '\n%s\n' "$scope"; fi
    if ! is_true "$is_news" && [[ -s "${DIFF_MARKDOWN:-}" ]]; then printf '\n%s\n' "$(<"$DIFF_MARKDOWN")"; fi
  } >"$markdown"
fi
if [[ "$(count "$json" '.findings | length')" != 0 ]]; then is_news=true; fi
output is-news "$is_news"
if is_true "${SUMMARY:-true}" && [[ -s "$markdown" && -n "${GITHUB_STEP_SUMMARY:-}" ]]; then
  cat "$markdown" >>"$GITHUB_STEP_SUMMARY"
fi
