#!/bin/sh
# tools/fuzz.sh BUILD [TARGET...]: libFuzzer with AddressSanitizer and UndefinedBehaviorSanitizer on each target of fuzz/,
# two at a time, for FUZZ_SECONDS seconds each (default 30), or for FUZZ_RUNS runs each where that is set; FUZZ_SEED makes
# a run from an empty BUILD/learned repeatable; FUZZ_FLAGS are clang's, for a BUILD that is not there yet. What it learns stays in
# BUILD/learned for the next time; what fails stands in BUILD/found, and belongs into fuzz/found/TARGET once it is mended.
set -eu
build=$1
shift
[ $# -gt 0 ] || set -- csv hierarchy policy certificate state schema arrow pipeline
seed=${FUZZ_SEED:-0} # 0: another one each time
if [ -n "${FUZZ_RUNS:-}" ]; then bound="-runs=$FUZZ_RUNS"; else bound="-max_total_time=${FUZZ_SECONDS:-30}"; fi

# The first finding ends the run anyway: without the way back from it there is half as much code to make and to run.
once="-fno-sanitize-recover=all -gline-tables-only ${FUZZ_FLAGS:-}"
[ -f "$build/build.ninja" ] || CC=clang-14 CXX=clang++-14 meson setup "$build" -Dfuzz=true -Dtests=disabled -Dpython=disabled \
    -Ddefault_library=static -Dbuildtype=debug -Doptimization=2 -Db_ndebug=false -Db_sanitize=address,undefined -Db_lundef=false \
    "-Dc_args=$once" "-Dcpp_args=$once" >/dev/null
ninja -C "$build" --quiet $(printf 'fuzz/fuzz_%s ' "$@")

# Tables are small: what is wrong with the reading or the search of one shows in a few hundred bytes.
longest() { case $1 in pipeline) echo 200 ;; policy | schema) echo 1024 ;; *) echo 512 ;; esac; }
# -entropic=0: libFuzzer weighs what it has learnt by how rare it is, and that took 6 to 9 parts in 10 of the time where the
# targets go through much code. Freed blocks are held back by the megabyte, not by the hundred: a run frees much less, and what
# is held back should fit the processor's cache. Who allocated a block is told to a depth of two; ask for more with ASAN_OPTIONS.
export ASAN_OPTIONS="malloc_context_size=2:quarantine_size_mb=2:thread_local_quarantine_size_kb=256${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1

fuzz_one() {
    mkdir -p "$build/learned/$1" "$build/found"
    log="$build/fuzz_$1.log"
    "$build/fuzz/fuzz_$1" "$bound" "-seed=$seed" -entropic=0 "-max_len=$(longest "$1")" -timeout=60 -rss_limit_mb=2048 \
        -print_final_stats=1 -dict="fuzz/words/$1.dict" -artifact_prefix="$build/found/$1-" \
        "$build/learned/$1" "fuzz/seeds/$1" $(ls -d "fuzz/found/$1" 2>/dev/null) >"$log" 2>&1 || {
        echo "fuzz $1: failed; the input is in $build/found, the log is $log" >&2
        grep -E 'ERROR|SUMMARY|runtime error|fuzz_[a-z]+:' "$log" | head -5 >&2
        return 1
    }
    stat() { sed -n "s/stat::$1: *//p" "$log"; }
    echo "fuzz $1: $(stat number_of_executed_units) runs, $(stat average_exec_per_sec) in a second, nothing found"
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
