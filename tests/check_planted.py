#!/usr/bin/env python3
"""What must not leave, planted and looked for: check_planted.py KANON. Prints TAP.

A table has words that stand nowhere else: in a column of identifiers, in a column that nobody listed, in the
quasi-identifiers and the sensitive cell of people who have to be removed, and numbers and dates that one person alone has and
that are generalized. Every command runs on it, well and badly, and everything it leaves is searched: files, standard output and
error, temporary files of runs that were killed, core dumps. Files that are private by their nature (certificate, state, ledger)
must be readable by their owner only."""
import csv
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

KANON = str(pathlib.Path(sys.argv[1]).resolve())
N_ROWS, K = 240, 4
POLICY = """version: 1
unlisted_columns: drop
columns:
  name:   {role: identifier}
  town:   {role: quasi, type: text, hierarchy: {file: towns.csv}}
  job:    {role: quasi, type: text}
  income: {role: quasi, type: int}
  born:   {role: quasi, type: date}
  ill:    {role: sensitive}
models:
  - k-anonymity: {k: 4}
  - l-diversity: {column: ill, l: 2}
suppression: {max: 3}
"""
FLAGS = ["-p", "policy.yaml", "--threads", "2", "--effort", "3000"]


class Plant:
    """The table, and what is planted in it: `never` in columns that do not leave, `removed` of people who cannot stay, unless a
    release generalizes them with others, `alone` numbers and dates of one person, which are generalized."""

    def __init__(self, folder):
        draw = random.Random(22)
        word = lambda kind: f"{kind}{draw.getrandbits(40):010x}"
        self.never, self.removed, self.folder = [], [], folder
        rows = []
        for i in range(N_ROWS):
            name, address = word("zname"), word("zhome")
            self.never += [name, address]
            income, born = str(draw.randrange(20000, 60000)), f"{draw.randint(1950, 1999)}-{draw.randint(1, 12):02}-{draw.randint(2, 27):02}"
            town, job, ill = draw.choice(["Ulm", "Rome", "Bern"]), draw.choice(["cook", "nurse", "mason"]), draw.choice(["flu", "gout", "cough"])
            if i < 2:  # too few to hide among each other, and too far from everybody else
                job, ill, income, born = word("zjob"), word("zill"), str(98765430 + i), f"1811-0{3 + i}-17"
                town = "Thule"
                self.removed += [job, ill, income, born]
            rows.append([name, town, job, income, born, ill, address])
        draw.shuffle(rows)
        self.header = ["name", "town", "job", "income", "born", "ill", "home"]
        self.write("people.csv", rows)
        self.rows = rows
        (folder / "towns.csv").write_text("Ulm;south;*\nRome;south;*\nBern;north;*\nThule;north;*\n")
        (folder / "policy.yaml").write_text(POLICY)
        # a value that one person alone has, and that no cell of the grid ends at
        incomes, dates = [row[3] for row in rows], [row[4] for row in rows]
        self.alone = [v for v in incomes if incomes.count(v) == 1 and int(v) % 100 and (int(v) + 1) % 100]
        self.alone += [v for v in dates if dates.count(v) == 1]

    def write(self, name, rows):
        with open(self.folder / name, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([self.header] + rows)


def found(text, words):
    """Planted words in a text; numbers and dates only where no digit goes on."""
    for word in words:
        at = text.find(word)
        if at >= 0 and (word[0] == "z" or re.search(r"(?<![0-9.])" + re.escape(word) + r"(?![0-9])", text)):
            return word
    return None


class Search:
    """Runs commands in the folder, and looks through what they leave."""

    def __init__(self, plant):
        self.plant, self.folder, self.n, self.failures, self.n_texts = plant, plant.folder, 0, 0, 0
        self.n_removed = 0  # releases without those who should be removed
        self.known = set(os.listdir(self.folder))
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()

    def tell(self, good, what, why=""):
        self.n += 1
        self.failures += not good
        print(f"{'ok' if good else 'not ok'} {self.n} - {what}" + (f"\n#   {why}" if not good else ""), flush=True)

    def left(self):
        """Files that are new since the last command."""
        out = [path for path in self.folder.rglob("*") if path.is_file() and str(path.relative_to(self.folder)) not in self.known]
        return sorted(out)

    def run(self, *words, code=0, private=(), stdin=None):
        environment = os.environ | {"TMPDIR": str(self.temporary)}
        done = subprocess.run([KANON, *words], cwd=self.folder, capture_output=True, stdin=stdin, timeout=120, env=environment)
        release = self.folder / "r.csv"  # what stands in it may stand elsewhere
        public = release.read_text(encoding="utf-8") if release.exists() and done.returncode == 0 else ""
        self.n_removed += public != "" and not found(public, self.plant.removed)
        secrets = self.plant.never + self.plant.alone + [word for word in self.plant.removed if word not in public]
        why = "" if done.returncode == code else f"exit {done.returncode}: {done.stderr.decode()[-400:]}"
        texts = {"standard output": done.stdout.decode(), "standard error": done.stderr.decode()}
        for path in self.left():
            if path.name in private:
                why = why or ("" if stat.S_IMODE(path.stat().st_mode) == 0o600 else f"{path.name} can be read by others")
            else:
                texts[path.name] = path.read_text(encoding="utf-8", errors="replace")
            path.unlink()
        for name, text in texts.items():
            self.n_texts += 1
            word = found(text, secrets)
            why = why or (f"{name} has {word}" if word else "")
        self.tell(not why, "kanon " + " ".join(words)[:110], why)
        return done


def check_commands(search):
    side = ["--json", "run.json", "--schema", "schema.json", "--report", "report.html", "--codebook", "codebook.html"]
    for algorithm in ["auto", "mondrian", "cluster", "optimal", "datafly", "k-member", "hilbert", "sequential"]:
        more = ["--language", "de", "--explain"] if algorithm in ("mondrian", "optimal") else []
        search.run("anonymize", "people.csv", *FLAGS, *side, *more, "--algorithm", algorithm, "-v", "--progress", "always", "-o", "r.csv")
    for cells in ("bounds", "both"):
        search.run("anonymize", "people.csv", *FLAGS, *side, "--cells", cells, "-o", "r.csv")
    search.run("anonymize", "people.csv", *FLAGS, "--recoding", "global", "--json", "-", "-o", "r.csv")
    search.run("anonymize", "people.csv", *FLAGS, "--algorithm", "mondrian", "--time-limit", "2", "--certificate", "proof.txt", "--ledger", "all.ledger", "-o", "r.csv",
               private=("proof.txt", "all.ledger"))
    search.run("anonymize", "people.csv", "-k", "4", "--qi", "town,job", "--hierarchy", "town=towns.csv", "--max-suppressed", "3",
               "--algorithm", "k-optimize", "--state", "best.state", "--effort", "500", "-o", "r.csv", private=("best.state",))
    search.run("lattice", "people.csv", *FLAGS, "-o", "nodes.csv", "--report", "lattice.html", "--json", "lattice.json")
    search.run("compare", "people.csv", *FLAGS, "--algorithms", "mondrian,optimal", "-k", "2,4", "-o", "table.csv", "--report",
               "compare.html", "--json", "compare.json")
    search.run("risk", "people.csv", *FLAGS[:2], "--json", "risk.json", "--report", "risk.html", "--population", "0.1")
    search.run("check", "people.csv", "-p", "policy.yaml", "--json", "check.json")
    search.run("profile", "people.csv", "-o", "profiled.yaml", "--redact", "--json", "profile.json")
    for what in ("algorithms", "measures", "models", "hierarchies"):
        search.run("list", what)


def check_other_commands(search):
    """Commands that read a release."""
    subprocess.run([KANON, "anonymize", "people.csv", *FLAGS, "-q", "-o", "r.csv", "--schema", "schema.json"], cwd=search.folder, check=True)
    search.known |= {"r.csv", "schema.json"}
    search.run("verify", "r.csv", "--original", "people.csv", "-p", "policy.yaml", "--json", "verdict.json")
    search.run("verify", "r.csv", "-p", "policy.yaml", "-k", "200", code=1)
    search.run("measure", "people.csv", "r.csv", "-p", "policy.yaml", "--json", "losses.json")
    search.run("risk", "r.csv", "-p", "policy.yaml", "--attack", "people.csv", "--json", "risk.json", "--report", "risk.html")
    search.run("risk", "r.csv", "--schema", "schema.json", "-k", "4", "--attack", "people.csv")
    other = [row[:] for row in search.plant.rows]
    for row in other[:9]:
        row[2] = "cook" if row[2] != "cook" else "mason"
    search.plant.write("other.csv", other)
    search.known.add("other.csv")
    search.run("verify", "r.csv", "--original", "other.csv", "-p", "policy.yaml", "--redact", code=1)


def check_failures(search):
    """What commands say when they fail: under --redact nothing of the data, otherwise nothing that does not leave."""
    plant = search.plant
    broken = (search.folder / "people.csv").read_text()
    texts = {"torn.csv": broken[:-60], "quote.csv": broken.replace("Ulm,", '"Ulm"x,', 1), "long.csv": broken + ",".join(plant.rows[0] * 2) + "\n",
             "latin.csv": broken + "caf\u00e9,"}
    for name, text in texts.items():
        (search.folder / name).write_bytes(text.encode("latin-1"))
    wrong = [row[:] for row in plant.rows]
    wrong[3][3] = wrong[3][0]  # an identifier where a number should be
    plant.write("wrong.csv", wrong)
    (search.folder / "few.csv").write_text("Ulm;south;*\n")
    search.known |= {*texts, "wrong.csv", "few.csv"}
    for name in texts:
        search.run("anonymize", name, *FLAGS, "--redact", "-o", "r.csv", code=3)
    search.run("anonymize", "wrong.csv", *FLAGS, "--redact", "-o", "r.csv", code=3)
    search.run("check", "wrong.csv", "-p", "policy.yaml", "--redact", "--json", "check.json", code=2)
    search.run("anonymize", "people.csv", *FLAGS, "--hierarchy", "town=few.csv", "--redact", "-o", "r.csv", code=3)
    search.run("anonymize", "people.csv", *FLAGS, "--type", "job=int", "--redact", "-o", "r.csv", code=3)
    search.run("anonymize", "people.csv", *FLAGS, "-k", "241", "-o", "r.csv", code=1)
    search.run("anonymize", "people.csv", *FLAGS, "--model", "t-closeness:column=nothing,t=0.2", "-o", "r.csv", code=2)
    search.run("anonymize", "people.csv", *FLAGS, "--model", "l-diversity:column=ill,l=9", "-o", "r.csv", code=1)
    search.run("anonymize", "people.csv", *FLAGS, "-o", "nowhere/r.csv", code=3)
    search.run("anonymize", "people.csv", *FLAGS, "-o", "/dev/full", code=3)
    search.run("anonymize", "people.csv", *FLAGS, "-o", "people.csv", code=2)
    search.run("anonymize", "people.csv", *FLAGS, "--memory", "1M", "-o", "r.csv", code=4)
    search.run("anonymize", "people.csv", "-k", "4", "--qi", "age", "-o", "r.csv", code=2)


def wait_for(process, text_in):
    """Until the process waits for more of its standard input, having read `text_in`."""
    process.stdin.write(text_in)
    process.stdin.flush()
    time.sleep(0.15)


def start(search, *words):
    unlimited = lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return subprocess.Popen([KANON, *words], cwd=search.folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            env=os.environ | {"TMPDIR": str(search.temporary)}, preexec_fn=unlimited)


def check_deaths(search):
    """Runs that are killed, or crash: what is left has no names, or is its owner's; there is no core dump."""
    data = (search.folder / "people.csv").read_bytes()
    for number in (signal.SIGKILL, signal.SIGABRT, signal.SIGSEGV, signal.SIGINT, signal.SIGTERM):
        process = start(search, "anonymize", "-", *FLAGS, "-o", "r.csv", "--report", "report.html")
        wait_for(process, data[:len(data) // 2])
        limits = pathlib.Path(f"/proc/{process.pid}/limits").read_text()
        process.send_signal(number)
        process.stdin.close()
        told = process.stderr.read().decode()
        status = os.waitpid(process.pid, 0)[1] if process.returncode is None else process.returncode
        why = ""
        if not re.search(r"Max core file size +[01] +[01] ", limits):
            why = "core dumps are on: " + limits.splitlines()[5]
        if isinstance(status, int) and os.WIFSIGNALED(status) and os.WCOREDUMP(status):
            why = why or "it left a core dump"
        for path in search.left():
            if stat.S_IMODE(path.stat().st_mode) & 0o077:
                why = why or f"{path.name} was left behind for everybody to read"
            if path.name.startswith("core"):
                why = why or f"{path.name} was left behind"
            path.unlink()
        word = found(told, search.plant.never + search.plant.removed)
        search.tell(not why and not word, f"a run that gets signal {number} leaves nothing to read", why or f"it says {word}")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        os.umask(0o022)
        plant = Plant(pathlib.Path(scratch))
        search = Search(plant)
        try:
            check_commands(search)
            check_other_commands(search)
            check_failures(search)
            check_deaths(search)
        finally:
            shutil.rmtree(search.temporary, ignore_errors=True)
        search.tell(search.n_removed >= 3, "several releases are without those who should be removed", f"only {search.n_removed}")
        planted = len(plant.never) + len(plant.removed) + len(plant.alone)
        print(f"# {planted} planted words looked for in {search.n_texts} texts and files\n1..{search.n}")
        sys.exit(search.failures > 0)


main()
