#!/usr/bin/env python3
"""Reading CSV: kanon into encoded columns, DuckDB into a table, on the same files in the same run.

    bench/read_csv.py BUILD [--rows N] [--threads N] [--repeats N] [--keep FOLDER]

Files: `eight` (8 columns of the generated population, about 50 bytes a row), `names` (the two nearly unique columns),
`quoted` (`eight` with every cell quoted), `numbers` (8 columns of random decimals). One JSON line per file and tool;
a file's lines take turns, so that a busy machine is busy for both. Needs duckdb (PyPI) for the peer, and says so when it
is not there."""
import argparse, csv, json, os, random, statistics, subprocess, sys, tempfile, time

PEER = """
import duckdb, json, os, sys, time
path, threads = sys.argv[1], int(sys.argv[2])
db = duckdb.connect()
db.execute(f"set threads to {threads}")
db.execute("set enable_progress_bar = false")
start = time.perf_counter()
db.execute(f"create table t as select * from read_csv('{path}')")
seconds = time.perf_counter() - start
rows = db.execute("select count(*) from t").fetchone()[0]
peak = next(int(l.split()[1]) for l in open('/proc/self/status') if l.startswith('VmHWM')) * 1024
print(json.dumps({"tool": "duckdb " + duckdb.__version__, "threads": threads, "rows": rows, "seconds": seconds,
                  "peak_bytes": peak}))
"""


def make_files(generate, folder, n_rows):
    population = os.path.join(folder, "population.csv")
    subprocess.run([generate, str(n_rows), "-o", population], check=True)
    paths = {name: os.path.join(folder, name + ".csv") for name in ("eight", "names", "quoted", "numbers")}
    with open(population, newline="") as source, open(paths["eight"], "w") as eight, \
            open(paths["names"], "w") as names, open(paths["quoted"], "w") as quoted:
        for row in csv.reader(source):
            chosen = row[2:10]
            eight.write(",".join(chosen) + "\n")
            quoted.write('"' + '","'.join(chosen) + '"\n')
            names.write(row[0] + "," + row[1] + "\n")
    rng = random.Random(1)
    with open(paths["numbers"], "w") as numbers:
        numbers.write(",".join(f"n{i}" for i in range(8)) + "\n")
        for _ in range(n_rows // 4):
            numbers.write(",".join(f"{rng.random() * 1000:.6f}" for _ in range(8)) + "\n")
    os.remove(population)
    return paths


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command[:2])}: {done.stderr}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--keep")
    args = parser.parse_args()
    folder = args.keep or tempfile.mkdtemp(prefix="kanon-bench-")
    os.makedirs(folder, exist_ok=True)
    paths = {n: os.path.join(folder, n + ".csv") for n in ("eight", "names", "quoted", "numbers")}
    if not all(map(os.path.exists, paths.values())):
        paths = make_files(os.path.join(args.build, "kanon-generate"), folder, args.rows)
    have_peer = subprocess.run([sys.executable, "-c", "import duckdb"], capture_output=True).returncode == 0
    if not have_peer:
        print("duckdb is not installed (pip install duckdb): kanon alone", file=sys.stderr)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    for name, path in paths.items():
        runs = {"kanon": [], "duckdb": []}
        for _ in range(args.repeats):
            runs["kanon"].append(run([os.path.join(args.build, "bench", "kanon-bench-read-csv"), path, str(args.threads), "1"]))
            if have_peer:
                runs["duckdb"].append(run([sys.executable, "-c", PEER, path, str(args.threads)]))
        for tool in runs.values():
            if not tool:
                continue
            seconds = [r.get("seconds", r.get("fastest_s")) for r in tool]
            line = {"commit": commit, "bench": "read_csv", "data": name, "bytes": os.path.getsize(path),
                    "tool": tool[0]["tool"], "threads": args.threads, "rows": tool[0]["rows"],
                    "fastest_s": round(min(seconds), 4), "median_s": round(statistics.median(seconds), 4),
                    "peak_bytes": max(r["peak_bytes"] for r in tool)}
            if "encoded_bytes" in tool[0]:
                line["encoded_bytes"] = tool[0]["encoded_bytes"]
            print(json.dumps(line), flush=True)


main()
