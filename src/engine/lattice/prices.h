/* What a measure makes of a lattice, as tables: looked up node by node, ready for all threads.
 *
 * Cell measures. A node costs the sum, over columns, of the table's price at that level, plus what the suppressed rows
 * pay more: the root's price less the price of their cells. Prices are whole multiples of a small unit, so sums do not
 * depend on the order of the classes: the same node has the same loss on any path, thread count and memory, and "best"
 * means best in these units (about 1e-11 of a cell's price or finer).
 * Measures that price a row by its cells and its sensitive value are sums like these, in units of two parts.
 * Measures that are a product over the columns have a factor per cell. Whatever is none of these is asked class by
 * class, or about the whole release. */
#ifndef KN_ENGINE_LATTICE_PRICES_H
#define KN_ENGINE_LATTICE_PRICES_H

#include "engine/lattice/lattice.h"
#include "measure/measure.h"

/* Prices by cell and sensitive value, and sums of them: whole units in two parts, high << KN_PRICE_BITS | low, so that
 * no sum over a table overflows or depends on its order. */
enum { KN_PRICE_BITS = 31 };
typedef struct kn_value_price {
    uint32_t high, low;
} kn_value_price;
typedef struct kn_value_sum {
    int64_t high, low;
} kn_value_sum;

typedef struct kn_prices {
    kn_owner memory;               /* all arrays */
    const kn_objective *objective; /* borrowed */
    double unit;
    /* Cell measures; NULL otherwise. */
    int64_t **table_sum; /* [q][level]: price of the whole table at that level, in units */
    int64_t ***gap;      /* [q][level][position]: root's price less the position's */
    bool monotone;       /* no value gets cheaper by generalizing it */
    /* Products over the columns; NULL otherwise. */
    double ***factors; /* [q][level][position] */
    /* Prices of rows by sensitive value; NULL otherwise. */
    uint32_t column, n_values;      /* the sensitive column */
    kn_value_price ***value_prices; /* [q][level][position * n_values + value] */
    kn_value_sum **value_table;     /* [q][level]: the whole table */
    kn_value_price *value_root;     /* [value]: of a suppressed row, all columns */
} kn_prices;

kn_status kn_prices_fill(kn_prices *out, const kn_lattice *lattice, const kn_objective *objective, kn_error *err);
void kn_prices_clear(kn_prices *prices);
/* Can a pass over bundles price it, under any monotone models without a population? */
bool kn_prices_by_bundles(const kn_objective *objective);
/* Where prices fall when values are generalized a suppressed row may pay less than its cells did: by no more than this
 * in all, where at most max_suppressed rows are; not above 0. */
int64_t kn_prices_least_more(const kn_prices *prices, const kn_lattice *lattice, uint64_t max_suppressed);

/* Reported loss of a sum in units (cell measures). */
double kn_prices_loss(const kn_prices *prices, int64_t units);
/* Reported loss under a class measure: the sum over the classes that hold, and the class of suppressed rows; NULL: the
 * sum has them. `root`: its cells. */
double kn_prices_class_loss(const kn_prices *prices, long double sum, uint64_t n_classes, uint64_t n_suppressed,
                            const kn_class_counts *suppressed, const kn_cell *root);
/* The sum for it, over all rows of the table at these levels, where suppressed ones pay `more`. */
long double kn_prices_value_sum(const kn_prices *prices, const uint32_t *levels, const kn_value_sum *more);
/* Sums of rounded numbers depend on the order of the classes in their last digits: drops those. */
double kn_prices_round(long double sum);

/* Adds n rows, or takes them out. */
static inline void kn_value_sum_add(kn_value_sum *sum, kn_value_price price, int64_t n)
{
    sum->high += n * price.high;
    sum->low += n * price.low;
}
/* Before `low` could overflow. */
static inline void kn_value_sum_carry(kn_value_sum *sum)
{
    int64_t whole = sum->low >> KN_PRICE_BITS;
    sum->high += whole;
    sum->low -= whole * ((int64_t)1 << KN_PRICE_BITS);
}

#endif
