"""Many calls, several threads, forks, interrupts, and no file."""
import gc
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
import tracemalloc

import pyarrow
from support import ROLES, Case, people

import kanon


QUICK = {**ROLES, "k": 4, "report": False, "effort": 2000}


def resident_kb():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


class Many(Case):
    def test_ten_thousand_calls_leave_nothing(self):
        data = {"a": ["1", "1", "2", "2"], "b": [1.5, 1.5, None, 2.5], "c": [1, 1, 1, 1]}
        table = pyarrow.table({"a": ["1", "1", "2", "2"]})

        def calls(n):
            for i in range(n):
                release = kanon.anonymize(data, qi="a", insensitive="b,c", k=2, threads=1, report=False, algorithm="mondrian")
                release.to_csv()
                if i % 10 == 0:
                    release.to_arrow()
                    kanon.verify(table, qi="a", k=2, threads=1)
                    for options in ({"k": 9}, {"qi": "x", "k": 2}, {"kk": 2}):
                        try:
                            kanon.anonymize(table, **{"qi": "a", **options}, threads=1)
                        except kanon.KanonError:
                            pass
                    kanon.Policy(qi="a", k=2)

        calls(500)
        gc.collect()
        before_kb = resident_kb()
        calls(8500)
        gc.collect()
        self.assertLess(resident_kb() - before_kb, 4000)  # 8500 times a leak of one kilobyte would be 8500
        tracemalloc.start()  # what Python holds, object by object; it makes calls slow
        calls(100)
        before = tracemalloc.take_snapshot()
        calls(900)
        gc.collect()
        grown = sum(line.size_diff for line in tracemalloc.take_snapshot().compare_to(before, "filename"))
        tracemalloc.stop()
        self.assertLess(grown, 20_000)  # 900 times the smallest object would be 25,000

    def test_streams_that_nobody_reads_are_released(self):
        release = kanon.anonymize({"a": ["x" * 100_000] * 10}, qi="a", k=2)
        before = resident_kb()
        for _ in range(2000):
            release.__arrow_c_stream__()
        self.assertLess(resident_kb() - before, 4000)


class Threads(Case):
    def test_calls_at_once_give_what_each_gives_alone(self):
        tables = [people(100, seed) for seed in range(8)]
        alone = [kanon.anonymize(table, **QUICK).to_csv() for table in tables]
        found = [None] * len(tables)

        def run(i):
            for _ in range(2):
                found[i] = kanon.anonymize(tables[i], **QUICK).to_csv()

        threads = [threading.Thread(target=run, args=(i,)) for i in range(len(tables))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, alone)

    def test_one_table_serves_several_threads(self):
        table = pyarrow.table(people(300))
        expected = kanon.anonymize(table, **QUICK)
        found = []
        threads = [threading.Thread(target=lambda: found.append(
            (kanon.anonymize(table, **QUICK).to_csv(), expected.to_csv()))) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [(expected.to_csv(), expected.to_csv())] * 6)

    def test_other_threads_run_meanwhile(self):
        done, ticks = threading.Event(), []

        def tick():
            while not done.wait(0.005):
                ticks.append(time.perf_counter())

        thread = threading.Thread(target=tick)
        thread.start()
        began = time.perf_counter()
        kanon.anonymize(people(4000), **ROLES, k=5, threads=1)
        ended = time.perf_counter()
        done.set()
        thread.join()
        longest = max(b - a for a, b in zip([began, *ticks], [*ticks, ended]))
        self.assertGreater(len(ticks), 3)
        self.assertLess(longest, (ended - began) / 2)  # held by one call, the GIL would stop them all the time


class Forks(Case):
    def child(self, work):
        """True when `work` said so in a child."""
        process = os.fork()
        if process == 0:
            code = 1
            try:
                code = 0 if work() else 2
            finally:
                os._exit(code)
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0

    def test_a_child_anonymizes_while_a_thread_of_its_parent_does(self):
        table = people(200)
        expected = kanon.anonymize(table, **QUICK).to_csv()
        stop = threading.Event()

        def busy():
            while not stop.is_set():
                kanon.anonymize(table, **QUICK)

        thread = threading.Thread(target=busy)
        thread.start()
        try:
            for _ in range(4):
                self.assertTrue(self.child(lambda: kanon.anonymize(table, **QUICK).to_csv() == expected))
        finally:
            stop.set()
            thread.join()

    def test_a_release_of_the_parent_lives_in_the_child(self):
        release = kanon.anonymize(people(), **ROLES, k=4)
        self.assertTrue(self.child(lambda: release.to_arrow().num_rows == 60))

    def test_nothing_touches_the_disk(self):
        table = people()

        def work():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
            os.environ["TMPDIR"] = "/nonexistent"
            release = kanon.anonymize(table, **ROLES, k=4, report=False)
            return kanon.verify(release, original=table, **ROLES, k=4) and release.to_csv()

        self.assertTrue(self.child(work))
        write = lambda: kanon.anonymize(table, **ROLES, k=4, output=self.folder / "release.csv")
        self.assertTrue(self.child(write))

        def refused():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
            return write()

        self.assertFalse(self.child(refused))  # the limit would have been noticed


SLOW = """
import kanon, random, sys, warnings
warnings.simplefilter("ignore")
draw = random.Random(1)
table = {name: [str(draw.randrange(40)) for _ in range(20000)] for name in "abcdefgh"}
told = set()
def progress(stage, fraction):
    first = stage not in told
    told.add(stage)  # before the line is out: what it sets off may interrupt this very function
    if stage == "search" and first:
        print("searching", flush=True)
try:
    release = kanon.anonymize(table, qi=list(table), k=5, on_interrupt=sys.argv[1], report=False, time_limit=120, progress=progress)
    print("released", release.stopped, bool(kanon.verify(release, original=table, qi=list(table), k=5)))
except kanon.Interrupted:
    print("interrupted")
except KeyboardInterrupt:
    print("raised")
"""


def slow_table():
    draw = random.Random(1)
    return {name: [str(draw.randrange(40)) for _ in range(5000)] for name in "abcdefgh"}


class Interrupts(Case):
    def interrupted(self, how):
        """What it printed, and the seconds of a processor that it took in all: others may keep the machine busy."""
        before = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        process = subprocess.Popen([sys.executable, "-c", SLOW, how], stdout=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "searching\n")
        process.send_signal(signal.SIGINT)
        answer = process.communicate(timeout=110)[0].strip()
        return answer, sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - before

    def test_ctrl_c_raises(self):
        answer, seconds = self.interrupted("raise")
        self.assertEqual(answer, "raised")
        self.assertLess(seconds, 5)

    def test_ctrl_c_returns_the_best_release_so_far(self):
        self.assertEqual(self.interrupted("best")[0], "released interrupt True")

    def test_ctrl_c_may_come_while_the_progress_function_runs(self):
        pressed = []

        def press(stage, fraction):
            if stage == "search" and not pressed:
                pressed.append(stage)
                signal.raise_signal(signal.SIGINT)

        table = slow_table()
        release = kanon.anonymize(table, qi=list(table), k=5, report=False, time_limit=60, progress=press, on_interrupt="best")
        self.assertEqual((release.stopped, pressed), ("interrupt", ["search"]))
        pressed.clear()
        with self.assertRaises(KeyboardInterrupt):
            kanon.anonymize(table, qi=list(table), k=5, report=False, time_limit=60, progress=press)

    def test_a_time_limit_returns_the_best_release_so_far(self):
        table = slow_table()
        release = kanon.anonymize(table, qi=list(table), k=5, time_limit=1, report=False)
        self.assertEqual(release.stopped, "time")
        self.assertTrue(kanon.verify(release, original=table, qi=list(table), k=5))

    def test_progress_is_told_and_can_stop(self):
        told = []
        table = people(3000)
        kanon.anonymize(table, **ROLES, k=5, progress=lambda stage, fraction: told.append((stage, fraction)))
        self.assertTrue(all(isinstance(stage, str) and fraction <= 1 for stage, fraction in told))
        with self.assertRaises(kanon.Interrupted):
            kanon.anonymize(table, **ROLES, k=5, report=False, progress=lambda stage, fraction: True)

    def test_what_the_progress_function_raises_arrives(self):
        def fail(stage, fraction):
            raise LookupError(stage)

        with self.assertRaises(LookupError):
            kanon.anonymize(people(3000), **ROLES, k=5, progress=fail)

    def test_a_bar_is_drawn_with_and_without_tqdm(self):
        code = ("import sys; sys.modules['tqdm'] = None if sys.argv[1] == 'plain' else __import__('tqdm'); "
                "sys.modules.setdefault('tqdm.auto', None) if sys.argv[1] == 'plain' else None\n"
                "import kanon\nkanon.anonymize({'a': [str(i) for i in range(5000)]}, qi='a', k=5, release_values={'a': 'yes'}, "
                "report=False, time_limit=0.5, progress=True)")
        for how in ("plain", "tqdm"):
            done = subprocess.run([sys.executable, "-c", code, how], capture_output=True, text=True, check=True)
            self.assertIn("%", done.stderr, how)
