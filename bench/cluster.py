#!/usr/bin/env python3
"""How little does `cluster` lose, and after how long? Whole runs of the program, LM as it reports it.

    bench/cluster.py BUILD [--seconds 1,10,60] [--only NAME] [--rows 100000,1000000,10000000]

One JSON line per run: commit, data, settings, LM reached, the figure that is asked for, wall and CPU seconds, time of the first
release, peak memory. Searches get a large budget and a time limit, on two threads; CPU seconds say how much of the
machine they really had. Generated tables all run with the same work per row; the LM that the smallest one ends with is
the goal, and a last line has the exponent of growth: log(search time to the goal) over log(rows), and the same for
the time that all of the work takes; null where the time limit came first. A larger table of the same people has
more neighbours for everybody, so its goal is an easy one: the second exponent is the stricter. Real data is read from the folder that KANON_DATA names; without it
those questions are left out, saying so."""
import argparse
import json
import math
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

EIGHT = "sex,age,race,marital-status,education,native-country,workclass,income"
PEOPLE = {"age": "intervals(5,10,20)", "sex": "suppress", "zip": "mask(right)", "marital_status": None, "education": None,
          "occupation": None, "country": None, "income": "intervals(10000,50000)"}
GROWTH_WORK, GROWTH_SECONDS = 30, 60  # looks per row (what 100,000 rows get by default), and the longest search
# k: LM that is asked for after 1, 10 and 60 seconds
FOURTEEN = {5: (0.244, 0.2315, 0.2255), 10: (0.283, 0.2595, 0.2555), 50: (0.349, 0.330, 0.3255),
            100: (0.390, 0.3685, 0.3635)}
ARX = {"": {5: 0.0278, 10: 0.0441, 50: 0.0975}, ",occupation": {5: 0.0514, 10: 0.0771, 50: 0.1525}}


def questions(data, seconds):
    """(name, table, flags, seconds, LM that is asked for or None)"""
    adult = f"{data}/adult/adult_45222.csv"
    with open(adult, encoding="utf-8") as table:
        columns = [name for name in table.readline().strip().split(",") if name != "income"]
    suppress = [flag for name in columns for flag in ("--hierarchy", f"{name}=suppress")]
    for k, wanted in FOURTEEN.items():
        for limit in seconds:
            yield (f"adult14-k{k}-{limit}s", adult, ["--qi", ",".join(columns), *suppress, "-k", str(k)], limit,
                   dict(zip((1, 10, 60), wanted)).get(limit))
    if 10 not in seconds:
        return
    for more, wanted in ARX.items():
        qis = EIGHT + more
        trees = [flag for name in qis.split(",") for flag in
                 ("--hierarchy", f"{name}={data}/adult/hierarchies/{'salary-class' if name == 'income' else name}.csv")]
        for k, loss in wanted.items():
            yield f"arx{len(qis.split(','))}-k{k}-10s", f"{data}/adult/adult_30162.csv", ["--qi", qis, *trees, "-k", str(k)], 10, loss


def run(kanon, table, flags, folder):
    result = pathlib.Path(folder, "result.json")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    subprocess.run([kanon, "anonymize", table, *flags, "--algorithm", "cluster", "--threads", "2", "-q", "-o",
                    pathlib.Path(folder, "release.csv"), "--json", result], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = time.perf_counter() - began
    return json.loads(result.read_text()), seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def line(name, commit, answer, cpu, wanted):
    progress = answer.get("progress") or []
    return {"question": name, "commit": commit, "rows": answer["input"]["rows"], "lm": round(answer["loss"]["lm"], 5),
            "wanted": wanted, "search_seconds": round(answer["seconds"]["search"], 3), "cpu_seconds": round(cpu, 2),
            "first_release_seconds": round(progress[0]["seconds"], 3) if progress else None,
            "stopped": answer["stopped"], "peak_bytes": answer["peak_bytes"]}


def exponent(few, first, many, last):
    return round(math.log(last / first) / math.log(many / few), 3) if first and last else None


def growth(kanon, generate, sizes, folder, commit):
    """The same work per row on generated tables; the time to the smallest table's LM."""
    points, goal = [], None
    for rows in sizes:
        table = pathlib.Path(folder, "people.csv")
        subprocess.run([generate, str(rows), "-o", table, "--hierarchies", folder], check=True)
        trees = [flag for name, spec in PEOPLE.items() for flag in ("--hierarchy", f"{name}={spec or f'{folder}/{name}.csv'}")]
        flags = ["--qi", ",".join(PEOPLE), "--sensitive", "diagnosis", "--identifier", "patient_id,name", *trees, "-k", "10",
                 "--effort", str(GROWTH_WORK * rows), "--time-limit", str(GROWTH_SECONDS)]
        answer, _, cpu = run(kanon, table, flags, folder)
        goal = goal or answer["loss"]["lm"]
        reached = [p["seconds"] for p in answer.get("progress") or [] if p["loss"] <= goal * (1 + 1e-6)]
        points.append((rows, reached[0] if reached else None, answer["seconds"]["search"] if answer["stopped"] == "budget" else None))
        print(json.dumps({**line(f"people-{rows}", commit, answer, cpu, None), "goal": round(goal, 5),
                          "goal_seconds": reached[0] if reached else None}), flush=True)
    if len(points) > 1:
        exponents = [exponent(points[0][0], points[0][x], points[-1][0], points[-1][x]) for x in (1, 2)]
        print(json.dumps({"question": "growth", "commit": commit, "from": points[0][0], "to": points[-1][0],
                          "exponent": exponents[0], "exponent_same_work": exponents[1]}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--seconds", default="1,10,60")
    parser.add_argument("--rows", default="100000,1000000")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    kanon, generate = f"{options.build}/kanon", f"{options.build}/kanon-generate"
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    data = os.environ.get("KANON_DATA")
    with tempfile.TemporaryDirectory() as folder:
        if data is None:
            print("KANON_DATA is not set: nothing about Adult", file=sys.stderr)
        else:
            for name, table, flags, seconds, wanted in questions(data, [int(s) for s in options.seconds.split(",")]):
                if options.only not in name:
                    continue
                answer, _, cpu = run(kanon, table, [*flags, "--time-limit", str(seconds), "--effort", "1000000000000",
                                                    "--unlisted", "drop"], folder)
                print(json.dumps(line(name, commit, answer, cpu, wanted)), flush=True)
        if options.only in "people growth":
            growth(kanon, generate, [int(rows) for rows in options.rows.split(",")], folder, commit)


if __name__ == "__main__":
    main()
