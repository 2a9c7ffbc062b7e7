/* Which of several k-minimal generalizations to prefer: the criteria of [SV] section 3, or the measure. */
#ifndef KN_SEARCH_FULL_DOMAIN_PREFERENCE_H
#define KN_SEARCH_FULL_DOMAIN_PREFERENCE_H

#include "engine/lattice/evaluator.h"

#define KN_PREFERENCE_CHOICES "absolute|relative|distribution|suppression|measure"
#define KN_PREFERENCE_HELP                                                                                             \
    "among k-minimal nodes: fewest steps (absolute), fewest steps relative to the hierarchies' heights (relative), "   \
    "most "                                                                                                            \
    "distinct tuples (distribution), fewest suppressed rows (suppression), or the least loss (measure)"

#define KN_PREFERENCE_PARAM(usual)                                                                                     \
    {                                                                                                                  \
        .name = "preference", .type = KN_PARAM_CHOICE, .preset = (usual), .choices = KN_PREFERENCE_CHOICES,            \
        .help = KN_PREFERENCE_HELP                                                                                     \
    }

/* Level vectors, one after the other. */
typedef struct kn_level_list {
    size_t n;
    uint32_t *levels; /* [n * n_qis] */
    size_t capacity;
} kn_level_list;
kn_status kn_level_list_add(kn_level_list *list, const uint32_t *levels, uint32_t n_qis, kn_error *err);
void kn_level_list_free(kn_level_list *list);

/* The one of the list that the task's `preference` says, ties by the order of full_domain.h, as the answer; explains
 * itself to the task's trace. An empty list is refused as kn_full_domain_refuse does. */
kn_status kn_preference_answer(kn_answer *answer, const kn_level_list *list, const kn_full_domain *domain,
                               kn_evaluator *evaluator, kn_error *err);

#endif
