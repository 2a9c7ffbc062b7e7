"""What the tests share: a table of people in all forms, and the program beside the package."""
import os
import pathlib
import random
import subprocess
import tempfile
import unittest
import warnings

import kanon

PROGRAM = os.environ["KANON_PROGRAM"]
PACKAGE = pathlib.Path(os.environ["KANON_PACKAGE"])
SOURCE = pathlib.Path(__file__).resolve().parents[2]
ROLES = {"qi": ["age", "zip", "sex"], "sensitive": "illness", "identifier": "name"}


def people(n=60, seed=1):
    """Columns of text, with what is awkward in CSV: commas, quotes, blanks, missing cells."""
    draw = random.Random(seed)
    return {
        "name": [f"P{i}" for i in range(n)],
        "age": [draw.choice(["", *map(str, range(20, 60))]) for _ in range(n)],
        "zip": [draw.choice(["8001", "8002", "8003", "1201", "01202"]) for _ in range(n)],
        "sex": [draw.choice(["f", "m"]) for _ in range(n)],
        "illness": [draw.choice(["flu", "flu, bad", 'the "flu"', "gout", "", "flu "]) for _ in range(n)],
    }


def write_csv(columns, path):
    """As the program would read it: a null is the empty cell."""
    def cell(value):
        text = "" if value is None else str(value)
        return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\n\r') else text

    lines = [",".join(map(cell, columns))] + [",".join(map(cell, row)) for row in zip(*columns.values())]
    pathlib.Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def flags(options):
    """Keywords of simple values as flags."""
    words = []
    for keyword, value in options.items():
        name = "--" + keyword.replace("_", "-") if keyword != "k" else "-k"
        if value is True:
            words.append(name)
        elif isinstance(value, dict):
            words += [word for column, detail in value.items() for word in (name, f"{column}={detail}")]
        else:
            words += [name, ",".join(map(str, value)) if isinstance(value, list) else str(value)]
    return words


def program(*words, check=True, **more):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, **more)
    if check and done.returncode != 0:
        raise AssertionError(f"{words}: {done.stderr}")
    return done


class Case(unittest.TestCase):
    """A test in a folder of its own, in which warnings of the library are expected."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        caught = warnings.catch_warnings()
        caught.__enter__()
        self.addCleanup(caught.__exit__, None, None, None)
        warnings.simplefilter("ignore", kanon.KanonWarning)

    def refused(self, kind, function, *arguments, **options):
        with self.assertRaises(kind) as caught:
            function(*arguments, **options)
        return caught.exception
