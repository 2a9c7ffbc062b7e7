#!/usr/bin/env python3
"""Every C and C++ file is as clang-format 14 leaves it (`make format`): check_format.py CLANG_FORMAT."""
import pathlib
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
command = [sys.argv[1], "--dry-run", "-Werror", "--style=file"]


def tracked():
    """Files that git knows; without git all that are not in a build folder."""
    listed = subprocess.run(["git", "ls-files", "*.c", "*.h", "*.cpp"], cwd=root, capture_output=True, text=True)
    if listed.returncode == 0:
        return [name for name in listed.stdout.splitlines() if (root / name).exists()]
    return [str(path.relative_to(root)) for path in root.rglob("*.*")
            if path.suffix in (".c", ".h", ".cpp") and not path.relative_to(root).parts[0].startswith("build")]


# The check must be able to fail.
bad = subprocess.run([*command, "--assume-filename=x.c"], input="int  f( ) { return 1 ; }\n", cwd=root, capture_output=True, text=True)
assert bad.returncode != 0, "clang-format takes everything"
names = tracked()
assert len(names) > 100, names
checked = subprocess.run([*command, *names], cwd=root, capture_output=True, text=True)
print(checked.stderr, end="")
print(f"{len(names)} files looked at; `make format` mends them" if checked.returncode else f"{len(names)} files looked at")
sys.exit(checked.returncode)
