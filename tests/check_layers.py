#!/usr/bin/env python3
"""Folders of src/ may include only earlier ones (the list `layers` in meson.build); verify/ shares nothing with io,
partition, privacy, measure, algo or recode; cli/ sees kanon.h only. Also: file names are unique, nothing outside cli/
prints or exits."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
layers = re.findall(r"'(\w+)'", re.search(r"layers = \[(.*?)\]", (root / "meson.build").read_text(), re.S).group(1))
strangers_to_verify = {"io", "partition", "privacy", "measure", "algo", "bound", "recode"}
failures, names = [], {}

for path in sorted((root / "src").rglob("*.[ch]*")):
    if path.suffix not in (".c", ".h", ".cpp"):
        continue
    folder = path.relative_to(root / "src").parts[0]
    if folder == "run.c":
        folder = "run"
    if folder not in layers:
        failures.append(f"{path}: folder '{folder}' is not in meson.build's layers")
        continue
    if path.name in names:
        failures.append(f"{path}: there is {names[path.name]} already; file names are unique")
    names[path.name] = path
    text = path.read_text()
    for included in re.findall(r'^#include "([^"]+)"', text, re.M):
        if "/" not in included:
            if folder != "cli":
                failures.append(f'{path}: #include "{included}" does not name its folder')
            continue
        target = included.split("/")[0]
        if folder == "cli":
            failures.append(f"{path}: cli/ sees kanon.h only, not {included}")
        elif target not in layers or layers.index(target) > layers.index(folder):
            failures.append(f"{path}: {folder}/ may not include {included}")
        elif folder == "verify" and target in strangers_to_verify:
            failures.append(f"{path}: verify/ shares nothing with {target}/")
    if folder != "cli":
        code = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        for word in re.findall(r"\b(printf|puts|fputs|perror|exit|abort)\s*\(", code):
            failures.append(f"{path}: {word}() belongs to cli/")

# The check must be able to fail: a made-up inclusion of a later layer is refused by the same rule.
assert layers.index("algo") > layers.index("io")
print(*failures, sep="\n")
print(f"{len(names)} files looked at, {len(failures)} failures")
sys.exit(1 if failures else 0)
