"""Tables that outgrow one machine: the same policies, models and searches on Spark.

    anonymize(df, policy, output="people.parquet")      a DataFrame that reads the verified files
    main(sys.argv[1:])                                  the same with the program's flags, for spark-submit

Global recoding is exact. Spark counts the distinct tuples of quasi-identifiers and sensitive values, the driver searches
over them (see "Tables with counts" in docs/python.md), and the mapping it finds is joined to the rows:

    stage     the columns that leave, and the person, once, with a key of each row            private
    count     distinct tuples with counts and persons' repeats: to the driver                 _records
    search    the library, as for any table; its verifier judges the mapping                  kanon.anonymize
    apply     rows joined to the mapping, with their keys                                     private
    write     the same rows without keys, sorted by released text, beside the target
    verify    by Spark SQL, from the files: see _Checks
    publish   the folder renamed to its place; an old one moved aside first                   _publish

Everything private is in one folder beside the target, which is removed whatever happens. Nothing of the library runs on
executors, and no value of the data is part of a plan: what goes to executors goes through files.
"""
from __future__ import annotations

import json
import math
import os
import re
import secrets
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from . import _functions, _kanon
from ._settings import OPTIONS, Settings
from .errors import InputError, KanonError, NotMet, ResourceError, UsageError, error_of
from .policy import Policy
from .results import Release

COUNT, PEOPLE, KEY = "__kanon_count", "__kanon_people", "__kanon_key"
FORMATS = ("parquet", "csv", "orc", "json")
RENAMING = ("file", "hdfs", "viewfs")
SPEAK_OF = {"csv": {"header": True, "escape": '"', "multiLine": True, "nullValue": "", "emptyValue": "",
                    "ignoreLeadingWhiteSpace": False, "ignoreTrailingWhiteSpace": False}}  # cells as they are


# --- What is asked for ----------------------------------------------------------------------------------------------


class _Asked:
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
        for option, value in in_force:
            self.values.setdefault(option, []).append(value)
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

    def one(self, option: str) -> str | None:
        return self.values.get(option, [None])[-1]

    def listed(self, option: str) -> list[str]:
        return [re.sub(r"\\(,)", r"\1", name) for value in self.values.get(option, [])
                for name in re.findall(r"(?:\\,|[^,])+", value)]

    def of(self, role: str) -> list[str]:
        return [name for name in self.names if self.role[name] == role]

    def models(self) -> list[tuple[str, dict[str, str]]]:
        found = [("k-anonymity", {"k": k}) for k in self.values.get("k", [])]
        for spec in self.values.get("model", []):
            name, _, text = spec.partition(":")
            pairs = (pair.partition("=") for pair in re.findall(r"(?:\\,|[^,])+", text))
            found.append((name, {key: value.replace("\\,", ",") for key, _, value in pairs}))
        return found


def _refuse_what_cannot_be(asked: _Asked, names: list[str]) -> None:
    for name in names:
        if name in (COUNT, PEOPLE, KEY) or names.count(name) > 1:
            raise InputError(f"column '{name}': rename it; two columns cannot have one name, nor those of ours", column=name)
    for name, parameters in asked.models():
        known = name in _MODELS and parameters.get("joint", "no") != "yes"
        if not known or (name == "t-closeness" and parameters.get("distance", "equal") != "equal"):
            raise UsageError(f"{name} with these parameters cannot be counted again by Spark, so nothing is released under "
                             f"it; known are {', '.join(_MODELS)} (t-closeness with distance=equal, none with joint=yes)",
                             option="model")
    for option in ("cells", "order", "certificate", "polish", "state"):
        if asked.one(option) not in (None, "labels", "sorted", "no"):
            raise UsageError(f"{option} '{asked.one(option)}' is not for Spark; leave it out", option=option)
    algorithm = (asked.one("algorithm") or "auto").partition(":")[0]
    if algorithm == "auto" and asked.one("recoding") != "global":
        raise UsageError("on Spark tables are recoded globally: say recoding='global', or name a full-domain algorithm "
                         "such as optimal", option="recoding")


# --- Counting -------------------------------------------------------------------------------------------------------


def _plain(column: Any, nulls: list[str]) -> Any:
    """What a cell means, so that spellings of one number are one: no finer than the library, whatever the column is."""
    F = import_module("pyspark.sql.functions")

    text = column.cast("string")
    number = F.when(text.rlike(r"^[+-]?[0-9]{1,25}([.][0-9]{1,12})?$"), text.cast("decimal(38,12)").cast("string"))
    return F.when(text.isin(nulls), F.lit(None)).otherwise(F.coalesce(number, text))


def _records(staged: Any, asked: _Asked, max_records: int) -> Any:
    """The table of the driver: one record for each distinct tuple, all columns of the data, those that the search does
    not look at empty. Persons with one record are counted, the others numbered."""
    pa = import_module("pyarrow")
    Window = import_module("pyspark.sql").Window
    F = import_module("pyspark.sql.functions")

    cells = [name for name in asked.names if asked.role[name] in ("qi", "sensitive")]
    if asked.person is None:
        counted = staged.groupBy(*map(_quoted, cells)).agg(F.count(F.lit(1)).alias(COUNT))
    else:
        each = staged.withColumn(PEOPLE, _plain(F.col(_quoted(asked.person)), asked.nulls)) \
            .groupBy(*map(_quoted, cells), PEOPLE).agg(F.count(F.lit(1)).alias(COUNT))
        each = each.withColumn("__n", F.count(F.lit(1)).over(Window.partitionBy(PEOPLE)))
        alone = F.col("__n").eqNullSafe(1) & F.col(PEOPLE).isNotNull()
        named = each.where(~alone).select(*map(_quoted, cells), F.coalesce(PEOPLE, F.lit("")).alias(PEOPLE), COUNT,
                                          F.lit(None).cast("long").alias("__n"))
        unnamed = each.where(alone).groupBy(*map(_quoted, cells)) \
            .agg(F.lit(None).cast("string").alias(PEOPLE), F.sum(COUNT).alias(COUNT), F.count(F.lit(1)).alias("__n"))
        counted = named.unionByName(unnamed.select(*map(_quoted, cells), PEOPLE, COUNT, "__n"))
    found = counted.limit(max_records + 1).toArrow()
    if found.num_rows > max_records:
        raise ResourceError(f"there are more than {max_records:,} distinct tuples, too many for the driver; give it memory "
                            "and a larger max_records, or use fewer or coarser quasi-identifiers", option="max_records")
    columns = {}
    for name in asked.names:
        columns[name] = found[name] if name in cells else pa.nulls(found.num_rows, pa.string())
    if asked.person is not None:
        numbers = found[PEOPLE].combine_chunks().dictionary_encode().indices  # nulls stay nulls
        columns[asked.person] = numbers
        columns[PEOPLE] = found["__n"]
    columns[COUNT] = found[COUNT]
    table = pa.table(columns)
    return table.sort_by([(name, "ascending") for name in [*cells, COUNT]]) if cells else table


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


# --- The mapping ----------------------------------------------------------------------------------------------------


def _mapping(records: Any, release: Release, qis: list[str]) -> Any:
    """(tuple, what it becomes, its rows), one row for each tuple that is released."""
    pa = import_module("pyarrow")

    labels = release.to_arrow()
    kept = records.take(pa.array(release.records, pa.uint32()))
    columns = {f"{i}": kept[name] for i, name in enumerate(qis)}
    columns |= {f"r{i}": labels[name].cast(pa.string()) for i, name in enumerate(qis)}
    keys = list(columns)
    return pa.table(columns | {COUNT: kept[COUNT]}).group_by(keys, use_threads=False).aggregate([(COUNT, "sum")]) \
        .rename_columns({f"{COUNT}_sum": COUNT}).select([*keys, COUNT])


# --- Checks by Spark SQL --------------------------------------------------------------------------------------------


def _l_diversity(F: Any, p: dict[str, str]) -> Any:
    kind, least = p.get("kind", "distinct"), float(p["l"])
    q = F.col("n") / F.col("class_rows")
    if kind == "distinct":
        return F.count(F.lit(1)) >= least
    if kind == "entropy":
        return -F.sum(q * F.log(q)) >= math.log(least) - 1e-9
    if kind == "frequency":
        return F.max(q) <= 1 / least + 1e-9
    counts = F.sort_array(F.collect_list("n"), asc=False)
    rest = F.aggregate(F.slice(counts, F.lit(int(least)), F.greatest(F.size(counts), F.lit(1))), F.lit(0).cast("double"),
                       lambda sum_, n: sum_ + n)
    return (F.count(F.lit(1)) >= least) & (F.max("n") < float(p["c"]) * rest)


def _far(F: Any, limit: float) -> Any:
    """Distance of the class from the table; values that the class lacks count with all of their share."""
    q, share = F.col("n") / F.col("class_rows"), F.col("share")
    return (F.sum(F.abs(q - share)) + (1 - F.sum(share))) / 2 <= limit + 1e-9


# What a class's values, one row each with `n` of `class_rows` and their `share` of the table, must satisfy. The slack is
# that of sums of rounded numbers.
_HISTOGRAMS: dict[str, Callable[[Any, dict[str, str]], Any]] = {
    "l-diversity": _l_diversity,
    "p-sensitive": lambda F, p: F.count(F.lit(1)) >= float(p["p"]),
    "t-closeness": lambda F, p: _far(F, float(p["t"])),
    "beta-likeness": lambda F, p: F.max(_gain(F, p)) <= 1e-9,
    "delta-disclosure": lambda F, p: (F.max(F.abs(F.log2(F.col("n") / F.col("class_rows") / F.col("share")))) <
                                      float(p["delta"])) & (F.sum("share") > 1 - 1e-9),
}
_MODELS = ("k-anonymity", *_HISTOGRAMS)


def _gain(F: Any, p: dict[str, str]) -> Any:
    limit = F.lit(float(p["beta"]))
    if p.get("enhanced", "yes") == "yes":
        limit = F.least(limit, -F.log(F.col("share")))
    return (F.col("n") / F.col("class_rows") - F.col("share")) / F.col("share") - limit


class _Checks:
    """The written files against the staged input, from the files alone; the first thing that does not hold is raised.

    The mapping is not taken for granted: which tuple became what, and how often, is counted from the keyed rows and
    must be what the driver's verifier judged."""

    def __init__(self, staged: Any, keyed: Any, written: Any, asked: _Asked, mapping: Any, release: Release) -> None:
        self.staged, self.keyed, self.written, self.asked = staged, keyed, written, asked
        self.mapping, self.release = mapping, release
        self.qis = asked.of("qi")
        self.copied = [name for name in asked.names if asked.role[name] in ("sensitive", "insensitive")]

    def run(self) -> None:
        joined = self.rows()
        self.same_rows()
        self.tuples(joined)
        for name, parameters in self.asked.models():
            self.model(joined, name, parameters)

    def fail(self, what: str) -> None:
        raise NotMet(f"the written files do not hold what was asked for, so nothing is released: {what}")

    def rows(self) -> Any:
        """Every released row is one of the input's, with its copied cells unchanged, and none is twice."""
        F = import_module("pyspark.sql.functions")

        n, n_keys = self.keyed.agg(F.count(F.lit(1)), F.countDistinct(KEY)).first()
        facts = self.release.facts
        n_input = self.staged.count()
        if n_input != facts["input"]["rows"] or n != facts["released"]["rows"] or n_keys != n:
            self.fail(f"{n} rows of {n_keys} keys, where {facts['released']['rows']} of {facts['input']['rows']} are due")
        now = self.keyed.select(KEY, *(F.col(_quoted(name)).alias(f"now{i}") for i, name in enumerate([*self.qis, *self.copied])))
        joined = self.staged.join(now, KEY)
        same = F.lit(True)
        for i, name in enumerate(self.copied, len(self.qis)):
            same &= F.col(_quoted(name)).eqNullSafe(F.col(f"now{i}"))
        n_joined, n_wrong = joined.agg(F.count(F.lit(1)), F.count(F.when(~same, 1))).first()
        if n_joined != n or n_wrong:
            self.fail(f"{n - n_joined} rows are none of the input's, {n_wrong} have other copied cells")
        return joined

    def same_rows(self) -> None:
        """The files without keys are the keyed rows, as a multiset."""
        F = import_module("pyspark.sql.functions")

        names = [*self.qis, *self.copied]
        if sorted(self.written.columns) != sorted(names):
            self.fail(f"the columns are {', '.join(self.written.columns)}")

        def texts(frame: Any, sign: int) -> Any:
            cells = (F.coalesce(F.col(_quoted(name)).cast("string"), F.lit("")).alias(f"{i}") for i, name in enumerate(names))
            return frame.select(*cells, F.lit(sign).alias("sign"))

        both = texts(self.written, 1).unionByName(texts(self.keyed, -1))
        n_wrong = both.groupBy(*(f"{i}" for i in range(len(names)))).agg(F.sum("sign").alias("sign")).where("sign != 0").count()
        if n_wrong:
            self.fail(f"{n_wrong} distinct rows stand there more or less often than they should")

    def tuples(self, joined: Any) -> None:
        """Which tuple became what, and how many rows it has."""
        F = import_module("pyspark.sql.functions")

        names = [*(F.col(_quoted(name)).alias(f"{i}") for i, name in enumerate(self.qis)),
                 *(F.col(f"now{i}").alias(f"r{i}") for i in range(len(self.qis)))]
        keys = [*(f"{i}" for i in range(len(self.qis))), *(f"r{i}" for i in range(len(self.qis)))]
        found = joined.select(*names).groupBy(*keys).agg(F.count(F.lit(1)).alias(COUNT)).toArrow()
        order = [(name, "ascending") for name in keys]
        due = self.mapping.sort_by(order)
        found = found.select([*keys, COUNT]).cast(due.schema).sort_by(order)
        if not found.combine_chunks().equals(due.combine_chunks()):
            self.fail("tuples did not become what the verified mapping says")

    def model(self, joined: Any, name: str, parameters: dict[str, str]) -> None:
        """Counted over classes of equal released cells, as they are in the joined files."""
        F = import_module("pyspark.sql.functions")

        cells = [f"now{i}" for i in range(len(self.qis))]
        if name == "k-anonymity":
            size = F.count(F.lit(1))
            if self.asked.person is not None:  # all rows without a person may be one's
                who = _plain(F.col(_quoted(self.asked.person)), self.asked.nulls)
                size = F.countDistinct(who) + F.max(who.isNull().cast("int"))
            holds = size >= int(parameters["k"])
            classes = joined.groupBy(*cells).agg(holds.alias("holds"))
        else:
            column = parameters.get("column") or self.asked.of("sensitive")[0]
            value = _plain(F.col(_quoted(column)), self.asked.nulls)
            if self.asked.one("fold-sensitive") == "yes":
                value = F.lower(value)
            valued = joined.select(*cells, value.alias("value"))
            total = self.staged.count()
            share = self.staged.select(value.alias("value")).groupBy("value").agg((F.count(F.lit(1)) / F.lit(total)).alias("share"))
            rows = valued.groupBy(*cells, "value").agg(F.count(F.lit(1)).alias("n"))
            sizes = valued.groupBy(*cells).agg(F.count(F.lit(1)).alias("class_rows"))
            rows = _join_equal(rows, sizes, cells) if cells else rows.crossJoin(sizes)
            rows = _join_equal(rows, share, ["value"])
            classes = rows.groupBy(*cells).agg(_HISTOGRAMS[name](F, parameters).alias("holds"))
        n_broken = classes.where("not holds or holds is null").count()
        if n_broken:
            self.fail(f"{n_broken} classes break {name} ({', '.join(f'{key}={value}' for key, value in parameters.items())})")


def _join_equal(left: Any, right: Any, keys: Iterable[str]) -> Any:
    """An inner join in which a missing cell equals a missing cell."""
    condition = None
    renamed = right
    keys = list(keys)
    for i, key in enumerate(keys):
        renamed = renamed.withColumnRenamed(key, f"__right{i}")
        one = left[_quoted(key)].eqNullSafe(renamed[f"__right{i}"])
        condition = one if condition is None else condition & one
    return left.join(renamed, condition).drop(*(f"__right{i}" for i in range(len(keys))))


# --- Files ----------------------------------------------------------------------------------------------------------


class _Folder:
    """The target, and a private folder beside it that is removed in the end."""

    def __init__(self, spark: Any, output: str, overwrite: bool) -> None:
        self.spark, self.output, self.overwrite = spark, output.rstrip("/"), overwrite
        path = spark._jvm.org.apache.hadoop.fs.Path(self.output)
        self.fs = path.getFileSystem(spark._jsc.hadoopConfiguration())
        if self.fs.getScheme() not in RENAMING:
            raise UsageError(f"'{output}' is on a file system that cannot rename a folder at once "
                             f"({self.fs.getScheme()}); write to one that can ({', '.join(RENAMING)}) and copy what is "
                             "there", option="output")
        if self.fs.exists(path) and not overwrite:
            raise InputError(f"{output} is there already; say overwrite=True to replace it", file=output)
        parent, _, name = self.output.rpartition("/")
        self.private = f"{parent}/.{name}.kanon-{secrets.token_hex(6)}" if parent else f".{name}.kanon-{secrets.token_hex(6)}"
        permission = spark._jvm.org.apache.hadoop.fs.permission.FsPermission("700")
        self.fs.mkdirs(self.path(self.private), permission)
        self.fs.setPermission(self.path(self.private), permission)

    def path(self, name: str) -> Any:
        return self.spark._jvm.org.apache.hadoop.fs.Path(name)

    def inside(self, name: str) -> str:
        return f"{self.private}/{name}"

    def publish(self, name: str) -> None:
        """The folder takes its place in one step; what was there goes only after that."""
        target, old = self.path(self.output), self.path(self.inside("old"))
        if self.fs.exists(target):
            if not self.overwrite:
                raise InputError(f"{self.output} appeared meanwhile; nothing was written", file=self.output)
            self._rename(target, old)
        try:
            self._rename(self.path(self.inside(name)), target)
        except BaseException:
            if self.fs.exists(old):
                self._rename(old, target)
            raise

    def _rename(self, this: Any, to: Any) -> None:
        if not self.fs.rename(this, to):
            raise InputError(f"{this.toString()} could not be renamed to {to.toString()}; nothing was released",
                             file=to.toString())

    def remove(self) -> None:
        self.fs.delete(self.path(self.private), True)


def _sorted_by(text: Any, form: str) -> Any:
    """The text of a cell as the program sorts it: as it stands in the file."""
    F = import_module("pyspark.sql.functions")

    if form != "csv":
        return text
    quote = F.lit('"')
    return F.when(text.rlike('[,"\n\r]'), F.concat(quote, F.regexp_replace(text, quote, F.lit('""')), quote)).otherwise(text)


def _read(spark: Any, path: str, form: str, schema: Any = None) -> Any:
    reader = spark.read.format(form)
    for key, value in SPEAK_OF.get(form, {}).items():
        reader = reader.option(key, value)
    return (reader.schema(schema) if schema is not None else reader).load(path)


def _write(frame: Any, path: str, form: str) -> None:
    writer = frame.write.format(form)
    for key, value in SPEAK_OF.get(form, {}).items():
        writer = writer.option(key, value)
    writer.save(path)


def _write_text(path: str, text: str) -> None:
    beside = f"{path}.{secrets.token_hex(6)}"
    try:
        with open(beside, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(beside, path)
    finally:
        if os.path.exists(beside):
            os.unlink(beside)


# --- All of it ------------------------------------------------------------------------------------------------------


def _refuse_copies(staged: Any, asked: _Asked) -> None:
    """A copied column that stands one-to-one with a quasi-identifier tells it. The library sees to sensitive columns."""
    F = import_module("pyspark.sql.functions")

    pairs = [(c, q) for c in asked.of("insensitive") for q in asked.of("qi")]
    if not pairs or asked.one("allow-copy") == "yes":
        return
    n = {name: F.countDistinct(F.coalesce(F.col(_quoted(name)).cast("string"), F.lit("")))
         for name in {name for pair in pairs for name in pair}}
    both = [F.countDistinct(*(F.coalesce(F.col(_quoted(name)).cast("string"), F.lit("")) for name in pair)) for pair in pairs]
    names = sorted(n)
    found = staged.agg(F.count(F.lit(1)), *(n[name] for name in names), *both).first()
    values = dict(zip(names, found[1:]))
    for pair, n_pairs in zip(pairs, found[1 + len(names):]):
        copied, quasi = pair
        if values[copied] == values[quasi] == n_pairs >= 2 and n_pairs < found[0]:
            raise NotMet(f"column '{copied}' stands one-to-one with the quasi-identifier '{quasi}': whoever sees it knows the "
                         "other; leave it out, make it a quasi-identifier, or say allow_copy=True")


def anonymize(df: Any, policy: Policy | str | os.PathLike[str] | None = None, *, output: str, format: str | None = None,
              overwrite: bool = False, max_records: int = 5_000_000, json: str | None = None, report: str | None = None,
              schema: str | None = None, **options: Any) -> Any:
    """Release a DataFrame in which everybody hides among at least k; the answer is that of one machine.

    Args:
        df: any DataFrame; it is read once.
        policy: a :class:`kanon.Policy`, or the path of one on the driver; keywords override it.
        output: the folder to write, where the file system renames folders at once (local, HDFS).
        format: parquet, csv, orc or json; by default what the name ends with, otherwise parquet.
        overwrite: replace a folder that is there, after the new one was verified.
        max_records: distinct tuples that the driver takes at most.
        json, report, schema: files on the driver for what the program's options of that name write.
        options: as for :func:`kanon.anonymize`.

    Returns:
        A DataFrame that reads the verified files. Quasi-identifiers are text, copied columns keep their types.

    Raises:
        NotMet: no release exists that meets what was asked for, or the files written are not what was verified.
        UsageError: the settings are wrong, or not for Spark. InputError: the data is, or a file cannot be written.
        ResourceError: the distinct tuples do not fit.
    """
    form = format or (os.path.splitext(output.rstrip("/"))[1][1:] or "parquet")
    if form not in FORMATS:
        raise UsageError(f"'{form}' is no format: {', '.join(FORMATS)}", option="format")
    asked = _Asked(df.columns, policy, options)
    _refuse_what_cannot_be(asked, df.columns)
    folder = _Folder(df.sparkSession, output, overwrite)
    try:
        release = _release(df, asked, policy, options, folder, form, max_records,
                           {"report": report is not None, "schema": schema is not None})
        folder.publish("release")
    finally:
        folder.remove()
    texts = {json: release._raw.json(), report: release._raw.kept("report"), schema: release._raw.kept("schema")}
    for path, text in texts.items():
        if path is not None:
            _write_text(path, text or "")
    return _read(df.sparkSession, output, form, _types(df, asked, form))


def _types(df: Any, asked: _Asked, form: str) -> Any:
    types = import_module("pyspark.sql.types")

    fields = [df.schema[name] if asked.role[name] != "qi" and form != "csv" else
              types.StructField(name, types.StringType()) for name in _leaving(asked)]
    return types.StructType([types.StructField(field.name, field.dataType, True) for field in fields])


def _leaving(asked: _Asked) -> list[str]:
    return [name for name in asked.names if asked.role[name] in ("qi", "sensitive", "insensitive")]


def _release(df: Any, asked: _Asked, policy: Any, options: dict[str, Any], folder: _Folder, form: str, max_records: int,
             wanted: dict[str, bool]) -> Release:
    F = import_module("pyspark.sql.functions")

    spark, qis = df.sparkSession, asked.of("qi")
    kept = _leaving(asked) + ([asked.person] if asked.person in asked.role else [])
    df.select(*map(_quoted, kept), F.monotonically_increasing_id().alias(KEY)).write.parquet(folder.inside("input"))
    staged = spark.read.parquet(folder.inside("input"))
    _refuse_copies(staged, asked)

    records = _records(staged, asked, max_records)
    more = {"person_count": PEOPLE} if asked.person is not None else {}
    release: Release = _functions.anonymize(records, policy=policy, **{**options, **more, "count": COUNT, "order": "input",
                                                             "output": None, **wanted})
    mapping = _mapping(records, release, qis)

    spark.createDataFrame(mapping).write.parquet(folder.inside("mapping"))
    found = spark.read.parquet(folder.inside("mapping"))
    condition = F.lit(True)
    for i, name in enumerate(qis):
        condition &= staged[_quoted(name)].eqNullSafe(found[f"{i}"])
    mapped = staged.join(F.broadcast(found), condition)
    cells = [found[f"r{qis.index(name)}"].alias(name) if name in qis else staged[_quoted(name)] for name in _leaving(asked)]
    mapped.select(*cells, staged[KEY]).write.parquet(folder.inside("keyed"))
    keyed = spark.read.parquet(folder.inside("keyed"))

    texts = [_sorted_by(F.coalesce(F.col(_quoted(name)).cast("string"), F.lit("")), form) for name in _leaving(asked)]
    _write(keyed.drop(KEY).orderBy(*texts), folder.inside("release"), form)
    written = _read(spark, folder.inside("release"), form, _types(df, asked, form))
    _Checks(staged, keyed, written, asked, mapping, release).run()
    return release


# --- The program ----------------------------------------------------------------------------------------------------


def main(words: list[str]) -> int:
    """``DATA -o OUT`` with the flags of ``kanon anonymize``, for ``spark-submit``; returns the exit code."""
    letters = {"k": "k", "o": "output", "p": "policy", "d": "delimiter"}
    own = {"format": "F", "overwrite": None, "max-records": "N"}
    known = {option.name: option.argument for option in OPTIONS if "anonymize" in option.commands} | own
    given: dict[str, Any] = {}
    paths: list[str] = []
    rest = list(words)
    try:
        while rest:
            word = rest.pop(0)
            if not word.startswith("-") or word == "-":
                paths.append(word)
                continue
            name, equals, value = word.lstrip("-").partition("=")
            name = letters.get(name, name)
            if name not in known:
                near = _kanon.nearest(name, "anonymize")
                raise UsageError(f"there is no --{name}" + (f" (did you mean --{near}?)" if near else ""), option=name)
            argument = known[name]
            if argument is None:
                given[name.replace("-", "_")] = True
                continue
            if not equals and not rest:
                raise UsageError(f"--{name} needs a value: {argument}", option=name)
            value = value if equals else rest.pop(0)
            keyword = name.replace("-", "_")
            if keyword in given and (argument.startswith("COL=") or name in ("model", "qi", "sensitive", "insensitive")):
                before = given[keyword]
                given[keyword] = [*(before if isinstance(before, list) else [before]), value]
            else:
                given[keyword] = value
        if len(paths) != 1 or "output" not in given:
            raise UsageError("say which table, and with -o which folder to write: DATA -o OUT")
        for option in ("delimiter", "no_header", "encoding"):
            if option in given:
                raise UsageError(f"--{option.replace('_', '-')} is not for Spark, which reads CSV with commas, a header and in "
                                 "UTF-8 here; read the table with spark.read and give the DataFrame to kanon.spark.anonymize",
                                 option=option)
        if "max_records" in given:
            given["max_records"] = int(given["max_records"])
        spark = import_module("pyspark.sql").SparkSession.builder.appName("kanon").getOrCreate()
        form = os.path.splitext(paths[0].rstrip("/"))[1][1:]
        df = _read(spark, paths[0], form if form in FORMATS else "parquet")
        anonymize(df, given.pop("policy", None), **given)
    except KanonError as error:
        sys.stderr.write(f"kanon: {error}\n")
        return error.code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
