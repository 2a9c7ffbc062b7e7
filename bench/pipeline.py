#!/usr/bin/env python3
"""Whole runs, from CSV to verified CSV: how long, how much memory, and how much was lost.

    bench/pipeline.py BUILD [--repeats N] [--only NAME]

One JSON line per question: commit, data, settings, fastest and median seconds of N runs, seconds of the fastest run by
stage, peak memory, nodes, and the measures reached. Real data is read from the folder KANON_DATA names; without it those
questions are left out, saying so."""
import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

EIGHT = "age,sex,zip,marital_status,education,occupation,country,income"
ADULT = "sex,age,race,marital-status,education,native-country,workclass,occupation"


def hierarchies(folder, columns, renamed={}):
    flags = []
    for column in columns.split(","):
        flags += ["--hierarchy", f"{column}={folder}/{renamed.get(column, column)}.csv"]
    return flags


def questions(data, generated):
    """(name, table or number of generated rows, flags); `generated`: the folder of the population's hierarchies."""
    people = ["--qi", EIGHT, "--sensitive", "diagnosis", "--identifier", "patient_id,name"]
    # named, so that the lattice stays the same when `auto` learns to make finer ones
    trees = ["--hierarchy", "age=intervals(5,10,20)", "--hierarchy", "zip=mask(right)", "--hierarchy", "sex=suppress",
             "--hierarchy", "income=intervals(1000,5000,10000,50000)",
             *hierarchies(generated, "marital_status,education,occupation,country")]
    yield "mondrian-1m", 1_000_000, [*people, "-k", "10", "--algorithm", "mondrian"]
    yield "mondrian-1m-l-diversity", 1_000_000, [*people, "-k", "10", "--algorithm", "mondrian",
                                                 "--model", "l-diversity:l=3"]
    for name, rows in (("optimal-1m", 1_000_000), ("optimal-10m", 10_000_000)):
        yield name, rows, [*people, *trees, "-k", "5", "--max-suppressed", "4%", "--algorithm", "optimal"]
    if data is None:
        return
    adult, folder = f"{data}/adult/adult_30162.csv", f"{data}/adult/hierarchies"
    for k in (5, 10, 50):
        yield f"mondrian-adult-k{k}", adult, ["--qi", ADULT, "-k", str(k), "--algorithm", "mondrian"]
    nine = ADULT + ",income"
    trees = hierarchies(folder, nine, {"income": "salary-class"})
    for k, limit in ((5, "0"), (5, "4%"), (10, "100%")):
        yield f"optimal-adult-k{k}-{limit}", adult, ["--qi", nine, *trees, "-k", str(k), "--max-suppressed", limit,
                                                     "--algorithm", "optimal", "--threads", "1"]
    fars = "iage,irace,ideathmon,ideathday,isex,ihispanic,istatenum,iinjury"
    for k, limit in ((5, "0"), (100, "4%")):
        yield f"optimal-fars-dm-k{k}-{limit}", f"{data}/fars/fars.csv", [
            "--qi", fars, *hierarchies(f"{data}/fars/hierarchies", fars), "-k", str(k), "--max-suppressed", limit,
            "--measure", "dm", "--algorithm", "optimal"]


def run(kanon, table, flags, folder):
    result, release = pathlib.Path(folder, "result.json"), pathlib.Path(folder, "release.csv")
    began = time.perf_counter()
    subprocess.run([kanon, "anonymize", table, *flags, "-q", "-o", release, "--json", result], check=True)
    return time.perf_counter() - began, json.loads(result.read_text())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    data = os.environ.get("KANON_DATA")
    if data is None:
        print("KANON_DATA is not set: no real data", file=sys.stderr)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        generated = {}
        subprocess.run([f"{options.build}/kanon-generate", "1", "-o", os.devnull, "--hierarchies", folder], check=True)
        for name, table, flags in questions(data, folder):
            if options.only not in name:
                continue
            if isinstance(table, int):
                if table not in generated:
                    generated[table] = f"{folder}/{table}.csv"
                    subprocess.run([f"{options.build}/kanon-generate", str(table), "-o", generated[table]], check=True)
                source, table = f"generated {table}", generated[table]
            else:
                source = pathlib.Path(table).name
            runs = sorted((run(f"{options.build}/kanon", table, flags, folder) for _ in range(options.repeats)),
                          key=lambda r: r[0])
            best = runs[0][1]
            print(json.dumps({
                "bench": name, "commit": commit, "data": source, "settings": " ".join(map(str, flags)),
                "fastest": round(runs[0][0], 3), "median": round(statistics.median(r[0] for r in runs), 3),
                "seconds": {stage: round(s, 4) for stage, s in best["seconds"].items()},
                "peak_mb": round(best["peak_bytes"] / 1e6), "nodes": best["nodes"], "levels": best["levels"],
                "loss": {m: best["loss"][m] for m in ("lm", "dm")}, "classes": best["classes"]["count"],
                "optimal": best["optimal"]}), flush=True)


main()
