/* `kanon lattice`: all nodes with smallest class, suppressed rows and measures. */
#ifndef KN_ENGINE_LATTICE_LATTICE_TABLE_H
#define KN_ENGINE_LATTICE_LATTICE_TABLE_H

#include "engine/lattice/walk.h"

typedef struct kn_lattice_entry {
    kn_node node;    /* its loss is under the task's objective */
    uint32_t height; /* sum of the levels */
    bool minimal;    /* feasible, and no feasible node lies below */
} kn_lattice_entry;

typedef struct kn_lattice_table {
    const kn_tuples *tuples;
    size_t n; /* nodes, by level vector, the last QI counting fastest */
    kn_lattice_entry *entries;
    uint32_t *levels; /* [node * n_qis] */
    size_t n_measures;
    const kn_measure **measures;
    double *losses; /* [node * n_measures], as reported; NAN: not computed */
    size_t best;    /* the best feasible node under the task's objective; n: none */
} kn_lattice_table;

/* `objectives`: the measures to list besides; borrowed. KN_USAGE beyond max_nodes, naming both numbers. Measures that
 * need the whole release are left out (NAN) where that would take too long: nodes times rows beyond some hundred
 * million. */
kn_status kn_lattice_table_new(kn_lattice_table **out, const kn_task *task, const kn_objective *const *objectives,
                               size_t n_objectives, size_t max_nodes, kn_error *err);
void kn_lattice_table_free(kn_lattice_table *table);

#endif
