#!/usr/bin/env python3
"""bench/cuts.py BUILD [--only TEXT] [--limit SECONDS] [--seeds N] [--others]: how long does the proven best set of cut points take, what
does it lose, and how near does hill climbing come?

Adult of Bayardo and Agrawal 2005: 30,162 rows, age, workclass, education, marital-status, occupation, race, sex,
native-country, class income; "coarse" cuts ages at multiples of 5, "fine" at every year. One JSON line per run: loss, bound
and gap, search and CPU seconds, evaluations. Where the search does not close within the limit, the gap says so. Hill climbing has
18,000 looks at a column (fine: 12,000), two seconds of two processors at most, once for each seed: the worst of them counts. CPU seconds are of
all threads and of the whole program; on a busy machine they are what can be compared. --others: genetic and anneal too."""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--only", default="")
parser.add_argument("--limit", type=float, default=600)
parser.add_argument("--seeds", type=int, default=3)
parser.add_argument("--others", action="store_true")
asked = parser.parse_args()
data = os.environ.get("KANON_DATA")
if not data:
    sys.exit("KANON_DATA is not set: nothing to measure")

QIS = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"]
TABLE = os.path.join(data, "adult/adult_30162.csv")
ALL_K = [1000, 500, 250, 100, 50, 25, 10, 5]
# coding, measure, rows that may be suppressed, k
RUNS = [("coarse", measure, 0, k) for measure in ("dm", "cm") for k in ALL_K]
RUNS += [("fine", "dm", "100%", k) for k in ALL_K]
RUNS += [(coding, measure, 100, k) for coding in ("coarse", "fine") for measure in ("dm", "cm") for k in (100, 50, 25, 10, 5)]
RUNS += [("coarse", "lm", 0, k) for k in ALL_K[:5]]
RUNS += [("coarse", "dm", "100%", 5)]


def run(algorithm, coding, measure, suppressed, k, *more):
    if coding == "coarse":
        algorithm += ":coarse=age:5"
    with tempfile.TemporaryDirectory() as folder:
        command = [os.path.join(asked.build, "kanon"), "anonymize", TABLE, "-q", "-k", str(k), "--qi", ",".join(QIS),
                   "--sensitive", "income", "--measure", measure, "--max-suppressed", str(suppressed),
                   "--algorithm", algorithm, *more, "-o", os.path.join(folder, "out.csv"),
                   "--json", os.path.join(folder, "out.json")]
        for column in QIS[1:]:
            command += ["--hierarchy", f"{column}={data}/adult/hierarchies/{column}.csv"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found = json.load(open(os.path.join(folder, "out.json")))
    return found, after.ru_utime - before.ru_utime


for coding, measure, suppressed, k in RUNS:
    name = f"{coding} {measure} k={k} suppressed={suppressed}"
    if asked.only not in name:
        continue
    # the default ends after about a minute's work: here time alone decides
    proven, cpu = run("k-optimize", coding, measure, suppressed, k, "--effort", "1000000000", "--time-limit", str(asked.limit))
    loss = proven["loss"][measure]
    bound = proven["bound"] or {}
    print(json.dumps({"bench": "cuts", "coding": coding, "measure": measure, "k": k, "suppressed": suppressed,
                      "loss": loss, "optimal": proven["optimal"], "bound": bound.get("value"), "gap": bound.get("gap"),
                      "stopped": proven["stopped"], "search_seconds": round(proven["seconds"]["search"], 2),
                      "cpu_seconds": round(cpu, 2), "evaluations": proven["nodes"], "suppressed_rows": proven["suppressed"]["rows"]}), flush=True)
    for search in ("hill-climb", "genetic", "anneal") if asked.others else ("hill-climb",):
        runs = [run(search, coding, measure, suppressed, k, "--seed", str(seed), *(("--effort", "18000" if coding == "coarse" else "12000") if search == "hill-climb" else ()))
                for seed in range(1, asked.seeds + 1)]
        losses = [found["loss"][measure] for found, _ in runs]
        print(json.dumps({"bench": "cuts", "search": search, "coding": coding, "measure": measure, "k": k, "suppressed": suppressed,
                          "losses": losses, "worst_above": round(max(losses) / loss - 1, 5) if loss else 0,
                          "search_seconds": round(max(found["seconds"]["search"] for found, _ in runs), 2),
                          "cpu_seconds": round(max(cpu for _, cpu in runs), 2)}), flush=True)
