#!/bin/sh
# tools/test_venv.sh FOLDER: a Python environment of its own with the packages of tests/requirements.txt. Where they cannot
# be had, say without network, FOLDER/reason says why, and the tests that need them are skipped with it.
set -eu
venv=$1
wanted=$(dirname "$0")/../tests/requirements.txt
spark=$(dirname "$0")/../tests/requirements-spark.txt
cat "$wanted" "$spark" | cmp -s - "$venv/all.txt" && exit 0
rm -rf "$venv"
mkdir -p "$venv"
if /usr/bin/env python3 -m venv "$venv" >"$venv/log" 2>&1 &&
    "$venv/bin/pip" install -q --only-binary :all: --retries 1 --timeout 30 -r "$wanted" >"$venv/log" 2>&1; then
    cp "$wanted" "$venv/installed.txt"
else
    grep . "$venv/log" | tail -1 >"$venv/reason" || echo "pip failed without a word" >"$venv/reason"
    echo "tests/check_arrow.py, tests/check_readers.py and tests/python are skipped: $(cat "$venv/reason")" >&2
fi
# Spark is large, and a source package: without it only its own tests are skipped.
if [ -f "$venv/installed.txt" ] && ! "$venv/bin/pip" install -q --retries 1 --timeout 60 -r "$spark" >"$venv/log" 2>&1; then
    echo "tests/python/test_spark.py is skipped: $(grep . "$venv/log" | tail -1)" >&2
fi
[ ! -f "$venv/installed.txt" ] || cat "$wanted" "$spark" >"$venv/all.txt"
