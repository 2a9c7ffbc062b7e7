// clang-format off
/* Classifications that everybody shares: countries, ICD-10, NACE, postal codes. Their labels are facts, the same for every table.
 *
 *   country  Germany, DE or DEU -> Western Europe -> Europe -> *   CLDR's containment of territories, countries.def
 *   icd10    J45.1 -> J45 -> J40-J47 -> J00-J99 -> *              category, block, chapter, as ranges
 *   nace     62.01 -> 62.0 -> 62 -> section J -> *                group, division, section of NACE Rev. 2
 *   postcode 02139-4307 -> 02139 -> 021** -> 0****                the parts of a code that have a meaning, whatever its
 *            SW1A 1AA -> SW1A 1 -> SW1A -> SW                     length and however it is written: of the United
 *            K1A 0B1 -> K1A *** -> K1* *** -> K** ***             States, the United Kingdom, Canada
 *            1012 AB -> 1012 ** -> 10** ** -> 1*** **             and the Netherlands
 *
 * What is no country or code (typos) is below `other`, so that it does not hold the rest back. `auto` takes one of them
 * only where the column's name says so and at least 99 % of its cells fit; postal codes also must be of one country and
 * not all be mere digits of one length, as mask(right) takes them. The ranges of ICD-10 are those of the World
 * Health Organization's tenth revision (2019); a category outside of all blocks, as national versions have, has its
 * chapter's range for a block. */
// clang-format on
#include "hierarchy/builders.h"

#include "base/fold.h"
#include "table/names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { MAX_LABELS = 3, LABEL_BYTES = 64, NAME_BYTES = 256 };
static const double NEARLY_ALL = 0.99;

typedef char label_row[MAX_LABELS][LABEL_BYTES];
/* The labels above a value; false: it is not of the classification. */
typedef bool labels_fn(label_row out, const char *bytes, size_t n);

static void trim(const char **bytes, size_t *n)
{
    while (*n > 0 && (**bytes == ' ' || **bytes == '\t')) ++*bytes, --*n;
    while (*n > 0 && ((*bytes)[*n - 1] == ' ' || (*bytes)[*n - 1] == '\t')) --*n;
}

/* --- Countries ---------------------------------------------------------------------------------------------------- */

static const struct country {
    const char *two, *three, *names, *region, *continent; /* names are plain, each between two bars */
} countries[] = {
#define KN_COUNTRY(two, three, names, region, continent) {two, three, names, region, continent},
#include "hierarchy/countries.def"
#undef KN_COUNTRY
};

/* Small letters without blanks and marks; & is and. False: too long for a name. */
static bool plain_name(char out[NAME_BYTES], const char *bytes, size_t n)
{
    char folded[NAME_BYTES];
    size_t to = 0;
    if (n >= NAME_BYTES / 3) return false;
    n = kn_fold(folded, bytes, n);
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)folded[i];
        if (c == '&') to += (size_t)snprintf(out + to, NAME_BYTES - to, "and");
        else if (isalnum(c) || c >= 0x80) out[to++] = folded[i];
    }
    out[to] = '\0';
    return to > 1;
}

static bool is_plain(const char *name, const char *plain)
{
    char own[NAME_BYTES];
    return plain_name(own, name, strlen(name)) && strcmp(own, plain) == 0;
}

/* A region or continent that the data has for a country is that region. */
static bool region_labels(label_row out, const char *plain)
{
    for (size_t i = 0; i < sizeof countries / sizeof *countries; i++) {
        const bool is_continent = is_plain(countries[i].continent, plain);
        if (!is_continent && !is_plain(countries[i].region, plain)) continue;
        snprintf(out[0], LABEL_BYTES, "%s", is_continent ? countries[i].continent : countries[i].region);
        snprintf(out[1], LABEL_BYTES, "%s", countries[i].continent);
        return true;
    }
    return false;
}

static bool country_labels(label_row out, const char *bytes, size_t n)
{
    char plain[NAME_BYTES], between[NAME_BYTES + 2];
    trim(&bytes, &n);
    if (!plain_name(plain, bytes, n)) return false;
    snprintf(between, sizeof between, "|%s|", plain);
    for (size_t i = 0; i < sizeof countries / sizeof *countries; i++) {
        const struct country *country = &countries[i];
        const bool is_code = (n == 2 && strncasecmp(bytes, country->two, 2) == 0) ||
                             (n == 3 && strncasecmp(bytes, country->three, 3) == 0);
        if (!is_code && strstr(country->names, between) == NULL) continue;
        snprintf(out[0], LABEL_BYTES, "%s", country->region);
        snprintf(out[1], LABEL_BYTES, "%s", country->continent);
        return true;
    }
    return region_labels(out, plain);
}

/* --- ICD-10 ------------------------------------------------------------------------------------------------------- */

// clang-format off
static const char *const chapters[] = {
    "A00-B99", "C00-D48", "D50-D89", "E00-E90", "F00-F99", "G00-G99", "H00-H59", "H60-H95", "I00-I99", "J00-J99", "K00-K93",
    "L00-L99", "M00-M99", "N00-N99", "O00-O99", "P00-P96", "Q00-Q99", "R00-R99", "S00-T98", "U00-U99", "V01-Y98", "Z00-Z99"};
static const char *const blocks[] = {
    "A00-A09", "A15-A19", "A20-A28", "A30-A49", "A50-A64", "A65-A69", "A70-A74", "A75-A79", "A80-A89", "A90-A99", "B00-B09",
    "B15-B19", "B20-B24", "B25-B34", "B35-B49", "B50-B64", "B65-B83", "B85-B89", "B90-B94", "B95-B98", "B99-B99", "C00-C14",
    "C15-C26", "C30-C39", "C40-C41", "C43-C44", "C45-C49", "C50-C50", "C51-C58", "C60-C63", "C64-C68", "C69-C72", "C73-C75",
    "C76-C80", "C81-C96", "C97-C97", "D00-D09", "D10-D36", "D37-D48", "D50-D53", "D55-D59", "D60-D64", "D65-D69", "D70-D77",
    "D80-D89", "E00-E07", "E10-E14", "E15-E16", "E20-E35", "E40-E46", "E50-E64", "E65-E68", "E70-E90", "F00-F09", "F10-F19",
    "F20-F29", "F30-F39", "F40-F48", "F50-F59", "F60-F69", "F70-F79", "F80-F89", "F90-F98", "F99-F99", "G00-G09", "G10-G14",
    "G20-G26", "G30-G32", "G35-G37", "G40-G47", "G50-G59", "G60-G64", "G70-G73", "G80-G83", "G90-G99", "H00-H06", "H10-H13",
    "H15-H22", "H25-H28", "H30-H36", "H40-H42", "H43-H45", "H46-H48", "H49-H52", "H53-H54", "H55-H59", "H60-H62", "H65-H75",
    "H80-H83", "H90-H95", "I00-I02", "I05-I09", "I10-I15", "I20-I25", "I26-I28", "I30-I52", "I60-I69", "I70-I79", "I80-I89",
    "I95-I99", "J00-J06", "J09-J18", "J20-J22", "J30-J39", "J40-J47", "J60-J70", "J80-J84", "J85-J86", "J90-J94", "J95-J99",
    "K00-K14", "K20-K31", "K35-K38", "K40-K46", "K50-K52", "K55-K64", "K65-K67", "K70-K77", "K80-K87", "K90-K93", "L00-L08",
    "L10-L14", "L20-L30", "L40-L45", "L50-L54", "L55-L59", "L60-L75", "L80-L99", "M00-M25", "M30-M36", "M40-M54", "M60-M79",
    "M80-M94", "M95-M99", "N00-N08", "N10-N16", "N17-N19", "N20-N23", "N25-N29", "N30-N39", "N40-N51", "N60-N64", "N70-N77",
    "N80-N98", "N99-N99", "O00-O08", "O10-O16", "O20-O29", "O30-O48", "O60-O75", "O80-O84", "O85-O92", "O94-O99", "P00-P04",
    "P05-P08", "P10-P15", "P20-P29", "P35-P39", "P50-P61", "P70-P74", "P75-P78", "P80-P83", "P90-P96", "Q00-Q07", "Q10-Q18",
    "Q20-Q28", "Q30-Q34", "Q35-Q37", "Q38-Q45", "Q50-Q56", "Q60-Q64", "Q65-Q79", "Q80-Q89", "Q90-Q99", "R00-R09", "R10-R19",
    "R20-R23", "R25-R29", "R30-R39", "R40-R46", "R47-R49", "R50-R69", "R70-R79", "R80-R82", "R83-R89", "R90-R94", "R95-R99",
    "S00-S09", "S10-S19", "S20-S29", "S30-S39", "S40-S49", "S50-S59", "S60-S69", "S70-S79", "S80-S89", "S90-S99", "T00-T07",
    "T08-T14", "T15-T19", "T20-T32", "T33-T35", "T36-T50", "T51-T65", "T66-T78", "T79-T79", "T80-T88", "T90-T98", "U00-U49",
    "U82-U85", "V01-V99", "W00-W19", "W20-W49", "W50-W64", "W65-W74", "W75-W84", "W85-W99", "X00-X09", "X10-X19", "X20-X29",
    "X30-X39", "X40-X49", "X50-X57", "X58-X59", "X60-X84", "X85-Y09", "Y10-Y34", "Y35-Y36", "Y40-Y84", "Y85-Y89", "Y90-Y98",
    "Z00-Z13", "Z20-Z29", "Z30-Z39", "Z40-Z54", "Z55-Z65", "Z70-Z76", "Z80-Z99"};
// clang-format on

/* The range that a category of three characters lies in; ranges are sorted. National versions have letters in the third
 * place (C7A after C79) and chapters that end later: then the last range that begins before it, `to_end`. */
static const char *range_of(const char *const *ranges, size_t n, const char *category, bool to_end)
{
    for (size_t i = n; i-- > 0;)
        if (memcmp(ranges[i], category, 3) <= 0)
            return to_end || memcmp(category, ranges[i] + 4, 3) <= 0 ? ranges[i] : NULL;
    return NULL;
}

/* A letter, a digit, a digit or A or B, perhaps a dot and up to four more; marks of the cross and the star behind. */
static bool icd_labels(label_row out, const char *bytes, size_t n)
{
    char category[4] = "";
    trim(&bytes, &n);
    while (n > 3 && strchr("+*!", bytes[n - 1]) != NULL) n--;
    if (n < 3 || n > 8 || !isalpha((unsigned char)bytes[0]) || !isdigit((unsigned char)bytes[1])) return false;
    for (size_t i = 0; i < 3; i++) category[i] = (char)toupper((unsigned char)bytes[i]);
    if (!isdigit((unsigned char)category[2]) && category[2] != 'A' && category[2] != 'B') return false;
    for (size_t i = 3; i < n; i++)
        if (!isalnum((unsigned char)bytes[i]) && !(i == 3 && (bytes[i] == '.' || bytes[i] == '-')) && bytes[i] != '-')
            return false;
    const char *chapter = range_of(chapters, sizeof chapters / sizeof *chapters, category, true);
    const char *block = range_of(blocks, sizeof blocks / sizeof *blocks, category, false);
    if (chapter == NULL) return false;
    const bool is_range = n == 7 && bytes[3] == '-' && isalpha((unsigned char)bytes[4]); /* J40-J47 is no category */
    if (is_range && (block == NULL || strncasecmp(block + 4, bytes + 4, 3) != 0)) block = chapter;
    snprintf(out[0], LABEL_BYTES, "%s", is_range ? block : category);
    snprintf(out[1], LABEL_BYTES, "%s", block != NULL ? block : chapter);
    snprintf(out[2], LABEL_BYTES, "%s", chapter);
    return true;
}

/* --- NACE --------------------------------------------------------------------------------------------------------- */

static const struct {
    int first, last;
    char section;
} sections[] = {{1, 3, 'A'},   {5, 9, 'B'},   {10, 33, 'C'}, {35, 35, 'D'}, {36, 39, 'E'}, {41, 43, 'F'},
                {45, 47, 'G'}, {49, 53, 'H'}, {55, 56, 'I'}, {58, 63, 'J'}, {64, 66, 'K'}, {68, 68, 'L'},
                {69, 75, 'M'}, {77, 82, 'N'}, {84, 84, 'O'}, {85, 85, 'P'}, {86, 88, 'Q'}, {90, 93, 'R'},
                {94, 96, 'S'}, {97, 98, 'T'}, {99, 99, 'U'}};

/* A section by itself has no parts. */
static bool is_section(label_row out, const char *bytes, size_t n)
{
    const int letter = n == 1 ? toupper((unsigned char)bytes[0]) : 0;
    if (letter < 'A' || letter > 'U') return false;
    for (size_t i = 0; i < 3; i++) snprintf(out[i], LABEL_BYTES, "section %c", letter);
    return true;
}

/* [letter] dd [.] [d [d [.] [x]]]; the fifth, a digit or as in 62.01Z a letter, is a nation's own. A point behind the
 * first digit: a zero is lost, 1.11. */
static bool nace_labels(label_row out, const char *bytes, size_t n)
{
    char digits[6] = "";
    size_t n_digits = 0, i = 0;
    trim(&bytes, &n);
    if (is_section(out, bytes, n)) return true;
    if (n > 0 && isalpha((unsigned char)bytes[0])) i++;
    if (i + 2 < n && bytes[i + 1] == '.') digits[n_digits++] = '0';
    for (; i < n; i++) {
        if (bytes[i] == '.' && n_digits >= 2 && i + 1 < n) continue;
        if (n_digits == 4 && i + 1 == n && isalpha((unsigned char)bytes[i])) continue;
        if (!isdigit((unsigned char)bytes[i]) || n_digits == 5) return false;
        digits[n_digits++] = bytes[i];
    }
    if (n_digits < 2) return false;
    const int division = (digits[0] - '0') * 10 + (digits[1] - '0');
    for (size_t s = 0; s < sizeof sections / sizeof *sections; s++) {
        if (division < sections[s].first || division > sections[s].last) continue;
        snprintf(out[0], LABEL_BYTES, n_digits > 2 ? "%.2s.%.1s" : "%.2s", digits, digits + 2);
        snprintf(out[1], LABEL_BYTES, "division %.2s", digits);
        snprintf(out[2], LABEL_BYTES, "section %c", sections[s].section);
        return true;
    }
    return false;
}

/* --- Postal codes ------------------------------------------------------------------------------------------------- */

enum { POSTCODE_BYTES = 10 };
/* Of a letter a, of a digit d; everything else is itself. */
static const struct postcode_form {
    const char *form; /* without blanks and '-' between the parts */
    char country;     /* UK: 'G' */
    size_t n_first;   /* characters of the first part */
    bool is_mere;     /* digits as in many countries, or only a first part that could be another country's */
} postcode_forms[] = {{"ddddd", 'U', 5, true},    {"ddddddddd", 'U', 5, false}, {"dddd", 'N', 4, true},
                      {"ddddaa", 'N', 4, false},  {"ada", 'C', 3, true},        {"adadad", 'C', 3, false},
                      {"ad", 'G', 2, false},      {"add", 'G', 3, false},       {"aad", 'G', 3, false},
                      {"aadd", 'G', 4, false},    {"aada", 'G', 4, false},      {"addaa", 'G', 2, false},
                      {"adddaa", 'G', 3, false},  {"aaddaa", 'G', 3, false},    {"adadaa", 'G', 3, false},
                      {"aadddaa", 'G', 4, false}, {"aadadaa", 'G', 4, false}};

/* The code in large letters, its parts next to each other; NULL: it is none. */
static const struct postcode_form *read_postcode(char plain[POSTCODE_BYTES], const char *bytes, size_t n)
{
    char form[POSTCODE_BYTES];
    size_t to = 0, gap = 0;
    trim(&bytes, &n);
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)bytes[i];
        if ((c == ' ' || c == '-') && gap == 0 && to > 0) {
            gap = to;
            continue;
        }
        if (!isalnum(c) || to + 1 == POSTCODE_BYTES) return NULL;
        form[to] = isdigit(c) ? 'd' : 'a';
        plain[to++] = (char)toupper(c);
    }
    form[to] = plain[to] = '\0';
    for (size_t i = 0; i < sizeof postcode_forms / sizeof *postcode_forms; i++)
        if (strcmp(form, postcode_forms[i].form) == 0 && (gap == 0 || (gap == postcode_forms[i].n_first && gap < to)))
            return &postcode_forms[i];
    return NULL;
}

static bool postcode_labels(label_row out, const char *bytes, size_t n)
{
    char plain[POSTCODE_BYTES];
    const struct postcode_form *form = read_postcode(plain, bytes, n);
    if (form == NULL) return false;
    const int n_first = (int)form->n_first;
    const char *second = plain + n_first;
    switch (form->country) {
    case 'U':
        snprintf(out[0], LABEL_BYTES, "%.5s", plain);
        snprintf(out[1], LABEL_BYTES, "%.3s**", plain);
        snprintf(out[2], LABEL_BYTES, "%.1s****", plain);
        break;
    case 'G':
        snprintf(out[0], LABEL_BYTES, *second != '\0' ? "%.*s %.1s" : "%.*s", n_first, plain, second);
        snprintf(out[1], LABEL_BYTES, "%.*s", n_first, plain);
        snprintf(out[2], LABEL_BYTES, "%.*s", isalpha((unsigned char)plain[1]) ? 2 : 1, plain);
        break;
    case 'C':
        snprintf(out[0], LABEL_BYTES, "%.3s ***", plain);
        snprintf(out[1], LABEL_BYTES, "%.2s* ***", plain);
        snprintf(out[2], LABEL_BYTES, "%.1s** ***", plain);
        break;
    default:
        snprintf(out[0], LABEL_BYTES, "%.4s **", plain);
        snprintf(out[1], LABEL_BYTES, "%.2s** **", plain);
        snprintf(out[2], LABEL_BYTES, "%.1s*** **", plain);
    }
    return true;
}

/* One country's, in whose way at least one is written: 1012 may be of many. */
static bool are_postcodes(const kn_build *build)
{
    char plain[POSTCODE_BYTES], country = '\0';
    bool all_mere = true;
    for (uint32_t value = 0; value < build->n_present; value++) {
        size_t n;
        const char *bytes = kn_build_value(build, value, &n);
        const struct postcode_form *form = read_postcode(plain, bytes, n);
        if (form == NULL) continue;
        if (country != '\0' && form->country != country) return false;
        country = form->country;
        all_mere = all_mere && form->is_mere;
    }
    return !all_mere;
}

/* --- Trees -------------------------------------------------------------------------------------------------------- */

static const struct class_kind {
    const char *spec, *names; /* see kn_name_says */
    labels_fn *labels;
    uint32_t n_labels;
    bool (*suits)(const kn_build *build); /* what `auto` asks besides; NULL: nothing */
} kinds[] = {
    {"country",
     "country|countries|nation|land.|staat.|staatsang|cittadinanza|ciudadania|pays.|paese|pais.|citizenship|birthplace|"
     "herkunftsland|geburtsland|geboorteland|fodelseland|kraj.",
     country_labels, 2, NULL},
    {"icd10", "icd|diagnos|dx.|cim.|cim10|cid.|cid10", icd_labels, 3, NULL},
    {"nace", "nace|wz2008|ateco|naf.|ape.", nace_labels, 3, NULL},
    {"postcode", KN_POSTCODE_WORDS, postcode_labels, 3, are_postcodes},
};

static kn_status build_class(kn_build *build, const struct class_kind *kind, kn_error *err)
{
    kn_status status = KN_OK;
    static const char other[] = "other";
    build->paths.n_levels = kind->n_labels + 2;
    for (uint32_t value = 0; value < build->n_present; value++) {
        size_t n;
        label_row labels;
        const char *bytes = kn_build_value(build, value, &n);
        const bool fits = kind->labels(labels, bytes, n);
        KN_TRY(kn_build_leaf(build, value, err));
        for (uint32_t i = 0; i < kind->n_labels; i++) {
            const char *label = fits ? labels[i] : other;
            KN_TRY(kn_build_label(build, label, strlen(label), err));
        }
        KN_TRY(kn_build_label(build, "*", 1, err));
    }
done:
    return status;
}

kn_status kn_build_country(kn_build *build, const char *arguments, kn_error *err)
{
    return build_class(build, &kinds[0], err);
}

kn_status kn_build_icd10(kn_build *build, const char *arguments, kn_error *err)
{
    return build_class(build, &kinds[1], err);
}

kn_status kn_build_nace(kn_build *build, const char *arguments, kn_error *err)
{
    return build_class(build, &kinds[2], err);
}

kn_status kn_build_postcode(kn_build *build, const char *arguments, kn_error *err)
{
    return build_class(build, &kinds[3], err);
}

bool kn_auto_class(char spec[KN_SPEC_BYTES], const kn_build *build)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        uint64_t n_rows = 0, n_others = 0;
        if (build->column->type == KN_TYPE_DATE || !kn_name_says(build->column->name, kinds[i].names)) continue;
        for (uint32_t value = 0; value < build->n_present; value++) n_rows += build->value_rows[value];
        const double most_others = (1 - NEARLY_ALL) * (double)n_rows;
        for (uint32_t value = 0; value < build->n_present && (double)n_others <= most_others; value++) {
            size_t n;
            label_row labels;
            const char *bytes = kn_build_value(build, value, &n);
            if (!kinds[i].labels(labels, bytes, n)) n_others += build->value_rows[value];
        }
        if ((double)n_others > most_others || n_rows == 0 || (kinds[i].suits != NULL && !kinds[i].suits(build)))
            continue;
        snprintf(spec, KN_SPEC_BYTES, "%s", kinds[i].spec);
        return true;
    }
    return false;
}

bool kn_hierarchy_is_class(const char *spec)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(spec, kinds[i].spec) == 0) return true;
    return false;
}
