#!/usr/bin/env python3
"""Writes src/hierarchy/countries.def: countries, their regions and continents, from CLDR's containment of territories.

    tools/make_countries.py [FOLDER] > src/hierarchy/countries.def

FOLDER is CLDR's `common`, by default where Debian's package unicode-cldr-core puts it. Names are English, with CLDR's
alternatives; codes are those of ISO 3166.
"""
import sys
import xml.etree.ElementTree as tree
from pathlib import Path

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/unicode/cldr/common")
facts = tree.parse(folder / "supplemental/supplementalData.xml").getroot()
english = tree.parse(folder / "main/en.xml").getroot()

parent = {}
for group in facts.find("territoryContainment"):
    if group.get("status") is None and group.get("grouping") is None:
        parent.update({code: group.get("type") for code in group.get("contains").split()})
names = {}
for name in english.find("localeDisplayNames/territories"):
    names.setdefault(name.get("type"), []).append(name.text)
codes = {entry.get("type"): entry for entry in facts.find("codeMappings") if entry.get("alpha3")}

LICENCE = """\
/* Countries: two and three letters of ISO 3166, English names, region, continent. Made by tools/make_countries.py from the
 * Unicode Common Locale Data Repository (CLDR), under this licence:
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
 *   KN_COUNTRY(two letters, three letters, names parted by '|', region, continent) */
// clang-format off"""

print(LICENCE)
for code in sorted(codes):
    region = parent.get(code)
    continent = parent.get(region)
    if len(code) != 2 or continent is None or code not in names:
        continue
    here = list(dict.fromkeys(names[code]))
    print(f'KN_COUNTRY("{code}", "{codes[code].get("alpha3")}", "{"|".join(here)}", "{names[region][0]}", "{names[continent][0]}")')
