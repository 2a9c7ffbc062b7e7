/* Price tables; see the header. Built once in O(values * levels), and with sensitive values in O(distinct tuples *
 * columns) and a price per level, value that occurs there and sensitive value. */
#include "engine/lattice/prices.h"

#include <math.h>

/* --- Cells ----------------------------------------------------------------------------------------------------- */

static double total_price(const kn_tuples *tuples, const kn_objective *objective)
{
    double sum = 0;
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        const kn_tree *tree = tuples->domains[q]->tree;
        double most = fabs(objective->root_price[q]);
        for (uint32_t node = 0; node < tree->n_nodes; node++) most = fmax(most, fabs(objective->node_price[q][node]));
        sum += most;
    }
    return sum * (double)tuples->n_rows;
}

static kn_status cell_prices(kn_prices *prices, const kn_lattice *lattice, uint32_t q, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_domain *values = lattice->tuples->domains[q];
    const kn_lattice_column *column = &lattice->columns[q];
    const double *node_price = prices->objective->node_price[q];
    const int64_t root = llround(prices->objective->root_price[q] / prices->unit);
    KN_OWN(&prices->memory, prices->table_sum[q], (size_t)column->max_level + 1);
    KN_OWN(&prices->memory, prices->gap[q], (size_t)column->max_level + 1);
    for (uint32_t l = column->min_level; l <= column->max_level; l++) {
        const kn_lattice_level *level = &column->levels[l], *lower = level - (l > column->min_level);
        int64_t *gap;
        KN_OWN(&prices->memory, gap, level->n);
        prices->gap[q][l] = gap;
        for (uint32_t p = 0; p < level->n; p++) {
            gap[p] = root - llround(node_price[level->node[p]] / prices->unit);
            if (gap[p] < 0) prices->monotone = false;
        }
        for (uint32_t code = 0; code < values->n_codes; code++)
            if (level->of_code[code] != KN_NONE)
                prices->table_sum[q][l] +=
                    (int64_t)kn_domain_seen_rows(values, code) * (root - gap[level->of_code[code]]);
        for (uint32_t p = 0; lower != level && p < lower->n; p++)
            if (gap[level->of_code[lower->first_code[p]]] > prices->gap[q][l - 1][p]) prices->monotone = false;
    }
done:
    return status;
}

/* The unit is a power of two, the smallest for which no sum over the table overflows. */
static kn_status fill_cells(kn_prices *prices, const kn_lattice *lattice, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n_qis = lattice->tuples->n_qis;
    int exponent;
    frexp(total_price(lattice->tuples, prices->objective), &exponent);
    prices->unit = ldexp(1, exponent - 61);
    prices->monotone = true;
    KN_OWN(&prices->memory, prices->table_sum, (size_t)n_qis + 1);
    KN_OWN(&prices->memory, prices->gap, (size_t)n_qis + 1);
    for (uint32_t q = 0; q < n_qis; q++) KN_TRY(cell_prices(prices, lattice, q, err));
done:
    return status;
}

/* Column by column, so many rows that save most would have to be suppressed, or all rows that save anything. */
int64_t kn_prices_least_more(const kn_prices *prices, const kn_lattice *lattice, uint64_t max_suppressed)
{
    const uint64_t n_rows = lattice->tuples->n_rows;
    const int64_t most_rows = (int64_t)(max_suppressed < n_rows ? max_suppressed : n_rows);
    int64_t sum = 0;
    for (uint32_t q = 0; !prices->monotone && q < lattice->tuples->n_qis; q++) {
        const kn_lattice_column *column = &lattice->columns[q];
        const kn_domain *values = lattice->tuples->domains[q];
        int64_t least_of_column = 0;
        for (uint32_t l = column->min_level; l <= column->max_level; l++) {
            const kn_lattice_level *level = &column->levels[l];
            int64_t least_of_row = 0, all = 0;
            for (uint32_t code = 0; code < values->n_codes; code++) {
                const int64_t gap = level->of_code[code] != KN_NONE ? prices->gap[q][l][level->of_code[code]] : 0;
                if (gap >= 0) continue;
                all += gap * (int64_t)kn_domain_seen_rows(values, code);
                if (gap < least_of_row) least_of_row = gap;
            }
            const int64_t least = least_of_row * most_rows > all ? least_of_row * most_rows : all;
            if (least < least_of_column) least_of_column = least;
        }
        sum += least_of_column;
    }
    return sum;
}

/* --- Products -------------------------------------------------------------------------------------------------- */

static kn_status fill_factors(kn_prices *prices, const kn_lattice *lattice, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_objective *objective = prices->objective;
    KN_OWN(&prices->memory, prices->factors, (size_t)lattice->tuples->n_qis + 1);
    for (uint32_t q = 0; q < lattice->tuples->n_qis; q++) {
        const kn_lattice_column *column = &lattice->columns[q];
        KN_OWN(&prices->memory, prices->factors[q], (size_t)column->max_level + 1);
        for (uint32_t l = column->min_level; l <= column->max_level; l++) {
            const kn_lattice_level *level = &column->levels[l];
            KN_OWN(&prices->memory, prices->factors[q][l], level->n);
            for (uint32_t p = 0; p < level->n; p++) {
                const kn_cell cell = kn_domain_node_cell(lattice->tuples->domains[q], level->node[p]);
                prices->factors[q][l][p] =
                    objective->type->price_row(objective->state, objective->tuples, NULL, q, &cell, KN_NONE);
            }
        }
    }
done:
    return status;
}

/* --- Rows by sensitive value ----------------------------------------------------------------------------------- */

/* Beyond, tables would not be worth their memory, or sums over more rows would overflow. */
static bool values_fit(const kn_objective *objective)
{
    enum { MOST_CELLS = 1 << 21 };
    const kn_tuples *tuples = objective->tuples;
    size_t n_codes = 0;
    for (uint32_t q = 0; q < tuples->n_qis; q++) n_codes += tuples->domains[q]->n_codes;
    return n_codes * tuples->sensitive[objective->column].n_values <= MOST_CELLS && tuples->n_rows < INT32_MAX;
}

static double price_of(const kn_objective *objective, uint32_t q, const kn_cell *cell, uint32_t value)
{
    return objective->type->price_row(objective->state, objective->tuples, NULL, q, cell, value);
}

static kn_value_price in_units(const kn_prices *prices, double price)
{
    const uint64_t units = (uint64_t)llround(price / prices->unit), low = ((uint64_t)1 << KN_PRICE_BITS) - 1;
    return (kn_value_price){(uint32_t)(units >> KN_PRICE_BITS), (uint32_t)(units & low)};
}

/* The unit is a power of two, the smallest for which the price of a row fits. */
static void choose_unit(kn_prices *prices, const kn_lattice *lattice)
{
    const kn_tuples *tuples = lattice->tuples;
    double sum = 0;
    int exponent;
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        const kn_lattice_column *column = &lattice->columns[q];
        const kn_cell root = kn_domain_root(tuples->domains[q]);
        double most = 0;
        for (uint32_t v = 0; v < prices->n_values; v++) {
            most = fmax(most, price_of(prices->objective, q, &root, v));
            for (uint32_t l = column->min_level; l <= column->max_level; l++)
                for (uint32_t p = 0; p < column->levels[l].n; p++) {
                    const kn_cell cell = kn_domain_node_cell(tuples->domains[q], column->levels[l].node[p]);
                    most = fmax(most, price_of(prices->objective, q, &cell, v));
                }
        }
        sum += most;
    }
    frexp(sum, &exponent);
    prices->unit = ldexp(1, exponent - 2 * KN_PRICE_BITS + 1);
}

/* joint[position at the least level * n_values + value]: rows. */
static void count_rows(uint64_t *joint, const kn_prices *prices, const kn_tuples *tuples, const kn_lattice_level *level,
                       uint32_t q)
{
    for (uint32_t t = 0; t < tuples->n_tuples; t++) {
        const kn_histogram histogram = kn_histogram_of(&tuples->sensitive[prices->column].by_tuple, t);
        uint64_t *own = joint + (size_t)level->of_code[tuples->codes[q][t]] * prices->n_values;
        for (uint32_t i = 0; i < histogram.n; i++) own[histogram.values[i]] += histogram.counts[i];
    }
}

static kn_status value_prices(kn_prices *prices, const kn_lattice *lattice, uint32_t q, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_lattice_column *column = &lattice->columns[q];
    const kn_lattice_level *least = &column->levels[column->min_level];
    const size_t n_values = prices->n_values;
    uint64_t *joint = NULL;
    KN_NEW(joint, least->n * n_values + 1);
    KN_OWN(&prices->memory, prices->value_prices[q], (size_t)column->max_level + 1);
    KN_OWN(&prices->memory, prices->value_table[q], (size_t)column->max_level + 1);
    count_rows(joint, prices, lattice->tuples, least, q);
    for (uint32_t l = column->min_level; l <= column->max_level; l++) {
        const kn_lattice_level *level = &column->levels[l];
        kn_value_price *own;
        KN_OWN(&prices->memory, own, level->n * n_values + 1);
        prices->value_prices[q][l] = own;
        for (size_t p = 0; p < level->n; p++) {
            const kn_cell cell = kn_domain_node_cell(lattice->tuples->domains[q], level->node[p]);
            for (uint32_t v = 0; v < n_values; v++)
                own[p * n_values + v] = in_units(prices, price_of(prices->objective, q, &cell, v));
        }
        for (size_t p = 0; p < least->n; p++) {
            const size_t at = level->of_code[least->first_code[p]];
            for (uint32_t v = 0; v < n_values; v++)
                kn_value_sum_add(&prices->value_table[q][l], own[at * n_values + v], (int64_t)joint[p * n_values + v]);
        }
        kn_value_sum_carry(&prices->value_table[q][l]);
    }
done:
    kn_free(joint);
    return status;
}

static kn_status fill_values(kn_prices *prices, const kn_lattice *lattice, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = lattice->tuples;
    prices->column = prices->objective->column;
    prices->n_values = tuples->sensitive[prices->column].n_values;
    choose_unit(prices, lattice);
    KN_OWN(&prices->memory, prices->value_prices, (size_t)tuples->n_qis + 1);
    KN_OWN(&prices->memory, prices->value_table, (size_t)tuples->n_qis + 1);
    KN_OWN(&prices->memory, prices->value_root, (size_t)prices->n_values + 1);
    for (uint32_t v = 0; v < prices->n_values; v++) {
        double sum = 0;
        for (uint32_t q = 0; q < tuples->n_qis; q++) {
            const kn_cell root = kn_domain_root(tuples->domains[q]);
            sum += price_of(prices->objective, q, &root, v);
        }
        prices->value_root[v] = in_units(prices, sum);
    }
    for (uint32_t q = 0; q < tuples->n_qis; q++) KN_TRY(value_prices(prices, lattice, q, err));
done:
    return status;
}

long double kn_prices_value_sum(const kn_prices *prices, const uint32_t *levels, const kn_value_sum *more)
{
    kn_value_sum sum = *more;
    for (uint32_t q = 0; q < prices->objective->tuples->n_qis; q++) {
        sum.high += prices->value_table[q][levels[q]].high;
        sum.low += prices->value_table[q][levels[q]].low;
    }
    kn_value_sum_carry(&sum);
    return ((long double)sum.high * (1u << KN_PRICE_BITS) + (long double)sum.low) * prices->unit;
}

/* --- Any of them ----------------------------------------------------------------------------------------------- */

bool kn_prices_by_bundles(const kn_objective *objective)
{
    const kn_measure *measure = objective->type;
    if (measure->price_row != NULL) return measure->product || values_fit(objective);
    return measure->price_cell != NULL || measure->by_size != NULL || measure->price_values != NULL;
}

/* Where suppressed rows bound the loss none is dearer than that of all rows suppressed, which has to fit. */
static double class_unit(const kn_lattice *lattice, const kn_objective *objective)
{
    const kn_class_counts all = {.n_rows = lattice->tuples->n_rows};
    int exponent = 0;
    if (objective->type->suppression_bounds)
        frexp(objective->type->price_class(objective->state, lattice->tuples, &all, NULL, NULL, true), &exponent);
    return ldexp(1, exponent > 51 ? exponent - 61 : -10);
}

kn_status kn_prices_fill(kn_prices *out, const kn_lattice *lattice, const kn_objective *objective, kn_error *err)
{
    const kn_measure *measure = objective->type;
    *out = (kn_prices){.objective = objective, .unit = class_unit(lattice, objective)};
    if (measure->price_cell != NULL) return fill_cells(out, lattice, err);
    if (measure->price_row != NULL && measure->product) return fill_factors(out, lattice, err);
    if (measure->price_row != NULL && values_fit(objective)) return fill_values(out, lattice, err);
    return KN_OK;
}

void kn_prices_clear(kn_prices *prices)
{
    kn_owner_free(&prices->memory);
    *prices = (kn_prices){0};
}

double kn_prices_loss(const kn_prices *prices, int64_t units)
{
    if (prices->table_sum == NULL) return (double)units * prices->unit;
    return ((double)units * prices->unit - prices->objective->discount) * prices->objective->scale;
}

double kn_prices_round(long double sum)
{
    int exponent;
    double mantissa = frexp((double)sum, &exponent);
    return ldexp(nearbyint(mantissa * 0x1p46), exponent - 46);
}

double kn_prices_class_loss(const kn_prices *prices, long double sum, uint64_t n_classes, uint64_t n_suppressed,
                            const kn_class_counts *suppressed, const kn_cell *root)
{
    const kn_objective *objective = prices->objective;
    if (suppressed != NULL && n_suppressed > 0)
        sum += objective->type->price_class(objective->state, objective->tuples, suppressed, root, NULL, true);
    if (objective->type->finish == NULL) return kn_prices_round(sum);
    kn_release sizes = {.tuples = objective->tuples, .n_classes = (uint32_t)n_classes, .n_suppressed = n_suppressed};
    return kn_prices_round(objective->type->finish(objective->state, &sizes, kn_prices_round(sum)));
}
