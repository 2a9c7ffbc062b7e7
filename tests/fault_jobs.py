"""Every command on small files, for check_memory.py and check_faults.py: what to run, the outputs to expect, and how two
runs of one job are compared."""
import os
import re
import subprocess

OUTPUTS = ["o.csv", "o.json", "o.schema", "o.html", "o.book", "o.proof"]  # "old" before each run
GROWING = ["o.state", "o.ledger"]  # not there before a run; a whole one may be there after one that failed
POLICY = """version: 1
columns:
  age: {role: quasi, hierarchy: 'intervals(5,10,50)'}
  sex: {role: quasi, hierarchy: {file: sex.csv}}
  ill: sensitive
  "zip": insensitive   # a comment
models:
  - k-anonymity: {k: 3}
  - l-diversity: {l: 2}
algorithm: optimal
suppression: {max: 20%}
"""
DERIVING = """version: 1
columns:
  born: identifier
  age: {role: quasi, derive: 'age(born, 2021-02-28)', hierarchy: 'intervals(10,40)'}
  sex: quasi
  ill: sensitive
models:
  - k-anonymity: {k: 3}
"""
ALL = "-o o.csv --json o.json --report o.html"
PEOPLE = "people.csv --qi age,sex --sensitive ill --unlisted drop"
# The jobs that check_memory.py has always gone through allocation by allocation.
FIRST = [
    f"anonymize people.csv -p policy.yaml {ALL} --schema o.schema",
    "anonymize people.csv -k 3 --qi age,sex --sensitive ill --algorithm mondrian -o o.csv --json o.json",
    "verify release.csv --original people.csv -p policy.yaml --json o.json",
    "measure people.csv release.csv -p policy.yaml --json o.json",
    f"lattice people.csv -p policy.yaml {ALL}",
    "risk people.csv --qi age,sex --sensitive ill --population 0.1 --attack population.csv --json o.json --report o.html",
    f"compare people.csv --qi age,sex --sensitive ill -k 2,3 --algorithms optimal,mondrian {ALL}",
    "profile people.csv --force -o o.csv --json o.json",
    "check people.csv -p policy.yaml --json o.json",
    "list models --json o.json",
    "hierarchy make people.csv --hierarchy age=intervals(5,10,50) -o o.csv",
    "hierarchy show sex.csv -o o.csv",
]
# What reads, writes and proves in other ways.
MORE = [
    f"anonymize {PEOPLE} -k 3 --algorithm k-optimize --state o.state {ALL}",
    f"anonymize {PEOPLE} -k 2 --certify --certificate o.proof {ALL}",
    "verify proven.csv --original people.csv --qi age,sex --sensitive ill --unlisted drop -k 2 --certificate proof --json o.json",
    f"anonymize {PEOPLE} -k 3 --codebook o.book --schema o.schema --ledger o.ledger --cells both {ALL} --language de",
    f"anonymize {PEOPLE} -k 2 --algorithm two-factor {ALL}",
    f"anonymize {PEOPLE} -k 3 --polish --algorithm forest {ALL} --explain",
    f"anonymize born.csv -p deriving.yaml {ALL} --schema o.schema",
    "anonymize counted.csv --qi age,sex --sensitive ill --count n --order input --recoding global -k 3 -o o.csv --json o.json",
    "anonymize packed.csv.gz --qi age,sex --sensitive ill --unlisted drop -k 3 --missing wildcard -o o.csv --json o.json",
    f"anonymize {PEOPLE} -k 3 --top age=40 --model k-map:k=4,population=population.csv --recoding global {ALL}",
    "measure people.csv release.csv --schema release.schema --json o.json",
    "hierarchy check sex.csv",
    "hierarchy rectify letters.csv --hierarchy v=uneven.csv -o o.csv",
    "list algorithms --json o.json",
    "generate man",
]
SEARCHES = ["cluster", "sequential", "agglomerative", "k-member", "hilbert", "exhaustive", "cover", "meyerson-williams",
            "three-factor", "samarati", "incognito", "mingen", "datafly", "mu-argus", "mu-argus:suppress=cells",
            "cell-suppression", "hill-climb", "genetic", "anneal"]


def jobs(only="", part="1/1"):
    """(job, whether it is one of the first): those with a word in them; of these the first of every two for part 1/2."""
    searches = [f"anonymize few.csv --qi age,sex --sensitive ill --unlisted drop -k 3 --effort 200 --algorithm {name} -o o.csv --json o.json"
                for name in SEARCHES]
    every = [(job, True) for job in FIRST] + [(job, False) for job in MORE + searches]
    nth, n_parts = map(int, part.split("/"))
    return [pair for pair in every if only in pair[0]][nth - 1::n_parts]


def write_inputs(kanon):
    """Into the current folder."""
    people = [f"{20 + i % 7 * 5},{10000 + i % 4 * 111},{'mf'[i % 2]}" for i in range(60)]
    rows = [f"{row},{'abc'[i % 3]}" for i, row in enumerate(people[:24])]
    texts = {
        "people.csv": "\n".join(["age,zip,sex,ill"] + rows) + "\n",
        "few.csv": "\n".join(["age,zip,sex,ill"] + rows[:9]) + "\n",
        "population.csv": "\n".join(["age,zip,sex"] + people) + "\n",
        "born.csv": "\n".join(["born,sex,ill"] + [f"{1950 + i * 7 % 50}-0{1 + i % 9}-11,{'mf'[i % 2]},{'abc'[i % 3]}"
                                                 for i in range(24)]) + "\n",
        "counted.csv": "\n".join(["age,sex,ill,n"] + [f"{20 + i % 7 * 5},{'mf'[i % 2]},{'abc'[i % 3]},{1 + i % 4}"
                                                     for i in range(24)]) + "\n",
        "sex.csv": "m;any\nf;any\n", "uneven.csv": "a;g;*\nb;*;*\nc;g;*\n", "letters.csv": "v\na\nb\nc\n", "policy.yaml": POLICY, "deriving.yaml": DERIVING,
    }
    for name, text in texts.items():
        with open(name, "w") as file:
            file.write(text)
    run = lambda *words: subprocess.run([kanon, *words, "-q"], check=True)
    subprocess.run("gzip -c people.csv > packed.csv.gz", shell=True, check=True)
    run("anonymize", "people.csv", "-p", "policy.yaml", "-o", "release.csv", "--schema", "release.schema")
    run("anonymize", *PEOPLE.split(), "-k", "2", "-o", "proven.csv", "--certificate", "proof")


def command(kanon, job):
    words = job.split() + ([] if job.startswith("generate") else ["-q"])
    return [kanon] + words + ([] if job.startswith(("list", "generate")) else ["--threads", "1"])


def reset():
    for name in OUTPUTS:
        with open(name, "w") as file:
            file.write("old")
    for name in GROWING:
        if os.path.exists(name):
            os.unlink(name)


def outputs():
    found = {}
    for name in OUTPUTS:
        with open(name, "rb") as file:
            found[name] = file.read()
    return found


def torn():
    """What grows and is not whole."""
    for name, title in zip(GROWING, (b"kanon state 1", b"kanon ledger 1")):
        if not os.path.exists(name):
            continue
        with open(name, "rb") as file:
            text = file.read()
        if text and not text.startswith(title) or os.stat(name).st_mode & 0o077:
            yield name
        elif name == "o.ledger" and text and not text.endswith(b"\n"):
            yield name


def without_times(found):
    """What must be the same in every run: no seconds, no bytes; of a page only that it is whole."""
    same = dict(found)
    for page in ("o.html", "o.book"):
        same[page] = found[page] == b"old" or found[page].rstrip().endswith(b"</html>")
    times = rb'"(read|encode|search|recode|write|verify|measure|report|total|seconds|peak_bytes|bytes)": [^,\n}]*'
    json = found["o.json"]
    for several in (rb'"seconds": \{[^}]*\}', rb',?\s*"(progress|proven)": \[[^\]]*\]'):  # of which one is called bound
        json = re.sub(several, b"", json)
    same["o.json"] = re.sub(times, b"", json)
    same["o.csv"] = re.sub(rb",[0-9.]+,(yes|no),", rb",\1,", found["o.csv"])
    return same


def without_bound(same):
    """Without what a lower bound says; nothing else may be missing."""
    bounds = rb'"(any_)?bound": (null|\{[^}]*\}),?|"certified": [^,\n}]*'
    return {**same, "o.json": re.sub(bounds, b"", same["o.json"])}
