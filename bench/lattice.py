#!/usr/bin/env python3
"""bench/lattice.py BUILD [--against BUILD] [--only TEXT] [--repeats N]: how fast is the lattice engine, and what does the
best node lose?

Runs kanon-bench-lattice on the public tables that KANON_DATA names: every node and the proven optima of Adult (9 QIs, 12,960
nodes) and fars (8 QIs, 20,736 nodes), `kanon lattice` with every measure, models with a sensitive column, the same kind
of rows at 1 and 10 million, and lattices too large to finish (loss beside proven bound). One JSON line per run.

With --against, another build of kanon does the same, the two alternating N times: one line per job with the least CPU
seconds of both, their ratio (above 1: BUILD is slower), and whether they found the same. --only: jobs whose data and
options contain the text."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--against")
parser.add_argument("--only", default="")
parser.add_argument("--repeats", type=int, default=3)
asked = parser.parse_args()
build = asked.build
data = os.environ.get("KANON_DATA")
if not data:
    sys.exit("KANON_DATA is not set: nothing to measure")

ADULT = ["adult/adult_30162.csv", "adult/hierarchies",
         "sex,age,race,marital-status,education,native-country,workclass,occupation,income=salary-class"]
ADULT_8 = ["adult/adult_30162.csv", "adult/hierarchies",
           "sex,age,race,marital-status,education,native-country,workclass,income=salary-class"]
FARS = ["fars/fars.csv", "fars/hierarchies", "iage,irace,ideathmon,ideathday,isex,ihispanic,istatenum,iinjury"]
CREDIT = ["creditcard/creditcard.csv", "creditcard/hierarchies",
          ",".join(sorted(name[:-4] for name in os.listdir(os.path.join(data, "creditcard/hierarchies"))))]
CREDIT_16 = [CREDIT[0], CREDIT[1], ",".join(CREDIT[2].split(",")[4:20])]
ADULT_14 = ["adult/adult_30162.csv", "adult/hierarchies_all14",
            "age,workclass,education,marital-status,occupation,relationship,race,sex,native-country,income=salary-class,"
            "hours-per-week,capital-loss,capital-gain,fnlwgt"]
RUNS = [
    (ADULT, "what=all"),
    (ADULT, "k=5 suppressed=0 repeat=20"),
    (ADULT, "k=5 suppressed=0.04"),
    (ADULT, "k=10 suppressed=1"),
    (ADULT, "k=5 suppressed=0.04 measure=dm"),
    (FARS, "what=all repeat=3"),
    (FARS, "what=all repeat=3 threads=2"),
    (FARS, "k=5 suppressed=0.04"),
    (FARS, "k=5 suppressed=0 measure=dm"),
    (FARS, "k=100 suppressed=0.04 measure=dm"),
    (ADULT_8, "what=all suppressed=0.04 sensitive=occupation"),
    (ADULT_8, "what=all suppressed=0.04 sensitive=occupation models=l-diversity:l=3"),
    (ADULT_8, "what=all suppressed=0.04 sensitive=occupation models=t-closeness:t=0.3,distance=equal"),
    (ADULT_8, "what=all suppressed=0.04 sensitive=occupation models=l-diversity:l=3,kind=entropy"),
    (ADULT_8, "what=all suppressed=0.04 sensitive=occupation models=l-diversity:l=3,kind=frequency"),
    (ADULT_8, "what=all suppressed=0.04 sensitive=occupation models=l-diversity:l=3,kind=recursive,c=3"),
    (ADULT_8, "suppressed=0.04 sensitive=occupation models=l-diversity:l=3"),
    (ADULT_8, "suppressed=0.04 sensitive=occupation models=l-diversity:l=3,kind=entropy"),
    (ADULT, "what=all rows=1000000 repeat=2"),
    (ADULT, "what=all rows=10000000 repeat=1"),
    (ADULT, "suppressed=0.04 rows=10000000 repeat=2"),
    (CREDIT, "suppressed=0.04 repeat=1 time-limit=1"),
    (CREDIT, "suppressed=0.04 repeat=1 time-limit=10"),
    (CREDIT, "k=20 suppressed=0.2 repeat=1 time-limit=10"),
    (CREDIT_16, "suppressed=0.04 repeat=1 time-limit=10"),
    (ADULT_14, "suppressed=1 repeat=1 time-limit=10"),
]


def measure(where, table, folder, columns, options):
    program = os.path.join(where, "bench", "kanon-bench-lattice")
    command = [program, os.path.join(data, table), os.path.join(data, folder), columns] + options.split()
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.stderr.write(result.stderr)
    return result.stdout


def side_by_side(table, folder, columns, options):
    """Alternating, so that whatever else the machine does falls on both."""
    runs = [[json.loads(measure(where, table, folder, columns, options)) for where in (build, asked.against)]
            for _ in range(asked.repeats)]
    seconds = [min(run[i]["fastest_cpu_s"] for run in runs) for i in (0, 1)]
    same = all(runs[0][0][key] == runs[0][1][key] for key in ("nodes", "loss", "bound"))
    return json.dumps({"bench": "lattice side by side", "data": os.path.basename(table), "qis": len(columns.split(",")),
                       "options": options, "cpu_s": seconds[0], "against_cpu_s": seconds[1],
                       "ratio": round(seconds[0] / seconds[1], 3), "loss": runs[0][0]["loss"], "same": same}) + "\n"


for (table, folder, columns), options in RUNS:
    if asked.only in f"{table} {options}":
        sys.stdout.write((side_by_side(table, folder, columns, options) if asked.against else
                          measure(build, table, folder, columns, options)))
        sys.stdout.flush()
if asked.against or asked.only:
    sys.exit()

# What a user gets: the table of all nodes, all measures, as CSV; with a sensitive column, and with models that look at it.
SENSITIVE = ["--sensitive", "occupation"]
TABLES = [
    (ADULT, []),
    (FARS, []),
    (ADULT_8, []),
    (ADULT_8, SENSITIVE),
    (ADULT_8, SENSITIVE + ["--model", "l-diversity:l=3"]),
    (ADULT_8, SENSITIVE + ["--model", "t-closeness:t=0.3"]),
]
with tempfile.TemporaryDirectory() as folder:
    for (table, hierarchies, columns), more in TABLES:
        command = [os.path.join(build, "kanon"), "lattice", os.path.join(data, table), "-k", "5", "--max-suppressed", "4%",
                   "--threads", "1", "-q", "-o", os.path.join(folder, "nodes.csv"), "--json", os.path.join(folder, "nodes.json")]
        for column in columns.split(","):
            name, _, file = column.partition("=")
            command += ["--qi", name, "--hierarchy", f"{name}={os.path.join(data, hierarchies, (file or name) + '.csv')}"]
        subprocess.run(command + more, check=True)
        with open(os.path.join(folder, "nodes.json")) as result:
            figures = json.load(result)
        print(json.dumps({"bench": "kanon lattice", "data": os.path.basename(table), "options": " ".join(more),
                          "nodes": figures["nodes"], "feasible": figures["feasible"], "best": figures["best"],
                          "seconds": figures["seconds"], "peak_bytes": figures["peak_bytes"]}))
