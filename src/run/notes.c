/* Sentences for somebody who watches. Columns are called as in every message, values are not told. */
#include "run/notes.h"

#include "base/characters.h"

#include <stdarg.h>
#include <stdio.h>

void kn_note(const kn_input *input, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    if (input->request->note == NULL) return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    kn_text_mend(text, sizeof text);
    input->request->note(input->request->note_user, text);
}

void kn_note_stage(const kn_input *input, const char *stage, double seconds)
{
    kn_note(input, "%s took %.*f s", stage, seconds < 10 ? 2 : 0, seconds);
}

void kn_note_table(const kn_input *input)
{
    static const char *const encodings[] = {"UTF-8", "Latin-1", "UTF-16"};
    const kn_table *table = input->table;
    uint32_t n_roles[KN_ROLE_DROPPED + 1] = {0};
    for (uint32_t c = 0; c < table->n_columns; c++) n_roles[table->columns[c].role]++;
    kn_note(input, "%s: %u rows, %u columns", table->source, table->n_rows, table->n_columns);
    if (!kn_is_table_name(input->path) && input->form.delimiter != '\0')
        kn_note(input, "read as %s, delimiter %s%c%s, %s header", encodings[input->csv.encoding],
                input->form.delimiter == '\t' ? "tab" : "'",
                input->form.delimiter == '\t' ? ' ' : input->form.delimiter, input->form.delimiter == '\t' ? "" : "'",
                input->form.has_header ? "with a" : "without a");
    kn_note(input, "roles: %u quasi, %u sensitive, %u insensitive, %u identifier, %u left out", n_roles[KN_ROLE_QUASI],
            n_roles[KN_ROLE_SENSITIVE], n_roles[KN_ROLE_INSENSITIVE], n_roles[KN_ROLE_IDENTIFIER],
            n_roles[KN_ROLE_DROPPED]);
}

void kn_note_columns(const kn_input *input)
{
    const kn_tuples *tuples = input->tuples;
    for (uint32_t q = 0; q < input->n_qis && input->request->note != NULL; q++) {
        const kn_domain *domain = input->domains[q];
        const uint32_t c = (uint32_t)(domain->column - input->table->columns);
        const kn_column_choice *choice = input->choices != NULL ? &input->choices[c] : NULL;
        char shown[KN_SHOWN_BYTES], how[120] = "";
        if (domain->tree != NULL)
            snprintf(how, sizeof how, "%.80s, %u levels",
                     choice != NULL && choice->hierarchy != NULL ? choice->hierarchy : "a tree of its own",
                     domain->tree->n_levels);
        else if (choice != NULL && choice->grid != NULL && domain->kind == KN_DOMAIN_RANGES)
            snprintf(how, sizeof how, "intervals on the grid %.40s", choice->grid);
        else snprintf(how, sizeof how, "%s", domain->kind == KN_DOMAIN_RANGES ? "intervals" : "sets of values");
        kn_note(input, "column '%s': %s, %u values; %s",
                kn_settings_column_shown(shown, input->request->settings, domain->name, c),
                kn_type_name(domain->column->type), domain->column->n_values, how);
    }
    kn_note(input, "%u distinct combinations of %u quasi-identifiers, %llu persons", tuples->n_tuples, input->n_qis,
            (unsigned long long)tuples->n_persons);
}

void kn_note_goals(const kn_input *input)
{
    for (size_t m = 0; m < input->request->models.n; m++) kn_note(input, "model %s", input->request->models.items[m]);
    kn_note(input, "measure %s; at most %llu rows suppressed", input->request->measure,
            (unsigned long long)input->max_suppressed);
}
