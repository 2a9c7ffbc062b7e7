#!/usr/bin/env python3
"""What a report says again in its own language is a sentence with an id (src/base/sentence.h), never English text.

Nobody appends text to a list of warnings; every id of sentences.def is said somewhere and has its text in every
language, under the same id and in the same order. The arguments are compared in tests/test_report.c."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
TEXT_AS_WARNING = re.compile(r"kn_buffer_(?:printf|text|append|char)\(&?[\w>.-]*warnings\b")


def ids_of(catalogue):
    return re.findall(r"^KN_SENTENCE\((\w+),", catalogue, re.M)


def failures_of(name, text):
    return [f"{name}: a warning is a sentence, not text: {found}" for found in TEXT_AS_WARNING.findall(text)]


english = ids_of((root / "src/base/sentences.def").read_text())
failures, said = [], set()
for path in sorted((root / "src").rglob("*.[ch]")):
    text = path.read_text()
    said |= set(re.findall(r"\bKN_SAY_(\w+)", text))
    failures += failures_of(path, text)
failures += [f"sentences.def: nobody says {name}" for name in english if name not in said]
for path in sorted((root / "src/report").glob("sentences_*.def")):
    if ids_of(path.read_text()) != english:
        failures.append(f"{path}: other ids, or in another order: {sorted(set(ids_of(path.read_text())) ^ set(english))}")

# The check must be able to fail.
assert failures_of("x.c", 'kn_buffer_text(&input->warnings, "beware\\n");')
assert not failures_of("x.c", "kn_sentences_add(&input->warnings, kn_said(KN_SAY_ORDER_INPUT));")
print(*failures, sep="\n")
print(f"{len(english)} sentences looked at, {len(failures)} failures")
sys.exit(1 if failures or not english else 0)
