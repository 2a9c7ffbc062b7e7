/* What nodes are worth; see the header. Cost of a node: a pass over its classes, with a lookup per column for those
 * that are suppressed; of many nodes in bundles: bundle_nodes.c. */
#include "engine/lattice/evaluator.h"

#include "engine/lattice/bundle_nodes.h"

#include <math.h>
#include <string.h>

struct kn_evaluator {
    kn_owner memory; /* all arrays */
    const kn_full_domain *domain;
    kn_roller *roller;
    kn_bundle_roller *bundle_roller;
    kn_bundle_nodes *pass;
    /* kn_evaluate_levels: the last node, rolled up column by column: the next one may share its beginning. */
    kn_batch *steps, far; /* far: where memory does not allow to keep steps */
    const kn_batch *last;
    uint32_t *levels, *last_levels;
    kn_node *nodes; /* what the last batch is worth */
    double *losses;
    /* The class at hand. */
    kn_histogram *histograms;
    kn_cell *cells;
    bool has_classes;   /* some measure looks at classes */
    kn_node_sums *sums; /* [measure]: of the node at hand */
};

/* --- Evaluator ------------------------------------------------------------------------------------------------- */

kn_status kn_evaluator_new(kn_evaluator **out, const kn_full_domain *domain, kn_error *err)
{
    kn_status status = KN_OK;
    kn_evaluator *evaluator = NULL;
    const kn_tuples *tuples = domain->task->tuples;
    *out = NULL;
    KN_NEW(evaluator, 1);
    evaluator->domain = domain;
    KN_TRY(kn_roller_new(&evaluator->roller, domain->lattice, err));
    KN_OWN(&evaluator->memory, evaluator->histograms, tuples->n_sensitive);
    KN_OWN(&evaluator->memory, evaluator->cells, tuples->n_qis);
    KN_OWN(&evaluator->memory, evaluator->steps, (size_t)domain->n_outer + 1);
    KN_OWN(&evaluator->memory, evaluator->levels, tuples->n_qis);
    KN_OWN(&evaluator->memory, evaluator->last_levels, tuples->n_qis);
    KN_OWN(&evaluator->memory, evaluator->nodes, kn_batch_nodes(domain));
    KN_OWN(&evaluator->memory, evaluator->losses, (size_t)kn_batch_nodes(domain) * domain->n_prices);
    KN_OWN(&evaluator->memory, evaluator->sums, (size_t)domain->n_prices + 1);
    for (uint32_t m = 0; m < domain->n_prices; m++)
        evaluator->has_classes = evaluator->has_classes || domain->prices[m].objective->type->price_class != NULL;
    if (domain->bundles != NULL) {
        KN_TRY(kn_bundle_roller_new(&evaluator->bundle_roller, domain->bundles, err));
        KN_TRY(kn_bundle_nodes_new(&evaluator->pass, domain, err));
    }
    *out = evaluator;
    evaluator = NULL;
done:
    kn_evaluator_free(evaluator);
    return status;
}

void kn_evaluator_free(kn_evaluator *evaluator)
{
    if (evaluator == NULL) return;
    const kn_full_domain *domain = evaluator->domain;
    for (uint32_t d = 0; evaluator->steps != NULL && d <= domain->n_outer; d++)
        kn_batch_free(&evaluator->steps[d], domain);
    kn_batch_free(&evaluator->far, domain);
    kn_bundle_nodes_free(evaluator->pass);
    kn_roller_free(evaluator->roller);
    kn_bundle_roller_free(evaluator->bundle_roller);
    kn_owner_free(&evaluator->memory);
    kn_free(evaluator);
}

kn_roller *kn_evaluator_roller(kn_evaluator *evaluator) { return evaluator->roller; }

kn_status kn_batch_roll(kn_batch *out, const kn_batch *from, const uint32_t *levels, kn_evaluator *evaluator,
                        kn_error *err)
{
    if (evaluator->domain->bundles != NULL)
        return kn_bundles_roll(&out->bundles, &from->bundles, levels, evaluator->bundle_roller, err);
    return kn_groups_roll(&out->groups, &from->groups, levels, evaluator->roller, err);
}

/* --- Classes one by one ---------------------------------------------------------------------------------------- */

/* What a suppressed row of group g pays, in units, more than its cells at this node. */
static int64_t gap_of(const kn_prices *prices, const kn_lattice *lattice, const kn_groups *groups, uint32_t g)
{
    int64_t sum = 0;
    for (uint32_t q = 0; q < lattice->tuples->n_qis; q++)
        sum += prices->gap[q][groups->levels[q]][kn_groups_position(lattice, groups, g, q)];
    return sum;
}

static void fill_cells(kn_cell *cells, const kn_evaluator *evaluator, const kn_groups *groups, uint32_t g)
{
    const kn_tuples *tuples = evaluator->domain->task->tuples;
    for (uint32_t q = 0; q < tuples->n_qis; q++)
        cells[q] = kn_domain_node_cell(tuples->domains[q], kn_groups_node(evaluator->domain->lattice, groups, g, q));
}

/* Group g: whether the models hold. Its counts have histograms where somebody looks at them; its cells are filled in
 * where somebody looks at those. */
static bool class_holds(kn_class_counts *counts, kn_evaluator *evaluator, const kn_groups *groups, uint32_t g)
{
    const kn_lattice *lattice = evaluator->domain->lattice;
    const kn_models *models = evaluator->domain->task->models;
    const bool population = (models->needs & KN_NEEDS_POPULATION) != 0;
    *counts = (kn_class_counts){.n_rows = kn_groups_rows(lattice, groups, g),
                                .n_persons = kn_groups_persons(lattice, groups, g)};
    const bool enough = counts->n_persons >= models->min_persons;
    if ((enough && !models->counts_only) || evaluator->has_classes)
        *counts = kn_groups_class(lattice, groups, g, evaluator->histograms);
    if (enough && (population || evaluator->has_classes)) fill_cells(evaluator->cells, evaluator, groups, g);
    if (!enough || models->counts_only) return enough;
    return population ? kn_models_hold_class(models, counts, evaluator->cells, NULL) : kn_models_hold(models, counts);
}

static void add_held(kn_evaluator *evaluator, const kn_class_counts *counts)
{
    const kn_full_domain *domain = evaluator->domain;
    for (uint32_t m = 0; evaluator->has_classes && m < domain->n_prices; m++) {
        const kn_objective *objective = domain->prices[m].objective;
        if (objective->type->price_class == NULL || domain->prices[m].value_prices != NULL) continue;
        evaluator->sums[m].classes +=
            objective->type->price_class(objective->state, objective->tuples, counts, evaluator->cells, NULL, false);
    }
}

/* What the rows of a suppressed group pay more than in their cells, by sensitive value. */
static void add_values(kn_value_sum *sum, const kn_prices *prices, const kn_lattice *lattice, const kn_groups *groups,
                       uint32_t g, const kn_histogram *histogram)
{
    for (uint32_t i = 0; i < histogram->n; i++)
        kn_value_sum_add(sum, prices->value_root[histogram->values[i]], (int64_t)histogram->counts[i]);
    for (uint32_t q = 0; q < lattice->tuples->n_qis; q++) {
        const kn_value_price *own = prices->value_prices[q][groups->levels[q]] +
                                    (size_t)kn_groups_position(lattice, groups, g, q) * prices->n_values;
        for (uint32_t i = 0; i < histogram->n; i++)
            kn_value_sum_add(sum, own[histogram->values[i]], -(int64_t)histogram->counts[i]);
    }
    kn_value_sum_carry(sum);
}

/* A sum over rows that has no tables: what rows pay once they are suppressed is asked group by group. */
static bool sums_rows(const kn_prices *prices)
{
    const kn_measure *measure = prices->objective->type;
    return measure->price_row != NULL && !measure->product && prices->value_prices == NULL;
}

static void add_suppressed(kn_node *node, kn_evaluator *evaluator, const kn_groups *groups, uint32_t g,
                           const kn_class_counts *counts)
{
    const kn_full_domain *domain = evaluator->domain;
    const kn_models *models = domain->task->models;
    const bool sure = counts->n_persons < models->min_persons || models->least_values != NULL;
    node->n_suppressed += counts->n_rows;
    if (sure) node->n_sure += counts->n_rows;
    for (uint32_t m = 0; m < domain->n_prices; m++) {
        const kn_prices *prices = &domain->prices[m];
        if (prices->value_prices != NULL)
            add_values(&evaluator->sums[m].values, prices, domain->lattice, groups, g,
                       &counts->sensitive[prices->column]);
        else if (sums_rows(prices))
            evaluator->sums[m].classes += prices->objective->type->price_class(
                prices->objective->state, prices->objective->tuples, counts, domain->root, NULL, true);
        if (prices->gap == NULL) continue;
        const int64_t more = (int64_t)counts->n_rows * gap_of(prices, domain->lattice, groups, g);
        evaluator->sums[m].units += more;
        if (m == 0 && sure) node->sure_units += more;
    }
}

/* --- Whole measures -------------------------------------------------------------------------------------------- */

static kn_status release_classes(kn_release *release, kn_evaluator *evaluator, const kn_groups *groups,
                                 uint32_t *class_of, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n_qis = evaluator->domain->task->tuples->n_qis;
    KN_NEW(release->cells, (size_t)groups->n * n_qis);
    KN_NEW(release->class_rows, (size_t)groups->n + 1);
    KN_NEW(release->class_persons, (size_t)groups->n + 1);
    for (uint32_t g = 0; g < groups->n; g++) {
        kn_class_counts counts;
        class_of[g] = KN_NONE;
        if (!class_holds(&counts, evaluator, groups, g)) {
            release->n_suppressed += counts.n_rows;
            continue;
        }
        uint32_t c = class_of[g] = release->n_classes++;
        release->class_rows[c] = counts.n_rows;
        release->class_persons[c] = counts.n_persons;
        fill_cells(release->cells + (size_t)c * n_qis, evaluator, groups, g);
    }
    release->class_rows[release->n_classes] = release->n_suppressed;
done:
    return status;
}

/* The release that recoding would make of this node, for measures that can price nothing less. */
static kn_status whole_loss(double *loss, kn_evaluator *evaluator, const kn_objective *objective,
                            const uint32_t *levels, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = evaluator->domain->task->tuples;
    kn_groups groups = {0};
    uint32_t *tuple_group = NULL, *class_of = NULL;
    kn_release *release = NULL;
    KN_NEW(release, 1);
    release->tuples = tuples;
    KN_TRY(kn_groups_of_tuples(&groups, &tuple_group, levels, evaluator->roller, err));
    KN_NEW(class_of, (size_t)groups.n + 1);
    KN_TRY(kn_set_pool_new(&release->sets, err));
    KN_TRY(release_classes(release, evaluator, &groups, class_of, err));
    KN_NEW(release->levels, tuples->n_qis);
    memcpy(release->levels, levels, tuples->n_qis * sizeof *levels);
    KN_NEW_RAW(release->row_class, tuples->n_records);
    for (uint32_t row = 0; row < tuples->n_records; row++)
        release->row_class[row] = class_of[tuple_group[tuples->row_tuple[row]]];
    KN_TRY(kn_release_count(release, NULL, err));
    KN_TRY(kn_objective_loss(loss, objective, release, err));
    *loss = kn_prices_round(*loss);
done:
    kn_free(tuple_group);
    kn_free(class_of);
    kn_groups_free(&groups, evaluator->domain->lattice);
    kn_release_free(release);
    return status;
}

/* --- Nodes ----------------------------------------------------------------------------------------------------- */

static kn_status evaluate_groups(kn_node *node, double *losses, kn_evaluator *evaluator, const kn_groups *groups,
                                 kn_error *err)
{
    kn_status status = KN_OK;
    const kn_full_domain *domain = evaluator->domain;
    *node = (kn_node){.smallest = groups->n > 0 ? UINT64_MAX : 0};
    memset(evaluator->sums, 0, domain->n_prices * sizeof *evaluator->sums);
    for (uint32_t g = 0; g < groups->n; g++) {
        kn_class_counts counts;
        const bool holds = class_holds(&counts, evaluator, groups, g);
        if (counts.n_persons < node->smallest) node->smallest = counts.n_persons;
        if (holds) {
            node->n_classes++;
            add_held(evaluator, &counts);
        } else {
            add_suppressed(node, evaluator, groups, g, &counts);
        }
    }
    kn_node_price(node, losses, domain, groups->levels, evaluator->sums);
    for (uint32_t m = 0; m < domain->n_prices && node->feasible; m++) {
        const kn_objective *objective = domain->prices[m].objective;
        double loss;
        if (objective->type->price_release == NULL) continue;
        KN_TRY(whole_loss(&loss, evaluator, objective, groups->levels, err));
        if (losses != NULL) losses[m] = loss;
        if (m == 0) node->loss = loss;
    }
done:
    return status;
}

kn_status kn_evaluate(kn_node *nodes, double *losses, kn_evaluator *evaluator, const kn_batch *batch, bool details,
                      kn_error *err)
{
    if (evaluator->domain->bundles == NULL) return evaluate_groups(nodes, losses, evaluator, &batch->groups, err);
    kn_bundle_nodes_evaluate(nodes, losses, evaluator->pass, &batch->bundles, details);
    return KN_OK;
}

kn_status kn_evaluate_nodes(kn_evaluator *evaluator, const kn_batch *batch, bool details, kn_node_visitor visit,
                            void *context, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_full_domain *domain = evaluator->domain;
    evaluator->last = NULL;
    KN_TRY(kn_evaluate(evaluator->nodes, evaluator->losses, evaluator, batch, details, err));
    for (uint32_t i = 0; i < kn_batch_nodes(domain); i++) {
        kn_batch_node_levels(evaluator->levels, domain, batch, i);
        KN_TRY(visit(context, &evaluator->nodes[i], evaluator->losses + (size_t)i * domain->n_prices, evaluator->levels,
                     worker, err));
    }
done:
    return status;
}

/* --- Levels ---------------------------------------------------------------------------------------------------- */

/* The batch at `levels`, column by column; what an earlier call has left on the way is used as far as levels are the
 * same. Valid until the next call. */
static kn_status roll_to(const kn_batch **out, kn_evaluator *evaluator, const uint32_t *levels, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_full_domain *domain = evaluator->domain;
    const uint32_t n_qis = domain->task->tuples->n_qis;
    const size_t most = domain->task->memory_bytes, each = kn_batch_bytes(domain, &domain->base);
    const kn_batch *from = &domain->base;
    uint32_t *at = evaluator->levels;
    memcpy(at, kn_batch_levels(domain, from), n_qis * sizeof *at);
    if (most > 0 && each * domain->n_order > most) {
        KN_TRY(kn_batch_roll(&evaluator->far, from, levels, evaluator, err));
        *out = &evaluator->far;
        return KN_OK;
    }
    for (uint32_t d = 0; d < domain->n_outer; d++) {
        const uint32_t q = domain->outer[d];
        if (levels[q] == at[q]) continue;
        at[q] = levels[q];
        kn_batch *step = &evaluator->steps[d]; /* its levels tell what it holds, wherever it came from */
        const uint32_t *held = kn_batch_levels(domain, step);
        if (held == NULL || memcmp(held, at, n_qis * sizeof *at) != 0)
            KN_TRY(kn_batch_roll(step, from, at, evaluator, err));
        from = step;
    }
    *out = from;
done:
    return status;
}

kn_status kn_evaluate_levels(kn_node *out, kn_evaluator *evaluator, const uint32_t *levels, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_full_domain *domain = evaluator->domain;
    const uint32_t n_qis = domain->task->tuples->n_qis;
    const kn_batch *batch;
    uint32_t node = 0;
    KN_TRY(roll_to(&batch, evaluator, levels, err));
    const uint32_t *at = kn_batch_levels(domain, batch);
    if (batch != evaluator->last || batch == &evaluator->far ||
        memcmp(evaluator->last_levels, at, n_qis * sizeof *at) != 0) {
        evaluator->last = NULL;
        KN_TRY(kn_evaluate(evaluator->nodes, NULL, evaluator, batch, true, err));
        evaluator->last = batch;
        memcpy(evaluator->last_levels, at, n_qis * sizeof *at);
    }
    for (; node < kn_batch_nodes(domain); node++) {
        kn_batch_node_levels(evaluator->levels, domain, batch, node);
        if (memcmp(evaluator->levels, levels, n_qis * sizeof *levels) == 0) break;
    }
    *out = evaluator->nodes[node];
done:
    return status;
}
