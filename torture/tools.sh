#!/usr/bin/env bash
# Installs what the torture kit uses beside Node and Rust: strace and valgrind. Debian, as root.
set -euo pipefail

missing=()
for tool in strace valgrind; do
  command -v "$tool" >/dev/null || missing+=("$tool")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

[[ $EUID -eq 0 ]] && command -v apt-get >/dev/null || {
  echo "needs ${missing[*]}, and root on Debian to install that" >&2
  exit 1
}
echo "   apt-get install ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update >/dev/null
apt-get install -y --no-install-recommends "${missing[@]}" >/dev/null
