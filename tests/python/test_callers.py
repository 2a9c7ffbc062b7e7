"""Callers that are clumsy or hostile: whatever a table is made of, it means what is documented, or is refused by name."""
import datetime
import decimal
import enum
import json
import threading

import numpy
import pandas
import polars
import pyarrow
from support import Case

import kanon


def cells(data, **options):
    """What a column `x` of `data` is read as, row by row."""
    return kanon.anonymize(data, insensitive="x", k=1, order="input", **options).to_dict()["x"]


class Columns(Case):
    """Columns in Python, without Arrow."""

    def test_what_is_masked_is_missing(self):
        mask = [False, True, False, True]
        self.assertEqual(cells({"x": numpy.ma.array([17, 4711, 17, 4712], mask=mask)}), ["17", None, "17", None])
        self.assertEqual(cells({"x": numpy.ma.array([0.5, 4711.5, 0.5, 4711.5], mask=mask)}), ["0.5", None, "0.5", None])
        moments = numpy.array(["2024-01-31T10:30:05.000000001"] * 4, dtype="datetime64[ns]")
        self.assertEqual(cells({"x": numpy.ma.array(moments, mask=mask)}), ["2024-01-31T10:30:05.000000001", None] * 2)
        self.assertEqual(cells({"x": numpy.ma.array([17, 18])}), ["17", "18"])

    def test_pandas_columns_in_a_dict_are_what_they_are_in_a_frame(self):
        moments = pandas.to_datetime(["2024-01-31T10:30:05.000000001", None]).tz_localize("Europe/Zurich")
        for column, expected in (
                (pandas.Series([17, None], dtype="Int64"), ["17", None]),
                (pandas.array([17, None], dtype="Int64"), ["17", None]),
                (pandas.Series([True, None], dtype="boolean"), ["true", None]),
                (pandas.Series([0.5, None], dtype="Float32"), ["0.5", None]),
                (pandas.Series(["a", None], dtype="string"), ["a", None]),
                (pandas.Series(["a", pandas.NA], dtype=object), ["a", None]),
                (pandas.Series(["a", None], dtype="category"), ["a", None]),
                (pandas.Categorical([3, None], categories=[1, 2, 3]), ["3", None]),
                (pandas.Index([17, 18]), ["17", "18"]),
                (moments, ["2024-01-31T09:30:05.000000001Z", None]),
                (pandas.Series(moments), ["2024-01-31T09:30:05.000000001Z", None]),
                (moments.array, ["2024-01-31T09:30:05.000000001Z", None])):
            with self.subTest(str(column)):
                self.assertEqual(cells({"x": column}), expected)
                self.assertEqual(cells(pandas.DataFrame({"x": column})), expected)
        self.assertEqual(cells({"x": ["a", pandas.NA]}), ["a", None])

    def test_a_frame_of_a_class_of_its_own_keeps_its_index(self):
        class Frame(pandas.DataFrame):
            @property
            def _constructor(self):
                return Frame

        frame = Frame({"age": [31, 31, 52, 52]}, index=["Ann", "Bob", "Cid", "Dan"])
        release = kanon.anonymize(frame, qi="age", k=2, unlisted="error")
        self.assertEqual(release.to_dict(), {"age": ["31", "31", "52", "52"]})

    def test_moments_of_numpy_are_exact(self):
        late = "2024-01-31T10:30:05.000000010"
        self.assertEqual(cells({"x": numpy.array([late, late], dtype="datetime64[10ns]")}), [late[:-1]] * 2)
        self.assertEqual(cells({"x": numpy.array([late, late], dtype=">M8[ns]")}), [late[:-1]] * 2)
        self.assertEqual(cells({"x": numpy.array(["2024-01-31T10", "NaT"], dtype="datetime64[h]")}), ["2024-01-31T10:00:00", None])
        picos = numpy.array(["2024-01-31T10:30:05.000000000001"], dtype="datetime64[ps]")
        self.assertIn("column 'x'", str(self.refused(ValueError, cells, {"x": picos})))
        self.assertIn("'x'", str(self.refused(ValueError, cells, {"x": numpy.array([10**12], dtype="datetime64[Y]")})))
        for text, unit, expected in ((late, "ns", late[:-1]), ("2024-01-31", "D", "2024-01-31"), ("2024", "Y", "2024-01-01"),
                                     ("2024-01-31T10", "h", "2024-01-31T10:00:00"), ("NaT", "s", None),
                                     ("12024-01-31", "D", "+12024-01-31"), ("-0001-01-31", "D", "-0001-01-31")):
            with self.subTest(text):
                self.assertEqual(cells({"x": ["a", numpy.datetime64(text, unit)]}), ["a", expected])
                if text[0] != "-":
                    self.assertEqual(cells({"x": numpy.array([text, "NaT"], dtype=f"datetime64[{unit}]")})[0] or None,
                                     expected + "T00:00:00" * (unit == "s") if expected else expected)

    def test_durations_are_refused_everywhere(self):
        days = numpy.array([1, 2], dtype="timedelta64[ns]")
        for column in (days, list(days), [datetime.timedelta(1)], pandas.Series(days), pyarrow.array(days)):
            for data in ({"x": column}, pandas.DataFrame({"x": column}) if len(column) > 1 else {"x": column}):
                self.assertIn("'x'", str(self.refused((TypeError, kanon.InputError), cells, data)))

    def test_what_is_no_column_is_refused_by_name(self):
        for column in ("34", b"34", bytearray(b"34"), {"a": 1, "b": 2}, {"a", "b"}, {1: 2}.keys()):
            self.assertIn("column 'x'", str(self.refused(TypeError, cells, {"x": column})))
        for column in (17, None, numpy.array(3), numpy.array([[1, 2], [3, 4]])):
            self.refused((TypeError, ValueError), cells, {"x": column})

    def test_what_is_no_cell_is_refused_by_name(self):
        early, late = datetime.timezone(datetime.timedelta(hours=5)), datetime.timezone(datetime.timedelta(hours=-5))
        for cell in (1j, {}, object, b"\xff", "\ud800", 10**5000, datetime.time(10, 30, 0, 500000, tzinfo=early),
                     datetime.datetime.min.replace(tzinfo=early), datetime.datetime.max.replace(tzinfo=late),
                     numpy.array([1, 2])):
            with self.subTest(type(cell).__name__):
                self.assertIn("column 'x', row 2", str(self.refused((TypeError, ValueError), cells, {"x": ["a", cell]})))
        self.assertIn("NUL", str(self.refused(kanon.InputError, cells, {"x": ["a", "b\0"]})))
        self.assertIn("NUL", str(self.refused(ValueError, cells, {"x": ["a"], "y\0z": ["b"]})))

    def test_numbers_of_every_kind_are_spelled_alike(self):
        class Level(int, enum.Enum):
            LOW = 3

        class Colour(str, enum.Enum):
            RED = "red"

        found = cells({"x": ["a", Level.LOW, Colour.RED, numpy.int8(-3), numpy.float32(0.1), numpy.bool_(True), 2**70,
                             decimal.Decimal("12.50"), decimal.Decimal("NaN"), decimal.Decimal("-Infinity"), -0.0]})
        self.assertEqual(found, ["a", "3", "red", "-3", "0.10000000149011612", "true", str(2**70), "12.50", None, "-inf", "-0"])


class Arrow(Case):
    """Arrays that are allowed and rare."""

    def test_ends_of_every_type(self):
        at = lambda type, *values: pyarrow.array(values, type)
        huge = decimal.Decimal("-" + "9" * 76)
        for column, expected in (
                (at(pyarrow.int64(), -2**63, 2**63 - 1), ["-9223372036854775808", "9223372036854775807"]),
                (at(pyarrow.uint64(), 2**64 - 1, None), ["18446744073709551615", None]),
                (at(pyarrow.decimal256(76, 0), huge, None), [str(huge), None]),
                (at(pyarrow.decimal128(38, 38), decimal.Decimal("1e-38"), None), ["0." + "0" * 37 + "1", None]),
                (at(pyarrow.timestamp("s"), -2**63, 2**63 - 1), ["-292277022657-01-27T08:29:52", "+292277026596-12-04T15:30:07"]),
                (at(pyarrow.timestamp("ns", "America/Lima"), -2**63, 2**63 - 1),
                 ["1677-09-21T00:12:43.145224192Z", "2262-04-11T23:47:16.854775807Z"]),
                (at(pyarrow.date32(), -719163, 2932897), ["0000-12-31", "+10000-01-01"]),
                (at(pyarrow.string_view(), "a", "x" * 40), ["a", "x" * 40]),
                (at(pyarrow.float64(), float("nan"), float("inf")), [None, "inf"])):
            with self.subTest(str(column.type)):
                self.assertEqual(cells(pyarrow.table({"x": column})), expected)

    def test_every_nan_is_missing(self):
        bits = numpy.array([0x7ff8000000000001, 0xfff8000000000000, 0x7ff0000000000001, 0x3ff0000000000000], dtype="u8")
        self.assertEqual(cells({"x": bits.view("f8")}), [None, None, None, "1"])
        self.assertEqual(cells(pyarrow.table({"x": pyarrow.array(bits.view("f8"))})), [None, None, None, "1"])

    def test_dictionaries_may_repeat_values_and_hold_nulls(self):
        indices = pyarrow.array([0, 1, 2, None, 1], pyarrow.int8())
        column = pyarrow.DictionaryArray.from_arrays(indices, pyarrow.array(["a", "a", None, "never"]))
        table = pyarrow.table({"x": column})
        self.assertEqual(cells(table), ["a", "a", None, None, "a"])
        self.assertEqual(cells(table.slice(1, 3)), ["a", None, None])
        release = kanon.anonymize(table, qi="x", k=2)
        self.assertEqual(release.classes.count, 2)

    def test_unused_categories_never_leave(self):
        names = ["a", "a", "b", "b"]
        options = {"qi": "x", "k": 2, "schema": True, "report": True}
        for data in (pandas.DataFrame({"x": pandas.Categorical(names, categories=["a", "b", "Zebediah"])}),
                     {"x": pandas.Categorical(names, categories=["a", "b", "Zebediah"])},
                     polars.DataFrame({"x": polars.Series(names, dtype=polars.Enum(["Zebediah", "a", "b"]))}),
                     polars.DataFrame({"x": polars.Series(["Zebediah", *names], dtype=polars.Categorical)})[1:],
                     pyarrow.table({"x": pyarrow.array(["Zebediah", *names]).dictionary_encode()}).slice(1)):
            release = kanon.anonymize(data, **options)
            self.assertEqual(release.to_dict()["x"], names)
            said = json.dumps(release.facts) + json.dumps(release.schema) + release.report + release.text
            self.assertNotIn("Zebediah", said + release.to_csv())
            self.assertEqual(release.to_arrow()["x"].combine_chunks().dictionary.to_pylist(), ["a", "b"])

    def test_what_is_no_column_of_values_is_refused_by_name(self):
        for column, name in (
                (pyarrow.RunEndEncodedArray.from_arrays([2, 4], ["a", "b"]), "run-end encoded"),
                (pyarrow.array([b"0123456789abcdef"] * 4, pyarrow.uuid()), "fixed-size binary"),
                (pyarrow.array([[1]] * 4, pyarrow.list_(pyarrow.int8(), 1)), "fixed-size list"),
                (pyarrow.array([[("a", 1)]] * 4, pyarrow.map_(pyarrow.string(), pyarrow.int8())), "a map")):
            failure = self.refused(kanon.InputError, cells, pyarrow.table({"x": column}))
            self.assertIn(name, str(failure))
            self.assertEqual(failure.column, "x")
            kept = pyarrow.table({"x": [1, 1, 2, 2], "odd": column})  # nobody asked for it
            self.assertEqual(kanon.anonymize(kept, qi="x", k=2).to_dict(), {"x": ["1", "1", "2", "2"]})

    def test_names_are_needed_and_told_apart(self):
        two = [pyarrow.array([1, 2]), pyarrow.array([1, 2])]
        for names in (["x", "x"], ["x", ""], ["x", " "]):
            self.refused(kanon.InputError, cells, pyarrow.Table.from_arrays(two, names=names))
        self.refused(kanon.InputError, cells, {"x": [1], 1: [1], "1": [2]})


class Streams(Case):
    def batches(self, n=3, schema=None):
        schema = schema or pyarrow.schema([("x", pyarrow.int64())])
        for i in range(n):
            yield pyarrow.record_batch([pyarrow.array([i] * 1000)], schema=schema)

    def test_one_that_fails_half_way_says_why(self):
        def failing():
            yield from self.batches()
            raise RuntimeError("the network is gone")

        reader = pyarrow.RecordBatchReader.from_batches(pyarrow.schema([("x", pyarrow.int64())]), failing())
        self.assertIn("the network is gone", str(self.refused(kanon.InputError, cells, reader)))

    def test_one_whose_batches_change_is_refused(self):
        def changing():
            yield from self.batches()
            yield pyarrow.record_batch([pyarrow.array(["a"])], names=["y"])

        reader = pyarrow.RecordBatchReader.from_batches(pyarrow.schema([("x", pyarrow.int64())]), changing())
        self.refused(kanon.InputError, cells, reader)

    def test_one_is_read_once(self):
        reader = pyarrow.RecordBatchReader.from_batches(pyarrow.schema([("x", pyarrow.int64())]), self.batches())
        self.assertEqual(len(cells(reader)), 3000)
        self.assertEqual(cells(reader), [])  # what pyarrow says of one that is at its end

        class Again:
            capsule = pyarrow.table({"x": [1, 2]}).__arrow_c_stream__()

            def __arrow_c_stream__(self, requested_schema=None):
                return self.capsule

        again = Again()
        self.assertEqual(cells(again), ["1", "2"])
        self.assertIn("read already", str(self.refused(ValueError, cells, again)))

    def test_what_gives_no_stream_is_refused(self):
        class Odd:
            def __init__(self, given):
                self.given = given

            def __arrow_c_stream__(self, requested_schema=None):
                return self.given()

        schema = pyarrow.schema([("x", pyarrow.int64())]).__arrow_c_schema__()
        for given in (lambda: None, lambda: 17, lambda: schema):
            self.refused((TypeError, ValueError), cells, Odd(given))
        self.refused(ZeroDivisionError, cells, Odd(lambda: 1 // 0))
        for column in (pyarrow.chunked_array([[1, 2]]), polars.Series("x", [1, 2])):
            self.refused((TypeError, kanon.InputError), cells, column)

    def test_a_table_may_be_given_to_several_threads_while_it_changes(self):
        frame = pandas.DataFrame({"x": numpy.arange(20000) % 7})
        column = numpy.arange(20000) % 7
        found, failures = [], []

        def work(data):
            try:
                found.append(len(cells(data)))
            except BaseException as problem:  # noqa: BLE001: told below
                failures.append(problem)

        threads = [threading.Thread(target=work, args=(data,)) for data in [frame, {"x": column}] * 4]
        for thread in threads:
            thread.start()
        for i in range(2000):
            column[i] = 3
            frame.iloc[i % 50, 0] = 3
        for thread in threads:
            thread.join()
        self.assertEqual((found, failures), ([20000] * 8, []))

    def test_what_was_released_outlives_everything(self):
        import gc
        data = {"x": ["a", "a", "b", "b"]}
        release = kanon.anonymize(data, qi="x", k=2)
        capsule, table, view = release.__arrow_c_stream__(), release.to_arrow(), release.to_polars()
        column = table["x"]
        data["x"].clear()
        del release, table, data
        gc.collect()

        class Kept:
            def __arrow_c_stream__(self, requested_schema=None):
                return capsule

        self.assertEqual(pyarrow.table(Kept())["x"].to_pylist(), ["a", "a", "b", "b"])
        self.assertEqual(column.to_pylist(), ["a", "a", "b", "b"])
        self.assertEqual(view["x"].to_list(), ["a", "a", "b", "b"])
