/* samarati: binary search on the height of the lattice for a generalization with the fewest steps.
 *
 * Samarati, Protecting respondents' identities in microdata release, 2001; [SV] 3.2.1. In: tuples, models,
 * --max-suppressed as MaxSup. Out: a k-minimal node. If no node of a height suppresses at most MaxSup rows, none below
 * does, so heights are halved. All feasible nodes of the least height are k-minimal and of the least absolute distance,
 * which is the paper's answer and the default. Under any other `preference` the heights above are looked at too: a
 * feasible node there is k-minimal when no feasible node lies below it, and the preferred of all k-minimal ones is
 * taken.
 *
 * Departs from the paper's Figure 8: MaxSup is inclusive (Definition 3.4), nodes are counted by roll-up of the distinct
 * tuples instead of the quadratic matrix VT, which is only shown (--explain, small tables), and in one sweep of the
 * lattice before the heights are looked at, since nodes of all heights share their roll-ups. In lattices too large for
 * that nodes are counted one by one, those below one that was found wanting not at all. With models for which
 * generalizing may break a class (feasible nodes need not lie above each other) heights are tried from the bottom
 * instead. */
#include "search/full_domain/preference.h"
#include "engine/lattice/sweep.h"

#include <math.h>
#include <string.h>

typedef struct search_state {
    const kn_task *task;
    kn_full_domain *domain;
    kn_evaluator *evaluator;
    uint8_t *feasible_nodes; /* of the whole lattice, as kn_sweep_feasible numbers them; NULL: nodes are counted one by
                                one */
    kn_level_list failed;    /* nodes that are not feasible: nothing below them is */
    kn_level_list feasible;  /* of the height looked at last; then the k-minimal ones of all heights */
    bool has_least_height;   /* what lies above one of `feasible` is no longer of interest */
    uint32_t *levels;
    uint32_t *order; /* columns: of the roll-ups, or as listed where nodes are shown */
    uint64_t n_nodes;
} search_state;

static uint32_t height_of(const kn_lattice *lattice, bool most)
{
    uint32_t height = 0;
    for (uint32_t q = 0; q < lattice->tuples->n_qis; q++)
        height += most ? lattice->columns[q].max_level : lattice->columns[q].min_level;
    return height;
}

/* Small lattices are shown node by node, as the paper does. */
static bool shows_nodes(const search_state *s)
{
    enum { MOST_SHOWN = 1000 };
    return s->task->trace != NULL && s->task->trace->explain && s->domain->lattice->n_nodes <= MOST_SHOWN;
}

/* Does a vector of the list lie above (or else below) the node looked at, or is it this one? */
static bool list_has(const kn_level_list *list, const search_state *s, bool above)
{
    const uint32_t n_qis = s->task->tuples->n_qis;
    for (size_t i = list->n; i-- > 0;) {
        const uint32_t *levels = list->levels + i * n_qis;
        uint32_t q = 0;
        while (q < n_qis && (above ? levels[q] >= s->levels[q] : levels[q] <= s->levels[q])) q++;
        if (q == n_qis) return true;
    }
    return false;
}

static void explain_node(const search_state *s, const kn_node *node)
{
    kn_trace *trace = s->task->trace;
    if (!shows_nodes(s)) return;
    kn_buffer_text(&trace->explanation, "  ");
    kn_levels_text(&trace->explanation, s->levels, s->task->tuples->n_qis);
    kn_buffer_printf(&trace->explanation, " suppresses %llu rows: %s\n", (unsigned long long)node->n_suppressed,
                     node->feasible ? "satisfies" : "does not satisfy");
}

static kn_status look_at_node(search_state *s, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_qis = s->task->tuples->n_qis;
    kn_node node;
    if (s->feasible_nodes != NULL && !s->feasible_nodes[kn_lattice_number(s->domain->lattice, s->levels)]) goto done;
    /* heights come from the bottom, so all k-minimal nodes below this one are known */
    if (s->has_least_height && list_has(&s->feasible, s, false)) goto done;
    if (s->feasible_nodes != NULL) {
        KN_TRY(kn_level_list_add(&s->feasible, s->levels, n_qis, err));
        goto done;
    }
    if (!shows_nodes(s) && s->domain->upward_closed && list_has(&s->failed, s, true)) goto done;
    KN_TRY(kn_tick(s->task->ticker, "search", -1, err));
    KN_TRY(kn_evaluate_levels(&node, s->evaluator, s->levels, err));
    s->n_nodes++;
    explain_node(s, &node);
    KN_TRY(kn_level_list_add(node.feasible ? &s->feasible : &s->failed, s->levels, n_qis, err));
done:
    return status;
}

/* All nodes with the given sum of levels, the first `depth` columns of the order being set. */
static kn_status look_at_height(search_state *s, uint32_t depth, uint32_t rest, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_lattice *lattice = s->domain->lattice;
    uint32_t n_qis = lattice->tuples->n_qis, least = 0, most = 0;
    if (depth == n_qis) return look_at_node(s, err);
    for (uint32_t i = depth + 1; i < n_qis; i++) {
        least += lattice->columns[s->order[i]].min_level;
        most += lattice->columns[s->order[i]].max_level;
    }
    uint32_t q = s->order[depth];
    for (uint32_t l = lattice->columns[q].max_level + 1; l-- > lattice->columns[q].min_level;) {
        if (l + least > rest || l + most < rest) continue;
        s->levels[q] = l;
        KN_TRY(look_at_height(s, depth + 1, rest - l, err));
    }
done:
    return status;
}

static kn_status try_height(bool *found, search_state *s, uint32_t height, kn_error *err)
{
    kn_status status = KN_OK;
    size_t n_before = s->has_least_height ? s->feasible.n : 0;
    s->feasible.n = n_before;
    KN_TRY(kn_tick(s->task->ticker, "search", -1, err));
    if (s->task->trace != NULL && s->task->trace->explain)
        kn_buffer_printf(&s->task->trace->explanation, "height %u\n", height);
    KN_TRY(look_at_height(s, 0, height, err));
    *found = s->feasible.n > n_before;
    if (s->task->trace != NULL && s->task->trace->explain)
        kn_buffer_printf(&s->task->trace->explanation, "  %zu nodes satisfy\n", s->feasible.n - n_before);
done:
    return status;
}

/* The distance vectors of [SV] Figure 9: at which levels an outlier and a tuple become equal. */
static void explain_distances(const kn_task *task)
{
    enum { MOST_TUPLES = 16 };
    const kn_tuples *tuples = task->tuples;
    kn_trace *trace = task->trace;
    if (trace == NULL || !trace->explain || tuples->n_tuples > MOST_TUPLES || tuples->n_qis > 8) return;
    kn_buffer_text(&trace->explanation, "VT, outliers by distinct tuples\n");
    for (uint32_t i = 0, row = 0; i < tuples->n_tuples; i++) {
        if (tuples->persons[i] >= task->models->min_persons) continue;
        kn_buffer_printf(&trace->explanation, "  %u:", ++row);
        for (uint32_t j = 0; j < tuples->n_tuples; j++) {
            uint32_t distance[8];
            for (uint32_t q = 0; q < tuples->n_qis; q++) {
                uint32_t *const *at_level = tuples->domains[q]->tree->at_level;
                uint32_t a = tuples->codes[q][i], b = tuples->codes[q][j];
                for (distance[q] = 0; at_level[distance[q]][a] != at_level[distance[q]][b];) distance[q]++;
            }
            kn_buffer_char(&trace->explanation, ' ');
            kn_levels_text(&trace->explanation, distance, tuples->n_qis);
        }
        kn_buffer_char(&trace->explanation, '\n');
    }
}

/* Leaves the feasible nodes of the least height that has any in s->feasible. */
static kn_status least_height(search_state *s, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t low = height_of(s->domain->lattice, false), high = height_of(s->domain->lattice, true), last = KN_NONE;
    bool found = false;
    if (!s->domain->upward_closed) {
        for (uint32_t height = low; height <= high && !found; height++) KN_TRY(try_height(&found, s, height, err));
        goto done;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        KN_TRY(try_height(&found, s, middle, err));
        if (found) high = middle;
        else low = middle + 1;
        last = middle;
    }
    if (last != high || !found) KN_TRY(try_height(&found, s, high, err));
done:
    return status;
}

/* Adds the k-minimal nodes of greater heights. */
static kn_status greater_heights(search_state *s, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t height = 1, most = height_of(s->domain->lattice, true);
    bool found;
    for (uint32_t q = 0; q < s->task->tuples->n_qis; q++) height += s->feasible.levels[q];
    s->has_least_height = true;
    for (; height <= most; height++) KN_TRY(try_height(&found, s, height, err));
done:
    return status;
}

static kn_status search(kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    search_state s = {.task = task};
    KN_TRY(kn_full_domain_new(&s.domain, task, KN_MOST_COMBOS, err));
    KN_TRY(kn_evaluator_new(&s.evaluator, s.domain, err));
    KN_NEW(s.levels, task->tuples->n_qis);
    KN_NEW(s.order, task->tuples->n_qis);
    kn_full_domain_roll_order(s.order, s.domain);
    for (uint32_t q = 0; shows_nodes(&s) && q < task->tuples->n_qis; q++) s.order[q] = q;
    explain_distances(task);
    if (!shows_nodes(&s) && s.domain->lattice->n_nodes <= kn_sweep_most_nodes(task->memory_bytes))
        KN_TRY(kn_sweep_feasible(&s.feasible_nodes, &s.n_nodes, task, err));
    KN_TRY(least_height(&s, err));
    if (s.feasible.n > 0 && !kn_args_is(task->args, "preference", "absolute")) KN_TRY(greater_heights(&s, err));
    answer->n_nodes = s.n_nodes;
    KN_TRY(kn_preference_answer(answer, &s.feasible, s.domain, s.evaluator, err));
done:
    kn_free(s.feasible_nodes);
    kn_level_list_free(&s.failed);
    kn_level_list_free(&s.feasible);
    kn_free(s.levels);
    kn_free(s.order);
    kn_evaluator_free(s.evaluator);
    kn_full_domain_free(s.domain);
    return status;
}

static const kn_param params[] = {
    KN_PREFERENCE_PARAM("absolute"),
};

const kn_algorithm kn_algorithm_samarati = {
    .name = "samarati",
    .summary = "binary search on the lattice's height for the fewest generalization steps",
    .citation = "Samarati, Protecting respondents' identities in microdata release, IEEE TKDE 13(6), 2001",
    .recoding = KN_RECODING_LEVELS,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .any_measure = true,
    .all_or_nothing = true,
    .search = search,
};
