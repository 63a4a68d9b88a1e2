# shellcheck shell=bash
# What all steps share. Sourced, never run.

# output NAME VALUE: sets an output of the step. The value may contain anything: the delimiter is a word that it does not contain.
output() {
  local end=END
  while [[ "$2" == *"$end"* ]]; do end+=_; done
  printf '%s<<%s\n%s\n%s\n' "$1" "$end" "$2" "$end" >>"${GITHUB_OUTPUT:-/dev/stdout}"
}

# say KIND TEXT: an annotation of the job; nothing in TEXT can end it or begin another command.
say() {
  local text=$2
  text=${text//'%'/%25}
  text=${text//$'\r'/%0D}
  text=${text//$'\n'/%0A}
  printf '::%s title=ownerlint::%s\n' "$1" "$text"
}

# fail TEXT: ends the step, and with it the job.
fail() {
  say error "$1"
  exit 2
}

# run PROGRAM ARGUMENT…: runs a program whose output contains names from the manifests: no line of it is a command to the runner.
run() {
  local token status=0
  token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  printf '::stop-commands::%s\n' "$token"
  "$@" </dev/null 2>&1 || status=$?
  printf '\n::%s::\n' "$token"
  return "$status"
}

# count FILE FILTER: what jq counts in a report; 0 where there is none.
count() { if [[ -s "$1" ]]; then jq "$2" "$1"; else echo 0; fi; }

# file_name PATH: its last part, as the name of a file.
file_name() {
  local name=${1##*/}
  case "$name" in
    "" | . | ..) printf 'report' ;;
    *) printf '%s' "$name" ;;
  esac
}

is_true() { [[ "${1:-}" == true ]]; }

# The heading of a report, with the name of this use when it has one.
title() { if [[ "$NAME" == ownerlint ]]; then printf '## ownerlint'; else printf '## ownerlint (%s)' "$NAME"; fi; }

# What status 3 means.
# shellcheck disable=SC2034 # for the scripts that source this one
NOTHING_CHECKED="No Kubernetes object was found, so nothing was checked. ownerlint reads rendered manifests: render charts and \
overlays in an earlier step (helm template, kustomize build), and name the output in 'paths'."
