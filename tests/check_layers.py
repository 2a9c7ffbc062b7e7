#!/usr/bin/env python3
"""A folder of src/ includes only those that the table `may_include` in meson.build gives it, and cli/ sees kanon.h
only. policy/ alone looks at settings; all others see a kn_request. Also: file names are unique, nothing outside cli/ prints or exits, and files are opened where somebody keeps track
of them, so that no output can replace a file that was read."""
import ast
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
table = re.search(r"^may_include = (\{.*?^\})", (root / "meson.build").read_text(), re.S | re.M).group(1)
may_include = ast.literal_eval(table)
private_headers = ["policy/settings.h", "policy/options.def"]
opens_files = ["files.c", "output_file.c", "sha256.c"]  # the last one reads the release that was just written


def failures_of(folder, name, text):
    """What is wrong with one file, whose path is only used in the message."""
    if folder not in may_include:
        yield f"{name}: folder '{folder}' is not in meson.build's table"
        return
    for included in re.findall(r'^#include "([^"]+)"', text, re.M):
        target = included.rpartition("/")[0]
        if folder == "cli":
            if target:
                yield f"{name}: cli/ sees kanon.h only, not {included}"
        elif not target:
            yield f'{name}: #include "{included}" does not name its folder'
        elif target != folder and target not in may_include[folder]:
            yield f"{name}: {folder}/ may not include {included}"
        elif target != folder and included in private_headers:
            yield f"{name}: {included} is private to {target}/"
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    if folder != "policy":
        for word in re.findall(r"\bkn_settings?_(?:text|flag|number|find|nth|in_force)\b|\bsettings->items\b", code):
            yield f"{name}: {word}: settings are read by policy/ alone; the others have fields of kn_request"
    if folder != "cli":
        for word in re.findall(r"\b(printf|puts|fputs|perror|exit|abort)\s*\(", code):
            yield f"{name}: {word}() belongs to cli/"
        if pathlib.Path(name).name not in opens_files and re.search(r"\b(f?open|openat|freopen|mmap)\s*\(", code):
            yield f"{name}: files are opened by kn_files_open and kn_output_open"


failures, names = [], {}
for path in sorted((root / "src").rglob("*")):
    if path.suffix not in (".c", ".h", ".cpp"):
        continue
    folder = path.relative_to(root / "src").parent.as_posix()
    if folder == ".":
        folder = "run"
    if path.name in names:
        failures.append(f"{path}: there is {names[path.name]} already; file names are unique")
    names[path.name] = path
    failures += failures_of(folder, path, path.read_text())

# The check must be able to fail.
assert list(failures_of("verify", "x.c", '#include "privacy/privacy.h"\n'))
assert list(failures_of("report", "x.c", '#include "search/search.h"\n'))
assert list(failures_of("cli", "x.c", '#include "run/input.h"\n'))
assert list(failures_of("base", "x.c", "exit(1);"))
assert list(failures_of("run", "x.c", '#include "policy/settings.h"\n'))
assert list(failures_of("run", "x.c", 'seed = kn_settings_text(settings, "seed");'))
assert not list(failures_of("policy", "x.c", '#include "policy/settings.h"\nkn_settings_text(settings, "seed");'))
assert list(failures_of("nowhere", "x.c", ""))
assert list(failures_of("hierarchy", "x.c", "int file = open(path, O_RDONLY);"))
assert not list(failures_of("base", "files.c", "int file = open(path, O_RDONLY);"))
print(*failures, sep="\n")
print(f"{len(names)} files looked at, {len(failures)} failures")
sys.exit(1 if failures else 0)
