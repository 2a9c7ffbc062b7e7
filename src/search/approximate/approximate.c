/* Answers and guarantees of the approximations; see the header. */
#include "search/approximate/approximate.h"

#include "engine/closure/class_members.h"
#include "search/approximate/near.h"

#include <math.h>
#include <string.h>

bool kn_approximate_is_monotone(const kn_task *task, uint32_t *column)
{
    const kn_objective *objective = task->objective;
    for (uint32_t q = 0; q < task->tuples->n_qis; q++) {
        const kn_domain *domain = task->tuples->domains[q];
        *column = q;
        if (domain->kind == KN_DOMAIN_TREE ? !kn_prices_grow(domain->tree, objective->node_price[q])
                                           : !objective->type->monotone)
            return false;
    }
    return true;
}

static bool is_sub_additive(const kn_task *task, unsigned proof, uint32_t *column)
{
    for (uint32_t q = 0; q < task->tuples->n_qis; q++) {
        const kn_domain_kind kind = task->tuples->domains[q]->kind;
        *column = q;
        if (kind != KN_DOMAIN_TREE && !task->objective->type->sub_additive) return false;
        if (kind == KN_DOMAIN_SETS && (proof & KN_PROOF_NO_SETS)) return false;
        /* two small sets may be a large group together, and two subsets everything */
        if (task->tuples->domains[q]->groups != NULL || task->tuples->domains[q]->subsets != NULL) return false;
    }
    return true;
}

void kn_approximate_guarantee(kn_answer *answer, const kn_task *task, const char *theorem, double ratio, unsigned proof)
{
    uint32_t column = KN_NONE;
    kn_say why = KN_SAY_NOTHING;
    if (!task->models->counts_only) why = KN_SAY_UNPROVEN_MODELS;
    else if (task->tuples->n_persons != task->tuples->n_rows) why = KN_SAY_UNPROVEN_PERSONS;
    else if (task->max_suppressed > 0 && (proof & KN_PROOF_NO_SUPPRESSION)) why = KN_SAY_UNPROVEN_SUPPRESSION;
    else if (!task->objective->type->uniform) why = KN_SAY_UNPROVEN_UNIFORM;
    else if (!kn_approximate_is_monotone(task, &column)) why = KN_SAY_UNPROVEN_MONOTONE;
    else if (!is_sub_additive(task, proof, &column)) why = KN_SAY_UNPROVEN_SUB_ADDITIVE;
    bool about_column = why == KN_SAY_UNPROVEN_MONOTONE || why == KN_SAY_UNPROVEN_SUB_ADDITIVE;
    answer->guarantee = (kn_guarantee){.theorem = theorem,
                                       .ratio = ratio,
                                       .optimum = task->max_suppressed > 0 ? KN_OPTIMUM_SUPPRESSED : KN_OPTIMUM_CLASSES,
                                       .holds = why == KN_SAY_NOTHING,
                                       .unproven = why,
                                       .column = about_column ? column : KN_NONE};
}

/* Rows of one person with equal quasi-identifiers stay together, in the class of the first of them. */
static kn_status repair(kn_answer *answer, const kn_task *task, const uint32_t *row_class, uint32_t n_classes,
                        const char *stage, kn_error *err)
{
    kn_status status = KN_OK;
    kn_items *items = NULL;
    kn_pricer *pricer = NULL;
    kn_class_members *clusters = NULL;
    KN_TRY(kn_items_new(&items, task->tuples, 1, (task->models->needs & KN_NEEDS_HISTOGRAM) != 0, err));
    KN_TRY(kn_pricer_new(&pricer, task->objective, err));
    KN_TRY(kn_class_members_new(&clusters, task, items, pricer, n_classes, err));
    clusters->n = n_classes;
    for (uint32_t i = 0; i < items->n; i++) kn_class_members_add(clusters, row_class[items->rows[items->start[i]]], i);
    KN_TRY(kn_class_members_merge_small(clusters, task->pool, stage, err));
    KN_TRY(kn_class_members_answer(answer, clusters, err));
done:
    kn_class_members_free(clusters);
    kn_pricer_free(pricer);
    kn_items_free(items);
    return status;
}

kn_status kn_approximate_answer(kn_answer *answer, const kn_task *task, const uint32_t *row_class, uint32_t n_classes,
                                const char *stage, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = task->tuples;
    if (!task->models->counts_only || tuples->n_persons != tuples->n_rows)
        return repair(answer, task, row_class, n_classes, stage, err);
    answer->recoding = KN_RECODING_LOCAL;
    answer->bound = NAN;
    answer->n_classes = n_classes;
    KN_NEW_RAW(answer->row_class, tuples->n_rows);
    if (tuples->n_rows > 0) memcpy(answer->row_class, row_class, tuples->n_rows * sizeof *row_class);
done:
    return status;
}
