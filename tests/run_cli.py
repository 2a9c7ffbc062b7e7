#!/usr/bin/env python3
"""Runs the examples that people read and the sessions that only tests need; each must print exactly what it says.

    run_cli.py KANON KANON_GENERATE FILE...

A FILE is Markdown or text. Its fenced blocks ```console hold lines `$ command`, each followed by the expected output
(standard output and standard error together) up to the next `$ ` line. A line `[exit N]` gives the exit code when it is
not 0. `...` alone on a line stands for any number of lines, `...` inside a line for any text in it. Blocks of one file
share a scratch folder that starts with a copy of examples/. Commands run in a shell; `kanon` and `kanon-generate` are
the programs under test. A command has SESSION_SECONDS (300); with SESSION_IS_SLOW, under an emulator, what
commands with a --time-limit or a timeout print is not judged. A file that says `<!-- needs libduckdb -->` is skipped where that
library is not installed. Prints TAP.

    run_cli.py --update KANON KANON_GENERATE FILE...    writes into the files what was printed and is not expected (then read it!)
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent
SECONDS = float(os.environ.get("SESSION_SECONDS", 300))
IS_SLOW = "SESSION_IS_SLOW" in os.environ


def blocks(text):
    return re.finditer(r"^```console\n(.*?)^```$", text, re.S | re.M)


def sessions(block):
    """(command, expected lines) pairs."""
    pairs, command, expected = [], None, []
    for line in block.splitlines():
        if line.startswith("$ "):
            if command is not None:
                pairs.append((command, expected))
            command, expected = line[2:], []
        elif command is not None and not expected and command.endswith("\\"):
            command += "\n" + line
        else:
            expected.append(line)
    if command is not None:
        pairs.append((command, expected))
    return pairs


def run(command, folder, environment):
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS)
    lines = done.stdout.decode("utf-8", "backslashreplace").splitlines()
    if done.returncode != 0:
        lines.append(f"[exit {done.returncode}]")
    return lines


def matches(expected, printed):
    if not expected:
        return not printed
    if expected[0] == "...":
        return any(matches(expected[1:], printed[i:]) for i in range(len(printed) + 1))
    if not printed:
        return False
    pattern = ".*".join(re.escape(part) for part in expected[0].rstrip().split("..."))
    # "..." is also how an interval is written (20..24 is not: three dots only)
    return re.fullmatch(pattern, printed[0].rstrip()) is not None and matches(expected[1:], printed[1:])


def lacks_library(text):
    """Why a file cannot be run here, or None. Where the library is, it must work."""
    if "<!-- needs libduckdb -->" not in text:
        return None
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    library = os.environ.get("KANON_DUCKDB") or f"{data}/kanon/libduckdb.so"
    if os.path.exists(library):
        return None
    reason = pathlib.Path(library).with_name("reason")
    return reason.read_text().strip() if reason.exists() else f"there is no {library}; make duckdb installs it"


def main():
    arguments = sys.argv[1:]
    update = arguments[0] == "--update"
    kanon, generate, *files = arguments[1:] if update else arguments
    failures = number = 0
    for name in files:
        path = pathlib.Path(name)
        text = path.read_text()
        if (reason := lacks_library(text)) is not None:
            print(f"1..0 # SKIP {reason}")
            return
        with tempfile.TemporaryDirectory() as scratch:
            bin_folder = pathlib.Path(scratch, "bin")
            bin_folder.mkdir()
            os.symlink(os.path.abspath(kanon), bin_folder / "kanon")
            os.symlink(os.path.abspath(generate), bin_folder / "kanon-generate")
            folder = pathlib.Path(scratch, "work")
            shutil.copytree(root / "examples", folder)
            environment = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8",
                           "TMPDIR": scratch}
            environment.pop("NO_COLOR", None)

            def renewed(match):
                out = []
                for command, expected in sessions(match.group(1)):
                    printed = run(command, folder, environment)
                    if not matches(expected, printed):
                        expected = [re.sub(r"^(  time +).*", r"\1...", line) for line in printed]
                    out += ["$ " + command] + expected
                return "```console\n" + "\n".join(out) + "\n```"

            if update:
                path.write_text(re.sub(r"^```console\n(.*?)^```$", renewed, text, flags=re.S | re.M))
                continue
            for block in blocks(text):
                for command, expected in sessions(block.group(1)):
                    number += 1
                    printed = run(command, folder, environment)
                    if IS_SLOW and re.search("--time-limit|timeout ", command):
                        print(f"ok {number} # SKIP about seconds, and this machine is slow: {command.splitlines()[0]}")
                        continue
                    good = matches(expected, printed)
                    failures += not good
                    print(f"{'ok' if good else 'not ok'} {number} - {path.name}: {command.splitlines()[0]}")
                    if not good:
                        print("# expected:", *expected, "# printed:", *printed, sep="\n#   ")
    if not update:
        print(f"1..{number}")
    sys.exit(1 if failures else 0)


main()
