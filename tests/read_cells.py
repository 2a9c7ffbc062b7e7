"""Released cells, read by docs/cells.md and nothing else: what a cell means is a test on values of the original.

    column = Column("date", order=None, tree=None, values=set of the column's texts)
    column.covers("1910..1919", "1913-05-01")
"""
import datetime
import decimal
import functools
import re

DATE_FORMS = ["%Y-%m-%d", "%d.%m.%Y", "%Y/%m/%d", "%d%b%Y", "%d-%b-%Y", "%d %B %Y", "%d. %B %Y", "%b %d %Y", "%B %d, %Y"]
GERMAN = {"januar": "january", "februar": "february", "märz": "march", "mär": "mar", "mai": "may", "juni": "june", "juli": "july",
          "oktober": "october", "okt": "oct", "dezember": "december", "dez": "dec"}
DAY = datetime.timedelta(days=1)


@functools.lru_cache(maxsize=100_000)
def number(text):
    """An exact number, or None: leading zeros are codes."""
    if not re.fullmatch(r" *[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)? *", text):
        return None
    return decimal.Decimal(text.strip())


@functools.lru_cache(maxsize=100_000)
def moment(text):
    """(start, end) of a day or of a point in time, or None."""
    text = re.sub(r"[^\W\d]+", lambda word: GERMAN.get(word[0].lower(), word[0]), text)
    for form in DATE_FORMS:
        try:
            day = datetime.datetime.strptime(text.strip(), form)
            return day, day + DAY
        except ValueError:
            pass
    for form in ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%d%b%Y:%H:%M:%S"]:
        try:
            point = datetime.datetime.strptime(text.strip(), form)
            return point, point + datetime.timedelta(microseconds=1)
        except ValueError:
            pass
    return None


def period(text):
    """(start, end) of a year, half, quarter, month or week, or None."""
    match = re.fullmatch(r"(\d{4})(?:-(?:(H)([12])|(Q)([1-4])|(W)(\d\d)|(\d\d)))?", text)
    if not match:
        return None
    year = int(match[1])
    if match[6]:
        start = datetime.datetime.combine(datetime.date.fromisocalendar(year, int(match[7]), 1), datetime.time())
        return start, start + 7 * DAY
    if match[2]:
        first, months = 6 * int(match[3]) - 5, 6
    elif match[4]:
        first, months = 3 * int(match[5]) - 2, 3
    elif match[8]:
        first, months = int(match[8]), 1
    else:
        first, months = 1, 12
    last = first + months
    return datetime.datetime(year, first, 1), datetime.datetime(year + last // 13, (last - 1) % 12 + 1, 1)


def unescape(text):
    return re.sub(r"\\(.)", r"\1", text, flags=re.S)


def split(text, separator):
    """Splits at unescaped separators."""
    parts, part, i = [], "", 0
    while i < len(text):
        if text[i] == "\\" and i + 1 < len(text):
            part += text[i:i + 2]
            i += 2
        elif text.startswith(separator, i):
            parts.append(part)
            part = ""
            i += len(separator)
        else:
            part += text[i]
            i += 1
    return parts + [part]


class Column:
    """kind: int, decimal, date or text; values: the original's texts; tree: {label: set of values}; order: list."""

    def __init__(self, kind, values=(), tree=None, order=None, missing=("",)):
        self.kind, self.values, self.tree, self.order, self.missing = kind, set(values), tree, order, set(missing)
        self.meanings = {}  # [cell, how many values there were]: to look through the values once for each cell

    def same(self, a, b):
        if a == b:
            return True
        if self.kind in ("int", "decimal"):
            return number(a) is not None and number(a) == number(b)
        if self.kind == "date":
            return moment(a) is not None and moment(a) == moment(b)
        return False

    def end(self, text):
        """(smallest, first beyond) of an end of an interval."""
        if self.order is not None:
            return (self.order.index(text), self.order.index(text) + 1)
        if self.kind == "date":
            return moment(text) or period(text)
        value = number(text)
        return None if value is None else (value, value)

    def interval(self, cell):
        """A test on values, or None."""
        if cell.startswith("[") and cell.endswith(")") and cell.count(",") == 1:
            low, high = cell[1:-1].split(",")
            return self.between(low, high, True)
        parts = split(cell, "..")
        if len(parts) != 2 or parts == ["", ""]:
            return None
        without = parts[1].startswith("<")
        return self.between(unescape(parts[0]), unescape(parts[1][without:]), without)

    def between(self, low, high, without):
        try:
            first = self.end(low) if low else None
            last = self.end(high) if high else None
        except ValueError:
            return None
        if (low and first is None) or (high and last is None):
            return None

        def test(text):
            try:
                at = self.end(text)
            except ValueError:
                return False
            if at is None:
                return False
            if low and at[0] < first[0]:
                return False
            if not high:
                return True
            if without:
                return at[0] < last[0]
            return at[0] < last[1] if last[1] != last[0] else at[0] <= last[0]
        return test

    def some_spelling(self, test):
        """A number is masked in one of its spellings: 1.0 is ***1 where the table has 1, too."""
        if self.kind not in ("int", "decimal"):
            return test
        return lambda value: test(value) or any(test(other) for other in self.values if self.same(other, value))

    def meaning(self, cell):
        """A test on values that are not missing; raises ValueError for what docs/cells.md does not know."""
        if cell == "*":
            return lambda value: True
        if self.tree is not None and cell in self.tree:
            return lambda value: any(self.same(value, below) for below in self.tree[cell])
        if any(self.same(cell, value) for value in self.values):
            return lambda value: self.same(cell, value)
        if cell.startswith("{") and cell.endswith("}"):
            members = [unescape(part) for part in split(cell[1:-1], "|") if part != "\\N"]
            return lambda value: any(self.same(value, member) for member in members)
        test = self.interval(cell)
        if test is not None:
            return test
        if self.kind == "date" and period(cell):
            start, past = period(cell)
            return lambda value: moment(value) is not None and start <= moment(value)[0] < past
        if cell.startswith("*") or cell.endswith("*"):
            begins, ends = cell.rstrip("*"), cell.lstrip("*")  # what is kept may have stars of its own
            return self.some_spelling(lambda value: len(value) <= len(cell) and (
                (cell.endswith("*") and value.startswith(begins)) or (cell.startswith("*") and value.endswith(ends))))
        raise ValueError(cell)

    def covers(self, cell, value, wildcard=False):
        """Whether a row with this cell can be one with that value."""
        if cell == "*":
            return True
        if value in self.missing or cell in self.missing:
            if cell.startswith("{") and value in self.missing:
                return "\\N" in split(cell[1:-1], "|")
            below = self.tree.get(cell, ()) if self.tree else ()
            return value in self.missing and (cell in self.missing or value in below)
        known = cell, len(self.values)
        if known not in self.meanings:
            self.meanings[known] = self.meaning(cell)
        return self.meanings[known](value)

    def bounds(self, low, high, kind, max_included):
        """The same for a cell in bounds: a test on values that are not missing; raises ValueError for what is none."""
        if kind == "value" and low and low == high:
            return lambda value: self.end(value)[0] == self.end(low)[0]
        if kind == "interval" and (low or high):
            test = self.between(low, high, not max_included)
            if test:
                return test
        if kind in ("suppressed", "missing") and not low and not high:
            return lambda value: kind == "suppressed"
        raise ValueError(f"{low},{high},{kind}")

    def bounds_cover(self, low, high, kind, max_included, value):
        if value in self.missing:
            return kind in ("missing", "suppressed")
        return self.bounds(low, high, kind, max_included)(value)
