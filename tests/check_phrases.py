#!/usr/bin/env python3
"""Every warning that may stand in a report has a phrase in every language (src/report/phrases.h).

Warnings are written where something is noticed, in English; the reports look the sentence up. A new one that nobody
translated would stand in a German report in English: this test reads the sources and names it. What the checks of
verify/ say is read from reports of runs in tests/test_report.c."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
sources = ["src/run.c", "src/run/input.c", "src/run/copies.c", "src/policy/columns.c"]  # what feeds the warnings of a report
literals = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
call = re.compile(r"kn_buffer_(?:printf|text)\(&?[\w>.-]*warnings,\s*" + literals)


def plain(c_literals):
    """The text of adjoining C strings, with every placeholder as %."""
    text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', c_literals)).replace("\\n", "").replace('\\"', '"')
    return re.sub(r"%+", "%", re.sub(r"%(?:\.\d+)?(?:l{0,2}[uds]|z[ud]|[npsgf]|\d)", "%", text))


failures = n = 0
for path in sorted((root / "src/report").glob("phrases_*.h")):
    known = {plain(english) for english in re.findall(r"\{" + literals + ",", path.read_text(), re.M)}
    for source in sources:
        for literal in call.findall((root / source).read_text()):
            n += 1
            if plain(literal) not in known:
                failures += 1
                print(f"{path.name} has no phrase for this warning of {source}: {plain(literal)}")
if n == 0:
    sys.exit("no warnings were found: the pattern of this test no longer fits the sources")
sys.exit(1 if failures else 0)
