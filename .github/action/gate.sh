#!/usr/bin/env bash
# The last step: what ownerlint ended with decides the job.
set -euo pipefail

case "${EXIT_CODE:-}" in
  0) ;;
  1) echo "ownerlint: findings at or above 'fail-on'"; exit 1 ;;
  3) echo "::warning title=ownerlint::no Kubernetes object was found: are the manifests rendered?" ;;
  *) echo "::error title=ownerlint::ownerlint did not finish (status ${EXIT_CODE:-unknown})"; exit 2 ;;
esac
