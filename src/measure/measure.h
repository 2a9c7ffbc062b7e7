/* Measures: "what did it cost?" One file per measure, one line in measure.def.
 *
 * Three shapes, from the most to the least useful to a search:
 *   cell   a price per row and cell (LM, tree, entropy): the loss is the sum over cells, per cell
 *   class  a price per class (DM, CM): the loss is the sum over classes and suppressed rows
 *   whole  only the finished release can be priced (KL, PMI in max form)
 * A measure sets exactly one of price_cell, price_class, price_release. */
#ifndef KN_MEASURE_MEASURE_H
#define KN_MEASURE_MEASURE_H

#include "base/param.h"
#include "classes/release.h"

enum {
    KN_MEASURE_NEEDS_CLASS_COLUMN = 1, /* a sensitive column (CM, PMI) */
};

/* Up to KN_VALUE_CLASSES classes with their rows by sensitive value. */
enum { KN_VALUE_CLASSES = 16 };
typedef struct kn_value_lanes {
    uint32_t ask;         /* bit set of the classes in question, none of them empty */
    uint32_t count_bytes; /* of a count: 2 or 4 */
    uint32_t n_values;
    const uint32_t *n_rows; /* [class] */
    const void *counts;     /* [value * KN_VALUE_CLASSES + class] */
} kn_value_lanes;
static inline uint32_t kn_value_count(const kn_value_lanes *classes, uint32_t i, uint32_t value)
{
    size_t at = (size_t)value * KN_VALUE_CLASSES + i;
    return classes->count_bytes == 2 ? ((const uint16_t *)classes->counts)[at]
                                     : ((const uint32_t *)classes->counts)[at];
}

typedef struct kn_measure {
    const char *name, *summary, *citation;
    const kn_param *params;
    size_t n_params;
    unsigned needs;
    bool monotone;     /* generalizing never lowers it */
    bool uniform;      /* all rows of a class pay the same */
    bool sub_additive; /* two cells that share a value cost together at least what the smallest cell that holds both
                          does, also where cells are intervals or sets; on a tree every measure is that */
    bool per_cell;     /* prices are weighted by column and the loss is divided by rows * weights, so it lies in a fixed
                          range. A cell measure without it is a plain count, without weights */
    /* NULL, or the monotone measure that gives every global recoding without suppressed rows the same loss. */
    const struct kn_measure *same_without_suppression;
    bool higher_is_better; /* reported, never minimized (precision) */
    kn_status (*prepare)(void **state, const kn_tuples *tuples, const kn_args *args, kn_error *err); /* may be NULL */
    void (*discard)(void *state);
    /* Price of one row in this cell of QI q, without the column's weight. */
    double (*price_cell)(const void *state, const kn_tuples *tuples, const kn_set_pool *sets, uint32_t q,
                         const kn_cell *cell);
    /* The same price for a set that a search is still changing, from what can be kept count of: distinct values, rows
     * of the table with one of them, and the sum over those values of rows * log2(rows). NULL: only price_cell knows,
     * and searches over sets follow the number of values. */
    double (*price_counts)(const void *state, const kn_tuples *tuples, uint32_t q, uint32_t n_values, uint64_t n_rows,
                           double rows_log_rows);
    /* Cell measures that also depend on the row's own value (non-uniform entropy): the row pays
     * price_cell - value_discount(its code). The sum of the discounts over the table is a constant, so a search may
     * ignore them. NULL: none. */
    double (*value_discount)(const void *state, const kn_tuples *tuples, uint32_t q, uint32_t code);
    /* Price of a class (all its rows together); `cells` its n_qis cells. `suppressed`: the class of suppressed rows. */
    double (*price_class)(const void *state, const kn_tuples *tuples, const kn_class_counts *counts,
                          const kn_cell *cells, const kn_set_pool *sets, bool suppressed);
    /* Class measures that look at the sizes of classes only: what a released class costs, and each of its rows squared.
     * NULL: there is more to them. */
    const double *by_size;
    /* Class measures: every release loses at least the price of its suppressed rows, which depends on their number
     * only. */
    bool suppression_bounds;
    /* Two ways in which engines that price millions of classes ask class measures, where they can answer; otherwise
     * NULL. Those that look at nothing but the values of objective->column in the class: price_class of classes that
     * are released, given as kn_value_lanes: prices[class] of those asked for. */
    void (*price_values)(double *prices, const void *state, const kn_value_lanes *classes);
    /* Those that are a sum over rows and columns: the price of one row with this value of objective->column in this
     * cell of QI q, the column's weight included, not below zero; suppressed rows have the whole domain. With `product`
     * a row costs the product over the columns instead, whatever its value. */
    double (*price_row)(const void *state, const kn_tuples *tuples, const kn_set_pool *sets, uint32_t q,
                        const kn_cell *cell, uint32_t value);
    bool product;
    /* Measures that follow from how much every released column still says about the class column (I(Y; column),
     * private_information.h, which is their state): the loss, from these. Where several are asked for, they are found
     * once. */
    double (*price_columns)(const kn_tuples *tuples, double table_entropy, const double *columns);
    /* Both or none: the loss is that of these two, `w` (a parameter) of the first and the rest of the second. */
    const struct kn_measure *mixes[2];
    /* `brief`: NAN where it would take more than its share of a run. */
    kn_status (*price_release)(double *loss, const void *state, const kn_release *release, bool brief, kn_pool *pool,
                               kn_error *err);
    /* class measures: what turns the sum into the reported figure (NULL: the sum itself) */
    double (*finish)(const void *state, const kn_release *release, double sum);
} kn_measure;

/* Sum of the columns' weights. */
static inline double kn_tuples_weight(const kn_tuples *tuples)
{
    double sum = 0;
    for (uint32_t q = 0; q < tuples->n_qis; q++) sum += tuples->domains[q]->weight;
    return sum;
}

/* A measure ready for use on one table: what a search minimizes. */
typedef struct kn_objective {
    const kn_measure *type;
    const kn_tuples *tuples;
    kn_args args;
    void *state;
    double scale;        /* the reported loss of a cell measure is (sum of weighted prices - discount) * scale */
    double discount;     /* sum of the value discounts of all rows, weighted */
    double **node_price; /* cell measures: [q][node] for TREE domains, weight included; NULL for the others */
    double *root_price;  /* cell measures: [q] price of the whole domain, weight included: what a suppressed row pays */
    uint32_t column;     /* the one that a measure looks at which needs a class column, among tuples->sensitive */
} kn_objective;

const kn_measure *const *kn_measure_all(size_t *n);
const kn_measure *kn_measure_find(const char *name);

/* Joins the sensitive columns where the measure looks at them together; before kn_objective_new. */
kn_status kn_measure_join(const char *spec, kn_tuples *tuples, kn_error *err);
/* `spec`: "lm", or "name:param=value,...". */
kn_status kn_objective_new(kn_objective **out, const char *spec, const kn_tuples *tuples, kn_error *err);
void kn_objective_free(kn_objective *objective);
/* Two classes with equal cells cost together what they cost apart. */
static inline bool kn_objective_is_additive(const kn_objective *objective)
{
    return objective->type->price_cell != NULL || objective->type->price_row != NULL;
}
/* Weighted price of one row in a cell of QI q (cell measures). */
double kn_objective_price(const kn_objective *objective, const kn_set_pool *sets, uint32_t q, const kn_cell *cell);
/* The loss of a finished release, as reported. */
kn_status kn_objective_loss(double *loss, const kn_objective *objective, const kn_release *release, kn_error *err);
/* Every measure that this table allows, each with its default parameters (cm, pmi and the like look at the first
 * sensitive column), in the order of the registry. Measures that need a sensitive column are left out where there is
 * none. The same figures for any number of threads. `brief`: what would take more than its share of a run is left out,
 * as NAN. */
typedef struct kn_measured {
    const kn_measure *type;
    double value;
} kn_measured;
typedef struct kn_measure_report {
    size_t n;
    kn_measured *items;
} kn_measure_report;
kn_status kn_measure_report_new(kn_measure_report **out, const kn_release *release, bool brief, kn_pool *pool,
                                kn_error *err);
void kn_measure_report_free(kn_measure_report *report);
/* The loss that falls on QI q alone, per cell of that column (cell measures; otherwise NAN). */
kn_status kn_objective_column_loss(double *loss, const kn_objective *objective, const kn_release *release, uint32_t q,
                                   kn_error *err);

#endif
