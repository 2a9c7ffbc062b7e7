#!/usr/bin/env python3
"""When `cluster` stops by itself, how much loss does it leave, and how long did it take?

    bench/still.py BUILD [--all] [--only NAME+NAME] [--seeds 1,2] [--times N | --work N] [--against KANON] [--json]

Every question runs twice in one go, once per seed: left to itself, and with a budget that it uses up, N times the looks that it
took by itself (4; with --work the looks themselves). One line per question: CPU and wall seconds and loss of both, means
over the seeds, and the loss that was left, in percent of the least that any seed found with the larger budget. A dozen small
questions, which take some two minutes on two idle cores; --all asks all of them. The larger budget may be another program's
(--against: an older build). Real data is read from the folder that KANON_DATA names; without it those questions are left
out, saying so."""
import argparse
import json
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
PLAIN = "age,sex,zip,marital_status,education,occupation,country,income"
SMALL = ("people1000-plain-k5", "people1000-plain-k50", "people3000-plain-k5", "people3000-trees-k100", "people10000-plain-k100",
         "people10000-trees-k5", "people10000-t-k5", "adult-plain-k5", "adult-trees-k10", "synthea-k5", "synthea-k50", "german-k5",
         "febrl-k50")


def adult(data):
    table = f"{data}/adult/adult_30162.csv"
    trees = [flag for name in EIGHT.split(",") for flag in
             ("--hierarchy", f"{name}={data}/adult/hierarchies/{'salary-class' if name == 'income' else name}.csv")]
    nine = ["--qi", EIGHT.replace(",income", ",occupation"), "--sensitive", "income", "--unlisted", "drop"]
    for k in (5, 10, 50, 100, 1000):
        yield f"adult-trees-k{k}", table, 30162, ["--qi", EIGHT, *trees, "-k", str(k)]
    for k in (5, 50, 1000):
        yield f"adult-plain-k{k}", table, 30162, ["--qi", EIGHT, "-k", str(k)]
    yield "adult-l2-k5", table, 30162, [*nine, "-k", "5", "--model", "l-diversity:l=2"]
    yield "adult-t-k10", table, 30162, [*nine, "-k", "10", "--model", "t-closeness:t=0.2"]


def others(data):
    large = f"{data}/adult/adult_45222.csv"
    with open(large, encoding="utf-8") as table:
        columns = [name for name in table.readline().strip().split(",") if name != "income"]
    suppress = [flag for name in columns for flag in ("--hierarchy", f"{name}=suppress")]
    for k in (5, 50):
        yield f"adult14-k{k}", large, 45222, ["--qi", ",".join(columns), *suppress, "-k", str(k)]
    patients = ["--qi", "BIRTHDATE,MARITAL,RACE,ETHNICITY,GENDER,CITY,COUNTY,ZIP"]
    for k in (5, 50):
        yield f"synthea-k{k}", f"{data}/synthea/patients.csv", 1171, [*patients, "-k", str(k)]
    german = ["--qi", "age,duration,credit-history,purpose,housing,job,sex,marital-status,employment-since"]
    yield "german-k5", f"{data}/german/german_data_credit.csv", 1000, [*german, "-k", "5"]
    yield "german-k10-l2", f"{data}/german/german_data_credit.csv", 1000, [
        *german, "-k", "10", "--sensitive", "savings-account", "--model", "l-diversity:l=2"]
    card = ["-d", ";", "--qi", "LIMIT_BAL,SEX,EDUCATION,MARRIAGE,AGE,PAY_0,PAY_2,PAY_3,BILL_AMT1,PAY_AMT1"]
    for k in (5, 100):
        yield f"creditcard-k{k}", f"{data}/creditcard/creditcard.csv", 30000, [*card, "-k", str(k)]
    febrl = ["--trim", "--qi", "postcode,state,date_of_birth,suburb"]
    yield "febrl-k5", f"{data}/febrl/dataset4b.csv", 5000, [*febrl, "-k", "5"]
    yield "febrl-k50", f"{data}/febrl/dataset4b.csv", 5000, [*febrl, "-k", "50"]
    fars = [flag for name in ("iage", "irace", "ideathmon", "ideathday", "isex", "ihispanic", "istatenum", "iinjury")
            for flag in ("--hierarchy", f"{name}={data}/fars/hierarchies/{name}.csv")]
    yield "fars-k10", f"{data}/fars/fars.csv", 100937, [
        "-d", ";", "--qi", "iage,irace,ideathmon,ideathday,isex,ihispanic,istatenum,iinjury", *fars, "-k", "10"]


def people(generate, folder):
    for rows in (1000, 3000, 10000, 20000):
        subprocess.run([generate, str(rows), "-o", f"{folder}/people{rows}.csv", "--hierarchies", folder], check=True)
    trees = [flag for name, spec in PEOPLE.items() for flag in ("--hierarchy", f"{name}={spec or f'{folder}/{name}.csv'}")]
    roles = ["--sensitive", "diagnosis", "--identifier", "patient_id,name", "--qi", PLAIN]
    few = ["--sensitive", "diagnosis", "--qi", "age,sex,zip,income"]
    for rows, ks in ((1000, (5, 50)), (3000, (5, 100)), (10000, (5, 10, 100)), (20000, (5, 1000))):
        for k in ks:
            yield f"people{rows}-plain-k{k}", f"{folder}/people{rows}.csv", rows, [*roles, "-k", str(k)]
    for rows, ks in ((1000, (5,)), (3000, (100,)), (10000, (5, 50)), (20000, (1000,))):
        for k in ks:
            yield f"people{rows}-trees-k{k}", f"{folder}/people{rows}.csv", rows, [*roles, *trees, "-k", str(k)]
    yield "people10000-few-k5", f"{folder}/people10000.csv", 10000, [*few, "-k", "5"]
    yield "people10000-t-k5", f"{folder}/people10000.csv", 10000, [*roles, "-k", "5", "--model", "t-closeness:t=0.3"]


def run(kanon, table, flags, folder):
    result = pathlib.Path(folder, "result.json")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    subprocess.run([kanon, "anonymize", table, *flags, "--algorithm", "cluster", "--threads", "2", "-q", "-o",
                    pathlib.Path(folder, "release.csv"), "--json", result], check=True, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = json.loads(result.read_text())
    return {"loss": answer["loss"]["lm"], "stopped": answer["stopped"],
            "wall": round(time.perf_counter() - began, 2), "search": round(answer["seconds"]["search"], 2),
            "cpu": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2),
            "work": answer.get("nodes"), "progress": answer.get("progress")}


def mean(runs, key):
    return sum(run[key] for run in runs) / len(runs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--against")
    parser.add_argument("--only", default="")
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--times", type=float, default=4)
    parser.add_argument("--work", type=int)
    parser.add_argument("--json", action="store_true", help="all figures, one JSON line per question")
    options = parser.parse_args()
    kanon, data = f"{options.build}/kanon", os.environ.get("KANON_DATA")
    with tempfile.TemporaryDirectory() as folder:
        if data is None:
            print("KANON_DATA is not set: nothing about real tables", file=sys.stderr)
        questions = list(people(f"{options.build}/kanon-generate", folder))
        if data is not None:
            questions += [*adult(data), *others(data)]
        if not options.json:
            print("| table | ended by | CPU s | wall s | loss | full CPU s | full loss | left % |")
            print("|---|---|---:|---:|---:|---:|---:|---:|")
        for name, table, rows, flags in questions:
            asked = any(part in name for part in options.only.split("+")) if options.only else options.all or name in SMALL
            if not asked:
                continue
            still, full = [], []
            for seed in options.seeds.split(","):
                still.append(run(kanon, table, [*flags, "--seed", seed], folder))
                work = options.work or int(options.times * still[-1]["work"])
                full.append(run(options.against or kanon, table, [*flags, "--seed", seed, "--effort", str(work)], folder))
            least = min(one["loss"] for one in full)
            left = 100 * (mean(still, "loss") / least - 1) if least > 0 else 0
            if options.json:
                print(json.dumps({"question": name, "rows": rows, "still": still, "full": full, "left": left}), flush=True)
            else:
                print(f"| {name} | {still[0]['stopped']} | {mean(still, 'cpu'):.1f} | {mean(still, 'wall'):.1f} | "
                      f"{mean(still, 'loss'):.5f} | {mean(full, 'cpu'):.1f} | {mean(full, 'loss'):.5f} | {left:+.2f} |", flush=True)


if __name__ == "__main__":
    main()
