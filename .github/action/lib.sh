# shellcheck shell=bash
# What all steps share. Sourced, never run.

# output NAME VALUE: sets an output of the step. The value may hold anything: the delimiter is a word that it does not hold.
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

is_true() { [[ "${1:-}" == true ]]; }
