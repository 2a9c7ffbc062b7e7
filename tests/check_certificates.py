#!/usr/bin/env python3
"""Certificates of random small tables, against the definition.

    check_certificates.py KANON [--cases N] [--seed S]

A certificate has a value per row, in units. It proves its bound if the values of any rows that may be a class come to at
most what their closure costs all of them. Here that is tried with every such set of rows and LM as the paper defines it:
every certificate that a run writes holds by it and `verify` says so; of those in which values or any other line was changed,
`verify` accepts none that does not, nor one that says more than its values come to. Output is TAP."""
import argparse
import itertools
import math
import pathlib
import random
import subprocess
import tempfile

GRIDS = {"number": ["exact", "5", "3"], "decimal": ["exact", "0.5", "1"], "day": ["exact", "month", "year", "5years", "week"]}


# What a class must have, by the model's definition, from the counts of its sensitive values; the whole table has three.
MODELS = {
    "l-diversity:l=2": lambda counts: len(counts) >= 2,
    "l-diversity:l=3": lambda counts: len(counts) >= 3,
    "l-diversity:l=1.7,kind=entropy": lambda counts: 2 ** -sum(c / sum(counts) * math.log2(c / sum(counts)) for c in counts) >= 1.7 - 1e-9,
    "l-diversity:l=2,kind=recursive,c=2": lambda counts: len(counts) >= 2 and counts[0] < 2 * sum(counts[1:]),
    "l-diversity:l=1.5,kind=frequency": lambda counts: sum(counts) / counts[0] >= 1.5 - 1e-9,
    "p-sensitive:p=2": lambda counts: len(counts) >= 2,
    "alpha-k:alpha=0.7": lambda counts: counts[0] / sum(counts) <= 0.7 + 1e-9,
    "delta-disclosure:delta=3": lambda counts: len(counts) >= 3,
}


def holds(model, secrets):
    return MODELS[model](sorted((secrets.count(s) for s in set(secrets)), reverse=True))


def random_cell(r, kind):
    if kind == "number":
        return str(r.choice([r.randint(-9, 30), r.randint(0, 5)]))
    if kind == "decimal":
        return f"{r.randint(0, 40) / 10:.1f}"
    if kind == "day":
        return f"20{r.randint(9, 14):02d}-{r.randint(1, 12):02d}-{r.randint(1, 28):02d}"
    return r.choice("pqrstu" if kind == "text" else "xyz")


def random_case(r):
    kinds = r.sample(["number", "decimal", "day", "text", "tree"], r.randint(1, 3))
    rows = [tuple("" if kind in ("number", "text") and r.random() < .1 else random_cell(r, kind) for kind in kinds)
            for _ in range(r.randint(5, 9))]
    grids = {kind: r.choice(GRIDS[kind]) for kind in kinds if kind in GRIDS}
    secrets = [r.choice("aabc") for _ in rows]
    model = r.choice(list(MODELS)) if r.random() < .6 and len(set(secrets)) == 3 else None
    if model and not holds(model, secrets):
        model = None  # no release has it
    weights = {kind: r.choice([1, 1, .5, 2]) for kind in kinds}
    return kinds, rows, grids, weights, r.randint(2, 3), r.choice([0, 0, 1, 2, len(rows)]), secrets, model


def grid_cell(kind, text, grid):
    """Which cell of the grid a value lies in."""
    if kind != "day":
        scale = 10
        return int(round(float(text) * scale)) // int(round(float(grid) * scale))
    year, month, day = map(int, text.split("-"))
    if grid == "week":
        import datetime
        return (datetime.date(year, month, day).toordinal() - 1) // 7
    return {"month": year * 12 + month, "year": year, "5years": year // 5}[grid]


def covered(kind, cells, column, grid):
    """How many different values of the column the closure of these cells covers."""
    domain, here = set(column), set(cells)
    if len(here) == 1:
        return 1
    if kind == "text":
        return len(here)
    if kind == "tree" or "" in here:
        return len(domain)
    order = (lambda text: text) if kind == "day" else float
    low, high = min(map(order, here)), max(map(order, here))
    inside = {value for value in domain if value != "" and low <= order(value) <= high}
    if grid != "exact":
        cells_hit = [grid_cell(kind, value, grid) for value in here]
        inside = {value for value in domain if value != "" and min(cells_hit) <= grid_cell(kind, value, grid) <= max(cells_hit)}
    return len(inside)


def read(certificate, n_rows):
    """The fields by name, and the values of the rows."""
    lines = certificate.split("\n")
    start = max(i for i, line in enumerate(lines) if line.startswith("column: ")) + 1
    return dict(line.split(": ", 1) for line in lines[:start] if ": " in line), list(map(int, lines[start:start + n_rows]))


def proves(case, certificate):
    """By the definition: the values of any rows that may be a class come to at most what their closure costs them, and their sum,
    less what suppressed rows may save, to at least the bound that is claimed."""
    kinds, rows, grids, weights, k, max_suppressed, secrets, model = case
    fields, units = read(certificate, len(rows))
    unit, surplus = float.fromhex(fields["unit"]), int(fields["surplus"])
    values = [n * unit for n in units]
    columns = [[row[c] for row in rows] for c in range(len(kinds))]
    if (sum(values) - max_suppressed * surplus * unit) / len(rows) / sum(weights.values()) < float(fields["bound"]) - 1e-6:
        return False
    root = sum(weights[kind] for kind, column in zip(kinds, columns) if len(set(column)) > 1)
    if max_suppressed > 0 and max(values) > root + surplus * unit + 1e-6:
        return False
    for some in itertools.chain.from_iterable(itertools.combinations(range(len(rows)), n) for n in range(k, len(rows) + 1)):
        price, inside = 0, [secrets[i] for i in some]
        if model and not holds(model, inside):
            continue
        for kind, column in zip(kinds, columns):
            n = len(set(column))
            if n > 1:
                price += weights[kind] * (covered(kind, [column[i] for i in some], column, grids.get(kind)) - 1) / (n - 1)
        if sum(values[i] for i in some) > len(some) * price + 1e-6:
            return False
    return True


def changed(r, certificate, n_rows):
    lines = certificate.split("\n")
    start = max(i for i, line in enumerate(lines) if line.startswith("column: ")) + 1
    for i in r.sample(range(n_rows), r.randint(1, n_rows)) if r.random() < .6 else []:
        lines[start + i] = str(int(int(lines[start + i]) * r.choice([.5, .9, 1.05, 1.3, 2])) + r.choice([0, 0, 10**6, 10**8]))
    for i, line in enumerate(lines):  # fewer runs, or single values only, prove less, never more
        head, _, n = line.rpartition(" ")
        if head.endswith(("intervals", "sets")) and r.random() < .5:
            lines[i] = f"{head} {r.randint(1, int(n))}"
        if head.startswith("need:") and r.random() < .5:
            lines[i] = f"{head} {r.randint(1, 4)}"
        if head.startswith(("bound:", "unit:")) and r.random() < .15:
            number = (float.fromhex(n) if head == "unit:" else float(n)) * r.choice([.5, .99, 1.01, 1.2, 2])
            lines[i] = f"{head} {number.hex() if head == 'unit:' else repr(number)}"
        if head.startswith(("surplus:", "k:", "suppressed:", "rows:", "needs:", "columns:")) and r.random() < .15:
            lines[i] = f"{head} {r.choice([max(0, int(n) - 1), int(n) + 1, int(n) * 2, int(n) // 2, 10**8])}"
        if head.startswith("column:") and r.random() < .1:
            index, weight, rest = line.split(" ", 3)[1:]
            lines[i] = f"column: {r.choice([index, str(int(index) + 1)])} {r.choice([weight, '0x1p+1', '0x1p-1', 'nan'])} {rest}"
    return "\n".join(lines)


def run_case(kanon, r, folder):
    case = kinds, rows, grids, weights, k, max_suppressed, secrets, model = random_case(r)
    quoted = [",".join(f'"{cell}"' for cell in [*row, secret]) for row, secret in zip(rows, secrets)]
    pathlib.Path(folder, "t.csv").write_text("\n".join([",".join([*kinds, "secret"]), *quoted]) + "\n")
    flags = ["--qi", ",".join(kinds), "-k", str(k), "--unlisted", "drop", "--max-suppressed", str(max_suppressed)]
    flags += ["--sensitive", "secret", "--model", model] if model else []
    for kind in kinds:
        flags += ["--hierarchy", "tree=suppress"] if kind == "tree" else ["--type", f"{kind}=text"] if kind == "text" else []
        flags += ["--grid", f"{kind}={grids[kind]}"] if kind in grids else []
        flags += ["--weight", f"{kind}={weights[kind]}"]

    def call(command, *arguments):
        return subprocess.run([kanon, command, *arguments, *flags], cwd=folder, capture_output=True, text=True)

    made = call("anonymize", "t.csv", "--algorithm", "mondrian", "--certificate", "c.txt", "-o", "r.csv", "-q")
    if made.returncode != 0:
        return f"no certificate: {made.stderr.strip()}", flags
    certificate = pathlib.Path(folder, "c.txt").read_text()
    if not proves(case, certificate):
        return "the certificate proves nothing", flags
    for _ in range(6):
        other = changed(r, certificate, len(rows))
        pathlib.Path(folder, "c.txt").write_text(other)
        verdict = call("verify", "r.csv", "--original", "t.csv", "--certificate", "c.txt")
        if verdict.returncode == 0 and not proves(case, other):
            return "verify accepts values that prove nothing", flags
    return None, flags


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kanon")
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    kanon = str(pathlib.Path(arguments.kanon).resolve())
    with tempfile.TemporaryDirectory() as folder:
        wrong = []
        for case in range(arguments.cases):
            problem, flags = run_case(kanon, random.Random(f"{arguments.seed} {case}"), folder)
            if problem:
                wrong.append(f"# case {case}: {problem}\n#   {' '.join(flags)}")
    print("1..1")
    print("\n".join(wrong))
    print(f"{'not ok' if wrong else 'ok'} 1 - {arguments.cases} certificates hold by the definition, changed ones are refused")


if __name__ == "__main__":
    main()
