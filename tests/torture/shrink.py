"""A failing case made small: fewer rows, columns, options, files, and the simplest way in and out, as long as it fails in the
same way."""
import copy
import time


def without_rows(case, first, n):
    smaller = copy.deepcopy(case)
    del smaller["rows"][first:first + n]
    return smaller


def without_column(case, i):
    """Without a column, and without what names it."""
    smaller = copy.deepcopy(case)
    name = smaller["columns"][i]["name"]
    if not case["header"]:
        return None  # the others' names would change
    del smaller["columns"][i]
    for row in smaller["rows"]:
        del row[i:i + 1]  # a derived column has no cells there
    smaller["options"] = [pair for pair in smaller["options"] if f"column={name}," not in pair[1] + ","]
    if not any(column["role"] == "quasi" for column in smaller["columns"]) or any(
            "population" in value for _, value in smaller["options"]):
        return None
    return smaller


def candidates(case):
    """Smaller cases, the boldest first."""
    n = len(case["rows"])
    size = n // 2
    while size >= 1:
        for first in range(0, n, size):
            if size < n:
                yield without_rows(case, first, size)
        size //= 2
    for i in range(len(case["columns"])):
        smaller = without_column(case, i)
        if smaller:
            yield smaller
    for key, plain in (("source", "csv"), ("second", "csv"), ("sink", "file"), ("policy", False), ("by", "program"), ("pages", False)):
        if case.get(key, plain) != plain:
            yield case | {key: plain}
    for i, (option, value) in enumerate(case["options"]):
        smaller = copy.deepcopy(case)
        if option == "k":
            if int(value) > 1:
                smaller["options"][i][1] = str(int(value) - 1)
                yield smaller
            continue
        del smaller["options"][i]
        yield smaller
    for i, column in enumerate(case["columns"]):
        for option in column["options"]:
            if option != "type":
                smaller = copy.deepcopy(case)
                del smaller["columns"][i]["options"][option]
                yield smaller


def shrink(case, kinds_of, seconds=60):
    """The smallest case found whose kinds of problems share one with those of `case`. kinds_of(case): a set."""
    wanted, end = kinds_of(case), time.monotonic() + seconds
    progress = True
    while progress and wanted:
        progress = False
        for smaller in candidates(case):
            if time.monotonic() > end:
                return case
            if kinds_of(smaller) & wanted:
                case, progress = smaller, True
                break
    used = " ".join(str(column["options"].get("hierarchy")) for column in case["columns"]) + str(case["options"])
    return case | {"files": {name: text for name, text in case["files"].items() if name in used}}
