/* mu-argus: generalize what makes small combinations of columns rare, then finish the job.
 *
 * Hundepool, Willenborg, Mu-Argus and Tau-Argus, 1996; [Bayardo, Agrawal 2005] section 2. In: tuples, models,
 * --max-suppressed. Out: one level vector without a guarantee on the loss. All combinations of two and three columns
 * are counted; a combination of values with too few persons is unsafe. While some combination has more unsafe rows than
 * may be suppressed, the column with the most unsafe rows over all its combinations is generalized by a level (ties:
 * the first in QI order).
 *
 * What is then left unsafe, the program suppresses cell by cell: in a row with unsafe combinations the value that most
 * of them have in common (ties: the first in QI order), then the next, until none is left whose values all stand there
 * (`suppress=cells`). Frequencies are those before, as the program takes them. Where it departs: by default whole rows
 * are suppressed (`suppress=rows`), which leaves a level per column.
 *
 * Neither makes the table k-anonymous over all columns, which is the paper's known gap: rows that still break a model
 * are suppressed, up to --max-suppressed; while they are more, the column with most distinct values is generalized
 * (`finish=yes`), or the release is refused (`finish=no`). A row of which every cell was suppressed is a suppressed
 * row. Cost: one roll-up per combination, and per step one for each combination with the column that was generalized;
 * with cells, one look at every group and combination per step of finishing. */
#include "search/full_domain/starred.h"

#include <math.h>
#include <string.h>

/* Some columns, and the rows with too rare values in them. */
typedef struct combination {
    uint32_t n, columns[3];
    uint64_t n_unsafe;
    bool counted; /* at the levels of now */
} combination;

typedef struct search_state {
    const kn_task *task;
    kn_full_domain *domain;
    kn_evaluator *evaluator;
    kn_batch current, large, small;
    KN_VECTOR(combination) combinations;
    uint32_t *levels, *combination_levels;
    uint64_t *unsafe; /* per column */
    uint64_t n_nodes;
} search_state;

/* Rolls `from` up to a combination of columns, the others at their most general level, and counts its unsafe rows. */
static kn_status count_combination(kn_batch *out, const kn_batch *from, combination *c, search_state *s, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_lattice *lattice = s->domain->lattice;
    kn_node node;
    for (uint32_t q = 0; q < lattice->tuples->n_qis; q++) s->combination_levels[q] = lattice->columns[q].max_level;
    for (uint32_t i = 0; i < c->n; i++) s->combination_levels[c->columns[i]] = s->levels[c->columns[i]];
    KN_TRY(kn_batch_roll(out, from, s->combination_levels, s->evaluator, err));
    KN_TRY(kn_evaluate(&node, NULL, s->evaluator, out, false, err));
    s->n_nodes++;
    c->n_unsafe = node.n_suppressed;
    c->counted = true;
done:
    return status;
}

static bool is_part(const combination *small, const combination *large)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < small->n; i++)
        for (uint32_t j = 0; j < large->n; j++) found += small->columns[i] == large->columns[j];
    return found == small->n;
}

/* Counts what is not known: combinations with the column that was just generalized. Pairs come from a triple. */
static kn_status count_all(uint64_t *worst, search_state *s, kn_error *err)
{
    kn_status status = KN_OK;
    *worst = 0;
    memset(s->unsafe, 0, s->task->tuples->n_qis * sizeof *s->unsafe);
    for (size_t i = 0; i < s->combinations.n; i++) { /* triples first */
        combination *large = &s->combinations.items[i];
        if (large->counted) continue;
        KN_TRY(kn_tick(s->task->ticker, "search", -1, err));
        KN_TRY(count_combination(&s->large, &s->current, large, s, err));
        for (size_t j = i + 1; large->n == 3 && j < s->combinations.n; j++) {
            combination *small = &s->combinations.items[j];
            if (small->n == 2 && !small->counted && is_part(small, large))
                KN_TRY(count_combination(&s->small, &s->large, small, s, err));
        }
    }
    for (size_t i = 0; i < s->combinations.n; i++) {
        const combination *c = &s->combinations.items[i];
        for (uint32_t j = 0; j < c->n; j++) s->unsafe[c->columns[j]] += c->n_unsafe;
        if (c->n_unsafe > *worst) *worst = c->n_unsafe;
    }
done:
    return status;
}

/* All triples and pairs, the triples first; singles where there is one column only. */
static kn_status list_combinations(search_state *s, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_qis = s->task->tuples->n_qis, a, b, c;
    for (a = 0; a < n_qis; a++)
        for (b = a + 1; b < n_qis; b++)
            for (c = b + 1; c < n_qis; c++) KN_PUSH(&s->combinations, ((combination){.n = 3, .columns = {a, b, c}}));
    for (a = 0; a < n_qis; a++)
        for (b = a + 1; b < n_qis; b++) KN_PUSH(&s->combinations, ((combination){.n = 2, .columns = {a, b}}));
    if (n_qis == 1) KN_PUSH(&s->combinations, ((combination){.n = 1}));
done:
    return status;
}

/* Raises one column and rolls up; the step is explained. */
static kn_status generalize(search_state *s, uint32_t column, const char *why, uint64_t n_rows, kn_error *err)
{
    kn_status status = KN_OK;
    kn_batch next = {0};
    kn_trace *trace = s->task->trace;
    s->levels[column]++;
    for (size_t i = 0; i < s->combinations.n; i++)
        for (uint32_t j = 0; j < s->combinations.items[i].n; j++)
            if (s->combinations.items[i].columns[j] == column) s->combinations.items[i].counted = false;
    if (trace != NULL && trace->explain) {
        kn_buffer_printf(&trace->explanation, "generalize %s (%llu %s): ", s->task->tuples->domains[column]->name,
                         (unsigned long long)n_rows, why);
        kn_levels_text(&trace->explanation, s->levels, s->task->tuples->n_qis);
        kn_buffer_char(&trace->explanation, '\n');
    }
    KN_TRY(kn_batch_roll(&next, &s->current, s->levels, s->evaluator, err));
    kn_batch_free(&s->current, s->domain);
    s->current = next;
    next = (kn_batch){0};
done:
    kn_batch_free(&next, s->domain);
    return status;
}

static kn_status make_combinations_safe(search_state *s, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_lattice *lattice = s->domain->lattice;
    for (;;) {
        uint64_t worst, most = 0;
        uint32_t column = KN_NONE;
        KN_TRY(count_all(&worst, s, err));
        if (worst <= s->task->max_suppressed) break;
        for (uint32_t q = 0; q < lattice->tuples->n_qis; q++)
            if (s->levels[q] < lattice->columns[q].max_level && s->unsafe[q] > most) {
                most = s->unsafe[q];
                column = q;
            }
        if (column == KN_NONE) break; /* nothing left to generalize: finishing will say so */
        KN_TRY(generalize(s, column, "rows in unsafe combinations", most, err));
    }
done:
    return status;
}

static kn_status unfinished(const search_state *s, uint64_t n_rows, kn_error *err)
{
    return kn_error_set(err, KN_NOT_MET,
                        "mu-argus made all combinations of two and three columns safe, but %llu rows break a model "
                        "over all columns and %llu may be suppressed; use finish=yes",
                        (unsigned long long)n_rows, (unsigned long long)s->task->max_suppressed);
}

static kn_status finish(search_state *s, kn_error *err)
{
    kn_status status = KN_OK;
    for (;;) {
        kn_node node;
        KN_TRY(kn_evaluate(&node, NULL, s->evaluator, &s->current, false, err));
        s->n_nodes++;
        if (node.feasible) break;
        if (!kn_args_is(s->task->args, "finish", "yes")) KN_TRY(unfinished(s, node.n_suppressed, err));
        const uint32_t column = kn_lattice_widest(s->domain->lattice, s->levels);
        if (column == KN_NONE) KN_TRY(kn_full_domain_refuse(s->domain, err));
        KN_TRY(generalize(s, column, "rows break a model over all columns", node.n_suppressed, err));
    }
done:
    return status;
}

/* --- Single cells ------------------------------------------------------------------------------------------------ */

/* The groups of the node and which of their cells are suppressed. */
typedef struct cells_state {
    kn_owner memory; /* all arrays */
    kn_starred starred;
    uint32_t n_groups;
    bool *unsafe;          /* [combination * n_groups + group] */
    uint64_t *persons;     /* scratch: [group] */
    uint64_t n_suppressed; /* rows */
} cells_state;

static kn_status cells_start(cells_state *c, const search_state *s, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(kn_starred_init(&c->starred, s->domain, s->evaluator, s->levels, err));
    const uint32_t n = c->n_groups = c->starred.groups.n;
    KN_OWN(&c->memory, c->unsafe, s->combinations.n * n);
    KN_OWN(&c->memory, c->persons, n);
    for (uint32_t q = 0; q < s->task->tuples->n_qis; q++)
        for (uint32_t g = 0; g < n; g++) c->starred.nodes[q][g] = kn_starred_node(&c->starred, g, q, false);
done:
    return status;
}

static void cells_end(cells_state *c)
{
    kn_starred_free(&c->starred);
    kn_owner_free(&c->memory);
    *c = (cells_state){0};
}

/* Which groups have values in the combination that too few persons have. */
static kn_status find_unsafe(bool *unsafe, cells_state *c, const search_state *s, const combination *of, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_starred *starred = &c->starred;
    uint32_t n_values, *alike = starred->alike;
    for (uint32_t i = 0; i < of->n; i++) {
        const uint32_t q = of->columns[i];
        starred->columns[i] = (kn_group_column){starred->nodes[q], 4, NULL, s->task->tuples->domains[q]->tree->n_nodes};
    }
    KN_TRY(kn_group(alike, &n_values, NULL, c->n_groups, starred->columns, of->n, NULL, s->task->ticker, err));
    memset(c->persons, 0, c->n_groups * sizeof *c->persons);
    for (uint32_t g = 0; g < c->n_groups; g++)
        c->persons[alike[g]] += kn_groups_persons(s->domain->lattice, &starred->groups, g);
    for (uint32_t g = 0; g < c->n_groups; g++) unsafe[g] = c->persons[alike[g]] < s->task->models->min_persons;
done:
    return status;
}

/* Columns that the most unsafe combinations still have, one after the other. */
static void suppress_cells(cells_state *c, const search_state *s, uint32_t group)
{
    const kn_tuples *tuples = s->task->tuples;
    for (;;) {
        uint32_t column = KN_NONE;
        memset(s->unsafe, 0, tuples->n_qis * sizeof *s->unsafe);
        for (size_t i = 0; i < s->combinations.n; i++) {
            const combination *of = &s->combinations.items[i];
            bool stands = c->unsafe[i * c->n_groups + group];
            for (uint32_t j = 0; j < of->n; j++) stands &= !(c->starred.stars[group] >> of->columns[j] & 1);
            for (uint32_t j = 0; stands && j < of->n; j++) {
                const uint32_t q = of->columns[j];
                s->unsafe[q] += c->starred.nodes[q][group] != tuples->domains[q]->tree->root;
            }
        }
        for (uint32_t q = 0; q < tuples->n_qis; q++)
            if (s->unsafe[q] > (column != KN_NONE ? s->unsafe[column] : 0)) column = q;
        if (column == KN_NONE) return;
        c->starred.stars[group] |= (uint64_t)1 << column;
    }
}

static kn_status cells_answer(kn_answer *answer, const cells_state *c, const search_state *s, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = s->task->tuples;
    const size_t n_cells = (size_t)c->starred.n_classes * tuples->n_qis;
    answer->recoding = KN_RECODING_LOCAL;
    answer->bound = NAN;
    answer->n_classes = c->starred.n_classes;
    KN_NEW_RAW(answer->row_class, (size_t)tuples->n_records + 1);
    KN_NEW(answer->cells, n_cells + 1);
    memcpy(answer->cells, c->starred.cells, n_cells * sizeof *answer->cells);
    kn_starred_row_classes(answer->row_class, &c->starred);
done:
    return status;
}

static kn_status finish_by_cells(kn_answer *answer, search_state *s, kn_error *err)
{
    kn_status status = KN_OK;
    cells_state c = {0};
    for (;;) {
        cells_end(&c);
        KN_TRY(kn_tick(s->task->ticker, "search", -1, err));
        KN_TRY(cells_start(&c, s, err));
        for (size_t i = 0; i < s->combinations.n; i++)
            KN_TRY(find_unsafe(c.unsafe + i * c.n_groups, &c, s, &s->combinations.items[i], err));
        for (uint32_t g = 0; g < c.n_groups; g++) suppress_cells(&c, s, g);
        KN_TRY(kn_starred_release(&c.starred, NULL, c.n_groups, err));
        for (uint32_t g = 0; g < c.n_groups; g++)
            if (c.starred.class_of[g] == KN_NONE)
                c.n_suppressed += kn_groups_rows(s->domain->lattice, &c.starred.groups, g);
        s->n_nodes++;
        if (c.n_suppressed <= s->task->max_suppressed) break;
        if (!kn_args_is(s->task->args, "finish", "yes")) KN_TRY(unfinished(s, c.n_suppressed, err));
        const uint32_t column = kn_lattice_widest(s->domain->lattice, s->levels);
        if (column == KN_NONE) KN_TRY(kn_full_domain_refuse(s->domain, err));
        KN_TRY(generalize(s, column, "rows break a model over all columns", c.n_suppressed, err));
    }
    KN_TRY(cells_answer(answer, &c, s, err));
done:
    cells_end(&c);
    return status;
}

static kn_status search(kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    search_state s = {.task = task};
    uint32_t n_qis = task->tuples->n_qis;
    const bool by_cells = kn_args_is(task->args, "suppress", "cells");
    if (by_cells && task->tuples->n_repeats > 0)
        KN_FAIL(KN_USAGE, "mu-argus:suppress=cells cannot count persons who have several different rows; leave it out");
    if (by_cells && n_qis > 64) KN_FAIL(KN_USAGE, "mu-argus:suppress=cells takes 64 quasi-identifiers at most");
    KN_TRY(kn_full_domain_new(&s.domain, task, 0, err));
    KN_TRY(kn_evaluator_new(&s.evaluator, s.domain, err));
    KN_NEW(s.levels, n_qis);
    KN_NEW(s.combination_levels, n_qis);
    KN_NEW(s.unsafe, n_qis);
    for (uint32_t q = 0; q < n_qis; q++) s.levels[q] = s.domain->lattice->columns[q].min_level;
    KN_TRY(kn_batch_roll(&s.current, &s.domain->base, s.levels, s.evaluator, err));
    KN_TRY(list_combinations(&s, err));
    KN_TRY(make_combinations_safe(&s, err));
    if (by_cells) KN_TRY(finish_by_cells(answer, &s, err));
    else KN_TRY(finish(&s, err));
    answer->n_nodes = s.n_nodes;
    if (!by_cells) KN_TRY(kn_full_domain_answer(answer, s.domain, s.levels, err));
done:
    if (s.domain != NULL) {
        kn_batch_free(&s.current, s.domain);
        kn_batch_free(&s.large, s.domain);
        kn_batch_free(&s.small, s.domain);
    }
    kn_free(s.levels);
    kn_free(s.combination_levels);
    kn_free(s.unsafe);
    kn_free(s.combinations.items);
    kn_evaluator_free(s.evaluator);
    kn_full_domain_free(s.domain);
    return status;
}

static const kn_param params[] = {
    {.name = "finish",
     .type = KN_PARAM_BOOL,
     .preset = "yes",
     .help = "go on until all columns together satisfy the models; otherwise refuse"},
    {.name = "suppress",
     .type = KN_PARAM_CHOICE,
     .choices = "rows|cells",
     .preset = "rows",
     .help = "what goes of rows in unsafe combinations: all, or single cells as in the program of that name"},
};

const kn_algorithm kn_algorithm_mu_argus = {
    .name = "mu-argus",
    .summary = "greedy on combinations of two and three columns, finished over all of them",
    .citation = "Hundepool, Willenborg, Mu-Argus and Tau-Argus: software for statistical disclosure control, 1996",
    .recoding = KN_RECODING_LEVELS,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .any_measure = true,
    .all_or_nothing = true,
    .search = search,
};
