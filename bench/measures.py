#!/usr/bin/env python3
"""What a release costs and protects: every measure and every model, kanon against pycanon on the same file.

    bench/measures.py BUILD [--rows N] [--repeats N]

First line: all measures and models of a 1,000,000-row release in memory. Then a generated table is anonymized by mondrian;
kanon checks nine models on the two files (reading both included), pycanon the same nine on the release. One JSON line
each, with the figures both found, so that speed never stands without them. pycanon comes from PyPI; without it its line is
left out, saying so."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

QIS = "age,sex,zip,marital_status,education,occupation,country"
MODELS = ["l-diversity:l=1", "l-diversity:kind=entropy,l=1", "l-diversity:kind=recursive,l=2,c=1000000",
          "alpha-k:alpha=1", "t-closeness:t=1", "beta-likeness:beta=1000000",
          "beta-likeness:beta=1000000,enhanced=yes", "delta-disclosure:delta=1000000"]


def commit():
    return subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()


def kanon_line(build, table, release, folder, repeats):
    result = pathlib.Path(folder, "verify.json")
    command = [f"{build}/kanon", "verify", release, "--original", table, "--qi", QIS, "--sensitive", "diagnosis",
               "--identifier", "patient_id,name", "--insensitive", "income", "-k", "1", "-q", "--json", result]
    for model in MODELS:
        command += ["--model", model]
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        # models that no class must break for the figures to be printed: the exit code is not the question
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - began)
    checks = json.loads(result.read_text())["checks"]
    worst = [check["worst"] for check in checks if check.get("worst") is not None]
    return {"tool": "kanon", "fastest": round(min(seconds), 3), "worst": worst}


def pycanon_line(release):
    try:
        import pandas
        import pycanon
        from pycanon import anonymity
    except ImportError:
        print("pycanon is not there: its line is left out", file=sys.stderr)
        return None
    data = pandas.read_csv(release, dtype=str, keep_default_na=False)
    qis, secret = QIS.split(","), ["diagnosis"]
    began = time.perf_counter()
    worst = [anonymity.k_anonymity(data, qis), anonymity.l_diversity(data, qis, secret),
             anonymity.entropy_l_diversity(data, qis, secret), anonymity.recursive_c_l_diversity(data, qis, secret)[0],
             anonymity.alpha_k_anonymity(data, qis, secret)[0], anonymity.t_closeness(data, qis, secret),
             anonymity.basic_beta_likeness(data, qis, secret), anonymity.enhanced_beta_likeness(data, qis, secret),
             anonymity.delta_disclosure(data, qis, secret)]
    seconds = time.perf_counter() - began
    return {"tool": "pycanon", "fastest": round(seconds, 3), "worst": [float(x) for x in worst]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--rows", type=int, default=30_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    subprocess.run([f"{options.build}/bench/kanon-bench-measure", "1000000", "10", "2"], check=True)
    with tempfile.TemporaryDirectory() as folder:
        table, release = f"{folder}/people.csv", f"{folder}/release.csv"
        subprocess.run([f"{options.build}/kanon-generate", str(options.rows), "-o", table], check=True)
        subprocess.run([f"{options.build}/kanon", "anonymize", table, "--qi", QIS, "--sensitive", "diagnosis",
                        "--identifier", "patient_id,name", "--insensitive", "income", "-k", "10", "--algorithm",
                        "mondrian", "-q", "-o", release], check=True)
        for line in (kanon_line(options.build, table, release, folder, options.repeats), pycanon_line(release)):
            if line is not None:
                print(json.dumps({"bench": "models-of-a-file", "commit": commit(),
                                  "data": f"generated {options.rows}", **line}), flush=True)


main()
