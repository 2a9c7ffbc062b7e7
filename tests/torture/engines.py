"""Runs commands of a case: the program in a process of its own, or the library in this one through the Python package, or in
another one whose hash tables have another key.

Everything happens in the current folder."""
import array
import csv
import ctypes
import ctypes.util
import gzip
import io
import json
import os
import pathlib
import pickle
import shlex
import signal
import subprocess
import sys

RUN_ONLY = {"effort", "seed", "cells", "explain", "certify", "certificate", "polish", "language", "order"}
SIDES = ["json", "schema", "report", "codebook"]
SHORT = {"k": "-k", "delimiter": "-d", "no-header": "-H"}
kanon = None  # the package's C module, once load() found it


def load(package):
    """What there is: library, zst, duckdb, pyarrow. `package`: the folder of the Python package, or None."""
    global kanon
    have = set()
    if package and list(package.glob("kanon/_kanon*.so")):
        sys.path.insert(0, str(package))
        from kanon import _kanon
        kanon = _kanon
        have.add("library")
    if ctypes.util.find_library("zstd"):
        have.add("zst")
    if os.path.exists(os.environ.get("KANON_DUCKDB", "")):
        have.add("duckdb")
    try:
        import pyarrow.parquet  # noqa: F401
        have.add("pyarrow")
    except ImportError:
        pass
    return have


# --- The table, in all its forms ----------------------------------------------------------------------------------------


def write_rows(rows, delimiter=",", header=()):
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    if header:
        writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def read_rows(text, delimiter=","):
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))


def names(case):
    """Of the columns that the table has; derived ones stand behind them."""
    return [column["name"] for column in case["columns"] if "derive" not in column["options"]]


def csv_of(case):
    return write_rows(case["rows"], case["delimiter"], names(case) if case["header"] else ())


def compressed(data):
    library = ctypes.CDLL(ctypes.util.find_library("zstd"))
    library.ZSTD_compress.restype = library.ZSTD_compressBound.restype = ctypes.c_size_t
    room = library.ZSTD_compressBound(ctypes.c_size_t(len(data)))
    out = ctypes.create_string_buffer(room)
    n = library.ZSTD_compress(out, ctypes.c_size_t(room), data, ctypes.c_size_t(len(data)), 1)
    return out.raw[:n]


def arrow_of(case):
    columns = []
    for name, cells in zip(names(case), zip(*case["rows"])):
        whole = all(cell.lstrip("-").isdigit() and str(int(cell)) == cell and abs(int(cell)) < 2**62 for cell in cells)
        if whole and cells:
            columns.append((name, "l", array.array("q", map(int, cells))))
        else:
            columns.append((name, "U", [cell if cell != "" else None for cell in cells]))
    return kanon.columns(columns)


def place(case, source, as_name="data"):
    """Puts the table where a command finds it: options, and tables in memory."""
    folder = pathlib.Path(".")
    if source == "arrow":
        return [], [(as_name, arrow_of(case))]
    text = csv_of(case).encode(case.get("bytes") or dict(case["options"]).get("encoding", "utf-8"))
    if source == "csv":
        name, data = "data.csv", text
    elif source == "gz":
        name, data = "data.csv.gz", gzip.compress(text, 1)
    elif source == "zst":
        name, data = "data.csv.zst", compressed(text)
    elif source == "json":
        rows = [{n: cell if cell != "" else None for n, cell in zip(names(case), row)} for row in case["rows"]]
        name, data = "data.jsonl", "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    elif source == "sql":
        (folder / "data.csv").write_bytes(text)
        return [("sql", "SELECT * FROM read_csv('data.csv', all_varchar = true, header = true, delim = ',', quote = '\"', "
                 "escape = '\"', new_line = '\\n')")], []
    else:
        from pyarrow import parquet, table
        parquet.write_table(table({n: [cell if cell != "" else None for cell in cells]
                                   for n, cells in zip(names(case), zip(*case["rows"]))}), "data.parquet")
        return [(as_name, "data.parquet")], []
    (folder / name).write_bytes(data)
    return [(as_name, name)], []


# --- The policy, as flags or as a file ----------------------------------------------------------------------------------


def role_options(case):
    by_role = {"qi": "quasi", "sensitive": "sensitive", "insensitive": "insensitive", "identifier": "identifier"}
    options = []
    for option, role in by_role.items():
        cells = [column["name"] for column in case["columns"] if column["role"] == role]
        options += [(option, ",".join(cells))] if cells else []
    options += [("person", column["name"]) for column in case["columns"] if column["role"] == "person"]
    for column in case["columns"]:
        options += [(option, f"{column['name']}={value}") for option, value in column["options"].items()]
    return options


def policy_text(case):
    """The columns and models as a policy. JSON is YAML, too."""
    def parameters(model):
        head, *rest = model.split(",")
        name, _, first = head.partition(":")
        return {name: dict(part.split("=", 1) for part in [first, *rest])}
    columns = {}
    for column in case["columns"]:
        if column["role"] == "dropped":
            continue
        told = {"role": column["role"].replace("person", "identifier"), **column["options"]}
        if "level" in told:
            told["min_level"], told["max_level"] = told.pop("level").split("..")
        if told.get("hierarchy", "").startswith("./"):
            told["hierarchy"] = {"file": told["hierarchy"][2:]}
        columns[column["name"]] = told
    models = [parameters(value if option == "model" else f"k-anonymity:k={value}")
              for option, value in case["options"] if option in ("k", "model")]
    person = {"person": column["name"] for column in case["columns"] if column["role"] == "person"}
    return json.dumps({"version": 1, "unlisted_columns": "drop", **person, "columns": columns, "models": models},
                      ensure_ascii=False, indent=1)


def common_options(case, command):
    """Everything that verify and measure are told as well."""
    if case["policy"]:
        pathlib.Path("policy.yaml").write_text(policy_text(case), encoding="utf-8")
        options = [("policy", "policy.yaml")]
        rest = [pair for pair in case["options"] if pair[0] not in ("k", "model")]
    else:
        options, rest = role_options(case), case["options"]
    options += [("delimiter", case["delimiter"])]
    options += [] if case["header"] else [("no-header", "yes")]
    if command in ("measure", "risk"):
        options = [pair for pair in options if pair[0] != "level"]
    skipped = RUN_ONLY - ({"order"} if command == "verify" else set()) if command != "anonymize" else set()
    return options + [(option, value) for option, value in rest if option not in skipped]


# --- Running --------------------------------------------------------------------------------------------------------------


class Outcome:
    """code, message (of an error), text, warnings, kept {option: text}, release (CSV as text, or None), stream."""

    def __init__(self, code, message="", text="", warnings="", kept=None, release=None, result=None):
        self.code, self.message, self.text, self.warnings = code, message, text, warnings
        self.kept, self.release, self.result = kept or {}, release, result

    def said(self):
        return "\n".join([self.message, self.text, self.warnings])


SWITCHES = {"trim", "guard-formulas", "fold-sensitive", "polish", "certify", "explain", "redact", "no-header", "allow-copy"}


def words_of(command, options):
    """The command line."""
    words = [command] + [dict(options)[name] for name in ("data", "release") if name in dict(options)]
    for option, value in options:
        if option not in ("data", "release"):
            words += [SHORT.get(option, f"--{option}")] + ([] if option in SWITCHES else [value])
    return words


class Program:
    def __init__(self, path):
        self.path, self.commands = path, []

    def run(self, command, options, tables=(), sides=(), sink=None):
        options = list(options) + [(side, f"{command}.{side}") for side in sides]
        if sink in ("file", "parquet"):
            options += [("output", "r.csv" if sink == "file" else "r.parquet")]
        words = words_of(command, options)
        self.commands.append("kanon " + shlex.join(words))
        done = subprocess.run([self.path, *words], capture_output=True, timeout=150)
        out, err = done.stdout.decode("utf-8", "surrogateescape"), done.stderr.decode("utf-8", "surrogateescape")
        if done.returncode < 0:
            raise Crash(f"signal {-done.returncode}: {err[-3000:]}")
        kept = {}
        for side in sides if done.returncode == 0 else ():
            kept[side] = pathlib.Path(f"{command}.{side}").read_text(encoding="utf-8")
        release = None
        if done.returncode == 0 and sink:
            release = parquet_text() if sink == "parquet" else out if sink == "stdout" else read_text("r.csv")
        return Outcome(done.returncode, err, "" if sink == "stdout" else out, "", kept, release)


class Library:
    def __init__(self):
        self.commands = []

    def run(self, command, options, tables=(), sides=(), sink=None):
        options = list(options) + [(side, "text:") for side in sides]
        if sink:
            options += [("output", {"file": "r.csv", "parquet": "r.parquet", "text": "text:", "table": "table:",
                                    "stdout": "text:"}[sink])]
        self.commands.append("kanon " + shlex.join(words_of(command, options)) + "".join(f" # {name} in memory" for name, _ in tables))
        error, result = kanon.run(command, options, list(tables), None, None, False)
        code, message = (error["code"], error["message"]) if error else (0, "")
        if result is None:
            return Outcome(code, message)
        kept = {side: result.kept(side) for side in sides if result.kept(side) is not None}
        release = None
        if code == 0 and sink == "table":
            pieces = []
            result.csv(pieces.append)
            release = b"".join(pieces).decode("utf-8")
        elif code == 0 and sink:
            release = {"file": lambda: read_text("r.csv"), "parquet": parquet_text}.get(sink, lambda: result.kept("output"))()
        return Outcome(code, message, result.text(), result.warnings(), kept, release, result)


class Crash(Exception):
    pass


class Elsewhere:
    """The library in a process that was started, not forked: the key of its hash tables is drawn anew."""

    def __init__(self, package):
        self.commands = []
        self.process = subprocess.Popen([sys.executable, __file__, str(package)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def anonymize(self, case, source, sink, threads, sides, patience):
        told = None
        try:
            pickle.dump((os.getcwd(), case, source, sink, threads, sides, patience), self.process.stdin)
            self.process.stdin.flush()
            told = pickle.load(self.process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            self.process.kill()
            raise Crash(f"another process ended with {self.process.wait()}") from None
        if isinstance(told, Exception):
            raise told
        commands, outcome = told
        self.commands += commands
        return outcome

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def anonymize(engine, case, source, sink, threads, sides):
    data, tables = place(case, source)
    return engine.run("anonymize", data + common_options(case, "anonymize") + [("threads", threads)], tables, sides, sink)


def serve(package):
    """What Elsewhere talks to, until its pipe is closed."""
    load(package)
    answers, sys.stdout = sys.stdout.buffer, sys.stderr
    while True:
        try:
            folder, case, source, sink, threads, sides, patience = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        signal.alarm(patience)
        os.chdir(folder)
        engine = Library()
        try:
            outcome = anonymize(engine, case, source, sink, threads, sides)
            outcome.result = None
            told = engine.commands, outcome
        except Exception as error:  # whoever asked makes a finding of it
            told = error
        pickle.dump(told, answers)
        answers.flush()
        os.chdir("/")


def read_text(name):
    with open(name, newline="", encoding="utf-8") as file:
        return file.read()


def spelled(cell):
    """A cell of a Parquet release as CSV has it: whole numbers without a fraction, whatever their column's type is."""
    whole = isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e17
    return "" if cell is None else str(int(cell) if whole else cell)


def parquet_text():
    """A Parquet release as the CSV file that it stands for."""
    from pyarrow import parquet
    table = parquet.read_table("r.parquet")
    columns = [[spelled(cell) for cell in column.to_pylist()] for column in table.columns]
    return write_rows(zip(*columns), ",", table.column_names)


if __name__ == "__main__":
    sys.modules["engines"] = sys.modules["__main__"]  # so that what is pickled is called the same there
    Outcome.__module__ = Crash.__module__ = "engines"
    serve(pathlib.Path(sys.argv[1]))
