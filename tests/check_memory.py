#!/usr/bin/env python3
"""Every command with every allocation of the process failing in turn, the C library's own included.

    check_memory.py KANON FAIL_MALLOC_SO

A run either ends with exit code 4 and every output as it was, or as if nothing had failed (where somebody could do
without the memory) with the very outputs of a run that had all of it; the lower bound alone may be missing, and then
the JSON says that memory was. Nothing is left behind. Prints TAP.
"""
import os
import re
import subprocess
import sys
import tempfile

kanon, preload = (os.path.abspath(path) for path in sys.argv[1:])
OUTPUTS = ["o.csv", "o.json", "o.schema", "o.html"]
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
ALL = "-o o.csv --json o.json --report o.html"
JOBS = [
    f"anonymize people.csv -p policy.yaml {ALL} --schema o.schema",
    "anonymize people.csv -k 3 --qi age,sex --sensitive ill --algorithm mondrian -o o.csv --json o.json",
    "verify release.csv --original people.csv -p policy.yaml --json o.json",
    "measure people.csv release.csv -p policy.yaml --json o.json",
    f"lattice people.csv -p policy.yaml {ALL}",
    "risk people.csv --qi age,sex --sensitive ill --population 0.1 --attack population.csv --json o.json --report o.html",
    f"compare people.csv --qi age,sex --sensitive ill -k 2,3 --algorithms optimal,mondrian {ALL}",
    "profile people.csv -o o.csv --json o.json",
    "check people.csv -p policy.yaml --json o.json",
    "list models --json o.json",
    "hierarchy make people.csv --hierarchy age=intervals(5,10,50) -o o.csv",
    "hierarchy show sex.csv -o o.csv",
]


def write_inputs():
    people = [f"{20 + i % 7 * 5},{10000 + i % 4 * 111},{'mf'[i % 2]}" for i in range(60)]
    rows = [f"{row},{'abc'[i % 3]}" for i, row in enumerate(people[:24])]
    for name, text in [("people.csv", "\n".join(["age,zip,sex,ill"] + rows) + "\n"),
                       ("population.csv", "\n".join(["age,zip,sex"] + people) + "\n"),
                       ("sex.csv", "m;any\nf;any\n"), ("policy.yaml", POLICY)]:
        with open(name, "w") as file:
            file.write(text)
    subprocess.run([kanon, "anonymize", "people.csv", "-p", "policy.yaml", "-q", "-o", "release.csv"], check=True)


def run(job, **environment):
    for name in OUTPUTS:
        with open(name, "w") as file:
            file.write("old")
    words = job.split() + ["-q"] + ([] if job.startswith("list") else ["--threads", "1"])
    return subprocess.run([kanon] + words, env={**os.environ, "LD_PRELOAD": preload, **environment},
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def outputs():
    found = {}
    for name in OUTPUTS:
        with open(name, "rb") as file:
            found[name] = file.read()
    return found


def without_times(found):
    """What must be the same in every run: no seconds, no bytes; of a page only that it is whole."""
    same = dict(found)
    same["o.html"] = found["o.html"] == b"old" or found["o.html"].rstrip().endswith(b"</html>")
    times = rb'"(read|encode|search|recode|write|verify|measure|report|total|seconds|peak_bytes|bytes)": [^,\n}]*'
    seconds = re.search(rb'"seconds": \{[^}]*\}', found["o.json"])
    if seconds:  # of which one is called bound
        found = {**found, "o.json": found["o.json"].replace(seconds.group(), b"")}
    same["o.json"] = re.sub(times, b"", found["o.json"])
    same["o.csv"] = re.sub(rb",[0-9.]+,(yes|no),", rb",\1,", found["o.csv"])
    return same


def without_bound(same):
    bounds = rb'"(any_)?bound": (null|\{[^}]*\}),?'
    return {**same, "o.json": re.sub(bounds, b"", same["o.json"])}


def faults(job):
    before = set(os.listdir())
    whole = run(job, FAIL_COUNT="count")
    expected = without_times(outputs())
    with open("count") as file:
        n_allocations = int(file.read())
    os.unlink("count")
    for nth in range(1, n_allocations + 1):
        done = run(job, FAIL_AT=str(nth))
        found = outputs()
        said = f"allocation {nth}: exit {done.returncode}: {done.stderr.decode(errors='replace').strip()}"
        if done.returncode == whole.returncode:
            same, wanted = without_times(found), expected
            if b'"reason": "there was not enough memory"' in found["o.json"]:
                same, wanted = without_bound(same), without_bound(wanted)
            if same != wanted:
                yield f"{said}: the outputs differ"
        elif done.returncode != 4:
            yield said
        elif any(bytes_ != b"old" for bytes_ in found.values()):
            yield f"{said}: an output was replaced"
        left = set(os.listdir()) - before - set(OUTPUTS)
        if left:
            yield f"{said}: left {left}"
            return


def main():
    failures = 0
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # no disk to wait for
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        os.chdir(folder)
        os.environ["TMPDIR"] = folder
        write_inputs()
        for name in OUTPUTS:
            open(name, "w").close()
        for number, job in enumerate(JOBS, 1):
            found = list(faults(job))
            failures += bool(found)
            print(f"{'not ok' if found else 'ok'} {number} - {job}", *found[:10], sep="\n#   ", flush=True)
        os.chdir("/")
    print(f"1..{len(JOBS)}")
    sys.exit(1 if failures else 0)


main()
