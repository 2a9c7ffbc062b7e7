/* Prices of rows by cell and sensitive value; see node_figures.h. Built once in O(distinct tuples * columns) and a
 * price per level, value that occurs there and sensitive value. */
#include "engine/lattice/value_prices.h"

#include <math.h>

/* Beyond, tables would not be worth their memory. */
enum { MOST_CELLS = 1 << 21 };

bool kn_value_prices_fit(const kn_objective *objective)
{
    const kn_tuples *tuples = objective->tuples;
    size_t n_codes = 0;
    for (uint32_t q = 0; q < tuples->n_qis; q++) n_codes += tuples->domains[q]->n_codes;
    return n_codes * tuples->sensitive[objective->type->column(objective->state)].n_values <= MOST_CELLS;
}

static kn_value_price in_units(const kn_value_prices *prices, double price)
{
    const uint64_t units = (uint64_t)llround(price / prices->unit), low = ((uint64_t)1 << KN_PRICE_BITS) - 1;
    return (kn_value_price){(uint32_t)(units >> KN_PRICE_BITS), (uint32_t)(units & low)};
}

static double price_of(const kn_objective *objective, uint32_t q, uint32_t node, uint32_t value)
{
    const kn_cell cell = kn_domain_node_cell(objective->tuples->domains[q], node);
    return objective->type->price_value(objective->state, objective->tuples, q, &cell, value);
}

/* The unit is a power of two, the smallest for which the price of a row fits. */
static void choose_unit(kn_value_prices *prices, const kn_lattice *lattice, const kn_objective *objective)
{
    const kn_tuples *tuples = objective->tuples;
    double sum = 0;
    int exponent;
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        const kn_lattice_column *column = &lattice->columns[q];
        const kn_cell root = kn_domain_root(tuples->domains[q]);
        double most = 0;
        for (uint32_t v = 0; v < prices->n_values; v++) {
            most = fmax(most, objective->type->price_value(objective->state, tuples, q, &root, v));
            for (uint32_t l = column->min_level; l <= column->max_level; l++)
                for (uint32_t p = 0; p < column->levels[l].n; p++)
                    most = fmax(most, price_of(objective, q, column->levels[l].node[p], v));
        }
        sum += most;
    }
    frexp(sum, &exponent);
    prices->unit = ldexp(1, exponent - 2 * KN_PRICE_BITS + 1);
}

/* joint[position at the least level * n_values + value]: rows. */
static void count_rows(uint32_t *joint, const kn_value_prices *prices, const kn_tuples *tuples,
                       const kn_lattice_level *level, uint32_t q)
{
    const kn_sensitive *sensitive = &tuples->sensitive[prices->column];
    for (uint32_t t = 0; t < tuples->n_tuples; t++) {
        uint32_t *own = joint + (size_t)level->of_code[tuples->codes[q][t]] * prices->n_values;
        for (uint32_t i = sensitive->start[t]; i < sensitive->start[t + 1]; i++)
            own[sensitive->values[i]] += sensitive->counts[i];
    }
}

static kn_status price_column(kn_value_prices *prices, const kn_lattice *lattice, const kn_objective *objective,
                              uint32_t q, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_lattice_column *column = &lattice->columns[q];
    const kn_lattice_level *least = &column->levels[column->min_level];
    const size_t n_values = prices->n_values;
    uint32_t *joint = NULL;
    KN_NEW(joint, least->n * n_values + 1);
    KN_NEW(prices->prices[q], (size_t)column->max_level + 1);
    KN_NEW(prices->table[q], (size_t)column->max_level + 1);
    count_rows(joint, prices, objective->tuples, least, q);
    for (uint32_t l = column->min_level; l <= column->max_level; l++) {
        const kn_lattice_level *level = &column->levels[l];
        kn_value_price *own;
        KN_NEW(own, level->n * n_values + 1);
        prices->prices[q][l] = own;
        for (size_t p = 0; p < level->n; p++)
            for (uint32_t v = 0; v < n_values; v++)
                own[p * n_values + v] = in_units(prices, price_of(objective, q, level->node[p], v));
        for (size_t p = 0; p < least->n; p++) {
            const size_t at = level->of_code[least->first_code[p]];
            for (uint32_t v = 0; v < n_values; v++)
                kn_value_sum_add(&prices->table[q][l], own[at * n_values + v], joint[p * n_values + v]);
        }
        kn_value_sum_carry(&prices->table[q][l]);
    }
done:
    kn_free(joint);
    return status;
}

kn_status kn_value_prices_new(kn_value_prices **out, const kn_lattice *lattice, const kn_objective *objective,
                              kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = objective->tuples;
    kn_value_prices *prices = NULL;
    *out = NULL;
    KN_NEW(prices, 1);
    prices->column = objective->type->column(objective->state);
    prices->n_values = tuples->sensitive[prices->column].n_values;
    choose_unit(prices, lattice, objective);
    KN_NEW(prices->prices, (size_t)tuples->n_qis + 1);
    KN_NEW(prices->table, (size_t)tuples->n_qis + 1);
    KN_NEW(prices->root, (size_t)prices->n_values + 1);
    for (uint32_t v = 0; v < prices->n_values; v++) {
        double sum = 0;
        for (uint32_t q = 0; q < tuples->n_qis; q++) {
            const kn_cell root = kn_domain_root(tuples->domains[q]);
            sum += objective->type->price_value(objective->state, tuples, q, &root, v);
        }
        prices->root[v] = in_units(prices, sum);
    }
    for (uint32_t q = 0; q < tuples->n_qis; q++) KN_TRY(price_column(prices, lattice, objective, q, err));
    *out = prices;
    prices = NULL;
done:
    kn_value_prices_free(prices, lattice);
    return status;
}

void kn_value_prices_free(kn_value_prices *prices, const kn_lattice *lattice)
{
    if (prices == NULL) return;
    for (uint32_t q = 0; prices->prices != NULL && q < lattice->tuples->n_qis; q++) {
        for (uint32_t l = 0; prices->prices[q] != NULL && l <= lattice->columns[q].max_level; l++)
            kn_free(prices->prices[q][l]);
        kn_free(prices->prices[q]);
        if (prices->table != NULL) kn_free(prices->table[q]);
    }
    kn_free(prices->prices);
    kn_free(prices->table);
    kn_free(prices->root);
    kn_free(prices);
}

long double kn_value_prices_sum(const kn_value_prices *prices, const uint32_t *levels, uint32_t n_qis,
                                const kn_value_sum *more)
{
    kn_value_sum sum = *more;
    for (uint32_t q = 0; q < n_qis; q++) {
        sum.high += prices->table[q][levels[q]].high;
        sum.low += prices->table[q][levels[q]].low;
    }
    kn_value_sum_carry(&sum);
    return ((long double)sum.high * (1u << KN_PRICE_BITS) + (long double)sum.low) * prices->unit;
}
