/* Does a column point at persons by itself? Asked by `profile`, which suggests roles, and before every run, because a
 * surname that somebody calls a quasi-identifier would be released in sets of surnames.
 *
 * In: a column with its spellings. Out: what it looks like, and why. First the name, in seven languages, then the
 * cells: nine in ten of the different ones have the form of an e-mail address, a phone number, ...; then how many cells
 * have a value of their own. Birth dates, incomes and postal codes are often unique too, and no identifiers: only text
 * counts, and whole numbers that are dealt out like numbers of files. Cost: a pass over the distinct spellings. */
#include "run/column_looks.h"

#include "table/dates.h"
#include "table/number.h"
#include "table/number_marks.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#define NEARLY_ALL 0.9
#define MANY_CELLS 50 /* fewer prove nothing about uniqueness */
#define FEW_VALUES 10

/* --- Names -------------------------------------------------------------------------------------------------------- */

static const struct {
    kn_look look;
    kn_say reason;
    const char *words;
} name_looks[] = {
    {KN_LOOKS_PERSONAL, KN_SAY_NAME_OF_PERSON,
     "surname|firstname|lastname|fullname|givenname|middlename|forename|maiden|nickname|username|first name|last name|"
     "given name|middle name|next_of_kin|next of kin|emergency_contact|emergency contact|family "
     "name|first_name|last_name|given_name|middle_name|family_name|full_name|user_name|"
     "=first|=last|=middle|=fname|=lname|initials.|signature|"
     "vorname|nachname|familienname|geburtsname|rufname|unterschrift|"
     "prenom|nom de|nom_de|nomdefamille|nom.|"
     "cognome|nominativo|nome.|"
     "apellido|nombre.|"
     "voornaam|achternaam|roepnaam|familienaam|tussenvoegsel|"
     "sobrenome|apelido|nomecompleto|"
     "fornamn|efternamn|mellannamn|tilltalsnamn|=namn|fornavn|efternavn|etternavn|mellomnavn|=navn|sukunimi|etunimi|"
     "nazwisko|imie.|imię.|jmeno.|příjmeni|prijmeni|priezvisko|vezeteknev|keresztnev|prenume|nume."},
    {KN_LOOKS_PERSONAL, KN_SAY_NAME_OF_NUMBER,
     "mrn.|medical record|medical_record|record number|record_number|ssn.|sin.|social security|social_security|soc_sec|"
     "socsec|passport|drivers.|driver_lic|driver lic|drivers_lic|licence|license|patient_no|patient no|insurance_no|"
     "policy_no|policy number|policy_number|nhs.|imei.|vin.|barcode|staff_no|staff no|employee_no|employee no|"
     "customer_no|customer no|member_no|member no|client_no|client no|case_no|case no|student_no|badge|payroll|"
     "=customer|=employee|=member|=client|=patient|=user|=person|=participant|=respondent|=subject|"
     "ausweis|reisepass|versichertennummer|versicherten|versicherungsnummer|personalnummer|kundennummer|fallnummer|"
     "patientennummer|steuernummer|steuer_id|kennnummer|aktenzeichen|kennzeichen|fuhrerschein|fuehrerschein|"
     "mitarbeiternummer|mitgliedsnummer|matrikelnummer|personalnr|mitarbeiternr|mitgliedsnr|kundennr|fallnr|"
     "patientennr|matrikelnr|steuernr|versichertennr|=kunde|=kundin|=mitarbeiter|=mitglied|=patientin|=proband|"
     "passeport|matricule|nir.|nss.|numero de securite|securite sociale|securite_sociale|identifiant|permis|"
     "passaporto|codice fiscale|codice_fiscale|codicefiscale|tessera|matricola|targa.|patente|identificativo|"
     "personnummer|personnr|fodselsnummer|cprnr|cpr.|henkilotunnus|hetu.|pesel.|bsn.|burgerservicenummer|cpf.|cnp.|"
     "aadhaar|aadhar|"
     "pasaporte|dni.|nie.|nif.|cedula|curp.|rfc.|seguridad social|seguridad_social|matricula|identificador"},
    {KN_LOOKS_PERSONAL, KN_SAY_NAME_OF_ADDRESS,
     "email|e-mail|mail.|phone|telephone|tel.|mobile|cell.|cellphone|fax.|address|street|house_number|house_no|"
     "telefon|handy.|anschrift|adresse|strasse|hausnummer|"
     "courriel|portable.|rue.|"
     "telefono|cellulare|indirizzo|=via|posta elettronica|pec.|"
     "correo|movil.|direccion|domicilio|calle.|celular|endereco|logradouro|rua.|"
     "mobiel|straat|huisnummer|adress|adres.|epost|e-post|mobil.|ulica.|"
     "url.|website|homepage|twitter|facebook|instagram|=ip|ip_addr|ip addr|ipaddr|ip.|ipv4|ipv6|mac_addr|mac addr"},
    {KN_LOOKS_PERSONAL, KN_SAY_NAME_OF_ACCOUNT,
     "iban.|bic.|account|credit_card|credit card|creditcard_no|card_number|card number|license_plate|login|"
     "plate.|numberplate|konto|kreditkarte|compte.|carte bancaire|conto.|cuenta|tarjeta"},
    {KN_LOOKS_FREE_TEXT, KN_SAY_NAME_OF_FREE_TEXT,
     "notes.|=note|comment|remark|free_text|freetext|free text|=description|narrative|memo.|bemerkung|kommentar|"
     "anmerkung|notiz|hinweise.|freitext|anamnese|epikrise|"
     "commentaire|remarque|commento|osservazioni|comentario|observaciones"},
    {KN_LOOKS_COORDINATE, KN_SAY_NAME_OF_COORDINATE,
     "lat.|lon.|lng.|long.|latitude|longitude|gps.|coord|koordinate|breitengrad|laengengrad|langengrad|latitudine|"
     "longitudine|latitud|longitud|geohash"},
};

/* `name` alone may be that of a person; the name of a town, a school or a medicine is not. */
static bool names_a_person(const char *name)
{
    return kn_name_says(name, "name.|names.|=names") &&
           !kn_name_says(name, "city|town|state|country|county|region|school|hospital|product|drug|medic|company|"
                               "employer|brand|ward|clinic|department|device|test|file|stadt|land|ort.|firma|class|"
                               "type|category|event|study|column|table|variable");
}

/* --- Forms of cells ----------------------------------------------------------------------------------------------- */

typedef bool form_fn(const char *text, size_t n);

/* A form in which d is a digit, a a letter, x either, everything else itself. */
static bool has_form(const char *text, size_t n, const char *form)
{
    if (n != strlen(form)) return false;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        bool fits = form[i] == 'd'   ? isdigit(c) != 0
                    : form[i] == 'a' ? isalpha(c) != 0
                    : form[i] == 'x' ? isalnum(c) != 0
                                     : (char)c == form[i];
        if (!fits) return false;
    }
    return true;
}

static bool is_email(const char *text, size_t n)
{
    const char *at = memchr(text, '@', n);
    if (at == NULL || at == text || memchr(text, ' ', n) != NULL) return false;
    const char *dot = memchr(at, '.', (size_t)(text + n - at));
    return dot != NULL && dot > at + 1 && dot + 2 < text + n &&
           memchr(at + 1, '@', (size_t)(text + n - at - 1)) == NULL;
}

static bool is_url(const char *text, size_t n)
{
    static const char *const starts[] = {"http://", "https://", "ftp://", "www."};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (n > strlen(starts[i]) && strncasecmp(text, starts[i], strlen(starts[i])) == 0) return true;
    return false;
}

static bool is_ip(const char *text, size_t n)
{
    size_t n_dots = 0, n_colons = 0, n_here = 0;
    int value = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '.' || text[i] == ':') {
            if (text[i] == '.' && (n_here == 0 || n_here > 3 || value > 255)) return false;
            n_dots += text[i] == '.';
            n_colons += text[i] == ':';
            n_here = 0;
            value = 0;
        } else if (isxdigit((unsigned char)text[i])) {
            n_here++;
            value = isdigit((unsigned char)text[i]) && value < 1000 ? value * 10 + (text[i] - '0') : 1000;
        } else {
            return false;
        }
    }
    if (n_colons == 0) return n_dots == 3 && n_here > 0 && n_here <= 3 && value <= 255;
    return n_dots == 0 && n_colons >= 5 && n_here <= 4; /* IPv6, and addresses of network cards */
}

static bool is_iban(const char *text, size_t n)
{
    size_t n_signs = 0;
    if (n < 15 || !isupper((unsigned char)text[0]) || !isupper((unsigned char)text[1])) return false;
    if (!isdigit((unsigned char)text[2]) || !isdigit((unsigned char)text[3])) return false;
    unsigned rest = 0; /* the four first signs move to the end; the whole is 1 modulo 97 */
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[(i + 4) % n];
        if (c == ' ') continue;
        if (!isdigit(c) && !isupper(c)) return false;
        rest = isdigit(c) ? (rest * 10 + (unsigned)(c - '0')) % 97 : (rest * 100 + (unsigned)(c - 'A' + 10)) % 97;
        n_signs++;
    }
    return n_signs >= 15 && n_signs <= 34 && rest == 1;
}

/* Digits in groups. A number is none, a date is none; one group needs a + before it. */
static bool is_phone(const char *text, size_t n)
{
    size_t n_digits = 0, n_gaps = 0;
    bool was_digit = false;
    double number;
    if (n < 7 || n > 24 || kn_date_forms(text, n, KN_DATE_ANY) != 0) return false;
    if (kn_number_read(&number, text, n, false) == KN_NUMBER_DECIMAL) return false; /* 0.0502512 */
    for (size_t i = 0; i < n; i++) {
        bool digit = isdigit((unsigned char)text[i]) != 0;
        if (!digit && strchr("+-() /.", text[i]) == NULL) return false;
        n_digits += digit;
        n_gaps += !digit && was_digit && i + 1 < n;
        was_digit = digit;
    }
    bool marked = text[0] == '+' || text[0] == '(' || (text[0] == '0' && n_gaps > 0);
    return n_digits >= 7 && n_digits <= 15 && (marked || n_gaps >= 2);
}

static bool is_uuid(const char *text, size_t n) { return has_form(text, n, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"); }

/* The United States, the United Kingdom, Spain, Italy, Switzerland, France. */
static bool is_national(const char *text, size_t n)
{
    static const char dni[] = "TRWAGMYFPDXBNJZSQVHLCKE";
    if (has_form(text, n, "ddd-dd-dddd") || has_form(text, n, "aaddddddda") || has_form(text, n, "aadddddda"))
        return true;
    if (has_form(text, n, "aaaaaaddaddaddda") || has_form(text, n, "756.dddd.dddd.dd")) return true;
    if (has_form(text, n, "dddddddda")) {
        unsigned number = 0;
        for (size_t i = 0; i < 8; i++) number = number * 10 + (unsigned)(text[i] - '0');
        return dni[number % 23] == toupper((unsigned char)text[8]);
    }
    bool french = has_form(text, n, "ddddddddddddddd") || has_form(text, n, "d dd dd dd ddd ddd dd");
    return french && (text[0] == '1' || text[0] == '2');
}

/* 48.137,11.575 */
static bool is_coordinates(const char *text, size_t n)
{
    const char *comma = memchr(text, ',', n);
    if (comma == NULL) comma = memchr(text, ' ', n);
    if (n > 6 && strncasecmp(text, "POINT", 5) == 0) return true;
    if (comma == NULL) return false;
    double a, b;
    size_t n_first = (size_t)(comma - text), n_second = n - n_first - 1;
    return memchr(text, '.', n_first) != NULL && memchr(comma, '.', n_second + 1) != NULL &&
           kn_number_read(&a, text, n_first, false) == KN_NUMBER_DECIMAL &&
           kn_number_read(&b, comma + 1, n_second, false) == KN_NUMBER_DECIMAL && a >= -180 && a <= 180 && b >= -180 &&
           b <= 180;
}

/* 19640229 */
static bool is_compact_date(const char *text, size_t n) { return kn_date_forms(text, n, KN_DATE_COMPACT) != 0; }

static bool is_postcode(const char *text, size_t n)
{
    static const char *const forms[] = {"dddd",    "ddddd",   "dddddd",  "ddddd-dddd", "ada dad",  "adadad",  "ad daa",
                                        "add daa", "aad daa", "ada daa", "aadd daa",   "aada daa", "dddd aa", "ddd dd"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (has_form(text, n, forms[i])) return true;
    return false;
}

/* Dr. Lewis, Prof. Dr. Weiß */
static bool is_titled(const char *text, size_t n)
{
    static const char *const titles[] = {"dr", "prof", "mr", "mrs", "ms", "herr", "frau", "mme", "dra"};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
        size_t at = strlen(titles[i]);
        if (n <= at || strncasecmp(text, titles[i], at) != 0) continue;
        at += text[at] == '.';
        if (at + 2 < n && text[at] == ' ' && !isdigit((unsigned char)text[at + 1])) return true;
    }
    return false;
}

static const struct {
    form_fn *form;
    kn_look look;
    kn_say reason;
} form_looks[] = {
    {is_email, KN_LOOKS_PERSONAL, KN_SAY_CELLS_ARE_EMAIL},
    {is_url, KN_LOOKS_PERSONAL, KN_SAY_CELLS_ARE_WEB},
    {is_ip, KN_LOOKS_PERSONAL, KN_SAY_CELLS_ARE_COMPUTERS},
    {is_iban, KN_LOOKS_PERSONAL, KN_SAY_CELLS_ARE_BANK},
    {is_uuid, KN_LOOKS_PERSONAL, KN_SAY_CELLS_ARE_DEALT},
    {is_national, KN_LOOKS_PERSONAL, KN_SAY_CELLS_ARE_NATIONAL},
    {is_phone, KN_LOOKS_PERSONAL, KN_SAY_CELLS_ARE_PHONE},
    {is_titled, KN_LOOKS_PERSONAL, KN_SAY_CELLS_ARE_NAMES},
    {is_coordinates, KN_LOOKS_COORDINATE, KN_SAY_CELLS_ARE_COORDINATES},
};

static bool is_missing(const kn_column *column, uint32_t spelling)
{
    return column->has_missing && kn_column_value(column, spelling) == column->n_values - 1;
}

static const char *trimmed(const kn_column *column, uint32_t spelling, size_t *n)
{
    const char *bytes = kn_column_bytes(column, spelling, n);
    while (*n > 0 && *bytes == ' ') bytes++, --*n;
    while (*n > 0 && bytes[*n - 1] == ' ') --*n;
    return bytes;
}

/* Nine in ten of the different cells. */
static bool cells_have(const kn_column *column, form_fn *form)
{
    uint32_t n_cells = 0, n_fit = 0;
    for (uint32_t s = 0; s < column->n_spellings; s++) {
        size_t n;
        if (is_missing(column, s)) continue;
        const char *text = trimmed(column, s, &n);
        n_cells++;
        n_fit += form(text, n);
        if (n_cells == 200 && n_fit < 100) return false; /* far from nine in ten: need not be looked at to the end */
    }
    return n_cells > 0 && n_fit >= NEARLY_ALL * n_cells;
}

static bool is_whole(const char *text, size_t n)
{
    double number;
    return kn_number_read(&number, text, n, false) == KN_NUMBER_WHOLE;
}
static bool is_number(const char *text, size_t n) { return kn_number_ways(text, n, false) != 0; }
static bool is_date(const char *text, size_t n)
{
    return kn_date_forms(text, n, KN_DATE_ANY & ~(unsigned)KN_DATE_COMPACT) != 0;
}

/* In two ways, and not the same number in both. */
static bool is_unclear(const char *text, size_t n)
{
    char point[KN_MARKED_BYTES], comma[KN_MARKED_BYTES];
    const size_t n_point = kn_number_plain(point, text, n, KN_MARKS_POINT);
    return n_point != kn_number_plain(comma, text, n, KN_MARKS_COMMA) || memcmp(point, comma, n_point) != 0;
}

bool kn_column_marks_unclear(const kn_column *column)
{
    enum { FEW = 10 }; /* of 1.234: fewer may have three digits behind the point by chance */
    uint32_t n_unclear = 0, n_other = 0, n_cells = 0;
    if ((column->type != KN_TYPE_TEXT && column->type != KN_TYPE_DECIMAL) || column->marks != KN_MARKS_PLAIN)
        return false;
    for (uint32_t s = 0; s < column->n_spellings; s++) {
        size_t n;
        const char *text = trimmed(column, s, &n);
        if (is_missing(column, s) || kn_is_null_word(text, n)) continue;
        const unsigned ways = kn_number_ways(text, n, false);
        n_cells++;
        if (ways == KN_MARKS_POINT || ways == KN_MARKS_COMMA) return false;
        n_other += ways == 0;
        n_unclear += ways != 0 && is_unclear(text, n);
    }
    return n_unclear > 0 && n_other <= (1 - NEARLY_ALL) * n_cells &&
           (column->type == KN_TYPE_TEXT || (n_unclear >= FEW && n_other == 0));
}

kn_type kn_column_nearly(const kn_column *column)
{
    if (column->type != KN_TYPE_TEXT) return KN_TYPE_TEXT;
    if (cells_have(column, is_whole)) return KN_TYPE_INT;
    if (cells_have(column, is_number)) return kn_column_marks_unclear(column) ? KN_TYPE_TEXT : KN_TYPE_DECIMAL;
    return cells_have(column, is_date) ? KN_TYPE_DATE : KN_TYPE_TEXT;
}

bool kn_column_is_postcode(const kn_column *column)
{
    return kn_name_is_postcode(column->name) || cells_have(column, is_postcode);
}

/* --- How many cells have a value of their own
 * ------------------------------------------------------------------------- */

/* Different cells of at least that many bytes and blanks on average. */
static bool has_sentences(const kn_column *column, uint64_t least_bytes, uint64_t least_blanks)
{
    uint64_t n_cells = 0, n_bytes = 0, n_blanks = 0;
    for (uint32_t s = 0; s < column->n_spellings; s++) {
        size_t n;
        if (is_missing(column, s)) continue;
        const char *text = trimmed(column, s, &n);
        n_cells++;
        n_bytes += n;
        for (size_t i = 0; i < n; i++) n_blanks += text[i] == ' ';
    }
    return n_cells > 2 && n_bytes >= n_cells * least_bytes && n_blanks >= n_cells * least_blanks;
}

/* Numbers without gaps, as files are numbered; not so postcodes. */
static bool is_counted_through(const kn_column *column, uint32_t n_present)
{
    if (column->type != KN_TYPE_INT) return false;
    double first = column->number[0], last = column->number[n_present - 1];
    return first >= 0 && last - first + 1 <= 1.1 * n_present;
}

/* Long numbers of one length. Sums of money are neither these nor counted through. */
static bool is_dealt_out(const kn_column *column, uint32_t n_present)
{
    enum { LONG_DIGITS = 6 };
    double first = column->number[0], last = column->number[n_present - 1];
    if (first < 0) return false;
    double power = 1;
    size_t n_digits = 1;
    while (power * 10 <= first) power *= 10, n_digits++;
    return n_digits >= LONG_DIGITS && last < power * 10;
}

/* Cells that are not missing. */
static kn_status count_cells(uint64_t *out, const kn_column *column, uint32_t n_rows, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t *rows = NULL;
    *out = 0;
    if (column->codes == NULL) goto done; /* nobody read them */
    KN_TRY(kn_column_whole_rows(&rows, column, n_rows, err));
    for (uint32_t s = 0; s < column->n_spellings; s++) *out += is_missing(column, s) ? 0 : rows[s];
done:
    kn_free(rows);
    return status;
}

static kn_looks look_at_uniqueness(const kn_column *column, uint32_t n_present, uint64_t n_cells)
{
    const kn_looks plain = {KN_LOOKS_PLAIN, KN_SAY_NOTHING};
    if (column->type != KN_TYPE_TEXT && column->type != KN_TYPE_INT) return plain;
    if (n_cells < MANY_CELLS || n_present < NEARLY_ALL * (double)n_cells) return plain;
    const kn_looks numbered = {KN_LOOKS_PERSONAL, KN_SAY_ROWS_HAVE_OWN_NUMBER};
    if (is_counted_through(column, n_present)) return numbered;
    if (kn_column_is_postcode(column) || cells_have(column, is_compact_date)) return plain; /* often unique, too */
    if (column->type == KN_TYPE_TEXT) return (kn_looks){KN_LOOKS_UNIQUE, KN_SAY_ROWS_HAVE_OWN_VALUE};
    return is_dealt_out(column, n_present) ? numbered : plain;
}

static kn_looks look_at_cells(const kn_column *column, uint32_t n_present, uint64_t n_cells)
{
    for (size_t i = 0; i < sizeof form_looks / sizeof *form_looks; i++)
        if (cells_have(column, form_looks[i].form)) return (kn_looks){form_looks[i].look, form_looks[i].reason};
    if (column->type == KN_TYPE_TEXT && has_sentences(column, 40, 5))
        return (kn_looks){KN_LOOKS_FREE_TEXT, KN_SAY_CELLS_ARE_FREE_TEXT};
    return look_at_uniqueness(column, n_present, n_cells);
}

static kn_looks look_at_name(const char *name)
{
    for (size_t i = 0; i < sizeof name_looks / sizeof *name_looks; i++)
        if (kn_name_says(name, name_looks[i].words)) return (kn_looks){name_looks[i].look, name_looks[i].reason};
    if (names_a_person(name)) return (kn_looks){KN_LOOKS_PERSONAL, name_looks[0].reason};
    return (kn_looks){KN_LOOKS_PLAIN, KN_SAY_NOTHING};
}

/* No number of an account, a telephone or a house: one that is not whole (stem_cell_factor), or how many accounts
 * somebody has. A whole number with .0 behind it may have been written by a program that knows fractions only. */
static bool is_amount(const kn_column *column, kn_looks looks, uint32_t n_present)
{
    enum { LONG_NUMBER = 10000 };
    const bool is_account = looks.reason == KN_SAY_NAME_OF_ACCOUNT;
    if ((column->type != KN_TYPE_INT && column->type != KN_TYPE_DECIMAL) || n_present == 0) return false;
    if (!is_account && looks.reason != KN_SAY_NAME_OF_ADDRESS) return false;
    for (uint32_t value = 0; value < n_present; value++)
        if (column->number[value] != floor(column->number[value])) return true;
    return is_account && column->number[n_present - 1] < LONG_NUMBER;
}

kn_status kn_column_looks(kn_looks *out, const kn_column *column, uint32_t n_rows, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_present = column->n_values - (column->has_missing ? 1 : 0);
    uint64_t n_cells;
    *out = (kn_looks){KN_LOOKS_PLAIN, KN_SAY_NOTHING};
    KN_TRY(count_cells(&n_cells, column, n_rows, err));
    bool few_values = n_cells >= MANY_CELLS && n_present <= FEW_VALUES; /* "telephone: yes, no" is no phone number */
    const bool numbers_places = kn_name_is_place(column->name) && (uint64_t)n_present * 2 <= n_cells;
    if (kn_name_is_id(column->name) && !numbers_places) *out = (kn_looks){KN_LOOKS_PERSONAL, KN_SAY_NAME_OF_CASES};
    else if (!kn_name_is_id(column->name)) *out = look_at_name(column->name);
    const bool is_name = out->reason == KN_SAY_NAME_OF_PERSON && n_present > 2; /* a few first names are names */
    const bool is_remark = out->look == KN_LOOKS_FREE_TEXT && has_sentences(column, 12, 1);  /* so are a few remarks */
    const bool is_day = column->type == KN_TYPE_DATE && out->reason != KN_SAY_NAME_OF_CASES; /* of the last login */
    if (is_day || is_amount(column, *out, n_present) ||
        (few_values && !is_name && !is_remark && out->reason != KN_SAY_NAME_OF_CASES))
        *out = (kn_looks){KN_LOOKS_PLAIN, KN_SAY_NOTHING};
    if (out->look == KN_LOOKS_PLAIN && n_cells > 0) *out = look_at_cells(column, n_present, n_cells);
done:
    return status;
}
