#!/usr/bin/env python3
"""How far is `cluster` from the best possible release, as certified? Whole runs of the program.

    bench/bound.py BUILD [--seconds 60] [--bound-seconds 180] [--only NAME]

One JSON line per question: commit, LM reached, the bound, the gap, the gap that is asked for, seconds of search and bound, CPU
seconds of both together, peak memory. `quick`: the default bound, beside a second or two of search. `certified`: two runs, `cluster`
for the loss and `mondrian --certify` for the bound, which does not depend on the search. `people`: generated, intervals without
hierarchies among the columns. Real data is read from the folder that KANON_DATA names; without it only `people` is asked."""
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


def real_questions(data):
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


def questions(build, data, folder):
    if data is not None:
        yield from real_questions(data)
    else:
        print("KANON_DATA is not set: nothing about Adult", file=sys.stderr)
    for n in 20000, 100000:
        people = f"{folder}/people{n}.csv"
        subprocess.run([f"{build}/kanon-generate", str(n), "-o", people, "--hierarchies", folder], check=True)
        yield f"people{n // 1000}-k5", people, ["--qi", "age,sex,zip,marital_status,education", "--hierarchy", "zip=mask(right)", "--hierarchy",
            f"marital_status={folder}/marital_status.csv", "--hierarchy", f"education={folder}/education.csv", "-k", "5"], None


def run(kanon, table, flags, folder):
    """The JSON result, and the CPU seconds that it took."""
    result = pathlib.Path(folder, "result.json")
    before = os.times()
    subprocess.run([kanon, "anonymize", table, *flags, "--unlisted", "drop", "--threads", "2",
                    "-q", "-o", pathlib.Path(folder, "release.csv"), "--json", result], check=True)
    return json.loads(result.read_text()), os.times().children_user - before.children_user


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--seconds", default="60")
    parser.add_argument("--bound-seconds", default="180")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    kanon = f"{options.build}/kanon"
    with tempfile.TemporaryDirectory() as folder:
        for name, table, flags, wanted in questions(options.build, os.environ.get("KANON_DATA"), folder):
            for kind in "quick", "certified":
                if options.only not in f"{name}-{kind}":
                    continue
                budget = ["--effort", "500000"] if kind == "quick" else ["--effort", "1000000000000", "--time-limit", options.seconds]
                found, cpu = run(kanon, table, [*flags, "--algorithm", "cluster", *budget], folder)
                proven, bound_cpu = found, 0
                if kind == "certified":
                    proven, bound_cpu = run(kanon, table, [*flags, "--algorithm", "mondrian", "--certify", "--time-limit",
                                                           options.bound_seconds], folder)
                loss, bound = found["loss"]["lm"], proven["any_bound"]
                print(json.dumps({"question": f"{name}-{kind}", "commit": commit, "lm": round(loss, 5), "bound": round(bound["value"], 5),
                                  "gap": round((loss - bound["value"]) / loss, 4), "wanted": wanted if kind == "certified" else None,
                                  "method": bound["method"], "partial": bound["partial"],
                                  "search_seconds": round(found["seconds"]["search"], 2),
                                  "bound_seconds": round(proven["seconds"]["bound"], 2), "cpu_seconds": [round(cpu, 1), round(bound_cpu, 1)],
                                  "peak_bytes": max(found["peak_bytes"], proven["peak_bytes"])}), flush=True)


if __name__ == "__main__":
    main()
