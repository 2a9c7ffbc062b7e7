/* Figures of nodes; see the header. Cost: per class what its verdict costs, per node a multiplication for each measure
 * and each value that occurs at its levels. */
#include "engine/lattice/node_figures.h"

#include "engine/lattice/value_prices.h"

#include <string.h>

bool kn_figures_by_blocks(const kn_objective *objective)
{
    const kn_measure *measure = objective->type;
    if (measure->price_value != NULL) return kn_value_prices_fit(objective);
    return measure->price_cell != NULL || measure->price_sizes != NULL || measure->cell_factor != NULL ||
           measure->price_values != NULL;
}

static kn_status factors_new(kn_figures *figures, size_t m, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_lattice *lattice = figures->domain->lattice;
    const kn_measure *measure = figures->objectives[m]->type;
    KN_NEW(figures->factors[m], lattice->tuples->n_qis);
    for (uint32_t q = 0; q < lattice->tuples->n_qis; q++) {
        const kn_lattice_column *column = &lattice->columns[q];
        const kn_domain *domain = lattice->tuples->domains[q];
        KN_NEW(figures->factors[m][q], (size_t)column->max_level + 1);
        for (uint32_t l = column->min_level; l <= column->max_level; l++) {
            const kn_lattice_level *level = &column->levels[l];
            KN_NEW(figures->factors[m][q][l], level->n);
            for (uint32_t p = 0; p < level->n; p++) {
                const kn_cell cell = kn_domain_node_cell(domain, level->node[p]);
                figures->factors[m][q][l][p] = measure->cell_factor(domain, &cell, NULL);
            }
        }
    }
done:
    return status;
}

kn_status kn_figures_new(kn_figures **out, const kn_full_domain *domain, const kn_objective *const *objectives,
                         size_t n, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_lattice *lattice = domain->lattice;
    const uint32_t n_qis = lattice->tuples->n_qis;
    kn_figures *figures = NULL;
    *out = NULL;
    KN_NEW(figures, 1);
    *figures = (kn_figures){.domain = domain, .n = n, .objectives = objectives};
    KN_NEW(figures->prices, n + 1);
    KN_NEW(figures->factors, n + 1);
    KN_NEW(figures->values, n + 1);
    KN_NEW(figures->first_position, (size_t)n_qis + 1);
    for (uint32_t q = 0; q < n_qis; q++)
        figures->first_position[q + 1] =
            figures->first_position[q] + lattice->columns[q].levels[lattice->columns[q].min_level].n;
    for (size_t m = 0; m < n; m++) {
        const kn_measure *measure = objectives[m]->type;
        if (measure->price_cell != NULL)
            KN_TRY(kn_full_domain_new_prices(&figures->prices[m], domain->task, objectives[m], err));
        if (measure->cell_factor != NULL) KN_TRY(factors_new(figures, m, err));
        if (measure->price_value != NULL && kn_value_prices_fit(objectives[m]))
            KN_TRY(kn_value_prices_new(&figures->values[m], lattice, objectives[m], err));
    }
    *out = figures;
    figures = NULL;
done:
    kn_figures_free(figures);
    return status;
}

void kn_figures_free(kn_figures *figures)
{
    if (figures == NULL) return;
    const kn_lattice *lattice = figures->domain->lattice;
    for (size_t m = 0; m < figures->n; m++) {
        if (figures->prices != NULL) kn_full_domain_free(figures->prices[m]);
        if (figures->values != NULL) kn_value_prices_free(figures->values[m], lattice);
        if (figures->factors == NULL || figures->factors[m] == NULL) continue;
        for (uint32_t q = 0; q < lattice->tuples->n_qis; q++) {
            double **levels = figures->factors[m][q];
            for (uint32_t l = 0; levels != NULL && l <= lattice->columns[q].max_level; l++) kn_free(levels[l]);
            kn_free(levels);
        }
        kn_free(figures->factors[m]);
    }
    kn_free(figures->prices);
    kn_free(figures->factors);
    kn_free(figures->values);
    kn_free(figures->first_position);
    kn_free(figures);
}

kn_status kn_node_sums_new(kn_node_sums **out, const kn_figures *figures, kn_error *err)
{
    kn_status status = KN_OK;
    kn_node_sums *sums = NULL;
    *out = NULL;
    KN_NEW(sums, 1);
    KN_NEW(sums->suppressed, (size_t)figures->first_position[figures->domain->task->tuples->n_qis] + 1);
    KN_NEW(sums->products, figures->n + 1);
    KN_NEW(sums->values, figures->n + 1);
    KN_NEW(sums->units, figures->n + 1);
    KN_NEW(sums->columns, (size_t)figures->domain->task->tuples->n_qis + 1);
    for (uint32_t q = 0; q < figures->domain->task->tuples->n_qis; q++) sums->columns[sums->n_columns++] = q;
    *out = sums;
    sums = NULL;
done:
    kn_node_sums_free(sums);
    return status;
}

void kn_node_sums_free(kn_node_sums *sums)
{
    if (sums == NULL) return;
    kn_free(sums->suppressed);
    kn_free(sums->products);
    kn_free(sums->values);
    kn_free(sums->units);
    kn_free(sums->columns);
    kn_free(sums);
}

static int64_t cell_units(const kn_full_domain *prices, const uint32_t *first_position, const uint32_t *levels,
                          const kn_node_sums *sums)
{
    int64_t units = 0;
    for (uint32_t q = 0; q < prices->lattice->tuples->n_qis; q++) units += prices->table_sum[q][levels[q]];
    for (uint32_t i = 0; i < sums->n_columns; i++) {
        const uint32_t q = sums->columns[i];
        const int64_t *gap = prices->gap[q][levels[q]];
        const uint32_t *rows = sums->suppressed + first_position[q],
                       n = prices->lattice->columns[q].levels[levels[q]].n;
        for (uint32_t p = 0; p < n; p++) units += (int64_t)rows[p] * gap[p];
    }
    return units;
}

void kn_figures_losses(double *losses, const kn_figures *figures, const kn_node *node, const uint32_t *levels,
                       const kn_node_sums *sums)
{
    for (size_t m = 0; m < figures->n; m++) {
        const kn_measure *measure = figures->objectives[m]->type;
        if (measure->price_cell != NULL) {
            int64_t units = sums->units[m] + cell_units(figures->prices[m], figures->first_position, levels, sums);
            losses[m] = kn_full_domain_loss(figures->prices[m], units);
            continue;
        }
        if (figures->values[m] != NULL) {
            long double sum =
                kn_value_prices_sum(figures->values[m], levels, figures->domain->task->tuples->n_qis, &sums->values[m]);
            losses[m] = kn_full_domain_sum_loss(figures->domain, figures->objectives[m], node, sum);
            continue;
        }
        long double sum =
            measure->price_sizes != NULL ? measure->price_sizes(node->n_classes, sums->squares) : sums->products[m];
        losses[m] =
            kn_full_domain_class_loss(figures->domain, figures->objectives[m], node, sum, &sums->suppressed_class);
    }
}

/* --- From groups ----------------------------------------------------------------------------------------------- */

static void add_products(const kn_figures *figures, kn_node_sums *sums, const kn_class_counts *counts,
                         const kn_cell *cells)
{
    for (size_t m = 0; m < figures->n; m++) {
        const kn_objective *objective = figures->objectives[m];
        if (objective->type->price_cell != NULL || objective->type->price_sizes != NULL || figures->values[m] != NULL)
            continue;
        sums->products[m] +=
            objective->type->price_class(objective->state, objective->tuples, counts, cells, NULL, false);
    }
}

/* What rows with these sensitive values pay more when group g is suppressed. */
static void add_values(const kn_figures *figures, kn_node_sums *sums, const kn_groups *groups, uint32_t g,
                       const kn_class_counts *counts)
{
    const kn_lattice *lattice = figures->domain->lattice;
    for (size_t m = 0; m < figures->n; m++) {
        const kn_value_prices *prices = figures->values[m];
        if (prices == NULL) continue;
        const kn_histogram *histogram = &counts->sensitive[prices->column];
        for (uint32_t i = 0; i < histogram->n; i++)
            kn_value_sum_add(&sums->values[m], prices->root[histogram->values[i]], histogram->counts[i]);
        for (uint32_t q = 0; q < lattice->tuples->n_qis; q++) {
            const kn_value_price *own = prices->prices[q][groups->levels[q]] +
                                        (size_t)kn_groups_position(lattice, groups, g, q) * prices->n_values;
            for (uint32_t i = 0; i < histogram->n; i++)
                kn_value_sum_add(&sums->values[m], own[histogram->values[i]], -(int64_t)histogram->counts[i]);
        }
        kn_value_sum_carry(&sums->values[m]);
    }
}

void kn_figures_of_groups(kn_node *node, double *losses, const kn_figures *figures, kn_node_sums *sums,
                          kn_evaluator *evaluator, const kn_groups *groups)
{
    const kn_full_domain *domain = figures->domain;
    const uint32_t n_qis = domain->task->tuples->n_qis;
    uint64_t n_persons = 0;
    *node = (kn_node){.smallest = groups->n > 0 ? UINT64_MAX : 0};
    memset(sums->suppressed, 0, figures->first_position[n_qis] * sizeof *sums->suppressed);
    memset(sums->products, 0, figures->n * sizeof *sums->products);
    memset(sums->values, 0, figures->n * sizeof *sums->values);
    sums->squares = 0;
    for (uint32_t g = 0; g < groups->n; g++) {
        kn_class_counts counts;
        const kn_cell *cells;
        bool holds = kn_evaluator_class(&counts, &cells, evaluator, groups, g);
        if (counts.n_persons < node->smallest) node->smallest = counts.n_persons;
        if (holds) {
            node->n_classes++;
            sums->squares += counts.n_rows * counts.n_rows;
            add_products(figures, sums, &counts, cells);
            continue;
        }
        node->n_suppressed += counts.n_rows;
        n_persons += counts.n_persons;
        for (uint32_t q = 0; q < n_qis; q++)
            sums->suppressed[figures->first_position[q] + kn_groups_position(domain->lattice, groups, g, q)] +=
                (uint32_t)counts.n_rows;
        add_values(figures, sums, groups, g, &counts);
        kn_evaluator_add_suppressed(evaluator, &counts);
    }
    node->feasible = node->n_suppressed <= domain->task->max_suppressed;
    sums->suppressed_class = kn_evaluator_suppressed_class(evaluator, node->n_suppressed, n_persons);
    kn_figures_losses(losses, figures, node, groups->levels, sums);
}
