/* cell-suppression: a level per column, then single cells of the outliers suppressed instead of whole rows.
 *
 * AG_CS of [SV] Figure 2. In: tuples, models, measure. Out: classes with explicit cells: a suppressed cell is the whole
 * domain. The best nodes of the lattice under whole-row suppression without a limit are the candidates (`candidates`);
 * for each, the outliers are grouped with ever more cells suppressed, sets of columns with the fewest and cheapest
 * cells first; a group that satisfies the models is released, the others go on, and rows that end with every cell
 * suppressed are suppressed rows, at most --max-suppressed, whether they could have stood as a class or not. The best
 * node under the limit is a candidate too, so the result is never worse than `optimal`. The candidate that loses least
 * wins.
 *
 * Greedy: no other guarantee. With more than MOST_COLUMNS columns that are not yet fully general, only sets of few
 * columns are tried. Cost: outliers times sets of columns. */
#include "engine/lattice/sweep.h"
#include "search/full_domain/starred.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 12, MOST_SETS = 1 << MOST_COLUMNS };

/* A set of columns whose cells are suppressed. */
typedef struct star_set {
    uint64_t columns;
    uint32_t size;
    double price; /* what its cells cost a row more */
} star_set;

typedef struct outcome {
    uint32_t n_classes, n_suppressed;
    uint32_t *row_class;
    kn_cell *cells;
    double loss; /* cell measures: exact; otherwise cells suppressed */
} outcome;

typedef struct search_state {
    const kn_task *task;
    kn_full_domain *domain; /* without bundles */
    kn_evaluator *evaluator;
    kn_ranking candidates;
    uint64_t n_nodes;
} search_state;

static int compare_sets(const void *a, const void *b)
{
    const star_set *x = a, *y = b;
    if (x->size != y->size) return x->size < y->size ? -1 : 1;
    if (x->price != y->price) return x->price < y->price ? -1 : 1;
    return x->columns < y->columns ? -1 : x->columns > y->columns;
}

static double column_price(const search_state *s, uint32_t q, uint32_t level)
{
    const kn_full_domain *domain = s->domain;
    if (domain->table_sum == NULL) return s->task->tuples->domains[q]->weight;
    double root = s->task->objective->root_price[q] * (double)s->task->tuples->n_rows;
    return (root - (double)domain->table_sum[q][level] * domain->prices[0].unit) /
           ((double)s->task->tuples->n_rows + 1.0);
}

/* All sets of the columns that can still lose something; of many columns, the small sets only. */
static kn_status list_sets(star_set **out, size_t *n, const search_state *s, const uint32_t *levels, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_lattice *lattice = s->domain->lattice;
    uint32_t columns[64], n_columns = 0, most = 0;
    for (uint32_t q = 0; q < lattice->tuples->n_qis && n_columns < 64; q++)
        if (lattice->columns[q].levels[levels[q]].n > 1) columns[n_columns++] = q;
    for (double sets = 1, level = 1; most < n_columns && level < MOST_SETS; level += sets, most++)
        sets = sets * (n_columns - most) / (most + 1);
    if (n_columns <= MOST_COLUMNS) most = n_columns;
    *n = 0;
    size_t capacity = MOST_SETS * 4;
    KN_NEW(*out, capacity);
    uint64_t set = 1;
    for (uint32_t size = 1; size <= most && size <= n_columns; size++) {
        set = (1ull << size) - 1;
        while (set < 1ull << n_columns && *n < capacity) {
            star_set *item = &(*out)[(*n)++];
            item->size = size;
            for (uint32_t i = 0; i < n_columns; i++)
                if (set >> i & 1) {
                    item->columns |= 1ull << columns[i];
                    item->price += column_price(s, columns[i], levels[columns[i]]);
                }
            uint64_t low = set & (0 - set), ripple = set + low; /* the next set of this size */
            set = ripple | (((set ^ ripple) >> 2) / low);
        }
    }
    qsort(*out, *n, sizeof **out, compare_sets);
done:
    return status;
}

static double outcome_loss(const search_state *s, const outcome *out)
{
    const kn_tuples *tuples = s->task->tuples;
    const kn_objective *objective = s->task->objective;
    double sum = 0;
    for (uint32_t row = 0; row < tuples->n_rows; row++)
        for (uint32_t q = 0; q < tuples->n_qis; q++) {
            const kn_tree *tree = tuples->domains[q]->tree;
            uint32_t node = out->row_class[row] == KN_NONE
                                ? tree->root
                                : out->cells[(size_t)out->row_class[row] * tuples->n_qis + q].id;
            sum += objective->node_price != NULL
                       ? objective->node_price[q][node]
                       : (tree->last[node] - tree->first[node]) / (tree->n_leaves > 1 ? tree->n_leaves - 1.0 : 1.0);
        }
    return sum;
}

static void free_outcome(outcome *out)
{
    kn_free(out->row_class);
    kn_free(out->cells);
    *out = (outcome){0};
}

/* Releases those of the groups in `items` that satisfy the models once the cells of this set are suppressed; the others
 * stay. */
static kn_status release_set(kn_starred *starred, uint32_t *items, uint32_t *n, const star_set *set, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_left = 0;
    for (uint32_t i = 0; i < *n; i++) starred->stars[items[i]] = set->columns;
    KN_TRY(kn_starred_release(starred, items, *n, err));
    for (uint32_t i = 0; i < *n; i++)
        if (starred->class_of[items[i]] == KN_NONE) items[n_left++] = items[i];
    *n = n_left;
done:
    return status;
}

/* One candidate: its safe classes as they are (an empty set of stars), then the outliers set by set. */
static kn_status try_levels(outcome *out, search_state *s, const uint32_t *levels, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = s->task->tuples;
    kn_starred starred = {0};
    star_set *sets = NULL, none = {0};
    size_t n_sets;
    uint32_t *items = NULL, n = 0;
    *out = (outcome){0};
    KN_TRY(kn_starred_init(&starred, s->domain, s->evaluator, levels, err));
    KN_TRY(list_sets(&sets, &n_sets, s, levels, err));
    KN_NEW_RAW(items, (size_t)starred.groups.n + 1);
    for (; n < starred.groups.n; n++) items[n] = n;
    KN_TRY(release_set(&starred, items, &n, &none, err));
    for (size_t i = 0; i < n_sets && n > 0; i++) {
        KN_TRY(kn_tick(s->task->ticker, "search", -1, err));
        KN_TRY(release_set(&starred, items, &n, &sets[i], err));
    }
    out->n_classes = starred.n_classes;
    KN_NEW_RAW(out->cells, (size_t)starred.n_classes * tuples->n_qis + 1);
    memcpy(out->cells, starred.cells, (size_t)starred.n_classes * tuples->n_qis * sizeof *out->cells);
    KN_NEW_RAW(out->row_class, (size_t)tuples->n_rows + 1);
    kn_starred_row_classes(out->row_class, &starred);
    for (uint32_t row = 0; row < tuples->n_rows; row++) out->n_suppressed += out->row_class[row] == KN_NONE;
    out->loss = outcome_loss(s, out);
    s->n_nodes++;
done:
    kn_free(items);
    kn_free(sets);
    kn_starred_free(&starred);
    if (status != KN_OK) free_outcome(out);
    return status;
}

/* The best candidates when up to `max_suppressed` rows may be suppressed. */
static kn_status find_candidates(search_state *s, uint64_t max_suppressed, size_t n, kn_error *err)
{
    kn_status status = KN_OK;
    kn_task task = *s->task;
    kn_full_domain *domain = NULL;
    kn_sweep_result result;
    task.max_suppressed = max_suppressed;
    KN_TRY(kn_full_domain_new(&domain, &task, KN_MOST_COMBOS, err));
    kn_ranking_free(&s->candidates);
    KN_TRY(kn_ranking_new(&s->candidates, n, task.tuples->n_qis, err));
    KN_TRY(kn_sweep(&result, &s->candidates, domain, s->task->effort, err));
    s->n_nodes += result.n_nodes;
done:
    kn_full_domain_free(domain);
    return status;
}

static kn_status try_candidates(outcome *best, search_state *s, kn_error *err)
{
    kn_status status = KN_OK;
    outcome one = {0};
    for (size_t i = 0; i < s->candidates.n; i++) {
        if (i > 0 && best->row_class != NULL && kn_ticker_out_of_time(s->task->ticker)) break;
        KN_TRY(try_levels(&one, s, s->candidates.items[i].levels, err));
        bool better = one.n_suppressed <= s->task->max_suppressed &&
                      (best->row_class == NULL || one.loss < best->loss ||
                       (one.loss == best->loss && one.n_suppressed < best->n_suppressed));
        if (better) {
            free_outcome(best);
            *best = one;
            one = (outcome){0};
        } else {
            free_outcome(&one);
        }
    }
done:
    free_outcome(&one);
    return status;
}

static kn_status search(kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    search_state s = {.task = task};
    outcome best = {0};
    for (uint32_t q = 0; q < task->tuples->n_qis; q++)
        if (task->tuples->domains[q]->kind != KN_DOMAIN_TREE)
            KN_FAIL(KN_USAGE, "cell-suppression needs a hierarchy for column '%s'", task->tuples->domains[q]->name);
    if (task->tuples->n_repeats > 0)
        KN_FAIL(KN_USAGE, "cell-suppression cannot count persons who have several different rows; choose optimal");
    KN_TRY(kn_full_domain_new(&s.domain, task, 0, err));
    if (s.domain->lattice->n_nodes > kn_sweep_most_nodes(task->memory_bytes))
        KN_FAIL(KN_USAGE, "the lattice has %.0f nodes, too many for cell-suppression; limit levels or columns",
                s.domain->lattice->n_nodes);
    KN_TRY(kn_evaluator_new(&s.evaluator, s.domain, err));
    KN_TRY(find_candidates(&s, task->tuples->n_rows, (size_t)kn_args_number(task->args, "candidates"), err));
    KN_TRY(try_candidates(&best, &s, err));
    KN_TRY(find_candidates(&s, task->max_suppressed, 1, err));
    KN_TRY(try_candidates(&best, &s, err));
    answer->n_nodes = s.n_nodes;
    if (best.row_class == NULL) KN_TRY(kn_full_domain_refuse(s.domain, err));
    answer->recoding = KN_RECODING_LOCAL;
    answer->n_classes = best.n_classes;
    answer->row_class = best.row_class;
    answer->cells = best.cells;
    answer->bound = NAN;
    best = (outcome){0};
done:
    free_outcome(&best);
    kn_ranking_free(&s.candidates);
    kn_evaluator_free(s.evaluator);
    kn_full_domain_free(s.domain);
    return status;
}

static const kn_param params[] = {
    {.name = "candidates",
     .type = KN_PARAM_INT,
     .preset = "10",
     .min = 1,
     .max = 1000,
     .help = "level vectors tried: the best ones under suppression of whole rows"},
};

const kn_algorithm kn_algorithm_cell_suppression = {
    .name = "cell-suppression",
    .summary = "a level per column, then single cells of the outliers suppressed",
    .citation =
        "AG_CS of Ciriani, De Capitani di Vimercati, Foresti, Samarati, k-anonymous data mining: a survey, 2008",
    .recoding = KN_RECODING_LOCAL,
    .levels_first = true,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .search = search,
};
