#!/usr/bin/env python3
"""What a codebook says of a release is what a count of the released file says, and it says nothing of what was not released:
check_codebook.py KANON. Tables are made with words that occur once, in rows that the release removes or
generalizes, so that one that slips into the page is seen. Prints TAP."""
import collections
import csv
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from read_page import Tables

kanon = str(pathlib.Path(sys.argv[1]).resolve())


def count(text):
    return int(text.replace(",", ""))


SHARES = ("Rows generalized", "Rows without any detail")


def disagreements(report, page, suppressed, n_rows):
    """Report and codebook have the same shares of every column, and together those that the measure counts."""
    tables = Tables(report.read_text(encoding="utf-8")).tables
    lost = next(table for table in tables if table["caption"] == "Loss per column")["rows"]
    book = next(table for table in Tables(page.read_text(encoding="utf-8")).tables if table["caption"].startswith("Columns and how"))["rows"]
    told = {row[0]: row for row in book[1:]}
    found, total = [], 0.0
    for heading in SHARES:
        for row in lost[1:]:
            there = told[row[0]][book[0].index(heading)]
            if row[lost[0].index(heading)] != there:
                found.append(f"{row[0]}, {heading}: {row[lost[0].index(heading)]} in the report, {there} in the codebook")
    for row in lost[1:]:
        total += float(row[lost[0].index("Rows without any detail")].rstrip("%")) / 100 * n_rows
    if abs(total - suppressed) > 0.01 * n_rows:
        found.append(f"{total} cells without any detail, suppressed-cells {suppressed}")
    return found


def problems(release, page, secrets):
    found = []
    with open(release, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    parsed = Tables(page.read_text(encoding="utf-8"))
    told = "".join(parsed.text)
    found += [f"tells {secret}" for secret in secrets if secret in told]
    for table in parsed.tables:
        kind, _, column = table["caption"].partition(" of ")
        if kind not in ("Cells", "Values") or column not in rows[0]:
            continue
        cells = collections.Counter(row[column] for row in rows)
        listed = {row[0]: count(row[-2]) for row in table["rows"][1:]}
        special = {cell: n for cell, n in listed.items() if cell in ("other values", "(empty)") or cell.endswith((" more labels", " more label"))}
        named = {cell: n for cell, n in listed.items() if cell not in special}
        others = sum(n for cell, n in special.items() if cell != "(empty)")
        found += [f"{column}: {cell} in {n} rows, not {cells[cell]}" for cell, n in named.items() if cells[cell] != n]
        rest = sum(n for cell, n in cells.items() if cell not in named and cell)
        if rest != others:
            found.append(f"{column}: {rest} rows with other values, not {others}")
        if cells[""] != listed.get("(empty)", 0):
            found.append(f"{column}: {cells['']} empty cells, not {listed.get('(empty)', 0)}")
    overview = next(table for table in parsed.tables if table["caption"].startswith("Columns and how much"))
    if [row[0] for row in overview["rows"][1:]] != list(rows[0]):
        found.append("other columns than the release has")
    return found


def table(draw, path, n_alone):
    """Words of the form q1234x, which cannot be in a page by chance; some rows are alone with theirs."""
    n, words = 300, []
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["town", "age", "job", "ill", "note"])
        for i in range(n):
            alone = i < n_alone
            word = f"q{draw.randrange(10 ** 6):06}x"
            town = word if alone else draw.choice(["Ulm", "Rome", "", "Bern, near"])
            note = word + "n" if alone else draw.choice(["a", "b<c>", ""])
            words += [word] if alone else []
            out.writerow([town, draw.choice([20, 30, 70]) + (i % 40 if n_alone > 1 else 0), draw.choice(["cook", "nurse"]), draw.choice(["flu", "gout", "cold"]), note])
    return words


def check_groups(folder, draw):
    """Of a group made from the data the schema lists what released rows have whose cell is the group or inside it: a problem or
    None, how many groups there were, and how many of them have values that only other rows have."""
    towns = [f"town{i}" for i in range(90)]
    with open(folder / "towns.csv", "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["town", "county", "age", "row"])
        for i in range(240):
            at = min(draw.randrange(90), draw.randrange(90))
            out.writerow([towns[at], f"c{at // 9}" if draw.random() < 0.9 else "c0", draw.choice([20, 30, 40]), i])
    algorithm = draw.choice(["mondrian", "cluster", "k-member", "forest", "sequential"])
    command = [kanon, "anonymize", "towns.csv", "--qi", "town,county,age", "--insensitive", "row", "--allow-copy", "-k", "9",
               "--max-suppressed", "20%", "--hierarchy", "town=similar", "--algorithm", algorithm, "-o", "groups.csv", "--schema", "groups.json", "-q"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr, 0, 0
    made = subprocess.run([kanon, "hierarchy", "make", "towns.csv", "--qi", "county,age", "--hierarchy", "town=similar"], cwd=folder,
                          capture_output=True, text=True, check=True)
    below = collections.defaultdict(set)
    for town, *labels in csv.reader(made.stdout.splitlines()[1:], delimiter=";"):
        for label in labels:
            below[label].add(town)
    with open(folder / "towns.csv", newline="", encoding="utf-8") as file:
        origin = {row["row"]: row["town"] for row in csv.DictReader(file)}
    under = collections.defaultdict(set)
    with open(folder / "groups.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            under[row["town"]].add(origin[row["row"]])
    columns = {column["name"]: column for column in json.loads((folder / "groups.json").read_text(encoding="utf-8"))["columns"]}
    told = {label["label"]: set(label.get("members", [])) for label in columns["town"]["labels"]}
    groups = [label for label in told if label.startswith("town group")]
    for label in groups:
        inside = [values for cell, values in under.items() if below.get(cell, values) <= below[label] and cell != "*"]
        if told[label] != set().union(*inside):
            return f"{algorithm}: {label} is {sorted(told[label])}, its rows have {sorted(set().union(*inside))}", 0, 0
    return None, len(groups), sum(told[label] != under[label] for label in groups)


def main():
    results, n_removed = [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for seed in range(24):
            draw = random.Random(seed)
            words = table(draw, folder / "data.csv", 1 + 2 * (seed % 2))
            algorithm = ["mondrian", "optimal", "cluster"][seed % 3]
            command = [kanon, "anonymize", "data.csv", "--qi", "town,age,job", "--sensitive", "ill", "--insensitive", "note", "-k",
                       str(2 + seed % 3), "--max-suppressed", ["1", "20%", "0", "20%"][seed % 4], "--algorithm", algorithm, "-o", "release.csv",
                       "--codebook", "book.html", "-q"]
            if seed % 4 == 0:
                command += ["--hierarchy", "age=intervals(10,40)", "--top", "age=70"]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            if done.returncode != 0:
                results.append((False, f"seed {seed}", [done.stderr]))
                continue
            release = (folder / "release.csv").read_text(encoding="utf-8")
            n_removed += release.count("\n") < 301
            found = problems(folder / "release.csv", folder / "book.html", [word for word in words if word not in release])
            results.append((not found, f"{algorithm}, seed {seed}", found))
        for title, text, words in (
                ("dates of one year", "d,s\n2022-01-05,M\n2022-03-07,M\n2022-05-09,M\n2022-08-11,F\n2022-10-13,F\n2022-12-15,F\n",
                 ["-k", "3", "--qi", "d,s", "--hierarchy", "d=date(year)"]),
                ("a whole scale", "n,s\n1,M\n3,M\n5,M\n2,F\n3,F\n4,F\n", ["-k", "3", "--qi", "n,s"]),
                ("all stars", "n,s\na,M\nb,M\nc,F\nd,F\n", ["-k", "4", "--qi", "n,s", "--hierarchy", "n=suppress", "--hierarchy", "s=suppress",
                                                             "--algorithm", "optimal"])):
            (folder / "data.csv").write_text(text, encoding="utf-8")
            done = subprocess.run([kanon, "anonymize", "data.csv", *words, "-q", "-o", "release2.csv", "--report", "report.html",
                                   "--codebook", "book2.html", "--json", "facts.json"], cwd=folder, capture_output=True, text=True)
            found = [done.stderr] if done.returncode != 0 else disagreements(
                folder / "report.html", folder / "book2.html",
                json.loads((folder / "facts.json").read_text(encoding="utf-8"))["loss"]["suppressed-cells"], text.count("\n") - 1)
            results.append((not found, title, found))
        results.append((n_removed > 0, "some releases left rows out", n_removed))
        n_groups = n_wider = 0
        for seed in range(20):
            wrong, n, n_more = check_groups(folder, random.Random(seed))
            n_groups, n_wider = n_groups + n, n_wider + n_more
            results.append((wrong is None, f"groups of similar values, seed {seed}", wrong))
        results.append((n_groups > 40 and n_wider > 5, "there were groups, and groups with rows further in", (n_groups, n_wider)))
        # The check must refuse: a count that is off by one, a word that nobody released.
        page = folder / "book.html"
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace("</h1>", " q000001x</h1>"), encoding="utf-8")
        results.append((bool(problems(folder / "release.csv", page, ["q000001x"])), "a word that was not released is refused", None))
        with open(folder / "release.csv", encoding="utf-8") as file:
            lines = file.readlines()
        (folder / "release.csv").write_text("".join(lines[:-1]), encoding="utf-8")
        page.write_text(text, encoding="utf-8")
        results.append((bool(problems(folder / "release.csv", page, [])), "a count that is off by one is refused", None))
    print(f"1..{len(results)}")
    for number, (good, title, details) in enumerate(results, 1):
        print(f"{'ok' if good else 'not ok'} {number} - {title}")
        if not good:
            print("#", json.dumps(details))
    sys.exit(not all(good for good, _, _ in results))


main()
