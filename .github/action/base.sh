#!/usr/bin/env bash
# Finds the commit that a pull request, or a group of a merge queue, starts from, and says whether there is anything to compare.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

event=${GITHUB_EVENT_NAME:-}

# Where the change left its base. A shallow checkout fetches what it lacks.
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
  # What the base branch did since is no part of the change.
  git merge-base HEAD "$base"
}

is_merge() { git rev-parse --quiet --verify 'HEAD^2' >/dev/null; }
deepen() { git fetch --quiet --depth=2 origin "$(git rev-parse HEAD)" || true; }
reaches() { git merge-base HEAD "$1" >/dev/null; }

base=
case "$event" in
  pull_request* | merge_group)
    change="pull request"
    if [[ "$event" == merge_group ]]; then change="merge group"; fi
    if ! is_true "${CHANGED_ONLY:-true}" && ! is_true "${DIFF:-true}"; then
      :
    elif base=$(base_of_change 2>/dev/null); then
      output base "$base"
    else
      base=
      say warning "the base of this $change is not in the checkout and cannot be fetched, so all findings are reported and \
nothing is compared; set fetch-depth: 2 for actions/checkout"
    fi
    ;;
esac
if is_true "${DIFF:-true}" && [[ -n "$base$BASE_PATH" ]]; then output compare true; fi
