/* What the report shows beyond the facts: risk before and after, what became of each column, example classes. One pass
 * over the classes per column; column sets within their own budget. */
#include "report/report_data.h"

#include "base/hash.h"

#include <math.h>
#include <string.h>

#define COSTLY_PER_COLUMN 3
#define COSTLY_SHARE      0.01 /* less of a column's loss explains nothing */
#define EXAMPLES_PER_KIND 4
#define SET_SIZE          3

/* --- Columns ------------------------------------------------------------------------------------------------------ */

/* The classes that show one and the same value in a column. */
typedef struct cell_group {
    kn_cell cell;
    uint64_t n_rows;
    uint64_t smallest_class;
    double loss;
} cell_group;

static double cell_loss(const kn_report *report, uint32_t q, const kn_cell *cell)
{
    const kn_objective *objective = report->facts->objective;
    const kn_release *release = report->facts->release;
    const kn_domain *domain = release->tuples->domains[q];
    if (objective->type->price_cell != NULL) return kn_objective_price(objective, release->sets, q, cell);
    /* Measures that price classes: the share of the domain that the value leaves open. */
    return domain->n_codes > 1 ? (kn_cell_size(cell, domain, release->sets) - 1.0) / (domain->n_codes - 1.0) : 0;
}

static kn_status cells_group(cell_group **out, uint32_t *n_groups, const kn_report *report, uint32_t q, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_release *release = report->facts->release;
    uint32_t n_qis = release->tuples->n_qis, *slots = NULL;
    size_t capacity = 16;
    cell_group *groups = NULL;
    *n_groups = 0;
    while (capacity < (size_t)release->n_classes * 2) capacity *= 2;
    KN_NEW(slots, capacity); /* group + 1 */
    KN_NEW(groups, (size_t)release->n_classes + 1);
    for (uint32_t c = 0; c < release->n_classes; c++) {
        const kn_cell *cell = &release->cells[(size_t)c * n_qis + q];
        size_t slot = kn_hash_combine(kn_hash_combine(cell->first, cell->last), cell->id) & (capacity - 1);
        while (slots[slot] != 0 && !kn_cell_equal(&groups[slots[slot] - 1].cell, cell))
            slot = (slot + 1) & (capacity - 1);
        if (slots[slot] == 0) {
            groups[*n_groups] = (cell_group){.cell = *cell, .smallest_class = UINT64_MAX};
            slots[slot] = ++*n_groups;
        }
        cell_group *group = &groups[slots[slot] - 1];
        group->n_rows += release->class_rows[c];
        if (release->class_persons[c] < group->smallest_class) group->smallest_class = release->class_persons[c];
    }
    for (uint32_t g = 0; g < *n_groups; g++)
        groups[g].loss = cell_loss(report, q, &groups[g].cell) * (double)groups[g].n_rows;
    *out = groups;
    groups = NULL;
done:
    kn_free(slots);
    kn_free(groups);
    return status;
}

kn_told kn_cell_told(const kn_release *release, uint32_t q, const kn_cell *cell, const char *text)
{
    const kn_domain *domain = release->tuples->domains[q];
    const kn_measure *suppressed = kn_measure_find("suppressed-cells");
    if (suppressed->price_cell(NULL, release->tuples, release->sets, q, cell) > 0) return KN_TOLD_NOTHING;
    const bool is_node = domain->tree != NULL && cell->id != KN_NONE;
    if (is_node ? cell->id < domain->tree->n_leaves : kn_cell_is_value(cell, domain)) return KN_TOLD_VALUE;
    return strcmp(text, "*") == 0 ? KN_TOLD_NOTHING : KN_TOLD_SOME;
}

static kn_status column_count(kn_report_column *out, const kn_report *report, uint32_t q, const cell_group *groups,
                              uint32_t n_groups, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer text = {0};
    const kn_release *release = report->facts->release;
    const kn_domain *domain = release->tuples->domains[q];
    out->n_values_after = n_groups;
    out->n_suppressed = release->n_suppressed;
    for (uint32_t code = 0; code < domain->n_codes; code++)
        out->n_values_before += kn_domain_seen_rows(domain, code) > 0;
    for (uint32_t g = 0; g < n_groups; g++) {
        kn_buffer_clear(&text);
        kn_cell_text(&text, &groups[g].cell, domain, release->sets);
        kn_buffer_text(&text, "");
        if (text.failed) KN_FAIL(KN_RESOURCES, "out of memory");
        const kn_told told = kn_cell_told(release, q, &groups[g].cell, text.bytes);
        *(told == KN_TOLD_VALUE  ? &out->n_unchanged
          : told == KN_TOLD_SOME ? &out->n_generalized
                                 : &out->n_suppressed) += groups[g].n_rows;
    }
done:
    kn_buffer_free(&text);
    return status;
}

/* The few groups with the largest loss. */
static void costly_pick(kn_report *report, uint32_t q, const cell_group *groups, uint32_t n_groups)
{
    double total = 0, last = INFINITY;
    uint32_t last_group = 0;
    for (uint32_t g = 0; g < n_groups; g++) total += groups[g].loss;
    for (int n = 0; n < COSTLY_PER_COLUMN && total > 0; n++) {
        uint32_t best = n_groups;
        for (uint32_t g = 0; g < n_groups; g++) {
            bool taken = groups[g].loss > last || (groups[g].loss == last && g <= last_group);
            if (!(n > 0 && taken) && groups[g].loss > 0 && (best == n_groups || groups[g].loss > groups[best].loss))
                best = g;
        }
        if (best == n_groups || groups[best].loss < total * COSTLY_SHARE) return;
        report->costly[report->n_costly++] = (kn_report_value){q, groups[best].cell, groups[best].n_rows,
                                                               groups[best].loss / total, groups[best].smallest_class};
        last = groups[best].loss;
        last_group = best;
    }
}

static kn_status columns_analyse(kn_report *report, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_qis = report->facts->tuples->n_qis, n_groups;
    cell_group *groups = NULL;
    KN_NEW(report->columns, n_qis + 1);
    KN_NEW(report->costly, n_qis * COSTLY_PER_COLUMN + 1);
    for (uint32_t q = 0; q < n_qis; q++) {
        KN_TRY(cells_group(&groups, &n_groups, report, q, err));
        KN_TRY(column_count(&report->columns[q], report, q, groups, n_groups, err));
        costly_pick(report, q, groups, n_groups);
        kn_free(groups);
        groups = NULL;
    }
done:
    kn_free(groups);
    return status;
}

/* --- Example classes ---------------------------------------------------------------------------------------------- */

static bool is_example(const kn_report *report, uint32_t class_index)
{
    for (size_t i = 0; i < report->n_examples; i++)
        if (report->examples[i].class_index == class_index) return true;
    return false;
}

static double class_rank(const kn_report *report, uint32_t c, kn_example_kind kind)
{
    const kn_release *release = report->facts->release;
    uint32_t n_qis = release->tuples->n_qis;
    double loss = 0;
    if (kind == KN_EXAMPLE_SMALLEST) return -(double)release->class_persons[c];
    if (kind == KN_EXAMPLE_LARGEST) return (double)release->class_persons[c];
    for (uint32_t q = 0; q < n_qis; q++) loss += cell_loss(report, q, &release->cells[(size_t)c * n_qis + q]);
    return loss;
}

static void examples_pick(kn_report *report)
{
    const kn_release *release = report->facts->release;
    for (int kind = KN_EXAMPLE_SMALLEST; kind <= KN_EXAMPLE_COSTLIEST; kind++) {
        size_t wanted = report->n_examples + EXAMPLES_PER_KIND;
        while (report->n_examples < wanted) {
            uint32_t best = KN_NONE;
            double best_rank = -INFINITY;
            for (uint32_t c = 0; c < release->n_classes; c++) {
                double rank = class_rank(report, c, (kn_example_kind)kind);
                if (rank > best_rank && !is_example(report, c)) {
                    best = c;
                    best_rank = rank;
                }
            }
            if (best == KN_NONE) return;
            report->examples[report->n_examples++] = (kn_report_example){best, (kn_example_kind)kind};
        }
    }
}

/* --- Risk --------------------------------------------------------------------------------------------------------- */

static kn_status risk_analyse(kn_report *report, kn_pool *pool, kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = report->facts->tuples;
    const kn_release *release = report->facts->release;
    kn_risk_classes classes = {0};
    double fraction = report->fraction > 0 ? report->fraction : 1;
    if (!(report->threshold > 0)) report->threshold = KN_RISK_THRESHOLD;
    KN_TRY(kn_risk_classes_of_tuples(&classes, tuples, err));
    kn_risk_sizes_count(&report->before, &classes, report->populations, fraction, report->threshold);
    if (release != NULL) {
        kn_risk_classes_free(&classes);
        KN_TRY(kn_risk_classes_of_release(&classes, release, err));
        kn_risk_sizes_count(&report->after, &classes, NULL, fraction, report->threshold);
    }
    bool counted = tuples->n_table_sensitive > 0;
    for (uint32_t s = 0; s < tuples->n_table_sensitive; s++) counted &= tuples->sensitive[s].by_tuple.start != NULL;
    if (counted) {
        KN_NEW(report->disclosure_before, tuples->n_table_sensitive);
        KN_TRY(kn_disclosure_of_tuples(report->disclosure_before, tuples, err));
    }
    if (release != NULL && release->histograms != NULL) {
        KN_NEW(report->disclosure_after, tuples->n_table_sensitive);
        KN_TRY(kn_disclosure_of_release(report->disclosure_after, release, err));
    }
    if (tuples->n_qis > 0 && tuples->n_qis <= 64)
        KN_TRY(kn_column_risk_new(&report->sets, tuples, SET_SIZE, 0, pool, ticker, err));
    if (report->fraction > 0 && report->fraction < 1) {
        KN_TRY(kn_risk_estimate_uniques(&report->estimate, tuples->persons, tuples->n_tuples, report->fraction, err));
        report->has_estimate = true;
    }
done:
    kn_risk_classes_free(&classes);
    return status;
}

kn_status kn_report_analyse(kn_report *report, kn_pool *pool, kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(risk_analyse(report, pool, ticker, err));
    if (report->facts->release == NULL) goto done;
    KN_TRY(columns_analyse(report, err));
    examples_pick(report);
done:
    if (status != KN_OK) kn_report_free(report);
    return status;
}

void kn_report_free(kn_report *report)
{
    kn_free(report->disclosure_before);
    kn_free(report->disclosure_after);
    kn_column_risk_free(report->sets);
    kn_free(report->columns);
    kn_free(report->costly);
    report->disclosure_before = report->disclosure_after = NULL;
    report->sets = NULL;
    report->columns = NULL;
    report->costly = NULL;
    report->n_costly = report->n_examples = 0;
}
