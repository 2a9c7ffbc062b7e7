"""A release that Spark wrote, counted again by Spark SQL from its files: other code than the search's, which shares
nothing with the library but the settings."""
from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

from . import _functions
from ._spark_records import COUNT, KEY, RELEASES, STATE, Asked, plain, quoted
from .errors import KanonWarning, NotMet, UsageError

NUMBER = r"^[+-]?[0-9]+([.][0-9]+)?$"
ISO_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"
BLANKS_AROUND = "^[ \\t\\r\\n\u00a0]+|[ \\t\\r\\n\u00a0]+$"


# --- What a class must satisfy ----------------------------------------------------------------------------------------


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


def _far(F: Any, p: dict[str, str]) -> Any:
    """Distance of the class from the table; values that the class lacks count with all of their share."""
    limit = float(p["t"])
    q, share = F.col("n") / F.col("class_rows"), F.col("share")
    if p.get("distance", "equal") == "hierarchical":  # one row for each node above a value of the class: see _with_nodes
        return F.sum(F.greatest(q - share, F.lit(0.0))) / F.max("height") <= limit + 1e-9
    if p.get("distance", "equal") == "ordered":  # one row for each value of the table: see Checks._with_all_values
        return F.sum(F.abs(F.col("below"))) / F.greatest(F.max("n_values") - 1, F.lit(1)) <= limit + 1e-9
    return (F.sum(F.abs(q - share)) + (1 - F.sum(share))) / 2 <= limit + 1e-9


def _gain(F: Any, p: dict[str, str]) -> Any:
    limit = F.lit(float(p["beta"]))
    if p.get("enhanced", "yes") == "yes":
        limit = F.least(limit, -F.log(F.col("share")))
    return (F.col("n") / F.col("class_rows") - F.col("share")) / F.col("share") - limit


# Of the values of a class, one row each with `n` of `class_rows` and their `share` of the table. The slack is that of sums
# of rounded numbers.
_HISTOGRAMS: dict[str, Callable[[Any, dict[str, str]], Any]] = {
    "l-diversity": _l_diversity,
    "p-sensitive": lambda F, p: F.count(F.lit(1)) >= float(p["p"]),
    "t-closeness": _far,
    "beta-likeness": lambda F, p: F.max(_gain(F, p)) <= 1e-9,
    "delta-disclosure": lambda F, p: (F.max(F.abs(F.log2(F.col("n") / F.col("class_rows") / F.col("share")))) <
                                      float(p["delta"])) & (F.sum("share") > 1 - 1e-9),
    "alpha-k": lambda F, p: F.coalesce(F.max(F.when(F.col("protected"), F.col("n") / F.col("class_rows"))), F.lit(0.0)) <=
    float(p["alpha"]) + 1e-9,
}
MODELS = ("k-anonymity", *_HISTOGRAMS)


def refuse_models(asked: Asked) -> None:
    """What cannot be counted again is refused before anything is read."""
    for name, parameters in asked.models():
        distance = parameters.get("distance", "equal")
        if name not in MODELS:
            raise UsageError(f"{name} cannot be counted again by Spark, so nothing is released under it; known are "
                             f"{', '.join(MODELS)}", option="model")
        column = parameters.get("column") or (asked.of("sensitive") or [""])[0]
        if (distance == "hierarchical" or (distance == "ordered" and _spec_of(asked, column))) and \
                asked.one("fold-sensitive") == "yes":
            raise UsageError(f"t-closeness with distance={distance} is counted again by Spark where every value is a leaf of the "
                             "hierarchy, and with fold_sensitive one value has several; leave one of them out", option="model")


# --- Checks -------------------------------------------------------------------------------------------------------------


class Checks:
    """The written files against the staged input, from the files alone; the first thing that does not hold is raised.

    `due` are the rows of the input and those that are due in the release. What tells that cells generalize what stood
    there before is `generalizes`, called with the rows of the input beside what they became (`now0`, `now1`, ...), which
    `stored` keeps: every model looks at them. In `beside` are those that were removed, too."""

    def __init__(self, staged: Any, keyed: Any, written: Any, asked: Asked, due: tuple[int, int],
                 generalizes: Callable[[Checks, Any], None], stored: Callable[[Any, str], Any]) -> None:
        self.staged, self.keyed, self.written, self.asked = staged, keyed, written, asked
        self.due, self.generalizes, self.stored = due, generalizes, stored
        self.qis = asked.of("qi")
        self.copied = [name for name in asked.names if asked.role[name] in ("sensitive", "insensitive")]

    def run(self) -> None:
        joined = self.rows()
        self.same_rows(self.written)
        self.generalizes(self, joined)
        for name, parameters in self.asked.models():
            self.model(joined, name, parameters)

    def fail(self, what: str) -> None:
        raise NotMet(f"the written files do not hold what was asked for, so nothing is released: {what}")

    def rows(self) -> Any:
        """Every released row is one of the input's, with its copied cells unchanged, and none is twice."""
        F = import_module("pyspark.sql.functions")

        n, n_input = self.keyed.count(), self.staged.count()
        if (n_input, n) != self.due:
            self.fail(f"{n} rows of {n_input}, where {self.due[1]} of {self.due[0]} are due")
        self.beside = self.stored(now_beside(self.staged, self.keyed, [*self.qis, *self.copied], "left"), "joined")
        same = F.lit(True)
        for i, name in enumerate(self.copied, len(self.qis)):
            same &= F.col(quoted(name)).eqNullSafe(F.col(f"now{i}"))
        released = F.col(RELEASES)  # null: removed
        n_beside, n_joined, n_wrong = self.beside.agg(F.count(F.lit(1)), F.count(released),
                                                      F.count(F.when(released & ~same, 1))).first()
        if n_beside != n_input or n_joined != n or n_wrong:
            self.fail(f"{n_beside - n_input} rows are there twice, {n - n_joined} are none of the input's, {n_wrong} have other "
                      "copied cells")
        return self.beside.where(released)

    def same_rows(self, written: Any) -> None:
        """The files without keys are the keyed rows, as a multiset."""
        F = import_module("pyspark.sql.functions")

        names = [*self.qis, *self.copied]
        if sorted(written.columns) != sorted(names):
            self.fail(f"the columns are {', '.join(written.columns)}")

        def texts(frame: Any, sign: int) -> Any:
            cells = (F.coalesce(F.col(quoted(name)).cast("string"), F.lit("")).alias(f"{i}") for i, name in enumerate(names))
            return frame.select(*cells, F.lit(sign).alias("sign"))

        both = texts(written, 1).unionByName(texts(self.keyed, -1))
        n_wrong = both.groupBy(*(f"{i}" for i in range(len(names)))).agg(F.sum("sign").alias("sign")).where("sign != 0").count()
        if n_wrong:
            self.fail(f"{n_wrong} distinct rows stand there more or less often than they should")

    def model(self, joined: Any, name: str, parameters: dict[str, str]) -> None:
        n_broken = broken_classes(self.staged, joined, self.asked, name, parameters)
        if n_broken:
            self.fail(f"{n_broken} classes break {name} ({', '.join(f'{key}={value}' for key, value in parameters.items())})")


def now_beside(staged: Any, keyed: Any, names: list[str], how: str = "inner") -> Any:
    """Rows of the input, and in now0, now1, ... what stands in these columns of the rows with the same key."""
    F = import_module("pyspark.sql.functions")

    own = [F.col(quoted(name)).alias(f"now{i}") for i, name in enumerate(names)]
    own += [F.col(STATE)] if STATE in keyed.columns else []
    return staged.join(keyed.select(KEY, *own, F.lit(True).alias(RELEASES)), KEY, how)


def same_tuples(mapping: Any) -> Callable[[Checks, Any], None]:
    """Global recoding: which tuple became what, and how often, is what the library's verifier judged. The mapping is not
    taken for granted: it is counted from the keyed rows."""

    def check(checks: Checks, joined: Any) -> None:
        F = import_module("pyspark.sql.functions")

        names = [*(F.col(quoted(name)).alias(f"{i}") for i, name in enumerate(checks.qis)),
                 *(F.col(f"now{i}").alias(f"r{i}") for i in range(len(checks.qis)))]
        keys = [*(f"{i}" for i in range(len(checks.qis))), *(f"r{i}" for i in range(len(checks.qis)))]
        found = joined.select(*names).groupBy(*keys).agg(F.count(F.lit(1)).alias(COUNT)).toArrow()
        order = [(name, "ascending") for name in keys]
        due = mapping.sort_by(order)
        found = found.select([*keys, COUNT]).cast(due.schema).sort_by(order)
        if not found.combine_chunks().equals(due.combine_chunks()):
            checks.fail("tuples did not become what the verified mapping says")

    return check


# --- Models ----------------------------------------------------------------------------------------------------------


def broken_classes(staged: Any, joined: Any, asked: Asked, name: str, parameters: dict[str, str]) -> int:
    """Classes of equal released cells (now0, now1, ...) that break a model. With joint=yes the other sensitive columns are
    quasi-identifiers, too."""
    F = import_module("pyspark.sql.functions")

    cells = [f"now{i}" for i in range(len(asked.of("qi")))]
    if name == "k-anonymity":
        size = F.count(F.lit(1))
        if asked.person is not None:  # all rows without a person may be one's
            who = plain(F.col(quoted(asked.person)), asked.nulls)
            size = F.countDistinct(who) + F.max(who.isNull().cast("int"))
        classes = joined.groupBy(*cells).agg((size >= int(parameters["k"])).alias("holds"))
        return int(classes.where("not holds or holds is null").count())

    column = parameters.get("column") or asked.of("sensitive")[0]
    value = _value(asked, column)
    others = [other for other in asked.of("sensitive") if other != column and parameters.get("joint", "no") == "yes"]
    keys = [*cells, *(f"other{i}" for i in range(len(others)))]
    valued = joined.select(*cells, *(_value(asked, other).alias(f"other{i}") for i, other in enumerate(others)),
                           value.alias("value"))
    total = staged.count()
    shares = staged.select(value.alias("value")).groupBy("value").agg((F.count(F.lit(1)) / F.lit(total)).alias("share"))
    rows = valued.groupBy(*keys, "value").agg(F.count(F.lit(1)).alias("n"))
    sizes = valued.groupBy(*keys).agg(F.count(F.lit(1)).alias("class_rows"))
    if parameters.get("distance") == "hierarchical":
        counted = _with_nodes(rows, sizes, shares, keys, _nodes_of(staged, asked, column))
    elif parameters.get("distance") == "ordered":
        counted = _with_all_values(rows, sizes, shares, keys, _leaves_of(staged, asked, column))
    else:
        counted = join_equal(join_equal(rows, sizes, keys), shares, ["value"])
    if name == "alpha-k":
        counted = _with_protected(counted, asked, parameters.get("values"))
    classes = counted.groupBy(*keys).agg(_HISTOGRAMS[name](F, parameters).alias("holds"))
    return int(classes.where("not holds or holds is null").count())


def _value(asked: Asked, column: str) -> Any:
    F = import_module("pyspark.sql.functions")

    return _folded(plain(F.col(quoted(column)), asked.nulls), asked)


def _folded(text: Any, asked: Asked) -> Any:
    """With fold_sensitive, the text without what does not count: case, and blanks around it, as in base/fold.h."""
    F = import_module("pyspark.sql.functions")

    if asked.one("fold-sensitive") != "yes":
        return text
    return F.translate(F.lower(F.regexp_replace(text, BLANKS_AROUND, "")), "ςſ", "σs")


def _with_all_values(rows: Any, sizes: Any, shares: Any, keys: list[str], leaves: Any) -> Any:
    """One row for each class and value of the table, with how much more of the class than of the table lies up to it. Values
    stand in the order of numbers or dates, or of `leaves` (value, leaf), where there are some; a missing one is the last."""
    F = import_module("pyspark.sql.functions")
    Window = import_module("pyspark.sql").Window

    by_number = F.expr("try_cast(value as decimal(38,12))")
    value = F.col("value")
    if leaves is None and shares.where(value.isNotNull() & ~value.rlike(NUMBER) & ~value.rlike(ISO_DATE)).limit(1).count():
        raise UsageError("t-closeness with distance=ordered: the values are neither numbers nor dates as 2024-01-31, so "
                         "Spark cannot count again in their order; take distance=equal", option="model")
    if leaves is not None:
        shares = shares.join(leaves, "value", "left")  # a missing value has none
    by_value = Window.orderBy(value.isNull(), F.col("leaf") if leaves is not None else by_number, value)
    ranked = shares.withColumn("rank", F.row_number().over(by_value)).withColumn("n_values", F.count(F.lit(1)).over(
        Window.partitionBy(F.lit(1))))
    all_values = sizes.crossJoin(ranked)
    found = rows.withColumnRenamed("n", "found")
    renamed = [f"same{i}" for i in range(len(keys))]
    for key, new in zip(keys, renamed):
        found = found.withColumnRenamed(key, new)
    found = found.withColumnRenamed("value", "same")
    condition = all_values["value"].eqNullSafe(found["same"])
    for key, new in zip(keys, renamed):
        condition &= all_values[key].eqNullSafe(found[new])
    counted = all_values.join(found, condition, "left").withColumn("n", F.coalesce("found", F.lit(0))).drop(*renamed, "same")
    upto = Window.partitionBy(*keys).orderBy("rank")
    return counted.withColumn("below", F.sum(F.col("n") / F.col("class_rows") - F.col("share")).over(upto))


def _spec_of(asked: Asked, column: str) -> str | None:
    """Of its hierarchy."""
    return next((pair.partition("=")[2] for pair in reversed(asked.values.get("hierarchy", [])) if pair.startswith(f"{column}=")),
                None)


def _texts_of(staged: Any, asked: Asked, column: str) -> Any:
    """The values of a column as a table of the library's, missing ones left out."""
    pa = import_module("pyarrow")
    F = import_module("pyspark.sql.functions")

    texts = sorted(text for text, in staged.select(F.col(quoted(column)).cast("string")).distinct().collect()
                   if text is not None and text not in asked.nulls)
    return pa.table({column: pa.array(texts, pa.string())})


def _paths_of(texts: Any, spec: str) -> list[list[str]]:
    """From every value to the root of its hierarchy, in the order of the leaves."""
    column = texts.column_names[0]
    rows: list[list[str]] = _functions.hierarchy_("make", texts, hierarchy={column: spec}).rows
    n_lost = len(set(texts[column].to_pylist()) - {row[0] for row in rows})
    if n_lost:
        raise UsageError(f"t-closeness: {n_lost} values of column '{column}' are spelled otherwise in its hierarchy, so Spark "
                         "cannot count again; spell them alike", option="model")
    return rows


def _leaves_of(staged: Any, asked: Asked, column: str) -> Any:
    """(value, leaf) of a column of text with a hierarchy; None: its values have an order of their own, or none."""
    F = import_module("pyspark.sql.functions")

    spec = _spec_of(asked, column)
    if spec is None:
        return None
    texts = _texts_of(staged, asked, column)
    said = [pair.partition("=")[2] for pair in asked.values.get("type", []) if pair.startswith(f"{column}=")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KanonWarning)
        kind = said[-1] if said else _functions.profile(texts).facts["columns"][0]["type"]
    if kind != "text":
        return None
    leaves = [(row[0], leaf) for leaf, row in enumerate(_paths_of(texts, spec))]
    frame = staged.sparkSession.createDataFrame(leaves, "value string, leaf int")
    return frame.groupBy(plain(F.col("value"), asked.nulls).alias("value")).agg(F.min("leaf").alias("leaf"))


def _nodes_of(staged: Any, asked: Asked, column: str) -> Any:
    """(value, level, node, height): the nodes below the root of the column's hierarchy that a value lies under, itself
    among them. A missing value that the hierarchy does not know lies below the root alone."""
    F = import_module("pyspark.sql.functions")

    spec = _spec_of(asked, column)
    if spec is None:
        raise UsageError(f"t-closeness with distance=hierarchical needs a hierarchy of column '{column}'", option="model")
    rows = _paths_of(_texts_of(staged, asked, column), spec)
    height = len(rows[0]) - 1
    number: dict[tuple[int, tuple[str, ...]], int] = {}
    paths = {row[0]: [number.setdefault((level, tuple(row[level:])), len(number)) for level in range(height)] for row in rows}
    nodes: list[tuple[str | None, int, int, int]]
    nodes = [(text, level, node, height) for text in sorted(paths) for level, node in enumerate(paths[text])]
    nodes += [(None, level, len(number) + level, height) for level in range(height)]
    frame = staged.sparkSession.createDataFrame(nodes, "value string, level int, node int, height int")
    return frame.withColumn("value", plain(F.col("value"), asked.nulls)).distinct()


def _with_nodes(rows: Any, sizes: Any, shares: Any, keys: list[str], nodes: Any) -> Any:
    """One row for each class and node above its values: `n` rows of the class below it, and its share of the table."""
    F = import_module("pyspark.sql.functions")

    below = join_equal(shares, nodes, ["value"]).groupBy("node").agg(F.sum("share").alias("share"))
    found = join_equal(rows, nodes, ["value"]).groupBy(*keys, "node", "height").agg(F.sum("n").alias("n"))
    return join_equal(found, sizes, keys).join(F.broadcast(below), "node")


def _with_protected(counted: Any, asked: Asked, values: str | None) -> Any:
    """Which values alpha-k protects: those named, or all. They are joined, so that no plan shows them."""
    F = import_module("pyspark.sql.functions")

    if values is None:
        return counted.withColumn("protected", F.lit(True))
    named = [re.sub(r"\\\|", "|", value) for value in re.findall(r"(?:\\\||[^|])+", values)]
    frame = counted.sparkSession.createDataFrame([(value,) for value in named], "named string")
    folded = _folded(plain(F.col("named"), asked.nulls), asked)
    frame = frame.select(folded.alias("named"), F.lit(True).alias("is_named")).distinct()
    return counted.join(F.broadcast(frame), counted["value"].eqNullSafe(frame["named"]), "left") \
        .withColumn("protected", F.coalesce("is_named", F.lit(False))).drop("named", "is_named")


def join_equal(left: Any, right: Any, keys: list[str]) -> Any:
    """An inner join in which a missing cell equals a missing cell; without keys, of everything with everything."""
    F = import_module("pyspark.sql.functions")

    condition, renamed = F.lit(True), right
    for i, key in enumerate(keys):
        renamed = renamed.withColumnRenamed(key, f"__right{i}")
        condition &= left[quoted(key)].eqNullSafe(renamed[f"__right{i}"])
    return left.join(renamed, condition).drop(*(f"__right{i}" for i in range(len(keys))))
