#!/usr/bin/env python3
"""Reading Parquet through libduckdb, beside CSV: the generated population, the same values in three files.

    bench/read_parquet.py BUILD [--rows N] [--threads N] [--repeats N] [--keep FOLDER]

Files: the CSV, `typed` (types as DuckDB finds them) and `strings` (every column text) as Parquet. They take turns, so that a
busy machine is busy for all. One JSON line per file; `times_csv` is the fastest time against the CSV's. The encoded columns
must have the same size, or something was read otherwise. Needs duckdb (PyPI) to write the files."""
import argparse, json, os, statistics, subprocess, sys, tempfile


def make_files(generate, folder, n_rows):
    paths = {name: os.path.join(folder, f"{name}.{end}") for name, end in
             (("csv", "csv"), ("typed", "parquet"), ("strings", "parquet"))}
    if not os.path.exists(paths["csv"]):
        subprocess.run([generate, str(n_rows), "-o", paths["csv"]], check=True)
    for name in ("typed", "strings"):
        if not os.path.exists(paths[name]):
            copy = f"COPY (FROM read_csv('{paths['csv']}', all_varchar = {name == 'strings'})) TO '{paths[name]}'"
            subprocess.run([sys.executable, "-c", f"import duckdb; duckdb.sql({copy!r})"], check=True,
                           stdout=subprocess.DEVNULL)  # a progress bar
    return paths


def run(command):
    read, write = os.pipe()
    child = subprocess.Popen(command, stdout=write)
    os.close(write)
    with os.fdopen(read) as out:
        text = out.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(command[:2])}: exit {child.returncode}")
    return {**json.loads(text), "user_s": usage.ru_utime, "resident_bytes": usage.ru_maxrss * 1024}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--keep")
    args = parser.parse_args()
    if not os.path.exists(os.environ.get("KANON_DUCKDB", "")):
        sys.exit("KANON_DUCKDB leads to no libduckdb; make duckdb installs one")
    with tempfile.TemporaryDirectory(prefix="kanon-bench-") as scratch:
        folder = args.keep or scratch
        os.makedirs(folder, exist_ok=True)
        paths = make_files(os.path.join(args.build, "kanon-generate"), folder, args.rows)
        reader = os.path.join(args.build, "bench", "kanon-bench-read-csv")
        runs = {name: [] for name in paths}
        for _ in range(args.repeats):
            for name, path in paths.items():
                runs[name].append(run([reader, path, str(args.threads), "1"]))
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
        fastest = {name: min(r["fastest_s"] for r in done) for name, done in runs.items()}
        user = {name: min(r["user_s"] for r in done) for name, done in runs.items()}
        assert runs["strings"][0]["encoded_bytes"] == runs["csv"][0]["encoded_bytes"]
        for name, done in runs.items():
            print(json.dumps({"commit": commit, "bench": "read_parquet", "data": name, "bytes": os.path.getsize(paths[name]),
                              "threads": args.threads, "rows": done[0]["rows"], "fastest_s": fastest[name],
                              "median_s": statistics.median(r["fastest_s"] for r in done),
                              "times_csv": round(fastest[name] / fastest["csv"], 2), "user_s": round(user[name], 2),
                              "user_times_csv": round(user[name] / user["csv"], 2),
                              "encoded_bytes": done[0]["encoded_bytes"],
                              "resident_bytes": max(r["resident_bytes"] for r in done)}), flush=True)


main()
