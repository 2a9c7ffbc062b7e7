/* The alphabet and the rows over it: see cuts.h.
 *
 * In: the task's tuples, models and measure. Out: columns with their positions and prices, letters, items. Cost: linear
 * in tuples, and for measures over cells the square of the positions of a column. */
#include "search/cuts/cuts.h"

#include "search/cuts/cut_bounds.h"
#include "search/cuts/cut_prices.h"
#include "search/cuts/cut_start.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* --- Fit ------------------------------------------------------------------------------------------------------- */

static const kn_cut_bound *const bounds[] = {&kn_cut_bound_dm, &kn_cut_bound_cm, &kn_cut_bound_average,
                                             &kn_cut_bound_cells};

static kn_status choose_bound(kn_cuts *cuts, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_measure *type = task->objective->type;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds && cuts->bound == NULL; i++)
        if (bounds[i]->fits(task->objective, task->max_suppressed)) cuts->bound = bounds[i];
    if (cuts->bound == NULL && type->same_without_suppression != NULL)
        KN_FAIL(KN_USAGE,
                "%s needs --max-suppressed 0 under measure %s, which is not monotone when rows are suppressed; choose "
                "%s, which is",
                task->args->owner, type->name, type->same_without_suppression->name);
    if (cuts->bound == NULL)
        KN_FAIL(KN_USAGE, "%s has no bound for measure %s; choose dm, cm, lm, non-uniform-entropy or average-class",
                task->args->owner, type->name);
done:
    return status;
}

/* A class that breaks a model must have no descendant that holds, or rows could come back: k and numbers of different
 * values. (Of 9 rows with HIV and 1 with flu no two thirds may have one value, yet {HIV, flu} may be released.) Where
 * no row may be suppressed, it is enough that a class that breaks a model cannot be split into classes that all hold,
 * which is what `monotone` says: two classes that hold make one that holds. It is so for t-closeness too, under each of
 * its distances: an earth mover's distance to a fixed distribution is convex, and the distribution of a class is a mean
 * of those of its parts. Persons with several tuples are counted once for each item, which no class has fewer of: see
 * cut_exact.c. */
static kn_status check_models(const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_models *models = task->models;
    const char *name = task->args->owner;
    if ((models->needs & KN_NEEDS_POPULATION) != 0)
        KN_FAIL(KN_USAGE, "%s cannot count a population file; choose a full-domain algorithm such as optimal", name);
    if (models->counts_only || models->least_values != NULL) goto done;
    for (size_t m = 0; m < models->n; m++) {
        const kn_privacy *type = models->items[m].type;
        if (type->counts_only) continue;
        if (!type->monotone)
            KN_FAIL(KN_USAGE,
                    "%s cannot prove anything under %s: merging two classes that hold may give one that does "
                    "not; choose a full-domain algorithm such as optimal",
                    name, type->name);
        if (task->max_suppressed > 0)
            KN_FAIL(KN_USAGE,
                    "%s takes these models with --max-suppressed 0 only: a class that breaks %s may have a part that "
                    "holds, so suppressed rows could come back; leave suppression out, or ask for a number of "
                    "different values (l-diversity:kind=distinct, p-sensitive)",
                    name, type->name);
    }
done:
    return status;
}

/* --- Letters --------------------------------------------------------------------------------------------------- */

/* A cut before every position. */
static void letters_of_values(kn_cuts *cuts, uint32_t q, uint32_t *n_cuts)
{
    const kn_cut_column *column = &cuts->columns[q];
    for (uint32_t p = 1; p < column->n_positions; p++) {
        cuts->letter_cuts[*n_cuts] = (uint16_t)p;
        column->letter_at[p] = cuts->n_letters;
        cuts->letters[cuts->n_letters++] =
            (kn_letter){q, KN_NONE, 0, 0, column->n_positions - 1, 1, cuts->letter_cuts + (*n_cuts)++};
    }
}

/* One letter per node that parts, the topmost first. A node with one child is that child. */
static kn_status letters_of_nodes(kn_cuts *cuts, uint32_t q, uint32_t *n_cuts, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_cut_column *column = &cuts->columns[q];
    const kn_tree *tree = column->domain->tree;
    uint32_t *letter_of = NULL, *order = NULL, n = 0; /* [node]: the letter that its letter needs, or is */
    KN_NEW(letter_of, tree->n_nodes);
    KN_NEW(order, tree->n_nodes);
    letter_of[tree->root] = KN_NONE;
    if (tree->n_nodes > 0) order[n++] = tree->root;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t node = order[i], first_cut = *n_cuts;
        for (uint32_t leaf = tree->first[node]; node >= tree->n_leaves && leaf <= tree->last[node];) {
            uint32_t child = leaf;
            while (tree->parent[child] != node) child = tree->parent[child];
            if (leaf > tree->first[node]) cuts->letter_cuts[(*n_cuts)++] = (uint16_t)leaf;
            order[n++] = child;
            leaf = tree->last[child] + 1;
        }
        if (*n_cuts > first_cut) {
            uint32_t parent = letter_of[node], depth = parent != KN_NONE ? cuts->letters[parent].depth + 1 : 0;
            for (uint32_t c = first_cut; c < *n_cuts; c++) column->letter_at[cuts->letter_cuts[c]] = cuts->n_letters;
            cuts->letters[cuts->n_letters] = (kn_letter){q,
                                                         parent,
                                                         depth,
                                                         tree->first[node],
                                                         tree->last[node],
                                                         *n_cuts - first_cut,
                                                         cuts->letter_cuts + first_cut};
            letter_of[node] = cuts->n_letters++;
            cuts->has_parents |= parent != KN_NONE;
        }
        for (uint32_t child = n; child-- > 0 && tree->parent[order[child]] == node && order[child] != node;)
            letter_of[order[child]] = letter_of[node];
    }
done:
    kn_free(letter_of);
    kn_free(order);
    return status;
}

static kn_status make_columns(kn_cuts *cuts, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    const bool nodes = kn_args_is(task->args, "hierarchy", "nodes");
    uint32_t n_positions = 0, n_cuts = 0;
    KN_TRY(kn_cut_check_coarse(task, nodes, err));
    cuts->n_columns = task->tuples->n_qis;
    cuts->n_keys = (cuts->n_columns + 3) / 4 * 4;
    if (cuts->n_columns > KN_MOST_COLUMNS)
        KN_FAIL(KN_USAGE, "%s takes at most %d quasi-identifiers", task->args->owner, KN_MOST_COLUMNS);
    KN_NEW(cuts->columns, cuts->n_columns);
    for (uint32_t q = 0; q < cuts->n_columns; q++) {
        kn_cut_column *column = &cuts->columns[q];
        column->domain = task->tuples->domains[q];
        column->form = kn_part_form_of(column->domain, nodes);
        cuts->has_nodes |= column->form == KN_PART_NODE;
        KN_TRY(kn_cut_start(column, q, task, err));
        KN_NEW_RAW(column->letter_at, column->n_positions);
        memset(column->letter_at, 0xFF, column->n_positions * sizeof *column->letter_at);
        n_positions += column->n_positions;
    }
    KN_NEW(cuts->letters, n_positions);
    KN_NEW(cuts->letter_cuts, n_positions);
    for (uint32_t q = 0; q < cuts->n_columns; q++) {
        if (cuts->columns[q].form != KN_PART_NODE) letters_of_values(cuts, q, &n_cuts);
        else KN_TRY(letters_of_nodes(cuts, q, &n_cuts, err));
    }
done:
    return status;
}

/* --- Items ----------------------------------------------------------------------------------------------------- */

enum { MOST_LANES = 1024 };

/* Which numbers of a class models and measure ask for. */
static kn_status make_lanes(kn_cuts *cuts, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *t = cuts->tuples;
    const bool models_ask = (task->models->needs & KN_NEEDS_HISTOGRAM) != 0;
    const bool measure_asks = (task->objective->type->needs & KN_MEASURE_NEEDS_CLASS_COLUMN) != 0;
    uint32_t n = KN_LANE_OTHERS;
    if (t->row_person != NULL) cuts->person_lane = n++;
    KN_NEW(cuts->value_lane, t->n_sensitive + (size_t)1);
    for (uint32_t s = 0; s < t->n_sensitive; s++) {
        cuts->value_lane[s] = KN_NONE;
        if (!models_ask && !(measure_asks && s == task->objective->column)) continue;
        if (n + t->sensitive[s].n_values > MOST_LANES)
            KN_FAIL(KN_USAGE,
                    "%s: the sensitive columns have too many different values to count in every class; choose "
                    "a full-domain algorithm such as optimal",
                    task->args->owner);
        cuts->value_lane[s] = n;
        n += t->sensitive[s].n_values;
    }
    if (measure_asks) {
        cuts->class_lane = cuts->value_lane[task->objective->column];
        cuts->n_class_values = t->sensitive[task->objective->column].n_values;
    }
    cuts->n_lanes = (n + 1) / 2 * 2;
    cuts->hereditary = task->models->counts_only || task->models->least_values != NULL;
    cuts->rows_decide = task->models->counts_only && t->row_person == NULL;
done:
    return status;
}

static void fill_item(kn_cuts *cuts, uint32_t tuple, uint32_t *const *position_of)
{
    const kn_tuples *t = cuts->tuples;
    uint16_t *key = cuts->items.keys + (size_t)tuple * cuts->n_keys;
    double *lanes = cuts->items.lanes + (size_t)tuple * cuts->n_lanes;
    for (uint32_t q = 0; q < cuts->n_columns; q++) key[q] = (uint16_t)position_of[q][t->codes[q][tuple]];
    lanes[KN_LANE_ROWS] = (double)t->rows[tuple];
    if (cuts->person_lane != KN_LANE_ROWS) lanes[cuts->person_lane] = (double)t->persons[tuple];
    for (uint32_t s = 0; s < t->n_sensitive; s++) {
        if (cuts->value_lane[s] == KN_NONE) continue;
        const kn_histogram own = kn_histogram_of(&t->sensitive[s].by_tuple, tuple);
        for (uint32_t i = 0; i < own.n; i++) lanes[cuts->value_lane[s] + own.values[i]] += (double)own.counts[i];
    }
    if (cuts->bound->item != NULL) lanes[KN_LANE_BOUND] = cuts->bound->item(cuts, lanes);
}

/* One item per tuple; those that coarse positions make equal are merged where a search begins. */
static kn_status make_items(kn_cuts *cuts, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *t = cuts->tuples;
    uint32_t **position_of = NULL;
    KN_NEW(position_of, cuts->n_columns);
    for (uint32_t q = 0; q < cuts->n_columns; q++) {
        const kn_cut_column *column = &cuts->columns[q];
        KN_NEW(position_of[q], column->domain->n_codes);
        for (uint32_t p = 0; p < column->n_positions; p++)
            for (uint32_t code = column->start[p]; code < column->start[p + 1]; code++) position_of[q][code] = p;
    }
    KN_NEW(cuts->items.keys, (size_t)t->n_tuples * cuts->n_keys);
    KN_NEW_ALIGNED(cuts->items.lanes, (size_t)t->n_tuples * cuts->n_lanes);
    cuts->items.n = t->n_tuples;
    for (uint32_t tuple = 0; tuple < t->n_tuples; tuple++) fill_item(cuts, tuple, position_of);
done:
    for (uint32_t q = 0; position_of != NULL && q < cuts->n_columns; q++) kn_free(position_of[q]);
    kn_free(position_of);
    return status;
}

bool kn_cuts_hold_models(const kn_cuts *cuts, const double *lanes)
{
    const kn_tuples *t = cuts->tuples;
    uint32_t values[MOST_LANES], n = 0;
    uint64_t counts[MOST_LANES];
    kn_histogram histograms[MOST_LANES];
    kn_class_counts class = {.n_rows = (uint64_t)lanes[KN_LANE_ROWS], .sensitive = histograms};
    class.n_persons = (uint64_t)lanes[cuts->person_lane];
    for (uint32_t s = 0; s < t->n_sensitive; s++) {
        histograms[s] = (kn_histogram){0, values + n, counts + n};
        for (uint32_t v = 0; cuts->value_lane[s] != KN_NONE && v < t->sensitive[s].n_values; v++) {
            double rows = lanes[cuts->value_lane[s] + v];
            if (rows == 0) continue;
            values[n] = v;
            counts[n++] = (uint64_t)rows;
            histograms[s].n++;
        }
    }
    return kn_models_hold(cuts->models, &class);
}

/* --- All of it ------------------------------------------------------------------------------------------------- */

kn_status kn_cuts_new(kn_cuts **out, const kn_task *task, double more_rows, kn_error *err)
{
    kn_status status = KN_OK;
    kn_cuts *cuts = NULL;
    *out = NULL;
    KN_NEW(cuts, 1);
    cuts->tuples = task->tuples;
    cuts->models = task->models;
    cuts->objective = task->objective;
    cuts->max_suppressed = task->max_suppressed;
    cuts->n_rows = (double)task->tuples->n_rows;
    cuts->least_rows = more_rows * (double)task->models->min_persons;
    KN_TRY(choose_bound(cuts, task, err));
    KN_TRY(check_models(task, err));
    KN_TRY(make_columns(cuts, task, err));
    KN_TRY(make_lanes(cuts, task, err));
    if (cuts->bound->by_cell) KN_TRY(kn_cut_prices(cuts, task, err));
    KN_TRY(make_items(cuts, err));
    if (cuts->bound->prepare != NULL) KN_TRY(cuts->bound->prepare(cuts, err));
    *out = cuts;
    cuts = NULL;
done:
    kn_cuts_free(cuts);
    return status;
}

void kn_cuts_free(kn_cuts *cuts)
{
    if (cuts == NULL) return;
    for (uint32_t q = 0; cuts->columns != NULL && q < cuts->n_columns; q++) {
        kn_free(cuts->columns[q].start);
        kn_free(cuts->columns[q].letter_at);
        if (cuts->columns[q].floors != cuts->columns[q].prices) kn_free(cuts->columns[q].floors);
        kn_free(cuts->columns[q].hulls);
        kn_free(cuts->columns[q].prices);
    }
    kn_free(cuts->columns);
    kn_free(cuts->letters);
    kn_free(cuts->letter_cuts);
    kn_free(cuts->value_lane);
    kn_free(cuts->items.keys);
    kn_free(cuts->items.lanes);
    kn_free(cuts->size_bound);
    kn_free(cuts);
}

double kn_cuts_loss(const kn_cuts *cuts, double cost)
{
    return cuts->bound->loss != NULL ? cuts->bound->loss(cuts, cost) : cost;
}

double kn_cuts_cost(const kn_cuts *cuts, double loss)
{
    return cuts->bound->cost != NULL ? cuts->bound->cost(cuts, loss) : loss;
}

kn_status kn_cuts_answer(kn_answer *answer, const kn_cuts *cuts, const uint8_t *in, kn_error *err)
{
    kn_status status = KN_OK;
    size_t n_codes = 0;
    void *block = NULL;
    for (uint32_t q = 0; q < cuts->n_columns; q++) n_codes += cuts->columns[q].domain->n_codes;
    block = kn_array_alloc(1, cuts->n_columns * sizeof *answer->part + n_codes * sizeof **answer->part, err);
    if (block == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    answer->recoding = KN_RECODING_CUTS;
    answer->part = block;
    uint32_t *at = (uint32_t *)(answer->part + cuts->n_columns);
    for (uint32_t q = 0; q < cuts->n_columns; q++) {
        const kn_cut_column *column = &cuts->columns[q];
        uint32_t part = 0;
        answer->part[q] = at;
        for (uint32_t p = 0; p < column->n_positions; p++) {
            if (p > 0 && in[column->letter_at[p]]) part++;
            for (uint32_t code = column->start[p]; code < column->start[p + 1]; code++) *at++ = part;
        }
        answer->part_nodes |= column->form == KN_PART_NODE;
    }
done:
    return status;
}
