"""What commands return. Every key of the program's JSON is an attribute, at every depth; ``facts`` is all of it."""
from __future__ import annotations

import csv
import datetime
import io
import json
import os
import re
import secrets
import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

from . import _kanon
from .errors import KanonWarning, in_python
from .policy import Policy


class Record(Mapping[str, Any]):
    """An object of the JSON: its keys are attributes, with ``_`` for ``-``."""

    __slots__ = ("_facts",)

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self._facts = facts

    def __getattribute__(self, name: str) -> Any:  # a key named like a method of mappings ("values") is the key
        if not name.startswith("_"):
            facts = object.__getattribute__(self, "_facts")
            for key in (name, name.replace("_", "-")):
                if key in facts:
                    return _wrapped(facts[key])
        return object.__getattribute__(self, name)

    def __getitem__(self, key: str) -> Any:
        return _wrapped(self._facts[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(key.replace("-", "_") for key in self._facts)]

    def __repr__(self) -> str:
        return f"Record({dict(self._facts)!r})"


def _wrapped(value: Any) -> Any:
    if isinstance(value, dict):
        return Record(value)
    return [_wrapped(item) for item in value] if isinstance(value, list) else value


def escaped(text: str) -> str:
    """Text inside HTML."""
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(character, entity)
    return text


class Picture:
    """An SVG picture; a notebook shows it."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def __repr__(self) -> str:
        title = re.search("<title[^>]*>(.*?)</title>", self.svg)
        return f"<Picture: {title.group(1) if title else 'SVG'}>"


def _pictures(report: str | None) -> list[Picture]:
    """The pictures of a report, each with the page's style, so that it stands alone."""
    if report is None:
        return []
    style = re.search("<style>(.*?)</style>", report, re.S)
    inside = f"<style>{style.group(1)}</style>" if style else ""
    opening = '<svg xmlns="http://www.w3.org/2000/svg" '
    return [Picture(opening + re.sub(">", ">" + inside, svg, count=1) + "</svg>")
            for svg in re.findall("<svg (.*?)</svg>", report, re.S)]


def _property(get: Callable[[Any], Any], kind: str, about: str) -> property:
    """`kind` is its type, for the stubs."""
    def value(self: Any) -> Any:
        return get(self)

    value.__doc__ = about
    value.__annotations__["return"] = kind
    return property(value)


def _key(name: str, kind: str, about: str) -> property:
    """A key of the JSON."""
    return _property(lambda result: _wrapped(result.facts[name]), kind, about)


def _kept(option: str, kind: str, about: str, read: Callable[[str], Any] = str) -> property:
    """What an option that was set to True would have written; None where it was not."""
    def get(result: Any) -> Any:
        text = result._raw.kept(option)
        return None if text is None else read(text)

    return _property(get, kind, about)


class Result:
    """What a command found. ``facts`` is its JSON, ``text`` the summary for a person, ``warnings`` what one should
    know, ``report`` the HTML page where one was made; every key of ``facts`` is an attribute."""

    def __init__(self, raw: _kanon.Result) -> None:
        self._raw = raw
        self.facts: dict[str, Any] = json.loads(raw.json())
        self.text: str = raw.text()
        self.warnings: list[str] = in_python(raw.warnings()).splitlines()
        self.report: str | None = raw.kept("report")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or "facts" not in self.__dict__:
            raise AttributeError(name)
        return getattr(Record(self.facts), name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(key.replace("-", "_") for key in self.facts)]

    def __repr__(self) -> str:
        return self.text.rstrip("\n") or f"<{type(self).__name__}>"

    def _repr_html_(self) -> str:
        """The report where there is one, otherwise the summary."""
        if self.report is not None:
            return (f'<iframe srcdoc="{escaped(self.report)}" sandbox="" title="kanon" '
                    'style="width:100%;height:40rem;border:1px solid #ccc"></iframe>')
        said = "".join(f"<p><b>Warning:</b> {escaped(warning)}</p>" for warning in self.warnings)
        return f"{said}<pre>{escaped(self.text)}</pre>"

    def __getstate__(self) -> Any:
        raise TypeError(f"a {type(self).__name__} cannot be pickled; keep its facts, or its table")

    def _say_warnings(self) -> None:
        for warning in self.warnings:
            warnings.warn(warning, KanonWarning, stacklevel=5)


class Release(Result):
    """A verified release. The table is an Arrow stream: whatever takes one (polars, pyarrow, DuckDB, ...) takes the
    release. Its dictionaries hold released values only."""

    version = _key("version", "str", "The version that made it.")
    input = _key("input", "Record", "Rows, persons and columns of the data.")
    released = _key("released", "Record", "Rows and persons of the release.")
    algorithm = _key("algorithm", "str", "The search that made it.")
    measure = _key("measure", "str", "What was minimized.")
    seed = _key("seed", "int", "Of everything random.")
    stopped = _key("stopped", "str", "done, budget, time or interrupt.")
    models = _key("models", "list[Record]", "Every guarantee, whether it holds, and its worst class.")
    loss = _key("loss", "Record", "What was lost, by every measure.")
    bound = _key("bound", "Record | None", "How little such a release can lose, or None.")
    any_bound = _key("any_bound", "Record | None", "How little any release can lose, or None.")
    guarantee = _key("guarantee", "Record | None", "The theorem behind the algorithm, or None.")
    optimal = _key("optimal", "bool", "True only where it is proven.")
    classes = _key("classes", "Record", "How many, and how large.")
    suppressed = _key("suppressed", "Record", "Rows and cells.")
    columns = _key("columns", "list[Record]", "Name, role and loss of each column.")
    seconds = _key("seconds", "Record", "Time of every stage.")
    peak_bytes = _key("peak_bytes", "int", "The most memory that the run held.")
    nodes = _key("nodes", "int", "How many candidates the search looked at.")

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table, for everything that speaks Arrow. No other schema than the release's own is given."""
        return self._raw.stream()

    schema = _kept("schema", "dict[str, Any] | None",
                   "Columns, types and what every label means, where it was asked for with ``schema=True``.", json.loads)
    codebook = _kept("codebook", "str | None",
                     "A page for the recipient: what columns and labels mean, where it was asked for with ``codebook=True``.")
    certificate = _kept("certificate", "str | None", "What proves the bound, where it was asked for with "
                        "``certificate=True``. Private: never release it.")

    @property
    def records(self) -> memoryview | None:
        """Of a table with ``count``: which record of the data, from 0, each row of this table was. Records that are
        not here have to be left out, with all the rows that they stand for."""
        kept = self._raw.records()
        return None if kept is None else memoryview(kept).cast("I")

    def to_arrow(self) -> Any:
        """The table of the release as a ``pyarrow.Table``."""
        return import_module("pyarrow").table(self)

    def to_polars(self) -> Any:
        """The table of the release as a ``polars.DataFrame``; columns are categorical, bounds typed."""
        return import_module("polars").DataFrame(self)

    def to_pandas(self) -> Any:
        """The table of the release as a ``pandas.DataFrame``; columns are categorical, bounds typed. Needs no pyarrow."""
        numpy, pandas = import_module("numpy"), import_module("pandas")

        def column(kind: Any, values: Any) -> Any:
            if isinstance(kind, str):
                dtype = {"l": "Int64", "g": "Float64"}.get(kind)
                return pandas.array(values, dtype=dtype) if dtype else numpy.array(values, dtype="datetime64[D]")
            return pandas.Categorical.from_codes(numpy.frombuffer(values, dtype="int32"), kind)

        return pandas.DataFrame({name: column(kind, values) for name, kind, values in self._raw.columns()})

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns of the release as lists: text, and bounds as numbers and dates; None is a missing cell."""
        def column(kind: Any, values: Any) -> list[Any]:
            if kind == "tdD":
                first = datetime.date(1970, 1, 1)
                return [None if day is None else first + datetime.timedelta(day) for day in values]
            if isinstance(kind, str):
                return list(values)
            return [None if code < 0 else kind[code] for code in memoryview(values).cast("i")]

        return {name: column(kind, values) for name, kind, values in self._raw.columns()}

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """The CSV file that the program writes, byte for byte: as text, or, with ``path``, as a file that appears whole
        or not at all."""
        if path is None:
            pieces: list[bytes] = []
            self._raw.csv(pieces.append)
            return b"".join(pieces).decode()
        target = os.path.realpath(path)
        hidden = os.path.join(os.path.dirname(target), f".kanon-{secrets.token_hex(4)}.tmp")
        with open(os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            try:
                self._raw.csv(file.write)
                file.flush()
                os.fsync(file.fileno())
                if os.path.exists(target):  # nobody gets at the new file who could not get at the old one
                    os.fchmod(file.fileno(), os.fstat(file.fileno()).st_mode & os.stat(target).st_mode)
                os.replace(hidden, target)
            except BaseException:
                os.unlink(hidden)
                raise
        return None


class Verdict(Result):
    """What a verification found. It is true where everything holds."""

    holds = _key("holds", "bool | None", "True, False, or None where something could not be checked.")
    rows = _key("rows", "int", "Of the release.")
    classes = _key("classes", "int", "How many.")
    suppressed = _key("suppressed", "int", "Rows that are * everywhere.")
    smallest_class = _key("smallest_class", "int", "Its size.")
    checks = _key("checks", "list[Record]", "Name, state, worst and detail of each check.")

    def __bool__(self) -> bool:
        return self.facts["holds"] is True


class Losses(Result):
    """What a release lost, by every measure."""

    input = _key("input", "Record", "Rows and persons of the data.")
    classes = _key("classes", "int", "How many.")
    loss = _key("loss", "Record", "By every measure.")


class Risks(Result):
    """Who could be found, and how."""

    persons = _key("persons", "int", "In the table.")
    classes = _key("classes", "int", "How many.")
    unique = _key("unique", "int", "Persons alone in their class.")
    prosecutor = _key("prosecutor", "Record", "Risk where the attacker knows that somebody is in the table.")
    journalist = _key("journalist", "Record", "Risk where he knows only that somebody is in the population.")
    marketer = _key("marketer", "float", "Share of persons that he links rightly.")


class Table(Result):
    """A result with a table of figures: ``rows`` is a list of dicts, ``csv`` the file that the program writes."""

    @property
    def csv(self) -> str:
        """The table as the program writes it."""
        return self._raw.kept("output") or ""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The table, numbers as numbers."""
        first = self.csv.partition("\n")[0]
        delimiter = ";" if ";" in first and "," not in first else ","
        return [{name: _number(cell) for name, cell in row.items()}
                for row in csv.DictReader(io.StringIO(self.csv), delimiter=delimiter)]

    def plot(self) -> Picture:
        """The picture of it."""
        pictures = _pictures(self.report)
        if not pictures:
            raise ValueError("there is no picture: the table is too large for one, or has nothing to show")
        return pictures[0]


class Lattice(Table):
    """Every full-domain generalization with what it costs."""

    measure = _key("measure", "str", "What was minimized.")
    nodes = _key("nodes", "int", "How many there are.")
    feasible = _key("feasible", "int", "How many satisfy the models.")
    minimal = _key("minimal", "list[list[int]]", "Levels of those below which none does.")
    best = _key("best", "Record | None", "Levels, loss and suppressed rows of the best.")


class Comparison(Table):
    """Algorithms and k on one table: loss against risk."""

    measure = _key("measure", "str", "What was minimized.")
    runs = _key("runs", "list[Record]", "Algorithm, k, loss and risk of each; ``frontier`` where none is better in both.")


class Profile(Result):
    """Types, suggested roles, and whom sets of columns single out."""

    rows = _key("rows", "int", "Of the table.")
    columns = _key("columns", "list[Record]", "Name, type, role, and why; of a sensitive one the proposed model.")
    recipient = _key("recipient", "str", "Who gets the release: public, contract or internal.")
    k = _key("k", "int", "What the policy asks for, by the recipient.")
    column_sets = _key("column_sets", "list[Record]", "Columns that together single persons out.")

    @property
    def policy(self) -> Policy:
        """A policy to start from; read it before you use it."""
        return Policy(self._raw.kept("output") or "")


class Check(Result):
    """A policy against a table: every problem at once. It is true where the policy fits."""

    fits = _key("fits", "bool", "Whether the policy fits the table.")
    problems = _key("problems", "list[str]", "All of them, as sentences.")
    details = _key("details", "list[Record]", "What each is about: kind, option, column, perhaps, cells, lines and file.")
    seconds = _key("seconds", "float | None", "What a run will take, roughly.")
    bytes = _key("bytes", "float | None", "The memory it will take, roughly.")

    def __bool__(self) -> bool:
        return self.facts["fits"] is True


class Hierarchy(Result):
    """A hierarchy, made, checked, drawn or rectified. One that was made is a table: give it to ``hierarchy=``."""

    @property
    def rows(self) -> list[list[str]]:
        """Its lines: the value, what it becomes, and so on. Of one that is ``made_from_data`` the line that says so is not
        among them, and a table of these rows would count as public: give the object itself to ``hierarchy=``."""
        return list(csv.reader(io.StringIO(self._marked()[1]), delimiter=";" if ";" in self.text else ","))

    @property
    def made_from_data(self) -> bool:
        """Whether its labels name values of the data, and are to be narrowed to those that are released."""
        return bool(self._marked()[0])

    def _marked(self) -> tuple[str, str]:
        """The line before the others that says that it was made from the data, or "", and the others."""
        mark, _, lines = self.text.partition("\n")
        return (mark, lines) if mark.startswith("# ") else ("", self.text)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Its lines as a table of text; one that was made from the data says so in the first row."""
        mark, rows = self._marked()[0], self.rows
        if mark and rows:
            rows.insert(0, [mark] + [""] * (len(rows[0]) - 1))
        columns = zip(*rows)
        return _kanon.columns([(f"level{i}", "U", list(column)) for i, column in enumerate(columns)])


class Listing(Result):
    """What there is to choose from: a mapping from names to entries."""

    def entries(self) -> list[Record]:
        """Name, summary, citation and parameters of each."""
        return [Record(entry) for kind in self.facts.values() for entry in kind]

    def names(self) -> list[str]:
        """Their names."""
        return [entry["name"] for entry in self.entries()]


def _number(cell: str) -> Any:
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            pass
    return cell
