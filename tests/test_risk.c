/* Risk: every figure is recomputed from its definition on small random tables, and compared with published ones. */
#include "support.h"

#include "hierarchy/build.h"
#include "risk/risk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROWS 64
#define MAX_QIS  6

/* --- Small tables in codes ---------------------------------------------------------------------------------------- */

typedef struct small {
    uint32_t n_rows, n_qis, n_persons;
    uint32_t cell[MAX_ROWS][MAX_QIS], person[MAX_ROWS], sensitive[MAX_ROWS];
} small;

static small small_random(kn_rng *rng, bool persons)
{
    small table = {.n_rows = 1 + kn_rng_below(rng, 24), .n_qis = 1 + kn_rng_below(rng, 5)};
    uint32_t n_codes = 1 + kn_rng_below(rng, 5);
    table.n_persons = persons ? 1 + kn_rng_below(rng, table.n_rows) : table.n_rows;
    for (uint32_t r = 0; r < table.n_rows; r++) {
        for (uint32_t q = 0; q < table.n_qis; q++) table.cell[r][q] = kn_rng_below(rng, n_codes);
        table.person[r] = persons ? kn_rng_below(rng, table.n_persons) : r;
        table.sensitive[r] = kn_rng_below(rng, 3);
    }
    return table;
}

static bool same_on(const small *table, uint64_t columns, uint32_t a, uint32_t b)
{
    for (uint32_t q = 0; q < table->n_qis; q++)
        if ((columns >> q & 1) && table->cell[a][q] != table->cell[b][q]) return false;
    return true;
}

typedef struct encoded {
    kn_tuples tuples;
    kn_domain domains[MAX_QIS], *domain_pointers[MAX_QIS];
    uint32_t codes[MAX_QIS][MAX_ROWS], *code_pointers[MAX_QIS];
    uint64_t rows[MAX_ROWS], persons[MAX_ROWS];
    uint32_t row_tuple[MAX_ROWS], row_person[MAX_ROWS];
    kn_sensitive sensitive;
    uint64_t value_rows[3];
    uint32_t start[MAX_ROWS + 1], values[MAX_ROWS * 3];
    uint64_t counts[MAX_ROWS * 3];
} encoded;

static bool first_with(const small *table, uint64_t columns, uint32_t row)
{
    for (uint32_t r = 0; r < row; r++)
        if (same_on(table, columns, r, row)) return false;
    return true;
}

/* Distinct persons among the rows that look like `row` on the columns. */
static uint32_t persons_like(const small *table, uint64_t columns, uint32_t row)
{
    uint32_t n = 0;
    for (uint32_t a = 0; a < table->n_rows; a++) {
        bool counted = !same_on(table, columns, a, row);
        for (uint32_t b = 0; b < a && !counted; b++)
            counted = same_on(table, columns, b, row) && table->person[b] == table->person[a];
        n += !counted;
    }
    return n;
}

static void encode(encoded *out, const small *table, bool persons)
{
    memset(out, 0, sizeof *out);
    kn_tuples *tuples = &out->tuples;
    for (uint32_t q = 0; q < table->n_qis; q++) {
        out->domains[q].n_codes = 8;
        out->domain_pointers[q] = &out->domains[q];
        out->code_pointers[q] = out->codes[q];
    }
    for (uint32_t r = 0; r < table->n_rows; r++) {
        uint32_t t = 0;
        while (t < tuples->n_tuples) {
            bool same = true;
            for (uint32_t q = 0; q < table->n_qis; q++) same &= out->codes[q][t] == table->cell[r][q];
            if (same) break;
            t++;
        }
        if (t == tuples->n_tuples) {
            for (uint32_t q = 0; q < table->n_qis; q++) out->codes[q][t] = table->cell[r][q];
            out->persons[t] = persons_like(table, ~UINT64_C(0), r);
            tuples->n_tuples++;
        }
        out->rows[t]++;
        out->row_tuple[r] = t;
        out->row_person[r] = table->person[r];
        out->value_rows[table->sensitive[r]]++;
    }
    uint32_t n = 0;
    for (uint32_t t = 0; t < tuples->n_tuples; t++) {
        out->start[t] = n;
        for (uint32_t v = 0; v < 3; v++) {
            uint32_t count = 0;
            for (uint32_t r = 0; r < table->n_rows; r++) count += out->row_tuple[r] == t && table->sensitive[r] == v;
            if (count == 0) continue;
            out->values[n] = v;
            out->counts[n++] = count;
        }
    }
    out->start[tuples->n_tuples] = n;
    out->sensitive = (kn_sensitive){
        .n_values = 3, .value_rows = out->value_rows, .by_tuple = {out->start, out->values, out->counts}};
    tuples->n_qis = table->n_qis;
    tuples->domains = out->domain_pointers;
    tuples->codes = out->code_pointers;
    tuples->n_rows = tuples->n_records = table->n_rows;
    tuples->n_persons = tuples->n_person_numbers = table->n_persons;
    tuples->rows = out->rows;
    tuples->persons = out->persons;
    tuples->row_tuple = out->row_tuple;
    tuples->row_person = persons ? out->row_person : NULL;
    tuples->n_sensitive = tuples->n_table_sensitive = 1;
    tuples->sensitive = &out->sensitive;
}

/* --- Class sizes -------------------------------------------------------------------------------------------------- */

static void the_eight_rows_of_sdcmicro_have_their_known_risk(void **state)
{
    /* fk = 2 2 2 1 1 1 1 2 */
    const uint64_t sizes[] = {2, 2, 1, 1, 1, 1};
    kn_risk_sizes risk;
    kn_risk_sizes_count(&risk, &(kn_risk_classes){.sizes = sizes, .n_classes = 6}, NULL, 1, KN_RISK_THRESHOLD);
    assert_int_equal(risk.n_persons, 8);
    assert_int_equal(risk.n_unique, 4);
    assert_int_equal(risk.n_above, 8);
    assert_float_equal(risk.prosecutor.highest, 1, 0);
    assert_float_equal(risk.prosecutor.average, 0.75, 0);
    assert_float_equal(risk.prosecutor.lowest, 0.5, 0);
    assert_float_equal(risk.journalist.average, 0.75, 0);
    assert_float_equal(risk.marketer, 0.75, 0);
}

static void the_tuples_of_the_eight_rows_are_found_in_the_file(void **state)
{
    const char *folder = getenv("KANON_DATA");
    if (folder == NULL) {
        print_message("# KANON_DATA is not set: sdcMicro's example is not read\n");
        skip();
    }
    char path[4096], line[256];
    snprintf(path, sizeof path, "%s/examples/francdat_8rows.csv", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    small table = {.n_qis = 4};
    assert_non_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file) != NULL) {
        double cells[8];
        assert_int_equal(sscanf(line, "%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", &cells[0], &cells[1], &cells[2], &cells[3],
                                &cells[4], &cells[5], &cells[6], &cells[7]),
                         8);
        const int keys[] = {1, 3, 4, 5};
        for (int q = 0; q < 4; q++) table.cell[table.n_rows][q] = (uint32_t)cells[keys[q]];
        table.person[table.n_rows] = table.n_rows;
        table.n_rows++;
    }
    fclose(file);
    table.n_persons = table.n_rows;
    encoded data;
    encode(&data, &table, false);
    const uint32_t known[] = {2, 2, 2, 1, 1, 1, 1, 2};
    for (uint32_t r = 0; r < 8; r++) assert_int_equal(data.rows[data.row_tuple[r]], known[r]);
}

static void a_population_makes_the_journalist_weaker_than_the_prosecutor(void **state)
{
    const uint64_t sizes[] = {1, 3};
    const uint64_t populations[] = {4, 6};
    kn_risk_sizes risk;
    kn_risk_sizes_count(&risk, &(kn_risk_classes){.sizes = sizes, .n_classes = 2}, populations, 1, 0.3);
    assert_float_equal(risk.journalist.highest, 0.25, 1e-12);
    assert_float_equal(risk.journalist.lowest, 1.0 / 6, 1e-12);
    assert_float_equal(risk.marketer, (1.0 / 4 + 3.0 / 6) / 4, 1e-12);
    assert_float_equal(risk.journalist.average, fmax(2.0 / 10, (1.0 / 4 + 3.0 / 6) / 4), 1e-12);
    assert_float_equal(risk.prosecutor.highest, 1, 0);
    assert_int_equal(risk.n_above, 1);
    kn_risk_sizes_count(&risk, &(kn_risk_classes){.sizes = sizes, .n_classes = 2}, NULL, 0.1, 0.3);
    assert_float_equal(risk.journalist.highest, 0.1, 1e-12);
}

static void a_threshold_is_read_as_the_class_size_it_asks_for(void **state)
{
    assert_int_equal(kn_risk_smallest_accepted(0.09), 11);
    assert_int_equal(kn_risk_smallest_accepted(0.2), 5);
    assert_int_equal(kn_risk_smallest_accepted(0.1), 10);
    assert_int_equal(kn_risk_smallest_accepted(0.33), 3);
    assert_int_equal(kn_risk_smallest_accepted(0.05), 20);
    assert_int_equal(kn_risk_smallest_accepted(1), 1);
    const uint64_t sizes[] = {10, 11};
    kn_risk_sizes risk;
    kn_risk_sizes_count(&risk, &(kn_risk_classes){.sizes = sizes, .n_classes = 2}, NULL, 1, 0.09);
    assert_int_equal(risk.n_above, 10);
}

static void the_histogram_of_sizes_counts_every_class_once(void **state)
{
    kn_rng rng = kn_rng_new(3, 0);
    uint64_t sizes[500];
    uint64_t n_persons = 0;
    for (int i = 0; i < 500; i++) {
        sizes[i] = 1 + kn_rng_below(&rng, i % 2 == 0 ? 12 : 3000000);
        n_persons += sizes[i];
    }
    kn_risk_sizes risk;
    kn_risk_sizes_count(&risk, &(kn_risk_classes){.sizes = sizes, .n_classes = 500}, NULL, 1, 0.09);
    uint64_t in_bins = 0;
    for (size_t b = 0; b < risk.n_bins; b++) {
        uint64_t classes = 0, persons = 0;
        for (int i = 0; i < 500; i++)
            if (sizes[i] >= risk.bins[b].from && sizes[i] <= risk.bins[b].to) {
                classes++;
                persons += sizes[i];
            }
        assert_int_equal(classes, risk.bins[b].n_classes);
        assert_int_equal(persons, risk.bins[b].n_persons);
        in_bins += classes;
        if (b > 0) assert_true(risk.bins[b].from > risk.bins[b - 1].to);
    }
    assert_int_equal(in_bins, 500);
    assert_int_equal(risk.n_persons, n_persons);
}

static void no_classes_no_risk(void **state)
{
    kn_risk_sizes risk;
    kn_risk_sizes_count(&risk, &(kn_risk_classes){.sizes = NULL, .n_classes = 0}, NULL, 1, 0.09);
    assert_float_equal(risk.prosecutor.highest, 0, 0);
    assert_int_equal(risk.n_bins, 0);
}

static int compare_lines(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void adult_with_nine_columns_has_the_average_risk_that_arx_reports(void **state)
{
    const char *folder = getenv("KANON_DATA");
    if (folder == NULL) {
        print_message("# KANON_DATA is not set: Adult is not read\n");
        skip();
    }
    char path[4096], line[1024];
    snprintf(path, sizeof path, "%s/adult/adult_30162.csv", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    static const char *const wanted[] = {
        "sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "income"};
    char **keys = calloc(40000, sizeof *keys);
    int take[32] = {0}, n_taken = 0;
    uint32_t n_rows = 0, n_classes = 0;
    uint64_t *sizes = calloc(40000, sizeof *sizes);
    for (bool header = true; fgets(line, sizeof line, file) != NULL; header = false) {
        char key[1024] = "", *rest = line, *cell;
        for (int c = 0; (cell = strsep(&rest, ",\r\n")) != NULL && c < 32; c++) {
            for (size_t w = 0; header && w < 9; w++)
                if (strcmp(cell, wanted[w]) == 0) n_taken += take[c] = 1;
            if (take[c]) strcat(strcat(key, cell), "|");
        }
        if (!header) keys[n_rows++] = strdup(key);
    }
    fclose(file);
    assert_int_equal(n_taken, 9);
    qsort(keys, n_rows, sizeof *keys, compare_lines);
    for (uint32_t r = 0; r < n_rows; r++) {
        if (r == 0 || strcmp(keys[r], keys[r - 1]) != 0) n_classes++;
        sizes[n_classes - 1]++;
    }
    kn_risk_sizes risk;
    kn_risk_sizes_count(&risk, &(kn_risk_classes){.sizes = sizes, .n_classes = n_classes}, NULL, 1, 0.09);
    assert_float_equal(risk.prosecutor.average, 0.6465751607983555, 1e-15);
    for (uint32_t r = 0; r < n_rows; r++) free(keys[r]);
    free(keys);
    free(sizes);
}

/* A person's risk is that of the smallest class they stand in, what is learned that of the class that tells most. */
static void persons_in_several_classes_count_once(void **state)
{
    kn_rng rng = kn_rng_new(77, 0);
    for (int round = 0; round < 200; round++) {
        small table = small_random(&rng, true);
        encoded data;
        encode(&data, &table, true);
        uint64_t n_persons = 0, n_alone = 0, n_exposed = 0, n_certain = 0;
        double sum = 0;
        for (uint32_t p = 0; p < MAX_ROWS; p++) {
            uint32_t smallest = UINT32_MAX;
            bool certain = false;
            for (uint32_t r = 0; r < table.n_rows; r++) {
                if (table.person[r] != p) continue;
                uint32_t size = persons_like(&table, ~UINT64_C(0), r);
                if (size < smallest) smallest = size;
                bool same = true;
                for (uint32_t other = 0; other < table.n_rows; other++)
                    same &= !same_on(&table, ~UINT64_C(0), r, other) || table.sensitive[other] == table.sensitive[r];
                certain |= same;
            }
            if (smallest == UINT32_MAX) continue;
            n_persons++;
            n_alone += smallest == 1;
            n_exposed += smallest < 3;
            n_certain += certain;
            sum += 1.0 / smallest;
        }
        kn_risk_classes classes;
        kn_risk_sizes risk;
        kn_disclosure disclosure;
        assert_ok(kn_risk_classes_of_tuples(&classes, &data.tuples, err));
        kn_risk_sizes_count(&risk, &classes, NULL, 1, 1.0 / 3);
        kn_risk_classes_free(&classes);
        assert_int_equal(risk.n_persons, n_persons);
        assert_int_equal(risk.n_unique, n_alone);
        assert_int_equal(risk.n_above, n_exposed);
        assert_float_equal(risk.prosecutor.average, sum / (double)n_persons, 1e-12);
        assert_float_equal(risk.marketer, sum / (double)n_persons, 1e-12);
        uint64_t in_bins = 0;
        for (size_t b = 0; b < risk.n_bins; b++) in_bins += risk.bins[b].n_persons;
        assert_int_equal(in_bins, n_persons);
        assert_ok(kn_disclosure_of_tuples(&disclosure, &data.tuples, err));
        assert_int_equal(disclosure.n_certain, n_certain);
    }
}

/* --- Column sets -------------------------------------------------------------------------------------------------- */

static bool unique_on(const small *table, uint64_t columns, uint32_t row)
{
    return persons_like(table, columns, row) == 1;
}

static bool minimal_on(const small *table, uint64_t columns, uint32_t row)
{
    if (!unique_on(table, columns, row)) return false;
    for (uint64_t subset = (columns - 1) & columns; subset != 0; subset = (subset - 1) & columns)
        if (unique_on(table, subset, row)) return false;
    return true;
}

static uint32_t bits_in(uint64_t set)
{
    uint32_t n = 0;
    for (; set != 0; set &= set - 1) n++;
    return n;
}

static void set_is_as_enumerated(const kn_column_set *set, const small *table)
{
    uint64_t n_groups = 0, n_unique = 0, n_minimal = 0;
    bool unique[MAX_ROWS] = {0}, minimal[MAX_ROWS] = {0}; /* by person */
    for (uint32_t r = 0; r < table->n_rows; r++) {
        n_groups += first_with(table, set->columns, r);
        unique[table->person[r]] |= unique_on(table, set->columns, r);
        minimal[table->person[r]] |= minimal_on(table, set->columns, r);
    }
    for (uint32_t p = 0; p < MAX_ROWS; p++) n_unique += unique[p], n_minimal += minimal[p];
    assert_int_equal(set->n_groups, n_groups);
    assert_int_equal(set->n_unique, n_unique);
    assert_int_equal(set->n_minimal, n_minimal);
    assert_int_equal(set->n_columns, bits_in(set->columns));
}

static void minimal_uniques_are_those_that_enumeration_finds(void **state)
{
    kn_rng rng = kn_rng_new(11, 0);
    kn_pool *pool = NULL;
    assert_ok(kn_pool_new(&pool, 2, err));
    for (int round = 0; round < 600; round++) {
        bool persons = round % 2 == 1;
        small table = small_random(&rng, persons);
        encoded data;
        encode(&data, &table, persons);
        uint32_t max_size = 1 + kn_rng_below(&rng, table.n_qis);
        kn_column_risk *risk = NULL;
        assert_ok(kn_column_risk_new(&risk, &data.tuples, max_size, 0, round % 3 == 0 ? pool : NULL, NULL, err));
        size_t n_sets = 0;
        for (uint64_t set = 1; set < UINT64_C(1) << table.n_qis; set++) n_sets += bits_in(set) <= max_size;
        assert_int_equal(risk->max_size, max_size);
        assert_int_equal(risk->n_sets, n_sets);
        double contribution[MAX_QIS] = {0}, total = 0;
        for (size_t s = 0; s < risk->n_sets; s++) {
            set_is_as_enumerated(&risk->sets[s], &table);
            double score = (double)risk->sets[s].n_minimal;
            for (uint32_t i = risk->sets[s].n_columns; i <= max_size && i < table.n_qis; i++) score *= table.n_qis - i;
            total += score;
            for (uint32_t q = 0; q < table.n_qis; q++)
                if (risk->sets[s].columns >> q & 1) contribution[q] += score;
        }
        for (uint32_t q = 0; q < table.n_qis; q++)
            assert_float_equal(risk->contribution[q], total > 0 ? contribution[q] / total : 0, 1e-12);
        kn_column_risk_free(risk);
    }
    kn_pool_free(pool);
}

static bool is_comparable(uint64_t a, uint64_t b) { return (a & b) == a || (a & b) == b; }

/* None of the listed sets contains another; what is not listed is part of one of them, holds one, or tells less. */
static void listed_sets_are_minimal(void **state)
{
    kn_rng rng = kn_rng_new(5, 0);
    size_t n_listed = 0, n_left_out = 0;
    for (int round = 0; round < 300; round++) {
        small table = small_random(&rng, round % 2 == 1);
        encoded data;
        encode(&data, &table, round % 2 == 1);
        kn_column_risk *risk = NULL;
        assert_ok(kn_column_risk_new(&risk, &data.tuples, 3, 0, NULL, NULL, err));
        size_t top[4], n = kn_column_risk_top(top, 4, risk, 2);
        uint64_t least = UINT64_MAX;
        for (size_t i = 0; i < n; i++) {
            const kn_column_set *set = &risk->sets[top[i]];
            assert_true(set->n_columns <= 2 && set->n_minimal > 0);
            if (i > 0) assert_true(set->n_unique <= risk->sets[top[i - 1]].n_unique);
            for (size_t j = 0; j < i; j++) assert_false(is_comparable(set->columns, risk->sets[top[j]].columns));
            if (set->n_minimal < least) least = set->n_minimal;
        }
        for (size_t s = 0; s < risk->n_sets; s++) {
            const kn_column_set *set = &risk->sets[s];
            bool is_part = false;
            for (size_t i = 0; i < n; i++) is_part = is_part || is_comparable(set->columns, risk->sets[top[i]].columns);
            if (set->n_columns > 2 || is_part) continue;
            n_left_out++;
            assert_true(set->n_minimal == 0 || (n == 4 && set->n_minimal <= least));
        }
        n_listed += n;
        kn_column_risk_free(risk);
    }
    assert_true(n_listed > 300 && n_left_out > 0);
}

static void a_small_budget_looks_at_smaller_sets(void **state)
{
    small table = {.n_rows = 10, .n_qis = 5, .n_persons = 10};
    for (uint32_t r = 0; r < 10; r++) {
        table.person[r] = r;
        table.cell[r][0] = r % 8;
    }
    encoded data;
    encode(&data, &table, false);
    kn_column_risk *risk = NULL;
    assert_ok(kn_column_risk_new(&risk, &data.tuples, 5, 15 * data.tuples.n_tuples, NULL, NULL, err));
    assert_int_equal(risk->max_size, 2);
    kn_column_risk_free(risk);
}

static void keys_of_more_than_64_bits_are_counted_right(void **state)
{
    /* Six columns that claim 2^31 codes each: 186 bits. */
    kn_rng rng = kn_rng_new(8, 0);
    for (int round = 0; round < 50; round++) {
        small table = small_random(&rng, false);
        encoded data;
        encode(&data, &table, false);
        for (uint32_t q = 0; q < table.n_qis; q++) data.domains[q].n_codes = UINT32_C(1) << 31;
        kn_column_risk *risk = NULL;
        assert_ok(kn_column_risk_new(&risk, &data.tuples, table.n_qis, 0, NULL, NULL, err));
        for (size_t s = 0; s < risk->n_sets; s++) set_is_as_enumerated(&risk->sets[s], &table);
        kn_column_risk_free(risk);
    }
}

static void column_sets_survive_a_lack_of_memory(void **state)
{
    kn_rng rng = kn_rng_new(2, 0);
    small table = small_random(&rng, false);
    encoded data;
    encode(&data, &table, false);
    for (size_t n_th = 1; n_th < 200; n_th++) {
        kn_column_risk *risk = NULL;
        kn_memory_fail_at(n_th);
        kn_status status = kn_column_risk_new(&risk, &data.tuples, 3, 0, NULL, NULL, NULL);
        kn_memory_fail_at(0);
        kn_column_risk_free(risk);
        if (status == KN_OK) return;
        assert_int_equal(status, KN_RESOURCES);
        assert_null(risk);
    }
    fail_msg("never succeeded");
}

/* --- Population uniqueness ---------------------------------------------------------------------------------------- */

static void zayatz_is_bayes_rule_with_the_sample_as_prior(void **state)
{
    /* n = 6 in classes 1 1 2 2, fraction 1/2, N = 12. P(f=1|F=j) = j C(12-j, 5) / C(12, 6); C(11,5) = 462,
     * C(10,5) = 252, C(12,6) = 924. */
    const uint64_t sizes[] = {1, 1, 2, 2};
    double one = 462.0 / 924, two = 2 * 252.0 / 924;
    double conditional = 0.5 * one / (0.5 * one + 0.5 * two);
    kn_risk_estimate estimate;
    assert_ok(kn_risk_estimate_uniques(&estimate, sizes, 4, 0.5, err));
    assert_float_equal(estimate.n_unique[KN_ESTIMATOR_ZAYATZ], 2 * conditional / 0.5, 1e-9);
    assert_float_equal(estimate.population, 12, 0);
}

static double pitman_score(double theta, double alpha, const uint64_t *sizes, int n_classes, bool by_theta)
{
    /* Derivatives of the log likelihood, as sums, from the sampling formula. */
    double sum = 0, n = 0;
    for (int i = 0; i < n_classes; i++) n += sizes[i];
    for (int i = 1; i < n_classes; i++) sum += (by_theta ? 1 : i) / (theta + i * alpha);
    for (int i = 1; i < n && by_theta; i++) sum -= 1 / (theta + i);
    for (int i = 0; i < n_classes && !by_theta; i++)
        for (uint32_t j = 1; j < sizes[i]; j++) sum -= 1 / (j - alpha);
    return sum;
}

static void pitman_is_the_maximum_of_its_likelihood(void **state)
{
    /* A grid search over the score equations finds the same estimate. */
    const uint64_t sizes[] = {1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 6, 9};
    const int n_classes = sizeof sizes / sizeof *sizes;
    double alpha = 0.5, theta = 3;
    for (int step = 0; step < 2000; step++) { /* alternate bisection: each score falls in its own parameter */
        double low = 1e-9, high = 1 - 1e-9;
        for (int i = 0; i < 80; i++) {
            double middle = (low + high) / 2;
            if (pitman_score(theta, middle, sizes, n_classes, false) > 0) low = middle;
            else high = middle;
        }
        alpha = low;
        low = 1e-9, high = 1e6;
        for (int i = 0; i < 120; i++) {
            double middle = (low + high) / 2;
            if (pitman_score(middle, alpha, sizes, n_classes, true) > 0) low = middle;
            else high = middle;
        }
        theta = low;
    }
    double n = 0;
    for (int i = 0; i < n_classes; i++) n += sizes[i];
    double expected = exp(lgamma(theta + 1) - lgamma(theta + alpha) + alpha * log(n / 0.05));
    kn_risk_estimate estimate;
    assert_ok(kn_risk_estimate_uniques(&estimate, sizes, (size_t)n_classes, 0.05, err));
    assert_float_equal(estimate.n_unique[KN_ESTIMATOR_PITMAN] / expected, 1, 1e-3);
    assert_int_equal(estimate.chosen, KN_ESTIMATOR_PITMAN);
}

/* Draws a sample of a population whose truth is known. */
static double true_uniques(uint64_t *sizes, size_t *n_classes, uint64_t seed, double fraction)
{
    enum { CLASSES = 4000 };
    kn_rng rng = kn_rng_new(seed, 0);
    double unique = 0;
    *n_classes = 0;
    for (int c = 0; c < CLASSES; c++) {
        uint32_t size = 1, sampled = 0;
        while (kn_rng_below(&rng, 100) < 65) size++; /* geometric: a slide negative binomial with alpha 1 */
        unique += size == 1;
        for (uint32_t i = 0; i < size; i++) sampled += kn_rng_unit(&rng) < fraction;
        if (sampled > 0) sizes[(*n_classes)++] = sampled;
    }
    return unique;
}

static void estimates_come_near_the_truth_of_a_known_population(void **state)
{
    static uint64_t sizes[4000];
    size_t n_classes;
    double truth = true_uniques(sizes, &n_classes, 4, 0.5);
    kn_risk_estimate estimate;
    assert_ok(kn_risk_estimate_uniques(&estimate, sizes, n_classes, 0.5, err));
    assert_true(estimate.chosen == KN_ESTIMATOR_SNB || estimate.chosen == KN_ESTIMATOR_ZAYATZ);
    double chosen = estimate.n_unique[estimate.chosen];
    if (fabs(chosen / truth - 1) > 0.4) fail_msg("estimated %g uniques of %g", chosen, truth);
    if (!(fabs(estimate.n_unique[KN_ESTIMATOR_SNB] / truth - 1) < 0.4))
        fail_msg("SNB estimated %g uniques of %g", estimate.n_unique[KN_ESTIMATOR_SNB], truth);
}

static void a_table_that_is_the_population_needs_no_estimate(void **state)
{
    const uint64_t sizes[] = {1, 1, 1, 2, 5}, none[] = {2, 3};
    kn_risk_estimate estimate;
    assert_ok(kn_risk_estimate_uniques(&estimate, sizes, 5, 1, err));
    for (int e = 0; e < KN_N_ESTIMATORS; e++) assert_float_equal(estimate.n_unique[e], 3, 1e-12);
    assert_ok(kn_risk_estimate_uniques(&estimate, none, 2, 0.1, err));
    for (int e = 0; e < KN_N_ESTIMATORS; e++) assert_float_equal(estimate.n_unique[e], 0, 0);
    kn_error err = {0};
    assert_int_equal(kn_risk_estimate_uniques(&estimate, sizes, 5, 0, &err), KN_USAGE);
    assert_int_equal(kn_risk_estimate_uniques(&estimate, sizes, 5, 1.5, NULL), KN_USAGE);
}

/* --- Disclosure --------------------------------------------------------------------------------------------------- */

static void disclosure_is_as_counted_by_hand(void **state)
{
    kn_rng rng = kn_rng_new(17, 0);
    for (int round = 0; round < 300; round++) {
        small table = small_random(&rng, false);
        encoded data;
        encode(&data, &table, false);
        uint64_t certain = 0, n_with[4] = {0}, n_similar = 0;
        double largest = 0, average = 0, n = table.n_rows;
        double numbers[] = {0, 1, round % 2 == 0 ? 10 : 9}; /* 0 and 1 are within a tenth of the range, or not */
        kn_column column = {.n_values = 3, .number = numbers};
        data.sensitive.column = &column;
        for (uint32_t t = 0; t < data.tuples.n_tuples; t++) {
            double distance = 0;
            uint32_t met = 0;
            for (uint32_t v = 0; v < 3; v++) {
                uint32_t here = 0;
                for (uint32_t r = 0; r < table.n_rows; r++) here += data.row_tuple[r] == t && table.sensitive[r] == v;
                double shift = fabs(here / (double)data.rows[t] - (double)data.value_rows[v] / n);
                if (here == data.rows[t]) certain += data.rows[t];
                largest = fmax(largest, shift);
                distance += shift / 2;
                met |= (uint32_t)(here > 0) << v;
            }
            n_with[__builtin_popcount(met)]++;
            n_similar += met == 3 && round % 2 == 0;
            average += distance * data.rows[t] / n;
        }
        kn_disclosure disclosure;
        assert_ok(kn_disclosure_of_tuples(&disclosure, &data.tuples, err));
        assert_int_equal(disclosure.n_certain, certain);
        assert_float_equal(disclosure.largest_shift, largest, 1e-12);
        assert_float_equal(disclosure.average_shift, average, 1e-12);
        assert_int_equal(disclosure.n_classes, data.tuples.n_tuples);
        assert_int_equal(disclosure.n_one_value, n_with[1]);
        assert_int_equal(disclosure.n_two_values, n_with[2]);
        assert_int_equal(disclosure.n_similar, n_similar);
    }
}

/* --- Attack ------------------------------------------------------------------------------------------------------- */

static bool covers_in(const kn_cell_reading *reading, const char *text, const char *value)
{
    kn_released_cell cell;
    kn_known_value known;
    kn_released_cell_read(&cell, reading, text, strlen(text));
    kn_known_value_read(&known, reading, value, strlen(value));
    if (cell.kind == KN_CELL_UNREADABLE) fail_msg("%s is not understood", text);
    return kn_released_cell_covers(&cell, reading, &known);
}

static bool number(const char *cell, const char *value)
{
    return covers_in(&(kn_cell_reading){.type = KN_TYPE_DECIMAL}, cell, value);
}

static bool date(const char *cell, const char *value)
{
    return covers_in(&(kn_cell_reading){.type = KN_TYPE_DATE, .form = KN_DATE_DAY}, cell, value);
}

static bool text(const char *cell, const char *value)
{
    return covers_in(&(kn_cell_reading){.type = KN_TYPE_TEXT}, cell, value);
}

static bool ordered(const char *cell, const char *value)
{
    return covers_in(&(kn_cell_reading){.type = KN_TYPE_INT, .order = "1<6< 2 <7<a\\<b"}, cell, value);
}

static kn_cell_kind kind_of(const char *cell, kn_type type)
{
    kn_released_cell read;
    kn_released_cell_read(&read, &(kn_cell_reading){.type = type}, cell, strlen(cell));
    return read.kind;
}

static void a_released_cell_covers_what_it_says(void **state)
{
    assert_true(number("34", "34") && number("34", "34.0") && number("+34", "34"));
    assert_false(number("34", "35"));
    assert_false(number("1000000000000000001", "1000000000000000002")); /* one double */
    assert_false(number("1000000000000000001..1000000000000000003", "1000000000000000004"));
    assert_true(number("1000000000000000001..1000000000000000003", "+1000000000000000002"));
    assert_false(text("01234", "1234")); /* codes, not numbers */
    assert_true(text("*", "anything") && number("*", "4"));
    assert_true(number("30..39", "30") && number("30..39", "39") && number("30..39", "34.5"));
    assert_false(number("30..39", "40") || number("30..39", "4") || number("30..39", "abc"));
    assert_true(number("-5..-1", "-3") && number("-5..-1", "-5") && number("5\\...7", "6"));
    assert_false(number("-5..-1", "3"));
    assert_true(number("0..<5", "0") && number("0..<5", "4.999"));
    assert_false(number("0..<5", "5") || number("0..<5", "-0.1"));
    assert_true(number("[0,5)", "0") && number("[0,5)", "4.999"));
    assert_false(number("[0,5)", "5"));
    assert_true(number("90..", "90") && number("90..", "1e9") && number("..17", "17") && number("..17", "-4"));
    assert_false(number("90..", "89.9") || number("..17", "17.1") || number("..<17", "17"));
    assert_true(text("{a|b}", "a") && text("{a|b}", "b") && number("{1|2.0}", "2"));
    assert_false(text("{a|b}", "c") || text("{a|b}", "a|b") || text("{1|2.0}", "2"));
    assert_true(text("{a\\|b|c}", "a|b") && text("{a\\|b|c}", "c"));
    assert_false(text("{a\\|b|c}", "a"));
    assert_true(text("48***", "48155") && text("48***", "4815") && text("**55", "9955") &&
                text("\xc3\xa9*", "\xc3\xa9\xc3\xa9"));
    assert_false(text("48***", "47155") || text("48***", "481555") || text("**55", "9956") || text("*55", "9955"));
    assert_true(text("", "x") && text("x", ""));
    assert_true(ordered("6..7", "2") && ordered("6..7", "6") && ordered("6..7", "7") && ordered("7..a<b", "a<b"));
    assert_false(ordered("6..7", "1") || ordered("1..2", "7"));
}

static void dates_are_read_in_every_form(void **state)
{
    assert_true(date("2024-05", "2024-05-17") && date("2024", "17.05.2024") && date("2024-Q2", "17/05/2024"));
    assert_true(date("2024-H1", "2024-06-30") && date("2024-W20", "2024-05-13") && date("2024-W20", "2024-05-19"));
    assert_false(date("2024-06", "2024-05-17") || date("2024-Q3", "2024-05-17") || date("2024-H1", "2024-07-01"));
    assert_false(date("2024-W20", "2024-05-12") || date("2024-W20", "2024-05-20"));
    assert_true(date("1910..1919", "1913-05-01") && date("1910..1919", "31.12.1919") &&
                date("1910..1919", "1910-01-01"));
    assert_false(date("1910..1919", "1920-01-01") || date("1910..1919", "1909-12-31"));
    assert_true(date("2024-01-01..2024-06-30", "2024-06-30") && date("01.01.2024..30.06.2024", "2024-05-17"));
    assert_true(date("01/02/2024..30/06/2024", "2024-02-01") && date("2024-05..2024-Q3", "2024-09-30"));
    assert_false(date("01/02/2024..30/06/2024", "2024-01-02") || date("2024-01-01..2024-05-16", "2024-05-17"));
    assert_true(date("2024-01-31", "31.01.2024") && date("{2024-01-31|2024-02-01}", "01.02.2024"));
    assert_true(date("2024-01-01T10:00..<2024-01-01T12:00", "2024-01-01T11:59"));
    assert_false(date("2024-01-01T10:00..<2024-01-01T12:00", "2024-01-01T12:00"));
    assert_true(date("1990-01..", "2024-01-31") && date("..1989", "1989-12-31"));
    assert_false(date("1990-01..", "1989-12-31") || date("..1989", "1990-01-01"));
}

static void what_cannot_be_read_is_not_read_as_nothing(void **state)
{
    assert_int_equal(kind_of("young", KN_TYPE_INT), KN_CELL_UNREADABLE);
    assert_int_equal(kind_of("a..b", KN_TYPE_TEXT), KN_CELL_UNREADABLE);
    assert_int_equal(kind_of("30..old", KN_TYPE_INT), KN_CELL_UNREADABLE);
    assert_int_equal(kind_of("2024-Q5", KN_TYPE_DATE), KN_CELL_UNREADABLE);
    assert_int_equal(kind_of("2024-05", KN_TYPE_INT), KN_CELL_UNREADABLE);
    assert_int_equal(kind_of("been_married", KN_TYPE_TEXT), KN_CELL_WORD);
    assert_int_equal(kind_of("{a|b", KN_TYPE_TEXT), KN_CELL_WORD);
    assert_int_equal(kind_of("..", KN_TYPE_INT), KN_CELL_UNREADABLE);
}

/* A table of text with one column per string of letters. */
typedef struct letters {
    kn_table table;
    kn_column columns[3];
    uint64_t offset[27];
    char bytes[26];
    uint32_t codes[3][MAX_ROWS];
} letters;

static void letters_make(letters *out, const char *const rows[], uint32_t n_rows, uint32_t n_columns)
{
    memset(out, 0, sizeof *out);
    for (int i = 0; i < 26; i++) {
        out->bytes[i] = i == 25 ? '*' : (char)('a' + i);
        out->offset[i + 1] = (uint64_t)i + 1;
    }
    for (uint32_t c = 0; c < n_columns; c++) {
        for (uint32_t r = 0; r < n_rows; r++) out->codes[c][r] = rows[r][c] == '*' ? 25 : (uint32_t)(rows[r][c] - 'a');
        out->columns[c] = (kn_column){.n_spellings = 26,
                                      .n_values = 26,
                                      .bytes = out->bytes,
                                      .offset = out->offset,
                                      .code_bytes = 4,
                                      .codes = out->codes[c]};
    }
    out->table = (kn_table){.n_rows = n_rows, .n_columns = n_columns, .columns = out->columns, .person = KN_NONE};
}

static void the_attack_finds_what_a_naive_join_finds(void **state)
{
    kn_rng rng = kn_rng_new(23, 0);
    static char text[2][40][4];
    const char *rows[2][40];
    for (int round = 0; round < 200; round++) {
        uint32_t n[2] = {1 + kn_rng_below(&rng, 30), 1 + kn_rng_below(&rng, 30)};
        for (int side = 0; side < 2; side++)
            for (uint32_t r = 0; r < n[side]; r++) {
                for (int c = 0; c < 3; c++) text[side][r][c] = (char)('a' + kn_rng_below(&rng, 3));
                for (int c = 0; c < 2 && side == 0; c++)
                    if (kn_rng_below(&rng, 3) == 0) text[side][r][c] = '*';
                rows[side][r] = text[side][r];
            }
        static letters release, known;
        letters_make(&release, rows[0], n[0], 3);
        letters_make(&known, rows[1], n[1], 2);
        const kn_attack_column columns[] = {{.reading.words_are_values = true}, {1, 1, {.words_are_values = true}}};
        const uint32_t sensitive[] = {2};
        uint64_t k = 1 + kn_rng_below(&rng, 6), few = 0, none = 0, disclosed = 0, unique = 0;
        for (uint32_t p = 0; p < n[1]; p++) {
            uint64_t fits = 0, first = 0;
            bool same = true;
            for (uint32_t r = 0; r < n[0]; r++) {
                bool fit = true;
                for (int c = 0; c < 2; c++) fit &= rows[0][r][c] == '*' || rows[0][r][c] == rows[1][p][c];
                if (!fit) continue;
                if (fits++ == 0) first = r;
                same &= rows[0][r][2] == rows[0][first][2];
            }
            none += fits == 0;
            unique += fits == 1;
            few += fits > 0 && fits < k;
            disclosed += fits > 0 && same;
        }
        kn_attack_result *result = NULL;
        assert_ok(kn_attack_run(&result, &release.table, &known.table, columns, 2, sensitive, 1,
                                &(kn_attack_options){.k = k}, NULL, NULL, err));
        assert_int_equal(result->n_persons, n[1]);
        assert_int_equal(result->n_not_found, none);
        assert_int_equal(result->n_unique, unique);
        assert_int_equal(result->n_fewer_than_k, few);
        assert_int_equal(result->n_disclosed[0], disclosed);
        kn_attack_result_free(result);
    }
}

/* A table with one or two columns of the given spellings. */
typedef struct spelled {
    kn_table table;
    kn_column columns[2];
    char bytes[512];
    uint64_t offset[40];
    uint32_t codes[2][MAX_ROWS];
} spelled;

static void spelled_make(spelled *out, kn_rng *rng, const char *const *texts, uint32_t n_texts, uint32_t n_rows)
{
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < n_texts; i++) {
        strcat(out->bytes, texts[i]);
        out->offset[i + 1] = strlen(out->bytes);
    }
    for (int c = 0; c < 2; c++) {
        for (uint32_t r = 0; r < n_rows; r++) out->codes[c][r] = kn_rng_below(rng, n_texts);
        out->columns[c] = (kn_column){.n_spellings = n_texts,
                                      .n_values = n_texts,
                                      .bytes = out->bytes,
                                      .offset = out->offset,
                                      .code_bytes = 4,
                                      .codes = out->codes[c]};
    }
    out->table = (kn_table){.n_rows = n_rows, .n_columns = 2, .columns = out->columns, .person = KN_NONE};
}

static bool spelled_covers(const spelled *release, uint32_t r, const spelled *known, uint32_t p, int c,
                           const kn_cell_reading *reading)
{
    size_t n_cell, n_value;
    kn_released_cell cell;
    kn_known_value person;
    const char *bytes = kn_column_bytes(&release->columns[c], release->codes[c][r], &n_cell);
    const char *value = kn_column_bytes(&known->columns[c], known->codes[c][p], &n_value);
    kn_released_cell_read(&cell, reading, bytes, n_cell);
    kn_known_value_read(&person, reading, value, n_value);
    return kn_released_cell_covers(&cell, reading, &person);
}

static void sets_intervals_masks_and_trees_are_linked_as_they_are_read(void **state)
{
    static const char *const words[] = {"a", "b", "*", "{a|b}", "{b|c\\|d}", "4**", "any", "{a}", "0412", "", "{|a}"};
    static const char *const texts[] = {"a", "b", "c|d", "1", "2.0", "412", "0412", "400", "any", "", "{a}"};
    static const char *const ranges[] = {"2", "1..3", "{1|2.0|412}", "4**", "-3..-1", "*", "", "2..", "1..<2.5"};
    static const char *const numbers[] = {"1", "2", "2.0", "2.50", "3", "412", "400", "-2", ""};
    kn_tree *tree = NULL;
    const char file[] = "a;ab;any\nb;ab;any\n412;four;any\n0412;four;any\nc|d;ab;any\n";
    assert_ok(kn_tree_parse(&tree, file, sizeof file - 1, "tree", false, err));
    kn_rng rng = kn_rng_new(31, 0);
    static spelled release, known;
    for (int round = 0; round < 300; round++) {
        bool text = round % 3 != 0;
        spelled_make(&release, &rng, text ? words : ranges,
                     text ? sizeof words / sizeof *words : sizeof ranges / sizeof *ranges, 1 + kn_rng_below(&rng, 30));
        spelled_make(&known, &rng, text ? texts : numbers,
                     text ? sizeof texts / sizeof *texts : sizeof numbers / sizeof *numbers,
                     1 + kn_rng_below(&rng, 30));
        const kn_type type = text ? KN_TYPE_TEXT : KN_TYPE_DECIMAL;
        const kn_tree *above = text && round % 2 == 0 ? tree : NULL;
        const kn_attack_column columns[] = {{0, 0, {.type = type, .tree = above, .words_are_values = true}},
                                            {1, 1, {.type = type, .words_are_values = true}}};
        uint64_t few = 0, none = 0;
        for (uint32_t p = 0; p < known.table.n_rows; p++) {
            uint64_t fits = 0;
            for (uint32_t r = 0; r < release.table.n_rows; r++)
                fits += spelled_covers(&release, r, &known, p, 0, &columns[0].reading) &&
                        spelled_covers(&release, r, &known, p, 1, &columns[1].reading);
            none += fits == 0;
            few += fits > 0 && fits < 4;
        }
        kn_attack_result *result = NULL;
        assert_ok(kn_attack_run(&result, &release.table, &known.table, columns, 2, NULL, 0,
                                &(kn_attack_options){.k = 4}, NULL, NULL, err));
        assert_int_equal(result->n_not_found, none);
        assert_int_equal(result->n_fewer_than_k, few);
        kn_attack_result_free(result);
    }
    kn_tree_free(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_eight_rows_of_sdcmicro_have_their_known_risk),
        cmocka_unit_test(the_tuples_of_the_eight_rows_are_found_in_the_file),
        cmocka_unit_test(a_population_makes_the_journalist_weaker_than_the_prosecutor),
        cmocka_unit_test(a_threshold_is_read_as_the_class_size_it_asks_for),
        cmocka_unit_test(the_histogram_of_sizes_counts_every_class_once),
        cmocka_unit_test(no_classes_no_risk),
        cmocka_unit_test(adult_with_nine_columns_has_the_average_risk_that_arx_reports),
        cmocka_unit_test(persons_in_several_classes_count_once),
        cmocka_unit_test(minimal_uniques_are_those_that_enumeration_finds),
        cmocka_unit_test(listed_sets_are_minimal),
        cmocka_unit_test(a_small_budget_looks_at_smaller_sets),
        cmocka_unit_test(keys_of_more_than_64_bits_are_counted_right),
        cmocka_unit_test(column_sets_survive_a_lack_of_memory),
        cmocka_unit_test(zayatz_is_bayes_rule_with_the_sample_as_prior),
        cmocka_unit_test(pitman_is_the_maximum_of_its_likelihood),
        cmocka_unit_test(estimates_come_near_the_truth_of_a_known_population),
        cmocka_unit_test(a_table_that_is_the_population_needs_no_estimate),
        cmocka_unit_test(disclosure_is_as_counted_by_hand),
        cmocka_unit_test(a_released_cell_covers_what_it_says),
        cmocka_unit_test(the_attack_finds_what_a_naive_join_finds),
        cmocka_unit_test(dates_are_read_in_every_form),
        cmocka_unit_test(sets_intervals_masks_and_trees_are_linked_as_they_are_read),
        cmocka_unit_test(what_cannot_be_read_is_not_read_as_nothing),
    };
    return cmocka_run_group_tests_name("risk", tests, NULL, NULL);
}
