#!/usr/bin/env python3
"""Every command with every allocation of the process failing in turn, the C library's own included.

    check_memory.py KANON FAIL_CALLS_SO [--every N] [--only WORD] [--part I/N]

A run either ends with exit code 4 and every output as it was, or as if nothing had failed (where somebody could do
without the memory) with the very outputs of a run that had all of it; the lower bound alone may be missing, and then
the JSON says that memory was. Nothing is left behind. With --every 7 the newer jobs fail one allocation in seven, others
each time; `make faults` fails all. Prints TAP.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import fault_jobs
from fault_jobs import GROWING, OUTPUTS, outputs, without_bound, without_times

parser = argparse.ArgumentParser()
parser.add_argument("kanon", type=os.path.abspath)
parser.add_argument("preload", type=os.path.abspath)
parser.add_argument("--every", type=int, default=1)
parser.add_argument("--only", default="", help="jobs that have this word")
parser.add_argument("--part", default="1/1", help="2/5: the second, seventh, twelfth, ... job")
options = parser.parse_args()


def run(job, **environment):
    fault_jobs.reset()
    return subprocess.run(fault_jobs.command(options.kanon, job), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=120,
                          env={**os.environ, "LD_PRELOAD": options.preload, "FAIL_CALL": "memory", "FAIL_HOW": "12", **environment})


def faults(job, every):
    before = set(os.listdir())
    whole = run(job, FAIL_COUNT="count")
    if whole.returncode not in (0, 1):
        yield f"exit {whole.returncode}: {whole.stderr.decode(errors='replace').strip()}"
        return
    expected = without_times(outputs())
    with open("count") as file:
        n_allocations = int(file.read())
    os.unlink("count")
    for nth in range(1 + hash_of(job) % every, n_allocations + 1, every):
        done = run(job, FAIL_AT=str(nth))
        found = outputs()
        said = f"allocation {nth}: exit {done.returncode}: {done.stderr.decode(errors='replace').strip()}"
        if done.returncode == whole.returncode:
            same, wanted = without_times(found), expected
            if b'"reason": "there was not enough memory"' in found["o.json"]:
                same, wanted = without_bound(same), without_bound(wanted)
            if same != wanted:
                yield f"{said}: the outputs differ: {[name for name in OUTPUTS if same[name] != wanted[name]]}"
        elif done.returncode != 4:
            yield said
        elif any(bytes_ != b"old" for bytes_ in found.values()):
            yield f"{said}: an output was replaced"
        for name in fault_jobs.torn():
            yield f"{said}: {name} is torn"
        left = set(os.listdir()) - before - set(OUTPUTS) - set(GROWING)
        if left:
            yield f"{said}: left {left}"
            return


def hash_of(text):
    """The same in every process."""
    return sum(text.encode())


def main():
    failures = 0
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # no disk to wait for
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        os.chdir(folder)
        os.environ["TMPDIR"] = folder
        fault_jobs.write_inputs(options.kanon)
        jobs = fault_jobs.jobs(options.only, options.part)
        fault_jobs.reset()
        for number, (job, is_first) in enumerate(jobs, 1):
            found = list(faults(job, 1 if is_first else options.every))
            failures += bool(found)
            print(f"{'not ok' if found else 'ok'} {number} - {job}", *found[:10], sep="\n#   ", flush=True)
        os.chdir("/")
    print(f"1..{len(jobs)}")
    sys.exit(1 if failures else 0)


main()
