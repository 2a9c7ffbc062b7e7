#!/usr/bin/env python3
"""bench/ba_experiments.py BUILD [--output FOLDER] [--effort N] [--only NAME]: Figures 6 and 7 of Bayardo and Agrawal (2005)
once more: how long the proven best cut points take and what they cost over k, with 0, 100 or any number of rows that may be
suppressed, for coarse and fine ages; with and without a first release (Figure 7a); and what k-optimize and hill climbing have
after how many seconds (Figure 7b).

Adult, 30,162 rows, KANON_DATA. A run ends after --effort evaluations: what was not proven by then says so by its gap. Runs go
to BUILD/ba_experiments/runs.jsonl, and a second call does not repeat them. CPU seconds of the whole program, one thread."""
import argparse
import csv
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

from sc_experiments import picture

QIS = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"]
ALL_K = [1000, 500, 250, 100, 50, 25, 10, 5]
LIMITS = {"0": "0", "100": "100", "any": "100%"}
# What closes in a few CPU seconds, and beside it what does not.
PLAN = [("dm", "0", ("coarse", "fine"), ALL_K), ("dm", "100", ("coarse",), ALL_K), ("dm", "any", ("coarse", "fine"), ALL_K[:5]),
        ("cm", "0", ("coarse", "fine"), ALL_K[3:])]


class Bench:
    def __init__(self, asked, data):
        self.asked, self.data = asked, data
        folder = pathlib.Path(asked.build) / "ba_experiments"
        folder.mkdir(parents=True, exist_ok=True)
        self.journal, self.known = folder / "runs.jsonl", {}
        if self.journal.exists():
            for line in self.journal.read_text().splitlines():
                entry = json.loads(line)
                self.known[entry["key"]] = entry["result"]

    def run(self, algorithm, coding, measure, limit, k, effort=None, params=""):
        """Loss, gap (0: proven), CPU seconds, evaluations, rows suppressed, and losses over seconds."""
        key = json.dumps([algorithm, coding, measure, limit, k, effort or self.asked.effort, params])
        if key in self.known:
            return self.known[key]
        spec = ",".join(x for x in ("coarse=age:5" if coding == "coarse" else "", params) if x)
        with tempfile.TemporaryDirectory() as folder:
            result = pathlib.Path(folder) / "result.json"
            command = [pathlib.Path(self.asked.build) / "kanon", "anonymize", self.data / "adult_30162.csv", "-q", "-k", str(k),
                       "--qi", ",".join(QIS), "--sensitive", "income", "--measure", measure, "--threads", "1",
                       "--max-suppressed", LIMITS[limit], "--algorithm", algorithm + (":" + spec if spec else ""),
                       "--effort", str(effort or self.asked.effort), "--time-limit", "150",
                       "-o", pathlib.Path(folder) / "out.csv", "--json", result]
            for column in QIS[1:]:
                command += ["--hierarchy", f"{column}={self.data}/hierarchies/{column}.csv"]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            found = json.loads(result.read_text())
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        answer = {"loss": found["loss"][measure], "gap": (found["bound"] or {}).get("gap"), "cpu": round(cpu, 2), "evaluations": found["nodes"],
                  "suppressed": found["suppressed"]["rows"], "seconds": found["seconds"]["search"],
                  "progress": [(p["seconds"], p["loss"]) for p in found["progress"]]}
        self.known[key] = answer
        with open(self.journal, "a") as file:
            file.write(json.dumps({"key": key, "result": answer}) + "\n")
        print(json.dumps({"bench": "ba_experiments", "algorithm": algorithm, "params": params, "ages": coding, "measure": measure,
                          "may_be_suppressed": limit, "k": k, "loss": answer["loss"], "gap": answer["gap"], "cpu_seconds": round(cpu, 2),
                          "evaluations": answer["evaluations"]}), flush=True)
        return answer

    def write(self, name, header, rows):
        with open(self.asked.output / f"{name}.csv", "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(header)
            writer.writerows([f"{x:.10g}" if isinstance(x, float) else x for x in row] for row in rows)

    def draw(self, name, *args, **settings):
        (self.asked.output / f"{name}.svg").write_text(picture(*args, **settings))


def gap(one):
    return None if one["gap"] is None else round(one["gap"], 4)


def figure6(bench):
    rows, cost, time = [], {}, {}
    for measure, limit, codings, sizes in PLAN:
        for coding in codings:
            for k in sizes:
                one = bench.run("k-optimize", coding, measure, limit, k)
                rows.append([measure, coding, limit, k, one["loss"], gap(one), one["suppressed"], round(one["cpu"], 2), one["evaluations"]])
                if measure == "dm" and one["gap"] == 0:
                    time.setdefault(f"{coding}, suppressed: {limit}", []).append((k, one["cpu"]))
                if measure == "dm" and limit == "0":
                    cost.setdefault(coding, []).append((k, one["loss"]))
    bench.write("ba_figure6", ["measure", "ages", "may_be_suppressed", "k", "loss", "gap", "suppressed_rows", "cpu_seconds",
                               "evaluations"], rows)
    bench.draw("ba_figure6a", "Figure 6a: CPU seconds to the proven best cuts, DM", "k", "CPU seconds", time, log=True)
    bench.draw("ba_figure6b", "Figure 6b: cost of the best cuts, DM, nothing suppressed", "k", "DM", cost)


def figure7a(bench):
    rows, time = [], {}
    for coding in ("coarse", "fine"):
        for begin in ("nothing", "unsuppressed", "climb"):
            for k in ALL_K[:4]:
                one = bench.run("k-optimize", coding, "dm", "any", k, params="" if begin == "climb" else "begin=" + begin)
                rows.append([coding, begin, k, one["loss"], gap(one), round(one["cpu"], 2), one["evaluations"]])
                if one["gap"] == 0:
                    time.setdefault(f"{coding}, begin={begin}", []).append((k, one["cpu"]))
    bench.write("ba_figure7a", ["ages", "begin", "k", "loss", "gap", "cpu_seconds", "evaluations"], rows)
    bench.draw("ba_figure7a", "Figure 7a: with and without a first release, DM, any number suppressed", "k", "CPU seconds", time, log=True)


def figure7b(bench):
    rows, curves = [], {}
    for name, algorithm, params in (("k-optimize", "k-optimize", "begin=unsuppressed"), ("hill climbing", "hill-climb", "")):
        one = bench.run(algorithm, "fine", "dm", "any", 50, effort=150000 if algorithm == "k-optimize" else 20000, params=params)
        share = one["cpu"] / max(one["seconds"], one["cpu"])
        for seconds, loss in one["progress"]:
            rows.append([name, round(seconds * share, 2), loss])
        curves[name] = [(seconds * share, loss) for seconds, loss in one["progress"]]
    bench.write("ba_figure7b", ["search", "cpu_seconds", "loss"], rows)
    bench.draw("ba_figure7b", "Figure 7b: DM over time, k=50, fine ages, any number suppressed", "CPU seconds", "DM", curves)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--output", type=pathlib.Path, help="folder of the CSV and SVG files; BUILD/ba_experiments")
    parser.add_argument("--effort", type=int, default=30000)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    asked.output = asked.output or pathlib.Path(asked.build) / "ba_experiments"
    data = os.environ.get("KANON_DATA")
    if not data:
        sys.exit("KANON_DATA is not set: nothing to measure")
    bench = Bench(asked, pathlib.Path(data) / "adult")
    for figure in (figure6, figure7a, figure7b):
        if asked.only in figure.__name__:
            figure(bench)


main()
