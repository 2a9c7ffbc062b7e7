#!/usr/bin/env python3
"""No value of src/ and of the Python module changes its type unseen: every file compiles under -Wconversion without a warning,
with gcc and with clang, whichever are there. What is meant is written as a cast.

    check_conversion.py BUILD

BUILD/compile_commands.json tells how files are compiled, some of them more than once; nothing is written. A folder of src/ with
C in it that BUILD does not compile fails.
"""
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMPILERS = {".c": ["gcc", "clang-14"], ".cpp": ["g++", "clang++-14"]}


def jobs():
    """(file, folder to compile in, flags that matter), each once."""
    with open(os.path.join(sys.argv[1], "compile_commands.json")) as file:
        for one in json.load(file):
            path = pathlib.Path(os.path.normpath(os.path.join(one["directory"], one["file"])))
            if path.suffix in COMPILERS and any(ROOT / place in path.parents for place in ("src", "bindings")):
                flags = [word for word in shlex.split(one["command"]) if word.startswith(("-I", "-D", "-std", "-m"))]
                # headers of others are theirs to mend
                yield path, one["directory"], tuple(flag.replace("-I/usr/", "-isystem/usr/") for flag in flags)


done = sorted(set(jobs()))
failed = 0
compiled = {path.parent for path, _, _ in done}
for folder in sorted({path.parent for path in (ROOT / "src").rglob("*.c")} - compiled):
    print(f"{folder.relative_to(ROOT)} is not compiled")
    failed += 1
compilers = sorted({name for names in COMPILERS.values() for name in names if shutil.which(name)})
for path, folder, flags in done:
    for compiler in [name for name in COMPILERS[path.suffix] if name in compilers]:
        said = subprocess.run([compiler, *flags, "-Wconversion", "-Wno-psabi", "-fsyntax-only", str(path)], cwd=folder,
                              capture_output=True, text=True)
        found = [line for line in said.stderr.splitlines() if "conversion" in line and ": warning:" in line]
        failed += len(found) + (said.returncode != 0)
        print(*found, sep="\n", end="\n" if found else "")
        if said.returncode != 0:
            print(said.stderr)
places = {path.relative_to(ROOT).parts[0] for path, _, _ in done}
print(f"{failed} conversions that nobody wrote, in {len(done)} files of {' and '.join(sorted(places))}, with {', '.join(compilers)}")
sys.exit(1 if failed or not compilers else 0)
