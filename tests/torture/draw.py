"""Random cases: a table, a policy, how it is read, run and written.

A case is plain data, so that it can be shrunk, kept as JSON and run again:

    seed      what the case was drawn from
    columns   [{name, role, kind, options}]    role: quasi, sensitive, insensitive, identifier, person, dropped; kind of a quasi: int,
                                               decimal, date, text, or odd: what its cells mean is kanon's matter
    rows      [[cell, ...]]                    texts; "" is missing
    files     {name: text}                     hierarchies and populations
    options   [[option, value], ...]           as on the command line, without dashes
    bytes     the encoding of the file, where it is not plain UTF-8
    delimiter, header, source, sink, by, policy, second
                                               source: csv gz zst arrow parquet json sql; sink: file stdout text table parquet;
                                               by: program or library; policy: flags as a YAML file instead; second: the
                                               source of the run with two threads
"""
import random
import re

FULL_DOMAIN = ["optimal", "datafly", "samarati", "incognito", "mingen", "mu-argus", "cell-suppression"]
CUTS = ["k-optimize", "k-optimize:hierarchy=nodes", "hill-climb", "genetic", "anneal"]
LOCAL = ["mondrian", "cluster", "k-member", "hilbert", "agglomerative", "sequential", "exhaustive"]
APPROXIMATE = ["forest", "cover", "meyerson-williams", "two-factor", "three-factor"]
MEASURES = ["tree", "hybrid", "entropy", "monotone-entropy", "non-uniform-entropy", "mi", "am", "dm", "cm", "pmi", "pmi-l2",
            "pmi-max", "weighted-mi", "kl", "average-class", "average-diversity", "precision", "suppressed-rows",
            "suppressed-cells"]
# Both sides of where the code takes another way: 200 classes, 2,500 rows; from 10,000 rows on a search is told a bound; groups
# are counted in parts of 16,384, lines written by as many; codes have two bytes up to 65,536, jobs as many rows.
SIZES, LONG_SIZES = [199, 201, 2499, 2501], [9999, 10001, 16383, 16385, 17000, 32769, 65535, 65537, 70000]
# Quick on any number of rows, with little effort; the others up to 17,000.
QUICK = ["auto", "mondrian", "hilbert", "optimal", "datafly", "samarati", "incognito", "mu-argus", "cell-suppression", "cluster",
         "k-optimize", "hill-climb", "anneal", "genetic", "forest", "sequential"]
SLOW = ["mingen", "cover", "k-member", "agglomerative", "meyerson-williams"]
LONG_SHARE = 0.003
DAYS = ["day", "week", "month", "quarter", "halfyear", "year", "5years", "decade", "century"]

ENGLISH = "January February March April May June July August September October November December".split()
GERMAN = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()


def day_spelling(rng):
    """How the days of one column are written, as (year, month, day) -> text. Months in letters may differ from cell to cell."""
    named = [lambda y, m, d: f"{d:02d}{ENGLISH[m - 1][:3].upper()}{y:04d}",
             lambda y, m, d: f"{d}-{ENGLISH[m - 1][:3]}-{y:04d}",
             lambda y, m, d: f"{d} {ENGLISH[m - 1]} {y:04d}",
             lambda y, m, d: f"{ENGLISH[m - 1]} {d}, {y:04d}",
             lambda y, m, d: f"{ENGLISH[m - 1][:3]} {d:02d} {y:04d}",
             lambda y, m, d: f"{d}. {GERMAN[m - 1]} {y:04d}",
             lambda y, m, d: f"{d:02d}-{GERMAN[m - 1][:3].upper()}-{y:04d}"]
    how = rng.random()
    if how < 0.5:
        return lambda y, m, d: f"{y:04d}-{m:02d}-{d:02d}"
    if how < 0.7:
        return lambda y, m, d: f"{d:02d}.{m:02d}.{y:04d}"
    return rng.choice(named) if how < 0.9 else lambda y, m, d: rng.choice(named)(y, m, d)


def quoted(cells, delimiter=";"):
    return delimiter.join('"' + cell.replace('"', '""') + '"' for cell in cells)


# --- Values ---------------------------------------------------------------------------------------------------------


def odd_texts(rng):
    kind = rng.randrange(7)
    if kind == 0:  # short codes of one length
        return [rng.choice("uvw") + rng.choice("0123456789") for _ in range(12)]
    if kind == 1:  # codes of several lengths
        return ["".join(rng.choice("12") for _ in range(rng.randint(1, 5))) + rng.choice(["", "A", "-"]) for _ in range(10)]
    if kind == 2:  # what looks like labels
        return ["a..b", "{a|b}", "a|b", "12*", "1**", "**", "a\\b", "[1,2)", "x..", "..y", "{}", "}", "*a", "a*", "'q", "=1+1"]
    if kind == 3:
        return ["Zürich", "Zug", "Żary", "été", "日本", "日", "é*", "Z"]
    if kind == 4:
        return [" a", "a ", "a", "A", 'q"r', "c,d", "e;f", "g\nh", "-", "NA"]
    if kind == 5:
        return [f"v{rng.randint(0, 999)}" for _ in range(rng.randint(2, 40))]
    return ["cook", "nurse", "pilot", "mason", "bishop", "smith", "baker", "clerk"]


def odd_numbers(rng):
    kind = rng.randrange(6)
    if kind == 0:
        return [spell for n in (1, 2, 3, 7, 10) for spell in (f"{n}", f"{n}.0", f"0{n}", f"+{n}", f"{n}e0")]
    if kind == 1:
        return [str(rng.randint(18, 97)) for _ in range(30)]
    if kind == 2:
        return [f"{rng.uniform(-3, 3):.{rng.randint(0, 3)}f}" for _ in range(30)]
    if kind == 3:
        return [str(10**18 + d) for d in range(6)]
    if kind == 4:
        return [f"{rng.randint(1, 6):05d}" for _ in range(6)] + ["12345"]
    return [str(rng.choice([0, 5, 1000, 25000, 10**6, -4])) for _ in range(8)]


def odd_dates(rng):
    kind = rng.randrange(6)
    day = lambda: (rng.randint(1948, 2031), rng.randint(1, 12), rng.randint(1, 28))
    if kind == 0:
        return ["%04d-%02d-%02d" % day() for _ in range(20)]
    if kind == 1:  # times, a few on few days
        days = [day() for _ in range(3)]
        return ["%04d-%02d-%02dT%02d:%02d" % (*rng.choice(days), rng.randint(0, 23), rng.randint(0, 59)) for _ in range(25)]
    if kind == 2:
        return ["%04d-%02d-%02d %02d:%02d:%02dZ" % (*day(), rng.randint(0, 23), rng.randint(0, 59), rng.randint(0, 59))
                for _ in range(15)]
    if kind == 3:
        return ["{2:02d}.{1:02d}.{0:04d}".format(*day()) for _ in range(15)]
    if kind == 4:
        return ["{2:02d}{3}{0:04d}:{4:02d}:45:00".format(*at, ENGLISH[at[1] - 1][:3].upper(), rng.randint(0, 23)) for at in (day() for _ in range(15))]
    year = rng.randint(1950, 2020)
    return ["%04d-%02d-%02d" % (year, rng.randint(1, 3), rng.randint(1, 28)) for _ in range(30)]


def plain_numbers(rng, kind):
    low, high = rng.choice([(18, 97), (-40, 40), (0, 3), (0, 100000), (1, 9)])
    n = rng.choice([2, 5, 12, 40])
    if kind == "int":
        return sorted({str(rng.randint(low, high)) for _ in range(n)})
    digits = rng.randint(1, 3)
    return sorted({f"{rng.uniform(low, high):.{digits}f}" for _ in range(n)} - {f"-{0:.{digits}f}"})


def plain_dates(rng):
    span, n, spelled = rng.choice([1, 5, 60]), rng.choice([3, 10, 40]), day_spelling(rng)
    days = {(1960 + rng.randrange(span), rng.randint(1, 12), rng.randint(1, 28)) for _ in range(n)}
    return [spelled(*day) for day in sorted(days)]


def plain_texts(rng):
    return rng.choice([
        ["cook", "nurse", "pilot", "mason", "bishop", "smith", "baker", "clerk"],
        ["low", "medium", "high", "xtreme"],
        ["cook", "a|b", "{x}", "c..d", "e\\f", "..", "Zürich", "it's", "[1,2)", "b*d", "a<b", "c d"],
        ["3 days", "12 days", "9 days", "21 days", "100 days", "1 days"],
        ["5%", "40%", "7.5%", "100%", "12%", "7.25%"],
        ["9:30", "10:05", "23:59", "00:04", "9:03", "17:45"],
        ["<18", "18-25", "26-35", "36-50", "50+"],
        ["-5 °C", "-12 °C", "3 °C", "20 °C", "0,5 °C", "0,25 °C"],
        ["$1,200", "950,00 $", "12.000,50 $", "($3)", "-$99"],
        ["48155", "48157", "48009", "40011", "50667", "50668", "123"],
        [f"t{i}" for i in range(rng.randint(2, 40))],
        ["f", "m"]])


# --- Columns --------------------------------------------------------------------------------------------------------


def order_spec(words):
    escaped = [word.replace("\\", "\\\\").replace("<", "\\<") for word in words]
    escaped = ["\\" + word if word[:1] == " " else word for word in escaped]
    return "order(" + "<".join(word[:-1] + "\\ " if word[-1:] == " " else word for word in escaped) + ")"


def hierarchy_file(rng, values, several_spellings):
    """Three labels per value; sometimes with stars or labels that look like values, and values that nobody has."""
    inner, root = rng.choice(["g", "G", "*", "n"]), rng.choice(["*", "*", "any"])
    group = lambda i: f"{inner}{i % 3}" if inner != "*" else "*" if i % 3 == 0 else f"g{i % 3}"
    lines = [quoted((value, group(i), root)) for i, value in enumerate(values)]
    if several_spellings:
        lines += [quoted((value + ("" if "e" in value else "0" if "." in value else ".0"), group(i), root))
                  for i, value in enumerate(values)]
    return "\n".join(lines) + "\n"


def subsets_file(rng, values):
    """Labels that may overlap, but nested, so that there is always one smallest: runs of the list by halves."""
    half = len(values) // 2
    lines = ["# subsets"]
    for i, value in enumerate(values):
        lines.append(";".join([value, "first" if i < half else "second"] + (["few"] if i < min(2, half - 1) else [])))
    return "\n".join(lines) + "\n"


def choose_hierarchy(rng, column, values, files):
    present = [value for value in values if value != ""]
    how = rng.choice(["none", "none", "none", "auto", "auto", "mask", "suppress", "own", "own", "file", "similar", "subsets", "natural"])
    number = column["like"] in ("int", "decimal", "number")
    if how == "none":
        return None
    if how in ("auto", "suppress"):
        return how
    if how in ("similar", "natural") and not number and column["like"] != "date":
        return how
    if how == "mask":
        return rng.choice(["mask(right)", "mask(left)"])
    if how == "own" and number and rng.random() < 0.6:
        return rng.choice(["intervals(2,10)", "intervals(5,10,20)", "intervals(0.5,1)", "intervals(1)"])
    if how == "own" and column["like"] == "date":
        first = rng.randrange(len(DAYS))
        units = [unit for unit in DAYS[first:] if rng.random() < 0.4 or unit == DAYS[first]]
        return f"date({','.join(unit for unit in units if unit != 'week' or len(units) == 1)})" if units != ["week"] else "date(week)"
    if how == "own":
        order = list({float(v): v for v in rng.sample(present, len(present))}.values()) if number else present[:]
        if rng.random() < 0.7:
            rng.shuffle(order)
        return order_spec(order)
    name = f"h{column['name']}.csv"
    plain = all(value.isalnum() for value in present)
    if how == "subsets" and plain and len(present) >= 4 and not number and column["like"] != "date":
        files[name] = subsets_file(rng, present)
    else:
        files[name] = hierarchy_file(rng, present, column["kind"] == "odd" and number and rng.random() < 0.3)
    return f"./{name}"


def quasi_column(rng, name, files):
    """A column and the values it is drawn from, with weights."""
    if rng.random() < 0.5:
        like = rng.choice(["text", "text", "number", "date"])
        values = {"text": odd_texts, "number": odd_numbers, "date": odd_dates}[like](rng)
        column = {"name": name, "role": "quasi", "kind": "odd", "like": like, "options": {}}
    else:
        like = rng.choice(["text", "text", "int", "int", "decimal", "date"])
        values = plain_texts(rng) if like == "text" else plain_dates(rng) if like == "date" else plain_numbers(rng, like)
        column = {"name": name, "role": "quasi", "kind": like, "like": like, "options": {"type": like}}
    values = list(dict.fromkeys(values))
    spec = choose_hierarchy(rng, column, values, files)
    options = column["options"]
    if spec:
        options["hierarchy"] = spec
    elif column["kind"] == "odd":
        if rng.random() < 0.5:
            options["grid"] = "exact"
    elif like != "text" and rng.random() < 0.5:
        options["grid"] = rng.choice({"int": ["5", "10", "2", "250", "exact"], "decimal": ["0.5", "20", "1", "exact"],
                                      "date": ["year", "day", "quarter", "exact"]}[like])
    if rng.random() < 0.15:
        options["weight"] = rng.choice(["0.5", "2", "3"])
    if rng.random() < 0.3:
        values.append("")
    return column, values, [rng.choice([1, 1, 2, 6, 20]) for _ in values]


def choose_coding(rng, column, cells, k):
    """Thresholds with enough people beyond, and rounding."""
    options, kind = column["options"], column["kind"]
    if kind not in ("int", "decimal") or options.get("hierarchy", "auto").startswith(("mask", "order", "./")) or rng.random() < 0.7:
        return
    numbers = sorted(float(cell) for cell in cells if cell)
    if "grid" not in options and rng.random() < 0.4 and not options.get("hierarchy", "").startswith("intervals"):
        options["round"] = rng.choice(["2", "5", "10"] if kind == "int" else ["0.5", "1", "20"])
    step = 5 if options.get("hierarchy", "").startswith("intervals") else 10
    step = max(step, float(options.get("round", options.get("grid", "1")).replace("exact", "1")))
    for name, beyond in (("top", [n for n in numbers if n >= numbers[-1] - step]), ("bottom", numbers[:3])):
        threshold = int((beyond[0] if name == "top" else beyond[-1] if beyond else 0) // step * step) if beyond else 0
        count = sum(n >= threshold for n in numbers) if name == "top" else sum(n < threshold for n in numbers)
        if count >= k and rng.random() < 0.5:
            options[name] = str(threshold)


# --- Models ---------------------------------------------------------------------------------------------------------


def sensitive_values(rng):
    return rng.choice([["flu", "cough", "flu", "asthma", ""], ["flu", "Flu", "flu ", "gout"], ["a", "b"],
                       [str(n) for n in range(rng.randint(2, 8))], ["HIV", "flu", "flu", "flu", "gout", "obesity"]])


def draw_models(rng, sensitive):
    """At most two besides k, of columns that suit them; `sensitive`: (column, values)."""
    models = []
    for _ in range(rng.choice([0, 0, 0, 1, 1, 2])):
        column, values = rng.choice(sensitive)
        named = f"column={column['name']}"
        joint = ",joint=yes" if len(sensitive) > 1 and rng.random() < 0.3 else ""
        number = all(value.isdigit() for value in values)
        ordered = "distance=ordered," if number or "order(" in column["options"].get("hierarchy", "") else ""
        models.append(rng.choice([
            f"l-diversity:{named},l=2{joint}", f"l-diversity:{named},kind=entropy,l=1.5{joint}",
            f"l-diversity:{named},kind=recursive,l=2,c=3{joint}", f"l-diversity:{named},kind=frequency,l=1.5{joint}",
            f"p-sensitive:{named},p=2{joint}", f"alpha-k:{named},alpha=0.8{joint}",
            f"alpha-k:{named},alpha=0.6,values={values[0] or values[1]}{joint}",
            f"t-closeness:{named},t=0.4{joint}", f"t-closeness:{named},{ordered}t=0.3{joint}",
            f"beta-likeness:{named},beta=4", f"beta-likeness:{named},beta=2,enhanced=yes",
            f"delta-disclosure:{named},delta=3"]))
    return models


def draw_population(rng, case, pools):
    """The people of the table, and others with values that somebody has, or that nobody has."""
    quasi = [i for i, column in enumerate(case["columns"]) if column["role"] == "quasi"]
    rows = [[row[i] for i in quasi] for row in case["rows"]]
    for _ in range(rng.randint(0, 30)):
        person = [rng.choice(pools[i]) for i in quasi]
        if rng.random() < 0.1:
            strange = [q for q, i in enumerate(quasi) if case["columns"][i]["kind"] == "text"]
            if strange:
                person[rng.choice(strange)] = "other"
        rows.append(person)
    lines = [[case["columns"][i]["name"] for i in quasi]] if case["header"] else []
    if not case["header"]:  # the quasi-identifiers stand where the table has them
        width = len(case["columns"])
        wide = [[""] * width for _ in rows]
        for line, row in zip(wide, rows):
            for cell, i in zip(row, quasi):
                line[i] = cell
        rows = wide
    case["files"]["people.csv"] = "".join(quoted(row, case["delimiter"]) + "\n" for row in lines + rows)
    return rng.choice(["delta-presence:min=0.1,max=0.95,population=people.csv", "delta-presence:max=0.9,population=people.csv",
                       "k-map:k=3,population=people.csv"])


# --- Cases ----------------------------------------------------------------------------------------------------------


def draw_options(rng, case, k, pools):
    options, n = [["k", str(k)]], len(case["rows"])
    case["options"] = options
    sensitive = [pair for pair in zip(case["columns"], pools) if pair[0]["role"] == "sensitive"]
    family = rng.choice(["auto", "auto", "global", "global", "full", "full", "cuts", "local", "local", "approximate"])
    is_global = family in ("global", "full")
    if family == "global":
        options.append(["recoding", "global"])
    elif family != "auto":
        named = {"full": FULL_DOMAIN, "cuts": CUTS, "local": LOCAL, "approximate": APPROXIMATE}[family]
        algorithm = rng.choice(named)
        options.append(["algorithm", "mondrian" if algorithm == "exhaustive" and n > 12 else algorithm])
    if is_global and rng.random() < 0.2:  # limits of levels, of columns that have some
        leveled = [column for column in case["columns"] if re.match(r"intervals|mask|date|suppress", column["options"].get("hierarchy", ""))]
        for column in leveled[:1]:
            column["options"]["level"] = rng.choice(["0..1", "1..1", "0..0"])
    if rng.random() < 0.6:
        options.append(["max-suppressed", rng.choice(["1", "2", "10%", "30%", "100%"])])
    for model in draw_models(rng, sensitive) if sensitive else []:
        options.append(["model", model])
    has_derived = any("derive" in column["options"] for column in case["columns"])
    if is_global and rng.random() < 0.2 and case["source"] != "arrow" and not has_derived:
        options.append(["model", draw_population(rng, case, pools)])
    for chance, option in ((0.2, ["missing", "wildcard"]), (0.12, ["null", ",NA,-"]), (0.12, ["trim", "yes"]),
                           (0.12, ["guard-formulas", "yes"]), (0.1, ["fold-sensitive", "yes"]), (0.1, ["polish", "yes"]),
                           (0.03, ["certify", "yes"]), (0.04, ["certificate", "proof.txt"]), (0.1, ["explain", "yes"]),
                           (0.1, ["redact", "yes"]),
                           (0.15, ["order", "input"]), (0.1, ["cells", rng.choice(["bounds", "both"])]),
                           (0.1, ["language", "de"]), (0.3, ["measure", rng.choice(MEASURES)]),
                           (0.5, ["seed", str(rng.randrange(1000))])):
        if rng.random() < chance:
            options.append(option)
    options.append(["effort", rng.choice(["1", "30", "500", "500", "4000"]) if n < 1000 else "1"])


def draw_column(rng, name, what, case, has_persons):
    """A column, and how a cell of row i is drawn."""
    if what == "quasi":
        column, values, weights = quasi_column(rng, name, case["files"])
        return column, values, lambda i: rng.choices(values, weights)[0]
    column = {"name": name, "role": what, "kind": what, "options": {}}
    if what == "sensitive":
        values = sensitive_values(rng)
        if rng.random() < 0.2 and "" not in values and "Flu" not in values:
            column["options"]["hierarchy"] = order_spec(sorted(set(values)))
        return column, values, lambda i: rng.choice(values)
    if what == "row":
        return column | {"role": "insensitive"}, [], lambda i: f"#{i}#"
    if what == "copied":
        return column | {"role": "insensitive"}, [], lambda i: rng.choice(["x", "y", "=z", " y", ""])
    if what == "identifier" and has_persons:
        return column | {"role": "person"}, [], lambda i: token(case, rng.randrange(1 + len(case["rows"]) // 2))
    return column, [], lambda i: token(case, f"{name}.{i}")


def token(case, what):
    """A text that stands nowhere else, so that it can be looked for."""
    return f"zq{random.Random(case['seed'] + str(what)).getrandbits(48):012x}"


def draw_way(rng, have):
    """How the case is read, run and written."""
    by = "library" if "library" in have and rng.random() < 0.9 else "program"
    slow = (["json", "sql"] + ["parquet"] * ("pyarrow" in have)) * ("duckdb" in have)
    sources = slow if slow and rng.random() < 0.02 else ["csv"] * 12 + ["gz"] + ["zst"] * ("zst" in have)
    memory = ["arrow"] * 6 if by == "library" else []
    sinks = ["file"] * 4 + (["text", "table"] if by == "library" else ["stdout"]) + ["parquet"] * (
        len(slow) == 3 and rng.random() < 0.04)
    return {"by": by, "source": rng.choice(sources + memory), "second": rng.choice(["csv"] * 12 + memory),
            "sink": rng.choice(sinks), "policy": rng.random() < 0.25, "pages": rng.random() < 0.25}


def draw(seed, number, have):
    """The case of that number. `have`: which of library, zst, duckdb and pyarrow are there."""
    rng = random.Random(f"{seed}/{number}")
    case = {"seed": f"{seed}/{number}", **draw_way(rng, have), "header": rng.random() > 0.15, "files": {}, "columns": [],
            "delimiter": rng.choice([",", ",", ",", ";", "\t", "|"])}
    if not case["header"]:  # only a CSV file can be without
        case["source"] = case["second"] = "csv"
        case["sink"] = "file" if case["sink"] == "parquet" else case["sink"]
    if not {case["source"], case["second"]} <= {"csv", "gz", "zst"} or case["sink"] == "parquet":
        case["delimiter"] = ","
    length = rng.random()
    if length < LONG_SHARE:
        return draw_long(rng, case)
    n = rng.choice(SIZES) if length < 0.01 else rng.randint(100, 400) if length < 0.05 else rng.choice([5, 8, 12, 16, 20, 30, 40, 60])
    case["rows"] = [[] for _ in range(n)]
    kinds = ["quasi"] * rng.choice([1, 1, 2, 2, 2, 3, 3, 4]) + ["sensitive"] * rng.choice([0, 1, 1, 1, 2]) + ["identifier"]
    kinds += ["row"] * (rng.random() < 0.85) + ["copied"] * (rng.random() < 0.3) + ["dropped"] * (rng.random() < 0.3)
    rng.shuffle(kinds)
    pools, has_persons = [], rng.random() < 0.2
    for i, what in enumerate(kinds):
        name = f"{what[0]}{i}" if case["header"] else f"column{i + 1}"
        column, values, make = draw_column(rng, name, what, case, has_persons)
        case["columns"].append(column)
        pools.append(values)
        for j, row in enumerate(case["rows"]):
            row.append(make(j))
    k = rng.choice([1, 2, 2, 3, 3, 5, n])
    if case["header"] and rng.random() < 0.06:
        derive_column(rng, case, pools)
    for i, column in enumerate(case["columns"]):
        if column["role"] == "quasi" and "derive" not in column["options"]:
            choose_coding(rng, column, [row[i] for row in case["rows"]], k)
    draw_options(rng, case, k, pools)
    if has_persons and rng.random() < 0.3:
        case["options"].append(["unit", "household"])
    spell_cells(rng, case)
    choose_bytes(rng, case)
    return case


# --- Long tables --------------------------------------------------------------------------------------------------------


def long_column(rng, name, n):
    """A column with a few, many, or as many values as there are rows, and how a cell of row i is drawn. What its cells mean is kanon's
    matter, so the recount need not look at all pairs."""
    kind = rng.choice(["number", "number", "code", "date", "text", "own"])
    column = {"name": name, "role": "quasi", "kind": "odd", "like": "text", "options": {}}
    if kind == "number":
        most = rng.choice([90, 3000, 10 * n])
        column["like"] = "number"
        column["options"] = rng.choice([{}, {}, {"hierarchy": "auto"}, {"hierarchy": f"intervals({most // 30 + 1},{(most // 30 + 1) * 5})"}])
        return column, lambda i: str(rng.randint(0, rng.randint(1, most)))
    if kind == "code":
        column["options"] = rng.choice([{"hierarchy": "mask(right)"}, {"hierarchy": "mask(right)"}, {}])
        most = rng.choice([500, 99999])
        return column, lambda i: f"{rng.randint(0, most):05d}"
    if kind == "date":
        column["like"] = "date"
        column["options"] = rng.choice([{}, {"hierarchy": "date(month,year,decade)"}, {"hierarchy": "auto"}])
        return column, lambda i: "%04d-%02d-%02d" % (rng.randint(1940, 2010), rng.randint(1, 12), rng.randint(1, 28))
    if kind == "own":
        column["like"] = "number"
        return column, lambda i: str(i * 7919 % 1000003)
    most = rng.choice([3, 40, 300])
    column["options"] = rng.choice([{}, {"hierarchy": "suppress"}, {"hierarchy": "auto"}])
    return column, lambda i: f"t{rng.randrange(most)}"


def draw_long(rng, case):
    """Few columns, a quick search and little effort on many rows."""
    n = rng.choice(LONG_SIZES)
    kinds = ["quasi"] * rng.choice([1, 2, 2, 3]) + ["sensitive"] * rng.choice([0, 1]) + ["row"] * (rng.random() < 0.7)
    rng.shuffle(kinds)
    made = []
    for i, what in enumerate(kinds):
        name = f"{what[0]}{i}" if case["header"] else f"column{i + 1}"
        column, make = long_column(rng, name, n) if what == "quasi" else draw_column(rng, name, what, case, False)[::2]
        case["columns"].append(column)
        made.append([make(j) for j in range(n)])
    case["rows"] = [list(cells) for cells in zip(*made)]
    case["sink"] = "file" if case["sink"] == "parquet" else case["sink"]
    case["pages"] = False
    algorithm = rng.choice(QUICK + SLOW * (n <= 17000))
    case["options"] = [["k", str(rng.choice([2, 5, 10, 50]))], ["max-suppressed", rng.choice(["0", "1%", "10%", "100%"])], ["effort", "1"],
                       ["seed", str(rng.randrange(1000))]]
    case["options"] += [["algorithm", algorithm]] if algorithm != "auto" else []
    case["options"] += [["measure", rng.choice(["entropy", "dm", "tree", "am"])]] if rng.random() < 0.2 else []
    case["options"] += [["order", "input"]] if rng.random() < 0.2 else []
    sensitive = [column["name"] for column in case["columns"] if column["role"] == "sensitive"]
    if sensitive and rng.random() < 0.4:
        case["options"].append(["model", f"l-diversity:column={sensitive[0]},l=2"])
    return case


# --- What stands in the cells, and in which bytes -------------------------------------------------------------------------


def derive_column(rng, case, pools):
    """An age or a time between two columns of dates, which do not leave."""
    spelled, spans = day_spelling(rng), rng.random() < 0.5
    day = lambda first, last: (rng.randint(first, last), rng.randint(1, 12), rng.randint(1, 28) if rng.random() < 0.9 else 29)
    text = lambda date: spelled(*date) if rng.random() > 0.03 else ""
    for name, first, last in [("from", 1930, 1999)] + [("to", 2000, 2020)] * spans:
        case["columns"].append({"name": name, "role": "identifier", "kind": "dates", "options": {}})
        pools.append([])
        for row in case["rows"]:
            date = day(first, last)
            row.append(text(date if date[1] != 2 or date[2] != 29 or date[0] % 4 == 0 and date[0] != 1900 else (*date[:2], 28)))
    unit = rng.choice(["age", "years", "months", "weeks", "days"])
    column = {"name": "d", "role": "quasi", "kind": "int", "like": "int",
              "options": {"derive": f"{unit}(from, {'to' if spans else '2021-02-28'})"}}
    if rng.random() < 0.5:
        column["options"]["hierarchy"] = rng.choice(["auto", "intervals(5,10,100)", "suppress"])
    elif rng.random() < 0.5:
        column["options"]["grid"] = rng.choice(["10", "exact"])
    case["columns"].append(column)
    pools.append([])


def spell_cells(rng, case):
    """Numbers with a comma, and cells that their column's type does not fit, which count as missing."""
    quasi = [(i, c) for i, c in enumerate(case["columns"]) if c["role"] == "quasi" and "derive" not in c["options"]]
    odd = any(column["kind"] == "odd" for _, column in quasi)
    decimals = [i for i, column in quasi if column["kind"] == "decimal" and not column["options"].get("hierarchy", "").startswith(("./", "order"))]
    if decimals and not odd and len(decimals) == sum(column["kind"] == "decimal" for _, column in quasi) and rng.random() < 0.3:
        for row in case["rows"]:
            for i in decimals:
                row[i] = row[i].replace(".", ",")
        case["options"].append(["decimal", "comma"])
    typed = [i for i, column in enumerate(case["columns"]) if column["kind"] == "dates" or column["role"] == "quasi"
             and column["kind"] in ("int", "decimal", "date") and "derive" not in column["options"]]
    if typed and rng.random() < 0.1:
        for j, row in enumerate(case["rows"]):
            if rng.random() < 0.1:
                i = rng.choice(typed)
                is_whole = case["columns"][i]["kind"] == "int"
                row[i] = "12.5" if is_whole and rng.random() < 0.3 else token(case, f"invalid.{j}")
        case["options"].append(["invalid", "missing"])


def choose_bytes(rng, case):
    """Another encoding than UTF-8, with a mark or named."""
    if case["files"] or rng.random() > 0.1:
        return
    coded, named = rng.choice([("latin-1", "latin-1"), ("utf-16", None), ("utf-16", "utf-16"), ("utf-16-le", "utf-16"),
                               ("utf-16-be", "utf-16"), ("utf-8-sig", None)])
    if coded == "latin-1" and not fits_latin_1(case):
        return
    case["bytes"] = coded
    case["options"] += [["encoding", named]] if named else []
    case["source"] = rng.choice(["csv", "csv", "gz"])
    case["second"] = "csv"


def fits_latin_1(case):
    return all(ord(letter) < 256 for row in case["rows"] for cell in row for letter in cell)
