#!/usr/bin/env python3
"""How far it goes, each limit alone: rows, columns, distinct values, levels, leaves, long labels, k; that --memory is
respected, as the system measures it; that a file cannot flood the hash tables.

    check_limits.py KANON KANON_GENERATE [--cheap] [--only WORD]

Every case either ends well, and its release verifies, or is refused with the exit code and the words that it should be.
Prints TAP with seconds of processor time and the most memory that the process had. --cheap: smaller tables, for
`make test`; `make limits` takes some minutes and 3 GB on the disk.
"""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("kanon", type=os.path.abspath)
parser.add_argument("generate", type=os.path.abspath)
parser.add_argument("--cheap", action="store_true")
parser.add_argument("--only", default="")
options = parser.parse_args()
MB = 1 << 20
results = []


class Run:
    def __init__(self, words):
        with open("said", "wb") as said:
            process = subprocess.Popen([options.kanon, *words], stdout=subprocess.DEVNULL, stderr=said)
            _, status, used = os.wait4(process.pid, 0)
        process.returncode = self.code = os.waitstatus_to_exitcode(status)
        self.seconds, self.bytes = used.ru_utime + used.ru_stime, used.ru_maxrss * 1024
        with open("said", errors="replace") as said:
            self.said = said.read()


def kanon(*words):
    return Run([*words, "-q"])


def write(name, lines):
    with open(name, "w") as file:
        file.writelines(lines)


def case(name, run, code=0, words="", most_bytes=None, verify=()):
    """Checks a run and, where `verify` has flags, its release o.csv."""
    problems = []
    if run.code != code:
        problems.append(f"exit {run.code} and not {code}: {run.said[:300]}")
    if not re.search(words, run.said):
        problems.append(f"does not say {words!r}: {run.said[:300]}")
    if most_bytes is not None and run.bytes > most_bytes:
        problems.append(f"had {run.bytes / MB:.0f} MB, and {most_bytes / MB:.0f} were allowed")
    if verify and not problems:
        again = kanon("verify", "o.csv", *verify)
        if again.code != 0:
            problems.append(f"verify ends with {again.code}: {again.said[:300]}")
    results.append(not problems)
    print(f"{'not ok' if problems else 'ok'} {len(results)} - {name}: {run.seconds:.2f} s, {run.bytes / MB:.0f} MB",
          *problems, sep="\n#   ", flush=True)


def many_rows():
    """Ten million rows: a hundred thousand people a hundred times."""
    n, times = (20000, 10) if options.cheap else (100000, 100)
    subprocess.run([options.generate, str(n), "-o", "some.csv"], check=True)
    subprocess.run(f"(head -1 some.csv; for i in $(seq {times}); do tail -n +2 some.csv; done) | cut -d, -f3,4,5,11 > many.csv",
                   shell=True, check=True)
    with open("many.csv") as file:
        names = file.readline().strip().split(",")
    flags = ["--qi", ",".join(names[:3]), "--sensitive", names[3], "-k", "20"]
    case(f"{n * times:,} rows, levels", kanon("anonymize", "many.csv", *flags, "--recoding", "global", "-o", "o.csv"),
         verify=[*flags, "--original", "many.csv"])
    case(f"{n * times:,} rows, local", kanon("anonymize", "many.csv", *flags, "--algorithm", "mondrian", "-o", "o.csv"),
         verify=[*flags, "--original", "many.csv"])
    for limit in ([8, 64] if options.cheap else [64, 256, 1024]):
        run = kanon("anonymize", "many.csv", *flags, "--recoding", "global", "-o", "o.csv", "--memory", f"{limit}M")
        words = r"out of memory: \d+ bytes in use, \d+ more needed, limit \d+" if run.code == 4 else ""
        # beside what the limit is about: the program, its libraries, stacks, and what malloc keeps for itself
        case(f"--memory {limit}M", run, 4 if run.code == 4 else 0, words, limit * MB * 1.05 + 24 * MB)


def many_columns():
    n_rows = 100 if options.cheap else 2000
    rng = random.Random(1)
    write("wide.csv", [",".join(f"c{i}" for i in range(1000)) + "\n"] +
          [",".join(str(rng.randrange(5)) for _ in range(1000)) + "\n" for _ in range(n_rows)])
    flags = ["--qi", "c0,c1,c2,c3", "--sensitive", "c4", "--unlisted", "insensitive", "-k", "3", "--allow-copy"]
    case("1,000 columns", kanon("anonymize", "wide.csv", *flags, "-o", "o.csv"), verify=[*flags[:-1], "--original", "wide.csv"])
    flags = ["--qi", ",".join(f"c{i}" for i in range(1000)), "-k", "3"]
    case("1,000 quasi-identifiers", kanon("anonymize", "wide.csv", *flags, "--algorithm", "mondrian", "-o", "o.csv"),
         verify=[*flags, "--original", "wide.csv"])


def many_values():
    n = 50000 if options.cheap else 5000000
    write("values.csv", ["id,code\n"] + [f"{i},v{i * 7919 % n:07d}\n" for i in range(n)])
    flags = ["--qi", "id", "--unlisted", "drop", "-k", "5", "--release-values", "id=yes"]
    case(f"{n:,} distinct numbers", kanon("anonymize", "values.csv", *flags, "--algorithm", "mondrian", "-o", "o.csv"),
         verify=[*flags, "--original", "values.csv"])
    flags = ["--qi", "code", "--unlisted", "drop", "-k", "5", "--hierarchy", "code=mask(right)", "--release-values", "code=yes"]
    case(f"{n:,} distinct texts", kanon("anonymize", "values.csv", *flags, "--recoding", "global", "-o", "o.csv"),
         verify=[*flags, "--original", "values.csv"])


def many_levels():
    leaves = range(1 << 10)
    write("levels.csv", [";".join([str(i)] + [f"{level}-{i >> level}" for level in range(1, 11)] +
                                  [f"{level}-0" for level in range(11, 19)] + ["*"]) + "\n" for i in leaves])
    write("deep.csv", ["a,b\n"] + [f"{i * 37 % 1024},{i % 3}\n" for i in range(5000)])
    flags = ["--qi", "a,b", "--hierarchy", "a=levels.csv", "-k", "10"]
    case("20 levels", kanon("anonymize", "deep.csv", *flags, "--recoding", "global", "-o", "o.csv"),
         verify=[*flags, "--original", "deep.csv"])


def many_leaves():
    n = 20000 if options.cheap else 1000000
    write("leaves.csv", [f"{i};g{i // 100};h{i // 10000};*\n" for i in range(n)])
    write("few.csv", ["a\n"] + [f"{i * 7919 % n}\n" for i in range(min(n, 100000))])
    flags = ["--qi", "a", "--hierarchy", "a=leaves.csv", "-k", "10", "--release-values", "a=yes"]
    case(f"{n:,} leaves", kanon("anonymize", "few.csv", *flags, "--recoding", "global", "-o", "o.csv"),
         verify=[*flags, "--original", "few.csv"])


def long_labels():
    long = "x" * MB
    write("labels.csv", [f"a;{long};*\n", f"b;{long};*\n", "c;y;*\n"])
    write("short.csv", ["v,s\n"] + [f"{'abc'[i % 3]},{i % 2}\n" for i in range(60)])
    flags = ["--qi", "v", "--sensitive", "s", "--hierarchy", "v=labels.csv", "-k", "30"]
    case("labels of 1 MB", kanon("anonymize", "short.csv", *flags, "--max-suppressed", "50%", "-o", "o.csv"),
         verify=[*flags, "--max-suppressed", "50%", "--original", "short.csv"])
    write("cells.csv", ["v,s\n"] + [f"{long}{i % 3},{i % 2}\n" for i in range(12)])
    flags = ["--qi", "v", "--sensitive", "s", "-k", "4", "--release-values", "v=yes"]
    case("cells of 1 MB", kanon("anonymize", "cells.csv", *flags, "-o", "o.csv"), verify=[*flags, "--original", "cells.csv"])


def large_k():
    write("k.csv", ["a,b\n"] + [f"{i},{i % 7}\n" for i in range(500)])
    for algorithm in ("mondrian", "cluster", "optimal", "k-optimize", "hilbert", "cover"):
        flags = ["--qi", "a,b", "-k", "500"]
        case(f"k = n, {algorithm}", kanon("anonymize", "k.csv", *flags, "--algorithm", algorithm, "-o", "o.csv"),
             verify=[*flags, "--original", "k.csv"])
        case(f"k > n, {algorithm}", kanon("anonymize", "k.csv", "--qi", "a,b", "-k", "501", "--algorithm", algorithm, "-o", "x.csv"),
             1, "k=501 is impossible: the table has")
    assert not os.path.exists("x.csv")


MASK = (1 << 64) - 1


def home(text):
    """Where a dictionary without a key put a text of eight bytes; larger ones begin with the same bits."""
    word = (int.from_bytes(text, "little") ^ 8 << 56) * 0x9e3779b97f4a7c15 & MASK
    return ((word ^ word >> 29) * 0xd6e8feb86659fd93 & MASK) >> 20


def flooding():
    """Values that all fell into one part of the table take no longer than others: the hashes have a key."""
    n = 60000 if options.cheap else 300000
    rng = random.Random(1)
    letters = b"abcdefghijklmnopqrstuvwxyz"
    slots = 1 << (n * 8 // 5).bit_length()

    def some(wanted):
        found = set()
        while len(found) < n:
            text = bytes(rng.choices(letters, k=8))
            if wanted(text):
                found.add(text)
        return sorted(found)

    plain, crafted = some(lambda text: True), some(lambda text: home(text) % slots < slots // 16)
    took = {}
    for name, texts in (("plain", plain), ("crafted", crafted)):
        write("flood.csv", ["v,s\n"] + [f"{text.decode()},{i % 3}\n" for i, text in enumerate(texts)])
        flags = ["--insensitive", "v", "--qi", "s", "-k", "2", "--threads", "1"]
        run = kanon("anonymize", "flood.csv", *flags, "-o", "o.csv", "--allow-copy")
        took[name] = run.seconds
        case(f"{n:,} {name} values", run, verify=[*flags, "--original", "flood.csv"])
    results.append(took["crafted"] < 2 * took["plain"] + 0.2)
    print(f"{'ok' if results[-1] else 'not ok'} {len(results)} - crafted values take {took['crafted'] / took['plain']:.1f} times as long")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for group in (large_k, long_labels, many_levels, many_columns, flooding, many_leaves, many_values, many_rows):
            if options.only in group.__name__:
                group()
        os.chdir("/")
    print(f"1..{len(results)}")
    sys.exit(0 if all(results) else 1)


main()
