/* Preference criteria; see the header. Cost: one evaluation per candidate. */
#include "algo/preference.h"

#include <string.h>

double kn_preference_score(const char *name, const kn_node *node, const uint32_t *levels, const kn_tuples *tuples)
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
        size_t grown = 2 * list->capacity + 16;
        uint32_t *moved = kn_array_resize(list->levels, grown * (n_qis + 1), sizeof *moved, err);
        if (moved == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        list->levels = moved;
        list->capacity = grown;
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
    kn_buffer_printf(&trace->explanation,
                     ": absolute distance %.0f, relative distance %.6g, %llu distinct tuples, %llu rows suppressed, loss "
                     "%.6g\n",
                     kn_preference_score("absolute", node, levels, tuples),
                     kn_preference_score("relative", node, levels, tuples), (unsigned long long)node->n_classes,
                     (unsigned long long)node->n_suppressed, node->loss);
}

kn_status kn_preference_choose(size_t *chosen, const char *name, const kn_level_list *list,
                               const kn_full_domain *domain, kn_evaluator *evaluator, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = domain->task->tuples;
    kn_node best = {0};
    *chosen = 0;
    for (size_t i = 0; i < list->n; i++) {
        const uint32_t *levels = list->levels + i * tuples->n_qis, *best_levels = list->levels + *chosen * tuples->n_qis;
        kn_node node;
        KN_TRY(kn_tick(domain->task->ticker, "search", (double)i / (double)list->n, err));
        KN_TRY(kn_evaluate_levels(&node, evaluator, levels, err));
        explain(domain->task->trace, &node, levels, tuples);
        if (domain->task->objective->type->higher_is_better) node.loss = -node.loss;
        double score = kn_preference_score(name, &node, levels, tuples);
        double best_score = kn_preference_score(name, &best, best_levels, tuples);
        bool better = i == 0 || score < best_score ||
                      (score == best_score && kn_node_compare(&node, levels, &best, best_levels, tuples->n_qis) < 0);
        if (!better) continue;
        best = node;
        *chosen = i;
    }
done:
    return status;
}
