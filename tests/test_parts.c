/* Parts of tables (--domains): types, codes, labels, prices and distributions are those of the whole table. */
#include "file_support.h"
#include "support.h"

#include "base/buffer.h"
#include "hierarchy/build.h"
#include "policy/settings.h"
#include "run/input.h"

#include <kanon.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Random tables ------------------------------------------------------------------------------------------------ */

enum { N_WHOLE = 300, N_COLUMNS = 6 };
static const char *const names[N_COLUMNS] = {"age", "pay", "day", "zip", "ill", "grade"};

/* A part lacks values, and what it has looks like another type: whole numbers where others are not, dates that could be
 * m/d/y, no missing cell. */
static void put_cell(char out[40], kn_rng *rng, int column)
{
    static const char *const illnesses[] = {"flu", "Flu ", "gout", "cold", "", "\"a,b\""};
    const unsigned n = (unsigned)kn_rng_below(rng, 40);
    switch (column) {
    case 0:
        snprintf(out, 40, kn_rng_below(rng, 30) == 0 ? "" : kn_rng_below(rng, 6) == 0 ? "%u.0" : "%u", 20 + n);
        break;
    case 1: snprintf(out, 40, "%u%s", 1000 + 137 * n, n % 3 == 0 ? ".5" : ""); break;
    case 2: snprintf(out, 40, "%02u/%02u/2024", n % 28 + 1, n % 12 + 1); break;
    case 3: snprintf(out, 40, "%04u", 8000 + n * (n % 2 == 0 ? 1 : 20)); break;
    case 4: snprintf(out, 40, "%s", illnesses[kn_rng_below(rng, 6)]); break;
    default: snprintf(out, 40, "%u", 1 + (unsigned)kn_rng_below(rng, 6)); break;
    }
}

typedef struct tables {
    char cells[N_WHOLE][N_COLUMNS][40];
    uint32_t part[N_WHOLE], n_part; /* its rows */
} tables;

static void write_rows(const char *path, const tables *all, const uint32_t *rows, uint32_t n)
{
    kn_buffer text = {0};
    for (int c = 0; c < N_COLUMNS; c++) kn_buffer_printf(&text, "%s%s", c > 0 ? "," : "", names[c]);
    for (uint32_t i = 0; i < n; i++)
        for (int c = 0; c < N_COLUMNS; c++)
            kn_buffer_printf(&text, "%c%s", c > 0 ? ',' : '\n', all->cells[rows != NULL ? rows[i] : i][c]);
    kn_buffer_char(&text, '\n');
    write_file(path, text.bytes, text.n);
    kn_buffer_free(&text);
}

/* Counts each cell of the whole table, the dumb way. */
static void write_domains(const char *path, const tables *all)
{
    kn_buffer text = {0};
    kn_buffer_text(&text, "rows,column,value\n");
    for (int c = 0; c < N_COLUMNS; c++)
        for (int row = 0; row < N_WHOLE; row++) {
            int n = 0, before = 0;
            for (int other = 0; other < N_WHOLE; other++) {
                const bool same = strcmp(all->cells[row][c], all->cells[other][c]) == 0;
                n += same;
                before += same && other < row;
            }
            if (before == 0) kn_buffer_printf(&text, "%d,%s,%s\n", n, names[c], all->cells[row][c]);
        }
    write_file(path, text.bytes, text.n);
    kn_buffer_free(&text);
}

/* whole.csv, part.csv and domains.csv. A part is what one column says, as a cut makes it, or anything. */
static void make_tables(tables *all, kn_rng *rng)
{
    for (int row = 0; row < N_WHOLE; row++)
        for (int c = 0; c < N_COLUMNS; c++) put_cell(all->cells[row][c], rng, c);
    const int by = (int)kn_rng_below(rng, 7);
    all->n_part = 0;
    for (uint32_t row = 0; row < N_WHOLE; row++)
        if (by == 6 ? kn_rng_below(rng, 4) == 0 : strcmp(all->cells[row][by], all->cells[0][by]) <= 0)
            all->part[all->n_part++] = row;
    write_rows(path_of("whole.csv"), all, NULL, N_WHOLE);
    write_rows(path_of("part.csv"), all, all->part, all->n_part);
    write_domains(path_of("domains.csv"), all);
}

static kn_settings *settings_of(const char *data, bool is_part, const char *const *options)
{
    kn_settings *settings;
    assert_ok(kn_settings_new(&settings, err));
    assert_ok(kn_settings_set(settings, "data", path_of(data), err));
    assert_ok(kn_settings_set(settings, "qi", "age,pay,day,zip", err));
    assert_ok(kn_settings_set(settings, "sensitive", "ill,grade", err));
    if (is_part) assert_ok(kn_settings_set(settings, "domains", path_of("domains.csv"), err));
    for (; *options != NULL; options++) {
        char name[40];
        const char *equals = strchr(*options, '=');
        snprintf(name, sizeof name, "%.*s", (int)(equals - *options), *options);
        assert_ok(kn_settings_set(settings, name, equals + 1, err));
    }
    return settings;
}

/* --- The first stages of a run -------------------------------------------------------------------------------------
 */

typedef struct stages {
    kn_settings *settings;
    kn_request *request;
    kn_input *input;
} stages;

static stages run_stages(const char *data, bool is_part, const char *const *options, bool must_be_tree)
{
    stages s = {.settings = settings_of(data, is_part, options)};
    assert_ok(kn_request_new(&s.request, s.settings, err));
    assert_ok(kn_input_new(&s.input, s.request, KN_OUTPUT_RELEASE, err));
    assert_ok(kn_input_read(s.input, s.request->data, KN_COLUMNS_OF_DATA, err));
    assert_ok(kn_input_encode(s.input, must_be_tree, err));
    assert_ok(kn_input_goals(s.input, err));
    return s;
}

static void end_stages(stages *s)
{
    kn_input_free(s->input);
    kn_request_free(s->request);
    kn_settings_free(s->settings);
}

/* The spelling of `other` with the bytes of a spelling of `column`. */
static uint32_t same_spelling(const kn_column *other, const kn_column *column, uint32_t spelling)
{
    size_t n, n_other;
    const char *bytes = kn_column_bytes(column, spelling, &n);
    for (uint32_t s = 0; s < other->n_spellings; s++) {
        const char *own = kn_column_bytes(other, s, &n_other);
        if (n == n_other && memcmp(own, bytes, n) == 0) return s;
    }
    return KN_NONE;
}

static void assert_same_column(const kn_column *part, const kn_column *whole)
{
    assert_int_equal(part->type, whole->type);
    assert_int_equal(part->n_spellings, whole->n_spellings);
    assert_int_equal(part->n_values, whole->n_values);
    assert_int_equal(part->has_missing, whole->has_missing);
    assert_int_equal(part->marks, whole->marks);
    for (uint32_t s = 0; s < whole->n_spellings; s++) {
        assert_int_equal(same_spelling(part, whole, s), s);
        assert_int_equal(kn_column_value(part, s), kn_column_value(whole, s));
    }
    for (uint32_t v = 0; whole->number != NULL && v < whole->n_values; v++)
        assert_memory_equal(&part->number[v], &whole->number[v], sizeof(double));
}

static void assert_same_domain(const kn_domain *part, const kn_domain *whole)
{
    assert_int_equal(part->kind, whole->kind);
    assert_int_equal(part->n_codes, whole->n_codes);
    assert_int_equal(part->missing, whole->missing);
    assert_int_equal(part->naming, whole->naming);
    assert_memory_equal(part->code_of_spelling, whole->code_of_spelling,
                        whole->column->n_spellings * sizeof *whole->code_of_spelling);
    assert_memory_equal(part->spelling_of_code, whole->spelling_of_code,
                        whole->n_codes * sizeof *whole->spelling_of_code);
    assert_memory_equal(part->rows_before, whole->rows_before, (whole->n_codes + 1) * sizeof(uint64_t));
    assert_int_equal(part->tree != NULL, whole->tree != NULL);
    assert_int_equal(part->grid_first != NULL, whole->grid_first != NULL);
    if (whole->grid_first != NULL) {
        assert_memory_equal(part->grid_first, whole->grid_first, whole->n_codes * sizeof(uint32_t));
        assert_memory_equal(part->grid_last, whole->grid_last, whole->n_codes * sizeof(uint32_t));
    }
    if (whole->tree != NULL) {
        char *a, *b;
        assert_ok(kn_tree_to_text(&a, part->tree, err));
        assert_ok(kn_tree_to_text(&b, whole->tree, err));
        assert_string_equal(a, b);
        kn_free(a);
        kn_free(b);
    }
}

/* Rows of the part itself are still known. */
static void assert_seen_rows(const kn_domain *domain, const kn_input *input)
{
    const kn_column *column = domain->column;
    for (uint32_t code = 0; code < domain->n_codes; code++) {
        uint64_t n = 0;
        for (uint32_t row = 0; row < input->table->n_rows; row++)
            n += domain->code_of_spelling[kn_column_code(column, row)] == code;
        assert_int_equal(kn_domain_seen_rows(domain, code), n);
    }
}

/* The closures of random codes: same text, same price under every measure of cells. */
static void assert_same_cells(const stages *part, const stages *whole, kn_rng *rng)
{
    kn_set_pool *sets[2];
    assert_ok(kn_set_pool_new(&sets[0], err));
    assert_ok(kn_set_pool_new(&sets[1], err));
    for (uint32_t q = 0; q < whole->input->n_qis; q++)
        for (int i = 0; i < 30; i++) {
            const kn_domain *domains[2] = {part->input->domains[q], whole->input->domains[q]};
            const kn_objective *objectives[2] = {part->input->objective, whole->input->objective};
            uint32_t codes[4], n = 1 + (uint32_t)kn_rng_below(rng, 4);
            kn_buffer text[2] = {{0}};
            double price[2];
            for (uint32_t c = 0; c < n; c++) codes[c] = (uint32_t)kn_rng_below(rng, domains[0]->n_codes);
            for (int t = 0; t < 2; t++) {
                kn_cell cell;
                assert_ok(kn_domain_closure(&cell, domains[t], sets[t], codes, n, err));
                kn_cell_text(&text[t], &cell, domains[t], sets[t]);
                price[t] = kn_objective_price(objectives[t], sets[t], q, &cell);
                kn_buffer_char(&text[t], '\0');
            }
            assert_string_equal(text[0].bytes, text[1].bytes);
            assert_true(price[0] == price[1]);
            kn_buffer_free(&text[0]);
            kn_buffer_free(&text[1]);
        }
    kn_set_pool_free(sets[0]);
    kn_set_pool_free(sets[1]);
}

static void labels_and_prices_of_a_part_are_those_of_the_whole_table(void **state)
{
    static const char *const plain[] = {"k=1", NULL};
    static const char *const trees[] = {"k=1",
                                        "hierarchy=age=intervals(5,20)",
                                        "hierarchy=pay=auto",
                                        "hierarchy=day=date(month,year)",
                                        "hierarchy=zip=mask(right)",
                                        "fold-sensitive=yes",
                                        NULL};
    static const char *const coded[] = {"k=1", "top=age=50", "round=pay=500", "hierarchy=zip=suppress", NULL};
    static const char *const *const options[] = {plain, trees, coded};
    kn_rng rng = kn_rng_new(3, 0);
    tables *all = malloc(sizeof *all);
    size_t n_measures;
    const kn_measure *const *measures = kn_measure_all(&n_measures);
    for (int i = 0; i < 24; i++) {
        make_tables(all, &rng);
        const char *const *asked = options[i % 3];
        const char *own[12];
        size_t n = 0, m = (size_t)i % n_measures;
        char measure[60];
        while (measures[m]->price_cell == NULL) m = (m + 1) % n_measures;
        while (asked[n] != NULL) own[n] = asked[n], n++;
        snprintf(measure, sizeof measure, "measure=%s", measures[m]->name);
        own[n++] = measure;
        own[n] = NULL;
        const bool must_be_tree = i % 3 == 1 && i % 2 == 0;
        stages whole = run_stages("whole.csv", false, own, must_be_tree);
        stages part = run_stages("part.csv", true, own, must_be_tree);
        for (uint32_t c = 0; c < N_COLUMNS; c++)
            assert_same_column(&part.input->table->columns[c], &whole.input->table->columns[c]);
        for (uint32_t row = 0; row < all->n_part; row++)
            for (uint32_t c = 0; c < N_COLUMNS; c++)
                assert_int_equal(kn_column_code(&part.input->table->columns[c], row),
                                 kn_column_code(&whole.input->table->columns[c], all->part[row]));
        for (uint32_t q = 0; q < whole.input->n_qis; q++) {
            assert_same_domain(part.input->domains[q], whole.input->domains[q]);
            if (i % 3 != 2) assert_seen_rows(part.input->domains[q], part.input);
        }
        assert_same_cells(&part, &whole, &rng);
        end_stages(&part);
        end_stages(&whole);
    }
    free(all);
}

/* --- Distributions --------------------------------------------------------------------------------------------------
 */

static double share_of(const tables *all, const uint32_t *rows, uint32_t n, int column, const char *value)
{
    double same = 0;
    for (uint32_t i = 0; i < n; i++) same += strcmp(all->cells[rows != NULL ? rows[i] : i][column], value) == 0;
    return same / n;
}

/* Of the grades 1 to 6 in these rows from those of the whole table: the definitions, equal and ordered. */
static double distance_of(const tables *all, const uint32_t *rows, uint32_t n, bool ordered)
{
    double sum = 0, below = 0;
    for (int grade = 1; grade <= 6; grade++) {
        char value[12];
        snprintf(value, sizeof value, "%d", grade);
        const double gap = share_of(all, rows, n, 5, value) - share_of(all, NULL, N_WHOLE, 5, value);
        below += gap;
        sum += ordered ? fabs(below) / 5 : fabs(gap) / 2;
    }
    return sum;
}

static kn_class_counts class_of_part(kn_histogram histograms[2], uint32_t values[8], uint64_t counts[8],
                                     const stages *part, const tables *all, const uint32_t *chosen, uint32_t n)
{
    const kn_column *column = &part->input->table->columns[5];
    histograms[1] = (kn_histogram){0, values, counts};
    for (uint32_t value = 0; value < column->n_values; value++) {
        uint32_t same = 0;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t row = 0; row < all->n_part; row++)
                same += all->part[row] == chosen[i] && kn_column_value(column, kn_column_code(column, row)) == value;
        if (same == 0) continue;
        values[histograms[1].n] = value;
        counts[histograms[1].n++] = same;
    }
    return (kn_class_counts){.n_rows = n, .n_persons = n, .sensitive = histograms};
}

static void closeness_of_a_part_is_that_to_the_whole_table(void **state)
{
    static const char *const asked[] = {"k=1", "model=t-closeness:column=grade,t=1",
                                        "model=t-closeness:column=grade,t=1,distance=ordered",
                                        "model=beta-likeness:column=grade,beta=50,enhanced=no", NULL};
    kn_rng rng = kn_rng_new(4, 0);
    tables *all = malloc(sizeof *all);
    for (int i = 0; i < 20; i++) {
        make_tables(all, &rng);
        stages part = run_stages("part.csv", true, asked, false);
        for (int class = 0; class < 20; class ++) {
            kn_histogram histograms[2] = {{0}};
            uint32_t values[8], chosen[N_WHOLE], n = 0;
            uint64_t counts[8];
            for (uint32_t row = 0; row < all->n_part; row++)
                if (n == 0 || kn_rng_below(&rng, 3) == 0) chosen[n++] = all->part[row];
            kn_class_counts own = class_of_part(histograms, values, counts, &part, all, chosen, n);
            double gain = 0;
            for (int grade = 1; grade <= 6; grade++) {
                char value[12];
                snprintf(value, sizeof value, "%d", grade);
                gain = fmax(gain, share_of(all, chosen, n, 5, value) / share_of(all, NULL, N_WHOLE, 5, value) - 1);
            }
            const double due[] = {distance_of(all, chosen, n, false), distance_of(all, chosen, n, true), gain};
            for (int m = 0; m < 3; m++)
                assert_true(fabs(kn_model_value(&part.input->models->items[m + 1], &own) - due[m]) < 1e-9);
        }
        end_stages(&part);
    }
    free(all);
}

/* --- Whole runs -----------------------------------------------------------------------------------------------------
 */

typedef struct released_rows {
    char *text;
    char *lines[N_WHOLE + 1];
    uint32_t n;
} released_rows;

static released_rows split_rows(char *text)
{
    released_rows rows = {.text = text};
    for (char *line = strtok(strchr(text, '\n') + 1, "\n"); line != NULL; line = strtok(NULL, "\n"))
        rows.lines[rows.n++] = line;
    return rows;
}

/* What the library and its verifier say is what the released file shows. Rows stand as in the part. */
static void the_verifier_compares_with_the_whole_table(void **state)
{
    static const char *const asked[] = {"k=4",
                                        "algorithm=mondrian",
                                        "model=t-closeness:column=grade,t=0.6",
                                        "model=t-closeness:column=grade,t=0.5,distance=ordered",
                                        "order=input",
                                        NULL};
    kn_rng rng = kn_rng_new(8, 0);
    tables *all = malloc(sizeof *all);
    int n_released = 0;
    for (int i = 0; i < 20; i++) {
        kn_result *result = NULL;
        kn_error failure = {0};
        make_tables(all, &rng);
        kn_settings *settings = settings_of("part.csv", true, asked);
        assert_ok(kn_settings_set(settings, "output", path_of("release.csv"), err));
        const kn_status status = kn_anonymize(&result, settings, &failure);
        const bool possible = distance_of(all, all->part, all->n_part, false) <= 0.6 &&
                              distance_of(all, all->part, all->n_part, true) <= 0.5 && all->n_part >= 4;
        assert_int_equal(status, possible ? KN_OK : KN_NOT_MET);
        if (status == KN_OK) {
            released_rows rows = split_rows(read_file(path_of("release.csv"), NULL));
            double worst[2] = {0};
            assert_int_equal(rows.n, all->n_part);
            for (uint32_t row = 0; row < rows.n; row++) { /* the quasi-identifiers stand first */
                uint32_t own[N_WHOLE], n = 0;
                size_t n_bytes = 0;
                for (int comma = 0; comma < 4; n_bytes++) comma += rows.lines[row][n_bytes] == ',';
                for (uint32_t other = 0; other < rows.n; other++)
                    if (strncmp(rows.lines[row], rows.lines[other], n_bytes) == 0) own[n++] = all->part[other];
                for (int m = 0; m < 2; m++) worst[m] = fmax(worst[m], distance_of(all, own, n, m == 1));
            }
            json_t *json = json_loads(kn_result_json(result), 0, NULL);
            for (int m = 0; m < 2; m++) {
                const json_t *model = json_array_get(json_object_get(json, "models"), (size_t)m + 1);
                assert_true(fabs(json_real_value(json_object_get(model, "worst")) - worst[m]) < 1e-6);
            }
            json_decref(json);
            free(rows.text);
            n_released++;
        }
        kn_result_free(result);
        kn_settings_free(settings);
    }
    assert_true(n_released >= 3);
    free(all);
}

static void refuse(const char *domains, const char *option, kn_status expected, const char *part_of_message)
{
    kn_result *result = NULL;
    kn_error failure = {0};
    write_text(path_of("part.csv"), "age,ill\n30,flu\n30,gout\n31,flu\n");
    write_text(path_of("domains.csv"), domains);
    kn_settings *settings;
    assert_ok(kn_settings_new(&settings, err));
    const char *const options[][2] = {{"data", path_of("part.csv")},       {"qi", "age"}, {"sensitive", "ill"},
                                      {"domains", path_of("domains.csv")}, {"k", "2"},    {"algorithm", "mondrian"}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        assert_ok(kn_settings_set(settings, options[i][0], options[i][1], err));
    assert_ok(kn_settings_set(settings, "output", path_of("none.csv"), err));
    if (option != NULL) assert_ok(kn_settings_set(settings, option, path_of("certificate"), err));
    assert_int_equal(kn_anonymize(&result, settings, &failure), expected);
    if (strstr(failure.message, part_of_message) == NULL) fail_msg("%s", failure.message);
    assert_null(result);
    kn_settings_free(settings);
}

static void domains_that_cannot_be_the_whole_tables_are_refused(void **state)
{
    refuse("column,value\nage,30\n", NULL, KN_INPUT, "'column', 'value' and 'rows'");
    refuse("column,value,rows\nage,30,3\nill,flu,2\nill,gout,1\n", NULL, KN_INPUT, "'31' not at all");
    refuse("column,value,rows\nage,30,1\nage,31,2\nill,flu,2\nill,gout,1\n", NULL, KN_INPUT, "'30' in fewer rows");
    refuse("column,value,rows\nage,30,2\nage,31,2\nill,flu,2\nill,gout,1\n", NULL, KN_INPUT, "as many in every column");
    refuse("column,value,rows\nage,30,2\nage,31,0\nill,flu,2\nill,gout,1\n", NULL, KN_INPUT, "at least 1");
    refuse("column,value,rows\nage,30,2\nage,31,1\nage,31,1\nill,flu,2\nill,gout,1\n", NULL, KN_INPUT, "twice");
    refuse("column,value,rows\nage,30,2\nage,31,1\n", NULL, KN_INPUT, "rows");
    refuse("column,value,rows\nage,30,2\nage,31,1\nill,flu,2\nill,gout,1\n", "certificate", KN_USAGE, "leave it out");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_and_prices_of_a_part_are_those_of_the_whole_table),
        cmocka_unit_test(closeness_of_a_part_is_that_to_the_whole_table),
        cmocka_unit_test(the_verifier_compares_with_the_whole_table),
        cmocka_unit_test(domains_that_cannot_be_the_whole_tables_are_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
