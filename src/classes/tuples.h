/* The quasi-identifiers as every search sees them: distinct tuples with counts, columns of codes.
 *
 * Rows are touched once, here. A tuple's code in column q is a code of domains[q]. Tuples stand in a fixed order that
 * depends on the data only, not on the number of threads. */
#ifndef KN_CLASSES_TUPLES_H
#define KN_CLASSES_TUPLES_H

#include "base/pool.h"
#include "base/tick.h"
#include "classes/histogram.h"
#include "hierarchy/domain.h"

/* A sensitive column: values, the whole table's distribution, and each tuple's share of it.
 * Histograms count rows, also where a person column exists. */
typedef struct kn_sensitive {
    const kn_column *column;
    uint32_t n_values;       /* in the column's value order, the missing one last */
    uint64_t *value_rows;    /* n_values: rows of the data with that value */
    uint64_t *reference;     /* n_values: of the table that classes are compared with: the same array, unless the data
                                is a part of it */
    uint64_t n_reference;    /* its rows */
    kn_histograms by_tuple;  /* empty until kn_tuples_histograms, called when a model or the measure needs them */
    kn_tree *tree;           /* the column's hierarchy where one was given (hierarchical EMD); owned; leaves are
                                mapped by leaf_of_value */
    uint32_t *leaf_of_value; /* n_values, or NULL without a tree */
    /* Where it was made by kn_tuples_join; otherwise NULL and KN_NONE. A value is then a combination of values of all
     * sensitive columns, ascending by the combination of the others and by the value of `own`. */
    kn_column *joined;   /* what `column` is */
    uint32_t own;        /* a sensitive column */
    uint32_t *own_value; /* n_values: the value there */
    uint32_t *others;    /* n_values: number of the combination in the other sensitive columns */
} kn_sensitive;

/* A person with rows in several tuples. Merging those tuples merges the person: counts of persons are not additive. */
typedef struct kn_person_tuple {
    uint32_t person, tuple;
} kn_person_tuple;

typedef struct kn_tuples {
    kn_owner memory;       /* all arrays below, but what the sensitive columns hold */
    const kn_table *table; /* borrowed */
    uint32_t n_qis;
    kn_domain **domains; /* n_qis; borrowed */
    /* Records of the table, of which row_tuple, row_person and a release's row_class have one entry each, and the rows
     * that they stand for: the same number, unless the table has counts. */
    uint32_t n_records;
    uint64_t n_rows;
    uint64_t n_persons;        /* = n_rows without a person column */
    uint64_t n_person_numbers; /* row_person is below; of some numbers nobody may be there */
    uint32_t n_tuples;
    uint32_t **codes;     /* [q][tuple] */
    uint64_t *rows;       /* rows of a tuple */
    uint64_t *persons;    /* persons of a tuple; the same array as `rows` without a person column */
    uint32_t *row_tuple;  /* n_records */
    uint32_t *row_person; /* n_records: person number; NULL without a person column */
    uint64_t *row_others; /* n_records: as many persons more, the next ones' numbers, are in no other record; or NULL */
    /* The table's sensitive columns, then those that kn_tuples_join made: whoever counts, counts all of them; whoever
     * talks about columns, the table's only. */
    uint32_t n_sensitive, n_table_sensitive;
    kn_sensitive *sensitive;
    /* Persons with several tuples, ascending by person; empty without a person column. The true number of persons of
     * a class is the sum of `persons` less the repeats that this list shows. */
    uint32_t n_repeats;
    kn_person_tuple *repeats;
    /* A safe additive count: each person counts in one of its tuples only, so sums never exceed the truth. Local
     * searches use it. The same array as `persons` when nobody has several tuples. */
    uint64_t *persons_once;
} kn_tuples;

/* Rows that a record stands for, and persons. */
static inline uint64_t kn_tuples_count(const kn_tuples *tuples, uint32_t record)
{
    return tuples->table->counts != NULL ? tuples->table->counts[record] : 1;
}
static inline uint64_t kn_tuples_persons(const kn_tuples *tuples, uint32_t record)
{
    return tuples->row_others != NULL ? tuples->row_others[record] + 1 : 1;
}

/* Domains are in QI order (as the user listed them) and must outlive the result. */
kn_status kn_tuples_new(kn_tuples **out, const kn_table *table, kn_domain *const *domains, uint32_t n_qis,
                        kn_pool *pool, kn_ticker *ticker, kn_error *err);
void kn_tuples_free(kn_tuples *tuples);
/* Fills each sensitive column's histograms per tuple. */
kn_status kn_tuples_histograms(kn_tuples *tuples, kn_pool *pool, kn_error *err);

/* Joins all sensitive columns to one, for the reader of column `own` who knows the others; *out is its number. Asked
 * again, the same. Before kn_tuples_histograms. */
kn_status kn_tuples_join(uint32_t *out, kn_tuples *tuples, uint32_t own, kn_error *err);

/* Rows of each tuple: *start has n_tuples+1 entries, *rows n_records, ascending within a tuple. Yours to kn_free. */
kn_status kn_tuples_rows(uint32_t **start, uint32_t **rows, const kn_tuples *tuples, kn_error *err);

#endif
