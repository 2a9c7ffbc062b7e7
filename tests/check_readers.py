#!/usr/bin/env python3
"""The reader in docs/cells.md, run as it stands there, against the parser that was written from the same page.

    check_readers.py KANON VENV

Needs pandas, which `make test` installs into VENV. Exit 77, which Meson counts as skipped, without it."""
import csv
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import read_cells

venv = pathlib.Path(sys.argv[2])
if (venv / "installed.txt").exists() and pathlib.Path(sys.prefix).resolve() != venv.resolve():
    os.execv(venv / "bin" / "python", [str(venv / "bin" / "python"), *sys.argv])
try:
    import pandas
except ImportError as failure:
    reason = venv / "reason"
    print(f"skipped: {failure};", reason.read_text().strip() if reason.exists() else "`make test` installs it")
    sys.exit(77)

root = pathlib.Path(__file__).resolve().parent.parent


def main():
    kanon = os.path.abspath(sys.argv[1])
    code = re.search(r"^```python\n(.*?)^```$", (root / "docs/cells.md").read_text(), re.S | re.M)[1]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("people.csv", "w", newline="") as file:
            rows = [[str(20 + i * 7 % 60), f"{i * 37 % 90 + 0.25:.2f}", f"{1950 + i * 3 % 50}-{1 + i % 12:02}-{1 + i % 28:02}",
                     ["a", "b", "c"][i % 3]] for i in range(80)]
            csv.writer(file).writerows([["age", "weight", "born", "town"]] + rows)
        subprocess.run([kanon, "anonymize", "people.csv", "--qi", "age,weight,born,town", "-k", "4", "--hierarchy",
                        "age=intervals(5,10)", "--max-suppressed", "5%", "-q", "-o", "release.csv", "--schema", "schema.json"],
                       check=True)
        space = {}
        exec(code, space)
        release, wrong, seen = space["release"], 0, 0
        for name, kind, values in [("age", "int", 0), ("weight", "decimal", 1), ("born", "date", 2)]:
            column = read_cells.Column(kind, {row[values] for row in rows})
            for cell, low, high in zip(release[name], release[f"{name}_min"], release[f"{name}_max"]):
                if cell == "*":
                    wrong += not (pandas.isna(low) and pandas.isna(high))
                    continue
                test = column.meaning(cell)
                for row in rows:
                    value = pandas.to_datetime(row[values]) if kind == "date" else float(row[values])
                    inside = low <= value and (value <= high if kind != "decimal" or low == high else value < high)
                    wrong += inside != test(row[values])
                    seen += 1
        print(f"pandas: {seen} pairs of cell and value, {wrong} wrong")
    sys.exit(wrong > 0 or not seen)


main()
