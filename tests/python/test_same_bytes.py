"""One policy and one seed give one file: from the program, and from the package, from a path and from columns of text."""
import collections
import datetime
import decimal
import os

import pandas
import polars
import pyarrow
import pyarrow.parquet
from support import ROLES, Case, flags, people, program, write_csv

import kanon
from kanon._settings import options_of

TREE = "8001;Zurich;*\n8002;Zurich;*\n8003;Zurich;*\n1201;Geneva;*\n01202;Geneva;*\n"

# What each option that is neither a switch nor a choice is set to; several where one value shows little.
SAMPLES = {
    "type": [{"age": "int"}, {"zip": "text"}],
    "hierarchy": [{"age": "intervals(5,20)"}, {"zip": "mask(right)"}, {"zip": "./tree.csv"}],
    "derive": [{"months": "months(age, 2024-01-01)"}],  # no dates: both say so
    "level": [{"zip": "1..2"}],
    "weight": [{"age": 3}],
    "grid": [{"age": 10}],
    "release_values": [{"zip": "yes"}],
    "person": ["name"], "domains": ["./domains.csv"],
    "count": ["zip"], "person_count": ["illness"],
    "k": [2, 10],
    "model": ["l-diversity:column=illness,l=2"],
    "max_suppressed": [3, "10%"],
    "threshold": [0.2],
    "algorithm": [],  # all of them, below
    "measure": [],
    "effort": [1000],
    "time_limit": [60],
    "seed": [7],
    "threads": [1, 2],
    "memory": ["200M"],
    "delimiter": [","],
    "null": [["NA", "-"], ["flu "]],
    "top": [{"age": 50}], "bottom": [{"age": 25}], "round": [{"age": 5}], "decimal": ["."], "sql": [],
    "qi": [], "sensitive": [], "identifier": [], "insensitive": [],  # what everything else stands on
}
OF_FILES = {"no_header", "encoding", "delimiter"}  # how a text file is read says nothing about tables in memory
ALONE = {"level": {"hierarchy": {"zip": "mask(right)"}}, "count": {"qi": ["age", "sex"], "order": "input"}}  # what an option needs beside it


class SameBytes(Case):
    def setUp(self):
        super().setUp()
        self.columns = people(30)
        write_csv(self.columns, self.folder / "people.csv")
        (self.folder / "tree.csv").write_text(TREE)
        more = {"age": "77", "zip": "9999", "sex": "f", "illness": "gout"}  # a row of the whole table that is not here
        counts = [(name, value, n) for name in more for value, n in collections.Counter([*self.columns[name], more[name]]).items()]
        write_csv(dict(zip(("column", "value", "rows"), zip(*counts))), self.folder / "domains.csv")
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def agree(self, **options):
        """The program's release, or its message, is the package's from both inputs. Returns whether there is one."""
        options = {**ROLES, "k": 3, "effort": 300, **options}  # a short search tells as much as a long one
        done = program("anonymize", "people.csv", *flags(options), "-q", "-o", "release.csv", check=False)
        text = polars.DataFrame(self.columns)  # not the missing cell: text columns with empty cells
        for data in ["people.csv"] + [text, self.columns] * (not OF_FILES & set(options)):
            if done.returncode == 0:
                release = kanon.anonymize(data, **{"report": False, **options})
                with open("release.csv", "rb") as file:
                    self.assertEqual(release.to_csv().encode(), file.read(), options)
            else:
                failure = self.refused(kanon.KanonError, kanon.anonymize, data, **options)
                self.assertEqual(failure.code, done.returncode, (options, done.stderr))
        return done.returncode == 0

    def test_columns_are_derived_from_dates_of_any_kind(self):
        born = [datetime.date(1950 + i % 30, 1 + i % 12, 28) for i in range(29)] + [None]
        self.columns["born"] = born
        write_csv(self.columns, self.folder / "people.csv")
        options = {**ROLES, "k": 3, "unlisted": "drop", "derive": {"years": "age(born, 2020-06-30)"}, "insensitive": "years"}
        expected = kanon.anonymize("people.csv", **options).to_csv()
        self.assertIn(",years", expected.splitlines()[0])
        for table in (pyarrow.table(self.columns), polars.DataFrame(self.columns),
                      pyarrow.table({**self.columns, "born": [b and datetime.datetime(b.year, b.month, b.day) for b in born]})):
            self.assertEqual(kanon.anonymize(table, **options).to_csv(), expected)

    def test_every_option_gives_the_same_bytes(self):
        n_released = 0
        for option in options_of("anonymize"):
            if option.argument == "FILE":  # written beside the release
                continue
            values = [True] if option.argument is None else option.choices or SAMPLES.get(option.keyword)
            self.assertIsNotNone(values, f"add a value of {option.keyword} to SAMPLES in tests/python/test_same_bytes.py")
            for value in values:
                with self.subTest(option=option.keyword, value=value):
                    n_released += self.agree(**ALONE.get(option.keyword, {}), **{option.keyword: value})
        self.assertGreater(n_released, 30)

    def test_every_algorithm_gives_the_same_bytes(self):
        self.columns = people(12)
        write_csv(self.columns, "people.csv")
        released = [name for name in kanon.list("algorithms").names() if self.agree(
            algorithm=name, seed=5, effort=2000, max_suppressed="50%", hierarchy={"age": "intervals(20)"})]
        self.assertGreater(len(released), 12, released)

    def test_every_measure_gives_the_same_bytes(self):
        released = [name for name in kanon.list("measures").names() if self.agree(measure=name, algorithm="optimal")]
        self.assertGreater(len(released), 12, released)

    def test_a_policy_gives_the_same_bytes(self):
        policy = kanon.Policy(**ROLES, k=4, seed=3, hierarchy={"zip": "tree.csv"}, max_suppressed="5%",
                              model=[("l-diversity", {"column": "illness", "l": 2})])
        policy.save("policy.yaml")
        program("anonymize", "people.csv", "-p", "policy.yaml", "-q", "-o", "release.csv")
        expected = (self.folder / "release.csv").read_text()
        for given in (policy, "policy.yaml", kanon.Policy.load("policy.yaml")):
            self.assertEqual(kanon.anonymize(self.columns, policy=given).to_csv(), expected)
        self.assertEqual(kanon.anonymize("people.csv", policy=policy, k=5).to_csv(),
                         kanon.anonymize("people.csv", policy=policy.with_(k=5)).to_csv())

    def test_the_file_is_written_alike_by_both(self):
        kanon.anonymize("people.csv", **ROLES, k=3).to_csv("one.csv")
        kanon.anonymize("people.csv", **ROLES, k=3, output="two.csv")
        program("anonymize", "people.csv", *flags({**ROLES, "k": 3}), "-q", "-o", "three.csv")
        texts = {(self.folder / name).read_bytes() for name in ("one.csv", "two.csv", "three.csv")}
        self.assertEqual(len(texts), 1)
        self.assertEqual(os.stat("one.csv").st_mode, os.stat("two.csv").st_mode)
        os.chmod("one.csv", 0o600)
        release = kanon.anonymize("people.csv", **ROLES, k=3, output=True)
        release.to_csv("one.csv")
        self.assertEqual(os.stat("one.csv").st_mode & 0o777, 0o600)
        self.refused(OSError, release.to_csv, "nowhere/one.csv")
        self.assertEqual(sorted(os.listdir()), ["domains.csv", "one.csv", "people.csv", "three.csv", "tree.csv", "two.csv"])


class Parquet(Case):
    """Files that libduckdb reads and writes."""

    def setUp(self):
        super().setUp()
        if not os.access(os.environ.get("KANON_DUCKDB", ""), os.R_OK):
            self.skipTest("libduckdb is not there; `make test` fetches it")
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        self.columns = people(60)
        born = [datetime.date(1950 + i % 30, 1 + i % 12, 28) for i in range(60)]
        typed = {**self.columns, "age": [int(age) if age else None for age in self.columns["age"]], "born": born}
        pyarrow.parquet.write_table(pyarrow.table(typed), "people.parquet")
        write_csv({**self.columns, "born": born}, "people.csv")

    def test_both_write_the_same_bytes_from_both(self):
        released = set()
        for cells in ("labels", "bounds", "both"):
            asked = {**ROLES, "qi": [*ROLES["qi"], "born"], "k": 4, "cells": cells, "algorithm": "mondrian"}
            for end in ("csv", "parquet"):
                texts = set()
                for data in ("people.csv", "people.parquet"):
                    program("anonymize", data, *flags(asked), "-q", "-o", f"one.{end}")
                    kanon.anonymize(data, **asked, output=f"two.{end}")
                    texts |= {(self.folder / f"{name}.{end}").read_bytes() for name in ("one", "two")}
                self.assertEqual(len(texts), 1, (cells, end))
                released |= texts
            made = kanon.anonymize("people.parquet", **asked)
            self.assertEqual(made.to_csv().encode(), (self.folder / "one.csv").read_bytes())
            read = pyarrow.parquet.read_table("one.parquet")
            self.assertEqual(read.to_pydict(), made.to_dict())
            kinds = {"age_min": pyarrow.int64(), "age_max": pyarrow.int64(), "born_min": pyarrow.date32()}
            for name, kind in kinds.items() if cells != "labels" else ():
                self.assertEqual(read.schema.field(name).type, kind, name)
        self.assertEqual(len(released), 6)

    def test_a_query_of_the_program_is_a_relation_here(self):
        asked = {"qi": ["age", "sex"], "sensitive": "illness", "k": 3}
        query = "SELECT age, sex, illness FROM 'people.parquet' WHERE zip <> '8001'"
        program("anonymize", "--sql", query, *flags(asked), "-q", "-o", "one.csv")
        import duckdb
        release = kanon.anonymize(duckdb.sql(query).arrow(), **asked)
        self.assertEqual(release.to_csv(), (self.folder / "one.csv").read_text())


MOMENT = datetime.datetime(2024, 1, 31, 10, 30, 5, 250000)
TYPED = {  # the canonical spelling of kanon_arrow.h
    "bool": (pyarrow.array([True, None, False]), ["true", None, "false"]),
    "int64": (pyarrow.array([2**53 + 1, 2**53, None]), [str(2**53 + 1), str(2**53), None]),
    "uint64": (pyarrow.array([2**64 - 1, 2**64 - 2, 0], pyarrow.uint64()), [str(2**64 - 1), str(2**64 - 2), "0"]),
    "float64": (pyarrow.array([0.1, 1e22, float("nan")]), ["0.1", "1e+22", None]),
    "small": (pyarrow.array([0.00001234, 1e-05, 9.9e-06]), ["0.00001234", "0.00001", "9.9e-06"]),
    "large": (pyarrow.array([1e15, 1e16, -12345678.5]), ["1000000000000000", "1e+16", "-12345678.5"]),
    "decimal128": (pyarrow.array([decimal.Decimal("12.50"), decimal.Decimal("9007199254740993.01"), None],
                                 pyarrow.decimal128(30, 2)), ["12.50", "9007199254740993.01", None]),
    "date": (pyarrow.array([MOMENT.date(), None, datetime.date(1, 1, 1)]), ["2024-01-31", None, "0001-01-01"]),
    "moment": (pyarrow.array([MOMENT, None, MOMENT.replace(microsecond=0)]),
               ["2024-01-31T10:30:05.25", None, "2024-01-31T10:30:05"]),
    "zoned": (pyarrow.array([MOMENT.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=2))), None, None]),
              ["2024-01-31T08:30:05.25Z", None, None]),
    "time": (pyarrow.array([MOMENT.time(), None, datetime.time(1)]), ["10:30:05.25", None, "01:00:00"]),
    "text": (pyarrow.array(["Zürich", "", None]), ["Zürich", None, None]),
}


class Typed(Case):
    """Typed columns mean what the CSV file means that has each value in its documented spelling."""

    def copied(self, data, names):
        return kanon.anonymize(data, insensitive=list(names), k=1, order="input").to_dict()

    def test_every_type_is_spelled_as_documented(self):
        expected = {name: texts for name, (_, texts) in TYPED.items()}
        table = pyarrow.table({name: array for name, (array, _) in TYPED.items()})
        columns = {name: array.to_pylist() for name, (array, _) in TYPED.items()}
        self.assertEqual(self.copied(table, expected), expected)
        self.assertEqual(self.copied(columns, expected), expected)  # spelled in Python, without Arrow
        write_csv(expected, self.folder / "typed.csv")
        path = self.folder / "typed.csv"
        self.assertEqual(self.copied(path, expected), expected)
        options = {"insensitive": list(expected), "k": 1}
        self.assertEqual(kanon.anonymize(table, **options).to_csv(), kanon.anonymize(path, **options).to_csv())

    def test_floats_are_spelled_alike_by_arrow_and_by_python(self):
        import random
        import struct
        draw = random.Random(3)
        values = [struct.unpack("d", draw.randbytes(8))[0] for _ in range(3000)]
        values += [draw.choice([1, -1]) * draw.randrange(10**6) * 10.0**draw.randrange(-12, 20) for _ in range(3000)]
        values = [value for value in values if value == value] + [0.0, -0.0, float("inf"), -float("inf"), 1e16, 1e-5]
        mixed = ["text", *values]
        by_arrow = self.copied(pyarrow.table({"x": values}), "x")["x"]
        self.assertEqual(self.copied({"x": mixed}, "x")["x"], ["text", *by_arrow])
        self.assertEqual([float(text) for text in by_arrow], values)

    def test_neighbours_beyond_doubles_never_collapse(self):
        base = 2**53
        moments = pandas.to_datetime([1700000000000000001, 1700000000000000002] * 2)
        for name, column in {
            "int64": pyarrow.array([base, base + 1] * 2),
            "decimal128": pyarrow.array([decimal.Decimal(base) + decimal.Decimal("0.01"),
                                         decimal.Decimal(base) + decimal.Decimal("0.02")] * 2, pyarrow.decimal128(30, 2)),
            "timestamp[ns]": pyarrow.array(moments),
            "python": [base, base + 1] * 2,
        }.items():
            data = pyarrow.table({"x": column}) if name != "python" else {"x": column}
            with self.subTest(name):  # two people each: two classes, unless they were taken for one
                release = kanon.anonymize(data, qi="x", k=2, hierarchy={"x": "suppress"})
                self.assertEqual(len(set(release.to_dict()["x"])), 2)
                self.assertEqual(release.classes.count, 2)

    def test_pandas_without_pyarrow_gives_the_same(self):
        frame = pandas.DataFrame({
            "int": [2**53 + 1, 2**53, 5], "float": [0.5, float("nan"), 1e300], "float32": pandas.Series([0.1, 2, 3], dtype="float32"),
            "Int": pandas.Series([1, None, 3], dtype="Int64"), "text": ["a", None, "c,d"],
            "category": pandas.Categorical(["x", None, "x"]), "bool": [True, False, True],
            "day": pandas.to_datetime(["2024-01-31T10:00:00.000000001", None, "2024-02-01"], format="ISO8601"),
            "zoned": pandas.to_datetime(["2024-01-31T10:00Z", None, "2024-02-01T00:00Z"]).tz_convert("Europe/Berlin"),
            "string": pandas.array(["p", None, "q"], dtype="string"),
        })

        class WithoutArrow(pandas.DataFrame):
            __module__ = "pandas.without"

            def __arrow_c_stream__(self, requested_schema=None):
                raise ImportError("pyarrow")

            @property
            def _constructor(self):
                return WithoutArrow

        with_arrow = self.copied(frame, frame.columns)
        self.assertEqual(self.copied(WithoutArrow(frame), frame.columns), with_arrow)
        self.assertEqual(with_arrow["day"][0], "2024-01-31T10:00:00.000000001")
