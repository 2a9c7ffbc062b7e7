#!/bin/sh
# tools/aarch64.sh BUILD FOREIGN [SESSION...]: kanon for 64-bit ARM, built here by a cross compiler and run under qemu-user.
# The test programs in C, the command line sessions (all, or those named), a minute of torture, and releases that must have the
# bytes of BUILD, the build for this machine. FOREIGN is the build folder; ARM's libraries are unpacked into it, so that nothing of the system
# changes. JOBS=2 runs two at a time.
# Not run: the Python package (needs ARM's Python), libduckdb (Parquet, JSON, SQL), what looks at pages in Chromium, and what
# works by LD_PRELOAD or measures memory, where the emulator's own calls would be counted.
set -eu
build=$(cd "$1" && pwd)
mkdir -p "$2/run"
foreign=$(cd "$2" && pwd)
shift 2
jobs=${JOBS:-1}
root=$foreign/root
libraries=$root/usr/lib/aarch64-linux-gnu

# Packages of another architecture, by an apt that keeps its own lists: Debian's compiler brings the C library.
fetch() {
    apt=$foreign/apt
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$root"
    cat >"$apt/apt.conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "";
Dir::State "$apt";
Dir::State::lists "$apt/lists";
Dir::State::status "/dev/null";
Dir::Cache "$apt/cache";
END
    export APT_CONFIG="$apt/apt.conf"
    apt-get update -qq
    (cd "$apt" && apt-get download -qq zlib1g zlib1g-dev libzstd1 libzstd-dev libcmocka0 libcmocka-dev libjansson4 libjansson-dev \
        libfyaml0 libfyaml-dev liblemon-dev)
    for package in "$apt"/*.deb; do dpkg-deb -x "$package" "$root"; done
    unset APT_CONFIG
    touch "$root/complete"
}
[ -f "$root/complete" ] || fetch

# A program of ours as a script that anybody can call.
wrap() {
    printf '#!/bin/sh\nexec qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH="%s:%s" %s"$@"\n' \
        "$libraries" "$root/lib/aarch64-linux-gnu" "$2" >"$1"
    chmod +x "$1"
}
wrap "$foreign/run/kanon" "\"$foreign/kanon\" "
wrap "$foreign/run/kanon-generate" "\"$foreign/kanon-generate\" "
wrap "$foreign/run/any" ""

cat >"$foreign/cross.ini" <<END
[binaries]
c = ['ccache', 'aarch64-linux-gnu-gcc']
cpp = ['ccache', 'aarch64-linux-gnu-g++']
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = '$foreign/run/any'
[properties]
sys_root = '$root'
pkg_config_libdir = '$libraries/pkgconfig'
[built-in options]
c_args = ['-isystem', '$root/usr/include']
cpp_args = ['-isystem', '$root/usr/include']
c_link_args = ['-L$libraries']
cpp_link_args = ['-L$libraries']
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
END
command -v ccache >/dev/null 2>&1 || sed -i "s/'ccache', //" "$foreign/cross.ini"
[ -f "$foreign/build.ninja" ] ||
    meson setup "$foreign" --cross-file "$foreign/cross.ini" -Dtests=enabled -Dpython=disabled >/dev/null
ninja -C "$foreign" --quiet -j "$jobs"

failed=0
programs() { meson test -C "$foreign" --no-rebuild --print-errorlogs --timeout-multiplier 20 --num-processes "$jobs" "$@"; }
programs --suite unit || failed=1
programs example 'example in memory' || failed=1

# Sessions that need libduckdb are skipped, whatever is installed for this machine.
mkdir -p "$foreign/duckdb" "$foreign/run/sessions"
echo "libduckdb is not there for 64-bit ARM" >"$foreign/duckdb/reason"
export KANON_DUCKDB="$foreign/duckdb/libduckdb.so" SESSION_SECONDS=3000 SESSION_IS_SLOW=1 foreign
[ $# -gt 0 ] || set -- README.md docs/*.md docs/*/*.md tests/cli/*.md
rm -f "$foreign"/run/sessions/*
printf '%s\n' "$@" | xargs -P "$jobs" -I{} sh -c '
    said=$foreign/run/sessions/$(echo "{}" | tr / _)
    python3 tests/run_cli.py "$foreign/run/kanon" "$foreign/run/kanon-generate" "{}" >"$said" 2>&1 || {
        echo "FAILED {}"; grep -A 12 "^not ok" "$said" | head -60; exit 1; }' || failed=1
n_commands=$(cat "$foreign"/run/sessions/* | grep -c '^ok [0-9]* -' || true)

python3 tests/check_same_bytes.py "$build/kanon" "$foreign/run/kanon" "$build/kanon-generate" >"$foreign/run/same_bytes" || {
    grep -A 1 '^not ok' "$foreign/run/same_bytes"
    failed=1
}
python3 tests/torture/torture.py "$foreign/run" --program --seconds 60 --seed 1 --keep "$foreign/run" >"$foreign/run/torture" || {
    cat "$foreign/run/torture"
    failed=1
}
same=$(sed -n 's/^# //p' "$foreign/run/same_bytes" | tail -1)
[ $failed = 0 ] && echo "aarch64: test programs, $n_commands commands of sessions; the same bytes: $same"
exit $failed
