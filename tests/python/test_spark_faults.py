"""Spark with executors of its own, of which some die, dawdle or find no room: the right release, or none."""
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import kanon

from support import Case
from test_spark import LACKS, TREES, tables

if not LACKS:
    from pyspark.sql import SparkSession

# In every Python that an executor starts: what the file `orders` says happens once, where a part is searched.
ORDERS = '''
import os, sys
if any("pyspark" in word for word in sys.orig_argv):
    try:
        import kanon._spark_parts as parts
    except ImportError:
        parts = None
    orders = os.path.join(os.path.dirname(__file__), "orders")

    def executor():
        """The process of Java above this one."""
        pid = os.getpid()
        while pid > 1:
            if b"java" in open(f"/proc/{pid}/cmdline", "rb").read().split(b"\\0")[0]:
                return pid
            pid = int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])
        raise AssertionError("no executor")

    def obey(search):
        def searched(shipped, part, table):
            try:
                os.rename(orders, orders + ".obeyed")  # by one of them
            except OSError:
                return search(shipped, part, table)
            import signal, time
            order = open(orders + ".obeyed").read()
            with open(orders + ".log", "a") as log:
                log.write(order + chr(10))
            if order == "worker":
                os.kill(os.getpid(), signal.SIGKILL)
            if order == "executor":
                os.kill(executor(), signal.SIGKILL)
                time.sleep(60)
            if order == "dawdle":
                time.sleep(25)
            if order == "fail":
                raise RuntimeError("told to fail")
            return search(shipped, part, table)
        return searched

    if parts is not None:
        parts._search = obey(parts._search)
'''


@unittest.skipIf(LACKS, LACKS)
class Faults(Case):
    ASKED = {"qi": ["age", "zip", "sex"], "sensitive": "ill", "insensitive": "note", "identifier": ["name", "who"], "k": 4,
             "hierarchy": {"zip": TREES["zip"]}, "max_suppressed": "5%", "algorithm": "mondrian", "part_rows": 40}

    @classmethod
    def setUpClass(cls):
        os.environ["PYSPARK_PYTHON"] = sys.executable
        cls.place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.place.cleanup)
        (pathlib.Path(cls.place.name) / "sitecustomize.py").write_text(ORDERS)
        before = os.environ.get("PYTHONPATH", "")
        os.environ["PYTHONPATH"] = f"{cls.place.name}:{before}"
        cls.addClassCleanup(os.environ.__setitem__, "PYTHONPATH", before)
        home = pathlib.Path(__import__("pyspark").__file__).parent
        os.environ.setdefault("SPARK_HOME", str(home))
        cls.spark = SparkSession.builder.master("local-cluster[2,1,900]").appName("faults").config("spark.ui.enabled", "false") \
            .config("spark.driver.memory", "1g").config("spark.executor.memory", "800m") \
            .config("spark.sql.shuffle.partitions", "4").config("spark.sql.adaptive.enabled", "false") \
            .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1") \
            .config("spark.executorEnv.PYTHONPATH", os.environ["PYTHONPATH"]) \
            .config("spark.task.maxFailures", "3").config("spark.speculation", "true").config("spark.speculation.quantile", "0.5") \
            .config("spark.speculation.multiplier", "2").config("spark.speculation.minTaskRuntime", "3s") \
            .config("spark.excludeOnFailure.enabled", "false") \
            .config("spark.executor.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC") \
            .config("spark.sql.codegen.wholeStage", "false").config("spark.ui.showConsoleProgress", "false").getOrCreate()
        cls.spark.sparkContext.setLogLevel("OFF")

    @classmethod
    def tearDownClass(cls):
        cls.spark.stop()

    def frame(self):
        schema = "who string, age int, zip string, sex string, ill string, note string, name string"
        rows = tables(random.Random(21), 300)
        return self.spark.createDataFrame([tuple(row.values()) for row in rows], schema).repartition(3)

    def order(self, what):
        orders = pathlib.Path(self.place.name) / "orders"
        orders.write_text(what)
        return lambda: (orders.with_name("orders.log").read_text().splitlines() if orders.with_name("orders.log").exists()
                        else [])[-1:] == [what] and not orders.exists()

    def lines(self, target):
        return [line for path in sorted(target.glob("part-*.csv")) for line in path.read_text().splitlines()[1:]]

    def left(self):
        return [path.name for path in self.folder.iterdir() if path.name.startswith(".") and "kanon" in path.name]

    def test_killed_and_slow_ones_change_nothing(self):
        target = self.folder / "undisturbed.csv"
        kanon.spark.anonymize(self.frame(), output=str(target), **self.ASKED)
        due = self.lines(target)
        self.assertGreater(len(due), 250)
        for what in ("worker", "executor", "dawdle", "fail"):
            obeyed = self.order(what)
            target = self.folder / f"{what}.csv"
            kanon.spark.anonymize(self.frame(), output=str(target), **self.ASKED)
            self.assertTrue(obeyed(), f"nobody was told: {what}")
            self.assertEqual(self.lines(target), due, what)
            self.assertTrue((target / "_SUCCESS").exists())
            self.assertEqual(self.left(), [])

    def test_a_full_disk_is_a_clear_failure(self):
        """A file system of 400 KB: staging fits in it, what follows does not."""
        small = self.folder / "small"
        small.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(small)], capture_output=True, text=True)
        if done.returncode != 0:
            self.skipTest(f"no small file system: {done.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", str(small)])
        rows = tables(random.Random(3), 300)
        schema = "who string, age int, zip string, sex string, ill string, note string, name string"
        for room in (380, 340):  # KB that are taken already: it ends at another step each time
            ballast = small / "ballast"
            ballast.write_bytes(os.urandom(room << 10))
            target = small / "out.csv"
            frame = self.spark.createDataFrame([tuple(row.values()) for row in rows], schema).repartition(2)
            error = self.refused(Exception, kanon.spark.anonymize, frame, output=str(target), **self.ASKED)  # of Java
            self.assertIn("No space left on device", str(error))
            self.assertFalse(target.exists())
            self.assertEqual([path.name for path in small.iterdir()], ["ballast"])
