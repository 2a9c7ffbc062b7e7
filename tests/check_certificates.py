#!/usr/bin/env python3
"""Certificates of random small tables, against the definition.

    check_certificates.py KANON [--cases N] [--seed S]

A certificate has a value per row, in units. It proves its bound if the values of any rows that may be a class come to at
most what their closure costs all of them. Here that is tried with every such set of rows and LM as the paper defines it:
every certificate that a run writes holds by it and `verify` says so; of those whose values, or whose word of how many
sensitive values a class needs, were changed, `verify` accepts none that does not. Output is TAP."""
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
    return kinds, rows, grids, r.randint(2, 3), secrets, model


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


def proves(kinds, rows, grids, k, secrets, model, certificate):
    """By the definition: the values of any rows that may be a class come to at most what their closure costs them."""
    lines = certificate.split("\n")
    unit = float.fromhex(next(line for line in lines if line.startswith("unit: "))[6:])
    start = max(i for i, line in enumerate(lines) if line.startswith("column: ")) + 1
    values = [int(line) * unit for line in lines[start:start + len(rows)]]
    for some in itertools.chain.from_iterable(itertools.combinations(range(len(rows)), n) for n in range(k, len(rows) + 1)):
        price, inside = 0, [secrets[i] for i in some]
        if model and not holds(model, inside):
            continue
        for c, kind in enumerate(kinds):
            column = [row[c] for row in rows]
            n = len(set(column))
            if n > 1:
                price += (covered(kind, [rows[i][c] for i in some], column, grids.get(kind)) - 1) / (n - 1)
        if sum(values[i] for i in some) > len(some) * price + 1e-6:
            return False
    return True


def changed(r, certificate, n_rows):
    lines = certificate.split("\n")
    start = max(i for i, line in enumerate(lines) if line.startswith("column: ")) + 1
    for i in r.sample(range(n_rows), r.randint(1, n_rows)):
        lines[start + i] = str(int(int(lines[start + i]) * r.choice([.5, .9, 1.05, 1.3, 2])) + r.choice([0, 0, 10**6, 10**8]))
    for i, line in enumerate(lines):  # fewer runs, or single values only, prove less, never more
        head, _, n = line.rpartition(" ")
        if head.endswith(("intervals", "sets")) and r.random() < .5:
            lines[i] = f"{head} {r.randint(1, int(n))}"
        if head.startswith("need:") and r.random() < .5:
            lines[i] = f"{head} {r.randint(1, 4)}"
    return "\n".join(lines)


def run_case(kanon, r, folder):
    kinds, rows, grids, k, secrets, model = random_case(r)
    quoted = [",".join(f'"{cell}"' for cell in [*row, secret]) for row, secret in zip(rows, secrets)]
    pathlib.Path(folder, "t.csv").write_text("\n".join([",".join([*kinds, "secret"]), *quoted]) + "\n")
    flags = ["--qi", ",".join(kinds), "-k", str(k), "--unlisted", "drop"]
    flags += ["--sensitive", "secret", "--model", model] if model else []
    for kind in kinds:
        flags += ["--hierarchy", "tree=suppress"] if kind == "tree" else ["--type", f"{kind}=text"] if kind == "text" else []
        flags += ["--grid", f"{kind}={grids[kind]}"] if kind in grids else []

    def call(command, *arguments):
        return subprocess.run([kanon, command, *arguments, *flags], cwd=folder, capture_output=True, text=True)

    made = call("anonymize", "t.csv", "--algorithm", "mondrian", "--certificate", "c.txt", "-o", "r.csv", "-q")
    if made.returncode != 0:
        return f"no certificate: {made.stderr.strip()}", flags
    certificate = pathlib.Path(folder, "c.txt").read_text()
    if not proves(kinds, rows, grids, k, secrets, model, certificate):
        return "the certificate proves nothing", flags
    for _ in range(4):
        other = changed(r, certificate, len(rows))
        pathlib.Path(folder, "c.txt").write_text(other)
        verdict = call("verify", "r.csv", "--original", "t.csv", "--certificate", "c.txt")
        if verdict.returncode == 0 and not proves(kinds, rows, grids, k, secrets, model, other):
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
