#!/bin/sh
# tools/test.sh BUILD SANITIZED: the whole test suite, in a release build and in a sanitized one.
set -eu
build=$1 sanitized=$2
# -Dtests=enabled: where cmocka or python3 is missing this fails, instead of passing with most tests left out.
configure() { # folder, options: a folder that was configured before the tests' packages came is configured again
    if [ -f "$1/build.ninja" ]; then meson setup --reconfigure "$@" -Dtests=enabled >/dev/null; else meson setup "$@" -Dtests=enabled >/dev/null; fi
}
configure "$build"
configure "$sanitized" -Dbuildtype=debugoptimized -Db_ndebug=false \
    -Db_sanitize=address,undefined -Db_lundef=false
tools/test_venv.sh "$(cd "$build" && pwd)/test-venv"
# What reads Parquet, JSON and SQL, in a folder of the tests' own; the sessions and tests that need it find it here.
KANON_DUCKDB=$(cd "$build" && pwd)/duckdb/libduckdb.so
export KANON_DUCKDB
tools/duckdb.sh "$build/duckdb" || echo "Parquet, JSON and SQL are not tested: $(cat "$build/duckdb/reason")" >&2
ninja -C "$build" --quiet 2>/dev/null || ninja -C "$build"
ninja -C "$sanitized" --quiet 2>/dev/null || ninja -C "$sanitized"
meson test -C "$build" --no-rebuild --print-errorlogs
UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 ASAN_OPTIONS=detect_leaks=1 \
    meson test -C "$sanitized" --no-rebuild --print-errorlogs --timeout-multiplier 5

# One line for people and machines: how many test programs ran, in both builds.
for build in "$build" "$sanitized"; do cat "$build/meson-logs/testlog.json"; done | python3 -c '
import json, sys
results = [json.loads(line)["result"] for line in sys.stdin]
print(sum(r == "OK" for r in results), "passed,", sum(r not in ("OK", "SKIP") for r in results), "failed")'
