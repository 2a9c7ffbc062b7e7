/* From settings and the header of the data to one choice per column. */
#include "policy/column_names.h"

#include "base/param.h"
#include "base/suggest.h"
#include "base/words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct header {
    const char *const *names;
    uint32_t n;
    kn_columns_mode mode;
    const kn_settings *settings;
    bool is_hidden;        /* names may be data */
    kn_column_names known; /* those of the table, then those of the settings */
    kn_ticker *ticker;
    kn_problems *problems; /* NULL: the first one ends it */
} header;

static bool has_role(const header *head, uint32_t column) { return head->known.items.items[column].has_role; }

bool kn_settings_name_column(const kn_settings *settings, const char *name)
{
    static const char *const special[] = {"person", "count", "person-count"};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        const char *column = kn_settings_text(settings, special[i]);
        if (column != NULL && strcmp(column, name) == 0) return true;
    }
    for (size_t i = 0; i < settings->items.n; i++)
        if (settings->items.items[i].field->kind == KN_FIELD_ROLE &&
            kn_words_hold(settings->items.items[i].value, name))
            return true;
    return false;
}

static const kn_setting *find_detail(const kn_settings *settings, const char *option, const char *name)
{
    const kn_setting *found = NULL;
    for (int flags = 0; flags < 2; flags++)
        for (size_t i = 0; i < settings->items.n; i++) {
            const kn_setting *setting = &settings->items.items[i];
            if (strcmp(setting->option, option) != 0 || (setting->where == NULL) != flags) continue;
            if (kn_setting_fits_column(setting, name, strlen(name))) found = setting;
        }
    return found;
}

const char *kn_settings_detail(const kn_settings *settings, const char *option, const char *name)
{
    const kn_setting *found = find_detail(settings, option, name);
    return found != NULL ? found->value + strlen(name) + 1 : NULL;
}

const char *kn_settings_detail_where(const kn_settings *settings, const char *option, const char *name)
{
    const kn_setting *found = find_detail(settings, option, name);
    return found != NULL ? found->where : NULL;
}

static const char *shown_as(char *buffer, bool is_hidden, const char *name, uint32_t index)
{
    if (!is_hidden) return name;
    snprintf(buffer, KN_SHOWN_BYTES, "#%u", index + 1);
    return buffer;
}

const char *kn_settings_column_shown(char *buffer, const kn_settings *settings, const char *name, uint32_t index)
{
    const bool is_hidden = kn_settings_flag(settings, "redact") && !kn_settings_name_column(settings, name);
    return shown_as(buffer, is_hidden, name, index);
}

/* The same for a column of the header. */
static const char *column_shown(char *buffer, const header *head, uint32_t c)
{
    return shown_as(buffer, head->is_hidden && !has_role(head, c), head->names[c], c);
}

static const char *skip_marks(const char *text)
{
    while (*text != '\0' && (unsigned char)*text < 0x80 && !isalnum((unsigned char)*text)) text++;
    return text;
}

/* "Birth Date" and "birth_date", "zip" and "zip_code" are rather one column than two. */
static bool is_same_name(const char *a, const char *b)
{
    for (size_t n = 0;; a++, b++, n++) {
        const char *next_a = skip_marks(a), *next_b = skip_marks(b);
        const bool word_ends = (*next_a == '\0' || next_a > a) && (*next_b == '\0' || next_b > b);
        if (*next_a == '\0' || *next_b == '\0') return n >= 3 && (word_ends || (*next_a == *next_b));
        if (tolower((unsigned char)*next_a) != tolower((unsigned char)*next_b)) return false;
        a = next_a;
        b = next_b;
    }
}

/* Another missing name may mean it already. */
static bool is_taken(const header *head, uint32_t column) { return head->known.items.items[column].is_meant; }

/* Policies list columns as the table has them: the new one that stands behind the column named before. */
static uint32_t behind_neighbour(const header *head, const char *name)
{
    const kn_known_name *known = kn_column_names_find(&head->known, name, strlen(name));
    if (known == NULL || known->listed_behind == KN_NONE || known->listed_behind + 1 >= head->n) return KN_NONE;
    const uint32_t next = known->listed_behind + 1;
    return has_role(head, next) || is_taken(head, next) ? KN_NONE : next;
}

/* The column of the table that a name that it does not have may mean: of those that nobody names where there are any,
 * because a column that was renamed has a new name; KN_NONE where none is near. */
static uint32_t meant_column(const header *head, const char *name)
{
    uint32_t found = KN_NONE;
    for (uint32_t i = 0; i < head->n; i++) {
        if ((head->known.n_new > 0 && has_role(head, i)) || is_taken(head, i)) continue;
        const bool is_slip = strlen(name) > 2 && kn_suggest(name, &head->names[i], 1) != NULL;
        if (!is_slip && !is_same_name(name, head->names[i])) continue;
        if (found != KN_NONE) { /* the nearer one, by edits */
            const char *both[] = {head->names[found], head->names[i]};
            if (kn_suggest(name, both, 2) != both[1]) continue;
        }
        found = i;
    }
    return found != KN_NONE ? found : behind_neighbour(head, name);
}

/* A column by its name or, where problems are collected, by the one that it had before: so that what else is wrong with
 * it is found, too. */
static uint32_t find_column(const header *head, const char *name, size_t n_bytes)
{
    const kn_known_name *known = kn_column_names_find(&head->known, name, n_bytes);
    if (known == NULL || known->column != KN_NONE) return known != NULL ? known->column : KN_NONE;
    const bool is_new = known->meant != KN_NONE && !head->is_hidden && !has_role(head, known->meant);
    return is_new ? known->meant : KN_NONE;
}

/* One problem for every name, however often the settings say it. */
static kn_status note_missing(header *head, const kn_setting *setting, const char *name, kn_error *err)
{
    kn_status status = KN_OK;
    kn_problem problem = {.kind = KN_PROBLEM_MISSING_COLUMN};
    char place[KN_SHOWN_BYTES], shown[KN_SHOWN_BYTES];
    kn_known_name *known;
    KN_TRY(kn_tick(head->ticker, "reading", -1, err));
    KN_TRY(kn_column_names_add(&known, &head->known, name, strlen(name), err));
    if (known->is_missing) goto done;
    known->is_missing = true;
    const uint32_t meant = known->meant = meant_column(head, name);
    const bool is_new = meant != KN_NONE && !has_role(head, meant);
    if (meant != KN_NONE) {
        head->known.items.items[meant].is_meant = true;
        snprintf(problem.perhaps, sizeof problem.perhaps, "%s", column_shown(shown, head, meant));
    }
    status = kn_error_set(&problem.about, KN_USAGE, "%s: the data has no column '%.80s'%s%.80s%s",
                          kn_setting_place(place, setting), name, meant != KN_NONE ? "; it has '" : "", problem.perhaps,
                          is_new             ? "', which has no role and may be the same one under a new name"
                          : meant != KN_NONE ? "', which may be meant"
                                             : "");
    kn_setting_about(&problem.about, status, setting, name);
    status = kn_problem_add(head->problems, &problem, err);
done:
    return status;
}

/* A whole header read as one name: between two of its parts stands another delimiter. */
static bool holds_name(const char *header_line, const char *name)
{
    const char *at = strstr(header_line, name);
    const size_t n = strlen(name);
    if (at == NULL || n == 0 || strlen(header_line) == n) return false;
    return (at == header_line || strchr(",;\t|", at[-1]) != NULL) && (at[n] == '\0' || strchr(",;\t|", at[n]) != NULL);
}

static kn_status unknown_column(header *head, const kn_setting *setting, const char *name, size_t n_bytes,
                                kn_error *err)
{
    enum { MOST_LISTED_BYTES = 600 };
    kn_status status = KN_OK;
    kn_buffer list = {0};
    char place[KN_SHOWN_BYTES], shown[KN_SHOWN_BYTES], *whole = kn_string_copy(name, n_bytes, err);
    if (whole == NULL) return KN_RESOURCES;
    if (head->problems != NULL) {
        KN_TRY(note_missing(head, setting, whole, err));
        goto done;
    }
    uint32_t n_listed = 0;
    for (; n_listed < head->n && list.n < MOST_LISTED_BYTES; n_listed++)
        kn_buffer_printf(&list, "%s%s", n_listed != 0 ? ", " : "", column_shown(shown, head, n_listed));
    if (n_listed < head->n) kn_buffer_printf(&list, " and %u more", head->n - n_listed);
    const uint32_t meant = meant_column(head, whole);
    kn_buffer hint = {0};
    if (head->n == 1 && holds_name(head->names[0], whole))
        kn_buffer_text(&hint, ", but one column whose name has that in it: is -d, the delimiter, the right one?");
    else if (meant != KN_NONE)
        kn_buffer_printf(&hint, " (did you mean '%.80s'?%s)", column_shown(shown, head, meant),
                         strchr(head->names[meant], ',') != NULL ? " A comma in a name is written \\," : "");
    status =
        kn_error_set(err, KN_USAGE, "%s: the data has no column '%.80s'%s; it has %s", kn_setting_place(place, setting),
                     whole, hint.bytes != NULL ? hint.bytes : "", list.bytes != NULL ? list.bytes : "none");
    kn_buffer_free(&hint);
    kn_setting_about(err, status, setting, NULL);
done:
    kn_buffer_free(&list);
    kn_free(whole);
    return status;
}

/* A role from a flag replaces one from the policy; two roles from one source are a contradiction. */
static kn_status set_role(kn_column_choice *choice, const kn_setting **given_by, uint32_t *n_mentions, kn_role role,
                          const kn_setting *setting, const char *name, kn_error *err)
{
    const kn_setting *before = *given_by;
    if (before != NULL && before->where == NULL && setting->where != NULL) return KN_OK;
    if (before != NULL && (before->where == NULL) == (setting->where == NULL) && choice->role != role) {
        char place[KN_SHOWN_BYTES];
        return kn_error_set(err, KN_USAGE, "%s: column '%.80s' is %s already and cannot be %s too; name it once",
                            kn_setting_place(place, setting), name, kn_role_name(choice->role), kn_role_name(role));
    }
    if (before == NULL) choice->mention = (*n_mentions)++;
    choice->role = role;
    *given_by = setting;
    return KN_OK;
}

/* "a,b": each name gets the role. A column whose name holds a comma is written with "\,". */
static kn_status set_roles(kn_column_choice *choices, const kn_setting **given_by, uint32_t *n_mentions, header *head,
                           kn_role role, const kn_setting *setting, kn_error *err)
{
    kn_status status = KN_OK;
    char *name = NULL;
    KN_NEW(name, strlen(setting->value) + 1);
    for (const char *from = setting->value; kn_words_next(name, &from);) {
        uint32_t column = find_column(head, name, strlen(name));
        bool may_be_missing =
            head->mode == KN_COLUMNS_OF_HIERARCHY ||
            (head->mode == KN_COLUMNS_OF_RELEASE && role != KN_ROLE_QUASI && role != KN_ROLE_SENSITIVE);
        if (column == KN_NONE && may_be_missing) continue;
        if (column == KN_NONE) {
            KN_TRY(unknown_column(head, setting, name, strlen(name), err));
            column = find_column(head, name, strlen(name));
        }
        if (column == KN_NONE) continue;
        status = set_role(&choices[column], &given_by[column], n_mentions, role, setting, head->names[column], err);
        kn_setting_about(err, status, setting, head->names[column]);
        KN_TRY(kn_problem_note(head->problems, status, err));
    }
done:
    kn_free(name);
    return status;
}

static kn_status parse_type(kn_type *type, const char *text, const char *place, kn_error *err)
{
    for (kn_type t = KN_TYPE_AUTO; t <= KN_TYPE_TEXT; t++)
        if (strcmp(kn_type_name(t), text) == 0) {
            *type = t;
            return KN_OK;
        }
    return kn_error_set(err, KN_USAGE, "%s: '%.40s' is no type; int, decimal, date or text", place, text);
}

static kn_status parse_levels(kn_column_choice *choice, const char *text, const char *place, kn_error *err)
{
    const char *dots = strstr(text, ".."), *last = dots != NULL ? dots + 2 : "";
    uint32_t min = 0, max = KN_NONE;
    bool fine = dots != NULL && (dots == text || kn_level_read(&min, text, (size_t)(dots - text))) &&
                (*last == '\0' || kn_level_read(&max, last, strlen(last)));
    if (!fine)
        return kn_error_set(err, KN_USAGE, "%s: '%.40s' is not MIN..MAX, whole numbers from 0 (the value as it is)",
                            place, text);
    if (min > max)
        return kn_error_set(err, KN_USAGE, "%s: '%.40s' leaves no level: %u is above %u", place, text, min, max);
    choice->min_level = min;
    choice->max_level = max;
    return KN_OK;
}

/* One "COL=VALUE" setting. */
static kn_status set_detail(kn_column_choice *choice, const kn_settings *settings, const kn_setting *setting,
                            const char *value, kn_error *err)
{
    char place[KN_SHOWN_BYTES];
    kn_setting_place(place, setting);
    if (strcmp(setting->option, "type") == 0) return parse_type(&choice->type, value, place, err);
    if (strcmp(setting->option, "derive") == 0) return KN_OK; /* the source has made the column of it */
    if (strcmp(setting->option, "level") == 0) return parse_levels(choice, value, place, err);
    if (strcmp(setting->option, "hierarchy") == 0) {
        choice->hierarchy = value;
        choice->hierarchy_folder = setting->where != NULL ? settings->policy_folder : NULL;
        choice->hierarchy_where = setting->where;
        return KN_OK;
    }
    if (strcmp(setting->option, "grid") == 0) {
        choice->grid = value;
        return KN_OK;
    }
    if (strcmp(setting->option, "top") == 0 || strcmp(setting->option, "bottom") == 0) {
        *(strcmp(setting->option, "top") == 0 ? &choice->top : &choice->bottom) = value;
        return KN_OK;
    }
    if (strcmp(setting->option, "round") == 0) {
        choice->round = value;
        return KN_OK;
    }
    if (strcmp(setting->option, "release-values") == 0) {
        choice->release_values = strcmp(value, "yes") == 0;
        if (choice->release_values || strcmp(value, "no") == 0) return KN_OK;
        return kn_error_set(err, KN_USAGE, "%s: '%.40s' is neither yes nor no", place, value);
    }
    const bool is_number = kn_param_number(&choice->weight, value); /* of which sums and shares stay numbers */
    if (!is_number || (choice->weight != 0 && choice->weight < 1e-9) || choice->weight > 1e9)
        return kn_error_set(err, KN_USAGE, "%s: '%.40s' is neither 0 nor a number from 1e-09 to 1000000000", place,
                            value);
    return KN_OK;
}

/* Levels and weights are of generalized columns. On another one they would be ignored, and somebody meant something. */
static kn_status serves_role(const kn_column_choice *choice, const kn_setting *setting, const char *name, kn_error *err)
{
    char place[KN_SHOWN_BYTES];
    bool for_all = strcmp(setting->option, "type") == 0 || strcmp(setting->option, "hierarchy") == 0 ||
                   strcmp(setting->option, "derive") == 0;
    if (for_all || choice->role == KN_ROLE_QUASI) return KN_OK;
    return kn_error_set(err, KN_USAGE, "%s: column '%.80s' is %s, and only a quasi-identifier has a %s; remove it",
                        kn_setting_place(place, setting), name, kn_role_name(choice->role), setting->option);
}

kn_status kn_setting_check_detail(const kn_settings *settings, const kn_column_names *names, const kn_setting *setting,
                                  kn_error *err)
{
    kn_status status = KN_OK;
    if (strcmp(setting->option, "hierarchy") == 0) return KN_OK; /* made of the data */
    const kn_known_name *known = kn_column_names_find(names, setting->value, setting->n_column);
    const bool is_listed = known != NULL && known->is_listed;
    kn_column_choice about = {.role = is_listed ? known->listed_role : KN_ROLE_QUASI};
    char *name = kn_string_copy(setting->value, setting->n_column, err);
    if (name == NULL) return KN_RESOURCES;
    KN_TRY(set_detail(&about, settings, setting, setting->value + setting->n_column + 1, err));
    KN_TRY(serves_role(&about, setting, name, err));
done:
    kn_free(name);
    return kn_setting_about(err, status, setting, NULL);
}

/* The column that "COLUMN=VALUE" is about, and where the value begins. The name may hold a '=': of a flag, whose column
 * nobody told apart, the longest name that fits counts. */
static uint32_t column_of_detail(const char **value, const header *head, const kn_setting *setting)
{
    uint32_t column = KN_NONE;
    for (const char *equals = strchr(setting->value, '='); equals != NULL; equals = strchr(equals + 1, '=')) {
        const size_t n = (size_t)(equals - setting->value);
        if (!kn_setting_fits_column(setting, setting->value, n)) continue;
        const uint32_t found = find_column(head, setting->value, n);
        if (found == KN_NONE) continue;
        column = found;
        *value = equals + 1;
    }
    return column;
}

/* Policy first, flags after it, so that flags have the last word for each column. */
static kn_status set_details(kn_column_choice *choices, const kn_setting *const *given_by, const kn_settings *settings,
                             header *head, bool flags, kn_error *err)
{
    for (size_t i = 0; i < settings->items.n; i++) {
        const kn_setting *setting = &settings->items.items[i];
        if (setting->field->kind != KN_FIELD_DETAIL || (setting->where == NULL) != flags) continue;
        const char *value = NULL;
        const uint32_t column = column_of_detail(&value, head, setting);
        if (column == KN_NONE && head->mode == KN_COLUMNS_OF_RELEASE) continue;
        if (column == KN_NONE) {
            const size_t n = setting->n_column > 0 ? setting->n_column : strcspn(setting->value, "=");
            kn_status status = unknown_column(head, setting, setting->value, n, err);
            if (status != KN_OK) return status;
            continue;
        }
        kn_status status = set_detail(&choices[column], settings, setting, value, err);
        const kn_setting *role = given_by[column]; /* a flag may take a column away from what the policy says of it */
        bool overridden = role != NULL && role->where == NULL && setting->where != NULL;
        if (status == KN_OK && head->mode == KN_COLUMNS_OF_DATA && !overridden)
            status = serves_role(&choices[column], setting, head->names[column], err);
        kn_setting_about(err, status, setting, head->names[column]);
        status = kn_problem_note(head->problems, status, err);
        if (status != KN_OK) return status;
    }
    return KN_OK;
}

/* Two flags that say different things of one column: the first would be lost. Only here is it known where the name of
 * the column ends: both 'age=./x=y.csv' and 'sex=m=text' are written. */
static kn_status refuse_second(const kn_setting **said, const header *head, const kn_field *field, kn_error *err)
{
    for (uint32_t c = 0; c < head->n; c++) said[c] = NULL;
    for (size_t i = 0; i < head->settings->items.n; i++) {
        const kn_setting *setting = &head->settings->items.items[i];
        const char *value;
        if (setting->field != field || setting->where != NULL) continue;
        const uint32_t column = column_of_detail(&value, head, setting);
        if (column == KN_NONE) continue;
        const kn_setting *first = said[column];
        said[column] = setting;
        if (first == NULL || strcmp(first->value, setting->value) == 0) continue;
        const kn_status status =
            kn_error_set(err, KN_USAGE, "--%s is given twice, '%.80s' and '%.80s'; give it once for a column",
                         setting->option, first->value, setting->value);
        kn_setting_about(err, status, setting, head->names[column]);
        if (kn_problem_note(head->problems, status, err) != KN_OK) return status;
    }
    return KN_OK;
}

static kn_status refuse_seconds(const header *head, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_setting **said = NULL;
    size_t n_fields;
    const kn_field *fields = kn_fields(&n_fields);
    KN_NEW(said, head->n);
    for (size_t f = 0; f < n_fields; f++)
        if (fields[f].kind == KN_FIELD_DETAIL) KN_TRY(refuse_second(said, head, &fields[f], err));
done:
    kn_free(said);
    return status;
}

/* One problem for every column without a role, but for those that a missing one may have become. */
static kn_status note_new(const header *head, const kn_setting *const *given_by, kn_error *err)
{
    kn_status status = KN_OK;
    for (uint32_t i = 0; i < head->n; i++) {
        char shown[KN_SHOWN_BYTES];
        const char *name = column_shown(shown, head, i);
        kn_problem problem = {.kind = KN_PROBLEM_NEW_COLUMN};
        if (given_by[i] != NULL || is_taken(head, i)) continue;
        kn_error_set_at(&problem.about, KN_USAGE, KN_PLACE(.option = "unlisted", .column = name),
                        "column '%s' is in the table, but has no role", name);
        KN_TRY(kn_problem_add(head->problems, &problem, err));
    }
done:
    return status;
}

static kn_status place_unlisted(kn_column_choice *choices, const kn_setting *const *given_by,
                                const kn_settings *settings, const header *head, kn_buffer *warnings, kn_error *err)
{
    const char *how = kn_settings_text(settings, "unlisted");
    if (how == NULL) how = settings->policy_path != NULL ? "error" : "drop";
    uint32_t n_dropped = 0;
    kn_buffer names = {0};
    char shown[KN_SHOWN_BYTES];
    for (uint32_t i = 0; i < head->n; i++) {
        if (given_by[i] != NULL) continue;
        if (strcmp(how, "insensitive") == 0) {
            choices[i].role = KN_ROLE_INSENSITIVE;
            continue;
        }
        choices[i].role = KN_ROLE_DROPPED;
        kn_buffer_printf(&names, "%s%s", n_dropped++ != 0 ? ", " : "", column_shown(shown, head, i));
    }
    kn_status status = KN_OK;
    if (head->mode != KN_COLUMNS_OF_DATA) n_dropped = 0;
    if (n_dropped != 0 && strcmp(how, "error") == 0 && head->problems != NULL) status = note_new(head, given_by, err);
    else if (n_dropped != 0 && strcmp(how, "error") == 0)
        status = kn_error_set_at(err, KN_USAGE, KN_PLACE(.option = "unlisted"),
                                 "no role for column%s %.900s; give each a role, or say --unlisted drop or insensitive",
                                 n_dropped == 1 ? "" : "s", names.bytes);
    else if (n_dropped != 0 && warnings != NULL) {
        enum { MOST_BYTES = 600 };
        kn_say how_many = names.n > MOST_BYTES ? KN_SAY_LEFT_OUT_MANY : KN_SAY_LEFT_OUT;
        if (names.n > MOST_BYTES) names.bytes[MOST_BYTES] = '\0';
        kn_sentences_add(warnings, KN_SAID(how_many, kn_piece_text(names.failed ? "" : names.bytes)));
        warnings->failed |= names.failed;
    }
    kn_buffer_free(&names);
    return status;
}

/* The column that `option` names: one that never leaves, but is read. */
static kn_status set_special(kn_column_choice *choices, const kn_setting **given_by, header *head, const char *option,
                             kn_error *err)
{
    kn_status status = KN_OK;
    char place[KN_SHOWN_BYTES];
    const kn_setting *setting = kn_settings_find(head->settings, option);
    if (setting == NULL) return KN_OK;
    uint32_t column = find_column(head, setting->value, strlen(setting->value));
    if (column == KN_NONE && head->mode != KN_COLUMNS_OF_RELEASE) {
        KN_TRY(unknown_column(head, setting, setting->value, strlen(setting->value), err));
        column = find_column(head, setting->value, strlen(setting->value));
    }
    if (column == KN_NONE) goto done;
    kn_column_choice *choice = &choices[column];
    const bool is_special = choice->is_person || choice->is_count || choice->is_person_count;
    if (is_special || (given_by[column] != NULL && choice->role != KN_ROLE_IDENTIFIER))
        KN_TRY(kn_problem_note(
            head->problems,
            kn_setting_about(err,
                             kn_error_set(err, KN_USAGE,
                                          "%s: the %s column '%.80s' is an identifier and cannot be %s too",
                                          kn_setting_place(place, setting), option, setting->value,
                                          is_special ? "another" : kn_role_name(choice->role)),
                             setting, setting->value),
            err));
    choice->role = KN_ROLE_IDENTIFIER;
    choice->is_person = strcmp(option, "person") == 0;
    choice->is_count = strcmp(option, "count") == 0;
    choice->is_person_count = strcmp(option, "person-count") == 0;
    given_by[column] = setting;
done:
    return status;
}

kn_status kn_settings_columns(kn_column_choice **out, const kn_settings *settings, const char *const *names,
                              uint32_t n_names, kn_columns_mode mode, kn_buffer *warnings, kn_problems *problems,
                              kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    kn_column_choice *choices = NULL;
    const kn_setting **given_by = NULL;
    header head = {.names = names,
                   .n = n_names,
                   .mode = mode,
                   .settings = settings,
                   .is_hidden = kn_settings_flag(settings, "redact"),
                   .ticker = ticker,
                   .problems = problems};
    uint32_t n_mentions = 0;
    *out = NULL;
    KN_NEW(choices, n_names);
    KN_NEW(given_by, n_names);
    KN_TRY(kn_column_names_make(&head.known, settings, names, n_names, err));
    for (uint32_t i = 0; i < n_names; i++)
        choices[i] = (kn_column_choice){.role = KN_ROLE_DROPPED, .weight = 1, .max_level = KN_NONE};

    for (size_t i = 0; i < settings->items.n; i++) {
        const kn_setting *setting = &settings->items.items[i];
        if (setting->field->kind == KN_FIELD_ROLE)
            KN_TRY(set_roles(choices, given_by, &n_mentions, &head, setting->field->role, setting, err));
    }
    KN_TRY(set_special(choices, given_by, &head, "person", err));
    KN_TRY(set_special(choices, given_by, &head, "count", err));
    KN_TRY(set_special(choices, given_by, &head, "person-count", err));
    KN_TRY(refuse_seconds(&head, err));
    KN_TRY(set_details(choices, given_by, settings, &head, false, err));
    KN_TRY(set_details(choices, given_by, settings, &head, true, err));
    KN_TRY(place_unlisted(choices, given_by, settings, &head, warnings, err));
    for (uint32_t i = 0; mode == KN_COLUMNS_OF_HIERARCHY && i < n_names; i++)
        if (choices[i].hierarchy != NULL) choices[i].role = KN_ROLE_QUASI;
    *out = choices;
    choices = NULL;
done:
    kn_column_names_free(&head.known);
    kn_free(choices);
    kn_free(given_by);
    return status;
}
