// clang-format off
/* The lattice of full-domain generalizations: the classes of any level vector, by roll-up.
 *
 * A node of the lattice is one level per quasi-identifier; its classes are the groups of rows that become equal. The
 * classes of a node come from those of any more specific node, never from the rows: one lookup per changed column and
 * one hash insert per group. Codes stand in pre-order of their tree, each column has a fixed field of bits in the key,
 * and the field holds the position of the tree's node among the nodes of its level that cover a value of the data.
 *
 *     kn_lattice *lattice;          kn_lattice_new(&lattice, tuples, 0, err)
 *     kn_roller *roller;            kn_roller_new(&roller, lattice, err)                                one per thread
 *     kn_groups groups = {0};       kn_groups_roll(&groups, &lattice->base, levels, roller, err)
 *     for g < groups.n              kn_groups_rows(lattice, &groups, g), kn_groups_node(lattice, &groups, g, q)
 *
 * Persons are counted exactly: a person with rows in several groups is carried in a list, and the merged group loses
 * what it would count twice. Histograms of the sensitive columns are carried on request (KN_LATTICE_HISTOGRAMS).
 *
 * Cost of a roll-up: about 5 ns per group of the source; memory: 8 bytes of key (more when a key does not fit into 64
 * bits) and 8 or 16 bytes of counts per group. */
// clang-format on
#ifndef KN_ENGINE_LATTICE_LATTICE_H
#define KN_ENGINE_LATTICE_LATTICE_H

#include "classes/release.h"

enum {
    KN_LATTICE_HISTOGRAMS = 1, /* carry the histograms of the sensitive columns */
    KN_LATTICE_NO_BASE = 2,    /* levels and positions only: `base` stays empty */
    KN_LATTICE_WIDE = 4,       /* tests: keys of several words even where one would do */
};

/* One level of one column. A position numbers the tree's nodes at this level that cover a value of the data, in
 * pre-order. */
typedef struct kn_lattice_level {
    uint32_t n;           /* positions */
    uint32_t *node;       /* [position]: node of the tree */
    uint32_t *first_code; /* [position]: a code of the data below it */
    uint32_t *of_code;    /* [code]: its position; KN_NONE where the data lacks the code */
} kn_lattice_level;

typedef struct kn_lattice_column {
    uint32_t min_level, max_level; /* allowed ones, both included */
    kn_lattice_level *levels;      /* [level], filled from min_level to max_level */
    uint32_t word, shift, n_bits;  /* field in the key */
    size_t stride;                 /* from a node's number to that of the node one level higher here */
} kn_lattice_column;

/* The classes of one node. Zero-initialise it; reuse keeps the memory. */
typedef struct kn_groups {
    uint32_t n;
    uint32_t *levels; /* n_qis */
    uint64_t *keys;   /* n * n_words */
    uint64_t *counts; /* n * width: rows, and persons where they are not rows */
    /* Persons with several groups, ascending by person: what later roll-ups subtract. */
    uint32_t n_repeats;
    kn_person_tuple *repeats;  /* `tuple` is a group here */
    kn_histograms *histograms; /* per sensitive column */
} kn_groups;

typedef struct kn_lattice {
    kn_owner memory;         /* all arrays of columns and levels */
    const kn_tuples *tuples; /* borrowed */
    kn_lattice_column *columns;
    uint32_t n_words; /* per key */
    bool has_persons; /* persons are not rows */
    bool has_histograms;
    uint32_t width; /* counts per group */
    double n_nodes; /* of the lattice, may be huge */
    kn_groups base; /* the most specific allowed node */
} kn_lattice;

/* Nodes are numbered, the first column counting fastest; where there are more than a size_t counts, numbers mean
 * nothing.
 */
static inline uint32_t kn_lattice_levels(const kn_lattice *lattice, uint32_t q)
{
    return lattice->columns[q].max_level - lattice->columns[q].min_level + 1;
}
size_t kn_lattice_number(const kn_lattice *lattice, const uint32_t *levels);
/* Of the marks of all nodes, [number], only those stay that have none below them, however far. */
void kn_lattice_keep_minimal(uint8_t *marks, const kn_lattice *lattice);

/* Scratch of one thread. */
typedef struct kn_roller kn_roller;

/* All domains must be trees. Fails with KN_RESOURCES only. */
kn_status kn_lattice_new(kn_lattice **out, const kn_tuples *tuples, unsigned flags, kn_error *err);
/* Makes the base after all. */
kn_status kn_lattice_add_base(kn_lattice *lattice, kn_error *err);
void kn_lattice_free(kn_lattice *lattice);
/* The column with most distinct values at `levels` that can be generalized, the first of equals; KN_NONE: none. */
uint32_t kn_lattice_widest(const kn_lattice *lattice, const uint32_t *levels);
/* The columns, those whose generalization merges most first: by entropy of the column. *order has n_qis entries, yours
 * to kn_free. */
kn_status kn_lattice_order(uint32_t **order, uint32_t *n_order, const kn_lattice *lattice, kn_error *err);
kn_status kn_roller_new(kn_roller **out, const kn_lattice *lattice, kn_error *err);
void kn_roller_free(kn_roller *roller);

/* The classes at `levels`, each at least from->levels and at most the column's max_level. `out` is not `from`. */
kn_status kn_groups_roll(kn_groups *out, const kn_groups *from, const uint32_t *levels, kn_roller *roller,
                         kn_error *err);
void kn_groups_free(kn_groups *groups, const kn_lattice *lattice); /* what it holds, not the struct */
/* Bytes that n groups take, at most; that these have room for. */
size_t kn_groups_bytes(const kn_lattice *lattice, size_t n);
size_t kn_groups_room(const kn_lattice *lattice, const kn_groups *groups);

/* Position of group g's value in column q among the nodes of its level. */
static inline uint32_t kn_groups_position(const kn_lattice *lattice, const kn_groups *groups, uint32_t g, uint32_t q)
{
    const kn_lattice_column *column = &lattice->columns[q];
    const uint64_t word = groups->keys[(size_t)g * lattice->n_words + column->word];
    return (uint32_t)(word >> column->shift) & (uint32_t)((1ull << column->n_bits) - 1);
}

/* Node of the tree that column q has in group g. */
static inline uint32_t kn_groups_node(const kn_lattice *lattice, const kn_groups *groups, uint32_t g, uint32_t q)
{
    return lattice->columns[q].levels[groups->levels[q]].node[kn_groups_position(lattice, groups, g, q)];
}

/* Rows and persons of a group. */
static inline uint64_t kn_groups_rows(const kn_lattice *lattice, const kn_groups *groups, uint32_t g)
{
    return groups->counts[(size_t)g * lattice->width];
}
static inline uint64_t kn_groups_persons(const kn_lattice *lattice, const kn_groups *groups, uint32_t g)
{
    return groups->counts[(size_t)g * lattice->width + lattice->has_persons];
}

/* Group g as models see it. `buffer` has room for n_sensitive histograms. */
kn_class_counts kn_groups_class(const kn_lattice *lattice, const kn_groups *groups, uint32_t g, kn_histogram *buffer);
/* An entry per value of all sensitive columns. */
size_t kn_lattice_entries(const kn_lattice *lattice);

/* The classes at `levels` straight from the tuples, for whoever must know who is where: *tuple_group has n_tuples
 * entries, yours to kn_free. Groups are numbered by their first tuple. */
kn_status kn_groups_of_tuples(kn_groups *out, uint32_t **tuple_group, const uint32_t *levels, kn_roller *roller,
                              kn_error *err);

#endif
