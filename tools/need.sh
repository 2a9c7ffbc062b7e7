#!/bin/sh
# Installs the Debian packages that are missing, as root or with sudo, and says plainly what to do where it cannot.
#   tools/need.sh build|test|demo|bench|fuzz|valgrind|aarch64|format|duckdb
set -eu

build="gcc g++ meson ninja-build pkg-config liblemon-dev zlib1g-dev libzstd-dev"
case "${1:-build}" in
build | demo) packages="$build" ;;
test) packages="$build libcmocka-dev libjansson-dev libfyaml-dev python3 python3-dev python3-venv chromium poppler-utils zsh fish clang-format-14" ;;
bench) packages="$build python3 python3-venv" ;;
fuzz) packages="$build clang-14 libclang-rt-14-dev llvm-14" ;;
valgrind) packages="$build valgrind python3" ;;
aarch64) packages="$build gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user python3" ;;
format) packages="clang-format-14" ;;
duckdb) packages="" ;;
*) echo "need.sh: build, test, demo, bench, fuzz, valgrind, aarch64, format or duckdb?" >&2; exit 2 ;;
esac

# The reader of docs/cells.md in R, without what R recommends, which is much; and the Java that Spark runs on.
readers=""
[ "${1:-build}" = test ] && readers="r-base-core r-cran-jsonlite openjdk-17-jre-headless"
# What fetches libduckdb; an npm that did not come from Debian will do.
case "${1:-build}" in
test | bench | duckdb) command -v npm >/dev/null 2>&1 || readers="$readers npm" ;;
esac

lacking() {
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || printf ' %s' "$package"
    done
}
missing=$(lacking $packages)
missing_readers=$(lacking $readers)
[ -z "$missing$missing_readers" ] && exit 0

echo "kanon needs these packages:$missing$missing_readers" >&2
if ! command -v apt-get >/dev/null 2>&1; then
    echo "apt-get is not there: install their counterparts with your system's package manager, then run" >&2
    echo "    meson setup build && ninja -C build" >&2
    exit 1
fi
run=""
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 || {
        echo "Run this as root:  apt-get install$missing$missing_readers" >&2
        [ -z "$missing" ] && exit 0 || exit 1
    }
    run="sudo"
fi
export DEBIAN_FRONTEND=noninteractive
[ -z "$missing" ] || $run apt-get install -y -qq $missing >/dev/null 2>&1 || {
    $run apt-get update -qq && $run apt-get install -y -qq $missing >/dev/null
} || { echo "apt-get could not install:$missing" >&2; exit 1; }
[ -z "$missing_readers" ] || $run apt-get install -y -qq --no-install-recommends $missing_readers >/dev/null 2>&1 || {
    $run apt-get update -qq && $run apt-get install -y -qq --no-install-recommends $missing_readers >/dev/null
} || { echo "apt-get could not install:$missing_readers; what needs them is not tested" >&2; [ "$1" != duckdb ]; }
