"""What the modules for Spark share: the settings in force, records of distinct tuples with counts, and the mapping that
is found over them."""
from __future__ import annotations

import os
import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from . import _functions, _kanon
from ._settings import Settings
from .errors import ResourceError, error_of
from .policy import Policy
from .results import Release

SPECS = set(_functions.list_("hierarchies").names())
# Measures of a sensitive column say of which.
OF_SENSITIVE = {measure["name"] for measure in _functions.list_("measures").facts["measures"]
                if any(parameter["name"] == "column" for parameter in measure["params"])}
COUNT, PEOPLE, KEY = "__kanon_count", "__kanon_people", "__kanon_key"
MOST_SENT = 128 << 20  # bytes in Arrow; a table of hashes takes some four times as much
STATE, RELEASES = "__kanon_state", "__kanon_releases"  # of a row: released or suppressed; whether the release has it


# --- What is asked for ----------------------------------------------------------------------------------------------


class Asked:
    """The settings in force and the role of every column of the data, as the library would give them."""

    def __init__(self, names: list[str], policy: Policy | str | os.PathLike[str] | None, options: dict[str, Any]) -> None:
        settings = Settings("anonymize").set_all(options)
        given = None
        if isinstance(policy, Policy):
            given = (policy.text, policy.name)
        elif policy is not None:
            settings.options.insert(0, ("policy", os.fsdecode(policy)))
        error, _, in_force = _kanon.policy(given, settings.options, False)
        if error is not None:
            raise error_of(error)
        self.values: dict[str, list[str]] = {}
        self.folder = os.path.dirname(policy.name if isinstance(policy, Policy) else os.fsdecode(policy or ""))
        for option, value in in_force:
            self.values.setdefault(option, []).append(self._found(value) if option == "hierarchy" else value)
        self.names = names
        self.role = dict.fromkeys(names, "dropped")
        if self.one("unlisted") == "insensitive":
            self.role = dict.fromkeys(names, "insensitive")
        for option in ("identifier", "insensitive", "sensitive", "qi"):
            for name in self.listed(option):
                if name in self.role:
                    self.role[name] = option
        self.person = self.one("person")
        if self.person in self.role:
            self.role[self.person] = "identifier"
        self.nulls = ["", *self.listed("null")]

    def _found(self, pair: str) -> str:
        """COL=FILE with the whole path, so that it means the same without the policy; COL=SPEC as it is."""
        column, _, spec = pair.partition("=")
        path = os.path.join(self.folder, spec)
        is_spec = spec.partition("(")[0] in SPECS or spec.startswith("table:")
        return pair if is_spec or not os.path.isfile(path) else f"{column}={os.path.abspath(path)}"

    def one(self, option: str) -> str | None:
        return self.values.get(option, [None])[-1]

    def listed(self, option: str) -> list[str]:
        return [re.sub(r"\\(,)", r"\1", name) for value in self.values.get(option, [])
                for name in re.findall(r"(?:\\,|[^,])+", value)]

    def of(self, role: str) -> list[str]:
        return [name for name in self.names if self.role[name] == role]

    def watched(self) -> list[str]:
        """Sensitive columns that a model or the measure looks at; a search needs none of the others."""
        sensitive, found = self.of("sensitive"), set()
        if (self.one("measure") or "").partition(":")[0] in OF_SENSITIVE:
            return sensitive
        for name, parameters in self.models():
            if name != "k-anonymity":  # without a column there is but one
                is_all = parameters.get("joint") == "yes" or "column" not in parameters
                found |= set(sensitive) if is_all else {parameters["column"]}
        return [name for name in sensitive if name in found]

    def models(self) -> list[tuple[str, dict[str, str]]]:
        found = [("k-anonymity", {"k": k}) for k in self.values.get("k", [])]
        for spec in self.values.get("model", []):
            name, _, text = spec.partition(":")
            pairs = (pair.partition("=") for pair in re.findall(r"(?:\\,|[^,])+", text))
            found.append((name, {key: value.replace("\\,", ",") for key, _, value in pairs}))
        return found


# --- Counting -------------------------------------------------------------------------------------------------------


def plain(column: Any, nulls: list[str]) -> Any:
    """What a cell means, so that spellings of one number are one: no finer than the library, whatever the column is."""
    F = import_module("pyspark.sql.functions")

    text = column.cast("string")
    number = F.when(text.rlike(r"^[+-]?[0-9]{1,25}([.][0-9]{1,12})?$"), text.cast("decimal(38,12)").cast("string"))
    return F.when(text.isin(nulls), F.lit(None)).otherwise(F.coalesce(number, text))


def records_of(staged: Any, asked: Asked, max_records: int, sensitive: Sequence[str], also: Sequence[str] = ()) -> Any:
    """The table of the driver: one record for each distinct tuple of the quasi-identifiers and these sensitive columns. It
    has all columns of the data, the others empty. Persons with one record are counted, the others numbered. Columns of
    `also` tell records apart, too, and come with them."""
    pa = import_module("pyarrow")
    Window = import_module("pyspark.sql").Window
    F = import_module("pyspark.sql.functions")

    cells = [*asked.of("qi"), *sensitive, *also]
    if asked.person is None:
        counted = staged.groupBy(*map(quoted, cells)).agg(F.count(F.lit(1)).alias(COUNT))
    else:
        each = staged.withColumn(PEOPLE, plain(F.col(quoted(asked.person)), asked.nulls)) \
            .groupBy(*map(quoted, cells), PEOPLE).agg(F.count(F.lit(1)).alias(COUNT))
        each = each.withColumn("__n", F.count(F.lit(1)).over(Window.partitionBy(PEOPLE)))
        alone = F.col("__n").eqNullSafe(1) & F.col(PEOPLE).isNotNull()
        named = each.where(~alone).select(*map(quoted, cells), F.coalesce(PEOPLE, F.lit("")).alias(PEOPLE), COUNT,
                                          F.lit(None).cast("long").alias("__n"))
        unnamed = each.where(alone).groupBy(*map(quoted, cells)) \
            .agg(F.lit(None).cast("string").alias(PEOPLE), F.sum(COUNT).alias(COUNT), F.count(F.lit(1)).alias("__n"))
        counted = named.unionByName(unnamed.select(*map(quoted, cells), PEOPLE, COUNT, "__n"))
    found = counted.limit(max_records + 1).toArrow()
    if found.num_rows > max_records:
        raise ResourceError(f"there are more than {max_records:,} distinct tuples, too many for the driver; give it memory "
                            "and a larger max_records, or use fewer or coarser quasi-identifiers", option="max_records")
    columns = {}
    for name in [*asked.names, *also]:
        columns[name] = found[name] if name in cells else pa.nulls(found.num_rows, pa.string())
    if asked.person is not None:
        numbers = found[PEOPLE].combine_chunks().dictionary_encode().indices  # nulls stay nulls
        columns[asked.person] = numbers
        columns[PEOPLE] = found["__n"]
    columns[COUNT] = found[COUNT]
    table = pa.table(columns)
    return table.sort_by([(name, "ascending") for name in [*cells, COUNT]]) if cells else table


def sent_to_all(frame: Any, table: Any) -> Any:
    """A frame that is about to be joined, made of a table of the driver: every executor gets it, and the driver builds it,
    where it is small; otherwise how to join is Spark's to choose."""
    F = import_module("pyspark.sql.functions")

    return F.broadcast(frame) if table.nbytes <= MOST_SENT else frame


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def same_cells(frame: Any, names: Sequence[str], found: Any) -> Any:
    """The condition that rows of a frame are joined by to tuples, of which the columns are called 0, 1, ..."""
    condition = import_module("pyspark.sql.functions").lit(True)
    for i, name in enumerate(names):
        condition &= frame[quoted(name)].eqNullSafe(found[f"{i}"])
    return condition


# --- The mapping ----------------------------------------------------------------------------------------------------


def mapping_of(records: Any, release: Release, qis: list[str]) -> Any:
    """(tuple, what it becomes, its rows), one row for each tuple that is released."""
    pa = import_module("pyarrow")

    labels = release.to_arrow()
    kept = records.take(pa.array(release.records, pa.uint32()))
    columns = {f"{i}": kept[name] for i, name in enumerate(qis)}
    columns |= {f"r{i}": labels[name].cast(pa.string()) for i, name in enumerate(qis)}
    keys = list(columns)
    return pa.table(columns | {COUNT: kept[COUNT]}).group_by(keys, use_threads=False).aggregate([(COUNT, "sum")]) \
        .rename_columns({f"{COUNT}_sum": COUNT}).select([*keys, COUNT])
