#!/bin/sh
# tools/duckdb.sh [FOLDER]: libduckdb, which reads Parquet, JSON and SQL for kanon, into FOLDER (default: where kanon looks for
# it, $XDG_DATA_HOME/kanon or ~/.local/share/kanon). It comes from npm, whose package holds a plain libduckdb.so with the
# extensions for Parquet and JSON built in. Where it cannot be had, FOLDER/reason says why.
set -eu
folder=${1:-${XDG_DATA_HOME:-$HOME/.local/share}/kanon}
case "$(uname -s)-$(uname -m)" in
Linux-x86_64)
    package=@duckdb/node-bindings-linux-x64 version=1.5.6-r.1
    sum=3f4962cdd266eab2b479a5b5a4a6d063d279b2954ae814ed00385d553b747633
    ;;
Linux-aarch64)
    package=@duckdb/node-bindings-linux-arm64 version=1.5.5-r.5
    sum=d00d007f3f7ca1f2896a5e4b89c2ce141bf0508506a9d6d56f9598b8e59d074e
    ;;
*) package="" ;;
esac
mkdir -p "$folder"
is_right() { [ -n "$package" ] && [ -f "$1" ] && [ "$(sha256sum "$1" | cut -d ' ' -f 1)" = "$sum" ]; }
fail() {
    echo "$1" >"$folder/reason"
    echo "duckdb.sh: $1" >&2
    exit 1
}
is_right "$folder/libduckdb.so" && exit 0
[ -n "$package" ] || fail "no libduckdb is fetched for $(uname -s) on $(uname -m); set KANON_DUCKDB to the path of one, 1.4 or later"
command -v npm >/dev/null 2>&1 || fail "npm is not there, which fetches libduckdb"
scratch=$(mktemp -d "$folder/fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
(cd "$scratch" && npm pack --silent "$package@$version" >/dev/null 2>log) ||
    fail "npm could not fetch $package: $(grep -v '^npm warn' "$scratch/log" | head -1)"
tar -xzf "$scratch"/*.tgz -C "$scratch" package/libduckdb.so package/LICENSE
is_right "$scratch/package/libduckdb.so" || fail "what npm fetched is not the libduckdb.so that was expected"
mv "$scratch/package/LICENSE" "$folder/libduckdb-LICENSE"
mv "$scratch/package/libduckdb.so" "$folder/libduckdb.so"
rm -f "$folder/reason"
[ -n "${1:-}" ] || echo "libduckdb ${version%-*} is in $folder"
