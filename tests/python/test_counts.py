"""Tables with counts: whatever is asked for, the answer is the one of the table in which every record is repeated as
often as its count says."""
import collections
import random

import kanon

from support import Case

GLOBAL = ["optimal", "samarati", "incognito", "mingen", "datafly", "mu-argus", "k-optimize", "hill-climb", "genetic",
          "anneal"]
SEARCHED_BY_CHANCE = {"hill-climb", "genetic", "anneal"}
TREES = {"age": "intervals(5,10,20)", "zip": "mask(right)", "job": "auto", "day": "date(month,year)"}


def rows_of(draw, n, persons):
    """People; some have the same cells, some persons several rows. Two spellings of one number are in it."""
    rows = []
    for _ in range(n):
        row = {"age": draw.choice(["20", "20.0", "", *map(str, range(20, 36))]),
               "zip": draw.choice(["8001", "8002", "8053", "1201"]), "job": draw.choice("abcdeff"),
               "day": f"2024-0{draw.randint(1, 3)}-1{draw.randint(0, 3)}",
               "ill": draw.choice(["flu", "flu", "gout", "cold", ""]), "pay": str(draw.choice([10, 20, 20, 30]))}
        if persons:
            row["who"] = draw.choice(["", *map(str, range(n))])
        rows += [row] * draw.choice([1, 1, 1, 2, 5])
    return rows


def columns_of(rows):
    return {name: [row[name] for row in rows] for name in rows[0]}


def counted(rows, draw, qis, sensitive, persons):
    """The same as records with counts: persons who are in one record only are counted without their name. Some records
    are split in two."""
    cells = [*qis, *sensitive]
    records = collections.Counter(tuple(row[name] for name in cells) + ((row["who"],) if persons else ()) for row in rows)
    if persons:
        of_person = collections.Counter(record[-1] for record in records)
        merged, people = collections.Counter(), collections.Counter()
        for record, n in records.items():
            if of_person[record[-1]] == 1 and record[-1] != "":
                merged[record[:-1] + ("",)] += n
                people[record[:-1] + ("",)] += 1
            else:  # all rows without a person are one person's, as the library has it
                merged[record[:-1] + (record[-1] or "nobody",)] += n
        found = [(record, n, people.get(record, "")) for record, n in merged.items()]
    else:
        found = []
        for record, n in records.items():
            part = draw.randint(1, n)
            found += [(record, part, "")] + ([(record, n - part, "")] if part < n else [])
    draw.shuffle(found)
    table = {name: [record[i] for record, _, _ in found] for i, name in enumerate(cells)}
    if persons:
        table["who"] = [record[-1] for record, _, _ in found]
        table["people"] = [str(people) for _, _, people in found]
    table["n"] = [n for _, n, _ in found]
    return table


def texts(release, name):
    return ["" if text is None else text for text in release.to_dict()[name]]


def expanded(release, table, names):
    """The rows that the mapping makes, as often as their counts say."""
    cells = list(zip(*(texts(release, name) for name in names)))
    return sorted(row for record, row in zip(release.records, cells) for _ in range(table["n"][record]))


class Counts(Case):
    def asked(self, draw):
        qis = draw.sample(sorted(TREES), draw.randint(1, 3))
        sensitive = draw.choice([["ill"], ["ill"], [], ["ill", "pay"]])
        persons = draw.random() < 0.5
        models = []
        if sensitive:
            joint = ",joint=yes" if len(sensitive) > 1 and draw.random() < 0.3 else ""
            models = draw.choice([[], [f"l-diversity:column=ill,l=2{joint}"], [f"l-diversity:column=ill,kind=entropy,l=1.5{joint}"],
                                  ["t-closeness:column=ill,t=0.4"], ["alpha-k:column=ill,alpha=0.8"],
                                  ["p-sensitive:column=ill,p=2"], ["beta-likeness:column=ill,beta=3"],
                                  ["delta-disclosure:column=ill,delta=3"]])
        options = {"qi": qis, "k": draw.choice([2, 3, 5]), "model": models or None, "recoding": "global",
                   "max_suppressed": draw.choice(["0", "5%", "20%", "3"]), "report": True, "allow_copy": True,
                   "measure": draw.choice(["lm", "lm", "entropy", "dm", "am", "tree", "kl", "precision"]
                                          + (["pmi", "cm"] if sensitive == ["ill"] else [])),
                   "algorithm": draw.choice(GLOBAL), "fold_sensitive": draw.random() < 0.2,
                   "missing": draw.choice(["value", "value", "wildcard"])}
        if sensitive:
            options["sensitive"] = sensitive
        if draw.random() < 0.8:
            options["hierarchy"] = {name: TREES[name] for name in qis if name != "job" or draw.random() < 0.5}
        if persons:
            options["person"] = "who"
        return {name: value for name, value in options.items() if value is not None}, qis, sensitive, persons

    def released(self, function):
        try:
            return function(), None
        except (kanon.NotMet, kanon.UsageError) as error:
            return None, type(error)

    def compare(self, seed):
        draw = random.Random(seed)
        options, qis, sensitive, persons = self.asked(draw)
        rows = rows_of(draw, draw.choice([5, 20, 60]), persons)
        used = [*qis, *sensitive] + (["who"] if persons else [])
        rows = [{name: row[name] for name in used} for row in rows]
        table = counted(rows, draw, qis, sensitive, persons)
        whole, refused = self.released(lambda: kanon.anonymize(columns_of(rows), **options))
        more = {"person_count": "people"} if persons else {}
        mapping, refused_too = self.released(lambda: kanon.anonymize(table, count="n", order="input", **more, **options))
        about = f"seed {seed}: {options}"
        if options["algorithm"] in SEARCHED_BY_CHANCE:  # tuples in another order take another course
            self.assertTrue(whole is None or mapping is not None, about)
            return whole is not None
        self.assertEqual(refused, refused_too, about)
        if whole is None:
            return False
        names = [*qis, *sensitive]
        self.assertEqual(sorted(zip(*(texts(whole, name) for name in names))), expanded(mapping, table, names), about)
        self.same_facts(whole, mapping, about)
        return True

    def same_facts(self, whole, mapping, about):
        for key in ("input", "released", "classes", "suppressed", "models", "levels", "optimal", "measure"):
            one, other = whole.facts.get(key), mapping.facts.get(key)
            if key == "input":
                one, other = ({k: facts[k] for k in ("rows", "persons")} for facts in (one, other))
            self.assertEqual(one, other, f"{about}: {key}")
        losses = [{"any": facts["any_bound"] and facts["any_bound"]["value"], **facts["loss"]}
                  for facts in (whole.facts, mapping.facts)]
        for name, loss in losses[0].items():
            other = losses[1][name]
            self.assertTrue(loss == other or abs(loss - other) <= 1e-9 * abs(loss), f"{about}: {name} {loss} {other}")

    def test_the_answer_is_that_of_the_repeated_records(self):
        released = sum(self.compare(seed) for seed in range(260))
        self.assertGreater(released, 130)

    def test_mondrian_cuts_records_as_it_cuts_repeated_rows(self):
        """The cut of a tie may depend on the order of tuples, which persons are counted by: there only that it holds."""
        released = 0
        for seed in range(120):
            draw = random.Random(seed)
            options, qis, sensitive, persons = self.asked(draw)
            options = {**options, "algorithm": "mondrian", "recoding": "local"}
            rows = rows_of(draw, draw.choice([5, 20, 60]), persons)
            rows = [{name: row[name] for name in [*qis, *sensitive] + (["who"] if persons else [])} for row in rows]
            table = counted(rows, draw, qis, sensitive, persons)
            more = {"person_count": "people"} if persons else {}
            whole, refused = self.released(lambda: kanon.anonymize(columns_of(rows), **options))
            mapping, refused_too = self.released(lambda: kanon.anonymize(table, count="n", order="input", **more, **options))
            self.assertEqual(refused, refused_too, (seed, options))
            if whole is not None and not persons:
                names = [*qis, *sensitive]
                self.assertEqual(sorted(zip(*(texts(whole, name) for name in names))), expanded(mapping, table, names), seed)
                self.same_facts(whole, mapping, seed)
            released += whole is not None and whole.facts["classes"]["count"] > 1
        self.assertGreater(released, 40)

    def test_cuts_where_classes_change_are_those_of_the_repeated_records(self):
        released = 0
        for seed in range(40):
            draw = random.Random(seed)
            rows = rows_of(draw, 40, False)
            rows = [{"age": row["age"], "day": row["day"], "ill": row["ill"]} for row in rows]
            table = counted(rows, draw, ["age", "day"], ["ill"], False)
            options = {"qi": "age,day", "sensitive": "ill", "k": 5, "algorithm": "k-optimize:start=classes", "measure": "cm",
                       "allow_copy": True, "max_suppressed": "20%"}
            whole, mapping = kanon.anonymize(columns_of(rows), **options), \
                kanon.anonymize(table, count="n", order="input", **options)
            names = ["age", "day", "ill"]
            self.assertEqual(sorted(zip(*(texts(whole, name) for name in names))), expanded(mapping, table, names), seed)
            released += whole.facts["classes"]["count"] > 1
        self.assertGreater(released, 10)

    def test_many_values_in_many_tuples_are_counted_like_few(self):
        draw = random.Random(5)  # more than fit into a matrix of tuples and values
        rows = [{"age": str(i % 2200), "ill": f"d{i * 7 % 2200 if i < 2200 else draw.randint(0, 99)}"} for i in range(6600)]
        rows += rows[:500] + rows[:100] * 3
        table = counted(rows, draw, ["age"], ["ill"], False)
        options = {"qi": "age", "sensitive": "ill", "k": 3, "recoding": "global", "max_suppressed": "30%",
                   "measure": "pmi", "model": ["l-diversity:kind=entropy,l=8", "alpha-k:alpha=0.2"], "hierarchy": {"age": "intervals(20,100,500)"}}
        whole = kanon.anonymize(columns_of(rows), **options)
        mapping = kanon.anonymize(table, count="n", order="input", **options)
        names = ["age", "ill"]
        self.assertEqual(sorted(zip(*(texts(whole, name) for name in names))), expanded(mapping, table, names))
        self.same_facts(whole, mapping, "many values")

    def given(self, rows, whole, options, qis, sensitive, persons):
        """The records of a release whose rows have numbers, and what each became."""
        became = {int(number): cells for number, *cells in zip(texts(whole, "id"), *(texts(whole, name) for name in qis))}
        suppressed = whole.facts["suppressed"]
        stars = [number for number, cells in became.items() if set(cells) == {"*"}]
        gone = set(stars) if suppressed["removed"] == 0 and suppressed["rows"] == len(stars) else set()
        gone |= set(range(len(rows))) - set(became)
        cells = [*qis, *sensitive] + (["who"] if persons else [])
        records = collections.Counter()
        for i, row in enumerate(rows):
            label = ("*",) * len(qis) if i in gone else tuple(became[i])
            records[tuple(row[name] for name in cells), label, "1" if i in gone else ""] += 1
        table = {name: [record[0][i] for record in records] for i, name in enumerate(cells)} | {"n": list(records.values())}
        given = {name: [record[1][i] for record in records] for i, name in enumerate(qis)} | {"gone": [record[2] for record in records]}
        return table, given

    def test_a_given_release_is_told_of_like_one_that_was_searched(self):
        """The same facts and the same schema as those of the run that found it, from records with counts."""
        released = n_suppressed = 0
        for seed in range(90):
            draw = random.Random(seed)
            options, qis, sensitive, persons = self.asked(draw)
            options = {**options, "algorithm": draw.choice(["cluster", "cluster", "mondrian", "sequential"]),
                       "measure": draw.choice(["lm", "entropy"]), "recoding": "local", "schema": True, "max_suppressed": "20%"}
            rows = rows_of(draw, draw.choice([5, 20, 60]), persons)
            for i in range(draw.randint(0, 3)):  # whom it costs too much to hide
                rows.append({**rows[i], "age": str(300 * i), "zip": f"{i}99", "job": "xyz"[i], "day": f"19{i}0-01-01"})
            rows = [{name: row[name] for name in [*qis, *sensitive] + (["who"] if persons else [])} for row in rows]
            numbered = columns_of(rows) | {"id": [str(i) for i in range(len(rows))]}
            whole, _ = self.released(lambda: kanon.anonymize(numbered, order="input", insensitive="id", **options))
            if whole is None:
                continue
            stars = sum(set(cells) == {"*"} for cells in zip(*(texts(whole, name) for name in qis)))
            if whole.facts["suppressed"]["rows"] not in (0, stars) and whole.facts["suppressed"]["removed"] == 0:
                continue  # they look like a class: nobody can tell which rows they are
            table, given = self.given(rows, whole, options, qis, sensitive, persons)
            again = kanon.anonymize(table, count="n", order="input", given=given, **options)
            about = f"seed {seed}: {options}"
            self.assertEqual([cells for cells in zip(*(texts(again, name) for name in qis))],
                             [cells for i, cells in enumerate(zip(*(given[name] for name in qis))) if i in set(again.records)], about)
            for key in ("released", "classes", "suppressed", "models", "measure"):
                self.assertEqual(whole.facts[key], again.facts[key], f"{about}: {key}")
            for name, loss in whole.facts["loss"].items():
                other = again.facts["loss"][name]
                self.assertTrue(loss == other or abs(loss - other) <= 1e-9 * abs(loss), f"{about}: {name} {loss} {other}")
            columns = [[column for column in schema["columns"] if column["name"] != "id"] for schema in (whole.schema, again.schema)]
            self.assertEqual(columns[0], columns[1], about)
            self.assertIn("<html", again.report)
            released += whole.facts["classes"]["count"] > 1
            n_suppressed += whole.facts["suppressed"]["rows"] > 0
        self.assertGreater(released, 40)
        self.assertGreater(n_suppressed, 10)

    def test_as_many_rows_as_fit_and_one_more(self):
        asked = {"qi": "age", "k": 5, "count": "n", "order": "input"}
        for algorithm, most, kind in (("optimal", 2**53, kanon.InputError), ("mondrian", 4_294_967_293, kanon.UsageError)):
            table = {"age": ["20", "20"], "n": [2_000_000_000, most - 2_000_000_000]}
            self.assertEqual(kanon.anonymize(table, **asked, algorithm=algorithm).facts["input"]["rows"], most)
            table["n"][0] += 1
            self.assertIn(f"more than {most}", str(self.refused(kind, kanon.anonymize, table, **asked, algorithm=algorithm)))

    def test_a_count_may_stand_for_very_many_rows(self):
        table = {"age": ["20", "21", "30"], "ill": ["a", "b", "a"], "n": [2_000_000_000, 2_000_000_000, 7]}
        done = kanon.anonymize(table, qi="age", sensitive="ill", k=5, count="n", order="input",
                               model="l-diversity:l=2", max_suppressed=7, hierarchy={"age": "intervals(5)"})
        self.assertEqual(done.facts["input"]["rows"], 4_000_000_007)
        self.assertEqual(done.facts["suppressed"]["rows"], 7)
        self.assertEqual(list(done.records), [0, 1])
        self.assertEqual(done.facts["classes"]["max"], 4_000_000_000)

    def test_squares_of_very_many_rows_are_compared_right(self):
        table = {"age": ["20", "21", "30", "31"], "n": [1, 1, 1, 1]}
        for measure in ("dm", "cm", "suppressed-rows"):
            found = {times: kanon.anonymize(table | {"ill": ["a", "b", "a", "b"], "n": [times] * 4}, qi="age", sensitive="ill",
                                            k=2 * times, count="n", order="input", measure=measure, algorithm="optimal",
                                            hierarchy={"age": "intervals(5,20)"}).facts["levels"]
                     for times in (1, 10**6, 10**8, 4 * 10**8)}
            self.assertEqual(set(map(tuple, found.values())), {(1,)}, (measure, found))
    def test_more_rows_than_32_bits_count_give_what_fewer_give(self):
        """Everything times a power of two, which no rounding sees: the same levels and cells, the same losses per row, and
        counts times that number."""
        times, released, exact = 2**27, 0, [name for name in GLOBAL if name not in SEARCHED_BY_CHANCE]
        for seed in range(150):
            draw = random.Random(seed)
            options, qis, sensitive, _ = self.asked(draw)
            options.pop("person", None)
            options["algorithm"] = exact[seed % len(exact)]
            options["hierarchy"] = {name: (TREES | {"job": "suppress"})[name] for name in qis}  # groups of similar values are smoothed
            few, k = draw.choice([0, 3, 10]), options.pop("k")
            rows = rows_of(draw, draw.choice([40, 60]), False)
            table = counted([{name: row[name] for name in [*qis, *sensitive]} for row in rows], draw, qis, sensitive, False)
            large = table | {"n": [n * times for n in table["n"]]}
            (small, refused), (wide, refused_too) = (
                self.released(lambda: kanon.anonymize(data, count="n", order="input",
                                                      **options | {"k": k * by, "max_suppressed": few * by}))
                for data, by in ((table, 1), (large, times)))
            about = f"seed {seed}: {options}"
            self.assertEqual(refused, refused_too, about)
            if small is None:
                continue
            released += 1
            self.assertEqual(small.to_csv(), wide.to_csv(), about)
            self.assertEqual(list(small.records), list(wide.records), about)
            self.assertEqual(small.facts.get("levels"), wide.facts.get("levels"), about)
            self.assertEqual([bool(model["holds"]) for model in wide.facts["models"]], [True] * len(wide.facts["models"]), about)
            for path in (("input", "rows"), ("released", "rows"), ("classes", "min"), ("classes", "max"), ("suppressed", "rows")):
                counts = [facts[path[0]][path[1]] for facts in (small.facts, wide.facts)]
                self.assertEqual(counts[0] * times, counts[1], f"{about}: {path}")
            self.by_definition(wide, large, qis, k * times, about)
            for name, loss in small.facts["loss"].items():
                scale = {"dm": times ** 2, "cm": times, "average-class": times, "suppressed-rows": times,
                         "suppressed-cells": times}.get(name, 1)
                self.assertAlmostEqual(wide.facts["loss"][name] / scale, loss, delta=1e-9 * abs(loss) + 1e-12, msg=f"{about}: {name}")
        self.assertGreater(released, 70)

    def by_definition(self, release, table, qis, k, about):
        """Class sizes and the discernibility metric in Python's integers."""
        cells = list(zip(*(texts(release, name) for name in qis)))
        classes = collections.Counter()
        for record, cell in zip(release.records, cells):
            classes[cell] += table["n"][record]
        total, kept = sum(table["n"]), sum(classes.values())
        self.assertGreater(total, 2**32, about)
        self.assertEqual((release.facts["input"]["rows"], release.facts["released"]["rows"]), (total, kept), about)
        self.assertEqual(min(classes.values()), release.facts["classes"]["min"], about)
        self.assertGreaterEqual(min(classes.values()), k, about)
        if release.facts["suppressed"]["rows"] == total - kept:  # those that stay look like a class of their own
            metric = sum(n * n for n in classes.values()) + (total - kept) * total
            self.assertAlmostEqual(release.facts["loss"]["dm"] / metric, 1, delta=1e-12, msg=about)

    def test_six_billion_rows(self):
        table = {"age": ["20", "21", "30", "40"], "ill": ["a", "b", "a", "b"],
                 "n": [4_294_967_296, 1_700_000_000, 5, 4_294_967_295]}
        ask = {"qi": "age", "sensitive": "ill", "k": 1_000_000_000, "count": "n", "order": "input",
               "model": "t-closeness:t=0.4", "hierarchy": {"age": "intervals(5,20)"}, "max_suppressed": 4_294_967_300}
        done = kanon.anonymize(table, **ask, report=True)
        self.assertEqual(list(done.records), [0, 1])
        self.assertEqual(done.facts["classes"]["max"], 5_994_967_296)
        self.assertEqual(done.facts["suppressed"]["rows"], 4_294_967_300)
        self.assertIn("5,994,967,296", done.text)
        for most, smallest in ((4_294_967_299, 5_994_967_301), (4_294_967_294, 10_289_934_596)):
            self.assertEqual(kanon.anonymize(table, **ask | {"max_suppressed": most}).classes.min, smallest)
        for algorithm in ("mondrian", "mondrian:cut=strict"):
            error = self.refused(kanon.UsageError, kanon.anonymize, table, **ask | {"algorithm": algorithm, "max_suppressed": 0})
            self.assertIn("4294967293", str(error))

    def test_what_cannot_be_is_refused(self):
        table = {"age": ["20", "21"], "who": ["", "7"], "people": [3, 1], "n": [5, 5]}
        ask = {"qi": "age", "k": 2, "count": "n", "order": "input"}
        for change, kind, word in [({"order": "sorted"}, kanon.UsageError, "no release"),
                                   ({"algorithm": "cluster"}, kanon.UsageError, "single rows"),
                                   ({"algorithm": "mondrian:cut=relaxed"}, kanon.UsageError, "equal values"),
                                   ({"algorithm": "cell-suppression", "hierarchy": {"age": "auto"}}, kanon.UsageError, "single rows"),
                                   ({"cells": "both"}, kanon.UsageError, "means"),
                                   ({"polish": True}, kanon.UsageError, "single rows"),
                                   ({"certificate": True}, kanon.UsageError, "single rows"),
                                   ({"person_count": "people"}, kanon.UsageError, "name those"),
                                   ({"count": "m"}, kanon.UsageError, "no column 'm'"),
                                   ({"qi": "age,n"}, kanon.UsageError, "identifier")]:
            self.assertIn(word, str(self.refused(kind, kanon.anonymize, table, **ask | change)), change)
        for bad in (["0", "1"], ["-1", "5"], ["1.5", "2"], ["", "2"], ["x", "2"], [str(2**53 + 2), "1"],
                    [str(2**53 - 1), "10"], [str(2**62), "1"], [str(2**64), "1"]):
            error = self.refused(kanon.InputError, kanon.anonymize, table | {"n": bad}, **ask)
            self.assertEqual(error.column, "n", bad)
        persons = ask | {"person": "who", "person_count": "people"}
        for people in (["", "1"], ["6", "1"], ["3", "2"]):  # nobody, more than rows, two with one name
            error = self.refused(kanon.InputError, kanon.anonymize, table | {"people": people}, **persons)
            self.assertEqual(error.column, "people", people)
        many = table | {"n": [2**40, 5], "people": [2**32, 1]}
        self.assertIn("persons", str(self.refused(kanon.InputError, kanon.anonymize, many, **persons)))
        few = kanon.anonymize(many | {"people": [2**20, 1]}, **persons)
        self.assertEqual((few.facts["input"]["rows"], few.facts["input"]["persons"]), (2**40 + 5, 2**20 + 1))

    def test_a_mapping_has_no_counts_and_other_results_no_records(self):
        table = {"age": ["20", "21"], "n": [5, 5]}
        mapping = kanon.anonymize(table, qi="age", k=5, count="n", order="input")
        self.assertEqual(list(mapping.to_dict()), ["age"])
        self.assertEqual(list(mapping.records), [0, 1])
        self.assertIsNone(kanon.anonymize({"age": ["20", "20"]}, qi="age", k=2).records)
