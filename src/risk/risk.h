/* What an attacker can do with a table or a release: how likely a person is found, which columns find them, what is
 * learned about them, and how many would be unique in the population that the table was drawn from.
 *
 * Everything here counts; nothing here shows a value of the data. Numbers are of persons where a person column exists,
 * otherwise of rows. A person who stands in several classes counts once, with the class that gives them away soonest:
 * the smallest, the one that discloses. */
#ifndef KN_RISK_RISK_H
#define KN_RISK_RISK_H

#include "base/pool.h"
#include "base/tick.h"
#include "classes/release.h"
#include "hierarchy/released_cell.h"

#define KN_RISK_THRESHOLD 0.09 /* the usual one for public clinical data: classes of 11 */

/* --- Class sizes: prosecutor, journalist, marketer (El Emam) ------------------------------------------------------ */

typedef struct kn_risk_range {
    double highest, average, lowest; /* over persons; 0 without any */
} kn_risk_range;

/* Classes of `from` .. `to` persons. */
typedef struct kn_size_bin {
    uint64_t from, to, n_classes, n_persons;
} kn_size_bin;
#define KN_MAX_SIZE_BINS 64

typedef struct kn_risk_sizes {
    uint64_t n_persons, n_classes, n_unique; /* n_unique: persons who are alone in their class */
    uint64_t smallest, largest;              /* class; 0 without classes */
    double threshold;
    uint64_t n_above; /* persons in classes smaller than the threshold asks for */
    /* The prosecutor knows that the person is in the table: 1 / size of the class. The marketer wants many hits and
     * expects the prosecutor's average. */
    kn_risk_range prosecutor;
    /* The journalist does not know it, and looks in the population: 1 / size of the class there. Without a population
     * the table is taken as the whole of it, and the journalist is the prosecutor. */
    kn_risk_range journalist;
    double marketer;
    size_t n_bins;
    kn_size_bin bins[KN_MAX_SIZE_BINS]; /* ascending; sizes without classes are left out */
} kn_risk_sizes;

/* Who stands in which class. */
typedef struct kn_risk_classes {
    const uint64_t *sizes; /* n_classes: persons */
    size_t n_classes;
    const uint32_t *person_class; /* n_persons: the smallest class that each is in, KN_NONE: in none; NULL: nobody is in
                                     two, so that the sizes say everything */
    size_t n_persons;
    uint64_t *own_sizes;
    uint32_t *own_person_class;
} kn_risk_classes;

/* Of a table as it is (its distinct tuples) and of a release (the suppressed rows that are still in it are one class).
 * kn_risk_classes_free frees what it holds. */
kn_status kn_risk_classes_of_tuples(kn_risk_classes *out, const kn_tuples *tuples, kn_error *err);
kn_status kn_risk_classes_of_release(kn_risk_classes *out, const kn_release *release, kn_error *err);
void kn_risk_classes_free(kn_risk_classes *classes);

/* `populations`: size of each class in the population, at least its size here; or NULL, then every class is taken
 * 1/fraction times as large there (fraction 1: the table is the population). Classes of size 0 are skipped. */
void kn_risk_sizes_count(kn_risk_sizes *out, const kn_risk_classes *classes, const uint64_t *populations,
                         double fraction, double threshold);
/* The smallest class that a threshold accepts: 11 for 0.09, 5 for 0.2. */
uint64_t kn_risk_smallest_accepted(double threshold);

/* --- Population uniqueness from a sampling fraction (Dankar et al. 2012) ------------------------------------------ */

typedef enum kn_estimator { KN_ESTIMATOR_ZAYATZ, KN_ESTIMATOR_PITMAN, KN_ESTIMATOR_SNB, KN_N_ESTIMATORS } kn_estimator;

typedef struct kn_risk_estimate {
    double fraction;                  /* of the population that is in the table */
    double population;                /* persons in it */
    double n_unique[KN_N_ESTIMATORS]; /* of the population; NAN: no solution */
    kn_estimator chosen;              /* by Dankar's rule */
} kn_risk_estimate;

const char *kn_estimator_name(kn_estimator estimator);
/* `fraction` in (0, 1]. */
kn_status kn_risk_estimate_uniques(kn_risk_estimate *out, const uint64_t *sizes, size_t n_classes, double fraction,
                                   kn_error *err);

/* --- Column sets and minimal sample uniques (SUDA) ---------------------------------------------------------------- */

typedef struct kn_column_set {
    uint64_t columns; /* bit q: QI q is in the set */
    uint32_t n_columns;
    uint64_t n_unique;  /* persons who have some combination of values to themselves */
    uint64_t n_minimal; /* persons with one that is not unique on any smaller set: minimal sample uniques */
    uint64_t n_groups;  /* combinations of values */
} kn_column_set;

typedef struct kn_column_risk {
    uint32_t max_size; /* of the sets looked at: what was asked for, or fewer to stay within the budget */
    size_t n_sets;
    kn_column_set *sets;       /* by size, then by columns */
    uint64_t *minimal_of_size; /* max_size + 1 */
    double *contribution;      /* per QI: share of all SUDA scores that comes from minimal uniques with that column */
    uint64_t n_with_minimal;   /* persons with at least one minimal unique */
} kn_column_risk;

/* All sets of up to max_size QIs (at most 64 QIs). `budget`: sets times tuples; 0: about ten seconds of work. */
kn_status kn_column_risk_new(kn_column_risk **out, const kn_tuples *tuples, uint32_t max_size, uint64_t budget,
                             kn_pool *pool, kn_ticker *ticker, kn_error *err);
void kn_column_risk_free(kn_column_risk *risk);
/* Up to n sets of at most max_size columns that single persons out, none of which contains another: one after the other
 * the set with most minimal uniques that is neither part of a listed one nor holds one. Listed by the persons whom they
 * single out, ties by fewer columns. Indices into `sets`; returns how many. */
size_t kn_column_risk_top(size_t *out, size_t n, const kn_column_risk *risk, uint32_t max_size);

/* --- What is learned about the sensitive columns ------------------------------------------------------------------ */

typedef struct kn_disclosure {
    uint64_t n_certain;   /* persons in classes where everybody has the same value */
    double largest_shift; /* of belief: largest difference between a value's share in a class and in the table */
    double average_shift; /* over persons: total variation distance between class and table */
    /* Classes, and those that fall to an attack of [SV] 5; a class with a missing value falls to none of them. */
    uint64_t n_classes;
    uint64_t n_one_value;  /* homogeneity: everybody has the same value */
    uint64_t n_two_values; /* background knowledge: who can exclude one value knows the other */
    /* similarity: several values, but all below one node of the column's hierarchy that is not its root, or numbers in
     * a tenth of the column's range */
    uint64_t n_similar;
} kn_disclosure;

/* One per sensitive column, in `out`. A class in which the value is always missing discloses nothing. */
kn_status kn_disclosure_of_tuples(kn_disclosure *out, const kn_tuples *tuples, kn_error *err);
kn_status kn_disclosure_of_release(kn_disclosure *out, const kn_release *release, kn_error *err);

/* --- An attack: link a file with names to a release on the QIs ---------------------------------------------------- */

typedef struct kn_attack_column {
    uint32_t release, known; /* column numbers in the two tables */
    kn_cell_reading reading; /* `form` and, where it is AUTO, `type` are found in the attacker's cells */
} kn_attack_column;

typedef struct kn_attack_result {
    uint64_t n_persons;      /* rows of the attacker's file; where its persons are known, those */
    uint64_t n_not_found;    /* no row of the release fits */
    uint64_t n_fewer_than_k; /* 1 .. k-1 rows fit */
    uint64_t n_unique;       /* one row fits */
    uint64_t smallest;       /* fewest rows that fit anybody who is found; 0: nobody is */
    double expected_hits;    /* sum of 1 / rows that fit */
    uint64_t *n_disclosed;   /* per sensitive column: all rows that fit have one and the same value */
} kn_attack_result;

typedef struct kn_attack_options {
    uint64_t k;
    bool guard_formulas; /* released cells may carry a leading ' (base/formula.h) */
    bool redact;
} kn_attack_options;

/* `sensitive`: column numbers of the release. The rows of `release` that fit are counted. A released cell that cannot
 * be read, or a word that may be the label of a hierarchy which was not given while somebody fits no other cell of the
 * column, is KN_INPUT: whom it covers is then unknown, and "nobody" would be a lie. */
kn_status kn_attack_run(kn_attack_result **out, const kn_table *release, const kn_table *known,
                        const kn_attack_column *columns, size_t n_columns, const uint32_t *sensitive,
                        size_t n_sensitive, const kn_attack_options *options, kn_pool *pool, kn_ticker *ticker,
                        kn_error *err);
void kn_attack_result_free(kn_attack_result *result);

#endif
