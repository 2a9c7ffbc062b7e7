#!/bin/sh
# bench/run.sh BUILD: every question of bench/README.md, one JSON line per run, quality beside time. Peers from PyPI are
# installed into build/bench-venv; where they cannot be had, the lines about kanon are printed all the same.
set -eu
build=$1
here=$(dirname "$0")
if [ -z "${KANON_DATA:-}" ] && [ -d "$here/../../shared/data" ]; then
    KANON_DATA=$(cd "$here/../../shared/data" && pwd)
    export KANON_DATA
fi
venv="$build/bench-venv"
if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install -q duckdb pycanon anjana polars || echo "the peers duckdb, pycanon, anjana and polars could not be installed" >&2
fi
"$here/../tools/duckdb.sh" "$build/duckdb" || echo "Parquet is not measured" >&2
KANON_DUCKDB=$(cd "$build" && pwd)/duckdb/libduckdb.so
export KANON_DUCKDB
for question in "$here"/*.py; do
    echo "# $(basename "$question")" >&2
    "$venv/bin/python" "$question" "$build" || echo "# $question failed" >&2
done
