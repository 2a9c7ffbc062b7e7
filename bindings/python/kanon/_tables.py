"""Tables from anywhere: whatever gives an Arrow stream is taken as it is, a path is read by the library, and columns in
Python are spelled the way ``kanon_arrow.h`` says, so that one value means the same wherever it comes from.
"""
from __future__ import annotations

import array
import datetime
import decimal
import math
import os
from collections.abc import Mapping, Set
from importlib import import_module
from typing import Any

from . import _kanon

# What the buffer protocol calls them, and Arrow, by size.
_SIGNED = {1: "c", 2: "s", 4: "i", 8: "l"}
_UNSIGNED = {1: "C", 2: "S", 4: "I", 8: "L"}
_FLOATS = {2: "e", 4: "f", 8: "g"}
_UNITS = {"s": "s", "ms": "m", "us": "u", "ns": "n"}


def path_of(value: Any) -> str | None:
    """The path, if it is one. A name that stands for something in memory is made one of a file."""
    if not isinstance(value, (str, os.PathLike)):
        return None
    path = os.fsdecode(value)
    return f"./{path}" if path.startswith(("table:", "text:")) else path


def is_table(value: Any) -> bool:
    """Whether it is a table in memory."""
    return hasattr(value, "__arrow_c_stream__") or isinstance(value, Mapping) or _is_pandas(value)


def stream_of(value: Any) -> Any:
    """The table as a capsule named arrow_array_stream."""
    if _is_pandas(value):
        return _pandas_stream(value)
    if hasattr(value, "__arrow_c_stream__"):
        return value.__arrow_c_stream__()
    if isinstance(value, Mapping):
        return _stream([_column(str(name), values) for name, values in value.items()])
    raise TypeError(
        f"{type(value).__name__} is no table: give a path, a dict of columns, or anything with __arrow_c_stream__ "
        "(pandas, polars, pyarrow, DuckDB, ...)")


def _stream(columns: list[tuple[str, str, Any]]) -> Any:
    for name, form, values in columns:
        if "\0" in name:
            raise ValueError(f"column {name!r}: no name has a NUL; rename it")
    try:
        return _kanon.columns(columns)
    except UnicodeEncodeError:  # half of a character: say where
        for name, form, values in columns:
            for row, text in enumerate(values if form == "U" else [], 1):
                if text is not None and any("\ud800" <= character < "\ue000" for character in text):
                    raise ValueError(f"column {name!r}, row {row}: the text is not valid Unicode") from None
        raise


# --- pandas ---------------------------------------------------------------------------------------------------------


def _is_pandas(value: Any) -> bool:
    return _is_of_pandas(value) and hasattr(value, "columns")


def _is_of_pandas(value: Any) -> bool:
    """Of pandas, or of a class that somebody made of one of its own."""
    return any(base.__module__.partition(".")[0] == "pandas" for base in type(value).__mro__)


def _pandas_stream(frame: Any) -> Any:
    # A named index is a column like the others; an unnamed one numbers the rows of somebody's program.
    index = frame.index
    unnamed = [level for level, name in enumerate(index.names) if name is None]
    if len(unnamed) == index.nlevels:
        frame = frame.reset_index(drop=True)
    else:
        frame = frame.reset_index(level=unnamed, drop=True).reset_index() if unnamed else frame.reset_index()
    try:
        return frame.__arrow_c_stream__()
    # An old pandas, no pyarrow, or types that it mixes or does not have.
    except (AttributeError, ImportError, TypeError, ValueError, NotImplementedError, OverflowError):
        return _stream([_pandas_column(str(name), frame.iloc[:, i]) for i, name in enumerate(frame.columns)])


def _pandas_column(name: str, series: Any) -> tuple[str, str, Any]:
    zone = getattr(series.dtype, "tz", None)
    if zone is not None:
        name, form, values = _column(name, series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())
        return name, form + "UTC", values
    if getattr(series.dtype, "kind", "O") in "iufM" and type(series.dtype).__module__.startswith("numpy"):
        return _column(name, series.to_numpy())
    missing, values = series.isna(), series.astype(object).tolist()
    if missing.any():
        values = [None if gone else value for value, gone in zip(values, missing.tolist())]
    return _column(name, values)


# --- Columns in Python ----------------------------------------------------------------------------------------------


def _column(name: str, values: Any) -> tuple[str, str, Any]:
    """(name, Arrow's format, values), as _kanon.columns takes it."""
    if isinstance(values, (str, bytes, bytearray, Mapping, Set)):
        raise TypeError(f"column '{name}': a {type(values).__name__} is no column; give a list of its cells")
    if _is_of_pandas(values):
        return _pandas_column(name, import_module("pandas").Series(values))
    if hasattr(values, "filled"):  # an array of NumPy's with a mask: what is masked is missing, whatever stands there
        return _list_column(name, [None if type(item).__name__ == "MaskedConstant" else item for item in values])
    kind = getattr(getattr(values, "dtype", None), "kind", None)
    if kind == "m":
        raise TypeError(f"column '{name}': a duration is no cell; make text or a number of it")
    if kind == "M":
        return _moments_column(name, values)
    form = _buffer_format(values)
    if form is not None:
        return name, form, values
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method):
            values = getattr(values, method)()
            break
    return _list_column(name, list(values))


def _moments_column(name: str, values: Any) -> tuple[str, str, Any]:
    unit = _unit(values)
    kept = values.astype(f"datetime64[{unit if unit in _UNITS else 'ms'}]")
    if not (kept.astype(values.dtype).view("i8") == values.view("i8")).all():
        raise ValueError(f"column '{name}': moments of {values.dtype} that no Arrow timestamp holds; cast them")
    return name, f"?ts{_UNITS[unit]}:" if unit in _UNITS else "?tdm", kept.view("i8").copy()


def _unit(moments: Any) -> str:
    """Of NumPy's moments, without the number of a step: "ns" of datetime64[10ns]."""
    return str(moments.dtype).partition("[")[2].rstrip("]").lstrip("0123456789")


def _buffer_format(values: Any) -> str | None:
    try:
        view = memoryview(values)
    except (TypeError, ValueError):
        return None
    letter = view.format.lstrip("@=<")
    if isinstance(values, (bytes, bytearray)) or view.ndim != 1 or not view.c_contiguous or len(letter) != 1:
        return None
    if letter in "bhilqn":
        return _SIGNED[view.itemsize]
    if letter in "BHILQN":
        return _UNSIGNED[view.itemsize]
    return _FLOATS[view.itemsize] if letter in "efd" else None


def _list_column(name: str, values: list[Any]) -> tuple[str, str, Any]:
    kinds = set(map(type, values))
    if kinds <= {str, type(None)}:
        return name, "U", values
    if kinds == {int} and all(-2**63 <= value < 2**63 for value in values):
        return name, "l", array.array("q", values)
    if float in kinds and kinds <= {float, type(None)}:
        return name, "g", array.array("d", [math.nan if value is None else value for value in values])
    return name, "U", [_spelling(name, row, value) for row, value in enumerate(values, 1)]


def _spelling(name: str, row: int, value: Any) -> str | None:
    """The canonical spelling of one cell, None for a missing one."""
    if value is None or isinstance(value, str):
        return value
    try:
        return _spelled(value)
    except (OverflowError, ValueError) as problem:
        raise ValueError(f"column '{name}', row {row}: {problem}") from None
    except TypeError as problem:
        raise TypeError(f"column '{name}', row {row}: {problem}") from None


def _spelled(value: Any) -> str | None:
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if kind == "M":
        return _numpy_moment_spelling(value)
    if kind != "m" and hasattr(value, "item") and not isinstance(value, (datetime.date, datetime.time)):
        value = value.item()  # a scalar of NumPy
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return None if math.isnan(value) else _float_spelling(value)
    if isinstance(value, decimal.Decimal):
        return None if value.is_nan() else f"{value:f}" if value.is_finite() else _float_spelling(float(value))
    if isinstance(value, datetime.datetime):
        return _moment_spelling(value)
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, datetime.time) and value.tzinfo is None:  # Arrow has no zones of times either
        return _strip_fraction(value.isoformat())
    if isinstance(value, bytes):
        return value.decode()
    if type(value).__name__ == "NAType" and _is_of_pandas(value):
        return None
    raise TypeError(f"a {type(value).__name__} is no cell; make text or a number of it")


def _float_spelling(value: float) -> str:
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    sign, digits, exponent = decimal.Decimal(repr(value)).as_tuple()
    text = "".join(map(str, digits)).rstrip("0") or "0"
    point = len(digits) + int(exponent)  # where the point stands, counted from the first digit
    head = "-" if sign else ""
    if value == 0:
        return head + "0"
    if not 1e-5 <= abs(value) < 1e16:
        return f"{head}{text[0]}{'.' + text[1:] if len(text) > 1 else ''}e{point - 1:+03d}"
    if point <= 0:
        return head + "0." + "0" * -point + text
    return head + (text.ljust(point, "0") if len(text) <= point else f"{text[:point]}.{text[point:]}")


def _strip_fraction(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _moment_spelling(value: datetime.datetime) -> str | None:
    if value != value:  # NaT
        return None
    zone = value.utcoffset() is not None
    if zone:
        value = value.astimezone(datetime.timezone.utc)
    return _strip_fraction(value.replace(tzinfo=None).isoformat()) + ("Z" if zone else "")


def _numpy_moment_spelling(value: Any) -> str | None:
    if value != value:  # NaT
        return None
    if _unit(value) in _UNITS:
        text = _strip_fraction(str(value))
    else:
        text = str(value.astype("datetime64[s]")).removesuffix("T00:00:00")
    year, _, rest = text.lstrip("-").partition("-")
    sign = "-" if text[0] == "-" else "+" if len(year) > 4 else ""
    return f"{sign}{year:0>4}-{rest}"
