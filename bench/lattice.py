#!/usr/bin/env python3
"""bench/lattice.py BUILD: how fast is the lattice engine, and what does the best node lose?

Runs kanon-bench-lattice on the public tables that KANON_DATA names: every node and the proven optima of Adult (9 QIs, 12,960
nodes) and fars (8 QIs, 20,736 nodes), `kanon lattice` with every measure, models with a sensitive column, the same kind
of rows at 1 and 10 million, and lattices too large to finish (loss beside proven bound). One JSON line per run."""
import json
import os
import subprocess
import sys
import tempfile

build = sys.argv[1]
data = os.environ.get("KANON_DATA")
if not data:
    sys.exit("KANON_DATA is not set: nothing to measure")
program = os.path.join(build, "bench", "kanon-bench-lattice")

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
for (table, folder, columns), options in RUNS:
    command = [program, os.path.join(data, table), os.path.join(data, folder), columns] + options.split()
    result = subprocess.run(command, capture_output=True, text=True)
    sys.stdout.write(result.stdout)
    sys.stdout.flush()
    if result.returncode != 0:
        sys.stderr.write(result.stderr)

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
