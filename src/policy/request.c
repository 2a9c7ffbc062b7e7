/* From the list of settings to fields: one reading of each value, which checks it when it is set and stores it when a
 * request is made. */
#include "policy/settings.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* --- Reading a value ---------------------------------------------------------------------------------------------- */

/* A number; for bytes with K, M, G or T behind it. */
static bool read_number(double *out, const kn_field *field, const char *text)
{
    const char *const units = "KMGT";
    char digits[64];
    size_t n = strlen(text);
    const char *unit = n > 0 && field->kind == KN_FIELD_BYTES ? strchr(units, text[n - 1]) : NULL;
    if (unit == NULL) return kn_param_number(out, text);
    if (n > sizeof digits) return false;
    memcpy(digits, text, n - 1);
    digits[n - 1] = '\0';
    bool is_number = kn_param_number(out, digits);
    *out *= pow(1024, (double)(unit - units + 1));
    return is_number;
}

static bool read_bounded(double *out, const kn_field *field, const char *text)
{
    return read_number(out, field, text) && *out >= field->min && *out <= field->max &&
           (field->kind != KN_FIELD_WHOLE || *out == floor(*out));
}

static bool read_rows(kn_row_limit *out, const char *text)
{
    char digits[64];
    size_t n = strlen(text);
    *out = (kn_row_limit){.given = true, .is_percent = n > 0 && text[n - 1] == '%'};
    if (out->is_percent) n--;
    if (n >= sizeof digits) return false;
    memcpy(digits, text, n);
    digits[n] = '\0';
    return kn_param_number(&out->amount, digits) && out->amount >= 0 &&
           (out->is_percent ? out->amount <= 100 : out->amount == floor(out->amount));
}

static bool read_population(kn_population_asked *out, const char *text)
{
    *out = (kn_population_asked){0};
    if (!kn_param_number(&out->fraction, text)) out->file = text;
    return out->file != NULL || (out->fraction > 0 && out->fraction <= 1);
}

static bool read_character(char *out, const char *text)
{
    if (strcmp(text, "\\t") == 0 || strcmp(text, "tab") == 0) text = "\t";
    *out = text[0];
    return strlen(text) == 1 && strchr("\"\r\n", text[0]) == NULL && (text[0] & 0x80) == 0;
}

/* Which of "a|b|c" it is. */
static bool find_word(unsigned *out, const char *words, const char *value)
{
    size_t n_bytes = strlen(value);
    *out = 0;
    for (const char *word = words;; word++, ++*out) {
        size_t n = strcspn(word, "|");
        if (n == n_bytes && memcmp(word, value, n) == 0) return true;
        word += n;
        if (*word == '\0') return false;
    }
}

bool kn_field_is(const char *words, const char *word)
{
    unsigned index;
    return find_word(&index, words, word);
}

/* An argument of the form "a|b|c" in lower case is a choice; the table says so itself. */
static bool is_choice(const char *argument)
{
    return strchr(argument, '|') != NULL &&
           strspn(argument, "abcdefghijklmnopqrstuvwxyz0123456789-|") == strlen(argument);
}

static kn_status check_kind(const kn_field *field, const char *value, const char *place, kn_error *err)
{
    double number;
    kn_row_limit rows;
    kn_population_asked population;
    char character;
    switch (field->kind) {
    case KN_FIELD_NUMBER:
    case KN_FIELD_WHOLE:
    case KN_FIELD_BYTES:
        if (read_bounded(&number, field, value)) return KN_OK;
        return kn_error_set(err, KN_USAGE, "%s: '%.40s' is not a %snumber from %g to %g", place, value,
                            field->kind == KN_FIELD_WHOLE ? "whole " : "", field->min, field->max);
    case KN_FIELD_ROWS:
        if (read_rows(&rows, value)) return KN_OK;
        return kn_error_set(err, KN_USAGE, "%s: '%.40s' is neither a number of rows nor a percentage from 0%% to 100%%",
                            place, value);
    case KN_FIELD_POPULATION:
        if (read_population(&population, value)) return KN_OK;
        return kn_error_set(err, KN_USAGE, "%s: '%.40s' is neither a fraction above 0 and at most 1 nor a file", place,
                            value);
    case KN_FIELD_CHARACTER:
        if (read_character(&character, value)) return KN_OK;
        return kn_error_set(err, KN_USAGE, "%s: '%.40s' is not one character; for a tab write '\\t'", place, value);
    default: return KN_OK;
    }
}

kn_status kn_field_check(const kn_field *field, const char *value, const char *place, kn_error *err)
{
    if (field->is_bare) return KN_OK;
    if (field->argument == NULL) {
        if (kn_field_is("yes|no", value)) return KN_OK;
        return kn_error_set(err, KN_USAGE, "%s: '%.40s' is neither yes nor no", place, value);
    }
    if (*value == '\0') return kn_error_set(err, KN_USAGE, "%s needs a value: %s", place, field->argument);
    if (is_choice(field->argument) && !kn_field_is(field->argument, value))
        return kn_error_set(err, KN_USAGE, "%s: '%.40s' is none of %s", place, value, field->argument);
    if (field->kind == KN_FIELD_DETAIL && strchr(value, '=') == NULL)
        return kn_error_set(err, KN_USAGE, "%s: '%.40s' is not of the form %s", place, value, field->argument);
    return check_kind(field, value, place, err);
}

/* --- Filling the fields ------------------------------------------------------------------------------------------- */

static void store_number(void *at, const kn_field *field, double number)
{
    if (field->kind == KN_FIELD_NUMBER) *(double *)at = number;
    else if (field->kind == KN_FIELD_WHOLE) *(uint64_t *)at = (uint64_t)number;
    else *(size_t *)at = (size_t)number;
}

static void store_preset(void *at, const kn_field *field)
{
    switch (field->kind) {
    case KN_FIELD_TEXT: *(const char **)at = field->preset.text; break;
    case KN_FIELD_NUMBER:
    case KN_FIELD_WHOLE:
    case KN_FIELD_BYTES: store_number(at, field, field->preset.number); break;
    default: break; /* zero */
    }
}

/* The value was checked when it was set. */
static kn_status store_value(void *at, const kn_field *field, const char *value, kn_error *err)
{
    bool fits = true;
    double number;
    unsigned index;
    switch (field->kind) {
    case KN_FIELD_FLAG: *(bool *)at = strcmp(value, "yes") == 0; break;
    case KN_FIELD_TEXT: *(const char **)at = value; break;
    case KN_FIELD_CHOICE:
        fits = find_word(&index, field->argument, value);
        memcpy(at, &index, sizeof index);
        break;
    case KN_FIELD_NUMBER:
    case KN_FIELD_WHOLE:
    case KN_FIELD_BYTES:
        fits = read_bounded(&number, field, value);
        store_number(at, field, number);
        break;
    case KN_FIELD_LIST: return kn_words_parse(at, value, err);
    case KN_FIELD_CHARACTER: fits = read_character(at, value); break;
    case KN_FIELD_ROWS: fits = read_rows(at, value); break;
    case KN_FIELD_POPULATION: fits = read_population(at, value); break;
    case KN_FIELD_NONE:
    case KN_FIELD_ROLE:
    case KN_FIELD_DETAIL: break;
    }
    assert(fits);
    (void)fits;
    return KN_OK;
}

static kn_status fill_fields(kn_request *request, const kn_settings *settings, kn_error *err)
{
    kn_status status = KN_OK;
    size_t n;
    const kn_field *fields = kn_fields(&n);
    for (const kn_field *field = fields; field < fields + n; field++) {
        if (field->kind == KN_FIELD_NONE || field->kind == KN_FIELD_ROLE || field->offset == SIZE_MAX) continue;
        void *at = (char *)request + field->offset;
        if (field->kind == KN_FIELD_DETAIL) {
            while (kn_settings_nth(settings, field->option, *(size_t *)at) != NULL) ++*(size_t *)at;
            continue;
        }
        const char *value = kn_settings_text(settings, field->option);
        if (value == NULL) store_preset(at, field);
        else KN_TRY(store_value(at, field, value, err));
    }
done:
    return status;
}

/* The models in force, where of several -k one counts, and all other settings in force. */
static kn_status list_settings(kn_request *request, const kn_settings *settings, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_setting *k = kn_settings_find(settings, "k");
    kn_buffer spec = {0};
    KN_NEW(request->models.items, settings->items.n + 1);
    KN_NEW(request->asked_models, settings->items.n + 1);
    KN_NEW(request->listed, settings->items.n + 1);
    for (size_t i = 0; i < settings->items.n; i++) {
        const kn_setting *item = &settings->items.items[i];
        bool is_k = strcmp(item->option, "k") == 0, is_model = strcmp(item->option, "model") == 0;
        if (!kn_setting_in_force(settings, item)) continue;
        bool is_query = strcmp(item->option, "sql") == 0; /* which may name values of the data */
        if (!is_model && !is_query) request->listed[request->n_listed++] = item;
        if (!is_model && item != k) continue;
        kn_buffer_printf(&spec, "%s%s", is_k ? "k-anonymity:k=" : "", item->value);
        KN_TRY(kn_buffer_finish(&request->models.items[request->models.n], &spec, err));
        request->asked_models[request->models.n++] = item;
    }
done:
    kn_buffer_free(&spec);
    return status;
}

/* "COL=SPEC". Names of columns may hold a '=': the first one behind which a definition stands. */
static kn_status derivation_read(kn_derivation *out, const kn_setting *setting, kn_error *err)
{
    kn_status status = KN_USAGE;
    kn_error inner = {0};
    char place[KN_SHOWN_BYTES], *name = NULL;
    for (const char *equals = strchr(setting->value, '='); equals != NULL && status == KN_USAGE;
         equals = strchr(equals + 1, '=')) {
        if (!kn_setting_fits_column(setting, setting->value, (size_t)(equals - setting->value))) continue;
        inner = (kn_error){0};
        name = kn_string_copy(setting->value, (size_t)(equals - setting->value), err);
        if (name == NULL) return KN_RESOURCES;
        status = kn_derivation_parse(out, name, equals + 1, &inner);
        kn_free(name);
    }
    if (status == KN_OK) return KN_OK;
    status = kn_error_set(err, status, "%s: %.600s", kn_setting_place(place, setting), inner.message);
    return kn_setting_about(err, status, setting, NULL);
}

static kn_status list_derivations(kn_request *request, const kn_settings *settings, kn_error *err)
{
    kn_status status = KN_OK;
    KN_NEW(request->derivations, settings->items.n + 1);
    for (size_t i = 0; i < settings->items.n; i++) {
        const kn_setting *item = &settings->items.items[i];
        kn_derivation *last = &request->derivations[request->n_derivations];
        if (strcmp(item->option, "derive") != 0 || !kn_setting_in_force(settings, item)) continue;
        KN_TRY(derivation_read(last, item, err));
        request->n_derivations++;
        for (kn_derivation *other = request->derivations; other < last; other++) /* of two flags the last one counts */
            if (strcmp(other->name, last->name) == 0) {
                kn_derivation_free(other);
                *other = *last;
                request->n_derivations--;
                break;
            }
    }
done:
    return status;
}

kn_status kn_request_new(kn_request **out, const kn_settings *settings, kn_error *err)
{
    kn_status status = KN_OK;
    kn_request *request = NULL;
    *out = NULL;
    KN_NEW(request, 1);
    request->settings = settings;
    request->tables = &settings->tables;
    request->policy_path = settings->policy_path;
    request->policy_hash = settings->policy_hash;
    request->policy_id = settings->policy_is_file ? &settings->policy_id : NULL;
    const kn_setting *ledger = kn_settings_find(settings, "ledger");
    if (ledger != NULL && ledger->where != NULL) request->ledger_folder = settings->policy_folder;
    request->progress = settings->progress;
    request->progress_user = settings->progress_user;
    request->note = settings->note;
    request->note_user = settings->note_user;
    request->text_width = settings->text_width;
    request->cancel = settings->cancel;
    request->after_write = settings->after_write;
    request->after_write_user = settings->after_write_user;
    KN_TRY(fill_fields(request, settings, err));
    if (request->sql != NULL && request->data != NULL)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "sql"),
                   "--sql is the table already; leave out %.200s, or name it in the query", request->data);
    if (request->sql != NULL) request->data = KN_SQL_TABLE;
    if (kn_settings_find(settings, "unlisted") == NULL && settings->policy_path == NULL)
        request->unlisted = KN_UNLISTED_DROP;
    KN_TRY(list_settings(request, settings, err));
    KN_TRY(list_derivations(request, settings, err));
    *out = request;
    request = NULL;
done:
    kn_request_free(request);
    return status;
}

void kn_request_free(kn_request *request)
{
    if (request == NULL) return;
    size_t n;
    const kn_field *fields = kn_fields(&n);
    for (const kn_field *field = fields; field < fields + n; field++)
        if (field->kind == KN_FIELD_LIST) kn_words_free((kn_words *)((char *)request + field->offset));
    kn_words_free(&request->models);
    kn_free(request->asked_models);
    kn_free(request->listed);
    for (size_t i = 0; i < request->n_derivations; i++) kn_derivation_free(&request->derivations[i]);
    kn_free(request->derivations);
    kn_free(request);
}
