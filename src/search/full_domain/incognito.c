/* incognito: all k-minimal nodes by the subset property, then a preference.
 *
 * LeFevre, DeWitt, Ramakrishnan, Incognito: efficient full-domain k-anonymity, 2005; [SV] 3.2.2. In: tuples, models,
 * --max-suppressed. Out: every feasible node with no feasible node below it, one of them chosen by `preference`.
 * Iteration i looks at all sets of i columns: a vertex (levels of the set) stays in only if all its parts of i-1
 * columns were marked true; bottom-up, a vertex that holds marks itself and everything above it.
 *
 * Departs from the paper in how a vertex is tested. What is not in the set is at its most general level, so a vertex is
 * a node of the lattice, and the vertices of different sets share their classes: one sweep of the lattice, from general
 * to specific, tells beforehand which nodes are feasible. The marks are the paper's, --explain shows them; on a million
 * distinct tuples testing set by set took minutes.
 *
 * Relies on feasible nodes being closed upward. Where models do not give that (generalizing may break a class), the
 * minimal nodes follow from the definition. Cost: the sweep's, and memory exponential in the columns; beyond
 * `max-vertices` it is refused. */
#include "search/full_domain/preference.h"
#include "engine/lattice/sweep.h"

#include <string.h>

enum { ABSENT, MARKED_FALSE, MARKED_TRUE };

typedef struct search_state {
    const kn_task *task;
    kn_full_domain *domain;
    kn_evaluator *evaluator;
    uint32_t n_qis;
    uint8_t *feasible; /* [node of the lattice, numbered as vertices of all columns are] */
    uint8_t **marks;   /* [set of columns]: one mark per vertex */
    uint32_t *levels;
    kn_level_list minimal;
    uint64_t n_nodes;
} search_state;

static uint32_t n_levels(const search_state *s, uint32_t q)
{
    const kn_lattice_column *column = &s->domain->lattice->columns[q];
    return column->max_level - column->min_level + 1;
}

static size_t n_vertices(const search_state *s, uint32_t set)
{
    size_t n = 1;
    for (uint32_t q = 0; q < s->n_qis; q++)
        if (set >> q & 1) n *= n_levels(s, q);
    return n;
}

/* Steps above the least level in column q of a vertex, whose number is a mixed-radix one. */
static uint32_t vertex_step(const search_state *s, uint32_t set, size_t vertex, uint32_t column)
{
    for (uint32_t q = 0; q < column; q++)
        if (set >> q & 1) vertex /= n_levels(s, q);
    return (uint32_t)(vertex % n_levels(s, column));
}

static size_t vertex_stride(const search_state *s, uint32_t set, uint32_t column)
{
    return n_vertices(s, set & ((1u << column) - 1));
}

/* The same vertex without one of its columns. */
static size_t vertex_part(const search_state *s, uint32_t set, size_t vertex, uint32_t column)
{
    size_t stride = vertex_stride(s, set, column);
    return vertex % stride + vertex / (stride * n_levels(s, column)) * stride;
}

static void vertex_levels(const search_state *s, uint32_t set, size_t vertex)
{
    for (uint32_t q = 0; q < s->n_qis; q++) {
        const kn_lattice_column *column = &s->domain->lattice->columns[q];
        s->levels[q] = set >> q & 1 ? column->min_level + vertex_step(s, set, vertex, q) : column->max_level;
    }
}

static bool parts_are_true(const search_state *s, uint32_t set, size_t vertex)
{
    for (uint32_t q = 0; q < s->n_qis; q++) {
        uint32_t rest = set & ~(1u << q);
        if (!(set >> q & 1) || rest == 0) continue;
        if (s->marks[rest][vertex_part(s, set, vertex, q)] != MARKED_TRUE) return false;
    }
    return true;
}

static bool below_is_true(const search_state *s, uint32_t set, size_t vertex)
{
    for (uint32_t q = 0; q < s->n_qis; q++)
        if ((set >> q & 1) && vertex_step(s, set, vertex, q) > 0 &&
            s->marks[set][vertex - vertex_stride(s, set, q)] == MARKED_TRUE)
            return true;
    return false;
}

static bool vertex_holds(const search_state *s, uint32_t set, size_t vertex)
{
    size_t node = 0, stride = 1;
    for (uint32_t q = 0; q < s->n_qis; q++) {
        node += stride * (set >> q & 1 ? vertex_step(s, set, vertex, q) : n_levels(s, q) - 1);
        stride *= n_levels(s, q);
    }
    return s->feasible[node];
}

/* Vertices are numbered so that what lies below comes first. */
static kn_status mark_set(search_state *s, uint32_t set, kn_error *err)
{
    kn_status status = KN_OK;
    size_t n = n_vertices(s, set);
    KN_NEW(s->marks[set], n);
    KN_TRY(kn_tick(s->task->ticker, "search", -1, err));
    for (size_t vertex = 0; vertex < n; vertex++) {
        if (s->domain->upward_closed && !parts_are_true(s, set, vertex)) continue; /* absent */
        bool holds = (s->domain->upward_closed && below_is_true(s, set, vertex)) || vertex_holds(s, set, vertex);
        s->marks[set][vertex] = holds ? MARKED_TRUE : MARKED_FALSE;
    }
done:
    return status;
}

static uint32_t set_size(uint32_t set) { return (uint32_t)__builtin_popcount(set); }

static void explain_set(const search_state *s, uint32_t set)
{
    static const char *const words[] = {"not in the hierarchy", "marked false", "marked true"};
    enum { MOST_VERTICES = 200 };
    kn_buffer *text = &s->task->trace->explanation;
    size_t n = n_vertices(s, set);
    kn_buffer_text(text, "  <");
    for (uint32_t q = 0, first = 1; q < s->n_qis; q++)
        if (set >> q & 1) {
            kn_buffer_printf(text, "%s%s", first ? "" : ", ", s->task->tuples->domains[q]->name);
            first = 0;
        }
    kn_buffer_text(text, ">\n");
    for (uint8_t mark = MARKED_TRUE; n <= MOST_VERTICES; mark--) {
        bool any = false;
        for (size_t vertex = 0; vertex < n; vertex++) {
            uint32_t part[32], size = 0;
            if (s->marks[set][vertex] != mark) continue;
            for (uint32_t q = 0; q < s->n_qis; q++)
                if (set >> q & 1)
                    part[size++] = s->domain->lattice->columns[q].min_level + vertex_step(s, set, vertex, q);
            kn_buffer_printf(text, any ? " " : "    %s: ", words[mark]);
            kn_levels_text(text, part, size);
            any = true;
        }
        if (any) kn_buffer_char(text, '\n');
        if (mark == ABSENT) break;
    }
}

static kn_status iterate(search_state *s, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t all = (uint32_t)((1ull << s->n_qis) - 1);
    bool explain = s->task->trace != NULL && s->task->trace->explain;
    KN_NEW(s->marks, (size_t)1 << s->n_qis);
    for (uint32_t size = s->domain->upward_closed ? 1 : s->n_qis; size <= s->n_qis; size++) {
        if (explain) kn_buffer_printf(&s->task->trace->explanation, "Iteration %u\n", size);
        for (uint32_t set = 1; set <= all; set++) {
            if (set_size(set) != size) continue;
            KN_TRY(mark_set(s, set, err));
            if (explain) explain_set(s, set);
        }
        for (uint32_t set = 1; set <= all; set++)
            if (set_size(set) + 1 == size) {
                kn_free(s->marks[set]);
                s->marks[set] = NULL;
            }
    }
done:
    return status;
}

/* Feasible, and nothing feasible below, however far. */
static kn_status collect_minimal(search_state *s, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t all = (uint32_t)((1ull << s->n_qis) - 1);
    size_t n = n_vertices(s, all);
    uint8_t *covered = NULL; /* something feasible lies below or here */
    KN_NEW(covered, n);
    for (size_t vertex = 0; vertex < n; vertex++) {
        bool below = false, holds = s->marks[all][vertex] == MARKED_TRUE;
        for (uint32_t q = 0; q < s->n_qis; q++)
            if (vertex_step(s, all, vertex, q) > 0) below = below || covered[vertex - vertex_stride(s, all, q)];
        covered[vertex] = below || holds;
        if (!holds || below) continue;
        vertex_levels(s, all, vertex);
        KN_TRY(kn_level_list_add(&s->minimal, s->levels, s->n_qis, err));
    }
done:
    kn_free(covered);
    return status;
}

static kn_status refuse_large(const search_state *s, kn_error *err)
{
    kn_status status = KN_OK;
    double vertices = 1, most = kn_args_number(s->task->args, "max-vertices");
    for (uint32_t q = 0; q < s->n_qis; q++) vertices *= n_levels(s, q) + 1.0;
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
    size_t chosen;
    KN_TRY(kn_full_domain_new(&s.domain, task, KN_MOST_COMBOS, err));
    KN_TRY(refuse_large(&s, err));
    KN_TRY(kn_evaluator_new(&s.evaluator, s.domain, err));
    KN_NEW(s.levels, (size_t)s.n_qis + 1);
    if (s.n_qis == 0) {
        KN_TRY(kn_level_list_add(&s.minimal, s.levels, 0, err));
    } else {
        KN_TRY(kn_sweep_feasible(&s.feasible, &s.n_nodes, task, err));
        KN_TRY(iterate(&s, err));
        KN_TRY(collect_minimal(&s, err));
    }
    answer->n_nodes = s.n_nodes;
    if (s.minimal.n == 0) KN_TRY(kn_full_domain_refuse(s.domain, err));
    if (task->trace != NULL && task->trace->explain)
        kn_buffer_printf(&task->trace->explanation, "%zu k-minimal nodes\n", s.minimal.n);
    KN_TRY(
        kn_preference_choose(&chosen, kn_args_text(task->args, "preference"), &s.minimal, s.domain, s.evaluator, err));
    KN_TRY(kn_full_domain_answer(answer, s.domain, s.minimal.levels + chosen * s.n_qis, err));
done:
    for (size_t set = 0; s.marks != NULL && set < (size_t)1 << s.n_qis; set++) kn_free(s.marks[set]);
    kn_free(s.marks);
    kn_level_list_free(&s.minimal);
    kn_free(s.levels);
    kn_free(s.feasible);
    kn_evaluator_free(s.evaluator);
    kn_full_domain_free(s.domain);
    return status;
}

static const kn_param params[] = {
    {.name = "preference",
     .type = KN_PARAM_CHOICE,
     .preset = "measure",
     .choices = KN_PREFERENCE_CHOICES,
     .help = KN_PREFERENCE_HELP},
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
    .search = search,
};
