#!/usr/bin/env python3
"""check_exports.py LIBRARY HEADER...: the shared library exports what its public headers declare, and nothing else."""
import re
import subprocess
import sys


def declared_in(text):
    """The functions a header declares. Every one must be marked KN_API: it would not be exported otherwise."""
    code = re.sub(r"/\*.*?\*/|^\s*#.*?$", "", text, flags=re.S | re.M)
    code = re.sub(r"\btypedef\b[^;{]*;", "", code)  # function types
    functions = re.findall(r"^([^;{}\n][^;{}]*?)\b(kn_\w+)\s*\(", code, re.M)
    unmarked = [name for before, name in functions if not before.startswith("KN_API ")]
    return {name for _, name in functions}, unmarked


def main(library, headers):
    declared, unmarked = set(), []
    for header in headers:
        names, without = declared_in(open(header, encoding="utf-8").read())
        declared |= names
        unmarked += without
    listed = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    exported = {line.split()[-1].partition("@")[0] for line in listed.splitlines()}
    failures = [f"{name} is declared without KN_API" for name in unmarked]
    failures += [f"{name} is declared, but not exported" for name in sorted(declared - exported)]
    failures += [f"{name} is exported, but no header declares it" for name in sorted(exported - declared)]
    print(*failures, sep="\n")
    print(f"{len(exported)} symbols exported, {len(declared)} declared, {len(failures)} failures")
    return 1 if failures or not declared else 0


# The check must be able to fail.
assert declared_in("KN_API void kn_a(int);\nvoid kn_b(void);") == ({"kn_a", "kn_b"}, ["kn_b"])
assert declared_in("typedef int (*kn_fn)(void);\n/* kn_c() */\nstruct kn_s { int n; };") == (set(), [])
sys.exit(main(sys.argv[1], sys.argv[2:]))
