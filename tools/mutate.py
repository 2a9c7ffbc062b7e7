#!/usr/bin/env python3
"""Small changes to the source that some test must refuse: a comparison turned, a check dropped, a constant off by one.

    tools/mutate.py [-n 200] [--seed 1] [--only src/verify/verdict.c] [--retry] [--resume] [--quick]

Works in a copy of the tree (build-mutate/), one mutant at a time: change a line, build the test programs that most
likely refuse it, run them, the cheap ones first, until a test in one fails, put the line back. What survives is tried
once more at the end, built with the address and undefined behaviour sanitizers, and then listed. A mutant whose object
file is the same as before is none and another one is drawn. Those that mean the same as the source stand with their
reason in tools/mutants_equivalent.txt and are not tried; the run fails when more than one in twenty of the others survive.
--quick leaves out the second try and all sessions that take more than two seconds: most of what is refused is refused
without them.

Left alone: comments, texts, messages, what handles a failed allocation (tests fail every n-th one), ticks, prefetches,
clocks, sizes of buffers for texts, and equality where two elements are compared for sorting. The draw goes by a hash of
the changed line, so that it stays the same when another file changes.
--retry tries the survivors of the last run again, for whoever has just written a test against them."""
import argparse
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build-mutate"
TREE = WORK / "tree"
EQUIVALENT = ROOT / "tools" / "mutants_equivalent.txt"
SANITIZED = ["-Dbuildtype=debugoptimized", "-Db_sanitize=address,undefined", "-Db_lundef=false"]
BUILDS = {"plain": ["-Dbuildtype=plain", "-Doptimization=1"], "sanitized": SANITIZED}

# What is run for a folder or file, the likeliest first: test programs, sessions of the command line, and the programs that
# ask kanon about random tables and compare with the definition.
SESSIONS = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("tests/cli/*.md"))
PAGES = ["docs/concepts.md", "docs/cookbook.md", "docs/report.md", "docs/policy.md", "docs/quickstart.md"]
CELLS, CERTIFICATES = "tests/check_cells.py", "tests/check_certificates.py"
TESTS = {
    "src/privacy": ["privacy", "recode", "run", "local", "lattice", "tests/cli/errors.md", "tests/cli/guidance.md"],
    "src/verify": ["verify", "run", *SESSIONS, CELLS],
    "src/verify/certificate": [CERTIFICATES, *SESSIONS],
    "src/verify/check_certificate.c": [CERTIFICATES, *SESSIONS],
    "src/verify/model_definitions.c": ["verify", "run", *SESSIONS, CERTIFICATES],
    "src/verify/recount_models.c": ["verify", "run", *SESSIONS, CERTIFICATES],
    "src/verify/released_bounds.c": ["verify", "run", *SESSIONS, CELLS, CERTIFICATES],
    "src/verify/sheet_arrow.c": ["arrow", "tables"],
    "src/duckdb": ["duckdb", "tests/cli/parquet.md"],
    "src/recode": ["recode", "run", "measure", *SESSIONS, CELLS],
    "src/sink": ["sink", "run", "arrow", "tables", *SESSIONS, CELLS],
    "src/run": ["run", *SESSIONS, "report", "policy", "tables", *PAGES],
    "src/run/run_schema.c": ["run", *SESSIONS, CELLS],
    "src/run/schema_read.c": ["run", *SESSIONS, CELLS],
}

def program_of(test):
    return "kanon" if "/" in test else "tests/test_" + test


PROGRAMS = sorted({program_of(t) for tests in TESTS.values() for t in tests} | {"kanon-generate"})

TURNED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+=": "-=",
          "-=": "+=", " + ": " - ", " - ": " + ", " * ": " / ", " / ": " * ", "true": "false", "false": "true",
          "fmin": "fmax", "fmax": "fmin", "break": "continue"}
TOKEN = re.compile(r"->|<<=?|>>=?|<=|>=|==|!=|&&|\|\||\+\+|--|\+=|-=| [-+*/] |<|>|\b(?:true|false|fmin|fmax|break)\b")
NUMBER = re.compile(r"(?<![\w.])(\d+)(?![\w.])")
CALL = re.compile(r"\b(?:KN_FAIL|kn_error_set|kn_buffer_printf|kn_buffer_text|snprintf|assert|kn_tick|__builtin_prefetch)\(")
SKIPPED_LINE = re.compile(r"KN_RESOURCES|kn_tick|prefetch|seconds|^\s*(?:KN_NEW|KN_RESERVE|kn_free|case |static const|enum|#)|"
                          r"assert|^\s*char \w+\[|EINTR")
# Of a comparison for sorting: equal elements may stand in any order.
COMPARATOR = re.compile(r"^\s*return \(.* [<>] .*\) - \(.* [<>] .*\);$")


def closing(text, at):
    """Index of the parenthesis that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return i
    return len(text) - 1


def masked(text):
    """The text with everything blanked that is not code to be changed; the same length."""
    hidden = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|^[ \t]*#[^\n]*(?:\\\n[^\n]*)*', re.S | re.M)
    text = hidden.sub(lambda m: re.sub(r"[^\n]", "\x01", m.group()), text)
    at = 0
    while (call := CALL.search(text, at)) is not None:
        end = closing(text, call.end() - 1)
        text = text[: call.start()] + re.sub(r"[^\n]", "\x01", text[call.start() : end]) + text[end:]
        at = end
    return text


def changes(line):
    """(from, to, replacement) for one masked line."""
    for token in TOKEN.finditer(line):
        if token.group() in TURNED and not (token.group() in "<>" and COMPARATOR.match(line)):
            yield token.start(), token.end(), TURNED[token.group()]
    for number in NUMBER.finditer(line):
        yield number.start(), number.end(), str(int(number.group(1)) + 1)
        if number.group(1) == "1":
            yield number.start(), number.end(), "0"
    for dropped in re.finditer(r"!(?=[\w(*])", line):
        yield dropped.start(), dropped.end(), ""
    for condition in re.finditer(r"\bif \(", line):
        end = closing(line, condition.end() - 1)
        if line[end] == ")":
            inside = slice(condition.end(), end)
            yield inside.start, inside.stop, "0 && (" + line[inside] + ")"
            yield inside.start, inside.stop, "1 || (" + line[inside] + ")"
    statement = re.fullmatch(r"\s*(KN_TRY\(.*\);)\s*", line)
    if statement:
        yield statement.start(1), statement.end(1), ";"


def tests_of(path):
    fitting = [place for place in TESTS if path.startswith(place)]
    return TESTS[max(fitting, key=len)] if fitting else None


def all_mutants(only):
    found = []
    for path in sorted(ROOT.glob("src/**/*.c")):
        name = str(path.relative_to(ROOT))
        if tests_of(name) is None or not name.startswith(only):
            continue
        lines, code = path.read_text().split("\n"), masked(path.read_text()).split("\n")
        seen = {}
        for number, (line, shown) in enumerate(zip(lines, code)):
            if SKIPPED_LINE.search(line):
                continue
            for begin, end, instead in changes(shown):
                if "\x01" in shown[begin:end]:  # a condition with a text or a character in it
                    instead = instead.replace(shown[begin:end], line[begin:end])
                mutated = line[:begin] + instead + line[end:]
                nth = seen[line, mutated] = seen.get((line, mutated), -1) + 1  # of equal lines
                found.append({"path": name, "line": number + 1, "old": line, "new": mutated, "nth": nth})
    return found


FAILED = re.compile(rb"^\[  FAILED  \]|^not ok ", re.M)  # cmocka, and the sessions


def run(command, log, cpu_seconds=None):
    """The exit code; a test program is ended at its first failure. Time is the processor's, so that a busy machine
    does not refuse a mutant."""
    shutil.rmtree(WORK / "scratch", ignore_errors=True)
    (WORK / "scratch").mkdir()
    environment = dict(os.environ, UBSAN_OPTIONS="halt_on_error=1", ASAN_OPTIONS="detect_leaks=1", MALLOC_PERTURB_="85",
                       PYTHONUNBUFFERED="1", TMPDIR=str(WORK / "scratch"))

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))

    with open(log, "ab") as out, open(log, "rb") as printed:
        printed.seek(0, os.SEEK_END)
        process = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, cwd=TREE, env=environment,
                                   start_new_session=True, preexec_fn=limit if cpu_seconds else None)
        if cpu_seconds is None:
            return process.wait()
        ends, seen = time.monotonic() + 60 + 10 * cpu_seconds, b""
        while time.monotonic() < ends:  # after it, waits for something that never comes
            try:
                return process.wait(0.1)
            except subprocess.TimeoutExpired:
                seen += printed.read()
                if FAILED.search(seen):
                    break
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return 124


class Builds:
    def __init__(self, quick):
        self.quick = quick
        self.log = WORK / "log.txt"
        self.seconds = {}
        self.objects = {}

    def copy_tree(self):
        names = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True).stdout.decode()
        for name in filter(None, names.split("\0")):
            source = ROOT / name
            if source.is_file() and not ((TREE / name).exists() and (TREE / name).read_bytes() == source.read_bytes()):
                (TREE / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, TREE / name)
                (TREE / name).chmod(source.stat().st_mode)

    def prepare(self, build, mutants, resume):
        """Builds, and runs once what may be run for these mutants. What it took is kept for a run that goes on."""
        setup = ["meson", "setup", str(WORK / build), ".", "-Dtests=enabled", "-Db_ndebug=false", *BUILDS[build]]
        if not (WORK / build / "build.ninja").exists() and run(setup, self.log) != 0:
            sys.exit(f"the copy cannot be set up; see {self.log}")
        if run(["ninja", "-C", str(WORK / build), *PROGRAMS], self.log) != 0:
            sys.exit(f"the copy does not build; see {self.log}")
        kept = WORK / f"seconds-{build}.json"
        self.seconds = json.loads(kept.read_text()) if resume and kept.exists() else {}
        for test in sorted({t for path in {m["path"] for m in mutants} for t in tests_of(path)} - set(self.seconds)):
            began = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            if self.test(build, test) != 0:
                sys.exit(f"{test} fails before anything is changed ({build}); see {self.log}")
            self.seconds[test] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - began
            kept.write_text(json.dumps(self.seconds, indent=1))

    def test(self, build, test, limit=None):
        folder = WORK / build
        if test.endswith(".py"):
            command = ["python3", test, str(folder / "kanon"), "--cases", "60"]
        elif "/" in test:
            command = ["python3", "tests/run_cli.py", str(folder / "kanon"), str(folder / "kanon-generate"), test]
        else:
            command = [str(folder / "tests" / ("test_" + test))]
        return run(command, self.log, limit)

    def object_of(self, build, path):
        name = path.replace("/", "_") + ".o"
        return next((WORK / build).glob(f"libkanon.so.*.p/{name}"))

    def fingerprint(self, path, build):
        return hashlib.sha256(self.object_of(build, path).read_bytes()).hexdigest()

    def in_order(self, path):
        """The likeliest first, where it is cheap, and the sessions that are named like the file; then by what they cost."""
        tests = tests_of(path)
        words = set(re.findall(r"[a-z]{4,}", pathlib.Path(path).stem))
        kept = [t for t in tests if not (self.quick and t.endswith(".md") and self.seconds[t] > 2)]

        def is_likely(test):
            return (test == tests[0] and self.seconds[test] < 5) or words & set(re.findall(r"[a-z]{4,}", pathlib.Path(test).stem))

        return sorted(kept, key=lambda t: (not is_likely(t), self.seconds[t]))

    def judge(self, mutant, build):
        """'does not build', 'same code', the name of the test that refused it, or 'survived'."""
        path = TREE / mutant["path"]
        source = path.read_text()
        lines = source.split("\n")
        assert lines[mutant["line"] - 1] == mutant["old"], "the tree has changed meanwhile"
        if mutant["path"] not in self.objects:
            self.objects[mutant["path"]] = self.fingerprint(mutant["path"], build)
        lines[mutant["line"] - 1] = mutant["new"]
        tests = self.in_order(mutant["path"])
        try:
            path.write_text("\n".join(lines))
            for test in tests:
                if run(["ninja", "-C", str(WORK / build), program_of(test)], self.log) != 0:
                    return "does not build"
                if self.fingerprint(mutant["path"], build) == self.objects[mutant["path"]]:
                    return "same code"
                if self.test(build, test, int(5 + 3 * self.seconds[test])) != 0:
                    return test
            return "survived"
        finally:
            path.write_text(source)


def equivalents():
    """{(path, old, new): reason}: four lines each, blocks apart by an empty line."""
    known = {}
    if EQUIVALENT.exists():
        text = "\n".join(l for l in EQUIVALENT.read_text().split("\n") if not l.startswith("#"))
        for block in filter(None, (b.strip("\n") for b in text.split("\n\n"))):
            path, old, new, reason = block.split("\n", 3)
            known[path, old.strip(), new.strip()] = reason
    return known


def say(number, verdict, mutant):
    print(f"{number:4} {verdict:24} {mutant['path']}:{mutant['line']}", flush=True)
    if verdict == "survived":
        print(f"       - {mutant['old'].strip()}\n       + {mutant['new'].strip()}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--retry", action="store_true")
    parser.add_argument("--resume", action="store_true", help="goes on where a run was stopped")
    parser.add_argument("--quick", action="store_true", help="no sanitizers and no long sessions")
    options = parser.parse_args()
    WORK.mkdir(exist_ok=True)
    results = WORK / "survivors.json"
    if options.retry:
        drawn = json.loads(results.read_text())
        current = {(m["path"], m["old"], m["new"], m["nth"]): m for m in all_mutants("")}
        drawn = [current[key] for m in drawn if (key := (m["path"], m["old"], m["new"], m["nth"])) in current]
        options.n = len(drawn)
    else:
        drawn = sorted(all_mutants(options.only), key=lambda m: hashlib.sha256(
            f"{options.seed} {m['path']} {m['old']} {m['new']} {m['nth']}".encode()).digest())
    builds = Builds(options.quick)
    builds.copy_tree()
    builds.prepare("plain", drawn, options.resume)
    cache = WORK / "refused.json"  # tests get stricter: what was refused once need not be tried again
    refused = json.loads(cache.read_text()) if options.resume and cache.exists() else {}
    known, survivors, explained, n = equivalents(), [], 0, 0
    for mutant in drawn:
        if n == options.n:
            break
        key = f"{mutant['path']} {mutant['old']} {mutant['new']} {mutant['nth']}"
        reason = known.get((mutant["path"], mutant["old"].strip(), mutant["new"].strip()))
        if reason is not None:
            n, explained = n + 1, explained + 1
            say(n, "equivalent", mutant)
            continue
        verdict = refused.get(key) or builds.judge(mutant, "plain")
        if verdict != "survived":
            refused[key] = verdict
            cache.write_text(json.dumps(refused, indent=1))
        if verdict in ("same code", "does not build"):
            continue
        n += 1
        say(n, verdict, mutant)
        if verdict == "survived":
            survivors.append(mutant)
            results.write_text(json.dumps(survivors, indent=1))
    left = survivors if options.quick else []
    if survivors and not options.quick:
        print("the survivors again, with sanitizers:")
        builds.objects = {}
        builds.prepare("sanitized", survivors, options.resume)
        for mutant in survivors:
            verdict = builds.judge(mutant, "sanitized")
            say("", verdict, mutant)
            if verdict == "survived":
                left.append(mutant)
    results.write_text(json.dumps(left, indent=1))
    print(f"{n} mutants, seed {options.seed}: {n - len(left) - explained} refused, {explained} equivalent, "
          f"{len(left)} survived")
    sys.exit(len(left) > 0.05 * n)


main()
