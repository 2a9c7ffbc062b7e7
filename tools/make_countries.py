#!/usr/bin/env python3
"""Writes src/hierarchy/countries.def: countries, their names, regions and continents, from CLDR's containment of territories.

    tools/make_countries.py [FOLDER] > src/hierarchy/countries.def

FOLDER is CLDR's `common`, by default where Debian's package unicode-cldr-core puts it. Codes are those of ISO 3166. Names are
plain, as auto_class.c compares them: small letters without blanks and marks, with accents and without. A name that two
countries have in different languages is nobody's, unless it is one's in English.
"""
import sys
import unicodedata
import xml.etree.ElementTree as tree
from pathlib import Path

LANGUAGES = ("bg bs ca cs da de el es et fi fr ga hr hu id is it ja ko lt lv mk mt nl no pl pt pt_PT ro ru sk sl sq sr sr_Latn sv "
             "tr uk vi zh").split()

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/unicode/cldr/common")
facts = tree.parse(folder / "supplemental/supplementalData.xml").getroot()
english = tree.parse(folder / "main/en.xml").getroot()

parent = {}
for group in facts.find("territoryContainment"):
    if group.get("status") is None and group.get("grouping") is None:
        parent.update({code: group.get("type") for code in group.get("contains").split()})


def territories(language):
    root = tree.parse(folder / f"main/{language}.xml").getroot() if language != "en" else english
    for name in root.find("localeDisplayNames/territories"):
        # ↑ stands for: as in the language it inherits from; short forms are codes in that language, and other countries' here
        if name.text and "↑" not in name.text and (language == "en" or name.get("alt") != "short"):
            yield name.get("type"), name.text


names = {}
for code, name in territories("en"):
    names.setdefault(code, []).append(name)
codes = {entry.get("type"): entry for entry in facts.find("codeMappings") if entry.get("alpha3")}

LICENCE = """\
/* Countries: two and three letters of ISO 3166, names, region, continent. Made by tools/make_countries.py from the Unicode
 * Common Locale Data Repository (CLDR), under this licence:
 *
 * UNICODE, INC. LICENSE AGREEMENT - DATA FILES AND SOFTWARE
 * COPYRIGHT AND PERMISSION NOTICE
 * Copyright (c) 1991-2022 Unicode, Inc. All rights reserved.
 * Distributed under the Terms of Use in https://www.unicode.org/copyright.html.
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy of the Unicode data files and any associated
 * documentation (the "Data Files") or Unicode software and any associated documentation (the "Software") to deal in the
 * Data Files or Software without restriction, including without limitation the rights to use, copy, modify, merge, publish,
 * distribute, and/or sell copies of the Data Files or Software, and to permit persons to whom the Data Files or Software
 * are furnished to do so, provided that either
 * (a) this copyright and permission notice appear with all copies of the Data Files or Software, or
 * (b) this copyright and permission notice appear in associated Documentation.
 *
 * THE DATA FILES AND SOFTWARE ARE PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT
 * LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT OF THIRD PARTY RIGHTS.
 * IN NO EVENT SHALL THE COPYRIGHT HOLDER OR HOLDERS INCLUDED IN THIS NOTICE BE LIABLE FOR ANY CLAIM, OR ANY SPECIAL INDIRECT
 * OR CONSEQUENTIAL DAMAGES, OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF
 * CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THE DATA
 * FILES OR SOFTWARE.
 *
 * Except as contained in this notice, the name of a copyright holder shall not be used in advertising or otherwise to
 * promote the sale, use or other dealings in these Data Files or Software without prior written authorization of the
 * copyright holder.
 *
 *   KN_COUNTRY(two letters, three letters, "|plain name|plain name|", region, continent) */
// clang-format off"""


def plain(name):
    letters = (c.lower() if len(c.lower()) == 1 else c for c in name.replace("&", "and").replace("ς", "σ"))
    return "".join(c for c in letters if c.isalnum() or not c.isascii())


def spellings(name, language):
    """As somebody may write it: marks beyond ASCII are left out, or stand there; so do accents."""
    name = "".join(c for c in name if unicodedata.category(c) != "Cf")
    letters = "".join(c for c in name if c.isascii() or unicodedata.category(c)[0] in "LM")
    bare = "".join(c for c in unicodedata.normalize("NFD", letters) if not unicodedata.combining(c))
    forms = [name, letters, bare if ord(max(letters)) < 0x2000 else letters]
    if language == "de":
        forms.append(letters.translate(str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"})))
    return [form for form in map(plain, forms) if language == "en" or len(form.encode()) > 3]


called = {}  # plain name -> the countries that have it, in English if any do
for language in ["en", *LANGUAGES]:
    more = {}
    for code, name in territories(language):
        for form in spellings(name, language) if code in codes else ():
            more.setdefault(form, set()).add(code)
    for form, found in more.items():
        if form not in called or called[form][0] != "en":
            called[form] = (language, found | (called[form][1] if form in called else set()))
plain_names = {}
for form, (_, found) in called.items():
    if len(found) == 1:
        plain_names.setdefault(min(found), []).append(form)

print(LICENCE)
for code in sorted(codes):
    region = parent.get(code)
    continent = parent.get(region)
    if len(code) != 2 or continent is None or code not in names:
        continue
    print(f'KN_COUNTRY("{code}", "{codes[code].get("alpha3")}", "|{"|".join(plain_names[code])}|", '
          f'"{names[region][0]}", "{names[continent][0]}")')
