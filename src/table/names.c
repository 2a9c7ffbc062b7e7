/* Words in the names of columns: lower case, accents and humps taken away, then words looked for. */
#include "table/names.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { MAX_NAME_BYTES = 128, LONG_WORD = 5 };

/* Lower case, without the accents of western Europe; a part of a camelCase name begins after a blank. */
static size_t plain_name(char out[MAX_NAME_BYTES], const char *name)
{
    static const char letters[] = "aaaaaaaceeeeiiiidnooooo/ouuuuyts"; /* U+00E0 .. U+00FF */
    size_t n = 0;
    for (size_t i = 0; name[i] != '\0' && n + 3 < MAX_NAME_BYTES; i++) {
        unsigned char byte = (unsigned char)name[i], next = (unsigned char)name[i + 1];
        if (byte == 0xC3 && (next & 0xC0) == 0x80) {
            if (next == 0x9F) out[n++] = 's'; /* the sharp s */
            out[n++] = next == 0x9F ? 's' : letters[next & 0x1F];
            i++;
            continue;
        }
        bool hump = i > 0 && isupper(byte) && islower((unsigned char)name[i - 1]);
        if (hump) out[n++] = ' ';
        out[n++] = (char)tolower(byte);
    }
    out[n] = '\0';
    return n;
}

static bool is_letter(char c) { return isalnum((unsigned char)c) || (c & 0x80) != 0; }

static bool word_found(const char *name, const char *word, size_t n, bool whole_part)
{
    for (const char *at = name; (at = strstr(at, word)) != NULL; at++) {
        bool begins = at == name || !is_letter(at[-1]), ends = !is_letter(at[n]);
        if (whole_part ? begins && ends : begins || n >= LONG_WORD) return true;
    }
    return false;
}

bool kn_name_says(const char *name, const char *words)
{
    char plain[MAX_NAME_BYTES], word[40];
    plain_name(plain, name);
    for (const char *at = words; *at != '\0';) {
        size_t length = strcspn(at, "|"), n = length < sizeof word ? length : sizeof word - 1;
        memcpy(word, at, n);
        word[n] = '\0';
        bool whole_part = n > 0 && word[n - 1] == '.';
        if (whole_part) word[--n] = '\0';
        if (word[0] == '=' ? strcmp(plain, word + 1) == 0 : word_found(plain, word, n, whole_part)) return true;
        at += length + (at[length] == '|');
    }
    return false;
}

bool kn_name_is_id(const char *name)
{
    static const char *const ends[] = {"_id", "_nr", "-id", "-nr", " id", " nr", ".nr", "Id", "ID", "Nr"};
    size_t n = strlen(name);
    if (kn_name_says(name, "=id|=nr|=key|uuid.|guid.|=pk|=rowid|patid|=pid|caseid|subjid|subjectid|"
                           "seqn.|personid|userid|recordid|memberid|clientid|custid|empid"))
        return true;
    while (n > 1 && (name[n - 1] == '.' || name[n - 1] == ' ')) n--; /* Pat.-Nr. */
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t n_end = strlen(ends[i]);
        bool exact = isupper((unsigned char)ends[i][0]);
        if (n > n_end && (exact ? strncmp : strncasecmp)(name + n - n_end, ends[i], n_end) == 0) return true;
    }
    return false;
}

bool kn_name_is_place(const char *name)
{
    return kn_name_says(name,
                        "site|center|centre|zentrum|hospital|krankenhaus|clinic|klinik|ward|station|department|dept|"
                        "abteilung|practice|praxis|school|schule|class|region|district|bezirk|county|country|"
                        "state|city|town|ort.|branch|filiale|study|studie|trial|product");
}

bool kn_name_is_person(const char *name)
{
    return kn_name_says(name, "patient|pat.|patid|person|pers.|persnr|subj|client|customer|member|employee|staff|user|"
                              "student|pupil|resident|participant|respondent|insured|citizen|proband|kunde|mitarbeiter|"
                              "mitglied|versicherte|schueler|paziente|paciente|cliente|mrn.|ssn.|nhs.");
}

bool kn_name_is_household(const char *name)
{
    if (kn_name_says(name,
                     "=household|=households|=hh|=hhid|=hhnr|=hhno|=hhnum|=hh_no|=hh_num|=hh_number|=family|=famid|"
                     "=familie|=haushalt|=menage|=hogar|=famiglia|household_no|household no|household_number|"
                     "household number|haushaltsnummer"))
        return true;
    return kn_name_is_id(name) && !kn_name_is_person(name) &&
           kn_name_says(name, "household|haushalt|hh.|family|familie|famille|famiglia|menage|foyer|hogar");
}

bool kn_name_is_date(const char *name)
{
    return kn_name_is_birth(name) ||
           kn_name_says(name, "date|datum|fecha|data.|admi|discharge|aufnahme|entlass|died|death");
}

bool kn_name_is_birth(const char *name)
{
    return kn_name_says(name, "birth|geburt|naissance|nascita|nascimento|nacimiento|geboorte|fodelse|fodsel|syntyma|"
                              "urodzenia|narozeni|dob|born.|geb_datum|gebdat");
}

bool kn_name_is_age(const char *name) { return kn_name_says(name, "age.|ages.|alter.|eta.|edad.|alter_"); }

bool kn_name_is_postcode(const char *name) { return kn_name_says(name, KN_POSTCODE_WORDS); }
