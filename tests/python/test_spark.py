"""The package on a small real Spark: the answer is that of one machine, and what was damaged is not released."""
import atexit
import functools
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import kanon

from support import Case, people, write_csv

try:
    from pyspark.sql import SparkSession
    import kanon.spark
    LACKS = "" if shutil.which("java") else "Java is not installed (openjdk-17-jre-headless)"
except ImportError as missing:
    LACKS = f"PySpark is not installed: {missing}"

TREES = {"age": "intervals(5,10,20)", "zip": "mask(right)"}


def tables(draw, n):
    """People with several rows, spread over partitions; half of them in one town; nulls."""
    rows = []
    for _ in range(n):
        rows.append({"who": draw.choice([None, *map(str, range(n // 2))]), "age": draw.choice([None, *range(20, 60)]),
                     "zip": "8001" if draw.random() < 0.5 else draw.choice(["8002", "8053", "1201", "1205"]),
                     "sex": draw.choice(["f", "m", None]), "ill": draw.choice(["flu", "flu", "gout", "a,\"b", None]),
                     "note": str(draw.randint(0, 3)), "name": f"P{draw.random()}"})
    return rows


# Small jobs: what takes time is to compile and to plan them, not to run them.
SMALL = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.memory": "1g",
         "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1", "spark.sql.shuffle.partitions": "1",
         "spark.default.parallelism": "2", "spark.sql.adaptive.enabled": "false", "spark.sql.codegen.wholeStage": "false",
         "spark.sql.codegen.factoryMode": "NO_CODEGEN", "spark.sql.codegen.maxFields": "0",
         "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"}


def session(master, **more):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master).appName("test")
    for name, value in (SMALL | more).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


@functools.cache
def small_spark():
    """Two threads, for all tests of this process; what is logged is kept."""
    logs = tempfile.TemporaryDirectory()
    spark = session("local[2]", **{"spark.eventLog.enabled": "true", "spark.eventLog.compress": "false",
                                   "spark.eventLog.dir": f"file://{logs.name}"})
    atexit.register(logs.cleanup)
    atexit.register(spark.stop)  # before that
    return spark, logs


class SmallSpark(Case):
    @classmethod
    def setUpClass(cls):
        cls.spark, cls.logs = small_spark()

    def frame(self, rows, partitions=3):
        schema = "who string, age int, zip string, sex string, ill string, note string, name string"
        return self.spark.createDataFrame([tuple(row.values()) for row in rows], schema).repartition(partitions)

    def folder_is_clean(self):
        self.assertEqual([path.name for path in self.folder.iterdir() if path.name.startswith(".") and "kanon" in path.name], [])

    ASKED = {"qi": ["age", "zip", "sex"], "sensitive": "ill", "insensitive": "note", "identifier": "name", "k": 4,
             "hierarchy": TREES, "recoding": "global", "max_suppressed": "10%"}

    def no_value_in_logs(self, *values):
        """Of what Spark was asked so far."""
        logs = "".join(path.read_text(errors="replace") for path in pathlib.Path(self.logs.name).rglob("*") if path.is_file())
        self.assertIn("HashAggregate", logs, "the plans are not there")
        self.assertEqual([value for value in values if re.search(value, logs)], [])

    def spread(self):
        """Until the end of the test, what is shuffled lies in several partitions."""
        self.spark.conf.set("spark.sql.shuffle.partitions", "3")
        self.addCleanup(self.spark.conf.set, "spark.sql.shuffle.partitions", SMALL["spark.sql.shuffle.partitions"])

    def joined_by_sorting(self):
        """Until the end of the test, no table is too small for that."""
        self.spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
        self.addCleanup(self.spark.conf.unset, "spark.sql.autoBroadcastJoinThreshold")
        records = kanon._spark_records
        self.addCleanup(setattr, records, "MOST_SENT", records.MOST_SENT)
        records.MOST_SENT = 0

    def one_machine(self, rows, **options):
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        return kanon.anonymize(columns, report=False, **options)

    def same(self, frame, release):
        names = [column.name for column in release.columns if column.role in ("quasi", "sensitive", "insensitive")]
        there = sorted(tuple("" if cell is None else str(cell) for cell in row) for row in frame.select(*names).collect())
        columns = release.to_dict()
        due = sorted(zip(*(["" if cell is None else cell for cell in columns[name]] for name in names)))
        self.assertEqual(there, due)


class Bench(Case):
    def test_what_does_not_fit_the_disk_is_not_begun(self):
        build = pathlib.Path(os.environ["KANON_PROGRAM"]).parent
        bench = pathlib.Path(__file__).resolve().parents[2] / "bench/spark/scale.py"
        done = subprocess.run([sys.executable, str(bench), str(build), str(10**12), "--folder", str(self.folder)],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("1,000,000,000,000 rows need about 200000.0 GB of disk", done.stderr)
        self.assertIn("too little, so nothing is begun", done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])


@unittest.skipIf(LACKS, LACKS)
class Spark(SmallSpark):
    def test_the_answer_is_that_of_one_machine(self):
        self.spread()
        draw = random.Random(3)
        rows = tables(draw, 300)
        for i, more in enumerate([{"person": "who", "model": "l-diversity:l=2", "algorithm": "optimal"},
                                  {"identifier": ["name", "who"], "algorithm": "k-optimize", "hierarchy": {"zip": "mask(right)"},
                                   "max_suppressed": 0, "model": ["t-closeness:t=0.5", "l-diversity:kind=entropy,l=1.4"]}]):
            options = {**self.ASKED, **more}
            target = self.folder / f"out{i}.parquet"
            if i > 0:
                self.joined_by_sorting()
            frame = kanon.spark.anonymize(self.frame(rows, 2 + i), output=str(target), json=str(self.folder / "r.json"), **options)
            release = self.one_machine(rows, **options)
            self.same(frame, release)
            facts = kanon.results.json.loads((self.folder / "r.json").read_text())
            for key in ("released", "classes", "models", "suppressed"):
                self.assertEqual(facts[key], release.facts[key], key)
            for name, loss in release.facts["loss"].items():  # sums in another order
                self.assertAlmostEqual(facts["loss"][name], loss, delta=1e-9 * abs(loss))
            self.assertTrue((target / "_SUCCESS").exists())
            self.folder_is_clean()

    def test_csv_is_the_same_file_by_the_program_too(self):
        write_csv(people(120), self.folder / "people.csv")
        words = ["--qi", "age,zip,sex", "--sensitive", "illness", "--identifier", "name", "-k", "3", "--recoding", "global",
                 "--max-suppressed", "10%", "--hierarchy", "zip=mask(right)", "--hierarchy", "age=intervals(5,20)"]
        done = subprocess.run([os.environ["KANON_PROGRAM"], "anonymize", "people.csv", *words, "-q"], cwd=self.folder,
                              capture_output=True, text=True, check=True)
        self.assertEqual(kanon.spark.main([str(self.folder / "people.csv"), "-o", str(self.folder / "out.csv"), *words]), 0)
        parts = sorted((self.folder / "out.csv").glob("part-*.csv"))
        lines = [line for path in parts for line in path.read_text().splitlines()[1:]]
        import csv
        self.assertEqual(list(csv.reader(lines)), list(csv.reader(done.stdout.splitlines()[1:])))
        for wrong in (["x.csv", "--hierachy", "a=b"], ["x.csv", "-o", "y", "-d", ";"], ["x.csv"], ["x.csv", "-k"],
                      ["x.csv", "-o", "y", "--part-rows", "many"]):
            self.assertEqual(kanon.spark.main(wrong), 2)
        # A number alone could be any figure, or part of a time.
        self.no_value_in_logs("gout", "(?<![0-9])01202(?![0-9])", "flu, bad")

    def test_what_fails_releases_nothing_and_leaves_the_old_target(self):
        """Nothing holds; files were damaged; a job fails. Then it holds."""
        from pyspark.sql import functions as F
        frame = self.frame(tables(random.Random(1), 60))
        target = self.folder / "out.parquet"
        target.mkdir()
        (target / "old").write_text("old")
        asked = {**self.ASKED, "identifier": ["name", "who"], "output": str(target)}
        self.refused(kanon.InputError, kanon.spark.anonymize, frame, **asked)
        self.refused(kanon.NotMet, kanon.spark.anonymize, frame, overwrite=True, **asked | {"k": 61})
        self.assertIn("nothing is released", self.damaged(frame, asked | {"overwrite": True}))
        fails = F.when(F.col("note") == "2", F.raise_error(F.lit("told to fail")).cast("string"))
        error = self.refused(Exception, kanon.spark.anonymize, frame.withColumn("ill", F.coalesce(fails, "ill")),
                             overwrite=True, **asked)  # of Java
        self.assertIn("told to fail", str(error))
        error = self.refused(kanon.InputError, kanon.spark.anonymize, frame, overwrite=True, json=str(self.folder / "none/r.json"),
                             report=str(self.folder / "r.html"), **asked)
        self.assertIn("none/r.json", str(error))
        self.assertEqual([path.name for path in self.folder.iterdir()], ["out.parquet"])
        self.assertEqual([path.name for path in target.iterdir()], ["old"])
        self.folder_is_clean()
        self.damaged_otherwise(frame, asked | {"overwrite": True})
        self.assertFalse((target / "old").exists())
        self.assertTrue((target / "_SUCCESS").exists())
        self.folder_is_clean()

    def damaged(self, frame, asked):
        """What is written is spoiled before it is checked."""
        from pyspark.sql import functions as F
        write = kanon.spark._write
        kanon.spark._write = lambda data, path, form: write(data.withColumn("note", F.lit("x")), path, form)
        try:
            error = self.refused(kanon.NotMet, kanon.spark.anonymize, frame, **asked)
        finally:
            kanon.spark._write = write
        self.folder_is_clean()
        return str(error)

    def damaged_otherwise(self, frame, asked):
        """A release that holds, and its files damaged in ways that a reader could not see: each is noticed."""
        from pyspark.sql import functions as F
        write, noticed = kanon.spark._Job.write, []
        changes = [lambda data: data.union(data.limit(1)), lambda data: data.withColumn("age", F.lit("20..24")),
                   lambda data: data.withColumn("name", F.lit("P1")).drop("note"), lambda data: data.limit(20)]

        def written(job, made):
            checks = write(job, made)
            for i, change in enumerate(changes):
                path = job.folder.inside(f"spoiled{i}")
                kanon.spark._write(change(job.read(job.folder.inside("release"))), path, job.form)
                noticed.append(str(self.refused(kanon.NotMet, checks.same_rows, job.spark.read.parquet(path))))
            return checks

        kanon.spark._Job.write = written
        try:
            kanon.spark.anonymize(frame, **asked)
        finally:
            kanon.spark._Job.write = write
        self.assertEqual(["nothing is released" in error for error in noticed], [True] * len(changes))

    def test_a_wrong_mapping_is_noticed(self):
        frame = self.frame(tables(random.Random(2), 80))
        asked = {**self.ASKED, "identifier": ["name", "who"], "output": str(self.folder / "out.parquet")}
        import pyarrow as pa
        create = type(self.spark).createDataFrame

        def wrong(spark, data, *more, **named):
            if isinstance(data, pa.Table):  # two tuples exchange what they become
                label = data["r0"].to_pylist()
                data = data.set_column(data.schema.get_field_index("r0"), "r0", pa.array([label[-1], *label[1:-1], label[0]]))
            return create(spark, data, *more, **named)

        type(self.spark).createDataFrame = wrong
        try:
            error = self.refused(kanon.NotMet, kanon.spark.anonymize, frame, **asked)
        finally:
            type(self.spark).createDataFrame = create
        self.assertIn("verified mapping", str(error))

    def test_every_model_is_counted_again(self):
        """Of a release that another policy made; models one by one are in test_spark_parts.py."""
        rows = tables(random.Random(4), 80)
        frame = self.frame(rows)
        asked = {**self.ASKED, "person": "who", "output": str(self.folder / "out.parquet")}
        claimed = [("k-anonymity", {"k": "30"}), ("l-diversity", {"l": "5"}), ("t-closeness", {"t": "0.01"})]
        true = [("k-anonymity", {"k": "4"}), ("l-diversity", {"l": "1"}), ("t-closeness", {"t": "1"})]
        models, fail, found = kanon.spark._Asked.models, kanon.spark._Checks.fail, []
        kanon.spark._Asked.models = lambda _: true + claimed
        kanon.spark._Checks.fail = lambda _, what: found.append(what)
        try:
            kanon.spark.anonymize(frame, **asked)
        finally:
            kanon.spark._Asked.models, kanon.spark._Checks.fail = models, fail
        self.assertEqual([what.partition("break ")[2] for what in found],
                         [f"{name} ({', '.join(f'{key}={value}' for key, value in p.items())})" for name, p in claimed])

    def test_without_renaming_the_marker_comes_last(self):
        frame = self.frame(tables(random.Random(1), 60))
        target = self.folder / "out.parquet"
        asked = {**self.ASKED, "identifier": ["name", "who"], "output": str(target)}
        renaming, kanon.spark.RENAMING = kanon.spark.RENAMING, ()
        try:
            released = kanon.spark.anonymize(frame, **asked)
            self.assertTrue((target / "_SUCCESS").exists())
            before = sorted(path.name for path in target.iterdir() if not path.name.startswith("."))
            self.assertGreater(released.count(), 50)
            # copied wrongly: no marker, and nothing that could be taken for the release
            check = kanon.spark._Checks.same_rows
            calls = []

            def fails(checks, written):
                calls.append(sorted(path.name for path in target.glob("[!.]*")) if target.exists() else [])
                check(checks, written if len(calls) == 1 else written.limit(3))

            kanon.spark._Checks.same_rows = fails
            try:
                self.refused(kanon.NotMet, kanon.spark.anonymize, frame, overwrite=True, **asked)
            finally:
                kanon.spark._Checks.same_rows = check
            self.assertEqual(calls[0], before)  # the old one stays until the new one was verified
            self.assertTrue(calls[1] and "_SUCCESS" not in calls[1], calls)
            self.assertFalse(target.exists())
            self.folder_is_clean()
        finally:
            kanon.spark.RENAMING = renaming

    def test_what_is_not_for_spark_is_refused_before_anything_is_read(self):
        frame = self.frame(tables(random.Random(2), 8))
        asked = {**self.ASKED, "person": "who", "output": str(self.folder / "out.parquet")}
        for change in ({"cells": "bounds"}, {"model": "k-map:k=2,population=x"}, {"given": "x.csv"},
                       {"model": "t-closeness:t=0.2,distance=hierarchical", "fold_sensitive": True},
                       {"format": "xml"}, {"quasi": "age"}, {"domains": "x.csv"}, {"algorithm": "mondrian"},  # beside recoding=global
                       {"model": "t-closeness:t=0.2,distance=ordered", "hierarchy": {"ill": "order(flu<gout)"},
                        "fold_sensitive": True},
                       {"recoding": None, "time_limit": 5}, {"part_rows": 0}, {"max_records": 0}):
            self.refused(kanon.UsageError, kanon.spark.anonymize, frame, **asked | change)
            self.folder_is_clean()
        most, kanon.spark.MOST_ROWS = kanon.spark.MOST_ROWS, 7
        self.assertEqual(most, 4_294_967_293)  # the library's: test_counts.py
        try:
            error = self.refused(kanon.InputError, kanon.spark.anonymize, frame, **asked)
        finally:
            kanon.spark.MOST_ROWS = most
        self.assertIn("8 rows, and at most 7", str(error))
        self.folder_is_clean()
        copied = frame.withColumn("note", frame["zip"])
        self.refused(kanon.NotMet, kanon.spark.anonymize, copied, **asked)
