/* A release in codes: classes, their generalized values and their counts. Made by recode/ from a search's answer, or
 * from two files for `kanon measure`; measures, models, risk and reports take it from here. */
#ifndef KN_CLASSES_RELEASE_H
#define KN_CLASSES_RELEASE_H

#include "classes/tuples.h"

/* What a privacy model is told of a class. */
typedef struct kn_class_counts {
    uint64_t n_rows, n_persons;
    uint64_t n_population;         /* persons of the population file inside the class's cells; 0 without one */
    const kn_histogram *sensitive; /* one per sensitive column; NULL where no model asked for them */
} kn_class_counts;

typedef struct kn_release {
    const kn_tuples *tuples; /* the original; borrowed */
    uint32_t n_classes;      /* the suppressed rows are not one of them */
    kn_cell *cells;          /* [class * n_qis + q] */
    kn_set_pool *sets;       /* of the cells; owned */
    uint64_t *class_rows, *class_persons;
    uint32_t *row_class;   /* n_rows of the original, KN_NONE for suppressed; NULL when made from files */
    uint64_t n_suppressed; /* rows with * in every QI, removed ones included */
    uint64_t n_suppressed_persons;
    uint64_t n_removed;        /* of those, left out of the file: all or none */
    bool suppressed_joined;    /* the suppressed rows that stay look like a class of all *, and are judged with it: */
    uint32_t joined_class;     /* ... this one, ... */
    uint64_t joined_persons;   /* ... which has so many persons with them */
    uint32_t *levels;          /* n_qis, full-domain only; otherwise NULL */
    kn_histograms *histograms; /* n_sensitive: by class; class n_classes is the suppressed rows */
    const struct kn_column_cells *columns; /* n_qis, borrowed; NULL: not counted (column_cells.h) */
} kn_release;

void kn_release_free(kn_release *release);
/* Classes as a reader of the release counts them, and as every command does: rows that look alike. The suppressed ones
 * that stay are a class, the last, unless they look like another; removed ones are none. */
uint32_t kn_release_seen_classes(const kn_release *release);
uint64_t kn_release_seen_persons(const kn_release *release, uint32_t class_index);
/* Fills the histograms from row_class and the table. */
kn_status kn_release_count(kn_release *release, kn_pool *pool, kn_error *err);
/* A class as models see it; `buffer` has room for n_sensitive histograms. `class_index` n_classes: the suppressed. */
kn_class_counts kn_release_class(const kn_release *release, uint32_t class_index, kn_histogram *buffer);

#endif
