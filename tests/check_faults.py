#!/usr/bin/env python3
"""Every command with a system that fails it: the n-th call of a kind goes wrong, n = 1, 2, ... until the run has no such
call left; pipes whose readers left; a process that is killed at any moment.

    check_faults.py KANON FAIL_CALLS_SO [--every N] [--kills N] [--seed S] [--only WORD] [--part I/N]

What must hold whatever goes wrong: no crash; the exit code tells what happened; each output is the old one or a whole new
one, all of them old where the program says that nothing was written; nothing that others can read is left behind that
they could not read otherwise. Prints TAP.
"""
import argparse
import collections
import errno
import os
import random
import signal
import stat
import subprocess
import sys
import tempfile
import time

import fault_jobs
from fault_jobs import GROWING, OUTPUTS, outputs, without_times

parser = argparse.ArgumentParser()
parser.add_argument("kanon", type=os.path.abspath)
parser.add_argument("preload", type=os.path.abspath)
parser.add_argument("--every", type=int, default=1)
parser.add_argument("--kills", type=int, default=1000)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--only", default="", help="jobs that have this word")
parser.add_argument("--part", default="1/1", help="2/5: the second, seventh, twelfth, ... job")
options = parser.parse_args()
rng = random.Random(options.seed)

# kind of call, how it goes wrong, exit codes besides that of an undisturbed run
UNNOTICED = ()  # the run must not notice
FAULTS = [
    ("write", str(errno.ENOSPC), (3,)),
    ("write", str(errno.EIO), (3,)),
    ("write", str(errno.EINTR), UNNOTICED),
    ("write", "short", UNNOTICED),
    ("read", str(errno.EIO), (3,)),
    ("read", str(errno.EINTR), UNNOTICED),
    ("read", "short", UNNOTICED),
    ("read", "shrink", (1, 2, 3)),  # 2: a policy
    ("sync", str(errno.EIO), (3,)),
    ("sync", str(errno.ENOSPC), (3,)),
    ("name", str(errno.EIO), (3,)),
    ("open", str(errno.EIO), (3,)),
    ("open", str(errno.EMFILE), (3, 4)),
    ("thread", str(errno.EAGAIN), (4,)),
    ("memory", "interrupt", (130,)),
    ("read", "interrupt", (130,)),
    ("write", "interrupt", (130,)),
]
INPUTS = ["people.csv", "few.csv", "population.csv", "born.csv", "counted.csv", "sex.csv", "uneven.csv", "letters.csv", "policy.yaml",
          "deriving.yaml", "release.csv", "release.schema", "proven.csv", "proof", "packed.csv.gz"]
kept = {}
n_runs = collections.Counter()  # with something going wrong, by job


def keep_inputs():
    for name in INPUTS:
        if os.path.exists(name):
            with open(name, "rb") as file:
                kept[name] = file.read()


def restore_inputs():
    """True: one was shorter."""
    changed = False
    for name, text in kept.items():
        if os.stat(name).st_size != len(text):
            changed = True
            with open(name, "wb") as file:
                file.write(text)
    return changed


def run(job, n_threads="1", **environment):
    fault_jobs.reset()
    words = fault_jobs.command(options.kanon, job)
    if words[-2:] == ["--threads", "1"]:
        words[-1] = n_threads
    return subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=300,
                          env={**os.environ, "LD_PRELOAD": options.preload, **environment})


def judge(job, how, done, codes, whole, expected, shrunk):
    """What is wrong with the state that a run left, or nothing."""
    said = done.stderr.decode(errors="replace").strip()
    found = outputs()
    new = [name for name in OUTPUTS if found[name] != b"old"]
    if done.returncode == -signal.SIGINT and how == "interrupt" and not new:
        return ""  # before it had begun
    if done.returncode < 0:
        return f"died of signal {-done.returncode}"
    if done.returncode == whole.returncode and not shrunk:
        differ = [name for name in OUTPUTS if without_times(found)[name] != expected[name]]
        return f"outputs differ: {differ}" if differ else ""
    if done.returncode == whole.returncode:
        return ""
    if job.startswith("check") and done.returncode == 2:
        return ""  # it says on standard output what is wrong, and ends well
    if job.startswith("verify") and done.returncode == 1 and shrunk:
        return ""  # so does this
    if done.returncode not in codes:
        return "another exit code"
    if not said:
        return "no message"
    if done.returncode == 130 and "nothing was written" not in said:
        return ""  # a release all the same; test_faults.c verifies those
    whole_new = [name for name in new if without_times(found)[name] == expected[name]]
    if "written already" in said and sorted(new) == sorted(whole_new) and all(name in said for name in new):
        return ""
    return f"replaced {new}" if new else ""


def faults(job, kind, how, codes):
    n_threads = "2" if kind == "thread" else "1"
    whole = run(job, n_threads, FAIL_CALL=kind, FAIL_COUNT="count")
    expected = without_times(outputs())
    with open("count") as file:
        n_calls = int(file.read())
    os.unlink("count")
    before = set(os.listdir())
    every = options.every * (9 if kind == "memory" else 1)  # many, and each tells little
    for nth in range(1 + sum(job.encode()) % every, n_calls + 1, every):
        n_runs[job] += 1
        try:
            done = run(job, n_threads, FAIL_CALL=kind, FAIL_HOW=how, FAIL_AT=str(nth))
        except subprocess.TimeoutExpired:
            yield f"{kind} {nth} of {n_calls}: takes too long"
            continue
        found = judge(job, how, done, codes, whole, expected, restore_inputs())
        torn = list(fault_jobs.torn())
        left = set(os.listdir()) - before - set(OUTPUTS) - set(GROWING)
        for name in left:
            os.unlink(name)
        if found or torn or left:
            said = done.stderr.decode(errors="replace").strip()[:300]
            yield f"{kind} {nth} of {n_calls}: {found}; exit {done.returncode}; torn {torn}; left {left}: {said}"


def closed_pipes(job):
    """Standard output without a reader."""
    if " -o o.csv" not in job or job.startswith(("generate", "list")):
        return
    words = fault_jobs.command(options.kanon, job.replace("-o o.csv", "-o -"))
    for target in ("pipe", "/dev/full"):
        fault_jobs.reset()
        if target == "pipe":
            reading, writing = os.pipe()
            os.close(reading)
        else:
            writing = os.open(target, os.O_WRONLY)
        done = subprocess.run(words, stdout=writing, stderr=subprocess.PIPE)
        os.close(writing)
        new = [name for name, text in outputs().items() if text != b"old"]
        if done.returncode != 3 or new:
            yield f"{target}: exit {done.returncode}, replaced {new}: {done.stderr.decode(errors='replace').strip()}"


def kills(job, n_kills):
    """Whatever the moment: old outputs or whole new ones, and nothing for others to read."""
    fault_jobs.reset()
    before = set(os.listdir())
    began = time.monotonic()
    whole = subprocess.run(fault_jobs.command(options.kanon, job), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    took = time.monotonic() - began
    expected, raw = without_times(outputs()), outputs()
    n_tries = n_killed = 0
    while n_killed < n_kills and n_tries < 10 * n_kills:  # some come when it is over
        n_tries += 1
        fault_jobs.reset()
        process = subprocess.Popen(fault_jobs.command(options.kanon, job), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0, took))
        process.kill()
        n_killed += process.wait() == -signal.SIGKILL
        found = outputs()
        for name in OUTPUTS:
            if found[name] != b"old" and without_times(found)[name] != expected[name]:
                yield f"{name} is torn"
        for name in fault_jobs.torn():
            yield f"{name} is torn"
        for name in set(os.listdir()) - before - set(OUTPUTS) - set(GROWING):
            with open(name, "rb") as file:
                text = file.read()
            if os.stat(name).st_mode & 0o077 and text and text not in raw.values() and not text.rstrip().endswith((b"</html>", b"}")):
                yield f"left {name} with mode {stat.filemode(os.stat(name).st_mode)}"
    fault_jobs.reset()
    subprocess.run(fault_jobs.command(options.kanon, job), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    left = set(os.listdir()) - before - set(OUTPUTS) - set(GROWING)
    if left and " -o " in job:
        yield f"the next run does not clear {left}"
    for name in left:
        os.unlink(name)
    print(f"# {n_killed} killed, {n_tries - n_killed} at their end before: {job}", flush=True)


def main():
    failures = number = 0
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # no disk to wait for
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        os.chdir(folder)
        os.environ["TMPDIR"] = folder
        fault_jobs.write_inputs(options.kanon)
        jobs = [job for job, _ in fault_jobs.jobs(options.only, options.part)]
        n_all = len(fault_jobs.jobs(options.only))
        keep_inputs()
        fault_jobs.reset()
        for job in jobs:
            found = [f"{how}: {what}" for kind, how, codes in FAULTS for what in faults(job, kind, how, codes)]
            found += closed_pipes(job)
            found += kills(job, -(-options.kills // n_all))
            number += 1
            failures += bool(found)
            print(f"{'not ok' if found else 'ok'} {number} - {n_runs[job]} faults: {job}", *found[:20], sep="\n#   ", flush=True)
        os.chdir("/")
    print(f"1..{number}")
    sys.exit(1 if failures else 0)


main()
