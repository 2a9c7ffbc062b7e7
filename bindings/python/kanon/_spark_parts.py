"""Local recoding on Spark: the table is cut into parts, each is anonymized by itself, on some executor.

    domains   every value of every quasi-identifier and sensitive column with its rows                    to the driver
    cut       Mondrian over distinct tuples with counts: parts that hold k and every model by themselves  the library
    counted   a part that is one tuple, however long: its rows stay as they are; no worker sees it        the library
    search    the library on each part, sorted, with the domains of the whole table (--domains)           applyInArrow

So labels, prices and distributions mean the same in every part, and a part's answer depends on its rows alone: not on
partitions, executors or retries. Parts are cut where the table has few distinct tuples as much as where it has many:
tuples that do not fit the driver are first rolled up, see rolled_up. How many rows each part may suppress is dealt out
before; whether suppressed rows stay is decided once, for all parts, by spark.py."""
from __future__ import annotations

import json
import os
import pickle
import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from . import _functions, _kanon
from ._run import run
from ._settings import Settings
from ._spark_records import COUNT, KEY, PEOPLE, RELEASES, STATE, Asked, mapping_of, quoted, records_of, same_cells, sent_to_all
from .errors import KanonError, KanonWarning, NotMet, ResourceError, UsageError
from .results import Release, Verdict

LOCAL = ("cluster", "mondrian", "sequential", "agglomerative", "k-member", "hilbert", "forest")
# Means over cells, which add up over parts by their rows.
ADDITIVE = ("lm", "tree", "hybrid", "entropy", "monotone-entropy", "non-uniform-entropy", "mi")
MOST_ROLLS = 24
LEAST_RECORDS = 1_000_000  # values, and pairs of value and label: the driver has memory for so many, whatever is asked
RELEASED, SUPPRESSED = 0, 1
TIE = "__kanon_tie"
# What the driver decides, or what is no business of a part.
NOT_FOR_PARTS = {"policy", "output", "report", "json", "schema", "codebook", "order", "threads", "max-suppressed", "effort",
                 "recoding", "count", "person-count", "domains", "allow-copy"}


def is_local(asked: Asked) -> bool:
    name = (asked.one("algorithm") or "auto").partition(":")[0]
    is_auto = name == "auto" and asked.one("recoding") != "global" and "level" not in asked.values
    return (name in LOCAL or is_auto) and bool(asked.of("qi"))


def refuse_local(asked: Asked, options: dict[str, Any]) -> None:
    if asked.one("time-limit") is not None:
        raise UsageError("time_limit would make the release depend on how busy executors are; say effort instead, or leave "
                         "it out", option="time_limit")
    if Settings("anonymize").set_all(options).tables:
        raise UsageError("on Spark a hierarchy is a file on the driver or a SPEC, no table in memory", option="hierarchy")


# --- Values -------------------------------------------------------------------------------------------------------------


def _spelled(column: Any) -> Any:
    """Values as the library spells them, missing ones as nulls."""
    pa = import_module("pyarrow")

    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type) or len(column) == 0:
        return column.cast(pa.string())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KanonWarning)
        release = _functions.anonymize(pa.table({"value": column}), insensitive="value", k=1, order="input", report=False)
    return release.to_arrow()["value"].cast(pa.string()).combine_chunks()


@dataclass
class Domains:
    """Every value with its rows, as --domains takes it; and by column as Spark has them."""

    table: Any
    values: dict[str, Any]  # column: table of value, rows
    n_rows: int


def domains_of(staged: Any, asked: Asked, max_values: int, sensitive: Sequence[str], records: Any = None) -> Domains:
    """From the records of the whole table where the driver has them, otherwise counted by Spark, column by column. Sensitive
    columns that are not named are empty to whoever searches, and so they are here."""
    pa = import_module("pyarrow")
    F = import_module("pyspark.sql.functions")

    values, parts, n_rows = {}, [], 0
    for name in [*asked.of("qi"), *sensitive]:
        if records is not None:
            found = pa.table({"value": records[name], COUNT: records[COUNT]}).group_by("value", use_threads=False) \
                .aggregate([(COUNT, "sum")]).rename_columns({f"{COUNT}_sum": "rows"}).select(["value", "rows"])
        else:
            found = staged.groupBy(F.col(quoted(name)).alias("value")).agg(F.count(F.lit(1)).alias("rows")) \
                .limit(max_values + 1).toArrow()
        if found.num_rows > max_values:
            raise ResourceError(f"column '{name}' has more than {max_values:,} different values, too many for the driver; give "
                                "it memory and a larger max_records, or make the column coarser", option="max_records")
        values[name] = found.sort_by([("value", "ascending")])
        texts = _spelled(values[name]["value"])
        n_rows = sum(values[name]["rows"].to_pylist())
        parts.append(pa.table({"column": pa.array([name] * found.num_rows, pa.string()), "value": texts,
                               "rows": values[name]["rows"].cast(pa.int64())}))
    empty = [name for name in asked.of("sensitive") if name not in sensitive]
    parts.append(pa.table({"column": pa.array(empty, pa.string()), "value": pa.nulls(len(empty), pa.string()),
                           "rows": pa.array([n_rows] * len(empty), pa.int64())}))
    table = pa.concat_tables(parts)
    # Two spellings that Spark tells apart may be one to the library: a float's -0.0 and 0.0 are not, NaN and null are.
    table = table.group_by(["column", "value"], use_threads=False).aggregate([("rows", "sum")]) \
        .rename_columns({"rows_sum": "rows"}).select(["column", "value", "rows"])
    return Domains(table, values, n_rows)


# --- Rolling up -----------------------------------------------------------------------------------------------------------


def _ordered(values: Any) -> list[int]:
    """Places of the values in an order in which neighbours are alike: numbers by value, the rest by text."""
    texts = values["value"].to_pylist()

    def by_number(place: int) -> tuple[bool, Any]:
        return texts[place] is None, 0.0 if texts[place] is None else float(texts[place])

    def by_text(place: int) -> tuple[bool, str]:
        return texts[place] is None, "" if texts[place] is None else str(texts[place])

    try:
        return sorted(range(len(texts)), key=by_number)
    except (TypeError, ValueError):
        return sorted(range(len(texts)), key=by_text)


def _nodes_within(texts: list[Any], paths: dict[str | None, list[str]], most: int) -> tuple[list[Any], int]:
    """The node of each value on the lowest level that has no more than so many, and how many there are; None has none."""
    nodes: list[Any] = []
    for level in range(len(next(iter(paths.values())))):
        nodes = [tuple(paths[text][level:]) if text in paths else text for text in texts]
        if len(set(nodes) - {None}) <= most:
            break
    return nodes, len(set(nodes) - {None})


def _buckets(values: Any, n_buckets: int, paths: dict[str | None, list[str]] | None = None) -> Any:
    """(value, the one that stands for it): so many runs of neighbours with about equally many rows, a missing one alone. In
    a hierarchy neighbours are the leaves of a node, and as far as there are runs enough none reaches beyond its node: a part
    that were cut there would have to be released with the node above."""
    pa = import_module("pyarrow")

    order, rows, nodes, n_nodes = _ordered(values), values["rows"].to_pylist(), [None] * values.num_rows, 0
    if paths:
        texts, leaf = _spelled(values["value"]).to_pylist(), {text: i for i, text in enumerate(paths)}
        order.sort(key=lambda place: leaf.get(texts[place], len(leaf)))
        nodes, n_nodes = _nodes_within(texts, paths, n_buckets // 2)
    present = [place for place in order if values["value"][place].as_py() is not None]
    share = max(1.0, sum(rows[place] for place in present) / max(1, n_buckets - n_nodes))
    stands, before = list(range(values.num_rows)), 0
    first, bucket = -1, (None, -1)
    for place in present:
        if bucket != (nodes[place], int(before / share)):
            first, bucket = place, (nodes[place], int(before / share))
        stands[place] = first
        before += rows[place]
    return pa.table({"was": values["value"], "stands": values["value"].take(pa.array(stands, pa.int64()))})


def _replaced(staged: Any, tables: dict[str, Any], folder: Any, label: str) -> Any:
    """The rows with values of some columns replaced by those that stand for them."""
    frame = staged
    for i, (name, table) in enumerate(tables.items()):
        path = folder.inside(f"{label}_{i}")
        staged.sparkSession.createDataFrame(table).write.parquet(path)
        found = staged.sparkSession.read.parquet(path)
        joined = frame.join(sent_to_all(found, table), frame[quoted(name)].eqNullSafe(found["was"]))
        frame = joined.select(*(found["stands"].alias(other) if other == name else frame[quoted(other)]
                                for other in frame.columns))
    return frame


def fits(frame: Any, asked: Asked, max_records: int, sensitive: Sequence[str]) -> bool:
    """Whether its distinct tuples are few enough, as far as an estimate within 2 % can tell."""
    F = import_module("pyspark.sql.functions")

    cells = [*asked.of("qi"), *sensitive]
    return int(frame.select(F.approx_count_distinct(F.struct(*map(quoted, cells)), 0.02)).first()[0]) * 1.1 <= max_records


def _too_many(max_records: int) -> ResourceError:
    return ResourceError(f"there are more than {max_records:,} distinct tuples, too many for the driver, even rolled up; give it "
                         "memory and a larger max_records, or use fewer or coarser quasi-identifiers", option="max_records")


def rolled_up(staged: Any, asked: Asked, domains: Domains, max_records: int, folder: Any) -> tuple[Any, dict[str, int]]:
    """The staged rows with columns rolled up to runs of values until their distinct tuples fit the driver, and to how many
    runs."""
    paths, watched = _paths(asked, domains), asked.watched()
    runs = {name: domains.values[name].num_rows for name in asked.of("qi")}
    for roll in range(MOST_ROLLS):
        widest = max(runs.values())
        if widest <= 1:
            break
        runs = {name: max(1, n // 2) if n > widest / 2 else n for name, n in runs.items()}
        fewer = {name: n for name, n in runs.items() if n < domains.values[name].num_rows}
        tables = {name: _buckets(domains.values[name], n, paths.get(name)) for name, n in fewer.items()}
        frame = _replaced(staged, tables, folder, f"runs{roll}")
        if fits(frame, asked, max_records, watched):
            return frame, fewer
    raise _too_many(max_records)


# --- Levels -------------------------------------------------------------------------------------------------------------


def _paths(asked: Asked, domains: Domains) -> dict[str, dict[str | None, list[str]]]:
    """Of columns whose labels do not depend on which values are released: from a value to its labels, level by level."""
    pa = import_module("pyarrow")

    found: dict[str, dict[str | None, list[str]]] = {}
    for pair in asked.values.get("hierarchy", []):
        name, _, spec = pair.partition("=")
        if name not in asked.of("qi") or any(level.startswith(f"{name}=") for level in asked.values.get("level", [])):
            continue
        texts = [text for text in _spelled(domains.values[name]["value"]).to_pylist() if text is not None]
        is_fixed = spec.partition("(")[0] in ("intervals", "date", "suppress") or os.path.isabs(spec)
        if is_fixed or (spec.startswith("mask") and len({len(text) for text in texts}) == 1):
            tree = _functions.hierarchy_("make", pa.table({name: pa.array(texts, pa.string())}), hierarchy={name: spec})
            found[name] = {row[0]: row for row in tree.rows}
    return found


def _nodes(values: Any, paths: dict[str | None, list[str]], level: int) -> Any:
    """(value, the first one below the same node of a level); values that the hierarchy spells otherwise stay."""
    pa = import_module("pyarrow")

    first: dict[tuple[str, ...], int] = {}
    stands = []
    for place, text in enumerate(_spelled(values["value"]).to_pylist()):
        path = paths.get(text)
        stands.append(place if path is None else first.setdefault(tuple(path[level:]), place))
    return pa.table({"was": values["value"], "stands": values["value"].take(pa.array(stands, pa.int64()))})


def rolled_to_levels(staged: Any, asked: Asked, domains: Domains, max_records: int, folder: Any,
                     sensitive: Sequence[str]) -> tuple[Any, dict[str, int]]:
    """The staged rows with columns at levels of their hierarchies at which the distinct tuples fit the driver, each value
    by one that stands for its node; and the levels. A search from there on is exact: it misses what lies below only."""
    paths = _paths(asked, domains)
    levels = dict.fromkeys(paths, 0)
    tables = {name: _nodes(domains.values[name], paths[name], 0) for name in paths}
    for roll in range(8 * len(paths)):
        height = {name: len(next(iter(paths[name].values()))) - 1 for name in paths if paths[name]}
        open_ = [name for name in height if levels[name] + 1 < height[name]]
        if not open_:
            break
        widest = max(open_, key=lambda name: len(set(tables[name]["stands"].to_pylist())))
        levels[widest] += 1
        tables[widest] = _nodes(domains.values[widest], paths[widest], levels[widest])
        raised = {name: level for name, level in levels.items() if level > 0}
        frame = _replaced(staged, {name: tables[name] for name in raised}, folder, f"levels{roll}")
        if fits(frame, asked, max_records, sensitive):
            return frame, raised
    raise _too_many(max_records)


# --- Cutting ------------------------------------------------------------------------------------------------------------


@dataclass
class Parts:
    """Which tuple is in which part. `tuples` (0, 1, ..., part) are those that go to workers; `counted` those that stay as
    they are, a mapping (0, 1, ..., r0, r1, ...)."""

    tuples: Any
    rows: list[int]  # of each part
    frame: Any = None  # the rows with the cells that `tuples` is about: rolled up, or as they are
    counted: Any = None
    counted_rows: int = 0
    counted_facts: list[dict[str, Any]] = field(default_factory=list)
    rolled_up: dict[str, int] = field(default_factory=dict)


def _run(data: Any, asked: Asked, more: dict[str, Any]) -> Release:
    """The library with the settings in force, and these instead."""
    settings = Settings("anonymize")
    settings.add_table("data", data)
    own = {option.replace("_", "-") for option in more}
    settings.options += [(option, value) for option, values in asked.values.items() for value in values
                         if option not in NOT_FOR_PARTS | own | {"time-limit"}]
    release: Release = run(settings.set_all(more), Release)
    return release


def _groups(release: Release, qis: list[str]) -> list[Any]:
    """Records with equal released cells, in the order of those: arrays of Arrow, there are as many records as tuples."""
    pa = import_module("pyarrow")

    labels = release.to_arrow()
    columns = {f"{i}": labels[name].cast(pa.string()) for i, name in enumerate(qis)}
    found = pa.table(columns | {"record": pa.array(release.records, pa.uint32())}).group_by(list(columns), use_threads=False) \
        .aggregate([("record", "list")])
    cells = list(zip(*(found[name].to_pylist() for name in columns)))
    order = sorted(range(found.num_rows), key=lambda i: tuple("" if cell is None else cell for cell in cells[i]))
    return [found["record_list"][i].values for i in order]


def _cutting(asked: Asked, part_rows: int) -> dict[str, Any]:
    """Settings of the search that cuts. Parts of Mondrian are nodes of its own tree, and workers go on with its cuts from
    there: the release is that of one machine. For other searches, which lose at the borders of parts, parts are long."""
    name, _, text = (asked.one("algorithm") or "auto").partition(":")
    if name != "mondrian":
        return {"algorithm": "mondrian", "k": str(max(part_rows, _least(asked)))}
    own = dict(pair.split("=", 1) for pair in text.split(",") if pair)
    own["stop"] = str(max(2 * part_rows, int(own.get("stop", 0))))
    own.pop("cut", None)  # records are not cut through
    return {"algorithm": "mondrian:" + ",".join("=".join(pair) for pair in own.items())}


def cut(staged: Any, asked: Asked, domains: Domains, records: Any, part_rows: int, max_records: int, folder: Any) -> Parts:
    """`records` are those of the whole table; None: they do not fit."""
    pa = import_module("pyarrow")
    qis = asked.of("qi")
    frame = staged
    runs: dict[str, int] = {}
    if records is None:
        frame, runs = rolled_up(staged, asked, domains, max_records, folder)
        records = records_of(frame, asked, max_records, asked.watched())
    more: dict[str, Any] = {"count": COUNT, "order": "input", "report": False, "max_suppressed": 0, "allow_copy": True,
                            "algorithm": "mondrian", "domains": domains.table}
    if asked.person is not None:
        more["person_count"] = PEOPLE
    found = _run(records, asked, more | _cutting(asked, part_rows)) if domains.n_rows >= 2 * part_rows else None
    groups = _groups(found, qis) if found is not None else [pa.array(range(records.num_rows), pa.uint32())]
    alone: list[int] = []
    sent: list[Any] = []
    for group in groups:
        own = records.take(group)
        if runs or not _has_long_tuple(own, qis, part_rows):
            sent.append(own)
            continue
        one, rest = _set_apart(group.to_pylist(), own, qis, part_rows, lambda group: _holds(records, group, asked, more))
        alone += one
        if rest:
            sent.append(records.take(pa.array(rest, pa.int64())))
    parts = _parts_of(sent, qis)
    parts.rolled_up, parts.frame = runs, frame
    if alone:
        own = records.take(pa.array(sorted(alone), pa.int64()))
        release = _run(own, asked, more)
        parts.counted = mapping_of(own, release, qis)
        parts.counted_rows = sum(own[COUNT].to_pylist())
        parts.counted_facts = [release.facts]
    return parts


def _least(asked: Asked) -> int:
    return max([int(parameters["k"]) for name, parameters in asked.models() if name == "k-anonymity"], default=1)


def _holds(records: Any, group: list[int], asked: Asked, more: dict[str, Any]) -> bool:
    """Whether a group of records holds every model as one class: Mondrian begins with it, and suppresses nothing."""
    pa = import_module("pyarrow")

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KanonWarning)
            _run(records.take(pa.array(group, pa.int64())), asked, more)
    except NotMet:
        return False
    return True


def _has_long_tuple(own: Any, qis: list[str], part_rows: int) -> bool:
    """Whether some tuple may be a part of its own: it is longer than a part, or there is no other."""
    tuples = own.group_by(qis, use_threads=False).aggregate([(COUNT, "sum")])
    return bool(tuples.num_rows <= 1 or max(tuples[f"{COUNT}_sum"].to_pylist()) > part_rows)


def _set_apart(group: list[int], own: Any, qis: list[str], part_rows: int,
               holds: Callable[[list[int]], bool]) -> tuple[list[int], list[int]]:
    """Records of tuples that are parts of their own, and the others of the group. A tuple that is longer than a part is
    set apart where it holds every model, and so does what is left. `own` has the records' cells and counts."""
    cells = dict(zip(group, zip(*(own[name].to_pylist() for name in qis))))
    counts = dict(zip(group, own[COUNT].to_pylist()))
    rows: dict[Any, int] = {}
    for record in group:
        rows[cells[record]] = rows.get(cells[record], 0) + counts[record]
    alone: list[int] = []
    rest = group
    for one in sorted(rows, key=lambda one: -rows[one]):
        left = [record for record in rest if cells[record] != one]
        if left and (rows[one] <= part_rows or sum(counts[record] for record in rest) <= 4 * part_rows):
            break
        its = [record for record in rest if cells[record] == one]
        if not left or (holds(its) and holds(left)):
            alone += its
            rest = left
    return alone, rest


def _parts_of(groups: list[Any], qis: list[str]) -> Parts:
    """Of the records of each part."""
    pa = import_module("pyarrow")
    pc = import_module("pyarrow.compute")

    names = [f"{i}" for i in range(len(qis))]
    each = [own.select(qis).rename_columns(names).append_column("part", pa.repeat(pa.scalar(part, pa.int32()), own.num_rows))
            for part, own in enumerate(groups)]
    empty = pa.table({name: pa.array([], pa.string()) for name in names} | {"part": pa.array([], pa.int32())})
    tuples = pa.concat_tables(each).group_by([*names, "part"], use_threads=False).aggregate([]) if each else empty
    return Parts(tuples, [pc.sum(own[COUNT]).as_py() or 0 for own in groups])


# --- Suppressed rows --------------------------------------------------------------------------------------------------


def limit_of(asked: Asked, n_rows: int) -> int:
    """max_suppressed in rows, as the library counts them."""
    text = asked.one("max-suppressed") or "0"
    if text.endswith("%"):
        return min(n_rows, int(float(text[:-1]) * n_rows / 100 + 1e-9))
    return min(n_rows, int(float(text)))


def dealt(limit: int, rows: list[int]) -> list[int]:
    """A limit dealt out by rows; what is left over goes to the largest remainders, the first ones of equals."""
    total = sum(rows)
    if total == 0:
        return [0] * len(rows)
    shares = [limit * n // total for n in rows]
    order = sorted(range(len(rows)), key=lambda part: (-(limit * rows[part] % total), part))
    for part in order[:limit - sum(shares)]:
        shares[part] += 1
    return shares


# --- On executors -------------------------------------------------------------------------------------------------------


def seen_by(asked: Asked) -> list[str]:
    """Columns that a search looks at."""
    return [name for name in asked.names if name in (*asked.of("qi"), *asked.watched(), asked.person)]


def _shipped(asked: Asked, domains: Domains, limits: list[int], efforts: list[int] | None,
             copied: Sequence[str] = ()) -> dict[str, Any]:
    """What every worker needs, hierarchies in files among it."""
    pa = import_module("pyarrow")

    flags, files = [], {}
    for option, values in asked.values.items():
        for value in values if option not in NOT_FOR_PARTS else []:
            if option == "hierarchy":
                column, _, spec = value.partition("=")
                if os.path.isabs(spec):
                    with open(spec, "rb") as file:
                        files[column] = file.read()
                    continue
            flags.append((option, value))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, domains.table.schema) as stream:
        stream.write_table(domains.table)
    return {"flags": flags, "files": files, "domains": sink.getvalue().to_pybytes(), "limits": limits, "efforts": efforts,
            "names": asked.names, "qis": asked.of("qi"), "cells": seen_by(asked), "copied": copied, "version": _kanon.version()}


def _search(shipped: dict[str, Any], part: int, table: Any) -> Any:
    """One part on an executor: (key, r0, r1, ..., c0, c1, ..., state, facts), copied cells among them as they came, and one
    row more, without a key, with the facts. Which rows are suppressed is said of each, whether the part let them stay or
    not: that is the driver's to decide."""
    pa = import_module("pyarrow")
    pc = import_module("pyarrow.compute")

    if _kanon.version() != shipped["version"]:
        raise UsageError(f"the driver has kanon {shipped['version']} and an executor {_kanon.version()}; ship one of them to all")
    cells = [name for name in table.column_names if name in shipped["cells"]]
    others = [name for name in cells if name not in shipped["qis"]]
    table = table.sort_by([(name, "ascending") for name in [*shipped["qis"], *others, TIE, KEY]])
    columns = {name: table[name] if name in cells else pa.nulls(table.num_rows, pa.string()) for name in shipped["names"]}
    columns[KEY] = table[KEY]
    settings = Settings("anonymize", options=list(shipped["flags"]))
    settings.add_table("data", pa.table(columns))
    settings.add_table("domains", pa.ipc.open_stream(shipped["domains"]).read_all())
    more: dict[str, Any] = {"order": "input", "threads": 1, "max_suppressed": shipped["limits"][part], "insensitive": KEY,
                            "allow_copy": True, "report": False, "redact": True}  # what fails is logged
    if shipped["efforts"] is not None:
        more["effort"] = shipped["efforts"][part]
    with tempfile.TemporaryDirectory() as place:
        for i, (column, text) in enumerate(shipped["files"].items()):
            path = os.path.join(place, f"{i}")
            with open(path, "wb") as file:
                file.write(text)
            settings.add("hierarchy", f"{column}={path}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KanonWarning)  # the driver's runs have said them
            release = run(settings.set_all(more), Release)
    labels = release.to_arrow()
    keys = labels[KEY].cast(pa.string()).cast(pa.int64()).combine_chunks()
    sent = table[KEY].combine_chunks()
    removed = sent.filter(pc.invert(pc.is_in(sent, keys))).sort()
    n, n_removed = len(keys), len(removed)
    released = [labels[name].cast(pa.string()).combine_chunks() for name in shipped["qis"]]
    stars = pa.repeat(True, n)
    for column in released:
        stars = pc.and_(stars, pc.fill_null(pc.equal(column, "*"), False))
    # Suppressed rows that look like a class of the part are rows of that class.
    stay = n_removed == 0 and release.facts["suppressed"]["rows"] == stars.true_count
    states = pc.if_else(stars, SUPPRESSED, RELEASED).cast(pa.int32()) if stay else pa.repeat(pa.scalar(RELEASED, pa.int32()), n)
    result = {KEY: pa.concat_arrays([keys, removed, pa.nulls(1, pa.int64())])}
    for i, column in enumerate(released):
        result[f"r{i}"] = pa.concat_arrays([column, pa.repeat("*", n_removed), pa.nulls(1, pa.string())])
    places = pc.index_in(result[KEY], sent)  # none for the last row
    for i, name in enumerate(shipped["copied"]):
        result[f"c{i}"] = table[name].take(places)
    result["state"] = pa.concat_arrays([states, pa.repeat(pa.scalar(SUPPRESSED, pa.int32()), n_removed), pa.nulls(1, pa.int32())])
    facts = {key: release.facts.get(key) for key in ("input", "released", "suppressed", "loss", "classes")}
    result["facts"] = pa.concat_arrays([pa.nulls(n + n_removed, pa.string()), pa.array([json.dumps(facts | {"part": part})])])
    return pa.table(result)


def search(staged: Any, asked: Asked, domains: Domains, parts: Parts, folder: Any, copied: Sequence[str],
           stored: Callable[[Any, str], Any]) -> Any:
    """What the library makes of each part, with the columns `copied` as they are; `stored`, so that nothing of it is ever
    computed again."""
    types = import_module("pyspark.sql.types")
    F = import_module("pyspark.sql.functions")
    spark, qis = staged.sparkSession, asked.of("qi")
    limits = dealt(limit_of(asked, domains.n_rows), parts.rows)
    effort = int(asked.one("effort") or 0)
    efforts = [max(1, effort * n // max(1, domains.n_rows)) for n in parts.rows] if effort else None
    shipped = spark.sparkContext.broadcast(pickle.dumps(_shipped(asked, domains, limits, efforts, copied)))

    spark.createDataFrame(parts.tuples).write.parquet(folder.inside("tuples"))
    found = spark.read.parquet(folder.inside("tuples"))
    sent = dict.fromkeys([*seen_by(asked), *copied])
    # Rows that differ in copied columns only are told apart, too, so that the order does not depend on how they came.
    unseen = [name for name in copied if name not in seen_by(asked)]
    tie = F.xxhash64(*(F.col(quoted(name)) for name in unseen)) if unseen else F.lit(0)
    placed = parts.frame.join(sent_to_all(found, parts.tuples), same_cells(parts.frame, qis, found))
    rows = placed if parts.frame is staged else staged.join(placed.select(KEY, "part"), KEY)
    rows = rows.select("part", KEY, tie.alias(TIE), *map(quoted, sent))

    def work(key: Any, table: Any) -> Any:
        try:
            return _search(pickle.loads(shipped.value), int(key[0].as_py()), table)
        except KanonError as error:
            raise RuntimeError(f"kanon, part {key[0].as_py()}: {error}") from None

    text = types.StringType()
    fields = {KEY: types.LongType()} | {f"r{i}": text for i in range(len(qis))}
    fields |= {f"c{i}": staged.schema[name].dataType for i, name in enumerate(copied)}
    fields |= {"state": types.IntegerType(), "facts": text}
    schema = types.StructType([types.StructField(name, kind) for name, kind in fields.items()])
    found = stored(rows.groupBy("part").applyInArrow(work, schema), "parts")
    shipped.destroy()
    return found


# --- What is said, and checked ------------------------------------------------------------------------------------------


def facts_of(found: Any, parts: Parts, domains: Domains, n_removed: int) -> dict[str, Any]:
    """The parts' findings put together, where the whole table does not fit the driver: see `told`. Losses that are means
    over cells add up; classes of parts that look alike are one to a reader, so of those only sums and bounds are given."""
    told = [json.loads(row["facts"]) for row in found.where(f"{KEY} is null").select("facts").collect()]
    told.sort(key=lambda facts: facts["part"])
    if len(told) != len(parts.rows) or [facts["input"]["rows"] for facts in told] != parts.rows:
        raise NotMet("some parts came back with other rows than they were sent, so nothing is released")
    everything = told + parts.counted_facts
    n_rows = domains.n_rows
    loss = {name: sum(facts["loss"][name] * facts["input"]["rows"] for facts in everything) / n_rows
            for name in ADDITIVE if n_rows and all(name in facts["loss"] for facts in everything)}
    return {"input": {"rows": n_rows}, "released": {"rows": n_rows - n_removed},
            "suppressed": {"rows": sum(facts["suppressed"]["rows"] for facts in everything), "removed": n_removed},
            "loss": loss,
            "parts": facts_of_parts(parts), "recoding": "local, in parts"}


def facts_of_parts(parts: Parts) -> dict[str, Any]:
    return {"count": len(parts.rows), "rows": {"least": min(parts.rows, default=0), "most": max(parts.rows, default=0)},
            "counted_rows": parts.counted_rows, "rolled_up": parts.rolled_up}


def told(beside: Any, asked: Asked, max_records: int) -> tuple[Any, Any]:
    """The whole table as records of the driver, and what they became, removed rows among them: of the rows that are side by
    side for the checks. As `data` and `given` of the library, which verifies, measures and reports it like any release."""
    F = import_module("pyspark.sql.functions")

    qis = asked.of("qi")
    renamed = [*(f"__kanon_now{i}" for i in range(len(qis))), STATE]
    frame = beside.withColumn(STATE, F.when(F.col(RELEASES), F.col(STATE)).otherwise(SUPPRESSED))
    for i, new in enumerate(renamed[:-1]):
        frame = frame.withColumn(new, F.when(F.col(RELEASES), F.col(f"now{i}")).otherwise("*"))
    records = records_of(frame, asked, max_records, asked.of("sensitive"), renamed)
    given = records.select(renamed).rename_columns([*qis, "__kanon_suppressed"])
    return records.drop_columns(renamed), given


def same_as_given(release: Release, given: Any, qis: list[str], n_released: int) -> None:
    """The library made of what it was given what Spark is about to write: the same labels, and as many rows."""
    pa = import_module("pyarrow")

    labels, kept = release.to_arrow(), given.take(pa.array(release.records, pa.uint32()))
    same = all(labels[name].cast(pa.string()).combine_chunks().equals(kept[name].cast(pa.string()).combine_chunks())
               for name in qis)
    if not same or release.facts["released"]["rows"] != n_released:
        raise NotMet("the library reads the parts' labels otherwise than they were written, so nothing is released")


def json_of(facts: dict[str, Any]) -> str:
    return json.dumps({"version": _kanon.version(), **facts}, indent=2, ensure_ascii=False) + "\n"


def generalizing(asked: Asked, domains: Domains, max_pairs: int,
                 tell: Callable[[Any], tuple[Any, Any] | None] = lambda _: None) -> Callable[[Any, Any], None]:
    """Local recoding: every pair of a value and what some row of it became is judged by the library's verifier, column by
    column, with the domains of the whole table. Where `tell` has the driver know the records and what they became, the
    pairs are theirs; otherwise Spark counts them."""

    def check(checks: Any, joined: Any) -> None:
        pa = import_module("pyarrow")
        pc = import_module("pyarrow.compute")
        F = import_module("pyspark.sql.functions")

        known = tell(checks.beside)
        for i, name in enumerate(asked.of("qi")):
            if known is not None:
                pairs = pa.table({"was": known[0][name], "now": known[1][name]}).group_by(["was", "now"], use_threads=False) \
                    .aggregate([])
            else:
                pairs = joined.select(F.col(quoted(name)).alias("was"), F.col(f"now{i}").alias("now")).distinct() \
                    .limit(max_pairs + 1).toArrow()
            if pairs.num_rows > max_pairs:
                raise ResourceError(f"column '{name}': more than {max_pairs:,} pairs of values and labels, too many for the "
                                    "driver to judge; give it memory and a larger max_records", option="max_records")
            own = domains.table.filter(pc.equal(domains.table["column"], name))
            settings = Settings("verify", options=_about(asked, name))
            settings.add_table("release", pa.table({name: pairs["now"]}))
            settings.add_table("original", pa.table({name: pairs["was"]}))
            settings.add_table("domains", own)
            settings.set_all({"qi": name, "k": 1, "order": "input"})
            try:
                run(settings, Verdict)
            except NotMet as error:
                checks.fail(f"column '{name}': {error}")

    return check


def _about(asked: Asked, name: str) -> list[tuple[str, str]]:
    """Settings in force that say what a column's labels mean."""
    details = ("hierarchy", "grid", "top", "bottom", "round", "type", "release-values")
    plain = ("null", "decimal", "invalid", "missing", "trim", "guard-formulas", "algorithm", "recoding")
    return [(option, value) for option, values in asked.values.items() for value in values
            if option in plain or (option in details and value.startswith(f"{name}="))]
