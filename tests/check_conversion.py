#!/usr/bin/env python3
"""No value of src/ changes its type unseen: every file compiles under -Wconversion without a warning, with gcc and with
clang, whichever are there. What is meant is written as a cast.

    check_conversion.py BUILD

BUILD/compile_commands.json tells how files are compiled; nothing is written.
"""
import json
import os
import shlex
import shutil
import subprocess
import sys

with open(os.path.join(sys.argv[1], "compile_commands.json")) as file:
    commands = {os.path.normpath(os.path.join(one["directory"], one["file"])): one for one in json.load(file)}
compilers = [name for name in ("gcc", "clang-14") if shutil.which(name)]
failed = 0
for path, one in sorted(commands.items()):
    if f"{os.sep}src{os.sep}" not in path or not path.endswith(".c"):
        continue
    words = [word for word in shlex.split(one["command"]) if word.startswith(("-I", "-D", "-std", "-m"))]
    for compiler in compilers:
        done = subprocess.run([compiler, *words, "-Wconversion", "-Wno-psabi", "-fsyntax-only", path], cwd=one["directory"],
                              capture_output=True, text=True)
        found = [line for line in done.stderr.splitlines() if "conversion" in line and ": warning:" in line]
        failed += len(found) + (done.returncode != 0)
        print(*found, sep="\n", end="\n" if found else "")
        if done.returncode != 0:
            print(done.stderr)
print(f"{failed} conversions that nobody wrote, with {' and '.join(compilers)}")
sys.exit(1 if failed or not compilers else 0)
