#!/bin/sh
# tools/fuzz.sh BUILD [TARGET...]: libFuzzer with AddressSanitizer and UndefinedBehaviorSanitizer on each target of fuzz/,
# two at a time, for FUZZ_SECONDS seconds each (default 30), or for FUZZ_RUNS runs where that is set; FUZZ_SEED makes
# a run from an empty BUILD/learned repeatable. What it learns stays in BUILD/learned for the next time; what fails stands in
# BUILD/found, and belongs into fuzz/found/TARGET once it is mended.
set -eu
build=$1
shift
[ $# -gt 0 ] || set -- csv hierarchy policy certificate state arrow pipeline
seed=${FUZZ_SEED:-0} # 0: another one each time
if [ -n "${FUZZ_RUNS:-}" ]; then bound="-runs=$FUZZ_RUNS"; else bound="-max_total_time=${FUZZ_SECONDS:-30}"; fi

[ -f "$build/build.ninja" ] || CC=clang-14 CXX=clang++-14 meson setup "$build" -Dfuzz=true -Dtests=disabled -Dpython=disabled \
    -Ddefault_library=static -Dbuildtype=debug -Doptimization=1 -Db_ndebug=false -Db_sanitize=address,undefined -Db_lundef=false >/dev/null
ninja -C "$build" --quiet $(printf 'fuzz/fuzz_%s ' "$@")

fuzz_one() {
    mkdir -p "$build/learned/$1" "$build/found"
    log="$build/fuzz_$1.log"
    # Tables are small: what is wrong with the reading or the search of one shows in a few hundred bytes.
    UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 "$build/fuzz/fuzz_$1" "$bound" "-seed=$seed" -max_len=1024 -timeout=60 -rss_limit_mb=2048 \
        -print_final_stats=1 -dict="fuzz/words/$1.dict" -artifact_prefix="$build/found/$1-" \
        "$build/learned/$1" "fuzz/seeds/$1" $(ls -d "fuzz/found/$1" 2>/dev/null) >"$log" 2>&1 || {
        echo "fuzz $1: failed; the input is in $build/found, the log is $log" >&2
        grep -E 'ERROR|SUMMARY|runtime error|fuzz_[a-z]+:' "$log" | head -5 >&2
        return 1
    }
    echo "fuzz $1: $(sed -n 's/stat::number_of_executed_units: *//p' "$log") runs, nothing found"
}

failed=0
while [ $# -gt 0 ]; do
    fuzz_one "$1" &
    first=$!
    second=""
    if [ $# -gt 1 ]; then
        shift
        fuzz_one "$1" &
        second=$!
    fi
    shift
    wait "$first" || failed=1
    [ -z "$second" ] || wait "$second" || failed=1
done
exit $failed
