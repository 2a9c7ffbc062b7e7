/* optimal: the proven best node of the lattice under any measure and any set of models.
 *
 * In: tuples whose domains are all trees, models, measure, --max-suppressed. Out: the best level vector, ties broken by
 * fewest suppressed rows, then by the lexicographically smaller vector; `top` lists the best ones. Levels that no
 * feasible node has are left out at once (narrow.h). Lattices of up to some million nodes are then swept from general
 * to specific with bounds (sweep.h); what was reached when time, effort or patience ran out is returned with a proven
 * bound. Larger lattices are searched some columns at a time (huge_lattice.h).
 *
 * Relies on: rows suppressed for want of persons stay suppressed when specialized. Cost: on tables with a few thousand
 * to a million distinct tuples about one to two hundred roll-ups. */
#include "engine/lattice/huge_lattice.h"
#include "engine/lattice/narrow.h"

#include <math.h>
#include <string.h>

static void explain(kn_trace *trace, double n_nodes, const kn_ranking *ranking, const kn_sweep_result *result)
{
    if (trace == NULL || !trace->explain) return;
    kn_buffer *text = &trace->explanation;
    kn_buffer_printf(text, n_nodes < 1e9 ? "%llu of %.0f nodes evaluated%s\n" : "%llu of %.2g nodes evaluated%s\n",
                     (unsigned long long)result->n_nodes, n_nodes,
                     result->complete ? "; the others cannot be better" : "; stopped before the others were ruled out");
    if (!result->complete && ranking->n > 0 && !isnan(result->bound))
        kn_buffer_printf(text, "Proven: no node loses less than %.6g; the best found loses %.6g\n", result->bound,
                         ranking->items[0].node.loss);
    for (size_t i = 0; i < ranking->n; i++) {
        const kn_ranked_node *item = &ranking->items[i];
        kn_buffer_printf(text, "%2zu. ", i + 1);
        kn_levels_text(text, item->levels, ranking->n_qis);
        kn_buffer_printf(text, "  loss %.6g, %llu rows suppressed\n", item->node.loss,
                         (unsigned long long)item->node.n_suppressed);
    }
}

/* `top`: the ranking for the result. */
static kn_status list_top(kn_answer *answer, const kn_ranking *ranking, kn_error *err)
{
    kn_status status = KN_OK;
    if (ranking->capacity == 1) return KN_OK;
    KN_NEW(answer->top, ranking->n);
    for (size_t i = 0; i < ranking->n; i++) {
        const kn_ranked_node *item = &ranking->items[i];
        kn_good_node *node = &answer->top[i];
        KN_NEW(node->levels, ranking->n_qis);
        answer->n_top++;
        memcpy(node->levels, item->levels, ranking->n_qis * sizeof *node->levels);
        node->loss = item->node.loss;
        node->n_suppressed = item->node.n_suppressed;
    }
done:
    return status;
}

static kn_status search(kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    const double most_nodes = kn_sweep_most_nodes(task->memory_bytes);
    kn_narrowed narrowed = {0};
    kn_full_domain *domain = NULL;
    kn_ranking ranking = {0};
    kn_sweep_result result;
    KN_TRY(kn_narrow(&narrowed, task, err));
    if (narrowed.n_nodes_left > most_nodes && task->tuples->n_rows >= KN_NONE - 1)
        KN_FAIL(
            KN_USAGE,
            "optimal searches a lattice of more than %.0f nodes by counts of 32 bits, and there are %llu rows, more "
            "than %u; limit the levels, or choose datafly or samarati",
            most_nodes, (unsigned long long)task->tuples->n_rows, KN_NONE - 2);
    KN_TRY(kn_ranking_new(&ranking, (size_t)kn_args_number(task->args, "top"), task->tuples->n_qis, err));
    KN_TRY(kn_full_domain_new(&domain, &narrowed.task, narrowed.n_nodes_left <= most_nodes ? KN_MOST_COMBOS : 0, err));
    if (narrowed.n_nodes_left <= most_nodes) KN_TRY(kn_sweep(&result, &ranking, domain, task->effort, err));
    else KN_TRY(kn_huge_lattice(&result, &ranking, domain, task->effort, err));
    explain(task->trace, narrowed.n_nodes, &ranking, &result);
    answer->n_nodes = result.n_nodes;
    answer->stopped = result.stopped;
    if (ranking.n == 0 && !result.complete)
        KN_FAIL(KN_NOT_MET,
                "no generalization that meets the models was found before the search had to stop; allow it more "
                "time, or more suppressed rows with --max-suppressed, or ask for less");
    if (ranking.n == 0) KN_TRY(kn_full_domain_refuse(domain, err));
    KN_TRY(kn_full_domain_answer(answer, domain, ranking.items[0].levels, err));
    KN_TRY(list_top(answer, &ranking, err));
    answer->optimal = result.complete;
    answer->bound = result.bound < 0 && !result.complete ? 0 : result.bound; /* no measure is negative */
done:
    kn_ranking_free(&ranking);
    kn_full_domain_free(domain);
    kn_narrowed_free(&narrowed);
    return status;
}

static const kn_param params[] = {
    {.name = "top",
     .type = KN_PARAM_INT,
     .preset = "1",
     .min = 1,
     .max = 10000,
     .help = "how many of the best nodes to prove and list (--explain, and `top` in the JSON)"},
};

const kn_algorithm kn_algorithm_optimal = {
    .name = "optimal",
    .summary = "the proven best level per column under any measure and any models",
    .citation = "ours; roll-up and subset property after LeFevre, DeWitt, Ramakrishnan, Incognito, 2005",
    .recoding = KN_RECODING_LEVELS,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .exact = true,
    .search = search,
};
