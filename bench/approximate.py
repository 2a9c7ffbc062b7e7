#!/usr/bin/env python3
"""What do the approximations lose, how long do they take, and how much is proven?

    bench/approximate.py BUILD [--only NAME] [--certify SECONDS]

One JSON line per run, on two threads: commit, rows, k, LM, the certified lower bound of the table, the ratio of the two, the
ratio that the theorem gives, wall and CPU seconds of the whole run, peak memory. Beside the approximations stand `cluster`,
`mondrian` and `optimal`, which prove no ratio beforehand. Adult (30,162 rows, 8 quasi-identifiers with ARX's hierarchies) is
read from the folder that KANON_DATA names; without it only generated people run."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

EIGHT = ["age", "education", "marital-status", "native-country", "occupation", "race", "sex", "workclass"]
PEOPLE = {"age": "intervals(5,10,20)", "sex": "suppress", "zip": "mask(right)", "marital_status": None, "education": None,
          "occupation": None, "country": None, "income": "intervals(10000,50000)"}
WANTED = {"forest": 10, "cover": 60, "two-factor": 60, "three-factor": 60, "two-factor-10000": 10, "three-factor-10000": 10}


def run(kanon, table, flags, folder):
    result = pathlib.Path(folder, "result.json")
    began = time.perf_counter()
    child = subprocess.Popen([kanon, "anonymize", table, *flags, "--unlisted", "drop", "--threads", "2", "-q", "-o",
                              pathlib.Path(folder, "release.csv"), "--json", result])
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"{flags}: exit {os.waitstatus_to_exitcode(status)}")
    answer = json.loads(result.read_text())
    answer["wall"], answer["cpu"] = time.perf_counter() - began, usage.ru_utime + usage.ru_stime
    answer["rss"] = usage.ru_maxrss * 1024  # peak_bytes does not know what LEMON takes
    return answer


def line(name, k, commit, answer, bound, wanted):
    guarantee, loss = answer["guarantee"], answer["loss"]["lm"]
    return {"question": name, "commit": commit, "rows": answer["input"]["rows"], "k": k, "lm": round(loss, 5),
            "bound": bound and round(bound, 5), "certified_ratio": bound and round(loss / bound, 3),
            "proven_ratio": guarantee and guarantee["holds"] and round(guarantee["ratio"], 2) or None,
            "seconds": round(answer["wall"], 2), "wanted_seconds": wanted, "cpu_seconds": round(answer["cpu"], 2),
            "rss_bytes": answer["rss"]}


def questions():
    """(name, k, flags, rows or None for all)"""
    for k in (5, 10):
        for name in ("forest", "cover", "meyerson-williams", "mondrian", "optimal", "cluster"):
            yield name, k, ["--algorithm", name], None
        yield "forest-polished", k, ["--algorithm", "forest", "--polish"], None
        yield "cover-polished", k, ["--algorithm", "cover", "--polish"], None
    for k, name in ((2, "two-factor"), (3, "three-factor")):
        yield f"{name}-10000", k, ["--algorithm", name], 10000
        yield name, k, ["--algorithm", name], None
        yield "cluster", k, ["--algorithm", "cluster"], None


def adult(kanon, data, folder, commit, options):
    table = pathlib.Path(data, "adult", "adult_30162.csv")
    trees = [flag for name in EIGHT for flag in ("--hierarchy", f"{name}={data}/adult/hierarchies/{name}.csv")]
    bounds = {}
    for name, k, flags, rows in questions():
        if options.only not in name:
            continue
        source = table
        if rows is not None:
            source = pathlib.Path(folder, f"adult_{rows}.csv")
            source.write_text("".join(table.read_text().splitlines(True)[:rows + 1]))
        common = ["--qi", ",".join(EIGHT), *trees, "-k", str(k)]
        if (k, rows) not in bounds:
            limit = ["--time-limit", str(options.certify)] if options.certify > 0 else []
            certified = run(kanon, source, [*common, "--algorithm", "mondrian", "--certify", *limit], folder)
            bounds[k, rows] = (certified["any_bound"] or {}).get("value")
        answer = run(kanon, source, [*common, *flags], folder)
        print(json.dumps(line(name, k, commit, answer, bounds[k, rows], WANTED.get(name))), flush=True)


def people(kanon, generate, folder, commit, rows):
    table = pathlib.Path(folder, "people.csv")
    subprocess.run([generate, str(rows), "-o", table, "--hierarchies", folder], check=True)
    trees = [flag for name, spec in PEOPLE.items() for flag in ("--hierarchy", f"{name}={spec or f'{folder}/{name}.csv'}")]
    answer = run(kanon, table, ["--qi", ",".join(PEOPLE), *trees, "-k", "10", "--algorithm", "forest"], folder)
    print(json.dumps(line(f"people-{rows}-forest", 10, commit, answer, None, None)), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--only", default="")
    parser.add_argument("--certify", default=0, type=int, help="seconds for the bound at most; 0: as long as it pays")
    options = parser.parse_args()
    kanon, generate = f"{options.build}/kanon", f"{options.build}/kanon-generate"
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    data = os.environ.get("KANON_DATA")
    with tempfile.TemporaryDirectory() as folder:
        if data is None:
            print("KANON_DATA is not set: nothing about Adult", file=sys.stderr)
        else:
            adult(kanon, data, folder, commit, options)
        if options.only in "people":
            people(kanon, generate, folder, commit, 100000)


if __name__ == "__main__":
    main()
