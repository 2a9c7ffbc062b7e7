#!/usr/bin/env python3
"""The readers in docs/cells.md, run as they stand there, against the parser that was written from the same page.

    check_readers.py KANON VENV python|sql|r

pandas and duckdb are in VENV, R and its jsonlite on the machine: `make test` installs them. Exit 77, which Meson counts as
skipped, where they could not be had."""
import csv
import importlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import read_cells

venv, language = pathlib.Path(sys.argv[2]), sys.argv[3]
if language != "r" and (venv / "installed.txt").exists() and pathlib.Path(sys.prefix).resolve() != venv.resolve():
    os.execv(venv / "bin" / "python", [str(venv / "bin" / "python"), *sys.argv])


def skip(why):
    reason = venv / "reason"
    print(f"skipped: {why};", reason.read_text().strip() if reason.exists() else "`make test` installs it")
    sys.exit(77)


module = {"python": "pandas", "sql": "duckdb"}.get(language)
try:
    module = module and importlib.import_module(module)
except ImportError as failure:
    skip(failure)
if language == "r" and not shutil.which("Rscript"):
    skip("Rscript is not there (Debian: r-base-core, r-cran-jsonlite)")

page = (pathlib.Path(__file__).resolve().parent.parent / "docs/cells.md").read_text()
code = re.search(rf"^```{language}\n(.*?)^```$", page, re.S | re.M)[1]
columns = [("age", "int"), ("weight", "decimal"), ("born", "date")]


def number(text):
    return None if text in (None, "", "NA", "NaN", "NaT") or text != text else float(text)


def day(text):
    return None if text in (None, "", "NA", "NaT") or text != text else str(text)[:10]


def read_python():
    space = {}
    exec(code, space)
    return {name: space["release"][name].astype(object).where(space["release"][name].notna(), None).tolist()
            for name in space["release"].columns}


def read_r():
    pathlib.Path("read.R").write_text(code + "\nwrite.csv(release, 'read.csv', row.names = FALSE)\n")
    subprocess.run(["Rscript", "--vanilla", "read.R"], check=True)
    with open("read.csv", newline="") as file:
        header, *rows = list(csv.reader(file))
    return {name: [row[i] for row in rows] for i, name in enumerate(header)}


def read_sql():
    read = {}
    for name, kind in columns:
        connection = module.connect()
        mine = re.sub(r"\bage", name, code)
        for statement in (mine.replace("::DOUBLE", "::DATE") if kind == "date" else mine).split(";"):
            if statement.strip():
                connection.execute(statement)
        for end in ("", "_min", "_max"):
            rows = connection.execute(f"SELECT {name}{end} FROM bounds").fetchall()
            read[name + end] = [row[0] for row in rows]
    return read


def main():
    kanon = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("people.csv", "w", newline="") as file:
            rows = [[str(20 + i * 7 % 60), f"{i * 37 % 90 + 0.25:.2f}", f"{1950 + i * 3 % 50}-{1 + i % 12:02}-{1 + i % 28:02}",
                     ["a", "b", "c"][i % 3]] for i in range(80)]
            csv.writer(file).writerows([["age", "weight", "born", "town"]] + rows)
        subprocess.run([kanon, "anonymize", "people.csv", "--qi", "age,weight,born,town", "-k", "4", "--hierarchy",
                        "age=intervals(5,10)", "--max-suppressed", "5%", "-q", "-o", "release.csv", "--schema", "schema.json"],
                       check=True)
        release = {"python": read_python, "r": read_r, "sql": read_sql}[language]()
        assert json.load(open("schema.json"))["columns"]
        wrong = seen = 0
        for place, (name, kind) in enumerate(columns):
            typed = day if kind == "date" else number
            column = read_cells.Column(kind, {row[place] for row in rows})
            for cell, low, high in zip(release[name], release[f"{name}_min"], release[f"{name}_max"]):
                low, high = typed(low), typed(high)
                if cell == "*":
                    wrong += not (low is None and high is None)
                    continue
                test = column.meaning(cell)
                for row in rows:
                    value = typed(row[place])
                    inside = low <= value and (value <= high if kind != "decimal" or low == high else value < high)
                    wrong += inside != test(row[place])
                    seen += 1
        print(f"{language}: {seen} pairs of cell and value, {wrong} wrong")
    sys.exit(wrong > 0 or not seen)


main()
