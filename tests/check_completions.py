#!/usr/bin/env python3
"""Types into bash, zsh and fish and looks at what the completions of `kanon generate` make of it. Prints TAP; a shell
that is not installed is skipped, saying so.

    check_completions.py KANON
"""
import os
import pathlib
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

kanon = os.path.abspath(sys.argv[1])
# what is typed, and the words that it may become: all of them, or, where only one is left, that one
cases = [
    ("kanon anony", {"anonymize"}),
    ("kanon anonymize --ident", {"--identifier"}),
    ("kanon anonymize --order ", {"sorted", "input"}),
    ("kanon anonymize --order=so", {"sorted"}),
    ("kanon anonymize --language d", {"de"}),
    ("kanon anonymize peo", {"people.csv"}),
    ("kanon anonymize -p peo", {"people.csv"}),
    ("kanon anonymize --qi ", set()),  # a column, and no file is one
    ("kanon anonymize -k ", set()),
    ("kanon list mo", {"models"}),
    ("kanon hierarchy re", {"rectify"}),
    ("kanon hierarchy check --pol", set()),  # an option of `kanon check`
    ("kanon check --pol", {"--policy"}),
    ("kanon hierarchy make peo", {"people.csv"}),
    ("kanon anonymize --model a --mod", {"--model"}),
    ("kanon generate f", {"fish"}),
]


def ask_bash(line, folder):
    words = line.replace("=", " = ").split() + ([""] if line.endswith(" ") else [])
    script = (f"source <({kanon} generate bash); COMP_WORDS=({' '.join(repr(w) for w in words)}); "
              f"COMP_CWORD={len(words) - 1}; _kanon; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
    return set(subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True).stdout.split())


def ask_fish(line, folder):
    script = f"{kanon} generate fish | source; complete -C '{line}'"
    out = subprocess.run(["fish", "--no-config", "-c", script], cwd=folder, capture_output=True, text=True,
                         env={**os.environ, "HOME": folder}).stdout
    return {answer.split("\t")[0].split("=")[-1] for answer in out.splitlines()}


def ask_zsh(line, folder):
    """Completions of zsh need its line editor: a terminal, a Tab, and a command that says what it got. One answer is
    put into the line; several are listed, and then the words are looked for in the list."""
    pathlib.Path(folder, ".zsh").mkdir(exist_ok=True)
    pathlib.Path(folder, ".zsh", "_kanon").write_bytes(subprocess.run([kanon, "generate", "zsh"], capture_output=True).stdout)
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.environ.update(TERM="dumb", HOME=folder, ZDOTDIR=folder)
        os.execvp("zsh", ["zsh", "-f", "-i"])
    seen = b""

    def until(mark):
        nonlocal seen
        end = time.monotonic() + 10
        while mark not in seen and time.monotonic() < end:
            if select.select([terminal], [], [], 1)[0]:
                try:
                    seen += os.read(terminal, 4096)
                except OSError:
                    break
        before, _, seen = seen.partition(mark)
        return before.decode(errors="replace")

    os.write(terminal, b"PS1='PRO''MPT '; unsetopt zle_bracketed_paste; setopt no_beep; fpath=($PWD/.zsh $fpath);"
             b"autoload -U compinit; compinit -u -D; kanon() { print -r -- \"G\"\"OT:$*:E\"\"ND\" }\n")
    until(b"PROMPT ")
    os.write(terminal, line.encode() + b"\t")
    os.write(terminal, b" \n")  # a space ends a suffix like the = of an option
    listed = until(b"GOT:")
    got = until(b":END").strip().split()
    os.kill(child, signal.SIGKILL)
    os.close(terminal)
    os.waitpid(child, 0)
    typed = line.split()[1:] + ([""] if line.endswith(" ") else [])
    if len(got) == len(typed) and got[-1] != typed[-1]:
        return {got[-1].rstrip("=").split("=")[-1] if "=" in line else got[-1].rstrip("=")}
    listed = listed.replace("\r", "\n").split("\n", 1)[-1].split()
    return {word for _, answers in cases for word in answers if word in listed and word not in typed}


def main():
    number = failures = 0
    for shell, ask in (("bash", ask_bash), ("zsh", ask_zsh), ("fish", ask_fish)):
        if shutil.which(shell) is None:
            number += 1
            print(f"ok {number} - {shell} # SKIP it is not installed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "people.csv").write_text("age\n1\n")
            for line, expected in cases:
                number += 1
                answers = ask(line, folder)
                good = answers == expected
                failures += not good
                print(f"{'ok' if good else 'not ok'} {number} - {shell}: {line!r} gives {sorted(answers)}")
                if not good:
                    print(f"# expected {sorted(expected)}")
    print(f"1..{number}")
    sys.exit(1 if failures else 0)


main()
