"""Local recoding on a small real Spark, in parts: each holds by itself, and the release does not depend on how the table
lay. And the models, counted again as the library counts them."""
import collections
import os
import random
import subprocess
import unittest
import warnings

import kanon

from support import Case
from test_spark import LACKS, TREES, SmallSpark, tables


@unittest.skipIf(LACKS, LACKS)
class Workers(Case):
    """What an executor does with a part, without Spark."""

    def test_what_a_worker_says_of_its_part_has_no_value_in_it(self):
        """It stands in the logs of Spark."""
        import pyarrow
        asked = kanon.spark._Asked(["age", "ill"], None, {"qi": "age", "sensitive": "ill", "k": 2})
        table = pyarrow.table({"column": ["age", "ill"], "value": ["31", "flu"], "rows": [3, 3]})
        parts = kanon._spark_parts
        shipped = parts._shipped(asked, parts.Domains(table, {}, 3), [0], None)
        rows = pyarrow.table({"part": [0, 0, 0], parts.KEY: [1, 2, 3], parts.TIE: [0, 0, 0], "age": [31, 31, 87],
                              "ill": ["flu", "flu", "flu"]})
        error = self.refused(kanon.InputError, parts._search, shipped, 0, rows)
        self.assertIn("not at all", str(error))
        self.assertNotIn("87", str(error))
        shipped["version"] = "0.0"
        self.assertIn("ship one", str(self.refused(kanon.UsageError, parts._search, shipped, 0, rows)))

    def test_the_order_in_which_rows_come_changes_nothing(self):
        import pyarrow
        parts, draw, n = kanon._spark_parts, random.Random(3), 300
        columns = {"age": [draw.randint(20, 60) for _ in range(n)], "zip": [draw.choice("abcdefgh") for _ in range(n)],
                   "ill": [draw.choice(["flu", "gout", "cold"]) for _ in range(n)]}
        counts = [(name, str(value), rows) for name in columns for value, rows in collections.Counter(columns[name]).items()]
        table = pyarrow.table(dict(zip(("column", "value", "rows"), map(list, zip(*counts)))))
        asked = kanon.spark._Asked([*columns], None, {"qi": ["age", "zip"], "sensitive": "ill", "k": 4, "algorithm": "sequential",
                                                      "model": "l-diversity:l=2"})
        shipped = parts._shipped(asked, parts.Domains(table, {}, n), [0], None)
        released = []
        for seed in range(4):
            order = random.Random(seed).sample(range(n), n)
            cells = {name: [columns[name][i] for i in order] for name in columns}
            found = parts._search(shipped, 0, pyarrow.table({"part": [0] * n, parts.KEY: range(n), parts.TIE: [0] * n, **cells}))
            became = dict(zip(found[parts.KEY].to_pylist(), zip(found["r0"].to_pylist(), found["r1"].to_pylist())))
            released.append(sorted((*(cells[name][key] for name in cells), *became[key]) for key in range(n)))
        self.assertTrue(all(rows == released[0] for rows in released))

    def test_who_looks_at_which_sensitive_column(self):
        def watched(**options):
            return kanon.spark._Asked(["age", "ill", "pay"], None, {"qi": "age", "sensitive": ["ill", "pay"], **options}).watched()

        self.assertEqual(watched(k=3), [])
        self.assertEqual(watched(k=3, model="l-diversity:l=2,column=pay"), ["pay"])
        self.assertEqual(watched(k=3, model="t-closeness:t=0.2,column=pay,joint=yes"), ["ill", "pay"])
        self.assertEqual(watched(k=3, model="p-sensitive:p=2"), ["ill", "pay"])  # without a column: whichever it is
        self.assertEqual(watched(k=3, measure="entropy"), [])
        self.assertEqual(watched(k=3, measure="cm"), ["ill", "pay"])
        self.assertEqual(watched(k=3, measure="pmi:column=ill"), ["ill", "pay"])

    def test_runs_of_values_stay_within_the_nodes_of_a_hierarchy(self):
        import pyarrow
        parts, draw = kanon._spark_parts, random.Random(8)
        texts = [f"{a}{b}{c}" for a in "123" for b in "0123456789" for c in "0123"]
        values = pyarrow.table({"value": [None, *texts], "rows": [9, *(draw.randint(1, 50) for _ in texts)]})
        asked = kanon.spark._Asked(["zip"], None, {"qi": "zip", "k": 2, "hierarchy": {"zip": "mask(right)"}})
        paths = parts._paths(asked, parts.Domains(None, {"zip": values}, 0))["zip"]
        for n in (60, 40, 20, 10, 5, 1):
            for own in (paths, None):
                found = parts._buckets(values, n, own)
                self.assertEqual(found["was"].to_pylist(), [None, *texts])
                stands = dict(zip(found["was"].to_pylist(), found["stands"].to_pylist()))
                self.assertIsNone(stands.pop(None))
                self.assertLessEqual(len(set(stands.values())), n)
                runs = [stands[text] for text in texts]  # neighbours: each begins once
                self.assertEqual(sum(a != b for a, b in zip(runs, runs[1:])) + 1, len(set(runs)))
                crossed = [depth for depth in (1, 2) if any(a[:depth] != b[:depth] for a, b in stands.items())]
                if own is not None:
                    self.assertEqual(crossed, [depth for depth, nodes in ((1, 3), (2, 30)) if nodes > n // 2])


@unittest.skipIf(LACKS, LACKS)
class Models(SmallSpark):
    def test_models_are_counted_again_as_the_library_counts_them(self):
        """Of random classes, at limits just beside what the library says of the worst of them."""
        from kanon import _spark_checks
        draw = random.Random(6)
        rows = [{"q": draw.choice("abc"), "ill": draw.choice(["flu", "gout", "cold", None, "Flu ", "\tFLU\u00a0"]),
                 "pay": draw.choice([None, 5, 10, 20, 100])} for _ in range(90)]
        frame = self.spark.createDataFrame([tuple(row.values()) for row in rows], "q string, ill string, pay int")
        joined = frame.selectExpr("q", "ill", "pay", "q as now0")
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        (self.folder / "ill.csv").write_text("flu;caught;*\ncold;caught;*\ngout;grown;*\nFlu ;caught;*\n\tFLU\u00a0;grown;*\n")
        for name, kind, letter, column, joint in [
                ("t-closeness", "distance=hierarchical", "t", "ill", ""),
                ("t-closeness", "distance=hierarchical", "t", "ill", "joint=yes"),
                ("t-closeness", "distance=ordered", "t", "ill", ""), ("t-closeness", "distance=ordered", "t", "ill", "joint=yes"),
                ("alpha-k", "", "alpha", "ill", ""), ("alpha-k", "values=flu|gout", "alpha", "ill", "joint=yes"),
                ("t-closeness", "distance=ordered", "t", "pay", ""), ("t-closeness", "distance=ordered", "t", "pay", "joint=yes"),
                ("t-closeness", "", "t", "ill", "joint=yes"), ("l-diversity", "kind=entropy", "l", "ill", "joint=yes"),
                ("l-diversity", "kind=entropy", "l", "ill", "fold"), ("alpha-k", "values=FLU", "alpha", "ill", "fold")]:
            is_folded = joint == "fold"
            said = ",".join(filter(None, [f"column={column}", kind, "" if is_folded else joint]))
            loose = {"alpha": "1", "t": "1", "l": "1", "beta": "1000"}[letter]
            asked = {"qi": "q", "sensitive": ["ill", "pay"], "k": 1, "model": f"{name}:{letter}={loose},{said}",
                     "fold_sensitive": is_folded}
            if column == "ill" and "distance" in kind:
                asked["hierarchy"] = {"ill": self.folder / "ill.csv"}
            release = kanon.anonymize(columns, algorithm="mondrian", report=False, **asked)
            self.assertEqual(sorted(set(release.to_dict()["q"])), ["a", "b", "c"])
            worst = release.facts["models"][1]["worst"]
            parameters = dict(pair.split("=") for pair in said.split(","))
            for limit in (worst * 0.999, worst * 1.001):
                spark_asked = kanon.spark._Asked(["q", "ill", "pay"], None, asked)
                n = _spark_checks.broken_classes(frame, joined, spark_asked, name, {**parameters, letter: str(limit)})
                holds = limit >= worst if letter != "l" else limit <= worst
                self.assertEqual(n == 0, holds, (name, said, worst, limit))


@unittest.skipIf(LACKS, LACKS)
class Guards(SmallSpark):
    """Each check alone, on a few rows, by hand."""

    NAMES = ["who", "q", "ill", "note"]
    ROWS = [("1", "a", "flu", "x"), ("2", "a", "flu", "x"), ("3", "a", "flu", None), ("4", "a", "gout", "y"),
            ("4", "b", "gout", "x"), ("4", "b", "gout", "y"), (None, "c", "gout", "x"), (None, "c", "flu", "x")]

    def setUp(self):
        super().setUp()
        rows = [(key, *row) for key, row in enumerate(self.ROWS)]
        self.staged = self.spark.createDataFrame(rows, f"{kanon.spark.KEY} long, who string, q string, ill string, note string").cache()
        self.keyed = self.staged.drop("who")

    def judged(self, keyed, written=None, due=(8, 8)):
        """What is said of rows with keys, and of the files; nothing: they are what they should be."""
        asked = kanon.spark._Asked(self.NAMES, None, {"qi": "q", "sensitive": "ill", "insensitive": "note", "person": "who", "k": 1})
        written = keyed.drop(kanon.spark.KEY) if written is None else written
        checks = kanon.spark._Checks(self.staged, keyed, written, asked, due, lambda checks, joined: None, lambda frame, name: frame)
        try:
            checks.rows()
            checks.same_rows(written)
        except kanon.NotMet as error:
            return str(error).partition("released: ")[2]
        return ""

    def test_rows_and_files(self):
        from pyspark.sql import functions as F
        key, keyed = F.col(kanon.spark.KEY), self.keyed
        first = lambda name, value: keyed.withColumn(name, F.when(key == 0, F.lit(value)).otherwise(F.col(name)))
        self.assertEqual(self.judged(keyed), "")
        self.assertEqual(self.judged(first("q", "*")), "")  # what it may become is not for these
        self.assertIn("7 rows of 8, where 8 of 8 are due", self.judged(keyed.where(key > 0)))
        self.assertEqual(self.judged(keyed.where(key > 0), due=(8, 7)), "")
        self.assertIn("where 7 of 8 are due", self.judged(keyed, due=(8, 7)))
        self.assertIn("where 8 of 9 are due", self.judged(keyed, due=(9, 8)))
        self.assertIn("1 rows are there twice", self.judged(first(kanon.spark.KEY, 1)))  # who has the same cells
        self.assertIn("1 are none of the input's", self.judged(first(kanon.spark.KEY, -5)))
        self.assertIn("1 have other copied cells", self.judged(first("note", "y")))
        self.assertIn("1 have other copied cells", self.judged(first("ill", None)))
        self.assertIn("8 have other copied cells", self.judged(keyed.withColumn("ill", F.lit(None).cast("string"))))
        files = keyed.drop(kanon.spark.KEY)
        self.assertEqual(self.judged(keyed, files.orderBy("note", "q")), "")
        for spoiled, said in ((files.withColumn("who", F.lit("1")), "the columns are"), (files.drop("note"), "the columns are"),
                              (files.limit(7), "distinct rows"), (files.union(files.limit(1)), "distinct rows"),
                              (files.withColumn("note", F.when(F.col("q") == "c", "z").otherwise(F.col("note"))), "distinct rows")):
            self.assertIn(said, self.judged(keyed, spoiled))

    # Of three classes, a (flu 3, gout 1), b (gout 2, of one person) and c (one each, of nobody), in a table that is half of
    # each: how many break a model, beside and beyond the limit of some.
    BROKEN = [
        ("k-anonymity", {"k": "2"}, 0), ("k-anonymity", {"k": "3"}, 2), ("l-diversity", {"l": "2"}, 1), ("l-diversity", {"l": "3"}, 3),
        ("l-diversity", {"l": "1.75", "kind": "entropy"}, 1), ("l-diversity", {"l": "1.76", "kind": "entropy"}, 2),  # e^0.5623
        ("l-diversity", {"l": "1.33", "kind": "frequency"}, 1), ("l-diversity", {"l": "1.34", "kind": "frequency"}, 2),
        ("l-diversity", {"l": "2", "kind": "recursive", "c": "3.1"}, 1), ("l-diversity", {"l": "2", "kind": "recursive", "c": "3"}, 2),
        ("p-sensitive", {"p": "1"}, 0), ("p-sensitive", {"p": "2"}, 1),
        ("t-closeness", {"t": "0.5"}, 0), ("t-closeness", {"t": "0.49"}, 1), ("t-closeness", {"t": "0.24"}, 2),
        ("beta-likeness", {"beta": "1", "enhanced": "no"}, 0), ("beta-likeness", {"beta": "0.99", "enhanced": "no"}, 1),
        ("beta-likeness", {"beta": "5"}, 1), ("beta-likeness", {"beta": "0.49"}, 2),  # ln 2 is the most
        ("delta-disclosure", {"delta": "99"}, 1), ("delta-disclosure", {"delta": "0.9"}, 2),  # b lacks a value; a: log2 2
        ("alpha-k", {"alpha": "0.75"}, 1), ("alpha-k", {"alpha": "0.74"}, 2), ("alpha-k", {"alpha": "0.5", "values": "flu"}, 1)]
    OF_PERSONS = [("k-anonymity", {"k": "1"}, 0), ("k-anonymity", {"k": "2"}, 2), ("k-anonymity", {"k": "5"}, 3)]

    def test_models_at_their_limits(self):
        for cases, person in ((self.BROKEN, {}), (self.OF_PERSONS, {"person": "who"})):
            asked = kanon.spark._Asked(self.NAMES, None, {"qi": "q", "sensitive": "ill", "insensitive": "note", "k": 1, **person})
            joined = self.staged.withColumn("now0", self.staged["q"])
            for name, parameters, n_broken in cases:
                found = kanon.spark.broken_classes(self.staged, joined, asked, name, parameters)
                self.assertEqual(found, n_broken, (name, parameters, person))


@unittest.skipIf(LACKS, LACKS)
class Parts(SmallSpark):
    PARTS = {**SmallSpark.ASKED, "recoding": None, "part_rows": 40, "hierarchy": {"zip": "mask(right)"}}

    def classes(self, frame, qis=("age", "zip", "sex")):
        found = {}
        for row in frame.collect():
            found.setdefault(tuple(row[name] for name in qis), []).append(row)
        return found

    def test_parts_hold_whatever_the_partitions(self):
        """Several persons' rows lie in several parts; the release is the same for any partitions."""
        self.spread()
        rows = tables(random.Random(11), 300)
        (self.folder / "ill.csv").write_text('flu;caught;*\n"a,""b";caught;*\ngout;grown;*\n')
        asked = {**self.PARTS, "person": "who", "algorithm": "cluster", "effort": 20_000, "part_rows": 20,
                 "model": ["l-diversity:l=2", "t-closeness:t=0.5", "t-closeness:t=0.4,distance=hierarchical"],
                 "hierarchy": {"zip": "mask(right)", "ill": str(self.folder / "ill.csv")}}
        released = []
        for i, partitions in enumerate((1, 5)):
            draw = random.Random(i)
            shuffled = draw.sample(rows, len(rows))
            more = {} if i == 0 else {name: str(self.folder / name) for name in ("report", "schema")}
            if i > 0:  # and whether tuples are sent to all executors or joined otherwise
                self.joined_by_sorting()
            frame = kanon.spark.anonymize(self.frame(shuffled, partitions), output=str(self.folder / f"out{i}.csv"),
                                          json=str(self.folder / "r.json"), **asked, **more)
            parts = sorted((self.folder / f"out{i}.csv").glob("part-*.csv"))
            released.append([line for path in parts for line in path.read_text().splitlines()[1:]])
            self.assertGreater(len(self.classes(frame)), 20)
            self.folder_is_clean()
        self.assertEqual(released[0], released[1])
        facts = kanon.results.json.loads((self.folder / "r.json").read_text())
        self.assertGreater(facts["parts"]["count"], 3)
        self.assertEqual(facts["input"]["rows"], len(rows))
        self.assertEqual(facts["released"]["rows"], len(released[0]))
        self.told_as_of_one_table(rows, frame, facts, asked)
        # by the definitions, from what was written
        for cells, members in self.classes(frame).items():
            counts = [sum(row["ill"] == value for row in members) for value in {row["ill"] for row in members}]
            self.assertGreaterEqual(len(members), 4, cells)
            self.assertGreaterEqual(len(counts), 2, cells)
        self.no_value_in_logs("gout", "caught", "grown", "P0[.][0-9]{6}")

    def told_as_of_one_table(self, rows, frame, facts, asked):
        """Findings, schema and report, beside what one machine says of the two tables."""
        import pyarrow
        options = {name: value for name, value in asked.items() if name not in ("part_rows", "effort", "output", "json")}
        names = list(rows[0])
        table = pyarrow.table({name: [None if row[name] is None else str(row[name]) for row in rows] for name in names})
        release = frame.toArrow()
        measured = kanon.measure(table, release, **{name: value for name, value in options.items() if name != "model"})
        self.assertEqual(facts["classes"]["count"], len(self.classes(frame)))
        self.assertEqual(facts["classes"]["count"], measured.facts["classes"])
        for name, loss in measured.facts["loss"].items():
            if name not in ("suppressed-rows", "dm"):  # there is no knowing from files which rows of * were suppressed
                self.assertAlmostEqual(facts["loss"][name], loss, delta=1e-9 * abs(loss), msg=name)
        self.assertEqual([model["name"] for model in facts["models"]], ["k-anonymity", "l-diversity", "t-closeness", "t-closeness"])
        schema = kanon.results.json.loads((self.folder / "schema").read_text())
        self.assertEqual([column["name"] for column in schema["columns"]], frame.columns)
        for column in schema["columns"][:3]:
            values = {str(row[column["name"]]) for row in rows}
            labels = {row[column["name"]] for row in frame.collect()} - values - {"*", None, ""}
            self.assertEqual({label["label"] for label in column["labels"]} - {"*"}, labels)
        page = (self.folder / "report").read_text()
        self.assertIn("<html", page)
        self.assertIn("t-closeness", page)

    def test_parts_lose_little_more_than_one_machine(self):
        """Parts of Mondrian are its own, and so is the release."""
        draw = random.Random(5)
        rows = tables(draw, 6000)
        asked = {**self.PARTS, "identifier": ["name", "who"], "max_suppressed": 0}
        for search, more in (("mondrian", {"model": "l-diversity:l=2"}), ("cluster", {})):
            options = asked | {"algorithm": search, "part_rows": 1200, **more}
            frame = kanon.spark.anonymize(self.frame(rows), output=str(self.folder / f"{search}.parquet"),
                                          json=str(self.folder / "r.json"), **options)
            options.pop("part_rows")
            one = self.one_machine(rows, **options)
            facts = kanon.results.json.loads((self.folder / "r.json").read_text())
            self.assertGreater(facts["parts"]["count"], 2)
            self.assertLess(facts["loss"]["lm"], 1.02 * one.loss.lm, search)
            if search == "mondrian":
                self.same(frame, one)

    def test_a_sensitive_column_that_no_model_looks_at_costs_nothing(self):
        """One of which every row has another value: neither a cut nor levels are coarser for it, and no order follows it."""
        rows = [{**row, "ill": f"ill{i}"} for i, row in enumerate(tables(random.Random(13), 400))]
        asked = {**self.PARTS, "identifier": ["name", "who"], "max_records": 350, "json": str(self.folder / "r.json")}
        self.assertLess(len({(row["age"], row["zip"], row["sex"]) for row in rows}), 310)
        released = []
        for i, partitions in enumerate((1, 4)):
            shuffled = random.Random(i).sample(rows, len(rows))
            frame = kanon.spark.anonymize(self.frame(shuffled, partitions), output=str(self.folder / f"out{i}.parquet"),
                                          **asked, algorithm="cluster")
            released.append(sorted(map(str, frame.collect())))
            self.assertEqual(kanon.results.json.loads((self.folder / "r.json").read_text())["parts"]["rolled_up"], {})
        self.assertEqual(released[0], released[1])
        asked |= {"recoding": "global", "hierarchy": TREES}
        with warnings.catch_warnings():
            warnings.filterwarnings("error", ".*rolled up.*")
            frame = kanon.spark.anonymize(self.frame(rows), output=str(self.folder / "global.parquet"), **asked)
        one = self.one_machine(rows, **{name: value for name, value in asked.items() if name not in ("max_records", "part_rows", "json")})
        self.same(frame, one)
        loss = kanon.results.json.loads((self.folder / "r.json").read_text())["loss"]
        self.assertEqual(set(one.facts["loss"]) - set(loss), {"cm", "pmi", "pmi-l2", "pmi-max", "weighted-mi", "average-diversity"})
        self.assertAlmostEqual(loss["lm"], one.loss.lm, places=12)
        error = self.refused(kanon.ResourceError, kanon.spark.anonymize, self.frame(rows), output=str(self.folder / "no.parquet"),
                             report=str(self.folder / "report"), **asked)
        self.assertIn("report", str(error))

    def test_a_tuple_longer_than_a_part_is_counted(self):
        draw = random.Random(9)
        rows = tables(draw, 100) + [{**tables(draw, 1)[0], "age": 33, "zip": "8001", "sex": "f"} for _ in range(300)]
        asked = {**self.PARTS, "identifier": ["name", "who"], "output": str(self.folder / "out.parquet"), "max_suppressed": 0,
                 "json": str(self.folder / "r.json")}
        frame = kanon.spark.anonymize(self.frame(rows), **asked)
        facts = kanon.results.json.loads((self.folder / "r.json").read_text())
        self.assertGreaterEqual(facts["parts"]["counted_rows"], 300)
        self.assertLessEqual(facts["parts"]["rows"]["most"], 160)
        self.assertGreaterEqual(len(self.classes(frame)[("33", "8001", "f")]), 300)
        self.assertEqual(frame.count(), len(rows))

    def test_suppressed_rows_are_dealt_with_once(self):
        self.assertEqual(kanon._spark_parts.dealt(7, [10, 10, 10]), [3, 2, 2])
        self.assertEqual(kanon._spark_parts.dealt(0, [5, 1]), [0, 0])
        for limit in range(40):
            rows = [random.Random(limit).randint(1, 50) for _ in range(7)]
            dealt = kanon._spark_parts.dealt(limit, rows)
            self.assertEqual(sum(dealt), limit)
            self.assertTrue(all(abs(n - limit * own / sum(rows)) < 1 for n, own in zip(dealt, rows)))
        # Some who cannot hide, each in another part: all of them together are too few, or just enough.
        draw = random.Random(12)
        plain = [{**row, "age": draw.randint(30, 60), "zip": draw.choice(["8001", "8002"])} for row in tables(draw, 120)]
        asked = {**self.PARTS, "identifier": ["name", "who"], "algorithm": "cluster", "max_suppressed": 12, "k": 3}
        for ages, stay in (((0, 90), False), ((0, 45, 90), True)):
            ends = [{**plain[0], "age": age, "zip": f"1{age}", "sex": "x"} for age in ages]
            rows = plain + ends
            frame = kanon.spark.anonymize(self.frame(rows), output=str(self.folder / f"out{stay}.parquet"),
                                          json=str(self.folder / "r.json"), **asked)
            facts = kanon.results.json.loads((self.folder / "r.json").read_text())
            stars = len(self.classes(frame).get(("*", "*", "*"), []))
            self.assertGreater(facts["parts"]["count"], 1)
            self.assertEqual(facts["suppressed"]["rows"], len(ends))
            self.assertEqual(facts["suppressed"]["removed"], 0 if stay else len(ends))
            self.assertEqual((stars, frame.count()), (len(ends), len(rows)) if stay else (0, len(plain)))

    def test_labels_that_do_not_generalize_are_noticed(self):
        from pyspark.sql import functions as F
        frame = self.frame(tables(random.Random(2), 120))
        asked = {**self.PARTS, "identifier": ["name", "who"], "output": str(self.folder / "out.parquet")}
        spoil = lambda data: data.withColumn("r1", F.when(F.col("r1").like("80%"), F.lit("1201")).otherwise(F.col("r1")))
        for more in ({}, {"json": str(self.folder / "r.json")}):  # judged as Spark counts them, and from the records
            self.assertIn("column 'zip'", self.spoiled(frame, spoil, **asked, **more))

    def spoiled(self, frame, spoil, **asked):
        """What is said where workers make something else of their parts."""
        stored = kanon.spark._Job.stored
        kanon.spark._Job.stored = lambda job, data, name: stored(job, spoil(data) if name == "parts" else data, name)
        try:
            error = self.refused(kanon.NotMet, kanon.spark.anonymize, frame, **asked)
        finally:
            kanon.spark._Job.stored = stored
        self.folder_is_clean()
        return str(error)

    def test_rows_that_are_there_twice_or_otherwise_are_noticed(self):
        """As many rows as are due, and the files say what the keyed rows do."""
        from pyspark.sql import functions as F
        frame, key = self.frame(tables(random.Random(2), 60)), F.col(kanon.spark.KEY)
        asked = {**self.PARTS, "identifier": ["name", "who"], "output": str(self.folder / "out.parquet"), "max_suppressed": 0}
        # For the first row of the input another one stands there a second time, or one of nobody.
        def last(data):
            return data.where(key == data.agg(F.max(key)).first()[0])
        twice = lambda data: data.where("__kanon_key is null or __kanon_key <> 0").union(last(data))
        self.assertIn("1 rows are there twice", self.spoiled(frame, lambda data: twice(data.localCheckpoint()), **asked))
        nobody = lambda data: data.withColumn(kanon.spark.KEY, F.when(key == 0, F.lit(-5)).otherwise(key))
        self.assertIn("1 are none of the input's", self.spoiled(frame, nobody, **asked))
        other = lambda data: data.withColumn("c1", F.when(key == 0, F.lit("x")).otherwise(F.col("c1")))
        self.assertIn("1 have other copied cells", self.spoiled(frame, other, **asked))
        silent = lambda data: data.where(key.isNotNull())  # what parts say of themselves is lost
        self.assertIn("some parts came back", self.spoiled(frame, silent, **asked))

    def test_tuples_that_do_not_fit_are_rolled_up_for_the_cut(self):
        rows = tables(random.Random(13), 300)
        asked = {**self.PARTS, "identifier": ["name", "who"], "algorithm": "mondrian", "max_suppressed": 0, "max_records": 150}
        frame = kanon.spark.anonymize(self.frame(rows), output=str(self.folder / "out.parquet"), json=str(self.folder / "r.json"), **asked)
        facts = kanon.results.json.loads((self.folder / "r.json").read_text())
        self.assertTrue(facts["parts"]["rolled_up"])
        error = self.refused(kanon.ResourceError, kanon.spark.anonymize, self.frame(rows), output=str(self.folder / "no.parquet"),
                             schema=str(self.folder / "schema"), **asked)
        self.assertIn("schema", str(error))
        self.assertFalse((self.folder / "no.parquet").exists())
        self.assertEqual(frame.count(), 300)
        self.assertTrue(all(len(members) >= 4 for members in self.classes(frame).values()))

    def test_tuples_that_do_not_fit_are_rolled_up_to_levels(self):
        """A global recoding of which only higher levels were looked at is the best of them."""
        rows = tables(random.Random(14), 300)
        asked = {**SmallSpark.ASKED, "identifier": ["name", "who"], "hierarchy": {"age": "intervals(5,10,20)", "zip": "mask(right)"}}
        with self.assertWarnsRegex(kanon.KanonWarning, "rolled up"):
            frame = kanon.spark.anonymize(self.frame(rows), output=str(self.folder / "out.parquet"), json=str(self.folder / "r.json"),
                                          max_records=160, **asked)
        facts = kanon.results.json.loads((self.folder / "r.json").read_text())
        self.assertTrue(facts["rolled_up"])
        release = self.one_machine(rows, **asked, level=[f"{name}={level}.." for name, level in facts["rolled_up"].items()])
        self.assertEqual(facts["levels"], release.facts["levels"])
        self.assertAlmostEqual(facts["loss"]["lm"], release.loss.lm, places=9)
        self.same(frame, release)
        self.refused(kanon.ResourceError, kanon.spark.anonymize, self.frame(rows), output=str(self.folder / "no.parquet"),
                     max_records=3, **asked)
        self.folder_is_clean()

    def test_a_full_disk_is_a_clear_failure(self):
        """A file system of 400 KB: staging fits in it, what follows does not."""
        small = self.folder / "small"
        small.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(small)], capture_output=True, text=True)
        if done.returncode != 0:
            self.skipTest(f"no small file system: {done.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", str(small)])
        rows = tables(random.Random(3), 300)
        asked = {**self.PARTS, "identifier": ["name", "who"], "algorithm": "mondrian", "max_suppressed": "5%"}
        for room in (380, 340):  # KB that are taken already: it ends at another step each time
            ballast = small / "ballast"
            ballast.write_bytes(os.urandom(room << 10))
            target = small / "out.csv"
            error = self.refused(Exception, kanon.spark.anonymize, self.frame(rows, 2), output=str(target), **asked)  # of Java
            self.assertIn("No space left on device", str(error))
            self.assertFalse(target.exists())
            self.assertEqual([path.name for path in small.iterdir()], ["ballast"])
