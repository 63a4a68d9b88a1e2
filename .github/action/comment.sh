#!/usr/bin/env bash
# Keeps one comment on the pull request up to date. A token that may not comment (a fork's) is not a failure.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

marker='<!-- ownerlint -->'
if [[ "$NAME" != ownerlint ]]; then marker="<!-- ownerlint: $NAME -->"; fi
number=$(jq -r '.pull_request.number // empty' "$GITHUB_EVENT_PATH")
[[ "$number" =~ ^[0-9]+$ ]] || exit 0

complaint=$(mktemp)
quiet() {
  say notice "no comment was written: $(head -n 1 "$complaint")"
  exit 0
}

# Anybody can write the marker: only a comment by a bot, or by the token's own user, is ours. GITHUB_TOKEN may not ask who it is.
me=$(gh api user --jq .login 2>/dev/null) || me=
comments=$(gh api --paginate "repos/$GITHUB_REPOSITORY/issues/$number/comments" 2>"$complaint") || quiet
mine=$(jq -r --arg marker "$marker" --arg me "$me" \
  '.[] | select((.body // "" | startswith($marker)) and (.user.type == "Bot" or .user.login == $me)) | .id' <<<"$comments")
mine=${mine%%$'\n'*}

body=$(mktemp)
printf '%s\n' "$marker" >"$body"
case "${EXIT_CODE:-}" in
  0 | 1 | 3) cat "$MARKDOWN" >>"$body" ;;
  *)
    log="${GITHUB_SERVER_URL:-https://github.com}/$GITHUB_REPOSITORY/actions/runs/${GITHUB_RUN_ID:-}"
    printf '%s: did not finish\n\nNothing was checked. [The log](%s) says why.\n' "$(title)" "$log" >>"$body"
    IS_NEWS=false
    ;;
esac
# Nothing to report now or before: no noise.
if [[ "${IS_NEWS:-false}" == false && -z "$mine" ]]; then exit 0; fi

if [[ -n "$mine" ]]; then
  gh api --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$mine" --field "body=@$body" >/dev/null 2>"$complaint" || quiet
else
  gh api --method POST "repos/$GITHUB_REPOSITORY/issues/$number/comments" --field "body=@$body" >/dev/null 2>"$complaint" || quiet
fi
