/* The lattice with its prices, batches, and answers; see the header. */
#include "engine/lattice/full_domain.h"

#include "engine/lattice/bundle_nodes.h"
#include "engine/lattice/evaluator.h"

#include <math.h>
#include <string.h>

/* --- Setting up ------------------------------------------------------------------------------------------------ */

/* Bundles have no persons in several tuples and cannot ask a population; measures they price as far as there is memory.
 * Returns how many combos they may have. */
static uint32_t most_combos(const kn_task *task, const kn_lattice *lattice, const kn_objective *const *objectives,
                            size_t n, uint32_t max_combos)
{
    enum { MOST_BYTES = 1 << 26 };
    const size_t most =
        task->memory_bytes > 0 && task->memory_bytes / 4 < MOST_BYTES ? task->memory_bytes / 4 : MOST_BYTES;
    if ((task->models->needs & KN_NEEDS_POPULATION) || !task->models->monotone || task->tuples->n_repeats > 0) return 0;
    for (size_t m = 0; m < n; m++)
        if (!kn_prices_by_bundles(objectives[m])) return 0;
    while (max_combos > 1 && kn_bundle_nodes_bytes(lattice, objectives, n, max_combos) > most) max_combos--;
    return task->memory_bytes > 0 && kn_bundle_nodes_bytes(lattice, objectives, n, max_combos) > most ? 0 : max_combos;
}

/* Where the lattice's histograms serve no measure and models ask for different values only, sets of them will do. */
static kn_status make_bundles(kn_full_domain *domain, uint32_t max_combos, bool measured, kn_error *err)
{
    const uint32_t *least_values = measured ? NULL : domain->task->models->least_values;
    return kn_bundle_lattice_new(&domain->bundles, domain->lattice, domain->order, domain->n_order, max_combos,
                                 least_values, domain->task->pool, err);
}

static kn_status make_prices(kn_full_domain *domain, const kn_objective *const *objectives, size_t n, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_measure *measure = n > 0 ? objectives[0]->type : NULL;
    KN_NEW(domain->prices, n + 1);
    for (; domain->n_prices < n; domain->n_prices++)
        KN_TRY(kn_prices_fill(&domain->prices[domain->n_prices], domain->lattice, objectives[domain->n_prices], err));
    domain->table_sum = domain->prices[0].table_sum;
    domain->gap = domain->prices[0].gap;
    domain->monotone_prices = domain->prices[0].monotone;
    if (domain->gap != NULL)
        domain->least_more = kn_prices_least_more(domain->prices, domain->lattice, domain->task->max_suppressed);
    domain->bounded =
        domain->gap != NULL || (measure != NULL && measure->suppression_bounds && measure->finish == NULL);
done:
    return status;
}

static kn_status make_base(kn_full_domain *domain, uint32_t max_combos, bool measured, kn_error *err)
{
    kn_status status = KN_OK;
    if (max_combos > 0) KN_TRY(make_bundles(domain, max_combos, measured, err));
    if (domain->bundles == NULL) KN_TRY(kn_lattice_add_base(domain->lattice, err));
    domain->n_outer = domain->bundles != NULL ? domain->bundles->n_outer : domain->n_order;
    domain->outer = domain->bundles != NULL ? domain->bundles->outer : domain->order;
    if (domain->bundles != NULL) domain->base.bundles = domain->bundles->base;
    else domain->base.groups = domain->lattice->base;
done:
    return status;
}

kn_status kn_full_domain_new_for(kn_full_domain **out, const kn_task *task, const kn_objective *const *objectives,
                                 size_t n_objectives, uint32_t max_combos, kn_error *err)
{
    kn_status status = KN_OK;
    kn_full_domain *domain = NULL;
    bool measured = false;
    *out = NULL;
    KN_NEW(domain, 1);
    domain->task = task;
    for (size_t m = 0; m < n_objectives; m++)
        measured = measured || (objectives[m]->type->needs & KN_MEASURE_NEEDS_CLASS_COLUMN);
    const unsigned flags = measured || (task->models->needs & KN_NEEDS_HISTOGRAM) ? KN_LATTICE_HISTOGRAMS : 0;
    KN_TRY(kn_lattice_new(&domain->lattice, task->tuples, flags | KN_LATTICE_NO_BASE, err));
    max_combos = most_combos(task, domain->lattice, objectives, n_objectives, max_combos);
    KN_TRY(kn_lattice_order(&domain->order, &domain->n_order, domain->lattice, err));
    domain->upward_closed = task->models->least_values != NULL || (task->models->monotone && task->max_suppressed == 0);
    KN_NEW(domain->root, task->tuples->n_qis);
    for (uint32_t q = 0; q < task->tuples->n_qis; q++) domain->root[q] = kn_domain_root(task->tuples->domains[q]);
    KN_TRY(make_prices(domain, objectives, n_objectives, err));
    KN_TRY(make_base(domain, max_combos, measured, err));
    *out = domain;
    domain = NULL;
done:
    kn_full_domain_free(domain);
    return status;
}

kn_status kn_full_domain_new(kn_full_domain **out, const kn_task *task, uint32_t max_combos, kn_error *err)
{
    return kn_full_domain_new_for(out, task, &task->objective, 1, max_combos, err);
}

void kn_full_domain_free(kn_full_domain *domain)
{
    if (domain == NULL) return;
    for (uint32_t m = 0; domain->prices != NULL && m <= domain->n_prices; m++) kn_prices_clear(&domain->prices[m]);
    kn_free(domain->prices);
    kn_free(domain->order);
    kn_free(domain->root);
    kn_bundle_lattice_free(domain->bundles);
    kn_lattice_free(domain->lattice);
    kn_free(domain);
}

/* --- Batches --------------------------------------------------------------------------------------------------- */

uint32_t kn_batch_nodes(const kn_full_domain *domain)
{
    return domain->bundles != NULL ? domain->bundles->n_combos << domain->bundles->n_riders : 1;
}

const uint32_t *kn_batch_levels(const kn_full_domain *domain, const kn_batch *batch)
{
    return domain->bundles != NULL ? batch->bundles.levels : batch->groups.levels;
}

uint32_t kn_batch_size(const kn_full_domain *domain, const kn_batch *batch)
{
    return domain->bundles != NULL ? batch->bundles.n_entries : batch->groups.n;
}

size_t kn_batch_bytes(const kn_full_domain *domain, const kn_batch *batch)
{
    return domain->bundles != NULL ? kn_bundles_bytes(domain->bundles, &batch->bundles)
                                   : kn_groups_room(domain->lattice, &batch->groups);
}

void kn_batch_free(kn_batch *batch, const kn_full_domain *domain)
{
    kn_groups_free(&batch->groups, domain->lattice);
    kn_bundles_free(&batch->bundles);
}

void kn_batch_node_levels(uint32_t *levels, const kn_full_domain *domain, const kn_batch *batch, uint32_t node)
{
    const kn_bundle_lattice *b = domain->bundles;
    memcpy(levels, kn_batch_levels(domain, batch), domain->task->tuples->n_qis * sizeof *levels);
    if (b != NULL) kn_bundle_levels(levels, b, &batch->bundles, node >> b->n_riders, node & ((1u << b->n_riders) - 1));
}

void kn_full_domain_roll_order(uint32_t *columns, const kn_full_domain *domain)
{
    const kn_bundle_lattice *b = domain->bundles;
    uint32_t n = domain->n_outer;
    memcpy(columns, domain->outer, n * sizeof *columns);
    for (uint32_t i = 0; b != NULL && i < b->n_inner; i++) columns[n++] = b->inner[i];
    for (uint32_t r = 0; b != NULL && r < b->n_riders; r++) columns[n++] = b->riders[r];
}

/* --- Nodes ----------------------------------------------------------------------------------------------------- */

double kn_full_domain_loss(const kn_full_domain *domain, int64_t sum) { return kn_prices_loss(domain->prices, sum); }

/* Class measures: the loss in units, and what the surely suppressed rows cost at least. */
static void class_units(kn_node *node, const kn_full_domain *domain)
{
    const kn_objective *objective = domain->prices[0].objective;
    const kn_class_counts sure = {.n_rows = node->n_sure};
    const double least =
        objective->type->price_class(objective->state, objective->tuples, &sure, domain->root, NULL, true);
    node->units = (int64_t)ceil(node->loss / domain->prices[0].unit);
    node->sure_units = (int64_t)floor(least / domain->prices[0].unit);
}

void kn_node_price(kn_node *node, double *losses, const kn_full_domain *domain, const uint32_t *levels,
                   kn_node_sums *sums)
{
    const kn_class_counts suppressed = {.n_rows = node->n_suppressed};
    node->feasible = node->n_suppressed <= domain->task->max_suppressed;
    for (uint32_t m = 0; m < domain->n_prices; m++) {
        const kn_prices *prices = &domain->prices[m];
        const kn_measure *measure = prices->objective->type;
        const bool by_row = measure->price_row != NULL && !measure->product; /* the sums have suppressed rows, too */
        double loss = NAN;
        if (prices->table_sum != NULL) {
            for (uint32_t q = 0; q < domain->task->tuples->n_qis; q++) sums[m].units += prices->table_sum[q][levels[q]];
            loss = kn_prices_loss(prices, sums[m].units);
        } else if (measure->price_class != NULL) {
            if (prices->value_prices != NULL) sums[m].classes = kn_prices_value_sum(prices, levels, &sums[m].values);
            loss = kn_prices_class_loss(prices, sums[m].classes, node->n_classes, node->n_suppressed,
                                        by_row ? NULL : &suppressed, domain->root);
        }
        if (losses != NULL) losses[m] = loss;
        if (m == 0) node->loss = loss;
        if (m == 0) node->units = sums[m].units;
    }
    if (domain->n_prices > 0 && domain->prices[0].objective->type->suppression_bounds) class_units(node, domain);
}

int kn_node_compare(const kn_node *a, const uint32_t *a_levels, const kn_node *b, const uint32_t *b_levels,
                    uint32_t n_qis)
{
    if (a->loss != b->loss) return a->loss < b->loss ? -1 : 1;
    if (a->n_suppressed != b->n_suppressed) return a->n_suppressed < b->n_suppressed ? -1 : 1;
    for (uint32_t q = 0; q < n_qis; q++)
        if (a_levels[q] != b_levels[q]) return a_levels[q] < b_levels[q] ? -1 : 1;
    return 0;
}

/* --- Answers --------------------------------------------------------------------------------------------------- */

kn_status kn_full_domain_answer(kn_answer *answer, const kn_full_domain *domain, const uint32_t *levels, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_qis = domain->task->tuples->n_qis;
    answer->recoding = KN_RECODING_LEVELS;
    answer->bound = NAN;
    KN_NEW(answer->levels, n_qis);
    memcpy(answer->levels, levels, n_qis * sizeof *levels);
done:
    return status;
}

kn_status kn_full_domain_refuse(const kn_full_domain *domain, kn_error *err)
{
    kn_status status = KN_OK;
    kn_evaluator *evaluator = NULL;
    uint32_t n_qis = domain->task->tuples->n_qis, *levels = NULL;
    kn_node top;
    KN_TRY(kn_evaluator_new(&evaluator, domain, err));
    KN_NEW(levels, n_qis);
    for (uint32_t q = 0; q < n_qis; q++) levels[q] = domain->lattice->columns[q].max_level;
    KN_TRY(kn_evaluate_levels(&top, evaluator, levels, err));
    KN_FAIL(KN_NOT_MET,
            "no generalization meets the models: even the most general one would suppress %llu rows, and at most %llu "
            "may be; allow more with --max-suppressed, raise max_level, or ask for less",
            (unsigned long long)top.n_suppressed, (unsigned long long)domain->task->max_suppressed);
done:
    kn_free(levels);
    kn_evaluator_free(evaluator);
    return status;
}

void kn_levels_text(kn_buffer *out, const uint32_t *levels, uint32_t n_qis)
{
    for (uint32_t q = 0; q < n_qis; q++) kn_buffer_printf(out, "%s%u", q == 0 ? "[" : ", ", levels[q]);
    kn_buffer_text(out, n_qis == 0 ? "[]" : "]");
}
