#!/usr/bin/env python3
"""kanon against the definitions, on random tables, policies, algorithms, sources and sinks.

    torture.py BUILD [--seconds S | --cases N] [--seed S] [--first N] [--keep FOLDER] [--program] [--long]
    torture.py BUILD --only N [--seed S]           one case again, with its commands
    torture.py BUILD --case FILE.json ...          cases that were kept

BUILD is the build folder. Most cases run the library in this process, through the Python package that was built there, the others
(with --program all of them) the program. What must hold stands in check.py, what is drawn in draw.py, the definitions in
recount.py. A failing case is shrunk and printed as commands, and kept as a file for --case. Cases in the folder `cases` were
findings once. Prints TAP."""
import argparse
import collections
import json
import os
import pathlib
import pickle
import resource
import signal
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import check  # noqa: E402
import draw  # noqa: E402
import engines  # noqa: E402
import shrink  # noqa: E402

PATIENCE = 200  # seconds for one case where nothing else is at work


def patience():
    """Whole seconds for one case, more of them while others have the processors."""
    return int(PATIENCE * max(1, os.getloadavg()[0] / (os.cpu_count() or 1)))


SCRATCH = "/dev/shm" if os.path.isdir("/dev/shm") else None
BATCH = 250  # cases per process, so that a crash loses none and a leak shows as growth, not as an end


class Others:
    """The library in another process, as long as it lives; started when it is first needed."""

    def __init__(self, package):
        self.package, self.process = package, None

    def __call__(self):
        if self.process is None or self.process.process.poll() is not None:
            self.process = engines.Elsewhere(self.package)
        return self.process

    def end(self):
        if self.process is not None:
            self.process.end()


def run_case(case, program, others):
    """(end, problems, commands); in a folder of its own, which is the current one."""
    for name in os.listdir("."):
        os.unlink(name)
    work = check.Check(case, program, others, patience())
    try:
        end = work.run()
    except engines.Crash as crash:
        end, work.problems = "failed", [("crash", str(crash))]
    except Exception:  # a checker that stumbles is a finding, too
        end, work.problems = "failed", [("checker", traceback.format_exc(limit=-4))]
    return end, work.problems, work.engine.commands


def work(cases, program, out):
    """In a process of its own: what run_case() tells of every case, pickled."""
    others = Others(pathlib.Path(program).parent / "bindings/python")
    for case in cases:
        signal.alarm(patience())
        out.write(pickle.dumps(run_case(case, program, others)))
        out.flush()
    others.end()


def in_child(cases, program):
    """Runs cases in processes of their own; yields what run_case() tells, and a crash or hang as a problem of its case."""
    done, cases = 0, list(cases)
    while done < len(cases):
        here, there = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.close(here)
                with os.fdopen(there, "wb") as out, tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
                    os.chdir(folder)
                    work(cases[done:], program, out)
                    os.chdir("/")
            finally:
                os._exit(0)
        os.close(there)
        with os.fdopen(here, "rb") as source:
            told = []
            for _ in cases[done:]:
                try:
                    told.append(pickle.load(source))
                except (EOFError, pickle.UnpicklingError):
                    break
        status = os.waitpid(child, 0)[1]
        done += len(told)
        yield from told
        if done < len(cases):
            hung = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM
            yield "failed", [("hang", f"takes more than {PATIENCE} s") if hung else ("crash", f"ended with status {status}")], []
            done += 1


def dump(case):
    """JSON with a line for every key, column and row."""
    def value(key):
        if key not in ("columns", "rows"):
            return json.dumps(case[key], ensure_ascii=False)
        return "[\n  " + ",\n  ".join(json.dumps(item, ensure_ascii=False) for item in case[key]) + "]"
    return "{" + ",\n ".join(f"{json.dumps(key)}: {value(key)}" for key in case) + "}\n"


def show(case, told, name, keep):
    """The case as commands that somebody can paste."""
    end, problems, commands = told
    lines = [f"{kind}: {what}" for kind, what in problems[:3]]
    texts = {"data.csv": engines.csv_of(case), **case["files"]}
    if case["policy"]:
        texts["policy.yaml"] = engines.policy_text(case)
    for file, text in texts.items():
        lines += [f"cat > {file} <<'END'", text.rstrip("\n"), "END"]
    lines += commands
    if keep:
        path = pathlib.Path(keep) / f"torture-{name}.json"
        path.write_text(dump(case), encoding="utf-8")
        lines.append(f"tests/torture/torture.py BUILD --case {path}")
    return "\n".join("#   " + line for text in lines for line in text.splitlines())


class Figures:
    """What was run, for people."""

    def __init__(self):
        self.counts = collections.defaultdict(collections.Counter)

    def add(self, case, end):
        self.counts["end"][end] += 1
        self.counts["source"][case["source"]] += 1
        self.counts["sink"][case["sink"]] += 1
        self.counts["by"][case["by"]] += 1
        for option, value in case["options"]:
            if option in ("algorithm", "recoding", "measure", "model"):
                self.counts[option][value.split(":")[0]] += 1

    def show(self):
        for what, counts in sorted(self.counts.items()):
            print(f"# {what}: " + ", ".join(f"{name} {n}" for name, n in counts.most_common()))


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--program", action="store_true")
    parser.add_argument("--long", action="store_true", help="tables of 9,999 to 70,000 rows only")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--keep", help="where failing cases are kept; BUILD unless said")
    parser.add_argument("--most", type=int, default=20, help="stop after so many failing cases")
    parser.add_argument("--only", type=int)
    parser.add_argument("--case", nargs="+", default=[])
    return parser.parse_args()


def prepare(build):
    """Among the packages, and with the libduckdb, that `make test` puts into the build folder."""
    venv, duckdb = build / "test-venv", build / "duckdb/libduckdb.so"
    if duckdb.exists():
        os.environ.setdefault("KANON_DUCKDB", str(duckdb))
    if (venv / "installed.txt").exists() and pathlib.Path(sys.prefix).resolve() != venv.resolve():
        os.execv(venv / "bin/python", [str(venv / "bin/python"), *sys.argv])


def by_program(case):
    """The same case without the library, whose own ways in and out are files then."""
    plain = {"by": "program"} | {key: "csv" for key in ("source", "second") if case[key] == "arrow"}
    return case | plain | ({"sink": "file"} if case["sink"] in ("text", "table") else {})


def needs(case):
    """What must be at hand for the case's ways in and out."""
    ways = {case["source"], case["second"], case["sink"]}
    return ({"duckdb"} if ways & {"parquet", "json", "sql"} else set()) | ({"pyarrow"} if "parquet" in ways else set())


def numbered(options, have):
    """(name, case) after (name, case), as long as asked for."""
    for path in options.case:
        case = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        if needs(case) <= have:
            yield pathlib.Path(path).stem, case if "library" in have else by_program(case)
        else:
            print(f"# {pathlib.Path(path).stem} is left out: it needs {', '.join(sorted(needs(case) - have))}")
    if options.case:
        return
    end = time.monotonic() + options.seconds if options.seconds else None
    number = options.first if options.only is None else options.only
    last = number + 1 if options.only is not None else float("inf") if end else options.first + options.cases
    while number < last and (end is None or time.monotonic() < end):
        yield f"{options.seed}-{number}", draw.draw(options.seed, number, have)
        number += 1


def batches(items, size):
    batch = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def main():
    options = arguments()
    build = pathlib.Path(options.build).resolve()
    prepare(build)
    short = options.seconds is not None and options.seconds <= 60  # long tables are for make torture
    draw.LONG_SHARE = 1 if options.long else 0 if short else draw.LONG_SHARE
    program, failures, figures, began = str(build / "kanon"), 0, Figures(), time.monotonic()
    have = engines.load(None if options.program else build / "bindings/python")
    print(f"# seed {options.seed}, with {', '.join(sorted(have))}")
    kinds_of = lambda case: {kind for kind, _ in next(in_child([case], program))[1]}
    for batch in batches(numbered(options, have), BATCH if not options.seconds or options.seconds > 60 else 25):
        for (name, case), told in zip(batch, in_child([case for _, case in batch], program)):
            figures.add(case, told[0])
            if told[0] == "failed":
                failures += 1
                smaller = shrink.shrink(case, kinds_of)
                print(f"not ok {failures} - case {name}")
                print("".join(f"#   seen first: {kind}: {what}\n" for kind, what in told[1][:3]), end="")
                print(show(smaller, next(in_child([smaller], program)), name, options.keep or options.build), flush=True)
                if failures == options.most:
                    break
            elif options.only is not None or options.case:
                print(f"# {name}: {told[0]}\n" + "\n".join("#   " + command for command in told[2]))
        if failures == options.most:
            break
        total = sum(figures.counts["end"].values())
        if total % (8 * BATCH) < len(batch) and options.only is None and not options.case:
            print(f"# {total} cases, {failures} findings, {time.monotonic() - began:.0f} s", flush=True)
    ends = figures.counts["end"]
    total = sum(ends.values())
    figures.show()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"# {total} cases, {1000 * (used.ru_utime + used.ru_stime) / max(1, total):.0f} ms of CPU each, {time.monotonic() - began:.0f} s")
    many = options.only is not None or options.case or ends["released"] * 2 > total or total < 100
    print(f"{'ok' if failures == 0 and many else 'not ok'} {failures + 1} - {dict(ends)}\n1..{failures + 1}")
    sys.exit(failures > 0 or not many)


if __name__ == "__main__":
    main()
