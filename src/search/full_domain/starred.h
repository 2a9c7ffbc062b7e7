/* The groups of a node, some of their cells suppressed, put together to classes: what searches share that suppress
 * single cells after full-domain levels. A suppressed cell is the whole domain. */
#ifndef KN_SEARCH_FULL_DOMAIN_STARRED_H
#define KN_SEARCH_FULL_DOMAIN_STARRED_H

#include "classes/group.h"
#include "engine/lattice/evaluator.h"

typedef struct kn_starred {
    kn_owner memory; /* all arrays but those of the groups */
    const kn_full_domain *domain;
    kn_groups groups;
    uint32_t *tuple_group; /* [tuple] */
    uint64_t *stars;       /* [group]: a bit per column whose cell is suppressed; set by the caller, at first 0 */
    uint32_t *class_of;    /* [group]; KN_NONE: in none, as all are at first */
    uint32_t n_classes;
    kn_cell *cells; /* [class * n_qis + q], and room for one class more */
    /* Scratch: of groups, ... */
    uint32_t **nodes; /* [q][item] */
    kn_group_column *columns;
    uint32_t *alike; /* [item] */
    /* ... of a class: sums of its sensitive values, all 0 between uses, and the same as lists */
    uint64_t *sums;
    uint32_t *entries;
    uint64_t *entry_counts;
    kn_histogram *histograms; /* two per sensitive column */
} kn_starred;

kn_status kn_starred_init(kn_starred *out, const kn_full_domain *domain, kn_evaluator *evaluator,
                          const uint32_t *levels, kn_error *err);
void kn_starred_free(kn_starred *starred); /* what it holds */
/* The node of a group in column q; the root where the cell is suppressed, or missing and may be any value. */
uint32_t kn_starred_node(const kn_starred *starred, uint32_t group, uint32_t q, bool is_suppressed);
/* Makes classes of those of the groups items[0], ... (NULL: of all) that look alike with their cells suppressed and for
 * which the models then hold. Groups of which nothing is left are no class. */
kn_status kn_starred_release(kn_starred *starred, const uint32_t *items, uint32_t n, kn_error *err);
/* [record]: its class, from now on. */
void kn_starred_row_classes(uint32_t *row_class, const kn_starred *starred);

#endif
