#!/usr/bin/env python3
"""scale.py BUILD ROWS [--recoding local|global] [--workers N | --master URL] [--algorithm NAME] [--one-machine] [--lines FILE]

What does a release on Spark take? Generated people, five quasi-identifiers, k = 10; one JSON line: seconds of every step,
processor seconds of all processes, loss, memory of the driver (Python and Java), bytes that were shuffled, and the most disk
that was in use beside the input. With --one-machine the program does the same table beside it, and whether both released the
same rows is told. Where the disk has too little room nothing is begun. Python needs PySpark and PyArrow:
BUILD/test-venv/bin/python.

    --workers N                   a standalone master and N worker processes of one core each, started and ended here
    --master spark://HOST:PORT    somebody else's master; otherwise two threads here
    --lines FILE                  the line is added to FILE, and how things grew since the last one with the same master is
                                  printed: the power of the rows that they grew with (1: in proportion; 0: not at all)
"""
import argparse
import functools
import json
import math
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time

said = argparse.ArgumentParser()
said.add_argument("build", type=pathlib.Path)
said.add_argument("rows", type=int)
said.add_argument("--recoding", default="local", choices=["local", "global"])
said.add_argument("--algorithm", default=None)
said.add_argument("--master", default="local[2]")
said.add_argument("--part-rows", type=int, default=50_000)
said.add_argument("--max-records", type=int, default=5_000_000)
said.add_argument("--driver-memory", default="2g")
said.add_argument("--executor-memory", default="2g")
said.add_argument("--workers", type=int, default=0)
said.add_argument("--one-machine", action="store_true")
said.add_argument("--lines", type=pathlib.Path, default=None)
said.add_argument("--folder", type=pathlib.Path, default=None, help="where to work; what is there of the input is kept")
said = said.parse_args()

INPUT, BESIDE, RELEASE = 95, 105, 60  # bytes of disk for each row, as measured: see docs/scale.md

place = said.folder or pathlib.Path(tempfile.mkdtemp(prefix="kanon-scale-"))
place.mkdir(exist_ok=True)
table = place / f"people{said.rows}.csv"
needed = said.rows * ((0 if table.exists() else INPUT) + BESIDE + (RELEASE if said.one_machine else 0))
free = shutil.disk_usage(place).free
print(f"{said.rows:,} rows need about {needed / 1e9:.1f} GB of disk, and {place} has {free / 1e9:.1f} GB free", file=sys.stderr)
if free < 1.1 * needed:
    if said.folder is None:
        place.rmdir()
    sys.exit("scale.py: that is too little, so nothing is begun; say --folder (make: SPARK_FOLDER=...) for another place")

package = (said.build / "bindings/python").resolve()
sys.path.insert(0, str(package))
os.environ["PYTHONPATH"] = str(package)
os.environ["PYSPARK_PYTHON"] = sys.executable

import kanon.spark  # noqa: E402
import pyarrow.csv  # noqa: E402
import pyarrow.parquet  # noqa: E402
from kanon import _functions, _spark_parts  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

trees = place / "trees"
trees.mkdir(exist_ok=True)
if not table.exists():
    subprocess.run([said.build / "kanon-generate", str(said.rows), "-o", table, "--hierarchies", trees], check=True)

ASKED = {"qi": ["age", "sex", "zip", "marital_status", "education"], "sensitive": "diagnosis", "identifier": ["patient_id", "name"],
         "k": 10, "max_suppressed": "1%",
         "hierarchy": {"zip": "mask(right)", "age": "intervals(5,10,20)", "marital_status": str(trees / "marital_status.csv"),
                       "education": str(trees / "education.csv")}}
if said.algorithm:
    ASKED["algorithm"] = said.algorithm
ASKED["recoding"] = said.recoding if not said.algorithm else None

steps: dict[str, float] = {}


def timed(owner, name, label):
    function = getattr(owner, name)

    @functools.wraps(function)
    def clocked(*arguments, **named):
        began = time.perf_counter()
        try:
            return function(*arguments, **named)
        finally:
            steps[label] = round(steps.get(label, 0) + time.perf_counter() - began, 1)

    setattr(owner, name, clocked)


timed(kanon.spark._Job, "__post_init__", "stage")
timed(_spark_parts, "domains_of", "domains")
timed(_spark_parts, "cut", "cut")
timed(_spark_parts, "search", "search")
timed(kanon.spark, "records_of", "count")
timed(_functions, "anonymize", "library on the driver")
timed(kanon.spark._Job, "write", "write and verify")


def size_of(folder):
    total = 0
    for root, _, files in os.walk(folder):
        for file in files:
            try:
                total += os.path.getsize(os.path.join(root, file))
            except OSError:
                pass
    return total


most = {"disk": 0, "java": 0}
done = threading.Event()


def watch():
    while not done.wait(2):
        most["disk"] = max(most["disk"], size_of(work))
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                status = pathlib.Path(f"/proc/{pid}/status").read_text()
                is_daemon = int(pid) in (process.pid for process in started)
                if f"PPid:\t{os.getpid()}\n" in status and "java" in status.splitlines()[0] and not is_daemon:
                    most["java"] = max(most["java"], int(status.partition("VmHWM:")[2].split()[0]) * 1024)
            except (OSError, IndexError, ValueError):
                pass


work = place / "work"
shutil.rmtree(work, ignore_errors=True)
(work / "events").mkdir(parents=True)
started = []


def start(kind, *words):
    """A daemon of Spark, a child of this process, with its log."""
    home = pathlib.Path(sys.modules["pyspark"].__file__).parent
    log = work / f"{kind}{len(started)}.log"
    started.append(subprocess.Popen(
        [home / "bin/spark-class", f"org.apache.spark.deploy.{kind.lower()}.{kind}", *map(str, words)], stdout=log.open("w"),
        stderr=subprocess.STDOUT, env=os.environ | {"SPARK_DAEMON_MEMORY": "256m", "SPARK_LOCAL_IP": "127.0.0.1",
                                               "SPARK_LOCAL_DIRS": str(work / "spark")}))
    return log


def start_master(n_workers):
    log = start("Master", "--host", "127.0.0.1", "--port", 0, "--webui-port", 0)
    for _ in range(600):
        found = re.search(r"spark://127[.]0[.]0[.]1:[0-9]+", log.read_text())
        if found:
            break
        time.sleep(0.1)
    for _ in range(n_workers):
        start("Worker", "--host", "127.0.0.1", "--cores", 1, "--memory", said.executor_memory, "--work-dir", work / "workers",
              "--webui-port", 0, found[0])
    return found[0]


if said.workers:
    said.master = start_master(said.workers)
spark = SparkSession.builder.master(said.master).appName("kanon-scale").config("spark.ui.enabled", "false") \
    .config("spark.driver.memory", said.driver_memory).config("spark.executor.memory", said.executor_memory) \
    .config("spark.driver.maxResultSize", "0").config("spark.local.dir", str(work / "spark")) \
    .config("spark.eventLog.enabled", "true").config("spark.eventLog.compress", "false") \
    .config("spark.eventLog.dir", f"file://{work / 'events'}").config("spark.ui.showConsoleProgress", "false") \
    .config("spark.executorEnv.PYTHONPATH", str(package)).config("spark.sql.shuffle.partitions", "16") \
    .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1") \
    .config("spark.executor.cores", "1").getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
schema = "patient_id string, name string, age int, sex string, zip string, marital_status string, education string, " \
         "occupation string, country string, diagnosis string, income string"
frame = spark.read.schema(schema).option("header", True).csv(str(table))
threading.Thread(target=watch, daemon=True).start()
began = time.perf_counter()
released = kanon.spark.anonymize(frame, output=str(work / "release.parquet"), json=str(work / "facts.json"),
                                 part_rows=said.part_rows, max_records=said.max_records, **ASKED)
seconds = time.perf_counter() - began
n_released, names = released.count(), released.columns
done.set()


def cpu_seconds():
    """Of this process and all below it, ended ones included: unlike the clock, it does not depend on who else works here."""
    stats = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            stats[int(pid)] = int(fields[1]), sum(map(int, fields[11:15]))
        except (OSError, IndexError):
            pass
    own, total = [os.getpid()], 0
    while own:
        pid = own.pop()
        total += stats.get(pid, (0, 0))[1]
        own += [child for child, (parent, _) in stats.items() if parent == pid]
    return total / os.sysconf("SC_CLK_TCK")


cpu = cpu_seconds()
spark.stop()
for process in reversed(started):
    process.terminate()
    process.wait()
shuffled = spilled = 0
for path in (work / "events").rglob("*"):
    for line in path.open() if path.is_file() else []:
        if '"SparkListenerTaskEnd"' in line:
            metrics = json.loads(line).get("Task Metrics") or {}
            shuffled += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
            spilled += metrics.get("Disk Bytes Spilled", 0)
facts = json.loads((work / "facts.json").read_text())
line = {"question": "spark", "rows": said.rows, "recoding": said.recoding, "algorithm": said.algorithm or "auto",
        "master": f"{said.workers} workers" if said.workers else said.master.partition(":")[0], "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu, 1), "steps": steps, "released": n_released, "lm": facts["loss"]["lm"],
        "levels": facts.get("levels"), "rolled_up": facts.get("rolled_up"), "parts": facts.get("parts"),
        "driver_python_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, "driver_java_mb": most["java"] >> 20, "shuffled_mb": shuffled >> 20, "spilled_mb": spilled >> 20,
        "disk_mb": most["disk"] >> 20, "input_mb": table.stat().st_size >> 20, "load": round(os.getloadavg()[0], 1)}


def rows_of(dataset):
    """Distinct rows and how often they are there, in an order of their own."""
    texts = {name: dataset[name].cast(pyarrow.string()).fill_null("") for name in sorted(dataset.column_names)}
    counted = pyarrow.table(texts).group_by(list(texts), use_threads=False).aggregate([([], "count_all")])
    return counted.sort_by([(name, "ascending") for name in texts]).combine_chunks()


if said.one_machine:
    words = [word for key, value in ASKED.items() if value is not None
             for pair in (value.items() if isinstance(value, dict) else [(None, value)])
             for word in (f"--{key.replace('_', '-')}" if key != "k" else "-k",
                          f"{pair[0]}={pair[1]}" if pair[0] else ",".join(pair[1]) if isinstance(pair[1], list) else str(pair[1]))]
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([said.build / "kanon", "anonymize", table, *words, "-q", "-o", work / "one.csv", "--json", work / "one.json"], check=True)
    one = json.loads((work / "one.json").read_text())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    line |= {"one_machine_seconds": round(time.perf_counter() - began, 1), "one_machine_lm": one["loss"]["lm"],
             "one_machine_cpu_seconds": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1),
             "one_machine_mb": one["peak_bytes"] >> 20, "one_machine_levels": one.get("levels")}
    as_text = pyarrow.csv.ConvertOptions(column_types={name: pyarrow.string() for name in names})
    line["same_rows"] = rows_of(pyarrow.csv.read_csv(work / "one.csv", convert_options=as_text)).equals(
        rows_of(pyarrow.parquet.read_table(work / "release.parquet")))
print(json.dumps(line), flush=True)
if said.lines is not None:
    earlier = [json.loads(text) for text in said.lines.read_text().splitlines()] if said.lines.exists() else []
    same = [one for one in earlier if one["rows"] < said.rows and
            all(one[name] == line[name] for name in ("master", "algorithm", "recoding"))]
    if same:
        powers = {name: round(math.log(line[name] / same[-1][name]) / math.log(said.rows / same[-1]["rows"]), 2)
                  for name in ("seconds", "cpu_seconds", "driver_python_mb", "driver_java_mb", "shuffled_mb", "disk_mb",
                               "one_machine_cpu_seconds", "one_machine_mb") if line.get(name) and same[-1].get(name)}
        print(json.dumps({"question": "spark growth", "recoding": said.recoding, "master": line["master"],
                          "rows": [same[-1]["rows"], said.rows], "powers": powers}), flush=True)
    with said.lines.open("a") as file:
        file.write(json.dumps(line) + "\n")
if said.folder is None:
    shutil.rmtree(place)
else:
    shutil.rmtree(work)
