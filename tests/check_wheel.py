#!/usr/bin/env python3
"""check_wheel.py VENV SOURCE WORK KANON: builds the wheel of SOURCE with the tools in VENV, keeping what it compiles in WORK,
and installs it into clean environments of every Python from 3.11 on that is on the machine, where it must release what
the program KANON does. Exit 77, which Meson counts as skipped, without VENV."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

venv, source, work, program = (pathlib.Path(argument).resolve() for argument in sys.argv[1:5])
if not (venv / "installed.txt").exists():
    reason = venv / "reason"
    print("skipped:", reason.read_text().strip() if reason.exists() else f"`make test` makes {venv}")
    sys.exit(77)


def run(*words, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


folder = pathlib.Path(tempfile.mkdtemp())
environment = {**os.environ, "PATH": f"{venv / 'bin'}:{os.environ['PATH']}"}
run(venv / "bin/pip", "wheel", source, "-w", folder, "--no-deps", "--no-build-isolation", "--no-index", "-q",
    f"-Cbuilddir={work}", "-Csetup-args=-Doptimization=0", env=environment)
wheel, = folder.glob("*.whl")
assert re.fullmatch(r"kanon-[0-9.]+-cp311-abi3-linux_\w+\.whl", wheel.name), wheel.name

with zipfile.ZipFile(wheel) as archive:
    names = archive.namelist()
    archive.extract("kanon/_kanon.abi3.so", folder)
    about = archive.read(next(name for name in names if name.endswith("METADATA"))).decode()
outside = [name for name in names if not name.startswith(("kanon/", "kanon-"))]
assert not outside, outside
assert {"kanon/py.typed", "kanon/_functions.pyi", "kanon/__init__.py", "kanon/results.pyi"} <= set(names), names
needed = [line for line in about.splitlines() if line.startswith("Requires-Dist") and "extra ==" not in line]
assert not needed, needed
libraries = set(re.findall(r"NEEDED.*\[(\S+?)\.so", run("readelf", "-d", folder / "kanon/_kanon.abi3.so")))
assert libraries <= {"libc", "libm", "libpthread", "ld-linux-x86-64", "ld-linux-aarch64"}, libraries
print(f"ok - {wheel.name}: {wheel.stat().st_size:,} bytes, needs {', '.join(sorted(libraries))} and no package")

people = folder / "people.csv"
people.write_text("age,zip,illness\n" + "".join(f"{20 + i * 7 % 40},{8000 + i % 3},{'flu' if i % 4 else 'gout'}\n"
                                                for i in range(50)))
run(program, "anonymize", people, "--qi", "age,zip", "--sensitive", "illness", "-k", "3", "-q", "-o", folder / "release.csv")
smoke = folder / "smoke.py"
smoke.write_text(f"""
import sys, warnings
warnings.simplefilter("ignore")
import kanon
assert kanon.__file__.startswith(sys.prefix), kanon.__file__
release = kanon.anonymize({str(people)!r}, qi=["age", "zip"], sensitive="illness", k=3)
assert release.to_csv() == open({str(folder / 'release.csv')!r}).read()
columns = dict(zip(("age", "zip", "illness"), zip(*(line.split(",") for line in open({str(people)!r}).read().split()[1:]))))
assert kanon.anonymize(columns, qi=["age", "zip"], sensitive="illness", k=3).to_dict() == release.to_dict()
assert kanon.verify(release, original=columns, qi=["age", "zip"], sensitive="illness", k=3)
assert "algorithms" in kanon.list("algorithms").facts and len(kanon.anonymize.__doc__) > 1000
""")

found = {}
for name in ["python3", *(f"python3.{minor}" for minor in range(11, 20)),
             *pathlib.Path.home().glob(".pyenv/versions/3.*/bin/python3")]:
    path = shutil.which(str(name))
    if path is None:
        continue
    asked = subprocess.run([path, "-c", "import sys, venv; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True)
    version = tuple(map(int, asked.stdout.split("."))) if asked.returncode == 0 else (0, 0)
    if version >= (3, 11):
        found.setdefault(version, path)
for version, path in sorted(found.items()):
    clean = folder / f"clean{version[1]}"
    run(path, "-m", "venv", "--without-pip", clean)
    run(venv / "bin/pip", "--python", clean / "bin/python", "install", "--no-index", "-q", wheel)
    run(clean / "bin/python", "-I", "-W", "error", smoke)
    print(f"ok - Python {version[0]}.{version[1]}")
shutil.rmtree(folder)
