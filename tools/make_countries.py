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

# What the United Nations, ISO 3166 and the World Bank call them in English, and people: CLDR has one or two of these.
ALSO = {
    "AE": ["UAE"], "BN": ["Brunei Darussalam"], "BO": ["Plurinational State of Bolivia", "Bolivia, Plurinational State of"],
    "BS": ["Bahamas, The", "The Bahamas"], "CD": ["Democratic Republic of the Congo", "Democratic Republic of Congo",
    "Congo, Democratic Republic of the", "Congo, The Democratic Republic of the", "Congo, Dem. Rep.", "DR Congo", "DRC", "Zaire"],
    "CG": ["Congo", "Congo, Rep.", "Republic of the Congo", "Congo, Republic of the"], "CI": ["Cote d'Ivoire"],
    "CV": ["Cabo Verde", "Cape Verde"], "CZ": ["Czech Republic"], "EG": ["Egypt, Arab Rep.", "Arab Republic of Egypt"],
    "FK": ["Falkland Islands (Malvinas)"], "FM": ["Micronesia, Fed. Sts.", "Federated States of Micronesia",
    "Micronesia (Federated States of)", "Micronesia, Federated States of"], "GB": ["Great Britain", "England", "Scotland", "Wales",
    "Northern Ireland", "United Kingdom of Great Britain and Northern Ireland"], "GM": ["Gambia, The", "The Gambia"],
    "HK": ["Hong Kong, China", "Hong Kong SAR"], "IR": ["Iran, Islamic Rep.", "Islamic Republic of Iran", "Iran, Islamic Republic of",
    "Iran (Islamic Republic of)"], "KG": ["Kyrgyz Republic"], "KN": ["St. Kitts and Nevis", "Saint Kitts and Nevis"],
    "KP": ["Korea, Dem. Rep.", "Korea, Dem. People's Rep.", "Democratic People's Republic of Korea",
    "Korea, Democratic People's Republic of", "Dem. People's Republic of Korea"],
    "KR": ["Korea, Rep.", "Republic of Korea", "Korea, Republic of", "Korea"],
    "LA": ["Lao", "Lao PDR", "Lao People's Democratic Republic"], "LC": ["Saint Lucia"],
    "MD": ["Republic of Moldova", "Moldova, Republic of"], "MK": ["Macedonia", "Macedonia, FYR", "FYROM", "Republic of North Macedonia",
    "The former Yugoslav Republic of Macedonia", "Macedonia, the former Yugoslav Republic of"], "MM": ["Burma"],
    "MO": ["Macao", "Macao, China", "Macao SAR, China", "Macau"], "NL": ["The Netherlands", "Holland", "Netherlands (Kingdom of the)",
    "Kingdom of the Netherlands", "Netherlands, The"], "PH": ["The Philippines"], "PS": ["State of Palestine", "Palestine, State of",
    "West Bank and Gaza", "Palestinian Territory, Occupied", "Occupied Palestinian Territory"], "RU": ["Russian Federation"],
    "SK": ["Slovak Republic"], "ST": ["Sao Tome and Principe"], "SY": ["Syrian Arab Republic"], "SZ": ["Swaziland"],
    "TL": ["East Timor"], "TR": ["Turkiye"], "TW": ["Taiwan, Province of China", "Taiwan, China", "Chinese Taipei"],
    "TZ": ["United Republic of Tanzania", "Tanzania, United Republic of"], "US": ["United States of America", "U.S.A.", "U.S."],
    "VA": ["Holy See", "Vatican", "Holy See (Vatican City State)"], "VC": ["St. Vincent and the Grenadines",
    "Saint Vincent and the Grenadines"], "VE": ["Venezuela, RB", "Bolivarian Republic of Venezuela",
    "Venezuela, Bolivarian Republic of", "Venezuela (Bolivarian Republic of)"], "VG": ["British Virgin Islands",
    "Virgin Islands, British"], "VI": ["Virgin Islands (U.S.)", "Virgin Islands, U.S.", "United States Virgin Islands"],
    "VN": ["Viet Nam"], "YE": ["Yemen, Rep."],
}

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
    found_names = list(territories(language))
    if language == "en":
        found_names += [(code, name) for code, also in ALSO.items() for name in also]
    for code, name in found_names:
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
