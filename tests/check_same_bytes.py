#!/usr/bin/env python3
"""Two builds, for two processors or by two compilers, release the same bytes: every algorithm, every measure as the
objective of one search of each kind, models with logarithms, hierarchies made of the data.

    check_same_bytes.py KANON OTHER_KANON KANON_GENERATE [--only WORD]

Compared are the release, the schema and the JSON without its times and bytes. Prints TAP.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("kanon", type=os.path.abspath)
parser.add_argument("other", type=os.path.abspath)
parser.add_argument("generate", type=os.path.abspath)
parser.add_argument("--only", default="", help="jobs that have this word")
options = parser.parse_args()

FEW = {"exhaustive": 12, "cover": 300, "meyerson-williams": 300, "two-factor": 300, "three-factor": 300, "agglomerative": 1000,
       "forest": 1000, "k-member": 1000, "sequential": 1000, "cluster": 1000, "genetic": 300, "anneal": 300,
       "k-optimize": 100, "hill-climb": 300}  # rows; others 2,000
K = {"two-factor": 2, "three-factor": 3, "exhaustive": 3}
MODELS = ["l-diversity:kind=entropy,l=2", "l-diversity:kind=recursive,l=2,c=4", "t-closeness:t=0.5", "beta-likeness:beta=9",
          "beta-likeness:beta=9,enhanced=yes", "delta-disclosure:delta=9", "alpha-k:alpha=0.8"]


def names(what):
    subprocess.run([options.kanon, "list", what, "--json", "list.json"], stdout=subprocess.DEVNULL, check=True)
    with open("list.json") as file:
        return [one["name"] for one in json.load(file)[what]]


def job(algorithm, *more):
    rows = FEW.get(algorithm, 2000)
    return ["anonymize", f"{rows}.csv", "--qi", "age,zip,education,income", "--sensitive", "diagnosis", "--unlisted", "drop", "-k",
            str(K.get(algorithm, 5)), "--max-suppressed", "5%", "--algorithm", algorithm, "--effort", "100", "--seed", "7", *more]


def jobs():
    for algorithm in names("algorithms"):
        yield job(algorithm)
        if algorithm not in K:
            yield job(algorithm, "--hierarchy", "zip=mask(right)", "--hierarchy", "income=intervals(5000,20000)")
    for measure in names("measures"):
        for algorithm in ("mondrian", "optimal", "cluster", "hill-climb"):
            yield job(algorithm, "--measure", measure)
    for model in MODELS:
        for algorithm in ("mondrian", "optimal", "cluster", "k-optimize"):
            yield job(algorithm, "--model", model)
    yield ["risk", "2000.csv", "--qi", "age,zip,sex", "--sensitive", "diagnosis", "--population", "0.1"]
    yield ["lattice", "2000.csv", "--qi", "age,zip,sex", "--sensitive", "diagnosis", "-k", "5", "-o", "o.csv"]


def leave(kanon, words):
    """What a run leaves."""
    for name in ("o.csv", "o.json", "o.schema"):
        if os.path.exists(name):
            os.unlink(name)
    outputs = ["-o", "o.csv", "--schema", "o.schema"] if words[0] == "anonymize" else []
    began = time.monotonic()
    done = subprocess.run([kanon, *words, *outputs, "--json", "o.json", "-q"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    left = {"exit code": done.returncode, "message": done.stderr}
    for name in ("o.csv", "o.json", "o.schema"):
        if os.path.exists(name):
            with open(name, "rb") as file:
                left[name] = file.read()
    if "o.json" in left:
        left["o.json"] = without_times(left["o.json"])
    return left, time.monotonic() - began


def without_times(text):
    """JSON without what no two runs have in common."""
    for several in (rb'"seconds": \{[^}]*\}', rb',?\s*"(progress|proven)": \[[^\]]*\]'):
        text = re.sub(several, b"", text)
    return re.sub(rb'"(read|encode|search|recode|write|verify|measure|report|total|seconds|peak_bytes|bytes)": [^,\n}]*', b"", text)


def difference(one, two):
    if one["exit code"] != two["exit code"]:
        return f"exit {one['exit code']} and {two['exit code']}: {one['message']} and {two['message']}"
    for name in one:
        if one[name] != two.get(name):
            pairs = zip(one[name].splitlines(), (two.get(name) or b"").splitlines())
            return f"{name} differs: " + next((f"{a} and {b}" for a, b in pairs if a != b), "one is longer")
    return ""


def main():
    failures = number = n_releases = 0
    seconds = [0, 0]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for rows in {2000, *FEW.values()}:
            subprocess.run([options.generate, str(rows), "--seed", "7", "-o", f"{rows}.csv"], check=True)
        for words in jobs():
            if options.only not in " ".join(words):
                continue
            number += 1
            (here, seconds_here), (there, seconds_there) = leave(options.kanon, words), leave(options.other, words)
            seconds = [seconds[0] + seconds_here, seconds[1] + seconds_there]
            found = difference(here, there)
            n_releases += "o.csv" in here
            failures += bool(found)
            print(f"{'not ok' if found else 'ok'} {number} - {' '.join(words)}: exit {here['exit code']}, {seconds_there:.1f} s",
                  *filter(None, [found]), sep="\n#   ", flush=True)
        os.chdir("/")
    print(f"# {n_releases} releases, {seconds[0]:.0f} s and {seconds[1]:.0f} s\n1..{number}")
    sys.exit(1 if failures or n_releases == 0 else 0)


main()
