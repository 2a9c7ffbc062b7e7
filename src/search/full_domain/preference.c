/* Preference criteria; see the header. Cost: one evaluation per candidate, in an order in which neighbours share most
 * of the work; where steps decide, candidates with more steps than others are not evaluated. */
#include "search/full_domain/preference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lower is better. `name` is one of the choices. */
static double score_of(const char *name, const kn_node *node, const uint32_t *levels, const kn_tuples *tuples)
{
    double absolute = 0, relative = 0;
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        uint32_t height = tuples->domains[q]->tree->n_levels - 1;
        absolute += levels[q];
        relative += height > 0 ? (double)levels[q] / height : 0;
    }
    if (strcmp(name, "absolute") == 0) return absolute;
    if (strcmp(name, "relative") == 0) return relative;
    if (strcmp(name, "distribution") == 0) return -(double)node->n_classes;
    if (strcmp(name, "suppression") == 0) return (double)node->n_suppressed;
    return node->loss;
}

kn_status kn_level_list_add(kn_level_list *list, const uint32_t *levels, uint32_t n_qis, kn_error *err)
{
    kn_status status = KN_OK;
    if (list->n == list->capacity) {
        KN_GROW(list->levels, (2 * list->capacity + 16) * (n_qis + 1));
        list->capacity = 2 * list->capacity + 16;
    }
    memcpy(list->levels + list->n++ * n_qis, levels, n_qis * sizeof *levels);
done:
    return status;
}

void kn_level_list_free(kn_level_list *list)
{
    kn_free(list->levels);
    *list = (kn_level_list){0};
}

static void explain(kn_trace *trace, const kn_node *node, const uint32_t *levels, const kn_tuples *tuples)
{
    if (trace == NULL || !trace->explain) return;
    kn_levels_text(&trace->explanation, levels, tuples->n_qis);
    kn_buffer_printf(
        &trace->explanation,
        ": absolute distance %.0f, relative distance %.6g, %llu distinct tuples, %llu rows suppressed, loss "
        "%.6g\n",
        score_of("absolute", node, levels, tuples), score_of("relative", node, levels, tuples),
        (unsigned long long)node->n_classes, (unsigned long long)node->n_suppressed, node->loss);
}

/* A node to be looked at. */
typedef struct candidate {
    const uint32_t *levels, *order; /* order: of the columns, for sorting */
    uint32_t n_qis;
    double steps; /* the score, where it does not depend on the classes */
    kn_node node;
} candidate;

static int by_roll_order(const void *a, const void *b)
{
    const candidate *x = *(candidate *const *)a, *y = *(candidate *const *)b;
    for (uint32_t i = 0; i < x->n_qis; i++) {
        uint32_t q = x->order[i];
        if (x->levels[q] != y->levels[q]) return x->levels[q] < y->levels[q] ? -1 : 1;
    }
    return 0;
}

/* Sorts and evaluates those of the fewest steps; the others' scores are no better. */
static kn_status evaluate(candidate **sorted, size_t n, double fewest, const kn_full_domain *domain,
                          kn_evaluator *evaluator, kn_error *err)
{
    kn_status status = KN_OK;
    qsort(sorted, n, sizeof *sorted, by_roll_order);
    for (size_t i = 0; i < n; i++) {
        if (sorted[i]->steps > fewest) continue;
        KN_TRY(kn_tick(domain->task->ticker, "search", (double)i / (double)n, err));
        KN_TRY(kn_evaluate_levels(&sorted[i]->node, evaluator, sorted[i]->levels, err));
    }
done:
    return status;
}

kn_status kn_preference_answer(kn_answer *answer, const kn_level_list *list, const kn_full_domain *domain,
                               kn_evaluator *evaluator, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = domain->task->tuples;
    const char *name = kn_args_text(domain->task->args, "preference");
    bool explained = domain->task->trace != NULL && domain->task->trace->explain;
    bool by_steps = !explained && (strcmp(name, "absolute") == 0 || strcmp(name, "relative") == 0);
    double fewest = INFINITY;
    kn_owner memory = {0};
    candidate *candidates, **sorted, *best = NULL;
    uint32_t *order;
    if (list->n == 0) KN_TRY(kn_full_domain_refuse(domain, err));
    KN_OWN(&memory, candidates, list->n);
    KN_OWN(&memory, sorted, list->n);
    KN_OWN(&memory, order, (size_t)tuples->n_qis + 1);
    kn_full_domain_roll_order(order, domain);
    for (size_t i = 0; i < list->n; i++) {
        candidate *c = sorted[i] = &candidates[i];
        *c = (candidate){.levels = list->levels + i * tuples->n_qis, .order = order, .n_qis = tuples->n_qis};
        if (by_steps) c->steps = score_of(name, &c->node, c->levels, tuples);
        fewest = fmin(fewest, c->steps);
    }
    KN_TRY(evaluate(sorted, list->n, fewest, domain, evaluator, err));
    for (size_t i = 0; i < list->n; i++) {
        candidate *c = &candidates[i];
        if (c->steps > fewest) continue;
        explain(domain->task->trace, &c->node, c->levels, tuples);
        double score = score_of(name, &c->node, c->levels, tuples);
        double best_score = best != NULL ? score_of(name, &best->node, best->levels, tuples) : INFINITY;
        if (best != NULL && score > best_score) continue;
        if (best != NULL && score == best_score &&
            kn_node_compare(&c->node, c->levels, &best->node, best->levels, tuples->n_qis) >= 0)
            continue;
        best = c;
    }
    KN_TRY(kn_full_domain_answer(answer, domain, best->levels, err));
done:
    kn_owner_free(&memory);
    return status;
}
