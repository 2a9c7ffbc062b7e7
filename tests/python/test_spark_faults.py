"""Spark with executors of its own, of which some die or dawdle: the same release."""
import os
import pathlib
import random
import tempfile
import unittest

import kanon

from support import Case
from test_spark import LACKS, TREES, session, tables

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
            import signal, time
            for order in ("worker", "executor", "dawdle", "fail"):
                try:
                    os.rename(orders + "." + order, orders + "." + order + ".obeyed")  # by one of them
                except OSError:
                    continue
                if order == "worker":
                    os.kill(os.getpid(), signal.SIGKILL)
                if order == "executor":
                    os.kill(executor(), signal.SIGKILL)
                    time.sleep(60)
                if order == "dawdle":
                    time.sleep(25)
                if order == "fail":
                    raise RuntimeError("told to fail")
                break
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
        cls.place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.place.cleanup)
        (pathlib.Path(cls.place.name) / "sitecustomize.py").write_text(ORDERS)
        before = os.environ.get("PYTHONPATH", "")
        os.environ["PYTHONPATH"] = f"{cls.place.name}:{before}"
        cls.addClassCleanup(os.environ.__setitem__, "PYTHONPATH", before)
        home = pathlib.Path(__import__("pyspark").__file__).parent
        os.environ.setdefault("SPARK_HOME", str(home))
        cls.spark = session("local-cluster[2,1,900]", **{
            "spark.executor.memory": "800m", "spark.sql.shuffle.partitions": "4", "spark.task.maxFailures": "8",
            "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"], "spark.excludeOnFailure.enabled": "false",
            "spark.speculation": "true", "spark.speculation.quantile": "0.5", "spark.speculation.multiplier": "2",
            "spark.speculation.minTaskRuntime": "2s",
            "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"})

    @classmethod
    def tearDownClass(cls):
        cls.spark.stop()

    def frame(self):
        schema = "who string, age int, zip string, sex string, ill string, note string, name string"
        rows = tables(random.Random(21), 300)
        return self.spark.createDataFrame([tuple(row.values()) for row in rows], schema).repartition(3)

    def order(self, *what):
        """What is to happen once each; tells later whether it did."""
        orders = [pathlib.Path(self.place.name) / f"orders.{one}" for one in what]
        for path in orders:
            path.write_text("")
        return lambda: [path.suffix[1:] for path in orders if not path.with_name(path.name + ".obeyed").exists() or path.exists()]

    def lines(self, target):
        return [line for path in sorted(target.glob("part-*.csv")) for line in path.read_text().splitlines()[1:]]

    def left(self):
        return [path.name for path in self.folder.iterdir() if path.name.startswith(".") and "kanon" in path.name]

    def test_killed_and_slow_ones_change_nothing(self):
        target = self.folder / "undisturbed.csv"
        kanon.spark.anonymize(self.frame(), output=str(target), **self.ASKED)
        due = self.lines(target)
        self.assertGreater(len(due), 250)
        for what in (("worker", "fail", "executor"), ("dawdle",)):  # a dawdling one would die with its executor
            not_obeyed = self.order(*what)
            target = self.folder / f"{what[0]}.csv"
            kanon.spark.anonymize(self.frame(), output=str(target), **self.ASKED)
            self.assertEqual(not_obeyed(), [], "nobody was told")
            self.assertEqual(self.lines(target), due, what)
            self.assertTrue((target / "_SUCCESS").exists())
            self.assertEqual(self.left(), [])
