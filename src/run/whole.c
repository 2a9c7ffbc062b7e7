/* Columns of a part with the dictionaries of the whole table; see the header. Cost: a pass over the values of the whole
 * table and over the rows of the part, per column. */
#include "run/whole.h"

#include "hierarchy/builders.h"
#include "source/source.h"
#include "table/infer.h"

#include <math.h>
#include <string.h>

static const char *const names[KN_N_WHOLE] = {"column", "value", "rows"};

kn_status kn_whole_read(kn_whole *out, kn_input *input, kn_error *err)
{
    kn_status status = KN_OK;
    kn_source *source = NULL;
    kn_column_plan plans[KN_N_WHOLE] = {{KN_ROLE_INSENSITIVE, KN_TYPE_TEXT, KN_USE_NOTHING},
                                        {KN_ROLE_INSENSITIVE, KN_TYPE_TEXT, KN_USE_NOTHING},
                                        {KN_ROLE_IDENTIFIER, KN_TYPE_INT, KN_USE_COUNT}};
    kn_column_plan in_order[KN_N_WHOLE];
    const char *path = input->request->domains;
    *out = (kn_whole){0};
    if (path == NULL) return KN_OK;
    if (input->request->certificate != NULL)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "certificate"),
                   "--certificate prices cells by the table at hand, and with --domains it is a part; leave it out");
    KN_TRY(kn_source_open(&source, path, &input->other_sources, err));
    const uint32_t n_columns = kn_source_n_columns(source);
    bool is_one = n_columns == KN_N_WHOLE;
    for (uint32_t i = 0; i < KN_N_WHOLE; i++) {
        uint32_t at = 0;
        while (at < n_columns && strcmp(kn_source_column_name(source, at), names[i]) != 0) at++;
        is_one = is_one && at < n_columns;
        out->columns[i] = at;
        if (is_one) in_order[at] = plans[i];
    }
    if (!is_one)
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.option = "domains", .file = path),
                   "%s: --domains has the columns 'column', 'value' and 'rows': each value of the whole table and how "
                   "many of its rows have it",
                   path);
    KN_TRY(kn_source_read(&out->table, source, in_order, input->pool, &input->ticker, err));
done:
    kn_source_close(source);
    return status;
}

void kn_whole_clear(kn_whole *whole)
{
    kn_table_free(whole->table);
    *whole = (kn_whole){0};
}

bool kn_whole_has(const kn_whole *whole, kn_role role)
{
    return whole->table != NULL && (role == KN_ROLE_QUASI || role == KN_ROLE_SENSITIVE);
}

/* --- One column -------------------------------------------------------------------------------------------------- */

/* The values of one column as the whole table spells them, in the order of the file. */
typedef struct values {
    kn_buffer bytes;
    KN_VECTOR(uint64_t) offset, line, rows;
    uint32_t *place; /* [spelling of the file's column `value`]; KN_NONE: not of this column */
    uint64_t n_rows;
} values;

static void values_clear(values *all)
{
    kn_buffer_free(&all->bytes);
    kn_free(all->offset.items);
    kn_free(all->line.items);
    kn_free(all->rows.items);
    kn_free(all->place);
}

static const kn_column *whole_column(const kn_whole *whole, int which)
{
    return &whole->table->columns[whole->columns[which]];
}

static kn_status values_add(values *all, const kn_whole *whole, uint32_t row, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_column *value = whole_column(whole, KN_WHOLE_VALUE), *rows = whole_column(whole, KN_WHOLE_ROWS);
    const uint32_t spelling = kn_column_code(value, row), count = kn_column_code(rows, row);
    const double number = rows->number != NULL ? rows->number[kn_column_value(rows, count)] : NAN;
    const char *source = whole->table->source;
    size_t n;
    const char *bytes = kn_column_bytes(value, spelling, &n);
    if (!(number >= 1 && number <= 0x1p53))
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = source, .line = rows->first_line[count], .column = rows->name),
                   "%s, line %llu, column rows: a value has a whole number of rows, at least 1; correct the cell",
                   source, (unsigned long long)rows->first_line[count]);
    if (all->place[spelling] != KN_NONE)
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = source, .line = value->first_line[spelling], .column = value->name),
                   "%s: a value of one column stands there twice, first about line %llu; add their rows up", source,
                   (unsigned long long)value->first_line[spelling]);
    all->place[spelling] = (uint32_t)all->rows.n;
    kn_buffer_append(&all->bytes, bytes, n);
    KN_PUSH(&all->offset, all->bytes.n);
    KN_PUSH(&all->line, value->first_line[spelling]);
    KN_PUSH(&all->rows, (uint64_t)number);
    all->n_rows += (uint64_t)number;
done:
    return status;
}

static kn_status values_of(values *all, const kn_whole *whole, const char *name, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_column *column = whole_column(whole, KN_WHOLE_COLUMN), *value = whole_column(whole, KN_WHOLE_VALUE);
    const uint32_t own = kn_column_find_text(column, name, strlen(name));
    KN_NEW_RAW(all->place, value->n_spellings + (size_t)1);
    memset(all->place, 0xFF, value->n_spellings * sizeof *all->place);
    KN_PUSH(&all->offset, 0);
    for (uint32_t row = 0; own != KN_NONE && row < whole->table->n_rows; row++)
        if (kn_column_code(column, row) == own) KN_TRY(values_add(all, whole, row, err));
    if (all->bytes.failed) KN_FAIL(KN_RESOURCES, "out of memory");
done:
    return status;
}

/* (*map)[spelling of the part]: the one of the whole table. */
static kn_status map_spellings(uint32_t **map, kn_column *whole_one, const kn_column *part, const kn_input *input,
                               const kn_whole *whole, const values *all, const uint32_t *new_code, kn_error *err)
{
    kn_status status = KN_OK;
    char shown[KN_SHOWN_BYTES];
    uint64_t *rows = NULL;
    uint64_t *mapped = NULL;
    const kn_table *table = input->table;
    KN_TRY(kn_column_spelling_rows(&rows, part, table->n_rows, err));
    KN_NEW(mapped, whole_one->n_spellings);
    KN_NEW_RAW(*map, part->n_spellings + (size_t)1);
    for (uint32_t s = 0; s < part->n_spellings; s++) {
        size_t n;
        const char *bytes = kn_column_bytes(part, s, &n);
        const uint32_t found = kn_column_find_text(whole_column(whole, KN_WHOLE_VALUE), bytes, n);
        const uint32_t place = found != KN_NONE ? all->place[found] : KN_NONE;
        const unsigned long long line = part->first_line[s];
        const uint32_t code = place != KN_NONE ? new_code[place] : KN_NONE;
        if (code != KN_NONE) mapped[code] += rows[s];
        const bool is_rolled_up = table->counts != NULL; /* a record may stand for rows with other values, too */
        if (code == KN_NONE || (!is_rolled_up && mapped[code] > whole_one->whole_rows[code]))
            KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = table->source, .line = line, .column = part->name),
                       "%s, line %llu, column %s: --domains has the value %s %s; it must have all values of the table "
                       "that this one is a part of, with all of their rows",
                       table->source, line, part->name, kn_value_shown(shown, bytes, n, input->redact),
                       code == KN_NONE ? "not at all" : "in fewer rows");
        (*map)[s] = code;
        whole_one->first_line[code] = line;
    }
done:
    kn_free(mapped);
    kn_free(rows);
    return status;
}

static kn_status take_column(kn_input *input, uint32_t c, const kn_whole *whole, const values *all, kn_error *err)
{
    kn_status status = KN_OK;
    kn_column *part = &input->table->columns[c],
              own = {.name = part->name, .role = part->role, .is_person = part->is_person, .counts = part->counts};
    uint32_t *new_code = NULL, *map = NULL;
    const kn_spellings spellings = {(uint32_t)all->rows.n, all->bytes.bytes != NULL ? all->bytes.bytes : "",
                                    all->offset.items, all->line.items};
    const kn_infer_options options = {.type = input->choices[c].type,
                                      .null_values = input->csv.null_values,
                                      .n_null_values = input->csv.n_null_values,
                                      .decimal = input->csv.decimal,
                                      .invalid_is_missing = input->csv.invalid_is_missing,
                                      .is_quasi = part->role == KN_ROLE_QUASI,
                                      .source = whole->table->source,
                                      .redact = input->redact};
    KN_TRY(kn_column_set_spellings(&own, &new_code, &spellings, &options, err));
    KN_NEW(own.whole_rows, own.n_spellings);
    for (uint32_t i = 0; i < spellings.n; i++) own.whole_rows[new_code[i]] += all->rows.items[i];
    KN_TRY(map_spellings(&map, &own, part, input, whole, all, new_code, err));
    KN_TRY(kn_column_new_codes(&own, input->table->n_rows, err));
    kn_codes_rewrite(own.codes, own.code_bytes, part->codes, part->code_bytes, input->table->n_rows, map);
    const kn_column before = *part;
    *part = own;
    own = before;
done:
    own.name = NULL; /* the table's */
    kn_column_drop(&own);
    kn_free(new_code);
    kn_free(map);
    return status;
}

kn_status kn_whole_take(kn_input *input, const kn_whole *whole, kn_error *err)
{
    kn_status status = KN_OK;
    values all = {0};
    const char *first = NULL;
    uint64_t n_rows = 0;
    for (uint32_t c = 0; c < input->table->n_columns; c++) {
        const kn_column *column = &input->table->columns[c];
        if (!kn_whole_has(whole, column->role)) continue;
        KN_TRY(values_of(&all, whole, column->name, err));
        if (first != NULL && all.n_rows != n_rows)
            KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = whole->table->source, .column = column->name),
                       "%s: column %s has %llu rows and column %s %llu, but a table has as many in every column",
                       whole->table->source, first, (unsigned long long)n_rows, column->name,
                       (unsigned long long)all.n_rows);
        first = column->name;
        n_rows = all.n_rows;
        KN_TRY(take_column(input, c, whole, &all, err));
        values_clear(&all);
        all = (values){0};
    }
done:
    values_clear(&all);
    return status;
}
