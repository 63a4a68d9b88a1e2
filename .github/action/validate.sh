#!/usr/bin/env bash
# Rejects inputs without a meaning, makes the folder that everything is written to, and says where the program comes from:
# `release`, `checkout` or `given`.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
LC_ALL=C

switch() {
  case "$2" in
    true | false) ;;
    *) fail "'$1' must be true or false, not '$2'" ;;
  esac
}
switch changed-only "${CHANGED_ONLY:-}"
switch diff "${DIFF:-}"
switch require-known "${REQUIRE_KNOWN:-false}"
switch annotations "${ANNOTATIONS:-}"
switch summary "${SUMMARY:-}"
switch comment "${COMMENT:-}"
switch accept "${ACCEPT:-false}"

# It becomes the name of files, and a part of an HTML comment.
if [[ ! "${NAME:-}" =~ ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$ ]]; then
  fail "'name' must begin with a letter or a digit and contain only letters, digits, dots, dashes and underscores, not '${NAME:-}'"
fi
if [[ -n "${VERSION:-}" && "$VERSION" != latest && ! "$VERSION" =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]]; then
  fail "'version' must be latest, or look like 1.2.3"
fi

if [[ -n "${BASE_PATH:-}" && "${PATHS:-}" == *[!$'\n']*$'\n'*[!$'\n']* ]]; then
  fail "'base-path' is compared with one path, and 'paths' names several"
fi

# It decides what is reported, so it is a file of the repository, and no link in it leads out.
if [[ -n "${CONFIG:-}" ]] && real=$(realpath -- "$CONFIG" 2>/dev/null) && [[ "$real" != "$(realpath -- "$PWD")"/* ]]; then
  fail "'config' must be a file of the repository, not '$CONFIG'"
fi

# Never a path of the checkout: a pull request may have put a link there, or a report of its own.
output folder "$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/ownerlint.XXXXXXXX")"

# A binary that the caller put there: tests of this action, and self-hosted runners without a network.
if [[ -n "${OWNERLINT_BINARY:-}" ]]; then
  output source given
elif [[ -n "${VERSION:-}" ]]; then
  output source release
else
  output source checkout
  # Every file that the program is built from.
  sha256=(sha256sum)
  command -v sha256sum >/dev/null || sha256=(shasum -a 256)
  sums=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." &&
    find Cargo.toml Cargo.lock src crates rules -type f | sort | tr '\n' '\0' | xargs -0 "${sha256[@]}" | "${sha256[@]}")
  output built-from "${sums%% *}"
fi
