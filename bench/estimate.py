#!/usr/bin/env python3
"""How far is what `check` says a run will take from what the run takes?

    bench/estimate.py BUILD [--only NAME] [--json] [--cpu]

Every job is checked and then run: generated people of three sizes and, where KANON_DATA names the folder of real tables, Adult
german, Synthea and Titanic; k of 5, 50 and 500; with and without models; searches of every kind. One line per job: estimate, seconds, and the factor between them,
above 1 where the estimate is too high. Wanted: between 1/3 and 3. Below half a second nobody asks. With --cpu one thread works
and its CPU seconds count, for machines with much else to do."""
import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile

TREES = {"age": "intervals(5,10,20)", "sex": "suppress", "zip": "mask(right)", "marital_status": None, "education": None,
         "occupation": None, "country": None, "income": "intervals(10000,50000)"}
LEAST_SECONDS = 0.5


def jobs(kanon, generate, folder, data):
    names = ",".join(TREES)
    for rows in (3000, 30000, 300000):
        subprocess.run([generate, str(rows), "-o", f"{folder}/people{rows}.csv", "--hierarchies", folder], check=True)
    trees = [flag for name, spec in TREES.items() for flag in ("--hierarchy", f"{name}={spec or f'{folder}/{name}.csv'}")]
    plain = ["--qi", names, "--sensitive", "diagnosis", "--unlisted", "drop"]
    few = ["--qi", "age,sex,marital_status,education", "--sensitive", "diagnosis", "--unlisted", "drop"]

    def people(rows, k, algorithm, flags, kind):
        return f"people{rows}-{kind}-k{k}-{algorithm}", f"{folder}/people{rows}.csv", [*flags, "-k", str(k), "--algorithm", algorithm]

    for k in (5, 50):
        yield people(3000, k, "cluster", plain, "plain")
        yield people(3000, k, "cluster", plain + trees, "trees")
    yield people(30000, 5, "cluster", plain, "plain")
    yield people(30000, 500, "cluster", plain, "plain")
    yield people(3000, 5, "cluster", [*plain, "--model", "t-closeness:t=0.3"], "t-closeness")
    yield people(30000, 10, "cluster", plain + trees, "trees")
    yield people(300000, 10, "cluster", plain + trees, "trees")
    for rows in (30000, 300000):
        yield people(rows, 10, "mondrian", plain, "plain")
        yield people(rows, 10, "optimal", plain + trees, "trees")
        yield people(rows, 10, "hilbert", plain, "plain")
        yield people(rows, 10, "datafly", plain + trees, "trees")
    yield people(3000, 10, "sequential", plain, "plain")
    yield people(3000, 10, "k-member", plain, "plain")
    yield people(3000, 10, "agglomerative", plain, "plain")
    yield people(3000, 10, "forest", plain + trees, "trees")
    yield people(30000, 10, "forest", few, "few")
    for algorithm in ("hill-climb", "anneal", "genetic", "k-optimize"):
        yield people(30000, 100, algorithm, few, "few")
    yield people(3000, 10, "cover", few, "few")
    if data is None:
        print("KANON_DATA is not set: nothing about real tables", file=sys.stderr)
        return
    eight = ["--qi", "sex,age,race,marital-status,education,native-country,workclass,income"]
    for algorithm, k in (("cluster", 5), ("cluster", 100), ("mondrian", 5), ("optimal", 5)):
        yield f"adult-k{k}-{algorithm}", f"{data}/adult/adult_30162.csv", [*eight, "-k", str(k), "--algorithm", algorithm]
    nine = ["--qi", "sex,age,race,marital-status,education,native-country,workclass,occupation", "--sensitive", "income", "--unlisted", "drop"]
    for model, k in (("l-diversity:l=2", 5), ("t-closeness:t=0.2", 10)):
        yield f"adult-k{k}-cluster-{model}", f"{data}/adult/adult_30162.csv", [*nine, "-k", str(k), "--model", model]
    german = ["--qi", "age,duration,credit-history,purpose,housing,job,sex,marital-status,employment-since", "-k", "5"]
    yield "german-k5-cluster", f"{data}/german/german_data_credit.csv", german
    yield "german-k5-cluster-l-diversity", f"{data}/german/german_data_credit.csv", [
        *german, "--sensitive", "savings-account", "--model", "l-diversity:l=2"]
    for name, table in (("synthea", "synthea/patients.csv"), ("titanic", "titanic/titanic.csv")):
        subprocess.run([kanon, "profile", f"{data}/{table}", "-o", f"{folder}/{name}.yaml", "-q"], check=True,
                       stdout=subprocess.DEVNULL)
        yield f"{name}-as-profiled", f"{data}/{table}", ["-p", f"{folder}/{name}.yaml"]


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def answer(kanon, command, table, flags, folder):
    result = f"{folder}/{command}.json"
    more = ["-o", f"{folder}/release.csv"] if command == "anonymize" else []
    done = subprocess.run([kanon, command, table, *flags, *more, "-q", "--json", result], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{command} {' '.join(flags)}: {done.stderr}")
    with open(result, encoding="utf-8") as file:
        return json.load(file)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--only", default="")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--cpu", action="store_true")
    options = parser.parse_args()
    kanon, n_far, n = f"{options.build}/kanon", 0, 0
    with tempfile.TemporaryDirectory() as folder:
        if not options.json:
            print("| job | estimate s | took s | factor |\n|---|---:|---:|---:|")
        for name, table, flags in jobs(kanon, f"{options.build}/kanon-generate", folder, os.environ.get("KANON_DATA")):
            if not any(part in name for part in options.only.split("+")):
                continue
            flags += ["--threads", "1"] if options.cpu else []
            estimate = answer(kanon, "check", table, flags, folder)["seconds"]
            began = cpu_seconds()
            stages = answer(kanon, "anonymize", table, flags, folder)["seconds"]
            took = cpu_seconds() - began if options.cpu else stages["total"]
            factor = estimate / took
            far = max(took, estimate) > LEAST_SECONDS and abs(math.log(factor)) > math.log(3)
            n_far, n = n_far + far, n + 1
            if options.json:
                print(json.dumps({"job": name, "estimate": estimate, "took": took, "factor": factor, "stages": stages}), flush=True)
            else:
                print(f"| {name} | {estimate:.1f} | {took:.1f} | {factor:.2f}{' !' if far else ''} |", flush=True)
    print(f"{n - n_far} of {n} within a factor of 3", file=sys.stderr)


if __name__ == "__main__":
    main()
