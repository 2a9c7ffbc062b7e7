/* The registry of measures; a measure made ready for one table; the loss of a finished release.
 *
 * A suppressed row pays the price of the whole domain in every column, whether it stays in the file or was removed. */
#include "measure/private_information.h"

#include "classes/column_cells.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define KN_MEASURE(name) extern const kn_measure kn_measure_##name;
#include "measure/measure.def"
#undef KN_MEASURE

static const kn_measure *const registry[] = {
#define KN_MEASURE(name) &kn_measure_##name,
#include "measure/measure.def"
#undef KN_MEASURE
};

enum { N_REGISTRY = sizeof registry / sizeof *registry };

const kn_measure *const *kn_measure_all(size_t *n)
{
    *n = N_REGISTRY;
    return registry;
}

static const kn_measure *find(const char *name, size_t n_bytes)
{
    for (size_t i = 0; i < N_REGISTRY; i++)
        if (strlen(registry[i]->name) == n_bytes && memcmp(registry[i]->name, name, n_bytes) == 0) return registry[i];
    return NULL;
}

const kn_measure *kn_measure_find(const char *name) { return find(name, strlen(name)); }

static kn_status unknown_measure(const char *spec, int n_bytes, kn_error *err)
{
    kn_buffer names = {0};
    for (size_t i = 0; i < N_REGISTRY; i++) kn_buffer_printf(&names, "%s%s", i > 0 ? ", " : "", registry[i]->name);
    kn_status status = kn_error_set(err, KN_USAGE, "there is no measure '%.*s'; there are %s",
                                    n_bytes < 40 ? n_bytes : 40, spec, names.failed ? "others" : names.bytes);
    kn_buffer_free(&names);
    return status;
}

/* --- Objective ------------------------------------------------------------------------------------------------- */

static double column_weight(const kn_objective *objective, uint32_t q)
{
    return objective->type->per_cell ? objective->tuples->domains[q]->weight : 1;
}

double kn_objective_price(const kn_objective *objective, const kn_set_pool *sets, uint32_t q, const kn_cell *cell)
{
    /* A cut point may join leaves of a tree that are no node, and a narrowed label is none. */
    if (objective->node_price[q] != NULL && cell->id < objective->tuples->domains[q]->tree->n_nodes)
        return objective->node_price[q][cell->id];
    return column_weight(objective, q) *
           objective->type->price_cell(objective->state, objective->tuples, sets, q, cell);
}

/* The prices that searches look up again and again. */
static kn_status price_tables(kn_objective *objective, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = objective->tuples;
    const kn_measure *type = objective->type;
    KN_NEW(objective->node_price, tuples->n_qis);
    KN_NEW(objective->root_price, tuples->n_qis);
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        const kn_domain *domain = tuples->domains[q];
        double weight = column_weight(objective, q);
        kn_cell root = kn_domain_root(domain);
        objective->root_price[q] = weight * type->price_cell(objective->state, tuples, NULL, q, &root);
        if (type->value_discount != NULL)
            for (uint32_t code = 0; code < domain->n_codes; code++)
                objective->discount += weight * (double)kn_domain_seen_rows(domain, code) *
                                       type->value_discount(objective->state, tuples, q, code);
        if (domain->kind != KN_DOMAIN_TREE) continue;
        const kn_tree *tree = domain->tree;
        KN_NEW(objective->node_price[q], tree->n_nodes);
        for (uint32_t node = 0; node < tree->n_nodes; node++) {
            const kn_cell cell = kn_domain_node_cell(domain, node);
            objective->node_price[q][node] = weight * type->price_cell(objective->state, tuples, NULL, q, &cell);
        }
    }
done:
    return status;
}

kn_status kn_measure_join(const char *spec, kn_tuples *tuples, kn_error *err)
{
    kn_status status = KN_OK;
    kn_args args = {0};
    kn_error later = {0}; /* whatever is wrong with it, kn_objective_new says */
    size_t n_bytes = strcspn(spec, ":");
    const kn_measure *type = find(spec, n_bytes);
    uint32_t joined;
    if (type == NULL || tuples->n_table_sensitive < 2) return KN_OK;
    if (kn_args_parse(&args, type->name, type->params, type->n_params, spec[n_bytes] == ':' ? spec + n_bytes + 1 : "",
                      &later) == KN_OK &&
        kn_measure_is_joint(&args))
        KN_TRY(kn_tuples_join(&joined, tuples, 0, err));
done:
    kn_args_free(&args);
    return status;
}

kn_status kn_objective_new(kn_objective **out, const char *spec, const kn_tuples *tuples, kn_error *err)
{
    kn_status status = KN_OK;
    kn_objective *objective = NULL;
    *out = NULL;
    KN_NEW(objective, 1);
    size_t n_bytes = strcspn(spec, ":");
    const kn_measure *type = objective->type = find(spec, n_bytes);
    objective->tuples = tuples;
    objective->scale = 1;
    if (type == NULL) KN_TRY(unknown_measure(spec, (int)n_bytes, err));
    assert((type->price_cell != NULL) + (type->price_class != NULL) + (type->price_release != NULL) == 1);
    KN_TRY(kn_args_parse(&objective->args, type->name, type->params, type->n_params,
                         spec[n_bytes] == ':' ? spec + n_bytes + 1 : "", err));
    if ((type->needs & KN_MEASURE_NEEDS_CLASS_COLUMN) && tuples->n_sensitive == 0)
        KN_FAIL(KN_USAGE, "measure %s needs a sensitive column, and the table has none", type->name);
    if (type->needs & KN_MEASURE_NEEDS_CLASS_COLUMN)
        KN_TRY(kn_class_column(&objective->column, tuples, &objective->args, err));
    if (type->prepare != NULL) KN_TRY(type->prepare(&objective->state, tuples, &objective->args, err));
    if (type->per_cell) {
        double cells = kn_tuples_weight(tuples) * (double)tuples->n_rows;
        objective->scale = cells > 0 ? 1 / cells : 0;
    }
    if (type->price_cell != NULL) KN_TRY(price_tables(objective, err));
    *out = objective;
    objective = NULL;
done:
    kn_objective_free(objective);
    return status;
}

void kn_objective_free(kn_objective *objective)
{
    if (objective == NULL) return;
    if (objective->state != NULL) objective->type->discard(objective->state);
    for (uint32_t q = 0; objective->node_price != NULL && q < objective->tuples->n_qis; q++)
        kn_free(objective->node_price[q]);
    kn_free(objective->node_price);
    kn_free(objective->root_price);
    kn_args_free(&objective->args);
    kn_free(objective);
}

/* --- Loss of a release ----------------------------------------------------------------------------------------- */

/* Sum over the rows of the weighted price of column q, discounts included. Where a row keeps its value, price and
 * discount cancel exactly: a release without generalization costs 0, not 1e-16. */
static kn_status column_sum(double *sum, const kn_objective *objective, const kn_release *release, uint32_t q,
                            kn_error *err)
{
    kn_status status = KN_OK;
    const kn_measure *type = objective->type;
    const kn_tuples *tuples = objective->tuples;
    const kn_domain *domain = tuples->domains[q];
    const kn_column_cells *column;
    kn_column_cells room;
    uint64_t *kept = NULL; /* rows that keep each value */
    *sum = 0;
    KN_TRY(kn_column_get(&column, &room, release, q, err));
    if (type->value_discount != NULL) KN_NEW(kept, domain->n_codes);
    for (uint32_t i = 0; i < column->n; i++) {
        const kn_cell *cell = &column->cells[i];
        if (kept != NULL && cell->first == cell->last) {
            kept[cell->first] += column->rows[i];
        } else {
            *sum += kn_objective_price(objective, release->sets, q, cell) * (double)column->rows[i];
        }
    }
    for (uint32_t code = 0; kept != NULL && code < domain->n_codes; code++) {
        double others = (double)kn_domain_seen_rows(domain, code) - (double)kept[code];
        if (others != 0)
            *sum -= others * column_weight(objective, q) * type->value_discount(objective->state, tuples, q, code);
    }
done:
    kn_column_clear(&room);
    kn_free(kept);
    return status;
}

static kn_status cell_loss(double *loss, const kn_objective *objective, const kn_release *release, kn_error *err)
{
    kn_status status = KN_OK;
    double sum = 0, column;
    for (uint32_t q = 0; q < objective->tuples->n_qis; q++) {
        KN_TRY(column_sum(&column, objective, release, q, err));
        sum += column;
    }
    *loss = sum * objective->scale;
done:
    return status;
}

/* Class measures that are a sum over rows and columns. */
static kn_status row_loss(double *loss, const kn_objective *objective, const kn_release *release, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = objective->tuples;
    const kn_column_cells *column;
    kn_column_cells room = {0};
    double sum = 0;
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        KN_TRY(kn_column_get(&column, &room, release, q, err));
        const kn_histograms *values = &column->histograms[objective->column];
        for (uint32_t i = 0; i < column->n; i++)
            for (uint32_t e = values->start[i]; e < values->start[i + 1]; e++)
                sum += (double)values->counts[e] * objective->type->price_row(objective->state, tuples, release->sets,
                                                                              q, &column->cells[i], values->values[e]);
        kn_column_clear(&room);
    }
    *loss = objective->type->finish(objective->state, release, sum);
done:
    kn_column_clear(&room);
    return status;
}

static kn_status class_loss(double *loss, const kn_objective *objective, const kn_release *release, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_measure *type = objective->type;
    const kn_tuples *tuples = objective->tuples;
    kn_histogram *histograms = NULL;
    kn_cell *root = NULL;
    KN_NEW(histograms, tuples->n_sensitive);
    KN_NEW(root, tuples->n_qis);
    for (uint32_t q = 0; q < tuples->n_qis; q++) root[q] = kn_domain_root(tuples->domains[q]);
    double sum = 0;
    for (uint32_t c = 0; c < release->n_classes; c++) {
        kn_class_counts counts = kn_release_class(release, c, histograms);
        sum += type->price_class(objective->state, tuples, &counts, &release->cells[(size_t)c * tuples->n_qis],
                                 release->sets, false);
    }
    if (release->n_suppressed > 0) {
        kn_class_counts counts = kn_release_class(release, release->n_classes, histograms);
        sum += type->price_class(objective->state, tuples, &counts, root, release->sets, true);
    }
    *loss = type->finish != NULL ? type->finish(objective->state, release, sum) : sum;
done:
    kn_free(histograms);
    kn_free(root);
    return status;
}

kn_status kn_objective_loss(double *loss, const kn_objective *objective, const kn_release *release, kn_error *err)
{
    *loss = NAN;
    if (objective->type->price_cell != NULL) return cell_loss(loss, objective, release, err);
    if (objective->type->price_columns != NULL)
        return kn_private_information_price(loss, objective->type->price_columns, objective->state, release, NULL, err);
    if (objective->type->price_row != NULL && !objective->type->product) return row_loss(loss, objective, release, err);
    if (objective->type->price_class != NULL) return class_loss(loss, objective, release, err);
    return objective->type->price_release(loss, objective->state, release, false, NULL, err);
}

kn_status kn_objective_column_loss(double *loss, const kn_objective *objective, const kn_release *release, uint32_t q,
                                   kn_error *err)
{
    kn_status status = KN_OK;
    double sum, cells = column_weight(objective, q) * (double)objective->tuples->n_rows;
    *loss = NAN;
    if (objective->type->price_cell == NULL) return KN_OK;
    KN_TRY(column_sum(&sum, objective, release, q, err));
    *loss = !objective->type->per_cell ? sum : cells > 0 ? sum / cells : 0;
done:
    return status;
}
