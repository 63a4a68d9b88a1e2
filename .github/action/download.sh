#!/usr/bin/env bash
# Downloads a release. What cannot be downloaded and verified fails: no other version takes its place.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

repository=ownerlint/ownerlint
folder=${RUNNER_TEMP:-$(mktemp -d)}/ownerlint-bin

case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) target=x86_64-unknown-linux-musl ;;
  Linux-aarch64) target=aarch64-unknown-linux-musl ;;
  Darwin-arm64) target=aarch64-apple-darwin ;;
  Darwin-x86_64) target=x86_64-apple-darwin ;;
  *) fail "there is no release for $(uname -s) $(uname -m): leave 'version' empty to build from source" ;;
esac

command -v gh >/dev/null || fail "downloading a release needs gh, the GitHub CLI"
if [[ "$VERSION" == latest ]]; then
  tag=$(gh release view --repo "$repository" --json tagName --jq .tagName) || fail "the latest release cannot be found"
  [[ "$tag" =~ ^v[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "the latest release has an unexpected name, '$tag'"
else
  tag=v$VERSION
fi

archive="ownerlint-$target.tar.gz"
mkdir -p "$folder"
gh release download "$tag" --repo "$repository" --pattern "$archive" --dir "$folder" --clobber >&2 ||
  fail "$archive of $tag cannot be downloaded"
# What was downloaded must be what the project's own release workflow built from that tag.
gh attestation verify "$folder/$archive" --repo "$repository" \
  --signer-workflow "$repository/.github/workflows/release.yaml" --source-ref "refs/tags/$tag" >&2 ||
  fail "$archive of $tag is not attested"
tar -xzf "$folder/$archive" -C "$folder" ownerlint || fail "$archive of $tag cannot be unpacked"
output binary "$folder/ownerlint"
