/* What the local searches share: the rows as items that may be moved between classes, the price of a class's closure
 * in one column, and the counts by which models judge a class.
 *
 * An item is a set of rows with equal quasi-identifiers, at most `max_persons` persons of them: whole distinct tuples
 * (no limit), single rows or persons (limit 1), or pieces of k. Rows that stand together in an item stay together, so
 * a search never has to think of a person's rows one by one. */
#ifndef KN_ENGINE_CLOSURE_CLOSURE_H
#define KN_ENGINE_CLOSURE_CLOSURE_H

#include "search/search.h"

#include <math.h>

typedef struct kn_items {
    const kn_tuples *tuples;
    uint32_t n;
    uint32_t *tuple;          /* n */
    uint32_t *start;          /* n + 1: rows[start[i]] .. rows[start[i+1]-1] are the rows of item i */
    uint32_t *rows;           /* every row of the table once; NULL, and `start` too: item i is tuple i */
    uint32_t *persons;        /* n: each person counts in one item only, so sums never exceed the truth */
    kn_histograms *sensitive; /* n_sensitive; NULL when no model asked for histograms */
} kn_items;

#define KN_WHOLE_TUPLES UINT64_MAX

/* `max_persons`: KN_WHOLE_TUPLES, or the largest number of persons in an item; 1 keeps persons apart. */
kn_status kn_items_new(kn_items **out, const kn_tuples *tuples, uint64_t max_persons, bool histograms, kn_error *err);
/* The models or the measure look at sensitive values: items need histograms. */
static inline bool kn_task_needs_values(const kn_task *task)
{
    return (task->models->needs & KN_NEEDS_HISTOGRAM) != 0 ||
           (task->objective->type->needs & KN_MEASURE_NEEDS_CLASS_COLUMN) != 0;
}
void kn_items_free(kn_items *items);
/* With counts, items are whole tuples. */
static inline uint32_t kn_items_rows(const kn_items *items, uint32_t item)
{
    if (items->start == NULL || items->tuples->table->counts != NULL)
        return (uint32_t)items->tuples->rows[items->tuple[item]];
    return items->start[item + 1] - items->start[item];
}
/* The answer in which item i is in class item_class[i] (KN_NONE: suppressed), `n_classes` of them. */
kn_status kn_items_answer(kn_answer *answer, const kn_items *items, const uint32_t *item_class, uint32_t n_classes,
                          kn_error *err);

/* (*places)[code], from 0 to 1, yours to kn_free: where the code stands between the ends of its domain. `by_value`:
 * columns of numbers and dates by their values, if these ascend with the codes; a code that the data lacks, or that is
 * missing, stands with the one before it. Otherwise evenly spaced. */
kn_status kn_code_places(double **places, const kn_domain *domain, bool by_value, kn_error *err);

/* --- Closures and their price ---------------------------------------------------------------------------------- */

/* The codes of a class in one column, as far as its closure and price depend on them. The last three count distinct
 * values and are kept for SETS domains only. */
typedef struct kn_span {
    uint32_t first, last; /* first > last: empty */
    uint32_t n_values;
    uint32_t member;      /* of `subsets`: the closure; counts once there is a value */
    uint64_t n_rows;      /* rows of the table with one of the values */
    double rows_log_rows; /* sum over the values of rows * log2(rows) */
} kn_span;

static inline kn_span kn_span_empty(void) { return (kn_span){.first = KN_NONE}; }

/* Prices of closures. A measure that is no sum over cells gets prices that a search can follow: where it looks at a
 * sensitive column and its price of a class tells nodes of a tree apart, what a row in the node costs on average;
 * otherwise the normalized width of the closure. */
typedef struct kn_pricer {
    kn_owner memory; /* all arrays that are not the objective's */
    const kn_objective *objective;
    uint32_t n_qis;
    bool by_cell;      /* the objective's own prices */
    kn_set_pool *sets; /* of members of `subsets`; NULL: no column has any */
    struct kn_column_price {
        const kn_domain *domain;
        const double *node_price; /* TREE: the objective's, or what a search can follow instead */
        double *member_price;     /* `subsets`: of every member ... */
        kn_cell *member_cell;     /* ... with its set in `sets` */
        double root_price;
        double per_value; /* (root price) / (n_codes - 1) */
        bool by_counts;   /* a set of some of the values costs its price_counts, times this weight */
        double weight;
        double *rows_log_rows;   /* per code: of kn_span */
        double *rows_log_before; /* n_codes + 1: sums of it */
    } * columns;
} kn_pricer;

kn_status kn_pricer_new(kn_pricer **out, const kn_objective *objective, kn_error *err);
void kn_pricer_free(kn_pricer *pricer);
/* Does a closure that grows never become cheaper? */
bool kn_pricer_is_monotone(const kn_pricer *pricer);
/* What a search that has nothing but these prices minimized instead of the measure; KN_SAY_NOTHING: the measure. */
kn_say kn_pricer_followed(const kn_pricer *pricer);
/* Weighted price of one row whose value in column q is released as the closure of `span` (not empty). */
double kn_pricer_price(const kn_pricer *pricer, uint32_t q, const kn_span *span);
/* The cell that a span is released as; not of SETS without `subsets`. Sets are in pricer->sets. */
kn_cell kn_pricer_cell(const kn_pricer *pricer, uint32_t q, const kn_span *span);
/* The same of a TREE or RANGES column. */
kn_cell kn_span_cell(const kn_domain *domain, const kn_span *span);
/* TREE: the lowest node that covers both codes. */
uint32_t kn_closure_node(const kn_tree *tree, uint32_t first, uint32_t last);

static inline void kn_span_add_value(kn_span *span, const struct kn_column_price *column, uint32_t code)
{
    const kn_subsets *subsets = column->domain->subsets;
    if (subsets != NULL) span->member = span->n_values == 0 ? code : kn_subsets_with(subsets, span->member, code);
    span->n_values++;
    span->n_rows += kn_domain_code_rows(column->domain, code);
    span->rows_log_rows += column->rows_log_rows[code];
}

/* The closure of a class that items are added to one by one. One thread's own. */
typedef struct kn_growing {
    kn_owner memory; /* all arrays */
    const kn_pricer *pricer;
    const kn_tuples *tuples;
    uint32_t **stamp; /* SETS: [q][code], the number of the class that last met the value */
    uint32_t n_classes;
    kn_span *spans;             /* n_qis */
    double *prices;             /* n_qis; NAN: to be priced again */
    uint32_t n_open, *open;     /* columns that may grow ... */
    uint32_t n_summed, *summed; /* ... and these with those that cost something: the price is their sum, in order */
    double price;
    bool changed;
} kn_growing;

kn_status kn_growing_init(kn_growing *growing, const kn_pricer *pricer, const kn_tuples *tuples, kn_error *err);
void kn_growing_free(kn_growing *growing); /* what it holds */
void kn_growing_clear(kn_growing *growing);
/* From here on, until all is cleared, only these columns grow (they ascend), and only they are cleared by the other. */
void kn_growing_settle(kn_growing *growing, const uint32_t *open, uint32_t n_open);
void kn_growing_clear_open(kn_growing *growing);
bool kn_growing_add_code(kn_growing *growing, uint32_t q, uint32_t code); /* true when the span grew */
/* The same for a code that was not added before, which the caller has to know; it is not remembered that it was. */
static inline void kn_growing_add_new(kn_growing *growing, uint32_t q, uint32_t code)
{
    kn_span *span = &growing->spans[q];
    if (growing->stamp[q] != NULL) kn_span_add_value(span, &growing->pricer->columns[q], code);
    if (code < span->first) span->first = code;
    if (code > span->last) span->last = code;
    growing->prices[q] = NAN;
    growing->changed = true;
}
/* Columns that are no sets: from the first to the last code. */
static inline void kn_growing_span(kn_growing *growing, uint32_t q, uint32_t first, uint32_t last)
{
    kn_span *span = &growing->spans[q];
    if (first == span->first && last == span->last) return;
    span->first = first;
    span->last = last;
    growing->prices[q] = NAN;
    growing->changed = true;
}
void kn_growing_add(kn_growing *growing, uint32_t tuple);
double kn_growing_price(kn_growing *growing); /* of one row, all columns; 0 for an empty class */

/* --- Counts for models ----------------------------------------------------------------------------------------- */

/* Rows, persons and dense histograms of one class that changes all the time. */
typedef struct kn_tally {
    kn_owner memory; /* all arrays */
    const kn_items *items;
    uint32_t n_sensitive; /* 0 without histograms */
    uint64_t n_rows, n_persons;
    uint64_t **counts;  /* [sensitive][value]; behind them room for the lists that models read ... */
    uint32_t **listed;  /* ... with their values ... */
    kn_histogram *view; /* ... which are these */
} kn_tally;

kn_status kn_tally_init(kn_tally *tally, const kn_items *items, kn_error *err);
void kn_tally_free(kn_tally *tally); /* what it holds */
void kn_tally_clear(kn_tally *tally);
void kn_tally_add(kn_tally *tally, uint32_t item);
/* Do the models hold for `whole` less `part` (NULL: nothing)? */
bool kn_tally_holds(const kn_models *models, kn_tally *whole, const kn_tally *part);

#endif
