"""Tables that outgrow one machine: the same policies, models and searches on Spark.

    anonymize(df, policy, output="people.parquet")      a DataFrame that reads the verified files
    main(sys.argv[1:])                                  the same with the program's flags, for spark-submit

Global recoding is exact. Spark counts the distinct tuples of quasi-identifiers and sensitive values, the driver searches
over them (see "Tables with counts" in docs/python.md), and the mapping it finds is joined to the rows. Local recoding cuts
the table into parts and searches each of them on an executor:

    stage     the columns that leave, and the person, once, with a key of each row            private
    count     distinct tuples with counts and persons' repeats: to the driver                 _spark_records.py
    search    the library, as for any table; its verifier judges the mapping                  kanon.anonymize
              or: parts, the library on each, its verifier judges every part                  _spark_parts.py
    apply     rows joined to what they become, with their keys                                private
    write     the same rows without keys, sorted by released text, beside the target
    verify    by Spark SQL, from the files                                                    _spark_checks.py
    publish   the folder renamed to its place, or copied, with its marker last                _Folder

Everything private is in one folder beside the target, which is removed whatever happens. No value of the data is part of a
plan: what goes to executors goes through files and broadcast blocks.
"""
from __future__ import annotations

import os
import secrets
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from . import _functions, _kanon, _spark_parts
from ._settings import OPTIONS
from ._spark_checks import Checks as _Checks
from ._spark_checks import broken_classes, now_beside, refuse_models, same_tuples
from ._spark_records import COUNT, KEY, OF_SENSITIVE, PEOPLE, STATE, mapping_of, quoted, records_of, same_cells, sent_to_all
from ._spark_records import Asked as _Asked
from .errors import InputError, KanonError, KanonWarning, NotMet, ResourceError, UsageError
from .policy import Policy
from .results import Release

FORMATS = ("parquet", "csv", "orc", "json")
RENAMING = ("file", "hdfs", "viewfs")
MARKER = "_SUCCESS"
MOST_ROWS = 4_294_967_293  # the library cuts rows that 32 bits count
FULL_DOMAIN = ("auto", "optimal", "samarati", "incognito", "mingen", "datafly", "mu-argus")
SPEAK_OF = {"csv": {"header": True, "escape": '"', "multiLine": True, "nullValue": "", "emptyValue": "",
                    "ignoreLeadingWhiteSpace": False, "ignoreTrailingWhiteSpace": False}}  # cells as they are


# --- What is asked for ----------------------------------------------------------------------------------------------


def _refuse_what_cannot_be(asked: _Asked, names: list[str]) -> None:
    for name in names:
        if name in (COUNT, PEOPLE, KEY, STATE) or names.count(name) > 1:
            raise InputError(f"column '{name}': rename it; two columns cannot have one name, nor those of ours", column=name)
    refuse_models(asked)
    for option in ("count", "person-count", "domains", "given", "derive", "ledger", "codebook"):
        if asked.one(option) is not None:
            raise UsageError(f"{option} is not for Spark; leave it out", option=option)
    for option in ("cells", "order", "certificate", "polish", "state"):
        if asked.one(option) not in (None, "labels", "sorted", "no"):
            raise UsageError(f"{option} '{asked.one(option)}' is not for Spark; leave it out", option=option)


# --- Files ----------------------------------------------------------------------------------------------------------


class _Folder:
    """The target, and a private folder beside it that is removed in the end."""

    def __init__(self, spark: Any, output: str, overwrite: bool) -> None:
        self.spark, self.output, self.overwrite = spark, output.rstrip("/"), overwrite
        path = spark._jvm.org.apache.hadoop.fs.Path(self.output)
        self.fs = path.getFileSystem(spark._jsc.hadoopConfiguration())
        self.renames = self.fs.getScheme() in RENAMING
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

    def publish(self, name: str, check: Callable[[str], None]) -> None:
        """The folder takes its place in one step; what was there goes only after that. Where folders cannot be renamed,
        as in object stores, its files are copied, read again and checked, and the marker _SUCCESS comes last."""
        target, old = self.path(self.output), self.path(self.inside("old"))
        if self.fs.exists(target) and not self.overwrite:
            raise InputError(f"{self.output} appeared meanwhile; nothing was written", file=self.output)
        if not self.renames:
            self._copy(name, check)
            return
        if self.fs.exists(target):
            self._rename(target, old)
        try:
            self._rename(self.path(self.inside(name)), target)
        except BaseException:
            if self.fs.exists(old):
                self._rename(old, target)
            raise

    def _copy(self, name: str, check: Callable[[str], None]) -> None:
        target, marker = self.path(self.output), self.path(f"{self.output}/{MARKER}")
        configuration = self.spark._jsc.hadoopConfiguration()
        self.fs.delete(marker, False)  # first: from here on nobody may take what is there for whole
        self.fs.delete(target, True)
        try:
            self.fs.mkdirs(target)
            for status in self.fs.listStatus(self.path(self.inside(name))):
                file = status.getPath()
                if file.getName() != MARKER:
                    self.spark._jvm.org.apache.hadoop.fs.FileUtil.copy(
                        self.fs, file, self.fs, self.path(f"{self.output}/{file.getName()}"), False, configuration)
            check(self.output)
            self.fs.create(marker, True).close()
        except BaseException:
            self.fs.delete(target, True)
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


class _Texts:
    """Files of the driver, by their paths: written beside them, so that what cannot be written is known before the release
    takes its place; after that they take theirs. What is left over is removed."""

    def __init__(self, texts: dict[str | None, str | None]) -> None:
        self.beside = {path: f"{path}.{secrets.token_hex(6)}" for path in texts if path is not None}
        for path, beside in self.beside.items():
            try:
                with open(beside, "x", encoding="utf-8") as file:
                    file.write(texts[path] or "")
            except OSError as error:
                self.remove()
                raise InputError(f"{path}: {error.strerror}; nothing was released", file=path) from None

    def publish(self) -> None:
        for path, beside in self.beside.items():
            os.replace(beside, path)

    def remove(self) -> None:
        for beside in self.beside.values():
            if os.path.exists(beside):
                os.unlink(beside)


# --- All of it ------------------------------------------------------------------------------------------------------


def refuse_too_many(n_rows: int) -> None:
    """Before anything is counted: keys and Spark's own counts have 64 bits, what the driver searches over has not."""
    if n_rows > MOST_ROWS:
        raise InputError(f"the table has {n_rows:,} rows, and at most {MOST_ROWS:,} can be counted; release it in several "
                         "tables, split by the values of a column, each with its own output")


def _refuse_copies(staged: Any, asked: _Asked) -> None:
    """A copied column that stands one-to-one with a quasi-identifier tells it. The library sees to sensitive columns."""
    F = import_module("pyspark.sql.functions")

    pairs = [(c, q) for c in asked.of("insensitive") for q in asked.of("qi")]
    if not pairs or asked.one("allow-copy") == "yes":
        return
    n = {name: F.countDistinct(F.coalesce(F.col(quoted(name)).cast("string"), F.lit("")))
         for name in {name for pair in pairs for name in pair}}
    both = [F.countDistinct(*(F.coalesce(F.col(quoted(name)).cast("string"), F.lit("")) for name in pair)) for pair in pairs]
    names = sorted(n)
    found = staged.agg(F.count(F.lit(1)), *(n[name] for name in names), *both).first()
    values = dict(zip(names, found[1:]))
    for pair, n_pairs in zip(pairs, found[1 + len(names):]):
        copied, quasi = pair
        if values[copied] == values[quasi] == n_pairs >= 2 and n_pairs < found[0]:
            raise NotMet(f"column '{copied}' stands one-to-one with the quasi-identifier '{quasi}': whoever sees it knows the "
                         "other; leave it out, make it a quasi-identifier, or say allow_copy=True")


def anonymize(df: Any, policy: Policy | str | os.PathLike[str] | None = None, *, output: str, format: str | None = None,
              overwrite: bool = False, max_records: int = 5_000_000, part_rows: int = 50_000, json: str | None = None,
              report: str | None = None, schema: str | None = None, **options: Any) -> Any:
    """Release a DataFrame in which everybody hides among at least k.

    A global recoding is that of one machine; a local one is made in parts, each on some executor, and loses little more.

    Args:
        df: any DataFrame; it is read once.
        policy: a :class:`kanon.Policy`, or the path of one on the driver; keywords override it.
        output: the folder to write. Where folders cannot be renamed (object stores) it is whole once its file _SUCCESS is
            there, which readers have to wait for.
        format: parquet, csv, orc or json; by default what the name ends with, otherwise parquet.
        overwrite: replace a folder that is there, after the new one was verified.
        max_records: distinct tuples that the driver takes at most; more are rolled up to coarser ones first.
        part_rows: rows of a part of a local recoding, about; a worker's memory grows with it.
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
    for option, number in {"max_records": max_records, "part_rows": part_rows}.items():
        if number < 1:
            raise UsageError(f"{option} is {number}, and must be at least 1", option=option)
    asked = _Asked(df.columns, policy, options)
    _refuse_what_cannot_be(asked, df.columns)
    wanted = {"report": report is not None, "schema": schema is not None}
    if _spark_parts.is_local(asked):
        _spark_parts.refuse_local(asked, options)
    folder = _Folder(df.sparkSession, output, overwrite)
    try:
        job = _Job(df, asked, policy, options, folder, form, wanted, json is not None, max_records, part_rows)
        made = job.local_recoding() if _spark_parts.is_local(asked) else job.global_recoding()
        checks = job.write(made)
        texts = _Texts({json: made.json, report: made.report, schema: made.schema})
        try:
            folder.publish("release", lambda path: checks.same_rows(job.read(path)))
            texts.publish()
        finally:
            texts.remove()
    finally:
        folder.remove()
    return job.read(output)


def _types(df: Any, asked: _Asked, form: str) -> Any:
    types = import_module("pyspark.sql.types")

    fields = [df.schema[name] if asked.role[name] != "qi" and form != "csv" else
              types.StructField(name, types.StringType()) for name in _leaving(asked)]
    return types.StructType([types.StructField(field.name, field.dataType, True) for field in fields])


def _leaving(asked: _Asked) -> list[str]:
    return [name for name in asked.names if asked.role[name] in ("qi", "sensitive", "insensitive")]


@dataclass
class _Made:
    """Rows with their keys as they are to be released, and what tells of them."""

    keyed: Any
    due: tuple[int, int]  # rows of the input and of the release
    generalizes: Callable[[_Checks, Any], None]
    json: str
    report: str | None = None
    schema: str | None = None


@dataclass
class _Job:
    df: Any
    asked: _Asked
    policy: Any
    options: dict[str, Any]
    folder: _Folder
    form: str
    wanted: dict[str, bool]
    is_told: bool  # JSON is wanted
    max_records: int
    part_rows: int

    def __post_init__(self) -> None:
        F = import_module("pyspark.sql.functions")

        self.spark, self.qis = self.df.sparkSession, self.asked.of("qi")
        kept = _leaving(self.asked) + ([self.asked.person] if self.asked.person in self.asked.role else [])
        self.staged = self.stored(self.df.select(*map(quoted, kept), F.monotonically_increasing_id().alias(KEY)), "input")
        self.n_rows = self.staged.count()
        refuse_too_many(self.n_rows)
        _refuse_copies(self.staged, self.asked)

    def stored(self, frame: Any, name: str) -> Any:
        """Written and read again, so that Spark never computes it twice."""
        frame.write.parquet(self.folder.inside(name))
        return self.spark.read.parquet(self.folder.inside(name))

    def read(self, path: str) -> Any:
        return _read(self.spark, path, self.form, _types(self.df, self.asked, self.form))

    def mapped(self, mapping: Any, name: str, frame: Any = None) -> Any:
        """Rows whose tuples are in a mapping, as what they become; `frame` has the cells that it is about."""
        frame = self.staged if frame is None else frame
        found = self.stored(self.spark.createDataFrame(mapping), name)
        rows = frame.join(sent_to_all(found, mapping), same_cells(frame, self.qis, found))
        return rows.select(*(found[f"r{self.qis.index(name)}"].alias(name) if name in self.qis else frame[quoted(name)]
                             for name in _leaving(self.asked)), frame[KEY])

    def global_recoding(self) -> _Made:
        more: dict[str, Any] = {"person_count": PEOPLE} if self.asked.person is not None else {}
        frame, domains = self.staged, None
        levels: dict[str, int] = {}
        sensitive = self.asked.of("sensitive")
        if sensitive and not self.asked.watched() and not self.fit(sensitive):
            self.refuse_report()
            sensitive = []  # the search does not need them, only losses that look at them: those are not told
        try:
            records = records_of(frame, self.asked, self.max_records, sensitive)
        except ResourceError:
            if (self.asked.one("algorithm") or "auto").partition(":")[0] not in FULL_DOMAIN:
                raise
            parts = _spark_parts
            domains = parts.domains_of(frame, self.asked, max(self.max_records, parts.LEAST_RECORDS), sensitive)
            frame, levels = parts.rolled_to_levels(frame, self.asked, domains, self.max_records, self.folder, sensitive)
            records = records_of(frame, self.asked, self.max_records, sensitive)
            own = [f"{name}={level}.." for name, level in levels.items()]
            more |= {"domains": domains.table, "level": own + self.asked.values.get("level", [])}
            warnings.warn(f"there are more than {self.max_records:,} distinct tuples, so columns were rolled up before the "
                          f"search: {', '.join(f'{name} to level {level}' for name, level in levels.items())}; what is proven "
                          "is proven of these levels and those above", KanonWarning, stacklevel=4)
        release: Release = _functions.anonymize(records, policy=self.policy, **{
            **self.options, **more, "count": COUNT, "order": "input", "output": None, **self.wanted})
        mapping = mapping_of(records, release, self.qis)
        due = release.facts["input"]["rows"], release.facts["released"]["rows"]
        raw, facts = release._raw, {**release.facts}
        judged = same_tuples(mapping)
        if domains is not None:
            judged = _spark_parts.generalizing(self.asked, domains, max(self.max_records, _spark_parts.LEAST_RECORDS))
            facts["rolled_up"] = levels
        if sensitive != self.asked.of("sensitive"):
            facts["loss"] = {name: loss for name, loss in facts["loss"].items() if name not in OF_SENSITIVE}
        text = raw.json() if facts == release.facts else _spark_parts.json_of(facts)
        return _Made(self.stored(self.mapped(mapping, "mapping", frame), "keyed"), due, judged, text, raw.kept("report"),
                     raw.kept("schema"))

    def local_recoding(self) -> _Made:
        F = import_module("pyspark.sql.functions")

        parts = _spark_parts
        watched = self.asked.watched()
        tells = (self.is_told or any(self.wanted.values())) and self.fit(self.asked.of("sensitive"))
        if not tells:
            self.refuse_report()
        records = records_of(self.staged, self.asked, self.max_records, watched) if tells or self.fit(watched) else None
        domains = parts.domains_of(self.staged, self.asked, max(self.max_records, parts.LEAST_RECORDS), watched, records)
        cut = parts.cut(self.staged, self.asked, domains, records, self.part_rows, self.max_records, self.folder)
        del records
        copied = [name for name in _leaving(self.asked) if name not in self.qis]
        found = parts.search(self.staged, self.asked, domains, cut, self.folder, copied, self.stored)
        labels = found.where(F.col(KEY).isNotNull()).drop("facts")
        if cut.counted is not None:
            counted = self.mapped(cut.counted, "counted")
            labels = labels.unionByName(counted.select(KEY, *(F.col(quoted(name)).alias(f"r{i}") for i, name in enumerate(self.qis)),
                                                       *(F.col(quoted(name)).alias(f"c{i}") for i, name in enumerate(copied)),
                                                       F.lit(parts.RELEASED).alias("state")))
        suppressed = labels.where(F.col("state") == parts.SUPPRESSED).count()
        removed = 0 if suppressed == 0 or self.may_stay(labels) else suppressed
        rows = labels if removed == 0 else labels.where(F.col("state") == parts.RELEASED)
        place = {name: f"r{i}" for i, name in enumerate(self.qis)} | {name: f"c{i}" for i, name in enumerate(copied)}
        keyed = rows.select(*(F.col(place[name]).alias(name) for name in _leaving(self.asked)), KEY, F.col("state").alias(STATE))
        due = domains.n_rows, domains.n_rows - removed
        judged = parts.generalizing(self.asked, domains, max(self.max_records, parts.LEAST_RECORDS),
                                    lambda beside: self.tell(made, beside, cut) if tells else None)
        made = _Made(keyed, due, judged, parts.json_of(parts.facts_of(found, cut, domains, removed)))
        return made

    def fit(self, sensitive: list[str]) -> bool:
        """Whether records of the quasi-identifiers and these columns fit the driver, most likely."""
        return self.n_rows <= self.max_records or _spark_parts.fits(self.staged, self.asked, self.max_records, sensitive)

    def tell(self, made: _Made, beside: Any, cut: Any) -> tuple[Any, Any] | None:
        """Findings, report and schema of the whole table, where it fits the driver as records, which are returned with what
        they became."""
        parts = _spark_parts
        try:
            data, given = parts.told(beside, self.asked, self.max_records)
        except ResourceError:
            self.refuse_report()
            return None
        more: dict[str, Any] = {"person_count": PEOPLE} if self.asked.person is not None else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KanonWarning)  # the run over the cut has said them
            release: Release = _functions.anonymize(data, policy=self.policy, **{
                **self.options, **more, "count": COUNT, "order": "input", "output": None, **self.wanted, "given": given})
        parts.same_as_given(release, given, self.qis, made.due[1])
        made.json = parts.json_of({**release.facts, "parts": parts.facts_of_parts(cut)})
        made.report, made.schema = release._raw.kept("report"), release._raw.kept("schema")
        return data, given

    def refuse_report(self) -> None:
        for option, wanted in self.wanted.items():
            if wanted:
                raise ResourceError(f"{option}: it looks at the table as a whole, and that is more than {self.max_records:,} "
                                    "distinct records, too many for the driver; give it memory and a larger max_records, or "
                                    "leave it out", option="max_records")

    def may_stay(self, labels: Any) -> bool:
        """Whether the rows that parts suppressed, all of them together with those that are * anyway, hold every model."""
        F = import_module("pyspark.sql.functions")

        stars = F.lit(True)
        for i in range(len(self.qis)):
            stars &= F.col(f"r{i}") == "*"
        rows = labels.where(stars).select(KEY, *(F.col(f"r{i}").alias(name) for i, name in enumerate(self.qis)))
        joined = now_beside(self.staged, rows, self.qis)
        return all(broken_classes(self.staged, joined, self.asked, name, parameters) == 0
                   for name, parameters in self.asked.models())

    def write(self, made: _Made) -> _Checks:
        """The release beside its target, counted again."""
        F = import_module("pyspark.sql.functions")

        texts = [_sorted_by(F.coalesce(F.col(quoted(name)).cast("string"), F.lit("")), self.form) for name in _leaving(self.asked)]
        _write(made.keyed.drop(KEY, STATE).orderBy(*texts), self.folder.inside("release"), self.form)
        written = self.read(self.folder.inside("release"))
        checks = _Checks(self.staged, made.keyed, written, self.asked, made.due, made.generalizes, self.stored)
        checks.run()
        return checks


# --- The program ----------------------------------------------------------------------------------------------------


def main(words: list[str]) -> int:
    """``DATA -o OUT`` with the flags of ``kanon anonymize``, for ``spark-submit``; returns the exit code."""
    letters = {"k": "k", "o": "output", "p": "policy", "d": "delimiter"}
    own = {"format": "F", "overwrite": None, "max-records": "N", "part-rows": "N"}
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
        for option in ("max_records", "part_rows"):
            if option in given:
                if not given[option].isdecimal():
                    raise UsageError(f"--{option.replace('_', '-')} is '{given[option]}', and must be a whole number", option=option)
                given[option] = int(given[option])
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
