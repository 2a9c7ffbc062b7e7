#!/usr/bin/env python3
"""How far is `cluster` from the best possible release, as certified? Whole runs of the program.

    bench/bound.py BUILD [--seconds 60] [--only NAME]

One JSON line per question: commit, LM reached, the bound, the gap, the gap that is asked for, seconds of search and bound, peak
memory. `quick` lines: the default bound, without --certify, beside one second of search. Real data is read from the folder that
KANON_DATA names; without it nothing is asked, saying so."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from cluster import EIGHT

WANTED = {5: 0.038, 10: 0.032, 50: 0.04, 100: 0.04}  # Adult, 14 columns, suppression
WANTED_TREES = 0.12                                    # ARX's hierarchies, 8 and 9 columns


def questions(data):
    """(name, table, flags, certified gap that is asked for)"""
    adult = f"{data}/adult/adult_45222.csv"
    with open(adult, encoding="utf-8") as table:
        columns = [name for name in table.readline().strip().split(",") if name != "income"]
    suppress = [flag for name in columns for flag in ("--hierarchy", f"{name}=suppress")]
    for k, wanted in WANTED.items():
        yield f"adult14-k{k}", adult, ["--qi", ",".join(columns), *suppress, "-k", str(k)], wanted
    for qis in EIGHT, EIGHT + ",occupation":
        trees = [flag for name in qis.split(",") for flag in
                 ("--hierarchy", f"{name}={data}/adult/hierarchies/{'salary-class' if name == 'income' else name}.csv")]
        for k in 5, 10, 50:
            yield f"arx{len(qis.split(','))}-k{k}", f"{data}/adult/adult_30162.csv", ["--qi", qis, *trees, "-k", str(k)], WANTED_TREES


def run(kanon, table, flags, folder):
    result = pathlib.Path(folder, "result.json")
    subprocess.run([kanon, "anonymize", table, *flags, "--algorithm", "cluster", "--unlisted", "drop", "--threads", "2", "--effort",
                    "1000000000000", "-q", "-o", pathlib.Path(folder, "release.csv"), "--json", result], check=True)
    return json.loads(result.read_text())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--seconds", default="60")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    data = os.environ.get("KANON_DATA")
    if data is None:
        sys.exit("KANON_DATA is not set: nothing about Adult")
    with tempfile.TemporaryDirectory() as folder:
        for name, table, flags, wanted in questions(data):
            for kind, more, gap in ("quick", ["--time-limit", "1"], None), ("certified", ["--time-limit", options.seconds, "--certify"], wanted):
                if options.only not in f"{name}-{kind}":
                    continue
                answer = run(f"{options.build}/kanon", table, [*flags, *more], folder)
                bound = answer["any_bound"]
                print(json.dumps({"question": f"{name}-{kind}", "commit": commit, "lm": round(answer["loss"]["lm"], 5),
                                  "bound": round(bound["value"], 5), "gap": round(bound["gap"], 4), "wanted": gap,
                                  "partial": bound["partial"], "search_seconds": round(answer["seconds"]["search"], 2),
                                  "bound_seconds": round(answer["seconds"]["bound"], 2), "peak_bytes": answer["peak_bytes"]}), flush=True)


if __name__ == "__main__":
    main()
