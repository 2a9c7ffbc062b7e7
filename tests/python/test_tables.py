"""Tables from real producers, and releases in real consumers."""
import array
import datetime

import duckdb
import nanoarrow
import numpy
import pandas
import polars
import pyarrow
from support import ROLES, Case, people, write_csv

import kanon


class Producers(Case):
    def setUp(self):
        super().setUp()
        self.columns = people()
        self.expected = kanon.anonymize(self.columns, **ROLES, k=3).to_csv()

    def test_every_producer_gives_the_same_release(self):
        table = pyarrow.table(self.columns)
        connection = duckdb.connect()
        self.addCleanup(connection.close)
        connection.register("people", table)
        write_csv(self.columns, self.folder / "people.csv")
        producers = {
            "pandas": pandas.DataFrame(self.columns),
            "pandas, an index of its own": pandas.DataFrame(self.columns, index=range(60, 0, -1)),
            "polars": polars.DataFrame(self.columns),
            "pyarrow.Table": table,
            "pyarrow.RecordBatch": table.to_batches()[0],
            "pyarrow.RecordBatchReader": table.to_reader(max_chunksize=7),
            "chunked": pyarrow.concat_tables([table.slice(0, 11), table.slice(11, 0), table.slice(11)]),
            "sliced": pyarrow.concat_tables([table.slice(50), table]).slice(10),
            "large strings": table.cast(pyarrow.schema([(name, pyarrow.large_string()) for name in self.columns])),
            "views": pyarrow.table({name: pyarrow.array(values, pyarrow.string_view())  # cast() of pyarrow 21 crashes on export
                                    for name, values in self.columns.items()}),
            "dictionaries": pyarrow.table({name: table[name].dictionary_encode() for name in self.columns}),
            "nanoarrow": nanoarrow.ArrayStream(table),
            "DuckDB": connection.sql("SELECT * FROM people").arrow(),
            "categorical": polars.DataFrame(self.columns).with_columns(polars.col("zip", "sex").cast(polars.Categorical)),
            "path": self.folder / "people.csv",
            "text of a path": str(self.folder / "people.csv"),
            "numpy": {name: numpy.array(values, dtype=object) for name, values in self.columns.items()},
            "polars series": {name: polars.Series(values) for name, values in self.columns.items()},
        }
        for name, data in producers.items():
            with self.subTest(name):
                self.assertEqual(kanon.anonymize(data, **ROLES, k=3).to_csv(), self.expected)

    def test_duckdb_relations_are_tables(self):
        connection = duckdb.connect()
        self.addCleanup(connection.close)
        relation = connection.sql("SELECT * FROM (VALUES (31, 'f'), (31, 'f'), (52, 'm'), (52, 'm')) AS t(age, sex)")
        if not hasattr(relation, "__arrow_c_stream__"):
            self.skipTest("this DuckDB has no __arrow_c_stream__")
        self.assertEqual(kanon.anonymize(relation, qi="age,sex", k=2).to_dict()["age"], ["31", "31", "52", "52"])

    def test_an_unnamed_index_is_no_column_and_a_named_one_is(self):
        frame = pandas.DataFrame({"age": [31, 31, 52, 52]}, index=["Ann", "Bob", "Cid", "Dan"])
        for unnamed in (frame, frame.set_index(pandas.MultiIndex.from_product([[1, 2], ["a", "b"]]))):
            release = kanon.anonymize(unnamed, qi="age", k=2, unlisted="error")
            self.assertEqual([column.name for column in release.columns], ["age"])
        frame.index.name = "name"
        failure = self.refused(kanon.UsageError, kanon.anonymize, frame, qi="age", k=2, unlisted="error")
        self.assertIn("column name; give each a role, or say unlisted drop", str(failure))
        partly = frame.set_index(pandas.MultiIndex.from_arrays([frame.index, [1, 2, 3, 4]], names=["name", None]))
        release = kanon.anonymize(partly, qi="age", identifier="name", k=2, unlisted="error")
        self.assertEqual(release.to_dict(), {"age": ["31", "31", "52", "52"]})

    def test_empty_tables_and_tables_without_columns(self):
        empty = pyarrow.table({"age": pyarrow.array([], pyarrow.int64())})
        self.assertEqual(kanon.anonymize(empty, insensitive="age", k=1).to_dict(), {"age": []})
        self.assertEqual(kanon.anonymize({"age": []}, insensitive="age", k=1).to_csv(), "age\n")
        for nothing in (pyarrow.table({}), {}, polars.DataFrame()):
            self.refused(kanon.KanonError, kanon.anonymize, nothing, qi="age", k=2)

    def test_nested_types_are_refused_by_name(self):
        for name, nested in {"a list": [[1], [2]], "a struct": [{"a": 1}, {"a": 2}],
                             "a duration": [datetime.timedelta(1), None]}.items():
            failure = self.refused(kanon.InputError, kanon.anonymize, pyarrow.table({"x": nested}), qi="x", k=1)
            self.assertIn(name, str(failure))
            self.assertEqual(failure.column, "x")

    def test_what_is_no_table_is_refused(self):
        for data in (17, [1, 2], object(), polars.LazyFrame({"a": [1]})):
            self.refused(TypeError, kanon.anonymize, data, qi="a", k=2)
        self.assertIn("row 2", str(self.refused(TypeError, kanon.anonymize, {"a": ["x", {}]}, qi="a", k=2)))
        self.refused(ValueError, kanon.anonymize, {"a": [1, 2], "b": [1]}, qi="a", k=2)
        self.refused(ValueError, kanon.anonymize, {"a": ["x", "y"], "b": ["x"]}, qi="a", k=2)
        self.refused(kanon.InputError, kanon.anonymize, self.folder / "nowhere.csv", qi="a", k=2)
        twice = pandas.DataFrame([[1, 2], [1, 2]], columns=["a", "a"])
        self.refused(kanon.InputError, kanon.anonymize, twice, qi="a", k=2)
        mixed = pandas.DataFrame({"a": ["x", 1, "x", 1]})  # pyarrow refuses it; it means what a CSV file would
        self.assertEqual(kanon.anonymize(mixed, qi="a", k=2).to_dict(), {"a": ["1", "1", "x", "x"]})

    def test_buffers_are_columns(self):
        columns = {"a": array.array("h", [1, 1, 2, 2]), "b": numpy.array([1, 1, 2, 2], dtype="u1"),
                   "c": numpy.array([1, 1, 2, 2], dtype="f4"), "d": numpy.array([True, True, False, False]),
                   "e": numpy.arange(8)[::2] // 4, "f": numpy.array(["2024-01-31", "NaT"] * 2, dtype="datetime64[D]")}
        released = kanon.anonymize(columns, insensitive=list(columns), k=1, order="input").to_dict()
        self.assertEqual(released, {
            "a": ["1", "1", "2", "2"], "b": ["1", "1", "2", "2"], "c": ["1", "1", "2", "2"],
            "d": ["true", "true", "false", "false"], "e": ["0", "0", "1", "1"], "f": ["2024-01-31", None] * 2})

    def test_hierarchies_and_populations_may_be_tables(self):
        tree = {"leaf": ["8001", "8002", "8003", "1201", "01202"], "town": ["Zurich"] * 3 + ["Geneva"] * 2, "all": ["*"] * 5}
        (self.folder / "tree.csv").write_text("\n".join(";".join(row) for row in zip(*tree.values())) + "\n")
        options = {**ROLES, "k": 3, "algorithm": "optimal", "max_suppressed": "20%"}
        from_file = kanon.anonymize(self.columns, **options, hierarchy={"zip": self.folder / "tree.csv"}).to_csv()
        made = kanon.hierarchy("make", self.columns, hierarchy={"zip": self.folder / "tree.csv"})
        for given in (tree, polars.DataFrame(tree), pandas.DataFrame(tree), made):
            self.assertEqual(kanon.anonymize(self.columns, **options, hierarchy={"zip": given}).to_csv(), from_file)
        made = kanon.hierarchy("make", self.columns, qi="age", hierarchy={"age": "auto"})
        self.assertTrue(made.text.startswith("# made from the data"))
        self.assertNotIn("#", made.rows[0][0])
        self.assertTrue(made.made_from_data)
        self.assertFalse(kanon.hierarchy("make", self.columns, hierarchy={"age": "intervals(10)"}).made_from_data)
        (self.folder / "made.csv").write_text(made.text)
        plain = {f"level{i}": list(column) for i, column in enumerate(zip(*made.rows))}
        files = {"marked": self.folder / "made.csv", "plain": self.folder / "plain.csv"}
        files["plain"].write_text(made.text.partition("\n")[2])
        for name, given in (("marked", made), ("plain", plain)):  # who made it is in the schema
            releases = [kanon.anonymize(self.columns, **options, schema=True, hierarchy={"age": tree})
                        for tree in (files[name], given)]
            self.assertEqual(*(release.to_csv() for release in releases))
            self.assertEqual(*(release.schema for release in releases), name)
        town = people(400, seed=2)
        write_csv(town, self.folder / "town.csv")
        for population in (town, self.folder / "town.csv", pandas.DataFrame(town)):
            models = [("k-anonymity", {"k": 2}), ("k-map", {"k": 3, "population": population})]
            release = kanon.anonymize(self.columns, **ROLES, model=models, algorithm="optimal")
            self.assertEqual([model.name for model in release.models], ["k-anonymity", "k-map"])
            self.assertGreater(kanon.risk(self.columns, qi=ROLES["qi"], population=population).persons, 0)


class Consumers(Case):
    def setUp(self):
        super().setUp()
        self.release = kanon.anonymize(people(), **ROLES, k=3)
        self.rows = list(zip(*self.release.to_dict().values()))

    def test_every_consumer_gets_the_same_cells(self):
        table = self.release.to_arrow()
        table.validate(full=True)
        connection = duckdb.connect()
        self.addCleanup(connection.close)
        connection.register("released", table)
        by_sql = connection.sql("SELECT * FROM released").fetchall()
        frame = self.release.to_pandas()
        found = {
            "pyarrow": [tuple(row.values()) for row in table.to_pylist()],
            "polars": self.release.to_polars().rows(),
            "polars, from the release": polars.DataFrame(self.release).rows(),
            "pandas": list(frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None)),
            "DuckDB": by_sql,
            "nanoarrow": [tuple(row.values()) for row in nanoarrow.Array(self.release).to_pylist()],
        }
        for name, rows in found.items():
            with self.subTest(name):
                self.assertEqual(rows, self.rows)
        self.assertTrue((frame.dtypes == "category").all())

    def test_pandas_needs_no_pyarrow(self):
        import sys
        from unittest import mock
        with mock.patch.dict(sys.modules, {"pyarrow": None}):
            self.assertEqual(self.release.to_pandas().shape, (60, 4))

    def test_dictionaries_hold_released_values_only(self):
        data = {"zip": ["8001", "8001", "8002", "8002", "9999"], "name": ["a", "b", "c", "d", "secret"]}
        table = kanon.anonymize(data, qi="zip", insensitive="name", k=2, max_suppressed=1,
                                hierarchy={"zip": "suppress"}, algorithm="optimal").to_arrow()
        for name in table.column_names:
            chunk = table[name].combine_chunks()
            self.assertEqual(set(chunk.dictionary.to_pylist()), set(chunk.to_pylist()) - {None})

    def test_bounds_have_types_everywhere(self):
        data = {"age": [31, 33, 38, 52, 57, 58], "pay": [1.5, 2.5, 2.5, 8.25, 9.5, 9.75],
                "day": [datetime.date(2024, month, 3) for month in (1, 2, 2, 7, 8, 9)]}
        write_csv(data, self.folder / "data.csv")
        options = {"qi": list(data), "k": 3}
        release = kanon.anonymize(data, **options, cells="both")
        self.assertEqual(kanon.anonymize(self.folder / "data.csv", **options, cells="both").to_csv(), release.to_csv())
        table, frame, lists = release.to_arrow(), release.to_pandas(), release.to_dict()
        table.validate(full=True)
        kinds = {"age_min": pyarrow.int64(), "pay_max": pyarrow.float64(), "day_min": pyarrow.date32()}
        self.assertEqual({name: table.schema.field(name).type for name in kinds}, kinds)
        self.assertEqual(table.to_pydict(), lists)
        self.assertEqual(release.to_polars().to_dict(as_series=False), lists)
        self.assertEqual([str(frame[name].dtype) for name in kinds], ["Int64", "Float64", "datetime64[s]"])
        self.assertEqual(frame["age_min"].tolist(), lists["age_min"])
        for row, low, high in zip(lists["age"], lists["age_min"], lists["age_max"]):
            self.assertEqual(row, f"{low}..{high}")
        self.assertTrue(kanon.verify(release, original=data, **options))
        changed = {**lists, "age_min": [lists["age_min"][0] + 1, *lists["age_min"][1:]]}
        self.refused(kanon.NotMet, kanon.verify, changed, original=data, **options)

    def test_the_table_outlives_the_release(self):
        import gc
        table = self.release.to_arrow()
        self.release = None
        gc.collect()
        self.assertEqual([tuple(row.values()) for row in table.to_pylist()], self.rows)

    def test_a_release_in_a_file_says_where_it_is(self):
        release = kanon.anonymize(people(), **ROLES, k=3, output=self.folder / "release.csv")
        self.assertIn("no table", str(self.refused(ValueError, release.to_arrow)))
        self.assertTrue((self.folder / "release.csv").exists())
