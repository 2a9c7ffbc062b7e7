/* privacy/: every model against an independent count, Earth Mover's Distances against optimal transport, the surveys'
 * and Li's printed examples, what is impossible, populations. */
#include "file_support.h"
#include "release_support.h"

#include "classes/histogram.h"
#include "hierarchy/build.h"
#include "privacy/privacy.h"
#include "run/people.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_near(double a, double b, const char *what)
{
    if (!(fabs(a - b) <= 1e-9 * (1 + fabs(b))) && !(isinf(a) && isinf(b)))
        fail_msg("%s: %.15g is not %.15g", what, a, b);
}

static kn_models *models_of(const test_case *c, const char *spec)
{
    kn_models *models;
    assert_ok(kn_models_new(&models, &spec, 1, c->tuples, err));
    return models;
}

static kn_status refusal_of(const test_case *c, const char *spec, char *message)
{
    kn_error err = {0};
    kn_models *models = NULL;
    kn_status status = kn_models_read(&models, &spec, 1, c->tuples, NULL, NULL, &err);
    if (status == KN_OK) status = kn_models_possible(models, c->tuples, 0, &err);
    kn_models_free(models);
    strcpy(message, err.message);
    return status;
}

/* --- Slow counts ------------------------------------------------------------------------------------------------- */

enum { MAX_SECRETS = 8 };

typedef struct counts {
    int n_values;
    int table[MAX_SECRETS], here[MAX_SECRETS]; /* rows of the table, of the class, by value */
    int n, n_here;
} counts;

static counts count_secrets(const test_case *c, const kn_release *r, uint32_t k)
{
    const kn_column *column = &c->table->columns[c->n_qis];
    counts out = {.n_values = (int)column->n_values};
    for (uint32_t row = 0; row < c->tuples->n_rows; row++) {
        uint32_t value = kn_column_value(column, kn_column_code(column, row));
        out.table[value]++;
        out.n++;
        if (r->row_class[row] == k) {
            out.here[value]++;
            out.n_here++;
        }
    }
    return out;
}

static double slow_distinct(const counts *s)
{
    int n = 0;
    for (int v = 0; v < s->n_values; v++) n += s->here[v] > 0;
    return n;
}

static double slow_entropy_l(const counts *s)
{
    double entropy = 0;
    for (int v = 0; v < s->n_values; v++) {
        double p = (double)s->here[v] / s->n_here;
        if (p > 0) entropy -= p * log2(p);
    }
    return pow(2, entropy);
}

static int descending(const void *a, const void *b) { return *(const int *)b - *(const int *)a; }

static double slow_recursive(const counts *s, int l)
{
    int sorted[MAX_SECRETS] = {0}, tail = 0;
    memcpy(sorted, s->here, sizeof sorted);
    qsort(sorted, MAX_SECRETS, sizeof *sorted, descending);
    for (int i = l - 1; i < MAX_SECRETS; i++) tail += sorted[i];
    return tail > 0 ? (double)sorted[0] / tail : INFINITY;
}

static double slow_share(const counts *s)
{
    int largest = 0;
    for (int v = 0; v < s->n_values; v++) largest = s->here[v] > largest ? s->here[v] : largest;
    return (double)largest / s->n_here;
}

static double slow_gain(const counts *s, double beta, bool enhanced, bool *within)
{
    double largest = 0;
    *within = true;
    for (int v = 0; v < s->n_values; v++) {
        double p = (double)s->here[v] / s->n_here, q = (double)s->table[v] / s->n;
        double limit = enhanced && -log(q) < beta ? -log(q) : beta;
        if (p <= q) continue;
        largest = fmax(largest, (p - q) / q);
        if ((p - q) / q > limit + 1e-9) *within = false;
    }
    return largest;
}

static double slow_log_ratio(const counts *s)
{
    double largest = 0;
    for (int v = 0; v < s->n_values; v++)
        largest = fmax(largest, fabs(log2(((double)s->here[v] / s->n_here) / ((double)s->table[v] / s->n))));
    return largest;
}

/* --- Optimal transport: successive cheapest paths over whole units --------------------------------------------------
 */

/* Least cost of moving `supply` to `demand` (equal sums, in units of 1/(n * n_here)) with cost[i][j]. */
static double transport(int m, const int *supply, const int *demand, double cost[MAX_SECRETS][MAX_SECRETS])
{
    int flow[MAX_SECRETS][MAX_SECRETS] = {{0}}, left[MAX_SECRETS], wanted[MAX_SECRETS];
    double total = 0;
    memcpy(left, supply, sizeof left);
    memcpy(wanted, demand, sizeof wanted);
    for (;;) {
        /* Bellman-Ford over 2m nodes: sources 0..m-1, sinks m..2m-1 */
        double distance[2 * MAX_SECRETS];
        int from[2 * MAX_SECRETS], best = -1;
        for (int i = 0; i < 2 * m; i++) {
            distance[i] = i < m && left[i] > 0 ? 0 : INFINITY;
            from[i] = -1;
        }
        for (int round = 0; round < 2 * m; round++)
            for (int i = 0; i < m; i++)
                for (int j = 0; j < m; j++) {
                    if (distance[i] + cost[i][j] < distance[m + j] - 1e-12) {
                        distance[m + j] = distance[i] + cost[i][j];
                        from[m + j] = i;
                    }
                    if (flow[i][j] > 0 && distance[m + j] - cost[i][j] < distance[i] - 1e-12) {
                        distance[i] = distance[m + j] - cost[i][j];
                        from[i] = m + j;
                    }
                }
        for (int j = 0; j < m; j++)
            if (wanted[j] > 0 && (best < 0 || distance[m + j] < distance[best])) best = m + j;
        if (best < 0) return total;
        int units = wanted[best - m], source = best;
        for (; from[source] >= 0; source = from[source])
            if (source < m && flow[source][from[source] - m] < units) units = flow[source][from[source] - m];
        if (left[source] < units) units = left[source];
        for (int node = best; from[node] >= 0; node = from[node]) {
            if (node >= m) {
                flow[from[node]][node - m] += units;
            } else {
                flow[node][from[node] - m] -= units;
            }
        }
        total += units * distance[best];
        left[source] -= units;
        wanted[best - m] -= units;
    }
}

static double slow_emd(const counts *s, const kn_sensitive *sensitive, const char *how)
{
    int supply[MAX_SECRETS] = {0}, demand[MAX_SECRETS] = {0}, m = s->n_values, rank[MAX_SECRETS];
    double cost[MAX_SECRETS][MAX_SECRETS];
    const kn_tree *tree = sensitive->tree;
    for (int i = 0; i < m; i++) {
        supply[i] = s->here[i] * s->n;
        demand[i] = s->table[i] * s->n_here;
        rank[i] = i;
        /* text in the order of its hierarchy, the missing value last */
        bool is_missing = sensitive->column->has_missing && i == m - 1;
        for (int j = 0; tree != NULL && sensitive->column->type == KN_TYPE_TEXT && !is_missing && j < m; j++) {
            if (j == 0) rank[i] = 0;
            if (!sensitive->column->has_missing || j < m - 1)
                rank[i] += sensitive->leaf_of_value[j] < sensitive->leaf_of_value[i];
        }
    }
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            if (strcmp(how, "equal") == 0) cost[i][j] = i != j;
            if (strcmp(how, "ordered") == 0) cost[i][j] = m > 1 ? fabs((double)rank[i] - rank[j]) / (m - 1) : 0;
            if (strcmp(how, "hierarchical") == 0) {
                uint32_t level = 0, a = sensitive->leaf_of_value[i], b = sensitive->leaf_of_value[j];
                while (tree->at_level[level][a] != tree->at_level[level][b]) level++;
                cost[i][j] = level > 0 ? (double)level / tree->level[tree->root] : 0;
            }
        }
    return transport(m, supply, demand, cost) / ((double)s->n * s->n_here);
}

static size_t n_judgements[3]; /* breaks, holds, unsure: so that a test can see that there were some */

/* --- Models against the counts --------------------------------------------------------------------------------------
 */

/* No fewer than `most` + 1 rows taken out of the class, from its value number i on, make it hold. */
static void check_must_go(const kn_models *models, kn_class_counts *left, uint32_t i, uint32_t most)
{
    kn_histogram *own = (kn_histogram *)left->sensitive;
    uint64_t *count = (uint64_t *)&own->counts[i], before = *count;
    if (i == own->n) {
        assert_false(kn_models_hold(models, left));
        return;
    }
    for (uint32_t n = 0; n <= most && n <= before && n < left->n_rows; n++) {
        *count = before - n;
        left->n_rows -= n;
        check_must_go(models, left, i + 1, most - n);
        left->n_rows += n;
    }
    *count = before;
}

static void check_some_must_go(const kn_models *models, const kn_class_counts *class_counts, uint32_t must_go)
{
    static unsigned n_seen;
    uint64_t own_counts[64];
    kn_histogram own = class_counts->sensitive[0];
    if (must_go == 0 || must_go > 12 || own.n > 5 || n_seen++ % 16 != 0) return;
    memcpy(own_counts, own.counts, own.n * sizeof *own_counts);
    own.counts = own_counts;
    kn_class_counts left = *class_counts;
    left.sensitive = &own;
    check_must_go(models, &left, 0, must_go - 1);
}

/* Where a model answers from lanes, it answers as from lists. The class stands among others, and among what is no
 * class. */
static void check_lanes(const kn_models *models, const test_case *c, const kn_class_counts *class_counts, bool holds)
{
    enum { N = KN_LANE_CLASSES, MOST = 64 };
    static uint32_t next;
    uint16_t lanes[4][N * MOST] __attribute__((aligned(32)));
    uint32_t n_rows[N] __attribute__((aligned(32))), must_go[N] __attribute__((aligned(32))) = {0};
    const uint16_t *columns[4] = {lanes[0], lanes[1], lanes[2], lanes[3]};
    if (class_counts->n_persons < models->min_persons || class_counts->n_rows > KN_LANES_MOST_ROWS) return;
    const uint32_t at = next++ % N, other = next % 3 == 0 ? at : next * 7 % N;
    memset(lanes, next % 2 ? 0xcd : 0, sizeof lanes);
    for (uint32_t i = 0; i < N; i++) n_rows[i] = next % 2 ? 100000 * i : 0;
    for (uint32_t s = 0; s < c->tuples->n_sensitive && s < 4; s++) {
        assert_true(c->tuples->sensitive[s].n_values <= MOST);
        for (uint32_t v = 0; v < MOST; v++) lanes[s][v * N + other] = v == 0 ? 2 : 0;
        for (uint32_t v = 0; v < MOST; v++) lanes[s][v * N + at] = 0;
        for (uint32_t i = 0; i < class_counts->sensitive[s].n; i++)
            lanes[s][class_counts->sensitive[s].values[i] * N + at] = (uint16_t)class_counts->sensitive[s].counts[i];
    }
    n_rows[other] = 2;
    n_rows[at] = (uint32_t)class_counts->n_rows;
    const uint32_t ask = 1u << at | 1u << other;
    kn_judgement judgement = kn_models_judge(models, &(kn_lane_counts){ask, n_rows, columns}, must_go);
    bool said = judgement.holds >> at & 1, unsure = judgement.unsure >> at & 1;
    assert_true((judgement.holds & judgement.unsure) == 0 && ((judgement.holds | judgement.unsure) & ~ask) == 0);
    if (!unsure) assert_true(holds == said);
    assert_true(must_go[at] <= (holds ? 0 : n_rows[at]));
    if (c->tuples->n_sensitive == 1) check_some_must_go(models, class_counts, must_go[at]);
    n_judgements[unsure ? 2 : said]++;
}

/* The model's value and verdict for class k. */
static double judge(const test_case *c, const char *spec, const kn_release *r, uint32_t k, bool *holds)
{
    kn_models *models = models_of(c, spec);
    kn_histogram histogram[4];
    kn_class_counts class_counts = kn_release_class(r, k, histogram);
    double value = models->items[0].type->value(models->items[0].state, &class_counts);
    *holds = models->items[0].type->holds(models->items[0].state, &class_counts);
    assert_true(*holds == kn_models_hold(models, &class_counts));
    if (*holds) assert_true(class_counts.n_persons >= models->min_persons);
    check_lanes(models, c, &class_counts, *holds);
    kn_models_free(models);
    return value;
}

static void check(const test_case *c, const char *spec, const kn_release *r, uint32_t k, double value, bool holds)
{
    bool judged;
    assert_near(judge(c, spec, r, k, &judged), value, spec);
    if (judged != holds) fail_msg("%s: a class with %.12g is judged %d", spec, value, judged);
}

static void check_class(const test_case *c, const kn_release *r, uint32_t k, kn_rng *rng)
{
    counts s = count_secrets(c, r, k);
    char spec[100];
    int l = 1 + (int)kn_rng_below(rng, (uint32_t)s.n_values);
    double limit = (1 + kn_rng_below(rng, 20)) / 20.0, real_l = 1 + kn_rng_below(rng, 20) / 20.0 * (s.n_values - 1);
    bool within;
    snprintf(spec, sizeof spec, "k-anonymity:k=%d", 1 + (int)kn_rng_below(rng, (uint32_t)s.n));
    check(c, spec, r, k, s.n_here, s.n_here >= atoi(strchr(spec, '=') + 1));
    snprintf(spec, sizeof spec, "l-diversity:l=%d", l);
    check(c, spec, r, k, slow_distinct(&s), slow_distinct(&s) >= l);
    snprintf(spec, sizeof spec, "p-sensitive:p=%d", l);
    check(c, spec, r, k, slow_distinct(&s), slow_distinct(&s) >= l);
    snprintf(spec, sizeof spec, "l-diversity:kind=entropy,l=%.10g", real_l);
    check(c, spec, r, k, slow_entropy_l(&s), slow_entropy_l(&s) >= real_l - 1e-9);
    snprintf(spec, sizeof spec, "l-diversity:kind=frequency,l=%.10g", real_l);
    check(c, spec, r, k, 1 / slow_share(&s), slow_share(&s) <= 1 / real_l + 1e-9);
    snprintf(spec, sizeof spec, "l-diversity:kind=recursive,l=%d,c=%.10g", l, limit * 4);
    check(c, spec, r, k, slow_recursive(&s, l), slow_recursive(&s, l) < limit * 4 - 1e-9);
    snprintf(spec, sizeof spec, "alpha-k:alpha=%.10g", limit);
    check(c, spec, r, k, slow_share(&s), slow_share(&s) <= limit + 1e-9);
    double gain = slow_gain(&s, limit * 2, false, &within);
    snprintf(spec, sizeof spec, "beta-likeness:beta=%.10g", limit * 2);
    check(c, spec, r, k, gain, within);
    slow_gain(&s, limit * 2, true, &within);
    snprintf(spec, sizeof spec, "beta-likeness:beta=%.10g,enhanced=yes", limit * 2);
    check(c, spec, r, k, gain, within);
    snprintf(spec, sizeof spec, "delta-disclosure:delta=%.10g", limit * 2);
    check(c, spec, r, k, slow_log_ratio(&s), slow_log_ratio(&s) < limit * 2 - 1e-9);
    static const char *const distances[] = {"equal", "ordered", "hierarchical"};
    for (int i = 0; i < 3; i++) {
        const kn_sensitive *sensitive = &c->tuples->sensitive[0];
        if (i == 2 && sensitive->tree == NULL) continue;
        if (i == 1 && sensitive->tree == NULL && sensitive->column->type == KN_TYPE_TEXT) continue;
        double distance = slow_emd(&s, sensitive, distances[i]);
        snprintf(spec, sizeof spec, "t-closeness:distance=%s,t=%.10g", distances[i], limit);
        check(c, spec, r, k, distance, distance <= limit + 1e-9);
    }
}

/* A random hierarchy for the sensitive column, its leaves in an order of their own. */
static void give_tree(kn_rng *rng, test_case *c)
{
    kn_sensitive *sensitive = &c->tuples->sensitive[0];
    kn_domain *domain = test_random_tree_domain(rng, c->table, c->n_qis, 2 + kn_rng_below(rng, 3));
    sensitive->tree = domain->tree;
    domain->tree = NULL;
    kn_domain_free(domain);
    uint32_t n = sensitive->n_values;
    sensitive->leaf_of_value = kn_owner_keep(&c->tuples->memory, kn_array_alloc(n, sizeof(uint32_t), NULL), NULL);
    for (uint32_t i = 0; i < n; i++) sensitive->leaf_of_value[i] = i;
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = kn_rng_below(rng, i), leaf = sensitive->leaf_of_value[i - 1];
        sensitive->leaf_of_value[i - 1] = sensitive->leaf_of_value[j];
        sensitive->leaf_of_value[j] = leaf;
    }
}

static void every_model_is_what_its_definition_says(void **state)
{
    kn_rng rng = kn_rng_new(21, 0);
    for (int round = 0; round < 3000; round++) {
        test_case c = test_case_random(&rng, 14);
        if (round % 2) give_tree(&rng, &c);
        kn_release *release = test_release_random(&rng, &c, true);
        for (uint32_t k = 0; k < release->n_classes; k++) check_class(&c, release, k, &rng);
        kn_release_free(release);
        test_case_free(&c);
    }
    assert_true(n_judgements[0] > 1000 && n_judgements[1] > 1000);
}

/* A table with one QI and the given sensitive numbers. */
static test_case secrets(kn_rng *rng, uint32_t n_rows, uint32_t n_values)
{
    int *cells = kn_array_alloc((size_t)n_rows * 2, sizeof *cells, NULL);
    for (uint32_t row = 0; row < n_rows; row++) {
        uint32_t largest = 1 + kn_rng_below(rng, n_values);
        cells[2 * row + 1] = (int)kn_rng_below(rng, largest);
    }
    test_case c = test_case_new(test_table(n_rows, 2, cells), 1);
    c.domains[0] = test_domain(c.table, 0, NULL);
    test_case_finish(&c);
    kn_free(cells);
    return c;
}

static void distances_are_those_of_optimal_transport(void **state)
{
    kn_rng rng = kn_rng_new(22, 0);
    for (int round = 0; round < 3000; round++) {
        test_case c = secrets(&rng, 2 + kn_rng_below(&rng, 40), 2 + kn_rng_below(&rng, MAX_SECRETS - 1));
        if (round % 2) give_tree(&rng, &c);
        kn_release *release = test_release_random(&rng, &c, true);
        for (uint32_t k = 0; k < release->n_classes; k++) {
            counts s = count_secrets(&c, release, k);
            bool holds;
            const kn_sensitive *sensitive = &c.tuples->sensitive[0];
            assert_near(judge(&c, "t-closeness:t=1", release, k, &holds), slow_emd(&s, sensitive, "equal"), "equal");
            assert_near(judge(&c, "t-closeness:t=1,distance=ordered", release, k, &holds),
                        slow_emd(&s, sensitive, "ordered"), "ordered");
            if (round % 2)
                assert_near(judge(&c, "t-closeness:t=1,distance=hierarchical", release, k, &holds),
                            slow_emd(&s, sensitive, "hierarchical"), "hierarchical");
        }
        kn_release_free(release);
        test_case_free(&c);
    }
}

static void distances_need_no_memory_to_be_right(void **state)
{
    kn_rng rng = kn_rng_new(23, 0);
    for (int round = 0; round < 300; round++) {
        test_case c = secrets(&rng, 20, MAX_SECRETS);
        give_tree(&rng, &c);
        uint32_t row_class[20];
        for (int row = 0; row < 20; row++) row_class[row] = row % 2;
        kn_release *release = test_release(&c, row_class, 2);
        static const char *const specs[] = {"t-closeness:t=1,distance=ordered",
                                            "t-closeness:t=1,distance=hierarchical"};
        for (int i = 0; i < 2; i++) {
            kn_models *models = models_of(&c, specs[i]);
            kn_histogram histogram[1];
            kn_class_counts class_counts = kn_release_class(release, 0, histogram);
            double with = models->items[0].type->value(models->items[0].state, &class_counts);
            kn_memory_fail_at(1);
            double without = models->items[0].type->value(models->items[0].state, &class_counts);
            kn_memory_fail_at(0);
            assert_true(with == without);
            kn_models_free(models);
        }
        kn_release_free(release);
        test_case_free(&c);
    }
}

/* --- Monotonicity ----------------------------------------------------------------------------------------------------
 */

static const char *const monotone_specs[] = {
    "k-anonymity:k=2",
    "l-diversity:l=2",
    "p-sensitive:p=2",
    "l-diversity:kind=entropy,l=1.4",
    "l-diversity:kind=frequency,l=1.5",
    "l-diversity:kind=recursive,l=2,c=2",
    "l-diversity:kind=recursive,l=3,c=3",
    "alpha-k:alpha=0.6",
    "t-closeness:t=0.3",
    "t-closeness:t=0.2,distance=ordered",
    "t-closeness:t=0.2,distance=hierarchical",
    "beta-likeness:beta=0.5",
    "beta-likeness:beta=2,enhanced=yes",
    "delta-disclosure:delta=1",
};

static void two_classes_that_hold_hold_when_merged(void **state)
{
    kn_rng rng = kn_rng_new(24, 0);
    enum { N = sizeof monotone_specs / sizeof *monotone_specs };
    unsigned n_merged[N] = {0}, n_grown = 0, n_shrunk = 0;
    for (int round = 0; round < 6000; round++) {
        test_case c = secrets(&rng, 24, 4);
        uint32_t two[24], one[24] = {0};
        give_tree(&rng, &c);
        for (int row = 0; row < 24; row++) two[row] = one[row] = kn_rng_below(&rng, 3);
        for (int row = 0; row < 24; row++) one[row] = two[row] == 2 ? 1 : 0;
        two[0] = 0, two[1] = 1, two[2] = 2, one[0] = one[1] = 0, one[2] = 1;
        kn_release *apart = test_release(&c, two, 3), *merged = test_release(&c, one, 2);
        for (int i = 0; i < N; i++) {
            bool first, second, both;
            char message[2048];
            if (refusal_of(&c, monotone_specs[i], message) != KN_OK) continue;
            judge(&c, monotone_specs[i], apart, 0, &first);
            judge(&c, monotone_specs[i], apart, 1, &second);
            judge(&c, monotone_specs[i], merged, 0, &both);
            if (first && second && !both) fail_msg("%s is not monotone", monotone_specs[i]);
            kn_models *models = models_of(&c, monotone_specs[i]);
            if (models->least_values != NULL && (first || second) && !both)
                fail_msg("%s does not grow", monotone_specs[i]);
            n_grown += models->least_values != NULL && first != second;
            n_shrunk += first != second && !both;
            kn_models_free(models);
            n_merged[i] += first && second;
        }
        kn_release_free(apart);
        kn_release_free(merged);
        test_case_free(&c);
    }
    for (int i = 0; i < N; i++)
        if (n_merged[i] < 20) fail_msg("%s was tried %u times only", monotone_specs[i], n_merged[i]);
    assert_true(n_grown > 20 && n_shrunk > 20); /* of those that do not claim to */
}

/* --- Printed examples
 * --------------------------------------------------------------------------------------------------- */

static void sv_figure_18_is_3_anonymous_but_one_block_has_one_disease(void **state)
{
    const char *cells[] = {"2203*", "been_married",  "F", "hypertension", "2203*", "been_married",  "F", "hypertension",
                           "2203*", "never_married", "M", "obesity",      "2203*", "never_married", "M", "HIV",
                           "2203*", "never_married", "M", "obesity",      "2203*", "been_married",  "F", "hypertension",
                           "2204*", "been_married",  "M", "obesity",      "2204*", "been_married",  "M", "HIV",
                           "2204*", "been_married",  "M", "HIV"};
    test_case c = test_case_new(test_text_table(9, 4, cells), 1);
    for (uint32_t q = 0; q < 3; q++) c.domains[q] = test_domain(c.table, q, NULL);
    test_case_finish(&c);
    uint32_t n_classes = c.tuples->n_tuples, n_one_diverse = 0, n_hiv = 0;
    kn_release *r = test_release(&c, c.tuples->row_tuple, n_classes);
    assert_int_equal(n_classes, 3);
    for (uint32_t k = 0; k < 3; k++) {
        bool holds;
        assert_near(judge(&c, "k-anonymity:k=3", r, k, &holds), 3, "k");
        assert_true(holds);
        n_one_diverse += judge(&c, "l-diversity:l=2", r, k, &holds) == 1;
        double share = judge(&c, "alpha-k:alpha=0.4,values=HIV", r, k, &holds);
        if (!holds) {
            n_hiv++;
            assert_near(share, 2.0 / 3, "HIV");
        }
        judge(&c, "alpha-k:alpha=0.7,values=HIV|obesity", r, k, &holds);
        assert_true(holds);
    }
    assert_int_equal(n_one_diverse, 1);
    assert_int_equal(n_hiv, 1);
    kn_models *models;
    const char *specs[] = {"k-anonymity:k=3", "l-diversity:l=2", "alpha-k:alpha=0.4,values=HIV"};
    kn_finding findings[3];
    assert_ok(kn_models_new(&models, specs, 3, c.tuples, err));
    assert_ok(kn_models_findings(findings, models, r, NULL, err));
    assert_true(findings[0].holds && !findings[1].holds && !findings[2].holds);
    assert_true(findings[0].worst == 3 && findings[1].worst == 1);
    assert_near(findings[2].worst, 2.0 / 3, "HIV");
    assert_true(findings[1].worst_class != findings[2].worst_class);
    kn_models_free(models);
    kn_release_free(r);
    test_case_free(&c);
}

/* The figure is called 2-diverse; its first block, as printed, has N three times. */
static void sv_figure_19_the_skewed_block_is_far_from_the_table(void **state)
{
    const char *cells[] = {"a",   "N", "230", "a",   "N", "220", "b",   "Y", "250", "b",   "Y", "260", "b",  "N",
                           "250", "a", "N",   "275", "c", "N",   "285", "c", "Y",   "210", "c", "N",   "190"};
    test_case c = test_case_new(test_text_table(9, 3, cells), 2);
    c.domains[0] = test_domain(c.table, 0, NULL);
    test_case_finish(&c);
    uint32_t row_class[] = {0, 0, 1, 1, 1, 0, 2, 2, 2};
    kn_release *r = test_release(&c, row_class, 3);
    bool holds;
    assert_near(judge(&c, "alpha-k:column=b,alpha=0.5,values=Y", r, 1, &holds), 2.0 / 3, "67 %");
    assert_false(holds);
    assert_near(judge(&c, "beta-likeness:column=b,beta=0.5", r, 1, &holds), (2.0 / 3) / (3.0 / 9) - 1, "against 33 %");
    assert_false(holds);
    assert_near(judge(&c, "t-closeness:column=b,t=0.3", r, 1, &holds), 1.0 / 3, "distance");
    assert_false(holds);
    assert_near(judge(&c, "t-closeness:column=b,t=0.3333333333333", r, 1, &holds), 1.0 / 3, "distance");
    assert_true(holds);
    assert_near(judge(&c, "l-diversity:column=c,l=2", r, 1, &holds), 2, "Cholesterol 250, 260");
    assert_near(judge(&c, "p-sensitive:column=b,p=2", r, 0, &holds), 1, "Diabetes");
    assert_near(judge(&c, "p-sensitive:column=c,p=2", r, 0, &holds), 3, "Cholesterol");
    char message[2048];
    assert_int_equal(refusal_of(&c, "l-diversity:l=2", message), KN_USAGE); /* which column? */
    assert_non_null(strstr(message, "column="));
    kn_release_free(r);
    test_case_free(&c);
}

static const int li_salaries[] = {3, 4, 5, 6, 11, 8, 7, 9, 10};

static void li_2007_distances_of_salaries(void **state)
{
    int cells[18];
    for (int row = 0; row < 9; row++) {
        cells[2 * row] = 0;
        cells[2 * row + 1] = li_salaries[row];
    }
    test_case c = test_case_new(test_table(9, 2, cells), 1);
    c.domains[0] = test_domain(c.table, 0, NULL);
    test_case_finish(&c);
    /* Table 3: {3,4,5} is 0.375 from the table, {6,11,8} 0.167; Table 5: no class above 0.167 */
    kn_release *r = test_release(&c, (uint32_t[]){0, 0, 0, 1, 1, 1, 2, 2, 2}, 3);
    bool holds;
    assert_near(judge(&c, "t-closeness:distance=ordered,t=0.375", r, 0, &holds), 0.375, "{3,4,5}");
    assert_true(holds);
    assert_near(judge(&c, "t-closeness:distance=ordered,t=0.16", r, 1, &holds), 1.0 / 6, "{6,8,11}");
    assert_false(holds);
    kn_release_free(r);
    r = test_release(&c, (uint32_t[]){0, 1, 0, 2, 2, 2, 1, 0, 1}, 3);
    double worst = 0;
    for (uint32_t k = 0; k < 3; k++) worst = fmax(worst, judge(&c, "t-closeness:distance=ordered,t=1", r, k, &holds));
    assert_near(worst, 1.0 / 6, "Table 5, salary");
    kn_release_free(r);
    test_case_free(&c);
}

static void li_2007_distances_of_diseases(void **state)
{
    const char *diseases[] = {"gastric ulcer", "gastritis",  "stomach cancer", "gastritis",     "flu",
                              "bronchitis",    "bronchitis", "pneumonia",      "stomach cancer"};
    const char *cells[18];
    for (int row = 0; row < 9; row++) {
        cells[2 * row] = "x";
        cells[2 * row + 1] = diseases[row];
    }
    test_case c = test_case_new(test_text_table(9, 2, cells), 1);
    c.domains[0] = test_domain(c.table, 0, NULL);
    test_case_finish(&c);
    char message[2048];
    assert_int_equal(refusal_of(&c, "t-closeness:t=0.2,distance=hierarchical", message), KN_USAGE);
    assert_int_equal(refusal_of(&c, "t-closeness:t=0.2,distance=ordered", message), KN_USAGE);
    kn_domain *domain = test_domain(c.table, 1,
                                    "gastric ulcer;stomach;digestive;any\ngastritis;stomach;digestive;any\n"
                                    "flu;infection;respiratory;any\nbronchitis;infection;respiratory;any\n"
                                    "pneumonia;infection;respiratory;any\nstomach cancer;stomach;digestive;any\n");
    kn_sensitive *sensitive = &c.tuples->sensitive[0];
    sensitive->leaf_of_value =
        kn_owner_keep(&c.tuples->memory, kn_array_alloc(sensitive->n_values, sizeof(uint32_t), NULL), NULL);
    for (uint32_t v = 0; v < sensitive->n_values; v++) sensitive->leaf_of_value[v] = domain->code_of_spelling[v];
    sensitive->tree = domain->tree;
    domain->tree = NULL;
    kn_domain_free(domain);
    bool holds;
    kn_release *r = test_release(&c, (uint32_t[]){0, 1, 0, 2, 2, 2, 1, 0, 1}, 3);
    double worst = 0;
    for (uint32_t k = 0; k < 3; k++)
        worst = fmax(worst, judge(&c, "t-closeness:distance=hierarchical,t=1", r, k, &holds));
    /* Table 5 prints 0.278. With its own distances, {gastritis, flu, bronchitis} must send 2/9 across the root and 1/9
     * inside each half at 1/3: 8/27 = 0.296, which optimal transport confirms. */
    counts s = count_secrets(&c, r, 2);
    assert_near(slow_emd(&s, sensitive, "hierarchical"), 8.0 / 27, "Table 5, disease");
    assert_near(worst, 8.0 / 27, "Table 5, disease");
    kn_release_free(r);
    test_case_free(&c);
}

/* a;a;x;*;* is written for a value that hangs directly below x, and a root that stands at two levels counts once. */
static void a_tree_of_one_node_has_no_distances(void **state)
{
    const char *cells[] = {"p", "a", "q", "a"};
    test_case c = test_case_new(test_text_table(2, 2, cells), 1);
    c.domains[0] = test_domain(c.table, 0, NULL);
    test_case_finish(&c);
    kn_sensitive *sensitive = &c.tuples->sensitive[0];
    kn_domain *domain = test_domain(c.table, 1, "a;a\n");
    sensitive->leaf_of_value = kn_owner_keep(&c.tuples->memory, kn_array_alloc(1, sizeof(uint32_t), NULL), NULL);
    sensitive->leaf_of_value[0] = domain->code_of_spelling[0];
    sensitive->tree = domain->tree;
    domain->tree = NULL;
    kn_domain_free(domain);
    kn_release *r = test_release(&c, (uint32_t[]){0, 1}, 2);
    bool holds;
    assert_near(judge(&c, "t-closeness:t=0.1,distance=hierarchical", r, 0, &holds), 0, "one node");
    assert_true(holds);
    kn_release_free(r);
    test_case_free(&c);
}

static void a_distance_in_an_unbalanced_tree_is_the_level_of_the_common_ancestor(void **state)
{
    const char *cells[] = {"q", "a", "q", "b", "q", "c", "q", "d"};
    test_case c = test_case_new(test_text_table(4, 2, cells), 1);
    c.domains[0] = test_domain(c.table, 0, NULL);
    test_case_finish(&c);
    kn_sensitive *sensitive = &c.tuples->sensitive[0];
    kn_domain *domain = test_domain(c.table, 1, "a;a;x;*;*\nb;y;x;*;*\nd;y;x;*;*\nc;c;c;*;*\n");
    sensitive->leaf_of_value = kn_owner_keep(&c.tuples->memory, kn_array_alloc(4, sizeof(uint32_t), NULL), NULL);
    for (uint32_t v = 0; v < 4; v++) sensitive->leaf_of_value[v] = domain->code_of_spelling[v];
    sensitive->tree = domain->tree;
    domain->tree = NULL;
    kn_domain_free(domain);
    kn_release *r = test_release(&c, (uint32_t[]){0, 1, 2, 1}, 3);
    for (uint32_t k = 0; k < 3; k++) {
        bool holds;
        counts s = count_secrets(&c, r, k);
        assert_near(judge(&c, "t-closeness:t=1,distance=hierarchical", r, k, &holds),
                    slow_emd(&s, sensitive, "hierarchical"), "unbalanced");
    }
    bool holds;
    /* {c}: 3/4 must come from x, across the root */
    assert_near(judge(&c, "t-closeness:t=1,distance=hierarchical", r, 2, &holds), 0.75, "c");
    kn_release_free(r);
    test_case_free(&c);
}

/* --- Impossible requests ---------------------------------------------------------------------------------------------
 */

static void what_no_release_can_give_is_refused_with_what_is_possible(void **state)
{
    const int cells[] = {1, 1, 1, 1, 1, 1, 1, 2, 1, 2, 1, 3}; /* values 1, 2, 3 with 3, 2, 1 rows */
    test_case c = test_case_new(test_table(6, 2, cells), 1);
    c.domains[0] = test_domain(c.table, 0, NULL);
    test_case_finish(&c);
    static const struct {
        const char *spec, *possible;
    } impossible[] = {
        {"k-anonymity:k=7", "at most 6"},
        {"l-diversity:l=4", "at most 3"},
        {"p-sensitive:p=4", "at most 3"},
        {"l-diversity:kind=frequency,l=2.1", "at most 2"},
        {"l-diversity:kind=entropy,l=2.8", "at most 2.7494"},
        {"l-diversity:kind=recursive,l=3,c=2.9", "at least 3"},
        {"alpha-k:alpha=0.45", "at least 0.5"},
    };
    static const char *const possible[] = {
        "k-anonymity:k=6",
        "l-diversity:l=3",
        "p-sensitive:p=3",
        "l-diversity:kind=frequency,l=2",
        "l-diversity:kind=entropy,l=2.7",
        "l-diversity:kind=recursive,l=3,c=3.1",
        "alpha-k:alpha=0.5",
        "alpha-k:alpha=0.2,values=3",
        "t-closeness:t=0",
        "beta-likeness:beta=0.001",
        "beta-likeness:beta=0.001,enhanced=yes",
        "delta-disclosure:delta=0.001",
    };
    char message[2048];
    for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++) {
        assert_int_equal(refusal_of(&c, impossible[i].spec, message), KN_NOT_MET);
        if (strstr(message, impossible[i].possible) == NULL)
            fail_msg("'%s' does not say '%s'", message, impossible[i].possible);
    }
    for (size_t i = 0; i < sizeof possible / sizeof *possible; i++)
        if (refusal_of(&c, possible[i], message) != KN_OK) fail_msg("%s: %s", possible[i], message);
    /* leaving out rows of value 1 makes 1/l = 2/5 possible */
    kn_models *models = models_of(&c, "l-diversity:kind=frequency,l=2.5");
    assert_ok(kn_models_possible(models, c.tuples, 1, err));
    kn_models_free(models);
    test_case_free(&c);
}

static void wrong_requests_are_refused(void **state)
{
    kn_rng rng = kn_rng_new(25, 0);
    test_case c = secrets(&rng, 10, 3);
    static const char *const wrong[] = {"",
                                        "k",
                                        "k-anonymity",
                                        "k-anonymity:k=0",
                                        "k-anonymity:k=2.5",
                                        "k-anonymity:l=2",
                                        "l-diversity:l=2,kind=other",
                                        "l-diversity:l=2,kind=recursive",
                                        "l-diversity:l=1.5",
                                        "l-diversity:l=2,column=a",
                                        "alpha-k:alpha=0.5,values=nobody",
                                        "alpha-k:alpha=1.5",
                                        "t-closeness:t=2",
                                        "t-closeness:t=0.1,distance=hierarchical",
                                        "delta-presence:min=0.5,max=0.4,population=x",
                                        "k-map:k=3"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char message[2048];
        if (refusal_of(&c, wrong[i], message) != KN_USAGE || strlen(message) < 10)
            fail_msg("'%s' is not refused: %s", wrong[i], message);
    }
    test_case_free(&c);
    const int no_secret[] = {1, 2};
    c = test_case_new(test_table(2, 1, no_secret), 0);
    c.domains[0] = test_domain(c.table, 0, NULL);
    test_case_finish(&c);
    char message[2048];
    assert_int_equal(refusal_of(&c, "l-diversity:l=2", message), KN_USAGE);
    assert_non_null(strstr(message, "--sensitive"));
    test_case_free(&c);
}

/* --- Several models, findings, failures
 * --------------------------------------------------------------------------------- */

static void findings_are_the_worst_class_for_any_number_of_threads(void **state)
{
    kn_rng rng = kn_rng_new(26, 0);
    kn_pool *pools[2] = {NULL, NULL};
    assert_ok(kn_pool_new(&pools[1], 3, err));
    const char *specs[] = {"k-anonymity:k=2", "l-diversity:l=2", "t-closeness:t=0.4",
                           "l-diversity:kind=recursive,l=2,c=1.5"};
    for (int round = 0; round < 500; round++) {
        test_case c = secrets(&rng, 20, 4);
        kn_release *r = test_release_random(&rng, &c, true);
        if (round % 2) r->n_removed = r->n_suppressed;
        kn_models *models = NULL;
        kn_error ignored = {0};
        if (kn_models_new(&models, specs, 4, c.tuples, &ignored) == KN_OK) {
            uint32_t n = r->n_classes + (r->n_suppressed > 0 && r->n_removed == 0);
            for (int p = 0; p < 2; p++) {
                kn_finding found[4];
                assert_ok(kn_models_findings(found, models, r, pools[p], err));
                for (int i = 0; i < 4; i++) {
                    double worst = NAN;
                    bool all = true;
                    for (uint32_t k = 0; k < n; k++) {
                        bool holds;
                        double value = judge(&c, specs[i], r, k, &holds);
                        all = all && holds;
                        if (isnan(worst) || (i < 2 ? value < worst : value > worst)) worst = value;
                    }
                    assert_true(found[i].holds == all);
                    assert_true(found[i].worst == worst || (isnan(worst) && isnan(found[i].worst)));
                }
            }
        }
        kn_models_free(models);
        kn_release_free(r);
        test_case_free(&c);
    }
    kn_pool_free(pools[1]);
}

/* What must be less than a bound is not equal to it. */
static void strict_bounds_are_strict(void **state)
{
    static const int cells[] = {0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 1, 0, 2, 0, 2};
    static const uint32_t classes[] = {0, 0, 0, 0, 1, 1, 1, 1}; /* 2, 1, 1: the largest is 1 times the others */
    /* value 0: 1/4 of the table, 1/2 of one class and 1/8 of the other: both logarithms are 1 */
    static const int shares[] = {0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
    static const uint32_t of_shares[] = {0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
    const struct {
        const int *cells;
        const uint32_t *classes;
        uint32_t n_rows;
        const char *spec;
        bool holds;
    } cases[] = {{cells, classes, 8, "l-diversity:kind=recursive,l=2,c=1", false},
                 {cells, classes, 8, "l-diversity:kind=recursive,l=2,c=1.000001", true},
                 {shares, of_shares, 12, "delta-disclosure:delta=1", false},
                 {shares, of_shares, 12, "delta-disclosure:delta=1.000001", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_case c = test_case_new(test_table(cases[i].n_rows, 2, cases[i].cells), 1);
        c.domains[0] = test_domain(c.table, 0, NULL);
        test_case_finish(&c);
        kn_release *r = test_release(&c, cases[i].classes, 2);
        for (uint32_t k = 0; k < 2; k++) {
            bool holds;
            assert_true(judge(&c, cases[i].spec, r, k, &holds) == 1);
            if (holds != cases[i].holds) fail_msg("%s: class %u is judged %d", cases[i].spec, k, holds);
        }
        kn_release_free(r);
        test_case_free(&c);
    }
}

/* Counts of any size, and such as lie on a limit: the same for all values, or one that has just half of the rows. */
static uint32_t random_count(kn_rng *rng, uint32_t most, uint32_t round)
{
    const uint32_t unit = 1 + most / (4 + kn_rng_below(rng, 20));
    if (kn_rng_below(rng, 4) == 0) return 0;
    return round % 3 == 0 ? kn_rng_below(rng, most + 1) : round % 3 == 1 ? unit : unit * (1 + kn_rng_below(rng, 4));
}

static const char *const LANE_SPECS[] = {"t-closeness:t=0",
                                         "t-closeness:t=0.1",
                                         "t-closeness:t=0.25",
                                         "t-closeness:t=0.5",
                                         "t-closeness:t=1",
                                         "t-closeness:t=0.1,distance=ordered",
                                         "t-closeness:t=0.25,distance=ordered",
                                         "l-diversity:l=1,kind=entropy",
                                         "l-diversity:l=2,kind=entropy",
                                         "l-diversity:l=3,kind=entropy",
                                         "l-diversity:l=3.7,kind=entropy",
                                         "l-diversity:l=4,kind=entropy",
                                         "l-diversity:l=1,kind=frequency",
                                         "l-diversity:l=2,kind=frequency",
                                         "l-diversity:l=3,kind=frequency",
                                         "l-diversity:l=2.5,kind=frequency",
                                         "l-diversity:l=1,kind=recursive,c=1",
                                         "l-diversity:l=2,kind=recursive,c=1",
                                         "l-diversity:l=3,kind=recursive,c=2",
                                         "l-diversity:l=4,kind=recursive,c=0.5",
                                         "l-diversity:l=3",
                                         "p-sensitive:p=4",
                                         "alpha-k:alpha=0.25",
                                         "alpha-k:alpha=0.5",
                                         "alpha-k:alpha=0.3333333333333333",
                                         "alpha-k:alpha=1",
                                         "beta-likeness:beta=0.5",
                                         "beta-likeness:beta=1",
                                         "beta-likeness:beta=3,enhanced=yes",
                                         "delta-disclosure:delta=1",
                                         "delta-disclosure:delta=2",
                                         "delta-disclosure:delta=0.3"};

static void lanes_say_of_classes_of_any_size_what_lists_say(void **state)
{
    kn_rng rng = kn_rng_new(31, 0);
    size_t before[3];
    memcpy(before, n_judgements, sizeof before);
    for (int table = 0; table < 12; table++) {
        test_case c = secrets(&rng, 60, 6);
        for (size_t i = 0; i < sizeof LANE_SPECS / sizeof *LANE_SPECS; i++) {
            kn_error ignored = {0};
            kn_models *models = NULL;
            if (kn_models_new(&models, &LANE_SPECS[i], 1, c.tuples, &ignored) != KN_OK) continue;
            for (uint32_t round = 0; round < 400; round++) {
                uint32_t values[8], most = (uint32_t)(10 << kn_rng_below(&rng, 10));
                uint64_t numbers[8];
                kn_histogram histogram = {0, values, numbers};
                kn_class_counts class = {.sensitive = &histogram};
                for (uint32_t v = 0; v < c.tuples->sensitive[0].n_values; v++) {
                    uint32_t n = round % 8 == 7 ? (uint32_t)c.tuples->sensitive[0].value_rows[v]
                                                : random_count(&rng, most / 2, round);
                    if (n == 0 || c.tuples->sensitive[0].value_rows[v] == 0) continue;
                    values[histogram.n] = v;
                    numbers[histogram.n++] = n;
                    class.n_rows += n;
                }
                class.n_persons = class.n_rows;
                if (class.n_rows == 0) continue;
                bool holds = models->items[0].type->holds(models->items[0].state, &class);
                if (class.n_rows < 60) assert_true(!holds || class.n_persons >= models->min_persons);
                check_lanes(models, &c, &class, holds);
            }
            kn_models_free(models);
        }
        test_case_free(&c);
    }
    assert_true(n_judgements[0] - before[0] > 10000 && n_judgements[1] - before[1] > 10000);
    assert_true(n_judgements[2] - before[2] < (n_judgements[0] + n_judgements[1]) / 10); /* an answer, nearly always */
}

/* All ways to split `left` rows into values from v on, counts of at most `most`. */
static void every_split(const kn_models *models, const test_case *c, uint64_t *numbers, uint32_t v, uint32_t left,
                        uint32_t most)
{
    static const uint32_t values[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    if (left == 0) {
        kn_histogram histogram = {v, values, numbers};
        kn_class_counts class = {.sensitive = &histogram};
        for (uint32_t i = 0; i < v; i++) class.n_rows += numbers[i];
        class.n_persons = class.n_rows;
        check_lanes(models, c, &class, models->items[0].type->holds(models->items[0].state, &class));
        return;
    }
    if (v == 8 || v == c->tuples->sensitive[0].n_values) return;
    for (uint32_t count = left < most ? left : most; count > 0; count--) {
        numbers[v] = count;
        every_split(models, c, numbers, v + 1, left - count, count);
    }
}

static void lanes_say_of_every_small_class_what_lists_say(void **state)
{
    static const char *const more[] = {"l-diversity:l=1.2,kind=entropy", "l-diversity:l=1.7,kind=entropy",
                                       "l-diversity:l=2.2,kind=entropy", "l-diversity:l=2.6,kind=entropy",
                                       "l-diversity:l=3.3,kind=entropy", "l-diversity:l=4.4,kind=entropy",
                                       "l-diversity:l=2.9,kind=entropy", "l-diversity:l=1.9,kind=entropy"};
    const size_t n_specs = sizeof LANE_SPECS / sizeof *LANE_SPECS, n_more = sizeof more / sizeof *more;
    static const int cells[] = {0, 0, 0, 1, 0, 1, 0, 2, 0, 2, 0, 2, 0, 3, 0, 4, 0, 5, 0, 5};
    test_case c = test_case_new(test_table(10, 2, cells), 1);
    c.domains[0] = test_domain(c.table, 0, NULL);
    test_case_finish(&c);
    for (size_t i = 0; i < n_specs + n_more; i++) {
        const char *spec = i < n_specs ? LANE_SPECS[i] : more[i - n_specs];
        kn_models *models = NULL;
        assert_ok(kn_models_new(&models, &spec, 1, c.tuples, err));
        for (uint32_t n = 1; n <= (i < n_specs ? 12u : 26u); n++) {
            uint64_t numbers[8];
            every_split(models, &c, numbers, 0, n, n);
        }
        kn_models_free(models);
    }
    test_case_free(&c);
}

static void models_together_say_what_they_need(void **state)
{
    kn_rng rng = kn_rng_new(27, 0);
    test_case c = secrets(&rng, 30, 3);
    const char *counts_only[] = {"k-anonymity:k=2", "k-anonymity:k=5"},
               *both[] = {"k-anonymity:k=2", "l-diversity:l=3"};
    kn_models *models;
    assert_ok(kn_models_new(&models, counts_only, 2, c.tuples, err));
    assert_true(models->counts_only && models->monotone && models->min_persons == 5 && models->needs == 0);
    kn_models_free(models);
    assert_ok(kn_models_new(&models, both, 2, c.tuples, err));
    assert_true(!models->counts_only && models->monotone && models->min_persons == 3);
    assert_true(models->needs == KN_NEEDS_HISTOGRAM);
    kn_models_free(models);
    test_case_free(&c);
}

/* Its first lines say what the registry says, in words. */
/* --- Several sensitive columns ----------------------------------------------------------------------------------- */

static uint32_t secret(const kn_tuples *t, uint32_t s, uint32_t row)
{
    return kn_column_value(t->sensitive[s].column, kn_column_code(t->sensitive[s].column, row));
}

/* Counts of the rows that `group` marks with 0, every sensitive column, the joined ones too; 0 to free. */
static kn_class_counts count_marked(kn_histogram *out, const kn_tuples *t, const uint32_t *group)
{
    kn_class_counts marked = {.sensitive = out};
    for (uint32_t row = 0; row < t->n_rows; row++) marked.n_rows += group[row] == 0;
    marked.n_persons = marked.n_rows;
    for (uint32_t s = 0; s < t->n_sensitive; s++) {
        kn_histograms one = {0};
        assert_ok(kn_histograms_count(&one, t->sensitive[s].column, group, t->n_rows, 1, err));
        out[s] = kn_histogram_of(&one, 0);
        kn_free(one.start);
    }
    return marked;
}

static void free_marked(kn_histogram *histograms, uint32_t n)
{
    for (uint32_t s = 0; s < n; s++) {
        kn_free((void *)histograms[s].values);
        kn_free((void *)histograms[s].counts);
    }
}

/* [SV] 5: the model, with the other sensitive columns among the quasi-identifiers. */
static void a_joint_model_holds_for_every_part_that_agrees_in_the_others(void **state)
{
    static const char *const specs[] = {"l-diversity:column=b,l=2",
                                        "l-diversity:column=c,kind=entropy,l=1.5",
                                        "l-diversity:column=b,kind=recursive,l=2,c=2",
                                        "l-diversity:column=d,kind=frequency,l=1.6",
                                        "p-sensitive:column=c,p=2",
                                        "alpha-k:column=b,alpha=0.6",
                                        "alpha-k:column=b,alpha=0.4,values=1",
                                        "t-closeness:column=c,t=0.4",
                                        "t-closeness:column=d,distance=ordered,t=0.3"};
    enum { N_SPECS = sizeof specs / sizeof *specs, N_ROWS = 40 };
    kn_rng rng = kn_rng_new(61, 0);
    uint32_t n_held = 0, n_broken = 0, n_stricter = 0;
    for (int trial = 0; trial < 200; trial++) {
        kn_table *table = test_random_table(&rng, N_ROWS, 4, 2 + kn_rng_below(&rng, 2));
        kn_domain *domain;
        kn_tuples *t;
        uint32_t n_secrets = 2 + kn_rng_below(&rng, 2);
        for (uint32_t c = 1; c < 4; c++)
            table->columns[c].role = c <= n_secrets ? KN_ROLE_SENSITIVE : KN_ROLE_INSENSITIVE;
        domain = test_domain(table, 0, NULL);
        assert_ok(kn_tuples_new(&t, table, &domain, 1, NULL, NULL, err));
        const char *spec = specs[kn_rng_below(&rng, n_secrets == 3 ? N_SPECS : 3)];
        char joint[128];
        snprintf(joint, sizeof joint, "%s,joint=yes", spec);
        kn_models *plain, *joined;
        kn_error ignored = {0};
        const char *joint_spec = joint;
        if (kn_models_new(&plain, &spec, 1, t, &ignored) == KN_OK) {
            assert_ok(kn_models_new(&joined, &joint_spec, 1, t, err));
            assert_int_equal(t->n_sensitive, n_secrets + 1);
            assert_null(joined->least_values);
            const kn_model *model = &joined->items[0];
            for (int times = 0; times < 10; times++) {
                uint32_t class[N_ROWS], part[N_ROWS];
                kn_histogram all[8], some[8];
                for (uint32_t row = 0; row < N_ROWS; row++) class[row] = kn_rng_below(&rng, 3) > 0 ? KN_NONE : 0;
                class[times] = 0;
                kn_class_counts marked = count_marked(all, t, class);
                bool holds = true;
                double worst = NAN;
                for (uint32_t row = 0; row < N_ROWS; row++) {
                    if (class[row] != 0) continue;
                    for (uint32_t other = 0; other < N_ROWS; other++) {
                        bool same = class[other] == 0;
                        for (uint32_t s = 0; s < n_secrets; s++)
                            same = same && (s == model->own || secret(t, s, row) == secret(t, s, other));
                        part[other] = same ? 0 : KN_NONE;
                    }
                    kn_class_counts few = count_marked(some, t, part);
                    double value = kn_model_value(&plain->items[0], &few);
                    holds = holds && kn_model_holds(&plain->items[0], &few);
                    if (isnan(worst) || (model->worst_is_least ? value < worst : value > worst)) worst = value;
                    free_marked(some, t->n_sensitive);
                }
                assert_int_equal(kn_model_holds(model, &marked), holds);
                assert_near(kn_model_value(model, &marked), worst, joint);
                n_held += holds;
                n_broken += !holds;
                n_stricter += !holds && kn_model_holds(&plain->items[0], &marked);
                free_marked(all, t->n_sensitive);
            }
            kn_models_free(plain);
            kn_models_free(joined);
        }
        kn_tuples_free(t);
        kn_domain_free(domain);
        test_table_free(table);
    }
    assert_true(n_held > 20 && n_broken > 20 && n_stricter > 20);
}

static void every_model_has_a_page_that_states_its_properties(void **state)
{
    size_t n;
    const kn_privacy *const *all = kn_privacy_all(&n);
    for (size_t i = 0; i < n; i++) {
        const kn_privacy *m = all[i];
        char path[100], expected[400], text[4096];
        snprintf(path, sizeof path, "docs/models/%s.md", m->name);
        FILE *file = fopen(path, "r");
        if (file == NULL) fail_msg("there is no %s", path);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        snprintf(expected, sizeof expected, "**Monotone:** %s. **Needs:** %s. **Worst class:** the %s value.",
                 m->monotone ? "yes" : "no",
                 m->needs & KN_NEEDS_POPULATION  ? "a population file"
                 : m->needs & KN_NEEDS_HISTOGRAM ? "the sensitive column"
                                                 : "counts",
                 m->worst_is_least ? "smallest" : "largest");
        if (strstr(text, expected) == NULL) fail_msg("%s does not say: %s", path, expected);
    }
}

static void every_failed_allocation_is_reported_and_nothing_leaks(void **state)
{
    kn_rng rng = kn_rng_new(28, 0);
    test_case c = secrets(&rng, 20, 4);
    give_tree(&rng, &c);
    kn_release *r = test_release_random(&rng, &c, true);
    for (size_t i = 0; i < sizeof monotone_specs / sizeof *monotone_specs; i++) {
        kn_status status = KN_RESOURCES;
        for (size_t n = 1; status == KN_RESOURCES; n++) {
            kn_error err = {0};
            kn_models *models = NULL;
            kn_finding finding;
            size_t before = kn_memory_used();
            kn_memory_fail_at(n);
            status = kn_models_new(&models, &monotone_specs[i], 1, c.tuples, &err);
            if (status == KN_OK) status = kn_models_possible(models, c.tuples, 0, &err);
            if (status == KN_OK) status = kn_models_findings(&finding, models, r, NULL, &err);
            kn_memory_fail_at(0);
            kn_models_free(models);
            assert_true(status == KN_OK || err.message[0] != '\0');
            assert_int_equal(kn_memory_used(), before);
            assert_true(n < 1000);
        }
    }
    kn_release_free(r);
    test_case_free(&c);
}

/* --- Populations
 * --------------------------------------------------------------------------------------------------------- */

/* Ordered numbers: an interval also covers what the table lacks. */
static void a_population_is_counted_inside_the_cells(void **state)
{
    const int rows[] = {10, 20, 40}, people_cells[] = {5, 10, 15, 20, 30, 40, 40, 50, TEST_MISSING};
    test_case c = test_case_new(test_table(3, 1, rows), 0);
    c.domains[0] = test_domain(c.table, 0, NULL);
    test_case_finish(&c);
    kn_table *people = test_table(9, 1, people_cells);
    kn_population *population;
    assert_ok(kn_population_new(&population, people, c.tuples, err));
    kn_cell cells[] = {{0, 0, KN_NONE}, {0, 1, KN_NONE}, {1, 2, KN_NONE}, {2, 2, KN_NONE}, {0, 2, KN_NONE}};
    const unsigned expected[] = {1, 3, 4, 2, 9}; /* 10; 10 15 20; 20 30 40 40; 40 40; * is everybody */
    for (int i = 0; i < 5; i++) assert_int_equal(kn_population_count(population, &cells[i], NULL), expected[i]);
    assert_int_equal(kn_population_count(population, NULL, NULL), 9);
    kn_population_free(population);
    test_table_free(people);
    test_case_free(&c);
}

/* Runs of grid cells cover what lies between their ends; a single value covers itself. */
static void a_population_is_counted_in_whole_grid_cells(void **state)
{
    const int rows[] = {12, 18, 33, 61};
    const int people_cells[] = {9, 10, 12, 15, 18, 19, 20, 25, 30, 33, 39, 40, 60, 61, 70, TEST_MISSING};
    test_case c = test_case_new(test_table(4, 1, rows), 0);
    const kn_hierarchy_request request = {.weight = 1, .max_level = KN_NONE, .grid = "10"};
    assert_ok(kn_domain_build(&c.domains[0], &c.table->columns[0], "table", 4, &request, err));
    test_case_finish(&c);
    kn_table *people = test_table(16, 1, people_cells);
    kn_population *population;
    assert_ok(kn_population_new(&population, people, c.tuples, err));
    const uint32_t codes[][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 2}, {2, 3}};
    const unsigned expected[] = {1, 5, 10, 10, 6}; /* 12; 10..19; 10..39 twice; 30..69 */
    for (int i = 0; i < 5; i++) {
        kn_cell cell;
        assert_ok(kn_domain_closure(&cell, c.domains[0], NULL, codes[i], 2, err));
        assert_int_equal(kn_population_count(population, &cell, NULL), expected[i]);
    }
    kn_population_free(population);
    test_table_free(people);
    test_case_free(&c);
}

/* Beyond a bottom or a top everybody is in one cell, also who has a value that the table lacks. */
static void a_population_beyond_a_top_or_bottom_is_counted_whole(void **state)
{
    const int rows[] = {12, 33, 91}, people_cells[] = {5, 12, 15, 19, 20, 33, 50, 89, 90, 91, 99, TEST_MISSING};
    test_case c = test_case_new(test_table(3, 1, rows), 0);
    const kn_hierarchy_request request = {.weight = 1, .max_level = KN_NONE, .grid = "10", .bottom = "20", .top = "90"};
    assert_ok(kn_domain_build(&c.domains[0], &c.table->columns[0], "table", 3, &request, err));
    test_case_finish(&c);
    kn_table *people = test_table(12, 1, people_cells);
    kn_population *population;
    assert_ok(kn_population_new(&population, people, c.tuples, err));
    const uint32_t codes[][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}};
    const unsigned expected[] = {4, 1, 3, 6, 6}; /* below 20; 33; 90 and above; below 40; 30 and above */
    for (int i = 0; i < 5; i++) {
        kn_cell cell;
        assert_ok(kn_domain_closure(&cell, c.domains[0], NULL, codes[i], 2, err));
        assert_int_equal(kn_population_count(population, &cell, NULL), expected[i]);
    }
    kn_population_free(population);
    test_table_free(people);
    test_case_free(&c);
}

/* A column without a value: there is no place among its values where one of the population could stand. */
static void a_population_of_a_column_without_values_is_counted(void **state)
{
    const char *rows[] = {NULL, NULL}, *people_cells[] = {"5", NULL, "7"};
    test_case c = test_case_new(test_typed_table(KN_TYPE_INT, 2, 1, rows), 0);
    c.domains[0] = test_domain(c.table, 0, NULL);
    test_case_finish(&c);
    kn_table *people = test_typed_table(KN_TYPE_INT, 3, 1, people_cells);
    kn_population *population;
    assert_ok(kn_population_new(&population, people, c.tuples, err));
    kn_cell missing = {0, 0, KN_NONE};
    assert_int_equal(kn_population_count(population, &missing, NULL), 1);
    assert_int_equal(kn_population_count(population, NULL, NULL), 3);
    kn_population_free(population);
    test_table_free(people);
    test_case_free(&c);
}

static void a_population_of_long_numbers_is_counted_by_their_digits(void **state)
{
#define LONG "10000000000000000"
    const char *rows[] = {LONG "10", LONG "20", LONG "40"}, /* three values, one double */
        *people_cells[] = {LONG "05", LONG "10", LONG "15", LONG "20", LONG "30", LONG "40", LONG "40", LONG "50"};
    test_case c = test_case_new(test_typed_table(KN_TYPE_INT, 3, 1, rows), 0);
    c.domains[0] = test_domain(c.table, 0, NULL);
    test_case_finish(&c);
    kn_table *people = test_typed_table(KN_TYPE_INT, 8, 1, people_cells);
    kn_population *population;
    assert_ok(kn_population_new(&population, people, c.tuples, err));
    kn_cell cells[] = {{0, 0, KN_NONE}, {0, 1, KN_NONE}, {1, 2, KN_NONE}, {2, 2, KN_NONE}};
    const unsigned expected[] = {1, 3, 4, 2};
    for (int i = 0; i < 4; i++) assert_int_equal(kn_population_count(population, &cells[i], NULL), expected[i]);
    kn_population_free(population);
    test_table_free(people);
    test_case_free(&c);
}

/* order(low<middle<high): the order is the user's, and a word that it does not list stands nowhere in it. */
static void a_population_follows_the_order_that_the_user_gave(void **state)
{
    const char *rows[] = {"low", "middle", "high"}, *people_cells[] = {"low", "low", "middle", "high", "lower", NULL};
    test_case c = test_case_new(test_text_table(3, 1, rows), 0);
    kn_hierarchy_request request = {.spec = "order(low<middle<high)", .weight = 1, .max_level = KN_NONE};
    assert_ok(kn_domain_build(&c.domains[0], &c.table->columns[0], "test.csv", 3, &request, err));
    test_case_finish(&c);
    kn_table *people = test_text_table(6, 1, people_cells);
    kn_population *population;
    assert_ok(kn_population_new(&population, people, c.tuples, err));
    kn_cell cells[] = {{0, 0, KN_NONE}, {0, 1, KN_NONE}, {1, 2, KN_NONE}, {0, 2, KN_NONE}};
    const unsigned expected[] = {2, 3, 2, 6};
    for (int i = 0; i < 4; i++) assert_int_equal(kn_population_count(population, &cells[i], NULL), expected[i]);
    kn_population_free(population);
    test_table_free(people);
    test_case_free(&c);
    /* a column in which nobody has a value */
    const char *nothing[] = {NULL, NULL}, *someone[] = {NULL, "low", NULL};
    c = test_case_new(test_text_table(2, 1, nothing), 0);
    c.domains[0] = test_domain(c.table, 0, NULL);
    test_case_finish(&c);
    people = test_text_table(3, 1, someone);
    assert_ok(kn_population_new(&population, people, c.tuples, err));
    assert_int_equal(kn_population_count(population, &(kn_cell){0, 0, KN_NONE}, NULL), 2);
    kn_population_free(population);
    test_table_free(people);
    test_case_free(&c);
    /* numbers in an order that is not theirs: what lies between two of them nobody knows */
    const int numbers[] = {1, 2, 3}, people_numbers[] = {1, 2, 3, 3, 4};
    c = test_case_new(test_table(3, 1, numbers), 0);
    request.spec = "order(3<1<2)";
    assert_ok(kn_domain_build(&c.domains[0], &c.table->columns[0], "test.csv", 3, &request, err));
    test_case_finish(&c);
    people = test_table(5, 1, people_numbers);
    assert_ok(kn_population_new(&population, people, c.tuples, err));
    kn_cell three_and_one = {0, 1, KN_NONE}, two = {2, 2, KN_NONE}, one_and_two = {1, 2, KN_NONE};
    assert_int_equal(kn_population_count(population, &three_and_one, NULL), 3);
    assert_int_equal(kn_population_count(population, &two, NULL), 1);
    assert_int_equal(kn_population_count(population, &one_and_two, NULL), 2);
    kn_population_free(population);
    test_table_free(people);
    test_case_free(&c);
}

/* Numbers in several spellings, some that the table has and some between, below and above. */
static void populations_of_numbers_agree_with_a_slow_count(void **state)
{
    static const char *const spellings[] = {"1", "1.0", "1.00", "2",    "2.5", "2.50", "3",  "4.0",
                                            "4", "5.5", "-1",   "-1.0", "0",   "7",    "7.0"};
    kn_rng rng = kn_rng_new(30, 0);
    for (int round = 0; round < 600; round++) {
        const char *rows[12], *cells[20];
        uint32_t n_rows = 2 + kn_rng_below(&rng, 10), n_people = 1 + kn_rng_below(&rng, 19);
        for (uint32_t i = 0; i < n_rows; i++)
            rows[i] = kn_rng_below(&rng, 8) == 0 ? NULL : spellings[kn_rng_below(&rng, 15)];
        for (uint32_t i = 0; i < n_people; i++)
            cells[i] = kn_rng_below(&rng, 8) == 0 ? NULL : spellings[kn_rng_below(&rng, 15)];
        rows[0] = "2"; /* numbers at least */
        test_case c = test_case_new(test_typed_table(KN_TYPE_DECIMAL, n_rows, 1, rows), 0);
        kn_hierarchy_request request = {.weight = 1, .max_level = KN_NONE};
        assert_ok(kn_domain_build(&c.domains[0], &c.table->columns[0], "test.csv", n_rows, &request, err));
        test_case_finish(&c);
        const kn_domain *domain = c.domains[0];
        kn_table *people = test_typed_table(KN_TYPE_DECIMAL, n_people, 1, cells);
        kn_population *population;
        assert_ok(kn_population_new(&population, people, c.tuples, err));
        for (uint32_t first = 0; first < domain->n_codes; first++)
            for (uint32_t last = first; last < domain->n_codes; last++) {
                if (first != last && (first == domain->missing || last == domain->missing)) continue;
                bool whole = last - first + 1 == domain->n_codes && domain->n_codes > 1;
                double low = c.table->columns[0].number[first], high = c.table->columns[0].number[last];
                unsigned expected = 0;
                for (uint32_t i = 0; i < n_people; i++) {
                    double number = cells[i] != NULL ? strtod(cells[i], NULL) : NAN;
                    bool inside = first == domain->missing ? cells[i] == NULL : low <= number && number <= high;
                    expected += whole || inside;
                }
                kn_cell cell = {first, last, KN_NONE};
                assert_int_equal(kn_population_count(population, &cell, NULL), expected);
            }
        kn_population_free(population);
        test_table_free(people);
        test_case_free(&c);
    }
}

static void populations_agree_with_a_slow_count(void **state)
{
    kn_rng rng = kn_rng_new(29, 0);
    for (int round = 0; round < 500; round++) {
        test_case c = test_case_random(&rng, 14);
        for (uint32_t i = 0; i < c.table->n_columns; i++) c.table->columns[i].role = KN_ROLE_QUASI;
        kn_release *r = test_release_random(&rng, &c, false);
        kn_population *population; /* the table itself, so every value is known */
        assert_ok(kn_population_new(&population, c.table, c.tuples, err));
        for (uint32_t k = 0; k < r->n_classes; k++) {
            unsigned n = 0;
            for (uint32_t row = 0; row < c.tuples->n_rows; row++) {
                uint32_t q = 0;
                while (q < c.n_qis && kn_cell_covers(&r->cells[k * c.n_qis + q], c.domains[q], r->sets,
                                                     c.tuples->codes[q][c.tuples->row_tuple[row]]))
                    q++;
                n += q == c.n_qis;
            }
            assert_int_equal(kn_population_count(population, &r->cells[k * c.n_qis], r->sets), n);
        }
        kn_population_free(population);
        kn_release_free(r);
        test_case_free(&c);
    }
}

static void a_box_tree_counts_and_adds_what_a_scan_does(void **state)
{
    kn_rng rng = kn_rng_new(30, 0);
    for (int round = 0; round < 100; round++) {
        uint32_t n = 1 + kn_rng_below(&rng, 1500), n_dims = 1 + kn_rng_below(&rng, 5), *x[5];
        uint64_t weights[1500];
        double by_place[1500] = {0}, by_part[3000] = {0}, slow[1500] = {0};
        kn_box_tree *tree;
        for (uint32_t d = 0; d < n_dims; d++) {
            uint32_t n_values = 1 + kn_rng_below(&rng, 40);
            x[d] = kn_array_alloc(n, sizeof(uint32_t), NULL);
            for (uint32_t i = 0; i < n; i++) x[d][i] = kn_rng_below(&rng, n_values);
        }
        for (uint32_t i = 0; i < n; i++) weights[i] = kn_rng_below(&rng, 5);
        assert_ok(kn_box_tree_new(&tree, n, n_dims, x, weights, err));
        for (int question = 0; question < 50; question++) {
            kn_box_side box[5];
            uint32_t codes[20];
            uint64_t expected = 0;
            uint64_t even = 0;
            for (uint32_t i = 0; i < 20; i++) {
                codes[i] = 2 * i;
                even |= (uint64_t)1 << codes[i];
            }
            for (uint32_t d = 0; d < n_dims; d++) {
                uint32_t first = kn_rng_below(&rng, 30);
                box[d] = (kn_box_side){first, first + kn_rng_below(&rng, 30), NULL, 0, 0};
                if (kn_rng_below(&rng, 3) == 0)
                    box[d] = (kn_box_side){0, 38, codes, 20, kn_rng_below(&rng, 2) ? even : 0};
            }
            for (uint32_t i = 0; i < n; i++) {
                bool inside = true;
                for (uint32_t d = 0; d < n_dims; d++)
                    inside = inside && x[d][i] >= box[d].first && x[d][i] <= box[d].last &&
                             (box[d].codes == NULL || x[d][i] % 2 == 0);
                expected += inside ? weights[i] : 0;
                slow[i] += inside ? question : 0;
            }
            assert_int_equal(kn_box_tree_weight(tree, box), expected);
            kn_box_tree_add(tree, box, question, by_part, by_place);
        }
        assert_true(tree->parts.n <= 3000);
        kn_box_tree_spread(tree, by_part, by_place);
        for (uint32_t place = 0; place < n; place++) assert_near(by_place[place], slow[tree->order[place]], "sum");
        kn_box_tree_free(tree);
        for (uint32_t d = 0; d < n_dims; d++) kn_free(x[d]);
    }
}

static void k_map_and_delta_presence_count_people(void **state)
{
    const int rows[] = {10, 20, 20, 40};
    const char *path = "build-test-population.csv";
    test_case c = test_case_new(test_table(4, 1, rows), 0);
    c.domains[0] = test_domain(c.table, 0, NULL);
    test_case_finish(&c);
    write_text(path, "name,a\nAda,10\nBob,15\nCyd,20\nDan,20\nEve,30\nFay,40\n");
    kn_release *r = test_release(&c, (uint32_t[]){0, 0, 0, 1}, 2); /* 10..20: 4 people; 40: one */
    const char *specs[] = {"k-map:k=2,population=build-test-population.csv",
                           "delta-presence:max=0.8,population=build-test-population.csv",
                           "delta-presence:min=0.9,max=1,population=build-test-population.csv"};
    kn_models *models;
    kn_finding findings[3];
    assert_ok(kn_models_read(&models, specs, 3, c.tuples, NULL, NULL, err));
    assert_true(models->needs == KN_NEEDS_POPULATION && !models->monotone && !models->counts_only);
    assert_ok(kn_models_findings(findings, models, r, NULL, err));
    assert_true(findings[0].worst == 1 && !findings[0].holds && findings[0].worst_class == 1);
    assert_true(findings[1].worst == 1 && !findings[1].holds);
    assert_true(!findings[2].holds);
    kn_histogram none[1];
    kn_class_counts first = kn_release_class(r, 0, none);
    kn_model *k_map = &models->items[0], *below = &models->items[1], *above = &models->items[2];
    kn_models_hold_class(models, &first, r->cells, r->sets);
    assert_int_equal(first.n_population, 4);
    assert_true(k_map->type->holds(k_map->state, &first));
    assert_true(below->type->holds(below->state, &first));  /* 3 of 4 */
    assert_false(above->type->holds(above->state, &first)); /* 3 of 4 is below 0.9 */
    kn_models_free(models);
    char message[2048];
    assert_int_equal(refusal_of(&c, "k-map:k=7,population=build-test-population.csv", message), KN_NOT_MET);
    assert_non_null(strstr(message, "at most 6"));
    specs[1] = "delta-presence:max=0.8,population=other.csv";
    kn_error err = {0};
    assert_int_equal(kn_models_new(&models, specs, 2, c.tuples, &err), KN_USAGE);
    write_text(path, "name,b\nAda,10\n");
    assert_int_equal(refusal_of(&c, "k-map:k=1,population=build-test-population.csv", message), KN_INPUT);
    assert_non_null(strstr(message, "no column a"));
    remove(path);
    kn_release_free(r);
    test_case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model_is_what_its_definition_says),
        cmocka_unit_test(distances_are_those_of_optimal_transport),
        cmocka_unit_test(distances_need_no_memory_to_be_right),
        cmocka_unit_test(two_classes_that_hold_hold_when_merged),
        cmocka_unit_test(sv_figure_18_is_3_anonymous_but_one_block_has_one_disease),
        cmocka_unit_test(sv_figure_19_the_skewed_block_is_far_from_the_table),
        cmocka_unit_test(li_2007_distances_of_salaries),
        cmocka_unit_test(li_2007_distances_of_diseases),
        cmocka_unit_test(a_tree_of_one_node_has_no_distances),
        cmocka_unit_test(a_distance_in_an_unbalanced_tree_is_the_level_of_the_common_ancestor),
        cmocka_unit_test(what_no_release_can_give_is_refused_with_what_is_possible),
        cmocka_unit_test(wrong_requests_are_refused),
        cmocka_unit_test(findings_are_the_worst_class_for_any_number_of_threads),
        cmocka_unit_test(strict_bounds_are_strict),
        cmocka_unit_test(lanes_say_of_classes_of_any_size_what_lists_say),
        cmocka_unit_test(lanes_say_of_every_small_class_what_lists_say),
        cmocka_unit_test(models_together_say_what_they_need),
        cmocka_unit_test(a_joint_model_holds_for_every_part_that_agrees_in_the_others),
        cmocka_unit_test(every_model_has_a_page_that_states_its_properties),
        cmocka_unit_test(every_failed_allocation_is_reported_and_nothing_leaks),
        cmocka_unit_test(a_population_is_counted_inside_the_cells),
        cmocka_unit_test(a_population_is_counted_in_whole_grid_cells),
        cmocka_unit_test(a_population_beyond_a_top_or_bottom_is_counted_whole),
        cmocka_unit_test(a_population_of_long_numbers_is_counted_by_their_digits),
        cmocka_unit_test(a_population_of_a_column_without_values_is_counted),
        cmocka_unit_test(a_population_follows_the_order_that_the_user_gave),
        cmocka_unit_test(populations_of_numbers_agree_with_a_slow_count),
        cmocka_unit_test(populations_agree_with_a_slow_count),
        cmocka_unit_test(a_box_tree_counts_and_adds_what_a_scan_does),
        cmocka_unit_test(k_map_and_delta_presence_count_people),
    };
    return cmocka_run_group_tests_name("privacy", tests, NULL, NULL);
}
