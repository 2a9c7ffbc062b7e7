#!/usr/bin/env python3
"""check_python.py VENV PACKAGE KANON [MODULE...]: the tests in tests/python, all or the named ones, with the package as it
was built in the folder PACKAGE, beside the program KANON, among the packages that `make test` installs into VENV. Exit
77, which Meson counts as skipped, without them."""
import os
import pathlib
import sys
import time
import unittest

venv, package, program = (pathlib.Path(argument) for argument in sys.argv[1:4])
if not (venv / "installed.txt").exists():
    reason = venv / "reason"
    print("skipped:", reason.read_text().strip() if reason.exists() else f"`make test` makes {venv}")
    sys.exit(77)
if pathlib.Path(sys.prefix).resolve() != venv.resolve():
    os.execv(venv / "bin" / "python", [str(venv / "bin" / "python"), *sys.argv])

here = pathlib.Path(__file__).resolve().parent / "python"
sys.path[:0] = [str(here), str(package.resolve())]
os.environ["PYTHONPATH"] = str(package.resolve())  # for the processes that tests start
os.environ["KANON_PROGRAM"] = str(program.resolve())
os.environ["KANON_PACKAGE"] = str(package.resolve())
import kanon  # noqa: E402

assert pathlib.Path(kanon.__file__).resolve().parent.parent == package.resolve(), kanon.__file__
modules = sys.argv[4:] or sorted(path.stem for path in here.glob("test_*.py"))


class Timed(unittest.TextTestResult):
    def startTest(self, test):
        self.began = time.perf_counter()
        super().startTest(test)

    def addSuccess(self, test):
        self.stream.write(f"{time.perf_counter() - self.began:.1f} s ")
        super().addSuccess(test)


suite = unittest.defaultTestLoader.loadTestsFromNames(modules)
ran = unittest.TextTestRunner(verbosity=2, resultclass=Timed).run(suite)
sys.exit(not ran.wasSuccessful())
