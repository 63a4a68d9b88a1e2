#!/usr/bin/env bash
# Keeps one comment on the pull request up to date. A token that may not comment (a fork's) is no failure.
set -euo pipefail

marker='<!-- ownerlint -->'
number=$(jq -r '.pull_request.number // empty' "$GITHUB_EVENT_PATH")
[[ "$number" =~ ^[0-9]+$ ]] || exit 0

quiet() {
  printf '::notice title=ownerlint::no comment was written: the token may not write to pull requests\n'
  exit 0
}

mine=$(gh api --paginate "repos/$GITHUB_REPOSITORY/issues/$number/comments" \
  --jq ".[] | select(.body | startswith(\"$marker\")) | .id" 2>/dev/null | head -n 1) || quiet
# Nothing to say, and nothing said before: no noise.
[[ "${FINDINGS:-0}" == 0 && -z "$mine" ]] && exit 0

body=$(mktemp)
{
  printf '%s\n' "$marker"
  # GitHub takes 65,536 characters.
  head -c 60000 "$MARKDOWN"
} >"$body"

if [[ -n "$mine" ]]; then
  gh api --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$mine" --field "body=@$body" >/dev/null 2>&1 || quiet
else
  gh api --method POST "repos/$GITHUB_REPOSITORY/issues/$number/comments" --field "body=@$body" >/dev/null 2>&1 || quiet
fi
