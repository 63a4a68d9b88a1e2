#!/usr/bin/env bash
# Writes the Homebrew formula of a release to standard output: formula.sh VERSION SHA256SUMS
set -euo pipefail
version=${1:?usage: formula.sh VERSION SHA256SUMS}
sums=${2:?usage: formula.sh VERSION SHA256SUMS}
releases=https://github.com/ownerlint/ownerlint/releases/download

sum() {
  local sum
  sum=$(awk -v file="ownerlint-$1.tar.gz" '$2 == file { print $1 }' "$sums")
  [[ "$sum" =~ ^[0-9a-f]{64}$ ]] || { echo "formula.sh: $sums has no checksum of ownerlint-$1.tar.gz" >&2; exit 1; }
  printf '%s' "$sum"
}

archive() {
  printf '    url "%s/v%s/ownerlint-%s.tar.gz"\n    sha256 "%s"\n' "$releases" "$version" "$1" "$2"
}

arm=$(sum aarch64-apple-darwin)
intel=$(sum x86_64-apple-darwin)
linux=$(sum x86_64-unknown-linux-musl)
linux_arm=$(sum aarch64-unknown-linux-musl)
cat <<FORMULA
class Ownerlint < Formula
  desc "Linter for ownership and finalizers in rendered Kubernetes manifests"
  homepage "https://github.com/ownerlint/ownerlint"
  version "$version"
  license any_of: ["MIT", "Apache-2.0"]

  if OS.mac? && Hardware::CPU.arm?
$(archive aarch64-apple-darwin "$arm")
  elsif OS.mac?
$(archive x86_64-apple-darwin "$intel")
  elsif Hardware::CPU.arm?
$(archive aarch64-unknown-linux-musl "$linux_arm")
  else
$(archive x86_64-unknown-linux-musl "$linux")
  end

  def install
    bin.install "ownerlint"
    generate_completions_from_executable(bin/"ownerlint", "completions")
  end

  test do
    (testpath/"a.yaml").write <<~YAML
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: a, namespace: b}
    YAML
    assert_match "ConfigMap/b/a", shell_output("#{bin}/ownerlint list a.yaml")
  end
end
FORMULA
