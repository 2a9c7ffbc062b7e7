#!/usr/bin/env python3
"""What a table in memory costs beside a file, and Python beside other packages in Python.

    bench/python.py BUILD [--repeats N] [--only NAME]

One million rows of eleven columns from polars: the same release from the frame and, by the program, from the CSV file.
`outside_the_job` is what the call, the stream in and the keywords take, `to_polars` the table out; `seconds` has the
stages, `read` and `write` among them, beside the file's. `in_and_out` is all four together (wanted: under 0.5 s),
`in_and_out_cpu` the same by processor time, as far as the machine was as busy with others all the time;
`extra_bytes` what the run held at most beyond that of the file (wanted: less than `codes_bytes`, a copy of the codes).
Then 30,000 people by anjana (full-domain k-anonymity) and checked by pycanon, beside our `optimal` with the same
hierarchies, and `verify`; `30k-together` is anonymizing and checking (wanted: 20 times as fast). One JSON line each, loss
beside time. The package is that of BUILD; peers come from PyPI, and without one its line is left out."""
import argparse
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
import warnings

ROLES = {"qi": ["age", "sex", "zip", "marital_status", "education", "occupation", "country", "income"],
         "sensitive": "diagnosis", "identifier": ["patient_id", "name"]}
FLAGS = ["--qi", ",".join(ROLES["qi"]), "--sensitive", "diagnosis", "--identifier", "patient_id,name"]


def fastest(repeats, job):
    """(seconds, result) of the fastest of several runs."""
    found = []
    for _ in range(repeats):
        began = time.perf_counter()
        result = job()
        found.append((time.perf_counter() - began, result))
    return min(found, key=lambda run: run[0])


def codes_bytes(release):
    """Of the released columns, as narrow as they are."""
    width = lambda texts: 1 if len(texts) <= 1 << 7 else 2 if len(texts) <= 1 << 15 else 4
    return sum(width(texts) * len(codes) // 4 for _, texts, codes in release._raw.columns())


def million(build, folder, repeats):
    import polars

    import kanon
    table = folder / "people.csv"
    subprocess.run([build / "kanon-generate", "1000000", "-o", table], check=True)
    frame = polars.read_csv(table, schema_overrides={"zip": polars.String})  # some begin with 0
    asked = {**ROLES, "k": 10, "algorithm": "mondrian"}

    def in_memory():
        used = time.process_time()
        release = kanon.anonymize(frame, **asked, report=False)
        began = time.perf_counter()
        out = release.to_polars()
        return release, time.perf_counter() - began, out.shape, time.process_time() - used

    seconds, (release, to_polars, shape, cpu) = fastest(repeats, in_memory)
    stages = dict(release.seconds)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    def by_program():
        subprocess.run([build / "kanon", "anonymize", table, *FLAGS, "-k", "10", "--algorithm", "mondrian", "-q", "-o",
                        folder / "release.csv", "--json", folder / "result.json"], check=True)
        return json.loads((folder / "result.json").read_text())

    file_seconds, facts = fastest(repeats, by_program)
    outside = seconds - to_polars - stages["total"]
    in_and_out = outside + to_polars + stages["read"] + stages["write"]
    yield {"name": "1m-polars", "rows": shape[0], "columns": frame.width, "fastest": seconds, "cpu_seconds": cpu,
           "in_and_out": in_and_out, "in_and_out_cpu": in_and_out * cpu / seconds, "outside_the_job": outside,
           "to_polars": to_polars, "seconds": stages, "peak_bytes": release.peak_bytes,
           "extra_bytes": release.peak_bytes - facts["peak_bytes"], "codes_bytes": codes_bytes(release),
           "process_peak_bytes": peak, "lm": release.loss.lm}
    yield {"name": "1m-csv", "fastest": file_seconds, "seconds": facts["seconds"], "peak_bytes": facts["peak_bytes"],
           "lm": facts["loss"]["lm"], "same_loss": facts["loss"]["lm"] == release.loss.lm}


def peers(build, folder, repeats):
    import pandas

    import kanon
    table, trees = folder / "people30k.csv", folder / "trees"
    trees.mkdir()
    subprocess.run([build / "kanon-generate", "30000", "-o", table, "--hierarchies", trees], check=True)
    frame = pandas.read_csv(table, dtype=str, keep_default_na=False)
    qi = ["age", "sex", "marital_status", "education"]
    frame = frame[[*qi, "diagnosis"]]
    paths = {column: trees / f"{column}.csv" for column in qi}
    given = {column: path for column, path in paths.items() if path.exists()}
    made = {column: kanon.hierarchy("make", frame, qi=[column], hierarchy={column: given.get(column, "auto")}) for column in qi}
    asked = {"qi": qi, "sensitive": "diagnosis", "k": 5, "hierarchy": made, "max_suppressed": "5%"}
    seconds, release = fastest(repeats, lambda: kanon.anonymize(frame, **asked, algorithm="optimal", report=False))
    yield {"name": "30k-kanon-optimal", "fastest": seconds, "levels": release.levels, "lm": release.loss.lm,
           "suppressed": release.suppressed.rows}
    seconds_mondrian, local = fastest(repeats, lambda: kanon.anonymize(frame, **asked, algorithm="mondrian", report=False))
    yield {"name": "30k-kanon-mondrian", "fastest": seconds_mondrian, "lm": local.loss.lm}
    checking, verdict = fastest(repeats, lambda: kanon.verify(release, qi=qi, sensitive="diagnosis", k=5))
    yield {"name": "30k-kanon-verify", "fastest": checking, "smallest_class": verdict.smallest_class}
    together = {"ours": seconds + checking, "theirs": 0.0, "ours_lm": release.loss.lm}
    try:
        from anjana.anonymity import k_anonymity
    except ImportError:
        print("anjana is not there: its line is left out", file=sys.stderr)
    else:
        levels = {column: {level: [row[level] for row in tree.rows] for level in range(len(tree.rows[0]))}
                  for column, tree in made.items()}
        levels = {column: {level: pandas.Series(values).to_numpy() for level, values in tree.items()}
                  for column, tree in levels.items()}
        began = time.perf_counter()
        theirs = k_anonymity(frame.copy(), [], qi, 5, 5, levels)
        theirs_seconds = time.perf_counter() - began
        loss = kanon.measure(frame, theirs[[*qi, "diagnosis"]].astype(str), **asked).loss.lm if len(theirs) else None
        together.update(theirs=theirs_seconds, theirs_lm=loss)
        yield {"name": "30k-anjana", "fastest": theirs_seconds, "times_ours": theirs_seconds / seconds, "lm": loss,
               "rows": len(theirs)}
    try:
        from pycanon.anonymity import k_anonymity as count
    except ImportError:
        print("pycanon is not there: its line is left out", file=sys.stderr)
    else:
        released = release.to_pandas().astype(str)
        theirs_seconds, k = fastest(repeats, lambda: count(released, qi))
        together["theirs"] += theirs_seconds
        yield {"name": "30k-pycanon-k", "fastest": theirs_seconds, "times_ours": theirs_seconds / checking, "k": int(k)}
    if "theirs_lm" in together:
        yield {"name": "30k-together", **together, "times_ours": together["theirs"] / together["ours"]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    sys.path.insert(0, str(options.build.resolve() / "bindings/python"))
    warnings.simplefilter("ignore")
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        for question in (million, peers):
            if options.only not in question.__name__:
                continue
            for line in question(options.build, pathlib.Path(folder), options.repeats):
                print(json.dumps({"commit": commit, "bench": "python", **line}), flush=True)


if __name__ == "__main__":
    main()
