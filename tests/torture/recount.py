"""A release counted again: from the released file, the original and the policy, by the definitions in docs/models,
docs/measures and docs/cells.md. Nothing here is kanon's."""
import collections
import csv
import fractions
import io
import math
import re

import read_cells

NEAR = 1e-9


def option(case, name, default=None):
    return next((value for key, value in case["options"] if key == name), default)


# --- The table as it is meant -----------------------------------------------------------------------------------------


def is_valid(kind, text):
    value = read_cells.moment(text) if kind == "date" else read_cells.number(text)
    return value is not None and (kind != "int" or value == int(value))


def between(unit, start, end):
    """Whole units from one day to another, rounded down: docs/policy.md."""
    months = 12 * (end.year - start.year) + end.month - start.month - (end.day < start.day)
    days = (end - start).days
    return {"age": months // 12, "years": months // 12, "months": months, "weeks": days // 7, "days": days}[unit]


def derived(spec, cells):
    """The cell of a derived column; `cells`: {column: cell, "" where it is missing}."""
    unit, start, end = re.fullmatch(r"(\w+)\(([^,]+), ?([^,]+)\)", spec).groups()
    if "" in (cells.get(start, start), cells.get(end, end)):
        return ""
    value = between(unit, *(read_cells.moment(cells.get(name, name))[0] for name in (start, end)))
    return str(value) if unit != "age" or 0 <= value <= 150 else ""  # an error unless --invalid missing


def meant(case):
    """The rows as kanon has to read them: without blanks under --trim, numbers with a point, invalid cells missing, and the cells
    of derived columns behind the others."""
    trim = (lambda text: text.strip(" \t")) if option(case, "trim") else (lambda text: text)
    comma, lenient = option(case, "decimal") == "comma", option(case, "invalid") == "missing"
    nulls = {""} | set(option(case, "null", "").split(","))
    there = [column for column in case["columns"] if "derive" not in column["options"]]
    more = [column for column in case["columns"] if "derive" in column["options"]]
    rows = []
    for row in case["rows"]:
        cells = [trim(cell) for cell in row]
        for i, column in enumerate(there):
            kind = column["kind"]
            if kind == "dates" and (cells[i] in nulls or not is_valid("date", cells[i])):
                cells[i] = ""
            if column["role"] != "quasi" or kind not in ("int", "decimal", "date"):
                continue
            if comma and kind == "decimal":
                cells[i] = cells[i].replace(",", ".")
            if lenient and cells[i] not in nulls and not is_valid(kind, cells[i]):
                cells[i] = ""
        named = {column["name"]: cell for column, cell in zip(there, cells)}
        rows.append(cells + [derived(column["options"]["derive"], named) for column in more])
    return rows


def unguard(cell):
    return cell[1:] if len(cell) > 1 and cell[0] == "'" and cell[1] in "=+-@\t\r'" else cell


def parse_model(text):
    """name and parameters; in values=a|b nothing is escaped here."""
    name, _, rest = text.partition(":")
    return name, dict(part.split("=", 1) for part in rest.split(",") if part)


def parse_order(spec):
    words, word, i = [], "", 0
    text = spec[len("order("):-1]
    while i < len(text):
        if text[i] == "\\":
            word, i = word + text[i + 1], i + 2
        elif text[i] == "<":
            words, word, i = words + [word], "", i + 1
        else:
            word, i = word + text[i], i + 1
    return words + [word]


CURRENCY = ("(?:[$€£¥₹₽₺₩₪₴]|(?ai:US\\$|CA\\$|AU\\$|NZ\\$|HK\\$|C\\$|A\\$|R\\$|S\\$|euros?|eur|usd|gbp|chf|jpy|cad|aud|nzd|sek|nok|dkk|pln|czk|huf|ron|inr|"
            "cny|brl|mxn|zar|try|rub|kr\\.?|fr\\.|rs\\.?)|[zZ]ł|[kK]č)")
BLANKS = "[ \u00a0\u202f]*"
AMOUNT = re.compile(
    rf"{BLANKS}(?P<open>\()?(?P<minus>-{BLANKS})?(?P<before>{CURRENCY}{BLANKS}(?P<inner>-)?)?"
    r"(?P<number>(?P<grouped>[1-9][0-9]{0,2}(?:(?P<mark>[,.'’ \u00a0\u202f])[0-9]{3}(?![0-9])(?:(?P=mark)[0-9]{3}(?![0-9]))*)?|[0-9]+)"
    rf"(?:(?!(?P=mark))[.,](?P<cents>[0-9]+|-))?)(?P<after>{BLANKS}{CURRENCY})?(?P<close>\))? *", re.S)


def amount(text):
    """An amount of money as its number; None: it is none."""
    found = AMOUNT.fullmatch(text)
    if not found or bool(found["open"]) != bool(found["close"]) or bool(found["before"]) == bool(found["after"]):
        return None
    if found["inner"] and (found["minus"] or found["open"]) or found["minus"] and found["open"]:
        return None
    cents = (found["cents"] or "0").replace("-", "0")
    size = fractions.Fraction(re.sub("[^0-9]", "", found["grouped"]) + "." + cents)
    return -size if found["minus"] or found["inner"] or found["open"] else size


def natural_key(text):
    """By the numbers in it (src/table/natural.h), then by bytes."""
    if amount(text) is not None:
        return [amount(text)], text.encode()
    found = re.finditer(r"(?:(?<=^)-|(?<= )-)?([0-9](?:[0-9]|,(?=[0-9]{3}(?![0-9])))*)(?:[.,]([0-9]+))?", text)
    sizes = [(match[0][0] == "-", fractions.Fraction(match[1].replace(",", "") + "." + (match[2] or "0"))) for match in found]
    return [-size if negative else size for negative, size in sizes], text.encode()


def read_hierarchy(text):
    """{label: values below}, and the leaves; the root also covers the missing cell."""
    subsets, tree, leaves = text.startswith("# subsets"), {}, []
    for line in csv.reader(io.StringIO(text, newline=""), delimiter=";"):
        if subsets and line[0].startswith("# subsets"):
            continue
        leaves.append(line[0])
        for label in line[1:]:
            tree.setdefault(label, set()).add(line[0])
        if not subsets:
            tree[line[-1]].add("")
    return tree, leaves


class Quasi:
    """A quasi-identifier: what its cells mean, where that is known."""

    def __init__(self, case, column, cells):
        self.name, self.kind, self.options = column["name"], column["kind"], column["options"]
        self.missing = {""} | set(option(case, "null", "").split(","))
        spec = self.options.get("hierarchy", "")
        self.tree, self.leaves, order = None, None, None
        if spec.startswith("./"):
            self.tree, self.leaves = read_hierarchy(case["files"][spec[2:]])
        elif spec.startswith("order(") and self.kind == "text":
            order = parse_order(spec)
        elif spec in ("natural", "auto", "") and self.kind == "text":  # the only order that text has by itself
            order = sorted({cell for cell in cells if cell not in self.missing}, key=natural_key)
        self.values = {cell for cell in cells if cell not in self.missing}
        self.unknown_labels = spec in ("auto", "similar") and self.kind == "text"
        self.has_spec = spec != ""
        self.coded = {"top", "bottom", "round"} & set(self.options)
        self.reader = read_cells.Column(self.kind, self.values, self.tree, order, self.missing)
        self.known = {}
        present = set(self.leaves) if self.leaves else self.values
        self.domain = [] if self.kind == "odd" else list({self.canonical(value): value for value in present}.values())
        if any(cell in self.missing for cell in cells):
            self.domain.append("")

    def canonical(self, text):
        if self.kind in ("int", "decimal"):
            return read_cells.number(text)
        return read_cells.moment(text) if self.kind == "date" else text

    def covers(self, cell, value):
        """Whether a row with this value may have that cell; None: not known."""
        if self.kind == "odd":
            return None
        if (cell, value) not in self.known:
            try:
                self.known[cell, value] = self.reader.covers(cell, "" if value in self.missing else value)
            except ValueError:
                self.known[cell, value] = None if self.unknown_labels or self.is_own_group(cell) else False
        return self.known[cell, value]

    def is_own_group(self, cell):
        """A label that searches over levels make by themselves, of text without a hierarchy."""
        return self.kind == "text" and not self.has_spec and re.fullmatch(re.escape(self.name) + " group [0-9.]+", cell) is not None

    def price(self, cell):
        """LM of one cell; None where it is not known."""
        if self.kind == "odd" or self.coded:
            return None
        covered = [True if cell == "*" else self.covers(cell, value) for value in self.domain]
        if None in covered:
            return None
        return (sum(covered) - 1) / (len(self.domain) - 1) if len(self.domain) > 1 else 0


class Recount:
    def __init__(self, case, released_text):
        self.case, self.problems = case, []
        rows = list(csv.reader(io.StringIO(released_text, newline=""), delimiter=case["delimiter"]))
        self.trim = (lambda text: text.strip(" \t")) if option(case, "trim") else (lambda text: text)
        guard = unguard if option(case, "guard-formulas") else (lambda text: text)
        self.originals = meant(case)
        self.columns = {column["name"]: i for i, column in enumerate(case["columns"])}
        expected = [c["name"] for c in case["columns"] if c["role"] in ("quasi", "sensitive", "insensitive")]
        self.header = [guard(cell) for cell in rows[0]] if case["header"] else expected
        self.released = [[guard(cell) for cell in row] for row in (rows[1:] if case["header"] else rows)]
        self.text = released_text
        self.quasis = {c["name"]: Quasi(case, c, [row[i] for row in self.originals])
                       for i, c in enumerate(case["columns"]) if c["role"] == "quasi"}
        self.check_columns(expected)
        if self.problems:
            return
        self.copied = [c["name"] for c in case["columns"] if c["role"] in ("sensitive", "insensitive")]
        self.keys = [i for i, name in enumerate(self.header) if name not in self.copied]
        self.join()
        self.classes = collections.defaultdict(list)
        for number, row in enumerate(self.released):
            self.classes[tuple(row[i] for i in self.keys)].append(number)
        self.n_removed = len(self.originals) - len(self.released)

    def complain(self, kind, what):
        self.problems.append((f"recount: {kind}", what))

    def check(self):
        if self.problems:
            return
        self.check_rows()
        self.check_cells()
        self.worst = [self.check_model(*parse_model(f"k-anonymity:k={option(self.case, 'k')}"))]
        self.worst += [self.check_model(*parse_model(value)) for key, value in self.case["options"] if key == "model"]

    # --- Columns, rows and cells ---------------------------------------------------------------------------------------

    def check_columns(self, expected):
        bare = [re.sub("_(min|max|kind|mean)$", "", name) for name in self.header]
        if option(self.case, "cells", "labels") == "labels":
            bare = self.header
        if list(dict.fromkeys(bare)) != expected:
            self.complain("columns", f"the release has {self.header}, expected {expected}")
        if any(len(row) != len(self.header) for row in self.released):
            self.complain("columns", "rows of several lengths")

    def join(self):
        """Which original row each released one was: by the row numbers, where they were copied."""
        self.origin = None
        row = next((c["name"] for c in self.case["columns"] if c["kind"] == "row"), None)
        if row:
            where = {cells[self.columns[row]]: i for i, cells in enumerate(self.originals)}
            self.origin = [where.get(cells[self.header.index(row)]) for cells in self.released]
            if None in self.origin or len(set(self.origin)) != len(self.origin):
                self.complain("rows", "a released row is nobody's, or somebody has two")
                self.origin = None

    def check_rows(self):
        if len(self.released) > len(self.originals):
            self.complain("rows", "more rows than the original has")
        lines = self.text.encode().split(b"\n")[1 if self.case["header"] else 0:-1]
        if option(self.case, "order") != "input" and len(lines) == len(self.released) and lines != sorted(lines):
            self.complain("order", "lines are not sorted")
        limit = option(self.case, "max-suppressed", "0")
        limit = math.floor(float(limit[:-1]) * len(self.originals) / 100 + NEAR) if limit.endswith("%") else int(limit)
        if self.n_removed > limit:
            self.complain("suppressed", f"{self.n_removed} rows removed, {limit} allowed")
        if self.origin is not None and option(self.case, "order") == "input" and self.origin != sorted(self.origin):
            self.complain("order", "rows do not stand as in the input")
        for name in self.copied:
            at, there = self.columns[name], self.header.index(name)
            if self.origin is not None:
                same = all(self.released[j][there] == self.originals[i][at] for j, i in enumerate(self.origin))
            else:
                left = collections.Counter(row[there] for row in self.released) - collections.Counter(
                    row[at] for row in self.originals)
                same = not left
            if not same:
                self.complain("copied", f"column {name} is not copied as it was")

    def check_cells(self):
        for name, quasi in self.quasis.items():
            if name not in self.header:  # in bounds: check_cells.py
                continue
            there, at = self.header.index(name), self.columns[name]
            pairs = {(self.released[j][there], self.originals[i][at]) for j, i in enumerate(self.origin)} if self.origin else ()
            for cell, value in pairs:
                if quasi.covers(cell, value) is False and not (option(self.case, "missing") == "wildcard" and cell == "*"):
                    self.complain("cells", f"column {name}: {cell!r} does not cover {value!r}")
                    return

    # --- Models ----------------------------------------------------------------------------------------------------------

    def value_of(self, name, text):
        """What a sensitive cell says: texts that are one value are one."""
        if option(self.case, "fold-sensitive"):
            text = text.strip(" \t").lower()
        return text

    def check_model(self, name, args):
        """(name, worst class) of a model; complains where it does not hold."""
        count = {"k-anonymity": self.count_persons, "k-map": self.count_population,
                 "delta-presence": self.count_population}.get(name, self.judge_sensitive)
        worst = count(name, args)
        limits = {"k-anonymity": "k", "k-map": "k", "l-diversity": "l", "p-sensitive": "p"}
        if worst is None:
            return name, None
        if name in limits and args.get("kind") != "recursive":
            holds = worst >= float(args[limits[name]]) - NEAR
        elif name == "delta-disclosure":
            holds = worst < float(args["delta"]) + NEAR
        elif name == "delta-presence":
            least, worst = worst
            holds = least >= float(args.get("min", 0)) - NEAR and worst <= float(args["max"]) + NEAR
        else:
            most = {"alpha-k": "alpha", "t-closeness": "t", "beta-likeness": "beta", "l-diversity": "c"}[name]
            holds = worst < float(args[most]) - NEAR if most == "c" else worst <= float(args[most]) + NEAR
        if not holds and self.classes:
            self.complain(name, f"{name} {args} does not hold: the worst class has {worst}")
        return name, worst

    def count_persons(self, name, args):
        sizes = self.persons()
        return min(sizes.values(), default=None) if sizes is not None else None

    def persons(self):
        """{class: persons}; None where the rows do not tell."""
        person = next((self.columns[c["name"]] for c in self.case["columns"] if c["role"] == "person"), None)
        if person is not None and self.origin is None:
            return None
        return {key: len(rows) if person is None else len({self.originals[self.origin[j]][person] for j in rows})
                for key, rows in self.classes.items()}

    def count_population(self, name, args):
        if any(quasi.kind == "odd" or quasi.unknown_labels or quasi.coded for quasi in self.quasis.values()) or option(
                self.case, "missing") == "wildcard" or option(self.case, "cells", "labels") != "labels":
            return None
        if any(self.quasis[self.header[i]].is_own_group(cell) for key in self.classes for i, cell in zip(self.keys, key)):
            return None
        people = list(csv.reader(io.StringIO(self.case["files"]["people.csv"], newline=""), delimiter=self.case["delimiter"]))
        header = people.pop(0) if self.case["header"] else [c["name"] for c in self.case["columns"]]
        at = {quasi: header.index(quasi) for quasi in self.quasis}

        def inside(key, person, strangers):
            """`strangers`: what to say of a value inside a cell that neither table nor hierarchy has."""
            for i, cell in zip(self.keys, key):
                quasi, value = self.quasis[self.header[i]], self.trim(person[at[self.header[i]]])
                known = value in quasi.missing or value in quasi.values or value in (quasi.leaves or ())
                whole = cell == "*" or (quasi.tree is not None and "" in quasi.tree.get(cell, ()))
                if not whole and not ((known or strangers) and quasi.covers(cell, value)):
                    return False
            return True
        found = {key: sum(inside(key, person, False) for person in people) for key in self.classes}
        if any(inside(key, person, False) != inside(key, person, True) for key in self.classes for person in people):
            return None  # intervals count them, sets and labels do not
        if name == "k-map":
            return min(found.values(), default=None)
        sizes = self.persons()
        if sizes is None:
            return None
        shares = [size / found[key] if found[key] else math.inf for key, size in sizes.items()]
        return (min(shares), max(shares)) if shares else None

    def judge_sensitive(self, name, args):
        """The worst value over the classes; with joint=yes over those that also agree in the other sensitive columns."""
        column = args["column"]
        at, there = self.columns[column], self.header.index(column)
        table = collections.Counter(self.value_of(column, row[at]) for row in self.originals)
        groups = self.classes
        if args.get("joint") == "yes":
            others = [c["name"] for c in self.case["columns"] if c["role"] == "sensitive" and c["name"] != column]
            groups = collections.defaultdict(list)
            for key, rows in self.classes.items():
                for j in rows:
                    groups[key, tuple(self.value_of(o, self.released[j][self.header.index(o)]) for o in others)].append(j)
        counts = [collections.Counter(self.value_of(column, self.released[j][there]) for j in rows) for rows in groups.values()]
        judge = lambda count: JUDGES[name](self, args, count, table)
        least = name == "p-sensitive" or (name == "l-diversity" and args.get("kind") != "recursive")
        return (min if least else max)(map(judge, counts), default=None)

    def ranks(self, column, table):
        spec = next(c for c in self.case["columns"] if c["name"] == column)["options"].get("hierarchy", "")
        order = parse_order(spec) if spec.startswith("order(") else []
        if option(self.case, "fold-sensitive"):
            order = [self.value_of(column, word) for word in order]
        key = (lambda v: (v == "", order.index(v) if v else 0)) if order else (lambda v: (v == "", float(v) if v else 0))
        return sorted(table, key=key)

    def l_diversity(self, args, count, table):
        sizes, n = sorted(count.values(), reverse=True), sum(count.values())
        kind, least = args.get("kind", "distinct"), float(args["l"])
        if kind == "distinct":
            return len(sizes)
        if kind == "entropy":
            return 2 ** -sum(s / n * math.log2(s / n) for s in sizes)
        if kind == "frequency":
            return n / sizes[0]
        rest = sum(sizes[int(least) - 1:])  # the least c with which it would hold, were it not strict
        return sizes[0] / rest if rest else math.inf

    def alpha_k(self, args, count, table):
        n = sum(count.values())
        protected = {self.value_of(args["column"], self.trim(v)) for v in args["values"].split("|")} if "values" in args else set(count)
        return max((count[v] / n for v in protected if v in count), default=0)

    def t_closeness(self, args, count, table):
        n, m = sum(count.values()), sum(table.values())
        if args.get("distance", "equal") == "equal":
            return sum(max(0, count[v] / n - table[v] / m) for v in table)
        total = ahead = 0
        for value in self.ranks(args["column"], table):
            ahead += count[value] / n - table[value] / m
            total += abs(ahead)
        return total / (len(table) - 1) if len(table) > 1 else 0

    def beta_likeness(self, args, count, table):
        n, m = sum(count.values()), sum(table.values())
        worst = 0
        for value in count:
            p, q = count[value] / n, table[value] / m
            gain = (p - q) / q if p > q else 0
            worst = max(worst, gain)
            if args.get("enhanced") == "yes" and gain > -math.log(q) + NEAR:
                return math.inf
        return worst

    def delta_disclosure(self, args, count, table):
        n, m = sum(count.values()), sum(table.values())
        return max(abs(math.log2(count[v] / n * m / table[v])) if count[v] else math.inf for v in table)

    # --- Losses ----------------------------------------------------------------------------------------------------------

    def may_be_suppressed(self):
        """Whether a class says nothing at all: its rows may be suppressed ones, or generalized as far as it goes."""
        def is_whole(i, cell):
            quasi = self.quasis.get(self.header[i])
            return cell in ("*", "", "suppressed") or (quasi and quasi.tree and "" in quasi.tree.get(cell, ()))
        return any(all(is_whole(i, cell) for i, cell in zip(self.keys, key)) for key in self.classes)

    def losses(self):
        """{measure: value}, as far as labels say it."""
        told, n = {}, len(self.originals)
        if any(name not in self.header for name in self.quasis):
            return told
        weights = {name: float(quasi.options.get("weight", 1)) for name, quasi in self.quasis.items()}
        total, complete = 0, option(self.case, "missing") != "wildcard"
        for name, quasi in self.quasis.items():
            there = self.header.index(name)
            for cell, count in collections.Counter(row[there] for row in self.released).items():
                price = quasi.price(cell)
                complete = complete and price is not None
                total += weights[name] * (price or 0) * count
            total += weights[name] * (len(quasi.domain) > 1) * self.n_removed
        if complete and n:
            told["lm"] = total / (n * sum(weights.values()))
        if not self.may_be_suppressed():
            told["dm"] = sum(len(rows)**2 for rows in self.classes.values()) + n * self.n_removed
            told["suppressed-rows"] = self.n_removed
            if self.classes:
                told["average-class"] = n / len(self.classes)
        return told


JUDGES = {"l-diversity": Recount.l_diversity, "p-sensitive": lambda self, args, count, table: len(count),
          "alpha-k": Recount.alpha_k, "t-closeness": Recount.t_closeness, "beta-likeness": Recount.beta_likeness,
          "delta-disclosure": Recount.delta_disclosure}
