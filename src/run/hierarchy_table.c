/* The table is read like any other and written down as the lines of a hierarchy file, every label in quotes. */
#include "run/hierarchy_table.h"

#include "hierarchy/builders.h"

#include <string.h>

static void put_label(kn_buffer *lines, const kn_column *column, uint32_t row)
{
    size_t n;
    const char *bytes = kn_column_bytes(column, kn_column_code(column, row), &n);
    if (n != 0) kn_buffer_quoted(lines, bytes, n); /* an empty label is refused with its line and column */
}

/* What a file says in its first line, a table says in its first row; the cells behind it mean nothing. */
static bool put_mark(kn_buffer *lines, const kn_table *table)
{
    size_t n;
    if (table->n_rows == 0 || table->n_columns == 0) return false;
    const char *bytes = kn_column_bytes(&table->columns[0], kn_column_code(&table->columns[0], 0), &n);
    if (n < strlen(KN_MADE_FROM_DATA) || memcmp(bytes, KN_MADE_FROM_DATA, strlen(KN_MADE_FROM_DATA)) != 0) return false;
    kn_buffer_text(lines, KN_MADE_FROM_DATA "\n");
    return true;
}

kn_status kn_hierarchy_table(char **text, size_t *n_bytes, kn_input *input, const char *path, kn_error *err)
{
    kn_status status = KN_OK;
    kn_source *source = NULL;
    kn_column_plan *plans = NULL;
    kn_table *table = NULL;
    kn_buffer lines = {0};
    *text = NULL;
    *n_bytes = 0;
    if (path == NULL || !kn_is_table_name(path)) return KN_OK;
    KN_TRY(kn_source_open(&source, path, &input->other_sources, err));
    uint32_t n_columns = kn_source_n_columns(source);
    KN_NEW(plans, n_columns);
    for (uint32_t c = 0; c < n_columns; c++)
        plans[c] = (kn_column_plan){KN_ROLE_INSENSITIVE, KN_TYPE_TEXT, KN_USE_NOTHING};
    KN_TRY(kn_source_read(&table, source, plans, input->pool, &input->ticker, err));
    for (uint32_t row = put_mark(&lines, table) ? 1 : 0; row < table->n_rows; row++)
        for (uint32_t c = 0; c < n_columns; c++) {
            put_label(&lines, &table->columns[c], row);
            kn_buffer_char(&lines, c + 1 < n_columns ? ';' : '\n');
        }
    *n_bytes = lines.n;
    KN_TRY(kn_buffer_finish(text, &lines, err));
done:
    kn_buffer_free(&lines);
    kn_table_free(table);
    kn_free(plans);
    kn_source_close(source);
    return status;
}

kn_status kn_input_others(const kn_column ***out, uint32_t *n, const kn_input *input, uint32_t column, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_table *table = input->table;
    *n = 0;
    KN_NEW(*out, table->n_columns);
    for (uint32_t c = 0; c < table->n_columns; c++) {
        const bool is_withheld = input->withheld != NULL && input->withheld[c];
        if (c == column || table->columns[c].role != KN_ROLE_QUASI || is_withheld) continue;
        (*out)[(*n)++] = &table->columns[c];
    }
done:
    return status;
}

/* A slip in the policy is found at its line; other options than the hierarchy do not know theirs. */
static void say_where(kn_error *err, const kn_input *input, const char *column)
{
    char file[KN_FILE_BYTES];
    kn_place place;
    if (err == NULL || err->file[0] != '\0' || err->option[0] == '\0') return;
    const char *where = kn_settings_detail_where(input->request->settings, err->option, column);
    if (where == NULL) return;
    const kn_error plain = *err;
    kn_place_split(&place, file, where);
    err->message[0] = '\0'; /* the first message would win */
    place.option = plain.option;
    place.column = column;
    kn_error_set_at(err, plain.code, &place, "%s: %s", where, plain.message);
}

kn_status kn_input_domain(kn_domain **out, kn_input *input, uint32_t column, bool must_be_tree, kn_error *err)
{
    return kn_input_domain_or_lacking(out, NULL, input, column, must_be_tree, err);
}

kn_status kn_input_domain_or_lacking(kn_domain **out, kn_lacking *lacking, kn_input *input, uint32_t column,
                                     bool must_be_tree, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_table *table = input->table;
    const kn_column_choice *choice = &input->choices[column];
    const bool is_quasi = table->columns[column].role == KN_ROLE_QUASI;
    kn_hierarchy_request request = {
        .spec = choice->hierarchy,
        .base_folder = choice->hierarchy_folder,
        .where = choice->hierarchy_where,
        .must_be_tree = must_be_tree || !is_quasi,
        .weight = is_quasi ? choice->weight : 1,
        .min_level = is_quasi ? choice->min_level : 0,
        .max_level = is_quasi ? choice->max_level : KN_NONE,
        .redact = input->redact,
        .missing_is_wildcard = is_quasi && input->request->missing == KN_MISSING_WILDCARD,
        .grid = choice->grid != NULL || choice->hierarchy == NULL ? choice->grid
                                                                  : kn_input_usual_grid(&table->columns[column]),
        .top = is_quasi ? choice->top : NULL,
        .bottom = is_quasi ? choice->bottom : NULL,
        .round = is_quasi ? choice->round : NULL,
        .withheld = input->withheld != NULL && input->withheld[column],
        .files = input->files,
        .lacking = lacking,
    };
    char *text = NULL;
    const kn_column **others = NULL;
    *out = NULL;
    KN_TRY(kn_input_others(&others, &request.n_others, input, column, err));
    request.others = others;
    if (choice->grid != NULL && request.round != NULL && strcmp(choice->grid, request.round) != 0)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "grid", .column = table->columns[column].name),
                   "column %s: round: %.40s says where intervals end; remove the grid %.40s",
                   table->columns[column].name, request.round, choice->grid);
    if (choice->grid != NULL && strcmp(choice->grid, "exact") != 0 && choice->hierarchy != NULL && is_quasi)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "grid", .column = table->columns[column].name),
                   "column %s: its hierarchy says where intervals end; remove the grid %.40s, or the hierarchy",
                   table->columns[column].name, choice->grid);
    KN_TRY(kn_hierarchy_table(&text, &request.n_text_bytes, input, request.spec, err));
    if (text == NULL && is_quasi && request.spec == NULL && input->labels_make_trees && input->schema != NULL) {
        KN_TRY(kn_schema_lines(&text, &request.n_text_bytes, input->schema, table->columns[column].name,
                               &table->columns[column], true, err));
        if (text != NULL) request.spec = "the labels of the schema";
    }
    request.text = text;
    status = kn_domain_build(out, &table->columns[column], table->source, table->n_rows, &request, err);
    KN_TRY(kn_error_about(err, status, KN_PLACE(.option = "hierarchy", .column = table->columns[column].name)));
done:
    if (status == KN_USAGE) say_where(err, input, table->columns[column].name);
    kn_free(text);
    kn_free(others);
    return status;
}

kn_status kn_input_tree(kn_tree **out, kn_input *input, const char *path, kn_error *err)
{
    kn_status status = KN_OK;
    char *text = NULL;
    size_t n_bytes;
    *out = NULL;
    KN_TRY(kn_hierarchy_table(&text, &n_bytes, input, path, err));
    if (text != NULL) KN_TRY(kn_tree_parse(out, text, n_bytes, path, input->redact, err));
    else KN_TRY(kn_tree_read(out, path, input->redact, input->files, err));
done:
    kn_free(text);
    return status;
}
