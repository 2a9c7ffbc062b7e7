/* A whole program that anonymizes a table in memory: no file is read or written.
 *
 *     cc anonymize_arrow.c $(pkg-config --cflags --libs kanon) -o anonymize_arrow
 *     ./anonymize_arrow
 *
 * The table comes as an Arrow C stream. Programs that have pyarrow, polars, DuckDB, nanoarrow or another Arrow library
 * get one from it; here it is made by hand, over static arrays, to show all there is to it. So is the reading of the
 * released table, whose columns are dictionaries of strings. */
#include <kanon_arrow.h>
#include <stdio.h>
#include <string.h>

enum { N_ROWS = 6, N_COLUMNS = 3 };

/* --- Six people: age int32, city utf8, diagnosis utf8 ------------------------------------------------------------ */

static const int32_t ages[N_ROWS] = {31, 33, 38, 52, 57, 58};
static const int32_t city_ends[N_ROWS + 1] = {0, 4, 8, 12, 16, 20, 24};
static const int32_t diagnosis_ends[N_ROWS + 1] = {0, 3, 9, 12, 18, 21, 27};

static const void *age_buffers[] = {NULL, ages}; /* no null values, then the data */
static const void *city_buffers[] = {NULL, city_ends, "BernGenfBernBernGenfGenf"};
static const void *diagnosis_buffers[] = {NULL, diagnosis_ends, "fluasthmafluasthmafluasthma"};

/* Static memory needs no releasing, but a released thing has no release function any more. */
static void release_schema(struct ArrowSchema *schema) { schema->release = NULL; }
static void release_array(struct ArrowArray *array) { array->release = NULL; }
static void release_stream(struct ArrowArrayStream *stream) { stream->release = NULL; }
static const char *last_error(struct ArrowArrayStream *stream) { return stream->private_data; }

static struct ArrowSchema column_schemas[N_COLUMNS], *schema_pointers[N_COLUMNS];
static struct ArrowArray column_arrays[N_COLUMNS], *array_pointers[N_COLUMNS];

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    static const char *const names[] = {"age", "city", "diagnosis"}, *const formats[] = {"i", "u", "u"};
    (void)stream;
    for (int c = 0; c < N_COLUMNS; c++) {
        memset(&column_schemas[c], 0, sizeof column_schemas[c]);
        column_schemas[c].name = names[c];
        column_schemas[c].format = formats[c];
        column_schemas[c].release = release_schema;
        schema_pointers[c] = &column_schemas[c];
    }
    memset(out, 0, sizeof *out);
    out->format = "+s"; /* a struct: a record batch */
    out->n_children = N_COLUMNS;
    out->children = schema_pointers;
    out->release = release_schema;
    return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    static const void **const buffers[] = {age_buffers, city_buffers, diagnosis_buffers};
    static const void *no_nulls[] = {NULL};
    static int n_batches = 1;
    (void)stream;
    memset(out, 0, sizeof *out); /* no release function: the end of the stream */
    if (n_batches-- == 0) return 0;
    for (int c = 0; c < N_COLUMNS; c++) {
        memset(&column_arrays[c], 0, sizeof column_arrays[c]);
        column_arrays[c].length = N_ROWS;
        column_arrays[c].n_buffers = c == 0 ? 2 : 3;
        column_arrays[c].buffers = buffers[c];
        column_arrays[c].release = release_array;
        array_pointers[c] = &column_arrays[c];
    }
    out->length = N_ROWS;
    out->n_buffers = 1;
    out->buffers = no_nulls;
    out->n_children = N_COLUMNS;
    out->children = array_pointers;
    out->release = release_array;
    return 0;
}

/* --- The released table ------------------------------------------------------------------------------------------ */

/* Fewer than 128 different texts, so the indices are int8 ("c"). */
static void print_cell(const struct ArrowArray *column, int64_t row)
{
    const uint8_t *valid = column->buffers[0];
    const int8_t *indices = column->buffers[1];
    const int32_t *ends = column->dictionary->buffers[1];
    const char *texts = column->dictionary->buffers[2];
    if (valid != NULL && (valid[row / 8] >> row % 8 & 1) == 0) return;
    printf("%.*s", (int)(ends[indices[row] + 1] - ends[indices[row]]), texts + ends[indices[row]]);
}

static void print_table(struct ArrowArrayStream *stream)
{
    struct ArrowSchema schema;
    struct ArrowArray batch;
    if (stream->get_schema(stream, &schema) != 0) return;
    for (int64_t c = 0; c < schema.n_children; c++) printf("%s%s", c > 0 ? "," : "", schema.children[c]->name);
    schema.release(&schema);
    putchar('\n');
    while (stream->get_next(stream, &batch) == 0 && batch.release != NULL) {
        for (int64_t row = 0; row < batch.length; row++)
            for (int64_t c = 0; c < batch.n_children; c++) {
                print_cell(batch.children[c], row);
                putchar(c + 1 < batch.n_children ? ',' : '\n');
            }
        batch.release(&batch);
    }
}

int main(void)
{
    kn_error err;
    kn_settings *settings = NULL;
    kn_result *result = NULL;
    struct ArrowArrayStream people = {get_schema, get_next, last_error, release_stream, NULL}, released;
    memset(&err, 0, sizeof err);
    kn_status status = kn_settings_new(&settings, &err);
    if (status == KN_OK) status = kn_settings_set_table(settings, "data", &people, &err);
    if (status == KN_OK) status = kn_settings_set(settings, "qi", "age,city", &err);
    if (status == KN_OK) status = kn_settings_set(settings, "sensitive", "diagnosis", &err);
    if (status == KN_OK) status = kn_settings_set(settings, "k", "3", &err);
    if (status == KN_OK) status = kn_settings_set(settings, "model", "l-diversity:l=2", &err);
    if (status == KN_OK) status = kn_anonymize(&result, settings, &err);
    if (status == KN_OK) status = kn_result_table(result, &released, &err);
    kn_result_free(result); /* the released table lives on without them */
    kn_settings_free(settings);
    if (status == KN_OK) {
        print_table(&released);
        released.release(&released);
    } else {
        fprintf(stderr, "%s\n", err.message);
    }
    return status;
}
