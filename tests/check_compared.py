#!/usr/bin/env python3
"""Before and after in the report: what it says of the table and of the release is what a count of both files says, every
category and every cell of a crosstab has at least k persons, and no text is named that the release does not name:
check_compared.py KANON. Prints TAP."""
import collections
import csv
import math
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from read_page import Tables

kanon = str(pathlib.Path(sys.argv[1]).resolve())


# The last one releases no town as it is: then none may be named.
SEARCHES = [["mondrian"], ["cluster"], ["mondrian"], ["optimal", "--hierarchy", "town=mask(right)", "--level", "town=1..",
                                                      "--hierarchy", "age=intervals(10,20)"]]


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def place(value, labels):
    """The category of a value."""
    for label in labels:
        low, high = re.fullmatch(r"≥ (.*)", label), re.fullmatch(r"< (.*)", label)
        between = re.fullmatch(r"(\S+) – (\S+)", label)
        if value in labels:
            return value
        if low and value.isdigit() and int(value) >= int(low[1]) or high and value.isdigit() and int(value) < int(high[1]):
            return label
        if between and value.isdigit() and int(between[1]) <= int(value) <= int(between[2]):
            return label
    return "all others"


def covered(cell, values):
    """The values that a released cell may be."""
    if cell == "*":
        return set(values)
    if cell.startswith("{"):
        return set(cell[1:-1].split("|"))
    if cell.endswith("*"):
        return {v for v in values if v.startswith(cell.rstrip("*")) and len(v) <= len(cell)}
    ends = cell.split("..")
    if len(ends) == 2:
        return {v for v in values if int(ends[0] or -1) <= int(v) <= int(ends[1] or 10 ** 9)}
    return {cell}


def percent(share):
    return "<1%" if 0 < share < 0.005 else f"{100 * share:.0f}%"


def near(shown, share):
    """Halves may be rounded either way."""
    return shown in (percent(share), percent(max(0, share - 1e-9)), percent(share + 1e-9))


def weights(cell, values, labels):
    members = covered(cell, values)
    if len(members) == len(values):
        return {}
    counts = collections.Counter(place(v, labels) for v in members)
    return {label: n / len(members) for label, n in counts.items()}


def check_pair(table, data, release, k, found):
    first, second = re.fullmatch(r"(.*) by (.*): share.*", table["caption"]).groups()
    across, down = table["rows"][0][1:], [row[0] for row in table["rows"][1:]]
    values = sorted({row[first] for row in data})
    before = collections.Counter((place(r[first], down), place(r[second], across)) for r in data)
    after = collections.Counter()
    for row in release:
        for label, weight in weights(row[first], values, down).items():
            after[label, place(row[second], across)] += weight
    for row in table["rows"][1:]:
        for label, cell in zip(across, row[1:]):
            was, now = cell.split(" → ")
            if before[row[0], label] < k:
                found.append(f"{first} {row[0]} by {label}: {before[row[0], label]} persons")
            if not near(was, before[row[0], label] / len(data)):
                found.append(f"{first} {row[0]} by {label}: {was} of {before[row[0], label] / len(data)}")
            if not near(now, after[row[0], label] / sum(after.values())):
                found.append(f"{first} {row[0]} by {label}: {now} after, of {after[row[0], label] / sum(after.values())}")


def check_column(table, data, release, k, found):
    column = table["caption"].removeprefix("Distribution of ")
    labels = [row[0] for row in table["rows"][1:]]
    values = sorted({row[column] for row in data})
    before, after = collections.Counter(place(row[column], labels) for row in data), collections.Counter()
    for row in release:
        for label, weight in weights(row[column], values, labels).items():
            after[label] += weight
    named = {v for row in release for v in covered(row[column], []) if row[column] != "*"}
    for label, was, now in table["rows"][1:]:
        if before[label] < k:
            found.append(f"{column} {label}: {before[label]} persons")
        if label in values and not label.isdigit() and label not in named:
            found.append(f"{column}: {label} is not named by the release")
        if not near(was, before[label] / len(data)) or not near(now, after[label] / sum(after.values())):
            found.append(f"{column} {label}: {was}, {now}, not {before[label] / len(data)}, {after[label] / sum(after.values())}")


def check_means(table, data, release, k, found):
    for column, was, _ in table["rows"][1:]:
        numbers = [int(row[column]) for row in data]
        least = (max(numbers) - min(numbers)) * k / len(numbers)
        power = 10 ** math.floor(math.log10(least))
        step = next(power * i for i in (1, 2, 5, 10) if power * i >= least / 1.000001)
        shown, true = float(was.replace(",", "")), sum(numbers) / len(numbers)
        if abs(shown - true) > step / 2 + 1e-6 or abs(shown / step - round(shown / step)) > 1e-6:
            found.append(f"mean of {column}: {shown}, not {true} in steps of {step}")


def problems(folder, k):
    found, kinds = [], collections.Counter()
    data, release = rows_of(folder / "data.csv"), rows_of(folder / "release.csv")
    for table in Tables((folder / "report.html").read_text(encoding="utf-8")).tables:
        for start, check in (("Distribution of", check_column), ("Means before", check_means), ("", check_pair)):
            if table["caption"].startswith(start) and (start or "share of rows before" in table["caption"]):
                check(table, data, release, k, found)
                kinds[check.__name__] += 1
                break
    return found, kinds


def table(draw, path):
    n = draw.choice([60, 200])
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["age", "town", "sex", "ill"])
        for i in range(n):
            town = f"Rare{i}" if i % 20 == 0 else draw.choice(["Ulm", "Ulm", "Rome", "Bern", "Oslo"])
            out.writerow([int(min(99, max(18, draw.gauss(50, 20)))), town, draw.choice("fm"),
                          draw.choice(["flu", "flu", "flu", "gout", "cold", "rash"])])


def main():
    results, kinds = [], collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for seed in range(16):
            draw, k = random.Random(seed), [2, 5, 11][seed % 3]
            table(draw, folder / "data.csv")
            subprocess.run([kanon, "anonymize", "data.csv", "--qi", "age,town,sex", "--sensitive", "ill", "-k", str(k), "--algorithm",
                            *SEARCHES[seed % 4], "--effort", "20000", "-o", "release.csv", "--report", "report.html",
                            "-q"], cwd=folder, check=True, stderr=subprocess.DEVNULL)
            found, seen = problems(folder, k)
            kinds += seen
            results.append((not found, f"seed {seed}, k={k}", found))
        results.append((kinds["check_column"] > 20 and len(kinds) == 3, "means, distributions and crosstabs were seen", dict(kinds)))
        # The check must refuse: a category of fewer than k, a share that is another one.
        results.append((bool(problems(folder, 1000)[0]), "small categories are refused", None))
        page = folder / "report.html"
        page.write_text(re.sub(r"(\d)% → ", r"\g<1>1% → ", page.read_text(encoding="utf-8")), encoding="utf-8")
        results.append((bool(problems(folder, k)[0]), "another share is refused", None))
    print(f"1..{len(results)}")
    for number, (good, title, details) in enumerate(results, 1):
        print(f"{'ok' if good else 'not ok'} {number} - {title}")
        if not good:
            print("#", details)
    sys.exit(not all(good for good, _, _ in results))


main()
