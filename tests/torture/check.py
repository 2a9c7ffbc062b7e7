"""One case: run, and everything that must hold of it.

  - an input may be refused, for a reason in REFUSALS, never because kanon cannot read or does not accept its own release;
  - the same seed gives the same bytes, release and certificate, with one and with two threads, in another process (whose hash
    tables have another key), from whatever source, into whatever sink;
  - `verify` with the original accepts the release, without the search's name and alone too, or says what it cannot decide;
    `measure` tells the losses that the run told; every command counts the classes that a reader of the file counts;
  - where levels or cuts are searched, the table as records with counts is released as the table is;
  - the recount (recount.py) agrees: models and their worst class, cells, copied columns, losses;
  - a set, an interval or a mask made from the data names only values that released rows under that label have, and so
    does the schema where it lists what a group made from the data holds;
  - what only people have who are not in the release stands in no output, and no cell of a column that does not leave does."""
import collections
import json
import pathlib
import random
import re

import draw
import engines
import read_cells
import recount

REFUSALS = [
    r"would be ambiguous, because in a release \* means any value",
    r"would have to be (suppressed|removed)",
    r"no generalization meets the models|not even the whole table as one class satisfies",
    r"but below another label; one value of column",
    r"is no (number|date), but|needs (numbers|dates), but|people.csv:[0-9]+: column .* is not a (whole number|number|date)",
    r"a label can stand below one parent only",
    r"the label '\*' below the root .* would be ambiguous",
    r"is not in order\(.*list every value of the data",
    r"is too large for intervals\(",
    r"its numbers are beyond 9e15, too large for a grid",
    r"reaches from below bottom to beyond top",
    r"(k|l|p|t|alpha|beta|delta|c|max|min)=[0-9.]+ is impossible",
    r"cell-suppression (builds classes row by row|cannot count persons)",
    r"(k-optimize|hill-climb|genetic|anneal) (has no bound|cannot prove|needs --max-suppressed 0)",
    r"the models do not hold for the table as one class|cannot minimize \S+ where a missing value is released",
    r"no release exists: even one class of everything breaks a model|only [0-9]+ persons are beyond (top|bottom)",
    r"(k-optimize|hill-climb|genetic|anneal) (needs the rows of a person|takes these models|cannot count a population|cuts columns in an order)",
    r"builds classes row by row and cannot count a population|is only reported, it cannot be minimized",
    r"is a collection of subsets, which has no levels|chooses values class by class and knows no levels",
    r"top, bottom and round need a grid or a hierarchy|is not on the column's grid|lies inside a label of its hierarchy",
    r"is copied and stands one-to-one with the quasi-identifier",
    r"(two|three)-factor is for k=[23], and k is|measure \S+ needs a sensitive column",
    r"columns of bounds are known by their names, and a file without a header has none",
    r"minimizes sums over cells only, and \S+ is none",
    r"(k-optimize|hill-climb|genetic|anneal): measure \S+ prices nodes|no set of cuts meets the models",
    r"values=\S+ is no value of column|bottom: [0-9.-]+ is above top",
    r"(^|kanon: )--certificate: (there is|column)|there is no certificate: |at most [0-9]+ can be told apart; give it a width with coarse=",
]
# what `verify` sees without knowing which row is whose
VERIFIABLE = {"k-anonymity", "l-diversity", "p-sensitive", "alpha-k", "t-closeness", "beta-likeness", "delta-disclosure", "k-map",
              "delta-presence", "columns", "copied"}
# searches that take records with counts and do not draw by chance
COUNTED = {"optimal", "samarati", "incognito", "mingen", "datafly", "mu-argus", "k-optimize"}
MISSING = "(missing)"  # what \N in a set stands for
MOST_GONE = 100  # of the rows that are not released, so many are looked for
TOKEN = re.compile(r"zq[0-9a-f]{12}")


def members(text, stop):
    """The parts of a set or interval, unescaped."""
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


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def differing(one, two):
    """The first few lines in which they differ."""
    pairs = [f"{a!r}\nand {b!r}" for a, b in zip(one, two) if a != b][:5]
    return "\n".join(pairs) if pairs else f"{len(one)} lines and {len(two)}"


def without_times(told):
    """A part of the JSON without what two runs need not have in common."""
    if isinstance(told, list):
        return [without_times(part) for part in told]
    if isinstance(told, dict):
        return {key: without_times(part) for key, part in told.items() if key not in ("seconds", "peak_bytes")}
    return told


class Check:
    def __init__(self, case, program, elsewhere, patience):
        """`elsewhere()`: the library in another process, an engines.Elsewhere."""
        self.case, self.problems = case, []
        self.program, self.elsewhere, self.patience = engines.Program(program), elsewhere, patience
        self.engine = engines.Library() if case["by"] == "library" else self.program

    def complain(self, kind, what, outcome=None):
        told = f"\nexit {outcome.code}: {outcome.said().strip()[-1500:]}" if outcome else ""
        self.problems.append((kind, what + told))

    def option(self, name, default=None):
        return recount.option(self.case, name, default)

    def has_persons(self):
        return any(column["role"] == "person" for column in self.case["columns"])

    # --- Running ---------------------------------------------------------------------------------------------------------

    def again(self, sink):
        """With two threads, in another process."""
        if self.case["by"] == "program":
            return engines.anonymize(self.engine, self.case, self.case["second"], sink, "2", ["json", "schema"])
        other = self.elsewhere()
        outcome = other.anonymize(self.case, self.case["second"], sink, "2", ["json", "schema"], self.patience)
        self.engine.commands += other.commands[-1:]
        return outcome

    def certificate(self):
        path = pathlib.Path(self.option("certificate", "none"))
        return path.read_bytes() if path.exists() else None

    def run(self):
        """Returns "released", "refused", or "failed"; problems tell why."""
        for name, text in self.case["files"].items():
            pathlib.Path(name).write_text(text, encoding="utf-8", newline="")
        sides = ["json", "schema"] + (["report", "codebook"] if self.case.get("pages") else [])
        first = self.first = engines.anonymize(self.engine, self.case, self.case["source"], self.case["sink"], "1", sides)
        self.check_tokens(first)
        proof = self.certificate()
        second = self.again("file" if self.case["by"] == "program" else "text")
        if self.certificate() != proof:
            self.complain("threads", "another certificate")
        if first.code != 0:
            self.check_refusal(first, second)
            return "failed" if self.problems else "refused"
        self.told = json.loads(first.kept["json"])
        self.check_same(first, second)
        self.recount = recount.Recount(self.case, first.release)
        self.recount.check()
        self.problems += self.recount.problems
        if not self.recount.problems:
            self.check_verify()
            self.check_measure()
            self.check_counts()
            self.check_names()
            self.check_absent()
            self.check_records()
            if self.is_now_and_then() and self.case["sink"] != "parquet":
                self.check_spoiled()
        return "failed" if self.problems else "released"

    def check_refusal(self, first, second):
        if re.search(r"does not hold|on the written file|could not be recounted", first.message):
            self.complain("refuses its own release", "anonymize", first)
        elif first.code not in (1, 2, 3):
            self.complain("fails", "anonymize", first)
        elif not any(re.search(pattern, first.message) for pattern in REFUSALS):
            shape = re.sub(r"'[^']*'|[^a-z ]", "", first.message)[:50]
            self.complain(f"undocumented refusal: {shape}", "anonymize", first)
        elif second.code != first.code:
            self.complain("threads", f"refused with {first.code}, and with two threads {second.code}", second)

    def check_same(self, first, second):
        """Bytes with one thread are those with two, by another way in and out."""
        if second.code != 0:
            self.complain("threads", "refused with two threads, or from another source", second)
        elif first.release != second.release:
            self.complain("threads", f"another release:\n{differing(first.release.splitlines(), second.release.splitlines())}")
        elif self.case["source"] == self.case["second"] and self.case["sink"] != "parquet":
            if first.kept["schema"] != second.kept["schema"]:
                self.complain("threads", "another schema")
            one, two = (json.loads(outcome.kept["json"]) for outcome in (first, second))
            if without_times(one) != without_times(two):
                self.complain("threads", f"another JSON:\n{one}\nand\n{two}")

    # --- The other commands ----------------------------------------------------------------------------------------------

    def release(self):
        """The release where a command finds it."""
        if self.case["sink"] == "table":
            return [], [("release", self.first.result.stream())]
        if self.case["sink"] == "parquet":
            return [("release", "r.parquet")], []
        if self.case["sink"] in ("stdout", "text"):
            pathlib.Path("r.csv").write_text(self.first.release, encoding="utf-8", newline="")
        return [("release", "r.csv")], []

    def check_verify(self):
        # without a header the columns of a release alone are called by their numbers there
        known, guessed, alone = "with the original", "with the original, the search not named", "alone"
        now_and_then = [guessed] + [alone] * self.case["header"] if self.is_now_and_then() else []
        for how in [known] + now_and_then:
            original = how != alone
            options, tables = engines.place(self.case, self.case["source"], "original") if original else ([], [])
            there, arrays = self.release()
            common = engines.common_options(self.case, "verify")
            if how == known and self.option("certificate"):
                common.append(("certificate", self.option("certificate")))
            if how == guessed:
                common = [pair for pair in common if pair[0] not in ("algorithm", "recoding")]
            if not original:
                common = [pair for pair in common if pair[0] != "order"]
            outcome = self.engine.run("verify", there + options + common, tables + arrays, ["json"])
            self.check_tokens(outcome)
            # whose row a released row was is not known later, so persons and what the original alone knows stay undecided
            undecided = outcome.code == 1 and "BROKEN" not in outcome.text and outcome.text.startswith("Undecided")
            # a class that is * everywhere beside others counts as generalized for some searches, as suppressed where none is named
            if how == known:
                has_stars = "those rows count as generalized" in outcome.text
            elif how == guessed and has_stars and re.findall("(?m)^  BROKEN +(.*?):", outcome.text) == ["suppressed rows"]:
                continue
            if outcome.code != 0 and not (undecided and (not original or self.has_persons() or self.option("cells") == "both")):
                self.complain("verify refuses", how, outcome)
            elif how == known and outcome.kept.get("json"):
                self.verified = json.loads(outcome.kept["json"])
                names = [name for name, _ in self.recount.worst]
                if not undecided:
                    self.check_worst([check for check in self.verified["checks"] if check["name"] in names], "verify")

    def check_worst(self, models, who):
        """The worst class of every model is the recount's."""
        if [model["name"] for model in models] != [name for name, _ in self.recount.worst]:
            return self.complain("models", f"{who} tells of {models}, asked for were {self.recount.worst}")
        for model, (name, worst) in zip(models, self.recount.worst):
            said = model["worst"]
            if model.get("holds", model.get("state") != "broken") is False:
                self.complain("models", f"{who} says that {name} does not hold")
            elif who == "verify" and self.has_persons():
                continue  # they are not known later
            elif worst is not None and said is not None and abs(said - worst) > 1e-6:
                self.complain("worst class", f"{who} says {said} for {name}, the recount {worst}")

    def check_measure(self):
        data, tables = engines.place(self.case, self.case["source"])
        there, arrays = self.release()
        outcome = self.engine.run("measure", data + there + engines.common_options(self.case, "measure"), tables + arrays, ["json"])
        self.check_tokens(outcome)
        if outcome.code != 0:
            return self.complain("measure refuses", "", outcome)
        self.measured = json.loads(outcome.kept["json"])
        read, run = self.measured["loss"], self.told["loss"]
        for name, value in self.recount.losses().items():
            if read[name] is not None and abs(read[name] - value) > 1e-6 * max(1, abs(value)):
                self.complain("loss", f"{name} is {read[name]} measured, and {value} by the recount")
        # stars of a class and of suppressed rows cannot be told apart, and a repeated label means the wider node
        if not self.ambiguous() and not self.recount.may_be_suppressed():
            # of bounds, which say the same at a level and as a value, the level is not known
            levels = {"tree", "precision", "hybrid"} if self.option("cells", "labels") != "labels" else set()
            for name in set(run) - levels:
                if None not in (run[name], read[name]) and abs(run[name] - read[name]) > 1e-6 * max(1, abs(run[name])):
                    self.complain("loss", f"{name} is {run[name]} in the run and {read[name]} measured")

    def ambiguous(self):
        """A text of the release that means two nodes: the label of several, or a star that may be the data's."""
        for i, column in enumerate(self.case["columns"]):
            spec = column["options"].get("hierarchy", "")
            if column["role"] == "quasi" and (spec.startswith("./") or (
                    spec.startswith("mask") and any("*" in row[i] for row in self.recount.originals))):
                return True
        return False

    def is_now_and_then(self):
        """For what is too slow for every case."""
        number_ = self.case["seed"].rpartition("/")[2]
        return not number_.isdigit() or int(number_) % 4 == 0

    def risk_classes(self):
        (_, name), = self.release()[0] or [("", None)]
        options = [pair for pair in engines.common_options(self.case, "risk") if pair[0] not in ("trim", "weight")]
        tables = [] if name else [("data", self.first.result.stream())]
        outcome = self.engine.run("risk", ([("data", name)] if name else []) + options, tables, ["json"])
        return json.loads(outcome.kept["json"])["classes"] if outcome.code == 0 else None

    def classes_by_look(self):
        """What a reader counts who takes columns of numbers for numbers: nobody told `risk` that `10` and `10e0` are two texts."""
        columns = []
        for cells in zip(*self.recount.classes):
            values = [read_cells.number(cell) if cell else cell for cell in cells]
            columns.append(cells if None in values else values)
        return len(set(zip(*columns)))

    def check_counts(self):
        """Every command counts the classes that a reader of the file counts."""
        classes = self.recount.classes
        said = {"verify": getattr(self, "verified", {}).get("classes")}
        risk = self.risk_classes() if self.is_now_and_then() and self.case["header"] else None
        if risk is not None and risk != self.classes_by_look():
            said["risk"] = risk
        if not self.ambiguous():  # two nodes of one label are two classes for the run, which knows which is which
            report = re.search(r"([0-9,]+) class", self.first.kept.get("report", "")) if self.option("language") != "de" else None
            said |= {"measure": getattr(self, "measured", {}).get("classes"), "anonymize": self.told["classes"]["count"],
                     "report": int(report[1].replace(",", "")) if report else None}
        if any(count not in (None, len(classes)) for count in said.values()):
            self.complain("counts", f"the release has {len(classes)} classes, and {said} are told")
        run = self.told["classes"]
        least, most = min(map(len, classes.values()), default=0), max(map(len, classes.values()), default=0)
        if not self.ambiguous() and not self.has_persons() and not self.recount.may_be_suppressed() and (run["min"], run["max"]) != (least, most):
            self.complain("counts", f"classes have {least} to {most} rows, and {run} is told")
        # it does not count those who were suppressed into a class of stars, and tells nodes of one label apart
        if not self.recount.may_be_suppressed() and not self.ambiguous():
            self.check_worst(self.told["models"], "the run")

    # --- Records with counts -----------------------------------------------------------------------------------------------

    def check_records(self):
        """The distinct rows with counts: what is released of a record is what is released of its rows."""
        number_ = self.case["seed"].rpartition("/")[2]
        algorithm = self.told["algorithm"].partition(":")[0]
        unfit = {"polish", "certify", "certificate", "cells", "encoding", "unit", "order", "explain"} & {o for o, _ in self.case["options"]}
        if (not number_.isdigit() or int(number_) % 3 or algorithm not in COUNTED or engines.kanon is None or unfit or self.has_persons()
                or not self.case["header"] or self.case["policy"]
                or any("derive" in c["options"] or c["options"].get("hierarchy") == "similar" for c in self.case["columns"])):
            return
        at = [i for i, column in enumerate(self.case["columns"]) if column["role"] in ("quasi", "sensitive")]
        rows = [tuple(row[i] for i in at) for row in self.case["rows"]]
        counts = collections.Counter(rows)
        columns = [self.case["columns"][i] for i in at]
        narrow = self.case | {"columns": columns, "by": "library", "options": self.case["options"] + [["order", "input"]]}
        long = narrow | {"rows": [list(row) for row in rows]}
        short = narrow | {"rows": [[*row, str(n)] for row, n in counts.items()],
                          "columns": columns + [{"name": "n", "role": "dropped", "kind": "count", "options": {}}],
                          "options": narrow["options"] + [["count", "n"]]}
        library, told = engines.Library(), []
        for case in (long, short):
            told.append(engines.anonymize(library, case, "csv", "table", "1", []))
        if (told[0].code == 0) != (told[1].code == 0):
            return self.complain("records", f"{told[0].said()}\nand with counts {told[1].said()}")
        if told[0].code != 0:
            return
        released = [engines.read_rows(outcome.release, self.case["delimiter"])[1:] for outcome in told]
        records = list(counts)
        of_record = {records[i]: cells for i, cells in zip(memoryview(told[1].result.records()).cast("I"), released[1])}
        expected = [of_record[row] for row in rows if row in of_record]
        if expected != released[0]:
            self.engine.commands += library.commands
            self.complain("records", f"with counts another release:\n{differing(released[0], expected)}")

    # --- Releases that were spoiled ----------------------------------------------------------------------------------------

    def check_spoiled(self):
        """What the recount refuses, `verify` does not accept."""
        rng = random.Random(self.case["seed"])
        rows = engines.read_rows(self.first.release, self.case["delimiter"])
        first = 1 if self.case["header"] else 0
        if len(rows) < first + 2:
            return
        one, two = rng.sample(range(first, len(rows)), 2)
        column, how = rng.randrange(len(rows[0])), rng.choice(["remove", "copy", "swap", "class"])
        if how == "remove":
            del rows[one]
        elif how == "class":  # somebody moves to another class
            for i in self.recount.keys:
                rows[one][i] = rows[two][i]
        elif how == "copy":
            rows[one][column] = rows[two][column]
        else:
            rows[one][column], rows[two][column] = rows[two][column], rows[one][column]
        text = engines.write_rows(sorted(rows[first:], key=lambda row: [cell.encode() for cell in row]), self.case["delimiter"],
                                  rows[0] if first else ())
        again = recount.Recount(self.case, text)
        again.check()
        verifiable = VERIFIABLE | ({"suppressed"} if self.option("max-suppressed") else set())
        refused = [kind for kind, _ in again.problems if kind.removeprefix("recount: ") in verifiable]
        if not refused:
            return
        pathlib.Path("s.csv").write_text(text, encoding="utf-8", newline="")
        data, tables = engines.place(self.case, self.case["source"], "original")
        common = [pair for pair in engines.common_options(self.case, "verify") if pair[0] != "order"]
        outcome = self.engine.run("verify", [("release", "s.csv")] + data + common, tables, ["json"])
        if outcome.code == 0:
            self.complain("verify accepts what is broken", f"{how}: {refused}\n{text}", outcome)
        self.check_tokens(outcome)

    # --- What labels name ------------------------------------------------------------------------------------------------

    def check_names(self):
        if self.recount.origin is None or self.option("cells", "labels") != "labels":
            return
        for column in self.case["columns"]:
            if column["role"] != "quasi" or column["options"].get("hierarchy", "").startswith("./"):
                continue
            at, there = self.recount.columns[column["name"]], self.recount.header.index(column["name"])
            under = collections.defaultdict(set)
            for row, i in zip(self.recount.released, self.recount.origin):
                under[row[there]].add(self.recount.originals[i][at])
            self.check_labels(column, under, {row[at] for row in self.recount.originals})
            self.check_groups(column, under)

    def check_groups(self, column, under):
        """The schema lists of a group what released rows in it have, and nothing else."""
        told = next(told for told in json.loads(self.first.kept["schema"])["columns"] if told["name"] == column["name"])
        nulls = {""} | set(self.option("null", "").split(","))
        plain = lambda texts: {MISSING if text is None or text.strip(" \t") in nulls else
                               number(text) if column["like"] == "number" and number(text) is not None else text for text in texts}
        for label in told.get("labels", []) if told.get("made_from_data") else []:
            if label["label"].startswith("{") or label["label"] == "*":
                continue
            listed = plain(label.get("members", []))
            inside = [seen for cell, seen in under.items() if cell == label["label"] or (cell != "*" and plain(seen) <= listed)]
            if not plain(under[label["label"]]) <= listed <= set().union(*map(plain, inside)):
                self.complain("names", f"{label} of {column['name']}, where released rows have {under[label['label']]}")

    def check_labels(self, column, under, all_values):
        spec, name = column["options"].get("hierarchy", ""), column["name"]
        exact = not spec and column["options"].get("grid") == "exact" and self.told["algorithm"] in draw.LOCAL
        nulls = {""} | set(self.option("null", "").split(","))
        for label, seen in under.items():
            if label in all_values or label == "*":
                continue
            if label.startswith("{") and label.endswith("}"):
                seen = {MISSING if value.strip(" \t") in nulls else value for value in seen}
                by_value = lambda texts: {number(text) if column["like"] == "number" and number(text) is not None else text for text in texts}
                if by_value(members(label[1:-1], "|")) != by_value(seen):
                    self.complain("names", f"{label!r} of {name} names {members(label[1:-1], '|')}, its rows have {seen}")
            elif ".." in label and (spec.startswith("order(") or spec == "natural" or exact) and not {"top", "bottom", "round"} & set(column["options"]):
                for end in members(label, ".."):
                    if end not in seen and (number(end) is None or number(end) not in map(number, seen)):
                        self.complain("names", f"{label!r} of {name} ends at {end!r}, which none of its rows {seen} has")
        if any("*" in value for value in all_values):
            return  # a mask that would look like a value stays as long as it was
        masked = {label for label in under if label.strip("*") not in (label, "") and label not in all_values}
        longest = max((len(value) for label in masked for value in under[label]), default=0)
        lowest = int(column["options"].get("level", "0..")[0])
        if 0 < lowest <= max(map(len, all_values)) - longest:  # without stars a mask of the lowest level would be a value
            longest = max(map(len, all_values)) - lowest + 1
        for label in masked if spec.startswith("mask") else ():
            if len(label) > longest:
                self.complain("names", f"mask {label!r} of {name} is longer than any value under a mask ({longest})")

    # --- What must not be told -------------------------------------------------------------------------------------------

    def check_tokens(self, outcome):
        """Cells of columns that do not leave."""
        outputs = {"message": outcome.message, "text": outcome.text, "warnings": outcome.warnings, "release": outcome.release or "",
                   **outcome.kept}
        for name, text in outputs.items():
            found = TOKEN.search(text)
            if found:
                self.complain("leak", f"{name} shows {found[0]}, a cell of a column that does not leave")

    def check_absent(self):
        """Quasi-identifiers that only people have whose rows are suppressed or removed."""
        if self.recount.origin is None:
            return
        stars = ("*",) * len(self.recount.keys)
        there = {i for row, i in zip(self.recount.released, self.recount.origin)
                 if tuple(row[key] for key in self.recount.keys) != stars}
        quasi = [i for i, column in enumerate(self.case["columns"]) if column["role"] == "quasi"]
        originals = self.recount.originals
        had = {row[i] for number_, row in enumerate(originals) if number_ in there for i in quasi}
        public = self.first.release + json.dumps([self.case["options"], [c["options"] for c in self.case["columns"]]], ensure_ascii=False)
        gone = [row for number_, row in enumerate(originals) if number_ not in there]
        for row in gone[:MOST_GONE]:
            for i, cell in ((i, row[i]) for i in quasi if row[i] not in had):
                # a short number could be any figure, months begin and end on days, and what the policy, the release or the
                # hierarchy of another column says is public
                if not re.search(r"[a-zA-Z]{3}|[0-9]{5}|[0-9]-[0-9]", cell) or re.search("-(01|28|29|30|31)$", cell):
                    continue
                own = self.case["columns"][i]["options"].get("hierarchy", "").removeprefix("./")
                if cell in public or any(cell in text for name, text in self.case["files"].items() if name != own):
                    continue
                german = r"(?<![0-9],)" if self.option("language") == "de" else ""  # 0,00005 on the axis of a chart
                shown = re.compile(r"(?<![0-9A-Za-z.])" + german + re.escape(cell) + r"(?![0-9A-Za-z.])")
                for name, text in {**self.first.kept, "text": self.first.text}.items():
                    if shown.search(text):
                        self.complain("leak", f"{name} shows {cell!r}, which nobody in the release has")
