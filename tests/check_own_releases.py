#!/usr/bin/env python3
"""kanon against itself: what `anonymize` writes, `verify` and `measure` accept under the same flags.

    check_own_releases.py KANON [--cases N] [--seed S] [--keep FOLDER] [--only CASE]

Small tables of odd values (numbers in several spellings, times, text with * | { .. blanks and quotes, missing cells,
short codes) under random flags. Of every release, counted here from its definition by joining on a column of row
numbers:
  - `verify` with --original and `measure` end with exit code 0, `verify` alone too, or says that it is undecided;
  - the measured loss is the one that `anonymize` told;
  - a set, an interval or a mask made from the data names only values that released rows under that label have;
  - what nobody who is released has stands in no side output.
An input may be refused, for a reason in REFUSALS, never because kanon cannot read its own release. Prints TAP; a failing
case is shown with its table and commands, and --only runs it again."""
import argparse
import collections
import csv
import json
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

REFUSALS = [
    r"would be ambiguous, because in a release \* means any value",
    r"would have to be (suppressed|removed)",
    r"no generalization meets the models|not even the whole table as one class satisfies",
    r"but below another label; one value of column",
    r"is no (number|date), but|needs (numbers|dates), but",
    r"a label can stand below one parent only",
    r"the label '\*' below the root .* would be ambiguous",
    r"is not in order\(.*list every value of the data",
    r"is too large for intervals\(",
    r"its numbers are beyond 9e15, too large for a grid",
    r"reaches from below bottom to beyond top",
    r"k=[0-9]+ is impossible: the table has",
    r"cell-suppression (builds classes row by row|cannot count persons)",
    r"k-optimize (cannot count a population|needs the rows of a person|has no bound|takes these models|cannot prove)",
    r"k-optimize(: measure \S+ prices nodes| needs --max-suppressed 0)|no set of cuts meets the models",
]


MISSING = "(missing)"  # what \\N in a set stands for


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
    kind = rng.randrange(5)
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
    y = rng.randint(1950, 2020)
    return ["%04d-%02d-%02d" % (y, rng.randint(1, 3), rng.randint(1, 28)) for _ in range(30)]


class Column:
    def __init__(self, rng, name, folder):
        self.name, self.flags = name, []
        self.kind = rng.choice(["text", "text", "number", "date"])
        self.values = {"text": odd_texts, "number": odd_numbers, "date": odd_dates}[self.kind](rng)
        self.values = list(dict.fromkeys(self.values))
        if rng.random() < 0.3:
            self.values.append("")
        self.weights = [rng.choice([1, 1, 2, 6, 20]) for _ in self.values]
        self.spec = self.choose(rng, folder)
        if self.spec:
            self.flags += ["--hierarchy", f"{name}={self.spec}"]

    def choose(self, rng, folder):
        present = [v for v in self.values if v != ""]
        how = rng.choice(["none", "none", "auto", "auto", "mask", "suppress", "own", "own", "file"])
        if how == "none":
            return ""
        if how in ("auto", "suppress"):
            return how
        if how == "mask":
            return rng.choice(["mask(right)", "mask(left)"])
        if how == "own" and self.kind == "number":
            if rng.random() < 0.5:
                return rng.choice(["intervals(2,10)", "intervals(5,10,20)", "intervals(0.5,1)", "intervals(1)"])
        if how == "own" and self.kind == "date":
            return rng.choice(["date(month,year)", "date(day)", "date(day,month,quarter,year)", "date(week)", "date(year,decade)"])
        if how == "own":
            order = present[:]
            rng.shuffle(order)
            if self.kind == "number":  # each number once, in any spelling
                order = list({float(v): v for v in order}.values())
                rng.shuffle(order)
            escaped = [v.replace("\\", "\\\\").replace("<", "\\<") for v in order]
            escaped = ["\\" + v if v[:1] == " " else v for v in escaped]
            escaped = [v[:-1] + "\\ " if v[-1:] == " " else v for v in escaped]
            return "order(" + "<".join(escaped) + ")"
        path = folder / f"h{self.name}.csv"
        quoted = lambda t: '"' + t.replace('"', '""') + '"'
        inner = rng.choice(["g", "G", "*", "n"])
        star = rng.choice(["*", "*", "any"])
        lines = []
        for i, v in enumerate(present):
            group = f"{inner}{i % 3}" if inner != "*" else "*" if i % 3 == 0 else f"g{i % 3}"
            lines.append(";".join(quoted(t) for t in (v, group, star)))
        if rng.random() < 0.3 and self.kind == "number":  # the same number in several spellings
            lines += [";".join(quoted(t) for t in (v + ("" if "e" in v else "." if "." not in v else "") + ("" if "e" in v else "0"),
                                                   f"{inner}{i % 3}" if inner != "*" else "*" if i % 3 == 0 else f"g{i % 3}", star))
                      for i, v in enumerate(present)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
        return f"./h{self.name}.csv"


class Case:
    def __init__(self, kanon, seed, number, folder):
        self.kanon, self.folder, self.problems = kanon, folder, []
        rng = self.rng = random.Random(f"{seed}/{number}")
        names = [f"q{i}" for i in range(rng.randint(1, 3))]
        self.no_header = rng.random() < 0.2
        if self.no_header:
            names = [f"column{i + 2}" for i in range(len(names))]
        self.qis = [Column(rng, name, folder) for name in names]
        n = rng.choice([6, 12, 20, 40, 60])
        self.rows = []
        persons = rng.random() < 0.25
        for i in range(n):
            cells = [rng.choices(c.values, c.weights)[0] for c in self.qis]
            person = f"p{rng.randrange(max(1, n // 2))}" if persons else f"p{i}"
            self.rows.append([f"#{i}#"] + cells + [rng.choice(["flu", "cough", "flu", "asthma", ""]), person])
        self.header = ["id"] + names + ["ill", "who"]
        if self.no_header:
            self.header = [f"column{i + 1}" for i in range(len(names) + 3)]
        self.write("data.csv", self.rows)
        self.flags = self.choose_flags(rng, persons)

    def write(self, name, rows):
        with open(self.folder / name, "w", newline="", encoding="utf-8") as out:
            w = csv.writer(out, lineterminator="\n")
            if not self.no_header:
                w.writerow(self.header)
            w.writerows(rows)

    def choose_flags(self, rng, persons):
        h = self.header
        flags = ["--qi", ",".join(c.name for c in self.qis), "--insensitive", h[0], "--threads", "1", "-d", ","]
        for c in self.qis:
            flags += c.flags
        flags += ["--sensitive", h[-2], "--identifier", h[-1]]
        flags += ["-H"] if self.no_header else []
        flags += ["--person", h[-1]] if persons else []
        flags += ["-k", str(rng.choice([1, 2, 2, 3, 5]))]
        self.is_global = rng.random() < 0.6
        if self.is_global:
            flags += ["--recoding", "global"] if rng.random() < 0.7 else ["--algorithm", rng.choice(
                ["optimal", "datafly", "samarati", "incognito", "mu-argus", "cell-suppression", "k-optimize", "k-optimize",
                 "k-optimize:hierarchy=nodes"])]
        elif rng.random() < 0.4:
            flags += ["--algorithm", rng.choice(["mondrian", "cluster", "k-member", "hilbert", "agglomerative", "sequential"])]
        if rng.random() < 0.6:
            flags += ["--max-suppressed", rng.choice(["1", "2", "10%", "30%", "100%"])]
        if rng.random() < 0.3:
            flags += ["--model", rng.choice(["l-diversity:l=2", "t-closeness:t=0.4", "p-sensitive:p=2", "alpha-k:alpha=0.8",
                                             "l-diversity:kind=entropy,l=1.5", "beta-likeness:beta=4", "delta-disclosure:delta=3"])]
        if self.is_global and rng.random() < 0.3:
            people = [row[:] for row in self.rows] + [
                ["x"] + [rng.choice(c.values + ["other", "99", "2001-01-01"][:1 + 2 * (c.kind == "text")] if c.kind == "text"
                                    else c.values) for c in self.qis] + ["", ""] for _ in range(rng.randint(0, 30))]
            self.write("people.csv", people)
            flags += ["--model", rng.choice(["delta-presence:min=0.1,max=0.95,population=people.csv",
                                             "delta-presence:max=0.9,population=people.csv", "k-map:k=3,population=people.csv"])]
        if rng.random() < 0.2:
            flags += ["--missing", "wildcard"]
        if rng.random() < 0.15:
            flags += ["--null", ",NA,-"]
        if rng.random() < 0.15:
            flags += ["--trim"]
        if rng.random() < 0.15:
            flags += ["--guard-formulas"]
        if rng.random() < 0.3:
            flags += ["--measure", rng.choice(["tree", "entropy", "suppressed-cells"] + self.is_global * ["dm", "am"])]
        for c in self.qis:  # otherwise intervals end on a grid, which check_cells.py looks at
            if not c.spec and rng.random() < 0.5:
                flags += ["--grid", f"{c.name}=exact"]
        self.order = ["--order", "input"] if rng.random() < 0.2 else []
        return flags

    def run(self, *arguments):
        done = subprocess.run([self.kanon, *arguments], cwd=self.folder, capture_output=True, timeout=120)
        self.last = (arguments, done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))
        return self.last[1:]

    def complain(self, what):
        arguments, code, out, err = self.last
        self.problems.append(f"{what}\n  kanon {shlex.join(arguments)}\n  exit {code}\n{out[-1500:]}{err[-1500:]}")

    def check(self):
        """Returns "released", a refusal, or "" with problems."""
        try:
            return self.check_all()
        except subprocess.TimeoutExpired as late:
            self.problems.append(f"takes too long: {late.cmd}")
            return ""

    def check_all(self):
        side = ["--json", "run.json", "--schema", "schema.json", "--report", "report.html"]
        code, out, err = self.run("anonymize", "data.csv", "-o", "r.csv", *side, *self.order, "--effort", "20000", *self.flags)
        if code in (1, 2, 3):
            if re.search(r"does not hold|on the written file|could not be recounted", err):
                self.complain("refuses its own release")
                return ""
            if not any(re.search(pattern, err) for pattern in REFUSALS):
                self.complain("an undocumented refusal")
                return ""
            return err.splitlines()[-1] if err else "?"
        if code != 0:
            self.complain("anonymize fails")
            return ""
        # whose row a released row was is not known later, so persons and what the original alone knows stay undecided
        for original in (["--original", "data.csv", *self.order], []):
            code, out, err = self.run("verify", "r.csv", *original, *self.flags)
            undecided = code == 1 and "BROKEN" not in out and out.startswith("Undecided")
            if code != 0 and not (undecided and (not original or "--person" in self.flags)):
                self.complain(f"verify {' '.join(original)} refuses")
        if self.run("measure", "data.csv", "r.csv", "--json", "m.json", *self.flags)[0] != 0:
            self.complain("measure refuses")
        else:
            self.compare_losses()
        self.compare_counts()
        self.check_names()
        return "released"

    def compare_counts(self):
        """Every command counts the classes that a reader of the file counts."""
        said = {}
        sizes = collections.Counter(tuple(row[1:1 + len(self.qis)]) for row in self.released().values())
        run = json.load(open(self.folder / "run.json"))["classes"]
        said["anonymize"] = run["count"]
        if (self.folder / "m.json").exists():
            said["measure"] = json.load(open(self.folder / "m.json"))["classes"]
        self.run("verify", "r.csv", "--json", "v.json", *self.flags)
        said["verify"] = json.load(open(self.folder / "v.json"))["classes"]
        if self.run("risk", "r.csv", "--json", "k.json", *[f for f in self.flags if f != "--trim"])[0] == 0:
            said["risk"] = json.load(open(self.folder / "k.json"))["classes"]
        report = re.search(r"([0-9,]+) class", (self.folder / "report.html").read_text(encoding="utf-8"))
        if report:
            said["report"] = int(report[1].replace(",", ""))
        if self.ambiguous():  # two nodes of one label are two classes for the run, which knows which is which
            said = {name: n for name, n in said.items() if name in ("verify", "risk")}
            run = None
        if set(said.values()) != {len(sizes)}:
            self.complain(f"the release has {len(sizes)} classes, and {said} are told")
        least, most = (min(sizes.values()), max(sizes.values())) if sizes else (0, 0)
        if run and "--person" not in self.flags and (run["min"], run["max"]) != (least, most):
            self.complain(f"classes have {least} to {most} rows, and {run} is told")

    def compare_losses(self):
        run, read = (json.load(open(self.folder / name))["loss"] for name in ("run.json", "m.json"))
        # stars of a class and of suppressed rows cannot be told apart, and a repeated label means the wider node
        if abs(run["lm"] - read["lm"]) > 1e-9 and "100%" not in self.flags and not self.ambiguous():
            self.complain(f"lm is {run['lm']} in the run and {read['lm']} measured")

    def ambiguous(self):
        masked = lambda c: c.spec.startswith("mask") and any("*" in v for v in c.values)  # its star, or ours?
        return any(c.spec.startswith("./") or masked(c) for c in self.qis)

    # --- What labels name ---------------------------------------------------------------------------------------

    def released(self):
        with open(self.folder / "r.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        return {row[0]: row for row in (rows if self.no_header else rows[1:])}

    def check_names(self):
        released, originals = self.released(), {row[0]: row for row in self.rows}
        trim = (lambda t: t.strip(" \t")) if "--trim" in self.flags else (lambda t: t)
        for i, column in enumerate(self.qis, 1):
            under = collections.defaultdict(set)
            for key, row in released.items():
                label = row[i]
                if "--guard-formulas" in self.flags and label[:1] == "'" and label[1:2] in ("=", "+", "-", "@"):
                    label = label[1:]
                under[label].add(trim(originals[key][i]))
            if not column.spec.startswith("./"):
                self.check_column(column, under)
        self.check_side_outputs(released)

    def check_column(self, column, under):
        all_values = {row[1 + self.qis.index(column)] for row in self.rows}
        stars = any("*" in v for v in all_values)  # a mask that would look like a value stays as long as it was
        longest = 0
        for label, seen in under.items():
            if label in all_values or label == "*":
                continue
            if label.startswith("{") and label.endswith("}"):
                nulls = {"", "NA", "-"} if "--null" in self.flags else {""}
                seen = {MISSING if value.strip(" \t") in nulls else value for value in seen}
                if members(label[1:-1], "|") != seen:
                    self.complain(f"{label!r} of {column.name} names {members(label[1:-1], '|')}, its rows have {seen}")
            elif ".." in label and self.names_ends(column):
                for end in members(label, ".."):
                    if end not in seen and not same_value(end, seen):
                        self.complain(f"{label!r} of {column.name} ends at {end!r}, which none of its rows {seen} has")
            elif label.strip("*") != label:
                longest = max(longest, max(len(v) for v in seen) if len(seen) else 0)
        for label in under:
            masked = not stars and label.strip("*") != label and label != "*" and label not in all_values and "{" not in label
            if masked and ".." not in label and "[" not in label and len(label) > longest:
                self.complain(f"mask {label!r} of {column.name} is longer than any value under a mask ({longest})")

    def names_ends(self, column):
        is_exact = not column.spec and f"{column.name}=exact" in self.flags
        return column.spec.startswith("order(") or (is_exact and not self.is_global)

    def check_side_outputs(self, released):
        texts = {name: (self.folder / name).read_text(encoding="utf-8") for name in ("run.json", "schema.json", "report.html")}
        shown = "\n".join(cell for row in released.values() for cell in row)
        commands = " ".join(self.flags)
        is_there = lambda row: row[0] in released and released[row[0]][1:1 + len(self.qis)].count("*") < len(self.qis)
        had = {cell for row in self.rows if is_there(row) for cell in row[1:1 + len(self.qis)]}
        for row in self.rows:
            if is_there(row):
                continue
            for cell in row[1:1 + len(self.qis)]:
                if cell in had:  # somebody who is there has it, too
                    continue
                told = re.search(r"[a-zA-Z]{3}|[0-9]{5}|[0-9]-[0-9]", cell)  # a short number could be any figure
                if not told or cell in shown or cell in commands:
                    continue
                for name, text in texts.items():
                    if re.search(r"(?<![0-9A-Za-z.])" + re.escape(cell) + r"(?![0-9A-Za-z.])", text):
                        self.problems.append(f"{name} shows {cell!r}, which nobody in the release has")


def members(text, stop):
    out, now, i = set(), "", 0
    while i < len(text):
        if text[i] == "\\" and i + 1 < len(text):
            now += MISSING if text[i + 1] == "N" else text[i + 1]
            i += 2
        elif text.startswith(stop, i):
            out.add(now)
            now = ""
            i += len(stop)
        else:
            now += text[i]
            i += 1
    return out | {now}


def same_value(end, seen):
    def number(text):
        try:
            return float(text)
        except ValueError:
            return None
    return number(end) is not None and number(end) in {number(v) for v in seen}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kanon")
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--keep")
    parser.add_argument("--only", type=int)
    options = parser.parse_args()
    kanon, failures, ends = str(pathlib.Path(options.kanon).resolve()), 0, collections.Counter()
    for number in [options.only] if options.only is not None else range(options.cases):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(options.keep or scratch)
            folder.mkdir(exist_ok=True)
            case = Case(kanon, options.seed, number, folder)
            end = case.check()
            ends["released" if end == "released" else "refused" if end else "failed"] += 1
            if options.only is not None:
                print(end)
            if case.problems:
                failures += 1
                print(f"not ok {failures} - case {number} of seed {options.seed}")
                for problem in case.problems[:3]:
                    print("#   " + problem.replace("\n", "\n#   "))
    good = failures == 0 and (options.only is not None or ends["released"] * 2 > options.cases)
    print(f"{'ok' if good else 'not ok'} {failures + 1} - {dict(ends)}")
    print(f"1..{failures + 1}")
    sys.exit(0 if good else 1)


main()
