/* incognito: all k-minimal nodes by the subset property, then a preference.
 *
 * LeFevre, DeWitt, Ramakrishnan, Incognito: efficient full-domain k-anonymity, 2005; [SV] 3.2.2. In: tuples, models,
 * --max-suppressed. Out: every feasible node with no feasible node below it, one of them chosen by `preference`.
 * Iteration i looks at all sets of i columns: a vertex (levels of the set) stays in only if all its parts of i-1
 * columns were marked true; bottom-up, a vertex that holds marks itself and everything above it.
 *
 * Departs from the paper in how a vertex is tested. What is not in the set is at its most general level, so a vertex is
 * a node of the lattice, its parts are nodes above it, and the vertices of different sets share their classes: one
 * sweep of the lattice, from general to specific, tells which nodes are feasible. Feasible nodes being closed upward,
 * the paper's marks follow from that, and --explain shows them; on a million distinct tuples testing set by set took
 * minutes. Where models do not give that (generalizing may break a class) there is the last iteration only.
 *
 * Cost: the sweep's. What would be too much for the paper's search (`max-vertices`) is refused. */
#include "search/full_domain/preference.h"
#include "engine/lattice/sweep.h"

#include <string.h>

typedef struct search_state {
    const kn_task *task;
    kn_full_domain *domain;
    kn_evaluator *evaluator;
    uint32_t n_qis;
    uint8_t *feasible; /* [number of the node] */
    uint32_t *levels;
    kn_level_list minimal;
} search_state;

/* The levels of the vertex-th vertex of a set of columns; false when there are no more. The first column counts
 * fastest. */
static bool vertex_levels(search_state *s, uint32_t set, size_t vertex)
{
    const kn_lattice *lattice = s->domain->lattice;
    for (uint32_t q = 0; q < s->n_qis; q++) {
        s->levels[q] = lattice->columns[q].max_level;
        if (!(set >> q & 1)) continue;
        s->levels[q] = lattice->columns[q].min_level + (uint32_t)(vertex % kn_lattice_levels(lattice, q));
        vertex /= kn_lattice_levels(lattice, q);
    }
    return vertex == 0;
}

enum { ABSENT, MARKED_FALSE, MARKED_TRUE };

/* The paper's mark of the vertex with s->levels: absent when one of its parts, which leave out a column, is not true.
 */
static int mark_of(const search_state *s, uint32_t set)
{
    const kn_lattice *lattice = s->domain->lattice;
    const size_t node = kn_lattice_number(lattice, s->levels);
    const bool has_parts = s->domain->upward_closed && (set & (set - 1)) != 0;
    for (uint32_t q = 0; has_parts && q < s->n_qis; q++) {
        const kn_lattice_column *column = &lattice->columns[q];
        if ((set >> q & 1) && !s->feasible[node + (column->max_level - s->levels[q]) * column->stride]) return ABSENT;
    }
    return s->feasible[node] ? MARKED_TRUE : MARKED_FALSE;
}

static void explain_set(search_state *s, uint32_t set)
{
    static const char *const words[] = {"not in the hierarchy", "marked false", "marked true"};
    enum { MOST_VERTICES = 200 };
    kn_buffer *text = &s->task->trace->explanation;
    const char *separator = "  <";
    for (uint32_t q = 0; q < s->n_qis; q++)
        if (set >> q & 1) {
            kn_buffer_printf(text, "%s%s", separator, s->task->tuples->domains[q]->name);
            separator = ", ";
        }
    kn_buffer_text(text, ">\n");
    for (int mark = MARKED_TRUE; !vertex_levels(s, set, MOST_VERTICES) && mark >= ABSENT; mark--) {
        bool any = false;
        for (size_t vertex = 0; vertex_levels(s, set, vertex); vertex++) {
            uint32_t part[32], size = 0;
            if (mark_of(s, set) != mark) continue;
            for (uint32_t q = 0; q < s->n_qis; q++)
                if (set >> q & 1) part[size++] = s->levels[q];
            kn_buffer_printf(text, any ? " " : "    %s: ", words[mark]);
            kn_levels_text(text, part, size);
            any = true;
        }
        if (any) kn_buffer_char(text, '\n');
    }
}

static void explain_iterations(search_state *s)
{
    if (s->task->trace == NULL || !s->task->trace->explain) return;
    for (uint32_t size = s->domain->upward_closed ? 1 : s->n_qis; size <= s->n_qis; size++) {
        kn_buffer_printf(&s->task->trace->explanation, "Iteration %u\n", size);
        for (uint32_t set = 1; set >> s->n_qis == 0; set++)
            if ((uint32_t)__builtin_popcount(set) == size) explain_set(s, set);
    }
}

static kn_status collect_minimal(search_state *s, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t all = (uint32_t)((1ull << s->n_qis) - 1);
    kn_lattice_keep_minimal(s->feasible, s->domain->lattice);
    for (size_t node = 0; vertex_levels(s, all, node); node++)
        if (s->feasible[node]) KN_TRY(kn_level_list_add(&s->minimal, s->levels, s->n_qis, err));
done:
    return status;
}

static kn_status refuse_large(const search_state *s, kn_error *err)
{
    kn_status status = KN_OK;
    double vertices = 1, most = kn_args_number(s->task->args, "max-vertices");
    for (uint32_t q = 0; q < s->n_qis; q++) vertices *= kn_lattice_levels(s->domain->lattice, q) + 1.0;
    if (s->n_qis > 20 || vertices > most || s->domain->lattice->n_nodes > kn_sweep_most_nodes(s->task->memory_bytes))
        KN_FAIL(KN_USAGE,
                "incognito looks at all sets of columns, %.0f vertices here, more than max-vertices=%.0f (and 20 "
                "columns); choose optimal",
                vertices, most);
done:
    return status;
}

static kn_status search(kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    search_state s = {.task = task, .n_qis = task->tuples->n_qis};
    KN_TRY(kn_full_domain_new(&s.domain, task, KN_MOST_COMBOS, err));
    KN_TRY(refuse_large(&s, err));
    KN_TRY(kn_evaluator_new(&s.evaluator, s.domain, err));
    KN_NEW(s.levels, (size_t)s.n_qis + 1);
    KN_TRY(kn_sweep_feasible(&s.feasible, &answer->n_nodes, task, err));
    explain_iterations(&s);
    KN_TRY(collect_minimal(&s, err));
    if (task->trace != NULL && task->trace->explain)
        kn_buffer_printf(&task->trace->explanation, "%zu k-minimal nodes\n", s.minimal.n);
    KN_TRY(kn_preference_answer(answer, &s.minimal, s.domain, s.evaluator, err));
done:
    kn_level_list_free(&s.minimal);
    kn_free(s.levels);
    kn_free(s.feasible);
    kn_evaluator_free(s.evaluator);
    kn_full_domain_free(s.domain);
    return status;
}

static const kn_param params[] = {
    KN_PREFERENCE_PARAM("measure"),
    {.name = "max-vertices",
     .type = KN_PARAM_INT,
     .preset = "2000000",
     .min = 1,
     .max = 1e9,
     .help = "refuse larger lattices"},
};

const kn_algorithm kn_algorithm_incognito = {
    .name = "incognito",
    .summary = "all k-minimal nodes by the subset property, one chosen by a preference",
    .citation = "LeFevre, DeWitt, Ramakrishnan, Incognito: efficient full-domain k-anonymity, SIGMOD 2005",
    .recoding = KN_RECODING_LEVELS,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .any_measure = true,
    .all_or_nothing = true,
    .search = search,
};
