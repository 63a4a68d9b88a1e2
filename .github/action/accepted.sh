#!/usr/bin/env bash
# Reads which deletions reviewers accept. A comment counts if its first line is `/ownerlint accept`, with a key in each other line, and if
# its author has write access and did not open the pull request. Edited comments do not count: others may have edited them.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

number=$(jq -r '.pull_request.number // empty' "$GITHUB_EVENT_PATH")
author=$(jq -r '.pull_request.user.login // empty' "$GITHUB_EVENT_PATH")
[[ "$number" =~ ^[0-9]+$ && -n "$author" ]] || exit 0

complaint=$(mktemp)
unread() {
  say notice "nothing is accepted: $(head -n 1 "$complaint")"
  exit 0
}
comments=$(gh api --paginate "repos/$GITHUB_REPOSITORY/issues/$number/comments" 2>"$complaint") || unread
accepting=$(jq -c --arg author "$author" '
  .[] | select(.user.type == "User" and .user.login != $author and .created_at == .updated_at)
  | {login: .user.login, lines: (.body // "" | gsub("\r"; "") | split("\n"))}
  | select(.lines[0] == "/ownerlint accept")' <<<"$comments")

file="$FOLDER/$NAME.accepted"
by=()
while IFS= read -r comment; do
  if [[ -z "$comment" ]]; then continue; fi
  login=$(jq -r .login <<<"$comment")
  [[ "$login" =~ ^[A-Za-z0-9-]+$ ]] || continue
  permission=$(gh api "repos/$GITHUB_REPOSITORY/collaborators/$login/permission" --jq .permission 2>"$complaint") || unread
  case "$permission" in
    admin | write)
      jq -r '.lines[1:][]' <<<"$comment" >>"$file"
      if [[ " ${by[*]-} " != *" $login "* ]]; then by+=("$login"); fi
      ;;
    *) say notice "$login may not write here, so nothing that they name is accepted" ;;
  esac
done <<<"$accepting"
if [[ -s "$file" ]]; then
  output file "$file"
  output by "${by[*]}"
fi
