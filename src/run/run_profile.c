/* `kanon profile`: a first look at a table. Types, how many values, which role each column probably has and why, which
 * columns single people out together, and a commented policy to edit.
 *
 * Roles are guessed from names and from contents (column_looks.c); what nothing speaks for becomes a quasi-identifier,
 * because a column that an attacker may know and nobody generalized is the usual mistake. */
#include "duckdb/duckdb.h"
#include "base/json_writer.h"
#include "hierarchy/builders.h"
#include "report/report_data.h"
#include "risk/risk.h"
#include "report/page.h"
#include "run/as_it_comes.h"
#include "run/column_looks.h"
#include "run/input.h"
#include "run/jobs.h"
#include "run/level_lines.h"
#include "run/notes.h"
#include "run/propose_derived.h"
#include "run/propose_model.h"
#include "run/result.h"
#include "table/dates.h"
#include "table/fold_column.h"
#include "table/natural.h"
#include "table/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SET_SIZE   3
#define SHOWN_SETS 8

/* The k of the policy, by who gets the release; docs/choosing.md has the sources. */
static const struct {
    const char *name;
    unsigned k;
    const char *threshold, *source;
} recipients[] = {
    [KN_RECIPIENT_PUBLIC] = {"public", 11, "0.09",
                             "EMA policy 0070 and Health Canada ask for a risk of at most 0.09 where clinical data is "
                             "published, which is 11"},
    [KN_RECIPIENT_CONTRACT] = {"contract", 5, "0.2",
                               "the rule of five that custodians have long used (El Emam 2013, Cell Size Precedents)"},
    [KN_RECIPIENT_INTERNAL] = {"internal", 3, "0.33",
                               "the smallest that custodians use (El Emam 2013, Cell Size Precedents)"},
};

typedef struct guess {
    kn_role role;
    const char *reason;
    kn_look look;
    bool numbers_people; /* its name is that of a number given to persons */
    kn_type type;        /* the column's, or the one that it has but for a few cells */
    kn_suggestion generalize;
    char *levels; /* comment lines: the first labels of every level; NULL: none */
    uint64_t n_missing;
    kn_mixed_cells mixed;
    bool marks_unclear; /* of numbers that are read as text */
    kn_proposal model;  /* of a sensitive column */
} guess;

typedef struct profile {
    kn_input *input;
    guess *guesses;  /* per column */
    uint32_t person; /* column that seems to tell persons apart although they have several rows, or KN_NONE */
    kn_column_risk *sets;
    kn_derived_ideas ideas; /* of columns computed from dates */
} profile;

static unsigned policy_k(const profile *about) { return recipients[about->input->request->recipient].k; }

/* --- Guessing roles ----------------------------------------------------------------------------------------------- */

static const struct {
    kn_role role;
    const char *reason, *words; /* see kn_name_says */
} name_hints[] = {
    {KN_ROLE_SENSITIVE, "the name speaks of health, money or law",
     "diagnos|diag|dx.|disease|illness|condition|icd|krankh|maladie|malattia|enfermedad|hiv|cancer|tumor|disab|medic|"
     "drug|therap|treatment|symptom|income|salary|wage|gehalt|einkommen|lohn|kosten|betrag|salaire|revenu|stipendio|"
     "reddito|salario|ingreso|debt|credit|loan|schuld|expense|charges.|offence|crime|straf|religion|politic|party|"
     "sexual|result|befund|discapac|invalidit|handicap|behinder|cause_of_death|todesursache|inkomen|salaris|ziekte|"
     "inkomst|indkomst|inntekt|sjukdom|sygdom|"
     "sykdom|renda.|renta.|sueldo|doenca|dochod|wynagrodzenie|choroba|rozpoznanie|cim.|cim10|cid.|cid10"},
    {KN_ROLE_QUASI, "the name speaks of something that neighbours or colleagues know",
     "age|alter|eta.|edad|sex|gender|geschlecht|genre.|sesso|sexo|zip|"
     "postal|postcode|plz|cap.|city|town|stadt|ort|ville|citta|ciudad|comune|region|county|state|country|nation|land|"
     "pays|paese|pais.|race|ethnic|marital|famil|stato_civile|estado_civil|education|school|bildung|scuola|studi|"
     "occupation|job|profession|beruf|metier|lavoro|trabajo|employer|work|language|sprache|langue|lingua|idioma|admi|"
     "discharge|aufnahme|entlass|date|datum|data.|fecha|year|jahr|annee|anno.|ano.|height|weight|groesse|gewicht|"
     "taille|peso|children|kinder|enfants|figli|hijos"},
};

/* What somebody did or suffered in the end: 0 and 1, or a few words for it. */
static bool is_outcome(const kn_column *column)
{
    enum { MOST_KINDS = 10 };
    return column->type != KN_TYPE_DATE && column->n_values <= MOST_KINDS &&
           kn_name_says(column->name, "=default|defaulted|default payment|default_payment|default-payment|"
                                      "default.payment|outcome|readmi|rehospital|mortality|deceased|died.|dead.|death|"
                                      "verstorben|gestorben|deces|deceduto|fallecido|obito.|desfecho|esito.|desenlace|"
                                      "relapse|recidiv|churn|fraud");
}

/* The day of a diagnosis or of "ingreso" is no diagnosis and no income: somebody else was there. */
static bool has_hint(guess *out, const kn_column *column)
{
    for (size_t i = 0; i < sizeof name_hints / sizeof *name_hints; i++) {
        const bool is_quasi = name_hints[i].role == KN_ROLE_QUASI;
        const bool says = kn_name_says(column->name, name_hints[i].words) ||
                          (is_quasi && (column->type == KN_TYPE_DATE || kn_name_is_birth(column->name)));
        if (!says || (!is_quasi && column->type == KN_TYPE_DATE)) continue;
        out->role = name_hints[i].role;
        out->reason = name_hints[i].reason;
        return true;
    }
    return false;
}

/* 12 days, 40%, 9:30: every row may have another one, and is not numbered by it. */
static bool is_measured(const kn_column *column)
{
    char shape[KN_SHAPE_BYTES];
    for (uint32_t s = 0; s < column->n_spellings; s++) {
        size_t n;
        const char *bytes = kn_column_bytes(column, s, &n);
        if (column->has_missing && kn_column_value(column, s) == column->n_values - 1) continue;
        if (kn_natural_shape(shape, bytes, n) == 0 || !kn_natural_is_measure(shape)) return false;
    }
    return column->type == KN_TYPE_TEXT;
}

/* So many values, each of so few rows on average, that they number households rather than say what kind they are. */
static bool numbers_households(const kn_column *column, uint32_t n_rows)
{
    enum { FEW_KINDS = 10, MOST_MEMBERS = 20 };
    const uint64_t n_present = column->n_values - (column->has_missing ? 1 : 0);
    return kn_name_is_household(column->name) && n_present > FEW_KINDS && n_present * MOST_MEMBERS >= n_rows;
}

static kn_status role_guess(guess *out, const kn_column *column, uint32_t n_rows, kn_error *err)
{
    enum { ENOUGH_ROWS = 20 }; /* the same value in all of fewer says nothing of the next table's */
    kn_status status = KN_OK;
    kn_looks looks;
    out->role = KN_ROLE_QUASI;
    out->reason = "nothing speaks for another role; make it insensitive only if no outsider can know it";
    KN_TRY(kn_column_looks(&looks, column, n_rows, err));
    out->look = looks.look;
    out->numbers_people = looks.reason == KN_SAY_NAME_OF_NUMBER;
    out->type = column->type;
    if (looks.look == KN_LOOKS_UNIQUE && kn_column_nearly(column) != KN_TYPE_TEXT) {
        has_hint(out, column);
        out->type = kn_column_nearly(column);
        out->reason = out->type == KN_TYPE_DATE
                          ? "nearly all cells are dates: write all of them as 2024-01-31, name what "
                            "is none under null_values, or say invalid: missing"
                          : "nearly all cells are numbers: correct the others, name them under "
                            "null_values, or say invalid: missing";
    } else if (looks.look == KN_LOOKS_UNIQUE && (is_measured(column) || kn_column_marks_unclear(column))) {
        has_hint(out, column);
    } else if (looks.look != KN_LOOKS_PLAIN) {
        out->role = KN_ROLE_IDENTIFIER;
        out->reason = kn_sentence_english(looks.reason);
    } else if (is_outcome(column)) {
        out->role = KN_ROLE_SENSITIVE;
        out->reason = "the name speaks of how it ended";
    } else if (numbers_households(column, n_rows)) {
        out->role = KN_ROLE_IDENTIFIER;
        out->reason = "the name is that of a number given to households";
    } else if (!has_hint(out, column) && column->n_values == 1 && !column->has_missing && n_rows >= ENOUGH_ROWS) {
        out->role = KN_ROLE_INSENSITIVE;
        out->reason = "every row has the same value";
    }
done:
    return status;
}

/* Called by its place because the header has no name for it. */
static bool is_unnamed(const kn_input *input, uint32_t c)
{
    char by_place[32];
    snprintf(by_place, sizeof by_place, "column%u", c + 1);
    return input->form.n_unnamed > 0 && strcmp(input->table->columns[c].name, by_place) == 0;
}

/* People have several rows, and this column tells them apart. A number that two rows share may be a slip; that of a
 * case is meant; that of a doctor or a device is neither. */
static bool numbers_people(const guess *g, const kn_column *column, uint32_t n_rows)
{
    enum { FEW_THINGS = 50, MOST_ROWS = 100 };
    const uint64_t n_cells = n_rows - g->n_missing, n_present = column->n_values - (column->has_missing ? 1 : 0);
    const bool is_of_things = n_present < FEW_THINGS && n_present * MOST_ROWS < n_cells; /* shops, parties */
    if (g->role != KN_ROLE_IDENTIFIER || n_present < 2) return false;
    if (kn_name_is_place(column->name) ||
        kn_name_says(column->name, "doctor|physician|provider|consultant|arzt|device|visit|batch"))
        return false;
    if (is_of_things && !kn_name_is_person(column->name) && !kn_name_says(column->name, "=id|=nr")) return false;
    if (kn_name_is_id(column->name) || kn_name_is_household(column->name)) return n_present < n_cells;
    return g->numbers_people && n_present * 10 < n_cells * 9;
}

/* The first column that tells people apart, by its name if there is one, or else households; KN_NONE where a number of
 * persons is different in every row: then nobody has several, and what repeats numbers something else. */
static uint32_t person_column(const profile *about)
{
    const kn_table *table = about->input->table;
    uint32_t found = KN_NONE, household = KN_NONE;
    bool is_said = false, one_row_each = false;
    for (uint32_t c = 0; c < table->n_columns && !is_said; c++) {
        const kn_column *column = &table->columns[c];
        const bool says_person =
            kn_name_is_person(column->name) && (kn_name_is_id(column->name) || about->guesses[c].numbers_people);
        one_row_each = one_row_each || (says_person && column->n_values == table->n_rows);
        if (!numbers_people(&about->guesses[c], column, table->n_rows)) continue;
        is_said = says_person;
        if (is_said || found == KN_NONE) found = c;
        if (household == KN_NONE && kn_name_is_household(column->name)) household = c;
    }
    if (!is_said && one_row_each) return KN_NONE;
    return is_said || household == KN_NONE ? found : household;
}

static void notice_mixed(profile *about, uint32_t c, const uint64_t *rows)
{
    guess *g = &about->guesses[c];
    const kn_column *column = &about->input->table->columns[c];
    if (g->role == KN_ROLE_IDENTIFIER || about->input->choices[c].type != KN_TYPE_AUTO) return;
    g->mixed = kn_column_mixed_cells(column, rows);
    g->marks_unclear = column->type == KN_TYPE_TEXT && kn_column_marks_unclear(column);
    if (g->mixed.nearly_dates) g->mixed.n_cells = 0; /* kn_input_notice told of their forms */
    kn_mixed_cells_tell(about->input, kn_piece_text(column->name), column, &g->mixed);
}

/* No release may have it among its quasi-identifiers' values. */
static void notice_star(profile *about, uint32_t c, const uint64_t *rows)
{
    const kn_column *column = &about->input->table->columns[c];
    if (about->guesses[c].role != KN_ROLE_QUASI) return;
    for (uint32_t s = 0; s < column->n_spellings; s++) {
        size_t n;
        const char *bytes = kn_column_bytes(column, s, &n);
        const bool is_missing = column->has_missing && kn_column_value(column, s) == column->n_values - 1;
        if (n == 1 && *bytes == '*' && rows[s] > 0 && !is_missing)
            kn_sentences_add(&about->input->warnings, KN_SAID(KN_SAY_HAS_STAR, kn_piece_text(column->name),
                                                              kn_piece_number("%llu", (unsigned long long)rows[s])));
    }
}

/* male, Male and "M " would be three values, which a set puts together. */
static kn_status notice_spellings(profile *about, uint32_t c, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_column *column = &about->input->table->columns[c];
    uint32_t n_fewer = 0;
    if (about->guesses[c].role != KN_ROLE_QUASI || column->type != KN_TYPE_TEXT) goto done;
    KN_TRY(kn_column_count_folds(&n_fewer, column, err));
    if (n_fewer > 0)
        kn_sentences_add(&about->input->warnings,
                         KN_SAID(KN_SAY_SPELLINGS, kn_piece_text(column->name), kn_piece_number("%u", column->n_values),
                                 kn_piece_number("%u", column->n_values - n_fewer)));
done:
    return status;
}

static kn_status guesses_make(profile *about, kn_error *err)
{
    kn_status status = KN_OK;
    kn_table *table = about->input->table;
    uint64_t *rows = NULL;
    KN_NEW(about->guesses, table->n_columns + 1);
    for (uint32_t c = 0; c < table->n_columns; c++) {
        const kn_column *column = &table->columns[c];
        guess *out = &about->guesses[c];
        KN_TRY(role_guess(out, column, table->n_rows, err));
        if (is_unnamed(about->input, c)) {
            out->role = KN_ROLE_IDENTIFIER;
            out->reason = "the header has no name for it, as for row names and numbers";
        }
        if (out->role == KN_ROLE_QUASI && out->type == column->type)
            KN_TRY(kn_hierarchy_suggest(&out->generalize, column, table->n_rows, err));
        if (out->look == KN_LOOKS_FREE_TEXT)
            kn_sentences_add(&about->input->warnings, KN_SAID(KN_SAY_FREE_TEXT, kn_piece_text(column->name)));
        KN_TRY(kn_column_spelling_rows(&rows, column, table->n_rows, err));
        notice_mixed(about, c, rows);
        notice_star(about, c, rows);
        KN_TRY(notice_spellings(about, c, err));
        for (uint32_t s = 0; s < column->n_spellings && column->has_missing; s++)
            if (kn_column_value(column, s) == column->n_values - 1) out->n_missing += rows[s];
        kn_free(rows);
        rows = NULL;
    }
    about->person = person_column(about);
done:
    kn_free(rows);
    return status;
}

/* --- Which columns single people out ------------------------------------------------------------------------------ */

static kn_status sets_count(profile *about, kn_error *err)
{
    kn_status status = KN_OK;
    kn_input *input = about->input;
    kn_table *table = input->table;
    kn_hierarchy_request plain = {.weight = 1, .max_level = KN_NONE, .redact = input->redact};
    KN_NEW(input->domains, table->n_columns + 1);
    for (uint32_t c = 0; c < table->n_columns; c++) {
        table->columns[c].role = about->guesses[c].role;
        table->columns[c].is_person = c == about->person;
        if (about->guesses[c].role != KN_ROLE_QUASI || input->n_qis == 64) continue;
        KN_TRY(kn_domain_build(&input->domains[input->n_qis], &table->columns[c], table->source, table->n_rows, &plain,
                               err));
        input->n_qis++;
    }
    table->person = about->person;
    KN_TRY(kn_tuples_new(&input->tuples, table, input->domains, input->n_qis, input->pool, &input->ticker, err));
    if (input->n_qis > 0)
        KN_TRY(kn_column_risk_new(&about->sets, input->tuples, SET_SIZE, 0, input->pool, &input->ticker, err));
done:
    return status;
}

/* --- What becomes of values ----------------------------------------------------------------------------------------
 */

static kn_status thresholds_make(profile *about, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_table *table = about->input->table;
    const kn_tuples *tuples = about->input->tuples;
    for (uint32_t c = 0; c < table->n_columns && !about->input->redact; c++) {
        kn_suggestion *generalize = &about->guesses[c].generalize;
        if (about->guesses[c].role != KN_ROLE_QUASI) continue;
        KN_TRY(kn_thresholds_suggest(generalize, &table->columns[c], table->n_rows, tuples->row_person,
                                     (uint32_t)tuples->n_persons, policy_k(about), err));
        KN_TRY(kn_scale_suggest(generalize, &table->columns[c], table->n_rows, tuples->row_person,
                                (uint32_t)tuples->n_persons, policy_k(about), err));
    }
done:
    return status;
}

static kn_status levels_make(profile *about, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_table *table = about->input->table;
    for (uint32_t c = 0; c < table->n_columns; c++) {
        guess *g = &about->guesses[c];
        if (g->role != KN_ROLE_QUASI || g->type != table->columns[c].type || about->input->redact ||
            table->columns[c].n_values < 3)
            continue;
        KN_TRY(kn_level_lines(&g->levels, about->input, c, &g->generalize, policy_k(about), err));
    }
done:
    return status;
}

/* --- Models ------------------------------------------------------------------------------------------------------- */

static kn_status models_make(profile *about, kn_error *err)
{
    kn_status status = KN_OK;
    kn_tuples *tuples = about->input->tuples;
    const uint64_t k = policy_k(about);
    for (uint32_t s = 0; s < tuples->n_table_sensitive; s++) {
        const kn_proposal_ask ask = {s, k, about->input->redact};
        guess *g = &about->guesses[tuples->sensitive[s].column - about->input->table->columns];
        KN_TRY(kn_model_propose(&g->model, tuples, &ask, err));
    }
    if (tuples->n_persons == 0) kn_sentences_add(&about->input->warnings, kn_said(KN_SAY_EMPTY_TABLE));
    else if (tuples->n_persons < k)
        kn_sentences_add(&about->input->warnings,
                         KN_SAID(KN_SAY_FEWER_THAN_K, kn_piece_number("%llu", (unsigned long long)tuples->n_persons),
                                 kn_piece_number("%llu", (unsigned long long)k)));
done:
    return status;
}

/* --- Output ------------------------------------------------------------------------------------------------------- */

static void set_names(kn_buffer *out, const kn_tuples *tuples, uint64_t columns)
{
    bool first = true;
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        if (!(columns >> q & 1)) continue;
        kn_buffer_printf(out, "%s%s", first ? "" : ", ", tuples->domains[q]->name);
        first = false;
    }
}

/* What protects whom, and why; in the form that the terminal breaks at its width. */
static void text_models(kn_buffer *text, const profile *about)
{
    enum { NAME_COLUMNS = 13 };
    const kn_table *table = about->input->table;
    const kn_recipient recipient = about->input->request->recipient;
    kn_buffer_printf(text, "\nProposed models\n  k-anonymity   k=%u, for recipients of the kind \"%s\": %s\n",
                     policy_k(about), recipients[recipient].name, recipients[recipient].source);
    for (uint32_t c = 0; c < table->n_columns; c++) {
        const kn_proposal *model = &about->guesses[c].model;
        const char *name = table->columns[c].name;
        if (model->reason == NULL) continue;
        kn_buffer_text(text, "  ");
        if (kn_text_columns(name) > NAME_COLUMNS) kn_buffer_printf(text, "%s\n  %*s", name, NAME_COLUMNS, "");
        else kn_buffer_padded(text, name, NAME_COLUMNS);
        if (model->name != NULL) kn_buffer_printf(text, " %s %s\n  %*s", model->name, model->params, NAME_COLUMNS, "");
        kn_buffer_printf(text, " %s\n", model->reason);
    }
}

static void singled_out(kn_buffer *out, const profile *about, uint64_t n)
{
    kn_buffer_printf(out, "%10s  %5.1f%%  ", page_count(&page_plain, n).text,
                     100.0 * (double)n / (double)about->input->tuples->n_persons);
}

static void text_derived(kn_buffer *text, const profile *about)
{
    if (about->ideas.n > 0) kn_buffer_text(text, "\nColumns that could be computed from dates\n");
    for (size_t i = 0; i < about->ideas.n; i++)
        kn_buffer_printf(text, "  %s = %s\n", about->ideas.items[i].name, about->ideas.items[i].spec);
}

static kn_status text_make(char **out, const profile *about, kn_error *err)
{
    const kn_table *table = about->input->table;
    kn_buffer text = {0};
    size_t top[SHOWN_SETS], n = 0;
    unsigned widest = 6;
    kn_buffer_printf(&text, "%s row%s, %s column%s\n", page_count(&page_plain, table->n_rows).text,
                     table->n_rows == 1 ? "" : "s", page_count(&page_plain, table->n_columns).text,
                     table->n_columns == 1 ? "" : "s");
    for (uint32_t c = 0; c < table->n_columns; c++) {
        const unsigned n_columns = kn_text_columns(table->columns[c].name);
        if (n_columns > widest) widest = n_columns < 24 ? n_columns : 24;
    }
    kn_buffer_printf(&text, "\n%-*s  %-7s  %8s  %7s  %s\n", (int)widest, "column", "type", "values", "missing",
                     "suggested role");
    for (uint32_t c = 0; c < table->n_columns; c++) {
        const kn_column *column = &table->columns[c];
        kn_buffer_padded(&text, column->name, widest);
        kn_buffer_printf(&text, "  %-7s  %8s  %6.1f%%  %s\n", kn_type_name(column->type),
                         page_count(&page_plain, column->n_values).text,
                         table->n_rows > 0 ? 100.0 * (double)about->guesses[c].n_missing / table->n_rows : 0.0,
                         kn_role_name(about->guesses[c].role));
    }
    if (about->sets != NULL) n = kn_column_risk_top(top, SHOWN_SETS, about->sets, SET_SIZE);
    if (n > 0) kn_buffer_text(&text, "\nPersons singled out by columns that an attacker may know\n");
    for (size_t i = 0; i < n; i++) {
        const kn_column_set *set = &about->sets->sets[top[i]];
        singled_out(&text, about, set->n_unique);
        set_names(&text, about->input->tuples, set->columns);
        kn_buffer_char(&text, '\n');
    }
    if (n > 1) {
        singled_out(&text, about, about->sets->n_with_minimal);
        kn_buffer_printf(&text, "some set of up to %u columns\n", about->sets->max_size);
    }
    text_models(&text, about);
    text_derived(&text, about);
    return kn_buffer_finish(out, &text, err);
}

static const char *policy_role(kn_role role) { return role == KN_ROLE_QUASI ? "quasi" : kn_role_name(role); }

static void threshold_line(kn_buffer *out, const char *option, const kn_threshold *threshold)
{
    if (threshold->text[0] == '\0') return;
    const bool is_top = strcmp(option, "top") == 0;
    kn_buffer_printf(out, "  #   %s: %s %s one value of everything %s, which %u persons have\n", option,
                     threshold->text, threshold->is_sure ? "makes" : "would make", is_top ? "from there on" : "below",
                     threshold->n_beyond);
}

static void policy_columns(kn_buffer *out, const profile *about)
{
    enum { FEW_ENDS = 20 }; /* groups of ages that many persons share */
    const kn_table *table = about->input->table;
    static const char *const types[] = {"", "int", "decimal", "date", "text"};
    for (uint32_t c = 0; c < table->n_columns; c++) {
        const guess *g = &about->guesses[c];
        const uint32_t n_values = table->columns[c].n_values;
        kn_buffer_printf(out, "  # %s; %u value%s\n", g->reason, n_values, n_values == 1 ? "" : "s");
        if (g->marks_unclear)
            kn_buffer_text(
                out,
                "  #   1,234 could be 1234 or 1.234: say decimal: point, or comma, under input, and the type decimal "
                "here\n");
        if (g->mixed.n_cells > 0 && g->type == table->columns[c].type)
            kn_buffer_printf(
                out,
                "  #   %llu of its %llu cells are %s, and the others are not, the first in line %llu: "
                "correct these, name them under\n  #   null_values, or say type: %s and invalid: missing\n",
                (unsigned long long)g->mixed.n_fit, (unsigned long long)g->mixed.n_cells,
                g->mixed.are_dates ? "dates" : "numbers", (unsigned long long)g->mixed.line,
                g->mixed.are_dates ? "date" : "decimal");
        if (g->levels != NULL) kn_buffer_text(out, g->levels);
        if (strcmp(g->generalize.spec, "natural") == 0 && n_values > FEW_ENDS)
            kn_buffer_text(out,
                           "  #   its intervals end at cells of persons; written as plain numbers, without sign or "
                           "unit, at round ones\n");
        if (strncmp(g->generalize.spec, "order(", 6) == 0)
            kn_buffer_text(
                out, "  #   words of a scale, all of it: neighbours are put together; if the order is another one, "
                     "correct it\n");
        threshold_line(out, "top", &g->generalize.top);
        threshold_line(out, "bottom", &g->generalize.bottom);
        kn_buffer_text(out, "  ");
        kn_yaml_put(out, table->columns[c].name);
        kn_buffer_printf(out, ": {role: %s", policy_role(g->role));
        if (g->role == KN_ROLE_QUASI || about->input->choices[c].type != KN_TYPE_AUTO)
            kn_buffer_printf(out, ", type: %s", types[g->type]);
        if (g->generalize.spec[0] != '\0') kn_buffer_printf(out, ", hierarchy: \"%s\"", g->generalize.spec);
        if (g->generalize.grid[0] != '\0') kn_buffer_printf(out, ", grid: %s", g->generalize.grid);
        if (g->generalize.top.is_sure) kn_buffer_printf(out, ", top: %s", g->generalize.top.text);
        kn_buffer_text(out, "}\n");
    }
}

/* Beside the dates they would be told twice: so they stand there to be chosen. */
static void policy_derived(kn_buffer *out, const profile *about)
{
    const char *reason = "";
    if (about->ideas.n > 0)
        kn_buffer_text(out,
                       "  # These could be computed from dates. Take the \"# \" away from a line, and make the dates "
                       "identifiers.\n");
    for (size_t i = 0; i < about->ideas.n; i++) {
        const kn_derived_idea *idea = &about->ideas.items[i];
        if (strcmp(reason, idea->reason) != 0) kn_buffer_printf(out, "  #   %s:\n", idea->reason);
        reason = idea->reason;
        kn_buffer_text(out, "  # ");
        kn_yaml_put(out, idea->name);
        kn_buffer_text(out, ": {role: quasi, derive: ");
        kn_yaml_put(out, idea->spec);
        kn_buffer_text(out, idea->is_age ? ", grid: 5}\n" : "}\n");
    }
}

/* How the table was read, so that the next command reads it the same way. */
static void policy_input(kn_buffer *out, const profile *about)
{
    const kn_csv_options *csv = &about->input->csv;
    static const char *const encodings[] = {"utf-8", "latin-1", "utf-16"};
    kn_buffer keys = {0};
    if (csv->n_null_values > 0) kn_buffer_text(&keys, ", null_values: [");
    for (size_t i = 0; i < csv->n_null_values; i++) {
        if (i > 0) kn_buffer_text(&keys, ", ");
        kn_yaml_put(&keys, csv->null_values[i]);
    }
    if (csv->n_null_values > 0) kn_buffer_char(&keys, ']');
    if (csv->encoding != KN_ENCODING_UTF8) kn_buffer_printf(&keys, ", encoding: %s", encodings[csv->encoding]);
    if (csv->delimiter == '\t') kn_buffer_text(&keys, ", delimiter: tab");
    else if (csv->delimiter != '\0') kn_buffer_printf(&keys, ", delimiter: \"%c\"", csv->delimiter);
    if (csv->no_header) kn_buffer_text(&keys, ", header: no");
    if (csv->trim) kn_buffer_text(&keys, ", trim: yes");
    if (csv->decimal != KN_DECIMAL_AUTO)
        kn_buffer_printf(&keys, ", decimal: %s", csv->decimal == KN_DECIMAL_COMMA ? "comma" : "point");
    if (csv->invalid_is_missing) kn_buffer_text(&keys, ", invalid: missing");
    if (keys.n > 0) kn_buffer_printf(out, "\ninput: {%s}\n", keys.bytes + 2);
    kn_buffer_free(&keys);
}

static void policy_models(kn_buffer *out, const profile *about)
{
    const kn_table *table = about->input->table;
    const kn_recipient recipient = about->input->request->recipient;
    kn_buffer_printf(out,
                     "\nmodels:\n  # everybody hides among at least %u, for recipients of the kind %s:\n  # %s\n"
                     "  - k-anonymity: {k: %u}\n",
                     policy_k(about), recipients[recipient].name, recipients[recipient].source, policy_k(about));
    for (uint32_t c = 0; c < table->n_columns; c++) {
        const kn_proposal *model = &about->guesses[c].model;
        if (model->reason == NULL) continue;
        kn_buffer_text(out, "  # ");
        if (model->policy == NULL) {
            kn_yaml_put(out, table->columns[c].name);
            kn_buffer_text(out, ": ");
        }
        kn_buffer_printf(out, "%s\n", model->reason);
        if (model->policy != NULL) kn_buffer_printf(out, "  - %s\n", model->policy);
    }
}

static kn_status policy_make(char **out, const profile *about, kn_error *err)
{
    const kn_table *table = about->input->table;
    kn_buffer text = {0};
    kn_buffer_printf(&text,
                     "# Policy for %s, suggested by kanon profile. Read every line before you rely on it.\n"
                     "#   identifier   never leaves                      quasi        generalized\n"
                     "#   sensitive    copied, protected by models       insensitive  copied\n"
                     "# Then:  kanon check %s -p POLICY      and      kanon anonymize %s -p POLICY -o release.csv\n"
                     "version: 1\n",
                     table->source, table->source, table->source);
    policy_input(&text, about);
    if (about->person != KN_NONE) {
        const char *name = table->columns[about->person].name;
        const bool are_households = kn_name_is_household(name);
        kn_buffer_printf(&text, "\n# %s, told apart by this column.\nperson: ",
                         are_households ? "Members of a household stand in several rows: classes count households"
                                        : "People have several rows: classes count persons");
        kn_yaml_put(&text, name);
        kn_buffer_text(&text, are_households ? "\nunit: household\n" : "\n");
    }
    kn_buffer_text(&text, "\n# A column that is not listed here is an error, so that a new one cannot slip out.\n"
                          "unlisted_columns: error\n\ncolumns:\n");
    policy_columns(&text, about);
    policy_derived(&text, about);
    policy_models(&text, about);
    kn_buffer_text(&text, "\n# Rows that may be suppressed when they are too rare to hide.\nsuppression: {max: 1%}\n"
                          "\nalgorithm: {name: auto}\nmeasure: lm\n");
    kn_buffer_printf(&text, "risk: {threshold: %s}\n", recipients[about->input->request->recipient].threshold);
    return kn_buffer_finish(out, &text, err);
}

static void put_model(kn_json *json, const kn_proposal *model)
{
    kn_json_object(json, "model");
    if (model->name != NULL) {
        kn_json_text(json, "name", model->name);
        kn_json_text(json, "params", model->params);
    }
    kn_json_text(json, "reason", model->reason);
    kn_json_end(json);
}

static kn_status json_make(char **out, const profile *about, kn_error *err)
{
    const kn_table *table = about->input->table;
    kn_json json = {0};
    kn_json_object(&json, NULL);
    kn_json_count(&json, "rows", table->n_rows);
    kn_json_array(&json, "columns");
    for (uint32_t c = 0; c < table->n_columns; c++) {
        const guess *g = &about->guesses[c];
        kn_json_object(&json, NULL);
        kn_json_text(&json, "name", table->columns[c].name);
        kn_json_text(&json, "type", kn_type_name(table->columns[c].type));
        kn_json_count(&json, "values", table->columns[c].n_values);
        kn_json_count(&json, "missing", g->n_missing);
        kn_json_text(&json, "role", kn_role_name(g->role));
        kn_json_text(&json, "reason", g->reason);
        kn_json_text(&json, "hierarchy", g->generalize.spec);
        if (g->generalize.grid[0] != '\0') kn_json_text(&json, "grid", g->generalize.grid);
        if (g->generalize.top.text[0] != '\0')
            kn_json_text(&json, g->generalize.top.is_sure ? "top" : "proposed_top", g->generalize.top.text);
        if (g->generalize.bottom.text[0] != '\0') kn_json_text(&json, "proposed_bottom", g->generalize.bottom.text);
        if (g->model.reason != NULL) put_model(&json, &g->model);
        kn_json_end(&json);
    }
    kn_json_end(&json);
    kn_json_array(&json, "derivations");
    for (size_t i = 0; i < about->ideas.n; i++) {
        kn_json_object(&json, NULL);
        kn_json_text(&json, "name", about->ideas.items[i].name);
        kn_json_text(&json, "derive", about->ideas.items[i].spec);
        kn_json_text(&json, "reason", about->ideas.items[i].reason);
        kn_json_end(&json);
    }
    kn_json_end(&json);
    kn_json_text(&json, "recipient", recipients[about->input->request->recipient].name);
    kn_json_count(&json, "k", policy_k(about));
    kn_report_put_sets(&json, about->input->tuples, about->sets);
    kn_json_end(&json);
    return kn_json_finish(out, &json, err);
}

/* Types that --type declares; `types` for the others, NULL: as the cells look. */
static kn_status table_read(kn_input *input, const kn_type *types, kn_error *err)
{
    kn_status status = KN_OK;
    kn_source *source = NULL;
    kn_column_plan *plans = NULL;
    const char **names = NULL;
    kn_table_free(input->table);
    input->table = NULL;
    kn_free(input->choices);
    input->choices = NULL;
    KN_TRY(kn_input_open(&source, input, input->request->data, err));
    uint32_t n = kn_source_n_columns(source);
    KN_NEW(plans, n + 1);
    KN_NEW(names, n + 1);
    for (uint32_t c = 0; c < n; c++) names[c] = kn_source_column_name(source, c);
    KN_TRY(kn_settings_columns(&input->choices, input->request->settings, names, n, KN_COLUMNS_OF_HIERARCHY, NULL, NULL,
                               &input->ticker, err));
    for (uint32_t c = 0; c < n; c++) {
        plans[c] = (kn_column_plan){KN_ROLE_QUASI, input->choices[c].type, KN_USE_NOTHING};
        if (types != NULL && plans[c].type == KN_TYPE_AUTO) plans[c].type = types[c];
    }
    KN_TRY(kn_source_read(&input->table, source, plans, input->pool, &input->ticker, err));
    input->form = kn_source_form(source);
done:
    kn_source_close(source);
    kn_free(plans);
    kn_free(names);
    return status;
}

/* Reads the table, and once or twice more where it turns out that cells begin with blanks, or that nearly all of a
 * column are numbers or dates: the policy then says so. */
static kn_status table_read_well(kn_input *input, kn_error *err)
{
    kn_status status = KN_OK;
    kn_table_advice advice = {0};
    kn_buffer nulls = {0};
    uint64_t *rows = NULL;
    KN_TRY(table_read(input, NULL, err));
    KN_TRY(kn_table_advise(&advice, input->table, err));
    if (advice.trim && !input->csv.trim) {
        input->csv.trim = true;
        kn_sentences_add(&input->warnings, kn_said(KN_SAY_TRIMMED));
        kn_table_advice_free(&advice);
        KN_TRY(table_read(input, NULL, err));
        KN_TRY(kn_table_advise(&advice, input->table, err));
    }
    advice.has_misfits = false;
    for (uint32_t c = 0; c < input->table->n_columns; c++) {
        const kn_column *column = &input->table->columns[c];
        uint64_t n_cells;
        if (input->choices[c].type != KN_TYPE_AUTO) advice.types[c] = KN_TYPE_AUTO; /* somebody knows better */
        advice.has_misfits = advice.has_misfits || advice.types[c] != KN_TYPE_AUTO;
        KN_TRY(kn_column_null_words(&n_cells, &nulls, column, input->table->n_rows, err));
        if (advice.types[c] != KN_TYPE_AUTO)
            kn_sentences_add(&input->warnings, KN_SAID(KN_SAY_NEARLY_TYPE, kn_piece_text(column->name),
                                                       kn_piece_text(kn_type_name(advice.types[c]))));
        else if (n_cells > 0 && !input->redact)
            kn_sentences_add(&input->warnings,
                             KN_SAID(KN_SAY_NULL_WORDS, kn_piece_text(column->name), kn_piece_text(nulls.bytes),
                                     kn_piece_number("%llu", (unsigned long long)n_cells)));
        if (advice.types[c] != KN_TYPE_DATE) continue;
        KN_TRY(kn_column_spelling_rows(&rows, column, input->table->n_rows, err));
        kn_input_notice_dates(input, c, rows, true);
        kn_free(rows);
        rows = NULL;
    }
    if (advice.has_misfits) {
        input->csv.invalid_is_missing = true;
        KN_TRY(table_read(input, advice.types, err));
    }
    kn_input_warn_unnamed(input);
    KN_TRY(kn_input_notice(input, err));
    if (!input->redact) KN_TRY(kn_input_notice_no_dates(input, err));
done:
    kn_free(rows);
    kn_buffer_free(&nulls);
    kn_table_advice_free(&advice);
    return status;
}

/* A number, a date, or what another row has in the same column. */
static bool looks_like_data(const kn_column *column)
{
    kn_decimal decimal;
    size_t n = strlen(column->name);
    return kn_decimal_parse(&decimal, column->name, n, true) != KN_NUMBER_NONE ||
           kn_date_forms(column->name, n, KN_DATE_ANY) != 0 || kn_column_find_text(column, column->name, n) != KN_NONE;
}

/* The suggested policy is made of names. Where there is no header they are somebody's data. */
static kn_status header_check(kn_input *input, kn_error *err)
{
    const bool has_header = !input->csv.no_header && kn_is_csv(input->request->data);
    for (uint32_t c = 0; c < input->table->n_columns && has_header; c++) {
        if (!looks_like_data(&input->table->columns[c])) continue;
        if (input->redact)
            return kn_error_set(err, KN_USAGE,
                                "%s: the first line looks like data (column %u), and --redact shows none; say "
                                "--no-header, or give the columns names",
                                input->table->source, c + 1);
        kn_sentences_add(&input->warnings, KN_SAID(KN_SAY_FIRST_LINE_IS_DATA, kn_piece_number("%u", c + 1)));
        break;
    }
    return KN_OK;
}

/* Why each column has the role that it has. */
static void notes_make(const profile *about)
{
    const kn_table *table = about->input->table;
    char shown[KN_SHOWN_BYTES];
    kn_note(about->input, "%s: %u rows, %u columns", table->source, table->n_rows, table->n_columns);
    for (uint32_t c = 0; c < table->n_columns; c++)
        kn_note(about->input, "column '%s': %s, %s: %s",
                kn_settings_column_shown(shown, about->input->request->settings, table->columns[c].name, c),
                kn_type_name(table->columns[c].type), kn_role_name(about->guesses[c].role), about->guesses[c].reason);
}

/* Whoever asks a second time, or for another table, keeps what he edited. */
static kn_status policy_write(kn_input *input, const char *policy, kn_error *err)
{
    const char *path = input->request->output;
    if (path != NULL && !input->request->force && kn_file_differs(path, policy, strlen(policy)))
        return kn_error_set_at(err, KN_USAGE, KN_PLACE(.option = "output", .file = path),
                               "-o %.500s: the file is there and differs from what would be written, so that what "
                               "somebody edited would be lost; give another name, or say --force",
                               path);
    return kn_targets_text(input->targets, "output", policy, err);
}

kn_status kn_job_profile(kn_result **out, const kn_request *request, kn_error *err)
{
    kn_status status = KN_OK;
    profile about = {.person = KN_NONE};
    kn_result *result = NULL;
    char *policy = NULL;
    *out = NULL;
    KN_TRY(kn_input_new(&about.input, request, KN_OUTPUT_STDOUT, err));
    KN_TRY(table_read_well(about.input, err));
    KN_TRY(header_check(about.input, err));
    KN_TRY(guesses_make(&about, err));
    notes_make(&about);
    KN_TRY(sets_count(&about, err));
    KN_TRY(thresholds_make(&about, err));
    KN_TRY(levels_make(&about, err));
    KN_TRY(models_make(&about, err));
    if (!about.input->redact) KN_TRY(kn_derived_propose(&about.ideas, about.input->table, err)); /* one names a date */
    KN_TRY(kn_result_new(&result, err));
    KN_TRY(text_make(&result->text, &about, err));
    KN_TRY(json_make(&result->json, &about, err));
    KN_TRY(policy_make(&policy, &about, err));
    KN_TRY(policy_write(about.input, policy, err));
    KN_TRY(kn_input_deliver(about.input, result, err));
    *out = result;
    result = NULL;
done:
    kn_result_free(result);
    kn_free(policy);
    for (uint32_t c = 0; about.guesses != NULL && c < about.input->table->n_columns; c++) {
        kn_free(about.guesses[c].levels);
        kn_proposal_free(&about.guesses[c].model);
    }
    kn_free(about.guesses);
    kn_column_risk_free(about.sets);
    kn_derived_ideas_free(&about.ideas);
    kn_input_free(about.input);
    return status;
}
