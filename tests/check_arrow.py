#!/usr/bin/env python3
"""check_arrow.py LIBRARY VENV: the shared library with real producers and consumers of Arrow streams, pyarrow, pandas and
polars, through ctypes. `make test` installs them into VENV. Exit 77, which Meson counts as skipped, without them."""
import ctypes
import datetime
import decimal
import json
import os
import pathlib
import sys

venv = pathlib.Path(sys.argv[2])
if (venv / "installed.txt").exists() and pathlib.Path(sys.prefix).resolve() != venv.resolve():
    os.execv(venv / "bin" / "python", [str(venv / "bin" / "python"), *sys.argv])
try:
    import pandas
    import polars
    import pyarrow
except ImportError as failure:
    reason = venv / "reason"
    print(f"skipped: {failure};", reason.read_text().strip() if reason.exists() else "`make test` installs it")
    sys.exit(77)

kanon = ctypes.CDLL(sys.argv[1])


class Stream(ctypes.Structure):  # struct ArrowArrayStream; only its address and its size matter here
    _fields_ = [(name, ctypes.c_void_p) for name in ("schema", "next", "error", "release", "private")]


error = ctypes.create_string_buffer(1 << 16)  # a kn_error, which starts with its message
as_pointer = ctypes.pythonapi.PyCapsule_GetPointer
as_pointer.restype = ctypes.c_void_p
as_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
kanon.kn_result_json.restype = ctypes.c_char_p


def check(status):
    if status != 0:
        raise RuntimeError(f"status {status}: {error.value.decode(errors='replace')}")


def settings_of(data, **options):
    settings = ctypes.c_void_p()
    ctypes.memset(error, 0, len(error))
    check(kanon.kn_settings_new(ctypes.byref(settings), error))
    capsule = data.__arrow_c_stream__()
    pointer = as_pointer(capsule, b"arrow_array_stream")
    check(kanon.kn_settings_set_table(settings, b"data", ctypes.c_void_p(pointer), error))
    for name, value in options.items():
        check(kanon.kn_settings_set(settings, name.replace("_", "-").encode(), str(value).encode(), error))
    return settings


def anonymize(data, **options):
    settings, result, stream = settings_of(data, **options), ctypes.c_void_p(), Stream()
    try:
        check(kanon.kn_anonymize(ctypes.byref(result), settings, error))
        facts = json.loads(kanon.kn_result_json(result))
        check(kanon.kn_result_table(result, ctypes.byref(stream), error))
        kanon.kn_result_free(result)
    finally:
        kanon.kn_settings_free(settings)
    return pyarrow.RecordBatchReader._import_from_c(ctypes.addressof(stream)).read_all(), facts


def refused(data, **options):
    try:
        anonymize(data, **options)
    except RuntimeError as failure:
        return str(failure)
    raise AssertionError("not refused")


def as_is(table):
    """Every column copied: what comes out is each value's spelling, rows in their order."""
    return anonymize(table, insensitive=",".join(table.column_names), k=1, order="input")[0]


moment = datetime.datetime(2024, 1, 31, 10, 30, 5, 250000)
zone = datetime.timezone(datetime.timedelta(hours=2))
columns = {
    "bool": (pyarrow.array([True, None, False]), ["true", None, "false"]),
    "int8": (pyarrow.array([-128, 0, None], pyarrow.int8()), ["-128", "0", None]),
    "uint64": (pyarrow.array([2**64 - 1, 2**64 - 2, 0], pyarrow.uint64()), [str(2**64 - 1), str(2**64 - 2), "0"]),
    "float16": (pyarrow.array([0.1, 65500, None], pyarrow.float16()), ["0.1", "65500", None]),
    "float32": (pyarrow.array([0.1, 3.4028235e38, float("nan")], pyarrow.float32()), ["0.1", "3.4028235e+38", None]),
    "float64": (pyarrow.array([0.1, 1e22, 34.0]), ["0.1", "1e+22", "34"]),
    "decimal128": (pyarrow.array([decimal.Decimal("12.50"), decimal.Decimal("-0.07"), None], pyarrow.decimal128(20, 2)),
                   ["12.50", "-0.07", None]),
    "decimal256": (pyarrow.array([decimal.Decimal("9" * 60), None, None], pyarrow.decimal256(70, 3)),
                   ["9" * 60 + ".000", None, None]),
    "date32": (pyarrow.array([moment.date(), None, datetime.date(1, 1, 1)]), ["2024-01-31", None, "0001-01-01"]),
    "date64": (pyarrow.array([moment.date(), None, None], pyarrow.date64()), ["2024-01-31", None, None]),
    "timestamp": (pyarrow.array([moment, None, None], pyarrow.timestamp("ns")), ["2024-01-31T10:30:05.25", None, None]),
    "zoned": (pyarrow.array([moment.replace(tzinfo=zone), None, None], pyarrow.timestamp("us", "Europe/Berlin")),
              ["2024-01-31T08:30:05.25Z", None, None]),
    "time32": (pyarrow.array([moment.time().replace(microsecond=0), None, None], pyarrow.time32("s")),
               ["10:30:05", None, None]),
    "time64": (pyarrow.array([moment.time(), None, None], pyarrow.time64("ns")), ["10:30:05.25", None, None]),
    "utf8": (pyarrow.array(["Zürich", "", None]), ["Zürich", None, None]),
    "large": (pyarrow.array(["Zürich", "x" * 1000, None], pyarrow.large_string()), ["Zürich", "x" * 1000, None]),
    "view": (pyarrow.array(["short", "longer than twelve bytes", None], pyarrow.string_view()),
             ["short", "longer than twelve bytes", None]),
    "binary": (pyarrow.array([b"abc", None, b"x"], pyarrow.binary()), ["abc", None, "x"]),
    "dictionary": (pyarrow.array(["red", None, "red"]).dictionary_encode(), ["red", None, "red"]),
    "numbers": (pyarrow.DictionaryArray.from_arrays(pyarrow.array([1, 0, None], pyarrow.uint8()), pyarrow.array([5, 7])),
                ["7", "5", None]),
    "null": (pyarrow.nulls(3), [None, None, None]),
}
table = pyarrow.table({name: array for name, (array, _) in columns.items()})
for shape, given, rows in (("whole", table, slice(0, 3)), ("sliced", table.slice(1, 2), slice(1, 3)),
                           ("chunked", pyarrow.concat_tables([table.slice(0, 1), table.slice(1)]), slice(0, 3))):
    released = as_is(given)
    released.validate(full=True)
    for name, (_, expected) in columns.items():
        found = released[name].to_pylist()
        assert found == expected[rows], (shape, name, found, expected[rows])
    print(f"ok - {len(columns)} types, {shape}")

assert as_is(table.slice(0, 0)).num_rows == 0
for name, nested in {"a list": pyarrow.array([[1], [2]]), "a struct": pyarrow.array([{"a": 1}, {"a": 2}]),
                     "a duration": pyarrow.array([datetime.timedelta(1), None])}.items():
    assert name in refused(pyarrow.table({"x": nested}), qi="x", k=1), name
print("ok - empty tables; nested types refused by name")

people = pyarrow.table({"age": [31, 33, 38, 52, 57, 58] * 5, "city": ["Bern", "Genf", "Bern", "Bern", "Genf", "Genf"] * 5,
                        "disease": ["flu", "asthma", "gout"] * 10})
released, facts = anonymize(people, qi="age,city", sensitive="disease", k=3)
released.validate(full=True)
sizes = {}
for row in released.select(["age", "city"]).to_pylist():
    sizes[tuple(row.values())] = sizes.get(tuple(row.values()), 0) + 1
assert min(sizes.values()) >= 3 and released.num_rows == 30
for name in released.column_names:
    chunk = released[name].chunk(0)
    assert set(chunk.dictionary.to_pylist()) == {v for v in chunk.to_pylist() if v is not None}
print("ok - k people share every class")

for library in (pandas, polars):
    frame = library.DataFrame(people.to_pydict())
    assert anonymize(frame, qi="age,city", sensitive="disease", k=3)[0].equals(released), library.__name__
    print(f"ok - {library.__name__} gives the same release")

# Bounds have types: each row says in them what its label says.
mixed = pyarrow.table({"age": [31, -33, None, 52, 57, 58] * 5, "income": [1.25, 2.5, 40.75, 60.0, 1.25, 80.5] * 5,
                       "born": [datetime.date(1950 + i % 30, 1 + i % 12, 1 + i % 28) for i in range(30)],
                       "disease": ["flu", "asthma", "gout"] * 10})
both, _ = anonymize(mixed, qi="age,income,born", sensitive="disease", k=3, cells="both", algorithm="mondrian")
both.validate(full=True)
for name, kind in {"age": pyarrow.int64(), "income": pyarrow.float64(), "born": pyarrow.date32()}.items():
    for end in ("min", "max", "mean"):
        assert both[f"{name}_{end}"].type == kind, (name, end, both[f"{name}_{end}"].type)
for row in both.to_pylist():
    for name in ("age", "income", "born"):
        label, low, high, what, mean = (row[name + end] for end in ("", "_min", "_max", "_kind", "_mean"))
        if what in ("suppressed", "missing"):
            assert label in ("*", None) and low is high is mean is None, row
        elif what == "value":
            assert low == high == mean and (str(low) == label or float(label) == low), row
        elif name == "born":
            assert label.split("..")[0] == str(low)[:7] and label.split("..")[-1] == str(high)[:7] and low <= mean <= high, row
        else:
            assert [float(end) for end in label.replace("<", "").split("..")] == [low, high] and low <= mean <= high, row
bounds, _ = anonymize(mixed, qi="age,income,born", sensitive="disease", k=3, cells="bounds", algorithm="mondrian")
kept = [name for name in both.column_names if name not in ("age", "income", "born") and not name.endswith("_mean")]
order = [(name, "ascending") for name in kept]
plain = lambda table: pyarrow.table({name: table[name].cast(pyarrow.string()) if name.endswith("_kind") or name == "disease"
                                     else table[name] for name in kept}).sort_by(order)
assert bounds.column_names == kept and plain(bounds).equals(plain(both))
print("ok - bounds and means are int64, float64 and date32")
